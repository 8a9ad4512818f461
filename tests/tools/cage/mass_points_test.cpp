// SPDX-License-Identifier: MIT
// Masses of nodes as integrals over the solid: moments, brute force, copies of split tets.
#include "cage/mass_points.h"

#include "embed/embedding.h"
#include "mesh/disjoint_sets.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <random>

using namespace plush::tools;
using namespace plush::tests;

namespace mass_points_test {

struct Spread {
  Solid solid;
  LatticeCage cage;
  MassPoints points;

  explicit Spread(const SurfaceMesh& mesh, uint32_t tets = 450) : solid(mesh) {
    CageSettings settings;
    settings.target_tets = tets;
    cage = CageOf(&solid, settings);
    points = SpreadSolid(solid.surface, solid.inside, cage.mesh, cage.tet_of_point, cage.solid);
  }

  // What each node has of the solid [m^3].
  std::vector<double> NodeVolumes() const {
    const auto corners = CornerVolumes(points, cage.mesh.tets.size());
    std::vector<double> volumes(cage.mesh.nodes.size(), 0.0);
    for (size_t t = 0; t < corners.size(); ++t) {
      for (size_t k = 0; k < 4; ++k) volumes[cage.mesh.tets[t][k]] += corners[t][k];
    }
    return volumes;
  }
};

// A closed tube along z: walls of `wall` around a hole.
SurfaceMesh MakeTube(double radius, double wall, double length, uint32_t sides) {
  constexpr double kTurn = 6.28318530717958647692;
  SurfaceMesh mesh;
  for (uint32_t i = 0; i < sides; ++i) {
    const double c = std::cos(kTurn * i / sides), s = std::sin(kTurn * i / sides);
    for (const double r : {radius, radius - wall}) {
      for (const double z : {0.0, length}) mesh.positions.push_back({r * c, r * s, z});
    }
  }
  const auto quad = [&](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({a, c, d});
  };
  for (uint32_t i = 0; i < sides; ++i) {
    const uint32_t p = 4 * i, q = 4 * ((i + 1) % sides);
    quad(p, q, q + 1, p + 1);          // outside
    quad(p + 2, p + 3, q + 3, q + 2);  // inside
    quad(p, p + 2, q + 2, q);          // lower end
    quad(p + 1, q + 1, q + 3, p + 3);  // upper end
  }
  return mesh;
}

TEST_CASE("Nodes have the volume and the first moments of the solid") {
  const struct {
    const char* name;
    SurfaceMesh mesh;
  } cases[] = {
      {"sphere", MakeSphere(1.0, 24, 36, {3, -2, 1})},
      {"torus", MakeTorus(1.0, 0.3, 60, 30)},
      {"box", MakeBox({0, 0, 0}, {1, 2, 3})},
      {"tube", MakeTube(1.0, 0.02, 3.0, 24)},
      {"fingers", Joined(MakeBox({0, 0, 0}, {0.4, 6, 0.4}), MakeBox({0.5, 0, 0}, {0.6, 6, 0.4}))}};
  for (const auto& [name, mesh] : cases) {
    INFO(name);
    const Spread spread(mesh);
    const std::vector<double> volumes = spread.NodeVolumes();
    double sum = 0.0;
    Vec3d moment;
    for (size_t i = 0; i < volumes.size(); ++i) {
      CHECK(volumes[i] >= 0.0);
      sum += volumes[i];
      moment += spread.cage.mesh.nodes[i] * volumes[i];
    }
    const double exact = SignedVolume(spread.solid.surface);
    CHECK(sum == Approx(exact).epsilon(1e-9));
    const Vec3d centre = spread.cage.solid.moment / exact;
    CHECK(Length(moment / sum - centre) < 1e-9 * spread.solid.diagonal);
  }
}

TEST_CASE("The moment of a solid is its volume times its centre") {
  const Vec3d centre = {3, -2, 1};
  const Solid sphere(MakeSphere(1.0, 24, 36, centre));
  const SolidMeasure measure = MeasureSolid(sphere.surface, sphere.inside, {});
  CHECK(Length(measure.moment / measure.volume - centre) < 1e-12);
  // Two cubes that share half of each: the union is a bar.
  const Solid cubes(Joined(MakeBox({0, 0, 0}, {1, 1, 1}), MakeBox({0.5, 0, 0}, {1.5, 1, 1})));
  const SolidMeasure both = MeasureSolid(cubes.surface, cubes.inside, {});
  CHECK(Length(both.moment / both.volume - Vec3d{0.75, 0.5, 0.5}) < 0.01);
}

TEST_CASE("Masses of nodes are integrals of their shape functions", "[long]") {
  const struct {
    const char* name;
    SurfaceMesh mesh;
    double most;  // sum of differences, over the volume
  } cases[] = {{"sphere", MakeSphere(1.0, 24, 36), 0.01},
               {"torus", MakeTorus(1.0, 0.3, 60, 30), 0.015},
               {"open box", MakeOpenBox({0, 0, 0}, {1, 1, 1}), 0.03},
               {"tube", MakeTube(1.0, 0.02, 3.0, 24), 0.06}};
  for (const auto& [name, mesh, most] : cases) {
    INFO(name);
    Spread spread(mesh);
    REQUIRE(spread.cage.num_split_tets == 0);
    // Without a measure the moments stay as they are.
    spread.points = SpreadSolid(spread.solid.surface, spread.solid.inside, spread.cage.mesh,
                                spread.cage.tet_of_point, {});
    const std::vector<double> volumes = spread.NodeVolumes();
    constexpr int kSamples = 1'000'000;
    std::mt19937_64 random(7);
    const Box3 box = BoxOf(spread.solid.surface);
    std::vector<Vec3d> inside;
    for (int i = 0; i < kSamples; ++i) {
      std::uniform_real_distribution<double> share(0.0, 1.0);
      Vec3d p = box.low;
      for (int axis = 0; axis < 3; ++axis) p[axis] += share(random) * box.Extent()[axis];
      if (spread.solid.inside.IsInside(p)) inside.push_back(p);
    }
    const Embedding embedding = EmbedPoints(inside, spread.cage.mesh);
    // The cage need not hold what winding numbers close.
    CHECK((spread.solid.surface.closed || embedding.num_outside > 0));
    std::vector<double> expected(volumes.size(), 0.0);
    const Vec3d size = box.Extent();
    const double each = size.x * size.y * size.z / kSamples;
    for (size_t i = 0; i < inside.size(); ++i) {
      const uint32_t t = embedding.tet_ids[i];
      const auto weights = BarycentricWeights(inside[i], CornersOf(spread.cage.mesh, t));
      if (*std::min_element(weights.begin(), weights.end()) < -1e-9) continue;  // outside the cage
      const auto& tet = spread.cage.mesh.tets[t];
      for (size_t k = 0; k < 4; ++k) expected[tet[k]] += each * weights[k];
    }
    double off = 0.0;
    for (size_t i = 0; i < volumes.size(); ++i) off += std::abs(volumes[i] - expected[i]);
    CHECK(off < most * spread.cage.solid.volume);
  }
}

TEST_CASE("Copies of a tet have the solid of their own piece") {
  // Two fingers so near that they share lattice tets.
  const SurfaceMesh thick = MakeBox({0, 0, 0}, {0.4, 6, 0.4});
  const SurfaceMesh thin = MakeBox({0.5, 0, 0}, {0.6, 6, 0.4});
  const Spread spread(Joined(thick, thin), 60);
  REQUIRE(spread.cage.num_split_tets > 5);
  const TetMesh& mesh = spread.cage.mesh;
  DisjointSets strands(static_cast<uint32_t>(mesh.nodes.size()));
  for (const auto& tet : mesh.tets) {
    for (size_t k = 1; k < 4; ++k) strands.Join(tet[0], tet[k]);
  }
  const uint32_t of_thick = strands.Find(mesh.tets[spread.cage.tet_of_point[0]][0]);
  const std::vector<double> volumes = spread.NodeVolumes();
  double in_thick = 0.0, in_thin = 0.0;
  for (uint32_t i = 0; i < volumes.size(); ++i) {
    (strands.Find(i) == of_thick ? in_thick : in_thin) += volumes[i];
  }
  CHECK(in_thick == Approx(0.96).epsilon(0.01));
  CHECK(in_thin == Approx(0.24).epsilon(0.03));
}

}  // namespace mass_points_test
