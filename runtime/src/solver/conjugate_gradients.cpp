// SPDX-License-Identifier: MIT
// Vector operations of conjugate gradients. Sums are single within kChunk nodes and double beyond.
// Source: see conjugate_gradients.h.
#include "solver/conjugate_gradients.h"

#include "base/float4.h"

namespace plush {
namespace {

constexpr size_t kChunk = 64;

Float4 Load(const NodeVec& v) { return Load4(&v.x); }
void Store(Float4 value, NodeVec* v) { Store4(value, &v->x); }

// Sums term(i) for i below `count`.
template <class Term>
double SumInChunks(size_t count, const Term& term) {
  double sum = 0.0;
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t end = std::min(begin + kChunk, count);
    Float4 part = Broadcast(0.0f);
    for (size_t i = begin; i < end; ++i) part = part + term(i);
    sum += double(part[0]) + double(part[1]) + double(part[2]);
  }
  return sum;
}

}  // namespace

double DotProduct(std::span<const NodeVec> a, std::span<const NodeVec> b) {
  return SumInChunks(a.size(), [&](size_t i) { return Load(a[i]) * Load(b[i]); });
}

double MoveAlong(float a, std::span<const NodeVec> p, std::span<const NodeVec> q,
                 std::span<NodeVec> d, std::span<NodeVec> r) {
  const Float4 step = Broadcast(a);
  return SumInChunks(r.size(), [&](size_t i) {
    Store(Load(d[i]) + step * Load(p[i]), &d[i]);
    const Float4 left = Load(r[i]) - step * Load(q[i]);
    Store(left, &r[i]);
    return left * left;
  });
}

void TurnDirection(float b, std::span<const NodeVec> z, std::span<NodeVec> p) {
  if (b == 0.0f) {
    std::copy(z.begin(), z.end(), p.begin());
    return;
  }
  const Float4 share = Broadcast(b);
  for (size_t i = 0; i < p.size(); ++i) Store(Load(z[i]) + share * Load(p[i]), &p[i]);
}

}  // namespace plush
