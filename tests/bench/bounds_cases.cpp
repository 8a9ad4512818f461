// SPDX-License-Identifier: MIT
// Extents of deformed barycentric boxes in four directions: the exact bound and that of
// [Civ, Eq. 5.1, 5.2], which sorts the nodes' projections, both in four lanes.

#include "bench/bench_models.h"
#include "collision/barycentric_bounds.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace plush::bench {
namespace {

constexpr size_t kCount = 1024;

struct Box {
  Float4 p[4];
  float low[4];
  float high[4];
};

// Each box bounds three random points of the barycentric tet; nodes are random.
std::vector<Box> RandomBoxes() {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> place(-1.0f, 1.0f), share(1e-6f, 1.0f);
  std::vector<Box> boxes(kCount);
  for (Box& box : boxes) {
    for (Float4& p : box.p) {
      for (int lane = 0; lane < 4; ++lane) p[lane] = place(generator);
    }
    std::fill_n(box.low, 4, 1.0f);
    std::fill_n(box.high, 4, 0.0f);
    for (int point = 0; point < 3; ++point) {
      float w[4], sum = 0.0f;
      for (float& v : w) sum += v = -std::log(share(generator));
      for (int i = 0; i < 4; ++i) {
        box.low[i] = std::min(box.low[i], w[i] / sum);
        box.high[i] = std::max(box.high[i], w[i] / sum);
      }
    }
  }
  return boxes;
}

// Gathering lanes one by one would hide the difference.
#if defined(__GNUC__) && !defined(PLUSH_SCALAR_LANES)

// A node per lane, four different ones.
struct LaneNode {
  Float4 p, low, high;
};

void SortPair(LaneNode* a, LaneNode* b) {
  const auto in_order = a->p < b->p;
  const LaneNode first = *a, second = *b;
  a->p = in_order ? first.p : second.p;
  a->low = in_order ? first.low : second.low;
  a->high = in_order ? first.high : second.high;
  b->p = in_order ? second.p : first.p;
  b->low = in_order ? second.low : first.low;
  b->high = in_order ? second.high : first.high;
}

LaneBounds CivBounds(const Box& box) {
  LaneNode n[4];
  for (int i = 0; i < 4; ++i) n[i] = {box.p[i], Broadcast(box.low[i]), Broadcast(box.high[i])};
  SortPair(&n[0], &n[1]);
  SortPair(&n[2], &n[3]);
  SortPair(&n[0], &n[2]);
  SortPair(&n[1], &n[3]);
  SortPair(&n[1], &n[2]);
  const Float4 one = Broadcast(1.0f);
  return {n[0].high * n[0].p + n[3].low * n[3].p + n[2].low * n[2].p +
              (one - n[0].high - n[3].low - n[2].low) * n[1].p,
          n[3].high * n[3].p + n[0].low * n[0].p + n[1].low * n[1].p +
              (one - n[3].high - n[0].low - n[1].low) * n[2].p};
}

#endif

template <typename Bound>
void Bounds(benchmark::State& state, const Bound& bound) {
  const std::vector<Box> boxes = RandomBoxes();
  for (auto _ : state) {
    for (const Box& box : boxes) {
      LaneBounds bounds = bound(box);
      benchmark::DoNotOptimize(bounds);
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCount));
}

}  // namespace

void AddBoundsCases() {
  const auto exact = [](const Box& box) { return BoundBox(box.p, box.low, box.high); };
  benchmark::RegisterBenchmark("bounds/exact", [exact](benchmark::State& s) {
    Bounds(s, exact);
  })->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("bounds/civ", [](benchmark::State& s) {
    Bounds(s, CivBounds);
  })->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
