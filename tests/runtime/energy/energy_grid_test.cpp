// SPDX-License-Identifier: MIT
// Bodies of all shapes, materials and mass ratios that run into each other in the air, one of them
// on pins in some scenes, or fall on each other on a floor, or hang on springs alone or in a crowd:
// counts the scenes that end without finite positions, and those that gain energy, the reference's
// in double precision.
//
// PLUSH_TEST_FULL=1 takes 1000 scenes in the air, 600 on a floor, and 3000 bodies on springs.
// PLUSH_GRID_SEED=N takes that scene alone and prints its steps.
#include "reference/elastic_body.h"
#include "runtime/attachments/held_nodes.h"
#include "runtime/energy/random_scenes.h"
#include "runtime/tet_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace energy_grid_test {

constexpr double kGravity = 9.81;
constexpr double kMostGain = 0.01;  // of the largest kinetic and elastic energy so far

// A body and how it begins.
struct Part {
  RandomScene scene;
  ShapeAsset shape;
  reference::ElasticBody body;
  double scale = 1.0, size = 1.0;  // size: of the scaled body's box [m]
  BodyId id;

  explicit Part(RandomScene from)
      : scene(std::move(from)), shape(Bytes(&scene)), body(shape.asset()), scale(scene.scale) {
    size = scale * (body.rest.rowwise().maxCoeff() - body.rest.rowwise().minCoeff()).norm();
  }
  double Mass() const { return std::pow(scale, 3) * body.masses.sum(); }
  void Resize(double to) {
    constexpr double kMostScale = 90.0;
    const double ratio = std::min(to / size, kMostScale / scale);
    scale *= ratio, size *= ratio;
  }
  static std::vector<std::byte> Bytes(RandomScene* scene) {
    scene->has_surface = true;
    return BytesOf(*scene, 1);
  }
};

// Of all bodies [J].
struct Energies {
  double kinetic = 0.0, elastic = 0.0, height = 0.0;
  double noise = 0.0;  // that rounded positions may add to `elastic`
  bool finite = true;

  void Add(const World& world, const Part& part) {
    const size_t n = part.shape.num_nodes();
    const Points x = ToEigen(PositionsOf(world, part.id, n));
    const Points v = ToEigen(VelocitiesOf(world, part.id, n));
    finite = finite && x.allFinite() && v.allFinite();
    if (!finite) return;
    const double s3 = std::pow(part.scale, 3);
    kinetic += 0.5 * s3 * v.colwise().squaredNorm().dot(part.body.masses);
    height += s3 * kGravity * x.row(1).dot(part.body.masses);
    Points gradient;
    elastic += s3 * reference::EnergyOf(part.body, {}, x / part.scale, &gradient);
    const double rounding = 6.0e-8 * x.cwiseAbs().maxCoeff() / part.scale;
    for (const reference::ElasticTet& tet : part.body.tets) {
      noise += s3 * (tet.stiffness + tet.bulk) * tet.gradients.squaredNorm() * rounding * rounding;
    }
  }
};

// A spring of no length from a node of the only body to a place.
struct Spring {
  uint32_t node = 0;
  float stiffness = 0.0f;  // [N/m]
  Vec3 target;

  double Energy(const World& world, const Part& part) const {
    const Vec3 x = PositionsOf(world, part.id, part.shape.num_nodes())[node];
    return 0.5 * double(stiffness) * (ToEigen(x) - ToEigen(target)).squaredNorm();
  }
};

enum class Place { kAir, kFloor, kSprings };

