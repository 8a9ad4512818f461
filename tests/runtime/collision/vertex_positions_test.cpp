// SPDX-License-Identifier: MIT
// A vertex has one position, from either side of a face and in scalar and vector code.
#include "collision/vertex_positions.h"

#include "plush/format/cdg_records.h"

#include "collision/surface_records.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <map>

using namespace plush;
using namespace plush::test;

namespace vertex_positions_test {

bool SameBits(const Vec3& a, const Vec3& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// A copy of a vertex in one of two tets: weights for the same nodes.
struct Copy {
  uint32_t tet, vertex;
};

// Vertices on faces, edges and nodes of the cage, found by their weights for cage nodes.
std::vector<std::vector<Copy>> SharedVertices(const SurfaceBody& body) {
  std::map<std::map<uint32_t, float>, std::vector<Copy>> copies;
  const CollisionView& s = body.surface();
  for (uint32_t i = 0; i < s.num_triangles(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const uint32_t vertex = body.Corner(i, k), tet = body.TetOf(i);
      const Vec4& w = s.vertices[vertex];
      const float weights[4] = {w.x, w.y, w.z, w.w};
      std::map<uint32_t, float> key;
      for (size_t c = 0; c < 4; ++c) {
        if (weights[c] != 0.0f) key[s.tets[tet].nodes[c]] = weights[c];
      }
      if (key.size() < 4) copies[key].push_back({tet, vertex});
    }
  }
  std::vector<std::vector<Copy>> shared;
  for (const auto& [key, places] : copies) {
    for (const Copy& copy : places) {
      if (copy.tet != places.front().tet) {
        shared.push_back(places);
        break;
      }
    }
  }
  return shared;
}

Vec3 InLanes(const std::array<Vec3, 4>& nodes, const Vec4& weights) {
  const Float4 x = VertexLanes(LanesOf(nodes), weights);
  return {x[0], x[1], x[2]};
}

TEST_CASE("A vertex that tets share has the same bits from all sides, scalar and in lanes") {
  SurfaceBody body(TetBox(2, 2, 2, 0.1, 0.05, 4), {.parts = 5, .num_shells = 0});
  const auto shared = SharedVertices(body);
  REQUIRE(shared.size() > 100);
  Random random(11);
  const auto num_kinds = static_cast<uint32_t>(Deformation::kCount);
  size_t compared = 0, different = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::vector<Vec3> x =
        Deform(body.shape().rest(), static_cast<Deformation>(random.Below(num_kinds)), &random);
    const auto& places = shared[random.Below(static_cast<uint32_t>(shared.size()))];
    const CollisionView& s = body.surface();
    const Vec3 first =
        VertexPosition(NodesOf(s.tets[places[0].tet], x), s.vertices[places[0].vertex]);
    for (const Copy& copy : places) {
      const std::array<Vec3, 4> nodes = NodesOf(s.tets[copy.tet], x);
      const Vec3 lanes = InLanes(nodes, s.vertices[copy.vertex]);
      different += SameBits(first, VertexPosition(nodes, s.vertices[copy.vertex])) ? 0u : 1u;
      different += SameBits(first, lanes) ? 0u : 1u;
      ++compared;
    }
  }
  CHECK(different == 0);
  CHECK(compared > 20000);
}

TEST_CASE("A vertex placed in lanes has the bits of one placed alone") {
  const SurfaceBody body(TetBox(1, 1, 1, 0.1, 0.05, 4));
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const std::vector<Vec3> x = Deform(body.shape().rest(), Deformation::kRandom, &random);
    const std::array<Vec3, 4> nodes = NodesOf(body.surface().tets[0], x);
    for (const Vec4& weights : body.surface().vertices) {
      REQUIRE(SameBits(InLanes(nodes, weights), VertexPosition(nodes, weights)));
    }
  }
}

}  // namespace vertex_positions_test
