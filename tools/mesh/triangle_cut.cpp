// SPDX-License-Identifier: MIT
// Cuts a triangle by a tet, by orientation signs alone: no coordinate is computed.
// Source: Herbert Edelsbrunner, Ernst Peter Muecke. Simulation of Simplicity. 1990
//
// The polygon's sides lie on seven lines: the triangle's three edges, and the intersections of its
// plane with the tet's four faces. At each corner, a side on one line ends and a side on another
// starts.
#include "mesh/triangle_cut.h"

#include "mesh/exact_predicates.h"
#include "mesh/tet_mesh.h"

#include <algorithm>
#include <utility>

namespace plush::tools {
namespace {

// Sign of the dot product of the plane's normal with the vector (e, e^2, e^3).
int SignAlongNormal(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  for (int axis = 0; axis < 3; ++axis) {
    if (const int sign = Orient2dSign(a, b, c, axis); sign != 0) return sign;
  }
  return 1;  // no plane
}

// 1 if the normal of the surface's triangle (p, q, r) points to the cage's node `n`, else -1. The
// triangle has a positive area.
int SideOfSurfacePlane(const Vec3d& p, const Vec3d& q, const Vec3d& r, const Vec3d& n) {
  const int sign = Orient3dSign(p, q, r, n);
  return sign != 0 ? sign : -SignAlongNormal(p, q, r);
}

// On which side the surface's edge pq passes the cage's edge ab: the sign of SixVolume(p, q, a, b).
// 0 only if the edges are parallel and in one plane; then they do not cross.
int PassingSide(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b) {
  if (const int sign = Orient3dSign(p, q, a, b); sign != 0) return sign;
  // If pq moves by d, the volume changes by exactly d . ((q - p) x (b - a)).
  for (int axis = 0; axis < 3; ++axis) {
    if (const int sign = CrossComponentSign(p, q, a, b, axis); sign != 0) return sign;
  }
  return 0;
}

// The tet's edge between corners j < k. (j, k, first, second) is positively oriented.
struct TetEdge {
  uint8_t j;
  uint8_t k;
  uint8_t first;
  uint8_t second;
};
constexpr std::array<TetEdge, 6> kTetEdges = {
    {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}}};

constexpr int8_t kUnknown = 2;
constexpr uint8_t kNoLine = 255;

class Cutter {
 public:
  Cutter(const std::array<Vec3d, 3>& triangle, const TetCorners& tet)
      : triangle_(triangle), tet_(tet) {
    for (auto& row : passing_) row.fill(kUnknown);
  }

  std::optional<TriangleCut> Run() {
    bool is_whole = true;
    for (size_t f = 0; f < 4; ++f) {
      const auto& [a, b, c] = kTetFaces[f];
      int sum = 0;
      for (size_t i = 0; i < 3; ++i) {
        inside_[i][f] = SideOfCagePlane(tet_[a], tet_[b], tet_[c], triangle_[i]) < 0;
        sum += inside_[i][f] ? 1 : 0;
      }
      if (sum == 0) return TriangleCut{};
      is_whole = is_whole && sum == 3;
    }
    if (is_whole) return Whole();
    AddTriangleCorners();
    AddEdgeFaces();
    AddTetEdges();
    return Chain();
  }

 private:
  static TriangleCut Whole() {
    TriangleCut cut;
    for (uint8_t i = 0; i < 3; ++i) {
      cut.corners[i] = {CutCorner::Kind::kCorner, i, 0};
      cut.lines[i] = i;
    }
    cut.count = 3;
    return cut;
  }

  // On which side edge i of the triangle passes the tet's edge from corner j to k.
  int Passing(size_t i, size_t j, size_t k) {
    const auto [low, high] = std::minmax(j, k);
    int8_t& sign = passing_[i][4 * low + high];
    if (sign == kUnknown) {
      sign = static_cast<int8_t>(
          PassingSide(triangle_[i], triangle_[(i + 1) % 3], tet_[low], tet_[high]));
    }
    return j < k ? sign : -sign;
  }

