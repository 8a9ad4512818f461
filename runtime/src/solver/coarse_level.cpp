// SPDX-License-Identifier: MIT
// Clusters of a system: their nodes, their frames and their matrix at rest.
// Source: see coarse_level.h.
#include "solver/coarse_level.h"

#include "solver/pin_schur.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr uint32_t kPinned = std::numeric_limits<uint32_t>::max();

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

struct Double3 {
  double v[3];
};

Double3 Minus(const Vec3& a, const Double3& b) {
  return {{double(a.x) - b.v[0], double(a.y) - b.v[1], double(a.z) - b.v[2]}};
}

// The displacement of a node at r from the centre of a cluster, for each of its six unknowns: the
// columns of [I, -r x].
struct Lever {
  double columns[6][3];

  explicit Lever(const Double3& r)
      : columns{
            {1, 0, 0},           {0, 1, 0}, {0, 0, 1}, {0, -r.v[2], r.v[1]}, {r.v[2], 0, -r.v[0]},
            {-r.v[1], r.v[0], 0}} {}
};

Double3 RestCentre(const CoarseLevel& level, std::span<const Vec3> rest, size_t k) {
  Double3 centre = {};
  for (uint32_t i = level.first_member[k]; i < level.first_member[k + 1]; ++i) {
    const Vec3& x = rest[level.members[i]];
    const double share = level.shares[i];
    centre.v[0] += share * double(x.x);
    centre.v[1] += share * double(x.y);
    centre.v[2] += share * double(x.z);
  }
  return centre;
}

// Adds the stiffness of a tet at rest, 2 mu V |sym D|^2 for D = sum u_i g_i^T, times `scale`.
void AddTet(const ElementView& elements, size_t t, const Corners& corners,
            std::span<const Vec3> rest, std::span<const Double3> centres, double scale, size_t n,
            std::span<double> C) {
  const Mat3 dm_inv = elements.DmInv(t);
  double g[4][3];
  for (size_t axis = 0; axis < 3; ++axis) {
    const Vec3& column = axis == 0 ? dm_inv.c0 : axis == 1 ? dm_inv.c1 : dm_inv.c2;
    g[1][axis] = column.x;
    g[2][axis] = column.y;
    g[3][axis] = column.z;
    g[0][axis] = -(g[1][axis] + g[2][axis] + g[3][axis]);
  }
  const double mu = 0.5 * scale * double(elements.Stiffness(t));  // mu V
  for (size_t i = 0; i < 4; ++i) {
    if (corners.clusters[i] == kPinned) continue;
    const Lever a(Minus(rest[corners.nodes[i]], centres[corners.clusters[i]]));
    for (size_t j = 0; j < 4; ++j) {
      if (corners.clusters[j] == kPinned) continue;
      const Lever b(Minus(rest[corners.nodes[j]], centres[corners.clusters[j]]));
      const double gg = g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2];
      for (size_t p = 0; p < 6; ++p) {
        const double* u = a.columns[p];
        const double ug = u[0] * g[j][0] + u[1] * g[j][1] + u[2] * g[j][2];
        for (size_t q = 0; q < 6; ++q) {
          const double* w = b.columns[q];
          const double uw = u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
          const double wg = w[0] * g[i][0] + w[1] * g[i][1] + w[2] * g[i][2];
          C[n * (6 * corners.clusters[i] + p) + 6 * corners.clusters[j] + q] +=
              mu * (uw * gg + ug * wg);
        }
      }
    }
  }
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

// Sets `shares` and `masses`.
bool WeighMembers(const Allocator& allocator, const SystemView& system, uint32_t num_clusters,
                  CoarseLevel* level) {
  if (!level->shares.Allocate(allocator, level->members.size()) ||
      !level->masses.Allocate(allocator, num_clusters, 0.0f)) {
    return false;
  }
  for (uint32_t k = 0; k < num_clusters; ++k) {
    const uint32_t begin = level->first_member[k], end = level->first_member[k + 1];
    double mass = 0.0;
    for (uint32_t i = begin; i < end; ++i) mass += double(system.masses[level->members[i]]);
    for (uint32_t i = begin; i < end; ++i) {
      level->shares[i] = static_cast<float>(double(system.masses[level->members[i]]) / mass);
    }
    level->masses[k] = static_cast<float>(mass * double(system.mass_scale));
  }
  return true;
}

// The frame tets of a cluster: those nearest to its centre, which do not resist if it has any such.
struct NearestTets {
  static constexpr size_t kCount = CoarseLevel::kFrameTets;
  float distances[kCount];  // squared, summed over the nodes
  uint32_t slots[kCount];
  size_t count = 0;

