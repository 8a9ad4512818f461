// SPDX-License-Identifier: MIT
// Distances from a point, in the two levels of ray_query.cpp. In the tree over the tets, the bound
// is the distance to a volume. Inside a tet, it is the greater of two lower bounds of the distance
// to a stored box:
// - the largest distance to one of the box's planes, tight nearby;
// - the distance along the direction to the patch (barycentric_bounds.h), tight far away.
#include "collision/point_query.h"

#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "collision/tree_walks.h"
#include "collision/vertex_positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

double Dot(const double (&a)[3], const double (&b)[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// u x v . w
double Triple(const double (&u)[3], const double (&v)[3], const double (&w)[3]) {
  return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
         (u[0] * v[1] - u[1] * v[0]) * w[2];
}

// Replaces `best` by the nearest place of edge ab, with part 0 for the third corner, if that is
// nearer.
void TryEdge(const double (&a)[3], const double (&b)[3], int i, int j, TrianglePlace* best) {
  const double edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double length2 = Dot(edge, edge);
  double s = length2 > 0.0 ? -Dot(a, edge) / length2 : 0.0;
  s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
  const double p[3] = {a[0] + s * edge[0], a[1] + s * edge[1], a[2] + s * edge[2]};
  const double distance2 = Dot(p, p);
  if (!(distance2 < best->distance2)) return;
  *best = {{}, distance2};
  best->part[i] = 1.0 - s;
  best->part[j] = s;
}

}  // namespace

TrianglePlace NearestToOrigin(const double (&a)[3], const double (&b)[3], const double (&c)[3]) {
  const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double f[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  const double normal[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2],
                            e[0] * f[1] - e[1] * f[0]};
  // Barycentric parts of the perpendicular's foot, times |normal|^2.
  const double u = Triple(b, c, normal), v = Triple(c, a, normal), w = Triple(a, b, normal);
  const double sum = u + v + w;
  if (u >= 0.0 && v >= 0.0 && w >= 0.0 && sum > 0.0) {
    const double height = Dot(a, normal);
    const double normal2 = Dot(normal, normal);
    // Below this the normal may be mere rounding; the edges then give a better answer.
    if (normal2 > 1.0e-26 * Dot(e, e) * Dot(f, f))
      return {{u / sum, v / sum, w / sum}, height * height / normal2};
  }
  TrianglePlace best = {{1.0, 0.0, 0.0}, Dot(a, a)};
  TryEdge(a, b, 0, 1, &best);
  TryEdge(b, c, 1, 2, &best);
  TryEdge(c, a, 2, 0, &best);
  return best;
}

namespace {

// Rounding of a distance used as a bound, in steps of epsilon times the coordinates in play: below
// 20; rounded up.
constexpr float kDistanceRounding = 64.0f * std::numeric_limits<float>::epsilon();

// The query's point in float, for culling.
struct CullingPoint {
  Vec3 at;         // [m]
  DopLanes along;  // its projections
  float slack;     // rounding of distances [m]
};

// Distance to the volume: the larger of those to its box and to any diagonal slab.
float DistanceTo(const CullingPoint& point, const Dop14& volume) {
  const Float4 zero = Broadcast(0.0f);
  const Float4 first =
      Max(Max(Load4(volume.low) - point.along.first, point.along.first - Load4(volume.high)), zero);
  const Float4 second = Max(
      Max(Load4(volume.low + 4) - point.along.second, point.along.second - Load4(volume.high + 4)),
      zero);
  const float box2 = first[0] * first[0] + first[1] * first[1] + first[2] * first[2];
  const float diagonal =
      GreatestOf(Max(Shuffle<3, 3, 3, 3>(first, first), Shuffle<0, 1, 2, 2>(second, second)));
  return std::sqrt(std::max(box2, diagonal * diagonal * (1.0f / 3.0f))) - point.slack;
}

// The point in a tet's frame.
struct TetPoint {
  Float4 low, high;  // q + margin and q - margin - 1, because a stored upper bound q means q + 1
  Float4 q, margin;
  Float4 step;  // [m]
  TetLanes nodes;
};

void PlacePoint(const CullingPoint& point, const TetFrame& frame, TetPoint* out) {
  const Float4 q = Load4(frame.x) * Broadcast(point.at.x) + Load4(frame.y) * Broadcast(point.at.y) +
                   Load4(frame.z) * Broadcast(point.at.z) + Load4(frame.offset);
  const Float4 margin = Load4(frame.margin);
  out->low = q + margin;
  out->high = q - margin - Broadcast(1.0f);
  out->q = q;
  out->margin = margin;
  out->step = Load4(frame.step);
}

// Distances from the point along one direction, towards a patch, in all lanes.
struct Approach {
  Float4 nodes[4];  // of each node [m]
  // Terms of the exact bound of a box; lane k holds the bound's term for node k [m].
  Float4 base;
  Float4 low[4], high[4];  // per step of the box's stored bounds
};

// `bounds` are those of the whole patch. The direction points to their middle.
void PlaceApproach(const CullingPoint& point, const std::array<Vec3, 4>& nodes, uint64_t bounds,
                   Approach* out) {
  const BarycentricBox box = UnpackBounds(bounds);
  Vec3 middle;
  float sum = 0.0f;
  for (size_t i = 0; i < 4; ++i) {
    const float part = box.low[i] + box.high[i];
    middle += (nodes[i] - point.at) * part;
    sum += part;
  }
  const float length = Length(middle);
  const Vec3 direction = length > 1.0e-30f * sum ? middle * (1.0f / length) : Vec3{};
  Float4 all = Broadcast(0.0f);
  for (int i = 0; i < 4; ++i) all[i] = Dot(direction, nodes[static_cast<size_t>(i)] - point.at);
  const Float4 zero = Broadcast(0.0f), step = Broadcast(1.0f / 256.0f);
  out->base = all;
  for (int i = 0; i < 4; ++i) {
    out->nodes[i] = Broadcast(all[i]);
    const Float4 difference = (out->nodes[i] - all) * step;
    out->low[i] = Max(difference, zero);
    out->high[i] = Min(difference, zero);
    out->base = out->base + out->high[i];  // a stored upper bound q means q + 1
  }
}

float DistanceAlong(const Approach& approach, Float4 low, Float4 high) {
  const Float4 least =
      approach.base +
      (approach.low[0] * Broadcast(low[0]) + approach.high[0] * Broadcast(high[0])) +
      (approach.low[1] * Broadcast(low[1]) + approach.high[1] * Broadcast(high[1])) +
      (approach.low[2] * Broadcast(low[2]) + approach.high[2] * Broadcast(high[2])) +
      (approach.low[3] * Broadcast(low[3]) + approach.high[3] * Broadcast(high[3]));
  return GreatestOf(least);
}

float DistanceToBounds(const CullingPoint& point, const TetPoint& local, const Approach& approach,
                       uint64_t bounds) {
  const Float4 low = BytesToFloats(static_cast<uint32_t>(bounds));
  const Float4 high = BytesToFloats(static_cast<uint32_t>(bounds >> 32));
  const Float4 outside = Max(low - local.low, local.high - high) * local.step;
  return std::max({GreatestOf(outside), DistanceAlong(approach, low, high), 0.0f}) - point.slack;
}

float DistanceToTriangle(const CullingPoint& point, const TetPoint& local, const Approach& approach,
                         const Vec4& a, const Vec4& b, const Vec4& c) {
  Float4 x = Load4(&a.x), y = Load4(&b.x), z = Load4(&c.x), w = x;
  const Float4 steps = Broadcast(256.0f);
  const Float4 low = Min(Min(x, y), z) * steps, high = Max(Max(x, y), z) * steps;
  const Float4 outside = (Max(low - local.q, local.q - high) - local.margin) * local.step;
  Transpose4(&x, &y, &z, &w);  // the weights of one node, for corners a, b, c, a
  const Float4 along =
      x * approach.nodes[0] + y * approach.nodes[1] + z * approach.nodes[2] + w * approach.nodes[3];
  return std::max(GreatestOf(outside), LeastOf(along)) - point.slack;
}

// The nearest place of a triangle with these corners [m].
TrianglePlace NearestTo(const double point[3], const std::array<Float4, 3>& corners) {
  double x[3][3];
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) x[k][i] = double(corners[k][i]) - point[i];
  }
  return NearestToOrigin(x[0], x[1], x[2]);
}

