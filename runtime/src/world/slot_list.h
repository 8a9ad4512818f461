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
    uint32_t word = slot;
    for (Array<uint64_t>& level : bits_) {
      level[word / 64] |= uint64_t{1} << word % 64;
      word /= 64;
    }
    ++num_live_;
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
    if (slot >= num_slots_) return kNone;
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

 private:
  static constexpr int kLevels = (kBitsOfSlot + 5) / 6;  // a word covers 2^6 of the level below

  struct Slot {
    uint32_t generation = 0;  // of the present or last use; 0: never given out
    uint32_t next_free = kNone;
  };

  bool IsLive(uint32_t slot) const { return (bits_[0][slot / 64] >> slot % 64 & 1) != 0; }

  Array<Slot> slots_;
  Array<uint64_t> bits_[kLevels];  // level 0: slots in use; above: words of the level below that
                                   // are not zero
  uint32_t num_slots_ = 0;
  uint32_t num_live_ = 0;
  uint32_t first_free_ = kNone;  // the queue of free slots
  uint32_t last_free_ = kNone;
};

}  // namespace plush
