// SPDX-License-Identifier: MIT
// What bodies did to colliders in the last step: events and reactions.
#include "base/id_layout.h"
#include "base/vector_math.h"
#include "body/body_colliders.h"
#include "body/pin_motion.h"
#include "body/touches.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace plush {
namespace {

// Touches are in this order: by slots, then from the removed collider to the one that took its
// place.
uint64_t Key(const Touch& touch) {
  return uint64_t{SlotOf(touch.collider)} << 32 | GenerationOf(touch.collider);
}

ContactEvent EventOf(const Body& body, const Touch& touch, bool was_reported) {
  ContactEvent event;
  event.type = was_reported ? ContactEventType::kStayed : ContactEventType::kBegan;
  event.body = {body.id};
  event.collider = {touch.collider};
  event.point = touch.point;
  event.normal = touch.normal;
  event.impulse = touch.impulse;
  event.approach_speed = was_reported ? 0.0f : touch.approach_speed;
  event.triangle = touch.triangle;
  event.other_triangle = touch.other_triangle;
  return event;
}

ContactEvent EndOf(const Body& body, const Touch& touch) {
  ContactEvent event;
  event.type = ContactEventType::kEnded;
  event.body = {body.id};
  event.collider = {touch.collider};
  return event;
}

ContactEvent EventOf(const Body& first, const Body& second, ContactEventType type) {
  ContactEvent event;
  event.type = type;
  event.body = {first.id};
  event.other_body = {second.id};
  return event;
}

// Whether the game knows that two bodies touched in the last step.
bool WasReported(const TouchingPair& pair) { return pair.is_reported && pair.end > pair.begin; }

// A body that did not step keeps its touches with the colliders that there are.
void KeepTouches(const StepSettings& settings, Body* body) {
  body->num_found = 0;
  for (const Touch& touch : body->touches.span().first(body->num_touches)) {
    const bool is_there = settings.colliders[SlotOf(touch.collider)].id == touch.collider;
    if (is_there && !touch.is_sensor) body->found[body->num_found++] = touch;
  }
}

}  // namespace

// Completes the bodies' touches of the step, in parallel.
void World::Impl::FindTouches() {
  const JobFunction find = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    Body* body = world.live[index];
    body->lost_sensors = false;
    if (!body->enabled) body->num_found = 0;
    if (!body->enabled || !body->report_contacts) return;
    if (!body->Steps()) KeepTouches(world.settings, body);
    body->lost_sensors = !FindSensors(world.settings, body);
  };
  RunJobs(slots.num_live(), find);
}

// Reports what has changed since the step before, and makes the touches found the body's touches.
void World::Impl::ReportTouches(Body* body) {
  if (body->report_contacts) {
    if (body->lost_sensors) lost_contact_events = true;
    const std::span<const Touch> before = body->touches.span().first(body->num_touches);
    const std::span<Touch> now = body->found.span().first(body->num_found);
    auto old = before.begin();
    for (Touch& touch : now) {
      for (; old != before.end() && Key(*old) < Key(touch); ++old) {
        if (old->is_reported) RecordEvent(EndOf(*body, *old));
      }
      const bool is_same = old != before.end() && Key(*old) == Key(touch);
      touch.is_reported = is_same && old->is_reported;
      old += is_same ? 1 : 0;
      if (body->Steps() || !touch.is_reported) {
        RecordEvent(EventOf(*body, touch, touch.is_reported));
      }
      touch.is_reported = true;
    }
    for (; old != before.end(); ++old) {
      if (old->is_reported) RecordEvent(EndOf(*body, *old));
    }
  }
  std::swap(body->touches, body->found);
  body->num_touches = body->num_found;
}

// Whether the bodies press on each other and one reports that.
bool World::Impl::IsToReport(const TouchingPair& pair) const {
  return pair.presses &&
         (bodies[pair.first]->report_contacts || bodies[pair.second]->report_contacts);
}

