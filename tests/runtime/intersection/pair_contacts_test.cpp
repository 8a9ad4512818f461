// SPDX-License-Identifier: MIT
// Contacts of two bodies: normals and areas are those of simple solids, and the two bodies' roles
// can be swapped.
#include "intersection/pair_contacts.h"

#include "plush/allocator.h"

#include "base/vector_math.h"
#include "runtime/intersection/found_contacts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("A box on a box touches at its corners") {
  SurfaceBody small = Box(1, 1, 1, 0.2), large = Box(2, 1, 2, 0.2);
  PairScratch scratch = ScratchFor(small, large);
  const float depth = GENERATE(1e-5f, 1e-3f, 0.02f);
  CAPTURE(depth);
  // The large box is below.
  const Found found = Find(small, large, {-0.09f, -0.2f + depth, -0.11f}, &scratch);
  CHECK(found.count.volumes == 1);
  CHECK(found.count.curves == 1);
  float area[2] = {}, low = 1.0f, high = -1.0f;
  for (const PairContact& contact : found.contacts) {
    CHECK(contact.normal.y > 0.99999f);
    CHECK(contact.gap == Approx(-depth).margin(1e-6));
    const float x = PointOf(small, contact, 0).x;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  for (size_t side = 0; side < 2; ++side) {
    for (uint32_t r = 0; r < scratch.floods[side].num_regions; ++r) {
      const Region& region = scratch.floods[side].regions[r];
      area[side] += std::fabs(region.vector_area.y);
    }
    CHECK(area[side] == Approx(0.04f).epsilon(1e-3));
  }
  CHECK(found.contacts.size() >= 4);
  CHECK(low < 0.06f);
  CHECK(high > 0.14f);
  const Found swapped = Find(large, small, {0.09f, 0.2f - depth, 0.11f}, &scratch);
  CHECK(swapped.contacts.size() == found.contacts.size());
  for (const PairContact& contact : swapped.contacts) CHECK(contact.normal.y < -0.99999f);
}

TEST_CASE("A body inside another without a curve is pushed out") {
  SurfaceBody small = Box(1, 1, 1, 0.02), large = Box(2, 2, 2, 0.2);
  PairScratch scratch = ScratchFor(small, large);
  const Found found = Find(small, large, {-0.35f, -0.2f, -0.2f}, &scratch);
  REQUIRE(found.contacts.size() == 1);
  CHECK(found.count.pairs == 0);
  CHECK(found.contacts[0].normal.x > 0.99f);
  CHECK(found.contacts[0].gap < -0.02f);
  RequireSound(small, large, {-0.35f, -0.2f, -0.2f}, found, 1.0f);
  const Found swapped = Find(large, small, {0.35f, 0.2f, 0.2f}, &scratch);
  REQUIRE(swapped.contacts.size() == 1);
  CHECK(swapped.contacts[0].normal.x < -0.99f);
  CHECK(swapped.contacts[0].gap == Approx(found.contacts[0].gap));
  CHECK(Find(small, large, {0.1f, 0.1f, 0.1f}, &scratch).contacts.empty());
}

