// SPDX-License-Identifier: MIT
// Clusters of a system: their nodes, their masses and the tets between them.
// Source: see coarse_level.h.
#include "solver/coarse_level.h"

#include <algorithm>

namespace plush {
namespace {

constexpr uint32_t kPinned = CoarsePair::kPins;

struct Corners {
  uint32_t nodes[4];
  uint32_t clusters[4];  // or kPinned
};

// The clusters of all nodes as CoarseLevel numbers them.
struct Numbering {
  Array<uint32_t> of_nodes;  // or kPinned

  bool Make(const Allocator& allocator, const CoarseLevel& level, size_t num_nodes) {
    if (!of_nodes.Allocate(allocator, num_nodes, kPinned)) return false;
    for (uint32_t k = 0; k < level.num_clusters(); ++k) {
      for (uint32_t i = level.first_member[k]; i < level.first_member[k + 1]; ++i) {
        of_nodes[level.members[i]] = k;
      }
    }
    return true;
  }

  Corners Of(const Tet& tet) const {
    return {{tet.a, tet.b, tet.c, tet.d},
            {of_nodes[tet.a], of_nodes[tet.b], of_nodes[tet.c], of_nodes[tet.d]}};
  }
};

bool IsResisting(const Corners& c) {
  return c.clusters[0] != c.clusters[1] || c.clusters[0] != c.clusters[2] ||
         c.clusters[0] != c.clusters[3];
}

// Sorts the free nodes by cluster. Sets `first_member` and `members`.
bool FindMembers(const Allocator& allocator, std::span<const uint8_t> pinned,
                 std::span<const uint16_t> clusters, uint32_t num_clusters, CoarseLevel* level) {
  Array<uint32_t>& first = level->first_member;
  if (!first.Allocate(allocator, num_clusters + 1, 0u)) return false;
  for (size_t i = 0; i < clusters.size(); ++i) {
    if (pinned[i] == 0) ++first[clusters[i] + 1];
  }
  for (uint32_t k = 0; k < num_clusters; ++k) first[k + 1] += first[k];
  if (!level->members.Allocate(allocator, first[num_clusters])) return false;
  for (uint32_t i = 0; i < clusters.size(); ++i) {
    if (pinned[i] == 0) level->members[first[clusters[i]]++] = i;
  }
  // Each first place has moved to the next cluster's.
  std::copy_backward(first.begin(), first.end() - 1, first.end());
  first[0] = 0;
  return true;
}

// Sets `shares`, `masses` and `turns`.
bool WeighMembers(const Allocator& allocator, const SystemView& system, uint32_t num_clusters,
                  CoarseLevel* level) {
  if (!level->shares.Allocate(allocator, level->members.size()) ||
      !level->masses.Allocate(allocator, num_clusters, 0.0f) ||
      !level->turns.Allocate(allocator, num_clusters, uint8_t{0})) {
    return false;
  }
  for (uint32_t k = 0; k < num_clusters; ++k) {
    const uint32_t begin = level->first_member[k], end = level->first_member[k + 1];
    level->turns[k] = end - begin > 2 ? 1 : 0;
    double mass = 0.0;
    for (uint32_t i = begin; i < end; ++i) mass += double(system.masses[level->members[i]]);
    for (uint32_t i = begin; i < end; ++i) {
      level->shares[i] = static_cast<float>(double(system.masses[level->members[i]]) / mass);
    }
    level->masses[k] = static_cast<float>(mass * double(system.mass_scale));
  }
  return true;
}

// Sets `resisting` and `runs`.
bool FindResisting(const Allocator& allocator, const ElementView& elements,
                   const Numbering& numbering, CoarseLevel* level) {
  Array<uint16_t>& resisting = level->resisting;
  if (!resisting.Allocate(allocator, elements.blocks.size(), uint16_t{0})) return false;
  for (uint32_t t = 0; t < elements.tets.size(); ++t) {
    if (!IsResisting(numbering.Of(elements.tets[t]))) continue;
    uint16_t& block = resisting[elements.slots[t] / kBlockTets];
    block = static_cast<uint16_t>(block | 1u << elements.slots[t] % kBlockTets);
  }
  const auto begins = [&](size_t b) {
    return resisting[b] != 0 && (b == 0 || resisting[b - 1] == 0);
  };
  size_t num_runs = 0;
  for (size_t b = 0; b < resisting.size(); ++b) num_runs += begins(b) ? 1 : 0;
  if (!level->runs.Allocate(allocator, num_runs)) return false;
  BlockRun* run = level->runs.begin();
  for (uint32_t b = 0; b < resisting.size(); ++b) {
    if (resisting[b] == 0) continue;
    if (begins(b)) *run++ = {b, b};
    run[-1].end = b + 1;
  }
  return true;
}

}  // namespace

bool CoarseLevel::Build(const Allocator& allocator, const SystemView& system,
                        std::span<const Vec3> rest, std::span<const uint16_t> clusters,
                        uint32_t num_clusters) {
  const auto is_free = [](uint8_t pinned) { return pinned == 0; };
  if (clusters.empty() || std::ranges::none_of(system.pinned, is_free)) return true;
  Numbering numbering;
  return FindMembers(allocator, system.pinned, clusters, num_clusters, this) &&
         WeighMembers(allocator, system, num_clusters, this) &&
         numbering.Make(allocator, *this, rest.size()) &&
         FindResisting(allocator, system.elements, numbering, this) &&
         pattern.Build(allocator, system.elements, rest, numbering.of_nodes.span(), num_clusters);
}

}  // namespace plush
