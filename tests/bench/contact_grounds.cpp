// SPDX-License-Identifier: MIT
// Source: contact_grounds.h.
#include "bench/contact_grounds.h"

#include "bake/static_bake.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace plush::bench {

// An opened file of a static mesh.
struct GroundData::StaticMesh {
  explicit StaticMesh(tools::ImportedModel model) {
    const auto num_triangles = static_cast<uint32_t>(model.surface.triangles.size());
    model.surface.parts.push_back({"inside", "", "", 0, num_triangles});
    tools::FindingList findings;
    auto baked = tools::BakeStatic(model, {}, &findings);
    if (!baked.ok()) std::abort();
    bytes = std::make_unique<AlignedBytes>(std::move(baked.value().bytes));
    if (!asset.Open(bytes->bytes()).ok()) std::abort();
  }
  std::unique_ptr<AlignedBytes> bytes;
  Asset asset;
};

GroundData::GroundData() = default;
GroundData::~GroundData() = default;

namespace {

ColliderDesc BoxOf(float height) {
  return ColliderDesc{.type = ShapeType::kBox,
                      .box = {.half_extents = {100.0f, height, 100.0f}},
                      .pose = {.position = {.y = -height}}};
}

// One of nine round rails or of as many thin slats, a quarter of a body apart.
ColliderDesc BarBelow(const Box& box, Ground ground, int k) {
  const float size = box.high.y - box.low.y;
  ColliderDesc desc;
  desc.friction = 0.5f;
  desc.pose.position = {0.25f * size * static_cast<float>(k - 4), -0.1f * size, 0.0f};
  desc.type = ground == Ground::kRails ? ShapeType::kCapsule : ShapeType::kBox;
  desc.box.half_extents = {0.01f * size, 0.1f * size, 2.0f * size};
  desc.capsule = {.half_height = 2.0f * size, .radius = 0.1f * size};
  if (ground == Ground::kRails) desc.pose.rotation = {0.70710678f, 0.0f, 0.0f, 0.70710678f};
  return desc;
}

constexpr uint32_t kHillPoints = 225;  // along both sides: 100,000 triangles

// Height of hills [sizes] at a point of a grid with this spacing [sizes].
float HillAt(float spacing, uint32_t row, uint32_t column) {
  const float x = spacing * static_cast<float>(column), z = spacing * static_cast<float>(row);
  return 0.05f * std::sin(1.3f * x) * std::cos(1.1f * z);
}

// Where the first point of the grid is.
Vec3 HillCorner(float size) { return {-2.0f * size, -0.05f * size, -2.0f * size}; }

// A height field of 100,000 triangles, each `fineness` of a body high.
ColliderDesc HillsFor(const Box& box, float fineness, std::vector<float>* heights) {
  const float size = box.high.y - box.low.y;
  ColliderDesc desc = {.type = ShapeType::kHeightField};
  heights->clear();
  for (uint32_t row = 0; row < kHillPoints; ++row) {
    for (uint32_t column = 0; column < kHillPoints; ++column) {
      heights->push_back(size * HillAt(fineness, row, column));
    }
  }
  desc.height_field = {*heights, kHillPoints, kHillPoints, fineness * size};
  desc.pose.position = HillCorner(size);
  return desc;
}

// The same hills as a mesh.
tools::ImportedModel HillMesh(const Box& box, float fineness) {
  const float size = box.high.y - box.low.y;
  const Vec3 corner = HillCorner(size);
  tools::ImportedModel model;
  tools::SurfaceMesh& hills = model.surface;
  for (uint32_t row = 0; row < kHillPoints; ++row) {
    for (uint32_t column = 0; column < kHillPoints; ++column) {
      hills.positions.push_back({double(corner.x + size * fineness * static_cast<float>(column)),
                                 double(corner.y + size * HillAt(fineness, row, column)),
                                 double(corner.z + size * fineness * static_cast<float>(row))});
      if (row == 0 || column == 0) continue;
      const uint32_t d = row * kHillPoints + column, c = d - 1, b = d - kHillPoints, a = b - 1;
      hills.triangles.push_back({a, c, b});
      hills.triangles.push_back({b, c, d});
    }
  }
  hills.normals.assign(hills.positions.size(), {0.0f, 1.0f, 0.0f});
  return model;
}

// A floor and walls that lean, of two triangles each, whose boxes hold all that is in the room.
tools::ImportedModel RoomAround(const Box& box) {
  const double size = double(box.high.y - box.low.y), turn = 0.6;
  tools::ImportedModel model;
  tools::SurfaceMesh& room = model.surface;
  for (const double up : {0.0, 10.0 * size}) {
    const double half = 2.0 * size + 0.3 * up;
    for (int corner = 0; corner < 4; ++corner) {
      const double x = corner % 3 == 0 ? -half : half, z = corner < 2 ? -half : half;
      room.positions.push_back(
          {std::cos(turn) * x + std::sin(turn) * z, up, std::cos(turn) * z - std::sin(turn) * x});
    }
  }
  const auto add_quad = [&](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    room.triangles.push_back({a, b, c});
    room.triangles.push_back({a, c, d});
  };
  add_quad(0, 3, 2, 1);
  for (uint32_t k = 0; k < 4; ++k) add_quad(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4);
  room.normals.assign(room.positions.size(), {0.0f, 1.0f, 0.0f});
  return model;
}

// A closed mesh of four triangles.
tools::ImportedModel Tetrahedron() {
  tools::ImportedModel model;
  model.surface.positions = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
  model.surface.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  model.surface.normals.assign(4, {0.0f, 1.0f, 0.0f});
  return model;
}

// A tube that rises by 17 degrees, with 500 long triangles inwards.
tools::ImportedModel TubeAround(const Box& box) {
  constexpr uint32_t kFacets = 250;
  const double size = double(box.high.y - box.low.y), radius = 3.0 * size, length = 50.0 * size;
  const tools::Vec3d along = {0.675, 0.297, 0.675}, a = {0.707, 0.0, -0.707};
  const tools::Vec3d b = {-0.21, 0.954, -0.21};
  tools::ImportedModel model;
  tools::SurfaceMesh& tube = model.surface;
  for (const double at : {-length, length}) {
    for (uint32_t k = 0; k < kFacets; ++k) {
      const double turn = 2.0 * 3.14159265 * k / kFacets;
      tube.positions.push_back(along * at + a * (radius * std::cos(turn)) +
                               b * (radius * std::sin(turn)));
    }
  }
  for (uint32_t k = 0; k < kFacets; ++k) {
    const uint32_t next = (k + 1) % kFacets;
    tube.triangles.push_back({k, k + kFacets, next});
    tube.triangles.push_back({next, k + kFacets, next + kFacets});
  }
  tube.normals.assign(tube.positions.size(), {0.0f, 1.0f, 0.0f});
  return model;
}

// Number `k` of solids and closed meshes one to three heights above the bodies. Height fields would
// hold what is below them.
ColliderDesc SolidAbove(const Box& box, int k, const GroundData& data) {
  constexpr ShapeType kTypes[] = {ShapeType::kSphere, ShapeType::kCapsule, ShapeType::kBox,
                                  ShapeType::kHull, ShapeType::kMesh};
  const float size = box.high.y - box.low.y;
  const float width = 1.5f * std::fmax(box.high.x - box.low.x, box.high.z - box.low.z);
  ColliderDesc desc = {.type = kTypes[k % 5]};
  desc.sphere.radius = desc.capsule.radius = 0.1f * size;
  desc.capsule.half_height = 0.1f * size;
  desc.box.half_extents = {0.1f * size, 0.1f * size, 0.1f * size};
  desc.hull = HullShape(data.small_hull);
  desc.mesh = {&data.small_mesh->asset, 0.1f * size};
  desc.pose.position = {width * 0.25f * static_cast<float>(k % 40),
                        size * (2.4f + 0.08f * static_cast<float>(k % 25)),
                        width * 0.2f * static_cast<float>(k / 40)};
  return desc;
}

}  // namespace

