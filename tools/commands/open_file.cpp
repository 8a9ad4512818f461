// SPDX-License-Identifier: MIT
#include "commands/open_file.h"

#include "base/files.h"

namespace plush::tools {
namespace {

// A .plush file is smaller; `plush` does not read a disk image to find that out.
constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;

}  // namespace

Result<std::vector<std::byte>> ReadAssetFile(const std::string& path) {
  return ReadFile(path, kMaxBytes);
}

Error OpenError(const std::string& path, const Status& status) {
  const bool foreign =
      status.code == StatusCode::kForeignVersion || status.code == StatusCode::kLayoutMismatch;
  std::string text = "'" + path + "': " + status.section;
  if (status.index != 0) text.append("[").append(std::to_string(status.index)).append("]");
  text.append(": ").append(status.reason);
  if (!foreign) text += "; `plush validate` says all that is wrong";
  return {foreign ? ExitCode::kUnsupported : ExitCode::kInvalidInput, text, ""};
}

}  // namespace plush::tools
