// SPDX-License-Identifier: MIT
// Convex hulls: making one, and its distances from points and triangles.
#include "plush/collider.h"

#include "base/array.h"
#include "bench/bench_models.h"
#include "colliders/hull.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

// Points of the unit ball's surface, along a spiral.
std::vector<Vec3> BallPoints(int count) {
  std::vector<Vec3> points;
  for (int k = 0; k < count; ++k) {
    const double y = 1.0 - 2.0 * (k + 0.5) / count, r = std::sqrt(1.0 - y * y), turn = 2.4 * k;
    points.push_back({static_cast<float>(r * std::cos(turn)), static_cast<float>(y),
                      static_cast<float>(r * std::sin(turn))});
  }
  return points;
}

// A hull of points on a ball, or of a cube's corners.
class BenchHull {
 public:
  explicit BenchHull(int count) {
    std::vector<Vec3> points = BallPoints(count);
    if (count == 8) {
      for (int k = 0; k < 8; ++k) {
        points[static_cast<size_t>(k)] = {k & 1 ? 1.0f : -1.0f, k & 2 ? 1.0f : -1.0f,
                                          k & 4 ? 1.0f : -1.0f};
      }
    }
    if (!kHullCode.make(DefaultAllocator(), points, &hull_).ok()) std::abort();
  }
  ~BenchHull() { DeleteObject(DefaultAllocator(), hull_); }
  BenchHull(const BenchHull&) = delete;
  BenchHull& operator=(const BenchHull&) = delete;

  const Hull& operator*() const { return *hull_; }

 private:
  Hull* hull_ = nullptr;
};

void Make(benchmark::State& state) {
  const std::vector<Vec3> points = BallPoints(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    Hull* hull = nullptr;
    if (!kHullCode.make(DefaultAllocator(), points, &hull).ok()) std::abort();
    DeleteObject(DefaultAllocator(), hull);
  }
}

// Points at `distance` from the ball's middle.
void PointDistance(benchmark::State& state, float distance) {
  const BenchHull hull(static_cast<int>(state.range(0)));
  const std::vector<Vec3> points = BallPoints(509);
  size_t k = 0;
  for (auto _ : state) {
    const Vec3& p = points[++k % points.size()];
    benchmark::DoNotOptimize(
        kHullCode.tangent_at(*hull, {p.x * distance, p.y * distance, p.z * distance}));
  }
}

// Triangles a tenth of the ball's size wide that lie on it.
void TriangleDistance(benchmark::State& state) {
  const BenchHull hull(static_cast<int>(state.range(0)));
  const std::vector<Vec3> points = BallPoints(509);
  size_t k = 0;
  for (auto _ : state) {
    const Vec3& p = points[++k % points.size()];
    const Vec3 corners[3] = {
        {p.x + 0.1f, p.y, p.z}, {p.x, p.y + 0.1f, p.z}, {p.x, p.y, p.z + 0.1f}};
    benchmark::DoNotOptimize(kHullCode.find_deepest(*hull, corners, 1.0e9f));
  }
}

}  // namespace

void AddHullCases() {
  const auto add = [](const char* name, auto function, auto... more) {
    benchmark::RegisterBenchmark(name, function, more...)->Arg(8)->Arg(256);
  };
  add("hull/make", Make);
  add("hull/point_inside", PointDistance, 0.9f);
  add("hull/point_outside", PointDistance, 1.1f);
  add("hull/triangle", TriangleDistance);
}

}  // namespace plush::bench
