// SPDX-License-Identifier: MIT
#include "bench/machine_limits.h"

#include "base/simd_target.h"
#include "bench/bench_models.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine_limits.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Enough sums to hide latency; with two factors they fit in 16 registers.
constexpr size_t kSums = 12;

// Returns the number of multiply-adds done.
size_t MultiplyAdd(size_t rounds, float* out) {
  const hn::CappedTag<float, 16> d;
  using V = hn::Vec<decltype(d)>;
  const V factor = hn::Set(d, *out), term = hn::Set(d, 1.0f - *out);
  // Different, or a compiler would compute one for all.
  const auto start = [&](float by) HWY_ATTR { return hn::Set(d, *out + by); };
  V s0 = start(0), s1 = start(1), s2 = start(2), s3 = start(3), s4 = start(4), s5 = start(5);
  V s6 = start(6), s7 = start(7), s8 = start(8), s9 = start(9), s10 = start(10), s11 = start(11);
  for (size_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, factor, term);
    s1 = hn::MulAdd(s1, factor, term);
    s2 = hn::MulAdd(s2, factor, term);
    s3 = hn::MulAdd(s3, factor, term);
    s4 = hn::MulAdd(s4, factor, term);
    s5 = hn::MulAdd(s5, factor, term);
    s6 = hn::MulAdd(s6, factor, term);
    s7 = hn::MulAdd(s7, factor, term);
    s8 = hn::MulAdd(s8, factor, term);
    s9 = hn::MulAdd(s9, factor, term);
    s10 = hn::MulAdd(s10, factor, term);
    s11 = hn::MulAdd(s11, factor, term);
  }
  const V lower = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const V upper = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  *out = 0.5f + 1.0e-30f * hn::GetLane(hn::Add(lower, upper));
  return rounds * kSums * hn::Lanes(d);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(MultiplyAdd);

namespace bench {
namespace {

// The best of a few runs of `work`, which returns how much it did [1/s].
template <class Work>
double BestRate(const Work& work) {
  constexpr int kRuns = 7;
  double best = 0.0;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const size_t done = work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(done) / seconds.count());
  }
  return best;
}

}  // namespace

double MultiplyAddsPerSecond() {
  constexpr size_t kRounds = 400000;
  float number = 0.5f;
  return BestRate([&] { return HWY_DYNAMIC_DISPATCH(MultiplyAdd)(kRounds, &number); });
}

double CopiedBytesPerSecond(size_t bytes) {
  constexpr size_t kLeastCopied = size_t{64} << 20;  // in one run
  const size_t half = std::max<size_t>(bytes / 2, 64);
  std::vector<std::byte> from(half), to(half);
  const size_t times = std::max<size_t>(kLeastCopied / half, 1);
  return BestRate([&] {
    for (size_t i = 0; i < times; ++i) {
      from[i % half] = std::byte{1};  // makes each copy differ from the last
      std::memcpy(to.data(), from.data(), half);
      benchmark::DoNotOptimize(to.data());
      benchmark::ClobberMemory();
    }
    return 2 * half * times;
  });
}

void AddLimitCases() {
  benchmark::RegisterBenchmark("limits/multiply_add", [](benchmark::State& state) {
    for (auto _ : state) state.counters["multiply_adds_per_s"] = MultiplyAddsPerSecond();
  })->Iterations(1);
  // About a second-level cache, a third-level one, and memory.
  const std::pair<const char*, size_t> sizes[] = {{"limits/copy_256k", size_t{256} << 10},
                                                  {"limits/copy_8m", size_t{8} << 20},
                                                  {"limits/copy_512m", size_t{512} << 20}};
  for (const auto& [name, bytes] : sizes) {
    const auto copy = [](benchmark::State& state, size_t of_bytes) {
      for (auto _ : state) state.counters["bytes_per_s"] = CopiedBytesPerSecond(of_bytes);
    };
    benchmark::RegisterBenchmark(name, copy, bytes)->Iterations(1);
  }
}

}  // namespace bench
}  // namespace plush
#endif
