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
    "                           [--iterations N] [--series FOLDER] SCENE.json...\n"
    "  --every N       measure overlaps every N steps (10)\n"
    "  --sweeps N      ContactSettings::sweeps\n"
    "  --iterations N  ContactSettings::iterations\n"
    "  --series FOLDER write SCENE.csv: time, contacts, ITPs and ms of each measured step\n";

void PrintHead() {
  std::printf("%-20s %6s %9s %8s %5s %8s %8s %8s %8s %7s %7s %7s %9s %6s %8s %8s %8s  %s\n",
              "scene", "bodies", "triangles", "contacts", "pairs", "ITPs", "mean", "median",
              "worst", "touch", "deepest", "end", "speed", "asleep", "drift", "gained", "energy",
              "state hash");
  std::printf("%-20s %6s %9s %8s %5s %8s %8s %8s %8s %7s %7s %7s %9s %6s %8s %8s %8s\n", "", "", "",
              "most", "most", "most", "ms", "ms", "ms", "step", "% @step", "%", "mm/s", "@step",
              "mm", "most J", "end J");
}

double TotalOf(const WorldMeasures& m) { return m.kinetic_j + m.elastic_j + m.gravity_j; }

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
  // Against the start: what a scene has at most, and at its end.
  double gained = 0.0, left = 0.0;
  for (const tools::StepRecord& step : m.record.steps) {
    left = TotalOf(step.measures) - m.record.start.total();
    gained = std::max(gained, left);
  }
  char asleep[32];
  std::snprintf(asleep, sizeof asleep, "%u@%u", last.asleep, m.all_asleep);
  std::printf(
      "%-20s %6zu %9llu %8u %5u %8u %8.3f %8.3f %8.3f %7u %7s %7.3f %9.3f %6s %8.3f %8.3f %8.3f  "
      "%016llx%s\n",
      name.c_str(), m.bodies, static_cast<unsigned long long>(m.triangles), contacts, pairs,
      triangle_pairs, mean, tools::Quantile(times, 0.5), tools::Quantile(times, 1.0), m.first_touch,
      deep, 100.0 * double(end.overlap.depth_share), 1000.0 * double(last.max_speed), asleep,
      1000.0 * m.drift_m, gained, left, static_cast<unsigned long long>(m.record.state_hash),
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
    std::printf("%-20s a step while all sleep: median %.1f us, least %.1f us\n", "",
                1000.0 * tools::Quantile(asleep_times, 0.5),
                1000.0 * tools::Quantile(asleep_times, 0.0));
  }
  if (m.record.flags != kStepOk) std::printf("%-20s flags %#x\n", "", m.record.flags);
  std::fflush(stdout);
}

// The curves of [Civ, Fig. 5.10]. ms are means over the steps since the row before.
bool WriteSeries(const std::string& path, double dt, const tests::SceneMeasures& m) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::fputs("s,contacts,itps,ms\n", file);
  uint32_t begin = 0;
  for (const tests::MeasuredStep& at : m.overlaps) {
    double sum = 0.0;
    for (uint32_t i = begin; i < at.step; ++i) sum += m.record.steps[i].step_ms;
    if (at.step > begin) {
      std::fprintf(file, "%g,%u,%u,%.4f\n", at.step * dt,
                   m.record.steps[at.step - 1].stats.contacts, at.overlap.triangle_pairs,
                   sum / (at.step - begin));
    }
    begin = at.step;
  }
  return std::fclose(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  tests::MeasureSettings settings;
  uint32_t steps = 0, threads = 1;
  int sweeps = 0, iterations = 0;
  std::string series;
  int first = 1;
  for (; first + 1 < argc && std::string(argv[first]).starts_with("--"); first += 2) {
    const std::string option = argv[first];
    const auto value = static_cast<uint32_t>(std::max(std::atoi(argv[first + 1]), 1));
    if (option == "--steps") {
      steps = value;
    } else if (option == "--threads") {
      threads = value;
    } else if (option == "--sweeps") {
      sweeps = static_cast<int>(value);
    } else if (option == "--iterations") {
      iterations = static_cast<int>(value);
    } else if (option == "--series") {
      series = argv[first + 1];
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
      if (sweeps > 0) scene.value().contact.sweeps = sweeps;
      if (iterations > 0) scene.value().contact.iterations = iterations;
      if (steps > 0) scene.value().steps = steps;
    }
    const auto measures = scene.ok() ? tests::MeasureScene(scene.value(), settings)
                                     : tools::Result<tests::SceneMeasures>(scene.error());
    if (!measures.ok()) {
      std::fprintf(stderr, "plush_contact_table: %s\n", measures.error().message.c_str());
      return 2;
    }
    const std::string name = std::filesystem::path(argv[i]).stem();
    PrintRow(name, measures.value());
    if (!series.empty() &&
        !WriteSeries(series + "/" + name + ".csv", scene.value().dt, measures.value())) {
      std::fprintf(stderr, "plush_contact_table: cannot write to %s\n", series.c_str());
      return 2;
    }
  }
  return 0;
}
