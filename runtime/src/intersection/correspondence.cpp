// SPDX-License-Identifier: MIT
#include "intersection/correspondence.h"

#include "base/vector_math.h"
#include "collision/point_query.h"
#include "intersection/placed_rays.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

constexpr uint32_t kMostVisited = 32;  // triangles of a whole patch
constexpr float kInwards = 0.1f;       // share by which outer points move towards their centroid
constexpr float kLeastFacing = 0.05f;  // cosine
constexpr float kBehind = 1.0e-3f;     // start of rays behind the point, in sizes of the region
// Share of the thickness beyond which the own surface is tested: bodies become thinner where they
// are pressed, and most rays do not follow their triangle's normal.
constexpr float kThin = 0.5f;

Vec3 At(const Corners& c, const double (&part)[3]) {
  return c[0] * ToFloat(part[0]) + c[1] * ToFloat(part[1]) + c[2] * ToFloat(part[2]);
}

LocalRay RayOf(const PlacedSurface& surface, const Vec3& from, const Vec3& direction, float size) {
  const DoubleVector start = Difference(from, surface.offset);
  const DoubleVector d = {double(direction.x), double(direction.y), double(direction.z)};
  const double length = std::sqrt(Dot(d, d));
  return {{start.x, start.y, start.z},
          {d.x / length, d.y / length, d.z / length},
          4.0 * double(surface.body.state.radius) + 2.0 * double(size) +
              std::sqrt(Dot(start, start)) + double(surface.body.state.reach)};
}

void SetPoint(PairContact* contact, Surface role, uint32_t triangle, const double (&part)[3]) {
  const size_t side = role == Surface::kMoved ? 0 : 1;
  contact->triangles[side] = triangle;
  contact->u[side] = ToFloat(part[1]);
  contact->v[side] = ToFloat(part[2]);
}

}  // namespace

Vec3 UnitNormal(const Corners& c) {
  const DoubleVector n = Cross(Difference(c[1], c[0]), Difference(c[2], c[0]));
  const double length = std::sqrt(Dot(n, n));
  if (!(length > 0.0)) return {};
  return {ToFloat(n.x / length), ToFloat(n.y / length), ToFloat(n.z / length)};
}

RegionPoint PlaceOn(const Corners& corners, uint32_t triangle, const Vec3& at) {
  double local[3][3];
  for (size_t k = 0; k < 3; ++k) {
    const DoubleVector d = Difference(corners[k], at);
    local[k][0] = d.x, local[k][1] = d.y, local[k][2] = d.z;
  }
  const TrianglePlace place = NearestToOrigin(local[0], local[1], local[2]);
  RegionPoint point = {triangle, {place.part[0], place.part[1], place.part[2]}, {}};
  point.at = At(corners, point.part);
  return point;
}

PairContact Touching(const RegionPoint& moved, const RegionPoint& fixed, const Vec3& normal) {
  PairContact contact;
  SetPoint(&contact, Surface::kMoved, moved.triangle, moved.part);
  SetPoint(&contact, Surface::kFixed, fixed.triangle, fixed.part);
  contact.normal = normal;
  contact.gap = Dot(normal, moved.at - fixed.at);
  return contact;
}

bool NearestContact(const PlacedSurface& surface, const PlacedSurface& other, uint32_t triangle,
                    PairContact* contact) {
  const Vec3 vertex = surface.CornersAt(triangle)[0];
  const DoubleVector local = Difference(vertex, other.offset);
  const double point[3] = {local.x, local.y, local.z};
  const double far = std::sqrt(Dot(local, local)) + 4.0 * double(other.body.state.reach);
  SurfaceHit hit;
  if (!ClosestPoint(other.body, point, far, &hit)) return false;
  const Corners corners = other.CornersAt(hit.triangle);
  const bool moved = surface.role == Surface::kMoved;
  const RegionPoint own = {triangle, {1.0, 0.0, 0.0}, vertex};
  const RegionPoint answer = {
      hit.triangle, {hit.part[0], hit.part[1], hit.part[2]}, At(corners, hit.part)};
  // The way out of the other body.
  Vec3 out = answer.at - vertex;
  const float length = Length(out);
  out = length > 0.0f ? out * (1.0f / length) : UnitNormal(corners);
  if (IsZero(out)) return false;
  *contact = moved ? Touching(own, answer, out) : Touching(answer, own, -out);
  return true;
}

// Calls visit(triangle, its centroid, cut or kNoPair) for the region's triangles; for some of them
// if it is a whole patch with many.
template <class Visit>
void RegionPoints::ForTriangles(Visit visit) const {
  for (uint32_t i = 0; i < region_.num_items; ++i) {
    const RegionItem& item = flood_.items[region_.first_item + i];
    visit(item.triangle, item.centroid, item.cut);
  }
  if (region_.num_items > 0) return;
  const CollisionView& view = surface_.body.surface;
  const uint32_t begin = view.patches[region_.patch].first_triangle;
  const uint32_t end = TrianglesEnd(view, region_.patch);
  const PatchCorners corners(surface_, region_.patch);
  const uint32_t step = (end - begin + kMostVisited - 1) / kMostVisited;
  for (uint32_t t = begin; t < end; t += step) {
    const Corners c = corners.At(t);
    visit(t, (c[0] + c[1] + c[2]) * (1.0f / 3.0f), kNoPair);
  }
}

