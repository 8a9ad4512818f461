// SPDX-License-Identifier: MIT
// Debug drawing: what each flag draws, counted and placed by brute force.
#include "runtime/colliders/plane_scene.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/world/heap_counter.h"
#include "world/outside_faces.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace draw_test {

constexpr float kDt = BoxOnPlane::kDt;

struct Line {
  Eigen::Vector3d a, b;
  uint32_t colour;
};

// What a world drew.
struct Drawing {
  std::vector<Eigen::Vector3d> points;
  std::vector<float> sizes;
  std::vector<Line> lines;
  std::vector<std::array<Eigen::Vector3d, 3>> triangles;
  std::vector<std::string> texts;
  std::string order;  // p, l, t or x per call

  std::set<uint32_t> colours() const {
    std::set<uint32_t> out;
    for (const Line& line : lines) out.insert(line.colour);
    return out;
  }
};

Drawing Draw(const World& world, uint32_t flags) {
  Drawing drawing;
  DebugDraw draw = {.user = &drawing, .flags = flags};
  draw.point = [](void* user, const Vec3& p, float size, uint32_t) {
    auto* d = static_cast<Drawing*>(user);
    d->points.push_back(ToEigen(p));
    d->sizes.push_back(size);
    d->order += 'p';
  };
  draw.line = [](void* user, const Vec3& a, const Vec3& b, uint32_t colour) {
    auto* d = static_cast<Drawing*>(user);
    d->lines.push_back({ToEigen(a), ToEigen(b), colour});
    d->order += 'l';
  };
  draw.triangle = [](void* user, const Vec3& a, const Vec3& b, const Vec3& c, uint32_t) {
    auto* d = static_cast<Drawing*>(user);
    d->triangles.push_back({ToEigen(a), ToEigen(b), ToEigen(c)});
    d->order += 't';
  };
  draw.text = [](void* user, const Vec3&, const char* text, uint32_t) {
    auto* d = static_cast<Drawing*>(user);
    d->texts.push_back(text);
    d->order += 'x';
  };
  world.Draw(draw);
  return drawing;
}

// Outside faces with corners counter-clockwise from outside, the lowest one first.
std::set<std::array<uint32_t, 3>> OutsideByBruteForce(std::span<const Tet> tets) {
  std::map<std::set<uint32_t>, std::vector<std::array<uint32_t, 3>>> faces;
  for (const Tet& t : tets) {
    for (const auto& f : {std::array<uint32_t, 3>{t.a, t.c, t.b},
                          {t.a, t.b, t.d},
                          {t.a, t.d, t.c},
                          {t.b, t.c, t.d}}) {
      faces[{f[0], f[1], f[2]}].push_back(f);
    }
  }
  std::set<std::array<uint32_t, 3>> out;
  for (const auto& [key, all] : faces) {
    if (all.size() != 1) continue;
    std::array<uint32_t, 3> f = all[0];
    std::rotate(f.begin(), std::min_element(f.begin(), f.end()), f.end());
    out.insert(f);
  }
  return out;
}

std::vector<std::array<uint32_t, 3>> Outside(std::span<const Tet> tets) {
  std::vector<std::array<uint32_t, 3>> out;
  ForOutsideFaces(tets, &out, [](void* user, const OutsideFace& face) {
    static_cast<std::vector<std::array<uint32_t, 3>>*>(user)->push_back(
        {face.nodes[0], face.nodes[1], face.nodes[2]});
  });
  return out;
}

TEST_CASE("The outside faces of a cage are found in any number of passes") {
  const uint32_t n = GENERATE(1u, 2u, 5u, 9u);  // up to 14580 faces
  const ShapeAsset shape(TetBox(n, n, n, 0.1), {}, double(kDt));
  const std::span<const Tet> tets = shape.simulation().tets;
  const auto found = Outside(tets);
  const std::set<std::array<uint32_t, 3>> distinct(found.begin(), found.end());
  CHECK(found.size() == 12u * n * n);
  CHECK(distinct.size() == found.size());
  CHECK(distinct == OutsideByBruteForce(tets));
}

