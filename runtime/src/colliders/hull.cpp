// SPDX-License-Identifier: MIT
// Distances, entries and deepest points of hulls. Source: hull.h.
//
// Inside, the distance is the greatest of the gaps from the planes. Outside, that is a lower bound,
// and the nearest of the triangles that the point sees is the nearest place.
#include "colliders/hull.h"

#include "base/float4.h"
#include "colliders/deepest_by_planes.h"
#include "collision/double_vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr uint32_t kMostPlanes = 2 * kMostHullPoints + Hull::kPlanesAtOnce;

// Planes one axis after the other, as in Hull::planes.
struct PlaneList {
  const float* axes[4];
  uint32_t count;  // a multiple of kPlanesAtOnce
};

// A plane and the gap of a point from it [m].
struct PlaneGap {
  uint32_t plane;
  float gap;
};

float GapFrom(const PlaneList& planes, uint32_t i, const Vec3& p) {
  return p.x * planes.axes[0][i] + p.y * planes.axes[1][i] + p.z * planes.axes[2][i] -
         planes.axes[3][i];
}

// The greatest gap, of the first plane that has it.
PlaneGap GreatestGap(const PlaneList& planes, const Vec3& p) {
  const Float4 x = Broadcast(p.x), y = Broadcast(p.y), z = Broadcast(p.z);
  const auto four = [&](uint32_t i) {
    return x * Load4(planes.axes[0] + i) + y * Load4(planes.axes[1] + i) +
           z * Load4(planes.axes[2] + i) - Load4(planes.axes[3] + i);
  };
  float greatest = -std::numeric_limits<float>::infinity();
  uint32_t block = 0;
  for (uint32_t i = 0; i < planes.count; i += Hull::kPlanesAtOnce) {
    const float most = GreatestOf(Max(four(i), four(i + 4)));
    if (most > greatest) {
      greatest = most;
      block = i;
    }
  }
  PlaneGap result = {block, GapFrom(planes, block, p)};
  for (uint32_t i = block + 1; i < block + Hull::kPlanesAtOnce; ++i) {
    const float gap = GapFrom(planes, i, p);
    if (gap > result.gap) result = {i, gap};
  }
  return result;
}

PlaneList PlanesOf(const Hull& hull) {
  const float* first = hull.planes.data();
  const uint32_t stride = hull.stride();
  return {{first, first + stride, first + 2 * stride, first + 3 * stride}, stride};
}

PlaneGap GreatestGap(const Hull& hull, const Vec3& p) {
  PlaneGap greatest = GreatestGap(PlanesOf(hull), p);
  if (greatest.plane >= hull.num_planes) greatest.plane = 0;  // a copy of it
  return greatest;
}

// The point of a triangle nearest to another point. In double: triangles may be as narrow as the
// grid of the points.
struct Nearest {
  DoubleVector way = {};  // from it to the point
  double distance2 = 0.0;
};

