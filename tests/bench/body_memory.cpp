// SPDX-License-Identifier: MIT
#include "bench/body_memory.h"

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "collision/collision_state.h"

#include <algorithm>
#include <cstdlib>

namespace plush::bench {
namespace {

// Allocates from the heap and counts bytes not yet released.
class Counting {
 public:
  Allocator allocator() {
    return {[](void* user, size_t bytes, size_t alignment) -> void* {
              static_cast<Counting*>(user)->bytes_ += bytes;
              const Allocator heap = DefaultAllocator();
              return heap.allocate(heap.user, bytes, alignment);
            },
            [](void* user, void* memory, size_t bytes, size_t alignment) {
              static_cast<Counting*>(user)->bytes_ -= bytes;
              const Allocator heap = DefaultAllocator();
              heap.release(heap.user, memory, bytes, alignment);
            },
            this};
  }
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  size_t bytes_ = 0;
};

double QueryBytes(const Asset& asset) {
  Counting counting;
  CollisionState state;
  if (!state.Reserve(counting.allocator(), asset.collision(), asset.simulation().nodes.size())) {
    std::abort();
  }
  return counting.bytes();
}

}  // namespace

BodyMemory MeasureBodyMemory(const Asset& asset, const BodyDesc& body, const WorldDesc& world,
                             size_t bodies) {
  bodies = std::max<size_t>(bodies, 2);
  Counting counting;
  WorldDesc counted = world;
  counted.allocator = counting.allocator();
  World w(counted);
  const double empty = counting.bytes();
  double first = 0.0, second = 0.0;
  for (size_t i = 0; i < bodies; ++i) {
    const double before = counting.bytes();
    BodyId id;
    if (!w.AddBody(asset, body, &id).ok()) std::abort();
    if (i == 0) first = counting.bytes() - before;
    if (i == 1) second = counting.bytes() - before;
  }
  BodyMemory memory;
  memory.shared = first - second;
  memory.queries = QueryBytes(asset);
  memory.state =
      (counting.bytes() - empty - memory.shared) / static_cast<double>(bodies) - memory.queries;
  const double without_plane = counting.bytes();
  if (!w.AddPlane({}).ok()) std::abort();
  memory.plane = (counting.bytes() - without_plane) / static_cast<double>(bodies);
  return memory;
}

}  // namespace plush::bench
