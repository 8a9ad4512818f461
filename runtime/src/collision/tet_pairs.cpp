// SPDX-License-Identifier: MIT
// Source: tet_pairs.h.
#include "collision/tet_pairs.h"

#include <algorithm>
#include <limits>

namespace plush {
namespace {

// Widening of bounds, in steps of epsilon times the coordinates in play. Covers kBoundsWidening's 8
// for each body, one more rounding for projections on vector areas, and the offset between the
// bodies.
constexpr float kPairRounding = 32.0f * std::numeric_limits<float>::epsilon();

float SizeOf(const Dop14& v) {
  const Float4 size = Load4(v.high) - Load4(v.low);
  return size[0] + size[1] + size[2];
}

Dop14 Nothing() {
  Dop14 volume;
  std::fill(volume.low, volume.low + 8, std::numeric_limits<float>::max());
  std::fill(volume.high, volume.high + 8, -std::numeric_limits<float>::max());
  return volume;
}

void Enclose(const Dop14& more, Dop14* all) {
  for (int half = 0; half < 8; half += 4) {
    Store4(Min(Load4(all->low + half), Load4(more.low + half)), all->low + half);
    Store4(Max(Load4(all->high + half), Load4(more.high + half)), all->high + half);
  }
}

}  // namespace

float MarginOf(const BodyPair& pair) {
  const float reach = pair.a.state.reach + pair.b.state.reach + SumNorm(pair.offset);
  return kPairRounding * reach + std::numeric_limits<float>::min();
}

bool AreBounded(const BodyPair& pair) {
  const CollisionState &a = pair.a.state, &b = pair.b.state;
  return a.bounded && b.bounded &&
         a.reach + b.reach + SumNorm(pair.offset) <= 4.0f * CollisionState::kMostReach;
}

TetPairs::TetPairs(const BodyPair& pair, float distance)
    : pair_(pair),
      num_tets_{static_cast<uint32_t>(pair.a.surface.tets.size()),
                static_cast<uint32_t>(pair.b.surface.tets.size())} {
  constexpr float kLongestDirection = 1.7320509f;  // of Dop14
  margin_ = Broadcast(MarginOf(pair) + kLongestDirection * distance);
  shift_ = Project(pair.offset);
}

void TetPairs::Start() {
  num_waiting_ = 1;
  waiting_[0] = {{0, 0, num_tets_[0]}, {0, 0, num_tets_[1]}};
}

bool TetPairs::AreApart(const Dop14& a, const Dop14& b) const {
  const auto apart = [this](const float* low_a, const float* high_a, const float* low_b,
                            const float* high_b, Float4 shift) {
    return Max(Load4(low_a) - (Load4(high_b) + shift), (Load4(low_b) + shift) - Load4(high_a)) -
           margin_;
  };
  return GreatestOf(Max(apart(a.low, a.high, b.low, b.high, shift_.first),
                        apart(a.low + 4, a.high + 4, b.low + 4, b.high + 4, shift_.second))) > 0.0f;
}

// Calls visit(leaf, its volume) for the leaves of a part whose volumes, and those above them, are
// near.
template <class Near, class Visit>
static void ForLeaves(const CollisionBody& body, uint32_t node, uint32_t leaf, const Near& near,
                      const Visit& visit) {
  struct {
    uint32_t node, leaf;
  } waiting[kMaxTreeDepth];
  uint32_t num_waiting = 0;
  for (;;) {
    if (near(body.state.volumes[node])) {
      const uint32_t left = body.surface.tree[node];
      if (left != 0) {
        waiting[num_waiting++] = {node + 2 * left, leaf + left};
        ++node;
        continue;
      }
      visit(node, leaf);
    }
    if (num_waiting == 0) return;
    node = waiting[--num_waiting].node;
    leaf = waiting[num_waiting].leaf;
  }
}

// Goes on to the next two parts with leaves near each other. Returns false if there are none.
bool TetPairs::NextSubTrees() {
  const CollisionBody &a = pair_.a, &b = pair_.b;
  while (num_waiting_ > 0) {
    const auto [of_a, of_b] = waiting_[--num_waiting_];
    const Dop14 &volume_a = a.state.volumes[of_a.node], &volume_b = b.state.volumes[of_b.node];
    if (AreApart(volume_a, volume_b)) continue;
    const bool is_small_a = of_a.count <= kMostLeaves, is_small_b = of_b.count <= kMostLeaves;
    if (is_small_a && is_small_b) {
      ListOfB(of_b, volume_a);
      if (listed_b_.count == 0) continue;
      ListOfA(of_a);
      if (listed_a_.count > 0) return true;
      continue;
    }
    const auto halves = [](const CollisionBody& body, const SubTree& whole, SubTree(&parts)[2]) {
      const uint32_t left = body.surface.tree[whole.node];
      parts[0] = {whole.node + 1, whole.leaf, left};
      parts[1] = {whole.node + 2 * left, whole.leaf + left, whole.count - left};
    };
    SubTree parts[2];
    if (is_small_b || (!is_small_a && SizeOf(volume_a) >= SizeOf(volume_b))) {
      halves(a, of_a, parts);
      waiting_[num_waiting_++] = {parts[1], of_b};
      waiting_[num_waiting_++] = {parts[0], of_b};
    } else {
      halves(b, of_b, parts);
      waiting_[num_waiting_++] = {of_a, parts[1]};
      waiting_[num_waiting_++] = {of_a, parts[0]};
    }
  }
  return false;
}

// Lists leaves of b near a volume of a, with their boxes.
void TetPairs::ListOfB(const SubTree& part, const Dop14& of_a) {
  listed_b_.count = 0;
  const float shift[3] = {shift_.first[0], shift_.first[1], shift_.first[2]};
  const float margin = margin_[0];
  ForLeaves(
      pair_.b, part.node, part.leaf, [&](const Dop14& volume) { return !AreApart(of_a, volume); },
      [&](uint32_t node, uint32_t leaf) {
        const uint32_t i = listed_b_.count++, chunk = i / kBoxChunk;
        const Dop14& volume = pair_.b.state.volumes[node];
        listed_b_.node[i] = node;
        listed_b_.leaf[i] = leaf;
        for (int k = 0; k < 3; ++k) {
          const float low = (volume.low[k] + shift[k]) - margin;
          const float high = (volume.high[k] + shift[k]) + margin;
          low_[k][i] = low;
          high_[k][i] = high;
          const bool is_first = i % kBoxChunk == 0;
          chunk_low_[k][chunk] = is_first ? low : std::min(chunk_low_[k][chunk], low);
          chunk_high_[k][chunk] = is_first ? high : std::max(chunk_high_[k][chunk], high);
        }
      });
}

// Lists leaves of a near those listed of b.
void TetPairs::ListOfA(const SubTree& part) {
  Dop14 around = Nothing();
  for (uint32_t i = 0; i < listed_b_.count; ++i) {
    Enclose(pair_.b.state.volumes[listed_b_.node[i]], &around);
  }
  listed_a_.count = 0;
  ForLeaves(
      pair_.a, part.node, part.leaf, [&](const Dop14& volume) { return !AreApart(volume, around); },
      [&](uint32_t node, uint32_t leaf) {
        listed_a_.node[listed_a_.count] = node;
        listed_a_.leaf[listed_a_.count++] = leaf;
      });
}

// Finds which of listed_b_ meet a listed leaf of a, in meeting_. Returns their number.
uint32_t TetPairs::Meeting(uint32_t listed) {
  const Dop14& volume = pair_.a.state.volumes[listed_a_.node[listed]];
  const BoxColumns boxes = {{low_[0], low_[1], low_[2]}, {high_[0], high_[1], high_[2]}};
  const BoxColumns chunks = {{chunk_low_[0], chunk_low_[1], chunk_low_[2]},
                             {chunk_high_[0], chunk_high_[1], chunk_high_[2]}};
  const uint32_t count = FindMeeting({Load4(volume.low), Load4(volume.high)}, boxes, chunks, 0,
                                     listed_b_.count, meeting_);
  uint32_t num_near = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t j = meeting_[i];
    if (!AreApart(volume, pair_.b.state.volumes[listed_b_.node[j]])) meeting_[num_near++] = j;
  }
  return num_near;
}

}  // namespace plush
