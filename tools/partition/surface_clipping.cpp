// SPDX-License-Identifier: MIT
#include "partition/surface_clipping.h"

#include "cage/cage_boundary.h"
#include "embed/tet_geometry.h"
#include "mesh/tet_faces.h"
#include "partition/half_edges.h"
#include "partition/point_location.h"
#include "partition/triangle_cut.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNoPoint = UINT32_MAX;

// What a triangle leaves in one tet.
struct Piece {
  uint32_t tet = 0;
  TriangleCut cut;
};

// A face with several tets behind it that the triangle passes without a corner in any of them.
struct Branch {
  uint32_t face = 0;  // of TetFaces
  std::vector<uint32_t> strands;
};

// A triangle that is not whole in one tet.
struct SplitTriangle {
  uint32_t triangle = 0;
  std::vector<Piece> pieces;     // in the order in which the walk reached them
  std::vector<Branch> branches;  // open ones
  std::vector<uint32_t> chosen;  // strands taken at branches
  bool outside = false;
};

// Walks triangles through the cage.
class Walker {
 public:
  Walker(const SolidSurface& surface, const TetMesh& mesh, const CageFaces& faces,
         const TetFaces& face_ids, std::span<const uint32_t> tets)
      : surface_(surface), mesh_(mesh), faces_(faces), face_ids_(face_ids), tets_(tets) {}

  void Walk(SplitTriangle* split) const {
    split->pieces.clear();
    split->branches.clear();
    split->outside = false;
    const std::array<uint32_t, 3>& ids = surface_.triangles[split->triangle];
    const std::array<Vec3d, 3> corners = {surface_.points[ids[0]], surface_.points[ids[1]],
                                          surface_.points[ids[2]]};
    std::vector<uint32_t> queue;
    for (const uint32_t id : ids) AddOnce(tets_[id], &queue);
    for (const uint32_t strand : split->chosen) AddOnce(strand, &queue);
    for (size_t next = 0; next < queue.size(); ++next) {
      const uint32_t tet = queue[next];
      const std::optional<TriangleCut> cut = CutTriangle(corners, CornersOf(tet));
      if (!cut) {
        split->outside = true;
        return;
      }
      if (cut->count == 0 || HasForeignCorner(*cut, ids, tet)) continue;
      split->pieces.push_back({tet, *cut});
      for (uint8_t side = 0; side < cut->count; ++side) {
        if (cut->lines[side] >= kFaceLine) {
          Cross(tet, static_cast<size_t>(cut->lines[side] - kFaceLine), &queue, split);
        }
      }
    }
    std::erase_if(split->branches, [&queue](const Branch& branch) {
      return std::any_of(branch.strands.begin(), branch.strands.end(), [&](uint32_t strand) {
        return std::find(queue.begin(), queue.end(), strand) != queue.end();
      });
    });
  }

  uint32_t FaceId(uint32_t tet, size_t corner) const { return face_ids_.of_tet[tet][corner]; }

  TetCorners CornersOf(uint32_t tet) const {
    const auto& [a, b, c, d] = mesh_.tets[tet];
    return {mesh_.nodes[a], mesh_.nodes[b], mesh_.nodes[c], mesh_.nodes[d]};
  }

 private:
  static void AddOnce(uint32_t tet, std::vector<uint32_t>* queue) {
    if (std::find(queue->begin(), queue->end(), tet) == queue->end()) queue->push_back(tet);
  }

  // Whether a corner of the triangle lies in the tet only because that overlaps the one that has
  // it.
  bool HasForeignCorner(const TriangleCut& cut, const std::array<uint32_t, 3>& ids,
                        uint32_t tet) const {
    return std::any_of(
        cut.corners.begin(), cut.corners.begin() + cut.count, [&](const CutCorner& corner) {
          return corner.kind == CutCorner::Kind::kCorner && tets_[ids[corner.first]] != tet;
        });
  }

  void Cross(uint32_t tet, size_t corner, std::vector<uint32_t>* queue,
             SplitTriangle* split) const {
    if (faces_.neighbours[tet][corner] == kBoundaryFace) {
      split->outside = true;
    } else if (faces_.branches.empty()) {
      AddOnce(faces_.neighbours[tet][corner], queue);
    } else if (auto others = faces_.Across(mesh_, tet, corner); others.size() == 1) {
      AddOnce(others[0], queue);
    } else {
      split->branches.push_back({FaceId(tet, corner), std::move(others)});
    }
  }

