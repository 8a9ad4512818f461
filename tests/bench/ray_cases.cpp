// SPDX-License-Identifier: MIT
// Rays on a deformed body and on one at rest, on one thread. If Embree 3 is installed, it traces
// the same rays on the same surface for comparison.

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "bench/bench_models.h"

#include <benchmark/benchmark.h>

#ifdef PLUSH_HAS_EMBREE
#include <embree3/rtcore.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace plush::bench {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A baked model in a world, and rays that aim at it.
class RayScene {
 public:
  explicit RayScene(const std::string& path) : file_(BakeOrExit(ImportOrExit(path))) {
    if (!asset_.Open(file_.bytes()).ok()) std::abort();  // a bake of ours always opens
    if (!world_.AddBody(asset_, {}, &id_).ok()) std::abort();
    Measure();
  }

  World& world() { return world_; }
  BodyId id() const { return id_; }
  const Asset& asset() const { return asset_; }

  // From anywhere around the model to a random triangle of it.
  std::vector<Ray> AimRays(size_t count) {
    const VisualView& visual = asset_.visual();
    std::vector<Ray> rays(count);
    for (Ray& ray : rays) {
      const size_t triangle = random_() % (visual.indices.size() / 3);
      Vec3 target, direction;
      for (size_t k = 0; k < 3; ++k) {
        const Vec3& x = visual.positions[visual.indices[3 * triangle + k]];
        target = {target.x + x.x / 3.0f, target.y + x.y / 3.0f, target.z + x.z / 3.0f};
      }
      float length = 0.0f;
      while (!(length > 0.1f && length < 1.0f)) {
        direction = {Uniform(), Uniform(), Uniform()};
        length = std::hypot(direction.x, direction.y, direction.z);
      }
      const float scale = size_ / length;
      direction = {direction.x * scale, direction.y * scale, direction.z * scale};
      ray.origin = {target.x - direction.x, target.y - direction.y, target.z - direction.z};
      ray.direction = direction;
    }
    return rays;
  }

  // Bends and shakes the body: a different shape for each `turn`.
  void Deform(int turn) {
    std::vector<Vec3> x(asset_.simulation().nodes.begin(), asset_.simulation().nodes.end());
    const float phase = 0.7f * static_cast<float>(turn % 16);
    for (Vec3& p : x) {
      p.x += 0.03f * size_ * std::sin(6.0f * p.y / size_ + phase);
      p.z += 0.03f * size_ * std::sin(5.0f * p.x / size_ + 2.0f * phase);
    }
    if (!world_.SetNodePositions(id_, x).ok()) std::abort();
  }

 private:
  float Uniform() { return std::uniform_real_distribution<float>(-1.0f, 1.0f)(random_); }

  void Measure() {
    Vec3 low = asset_.simulation().nodes[0], high = low;
    for (const Vec3& p : asset_.simulation().nodes) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    size_ = std::hypot(high.x - low.x, high.y - low.y, high.z - low.z);
  }

  AlignedBytes file_;
  Asset asset_;
  World world_;
  BodyId id_;
  float size_ = 1.0f;
  std::mt19937 random_{1};
};

size_t CastAll(const World& world, const std::vector<Ray>& rays) {
  size_t hits = 0;
  for (const Ray& ray : rays) {
    SurfacePoint hit;
    hits += world.Raycast(ray, {}, &hit).ok() && hit.valid() ? 1u : 0u;
  }
  return hits;
}

void CountSurface(const Asset& asset, benchmark::State* state) {
  state->counters["tets"] = static_cast<double>(asset.collision().tets.size());
  state->counters["triangles"] = asset.collision().num_triangles();
}

void DeformedRays(benchmark::State& state, const std::string& path) {
  RayScene scene(path);
  const std::vector<Ray> rays = scene.AimRays(100);
  double refit = 0.0, hits = 0.0;
  int turn = 0;
  for (auto _ : state) {
    scene.Deform(turn++);
    const Clock::time_point start = Clock::now();
    scene.world().PrepareQueries();
    refit += SecondsSince(start);
    hits += static_cast<double>(CastAll(scene.world(), rays));
    state.SetIterationTime(SecondsSince(start));
  }
  state.counters["refit_us"] = 1e6 * refit / turn;
  state.counters["hits"] = hits / turn;
  CountSurface(scene.asset(), &state);
}

void StaticRays(benchmark::State& state, const std::string& path) {
  RayScene scene(path);
  const std::vector<Ray> rays = scene.AimRays(100000);
  scene.world().PrepareQueries();
  size_t hits = 0;
  for (auto _ : state) hits = CastAll(scene.world(), rays);
  state.counters["hits"] = static_cast<double>(hits);
  CountSurface(scene.asset(), &state);
}

#ifdef PLUSH_HAS_EMBREE

