// SPDX-License-Identifier: MIT
// Winding numbers equal solid angles, and floods equal winding numbers.
#include "intersection/flood.h"

#include "base/vector_math.h"
#include "intersection/winding.h"
#include "runtime/intersection/baked_solids.h"
#include "runtime/intersection/found_contacts.h"
#include "runtime/intersection/solid_winding.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace flood_test {

// Which patches are connected with one that is cut.
std::vector<uint8_t> PatchesWithCurves(const CollisionView& view, const FloodScratch& flood) {
  std::vector<uint8_t> has_curve(view.patches.size());
  std::vector<uint32_t> waiting(flood.cut_patches.begin(),
                                flood.cut_patches.begin() + flood.num_cut_patches);
  while (!waiting.empty()) {
    const uint32_t patch = waiting.back();
    waiting.pop_back();
    if (has_curve[patch]) continue;
    has_curve[patch] = 1;
    const size_t end =
        patch + 1 < view.patches.size() ? view.patches[patch + 1].first_link : view.links.size();
    for (size_t i = view.patches[patch].first_link; i < end; ++i)
      if (!has_curve[view.links[i] & ~kSeamLink]) waiting.push_back(view.links[i] & ~kSeamLink);
  }
  return has_curve;
}

// How often the other surface winds about a corner.
using WindingOf = std::function<int(const Vec3&)>;

// Checks the flood of one side against the winding number about every corner. Returns how many
// corners are inside.
size_t RequireFlood(const PlacedSurface& surface, const FloodScratch& flood, size_t every,
                    const WindingOf& winding) {
  const uint32_t n = surface.body.surface.num_triangles();
  std::vector<uint8_t> inside(n), cut(n);
  std::vector<uint32_t> times(surface.body.surface.patches.size());
  for (uint32_t i = 0; i < flood.num_cuts; ++i) cut[flood.cuts[i].triangle] = 1;
  for (uint32_t r = 0; r < flood.num_regions; ++r) {
    const Region& region = flood.regions[r];
    REQUIRE(std::isfinite(region.area));
    REQUIRE(IsFinite(region.centroid));
    REQUIRE(IsFinite(region.vector_area));
    if (region.num_items == 0) {
      REQUIRE(++times[region.patch] == 1);
      const uint32_t end = TrianglesEnd(surface.body.surface, region.patch);
      for (uint32_t t = surface.body.surface.patches[region.patch].first_triangle; t < end; ++t) {
        REQUIRE(!cut[t]);
        REQUIRE(++inside[t] == 1);
      }
    }
    for (uint32_t i = 0; i < region.num_items; ++i) {
      const RegionItem& item = flood.items[region.first_item + i];
      if (item.cut == kNoPair) REQUIRE(++inside[item.triangle] == 1);
    }
  }
  const std::vector<uint8_t> has_curve = PatchesWithCurves(surface.body.surface, flood);
  size_t count = 0;
  for (uint32_t i = 0; i < flood.num_cuts; ++i) {
    const Corners corners = surface.CornersAt(flood.cuts[i].triangle);
    for (size_t k = 0; k < 3; ++k) REQUIRE(flood.cuts[i].winding[k] == winding(corners[k]));
  }
  for (uint32_t t = 0; t < n; t += static_cast<uint32_t>(every)) {
    if (cut[t]) continue;
    const bool is_inside = winding(surface.CornersAt(t)[0]) > 0;
    count += is_inside;
    // Pieces without a curve are not flooded.
    if (has_curve[surface.PatchOf(t)]) {
      REQUIRE(bool(inside[t]) == is_inside);
    } else {
      REQUIRE_FALSE(inside[t]);
    }
  }
  return count;
}

size_t RequireFlood(const PlacedSurface& surface, const PlacedSurface& other,
                    const FloodScratch& flood, size_t every) {
  return RequireFlood(surface, flood, every,
                      [&](const Vec3& corner) { return WindingAbout(other, corner); });
}

