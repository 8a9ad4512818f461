// SPDX-License-Identifier: MIT
// Walks a static mesh's tree, nearer children first, and decides triangles in double.
#include "collision/static_mesh_query.h"

#include "collision/double_vector.h"
#include "collision/static_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

// A box's ends along the axes, in double.
struct DoubleBox {
  double low[3], high[3];
};

// The box that the cells of a child cover, widened by more than the rounding of StaticGrid::CellOf.
DoubleBox BoxOf(const StaticGrid& grid, const StaticNode& node, uint32_t child) {
  constexpr double kMargin = 1.0e-6;  // cells
  const double start[3] = {grid.low.x, grid.low.y, grid.low.z};
  DoubleBox box;
  for (int axis = 0; axis < 3; ++axis) {
    const double scale = grid.cells_per_metre[axis];
    const double cell = scale > 0.0 ? 1.0 / scale : 0.0;
    const double first = node.low[axis][child];
    const double last = double(UINT16_MAX) - node.flipped_high[axis][child];
    box.low[axis] = start[axis] + (first - kMargin) * cell;
    box.high[axis] = start[axis] + (last + 1.0 + kMargin) * cell;
  }
  return box;
}

// Visits leaves, nearer ones first. bound(box) is a lower bound of any result in the box, or
// kNothing. Skips what is beyond limit(). visit(t) tests a triangle and may lower the limit.
template <class Bound, class Limit, class Visit>
void WalkStaticTree(const StaticMeshView& mesh, Bound bound, Limit limit, Visit visit) {
  struct Waiting {
    uint32_t level, index;  // a node of a level; at the level after the last, a leaf
    double bound;
  };
  // A node leaves at most all its children but one behind on each level.
  Waiting waiting[(kStaticChildren - 1) * kMaxStaticLevels + 1];
  uint32_t num_waiting = 0;
  if (!mesh.tree.empty()) waiting[num_waiting++] = {0, 0, 0.0};
  const auto num_triangles = static_cast<uint32_t>(mesh.triangles.size());
  while (num_waiting > 0) {
    const Waiting now = waiting[--num_waiting];
    if (!(now.bound <= limit())) continue;
    if (now.level == mesh.levels.count) {
      const uint32_t end = std::min(kStaticLeafTriangles * (now.index + 1), num_triangles);
      for (uint32_t t = kStaticLeafTriangles * now.index; t < end; ++t) visit(t);
      continue;
    }
    const StaticNode& node = mesh.tree[mesh.levels.begin[now.level] + now.index];
    const uint32_t first = num_waiting;
    for (uint32_t child = 0; child < kStaticChildren; ++child) {
      if (node.low[0][child] > kLastStaticCell) continue;  // there is none
      const double nearest = bound(BoxOf(mesh.grid, node, child));
      if (!(nearest <= limit())) continue;
      // Sorted: the nearest last.
      uint32_t at = num_waiting++;
      for (; at > first && waiting[at - 1].bound < nearest; --at) waiting[at] = waiting[at - 1];
      waiting[at] = {now.level + 1, kStaticChildren * now.index + child, nearest};
    }
  }
}

// A line, sheared so that it runs along its own longest axis.
struct ShearedLine {
  Vec3 origin;
  double direction[3];
  int kx, ky, kz;  // axes; kz is the longest of the direction
  double shear_x, shear_y, shear_z;

  ShearedLine(const Vec3& from, const Vec3& to) : origin(from) {
    const DoubleVector d = Difference(to, from);
    direction[0] = d.x;
    direction[1] = d.y;
    direction[2] = d.z;
    kz = 0;
    for (int axis = 1; axis < 3; ++axis) {
      if (std::fabs(direction[axis]) > std::fabs(direction[kz])) kz = axis;
    }
    kx = (kz + 1) % 3;
    ky = (kz + 2) % 3;
    if (direction[kz] < 0.0) std::swap(kx, ky);
    shear_x = direction[kx] / direction[kz];
    shear_y = direction[ky] / direction[kz];
    shear_z = 1.0 / direction[kz];
  }

