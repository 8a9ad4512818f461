// SPDX-License-Identifier: MIT
#include "base/linked_list.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;

namespace linked_list_test {

struct Other;
struct Item : Links<Item>, Links<Item, Other> {
  explicit Item(int with_number) : number(with_number) {}
  int number;
};

template <class List>
std::vector<int> NumbersOf(const List& list) {
  std::vector<int> forwards, backwards;
  for (Item* item = list.first(); item != nullptr; item = List::Next(item)) {
    forwards.push_back(item->number);
  }
  for (Item* item = list.last(); item != nullptr; item = List::Previous(item)) {
    backwards.insert(backwards.begin(), item->number);
  }
  CHECK(forwards == backwards);
  return forwards;
}

TEST_CASE("Elements join and leave linked lists at any place without touching other lists") {
  Item a(1), b(2), c(3), d(4);
  LinkedList<Item> list;
  LinkedList<Item, Other> other;
  CHECK(list.empty());
  for (Item* item : {&a, &c}) list.PushBack(item);
  list.InsertAfter(&a, &b);
  list.InsertAfter(nullptr, &d);
  for (Item* item : {&b, &a}) other.PushBack(item);
  CHECK(NumbersOf(list) == std::vector<int>{4, 1, 2, 3});
  list.Remove(&b);
  CHECK(NumbersOf(list) == std::vector<int>{4, 1, 3});
  list.Remove(&d);
  list.Remove(&c);
  CHECK(NumbersOf(list) == std::vector<int>{1});
  list.Remove(&a);
  CHECK(list.empty());
  CHECK(list.last() == nullptr);
  CHECK(NumbersOf(other) == std::vector<int>{2, 1});
  list.PushBack(&b);
  CHECK(NumbersOf(list) == std::vector<int>{2});
}

}  // namespace linked_list_test
