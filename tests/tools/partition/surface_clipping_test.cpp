// SPDX-License-Identifier: MIT
// Cuts that rounding makes degenerate: exact signs show a crossing, but volumes in double precision
// do not give its position. Cuts by strands that part and meet again.
#include "partition/surface_clipping.h"

#include "mesh/exact_predicates.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

using namespace plush::tools;

namespace surface_clipping_test {

using Random = std::mt19937;

double Uniform(Random* random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*random);
}

// Four tets around the edge (0, 1), in general position.
TetMesh RingOfTets(Random* random) {
  TetMesh mesh = {.nodes = {{0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}}};
  for (Vec3d& node : mesh.nodes) {
    node += Vec3d{Uniform(random, 0.3, 0.4), Uniform(random, 0.3, 0.4), Uniform(random, 0.3, 0.4)};
  }
  mesh.tets = {{0, 1, 2, 3}, {0, 1, 3, 4}, {0, 1, 4, 5}, {0, 1, 5, 2}};
  for (auto& tet : mesh.tets) {
    const auto& [a, b, c, d] = tet;
    if (SixVolume(mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], mesh.nodes[d]) < 0.0) {
      std::swap(tet[2], tet[3]);
    }
  }
  return mesh;
}

// The tet that strictly contains the point, or UINT32_MAX.
uint32_t TetAt(const TetMesh& mesh, const Vec3d& p) {
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    bool inside = true;
    for (size_t corner = 0; corner < 4; ++corner) {
      std::array<Vec3d, 4> x;
      for (size_t k = 0; k < 4; ++k) x[k] = mesh.nodes[mesh.tets[t][k]];
      x[corner] = p;
      inside = inside && Orient3dSign(x[0], x[1], x[2], x[3]) > 0;
    }
    if (inside) return t;
  }
  return UINT32_MAX;
}

// A point in the plane through nodes 0, 1 and `third`, up to rounding; its weight for `third` is at
// least `least`.
Vec3d NearPlane(const TetMesh& mesh, const Vec3d& third, double least, Random* random) {
  const double across = Uniform(random, least, 0.2), along = Uniform(random, 0.4, 0.6);
  return mesh.nodes[0] * (1.0 - along - across) + mesh.nodes[1] * along + third * across;
}

// Whether the exact signs of d and e over (a, b, c) differ, but not those of their volumes in
// double: equal volumes, or shares outside of [0, 1].
bool IsLostToRounding(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d,
                      const Vec3d& e) {
  const double of_d = SixVolume(a, b, c, d), of_e = SixVolume(a, b, c, e);
  return Orient3dSign(a, b, c, d) * Orient3dSign(a, b, c, e) < 0 &&
         ((of_d >= 0.0 && of_e >= 0.0) || (of_d <= 0.0 && of_e <= 0.0));
}

// Clips one triangle: every point has weights >= 0 that sum to one and a place; those on the edges
// of the triangle lie in its box. Returns how many points lie on edges of the cage.
size_t CheckClipped(const TetMesh& mesh, const std::array<Vec3d, 3>& corners) {
  SolidSurface surface;
  surface.points.assign(corners.begin(), corners.end());
  surface.triangles = {{0, 1, 2}};
  surface.source_triangle = {0};
  std::vector<uint32_t> tets;
  for (const Vec3d& p : corners) tets.push_back(TetAt(mesh, p));
  if (std::count(tets.begin(), tets.end(), UINT32_MAX) > 0) return 0;
  const ClippedSurface clipped = ClipSurface(surface, mesh, tets);
  REQUIRE(clipped.outside.empty());
  const Vec3d low = Min(Min(corners[0], corners[1]), corners[2]);
  const Vec3d high = Max(Max(corners[0], corners[1]), corners[2]);
  const CutSurface& cut = clipped.surface;
  size_t on_edges = 0;
  for (size_t p = 0; p < cut.points.size(); ++p) {
    REQUIRE(IsFinite(cut.points[p]));
    for (int axis = 0; axis < (cut.carriers[p].count == 2 ? 0 : 3); ++axis) {
      REQUIRE(cut.points[p][axis] >= low[axis] - 1e-12);
      REQUIRE(cut.points[p][axis] <= high[axis] + 1e-12);
    }
    double sum = 0.0;
    for (uint32_t i = 0; i < cut.carriers[p].count; ++i) {
      REQUIRE(cut.carriers[p].weights[i] >= 0.0);
      sum += cut.carriers[p].weights[i];
    }
    REQUIRE(sum == Approx(1.0).epsilon(1e-12));
    on_edges += cut.carriers[p].count == 2 ? 1 : 0;
  }
  return on_edges;
}

