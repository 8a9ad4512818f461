// SPDX-License-Identifier: MIT
// Stored and refitted bounds hold their contents, down to the last bit of the vertices' positions.
#include "plush/format/cdg_records.h"

#include "collision/barycentric_bounds.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace bounds_test {

// [Civ, Eq. 5.1, 5.2] for one direction, in double.
std::array<double, 2> CivBounds(const std::array<double, 4>& p, const float low[4],
                                const float high[4]) {
  std::array<size_t, 4> order = {0, 1, 2, 3};
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  const auto [n0, n1, n2, n3] = order;
  const double a0 = low[n0], a1 = low[n1], a2 = low[n2], a3 = low[n3], b0 = high[n0], b3 = high[n3];
  return {b0 * p[n0] + a3 * p[n3] + a2 * p[n2] + (1.0 - b0 - a3 - a2) * p[n1],
          b3 * p[n3] + a0 * p[n0] + a1 * p[n1] + (1.0 - b3 - a0 - a1) * p[n2]};
}

// The exact minimum, by the greedy solution of the linear program.
double GreedyLeast(const std::array<double, 4>& p, const float low[4], const float high[4]) {
  std::array<size_t, 4> order = {0, 1, 2, 3};
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  double left = 1.0, sum = 0.0;
  for (size_t i = 0; i < 4; ++i) left -= double(low[i]), sum += double(low[i]) * p[i];
  for (const size_t i : order) {
    const double part = std::min(left, double(high[i]) - double(low[i]));
    left -= part;
    sum += part * p[i];
  }
  return sum;
}

// A box around random points of the barycentric tet.
void RandomBox(Random* random, float low[4], float high[4]) {
  std::fill_n(low, 4, 1.0f);
  std::fill_n(high, 4, 0.0f);
  for (int point = 0; point < 3; ++point) {
    double w[4], sum = 0.0;
    for (double& v : w) sum += v = -std::log(random->Uniform(1e-6, 1.0));
    for (size_t i = 0; i < 4; ++i) {
      low[i] = std::min(low[i], static_cast<float>(w[i] / sum));
      high[i] = std::max(high[i], static_cast<float>(w[i] / sum));
    }
  }
}

// Counts vertices outside their tet's volume, and nodes outside their parent's.
size_t CountMisses(const SurfaceBody& body) {
  const CollisionView& s = body.surface();
  size_t misses = 0, tet = s.tets.size();
  if (!body.state().bounded) return 0;
  for (size_t node = s.tree.size(); node-- > 0;) {
    const Dop14& volume = body.state().volumes[node];
    if (s.tree[node] != 0) {
      for (const size_t child : {node + 1, node + size_t{2} * s.tree[node]}) {
        const Dop14& inner = body.state().volumes[child];
        for (size_t k = 0; k < 8; ++k) {
          misses += inner.low[k] < volume.low[k] || inner.high[k] > volume.high[k] ? 1u : 0u;
        }
      }
      continue;
    }
    const CdgTet& t = s.tets[--tet];
    const std::array<Vec3, 4> nodes = NodesOf(t, body.x());
    const uint32_t first = s.patches[t.first_patch].first_vertex;
    const uint32_t last = tet + 1 < s.tets.size()
                              ? s.patches[s.tets[tet + 1].first_patch].first_vertex
                              : static_cast<uint32_t>(s.vertices.size());
    for (uint32_t v = first; v < last; ++v) {
      const Vec3 f = VertexPosition(nodes, s.vertices[v]);
      const double x = f.x, y = f.y, z = f.z;
      const double p[7] = {x, y, z, x + y + z, x + y - z, x - y + z, y - x + z};
      for (size_t k = 0; k < 7; ++k) {
        misses += !(p[k] >= double(volume.low[k]) && p[k] <= double(volume.high[k])) ? 1u : 0u;
      }
    }
  }
  return misses;
}

TEST_CASE("Each node of a patch's tree bounds the triangles of its range after unpacking") {
  for (const auto record : {tools::TriangleRecord::kSmallest, tools::TriangleRecord::kWide}) {
    const SurfaceBody body(TetBox(2, 1, 2, 0.1, 0.05, 3), {.parts = 9, .record = record});
    const CollisionView& s = body.surface();
    CHECK(s.triangles.empty() == (record == tools::TriangleRecord::kWide));
    size_t checked = 0, misses = 0;
    struct Range {
      uint32_t begin, end;
    };
    std::vector<Range> ranges;
    for (uint32_t p = 0; p < s.patches.size(); ++p) {
      ranges.push_back({s.patches[p].first_triangle, TrianglesEnd(s, p)});
    }
    while (!ranges.empty()) {
      const auto [begin, end] = ranges.back();
      ranges.pop_back();
      if (begin >= end) continue;
      const BarycentricBox box = UnpackBounds(body.Bounds(begin));
      for (uint32_t i = begin; i < end; ++i) {
        for (int k = 0; k < 3; ++k) {
          const Vec4& w = s.vertices[body.Corner(i, k)];
          const float weights[4] = {w.x, w.y, w.z, w.w};
          for (size_t c = 0; c < 4; ++c, ++checked) {
            misses += weights[c] < box.low[c] || weights[c] > box.high[c] ? 1u : 0u;
          }
        }
      }
      const uint32_t middle = PatchTreeMiddle(begin, end);
      ranges.push_back({begin + 1, middle});
      ranges.push_back({middle, end});
    }
    CHECK(misses == 0);
    CHECK(checked > 10000);
  }
}