TEST_CASE("Outside faces of unsound cages: many tets on one edge or node, and equal tets") {
  std::vector<Tet> fan;
  for (uint32_t i = 0; i < 3000; ++i) fan.push_back({0, 3 * i + 1, 3 * i + 2, 3 * i + 3});
  CHECK(Outside(fan).size() == 4u * fan.size());
  CHECK(Outside(std::vector<Tet>(5000, Tet{3, 2, 1, 0})).empty());
  std::vector<Tet> book;
  for (uint32_t i = 0; i < 3000; ++i) book.push_back({0, 1, 2 * i + 2, 2 * i + 3});
  CHECK(Outside(book).size() <= 4u * book.size());  // it ends, and reads nothing outside
  CHECK(Outside({}).empty());
}

TEST_CASE("The cage is drawn as the edges of its outside faces, each once") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.05), {}, double(kDt));
  World world;
  const BodyId id =
      AddBody(&world, shape.asset(), {.pose = {.position = {5.0f, 1.0f, 0.0f}}, .scale = 2.0f});
  StepWorld(&world, kDt);
  const std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (const auto& face : OutsideByBruteForce(shape.simulation().tets)) {
    for (size_t k = 0; k < 3; ++k) edges.insert(std::minmax(face[k], face[(k + 1) % 3]));
  }
  const Drawing drawing = Draw(world, kDrawCage);
  REQUIRE(drawing.lines.size() == edges.size());
  for (const auto& [a, b] : edges) {
    const auto is_edge = [&, first = a, second = b](const Line& line) {
      return line.a == ToEigen(x[first]) && line.b == ToEigen(x[second]);
    };
    CHECK(std::count_if(drawing.lines.begin(), drawing.lines.end(), is_edge) == 1);
  }
  CHECK(drawing.points.empty());
  CHECK(drawing.texts.empty());
}

TEST_CASE("The surface is drawn as the skinned triangles") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1), {}, double(kDt));
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.scale = 1.5f});
  StepWorld(&world, kDt);
  const VisualView& visual = shape.asset().visual();
  std::vector<Vec3> skin(visual.positions.size());
  REQUIRE(world
              .Skin(id, 1.0f,
                    {.positions = skin.data(), .num_vertices = static_cast<uint32_t>(skin.size())})
              .ok());
  const Drawing drawing = Draw(world, kDrawSurface);
  REQUIRE(drawing.triangles.size() == visual.indices.size() / 3);
  for (size_t t = 0; t < drawing.triangles.size(); ++t) {
    for (size_t k = 0; k < 3; ++k) {
      CHECK((drawing.triangles[t][k] - ToEigen(skin[visual.indices[3 * t + k]])).norm() < 1e-6);
    }
  }
}

TEST_CASE("Pins are drawn as points, with lines to their targets") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1), {}, double(kDt));
  World world;
  const std::vector<uint32_t> pins = {1, 4, 5}, moved = {4, 1};
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  CHECK(Draw(world, kDrawPins).lines.empty());
  const std::vector<Vec3> targets = {{x[4].x, x[4].y + 0.02f, x[4].z}, {9.0f, 8.0f, 7.0f}};
  REQUIRE(world.MovePins(id, moved, targets).ok());
  const Drawing drawing = Draw(world, kDrawPins);
  REQUIRE(drawing.points.size() == 3);
  for (size_t k = 0; k < 3; ++k) CHECK(drawing.points[k] == ToEigen(x[pins[k]]));
  REQUIRE(drawing.lines.size() == 2);
  CHECK((drawing.lines[0].b - ToEigen(targets[1])).norm() < 1e-5);
  CHECK((drawing.lines[1].b - ToEigen(targets[0])).norm() < 1e-6);
  StepWorld(&world, kDt);
  CHECK(Draw(world, kDrawPins).lines.empty());
}

