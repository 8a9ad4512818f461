// SPDX-License-Identifier: MIT
// Bodies and what they fall on: each kind of collider, still and moving, friction, restitution, the
// solvers, sleep.
#include "golden/scene_parts.h"

#include <array>

namespace plush::golden {

namespace {

float MixFriction(float body, uint64_t body_data, float other, uint64_t) {
  return 0.25f * (body < 0.0f ? 1.0f : body) + (other < 0.0f ? 0.0f : other) +
         0.1f * static_cast<float>(body_data);
}

constexpr Scene kOnColliders[] = {
    {"drop_bear", 200,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("bear", {.pose = {{0, 0.2f, 0}}});
     }},
    {"thrown_into_corner",
     120,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.plane = {{1, 0.5f, 0}, -0.5f}, .friction = 0.2f});
       s.Add({.type = ShapeType::kSphere, .sphere = {0.3f}, .pose = {{0.3f, 0, 0.5f}}});
       s.Add("bear", {.pose = {{0, 0.8f, 0}, {0.3f, 0.1f, 0.5f, 0.8f}},
                      .velocity = {-1, -14, 0},
                      .angular_velocity = {3, -2, 1},
                      .material = {.young = 2e4f}});
       s.Add("octopus", {.pose = {{2, 1.5f, 0}}, .velocity = {-10, -28, 0}});
     },
     nullptr,
     {},
     0.01f,
     5},
    {"friction_on_ramp", 200,
     [](Stage& s) {
       const PlaneShape ramp = {{-0.342f, 0.94f, 0}, 0};
       s.Add({.plane = ramp, .friction = 0.75f, .filter = {.mask = 1}});
       s.Add({.plane = ramp, .friction = 0.1f, .filter = {.mask = 2}});
       for (const uint32_t category : {1u, 2u, 4u}) {
         s.Add("octopus",
               {.pose = {{0, 0.02f, 1.2f * category}, kUphill}, .filter = {.category = category}});
       }
     },
     [](Stage& s, int step) {
       if (step == 100) s.Do(s.world->SetFilter(s.bodies[2], {.category = 1}));
       if (step == 150) s.Do(s.world->SetColliderFriction(s.colliders[0], 0.05f));
     }},
    {"friction_mixed",
     120,
     [](Stage& s) {
       s.Add({.plane = {{0.3f, 1, 0}}, .friction = 0.1f});
       for (int i = 0; i < 4; ++i) {
         s.Add("cube", {.pose = {{0, 0.75f, 1.5f * i}, {0, 0, -0.146f, 0.989f}},
                        .material = {.friction = 0.2f * i},
                        .user_data = static_cast<uint64_t>(i)});
       }
     },
     nullptr,
     {.mix_friction = MixFriction}},
    {"bounce",
     120,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kBox,
              .box = {{0.5f, 0.1f, 0.5f}},
              .pose = {{2, 0.1f, 0}, {0, 0, 0.1f, 1}},
              .restitution = 0.9f});
       for (int i = 0; i < 3; ++i) {
         s.Add("cube", {.pose = {{2.0f * i, 1.2f, 0}, {0.1f * i, 0, 0, 1}},
                        .scale = 0.5f + 0.5f * i,
                        .velocity = {0, -3, 0},
                        .material = {.young = 1e6f, .restitution = 0.4f * i}});
       }
     },
     [](Stage& s, int step) {
       if (step == 80) s.Do(s.world->SetColliderRestitution(s.colliders[1], 0.2f));
     },
     {},
     0.01f,
     25},
    {"steps_ball_rail", 200,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 3; ++i) {
         const float high = 0.5f - 0.2f * i;
         s.Add({.type = ShapeType::kBox,
                .box = {{0.15f, high, 0.6f}},
                .pose = {{-0.35f + 0.3f * i, high, 0}}});
       }
       s.Add({.type = ShapeType::kSphere, .sphere = {0.4f}, .pose = {{1.5f, 0.3f, 0.05f}}});
       s.Add({.type = ShapeType::kCapsule,
              .capsule = {0.5f, 0.1f},
              .pose = {{0.9f, 0.1f, 0}, {0.7f, 0, 0, 0.7f}}});
       s.Add("duck", {.pose = {{0, 1.2f, 0}}});
       s.Add("bear", {.pose = {{1.6f, 0.9f, 0}}});
     },
     [](Stage& s, int step) {
       if (step == 105) s.Do(s.world->RemoveBody(s.bodies[1]));
       if (step == 110) s.Add("bear", {.pose = {{1.4f, 0.9f, 0}}});
     }},
    {"press", 260,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.plane = {{0, -1, 0}}, .pose = {{0, 0.8f, 0}}});
       s.Add("bear", {.pose = {{-1, 0.002f, 0}}});
       s.Add("duck", {.pose = {{0, 0.002f, 0}}});
       s.Add("octopus", {.pose = {{1.2f, 0.002f, 0}}});
     },
     [](Stage& s, int step) {
       const float height = step < 110   ? 0.8f - 0.005f * step
                            : step < 160 ? 0.25f
                                         : 0.25f + 0.005f * (step - 160);
       s.Do(s.world->MoveCollider(s.colliders[1], {{0, height, 0}}));
     }},
    {"platform", 200,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kBox,
              .box = {{0.5f, 0.1f, 0.5f}},
              .pose = {{0, 0.1f, 0}},
              .friction = 1});
       s.Add("bear", {.pose = {{0, 0.202f, 0}}});
     },
     [](Stage& s, int step) {
       if (step < 60) return;
       const float t = 0.01f * (step - 60);
       s.Do(s.world->MoveCollider(
           s.colliders[1], {{0.4f * t * t, 0.1f + 0.1f * t, 0.1f * t}, {0, -0.3f * t, 0, 1}}));
     }},
    {"kick", 150,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kCapsule,
              .capsule = {0.3f, 0.08f},
              .pose = {{-2.2f, 0.3f, -0.2f}, {0.26f, 0, 0, 0.97f}},
              .velocity = {4, 0, 0.1f},
              .angular_velocity = {0, 1, 0}});
       s.Add("octopus", {.pose = {{-1, 0.002f, 0}}});
       s.Add("octopus", {.pose = {{0.2f, 0.002f, 0}}});
     },
     [](Stage& s, int step) {
       if (step == 100) s.Do(s.world->SetColliderVelocity(s.colliders[1], {-3, 0, 0}, {}));
       if (step == 130) s.Do(s.world->SetColliderPose(s.colliders[1], {{0, 3, 0}}));
       if (step == 140) s.Do(s.world->RemoveCollider(s.colliders[1]));
     }},
    {"conveyor_and_sensors", 250,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kBox,
              .box = {{1.8f, 0.1f, 0.4f}},
              .pose = {{0, 0.1f, 0}},
              .friction = 1,
              .surface_velocity = {0.8f, 0, 0}});
       for (const float x : {-1.2f, 0.0f, 0.6f}) {
         s.Add({.type = ShapeType::kBox,
                .box = {{0.05f, 0.4f, 0.4f}},
                .pose = {{x, 0.6f, 0}},
                .sensor = true});
       }
       s.Add("bear", {.pose = {{0, 0.202f, 0}}, .report_contacts = true});
       s.Add("duck", {.pose = {{-1.2f, 0.202f, 0}}, .report_contacts = true});
     },
     [](Stage& s, int step) {
       const Vec3 back = {-0.5f, 0, 0.2f};
       if (step == 100) s.Do(s.world->SetColliderSurfaceVelocity(s.colliders[1], back));
       if (step == 200) s.Do(s.world->SetReportContacts(s.bodies[1], false));
     }},
    {"height_field", 250,
     [](Stage& s) {
       static const std::array<float, 13 * 11> heights = [] {
         std::array<float, 13 * 11> h{};
         for (int i = 0; i < 13 * 11; ++i) {
           h[static_cast<size_t>(i)] = 0.06f * static_cast<float>((i * 7 + i / 13 * 3) % 5);
         }
         return h;
       }();
       ColliderDesc hills = {.type = ShapeType::kHeightField, .pose = {{-1.5f, 0, -1.2f}}};
       hills.height_field = {heights, 13, 11, 0.25f};
       s.Add(hills);
       s.Add("bear", {.pose = {{0, 0.4f, 0}}, .velocity = {1, 0, 0.3f}, .report_contacts = true});
       s.Add("octopus", {.pose = {{-0.6f, 0.8f, 0}}, .velocity = {0, -1, 0}});
     }},
    {"static_mesh", 250,
     [](Stage& s) {
       ColliderDesc hills = {.type = ShapeType::kMesh};
       hills.mesh = {&s.assets["hills"]};
       s.Add(hills);
       s.Add("bear", {.pose = {{2, 0.9f, 0}}, .velocity = {1, 0, 0.3f}, .report_contacts = true});
       s.Add("duck", {.pose = {{1, 1.4f, 1}}, .velocity = {0, -2, 0}});
     }},
    {"moving_mesh_and_hull", 160,
     [](Stage& s) {
       static const Vec3 points[] = {{-0.4f, 0, -0.3f}, {0.4f, 0, -0.3f}, {0.4f, 0, 0.3f},
                                     {-0.4f, 0, 0.3f},  {0, 0.35f, 0},    {0.1f, -0.3f, 0.1f}};
       ColliderDesc hull = {
           .type = ShapeType::kHull, .pose = {{0, 0.2f, 0}}, .angular_velocity = {0, 2, 0.3f}};
       hull.hull = HullShape(points);
       s.Add(hull);
       ColliderDesc duck = {.type = ShapeType::kMesh,
                            .pose = {{2, 0, 0}, {0, 0, 0.2f, 1}},
                            .velocity = {0.1f, 0.3f, 0}};
       duck.mesh = {&s.assets["duck"], 1.5f};
       s.Add(duck);
       s.Add(Floor());
       s.Add("bear", {.pose = {{0, 0.7f, 0}}, .report_contacts = true});
       s.Add("octopus", {.pose = {{2, 1.1f, 0}}, .report_contacts = true});
     },
     [](Stage& s, int step) {
       const float t = 0.01f * (step - 60);
       if (step < 60) return;
       s.Do(s.world->MoveCollider(s.colliders[0], {{0.5f * t, 0.2f, 0}, {0, t, 0, 1}}));
       s.Do(s.world->MoveCollider(s.colliders[1], {{2, 0.2f * t, 0}, {0, 0, 0.2f, 1}}));
     }},
    {"deep_start",
     150,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kBox, .box = {{0.3f, 0.3f, 0.3f}}, .pose = {{2, 0.2f, 0}}});
       s.Add({.type = ShapeType::kSphere, .sphere = {0.3f}, .pose = {{4, 0.2f, 0}}});
       s.Add("bear", {.pose = {{0, -0.15f, 0}}});
       s.Add("bear", {.pose = {{2.2f, 0.3f, 0}}});
       s.Add("octopus", {.pose = {{4, 0.3f, 0.1f}}, .material = {.damping = 0.02f}});
     },
     nullptr,
     {.contact = {.push_out_time = 0.1f}}},
    {"few_contacts",
     120,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("octopus", {.pose = {{0, 0.1f, 0}}, .velocity = {0, -4, 0}});
       s.Add("cube", {.pose = {{2, 0.5f, 0}}, .velocity = {0, -2, 0}});
     },
     nullptr,
     {.contact = {.iterations = 2, .sweeps = 4, .max_substeps = 2}, .max_contacts = 12}},
    {"nodes_only", 150,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kSphere, .sphere = {0.3f}, .pose = {{0.4f, 0.1f, 0}}});
       for (int i = 0; i < 3; ++i) {
         s.Add("bar", {.pose = {{0.6f * i, 0.8f, 0}, {0.2f, 0.1f * i, 0.4f, 0.9f}},
                       .material = {.young = 2e5f}});
       }
     }},
    {"sleep_and_wake",
     500,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kSphere, .sphere = {0.2f}, .pose = {{3, 0.2f, 0}}});
       for (int i = 0; i < 4; ++i) {
         s.Add("bear", {.pose = {{1.0f * i, 0.01f, 0}}, .material = {.damping = 0.3f}});
       }
     },
     [](Stage& s, int step) {
       if (step == 300) s.Do(s.world->Wake(s.bodies[0]));
       if (step == 320) s.Do(s.world->AddImpulse(s.On(s.bodies[1], {1, 1, 0}), {2, 0, 0}));
       if (step == 340) s.Do(s.world->MoveCollider(s.colliders[1], {{2.97f, 0.2f, 0}}));
       if (step == 360) s.Add("bear", {.pose = {{2, 1, 0}}});
       if (step == 400) s.Do(s.world->SetGravity({0.5f, -9, 0}));
     },
     {.sleep = {.speed = 0.02f, .time = 0.3f}},
     0.01f,
     100},
    {"implicit_drop", 100,
     [](Stage& s) {
       static const BodySolver plain = ImplicitSolver();
       static const BodySolver dragged =
           ImplicitSolver({.newton_iterations = 2, .mass_damping = 1.0f});
       s.Add(Floor());
       s.Add("bear", {.pose = {{0, 0.2f, 0}}, .solver = &plain});
       s.Add("bear", {.pose = {{1, 0.2f, 0}}, .solver = &dragged});
       s.Add("duck", {.pose = {{2, 0.2f, 0}}});
     },
     [](Stage& s, int step) {
       if (step == 40) s.Do(s.world->SetSolver(s.bodies[2], ImplicitSolver()));
       if (step == 60) s.Do(s.world->SetSolver(s.bodies[0], SplittingSolver()));
     }},
    {"time_steps", 150,
     [](Stage& s) {
       s.Do(s.world->PrepareTimeStep(1.0f / 60));
       s.Do(s.world->PrepareTimeStep(0.004f));
       s.Do(s.world->PrepareTimeStep(kLeastTimeStep));
       s.Add(Floor());
       for (int i = 0; i < 8; ++i) {
         s.Add("bear", {.pose = {{1.0f * i, 0.4f * i, 0}}, .velocity = {0.5f, 0, 0}});
       }
     },
     [](Stage& s, int step) {
       s.TakeSteps(step == 60       ? kLeastTimeStep
                   : step % 50 < 20 ? 0.01f
                   : step % 2 == 0  ? 1.0f / 60
                                    : 0.004f);
     }},
    {"large_bodies", 20,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("bear_fine", {.pose = {{0, 0.01f, 0}}, .velocity = {0, -2, 0}});
       s.Add("bear_fine", {.pose = {{2, 0.01f, 0}}, .material = {.damping = 0.05f}});
     },
     [](Stage& s, int step) {
       if (step == 4) s.Do(s.world->RemoveBody(s.bodies[1]));
     }},
    {"stiff_and_light_on_corner", 200,
     [](Stage& s) {
       s.Add(Floor());
       const Quat corner = {0.3f, 0.2f, 0.25f, 1};
       s.Add("cube", {.pose = {{0, 1.5f, 0}, corner}, .material = {.young = 1e8f}});
       s.Add("cube", {.pose = {{3, 0.1f, 0}, corner},
                      .scale = 0.03f,
                      .material = {.young = 1e5f, .density = 100, .damping = 0.15f}});
       s.Add("puppet", {.pose = {{6, 1.5f, 0}, corner}, .material = {.young = 1e8f}});
     }},
};

}  // namespace

std::span<const Scene> ColliderScenes() { return kOnColliders; }

}  // namespace plush::golden
