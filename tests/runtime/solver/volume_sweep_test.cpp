// SPDX-License-Identifier: MIT
#include "solver/volume_sweep.h"

#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr tools::Material kMaterial = {1.0e5, 0.45, 1000.0};

// A body with everything that a sweep moves.
struct Swept {
  explicit Swept(const tools::TetMesh& mesh) : shape(mesh, kMaterial), x(shape.rest()) {
    for (const float mass : shape.simulation().masses) mobility.push_back({1.0f / mass, {}});
    u.resize(x.size());
    kappa.resize(shape.simulation().tets.size());
  }

  void Move(Random* random, double size) {
    x = ToVec3s(ToEigen(x) + random->Vectors(x.size(), size));
  }

  void Sweep() { SweepVolumes(shape.elements(), mobility, kDt, x, u, kappa); }

  ShapeAsset shape;
  std::vector<NodeMobility> mobility;
  std::vector<Vec3> x, u;
  std::vector<float> kappa;
};

// A single tet whose top has moved from det F = `before` to `after`.
Swept Pressed(float before, float after) {
  Swept body(SingleTet(0.2));
  const float height = body.x[3].z;
  body.x[3].z = height * after;
  body.u[3].z = height * (after - before);
  return body;
}

bool Lift(Swept* body) {
  return LiftFlatTets(body->shape.elements(), body->mobility, body->x, body->u);
}

double LowestDetF(const Swept& body) {
  const DenseModel model(body.shape.asset());
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < model.tets.size(); ++t) {
    lowest = std::min(lowest, DenseGradient(model, t, ToEigen(body.x)).determinant());
  }
  return lowest;
}

Eigen::VectorXd MassesOf(const Swept& body) { return DenseModel(body.shape.asset()).masses; }

}  // namespace

TEST_CASE("Each constraint of a sweep conserves linear and angular momentum") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  Swept body(TetBox(2, 2, 1, 0.1, 0.09, seed));
  body.Move(&random, 0.01);
  const Eigen::VectorXd masses = MassesOf(body);
  std::vector<Vec3> whole_x = body.x, whole_u = body.u;
  std::vector<float> whole_kappa = body.kappa;
  SweepVolumes(body.shape.elements(), body.mobility, kDt, whole_x, whole_u, whole_kappa);
  // One tet after the other is the whole sweep, and shows what each of them does.
  const ElementView all = body.shape.elements();
  for (size_t t = 0; t < all.tets.size(); ++t) {
    const ElementView one = {all.tets.subspan(t, 1),
                             all.dm_inv.subspan(t, 1),
                             all.volumes.subspan(t, 1),
                             {all.lame.mu.subspan(t, 1), all.lame.lambda.subspan(t, 1)}};
    const Points before = ToEigen(body.x);
    std::vector<Vec3> u(body.u.size());  // alone, so that no sum rounds it
    std::vector<Vec3> x = body.x;
    std::vector<float> kappa = {body.kappa[t]};
    SweepVolumes(one, body.mobility, kDt, x, u, kappa);
    const Points impulses = ToEigen(u) * masses.asDiagonal();
    Eigen::Vector3d moment = Eigen::Vector3d::Zero();
    for (Eigen::Index i = 0; i < before.cols(); ++i) {
      moment += before.col(i).cross(impulses.col(i));
    }
    REQUIRE(impulses.norm() > 0.0);
    CHECK(impulses.rowwise().sum().norm() < 1e-6 * impulses.norm());
    CHECK(moment.norm() < 2e-6 * impulses.norm() * 0.4);
    SweepVolumes(one, body.mobility, kDt, body.x, body.u, std::span(body.kappa).subspan(t, 1));
  }
  for (size_t i = 0; i < body.x.size(); ++i) {
    REQUIRE((body.x[i].x == whole_x[i].x && body.u[i].y == whole_u[i].y));
  }
  REQUIRE(body.kappa == whole_kappa);
}

TEST_CASE("A sweep moves positions and displacements alike") {
  Random random(4);
  Swept body(TetBox(1, 1, 1, 0.1, 0.05, 4));
  body.Move(&random, 0.01);
  const Points before = ToEigen(body.x);
  for (int sweep = 0; sweep < 3; ++sweep) body.Sweep();
  CHECK((ToEigen(body.x) - before - ToEigen(body.u)).norm() < 1e-7);
}