DoubleVector Minus(const DoubleVector& a, const DoubleVector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

// The nearest point of the edge from corner k to the next one.
Nearest NearestOnEdge(const Vec3* corners, int k, const Vec3& p) {
  const int next = (k + 1) % 3;
  const DoubleVector along = Difference(corners[next], corners[k]), to = Difference(p, corners[k]);
  const double at = std::clamp(Dot(to, along) / Dot(along, along), 0.0, 1.0);
  const DoubleVector way = Minus(to, along * at);
  return {way, Dot(way, way)};
}

Nearest NearestOn(const Hull& hull, uint32_t triangle, const Vec3& p) {
  const HullTriangle& t = hull.triangles[triangle];
  const Vec3 corners[3] = {hull.points[t.corners[0]], hull.points[t.corners[1]],
                           hull.points[t.corners[2]]};
  const DoubleVector normal =
      Cross(Difference(corners[1], corners[0]), Difference(corners[2], corners[0]));
  Nearest nearest;
  bool is_inside = true;
  for (int k = 0; k < 3; ++k) {
    const DoubleVector along = Difference(corners[(k + 1) % 3], corners[k]);
    if (Dot(Cross(normal, along), Difference(p, corners[k])) > 0.0) continue;
    const Nearest on_edge = NearestOnEdge(corners, k, p);
    if (is_inside || on_edge.distance2 < nearest.distance2) nearest = on_edge;
    is_inside = false;
  }
  if (!is_inside) return nearest;
  const DoubleVector way = normal * (Dot(Difference(p, corners[0]), normal) / Dot(normal, normal));
  return {way, Dot(way, way)};
}

// The nearest point of the surface to a point outside. None of a triangle is nearer than its plane.
Nearest NearestOfSeen(const Hull& hull, uint32_t start, const Vec3& p) {
  const PlaneList planes = PlanesOf(hull);
  Nearest best = NearestOn(hull, start, p);
  for (uint32_t i = 0; i < hull.triangles.size(); ++i) {
    const double gap = GapFrom(planes, hull.triangles[i].plane, p);
    if (!(gap > 0.0) || gap * gap >= best.distance2) continue;
    const Nearest other = NearestOn(hull, i, p);
    if (other.distance2 < best.distance2) best = other;
  }
  return best;
}

Tangent HullTangentAt(const Hull& hull, const Vec3& point) {
  // Nearer than this the direction from an edge is rounding.
  constexpr float kRounding = 4.0e-6f;  // [reaches]
  const PlaneGap greatest = GreatestGap(hull, point);
  const Tangent plane = {hull.Normal(greatest.plane), greatest.gap};
  if (!(greatest.gap > kRounding * Length(hull.reach))) return plane;
  const Nearest nearest = NearestOfSeen(hull, hull.largest_triangles[greatest.plane], point);
  const double distance = std::sqrt(nearest.distance2);
  if (!(distance > double(greatest.gap))) return plane;
  const DoubleVector normal = nearest.way * (1.0 / distance);
  return {
      {static_cast<float>(normal.x), static_cast<float>(normal.y), static_cast<float>(normal.z)},
      static_cast<float>(distance)};
}

// Clips the way by the planes.
bool HullFindEntry(const Hull& hull, const Vec3& from, const Vec3& to, Tangent* hit) {
  const PlaneList planes = PlanesOf(hull);
  float first = -std::numeric_limits<float>::infinity(), last = 1.0f;
  uint32_t entered = hull.num_planes;
  for (uint32_t i = 0; i < hull.num_planes; ++i) {
    const float start = GapFrom(planes, i, from), end = GapFrom(planes, i, to);
    if (start >= 0.0f && end >= 0.0f) return false;
    const float at = start / (start - end);
    if (start > end) {
      if (end < 0.0f && at > first) {
        first = at;
        entered = i;
      }
    } else if (end > start && at < last) {
      last = at;
    }
  }
  if (entered == hull.num_planes || !(first <= last)) return false;
  *hit = {hull.Normal(entered), GapFrom(planes, entered, to)};
  return true;
}

SolidFace HullFindEasierFace(const Hull& hull, EasiestPlane easiest) {
  const PlaneList planes = PlanesOf(hull);
  SolidFace easier;
  for (uint32_t i = 0; i < hull.num_planes; ++i) {
    const auto gap_of = [&](const Vec3& x) { return GapFrom(planes, i, x); };
    if (easiest.Visit(hull.Normal(i), gap_of)) easier = {hull.Normal(i), hull.Offset(i)};
  }
  return easier;
}

// Only planes that are not below another one all over the triangle matter for its deepest point.
TrianglePoint HullFindDeepest(const Hull& hull, const Vec3* corners, float limit) {
  const PlaneList all = PlanesOf(hull);
  const Vec3 middle = (corners[0] + corners[1] + corners[2]) * (1.0f / 3.0f);
  const uint32_t of_middle = GreatestGap(hull, middle).plane;
  const float bound =
      std::min({GapFrom(all, of_middle, corners[0]), GapFrom(all, of_middle, corners[1]),
                GapFrom(all, of_middle, corners[2])});
  std::array<float, 4 * kMostPlanes> few;
  float* const axes[4] = {few.data(), &few[kMostPlanes], &few[2 * kMostPlanes],
                          &few[3 * kMostPlanes]};
  uint32_t count = 0;
  const auto add = [&](uint32_t i) {
    for (int k = 0; k < 4; ++k) axes[k][count] = all.axes[k][i];
    ++count;
  };
  for (uint32_t i = 0; i < hull.num_planes; ++i) {
    const bool matters = GapFrom(all, i, corners[0]) >= bound ||
                         GapFrom(all, i, corners[1]) >= bound ||
                         GapFrom(all, i, corners[2]) >= bound;
    if (matters) add(i);
  }
  while (count % Hull::kPlanesAtOnce != 0 || count == 0) add(of_middle);
  const PlaneList planes = {{axes[0], axes[1], axes[2], axes[3]}, count};
  TrianglePoint deepest;
  const auto tangent_at = [&](const Vec3& point) -> Tangent {
    const PlaneGap greatest = GreatestGap(planes, point);
    const uint32_t i = greatest.plane;
    return {{axes[0][i], axes[1][i], axes[2][i]}, greatest.gap};
  };
  if (!FindDeepestByPlanes(corners, limit, tangent_at, &deepest)) {
    deepest = DeepestOf(corners, [&](const Vec3& point) { return GreatestGap(planes, point).gap; });
  }
  deepest.gap = HullTangentAt(hull, PointOf(corners, deepest)).gap;
  return deepest;
}

// The point nearest to `to` of the cone that normals span: the active-set method for least squares
// without negative weights [Lawson and Hanson, Solving Least Squares Problems, ch. 23]. Three
// normals at most carry it.
class NormalCone {
 public:
  explicit NormalCone(const Vec3& to) : to_(to), rest_(to) {}

  const Vec3& rest() const { return rest_; }  ///< `to` less the nearest point

  // Takes a normal in that leans towards `rest`. Returns false if that gains nothing.
  bool Add(const Vec3& normal) {
    if (count_ == 3) return false;
    normals_[count_] = normal;
    weights_[count_++] = 0.0f;
    const float before = Dot(rest_, rest_);
    while (count_ > 0) {
      float wanted[3];
      if (!Solve(wanted)) return false;
      float share = 1.0f;
      int first = -1;
      for (int k = 0; k < count_; ++k) {
        if (wanted[k] > 0.0f) continue;
        const float at = weights_[k] / (weights_[k] - wanted[k]);
        if (first < 0 || at < share) {
          share = at;
          first = k;
        }
      }
      for (int k = 0; k < count_; ++k) weights_[k] += share * (wanted[k] - weights_[k]);
      if (first < 0) break;
      --count_;
      normals_[first] = normals_[count_];
      weights_[first] = weights_[count_];
    }
    rest_ = to_;
    for (int k = 0; k < count_; ++k) rest_ -= normals_[k] * weights_[k];
    return Dot(rest_, rest_) < before;
  }

 private:
  // The weights that bring the normals nearest to `to_`, of any sign, by their dual basis.
  bool Solve(float* weights) const {
    constexpr float kLeast = 1.0e-6f;  // of the squared sine or volume
    const Vec3& a = normals_[0];
    if (count_ == 1) {
      weights[0] = Dot(a, to_);
      return true;
    }
    const Vec3& b = normals_[1];
    const Vec3 across = Cross(a, b);
    const Vec3 c = count_ == 3 ? normals_[2] : across;
    const float volume = Dot(across, c);
    if (!(std::fabs(volume) > kLeast)) return false;
    weights[0] = Dot(Cross(b, c), to_) / volume;
    weights[1] = Dot(Cross(c, a), to_) / volume;
    if (count_ == 3) weights[2] = Dot(across, to_) / volume;
    return true;
  }

  Vec3 to_, rest_;
  Vec3 normals_[3];
  float weights_[3] = {};
  int count_ = 0;
};

Tangent HullPlaneBetween(const Hull& hull, const Vec3* corners, const TrianglePoint& deepest) {
  constexpr float kNear = 3.0e-4f;  // [edges of the triangle]
  constexpr float kLeastGain = 1.0e-4f;
  constexpr int kMostRounds = 16;
  const Vec3 along_u = corners[1] - corners[0], along_v = corners[2] - corners[0];
  const Vec3 point = PointOf(corners, deepest);
  const PlaneList planes = PlanesOf(hull);
  const Tangent tangent = HullTangentAt(hull, point);
  const Vec3 outward = Cross(along_u, along_v);
  const float length = Length(outward);
  if (!(length > 0.0f)) return tangent;
  const Vec3 inward = outward * (-1.0f / length);
  const float near = kNear * std::fmax(Length(along_u), Length(along_v));
  const float least = GreatestGap(hull, point).gap - near;
  NormalCone cone(inward);
  for (int round = 0; round < kMostRounds; ++round) {
    float most = kLeastGain;
    uint32_t best = hull.num_planes;
    for (uint32_t i = 0; i < hull.num_planes; ++i) {
      const float gain = Dot(hull.Normal(i), cone.rest());
      if (gain > most && GapFrom(planes, i, point) >= least) {
        most = gain;
        best = i;
      }
    }
    if (best == hull.num_planes || !cone.Add(hull.Normal(best))) break;
  }
  const Vec3 nearest = inward - cone.rest();
  const float size = Length(nearest);
  if (!(size > kLeastGain)) return tangent;
  const Vec3 normal = nearest * (1.0f / size);
  float offset = -std::numeric_limits<float>::infinity();
  for (const HullTriangle& triangle : hull.triangles) {
    for (const uint16_t corner : triangle.corners) {
      offset = std::fmax(offset, Dot(normal, hull.points[corner]));
    }
  }
  return {normal, Dot(normal, point) - offset};
}

}  // namespace

const HullCode kHullCode = {MakeHull,           HullTangentAt,   HullFindEntry,
                            HullFindEasierFace, HullFindDeepest, HullPlaneBetween};

}  // namespace plush
