// SPDX-License-Identifier: MIT
// World's calls on constraints. They are attachments without compliance: attachments.cpp.
#include "base/invalid.h"
#include "base/vector_math.h"
#include "body/best_fit.h"
#include "body/solver_method.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>

namespace plush {
uint32_t Attachment::Directions(Vec3 (&directions)[3]) const {
  constexpr Vec3 kAxes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  if (!is_constraint) return 0;
  switch (kind) {
    case ConstraintKind::kPoint:
      std::copy(kAxes, kAxes + 3, directions);
      return 3;
    case ConstraintKind::kLine: {
      const float x = std::fabs(direction.x), y = std::fabs(direction.y);
      const float z = std::fabs(direction.z);
      const Vec3 first = Cross(direction, kAxes[x <= y && x <= z ? 0 : y <= z ? 1 : 2]);
      directions[0] = first * (1.0f / Length(first));
      directions[1] = Cross(direction, directions[0]);
      return 2;
    }
    case ConstraintKind::kPlane:
      directions[0] = direction;
      return 1;
  }
  return 0;
}

Status World::Impl::CheckHeld(const BodySolver& solver, const Body& body,
                              std::span<const uint8_t> pinned, uint32_t without) const {
  const Status by_pins = CheckSolverPins(allocator, solver, body.simulation, pinned);
  if (by_pins.code != StatusCode::kInvalidArgument) return by_pins;
  const auto counts = [&](uint32_t slot) {
    return slot != without && attachments[slot].is_constraint && attachments[slot].Holds(body.id);
  };
  const Mat3 rotation = RotationMatrix(FindBestFit(body).rotation);  // rows are of the body at rest
  size_t most = 0, num_held = 0;
  for (const uint32_t slot : attachment_slots) most += counts(slot) ? 3 : 0;
  Array<ConstraintRow> held;
  if (!held.Allocate(allocator, most)) return {StatusCode::kOutOfMemory, "solver"};
  for (const uint32_t slot : attachment_slots) {
    if (!counts(slot)) continue;
    const AttachmentDesc& of = attachments[slot].desc;
    ConstraintRow row = {.weights = {of.weights.x, of.weights.y, of.weights.z, of.weights.w}};
    const float* heaviest = std::ranges::max_element(row.weights);
    for (int k = 0; k < 4; ++k) {  // weight 0 may have any node
      row.nodes[k] = of.nodes[row.weights[k] != 0.0f ? k : heaviest - row.weights];
    }
    Vec3 directions[3];
    const uint32_t count = attachments[slot].Directions(directions);
    for (uint32_t k = 0; k < count; ++k) {
      row.direction = TransposeTimes(rotation, directions[k]);
      held[num_held++] = row;
    }
  }
  return CheckSolverPins(allocator, solver, body.simulation, pinned, held.span().first(num_held));
}

Status World::Impl::FindConstraint(const Impl* impl, ConstraintId id, Attachment** out_attachment) {
  const Status found = FindHold(impl, id.value, out_attachment);
  if (!found.ok() || (*out_attachment)->is_constraint) return found;
  return {StatusCode::kForeignId, "id", "is of an attachment"};
}

Status World::Impl::CheckConstraint(const ConstraintDesc& of) const {
  Body* body = nullptr;
  const Status status =
      CheckSide({"body", "nodes", "weights"}, of.body, of.nodes, of.weights, &body);
  if (!status.ok()) return status;
  if (of.kind > ConstraintKind::kPlane) return Invalid("kind", "is none");
  const float length = Length(of.direction);
  const bool has_direction = length > 0.0f && std::isfinite(length);
  if (of.kind != ConstraintKind::kPoint && !has_direction) {
    return Invalid("direction", "must be finite and not zero");
  }
  if (!IsPosition(of.target)) return Invalid("target", "must lie within kMostCoordinate");
  if (!(of.correction > 0.0f && of.correction <= 1.0f)) {
    return Invalid("correction", "must lie in (0, 1]");
  }
  return {};
}

Status World::AddConstraint(const ConstraintDesc& desc, ConstraintId* out_id) {
  if (out_id == nullptr) return kNoOutput;
  *out_id = {};
  if (impl_ == nullptr) return kNoWorld;
  const Status status = impl_->CheckConstraint(desc);
  if (!status.ok()) return status;
  Attachment added;
  added.desc.body = desc.body;
  std::copy(desc.nodes, desc.nodes + 4, added.desc.nodes);
  added.desc.weights = desc.weights;
  added.desc.target = desc.target;
  added.is_constraint = true;
  added.kind = desc.kind;
  added.direction = {0.0f, 1.0f, 0.0f};
  if (desc.kind != ConstraintKind::kPoint) {
    added.direction = desc.direction * (1.0f / Length(desc.direction));
  }
  added.correction = desc.correction;
  return impl_->AddHold(added, &out_id->value);
}

Status World::AddConstraint(const SurfacePoint& at, const ConstraintDesc& desc,
                            ConstraintId* out_id) {
  if (out_id == nullptr) return kNoOutput;
  *out_id = {};
  ConstraintDesc of = desc;
  const Status placed = PlaceAt(at, &of);
  return placed.ok() ? AddConstraint(of, out_id) : placed;
}

Status World::MoveConstraint(ConstraintId id, const Vec3& target) {
  Attachment* constraint = nullptr;
  const Status found = Impl::FindConstraint(impl_, id, &constraint);
  if (!found.ok()) return found;
  if (!IsPosition(target)) return Invalid("target", "must lie within kMostCoordinate");
  impl_->MoveTarget(target, constraint);
  return {};
}

Status World::ConstraintForce(ConstraintId id, Vec3* out_force) const {
  const Status emptied = Empty(out_force);
  if (!emptied.ok()) return emptied;
  Attachment* constraint = nullptr;
  const Status found = Impl::FindConstraint(impl_, id, &constraint);
  if (found.ok()) *out_force = impl_->rows[SlotOf(id.value)].mean_force;
  return found;
}

Status World::GetConstraint(ConstraintId id, ConstraintDesc* out_desc) const {
  const Status emptied = Empty(out_desc);
  if (!emptied.ok()) return emptied;
  Attachment* constraint = nullptr;
  const Status found = Impl::FindConstraint(impl_, id, &constraint);
  if (!found.ok()) return found;
  const AttachmentDesc& of = constraint->desc;
  out_desc->body = of.body;
  std::copy(of.nodes, of.nodes + 4, out_desc->nodes);
  out_desc->weights = of.weights;
  out_desc->kind = constraint->kind;
  out_desc->direction = constraint->direction;
  out_desc->target = of.target;
  out_desc->correction = constraint->correction;
  return {};
}

Status World::RemoveConstraint(ConstraintId id) {
  Attachment* constraint = nullptr;
  const Status found = Impl::FindConstraint(impl_, id, &constraint);
  if (!found.ok()) return found;
  const Body& body = *impl_->bodies[SlotOf(constraint->desc.body.value)];
  const uint32_t slot = SlotOf(id.value);
  const Status held = impl_->CheckHeld(body.solver, body, body.system->pinned.span(), slot);
  if (held.ok()) impl_->Detach(slot);
  return held;
}

uint32_t World::num_constraints() const { return impl_ != nullptr ? impl_->CountHolds(true) : 0; }

bool World::IsValid(ConstraintId id) const {
  Attachment* constraint = nullptr;
  return Impl::FindConstraint(impl_, id, &constraint).ok();
}

}  // namespace plush
