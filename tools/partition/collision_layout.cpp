// SPDX-License-Identifier: MIT
// Orders tets, patches, triangles and vertices as the file stores them, and fills their records
// [Civ 5.4.1].
#include "partition/collision_layout.h"

#include "partition/collision_trees.h"
#include "partition/thickness.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using TetNodes = std::array<uint32_t, 4>;

// A patch in the file's order, in terms of triangles and points of the CutSurface.
struct LaidOutPatch {
  uint32_t tet = 0;                              // of the mesh
  TetNodes nodes = {};                           // of the tet, ascending
  std::vector<uint32_t> triangles;               // in the order of the tree
  std::vector<uint64_t> bounds;                  // parallel to triangles
  std::vector<Vec4> weights;                     // of its points, in the order of first use
  std::vector<std::array<uint32_t, 3>> corners;  // into weights, parallel to triangles
};

Vec4 WeightsInTet(const Carrier& carrier, const TetNodes& nodes) {
  std::array<float, 4> weights = {};
  for (uint32_t i = 0; i < carrier.count; ++i) {
    const auto at = std::find(nodes.begin(), nodes.end(), carrier.nodes[i]) - nodes.begin();
    weights[static_cast<size_t>(at)] = static_cast<float>(std::clamp(carrier.weights[i], 0.0, 1.0));
  }
  return {weights[0], weights[1], weights[2], weights[3]};
}

class Layout {
 public:
  Layout(const CutSurface& surface, const SurfacePatches& patches, const TetMesh& mesh)
      : surface_(surface), patches_(patches), mesh_(mesh) {}

  CollisionData Run(std::span<const uint32_t> triangle_of_source, TriangleRecord record) {
    CollectPatches();
    OrderTets();
    tbb::parallel_for(tbb::blocked_range<size_t>(0, laid_out_.size()), [this](const auto& range) {
      for (size_t p = range.begin(); p < range.end(); ++p) OrderPatch(&laid_out_[p]);
    });
    Number();
    AddPatches();
    AddTriangles(triangle_of_source, record);
    AddThickness();
    return std::move(data_);
  }

