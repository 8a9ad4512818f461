// SPDX-License-Identifier: MIT
// World's calls on attachments, and what they share with constraints.cpp. What steps make of them:
// attachment_links.cpp.
#include "base/invalid.h"
#include "body/attachment_step.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstddef>

namespace plush {
namespace {

constexpr Status kNoAttachmentMemory = {StatusCode::kOutOfMemory, "attachment", "", 0};

Status CheckNumbers(const AttachmentDesc& desc) {
  const auto is_in = [](float value, float most) { return value >= 0.0f && value <= most; };
  if (!IsPosition(desc.target)) return Invalid("target", "must lie within kMostCoordinate");
  if (!is_in(desc.rest_length, kMostCoordinate)) {
    return Invalid("rest_length", "must lie in [0, kMostCoordinate]");
  }
  if (!is_in(desc.stiffness, kMostStiffness)) {
    return Invalid("stiffness", "must lie in [0, kMostStiffness]");
  }
  if (!is_in(desc.damping, kMostStiffness)) {
    return Invalid("damping", "must lie in [0, kMostStiffness]");
  }
  if (!(desc.max_force > 0.0f)) return Invalid("max_force", "must be above 0");
  if (!(desc.break_force > 0.0f)) return Invalid("break_force", "must be above 0");
  return {};
}

}  // namespace

Status World::Impl::FindHold(const Impl* impl, uint64_t id, Attachment** out_attachment) {
  using State = SlotList<>::State;
  if (id == 0) return {StatusCode::kNullId, "id", "is null"};
  if (impl == nullptr) return kNoWorld;
  const uint32_t slot = SlotOf(id);
  const State state = impl->attachment_slots.Find(slot, GenerationOf(id));
  if (TagOf(id) != impl->desc.tag || state == State::kNeverGiven) {
    return {StatusCode::kForeignId, "id", "is not of this world"};
  }
  if (state == State::kFreed) return {StatusCode::kStaleId, "id", "was taken out"};
  *out_attachment = const_cast<Attachment*>(&impl->attachments[slot]);
  return {};
}

Status World::Impl::FindAttachment(const Impl* impl, AttachmentId id, Attachment** out_attachment) {
  const Status found = FindHold(impl, id.value, out_attachment);
  if (!found.ok() || !(*out_attachment)->is_constraint) return found;
  return {StatusCode::kForeignId, "id", "is of a constraint"};
}

// Checks the point of a body. `fields` are the names of body, nodes and weights.
Status World::Impl::CheckSide(const char* const (&fields)[3], BodyId id, const uint32_t (&nodes)[4],
                              const Vec4& weights, Body** out_body) const {
  Status found = FindBody(this, id, out_body);
  found.section = found.ok() ? found.section : fields[0];
  if (!found.ok()) return found;
  if ((*out_body)->fixed) return Invalid(fields[0], "is fixed scenery");
  for (uint64_t k = 0; k < 4; ++k) {
    if (nodes[k] >= (*out_body)->x.size()) return Invalid(fields[1], "no such node", k);
  }
  if (!AreWeights(weights)) return Invalid(fields[2], "must be those of a point in a tet");
  return {};
}

Status World::Impl::CheckAttachment(const AttachmentDesc& of) const {
  Body* body = nullptr;
  Status status = CheckSide({"body", "nodes", "weights"}, of.body, of.nodes, of.weights, &body);
  if (status.ok() && of.other_body.valid()) {
    if (of.other_body == of.body) return Invalid("other_body", "is the body itself");
    if (of.other_collider.valid()) {
      return Invalid("other_collider", "must be null beside other_body");
    }
    status = CheckSide({"other_body", "other_nodes", "other_weights"}, of.other_body,
                       of.other_nodes, of.other_weights, &body);
  }
  if (status.ok() && of.other_collider.valid()) {
    Collider* collider = nullptr;
    status = FindCollider(this, of.other_collider, &collider);
    if (!status.ok()) status.section = "other_collider";
  }
  return status.ok() ? CheckNumbers(of) : status;
}

// Makes room for one more attachment, in its bodies too.
Status World::Impl::ReserveAttachment(const Attachment& added) {
  const AttachmentDesc& of = added.desc;
  if (!attachment_slots.Reserve(allocator) ||
      !GrowAttachments(size_t{attachment_slots.next_slot()} + 1)) {
    return kNoAttachmentMemory;
  }
  for (const BodyId id : {of.body, of.other_body}) {
    if (!id.valid()) continue;
    uint32_t count = 1, constraints = added.is_constraint ? 1 : 0;
    for (const uint32_t slot : attachment_slots) {
      if (!attachments[slot].Holds(id.value)) continue;
      ++count;
      constraints += attachments[slot].is_constraint ? 1 : 0;
    }
    Body* body = bodies[SlotOf(id.value)];
    if (!ReserveAttached(allocator, count, body) ||
        (count > constraints && !ReserveSprings(allocator, body)) ||
        (constraints > 0 && !ReserveConstraints(allocator, constraints, body))) {
      return kNoAttachmentMemory;
    }
  }
  return ReserveJoined(touching_method, of) ? Status{} : kNoAttachmentMemory;
}

void World::Impl::WakeSides(const AttachmentDesc& of) {
  for (const BodyId id : {of.body, of.other_body}) {
    if (!id.valid()) continue;
    Body* body = bodies[SlotOf(id.value)];
    body->attached.is_stale = true;
    WakeUp(body);
  }
  islands_changed = islands_changed || of.other_body.valid();
}

Status World::Impl::AddHold(Attachment added, uint64_t* out_id) {
  const Status status = ReserveAttachment(added);
  if (!status.ok()) return status;
  const uint32_t slot = attachment_slots.Add();
  added.id = PackId(slot, attachment_slots.generation(slot), desc.tag);
  attachments[slot] = added;
  rows[slot] = {};
  WakeSides(added.desc);
  *out_id = added.id;
  return {};
}

Status World::Attach(const AttachmentDesc& desc, AttachmentId* out_id) {
  if (out_id == nullptr) return kNoOutput;
  *out_id = {};
  if (impl_ == nullptr) return kNoWorld;
  const Status status = impl_->CheckAttachment(desc);
  return status.ok() ? impl_->AddHold({.desc = desc}, &out_id->value) : status;
}

Status World::Attach(const SurfacePoint& at, const AttachmentDesc& desc, AttachmentId* out_id) {
  if (out_id == nullptr) return kNoOutput;
  *out_id = {};
  AttachmentDesc of = desc;
  const Status placed = PlaceAt(at, &of);
  return placed.ok() ? Attach(of, out_id) : placed;
}

Status World::MoveAttachment(AttachmentId id, const Vec3& target) {
  Attachment* attachment = nullptr;
  const Status found = Impl::FindAttachment(impl_, id, &attachment);
  if (!found.ok()) return found;
  if (attachment->desc.other_body.valid()) return Invalid("id", "is attached to a body");
  if (!IsPosition(target)) return Invalid("target", "must lie within kMostCoordinate");
  impl_->MoveTarget(target, attachment);
  return {};
}

void World::Impl::MoveTarget(const Vec3& target, Attachment* attachment) {
  const Vec3& now = attachment->desc.target;
  attachment->has_next = now.x != target.x || now.y != target.y || now.z != target.z;
  attachment->next = target;
  if (attachment->has_next) WakeUp(bodies[SlotOf(attachment->desc.body.value)]);
}

Status World::AttachmentForce(AttachmentId id, Vec3* out_force) const {
  const Status emptied = Empty(out_force);
  if (!emptied.ok()) return emptied;
  Attachment* attachment = nullptr;
  const Status found = Impl::FindAttachment(impl_, id, &attachment);
  if (found.ok()) *out_force = impl_->rows[SlotOf(id.value)].mean_force;
  return found;
}

Status World::GetAttachment(AttachmentId id, AttachmentDesc* out_desc) const {
  const Status emptied = Empty(out_desc);
  if (!emptied.ok()) return emptied;
  Attachment* attachment = nullptr;
  const Status found = Impl::FindAttachment(impl_, id, &attachment);
  if (found.ok()) *out_desc = attachment->desc;
  return found;
}

void World::Impl::Detach(uint32_t slot) {
  WakeSides(attachments[slot].desc);
  attachment_slots.Remove(slot);
  attachments[slot] = {};
}

Status World::Detach(AttachmentId id) {
  Attachment* attachment = nullptr;
  const Status found = Impl::FindAttachment(impl_, id, &attachment);
  if (found.ok()) impl_->Detach(SlotOf(id.value));
  return found;
}

template <class Goes>
void World::Impl::DetachIf(const Goes& goes) {
  for (const uint32_t slot : attachment_slots) {
    if (goes(attachments[slot])) Detach(slot);
  }
}

void World::Impl::DetachBody(uint64_t body) {
  DetachIf([body](const Attachment& attachment) { return attachment.Holds(body); });
}

void World::Impl::DetachCollider(uint64_t collider) {
  DetachIf([collider](const Attachment& attachment) {
    return attachment.desc.other_collider.value == collider;
  });
}

uint32_t World::Impl::CountHolds(bool constraints) const {
  uint32_t count = 0;
  for (const uint32_t slot : attachment_slots) {
    count += attachments[slot].is_constraint == constraints ? 1 : 0;
  }
  return count;
}

uint32_t World::num_attachments() const { return impl_ != nullptr ? impl_->CountHolds(false) : 0; }

bool World::IsValid(AttachmentId id) const {
  Attachment* attachment = nullptr;
  return Impl::FindAttachment(impl_, id, &attachment).ok();
}

std::span<const AttachmentEvent> World::attachment_events() const {
  if (impl_ == nullptr) return {};
  const Array<AttachmentEvent>& events = impl_->attachment_events;
  return events.span().first(std::min<size_t>(impl_->num_attachment_events, events.size()));
}

}  // namespace plush