// Checks the flood of an open surface inside a closed one that it meets in closed curves: it covers
// what can be reached from the curves on the inside, and says whether a border can. Returns how
// many triangles are inside, uncut.
size_t RequireFloodToBorders(const PlacedSurface& surface, const PlacedSurface& other,
                             const FloodScratch& flood) {
  const uint32_t n = surface.body.surface.num_triangles();
  std::vector<uint32_t> cut_of(n, kNoPair), waiting;
  std::vector<uint8_t> flooded(n), expected(n);
  for (uint32_t i = 0; i < flood.num_cuts; ++i) {
    const CutTriangle& cut = flood.cuts[i];
    cut_of[cut.triangle] = i;
    bool has_inside = false;
    for (int k = 0; k < 3; ++k) has_inside = has_inside || cut.winding[k] > 0 || cut.pierces[k];
    if (has_inside) waiting.push_back(cut.triangle), expected[cut.triangle] = 1;
  }
  for (uint32_t r = 0; r < flood.num_regions; ++r) {
    const Region& region = flood.regions[r];
    const uint32_t begin = surface.body.surface.patches[region.patch].first_triangle;
    const uint32_t end = TrianglesEnd(surface.body.surface, region.patch);
    for (uint32_t t = begin; t < end && region.num_items == 0; ++t) flooded[t] = 1;
    for (uint32_t i = 0; i < region.num_items; ++i) {
      flooded[flood.items[region.first_item + i].triangle] = 1;
    }
  }
  bool reaches_border = false;
  while (!waiting.empty()) {
    const uint32_t t = waiting.back();
    waiting.pop_back();
    const CutTriangle* cut = cut_of[t] == kNoPair ? nullptr : &flood.cuts[cut_of[t]];
    for (int k = 0; k < 3; ++k) {
      const bool is_inside =
          cut == nullptr || cut->winding[k] > 0 || cut->winding[(k + 1) % 3] > 0 || cut->pierces[k];
      if (!is_inside) continue;
      const uint32_t next = surface.Neighbour(t, k);
      reaches_border = reaches_border || next == kNoTriangle;
      if (next == kNoTriangle || expected[next]) continue;
      expected[next] = 1;
      waiting.push_back(next);
    }
  }
  size_t count = 0;
  for (uint32_t t = 0; t < n; ++t) {
    if (cut_of[t] != kNoPair) continue;
    CAPTURE(t);
    REQUIRE(bool(flooded[t]) == bool(expected[t]));
    if (!flooded[t]) continue;
    ++count;
    for (const Vec3& corner : surface.CornersAt(t)) REQUIRE(WindingAbout(other, corner) > 0);
  }
  REQUIRE(flood.open == reaches_border);
  return count;
}

TEST_CASE("The winding number equals that of solid angles") {
  const uint32_t seed = 71;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 2});
  size_t inside = 0, more = 0;
  for (int scene = 0; scene < 10; ++scene) {
    a.Move(Deform(a.shape().rest(), scene % 2 == 0 ? Deformation::kGentle : Deformation::kRandom,
                  &random));
    const CollisionBody view = a.view();
    for (int i = 0; i < 200; ++i) {
      const Eigen::Vector3d p = random.Vector(0.1);
      const Vec3 point = {float(p.x()) + 0.1f, float(p.y()) + 0.05f, float(p.z()) + 0.05f};
      const double expected = SolidWinding(a, Eigen::Vector3d::Zero(), ToEigen(point));
      REQUIRE(std::fabs(expected - std::round(expected)) < 1e-3);
      for (const Surface role : {Surface::kMoved, Surface::kFixed})
        REQUIRE(WindingAbout({view, {}, role}, point) == int(std::round(expected)));
      inside += expected > 0.5;
      more += std::fabs(expected - 0.5) > 1.0;
    }
  }
  CHECK(inside > 50);
  CHECK(more > 0);
}

