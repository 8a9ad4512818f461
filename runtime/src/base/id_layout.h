// SPDX-License-Identifier: MIT
// The bits of an Id: slot, generation, tag of the world.
#pragma once

#include <cstdint>

namespace plush {

inline constexpr int kSlotBits = 24;        ///< bits 0..23
inline constexpr int kGenerationBits = 24;  ///< bits 24..47; the tag has bits 48..63

/// Generations start at 1, so that no id is 0.
constexpr uint64_t PackId(uint32_t slot, uint32_t generation, uint16_t tag) {
  return uint64_t{slot} | uint64_t{generation} << kSlotBits |
         uint64_t{tag} << (kSlotBits + kGenerationBits);
}

constexpr uint32_t SlotOf(uint64_t id) {
  return static_cast<uint32_t>(id & ((uint64_t{1} << kSlotBits) - 1));
}

constexpr uint32_t GenerationOf(uint64_t id) {
  return static_cast<uint32_t>(id >> kSlotBits & ((uint64_t{1} << kGenerationBits) - 1));
}

constexpr uint16_t TagOf(uint64_t id) {
  return static_cast<uint16_t>(id >> (kSlotBits + kGenerationBits));
}

}  // namespace plush
