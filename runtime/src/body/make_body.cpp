// SPDX-License-Identifier: MIT
// Makes a body: checks its description, allocates its memory and places it.
// Also resolves material overrides, and makes room for planes in an existing body.
#include "body/make_body.h"

#include "base/invalid.h"
#include "base/vector_math.h"
#include "body/pin_motion.h"
#include "body/solver_method.h"

#include <cmath>
#include <utility>

namespace plush {
namespace {

Status CheckDescription(const Asset& asset, const BodyDesc& desc) {
  const Status is_body = CheckBodyAsset(asset);
  if (!is_body.ok()) return is_body;
  const Status checked = CheckPose(desc.pose);
  if (!checked.ok()) return checked;
  if (!IsFinite(desc.velocity)) return Invalid("velocity", "must be finite");
  if (!IsFinite(desc.angular_velocity)) return Invalid("angular_velocity", "must be finite");
  if (!std::isfinite(desc.gravity_factor)) return Invalid("gravity_factor", "must be finite");
  if (!(desc.max_speed > 0.0f)) return Invalid("max_speed", "must be above 0");
  if (desc.solver != nullptr) {
    const Status solver = CheckSolver(*desc.solver);
    if (!solver.ok()) return solver;
  }
  const Status splitting = CheckSplitting(desc.splitting);
  return splitting.ok() ? CheckPins(asset, desc.pinned_nodes) : splitting;
}

Status CheckOverride(const MaterialOverride& m) {
  if (!std::isfinite(m.young) || m.young == 0.0f) {
    return Invalid("material.young", "must be finite and above 0");
  }
  if (!std::isfinite(m.poisson) || m.poisson >= 0.5f) {
    return Invalid("material.poisson", "must lie in [0, 0.5)");
  }
  if (!std::isfinite(m.damping) || m.damping > 10.0f) {
    return Invalid("material.damping", "must lie in [0, 10]");
  }
  if (!std::isfinite(m.density) || m.density == 0.0f) {
    return Invalid("material.density", "must be finite and above 0");
  }
  if (!std::isfinite(m.friction)) return Invalid("material.friction", "must be finite");
  if (!(m.restitution <= 1.0f) || !std::isfinite(m.restitution)) {
    return Invalid("material.restitution", "must be at most 1");
  }
  return {};
}

// Stiffness and masses must be in float's range.
Status CheckMaterial(const Asset& asset, const BodyMaterial& material) {
  const bool keeps_lame =
      material.young < 0.0f && material.poisson < 0.0f && material.scale == 1.0f;
  for (uint32_t i = 0; i < asset.num_materials() && !keeps_lame; ++i) {
    const LamePair lame = OverriddenLame(asset.material(i), material);
    if (!std::isfinite(lame.mu) || !std::isfinite(lame.lambda)) {
      return Invalid("material", "gives Lame parameters beyond the range of float", i);
    }
  }
  if (!std::isnormal(material.mass_scale)) {
    return Invalid("material.density", "is out of proportion to the baked one");
  }
  return {};
}

// What the asset says of its materials' surfaces. A node has that of its first tet.
bool AllocateCoefficients(const Allocator& allocator, const Asset& asset, Body* body) {
  const SimulationView& simulation = body->simulation;
  const uint32_t count = asset.num_materials();
  bool gives_any = false;
  for (uint32_t i = 0; i < count; ++i) {
    const MaterialView material = asset.material(i);
    gives_any = gives_any || material.friction >= 0.0f || material.restitution >= 0.0f;
  }
  if (!gives_any) return true;
  if (!body->baked.Allocate(allocator, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const MaterialView material = asset.material(i);
    body->baked[i] = {material.friction, material.restitution};
  }
  if (!body->surface.tets.empty()) return true;
  if (!body->node_materials.Allocate(allocator, simulation.nodes.size(), uint16_t{0})) return false;
  for (size_t t = simulation.tets.size(); t-- > 0;) {
    const Tet& tet = simulation.tets[t];
    for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) {
      body->node_materials[node] = simulation.tet_materials[t];
    }
  }
  return true;
}

bool AllocateState(const Allocator& allocator, const BodyParts& parts, Body* body) {
  const size_t nodes = body->simulation.nodes.size();
  const size_t places = kBlockTets * body->simulation.blocks.size();
  return body->x.Allocate(allocator, nodes) && body->v.Allocate(allocator, nodes) &&
         body->rotations.Allocate(allocator, 4 * places) &&
         body->kappa.Allocate(allocator, places, 0.0f) &&
         body->stretches.Allocate(allocator, body->elements.damping > 0.0f ? 9 * places : 0) &&
         body->y.Allocate(allocator, nodes + 1) && body->rhs.Allocate(allocator, nodes + 1) &&
         body->workspace.Allocate(allocator, PanelWorkspaceSize(body->system->baked.supernodes,
                                                                static_cast<uint32_t>(nodes))) &&
         body->coarse.Allocate(allocator, body->system->coarse.pattern) &&
         body->collision.Reserve(allocator, body->surface, nodes) &&
         body->previous.Allocate(allocator, parts.keeps_previous ? nodes : 0) &&
         body->resting.x.Allocate(allocator, parts.fixed ? 0 : nodes) &&
         (!parts.reports_reactions || ReserveReactions(allocator, body));
}

// What the description sets and nothing else decides.
void CopySettings(const BodyDesc& desc, Body* body) {
  body->gravity_factor = desc.gravity_factor;
  body->max_speed = desc.max_speed;
  body->filter = desc.filter;
  body->splitting = desc.solver != nullptr ? desc.solver->splitting : desc.splitting;
  if (desc.solver != nullptr) body->solver = *desc.solver;
  body->coefficients = CoefficientsOf(desc.material);
  body->user_data = desc.user_data;
  body->report_contacts = desc.report_contacts;
  body->enabled = desc.enabled;
}

}  // namespace

Status CheckBodyAsset(const Asset& asset) {
  if (!asset.is_open()) return Invalid("asset", "is not open");
  if (!asset.is_static()) return {};
  return {StatusCode::kUnsupported, "asset",
          "is a static mesh, which cannot be a body; bake its source without --static", 0};
}

Status CheckPose(const Pose& pose) {
  if (!IsPosition(pose.position)) {
    return Invalid("pose.position", "must lie within kMostCoordinate");
  }
  const Quat& q = pose.rotation;
  const float length2 = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!(length2 > 1.0e-12f) || !std::isfinite(length2)) {
    return Invalid("pose.rotation", "must be finite and not zero");
  }
  return {};
}

