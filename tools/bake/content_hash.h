// SPDX-License-Identifier: MIT
// The hash that shows whether a .plush file was changed after the bake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace plush::tools {

/// Offset of the content_hash field in `bytes`, which every file of this format has. Nothing if the
/// root table lacks it or does not fit.
std::optional<size_t> FindContentHash(std::span<const std::byte> bytes);

/// XXH3-64 of `bytes` with zeros for the eight bytes at `field`; field + 8 <= bytes.size().
uint64_t ContentHash(std::span<const std::byte> bytes, size_t field);

}  // namespace plush::tools
