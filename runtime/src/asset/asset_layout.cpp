// SPDX-License-Identifier: MIT
// Reads a file's header and container and fills AssetLayout: version, layout, sizes, alignment.
// Ties the schema's records to the public types by static assertions.
#include "asset/asset_layout.h"

#include "plush/format/asset_check.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/layout_fingerprint.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"

#include "plush_generated.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace plush {
namespace {

// Ties the public types to the records of the schema. If an assertion fails, only one of the schema
// and plush/types.h was changed: change both, kLayoutFingerprint and the format version.
template <class Public, class Stored>
constexpr bool kSameRecord =
    sizeof(Public) == sizeof(Stored) && alignof(Public) == alignof(Stored) &&
    std::is_trivially_copyable_v<Public>&& std::is_standard_layout_v<Public>;

static_assert(kSameRecord<Vec2, format::Vec2>);
static_assert(kSameRecord<Vec3, format::Vec3>);
static_assert(kSameRecord<Vec4, format::Vec4>);
static_assert(kSameRecord<Quat, format::Quat>);
static_assert(kSameRecord<Pose, format::Pose>);
static_assert(kSameRecord<Mat3, format::Mat3>);
static_assert(kSameRecord<Tet, format::Tet>);
static_assert(kSameRecord<TetBlock, format::TetBlock>);
static_assert(kSameRecord<Supernode, format::Supernode>);
static_assert(kSameRecord<CdgTet, format::CdgTet>);
static_assert(kSameRecord<CdgPatch, format::CdgPatch>);
static_assert(kSameRecord<CdgTriangle, format::CdgTriangle>);
static_assert(kSameRecord<CdgWideTriangle, format::CdgWideTriangle>);
static_assert(kSameRecord<StaticTriangle, format::StaticTriangle>);
static_assert(kSameRecord<StaticNode, format::StaticNode>);
static_assert(sizeof(float) == 4 && std::numeric_limits<float>::is_iec559);

// Every build that can read files of the current format has this value, from format 0.9 on.
static_assert(kLayoutFingerprint == 0x445b6ad9401a7652u);

constexpr size_t kMinFileBytes = 8;                      // root offset and identifier
constexpr size_t kMaxFileBytes = (size_t{1} << 31) - 1;  // FlatBuffers' offsets have 31 bits

// Asset, Simulation, Material and the like: the schema nests no deeper.
constexpr flatbuffers::uoffset_t kMaxTableDepth = 3;
// Most parts, materials and regions of a file. The verifier takes about 20 ns per table.
constexpr flatbuffers::uoffset_t kMaxTables = 1u << 20;

const uint8_t* BytesOf(std::span<const std::byte> bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

flatbuffers::Verifier MakeVerifier(std::span<const std::byte> bytes) {
  return flatbuffers::Verifier(BytesOf(bytes), bytes.size(), kMaxTableDepth, kMaxTables);
}

// The root table, or null if it is not inside the bytes. Its vtable is then inside too, but its
// fields need not be.
const flatbuffers::Table* FindRoot(std::span<const std::byte> bytes) {
  flatbuffers::Verifier verifier = MakeVerifier(bytes);
  const flatbuffers::uoffset_t offset = verifier.VerifyOffset(0);
  if (offset == 0 || !verifier.VerifyTableStart(BytesOf(bytes) + offset)) return nullptr;
  return reinterpret_cast<const flatbuffers::Table*>(BytesOf(bytes) + offset);
}

// Whether a scalar of the root table is absent or inside the bytes.
template <class T>
bool IsReadable(std::span<const std::byte> bytes, const flatbuffers::Table* root,
                flatbuffers::voffset_t field) {
  const size_t offset = root->GetOptionalFieldOffset(field);
  const auto place = reinterpret_cast<const uint8_t*>(root) - BytesOf(bytes);
  return offset == 0 || MakeVerifier(bytes).Verify<T>(static_cast<size_t>(place) + offset);
}

// The root table if its version, layout and size are readable, else null.
const flatbuffers::Table* FindHeader(std::span<const std::byte> bytes) {
  using Asset = format::Asset;
  const flatbuffers::Table* root = FindRoot(bytes);
  const bool readable = root != nullptr &&
                        IsReadable<uint16_t>(bytes, root, Asset::VT_FORMAT_MAJOR) &&
                        IsReadable<uint16_t>(bytes, root, Asset::VT_FORMAT_MINOR) &&
                        IsReadable<uint64_t>(bytes, root, Asset::VT_LAYOUT_FINGERPRINT) &&
                        IsReadable<uint64_t>(bytes, root, Asset::VT_FILE_BYTES);
  return readable ? root : nullptr;
}

FormatVersion VersionOf(const flatbuffers::Table* header) {
  return {header->GetField<uint16_t>(format::Asset::VT_FORMAT_MAJOR, 0),
          header->GetField<uint16_t>(format::Asset::VT_FORMAT_MINOR, 0)};
}

bool FailHeader(CheckSink* sink, StatusCode code, const char* section, const char* reason) {
  sink->Fail(CheckKind::kHeader, section, reason, 0, code);
  return false;
}

bool IsAligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kAssetAlignment == 0;
}

// Checks everything that must hold before reading through the container.
bool CheckBase(std::span<const std::byte> bytes, CheckSink* sink) {
  if (bytes.size() < kMinFileBytes) {
    return FailHeader(sink, StatusCode::kTruncated, "header",
                      "the file is shorter than its header");
  }
  if (!IsAligned(bytes.data())) {
    return FailHeader(sink, StatusCode::kMisaligned, "base",
                      "the address is not a multiple of 32; copy with CopyAligned");
  }
  if (!format::AssetBufferHasIdentifier(bytes.data())) {
    return FailHeader(sink, StatusCode::kBadMagic, "header", "this is not a .plush file");
  }
  if (bytes.size() >= kMaxFileBytes) {
    return FailHeader(sink, StatusCode::kCorrupt, "header", "the file has 2 GiB or more");
  }
  return true;
}

bool CheckHeader(std::span<const std::byte> bytes, CheckSink* sink) {
  if (!CheckBase(bytes, sink)) return false;
  const flatbuffers::Table* header = FindHeader(bytes);
  if (header == nullptr) {
    return FailHeader(sink, StatusCode::kTruncated, "header",
                      "the root table does not lie inside the file");
  }
  const FormatVersion version = VersionOf(header);
  if (version.major != kFormatMajor || version.minor != kFormatMinor) {
    return FailHeader(sink, StatusCode::kForeignVersion, "header",
                      "the file has another format version than 0.10; bake its source again");
  }
  if (header->GetField<uint64_t>(format::Asset::VT_LAYOUT_FINGERPRINT, 0) != kLayoutFingerprint) {
    return FailHeader(sink, StatusCode::kLayoutMismatch, "header",
                      "the file's records are laid out differently; bake its source again");
  }
  const uint64_t file_bytes = header->GetField<uint64_t>(format::Asset::VT_FILE_BYTES, 0);
  if (bytes.size() < file_bytes) {
    return FailHeader(sink, StatusCode::kTruncated, "header", "the file ends early");
  }
  if (bytes.size() > file_bytes) {
    return FailHeader(sink, StatusCode::kCorrupt, "header", "bytes follow the end of the file");
  }
  return true;
}

bool CheckContainer(std::span<const std::byte> bytes, CheckSink* sink) {
  flatbuffers::Verifier verifier = MakeVerifier(bytes);
  if (!format::VerifyAssetBuffer(verifier)) {
    sink->Fail(CheckKind::kStructure, "container", "an offset or size inside the file is wrong");
    return false;
  }
  const format::Asset* root = format::GetAsset(bytes.data());
  if (root->static_mesh() != nullptr) {
    const bool is_alone = root->visual() == nullptr && root->simulation() == nullptr &&
                          root->factor() == nullptr && root->collision() == nullptr &&
                          root->tuning() == nullptr;
    if (!is_alone) {
      sink->Fail(CheckKind::kStructure, "static_mesh", "the file holds a soft body, too");
    }
    return is_alone;
  }
  const auto require = [sink](const void* table, const char* section) {
    if (table == nullptr) sink->Fail(CheckKind::kStructure, section, "the table is missing");
    return table != nullptr;
  };
  return require(root->visual(), "visual") && require(root->simulation(), "simulation") &&
         require(root->factor(), "factor");
}

template <class T, class Stored>
std::span<const T> SpanOf(const flatbuffers::Vector<Stored>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

VisualView ReadVisual(const format::Visual& table) {
  VisualView view;
  view.positions = SpanOf<Vec3>(table.positions());
  view.normals = SpanOf<Vec3>(table.normals());
  view.tangents = SpanOf<Vec4>(table.tangents());
  view.uvs = SpanOf<Vec2>(table.uvs());
  view.indices = SpanOf<uint32_t>(table.indices());
  view.tet_ids = SpanOf<uint32_t>(table.tet_ids());
  view.weights = SpanOf<Vec4>(table.weights());
  return view;
}

SimulationView ReadSimulation(const format::Simulation& table) {
  SimulationView view;
  view.nodes = SpanOf<Vec3>(table.nodes());
  view.masses = SpanOf<float>(table.masses());
  view.tets = SpanOf<Tet>(table.tets());
  view.tet_slots = SpanOf<uint32_t>(table.tet_slots());
  view.blocks = SpanOf<TetBlock>(table.blocks());
  view.tet_masses = SpanOf<float>(table.tet_masses());
  view.tet_materials = SpanOf<uint16_t>(table.tet_materials());
  view.clusters = SpanOf<uint16_t>(table.clusters());
  view.num_clusters = table.num_clusters();
  view.components = table.components();
  view.density = table.density();
  view.damping = table.damping();
  view.solid_volume = table.solid_volume();
  view.median_edge = table.median_edge();
  return view;
}

FactorView ReadFactor(const format::Factor& table) {
  return {.dt = table.dt(),
          .num_free = table.num_free(),
          .supernodes = SpanOf<Supernode>(table.supernodes()),
          .supernode_of = SpanOf<uint32_t>(table.supernode_of()),
          .rows = SpanOf<uint32_t>(table.rows()),
          .values = SpanOf<float>(table.values())};
}

CollisionView ReadCollision(const format::Collision* table) {
  if (table == nullptr) return {};
  return {.tets = SpanOf<CdgTet>(table->tets()),
          .tree = SpanOf<uint32_t>(table->tree()),
          .patches = SpanOf<CdgPatch>(table->patches()),
          .links = SpanOf<uint32_t>(table->links()),
          .triangles = SpanOf<CdgTriangle>(table->triangles()),
          .wide_triangles = SpanOf<CdgWideTriangle>(table->wide_triangles()),
          .vertices = SpanOf<Vec4>(table->vertices()),
          .source_triangles = SpanOf<uint32_t>(table->source_triangles()),
          .thickness = table->thickness()};
}

StaticMeshView ReadStaticMesh(const format::StaticMesh& table) {
  StaticMeshView view;
  view.positions = SpanOf<Vec3>(table.positions());
  view.triangles = SpanOf<StaticTriangle>(table.triangles());
  view.materials = SpanOf<uint16_t>(table.triangle_materials());
  view.tree = SpanOf<StaticNode>(table.tree());
  view.levels = StaticLevels::For(view.triangles.size());
  view.sides = static_cast<MeshSides>(table.sides());
  const auto corner = [](const format::Vec3* v) { return Vec3{v->x(), v->y(), v->z()}; };
  if (table.low() != nullptr && table.high() != nullptr) {
    view.grid = StaticGrid::Over(corner(table.low()), corner(table.high()));
  }
  return view;
}

// The verifier does not check where the elements of a vector start.
bool CheckAlignment(const AssetLayout& layout, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  const auto check = [sink](const char* section, const auto& span) {
    if (sink->stopped() || span.empty() || IsAligned(span.data())) return;
    sink->Fail(CheckKind::kAlignment, section, "the vector does not start at a multiple of 32");
  };
  check("visual.positions", layout.visual.positions);
  check("visual.normals", layout.visual.normals);
  check("visual.tangents", layout.visual.tangents);
  check("visual.uvs", layout.visual.uvs);
  check("visual.indices", layout.visual.indices);
  check("visual.tet_ids", layout.visual.tet_ids);
  check("visual.weights", layout.visual.weights);
  check("simulation.nodes", layout.simulation.nodes);
  check("simulation.masses", layout.simulation.masses);
  check("simulation.tets", layout.simulation.tets);
  check("simulation.tet_slots", layout.simulation.tet_slots);
  check("simulation.blocks", layout.simulation.blocks);
  check("simulation.tet_masses", layout.simulation.tet_masses);
  check("simulation.tet_materials", layout.simulation.tet_materials);
  check("simulation.clusters", layout.simulation.clusters);
  check("factor.supernodes", layout.factor.supernodes);
  check("factor.supernode_of", layout.factor.supernode_of);
  check("factor.rows", layout.factor.rows);
  check("factor.values", layout.factor.values);
  check("collision.tets", layout.collision.tets);
  check("collision.tree", layout.collision.tree);
  check("collision.patches", layout.collision.patches);
  check("collision.links", layout.collision.links);
  check("collision.triangles", layout.collision.triangles);
  check("collision.wide_triangles", layout.collision.wide_triangles);
  check("collision.vertices", layout.collision.vertices);
  check("collision.source_triangles", layout.collision.source_triangles);
  check("static_mesh.positions", layout.static_mesh.positions);
  check("static_mesh.triangles", layout.static_mesh.triangles);
  check("static_mesh.triangle_materials", layout.static_mesh.materials);
  check("static_mesh.tree", layout.static_mesh.tree);
  const auto* regions = layout.is_static ? nullptr : layout.root->simulation()->regions();
  if (regions != nullptr) {
    for (const format::Region* region : *regions) {
      check("simulation.regions.nodes", SpanOf<uint32_t>(region->nodes()));
    }
  }
  return sink->num_failures() == before;
}

// Passes failures on to the sink.
auto CountChecker(CheckSink* sink) {
  return [sink](bool good, const char* section, const char* reason) {
    if (!good && !sink->stopped()) sink->Fail(CheckKind::kCounts, section, reason);
  };
}

void CheckStaticCounts(const AssetLayout& layout, CheckSink* sink) {
  const StaticMeshView& mesh = layout.static_mesh;
  const auto check = CountChecker(sink);
  check(!mesh.triangles.empty(), "static_mesh.triangles", "no triangle");
  check(mesh.materials.size() == mesh.triangles.size(), "static_mesh.triangle_materials",
        "not one element per triangle");
  check(mesh.tree.size() == mesh.levels.num_nodes(), "static_mesh.tree",
        "not the nodes of as many triangles");
  const auto* materials = layout.root->static_mesh()->materials();
  check(materials != nullptr && materials->size() > 0, "static_mesh.materials", "no material");
}

void CheckBodyCounts(const AssetLayout& layout, CheckSink* sink) {
  const VisualView& visual = layout.visual;
  const SimulationView& simulation = layout.simulation;
  const FactorView& factor = layout.factor;
  const auto check = CountChecker(sink);
  const char* per_vertex = "not one element per vertex";
  const size_t num_vertices = visual.positions.size();
  check(visual.normals.size() == num_vertices, "visual.normals", per_vertex);
  check(visual.tangents.empty() || visual.tangents.size() == num_vertices, "visual.tangents",
        per_vertex);
  check(visual.uvs.empty() || visual.uvs.size() == num_vertices, "visual.uvs", per_vertex);
  check(visual.indices.size() % 3 == 0, "visual.indices", "not three per triangle");
  check(visual.tet_ids.size() == num_vertices, "visual.tet_ids", per_vertex);
  check(visual.weights.size() == num_vertices, "visual.weights", per_vertex);

  const size_t num_nodes = simulation.nodes.size();
  check(num_nodes >= 4, "simulation.nodes", "fewer than four nodes");
  check(simulation.masses.size() == num_nodes, "simulation.masses", "not one element per node");
  const char* per_tet = "not one element per tet";
  const size_t num_tets = simulation.tets.size();
  check(num_tets >= 1, "simulation.tets", "no tet");
  check(simulation.tet_slots.size() == num_tets, "simulation.tet_slots", per_tet);
  check(!simulation.blocks.empty() && simulation.blocks.size() <= num_tets, "simulation.blocks",
        "not between one and the number of tets");
  check(simulation.tet_masses.size() == num_tets, "simulation.tet_masses", per_tet);
  check(simulation.tet_materials.size() == num_tets, "simulation.tet_materials", per_tet);
  const size_t num_clusters = simulation.num_clusters;
  check(simulation.clusters.empty() || simulation.clusters.size() == num_nodes,
        "simulation.clusters", "not one element per node");
  check(simulation.clusters.empty()
            ? num_clusters == 0
            : num_clusters >= 1 && num_clusters <= num_nodes && num_clusters <= kMaxClusters,
        "simulation.num_clusters",
        "not zero without clusters, or between one and the number of nodes and 256");
  const auto* materials = layout.root->simulation()->materials();
  check(materials != nullptr && materials->size() > 0, "simulation.materials", "no material");

  check(!factor.supernodes.empty() && factor.supernodes.size() <= num_nodes, "factor.supernodes",
        "not between one and the number of nodes");
  check(factor.supernode_of.size() == num_nodes, "factor.supernode_of", "not one element per node");

  const CollisionView& collision = layout.collision;
  const size_t num_leaves = collision.tets.size();
  const size_t num_triangles = collision.num_triangles();
  check(collision.triangles.empty() || collision.wide_triangles.empty(), "collision.wide_triangles",
        "triangles of both kinds");
  check(collision.tree.size() == (num_leaves == 0 ? 0 : 2 * num_leaves - 1), "collision.tree",
        "not two elements per tet less one");
  check((num_leaves == 0) == collision.patches.empty() &&
            (num_leaves == 0) == (num_triangles == 0) &&
            (num_leaves == 0) == collision.vertices.empty(),
        "collision.patches", "tets, patches, triangles and vertices without each other");
  check(collision.source_triangles.empty() || collision.source_triangles.size() == num_triangles,
        "collision.source_triangles", "not one element per triangle");
}

bool CheckCounts(const AssetLayout& layout, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  (layout.is_static ? CheckStaticCounts : CheckBodyCounts)(layout, sink);
  return sink->num_failures() == before;
}

}  // namespace

bool ReadAssetLayout(std::span<const std::byte> bytes, CheckSink* sink, AssetLayout* out_layout) {
  if (!CheckHeader(bytes, sink) || !CheckContainer(bytes, sink)) return false;
  AssetLayout layout;
  layout.root = format::GetAsset(bytes.data());
  layout.file_bytes = bytes.size();
  layout.is_static = layout.root->static_mesh() != nullptr;
  if (layout.is_static) {
    layout.static_mesh = ReadStaticMesh(*layout.root->static_mesh());
  } else {
    layout.visual = ReadVisual(*layout.root->visual());
    layout.simulation = ReadSimulation(*layout.root->simulation());
    layout.factor = ReadFactor(*layout.root->factor());
    layout.collision = ReadCollision(layout.root->collision());
  }
  const bool aligned = CheckAlignment(layout, sink);
  if (sink->stopped() || !CheckCounts(layout, sink) || !aligned) return false;
  *out_layout = layout;
  return true;
}

bool ReadFormatVersion(std::span<const std::byte> bytes, FormatVersion* out_version) {
  CheckSink ignore(nullptr, [](void*, CheckKind, const Status&) { return false; });
  if (out_version == nullptr || !CheckBase(bytes, &ignore)) return false;
  const flatbuffers::Table* header = FindHeader(bytes);
  if (header == nullptr) return false;
  *out_version = VersionOf(header);
  return true;
}

std::string_view ViewOf(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view() : string->string_view();
}

}  // namespace plush
