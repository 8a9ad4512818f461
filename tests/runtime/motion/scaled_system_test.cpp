// SPDX-License-Identifier: MIT
// A body of scale s has the matrix of the unscaled body with Young's modulus E / s^2.

#include "body/make_body.h"
#include "body/system_cache.h"
#include "reference/dense_algebra.h"
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace scaled_system_test {

constexpr float kDt = 0.01f;
constexpr int kFractions = 4;

// The factored system of a body, in a cache for it alone.
struct Factored {
  Factored(const Asset& asset, const MaterialOverride& given, float scale,
           const std::vector<uint32_t>& pinned_nodes = {})
      : cache(DefaultAllocator(), 0) {
    BodyMaterial material;
    REQUIRE(ResolveMaterial(asset, given, scale, &material).ok());
    std::vector<uint8_t> pinned(asset.simulation().nodes.size(), 0);
    for (const uint32_t node : pinned_nodes) pinned[node] = 1;
    system = cache.Acquire(asset, material, pinned);
    REQUIRE(system != nullptr);
    bool made = false;
    REQUIRE(cache.Prepare(system, kDt, 0.0f, kFractions, &made).ok());
    set = system->Find(kDt);
    REQUIRE(set != nullptr);
  }
  ~Factored() { cache.Release(system); }

  SystemCache cache;
  System* system = nullptr;
  const FactorSet* set = nullptr;
};

// A body of two materials, with damping.
ShapeAsset TwoMaterials() {
  const tools::TetMesh mesh = TetBox(3, 2, 2, 0.1, 0.05, 1);
  return ShapeAsset(tools::WriteAsset(TwoMaterialContentOf(mesh, double(kDt))).value());
}

float RandomScale(Random* random) {
  return static_cast<float>(std::exp(random->Uniform(-2.0, 2.0)));
}

TEST_CASE("Factors of a scaled body solve the matrix with E over the square of the scale") {
  const uint32_t seed = GENERATE(range(1u, 7u));
  Random random(seed);
  const ShapeAsset shape = TwoMaterials();
  const float scale = RandomScale(&random);
  const std::vector<uint32_t> pins = random.Nodes(shape.num_nodes(), seed % 2 == 0 ? 0.1 : 0.0);
  // Young's modulus of each tet, or one for all.
  const MaterialOverride given = {.young = seed % 3 == 0 ? 7.0e4f : -1.0f};
  const Factored scaled(shape.asset(), given, scale, pins);
  CAPTURE(seed, scale, pins.size());
  for (int k = 0; k < kFractions; ++k) {
    const double dt = double(kDt) / (k + 1);
    DenseModel model(shape.asset());
    for (const uint32_t node : pins) model.pinned[node] = true;
    for (size_t t = 0; t < model.mu.size(); ++t) {
      const MaterialView baked = shape.asset().material(shape.simulation().tet_materials[t]);
      if (given.young > 0.0f)
        model.mu[t] = double(given.young) / (2.0 * (1.0 + double(baked.poisson)));
      model.mu[t] /= double(scale) * double(scale);
    }
    std::vector<NodeVec> x = ToNodeVecs(random.Vectors(shape.num_nodes(), 1.0));
    for (const uint32_t node : pins) x[node] = NodeVec();
    const Points b = ToEigen(x);
    std::vector<float> workspace(PanelWorkspaceSize(scaled.system->baked.supernodes,
                                                    static_cast<uint32_t>(shape.num_nodes())));
    SolvePanels(scaled.set->factors[k], workspace, x);
    const Points expected =
        reference::SolveSymmetric(DenseSystemOfAxis(model, dt), b.transpose()).transpose();
    CHECK((ToEigen(x) - expected).cwiseAbs().maxCoeff() < 2e-5 * expected.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("A system of scale 1 uses the baked numbers themselves") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  const Factored plain(shape.asset(), {}, 1.0f);
  CHECK(plain.system->as_baked);
  CHECK(plain.system->stiffness.size() == 0);
  CHECK(plain.system->bulk.size() == 0);
  CHECK(plain.set->factors[0].values.data() == shape.asset().factor().values.data());
  // With an override the scale divides by exactly 1.
  for (const float young : {1.0e5f, 3.3e5f, 1.0e-3f}) {
    const LamePair lame = OverriddenLame({.young = 7.0f, .poisson = 0.3f}, {.young = young});
    const LamePair expected = LameParameters(young, 0.3f);
    CHECK(lame.mu == expected.mu);
    CHECK(lame.lambda == expected.lambda);
  }
}

TEST_CASE("Bodies share a system only if their scales are equal") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  const std::vector<uint8_t> free_nodes(shape.num_nodes(), 0);
  SystemCache cache(DefaultAllocator(), 0);
  const auto acquire = [&](float scale) {
    BodyMaterial material;
    REQUIRE(ResolveMaterial(shape.asset(), {}, scale, &material).ok());
    return cache.Acquire(shape.asset(), material, free_nodes);
  };
  System* const systems[] = {acquire(1.0f), acquire(2.0f), acquire(0.5f), acquire(2.0f)};
  CHECK(systems[0] != systems[1]);
  CHECK(systems[0] != systems[2]);
  CHECK(systems[1] != systems[2]);
  CHECK(systems[1] == systems[3]);
  CHECK(systems[1]->key.FamilyHash() != systems[0]->key.FamilyHash());
  for (System* system : systems) cache.Release(system);
}

TEST_CASE("Scales out of range are refused") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  BodyMaterial material;
  for (const float scale : {kLeastScale, 1.0f, kMostScale}) {
    CAPTURE(scale);
    CHECK(ResolveMaterial(shape.asset(), {}, scale, &material).ok());
    CHECK(material.scale == scale);
  }
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float scale :
       {0.0f, -1.0f, 0.999f * kLeastScale, 1.001f * kMostScale, kNan, kInfinity, -kInfinity}) {
    CAPTURE(scale);
    CHECK(ResolveMaterial(shape.asset(), {}, scale, &material).code ==
          StatusCode::kInvalidArgument);
  }
  // A small body is a stiff unscaled one: its Lame parameters must still be floats.
  CHECK(ResolveMaterial(shape.asset(), {.young = 1.0e35f}, 1.0f, &material).ok());
  CHECK(ResolveMaterial(shape.asset(), {.young = 1.0e35f}, kLeastScale, &material).code ==
        StatusCode::kInvalidArgument);
}

}  // namespace scaled_system_test
