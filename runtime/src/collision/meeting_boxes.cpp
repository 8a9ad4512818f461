// SPDX-License-Identifier: MIT
// Source: meeting_boxes.h.
#include "collision/meeting_boxes.h"

#include "base/simd_target.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collision/meeting_boxes.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using Numbers16 = hn::RebindToUnsigned<Lanes16>;

// One box in all lanes.
struct WideBox {
  hn::Vec<Lanes16> low[3], high[3];

  HWY_INLINE WideBox(const float* at_low, const float* at_high) {
    const Lanes16 d;
    for (int k = 0; k < 3; ++k) low[k] = hn::Set(d, at_low[k]), high[k] = hn::Set(d, at_high[k]);
  }

  // Which of the boxes from i on meet it.
  HWY_INLINE hn::Mask<Lanes16> Meets(const BoxColumns& boxes, uint32_t i, uint32_t end) const {
    const Lanes16 d;
    auto meets = hn::FirstN(d, end - i);
    for (int k = 0; k < 3; ++k) {
      meets = hn::And(meets, hn::Le(hn::LoadU(d, boxes.low[k] + i), high[k]));
      meets = hn::And(meets, hn::Le(low[k], hn::LoadU(d, boxes.high[k] + i)));
    }
    return meets;
  }
};

// Calls visit(i, which of the boxes from i on meet) for boxes from `begin` to `end` where any do.
template <class Visit>
HWY_INLINE void ForMeeting(const WideBox& box, const BoxColumns& boxes, const BoxColumns& chunks,
                           uint32_t begin, uint32_t end, Visit visit) {
  const Lanes16 d;
  constexpr uint32_t N = kLanes<Lanes16>;
  const auto visit_range = [&](uint32_t from, uint32_t to) HWY_ATTR {
    for (uint32_t i = from; i < to; i += N) {
      const auto meets = box.Meets(boxes, i, to);
      if (!hn::AllFalse(d, meets)) visit(i, meets);
    }
  };
  if (end - begin <= 2 * kBoxChunk) return visit_range(begin, end);
  const uint32_t num_chunks = (end - begin + kBoxChunk - 1) / kBoxChunk;
  for (uint32_t c = 0; c < num_chunks; c += N) {
    const auto meets = box.Meets(chunks, c, num_chunks);
    if (hn::AllFalse(d, meets)) continue;
    uint8_t bytes[8] = {};  // of which up to two are set
    hn::StoreMaskBits(d, meets, bytes);
    for (uint32_t bits = bytes[0] | uint32_t{bytes[1]} << 8; bits != 0; bits &= bits - 1) {
      const uint32_t chunk = c + static_cast<uint32_t>(std::countr_zero(bits));
      const uint32_t from = begin + kBoxChunk * chunk;
      visit_range(from, end - from < kBoxChunk ? end : from + kBoxChunk);
    }
  }
}

uint32_t List(const float* low, const float* high, const BoxColumns& boxes,
              const BoxColumns& chunks, uint32_t begin, uint32_t end, uint32_t* list,
              float* around_low, float* around_high) {
  const Lanes16 d;
  const Numbers16 du;
  const WideBox box(low, high);
  WideBox around(around_low, around_high);
  uint32_t count = 0;
  ForMeeting(box, boxes, chunks, begin, end, [&](uint32_t i, auto meets) HWY_ATTR {
    count += static_cast<uint32_t>(
        hn::CompressStore(hn::Iota(du, i), hn::RebindMask(du, meets), du, list + count));
    for (int k = 0; k < 3; ++k) {
      const auto least = hn::Min(around.low[k], hn::LoadU(d, boxes.low[k] + i));
      const auto greatest = hn::Max(around.high[k], hn::LoadU(d, boxes.high[k] + i));
      around.low[k] = hn::IfThenElse(meets, least, around.low[k]);
      around.high[k] = hn::IfThenElse(meets, greatest, around.high[k]);
    }
  });
  for (int k = 0; k < 3; ++k) {
    around_low[k] = hn::GetLane(hn::MinOfLanes(d, around.low[k]));
    around_high[k] = hn::GetLane(hn::MaxOfLanes(d, around.high[k]));
  }
  return count;
}

uint32_t Pair(const BoxColumns& a, const uint32_t* of_a, uint32_t begin, uint32_t count_a,
              const BoxColumns& b, const BoxColumns& chunks, const uint32_t* of_b, uint32_t count_b,
              NearPairs* pairs) {
  const Numbers16 du;
  for (uint32_t i = begin; i < count_a; ++i) {
    if (!pairs->HasRoom(count_b)) return i;
    const uint32_t t = of_a[i];
    const float low[3] = {a.low[0][t], a.low[1][t], a.low[2][t]};
    const float high[3] = {a.high[0][t], a.high[1][t], a.high[2][t]};
    ForMeeting(WideBox(low, high), b, chunks, 0, count_b, [&](uint32_t j, auto meets) HWY_ATTR {
      hn::StoreU(hn::Set(du, t), du, &pairs->first[pairs->count]);
      pairs->count += static_cast<uint32_t>(hn::CompressStore(
          hn::LoadU(du, of_b + j), hn::RebindMask(du, meets), du, &pairs->second[pairs->count]));
    });
  }
  return count_a;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(List);
HWY_EXPORT(Pair);

uint32_t FindMeeting(const LaneBox& box, const BoxColumns& boxes, const BoxColumns& chunks,
                     uint32_t begin, uint32_t end, uint32_t* list, LaneBox* around) {
  float low[4], high[4], around_low[4], around_high[4];
  Store4(box.low, low);
  Store4(box.high, high);
  Store4(around->low, around_low);
  Store4(around->high, around_high);
  const uint32_t count = HWY_DYNAMIC_DISPATCH(List)(low, high, boxes, chunks, begin, end, list,
                                                    around_low, around_high);
  *around = {Load4(around_low), Load4(around_high)};
  return count;
}

uint32_t PairMeeting(const BoxColumns& a, std::span<const uint32_t> of_a, uint32_t begin,
                     const BoxColumns& b, const BoxColumns& chunks, std::span<const uint32_t> of_b,
                     NearPairs* pairs) {
  return HWY_DYNAMIC_DISPATCH(Pair)(a, of_a.data(), begin, static_cast<uint32_t>(of_a.size()), b,
                                    chunks, of_b.data(), static_cast<uint32_t>(of_b.size()), pairs);
}

}  // namespace plush
#endif
