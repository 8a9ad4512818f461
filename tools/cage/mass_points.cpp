// SPDX-License-Identifier: MIT
// Cuts lines through each tet into stretches. The triangles at the ends of a stretch tell whether
// it lies inside. A stretch without ends is compared with the nearest that has some: it lies on the
// other side if an odd number of triangles is between them.
#include "cage/mass_points.h"

#include "lattice/cage_boundary.h"
#include "lattice/material_walk.h"
#include "mesh/box3.h"
#include "solid/triangle_tet_overlap.h"

#include <Eigen/Dense>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace plush::tools {
namespace {

// Places of lines along each axis, for all tets that the surface passes through; half of them miss
// their tet. The bounds of their number along each side of a tet's box.
constexpr double kPlaces = 40'000.0;
constexpr int kFewestPlaces = 4;
constexpr int kMostPlaces = 32;

// The same for all tets if triangles do not tell where the solid is, and the parts of each line.
constexpr double kPlacesOfOpen = 10'000.0;
constexpr int kParts = 4;

// A line passes its part of the grid at an irregular place, so that it misses the vertices of
// models with round coordinates.
constexpr double kPlaceU = 0.5437;
constexpr double kPlaceV = 0.4719;
// Bound of the rounding of a place between lines.
constexpr double kNear = 1e-6;

// The triangles that pass through each tet, ascending. Each triangle is followed across faces from
// the tets of its corners. If a face leads to several strands, the triangle enters those of its
// corners, or the first strand if it has no corner there.
std::vector<std::vector<uint32_t>> FollowTriangles(const SolidSurface& surface, const TetMesh& mesh,
                                                   std::span<const uint32_t> tet_of_point) {
  const CageFaces faces = FindCageFaces(mesh);
  std::vector<std::vector<uint32_t>> passing(mesh.tets.size());
  std::vector<uint32_t> reached;
  const auto reach = [&](uint32_t tet) {
    const bool is_new = std::find(reached.begin(), reached.end(), tet) == reached.end();
    if (is_new) reached.push_back(tet);
  };
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    const std::array<Vec3d, 3> corners = surface.CornersOf(t);
    reached.clear();
    for (const uint32_t point : surface.triangles[t]) {
      if (tet_of_point[point] < mesh.tets.size()) reach(tet_of_point[point]);
    }
    const size_t num_sources = reached.size();
    for (size_t next = 0; num_sources > 1 && next < reached.size(); ++next) {
      for (size_t face = 0; face < 4; ++face) {
        if (faces.neighbours[reached[next]][face] == kBoundaryFace) continue;
        const auto [i, j, k] = FaceOf(mesh.tets[reached[next]], face);
        const bool is_behind = std::ranges::all_of(corners, [&](const Vec3d& corner) {
          return SixVolume(mesh.nodes[i], mesh.nodes[j], mesh.nodes[k], corner) < 0.0;
        });
        if (is_behind) continue;
        const std::vector<uint32_t> across = faces.Across(mesh, reached[next], face);
        const auto sources = reached.begin() + static_cast<std::ptrdiff_t>(num_sources);
        if (std::find_first_of(reached.begin(), sources, across.begin(), across.end()) != sources) {
          continue;
        }
        if (TriangleMayTouchTet(corners, CornersOf(mesh, across[0]))) reach(across[0]);
      }
    }
    for (const uint32_t tet : reached) passing[tet].push_back(t);
  }
  return passing;
}

// A point on a line along an axis, where the line crosses a triangle.
struct Crossing {
  double at = 0.0;      // beyond the line's own point [m]
  bool enters = false;  // the solid, going up the axis
};

