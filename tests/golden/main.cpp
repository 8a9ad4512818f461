// SPDX-License-Identifier: MIT
// plush_golden: plays golden scenes and compares them with what tests/golden/scenes keeps.
#include "golden/play.h"
#include "golden/scene_parts.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace plush::golden {
namespace {

constexpr const char* kUsage =
    "usage: plush_golden VERB ASSETS FOLDER [SCENE...]\n"
    "  ASSETS: folder of the baked models; FOLDER: tests/golden; no SCENE: all\n"
    "  compare  plays each scene and compares it with FOLDER/scenes, bit for bit: a deterministic\n"
    "           build only\n"
    "  laws     checks the laws that hold in all scenes, on any build\n"
    "  update   rewrites FOLDER/scenes and FOLDER/bakes.txt, and prints what has moved\n"
    "  bakes    compares the baked models with FOLDER/bakes.txt\n"
    "  list     prints the names of all scenes\n"
    "Environment: PLUSH_GOLDEN_TARGET, an instruction set by Highway's name (AVX3, AVX2, SSE4, "
    "...).\n";

std::vector<Scene> AllScenes() {
  std::vector<Scene> all;
  for (const auto& some :
       {ColliderScenes(), HeldScenes(), CrowdScenes(), TouchingScenes(), PaperScenes()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return file.good();
}

// A line for each model: name, content hash, FNV-1a 64 of the file's bytes.
std::string Bakes(const std::string& folder, Assets* assets) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".plush") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const std::byte byte : (*assets)[name].bytes()) {
      hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
    }
    char line[128];
    std::snprintf(line, sizeof line, "%s %016" PRIx64 " %016" PRIx64 "\n", name.c_str(),
                  (*assets)[name].content_hash(), hash);
    text += line;
  }
  return text;
}

bool CompareBakes(const std::string& before, const std::string& now) {
  std::istringstream a(before), b(now);
  std::string x, y;
  bool same = true;
  while (!std::getline(a, x).fail() | !std::getline(b, y).fail()) {
    if (x != y) std::printf("bakes: '%s' is now '%s'\n", x.c_str(), y.c_str());
    same = same && x == y;
    x.clear(), y.clear();
  }
  return same;
}

struct Options {
  std::string verb, assets, folder;
  std::vector<std::string> scenes;  // none: all
};

// Whether the scene is as the file says and obeys the laws.
bool Check(const Scene& scene, const Options& options, Assets* assets) {
  const std::string path = options.folder + "/scenes/" + scene.name + ".txt";
  std::string faults;
  const Record record = Play(scene, assets, &faults);
  Record before;
  const bool has_file = FromText(ReadText(path), &before);
  if (options.verb == "update") {
    const std::string moved = has_file ? Difference(before, record) : "  is new\n";
    if (!moved.empty()) std::printf("%s moved\n%s", scene.name, moved.c_str());
    if (!WriteText(path, ToText(record))) faults += "  cannot write " + path + "\n";
  } else if (!has_file) {
    faults += "  there is no " + path + ": run tests/golden.sh --update\n";
  } else if (options.verb == "compare") {
    faults += Difference(before, record);
    PlayFromState(scene, assets, record, &faults);
  } else {
    const Limits &limits = before.limits, &now = record.limits;
    // 1e-4 holds; scenes that break this law have their own value in their files. Builds that round
    // otherwise differ by a quarter.
    if (now.momentum > std::max(1.0e-4, 1.25 * limits.momentum)) {
      faults += "  impulses leave " + std::to_string(now.momentum) +
                " of a change of momentum unexplained, at most 1e-4 or " +
                std::to_string(limits.momentum) + "\n";
    }
    if (now.most > limits.most + 0.02 * limits.scale) {
      faults += "  energy rises by " + std::to_string(now.most) + " J above the start, at most " +
                std::to_string(limits.most) + "\n";
    }
    PlayFromState(scene, assets, record, &faults);
    PlayOnThreads(scene, assets, record, &faults);
  }
  if (!faults.empty() && options.verb != "update") {
    std::printf("%s differs\n%s", scene.name, faults.c_str());
  }
  return faults.empty();
}

int Run(const Options& options) {
  std::vector<Scene> chosen;
  for (const Scene& scene : AllScenes()) {
    const auto& names = options.scenes;
    if (options.verb == "list") std::puts(scene.name);
    if (names.empty() || std::find(names.begin(), names.end(), scene.name) != names.end()) {
      chosen.push_back(scene);
    }
  }
  if (options.verb == "list") return 0;
  Assets assets(options.assets);
  if (options.verb == "bakes" || (options.verb == "update" && options.scenes.empty())) {
    const std::string path = options.folder + "/bakes.txt", bakes = Bakes(options.assets, &assets);
    const bool same = CompareBakes(ReadText(path), bakes);
    if (options.verb == "bakes") return same ? 0 : 1;
    if (!WriteText(path, bakes)) return 2;
  }
  if (chosen.empty() || chosen.size() < options.scenes.size()) {
    std::fprintf(stderr, "plush_golden: no such scene\n");
    return 1;
  }
  bool passed = true;
  for (const Scene& scene : chosen) passed = Check(scene, options, &assets) && passed;
  return passed ? 0 : 1;
}

// Makes all kernels use one instruction set. Returns whether this machine has it.
bool ChooseTarget(const char* name) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (std::strcmp(hwy::TargetName(target), name) != 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return true;
  }
  return false;
}

}  // namespace
}  // namespace plush::golden

int main(int argc, char** argv) {
  using namespace plush::golden;
  const char* target = std::getenv("PLUSH_GOLDEN_TARGET");
  if (target != nullptr && !ChooseTarget(target)) {
    std::printf("SKIPPED: this machine or build has no %s\n", target);
    return 0;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  static const char* const verbs[] = {"compare", "laws", "update", "bakes", "list"};
  const bool known =
      !words.empty() && std::find(std::begin(verbs), std::end(verbs), words[0]) != std::end(verbs);
  if (!known || (words[0] != "list" && words.size() < 3)) {
    std::fputs(kUsage, stderr);
    return 1;
  }
  Options options = {
      words[0], words.size() > 1 ? words[1] : "", words.size() > 2 ? words[2] : "", {}};
  if (words.size() > 3) options.scenes.assign(words.begin() + 3, words.end());
  return Run(options);
}
