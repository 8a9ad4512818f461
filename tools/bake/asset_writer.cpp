// SPDX-License-Identifier: MIT
// Writes the tables of schemas/plush.fbs with FlatBuffers, then patches size and hash and opens the
// result with the runtime.
#include "bake/asset_writer.h"

#include "plush/asset.h"
#include "plush/format/layout_fingerprint.h"
#include "plush/version.h"

#include "bake/content_hash.h"
#include "base/aligned_bytes.h"
#include "plush_generated.h"

#include <cstring>

namespace plush::tools {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

// FlatBuffers' offsets have 31 bits; the slack is for tables, strings and padding.
constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);

// A null offset leaves the field out: an empty vector has no elements to align.
template <class Stored, class T>
Offset<Vector<const Stored*>> AddRecords(FlatBufferBuilder* builder,
                                         const std::vector<T>& records) {
  static_assert(sizeof(Stored) == sizeof(T));
  if (records.empty()) return 0;
  builder->ForceVectorAlignment(records.size(), sizeof(T), kAssetAlignment);
  return builder->CreateVectorOfStructs(reinterpret_cast<const Stored*>(records.data()),
                                        records.size());
}

template <class T>
Offset<Vector<T>> AddScalars(FlatBufferBuilder* builder, const std::vector<T>& scalars) {
  if (scalars.empty()) return 0;
  builder->ForceVectorAlignment(scalars.size(), sizeof(T), kAssetAlignment);
  return builder->CreateVector(scalars);
}

// Each offset below gets its own statement: compilers evaluate arguments in any order, and the
// order of creation decides the bytes.

Offset<format::Part> AddPart(FlatBufferBuilder* builder, const PartContent& part) {
  const auto name = builder->CreateString(part.name);
  const auto material = builder->CreateString(part.material);
  const auto node = builder->CreateString(part.node);
  return format::CreatePart(*builder, name, material, node, part.first_index, part.num_indices);
}

Offset<format::Visual> AddVisual(FlatBufferBuilder* builder, const AssetContent& content) {
  const auto positions = AddRecords<format::Vec3>(builder, content.positions);
  const auto normals = AddRecords<format::Vec3>(builder, content.normals);
  const auto uvs = AddRecords<format::Vec2>(builder, content.uvs);
  const auto indices = AddScalars(builder, content.indices);
  const auto tet_ids = AddScalars(builder, content.tet_ids);
  const auto weights = AddRecords<format::Vec4>(builder, content.weights);
  const auto tangents = AddRecords<format::Vec4>(builder, content.tangents);
  const auto parts = builder->CreateVector<Offset<format::Part>>(
      content.parts.size(), [&](size_t i) { return AddPart(builder, content.parts[i]); });
  return format::CreateVisual(*builder, positions, normals, uvs, indices, parts, tet_ids, weights,
                              tangents);
}

Offset<Vector<Offset<format::Region>>> AddRegions(FlatBufferBuilder* builder,
                                                  const std::vector<RegionContent>& regions) {
  return builder->CreateVector<Offset<format::Region>>(regions.size(), [&](size_t i) {
    const auto nodes = AddScalars(builder, regions[i].nodes);
    const auto name = builder->CreateString(regions[i].name);
    const auto* rest =
        regions[i].rest ? reinterpret_cast<const format::Pose*>(&*regions[i].rest) : nullptr;
    return format::CreateRegion(*builder, name, nodes, rest);
  });
}

Offset<Vector<Offset<format::Material>>> AddMaterials(FlatBufferBuilder* builder,
                                                      const std::vector<NamedMaterial>& materials) {
  return builder->CreateVector<Offset<format::Material>>(materials.size(), [&](size_t i) {
    const Material& material = materials[i].material;
    const auto name = builder->CreateString(materials[i].name);
    return format::CreateMaterial(
        *builder, name, static_cast<float>(material.young), static_cast<float>(material.poisson),
        static_cast<float>(material.density), static_cast<float>(material.friction.value_or(-1.0)),
        static_cast<float>(material.restitution.value_or(-1.0)));
  });
}