template <class Record>
class NearSearch {
 public:
  NearSearch(const CollisionBody& body, std::span<const Record> triangles, const double* point,
             double max_distance, void* user, NearHitCallback callback)
      : body_(body),
        triangles_(triangles),
        point_{point[0], point[1], point[2]},
        max_distance_(max_distance),
        user_(user),
        callback_(callback) {}

  void Run() {
    constexpr double kMost = 1.0e18;  // beyond this, squared distances exceed float's range
    const double largest =
        std::max({std::fabs(point_[0]), std::fabs(point_[1]), std::fabs(point_[2])});
    if (!body_.state.bounded || !(largest <= kMost)) {
      for (uint32_t t = 0; t < body_.surface.tets.size(); ++t) TestTet(t);
      return;
    }
    culling_.at = {static_cast<float>(point_[0]), static_cast<float>(point_[1]),
                   static_cast<float>(point_[2])};
    culling_.along = Project(culling_.at);
    culling_.slack = kDistanceRounding * (SumNorm(culling_.at) + body_.state.reach);
    WalkTetTree(
        body_.surface.tree,
        [&](uint32_t node) { return DistanceTo(culling_, body_.state.volumes[node]); },
        [&] { return Limit(); }, [&](uint32_t tet) { VisitTet(tet); });
  }

