// SPDX-License-Identifier: MIT
// Friction and restitution of contacts: those of the body's materials and of the collider, mixed.
#include "runtime/contact/plane_fixtures.h"
#include "runtime/contact/random_contacts.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace coefficients_test {

constexpr float kNone = -1.0f;

// A box of 4 x 2 x 4 cells whose tets beyond the middle of z are of a second material.
ShapeAsset TwoHalves(double first_friction, double second_friction) {
  const tools::TetMesh mesh = TetBox(4, 2, 4, 0.1);
  tools::Material first = kMaterial, second = kMaterial;
  if (first_friction >= 0.0) first.friction = first_friction;
  if (second_friction >= 0.0) second.friction = second_friction;
  std::vector<uint16_t> of_tets;
  for (const auto& nodes : mesh.tets) {
    double z = 0.0;
    for (const uint32_t node : nodes) z += mesh.nodes[node].z / 4.0;
    of_tets.push_back(z < 0.2 ? 0 : 1);
  }
  const auto bytes = tools::WriteAsset(MixedContentOf(mesh, {first, second}, of_tets, 0.0, 0.01));
  REQUIRE(bytes.ok());
  return ShapeAsset(bytes.value());
}

// Deceleration along x, in units of gravity, of a body that slides on a plane.
double Braking(const Asset& asset, const ColliderDesc& plane, const BodyDesc& desc = {},
               const WorldDesc& world_desc = {}) {
  World world(world_desc);
  ColliderId floor;
  REQUIRE(world.AddCollider(plane, &floor).ok());
  BodyDesc body = desc;
  body.velocity = {5.0f, 0.0f, 0.0f};
  const BodyId id = AddBody(&world, asset, body);
  const auto speed = [&] {
    const BodyMoments moments = MomentsOf(world, id);
    return moments.linear_momentum[0] / moments.mass;
  };
  for (int step = 0; step < 20; ++step) StepWorld(&world, kDt);
  const double before = speed();
  for (int step = 0; step < 50; ++step) StepWorld(&world, kDt);
  return (before - speed()) / (50 * double(kDt) * kGravity);
}

// Friction of 0.3 for the body 7 on the collider 9 if neither gives one.
float FrictionOfSevenOnNine(float of_body, uint64_t body, float of_collider, uint64_t collider) {
  return body == 7 && collider == 9 && of_body < 0.0f && of_collider < 0.0f ? 0.3f : 0.6f;
}

float NoNumber(float, uint64_t, float, uint64_t) { return std::numeric_limits<float>::quiet_NaN(); }

TEST_CASE("Friction mixes to the geometric mean, restitution to the larger value") {
  struct Case {
    float body, baked, plane, friction, restitution;
  };
  for (const Case& c : {Case{kNone, kNone, kNone, 0.5f, 0.0f},
                        {kNone, kNone, 0.3f, 0.3f, 0.3f},
                        {kNone, 0.7f, kNone, 0.7f, 0.7f},
                        {0.1f, 0.7f, kNone, 0.1f, 0.1f},
                        {kNone, 0.9f, 0.4f, 0.6f, 0.9f},
                        {0.4f, 0.8f, 0.9f, 0.6f, 0.9f},
                        {0.0f, 0.8f, 0.9f, 0.0f, 0.9f},
                        {kNone, 0.0f, kNone, 0.0f, 0.0f}}) {
    const Coefficients baked[2] = {{0.2f, 0.2f}, {c.baked, c.baked}};
    const CoefficientRules rules = {{c.body, c.body}, baked};
    EmbeddedPoint point;
    point.material = 1;
    LocalCollider plane;
    plane.coefficients = {c.plane, c.plane};
    CAPTURE(c.body, c.baked, c.plane);
    CHECK(rules.Friction(point, plane) == Approx(c.friction));
    CHECK(rules.Restitution(point, plane) == Approx(c.restitution));
  }
}

TEST_CASE("Bodies slide with the friction of their materials") {
  const ShapeAsset plain = TwoHalves(-1.0, -1.0), smooth = TwoHalves(0.1, 0.1);
  const ShapeAsset uneven = TwoHalves(0.0, 0.4);
  CHECK(Braking(plain.asset(), {}) == Approx(0.5).epsilon(0.01));
  CHECK(Braking(plain.asset(), {.friction = 0.2f}) == Approx(0.2).epsilon(0.01));
  CHECK(Braking(smooth.asset(), {}) == Approx(0.1).epsilon(0.01));
  CHECK(Braking(smooth.asset(), {.friction = 0.4f}) == Approx(0.2).epsilon(0.01));
  CHECK(Braking(smooth.asset(), {}, {.material = {.friction = 0.3f}}) == Approx(0.3).epsilon(0.01));
  // The nodes in the middle belong to the first half.
  const double braking = Braking(uneven.asset(), {});
  CHECK(braking > 0.12);
  CHECK(braking < 0.2);
}