// Up to the rounding of the curves' points, of 2e-8 m, over what the curve is wide: about the
// depth.
TEST_CASE("A vertex in a face and an edge on an edge give exact normals") {
  const uint32_t seed = 73;
  const double depth = GENERATE(3e-4, 1e-3, 5e-3, 2e-2);
  CAPTURE(seed, depth);
  const double tolerance = 5e-7 + 2e-8 / depth;
  Random random(seed);
  SurfaceBody moved = Box(1, 1, 1, 0.2), fixed = Box(1, 1, 1, 0.2);
  PairScratch scratch = ScratchFor(moved, fixed);
  const Eigen::Vector3d half = Eigen::Vector3d::Constant(0.1);
  // The box, turned about its middle.
  const auto turn = [&](SurfaceBody* body, const Eigen::Matrix3d& rotation) {
    std::vector<Vec3> x;
    for (const Vec3& p : body->shape().rest()) x.push_back(ToVec3(rotation * (ToEigen(p) - half)));
    body->Move(x);
  };
  int on_faces = 0;
  double most = 0.0;
  const auto compare = [&](const Found& found, const Eigen::Vector3d& expected) {
    REQUIRE(found.count.volumes == 1);
    REQUIRE(!found.contacts.empty());
    for (const PairContact& contact : found.contacts) {
      most = std::max(most, (ToEigen(contact.normal) - expected).norm());
    }
  };
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    // A vertex of the moved box in the middle of a face of the fixed one. All is turned by q.
    const Eigen::Matrix3d q = random.Rotation(), r = random.Rotation();
    const Eigen::Vector3d up = q.col(1);
    turn(&fixed, q);
    turn(&moved, q * r);
    std::vector<Eigen::Vector3d> corners;
    for (const double x : {-0.1, 0.1})
      for (const double y : {-0.1, 0.1})
        for (const double z : {-0.1, 0.1}) corners.push_back(q * r * Eigen::Vector3d(x, y, z));
    std::ranges::sort(corners, [&](const auto& a, const auto& b) { return up.dot(a) < up.dot(b); });
    // Where edges are nearly level, the curve leaves the face.
    if (up.dot(corners[1] - corners[0]) > 3.0 * depth) {
      const Eigen::Vector3d offset = corners[0] - (0.1 - depth) * up;
      compare(Find(moved, fixed, ToVec3(offset), &scratch), up);
      ++on_faces;
    }

    // Edges along x of the moved box below, and along z of the fixed one above, both tilted. All is
    // turned by q.
    const auto edge_on = [&](const Eigen::Vector3d& axis) {
      const Eigen::Vector3d tilt = random.Vector(0.1);
      return Eigen::Matrix3d(q * Eigen::AngleAxisd(tilt.norm(), tilt.normalized()) *
                             Eigen::AngleAxisd(std::acos(-1.0) / 4.0, axis));
    };
    const Eigen::Matrix3d a = edge_on(Eigen::Vector3d::UnitX()),
                          b = edge_on(Eigen::Vector3d::UnitZ());
    turn(&moved, a);
    turn(&fixed, b);
    // The middles of the edges that meet.
    const Eigen::Vector3d low = a * Eigen::Vector3d(0.0, -0.1, 0.1);
    const Eigen::Vector3d high = b * Eigen::Vector3d(0.1, 0.1, 0.0);
    Eigen::Vector3d expected = a.col(0).cross(b.col(2)).normalized();
    if (expected.dot(up) < 0.0) expected = -expected;
    compare(Find(moved, fixed, ToVec3(low - high + depth * expected), &scratch), expected);
  }
  CAPTURE(most);
  CHECK(on_faces > 20);
  CHECK(most < tolerance);
}

TEST_CASE("A plate with a hole on a plate is one volume with two curves") {
  tools::TetMesh mesh = TetBox(3, 3, 1, 0.1);
  std::erase_if(mesh.tets, [&](const auto& tet) {
    double x = 0.0, y = 0.0;
    for (const uint32_t node : tet) x += mesh.nodes[node].x / 4.0, y += mesh.nodes[node].y / 4.0;
    return x > 0.1 && x < 0.2 && y > 0.1 && y < 0.2;
  });
  SurfaceBody ring(mesh, {.parts = 2, .depth = 0.0, .num_shells = 0});
  SurfaceBody plate = Box(2, 2, 1, 0.3);
  PairScratch scratch = ScratchFor(ring, plate);
  const Vec3 offset = {-0.13f, -0.17f, -0.3f + 0.01f};
  const Found found = Find(ring, plate, offset, &scratch);
  CHECK(found.count.curves == 2);
  CHECK(found.count.volumes == 1);
  CHECK(found.contacts.size() >= 8);
  for (const PairContact& contact : found.contacts) {
    CHECK(contact.normal.z > 0.99999f);
    CHECK(contact.gap == Approx(-0.01f).epsilon(1e-3));
  }
  for (size_t side = 0; side < 2; ++side) {
    float area = 0.0f;
    for (uint32_t r = 0; r < scratch.floods[side].num_regions; ++r)
      area += std::fabs(scratch.floods[side].regions[r].vector_area.z);
    CHECK(area == Approx(0.08f).epsilon(1e-3));
  }
}

