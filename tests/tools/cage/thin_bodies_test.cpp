// SPDX-License-Identifier: MIT
// Bakes random tubes, rings and boxes with thin walls and long triangles. Each is enclosed, as the
// file proves, or refused. PLUSH_THIN_BODY=n bakes only the body of seed n.
#include "bake/bake.h"
#include "base/vec3.h"
#include "enclosure/cage_proof.h"
#include "sweep.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"
#include "validate/validate.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace plush::tools;
using namespace plush::tests;

namespace thin_bodies_test {

constexpr double kPi = 3.14159265358979323846;

// A closed surface of quadrilaterals between rings of equally many points: each with the next, and
// the last with the first, if `around`; else the first and last ring are filled.
SurfaceMesh MakeLoft(const std::vector<std::vector<Vec3d>>& rings, bool around) {
  SurfaceMesh mesh;
  for (const auto& ring : rings) {
    mesh.positions.insert(mesh.positions.end(), ring.begin(), ring.end());
  }
  const auto n = static_cast<uint32_t>(rings[0].size());
  const auto count = static_cast<uint32_t>(rings.size());
  for (uint32_t r = 0; r + (around ? 0 : 1) < count; ++r) {
    const uint32_t low = r * n, high = (r + 1) % count * n;
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t j = (i + 1) % n;
      mesh.triangles.push_back({low + i, low + j, high + j});
      mesh.triangles.push_back({low + i, high + j, high + i});
    }
  }
  const uint32_t last = (count - 1) * n;
  for (uint32_t i = 2; i < n && !around; ++i) {
    mesh.triangles.push_back({0, i, i - 1});
    mesh.triangles.push_back({last, last + i - 1, last + i});
  }
  return mesh;
}

std::vector<Vec3d> Circle(double radius, double height, int sides) {
  std::vector<Vec3d> points;
  for (int i = 0; i < sides; ++i) {
    const double angle = 2.0 * kPi * i / sides;
    points.push_back({radius * std::cos(angle), radius * std::sin(angle), height});
  }
  return points;
}

SurfaceMesh MakeTube(double radius, double length, double wall, int sides, int segments) {
  std::vector<std::vector<Vec3d>> rings;
  for (int i = 0; i <= segments; ++i) {
    rings.push_back(Circle(radius, length * i / segments, sides));
  }
  for (int i = segments; i >= 0; --i) {
    rings.push_back(Circle(radius - wall, length * i / segments, sides));
  }
  return MakeLoft(rings, true);
}

// A ring of a tube with `radius` from the axis to the middle of the tube.
SurfaceMesh MakeRing(double radius, double tube, int sides, int tube_sides) {
  std::vector<std::vector<Vec3d>> rings;
  for (int i = 0; i < tube_sides; ++i) {
    const double angle = 2.0 * kPi * i / tube_sides;
    rings.push_back(Circle(radius + tube * std::cos(angle), tube * std::sin(angle), sides));
  }
  return MakeLoft(rings, true);
}

// A box that is open at the top.
SurfaceMesh MakeVessel(const Vec3d& size, double wall) {
  const auto ring = [&](double inset, double height) -> std::vector<Vec3d> {
    return {{inset, inset, height},
            {size.x - inset, inset, height},
            {size.x - inset, size.y - inset, height},
            {inset, size.y - inset, height}};
  };
  return MakeLoft({ring(0, 0), ring(0, size.z), ring(wall, size.z), ring(wall, wall)}, false);
}

// A tube, a ring (solid, or a tube with a cavity) or a vessel, by turns, with walls of 1/200 to
// 1/10 of its size. At any place, turned, of 1 cm to 10 m.
SurfaceMesh MakeThinBody(uint32_t seed) {
  RandomNumbers random(seed);
  const double wall = std::pow(20.0, -random.In(0.0, 1.0)) / 10.0;
  const int sides = random.Whole(8, 40);
  SurfaceMesh mesh;
  const double slender = std::pow(0.02, random.In(0.0, 1.0));
  if (seed % 3 == 0) {
    const bool is_long = random.Whole(0, 2) > 0;
    const double radius = is_long ? 0.5 * slender : 0.5;
    const double length = is_long ? 1.0 : slender;
    mesh = MakeTube(radius, length, std::min(wall, 0.8 * radius), sides, random.Whole(1, 4));
  } else if (seed % 3 == 1) {
    const double tube = 0.2 * slender;
    const int tube_sides = random.Whole(3, 12);
    mesh = MakeRing(0.5 - tube, tube, sides, tube_sides);
    if (random.Whole(0, 2) > 0) {
      SurfaceMesh cavity =
          MakeRing(0.5 - tube, std::max(tube - wall, 0.4 * tube), sides, tube_sides);
      FlipTriangles(&cavity, 0, cavity.triangles.size());
      mesh = Joined(mesh, cavity);
    }
  } else {
    const Vec3d size = {1.0, random.In(0.05, 1.0), std::max(slender, 2.0 * wall)};
    mesh = MakeVessel(size, std::min(wall, 0.4 * size.y));
  }
  const double scale = std::pow(10.0, random.In(-2.0, 1.0));
  const Vec3d place = random.Point({-3, -3, -3}, {3, 3, 3});
  Vec3d x = {1, 0, 0}, y = {0, 1, 0};
  if (random.Whole(0, 2) == 0) {
    x = random.Direction();
    y = Cross(x, random.Direction());
    y = y / Length(y);
  }
  const Vec3d z = Cross(x, y);
  for (Vec3d& p : mesh.positions) p = (x * p.x + y * p.y + z * p.z + place) * scale;
  mesh.parts.clear();
  CompleteMesh(&mesh);
  return mesh;
}

