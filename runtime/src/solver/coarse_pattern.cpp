// SPDX-License-Identifier: MIT
// Groups of tets that see the same clusters, their stiffness, and the order of elimination.
// Source: see coarse_matrix.h. The order is one of least degrees, found by playing the elimination.
#include "solver/coarse_matrix.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace plush {
namespace {

constexpr uint32_t kPins = CoarsePair::kPins;

// Clusters in keys have 16 bits. Pins come after all clusters, and kNone fills up.
constexpr uint64_t kPinsInKey = 0xfffe, kNone = 0xffff;

uint64_t InKey(uint32_t cluster) { return cluster == kPins ? kPinsInKey : cluster; }
uint32_t FromKey(uint64_t cluster) {
  return cluster == kPinsInKey ? kPins : static_cast<uint32_t>(cluster);
}

// A tet of a group. Groups are runs of equal `key`.
struct Seeing {
  uint64_t key = 0;
  uint32_t tet = 0;
};

bool operator<(const Seeing& a, const Seeing& b) {
  return a.key != b.key ? a.key < b.key : a.tet < b.tet;
}

// The clusters that a tet sees, ascending and pins last.
struct Seen {
  uint64_t clusters[4];
  size_t count = 0;

  Seen(const Tet& tet, std::span<const uint32_t> of_nodes) {
    for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) {
      const uint64_t cluster = InKey(of_nodes[node]);
      uint64_t* end = clusters + count;
      uint64_t* place = std::lower_bound(clusters, end, cluster);
      if (place != end && *place == cluster) continue;
      std::copy_backward(place, end, end + 1);
      *place = cluster;
      ++count;
    }
  }

  static uint64_t PairKey(uint64_t a, uint64_t b) {
    return a << 48 | b << 32 | kNone << 16 | kNone;
  }

  uint64_t Key() const {
    uint64_t key = 0;
    for (size_t i = 0; i < 4; ++i) key = key << 16 | (i < count ? clusters[i] : kNone);
    return key;
  }
};

// Tets of one key in a sorted list.
std::span<const Seeing> RunOf(std::span<const Seeing> sorted, uint64_t key) {
  const auto by_key = [](const Seeing& a, const Seeing& b) { return a.key < b.key; };
  const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), Seeing{key, 0}, by_key);
  return sorted.subspan(static_cast<size_t>(begin - sorted.begin()),
                        static_cast<size_t>(end - begin));
}

// Tets that see more than two clusters are few. They join the largest group of two of these: a
// matrix of fewer groups is cheaper.
uint64_t HomeOf(const Seen& seen, std::span<const Seeing> sorted) {
  uint64_t home = seen.Key();
  size_t most = 0;
  for (size_t a = 0; a < seen.count && seen.count > 2; ++a) {
    for (size_t b = a + 1; b < seen.count; ++b) {
      const uint64_t key = Seen::PairKey(seen.clusters[a], seen.clusters[b]);
      const size_t size = RunOf(sorted, key).size();
      if (size > most) most = size, home = key;
    }
  }
  return home;
}

// The tets that see more than one cluster, by group.
bool FindSeeing(const Allocator& allocator, const ElementView& elements,
                std::span<const uint32_t> of_nodes, Array<Seeing>* out) {
  size_t count = 0;
  for (const Tet& tet : elements.tets) count += Seen(tet, of_nodes).count > 1 ? 1 : 0;
  Array<Seeing> by_seen;
  if (!by_seen.Allocate(allocator, count) || !out->Allocate(allocator, count)) return false;
  size_t next = 0;
  for (uint32_t t = 0; t < elements.tets.size(); ++t) {
    const Seen seen(elements.tets[t], of_nodes);
    if (seen.count > 1) by_seen[next++] = {seen.Key(), t};
  }
  std::sort(by_seen.begin(), by_seen.end());
  for (size_t i = 0; i < count; ++i) {
    const uint32_t t = by_seen[i].tet;
    (*out)[i] = {HomeOf(Seen(elements.tets[t], of_nodes), by_seen.span()), t};
  }
  std::sort(out->begin(), out->end());
  return true;
}

