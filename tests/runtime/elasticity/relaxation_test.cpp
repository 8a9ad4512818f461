// SPDX-License-Identifier: MIT
// The volume multipliers' relaxation towards their law, against the same equations in double.
#include "elasticity/element_pass.h"
#include "runtime/crowd_lanes.h"
#include "runtime/dense_reference.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace relaxation_test {

constexpr float kDt = 0.0125f;

// A strained body with multipliers.
struct Subject {
  Subject(uint32_t seed, double nu, double strain)
      : random(seed),
        shape(TetBox(2, 2, 1 + seed % 2, 0.1, 0.09, seed), {1.0e5, nu, 1000.0}),
        model(shape.asset()),
        x(random.Rotation() * (ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), strain))),
        kappa(shape.num_places(), 0.0f) {
    for (const uint32_t slot : shape.elements().slots) {
      // Every third lies outside the bounds.
      const double most = slot % 3 == 0 ? 10.0 : 1e-3;
      kappa[slot] = static_cast<float>(random.Uniform(-most, most));
    }
    for (const uint32_t node : random.Nodes(shape.num_nodes(), 0.1)) model.pinned[node] = true;
  }

  // Positions with inverse masses.
  std::vector<NodeVec> Nodes(const Points& at) const {
    std::vector<NodeVec> out = ToNodeVecs(at);
    for (size_t i = 0; i < shape.num_nodes(); ++i) {
      out[i].w = model.pinned[i] ? 0.0f : 1.0f / shape.simulation().masses[i];
    }
    return out;
  }

  std::vector<NodeVec> Pass(float damping, float rate, std::vector<float>* multipliers) const {
    std::vector<NodeVec> rhs(shape.num_nodes() + 1);
    RotationArray rotations(shape.num_blocks());
    AddElasticImpulses(shape.elements(), Nodes(x), {kDt, damping, 64, rate, kSplittingLaw}, {},
                       *multipliers, 0, shape.num_blocks(), rotations.view(), rhs);
    return rhs;
  }

  Random random;
  ShapeAsset shape;
  DenseModel model;
  Points x;
  std::vector<float> kappa;
};

// Lambda counts as at most 16 mu.
double LambdaOf(const Subject& s, size_t t) {
  return std::min(s.model.lambda[t], 16.0 * s.model.mu[t]);
}

// The multiplier that obeys V p = -kappa / dt^2, p = lambda C with C = det F - 1 between -8 mu and
// mu.
double LawOf(const Subject& s, size_t t) {
  const double dt = double{kDt};
  const double pressure = LambdaOf(s, t) * (DenseGradient(s.model, t, s.x).determinant() - 1.0);
  return -std::clamp(pressure, -8.0 * s.model.mu[t], s.model.mu[t]) * s.model.volumes[t] * dt * dt;
}

// 1 / (1 + rate rho lambda V dt^2 / (1 / r + mu V dt (dt + damping))), rho = max(1, |cof F|^2 / 3),
// r = sum w_i |grad det F|^2 of the rest shape. |cof F|^2 is the sum of squared products of two
// singular values. The gradient of det F at a node is its face's area vector over 3 V.
double ShareOf(const Subject& s, size_t t, double damping, double rate) {
  const Eigen::Vector3d v =
      Eigen::JacobiSVD<Eigen::Matrix3d>(DenseGradient(s.model, t, s.x)).singularValues();
  const double areas =
      (std::pow(v[0] * v[1], 2) + std::pow(v[1] * v[2], 2) + std::pow(v[0] * v[2], 2)) / 3.0;
  const double dt = double{kDt}, volume = s.model.volumes[t];
  double response = 0.0;
  for (size_t i = 0; i < 4; ++i) {
    const auto corner = [&](size_t k) -> Eigen::Vector3d {
      return s.model.rest.col(s.model.tets[t][(i + k) % 4]);
    };
    const Eigen::Index node = s.model.tets[t][i];
    const double area =
        0.5 * (corner(2) - corner(1)).cross(corner(3) - corner(1)).norm() / (3.0 * volume);
    if (!s.model.pinned[static_cast<size_t>(node)]) response += area * area / s.model.masses[node];
  }
  if (response == 0.0) return 1.0;
  const double resisting = 1.0 / response + s.model.mu[t] * volume * dt * (dt + damping);
  return 1.0 / (1.0 + rate * std::max(1.0, areas) * LambdaOf(s, t) * volume * dt * dt / resisting);
}

// The multiplier before the move: between 0 and the law, widened by 2 mu V dt^2 / rho, rho as in
// ShareOf.
double KeptOf(const Subject& s, size_t t, double multiplier) {
  const Eigen::Vector3d v =
      Eigen::JacobiSVD<Eigen::Matrix3d>(DenseGradient(s.model, t, s.x)).singularValues();
  const double areas =
      (std::pow(v[0] * v[1], 2) + std::pow(v[1] * v[2], 2) + std::pow(v[0] * v[2], 2)) / 3.0;
  const double spare =
      2.0 * s.model.mu[t] * s.model.volumes[t] * double{kDt} * double{kDt} / std::max(1.0, areas);
  const double law = LawOf(s, t);
  return std::clamp(multiplier, std::min(law, 0.0) - spare, std::max(law, 0.0) + spare);
}