TEST_CASE("Contacts are drawn at their nodes with the planes' normals") {
  const double angle = 0.1;
  BoxOnPlane scene({}, {.pose = {{}, TurnOf(angle, {0, 0, 1})}, .friction = 1.0f},
                   {.pose = {.position = {0.0f, 0.025f, 0.0f}}});
  scene.Step(100);
  const Drawing drawing = Draw(scene.world, kDrawContacts);
  REQUIRE(scene.world.stats().contacts > 0);
  CHECK(drawing.points.size() == scene.world.stats().contacts);
  REQUIRE(drawing.lines.size() == drawing.points.size());
  const Eigen::Vector3d n(-std::sin(angle), std::cos(angle), 0.0);
  const std::vector<Vec3> x = scene.positions();
  for (size_t k = 0; k < drawing.lines.size(); ++k) {
    const Line& line = drawing.lines[k];
    CHECK((line.b - line.a).normalized().dot(n) == Approx(1.0));
    CHECK(std::count_if(x.begin(), x.end(), [&](const Vec3& p) { return ToEigen(p) == line.a; }) ==
          1);
  }
}

TEST_CASE("Bounds are the twelve edges of GetBounds, and names are slots") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world;
  std::vector<BodyId> ids;
  for (int i = 0; i < 12; ++i) {
    ids.push_back(AddBody(&world, shape.asset(),
                          {.pose = {.position = {static_cast<float>(i), 2.0f, 0.0f}}}));
  }
  REQUIRE(world.RemoveBody(ids[1]).ok());
  const Drawing drawing = Draw(world, kDrawBounds | kDrawNames);
  REQUIRE(drawing.lines.size() == 12 * 11);
  Bounds bounds;
  REQUIRE(world.GetBounds(ids[0], &bounds).ok());
  Eigen::Vector3d low = drawing.lines[0].a, high = low;
  for (size_t k = 0; k < 12; ++k) {
    const Line& line = drawing.lines[k];
    for (const Eigen::Vector3d& p : {line.a, line.b}) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    CHECK(((line.a - line.b).array() != 0.0).count() == 1);  // along one axis
  }
  CHECK(low == ToEigen(bounds.low));
  CHECK(high == ToEigen(bounds.high));
  const std::vector<std::string> names = {"0", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};
  CHECK(drawing.texts == names);
  CHECK(drawing.order.substr(0, 14) == "llllllllllllxl");  // body by body
}

TEST_CASE("States have colours of their own, and disabled bodies are drawn for them only") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt));
  World world;
  AddCollider(&world);
  const BodyId rests = AddBody(&world, shape.asset());
  for (int step = 0; step < 2000 && !world.IsAsleep(rests); ++step) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(rests));
  const auto colours = [&](uint32_t flags) { return Draw(world, flags).colours(); };
  CHECK(colours(kDrawSleep).size() == 1);
  AddBody(&world, shape.asset(), {.pose = {.position = {0.0f, 50.0f, 0.0f}}});
  CHECK(colours(kDrawSleep).size() == 2);
  AddBody(&world, shape.asset(), {.fixed = true});
  CHECK(colours(kDrawSleep).size() == 3);
  const BodyId off = AddBody(&world, shape.asset(), {.enabled = false});
  CHECK(colours(kDrawSleep).size() == 4);
  const BodyId frozen = AddBody(&world, shape.asset());
  std::vector<Vec3> wild(shape.num_nodes());
  for (size_t i = 0; i < wild.size(); ++i) wild[i].y = i % 2 == 0 ? 3.0e38f : -3.0e38f;
  REQUIRE(world.SetNodeVelocities(frozen, wild).ok());
  for (int step = 0; step < 20; ++step) StepWorld(&world, kDt);
  REQUIRE(world.IsFrozen(frozen));
  CHECK(colours(kDrawSleep).size() == 5);
  CHECK(colours(kDrawCage).size() == 1);
  const size_t all = Draw(world, kDrawSleep).lines.size();
  CHECK(Draw(world, kDrawSleep | kDrawCage).lines.size() == all);
  CHECK(Draw(world, kDrawCage).lines.size() == all / 5 * 4);
  CHECK(Draw(world, kDrawNames).texts.size() == 4);
  REQUIRE(world.SetEnabled(off, true).ok());
  CHECK(Draw(world, kDrawNames).texts.size() == 5);
}

