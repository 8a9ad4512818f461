// SPDX-License-Identifier: MIT
// Which boxes of a world meet, touching included: sweep and prune along the axis on which they
// spread most.
#pragma once

#include "base/array.h"
#include "collision/meeting_boxes.h"

#include <cstdint>

namespace plush {

/// A box in the world [m].
struct WorldBox {
  double low[3] = {}, high[3] = {};

  bool Overlaps(const WorldBox& other) const {
    bool is_apart = false;
    for (int k = 0; k < 3; ++k) {
      is_apart = is_apart || !(low[k] <= other.high[k] && other.low[k] <= high[k]);
    }
    return !is_apart;
  }
};

class NearBoxes {
 public:
  /// Makes room for so many boxes, unless there is, and forgets the boxes. Returns false, with
  /// nothing changed, if the allocator fails.
  bool Reserve(const Allocator& allocator, size_t most);
  /// Forgets the boxes.
  void Clear() { count_ = 0; }
  /// Adds a box. `id` is the caller's. Each must be finite; fewer than `most` have been added.
  void Add(const WorldBox& box, uint32_t id);

  /// Calls visit(an id, another) once for each pair of boxes that meet, until it returns false. The
  /// order depends on the boxes alone. Does not allocate.
  template <class Visit>
  void ForPairs(Visit visit) {
    Sort();
    for (uint32_t i = 0; i + 1 < count_; ++i) {
      const uint32_t near = FindNear(i);
      for (uint32_t k = 0; k < near; ++k) {
        const uint32_t j = list_[k];
        // Columns are rounded.
        if (j <= i || !boxes_[order_[i].box].Overlaps(boxes_[order_[j].box])) continue;
        if (!visit(ids_[order_[i].box], ids_[order_[j].box])) return;
      }
    }
  }

 private:
  struct Place {
    float low;
    uint32_t box;
  };

  void Sort();
  /// Lists places of boxes that may meet the box at a place, those after it among them. Returns
  /// their number.
  uint32_t FindNear(uint32_t place);

  Array<WorldBox> boxes_;
  Array<uint32_t> ids_;
  Array<Place> order_;             // by lower ends along axis_
  Array<float> low_[3], high_[3];  // in this order, rounded [m]
  Array<float> chunk_low_[3], chunk_high_[3];
  Array<uint32_t> list_;
  uint32_t count_ = 0;
  uint32_t num_sorted_ = 0;  // in order_
  int axis_ = 0;
};

}  // namespace plush
