// SPDX-License-Identifier: MIT
// Rays in two levels [Civ 5.4.3.1, 5.4.4]. First through the tree over the tets, in the body's
// coordinates; then, in each tet the ray may meet, through the trees of its patches, in barycentric
// coordinates, which no deformation changes. Culls use float with margins that cover all rounding.
// The remaining triangles are decided in double.
#include "collision/ray_query.h"

#include "collision/surface_records.h"
#include "collision/tree_walks.h"
#include "collision/vertex_positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();

// The ray near the body, for culling. Its parameter s is t - shift.
struct CullingRay {
  Vec3 origin;     // nearest point to the middle of the body, within 3 reaches [m]
  Vec3 direction;  // unit
  double shift;
  float begin, end;                         // range of s that is on the ray and near the body
  float slack;                              // rounding of s
  DopLanes enter_low, enter_high, inverse;  // slabs of the tree over the tets
};

// Rounding of a projection of a point on the ray and of the slab it is compared with, in steps of
// epsilon times the coordinates in play: below 6; rounded up.
constexpr float kSlabRounding = 16.0f * kEpsilon;

void MakeSlabs(float rounding, CullingRay* ray) {
  const DopLanes o = Project(ray->origin), d = Project(ray->direction);
  const Float4 margin = Broadcast(rounding), one = Broadcast(1.0f);
  // A direction that is almost parallel to a slab is turned, by less than the margin.
  const Float4 least = Broadcast(1.0e-12f);
  ray->enter_low = {o.first + margin, o.second + margin};
  ray->enter_high = {o.first - margin, o.second - margin};
  ray->inverse = {one / AwayFromZero(d.first, least), one / AwayFromZero(d.second, least)};
}

// Returns false if the ray misses the sphere around the body.
bool PlaceRay(const CollisionBody& body, const LocalRay& ray, CullingRay* out) {
  const Vec3& middle = body.state.middle;
  const double to_middle[3] = {double(middle.x) - ray.origin[0], double(middle.y) - ray.origin[1],
                               double(middle.z) - ray.origin[2]};
  const double along = to_middle[0] * ray.direction[0] + to_middle[1] * ray.direction[1] +
                       to_middle[2] * ray.direction[2];
  double o[3], miss2 = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double miss = to_middle[i] - along * ray.direction[i];
    miss2 += miss * miss;
    o[i] = ray.origin[i] + along * ray.direction[i];
  }
  // Far away, double loses the digits of the miss; the slabs then decide alone.
  const double rounding = 1.0e-12 * (std::fabs(along) + double(body.state.radius));
  const double most = 1.0001 * double(body.state.radius) + rounding;
  if (miss2 > most * most) return false;
  const float radius = static_cast<float>(1.001 * most);
  out->origin = {static_cast<float>(o[0]), static_cast<float>(o[1]), static_cast<float>(o[2])};
  out->direction = {static_cast<float>(ray.direction[0]), static_cast<float>(ray.direction[1]),
                    static_cast<float>(ray.direction[2])};
  out->shift = along;
  out->slack = 16.0f * kEpsilon * radius + static_cast<float>(rounding);
  out->begin =
      static_cast<float>(std::clamp(-along, -double(radius), 2.0 * double(radius))) - out->slack;
  out->end = radius;
  MakeSlabs(kSlabRounding * (body.state.reach + SumNorm(out->origin) + radius) +
                static_cast<float>(rounding),
            out);
  return true;
}

// Value of s at which the ray enters the volume, or kNothingThere.
float Enter(const CullingRay& ray, const Dop14& volume, float end) {
  const Float4 low = (Load4(volume.low) - ray.enter_low.first) * ray.inverse.first;
  const Float4 high = (Load4(volume.high) - ray.enter_high.first) * ray.inverse.first;
  const Float4 low2 = (Load4(volume.low + 4) - ray.enter_low.second) * ray.inverse.second;
  const Float4 high2 = (Load4(volume.high + 4) - ray.enter_high.second) * ray.inverse.second;
  const auto [enter, exit] =
      Extremes(Max(Min(low, high), Min(low2, high2)), Min(Max(low, high), Max(low2, high2)));
  const float from = std::max(enter, ray.begin);
  return from <= std::min(exit, end) + ray.slack ? from : kNothingThere;
}