TEST_CASE("A single tet converges to the compliant solution") {
  // Minimises 1/2 sum m |u|^2 + dt^2 lambda/2 V (det F - 1)^2; from a shape 3% off in volume the
  // gradients hardly turn, so that Newton's method on the dense problem gives the same.
  Swept body(SingleTet(0.2));
  for (Vec3& x : body.x) x = {x.x * 1.01f, x.y * 1.02f, x.z};
  const DenseModel model(body.shape.asset());
  const Points start = ToEigen(body.x);
  for (int sweep = 0; sweep < 200; ++sweep) body.Sweep();
  const double stiffness = model.lambda[0] * model.volumes[0] * double(kDt) * double(kDt);
  const double C = DenseGradient(model, 0, ToEigen(body.x)).determinant() - 1.0;
  CHECK(double(body.kappa[0]) == Approx(-stiffness * C).epsilon(1e-4));

  DenseModel volume_only = model;
  volume_only.mu[0] = 0.0;
  Points u = Points::Zero(3, 4);
  for (int iteration = 0; iteration < 500; ++iteration) {  // damped fixed point of m u = dt^2 f
    const Points f = DenseForces(volume_only, start + u) * (double(kDt) * double(kDt));
    u += 0.02 * (f * model.masses.cwiseInverse().asDiagonal() - u);
  }
  CHECK((ToEigen(body.u) - u).norm() < 0.02 * u.norm());
}

TEST_CASE("Held directions and pinned nodes do not move") {
  const uint32_t seed = GENERATE(5u, 6u);
  CAPTURE(seed);
  Random random(seed);
  Swept body(TetBox(2, 1, 2, 0.1, 0.09, seed));
  body.Move(&random, 0.01);
  const std::vector<Vec3> before = body.x;
  const std::vector<uint32_t> held = random.Nodes(body.x.size(), 0.5);
  std::vector<Eigen::Vector3d> normals;
  for (const uint32_t node : held) {
    normals.push_back(random.Direction());
    body.mobility[node].held_normal = ToVec3(normals.back());
  }
  body.mobility[0] = {0.0f, {}};
  for (int sweep = 0; sweep < 4; ++sweep) body.Sweep();
  for (size_t i = 0; i < held.size(); ++i) {
    const Eigen::Vector3d u = ToEigen(body.u[held[i]]);
    CHECK(std::fabs(u.dot(normals[i])) < 1e-6 * u.norm() + 1e-12);
  }
  CHECK((body.x[0].x == before[0].x && body.x[0].y == before[0].y && body.x[0].z == before[0].z));
  CHECK(ToEigen(body.u).norm() > 1e-4);
}

TEST_CASE("Flattened and inverted tets are pushed back, by bounded moves") {
  for (const float height : {0.09f, 0.0f, -0.5f}) {  // det F
    CAPTURE(height);
    Swept body(SingleTet(0.2));
    body.x[3].z *= height;
    const float top = body.x[3].z;
    body.Sweep();
    CHECK(body.kappa[0] > 0.0f);
    CHECK(body.x[3].z > top);
    const ElementView elements = body.shape.elements();
    const double stiffness =
        double(elements.lame.Lambda(0)) * double(elements.volumes[0]) * double(kDt) * double(kDt);
    for (size_t i = 0; i < 4; ++i) {
      const double most = 0.5 * std::sqrt(stiffness * double(body.mobility[i].inverse_mass));
      CHECK(ToEigen(body.u[i]).norm() <= most * (1.0 - double(height)) * (1.0 + 1e-5));
    }
  }
}

TEST_CASE("Tets without volume stiffness are left alone") {
  Swept soft(SingleTet(0.2));
  soft.x[3].z *= 1.5f;
  ElementView elements = soft.shape.elements();
  const std::vector<float> none(elements.tets.size(), 0.0f);
  elements.lame.lambda = none;
  soft.kappa[0] = 0.5f;
  SweepVolumes(elements, soft.mobility, kDt, soft.x, soft.u, soft.kappa);
  CHECK(soft.kappa[0] == 0.0f);
  CHECK(ToEigen(soft.u).norm() == 0.0);
}

