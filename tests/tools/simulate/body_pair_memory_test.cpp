// SPDX-License-Identifier: MIT
// The memory that a world takes for contacts between bodies, by the settings of a scene file and by
// what runtime/README.md says.
#include "plush/allocator.h"
#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/world.h"

#include "base/aligned_bytes.h"
#include "base/files.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/sample_folder.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>

namespace plush::tests::body_pair_memory_test {
namespace {

// Counts the bytes in use.
struct CountingHeap {
  size_t bytes = 0;

  Allocator allocator() { return {Allocate, Release, this}; }

 private:
  static void* Allocate(void* user, size_t bytes, size_t alignment) {
    static_cast<CountingHeap*>(user)->bytes += bytes;
    return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
  }
  static void Release(void* user, void* memory, size_t bytes, size_t alignment) {
    static_cast<CountingHeap*>(user)->bytes -= bytes;
    ::operator delete(memory, std::align_val_t(alignment));
  }
};

// What the world and its first body take beside a second such body, which shares what it can.
double BytesBesideBodies(const Asset& asset, WorldDesc desc) {
  CountingHeap heap;
  desc.allocator = heap.allocator();
  World world(desc);
  BodyId id;
  REQUIRE(world.AddBody(asset, {}, &id).ok());
  const size_t one = heap.bytes;
  REQUIRE(world.AddBody(asset, {}, &id).ok());
  return 2.0 * double(one) - double(heap.bytes);
}

}  // namespace

TEST_CASE("The funnel of 320 bears has at most 64 MB for contacts between bodies, 8 kB a pair") {
  const TemporaryFolder folder;
  tools::BakeSettings settings;  // as in samples/scenes/contact/bake.sh
  settings.cage.target_tets = 400;
  settings.material = {4.0e4, 0.4, 1000.0, 0.15};
  BakeSample(folder, "models/bear.glb", settings);
  BakeStaticSample(folder, "scenes/contact/funnel.obj");
  const std::string name = "funnel_320.json";
  std::filesystem::copy_file(std::string(plush::tests::kSamplesFolder) + "/scenes/contact/" + name,
                             folder / name);
  const auto scene = tools::LoadScene(folder / name);
  REQUIRE(scene.ok());
  const auto file = tools::ReadFile(folder / "bear.plush");
  REQUIRE(file.ok());
  const tools::AlignedBytes bytes(file.value());
  Asset bear;
  REQUIRE(bear.Open(bytes.bytes()).ok());
  CHECK(bear.collision().num_triangles() > 20000);
  WorldDesc desc = tools::WorldDescOf(scene.value());
  CHECK(desc.max_pairs == 2576);
  tools::JobPool pool(2);
  for (const bool has_jobs : {false, true}) {
    CAPTURE(has_jobs);
    desc.jobs = has_jobs ? pool.job_system() : JobSystem{};
    const auto beside = [&](uint32_t max_pairs) {
      WorldDesc of = desc;
      of.max_pairs = max_pairs;
      return BytesBesideBodies(bear, of);
    };
    const double all = beside(desc.max_pairs), none = beside(0), half = beside(desc.max_pairs / 2);
    const double megabytes = (all - none) / 1e6;
    const double per_pair = (all - half) / (desc.max_pairs - desc.max_pairs / 2);
    CAPTURE(megabytes, per_pair);
    CHECK(megabytes < 64.0);
    CHECK(megabytes == Approx(has_jobs ? 53.0 : 28.0).epsilon(0.03));
    CHECK(per_pair <= 8000.0);
    CHECK(per_pair > 7000.0);
  }
}

}  // namespace plush::tests::body_pair_memory_test