// The ray in a tet's barycentric coordinates, and the tet's nodes in the ray's coordinates.
struct TetRay {
  Float4 enter_low, enter_high, inverse;  // slabs of the stored bounds
  Float4 u[4], v[4];  // coordinates of each node across the ray, in all lanes [m]
  Float4 margin;      // margin of an edge function of u and v [m^2]
  TetLanes nodes;
};

void PlaceSlabs(const CullingRay& ray, const TetFrame& frame, TetRay* out) {
  const Float4 x = Load4(frame.x), y = Load4(frame.y), z = Load4(frame.z);
  const Float4 margin = Load4(frame.margin);
  const Float4 at = x * Broadcast(ray.origin.x) + y * Broadcast(ray.origin.y) +
                    z * Broadcast(ray.origin.z) + Load4(frame.offset);
  const Float4 slope = x * Broadcast(ray.direction.x) + y * Broadcast(ray.direction.y) +
                       z * Broadcast(ray.direction.z);
  // If almost parallel, the ray is turned, by less than a sixteenth of the margin across the body.
  const Float4 least = margin * Broadcast(0.0625f / ray.end);
  out->enter_low = at + margin;
  out->enter_high = at - margin - Broadcast(1.0f);  // a stored upper bound q means q + 1
  out->inverse = Broadcast(1.0f) / AwayFromZero(slope, least);
}

