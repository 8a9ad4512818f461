// SPDX-License-Identifier: MIT
// From bytes to views: checks header, container, alignment and counts, whatever the level of trust.
#pragma once

#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "asset/check_sink.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace flatbuffers {
struct String;
}  // namespace flatbuffers

namespace plush {

namespace format {
struct Asset;
}  // namespace format

/// The file's root table and spans over its bulk vectors. Valid as long as the bytes are.
struct AssetLayout {
  const format::Asset* root = nullptr;  ///< its tables visual, simulation and factor exist, or
                                        ///< only its table static_mesh
  size_t file_bytes = 0;                ///< size of the whole file
  VisualView visual;
  SimulationView simulation;
  FactorView factor;
  CollisionView collision;
  StaticMeshView static_mesh;
  bool is_static = false;
};

/// Checks the header, the FlatBuffers container, the alignment of every bulk vector and the
/// agreement of counts. Fills `out_layout` and returns true only if all of them hold. Does not read
/// indices or numbers. O(parts + regions); does not allocate.
bool ReadAssetLayout(std::span<const std::byte> bytes, CheckSink* sink, AssetLayout* out_layout);

/// Empty if there is no string.
std::string_view ViewOf(const flatbuffers::String* string);

}  // namespace plush
