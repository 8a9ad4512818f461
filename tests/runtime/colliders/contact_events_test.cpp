// SPDX-License-Identifier: MIT
// Events of contacts: what begins, stays and ends, where and how hard.
#include "base/id_layout.h"
#include "runtime/colliders/reported_contacts.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace contact_events_test {

using Type = ContactEventType;

bool AreEqual(const ContactEvent& a, const ContactEvent& b) {
  return a.type == b.type && a.body == b.body && a.collider == b.collider &&
         std::memcmp(&a.point, &b.point, sizeof(Vec3)) == 0 &&
         std::memcmp(&a.normal, &b.normal, sizeof(Vec3)) == 0 && a.impulse == b.impulse &&
         a.approach_speed == b.approach_speed && a.triangle == b.triangle &&
         a.other_body == b.other_body && a.other_triangle == b.other_triangle;
}

// Damped boxes in a row on a plane, whose places are those of slots.
struct Row {
  explicit Row(int count, const WorldDesc& desc = {}, float height = 0.005f, double damping = 0.1)
      : shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, damping}, 0.01), world(desc) {
    plane = AddCollider(&world);
    for (int i = 0; i < count; ++i) {
      bodies.push_back(
          AddBody(&world, shape.asset(), Reporting({static_cast<float>(i), height, 0.0f})));
    }
  }
  void Step(int steps) {
    for (int step = 0; step < steps; ++step) StepWorld(&world, 0.01f);
  }

  ShapeAsset shape;
  World world;
  ColliderId plane;
  std::vector<BodyId> bodies;
};

TEST_CASE("A fall reports one beginning, then that it stays, with the impulse of each step") {
  const bool has_surface = GENERATE(false, true);
  CAPTURE(has_surface);
  SolidScene scene(has_surface, Reporting({0.0f, 0.3f, 0.0f}));
  const ColliderId plane = AddCollider(&scene.world);
  const double mass = MomentsOf(scene.world, scene.body).mass;
  const double hits_at = std::sqrt(2.0 * 9.81 * 0.3);
  int began = 0, ended = 0, first = -1;
  for (int step = 0; step < 300; ++step) {
    const double before = MomentsOf(scene.world, scene.body).linear_momentum[1];
    scene.Step(1);
    if (scene.world.contact_events().empty()) continue;
    const ContactEvent event = TheEvent(scene.world);
    CHECK(event.body == scene.body);
    CHECK(event.collider == plane);
    CHECK_FALSE(event.other_body.valid());
    CHECK(event.other_triangle == ContactEvent::kNoTriangle);
    ended += event.type == Type::kEnded ? 1 : 0;
    if (event.type == Type::kEnded) {
      CHECK(event.impulse == 0.0f);
      continue;
    }
    CHECK(event.normal.y == Approx(1.0f));
    CHECK(std::fabs(event.point.y) < 2e-3f);
    const double after = MomentsOf(scene.world, scene.body).linear_momentum[1];
    CHECK(double(event.impulse) ==
          Approx(after - before + mass * 9.81 * 0.01).epsilon(1e-3).margin(1e-4));
    CHECK(event.triangle < scene.shape.asset().collision().num_triangles());
    if (event.type == Type::kStayed) {
      CHECK(event.approach_speed == 0.0f);
      continue;
    }
    ++began;
    if (first < 0) {
      first = step;
      CHECK(double(event.approach_speed) == Approx(hits_at).epsilon(0.06));
    }
  }
  CHECK(first == 24);  // sqrt(2 0.3 / 9.81) = 0.247 s
  CHECK(began >= 1);
  CHECK(began - ended == 1);
}