// Decides by signs that two triangles with a common edge agree on.
std::optional<Crossing> CrossingOf(const SolidSurface& surface, uint32_t t, const Vec3d& point,
                                   int axis) {
  const auto& ids = surface.triangles[t];
  const int u = (axis + 1) % 3;
  const int v = (axis + 2) % 3;
  std::array<bool, 3> is_left = {};
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t from = ids[k];
    const uint32_t to = ids[(k + 1) % 3];
    const Vec3d& a = surface.points[std::min(from, to)];
    const Vec3d& b = surface.points[std::max(from, to)];
    const double side = (b[u] - a[u]) * (point[v] - a[v]) - (b[v] - a[v]) * (point[u] - a[u]);
    is_left[k] = (side >= 0.0) == (from < to);
  }
  if (is_left[0] != is_left[1] || is_left[1] != is_left[2]) return std::nullopt;
  const auto [a, b, c] = surface.CornersOf(t);
  const Vec3d normal = Cross(b - a, c - a);
  if (normal[axis] == 0.0) return std::nullopt;
  return Crossing{Dot(normal, a - point) / normal[axis], normal[axis] < 0.0};
}

struct Point {
  std::array<double, 4> weights = {};
  double volume = 0.0;
};

// The part of a line between two crossings, or ends of the tet.
struct Stretch {
  Point point;
  Vec3d middle;
  bool is_known = false;  // it has a crossing at an end
  bool is_inside = false;
};

class TetFiller {
 public:
  // `is_oriented`: the triangles' sides tell where the solid is. `num_places`: of lines along each
  // side of a tet's box.
  TetFiller(const SolidSurface& surface, const InsideTest& inside, const TetMesh& mesh,
            bool is_oriented, int num_places)
      : surface_(surface),
        inside_(inside),
        mesh_(mesh),
        is_oriented_(is_oriented),
        num_places_(num_places) {}

  // The points of tet `t`, through which these triangles pass.
  std::vector<Point> Fill(size_t t, const std::vector<uint32_t>& passing) const {
    const TetCorners corners = CornersOf(mesh_, t);
    if (passing.empty() && is_oriented_) {
      const Vec3d centre = (corners[0] + corners[1] + corners[2] + corners[3]) * 0.25;
      if (!inside_.IsInside(centre)) return {};
      return {{{0.25, 0.25, 0.25, 0.25}, TetVolume(corners)}};
    }
    std::vector<Box3> boxes(passing.size());
    for (size_t i = 0; i < boxes.size(); ++i) {
      for (const Vec3d& corner : surface_.CornersOf(passing[i])) boxes[i].Add(corner);
    }
    std::vector<Stretch> stretches;
    for (int axis = 0; axis < 3; ++axis) AddLines(corners, axis, passing, boxes, &stretches);
    Decide(corners, passing, boxes, &stretches);
    std::vector<Point> points;
    for (const Stretch& stretch : stretches) {
      if (stretch.is_inside) points.push_back(stretch.point);
    }
    return points;
  }

 private:
  // Cuts lines along `axis` into stretches. The lengths of all lines stand for a third of the
  // tet's volume.
  void AddLines(const TetCorners& corners, int axis, const std::vector<uint32_t>& passing,
                const std::vector<Box3>& boxes, std::vector<Stretch>* stretches) const {
    const int u = (axis + 1) % 3;
    const int v = (axis + 2) % 3;
    Box3 box;
    for (const Vec3d& corner : corners) box.Add(corner);
    const Vec3d step = box.Extent() / num_places_;
    const auto place = [&](int i, int j) {
      Vec3d point = box.low;
      point[u] += (i + kPlaceU) * step[u];
      point[v] += (j + kPlaceV) * step[v];
      return point;
    };
    // The place of a coordinate between lines, from -1 to their number.
    const auto at = [&](double coordinate, int along, double shift) {
      const double where = (coordinate - box.low[along]) / step[along] - shift;
      return std::clamp(where, -1.0, double(num_places_));
    };
    std::vector<std::vector<Crossing>> cuts(static_cast<size_t>(num_places_ * num_places_));
    for (size_t k = 0; k < passing.size(); ++k) {
      const auto& [low, high] = boxes[k];
      const auto first_i = static_cast<int>(std::ceil(at(low[u], u, kPlaceU) - kNear));
      const auto first_j = static_cast<int>(std::ceil(at(low[v], v, kPlaceV) - kNear));
      const auto last_i = static_cast<int>(std::floor(at(high[u], u, kPlaceU) + kNear));
      const auto last_j = static_cast<int>(std::floor(at(high[v], v, kPlaceV) + kNear));
      for (int i = std::max(0, first_i); i <= std::min(last_i, num_places_ - 1); ++i) {
        for (int j = std::max(0, first_j); j <= std::min(last_j, num_places_ - 1); ++j) {
          const std::optional<Crossing> crossing =
              CrossingOf(surface_, passing[k], place(i, j), axis);
          if (crossing) cuts[static_cast<size_t>(i * num_places_ + j)].push_back(*crossing);
        }
      }
    }
    const size_t first = stretches->size();
    double length = 0.0;
    for (int i = 0; i < num_places_; ++i) {
      for (int j = 0; j < num_places_; ++j) {
        length += AddLine(corners, place(i, j), axis,
                          &cuts[static_cast<size_t>(i * num_places_ + j)], stretches);
      }
    }
    for (size_t i = first; i < stretches->size(); ++i) {
      (*stretches)[i].point.volume *= TetVolume(corners) / (3.0 * length);
    }
  }

