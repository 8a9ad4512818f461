// SPDX-License-Identifier: MIT
// The frequency at which a clamped beam bends, against that of converged implicit Euler.
// Source: none.
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/swinging_arm.h"
#include "reference/implicit_euler.h"
#include "shapes/tet_shapes.h"

#include <Eigen/Dense>
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace plush::bench {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr float kDt = 0.01f;
constexpr double kCell = 0.05, kLength = 8 * kCell, kHeight = 2 * kCell;  // [m]

// Values of Young's modulus for which the first period lasts that many steps.
struct Beam {
  const char* name;
  double young;  // [Pa]
};
constexpr Beam kBeams[] = {{"motion/cantilever_10_steps", 1.44e6},
                           {"motion/cantilever_20_steps", 3.6e5}};

// Euler and Bernoulli's first mode at the share `s` of the length, and its slope by s.
double ModeAt(double s) {
  constexpr double k = 1.8751040687, sigma = 0.7340955137;
  return std::cosh(k * s) - std::cos(k * s) - sigma * (std::sinh(k * s) - std::sin(k * s));
}
double SlopeAt(double s) {
  constexpr double k = 1.8751040687, sigma = 0.7340955137;
  return k * (std::sinh(k * s) + std::sin(k * s) - sigma * (std::cosh(k * s) - std::cos(k * s)));
}

// A displacement of `rest` whose sections stay plane: largest one about 5 mm.
reference::Points Bent(const reference::Points& rest) {
  constexpr double kAmplitude = 0.0025;  // the mode is 2 at the tip [m]
  reference::Points out = rest;
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    const double s = rest(0, i) / kLength;
    out(1, i) += kAmplitude * ModeAt(s);
    out(0, i) -= kAmplitude * SlopeAt(s) / kLength * (rest(1, i) - 0.5 * kHeight);
  }
  return out;
}

// Steps between the first and the third zero of these numbers: a period. 0 if there are fewer.
double PeriodOf(const std::vector<double>& parts) {
  std::vector<double> zeros;
  for (size_t k = 1; k < parts.size(); ++k) {
    if (parts[k - 1] * parts[k] >= 0.0) continue;
    zeros.push_back(static_cast<double>(k) - parts[k] / (parts[k] - parts[k - 1]));
  }
  return zeros.size() < 3 ? 0.0 : zeros[2] - zeros[0];
}

// A beam that starts bent, without gravity.
class BentBeam {
 public:
  explicit BentBeam(double young) : bytes_(Bake(young)) {
    if (!asset_.Open(bytes_.bytes()).ok()) std::abort();  // a bake of ours always opens
    body_ = reference::ElasticBody(asset_);
    for (Eigen::Index i = 0; i < body_.rest.cols(); ++i) {
      if (body_.rest(0, i) < 1.0e-6) pins_.push_back(static_cast<uint32_t>(i));
    }
    start_ = Bent(body_.rest);
  }

  // Periods in steps.
  double PeriodOfReference() const {
    reference::EulerSettings settings = {.dt_s = double{kDt}};
    settings.gravity.setZero();
    settings.pinned = pins_;
    reference::ImplicitEuler euler(body_, settings);
    euler.SetState(start_, reference::Points::Zero(3, start_.cols()));
    std::vector<double> parts;
    for (int k = 0; k < kSteps; ++k) {
      if (!euler.Step()) std::fprintf(stderr, "a step of the reference has not converged\n");
      parts.push_back(PartOf(euler.x()));
    }
    return PeriodOf(parts);
  }
  double PeriodWith(const SplittingSettings& splitting) const {
    WorldDesc desc = SwingingWorld();
    desc.gravity = {};
    World world(desc);
    BodyDesc body = {.pinned_nodes = pins_, .splitting = splitting};
    BodyId id;
    std::vector<Vec3> nodes(static_cast<size_t>(start_.cols()));
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Eigen::Vector3f x = start_.col(static_cast<Eigen::Index>(i)).cast<float>();
      nodes[i] = {x.x(), x.y(), x.z()};
    }
    if (!world.AddBody(asset_, body, &id).ok() || !world.SetNodePositions(id, nodes).ok()) {
      std::abort();
    }
    std::vector<double> parts;
    for (int k = 0; k < 20 * kSteps; ++k) {
      if (!world.Step(kDt).ok() || !world.NodePositions(id, 1.0f, nodes).ok()) std::abort();
      reference::Points x(3, start_.cols());
      for (size_t i = 0; i < nodes.size(); ++i) {
        x.col(static_cast<Eigen::Index>(i)) << nodes[i].x, nodes[i].y, nodes[i].z;
      }
      parts.push_back(PartOf(x));
    }
    return PeriodOf(parts);
  }
  const Asset& asset() const { return asset_; }

 private:
  static constexpr int kSteps = 60;

  static std::vector<std::byte> Bake(double young) {
    tools::BakeSettings settings = {.material = {young, 0.3, 200.0}};
    return BakeOrExit(tools::ModelFromTets(test::TetBox(8, 2, 3, kCell)), settings);
  }

  // How far `x` is displaced along the start.
  double PartOf(const reference::Points& x) const {
    const reference::Points shape = start_ - body_.rest;
    return (x - body_.rest).cwiseProduct(shape).colwise().sum().dot(body_.masses.transpose());
  }

  AlignedBytes bytes_;
  Asset asset_;
  reference::ElasticBody body_;
  std::vector<uint32_t> pins_;
  reference::Points start_;
};

double FrequencyError(double period, double right) {
  return period > 0.0 ? right / period - 1.0 : -1.0;
}

void Frequency(benchmark::State& state, double young) {
  for (auto _ : state) {
    const BentBeam beam(young);
    const double right = beam.PeriodOfReference();
    // Implicit Euler turns by atan(omega dt) in a step.
    state.counters["steps_a_period"] = 2.0 * kPi / std::tan(2.0 * kPi / right);
    state.counters["frequency_error"] = FrequencyError(beam.PeriodWith({}), right);
    state.counters["kug_frequency_error"] = FrequencyError(beam.PeriodWith(kKugStep), right);
    state.counters["clusters"] = static_cast<double>(beam.asset().simulation().num_clusters);
    state.counters["tets"] = static_cast<double>(beam.asset().simulation().tets.size());
  }
}

}  // namespace

void AddFrequencyCases() {
  for (const Beam& beam : kBeams) {
    benchmark::RegisterBenchmark(beam.name, Frequency, beam.young)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace plush::bench
