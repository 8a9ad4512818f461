// SPDX-License-Identifier: MIT
#include "batch/done_bakes.h"

#include "base/files.h"
#include "base/text.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace plush::tools {

namespace fs = std::filesystem;

namespace {

// When a file was modified last; zero if it is gone.
struct timespec TimeOf(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mtim : timespec{};
}

bool IsEarlier(const struct timespec& a, const struct timespec& b) {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}

}  // namespace

DoneBakes::DoneBakes(const std::string& output_tree, const BatchTools& tools)
    : output_tree_(output_tree), folder_(output_tree + "/" + kBatchFolder + "/.done") {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  newest_tool_ = std::max(TimeOf(tools.plush), TimeOf(tools.importer), IsEarlier);
  ::setenv(kDoneVariable, folder_.c_str(), 1);
}

DoneBakes::~DoneBakes() {
  ::unsetenv(kDoneVariable);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void DoneBakes::Add(const BatchAsset& asset, std::span<const std::string> sources, bool is_new) {
  std::string script = "printf '%s\\n'";
  for (const std::string& source : sources) {
    script += " " + ShellWord(std::string(kSourceLine) + " " + source);
  }
  // Ninja compares the times of outputs with those before the script. If they are the same, it
  // notes the time of the newest input that it has known before. If a source is newer, the outputs
  // get a new time; to start `touch` for each asset takes a quarter of the time.
  const struct timespec known = std::max(newest_tool_, TimeOf(asset.input), IsEarlier);
  const bool is_touched = is_new && std::ranges::any_of(sources, [&known](const std::string& path) {
                            return IsEarlier(known, TimeOf(path));
                          });
  const std::string files = ShellWord(asset.output) + " " + ShellWord(ReportPath(asset.output));
  script += is_touched ? "\nexec touch -c -- " + files + "\n" : "\n";
  Write(asset, script);
  sources_[asset.output].assign(sources.begin(), sources.end());
}

void DoneBakes::AddFailed(const BatchAsset& asset, const std::string& text, int exit_code) {
  Write(asset,
        "printf '%s\\n' " + ShellWord(text) + "\n(exit " + std::to_string(exit_code) + ")\n");
}

void DoneBakes::ForgetChanged(const struct timespec& start) const {
  std::error_code ignored;
  for (const auto& [output, sources] : sources_) {
    if (AnyChangedSince(start, sources))
      fs::remove(output_tree_ + "/" + ReportPath(output), ignored);
  }
}

void DoneBakes::Write(const BatchAsset& asset, const std::string& script) {
  const std::string path = folder_ + "/" + asset.output;
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << script;
  file.close();
  // Half a script would hide sources from Ninja.
  if (!file) fs::remove(path, ignored);
}

}  // namespace plush::tools
