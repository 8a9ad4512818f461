// SPDX-License-Identifier: MIT
#include "body/implicit_checks.h"

#include "base/array.h"
#include "base/vector_math.h"

#include <cstddef>

namespace plush {
namespace {

Status Invalid(const char* where, const char* message) {
  return {StatusCode::kInvalidArgument, where, message, 0};
}

// The first node of a node's part so far.
uint32_t FirstOf(std::span<uint32_t> parents, uint32_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

// Whether the pinned nodes of a part do not lie on a line.
bool IsHeld(const SimulationView& simulation, std::span<const uint8_t> pinned,
            std::span<const uint32_t> parts, uint32_t part) {
  constexpr float kFlat = 1.0e-4f;  // sine of the angle between two edges
  const std::span<const Vec3> nodes = simulation.nodes;
  const auto is_pin = [&](size_t i) { return parts[i] == part && pinned[i] != 0; };
  size_t first = 0;
  while (first < nodes.size() && !is_pin(first)) ++first;
  if (first == nodes.size()) return false;
  Vec3 longest;
  for (size_t i = first; i < nodes.size(); ++i) {
    const Vec3 edge = nodes[i] - nodes[first];
    if (is_pin(i) && Dot(edge, edge) > Dot(longest, longest)) longest = edge;
  }
  for (size_t i = first; i < nodes.size(); ++i) {
    if (is_pin(i) &&
        Length(Cross(longest, nodes[i] - nodes[first])) > kFlat * Dot(longest, longest)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Status CheckImplicit(const BodySolver& solver) {
  const ImplicitSettings& s = solver.implicit;
  const auto is_share = [](float value) { return value >= 0.0f && value < 1.0f; };
  if (s.newton_iterations < 1 || s.newton_iterations > 64) {
    return Invalid("implicit.newton_iterations", "must lie in [1, 64]");
  }
  if (s.linear_iterations < 1 || s.linear_iterations > 10000) {
    return Invalid("implicit.linear_iterations", "must lie in [1, 10000]");
  }
  if (!is_share(s.newton_tolerance)) {
    return Invalid("implicit.newton_tolerance", "must lie in [0, 1)");
  }
  if (!is_share(s.linear_tolerance)) {
    return Invalid("implicit.linear_tolerance", "must lie in [0, 1)");
  }
  if (s.differential > StressDifferential::kExact) {
    return Invalid("implicit.differential", "is none of StressDifferential");
  }
  if (s.preconditioner > Preconditioner::kNone) {
    return Invalid("implicit.preconditioner", "is none of Preconditioner");
  }
  if (!(s.mass_damping >= 0.0f && s.mass_damping <= 1000.0f)) {
    return Invalid("implicit.mass_damping", "must lie in [0, 1000]");
  }
  if (s.linear_method > LinearMethod::kMinimumResiduals) {
    return Invalid("implicit.linear_method", "is none of LinearMethod");
  }
  if (s.model > MaterialModel::kNeoHookean) {
    return Invalid("implicit.model", "is none of MaterialModel");
  }
  if (s.rotation > RotationMethod::kAnalytic) {
    return Invalid("implicit.rotation", "is none of RotationMethod");
  }
  if (!(s.alpha > 0.0f && s.alpha < 1.0f)) {
    return Invalid("implicit.alpha", "must lie in (0, 1)");
  }
  if (!(s.beta >= 1.0f && s.beta <= 100.0f)) {
    return Invalid("implicit.beta", "must lie in [1, 100]");
  }
  return {};
}

Status CheckImplicitPins(const Allocator& allocator, const BodySolver& solver,
                         const SimulationView& simulation, std::span<const uint8_t> pinned) {
  if (!solver.implicit.quasistatic) return {};
  Array<uint32_t> parts;
  const auto count = static_cast<uint32_t>(simulation.nodes.size());
  if (!parts.Allocate(allocator, count)) return {StatusCode::kOutOfMemory, "solver"};
  const std::span<uint32_t> parents = parts.span();
  for (uint32_t i = 0; i < count; ++i) parents[i] = i;
  for (const Tet& tet : simulation.tets) {
    const uint32_t first = FirstOf(parents, tet.a);
    for (const uint32_t node : {tet.b, tet.c, tet.d}) parents[FirstOf(parents, node)] = first;
  }
  for (uint32_t i = 0; i < count; ++i) parents[i] = FirstOf(parents, i);
  for (uint32_t i = 0; i < count; ++i) {
    if (parents[i] == i && !IsHeld(simulation, pinned, parents, i)) {
      return Invalid("implicit.quasistatic",
                     "needs pins that stop every rigid motion: three of each connected part that "
                     "are not on a line");
    }
  }
  return {};
}

}  // namespace plush
