// SPDX-License-Identifier: MIT
// Each pass collects the faces in a range of keys (their two lowest nodes) and sorts them. Faces of
// two tets are then neighbours. If too many faces come, the upper half of the range waits.
#include "world/outside_faces.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace plush {
namespace {

constexpr size_t kCapacity = 2048;
constexpr uint64_t kEnd = UINT64_MAX;  // above the key of any face: its nodes differ

// A face by its sorted nodes. `key` has the two lower ones.
struct SortedFace {
  uint64_t key;
  uint32_t last;
  uint32_t flipped;  // 1 if the sorted nodes turn clockwise seen from outside

  bool operator<(const SortedFace& other) const {
    return key != other.key ? key < other.key : last < other.last;
  }
};

SortedFace Sorted(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t flipped = 0;
  const auto order = [&flipped](uint32_t* low, uint32_t* high) {
    if (*low <= *high) return;
    std::swap(*low, *high);
    flipped ^= 1u;
  };
  order(&a, &b);
  order(&b, &c);
  order(&a, &b);
  return {uint64_t{a} << 32 | b, c, flipped};
}

// Collects the faces whose keys lie in [low, high); lowers `high` if there are too many.
class Collector {
 public:
  Collector(uint64_t low, uint64_t high) : low_(low), high_(high) {}

  void Add(const SortedFace& face) {
    if (face.key < low_ || face.key >= high_) return;
    if (count_ == kCapacity) DropUpperHalf();
    if (face.key >= high_ || count_ == kCapacity) return;
    faces_[count_++] = face;
  }

  std::span<SortedFace> Sort() {
    std::sort(faces_, faces_ + count_);
    return {faces_, count_};
  }

  uint64_t high() const { return high_; }

 private:
  // Keeps at least one key. No sound cage has kCapacity faces about one edge; further ones are
  // left out.
  void DropUpperHalf() {
    SortedFace* middle = faces_ + kCapacity / 2;
    std::nth_element(faces_, middle, faces_ + count_);
    const uint64_t lowest = std::min_element(faces_, middle + 1)->key;
    high_ = std::max(middle->key, lowest + 1);
    const auto stays = [this](const SortedFace& face) { return face.key < high_; };
    count_ = static_cast<size_t>(std::partition(faces_, faces_ + count_, stays) - faces_);
  }

  uint64_t low_;
  uint64_t high_;
  size_t count_ = 0;
  SortedFace faces_[kCapacity];
};

void VisitSingles(std::span<const SortedFace> sorted, void* user,
                  void (*visit)(void* user, const OutsideFace& face)) {
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && !(sorted[i] < sorted[end])) ++end;
    if (end == i + 1) {
      const uint32_t a = static_cast<uint32_t>(sorted[i].key >> 32);
      const uint32_t b = static_cast<uint32_t>(sorted[i].key & UINT32_MAX);
      const uint32_t c = sorted[i].last;
      const bool flipped = sorted[i].flipped != 0;
      visit(user, {{a, flipped ? c : b, flipped ? b : c}});
    }
    i = end;
  }
}

}  // namespace

void ForOutsideFaces(std::span<const Tet> tets, void* user,
                     void (*visit)(void* user, const OutsideFace& face)) {
  for (uint64_t low = 0; low < kEnd;) {
    Collector collector(low, kEnd);
    for (const Tet& t : tets) {
      collector.Add(Sorted(t.a, t.c, t.b));
      collector.Add(Sorted(t.a, t.b, t.d));
      collector.Add(Sorted(t.a, t.d, t.c));
      collector.Add(Sorted(t.b, t.c, t.d));
    }
    VisitSingles(collector.Sort(), user, visit);
    low = collector.high();
  }
}

}  // namespace plush
