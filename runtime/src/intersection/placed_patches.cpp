// SPDX-License-Identifier: MIT
#include "intersection/placed_patches.h"

#include "collision/surface_records.h"
#include "collision/vertex_positions.h"

#include <algorithm>
#include <limits>

namespace plush {

bool PlacedPatches::Reserve(const Allocator& allocator, size_t num_vertices, size_t triangles,
                            size_t patches) {
  for (int k = 0; k < 3; ++k) {
    for (Array<float>* column : {&low[k], &high[k], &picked_low[k], &picked_high[k]}) {
      if (!column->Allocate(allocator, triangles + kLanePadding, 0.0f)) return false;
    }
  }
  const size_t chunks = triangles / kChunk + patches + 1 + kLanePadding;
  for (int k = 0; k < 3; ++k) {
    if (!chunk_low[k].Allocate(allocator, chunks, 0.0f) ||
        !chunk_high[k].Allocate(allocator, chunks, 0.0f)) {
      return false;
    }
  }
  search = 0;
  return picked.Allocate(allocator, triangles + kLanePadding) &&
         near.Allocate(allocator, triangles + kLanePadding) &&
         vertices.Allocate(allocator, 4 * num_vertices, 0.0f) &&
         bounds.Allocate(allocator, 8 * patches) && placed_in.Allocate(allocator, patches, 0u);
}

void PlacedPatches::Begin() {
  if (++search != 0) return;
  std::fill(placed_in.begin(), placed_in.end(), 0u);
  search = 1;
}

LaneBox PlacedPatches::Place(const CollisionBody& body, const Vec3& offset, uint32_t tet,
                             uint32_t patch) {
  float* const of_patch = &bounds[size_t{8} * patch];
  if (placed_in[patch] == search) return {Load4(of_patch), Load4(of_patch + 4)};
  placed_in[patch] = search;
  const CollisionView& surface = body.surface;
  std::array<Vec3, 4> nodes = NodesOf(surface.tets[tet], body.x);
  for (Vec3& node : nodes) node += offset;
  const TetLanes lanes = LanesOf(nodes);
  const size_t last = patch + 1 < surface.patches.size() ? surface.patches[patch + 1].first_vertex
                                                         : surface.vertices.size();
  for (size_t v = surface.patches[patch].first_vertex; v < last; ++v) {
    Store4(VertexLanes(lanes, surface.vertices[v]), &vertices[4 * v]);
  }
  constexpr float kMost = std::numeric_limits<float>::max();
  const LaneBox none = {Broadcast(kMost), Broadcast(-kMost)};
  LaneBox all = none;
  WithTriangles(surface, [&](const auto& triangles) {
    const uint32_t begin = surface.patches[patch].first_triangle;
    const uint32_t end = TrianglesEnd(surface, patch);
    uint32_t chunk = ChunkOf(patch, begin);
    LaneBox of_chunk = none;
    for (uint32_t t = begin; t < end; ++t) {
      const auto corner = [&](int k) {
        return Load4(&vertices[size_t{4} * VertexOf(triangles[t], k)]);
      };
      const Float4 a = corner(0), b = corner(1), c = corner(2);
      const LaneBox box = {Min(Min(a, b), c), Max(Max(a, b), c)};
      for (int k = 0; k < 3; ++k) low[k][t] = box.low[k], high[k][t] = box.high[k];
      of_chunk = {Min(of_chunk.low, box.low), Max(of_chunk.high, box.high)};
      if ((t - begin + 1) % kChunk != 0 && t + 1 != end) continue;
      for (int k = 0; k < 3; ++k) {
        chunk_low[k][chunk] = of_chunk.low[k];
        chunk_high[k][chunk] = of_chunk.high[k];
      }
      ++chunk;
      all = {Min(all.low, of_chunk.low), Max(all.high, of_chunk.high)};
      of_chunk = none;
    }
  });
  Store4(all.low, of_patch);
  Store4(all.high, of_patch + 4);
  return all;
}

uint32_t PlacedPatches::Meeting(const LaneBox& box, uint32_t patch, uint32_t begin, uint32_t end,
                                uint32_t* list) const {
  const BoxColumns boxes = Boxes();
  if (end - begin <= 2 * kChunk) return FindMeeting(box, boxes, begin, end, list);
  const BoxColumns chunks = {{chunk_low[0].data(), chunk_low[1].data(), chunk_low[2].data()},
                             {chunk_high[0].data(), chunk_high[1].data(), chunk_high[2].data()}};
  constexpr uint32_t kAtOnce = 64;
  const uint32_t first = ChunkOf(patch, begin);
  const uint32_t last = first + (end - begin + kChunk - 1) / kChunk;
  uint32_t count = 0;
  for (uint32_t from = first; from < last; from += kAtOnce) {
    uint32_t met[kAtOnce + kLanePadding];
    const uint32_t num_met = FindMeeting(box, chunks, from, std::min(from + kAtOnce, last), met);
    for (uint32_t i = 0; i < num_met; ++i) {
      const uint32_t at = begin + kChunk * (met[i] - first);
      count += FindMeeting(box, boxes, at, std::min(at + kChunk, end), list + count);
    }
  }
  return count;
}

BoxColumns PlacedPatches::Pick(std::span<const uint32_t> which) {
  BoxColumns boxes;
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < which.size(); ++i) {
      picked_low[k][i] = low[k][which[i]];
      picked_high[k][i] = high[k][which[i]];
    }
    boxes.low[k] = picked_low[k].data();
    boxes.high[k] = picked_high[k].data();
  }
  return boxes;
}

}  // namespace plush
