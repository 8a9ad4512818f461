// SPDX-License-Identifier: MIT
// Turns the pieces that WalkSurface finds into points, triangles and half-edges [Civ 5.4.1].
#include "partition/surface_clipping.h"

#include "enclosure/surface_walk.h"
#include "lattice/cage_boundary.h"
#include "mesh/tet_faces.h"
#include "mesh/tet_mesh.h"
#include "mesh/topology.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

namespace plush::tools {
namespace {

class Clipper {
 public:
  Clipper(const SolidSurface& surface, const TetMesh& mesh)
      : surface_(surface),
        mesh_(mesh),
        faces_(FindCageFaces(mesh)),
        face_ids_(BuildTetFaces(mesh.tets)),
        opposite_(PairHalfEdges(surface.points, surface.triangles)) {}

  ClippedSurface Run(std::span<const uint32_t> tet_of_point) {
    walk_ =
        WalkSurface(mesh_, faces_, surface_.points, surface_.triangles, opposite_, tet_of_point);
    result_.outside = std::move(walk_.outside);
    result_.torn = std::move(walk_.torn);
    if (!result_.outside.empty()) return std::move(result_);
    AddSurfacePoints();
    AddTriangles();
    Connect();
    result_.num_crossings = result_.surface.points.size() - surface_.points.size();
    return std::move(result_);
  }

 private:
  void AddSurfacePoints() {
    CutSurface& cut = result_.surface;
    cut.points = surface_.points;
    cut.carriers.resize(surface_.points.size());
    tbb::parallel_for(tbb::blocked_range<size_t>(0, walk_.tets.size(), 1024),
                      [&](const auto& range) {
                        for (size_t p = range.begin(); p < range.end(); ++p) {
                          if (walk_.tets[p] != kNotHeld)
                            cut.carriers[p] = InTet(walk_.tets[p], surface_.points[p]);
                        }
                      });
  }

  static void Normalise(Carrier* carrier) {
    double sum = 0.0;
    for (uint32_t i = 0; i < carrier->count; ++i) {
      carrier->weights[i] = std::max(carrier->weights[i], 0.0);
      sum += carrier->weights[i];
    }
    for (uint32_t i = 0; i < carrier->count; ++i) carrier->weights[i] /= sum;
  }

  Carrier InTet(uint32_t tet, const Vec3d& p) const {
    Carrier carrier = {mesh_.tets[tet], {}, 4};
    std::sort(carrier.nodes.begin(), carrier.nodes.end());
    // Sorting may turn the tet inside out. Weights are ratios, so the volume's sign does not
    // matter.
    TetCorners corners;
    for (size_t i = 0; i < 4; ++i) corners[i] = mesh_.nodes[carrier.nodes[i]];
    carrier.weights = BarycentricWeights(p, corners);
    Normalise(&carrier);
    return carrier;
  }

  // Adds the point at which edge `half_edge` crosses a face. Computes from the edge's lower point
  // to its higher one, so that both triangles get the same.
  uint32_t AddEdgeFacePoint(uint32_t half_edge, uint32_t tet, size_t corner) {
    const auto& ids = surface_.triangles[half_edge / 3];
    uint32_t from = ids[half_edge % 3];
    uint32_t to = ids[NextHalfEdge(half_edge) % 3];
    if (from > to) std::swap(from, to);
    auto nodes = FaceOf(mesh_.tets[tet], corner);
    std::sort(nodes.begin(), nodes.end());
    const Vec3d& a = mesh_.nodes[nodes[0]];
    const Vec3d& b = mesh_.nodes[nodes[1]];
    const Vec3d& c = mesh_.nodes[nodes[2]];
    const double before = SixVolume(a, b, c, surface_.points[from]);
    const double behind = SixVolume(a, b, c, surface_.points[to]);
    const double share = before != behind ? std::clamp(before / (before - behind), 0.0, 1.0) : 0.5;
    const Vec3d p = surface_.points[from] + (surface_.points[to] - surface_.points[from]) * share;
    const Vec3d normal = Cross(b - a, c - a);
    const double size = LengthSquared(normal);
    Carrier carrier = {
        {nodes[0], nodes[1], nodes[2], 0},
        {Dot(Cross(b - p, c - p), normal) / size, Dot(Cross(c - p, a - p), normal) / size,
         Dot(Cross(a - p, b - p), normal) / size, 0.0},
        3};
    Normalise(&carrier);
    return AddPoint(p, carrier);
  }

