// SPDX-License-Identifier: MIT
// Skin and NodePositions between the state before the last step and now; strides; tangents.
#include "plush/format/tet_block.h"

#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace between_steps_test {

constexpr float kDt = 0.01f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<Vec3> NodesAt(const World& world, BodyId id, const ShapeAsset& shape, float alpha) {
  std::vector<Vec3> out(shape.num_nodes());
  REQUIRE(world.NodePositions(id, alpha, out).ok());
  return out;
}

bool Same(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0;
}

double Farthest(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  return (ToEigen(a) - ToEigen(b)).colwise().norm().maxCoeff();
}

// A world that keeps positions; `count` wobbling bodies that fly at `speed` [m/s].
struct Flight {
  Flight(const ShapeAsset& shape, int count, float scale, float speed, bool keep_previous = true)
      : world({.gravity = {0, -9.81f, 0}, .keep_previous = keep_previous}) {
    Random random(5);
    for (int i = 0; i < count; ++i) {
      BodyDesc desc;
      desc.pose = {{3.0f * static_cast<float>(i), 2.0f, -1.0f}, ToQuat(random.Rotation())};
      desc.velocity = {speed, 0.5f * speed, 0.0f};
      desc.angular_velocity = ToVec3(random.Vector(5.0));
      desc.scale = scale;
      ids.push_back(AddBody(&world, shape.asset(), desc));
    }
    for (int step = 0; step < 3; ++step) StepWorld(&world, kDt);
  }
  BodyId last() const { return ids.back(); }

  World world;
  std::vector<BodyId> ids;
};

TEST_CASE("Nodes and skins at a fraction lie on the way from the last state to this one") {
  const int count = GENERATE(1, 8);  // alone, in a crowd
  const float scale = GENERATE(1.0f, 2.5f);
  const float speed = GENERATE(1.0f, 3000.0f);  // at the second one, the origin moves every step
  CAPTURE(count, scale, speed);
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.09, 3), {}, double(kDt));
  Flight flight(shape, count, scale, speed);
  World& world = flight.world;
  for (int step = 0; step < 4; ++step) {
    const std::vector<Vec3> before = NodesAt(world, flight.last(), shape, 1.0f);
    const Skinned skin_before = SkinOf(world, flight.last(), shape, 1.0f);
    StepWorld(&world, kDt);
    const std::vector<Vec3> now = NodesAt(world, flight.last(), shape, 1.0f);
    const Skinned skin_now = SkinOf(world, flight.last(), shape, 1.0f);
    REQUIRE(Farthest(before, now) > 0.005);
    CHECK(Same(NodesAt(world, flight.last(), shape, 0.0f), before));
    CHECK(Same(SkinOf(world, flight.last(), shape, 0.0f).positions, skin_before.positions));
    const double rounding = 1e-6 + 3e-7 * ToEigen(now).cwiseAbs().maxCoeff();
    for (const float alpha : {0.125f, 0.3f, 0.75f, 0.999f}) {
      CAPTURE(alpha);
      const double a = double(alpha);
      const Points nodes = (1.0 - a) * ToEigen(before) + a * ToEigen(now);
      CHECK((ToEigen(NodesAt(world, flight.last(), shape, alpha)) - nodes).cwiseAbs().maxCoeff() <
            rounding);
      const Skinned skin = SkinOf(world, flight.last(), shape, alpha);
      const Points expected =
          (1.0 - a) * ToEigen(skin_before.positions) + a * ToEigen(skin_now.positions);
      CHECK((ToEigen(skin.positions) - expected).cwiseAbs().maxCoeff() < rounding);
    }
  }
}

TEST_CASE("Normals between steps are those of the mixed surface") {
  const ShapeAsset shape(TetBox(2, 1, 2, 0.1, 0.09, 4), {1.0e4, 0.3, 1000.0}, double(kDt));
  Flight flight(shape, 1, 1.0f, 0.0f);
  Random random(9);
  std::vector<Vec3> v = ToVec3s(random.Vectors(shape.num_nodes(), 3.0));
  REQUIRE(flight.world.SetNodeVelocities(flight.last(), v).ok());
  StepWorld(&flight.world, kDt);
  const Skinned before = SkinOf(flight.world, flight.last(), shape, 0.0f);
  const Skinned now = SkinOf(flight.world, flight.last(), shape, 1.0f);
  REQUIRE(Farthest(before.normals, now.normals) > 0.1);
  for (const float alpha : {0.0f, 0.4f, 1.0f}) {
    const Skinned skin = SkinOf(flight.world, flight.last(), shape, alpha);
    for (size_t at = 0; at < skin.positions.size(); at += 3) {  // each face has its own vertices
      const Eigen::Vector3d a = ToEigen(skin.positions[at]);
      const Eigen::Vector3d across =
          (ToEigen(skin.positions[at + 1]) - a).cross(ToEigen(skin.positions[at + 2]) - a);
      for (size_t k = 0; k < 3; ++k) {
        CHECK((ToEigen(skin.normals[at + k]) - across.normalized()).norm() < 2e-4);
      }
    }
  }
}