TEST_CASE("An edge in a face's plane up to rounding is cut at one of its points") {
  Random random(20);
  size_t lost = 0;
  for (int i = 0; i < 20000; ++i) {
    const TetMesh mesh = RingOfTets(&random);
    const auto& x = mesh.nodes;
    const Vec3d p = NearPlane(mesh, x[2], 0.02, &random), q = NearPlane(mesh, x[2], 0.02, &random);
    if (!IsLostToRounding(x[0], x[1], x[2], p, q)) continue;
    ++lost;
    CheckClipped(mesh, {p, q, (x[0] + x[1] + x[2] + x[3]) * 0.25});
  }
  CHECK(lost > 10);
}

TEST_CASE("An edge of the cage in a triangle's plane up to rounding is cut at one of its points") {
  Random random(21);
  size_t lost = 0, cut = 0;
  for (int i = 0; i < 200000; ++i) {
    const TetMesh mesh = RingOfTets(&random);
    const auto& x = mesh.nodes;
    const Vec3d beside = (x[2] + x[3]) * 0.5;
    // Two corners on one side of the edge, one on the other: most of the edge lies between them.
    const auto at = [&](double along, double across) {
      along += Uniform(&random, -0.03, 0.03);
      across += Uniform(&random, -0.03, 0.03);
      return x[0] * (1.0 - along - across) + x[1] * along + beside * across;
    };
    const Vec3d p = at(0.12, -0.06), q = at(0.94, -0.06), r = at(0.4, 0.2);
    if (!IsLostToRounding(p, q, r, x[0], x[1])) continue;
    ++lost;
    cut += CheckClipped(mesh, {p, q, r});
  }
  CHECK(lost > 10);
  CHECK(cut > 5);
}

// Three copies of a box of 40 tets, moved a little, that share random nodes and lack random tets:
// strands part, overlap, meet again and end. The last 40 tets are a whole copy.
TetMesh StrandsInBox(Random* random) {
  const TetMesh box = plush::test::TetBox(4, 2, 1, 1.0);
  const auto num_nodes = static_cast<uint32_t>(box.nodes.size());
  TetMesh mesh;
  std::vector<uint32_t> copy_of;
  for (uint32_t strand = 0; strand < 3; ++strand) {
    for (uint32_t node = 0; node < num_nodes; ++node) {
      const uint32_t shared = (*random)() % 2 == 0 ? 0 : (*random)() % (strand + 1);
      copy_of.push_back(num_nodes * shared + node);
      mesh.nodes.push_back(box.nodes[node] + Vec3d{Uniform(random, 0, 0.02),
                                                   Uniform(random, 0, 0.02),
                                                   Uniform(random, 0, 0.02)});
    }
    for (auto tet : box.tets) {
      for (uint32_t& node : tet) node = copy_of[num_nodes * strand + node];
      const bool is_missing = strand > 0 && (*random)() % 8 == 0;
      if (!is_missing && std::ranges::count(mesh.tets, tet) == 0) mesh.tets.push_back(tet);
    }
  }
  std::ranges::reverse(mesh.tets);
  return mesh;
}

TEST_CASE("Strands hold all of a triangle once, or it is outside") {
  size_t held = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const TetMesh mesh = StrandsInBox(&random);
    const size_t choices = seed % 2 == 0 ? 40 : mesh.tets.size();  // 40: the whole copy holds it
    SolidSurface surface;
    std::vector<uint32_t> tets;
    for (uint32_t i = 0; i < 3; ++i) {
      tets.push_back(static_cast<uint32_t>(mesh.tets.size() - 1 - random() % choices));
      Vec3d point;
      double sum = 0.0;
      for (const uint32_t node : mesh.tets[tets[i]]) {
        const double weight = Uniform(&random, 0.3, 1.0);
        point += mesh.nodes[node] * weight;
        sum += weight;
      }
      surface.points.push_back(point / sum);
    }
    surface.triangles = {{0, 1, 2}};
    surface.source_triangle = {0};
    const ClippedSurface clipped = ClipSurface(surface, mesh, tets);
    if (choices > 40 && !clipped.outside.empty()) continue;
    REQUIRE(clipped.outside.empty());
    ++held;
    const auto area = [](const std::vector<Vec3d>& x, const std::array<uint32_t, 3>& t) {
      return 0.5 * Length(Cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]));
    };
    double sum = 0.0;
    for (const auto& triangle : clipped.surface.triangles) {
      sum += area(clipped.surface.points, triangle);
    }
    CHECK(sum == Approx(area(surface.points, {0, 1, 2})));
  }
  CHECK(held > 550);  // 500 in the whole copy
  CHECK(held < 950);
}

}  // namespace surface_clipping_test