// Whether the bake makes a cage; the file must then prove that it encloses all triangles.
bool IsEnclosed(uint32_t seed) {
  const SurfaceMesh mesh = MakeThinBody(seed);
  RandomNumbers random(seed + 1'000'003);
  BakeSettings settings;
  settings.cage.target_tets = static_cast<uint32_t>(200.0 * std::pow(15.0, random.In(0.0, 1.0)));
  FindingList findings;
  const auto start = std::chrono::steady_clock::now();
  const ImportedModel model{.surface = mesh, .format = "procedural"};
  const auto baked = Bake(model, settings, &findings);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::string codes;
  for (const Finding& finding : findings.all()) codes += " " + finding.code;
  std::printf("seed %u: %zu triangles, %u tets, %.2f s%s\n", seed, mesh.triangles.size(),
              settings.cage.target_tets, seconds.count(), codes.c_str());
  INFO("seed " << seed);
  if (!baked.ok()) {
    INFO(baked.error().message);
    CHECK(baked.error().exit_code == ExitCode::kInvalidInput);
    CHECK(baked.error().finding_code == "CAGE_NOT_ENCLOSED");
    return false;
  }
  FindingList escapes;
  const SourceErrors errors = ValidateAgainstSource(baked.value().bytes, model, &escapes);
  CHECK(errors.enclosed_triangles == mesh.triangles.size());
  CHECK_FALSE(escapes.Has("FILE_NOT_ENCLOSED"));
  return true;
}

// Checks that the lattice encloses the solid before the fit. Returns the number of branches.
size_t CheckLattice(const Solid& solid, LatticeKind kind, double cell) {
  const SplitCage cage = SplitOf(solid, LatticeAround(solid, kind, cell), 1e-3 * solid.diagonal);
  const CageProof proof = ProveCage(solid.surface, cage, cell);
  CHECK(proof.escapes.empty());
  return proof.faces.branches.size();
}

TEST_CASE("Before the fit, every lattice encloses thin bodies", "[long]") {
  const uint32_t count = SweepCount(300u);
  size_t branches = 0;
  for (uint32_t seed = 0; seed < count; ++seed) {
    INFO("seed " << seed);
    const Solid solid(MakeThinBody(seed));
    RandomNumbers random(seed + 2'000'003);
    for (const LatticeKind kind : {LatticeKind::kBcc, LatticeKind::kCube5}) {
      const double cell = solid.diagonal * std::pow(0.1, random.In(0.3, 1.2));
      branches += CheckLattice(solid, kind, cell);
    }
  }
  CHECK(branches > count);
}

TEST_CASE("Lattices enclose a long tube whose walls part in their cells") {
  const Solid solid(MakeTube(0.833, 11.84, 0.156, 16, 1));
  size_t branches = 0;
  for (int i = 0; i < 12; ++i) {
    const double cell = 1.0 + 0.1 * i;
    INFO("cells of " << cell << " m");
    branches += CheckLattice(solid, LatticeKind::kBcc, cell);
  }
  CHECK(branches > 100);
}

TEST_CASE("Thin bodies are enclosed or refused", "[long]") {
  if (const char* seed = std::getenv("PLUSH_THIN_BODY")) {
    CHECK(IsEnclosed(static_cast<uint32_t>(std::atoi(seed))));
    return;
  }
  constexpr uint32_t kBodies = 300;
  const uint32_t count = SweepCount(kBodies);
  uint32_t enclosed = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t seed = 0; seed < count; ++seed) enclosed += IsEnclosed(seed) ? 1 : 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%u thin bodies: %u enclosed, %u refused, %.1f s\n", count, enclosed,
              count - enclosed, seconds.count());
  CHECK(30 * enclosed >= 29 * count);
}

}  // namespace thin_bodies_test