// Bodies that take the first one's time step. The others were drawn with that step or a longer one,
// so that none is too stiff for it.
std::vector<Part> MakeParts(uint32_t seed, int count, Random* random) {
  constexpr double kStiff = 1.0e4;
  std::vector<Part> parts;
  for (uint32_t next = 40u * seed + 500000u; static_cast<int>(parts.size()) < count; ++next) {
    RandomScene scene = MakeScene(next, SceneKind::kMild, kStiff);
    if (!parts.empty() && scene.dt < parts[0].scene.dt) continue;
    if (!parts.empty()) scene.dt = parts[0].scene.dt;
    parts.emplace_back(std::move(scene));
  }
  double largest = 0.0;
  for (const Part& part : parts) largest = std::max(largest, part.size);
  for (Part& part : parts) {
    const double least = largest * random->Uniform(0.2, 1.0);
    if (part.size < least) part.Resize(least);
  }
  return parts;
}

// The nodes in the lowest tenth along x, never all.
std::vector<uint32_t> FaceOf(const Part& part) {
  const auto along = part.body.rest.row(0);
  const double low = along.minCoeff(), width = along.maxCoeff() - low;
  std::vector<uint32_t> nodes;
  for (Eigen::Index i = 0; i < along.cols(); ++i) {
    if (along[i] <= low + 0.1 * width) nodes.push_back(static_cast<uint32_t>(i));
  }
  if (nodes.size() == static_cast<size_t>(along.cols())) nodes.pop_back();
  return nodes;
}

// A spin that the softest material can carry [rad/s].
Eigen::Vector3d SpinOf(const Part& part, Random* random) {
  constexpr double kMostStrain = 0.1, kMostTurn = 0.1;  // [rad per step]
  double most = kMostTurn / part.scene.dt;
  for (const tools::Material& m : part.scene.materials) {
    most = std::min(most, std::sqrt(kMostStrain * m.young / m.density) / (1.5 * part.size));
  }
  return random->Direction() * most * random->Uniform(0.0, 1.0);
}

// Puts the bodies in a row: on each other above a floor, or beside each other in the air, where
// the first one waits or comes to meet the others.
void AddParts(Place place, Random* random, std::vector<Part>* parts, World* world) {
  const bool on_floor = place == Place::kFloor;
  const Eigen::Index axis = on_floor ? 1 : 0, others[] = {(axis + 1) % 3, (axis + 2) % 3};
  double largest = 0.0, at = 0.0;
  for (const Part& part : *parts) largest = std::max(largest, part.size);
  const double dt = (*parts)[0].scene.dt;
  constexpr double kFallSteps = 30.0;
  const double fall = 0.5 * kGravity * kFallSteps * kFallSteps * dt * dt;
  const double gap = on_floor ? std::min(0.1 * largest, fall) : 0.1 * largest;
  const float friction =
      random->Uniform(0.0, 1.0) < 0.3 ? 0.0f : static_cast<float>(random->Uniform(0.0, 2.0));
  if (on_floor) AddPlane(world, {{0.0f, 1.0f, 0.0f}, 0.0f}, friction);
  const double way = largest * std::exp(random->Uniform(std::log(0.002), std::log(0.05)));
  for (Part& part : *parts) {
    const bool is_first = &part == parts->data();
    std::vector<uint32_t> pins;
    if (is_first && !on_floor && random->Uniform(0.0, 1.0) < 0.25) pins = FaceOf(part);
    BodyDesc body = {.scale = static_cast<float>(part.scale), .material = {.friction = friction}};
    body.pinned_nodes = pins;
    part.id = AddBody(world, part.shape.asset(), body);
    Points x = part.scale * (random->Rotation() * part.body.rest);
    x.row(axis).array() += at + gap - x.row(axis).minCoeff();
    at = x.row(axis).maxCoeff();
    for (const Eigen::Index other : others) {
      x.row(other).array() += random->Uniform(-0.2, 0.2) * part.size - x.row(other).mean();
    }
    REQUIRE(world->SetNodePositions(part.id, ToVec3s(x)).ok());
    if (!pins.empty()) continue;
    Points v = Points::Zero(3, x.cols());
    if (!on_floor) v.row(0).array() += (is_first ? way : -way) / dt * random->Uniform(0.2, 1.0);
    if (random->Uniform(0.0, 1.0) < 0.3) {
      const Eigen::Vector3d spin = SpinOf(part, random), centre = x.rowwise().mean();
      for (Eigen::Index i = 0; i < x.cols(); ++i) v.col(i) += spin.cross(x.col(i) - centre);
    }
    REQUIRE(world->SetNodeVelocities(part.id, ToVec3s(v)).ok());
  }
}

