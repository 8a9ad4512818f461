// SPDX-License-Identifier: MIT
// Source: collider_mesh.h.
#include "colliders/collider_mesh.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace plush {
namespace {

// Corners on which rounding has little effect: a share of lengths.
constexpr float kOverlap = 4.0e-6f;

}  // namespace

uint32_t TriangleSource::num_triangles() const {
  if (mesh != nullptr) return static_cast<uint32_t>(mesh->triangles.size());
  return 2 * (field.columns - 1) * (field.rows - 1);
}

void TriangleSource::Corners(uint32_t triangle, Vec3* corners) const {
  if (mesh != nullptr) {
    std::ranges::copy(CornersOf(*mesh, triangle), corners);
    return;
  }
  const uint32_t cell = triangle / 2, in_row = field.columns - 1;
  const uint32_t column = cell % in_row, row = cell / in_row;
  const auto corner = [&](uint32_t right, uint32_t down) {
    const size_t at = size_t{row + down} * field.columns + column + right;
    return Vec3{field.spacing * static_cast<float>(column + right), field.heights[at],
                field.spacing * static_cast<float>(row + down)};
  };
  corners[0] = corner(0, 0);
  corners[1] = triangle % 2 == 0 ? corner(0, 1) : corner(1, 1);
  corners[2] = triangle % 2 == 0 ? corner(1, 1) : corner(1, 0);
}

uint32_t TriangleSource::Neighbour(uint32_t triangle, int k) const {
  if (mesh != nullptr) return mesh->triangles[triangle].neighbours[k];
  const uint32_t cell = triangle / 2, in_row = field.columns - 1;
  const bool is_first = triangle % 2 == 0;
  if (k == (is_first ? 2 : 0)) return triangle ^ 1u;  // across the diagonal
  if (is_first) {
    if (k == 0) return cell % in_row > 0 ? triangle - 1 : kNoTriangle;
    return cell / in_row + 2 < field.rows ? triangle + 2 * in_row + 1 : kNoTriangle;
  }
  if (k == 1) return cell % in_row + 1 < in_row ? triangle + 1 : kNoTriangle;
  return cell / in_row > 0 ? triangle - 2 * in_row - 1 : kNoTriangle;
}

// Writes the corners of a triangle in the coordinates of a mesh (3 x 1 each), and before rounding.
static inline void CornersOf(const ColliderMesh& mesh, uint32_t triangle, Vec3* corners,
                             double (&exact)[3][3]) {
  const auto place = [&](const Vec3& at, int k) {
    exact[k][0] = (at.x - mesh.anchor[0]) * mesh.unit;
    exact[k][1] = (at.y - mesh.anchor[1]) * mesh.unit;
    exact[k][2] = (at.z - mesh.anchor[2]) * mesh.unit;
    corners[k] = {static_cast<float>(exact[k][0]), static_cast<float>(exact[k][1]),
                  static_cast<float>(exact[k][2])};
  };
  if (mesh.source->mesh != nullptr) {
    const StaticMeshView& view = *mesh.source->mesh;
    const uint32_t* vertices = view.triangles[triangle].vertices;
    for (int k = 0; k < 3; ++k) place(view.positions[vertices[k]], k);
    return;
  }
  Vec3 own[3];
  mesh.source->Corners(triangle, own);
  for (int k = 0; k < 3; ++k) place(own[k], k);
}

void ColliderMesh::Corners(uint32_t triangle, Vec3* corners) const {
  double exact[3][3];
  CornersOf(*this, triangle, corners, exact);
}

MeshFace ColliderMesh::Face(uint32_t index) const {
  MeshFace face;
  face.index = index & ~1u;
  double exact[3][3];
  CornersOf(*this, index / 2, face.corners, exact);
  // In double: on a flat floor, the normals of all triangles are the same, or bodies would bump.
  double a[3], b[3];
  for (int axis = 0; axis < 3; ++axis) {
    a[axis] = exact[1][axis] - exact[0][axis];
    b[axis] = exact[2][axis] - exact[0][axis];
  }
  const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0]};
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (length > 0.0) {
    face.normal = {static_cast<float>(n[0] / length), static_cast<float>(n[1] / length),
                   static_cast<float>(n[2] / length)};
  }
  return face.index == index ? face : face.Back();
}

