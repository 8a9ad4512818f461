// SPDX-License-Identifier: MIT
// Bodies that start as their own mirror image, every tet inside out, recover [Kug, Fig. 5].
#include "plush/format/tet_block.h"

#include "runtime/tet_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace reflected_rest_test {

// Reads TetGen's NAME.node and NAME.ele, numbered from 0. Fails the test if they cannot be read.
tools::TetMesh ReadTetGen(const std::string& node_path) {
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

// `mesh` in the pose of [Kug]'s swinging armadillo: scaled to a tenth, turned half a turn about y,
// with positive volumes.
tools::TetMesh StandingArm(tools::TetMesh mesh) {
  for (tools::Vec3d& x : mesh.nodes) x = {-0.1 * x.x, 0.1 * x.y, -0.1 * x.z};
  for (auto& tet : mesh.tets) {
    const auto& x = mesh.nodes;
    if (tools::SixVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) < 0.0) {
      std::swap(tet[2], tet[3]);
    }
  }
  return mesh;
}

constexpr float kDt = 0.01f;
constexpr tools::Material kMaterial = {1.0e6, 0.33, 1000.0};

// How a body recovers from its mirror image in a given number of steps.
struct Recovery {
  double start = 0.0;         // elastic energy of the mirror image [J]
  double end = 0.0;           // [J]
  int upright = 1;            // number of steps after which no tet was inverted
  int recovered = 1;          // and at most `share` of the elastic energy was left
  double largest_gain = 0.0;  // of kinetic and elastic energy, in one step [J]
  uint32_t inverted = 0;      // inverted tets at the end
};

Recovery Recover(const ShapeAsset& shape, int axis, double share, int steps) {
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset(), {.splitting = {.volume_sweeps = 2}});
  Points mirrored = ToEigen(shape.rest());
  mirrored.row(axis) *= -1.0;
  REQUIRE(world.SetNodePositions(id, ToVec3s(mirrored)).ok());
  Recovery out;
  out.start = MomentsOf(world, id).elastic_j;
  double energy = out.start;
  for (int step = 1; step <= steps; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const WorldMeasures now = MeasuresOf(world);
    if (now.inverted_tets > 0) out.upright = step + 1;
    if (now.inverted_tets > 0 || now.elastic_j > share * out.start) out.recovered = step + 1;
    out.largest_gain = std::max(out.largest_gain, now.kinetic_j + now.elastic_j - energy);
    energy = now.kinetic_j + now.elastic_j;
    out.end = now.elastic_j;
    out.inverted = now.inverted_tets;
  }
  return out;
}

void Print(const char* what, int axis, const Recovery& r) {
  std::printf(
      "reflected %s, axis %d: no inverted tet after %d steps, recovered after %d; %.3g J of %.3g J "
      "left, %u tets inverted, largest gain %.3g J\n",
      what, axis, r.upright, r.recovered, r.end, r.start, r.inverted, r.largest_gain);
}

TEST_CASE("The armadillo recovers from its reflected rest pose", "[long]") {
  const std::string path = plush::tests::TestModelOrSkip("tets/arm_4k.node");
  if (path.empty()) return;
  const ShapeAsset shape = ShapeAsset::Baked(StandingArm(ReadTetGen(path)), kMaterial, double(kDt));
  for (int axis = 0; axis < 3; ++axis) {
    const Recovery r = Recover(shape, axis, 1e-3, 200);
    Print("armadillo", axis, r);
    CAPTURE(axis, r.upright, r.recovered, r.end / r.start);
    CHECK(r.inverted == 0);
    CHECK(r.recovered <= 50);  // "just a few time steps"
    CHECK(r.end < 1e-5 * r.start);
  }
}

TEST_CASE("A box recovers from its reflected rest pose") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const ShapeAsset shape(TetBox(4, 3, 3, 0.1, 0.09, seed), kMaterial, double(kDt));
  const Recovery r = Recover(shape, 0, 1e-3, 200);
  Print("box", 0, r);
  CAPTURE(seed, r.upright, r.recovered, r.end / r.start);
  CHECK(r.inverted == 0);
  CHECK(r.recovered <= 50);
  CHECK(r.end < 1e-5 * r.start);
}

}  // namespace reflected_rest_test
