// SPDX-License-Identifier: MIT
// Multiplies by the splitting step's matrix A without forming it [Kug], and implements FreeTurns.
// FreeTurns are our addition; the header derives them.
#include "solver/system_matrix.h"

#include "base/vector_math.h"

#include <cstddef>

namespace plush {

void MultiplySystem(const SystemView& system, std::span<const NodeVec> x, std::span<NodeVec> out) {
  const size_t num_nodes = system.masses.size();
  for (size_t i = 0; i < num_nodes; ++i) out[i] = x[i] * (system.masses[i] * system.mass_scale);
  out[num_nodes] = Vec3{};
  const ElementView& elements = system.elements;
  const float time2 = system.dt * (system.dt + elements.damping);
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 dm_inv = elements.DmInv(t);
    const Mat3 gradient = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv);
    ScatterNodeGradients(tet, NodeGradients(gradient, dm_inv), elements.Stiffness(t) * time2, out);
  }
  for (size_t i = 0; i < num_nodes; ++i) {
    if (system.pinned[i]) out[i] = Vec3{};
  }
}

namespace {

// C grows by this share before elimination: far more than the rounding error of C - B^T A^-1 B, and
// little enough that components turn freely if their stiffness outweighs their mass a hundredfold.
constexpr float kLeastResistance = 1.0e-3f;
// A turn is freed if the trace of C exceeds that of C - B^T A^-1 B this many times. Otherwise outer
// iterations find the turn by themselves.
constexpr float kWorthFreeing = 3.0f;

uint32_t Root(std::span<uint32_t> parents, uint32_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

// Numbers the components by their lowest nodes, and returns their number.
uint32_t FindComponents(std::span<const Tet> tets, std::span<uint32_t> component) {
  for (uint32_t i = 0; i < component.size(); ++i) component[i] = i;
  for (const Tet& tet : tets) {
    for (const uint32_t other : {tet.b, tet.c, tet.d}) {
      const uint32_t a = Root(component, tet.a), b = Root(component, other);
      component[a < b ? b : a] = a < b ? a : b;
    }
  }
  for (uint32_t i = 0; i < component.size(); ++i) component[i] = Root(component, i);
  uint32_t count = 0;
  for (uint32_t i = 0; i < component.size(); ++i) {
    component[i] = component[i] == i ? count++ : component[component[i]];
  }
  return count;
}

constexpr Mat3 kZero = {{}, {}, {}};

float Trace(const Mat3& A) { return A.c0.x + A.c1.y + A.c2.z; }

// tr(A) I - A. For A = sum a a^T this is the matrix of sum |omega x a|^2.
Mat3 TraceMinus(const Mat3& A) {
  const float trace = Trace(A);
  return Mat3{{trace, 0.0f, 0.0f}, {0.0f, trace, 0.0f}, {0.0f, 0.0f, trace}} - A;
}

Mat3 StretchAt(std::span<const float> stretches, uint32_t slot) {
  const float* s = &stretches[9 * kBlockTets * (slot / kBlockTets) + slot % kBlockTets];
  const auto column = [&](size_t k) {
    return Vec3{s[kBlockTets * k], s[kBlockTets * (k + 1)], s[kBlockTets * (k + 2)]};
  };
  return {column(0), column(3), column(6)};
}

// sum (e_k x s) . (e_l x w) = tr(P) I - P with P the symmetric part of s w^T.
Mat3 CrossProducts(const Vec3& s, const Vec3& w) {
  const Mat3 P = {s * w.x, s * w.y, s * w.z};
  return TraceMinus((P + Transpose(P)) * 0.5f);
}

// The inverse of a symmetric positive definite matrix; zero for any other.
Mat3 InverseOrZero(const Mat3& A) {
  const float det = Determinant(A);
  const bool positive = A.c0.x > 0.0f && A.c0.x * A.c1.y - A.c0.y * A.c1.x > 0.0f && det > 0.0f;
  return positive ? Cofactor(A) * (1.0f / det) : kZero;
}

}  // namespace

bool FreeTurns::Allocate(const Allocator& allocator, std::span<const Tet> tets,
                         uint32_t num_nodes) {
  if (!component_.Allocate(allocator, num_nodes) ||
      !s_.Allocate(allocator, size_t{num_nodes} + 1) ||
      !w_.Allocate(allocator, size_t{num_nodes} + 1)) {
    return false;
  }
  num_components_ = FindComponents(tets, component_.span());
  return C_.Allocate(allocator, num_components_) && N_.Allocate(allocator, num_components_) &&
         turn_.Allocate(allocator, num_components_);
}

// The model of a tet is k/2 (dt |F - R|^2 + damping |F - R S|^2), k = 2 mu V dt. A turn of R adds a
// force on the nodes, s, and the squares of [omega] R and [omega] R S to C.
void FreeTurns::SumTargets(const SystemView& system, const RotationView& rotations,
                           std::span<const float> stretches) {
  const ElementView& elements = system.elements;
  for (NodeVec& s : s_) s = Vec3{};
  for (Mat3& C : C_) C = kZero;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 R = RotationMatrix(rotations.Get(elements.slots[t]));
    const float k = elements.Stiffness(t) * system.dt;
    Mat3 target = R * system.dt;
    Mat3 square = Mat3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} * system.dt;
    if (!stretches.empty()) {
      const Mat3 RS = R * StretchAt(stretches, elements.slots[t]);
      target = target + RS * elements.damping;
      square = square + RS * Transpose(RS) * elements.damping;
    }
    ScatterNodeGradients(tet, NodeGradients(target, elements.DmInv(t)), k, s_.span());
    Mat3& C = C_[component_[tet.a]];
    C = C + TraceMinus(square) * k;
  }
  for (size_t i = 0; i < component_.size(); ++i) {
    if (system.pinned[i]) s_[i] = Vec3{};
  }
}