Status CheckSplitting(const SplittingSettings& settings) {
  const auto is_in = [](int value, int least, int most) { return value >= least && value <= most; };
  if (!is_in(settings.outer_iterations, 0, 64)) {
    return Invalid("splitting.outer_iterations", "must lie in [0, 64]");
  }
  if (!is_in(settings.volume_sweeps, 0, 16)) {
    return Invalid("splitting.volume_sweeps", "must lie in [0, 16]");
  }
  if (!is_in(settings.polar_iterations, 1, 64)) {
    return Invalid("splitting.polar_iterations", "must lie in [1, 64]");
  }
  return {};
}

Status CheckSolver(const BodySolver& solver) {
  const Status splitting = CheckSplitting(solver.splitting);
  if (!splitting.ok() || solver.method == nullptr) return splitting;
  return solver.method->check(solver);
}

Status CheckPins(const Asset& asset, std::span<const uint32_t> pinned_nodes) {
  for (size_t i = 0; i < pinned_nodes.size(); ++i) {
    if (pinned_nodes[i] >= asset.simulation().nodes.size()) {
      return Invalid("pinned_nodes", "no such node", i);
    }
  }
  return {};
}

Status ResolveMaterial(const Asset& asset, const MaterialOverride& given, float scale,
                       BodyMaterial* out_material) {
  const Status checked = CheckOverride(given);
  if (!checked.ok()) return checked;
  if (!(scale >= kLeastScale && scale <= kMostScale)) {
    return Invalid("scale", "must lie in [1e-2, 1e2]");
  }
  const SimulationView& simulation = asset.simulation();
  out_material->young = given.young < 0.0f ? -1.0f : given.young;
  out_material->poisson = given.poisson < 0.0f ? -1.0f : given.poisson;
  out_material->damping = given.damping < 0.0f ? simulation.damping : given.damping;
  out_material->mass_scale = given.density < 0.0f ? 1.0f : given.density / simulation.density;
  out_material->scale = scale;
  return CheckMaterial(asset, *out_material);
}