// Hangs a body on one to four springs by nodes near its top, which its weight stretches by 1e-4 to
// 0.3 sizes in all. In half of the cases they begin stretched. `copies` of it hang beside it.
std::vector<Spring> HangPart(int copies, Random* random, Part* part, World* world) {
  const Points x = part->scale * (random->Rotation() * part->body.rest);
  const double most = random->Uniform(0.0, 1.0) < 0.3 ? 0.02 * part->size / part->scene.dt : 0.0;
  const Eigen::Vector3d thrown = random->Direction() * most * random->Uniform(0.0, 1.0);
  const int count = 1 + static_cast<int>(random->Below(4));
  const double stretch = std::exp(random->Uniform(std::log(1.0e-4), std::log(0.3))) * part->size;
  const bool is_stretched = random->Uniform(0.0, 1.0) < 0.5;
  std::vector<Spring> springs;
  for (int k = 0; k < count; ++k) {
    const Eigen::RowVector3d up(0.5 * std::cos(2.4 * k), 1.0, 0.5 * std::sin(2.4 * k));
    Eigen::Index node = 0;
    (up * x).maxCoeff(&node);
    Eigen::Vector3d target = x.col(node);
    if (is_stretched) target += random->Vector(0.05 * part->size);
    const double stiffness = part->Mass() * kGravity / (stretch * count);
    springs.push_back({static_cast<uint32_t>(node), float(stiffness * random->Uniform(0.5, 1.5)),
                       ToVec3(target)});
  }
  for (int copy = copies; copy >= 0; --copy) {
    const Eigen::Vector3d beside(4.0 * copy * part->size, 0.0, 0.0);
    part->id = AddBody(world, part->shape.asset(), {.scale = static_cast<float>(part->scale)});
    REQUIRE(world->SetNodePositions(part->id, ToVec3s(x.colwise() + beside)).ok());
    const Points v = thrown.replicate(1, x.cols());
    REQUIRE(world->SetNodeVelocities(part->id, ToVec3s(v)).ok());
    for (const Spring& spring : springs) {
      const Vec3 target = ToVec3(ToEigen(spring.target) + beside);
      AttachmentDesc desc = SpringOn(part->id, spring.node, target);
      desc.stiffness = spring.stiffness;
      AttachNode(world, desc);
    }
  }
  return springs;
}

// Whether single nodes may carry the body's weight.
bool MayHang(const Part& part) {
  constexpr double kLeastPressures = 50.0;  // of its weight over the square of its size
  const double pressure = part.Mass() * kGravity / (part.size * part.size);
  return std::ranges::all_of(part.scene.materials, [&](const tools::Material& m) {
    return m.young >= kLeastPressures * pressure;
  });
}

struct Result {
  double gain = 0.0;  // largest rise above the start / largest kinetic and elastic energy
  int step = 0;
  bool finite = true;
  bool acts = false;  // whether bodies touch, or one hangs
  std::string what;
};