  const SolidSurface& surface_;
  const TetMesh& mesh_;
  const CageFaces& faces_;
  const TetFaces& face_ids_;
  std::span<const uint32_t> tets_;
};

// Builds the clipped surface.
class Clipper {
 public:
  Clipper(const SolidSurface& surface, const TetMesh& mesh)
      : surface_(surface),
        mesh_(mesh),
        faces_(FindCageFaces(mesh)),
        face_ids_(BuildTetFaces(mesh.tets)),
        opposite_(PairHalfEdges(surface.points, surface.triangles)) {}

  ClippedSurface Run(std::span<const uint32_t> tet_of_point) {
    Locate(tet_of_point);
    SplitAll();
    ChooseStrands();
    for (const SplitTriangle& split : splits_) {
      if (split.outside) result_.outside.push_back(split.triangle);
    }
    std::sort(result_.outside.begin(), result_.outside.end());
    if (!result_.outside.empty()) return std::move(result_);
    AddSurfacePoints();
    AddTriangles();
    Connect();
    result_.num_crossings = result_.surface.points.size() - surface_.points.size();
    return std::move(result_);
  }

 private:
  void Locate(std::span<const uint32_t> tet_of_point) {
    tets_.assign(surface_.points.size(), kNotHeld);
    std::vector<uint8_t> is_used(surface_.points.size(), 0);
    for (const auto& triangle : surface_.triangles) {
      for (const uint32_t point : triangle) is_used[point] = 1;
    }
    tbb::parallel_for(tbb::blocked_range<size_t>(0, tets_.size(), 512), [&](const auto& range) {
      for (size_t p = range.begin(); p < range.end(); ++p) {
        if (is_used[p] == 0) continue;
        tets_[p] = FindHoldingTet(mesh_, faces_, tet_of_point[p], surface_.points[p]);
      }
    });
  }

  bool IsWhole(uint32_t t) const {
    const auto& [a, b, c] = surface_.triangles[t];
    return tets_[a] == tets_[b] && tets_[b] == tets_[c] && tets_[a] != kNotHeld;
  }

