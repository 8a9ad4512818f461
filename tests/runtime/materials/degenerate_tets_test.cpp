// SPDX-License-Identifier: MIT
#include "materials/degenerate_tets.h"

#include "base/vector_math.h"
#include "materials/model_pass.h"
#include "runtime/materials/material_fixtures.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace degenerate_tets_test {

constexpr float kAlpha = 0.1f;

size_t CountDegenerate(const ElementView& elements, const std::vector<Vec3>& x) {
  size_t count = 0;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.DmInv(t));
    count += Determinant(F) < kAlpha ? 1u : 0u;
  }
  return count;
}

// The elastic energy [J] at `x`, in double precision, if degenerate tets keep the witnesses of
// `tets`.
double EnergyOf(const ElementView& elements, const ImplicitSettings& settings,
                const std::vector<ModelTet>& tets, const Points& x) {
  double energy = 0.0;
  for (size_t t = 0; t < tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    Eigen::Matrix3d edges;
    edges << x.col(tet.b) - x.col(tet.a), x.col(tet.c) - x.col(tet.a), x.col(tet.d) - x.col(tet.a);
    const Eigen::Matrix3d dm_inv = ToEigen(elements.DmInv(t));
    const Matrix F = FromEigen(Eigen::Matrix3d(edges * dm_inv));
    RotationState<double> state;
    state.witness = tets[t].state.witness;
    const Matrix R = ExtractRotation<double>({settings.rotation, double(settings.alpha)}, F,
                                             FromEigen(dm_inv), &state);
    const LameConstants<double> lame = {0.5 * double(elements.Stiffness(t)),
                                        double(elements.Bulk(t))};  // times the volume
    energy += EnergyDensity(settings.model, lame, F, R);
  }
  return energy;
}

TEST_CASE("Many tets collapse in one step, keep their pairs, and recover") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset asset(TetBox(6, 6, 6, 0.1));
  const ElementView elements = asset.elements();
  const std::vector<Vec3> rest = asset.rest();
  std::vector<Vec3> thrown = rest;
  for (Vec3& x : thrown) x = ToVec3(random.Vector(0.3));
  std::vector<Witness> witnesses(elements.tets.size(), kNoWitness);
  CHECK(UpdateWitnesses(elements, rest, rest, kAlpha, witnesses) == 0);
  const size_t count = UpdateWitnesses(elements, rest, thrown, kAlpha, witnesses);
  CHECK(count == CountDegenerate(elements, thrown));
  CHECK(count > elements.tets.size() / 3);
  CHECK(std::all_of(witnesses.begin(), witnesses.end(), IsWitness));
  // They stay while nothing moves, and while some recover.
  const std::vector<Witness> first = witnesses;
  CHECK(UpdateWitnesses(elements, thrown, thrown, kAlpha, witnesses) == count);
  CHECK(witnesses == first);
  std::vector<Vec3> half = thrown;
  for (size_t i = 0; i < half.size(); i += 2) half[i] = rest[i];
  UpdateWitnesses(elements, thrown, half, kAlpha, witnesses);
  size_t kept = 0;
  for (size_t t = 0; t < witnesses.size(); ++t) {
    if (first[t] == kNoWitness || witnesses[t] == kNoWitness) continue;
    REQUIRE(witnesses[t] == first[t]);
    ++kept;
  }
  CHECK(kept > 0);
  CHECK(UpdateWitnesses(elements, half, rest, kAlpha, witnesses) == 0);
  // A body that is degenerate at its start.
  CHECK(UpdateWitnesses(elements, thrown, thrown, kAlpha, witnesses) == count);
  // A node that is lost changes nothing for its tets.
  const std::vector<Witness> before = witnesses;
  std::vector<Vec3> lost = thrown;
  for (Vec3& x : lost) x.y = std::numeric_limits<float>::quiet_NaN();
  CHECK(UpdateWitnesses(elements, thrown, lost, kAlpha, witnesses) == count);
  CHECK(witnesses == before);
}

TEST_CASE("Exact forces of degenerate tets are minus the gradient of their body's energy") {
  const uint32_t seed = GENERATE(4u, 5u, 6u);
  const auto method = GENERATE(RotationMethod::kDegenerationAware, RotationMethod::kProject,
                               RotationMethod::kReflect);
  const auto model = GENERATE(MaterialModel::kCorotated, MaterialModel::kCorrectedCorotated);
  CAPTURE(seed, static_cast<int>(method), static_cast<int>(model));
  Random random(seed);
  const ShapeAsset asset(TetBox(2, 2, 2, 0.1), {1.0e5, 0.3, 1000.0});
  const ElementView elements = asset.elements();
  const Points rest = ToEigen(asset.rest());
  const std::vector<NodeVec> x = ToNodeVecs(rest + random.Vectors(asset.num_nodes(), 0.15));
  const auto forces_of = [&](bool is_exact, std::vector<ModelTet>* tets) {
    const ImplicitSettings settings = {
        .model = model, .rotation = method, .exact_degenerate_stress = is_exact};
    tets->assign(elements.tets.size(), {});
    RotationArray rotations(asset.num_blocks());
    BeginModelTets(elements, x, settings, rotations.view(), *tets);
    std::vector<float> kappa(asset.num_places());
    std::vector<NodeVec> rhs(x.size());
    LineariseModelTets(elements, x, {.dt = 1.0f}, settings, {}, *tets, kappa, rhs);
    return ToEigen(rhs);
  };
  std::vector<ModelTet> tets;
  const Points approximate = forces_of(false, &tets), exact = forces_of(true, &tets);
  CHECK(std::ranges::count_if(
            tets, [](const ModelTet& tet) { return tet.state.witness != kNoWitness; }) > 5);
  const ImplicitSettings settings = {.model = model, .rotation = method};
  constexpr double kStep = 1.0e-6;  // [m]
  Points expected(3, rest.cols()), at = ToEigen(x);
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    const double here = at(i);
    double energies[2] = {};
    for (int k = 0; k < 2; ++k) {
      at(i) = here + (k == 0 ? -kStep : kStep);
      energies[k] = EnergyOf(elements, settings, tets, at);
    }
    at(i) = here;
    expected(i) = (energies[0] - energies[1]) / (2.0 * kStep);
  }
  CHECK((exact - expected).norm() < 1e-5 * expected.norm());
  CHECK((approximate - expected).norm() > 5e-4 * expected.norm());
}

}  // namespace degenerate_tets_test