 private:
  float Limit() const {
    constexpr double kMost = std::numeric_limits<float>::max();
    return static_cast<float>(std::min(max_distance_ * 1.0000002, kMost));
  }

  // Tests all triangles of a tet without a usable frame.
  void TestTet(uint32_t tet) {
    local_.nodes = LanesOf(NodesOf(body_.surface.tets[tet], body_.x));
    ForTrianglesOf(body_.surface, tet,
                   [&](uint32_t patch, uint32_t i) { TestTriangle(tet, patch, i); });
  }

  void VisitTet(uint32_t tet) {
    const TetFrame& frame = body_.state.frames[tet];
    if (!body_.state.has_frames || !frame.usable()) return TestTet(tet);
    PlacePoint(culling_, frame, &local_);
    const std::array<Vec3, 4> nodes = NodesOf(body_.surface.tets[tet], body_.x);
    local_.nodes = LanesOf(nodes);
    const uint32_t end = PatchesEnd(body_.surface, tet);
    for (uint32_t patch = body_.surface.tets[tet].first_patch; patch < end; ++patch) {
      const uint32_t first = body_.surface.patches[patch].first_triangle;
      PlaceApproach(culling_, nodes, BoundsOf(triangles_[first]), &approach_);
      VisitPatch(tet, patch, first);
    }
  }

  void VisitPatch(uint32_t tet, uint32_t patch, uint32_t first) {
    const std::span<const Vec4> weights = body_.surface.vertices;
    WalkPatchTree(
        first, TrianglesEnd(body_.surface, patch), kTestedAtOnce,
        [&](uint32_t i) {
          return DistanceToBounds(culling_, local_, approach_, BoundsOf(triangles_[i]));
        },
        [&] { return Limit(); },
        [&](uint32_t i) {
          const Record& triangle = triangles_[i];
          if (DistanceToTriangle(culling_, local_, approach_, weights[VertexOf(triangle, 0)],
                                 weights[VertexOf(triangle, 1)],
                                 weights[VertexOf(triangle, 2)]) <= Limit()) {
            TestTriangle(tet, patch, i);
          }
        });
  }

  void TestTriangle(uint32_t tet, uint32_t patch, uint32_t triangle) {
    const std::array<Float4, 3> corners =
        CornersOf(local_.nodes, body_.surface.vertices, triangles_[triangle]);
    const TrianglePlace place = NearestTo(point_, corners);
    const double distance = std::sqrt(place.distance2);
    if (!(distance <= max_distance_)) return;
    max_distance_ = callback_(
        user_, {triangle, patch, tet, distance, {place.part[0], place.part[1], place.part[2]}});
  }

  const CollisionBody& body_;
  std::span<const Record> triangles_;
  double point_[3];
  double max_distance_;
  void* user_;
  NearHitCallback callback_;
  CullingPoint culling_;
  TetPoint local_;     // of the tet being visited
  Approach approach_;  // of the patch being visited
};

}  // namespace

void ForNear(const CollisionBody& body, const double point[3], double max_distance, void* user,
             NearHitCallback callback) {
  if (body.surface.tets.empty()) return;
  WithTriangles(body.surface, [&](const auto& triangles) {
    NearSearch(body, triangles, point, max_distance, user, callback).Run();
  });
}

bool ClosestPoint(const CollisionBody& body, const double point[3], double max_distance,
                  SurfaceHit* out_hit) {
  SurfaceHit nearest;
  ForNear(body, point, max_distance, &nearest, KeepNearest);
  if (nearest.triangle == kNoTriangle) return false;
  *out_hit = nearest;
  return true;
}

void VectorToPoint(const CollisionBody& body, const SurfaceHit& hit, const double point[3],
                   double out_vector[3]) {
  const std::array<Vec3, 4> nodes = NodesOf(body.surface.tets[hit.tet], body.x);
  for (int i = 0; i < 3; ++i) out_vector[i] = point[i];
  for (int k = 0; k < 3; ++k) {
    const uint32_t vertex = WithTriangles(
        body.surface, [&](const auto& triangles) { return VertexOf(triangles[hit.triangle], k); });
    const Vec3 x = VertexPosition(nodes, body.surface.vertices[vertex]);
    out_vector[0] -= hit.part[k] * double(x.x);
    out_vector[1] -= hit.part[k] * double(x.y);
    out_vector[2] -= hit.part[k] * double(x.z);
  }
}

}  // namespace plush