Result Run(Place place, uint32_t seed, bool prints) {
  constexpr int kSteps = 150;
  const bool falls = place != Place::kAir, hangs = place == Place::kSprings;
  Random random(17u * seed + 3u);
  const int count = hangs ? 1 : 2 + static_cast<int>(random.Below(place == Place::kFloor ? 3 : 4));
  std::vector<Part> parts = MakeParts(seed, count, &random);
  Result result;
  result.acts = hangs && MayHang(parts[0]);
  if (hangs && !result.acts) return result;
  World world({.gravity = {0.0f, falls ? static_cast<float>(-kGravity) : 0.0f, 0.0f},
               .sleep = {.speed = 0.0f},
               .max_pairs = hangs ? 0u : 16u});
  std::vector<Spring> springs;
  if (hangs) {
    springs = HangPart(seed % 2 == 0 ? 0 : 6, &random, &parts[0], &world);
  } else {
    AddParts(place, &random, &parts, &world);
  }
  double most = 0.0, start = 0.0;
  for (const Part& part : parts) {
    // What nobody sees: a tenth of the size per second, or a tenth of the size in height.
    most += 0.005 * part.Mass() * part.size * part.size;
    if (falls) most += 0.1 * part.Mass() * kGravity * part.size;
    result.what += "\n      " + Describe(part.scene) + ", size " + std::to_string(part.size) +
                   ", mass " + std::to_string(part.Mass());
  }
  for (int step = 0; step <= kSteps; ++step) {
    if (step > 0) {
      const uint32_t flags = StepWorld(&world, static_cast<float>(parts[0].scene.dt));
      if ((flags & kStepBodyFrozen) != 0u) result.finite = false;
    }
    Energies now;
    for (const Part& part : parts) now.Add(world, part);
    result.finite = result.finite && now.finite;
    if (!result.finite) break;
    for (const Spring& spring : springs) now.elastic += spring.Energy(world, parts[0]);
    const double total = now.kinetic + now.elastic + (falls ? now.height : 0.0);
    if (step == 0) start = total;
    most = std::max(most, now.kinetic + now.elastic);
    const double gain = (total - start - now.noise) / most;
    if (gain > result.gain) result.gain = gain, result.step = step;
    result.acts = result.acts || world.stats().body_pairs > 0;
    if (prints) {
      std::printf("%4d kinetic %.5g elastic %.5g total %.6g gain %.5f, %u pairs, %u contacts\n",
                  step, now.kinetic, now.elastic, total, gain, world.stats().body_pairs,
                  world.stats().contacts);
    }
  }
  return result;
}

struct Failures {
  int gaining = 0, frozen = 0;
  int idle = 0;  // in which nothing acts
};

Failures RunAll(Place place, const std::vector<uint32_t>& seeds) {
  const char* only = std::getenv("PLUSH_GRID_SEED");
  Failures failures;
  for (const uint32_t seed : seeds) {
    if (only != nullptr && static_cast<uint32_t>(std::atoi(only)) != seed) continue;
    const Result result = Run(place, seed, only != nullptr);
    failures.frozen += result.finite ? 0 : 1;
    failures.gaining += result.finite && result.gain > kMostGain ? 1 : 0;
    failures.idle += result.acts ? 0 : 1;
    if (result.finite && !(result.gain > kMostGain)) continue;
    std::printf("  seed %u%s: gain %.4f at step %d%s\n", seed, result.finite ? "" : " NOT FINITE",
                result.gain, result.step, result.what.c_str());
  }
  std::printf("%zu scenes: %d freeze, %d gain, in %d nothing acts\n", seeds.size(), failures.frozen,
              failures.gaining, failures.idle);
  return failures;
}

