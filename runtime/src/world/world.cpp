// SPDX-License-Identifier: MIT
// The public face of the runtime: bodies, planes and steps.
#include "plush/world.h"

#include "plush/format/factor_panels.h"

#include "base/array.h"
#include "base/vector_math.h"
#include "world/make_body.h"
#include "world/moments.h"
#include "world/skin.h"
#include "world/state_hash.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

SolverSettings Clamped(SolverSettings s) {
  s.outer_iterations = std::clamp(s.outer_iterations, 1, 64);
  s.contact_iterations = std::clamp(s.contact_iterations, 3, 64);
  s.volume_sweeps = std::clamp(s.volume_sweeps, 0, 16);
  s.polar_iterations = std::clamp(s.polar_iterations, 1, 64);
  s.held_cg_iterations = std::clamp(s.held_cg_iterations, 1, 256);
  s.max_substeps = std::clamp(s.max_substeps, 1, kMaxSubsteps);
  if (!(s.sleep_speed >= 0.0f) || !std::isfinite(s.sleep_speed)) s.sleep_speed = 0.0f;
  if (!(s.sleep_time > 0.0f)) s.sleep_time = SolverSettings{}.sleep_time;
  if (!(s.penalty_stiffness > 0.0f) || !std::isfinite(s.penalty_stiffness)) {
    s.penalty_stiffness = SolverSettings{}.penalty_stiffness;
  }
  return s;
}

bool IsTimeStep(float dt) { return dt > 0.0f && dt <= 1.0f; }

constexpr Status kWrongSize = {StatusCode::kInvalidArgument, "span", "wrong number of elements", 0};

}  // namespace

World::World(const WorldDesc& desc) {
  WorldDesc checked = desc;
  if (checked.allocator.allocate == nullptr || checked.allocator.release == nullptr) {
    checked.allocator = DefaultAllocator();
  }
  checked.solver = Clamped(checked.solver);
  if (!IsFinite(checked.gravity)) checked.gravity = {};
  impl_ = NewObject<Impl>(checked.allocator, checked, checked.allocator);
}

World::~World() {
  if (impl_ == nullptr) return;
  for (uint32_t i = 0; i < impl_->num_bodies; ++i) RemoveBody({i});  // and with them the crowds
  const Allocator allocator = impl_->allocator;
  DeleteObject(allocator, impl_);
}

BodyId World::AddBody(const Asset& asset, const BodyDesc& desc, Status* out_status) {
  Status ignored;
  Status& status = out_status != nullptr ? *out_status : ignored;
  status = {StatusCode::kOutOfMemory, "body"};
  if (impl_ == nullptr || !impl_->Reserve(&impl_->bodies, impl_->num_bodies) ||
      !impl_->Reserve(&impl_->body_stats, impl_->num_bodies) ||
      !impl_->Reserve(&impl_->units, impl_->num_bodies)) {
    return {};
  }
  Body* body = nullptr;
  status = MakeBody(impl_->allocator, asset, desc, impl_->num_planes, &impl_->cache, &body);
  if (!status.ok()) return {};
  if (!body->fixed) {
    status = impl_->cache.Prepare(*body->system, asset.factor().dt, impl_->desc.solver.max_substeps,
                                  &body->factors);
    if (status.ok()) status = impl_->MakePrepared(*body->system);
    if (!status.ok()) {
      DestroyBody(impl_->allocator, &impl_->cache, body);
      return {};
    }
  }
  body->index = impl_->num_bodies;
  impl_->bodies[impl_->num_bodies++] = body;
  impl_->PlaceInCrowd(body);
  return {body->index};
}

void World::RemoveBody(BodyId id) {
  if (impl_ == nullptr || impl_->Find(id) == nullptr) return;
  LeaveCrowd(impl_->bodies[id.value]);
  impl_->RemoveEmptyCrowds();
  DestroyBody(impl_->allocator, &impl_->cache, impl_->bodies[id.value]);
  impl_->bodies[id.value] = nullptr;
  impl_->body_stats[id.value] = {};
}

Status World::AddPlane(const PlaneDesc& desc) {
  const float length = Length(desc.normal);
  if (!(length > 1.0e-15f) || !std::isfinite(length)) {
    return {StatusCode::kInvalidArgument, "normal", "must be finite and not zero"};
  }
  if (!std::isfinite(desc.offset)) {
    return {StatusCode::kInvalidArgument, "offset", "must be finite"};
  }
  if (!(desc.friction >= 0.0f) || !std::isfinite(desc.friction)) {
    return {StatusCode::kInvalidArgument, "friction", "must be finite and not negative"};
  }
  if (impl_ == nullptr || !impl_->Reserve(&impl_->planes, impl_->num_planes)) {
    return {StatusCode::kOutOfMemory, "plane"};
  }
  for (uint32_t i = 0; i < impl_->num_bodies; ++i) {
    if (impl_->bodies[i] != nullptr &&
        !ReservePlanes(impl_->allocator, impl_->num_planes + 1, impl_->bodies[i])) {
      return {StatusCode::kOutOfMemory, "plane"};
    }
  }
  PlaneDesc plane = desc;
  plane.normal *= 1.0f / length;
  impl_->planes[impl_->num_planes++] = plane;
  for (uint32_t i = 0; i < impl_->num_bodies; ++i) Wake({i});
  return {};
}

