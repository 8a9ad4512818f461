// SPDX-License-Identifier: MIT
#include "base/slot_list.h"

#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace slot_list_test {

template <class List>
std::vector<uint32_t> SlotsOf(const List& list) {
  std::vector<uint32_t> slots;
  for (const uint32_t slot : list) slots.push_back(slot);
  return slots;
}

template <class List>
uint32_t AddTo(List* list) {
  if (!list->Reserve(DefaultAllocator())) FAIL("no slot");
  return list->Add();
}

TEST_CASE("The bits of an id come back") {
  const uint64_t id = PackId(0xabcdef, 0x123456, 0x789a);
  CHECK(id == 0x789a123456abcdefull);
  CHECK(SlotOf(id) == 0xabcdefu);
  CHECK(GenerationOf(id) == 0x123456u);
  CHECK(TagOf(id) == 0x789au);
}

TEST_CASE("Slots come back in the order in which they were freed") {
  SlotList<> list;
  for (uint32_t i = 0; i < 5; ++i) CHECK(AddTo(&list) == i);
  for (const uint32_t slot : {3u, 0u, 4u}) list.Remove(slot);
  CHECK(SlotsOf(list) == std::vector<uint32_t>{1, 2});
  CHECK(list.next_slot() == 3u);
  CHECK(AddTo(&list) == 3u);
  list.Remove(1);
  for (const uint32_t slot : {0u, 4u, 1u, 5u}) {
    CHECK(list.next_slot() == slot);
    CHECK(AddTo(&list) == slot);
  }
  CHECK(list.num_live() == 6);
  CHECK(list.num_slots() == 6);
}

TEST_CASE("A slot and a generation tell whether they are in use, were, or never were") {
  using State = SlotList<>::State;
  SlotList<> list;
  CHECK(list.Find(0, 1) == State::kNeverGiven);
  AddTo(&list);
  CHECK(list.generation(0) == 1);
  CHECK(list.Find(0, 0) == State::kNeverGiven);
  CHECK(list.Find(0, 1) == State::kLive);
  CHECK(list.Find(0, 2) == State::kNeverGiven);
  CHECK(list.Find(1, 1) == State::kNeverGiven);
  list.Remove(0);
  CHECK(list.Find(0, 1) == State::kFreed);
  AddTo(&list);
  CHECK(list.Find(0, 1) == State::kFreed);
  CHECK(list.Find(0, 2) == State::kLive);
  CHECK(list.Find(0, 3) == State::kNeverGiven);
}

TEST_CASE("A slot retires once its generations are used up, and a list once all its slots have") {
  using Small = SlotList<3, 2>;  // 8 slots of 3 generations
  Small list;
  std::set<std::pair<uint32_t, uint32_t>> given;
  for (int i = 0; i < 8 * 3; ++i) {
    const uint32_t slot = AddTo(&list);
    REQUIRE(given.insert({slot, list.generation(slot)}).second);
    list.Remove(slot);
  }
  CHECK_FALSE(list.Reserve(DefaultAllocator()));
  CHECK(list.num_live() == 0);
  CHECK(SlotsOf(list).empty());
  for (const auto& [slot, generation] : given) {
    CHECK(list.Find(slot, generation) == Small::State::kFreed);
  }
}

TEST_CASE("A list without free slots refuses more, and goes on once one is free") {
  SlotList<7, 4> list;
  for (uint32_t i = 0; i < 128; ++i) CHECK(AddTo(&list) == i);
  CHECK_FALSE(list.Reserve(DefaultAllocator()));
  CHECK(SlotsOf(list).size() == 128);
  list.Remove(77);
  CHECK(AddTo(&list) == 77);
}

TEST_CASE("Slots are visited in ascending order, and may be freed on the way") {
  const uint32_t seed = GENERATE(take(3, random(1u, 1u << 30)));
  CAPTURE(seed);
  std::mt19937 random(seed);
  SlotList<> list;
  std::set<uint32_t> live;
  std::deque<uint32_t> free_slots;
  std::map<uint32_t, uint32_t> generations;
  uint32_t given = 0;
  for (int round = 0; round < 60; ++round) {
    const bool grows = round % 3 != 2;
    const uint32_t changes = random() % 700;
    for (uint32_t i = 0; i < changes; ++i) {
      if (grows || live.empty()) {
        const uint32_t expected = free_slots.empty() ? given++ : free_slots.front();
        if (!free_slots.empty()) free_slots.pop_front();
        REQUIRE(AddTo(&list) == expected);
        REQUIRE(list.generation(expected) == ++generations[expected]);
        live.insert(expected);
      } else {
        auto at = live.lower_bound(static_cast<uint32_t>(random() % given));
        if (at == live.end()) at = live.begin();
        list.Remove(*at);
        free_slots.push_back(*at);
        live.erase(at);
      }
    }
    REQUIRE(SlotsOf(list) == std::vector<uint32_t>(live.begin(), live.end()));
    REQUIRE(list.num_live() == live.size());
    for (int i = 0; i < 50; ++i) {
      const uint32_t from = static_cast<uint32_t>(random() % (given + 70));
      const auto next = live.lower_bound(from);
      REQUIRE(list.NextLive(from) == (next == live.end() ? SlotList<>::kNone : *next));
    }
  }
  CHECK(given > 4096);  // reaches the third level
  for (const uint32_t slot : list) list.Remove(slot);
  CHECK(list.num_live() == 0);
  CHECK(SlotsOf(list).empty());
}

