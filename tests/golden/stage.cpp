// SPDX-License-Identifier: MIT
#include "golden/stage.h"

#include <cstdio>
#include <cstdlib>

namespace plush::golden {
namespace {

[[noreturn]] void Fail(const char* scene, const Status& status) {
  std::fprintf(stderr, "golden: %s: %s: %s %s\n", scene, StatusCodeName(status.code),
               status.section, status.reason);
  std::exit(2);
}

}  // namespace

const Asset& Assets::operator[](const std::string& name) {
  const auto [at, is_new] = assets_.try_emplace(name);
  if (is_new) {
    const std::string path = folder_ + "/" + name + ".plush";
    if (const Status status = at->second.Open(path.c_str()); !status.ok()) {
      Fail(path.c_str(), status);
    }
  }
  return at->second;
}

Stage::Stage(const Scene& played, const WorldDesc& description, Assets* all)
    : scene(played), assets(*all), world(std::make_unique<World>(description)), dt(played.dt) {
  scene.start(*this);
}

Stage::Stage(const WorldDesc& description, const Stage& from)
    : scene(from.scene), assets(from.assets), world(std::make_unique<World>(description)) {}

void Stage::Load(const Stage& from, std::span<const std::byte> state) {
  const SolverMethod* const implicit = &kImplicitMethod;
  Do(world->LoadState(state, from.assets_of_bodies, {&implicit, 1}));
  bodies = from.bodies;
  assets_of_bodies = from.assets_of_bodies;
  colliders = from.colliders;
  attachments = from.attachments;
  constraints = from.constraints;
  dt = from.dt;
  is_new = true;
}

BodyId Stage::Add(const char* asset, const BodyDesc& desc) {
  BodyId id;
  Do(world->AddBody(assets[asset], desc, &id));
  bodies.push_back(id);
  assets_of_bodies.push_back(&assets[asset]);
  is_new = true;
  return id;
}

ColliderId Stage::Add(const ColliderDesc& desc) {
  ColliderId id;
  Do(world->AddCollider(desc, &id));
  colliders.push_back(id);
  has_triangles |= desc.type == ShapeType::kMesh || desc.type == ShapeType::kHeightField;
  return id;
}

AttachmentId Stage::Attach(const AttachmentDesc& desc) {
  AttachmentId id;
  Do(world->Attach(desc, &id));
  attachments.push_back(id);
  return id;
}

ConstraintId Stage::Hold(const ConstraintDesc& desc) {
  ConstraintId id;
  Do(world->AddConstraint(desc, &id));
  constraints.push_back(id);
  return id;
}

void Stage::Push(const ForceField& field) {
  Do(world->AddForce(field));
  fields.push_back(field);
}

void Stage::Do(const Status& status) const {
  if (!status.ok()) Fail(scene.name, status);
}

SurfacePoint Stage::On(BodyId body, const Vec3& point) const {
  SurfacePoint at;
  Do(world->ClosestPoint(body, point, 1.0e9f, &at));
  return at;
}

AttachmentDesc Stage::SpringAt(BodyId body, const Vec3& point) const {
  const SurfacePoint at = On(body, point);
  AttachmentDesc desc = {.body = body, .weights = at.weights, .target = at.position};
  for (int i = 0; i < 4; ++i) desc.nodes[i] = at.nodes[i];
  return desc;
}

ConstraintDesc Stage::HoldAt(BodyId body, const Vec3& point) const {
  const SurfacePoint at = On(body, point);
  ConstraintDesc desc = {.body = body, .weights = at.weights, .target = at.position};
  for (int i = 0; i < 4; ++i) desc.nodes[i] = at.nodes[i];
  return desc;
}

AttachmentDesc Stage::JointAt(BodyId body, BodyId other, const Vec3& point) const {
  AttachmentDesc desc = SpringAt(body, point);
  const SurfacePoint at = On(other, point);
  desc.other_body = other;
  desc.other_weights = at.weights;
  for (int i = 0; i < 4; ++i) desc.other_nodes[i] = at.nodes[i];
  return desc;
}

uint32_t Stage::RegionIndex(const char* asset, const char* name) const {
  uint32_t region = 0;
  Do(FindRegion(assets[asset], name, &region));
  return region;
}

std::vector<uint32_t> Stage::Region(const char* asset, const char* name) const {
  const auto nodes = assets[asset].region(RegionIndex(asset, name)).nodes;
  return {nodes.begin(), nodes.end()};
}

std::vector<uint32_t> Stage::NodesIn(const char* asset, const Vec3& low, const Vec3& high) const {
  std::vector<uint32_t> found;
  const auto nodes = assets[asset].cage().nodes;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Vec3& x = nodes[i];
    if (x.x >= low.x && x.y >= low.y && x.z >= low.z && x.x <= high.x && x.y <= high.y &&
        x.z <= high.z) {
      found.push_back(i);
    }
  }
  if (found.empty()) Do({StatusCode::kInvalidArgument, asset, "no nodes in the box"});
  return found;
}

}  // namespace plush::golden