 private:
  void CollectPatches() {
    laid_out_.resize(patches_.tets.size());
    for (uint32_t p = 0; p < laid_out_.size(); ++p) {
      laid_out_[p].tet = patches_.tets[p];
      laid_out_[p].nodes = mesh_.tets[laid_out_[p].tet];
      std::sort(laid_out_[p].nodes.begin(), laid_out_[p].nodes.end());
    }
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      laid_out_[patches_.of_triangle[t]].triangles.push_back(t);
    }
  }

  // Patches are sorted by tet. Their tets become the leaves of the tree.
  void OrderTets() {
    std::vector<uint32_t> first_patch;
    std::vector<Dop14> bounds;
    for (uint32_t p = 0; p < laid_out_.size(); ++p) {
      if (p == 0 || laid_out_[p].tet != laid_out_[p - 1].tet) {
        first_patch.push_back(p);
        bounds.emplace_back();
      }
      for (const uint32_t t : laid_out_[p].triangles) {
        for (const uint32_t point : surface_.triangles[t])
          bounds.back().Add(surface_.points[point]);
      }
    }
    first_patch.push_back(static_cast<uint32_t>(laid_out_.size()));
    CoarseTree tree = BuildCoarseTree(bounds);
    data_.tree = std::move(tree.left_counts);
    std::vector<LaidOutPatch> ordered;
    ordered.reserve(laid_out_.size());
    new_patch_.resize(laid_out_.size());
    for (const uint32_t leaf : tree.leaves) {
      CdgTet tet;
      std::copy_n(laid_out_[first_patch[leaf]].nodes.begin(), 4, tet.nodes);
      tet.tet = laid_out_[first_patch[leaf]].tet;
      tet.first_patch = static_cast<uint32_t>(ordered.size());
      data_.tets.push_back(tet);
      for (uint32_t p = first_patch[leaf]; p < first_patch[leaf + 1]; ++p) {
        new_patch_[p] = static_cast<uint32_t>(ordered.size());
        ordered.push_back(std::move(laid_out_[p]));
      }
    }
    laid_out_ = std::move(ordered);
  }

  void OrderPatch(LaidOutPatch* patch) const {
    std::vector<BarycentricBox> boxes;
    boxes.reserve(patch->triangles.size());
    for (const uint32_t t : patch->triangles) {
      std::array<Vec4, 3> weights;
      std::ranges::transform(surface_.triangles[t], weights.begin(), [&](uint32_t point) {
        return WeightsInTet(surface_.carriers[point], patch->nodes);
      });
      boxes.push_back(BoxOf(weights));
    }
    PatchTree tree = BuildPatchTree(boxes);
    std::vector<uint32_t> ordered;
    for (const uint32_t at : tree.order) ordered.push_back(patch->triangles[at]);
    patch->triangles = std::move(ordered);
    patch->bounds = std::move(tree.bounds);
    NumberPoints(patch);
  }

  void NumberPoints(LaidOutPatch* patch) const {
    std::map<uint32_t, uint32_t> numbers;  // by point
    for (const uint32_t t : patch->triangles) {
      patch->corners.push_back(surface_.triangles[t]);
      for (uint32_t& corner : patch->corners.back()) {
        const auto next = static_cast<uint32_t>(patch->weights.size());
        const auto [number, is_new] = numbers.try_emplace(corner, next);
        if (is_new) {
          patch->weights.push_back(WeightsInTet(surface_.carriers[corner], patch->nodes));
        }
        corner = number->second;
      }
    }
  }

  void Number() {
    new_triangle_.resize(surface_.triangles.size());
    uint32_t next = 0;
    for (const LaidOutPatch& patch : laid_out_) {
      for (const uint32_t t : patch.triangles) new_triangle_[t] = next++;
    }
  }

  // Rest position of a point of the patch, from its float weights [m].
  Vec3d Place(const LaidOutPatch& patch, uint32_t point) const {
    const Vec4& w = patch.weights[point];
    const auto& n = patch.nodes;
    return mesh_.nodes[n[0]] * w.x + mesh_.nodes[n[1]] * w.y + mesh_.nodes[n[2]] * w.z +
           mesh_.nodes[n[3]] * w.w;
  }

  void AddSums(const LaidOutPatch& patch, CdgPatch* record) const {
    Vec3d vector_area;
    Vec3d moment;
    Vec3d corners;
    double area = 0.0;
    for (const auto& [i, j, k] : patch.corners) {
      const Vec3d a = Place(patch, i);
      const Vec3d b = Place(patch, j);
      const Vec3d c = Place(patch, k);
      const Vec3d normal = Cross(b - a, c - a) * 0.5;
      const double size = Length(normal);
      vector_area += normal;
      area += size;
      moment += (a + b + c) * (size / 3.0);
      corners += (a + b + c) / 3.0;
    }
    // If all triangles are flat, takes the mean of their centroids.
    const Vec3d centroid =
        area > 0.0 ? moment / area : corners / static_cast<double>(patch.corners.size());
    record->centroid = ToFloat(centroid);
    record->area = static_cast<float>(area);
    record->vector_area = ToFloat(vector_area);
  }

  // Patches across the edges of this one, each once, ascending.
  std::vector<uint32_t> LinksOf(const LaidOutPatch& patch, uint32_t number) const {
    std::vector<uint32_t> links;
    for (const uint32_t t : patch.triangles) {
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t across = surface_.opposite[3 * t + k];
        if (across == kNoHalfEdge) continue;
        const uint32_t other = new_patch_[patches_.of_triangle[across / 3]];
        if (other != number) links.push_back(other);
      }
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (uint32_t& link : links) {
      if (laid_out_[link].tet == patch.tet) link |= kSeamLink;
    }
    return links;
  }

  void AddPatches() {
    uint32_t tet = 0;
    uint32_t first_triangle = 0;
    for (uint32_t p = 0; p < laid_out_.size(); ++p) {
      const LaidOutPatch& patch = laid_out_[p];
      if (patch.tet != data_.tets[tet].tet) ++tet;
      CdgPatch record;
      AddSums(patch, &record);
      record.tet = tet;
      record.first_triangle = first_triangle;
      record.first_vertex = static_cast<uint32_t>(data_.vertices.size());
      record.first_link = static_cast<uint32_t>(data_.links.size());
      first_triangle += static_cast<uint32_t>(patch.triangles.size());
      data_.vertices.insert(data_.vertices.end(), patch.weights.begin(), patch.weights.end());
      const std::vector<uint32_t> links = LinksOf(patch, p);
      data_.links.insert(data_.links.end(), links.begin(), links.end());
      data_.patches.push_back(record);
      AddBounds(patch, p == 0 || laid_out_[p - 1].tet != patch.tet, &data_.tets[tet]);
    }
  }

  static void AddBounds(const LaidOutPatch& patch, bool is_first, CdgTet* tet) {
    BarycentricBox box = BoxOf(patch.weights);
    if (!is_first) {
      const Vec4 bounds[2] = {tet->low, tet->high};
      box = Union(BoxOf(bounds), box);
    }
    tet->low = {box.low[0], box.low[1], box.low[2], box.low[3]};
    tet->high = {box.high[0], box.high[1], box.high[2], box.high[3]};
  }

  void AddTriangles(std::span<const uint32_t> triangle_of_source, TriangleRecord record) {
    const bool wide = record == TriangleRecord::kWide ||
                      data_.vertices.size() > kMaxPackedFeatures ||
                      surface_.triangles.size() > kMaxPackedFeatures;
    for (uint32_t p = 0; p < laid_out_.size(); ++p) {
      const LaidOutPatch& patch = laid_out_[p];
      for (size_t i = 0; i < patch.triangles.size(); ++i) {
        const uint32_t t = patch.triangles[i];
        if (!triangle_of_source.empty()) {
          data_.source_triangles.push_back(triangle_of_source[surface_.sources[t]]);
        }
        CdgTriangleFields fields;
        for (uint32_t k = 0; k < 3; ++k) {
          fields.vertices[k] = data_.patches[p].first_vertex + patch.corners[i][k];
          const uint32_t across = surface_.opposite[3 * t + k];
          fields.neighbours[k] = across == kNoHalfEdge ? kNoTriangle : new_triangle_[across / 3];
        }
        fields.bounds = patch.bounds[i];
        if (wide) {
          data_.wide_triangles.push_back(PackWideTriangle(fields));
        } else {
          data_.triangles.push_back(PackTriangle(fields));
        }
      }
    }
  }

  void AddThickness() {
    std::vector<Vec3d> points;
    std::vector<std::array<uint32_t, 3>> triangles;
    for (const LaidOutPatch& patch : laid_out_) {
      const auto first = static_cast<uint32_t>(points.size());
      for (uint32_t i = 0; i < patch.weights.size(); ++i) points.push_back(Place(patch, i));
      for (const auto& [a, b, c] : patch.corners) {
        triangles.push_back({first + a, first + b, first + c});
      }
    }
    const SurfaceThickness thickness = MeasureThickness(points, triangles, data_.patches);
    for (size_t p = 0; p < data_.patches.size(); ++p) {
      data_.patches[p].thickness = thickness.of_patches[p];
    }
    data_.thickness = thickness.of_body;
  }

  const CutSurface& surface_;
  const SurfacePatches& patches_;
  const TetMesh& mesh_;
  std::vector<LaidOutPatch> laid_out_;
  std::vector<uint32_t> new_patch_;     // by index in SurfacePatches
  std::vector<uint32_t> new_triangle_;  // by index in CutSurface
  CollisionData data_;
};

}  // namespace

CollisionData LayOutCollision(const CutSurface& surface, const SurfacePatches& patches,
                              const TetMesh& mesh, std::span<const uint32_t> triangle_of_source,
                              TriangleRecord record) {
  if (surface.triangles.empty()) return {};
  return Layout(surface, patches, mesh).Run(triangle_of_source, record);
}

}  // namespace plush::tools
