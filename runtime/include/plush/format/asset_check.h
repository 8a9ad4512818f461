// SPDX-License-Identifier: MIT
// Reports every reason for which Asset::Open would refuse a file, for tools and editors. Games need
// only Asset::Open.
#pragma once

#include "plush/status.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Which invariant of the file is broken.
enum class CheckKind : uint8_t {
  kHeader,     ///< magic, version, layout, size: nothing further can be read
  kStructure,  ///< offsets of the FlatBuffers container, missing tables
  kAlignment,  ///< a bulk vector does not start at a multiple of kAssetAlignment
  kCounts,     ///< sizes of sections disagree
  kIndex,      ///< an index is not below its count
  kNonFinite,  ///< infinite or not a number
  kRange,      ///< finite, but outside the documented range
  kOrder,      ///< entries not in their documented order, or not distinct
  kFactor,     ///< the factor's pattern lacks entries that its elimination needs
};

/// Receives one broken invariant; the status names section, reason and index as Asset::Open would.
/// Returns false to stop checking.
using CheckCallback = bool (*)(void* user, CheckKind kind, const Status& status);

/// Makes all checks of Asset::Open(bytes, Trust::kNothing) in the same order. Continues after a
/// failure if that is safe: after kHeader, kStructure or kCounts it does not read through the
/// broken part. A null `callback` stops at the first failure. `bytes` must be aligned as for
/// Asset::Open. O(size log size); does not allocate.
void CheckAsset(std::span<const std::byte> bytes, void* user, CheckCallback callback);

/// Version of a file's format.
struct FormatVersion {
  uint16_t major = 0;
  uint16_t minor = 0;
};

/// Reads the version of a .plush file of any version. Returns false if `bytes` hold none or
/// `out_version` is null. `bytes` must be aligned as for Asset::Open.
bool ReadFormatVersion(std::span<const std::byte> bytes, FormatVersion* out_version);

}  // namespace plush
