// SPDX-License-Identifier: MIT
#include "collision/collision_state.h"

#include "base/vector_math.h"
#include "collision/barycentric_bounds.h"
#include "collision/tet_frame.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Extents of what lies in a tet. The eighth direction of `projections` holds |x| + |y| + |z|.
void BoundTet(const CdgTet& tet, const float* projections, Dop14* volume) {
  Float4 first[4], second[4];
  float norm = 0.0f;
  for (int i = 0; i < 4; ++i) {
    const float* p = projections + size_t{8} * tet.nodes[i];
    first[i] = Load4(p);
    second[i] = Load4(p + 4);
    norm = p[7] > norm ? p[7] : norm;
  }
  float low[4], high[4];
  Store4(Load4(&tet.low.x), low);
  Store4(Load4(&tet.high.x), high);
  const Float4 widening = Broadcast(kBoundsWidening * norm + std::numeric_limits<float>::min());
  const LaneBounds a = BoundBox(first, low, high), b = BoundBox(second, low, high);
  StoreLanes({a.low - widening, b.low - widening}, volume->low);
  StoreLanes({a.high + widening, b.high + widening}, volume->high);
  volume->low[7] = volume->low[0];
  volume->high[7] = volume->high[0];
}

void Unite(const Dop14& a, const Dop14& b, Dop14* both) {
  for (int half = 0; half < 8; half += 4) {
    Store4(Min(Load4(a.low + half), Load4(b.low + half)), both->low + half);
    Store4(Max(Load4(a.high + half), Load4(b.high + half)), both->high + half);
  }
}

// Projects the nodes; returns the largest |x| + |y| + |z|.
float ProjectNodes(NodeVectors x, float* projections) {
  float reach = 0.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    DopLanes lanes = Project(x[i]);
    const float norm = SumNorm(x[i]);
    lanes.second[3] = norm;
    StoreLanes(lanes, projections + 8 * i);
    reach = std::max(reach, norm);
  }
  return reach;
}

// A sphere around the box of the whole surface, with room for rounding.
void PlaceSphere(CollisionState* state) {
  const Dop14& all = state->volumes[0];
  const Vec3 low = {all.low[0], all.low[1], all.low[2]};
  const Vec3 high = {all.high[0], all.high[1], all.high[2]};
  // In double: squares of what float can hold.
  const double x = double(high.x) - double(low.x), y = double(high.y) - double(low.y);
  const double z = double(high.z) - double(low.z);
  constexpr double kRoom = 16.0 * std::numeric_limits<float>::epsilon();
  state->middle = low * 0.5f + high * 0.5f;
  state->radius = static_cast<float>(0.50001 * std::sqrt(x * x + y * y + z * z) +
                                     kRoom * double(state->reach)) +
                  std::numeric_limits<float>::min();
}

}  // namespace

bool CollisionState::Reserve(const Allocator& allocator, const CollisionView& surface,
                             size_t num_nodes) {
  const size_t num_tets = surface.tets.size();
  if (num_tets == 0) return true;
  return volumes.Allocate(allocator, 2 * num_tets - 1) && frames.Allocate(allocator, num_tets) &&
         projections.Allocate(allocator, 8 * num_nodes);
}

void Refit(const CollisionView& surface, NodeVectors x, CollisionState* state) {
  if (surface.tets.empty()) return;
  state->reach = ProjectNodes(x, state->projections.data());
  state->bounded = state->reach <= CollisionState::kMostReach;
  if (!state->bounded) return;
  // Children come after their parent in the tree, leaves in the order of the tets.
  size_t tet = surface.tets.size();
  for (size_t node = surface.tree.size(); node-- > 0;) {
    const uint32_t left = surface.tree[node];
    if (left == 0) {
      BoundTet(surface.tets[--tet], state->projections.data(), &state->volumes[node]);
    } else {
      Unite(state->volumes[node + 1], state->volumes[node + size_t{2} * left],
            &state->volumes[node]);
    }
  }
  PlaceSphere(state);
  for (size_t t = 0; t < surface.tets.size(); ++t) {
    const uint32_t(&n)[4] = surface.tets[t].nodes;
    state->frames[t] = MakeTetFrame({x[n[0]], x[n[1]], x[n[2]], x[n[3]]}, state->reach);
  }
}

}  // namespace plush
