// SPDX-License-Identifier: MIT
// World::Measure agrees with sums in double precision, changes nothing and takes no memory.
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace measure_test {

constexpr float kDt = 0.01f;

constexpr double kRounding = 0x1p-24;  // of a float, relative
constexpr double kSums = 1e-12;        // of a thousand doubles, relative

// Sums in double precision. `..._error` bounds how far the runtime's floats may be from them.
struct Reference {
  double mass = 0.0, kinetic = 0.0, elastic = 0.0, gravity = 0.0;
  double elastic_error = 0.0, gravity_error = 0.0, det_error = 0.0, max_speed = 0.0, min_det = 1.0;
  uint32_t tets = 0;
  uint32_t inverted = 0, collapsed = 0;              // surely
  uint32_t maybe_inverted = 0, maybe_collapsed = 0;  // within the error
};

// One tet, whose nodes have coordinates below `far` and edge vectors Ds.
// - NodePositions rounds world coordinates, which moves each by up to kRounding * far. The runtime
//   rounds the entries of Ds once, and F = Ds B in sums of three products: 4 roundings. Together F
//   is off by `f` at most (Frobenius norm).
// - Its rotation matrix has entries of up to 1, each off by less than 8 roundings: 24 in the norm.
//   Angles of that size change |F - R|^2 only in second order. |F - R| itself changes by at most as
//   much as F and R do; 6 roundings more come from summing nine squares.
// - det F is a sum of products of three columns: it changes by less than (|F| + f)^3 - |F|^3, and
//   its own sum has 8 roundings of products below |F|^3.
void AddTet(const DenseModel& model, size_t t, const Eigen::Matrix3d& F, const Eigen::Matrix3d& Ds,
            double far, Reference* sum) {
  const Eigen::Matrix3d slack = Eigen::Matrix3d::Constant(2.0 * far) + 4.0 * Ds.cwiseAbs();
  const double f = kRounding * (slack * model.dm_inv[t].cwiseAbs()).norm();
  const double size = F.norm(), det = F.determinant(), stretch = (F - PolarRotation(F)).norm();
  const double s = f + kRounding * (24.0 + 6.0 * stretch);
  const double d = std::pow(size + f, 3) - std::pow(size, 3) + 8.0 * kRounding * std::pow(size, 3);
  const double change = std::fabs(det - 1.0);
  sum->elastic_error += model.volumes[t] * (model.mu[t] * (2.0 * stretch * s + s * s) +
                                            model.lambda[t] * (change * d + 0.5 * d * d));
  sum->det_error = std::max(sum->det_error, d);
  sum->min_det = std::min(sum->min_det, det);
  sum->inverted += det <= -d ? 1u : 0u;
  sum->maybe_inverted += det <= d ? 1u : 0u;
  sum->collapsed += det < 0.1 - d ? 1u : 0u;
  sum->maybe_collapsed += det < 0.1 + d ? 1u : 0u;
  ++sum->tets;
}

void AddTo(Reference* sum, const World& world, BodyId id, const DenseModel& model,
           const Eigen::Vector3d& gravity) {
  const auto num_nodes = static_cast<size_t>(model.num_nodes());
  const Points x = ToEigen(PositionsOf(world, id, num_nodes));
  const Points v = ToEigen(VelocitiesOf(world, id, num_nodes));
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const double m = model.masses[i];
    sum->mass += m;
    sum->kinetic += 0.5 * m * v.col(i).squaredNorm();
    sum->gravity -= m * gravity.dot(x.col(i));
    sum->gravity_error += kRounding * m * gravity.cwiseAbs().dot(x.col(i).cwiseAbs());
    sum->max_speed = std::max(sum->max_speed, v.col(i).norm());
  }
  sum->elastic += DenseEnergy(model, x);
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const auto& n = model.tets[t];
    Eigen::Matrix3d Ds;
    Ds << x.col(n[1]) - x.col(n[0]), x.col(n[2]) - x.col(n[0]), x.col(n[3]) - x.col(n[0]);
    double far = 0.0;
    for (const Eigen::Index node : n) far = std::max(far, x.col(node).cwiseAbs().maxCoeff());
    AddTet(model, t, DenseGradient(model, t, x), Ds, far, sum);
  }
}

