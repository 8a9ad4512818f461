// SPDX-License-Identifier: MIT
// Rest data against elasticity: shapes, masses, rigid modes, materials, refusals.
#include "rest/rest_data.h"

#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include "shapes/tet_shapes.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

using namespace plush::tools;

namespace rest_data_test {

Eigen::Vector3d Point(const plush::Vec3& v) { return {v.x, v.y, v.z}; }

Eigen::Matrix3d Matrix(const plush::Mat3& m) {
  Eigen::Matrix3d out;
  out.col(0) = Point(m.c0);
  out.col(1) = Point(m.c1);
  out.col(2) = Point(m.c2);
  return out;
}

Eigen::Matrix3d EdgeMatrix(const RestData& rest, const plush::Tet& tet) {
  Eigen::Matrix3d out;
  out.col(0) = Point(rest.nodes[tet.b]) - Point(rest.nodes[tet.a]);
  out.col(1) = Point(rest.nodes[tet.c]) - Point(rest.nodes[tet.a]);
  out.col(2) = Point(rest.nodes[tet.d]) - Point(rest.nodes[tet.a]);
  return out;
}

// The rest data of a body of one material and `total_mass` [kg].
Result<RestData> ComputeRestData(const TetMesh& mesh, const Material& material, double total_mass,
                                 double dt) {
  const std::vector<uint16_t> first(mesh.tets.size(), 0);
  return ComputeMixedRestData(mesh, {{material}, first, material.damping},
                              total_mass / material.density, dt);
}

// The tets' data as a file shows them.
plush::SimulationView ViewOf(const RestData& rest) {
  plush::SimulationView view;
  view.nodes = rest.nodes;
  view.tets = rest.tets;
  view.tet_slots = rest.tet_slots;
  view.blocks = rest.blocks;
  return view;
}

double Sum(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Stiffness of one linear tet from the six-row strain matrix [Rio, Eq. 12-17, derived]: K = V B^T D
// B.
Eigen::Matrix<double, 12, 12> TetStiffness(const plush::Mat3& dm_inv, double volume, double mu,
                                           double lambda) {
  const Eigen::Matrix3d inverse = Matrix(dm_inv);
  Eigen::Matrix<double, 4, 3> g;
  g.bottomRows<3>() = inverse;
  g.row(0) = -inverse.colwise().sum();
  Eigen::Matrix<double, 6, 12> b = Eigen::Matrix<double, 6, 12>::Zero();
  for (int i = 0; i < 4; ++i) {
    for (int axis = 0; axis < 3; ++axis) b(axis, 3 * i + axis) = g(i, axis);
    b.block<1, 3>(3, 3 * i) << g(i, 1), g(i, 0), 0.0;
    b.block<1, 3>(4, 3 * i) << 0.0, g(i, 2), g(i, 1);
    b.block<1, 3>(5, 3 * i) << g(i, 2), 0.0, g(i, 0);
  }
  Eigen::Matrix<double, 6, 6> d = Eigen::Matrix<double, 6, 6>::Zero();
  d.topLeftCorner<3, 3>().setConstant(lambda);
  for (int i = 0; i < 3; ++i) {
    d(i, i) += 2.0 * mu;
    d(i + 3, i + 3) = mu;
  }
  return volume * b.transpose() * d * b;
}

TEST_CASE("Lame parameters return Young's modulus and Poisson's ratio") {
  for (const double nu : {0.0, 0.3, 0.45}) {
    const Lame lame = LameParameters({.young = 2.0e5, .poisson = nu, .density = 1.0});
    CHECK(lame.mu * (3 * lame.lambda + 2 * lame.mu) / (lame.lambda + lame.mu) == Approx(2.0e5));
    CHECK(lame.lambda / (2 * (lame.lambda + lame.mu)) == Approx(nu).margin(1e-12));
  }
}

TEST_CASE("Rest shapes invert the stored edges and fill the cage") {
  const TetMesh mesh = plush::test::TetBox(4, 3, 2, 0.1, 0.08, 3);
  const auto result = ComputeRestData(mesh, {}, 5.0, 0.01);
  REQUIRE(result.ok());
  const RestData& rest = result.value();
  REQUIRE(rest.tets.size() == mesh.tets.size());
  const plush::SimulationView view = ViewOf(rest);
  double volume = 0.0;
  for (size_t t = 0; t < rest.tets.size(); ++t) {
    const Eigen::Matrix3d edges = EdgeMatrix(rest, rest.tets[t]);
    CHECK((edges * Matrix(view.DmInv(t)) - Eigen::Matrix3d::Identity()).norm() < 1e-6);
    CHECK(view.Volume(t) == Approx(edges.determinant() / 6.0).epsilon(1e-6));
    CHECK(view.Volume(t) > 0.0f);
    volume += view.Volume(t);
  }
  CHECK(rest.cage_volume == Approx(plush::test::Volume(mesh)).epsilon(1e-6));
  CHECK(volume == Approx(rest.cage_volume).epsilon(1e-6));
  CHECK(rest.components == 1);
}

TEST_CASE("Nodes are renumbered, not moved") {
  const TetMesh mesh = plush::test::TetBox(3, 3, 3, 0.1, 0.08, 4);
  const auto result = ComputeRestData(mesh, {}, 5.0, 0.01);
  REQUIRE(result.ok());
  const RestData& rest = result.value();
  for (size_t i = 0; i < rest.nodes.size(); ++i) {
    const Vec3d& node = mesh.nodes[rest.node_order[i]];
    CHECK(rest.nodes[i].x == static_cast<float>(node.x));
    CHECK(rest.nodes[i].y == static_cast<float>(node.y));
    CHECK(rest.nodes[i].z == static_cast<float>(node.z));
  }
  for (size_t t = 0; t < rest.tets.size(); ++t) {
    const plush::Tet& tet = rest.tets[t];
    CHECK(std::array<uint32_t, 4>{rest.node_order[tet.a], rest.node_order[tet.b],
                                  rest.node_order[tet.c], rest.node_order[tet.d]} == mesh.tets[t]);
  }
}

TEST_CASE("Masses accumulate over the tets of a node and sum to the total") {
  const TetMesh mesh = plush::test::TetBox(5, 4, 3, 0.1, 0.08, 5);
  const double total = 3.75;
  const auto result = ComputeRestData(mesh, {}, total, 0.01);
  REQUIRE(result.ok());
  const RestData& rest = result.value();
  CHECK(std::abs(Sum(rest.masses) - total) < 1e-6 * total);
  std::vector<double> expected(rest.nodes.size(), 0.0);
  for (size_t t = 0; t < rest.tets.size(); ++t) {
    const plush::Tet& tet = rest.tets[t];
    for (const uint32_t id : {tet.a, tet.b, tet.c, tet.d}) {
      expected[id] += 0.25 * total * ViewOf(rest).Volume(t) / rest.cage_volume;
    }
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(rest.masses[i] == Approx(expected[i]).epsilon(1e-6));
  }
}

TEST_CASE("Every tet has the numbers of its material, and weighs its share of the volume") {
  const TetMesh mesh = plush::test::TetBox(4, 2, 2, 0.1, 0.08, 7);
  TetMaterials materials = {{{1.0e5, 0.4, 1000.0}, {4.0e5, 0.3, 250.0}}, {}, 0.02};
  std::vector<std::array<double, 4>> weights;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    materials.of_tets.push_back(t % 3 == 0 ? 1 : 0);
    weights.push_back({1.0 + static_cast<double>(t % 4), 0.5, 2.0, 0.25});
  }
  weights[4] = {};  // the tet in the middle of a cube gets no mass
  const double volume = 0.01;
  for (const bool weighted : {false, true}) {
    const auto given = weighted ? weights : std::vector<std::array<double, 4>>();
    const auto result = ComputeMixedRestData(mesh, materials, volume, 0.01, given);
    REQUIRE(result.ok());
    const RestData& rest = result.value();
    const plush::SimulationView view = ViewOf(rest);
    double sum = weighted ? 0.0 : plush::test::Volume(mesh);
    for (const auto& corners : given) sum += corners[0] + corners[1] + corners[2] + corners[3];
    std::vector<double> node_masses(rest.nodes.size(), 0.0);
    double mass = 0.0;
    for (size_t t = 0; t < rest.tets.size(); ++t) {
      const Material& material = materials.materials[materials.of_tets[t]];
      const double tet_volume = EdgeMatrix(rest, rest.tets[t]).determinant() / 6.0;
      const plush::TetBlock& block = view.BlockOf(t);
      CHECK(block.stiffness[view.LaneOf(t)] ==
            Approx(2.0 * LameParameters(material).mu * tet_volume).epsilon(1e-7));
      CHECK(block.bulk[view.LaneOf(t)] ==
            Approx(LameParameters(material).lambda * tet_volume).epsilon(1e-7));
      CHECK(view.Mu(t) == Approx(LameParameters(material).mu).epsilon(1e-6));
      CHECK(view.Lambda(t) == Approx(LameParameters(material).lambda).epsilon(1e-6));
      double tet_mass = 0.0;
      const std::array<uint32_t, 4> ids = NodesOf(rest.tets[t]);
      for (size_t k = 0; k < 4; ++k) {
        const double weight = weighted ? weights[t][k] : 0.25 * tet_volume;
        node_masses[ids[k]] += material.density * volume * weight / sum;
        tet_mass += material.density * volume * weight / sum;
      }
      CHECK(rest.tet_masses[t] == Approx(tet_mass).epsilon(1e-6));
      mass += tet_mass;
    }
    for (size_t i = 0; i < node_masses.size(); ++i) {
      CHECK(rest.masses[i] == Approx(node_masses[i]).epsilon(1e-6));
    }
    CHECK(rest.mass == Approx(mass).epsilon(1e-6));
    CHECK(rest.density == Approx(mass / volume).epsilon(1e-6));
  }
}

TEST_CASE("Materials and weights that do not belong to the tets are refused") {
  const TetMesh mesh = plush::test::TetBox(1, 1, 1, 0.1);
  const auto refused = [&mesh](const TetMaterials& materials, const std::vector<double>& weights) {
    std::vector<std::array<double, 4>> corners;
    for (const double weight : weights) corners.push_back({weight, weight, weight, weight});
    return !ComputeMixedRestData(mesh, materials, 1.0, 0.01, corners).ok();
  };
  const TetMaterials good = {{{}}, {0, 0, 0, 0, 0}, 0.0};
  CHECK_FALSE(refused(good, {}));
  CHECK_FALSE(refused(good, {1, 1, 1, 1, 1}));
  CHECK(refused({{{}}, {0, 0, 0, 0}, 0.0}, {}));
  CHECK(refused({{{}}, {0, 0, 0, 0, 1}, 0.0}, {}));
  CHECK(refused({{{}, {.young = 1e60}}, {0, 0, 0, 0, 1}, 0.0}, {}));
  CHECK(refused(good, {1, 1, 1, 1}));
  CHECK(refused(good, {1, 1, 1, 1, -1}));
  CHECK(refused(good, {0, 0, 0, 0, 0}));
  CHECK(refused(good, {1, 1, 1, 1, std::numeric_limits<double>::infinity()}));
}

TEST_CASE("A node without solid has a thousandth of the mean mass") {
  const TetMesh mesh = plush::test::TetBox(1, 1, 1, 0.1);
  std::vector<std::array<double, 4>> weights(5, {0.0, 0.0, 0.0, 0.0});
  weights[0] = {1, 1, 1, 1};
  const auto result = ComputeMixedRestData(mesh, {{{}}, {0, 0, 0, 0, 0}, 0.0}, 1.0, 0.01, weights);
  REQUIRE(result.ok());
  const RestData& rest = result.value();
  CHECK(rest.num_light == 4);
  CHECK(rest.mass == Approx(1000.0));
  for (const float mass : rest.masses) {
    CHECK((mass == Approx(250.0) || mass == Approx(1e-3 * 1000.0 / 8.0)));
  }
}

TEST_CASE("Linear elasticity of the rest data has exactly six rigid modes") {
  const auto result = ComputeRestData(plush::test::TetBox(2, 2, 1, 0.1, 0.08, 6), {}, 1.0, 0.01);
  REQUIRE(result.ok());
  const RestData& rest = result.value();
  const plush::SimulationView view = ViewOf(rest);
  const Eigen::Index n = 3 * static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(n, n);
  for (size_t t = 0; t < rest.tets.size(); ++t) {
    const auto element = TetStiffness(view.DmInv(t), view.Volume(t), view.Mu(t), view.Lambda(t));
    const uint32_t ids[4] = {rest.tets[t].a, rest.tets[t].b, rest.tets[t].c, rest.tets[t].d};
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        stiffness.block<3, 3>(3 * ids[i], 3 * ids[j]) += element.block<3, 3>(3 * i, 3 * j);
      }
    }
  }
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(stiffness).eigenvalues();
  for (int i = 0; i < 6; ++i) CHECK(std::abs(eigenvalues[i]) < 1e-6 * eigenvalues[n - 1]);
  CHECK(eigenvalues[6] > 1e-3 * eigenvalues[n - 1]);
}

