// SPDX-License-Identifier: MIT
// The triangles of colliders: of height fields and meshes. The world owns those of soft bodies.
#include "plush/asset.h"

#include "base/invalid.h"
#include "touching/triangle_code.h"
#include "world/world_impl.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace plush {
namespace {

Status Unsupported(const char* reason) {
  return {StatusCode::kUnsupported, "mesh.asset", reason, 0};
}

Status CheckTriangles(const StaticMeshView& mesh, float scale) {
  if (mesh.triangles.empty()) return Invalid("mesh.asset", "has no triangle with an area");
  if (mesh.triangles.size() > kMostMeshTriangles) {
    return Unsupported("has more than 2^30 triangles");
  }
  const Vec3 &low = mesh.grid.low, &high = mesh.grid.high;
  const float reach = std::max({-low.x, -low.y, -low.z, high.x, high.y, high.z});
  if (!(scale > 0.0f) || !(reach * scale <= kMostColliderSize)) {
    return Invalid("mesh.scale", "must be above 0, and the mesh within 1e6 of its origin");
  }
  return {};
}

bool GivesCoefficients(const Asset& asset) {
  for (uint32_t i = 0; i < asset.num_materials(); ++i) {
    const MaterialView material = asset.material(i);
    if (material.friction >= 0.0f || material.restitution >= 0.0f) return true;
  }
  return false;
}

}  // namespace

TriangleSource TrianglesOf(const ColliderDesc& desc, const StaticMeshView* mesh,
                           const FacePatches* patches) {
  TriangleSource source;
  source.hash = 0xcbf29ce484222325ull;  // FNV-1a 64, by words
  const auto add = [&](uint64_t word) { source.hash = (source.hash ^ word) * 0x100000001b3ull; };
  if (desc.type == ShapeType::kHeightField) {
    source.field = desc.height_field;
    source.code = desc.height_field.code;
    add(source.field.columns);
    add(std::bit_cast<uint32_t>(source.field.spacing));
    for (const float height : source.field.heights) add(std::bit_cast<uint32_t>(height));
  }
  if (desc.type == ShapeType::kMesh) {
    source.asset = desc.mesh.asset;
    source.code = desc.mesh.code;
    source.mesh = mesh;
    source.patches = patches;
    source.scale = desc.mesh.scale;
    source.gives_coefficients = GivesCoefficients(*source.asset);
    add(desc.mesh.asset->content_hash());
    add(desc.mesh.asset->bytes().size());
    add(std::bit_cast<uint32_t>(source.scale));
  }
  return source;
}

// The patches of a mesh, in a list that gets those that it lacks. Null if the allocator fails.
static const FacePatches* PatchesOf(const Allocator& allocator, const TriangleCode& code,
                                    const StaticMeshView& mesh, FacePatches** list) {
  FacePatches* of_mesh = *list;
  while (of_mesh != nullptr && of_mesh->mesh != &mesh) of_mesh = of_mesh->next;
  if (of_mesh != nullptr) return of_mesh;
  of_mesh = code.make_patches(allocator, mesh);
  if (of_mesh != nullptr) of_mesh->next = std::exchange(*list, of_mesh);
  return of_mesh;
}

Status World::Impl::FindTriangles(const MeshShape& mesh, const StaticMeshView** out_triangles,
                                  const FacePatches** out_patches) {
  if (mesh.asset == nullptr || !mesh.asset->is_open()) {
    return Invalid("mesh.asset", "must be an open asset");
  }
  if (mesh.code == nullptr) return Invalid("mesh.code", "is null: assign the shape as a whole");
  const StaticMeshView* triangles = nullptr;
  if (mesh.asset->is_static()) {
    triangles = &mesh.asset->static_mesh();
  } else {
    if (mesh.asset->collision().tets.empty()) return Unsupported("has no collision surface");
    RestMesh* of_asset = rest_meshes;
    while (of_asset != nullptr && of_asset->asset != mesh.asset) of_asset = of_asset->next;
    if (of_asset == nullptr) {
      of_asset = NewObject<RestMesh>(allocator);
      if (of_asset == nullptr) return {StatusCode::kOutOfMemory, "mesh"};
      of_asset->next = std::exchange(rest_meshes, of_asset);
      if (!mesh.code->make_rest_mesh(allocator, *mesh.asset, of_asset)) {
        FreeUnusedMeshes();
        return {StatusCode::kOutOfMemory, "mesh"};
      }
    }
    triangles = &of_asset->view;
  }
  const Status checked = CheckTriangles(*triangles, mesh.scale);
  const bool is_fine = checked.ok() && triangles->triangles.size() > FacePatches::kLeast;
  *out_triangles = triangles;
  *out_patches = is_fine ? PatchesOf(allocator, *mesh.code, *triangles, &face_patches) : nullptr;
  const bool has_all = checked.ok() && (!is_fine || *out_patches != nullptr);
  if (!has_all) FreeUnusedMeshes();
  return checked.ok() && !has_all ? Status{StatusCode::kOutOfMemory, "mesh"} : checked;
}

// Frees the elements of a list that no collider uses.
template <class Element, class Uses>
static void FreeUnused(const Allocator& allocator, std::span<const Collider> colliders,
                       const Uses& uses, Element** list) {
  for (Element** link = list; *link != nullptr;) {
    Element* const element = *link;
    if (std::ranges::any_of(colliders, [&](const Collider& c) { return uses(c, *element); })) {
      link = &element->next;
    } else {
      *link = element->next;
      DeleteObject(allocator, element);
    }
  }
}

void World::Impl::FreeUnusedMeshes() {
  const std::span<const Collider> all(colliders.data(), colliders.size());
  FreeUnused(
      allocator, all,
      [](const Collider& c, const FacePatches& patches) { return c.mesh.patches == &patches; },
      &face_patches);
  FreeUnused(
      allocator, all,
      [](const Collider& c, const RestMesh& mesh) { return c.mesh.mesh == &mesh.view; },
      &rest_meshes);
}

}  // namespace plush
