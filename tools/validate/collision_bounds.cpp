// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "partition/patch_tree.h"
#include "validate/collision_checks.h"
#include "validate/tally.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace plush::tools {
namespace {

// Four weights are doubles that sum to one, rounded one by one.
constexpr double kSumTolerance = 4.0e-7;

// Of centroids, areas and vector areas: floats rounded once, of sums of terms that carry the
// rounding of the weights.
constexpr double kSumsTolerance = 1.0e-5;

BarycentricBox Union(BarycentricBox a, const BarycentricBox& b) {
  for (size_t i = 0; i < 4; ++i) {
    a.low[i] = std::min(a.low[i], b.low[i]);
    a.high[i] = std::max(a.high[i], b.high[i]);
  }
  return a;
}

BarycentricBox BoxOf(const UnpackedCollision& c, uint32_t t) {
  const auto& v = c.triangles[t].vertices;
  return BoxOfTriangle({c.view.vertices[v[0]], c.view.vertices[v[1]], c.view.vertices[v[2]]});
}

// Bounds of every range of a patch's tree, from the last triangle to the first.
void CheckTree(const UnpackedCollision& c, uint32_t patch, Tally* bounds) {
  struct Range {
    uint32_t begin, end, left, right;  // and its children, as places in the list; 0 for none
  };
  const Run run = c.Triangles(patch);
  std::vector<Range> ranges = {{run.begin, run.end, 0, 0}};
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto [begin, end, left, right] = ranges[i];
    const uint32_t middle = PatchTreeMiddle(begin, end);
    if (begin + 1 < middle) {
      ranges[i].left = static_cast<uint32_t>(ranges.size());
      ranges.push_back({begin + 1, middle, 0, 0});
    }
    if (middle < end) {
      ranges[i].right = static_cast<uint32_t>(ranges.size());
      ranges.push_back({middle, end, 0, 0});
    }
  }
  std::vector<BarycentricBox> boxes(ranges.size());
  for (size_t i = ranges.size(); i-- > 0;) {
    boxes[i] = BoxOf(c, ranges[i].begin);
    if (ranges[i].left != 0) boxes[i] = Union(boxes[i], boxes[ranges[i].left]);
    if (ranges[i].right != 0) boxes[i] = Union(boxes[i], boxes[ranges[i].right]);
    if (QuantiseBounds(boxes[i]) != c.triangles[ranges[i].begin].bounds) {
      bounds->Add(ranges[i].begin);
    }
  }
}

bool HasNodesOf(const CdgTet& record, const Tet& tet) {
  std::array<uint32_t, 4> nodes = {tet.a, tet.b, tet.c, tet.d};
  std::sort(nodes.begin(), nodes.end());
  return std::equal(nodes.begin(), nodes.end(), record.nodes);
}

// Whether the bounds are exactly those of the tet's vertices.
bool BoundsItsVertices(const UnpackedCollision& c, uint32_t tet) {
  const Run patches = c.Patches(tet);
  const uint32_t begin = c.Vertices(patches.begin).begin;
  const uint32_t end = c.Vertices(patches.end - 1).end;
  Vec4 low = c.view.vertices[begin];
  Vec4 high = low;
  for (uint32_t v = begin; v < end; ++v) {
    const Vec4& w = c.view.vertices[v];
    low = {std::min(low.x, w.x), std::min(low.y, w.y), std::min(low.z, w.z), std::min(low.w, w.w)};
    high = {std::max(high.x, w.x), std::max(high.y, w.y), std::max(high.z, w.z),
            std::max(high.w, w.w)};
  }
  const CdgTet& t = c.view.tets[tet];
  return t.low.x == low.x && t.low.y == low.y && t.low.z == low.z && t.low.w == low.w &&
         t.high.x == high.x && t.high.y == high.y && t.high.z == high.z && t.high.w == high.w;
}

}  // namespace

void CheckCollisionBounds(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  Tally nodes("FILE_COLLISION", "collision.tets", "the nodes are not those of its tet, ascending");
  Tally twice("FILE_COLLISION", "collision.tets", "its tet has come before");
  Tally tets("FILE_COLLISION", "collision.tets", "the bounds are not those of its vertices");
  Tally sums("FILE_COLLISION", "collision.vertices", "the weights do not sum to one");
  Tally trees("FILE_COLLISION", "collision.triangles",
              "the bounds are not those of its sub-tree, rounded outwards");
  std::set<uint32_t> seen;
  for (uint32_t t = 0; t < c.view.tets.size(); ++t) {
    if (!HasNodesOf(c.view.tets[t], asset.simulation().tets[c.view.tets[t].tet])) nodes.Add(t);
    if (!seen.insert(c.view.tets[t].tet).second) twice.Add(t);
    if (!BoundsItsVertices(c, t)) tets.Add(t);
  }
  for (uint32_t v = 0; v < c.view.vertices.size(); ++v) {
    const Vec4& w = c.view.vertices[v];
    const double sum = double{w.x} + double{w.y} + double{w.z} + double{w.w};
    if (!(std::abs(sum - 1.0) <= kSumTolerance)) sums.Add(v, std::abs(sum - 1.0));
  }
  for (uint32_t p = 0; p < c.view.patches.size(); ++p) CheckTree(c, p, &trees);
  for (const Tally* tally : {&nodes, &twice, &tets, &sums, &trees}) tally->Report(findings);
}

void CheckPatchSums(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  Tally areas("FILE_COLLISION", "collision.patches", "the area is not that of its triangles");
  Tally vectors("FILE_COLLISION", "collision.patches",
                "the vector area is not that of its triangles");
  Tally centroids("FILE_COLLISION", "collision.patches",
                  "the centroid is not that of its triangles, deviation in metres");
  for (uint32_t p = 0; p < c.view.patches.size(); ++p) {
    const CdgPatch& patch = c.view.patches[p];
    double area = 0.0;
    double reach = 0.0;  // largest coordinate
    Vec3d vector_area;
    Vec3d moment;
    Vec3d middle;
    const Run run = c.Triangles(p);
    for (uint32_t t = run.begin; t < run.end; ++t) {
      const auto& v = c.triangles[t].vertices;
      const Vec3d x = RestPlace(asset, patch, v[0]);
      const Vec3d y = RestPlace(asset, patch, v[1]);
      const Vec3d z = RestPlace(asset, patch, v[2]);
      const Vec3d normal = Cross(y - x, z - x) * 0.5;
      area += Length(normal);
      vector_area += normal;
      moment += (x + y + z) * (Length(normal) / 3.0);
      middle += (x + y + z) / (3.0 * (run.end - run.begin));
      for (const Vec3d& corner : {x, y, z}) {
        reach = std::max({reach, std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)});
      }
    }
    const Vec3d centroid = area > 0.0 ? moment / area : middle;
    const double area_error = std::abs(area - patch.area);
    const double vector_error = Length(vector_area - ToDouble(patch.vector_area));
    const double centroid_error = Length(centroid - ToDouble(patch.centroid));
    if (!(area_error <= kSumsTolerance * area)) areas.AddAt(p, centroid, area_error);
    if (!(vector_error <= kSumsTolerance * area)) vectors.AddAt(p, centroid, vector_error);
    if (!(centroid_error <= kSumsTolerance * reach)) centroids.AddAt(p, centroid, centroid_error);
  }
  for (const Tally* tally : {&areas, &vectors, &centroids}) tally->Report(findings);
}

}  // namespace plush::tools
