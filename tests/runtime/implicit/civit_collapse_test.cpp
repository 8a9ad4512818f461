// SPDX-License-Identifier: MIT
// Experiments of [Civ 4.5]: bodies with many degenerate tets (det F < 0.1), by each rotation
// method. PLUSH_CURVES=FOLDER writes their numbers over time.
#include "plush/solver.h"

#include "import/import.h"
#include "runtime/colliders/plane_scene.h"
#include "runtime/implicit/curve_file.h"
#include "runtime/tet_fixtures.h"
#include "shapes/kuhn_box.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace civit_collapse_test {

constexpr float kDt = 1.0f / 60.0f;
constexpr float kWeightless = 0.0f;

struct Method {
  const char* name;
  RotationMethod rotation;
  float beta = 3.0f;
};

constexpr Method kQr = {"QR", RotationMethod::kQr};
constexpr Method kIsvd = {"ISVD", RotationMethod::kInvertibleSvd};
constexpr Method kAware1 = {"DAPD1", RotationMethod::kDegenerationAware, 1.0f};
constexpr Method kAware3 = {"DAPD3", RotationMethod::kDegenerationAware, 3.0f};
constexpr Method kAware5 = {"DAPD5", RotationMethod::kDegenerationAware, 5.0f};

// The methods of the paper's figures.
constexpr std::array kCompared = {kQr, kIsvd, kAware1, kAware5};
constexpr char kHead[] = "seconds,QR,ISVD,DAPD1,DAPD5";

BodySolver SolverOf(const Method& method) {
  return ImplicitSolver({.newton_iterations = 1,
                         .linear_iterations = 10,
                         .differential = StressDifferential::kHybrid,
                         .model = MaterialModel::kCorotated,
                         .rotation = method.rotation,
                         .beta = method.beta});
}

// Degenerate tets after each step.
using Counts = std::vector<uint32_t>;

// Times time [s].
double IntegralOf(const Counts& counts) {
  double sum = 0.0;
  for (const uint32_t count : counts) sum += double(kDt) * count;
  return sum;
}

// Runs of one method that differ by their seeds.
class Runs {
 public:
  void Add(const Counts& counts) {
    if (integrals_.empty()) first_ = counts;
    integrals_.push_back(IntegralOf(counts));
    left_ += counts.back();
  }
  const Counts& first() const { return first_; }
  // Of degenerate tets times time [s].
  double Mean() const {
    double sum = 0.0;
    for (const double integral : integrals_) sum += integral;
    return sum / double(integrals_.size());
  }
  // The standard deviation of a run from the mean.
  double Spread() const {
    double sum = 0.0;
    for (const double integral : integrals_) sum += (integral - Mean()) * (integral - Mean());
    return std::sqrt(sum / double(integrals_.size() - 1));
  }
  // Mean number of degenerate tets at the end.
  double Left() const { return left_ / double(integrals_.size()); }
  void Print() const { std::printf(" %8.2f +- %5.2f %6.1f", Mean(), Spread(), Left()); }

 private:
  Counts first_;
  std::vector<double> integrals_;
  double left_ = 0.0;
};

// One body in its world.
struct Experiment {
  Experiment(const ShapeAsset& of, const Method& method, float gravity,
             const std::vector<uint32_t>& pins = {}, const Pose& pose = {})
      : shape(of), world(DescOf(gravity)) {
    const BodySolver solver = SolverOf(method);
    BodyDesc desc = {
        .pose = pose, .material = {.damping = 0.01f}, .pinned_nodes = pins, .solver = &solver};
    id = AddBody(&world, shape.asset(), desc);
  }
  static WorldDesc DescOf(float gravity) {
    return WorldDesc{.gravity = {0.0f, -gravity, 0.0f}, .sleep = {.speed = 0.0f}};
  }
  void Step(int steps, Counts* counts) {
    for (int step = 0; step < steps; ++step) {
      REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0);
      counts->push_back(MeasuresOf(world).collapsed_tets);
    }
  }
  // Puts the nodes anywhere within the body's box.
  void Scatter(uint32_t seed) {
    Random random(seed);
    const Points rest = ToEigen(shape.rest());
    const Eigen::Vector3d low = rest.rowwise().minCoeff(), high = rest.rowwise().maxCoeff();
    Points x = random.Vectors(shape.num_nodes(), 1.0);
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      x.col(i) = 0.5 * (low + high) + 0.5 * (high - low).cwiseProduct(x.col(i));
    }
    REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
  }

  const ShapeAsset& shape;
  World world;
  BodyId id;
};