TEST_CASE("A flood covers what the winding number calls inside", "[long]") {
  const uint32_t seed = 72;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 2});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3),
                {.parts = 3, .num_shells = 2, .record = tools::TriangleRecord::kWide});
  SurfaceBody copy(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 2});
  PairScratch scratch = ScratchFor(a, b);
  size_t inside = 0, contacts = 0;
  const uint32_t scenes = tests::SweepCount(1000u, 10000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const auto kinds = static_cast<uint32_t>(Deformation::kTiny);
    const auto kind = [&] { return static_cast<Deformation>(random.Below(kinds)); };
    const bool gentle = scene % 2 == 0;
    a.Move(Deform(a.shape().rest(), gentle ? Deformation::kGentle : kind(), &random));
    const bool identical = scene % 5 == 0;
    SurfaceBody& other = identical ? copy : b;
    if (identical) {
      copy.Move({a.x().begin(), a.x().end()});
    } else {
      b.Move(Deform(b.shape().rest(), gentle ? Deformation::kGentle : kind(), &random));
    }
    const Eigen::Vector3d away = random.Vector(identical ? 0.0 : 0.1);
    const Vec3 offset = {float(away.x()), float(away.y()), float(away.z())};
    const Found found = Find(a, other, offset, &scratch);
    REQUIRE_FALSE(found.count.open);
    const CollisionBody view_a = a.view(), view_b = other.view();
    const PlacedSurface at_a = {view_a, {}, Surface::kMoved};
    const PlacedSurface at_b = {view_b, offset, Surface::kFixed};
    inside += RequireFlood(at_a, at_b, scratch.floods[0], 11);
    inside += RequireFlood(at_b, at_a, scratch.floods[1], 11);
    const float size = a.state().reach + other.state().reach + SumNorm(offset);
    // Segments of coplanar triangles are not exact: on equal bodies, a contact's points differ.
    RequireSound(a, other, offset, found, identical ? 200.0f * size : size);
    contacts += found.contacts.size();
  }
  CHECK(inside > scenes);
  CHECK(contacts > scenes);
}

// The limbs of the U share tets of the lattice, whose copies overlap; nodes on others make
// triangles without area.
TEST_CASE("A flood covers the inside also of split cages and of triangles without area") {
  const uint32_t seed = 73;
  CAPTURE(seed);
  Random random(seed);
  BakedSolid u = BakeSolid(MakeU(0.42), 60);
  REQUIRE(u.split_tets > 0);
  SurfaceBody b(TetBox(3, 2, 2, 0.2, 0.18, 3), {.parts = 3, .num_shells = 2});
  PairScratch scratch = ScratchFor(u.body, b);
  size_t inside = 0, contacts = 0, empty = 0;
  const uint32_t scenes = tests::SweepCount(200u, 3000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    constexpr Deformation kKinds[] = {Deformation::kGentle, Deformation::kSomeFlat,
                                      Deformation::kAffine, Deformation::kFlat};
    u.body.Move(Deform(u.body.shape().rest(), kKinds[random.Below(3)], &random));
    b.Move(Deform(b.shape().rest(), kKinds[random.Below(4)], &random));
    for (uint32_t t = 0; t < b.surface().num_triangles(); ++t) {
      const Vec3 p = b.CornerPosition(t, 0);
      const Vec3 normal = Cross(b.CornerPosition(t, 1) - p, b.CornerPosition(t, 2) - p);
      empty += Dot(normal, normal) == 0.0f;
    }
    const Vec3 offset = ToVec3(random.Vector(0.5));
    const Found found = Find(u.body, b, offset, &scratch);
    REQUIRE_FALSE(found.count.open);
    const CollisionBody view_u = u.body.view(), view_b = b.view();
    const PlacedSurface at_u = {view_u, {}, Surface::kMoved};
    const PlacedSurface at_b = {view_b, offset, Surface::kFixed};
    inside += RequireFlood(at_u, at_b, scratch.floods[0], 3);
    inside += RequireFlood(at_b, at_u, scratch.floods[1], 3);
    const float size = u.body.state().reach + b.state().reach + SumNorm(offset);
    RequireSound(u.body, b, offset, found, size);
    contacts += found.contacts.size();
  }
  CAPTURE(inside, contacts, empty);
  CHECK(inside > 5 * scenes / 2);
  CHECK(contacts > scenes / 2);
  CHECK(empty > scenes / 2);
}