// Reports what has changed since the step before, of pairs of which one body reports.
void World::Impl::ReportPairs(std::span<TouchingPair> pairs) {
  const auto event_of = [&](const TouchingPair& pair, ContactEventType type) {
    return EventOf(*bodies[pair.first], *bodies[pair.second], type);
  };
  const auto end_one = [&](const TouchingPair& old) {
    if (WasReported(old)) RecordEvent(event_of(old, ContactEventType::kEnded));
  };
  const std::span<const TouchingPair> before = touching_bodies.Past();
  auto old = before.begin();
  for (TouchingPair& pair : pairs) {
    for (; old != before.end() && old->Key() < pair.Key(); ++old) end_one(*old);
    const bool was_known = old != before.end() && old->Key() == pair.Key() && (old++)->is_reported;
    const bool may_move = MayMove(*bodies[pair.first]) || MayMove(*bodies[pair.second]);
    pair.is_reported = IsToReport(pair);
    if (was_known && !pair.is_reported) {
      RecordEvent(event_of(pair, ContactEventType::kEnded));
    }
    if (!pair.is_reported || (was_known && !may_move)) continue;
    RecordEvent(PairEvent(
        pair, event_of(pair, was_known ? ContactEventType::kStayed : ContactEventType::kBegan)));
  }
  for (; old != before.end(); ++old) end_one(*old);
}

// Fills in what the contacts tell: those of the step, or if both bodies sleep, of their last one.
ContactEvent World::Impl::PairEvent(const TouchingPair& pair, ContactEvent event) const {
  const TouchingBodies& t = touching_bodies;
  double point[3] = {};
  Vec3 normal;
  float strongest = 0.0f;
  const auto add = [&](float pressed, const Vec3& n, const uint32_t(&triangles)[2],
                       const auto& place_along) {
    if (!(pressed > 0.0f)) return;
    for (int k = 0; k < 3; ++k) point[k] += double(pressed) * place_along(k);
    normal += n * pressed;
    event.impulse += pressed;
    if (!(pressed > strongest)) return;
    strongest = pressed;
    event.triangle = triangles[0];
    event.other_triangle = triangles[1];
  };
  const std::span<const TouchingPair> now = t.Current();
  const auto at = std::ranges::lower_bound(now, pair.Key(), {}, &TouchingPair::Key);
  if (at != now.end() && at->Key() == pair.Key() && at->end > at->begin) {
    const Body& body = *bodies[pair.first];
    for (const BodyContact& contact : t.contacts.span().subspan(at->begin, at->end - at->begin)) {
      const Vec3 place = contact.sides[0].point.Of(body.x.span());
      add(contact.pressed, contact.row.plane.normal,
          {contact.sides[0].triangle, contact.sides[1].triangle},
          [&](int k) { return body.origin[k] + double(body.scale) * double((&place.x)[k]); });
    }
  } else {
    for (const PastContact& past : t.ContactsOf(t.PastOf(pair))) {
      const Vec3 place = PlaceOfContact(pair, past).point;
      add(Dot(past.force, past.normal) * settings.dt, past.normal, past.triangles,
          [&](int k) { return double((&place.x)[k]); });
    }
  }
  const double share = event.impulse > 0.0f ? 1.0 / double(event.impulse) : 0.0;
  event.point = {static_cast<float>(point[0] * share), static_cast<float>(point[1] * share),
                 static_cast<float>(point[2] * share)};
  const float length = Length(normal);
  event.normal = length > 0.0f ? normal * (1.0f / length) : Vec3{0.0f, 1.0f, 0.0f};
  if (event.type == ContactEventType::kBegan) event.approach_speed = pair.approach_speed;
  return event;
}

void World::Impl::RecordEvent(const ContactEvent& event) {
  if (num_contact_events == contact_events.size()) {
    lost_contact_events = true;
    return;
  }
  contact_events[num_contact_events++] = event;
}

