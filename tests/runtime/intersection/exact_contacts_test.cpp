// SPDX-License-Identifier: MIT
// Curves, volumes, areas of regions and normals are those of all pairs of triangles in double
// precision: of balls, of bumpy bodies, and of a horse and an armadillo.
#include "plush/types.h"

#include "intersection/pair_contacts.h"
#include "intersection/placed_surface.h"
#include "mesh/surface_mesh.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/intersection/baked_solids.h"
#include "runtime/intersection/found_contacts.h"
#include "runtime/tet_fixtures.h"
#include "skip.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace exact_contacts_test {

struct BruteCurve {
  double length = 0.0;                             // [m]
  Eigen::Vector3d area = Eigen::Vector3d::Zero();  // 1/2 sum of p x q [m^2]
  uint32_t volume = 0;
};

struct BruteVolume {
  Eigen::Vector3d curves = Eigen::Vector3d::Zero();  // sum of its curves' areas [m^2]
  double lengths = 0.0;                              // of these [m^2]
  double perimeter = 0.0;                            // of its curves [m]
  double area[2] = {};                               // of the moved and fixed surface [m^2]
  Eigen::Vector3d vector_area[2] = {{0, 0, 0}, {0, 0, 0}};
};

struct BruteContacts {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> curve_of;  // of triangles, moved and fixed
  std::vector<BruteCurve> curves;
  std::vector<BruteVolume> volumes;
};

using Vector = Eigen::Vector3d;
using Triangle = std::array<Vector, 3>;

// A closed surface in the common coordinates. Edge 3 t + k goes from corner k of triangle t.
struct Side {
  Side(const SurfaceBody& body, const PlacedSurface& placed) {
    const uint32_t count = body.surface().num_triangles();
    bool is_closed = true;
    for (uint32_t t = 0; t < count; ++t) {
      const Corners c = placed.CornersAt(t);
      triangles.push_back({ToEigen(c[0]), ToEigen(c[1]), ToEigen(c[2])});
    }
    for (uint32_t t = 0; t < count; ++t) {
      for (int k = 0; k < 3; ++k) {
        const uint32_t other = placed.Neighbour(t, k);
        if (other >= count) FAIL("an open surface");
        // Two triangles may share two edges.
        double least = INFINITY;
        uint32_t across = 0;
        for (int j = 0; j < 3; ++j) {
          const double apart = (triangles[other][j] - triangles[t][(k + 1) % 3]).norm() +
                               (triangles[other][(j + 1) % 3] - triangles[t][k]).norm();
          if (placed.Neighbour(other, j) == t && apart < least) {
            least = apart, across = 3 * other + static_cast<uint32_t>(j);
          }
        }
        is_closed = is_closed && least < 1e-5;
        opposite.push_back(across);
      }
    }
    REQUIRE(is_closed);
  }

  Vector Normal(uint32_t t) const {
    const Triangle& c = triangles[t];
    return (c[1] - c[0]).cross(c[2] - c[0]);
  }
  // One name of the edge for both triangles.
  uint32_t Name(uint32_t edge) const { return std::min(edge, opposite[edge]); }
  Vector From(uint32_t edge) const { return triangles[edge / 3][edge % 3]; }
  Vector To(uint32_t edge) const { return triangles[edge / 3][(edge + 1) % 3]; }
  Vector At(uint32_t edge, double s) const { return From(edge) + s * (To(edge) - From(edge)); }

  // How often the surface winds about a point: by a ray.
  int Winding(const Vector& point) const {
    const Vector way(0.4123, 0.7231, 0.5541);
    int winding = 0;
    for (const Triangle& c : triangles) {
      const Vector a = c[0] - point, b = c[1] - point, d = c[2] - point;
      const double ab = way.dot(a.cross(b)), bd = way.dot(b.cross(d)), da = way.dot(d.cross(a));
      const bool is_out = ab > 0.0 && bd > 0.0 && da > 0.0;
      if (!is_out && !(ab < 0.0 && bd < 0.0 && da < 0.0)) continue;
      if ((a.dot(b.cross(d)) > 0.0) == is_out) winding += is_out ? 1 : -1;
    }
    return winding;
  }