// Runs the seeds of scenes that gained energy or exploded before bodies that others act on had a
// guard (energy_guard.h), and the first `count` ones. Of these, one in `most` may gain.
void CheckFew(Place place, std::vector<uint32_t> seeds, uint32_t count, uint32_t most) {
  for (uint32_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  const Failures failures = RunAll(place, seeds);
  CHECK(failures.frozen == 0);
  CHECK(failures.gaining <= std::max(1, static_cast<int>(count / most)));  // 869 on springs
  CHECK(failures.idle <= static_cast<int>(seeds.size() / 3));
}

// A beam of Poisson's ratio `poisson`, pinned at an end, on which a cube falls: its largest kinetic
// energy [J]. Or one whose ends springs pull apart: its largest elastic energy [J].
double LargestEnergy(bool on_springs, double poisson, int outer_iterations) {
  constexpr double kDt = 1.0 / 60.0, kEdge = 0.05;
  constexpr int kLength = 11;
  const auto box = [&](int length, const tools::Material& material) {
    RandomScene scene = {.mesh = TetBox(length, 2, 2, kEdge), .materials = {material}};
    scene.of_tets.assign(scene.mesh.tets.size(), 0);
    scene.dt = kDt;
    return Part(scene);
  };
  Part cube = box(2, {1.0e6, 0.3, 2000.0});
  Part beam = box(kLength, {on_springs ? 1.0e5 : 1.0e7, poisson, 1000.0});
  WorldDesc desc = {.sleep = {.speed = 0.0f}, .max_pairs = 1};
  if (on_springs) desc.gravity = {};
  World world(desc);
  BodyDesc body = {.splitting = {.outer_iterations = outer_iterations}};
  const std::vector<uint32_t> face = FaceOf(beam);
  if (!on_springs) body.pinned_nodes = face;
  beam.id = AddBody(&world, beam.shape.asset(), body);
  if (on_springs) {
    const Points& rest = beam.body.rest;
    for (Eigen::Index i = 0; i < rest.cols(); ++i) {
      const double along = rest(0, i) / (kLength * kEdge) - 0.5;  // -0.5 to 0.5
      if (std::fabs(along) < 0.49) continue;
      const Eigen::Vector3d target = rest.col(i) + Eigen::Vector3d(0.2 * along, 0.0, 0.0);
      AttachmentDesc spring = SpringOn(beam.id, static_cast<uint32_t>(i), ToVec3(target));
      spring.stiffness = 200.0f;
      AttachNode(&world, spring);
    }
  } else {
    body.pinned_nodes = {};
    body.pose.position = {0.43f, 0.12f, 0.0f};
    cube.id = AddBody(&world, cube.shape.asset(), body);
  }
  double largest = 0.0;
  for (int step = 0; step < 60; ++step) {
    StepWorld(&world, static_cast<float>(kDt));
    const BodyMoments of = MomentsOf(world, beam.id);
    largest = std::max(largest, on_springs ? of.elastic_j : of.kinetic_j);
  }
  CHECK(world.stats().body_pairs == (on_springs ? 0 : 1));
  return largest;
}

TEST_CASE("Bodies that run into each other in the air end finite, few gain energy", "[long]") {
  const uint32_t count = tests::SweepCount(8u, 1000u);  // 3 of 1000
  CheckFew(Place::kAir, {814, 874, 876, 840, 786, 130, 35, 377, 722}, count, 250);
}

TEST_CASE("Bodies that fall on each other on a floor end finite, few gain energy", "[long]") {
  const uint32_t count = tests::SweepCount(4u, 600u);  // 0 of 600
  CheckFew(Place::kFloor, {511, 419, 549, 289, 265, 45, 95}, count, 300);
}

TEST_CASE("Bodies that hang on springs end finite, few gain energy", "[long]") {
  const uint32_t count = tests::SweepCount(12u, 3000u);  // 9 of 3000
  CheckFew(Place::kSprings, {1036, 1040, 1491, 2651, 869, 234, 642, 2382, 384}, count, 250);
}

// A bound that took the work of the cube or of the springs for none would take a third or more.
TEST_CASE("Nearly incompressible beams move as they should if others push or pull them") {
  const bool on_springs = GENERATE(false, true);
  const double poisson = GENERATE(0.47, 0.499);
  CAPTURE(on_springs, poisson);
  // 0.055: one of 0.45, which is not bounded, in many iterations.
  const double right = LargestEnergy(on_springs, 0.45, 16);
  CHECK(LargestEnergy(on_springs, poisson, 0) == Approx(right).epsilon(0.1));
}

}  // namespace energy_grid_test
