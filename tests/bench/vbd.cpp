// SPDX-License-Identifier: MIT
// Gauss-Seidel over nodes by colours, each with a Newton step of its own 3 x 3 block.
// Source: Anka Chen, Ziheng Liu, Yin Yang, Cem Yuksel. Vertex Block Descent. 2024; Gene Golub,
// Charles Van Loan. Matrix Computations. 1996, chapter 10.1 (symmetric passes, Chebyshev)
#include "bench/vbd.h"

#include "base/simd_target.h"

#include <algorithm>
#include <array>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/vbd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using bench::DescentCorners;
using bench::DescentNodes;
using bench::kDescentLanes;

// A symmetric 3 x 3 matrix per lane.
template <class V>
struct Symmetric {
  V xx, yy, zz, xy, xz, yz;
};

// H + weight v v^T.
template <class V>
HWY_INLINE void AddSquare(const Xyz<V>& v, V weight, Symmetric<V>* H) {
  const Xyz<V> w = v * weight;
  H->xx = Fma(w.x, v.x, H->xx);
  H->yy = Fma(w.y, v.y, H->yy);
  H->zz = Fma(w.z, v.z, H->zz);
  H->xy = Fma(w.x, v.y, H->xy);
  H->xz = Fma(w.x, v.z, H->xz);
  H->yz = Fma(w.y, v.z, H->yz);
}

// H^-1 f by the adjugate; H is positive definite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Xyz<V> SolveBlock(D d, const Symmetric<V>& H, const Xyz<V>& f) {
  const V xx = FmaMinus(H.yy, H.zz, hn::Mul(H.yz, H.yz));
  const V xy = FmaMinus(H.xz, H.yz, hn::Mul(H.xy, H.zz));
  const V xz = FmaMinus(H.xy, H.yz, hn::Mul(H.xz, H.yy));
  const V yy = FmaMinus(H.xx, H.zz, hn::Mul(H.xz, H.xz));
  const V yz = FmaMinus(H.xy, H.xz, hn::Mul(H.xx, H.yz));
  const V zz = FmaMinus(H.xx, H.yy, hn::Mul(H.xy, H.xy));
  const V det = Fma(H.xx, xx, Fma(H.xy, xy, hn::Mul(H.xz, xz)));
  const V inverse = hn::Div(hn::Set(d, 1.0f), det);
  const Xyz<V> out = {Fma(xx, f.x, Fma(xy, f.y, hn::Mul(xz, f.z))),
                      Fma(xy, f.x, Fma(yy, f.y, hn::Mul(yz, f.z))),
                      Fma(xz, f.x, Fma(yz, f.y, hn::Mul(zz, f.z)))};
  return out * inverse;
}

// Adds the force and the stiffness of a tet at each node x. One Newton step from the last pass
// finds the tets' rotations: it leaves at most 0.07 theta^3 of a turn by theta since then.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void AddCorner(D d, const NodeVec* y, size_t lane, const Xyz<V>& x,
                          DescentCorners* corner, Xyz<V>* force, Symmetric<V>* H) {
  const auto edge = [&](size_t k) HWY_ATTR { return hn::LoadU(d, corner->edge[k] + lane); };
  const Xyz<V> p = GatherNodes(d, y, corner->nodes[0] + lane, static_cast<V*>(nullptr));
  const Xyz<V> q = GatherNodes(d, y, corner->nodes[1] + lane, static_cast<V*>(nullptr)) - p;
  const Xyz<V> r = GatherNodes(d, y, corner->nodes[2] + lane, static_cast<V*>(nullptr)) - p;
  const V height = edge(3);  // 1 / the node's height above the opposite face
  Mat<V> F;
  F.c0 = q * edge(0);
  F.c1 = Fma(r, edge(1), q * edge(2));
  F.c2 = Fma(x - p, height, Fma(r, edge(4), q * edge(5)));

  Rotation<V> rotation = LoadRotation(d, corner->rotation[0] + lane);
  const auto all = hn::Eq(height, height);
  auto plain = all;
  NewtonStep(d, F, all, &rotation, &plain);
  StoreRotation(d, rotation, corner->rotation[0] + lane);
  const Xyz<V> axis = RotationMatrix(d, rotation).c2;

  // The derivatives of F's last column are `height` times the identity.
  const Xyz<V> normal = Cross(F.c0, F.c1);  // of det F
  const V k = hn::Mul(hn::LoadU(d, corner->stiffness + lane), height);
  const V bulk = hn::Mul(hn::LoadU(d, corner->bulk + lane), height);
  const V pressure = FmaNegated(bulk, Dot(F.c2, normal), bulk);
  *force = Fma(axis - F.c2, k, Fma(normal, pressure, *force));
  // Of the turns only those about the axis are free, so that half the stiffness is left across it.
  const V half = hn::Mul(hn::Mul(hn::Set(d, 0.5f), k), height);
  AddSquare(axis, half, H);
  AddSquare(normal, hn::Mul(bulk, height), H);
  H->xx = hn::Add(H->xx, half);
  H->yy = hn::Add(H->yy, half);
  H->zz = hn::Add(H->zz, half);
}