  // Adds the point at which an edge of the cage crosses a triangle.
  uint32_t AddTetEdgePoint(uint32_t triangle, uint32_t low, uint32_t high) {
    const auto& [i, j, k] = surface_.triangles[triangle];
    const auto& x = surface_.points;
    const double before = SixVolume(x[i], x[j], x[k], mesh_.nodes[low]);
    const double behind = SixVolume(x[i], x[j], x[k], mesh_.nodes[high]);
    const double share = before != behind ? std::clamp(before / (before - behind), 0.0, 1.0) : 0.5;
    return AddPoint(mesh_.nodes[low] * (1.0 - share) + mesh_.nodes[high] * share,
                    {{low, high, 0, 0}, {1.0 - share, share, 0.0, 0.0}, 2});
  }

  uint32_t AddPoint(const Vec3d& p, const Carrier& carrier) {
    result_.surface.points.push_back(p);
    result_.surface.carriers.push_back(carrier);
    return static_cast<uint32_t>(result_.surface.points.size() - 1);
  }

  // One name for both half-edges of an edge.
  uint32_t EdgeName(uint32_t half_edge) const {
    return std::min(half_edge, opposite_[half_edge]);  // kNoHalfEdge is the largest
  }

  // Point of an edge of the surface on a face; the same for both triangles at the edge.
  uint32_t EdgeFacePoint(uint32_t half_edge, uint32_t tet, size_t corner) {
    const uint64_t face = face_ids_.of_tet[tet][corner];
    const auto [point, is_new] = on_edges_.try_emplace(uint64_t{EdgeName(half_edge)} << 32 | face);
    if (is_new) point->second = AddEdgeFacePoint(half_edge, tet, corner);
    return point->second;
  }

  // Point of an edge of the cage in the current triangle; the same for all its pieces.
  uint32_t TetEdgePoint(uint32_t triangle, uint32_t a, uint32_t b) {
    const auto [low, high] = std::minmax({a, b});
    const auto [point, is_new] = in_triangle_.try_emplace({low, high});
    if (is_new) point->second = AddTetEdgePoint(triangle, low, high);
    return point->second;
  }

  uint32_t PointAt(uint32_t triangle, const TrianglePiece& piece, const CutCorner& corner) {
    switch (corner.kind) {
      case CutCorner::Kind::kEdgeFace:
        return EdgeFacePoint(3 * triangle + corner.first, piece.tet, corner.second);
      case CutCorner::Kind::kTetEdge:
        return TetEdgePoint(triangle, mesh_.tets[piece.tet][corner.first],
                            mesh_.tets[piece.tet][corner.second]);
      case CutCorner::Kind::kCorner:
        break;
    }
    return surface_.triangles[triangle][corner.first];
  }

  // A side of a polygon until its partner in the other direction is found.
  struct Side {
    uint32_t low = 0;  // points
    uint32_t high = 0;
    uint32_t line = 0;  // name of an edge of the surface, or the number of edges plus the
                        // triangle: two sheets of surface can share both points
    uint32_t half_edge = 0;

    bool Joins(const Side& o) const { return low == o.low && high == o.high && line == o.line; }
    auto operator<=>(const Side&) const = default;
  };

  void AddTriangle(uint32_t source, uint32_t tet, const std::array<uint32_t, 3>& points) {
    result_.surface.triangles.push_back(points);
    result_.surface.tets.push_back(tet);
    result_.surface.sources.push_back(source);
    result_.surface.opposite.insert(result_.surface.opposite.end(), 3, kNoHalfEdge);
  }

  // Smallest relative height of the triangles of a fan around corner `hub`.
  double FanQuality(const std::array<uint32_t, 7>& points, size_t count, size_t hub) const {
    double worst = 1.0;
    for (size_t i = 1; i + 1 < count; ++i) {
      const Vec3d& a = result_.surface.points[points[hub]];
      const Vec3d& b = result_.surface.points[points[(hub + i) % count]];
      const Vec3d& c = result_.surface.points[points[(hub + i + 1) % count]];
      const double longest =
          std::max({LengthSquared(b - a), LengthSquared(c - b), LengthSquared(a - c)});
      if (!(longest > 0.0)) return 0.0;
      worst = std::min(worst, Length(Cross(b - a, c - a)) / longest);
    }
    return worst;
  }

