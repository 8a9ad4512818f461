// SPDX-License-Identifier: MIT
// Compares the documents of `plush info` value by value, and the surfaces by their nearest points.
#include "report/asset_diff.h"

#include "plush/collision.h"
#include "plush/format/cdg_records.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "base/text.h"
#include "base/vec3.h"
#include "report/asset_info.h"
#include "report/source_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An asset alone in a world, at rest.
class RestSurface {
 public:
  explicit RestSurface(const Asset& asset) : asset_(asset) {
    if (asset.is_static()) {
      ColliderDesc collider;
      collider.type = ShapeType::kMesh;
      collider.mesh = {&asset, 1.0f};
      ColliderId id;
      is_there_ = world_.AddCollider(collider, &id).ok();
    } else {
      BodyId id;
      is_there_ = world_.AddBody(asset, {}, &id).ok();
    }
    is_there_ = is_there_ && !Points().empty();
  }
  bool is_there() const { return is_there_; }

  // The vertices of the surface [m].
  std::vector<Vec3> Points() const {
    if (asset_.is_static()) {
      const auto& positions = asset_.static_mesh().positions;
      return {positions.begin(), positions.end()};
    }
    const CollisionView& surface = asset_.collision();
    std::vector<Vec3> points;
    for (size_t p = 0; p < surface.patches.size(); ++p) {
      const size_t begin = surface.patches[p].first_vertex;
      const size_t end = p + 1 < surface.patches.size() ? surface.patches[p + 1].first_vertex
                                                        : surface.vertices.size();
      const uint32_t(&nodes)[4] = surface.tets[surface.patches[p].tet].nodes;
      for (const Vec4& w : surface.vertices.subspan(begin, end - begin)) {
        const float weights[4] = {w.x, w.y, w.z, w.w};
        Vec3d point;
        for (int k = 0; k < 4; ++k) {
          point += ToDouble(asset_.simulation().nodes[nodes[k]]) * double{weights[k]};
        }
        points.push_back(ToFloat(point));
      }
    }
    return points;
  }

  // The largest distance of a point from the surface [m].
  double FarthestOf(const std::vector<Vec3>& points) const {
    const QueryFilter all = {.targets = kQueryBodies | kQueryColliders};
    double farthest = 0.0;
    for (const Vec3& point : points) {
      SurfacePoint nearest;
      const Status found =
          world_.ClosestPoint(point, std::numeric_limits<float>::max(), all, &nearest);
      if (!found.ok() || !nearest.valid()) return kInfinity;
      farthest = std::max(farthest, double{nearest.distance});
    }
    return farthest;
  }

 private:
  const Asset& asset_;
  World world_;
  bool is_there_ = false;
};

// [m]
double DistanceOf(const RestSurface& a, const RestSurface& b) {
  if (!a.is_there() && !b.is_there()) return 0.0;
  if (!a.is_there() || !b.is_there()) return kInfinity;
  return std::max(a.FarthestOf(b.Points()), b.FarthestOf(a.Points()));
}

double DiagonalOf(const json& box) {
  double square = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    const double side = box["high"][k].get<double>() - box["low"][k].get<double>();
    square += side * side;
  }
  return std::sqrt(square);
}

// The leaves of a document by their keys.
std::map<std::string, json> Leaves(const json& document) {
  std::map<std::string, json> leaves;
  const json flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string key = pointer.empty() ? pointer : pointer.substr(1);
    std::ranges::replace(key, '/', '.');
    leaves[key] = value;
  }
  return leaves;
}

// A part of a document, which loses it.
json Taken(json* document, const std::string& key) {
  json part = std::move((*document)[key]);
  document->erase(key);
  return part;
}

// Values in `a` or `b` that differ. Places are compared beside `size`.
std::vector<ValueDifference> Differences(const json& a, const json& b, double size) {
  const auto of_a = Leaves(a), of_b = Leaves(b);
  std::map<std::string, ValueDifference> differences;
  for (const auto& [key, value] : of_a) differences[key].a = value;
  for (const auto& [key, value] : of_b) differences[key].b = value;
  std::vector<ValueDifference> list;
  for (auto& [key, difference] : differences) {
    if (difference.a == difference.b) continue;
    difference.key = key;
    if (difference.a.is_number() && difference.b.is_number()) {
      const double x = difference.a.get<double>(), y = difference.b.get<double>();
      double scale = std::max(std::fabs(x), std::fabs(y));
      if (key.find(".rest.position") != std::string::npos) scale = size;
      if (key.find(".rest.rotation") != std::string::npos) scale = 1.0;
      difference.relative = scale > 0.0 ? std::fabs(x - y) / scale : 0.0;
    }
    list.push_back(std::move(difference));
  }
  return list;
}