TEST_CASE("Without kept positions every fraction gives the current state") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.09, 4), {}, double(kDt));
  Flight flight(shape, 1, 1.0f, 2.0f, false);
  const std::vector<Vec3> now = NodesAt(flight.world, flight.last(), shape, 1.0f);
  CHECK(Same(NodesAt(flight.world, flight.last(), shape, 0.0f), now));
  CHECK(Same(SkinOf(flight.world, flight.last(), shape, 0.5f).positions,
             SkinOf(flight.world, flight.last(), shape, 1.0f).positions));
}

TEST_CASE("Keeping positions changes no step") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1, 0.09, 3), {}, double(kDt));
  Flight keeps(shape, 8, 1.0f, 20.0f, true), forgets(shape, 8, 1.0f, 20.0f, false);
  for (int step = 0; step < 20; ++step) {
    StepWorld(&keeps.world, kDt);
    StepWorld(&forgets.world, kDt);
  }
  CHECK(keeps.world.StateHash() == forgets.world.StateHash());
}

TEST_CASE("Calls that move a body forget its last state, pushes keep it") {
  const int what = GENERATE(0, 1, 2, 3, 4, 5, 6, 7), count = GENERATE(1, 8);
  CAPTURE(what, count);
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.09, 4), {}, double(kDt));
  Flight flight(shape, count, 1.0f, 2.0f);
  World& world = flight.world;
  const BodyId id = flight.last();
  const std::vector<Vec3> before = NodesAt(world, id, shape, 0.0f);
  REQUIRE(Farthest(before, NodesAt(world, id, shape, 1.0f)) > 0.005);
  const std::vector<Vec3> push(shape.num_nodes(), Vec3{0.1f, 0.2f, 0.3f});
  if (what == 0) REQUIRE(world.SetNodePositions(id, before).ok());
  if (what == 1) REQUIRE(world.Teleport(id, {{5, 5, 5}, {}}).ok());
  if (what == 2) REQUIRE(world.ResetBody(id, {{5, 5, 5}, {}}).ok());
  if (what == 3) REQUIRE(world.SetEnabled(id, false).ok());
  if (what == 4) REQUIRE(world.SetNodeVelocities(id, push).ok());
  if (what == 5) REQUIRE(world.AddImpulses(id, push).ok());
  if (what == 6) REQUIRE(world.Wake(id).ok());
  if (what == 7) REQUIRE(world.SetGravityFactor(id, 2.0f).ok());
  const std::vector<Vec3> now = NodesAt(world, id, shape, 1.0f);
  CHECK(Same(NodesAt(world, id, shape, 0.0f), what < 4 ? now : before));
  CHECK(Same(SkinOf(world, id, shape, 0.25f).positions, SkinOf(world, id, shape, 1.0f).positions) ==
        (what < 4));
  // A later step counts again.
  if (what == 3) REQUIRE(world.SetEnabled(id, true).ok());
  StepWorld(&world, kDt);
  CHECK(Same(NodesAt(world, id, shape, 0.0f), now));
  CHECK_FALSE(Same(NodesAt(world, id, shape, 1.0f), now));
}

TEST_CASE("A body that slept or woke has no state before") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1), {1.0e5, 0.3, 1000.0, 0.05}, double(kDt));
  World world({.keep_previous = true});
  BodyDesc desc;
  const std::vector<uint32_t> pins = {0, 1, 2, 3};
  desc.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), desc);
  int steps = 0;
  while (!world.IsAsleep(id) && ++steps < 2000) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(id));
  const std::vector<Vec3> now = NodesAt(world, id, shape, 1.0f);
  CHECK(Same(NodesAt(world, id, shape, 0.0f), now));
  StepWorld(&world, kDt);
  CHECK(Same(NodesAt(world, id, shape, 0.0f), now));
  REQUIRE(world.Wake(id).ok());
  CHECK(Same(NodesAt(world, id, shape, 0.0f), now));
}