// cells^3 cells of 6 tets, 1 kg.
ShapeAsset CubeOf(uint32_t cells) {
  const double density = 1.0 / (0.001 * cells * cells * cells);
  return ShapeAsset(KuhnBox(cells, cells, cells, 0.1, 0.1, 0.1), {1000.0, 0.35, density},
                    double(kDt), 0u);
}

Counts FallApart(const ShapeAsset& shape, const Method& method, uint32_t seed, int steps) {
  Experiment run(shape, method, kWeightless);
  run.Scatter(seed);
  Counts counts;
  run.Step(steps, &counts);
  return counts;
}

// [Civ, Fig. 4.11]: Beam3D lies on the left half of its base, which is pinned, while the other half
// hangs over under strong gravity.
struct OverhangingBeam {
  OverhangingBeam()
      : shape(KuhnBox(6, 3, 3, 0.35, 0.2, 0.2), {1000.0, 0.25, 5.0 / (2.1 * 0.6 * 0.6)},
              double(kDt), 0u) {
    const std::vector<Vec3> rest = shape.rest();
    for (uint32_t i = 0; i < rest.size(); ++i) {
      if (rest[i].y < 0.01f && rest[i].x < 1.06f) pins.push_back(i);
    }
    REQUIRE(pins.size() == 16);
  }
  // Under gravity, and then without.
  Counts Hang(const Method& method, int steps, int steps_after) const {
    Experiment run(shape, method, 50.0f, pins);
    Counts counts;
    run.Step(steps, &counts);
    REQUIRE(run.world.SetGravity({}).ok());
    run.Step(steps_after, &counts);
    return counts;
  }

  ShapeAsset shape;
  std::vector<uint32_t> pins;
};

// A file of the numbers over time by each of kCompared.
void WriteCounts(const std::string& name, const std::vector<Counts>& of) {
  CurveFile file(name, kHead);
  for (size_t step = 0; step < of[0].size(); ++step) {
    std::vector<double> row = {double(kDt) * static_cast<double>(step + 1)};
    for (const Counts& counts : of) row.push_back(counts[step]);
    file.Add(row);
  }
}

// A model of 1000 triangles in a cage of some 400 tets, its longest side 1 m, of a mass [kg] and
// Young's modulus [Pa] of [Civ, Table 4.1].
ShapeAsset CagedModel(const std::string& path, double mass, double young) {
  tools::ImportedModel model;
  std::ifstream in(path);
  std::string word;
  std::vector<tools::Vec3d>& points = model.surface.positions;
  while (in >> word) {
    if (word == "v") {
      tools::Vec3d p;
      in >> p.x >> p.y >> p.z;
      points.push_back(p);
    } else if (word == "f") {
      std::array<uint32_t, 3> corners{};
      for (uint32_t& corner : corners) {
        in >> word;
        corner = static_cast<uint32_t>(std::stoul(word)) - 1;
      }
      model.surface.triangles.push_back(corners);
    }
    std::getline(in, word);
  }
  REQUIRE(model.surface.triangles.size() == 1000);
  Points all(3, static_cast<Eigen::Index>(points.size()));
  for (size_t i = 0; i < points.size(); ++i) {
    all.col(static_cast<Eigen::Index>(i)) = Eigen::Vector3d(points[i].x, points[i].y, points[i].z);
  }
  const double size = (all.rowwise().maxCoeff() - all.rowwise().minCoeff()).maxCoeff();
  for (tools::Vec3d& p : points) p = {p.x / size, p.y / size, p.z / size};
  model.surface.normals.assign(points.size(), {0.0f, 1.0f, 0.0f});
  model.surface.parts = {{"model", "", "", 0, 1000}};
  model.format = "obj";
  tools::BakeSettings settings = {.cage = {.target_tets = 400},
                                  .material = {young, 0.35, 1000.0},
                                  .dt = double(kDt),
                                  .clusters = 0};
  const auto baked_at = [&](double density) {
    settings.material.density = density;
    tools::FindingList findings;
    auto baked = tools::Bake(model, settings, &findings);
    if (!baked.ok()) FAIL(baked.error().message);
    return std::move(baked.value());
  };
  const double density = 1000.0 * mass / baked_at(1000.0).summary.mass_kg;
  return ShapeAsset(std::span<const std::byte>(baked_at(density).bytes));
}

