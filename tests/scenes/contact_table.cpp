// SPDX-License-Identifier: MIT
// Prints the table of samples/scenes/contact/run.sh: what scenes of touching bodies do.

#include "scenes/scene_measures.h"
#include "simulate/run_statistics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>

namespace {

using namespace plush;

constexpr char kUsage[] =
    "usage: plush_contact_table [--steps N] [--threads N] [--every N] [--sweeps N]\n"
    "                           [--iterations N] SCENE.json...\n"
    "  --every N       measure overlaps every N steps (10)\n"
    "  --sweeps N      ContactSettings::sweeps\n"
    "  --iterations N  ContactSettings::iterations\n";

void PrintHead() {
  std::printf("%-12s %6s %9s %8s %5s %8s %8s %8s %8s %7s %7s %7s %9s %6s %8s  %s\n", "scene",
              "bodies", "triangles", "contacts", "pairs", "ITPs", "mean", "median", "worst",
              "touch", "deepest", "end", "speed", "asleep", "drift", "state hash");
  std::printf("%-12s %6s %9s %8s %5s %8s %8s %8s %8s %7s %7s %7s %9s %6s %8s\n", "", "", "", "most",
              "most", "most", "ms", "ms", "ms", "step", "% @step", "%", "mm/s", "@step", "mm");
}

void PrintRow(const std::string& name, const tests::SceneMeasures& m) {
  std::vector<double> times, asleep_times;
  uint32_t contacts = 0, pairs = 0, triangle_pairs = 0;
  for (const tools::StepRecord& step : m.record.steps) {
    (step.awake ? times : asleep_times).push_back(step.step_ms);
    contacts = std::max(contacts, step.stats.contacts);
    pairs = std::max(pairs, step.stats.body_pairs);
  }
  for (const tests::MeasuredStep& step : m.overlaps)
    triangle_pairs = std::max(triangle_pairs, step.overlap.triangle_pairs);
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) /
                      static_cast<double>(std::max<size_t>(times.size(), 1));
  const tests::MeasuredStep &deepest = m.deepest(), &end = m.overlaps.back();
  char deep[32];
  std::snprintf(deep, sizeof deep, "%.2f@%u", 100.0 * double(deepest.overlap.depth_share),
                deepest.step);
  const StepStats& last = m.record.steps.back().stats;
  char asleep[32];
  std::snprintf(asleep, sizeof asleep, "%u@%u", last.asleep, m.all_asleep);
  std::printf(
      "%-12s %6zu %9llu %8u %5u %8u %8.3f %8.3f %8.3f %7u %7s %7.3f %9.3f %6s %8.3f  %016llx%s\n",
      name.c_str(), m.bodies, static_cast<unsigned long long>(m.triangles), contacts, pairs,
      triangle_pairs, mean, tools::Quantile(times, 0.5), tools::Quantile(times, 1.0), m.first_touch,
      deep, 100.0 * double(end.overlap.depth_share), 1000.0 * double(last.max_speed), asleep,
      1000.0 * m.drift_m, static_cast<unsigned long long>(m.record.state_hash),
      m.finite ? "" : "  NOT FINITE");
  if (std::getenv("PLUSH_DEEPEST") != nullptr) {
    for (const tests::MeasuredStep& step : m.overlaps) {
      const tests::Overlap& o = step.overlap;
      std::printf("    step %u: %.3f%% at (%.3f %.3f %.3f), body %zu in %zu\n", step.step,
                  100.0 * double(o.depth_share), double(o.deepest.x), double(o.deepest.y),
                  double(o.deepest.z), o.bodies[0], o.bodies[1]);
    }
  }
  if (!asleep_times.empty()) {
    std::printf("%-12s a step while all sleep: median %.1f us, least %.1f us\n", "",
                1000.0 * tools::Quantile(asleep_times, 0.5),
                1000.0 * tools::Quantile(asleep_times, 0.0));
  }
  if (m.record.flags != kStepOk) std::printf("%-12s flags %#x\n", "", m.record.flags);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  tests::MeasureSettings settings;
  uint32_t steps = 0, threads = 1;
  ContactSettings contact;
  int first = 1;
  for (; first + 1 < argc && std::string(argv[first]).starts_with("--"); first += 2) {
    const std::string option = argv[first];
    const auto value = static_cast<uint32_t>(std::max(std::atoi(argv[first + 1]), 1));
    if (option == "--steps") {
      steps = value;
    } else if (option == "--threads") {
      threads = value;
    } else if (option == "--sweeps") {
      contact.sweeps = static_cast<int>(value);
    } else if (option == "--iterations") {
      contact.iterations = static_cast<int>(value);
    } else if (option == "--every") {
      settings.every = value;
    } else {
      std::fputs(kUsage, stderr);
      return 1;
    }
  }
  if (first >= argc) {
    std::fputs(kUsage, stderr);
    return 1;
  }
  PrintHead();
  for (int i = first; i < argc; ++i) {
    auto scene = tools::LoadScene(argv[i]);
    if (scene.ok()) {
      scene.value().threads = threads;
      scene.value().contact = contact;
      if (steps > 0) scene.value().steps = steps;
    }
    const auto measures = scene.ok() ? tests::MeasureScene(scene.value(), settings)
                                     : tools::Result<tests::SceneMeasures>(scene.error());
    if (!measures.ok()) {
      std::fprintf(stderr, "plush_contact_table: %s\n", measures.error().message.c_str());
      return 2;
    }
    PrintRow(std::filesystem::path(argv[i]).stem(), measures.value());
  }
  return 0;
}
