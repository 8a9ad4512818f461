// SPDX-License-Identifier: MIT
#include "plush/status.h"

namespace plush {

const char* StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "Ok";
    case StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case StatusCode::kCannotRead:
      return "CannotRead";
    case StatusCode::kTruncated:
      return "Truncated";
    case StatusCode::kBadMagic:
      return "BadMagic";
    case StatusCode::kForeignVersion:
      return "ForeignVersion";
    case StatusCode::kLayoutMismatch:
      return "LayoutMismatch";
    case StatusCode::kMisaligned:
      return "Misaligned";
    case StatusCode::kCorrupt:
      return "Corrupt";
    case StatusCode::kOutOfMemory:
      return "OutOfMemory";
  }
  return "Unknown";
}

}  // namespace plush