TEST_CASE("The factor does not depend on how the rest shape is turned") {
  const TetMesh mesh = plush::test::TetBox(3, 3, 2, 0.1, 0.08, 8);
  TetMesh turned = mesh;  // turned by the quaternion (1, 2, 3, 4) / sqrt(30)
  for (Vec3d& p : turned.nodes) {
    const Vec3d axis = {1.0, 2.0, 3.0}, t = Cross(axis, p) * (2.0 / 30.0);
    p = p + 4.0 * t + Cross(axis, t);
  }
  const auto a = ComputeRestData(mesh, {}, 5.0, 0.01);
  const auto b = ComputeRestData(turned, {}, 5.0, 0.01);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  REQUIRE(a.value().rows == b.value().rows);
  const float largest = *std::max_element(a.value().values.begin(), a.value().values.end());
  for (size_t i = 0; i < a.value().values.size(); ++i) {
    CHECK(std::abs(a.value().values[i] - b.value().values[i]) < 1e-5f * largest);
  }
  CHECK(a.value().median_edge == Approx(b.value().median_edge).epsilon(1e-6));
}

TEST_CASE("The median edge of a regular lattice is the cell or its face diagonal") {
  const auto result = ComputeRestData(plush::test::TetBox(4, 4, 4, 0.25), {}, 1.0, 0.01);
  REQUIRE(result.ok());
  const double edge = result.value().median_edge;
  CHECK((edge == Approx(0.25) || edge == Approx(0.25 * std::sqrt(2.0))));
  CHECK(ComputeRestData(plush::test::SingleTet(), {}, 1.0, 0.01).value().median_edge > 0.9);
}