  std::vector<Triangle> triangles;
  std::vector<uint32_t> opposite;                         // of each edge
  std::map<uint32_t, std::vector<double>> pierced;        // places along named edges, 0 to 1
  std::map<std::pair<uint32_t, uint32_t>, double> found;  // by named edge and triangle; < 0: none
};

// Where a named edge pierces a triangle, as a share of its length.
std::optional<double> Pierce(Side* side, uint32_t edge, const Side& other, uint32_t triangle) {
  const auto [entry, is_new] = side->found.try_emplace({edge, triangle}, -1.0);
  if (is_new) {
    const Vector p = side->From(edge), q = side->To(edge), n = other.Normal(triangle);
    const Triangle& c = other.triangles[triangle];
    const double from = n.dot(p - c[0]), to = n.dot(q - c[0]);
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 3; ++k) {
      const double volume = (q - p).dot((c[k] - p).cross(c[(k + 1) % 3] - p));
      least = std::min(least, volume), most = std::max(most, volume);
    }
    if ((from > 0.0) != (to > 0.0) && least * most > 0.0) {
      entry->second = from / (from - to);
      side->pierced[edge].push_back(entry->second);
    }
  }
  return entry->second < 0.0 ? std::nullopt : std::optional(entry->second);
}

struct Cut {
  uint32_t triangles[2];
  Vector from, to;  // counterclockwise about the inside of the moved surface
};

struct Sets {
  explicit Sets(size_t count) : parents(count) { std::iota(parents.begin(), parents.end(), 0u); }
  uint32_t Root(uint32_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
  }
  void Join(uint32_t a, uint32_t b) {
    a = Root(a), b = Root(b);
    parents[std::max(a, b)] = std::min(a, b);
  }
  std::vector<uint32_t> parents;
};

bool BoxesMeet(const Triangle& a, const Triangle& b) {
  for (int k = 0; k < 3; ++k) {
    if (std::min({a[0][k], a[1][k], a[2][k]}) > std::max({b[0][k], b[1][k], b[2][k]}) ||
        std::min({b[0][k], b[1][k], b[2][k]}) > std::max({a[0][k], a[1][k], a[2][k]})) {
      return false;
    }
  }
  return true;
}

// Triangles that meet the box of the other surface.
std::vector<uint32_t> Near(const Side& own, const Side& other) {
  Vector low = other.triangles[0][0], high = low;
  for (const Triangle& t : other.triangles)
    for (const Vector& p : t) low = low.cwiseMin(p), high = high.cwiseMax(p);
  std::vector<uint32_t> near;
  for (uint32_t t = 0; t < own.triangles.size(); ++t)
    if (BoxesMeet(own.triangles[t], {low, high, low})) near.push_back(t);
  return near;
}

