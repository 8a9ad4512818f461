// SPDX-License-Identifier: MIT
// World's calls on constraints. They are attachments without compliance: attachments.cpp.
#include "base/vector_math.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

Status Invalid(const char* field, const char* reason) {
  return {StatusCode::kInvalidArgument, field, reason, 0};
}

}  // namespace

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
  if (!at.valid()) return Invalid("at", "is not valid()");
  if (!at.body.valid()) return Invalid("at", "is on a collider");
  ConstraintDesc of = desc;
  of.body = at.body;
  std::copy(at.nodes, at.nodes + 4, of.nodes);
  of.weights = at.weights;
  return AddConstraint(of, out_id);
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
  if (found.ok()) impl_->Detach(SlotOf(id.value));
  return found;
}

uint32_t World::num_constraints() const { return impl_ != nullptr ? impl_->CountHolds(true) : 0; }

bool World::IsValid(ConstraintId id) const {
  Attachment* constraint = nullptr;
  return Impl::FindConstraint(impl_, id, &constraint).ok();
}

}  // namespace plush