// Boxes on a lattice of whole units, which is exact in floats. In the reference one body is really
// moved by (e, e^2, e^3), by so little that it crosses no other corner, edge or plane.
TEST_CASE("A flood covers the inside of solids that touch, share planes and edges, or are equal") {
  const uint32_t seed = 75;
  CAPTURE(seed);
  Random random(seed);
  const SurfaceShape shape = {.parts = 2, .depth = 0.0, .num_shells = 0};
  SurfaceBody a(TetBox(2, 1, 1, 4.0), shape), b(TetBox(1, 1, 2, 4.0), shape);
  SurfaceBody copy(TetBox(2, 1, 1, 4.0), shape);
  const Eigen::Vector3d shift(0x1p-10, 0x1p-20, 0x1p-30);
  PairScratch scratch = ScratchFor(a, b);
  // Moves some nodes by the lattice's cells of 2, or onto others: triangles without area.
  const auto disturb = [&](const SurfaceBody& body, uint32_t kind) {
    std::vector<Vec3> x = body.shape().rest();
    for (uint32_t i = 0; kind > 0 && i < 3; ++i) {
      Vec3& node = x[random.Below(uint32_t(x.size()))];
      const auto by = [&] { return 2.0f * (float(random.Below(3)) - 1.0f); };
      node = kind == 1 ? node + Vec3{by(), by(), by()} : x[random.Below(uint32_t(x.size()))];
    }
    return x;
  };
  size_t inside = 0, on_surface = 0, empty = 0, curves = 0;
  const uint32_t scenes = tests::SweepCount(300u, 10000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    a.Move(disturb(a, random.Below(3)));
    const bool is_equal = scene % 5 == 0;
    SurfaceBody& other = is_equal ? copy : b;
    other.Move(is_equal ? std::vector<Vec3>(a.x().begin(), a.x().end())
                        : disturb(b, random.Below(3)));
    const auto by = [&] { return 2.0f * (float(random.Below(5)) - 2.0f); };
    Vec3 offset = is_equal && scene % 2 == 0 ? Vec3{} : Vec3{by(), by(), by()};
    if (scene % 7 == 1) offset = {8.0f, 0.0f, by()};  // face on face, or an edge
    const Found found = Find(a, other, offset, &scratch);
    REQUIRE_FALSE(found.count.open);
    curves += found.count.curves;
    const CollisionBody view_a = a.view(), view_b = other.view();
    const PlacedSurface at_a = {view_a, {}, Surface::kMoved};
    const PlacedSurface at_b = {view_b, offset, Surface::kFixed};
    const auto reference = [&](const SurfaceBody& of, const PlacedSurface& placed,
                               const Eigen::Vector3d& moved) {
      return [&, moved](const Vec3& corner) {
        const double turns = SolidWinding(of, ToEigen(placed.offset), ToEigen(corner) + moved);
        REQUIRE(std::fabs(turns - std::round(turns)) < 1e-3);
        const int winding = int(std::round(turns));
        REQUIRE(WindingAbout(placed, corner) == winding);
        const double unmoved = SolidWinding(of, ToEigen(placed.offset), ToEigen(corner));
        on_surface += std::fabs(unmoved - winding) > 1e-3;
        return winding;
      };
    };
    inside += RequireFlood(at_a, scratch.floods[0], 3, reference(other, at_b, shift));
    inside += RequireFlood(at_b, scratch.floods[1], 3, reference(a, at_a, -shift));
    for (uint32_t t = 0; t < a.surface().num_triangles(); ++t) {
      const Vec3 p = a.CornerPosition(t, 0);
      const Vec3 normal = Cross(a.CornerPosition(t, 1) - p, a.CornerPosition(t, 2) - p);
      empty += IsZero(normal);
    }
    RequireSound(a, other, offset, found, 20.0f);
  }
  CAPTURE(inside, on_surface, empty, curves);
  CHECK(inside > 2 * scenes / 3);
  CHECK(on_surface > 3 * scenes);
  CHECK(empty > scenes / 3);
  CHECK(curves > 2 * scenes / 3);
}

TEST_CASE("A flood of an open surface covers what the curves bound, up to the borders") {
  const uint32_t seed = 76;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 4, .num_shells = 1, .holes = 6});
  SurfaceBody b(TetBox(2, 2, 2, 0.15, 0.08, 3), {.parts = 3, .num_shells = 1});
  const Eigen::Vector3d hole = MiddleOfHoles(a);
  const Eigen::Vector3d middle(0.15, 0.15, 0.15);  // of b
  PairScratch scratch = ScratchFor(a, b);
  size_t inside = 0, open = 0, closed = 0;
  const uint32_t scenes = tests::SweepCount(500u, 10000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    a.Move(Deform(a.shape().rest(), Deformation::kGentle, &random));
    b.Move(Deform(b.shape().rest(), Deformation::kGentle, &random));
    const Vec3 offset = ToVec3(hole - middle + random.Vector(0.12));
    const bool swapped = scene % 2 == 1;
    const Found found = swapped ? Find(b, a, -offset, &scratch) : Find(a, b, offset, &scratch);
    bool all_closed = found.count.curves > 0;
    for (uint32_t c = 0; c < found.count.curves; ++c) {
      all_closed = all_closed && scratch.curves[c].closed;
    }
    if (!all_closed) continue;
    const CollisionBody view_a = a.view(), view_b = b.view();
    const PlacedSurface at_a = {view_a, swapped ? -offset : Vec3{},
                                swapped ? Surface::kFixed : Surface::kMoved};
    const PlacedSurface at_b = {view_b, swapped ? Vec3{} : offset,
                                swapped ? Surface::kMoved : Surface::kFixed};
    const FloodScratch& flood = scratch.floods[swapped ? 1 : 0];
    inside += RequireFloodToBorders(at_a, at_b, flood);
    REQUIRE(found.count.open == flood.open);
    ++(flood.open ? open : closed);
  }
  CAPTURE(inside, open, closed);
  CHECK(inside > scenes);
  CHECK(open > scenes / 100);
  CHECK(closed > scenes / 25);
}