TEST_CASE("Flat and inverted tets are lifted by impulses that conserve momentum") {
  const float after = GENERATE(0.04f, 0.0f, -0.5f, -3.0f);
  const float heavy = GENERATE(1.0f, 30.0f);  // the top, relative to the others
  CAPTURE(after, heavy);
  Swept body = Pressed(1.0f, after);
  body.mobility[3].inverse_mass /= heavy;
  body.x[1].y += 0.05f;  // no symmetry
  body.u[1].y += 0.05f;
  const Points before = ToEigen(body.x), u = ToEigen(body.u);
  REQUIRE(HasFlatTet(body.shape.elements(), body.x));
  int sweeps = 0;
  while (Lift(&body) && sweeps < 100) ++sweeps;
  CHECK(sweeps < 20);
  CHECK(LowestDetF(body) >= double(kLeastDetF) - 1e-6);
  CHECK(LowestDetF(body) < 0.15);
  Points impulses = ToEigen(body.u) - u;
  CHECK((ToEigen(body.x) - before - impulses).norm() < 1e-6);
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < 4; ++i) {
    impulses.col(i) /= double(body.mobility[size_t(i)].inverse_mass);
    moment += before.col(i).cross(impulses.col(i));
  }
  // Displacements of 0.2 m are rounded by 1e-8 m.
  const double rounding = 3e-8 / double(body.mobility[3].inverse_mass);
  CHECK(impulses.rowwise().sum().norm() < 1e-6 * impulses.norm() + rounding);
  if (sweeps == 1) CHECK(moment.norm() < 2e-6 * impulses.norm() + rounding);
}

TEST_CASE("Lifting leaves tets above the least det F as they are, to the bit") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Random random(seed);
  Swept body(TetBox(2, 2, 2, 0.1, 0.09, seed));
  body.Move(&random, 0.012);
  for (Vec3& x : body.x) x.y *= 0.3f;
  REQUIRE(LowestDetF(body) > double(kLeastDetF));
  const std::vector<Vec3> x = body.x, u = body.u;
  CHECK_FALSE(HasFlatTet(body.shape.elements(), body.x));
  CHECK_FALSE(Lift(&body));
  CHECK(std::memcmp(x.data(), body.x.data(), x.size() * sizeof(Vec3)) == 0);
  CHECK(std::memcmp(u.data(), body.u.data(), u.size() * sizeof(Vec3)) == 0);
}

TEST_CASE("A tet that began inverted only sinks no further") {
  Swept rising = Pressed(-0.5f, -0.4f);
  CHECK_FALSE(Lift(&rising));
  Swept sinking = Pressed(-0.5f, -0.9f);
  int sweeps = 0;
  while (Lift(&sinking) && sweeps < 100) ++sweeps;
  CHECK(LowestDetF(sinking) >= -0.5 - 1e-6);
  CHECK(LowestDetF(sinking) < -0.4);
}

TEST_CASE("Degenerate tets are lifted by bounded moves or not at all") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float size = GENERATE(0.0f, 1.0e-30f, 1.0e-6f, 1.0e-2f, 0.2f, 1.0e15f);
  CAPTURE(size);
  for (const Vec3& end : {Vec3{}, Vec3{size, 0.0f, 0.0f}, Vec3{size, size, -size}}) {
    Swept body(SingleTet(0.2));
    const std::vector<Vec3> rest = body.x;
    body.x = {{}, {size, 0.0f, 0.0f}, {0.5f * size, 1.0e-3f * size, 0.0f}, end};
    body.u = ToVec3s(ToEigen(body.x) - ToEigen(rest));
    const Points before = ToEigen(body.x);
    Lift(&body);
    const Points moved = ToEigen(body.x) - before;
    REQUIRE(moved.allFinite());
    CHECK(moved.colwise().norm().maxCoeff() < 0.4);
  }
  Swept broken = Pressed(1.0f, 0.0f);
  broken.x[2].y = nan;
  const float x = broken.x[1].x;
  CHECK_FALSE(Lift(&broken));
  CHECK(broken.x[1].x == x);
}

TEST_CASE("Lifts respect pins and planes: nodes may leave a plane, not enter it") {
  Swept body = Pressed(1.0f, -0.3f);
  for (std::vector<Vec3>* of : {&body.x, &body.u}) {
    (*of)[3].x += 0.05f;
    (*of)[3].y += 0.05f;
  }
  body.mobility[0] = {0.0f, {}};
  body.mobility[1].held_normal = {0.0f, 0.0f, 1.0f};
  body.mobility[2].held_normal = {0.0f, 0.0f, -1.0f};
  const std::vector<Vec3> before = body.x;
  for (int sweep = 0; sweep < 50; ++sweep) Lift(&body);
  CHECK((body.x[0].x == before[0].x && body.x[0].z == before[0].z));
  CHECK(body.x[1].z == before[1].z);
  CHECK(body.x[2].z < before[2].z);
  CHECK(LowestDetF(body) >= double(kLeastDetF) - 1e-6);
  Swept pinned = Pressed(1.0f, -0.3f);
  for (NodeMobility& node : pinned.mobility) node = {};
  CHECK_FALSE(Lift(&pinned));
}
