// SPDX-License-Identifier: MIT
#include "bench/body_memory.h"

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "collision/collision_state.h"

#include <algorithm>
#include <cstdlib>

namespace plush::bench {
namespace {

double QueryBytes(const Asset& asset) {
  CountedHeap heap;
  CollisionState state;
  if (!state.Reserve(heap.allocator(), asset.collision(), asset.simulation().nodes.size())) {
    std::abort();
  }
  return heap.bytes();
}

}  // namespace

Allocator CountedHeap::allocator() {
  return {[](void* user, size_t bytes, size_t alignment) -> void* {
            static_cast<CountedHeap*>(user)->bytes_ += bytes;
            const Allocator heap = DefaultAllocator();
            return heap.allocate(heap.user, bytes, alignment);
          },
          [](void* user, void* memory, size_t bytes, size_t alignment) {
            static_cast<CountedHeap*>(user)->bytes_ -= bytes;
            const Allocator heap = DefaultAllocator();
            heap.release(heap.user, memory, bytes, alignment);
          },
          this};
}

BodyMemory MeasureBodyMemory(const Asset& asset, const BodyDesc& body, const WorldDesc& world,
                             size_t bodies) {
  bodies = std::max<size_t>(bodies, 2);
  CountedHeap heap;
  WorldDesc counted = world;
  counted.allocator = heap.allocator();
  World w(counted);
  const double empty = heap.bytes();
  double first = 0.0, second = 0.0;
  for (size_t i = 0; i < bodies; ++i) {
    const double before = heap.bytes();
    BodyId id;
    if (!w.AddBody(asset, body, &id).ok()) std::abort();
    if (i == 0) first = heap.bytes() - before;
    if (i == 1) second = heap.bytes() - before;
  }
  BodyMemory memory;
  memory.shared = first - second;
  memory.queries = QueryBytes(asset);
  memory.state =
      (heap.bytes() - empty - memory.shared) / static_cast<double>(bodies) - memory.queries;
  const double without_plane = heap.bytes();
  ColliderId plane;
  if (!w.AddCollider({}, &plane).ok()) std::abort();
  memory.plane = (heap.bytes() - without_plane) / static_cast<double>(bodies);
  return memory;
}

}  // namespace plush::bench
