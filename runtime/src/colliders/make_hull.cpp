// SPDX-License-Identifier: MIT
// Makes the convex hull of points: quickhull [Barber, Dobkin and Huhdanpaa, The Quickhull Algorithm
// for Convex Hulls, 1996], by brute force: there are few points.
//
// The points are rounded to a grid of 2^19 to 2^20 cells, on which all decisions are exact in 64
// bits. So the triangles are closed and convex, also if many points are in a plane. Triangles that
// differ by rounding then get one plane. Each plane moves out to the highest point, so that it
// holds all.
#include "colliders/hull.h"
#include "collision/double_vector.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace plush {
namespace {

constexpr uint16_t kNone = UINT16_MAX;
constexpr int32_t kCells = 1 << 20;  // along the longest side
constexpr double kFlat = 4.0;        // [cells]

// A point on the grid, or a difference, in cells.
struct GridVector {
  int64_t x = 0, y = 0, z = 0;
};

GridVector operator-(const GridVector& a, const GridVector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
int64_t Dot(const GridVector& a, const GridVector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
GridVector Cross(const GridVector& a, const GridVector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
DoubleVector InDouble(const GridVector& v) { return {double(v.x), double(v.y), double(v.z)}; }
double LengthOf(const GridVector& v) { return std::sqrt(Dot(InDouble(v), InDouble(v))); }

struct Face {
  HullTriangle triangle;
  GridVector normal;  // its length is twice the area
  GridVector corner;
  double area = 0.0;  // twice [cells^2]
  bool exists = false;
  bool is_seen = false;  // by the point that is being added

  // The volume below a point: above 0 if it sees the face. At most 3 kCells^3.
  int64_t Volume(const GridVector& p) const { return Dot(normal, p - corner); }
  double Height(const GridVector& p) const { return double(Volume(p)) / area; }
};

// A point that is not in the hull yet, and the face that it is highest above.
struct Outside {
  uint16_t point = 0;
  uint16_t face = kNone;
  double height = 0.0;
};

// An edge between a face that a point sees and one that it does not.
struct HorizonEdge {
  uint16_t from = 0, to = 0;
  uint16_t beyond = 0;  // the face that it does not see
};

class HullBuilder {
 public:
  // `cell` and `rounding` of the points [m].
  bool Allocate(const Allocator& allocator, std::span<Vec3> points, double cell, double rounding);
  bool Start();  // false: the points are flat
  bool Grow();   // false never, unless there is a mistake here
  uint32_t MergePlanes();
  bool Write(const Allocator& allocator, uint32_t num_planes, Hull* hull) const;

 private:
  size_t HighestOutside() const;
  bool AddPoint(const Outside& added);
  void SeeFrom(const Outside& added);
  bool FindHorizon();
  uint16_t MakeFace(uint16_t a, uint16_t b, uint16_t c);
  void UpdateOutside();
  template <class Score>
  uint16_t Best(const Score& score) const;

  double rounding_ = 0.0;  // of the points [cells]
  Array<GridVector> points_;
  Array<Face> faces_;  // room for all that exist at once
  Array<Outside> outside_;
  size_t num_outside_ = 0;
  Array<uint16_t> seen_, made_;  // faces, by the point that is being added
  size_t num_seen_ = 0, num_made_ = 0;
  Array<HorizonEdge> horizon_;
  size_t num_horizon_ = 0;
};

// Moves the points to the grid.
bool HullBuilder::Allocate(const Allocator& allocator, std::span<Vec3> points, double cell,
                           double rounding) {
  const size_t count = points.size(), most_faces = 2 * count;
  if (!points_.Allocate(allocator, count) || !faces_.Allocate(allocator, most_faces) ||
      !outside_.Allocate(allocator, count) || !seen_.Allocate(allocator, most_faces) ||
      !made_.Allocate(allocator, most_faces) || !horizon_.Allocate(allocator, 3 * most_faces)) {
    return false;
  }
  rounding_ = 1.0 + rounding / cell;
  const auto on_grid = [cell](float x) {
    return static_cast<int64_t>(std::floor(double(x) / cell + 0.5));
  };
  for (size_t i = 0; i < count; ++i) {
    const GridVector& p =
        points_[i] = {on_grid(points[i].x), on_grid(points[i].y), on_grid(points[i].z)};
    points[i] = {static_cast<float>(double(p.x) * cell), static_cast<float>(double(p.y) * cell),
                 static_cast<float>(double(p.z) * cell)};
  }
  return true;
}

// The first point with the greatest score.
template <class Score>
uint16_t HullBuilder::Best(const Score& score) const {
  size_t best = 0;
  for (size_t i = 1; i < points_.size(); ++i) {
    if (score(points_[i]) > score(points_[best])) best = i;
  }
  return static_cast<uint16_t>(best);
}

// A tetrahedron.
bool HullBuilder::Start() {
  const uint16_t a = Best([](const GridVector& p) { return -double(p.x); });
  const auto from_a = [&](const GridVector& p) { return p - points_[a]; };
  const uint16_t b = Best([&](const GridVector& p) { return LengthOf(from_a(p)); });
  const GridVector along = from_a(points_[b]);
  const uint16_t c = Best([&](const GridVector& p) { return LengthOf(Cross(along, from_a(p))); });
  const GridVector normal = Cross(along, from_a(points_[c]));
  const double area = LengthOf(normal);
  if (!(area > kFlat * rounding_ * LengthOf(along))) return false;
  const uint16_t d =
      Best([&](const GridVector& p) { return std::fabs(double(Dot(normal, from_a(p)))); });
  const double height = double(Dot(normal, from_a(points_[d]))) / area;
  if (!(std::fabs(height) > kFlat * rounding_)) return false;
  const uint16_t corners[4] = {a, height < 0.0 ? b : c, height < 0.0 ? c : b, d};
  constexpr int kFaces[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
  for (const int(&face)[3] : kFaces) {
    MakeFace(corners[face[0]], corners[face[1]], corners[face[2]]);
  }
  constexpr uint16_t kNeighbours[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  for (size_t f = 0; f < 4; ++f) {
    std::copy_n(kNeighbours[f], 3, faces_[f].triangle.neighbours);
  }
  for (size_t i = 0; i < points_.size(); ++i) outside_[i].point = static_cast<uint16_t>(i);
  num_outside_ = points_.size();
  UpdateOutside();
  return true;
}

bool HullBuilder::Grow() {
  while (num_outside_ > 0) {
    if (!AddPoint(outside_[HighestOutside()])) return false;
  }
  return true;
}

// A corner of the hull: the highest point above any face; of equally high ones, the farthest out.
size_t HullBuilder::HighestOutside() const {
  size_t highest = 0;
  for (size_t i = 1; i < num_outside_; ++i) {
    if (outside_[i].height > outside_[highest].height) highest = i;
  }
  const Outside& first = outside_[highest];
  double farthest = -1.0;
  for (size_t i = 0; i < num_outside_; ++i) {
    const GridVector& p = points_[outside_[i].point];
    const double distance = LengthOf(p);
    if (faces_[first.face].Height(p) >= first.height - 1.0 && distance > farthest) {
      farthest = distance;
      highest = i;
    }
  }
  return highest;
}

// Replaces the faces that the point sees by triangles from their border to it.
bool HullBuilder::AddPoint(const Outside& outside) {
  const Outside added = outside;
  SeeFrom(added);
  if (!FindHorizon()) return false;
  for (size_t i = 0; i < num_seen_; ++i) faces_[seen_[i]] = {};
  num_made_ = num_horizon_;
  for (size_t i = 0; i < num_horizon_; ++i) {
    const HorizonEdge& edge = horizon_[i];
    const uint16_t f = made_[i] = MakeFace(edge.from, edge.to, added.point);
    HullTriangle& beyond = faces_[edge.beyond].triangle;
    const auto corner = std::ranges::find(beyond.corners, edge.to) - beyond.corners;
    beyond.neighbours[corner] = f;
    faces_[f].triangle.neighbours[0] = edge.beyond;
  }
  for (size_t i = 0; i < num_horizon_; ++i) {
    const size_t next = (i + 1) % num_horizon_;
    faces_[made_[i]].triangle.neighbours[1] = made_[next];
    faces_[made_[next]].triangle.neighbours[2] = made_[i];
  }
  UpdateOutside();
  return true;
}

// Finds the faces that the point is above, from one to the next.
void HullBuilder::SeeFrom(const Outside& added) {
  const GridVector& p = points_[added.point];
  num_seen_ = 0;
  const auto see = [&](uint16_t f) {
    faces_[f].is_seen = true;
    seen_[num_seen_++] = f;
  };
  see(added.face);
  for (size_t i = 0; i < num_seen_; ++i) {
    for (const uint16_t f : faces_[seen_[i]].triangle.neighbours) {
      if (!faces_[f].is_seen && faces_[f].Volume(p) > 0) see(f);
    }
  }
}

// Finds the border of the seen faces, edge after edge. Returns false if it is not a single loop
// without a point twice.
bool HullBuilder::FindHorizon() {
  num_horizon_ = 0;
  for (size_t i = 0; i < num_seen_; ++i) {
    const HullTriangle& seen = faces_[seen_[i]].triangle;
    for (int k = 0; k < 3; ++k) {
      if (faces_[seen.neighbours[k]].is_seen) continue;
      horizon_[num_horizon_++] = {seen.corners[k], seen.corners[(k + 1) % 3], seen.neighbours[k]};
    }
  }
  const auto end = horizon_.begin() + num_horizon_;
  for (auto edge = horizon_.begin(); edge != end; ++edge) {
    const auto next = std::find_if(
        edge + 1, end, [&](const HorizonEdge& other) { return other.from == edge->to; });
    if (edge + 1 == end) return edge->to == horizon_[0].from;
    if (next == end || edge->to == horizon_[0].from) return false;
    std::swap(*(edge + 1), *next);
  }
  return false;
}

uint16_t HullBuilder::MakeFace(uint16_t a, uint16_t b, uint16_t c) {
  uint16_t f = 0;
  while (faces_[f].exists) ++f;
  Face& face = faces_[f];
  face = {};
  face.exists = true;
  face.triangle = {{a, b, c}, {}, kNone};
  face.corner = points_[a];
  face.normal = Cross(points_[b] - points_[a], points_[c] - points_[a]);
  face.area = LengthOf(face.normal);
  return f;
}

// Finds the highest faces of points again if they may have changed; drops points inside.
void HullBuilder::UpdateOutside() {
  size_t kept = 0;
  for (size_t i = 0; i < num_outside_; ++i) {
    Outside point = outside_[i];
    const auto consider = [&](uint16_t f) {
      const double height = faces_[f].exists ? faces_[f].Height(points_[point.point]) : 0.0;
      if (height <= point.height) return;
      point.height = height;
      point.face = f;
    };
    const bool is_lost = point.face == kNone || std::find(seen_.begin(), seen_.begin() + num_seen_,
                                                          point.face) != seen_.begin() + num_seen_;
    if (is_lost) {
      point.height = 0.0;
      for (size_t f = 0; f < faces_.size(); ++f) consider(static_cast<uint16_t>(f));
    } else {
      for (size_t k = 0; k < num_made_; ++k) consider(made_[k]);
    }
    if (point.height > 0.0) outside_[kept++] = point;
  }
  num_outside_ = kept;
}

// Gives each face its plane: that of the largest one of which it is a part, which goes to `made_`.
// Returns how many there are.
uint32_t HullBuilder::MergePlanes() {
  uint16_t num_planes = 0;
  for (;; ++num_planes) {
    size_t largest = faces_.size();
    for (size_t f = 0; f < faces_.size(); ++f) {
      if (!faces_[f].exists || faces_[f].triangle.plane != kNone) continue;
      if (largest == faces_.size() || faces_[f].area > faces_[largest].area) largest = f;
    }
    if (largest == faces_.size()) return num_planes;
    const Face plane = faces_[largest];
    const auto is_part = [&](const Face& face) {
      return face.triangle.plane == kNone &&
             std::ranges::all_of(face.triangle.corners, [&](uint16_t corner) {
               return plane.Height(points_[corner]) >= -2.0 * rounding_;
             });
    };
    size_t count = 0;
    const auto take = [&](uint16_t f) {
      Face& face = faces_[f];
      face.triangle.plane = num_planes;
      face.normal = plane.normal;
      face.area = plane.area;
      seen_[count++] = f;
    };
    made_[num_planes] = static_cast<uint16_t>(largest);
    take(static_cast<uint16_t>(largest));
    for (size_t i = 0; i < count; ++i) {
      for (const uint16_t f : faces_[seen_[i]].triangle.neighbours) {
        if (is_part(faces_[f])) take(f);
      }
    }
  }
}

bool HullBuilder::Write(const Allocator& allocator, uint32_t num_planes, Hull* hull) const {
  const auto exists = [](const Face& face) { return face.exists; };
  const auto num_triangles = static_cast<size_t>(std::ranges::count_if(faces_, exists));
  const uint32_t stride =
      (num_planes + Hull::kPlanesAtOnce - 1) / Hull::kPlanesAtOnce * Hull::kPlanesAtOnce;
  Array<uint16_t> numbers;  // of the faces that exist
  if (!hull->triangles.Allocate(allocator, num_triangles) ||
      !hull->planes.Allocate(allocator, size_t{4} * stride) ||
      !hull->largest_triangles.Allocate(allocator, num_planes, kNone) ||
      !numbers.Allocate(allocator, faces_.size())) {
    return false;
  }
  hull->num_planes = num_planes;
  uint16_t count = 0;
  for (size_t f = 0; f < faces_.size(); ++f) {
    numbers[f] = count;
    if (faces_[f].exists) hull->triangles[count++] = faces_[f].triangle;
  }
  double thinnest = std::numeric_limits<double>::infinity();
  for (size_t f = 0; f < faces_.size(); ++f) {
    if (!faces_[f].exists) continue;
    const DoubleVector n = InDouble(faces_[f].normal) * (1.0 / faces_[f].area);
    HullTriangle& triangle = hull->triangles[numbers[f]];
    for (uint16_t& neighbour : triangle.neighbours) neighbour = numbers[neighbour];
    if (hull->largest_triangles[triangle.plane] != kNone) continue;
    hull->largest_triangles[triangle.plane] = numbers[made_[triangle.plane]];
    const Vec3 normal = {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)};
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    for (const Vec3& p : hull->points) {
      const double height = Dot(InDouble(normal), InDouble(p));
      highest = std::max(highest, height);
      lowest = std::min(lowest, height);
    }
    thinnest = std::min(thinnest, highest - lowest);
    const float numbers_of_plane[4] = {normal.x, normal.y, normal.z, static_cast<float>(highest)};
    for (uint32_t k = 0; k < 4; ++k) {
      hull->planes[k * stride + triangle.plane] = numbers_of_plane[k];
    }
  }
  for (uint32_t i = num_planes; i < stride; ++i) {
    for (uint32_t k = 0; k < 4; ++k) hull->planes[k * stride + i] = hull->planes[k * stride];
  }
  hull->thickness = static_cast<float>(0.5 * thinnest);
  return true;
}

// Writes the points, the middle of their bounding box and half of its size. Returns the cell of the
// grid and the rounding of the given coordinates [m].
std::pair<double, double> PlacePoints(std::span<const Vec3> given, Hull* hull) {
  double largest = 0.0, longest = 0.0;
  float* const reach = &hull->reach.x;
  for (int k = 0; k < 3; ++k) {
    const auto coordinate = [k](const Vec3& p) { return double((&p.x)[k]); };
    const auto [low, high] = std::ranges::minmax(given, {}, coordinate);
    hull->centre[k] = 0.5 * (coordinate(low) + coordinate(high));
    largest = std::max({largest, std::fabs(coordinate(low)), std::fabs(coordinate(high))});
    longest = std::max(longest, coordinate(high) - coordinate(low));
    for (size_t i = 0; i < given.size(); ++i) {
      float& at = (&hull->points[i].x)[k];
      at = static_cast<float>(coordinate(given[i]) - hull->centre[k]);
      reach[k] = std::fmax(reach[k], std::fabs(at));
    }
  }
  std::ranges::copy(given, hull->given.begin());
  constexpr double kRounding = 1.2e-7;  // of a float
  // A power of two: floats have the points of the grid without rounding.
  double cell = 1.0;
  while (cell * kCells < longest) cell *= 2.0;
  while (cell * kCells >= 2.0 * longest && longest > 0.0) cell *= 0.5;
  return {longest > 0.0 ? cell : 0.0, kRounding * largest};
}

constexpr Status kNoMemory = {StatusCode::kOutOfMemory, "hull.points", "", 0};

Status FillHull(const Allocator& allocator, std::span<const Vec3> given, Hull* hull) {
  hull->code = &kHullCode;
  if (!hull->given.Allocate(allocator, given.size()) ||
      !hull->points.Allocate(allocator, given.size())) {
    return kNoMemory;
  }
  const auto [cell, rounding] = PlacePoints(given, hull);
  if (!(cell > 0.0)) return {StatusCode::kInvalidArgument, "hull.points", "are flat"};
  HullBuilder builder;
  if (!builder.Allocate(allocator, hull->points.span(), cell, rounding)) return kNoMemory;
  if (!builder.Start()) return {StatusCode::kInvalidArgument, "hull.points", "are flat"};
  if (!builder.Grow()) {
    return {StatusCode::kInvalidArgument, "hull.points", "differ too little for a hull"};
  }
  return builder.Write(allocator, builder.MergePlanes(), hull) ? Status{} : kNoMemory;
}

}  // namespace

Status MakeHull(const Allocator& allocator, std::span<const Vec3> points, Hull** out_hull) {
  *out_hull = nullptr;
  const auto is_far = [](float x) { return !(std::fabs(x) <= kMostColliderSize); };
  if (points.size() < kLeastHullPoints || points.size() > kMostHullPoints) {
    return {StatusCode::kInvalidArgument, "hull.points", "must be 4 to 256"};
  }
  for (size_t i = 0; i < points.size(); ++i) {
    if (is_far(points[i].x) || is_far(points[i].y) || is_far(points[i].z)) {
      return {StatusCode::kInvalidArgument, "hull.points", "must be finite and at most 1e6", i};
    }
  }
  Hull* hull = NewObject<Hull>(allocator);
  if (hull == nullptr) return kNoMemory;
  const Status filled = FillHull(allocator, points, hull);
  if (filled.ok()) {
    *out_hull = hull;
  } else {
    DeleteObject(allocator, hull);
  }
  return filled;
}

}  // namespace plush
