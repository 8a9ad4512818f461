// SPDX-License-Identifier: MIT
// Slots for objects with ids: which are in use, in which generation, and which comes next.
#pragma once

#include "base/array.h"
#include "base/id_layout.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace plush {

/// Gives out slots and counts how often each has been given out (its generation).
/// - Free slots form a queue: one is used again only after all that were freed before it.
/// - A slot whose generations are used up is never used again.
/// - Iteration visits the slots in use in ascending order. It skips free slots 64, 64^2, 64^3 at a
///   time, so it costs the same however many slots were in use before.
/// Fewer bits than those of ids serve tests.
template <int kBitsOfSlot = kSlotBits, int kBitsOfGeneration = kGenerationBits>
class SlotList {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kMostSlots = uint32_t{1} << kBitsOfSlot;
  static constexpr uint32_t kLastGeneration = (uint32_t{1} << kBitsOfGeneration) - 1;

  /// What a slot and a generation refer to.
  enum class State : uint8_t {
    kLive,
    kFreed,       ///< given out before and freed since
    kNeverGiven,  ///< not given out so far
  };

  /// Makes room so that the next Add succeeds, and memory for `least` slots in all. Returns false
  /// if the allocator fails or all slots are used up.
  bool Reserve(const Allocator& allocator, size_t least = 0) {
    const bool has_next = first_free_ != kNone || num_slots_ < slots_.size();
    if (has_next && least <= slots_.size()) return true;
    if (num_slots_ == kMostSlots) return has_next;
    const size_t size =
        std::min<size_t>(kMostSlots, std::max({size_t{64}, 2 * slots_.size(), least}));
    return Grow(allocator, size);
  }

  /// Returns the slot that has been free longest, or a new one. Reserve must have returned true
  /// since the last Add.
  uint32_t Add() {
    uint32_t slot = first_free_;
    if (slot == kNone) {
      slot = num_slots_++;
    } else {
      first_free_ = slots_[slot].next_free;
      if (first_free_ == kNone) last_free_ = kNone;
    }
    ++slots_[slot].generation;
    SetLive(slot);
    return slot;
  }

  /// Frees a slot in use.
  void Remove(uint32_t slot) {
    uint32_t word = slot;
    for (Array<uint64_t>& level : bits_) {
      level[word / 64] &= ~(uint64_t{1} << word % 64);
      word /= 64;
      if (level[word] != 0) break;
    }
    --num_live_;
    if (slots_[slot].generation == kLastGeneration) return;  // retires
    slots_[slot].next_free = kNone;
    (last_free_ != kNone ? slots_[last_free_].next_free : first_free_) = slot;
    last_free_ = slot;
  }

  State Find(uint32_t slot, uint32_t generation) const {
    if (slot >= num_slots_ || generation == 0 || generation > slots_[slot].generation) {
      return State::kNeverGiven;
    }
    return generation == slots_[slot].generation && IsLive(slot) ? State::kLive : State::kFreed;
  }

  /// The slot that the next Add returns.
  uint32_t next_slot() const { return first_free_ != kNone ? first_free_ : num_slots_; }
  /// Of a slot that has been given out: how often, the present use included.
  uint32_t generation(uint32_t slot) const { return slots_[slot].generation; }
  uint32_t num_live() const { return num_live_; }
  /// Slots ever given out, free and retired ones included.
  uint32_t num_slots() const { return num_slots_; }

  /// The first slot in use from `slot` on, or kNone.
  uint32_t NextLive(uint32_t slot) const {
    size_t at = slot;  // the next bit to look at in the current level
    int level = 0;
    for (;;) {  // upwards, until a word has a bit from `at` on
      if (at / 64 >= bits_[level].size()) return kNone;
      const uint64_t rest = bits_[level][at / 64] >> at % 64;
      if (rest != 0) {
        at += static_cast<size_t>(std::countr_zero(rest));
        break;
      }
      if (++level == kLevels) return kNone;
      at = at / 64 + 1;
    }
    for (; level > 0; --level) {  // and down to its first slot
      at = 64 * at + static_cast<size_t>(std::countr_zero(bits_[level - 1][at]));
    }
    return static_cast<uint32_t>(at);
  }

  /// Slots in use, ascending. A slot may be freed while an iterator is at it.
  class Iterator {
   public:
    Iterator(const SlotList* list, uint32_t slot) : list_(list), slot_(slot) {}
    uint32_t operator*() const { return slot_; }
    Iterator& operator++() {
      slot_ = list_->NextLive(slot_ + 1);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return slot_ != other.slot_; }

   private:
    const SlotList* list_;
    uint32_t slot_;
  };
  Iterator begin() const { return {this, NextLive(0)}; }
  Iterator end() const { return {this, kNone}; }

  // Saving and loading.