// All cuts, and the curve of each.
std::vector<Cut> CutsOf(Side* moved, Side* fixed, std::vector<uint32_t>* curve_of) {
  std::vector<Cut> cuts;
  std::map<std::array<uint32_t, 3>, std::vector<uint32_t>> ends;  // by side, edge and triangle
  const std::vector<uint32_t> near = Near(*fixed, *moved);
  for (const uint32_t a : Near(*moved, *fixed)) {
    for (const uint32_t b : near) {
      if (!BoxesMeet(moved->triangles[a], fixed->triangles[b])) continue;
      std::vector<Vector> points;
      const auto add = [&](uint32_t which, Side* own, uint32_t t, const Side& other, uint32_t u) {
        for (uint32_t k = 0; k < 3; ++k) {
          const uint32_t edge = own->Name(3 * t + k);
          const auto s = Pierce(own, edge, other, u);
          if (!s) continue;
          points.push_back(own->At(edge, *s));
          ends[{which, edge, u}].push_back(static_cast<uint32_t>(cuts.size()));
        }
      };
      add(0, moved, a, *fixed, b);
      add(1, fixed, b, *moved, a);
      if (points.empty()) continue;
      if (points.size() != 2) FAIL("not in general position");
      const Vector along = moved->Normal(a).cross(fixed->Normal(b));
      if (along.dot(points[1] - points[0]) < 0.0) std::swap(points[0], points[1]);
      cuts.push_back({{a, b}, points[0], points[1]});
    }
  }
  Sets sets(cuts.size());
  for (const auto& [key, of] : ends) {
    if (of.size() != 2) FAIL("a curve that does not close");
    sets.Join(of[0], of[1]);
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < cuts.size(); ++i) {
    const uint32_t root = sets.Root(i);
    curve_of->push_back(root == i ? count++ : (*curve_of)[root]);
  }
  return cuts;
}

// Parts of a named edge inside the other surface, from and to shares of its length.
std::vector<std::array<double, 2>> InsideParts(const Side& own, uint32_t edge, const Side& other) {
  std::vector<double> places = {0.0};
  if (const auto found = own.pierced.find(edge); found != own.pierced.end())
    places.insert(places.end(), found->second.begin(), found->second.end());
  places.push_back(1.0);
  std::ranges::sort(places);
  std::vector<std::array<double, 2>> parts;
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    const int winding = other.Winding(own.At(edge, 0.5 * (places[i] + places[i + 1])));
    if (winding != 0 && winding != 1) FAIL("a surface that overlaps itself");
    if (winding == 1) parts.push_back({places[i], places[i + 1]});
  }
  return parts;
}

// Which triangles without a cut are inside the other surface.
std::vector<uint8_t> InsideOf(const Side& own, const std::vector<uint8_t>& is_cut,
                              const Side& other) {
  std::vector<uint8_t> inside(own.triangles.size()), is_seen = is_cut;
  for (uint32_t seed = 0; seed < is_seen.size(); ++seed) {
    if (is_seen[seed] != 0) continue;
    const Triangle& c = own.triangles[seed];
    const bool is_inside = other.Winding((c[0] + c[1] + c[2]) / 3.0) > 0;
    std::vector<uint32_t> rest = {seed};
    is_seen[seed] = 1;
    while (!rest.empty()) {
      const uint32_t t = rest.back();
      rest.pop_back();
      inside[t] = is_inside ? 1 : 0;
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t next = own.opposite[3 * t + k] / 3;
        if (is_seen[next] == 0) rest.push_back(next);
        is_seen[next] = 1;
      }
    }
  }
  return inside;
}

double AreaOf(const PlacedSurface& surface, uint32_t patch) {
  const CollisionView& view = surface.body.surface;
  double area = 0.0;
  for (uint32_t t = view.patches[patch].first_triangle; t < TrianglesEnd(view, patch); ++t) {
    const Corners c = surface.CornersAt(t);
    area += 0.5 * (ToEigen(c[1]) - ToEigen(c[0])).cross(ToEigen(c[2]) - ToEigen(c[0])).norm();
  }
  return area;
}