TEST_CASE("Measures are the sums over all bodies, fixed and sleeping ones too") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  const ShapeAsset box(TetBox(2, 2, 1, 0.1, 0.05, seed), {}, double(kDt));
  const ShapeAsset bar(TetBox(1, 4, 1, 0.1, 0.05, seed + 9), {3.0e5, 0.4, 1500.0}, double(kDt));
  const DenseModel box_model(box.asset()), bar_model(bar.asset());
  WorldDesc desc = {.gravity = {1.0f, -9.0f, 0.5f}, .sleep = {.time = 5.0f * kDt}};
  World world(desc);
  WorldMeasures measures;
  REQUIRE(world.Measure(&measures).ok());
  CHECK(measures.mass_kg == 0.0);
  CHECK(measures.min_det_f == 1.0f);
  Random random(seed);
  std::vector<BodyId> ids;
  std::vector<uint32_t> all_nodes(box.num_nodes());
  std::iota(all_nodes.begin(), all_nodes.end(), 0u);
  for (int i = 0; i < 14; ++i) {
    BodyDesc body = {.pose = {{static_cast<float>(i), 2.0f, -1.0f}, ToQuat(random.Rotation())},
                     .velocity = ToVec3(random.Vector(1.0)),
                     .fixed = i == 5};
    if (i == 6) body.pinned_nodes = all_nodes;
    ids.push_back(AddBody(&world, i % 4 == 3 ? bar.asset() : box.asset(), body));
  }
  REQUIRE(world.RemoveBody(ids[2]).ok());
  for (int step = 0; step < 8; ++step) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(ids[6]));
  // One body so strained that tets are inside out, one shaken.
  std::vector<Vec3> strained = PositionsOf(world, ids[0], box.num_nodes());
  for (Vec3& x : strained) {
    const Vec3 by = ToVec3(random.Vector(0.1));
    x = {x.x + by.x, x.y + by.y, x.z + by.z};
  }
  REQUIRE(world.SetNodePositions(ids[0], strained).ok());
  std::vector<Vec3> shaken(box.num_nodes());
  for (Vec3& v : shaken) v = ToVec3(random.Vector(3.0));
  REQUIRE(world.SetNodeVelocities(ids[1], shaken).ok());

  const uint64_t hash = world.StateHash();
  REQUIRE(world.Measure(&measures).ok());
  CHECK(world.StateHash() == hash);
  Reference expected;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i == 2) continue;
    AddTo(&expected, world, ids[i], i % 4 == 3 ? bar_model : box_model, ToEigen(desc.gravity));
  }
  CHECK(expected.inverted > 0);
  CAPTURE(expected.elastic_error, expected.gravity_error, expected.det_error);
  CHECK(expected.elastic_error < 1e-3 * expected.elastic);  // the bound says something
  CHECK(measures.mass_kg == Approx(expected.mass).epsilon(kSums));
  CHECK(measures.kinetic_j == Approx(expected.kinetic).epsilon(kSums));
  CHECK(std::fabs(measures.elastic_j - expected.elastic) < expected.elastic_error);
  CHECK(std::fabs(measures.gravity_j - expected.gravity) < expected.gravity_error);
  // Three squares, two sums, and a square root of the result: less than 3 roundings.
  CHECK(double(measures.max_speed) == Approx(expected.max_speed).epsilon(3.0 * kRounding));
  CHECK(std::fabs(double(measures.min_det_f) - expected.min_det) < expected.det_error);
  CHECK(measures.tets == expected.tets);
  CHECK(measures.inverted_tets >= expected.inverted);
  CHECK(measures.inverted_tets <= expected.maybe_inverted);
  CHECK(measures.collapsed_tets >= expected.collapsed);
  CHECK(measures.collapsed_tets <= expected.maybe_collapsed);
  CHECK(world.Measure(nullptr).code == StatusCode::kInvalidArgument);
}

}  // namespace measure_test