// Two clusters that a group's tets couple: the number of the group, and the clusters as in keys.
uint64_t Couple(size_t group, uint64_t a, uint64_t b) {
  return uint64_t{group} << 32 | a << 16 | b;
}

// All couples, by group. Leaves their number in `count`.
bool FindCouples(const Allocator& allocator, const ElementView& elements,
                 std::span<const uint32_t> of_nodes, std::span<const Seeing> seeing,
                 Array<uint64_t>* couples, size_t* count) {
  size_t most = 0;
  for (const Seeing& s : seeing) {
    const size_t n = Seen(elements.tets[s.tet], of_nodes).count;
    most += n * (n - 1) / 2;
  }
  if (!couples->Allocate(allocator, most)) return false;
  uint64_t* next = couples->begin();
  size_t group = 0;
  for (size_t i = 0; i < seeing.size(); ++i) {
    if (i > 0 && seeing[i].key != seeing[i - 1].key) ++group;
    const Seen seen(elements.tets[seeing[i].tet], of_nodes);
    for (size_t a = 0; a < seen.count; ++a) {
      for (size_t b = a + 1; b < seen.count; ++b) {
        *next++ = Couple(group, seen.clusters[a], seen.clusters[b]);
      }
    }
  }
  std::sort(couples->begin(), couples->end());
  *count = static_cast<size_t>(std::unique(couples->begin(), couples->end()) - couples->begin());
  return true;
}

// Which clusters are coupled, and the places of clusters in the order.
class Elimination {
 public:
  bool Make(const Allocator& allocator, size_t num_clusters) {
    count_ = num_clusters;
    return coupled_.Allocate(allocator, count_ * count_, uint8_t{0}) &&
           places_.Allocate(allocator, count_, uint32_t{0}) &&
           blocks_.Allocate(allocator, count_ * count_, uint32_t{0});
  }

  void Couple(uint32_t a, uint32_t b) { At(a, b) = At(b, a) = 1; }
  bool IsAfter(uint32_t a, uint32_t b) const { return places_[a] > places_[b]; }
  uint32_t Block(uint32_t row, uint32_t column) const { return blocks_[count_ * row + column]; }

  // Fills the arrays of the pattern that say how to eliminate.
  bool Play(const Allocator& allocator, CoarsePattern* pattern) {
    if (!pattern->order.Allocate(allocator, count_)) return false;
    std::fill(places_.begin(), places_.end(), kLater);
    size_t num_rows = 0, num_targets = 0;
    for (uint32_t j = 0; j < count_; ++j) {
      const uint32_t pivot = Least();
      pattern->order[j] = pivot;
      places_[pivot] = j;
      const size_t degree = Degree(pivot);
      num_rows += degree;
      num_targets += degree * (degree + 1) / 2;
      for (uint32_t a = 0; a < count_; ++a) {
        if (!IsLater(pivot, a)) continue;
        for (uint32_t b = 0; b < a; ++b) {
          if (IsLater(pivot, b)) Couple(a, b);
        }
      }
    }
    return pattern->first_row.Allocate(allocator, count_ + 1) &&
           pattern->rows.Allocate(allocator, num_rows) &&
           pattern->targets.Allocate(allocator, num_targets) && List(pattern);
  }

 private:
  static constexpr uint32_t kLater = std::numeric_limits<uint32_t>::max();

  uint8_t& At(uint32_t a, uint32_t b) { return coupled_[count_ * a + b]; }
  bool IsLater(uint32_t pivot, uint32_t a) const {
    return places_[a] == kLater && coupled_[count_ * pivot + a] != 0;
  }

  size_t Degree(uint32_t pivot) const {
    size_t degree = 0;
    for (uint32_t a = 0; a < count_; ++a) degree += IsLater(pivot, a) ? 1 : 0;
    return degree;
  }