// Coordinates across the ray: those of ray_query.h, in float and about the culling ray's origin.
void PlaceNodes(const CullingRay& ray, const RayShear& shear, float reach,
                const std::array<Vec3, 4>& nodes, TetRay* out) {
  out->nodes = LanesOf(nodes);
  const float o[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
  const float sx = static_cast<float>(shear.sx), sy = static_cast<float>(shear.sy);
  float largest = 0.0f;
  for (int i = 0; i < 4; ++i) {
    const float* x = &nodes[static_cast<size_t>(i)].x;
    const float z = x[shear.kz] - o[shear.kz];
    const float u = x[shear.kx] - o[shear.kx] - sx * z, v = x[shear.ky] - o[shear.ky] - sy * z;
    largest = std::max(largest, std::fabs(u) + std::fabs(v));
    out->u[i] = Broadcast(u);
    out->v[i] = Broadcast(v);
  }
  // A corner's position across the ray errs by less than 48 epsilon reach, here and in the exact
  // test together. An edge function errs by twice that times the coordinates.
  const float place = 48.0f * kEpsilon * reach;
  out->margin = Broadcast(2.0f * place * (largest + place));
}

// Whether the ray may meet a triangle with these corners, by the signs of its edge functions.
bool MayMeet(const TetRay& ray, const Vec4& a, const Vec4& b, const Vec4& c) {
  Float4 x = Load4(&a.x), y = Load4(&b.x), z = Load4(&c.x), w = x;
  Transpose4(&x, &y, &z, &w);  // the weights of one node, for corners a, b, c, a
  const Float4 u = x * ray.u[0] + y * ray.u[1] + z * ray.u[2] + w * ray.u[3];
  const Float4 v = x * ray.v[0] + y * ray.v[1] + z * ray.v[2] + w * ray.v[3];
  const Float4 edges = u * Shuffle<1, 2, 3, 3>(v, v) - v * Shuffle<1, 2, 3, 3>(u, u);
  return LeastOf(edges + ray.margin) >= 0.0f || GreatestOf(edges - ray.margin) <= 0.0f;
}

// Value of s at which the ray enters the stored bounds, or kNothingThere.
float EnterBounds(const CullingRay& ray, const TetRay& local, uint64_t bounds, float end) {
  const Float4 low = BytesToFloats(static_cast<uint32_t>(bounds));
  const Float4 high = BytesToFloats(static_cast<uint32_t>(bounds >> 32));
  const Float4 a = (low - local.enter_low) * local.inverse;
  const Float4 b = (high - local.enter_high) * local.inverse;
  const auto [enter, exit] = Extremes(Min(a, b), Max(a, b));
  const float from = std::max(enter, ray.begin);
  return from <= std::min(exit, end) + ray.slack ? from : kNothingThere;
}

template <class Record>
class RaySearch {
 public:
  RaySearch(const CollisionBody& body, std::span<const Record> triangles, const LocalRay& ray,
            void* user, RayHitCallback callback)
      : body_(body),
        triangles_(triangles),
        ray_(ray),
        shear_(MakeRayShear(ray, double(body.state.reach))),
        user_(user),
        callback_(callback),
        max_t_(ray.max_t) {}

  void Run() {
    if (!body_.state.bounded) {
      for (uint32_t t = 0; t < body_.surface.tets.size(); ++t) TestTet(t);
      return;
    }
    if (!PlaceRay(body_, ray_, &culling_)) return;
    UpdateEnd();
    WalkTetTree(
        body_.surface.tree,
        [&](uint32_t node) { return Enter(culling_, body_.state.volumes[node], end_); },
        [&] { return end_ + culling_.slack; }, [&](uint32_t tet) { VisitTet(tet); });
  }

 private:
  // Tests all triangles of a tet without a usable frame.
  void TestTet(uint32_t tet) {
    local_.nodes = LanesOf(NodesOf(body_.surface.tets[tet], body_.x));
    ForTrianglesOf(body_.surface, tet,
                   [&](uint32_t patch, uint32_t i) { TestTriangle(tet, patch, i); });
  }

  void VisitTet(uint32_t tet) {
    const TetFrame& frame = body_.state.frames[tet];
    if (!body_.state.has_frames || !frame.usable()) return TestTet(tet);
    PlaceSlabs(culling_, frame, &local_);
    bool placed = false;
    const uint32_t end = PatchesEnd(body_.surface, tet);
    for (uint32_t patch = body_.surface.tets[tet].first_patch; patch < end; ++patch) {
      WalkPatchTree(
          body_.surface.patches[patch].first_triangle, TrianglesEnd(body_.surface, patch),
          kTestedAtOnce,
          [&](uint32_t i) { return EnterBounds(culling_, local_, BoundsOf(triangles_[i]), end_); },
          [&] { return end_ + culling_.slack; },
          [&](uint32_t i) {
            if (!placed) {
              PlaceNodes(culling_, shear_, body_.state.reach,
                         NodesOf(body_.surface.tets[tet], body_.x), &local_);
              placed = true;
            }
            const std::span<const Vec4> weights = body_.surface.vertices;
            if (MayMeet(local_, weights[VertexOf(triangles_[i], 0)],
                        weights[VertexOf(triangles_[i], 1)], weights[VertexOf(triangles_[i], 2)])) {
              TestTriangle(tet, patch, i);
            }
          });
    }
  }

  void TestTriangle(uint32_t tet, uint32_t patch, uint32_t triangle) {
    const std::array<Float4, 3> corners =
        CornersOf(local_.nodes, body_.surface.vertices, triangles_[triangle]);
    TriangleHit hit;
    if (!MeetTriangle(shear_, corners.data(), &hit) || !(hit.t >= 0.0 && hit.t <= max_t_)) return;
    max_t_ =
        callback_(user_, {triangle, patch, tet, hit.t, {hit.part[0], hit.part[1], hit.part[2]}});
    UpdateEnd();
  }

  void UpdateEnd() {
    const double end = double(culling_.end);
    end_ = static_cast<float>(
        std::clamp(max_t_ - culling_.shift + double(culling_.slack), -2.0 * end, end));
  }

  const CollisionBody& body_;
  std::span<const Record> triangles_;
  const LocalRay& ray_;
  RayShear shear_;
  void* user_;
  RayHitCallback callback_;
  double max_t_;      // search limit along the ray
  float end_ = 0.0f;  // the same on the culling ray
  CullingRay culling_;
  TetRay local_;  // of the tet being visited
};

}  // namespace

void ForHits(const CollisionBody& body, const LocalRay& ray, void* user, RayHitCallback callback) {
  if (body.surface.tets.empty()) return;
  WithTriangles(body.surface, [&](const auto& triangles) {
    RaySearch(body, triangles, ray, user, callback).Run();
  });
}

bool Raycast(const CollisionBody& body, const LocalRay& ray, SurfaceHit* out_hit) {
  SurfaceHit nearest;
  ForHits(body, ray, &nearest, KeepNearest);
  if (nearest.triangle == kNoTriangle) return false;
  *out_hit = nearest;
  return true;
}

}  // namespace plush
