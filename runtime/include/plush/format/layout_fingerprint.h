// SPDX-License-Identifier: MIT
// One number for the memory layout of everything that the runtime reads in place.
//
// The writer stores it and Asset::Open compares it, so a file from a compiler that laid the records
// out differently is refused, not misread. Add a new record type here and in
// runtime/src/asset/asset_layout.cpp, which ties these types to the schema's.
#pragma once

#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"
#include "plush/types.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace plush {

/// FNV-1a 64 over the four little-endian bytes of each number. Does not allocate.
constexpr uint64_t HashLayout(std::initializer_list<size_t> numbers) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const size_t number : numbers) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ ((number >> shift) & 0xffu)) * 0x100000001b3u;
    }
  }
  return hash;
}

/// Layout fingerprint of this build: sizes, alignments and offsets of Vec2, Vec3, Vec4, Quat, Pose,
/// Mat3, Tet, the blocks of tets, the supernodes and the records of the collision surface and of
/// static meshes, how many tets a block and rows a chunk have, and the byte order.
inline constexpr uint64_t kLayoutFingerprint =
    HashLayout({std::endian::native == std::endian::little ? size_t{1} : size_t{2},
                sizeof(float),
                sizeof(uint32_t),
                sizeof(Vec2),
                alignof(Vec2),
                offsetof(Vec2, x),
                offsetof(Vec2, y),
                sizeof(Vec3),
                alignof(Vec3),
                offsetof(Vec3, x),
                offsetof(Vec3, y),
                offsetof(Vec3, z),
                sizeof(Vec4),
                alignof(Vec4),
                offsetof(Vec4, x),
                offsetof(Vec4, y),
                offsetof(Vec4, z),
                offsetof(Vec4, w),
                sizeof(Quat),
                alignof(Quat),
                offsetof(Quat, x),
                offsetof(Quat, y),
                offsetof(Quat, z),
                offsetof(Quat, w),
                sizeof(Pose),
                alignof(Pose),
                offsetof(Pose, position),
                offsetof(Pose, rotation),
                sizeof(Mat3),
                alignof(Mat3),
                offsetof(Mat3, c0),
                offsetof(Mat3, c1),
                offsetof(Mat3, c2),
                sizeof(Tet),
                alignof(Tet),
                offsetof(Tet, a),
                offsetof(Tet, b),
                offsetof(Tet, c),
                offsetof(Tet, d),
                sizeof(CdgTet),
                offsetof(CdgTet, nodes),
                offsetof(CdgTet, tet),
                offsetof(CdgTet, first_patch),
                offsetof(CdgTet, low),
                offsetof(CdgTet, high),
                sizeof(CdgPatch),
                offsetof(CdgPatch, centroid),
                offsetof(CdgPatch, area),
                offsetof(CdgPatch, vector_area),
                offsetof(CdgPatch, thickness),
                offsetof(CdgPatch, tet),
                offsetof(CdgPatch, first_triangle),
                offsetof(CdgPatch, first_vertex),
                offsetof(CdgPatch, first_link),
                sizeof(CdgTriangle),
                alignof(CdgTriangle),
                sizeof(CdgWideTriangle),
                alignof(CdgWideTriangle),
                size_t{kCdgIndexBits},
                sizeof(TetBlock),
                alignof(TetBlock),
                offsetof(TetBlock, nodes),
                offsetof(TetBlock, dm_inv),
                offsetof(TetBlock, det_dm_inv),
                offsetof(TetBlock, stiffness),
                offsetof(TetBlock, bulk),
                kBlockTets,
                sizeof(Supernode),
                alignof(Supernode),
                offsetof(Supernode, first_column),
                offsetof(Supernode, num_columns),
                offsetof(Supernode, first_row),
                offsetof(Supernode, num_rows),
                offsetof(Supernode, first_value),
                size_t{kChunkRows},
                size_t{kRowPadding},
                size_t{kMaxSupernodeColumns},
                sizeof(StaticTriangle),
                alignof(StaticTriangle),
                offsetof(StaticTriangle, vertices),
                offsetof(StaticTriangle, neighbours),
                sizeof(StaticNode),
                alignof(StaticNode),
                offsetof(StaticNode, low),
                offsetof(StaticNode, flipped_high),
                size_t{kStaticLeafTriangles},
                size_t{kStaticChildren},
                size_t{kLastStaticCell}});

}  // namespace plush