Offset<format::Simulation> AddSimulation(FlatBufferBuilder* builder, const AssetContent& content) {
  const RestData& rest = content.rest;
  const auto nodes = AddRecords<format::Vec3>(builder, rest.nodes);
  const auto masses = AddScalars(builder, rest.masses);
  const auto tets = AddRecords<format::Tet>(builder, rest.tets);
  const auto tet_slots = AddScalars(builder, rest.tet_slots);
  const auto blocks = AddRecords<format::TetBlock>(builder, rest.blocks);
  const auto tet_masses = AddScalars(builder, rest.tet_masses);
  const auto tet_materials = AddScalars(builder, content.tet_materials);
  const auto clusters = AddScalars(builder, content.rest.clusters.of_nodes);
  const auto materials = AddMaterials(builder, content.materials);
  const auto regions = AddRegions(builder, content.regions);
  return format::CreateSimulation(
      *builder, nodes, masses, tets, tet_slots, blocks, tet_masses, tet_materials, materials,
      regions, rest.components, static_cast<float>(rest.density),
      static_cast<float>(content.damping), static_cast<float>(content.solid_volume),
      static_cast<float>(rest.median_edge), clusters, content.rest.clusters.count);
}

Offset<format::Factor> AddFactor(FlatBufferBuilder* builder, const RestData& rest) {
  const auto supernodes = AddRecords<format::Supernode>(builder, rest.supernodes);
  const auto supernode_of = AddScalars(builder, rest.supernode_of);
  const auto rows = AddScalars(builder, rest.rows);
  const auto values = AddScalars(builder, rest.values);
  return format::CreateFactor(*builder, static_cast<float>(rest.dt), rest.num_free, supernodes,
                              supernode_of, rows, values);
}

Offset<format::Collision> AddCollision(FlatBufferBuilder* builder, const CollisionData& data) {
  if (data.tets.empty()) return 0;
  const auto tets = AddRecords<format::CdgTet>(builder, data.tets);
  const auto tree = AddScalars(builder, data.tree);
  const auto patches = AddRecords<format::CdgPatch>(builder, data.patches);
  const auto links = AddScalars(builder, data.links);
  const auto triangles = AddRecords<format::CdgTriangle>(builder, data.triangles);
  const auto wide = AddRecords<format::CdgWideTriangle>(builder, data.wide_triangles);
  const auto vertices = AddRecords<format::Vec4>(builder, data.vertices);
  const auto sources = AddScalars(builder, data.source_triangles);
  return format::CreateCollision(*builder, tets, tree, patches, links, triangles, wide, vertices,
                                 sources, data.thickness);
}

Offset<format::StaticMesh> AddStaticMesh(FlatBufferBuilder* builder, const StaticContent& content) {
  const StaticMeshData& mesh = content.mesh;
  const auto positions = AddRecords<format::Vec3>(builder, mesh.positions);
  const auto triangles = AddRecords<format::StaticTriangle>(builder, mesh.triangles);
  const auto triangle_materials = AddScalars(builder, content.triangle_materials);
  const auto tree = AddRecords<format::StaticNode>(builder, mesh.tree);
  const auto materials = builder->CreateVector<Offset<format::SurfaceMaterial>>(
      content.materials.size(), [&](size_t i) {
        const Material& material = content.materials[i].material;
        const auto name = builder->CreateString(content.materials[i].name);
        return format::CreateSurfaceMaterial(
            *builder, name, static_cast<float>(material.friction.value_or(-1.0)),
            static_cast<float>(material.restitution.value_or(-1.0)));
      });
  return format::CreateStaticMesh(*builder, positions, triangles, triangle_materials, tree,
                                  reinterpret_cast<const format::Vec3*>(&mesh.low),
                                  reinterpret_cast<const format::Vec3*>(&mesh.high),
                                  static_cast<format::MeshSides>(content.sides), materials);
}

// An upper bound of the file's size.
uint64_t EstimateBytes(const StaticContent& content) {
  const StaticMeshData& mesh = content.mesh;
  uint64_t bytes = 4096 + content.settings_json.size() + mesh.positions.size() * sizeof(Vec3) +
                   mesh.triangles.size() * (sizeof(StaticTriangle) + 2) +
                   mesh.tree.size() * sizeof(StaticNode);
  for (const NamedMaterial& material : content.materials) bytes += 64 + material.name.size();
  return bytes;
}

// An upper bound of the file's size.
uint64_t EstimateBytes(const AssetContent& content) {
  const RestData& rest = content.rest;
  uint64_t bytes = 4096 + content.settings_json.size();
  bytes += content.positions.size() * (2 * sizeof(Vec3) + sizeof(Vec2) + 2 * sizeof(Vec4) + 4);
  bytes += content.indices.size() * 4;
  for (const PartContent& part : content.parts) {
    bytes += 128 + part.name.size() + part.material.size() + part.node.size();
  }
  bytes += rest.nodes.size() * (sizeof(Vec3) + 4 + 4 + 2);
  bytes += rest.tets.size() * (sizeof(Tet) + 4 + 4 + 2) + rest.blocks.size() * sizeof(TetBlock);
  bytes += rest.supernodes.size() * sizeof(Supernode);
  bytes += (rest.rows.size() + rest.values.size()) * 4;
  bytes += CollisionBytes(content.collision);
  for (const NamedMaterial& material : content.materials) bytes += 64 + material.name.size();
  for (const RegionContent& region : content.regions) {
    bytes += 128 + sizeof(Pose) + region.name.size() + region.nodes.size() * 4;
  }
  return bytes;
}