  bool has_length() const { return direction[kz] != 0.0; }

  // Where the line enters the box, as a parameter in [0, 1], or kNothing.
  double Enter(const DoubleBox& box) const {
    const double start[3] = {origin.x, origin.y, origin.z};
    double enter = 0.0, exit = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
      if (direction[axis] == 0.0) {
        if (start[axis] < box.low[axis] || start[axis] > box.high[axis]) return kNothing;
        continue;
      }
      const double a = (box.low[axis] - start[axis]) / direction[axis];
      const double b = (box.high[axis] - start[axis]) / direction[axis];
      enter = std::max(enter, std::min(a, b));
      exit = std::min(exit, std::max(a, b));
    }
    // Each of the two has a relative error of less than 2^-51.
    return enter * (1.0 - 0x1p-50) <= exit * (1.0 + 0x1p-50) ? enter * (1.0 - 0x1p-50) : kNothing;
  }
};

// Improves `best` if the line hits triangle `t` before it.
void HitTriangle(const StaticMeshView& mesh, uint32_t t, const ShearedLine& line, MeshSides sides,
                 StaticHit* best) {
  double x[3], y[3], z[3];
  const std::array<Vec3, 3> corners = CornersOf(mesh, t);
  for (int k = 0; k < 3; ++k) {
    const DoubleVector d = Difference(corners[static_cast<size_t>(k)], line.origin);
    const double p[3] = {d.x, d.y, d.z};
    x[k] = p[line.kx] - line.shear_x * p[line.kz];
    y[k] = p[line.ky] - line.shear_y * p[line.kz];
    z[k] = line.shear_z * p[line.kz];
  }
  // Neighbours compute the same products for their common edge, so both get the same sign.
  const double u = x[2] * y[1] - y[2] * x[1];
  const double v = x[0] * y[2] - y[0] * x[2];
  const double w = x[1] * y[0] - y[1] * x[0];
  const bool from_front = u >= 0.0 && v >= 0.0 && w >= 0.0;
  const bool from_back = u <= 0.0 && v <= 0.0 && w <= 0.0;
  if (!from_front && (!from_back || sides != MeshSides::kBoth)) return;
  const double sum = u + v + w;
  if (sum == 0.0) return;
  const double parameter = (u * z[0] + v * z[1] + w * z[2]) / sum;
  if (!(parameter >= 0.0 && parameter <= 1.0)) return;
  if (best->valid() && !(parameter < best->parameter)) return;
  *best = {t, parameter, {ToFloat(u / sum), ToFloat(v / sum), ToFloat(w / sum)}, from_front};
}

struct NearestOnTriangle {
  double weights[3];
  StaticFeature feature;
  uint8_t corner;
};

// [Christer Ericson. Real-Time Collision Detection. 2005, 5.1.5]: by the regions of vertices and
// edges.
NearestOnTriangle NearestOn(const DoubleVector x[3]) {
  const auto minus = [](const DoubleVector& a, const DoubleVector& b) {
    return DoubleVector{a.x - b.x, a.y - b.y, a.z - b.z};
  };
  const DoubleVector ab = minus(x[1], x[0]), ac = minus(x[2], x[0]);
  // The queried point is the origin: -x[k] runs from corner k to it.
  const double d1 = -Dot(ab, x[0]), d2 = -Dot(ac, x[0]);
  if (d1 <= 0.0 && d2 <= 0.0) return {{1.0, 0.0, 0.0}, StaticFeature::kVertex, 0};
  const double d3 = -Dot(ab, x[1]), d4 = -Dot(ac, x[1]);
  if (d3 >= 0.0 && d4 <= d3) return {{0.0, 1.0, 0.0}, StaticFeature::kVertex, 1};
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    const double v = d1 / (d1 - d3);
    return {{1.0 - v, v, 0.0}, StaticFeature::kEdge, 0};
  }
  const double d5 = -Dot(ab, x[2]), d6 = -Dot(ac, x[2]);
  if (d6 >= 0.0 && d5 <= d6) return {{0.0, 0.0, 1.0}, StaticFeature::kVertex, 2};
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    const double w = d2 / (d2 - d6);
    return {{1.0 - w, 0.0, w}, StaticFeature::kEdge, 2};
  }
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
    const double w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return {{0.0, 1.0 - w, w}, StaticFeature::kEdge, 1};
  }
  const double sum = va + vb + vc;
  return {{va / sum, vb / sum, vc / sum}, StaticFeature::kFace, 0};
}