// Of closed surfaces in general position that do not overlap themselves. As in flood.h, a cut
// triangle counts as one piece, but for a curve wholly in a triangle whose corners are outside.
// Fails the test if a curve does not close, or a piece is inside without a curve.
BruteContacts BruteForceContacts(const SurfaceBody& moved, const SurfaceBody& fixed,
                                 const Vec3& offset) {
  const CollisionBody views[2] = {moved.view(), fixed.view()};
  Side sides[2] = {{moved, {views[0], {}, Surface::kMoved}},
                   {fixed, {views[1], offset, Surface::kFixed}}};
  BruteContacts out;
  std::vector<uint32_t> curve_of;
  const std::vector<Cut> cuts = CutsOf(&sides[0], &sides[1], &curve_of);
  std::vector<Vector> origins;
  for (uint32_t i = 0; i < cuts.size(); ++i) {
    const Cut& cut = cuts[i];
    out.curve_of[{cut.triangles[0], cut.triangles[1]}] = curve_of[i];
    if (curve_of[i] == out.curves.size()) out.curves.emplace_back(), origins.push_back(cut.from);
    BruteCurve& curve = out.curves[curve_of[i]];
    const Vector& origin = origins[curve_of[i]];
    curve.length += (cut.to - cut.from).norm();
    curve.area += 0.5 * (cut.from - origin).cross(cut.to - origin);
  }

  // Volumes join curves, then triangles of both sides.
  const auto num_curves = static_cast<uint32_t>(out.curves.size());
  const uint32_t first[2] = {num_curves,
                             num_curves + static_cast<uint32_t>(sides[0].triangles.size())};
  Sets sets(first[1] + sides[1].triangles.size());
  struct Part {
    uint32_t node;
    int side;
    double area;
    Vector normal;
  };
  std::vector<Part> parts;
  for (int s = 0; s < 2; ++s) {
    const Side &own = sides[s], &other = sides[1 - s];
    std::vector<uint8_t> is_cut(own.triangles.size());
    std::vector<std::vector<uint32_t>> triangles_of(num_curves);
    for (uint32_t i = 0; i < cuts.size(); ++i) {
      const uint32_t t = cuts[i].triangles[s];
      is_cut[t] = 1;
      triangles_of[curve_of[i]].push_back(t);
      const Vector n = own.Normal(t).normalized(), &c = own.triangles[t][0];
      const double area = 0.5 * n.dot((cuts[i].from - c).cross(cuts[i].to - c));
      parts.push_back({curve_of[i], s, s == 0 ? area : -area, n});
    }
    for (uint32_t c = 0; c < num_curves; ++c) {
      const uint32_t t = triangles_of[c][0];
      const bool is_alone = std::ranges::count(triangles_of[c], t) == std::ssize(triangles_of[c]) &&
                            std::ranges::all_of(own.triangles[t], [&](const Vector& corner) {
                              return other.Winding(corner) == 0;
                            });
      if (is_alone) continue;
      for (const uint32_t of : triangles_of[c]) sets.Join(c, first[s] + of);
    }
    const std::vector<uint8_t> inside = InsideOf(own, is_cut, other);
    for (uint32_t t = 0; t < own.triangles.size(); ++t) {
      const Vector n = own.Normal(t), &c = own.triangles[t][0];
      if (inside[t] != 0) parts.push_back({first[s] + t, s, 0.5 * n.norm(), n.normalized()});
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t across = first[s] + own.opposite[3 * t + k] / 3;
        if (inside[t] != 0) sets.Join(first[s] + t, across);
        if (is_cut[t] == 0) continue;
        const uint32_t edge = own.Name(3 * t + k);
        const double way = edge == 3 * t + k ? 1.0 : -1.0;
        for (const auto& [from, to] : InsideParts(own, edge, other)) {
          sets.Join(first[s] + t, across);
          const double area =
              way * 0.5 * n.normalized().dot((own.At(edge, from) - c).cross(own.At(edge, to) - c));
          parts.push_back({first[s] + t, s, area, n.normalized()});
        }
      }
    }
  }
  std::map<uint32_t, uint32_t> volumes;  // by root
  for (uint32_t c = 0; c < num_curves; ++c) {
    const uint32_t root = sets.Root(c);
    const auto volume = static_cast<uint32_t>(out.volumes.size());
    const auto [entry, is_new] = volumes.try_emplace(root, volume);
    if (is_new) out.volumes.emplace_back();
    BruteCurve& curve = out.curves[c];
    BruteVolume& of = out.volumes[entry->second];
    curve.volume = entry->second;
    of.curves += curve.area;
    of.lengths += curve.area.norm();
    of.perimeter += curve.length;
  }
  for (const Part& part : parts) {
    const auto found = volumes.find(sets.Root(part.node));
    if (found == volumes.end()) FAIL("a piece inside without a curve");
    BruteVolume& volume = out.volumes[found->second];
    volume.area[part.side] += part.area;
    volume.vector_area[part.side] += part.area * part.normal;
  }
  return out;
}