TEST_CASE("A few slots in use among a million are found") {
  SlotList<> list;
  for (int i = 0; i < 1000000; ++i) AddTo(&list);
  const std::set<uint32_t> kept = {0, 63, 64, 4095, 4096, 262143, 262144, 999999};
  for (const uint32_t slot : list) {
    if (kept.count(slot) == 0) list.Remove(slot);
  }
  CHECK(SlotsOf(list) == std::vector<uint32_t>(kept.begin(), kept.end()));
}

TEST_CASE("If memory runs out, a slot list stays as it was") {
  for (uint64_t n = 1; n < 40; ++n) {
    CountingMemory memory;
    {
      SlotList<> list;
      memory.FailAt(n, true);
      uint32_t added = 0;
      for (int i = 0; i < 300; ++i) {
        if (!list.Reserve(memory.allocator())) continue;
        REQUIRE(list.Add() == added++);
      }
      std::vector<uint32_t> all(added);
      for (uint32_t i = 0; i < added; ++i) all[i] = i;
      REQUIRE(added >= 299);
      REQUIRE(SlotsOf(list) == all);
    }
    REQUIRE(memory.blocks_out() == 0);
    REQUIRE(memory.consistent());
  }
}

using Slots = SlotList<10, 3>;

bool IsValid(const std::vector<Slots::Saved>& slots, uint32_t first, uint32_t last,
             uint32_t num_live) {
  return Slots::IsValid([&](uint32_t slot) { return slots[slot]; },
                        static_cast<uint32_t>(slots.size()), first, last, num_live);
}

TEST_CASE("Saved slots give the same slots in the same order") {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const Allocator allocator = DefaultAllocator();
    Slots slots, loaded;
    std::vector<uint32_t> live;
    for (uint32_t i = 0; i < 5 + random() % 300; ++i) {
      if (random() % 3 == 0 && !live.empty()) {
        const size_t k = random() % live.size();
        slots.Remove(live[k]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
      } else if (slots.Reserve(allocator)) {
        live.push_back(slots.Add());
      }
    }
    std::vector<Slots::Saved> saved;
    for (uint32_t i = 0; i < slots.num_slots(); ++i) saved.push_back(slots.Save(i));
    REQUIRE(IsValid(saved, slots.first_free(), slots.last_free(), slots.num_live()));
    REQUIRE(loaded.ReserveAll(allocator, slots.num_slots()));
    loaded.Load([&](uint32_t slot) { return saved[slot]; }, slots.num_slots(), slots.first_free(),
                slots.last_free());
    std::vector<uint32_t> order[2];
    for (const uint32_t slot : slots) order[0].push_back(slot);
    for (const uint32_t slot : loaded) order[1].push_back(slot);
    REQUIRE(order[0] == order[1]);
    for (int k = 0; k < 100; ++k) {
      REQUIRE(slots.Reserve(allocator) == loaded.Reserve(allocator));
      const uint32_t slot = slots.Add();
      REQUIRE(loaded.Add() == slot);
      REQUIRE(loaded.generation(slot) == slots.generation(slot));
      if (k % 3 != 0) continue;
      slots.Remove(slot);
      loaded.Remove(slot);
    }
  }
}

TEST_CASE("Slots that no list can have are refused") {
  constexpr uint32_t kNone = Slots::kNone, kLive = Slots::kLive, kRetired = Slots::kRetired;
  CHECK(IsValid({{1, kLive}, {2, 2}, {1, kNone}, {7, kRetired}}, 1, 2, 1));
  CHECK(IsValid({}, kNone, kNone, 0));
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, kNone}}, 1, 2, 2));      // another number in use
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, 1}}, 1, 2, 1));          // a cycle
  CHECK_FALSE(IsValid({{1, kLive}, {2, 1}, {1, kNone}}, 1, 2, 1));      // a cycle of one
  CHECK_FALSE(IsValid({{1, kLive}, {2, kNone}, {1, kNone}}, 1, 1, 1));  // one in no queue
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, kNone}}, 1, 1, 1));      // another end
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, kNone}}, kNone, kNone, 1));
  CHECK_FALSE(IsValid({{1, kLive}, {2, 0}, {1, kNone}}, 1, 2, 1));  // a slot in use in the queue
  CHECK_FALSE(IsValid({{1, kLive}, {2, 3}, {1, kNone}}, 1, 2, 1));  // beyond the end
  CHECK_FALSE(IsValid({{0, kLive}}, kNone, kNone, 1));              // never given out
  CHECK_FALSE(IsValid({{8, kLive}}, kNone, kNone, 1));              // too many uses
  CHECK_FALSE(IsValid({{6, kRetired}}, kNone, kNone, 0));           // retired too early
  CHECK_FALSE(IsValid({{7, kNone}}, 0, 0, 0));                      // free although used up
}

}  // namespace slot_list_test
