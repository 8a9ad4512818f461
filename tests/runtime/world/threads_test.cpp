// SPDX-License-Identifier: MIT
// Every pair of calls that runtime/README.md allows beside each other, in two threads, gives what
// one thread gives. The thread sanitizer must find nothing.
#include "runtime/colliders/solid_scene.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace threads_test {

constexpr float kDt = 0.01f;
constexpr int kRounds = 100;

// What a thread does in each round.
enum class Work { kStep, kChange, kRead, kQuery, kPrepareSystem, kOpen, kOtherWorld };

struct Pair {
  Work first, second;
};

// The table of runtime/README.md, without the pairs that need no test twice.
constexpr Pair kAllowed[] = {
    {Work::kStep, Work::kPrepareSystem},
    {Work::kStep, Work::kOpen},
    {Work::kStep, Work::kOtherWorld},
    {Work::kChange, Work::kPrepareSystem},
    {Work::kChange, Work::kOpen},
    {Work::kChange, Work::kOtherWorld},
    {Work::kRead, Work::kRead},
    {Work::kRead, Work::kQuery},
    {Work::kRead, Work::kPrepareSystem},
    {Work::kRead, Work::kOpen},
    {Work::kRead, Work::kOtherWorld},
    {Work::kQuery, Work::kQuery},
    {Work::kQuery, Work::kPrepareSystem},
    {Work::kQuery, Work::kOpen},
    {Work::kQuery, Work::kOtherWorld},
    {Work::kPrepareSystem, Work::kPrepareSystem},
    {Work::kPrepareSystem, Work::kOpen},
    {Work::kPrepareSystem, Work::kOtherWorld},
    {Work::kOpen, Work::kOpen},
    {Work::kOpen, Work::kOtherWorld},
    {Work::kOtherWorld, Work::kOtherWorld},
};

const ShapeAsset& Box() {
  static const ShapeAsset box(TetBox(2, 1, 1, 0.1, 0.05, 1), {}, double(kDt));
  return box;
}

void Add(uint64_t value, uint64_t* hash) { *hash = (*hash ^ value) * 0x100000001b3ull; }

void Add(const Vec3& v, uint64_t* hash) {
  for (const float value : {v.x, v.y, v.z}) Add(std::bit_cast<uint32_t>(value), hash);
}

void Add(const Status& status, uint64_t* hash) { Add(static_cast<uint64_t>(status.code), hash); }

BodyDesc Variant(int i) {
  static constexpr uint32_t kPins[] = {0, 5, 9};
  BodyDesc desc = {.pose = {.position = {0.0f, 0.3f, 3.0f}},
                   .material = {.young = 1.0e5f + 1.0e4f * static_cast<float>(i % 5)}};
  if (i % 2 == 0) desc.pinned_nodes = kPins;
  return desc;
}

// A world with a crowd above a plane, and a body that rests on it.
class Scene {
 public:
  Scene() : world_({.idle_systems = 3}), crowd_(AddCrowd()) { world_.PrepareQueries(); }

  // One round of the work of a thread (0 or 1); returns a hash of its results. Uses no macros of
  // Catch2, which are for one thread.
  uint64_t Do(Work work, int thread, int round) {
    uint64_t hash = 0;
    switch (work) {
      case Work::kStep:
        Step(round, &hash);
        break;
      case Work::kChange:
        Change(round, &hash);
        break;
      case Work::kRead:
        Read(round, &hash);
        break;
      case Work::kQuery:
        Query(round, &hash);
        break;
      case Work::kPrepareSystem:
        PrepareSystem(3 * thread + round, &hash);
        break;
      case Work::kOpen:
        Open(&hash);
        break;
      case Work::kOtherWorld:
        StepOtherWorld(&other_[thread], round, &hash);
        break;
    }
    return hash;
  }

  // Uses whatever has been prepared; for one thread.
  uint64_t Finish() {
    uint64_t hash = 0;
    for (int i = 0; i < 5; ++i) AddBody(&world_, Box().asset(), Variant(i));
    for (int round = 0; round < 10; ++round) Step(round, &hash);
    return hash;
  }

 private:
  std::vector<BodyId> AddCrowd() {
    std::vector<BodyId> ids;
    AddPlane(&world_, {});
    AddCollider(&world_, BoxAt({{0.1f, 0.0f, 0.1f}}, {0.1f, 0.1f, 0.05f}));
    (void)world_.PrepareTimeStep(0.7f * kDt);
    for (int i = 0; i < 8; ++i) {
      BodyDesc desc = {.pose = {.position = {static_cast<float>(i), i == 0 ? 0.0f : 5.0f, 0.0f}},
                       .angular_velocity = {0.1f * static_cast<float>(i), 0.3f, 0.0f}};
      ids.push_back(AddBody(&world_, Box().asset(), desc));
    }
    return ids;
  }

