// SPDX-License-Identifier: MIT
// Friction and restitution of a mesh's triangles come from their materials, before the collider's.
#include "runtime/colliders/plane_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/contact/plane_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace mesh_materials_test {

constexpr double kLane = 2.0;  // width of a quad [m]

// A row of quads of y = 0 along x, from 0 on: each of a material of its own, then one without.
class Lanes {
 public:
  explicit Lanes(const std::vector<tools::Material>& materials) : file_(BytesOf(materials)) {
    REQUIRE(asset_.Open(file_.bytes()).ok());
  }
  const Asset& asset() const { return asset_; }

 private:
  static std::vector<std::byte> BytesOf(const std::vector<tools::Material>& materials) {
    SurfaceMesh sheet;
    const auto count = static_cast<uint32_t>(materials.size()) + 1;
    for (uint32_t i = 0; i <= count; ++i) {
      for (const double z : {-0.5, 0.5}) sheet.positions.push_back({kLane * i, 0.0, kLane * z});
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t a = 2 * i;
      sheet.triangles.push_back({a, a + 1, a + 3});
      sheet.triangles.push_back({a, a + 3, a + 2});
      sheet.parts.push_back({"lane", "material " + std::to_string(i), "", 2 * i, 2});
    }
    plush::tests::CompleteMesh(&sheet);
    tools::StaticContent content = StaticContentOf(sheet);
    REQUIRE(content.materials.size() == count);
    for (size_t i = 0; i < materials.size(); ++i) content.materials[i].material = materials[i];
    auto bytes = tools::WriteStaticAsset(content);
    if (!bytes.ok()) FAIL(bytes.error().message);
    return std::move(bytes.value());
  }

  ExactBuffer file_;
  Asset asset_;
};

tools::Material Surface(std::optional<double> friction, std::optional<double> restitution) {
  return tools::Material{.friction = friction, .restitution = restitution};
}

// A stiff cube of 0.3 m above the middle of each lane.
struct Row {
  Row(const ColliderDesc& mesh, size_t count, bool has_surface, const Vec3& velocity, float height,
      const WorldDesc& desc = {})
      : shape(has_surface ? ShapeAsset(SurfaceBytes(TetBox(3, 3, 3, 0.1),
                                                    {.parts = 2, .depth = 0.0, .num_shells = 0}))
                          : ShapeAsset(TetBox(3, 3, 3, 0.1))),
        world(desc) {
    AddCollider(&world, mesh);
    for (size_t i = 0; i < count; ++i) {
      BodyDesc body;
      body.pose.position = {static_cast<float>(kLane * (double(i) + 0.5)) - 0.15f, height, -0.15f};
      body.velocity = velocity;
      body.material = {.young = 1.0e8f, .poisson = 0.3f, .density = 1000.0f};
      ids.push_back(AddBody(&world, shape.asset(), body));
    }
  }
  Eigen::Vector3d VelocityOf(size_t i) const {
    const BodyMoments m = MomentsOf(world, ids[i]);
    return Eigen::Vector3d(m.linear_momentum) / m.mass;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
};

ColliderDesc MeshOf(const Lanes& lanes) {
  return ColliderDesc{.type = ShapeType::kMesh, .mesh = {&lanes.asset()}};
}

// The speeds at which the cubes leave, as shares of those at which they came.
std::vector<double> Rebounds(Row* row) {
  std::vector<double> in(row->ids.size()), out(row->ids.size(), -10.0);
  for (int step = 0; step < 63; ++step) {
    std::vector<double> before;
    for (size_t i = 0; i < in.size(); ++i) before.push_back(row->VelocityOf(i).y());
    StepWorld(&row->world, kDt);
    for (size_t i = 0; i < in.size(); ++i) {
      const double now = row->VelocityOf(i).y();
      if (in[i] == 0.0 && now > before[i] + 1.0) in[i] = -before[i];
      if (in[i] > 0.0) out[i] = std::max(out[i], now);
    }
  }
  for (size_t i = 0; i < in.size(); ++i) {
    REQUIRE(in[i] > 2.5);
    out[i] /= in[i];
  }
  return out;
}

// The share of the material's restitution that the user data of the collider says, in tenths.
float Tenths(float, uint64_t, float of_collider, uint64_t collider) {
  return of_collider * 0.1f * static_cast<float>(collider);
}

TEST_CASE("A cube rebounds from a triangle as its material says, and from its neighbour not") {
  const bool has_surface = GENERATE(false, true);
  CAPTURE(has_surface);
  const Lanes lanes({Surface({}, 0.5), Surface({}, 0.0), Surface({}, 1.0)});
  ColliderDesc mesh = MeshOf(lanes);
  mesh.restitution = 0.3f;  // of the triangles whose material has none
  const Vec3 rest = {0.0f, 0.0f, 0.0f};
  {
    Row row(mesh, 4, has_surface, rest, 0.5f);
    const std::vector<double> out = Rebounds(&row);
    const double expected[] = {0.5, 0.0, 1.0, 0.3};
    for (size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      CHECK(out[i] == Approx(expected[i]).margin(0.05));
    }
  }
  // The world's own function gets the triangle's number, and the user data of the collider.
  WorldDesc desc = {.mix_restitution = Tenths};
  mesh.user_data = 6;
  Row row(mesh, 4, has_surface, rest, 0.5f, desc);
  const std::vector<double> out = Rebounds(&row);
  const double expected[] = {0.3, 0.0, 0.6, 0.18};
  for (size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(out[i] == Approx(expected[i]).margin(0.05));
  }
}

TEST_CASE("A cube slides on a triangle with the friction of its material") {
  const bool has_surface = GENERATE(false, true);
  CAPTURE(has_surface);
  const Lanes lanes({Surface(0.1, {}), Surface(0.4, {}), Surface(0.0, {})});
  ColliderDesc mesh = MeshOf(lanes);
  mesh.friction = 0.2f;
  Row row(mesh, 4, has_surface, {0.0f, 0.0f, 1.5f}, 0.0f);
  for (int step = 0; step < 5; ++step) StepWorld(&row.world, kDt);
  std::vector<double> before;
  for (size_t i = 0; i < 4; ++i) before.push_back(row.VelocityOf(i).z());
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) StepWorld(&row.world, kDt);
  const double expected[] = {0.1, 0.4, 0.0, 0.2};
  for (size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const double braking = (before[i] - row.VelocityOf(i).z()) / (kSteps * double(kDt) * kGravity);
    CHECK(braking == Approx(expected[i]).margin(0.005));
  }
}

}  // namespace mesh_materials_test
