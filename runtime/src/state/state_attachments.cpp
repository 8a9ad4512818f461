// SPDX-License-Identifier: MIT
// Attachments and constraints in a state: records and back, StateReader's checks, loading.
// Source: state_scenery.h.
#include "plush/collider.h"

#include "state/state_checks.h"
#include "state/state_reader.h"
#include "state/state_scenery.h"

#include <algorithm>
#include <cmath>

namespace plush {

StateAttachment Saved(const Attachment& attachment, const AttachmentRow& row) {
  const AttachmentDesc& desc = attachment.desc;
  StateAttachment out = {};
  out.other_collider = desc.other_collider.value;
  out.slot = SlotOf(attachment.id);
  out.body = SlotOf(desc.body.value);
  out.other_body = desc.other_body.valid() ? SlotOf(desc.other_body.value) : kNoIndex;
  std::copy(std::begin(desc.nodes), std::end(desc.nodes), out.nodes);
  std::copy(std::begin(desc.other_nodes), std::end(desc.other_nodes), out.other_nodes);
  Copy(desc.weights, out.weights);
  Copy(desc.other_weights, out.other_weights);
  Copy(desc.target, out.target);
  Copy(attachment.next, out.next);
  out.rest_length = desc.rest_length;
  out.stiffness = desc.stiffness;
  out.damping = desc.damping;
  out.max_force = desc.max_force;
  out.break_force = desc.break_force;
  Copy(row.force, out.force);
  Copy(row.mean_force, out.mean_force);
  out.has_next = attachment.has_next ? 1 : 0;
  out.constraint = attachment.is_constraint ? 1 + static_cast<uint32_t>(attachment.kind) : 0;
  Copy(attachment.direction, out.direction);
  out.correction = attachment.correction;
  return out;
}

Attachment ToAttachment(const StateAttachment& a) {
  Attachment attachment;
  AttachmentDesc& out = attachment.desc;
  std::copy(std::begin(a.nodes), std::end(a.nodes), out.nodes);
  std::copy(std::begin(a.other_nodes), std::end(a.other_nodes), out.other_nodes);
  out.weights = ToVec4(a.weights);
  out.other_weights = ToVec4(a.other_weights);
  out.other_collider = {a.other_collider};
  out.target = ToVec3(a.target);
  out.rest_length = a.rest_length;
  out.stiffness = a.stiffness;
  out.damping = a.damping;
  out.max_force = a.max_force;
  out.break_force = a.break_force;
  attachment.is_constraint = a.constraint != 0;
  if (a.constraint != 0) attachment.kind = static_cast<ConstraintKind>(a.constraint - 1);
  attachment.direction = ToVec3(a.direction);
  attachment.correction = a.correction;
  attachment.has_next = a.has_next != 0;
  attachment.next = ToVec3(a.next);
  return attachment;
}

namespace {

// Whether a record is of a spring without a constraint's numbers, or of a constraint that holds a
// body to the world in a unit direction.
bool IsKind(const StateAttachment& a) {
  constexpr uint32_t kMost = 1 + static_cast<uint32_t>(ConstraintKind::kPlane);
  if (a.constraint == 0) {
    return a.direction[0] == 0.0f && a.direction[1] == 0.0f && a.direction[2] == 0.0f &&
           a.correction == 1.0f;
  }
  const float length2 = Dot(ToVec3(a.direction), ToVec3(a.direction));
  const bool is_spring =
      a.rest_length != 0.0f || std::isfinite(a.max_force) || std::isfinite(a.break_force);
  return a.constraint <= kMost && !is_spring && a.other_body == kNoIndex && a.other_collider == 0 &&
         length2 > 0.999f && length2 < 1.001f && a.correction > 0.0f && a.correction <= 1.0f;
}

bool AreNumbers(const StateAttachment& a) {
  const auto is_in = [](float value, float most) { return value >= 0.0f && value <= most; };
  return IsPosition({a.target[0], a.target[1], a.target[2]}) &&
         IsPosition({a.next[0], a.next[1], a.next[2]}) && a.has_next <= 1 &&
         is_in(a.rest_length, kMostCoordinate) && is_in(a.stiffness, kMostStiffness) &&
         is_in(a.damping, kMostStiffness) && a.max_force > 0.0f && a.break_force > 0.0f &&
         AreFinite(a.force) && AreFinite(a.mean_force) && IsKind(a);
}

}  // namespace

// Whether a body that is not fixed has these nodes, and a point these weights.
bool StateReader::IsSide(uint32_t slot, const uint32_t (&nodes)[4],
                         const float (&weights)[4]) const {
  StateBody body;
  if (slot >= world_.num_body_slots || !FindBody(slot, &body) || (body.flags & kStateFixed) != 0) {
    return false;
  }
  const uint32_t num_nodes = system(body.system).num_nodes;
  return std::ranges::all_of(nodes, [=](uint32_t node) { return node < num_nodes; }) &&
         AreWeights({weights[0], weights[1], weights[2], weights[3]});
}

Status StateReader::CheckAttachments() const {
  const char* const section = "state.attachments";
  for (uint32_t i = 0; i < world_.num_attachments; ++i) {
    const StateAttachment a = attachment(i);
    if (a.slot >= world_.num_attachment_slots ||
        attachment_slot(a.slot).link != SlotList<>::kLive ||
        (i > 0 && attachment(i - 1).slot >= a.slot)) {
      return Corrupt(section, "wrong slot", i);
    }
    const bool has_other = a.other_body != kNoIndex;
    if (!IsSide(a.body, a.nodes, a.weights) || a.other_body == a.body ||
        (has_other && !IsSide(a.other_body, a.other_nodes, a.other_weights))) {
      return Corrupt(section, "no such point of a body", i);
    }
    const uint32_t slot = SlotOf(a.other_collider);
    if (a.other_collider != 0 && (has_other || slot >= world_.num_collider_slots ||
                                  collider_slot(slot).link != SlotList<>::kLive ||
                                  a.other_collider != PackId(slot, collider_slot(slot).generation,
                                                             static_cast<uint16_t>(header_.tag)))) {
      return Corrupt(section, "no such collider", i);
    }
    if (!AreNumbers(a)) return Corrupt(section, "a number is out of range", i);
  }
  return {};
}

void World::Impl::LoadAttachments(const StateReader& state) {
  const StateWorld& w = state.world();
  attachment_slots.Load([&](uint32_t slot) { return state.attachment_slot(slot); },
                        w.num_attachment_slots, w.first_free_attachment, w.last_free_attachment);
  std::fill(attachments.begin(), attachments.end(), Attachment{});
  std::fill(rows.begin(), rows.end(), AttachmentRow{});
  for (uint32_t i = 0; i < w.num_attachments; ++i) {
    const StateAttachment saved = state.attachment(i);
    Attachment& attachment = attachments[saved.slot];
    attachment = ToAttachment(saved);
    attachment.id = PackId(saved.slot, attachment_slots.generation(saved.slot), desc.tag);
    attachment.desc.body = {bodies[saved.body]->id};
    if (saved.other_body != kNoIndex) attachment.desc.other_body = {bodies[saved.other_body]->id};
    rows[saved.slot].force = ToVec3(saved.force);
    rows[saved.slot].mean_force = ToVec3(saved.mean_force);
  }
  for (const uint32_t slot : slots) {
    bodies[slot]->attached.num_points = 0;
    bodies[slot]->attached.is_stale = true;
  }
  islands_changed = true;
}

}  // namespace plush