  // Time steps that are prepared, and three in turn that are not.
  void Step(int round, uint64_t* hash) {
    static constexpr float kSteps[] = {kDt, 0.7f * kDt, 0.8f * kDt, 0.9f * kDt, 0.6f * kDt};
    Add(world_.Step(kSteps[round / 3 % 5]), hash);
    Add(world_.stats().flags, hash);
    Add(world_.StateHash(), hash);
  }

  // Bodies of the systems that PrepareSystem prepares.
  void Change(int round, uint64_t* hash) {
    BodyId id;
    Add(world_.AddBody(Box().asset(), Variant(round), &id), hash);
    Add(world_.Step(kDt), hash);
    Add(world_.SetMaterial(id, Variant(round + 1).material), hash);
    Add(world_.SetPinnedNodes(id, Variant(round / 3).pinned_nodes), hash);
    Add(world_.PrepareTimeStep(round % 2 == 0 ? 0.5f * kDt : 0.4f * kDt), hash);
    Add(world_.Step(kDt), hash);
    Add(world_.StateHash(), hash);
    Add(world_.RemoveBody(id), hash);
  }

  void Read(int round, uint64_t* hash) {
    const BodyId id = crowd_[static_cast<size_t>(round) % crowd_.size()];
    std::vector<Vec3> x(Box().num_nodes()), skin(Box().asset().visual().positions.size()), n = skin;
    Add(world_.NodePositions(id, 1.0f, x), hash);
    for (const Vec3& position : x) Add(position, hash);
    Add(world_.NodeVelocities(id, x), hash);
    for (const Vec3& velocity : x) Add(velocity, hash);
    const SkinTarget target = {.positions = skin.data(),
                               .normals = n.data(),
                               .num_vertices = static_cast<uint32_t>(skin.size())};
    Add(world_.Skin(id, 1.0f, target), hash);
    for (size_t i = 0; i < skin.size(); ++i) Add(skin[i] + n[i], hash);
    Add(world_.ElasticForces(id, x), hash);
    for (const Vec3& force : x) Add(force, hash);
    BodyMoments moments;
    Add(world_.Moments(id, &moments), hash);
    Add(std::bit_cast<uint64_t>(moments.elastic_j), hash);
    Pose pose;
    Add(world_.BestFitPose(id, &pose), hash);
    Add(pose.position, hash);
    float factor = 0.0f;
    Add(world_.GetGravityFactor(id, &factor), hash);
    MaterialOverride material;
    Add(world_.GetMaterial(id, &material), hash);
    Add(std::bit_cast<uint32_t>(factor + material.density), hash);
    uint32_t num_pinned = 0;
    Add(world_.GetPinnedNodes(id, {}, &num_pinned), hash);
    Add(num_pinned, hash);
    Add(world_.stats().contacts + world_.num_bodies() + (world_.IsAsleep(id) ? 1u : 0u), hash);
    Add(world_.StateHash(), hash);
  }

  void Query(int round, uint64_t* hash) {
    const float x = 0.08f * static_cast<float>(round);
    SurfacePoint hits[4];
    uint32_t count = 0;
    Ray ray = {.origin = {x, 10.0f, 0.05f}, .direction = {0.0f, -1.0f, 0.0f}};
    Add(world_.Raycast(ray, {}, &hits[0]), hash);
    Add(hits[0].triangle, hash);
    Add(world_.RaycastAll(ray, {}, hits, &count), hash);
    Add(count, hash);
    Add(world_.OverlapSphere({x, 5.0f, 0.0f}, 0.3f, {}, hits, &count), hash);
    Add(count, hash);
    Add(world_.ClosestPoint({x, 4.0f, 0.0f}, 2.0f, {}, &hits[0]), hash);
    Add(hits[0].position, hash);
  }

  void PrepareSystem(int i, uint64_t* hash) {
    const BodyDesc body = Variant(i);
    const SystemDesc desc = {.material = body.material, .pinned_nodes = body.pinned_nodes};
    Add(world_.PrepareSystem(Box().asset(), desc), hash);
    Add(world_.PrepareSystem(Box().asset(), {.scale = i % 2 == 0 ? 1.0f : 2.0f}), hash);
  }

