// SPDX-License-Identifier: MIT
// Bodies that something holds or moves: pins, springs, constraints, forces, the game's own calls.
#include "golden/scene_parts.h"

namespace plush::golden {

namespace {

// Hangs a body by its region `pin`.
BodyId Hang(Stage* s, const char* asset, BodyDesc desc) {
  const std::vector<uint32_t> pins = s->Region(asset, "pin");
  desc.pinned_nodes = pins;
  return s->Add(asset, desc);
}

// A pose that swings about z, with sin replaced by a cubic.
Pose Swing(float t, const Vec3& at) {
  const float u = t - static_cast<float>(static_cast<int>(t));
  const float turn = 4.0f * u * (0.5f - u) * (1.0f - u);
  return {{at.x + turn, at.y + 0.2f * turn, at.z}, {0, 0, turn, 1}};
}

constexpr SplittingSettings kThree = {.outer_iterations = 3};

constexpr Scene kHeld[] = {
    {"hang_bear_by_head", 250,
     [](Stage& s) {
       Hang(&s, "bear", {.pose = {{}, {0, 0, 1, 0}}, .report_reactions = true});
     }},
    {"hang_octopus_by_arm", 220,
     [](Stage& s) {
       const auto arm = s.NodesIn("octopus", {0.4f, -1, -1}, {9, 9, 9});
       s.Add("octopus", {.material = {.young = 2e4f, .damping = 0},
                         .pinned_nodes = arm,
                         .report_reactions = true});
     }},
    {"hang_duck_soft", 220,
     [](Stage& s) {
       Hang(&s, "duck",
            {.pose = {{}, {0, 0, 0.7f, 0.7f}}, .material = {.young = 4e3f, .damping = 0}});
       Hang(&s, "duck",
            {.pose = {{2, 0, 0}, {0, 0, 0.7f, 0.7f}},
             .material = {.young = 4e3f, .poisson = 0.45f, .damping = 0.02f},
             .splitting = kThree});
     }},
    {"hang_by_springs", 220,
     [](Stage& s) {
       s.Add("bear", {.pose = {{0, 1, 0}}, .material = {.young = 1e4f, .damping = 0}});
       AttachmentDesc spring = s.SpringAt(s.bodies[0], {0.2f, 1.5f, 0});
       spring.stiffness = 2e4f, spring.damping = 20;
       s.Attach(spring);
     }},
    {"implicit_hang", 120,
     [](Stage& s) {
       static const BodySolver solver = ImplicitSolver({.newton_iterations = 2});
       Hang(&s, "bear", {.pose = {{}, {0, 0, 1, 0}}, .solver = &solver, .report_reactions = true});
       s.Add("duck", {.pose = {{2, 0, 0}}, .solver = &solver});
       s.Hold(s.HoldAt(s.bodies[1], {2, 0.6f, 0}));
     }},
    {"quasistatic", 40,
     [](Stage& s) {
       static const BodySolver solver =
           ImplicitSolver({.newton_iterations = 4, .quasistatic = true});
       Hang(&s, "bear", {.pose = {{}, {0, 0, 1, 0}}, .solver = &solver, .report_reactions = true});
     },
     [](Stage& s, int step) {
       const uint32_t pin = s.RegionIndex("bear", "pin");
       s.Do(s.world->MovePins(s.bodies[0], pin, {{0.005f * step, 0, 0}, {0, 0, 1, 0}}));
     }},
    {"moving_pins", 200,
     [](Stage& s) {
       Hang(&s, "bear", {.report_reactions = true});
       const auto foot = s.NodesIn("octopus", {0.4f, -1, -1}, {9, 9, 9});
       s.Add("octopus", {.pose = {{2, 0, 0}}, .pinned_nodes = foot, .report_reactions = true});
     },
     [](Stage& s, int step) {
       const uint32_t pin = s.RegionIndex("bear", "pin");
       s.Do(s.world->MovePins(s.bodies[0], pin, Swing(0.01f * step, {})));
       const auto foot = s.NodesIn("octopus", {0.4f, -1, -1}, {9, 9, 9});
       std::vector<Vec3> targets;
       for (const uint32_t node : foot) {
         Vec3 x = s.assets["octopus"].cage().nodes[node];
         targets.push_back({x.x + 2, x.y + 0.002f * step, x.z});
       }
       if (step < 120) s.Do(s.world->MovePins(s.bodies[1], foot, targets));
     }},
    {"puppet", 60,
     [](Stage& s) {
       std::vector<uint32_t> pins;
       for (const char* joint : {"hips", "head", "arm_l", "arm_r"}) {
         const auto nodes = s.Region("puppet", joint);
         pins.insert(pins.end(), nodes.begin(), nodes.end());
       }
       s.Add(Floor());
       s.Add("puppet", {.pinned_nodes = pins, .report_reactions = true});
     },
     [](Stage& s, int step) {
       const uint32_t head = s.RegionIndex("puppet", "head");
       const Pose bind = s.assets["puppet"].region(head).rest;
       s.Do(s.world->MovePins(s.bodies[0], head, Swing(0.01f * step, {}) * bind));
     }},
    {"changed_pins", 160,
     [](Stage& s) {
       s.Add(Floor());
       Hang(&s, "bear", {.pose = {{0, 0.5f, 0}}, .report_reactions = true});
       s.Add("duck", {.pose = {{1.5f, 0.3f, 0}}, .report_reactions = true});
     },
     [](Stage& s, int step) {
       if (step == 60) s.Do(s.world->SetPinnedNodes(s.bodies[0], {}));
       if (step == 80) s.Do(s.world->SetPinnedNodes(s.bodies[1], s.Region("duck", "pin")));
     }},
    {"fixed_bodies",
     150,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("cube", {.pose = {{0, 0.5f, 0}}, .fixed = true});
       s.Add("bear", {.pose = {{0, 1.1f, 0}}});
     },
     [](Stage& s, int step) {
       if (step < 80 || step >= 110) return;  // then it rests
       const auto rest = s.assets["cube"].cage().nodes;
       std::vector<uint32_t> all;
       std::vector<Vec3> targets;
       for (uint32_t i = 0; i < rest.size(); ++i) {
         all.push_back(i);
         targets.push_back({rest[i].x + 0.004f * (step - 80), rest[i].y + 0.5f, rest[i].z});
       }
       s.Do(s.world->MovePins(s.bodies[0], all, targets));
     },
     {.max_pairs = 8},
     0.01f,
     110},
    {"springs", 250,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kSphere,
              .sphere = {0.1f},
              .pose = {{-1.5f, 2, 0}},
              .velocity = {0.2f, 0, 0}});
       s.Add("bear", {.pose = {{0, 1, 0}}});
       s.Add("duck", {.pose = {{1.3f, 1.4f, 0}}, .material = {.young = 3e5f}});
       s.Add("octopus", {.pose = {{1.3f, 0.7f, 0}}, .material = {.young = 3e5f}});
       s.Add("bear", {.pose = {{-1.5f, 1, 0}}});
       for (const float side : {-0.15f, 0.15f}) {
         AttachmentDesc spring = s.SpringAt(s.bodies[0], {side, 1.5f, 0});
         spring.target = {1.3f * side, 2, 0};
         spring.rest_length = 0.3f, spring.stiffness = 600, spring.damping = 20;
         if (side > 0) spring.break_force = 60;
         s.Attach(spring);
       }
       AttachmentDesc rope = s.SpringAt(s.bodies[1], {1.3f, 2, 0});
       rope.target = {1.3f, 2.4f, 0};
       rope.rest_length = 0.3f, rope.stiffness = 3000, rope.damping = 20, rope.max_force = 900;
       s.Attach(rope);
       AttachmentDesc joint = s.JointAt(s.bodies[2], s.bodies[1], {1.3f, 1.2f, 0});
       joint.rest_length = 0.1f, joint.stiffness = 3000, joint.damping = 20;
       s.Attach(joint);
       AttachmentDesc towed = s.SpringAt(s.bodies[3], {-1.5f, 1.6f, 0});
       towed.other_collider = s.colliders[1];
       towed.target = {0, -0.1f, 0};
       towed.stiffness = 2000, towed.damping = 10;
       s.Attach(towed);
     },
     [](Stage& s, int step) {
       if (step >= 100 && step < 200 && s.world->IsValid(s.attachments[1])) {
         s.Do(s.world->MoveAttachment(s.attachments[1], {0.2f, 2 + 0.005f * (step - 100), 0}));
       }
       if (step == 220) s.Do(s.world->Detach(s.attachments[2]));
     }},
    {"springs_press_on_floor",
     40,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("octopus", {.pose = {{0, 0.2f, 0}, {0, 0, 0.15f, 1}}});
       for (int i = 0; i < 7; ++i) {
         AttachmentDesc spring =
             s.SpringAt(s.bodies[0], {0.2f * (i - 3), 0.4f, 0.3f * (i % 3 - 1)});
         spring.target.y -= 0.2f;
         spring.stiffness = 2000, spring.damping = 5;
         s.Attach(spring);
       }
     },
     nullptr,
     {.sleep = {.speed = 0}}},
    {"constraints", 200,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("bear", {.pose = {{0, 1, 0}}});
       s.Add("duck", {.pose = {{1, 1.4f, 1}}, .material = {.young = 3e5f}});
       for (const float side : {-0.15f, 0.15f}) {
         ConstraintDesc rail = s.HoldAt(s.bodies[0], {side, 1.5f, 0});
         rail.kind = ConstraintKind::kLine, rail.direction = {1, -0.1f, 0};
         s.Hold(rail);
       }
       s.Hold(s.HoldAt(s.bodies[1], {1, 2, 1}));
       ConstraintDesc plane = s.HoldAt(s.bodies[1], {1, 1.4f, 1});
       plane.kind = ConstraintKind::kPlane, plane.direction = {0, 0, 1};
       plane.target.z += 0.1f, plane.correction = 0.2f;
       s.Hold(plane);
     },
     [](Stage& s, int step) {
       Vec3 at = s.On(s.bodies[1], {9, 9, 9}).position;
       if (step >= 20 && step < 120) {
         at = {1 + 0.01f * (step - 20), 2 - 0.002f * (step - 20), 1};
         s.Do(s.world->MoveConstraint(s.constraints[2], at));
       }
       if (step == 150) s.Do(s.world->RemoveConstraint(s.constraints[0]));
     }},
    {"forces", 120,
     [](Stage& s) {
       for (int i = 0; i < 4; ++i) s.Add("bear", {.pose = {{1.5f * i, 0.5f, 0}}});
       s.Add("octopus", {.pose = {{0, 0.5f, 2}}, .filter = {.category = 2}});
     },
     [](Stage& s, int step) {
       if (step < 20) s.Push({.vector = {0, 9.81f, 0}});
       if (step == 30) s.Push({.type = FieldType::kRadial, .radius = 3, .strength = 200});
       if (step >= 40 && step < 80) {
         s.Push({.type = FieldType::kWind, .vector = {10, 0, -5}, .drag = 1.2f, .mask = 2});
       }
       if (step >= 60) s.Do(s.world->AddForce(s.bodies[1], {.vector = {0, 12, 0}}));
       s.fields.resize(step >= 60 ? 1 : s.fields.size(), {.type = FieldType::kWind});
     }},
    {"pushes", 120,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 4; ++i) s.Add("bear", {.pose = {{1.5f * i, 0.01f, 0}}});
     },
     [](Stage& s, int step) {
       SurfacePoint hit;
       s.Do(s.world->Raycast({{-2, 0.3f, 0}, {1, 0, 0}}, {}, &hit));
       if (step == 10 && hit.valid()) s.Do(s.world->AddImpulse(hit, {3, 5, 0}));
       if (step == 30) s.Do(s.world->AddVelocity(s.On(s.bodies[1], {1.5f, 9, 0}), {0, 2, 1}));
       if (step == 40) s.Do(s.world->AddDisplacement(s.On(s.bodies[2], {3, 9, 0}), {0, 0.05f, 0}));
       std::vector<Vec3> nodes(s.assets["bear"].cage().nodes.size(), {0.005f, 0.02f, 0});
       if (step == 50) s.Do(s.world->AddImpulses(s.bodies[3], nodes));
       if (step == 70) s.Do(s.world->SetNodeVelocities(s.bodies[2], nodes));
     }},
    {"teleports", 150,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 4; ++i) s.Add("bear", {.pose = {{1.5f * i, 0.3f, 0}}});
     },
     [](Stage& s, int step) {
       if (step == 40) s.Do(s.world->Teleport(s.bodies[0], {{0, 1, 1}, {1, 0, 0, 1}}));
       if (step == 60) s.Do(s.world->ResetBody(s.bodies[1], {{1.5f, 0.5f, 1}, {0, 0, 1, 1}}));
       std::vector<Vec3> nodes(s.assets["bear"].cage().nodes.size());
       s.Do(s.world->NodePositions(s.bodies[2], 1, nodes));
       for (Vec3& x : nodes) x.y = 1.2f * x.y + 0.2f;
       if (step == 70) s.Do(s.world->SetNodePositions(s.bodies[2], nodes));
       if (step == 30) s.Do(s.world->SetEnabled(s.bodies[3], false));
       if (step == 100) s.Do(s.world->SetEnabled(s.bodies[3], true));
     }},
    {"scales", 150,
     [](Stage& s) {
       s.Add(Floor());
       for (const float scale : {0.3f, 1.0f, 2.5f}) {
         s.Add("bear", {.pose = {{2 * scale, 0.1f, 0}}, .scale = scale});
         s.Add("octopus", {.pose = {{2 * scale, 0.1f, 3}, {0.2f, 0, 0, 1}}, .scale = scale});
       }
     }},
    {"materials", 180,
     [](Stage& s) {
       s.Add(Floor());
       int i = 0;
       for (const MaterialOverride& material :
            {MaterialOverride{.young = 5e3f}, MaterialOverride{.young = 1e6f, .poisson = 0.49f},
             MaterialOverride{.poisson = 0, .density = 200},
             MaterialOverride{.density = 4000, .damping = 0.02f}}) {
         s.Add("bear", {.pose = {{1.2f * i++, 0.2f, 0}}, .material = material});
       }
     },
     [](Stage& s, int step) {
       if (step == 90) s.Do(s.world->SetMaterial(s.bodies[1], {.young = 2e4f, .density = 300}));
     }},
    {"own_settings", 150,
     [](Stage& s) {
       s.Add(Floor());
       s.Add("bear", {.pose = {{0, 0.3f, 0}}, .gravity_factor = 0.2f});
       s.Add("bear", {.pose = {{1, 2, 0}}, .max_speed = 3});
       s.Add("bear", {.pose = {{2, 0.5f, 0}}, .splitting = {6, 0, 8}});
     },
     [](Stage& s, int step) {
       if (step == 50) s.Do(s.world->SetGravityFactor(s.bodies[0], -0.3f));
       if (step == 70) s.Do(s.world->SetGravity({2, -5, 0}));
       if (step == 80) s.Do(s.world->SetMaxSpeed(s.bodies[1], 1));
       if (step == 90) s.Do(s.world->SetSplitting(s.bodies[2], {}));
       if (step == 100) s.world->SetContact({.iterations = 4, .push_out_time = 0.1f});
     }},
    {"pins_that_report", 100,
     [](Stage& s) {
       static const BodySolver implicit = ImplicitSolver();
       Hang(&s, "bear", {.report_reactions = true});
       Hang(&s, "bear", {.pose = {{2, 0, 0}}, .splitting = kThree, .report_reactions = true});
       Hang(&s, "bear", {.pose = {{4, 0, 0}}, .scale = 0.5f, .report_reactions = true});
       Hang(&s, "bear", {.pose = {{6, 0, 0}}, .solver = &implicit, .report_reactions = true});
       AttachmentDesc spring = s.SpringAt(s.bodies[1], {2, 0, 0});
       spring.stiffness = 500;
       s.Attach(spring);
       s.Hold(s.HoldAt(s.bodies[0], {0, 0, 0}));
     },
     [](Stage& s, int step) {
       const uint32_t pin = s.RegionIndex("bear", "pin");
       const float u = 0.01f * step;
       for (const BodyId id : s.bodies) {
         Pose pose;
         s.Do(s.world->BestFitPose(id, &pose));
         s.Do(s.world->MovePins(id, pin, {{pose.position.x + 0.2f * u * (1 - u), 0, 0}}));
       }
     }},
    {"pins_turn_under_a_wall",
     40,
     [](Stage& s) {
       s.Add({.plane = {{0, -1, 0}, -0.9f}});
       Hang(&s, "bear", {.report_reactions = true});
       const auto waist = s.NodesIn("octopus", {-0.1f, -9, -9}, {0.1f, 9, 9});
       s.Add("octopus", {.pose = {{2, 0, 0}}, .pinned_nodes = waist});
       s.Hold(s.HoldAt(s.bodies[1], {3, 0, 0}));
     },
     [](Stage& s, int step) {
       const uint32_t pin = s.RegionIndex("bear", "pin");
       s.Do(s.world->MovePins(s.bodies[0], pin, {{}, {0, 0.05f * step, 0, 1}}));
       if (step == 20) s.Do(s.world->MoveCollider(s.colliders[0], {{0, -0.35f, 0}}));
     },
     {.gravity = {}}},
    {"implicit_settings", 60,
     [](Stage& s) {
       const ImplicitSettings all[] = {
           {},
           {.preconditioner = Preconditioner::kJacobi},
           {.mass_damping = 50},
           {.assembled = true},
           {.newton_iterations = 3, .differential = StressDifferential::kHybrid}};
       const auto side = s.NodesIn("cube", {-9, -9, -9}, {-0.3f, 9, 9});
       s.Add({.plane = {{0, 1, 0}, -0.7f}});
       for (int i = 0; i < 12; ++i) {
         const BodySolver solver = ImplicitSolver(all[i % 5]);
         BodyDesc desc = {.pose = {{2.0f * i, 0, 0}}, .solver = &solver};
         if (i < 5) desc.pinned_nodes = side;
         if (i >= 10) desc.solver = nullptr;
         s.Add("cube", desc);
       }
       s.Hold(s.HoldAt(s.bodies[8], {16, 2, 0}));
     },
     [](Stage& s, int step) {
       if (step == 5) s.Do(s.world->SetSolver(s.bodies[10], ImplicitSolver({.assembled = true})));
       if (step == 35) s.Do(s.world->SetSolver(s.bodies[10], SplittingSolver()));
       if (step == 40) s.Do(s.world->SetSolver(s.bodies[2], ImplicitSolver()));
       s.Do(s.world->MoveConstraint(s.constraints[0], {16, 0.5f + 0.002f * step, 0}));
     }},
};

}  // namespace

std::span<const Scene> HeldScenes() { return kHeld; }

}  // namespace plush::golden