TEST_CASE("Vertex buffers are filled at any stride, and nothing beside") {
  struct Vertex {
    float uv[2];
    Vec3 normal;
    uint32_t colour;
    Vec3 position;
    float spare;
  };
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.09, 4), {}, double(kDt));
  Flight flight(shape, 1, 1.0f, 2.0f);
  const float alpha = GENERATE(0.5f, 1.0f);
  const Skinned packed = SkinOf(flight.world, flight.last(), shape, alpha);
  Vertex untouched;
  std::memset(static_cast<void*>(&untouched), 0x5a, sizeof untouched);
  std::vector<Vertex> vertices(packed.positions.size() + 1, untouched);
  SkinTarget target = {.positions = &vertices[0].position,
                       .position_stride = sizeof(Vertex),
                       .num_vertices = static_cast<uint32_t>(packed.positions.size())};
  REQUIRE(flight.world.Skin(flight.last(), alpha, target).ok());
  CHECK(std::memcmp(&vertices[0].normal, &untouched.normal, sizeof(Vec3)) == 0);
  target.normals = &vertices[0].normal;
  target.normal_stride = sizeof(Vertex);
  target.positions = nullptr;
  REQUIRE(flight.world.Skin(flight.last(), alpha, target).ok());
  for (size_t v = 0; v < packed.positions.size(); ++v) {
    REQUIRE(std::memcmp(&vertices[v].position, &packed.positions[v], sizeof(Vec3)) == 0);
    REQUIRE(std::memcmp(&vertices[v].normal, &packed.normals[v], sizeof(Vec3)) == 0);
    REQUIRE(std::memcmp(vertices[v].uv, untouched.uv, sizeof untouched.uv) == 0);
    REQUIRE(vertices[v].colour == untouched.colour);
    REQUIRE(std::memcmp(&vertices[v].spare, &untouched.spare, sizeof(float)) == 0);
  }
  CHECK(std::memcmp(&vertices.back(), &untouched, sizeof untouched) == 0);
}

TEST_CASE("Tangents follow the surface and keep the sign of the bitangent") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.05, seed), {}, double(kDt));
  const VisualView& visual = shape.asset().visual();
  std::vector<Vec4> tangents;
  for (size_t v = 0; v < visual.positions.size(); ++v) {
    const Eigen::Vector3d t = random.Direction().cross(ToEigen(visual.normals[v])).normalized();
    tangents.push_back({static_cast<float>(t.x()), static_cast<float>(t.y()),
                        static_cast<float>(t.z()), v % 2 == 0 ? 1.0f : -1.0f});
  }
  // Instead of the file's, which follow from its UVs.
  const_cast<VisualView&>(visual).tangents = tangents;
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.scale = seed == 2 ? 3.0f : 1.0f});
  const Points rest = ToEigen(shape.rest());
  const Points x = random.Rotation() * rest + random.Vectors(shape.num_nodes(), 0.02);
  REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
  struct Vertex {
    Vec3 normal;
    Vec4 tangent;
    float spare;
  };
  std::vector<Vertex> out(tangents.size());
  SkinTarget target = {.normals = &out[0].normal, .tangents = &out[0].tangent};
  target.normal_stride = target.tangent_stride = sizeof(Vertex);
  target.num_vertices = static_cast<uint32_t>(out.size());
  REQUIRE(world.Skin(id, 1.0f, target).ok());
  const auto edges = [&](const Points& at, uint32_t t) {
    const Tet& tet = shape.simulation().tets[t];
    Eigen::Matrix3d m;
    m << at.col(tet.b) - at.col(tet.a), at.col(tet.c) - at.col(tet.a),
        at.col(tet.d) - at.col(tet.a);
    return m;
  };
  for (size_t v = 0; v < out.size(); ++v) {
    const uint32_t t = visual.tet_ids[v];
    const Eigen::Matrix3d F = edges(x, t) * edges(rest, t).inverse();
    const Vec4& had = tangents[v];
    const Eigen::Vector3d expected = (F * Eigen::Vector3d(had.x, had.y, had.z)).normalized();
    const Vec4& now = out[v].tangent;
    REQUIRE((Eigen::Vector3d(now.x, now.y, now.z) - expected).norm() < 1e-4);
    REQUIRE(now.w == had.w);
    REQUIRE(std::fabs(expected.dot(ToEigen(out[v].normal))) < 1e-4);
  }
  target.tangent_stride = 12;
  CHECK(world.Skin(id, 1.0f, target).section == std::string("target.tangent_stride"));
}