TEST_CASE(
    "Bodies that do not report have no events, and the setter takes effect in the next step") {
  SolidScene scene(true, Reporting({0.0f, 0.001f, 0.0f}));
  AddCollider(&scene.world);
  CHECK(scene.world.ReportsContacts(scene.body));
  REQUIRE(scene.world.SetReportContacts(scene.body, false).ok());
  CHECK_FALSE(scene.world.ReportsContacts(scene.body));
  scene.Step(20);
  CHECK(scene.world.contact_events().empty());
  REQUIRE(scene.world.SetReportContacts(scene.body, true).ok());
  scene.Step(1);
  CHECK(TheEvent(scene.world).type == Type::kBegan);
  REQUIRE(scene.world.SetReportContacts(scene.body, false).ok());
  scene.Step(1);
  CHECK(scene.world.contact_events().empty());
  REQUIRE(scene.world.SetReportContacts(scene.body, true).ok());
  scene.Step(1);
  CHECK(TheEvent(scene.world).type == Type::kBegan);
  CHECK(scene.world.SetReportContacts({}, true).code == StatusCode::kNullId);
  CHECK_FALSE(scene.world.ReportsContacts({}));
}

TEST_CASE("Contacts end if the game takes the body or the collider away") {
  Row row(1);
  row.Step(30);
  REQUIRE(TheEvent(row.world).type == Type::kStayed);
  const BodyId body = row.bodies[0];
  SECTION("the collider is removed") {
    REQUIRE(row.world.RemoveCollider(row.plane).ok());
    row.Step(1);
    const ContactEvent event = TheEvent(row.world);
    CHECK(event.type == Type::kEnded);
    CHECK(event.collider == row.plane);
    CHECK(event.triangle == ContactEvent::kNoTriangle);
  }
  SECTION("another one takes its slot") {
    REQUIRE(row.world.RemoveCollider(row.plane).ok());
    const ColliderId next = AddCollider(&row.world);
    REQUIRE(SlotOf(next.value) == SlotOf(row.plane.value));
    row.Step(1);
    const std::vector<ContactEvent> events = EventsOf(row.world);
    REQUIRE(events.size() == 2);
    CHECK(events[0].type == Type::kEnded);
    CHECK(events[0].collider == row.plane);
    CHECK(events[1].type == Type::kBegan);
    CHECK(events[1].collider == next);
  }
  SECTION("the collider's filter changes") {
    REQUIRE(row.world.SetFilter(row.plane, {.mask = 0}).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
  }
  SECTION("the body's filter changes") {
    REQUIRE(row.world.SetFilter(body, {.mask = 0}).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
  }
  SECTION("the body is disabled, and enabled again") {
    REQUIRE(row.world.SetEnabled(body, false).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
    row.Step(1);
    CHECK(row.world.contact_events().empty());
    REQUIRE(row.world.SetEnabled(body, true).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kBegan);
  }
  SECTION("the body is moved away") {
    REQUIRE(row.world.Teleport(body, {{0.0f, 5.0f, 0.0f}}).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
  }
  SECTION("the body is removed") {
    REQUIRE(row.world.RemoveBody(body).ok());
    row.Step(1);
    const ContactEvent event = TheEvent(row.world);
    CHECK(event.type == Type::kEnded);
    CHECK(event.body == body);
    CHECK(event.collider == row.plane);
  }
  SECTION("the body and the collider are removed, and others take their slots") {
    REQUIRE(row.world.RemoveBody(body).ok());
    REQUIRE(row.world.RemoveCollider(row.plane).ok());
    const ColliderId next = AddCollider(&row.world);
    const BodyId other = AddBody(&row.world, row.shape.asset(), Reporting({0.0f, 0.0f, 0.0f}));
    row.Step(1);
    const std::vector<ContactEvent> events = EventsOf(row.world);
    REQUIRE(events.size() == 2);
    CHECK(events[0].type == Type::kEnded);
    CHECK(events[0].body == body);
    CHECK(events[0].collider == row.plane);
    CHECK(events[1].type == Type::kBegan);
    CHECK(events[1].body == other);
    CHECK(events[1].collider == next);
  }
  SECTION("the body no longer reports, then is removed") {
    REQUIRE(row.world.SetReportContacts(body, false).ok());
    REQUIRE(row.world.RemoveBody(body).ok());
    row.Step(1);
    CHECK(row.world.contact_events().empty());
  }
  row.Step(1);
  for (const ContactEvent& event : EventsOf(row.world)) CHECK(event.type != Type::kEnded);
}

TEST_CASE("A body that goes ends its contacts with other bodies and sensors, saved or not") {
  const bool is_saved = GENERATE(false, true), first_goes = GENERATE(false, true);
  const bool first_reports = GENERATE(false, true);
  CAPTURE(is_saved, first_goes, first_reports);
  const ShapeAsset shape(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  WorldDesc desc = {.sleep = {.speed = 0.0f}, .max_pairs = 8};
  World world(desc);
  const ColliderId plane = AddCollider(&world);
  const ColliderId sensor =
      AddCollider(&world, Sensor(BoxAt({{0.1f, 0.3f, 0.1f}}, {0.5f, 0.05f, 0.5f})));
  BodyDesc low = Reporting({0.0f, 0.001f, 0.0f}), high = Reporting({0.02f, 0.203f, 0.01f});
  (first_reports ? high : low).report_contacts = false;
  low.material.damping = high.material.damping = 0.05f;
  const BodyId ids[2] = {AddBody(&world, shape.asset(), low), AddBody(&world, shape.asset(), high)};
  for (int step = 0; step < 50; ++step) StepWorld(&world, 0.01f);
  REQUIRE(world.contact_events().size() == 2);  // of the pair, and of the one that reports
  const BodyId gone = ids[first_goes ? 0 : 1];
  REQUIRE(world.RemoveBody(gone).ok());
  World loaded(desc);
  World* of = &world;
  if (is_saved) {
    const Asset* const assets[] = {&shape.asset()};
    REQUIRE(loaded.LoadState(SavedState(world), assets).ok());
    CHECK(loaded.contact_events().empty());
    of = &loaded;
  }
  StepWorld(of, 0.01f);
  std::vector<ContactEvent> ends = EventsOf(*of);
  std::erase_if(ends, [](const ContactEvent& event) { return event.type != Type::kEnded; });
  // The pair, and what the one that went touched, if it reported.
  const bool reported = first_goes == first_reports;
  REQUIRE(ends.size() == (reported ? 2u : 1u));
  CHECK(ends.back().body == ids[0]);
  CHECK(ends.back().other_body == ids[1]);
  CHECK_FALSE(ends.back().collider.valid());
  if (reported) {
    CHECK(ends[0].body == gone);
    CHECK(ends[0].collider == (first_goes ? plane : sensor));
    CHECK_FALSE(ends[0].other_body.valid());
  }
  for (const ContactEvent& end : ends) {
    CHECK(end.impulse == 0.0f);
    CHECK(end.triangle == ContactEvent::kNoTriangle);
  }
  StepWorld(of, 0.01f);
  for (const ContactEvent& event : EventsOf(*of)) CHECK(event.type != Type::kEnded);
}

TEST_CASE("A state whose ends name bodies or colliders that there never were is refused") {
  Row row(2);
  row.Step(20);
  const BodyId body = row.bodies[1];
  REQUIRE(row.world.RemoveBody(body).ok());
  const std::vector<std::byte> state = SavedState(row.world);
  const uint64_t end[3] = {body.value, 0, row.plane.value};
  const auto* const bytes = reinterpret_cast<const std::byte*>(end);
  const auto at = std::search(state.begin(), state.end(), bytes, bytes + sizeof(end));
  REQUIRE(at != state.end());
  const auto load = [&](const uint64_t(&changed)[3]) {
    std::vector<std::byte> edited = state;
    std::memcpy(&edited[static_cast<size_t>(at - state.begin())], changed, sizeof(changed));
    Reseal(edited);
    const Asset* const assets[] = {&row.shape.asset()};
    World world;
    return world.LoadState(edited, assets);
  };
  CHECK(load({body.value, 0, row.plane.value}).ok());
  CHECK(load({body.value, row.bodies[0].value, 0}).ok());
  const uint64_t far = PackId(7, 1, 0), late = PackId(1, 2, 0), foreign = PackId(1, 1, 3);
  for (const uint64_t wrong : {uint64_t{0}, far, late, foreign}) {
    CAPTURE(wrong);
    for (const Status& status : {load({wrong, 0, row.plane.value}), load({body.value, wrong, 0}),
                                 load({body.value, 0, wrong})}) {
      CHECK(status.code == StatusCode::kCorrupt);
      CHECK(std::strcmp(status.section, "state.ends") == 0);
    }
  }
  CHECK_FALSE(load({body.value, row.bodies[0].value, row.plane.value}).ok());
}

TEST_CASE("Ends of removed bodies beyond the maximum are lost, and a flag says so") {
  const bool is_saved = GENERATE(false, true);
  Row row(5, {.max_contact_events = 3});
  row.Step(20);
  for (const BodyId body : row.bodies) REQUIRE(row.world.RemoveBody(body).ok());
  World loaded({.max_contact_events = 3});
  World few({.max_contact_events = 2});
  World* of = &row.world;
  if (is_saved) {
    const Asset* const assets[] = {&row.shape.asset()};
    REQUIRE(loaded.LoadState(SavedState(row.world), assets).ok());
    REQUIRE(few.LoadState(SavedState(row.world), assets).ok());
    of = &loaded;
    StepWorld(&few, 0.01f);
    CHECK(few.contact_events().size() == 2);
    CHECK((few.stats().flags & kStepEventsLost) != 0);
  }
  StepWorld(of, 0.01f);
  CHECK(of->contact_events().size() == 3);
  CHECK((of->stats().flags & kStepEventsLost) != 0);
  StepWorld(of, 0.01f);
  CHECK(of->contact_events().empty());
  CHECK((of->stats().flags & kStepEventsLost) == 0);
}

TEST_CASE("A sleeping body reports nothing until it wakes, and no second beginning") {
  Row row(1);
  for (int step = 0; step < 2000 && !row.world.IsAsleep(row.bodies[0]); ++step) row.Step(1);
  REQUIRE(row.world.IsAsleep(row.bodies[0]));
  for (int step = 0; step < 5; ++step) {
    row.Step(1);
    CHECK(row.world.contact_events().empty());
  }
  SECTION("it wakes") {
    REQUIRE(row.world.Wake(row.bodies[0]).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kStayed);
  }
  SECTION("it loses its floor") {
    REQUIRE(row.world.RemoveCollider(row.plane).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
  }
  SECTION("a sensor comes and goes, and does not wake it") {
    const ColliderId id = AddCollider(&row.world, Sensor(SphereAt({0.0f, 0.0f, 0.0f}, 0.05f)));
    row.Step(1);
    ContactEvent event = TheEvent(row.world);
    CHECK(event.type == Type::kBegan);
    CHECK(event.collider == id);
    CHECK(event.impulse == 0.0f);
    row.Step(1);
    CHECK(row.world.contact_events().empty());
    REQUIRE(row.world.SetColliderPose(id, {{0.0f, 3.0f, 0.0f}}).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
    REQUIRE(row.world.MoveCollider(id, {{0.0f, 0.0f, 0.0f}}).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kBegan);
    REQUIRE(row.world.RemoveCollider(id).ok());
    row.Step(1);
    CHECK(TheEvent(row.world).type == Type::kEnded);
    CHECK(row.world.IsAsleep(row.bodies[0]));
  }
}

TEST_CASE("A sleeping body reports what it touched last, also in a world that was loaded") {
  Row row(1);
  for (int step = 0; step < 2000 && !row.world.IsAsleep(row.bodies[0]); ++step) row.Step(1);
  REQUIRE(row.world.IsAsleep(row.bodies[0]));
  const std::vector<std::byte> state = SavedState(row.world);
  const auto event_of = [&] {
    REQUIRE(row.world.SetReportContacts(row.bodies[0], false).ok());
    REQUIRE(row.world.SetReportContacts(row.bodies[0], true).ok());
    row.Step(1);
    REQUIRE(row.world.IsAsleep(row.bodies[0]));
    return TheEvent(row.world);
  };
  const ContactEvent event = event_of();
  CHECK(event.type == Type::kBegan);
  CHECK(event.normal.y == Approx(1.0f));
  CHECK(event.impulse > 0.0f);
  const Asset* const assets[] = {&row.shape.asset()};
  REQUIRE(row.world.LoadState(state, assets).ok());
  const ContactEvent loaded = event_of();
  CHECK(AreEqual(loaded, event));
}

TEST_CASE("Of sleeping bodies that touch, calls begin and end contacts") {
  const bool is_fixed = GENERATE(false, true);     // the lower one
  const bool other_moves = GENERATE(false, true);  // elsewhere
  CAPTURE(is_fixed, other_moves);
  const ShapeAsset shape(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  World world({.max_pairs = 8});
  AddCollider(&world);
  BodyDesc low = BodyAt({0.0f, is_fixed ? 0.0f : 0.001f, 0.0f});
  BodyDesc high = BodyAt({0.02f, 0.203f, 0.01f});
  low.fixed = is_fixed;
  low.material.damping = high.material.damping = 0.05f;
  const BodyId ids[2] = {AddBody(&world, shape.asset(), low), AddBody(&world, shape.asset(), high)};
  BodyDesc far = BodyAt({5.0f, 0.5f, 0.0f});
  far.gravity_factor = 0.0f;
  for (int step = 0; step < 2000 && !world.IsAsleep(ids[1]); ++step) StepWorld(&world, 0.01f);
  REQUIRE(world.IsAsleep(ids[1]));
  if (other_moves) {
    const BodyId id = AddBody(&world, shape.asset(), far);
    const std::vector<Vec3> v(shape.num_nodes(), Vec3{0.1f, 0.0f, 0.0f});
    REQUIRE(world.SetNodeVelocities(id, v).ok());
  }
  const auto step = [&] {
    StepWorld(&world, 0.01f);
    REQUIRE(world.IsAsleep(ids[1]) == world.IsEnabled(ids[1]));
  };
  step();
  REQUIRE(world.stats().body_pairs == 1);
  // It says what it touches, with the weight that it bears.
  REQUIRE(world.SetReportContacts(ids[1], true).ok());
  step();
  const ContactEvent began = TheEvent(world);
  CHECK(began.type == Type::kBegan);
  CHECK(began.other_body == ids[1]);
  CHECK(began.impulse == Approx(MomentsOf(world, ids[1]).mass * 9.81 * 0.01).epsilon(0.02));
  CHECK(began.normal.y == Approx(-1.0f).margin(0.01));
  CHECK(began.point.y == Approx(0.2f).margin(0.01));
  CHECK(began.triangle != ContactEvent::kNoTriangle);
  CHECK(began.other_triangle != ContactEvent::kNoTriangle);
  step();
  CHECK(world.contact_events().empty());
  SECTION("one no longer reports") {
    REQUIRE(world.SetReportContacts(ids[1], false).ok());
    step();
    CHECK(world.contact_events().empty());
    CHECK(world.stats().body_pairs == 1);
  }
  SECTION("one is disabled") {
    REQUIRE(world.SetEnabled(ids[1], false).ok());
    if (!is_fixed) REQUIRE_FALSE(world.IsAsleep(ids[0]));
    StepWorld(&world, 0.01f);
    CHECK(TheEvent(world).type == Type::kEnded);
    CHECK(world.stats().body_pairs == 0);
    uint32_t count = 1;
    REQUIRE(world.BodyContacts({}, &count).ok());
    CHECK(count == 0);
  }
}

TEST_CASE("Contact events beyond the maximum are lost, and a flag says so") {
  const uint32_t most = GENERATE(0u, 3u, 5u);
  Row row(5, {.max_contact_events = most});
  row.Step(20);
  CHECK(row.world.contact_events().size() == std::min(most, 5u));
  CHECK(((row.world.stats().flags & kStepEventsLost) != 0) == (most < 5));
  for (size_t i = 0; i < row.world.contact_events().size(); ++i) {
    CHECK(row.world.contact_events()[i].body == row.bodies[i]);
  }
}

}  // namespace contact_events_test
