// SPDX-License-Identifier: MIT
// A bath duck.

#include "model.h"
#include "parts.h"

namespace plush::samples {
namespace {

constexpr Vec3d kAcross = {1.0, 0.0, 0.0};
constexpr Vec3d kUp = {0.0, 1.0, 0.0};
constexpr int kSides[2] = {1, -1};

constexpr size_t kOrange = 1;
constexpr size_t kBlack = 2;
constexpr size_t kWhite = 3;

constexpr Vec3d kHead = {0.0, 0.235, 0.085};

void AddBody(Solid* solid) {
  solid->blobs.push_back(
      Egg({0.0, 0.085, -0.005}, {0.105, 0.085, 0.145}, 0.0, Turn(Frame{}, kAcross, -0.04)));
  solid->blobs.push_back(Egg({0.0, 0.105, 0.065}, {0.083, 0.075, 0.075}, 0.06));  // breast
  solid->blobs.push_back(Finer(                                                   // tail
      Egg({0.0, 0.132, -0.128}, {0.058, 0.034, 0.082}, 0.05, Turn(Frame{}, kAcross, 0.32)),
      0.0105));
  solid->blobs.push_back(Limb({{{0.0, 0.130, 0.060}, 0.060}, {{0.0, 0.200, 0.080}, 0.054}}, 0.03));
  for (const int side : kSides) {
    const Frame wing = Turn(Turn(Frame{}, kUp, -0.06 * side), kAcross, 0.10);
    solid->blobs.push_back(Finer(
        Egg(OnSide(side, {0.097, 0.102, -0.015}), {0.026, 0.046, 0.074}, 0.012, wing), 0.0105));
    const Frame tip = Turn(Turn(Frame{}, kUp, -0.12 * side), kAcross, 0.30);
    solid->blobs.push_back(
        Finer(Egg(OnSide(side, {0.108, 0.121, -0.075}), {0.018, 0.027, 0.050}, 0.03, tip), 0.009));
  }
}

void AddHead(Solid* solid) {
  solid->blobs.push_back(Egg(kHead, {0.084, 0.080, 0.082}, 0.025));
  // A tuft.
  solid->blobs.push_back(Finer(Limb({{{0.0, 0.300, 0.085}, 0.019},
                                     {{0.0, 0.318, 0.080}, 0.014},
                                     {{0.0, 0.329, 0.068}, 0.010},
                                     {{0.0, 0.332, 0.058}, 0.008}},
                                    0.020),
                               0.006));
  // Upper and lower bill, open a little, with raised corners.
  solid->blobs.push_back(
      Finer(Egg({0.0, 0.222, 0.172}, {0.046, 0.014, 0.044}, 0.012, Turn(Frame{}, kAcross, -0.12)),
            0.0085));
  solid->blobs.push_back(
      Finer(Egg({0.0, 0.199, 0.160}, {0.034, 0.012, 0.034}, 0.008, Turn(Frame{}, kAcross, 0.10)),
            0.0085));
  for (const int side : kSides) {
    solid->blobs.push_back(
        Ball(OnSide(side, {0.042, 0.220, 0.150}), 0.013, 0.012));  // corner of the bill
    solid->blobs.push_back(
        Finer(Egg(OnSide(side, {0.042, 0.266, 0.142}), {0.016, 0.021, 0.014}, 0.008), 0.005));
  }
}

void AddPaints(Model* model) {
  auto& paints = model->paints;
  paints.push_back(Painted(kOrange, Egg({0.0, 0.214, 0.178}, {0.064, 0.036, 0.050}, 0.0)));
  for (const int side : kSides) {
    const Vec3d eye = OnSide(side, {0.043, 0.266, 0.148});
    paints.push_back(Painted(kBlack, Finer(Egg(eye, {0.017, 0.022, 0.020}, 0.0), 0.005)));
    paints.push_back(
        Painted(kWhite, Finer(Ball(eye + Vec3d{0.003, 0.009, 0.008}, 0.0065, 0.0), 0.0045)));
  }
}

}  // namespace

Model Duck() {
  Model model;
  model.name = "duck";
  model.materials = {{"yellow", {1.0, 0.66, 0.035}, 0.45},
                     {"orange", {0.95, 0.23, 0.015}, 0.45},
                     {"black", {0.012, 0.010, 0.010}, 0.25},
                     {"white", {0.95, 0.95, 0.92}, 0.4}};
  AddBody(&model.solid);
  AddHead(&model.solid);
  AddPaints(&model);
  model.inside = {0.0, 0.085, 0.0};
  model.pin.blobs = {Egg({0.0, -0.08, 0.0}, {0.40, 0.10, 0.40}, 0.0)};
  model.lattice_step = 0.0085;
  model.edge = 0.0132;
  return model;
}

}  // namespace plush::samples