// A line from inside an open surface may leave through a hole, so the curves alone must say which
// side is inside.
TEST_CASE("Holes of a surface change nothing for floods that meet none of them") {
  const uint32_t seed = 77;
  CAPTURE(seed);
  Random random(seed);
  const tools::TetMesh mesh = TetBox(2, 1, 1, 0.1, 0.08, 2);
  // Deeper dents of neighbouring faces cross.
  SurfaceBody closed(mesh, {.parts = 4, .depth = 0.15, .num_shells = 0});
  SurfaceBody open(mesh, {.parts = 4, .depth = 0.15, .num_shells = 0, .holes = 60});
  SurfaceBody b(TetBox(1, 1, 1, 0.04, 0.08, 3), {.parts = 3, .num_shells = 0});
  const Eigen::Vector3d hole = MiddleOfHoles(open), middle(0.02, 0.02, 0.02);  // of b
  PairScratch scratch = ScratchFor(open, b), whole = ScratchFor(closed, b);
  size_t inside = 0, compared = 0;
  const uint32_t scenes = tests::SweepCount(4000u, 40000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const std::vector<Vec3> x = Deform(open.shape().rest(), Deformation::kGentle, &random);
    open.Move(x);
    closed.Move(x);
    b.Move(Deform(b.shape().rest(), Deformation::kGentle, &random));
    const Vec3 offset = ToVec3(hole - middle + random.Vector(0.06));
    const Found found = Find(open, b, offset, &scratch);
    const uint32_t pairs = Find(closed, b, offset, &whole).count.pairs;
    if (pairs == 0 || found.count.pairs != pairs) continue;
    const CollisionBody view_b = b.view(), view_closed = closed.view();
    const PlacedSurface at_b = {view_b, offset, Surface::kFixed};
    const PlacedSurface at_closed = {view_closed, {}, Surface::kMoved};
    inside += RequireFlood(at_b, at_closed, scratch.floods[1], 1);
    ++compared;
  }
  CAPTURE(inside, compared);
  CHECK(compared > scenes / 40);
  CHECK(inside > scenes / 8);
}

// What is inside an open surface is not defined; its floods end at the border and say so.
TEST_CASE("Contacts of surfaces with holes are finite, and floods that reach a border say so") {
  const uint32_t seed = 74;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(2, 1, 1, 0.1, 0.08, 2), {.parts = 3, .num_shells = 1, .holes = 6});
  SurfaceBody b(TetBox(1, 1, 2, 0.1, 0.08, 3), {.parts = 3, .num_shells = 0, .holes = 3});
  PairScratch scratch = ScratchFor(a, b);
  size_t contacts = 0, open = 0;
  const uint32_t scenes = tests::SweepCount(500u, 10000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.1);
    const Found found = Find(a, b, offset, &scratch);
    for (const PairContact& contact : found.contacts) {
      REQUIRE(std::isfinite(contact.gap));
      REQUIRE(IsFinite(contact.normal));
      REQUIRE(std::fabs(Length(contact.normal) - 1.0f) < 1e-5f);
    }
    contacts += found.contacts.size();
    const bool reaches_border = scratch.floods[0].open || scratch.floods[1].open;
    REQUIRE((found.count.open || !reaches_border));
    open += reaches_border;
  }
  CAPTURE(contacts, open);
  CHECK(contacts > scenes);
  CHECK(open > scenes / 100);  // by closed curves: arcs bound no region
}

}  // namespace flood_test
