// SPDX-License-Identifier: MIT
// An octopus with eight arms, each with its own curl, and a spotted mantle.
// Dimensions are in metres, the octopus looks along +z; model.h says what a model consists of.

#include "model.h"
#include "parts.h"

#include <array>
#include <cmath>
#include <utility>

namespace plush::samples {
namespace {

constexpr Vec3d kUp = {0.0, 1.0, 0.0};
constexpr int kSides[2] = {1, -1};

constexpr size_t kPale = 1;
constexpr size_t kWhite = 2;
constexpr size_t kBlack = 3;
constexpr size_t kSpot = 4;

constexpr int kArms = 8;
constexpr int kArmSegments = 44;
constexpr double kArmStep = 0.0125;        // length of a segment [m]
constexpr double kArmStartRadius = 0.036;  // [m]
constexpr double kArmEndRadius = 0.0085;   // [m]
constexpr double kArmStart = 0.07;         // distance of the arms' start from the axis [m]
constexpr double kArmCentre = 0.062;       // height of the arms' centre lines at the body [m]

constexpr Vec3d kMantleCentre = {0.0, 0.300, -0.040};  // [m]
constexpr double kMantleRadius = 0.150;                // [m]

/// A dark spot of the mantle.
struct Spot {
  Vec3d towards;        // from the mantle's centre
  double radius = 0.0;  // [m]
};

constexpr Spot kSpots[] = {
    {{0.35, 0.75, 0.55}, 0.024},   {{-0.10, 0.95, 0.35}, 0.016},  {{-0.62, 0.62, 0.45}, 0.027},
    {{0.85, 0.45, 0.10}, 0.019},   {{0.30, 0.85, -0.45}, 0.029},  {{-0.45, 0.80, -0.30}, 0.019},
    {{0.75, 0.25, -0.65}, 0.024},  {{-0.10, 0.45, -0.90}, 0.021}, {{-0.85, 0.20, -0.45}, 0.027},
    {{0.25, -0.10, -0.95}, 0.027}, {{-0.92, 0.35, 0.15}, 0.015},  {{0.62, 0.72, -0.05}, 0.014},
};

/// How an arm bends. `pitch` is the tangent of half its first pitch (negative is down). The others
/// are tangents of half the turn per segment, upwards and sideways, at the body, in the middle and
/// at the tip.
struct ArmPose {
  double pitch;
  std::array<double, 3> rise;
  std::array<double, 3> swing;
};

constexpr ArmPose kPoses[kArms] = {
    {-0.19, {0.013, 0.0036, 0.000}, {0.012, -0.020, -0.160}},
    {-0.12, {-0.015, 0.040, -0.260}, {0.000, 0.004, 0.010}},
    {-0.19, {0.013, 0.0036, 0.000}, {-0.020, 0.025, 0.190}},
    {-0.19, {0.010, 0.020, 0.180}, {0.000, 0.002, 0.000}},
    {-0.19, {0.013, 0.0036, 0.000}, {0.000, -0.035, -0.170}},
    {-0.19, {0.008, 0.030, 0.200}, {0.000, 0.002, 0.010}},
    {-0.15, {-0.020, 0.050, -0.190}, {0.004, -0.006, 0.020}},
    {-0.19, {0.013, 0.0036, 0.000}, {-0.004, 0.022, 0.190}},
};

/// Quadratic through the three values at t = 0, 1/2, 1.
double Along(const std::array<double, 3>& values, double t) {
  const double u = 1.0 - t;
  return values[0] * u * (u - t) + values[1] * 4.0 * t * u + values[2] * t * (t - u);
}

/// Unit directions of the eight arms around the body, starting between +z and +x.
Vec3d ArmDirection(int arm) {
  const double diagonal = std::sqrt(0.5);
  const double cosine = std::sqrt(0.5 + 0.5 * diagonal);  // of 22.5 degrees
  const double sine = std::sqrt(0.5 - 0.5 * diagonal);
  const Vec3d eighths[kArms] = {{sine, 0, cosine},  {cosine, 0, sine},   {cosine, 0, -sine},
                                {sine, 0, -cosine}, {-sine, 0, -cosine}, {-cosine, 0, -sine},
                                {-cosine, 0, sine}, {-sine, 0, cosine}};
  return eighths[arm];
}

/// An arm's centre line, moved by `drop` radii towards its underside, with radii scaled by
/// `thickness`. Walks straight out from the body and turns a little at every segment.
Tube Arm(int arm, double drop, double thickness) {
  Vec3d direction = ArmDirection(arm);
  Vec3d side = Cross(direction, kUp);
  direction = Turn(direction, side, kPoses[arm].pitch);
  Vec3d up = Cross(side, direction);
  Vec3d p = Vec3d{0.0, kArmCentre, 0.0} + kArmStart * ArmDirection(arm);
  std::vector<TubePoint> points;
  for (int i = 0; i <= kArmSegments; ++i) {
    const double t = static_cast<double>(i) / kArmSegments;
    const double taper = (1.0 - t) * (1.0 - 0.3 * t);
    const double radius = kArmEndRadius + (kArmStartRadius - kArmEndRadius) * taper;
    points.push_back({p - drop * radius * up, thickness * radius});
    direction = Turn(direction, side, Along(kPoses[arm].rise, t));
    direction = Unit(Turn(direction, up, Along(kPoses[arm].swing, t)));
    side = Unit(Cross(direction, up));
    up = Cross(side, direction);
    p += kArmStep * direction;
  }
  return Tube(points);
}

void AddArms(Model* model) {
  Paint underside{kPale, {}};
  underside.region.blobs.push_back(Ball({0.0, -0.025, 0.0}, 0.10, 0.0));
  for (int arm = 0; arm < kArms; ++arm) {
    Blob blob{Arm(arm, 0.0, 1.0)};
    blob.blend = 0.03;
    blob.edge_per_radius = 0.42;
    model->solid.blobs.push_back(std::move(blob));
    underside.region.blobs.push_back({Arm(arm, 0.75, 0.85)});
  }
  model->paints.push_back(std::move(underside));
}

constexpr double kEyeRadius = 0.042;  // [m]
Vec3d EyeCentre(int side) { return OnSide(side, {0.060, 0.190, 0.078}); }

void AddHead(Solid* solid) {
  solid->blobs.push_back(Egg({0.0, 0.085, 0.0}, {0.110, 0.055, 0.110}, 0.0));
  solid->blobs.push_back(Egg({0.0, 0.150, 0.012}, {0.098, 0.090, 0.094}, 0.04));
  solid->blobs.push_back(Ball(kMantleCentre, kMantleRadius, 0.07));
  for (const int side : kSides) {
    solid->blobs.push_back(Finer(Ball(EyeCentre(side), kEyeRadius, 0.008), 0.009));
  }
}

/// A small smile between the eyes.
Solid Mouth() {
  constexpr double kWidth = 0.0035;
  Solid mouth;
  mouth.blobs.push_back(Limb({{{-0.021, 0.150, 0.1035}, kWidth},
                              {{-0.011, 0.1435, 0.1055}, kWidth},
                              {{0.0, 0.1415, 0.106}, kWidth},
                              {{0.011, 0.1435, 0.1055}, kWidth},
                              {{0.021, 0.150, 0.1035}, kWidth}},
                             0.0));
  mouth.blobs.back().edge = 0.004;
  return mouth;
}

void AddPaints(Model* model) {
  auto& paints = model->paints;
  for (const Spot& spot : kSpots) {
    const Vec3d place = kMantleCentre + kMantleRadius * Unit(spot.towards);
    paints.push_back(Painted(kSpot, Finer(Ball(place, spot.radius, 0.0), 0.008)));
  }
  paints.push_back({kBlack, Mouth()});
  for (const int side : kSides) {
    const Vec3d eye = EyeCentre(side);
    const Vec3d gaze = Unit({0.18 * side, 0.05, 1.0});
    paints.push_back(Painted(kWhite, Ball(eye, kEyeRadius + 0.0015, 0.0)));
    paints.push_back(Painted(kBlack, Finer(Ball(eye + 0.042 * gaze, 0.024, 0.0), 0.006)));
    const Vec3d glint = eye + 0.042 * gaze + Vec3d{0.007, 0.011, 0.0};
    paints.push_back(Painted(kWhite, Finer(Ball(glint, 0.0072, 0.0), 0.004)));
  }
}

}  // namespace

Model Octopus() {
  Model model;
  model.name = "octopus";
  model.materials = {{"coral", {0.78, 0.13, 0.11}, 0.55},
                     {"peach", {0.95, 0.55, 0.42}, 0.6},
                     {"white", {0.95, 0.95, 0.92}, 0.3},
                     {"black", {0.012, 0.010, 0.010}, 0.2},
                     {"crimson", {0.50, 0.05, 0.10}, 0.55}};
  AddHead(&model.solid);
  AddArms(&model);
  AddPaints(&model);
  model.inside = {0.0, 0.10, 0.0};
  model.pin.blobs = {Egg({0.0, 0.45, -0.05}, {0.35, 0.12, 0.35}, 0.0)};
  model.lattice_step = 0.0065;
  model.edge = 0.0105;
  return model;
}

}  // namespace plush::samples