// Fails the test unless the curves, volumes, regions' areas and normals that Find() left are those
// of BruteForceContacts, up to the share `tolerance` of each and to places that are rounded by
// 1e-7 m. Returns how many contacts' normals were compared: those of volumes whose curves agree.
size_t RequireBruteForce(const SurfaceBody& moved, const SurfaceBody& fixed, const Vec3& offset,
                         const Found& found, const PairScratch& scratch, double tolerance) {
  constexpr double kRounding = 1e-7;  // [m]
  const BruteContacts brute = BruteForceContacts(moved, fixed, offset);
  const uint32_t num_curves = found.count.curves;
  REQUIRE(found.count.pairs == brute.curve_of.size());
  REQUIRE(num_curves == brute.curves.size());
  REQUIRE(found.count.volumes == brute.volumes.size());
  std::map<uint32_t, uint32_t> volume_of;  // of the brute force, by the number of a found one
  for (uint32_t i = 0; i < found.count.pairs; ++i) {
    const auto pair = brute.curve_of.find({scratch.pairs[i].moved, scratch.pairs[i].fixed});
    REQUIRE(pair != brute.curve_of.end());
    const uint32_t c = scratch.curve_of[i];
    const BruteCurve& curve = brute.curves[pair->second];
    const double length = curve.length;
    REQUIRE(std::fabs(scratch.curves[c].length - length) <= tolerance * length + kRounding);
    REQUIRE((Vector(scratch.curves[c].area) - curve.area).norm() <=
            tolerance * curve.area.norm() + kRounding * length);
    const auto [entry, is_new] = volume_of.try_emplace(scratch.parents[c], curve.volume);
    REQUIRE(entry->second == curve.volume);
  }
  REQUIRE(volume_of.size() == brute.volumes.size());

  const CollisionBody views[2] = {moved.view(), fixed.view()};
  const PlacedSurface placed[2] = {{views[0], {}, Surface::kMoved},
                                   {views[1], offset, Surface::kFixed}};
  std::vector<BruteVolume> sums(brute.volumes.size());
  for (int s = 0; s < 2; ++s) {
    const uint32_t first = num_curves + (s == 0 ? 0 : scratch.floods[0].num_regions);
    for (uint32_t r = 0; r < scratch.floods[s].num_regions; ++r) {
      const Region& region = scratch.floods[s].regions[r];
      BruteVolume& sum = sums[volume_of.at(scratch.parents[first + r])];
      // The area of a whole patch is that at rest, see deformed_patch_test.cpp.
      sum.area[s] += region.num_items > 0 ? double(region.area) : AreaOf(placed[s], region.patch);
      sum.vector_area[s] += ToEigen(region.vector_area);
    }
  }
  for (size_t v = 0; v < sums.size(); ++v) {
    CAPTURE(v);
    const BruteVolume &sum = sums[v], &right = brute.volumes[v];
    const double rounding = kRounding * right.perimeter;
    for (int s = 0; s < 2; ++s) {
      CAPTURE(s, sum.area[s], right.area[s]);
      const double most = tolerance * right.area[s] + rounding;
      REQUIRE(std::fabs(sum.area[s] - right.area[s]) <= most);
      REQUIRE((sum.vector_area[s] - right.vector_area[s]).norm() <= most);
    }
    // The two surfaces close.
    const double area = right.area[0] + right.area[1];
    REQUIRE((right.vector_area[0] + right.vector_area[1]).norm() <= 1e-9 * area + 0.1 * rounding);
    REQUIRE((sum.vector_area[0] + sum.vector_area[1]).norm() <= 1e-6 * area + rounding);
  }
  size_t compared = 0;
  for (const PairContact& contact : found.contacts) {
    const BruteVolume& volume = brute.volumes[volume_of.at(contact.volume)];
    const double size = volume.curves.norm();
    if (size < 0.3 * volume.lengths) continue;  // there, curves have normals of their own
    // Curves go counterclockwise about the moved surface's inside, and normals out of the fixed.
    const Vector normal = -volume.curves / size;
    REQUIRE((ToEigen(contact.normal) - normal).norm() <=
            tolerance + kRounding * volume.perimeter / size);
    ++compared;
  }
  return compared;
}

