// SPDX-License-Identifier: MIT
#include "intersection/placed_patches.h"

#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "intersection/place_vertices.h"

#include <algorithm>
#include <limits>

namespace plush {

namespace {

constexpr float kMost = std::numeric_limits<float>::max();

LaneBox Nothing() { return {Broadcast(kMost), Broadcast(-kMost)}; }

LaneBox Around(const LaneBox& a, const LaneBox& b) {
  return {Min(a.low, b.low), Max(a.high, b.high)};
}

BoxColumns ColumnsFrom(const Array<float> (&low)[3], const Array<float> (&high)[3], size_t first) {
  return {{low[0].data() + first, low[1].data() + first, low[2].data() + first},
          {high[0].data() + first, high[1].data() + first, high[2].data() + first}};
}

}  // namespace

bool PlacedPatches::Reserve(const Allocator& allocator, size_t num_vertices, size_t triangles,
                            size_t patches) {
  const size_t chunks = triangles / kBoxChunk + patches + 1 + kLanePadding;
  for (int k = 0; k < 3; ++k) {
    for (Array<float>* column : {&low[k], &high[k]}) {
      if (!column->Allocate(allocator, triangles + kLanePadding, 0.0f)) return false;
    }
    for (Array<float>* column : {&chunk_low[k], &chunk_high[k]}) {
      if (!column->Allocate(allocator, chunks, 0.0f)) return false;
    }
    for (Array<float>* column :
         {&tet_low[k], &tet_high[k], &tet_chunk_low[k], &tet_chunk_high[k]}) {
      if (!column->Allocate(allocator, patches + kLanePadding, 0.0f)) return false;
    }
  }
  search = tets_in = 0;
  const size_t most_picked = std::min(triangles, size_t{kMostPicked});
  return tets.Allocate(allocator, patches + kLanePadding) &&
         blocks.Allocate(allocator, most_picked / TriangleBlock::kSize + 1, TriangleBlock{}) &&
         picked.Allocate(allocator, triangles + kLanePadding) &&
         near.Allocate(allocator, triangles + kLanePadding) &&
         vertices.Allocate(allocator, 4 * num_vertices, 0.0f) &&
         bounds.Allocate(allocator, 8 * patches) && placed_in.Allocate(allocator, patches, 0u);
}

void PlacedPatches::Begin() {
  if (++search != 0) return;
  std::fill(placed_in.begin(), placed_in.end(), 0u);
  search = 1;
  tets_in = 0;
}

PlacedPatches::Tets PlacedPatches::PlaceTets(const CollisionBody& body, const Vec3& offset) {
  const CollisionView& surface = body.surface;
  const Tets all = {ColumnsFrom(tet_low, tet_high, 0),
                    ColumnsFrom(tet_chunk_low, tet_chunk_high, 0),
                    static_cast<uint32_t>(surface.tets.size())};
  if (tets_in == search) return all;
  tets_in = search;
  // Vertices round once more there.
  const Float4 from = {offset.x, offset.y, offset.z, 0.0f};
  const Float4 margin = Broadcast(16.0f * std::numeric_limits<float>::epsilon() *
                                      (body.state.reach + SumNorm(offset)) +
                                  std::numeric_limits<float>::min());
  LaneBox of_chunk = {};
  uint32_t tet = 0;
  for (size_t node = 0; node < surface.tree.size(); ++node) {
    if (surface.tree[node] != 0) continue;
    const Dop14& volume = body.state.volumes[node];
    const LaneBox box = {Load4(volume.low) + from - margin, Load4(volume.high) + from + margin};
    of_chunk = tet % kBoxChunk == 0 ? box : Around(of_chunk, box);
    for (int k = 0; k < 3; ++k) tet_low[k][tet] = box.low[k], tet_high[k][tet] = box.high[k];
    const uint32_t chunk = tet++ / kBoxChunk;
    if (tet % kBoxChunk != 0 && tet != all.count) continue;
    for (int k = 0; k < 3; ++k) {
      tet_chunk_low[k][chunk] = of_chunk.low[k];
      tet_chunk_high[k][chunk] = of_chunk.high[k];
    }
  }
  return all;
}

LaneBox PlacedPatches::Place(const CollisionBody& body, const Vec3& offset, uint32_t tet,
                             uint32_t patch) {
  if (placed_in[patch] == search) return BoundsOf(patch);
  placed_in[patch] = search;
  const CollisionView& surface = body.surface;
  Vec3 nodes[4];
  for (int k = 0; k < 4; ++k) nodes[k] = body.x[surface.tets[tet].nodes[k]] + offset;
  const size_t first = surface.patches[patch].first_vertex;
  const size_t last = patch + 1 < surface.patches.size() ? surface.patches[patch + 1].first_vertex
                                                         : surface.vertices.size();
  PlaceVertices(nodes, surface.vertices.subspan(first, last - first), &vertices[4 * first]);
  const LaneBox all = WithTriangles(
      surface, [&](const auto& triangles) { return Bound(surface, triangles, patch); });
  Store4(all.low, &bounds[size_t{8} * patch]);
  Store4(all.high, &bounds[size_t{8} * patch + 4]);
  return all;
}

// Sets the boxes of a patch's triangles and chunks. Returns that of all.
template <class Record>
LaneBox PlacedPatches::Bound(const CollisionView& surface, std::span<const Record> triangles,
                             uint32_t patch) {
  const uint32_t begin = surface.patches[patch].first_triangle;
  const uint32_t end = TrianglesEnd(surface, patch);
  const auto box_of = [&](uint32_t t) -> LaneBox {
    const auto corner = [&](int k) {
      return Load4(&vertices[size_t{4} * VertexOf(triangles[t], k)]);
    };
    const Float4 a = corner(0), b = corner(1), c = corner(2);
    return {Min(Min(a, b), c), Max(Max(a, b), c)};
  };
  LaneBox all = Nothing();
  for (uint32_t from = begin, chunk = ChunkOf(patch, begin); from < end;
       from += kBoxChunk, ++chunk) {
    const uint32_t to = std::min(from + kBoxChunk, end);
    LaneBox of_chunk = Nothing();
    uint32_t t = from;
    for (; t + 4 <= to; t += 4) {
      LaneBox boxes[4];
      for (uint32_t i = 0; i < 4; ++i) {
        boxes[i] = box_of(t + i);
        of_chunk = Around(of_chunk, boxes[i]);
      }
      Transpose4(&boxes[0].low, &boxes[1].low, &boxes[2].low, &boxes[3].low);
      Transpose4(&boxes[0].high, &boxes[1].high, &boxes[2].high, &boxes[3].high);
      for (int k = 0; k < 3; ++k)
        Store4(boxes[k].low, &low[k][t]), Store4(boxes[k].high, &high[k][t]);
    }
    for (; t < to; ++t) {
      const LaneBox box = box_of(t);
      of_chunk = Around(of_chunk, box);
      for (int k = 0; k < 3; ++k) low[k][t] = box.low[k], high[k][t] = box.high[k];
    }
    for (int k = 0; k < 3; ++k) {
      chunk_low[k][chunk] = of_chunk.low[k];
      chunk_high[k][chunk] = of_chunk.high[k];
    }
    all = Around(all, of_chunk);
  }
  return all;
}

uint32_t PlacedPatches::Meeting(const LaneBox& box, uint32_t patch, uint32_t begin, uint32_t end,
                                uint32_t* list, LaneBox* around) const {
  if (around != nullptr) *around = Nothing();
  return FindMeeting(box, Boxes(), ColumnsFrom(chunk_low, chunk_high, ChunkOf(patch, begin)), begin,
                     end, list, around);
}

uint32_t PlacedPatches::OnRay(const BoxRay& ray, uint32_t patch, uint32_t begin, uint32_t end,
                              uint32_t* list) const {
  return FindOnRay(ray, Boxes(), ColumnsFrom(chunk_low, chunk_high, ChunkOf(patch, begin)), begin,
                   end, list);
}

TriangleBlocks PlacedPatches::Pick(const CollisionView& surface, std::span<const uint32_t> which,
                                   float reach) {
  constexpr size_t kSize = TriangleBlock::kSize;
  const std::span<TriangleBlock> all = blocks.span().first((which.size() + kSize - 1) / kSize);
  WithTriangles(surface, [&](const auto& triangles) {
    for (size_t i = 0; i < which.size(); i += 4) {
      TriangleBlock& block = all[i / kSize];
      for (int corner = 0; corner < 3; ++corner) {
        Float4 at[4];
        for (size_t k = 0; k < 4; ++k) {
          const uint32_t t = which[std::min(i + k, which.size() - 1)];
          at[k] = Load4(&vertices[size_t{4} * VertexOf(triangles[t], corner)]);
        }
        Transpose4(&at[0], &at[1], &at[2], &at[3]);
        for (int axis = 0; axis < 3; ++axis) {
          Store4(at[axis], block.corners[corner][axis] + i % kSize);
        }
      }
    }
  });
  MeasureTriangles(reach, all);
  return {all, which};
}

}  // namespace plush