// Floats round on the way to the mesh's coordinates, on the way back, and in the tree.
MeshBox ColliderMesh::BoxOf(const Vec3& low, const Vec3& high) const {
  constexpr double kRounding = 4.0 * std::numeric_limits<float>::epsilon();
  const auto place = [&](float x, int axis, double sign) {
    const double at = double(x) / unit;
    const double rounding = kRounding * (std::fabs(at) + std::fabs(anchor[axis]));
    return static_cast<float>(at + anchor[axis] + sign * rounding);
  };
  return {{place(low.x, 0, -1.0), place(low.y, 1, -1.0), place(low.z, 2, -1.0)},
          {place(high.x, 0, 1.0), place(high.y, 1, 1.0), place(high.z, 2, 1.0)}};
}

ColliderMesh::Cells ColliderMesh::CellsOf(const Vec3& low, const Vec3& high) const {
  const HeightFieldShape& field = source->field;
  // A cell more on both sides if the box ends close to its border.
  constexpr double kRounding = 1.0e-5;
  const auto range = [&](double from, double to, double origin, uint32_t count, uint32_t* out) {
    const double cells = count - 1, spacing = field.spacing;
    const double first = std::floor((from / unit + origin) / spacing - kRounding);
    const double last = std::floor((to / unit + origin) / spacing + kRounding);
    out[0] = first > 0.0 ? static_cast<uint32_t>(std::fmin(first, cells)) : 0;
    out[1] = last >= 0.0 ? static_cast<uint32_t>(std::fmin(last + 1.0, cells)) : 0;
  };
  Cells cells;
  range(low.x, high.x, anchor[0], field.columns, cells.columns);
  range(low.z, high.z, anchor[2], field.rows, cells.rows);
  return cells;
}

bool ColliderMesh::HasTriangles(const Vec3& low, const Vec3& high) const {
  bool has = false;
  ForTriangles(low, high, [&](uint32_t) {
    has = true;
    return false;
  });
  return has;
}

// The triangle of a height field right above a point, or none.
NearestPoint ColliderMesh::TriangleRightAbove(const Vec3& point) const {
  NearestPoint above;
  if (source->mesh != nullptr) return above;
  const Cells cells = CellsOf(point, point);
  for (uint32_t row = cells.rows[0]; row < cells.rows[1]; ++row) {
    for (uint32_t column = cells.columns[0]; column < cells.columns[1]; ++column) {
      const uint32_t cell = row * (source->field.columns - 1) + column;
      for (const uint32_t triangle : {2 * cell, 2 * cell + 1}) {
        const MeshFace face = Face(2 * triangle);
        const float gap = face.Gap(point);
        if (gap >= 0.0f || !(face.normal.y > 0.0f)) continue;
        const Vec3 on_plane = {point.x, point.y - gap / face.normal.y, point.z};
        if (!IsAbove(face, on_plane)) continue;
        above = {face.index, std::sqrt(SquaredDistance(face, point)), gap, face.normal};
      }
    }
  }
  return above;
}

void NearestFace::Visit(MeshFace face) {
  constexpr float kSameDistance = 1.0e-6f;  // as a share of the distance, and of the triangle
  if (IsZero(face.normal)) return;
  const float towards = front_ != nullptr ? Dot(face.normal, *front_) : face.Gap(point_);
  if (has_two_sides_ && towards < 0.0f) face = face.Back();
  if (front_ != nullptr && !(Dot(face.normal, *front_) > 0.0f)) return;
  const float gap = face.Gap(point_), length = Length(face.corners[1] - face.corners[0]);
  // No point of the triangle is nearer than its plane: most long triangles are too far.
  constexpr float kRounding = 1.0e-4f;
  if (std::fabs(gap) * (1.0f - kRounding) > nearest_.distance + kRounding * length) return;
  const float distance = std::sqrt(SquaredDistance(face, point_));
  const float same = kSameDistance * (distance + length);
  const bool is_first = nearest_.face == kNoTriangle;
  const bool is_nearer =
      is_first ? distance <= nearest_.distance : distance < nearest_.distance - same;
  const bool is_as_near =
      !is_first && distance <= nearest_.distance + same && std::fabs(gap) > std::fabs(nearest_.gap);
  if (!is_nearer && !is_as_near) return;
  nearest_ = {face.index, std::fmin(distance, nearest_.distance), gap, face.normal};
}

