// SPDX-License-Identifier: MIT
// The name of a body in its world.
#pragma once

#include <cstdint>

namespace plush {

/// A body of one World. Never given out twice.
struct BodyId {
  uint32_t value = UINT32_MAX;
  bool valid() const { return value != UINT32_MAX; }
};

}  // namespace plush