  uint32_t Least() const {
    uint32_t best = 0;
    size_t least = std::numeric_limits<size_t>::max();
    for (uint32_t k = 0; k < count_; ++k) {
      const size_t degree = places_[k] == kLater ? Degree(k) : least;
      if (degree < least) least = degree, best = k;
    }
    return best;
  }

  bool List(CoarsePattern* pattern) {
    uint32_t next = 0;
    uint32_t* target = pattern->targets.begin();
    for (uint32_t j = 0; j < count_; ++j) {
      const uint32_t pivot = pattern->order[j];
      pattern->first_row[j] = next;
      for (uint32_t i = j + 1; i < count_; ++i) {
        const uint32_t row = pattern->order[i];
        if (At(row, pivot) == 0) continue;
        blocks_[count_ * row + pivot] = static_cast<uint32_t>(count_) + next;
        pattern->rows[next++] = row;
      }
    }
    pattern->first_row[count_] = next;
    for (uint32_t k = 0; k < count_; ++k) blocks_[count_ * k + k] = k;
    for (uint32_t j = 0; j < count_; ++j) {
      for (uint32_t b = pattern->first_row[j]; b < pattern->first_row[j + 1]; ++b) {
        for (uint32_t a = b; a < pattern->first_row[j + 1]; ++a) {
          *target++ = Block(pattern->rows[a], pattern->rows[b]);
        }
      }
    }
    return true;
  }

  size_t count_ = 0;
  Array<uint8_t> coupled_;  // symmetric
  Array<uint32_t> places_;  // in the order
  Array<uint32_t> blocks_;  // by row and column
};

void FindSamples(const ElementView& elements, std::span<const Seeing> tets, CoarseGroup* group) {
  for (size_t i = 0; i < CoarseGroup::kSamples; ++i) {
    const size_t at = tets.size() < CoarseGroup::kSamples
                          ? std::min(i, tets.size() - 1)
                          : (2 * i + 1) * tets.size() / (2 * CoarseGroup::kSamples);
    const uint32_t t = tets[at].tet;
    const Tet& tet = elements.tets[t];
    group->slots[i] = elements.slots[t];
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    std::copy(nodes, nodes + 4, group->nodes + 4 * i);
  }
}

// The displacement of a node at r from the common point, for each of the six unknowns: the columns
// of [I, -r x].
struct Lever {
  double columns[6][3];

  explicit Lever(const double* r)
      : columns{{1, 0, 0},        {0, 1, 0},        {0, 0, 1},
                {0, -r[2], r[1]}, {r[2], 0, -r[0]}, {-r[1], r[0], 0}} {}
};

// A tet's stiffness at rest, 2 mu V |sym D|^2 for D = sum u_i g_i^T.
struct TetStiffness {
  double mu;  // times the volume
  double g[4][3];

  TetStiffness(const ElementView& elements, size_t t) : mu(0.5 * double(elements.Stiffness(t))) {
    const Mat3 dm_inv = elements.DmInv(t);
    const Vec3* columns[3] = {&dm_inv.c0, &dm_inv.c1, &dm_inv.c2};
    for (size_t axis = 0; axis < 3; ++axis) {
      g[1][axis] = columns[axis]->x;
      g[2][axis] = columns[axis]->y;
      g[3][axis] = columns[axis]->z;
      g[0][axis] = -(g[1][axis] + g[2][axis] + g[3][axis]);
    }
  }

  // Adds what nodes i and j couple of motions with these levers to a block.
  void Add(size_t i, const Lever& a, size_t j, const Lever& b, double* block) const {
    const double gg = g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2];
    for (size_t p = 0; p < 6; ++p) {
      const double* u = a.columns[p];
      const double ug = u[0] * g[j][0] + u[1] * g[j][1] + u[2] * g[j][2];
      for (size_t q = 0; q < 6; ++q) {
        const double* w = b.columns[q];
        const double uw = u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
        const double wg = w[0] * g[i][0] + w[1] * g[i][1] + w[2] * g[i][2];
        block[8 * q + p] += mu * (uw * gg + ug * wg);
      }
    }
  }
};

