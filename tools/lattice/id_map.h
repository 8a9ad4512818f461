// SPDX-License-Identifier: MIT
// Values of few among many ids, such as the tets of a lattice that a surface touches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plush::tools {

/// A hash table by id (any number but UINT32_MAX). Memory grows with the ids in use, not with the
/// range of ids. Its order is never seen: it cannot be walked through.
template <class T>
class IdMap {
 public:
  /// Ids that are not in use have the value `none`.
  explicit IdMap(T none) : none_(none) {}

  /// The value of an id.
  T operator[](uint32_t id) const {
    const Slot& slot = slots_[SlotOf(id)];
    return slot.id == id ? slot.value : none_;
  }

  /// The value of an id, which is in use from now on. Valid until the next call. Amortised O(1).
  T& At(uint32_t id) {
    size_t place = SlotOf(id);
    if (slots_[place].id == id) return slots_[place].value;
    if (2 * ++size_ > slots_.size()) {
      Grow();
      place = SlotOf(id);
    }
    slots_[place] = {id, none_};
    return slots_[place].value;
  }

  size_t size() const { return size_; }  ///< ids in use

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr size_t kFewestSlots = 1024;
  struct Slot {
    uint32_t id = kFree;
    T value = {};
  };

  // The slot of an id, or the free one where it belongs: the first after its hash.
  size_t SlotOf(uint32_t id) const {
    const size_t last = slots_.size() - 1;
    // Multiplied by 2^32 / golden ratio, ids in a row spread evenly over the high bits.
    const uint32_t hash = id * 2654435769u;
    size_t place = hash >> (32 - std::countr_zero(slots_.size()));
    while (slots_[place].id != id && slots_[place].id != kFree) place = (place + 1) & last;
    return place;
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kFree) slots_[SlotOf(slot.id)] = slot;
    }
  }

  T none_;
  size_t size_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(kFewestSlots);  // a power of two, half full at most
};

}  // namespace plush::tools