void World::Impl::KeepEndsOf(const Body& body) {
  const auto keep = [this](const ContactEvent& event) {
    if (num_kept_ends == kept_ends.size()) {
      lost_kept_ends = true;
    } else {
      kept_ends[num_kept_ends++] = event;
    }
  };
  for (const Touch& touch : body.touches.span().first(body.num_touches)) {
    if (touch.is_reported) keep(EndOf(body, touch));
  }
  for (const TouchingPair& pair : touching_bodies.Past()) {
    if ((pair.first != body.slot && pair.second != body.slot) || !WasReported(pair)) continue;
    keep(EventOf(*bodies[pair.first], *bodies[pair.second], ContactEventType::kEnded));
  }
}

void World::Impl::ReportKeptEnds() {
  lost_contact_events = std::exchange(lost_kept_ends, false);
  const uint32_t count = std::exchange(num_kept_ends, 0);
  for (const ContactEvent& end : kept_ends.span().first(count)) RecordEvent(end);
}

std::span<const ContactEvent> World::contact_events() const {
  if (impl_ == nullptr) return {};
  return impl_->contact_events.span().first(impl_->num_contact_events);
}

Status World::SetReportContacts(BodyId id, bool report) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  body->report_contacts = report;
  if (report) return {};
  for (Touch& touch : body->touches) touch.is_reported = false;
  TouchingBodies& t = impl_->touching_bodies;
  for (TouchingPair& pair : t.past_pairs.span().first(t.num_past_pairs)) {
    pair.is_reported = pair.is_reported && impl_->IsToReport(pair);
  }
  return {};
}

bool World::ReportsContacts(BodyId id) const {
  Body* body = nullptr;
  return Impl::FindBody(impl_, id, &body).ok() && body->report_contacts;
}

Status World::ColliderReaction(ColliderId id, Reaction* out_reaction) const {
  Collider* collider = nullptr;
  const Status found = Impl::FindCollider(impl_, id, out_reaction, &collider);
  if (!found.ok()) return found;
  out_reaction->about = collider->desc.pose.position;
  double sums[6] = {};  // in the order of slots
  for (const uint32_t slot : impl_->slots) {
    const Body& body = *impl_->bodies[slot];
    for (const Touch& touch : body.touches.span().first(body.num_touches)) {
      if (touch.collider != id.value) continue;
      const Vec3 &f = touch.force, &t = touch.torque;
      const float numbers[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
      for (int k = 0; k < 6; ++k) sums[k] += double(numbers[k]);
    }
  }
  const auto at = [&](int k) { return static_cast<float>(sums[k]); };
  out_reaction->force = {at(0), at(1), at(2)};
  out_reaction->torque = {at(3), at(4), at(5)};
  return {};
}

BodyContactPoint World::Impl::PlaceOfContact(const TouchingPair& pair,
                                             const PastContact& contact) const {
  const Body* of[2] = {bodies[pair.first], bodies[pair.second]};
  Vec3 at[2];
  for (int k = 0; k < 2; ++k) {
    const EmbeddedPoint point =
        TouchingPointAt(*of[k], contact.triangles[k], contact.u[k], contact.v[k]);
    at[k] = WorldPosition(*of[k], point.Of(of[k]->x.span()));
  }
  return {{{of[0]->id}, {of[1]->id}},
          {contact.triangles[0], contact.triangles[1]},
          (at[0] + at[1]) * 0.5f,
          contact.normal,
          Dot(contact.normal, at[0] - at[1]),
          contact.force};
}

Status World::BodyContacts(std::span<BodyContactPoint> points, uint32_t* out_count) const {
  if (out_count == nullptr) return kNoOutput;
  *out_count = 0;
  if (impl_ == nullptr) return kNoWorld;
  const TouchingBodies& t = impl_->touching_bodies;
  for (const TouchingPair& pair : t.Past()) {
    for (uint32_t k = pair.begin; k < pair.end; ++k) {
      if (IsZero(t.past[k].force)) continue;
      if (*out_count < points.size()) points[*out_count] = impl_->PlaceOfContact(pair, t.past[k]);
      ++*out_count;
    }
  }
  return {};
}

}  // namespace plush
