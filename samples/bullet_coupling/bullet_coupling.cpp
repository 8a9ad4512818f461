// SPDX-License-Identifier: MIT
// Couples Plush with the rigid bodies of Bullet: boxes of 0.1, 1 and 10 bears' mass fall on bears.
// A rigid body is a collider in Plush. World::ColliderReaction says what the bears do to it.
// Uses World::MoveCollider, ColliderReaction, SaveState and LoadState.

#include "plush/plush.h"

#include "anderson.h"

#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr float kTimeStep = 0.01f;                        // [s]
constexpr float kGravity = 9.81f;                         // [m/s^2]
constexpr plush::Vec3 kHalfExtents = {0.6f, 0.1f, 0.6f};  // of the box [m]
constexpr float kLength = 0.6f;                           // of Wrench [m]
constexpr int kStepsBefore = 150, kSteps = 300, kStepsAfter = 100;
constexpr double kMostSpeed = 0.01;  // of a corner after kSteps [m/s]

/// A box that Bullet moves above a ground.
class RigidBox {
 public:
  RigidBox(double mass, float height) {
    world_.setGravity({0, -kGravity, 0});
    ground_.setFriction(1);
    world_.addRigidBody(&ground_);
    btVector3 inertia;
    shape_.calculateLocalInertia(btScalar(mass), inertia);
    box_.setMassProps(btScalar(mass), inertia);
    box_.setCenterOfMassTransform(btTransform(btQuaternion::getIdentity(), {0, height, 0}));
    box_.updateInertiaTensor();
    box_.setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(&box_);
  }
  ~RigidBox() {
    world_.removeRigidBody(&box_);
    world_.removeRigidBody(&ground_);
  }
  RigidBox(const RigidBox&) = delete;
  RigidBox& operator=(const RigidBox&) = delete;

  /// Its motion, to go back to.
  struct Motion {
    btTransform pose;
    btVector3 velocity, angular_velocity;
  };
  Motion motion() const {
    return {box_.getWorldTransform(), box_.getLinearVelocity(), box_.getAngularVelocity()};
  }
  void SetMotion(const Motion& motion) {
    box_.setCenterOfMassTransform(motion.pose);
    box_.setLinearVelocity(motion.velocity);
    box_.setAngularVelocity(motion.angular_velocity);
  }

  void Step(const Wrench& w) {
    const auto vector = [&w](size_t i, float unit) {
      return btVector3(btScalar(w[i]), btScalar(w[i + 1]), btScalar(w[i + 2])) * unit;
    };
    box_.clearForces();
    box_.applyGravity();
    box_.applyCentralForce(vector(0, 1.0f));
    box_.applyTorque(vector(3, kLength));
    world_.stepSimulation(kTimeStep, 0);
  }

  plush::Pose pose() const {
    const btVector3 x = box_.getWorldTransform().getOrigin();
    const btQuaternion q = box_.getWorldTransform().getRotation();
    return {{float(x.x()), float(x.y()), float(x.z())},
            {float(q.x()), float(q.y()), float(q.z()), float(q.w())}};
  }
  double Height() const { return double(box_.getWorldTransform().getOrigin().y()); }
  /// At most this speed has a corner [m/s].
  double Speed() const {
    const btScalar radius = shape_.getHalfExtentsWithMargin().length();
    return double(box_.getLinearVelocity().length() + box_.getAngularVelocity().length() * radius);
  }

 private:
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  btStaticPlaneShape plane_{{0, 1, 0}, 0};
  btBoxShape shape_{{kHalfExtents.x, kHalfExtents.y, kHalfExtents.z}};
  btRigidBody ground_{btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &plane_)};
  btRigidBody box_{btRigidBody::btRigidBodyConstructionInfo(1, nullptr, &shape_, {1, 1, 1})};
};

/// Four bears on their backs, and a collider for the box.
class Bears {
 public:
  bool Make(const plush::Asset& asset) {
    assets_[0] = &asset;
    plush::ColliderId ground;
    if (!world_.AddCollider({.friction = 1.0f}, &ground).ok()) return false;
    const float c = std::sqrt(0.5f);
    plush::BodyId id;
    for (const float x : {-0.4f, 0.4f}) {
      for (const float z : {-0.15f, 0.65f}) {
        const plush::Pose pose = {{x, 0.25f, z}, {-c, 0.0f, 0.0f, c}};
        if (!world_.AddBody(asset, {.pose = pose}, &id).ok()) return false;
      }
    }
    for (int step = 0; step < kStepsBefore; ++step) {
      if (!world_.Step(kTimeStep).ok()) return false;
    }
    plush::BodyMoments moments;
    if (!world_.Moments(id, &moments).ok() || !world_.GetBounds(id, &bounds_).ok()) return false;
    mass_ = moments.mass;
    return true;
  }
  bool AddBox(const plush::Pose& pose) {
    plush::ColliderDesc desc;
    desc.type = plush::ShapeType::kBox;
    desc.box.half_extents = kHalfExtents;
    desc.pose = pose;
    desc.friction = 0.8f;
    return world_.AddCollider(desc, &box_).ok();
  }

