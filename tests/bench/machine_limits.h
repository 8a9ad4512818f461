// SPDX-License-Identifier: MIT
// What one thread of this machine can do at best, for figures to be held against: measured where
// they are needed, in the same run.
#pragma once

#include <cstddef>

namespace plush::bench {

/// Multiply-adds of floats that do not wait for each other, on the instruction set in use [1/s].
double MultiplyAddsPerSecond();

/// Bytes read and written by copying one half of `bytes` bytes to the other, over and over [B/s].
double CopiedBytesPerSecond(size_t bytes);

}  // namespace plush::bench