json ListJson(const std::vector<ValueDifference>& differences) {
  json list = json::array();
  for (const ValueDifference& d : differences) {
    list.push_back({{"key", d.key}, {"a", d.a}, {"b", d.b}, {"relative", d.relative}});
  }
  return list;
}

std::string ValueText(const json& value) {
  if (value.is_null()) return "-";
  if (value.is_number_float()) return RoundedText(value.get<double>());
  return PrintableUtf8(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

std::string ListText(const char* title, const std::vector<ValueDifference>& differences) {
  if (differences.empty()) return "";
  std::string text = std::string(title) + ":\n";
  for (const ValueDifference& d : differences) {
    text += "  " + PrintableUtf8(d.key) + ": " + ValueText(d.a) + " -> " + ValueText(d.b);
    if (d.a.is_number() && d.b.is_number()) {
      text += Formatted(", %.3g%%", 100.0 * d.relative);
    }
    text += "\n";
  }
  return text;
}

json FiniteOrNull(double number) { return std::isfinite(number) ? json(number) : json(); }

}  // namespace

double AssetDiff::Largest() const {
  double largest = surface_relative;
  for (const ValueDifference& d : values) largest = std::max(largest, d.relative);
  return largest;
}

AssetDiff CompareAssets(const Asset& a, const Asset& b) {
  AssetDiff diff;
  diff.same_bytes = std::ranges::equal(a.bytes(), b.bytes());
  if (diff.same_bytes) return diff;
  json info_a = AssetInfo(a), info_b = AssetInfo(b);
  // The distance of the surfaces says what boxes say.
  const double size = std::max(DiagonalOf(Taken(&info_a, "bounding_box")),
                               DiagonalOf(Taken(&info_b, "bounding_box")));
  diff.surface_m = DistanceOf(RestSurface(a), RestSurface(b));
  if (diff.surface_m > 0.0) diff.surface_relative = size > 0.0 ? diff.surface_m / size : kInfinity;
  diff.settings = Differences(Taken(&info_a, "settings"), Taken(&info_b, "settings"), size);
  json provenance_a, provenance_b;
  for (const char* key : {"format_version", "tool_version", "content_hash", "source_hash"}) {
    provenance_a[key] = Taken(&info_a, key);
    provenance_b[key] = Taken(&info_b, key);
  }
  diff.provenance = Differences(provenance_a, provenance_b, size);
  for (json* info : {&info_a, &info_b}) {
    json bytes;
    for (const json& section : Taken(info, "sections")) {
      bytes[section["name"].get<std::string>()] = section["bytes"];
    }
    (*info)["bytes"] = std::move(bytes);
  }
  diff.values = Differences(info_a, info_b, size);
  return diff;
}

json AssetDiffJson(const AssetDiff& diff) {
  return {{"same_bytes", diff.same_bytes},
          {"values", ListJson(diff.values)},
          {"settings", ListJson(diff.settings)},
          {"provenance", ListJson(diff.provenance)},
          {"surface_m", FiniteOrNull(diff.surface_m)},
          {"surface_relative", FiniteOrNull(diff.surface_relative)},
          {"largest", FiniteOrNull(diff.Largest())}};
}

std::string AssetDiffText(const AssetDiff& diff) {
  if (diff.same_bytes) return "the same bytes\n";
  std::string text = ListText("settings", diff.settings);
  text += ListText("values", diff.values);
  text += ListText("provenance", diff.provenance);
  text += Formatted("rest surfaces: %.4g m apart, %.3g%% of the size\n", diff.surface_m,
                    100.0 * diff.surface_relative);
  text += Formatted("largest relative difference: %.3g%%\n", 100.0 * diff.Largest());
  return text;
}

}  // namespace plush::tools
