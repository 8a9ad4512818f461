// SPDX-License-Identifier: MIT
// Simplified surfaces in their cages: topology, enclosure, distance by brute force, volume,
// numbers.
// - PLUSH_TEST_FULL=1 takes 100 random solids.
#include "simplify/simplify.h"

#include "enclosure/enclosure.h"
#include "lattice/cage_boundary.h"
#include "mesh/self_intersection.h"
#include "mesh/surface_distance.h"
#include "mesh/topology.h"
#include "partition/surface_clipping.h"
#include "skip.h"
#include "sweep.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/cage/random_solids.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace plush::tools;
using namespace plush::tests;

namespace simplify_test {

double Volume(const SolidSurface& surface) {
  double volume = 0.0;
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto [a, b, c] = surface.CornersOf(t);
    volume += SixVolume({}, a, b, c) / 6.0;
  }
  return volume;
}

// Squared distance of `p` from segment ab.
double SquaredFromSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const double length = LengthSquared(b - a);
  const double s = length > 0.0 ? std::clamp(Dot(p - a, b - a) / length, 0.0, 1.0) : 0.0;
  return LengthSquared(p - (a + (b - a) * s));
}

// Distance of `p` from a triangle, from its plane and its edges: the tests' own code.
double DistanceByParts(const Vec3d& p, const std::array<Vec3d, 3>& t) {
  double squared = std::numeric_limits<double>::infinity();
  bool inside = true;
  const Vec3d normal = Cross(t[1] - t[0], t[2] - t[0]);
  for (size_t k = 0; k < 3; ++k) {
    const Vec3d& a = t[k];
    const Vec3d& b = t[(k + 1) % 3];
    squared = std::min(squared, SquaredFromSegment(p, a, b));
    inside = inside && Dot(Cross(b - a, p - a), normal) >= 0.0;
  }
  if (inside) {
    const double height = Dot(p - t[0], normal);
    squared = std::min(squared, height * height / LengthSquared(normal));
  }
  return std::sqrt(squared);
}

// The largest distance of samples of `from` from `to`, by brute force: corners and `n` points
// inside of each triangle.
double SampledDistance(const SolidSurface& from, const SolidSurface& to, int n, uint32_t seed) {
  RandomNumbers random(seed);
  double farthest = 0.0;
  const auto measure = [&](const Vec3d& p) {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < to.triangles.size(); ++t) {
      nearest = std::min(nearest, DistanceByParts(p, to.CornersOf(t)));
    }
    farthest = std::max(farthest, nearest);
  };
  // On large surfaces only some triangles are sampled.
  const size_t step = 1 + from.triangles.size() * to.triangles.size() / 2000000;
  for (size_t t = 0; t < from.triangles.size(); t += step) {
    const auto [a, b, c] = from.CornersOf(t);
    measure(a);
    for (int i = 0; i < n; ++i) {
      const double s = random.In(0, 1), r = random.In(0, 1 - s);
      measure(a + (b - a) * s + (c - a) * r);
    }
  }
  return farthest;
}

// The mesh with each triangle in four.
SurfaceMesh Refined(const SurfaceMesh& mesh) {
  SurfaceMesh refined;
  for (const auto& [i, j, k] : mesh.triangles) {
    for (const Triangle3& t :
         Quartered({mesh.positions[i], mesh.positions[j], mesh.positions[k]})) {
      const auto first = static_cast<uint32_t>(refined.positions.size());
      refined.positions.insert(refined.positions.end(), t.begin(), t.end());
      refined.triangles.push_back({first, first + 1, first + 2});
    }
  }
  CompleteMesh(&refined);
  return refined;
}

struct Simplified {
  Solid solid;
  LatticeCage cage;
  SimplifiedSurface copy;

  Simplified(const SurfaceMesh& mesh, const SimplifySettings& settings,
             const CageSettings& cage_settings = {})
      : solid(mesh), cage(CageOf(&solid, cage_settings)) {
    copy = SimplifySurface(solid.surface, cage.mesh, cage.tet_of_point, settings);
  }
};

