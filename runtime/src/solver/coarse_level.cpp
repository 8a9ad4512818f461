// SPDX-License-Identifier: MIT
// Clusters of a system: their nodes, their masses and the tets between them.
// Source: see coarse_level.h.
#include "solver/coarse_level.h"

#include "solver/hinges.h"
#include "solver/node_parts.h"

#include <algorithm>
#include <cmath>

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
    for (uint32_t k = 0; k + 1 < level.first_member.size(); ++k) {
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

// Gives each part of a cluster's free nodes a cluster, while there are fewer than kMaxClusters. The
// part with its first free node keeps its number. Sets `clusters`.
bool CutClusters(const Allocator& allocator, const SystemView& system,
                 std::span<const uint16_t> baked, uint32_t* num_clusters, CoarseLevel* level) {
  constexpr uint32_t kNone = 0xffffffff;
  const auto num_nodes = static_cast<uint32_t>(baked.size());
  Array<uint32_t> parts, next;
  if (!level->clusters.Allocate(allocator, num_nodes)) return false;
  std::copy(baked.begin(), baked.end(), level->clusters.begin());
  if (std::ranges::all_of(system.pinned, [](uint8_t pinned) { return pinned == 0; })) return true;
  if (!FindParts(allocator, system.elements.tets, num_nodes, system.pinned, &parts) ||
      !next.Allocate(allocator, num_nodes, kNone)) {
    return false;
  }
  // The first nodes of a cluster's parts form a list.
  uint32_t first[kMaxClusters];
  std::fill(first, first + kMaxClusters, kNone);
  for (uint32_t i = 0; i < num_nodes; ++i) {
    if (system.pinned[i] != 0) continue;
    uint32_t* at = &first[baked[i]];
    while (*at != kNone && parts[*at] != parts[i]) at = &next[*at];
    if (*at != kNone) {
      level->clusters[i] = level->clusters[*at];
    } else if (at == &first[baked[i]]) {
      *at = i;
    } else if (*num_clusters < kMaxClusters) {
      level->clusters[i] = static_cast<uint16_t>((*num_clusters)++);
      *at = i;
    }
  }
  return true;
}

// Sorts the free nodes by cluster. Sets `first_member` and `members`.
bool FindMembers(const Allocator& allocator, std::span<const uint8_t> pinned, uint32_t num_clusters,
                 CoarseLevel* level) {
  const Array<uint16_t>& clusters = level->clusters;
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

// Moves the nodes of blocks with tets that resist to the front of each cluster. Sets `first_inner`.
bool SplitMembers(const Allocator& allocator, const ElementView& elements, size_t num_nodes,
                  CoarseLevel* level) {
  Array<uint8_t> borders;
  if (!borders.Allocate(allocator, num_nodes, uint8_t{0}) ||
      !level->first_inner.Allocate(allocator, level->first_member.size() - 1)) {
    return false;
  }
  for (uint32_t t = 0; t < elements.tets.size(); ++t) {
    if (level->resisting[elements.slots[t] / kBlockTets] == 0) continue;
    const Tet& tet = elements.tets[t];
    for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) borders[node] = 1;
  }
  const auto is_border = [&](uint32_t node) { return borders[node] != 0; };
  for (size_t k = 0; k < level->first_inner.size(); ++k) {
    uint32_t* begin = level->members.begin() + level->first_member[k];
    uint32_t* end = level->members.begin() + level->first_member[k + 1];
    uint32_t* inner = std::partition(begin, end, is_border);
    std::sort(begin, inner);
    std::sort(inner, end);
    level->first_inner[k] = static_cast<uint32_t>(inner - level->members.begin());
  }
  return true;
}

// Sets `free_clusters`, `first_of_components`, `hinge_pins` and `first_hinge_pin`.
bool FindComponents(const Allocator& allocator, const SystemView& system,
                    std::span<const Vec3> rest, std::span<const uint32_t> of_nodes,
                    CoarseLevel* level) {
  constexpr uint16_t kHeld = 0xffff;
  const size_t count = level->num_clusters();
  Array<uint16_t> least;  // cluster of each one's component, or kHeld
  if (!least.Allocate(allocator, count)) return false;
  for (size_t k = 0; k < count; ++k) {
    least[k] = level->masses[k] > 0.0f ? static_cast<uint16_t>(k) : kHeld;
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (const CoarsePair& pair : level->pattern.pairs) {
      if (pair.column == kPinned) continue;
      uint16_t *a = &least[pair.row], *b = &least[pair.column];
      const uint16_t both = std::min(*a, *b);
      changes = changes || *a != both || *b != both;
      *a = *b = both;
    }
  }
  ComponentPins pins;
  if (!pins.Make(allocator, system, rest, of_nodes, least.span())) return false;
  size_t num_components = 0, num_free = 0, num_hinges = 0;
  for (uint16_t k = 0; k < count; ++k) {
    if (least[k] != k) continue;
    const std::span<const uint32_t> own = pins.Find(k);
    const bool turns = pins.AreHinges(own);
    num_components += turns ? 1 : 0;
    num_hinges += turns ? own.size() : 0;
    for (size_t i = count; i-- > k;) {
      if (least[i] == k) num_free += turns ? 1 : 0, least[i] = turns ? k : kHeld;
    }
  }
  if (!level->free_clusters.Allocate(allocator, num_free) ||
      !level->first_of_components.Allocate(allocator, num_components + 1) ||
      !level->hinge_pins.Allocate(allocator, num_hinges) ||
      !level->first_hinge_pin.Allocate(allocator, num_components + 1)) {
    return false;
  }
  uint16_t *next = level->free_clusters.begin(), *first = level->first_of_components.begin();
  uint32_t *next_hinge = level->hinge_pins.begin(),
           *first_hinge_pin = level->first_hinge_pin.begin();
  for (uint16_t k = 0; k < count; ++k) {
    if (least[k] != k) continue;
    *first++ = static_cast<uint16_t>(next - level->free_clusters.begin());
    *first_hinge_pin++ = static_cast<uint32_t>(next_hinge - level->hinge_pins.begin());
    for (uint16_t i = k; i < count; ++i) {
      if (least[i] == k) *next++ = i;
    }
    next_hinge = std::ranges::copy(pins.Find(k), next_hinge).out;
  }
  *first = static_cast<uint16_t>(num_free);
  *first_hinge_pin = static_cast<uint32_t>(num_hinges);
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

// Sets `wave_rate6` and `most_bulk`. Of baked clusters: small parts that pins cut off count little.
void FindWaveRate(const SystemView& system, std::span<const uint16_t> clusters,
                  CoarseLevel* level) {
  constexpr double kOfBall = 6.0 / 3.14159265358979323846;  // diameter^3 / volume
  struct Cluster {
    double stiffness = 0.0, volume = 0.0, mass = 0.0;
  } of[kMaxClusters];
  for (size_t t = 0; t < system.elements.tets.size(); ++t) {
    const Tet& tet = system.elements.tets[t];
    const float shear = system.elements.Stiffness(t), bulk = system.elements.Bulk(t);
    const double stiffness = double(shear) + double(bulk);
    level->most_bulk = std::fmax(level->most_bulk, 2.0f * bulk / shear);
    for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) {
      of[clusters[node]].stiffness += 0.25 * stiffness;
      of[clusters[node]].volume += 0.25 * system.elements.Volume(t);
    }
  }
  for (size_t i = 0; i < clusters.size(); ++i) {
    of[clusters[i]].mass += double(system.masses[i]) * double(system.mass_scale);
  }
  for (const Cluster& cluster : of) {
    if (!(cluster.mass > 0.0)) continue;
    const double speed2 = cluster.stiffness / cluster.mass;
    const double cube = kOfBall * cluster.volume;
    level->wave_rate6 = std::fmax(level->wave_rate6, speed2 * speed2 * speed2 / (cube * cube));
  }
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

bool CoarseLevel::SharesClusters(const CoarseLevel& other) const {
  if (num_clusters() != other.num_clusters()) return false;
  return std::ranges::all_of(members,
                             [&](uint32_t node) { return clusters[node] == other.clusters[node]; });
}

bool CoarseLevel::Build(const Allocator& allocator, const SystemView& system,
                        std::span<const Vec3> rest, std::span<const uint16_t> baked,
                        uint32_t num_baked) {
  const auto is_free = [](uint8_t pinned) { return pinned == 0; };
  if (baked.empty() || std::ranges::none_of(system.pinned, is_free)) return true;
  FindWaveRate(system, baked, this);
  uint32_t num_clusters = num_baked;
  Numbering numbering;
  return CutClusters(allocator, system, baked, &num_clusters, this) &&
         FindMembers(allocator, system.pinned, num_clusters, this) &&
         numbering.Make(allocator, *this, rest.size()) &&
         FindResisting(allocator, system.elements, numbering, this) &&
         SplitMembers(allocator, system.elements, rest.size(), this) &&
         WeighMembers(allocator, system, num_clusters, this) &&
         pattern.Build(allocator, system.elements, rest, numbering.of_nodes.span(), num_clusters) &&
         FindComponents(allocator, system, rest, numbering.of_nodes.span(), this);
}

}  // namespace plush