TEST_CASE("A world's own functions mix coefficients") {
  const ShapeAsset shape = TwoHalves(-1.0, -1.0);
  WorldDesc desc = {.mix_friction = FrictionOfSevenOnNine};
  const ColliderDesc floor = {.user_data = 9};
  CHECK(Braking(shape.asset(), floor, {.user_data = 7}, desc) == Approx(0.3).epsilon(0.01));
  CHECK(Braking(shape.asset(), floor, {.user_data = 8}, desc) == Approx(0.6).epsilon(0.01));
  desc.mix_friction = NoNumber;
  CHECK(std::fabs(Braking(shape.asset(), floor, {}, desc)) < 1e-4);
  const CoefficientRules rules = {{}, {}, NoNumber, NoNumber};
  CHECK(rules.Friction({}, {}) == 0.0f);
  CHECK(rules.Restitution({}, {}) == 0.0f);
}

TEST_CASE("A vertex has the material of the tet that carries it") {
  RandomContacts c(1, Touching::kVertices);
  std::vector<uint16_t> materials(c.shape.elements().tets.size());
  for (uint16_t& material : materials) material = static_cast<uint16_t>(c.random.Below(9));
  TouchingSurface surface = c.surface();
  surface.tet_materials = materials;
  for (uint32_t id = 0; id < surface.num_points(); ++id) {
    const auto patch = std::ranges::upper_bound(c.patches, id, {}, &CdgPatch::first_vertex) - 1;
    CHECK(surface.Point(id).material == materials[c.tets[patch->tet].tet]);
  }
}

TEST_CASE("SetMaterial changes friction, and GetMaterial and states keep it") {
  const ShapeAsset shape = TwoHalves(0.6, 0.6);
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  MaterialOverride material;
  REQUIRE(world.GetMaterial(id, &material).ok());
  CHECK((material.friction == -1.0f && material.restitution == -1.0f));
  REQUIRE(world.SetMaterial(id, {.friction = 0.25f, .restitution = -7.0f}).ok());
  const std::vector<std::byte> state = SavedState(world);
  REQUIRE(world.SetMaterial(id, {}).ok());
  const Asset* assets[] = {&shape.asset()};
  REQUIRE(world.LoadState(state, assets).ok());
  REQUIRE(world.GetMaterial(id, &material).ok());
  CHECK((material.friction == 0.25f && material.restitution == -1.0f));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const MaterialOverride& wrong :
       {MaterialOverride{.friction = nan}, MaterialOverride{.restitution = nan},
        MaterialOverride{.restitution = 1.5f}}) {
    CHECK(world.SetMaterial(id, wrong).code == StatusCode::kInvalidArgument);
  }
}

TEST_CASE("A collider without coefficients says so, in states, too") {
  World world;
  ColliderId id;
  REQUIRE(world.AddCollider({.friction = -3.0f, .restitution = -2.0f}, &id).ok());
  const std::vector<std::byte> state = SavedState(world);
  REQUIRE(world.SetColliderFriction(id, 0.5f).ok());
  REQUIRE(world.LoadState(state, {}).ok());
  ColliderDesc desc;
  REQUIRE(world.GetCollider(id, &desc).ok());
  CHECK((desc.friction == -1.0f && desc.restitution == -1.0f));
}

TEST_CASE("Assets with impossible coefficients are refused") {
  struct Case {
    double friction, restitution;
    const char* section;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Case& c : {Case{-1.5, 0.0, "simulation.materials.friction"},
                        {2.0e30, 0.0, "simulation.materials.friction"},
                        {nan, 0.0, "simulation.materials.friction"},
                        {0.0, 1.1, "simulation.materials.restitution"},
                        {0.0, -1.5, "simulation.materials.restitution"},
                        {0.0, nan, "simulation.materials.restitution"}}) {
    tools::Material material = kMaterial;
    material.friction = c.friction;
    material.restitution = c.restitution;
    const tools::TetMesh mesh = TetBox(1, 1, 1, 0.1);
    const auto bytes = tools::WriteAsset(
        MixedContentOf(mesh, {material}, std::vector<uint16_t>(mesh.tets.size(), 0), 0.0, 0.01));
    REQUIRE_FALSE(bytes.ok());  // it opens what it writes
    CHECK_THAT(bytes.error().message, Catch::Contains(c.section));
  }
}

}  // namespace coefficients_test
