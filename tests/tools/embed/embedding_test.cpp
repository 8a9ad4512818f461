// SPDX-License-Identifier: MIT
// Embeddings against a search over all tets and against the points they must reproduce.
#include "embed/embedding.h"

#include "mesh/tet_mesh.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <algorithm>
#include <random>

using namespace plush::tools;

namespace embedding_test {

std::vector<Vec3d> RandomPoints(size_t count, double lower, double upper, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(lower, upper);
  std::vector<Vec3d> points(count);
  for (Vec3d& point : points) {
    point.x = uniform(random);
    point.y = uniform(random);
    point.z = uniform(random);
  }
  return points;
}

Vec3d Embedded(const Embedding& embedding, const TetMesh& mesh, size_t i) {
  const TetCorners corners = CornersOf(mesh, embedding.tet_ids[i]);
  const plush::Vec4& w = embedding.weights[i];
  return corners[0] * w.x + corners[1] * w.y + corners[2] * w.z + corners[3] * w.w;
}

TEST_CASE("Points inside are carried by the lowest containing tet and reproduced") {
  const TetMesh mesh = plush::test::TetBox(4, 4, 4, 0.25, 0.05, 2);
  const std::vector<Vec3d> points = RandomPoints(2000, 0.05, 0.95, 3);
  const Embedding embedding = EmbedPoints(points, mesh);
  REQUIRE(embedding.tet_ids.size() == points.size());
  CHECK(embedding.num_outside == 0);
  double largest = 0.0;
  for (size_t i = 0; i < points.size(); ++i) {
    uint32_t lowest = UINT32_MAX;
    for (uint32_t id = 0; id < mesh.tets.size() && lowest == UINT32_MAX; ++id) {
      const auto weights = BarycentricWeights(points[i], CornersOf(mesh, id));
      if (*std::min_element(weights.begin(), weights.end()) >= -1e-12) lowest = id;
    }
    CHECK(embedding.tet_ids[i] == lowest);
    const plush::Vec4& w = embedding.weights[i];
    CHECK(std::min({w.x, w.y, w.z, w.w}) >= 0.0f);
    CHECK(std::abs(1.0 - (double{w.x} + w.y + w.z + w.w)) < 1e-7);
    largest = std::max(largest, Length(Embedded(embedding, mesh, i) - points[i]));
  }
  CHECK(embedding.max_error_m == Approx(largest));
  CHECK(embedding.max_error_m < 1e-6);
}

TEST_CASE("Nodes of the cage embed exactly") {
  const TetMesh mesh = plush::test::TetBox(3, 2, 2, 0.5, 0.08, 4);
  const Embedding embedding = EmbedPoints(mesh.nodes, mesh);
  CHECK(embedding.max_error_m == 0.0);
  CHECK(embedding.num_outside == 0);
}

TEST_CASE("Points outside go to the nearest tet and are still reproduced") {
  const TetMesh mesh = plush::test::TetBox(3, 3, 3, 1.0 / 3.0);
  std::vector<Vec3d> points = RandomPoints(500, -1.0, 2.0, 5);
  const auto is_inside = [](const Vec3d& p) {
    return std::min({p.x, p.y, p.z}) >= 0.0 && std::max({p.x, p.y, p.z}) <= 1.0;
  };
  points.erase(std::remove_if(points.begin(), points.end(), is_inside), points.end());
  REQUIRE(points.size() > 100);
  const Embedding embedding = EmbedPoints(points, mesh);
  CHECK(embedding.num_outside == points.size());
  CHECK(embedding.max_error_m < 1e-5);
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3d in_box = Max({0, 0, 0}, Min(points[i], {1, 1, 1}));
    const double expected = LengthSquared(points[i] - in_box);
    CHECK(SquaredDistance(points[i], CornersOf(mesh, embedding.tet_ids[i])) ==
          Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("A body far from the origin is reproduced as well as single precision allows") {
  TetMesh mesh = plush::test::TetBox(3, 3, 3, 1.0 / 3.0, 0.05, 6);
  std::vector<Vec3d> points = RandomPoints(500, 0.1, 0.9, 7);
  for (Vec3d& node : mesh.nodes) node += Vec3d{100.0, -200.0, 50.0};
  for (Vec3d& point : points) point += Vec3d{100.0, -200.0, 50.0};
  CHECK(EmbedPoints(points, mesh).max_error_m < 2e-5);
}

TEST_CASE("Nothing to embed gives an empty embedding") {
  CHECK(EmbedPoints({}, plush::test::SingleTet()).tet_ids.empty());
}

}  // namespace embedding_test
