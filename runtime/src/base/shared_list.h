// SPDX-License-Identifier: MIT
// Loops over singly linked lists that threads share.
#pragma once

#include "plush/jobs.h"

#include <algorithm>
#include <cstdint>

namespace plush {

/// Calls visit(element) for each element of a list, on the threads of `jobs`, or one after the
/// other if it is null. Calls must not depend on each other. `next` is the list's link.
template <class T, class Link, class Visit>
void ForShared(const JobSystem* jobs, T* first, Link next, const Visit& visit) {
  if (jobs == nullptr) {
    for (T* element = first; element != nullptr; element = element->*next) visit(element);
    return;
  }
  constexpr uint32_t kSharedParts = 64;
  struct Context {
    T* first;
    Link next;
    const Visit& visit;
    uint32_t count, parts;
  } context = {first, next, visit, 0, 0};
  for (const T* element = first; element != nullptr; element = element->*next) ++context.count;
  context.parts = std::min(context.count, kSharedParts);
  const JobFunction job = [](void* user, uint32_t part) {
    const Context& c = *static_cast<const Context*>(user);
    const auto place = [&c](uint32_t k) {
      return static_cast<uint32_t>(uint64_t{c.count} * k / c.parts);
    };
    T* element = c.first;
    for (uint32_t i = 0; i < place(part); ++i) element = element->*c.next;
    for (uint32_t i = place(part); i < place(part + 1); ++i, element = element->*c.next) {
      c.visit(element);
    }
  };
  jobs->run(jobs->user, context.parts, job, &context);
}

}  // namespace plush
