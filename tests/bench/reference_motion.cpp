// SPDX-License-Identifier: MIT
// Compares a body's first 220 steps with the reference's; finds, computes and keeps the latter.
// Source: none.
#include "bench/reference_motion.h"

#include "plush/format/tet_block.h"

#include "reference/implicit_euler.h"

#include <Eigen/Geometry>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

namespace plush::bench {
namespace {

constexpr size_t kMostTetsWithoutFolder = 5000;
constexpr size_t kMostTets = 100000;  // the reference would take hours

// FNV-1a over everything that the trajectory depends on.
class Key {
 public:
  template <class T>
  void Add(const T& value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 1099511628211u;
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 14695981039346656037u;
};

uint64_t KeyOf(const Asset& asset, const reference::EulerSettings& settings) {
  Key key;
  key.Add(asset.content_hash());
  key.Add(settings.dt_s);
  for (int k = 0; k < 3; ++k) key.Add(settings.gravity[k]);
  key.Add(settings.damping);
  key.Add(settings.tolerance);
  for (const uint32_t node : settings.pinned) key.Add(node);
  key.Add(kMotionSteps);
  return key.hash();
}

reference::EulerSettings SettingsOf(const SwingingArm& arm, float dt) {
  reference::EulerSettings settings = {.dt_s = double{dt}};
  settings.gravity = {0.0, double{WorldDesc().gravity.y}, 0.0};  // the pose turns about y
  settings.damping = double{arm.asset.simulation().damping};
  settings.pinned = arm.pinned;
  settings.tolerance = 1.0e-5;  // moves the armadillo by 2e-7 of its motion
  return settings;
}

void Compute(const SwingingArm& arm, const reference::EulerSettings& settings,
             const std::string& case_name, reference::Trajectory* out) {
  std::fprintf(stderr, "%s: computing the reference's trajectory ...\n", case_name.c_str());
  reference::ImplicitEuler euler(reference::ElasticBody(arm.asset), settings);
  int unconverged = 0;
  for (int step = 0; step < kMotionSteps; ++step) {
    if (!euler.Step()) ++unconverged;
    out->Add(euler.x());
  }
  if (unconverged > 0) {
    std::fprintf(stderr, "%s: %d steps of the reference have not converged\n", case_name.c_str(),
                 unconverged);
  }
}

}  // namespace

const reference::Trajectory* ReferenceFolder::Find(const SwingingArm& arm, float dt,
                                                   const std::string& case_name) const {
  static std::map<uint64_t, std::unique_ptr<reference::Trajectory>> known;
  if (arm.asset.simulation().tets.size() > kMostTets) return nullptr;
  const reference::EulerSettings settings = SettingsOf(arm, dt);
  const uint64_t key = KeyOf(arm.asset, settings);
  const auto found = known.find(key);
  if (found != known.end()) return found->second.get();
  auto trajectory = std::make_unique<reference::Trajectory>(reference::ElasticBody(arm.asset).rest);
  char name[32];
  std::snprintf(name, sizeof(name), "/%016llx.traj", static_cast<unsigned long long>(key));
  const std::string file = path_ + name;
  if (path_.empty() && arm.asset.simulation().tets.size() > kMostTetsWithoutFolder) {
    std::fprintf(stderr, "%s: motion is not measured: its reference needs --references DIR\n",
                 case_name.c_str());
    trajectory.reset();
  } else if (path_.empty() || !reference::ReadTrajectory(file, key, trajectory.get())) {
    Compute(arm, settings, case_name, trajectory.get());
    if (!path_.empty() && !reference::WriteTrajectory(file, key, *trajectory)) {
      std::fprintf(stderr, "%s: cannot write %s\n", case_name.c_str(), file.c_str());
    }
  }
  return known.emplace(key, std::move(trajectory)).first->second.get();
}

Eigen::Vector3d PinsOf(const SwingingArm& arm, const reference::Trajectory& trajectory) {
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  for (const uint32_t node : arm.pinned) mean += trajectory.rest.col(node).cast<double>();
  return mean / static_cast<double>(arm.pinned.size());
}

MotionErrors CompareMotion(const SwingingArm& arm, const reference::Trajectory& measured,
                           const reference::Trajectory& right) {
  const Eigen::Vector3d pins = PinsOf(arm, right);
  Eigen::Vector3d swing = right.rest.cast<double>().rowwise().mean() - pins;
  swing.y() = 0.0;
  MotionErrors out = {.trajectory = reference::TrajectoryError(measured, right),
                      .half_swing = reference::HalfSwingStep(measured, swing),
                      .right_half_swing = reference::HalfSwingStep(right, swing)};
  const double depth = pins.y() - reference::LowestY(right);
  out.sag = (reference::LowestY(right) - reference::LowestY(measured)) / depth;
  return out;
}

reference::Trajectory FirstSteps(const SwingingArm& arm, float dt, World* world, BodyId id) {
  const BodyDesc desc = arm.Desc();
  std::vector<Vec3> nodes(arm.asset.simulation().nodes.size());
  if (!world->NodePositions(id, 1.0f, nodes).ok()) std::abort();
  reference::Trajectory out(InRest(desc, nodes));
  for (int step = 0; step < kMotionSteps; ++step) {
    if (!world->Step(dt).ok()) std::abort();
    if (!world->NodePositions(id, 1.0f, nodes).ok()) std::abort();
    out.Add(InRest(desc, nodes));
  }
  return out;
}

reference::Points InRest(const BodyDesc& desc, const std::vector<Vec3>& positions) {
  const Quat& q = desc.pose.rotation;
  const Eigen::Matrix3d back =
      Eigen::Quaterniond(double{q.w}, double{q.x}, double{q.y}, double{q.z})
          .conjugate()
          .normalized()
          .toRotationMatrix();
  const Vec3& place = desc.pose.position;
  const Eigen::Vector3d origin(place.x, place.y, place.z);
  reference::Points out(3, static_cast<Eigen::Index>(positions.size()));
  for (size_t i = 0; i < positions.size(); ++i) {
    const Eigen::Vector3d x(positions[i].x, positions[i].y, positions[i].z);
    out.col(static_cast<Eigen::Index>(i)) = back * (x - origin);
  }
  return out;
}

}  // namespace plush::bench
