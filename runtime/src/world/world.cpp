// SPDX-License-Identifier: MIT
// World's calls on bodies, planes and time steps, and its state hash (FNV-1a 64).
// World::Step is in world_step.cpp.
#include "plush/world.h"

#include "base/vector_math.h"
#include "world/make_body.h"
#include "world/world_impl.h"

#include <algorithm>
#include <bit>
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

}  // namespace

World::World(const WorldDesc& desc) {
  WorldDesc checked = desc;
  if (checked.allocator.allocate == nullptr || checked.allocator.release == nullptr) {
    checked.allocator = DefaultAllocator();
  }
  checked.solver = Clamped(checked.solver);
  if (!IsFinite(checked.gravity)) checked.gravity = {};
  impl_ = NewObject<Impl>(checked.allocator, checked);
}

World::~World() {
  if (impl_ == nullptr) return;
  for (uint32_t i = 0; i < impl_->num_bodies; ++i) RemoveBody({i});  // removes the crowds too
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
    body->dt = asset.factor().dt;
    status = impl_->PrepareSystem(body->dt, body->system);
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

// Makes all bodies' factors for `new_dt`. On failure each body keeps those of its last step.
Status World::Impl::PrepareFactors(float new_dt, bool* out_made) {
  for (uint32_t i = 0; i < num_bodies; ++i) {
    const Body* body = bodies[i];
    if (body == nullptr || body->fixed || body->dt == new_dt) continue;
    const Status status =
        cache.Prepare(body->system, new_dt, dt, desc.solver.max_substeps, out_made);
    if (!status.ok()) return status;
  }
  return {};
}

// Makes the factors of a body's new system for `body_dt` and for all prepared time steps.
Status World::Impl::PrepareSystem(float body_dt, System* system) {
  bool made = false;
  Status status = cache.Prepare(system, body_dt, dt, desc.solver.max_substeps, &made);
  for (uint32_t i = 0; status.ok() && i < num_time_steps; ++i) {
    status = cache.Prepare(system, time_steps[i], dt, desc.solver.max_substeps, &made);
    if (status.ok()) SystemCache::Keep(system, time_steps[i]);
  }
  return status;
}

Status World::PrepareTimeStep(float dt) {
  if (impl_ == nullptr) return {StatusCode::kOutOfMemory, "world"};
  if (!IsTimeStep(dt)) return {StatusCode::kInvalidArgument, "dt", "must lie in [1e-5, 1]"};
  Impl& w = *impl_;
  if (!w.Reserve(&w.time_steps, w.num_time_steps)) return {StatusCode::kOutOfMemory, "dt"};
  bool made = false;
  const Status status = w.PrepareFactors(dt, &made);
  if (!status.ok()) return status;
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    if (w.bodies[i] != nullptr) SystemCache::Keep(w.bodies[i]->system, dt);
  }
  const auto end = w.time_steps.begin() + w.num_time_steps;
  if (std::find(w.time_steps.begin(), end, dt) == end) w.time_steps[w.num_time_steps++] = dt;
  return {};
}

const StepStats& World::stats() const {
  static constexpr StepStats kNone;
  return impl_ != nullptr ? impl_->stats : kNone;
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
  if (impl_ == nullptr) return 0;
  const auto end = impl_->bodies.begin() + impl_->num_bodies;
  return impl_->num_bodies - static_cast<uint32_t>(std::count(impl_->bodies.begin(), end, nullptr));
}

uint64_t World::StateHash() const {
  uint64_t hash = 0xcbf29ce484222325ull;
  const auto add = [&hash](const Vec3& v) {
    for (const float value : {v.x, v.y, v.z}) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      for (int shift = 0; shift < 32; shift += 8) {
        hash = (hash ^ ((bits >> shift) & 0xffu)) * 0x100000001b3ull;
      }
    }
  };
  for (uint32_t b = 0; impl_ != nullptr && b < impl_->num_bodies; ++b) {
    const Body* body = impl_->bodies[b];
    for (size_t i = 0; body != nullptr && i < body->x.size(); ++i) {
      add(WorldPosition(*body, body->x[i]));
      add(body->v[i]);
    }
  }
  return hash;
}

std::span<const uint32_t> FindRegionNodes(const Asset& asset, std::string_view name) {
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    if (region.name == name) return region.nodes;
  }
  return {};
}

}  // namespace plush