struct BodyTables {
  Offset<format::Visual> visual;
  Offset<format::Simulation> simulation;
  Offset<format::Factor> factor;
  Offset<format::Collision> collision;
  Offset<format::Tuning> tuning;
};

// Writes the root. Tables with a null offset are left out.
void AddRoot(FlatBufferBuilder* builder, const BodyTables& body,
             Offset<format::StaticMesh> static_mesh, const std::string& settings_json,
             uint64_t source_hash) {
  const auto tool_version = builder->CreateString(kVersionString);
  const auto settings = builder->CreateString(settings_json);
  const auto root =
      format::CreateAsset(*builder, kFormatMajor, kFormatMinor, kLayoutFingerprint, 0, 0,
                          source_hash, tool_version, settings, body.visual, body.simulation,
                          body.factor, body.collision, static_mesh, body.tuning);
  format::FinishAssetBuffer(*builder, root);
}

void FinishFile(FlatBufferBuilder* builder, const AssetContent& content) {
  BodyTables body;
  body.visual = AddVisual(builder, content);
  body.simulation = AddSimulation(builder, content);
  body.factor = AddFactor(builder, content.rest);
  body.collision = AddCollision(builder, content.collision);
  if (content.tuning) {
    const Tuning& tuning = *content.tuning;
    body.tuning = format::CreateTuning(*builder, static_cast<format::TunedSolver>(tuning.solver),
                                       static_cast<uint32_t>(tuning.newton_iterations),
                                       static_cast<uint32_t>(tuning.linear_iterations));
  }
  AddRoot(builder, body, 0, content.settings_json, content.source_hash);
}

void FinishFile(FlatBufferBuilder* builder, const StaticContent& content) {
  const auto static_mesh = AddStaticMesh(builder, content);
  AddRoot(builder, {}, static_mesh, content.settings_json, content.source_hash);
}

// Writes the numbers that need the complete file: its size and its hash.
void PatchFile(std::vector<std::byte>* bytes) {
  auto* table = flatbuffers::GetMutableRoot<flatbuffers::Table>(bytes->data());
  table->SetField<uint64_t>(format::Asset::VT_FILE_BYTES, bytes->size(), 0);
  const size_t field = *FindContentHash(*bytes);
  const uint64_t hash = flatbuffers::EndianScalar(ContentHash(*bytes, field));
  std::memcpy(bytes->data() + field, &hash, sizeof(hash));
}

// Fails if the runtime would refuse the file.
Result<Done> CheckOpens(const std::vector<std::byte>& bytes) {
  const AlignedBytes copy(bytes);
  const Status status = Asset().Open(copy.bytes());
  if (status.ok()) return Done{};
  return Error{ExitCode::kInvalidInput,
               std::string("the runtime would refuse the baked data: ") + status.section + "[" +
                   std::to_string(status.index) + "]: " + status.reason +
                   "; schemas/README.md lists the ranges; check the settings and --scale",
               ""};
}

template <class Content>
Result<std::vector<std::byte>> Write(const Content& content, const char* remedy) {
  const uint64_t estimate = EstimateBytes(content);
  if (estimate > kMaxFileBytes) {
    return Error{ExitCode::kLimit,
                 "the asset would have about " + std::to_string(estimate) +
                     " bytes; a file holds less than 2 GiB: choose " + remedy,
                 ""};
  }
  FlatBufferBuilder builder(static_cast<size_t>(estimate));
  builder.ForceDefaults(true);  // patched fields must exist even if zero
  FinishFile(&builder, content);
  const auto* data = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  std::vector<std::byte> bytes(data, data + builder.GetSize());
  PatchFile(&bytes);
  if (auto opens = CheckOpens(bytes); !opens.ok()) return opens.error();
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> WriteAsset(const AssetContent& content) {
  return Write(content, "fewer tets or a smaller mesh");
}

Result<std::vector<std::byte>> WriteStaticAsset(const StaticContent& content) {
  return Write(content, "a smaller mesh");
}

}  // namespace plush::tools
