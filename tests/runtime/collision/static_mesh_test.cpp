// SPDX-License-Identifier: MIT
// Triangles near a box, against all triangles one by one.
#include "collision/static_mesh.h"

#include "runtime/collision/static_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace plush;
using namespace plush::test;
using plush::tests::MakeGridBox;
using plush::tests::MakeSphere;
using plush::tests::MakeTriangleSoup;

namespace static_mesh_test {

std::vector<uint32_t> InBox(const StaticMeshView& mesh, const Vec3& low, const Vec3& high) {
  std::vector<uint32_t> found;
  ForTrianglesInBox(mesh, low, high, [&](uint32_t t) {
    found.push_back(t);
    return true;
  });
  size_t visits = 0;
  ForTrianglesInBox(mesh, low, high, [&](uint32_t) { return ++visits < 2; });
  CHECK(visits == std::min<size_t>(found.size(), 2));
  return found;
}

// The same from the definition.
std::vector<uint32_t> InBoxByForce(const StaticMeshView& mesh, const Vec3& low, const Vec3& high) {
  std::vector<uint32_t> found;
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto x = CornersOf(mesh, t);
    const auto overlaps = [&](auto axis, float least, float greatest) {
      const auto [a, b] = std::minmax({axis(x[0]), axis(x[1]), axis(x[2])});
      return a <= greatest && b >= least;
    };
    if (overlaps([](const Vec3& p) { return p.x; }, low.x, high.x) &&
        overlaps([](const Vec3& p) { return p.y; }, low.y, high.y) &&
        overlaps([](const Vec3& p) { return p.z; }, low.z, high.z)) {
      found.push_back(t);
    }
  }
  return found;
}

// Boxes of all sizes inside and around the mesh; some end exactly at its vertices.
void CompareBoxes(const StaticMeshView& mesh, uint32_t seed, int count) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> share(-0.2f, 1.2f);
  const Vec3 low = mesh.grid.low, high = mesh.grid.high;
  const auto point = [&] {
    if (random() % 3 == 0) return mesh.positions[random() % mesh.positions.size()];
    return Vec3{low.x + share(random) * (high.x - low.x), low.y + share(random) * (high.y - low.y),
                low.z + share(random) * (high.z - low.z)};
  };
  size_t total = 0;
  for (int i = 0; i < count; ++i) {
    const Vec3 a = point();
    Vec3 b = point();
    const float size = std::pow(2.0f, -float(random() % 8));  // mostly small boxes
    b = {a.x + size * (b.x - a.x), a.y + size * (b.y - a.y), a.z + size * (b.z - a.z)};
    if (random() % 8 == 0) b = a;
    const Vec3 from = {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
    const Vec3 to = {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
    const auto found = InBox(mesh, from, to);
    CAPTURE(i, from.x, from.y, from.z, to.x, to.y, to.z);
    REQUIRE(found == InBoxByForce(mesh, from, to));
    total += found.size();
  }
  CHECK(total > 0);
}

TEST_CASE("A box of a static mesh finds the triangles that brute force finds") {
  const double far = GENERATE(0.0, 1000.0, 1.0e6);
  const uint32_t num_triangles = GENERATE(1u, 4u, 5u, 16u, 17u, 64u, 65u, 300u, 3000u);
  CAPTURE(far, num_triangles);
  const StaticSubject subject(Moved(MakeTriangleSoup(num_triangles, 0.1, num_triangles), far));
  CompareBoxes(subject.mesh(), num_triangles, 300);
}

TEST_CASE("A flat static mesh has a tree") {
  SurfaceMesh flat = MakeGridBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}, 8);
  for (auto& p : flat.positions) p.y = 0.25;
  const StaticSubject subject(flat);
  CHECK(subject.mesh().grid.cells_per_metre[1] == 0.0);
  CompareBoxes(subject.mesh(), 7, 300);
}

TEST_CASE("A box of a model finds the triangles that brute force finds") {
  const std::string path = plush::tests::TestModelOrSkip("armadillo_10k.obj");
  if (path.empty()) return;
  const StaticSubject subject(ReadObj(path));
  CompareBoxes(subject.mesh(), 11, 300);
}

TEST_CASE("A box beside a static mesh, upside down or not a number meets nothing") {
  const StaticSubject subject(MakeSphere(1.0, 8, 16));
  const float nan = std::nanf("");
  CHECK(InBox(subject.mesh(), {2.0f, -1.0f, -1.0f}, {3.0f, 1.0f, 1.0f}).empty());
  CHECK(InBox(subject.mesh(), {1.0f, 1.0f, 1.0f}, {-1.0f, -1.0f, -1.0f}).empty());
  CHECK(InBox(subject.mesh(), {nan, nan, nan}, {nan, nan, nan}).empty());
  CHECK(InBox({}, {-1.0f, -1.0f, -1.0f}, {1.0f, 1.0f, 1.0f}).empty());
  const float inf = INFINITY;
  CHECK(InBox(subject.mesh(), {-inf, -inf, -inf}, {inf, inf, inf}).size() ==
        subject.mesh().triangles.size());
}

TEST_CASE("A small box visits few nodes' worth of triangles") {
  const StaticSubject subject(MakeSphere(1.0, 100, 200));
  // Leaves whose bounds meet the box hold about as many triangles as the box does.
  size_t in_leaves = 0;
  const StaticMeshView& mesh = subject.mesh();
  const Vec3 low = {0.9f, -0.1f, -0.1f}, high = {1.1f, 0.1f, 0.1f};
  const StaticBoxLimits box(mesh.grid, low, high);
  for (uint32_t node = mesh.levels.begin[mesh.levels.count - 1]; node < mesh.tree.size(); ++node) {
    in_leaves += 4 * static_cast<size_t>(std::popcount(OverlappingChildren(mesh.tree[node], box)));
  }
  const size_t in_box = InBox(mesh, low, high).size();
  CHECK(in_box > 50);
  CHECK(in_leaves < 2 * in_box);
}

}  // namespace static_mesh_test