  void SplitAll() {
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      if (IsWhole(t)) continue;
      splits_.emplace_back();
      splits_.back().triangle = t;
    }
    const Walker walker(surface_, mesh_, faces_, face_ids_, tets_);
    tbb::parallel_for(tbb::blocked_range<size_t>(0, splits_.size(), 64), [&](const auto& range) {
      for (size_t i = range.begin(); i < range.end(); ++i) {
        SplitTriangle& split = splits_[i];
        const auto& ids = surface_.triangles[split.triangle];
        split.outside = std::any_of(ids.begin(), ids.end(),
                                    [this](uint32_t p) { return tets_[p] == kNotHeld; });
        if (!split.outside) walker.Walk(&split);
      }
    });
  }

  const SplitTriangle* FindSplit(uint32_t triangle) const {
    const auto at = std::lower_bound(
        splits_.begin(), splits_.end(), triangle,
        [](const SplitTriangle& split, uint32_t id) { return split.triangle < id; });
    return at != splits_.end() && at->triangle == triangle ? &*at : nullptr;
  }

  // The strand that a triangle beside this one takes where both pass the branch.
  uint32_t StrandOfNeighbour(const SplitTriangle& split, const Branch& branch) const {
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t across = opposite_[3 * split.triangle + k];
      if (across == kNoHalfEdge) continue;
      const SplitTriangle* other = FindSplit(across / 3);
      if (other == nullptr) continue;
      for (const Piece& piece : other->pieces) {
        const bool is_strand = std::find(branch.strands.begin(), branch.strands.end(), piece.tet) !=
                               branch.strands.end();
        if (is_strand && PassesFace(piece, across % 3, branch.face)) return piece.tet;
      }
    }
    return kNotHeld;
  }

  // Whether edge `edge` of the piece's triangle passes the face into the piece.
  bool PassesFace(const Piece& piece, uint32_t edge, uint32_t face) const {
    for (uint8_t i = 0; i < piece.cut.count; ++i) {
      const CutCorner& corner = piece.cut.corners[i];
      if (corner.kind == CutCorner::Kind::kEdgeFace && corner.first == edge &&
          face_ids_.of_tet[piece.tet][corner.second] == face) {
        return true;
      }
    }
    return false;
  }

  // Strands are told by neighbours until none tells any more; then the first one is taken for one
  // triangle, and its neighbours follow it.
  void ChooseStrands() {
    std::vector<SplitTriangle*> open;
    for (SplitTriangle& split : splits_) {
      if (!split.branches.empty()) open.push_back(&split);
    }
    const Walker walker(surface_, mesh_, faces_, face_ids_, tets_);
    bool guess = false;
    while (!open.empty()) {
      bool progress = false;
      for (SplitTriangle* split : open) {
        const Branch& branch = split->branches.front();
        uint32_t strand = StrandOfNeighbour(*split, branch);
        if (strand == kNotHeld && guess) strand = branch.strands[0];
        if (strand == kNotHeld) continue;
        guess = false;
        progress = true;
        split->chosen.push_back(strand);
        walker.Walk(split);
      }
      guess = !progress;
      std::erase_if(open, [](const SplitTriangle* split) { return split->branches.empty(); });
    }
  }

  void AddSurfacePoints() {
    CutSurface& cut = result_.surface;
    cut.points = surface_.points;
    cut.carriers.resize(surface_.points.size());
    tbb::parallel_for(tbb::blocked_range<size_t>(0, tets_.size(), 1024), [&](const auto& range) {
      for (size_t p = range.begin(); p < range.end(); ++p) {
        if (tets_[p] != kNotHeld) cut.carriers[p] = InTet(tets_[p], surface_.points[p]);
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
    Carrier carrier;
    carrier.count = 4;
    carrier.nodes = mesh_.tets[tet];
    std::sort(carrier.nodes.begin(), carrier.nodes.end());
    // Two of the sorted nodes may have to change places for a positive tet: weights are ratios, so
    // that the sign of the volume does not matter.
    TetCorners corners;
    for (size_t i = 0; i < 4; ++i) corners[i] = mesh_.nodes[carrier.nodes[i]];
    carrier.weights = BarycentricWeights(p, corners);
    Normalise(&carrier);
    return carrier;
  }

  // Where edge `half_edge` passes a face; from its lower to its higher point whatever the triangle.
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
    Carrier carrier;
    carrier.count = 3;
    carrier.nodes = {nodes[0], nodes[1], nodes[2], 0};
    const double size = LengthSquared(normal);
    carrier.weights = {Dot(Cross(b - p, c - p), normal) / size,
                       Dot(Cross(c - p, a - p), normal) / size,
                       Dot(Cross(a - p, b - p), normal) / size, 0.0};
    Normalise(&carrier);
    return AddPoint(p, carrier);
  }

  // Where an edge of the cage passes a triangle.
  uint32_t AddTetEdgePoint(uint32_t triangle, uint32_t low, uint32_t high) {
    const auto& [i, j, k] = surface_.triangles[triangle];
    const auto& x = surface_.points;
    const double before = SixVolume(x[i], x[j], x[k], mesh_.nodes[low]);
    const double behind = SixVolume(x[i], x[j], x[k], mesh_.nodes[high]);
    const double share = before != behind ? std::clamp(before / (before - behind), 0.0, 1.0) : 0.5;
    Carrier carrier;
    carrier.count = 2;
    carrier.nodes = {low, high, 0, 0};
    carrier.weights = {1.0 - share, share, 0.0, 0.0};
    return AddPoint(mesh_.nodes[low] * (1.0 - share) + mesh_.nodes[high] * share, carrier);
  }

  uint32_t AddPoint(const Vec3d& p, const Carrier& carrier) {
    result_.surface.points.push_back(p);
    result_.surface.carriers.push_back(carrier);
    return static_cast<uint32_t>(result_.surface.points.size() - 1);
  }

  // One half-edge stands for both sides of an edge.
  uint32_t EdgeName(uint32_t half_edge) const {
    return std::min(half_edge, opposite_[half_edge]);  // kNoHalfEdge is the largest
  }

  // Points on edges of the surface: found again by edge and face.
  uint32_t EdgeFacePoint(uint32_t half_edge, uint32_t tet, size_t corner) {
    const uint32_t name = EdgeName(half_edge);
    const uint32_t face = face_ids_.of_tet[tet][corner];
    for (uint32_t at = first_on_edge_[name]; at != kNoPoint; at = on_edges_[at].next) {
      if (on_edges_[at].face == face) return on_edges_[at].point;
    }
    const uint32_t point = AddEdgeFacePoint(half_edge, tet, corner);
    on_edges_.push_back({face, point, first_on_edge_[name]});
    first_on_edge_[name] = static_cast<uint32_t>(on_edges_.size() - 1);
    return point;
  }

  // Points inside the triangle at hand: found again by the cage's edge.
  uint32_t TetEdgePoint(uint32_t triangle, uint32_t a, uint32_t b) {
    const uint32_t low = std::min(a, b);
    const uint32_t high = std::max(a, b);
    for (const auto& [x, y, point] : in_triangle_) {
      if (x == low && y == high) return point;
    }
    const uint32_t point = AddTetEdgePoint(triangle, low, high);
    in_triangle_.push_back({low, high, point});
    return point;
  }

  uint32_t PointAt(uint32_t triangle, const Piece& piece, const CutCorner& corner) {
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

  // A side of a polygon, to be joined with the one that runs the other way.
  struct Side {
    uint32_t low = 0;  // points
    uint32_t high = 0;
    uint32_t line = 0;  // edge of the surface by name, or behind all of them the triangle: two
                        // sheets of surface can have both points in common
    uint32_t half_edge = 0;

    bool Joins(const Side& o) const { return low == o.low && high == o.high && line == o.line; }
    bool operator<(const Side& o) const {
      if (low != o.low) return low < o.low;
      if (high != o.high) return high < o.high;
      return line != o.line ? line < o.line : half_edge < o.half_edge;
    }
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
  void AddPiece(uint32_t triangle, const Piece& piece) {
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

  // A triangle in one tet. Its edges have no other points: a side there may be joined by its edge
  // alone.
  void AddWhole(uint32_t t) {
    const auto first = static_cast<uint32_t>(3 * result_.surface.triangles.size());
    AddTriangle(t, tets_[surface_.triangles[t][0]], surface_.triangles[t]);
    for (uint32_t k = 0; k < 3; ++k) Join(3 * t + k, first + k);
  }

  // Joins a side that is a whole edge of the surface with the one beyond, if that has come.
  void Join(uint32_t edge, uint32_t half_edge) {
    whole_edges_[edge] = half_edge;
    const uint32_t across = opposite_[edge];
    if (across == kNoHalfEdge || whole_edges_[across] == kNoHalfEdge) return;
    result_.surface.opposite[half_edge] = whole_edges_[across];
    result_.surface.opposite[whole_edges_[across]] = half_edge;
  }

  void AddTriangles() {
    whole_edges_.assign(opposite_.size(), kNoHalfEdge);
    first_on_edge_.assign(opposite_.size(), kNoPoint);
    size_t next_split = 0;
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      if (next_split == splits_.size() || splits_[next_split].triangle != t) {
        AddWhole(t);
        continue;
      }
      in_triangle_.clear();
      for (const Piece& piece : splits_[next_split].pieces) AddPiece(t, piece);
      ++next_split;
    }
  }

  // Joins sides; one without partner is a border of the surface, or the surface is torn there.
  void Connect() {
    std::sort(sides_.begin(), sides_.end());
    CutSurface& cut = result_.surface;
    const auto num_edges = static_cast<uint32_t>(opposite_.size());
    for (size_t i = 0; i < sides_.size(); ++i) {
      const Side& side = sides_[i];
      const uint32_t tet = cut.tets[side.half_edge / 3];
      const bool is_edge = side.line < num_edges;
      if (i + 1 < sides_.size() && side.Joins(sides_[i + 1])) {
        const Side& other = sides_[++i];
        // Across an edge of the surface the tet stays the same, across a face it changes.
        if ((tet == cut.tets[other.half_edge / 3]) == is_edge) {
          cut.opposite[side.half_edge] = other.half_edge;
          cut.opposite[other.half_edge] = side.half_edge;
          continue;
        }
        result_.torn.push_back(cut.sources[other.half_edge / 3]);
      } else if (is_edge && opposite_[side.line] == kNoHalfEdge) {
        continue;
      }
      result_.torn.push_back(cut.sources[side.half_edge / 3]);
    }
    std::sort(result_.torn.begin(), result_.torn.end());
    result_.torn.erase(std::unique(result_.torn.begin(), result_.torn.end()), result_.torn.end());
  }

  struct OnEdge {
    uint32_t face = 0;
    uint32_t point = 0;
    uint32_t next = kNoPoint;
  };
  struct InTriangle {
    uint32_t low = 0;
    uint32_t high = 0;
    uint32_t point = 0;
  };

  const SolidSurface& surface_;
  const TetMesh& mesh_;
  const CageFaces faces_;
  const TetFaces face_ids_;
  const std::vector<uint32_t> opposite_;
  std::vector<uint32_t> tets_;  // of each point
  std::vector<SplitTriangle> splits_;
  std::vector<uint32_t> first_on_edge_;  // into on_edges_, by edge name
  std::vector<OnEdge> on_edges_;
  std::vector<InTriangle> in_triangle_;
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