// Corners of triangle `t` relative to `origin`.
void CornersFrom(const StaticMeshView& mesh, uint32_t t, const Vec3& origin, DoubleVector x[3]) {
  const std::array<Vec3, 3> corners = CornersOf(mesh, t);
  for (size_t k = 0; k < 3; ++k) x[k] = Difference(corners[k], origin);
}

DoubleVector Weighted(const DoubleVector x[3], const double w[3]) {
  return {w[0] * x[0].x + w[1] * x[1].x + w[2] * x[2].x,
          w[0] * x[0].y + w[1] * x[1].y + w[2] * x[2].y,
          w[0] * x[0].z + w[1] * x[1].z + w[2] * x[2].z};
}

// Of length 1, or zero.
DoubleVector Unit(const DoubleVector& v) {
  const double size = std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)});
  if (!(size > 0.0)) return {0.0, 0.0, 0.0};
  const DoubleVector scaled = {v.x / size, v.y / size, v.z / size};
  return scaled * (1.0 / std::sqrt(Dot(scaled, scaled)));
}

void Add(const DoubleVector& v, DoubleVector* sum) {
  *sum = {sum->x + v.x, sum->y + v.y, sum->z + v.z};
}

// Edge from corner `k` of triangle `t` to the next corner.
DoubleVector EdgeOf(const StaticMeshView& mesh, uint32_t t, uint32_t k) {
  const std::array<Vec3, 3> corners = CornersOf(mesh, t);
  return Difference(corners[(k + 1) % 3], corners[k]);
}

DoubleVector FaceNormal(const StaticMeshView& mesh, uint32_t t) {
  return Unit(Cross(Unit(EdgeOf(mesh, t, 0)), Unit(EdgeOf(mesh, t, 1))));
}

// Angle at corner `k` [rad], to 1e-7, without a mathematical library: results must not depend on
// one. The angle is twice the arc tangent of |a - b| / |a + b| for unit edges a and b; three
// bisections make that small enough for its series.
double AngleAt(const StaticMeshView& mesh, uint32_t t, uint32_t k) {
  const DoubleVector a = Unit(EdgeOf(mesh, t, k)), b = Unit(EdgeOf(mesh, t, (k + 2) % 3)) * -1.0;
  const DoubleVector difference = {a.x - b.x, a.y - b.y, a.z - b.z};
  const DoubleVector sum = {a.x + b.x, a.y + b.y, a.z + b.z};
  double y = std::sqrt(Dot(difference, difference)), x = std::sqrt(Dot(sum, sum));
  for (int i = 0; i < 3; ++i) x += std::sqrt(x * x + y * y);
  if (!(x > 0.0)) return 0.0;
  const double r = y / x, r2 = r * r;
  return 16.0 * r * (1.0 - r2 * (1.0 / 3.0 - r2 * (1.0 / 5.0 - r2 * (1.0 / 7.0 - r2 / 9.0))));
}

uint32_t CornerWith(const StaticTriangle& triangle, uint32_t vertex) {
  return triangle.vertices[0] == vertex ? 0 : (triangle.vertices[1] == vertex ? 1 : 2);
}