// Checks what holds for every simplified surface; `samples` inside each triangle.
void CheckAll(const Simplified& made, int samples) {
  const SolidSurface& before = made.solid.surface;
  const SolidSurface& after = made.copy.surface;
  REQUIRE(!after.triangles.empty());
  REQUIRE(after.source_triangle.size() == after.triangles.size());
  REQUIRE(made.copy.tet_of_point.size() == after.points.size());
  const SurfaceTotals a = TotalsOf(before), b = TotalsOf(after);
  CHECK(b.euler == a.euler);
  CHECK(after.closed == before.closed);
  CHECK(IsClosed(static_cast<uint32_t>(after.points.size()), after.triangles) == before.closed);
  CHECK(b.open_edges <= a.open_edges);
  CHECK((b.open_edges == 0) == (a.open_edges == 0));
  // Inside the cage, by the proof that made it; triangles that were inside before stay inside.
  const CageFaces faces = FindCageFaces(made.cage.mesh);
  const auto escapes = [&](const SolidSurface& surface, const std::vector<uint32_t>& tets) {
    return FindEscapes(made.cage.mesh, faces, surface.points, surface.triangles, tets).size();
  };
  CHECK(escapes(after, made.copy.tet_of_point) <= escapes(before, made.cage.tet_of_point));
  const auto crossings = [](const SolidSurface& surface) {
    return FindSelfIntersections(surface.points, surface.triangles).pairs.size();
  };
  if (crossings(before) == 0) CHECK(crossings(after) == 0);
  // The tets cut the copy as well as the original.
  const auto clip = [&](const SolidSurface& surface, const std::vector<uint32_t>& tets) {
    return ClipSurface(surface, made.cage.mesh, tets);
  };
  const ClippedSurface cut_before = clip(before, made.cage.tet_of_point);
  const ClippedSurface cut_after = clip(after, made.copy.tet_of_point);
  CHECK(cut_after.outside.size() <= cut_before.outside.size());
  CHECK(cut_after.torn.size() <= cut_before.torn.size());
  // Two-sided distance.
  CHECK(made.copy.distance_m <= made.copy.limit_m);
  const double limit = made.copy.distance_m * (1.0 + 1e-9) + 1e-12 * made.solid.diagonal;
  CHECK(SampledDistance(after, before, samples, 3) <= limit);
  CHECK(SampledDistance(before, after, samples, 4) <= limit);
  // Points are those of the original.
  for (const Vec3d& p : after.points) {
    CHECK(std::find(before.points.begin(), before.points.end(), p) != before.points.end());
  }
}

TEST_CASE("Simplified surfaces keep topology, cage and distance, and reach their number",
          "[long]") {
  struct Case {
    const char* name;
    SurfaceMesh mesh;
    uint32_t triangles;
    double distance;
  };
  const Case cases[] = {
      {"sphere", MakeSphere(0.5, 24, 36), 200, 0.02},
      {"grid box", MakeGridBox({0, 0, 0}, {2, 1, 0.5}, 8), 12, 0.001},
      {"torus", MakeTorus(1.0, 0.4, 40, 24), 300, 0.02},
      {"shells", MakeNestedShells(false, true), 200, 0.03},
      {"two fingers", Refined(Refined(MakeTwoFingers(0.2, 0.02))), 100, 0.01},
      {"two spheres", Joined(MakeSphere(0.5, 12, 18), MakeSphere(0.4, 12, 18, {1.2, 0, 0})), 300,
       0.03}};
  for (const Case& c : cases) {
    const Simplified made(c.mesh, {c.triangles, c.distance});
    INFO(c.name << ": " << made.copy.surface.triangles.size() << " triangles, "
                << made.copy.distance_m << " m; " << made.copy.num_too_far << " too far, "
                << made.copy.num_escaping << " escaping, " << made.copy.num_misshapen
                << " misshapen");
    CHECK(made.copy.surface.triangles.size() <= c.triangles);
    CHECK(made.copy.surface.triangles.size() + 2 >= c.triangles);
    CHECK(made.copy.num_too_far + made.copy.num_escaping + made.copy.num_misshapen == 0);
    CheckAll(made, 4);
    const double volume = Volume(made.solid.surface);
    CHECK(Volume(made.copy.surface) == Approx(volume).epsilon(0.08));
  }
}

TEST_CASE("A planar surface loses nothing but points within its faces and edges", "[long]") {
  const Simplified made(MakeGridBox({0, 0, 0}, {2, 1, 0.5}, 8), {12u, 0.001});
  CHECK(made.copy.surface.triangles.size() == 12);
  CHECK(made.copy.distance_m <= kDistanceShare * made.copy.limit_m);
  CHECK(Volume(made.copy.surface) == Approx(1.0).epsilon(1e-12));
  CHECK(TotalsOf(made.copy.surface).area == Approx(7.0).epsilon(1e-12));
}

