// SPDX-License-Identifier: MIT
// Any bytes give an error or a body that simulates. Sanitized in plush_runtime_asan_tests, which
// reports reads outside the exactly sized buffers and undefined arithmetic. PLUSH_TEST_FULL=1
// changes each byte in five ways instead of one, and makes 1e5 random edits instead of 2000.
// Without either, every fourth byte changes.

#include "plush/asset.h"
#include "plush/format/cdg_records.h"

#include "runtime/asset/survival.h"
#include "runtime/collision/surface_fixtures.h"
#include "shapes/shape_asset.h"
#include "shapes/static_asset.h"
#include "shapes/tet_shapes.h"
#include "skip.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>

using plush::test::ExactBuffer;
using plush::test::Survival;
using plush::test::Survive;
using plush::tools::TriangleRecord;

namespace corruption_test {

std::vector<std::byte> SmallFile() {
  auto content = plush::test::ContentOf(plush::test::TetBox(1, 1, 1, 0.1));
  content.rest.clusters = {{0, 0, 0, 0, 0, 1, 1, 1}, 2};
  return plush::tools::WriteAsset(content).value();
}

std::vector<std::byte> BarFile() {
  auto content = plush::test::TwoMaterialContentOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
  plush::test::AddClusters(3, &content);
  content.tuning = {plush::TunedSolver::kImplicit, 2, 12};
  return plush::tools::WriteAsset(content).value();
}

// A closed surface with an odd number of triangles of kind `record`, cut open, and in several
// parts. The mesh's visual surface has two parts.
std::vector<std::byte> OddFile(plush::tools::TriangleRecord record) {
  return plush::test::SurfaceBytes(plush::test::SingleTet(0.1),
                                   {.parts = 3, .num_shells = 1, .record = record, .holes = 1});
}

// A static mesh with two levels of tree, open borders and two materials.
std::vector<std::byte> StaticFile() {
  const auto sphere = plush::tests::MakeSphere(0.5, 3, 5);
  auto box = plush::tests::MakeOpenBox({1.0, 0.0, 0.0}, {2.0, 1.0, 1.0});
  box.parts[0].material = "rock";
  return plush::test::StaticBytesOf(plush::tests::Joined(sphere, box));
}

// Words that break arithmetic: zero, huge counts, NaN, infinities, denormals, the largest float.
constexpr uint32_t kWords[] = {0u,          1u,          0x7fffffffu, 0x80000000u, 0xffffffffu,
                               0x7fc00000u, 0x7f800000u, 0xff800000u, 0x00000001u, 0x7f7fffffu,
                               0xff7fffffu, 0x00800000u, 0x3f800000u, 0xbf800000u};

// One random change; `bytes` keeps its size.
void Edit(std::mt19937* random, std::span<std::byte> bytes) {
  const auto below = [random](size_t n) { return (*random)() % n; };
  const size_t word = below(bytes.size() / 4) * 4;
  switch (below(5)) {
    case 0:
      bytes[below(bytes.size())] ^= std::byte{1} << below(8);
      break;
    case 1:
      bytes[below(bytes.size())] = static_cast<std::byte>(below(256));
      break;
    case 2:
      std::memcpy(&bytes[word], &kWords[below(std::size(kWords))], 4);
      break;
    case 3: {  // change a number slightly
      uint32_t value = 0;
      std::memcpy(&value, &bytes[word], 4);
      value += static_cast<uint32_t>(below(9)) - 4;
      std::memcpy(&bytes[word], &value, 4);
      break;
    }
    default: {  // move a run elsewhere
      const size_t size = 4 * (1 + below(16));
      if (size > bytes.size()) break;
      std::memmove(&bytes[below((bytes.size() - size) / 4 + 1) * 4],
                   &bytes[below((bytes.size() - size) / 4 + 1) * 4], size);
      break;
    }
  }
}

// Changes one byte after the other, by turns in one of five ways, or in all of them. A word's four
// bytes thus change in other ways than the next word's.
void ChangeEveryByte(const std::vector<std::byte>& content) {
  ExactBuffer file(content);
  const std::span<std::byte> bytes = file.bytes();
  size_t opened = 0, tried = 0;
  const size_t step = plush::test::IsSanitized() || plush::tests::FullTests() ? 1 : 4;
  for (size_t i = 0; i < bytes.size(); i += step) {
    std::byte& byte = bytes[i];
    const std::byte kept = byte;
    const std::byte ways[] = {kept ^ std::byte{0x01}, kept ^ std::byte{0x80},
                              kept ^ std::byte{0xff}, std::byte{0x00}, std::byte{0x7f}};
    for (size_t way = 0; way < std::size(ways); ++way) {
      if (way != i % std::size(ways) && !plush::tests::FullTests()) continue;
      byte = ways[way];
      opened += Survive(bytes) == Survival::kStepped ? 1 : 0;
      ++tried;
    }
    byte = kept;
  }
  WARN(opened << " of " << tried << " files with one changed byte opened");
  CHECK(opened > 0);
  CHECK(opened < tried);
}

TEST_CASE("The damaged files have odd counts, open borders and several parts") {
  for (const TriangleRecord record : {TriangleRecord::kSmallest, TriangleRecord::kWide}) {
    const ExactBuffer file(OddFile(record));
    plush::Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    const plush::CollisionView& c = asset.collision();
    CHECK(c.num_triangles() % 2 == 1);
    CHECK(c.triangles.empty() == (record == TriangleRecord::kWide));
    CHECK(asset.num_parts() > 1);
    size_t open = 0;
    for (uint32_t t = 0; t < c.num_triangles(); ++t) {
      for (int k = 0; k < 3; ++k) {
        open += (c.triangles.empty() ? NeighbourOf(c.wide_triangles[t], k)
                                     : NeighbourOf(c.triangles[t], k)) == plush::kNoTriangle
                    ? 1
                    : 0;
      }
    }
    CHECK(open > 0);
  }
}

TEST_CASE("Every prefix of a file is refused") {
  const auto bytes = GENERATE(false, true) ? BarFile() : StaticFile();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const ExactBuffer prefix{std::span(bytes).first(size)};
    INFO(size << " of " << bytes.size() << " bytes");
    REQUIRE(Survive(prefix.bytes()) == Survival::kRefused);
  }
  REQUIRE(Survive(ExactBuffer(bytes).bytes()) == Survival::kStepped);
}

