// SPDX-License-Identifier: MIT
// The hash that tells a changed .plush file from the one that was baked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace plush::tools {

/// Place of the content_hash field in `bytes` [bytes from the start], or nothing if the root table
/// lacks it or does not fit: a file of this format always has it.
std::optional<size_t> FindContentHash(std::span<const std::byte> bytes);

/// XXH3-64 of `bytes` with the eight bytes at `field` taken as zero; field + 8 <= bytes.size().
uint64_t ContentHash(std::span<const std::byte> bytes, size_t field);

}  // namespace plush::tools