TEST_CASE("Random solids are simplified within the distance and inside the cage", "[long]") {
  const uint32_t count = SweepCount(6u, 100u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    CageSettings cage = {.target_tets = 60 + 41 * (seed % 11)};
    const double distance = seed % 3 == 0 ? 0.003 : 0.02;
    const Simplified made(RandomSolid(seed), {4u + 60u * (seed % 4), distance}, cage);
    INFO("seed " << seed << " (" << kFamilyNames[seed % kNumFamilies]
                 << "): " << made.solid.surface.triangles.size() << " to "
                 << made.copy.surface.triangles.size() << " triangles");
    CHECK(made.copy.surface.triangles.size() < made.solid.surface.triangles.size());
    CheckAll(made, 1);
  }
  std::printf("simplified random solids: seeds 1 to %u\n", count);
}

TEST_CASE("Strands that overlap in space keep their own parts of the surface", "[long]") {
  // Fingers nearer to each other than a cell: the tets between them are copies.
  const SurfaceMesh fingers = Refined(Refined(Refined(MakeTwoFingers(0.2, 0.02))));
  uint32_t num_branches = 0;
  for (const uint32_t tets : {60u, 100u, 150u, 200u, 300u}) {
    const Simplified made(fingers, {40u, 0.1}, {.target_tets = tets});
    INFO(tets << " tets: " << made.copy.surface.triangles.size() << " triangles");
    CHECK(made.cage.num_split_tets > 0);
    num_branches += made.cage.num_branches;
    CheckAll(made, 1);
  }
  CHECK(num_branches > 0);
}

TEST_CASE("A notch is not bridged, though the original would be near the bridge") {
  // A flat sheet of 3 x 3 squares without the middle one of a side.
  SurfaceMesh sheet;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) sheet.positions.push_back({i / 3.0, j / 3.0, 0.0});
  }
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t j = 0; j < 3; ++j) {
      if (i == 1 && j == 2) continue;
      const uint32_t a = 4 * i + j;
      sheet.triangles.push_back({a, a + 4, a + 5});
      sheet.triangles.push_back({a, a + 5, a + 1});
    }
  }
  CompleteMesh(&sheet);
  CageSettings wide;  // a cage that holds the notch as well
  wide.cell_m = 2.0;
  wide.fit = FitMethod::kNone;
  const Simplified made(Refined(Refined(sheet)), {4u, 0.02}, wide);
  INFO(made.copy.surface.triangles.size() << " triangles");
  CHECK(made.copy.surface.triangles.size() < 50);
  CHECK(made.copy.num_too_far > 0);
  CheckAll(made, 20);
}

TEST_CASE("No triangle of a plane is turned over, or made thinner than any was", "[long]") {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    RandomNumbers random(seed);
    SurfaceMesh sheet;
    for (int i = 0; i <= 16; ++i) {
      for (int j = 0; j <= 16; ++j) {
        const bool inner = i % 16 != 0 && j % 16 != 0;
        const Vec3d jitter = inner ? random.Point({-0.4, -0.4, 0}, {0.4, 0.4, 0}) : Vec3d{};
        sheet.positions.push_back(Vec3d{i + jitter.x, j + jitter.y, 0.0} / 16.0);
      }
    }
    for (uint32_t i = 0; i < 16; ++i) {
      for (uint32_t j = 0; j < 16; ++j) {
        const uint32_t a = 17 * i + j;
        sheet.triangles.push_back({a, a + 17, a + 18});
        sheet.triangles.push_back({a, a + 18, a + 1});
      }
    }
    CompleteMesh(&sheet);
    const auto least_height = [](const SolidSurface& surface) {
      double least = 1.0;
      for (size_t t = 0; t < surface.triangles.size(); ++t) {
        const auto [a, b, c] = surface.CornersOf(t);
        const double longest =
            std::max({LengthSquared(b - a), LengthSquared(c - b), LengthSquared(a - c)});
        least = std::min(least, Cross(b - a, c - a).z / longest);  // negative if turned over
      }
      return least;
    };
    const Simplified made(sheet, {60u, 0.05});
    INFO("seed " << seed << ": " << made.copy.surface.triangles.size() << " triangles");
    CHECK(made.copy.surface.triangles.size() <= 60);
    const double before = least_height(made.solid.surface);
    CHECK(least_height(made.copy.surface) >= std::min(before, 0.0499));
  }
}