// A file of vertices and triangles only. The middle of its box comes to the origin, its diagonal
// is 1 m.
tools::SurfaceMesh ReadModel(const std::string& path) {
  tools::SurfaceMesh mesh;
  std::ifstream file(path);
  for (std::string kind; file >> kind;) {
    if (kind == "v") {
      tools::Vec3d& p = mesh.positions.emplace_back();
      file >> p.x >> p.y >> p.z;
    } else if (kind == "f") {
      auto& t = mesh.triangles.emplace_back();
      file >> t[0] >> t[1] >> t[2];
      for (uint32_t& corner : t) --corner;
    }
  }
  REQUIRE(mesh.positions.size() > 100);
  tools::Vec3d low = mesh.positions[0], high = low;
  for (const tools::Vec3d& p : mesh.positions) low = Min(low, p), high = Max(high, p);
  const tools::Vec3d size = high - low, middle = (low + high) * 0.5;
  const double scale = 1.0 / std::sqrt(Dot(size, size));
  for (tools::Vec3d& p : mesh.positions) p = (p - middle) * scale;
  tests::CompleteMesh(&mesh);
  return mesh;
}

// Stands a model up, then turns it by 30 degrees about the vertical axis.
tools::SurfaceMesh StandUp(tools::SurfaceMesh mesh) {
  const double c = std::sqrt(0.75), s = 0.5;
  for (tools::Vec3d& p : mesh.positions) {
    const tools::Vec3d up = {p.x, -p.z, p.y};
    p = {up.x * c + up.z * s, up.y, -up.x * s + up.z * c};
  }
  return mesh;
}

// Waves of a quarter of a metre and more through the body, of up to `height` [m] each.
std::vector<Vec3> Bent(const std::vector<Vec3>& rest, double height, Random* random) {
  std::vector<Vec3> x = rest;
  for (int wave = 0; wave < 4; ++wave) {
    const Eigen::Vector3d along = random->Direction() * random->Uniform(6.0, 25.0);
    const Eigen::Vector3d way = random->Vector(height);
    const double phase = random->Uniform(0.0, 6.0);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += ToVec3(way * std::sin(along.dot(ToEigen(rest[i])) + phase));
    }
  }
  return x;
}

