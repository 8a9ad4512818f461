// SPDX-License-Identifier: MIT
// Records of the collision surface (CDG) as the file stores them, and the bits of its triangles.
//
// A triangle record is also a node of its patch's tree [Civ 5.4.3]. The tree over triangles [i0,
// i1) has triangle i0 as its root and the sub-trees [i0 + 1, m) and [m, i1), with m from
// PatchTreeMiddle. The root's record bounds all triangles of the range in barycentric coordinates
// of the patch's tet, by four intervals of 8 + 8 bits (a b-DOP [Civ 5.4.2]).
#pragma once

#include "plush/types.h"

#include <cstdint>
#include <span>

namespace plush {

/// A cage tet that holds patches. Barycentric coordinates of its patches refer to these nodes.
struct CdgTet {
  uint32_t nodes[4] = {};    ///< cage nodes, ascending
  uint32_t tet = 0;          ///< into SimulationView::tets
  uint32_t first_patch = 0;  ///< its patches end where those of the next CdgTet begin
  Vec4 low;                  ///< least weight of any vertex inside, per node, in [0, 1]
  Vec4 high;                 ///< greatest, in [low, 1]
};

/// A simply connected, open piece of surface inside one tet, at rest.
struct CdgPatch {
  Vec3 centroid;                ///< area-weighted [m] [Civ, Eq. 5.6]
  float area = 0.0f;            ///< [m^2] [Civ, Eq. 5.5]
  Vec3 vector_area;             ///< sum of normals times areas [m^2] [Civ, Eq. 5.3]
  float thickness = 0.0f;       ///< least of the body behind its triangles, along their normals
                                ///< [m]; 0: unknown, no such line met the surface again
  uint32_t tet = 0;             ///< its CdgTet
  uint32_t first_triangle = 0;  ///< triangles, vertices and links end where those of the next patch
  uint32_t first_vertex = 0;    ///< begin
  uint32_t first_link = 0;
};

/// Set in a link between two patches of one tet: their border is a cut, not a face of the tet.
inline constexpr uint32_t kSeamLink = uint32_t{1} << 31;

/// Greatest depth of the tree over the tets: a walk's stack needs no more elements.
inline constexpr uint32_t kMaxTreeDepth = 64;

/// Bits of an index in a packed triangle; all ones mean kNoTriangle.
inline constexpr int kCdgIndexBits = 21;
inline constexpr uint32_t kCdgIndexMask = (uint32_t{1} << kCdgIndexBits) - 1;
/// Most vertices or triangles that packed triangles can name.
inline constexpr uint32_t kMaxPackedFeatures = kCdgIndexMask;

/// A triangle in 24 bytes. The low 21 bits of each word are an index (words 0 to 2: vertices, 3 to
/// 5: neighbours). The upper 11 bits of word i are bits 11 i to 11 i + 10 of the bounds.
struct CdgTriangle {
  uint32_t words[6] = {};
};

/// A triangle of a surface with more than kMaxPackedFeatures vertices or triangles.
struct CdgWideTriangle {
  uint32_t vertices[3] = {};
  uint32_t neighbours[3] = {};
  uint32_t bounds[2] = {};  ///< lower and upper half
};

/// The fields of a triangle record.
struct CdgTriangleFields {
  uint32_t vertices[3] = {};  ///< counter-clockwise seen from outside; global in the file
  uint32_t neighbours[3] = {kNoTriangle, kNoTriangle, kNoTriangle};  ///< across the edge from
                                                                     ///< vertex k to vertex k + 1
  uint64_t bounds = 0;                                               ///< see QuantiseBounds
};

/// Packs into 24 bytes; UnpackTriangle gives the same fields back. Precondition: vertices and
/// neighbours below kMaxPackedFeatures, or kNoTriangle.
constexpr CdgTriangle PackTriangle(const CdgTriangleFields& fields) {
  const auto& [a, b, c] = fields.vertices;
  const auto& [p, q, r] = fields.neighbours;
  const uint32_t indices[6] = {a, b, c, p, q, r};
  CdgTriangle packed;
  for (int i = 0; i < 6; ++i) {
    const auto bits = static_cast<uint32_t>((fields.bounds >> (11 * i)) & 0x7ffu);
    packed.words[i] = (bits << kCdgIndexBits) | (indices[i] & kCdgIndexMask);
  }
  return packed;
}

/// The same into 32 bytes, for any index.
constexpr CdgWideTriangle PackWideTriangle(const CdgTriangleFields& fields) {
  return {{fields.vertices[0], fields.vertices[1], fields.vertices[2]},
          {fields.neighbours[0], fields.neighbours[1], fields.neighbours[2]},
          {static_cast<uint32_t>(fields.bounds), static_cast<uint32_t>(fields.bounds >> 32)}};
}

/// Bounds of the sub-tree whose root is this triangle, see QuantiseBounds.
constexpr uint64_t BoundsOf(const CdgTriangle& triangle) {
  uint64_t bounds = 0;
  for (int i = 0; i < 6; ++i) bounds |= uint64_t{triangle.words[i] >> kCdgIndexBits} << (11 * i);
  return bounds;
}

constexpr uint64_t BoundsOf(const CdgWideTriangle& triangle) {
  return triangle.bounds[0] | (uint64_t{triangle.bounds[1]} << 32);
}

/// Vertex `corner` (0..2).
constexpr uint32_t VertexOf(const CdgTriangle& triangle, int corner) {
  return triangle.words[corner] & kCdgIndexMask;
}
constexpr uint32_t VertexOf(const CdgWideTriangle& triangle, int corner) {
  return triangle.vertices[corner];
}

/// Triangle across the edge from vertex `corner` to the next one, or kNoTriangle.
constexpr uint32_t NeighbourOf(const CdgTriangle& triangle, int corner) {
  const uint32_t index = triangle.words[3 + corner] & kCdgIndexMask;
  return index == kCdgIndexMask ? kNoTriangle : index;
}
constexpr uint32_t NeighbourOf(const CdgWideTriangle& triangle, int corner) {
  return triangle.neighbours[corner];
}

/// All fields of a record.
template <class Record>
constexpr CdgTriangleFields UnpackTriangle(const Record& triangle) {
  CdgTriangleFields fields;
  for (int i = 0; i < 3; ++i) {
    fields.vertices[i] = VertexOf(triangle, i);
    fields.neighbours[i] = NeighbourOf(triangle, i);
  }
  fields.bounds = BoundsOf(triangle);
  return fields;
}

/// Four intervals in [0, 1].
struct BarycentricBox {
  float low[4] = {};
  float high[4] = {};
};

/// Rounds `box` outwards to a grid of 1/256. Byte i is l = min(255, floor(256 low[i])) and means
/// l / 256. Byte 4 + i is h = min(255, floor(256 high[i])) and means (h + 1) / 256. Both are exact
/// in float. Precondition: 0 <= low[i] <= high[i] <= 1.
constexpr uint64_t QuantiseBounds(const BarycentricBox& box) {
  uint64_t bounds = 0;
  for (int i = 0; i < 4; ++i) {
    const auto low = static_cast<uint64_t>(box.low[i] * 256.0f);
    const auto high = static_cast<uint64_t>(box.high[i] * 256.0f);
    bounds |= (low < 255 ? low : 255) << (8 * i);
    bounds |= (high < 255 ? high : 255) << (32 + 8 * i);
  }
  return bounds;
}

/// The box of quantised bounds. It holds the box given to QuantiseBounds.
constexpr BarycentricBox UnpackBounds(uint64_t bounds) {
  BarycentricBox box;
  for (int i = 0; i < 4; ++i) {
    box.low[i] = static_cast<float>((bounds >> (8 * i)) & 0xffu) * (1.0f / 256.0f);
    box.high[i] = static_cast<float>(((bounds >> (32 + 8 * i)) & 0xffu) + 1) * (1.0f / 256.0f);
  }
  return box;
}

/// Where the right sub-tree of the patch tree over triangles [begin, end) starts; the left one
/// starts at begin + 1. Precondition: begin < end. Both are empty for a single triangle.
constexpr uint32_t PatchTreeMiddle(uint32_t begin, uint32_t end) {
  return begin + 1 + (end - begin) / 2;
}

/// CDG: the collision surface. Everything is empty if the file has none.
struct CollisionView {
  std::span<const CdgTet> tets;       ///< tets that hold patches, in the order of the tree's leaves
  std::span<const uint32_t> tree;     ///< over tets, in preorder: number of leaves under the left
                                      ///< child, 0 for a leaf (2 num_tets - 1 x 1)
  std::span<const CdgPatch> patches;  ///< in the order of their tets (num_patches x 1)
  std::span<const uint32_t> links;    ///< neighbours of each patch; see kSeamLink
  std::span<const CdgTriangle> triangles;           ///< (num_triangles x 1), or empty: wide
  std::span<const CdgWideTriangle> wide_triangles;  ///< (num_triangles x 1), or empty: packed
  std::span<const Vec4> vertices;              ///< weights for CdgTet::nodes (num_vertices x 1)
  std::span<const uint32_t> source_triangles;  ///< triangle of VisualView that each lies in or near
                                               ///< (num_triangles x 1, or empty)
  float thickness = 0.0f;  ///< least of the body behind its triangles, as of a patch, but for 1% of
                           ///< the area: edges and tips are as thin as you like [m]; 0: unknown

  uint32_t num_triangles() const {
    return static_cast<uint32_t>(triangles.size() + wide_triangles.size());
  }
};

// The layout, at compile time.
static_assert(sizeof(CdgTriangle) == 24 && sizeof(CdgWideTriangle) == 32);
static_assert(sizeof(CdgTet) == 56 && sizeof(CdgPatch) == 48);
static_assert(UnpackTriangle(PackTriangle({{1, 2, 3}, {4, kNoTriangle, 6}, 0xfedcba9876543210u}))
                  .bounds == 0xfedcba9876543210u);
static_assert(NeighbourOf(PackTriangle({{1, 2, 3}, {4, kNoTriangle, 6}, ~uint64_t{0}}), 1) ==
              kNoTriangle);
static_assert(VertexOf(PackTriangle({{1, 2, kMaxPackedFeatures - 1}, {4, 5, 6}, 0}), 2) ==
              kMaxPackedFeatures - 1);

}  // namespace plush