Box BoundsOf(const Asset& asset) {
  const auto nodes = asset.simulation().nodes;
  Box box = {nodes[0], nodes[0]};
  for (const Vec3& x : nodes) {
    box.low = {std::fmin(box.low.x, x.x), std::fmin(box.low.y, x.y), std::fmin(box.low.z, x.z)};
    box.high = {std::fmax(box.high.x, x.x), std::fmax(box.high.y, x.y), std::fmax(box.high.z, x.z)};
  }
  return box;
}

void AddGround(const Asset& asset, Ground ground, GroundData* data, World* world) {
  constexpr int kSolids = 1000;
  ColliderId id;
  if (ground == Ground::kRails || ground == Ground::kSlats) {
    for (int k = 0; k < 9; ++k) {
      if (!world->AddCollider(BarBelow(BoundsOf(asset), ground, k), &id).ok()) std::abort();
    }
    return;
  }
  ColliderDesc floor;
  if (ground == Ground::kBox) floor = BoxOf(1.0f);
  if (ground == Ground::kHills) floor = HillsFor(BoundsOf(asset), 0.2f, &data->heights);
  if (ground == Ground::kFineHills) floor = HillsFor(BoundsOf(asset), 0.02f, &data->heights);
  if (ground == Ground::kMeshHills) {
    data->mesh = std::make_unique<GroundData::StaticMesh>(HillMesh(BoundsOf(asset), 0.2f));
    floor.type = ShapeType::kMesh;
    floor.mesh = {&data->mesh->asset, 1.0f};
  }
  if (ground == Ground::kRoom || ground == Ground::kTube) {
    const Box box = BoundsOf(asset);
    data->mesh = std::make_unique<GroundData::StaticMesh>(
        ground == Ground::kRoom ? RoomAround(box) : TubeAround(box));
    floor.type = ShapeType::kMesh;
    floor.mesh = {&data->mesh->asset, 1.0f};
  }
  floor.friction = 0.5f;
  if (!world->AddCollider(floor, &id).ok()) std::abort();
  if (ground != Ground::kPlaneBelowSolids) return;
  const Box box = BoundsOf(asset);
  const float half = 0.1f * (box.high.y - box.low.y);
  data->small_hull = {
      {half, half, half}, {-half, -half, half}, {-half, half, -half}, {half, -half, -half}};
  data->small_mesh = std::make_unique<GroundData::StaticMesh>(Tetrahedron());
  for (int k = 0; k < kSolids; ++k) {
    if (!world->AddCollider(SolidAbove(box, k, *data), &id).ok()) std::abort();
  }
}

}  // namespace plush::bench