TEST_CASE("An element pass moves multipliers towards their law by the share of its stiffness") {
  const uint32_t seed = GENERATE(1u, 2u);
  const double nu = GENERATE(0.0, 0.3, 0.49);
  const double strain = GENERATE(0.002, 0.03);  // 0.03: some tets are flat or inverted
  const float damping = GENERATE(as<float>{}, 0.0f, 0.05f), rate = GENERATE(1.5f, 2.5f);
  CAPTURE(seed, nu, strain, damping, rate);
  const Subject s(seed, nu, strain);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    std::vector<float> kappa = s.kappa;
    s.Pass(damping, rate, &kappa);
    double largest_share = 0.0, least_share = 1.0;
    size_t num_kept = 0;
    for (size_t t = 0; t < s.model.tets.size(); ++t) {
      const uint32_t slot = s.shape.elements().slots[t];
      const double before = KeptOf(s, t, double{s.kappa[slot]}), law = LawOf(s, t);
      const double share = ShareOf(s, t, double{damping}, double{rate});
      const double expected = before + share * (law - before);
      // 1 - det F cancels digits.
      const double rounding = 1e-6 * std::fabs(law - before) +
                              1e-6 * s.model.lambda[t] * s.model.volumes[t] * double{kDt * kDt};
      CAPTURE(t, before, law, share);
      REQUIRE(double{kappa[slot]} == Approx(expected).margin(rounding).epsilon(1e-6));
      num_kept += before == double{s.kappa[slot]} ? 1 : 0;
      largest_share = std::max(largest_share, share);
      least_share = std::min(least_share, share);
    }
    if (nu == 0.0) CHECK(least_share == 1.0);
    if (nu > 0.4) CHECK(least_share < 0.2);
    // The tets are alike but for their nodes' masses and, if bent, areas.
    if (nu > 0.0) CHECK(largest_share > 1.02 * least_share);
    // Some multipliers start in their bounds, some do not.
    CHECK(num_kept > 0);
    CHECK(num_kept < s.model.tets.size());
  }
}

TEST_CASE("Repeated passes at the same positions end at the law and stay there") {
  const double nu = GENERATE(0.3, 0.45);
  CAPTURE(nu);
  const Subject s(3, nu, 0.005);
  std::vector<float> kappa = s.kappa;
  for (int pass = 0; pass < 300; ++pass) s.Pass(0.0f, 1.5f, &kappa);
  std::vector<float> next = kappa;
  s.Pass(0.0f, 2.5f, &next);
  for (size_t t = 0; t < s.model.tets.size(); ++t) {
    const uint32_t slot = s.shape.elements().slots[t];
    const double scale = s.model.lambda[t] * s.model.volumes[t] * double{kDt * kDt};
    REQUIRE(double{kappa[slot]} == Approx(LawOf(s, t)).margin(1e-5 * scale));
    REQUIRE(double{next[slot]} == Approx(double{kappa[slot]}).margin(1e-5 * scale));
  }
}

TEST_CASE("At the law, the impulses are those of the elastic forces") {
  Subject s(4, 0.4, 0.01);
  for (size_t t = 0; t < s.model.tets.size(); ++t) {
    s.kappa[s.shape.elements().slots[t]] = static_cast<float>(LawOf(s, t));
  }
  std::vector<float> kappa = s.kappa;
  const Points found = ToEigen(s.Pass(0.0f, 1.5f, &kappa));
  const Points expected = DenseForces(s.model, s.x) * double{kDt * kDt};
  CHECK((found - expected).norm() < 1e-5 * expected.norm());
}

TEST_CASE("The impulses have the multipliers that the same pass has relaxed") {
  const Subject s(5, 0.4, 0.01);
  std::vector<float> kappa = s.kappa;
  const std::vector<float> found = NumbersOf(s.Pass(0.02f, 2.5f, &kappa));
  CHECK(kappa != s.kappa);
  std::vector<float> kept = kappa;
  CHECK(SameBits(NumbersOf(s.Pass(0.02f, 0.0f, &kept)), found));
  CHECK(kept == kappa);
}

TEST_CASE("A crowd's multipliers relax like those of its bodies") {
  const uint32_t seed = GENERATE(6u, 7u);
  const float rate = GENERATE(1.5f, 2.5f);
  CAPTURE(seed, rate);
  Subject s(seed, 0.45, 0.01);
  const size_t places = s.shape.num_places();
  std::vector<float> positions = CrowdNumbers(s.shape.num_nodes(), 4);
  std::vector<float> kappa = CrowdNumbers(places, 1);
  std::vector<Points> x;
  const std::vector<float> active(kCrowdLanes, 1.0f);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    x.push_back(s.x + s.random.Vectors(s.shape.num_nodes(), 0.005));
    PutLane(s.Nodes(x.back()), 4, lane, &positions);
    PutLane(s.kappa, lane, &kappa);
  }
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    std::vector<float> found = kappa, lowest(kCrowdLanes, 1.0f);
    std::vector<float> rotations = CrowdNumbers(places, 4),
                       rhs = CrowdNumbers(s.shape.num_nodes(), 3);
    for (size_t place = 0; place < places; ++place) {
      std::fill_n(&rotations[kCrowdRotation * place + 3 * kCrowdLanes], kCrowdLanes, 1.0f);
    }
    AddCrowdImpulses(s.shape.elements(), positions.data(), {kDt, 0.0f, 64, rate, kSplittingLaw},
                     found.data(), active.data(), 0, s.shape.num_blocks(), rotations.data(),
                     rhs.data(), lowest.data());
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      s.x = x[lane];
      const std::vector<float> own = NumbersInLane(found, lane);
      for (size_t t = 0; t < s.model.tets.size(); ++t) {
        const uint32_t slot = s.shape.elements().slots[t];
        const double before = KeptOf(s, t, double{s.kappa[slot]}), law = LawOf(s, t);
        const double expected = before + ShareOf(s, t, 0.0, double{rate}) * (law - before);
        const double scale = s.model.lambda[t] * s.model.volumes[t] * double{kDt * kDt};
        CAPTURE(lane, t, before, law);
        REQUIRE(double{own[slot]} == Approx(expected).margin(2e-6 * scale).epsilon(1e-5));
      }
    }
  }
}

}  // namespace relaxation_test