TEST_CASE("Tets' volumes hold their contents under any deformation") {
  const int count = 100000;
  SurfaceBody body(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 2});
  const uint32_t seed = 20;
  CAPTURE(seed);
  Random random(seed);
  size_t misses = 0, bounded = 0;
  for (int i = 0; i < count; ++i) {
    const auto kind = static_cast<Deformation>(i % static_cast<int>(Deformation::kCount));
    body.Move(Deform(body.shape().rest(), kind, &random));
    misses += CountMisses(body);
    bounded += body.state().bounded ? 1u : 0u;
  }
  CHECK(misses == 0);
  CHECK(bounded == static_cast<size_t>(count));
}

TEST_CASE("Volumes hold their contents up to the ends of float") {
  SurfaceBody body(TetBox(2, 1, 1, 1.0, 0.08, 2), {.parts = 3});
  Random random(4);
  for (int exponent = -45; exponent <= 37; ++exponent) {
    const double scale = std::pow(10.0, exponent);
    const Points x = ToEigen(body.shape().rest()) * scale;
    body.Move(ToVec3s(x + random.Vectors(body.shape().num_nodes(), 0.2 * scale)));
    CAPTURE(exponent);
    REQUIRE(CountMisses(body) == 0);
    REQUIRE(body.state().bounded == (exponent < 18));
  }
}

TEST_CASE("The bound of a deformed box is the exact one, and never wider than Civ's") {
  Random random(8);
  double wider_than_exact = 0.0, civ_excess = 0.0, width = 0.0;
  int civ_wider = 0;
  const int count = 20000;
  for (int i = 0; i < count; ++i) {
    float low[4], high[4];
    RandomBox(&random, low, high);
    Float4 p[4];
    std::array<std::array<double, 4>, 4> lanes = {};
    for (size_t n = 0; n < 4; ++n) {
      for (int lane = 0; lane < 4; ++lane) {
        p[n][lane] = static_cast<float>(random.Uniform(-1.0, 1.0));
        lanes[static_cast<size_t>(lane)][n] = double(p[n][lane]);
      }
    }
    const LaneBounds bounds = BoundBox(p, low, high);
    for (int lane = 0; lane < 4; ++lane) {
      const auto& q = lanes[static_cast<size_t>(lane)];
      const double least = GreedyLeast(q, low, high);
      const double greatest = -GreedyLeast({-q[0], -q[1], -q[2], -q[3]}, low, high);
      wider_than_exact = std::max({wider_than_exact, std::fabs(double(bounds.low[lane]) - least),
                                   std::fabs(double(bounds.high[lane]) - greatest)});
      const auto [civ_low, civ_high] = CivBounds(q, low, high);
      REQUIRE(civ_low <= least + 1e-6);
      REQUIRE(civ_high >= greatest - 1e-6);
      const double excess = (civ_high - civ_low) - (greatest - least);
      civ_excess += excess;
      width += greatest - least;
      civ_wider += excess > 1e-3 ? 1 : 0;
    }
  }
  std::printf("[Civ, Eq. 5.1, 5.2] is wider in %.1f%% of directions, by %.1f%% on average\n",
              100.0 * civ_wider / (4.0 * count), 100.0 * civ_excess / width);
  CHECK(wider_than_exact < 1e-6);
}

TEST_CASE("Pieces of a surface are its connected parts") {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const SurfaceBody body(TetBox(2, 1, 2, 0.1, 0.05, 3),
                           {.num_shells = seed, .seed = seed, .holes = 3 * seed});
    const CollisionView& surface = body.surface();
    const CollisionState& state = body.state();
    const auto neighbour_of = [&](uint32_t triangle, int k) {
      return WithTriangles(surface, [&](const auto& of) { return NeighbourOf(of[triangle], k); });
    };
    // Spreads over neighbours from one triangle after the other.
    std::vector<uint32_t> piece_of(surface.num_triangles(), kNoTriangle);
    uint32_t count = 0;
    for (uint32_t first = 0; first < piece_of.size(); ++first) {
      if (piece_of[first] != kNoTriangle) continue;
      std::vector<uint32_t> waiting = {first};
      piece_of[first] = count;
      while (!waiting.empty()) {
        const uint32_t triangle = waiting.back();
        waiting.pop_back();
        for (int k = 0; k < 3; ++k) {
          const uint32_t next = neighbour_of(triangle, k);
          if (next == kNoTriangle || piece_of[next] != kNoTriangle) continue;
          piece_of[next] = count;
          waiting.push_back(next);
        }
      }
      ++count;
    }
    REQUIRE(count > 1);
    REQUIRE(state.pieces.size() == count);
    std::vector<double> areas(count);
    for (uint32_t t = 0; t < piece_of.size(); ++t)
      REQUIRE(state.piece_of[body.PatchOf(t)] == piece_of[t]);
    for (uint32_t i = 0; i < surface.patches.size(); ++i)
      areas[state.piece_of[i]] += double(surface.patches[i].area);
    for (uint32_t i = 0; i < count; ++i) {
      REQUIRE(state.piece_of[state.pieces[i].first_patch] == i);
      REQUIRE(state.pieces[i].area == Approx(areas[i]).epsilon(1e-5));
    }
  }
}

}  // namespace bounds_test