  // Triangulates a piece by its best fan and notes its outer sides.
  void AddPiece(uint32_t triangle, const TrianglePiece& piece) {
    const size_t count = piece.cut.count;
    std::array<uint32_t, 7> points = {};
    for (size_t i = 0; i < count; ++i) points[i] = PointAt(triangle, piece, piece.cut.corners[i]);
    size_t hub = 0;
    double best = -1.0;
    for (size_t i = 0; i < (count > 3 ? count : 0); ++i) {
      const double quality = FanQuality(points, count, i);
      if (quality > best) {
        best = quality;
        hub = i;
      }
    }
    const auto first = static_cast<uint32_t>(3 * result_.surface.triangles.size());
    for (size_t i = 1; i + 1 < count; ++i) {
      AddTriangle(triangle, piece.tet,
                  {points[hub], points[(hub + i) % count], points[(hub + i + 1) % count]});
    }
    const auto num_fan = static_cast<uint32_t>(count - 2);
    for (uint32_t i = 0; i + 1 < num_fan; ++i) {  // the diagonals
      result_.surface.opposite[first + 3 * i + 2] = first + 3 * (i + 1);
      result_.surface.opposite[first + 3 * (i + 1)] = first + 3 * i + 2;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const size_t corner = (hub + i) % count;
      const uint32_t half_edge = i == 0           ? first
                                 : i == count - 1 ? first + 3 * (num_fan - 1) + 2
                                                  : first + 3 * (i - 1) + 1;
      AddSide(triangle, piece.cut.lines[corner], points[corner], points[(corner + 1) % count],
              half_edge);
    }
  }

  void AddSide(uint32_t triangle, uint8_t line, uint32_t from, uint32_t to, uint32_t half_edge) {
    if (line < kFaceLine && from < surface_.points.size() && to < surface_.points.size()) {
      Join(3 * triangle + line, half_edge);
      return;
    }
    const auto num_edges = static_cast<uint32_t>(opposite_.size());
    const uint32_t name = line < kFaceLine ? EdgeName(3 * triangle + line) : num_edges + triangle;
    sides_.push_back({std::min(from, to), std::max(from, to), name, half_edge});
  }

  // Adds a triangle that lies in one tet. No points were added on its edges.
  void AddWhole(uint32_t t) {
    const auto first = static_cast<uint32_t>(3 * result_.surface.triangles.size());
    AddTriangle(t, walk_.tets[surface_.triangles[t][0]], surface_.triangles[t]);
    for (uint32_t k = 0; k < 3; ++k) Join(3 * t + k, first + k);
  }

  // Joins a side that is a whole edge of the surface with its opposite, if that exists already.
  void Join(uint32_t edge, uint32_t half_edge) {
    whole_edges_[edge] = half_edge;
    const uint32_t across = opposite_[edge];
    if (across == kNoHalfEdge || whole_edges_[across] == kNoHalfEdge) return;
    result_.surface.opposite[half_edge] = whole_edges_[across];
    result_.surface.opposite[whole_edges_[across]] = half_edge;
  }

  void AddTriangles() {
    whole_edges_.assign(opposite_.size(), kNoHalfEdge);
    size_t next_split = 0;
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      if (next_split == walk_.split.size() || walk_.split[next_split].triangle != t) {
        AddWhole(t);
        continue;
      }
      in_triangle_.clear();
      for (const TrianglePiece& piece : walk_.split[next_split].pieces) AddPiece(t, piece);
      ++next_split;
    }
  }

  // Joins sides. A side without a partner is a border of the surface, or a place where it is torn.
  void Connect() {
    std::sort(sides_.begin(), sides_.end());
    CutSurface& cut = result_.surface;
    const auto num_edges = static_cast<uint32_t>(opposite_.size());
    for (size_t i = 0; i < sides_.size(); ++i) {
      const Side& side = sides_[i];
      if (i + 1 == sides_.size() || !side.Joins(sides_[i + 1])) continue;
      const Side& other = sides_[++i];
      // Across an edge of the surface the tet stays the same, across a face it changes.
      const bool one_tet = cut.tets[side.half_edge / 3] == cut.tets[other.half_edge / 3];
      if (one_tet != (side.line < num_edges)) continue;
      cut.opposite[side.half_edge] = other.half_edge;
      cut.opposite[other.half_edge] = side.half_edge;
    }
  }

  const SolidSurface& surface_;
  const TetMesh& mesh_;
  const CageFaces faces_;
  const TetFaces face_ids_;
  const std::vector<uint32_t> opposite_;
  SurfaceWalk walk_;
  std::unordered_map<uint64_t, uint32_t> on_edges_;                // points by edge name and face
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> in_triangle_;  // points by edge of the cage
  std::vector<uint32_t> whole_edges_;  // half-edge of the result, by half-edge of the surface
  std::vector<Side> sides_;
  ClippedSurface result_;
};

}  // namespace

ClippedSurface ClipSurface(const SolidSurface& surface, const TetMesh& mesh,
                           std::span<const uint32_t> tet_of_point) {
  return Clipper(surface, mesh).Run(tet_of_point);
}

}  // namespace plush::tools
