// SPDX-License-Identifier: MIT
// Events of a run as JSON, against what World reports and what must happen.
#include "simulate/event_record.h"

#include "simulate/scene_state.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace plush::tools::event_record_test {
namespace {

using nlohmann::json;

struct Recorded {
  RunRecord run;
  json document;
};

Recorded Record(const Scene& scene, SceneWorld* world) {
  EventRecord events(world, scene.dt);
  auto run = RunScene(scene, world, [&](const SceneWorld& after, uint32_t step) {
    const size_t expected = step == 0 ? 0 : after.world->contact_events().size();
    CHECK(events.Observe(step));
    const json document = json::parse(events.Document());
    const auto& steps = document["events"];
    const bool is_noted = !steps.empty() && steps.back()["step"] == step;
    const size_t noted = is_noted ? steps.back().value("contacts", json::array()).size() : 0;
    CHECK(noted == expected);
    return true;
  });
  REQUIRE(run.ok());
  events.Finish();
  return {run.value(), json::parse(events.Document())};
}

Scene SceneOf(const std::string& text) {
  const auto scene = ParseScene(text, "");
  if (!scene.ok()) FAIL(scene.error().message);
  return scene.value();
}

}  // namespace

TEST_CASE("Events of a fall say when bodies touch, what they hit, and when they sleep", "[long]") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(R"({"steps":900,"bodies":[
      {"asset":")" + tests::WriteBall(folder) +
                        R"(","count":2,"position":[0,0.5,0],"material":{"damping":0.1}}],
      "colliders":[{"plane":{},"pose":{"position":[0,-50,0]}},{"plane":{}}]})");
  SceneWorld world = BuildOrFail(scene);
  const Recorded recorded = Record(scene, &world);
  const json& document = recorded.document;
  CHECK(document["steps"] == 900);
  CHECK(document["dt"] == 0.01);
  CHECK(document["bodies"] == json({"ball.0", "ball.1"}));
  CHECK(document["lost"].empty());
  std::map<size_t, std::string> state;  // of the contact with the plane, by body
  std::set<size_t> asleep;
  uint32_t last = 0;
  for (const json& step : document["events"]) {
    INFO(step.dump());
    CHECK(step["step"] > last);
    last = step["step"];
    CHECK(step["time_s"].get<double>() == Approx(0.01 * last));
    for (const json& contact : step.value("contacts", json::array())) {
      const size_t body = contact["body"];
      const std::string type = contact["type"];
      CHECK(contact["collider"] == 1);
      CHECK_FALSE(contact.contains("other_body"));
      const bool touched = !state[body].empty() && state[body] != "ended";
      CHECK(touched == (type != "began"));
      CHECK(contact.contains("approach_m_s") == (type == "began"));
      if (state[body].empty()) {  // it falls from 0.5 m: v^2 = 2 g h
        CHECK(type == "began");
        CHECK(contact["approach_m_s"].get<double>() == Approx(3.13).margin(0.15));
        CHECK(contact["normal"][0] == 0.0);
        CHECK(contact["normal"][1].get<double>() == Approx(1.0).epsilon(1e-6));  // a mean
        CHECK(contact["normal"][2] == 0.0);
        CHECK(contact["impulse_n_s"] > 0.0);
      }
      if (type == "ended") CHECK_FALSE(contact.contains("point"));
      state[body] = type;
    }
    for (const json& body : step.value("bodies", json::array())) {
      CHECK(body["type"] == "slept");
      asleep.insert(body["body"].get<size_t>());
    }
    CHECK_FALSE(step.contains("attachments"));
  }
  CHECK(state.size() == 2);
  CHECK(asleep == std::set<size_t>{0, 1});
}

TEST_CASE("Events name the other body and the attachment that broke") {
  const tests::TemporaryFolder folder;
  const std::string ball = tests::WriteBall(folder);
  Scene scene = SceneOf(R"({"steps":120,"bodies_touch":true,"bodies":[
      {"asset":")" + ball +
                        R"("}, {"asset":")" + ball +
                        R"(","position":[0,1.2,0],"gravity_factor":0.5}],
      "colliders":[{"plane":{},"pose":{"position":[0,0.1,0]}}],
      "attachments":[{"body":0,"at":[0.5,1,0.5],"target":[0.5,1,0.5],"stiffness":10},
                     {"body":1,"at":[0.5,2.2,0.5],"target":[0.5,3,0.5],
                      "rest_length":0.8,"stiffness":1e4,"break_force":1000}]})");
  SceneWorld world = BuildOrFail(scene);
  const json document = Record(scene, &world).document;
  std::set<std::string> broken, touched;
  for (const json& step : document["events"]) {
    for (const json& event : step.value("attachments", json::array())) {
      broken.insert(event["attachment"].dump() + " of " + event["body"].dump());
      CHECK(event["force_n"][1] > 1000.0);
    }
    for (const json& contact : step.value("contacts", json::array())) {
      if (contact.contains("other_body")) {
        touched.insert(contact["body"].dump() + " " + contact["other_body"].dump());
        CHECK_FALSE(contact.contains("collider"));
        if (contact["type"] != "ended") CHECK(contact.contains("other_triangle"));
      }
    }
  }
  CHECK(broken == std::set<std::string>{"1 of 1"});
  CHECK(touched == std::set<std::string>{"0 1"});
}

TEST_CASE("Recording events changes neither the run nor the state after it") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(R"({"steps":80,"bodies":[{"asset":")" + tests::WriteBall(folder) +
                        R"("}],"colliders":[{"plane":{}}]})");
  SceneWorld with = BuildOrFail(scene), without = BuildOrFail(scene);
  const Recorded recorded = Record(scene, &with);
  const RunRecord run = RunOrFail(scene, &without);
  CHECK(recorded.run.state_hash == run.state_hash);
  CHECK_FALSE(with.world->ReportsContacts(with.bodies[0].id));
  CHECK_FALSE(recorded.document["events"].empty());
}

TEST_CASE("A record of events ends at its limit, and one of none is a document") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(R"({"steps":60,"bodies":[{"asset":")" + tests::WriteBall(folder) +
                        R"(","position":[0,0.1,0]}],"colliders":[{"plane":{}}]})");
  SceneWorld world = BuildOrFail(scene);
  EventRecord events(&world, scene.dt);
  CHECK(events.Observe(0));
  CHECK(json::parse(events.Document())["events"].empty());
  uint32_t last = 0;
  auto run = RunScene(scene, &world, [&](const SceneWorld&, uint32_t step) {
    last = step;
    return events.Observe(step, 1000);
  });
  CHECK(last > 10);
  CHECK(last < 60);
  CHECK(json::parse(events.Document())["events"].size() > 3);
}

}  // namespace plush::tools::event_record_test