TEST_CASE("Rest data that single precision cannot hold are refused") {
  const auto refused = [](const TetMesh& mesh, const Material& material, double mass, double dt,
                          ExitCode code) {
    const auto result = ComputeRestData(mesh, material, mass, dt);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().exit_code == code);
    CHECK_FALSE(result.error().message.empty());
  };
  const TetMesh tet = plush::test::SingleTet();
  refused({}, {}, 1.0, 0.01, ExitCode::kInvalidInput);
  refused(plush::test::SingleTet(1e-20), {}, 1.0, 0.01, ExitCode::kInvalidInput);
  refused(plush::test::SingleTet(1e20), {}, 1.0, 0.01, ExitCode::kInvalidInput);
  refused(tet, {}, 0.0, 0.01, ExitCode::kInvalidInput);
  refused(tet, {}, std::numeric_limits<double>::quiet_NaN(), 0.01, ExitCode::kInvalidInput);
  refused(tet, {}, 1e-60, 0.01, ExitCode::kInvalidInput);
  refused(tet, {}, 1.0, 0.0, ExitCode::kUsage);
  refused(tet, {.young = 1e60}, 1.0, 0.01, ExitCode::kUsage);
  TetMesh far = tet;  // floats at 1e9 m are 64 m apart
  for (Vec3d& node : far.nodes) node += Vec3d{1e9, 0.0, 0.0};
  refused(far, {}, 1.0, 0.01, ExitCode::kInvalidInput);
}

}  // namespace rest_data_test