TEST_CASE("Balls of triangles have the curve, the areas and the normal of all their pairs",
          "[long]") {
  const uint32_t seed = 74;
  CAPTURE(seed);
  Random random(seed);
  constexpr uint32_t kCells = 6;
  const SurfaceShape shape = {.parts = 2, .depth = 0.0, .num_shells = 0};
  SurfaceBody a(TetBox(kCells, kCells, kCells, 2.0 / kCells), shape);
  SurfaceBody b(TetBox(kCells, kCells, kCells, 2.0 / kCells), shape);
  PairScratch scratch = ScratchFor(a, b);
  const auto round = [](SurfaceBody* body, const Eigen::Matrix3d& rotation) {
    std::vector<Vec3> x;
    for (const Vec3& p : body->shape().rest()) {
      const Eigen::Vector3d q = ToEigen(p) - Eigen::Vector3d::Ones();
      const double length = q.norm();
      x.push_back(ToVec3(length > 0.0 ? rotation * q * (q.lpNorm<Eigen::Infinity>() / length) : q));
    }
    body->Move(x);
  };
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    round(&a, random.Rotation());
    round(&b, random.Rotation());
    const double distance = random.Uniform(1.2, 1.8);
    const Eigen::Vector3d way = random.Direction();
    const Vec3 offset = ToVec3(-distance * way);
    const Found found = Find(a, b, offset, &scratch);
    REQUIRE(found.count.curves == 1);
    REQUIRE(found.count.volumes == 1);
    REQUIRE(found.contacts.size() >= 2);
    CHECK(RequireBruteForce(a, b, offset, found, scratch, 1e-5) == found.contacts.size());
    RequireSound(a, b, offset, found, 2.0f);
    // Near what round balls have.
    const double disc = std::acos(-1.0) * (1.0 - distance * distance / 4.0);
    CHECK(Eigen::Vector3d(scratch.curves[0].area).norm() == Approx(disc).epsilon(0.15));
    float deepest = 0.0f;
    for (const PairContact& contact : found.contacts) {
      CHECK((ToEigen(contact.normal) - way).norm() < 0.05);
      deepest = std::min(deepest, contact.gap);
    }
    CHECK(deepest == Approx(distance - 2.0).margin(0.15));
  }
}

TEST_CASE("Bumpy bodies have the volumes, areas and normals of all their pairs of triangles",
          "[long]") {
  const uint32_t seed = 174;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(3, 2, 2, 0.1, 0.08, 2), {.parts = 5, .depth = 0.1, .num_shells = 0});
  SurfaceBody b(TetBox(2, 2, 3, 0.1, 0.08, 3), {.parts = 4, .depth = 0.1, .num_shells = 0});
  PairScratch scratch = ScratchFor(a, b);
  size_t compared = 0, volumes = 0, curves = 0;
  const int scenes = tests::FullTests() ? 400 : 60;
  for (int scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.15);
    const Found found = Find(a, b, offset, &scratch);
    if (found.count.curves == 0) continue;
    compared += RequireBruteForce(a, b, offset, found, scratch, 1e-5);
    volumes += found.count.volumes;
    curves += found.count.curves;
  }
  CAPTURE(compared, volumes, curves);
  CHECK(compared > 300);
  CHECK(volumes > 20);
  CHECK(curves > volumes);
}

TEST_CASE("A bent horse and armadillo have the volumes, areas and normals of all their pairs",
          "[long]") {
  const std::string paths[2] = {tests::TestModelOrSkip("armadillo_1k.obj"),
                                tests::TestModelOrSkip("horse_5k.obj")};
  if (paths[0].empty() || paths[1].empty()) return;
  const uint32_t seed = 175;
  CAPTURE(seed);
  Random random(seed);
  BakedSolid armadillo = BakeSolid(ReadModel(paths[0]), 500);
  BakedSolid horse = BakeSolid(StandUp(ReadModel(paths[1])), 500);
  SurfaceBody &a = armadillo.body, &b = horse.body;
  PairScratch scratch = ScratchFor(a, b);
  size_t compared = 0, volumes = 0;
  const int scenes = tests::FullTests() ? 20 : 2;
  for (int scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    a.Move(Bent(a.shape().rest(), 0.02, &random));
    b.Move(Bent(b.shape().rest(), 0.02, &random));
    const Vec3 offset = ToVec3(random.Vector(0.15));
    const Found found = Find(a, b, offset, &scratch);
    REQUIRE(found.count.curves > 0);
    compared += RequireBruteForce(a, b, offset, found, scratch, 1e-5);
    volumes += found.count.volumes;
  }
  CAPTURE(compared, volumes);
  CHECK(compared > 20);
  CHECK(volumes >= 2);
}

}  // namespace exact_contacts_test
