// SPDX-License-Identifier: MIT
#include "simulate/open_asset.h"

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

}  // namespace

Error AssetError(const std::string& path, const Status& status) {
  const ExitCode code = ExitCodeOf(status.code);
  std::string message = path + ": " + status.reason;
  if (status.section[0] != '\0') message += std::string(" (") + status.section + ")";
  if (code == ExitCode::kInvalidInput) message += "; run `plush validate` on it, or bake again";
  return {code, message, ""};
}

Result<Asset> OpenAsset(const std::string& path) {
  Asset asset;
  const Status status = asset.Open(path.c_str());
  if (!status.ok()) return AssetError(path, status);
  return asset;
}

}  // namespace plush::tools
