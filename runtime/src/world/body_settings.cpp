// SPDX-License-Identifier: MIT
// World's calls on ids and settings of bodies: enumeration, user data, bounds, enabling, sleep.
#include "base/vector_math.h"
#include "body/make_body.h"
#include "body/solver_method.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush {

bool World::IsValid(BodyId id) const {
  Body* body = nullptr;
  return Impl::FindBody(impl_, id, &body).ok();
}

Status World::Bodies(std::span<BodyId> ids, uint32_t* out_count) const {
  if (out_count == nullptr) return kNoOutput;
  *out_count = 0;
  if (impl_ == nullptr) return kNoWorld;
  for (const uint32_t slot : impl_->slots) {
    if (*out_count < ids.size()) ids[*out_count] = {impl_->bodies[slot]->id};
    ++*out_count;
  }
  return {};
}

Status World::SetUserData(BodyId id, uint64_t user_data) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  body->user_data = user_data;
  return {};
}

Status World::GetUserData(BodyId id, uint64_t* out_user_data) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_user_data, &body);
  if (!found.ok()) return found;
  *out_user_data = body->user_data;
  return {};
}

Status World::GetBounds(BodyId id, Bounds* out_bounds) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_bounds, &body);
  if (!found.ok()) return found;
  Vec3 low = body->x[0], high = low;
  for (const NodeVec& x : body->x) {
    low = {std::fmin(low.x, x.x), std::fmin(low.y, x.y), std::fmin(low.z, x.z)};
    high = {std::fmax(high.x, x.x), std::fmax(high.y, x.y), std::fmax(high.z, x.z)};
  }
  *out_bounds = {WorldPosition(*body, low), WorldPosition(*body, high)};
  return {};
}

Status World::SetGravityFactor(BodyId id, float factor) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (!std::isfinite(factor)) {
    return {StatusCode::kInvalidArgument, "factor", "must be finite"};
  }
  body->gravity_factor = factor;
  WakeUp(body);
  return {};
}

Status World::SetMaxSpeed(BodyId id, float max_speed) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (!(max_speed > 0.0f)) {
    return {StatusCode::kInvalidArgument, "max_speed", "must be above 0"};
  }
  body->max_speed = max_speed;
  WakeUp(body);
  return {};
}

Status World::SetSplitting(BodyId id, const SplittingSettings& settings) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  const Status checked = CheckSplitting(settings);
  if (!checked.ok()) return checked;
  WakeUp(body);
  if (body->splitting == settings) return {};
  impl_->TakeFromCrowd(body);
  body->splitting = settings;
  impl_->PlaceInCrowd(body);
  return {};
}

// Whether what tets remember of one solver holds for the other.
static bool HaveSameTets(const BodySolver& a, const BodySolver& b) {
  return a.method == b.method && a.implicit.model == b.implicit.model &&
         a.implicit.rotation == b.implicit.rotation && a.implicit.alpha == b.implicit.alpha;
}

Status World::SetSolver(BodyId id, const BodySolver& solver) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  const Status checked = CheckSolver(solver);
  if (!checked.ok()) return checked;
  const Status held = impl_->CheckHeld(solver, *body, body->system->pinned.span());
  if (!held.ok()) return held;
  if (!ReserveSolver(impl_->allocator, solver, body) ||
      !impl_->ReserveTouching(solver.method, body)) {
    return {StatusCode::kOutOfMemory, "solver"};
  }
  const float drag = body->fixed ? 0.0f : DragOf(solver);
  if (drag != body->system->key.material.drag) {
    const Status changed = impl_->ChangeDrag(drag, body);
    if (!changed.ok()) return changed;
  }
  WakeUp(body);
  impl_->TakeFromCrowd(body);
  if (!HaveSameTets(body->solver, solver)) {
    std::fill(body->newton.tets.begin(), body->newton.tets.end(), ModelTet());
  }
  body->solver = solver;
  body->splitting = solver.splitting;
  impl_->PlaceInCrowd(body);
  return {};
}

Status World::GetSolver(BodyId id, BodySolver* out_solver) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_solver, &body);
  if (!found.ok()) return found;
  *out_solver = body->solver;
  out_solver->splitting = body->splitting;
  return found;
}

Status World::GetSplitting(BodyId id, SplittingSettings* out_settings) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_settings, &body);
  if (found.ok()) *out_settings = body->splitting;
  return found;
}

Status World::GetGravityFactor(BodyId id, float* out_factor) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_factor, &body);
  if (found.ok()) *out_factor = body->gravity_factor;
  return found;
}

Status World::GetMaxSpeed(BodyId id, float* out_max_speed) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_max_speed, &body);
  if (found.ok()) *out_max_speed = body->max_speed;
  return found;
}

Status World::GetScale(BodyId id, float* out_scale) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_scale, &body);
  if (found.ok()) *out_scale = body->scale;
  return found;
}

Status World::SetEnabled(BodyId id, bool enabled) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (body->enabled == enabled) return {};
  body->enabled = enabled;
  body->has_previous = false;
  if (enabled) {
    body->pins.rests = false;  // a fixed body wakes what it is in
    WakeUp(body);
    return {};
  }
  LeaveLane(body);
  impl_->WakeTouching(body->slot);
  impl_->WakeJoinedTo(id);
  body->in_crowd_step = false;
  body->contacts.Forget();
  body->pins.Forget();
  impl_->body_stats[body->slot] = {};
  return {};
}

bool World::IsEnabled(BodyId id) const {
  Body* body = nullptr;
  return Impl::FindBody(impl_, id, &body).ok() && body->enabled;
}

Status World::Wake(BodyId id) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  WakeUp(body);
  return {};
}

bool World::IsAsleep(BodyId id) const {
  Body* body = nullptr;
  return Impl::FindBody(impl_, id, &body).ok() && body->asleep;
}

bool World::IsFrozen(BodyId id) const {
  Body* body = nullptr;
  return Impl::FindBody(impl_, id, &body).ok() && body->frozen;
}

}  // namespace plush
