// SPDX-License-Identifier: MIT
#include "base/array.h"

#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <utility>

using plush::Array;
using plush::test::CountingMemory;

TEST_CASE("An array holds copies of a value in aligned memory") {
  CountingMemory memory;
  {
    Array<double> array;
    CHECK(array.size() == 0);
    REQUIRE(array.Allocate(memory.allocator(), 5, 2.5));
    CHECK(array.size() == 5);
    CHECK(reinterpret_cast<uintptr_t>(array.data()) % 64 == 0);
    for (const double value : array) CHECK(value == 2.5);
    CHECK(memory.bytes_out() == 5 * sizeof(double));
    REQUIRE(array.Allocate(memory.allocator(), 3));  // replaces
    for (const double value : array.span()) CHECK(value == 0.0);
    CHECK(memory.blocks_out() == 1);
    REQUIRE(array.Allocate(memory.allocator(), 0));
    CHECK(memory.blocks_out() == 0);
    CHECK(array.begin() == array.end());
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("An array without memory is empty") {
  CountingMemory memory;
  Array<uint32_t> array;
  REQUIRE(array.Allocate(memory.allocator(), 4));
  memory.FailAt(1, true);
  CHECK_FALSE(array.Allocate(memory.allocator(), 8));
  CHECK(array.size() == 0);
  CHECK(memory.blocks_out() == 0);
}

TEST_CASE("An array whose bytes do not fit into size_t is refused without a request") {
  CountingMemory memory;
  Array<uint32_t> array;
  REQUIRE(array.Allocate(memory.allocator(), 4));
  memory.FailAt(1, false);  // for ever: a wrong request must not write beyond its block
  const uint64_t requests = memory.requests();
  constexpr size_t kMost = SIZE_MAX / sizeof(uint32_t);
  // The last three would wrap round to 0, 4 and 400 bytes.
  for (const size_t size : {SIZE_MAX, SIZE_MAX / 2, kMost + 1, kMost + 2, kMost + 101}) {
    CAPTURE(size);
    CHECK_FALSE(array.Allocate(memory.allocator(), size));
    CHECK(memory.requests() == requests);
    CHECK(array.size() == 0);
    CHECK(array.data() == nullptr);
  }
  CHECK(memory.blocks_out() == 0);
  // The largest count that fits is the allocator's to refuse.
  CHECK_FALSE(array.Allocate(memory.allocator(), kMost));
  CHECK(memory.requests() == requests + 1);
}

TEST_CASE("Moving an array moves its memory") {
  CountingMemory memory;
  {
    Array<uint32_t> a, b;
    REQUIRE(a.Allocate(memory.allocator(), 2, 7u));
    REQUIRE(b.Allocate(memory.allocator(), 3, 9u));
    b = std::move(a);
    CHECK(b.size() == 2);
    CHECK(b[1] == 7);
    Array<uint32_t> c(std::move(b));
    CHECK(c[0] == 7);
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("Objects come from the allocator and go back to it") {
  struct Counted {
    explicit Counted(int* alive) : alive_(alive) { ++*alive_; }
    ~Counted() { --*alive_; }
    int* alive_;
  };
  CountingMemory memory;
  int alive = 0;
  Counted* object = plush::NewObject<Counted>(memory.allocator(), &alive);
  REQUIRE(object != nullptr);
  CHECK(alive == 1);
  plush::DeleteObject(memory.allocator(), object);
  CHECK(alive == 0);
  plush::DeleteObject<Counted>(memory.allocator(), nullptr);
  memory.FailAt(1, true);
  CHECK(plush::NewObject<Counted>(memory.allocator(), &alive) == nullptr);
  CHECK(alive == 0);
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("The default allocator honours alignments") {
  const plush::Allocator allocator = plush::DefaultAllocator();
  for (const size_t alignment : {size_t{1}, size_t{8}, size_t{16}, size_t{32}, size_t{64}}) {
    void* memory = allocator.allocate(allocator.user, 100, alignment);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(memory) % alignment == 0);
    allocator.release(allocator.user, memory, 100, alignment);
  }
}
