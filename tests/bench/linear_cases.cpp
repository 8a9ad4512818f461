// SPDX-License-Identifier: MIT
// Linear systems of implicit steps, of an arm of swinging_arm.h in the middle of its swing:
// products with and without the assembled matrix; iterations with factors of another stiffness or
// time step. Source: none.
#include "plush/solver.h"
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"
#include "body/node_pass.h"
#include "body/system_cache.h"
#include "elasticity/force_differential.h"
#include "elasticity/stiffness_product.h"
#include "solver/conjugate_gradients.h"
#include "solver/panel_solve.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

constexpr float kDt = 0.01f;

// A time step and a factor on Young's modulus.
struct Stiffness {
  float young = 1.0f, dt = kDt;
};

// An arm after 30 steps.
struct Swing {
  Swing(const std::string& path, const Arm& which)
      : arm(MakeArm(path, which)), x(num_nodes() + 1), pinned(num_nodes(), 0) {
    for (const uint32_t node : arm.pinned) pinned[node] = 1;
    World world(SwingingWorld());
    const BodySolver solver = ImplicitSolver();
    BodyDesc desc = arm.Desc();
    desc.solver = &solver;
    BodyId id;
    if (!world.AddBody(arm.asset, desc, &id).ok()) std::abort();
    for (int step = 0; step < 30; ++step) {
      if (!world.Step(kDt).ok()) std::abort();
    }
    std::vector<Vec3> positions(num_nodes());
    if (!world.NodePositions(id, 1.0f, positions).ok()) std::abort();
    for (size_t i = 0; i < positions.size(); ++i) {
      const float mass = arm.asset.simulation().masses[i];
      x[i] = NodeVec(positions[i] - positions[0], pinned[i] != 0 ? 0.0f : 1.0f / mass);
    }
    turn = desc.pose.rotation;
  }

  size_t num_nodes() const { return arm.asset.simulation().nodes.size(); }
  // The system of a material that is `young` times as stiff as the baked one, with its factor.
  System* SystemFor(const Stiffness& stiffness) {
    BodyMaterial material;
    material.young = 1.0e6f * stiffness.young;
    material.poisson = 0.33f;
    System* system = cache.Acquire(arm.asset, material, pinned);
    bool made = false;
    if (system == nullptr || !cache.Prepare(system, stiffness.dt, 0.0f, 1, &made).ok()) {
      std::abort();
    }
    return system;
  }

  SwingingArm arm;
  std::vector<NodeVec> x;
  std::vector<uint8_t> pinned;
  Quat turn;
  SystemCache cache = SystemCache(DefaultAllocator(), 0);
};

// A swing with its tets linearised.
struct Linearised {
  Linearised(Swing* of, const ElementView& tets, float dt)
      : swing(of), elements(tets), settings{dt, 0.0f, 64} {
    const size_t places = kBlockTets * elements.blocks.size();
    rotations.resize(4 * places);
    stretches.resize(kStretchNumbers * places);
    kappa.resize(places);
    for (uint32_t slot = 0; slot < places; ++slot) at().rotations.Set(slot, swing->turn);
    forces.resize(swing->x.size());
    LineariseTets(elements, swing->x, settings, {}, at(), kappa, forces);
    ClearPinned(swing->x, forces);
  }
  TetsAt at() { return {RotationView(rotations), stretches}; }

  Swing* swing;
  ElementView elements;
  ElementSettings settings;
  std::vector<float> rotations, stretches, kappa;
  std::vector<NodeVec> forces;
};

// Iterations to a residual of 1e-4 for the matrix of one stiffness with the factor of another.
int Iterations(Swing* swing, const Stiffness& matrix, const Stiffness& factor) {
  System* const of_matrix = swing->SystemFor(matrix);
  System* const of_factor = swing->SystemFor(factor);
  Linearised linear(swing, of_matrix->view.elements, matrix.dt);
  const size_t count = swing->x.size();
  std::vector<NodeVec> p(count), q(count), d(count);
  const PanelFactor& panels = of_factor->Find(factor.dt)->factors[0];
  std::vector<float> workspace(
      PanelWorkspaceSize(of_factor->baked.supernodes, static_cast<uint32_t>(count - 1)));
  std::vector<ProductBlock> products(linear.elements.blocks.size());
  MakeProducts(linear.elements, linear.settings, linear.at(), StressDifferential::kWarped,
               products);
  const auto multiply = [&](std::span<const NodeVec> v, std::span<NodeVec> out) {
    for (size_t i = 0; i < count; ++i) {
      const float w = swing->x[i].w;
      out[i] = NodeVec(w > 0.0f ? v[i] * (1.0f / w) : Vec3{}, 0.0f);
    }
    AddStiffnessProduct(linear.elements, linear.settings, products, StressDifferential::kWarped, v,
                        out);
    ClearPinned(swing->x, out);
    out.back() = NodeVec();
    return DotProduct(v, out);
  };
  const auto precondition = [&](std::span<NodeVec> z) { SolvePanels(panels, workspace, z); };
  std::vector<NodeVec> b = linear.forces;
  for (size_t i = 0; i + 1 < count; ++i) {
    const float w = swing->x[i].w;
    if (w > 0.0f) b[i].y -= 9.81f * matrix.dt * matrix.dt / w;
  }
  b.back() = NodeVec();
  const LinearResult result =
      ConjugateGradients(multiply, precondition, {10000, 1.0e-4}, {p, q}, b, d);
  swing->cache.Release(of_matrix);
  swing->cache.Release(of_factor);
  return result.iterations;
}