RegionPoint RegionPoints::Middle() const {
  float nearest = -1.0f;
  uint32_t triangle = 0;
  Vec3 at;
  ForTriangles([&](uint32_t t, const Vec3& centroid, uint32_t cut) {
    const Vec3 away = centroid - region_.centroid;
    const float distance = Dot(away, away);
    if (nearest >= 0.0f && distance >= nearest) return;
    nearest = distance;
    triangle = t;
    at = cut == kNoPair ? region_.centroid : centroid;
  });
  return PlaceOn(PatchCorners(surface_, region_.patch).At(triangle), triangle, at);
}

// Calls visit(triangle, point) with corners of the region's triangles, as far as they are inside,
// and with the ends of its curves' segments.
template <class Visit>
void RegionPoints::ForCorners(Visit visit) const {
  const PatchCorners of_patch(surface_, region_.patch);
  ForTriangles([&](uint32_t t, const Vec3& centroid, uint32_t index) {
    const auto see = [&](const Vec3& p) { visit(t, p + kInwards * (centroid - p)); };
    const Corners corners = of_patch.At(t);
    const CutTriangle* const cut = index == kNoPair ? nullptr : &flood_.cuts[index];
    for (size_t k = 0; k < 3; ++k)
      if (cut == nullptr || cut->winding[k] > 0) see(corners[k]);
    for (uint32_t i = 0; cut != nullptr && i < cut->count; ++i) {
      const TrianglePair& pair = pairs_[flood_.by_triangle[cut->first + i]];
      see(pair.from);
      see(pair.to);
    }
  });
}

uint32_t RegionPoints::Outer(const Vec3& normal, RegionPoint points[4]) const {
  const bool flat_z = std::fabs(normal.z) < 0.5f;
  const Vec3 across = Cross(normal, flat_z ? Vec3{0.0f, 0.0f, 1.0f} : Vec3{1.0f, 0.0f, 0.0f});
  const Vec3 s = across * (1.0f / Length(across)), t = Cross(normal, s);
  const Vec3 directions[4] = {s, t, -s, -t};
  Float4 x = {}, y = {}, z = {};  // of the four, each turned a little to the next
  for (int i = 0; i < 4; ++i) {
    const Vec3 turned = directions[i] + 0.3f * directions[(i + 1) % 4];
    x[i] = turned.x, y[i] = turned.y, z[i] = turned.z;
  }
  Float4 most = {};
  Vec3 at[4];
  uint32_t triangles[4] = {};
  bool any = false;
  ForCorners([&](uint32_t triangle, const Vec3& p) {
    const Vec3 away = p - region_.centroid;
    const Float4 along = x * Broadcast(away.x) + y * Broadcast(away.y) + z * Broadcast(away.z);
    if (any && GreatestOf(along - most) <= 0.0f) return;
    for (int i = 0; i < 4; ++i) {
      if (any && along[i] <= most[i]) continue;
      most[i] = along[i], at[i] = p, triangles[i] = triangle;
    }
    any = true;
  });
  const PatchCorners corners(surface_, region_.patch);
  uint32_t count = 0;
  for (int i = 0; any && i < 4; ++i) {
    bool known = false;
    for (int j = 0; j < i; ++j) known |= IsZero(at[i] - at[j]);
    if (!known) points[count++] = PlaceOn(corners.At(triangles[i]), triangles[i], at[i]);
  }
  return count;
}

bool Correspondence::Faces(const Vec3& vector_area) const {
  const float towards = Dot(normal, vector_area) * (surface.role == Surface::kMoved ? -1.0f : 1.0f);
  return towards > kLeastFacing * Length(vector_area);
}

bool Correspondence::Find(const RegionPoint& point, PairContact* contact) const {
  const bool moved = surface.role == Surface::kMoved;
  const Vec3 direction = moved ? normal : -normal;
  const float behind = kBehind * size;
  SurfaceHit hit;
  if (!CastRay(other, RayOf(other, point.at - behind * direction, direction, size), &hit))
    return false;
  const Corners corners = PatchCorners(other, hit.patch).At(hit.triangle);
  if (Dot(UnitNormal(corners), direction) <= kLeastFacing) return false;
  const float depth = ToFloat(hit.distance) - behind;
  if (depth > std::fmax(kThin * thickness, 2.0f * behind)) {
    SurfaceHit own;
    LocalRay back = RayOf(surface, point.at + behind * direction, direction, size);
    back.max_t = double(depth - 2.0f * behind);
    if (CastRay(surface, back, &own)) return false;
  }
  const RegionPoint answer = {
      hit.triangle, {hit.part[0], hit.part[1], hit.part[2]}, At(corners, hit.part)};
  *contact = moved ? Touching(point, answer, normal) : Touching(answer, point, normal);
  return true;
}

}  // namespace plush