  static void Open(uint64_t* hash) {
    Asset asset;
    Add(asset.Open(Box().asset().bytes()), hash);
    Add(asset.content_hash(), hash);
  }

  static void StepOtherWorld(World* world, int round, uint64_t* hash) {
    BodyId id;
    Add(world->AddBody(Box().asset(), Variant(round), &id), hash);
    for (int i = 0; i < 3; ++i) Add(world->Step(kDt), hash);
    Add(world->StateHash(), hash);
    Add(world->RemoveBody(id), hash);
  }

  World world_;
  World other_[2];
  std::vector<BodyId> crowd_;
};

struct Results {
  std::vector<uint64_t> rounds[2];
  uint64_t finish = 0;
  bool operator==(const Results&) const = default;
};

Results Run(const Pair& pair, bool in_threads) {
  Scene scene;
  Results results;
  std::atomic<int> ready{0};
  const auto run = [&](Work work, int thread) {
    ready.fetch_add(1);
    while (in_threads && ready.load() < 2) std::this_thread::yield();
    for (int round = 0; round < kRounds; ++round) {
      results.rounds[thread].push_back(scene.Do(work, thread, round));
    }
  };
  if (in_threads) {
    std::thread other(run, pair.second, 1);
    run(pair.first, 0);
    other.join();
  } else {
    run(pair.first, 0);
    run(pair.second, 1);
  }
  results.finish = scene.Finish();
  return results;
}

// Memory in which the n-th request of one thread waits until it is let go.
class GatedMemory {
 public:
  Allocator allocator() { return {Allocate, Release, this}; }

  // Call on the thread whose requests count.
  void WaitAt(int n) {
    thread_ = std::this_thread::get_id();
    wait_in_ = n;
  }
  // Returns whether the request came: false if the thread finished first.
  bool AwaitRequest() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waits_ || finished_; });
    return waits_;
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }
  void Finished() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  bool timed_out() {
    const std::lock_guard lock(mutex_);
    return timed_out_;
  }

 private:
  static void* Allocate(void* user, size_t bytes, size_t alignment) {
    GatedMemory& self = *static_cast<GatedMemory*>(user);
    if (std::this_thread::get_id() == self.thread_.load() && --self.wait_in_ == 0) self.Wait();
    const Allocator heap = DefaultAllocator();
    return heap.allocate(heap.user, bytes, alignment);
  }
  static void Release(void* /*user*/, void* memory, size_t bytes, size_t alignment) {
    const Allocator heap = DefaultAllocator();
    heap.release(heap.user, memory, bytes, alignment);
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    waits_ = true;
    changed_.notify_all();
    timed_out_ = !changed_.wait_for(lock, std::chrono::seconds(20), [&] { return let_go_; });
  }

  std::atomic<std::thread::id> thread_{};
  int wait_in_ = 0;  // of the gated thread alone
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false, let_go_ = false, finished_ = false, timed_out_ = false;
};

TEST_CASE("Calls that may run beside each other give what one thread gives", "[long]") {
  for (const Pair& pair : kAllowed) {
    CAPTURE(static_cast<int>(pair.first), static_cast<int>(pair.second));
    const Results expected = Run(pair, false), threaded = Run(pair, true);
    for (int thread = 0; thread < 2; ++thread) {
      CHECK(threaded.rounds[thread] == expected.rounds[thread]);
    }
    CHECK(threaded.finish == expected.finish);
  }
}

TEST_CASE("No call waits while PrepareSystem factors") {
  const SystemDesc desc = {.material = {.young = 3.0e5f}};
  int gates = 0;
  for (int n = 1;; ++n) {
    CAPTURE(n);
    GatedMemory memory;
    World world({.allocator = memory.allocator()});
    AddBody(&world, Box().asset());
    Status prepared;
    std::thread other([&] {
      memory.WaitAt(n);
      prepared = world.PrepareSystem(Box().asset(), desc);
      memory.Finished();
    });
    const bool waits = memory.AwaitRequest();
    // All of these take the cache's mutex; the second factors a body of the system in preparation.
    const Status stepped = world.Step(0.004f);
    BodyId id;
    const Status added = world.AddBody(Box().asset(), {.material = desc.material}, &id);
    const Status stepped_again = world.Step(kDt), removed = world.RemoveBody(id);
    memory.LetGo();
    other.join();
    CHECK((stepped.ok() && added.ok() && stepped_again.ok() && removed.ok()));
    CHECK(prepared.ok());
    CHECK(!memory.timed_out());
    if (!waits) break;
    ++gates;
  }
  CHECK(gates > 8);
}

}  // namespace threads_test