Status World::Impl::PrepareFactors(float dt, bool* out_made) {
  *out_made = false;
  for (uint32_t i = 0; i < num_bodies; ++i) {
    Body* body = bodies[i];
    if (body == nullptr || body->fixed) continue;
    if (body->factors != nullptr && body->factors->dt == dt) continue;
    *out_made = *out_made || cache.Find(*body->system, dt) == nullptr;
    const Status status =
        cache.Prepare(*body->system, dt, desc.solver.max_substeps, &body->factors);
    if (!status.ok()) return status;
  }
  return {};
}

// The factors of a new system for all time steps that were prepared.
Status World::Impl::MakePrepared(const SystemKey& system) {
  for (uint32_t i = 0; i < num_time_steps; ++i) {
    const FactorSet* factors = nullptr;
    const Status status = cache.Prepare(system, time_steps[i], desc.solver.max_substeps, &factors);
    if (!status.ok()) return status;
  }
  return {};
}

Status World::PrepareTimeStep(float dt) {
  if (impl_ == nullptr) return {StatusCode::kOutOfMemory, "world"};
  if (!IsTimeStep(dt)) return {StatusCode::kInvalidArgument, "dt", "must lie in (0, 1]"};
  Impl& w = *impl_;
  if (!w.Reserve(&w.time_steps, w.num_time_steps)) return {StatusCode::kOutOfMemory, "dt"};
  bool made = false;
  const Status status = w.PrepareFactors(dt, &made);
  const auto end = w.time_steps.begin() + w.num_time_steps;
  if (status.ok() && std::find(w.time_steps.begin(), end, dt) == end) {
    w.time_steps[w.num_time_steps++] = dt;
  }
  return status;
}

uint32_t World::Step(float dt) {
  if (impl_ == nullptr) return kStepOutOfMemory;
  Impl& w = *impl_;
  w.stats = {};
  if (!IsTimeStep(dt)) return w.stats.flags = kStepInvalidArgument;
  bool made = false;
  const Status prepared = w.PrepareFactors(dt, &made);
  if (!prepared.ok()) {
    return w.stats.flags =
               prepared.code == StatusCode::kOutOfMemory ? kStepOutOfMemory : kStepInvalidArgument;
  }
  w.settings = {
      w.desc.gravity, w.desc.solver, {w.planes.data(), w.num_planes}, dt, w.desc.measure_energy};
  const JobFunction choose = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    Body* body = world.bodies[index];
    if (body == nullptr || body->asleep) return;
    world.body_stats[index] = {};
    body->in_crowd_step = IsCrowdStep(world.settings, body);
  };
  w.RunJobs(w.num_bodies, choose);
  w.ChooseUnits();
  // Before any crowd steps, as that changes all of its lanes.
  const JobFunction leave = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    for (Body* body : world.crowds[world.units[index]]->bodies) {
      if (body != nullptr && !body->in_crowd_step) LeaveLane(body);
    }
  };
  if (w.has_leavers) w.RunJobs(w.num_crowd_units, leave);
  const JobFunction step_one = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    const uint32_t unit = world.units[index];
    if (index < world.num_crowd_units) {
      StepCrowd(world.settings, world.crowds[unit], world.body_stats.data());
    } else {
      LeaveLane(world.bodies[unit]);
      StepBody(world.settings, world.bodies[unit], &world.body_stats[unit]);
    }
  };
  w.RunJobs(w.num_units, step_one);
  w.StepSharedBody();
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    Body* body = w.bodies[i];
    if (body == nullptr || body->asleep) continue;
    body->moved = body->moved || !body->fixed;
    w.MayFallAsleep(body);
  }
  w.Reduce();
  if (made) w.stats.flags |= kStepPreparedTimeStep;
  return w.stats.flags;
}

// Sums and maxima in body order, whatever order the jobs ran in.
void World::Impl::Reduce() {
  for (uint32_t i = 0; i < num_bodies; ++i) {
    const StepStats& s = body_stats[i];
    stats.flags |= s.flags;
    stats.kinetic_j += s.kinetic_j;
    stats.elastic_j += s.elastic_j;
    stats.gravity_j += s.gravity_j;
    stats.max_speed = std::fmax(stats.max_speed, s.max_speed);
    stats.max_penetration = std::fmax(stats.max_penetration, s.max_penetration);
    stats.min_det_f = std::fmin(stats.min_det_f, s.min_det_f);
    stats.held_residual = std::fmax(stats.held_residual, s.held_residual);
    stats.contacts += s.contacts;
    stats.substeps = std::max(stats.substeps, s.substeps);
    stats.outer_iterations = std::max(stats.outer_iterations, s.outer_iterations);
    stats.asleep += bodies[i] != nullptr && bodies[i]->asleep ? 1u : 0u;
    stats.inverted_tets += s.inverted_tets;
    stats.collapsed_tets += s.collapsed_tets;
    for (size_t k = 0; k < std::size(stats.phase_s); ++k) stats.phase_s[k] += s.phase_s[k];
  }
}

