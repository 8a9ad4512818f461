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

// One ray in all lanes.
struct WideRay {
  hn::Vec<Lanes16> enter[3], leave[3], inverse[3], end, slack;

  HWY_INLINE explicit WideRay(const BoxRay& ray)
      : end(hn::Set(Lanes16(), ray.end + ray.slack)), slack(hn::Set(Lanes16(), ray.slack)) {
    const Lanes16 d;
    for (int k = 0; k < 3; ++k) {
      enter[k] = hn::Set(d, ray.origin[k] + ray.margin);
      leave[k] = hn::Set(d, ray.origin[k] - ray.margin);
      inverse[k] = hn::Set(d, ray.inverse[k]);
    }
  }

  // Which of the boxes from i on it meets.
  HWY_INLINE hn::Mask<Lanes16> Meets(const BoxColumns& boxes, uint32_t i, uint32_t count) const {
    const Lanes16 d;
    auto from = hn::Neg(slack), to = end;
    for (int k = 0; k < 3; ++k) {
      const auto a = hn::Mul(hn::Sub(hn::LoadU(d, boxes.low[k] + i), enter[k]), inverse[k]);
      const auto b = hn::Mul(hn::Sub(hn::LoadU(d, boxes.high[k] + i), leave[k]), inverse[k]);
      from = hn::Max(from, hn::Min(a, b));
      to = hn::Min(to, hn::Max(a, b));
    }
    return hn::And(hn::FirstN(d, count - i), hn::Le(from, hn::Add(to, slack)));
  }
};

// Calls visit(i, which of the boxes from i on meet the shape) for boxes from `begin` to `end` where
// any do.
template <class Shape, class Visit>
HWY_INLINE void ForMeeting(const Shape& shape, const BoxColumns& boxes, const BoxColumns& chunks,
                           uint32_t begin, uint32_t end, Visit visit) {
  const Lanes16 d;
  constexpr uint32_t N = kLanes<Lanes16>;
  const auto visit_range = [&](uint32_t from, uint32_t to) HWY_ATTR {
    for (uint32_t i = from; i < to; i += N) {
      const auto meets = shape.Meets(boxes, i, to);
      if (!hn::AllFalse(d, meets)) visit(i, meets);
    }
  };
  if (end - begin <= 2 * kBoxChunk) return visit_range(begin, end);
  const uint32_t num_chunks = (end - begin + kBoxChunk - 1) / kBoxChunk;
  for (uint32_t c = 0; c < num_chunks; c += N) {
    const auto meets = shape.Meets(chunks, c, num_chunks);
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

// Lists them. Calls see(i, which of the boxes from i on meet), too.
template <class Shape, class See>
HWY_INLINE uint32_t ListMeeting(const Shape& shape, const BoxColumns& boxes,
                                const BoxColumns& chunks, uint32_t begin, uint32_t end,
                                uint32_t* list, See see) {
  const Numbers16 du;
  const auto lanes = hn::Iota(du, 0);
  uint32_t count = 0;
  ForMeeting(shape, boxes, chunks, begin, end, [&](uint32_t i, auto meets) HWY_ATTR {
    const auto which = hn::RebindMask(du, meets);
    hn::StoreU(hn::Compress(hn::Add(lanes, hn::Set(du, i)), which), du, list + count);
    count += static_cast<uint32_t>(hn::CountTrue(du, which));
    see(i, meets);
  });
  return count;
}

uint32_t List(const float* low, const float* high, const BoxColumns& boxes,
              const BoxColumns& chunks, uint32_t begin, uint32_t end, uint32_t* list) {
  return ListMeeting(WideBox(low, high), boxes, chunks, begin, end, list,
                     [](uint32_t, auto) HWY_ATTR {});
}

uint32_t ListAndBound(const float* low, const float* high, const BoxColumns& boxes,
                      const BoxColumns& chunks, uint32_t begin, uint32_t end, uint32_t* list,
                      float* around_low, float* around_high) {
  const Lanes16 d;
  WideBox around(around_low, around_high);
  const uint32_t count = ListMeeting(
      WideBox(low, high), boxes, chunks, begin, end, list, [&](uint32_t i, auto meets) HWY_ATTR {
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

uint32_t ListOnRay(const BoxRay& ray, const BoxColumns& boxes, const BoxColumns& chunks,
                   uint32_t begin, uint32_t end, uint32_t* list) {
  return ListMeeting(WideRay(ray), boxes, chunks, begin, end, list, [](uint32_t, auto) HWY_ATTR {});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(List);
HWY_EXPORT(ListAndBound);
HWY_EXPORT(ListOnRay);

uint32_t FindMeeting(const LaneBox& box, const BoxColumns& boxes, const BoxColumns& chunks,
                     uint32_t begin, uint32_t end, uint32_t* list, LaneBox* around) {
  float low[4], high[4], around_low[4], around_high[4];
  Store4(box.low, low);
  Store4(box.high, high);
  if (around == nullptr) {
    return HWY_DYNAMIC_DISPATCH(List)(low, high, boxes, chunks, begin, end, list);
  }
  Store4(around->low, around_low);
  Store4(around->high, around_high);
  const uint32_t count = HWY_DYNAMIC_DISPATCH(ListAndBound)(low, high, boxes, chunks, begin, end,
                                                            list, around_low, around_high);
  *around = {Load4(around_low), Load4(around_high)};
  return count;
}

uint32_t FindOnRay(const BoxRay& ray, const BoxColumns& boxes, const BoxColumns& chunks,
                   uint32_t begin, uint32_t end, uint32_t* list) {
  return HWY_DYNAMIC_DISPATCH(ListOnRay)(ray, boxes, chunks, begin, end, list);
}

}  // namespace plush
#endif
