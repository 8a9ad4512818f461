// SPDX-License-Identifier: MIT
// Based on:
// Oscar Civit-Flores. Interactive simulation of detailed deformable solids with the corotational
//   finite element method. Thesis. (3.3.5: which time step, Newton and linear iterations are best
//   for a given cost)
#include "tune/tuning_search.h"

#include "base/material_limits.h"
#include "base/vec3.h"
#include "mesh/box3.h"
#include "simulate/open_asset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace plush::tools {
namespace {

constexpr int kSteps[] = {1, 2, 4};
constexpr int kReferenceSteps = 8;
constexpr int kOuterIterations[] = {1, 2, 4, 8};
constexpr int kNewtonIterations[] = {1, 2, 4};
constexpr int kLinearIterations[] = {4, 8, 16, 32};

// Residuals fall to 1e-4 of their start; the hybrid differential needs fewer iterations for it.
constexpr ImplicitSettings kConverged = {.newton_iterations = 64,
                                         .linear_iterations = 1000,
                                         .linear_tolerance = 1.0e-3f,
                                         .differential = StressDifferential::kHybrid};

BodySolver SolverOf(const Tuning& tuning) {
  if (tuning.solver == TunedSolver::kSplitting) {
    return SplittingSolver({.outer_iterations = tuning.newton_iterations});
  }
  return ImplicitSolver({.newton_iterations = tuning.newton_iterations,
                         .linear_iterations = tuning.linear_iterations});
}

double MeanSquare(std::span<const Vec3> a, std::span<const Vec3> b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    const Vec3d way = ToDouble(a[i]) - ToDouble(b[i]);
    sum += Dot(way, way);
  }
  return sum / static_cast<double>(a.size());
}

}  // namespace

Result<TuningSearch> TuningSearch::Begin(const Asset& asset, double frame, int frames) {
  TuningSearch search(asset);
  search.frame_ = frame;
  search.frames_ = frames;
  const MotionSettings settings = {ImplicitSolver(kConverged), double(asset.cage().damping), frame,
                                   kReferenceSteps, frames};
  for (size_t m = 0; m < kMotionNames.size(); ++m) {
    Result<MotionRecord> record = RunMotion(asset, static_cast<StandardMotion>(m), settings);
    if (!record.ok()) return record.error().WithContext(kMotionNames[m]);
    if (record.value().positions.empty()) {
      return Error{ExitCode::kLimit,
                   std::string(kMotionNames[m]) +
                       ": the body went to infinity even with the smallest time step",
                   ""};
    }
    search.reference_[m] = std::move(record.value());
  }
  return search;
}

Result<Trial> TuningSearch::Try(const Tuning& tuning, int steps) const {
  Trial trial = {tuning, steps, 0.0, {}, 0.0};
  trial.tuning.dt = frame_ / steps;
  const double size = Length(BoundsOf(asset_->cage().nodes).Extent());
  for (size_t m = 0; m < kMotionNames.size(); ++m) {
    const Result<MotionRecord> run =
        RunMotion(*asset_, static_cast<StandardMotion>(m),
                  {SolverOf(tuning), tuning.damping, frame_, steps, frames_});
    if (!run.ok()) return run.error().WithContext(kMotionNames[m]);
    const MotionRecord& record = run.value();
    trial.errors[m] = record.positions.empty()
                          ? std::numeric_limits<double>::infinity()
                          : std::sqrt(MeanSquare(record.positions, reference_[m].positions)) / size;
    trial.error = std::max(trial.error, trial.errors[m]);
    trial.cost_us = std::max(trial.cost_us, record.frame_us);
  }
  return trial;
}

Result<std::vector<Trial>> TuningSearch::TryAll(
    const std::function<void(const Trial&)>& observe) const {
  std::vector<Trial> trials;
  const auto add = [&](const Tuning& tuning, int steps) -> Result<Done> {
    Result<Trial> trial = Try(tuning, steps);
    if (!trial.ok()) return trial.error();
    observe(trial.value());
    trials.push_back(std::move(trial.value()));
    return Done{};
  };
  Tuning tuning;
  tuning.damping = double(asset_->cage().damping);
  for (const int steps : kSteps) {
    tuning.solver = TunedSolver::kSplitting;
    tuning.linear_iterations = 0;
    for (const int outer : kOuterIterations) {
      tuning.newton_iterations = outer;
      if (const auto done = add(tuning, steps); !done.ok()) return done.error();
    }
    tuning.solver = TunedSolver::kImplicit;
    for (const int newton : kNewtonIterations) {
      tuning.newton_iterations = newton;
      for (const int linear : kLinearIterations) {
        tuning.linear_iterations = linear;
        if (const auto done = add(tuning, steps); !done.ok()) return done.error();
      }
    }
  }
  for (const Trial& best : FrontOf(trials)) {
    for (const double change : {-best.tuning.dt, best.tuning.dt}) {
      Tuning other = best.tuning;
      other.damping = std::clamp(other.damping + change, kDampingRange.low, kDampingRange.high);
      if (other == best.tuning) continue;
      if (const auto done = add(other, best.steps); !done.ok()) return done.error();
    }
  }
  return trials;
}

std::vector<Trial> FrontOf(std::vector<Trial> trials) {
  std::ranges::stable_sort(trials, [](const Trial& a, const Trial& b) {
    return std::pair(a.cost_us, a.error) < std::pair(b.cost_us, b.error);
  });
  std::vector<Trial> front;
  double least = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials) {
    if (!(trial.error < least)) continue;
    least = trial.error;
    front.push_back(trial);
  }
  return front;
}

std::optional<Trial> Choose(const std::vector<Trial>& trials, double most_us, double most_error) {
  for (const Trial& trial : FrontOf(trials)) {
    if (trial.error <= most_error && trial.cost_us <= most_us) return trial;
  }
  return std::nullopt;
}

}  // namespace plush::tools
