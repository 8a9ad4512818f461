// SPDX-License-Identifier: MIT
// The best that one thread of this machine can do. Measured in the same run as the figures that are
// compared with it.
#pragma once

#include <cstddef>

namespace plush::bench {

/// Multiply-adds of floats that do not wait for each other, on the instruction set in use [1/s].
double MultiplyAddsPerSecond();

/// Bytes read and written by copying one half of `bytes` bytes to the other, over and over [B/s].
double CopiedBytesPerSecond(size_t bytes);

}  // namespace plush::bench