const StepStats& World::stats() const {
  static constexpr StepStats kNone;
  return impl_ != nullptr ? impl_->stats : kNone;
}

Status World::Skin(BodyId id, std::span<Vec3> positions, std::span<Vec3> normals) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  const size_t num_vertices = body->visual.positions.size();
  if (positions.size() != num_vertices || (!normals.empty() && normals.size() != num_vertices)) {
    return kWrongSize;
  }
  SkinPositions(*body, positions);
  SkinNormals(*body, normals);
  return {};
}

Status World::NodePositions(BodyId id, std::span<Vec3> positions) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  if (positions.size() != body->x.size()) return kWrongSize;
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = WorldPosition(*body, body->x[i]);
  return {};
}

Status World::NodeVelocities(BodyId id, std::span<Vec3> velocities) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  if (velocities.size() != body->v.size()) return kWrongSize;
  std::copy(body->v.begin(), body->v.end(), velocities.begin());
  return {};
}

Status World::SetNodeVelocities(BodyId id, std::span<const Vec3> velocities) {
  Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  if (velocities.size() != body->v.size()) return kWrongSize;
  for (size_t i = 0; i < velocities.size(); ++i) {
    if (!IsFinite(velocities[i])) {
      return {StatusCode::kInvalidArgument, "velocities", "must be finite", i};
    }
  }
  Wake(id);
  for (size_t i = 0; i < velocities.size(); ++i) {
    body->v[i] = body->IsPinned(i) ? Vec3{} : velocities[i];
  }
  return {};
}

Status World::AddImpulses(BodyId id, std::span<const Vec3> impulses) {
  Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  if (body->fixed) return kFixed;
  if (impulses.size() != body->v.size()) return kWrongSize;
  const auto pushed = [&](size_t i) { return Vec3(body->v[i]) + impulses[i] * body->x[i].w; };
  for (size_t i = 0; i < impulses.size(); ++i) {
    if (!IsFinite(impulses[i]) || !IsFinite(pushed(i))) {
      return {StatusCode::kInvalidArgument, "impulses", "must be finite, and what they do too", i};
    }
  }
  Wake(id);
  for (size_t i = 0; i < impulses.size(); ++i) body->v[i] = pushed(i);
  return {};
}

Status World::SetNodePositions(BodyId id, std::span<const Vec3> positions) {
  Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  if (positions.size() != body->x.size()) return kWrongSize;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!IsFinite(positions[i])) {
      return {StatusCode::kInvalidArgument, "positions", "must be finite", i};
    }
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    body->x[i] = {static_cast<float>(positions[i].x - body->origin[0]),
                  static_cast<float>(positions[i].y - body->origin[1]),
                  static_cast<float>(positions[i].z - body->origin[2])};
  }
  FollowOrigin(body);
  body->moved = true;
  LeaveLane(body);
  Wake(id);
  // What the body remembers of its last step belongs to where it was. Multipliers start from zero,
  // not from lambda V (det F - 1): far from equilibrium the solve would take that force explicitly
  // and overshoot (by 45 times the energy at a Poisson's ratio of 0.49), the sweep does not.
  MatchRotations(body->elements, body->x.span(), body->Rotations());
  for (float& kappa : body->kappa) kappa = 0.0f;
  body->contacts.num_contacts = 0;
  return {};
}

Status World::ElasticForces(BodyId id, std::span<Vec3> forces) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  if (forces.size() != body->x.size()) return kWrongSize;
  plush::ElasticForces(body->elements, body->x.span(), body->Rotations(), forces);
  return {};
}

Status World::Moments(BodyId id, BodyMoments* out_moments) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  *out_moments = MeasureMoments(*body);
  return {};
}

Status World::BestFitPose(BodyId id, Pose* out_pose) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return kUnknownBody;
  *out_pose = FitPose(*body);
  return {};
}

void World::Wake(BodyId id) {
  Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  if (body == nullptr) return;
  body->asleep = false;
  body->still_time = 0.0f;
}

bool World::IsAsleep(BodyId id) const {
  const Body* body = impl_ != nullptr ? impl_->Find(id) : nullptr;
  return body != nullptr && body->asleep;
}

uint32_t World::num_bodies() const {
  uint32_t count = 0;
  for (uint32_t i = 0; impl_ != nullptr && i < impl_->num_bodies; ++i) {
    count += impl_->bodies[i] != nullptr ? 1u : 0u;
  }
  return count;
}

uint64_t World::StateHash() const {
  StateHasher hasher;
  for (uint32_t b = 0; impl_ != nullptr && b < impl_->num_bodies; ++b) {
    const Body* body = impl_->bodies[b];
    if (body == nullptr) continue;
    for (size_t i = 0; i < body->x.size(); ++i) {
      hasher.Add(WorldPosition(*body, body->x[i]));
      hasher.Add(body->v[i]);
    }
  }
  return hasher.hash();
}

std::span<const uint32_t> FindRegionNodes(const Asset& asset, std::string_view name) {
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    if (region.name == name) return region.nodes;
  }
  return {};
}

}  // namespace plush