// Adds the stiffness of the group's tets to its pairs.
void AddStiffness(const ElementView& elements, std::span<const Vec3> rest,
                  std::span<const uint32_t> of_nodes, std::span<const Seeing> tets,
                  const CoarseGroup& group, CoarsePattern* pattern) {
  double centre[3] = {};
  for (const uint32_t node : group.nodes) {
    const double x[3] = {rest[node].x, rest[node].y, rest[node].z};
    for (size_t axis = 0; axis < 3; ++axis) {
      centre[axis] += x[axis] / double(4 * CoarseGroup::kSamples);
    }
  }
  const auto lever = [&](uint32_t node) {
    const Vec3& x = rest[node];
    const double r[3] = {double(x.x) - centre[0], double(x.y) - centre[1], double(x.z) - centre[2]};
    return Lever(r);
  };
  for (const Seeing& seeing : tets) {
    const Tet& tet = elements.tets[seeing.tet];
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    const TetStiffness stiffness(elements, seeing.tet);
    for (uint32_t p = group.first_pair; p < group.end_pair; ++p) {
      const CoarsePair& pair = pattern->pairs[p];
      double* block = &pattern->stiffness[CoarsePattern::kBlock * p];
      for (size_t i = 0; i < 4; ++i) {
        if (of_nodes[nodes[i]] != pair.row) continue;
        const Lever a = lever(nodes[i]);
        for (size_t j = 0; j < 4; ++j) {
          if (of_nodes[nodes[j]] == pair.column) stiffness.Add(i, a, j, lever(nodes[j]), block);
        }
      }
    }
  }
}

}  // namespace

bool CoarsePattern::Build(const Allocator& allocator, const ElementView& elements,
                          std::span<const Vec3> rest, std::span<const uint32_t> of_nodes,
                          uint32_t num_clusters) {
  Array<Seeing> seeing;
  Array<uint64_t> couples;
  size_t num_couples = 0;
  Elimination elimination;
  if (!FindSeeing(allocator, elements, of_nodes, &seeing) ||
      !FindCouples(allocator, elements, of_nodes, seeing.span(), &couples, &num_couples) ||
      !elimination.Make(allocator, num_clusters)) {
    return false;
  }
  const auto row_of = [&](size_t i) { return FromKey(couples[i] >> 16 & 0xffff); };
  const auto column_of = [&](size_t i) { return FromKey(couples[i] & 0xffff); };
  for (size_t i = 0; i < num_couples; ++i) {
    if (column_of(i) != kPins) elimination.Couple(row_of(i), column_of(i));
  }
  const size_t num_groups = num_couples == 0 ? 0 : (couples[num_couples - 1] >> 32) + 1;
  if (!groups.Allocate(allocator, num_groups) || !pairs.Allocate(allocator, num_couples) ||
      !stiffness.Allocate(allocator, kBlock * num_couples, 0.0) ||
      !elimination.Play(allocator, this)) {
    return false;
  }
  std::span<const Seeing> left = seeing.span();
  uint32_t next = 0;
  for (size_t g = 0; g < num_groups; ++g) {
    CoarseGroup* group = &groups[g];
    group->first_pair = next;
    for (; next < num_couples && couples[next] >> 32 == g; ++next) {
      uint32_t row = row_of(next), column = column_of(next);
      if (column != kPins && elimination.IsAfter(column, row)) std::swap(row, column);
      pairs[next] = {row, column, column == kPins ? row : elimination.Block(row, column)};
    }
    group->end_pair = next;
    const std::span<const Seeing> own = RunOf(left, left[0].key);
    FindSamples(elements, own, group);
    AddStiffness(elements, rest, of_nodes, own, *group, this);
    left = left.subspan(own.size());
  }
  return true;
}

}  // namespace plush
