// SPDX-License-Identifier: MIT
// Asset: opens a baked file, mapped or in memory, and hands out views of it.
// Open stops at the first problem that its level of trust checks for; CheckAsset reports all.
#include "plush/asset.h"

#include "plush/format/asset_check.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "asset/asset_checks.h"
#include "asset/asset_layout.h"
#include "asset/file_mapping.h"
#include "asset/regions.h"
#include "plush_generated.h"

#include <cstring>
#include <new>
#include <utility>

namespace plush {
namespace {

void CheckContent(const AssetLayout& layout, CheckSink* sink) {
  if (layout.is_static) {
    CheckStaticMesh(layout, sink);
    return;
  }
  for (const auto check : {CheckVisual, CheckSimulation, CheckClusters, CheckBlocks, CheckFactor,
                           CheckCollision, CheckTuning}) {
    if (!sink->stopped()) check(layout, sink);
  }
}

// Keeps the first failure.
bool KeepFirst(void* user, CheckKind /*kind*/, const Status& status) {
  *static_cast<Status*>(user) = status;
  return false;
}

Status CheckBytes(std::span<const std::byte> bytes, Trust trust, AssetLayout* out_layout) {
  Status status;
  CheckSink sink(&status, KeepFirst);
  if (ReadAssetLayout(bytes, &sink, out_layout) && trust == Trust::kNothing) {
    CheckContent(*out_layout, &sink);
  }
  return status;
}

}  // namespace

void CheckAsset(std::span<const std::byte> bytes, void* user, CheckCallback callback) {
  CheckSink sink(user, callback);
  AssetLayout layout;
  if (ReadAssetLayout(bytes, &sink, &layout)) CheckContent(layout, &sink);
}

struct Asset::PackedViews {
  SimulationView simulation;
  FactorView factor;
  CollisionView collision;
  StaticMeshView static_mesh;
};

Asset::Asset() {
  static_assert(sizeof(PackedViews) <= kPackedViewBytes);
  static_assert(alignof(PackedViews) <= alignof(std::span<const std::byte>));
  ::new (static_cast<void*>(packed_)) PackedViews();
}

Asset::~Asset() { Reset(); }

const Asset::PackedViews& Asset::packed() const {
  return *std::launder(reinterpret_cast<const PackedViews*>(packed_));
}

const CageView& Asset::cage() const { return packed().simulation; }
std::span<const uint32_t> Asset::source_triangles() const {
  return packed().collision.source_triangles;
}
const SimulationView& Asset::simulation() const { return packed().simulation; }
const FactorView& Asset::factor() const { return packed().factor; }
const CollisionView& Asset::collision() const { return packed().collision; }
const StaticMeshView& Asset::static_mesh() const { return packed().static_mesh; }

Asset::Asset(Asset&& other) noexcept : Asset() { *this = std::move(other); }

Asset& Asset::operator=(Asset&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  bytes_ = std::exchange(other.bytes_, {});
  is_static_ = std::exchange(other.is_static_, false);
  visual_ = std::exchange(other.visual_, {});
  ::new (static_cast<void*>(packed_)) PackedViews(other.packed());
  ::new (static_cast<void*>(other.packed_)) PackedViews();
  num_parts_ = std::exchange(other.num_parts_, 0);
  num_materials_ = std::exchange(other.num_materials_, 0);
  num_regions_ = std::exchange(other.num_regions_, 0);
  content_hash_ = std::exchange(other.content_hash_, 0);
  source_hash_ = std::exchange(other.source_hash_, 0);
  tool_version_ = std::exchange(other.tool_version_, {});
  settings_ = std::exchange(other.settings_, {});
  mapping_ = std::exchange(other.mapping_, nullptr);
  mapping_bytes_ = std::exchange(other.mapping_bytes_, 0);
  return *this;
}

void Asset::Reset() {
  UnmapFile({mapping_, mapping_bytes_});
  mapping_ = nullptr;
  mapping_bytes_ = 0;
}

Status Asset::Open(const char* path, Trust trust) {
  if (path == nullptr) return {StatusCode::kInvalidArgument, "path", "the path is null", 0};
  FileMapping mapping;
  if (const Status status = MapFile(path, &mapping); !status.ok()) return status;
  const Status status =
      Open(std::span(static_cast<const std::byte*>(mapping.start), mapping.num_bytes), trust);
  if (!status.ok()) {
    UnmapFile(mapping);
    return status;
  }
  mapping_ = mapping.start;
  mapping_bytes_ = mapping.num_bytes;
  return status;
}

Status Asset::Open(std::span<const std::byte> bytes, Trust trust) {
  AssetLayout layout;
  if (const Status status = CheckBytes(bytes, trust, &layout); !status.ok()) return status;
  Reset();
  bytes_ = bytes;
  is_static_ = layout.is_static;
  visual_ = layout.visual;
  ::new (static_cast<void*>(packed_))
      PackedViews{layout.simulation, layout.factor, layout.collision, layout.static_mesh};
  const auto* parts = is_static_ ? nullptr : layout.root->visual()->parts();
  num_parts_ = parts == nullptr ? 0 : parts->size();
  num_materials_ = is_static_ ? layout.root->static_mesh()->materials()->size()
                              : layout.root->simulation()->materials()->size();
  num_regions_ = NumRegions(bytes);
  content_hash_ = layout.root->content_hash();
  source_hash_ = layout.root->source_hash();
  tool_version_ = ViewOf(layout.root->tool_version());
  settings_ = ViewOf(layout.root->settings());
  return {};
}

PartView Asset::part(uint32_t index) const {
  const format::Part* part = format::GetAsset(bytes_.data())->visual()->parts()->Get(index);
  return {ViewOf(part->name()), ViewOf(part->material()), ViewOf(part->node()), part->first_index(),
          part->num_indices()};
}

MaterialView Asset::material(uint32_t index) const {
  if (is_static_) {
    const auto* surface = format::GetAsset(bytes_.data())->static_mesh()->materials()->Get(index);
    return {.name = ViewOf(surface->name()),
            .friction = surface->friction(),
            .restitution = surface->restitution()};
  }
  const auto* material = format::GetAsset(bytes_.data())->simulation()->materials()->Get(index);
  return {ViewOf(material->name()), material->young(),    material->poisson(),
          material->density(),      material->friction(), material->restitution()};
}

RegionView Asset::region(uint32_t index) const { return RegionOf(bytes_, index); }

TuningView Asset::tuning() const {
  if (!is_open() || is_static_) return {};
  const format::Tuning* tuning = format::GetAsset(bytes_.data())->tuning();
  if (tuning == nullptr) return {};
  return {static_cast<TunedSolver>(tuning->solver()), static_cast<int>(tuning->newton_iterations()),
          static_cast<int>(tuning->linear_iterations()), factor().dt};
}

std::span<const std::byte> CopyAligned(std::span<const std::byte> bytes,
                                       std::span<std::byte> storage) {
  const size_t misalignment = reinterpret_cast<uintptr_t>(storage.data()) % kAssetAlignment;
  const size_t skip = (kAssetAlignment - misalignment) % kAssetAlignment;
  if (storage.size() < skip || storage.size() - skip < bytes.size()) return {};
  if (!bytes.empty()) std::memcpy(storage.data() + skip, bytes.data(), bytes.size());
  return {storage.data() + skip, bytes.size()};
}

}  // namespace plush