  // Cuts the line through `point` into stretches, whose volumes are their lengths. Returns the
  // length of the line in the tet [m].
  double AddLine(const TetCorners& corners, const Vec3d& point, int axis,
                 std::vector<Crossing>* cuts, std::vector<Stretch>* stretches) const {
    const std::array<double, 4> weights = BarycentricWeights(point, corners);
    std::array<double, 4> slopes = {};  // of the weights along the line [1/m]
    double low = -HUGE_VAL;
    double high = HUGE_VAL;
    for (size_t k = 0; k < 4; ++k) {
      const auto& [a, b, c] = kTetFaces[k];
      slopes[k] = -Cross(corners[b] - corners[a], corners[c] - corners[a])[axis] /
                  (6.0 * TetVolume(corners));
      if (slopes[k] > 0.0) low = std::max(low, -weights[k] / slopes[k]);
      if (slopes[k] < 0.0) high = std::min(high, -weights[k] / slopes[k]);
      if (slopes[k] == 0.0 && weights[k] < 0.0) return 0.0;
    }
    if (!(high > low)) return 0.0;
    std::erase_if(*cuts, [&](const Crossing& cut) { return cut.at <= low || cut.at >= high; });
    // Where triangles do not end the solid, stretches are short instead.
    for (int i = 1; i < kParts && !is_oriented_; ++i) {
      cuts->push_back({low + (high - low) * i / kParts, false});
    }
    std::sort(cuts->begin(), cuts->end(),
              [](const Crossing& x, const Crossing& y) { return x.at < y.at; });
    for (size_t i = 0; i <= cuts->size(); ++i) {
      const double from = i == 0 ? low : (*cuts)[i - 1].at;
      const double to = i == cuts->size() ? high : (*cuts)[i].at;
      const double at = 0.5 * (from + to);
      Stretch& stretch = stretches->emplace_back();
      for (size_t k = 0; k < 4; ++k) {
        stretch.point.weights[k] = std::max(0.0, weights[k] + at * slopes[k]);
      }
      stretch.point.volume = to - from;
      stretch.middle = point;
      stretch.middle[axis] += at;
      stretch.is_known = !cuts->empty();
      stretch.is_inside =
          (i > 0 && (*cuts)[i - 1].enters) || (i < cuts->size() && !(*cuts)[i].enters);
    }
    return high - low;
  }