struct Model {
  const char* file;
  double mass, young;
};

// Of the paper's three, those there are.
constexpr Model kModels[] = {{"armadillo_1k", 1.2, 1.0e4}, {"horse_1k", 7.5, 1.0e5}};

// From 5 m above a floor under g = 100 m/s^2, turned at random at the start. Then without gravity.
Counts FallOnFloor(const ShapeAsset& shape, const Method& method, uint32_t seed, int steps,
                   int steps_after = 0) {
  Random random(seed);
  const Eigen::Matrix3d rotation = random.Rotation();
  const double lowest = (rotation * ToEigen(shape.rest())).row(1).minCoeff();
  Pose pose = {.position = {.y = static_cast<float>(5.0 - lowest)}, .rotation = ToQuat(rotation)};
  Experiment run(shape, method, 100.0f, {}, pose);
  AddPlane(&run.world, {}, 0.5f);
  Counts counts;
  run.Step(steps, &counts);
  if (steps_after > 0) REQUIRE(run.world.SetGravity({}).ok());
  run.Step(steps_after, &counts);
  return counts;
}

constexpr uint32_t kSeeds = 10;

// Unlike in the paper, ISVD recovers sooner than DAPD here: by 16% on the cube of 1,296 tets, and
// on the models by 3 to 32%, with and without damping or a line search, without a preconditioner,
// with dP(1), with the exact stress, if only inverted tets count, and if nodes go to their random
// places within a step, so that witnesses come from their ways instead of from flattened tets.
TEST_CASE("A body of random node positions loses its degenerate tets faster by DAPD than by QR") {
  const ShapeAsset cube = CubeOf(3);
  double aware = 0.0, isvd = 0.0, qr = 0.0;
  uint32_t left = 0;
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Counts counts = FallApart(cube, kAware3, seed, 120);
    aware += IntegralOf(counts);
    left += counts.back();
    isvd += IntegralOf(FallApart(cube, kIsvd, seed, 120));
    qr += IntegralOf(FallApart(cube, kQr, seed, 120));
  }
  CAPTURE(aware, isvd, qr, left);
  CHECK(aware < 0.5 * qr);
  CHECK(isvd < 0.5 * qr);
  CHECK(left == 0);
}

TEST_CASE("Under strong gravity fewer tets degenerate by DAPD than by QR, and recover without",
          "[long]") {
  const OverhangingBeam beam;
  constexpr int kHangs = 300, kRecovers = 120;
  std::vector<uint32_t> held, left;
  for (const Method& method : kCompared) {
    const Counts counts = beam.Hang(method, kHangs, kRecovers);
    held.push_back(counts[kHangs - 1]);
    left.push_back(counts.back());
    std::printf("%-6s %3u degenerate under gravity, %3u left\n", method.name, held.back(),
                left.back());
  }
  // Of kCompared. Unlike in the paper's figure, a larger beta does not help here.
  CHECK(held[1] < held[0] / 2);
  CHECK(held[2] <= held[1]);
  CHECK(held[3] <= held[1]);
  CHECK(left[2] == 0);
  CHECK(left[3] == 0);
}

