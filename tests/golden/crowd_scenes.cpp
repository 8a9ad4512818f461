// SPDX-License-Identifier: MIT
// Equal bodies, which step in lanes: in the air, on colliders, held, leaving their lanes and coming
// back.
#include "golden/scene_parts.h"

namespace plush::golden {

namespace {

void AddCrowd(Stage* s, const char* asset, int count, float height, const BodyDesc& like = {}) {
  for (int i = 0; i < count; ++i) {
    BodyDesc desc = like;
    const auto seed = static_cast<uint32_t>(i + 1);
    desc.pose = {{1.2f * (i % 6), height + 0.2f * Random(seed), 1.2f * (i / 6)}, RandomTurn(seed)};
    desc.velocity = RandomVector(seed);
    s->Add(asset, desc);
  }
}

constexpr Scene kInLanes[] = {
    {"crowd_in_air", 60,
     [](Stage& s) {
       AddCrowd(&s, "bear", 35, 3);
       AddCrowd(&s, "duck", 3, 9);
       AddCrowd(&s, "octopus", 8, 15, {.material = {.young = 1e9f}});
     },
     [](Stage& s, int step) {
       if (step == 10) s.Do(s.world->RemoveBody(s.bodies[3]));
       if (step == 20) AddCrowd(&s, "bear", 3, 12);
       if (step == 40) s.Push({.vector = {0, 5, 1}});
     }},
    {"crowd_falls", 120,
     [](Stage& s) {
       s.Add(Floor());
       AddCrowd(&s, "bear", 20, 0.7f);
     },
     [](Stage& s, int step) {
       if (step == 60) s.Add({.plane = {{1, 1, 0}, -0.5f}, .friction = 0.2f});
     }},
    {"crowd_pinned", 120,
     [](Stage& s) {
       const auto pins = s.Region("bear", "pin");
       AddCrowd(&s, "bear", 18, 1, {.pinned_nodes = pins, .report_reactions = true});
       AddCrowd(&s, "bear", 5, 4,
                {.pinned_nodes = pins, .gravity_factor = 0.5f, .report_reactions = true});
     },
     [](Stage& s, int step) {
       const uint32_t pin = s.RegionIndex("bear", "pin");
       const Pose target = {{2.4f + 0.01f * step, 1, 0}};
       if (step >= 10 && step < 60) s.Do(s.world->MovePins(s.bodies[2], pin, target));
       if (step == 70) s.Do(s.world->SetPinnedNodes(s.bodies[4], {}));
     }},
    {"crowd_damped", 120,
     [](Stage& s) {
       s.Add(Floor());
       AddCrowd(&s, "octopus", 9, 0.8f, {.material = {.damping = 0.02f}});
       AddCrowd(&s, "cube", 17, 3, {.material = {.young = 5e4f, .damping = 0.1f}});
     }},
    {"crowd_leaves_lanes", 150,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kSphere,
              .sphere = {0.6f},
              .pose = {{-2, 0.5f, 0}},
              .velocity = {3, 0, 1}});
       AddCrowd(&s, "bear", 20, 0.6f);
       AttachmentDesc spring = s.SpringAt(s.bodies[5], {6, 2, 0});
       spring.target.y += 0.3f;
       s.Attach(spring);
       s.Hold(s.HoldAt(s.bodies[8], {2.4f, 2, 1.2f}));
     },
     [](Stage& s, int step) {
       if (step == 50) s.Do(s.world->SetSolver(s.bodies[7], ImplicitSolver()));
       if (step == 70) s.Do(s.world->SetSolver(s.bodies[7], SplittingSolver()));
       if (step == 80) s.Do(s.world->Detach(s.attachments[0]));
     }},
    {"crowd_sleeps",
     300,
     [](Stage& s) {
       s.Add(Floor());
       AddCrowd(&s, "cube", 20, 0.9f, {.material = {.damping = 0.1f}});
     },
     [](Stage& s, int step) {
       if (step % 40 == 39) s.Do(s.world->Wake(s.bodies[static_cast<size_t>(step % 20)]));
     },
     {.sleep = {.speed = 0.05f, .time = 0.2f}}},
    {"crowd_events", 120,
     [](Stage& s) {
       s.Add(Floor());
       s.Add({.type = ShapeType::kSphere, .sphere = {0.3f}, .pose = {{2.4f, 0.1f, 0}}});
       for (int i = 0; i < 4; ++i) {
         s.Add({.type = ShapeType::kBox,
                .box = {{0.3f, 0.2f, 0.3f}},
                .pose = {{2.4f * i, 0.6f, 1.2f}},
                .sensor = true});
       }
       AddCrowd(&s, "bear", 12, 0.4f, {.report_contacts = true});
     },
     [](Stage& s, int step) {
       if (step != 60) return;
       for (size_t i = 0; i < 12; i += 2) {
         s.Do(s.world->Teleport(s.bodies[i], {{1.2f * static_cast<float>(i % 6), 1.2f, 0}}));
       }
     }},
    {"crowd_settings", 60,
     [](Stage& s) {
       const SplittingSettings exact = {.outer_iterations = 5, .polar_iterations = 9};
       for (int i = 0; i < 24; ++i) {
         s.Add("cube", {.pose = {{2.0f * (i % 6), 5, 2.0f * (i / 6)}},
                        .angular_velocity = RandomVector(static_cast<uint32_t>(i)),
                        .splitting = i % 2 == 0 ? exact : SplittingSettings{1, 2}});
       }
     },
     [](Stage& s, int step) {
       if (step == 20) s.Do(s.world->SetSplitting(s.bodies[4], {1, 2}));
       if (step == 30) s.Do(s.world->SetSplitting(s.bodies[4], {}));
       for (size_t i = 10; i < 20; ++i) {
         s.Do(s.world->SetEnabled(s.bodies[i], (static_cast<int>(i) + step) % 3 != 0));
       }
     }},
    {"crowd_on_springs", 60,
     [](Stage& s) {
       s.Add(Floor());
       for (int i = 0; i < 18; ++i) {
         const Vec3 at = {1.5f * i, 0.7f, 0};
         const BodyId id = s.Add("cube", {.pose = {at}});
         if (i % 3 == 2) continue;
         AttachmentDesc spring = s.SpringAt(id, {at.x, 2, 0});
         spring.stiffness = i % 2 == 0 ? 1e6f : 500;
         spring.rest_length = i % 3 == 0 ? 0.1f : 0;
         s.Attach(spring);
       }
       AttachmentDesc joint = s.JointAt(s.bodies[2], s.bodies[5], {5, 0.7f, 0});
       joint.rest_length = 2;
       s.Attach(joint);
     },
     [](Stage& s, int step) {
       s.Do(s.world->MoveAttachment(s.attachments[0], {0.01f * step, 1.2f, 0}));
       if (step == 10) s.Do(s.world->Detach(s.attachments[3]));
     }},
    {"crowd_on_constraints", 80,
     [](Stage& s) {
       static const BodySolver implicit = ImplicitSolver();
       s.Add(Floor());
       for (int i = 0; i < 16; ++i) {
         const Vec3 at = {1.5f * i, 0.8f, 0};
         const BodyId id =
             s.Add("cube", {.pose = {at}, .solver = i % 4 == 1 ? &implicit : nullptr});
         for (int k = 0; k < i % 4; ++k) {
           ConstraintDesc hold = s.HoldAt(id, {at.x + 0.4f * k, 2, 0.3f});
           hold.kind = static_cast<ConstraintKind>(k);
           hold.direction = {0.3f, 1, -0.2f};
           if (i == 7) hold.correction = 0.3f;
           s.Hold(hold);
         }
       }
     },
     [](Stage& s, int step) {
       s.Do(s.world->MoveConstraint(s.constraints[0], {1.5f + 0.005f * step, 1.3f, 0.3f}));
       if (step == 10) s.Do(s.world->RemoveConstraint(s.constraints[3]));
       if (step == 12) s.Hold(s.HoldAt(s.bodies[12], {18, 2, 0}));
     }},
};

}  // namespace

std::span<const Scene> CrowdScenes() { return kInLanes; }

}  // namespace plush::golden