  // Adds a corner where a side on line `ends` ends and a side on line `starts` starts.
  void Add(const CutCorner& corner, uint8_t ends, uint8_t starts) {
    if (count_ == corners_.size() || at_end_[ends] != kNoLine || at_start_[starts] != kNoLine) {
      broken_ = true;
      return;
    }
    at_end_[ends] = count_;
    at_start_[starts] = count_;
    starts_[count_] = starts;
    corners_[count_++] = corner;
  }

  void AddTriangleCorners() {
    for (uint8_t i = 0; i < 3; ++i) {
      if (!inside_[i][0] || !inside_[i][1] || !inside_[i][2] || !inside_[i][3]) continue;
      Add({CutCorner::Kind::kCorner, i, 0}, static_cast<uint8_t>((i + 2) % 3), i);
    }
  }

  void AddEdgeFaces() {
    for (uint8_t i = 0; i < 3; ++i) {
      for (uint8_t f = 0; f < 4; ++f) {
        const bool leaves = inside_[i][f];
        if (leaves == inside_[(i + 1) % 3][f]) continue;
        const auto& [a, b, c] = kTetFaces[f];
        const int side = Passing(i, a, b);
        if (Passing(i, b, c) != side || Passing(i, c, a) != side) continue;
        const auto face = static_cast<uint8_t>(kFaceLine + f);
        const CutCorner corner = {CutCorner::Kind::kEdgeFace, i, f};
        leaves ? Add(corner, i, face) : Add(corner, face, i);
      }
    }
  }

  void AddTetEdges() {
    std::array<bool, 4> above = {};
    for (size_t j = 0; j < 4; ++j) {
      above[j] = SideOfSurfacePlane(triangle_[0], triangle_[1], triangle_[2], tet_[j]) > 0;
    }
    for (auto [j, k, first, second] : kTetEdges) {
      if (above[j] == above[k]) continue;
      const int side = Passing(0, j, k);
      if (Passing(1, j, k) != side || Passing(2, j, k) != side) continue;
      // Seen from above, counter-clockwise around the edge, the tet reaches from the face
      // opposite `second` to the face opposite `first`.
      if (above[j]) std::swap(first, second);
      Add({CutCorner::Kind::kTetEdge, j, k}, static_cast<uint8_t>(kFaceLine + first),
          static_cast<uint8_t>(kFaceLine + second));
    }
  }

  // Follows the sides around the polygon.
  std::optional<TriangleCut> Chain() const {
    if (broken_) return std::nullopt;
    TriangleCut cut;
    if (count_ == 0) return cut;
    uint8_t at = 0;
    do {
      cut.corners[cut.count] = corners_[at];
      cut.lines[cut.count] = starts_[at];
      ++cut.count;
      at = at_end_[starts_[at]];
      if (at == kNoLine) return std::nullopt;
    } while (at != 0 && cut.count < count_);
    if (at != 0 || cut.count != count_ || count_ < 3) return std::nullopt;
    return cut;
  }

  const std::array<Vec3d, 3>& triangle_;
  const TetCorners& tet_;
  std::array<std::array<bool, 4>, 3> inside_ = {};
  std::array<std::array<int8_t, 16>, 3> passing_;
  std::array<CutCorner, 7> corners_;
  std::array<uint8_t, 7> starts_ = {};
  std::array<uint8_t, 7> at_end_ = {kNoLine, kNoLine, kNoLine, kNoLine, kNoLine, kNoLine, kNoLine};
  std::array<uint8_t, 7> at_start_ = at_end_;
  uint8_t count_ = 0;
  bool broken_ = false;
};

}  // namespace

int SideOfCagePlane(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p) {
  const int sign = Orient3dSign(a, b, c, p);
  return sign != 0 ? sign : SignAlongNormal(a, b, c);
}

std::optional<TriangleCut> CutTriangle(const std::array<Vec3d, 3>& triangle,
                                       const TetCorners& tet) {
  return Cutter(triangle, tet).Run();
}

}  // namespace plush::tools
