// SPDX-License-Identifier: MIT
#include "simulate/open_asset.h"

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

ExitCode ExitCodeOf(StatusCode code) {
  if (code == StatusCode::kCannotRead) return ExitCode::kIo;
  if (code == StatusCode::kOutOfMemory) return ExitCode::kLimit;
  const bool is_foreign =
      code == StatusCode::kForeignVersion || code == StatusCode::kLayoutMismatch;
  return is_foreign ? ExitCode::kUnsupported : ExitCode::kInvalidInput;
}

}  // namespace

Result<Asset> OpenAsset(const std::string& path) {
  Asset asset;
  const Status status = asset.Open(path.c_str());
  if (status.ok()) return asset;
  const ExitCode code = ExitCodeOf(status.code);
  std::string message = path + ": " + status.reason;
  if (status.section[0] != '\0') message += std::string(" (") + status.section + ")";
  if (code == ExitCode::kInvalidInput) message += "; run `plush validate` on it, or bake again";
  return Error{code, message, ""};
}

Result<Asset> OpenBody(const std::string& path) {
  Result<Asset> asset = OpenAsset(path);
  if (!asset.ok() || !asset.value().is_static()) return asset;
  return Error{
      ExitCode::kUnsupported,
      path + ": it holds a static mesh, which is no body; bake its source without --static", ""};
}

Vec3d Rotate(const Quat& rotation, const Vec3d& point) {
  const Vec3d axis = {rotation.x, rotation.y, rotation.z};
  const Vec3d t = 2.0 * Cross(axis, point);
  return point + static_cast<double>(rotation.w) * t + Cross(axis, t);
}

Box3 BoundsOf(std::span<const Vec3> points, const Quat& rotation) {
  Box3 box;
  for (const Vec3& point : points) box.Add(Rotate(rotation, ToDouble(point)));
  return box;
}

Box3 SurfaceBounds(const Asset& asset, const Quat& rotation) {
  const auto vertices = asset.visual().positions;
  return BoundsOf(vertices.empty() ? asset.simulation().nodes : vertices, rotation);
}

double LowestAlong(const Vec3d& direction, const Asset& asset, std::span<const Vec3> nodes) {
  const CollisionView& surface = asset.collision();
  const auto along = [&](uint32_t node) { return Dot(direction, ToDouble(nodes[node])); };
  double least = INFINITY;
  for (uint32_t i = 0; i < nodes.size() && surface.tets.empty(); ++i) {
    least = std::min(least, along(i));
  }
  for (size_t p = 0; p < surface.patches.size(); ++p) {
    const CdgTet& tet = surface.tets[surface.patches[p].tet];
    const double of[4] = {along(tet.nodes[0]), along(tet.nodes[1]), along(tet.nodes[2]),
                          along(tet.nodes[3])};
    const size_t end = p + 1 < surface.patches.size() ? surface.patches[p + 1].first_vertex
                                                      : surface.vertices.size();
    for (const Vec4& w : surface.vertices.first(end).subspan(surface.patches[p].first_vertex)) {
      least = std::min(least, double(w.x) * of[0] + double(w.y) * of[1] + double(w.z) * of[2] +
                                  double(w.w) * of[3]);
    }
  }
  return least;
}

}  // namespace plush::tools