  void Add(float distance, uint32_t slot) {
    size_t place = count;
    while (place > 0 && distance < distances[place - 1]) --place;
    if (place == kCount) return;
    if (count < kCount) ++count;
    std::copy_backward(distances + place, distances + count - 1, distances + count);
    std::copy_backward(slots + place, slots + count - 1, slots + count);
    distances[place] = distance;
    slots[place] = slot;
  }
};

// Sets `frames`.
bool FindFrames(const Allocator& allocator, const ElementView& elements, std::span<const Vec3> rest,
                const Numbering& numbering, CoarseLevel* level) {
  Array<Double3> centres;
  Array<NearestTets> nearest;
  if (!level->frames.Allocate(allocator, NearestTets::kCount * level->num_clusters(), 0u) ||
      !centres.Allocate(allocator, level->num_clusters()) ||
      !nearest.Allocate(allocator, level->num_clusters())) {
    return false;
  }
  for (size_t k = 0; k < centres.size(); ++k) centres[k] = RestCentre(*level, rest, k);
  for (uint32_t t = 0; t < elements.tets.size(); ++t) {
    const Corners corners = numbering.Of(elements.tets[t]);
    const float penalty = IsResisting(corners) ? 1.0e6f : 1.0f;
    for (size_t c = 0; c < 4; ++c) {
      const uint32_t* own = corners.clusters + c;
      if (*own == kPinned || std::find(corners.clusters, own, *own) < own) continue;
      float distance = 0.0f;
      for (const uint32_t node : corners.nodes) {
        const Double3 r = Minus(rest[node], centres[*own]);
        distance += static_cast<float>(r.v[0] * r.v[0] + r.v[1] * r.v[1] + r.v[2] * r.v[2]);
      }
      nearest[*own].Add(distance * penalty, elements.slots[t]);
    }
  }
  for (size_t k = 0; k < nearest.size(); ++k) {
    // A cluster of fewer tets repeats its nearest one.
    for (size_t i = 0; i < NearestTets::kCount && nearest[k].count > 0; ++i) {
      level->frames[NearestTets::kCount * k + i] = nearest[k].slots[i < nearest[k].count ? i : 0];
    }
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
         FindFrames(allocator, system.elements, rest, numbering, this) &&
         FindResisting(allocator, system.elements, numbering, this);
}

bool CoarseLevel::Invert(const Allocator& allocator, const SystemView& system,
                         std::span<const Vec3> rest, Array<float>* inverse) const {
  const size_t n = num_unknowns();
  Array<double> C;
  Array<double> column;
  Array<Double3> centres;
  Numbering numbering;
  if (!C.Allocate(allocator, n * n, 0.0) || !column.Allocate(allocator, n) ||
      !centres.Allocate(allocator, num_clusters()) ||
      !numbering.Make(allocator, *this, rest.size()) ||
      (inverse->size() != n * n && !inverse->Allocate(allocator, n * n))) {
    return false;
  }
  for (size_t k = 0; k < num_clusters(); ++k) {
    centres[k] = RestCentre(*this, rest, k);
    for (uint32_t i = first_member[k]; i < first_member[k + 1]; ++i) {
      const uint32_t node = members[i];
      const double mass = double(system.masses[node]) * double(system.mass_scale);
      const Lever lever(Minus(rest[node], centres[k]));
      for (size_t p = 0; p < 6; ++p) {
        for (size_t q = 0; q < 6; ++q) {
          const double *u = lever.columns[p], *w = lever.columns[q];
          C[n * (6 * k + p) + 6 * k + q] += mass * (u[0] * w[0] + u[1] * w[1] + u[2] * w[2]);
        }
      }
    }
  }
  const double dt = system.dt, scale = dt * (dt + double(system.elements.damping));
  for (uint32_t t = 0; t < system.elements.tets.size(); ++t) {
    const Corners corners = numbering.Of(system.elements.tets[t]);
    if (!IsResisting(corners)) continue;
    AddTet(system.elements, t, corners, rest, centres.span(), scale, n, C.span());
  }
  // Dependent unknowns, such as turns of a cluster whose free nodes lie on a line, stay still.
  FactorCholesky(1.0e-10, n, C.data());
  for (size_t j = 0; j < n; ++j) {
    std::fill(column.begin(), column.end(), 0.0);
    column[j] = 1.0;
    SolveCholesky(C.data(), n, column.data());
    for (size_t i = 0; i < n; ++i) (*inverse)[n * j + i] = static_cast<float>(column[i]);
  }
  return true;
}

}  // namespace plush
