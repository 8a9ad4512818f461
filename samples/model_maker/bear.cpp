// SPDX-License-Identifier: MIT
// A teddy bear that sits with open arms: body, limbs, face, and the solids that paint it.
// Dimensions are in metres, the bear looks along +z; model.h says what a model consists of.

#include "model.h"
#include "parts.h"

#include <cmath>

namespace plush::samples {
namespace {

constexpr Vec3d kAcross = {1.0, 0.0, 0.0};
constexpr Vec3d kForward = {0.0, 0.0, 1.0};
constexpr int kSides[2] = {1, -1};

/// The snout, on which nose and mouth are drawn.
constexpr Ellipsoid kSnout = {{0.0, 0.362, 0.108}, {0.054, 0.042, 0.042}, {}};

constexpr size_t kCream = 1;
constexpr size_t kBlack = 2;
constexpr size_t kRose = 3;

Frame FootFrame() { return Turn(Turn(Frame{}, kAcross, -0.12), kForward, -0.12); }

void AddTrunk(Solid* solid) {
  solid->blobs.push_back(Egg({0.0, 0.165, 0.0}, {0.138, 0.150, 0.122}, 0.0));
  solid->blobs.push_back(Ball({0.0, 0.105, -0.128}, 0.034, 0.02));  // tail
}

void AddLimbs(int side, Solid* solid) {
  solid->blobs.push_back(Limb({{OnSide(side, {0.105, 0.262, 0.015}), 0.042},
                               {OnSide(side, {0.178, 0.222, 0.062}), 0.044},
                               {OnSide(side, {0.206, 0.182, 0.112}), 0.047}},
                              0.028));
  solid->blobs.push_back(Limb(
      {{OnSide(side, {0.085, 0.070, 0.030}), 0.060}, {OnSide(side, {0.118, 0.060, 0.165}), 0.050}},
      0.03));
  solid->blobs.push_back(Egg(OnSide(side, {0.124, 0.082, 0.196}), {0.054, 0.072, 0.034}, 0.03,
                             FrameOnSide(side, FootFrame())));
}

void AddHead(Solid* solid) {
  solid->blobs.push_back(Egg({0.0, 0.395, 0.012}, {0.128, 0.112, 0.108}, 0.035));
  for (const int side : kSides) {
    const Vec3d ear = OnSide(side, {0.098, 0.482, -0.004});
    solid->blobs.push_back(Finer(Egg(ear, {0.046, 0.046, 0.028}, 0.016), 0.009));
    solid->blobs.push_back(Carved(Ball(ear + OnSide(side, {0.003, 0.002, 0.041}), 0.030, 0.012)));
    // Cheeks make the face round below the eyes.
    solid->blobs.push_back(Ball(OnSide(side, {0.062, 0.358, 0.062}), 0.046, 0.04));
  }
  solid->blobs.push_back(Egg(kSnout.centre, kSnout.radii, 0.018));
  solid->blobs.push_back(Finer(Egg({0.0, 0.386, 0.142}, {0.022, 0.015, 0.015}, 0.004), 0.0045));
  for (const int side : kSides) {
    const Vec3d eye = OnSide(side, {0.050, 0.414, 0.104});
    solid->blobs.push_back(Finer(Egg(eye, {0.0155, 0.0175, 0.014}, 0.003), 0.0045));
  }
}

/// The point of the snout that is visible at (x, y) from the front.
Vec3d OnSnout(double x, double y) {
  const double u = (x - kSnout.centre.x) / kSnout.radii.x;
  const double v = (y - kSnout.centre.y) / kSnout.radii.y;
  return {x, y, kSnout.centre.z + kSnout.radii.z * std::sqrt(1.0 - u * u - v * v)};
}

/// A line below the nose that parts into a smile.
Solid Mouth() {
  constexpr double kWidth = 0.0022;
  Solid mouth;
  mouth.blobs.push_back(Limb(
      {{OnSnout(0.0, 0.368), kWidth}, {OnSnout(0.0, 0.357), kWidth}, {OnSnout(0.0, 0.347), kWidth}},
      0.0));
  for (const int side : kSides) {
    mouth.blobs.push_back(Limb({{OnSnout(0.0, 0.347), kWidth},
                                {OnSnout(0.005 * side, 0.3435), kWidth},
                                {OnSnout(0.011 * side, 0.3420), kWidth},
                                {OnSnout(0.017 * side, 0.3430), kWidth},
                                {OnSnout(0.023 * side, 0.3475), kWidth}},
                               0.0));
  }
  for (Blob& blob : mouth.blobs) blob.edge = 0.003;
  return mouth;
}

void AddPaints(Model* model) {
  auto& paints = model->paints;
  paints.push_back(Painted(kCream, Egg({0.0, 0.165, 0.120}, {0.088, 0.105, 0.070}, 0.0)));
  paints.push_back(Painted(kCream, Egg({0.0, 0.362, 0.128}, {0.0565, 0.0445, 0.050}, 0.0)));
  for (const int side : kSides) {
    paints.push_back(Painted(kRose, Ball(OnSide(side, {0.101, 0.484, 0.032}), 0.031, 0.0)));
    const Frame foot = FrameOnSide(side, FootFrame());
    const Vec3d sole = OnSide(side, {0.126, 0.076, 0.235});
    paints.push_back(Painted(kCream, Egg(sole, {0.032, 0.036, 0.030}, 0.0, foot)));
    for (int toe = -1; toe <= 1; ++toe) {
      const Vec3d place =
          sole + 0.027 * toe * foot.x + (toe == 0 ? 0.056 : 0.046) * foot.y - 0.006 * foot.z;
      paints.push_back(Painted(kCream, Finer(Ball(place, 0.0105, 0.0), 0.0055)));
    }
    paints.push_back(
        Painted(kBlack, Egg(OnSide(side, {0.050, 0.414, 0.106}), {0.0170, 0.0190, 0.017}, 0.0)));
  }
  paints.push_back(Painted(kBlack, Egg({0.0, 0.3865, 0.143}, {0.0235, 0.0165, 0.0165}, 0.0)));
  paints.push_back({kBlack, Mouth()});
}

/// Hips that hold the trunk, and five joints that turn head, arms and legs.
std::vector<Joint> Joints() {
  std::vector<Joint> joints;
  joints.push_back({"hips", 0, {0.0, 0.100, 0.0}, {0.0, 1.0, 0.0}, {}, 0.0});
  const Solid head = {{Egg({0.0, 0.430, 0.0}, {0.250, 0.150, 0.250}, 0.0)}};
  joints.push_back({"head", 0, {0.0, 0.300, 0.0}, {0.0, 1.0, 0.0}, head, 0.05});
  for (const int side : kSides) {
    const Vec3d shoulder = OnSide(side, {0.110, 0.260, 0.018});
    const Vec3d hand = OnSide(side, {0.206, 0.182, 0.112});
    const Solid arm = {{Limb({{OnSide(side, {0.178, 0.228, 0.062}), 0.055},
                              {OnSide(side, {0.230, 0.170, 0.130}), 0.085}},
                             0.0)}};
    joints.push_back({side > 0 ? "arm_l" : "arm_r", 0, shoulder, Unit(hand - shoulder), arm, 0.03});
  }
  for (const int side : kSides) {
    const Vec3d hip = OnSide(side, {0.085, 0.070, 0.040});
    const Vec3d ankle = OnSide(side, {0.118, 0.060, 0.165});
    const Solid leg = {{Limb({{OnSide(side, {0.108, 0.066, 0.125}), 0.075},
                              {OnSide(side, {0.126, 0.080, 0.220}), 0.110}},
                             0.0)}};
    joints.push_back({side > 0 ? "leg_l" : "leg_r", 0, hip, Unit(ankle - hip), leg, 0.04});
  }
  return joints;
}

}  // namespace

Model Bear() {
  Model model;
  model.name = "bear";
  model.materials = {{"brown_fur", {0.50, 0.235, 0.085}, 0.9},
                     {"cream", {0.86, 0.67, 0.42}, 0.9},
                     {"black", {0.012, 0.010, 0.010}, 0.25},
                     {"rose", {0.80, 0.36, 0.30}, 0.9}};
  AddTrunk(&model.solid);
  for (const int side : kSides) AddLimbs(side, &model.solid);
  AddHead(&model.solid);
  AddPaints(&model);
  model.inside = {0.0, 0.165, 0.0};
  model.joints = Joints();
  model.pin.blobs = {Egg({0.0, 0.55, 0.0}, {0.30, 0.10, 0.30}, 0.0)};
  model.lattice_step = 0.0085;
  model.edge = 0.0128;
  return model;
}

}  // namespace plush::samples