// One pass over all nodes, in this order or backwards.
void Descend(const DescentNodes* order, size_t count, bool backwards, DescentCorners* corners,
             const NodeVec* inertial, NodeVec* y) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  for (size_t b = 0; b < count; ++b) {
    const DescentNodes& at = order[backwards ? count - 1 - b : b];
    for (size_t lane = 0; lane < kDescentLanes; lane += kLanes<Lanes16>) {
      const uint32_t* nodes = at.nodes + lane;
      V inertia;
      const Xyz<V> start = GatherNodes(d, inertial, nodes, &inertia);
      const Xyz<V> x = GatherNodes(d, y, nodes, static_cast<V*>(nullptr));
      Xyz<V> force = (start - x) * inertia;
      const V zero = hn::Zero(d);
      Symmetric<V> H = {inertia, inertia, inertia, zero, zero, zero};
      for (uint32_t c = at.begin; c < at.end; ++c) {
        AddCorner(d, y, lane, x, &corners[c], &force, &H);
      }
      StoreNodes(d, x + SolveBlock(d, H, force), zero, nodes, y);
    }
  }
}

// A step of the Chebyshev semi-iteration: y becomes
//   omega (last + length (y - last) - before) + before,
// then `before` becomes `last`, and `last` becomes y.
void Accelerate(float omega, float length, size_t num_nodes, NodeVec* y, NodeVec* before,
                NodeVec* last) {
  const hn::CappedTag<float, 4> d;
  constexpr size_t N = kLanes<hn::CappedTag<float, 4>>;
  float *to = &y->x, *first = &before->x, *second = &last->x;
  const auto weight = hn::Set(d, omega), stretch = hn::Set(d, length);
  for (size_t k = 0; k < 4 * num_nodes; k += N) {
    const auto older = hn::Load(d, first + k), old = hn::Load(d, second + k);
    const auto moved = Fma(stretch, hn::Sub(hn::Load(d, to + k), old), old);
    const auto next = Fma(weight, hn::Sub(moved, older), older);
    hn::Store(old, d, first + k);
    hn::Store(next, d, second + k);
    hn::Store(next, d, to + k);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Descend);
HWY_EXPORT(Accelerate);

namespace bench {
namespace {

struct Corner {
  uint32_t tet, place;
};

// Lane `lane` of `out`: the tet's corner at `place`.
void SetCorner(const reference::ElasticBody& body, const Corner& corner, size_t lane,
               DescentCorners* out) {
  const reference::ElasticTet& tet = body.tets[corner.tet];
  std::array<uint32_t, 3> face;
  for (uint32_t k = 0; k < 3; ++k) face[k] = tet.nodes[(corner.place + 1 + k) % 4];
  const auto at = [&](uint32_t node) { return Eigen::Vector3d(body.rest.col(node)); };
  const Eigen::Vector3d x = at(tet.nodes[corner.place]) - at(face[0]);
  if ((at(face[1]) - at(face[0])).cross(at(face[2]) - at(face[0])).dot(x) < 0.0) {
    std::swap(face[1], face[2]);
  }
  const Eigen::Vector3d q = at(face[1]) - at(face[0]), r = at(face[2]) - at(face[0]);
  Eigen::Matrix3d axes;
  axes.col(0) = q.normalized();
  axes.col(2) = q.cross(r).normalized();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  const Eigen::Vector3d qr = axes.transpose() * r, qx = axes.transpose() * x;
  const double a = q.norm(), mixed = -qr.x() / (a * qr.y());
  const double edges[6] = {1.0 / a,
                           1.0 / qr.y(),
                           mixed,
                           1.0 / qx.z(),
                           -qx.y() / (qr.y() * qx.z()),
                           -(qx.x() / a + qx.y() * mixed) / qx.z()};
  const Eigen::Quaterniond rotation(axes);
  for (size_t k = 0; k < 3; ++k) out->nodes[k][lane] = face[k];
  for (size_t k = 0; k < 6; ++k) out->edge[k][lane] = static_cast<float>(edges[k]);
  for (Eigen::Index k = 0; k < 4; ++k) {
    out->rotation[k][lane] = static_cast<float>(rotation.coeffs()[k]);
  }
  out->stiffness[lane] = static_cast<float>(tet.stiffness);
  out->bulk[lane] = static_cast<float>(tet.bulk);
}

// Greedy colours: no two nodes of a colour share a tet. Of the colours that a node may have, it
// gets the one with the fewest nodes.
std::vector<uint32_t> Colours(const reference::ElasticBody& body,
                              const std::vector<std::vector<Corner>>& corners) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> colours(corners.size(), kNone), sizes;
  for (size_t i = 0; i < corners.size(); ++i) {
    std::vector<bool> taken(sizes.size(), false);
    for (const Corner& corner : corners[i]) {
      for (const uint32_t node : body.tets[corner.tet].nodes) {
        if (colours[node] != kNone) taken[colours[node]] = true;
      }
    }
    uint32_t best = kNone;
    for (uint32_t k = 0; k < sizes.size(); ++k) {
      if (!taken[k] && (best == kNone || sizes[k] < sizes[best])) best = k;
    }
    if (best == kNone) {
      best = static_cast<uint32_t>(sizes.size());
      sizes.push_back(0);
    }
    colours[i] = best;
    ++sizes[best];
  }
  return colours;
}

}  // namespace

VertexBlockDescent::VertexBlockDescent(const reference::ElasticBody& body,
                                       const DescentSettings& settings)
    : settings_(settings),
      num_nodes_(static_cast<size_t>(body.num_nodes())),
      is_pinned_(num_nodes_, 0),
      x_(num_nodes_ + 1),
      v_(x_),
      last_v_(x_),
      y_(x_),
      inertial_(x_),
      before_(x_),
      last_(x_) {
  for (const uint32_t node : settings.pinned) is_pinned_[node] = 1;
  for (size_t i = 0; i < num_nodes_; ++i) {
    const Eigen::Vector3f at = body.rest.col(static_cast<Eigen::Index>(i)).cast<float>();
    x_[i] = Vec3{at.x(), at.y(), at.z()};
    inertial_[i].w = static_cast<float>(body.masses[static_cast<Eigen::Index>(i)] /
                                        (settings.dt_s * settings.dt_s));
  }
  inertial_[num_nodes_].w = 1.0f;
  Plan(body);
}

// Nodes of a colour with about as many tets share lanes.
void VertexBlockDescent::Plan(const reference::ElasticBody& body) {
  std::vector<std::vector<Corner>> corners(num_nodes_);
  for (uint32_t t = 0; t < body.tets.size(); ++t) {
    for (uint32_t k = 0; k < 4; ++k) corners[body.tets[t].nodes[k]].push_back({t, k});
  }
  const std::vector<uint32_t> colours = Colours(body, corners);
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < num_nodes_; ++i) {
    if (is_pinned_[i] == 0) nodes.push_back(i);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
    if (colours[a] != colours[b]) return colours[a] < colours[b];
    return corners[a].size() > corners[b].size();
  });
  const uint32_t spare = static_cast<uint32_t>(num_nodes_);
  for (size_t i = 0; i < nodes.size();) {
    DescentNodes together = {};
    std::fill_n(together.nodes, kDescentLanes, spare);
    together.begin = static_cast<uint32_t>(corners_.size());
    DescentCorners none = {};
    for (auto& place : none.nodes) std::fill_n(place, kDescentLanes, spare);
    std::fill_n(none.rotation[3], kDescentLanes, 1.0f);
    corners_.resize(corners_.size() + corners[nodes[i]].size(), none);
    const uint32_t colour = colours[nodes[i]];
    for (size_t lane = 0; lane < kDescentLanes && i < nodes.size(); ++lane, ++i) {
      if (colours[nodes[i]] != colour) break;
      together.nodes[lane] = nodes[i];
      for (size_t k = 0; k < corners[nodes[i]].size(); ++k) {
        SetCorner(body, corners[nodes[i]][k], lane, &corners_[together.begin + k]);
      }
    }
    together.end = static_cast<uint32_t>(corners_.size());
    order_.push_back(together);
  }
}

