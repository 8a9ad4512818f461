// SPDX-License-Identifier: MIT
// Pins about which components turn freely: those at one place or on one line.
//
// Internal forces have no moment about them. So such a component's angular momentum about them is
// exact, as a free component's is about its centre. Without that, small and stiff bodies would
// hardly swing on their hinges.
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"
#include "solver/system_matrix.h"

#include <cstdint>
#include <span>

namespace plush {

/// The pins of each component while its level is built.
class ComponentPins {
 public:
  /// `of_nodes`: clusters, or CoarsePair::kPins (num_nodes x 1). `least`: of each cluster, the
  /// least one of its component (num_clusters x 1). Keeps the spans. Returns false if the allocator
  /// fails.
  bool Make(const Allocator& allocator, const SystemView& system, std::span<const Vec3> rest,
            std::span<const uint32_t> of_nodes, std::span<const uint16_t> least);

  /// Finds the pins of the component whose least cluster is `k`: nodes of its tets. They are valid
  /// until the next call. The second one is the farthest from the first. O(tets).
  std::span<const uint32_t> Find(uint16_t k);
  /// Whether they are at one place or on one line, or there are none.
  bool AreHinges(std::span<const uint32_t> pins) const;

 private:
  std::span<const Tet> tets_;  // none without pins
  std::span<const Vec3> rest_;
  std::span<const uint32_t> of_nodes_;
  std::span<const uint16_t> least_;
  Array<uint8_t> marks_;  // scratch memory
  Array<uint32_t> found_;
};

}  // namespace plush
