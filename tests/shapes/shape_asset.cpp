// SPDX-License-Identifier: MIT
#include "shapes/shape_asset.h"

#include "plush/asset.h"

#include "bake/pin_regions.h"
#include "mesh/tangents.h"
#include "partition/partition.h"
#include "rest/clusters.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace plush::test {
namespace {

using tools::AssetContent;
using tools::ToDouble;
using tools::ToFloat;
using tools::Vec3d;

// A face by the corners of its tet, counter-clockwise seen from outside.
constexpr std::array<std::array<uint32_t, 3>, 4> kFaces = {
    {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};

std::array<uint32_t, 4> Ids(const Tet& tet) { return {tet.a, tet.b, tet.c, tet.d}; }

std::array<uint32_t, 3> SortedFace(const std::array<uint32_t, 4>& ids, size_t face) {
  std::array<uint32_t, 3> key = {ids[kFaces[face][0]], ids[kFaces[face][1]], ids[kFaces[face][2]]};
  std::sort(key.begin(), key.end());
  return key;
}

void AddFace(uint32_t tet_id, size_t face, AssetContent* content) {
  const std::array<uint32_t, 4> ids = Ids(content->rest.tets[tet_id]);
  std::array<Vec3d, 3> x;
  for (size_t k = 0; k < 3; ++k) x[k] = ToDouble(content->rest.nodes[ids[kFaces[face][k]]]);
  const Vec3d normal = Cross(x[1] - x[0], x[2] - x[0]);
  for (size_t k = 0; k < 3; ++k) {
    std::array<float, 4> w = {};
    w[kFaces[face][k]] = 1.0f;
    content->indices.push_back(static_cast<uint32_t>(content->positions.size()));
    content->positions.push_back(ToFloat(x[k]));
    content->normals.push_back(ToFloat(normal / Length(normal)));
    content->uvs.push_back({w[0], w[1]});
    content->tet_ids.push_back(tet_id);
    content->weights.push_back({w[0], w[1], w[2], w[3]});
  }
}

tools::SurfaceMesh SurfaceOf(const AssetContent& content) {
  tools::SurfaceMesh surface;
  for (const Vec3& position : content.positions) surface.positions.push_back(ToDouble(position));
  surface.normals = content.normals;
  surface.uvs = content.uvs;
  for (size_t i = 0; i < content.indices.size(); i += 3) {
    surface.triangles.push_back(
        {content.indices[i], content.indices[i + 1], content.indices[i + 2]});
  }
  return surface;
}

void AddSurface(AssetContent* content) {
  std::map<std::array<uint32_t, 3>, int> uses;
  for (const Tet& tet : content->rest.tets) {
    for (size_t face = 0; face < 4; ++face) ++uses[SortedFace(Ids(tet), face)];
  }
  for (uint32_t t = 0; t < content->rest.tets.size(); ++t) {
    for (size_t face = 0; face < 4; ++face) {
      if (uses[SortedFace(Ids(content->rest.tets[t]), face)] == 1) AddFace(t, face, content);
    }
  }
  content->tangents = tools::UnitTangents(SurfaceOf(*content));
  const uint32_t num_indices = static_cast<uint32_t>(content->indices.size());
  content->parts = {{"body", "skin", "root", 0, 3}, {"", "shoe", "", 3, num_indices - 3}};
}

void AddCollision(AssetContent* content) {
  // TBB is not built for the thread sanitizer, which looks at the runtime.
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  tools::TetMesh mesh;
  for (const Vec3& node : content->rest.nodes) mesh.nodes.push_back(ToDouble(node));
  for (const Tet& tet : content->rest.tets) mesh.tets.push_back(Ids(tet));
  content->collision = tools::PartitionBoundary(SurfaceOf(*content), mesh).data;
}

// Of the nodes as the mesh numbers them.
void AddRegions(const tools::TetMesh& mesh, AssetContent* content) {
  std::vector<Vec3> nodes;
  for (const Vec3d& node : mesh.nodes) nodes.push_back(ToFloat(node));
  const auto [low, high] = std::minmax_element(
      nodes.begin(), nodes.end(), [](const Vec3& a, const Vec3& b) { return a.y < b.y; });
  content->regions = {{"high", {}}, {"low", {}}};
  const float quarter = 0.25f * (high->y - low->y);
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].y >= high->y - quarter) content->regions[0].nodes.push_back(i);
    if (nodes[i].y <= low->y + quarter) content->regions[1].nodes.push_back(i);
  }
}

