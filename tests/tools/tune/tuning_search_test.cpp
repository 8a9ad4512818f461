// SPDX-License-Identifier: MIT
// Errors of settings are those of motions; the front and the choice are those of brute force.
#include "tune/tuning_search.h"

#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace plush;
using namespace plush::tools;

namespace tuning_search_test {

constexpr double kFrame = 1.0 / 60.0;
constexpr int kFrames = 15;

std::vector<std::byte> BarBytes(double damping) {
  AssetContent content = test::ContentOf(test::TetBox(4, 1, 1, 0.1), {2.0e5, 0.4, 1000.0});
  test::AddClusters({}, &content);
  content.damping = damping;
  return WriteAsset(content).value();
}

Trial TrialOf(double cost, double error) { return Trial{.cost_us = cost, .error = error}; }

TEST_CASE("More work comes nearer to the converged motion, and equal work is as far from it",
          "[long]") {
  const test::ExactBuffer file(BarBytes(0.0));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto search = TuningSearch::Begin(asset, kFrame, kFrames);
  REQUIRE(search.ok());
  const auto error_of = [&](int newton, int linear, int steps) {
    const auto trial =
        search.value().Try({TunedSolver::kImplicit, newton, linear, 0.0, 0.0}, steps);
    REQUIRE(trial.ok());
    CHECK(trial.value().tuning.dt == Approx(kFrame / steps));
    CHECK(trial.value().cost_us > 0.0);
    CHECK(trial.value().error ==
          *std::max_element(trial.value().errors.begin(), trial.value().errors.end()));
    return trial.value().error;
  };
  const double one = error_of(4, 32, 1), two = error_of(4, 32, 2), eight = error_of(30, 100, 8);
  CAPTURE(one, two, eight);
  CHECK(two < 0.8 * one);
  CHECK(eight < 0.05 * one);  // the reference's own settings, but another differential
  CHECK(error_of(1, 1, 4) > error_of(4, 32, 4));
  CHECK(error_of(4, 32, 1) == one);
}

TEST_CASE("The error is the rms distance of all nodes in all frames, over the cage's diagonal",
          "[long]") {
  const test::ExactBuffer file(BarBytes(0.0));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto search = TuningSearch::Begin(asset, kFrame, kFrames);
  REQUIRE(search.ok());
  const auto trial = search.value().Try({TunedSolver::kSplitting, 2, 0, 0.0, 0.0}, 1);
  REQUIRE(trial.ok());
  const BodySolver converged = ImplicitSolver({.newton_iterations = 64,
                                               .linear_iterations = 1000,
                                               .linear_tolerance = 1.0e-3f,
                                               .differential = StressDifferential::kHybrid});
  for (size_t m = 0; m < kMotionNames.size(); ++m) {
    const auto motion = static_cast<StandardMotion>(m);
    const auto right = RunMotion(asset, motion, {converged, 0.0, kFrame, 8, kFrames});
    const auto given = RunMotion(
        asset, motion, {SplittingSolver({.outer_iterations = 2}), 0.0, kFrame, 1, kFrames});
    REQUIRE(right.ok());
    REQUIRE(given.ok());
    double sum = 0.0;
    const size_t count = right.value().positions.size();
    REQUIRE(count == kFrames * asset.cage().nodes.size());
    for (size_t i = 0; i < count; ++i) {
      const Vec3 &a = right.value().positions[i], &b = given.value().positions[i];
      sum += std::pow(double(a.x) - double(b.x), 2) + std::pow(double(a.y) - double(b.y), 2) +
             std::pow(double(a.z) - double(b.z), 2);
    }
    const double diagonal = std::sqrt(0.4 * 0.4 + 2 * 0.1 * 0.1);
    CHECK(trial.value().errors[m] ==
          Approx(std::sqrt(sum / static_cast<double>(count)) / diagonal).epsilon(1e-6));
    CHECK(trial.value().errors[m] > 1.0e-5);
  }
}

TEST_CASE("The search tries every combination once, and other dampings for the front") {
  const double damping = GENERATE(0.0, 0.004);
  const test::ExactBuffer file(BarBytes(damping));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto search = TuningSearch::Begin(asset, kFrame, 2);
  REQUIRE(search.ok());
  size_t seen = 0;
  const auto trials = search.value().TryAll([&](const Trial&) { ++seen; });
  REQUIRE(trials.ok());
  CHECK(seen == trials.value().size());
  constexpr size_t kGrid = 3 * (4 + 3 * 4);
  const std::vector<Trial> grid(trials.value().begin(), trials.value().begin() + kGrid);
  for (const Trial& trial : grid) CHECK(trial.tuning.damping == Approx(damping));
  size_t others = 0;
  for (const Trial& best : FrontOf(grid)) {
    others += best.tuning.damping > 0.0 ? 2 : 1;
    bool has_more = false;
    for (const Trial& trial : trials.value()) {
      Tuning more = best.tuning;
      more.damping += best.tuning.dt;
      has_more = has_more || trial.tuning == more;
    }
    CHECK(has_more);
  }
  CHECK(seen == kGrid + others);
  for (size_t i = 0; i < seen; ++i) {
    for (size_t k = 0; k < i; ++k)
      CHECK_FALSE(trials.value()[i].tuning == trials.value()[k].tuning);
  }
}

TEST_CASE("The front and the choice are those of brute force") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  std::mt19937 random(seed);
  std::vector<Trial> trials;
  for (int i = 0; i < 200; ++i) {
    trials.push_back(TrialOf(random() % 50, random() % 20 == 0
                                                ? std::numeric_limits<double>::infinity()
                                                : static_cast<double>(random() % 50)));
  }
  const std::vector<Trial> front = FrontOf(trials);
  const auto is_beaten = [&](const Trial& a) {
    return !std::isfinite(a.error) || std::ranges::any_of(trials, [&a](const Trial& b) {
      return b.cost_us <= a.cost_us && b.error <= a.error &&
             (b.cost_us < a.cost_us || b.error < a.error);
    });
  };
  for (const Trial& a : trials) {
    const bool is_in = std::ranges::any_of(
        front, [&a](const Trial& b) { return a.cost_us == b.cost_us && a.error == b.error; });
    CHECK(is_in == !is_beaten(a));
  }
  for (const double cost : {5.0, 20.0, 60.0}) {
    for (const double error : {0.5, 10.0, 60.0}) {
      double least = std::numeric_limits<double>::infinity();
      for (const Trial& trial : trials) {
        if (trial.cost_us <= cost && trial.error <= error) least = std::min(least, trial.cost_us);
      }
      const auto choice = Choose(trials, cost, error);
      CHECK(choice.has_value() == std::isfinite(least));
      if (choice) CHECK(choice->cost_us == least);
    }
  }
}

}  // namespace tuning_search_test