// The paper's adaptive start: gravity as far as the last step's acceleration followed it.
void VertexBlockDescent::StartStep() {
  const float dt = static_cast<float>(settings_.dt_s);
  const Eigen::Vector3f g = settings_.gravity.cast<float>();
  const float squared = g.squaredNorm();
  for (size_t i = 0; i < num_nodes_; ++i) {
    y_[i] = x_[i];
    if (is_pinned_[i] != 0) continue;
    const NodeVec &v = v_[i], &last = last_v_[i];
    const float along =
        ((v.x - last.x) * g.x() + (v.y - last.y) * g.y() + (v.z - last.z) * g.z()) / dt;
    const float share = squared > 0.0f ? std::clamp(along / squared, 0.0f, 1.0f) : 0.0f;
    const auto start = [&](float gravity_share) {
      const float weight = dt * dt * gravity_share;
      return Vec3{x_[i].x + dt * v.x + weight * g.x(), x_[i].y + dt * v.y + weight * g.y(),
                  x_[i].z + dt * v.z + weight * g.z()};
    };
    y_[i] = start(share);
    inertial_[i] = start(1.0f);
  }
  before_ = y_;
  last_ = y_;
}

void VertexBlockDescent::Step() {
  StartStep();
  float omega = 1.0f;
  const float length = 2.0f / (2.0f - settings_.radius);
  const float reach = settings_.radius / (2.0f - settings_.radius), squared = reach * reach;
  for (int k = 0; k < settings_.iterations; ++k) {
    const bool backwards = k % 2 == 1;
    HWY_DYNAMIC_DISPATCH(Descend)
    (order_.data(), order_.size(), backwards, corners_.data(), inertial_.data(), y_.data());
    if (!backwards) continue;
    if (k == 3) omega = 2.0f / (2.0f - squared);
    if (k > 3) omega = 4.0f / (4.0f - squared * omega);
    HWY_DYNAMIC_DISPATCH(Accelerate)
    (omega, length, num_nodes_, y_.data(), before_.data(), last_.data());
  }
  const float rate = 1.0f / static_cast<float>(settings_.dt_s);
  std::swap(last_v_, v_);
  for (size_t i = 0; i < num_nodes_; ++i) {
    v_[i] =
        Vec3{(y_[i].x - x_[i].x) * rate, (y_[i].y - x_[i].y) * rate, (y_[i].z - x_[i].z) * rate};
    x_[i] = y_[i];
  }
}

reference::Points VertexBlockDescent::x() const {
  reference::Points out(3, static_cast<Eigen::Index>(num_nodes_));
  for (size_t i = 0; i < num_nodes_; ++i) {
    out.col(static_cast<Eigen::Index>(i)) << x_[i].x, x_[i].y, x_[i].z;
  }
  return out;
}

}  // namespace bench
}  // namespace plush
#endif