void Factors(benchmark::State& state, const std::string& path, const Arm& which) {
  Swing swing(path, which);
  for (auto _ : state) {
    state.counters["baked"] = Iterations(&swing, {}, {});
    for (const float ratio : {10.0f, 0.1f}) {
      const std::string name = ratio > 1.0f ? "10" : "0.1";
      const Stiffness young = {ratio, kDt}, step = {1.0f, ratio * kDt};
      state.counters["young_x" + name + "_stale"] = Iterations(&swing, young, {});
      state.counters["young_x" + name + "_own"] = Iterations(&swing, young, young);
      state.counters["dt_x" + name + "_stale"] = Iterations(&swing, step, {});
      state.counters["dt_x" + name + "_own"] = Iterations(&swing, step, step);
    }
  }
}

// Least time of several calls [us].
template <class Function>
double LeastMicroseconds(int calls, const Function& call) {
  double least = std::numeric_limits<double>::max();
  for (int k = 0; k < calls; ++k) {
    const double start = ThreadSeconds();
    call();
    least = std::min(least, ThreadSeconds() - start);
  }
  return 1.0e6 * least;
}

// A product with and without the assembled matrix, and the number of linear iterations in each
// Newton iteration from which assembling pays.
void Products(benchmark::State& state, const std::string& path, const Arm& which,
              StressDifferential differential) {
  constexpr int kCalls = 200;
  Swing swing(path, which);
  System* const system = swing.SystemFor({});
  Linearised linear(&swing, system->view.elements, kDt);
  const size_t count = swing.x.size();
  std::vector<NodeVec> y = swing.x, out(count);
  y.back() = NodeVec();
  BlockMatrix matrix;
  if (!matrix.Reserve(DefaultAllocator(), linear.elements, count - 1)) std::abort();
  std::vector<ProductBlock> products(linear.elements.blocks.size());
  for (auto _ : state) {
    const double turning = LeastMicroseconds(kCalls, [&] {
      MakeProducts(linear.elements, linear.settings, linear.at(), differential, products);
    });
    const double assembly = LeastMicroseconds(kCalls, [&] {
      MakeStiffness(linear.elements, linear.settings, linear.at(), differential, &matrix);
    });
    const double by_tets = LeastMicroseconds(kCalls, [&] {
      std::fill(out.begin(), out.end(), NodeVec());
      AddStiffnessProduct(linear.elements, linear.settings, products, differential, y, out);
    });
    const double by_blocks = LeastMicroseconds(kCalls, [&] { matrix.Multiply(y, out); });
    state.counters["by_tets_us"] = by_tets;
    state.counters["by_blocks_us"] = by_blocks;
    state.counters["assembly_us"] = assembly;
    state.counters["turning_us"] = turning;
    state.counters["pays_from"] = std::ceil((assembly - turning) / (by_tets - by_blocks));
    const size_t indices = matrix.columns.size() + matrix.groups.size() + matrix.places.size();
    state.counters["matrix_kb"] =
        1.0e-3 *
        static_cast<double>(sizeof(NodeVec) * matrix.values.size() + sizeof(uint32_t) * indices);
  }
  swing.cache.Release(system);
}

}  // namespace

void AddLinearCases(const ModelFolder& models) {
  static constexpr Arm kArms[] = {
      kArm4k, {"arm_16k", "arm_16k", 494}, {"arm_55k", "arm_55k", 1075}};
  for (const Arm& arm : kArms) {
    const std::string name = std::string("linear/") + arm.name;
    const std::string path = models.Find(std::string("tets/") + arm.model + ".node", name);
    if (path.empty()) continue;
    const auto add = [&](const char* of, StressDifferential differential) {
      benchmark::RegisterBenchmark((name + "_products_" + of).c_str(), Products, path, arm,
                                   differential)
          ->Iterations(1);
    };
    add("warped", StressDifferential::kWarped);
    add("hybrid", StressDifferential::kHybrid);
    add("exact", StressDifferential::kExact);
    benchmark::RegisterBenchmark((name + "_factors").c_str(), Factors, path, arm)->Iterations(1);
  }
}

}  // namespace plush::bench
