// SPDX-License-Identifier: MIT
// Source: hinges.h.
#include "solver/hinges.h"

#include "base/vector_math.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace plush {
namespace {

// The hinge through points place(i), i < `count`. The second point is the farthest from the first.
// kHeld if one is off their line.
template <class Place>
Hinge HingeThrough(size_t count, const Place& place) {
  constexpr double kOff = 1.0e-4;  // [lengths of the line]: pins far from the origin are rounded
  struct Arm {
    double at[3];
    double Square() const { return at[0] * at[0] + at[1] * at[1] + at[2] * at[2]; }
  };
  Hinge hinge = {};
  if (count == 0) return hinge;
  const Vec3 first = place(0);
  hinge.at[0] = first.x, hinge.at[1] = first.y, hinge.at[2] = first.z;
  hinge.kind = Hinge::Kind::kPoint;
  if (count == 1) return hinge;
  const auto arm = [&](size_t i) {
    const Vec3 to = place(i);
    return Arm{
        {double(to.x) - hinge.at[0], double(to.y) - hinge.at[1], double(to.z) - hinge.at[2]}};
  };
  const Arm along = arm(1);
  const double length2 = along.Square();
  if (!(length2 > 0.0)) return hinge;
  hinge.kind = Hinge::Kind::kHeld;
  for (size_t k = 2; k < count; ++k) {
    const Arm to = arm(k);
    double across2 = 0.0;  // times length2
    for (size_t i = 0; i < 3; ++i) {
      const size_t j = (i + 1) % 3, l = (i + 2) % 3;
      const double product = along.at[j] * to.at[l] - along.at[l] * to.at[j];
      across2 += product * product;
    }
    if (!(across2 <= kOff * kOff * length2 * length2)) return hinge;
  }
  hinge.kind = Hinge::Kind::kLine;
  for (size_t i = 0; i < 3; ++i) hinge.axis[i] = along.at[i] / std::sqrt(length2);
  return hinge;
}

}  // namespace

bool ComponentPins::Make(const Allocator& allocator, const SystemView& system,
                         std::span<const Vec3> rest, std::span<const uint32_t> of_nodes,
                         std::span<const uint16_t> least) {
  rest_ = rest;
  of_nodes_ = of_nodes;
  least_ = least;
  const auto count = static_cast<size_t>(std::ranges::count(of_nodes, CoarsePair::kPins));
  if (count > 0) tets_ = system.elements.tets;
  return found_.Allocate(allocator, count) && marks_.Allocate(allocator, rest.size(), uint8_t{0});
}

std::span<const uint32_t> ComponentPins::Find(uint16_t k) {
  for (const Tet& tet : tets_) {
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    const auto is_own = [&](uint32_t node) {
      return of_nodes_[node] != CoarsePair::kPins && least_[of_nodes_[node]] == k;
    };
    if (std::ranges::none_of(nodes, is_own)) continue;
    for (const uint32_t node : nodes) marks_[node] = of_nodes_[node] == CoarsePair::kPins ? 1 : 0;
  }
  uint32_t* end = found_.begin();
  for (uint32_t node = 0; node < marks_.size(); ++node) {
    if (marks_[node] != 0) *end++ = node;
    marks_[node] = 0;
  }
  const std::span<uint32_t> pins = {found_.begin(), end};
  if (pins.size() < 2) return pins;
  uint32_t* farthest = &pins[1];
  float most = 0.0f;
  for (uint32_t& pin : pins.subspan(1)) {
    const Vec3 arm = rest_[pin] - rest_[pins[0]];
    if (Dot(arm, arm) > most) most = Dot(arm, arm), farthest = &pin;
  }
  std::swap(pins[1], *farthest);
  return pins;
}

bool ComponentPins::AreHinges(std::span<const uint32_t> pins) const {
  const auto place = [&](size_t i) { return rest_[pins[i]]; };
  return HingeThrough(pins.size(), place).kind != Hinge::Kind::kHeld;
}

void CoarseLevel::FindHinges(const NodePlaces& y, std::span<Hinge> hinges) const {
  for (size_t c = 0; c < num_components(); ++c) {
    const std::span<const uint32_t> pins = HingePinsOf(c);
    hinges[c] = HingeThrough(pins.size(), [&](size_t i) { return y.At(pins[i]); });
  }
}

}  // namespace plush
