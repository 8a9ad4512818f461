// SPDX-License-Identifier: MIT
// Attachments in a step: which points bodies have in which rows, islands, targets, forces, breaks.
#include "body/attachment_step.h"
#include "body/pin_motion.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstddef>

namespace plush {
namespace {

EmbeddedPoint PointOf(const Body& body, const uint32_t (&nodes)[4], const Vec4& weights) {
  EmbeddedPoint point;
  const float of_nodes[4] = {weights.x, weights.y, weights.z, weights.w};
  const uint32_t used = nodes[std::ranges::max_element(of_nodes) - of_nodes];
  for (int k = 0; k < 4; ++k) {
    point.nodes[k] = of_nodes[k] != 0.0f ? nodes[k] : used;  // weight 0 may have any node
    point.weights[k] = of_nodes[k];
    if (body.IsPinned(point.nodes[k])) point.pinned |= static_cast<uint8_t>(1 << k);
  }
  return point;
}

}  // namespace

void World::Impl::LinkAttachments() {
  for (Body* body : live_bodies()) {
    body->attached.rows = rows.span();
    if (!body->attached.is_stale) continue;
    body->attached.num_points = 0;
    body->attached.has_target = body->attached.joins_bodies = false;
    body->attached.has_springs = body->attached.has_constraints = false;
    body->attached.block.Clear();
    body->attached.factor_id = 0;
    body->attached.scale = body->scale;
  }
  for (const uint32_t slot : attachment_slots) {
    const AttachmentDesc& of = attachments[slot].desc;
    AttachmentRow& row = rows[slot];
    row.rest_length = of.rest_length;
    row.stiffness = of.stiffness;
    row.damping = of.damping;
    row.max_force = of.max_force;
    row.num_directions = attachments[slot].Directions(row.directions);
    row.correction = attachments[slot].correction;
    const auto link = [&](BodyId id, const uint32_t(&nodes)[4], const Vec4& weights, size_t side) {
      if (!id.valid()) return;
      Body* body = bodies[SlotOf(id.value)];
      AttachedPoints& attached = body->attached;
      if (!attached.is_stale) return;
      row.sides[side] = {&attached, attached.num_points};
      attached.has_target = attached.has_target || !of.other_body.valid();
      attached.joins_bodies = attached.joins_bodies || of.other_body.valid();
      attached.has_springs = attached.has_springs || !row.is_constraint();
      attached.has_constraints = attached.has_constraints || row.is_constraint();
      attached.points[attached.num_points++] = {
          .row = slot, .sign = side == 0 ? 1.0f : -1.0f, .point = PointOf(*body, nodes, weights)};
    };
    link(of.body, of.nodes, of.weights, 0);
    link(of.other_body, of.other_nodes, of.other_weights, 1);
  }
  for (Body* body : live_bodies()) body->attached.is_stale = false;
  if (islands_changed) LinkIslands();
}

// Each body points to the next one of its island, by slots.
void World::Impl::LinkIslands() {
  islands_changed = false;
  for (Body* body : live_bodies()) {
    body->leads_island = true;
    body->next_of_island = nullptr;
    body->island = body->slot;
  }
  // `island` leads up a tree to the least slot; each look halves the way.
  const auto root_of = [&](uint32_t slot) {
    while (bodies[slot]->island != slot) {
      uint32_t& up = bodies[slot]->island;
      up = bodies[up]->island;
      slot = up;
    }
    return slot;
  };
  const auto join = [&](uint32_t first, uint32_t second) {
    const uint32_t a = root_of(first), b = root_of(second);
    bodies[std::max(a, b)]->island = std::min(a, b);
  };
  for (const uint32_t slot : attachment_slots) {
    const AttachmentDesc& of = attachments[slot].desc;
    if (!of.other_body.valid()) continue;
    join(SlotOf(of.body.value), SlotOf(of.other_body.value));
  }
  // Bodies that touch each other, and those that did when one of them fell asleep.
  const auto join_pair = [&](const TouchingPair& pair, bool only_if_one_sleeps) {
    if (only_if_one_sleeps ? !pair.presses : pair.end == pair.begin) return;
    const Body &a = *bodies[pair.first], &b = *bodies[pair.second];
    if (a.fixed || a.frozen || b.fixed || b.frozen) return;
    if (!only_if_one_sleeps || a.asleep || b.asleep) join(pair.first, pair.second);
  };
  for (const TouchingPair& pair : touching_bodies.Current()) join_pair(pair, false);
  for (const TouchingPair& pair : touching_bodies.Past()) join_pair(pair, true);
  // `last_of_island` of a first body is the last one so far.
  for (Body* body : live_bodies()) {
    body->island = root_of(body->slot);
    Body* const first = bodies[body->island];
    body->leads_island = first == body;
    if (!body->leads_island) first->last_of_island->next_of_island = body;
    first->last_of_island = body;
  }
}

// Sleeping bodies wake with any body of their island that may move.
bool World::Impl::WakeIslands() {
  bool woke = false;
  if (!AnyBodySteps()) return woke;
  for (Body* first : live_bodies()) {
    if (!first->leads_island || first->next_of_island == nullptr) continue;
    bool steps = false;
    for (const Body* body = first; body != nullptr; body = body->next_of_island) {
      steps = steps || MayMove(*body);
    }
    for (Body* body = first; body != nullptr && steps; body = body->next_of_island) {
      if (!body->asleep) continue;
      WakeUp(body);
      woke = true;
    }
  }
  return woke;
}

void World::Impl::WakeAttachedTo(uint64_t collider) {
  for (const uint32_t slot : attachment_slots) {
    const AttachmentDesc& of = attachments[slot].desc;
    if (of.other_collider.value == collider) WakeUp(bodies[SlotOf(of.body.value)]);
  }
}

void World::Impl::WakeJoinedTo(BodyId id) {
  for (const uint32_t slot : attachment_slots) {
    const AttachmentDesc& of = attachments[slot].desc;
    if (!of.other_body.valid() || (of.body.value != id.value && of.other_body.value != id.value)) {
      continue;
    }
    WakeUp(bodies[SlotOf(of.body.value)]);
    WakeUp(bodies[SlotOf(of.other_body.value)]);
  }
}

bool World::Impl::IsAttachedToMoving(const Body& body) const {
  return std::ranges::any_of(body.attached.Current(), [&](const AttachedPoint& at) {
    const ColliderId collider = attachments[at.row].desc.other_collider;
    return collider.valid() && step_colliders[SlotOf(collider.value)].moves;
  });
}

void World::Impl::PlaceAttachments() {
  WakeIslands();
  for (const uint32_t slot : attachment_slots) {
    const Attachment& attachment = attachments[slot];
    const AttachmentDesc& of = attachment.desc;
    step_targets[slot] = {of.target, attachment.has_next ? attachment.next : of.target};
    if (of.other_collider.valid()) step_targets[slot].collider = SlotOf(of.other_collider.value);
    AttachmentRow& row = rows[slot];
    row.acts = true;
    bool sleeps = false;
    for (const BodyId id : {of.body, of.other_body}) {
      if (!id.valid()) continue;
      const Body& body = *bodies[SlotOf(id.value)];
      row.acts = row.acts && body.Steps() && !body.frozen;
      sleeps = sleeps || (body.enabled && body.asleep);
    }
    if (!row.acts && !sleeps) row.force = row.impulse = row.known = row.before = {};
    if (row.acts || !sleeps) row.mean_force = {};
  }
  settings.targets = {step_targets.data(), attachment_slots.num_slots()};
}

// Targets arrive. Attachments break.
void World::Impl::EndAttachments() {
  for (const uint32_t slot : attachment_slots) {
    Attachment& attachment = attachments[slot];
    if (attachment.has_next) attachment.desc.target = attachment.next;
    attachment.has_next = false;
    const AttachmentDesc& of = attachment.desc;
    const Vec3 force = rows[slot].mean_force;
    if (!rows[slot].acts || !(Length(force) > of.break_force)) continue;
    if (num_attachment_events < attachment_events.size()) {
      attachment_events[num_attachment_events] = {{attachment.id}, of.body, of.other_body, force};
    }
    if (num_attachment_events < UINT32_MAX) ++num_attachment_events;
    Detach(slot);
  }
}

}  // namespace plush
