// SPDX-License-Identifier: MIT
#include "collision/near_boxes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace plush {
namespace {

// Rounding keeps the order, so boxes that meet still do.
float Rounded(double x) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(x, -kMost, kMost));
}

}  // namespace

bool NearBoxes::Reserve(const Allocator& allocator, size_t most) {
  if (most <= boxes_.size()) return true;
  NearBoxes more;
  const size_t lanes = most + kLanePadding;
  for (int k = 0; k < 3; ++k) {
    for (Array<float>* column :
         {&more.low_[k], &more.high_[k], &more.chunk_low_[k], &more.chunk_high_[k]}) {
      if (!column->Allocate(allocator, lanes, 0.0f)) return false;
    }
  }
  if (!more.boxes_.Allocate(allocator, most) || !more.ids_.Allocate(allocator, most) ||
      !more.order_.Allocate(allocator, most) || !more.list_.Allocate(allocator, lanes)) {
    return false;
  }
  *this = std::move(more);
  return true;
}

void NearBoxes::Add(const WorldBox& box, uint32_t id) {
  boxes_[count_] = box;
  ids_[count_++] = id;
}

void NearBoxes::Sort() {
  double sums[3] = {}, squares[3] = {};
  for (uint32_t i = 0; i < count_; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double middle = 0.5 * (boxes_[i].low[k] + boxes_[i].high[k]) - boxes_[0].low[k];
      sums[k] += middle;
      squares[k] += middle * middle;
    }
  }
  double widest = -1.0;
  for (int k = 0; k < 3 && count_ > 0; ++k) {
    const double spread = squares[k] - sums[k] * sums[k] / count_;
    if (spread > widest) widest = spread, axis_ = k;
  }
  // From the last order, which is mostly almost right, and so quicker to sort. It changes no
  // result.
  for (uint32_t i = 0; num_sorted_ != count_ && i < count_; ++i) order_[i].box = i;
  num_sorted_ = count_;
  for (uint32_t i = 0; i < count_; ++i) {
    order_[i].low = Rounded(boxes_[order_[i].box].low[axis_]);
  }
  std::sort(order_.begin(), order_.begin() + count_, [](const Place& a, const Place& b) {
    return a.low != b.low ? a.low < b.low : a.box < b.box;
  });
  for (uint32_t i = 0; i < count_; ++i) {
    const WorldBox& box = boxes_[order_[i].box];
    const uint32_t chunk = i / kBoxChunk;
    const bool is_first = i % kBoxChunk == 0;
    for (int k = 0; k < 3; ++k) {
      const float low = low_[k][i] = Rounded(box.low[k]);
      const float high = high_[k][i] = Rounded(box.high[k]);
      chunk_low_[k][chunk] = is_first ? low : std::min(chunk_low_[k][chunk], low);
      chunk_high_[k][chunk] = is_first ? high : std::max(chunk_high_[k][chunk], high);
    }
  }
}

uint32_t NearBoxes::FindNear(uint32_t place) {
  // Up to the first chunk that begins behind the box.
  const float* const lows = low_[axis_].data();
  const uint32_t chunk = (place + 1) / kBoxChunk, begin = kBoxChunk * chunk;
  uint32_t end = begin;
  while (end < count_ && lows[end] <= high_[axis_][place]) end += kBoxChunk;
  end = std::min(end, count_);
  if (end <= place + 1) return 0;
  const BoxColumns boxes = {{low_[0].data(), low_[1].data(), low_[2].data()},
                            {high_[0].data(), high_[1].data(), high_[2].data()}};
  BoxColumns chunks;
  for (int k = 0; k < 3; ++k) {
    chunks.low[k] = chunk_low_[k].data() + chunk;
    chunks.high[k] = chunk_high_[k].data() + chunk;
  }
  return FindMeeting(boxes.At(place), boxes, chunks, begin, end, list_.data());
}

}  // namespace plush
