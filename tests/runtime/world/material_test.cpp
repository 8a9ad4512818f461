// SPDX-License-Identifier: MIT
// Is the material that was asked for the one that is simulated?
#include "runtime/dense_reference.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace plush;
using namespace plush::test;

namespace {

// Reads TetGen's NAME.node and NAME.ele, numbered from 0.
tools::TetMesh ReadTets(const std::string& node_path) {
  tools::TetMesh mesh;
  std::ifstream nodes(node_path);
  std::ifstream tets(node_path.substr(0, node_path.size() - 5) + ".ele");
  size_t count = 0, ignored = 0, index = 0;
  nodes >> count >> ignored >> ignored >> ignored;
  mesh.nodes.resize(count);
  for (tools::Vec3d& node : mesh.nodes) nodes >> index >> node.x >> node.y >> node.z;
  tets >> count >> ignored >> ignored;
  mesh.tets.resize(count);
  for (auto& tet : mesh.tets) tets >> index >> tet[0] >> tet[1] >> tet[2] >> tet[3];
  REQUIRE(nodes.good());
  REQUIRE(tets.good());
  return mesh;
}

void MakePositive(tools::TetMesh* mesh) {
  for (auto& tet : mesh->tets) {
    const auto& x = mesh->nodes;
    if (tools::SixVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) < 0.0) {
      std::swap(tet[2], tet[3]);
    }
  }
}

std::vector<uint32_t> NodesWithin(const ShapeAsset& shape, const tools::Vec3d& centre,
                                  double radius) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    const Eigen::Vector3d x = ToEigen(shape.simulation().nodes[i]);
    if ((x - Eigen::Vector3d(centre.x, centre.y, centre.z)).norm() <= radius) out.push_back(i);
  }
  return out;
}

// Mean width along x and z of the nodes whose rest height lies in [low, high].
double WidthBetween(const Points& rest, const Points& x, double low, double high) {
  double inner = 0.0, outer = 0.0;
  const Eigen::Vector3d centre = rest.rowwise().mean();
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    if (rest(1, i) < low || rest(1, i) > high) continue;
    for (const int axis : {0, 2}) {
      const double r = rest(axis, i) - centre[axis];
      inner += r * r;
      outer += r * (x(axis, i) - centre[axis]);
    }
  }
  return outer / inner;  // least-squares stretch
}

}  // namespace

TEST_CASE("A hung bar contracts by Poisson's ratio") {
  const double nu = GENERATE(0.3, 0.45);
  CAPTURE(nu);
  const double young = 1.0e6;
  const ShapeAsset shape(TetBox(4, 20, 4, 0.1), {young, nu, 1000.0}, 0.01);
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.simulation().nodes[i].y > 1.99f) pins.push_back(i);
  }
  World world;
  BodyDesc body;
  body.pinned_nodes = pins;
  const BodyId id = world.AddBody(shape.asset(), body);
  for (int step = 0; step < 600; ++step) REQUIRE(world.Step(0.01f) == kStepOk);
  const Points rest = ToEigen(shape.rest());
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  // In the middle, away from the clamped and the free end.
  double length[2] = {};
  int count[2] = {};
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    for (int end = 0; end < 2; ++end) {
      if (std::fabs(rest(1, i) - (end == 0 ? 0.7 : 1.3)) > 0.01) continue;
      length[end] += x(1, i);
      ++count[end];
    }
  }
  const double axial = (length[1] / count[1] - length[0] / count[0]) / 0.6 - 1.0;
  const double lateral = WidthBetween(rest, x, 0.65, 1.35) - 1.0;
  CAPTURE(axial, lateral, -lateral / axial);
  CHECK(-lateral / axial == Approx(nu).epsilon(0.1));
  // The weight below the middle over the section: strain rho g 1 m / E.
  CHECK(axial == Approx(1000.0 * 9.81 * 1.0 / young).epsilon(0.05));
  CHECK(world.stats().max_speed < 5e-2f);
}

TEST_CASE("The armadillo's arm swings as deep as implicit Euler's") {
  const std::string path = plush::tests::TestModelOrSkip("tets/arm_4k.node");
  if (path.empty()) return;
  tools::TetMesh mesh = ReadTets(path);
  for (tools::Vec3d& x : mesh.nodes) x = {-0.1 * x.x, 0.1 * x.y, -0.1 * x.z};
  MakePositive(&mesh);
  const ShapeAsset shape = ShapeAsset::Baked(mesh, {1.0e6, 0.33, 1000.0}, 0.01);
  const std::vector<uint32_t> pins = NodesWithin(shape, mesh.nodes[811], 0.02);
  REQUIRE(pins.size() == 20);
  World world;
  BodyDesc body;
  body.pinned_nodes = pins;
  const BodyId id = world.AddBody(shape.asset(), body);
  REQUIRE(id.valid());
  double lowest = 0.0;
  for (int step = 0; step < 220; ++step) {
    REQUIRE(world.Step(0.01f) == kStepOk);
    const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    lowest = std::min(lowest, x.row(1).minCoeff());
  }
  CAPTURE(lowest);
  CHECK(lowest == Approx(-0.1998).epsilon(0.03));
}