TEST_CASE("A plane is drawn as a grid on itself under the bodies") {
  BoxOnPlane scene({}, {.plane = {{0.0f, 1.0f, 0.0f}, 0.3f},
                        .pose = {{5.0f, -2.0f, 1.0f}, TurnOf(0.4, {1, 0, 2})}});
  const Drawing drawing = Draw(scene.world, kDrawColliders);
  REQUIRE(drawing.lines.size() == 2 * 9 + 1);
  const ColliderDesc desc = DescOf(scene.world, scene.plane);
  const Eigen::Vector3d n = RotationOf(desc.pose.rotation) * ToEigen(desc.plane.normal);
  const auto height = [&](const Eigen::Vector3d& p) {
    return n.dot(p - ToEigen(desc.pose.position)) - 0.3;
  };
  for (size_t k = 0; k < 18; ++k) {
    CHECK(height(drawing.lines[k].a) == Approx(0.0).margin(1e-5));
    CHECK(height(drawing.lines[k].b) == Approx(0.0).margin(1e-5));
    // A square as wide as twice the diagonal of the box around the bodies.
    CHECK((drawing.lines[k].a - drawing.lines[k].b).norm() ==
          Approx(2.0 * 0.2 * std::sqrt(3.0)).epsilon(0.01));
  }
  CHECK((drawing.lines[18].b - drawing.lines[18].a).normalized().dot(n) == Approx(1.0));
  World empty;
  AddCollider(&empty);
  CHECK(Draw(empty, kDrawColliders).lines.size() == 19);
}

TEST_CASE("Solids are drawn by lines on their surfaces") {
  const Pose pose = {{1.0f, 2.0f, -3.0f}, TurnOf(0.7, {1, 2, 3})};
  const std::vector<Vec3> corners = BoxCorners({0.3f, 0.2f, 0.1f});
  for (const ColliderDesc& desc : {SphereAt(pose.position, 0.5f), CapsuleAt(pose, 0.4f, 0.2f),
                                   BoxAt(pose, {0.1f, 0.2f, 0.3f}), HullAt(pose, corners)}) {
    World world;
    AddCollider(&world, desc);
    const Drawing drawing = Draw(world, kDrawColliders);
    CHECK(drawing.lines.size() >= 12);
    Eigen::Vector3d low = drawing.lines[0].a, high = low;
    for (const auto& line : drawing.lines) {
      CHECK(DistanceFrom(desc, line.a) == Approx(0.0).margin(1e-5));
      CHECK(DistanceFrom(desc, line.b) == Approx(0.0).margin(1e-5));
      low = low.cwiseMin(line.a);
      high = high.cwiseMax(line.a);
    }
    CHECK((0.5 * (low + high) - ToEigen(pose.position)).norm() < 0.1);
    CHECK((high - low).minCoeff() > 0.3);
    if (desc.type == ShapeType::kHull) CHECK(drawing.lines.size() == 12);
  }
}

TEST_CASE("Drawing skips null functions, allocates nothing, changes nothing and repeats itself") {
  BoxOnPlane scene;
  scene.Step(30);
  const uint64_t hash = scene.world.StateHash(), heap = HeapAllocations();
  scene.world.Draw({.flags = ~0u});
  CHECK(HeapAllocations() == heap);
  CHECK(Draw(scene.world, ~0u).order == Draw(scene.world, ~0u).order);
  CHECK(Draw(scene.world, 0).order.empty());
  CHECK(scene.world.StateHash() == hash);
  CountingMemory memory;
  memory.FailAt(1, false);
  World none({.allocator = memory.allocator()});
  none.Draw({.flags = ~0u});
}

}  // namespace draw_test