// Here the order is the paper's. Of 10 seeds, degenerate tets times seconds, mean and standard
// deviation: QR 158 +- 59, ISVD 75 +- 21, DAPD1 48 +- 5, DAPD5 36 +- 6.
TEST_CASE("In a fall fewer tets degenerate by DAPD than by ISVD and QR, and all recover after it",
          "[long]") {
  const ShapeAsset cube = CubeOf(3);
  constexpr int kFalls = 120, kRecovers = 120;
  const uint32_t seeds = tests::FullTests() ? kSeeds : 3;
  Runs aware, isvd, qr;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    aware.Add(FallOnFloor(cube, kAware5, seed, kFalls, kRecovers));
    isvd.Add(FallOnFloor(cube, kIsvd, seed, kFalls, kRecovers));
    qr.Add(FallOnFloor(cube, kQr, seed, kFalls, kRecovers));
  }
  CAPTURE(seeds, aware.Mean(), aware.Spread(), isvd.Mean(), isvd.Spread(), qr.Mean(), qr.Spread());
  CHECK(aware.Mean() < 0.5 * qr.Mean());
  CHECK(isvd.Mean() < 0.75 * qr.Mean());
  if (seeds == kSeeds) CHECK(aware.Mean() < 0.75 * isvd.Mean());  // three vary too much
  CHECK(aware.Left() == 0.0);
}

TEST_CASE("Table of experiment 2: degenerate tets over time by rotation method", "[.papers]") {
  std::printf(
      "6x6x6 cells, 1296 tets, 4 s: degenerate tets times seconds, mean and standard deviation of "
      "seeds 1 to 10; mean left\n");
  constexpr Method kAll[] = {kQr,
                             kIsvd,
                             kAware1,
                             kAware5,
                             kAware3,
                             {"coherent_svd", RotationMethod::kCoherentSvd},
                             {"polar_qr", RotationMethod::kPolarQr},
                             {"project", RotationMethod::kProject},
                             {"reflect", RotationMethod::kReflect}};
  const ShapeAsset cube = CubeOf(6);
  std::vector<Counts> first, falls;
  for (const Method& method : kAll) {
    const bool is_compared = first.size() < kCompared.size();
    Runs scattered, fallen;
    for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
      scattered.Add(FallApart(cube, method, seed, 240));
      if (is_compared) fallen.Add(FallOnFloor(cube, method, seed, 240));
    }
    std::printf("%-12s random nodes", method.name);
    scattered.Print();
    if (is_compared) {
      first.push_back(scattered.first());
      falls.push_back(fallen.first());
      std::printf(" | fall from 5 m under g = 100");
      fallen.Print();
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  WriteCounts("random_cube666", first);
  WriteCounts("fall_cube666", falls);
}

TEST_CASE("Table of experiment 2: random models, and models that fall on a floor", "[.papers]") {
  std::printf(
      "degenerate tets times seconds, of 4 s, mean and standard deviation of seeds 1 to 10; mean "
      "left: from random nodes | from a fall of 5 m under g = 100, turned at random\n");
  for (const Model& of : kModels) {
    const std::string path = tests::TestModelOrSkip(std::string(of.file) + ".obj");
    if (path.empty()) return;
    const ShapeAsset shape = CagedModel(path, of.mass, of.young);
    std::printf("%s, %zu tets, %zu nodes\n", of.file, shape.simulation().tets.size(),
                shape.num_nodes());
    std::vector<Counts> random, falls;
    for (const Method& method : kCompared) {
      Runs scattered, fallen;
      for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
        scattered.Add(FallApart(shape, method, seed, 240));
        fallen.Add(FallOnFloor(shape, method, seed, 240));
      }
      random.push_back(scattered.first());
      falls.push_back(fallen.first());
      std::printf("  %-6s", method.name);
      scattered.Print();
      std::printf(" |");
      fallen.Print();
      std::printf("\n");
      std::fflush(stdout);
    }
    WriteCounts(std::string("random_") + of.file, random);
    WriteCounts(std::string("fall_") + of.file, falls);
  }
}

TEST_CASE("Table of experiment 2: a beam that hangs over under strong gravity, then without it",
          "[.papers]") {
  const OverhangingBeam beam;
  std::vector<Counts> all;
  std::printf("324 tets, g = 50 for 10 s: degenerate tets at its end; after 5 s without\n");
  for (const Method& method : kCompared) {
    all.push_back(beam.Hang(method, 600, 300));
    std::printf("%-6s %3u %3u\n", method.name, all.back()[599], all.back().back());
  }
  WriteCounts("gravity_beam", all);
}

}  // namespace civit_collapse_test
