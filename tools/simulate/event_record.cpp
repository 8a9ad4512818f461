// SPDX-License-Identifier: MIT
// Writes each step as a line at once: a document of many events as a tree would take ten times the
// memory.
#include "simulate/event_record.h"

#include "plush/version.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;

const char* NameOf(ContactEventType type) {
  switch (type) {
    case ContactEventType::kBegan:
      return "began";
    case ContactEventType::kStayed:
      return "stayed";
    case ContactEventType::kEnded:
      return "ended";
  }
  return "";
}

const char* NameOf(BodyEventType type) {
  switch (type) {
    case BodyEventType::kSlept:
      return "slept";
    case BodyEventType::kWoke:
      return "woke";
    case BodyEventType::kFroze:
      return "froze";
  }
  return "";
}

json NumbersOf(const Vec3& v) { return {v.x, v.y, v.z}; }

}  // namespace

EventRecord::EventRecord(SceneWorld* scene_world, double dt) : scene_world_(scene_world), dt_(dt) {
  for (const ColliderId id : scene_world->colliders) {
    colliders_.emplace(id.value, colliders_.size());
  }
  for (const SceneWorldAttachment& attachment : scene_world->attachments) {
    attachments_.emplace(attachment.id.value, attachment.index);
  }
  for (const SceneWorldBody& body : scene_world->bodies) {
    bodies_.emplace(body.id.value, bodies_.size());
    reported_.push_back(scene_world->world->ReportsContacts(body.id));
    (void)scene_world->world->SetReportContacts(body.id, true);  // refuses unknown bodies only
  }
}

json EventRecord::Contacts() const {
  json contacts = json::array();
  for (const ContactEvent& event : scene_world_->world->contact_events()) {
    json contact = {{"type", NameOf(event.type)}, {"body", bodies_.at(event.body.value)}};
    if (event.other_body.valid()) {
      contact["other_body"] = bodies_.at(event.other_body.value);
    } else {
      contact["collider"] = colliders_.at(event.collider.value);
    }
    if (event.type != ContactEventType::kEnded) {
      contact["point"] = NumbersOf(event.point);
      contact["normal"] = NumbersOf(event.normal);
      contact["impulse_n_s"] = event.impulse;
    }
    if (event.type == ContactEventType::kBegan) contact["approach_m_s"] = event.approach_speed;
    if (event.triangle != ContactEvent::kNoTriangle) contact["triangle"] = event.triangle;
    if (event.other_triangle != ContactEvent::kNoTriangle) {
      contact["other_triangle"] = event.other_triangle;
    }
    contacts.push_back(std::move(contact));
  }
  return contacts;
}

json EventRecord::Bodies() const {
  json bodies = json::array();
  for (const BodyEvent& event : scene_world_->world->body_events()) {
    bodies.push_back({{"type", NameOf(event.type)}, {"body", bodies_.at(event.body.value)}});
  }
  return bodies;
}

json EventRecord::Attachments() const {
  json attachments = json::array();
  for (const AttachmentEvent& event : scene_world_->world->attachment_events()) {
    attachments.push_back({{"attachment", attachments_.at(event.attachment.value)},
                           {"body", bodies_.at(event.body.value)},
                           {"force_n", NumbersOf(event.force)}});
  }
  return attachments;
}

bool EventRecord::Observe(uint32_t step, size_t most_bytes) {
  steps_ = step;
  if (step == 0) return true;
  if ((scene_world_->world->stats().flags & kStepEventsLost) != 0) lost_.push_back(step);
  json events = json::object();
  const auto add = [&events](const char* name, json part) {
    if (!part.empty()) events[name] = std::move(part);
  };
  add("contacts", Contacts());
  add("bodies", Bodies());
  add("attachments", Attachments());
  if (events.empty()) return true;
  events["step"] = step;
  events["time_s"] = scene_world_->clock.After(0, dt_);
  lines_ += (lines_.empty() ? "\n  " : ",\n  ") + events.dump();
  return lines_.size() <= most_bytes;
}

void EventRecord::Finish() {
  for (size_t i = 0; i < reported_.size(); ++i) {
    (void)scene_world_->world->SetReportContacts(scene_world_->bodies[i].id, reported_[i]);
  }
}

std::string EventRecord::Document() const {
  json names = json::array();
  for (const SceneWorldBody& body : scene_world_->bodies) names.push_back(body.name);
  return "{\n \"tool_version\": " + json(kVersionString).dump() +
         ",\n \"dt\": " + json(dt_).dump() + ",\n \"steps\": " + json(steps_).dump() +
         ",\n \"bodies\": " + names.dump() + ",\n \"lost\": " + json(lost_).dump() +
         ",\n \"events\": [" + lines_ + (lines_.empty() ? "]\n}\n" : "\n ]\n}\n");
}

}  // namespace plush::tools