Coefficients CoefficientsOf(const MaterialOverride& material) {
  return {material.friction < 0.0f ? -1.0f : material.friction,
          material.restitution < 0.0f ? -1.0f : material.restitution};
}

// Makes room for the body's touches, and keeps existing ones.
static bool ReserveTouches(const Allocator& allocator, size_t most, Body* body) {
  if (body->touches.size() >= most) return true;
  Array<Touch> touches, found;
  Array<TouchSums> sums;
  if (!touches.Allocate(allocator, most) || !found.Allocate(allocator, most) ||
      !sums.Allocate(allocator, body->fixed ? 0 : most)) {
    return false;
  }
  std::ranges::copy(body->touches.span().first(body->num_touches), touches.begin());
  body->touches = std::move(touches);
  body->found = std::move(found);
  body->sums = std::move(sums);
  return true;
}

bool ReserveSolve(const Allocator& allocator, Body* body) {
  if (body->d.size() > 0) return true;
  Array<NodeVec> d;
  CoarseResponses responses;
  if (!d.Allocate(allocator, body->x.size() + 1) ||
      !responses.Allocate(allocator, body->system->coarse.num_clusters())) {
    return false;
  }
  body->d = std::move(d);
  body->responses = std::move(responses);
  return true;
}

bool ReserveColliders(const Allocator& allocator, size_t num_colliders, Body* body) {
  const size_t most_near = std::min(num_colliders, kMostNearColliders);
  if (!ReserveTouches(allocator, most_near, body)) return false;
  if (body->fixed || num_colliders == 0) return true;
  const size_t num_nodes = body->x.size();
  if (!ReserveSolve(allocator, body)) return false;
  if (!body->contacts.Reserve(allocator, body->surface.tets.size(),
                              static_cast<uint32_t>(num_nodes), body->simulation.num_clusters > 0,
                              static_cast<uint32_t>(most_near))) {
    return false;
  }
  // Last: once there is room for colliders, steps solve with contacts.
  if (body->colliders.size() < most_near) {
    Array<LocalCollider> more;
    if (!more.Allocate(allocator, most_near)) return false;
    std::ranges::copy(body->NearColliders(), more.begin());
    body->colliders = std::move(more);
  }
  return true;
}

bool ReserveBodyContacts(const Allocator& allocator, Body* body) {
  constexpr uint32_t kNoColliders = 0;
  Array<NodeVec>* searched = &body->searched.y;
  if (searched->size() == 0 && !searched->Allocate(allocator, body->x.size())) return false;
  return body->fixed || (ReserveSolve(allocator, body) &&
                         body->contacts.Reserve(allocator, body->surface.tets.size(),
                                                static_cast<uint32_t>(body->x.size()),
                                                body->simulation.num_clusters > 0, kNoColliders));
}

bool ReserveSolver(const Allocator& allocator, const BodySolver& solver, Body* body) {
  return solver.method == nullptr || solver.method->reserve(allocator, solver, body);
}

bool ReserveMesh(const Allocator& allocator, Body* body) {
  const size_t num_tets = body->surface.tets.size();
  return body->fixed || num_tets == 0 ||
         body->contacts.sunk.ReserveMesh(allocator, num_tets, body->x.size());
}