  // Decides which stretches are inside, as far as their ends have not.
  void Decide(const TetCorners& corners, const std::vector<uint32_t>& passing,
              const std::vector<Box3>& boxes, std::vector<Stretch>* stretches) const {
    std::vector<const Stretch*> known;
    for (const Stretch& stretch : *stretches) {
      if (is_oriented_ && stretch.is_known) known.push_back(&stretch);
    }
    for (Stretch& stretch : *stretches) {
      if (is_oriented_ && stretch.is_known) continue;
      if (known.empty()) {
        stretch.is_inside = inside_.IsInside(stretch.middle);
        continue;
      }
      const auto square = [&](const Stretch* other) {
        return LengthSquared(other->middle - stretch.middle);
      };
      const Stretch* nearest = *std::ranges::min_element(known, {}, square);
      Box3 between;
      between.Add(stretch.middle);
      between.Add(nearest->middle);
      std::vector<std::array<Vec3d, 3>> triangles;
      for (size_t k = 0; k < passing.size(); ++k) {
        if (boxes[k].Overlaps(between)) triangles.push_back(surface_.CornersOf(passing[k]));
      }
      const size_t count = MaterialWalk(corners, triangles, inside_)
                               .CrossingsOf(stretch.middle, nearest->middle)
                               .size();
      stretch.is_inside = nearest->is_inside != (count % 2 == 1);
    }
  }

  const SolidSurface& surface_;
  const InsideTest& inside_;
  const TetMesh& mesh_;
  const bool is_oriented_;
  const int num_places_;
};

// Multiplies the volumes by 1 + a + b . y, y the place relative to the solid's centre, so that
// their sum and their first moments are the solid's.
void MatchMoments(const SolidMeasure& solid, const TetMesh& mesh, MassPoints* points) {
  if (!(solid.volume > 0.0)) return;
  const Vec3d centre = solid.moment / solid.volume;
  std::vector<Eigen::Vector4d> rows;  // (1, y)
  Eigen::Matrix4d matrix = Eigen::Matrix4d::Zero();
  Eigen::Vector4d lacking(solid.volume, 0.0, 0.0, 0.0);
  for (size_t i = 0; i < points->tets.size(); ++i) {
    const TetCorners corners = CornersOf(mesh, points->tets[i]);
    Vec3d y = -centre;
    for (size_t k = 0; k < 4; ++k) y += corners[k] * points->weights[i][k];
    rows.emplace_back(1.0, y.x, y.y, y.z);
    matrix += points->volumes[i] * rows.back() * rows.back().transpose();
    lacking -= points->volumes[i] * rows.back();
  }
  const Eigen::Vector4d change = matrix.ldlt().solve(lacking);
  for (size_t i = 0; i < rows.size(); ++i) {
    points->volumes[i] *= std::max(0.0, 1.0 + rows[i].dot(change));
  }
}

}  // namespace

MassPoints SpreadSolid(const SolidSurface& surface, const InsideTest& inside, const TetMesh& mesh,
                       std::span<const uint32_t> tet_of_point, const SolidMeasure& solid) {
  const auto passing = FollowTriangles(surface, mesh, tet_of_point);
  const bool is_oriented = surface.closed && !(solid.overlap > 0.0);
  const auto num_cut = std::ranges::count_if(
      passing, [&](const auto& triangles) { return !is_oriented || !triangles.empty(); });
  const double places = std::sqrt((is_oriented ? kPlaces : kPlacesOfOpen) /
                                  static_cast<double>(std::max(decltype(num_cut){1}, num_cut)));
  const TetFiller filler(surface, inside, mesh, is_oriented,
                         std::clamp(static_cast<int>(places), kFewestPlaces, kMostPlaces));
  std::vector<std::vector<Point>> filled(mesh.tets.size());
  tbb::parallel_for(size_t{0}, filled.size(),
                    [&](size_t t) { filled[t] = filler.Fill(t, passing[t]); });
  MassPoints points;
  for (uint32_t t = 0; t < filled.size(); ++t) {
    for (const Point& point : filled[t]) {
      points.tets.push_back(t);
      points.weights.push_back(point.weights);
      points.volumes.push_back(point.volume);
    }
  }
  MatchMoments(solid, mesh, &points);
  return points;
}

std::vector<std::array<double, 4>> CornerVolumes(const MassPoints& points, size_t num_tets) {
  std::vector<std::array<double, 4>> volumes(num_tets, {0.0, 0.0, 0.0, 0.0});
  for (size_t i = 0; i < points.tets.size(); ++i) {
    for (size_t k = 0; k < 4; ++k) {
      volumes[points.tets[i]][k] += points.volumes[i] * points.weights[i][k];
    }
  }
  return volumes;
}

}  // namespace plush::tools