void FreeTurns::Prepare(const SystemView& system, const PanelFactor& factor,
                        std::span<float> workspace, const RotationView& rotations,
                        std::span<const float> stretches) {
  SumTargets(system, rotations, stretches);
  for (size_t i = 0; i < s_.size(); ++i) w_[i] = s_[i];
  SolvePanels(factor, workspace, w_.span());
  for (uint32_t c = 0; c < num_components_; ++c) {
    C_[c] = C_[c] * (1.0f + kLeastResistance);
    N_[c] = C_[c];
  }
  for (size_t i = 0; i < component_.size(); ++i) {
    Mat3& N = N_[component_[i]];
    N = N - CrossProducts(s_[i], w_[i]);
  }
  for (uint32_t c = 0; c < num_components_; ++c) {
    const bool worth = Trace(C_[c]) > kWorthFreeing * Trace(N_[c]);
    N_[c] = worth ? InverseOrZero(N_[c]) : kZero;
    C_[c] = SquaredNorm(N_[c]) > 0.0f ? InverseOrZero(C_[c]) : kZero;
  }
}

void FreeTurns::Substitute(const PanelFactor& factor, std::span<float> workspace,
                           std::span<NodeVec> x) {
  for (Vec3& turn : turn_) turn = {};
  for (size_t i = 0; i < component_.size(); ++i) turn_[component_[i]] += Cross(w_[i], x[i]);
  for (uint32_t c = 0; c < num_components_; ++c) turn_[c] = N_[c] * turn_[c];
  SolvePanels(factor, workspace, x);
  for (size_t i = 0; i < component_.size(); ++i) x[i] += Cross(turn_[component_[i]], w_[i]);
}

void FreeTurns::Multiply(const SystemView& system, std::span<const NodeVec> x,
                         std::span<NodeVec> out) {
  for (Vec3& turn : turn_) turn = {};
  for (size_t i = 0; i < component_.size(); ++i) turn_[component_[i]] += Cross(s_[i], x[i]);
  for (uint32_t c = 0; c < num_components_; ++c) turn_[c] = C_[c] * turn_[c];
  MultiplySystem(system, x, out);
  for (size_t i = 0; i < component_.size(); ++i) out[i] -= Cross(turn_[component_[i]], s_[i]);
}

float FreeTurns::Coupling(uint32_t i, const Vec3& p, uint32_t j, const Vec3& q) const {
  if (component_[i] != component_[j]) return 0.0f;
  return Dot(Cross(w_[i], p), N_[component_[i]] * Cross(w_[j], q));
}

}  // namespace plush
