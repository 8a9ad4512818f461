// SPDX-License-Identifier: MIT
// Bodies that report their contacts, sensors, and what they report.
#pragma once

#include "plush/world.h"

#include <catch2/catch.hpp>

#include <span>
#include <vector>

namespace plush::test {

inline BodyDesc Reporting(const Vec3& position, const Vec3& velocity = {}) {
  return BodyDesc{.pose = {.position = position}, .velocity = velocity, .report_contacts = true};
}

inline ColliderDesc Sensor(ColliderDesc desc) {
  desc.sensor = true;
  return desc;
}

inline std::vector<ContactEvent> EventsOf(const World& world) {
  const std::span<const ContactEvent> events = world.contact_events();
  return {events.begin(), events.end()};
}

/// The only event of a step.
inline ContactEvent TheEvent(const World& world) {
  REQUIRE(world.contact_events().size() == 1);
  return world.contact_events()[0];
}

}  // namespace plush::test
