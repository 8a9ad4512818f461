// SPDX-License-Identifier: MIT
#include "embed/tet_geometry.h"
#include "mesh/exact_predicates.h"
#include "partition/partition.h"
#include "partition/short_edges.h"
#include "validate/collision_checks.h"
#include "validate/embedding_checks.h"
#include "validate/enclosure_checks.h"
#include "validate/tally.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

namespace plush::tools {
namespace {

double Area(const Triangle3& t) { return 0.5 * Length(Cross(t[1] - t[0], t[2] - t[0])); }

double Perimeter(const Triangle3& t) {
  return Length(t[1] - t[0]) + Length(t[2] - t[1]) + Length(t[0] - t[2]);
}

bool IsBefore(const Vec3d& a, const Vec3d& b) {
  return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
}

// Corners in an order that does not depend on the triangle's.
struct CornersBefore {
  bool operator()(const Triangle3& a, const Triangle3& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), IsBefore);
  }
};

Triangle3 Sorted(Triangle3 t) {
  std::sort(t.begin(), t.end(), IsBefore);
  return t;
}

}  // namespace

void CheckCollisionSources(const Asset& asset, const UnpackedCollision& c, FindingList* findings) {
  const VisualView& visual = asset.visual();
  const auto& sources = c.view.source_triangles;
  if (sources.empty() || !HasLatticeCage(asset)) return;
  const auto render_triangle = [&visual](size_t t) {
    Triangle3 x;
    for (size_t k = 0; k < 3; ++k) x[k] = ToDouble(visual.positions[visual.indices[3 * t + k]]);
    return x;
  };
  // Points move when short edges are taken out; floats round.
  const double reach = kReachOfMerging * kShortestCutEdge * VisualSize(visual);
  Tally off("FILE_COLLISION", "collision.source_triangles",
            "it does not lie in the render triangle that it names, deviation in metres");
  std::vector<double> covered(visual.indices.size() / 3, 0.0);
  for (uint32_t t = 0; t < c.triangles.size(); ++t) {
    const Triangle3 source = render_triangle(sources[t]);
    const CdgPatch& patch = c.view.patches[c.patch_of_triangle[t]];
    Triangle3 own;
    double farthest = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      own[k] = RestPlace(asset, patch, c.triangles[t].vertices[k]);
      const Vec3d nearest = ClosestPointOnTriangle(own[k], source[0], source[1], source[2]);
      farthest = std::max(farthest, Length(own[k] - nearest));
    }
    covered[sources[t]] += Area(own);
    if (!(farthest <= reach)) off.AddAt(t, own[0], farthest);
  }
  Tally gaps("FILE_COLLISION", "visual.indices",
             "the collision triangles that name it do not cover it, deviation in square metres");
  std::set<Triangle3, CornersBefore> named;
  for (size_t t = 0; t < covered.size(); ++t) {
    if (covered[t] > 0.0) named.insert(Sorted(render_triangle(t)));
  }
  for (size_t t = 0; t < covered.size(); ++t) {
    const Triangle3 x = render_triangle(t);
    const double missing = std::abs(Area(x) - covered[t]);
    if (missing <= reach * Perimeter(x)) continue;
    if (covered[t] == 0.0 && named.count(Sorted(x)) > 0) continue;  // of two that coincide
    gaps.AddAt(t, x[0], missing);
  }
  off.Report(findings);
  gaps.Report(findings);
}

}  // namespace plush::tools
