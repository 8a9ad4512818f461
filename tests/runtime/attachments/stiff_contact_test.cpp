// SPDX-License-Identifier: MIT
// Small stiff planks that fall on another body: free ones, and ones on hinges of pins, constraints
// or springs.
//
// If solves with A do not turn them, free ones shake by up to 0.6 lengths per second, and
// constraints and springs throw them off.
#include "reference/elastic_body.h"
#include "runtime/attachments/held_nodes.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/tet_fixtures.h"
#include "shapes/shape_asset.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace stiff_contact_test {

constexpr double kDt = 1.0 / 60.0;

ShapeAsset BoxOf(int edges, double edge, const tools::Material& material) {
  tools::AssetContent content = ContentOf(TetBox(edges, 2, 2, edge), material, kDt);
  AddClusters({}, &content);
  AddSurface({.parts = 1, .depth = 0.0, .num_shells = 0}, &content);
  auto bytes = tools::WriteAsset(content);
  REQUIRE(bytes.ok());
  return ShapeAsset(std::move(bytes.value()));
}

enum class Hold { kFree, kPins, kConstraints, kSprings };

// Holds the nodes of the upper edge at x = 0.
BodyId AddHeld(const ShapeAsset& shape, double edge, Hold hold, World* world) {
  std::vector<uint32_t> nodes;
  const Points rest = ToEigen(shape.rest());
  for (Eigen::Index i = 0; i < rest.cols() && hold != Hold::kFree; ++i) {
    if (rest(0, i) < 1e-6 && rest(1, i) > 1.99 * edge) nodes.push_back(static_cast<uint32_t>(i));
  }
  BodyDesc body;
  if (hold == Hold::kPins) body.pinned_nodes = nodes;
  const BodyId id = AddBody(world, shape.asset(), body);
  for (const uint32_t node : nodes) {
    const Vec3 at = shape.rest()[node];
    if (hold == Hold::kSprings) {
      AttachNode(world, SpringOn(id, node, at));
    } else if (hold == Hold::kConstraints) {
      HoldNode(world, HoldOn(id, node, at));
    }
  }
  return id;
}

TEST_CASE("Stiff planks that fall on a cube gain nothing and come to rest", "[long]") {
  const double young = GENERATE(1.0e7, 1.0e8), edge = GENERATE(0.02, 0.05);
  const double damping = GENERATE(0.0, 0.02);
  const tools::Material material = {young, 0.3, 200.0, damping};
  const ShapeAsset plank = BoxOf(8, edge, material), cube = BoxOf(2, edge, material);
  const ShapeAsset* shapes[] = {&plank, &cube};
  const reference::ElasticBody bodies[] = {reference::ElasticBody(plank.asset()),
                                           reference::ElasticBody(cube.asset())};
  for (const Hold hold : {Hold::kFree, Hold::kPins, Hold::kConstraints, Hold::kSprings}) {
    CAPTURE(young, edge, damping, int(hold));
    World world({.sleep = {.speed = 0.0f}, .max_pairs = 1});
    AddPlane(&world, {{0.0f, 1.0f, 0.0f}, static_cast<float>(-4.0 * edge)});
    BodyDesc low;
    low.pose.position = {static_cast<float>(5.0 * edge), static_cast<float>(-4.0 * edge), 0.0f};
    const BodyId ids[] = {AddHeld(plank, edge, hold, &world), AddBody(&world, cube.asset(), low)};
    const auto energy = [&] {
      double sum = 0.0;
      for (int k = 0; k < 2; ++k) {
        const Points x = ToEigen(PositionsOf(world, ids[k], shapes[k]->num_nodes())),
                     v = ToEigen(VelocitiesOf(world, ids[k], shapes[k]->num_nodes()));
        Points gradient;
        sum += 0.5 * v.colwise().squaredNorm().dot(bodies[k].masses) +
               9.81 * x.row(1).dot(bodies[k].masses) +
               reference::EnergyOf(bodies[k], {}, x, &gradient);
      }
      return sum;
    };
    const double start = energy();
    double most = -1.0, fastest = 0.0;
    uint32_t pairs = 0;
    for (int step = 0; step < 180; ++step) {
      REQUIRE((StepWorld(&world, float(kDt)) & kStepBodyFrozen) == 0);
      most = std::max(most, energy() - start);
      pairs = std::max(pairs, world.stats().body_pairs);
      if (step >= 150) fastest = std::max(fastest, double(world.stats().max_speed));
    }
    CHECK(pairs == 1);
    CHECK(most < 1e-3 * 9.81 * bodies[0].masses.sum() * 8.0 * edge);
    CHECK(fastest < 0.1 * 8.0 * edge);  // [m/s]
  }
}

}  // namespace stiff_contact_test