// The render surface in a scene of Embree.
class EmbreeScene {
 public:
  EmbreeScene(const Asset& asset, bool deforms)
      : device_(rtcNewDevice("threads=1")),
        scene_(rtcNewScene(device_)),
        mesh_(rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE)) {
    const VisualView& visual = asset.visual();
    num_vertices_ = visual.positions.size();
    vertices_ = static_cast<Vec3*>(rtcSetNewGeometryBuffer(
        mesh_, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, sizeof(Vec3), num_vertices_));
    std::copy(visual.positions.begin(), visual.positions.end(), vertices_);
    void* indices = rtcSetNewGeometryBuffer(mesh_, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                            3 * sizeof(uint32_t), visual.indices.size() / 3);
    std::memcpy(indices, visual.indices.data(), visual.indices.size_bytes());
    if (deforms) {
      // Only scenes of low quality keep a tree per geometry, which can be refitted.
      rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_DYNAMIC);
      rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_LOW);
      rtcSetGeometryBuildQuality(mesh_, RTC_BUILD_QUALITY_REFIT);
    }
    rtcCommitGeometry(mesh_);
    rtcAttachGeometry(scene_, mesh_);
    rtcCommitScene(scene_);
  }
  ~EmbreeScene() {
    rtcReleaseGeometry(mesh_);
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;

  std::span<Vec3> vertices() { return {vertices_, num_vertices_}; }

  void Refit() {
    rtcUpdateGeometryBuffer(mesh_, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(mesh_);
    rtcCommitScene(scene_);
  }

  size_t CastAll(const std::vector<Ray>& rays) const {
    size_t hits = 0;
    for (const Ray& ray : rays) {
      RTCIntersectContext context;
      rtcInitIntersectContext(&context);
      RTCRayHit hit = {};
      hit.ray.org_x = ray.origin.x, hit.ray.org_y = ray.origin.y, hit.ray.org_z = ray.origin.z;
      hit.ray.dir_x = ray.direction.x, hit.ray.dir_y = ray.direction.y;
      hit.ray.dir_z = ray.direction.z;
      hit.ray.tfar = std::numeric_limits<float>::infinity();
      hit.ray.mask = ~0u;
      hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(scene_, &context, &hit);
      hits += hit.hit.geomID != RTC_INVALID_GEOMETRY_ID ? 1u : 0u;
    }
    return hits;
  }

 private:
  RTCDevice device_;
  RTCScene scene_;
  RTCGeometry mesh_;
  Vec3* vertices_ = nullptr;
  size_t num_vertices_ = 0;
};

void EmbreeDeformedRays(benchmark::State& state, const std::string& path) {
  RayScene scene(path);
  const std::vector<Ray> rays = scene.AimRays(100);
  EmbreeScene embree(scene.asset(), true);
  const std::span<Vec3> vertices = embree.vertices();
  double skin = 0.0, hits = 0.0;
  int turn = 0;
  for (auto _ : state) {
    scene.Deform(turn++);
    const Clock::time_point start = Clock::now();
    const SkinTarget target = {.positions = vertices.data(),
                               .num_vertices = static_cast<uint32_t>(vertices.size())};
    if (!scene.world().Skin(scene.id(), 1.0f, target).ok()) state.SkipWithError("no skin");
    skin += SecondsSince(start);
    embree.Refit();
    hits += static_cast<double>(embree.CastAll(rays));
    state.SetIterationTime(SecondsSince(start));
  }
  state.counters["skin_us"] = 1e6 * skin / turn;
  state.counters["hits"] = hits / turn;
}

void EmbreeStaticRays(benchmark::State& state, const std::string& path) {
  RayScene scene(path);
  const std::vector<Ray> rays = scene.AimRays(100000);
  const EmbreeScene embree(scene.asset(), false);
  size_t hits = 0;
  for (auto _ : state) hits = embree.CastAll(rays);
  state.counters["hits"] = static_cast<double>(hits);
}

#else

constexpr auto EmbreeDeformedRays = nullptr;
constexpr auto EmbreeStaticRays = nullptr;

#endif

template <class Function>
void Register(const ModelFolder& models, const std::string& name, const char* model,
              Function function, bool manual) {
  if constexpr (std::is_same_v<Function, std::nullptr_t>) {
    std::fprintf(stderr, "skipped %s: built without Embree 3\n", name.c_str());
  } else {
    const std::string path = models.Find(std::string(model) + ".obj", name);
    if (path.empty()) return;
    auto* added = benchmark::RegisterBenchmark(name.c_str(), function, path);
    if (manual) {
      added->UseManualTime()->Unit(benchmark::kMicrosecond);
    } else {
      added->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace

void AddRayCases(const ModelFolder& models) {
  for (const char* model : {"armadillo_86k", "horse_97k"}) {
    const std::string deformed = std::string("rays/deformed_100/") + model;
    const std::string at_rest = std::string("rays/static_100k/") + model;
    Register(models, deformed, model, DeformedRays, true);
    Register(models, "peer/embree/" + deformed, model, EmbreeDeformedRays, true);
    Register(models, at_rest, model, StaticRays, false);
    Register(models, "peer/embree/" + at_rest, model, EmbreeStaticRays, false);
  }
}

}  // namespace plush::bench