TEST_CASE("Normals move smoothly while the curves stay") {
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 6, .depth = 0.1, .num_shells = 0});
  SurfaceBody b(TetBox(2, 1, 2, 0.1, 0.08, 3), {.parts = 6, .depth = 0.1, .num_shells = 0});
  PairScratch scratch = ScratchFor(a, b);
  PairContactCount last;
  Vec3 normal;
  size_t compared = 0;
  float most = 0.0f;
  for (int step = 0; step < 400; ++step) {
    const float t = 1e-4f * static_cast<float>(step);
    const Found found = Find(a, b, {-0.02f + t, -0.09f + 0.3f * t, 0.01f}, &scratch);
    if (found.count.volumes == 1 && last.volumes == 1 && found.count.curves == last.curves) {
      most = std::max(most, Length(found.contacts[0].normal - normal));
      ++compared;
    }
    last = found.count;
    normal = found.contacts.at(0).normal;
  }
  CAPTURE(most);
  CHECK(compared > 100);
  CHECK(most < 0.01f);
}

TEST_CASE("Open surfaces give contacts and say so") {
  const uint32_t seed = 75;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 2, .holes = 12});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3), {.parts = 3, .num_shells = 2, .holes = 12});
  PairScratch scratch = ScratchFor(a, b);
  size_t arcs = 0;
  for (int scene = 0; scene < 100; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.1);
    const Found found = Find(a, b, offset, &scratch);
    RequireSound(a, b, offset, found, 1.0f);
    for (uint32_t c = 0; c < found.count.curves; ++c) {
      if (scratch.curves[c].closed) continue;
      REQUIRE(found.count.open);
      ++arcs;
    }
  }
  CHECK(arcs > 10);
}

TEST_CASE("Arcs give a contact for each stretch in two patches, and bound no region") {
  const uint32_t seed = 76;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 2, .holes = 12});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3), {.parts = 3, .num_shells = 2, .holes = 12});
  PairScratch scratch = ScratchFor(a, b);
  size_t stretches = 0, of_several = 0;
  for (int scene = 0; scene < 100; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.1);
    const CollisionBody view_a = a.view(), view_b = b.view();
    const PlacedSurface sides[2] = {{view_a, {}, Surface::kMoved},
                                    {view_b, offset, Surface::kFixed}};
    const Found found = Find(a, b, offset, &scratch);
    const auto normal_of = [&](int side, uint32_t triangle) {
      const Corners c = sides[side].CornersAt(triangle);
      const Vec3 n = Cross(c[1] - c[0], c[2] - c[0]);
      const float length = Length(n);
      return length > 0.0f ? n * (1.0f / length) : Vec3{};
    };
    std::set<uint32_t> of_loops[2];
    for (uint32_t c = 0; c < found.count.curves; ++c) {
      const Curve& curve = scratch.curves[c];
      using Patches = std::pair<uint32_t, uint32_t>;
      std::vector<Patches> runs;
      std::vector<Vec3> normals;
      std::vector<std::set<std::pair<uint32_t, uint32_t>>> triangles;
      for (uint32_t i = 0; i < curve.count; ++i) {
        const TrianglePair& pair = scratch.pairs[scratch.order[curve.first + i]];
        if (curve.closed) of_loops[0].insert(pair.moved), of_loops[1].insert(pair.fixed);
        const Patches patches = {sides[0].PatchOf(pair.moved), sides[1].PatchOf(pair.fixed)};
        if (runs.empty() || runs.back() != patches) {
          runs.push_back(patches);
          normals.emplace_back();
          triangles.emplace_back();
        }
        triangles.back().insert({pair.moved, pair.fixed});
        normals.back() +=
            Length(pair.to - pair.from) * (normal_of(1, pair.fixed) - normal_of(0, pair.moved));
      }
      if (curve.closed) continue;
      std::vector<PairContact> own;
      for (const PairContact& contact : found.contacts)
        if (contact.volume == scratch.parents[c]) own.push_back(contact);
      REQUIRE(own.size() == runs.size());
      for (size_t i = 0; i < own.size(); ++i) {
        CHECK(triangles[i].contains({own[i].triangles[0], own[i].triangles[1]}));
        CHECK(Dot(own[i].normal, normals[i]) >= 0.999f * Length(normals[i]));
        CHECK(std::fabs(own[i].gap) < 1e-5f);
      }
      stretches += runs.size();
      of_several += runs.size() > 1;
    }
    for (int side = 0; side < 2; ++side) {
      const FloodScratch& flood = scratch.floods[side];
      for (uint32_t i = 0; i < flood.num_cuts; ++i)
        REQUIRE(of_loops[side].contains(flood.cuts[i].triangle));
    }
  }
  CAPTURE(stretches, of_several);
  CHECK(stretches > 50);
  CHECK(of_several > 5);
}