  /// A slot as it is saved.
  struct Saved {
    uint32_t generation = 0;
    uint32_t link = kNone;  ///< the next free slot, kNone at the end of the queue; or the next two
  };
  static constexpr uint32_t kLive = kNone - 1;
  static constexpr uint32_t kRetired = kNone - 2;

  Saved Save(uint32_t slot) const {
    if (IsLive(slot)) return {slots_[slot].generation, kLive};
    const bool retired = slots_[slot].generation == kLastGeneration;
    return {slots_[slot].generation, retired ? kRetired : slots_[slot].next_free};
  }
  /// Slots that there is room for.
  uint32_t capacity() const { return static_cast<uint32_t>(slots_.size()); }
  uint32_t first_free() const { return first_free_; }  ///< or kNone
  uint32_t last_free() const { return last_free_; }    ///< or kNone

  /// Whether a list of `num_slots` slots, get(slot) for each, is one that Save can give: each slot
  /// is in use, retired, or exactly once in the queue from `first` to `last`.
  template <class Get>
  static bool IsValid(const Get& get, uint32_t num_slots, uint32_t first, uint32_t last,
                      uint32_t num_live) {
    if (num_slots > kMostSlots) return false;
    uint32_t live = 0, queued = 0;
    for (uint32_t slot = 0; slot < num_slots; ++slot) {
      const Saved saved = get(slot);
      if (saved.generation == 0 || saved.generation > kLastGeneration) return false;
      if (saved.link == kLive) {
        ++live;
      } else if (saved.link == kRetired) {
        if (saved.generation != kLastGeneration) return false;
      } else {
        if (saved.generation == kLastGeneration) return false;
        if (saved.link != kNone && saved.link >= num_slots) return false;
        ++queued;
      }
    }
    if (live != num_live) return false;
    // A queue that ends after as many slots as are free visits each of them once.
    uint32_t at = first, before = kNone;
    for (uint32_t i = 0; i < queued; ++i) {
      if (at >= num_slots) return false;
      const uint32_t link = get(at).link;
      if (link == kLive || link == kRetired) return false;
      before = at;
      at = link;
    }
    return at == kNone && before == last;
  }

  /// Makes room for `num_slots` slots in all. Returns false if the allocator fails.
  bool ReserveAll(const Allocator& allocator, uint32_t num_slots) {
    return num_slots <= slots_.size() || Grow(allocator, num_slots);
  }

  /// Replaces all slots by valid saved ones, for which ReserveAll has made room.
  template <class Get>
  void Load(const Get& get, uint32_t num_slots, uint32_t first, uint32_t last) {
    for (Array<uint64_t>& level : bits_) std::fill(level.begin(), level.end(), uint64_t{0});
    std::fill(slots_.begin(), slots_.end(), Slot{});
    num_slots_ = num_slots;
    num_live_ = 0;
    first_free_ = first;
    last_free_ = last;
    for (uint32_t slot = 0; slot < num_slots; ++slot) {
      const Saved saved = get(slot);
      slots_[slot].generation = saved.generation;
      if (saved.link == kLive) {
        SetLive(slot);
      } else {
        slots_[slot].next_free = saved.link == kRetired ? kNone : saved.link;
      }
    }
  }

 private:
  static constexpr int kLevels = (kBitsOfSlot + 5) / 6;  // a word covers 2^6 of the level below

  struct Slot {
    uint32_t generation = 0;  // of the present or last use; 0: never given out
    uint32_t next_free = kNone;
  };

  bool IsLive(uint32_t slot) const { return (bits_[0][slot / 64] >> slot % 64 & 1) != 0; }

  void SetLive(uint32_t slot) {
    uint32_t word = slot;
    for (Array<uint64_t>& level : bits_) {
      level[word / 64] |= uint64_t{1} << word % 64;
      word /= 64;
    }
    ++num_live_;
  }

  // Makes room for `size` slots, more than now.
  bool Grow(const Allocator& allocator, size_t size) {
    Array<Slot> slots;
    Array<uint64_t> bits[kLevels];
    size_t words = size;
    for (Array<uint64_t>& level : bits) {
      words = (words + 63) / 64;
      if (!level.Allocate(allocator, words, uint64_t{0})) return false;
    }
    if (!slots.Allocate(allocator, size)) return false;
    std::copy(slots_.begin(), slots_.end(), slots.begin());
    slots_ = std::move(slots);
    for (int k = 0; k < kLevels; ++k) {
      std::copy(bits_[k].begin(), bits_[k].end(), bits[k].begin());
      bits_[k] = std::move(bits[k]);
    }
    return true;
  }

  Array<Slot> slots_;
  Array<uint64_t> bits_[kLevels];  // level 0: slots in use; above: words of the level below that
                                   // are not zero
  uint32_t num_slots_ = 0;
  uint32_t num_live_ = 0;
  uint32_t first_free_ = kNone;  // the queue of free slots
  uint32_t last_free_ = kNone;
};

}  // namespace plush
