// SPDX-License-Identifier: MIT
// Unpacks with minizip, piece by piece.
#include "import/3mf_package.h"

#include "base/text.h"

#include <minizip/unzip.h>

#include <algorithm>

namespace plush::tools {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr int kIgnoreCase = 2;

Error Invalid(const std::string& why) { return {ExitCode::kInvalidInput, why, "IMPORT_FAILED"}; }

}  // namespace

void ThreeMfPackage::Close::operator()(void* zip) const { unzClose(zip); }

Result<ThreeMfPackage> ThreeMfPackage::Open(const std::string& path) {
  ThreeMfPackage package;
  package.zip_.reset(unzOpen64(path.c_str()));
  if (package.zip_ == nullptr) return Invalid("the file is no whole ZIP archive; it may be cut");
  return package;
}

Result<std::vector<char>> ThreeMfPackage::Read(std::string name) {
  if (name.starts_with('/')) name.erase(0, 1);
  const std::string quoted = "part '" + PrintableUtf8(name) + "' ";
  if (unzLocateFile(zip_.get(), name.c_str(), kIgnoreCase) != UNZ_OK) {
    return Invalid(quoted + "is missing");
  }
  if (unzOpenCurrentFile(zip_.get()) != UNZ_OK) return Invalid(quoted + "cannot be unpacked");
  std::vector<char> bytes;
  int count = 0;
  do {
    const size_t size = bytes.size();
    bytes.resize(size + kPieceBytes);
    count = unzReadCurrentFile(zip_.get(), bytes.data() + size, kPieceBytes);
    bytes.resize(size + static_cast<size_t>(std::max(count, 0)));
  } while (count > 0 && bytes.size() <= bytes_left_);
  const bool is_whole = unzCloseCurrentFile(zip_.get()) == UNZ_OK && count == 0;
  if (bytes.size() > bytes_left_) {
    return Error{ExitCode::kLimit,
                 "the unpacked parts have more than " + std::to_string(kMaxBytes) + " bytes",
                 "IMPORT_LIMIT"};
  }
  if (!is_whole) return Invalid(quoted + "is broken");
  bytes_left_ -= bytes.size();
  return bytes;
}

}  // namespace plush::tools