TEST_CASE("The file's tangents turn with the body") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.05, seed), {}, double(kDt));
  const VisualView& visual = shape.asset().visual();
  REQUIRE(visual.tangents.size() == visual.positions.size());
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const Eigen::Matrix3d R = random.Rotation();
  REQUIRE(world.SetNodePositions(id, ToVec3s(R * ToEigen(shape.rest()))).ok());
  std::vector<Vec4> out(visual.tangents.size());
  SkinTarget target = {.tangents = out.data(), .num_vertices = static_cast<uint32_t>(out.size())};
  REQUIRE(world.Skin(id, 1.0f, target).ok());
  for (size_t v = 0; v < out.size(); ++v) {
    const Vec4& rest = visual.tangents[v];
    const Eigen::Vector3d now(out[v].x, out[v].y, out[v].z);
    REQUIRE((now - R * Eigen::Vector3d(rest.x, rest.y, rest.z)).norm() < 1e-5);
    REQUIRE(std::fabs(rest.w) == 1.0f);
    REQUIRE(out[v].w == rest.w);
  }
}

TEST_CASE("Tangents of an asset without them are refused") {
  tools::AssetContent content = ContentOf(TetBox(1, 1, 1, 0.1));
  content.tangents.clear();
  const ShapeAsset bare(tools::WriteAsset(content).value());
  World world;
  const BodyId id = AddBody(&world, bare.asset());
  std::vector<Vec4> out(bare.asset().visual().positions.size());
  SkinTarget target = {.tangents = out.data(), .num_vertices = static_cast<uint32_t>(out.size())};
  CHECK(world.Skin(id, 1.0f, target).section == std::string("target.tangents"));
}

TEST_CASE("Wrong fractions, sizes and strides are refused") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  std::vector<Vec3> nodes(shape.num_nodes());
  std::vector<Vec3> buffer(4 * shape.asset().visual().positions.size());
  SkinTarget good;
  good.positions = good.normals = buffer.data();
  good.num_vertices = static_cast<uint32_t>(shape.asset().visual().positions.size());
  REQUIRE(world.Skin(id, 0.5f, good).ok());
  const float inf = std::numeric_limits<float>::infinity();
  for (const float alpha : {kNan, -0.001f, 1.001f, inf, -inf}) {
    CHECK(world.Skin(id, alpha, good).section == std::string("alpha"));
    CHECK(world.NodePositions(id, alpha, nodes).section == std::string("alpha"));
  }
  for (const uint32_t number : {0u, good.num_vertices - 1, good.num_vertices + 1, UINT32_MAX}) {
    SkinTarget target = good;
    target.num_vertices = number;
    CHECK(world.Skin(id, 1.0f, target).section == std::string("target.num_vertices"));
    target.positions = target.normals = nullptr;
    CHECK(world.Skin(id, 1.0f, target).code == StatusCode::kInvalidArgument);
  }
  for (const size_t stride :
       {size_t{0}, size_t{4}, size_t{8}, size_t{13}, size_t{14}, size_t{27}, SIZE_MAX}) {
    SkinTarget target = good;
    target.position_stride = stride;
    CHECK(world.Skin(id, 1.0f, target).section == std::string("target.position_stride"));
    target.positions = nullptr;  // what is not written needs no stride
    CHECK(world.Skin(id, 1.0f, target).ok());
    target.normal_stride = stride;
    CHECK(world.Skin(id, 1.0f, target).section == std::string("target.normal_stride"));
  }
  for (const size_t wrong : {size_t{0}, nodes.size() - 1, nodes.size() + 1}) {
    std::vector<Vec3> other(wrong);
    CHECK(world.NodePositions(id, 1.0f, other).code == StatusCode::kInvalidArgument);
  }
  CHECK(world.Skin({}, 1.0f, good).code == StatusCode::kNullId);
  CHECK(world.NodePositions({}, 1.0f, nodes).code == StatusCode::kNullId);
  REQUIRE(world.RemoveBody(id).ok());
  CHECK(world.Skin(id, 1.0f, good).code == StatusCode::kStaleId);
  CHECK(world.NodePositions(id, 1.0f, nodes).code == StatusCode::kStaleId);
}

}  // namespace between_steps_test
