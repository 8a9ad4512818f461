// SPDX-License-Identifier: MIT
// Prints the table of samples/run.sh from the reports of the `plush` verbs.

#include "base/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr double kCalmSpeed = 0.05;  // a body has settled once its fastest node is below this [m/s]

json ReadJson(const std::string& path) {
  const auto bytes = plush::tools::ReadFile(path);
  if (!bytes.ok()) throw std::runtime_error(bytes.error().message);
  const char* text = reinterpret_cast<const char*>(bytes.value().data());
  return json::parse(text, text + bytes.value().size());
}

double BakeSeconds(const json& report) {
  double seconds = 0.0;
  for (const json& stage : report.at("stages")) seconds += stage.at("seconds").get<double>();
  return seconds;
}

/// Time of the last step in which a node was faster than kCalmSpeed [s].
double SettlingTime(const json& stats) {
  const json& speeds = stats.at("per_step").at("max_speed_m_s");
  size_t steps = speeds.size();
  while (steps > 0 && speeds.at(steps - 1).get<double>() < kCalmSpeed) --steps;
  return static_cast<double>(steps) * stats.at("dt").get<double>();
}

/// Largest relative change of the cage's volume, up or down.
double LargestVolumeChange(const json& stats) {
  double change = 0.0;
  for (const json& ratio : stats.at("per_step").at("min_volume_ratio")) {
    change = std::max(change, 1.0 - ratio.get<double>());
  }
  for (const json& ratio : stats.at("per_step").at("max_volume_ratio")) {
    change = std::max(change, ratio.get<double>() - 1.0);
  }
  return change;
}

void PrintRow(const std::string& folder, const std::string& model) {
  const json bake = ReadJson(folder + "/" + model + ".bake.json");
  const json info = ReadJson(folder + "/" + model + ".info.json");
  const json stats = ReadJson(folder + "/" + model + ".stats.json");
  const json& simulation = info.at("simulation");
  std::printf(
      "%-8s %9llu %6llu %7.2f %8.2f %8.0f %9.3f %9.2f %7.2f %11.3f  %s\n", model.c_str(),
      info.at("visual").at("triangles").get<unsigned long long>(),
      simulation.at("tets").get<unsigned long long>(), simulation.at("mass_kg").get<double>(),
      BakeSeconds(bake), info.at("file_bytes").get<double>() / 1024.0,
      stats.at("step_ms").at("median").get<double>(), SettlingTime(stats),
      100.0 * LargestVolumeChange(stats), 1000.0 * stats.at("max_penetration_m").get<double>(),
      stats.at("state_hash").get<std::string>().c_str());
}

void PrintScene(const std::string& folder, const std::string& scene) {
  const json stats = ReadJson(folder + "/" + scene + ".stats.json");
  const json& steps = stats.at("step_ms");
  std::printf("%-8s %6llu %6llu %9.0f %8.3f %8.3f %11.3f  %s\n", scene.c_str(),
              stats.at("bodies").get<unsigned long long>(),
              stats.at("tets").get<unsigned long long>(),
              stats.at("contacts").at("median").get<double>(), steps.at("median").get<double>(),
              steps.at("max").get<double>(), 1000.0 * stats.at("max_penetration_m").get<double>(),
              stats.at("state_hash").get<std::string>().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  const auto scenes = std::find(names.begin(), names.end(), "--scenes");
  if (names.empty()) {
    std::fprintf(stderr, "usage: plush_result_table FOLDER MODEL... [--scenes SCENE...]\n");
    return 1;
  }
  try {
    std::printf("%-8s %9s %6s %7s %8s %8s %9s %9s %7s %11s  %s\n", "model", "triangles", "tets",
                "mass", "bake", "file", "step", "calm", "volume", "penetration", "state hash");
    std::printf("%-8s %9s %6s %7s %8s %8s %9s %9s %7s %11s\n", "", "", "", "kg", "s", "KiB", "ms",
                "after s", "+- %", "mm");
    std::for_each(names.begin(), scenes, [&](const auto& model) { PrintRow(argv[1], model); });
    if (scenes == names.end()) return 0;
    std::printf("\n%-8s %6s %6s %9s %8s %8s %11s  %s\n", "scene", "bodies", "tets", "contacts",
                "step", "worst", "penetration", "state hash");
    std::printf("%-8s %6s %6s %9s %8s %8s %11s\n", "", "", "", "", "ms", "ms", "mm");
    std::for_each(scenes + 1, names.end(), [&](const auto& scene) { PrintScene(argv[1], scene); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plush_result_table: %s\n", error.what());
    return 2;
  }
  return 0;
}
