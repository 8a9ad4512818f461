// SPDX-License-Identifier: MIT
// Bodies that touch each other.
#include "golden/scene_parts.h"

namespace plush::golden {

namespace {

void AddPit(Stage* s) {
  s->Add(Floor());
  for (const Vec3& normal :
       {Vec3{1, 0.2f, 0}, Vec3{-1, 0.2f, 0}, Vec3{0, 0.2f, 1}, Vec3{0, 0.2f, -1}}) {
    s->Add({.plane = {normal, -0.6f}});
  }
}

void AddLayer(Stage* s, const char* asset, float height, int count, const BodyDesc& like = {}) {
  for (int i = 0; i < count; ++i) {
    BodyDesc desc = like;
    desc.pose = {{0.7f * (i % 2) - 0.35f, height, 0.7f * (i / 2) - 0.35f},
                 RandomTurn(static_cast<uint32_t>(i))};
    s->Add(asset, desc);
  }
}

constexpr Scene kTouching[] = {
    {"heap_passing_through", 200,
     [](Stage& s) {
       AddPit(&s);
       AddLayer(&s, "bear", 0.5f, 4);
       AddLayer(&s, "duck", 1.2f, 4);
       AddLayer(&s, "octopus", 2, 2);
     }},
    {"pile",
     200,
     [](Stage& s) {
       AddPit(&s);
       AddLayer(&s, "bear", 0.5f, 4, {.report_contacts = true});
       AddLayer(&s, "duck", 1.3f, 2);
       AddLayer(&s, "octopus", 2, 1);
     },
     nullptr,
     {.max_pairs = 64}},
    {"stack_of_cubes",
     200,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 4; ++i) {
         s.Add("cube", {.pose = {{0.1f * (i % 2), 0.51f + 1.02f * i, 0}},
                        .material = {.young = i % 2 == 0 ? 1e6f : 1e5f}});
       }
     },
     nullptr,
     {.max_pairs = 16}},
    {"pile_of_cubes",
     30,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.plane = {{1, 1, 0}, -1.5f}, .friction = 0.2f});
       for (int i = 0; i < 66; ++i) {
         const auto seed = static_cast<uint32_t>(i);
         s.Add("cube", {.pose = {{1.01f * (i % 3), 0.52f + 1.0f * (i / 9), 1.01f * (i / 3 % 3)}},
                        .velocity = RandomVector(seed),
                        .material = {.young = i % 4 == 0 ? 1e6f : 1e5f, .restitution = 0.3f}});
       }
     },
     nullptr,
     {.max_pairs = 512}},
    {"swarm",
     40,
     [](Stage& s) {
       for (int i = 0; i < 27; ++i) {
         const Vec3 at = {1.0f * (i % 3 - 1), 1.0f * (i / 3 % 3 - 1), 1.0f * (i / 9 - 1)};
         const auto seed = static_cast<uint32_t>(i);
         const Vec3 noise = RandomVector(seed);
         s.Add("cube", {.pose = {{2 * at.x, 2 * at.y + 0.1f * noise.y, 2 * at.z}, RandomTurn(seed)},
                        .velocity = {-8 * at.x + noise.x, -8 * at.y, -8 * at.z + noise.z}});
       }
     },
     nullptr,
     {.gravity = {}, .max_pairs = 256}},
    {"fast_pair",
     60,
     [](Stage& s) {
       s.Add("bear", {.pose = {{-1, 1, 0}}, .velocity = {15, 0, 0}});
       s.Add("bear", {.pose = {{1, 1.1f, 0}, {0, 0, 1, 1}}, .velocity = {-15, 0, 0}});
       s.Add("octopus", {.pose = {{0, 3, 0}}, .velocity = {0, -20, 0}});
     },
     nullptr,
     {.gravity = {}, .max_pairs = 8}},
    {"deep_pair",
     100,
     [](Stage& s) {
       s.Add("bear", {.pose = {{0, 1, 0}}, .report_contacts = true});
       s.Add("duck", {.pose = {{0.12f, 1.1f, 0.05f}}, .material = {.damping = 0.05f}});
     },
     nullptr,
     {.gravity = {}, .max_pairs = 8}},
    {"joined_bodies",
     200,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("bear", {.pose = {{0, 0.5f, 0}}});
       s.Add("duck", {.pose = {{0.8f, 0.5f, 0}}});
       AttachmentDesc joint = s.JointAt(s.bodies[0], s.bodies[1], {0.4f, 0.8f, 0});
       joint.stiffness = 3000, joint.damping = 20, joint.break_force = 100;
       s.Attach(joint);
     },
     [](Stage& s, int step) {
       if (step == 120) s.Do(s.world->AddVelocity(s.On(s.bodies[1], {2, 0.5f, 0}), {8, 3, 0}));
     },
     {.max_pairs = 8}},
    {"implicit_touches",
     100,
     [](Stage& s) {
       static const BodySolver solver = ImplicitSolver();
       s.Add(Floor());
       const auto feet = s.NodesIn("bear", {-9, -9, -9}, {9, 0.12f, 9});
       s.Add("bear", {.pinned_nodes = feet});
       s.Add("bear", {.pose = {{0, 0.65f, 0}}, .velocity = {0, -1, 0}, .solver = &solver});
       s.Add("duck", {.pose = {{0.05f, 1.3f, 0}}, .velocity = {0, -1, 0}});
     },
     nullptr,
     {.max_pairs = 8}},
    {"pile_sleeps",
     500,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 3; ++i) {
         s.Add("cube", {.pose = {{0, 0.51f + 1.02f * i, 0}}, .material = {.damping = 0.2f}});
       }
     },
     [](Stage& s, int step) {
       if (step == 400) s.Do(s.world->AddImpulse(s.On(s.bodies[2], {9, 2.6f, 0}), {-900, 0, 0}));
     },
     {.sleep = {.speed = 0.02f, .time = 0.3f}, .max_pairs = 8}},
    {"filters_and_room",
     120,
     [](Stage& s) {
       s.Add(Floor());
       AddLayer(&s, "bear", 0.4f, 4, {.filter = {.group = -1}});
       AddLayer(&s, "bear", 1.1f, 4, {.filter = {.group = 2}});
     },
     nullptr,
     {.max_contacts = 24, .max_pairs = 4}},
    {"stack_and_removal",
     120,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 4; ++i) {
         s.Add("cube", {.pose = {{0.03f * i, 0.51f + 1.02f * i, 0.02f * i}}});
       }
       s.Add("cube", {.pose = {{3, 1, 0}}, .fixed = true});
       s.Add("bar", {.pose = {{3, 1.6f, 0}, {0, 0, 1, 1}}});
       s.Add("cube", {.pose = {{3, 2.3f, 0}}});
     },
     [](Stage& s, int step) {
       if (step == 59) s.Do(s.world->RemoveBody(s.bodies[1]));
       if (step == 60) s.Do(s.world->RemoveBody(s.bodies[4]));
     },
     {.max_pairs = 16}},
    {"slide_on_fixed",
     80,
     [](Stage& s) {
       s.Add("cube", {.scale = 4, .material = {.friction = 0}, .fixed = true});
       s.Add("cube", {.pose = {{0, 2.5f, 0}}, .material = {.friction = 0}});
     },
     [](Stage& s, int step) {
       if (step == 30) s.Do(s.world->AddVelocity(s.On(s.bodies[1], {0, 9, 0}), {0.3f, 0, 0.1f}));
     },
     {.gravity = {0, -2, 0}, .sleep = {.speed = 0}, .max_pairs = 4}},
    {"collide_and_bounce",
     60,
     [](Stage& s) {
       for (int i = 0; i < 4; ++i) {
         const float side = i % 2 == 0 ? -1.0f : 1.0f;
         const bool bounces = i < 2;
         s.Add("cube", {.pose = {{0.6f * side, 0.2f * i, 3.0f * (i / 2)}},
                        .velocity = {-2 * side, 0, 0},
                        .material = {.young = 1e6f,
                                     .friction = bounces ? 0.3f : 0,
                                     .restitution = bounces ? 0.8f : 0}});
       }
     },
     nullptr,
     {.gravity = {}, .max_pairs = 8},
     0.01f,
     8},
    {"implicit_piles",
     80,
     [](Stage& s) {
       static const BodySolver exact = ImplicitSolver({.differential = StressDifferential::kExact});
       static const BodySolver plain = ImplicitSolver();
       s.Add(Floor());
       for (int i = 0; i < 6; ++i) {
         s.Add("cube", {.pose = {{2.0f * (i / 3), 0.51f + 1.02f * (i % 3), 0}},
                        .solver = i % 3 == 0   ? nullptr
                                  : i % 2 == 0 ? &exact
                                               : &plain});
       }
     },
     [](Stage& s, int step) {
       if (step == 5) s.Do(s.world->SetSolver(s.bodies[0], ImplicitSolver()));
     },
     {.sleep = {.speed = 0}, .max_pairs = 16}},
    {"chain_of_both_solvers",
     80,
     [](Stage& s) {
       static const BodySolver implicit = ImplicitSolver();
       s.Add({.plane = {{0, 1, 0}, -2.5f}});
       for (int i = 0; i < 5; ++i) {
         const Vec3 at = {1.3f * i, 0, 0};
         const BodyId id =
             s.Add("cube", {.pose = {at}, .solver = i % 2 == 1 ? &implicit : nullptr});
         const Vec3 end = {at.x - 0.6f, 0, 0};
         AttachmentDesc joint =
             i == 0 ? s.SpringAt(id, end) : s.JointAt(id, s.bodies[s.bodies.size() - 2], end);
         joint.stiffness = 1e4f, joint.damping = 20;
         s.Attach(joint);
       }
     },
     [](Stage& s, int step) {
       if (step == 5) s.Do(s.world->SetSolver(s.bodies[2], ImplicitSolver()));
     },
     {.sleep = {.speed = 0}, .max_pairs = 16}},
    {"stiff_chain",
     100,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 8; ++i) {  // six hang in a row, two are thrown
         const Vec3 at = {1.05f * i, 2.5f, i < 6 ? 0.0f : 3.0f};
         const BodyId id = s.Add("cube", {.pose = {at},
                                          .angular_velocity = {0, 0, i < 6 ? 0.0f : 2.0f},
                                          .material = {.young = 1e8f, .density = 200}});
         if (i == 6) continue;
         for (const float z : {-0.4f, 0.4f}) {
           const Vec3 end = {at.x - 0.6f, 2.5f, at.z + z};
           AttachmentDesc joint =
               i == 0 ? s.SpringAt(id, end) : s.JointAt(id, s.bodies[s.bodies.size() - 2], end);
           joint.stiffness = 1e5f, joint.damping = 20;
           s.Attach(joint);
         }
       }
     },
     nullptr,
     {},
     1.0f / 60},
};

}  // namespace

std::span<const Scene> TouchingScenes() { return kTouching; }

}  // namespace plush::golden