// On a fine mesh most triangles in reach are farther away than the nearest one: looks near the
// point first. Boxes of long triangles are near all points: then it looks at all in reach next.
NearestPoint ColliderMesh::FindNearest(const Vec3& point, float reach, const Vec3* front) const {
  constexpr float kShares[] = {0.0625f, 0.25f, 1.0f};  // of the reach
  constexpr uint32_t kMany = 32;
  constexpr float kRoom = 1.0e-5f;  // more than those differ that count as equally near
  constexpr float kSure = 0.999f;   // farther away, another one may count as equally near
  NearestPoint above = TriangleRightAbove(point);
  if (above.face != kNoTriangle && front != nullptr && !(Dot(above.normal, *front) > 0.0f)) {
    above = {};
  }
  for (size_t i = 0;;) {
    const bool is_last = i + 1 == std::size(kShares);
    const float within = kShares[i] * reach;
    NearestFace search(point, within, front, source->has_two_sides());
    if (above.face != kNoTriangle && (is_last || above.distance <= within)) search.StartFrom(above);
    const MeshBox near = MeshBox{point, point}.Around(within);
    uint32_t count = 0;
    ForTriangles(near.low, near.high, [&](uint32_t triangle) {
      Vec3 corners[3];
      Corners(triangle, corners);
      const float most = search.nearest().distance * (1.0f + kRoom);
      if (BoxAround(corners).SquaredDistance(point) <= most * most) {
        search.Visit(Face(2 * triangle));
      }
      return ++count < kMany || is_last;
    });
    const NearestPoint& nearest = search.nearest();
    const bool is_sure = nearest.face != kNoTriangle && nearest.distance < kSure * within;
    if (is_last || (is_sure && count < kMany)) return nearest;
    i = count < kMany ? i + 1 : std::size(kShares) - 1;
  }
}

// [Ericson, Real-Time Collision Detection, 5.1.5]
Vec3 NearestTo(const MeshFace& face, const Vec3& point) {
  const auto& [a, b, c] = face.corners;
  const Vec3 ab = b - a, ac = c - a, ap = point - a;
  const float d1 = Dot(ab, ap), d2 = Dot(ac, ap);
  if (d1 <= 0.0f && d2 <= 0.0f) return a;
  const Vec3 bp = point - b;
  const float d3 = Dot(ab, bp), d4 = Dot(ac, bp);
  if (d3 >= 0.0f && d4 <= d3) return b;
  const float vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) return a + ab * (d1 / (d1 - d3));
  const Vec3 cp = point - c;
  const float d5 = Dot(ab, cp), d6 = Dot(ac, cp);
  if (d6 >= 0.0f && d5 <= d6) return c;
  const float vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) return a + ac * (d2 / (d2 - d6));
  const float va = d3 * d6 - d5 * d4;
  if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
    return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
  }
  return point - face.normal * face.Gap(point);
}

float SquaredDistance(const MeshFace& face, const Vec3& point) {
  const Vec3 way = point - NearestTo(face, point);
  return Dot(way, way);
}

bool IsAbove(const MeshFace& face, const Vec3& point) {
  for (int k = 0; k < 3; ++k) {
    const Vec3& from = face.corners[k];
    const Vec3 edge = face.corners[(k + 1) % 3] - from, to_point = point - from;
    const float length = Length(edge);
    const float inwards = Dot(Cross(face.normal, edge), to_point);  // times the edge's length
    if (inwards < -kOverlap * length * (length + Length(to_point))) return false;
  }
  return true;
}

void WayToMesh::Visit(const MeshFace& front) {
  MeshFace face = front;
  if (inside_ != nullptr) {
    const float gap = front.Gap(from_);
    if ((std::fabs(gap) <= slop_ ? front.Gap(*inside_) : gap) < 0.0f) face = front.Back();
  }
  const float end = face.Gap(to_);
  if (!(end < -depth_)) return;
  const float start = face.Gap(from_);
  if (start < 0.0f && inside_ == nullptr) return;
  const float share = start > 0.0f ? start / (start - end) : 0.0f;
  if (share >= first_ || !IsAbove(face, from_ + (to_ - from_) * share)) return;
  first_ = share;
  hit_ = {face.index, start, end};
}

}  // namespace plush