// Adds angle times normal of the triangles that follow triangle `t` around `vertex`, across the
// edge that begins (side 0) or ends (side 2) there. Returns whether the fan comes back to `t`:
// links name each other, so it does unless it meets a border.
bool AddFan(const StaticMeshView& mesh, uint32_t t, uint32_t vertex, uint32_t side,
            DoubleVector* sum) {
  uint32_t now = t;
  for (;;) {
    const uint32_t edge = (CornerWith(mesh.triangles[now], vertex) + side) % 3;
    now = mesh.triangles[now].neighbours[edge];
    if (now == kNoTriangle) return false;
    if (now == t) return true;
    Add(FaceNormal(mesh, now) * AngleAt(mesh, now, CornerWith(mesh.triangles[now], vertex)), sum);
  }
}

DoubleVector PseudoNormal(const StaticMeshView& mesh, uint32_t t, StaticFeature feature,
                          uint32_t corner) {
  DoubleVector sum = FaceNormal(mesh, t);
  if (feature == StaticFeature::kEdge) {
    const uint32_t other = mesh.triangles[t].neighbours[corner];
    if (other != kNoTriangle) Add(FaceNormal(mesh, other), &sum);
  } else if (feature == StaticFeature::kVertex) {
    const uint32_t vertex = mesh.triangles[t].vertices[corner];
    sum = sum * AngleAt(mesh, t, corner);
    if (!AddFan(mesh, t, vertex, 0, &sum)) AddFan(mesh, t, vertex, 2, &sum);
  }
  return Unit(sum);
}

}  // namespace

StaticHit RaycastStaticMesh(const StaticMeshView& mesh, const Vec3& from, const Vec3& to,
                            MeshSides sides) {
  StaticHit best;
  const ShearedLine line(from, to);
  if (!line.has_length()) return best;
  WalkStaticTree(
      mesh, [&](const DoubleBox& box) { return line.Enter(box); },
      [&] { return best.valid() ? best.parameter : 1.0; },
      [&](uint32_t t) { HitTriangle(mesh, t, line, sides, &best); });
  return best;
}

StaticNearest NearestOfStaticMesh(const StaticMeshView& mesh, const Vec3& point,
                                  float max_distance) {
  const double p[3] = {point.x, point.y, point.z};
  double least = double(max_distance) * double(max_distance);
  StaticNearest found;
  NearestOnTriangle nearest = {};
  const auto bound = [&](const DoubleBox& box) {
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      const double away = std::max({box.low[axis] - p[axis], p[axis] - box.high[axis], 0.0});
      sum += away * away;
    }
    return sum * (1.0 - 0x1p-40);
  };
  const auto visit = [&](uint32_t t) {
    DoubleVector x[3];
    CornersFrom(mesh, t, point, x);
    const NearestOnTriangle here = NearestOn(x);
    const DoubleVector away = Weighted(x, here.weights);
    const double distance2 = Dot(away, away);
    if (!(found.valid() ? distance2 < least : distance2 <= least)) return;
    least = distance2;
    found.triangle = t;
    nearest = here;
  };
  WalkStaticTree(
      mesh, bound, [&] { return least; }, visit);
  if (!found.valid()) return found;
  DoubleVector x[3];
  CornersFrom(mesh, found.triangle, point, x);
  const DoubleVector away = Weighted(x, nearest.weights);
  const DoubleVector normal = PseudoNormal(mesh, found.triangle, nearest.feature, nearest.corner);
  found.feature = nearest.feature;
  found.corner = nearest.corner;
  found.point = {ToFloat(p[0] + away.x), ToFloat(p[1] + away.y), ToFloat(p[2] + away.z)};
  found.barycentrics = {ToFloat(nearest.weights[0]), ToFloat(nearest.weights[1]),
                        ToFloat(nearest.weights[2])};
  found.normal = {ToFloat(normal.x), ToFloat(normal.y), ToFloat(normal.z)};
  found.distance = ToFloat(std::sqrt(least));
  found.behind = Dot(normal, away) > 0.0;
  return found;
}

}  // namespace plush