TEST_CASE("Sheets near each other do not come to pass through each other") {
  // Two waves, one in the other's troughs, nearer than the distance allowed.
  const auto wave = [](double height) {
    SurfaceMesh mesh;
    for (int i = 0; i <= 40; ++i) {
      for (int j = 0; j <= 10; ++j) {
        const double s = (i % 10) / 5.0 - 1.0;
        const double z = 0.1 * (1.0 - s * s) * ((i / 10) % 2 == 0 ? 1.0 : -1.0);
        mesh.positions.push_back({i / 10.0, j / 10.0, z + height});
      }
    }
    for (uint32_t i = 0; i < 40; ++i) {
      for (uint32_t j = 0; j < 10; ++j) {
        const uint32_t a = 11 * i + j;
        mesh.triangles.push_back({a, a + 11, a + 12});
        mesh.triangles.push_back({a, a + 12, a + 1});
      }
    }
    CompleteMesh(&mesh);
    return mesh;
  };
  CageSettings cage = {.target_tets = 100, .join_parts = true};
  const Simplified made(Joined(wave(0.0), wave(0.01)), {16u, 0.03}, cage);
  INFO(made.copy.surface.triangles.size() << " triangles");
  CHECK(made.copy.surface.triangles.size() < 400);
  CheckAll(made, 1);
}

TEST_CASE("What stops a simplification is counted", "[long]") {
  const SurfaceMesh ball = MakeSphere(0.5, 24, 36);
  const Simplified tight(ball, {4u, 0.005});
  CHECK(tight.copy.surface.triangles.size() > 50);
  CHECK(tight.copy.num_too_far > 0);
  CheckAll(tight, 4);
  // A cage close to the surface stops what the distance would allow.
  CageSettings close = {.target_tets = 3000, .clearance = 1e-4};
  const Simplified wide(MakeTorus(1.0, 0.4, 40, 24), {4u, 0.4}, close);
  CHECK(wide.copy.num_escaping > 0);
  CheckAll(wide, 1);
}

TEST_CASE("Any surface can be simplified, however broken", "[long]") {
  SurfaceMesh half_flipped = MakeSphere(1.0, 12, 18);
  FlipTriangles(&half_flipped, 0, half_flipped.triangles.size() / 2);
  SurfaceMesh sliver = MakeSphere(0.5, 16, 24);
  sliver.positions[40] = sliver.positions[41] + Vec3d{1e-9, 0, 0};
  CompleteMesh(&sliver);
  const std::pair<const char*, SurfaceMesh> cases[] = {
      {"open box", MakeOpenBox({0, 0, 0}, {1, 1, 1})},
      {"overlapping boxes", MakeOverlappingBoxes()},
      {"Moebius strip", MakeMoebiusStrip(1.0, 0.4, 40)},
      {"half flipped", half_flipped},
      {"sliver", sliver},
      {"exploded", Exploded(MakeSphere(0.5, 12, 18))},
      {"boxes at an edge",
       Joined(MakeGridBox({0, 0, 0}, {1, 1, 1}, 6), MakeGridBox({1, 1, 0}, {2, 2, 1}, 6))},
      {"soup", MakeTriangleSoup(60, 0.3, 5)},
      {"triangle", MakeTriangleSoup(1, 0.3, 5)},
      {"small beside large",
       Joined(MakeBox({0, 0, 0}, {1, 1, 1}), MakeSphere(0.01, 8, 12, {1.5, 0.5, 0.5}))}};
  for (const auto& [name, mesh] : cases) {
    INFO(name);
    CheckAll(Simplified(mesh, {4u, 0.03}), 2);
  }
}

TEST_CASE("Without a number, or with one that is met, the surface stays as it is", "[long]") {
  const SurfaceMesh ball = MakeSphere(0.5, 12, 18);
  const auto count = static_cast<uint32_t>(ball.triangles.size());
  for (const SimplifySettings& settings :
       {SimplifySettings{}, SimplifySettings{count, 0.1}, SimplifySettings{count + 1, 0.1}}) {
    const Simplified made(ball, settings);
    CHECK(made.copy.surface.points == made.solid.surface.points);
    CHECK(made.copy.surface.triangles == made.solid.surface.triangles);
    CHECK(made.copy.distance_m == 0.0);
  }
}

TEST_CASE("The horse comes down to a number that only the distance limits", "[long]") {
  const std::string path = TestModelOrSkip("horse_10k.obj");
  if (path.empty()) return;
  const Simplified made(ImportOrFail(path).surface, {1500u, 0.01});
  INFO(made.copy.num_too_far << " too far, " << made.copy.num_escaping << " escaping, "
                             << made.copy.num_misshapen << " misshapen");
  CHECK(made.copy.surface.triangles.size() <= 1500);
  CheckAll(made, 0);
  CHECK(Volume(made.copy.surface) == Approx(Volume(made.solid.surface)).epsilon(0.03));
}

}  // namespace simplify_test
