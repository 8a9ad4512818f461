// SPDX-License-Identifier: MIT
// Memory that bodies take from the allocator of their world.
#pragma once

#include "plush/world.h"

#include <cstddef>

namespace plush::bench {

/// The default allocator, on one thread, with a count of the bytes not yet released.
class CountedHeap {
 public:
  /// This object must outlive everything allocated from it.
  Allocator allocator();
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  size_t bytes_ = 0;
};

/// Bytes that a world takes for identical bodies.
struct BodyMemory {
  double shared =
      0.0;  ///< shared by all: the matrix, and its factors if they are not the baked ones
  double state = 0.0;    ///< for each body, its part of crowds included, without queries
  double queries = 0.0;  ///< for each body: what its queries work with
  double plane = 0.0;    ///< for each body, once the world has a plane
};

/// Adds `bodies` bodies, at least two, to a new world without planes.
BodyMemory MeasureBodyMemory(const Asset& asset, const BodyDesc& body, const WorldDesc& world,
                             size_t bodies);

}  // namespace plush::bench
