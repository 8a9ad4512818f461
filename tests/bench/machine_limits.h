// SPDX-License-Identifier: MIT
// The best that one thread of this machine can do. Measured in the same run as the figures that are
// compared with it.
#pragma once

#include <cstddef>

namespace plush::bench {

/// Independent multiply-adds of floats, on the instruction set in use [1/s].
double MultiplyAddsPerSecond();

/// Bytes read and written by copying one half of `bytes` bytes to the other repeatedly [B/s].
double CopiedBytesPerSecond(size_t bytes);

}  // namespace plush::bench
