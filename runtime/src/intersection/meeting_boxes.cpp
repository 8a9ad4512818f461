// SPDX-License-Identifier: MIT
// Source: meeting_boxes.h.
#include "intersection/meeting_boxes.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intersection/meeting_boxes.cpp"
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

uint32_t List(const float* low, const float* high, const BoxColumns& boxes, uint32_t begin,
              uint32_t end, uint32_t* list) {
  const Lanes16 d;
  const Numbers16 du;
  constexpr uint32_t N = kLanes<Lanes16>;
  const WideBox box(low, high);
  uint32_t count = 0;
  for (uint32_t i = begin; i < end; i += N) {
    const auto meets = box.Meets(boxes, i, end);
    if (hn::AllFalse(d, meets)) continue;
    count += static_cast<uint32_t>(
        hn::CompressStore(hn::Iota(du, i), hn::RebindMask(du, meets), du, list + count));
  }
  return count;
}

uint32_t Pair(const BoxColumns& a, const uint32_t* of_a, uint32_t begin, uint32_t count_a,
              const BoxColumns& b, const uint32_t* of_b, uint32_t count_b, NearPairs* pairs) {
  const Lanes16 d;
  const Numbers16 du;
  constexpr uint32_t N = kLanes<Lanes16>;
  for (uint32_t i = begin; i < count_a; ++i) {
    if (!pairs->HasRoom(count_b)) return i;
    const uint32_t t = of_a[i];
    const float low[3] = {a.low[0][t], a.low[1][t], a.low[2][t]};
    const float high[3] = {a.high[0][t], a.high[1][t], a.high[2][t]};
    const WideBox box(low, high);
    for (uint32_t j = 0; j < count_b; j += N) {
      const auto meets = box.Meets(b, j, count_b);
      if (hn::AllFalse(d, meets)) continue;
      hn::StoreU(hn::Set(du, t), du, &pairs->first[pairs->count]);
      pairs->count += static_cast<uint32_t>(hn::CompressStore(
          hn::LoadU(du, of_b + j), hn::RebindMask(du, meets), du, &pairs->second[pairs->count]));
    }
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

uint32_t FindMeeting(const LaneBox& box, const BoxColumns& boxes, uint32_t begin, uint32_t end,
                     uint32_t* list) {
  float low[4], high[4];
  Store4(box.low, low);
  Store4(box.high, high);
  return HWY_DYNAMIC_DISPATCH(List)(low, high, boxes, begin, end, list);
}

uint32_t PairMeeting(const BoxColumns& a, std::span<const uint32_t> of_a, uint32_t begin,
                     const BoxColumns& b, std::span<const uint32_t> of_b, NearPairs* pairs) {
  return HWY_DYNAMIC_DISPATCH(Pair)(a, of_a.data(), begin, static_cast<uint32_t>(of_a.size()), b,
                                    of_b.data(), static_cast<uint32_t>(of_b.size()), pairs);
}

}  // namespace plush
#endif