TEST_CASE("Memory that is too small leaves out contacts and says so") {
  SurfaceBody a = Box(2, 2, 2, 0.1), b = Box(2, 2, 2, 0.1);
  const CollisionBody view_a = a.view(), view_b = b.view();
  const PlacedBody at_a = {view_a, {0, 0, 0}}, at_b = {view_b, {-0.05, -0.19, -0.03}};
  PairScratch roomy = ScratchFor(a, b);
  std::vector<PairContact> contacts(100);
  const PairContactCount all = FindPairContacts(at_a, at_b, &roomy, contacts);
  REQUIRE(all.complete);
  REQUIRE(all.contacts > 2);
  const PairContactCount two = FindPairContacts(at_a, at_b, &roomy, {contacts.data(), 2});
  CHECK_FALSE(two.complete);
  CHECK(two.contacts == 2);
  const PairCapacity needed = {all.pairs, all.regions, a.surface().num_triangles(),
                               static_cast<uint32_t>(a.surface().patches.size())};
  for (int which = 0; which < 4; ++which) {
    CAPTURE(which);
    PairCapacity capacity = needed;
    uint32_t* const fields[4] = {&capacity.pairs, &capacity.regions, &capacity.triangles,
                                 &capacity.patches};
    if (which == 1) *fields[1] = 1;
    if (which != 1) --*fields[which];
    PairScratch scratch;
    REQUIRE(scratch.Reserve(DefaultAllocator(), capacity));
    CHECK_FALSE(FindPairContacts(at_a, at_b, &scratch, contacts).complete);
  }
  PairScratch exact;
  REQUIRE(exact.Reserve(DefaultAllocator(), needed));
  CHECK(FindPairContacts(at_a, at_b, &exact, contacts).complete);
}

TEST_CASE("A foot inside one triangle has its region on both bodies") {
  const uint32_t seed = 76;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody foot = Box(1, 1, 1, 0.02), floor = Box(2, 1, 2, 0.2);
  PairScratch scratch = ScratchFor(foot, floor);
  size_t alone = 0;
  for (int i = 0; i < 50; ++i) {
    CAPTURE(i);
    const Vec3 offset = {float(random.Uniform(-0.37, -0.01)), -0.2f + 1e-3f,
                         float(random.Uniform(-0.37, -0.01))};
    const Found found = Find(foot, floor, offset, &scratch);
    REQUIRE(found.count.volumes == 1);
    REQUIRE(found.contacts.size() >= 6);
    float area = 0.0f;
    for (uint32_t r = 0; r < scratch.floods[1].num_regions; ++r) {
      const Region& region = scratch.floods[1].regions[r];
      area += region.vector_area.y;
      alone += region.only_curve != kNoPair;
    }
    REQUIRE(area == Approx(4e-4f).epsilon(1e-3));
  }
  CHECK(alone > 5);
}

TEST_CASE("Bodies that swap roles get opposite normals") {
  const uint32_t seed = 77;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 0});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3), {.parts = 3, .num_shells = 0});
  PairScratch scratch = ScratchFor(a, b);
  size_t compared = 0;
  for (int scene = 0; scene < 100; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.15);
    const Found found = Find(a, b, offset, &scratch), swapped = Find(b, a, -offset, &scratch);
    REQUIRE(swapped.count.curves == found.count.curves);
    REQUIRE(swapped.count.volumes == found.count.volumes);
    if (found.count.volumes != 1) continue;
    ++compared;
    const auto mean = [](const Found& of) {
      Eigen::Vector3d sum = Eigen::Vector3d::Zero();
      for (const PairContact& contact : of.contacts) sum += ToEigen(contact.normal);
      return Eigen::Vector3d(sum / double(of.contacts.size()));
    };
    REQUIRE((mean(found) + mean(swapped)).norm() < 1e-3);
  }
  CHECK(compared > 20);
}