// Adds everything but the materials, which `content` already holds.
AssetContent Completed(AssetContent content, const tools::TetMesh& mesh, double dt) {
  double volume = 0.0;
  for (const auto& t : mesh.tets) {
    volume += SixVolume(mesh.nodes[t[0]], mesh.nodes[t[1]], mesh.nodes[t[2]], mesh.nodes[t[3]]) / 6;
  }
  tools::TetMaterials materials = {{}, content.tet_materials, content.damping};
  for (const auto& [name, material] : content.materials) materials.materials.push_back(material);
  AddRegions(mesh, &content);
  auto rest = tools::ComputeMixedRestData(mesh, materials, volume, dt, {},
                                          tools::LastNodes(content.regions));
  if (!rest.ok()) FAIL(rest.error().message);
  content.rest = std::move(rest.value());
  AddClusters(std::nullopt, &content);
  tools::RenumberRegions(content.rest.node_order, &content.regions);
  content.solid_volume = volume;
  content.settings_json = R"({"shape":"procedural"})";
  content.source_hash = 0x0123456789abcdef;
  AddSurface(&content);
  AddCollision(&content);
  return content;
}

}  // namespace

AssetContent ContentOf(const tools::TetMesh& mesh, const tools::Material& material, double dt) {
  AssetContent content = {.materials = {{"skin", material}}};
  content.tet_materials.assign(mesh.tets.size(), 0);
  content.damping = material.damping;
  return Completed(std::move(content), mesh, dt);
}

AssetContent TwoMaterialContentOf(const tools::TetMesh& mesh, double dt) {
  AssetContent content;
  content.materials = {{"skin", {1.0e5, 0.4, 1000.0}}, {"shoe", {4.0e5, 0.3, 1500.0}}};
  content.tet_materials.assign(mesh.tets.size(), 1);
  std::fill_n(content.tet_materials.begin(), mesh.tets.size() / 2, uint16_t{0});
  content.damping = 0.05;
  content = Completed(std::move(content), mesh, dt);
  content.regions[1].rest = Pose{{0.05f, -0.1f, 0.2f}, {0.5f, -0.5f, 0.5f, 0.5f}};
  return content;
}

AssetContent MixedContentOf(const tools::TetMesh& mesh,
                            const std::vector<tools::Material>& materials,
                            const std::vector<uint16_t>& of_tets, double damping, double dt) {
  AssetContent content;
  for (const tools::Material& material : materials) content.materials.push_back({"part", material});
  content.tet_materials = of_tets;
  content.damping = damping;
  return Completed(std::move(content), mesh, dt);
}

void AddClusters(std::optional<uint32_t> count, tools::AssetContent* content) {
  content->rest.clusters =
      tools::MakeClusters(content->rest.nodes, tools::NodesOfTets(content->rest.tets), count);
}

std::vector<std::byte> AssetBytesOf(const tools::TetMesh& mesh, const tools::Material& material,
                                    double dt) {
  auto bytes = tools::WriteAsset(ContentOf(mesh, material, dt));
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

std::span<const uint32_t> NodesOfRegion(const Asset& asset, std::string_view name) {
  uint32_t region = 0;
  if (!FindRegion(asset, name, &region).ok()) FAIL("no region '" << name << "'");
  return asset.region(region).nodes;
}

ExactBuffer::ExactBuffer(std::span<const std::byte> bytes)
    : start_(
          static_cast<std::byte*>(::operator new(bytes.size(), std::align_val_t(kAssetAlignment)))),
      size_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(start_.get(), bytes.data(), bytes.size());
}

void ExactBuffer::Release::operator()(std::byte* start) const {
  ::operator delete(start, std::align_val_t(kAssetAlignment));
}

}  // namespace plush::test