TEST_CASE("Bytes after the end are refused") {
  for (const size_t extra : {size_t{1}, size_t{4}, size_t{31}, size_t{32}, size_t{4096}}) {
    auto bytes = SmallFile();
    bytes.resize(bytes.size() + extra);
    INFO(extra << " extra bytes");
    CHECK(Survive(ExactBuffer(bytes).bytes()) == Survival::kRefused);
  }
}

TEST_CASE("Garbage of any size is refused") {
  std::mt19937 random(20);
  for (size_t size : {0, 1, 4, 7, 8, 9, 12, 16, 64, 1000, 100000}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<std::byte> bytes(size);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      if (repeat % 2 == 1 && size >= 8) std::memcpy(&bytes[4], "PLSH", 4);
      REQUIRE(Survive(ExactBuffer(bytes).bytes()) == Survival::kRefused);
    }
  }
}

// Cases of their own, which may run at once: together they take minutes.
TEST_CASE("Every byte of a static mesh's file may change") { ChangeEveryByte(StaticFile()); }
TEST_CASE("Every byte of a small file may change", "[long]") { ChangeEveryByte(SmallFile()); }
TEST_CASE("Every byte of a file with an open surface may change", "[long]") {
  ChangeEveryByte(OddFile(TriangleRecord::kSmallest));
}

TEST_CASE("Random edits are refused or simulate", "[long]") {
  const uint32_t seed = 42;
  const int edits = plush::tests::FullTests() ? 100000 : 2000;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::byte> files[] = {SmallFile(), BarFile(),
                                          OddFile(TriangleRecord::kSmallest),
                                          OddFile(TriangleRecord::kWide), StaticFile()};
  size_t opened = 0;
  for (int i = 0; i < edits; ++i) {
    ExactBuffer file(files[random() % std::size(files)]);
    const size_t changes = 1 + random() % 4;
    for (size_t k = 0; k < changes; ++k) Edit(&random, file.bytes());
    opened += Survive(file.bytes()) == Survival::kStepped ? 1 : 0;
  }
  WARN(opened << " of " << edits << " files with random edits opened (seed " << seed << ")");
  CHECK(opened > 0);
  CHECK(opened < static_cast<size_t>(edits));
}

}  // namespace corruption_test
