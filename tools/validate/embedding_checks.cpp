// SPDX-License-Identifier: MIT
// Compares the embedded positions of render vertices with the rest positions.
#include "plush/format/tet_block.h"

#include "validate/rest_checks.h"
#include "validate/surface_checks.h"
#include "validate/tally.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plush::tools {
namespace {

// Exporters write unit normals in single precision.
constexpr double kUnitTolerance = 1.0e-3;

std::array<double, 4> WeightsOf(const Vec4& w) { return {w.x, w.y, w.z, w.w}; }

void CheckNormals(const VisualView& visual, FindingList* findings) {
  Tally lengths("FILE_RANGE", "visual.normals", "not of unit length");
  for (size_t i = 0; i < visual.normals.size(); ++i) {
    const Vec3d normal = ToDouble(visual.normals[i]);
    if (!IsFinite(normal)) continue;  // reported already
    const double error = std::abs(Length(normal) - 1.0);
    if (error > kUnitTolerance) lengths.AddAt(i, ToDouble(visual.positions[i]), error);
  }
  lengths.Report(findings);
}

void CheckTangents(const VisualView& visual, FindingList* findings) {
  Tally lengths("FILE_RANGE", "visual.tangents", "not of unit length");
  Tally signs("FILE_RANGE", "visual.tangents", "w is neither 1 nor -1");
  for (size_t i = 0; i < visual.tangents.size(); ++i) {
    const Vec4& tangent = visual.tangents[i];
    const Vec3d direction = {tangent.x, tangent.y, tangent.z};
    if (!IsFinite(direction) || !std::isfinite(tangent.w)) continue;  // reported already
    const Vec3d position = ToDouble(visual.positions[i]);
    const double error = std::abs(Length(direction) - 1.0);
    if (error > kUnitTolerance) lengths.AddAt(i, position, error);
    if (std::abs(tangent.w) != 1.0f) signs.AddAt(i, position, std::abs(tangent.w));
  }
  lengths.Report(findings);
  signs.Report(findings);
}

}  // namespace

std::optional<Vec3d> EmbeddedPosition(const Asset& asset, size_t vertex) {
  const SimulationView& s = asset.simulation();
  const uint32_t tet_id = asset.visual().tet_ids[vertex];
  if (tet_id >= s.tets.size() || !IsSoundTet(s, s.tets[tet_id])) return std::nullopt;
  const Tet& t = s.tets[tet_id];
  const std::array<double, 4> w = WeightsOf(asset.visual().weights[vertex]);
  return w[0] * ToDouble(s.nodes[t.a]) + w[1] * ToDouble(s.nodes[t.b]) +
         w[2] * ToDouble(s.nodes[t.c]) + w[3] * ToDouble(s.nodes[t.d]);
}

std::vector<Vec3d> ToDoubles(std::span<const Vec3> points) {
  std::vector<Vec3d> converted(points.size());
  std::ranges::transform(points, converted.begin(), ToDouble);
  return converted;
}

Extent ExtentOf(std::span<const Vec3d> points) {
  Vec3d low = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  Vec3d high = -low;
  Extent extent;
  for (const Vec3d& x : points) {
    if (!IsFinite(x)) continue;
    low = Min(low, x);
    high = Max(high, x);
    extent.reach = std::max({extent.reach, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
  }
  if (low.x <= high.x) extent.size = Length(high - low);
  return extent;
}

void CheckEmbedding(const Asset& asset, FindingList* findings) {
  const VisualView& visual = asset.visual();
  // Weights and coordinates are rounded to float: an error of a few roundoffs of the coordinates.
  const double allowed = kEmbeddingTolerance * ExtentOf(ToDoubles(visual.positions)).size +
                         8.0 * kRoundoff * ExtentOf(ToDoubles(asset.simulation().nodes)).reach;
  Tally sums("FILE_EMBEDDING", "visual.weights", "the weights do not sum to one");
  Tally places("FILE_EMBEDDING", "visual.weights", "off the rest position, deviation in metres");
  for (size_t i = 0; i < visual.positions.size(); ++i) {
    const Vec3d position = ToDouble(visual.positions[i]);
    const std::optional<Vec3d> embedded = EmbeddedPosition(asset, i);
    if (!embedded || !IsFinite(*embedded) || !IsFinite(position)) continue;  // reported already
    double sum = 0.0;
    double magnitude = 0.0;
    for (const double w : WeightsOf(visual.weights[i])) {
      sum += w;
      magnitude += std::abs(w);
    }
    if (std::abs(sum - 1.0) > 4.0 * kRoundoff * magnitude) {
      sums.AddAt(i, position, std::abs(sum - 1.0));
    }
    const double error = Length(*embedded - position);
    if (error > allowed * std::max(1.0, magnitude)) places.AddAt(i, position, error);
  }
  sums.Report(findings);
  places.Report(findings);
  CheckNormals(visual, findings);
  CheckTangents(visual, findings);
}

}  // namespace plush::tools
