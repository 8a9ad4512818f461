// SPDX-License-Identifier: MIT
// A nearly incompressible beam, held and twisted at both ends [Kug, Fig. 3]. One volume sweep per
// step keeps its volume within one percent. So do the relaxed multipliers of the two-level step.
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace twisted_beam_test {

constexpr float kDt = 0.01f;
constexpr double kLength = 6.0;  // along x; 1 x 1 across [m]
constexpr uint32_t kCells = 4;   // across
constexpr double kPi = 3.14159265358979323846;
constexpr tools::Material kMaterial = {1.0e6, 0.49, 1000.0};
// The same mu, without a volume term.
constexpr tools::Material kNoVolumeTerm = {1.0e6 / 1.49, 0.0, 1000.0};

// The step of [Kug].
constexpr SplittingSettings kOneSweep = {.outer_iterations = 1, .volume_sweeps = 1};

// The rest shape with every section turned about the axis in proportion to its position, so that
// the ends are `angle` apart.
Points Twisted(const Points& rest, double angle) {
  Points x = rest;
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    const double turn = angle * (rest(0, i) / kLength - 0.5);
    const double y = rest(1, i) - 0.5, z = rest(2, i) - 0.5;
    x(1, i) = 0.5 + std::cos(turn) * y - std::sin(turn) * z;
    x(2, i) = 0.5 + std::sin(turn) * y + std::cos(turn) * z;
  }
  return x;
}

// |det F - 1| of each tet, ascending.
std::vector<double> VolumeChanges(const DenseModel& model, const Points& x) {
  std::vector<double> out;
  for (size_t t = 0; t < model.tets.size(); ++t) {
    out.push_back(std::fabs(DenseGradient(model, t, x).determinant() - 1.0));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The beam in a world without gravity.
struct Beam {
  explicit Beam(const SplittingSettings& splitting, const tools::Material& material = kMaterial)
      : shape(TetBox(6 * kCells, kCells, kCells, 1.0 / kCells), material, double(kDt)),
        model(shape.asset(), material) {
    for (Eigen::Index i = 0; i < model.num_nodes(); ++i) {
      const double x = model.rest(0, i);
      if (x < 1e-6 || x > kLength - 1e-6) ends.push_back(static_cast<uint32_t>(i));
    }
    WorldDesc desc = {.gravity = {}};
    world = std::make_unique<World>(desc);
    id = AddBody(world.get(), shape.asset(), {.pinned_nodes = ends, .splitting = splitting});
    rest_volume = MomentsOf(*world, id).volume;
  }

  Points Positions() const { return ToEigen(PositionsOf(*world, id, shape.num_nodes())); }

  // Steps once and keeps the largest errors.
  void Step() {
    REQUIRE(StepWorld(world.get(), kDt) == kStepOk);
    const double volume = MomentsOf(*world, id).volume;
    worst_total = std::max(worst_total, std::fabs(volume / rest_volume - 1.0));
    const std::vector<double> changes = VolumeChanges(model, Positions());
    worst_p95 = std::max(worst_p95, changes[changes.size() * 95 / 100]);
    last_p95 = changes[changes.size() * 95 / 100];
    last_total = volume / rest_volume - 1.0;
    CHECK(MeasuresOf(*world).inverted_tets == 0);
  }

  void Print(const char* how) const {
    std::printf(
        "twisted beam, %s: total volume off by %.3f%% at most (%+.3f%% in the end), 95th "
        "percentile of |det F - 1| %.4f at most (%.4f in the end)\n",
        how, 100.0 * worst_total, 100.0 * last_total, worst_p95, last_p95);
  }

  ShapeAsset shape;
  DenseModel model;
  std::vector<uint32_t> ends;
  std::unique_ptr<World> world;
  BodyId id;
  double rest_volume = 0.0, worst_total = 0.0, worst_p95 = 0.0, last_p95 = 0.0, last_total = 0.0;
};

TEST_CASE("A beam keeps its volume while its ends turn half a turn apart", "[long]") {
  const bool sweeps = GENERATE(true, false);
  CAPTURE(sweeps);
  Beam beam(sweeps ? kOneSweep : SplittingSettings{});
  constexpr int kTurning = 200;
  for (int step = 1; step <= kTurning; ++step) {
    const Points held = Twisted(beam.model.rest, kPi * step / kTurning);
    Points x = beam.Positions();
    std::vector<Vec3> targets;
    for (const uint32_t node : beam.ends) {
      x.col(node) = held.col(node);
      targets.push_back(ToVec3(held.col(node)));
    }
    if (sweeps) {
      // The ends move between steps. SetNodePositions resets the multipliers to zero, as the paper
      // does at the start of each step.
      REQUIRE(beam.world->SetNodePositions(beam.id, ToVec3s(x)).ok());
    } else {
      REQUIRE(beam.world->MovePins(beam.id, beam.ends, targets).ok());
    }
    beam.Step();
  }
  beam.Print(sweeps ? "while it is turned, one sweep" : "while it is turned");
  CHECK(beam.worst_total < 0.01);
  for (int step = 0; step < 200; ++step) beam.Step();
  beam.Print(sweeps ? "held, one sweep" : "held");
  CHECK(beam.worst_total < 0.01);
  // The beam is twisted: its middle has turned half as far as the ends and stays on the axis.
  const Points x = beam.Positions(), expected = Twisted(beam.model.rest, kPi);
  CHECK((x.rowwise().mean() - expected.rowwise().mean()).norm() < 0.02);
  CHECK((x - expected).colwise().norm().maxCoeff() < 0.2);
}

TEST_CASE("A beam that starts half a turn twisted keeps its volume", "[long]") {
  const bool sweeps = GENERATE(true, false);
  CAPTURE(sweeps);
  const SplittingSettings splitting = sweeps ? kOneSweep : SplittingSettings{};
  Beam beam(splitting);
  REQUIRE(beam.world->SetNodePositions(beam.id, ToVec3s(Twisted(beam.model.rest, kPi))).ok());
  const double start = MomentsOf(*beam.world, beam.id).elastic_j;
  for (int step = 0; step < 200; ++step) beam.Step();
  beam.Print(sweeps ? "from the even twist, one sweep" : "from the even twist");
  CHECK(beam.worst_total < 0.01);
  CHECK(MomentsOf(*beam.world, beam.id).elastic_j < start);

  // The stretch term alone does not keep the volume.
  Beam blind(splitting, kNoVolumeTerm);
  REQUIRE(blind.world->SetNodePositions(blind.id, ToVec3s(Twisted(blind.model.rest, kPi))).ok());
  for (int step = 0; step < 200; ++step) blind.Step();
  blind.Print("from the even twist, no volume term");
  CHECK(blind.worst_total > 4.0 * beam.worst_total);
  CHECK(blind.last_p95 > 2.0 * beam.last_p95);
}

}  // namespace twisted_beam_test
