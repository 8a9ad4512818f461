// SPDX-License-Identifier: MIT
// Positions of the collision surface's vertices in the deformed tets.
//
// x = sum w_i x_i is a chain of single multiplications and additions, starting from +0, in
// ascending order of the nodes. A vertex on a face that two tets share has weight 0 for the
// opposite node in each. Adding that zero changes no bit of a sum that started at +0. So both sides
// get the same position, to the bit, in scalar code and in four lanes.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"

#include "base/float4.h"
#include "base/node_vec.h"
#include "base/vector_math.h"

#include <array>
#include <span>

namespace plush {

/// Positions of a CdgTet's nodes [m], in its order.
inline std::array<Vec3, 4> NodesOf(const CdgTet& tet, NodeVectors x) {
  return {x[tet.nodes[0]], x[tet.nodes[1]], x[tet.nodes[2]], x[tet.nodes[3]]};
}

/// Position [m] of a vertex with these weights.
inline Vec3 VertexPosition(const std::array<Vec3, 4>& nodes, const Vec4& weights) {
  Vec3 sum;
  sum += nodes[0] * weights.x;
  sum += nodes[1] * weights.y;
  sum += nodes[2] * weights.z;
  sum += nodes[3] * weights.w;
  return sum;
}

/// The same nodes as lanes x, y, z, 0.
struct TetLanes {
  Float4 nodes[4];
};

inline Float4 ToLanes(const Vec3& v) { return Float4{v.x, v.y, v.z, 0.0f}; }

inline TetLanes LanesOf(const std::array<Vec3, 4>& nodes) {
  return {{ToLanes(nodes[0]), ToLanes(nodes[1]), ToLanes(nodes[2]), ToLanes(nodes[3])}};
}

/// VertexPosition in lanes x, y, z; the same bits.
inline Float4 VertexLanes(const TetLanes& tet, const Vec4& weights) {
  Float4 sum = Broadcast(0.0f);
  sum = sum + tet.nodes[0] * Broadcast(weights.x);
  sum = sum + tet.nodes[1] * Broadcast(weights.y);
  sum = sum + tet.nodes[2] * Broadcast(weights.z);
  sum = sum + tet.nodes[3] * Broadcast(weights.w);
  return sum;
}

/// Corners of a triangle of the tet, in lanes x, y, z.
template <class Record>
std::array<Float4, 3> CornersOf(const TetLanes& tet, std::span<const Vec4> vertices,
                                const Record& triangle) {
  return {VertexLanes(tet, vertices[VertexOf(triangle, 0)]),
          VertexLanes(tet, vertices[VertexOf(triangle, 1)]),
          VertexLanes(tet, vertices[VertexOf(triangle, 2)])};
}

}  // namespace plush