  bool Save() {
    state_.resize(world_.StateBytes());
    size_t bytes = 0;
    return world_.SaveState(state_, &bytes).ok();
  }
  bool Load() { return world_.LoadState(state_, assets_).ok(); }

  /// Moves the box to `pose`. `out` gets what the bears do to it.
  bool Step(const plush::Pose& pose, Wrench* out) {
    plush::Reaction r;
    ++num_steps_;
    if (!world_.MoveCollider(box_, pose).ok() || !world_.Step(kTimeStep).ok() ||
        !world_.ColliderReaction(box_, &r).ok()) {
      return false;
    }
    *out = {r.force.x,           r.force.y, r.force.z, r.torque.x / kLength, r.torque.y / kLength,
            r.torque.z / kLength};
    return true;
  }

  double mass() const { return mass_; }  ///< of a bear [kg]
  float top() const { return bounds_.high.y; }
  int num_steps() const { return num_steps_; }

 private:
  plush::World world_{{.gravity = {0.0f, -kGravity, 0.0f}}};
  const plush::Asset* assets_[1] = {};
  plush::ColliderId box_;
  plush::Bounds bounds_;
  double mass_ = 0.0;
  std::vector<std::byte> state_;
  int num_steps_ = 0;
};

/// Each world steps once, with what the other did in the step before.
bool StepOnce(Bears* bears, RigidBox* box, Wrench* wrench) {
  box->Step(*wrench);
  return bears->Step(box->pose(), wrench);
}

/// Both worlds repeat the step until Bullet's box has felt what it makes the bears do to it.
bool StepTogether(double mass, Bears* bears, RigidBox* box, Wrench* wrench) {
  constexpr int kMost = 20;          // the impact of the light box takes 12 and more
  constexpr double kShare = 1.0e-3;  // of the weight: what the two may differ by
  constexpr double kTouched = 0.3;   // of a bear: about as much moves with the box at once
  const double most = kShare * mass * double(kGravity);
  const RigidBox::Motion start = box->motion();
  Anderson anderson(mass / (mass + kTouched * bears->mass()));
  Wrench felt = *wrench;
  if (!bears->Save()) return false;
  for (int k = 0; k < kMost; ++k) {
    if (k > 0) {
      if (!bears->Load()) return false;
      box->SetMotion(start);
      felt = anderson.Next(felt, *wrench);
    }
    box->Step(felt);
    if (!bears->Step(box->pose(), wrench)) return false;
    const Wrench change = Sum(*wrench, -1.0, felt);
    if (Dot(change, change) <= most * most) break;
  }
  return true;
}

/// Drops a box of `ratio` bears' mass. Returns whether it came to rest on them.
bool Drop(const plush::Asset& asset, double ratio, bool repeats) {
  Bears bears;
  if (!bears.Make(asset)) return false;
  const double mass = ratio * bears.mass();
  RigidBox box(mass, bears.top() + kHalfExtents.y + 0.2f);
  if (!bears.AddBox(box.pose())) return false;
  Wrench wrench = {};
  double fastest = 0.0, highest = 0.0;
  for (int step = 0; step < kSteps + kStepsAfter; ++step) {
    const bool stepped =
        repeats ? StepTogether(mass, &bears, &box, &wrench) : StepOnce(&bears, &box, &wrench);
    if (!stepped) return false;
    highest = std::max(highest, box.Height());
    if (step >= kSteps) fastest = std::max(fastest, box.Speed());
  }
  std::printf(
      "%6.2f kg on bears of %.2f kg: after 3 s at most %.5f m/s, %.3f m above the ground, "
      "highest %.3f m; %.1f steps of Plush each\n",
      mass, bears.mass(), fastest, box.Height(), highest,
      double(bears.num_steps()) / (kSteps + kStepsAfter));
  return fastest < kMostSpeed && box.Height() > 2.0 * double(kHalfExtents.y);
}

}  // namespace

int main(int argc, char** argv) {
  const bool repeats = argc == 2;
  if (!repeats && !(argc == 3 && std::strcmp(argv[2], "--once") == 0)) {
    std::fprintf(stderr, "usage: bullet_coupling FILE.plush [--once]\n");
    return 1;
  }
  plush::Asset asset;
  const plush::Status opened = asset.Open(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "bullet_coupling: %s: %s\n", argv[1], opened.reason);
    return 2;
  }
  bool all_rest = true;
  for (const double ratio : {0.1, 1.0, 10.0}) all_rest = Drop(asset, ratio, repeats) && all_rest;
  if (!all_rest) std::printf("not every box came to rest on the bears\n");
  return all_rest ? 0 : 2;
}