void PlaceBody(const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity, Body* body) {
  const Quat& q = pose.rotation;
  const float inverse = 1.0f / std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  const Quat unit = {q.x * inverse, q.y * inverse, q.z * inverse, q.w * inverse};
  const Mat3 R = RotationMatrix(unit);
  const Vec3 own_velocity = {velocity.x / body->scale, velocity.y / body->scale,
                             velocity.z / body->scale};
  body->origin[0] = pose.position.x;
  body->origin[1] = pose.position.y;
  body->origin[2] = pose.position.z;
  Vec3 low = body->simulation.nodes[0], high = low;
  for (size_t i = 0; i < body->x.size(); ++i) {
    const Vec3& X = body->simulation.nodes[i];
    low = {std::fmin(low.x, X.x), std::fmin(low.y, X.y), std::fmin(low.z, X.z)};
    high = {std::fmax(high.x, X.x), std::fmax(high.y, X.y), std::fmax(high.z, X.z)};
    const bool is_pinned = body->system->pinned[i] != 0;
    body->x[i] = NodeVec(R * X, is_pinned ? 0.0f : 1.0f / body->Mass(i));
    body->v[i] = is_pinned ? Vec3{} : own_velocity + Cross(angular_velocity, body->x[i]);
  }
  body->size = Length(high - low);
  const size_t places = kBlockTets * body->simulation.blocks.size();
  for (uint32_t slot = 0; slot < places; ++slot) body->Rotations().Set(slot, unit);
  FollowOrigin(body);
}

Body* AllocateBody(const Allocator& allocator, const Asset& asset, System* system,
                   const BodyParts& parts) {
  Body* body = NewObject<Body>(allocator);
  if (body == nullptr) return nullptr;
  body->visual = asset.visual();
  body->simulation = asset.simulation();
  body->surface = asset.collision();
  body->tuning = asset.tuning();
  body->system = system;
  body->elements = system->view.elements;
  body->mass_scale = system->key.material.mass_scale;
  body->scale = system->key.material.scale;
  body->fixed = parts.fixed;
  body->contacts.max_contacts = parts.max_contacts;
  if (AllocateState(allocator, parts, body) && AllocateCoefficients(allocator, asset, body)) {
    return body;
  }
  DeleteObject(allocator, body);
  return nullptr;
}

Status MakeBody(const Allocator& allocator, const Asset& asset, const BodyDesc& desc,
                size_t num_planes, uint32_t max_contacts, bool keep_previous, SystemCache* cache,
                Body** out_body) {
  const Status checked = CheckDescription(asset, desc);
  if (!checked.ok()) return checked;
  const SimulationView& simulation = asset.simulation();
  BodyMaterial material;
  const Status resolved = ResolveMaterial(asset, desc.material, desc.scale, &material);
  if (!resolved.ok()) return resolved;
  if (desc.solver != nullptr && !desc.fixed) material.drag = DragOf(*desc.solver);
  Array<uint8_t> pinned;
  if (!pinned.Allocate(allocator, simulation.nodes.size(), desc.fixed ? uint8_t{1} : uint8_t{0})) {
    return {StatusCode::kOutOfMemory, "body"};
  }
  for (const uint32_t node : desc.pinned_nodes) pinned[node] = 1;
  if (desc.solver != nullptr) {
    const Status held = CheckSolverPins(allocator, *desc.solver, simulation, pinned.span());
    if (!held.ok()) return held;
  }
  System* system = cache->Acquire(asset, material, pinned.span());
  if (system == nullptr) return {StatusCode::kOutOfMemory, "body"};
  Body* body = AllocateBody(allocator, asset, system,
                            {.fixed = desc.fixed,
                             .keeps_previous = keep_previous,
                             .reports_reactions = desc.report_reactions,
                             .max_contacts = max_contacts});
  if (body == nullptr || !ReserveColliders(allocator, num_planes, body) ||
      (desc.solver != nullptr && !ReserveSolver(allocator, *desc.solver, body))) {
    cache->Release(system);
    DeleteObject(allocator, body);
    return {StatusCode::kOutOfMemory, "body"};
  }
  CopySettings(desc, body);
  PlaceBody(desc.pose, desc.velocity, desc.angular_velocity, body);
  *out_body = body;
  return {};
}

void DestroyBody(const Allocator& allocator, SystemCache* cache, Body* body) {
  if (body == nullptr) return;
  if (body->system != nullptr) cache->Release(body->system);
  DeleteObject(allocator, body);
}

}  // namespace plush
