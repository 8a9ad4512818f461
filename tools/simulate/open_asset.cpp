// SPDX-License-Identifier: MIT
#include "simulate/open_asset.h"

#include "plush/format/tet_block.h"

namespace plush::tools {
namespace {

ExitCode ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kCannotRead:
      return ExitCode::kIo;
    case StatusCode::kForeignVersion:
    case StatusCode::kLayoutMismatch:
      return ExitCode::kUnsupported;
    case StatusCode::kOutOfMemory:
      return ExitCode::kLimit;
    default:
      return ExitCode::kInvalidInput;
  }
}

Error AssetError(const std::string& path, const Status& status) {
  const ExitCode code = ExitCodeOf(status.code);
  std::string message = path + ": " + status.reason;
  if (status.section[0] != '\0') message += std::string(" (") + status.section + ")";
  if (code == ExitCode::kInvalidInput) message += "; run `plush validate` on it, or bake again";
  return {code, message, ""};
}

}  // namespace

Result<Asset> OpenAsset(const std::string& path) {
  Asset asset;
  const Status status = asset.Open(path.c_str());
  if (!status.ok()) return AssetError(path, status);
  return asset;
}

Vec3d Rotate(const Quat& rotation, const Vec3d& point) {
  const Vec3d axis = {rotation.x, rotation.y, rotation.z};
  const Vec3d t = 2.0 * Cross(axis, point);
  return point + static_cast<double>(rotation.w) * t + Cross(axis, t);
}

Bounds BoundsOf(std::span<const Vec3> points, const Quat& rotation) {
  Bounds bounds;
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3d p = Rotate(rotation, ToDouble(points[i]));
    bounds.low = i == 0 ? p : Min(bounds.low, p);
    bounds.high = i == 0 ? p : Max(bounds.high, p);
  }
  return bounds;
}

Bounds SurfaceBounds(const Asset& asset, const Quat& rotation) {
  const auto vertices = asset.visual().positions;
  return BoundsOf(vertices.empty() ? asset.simulation().nodes : vertices, rotation);
}

}  // namespace plush::tools
