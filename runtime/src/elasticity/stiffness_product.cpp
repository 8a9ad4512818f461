// SPDX-License-Identifier: MIT
// Products with the stiffness, 16 tets at a time, one per lane.
// Source: see force_differential.h.
#include "elasticity/stiffness_product.h"

#include "base/simd_target.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/stiffness_product.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/differential_lanes-inl.h"
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// Gathers nodes at byte offsets `places`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Xyz<V> GatherPlaces(D d, const NodeVec* nodes, const uint32_t* places) {
  const auto* const bytes = reinterpret_cast<const char*>(nodes);
  return GatherFrom(
      d, [=](size_t i) HWY_ATTR { return reinterpret_cast<const float*>(bytes + places[i]); },
      static_cast<V*>(nullptr));
}

// Adds the nodes of a vector of blocks to those at places[0], [4] and so on.
template <class D>
HWY_INLINE void AddBlocks(D d, hn::Vec<D> blocks, const uint32_t* places, char* bytes) {
  if constexpr (kLanes<D> <= 4) {
    auto* const at = reinterpret_cast<float*>(bytes + places[0]);
    hn::Store(hn::Add(hn::Load(d, at), blocks), d, at);
  } else {
#if HWY_TARGET != HWY_SCALAR
    const hn::Half<D> half;
    AddBlocks(half, hn::LowerHalf(half, blocks), places, bytes);
    AddBlocks(half, hn::UpperHalf(half, blocks), places + kLanes<D> / 2, bytes);
#endif
  }
}

// Adds vectors to nodes at byte offsets `places`. GCC does not always inline AddToNodes here.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void AddToPlaces(D d, const Xyz<V>& v, const uint32_t* places, NodeVec* nodes) {
  auto* const bytes = reinterpret_cast<char*>(nodes);
#if HWY_TARGET == HWY_SCALAR
  auto* const at = reinterpret_cast<float*>(bytes + places[0]);
  at[0] += hn::GetLane(v.x);
  at[1] += hn::GetLane(v.y);
  at[2] += hn::GetLane(v.z);
  (void)d;
#else
  const V zero = hn::Zero(d);
  const V xz_01 = hn::InterleaveLower(d, v.x, v.z), xz_23 = hn::InterleaveUpper(d, v.x, v.z);
  const V yw_01 = hn::InterleaveLower(d, v.y, zero), yw_23 = hn::InterleaveUpper(d, v.y, zero);
  AddBlocks(d, hn::InterleaveLower(d, xz_01, yw_01), places, bytes);
  AddBlocks(d, hn::InterleaveUpper(d, xz_01, yw_01), places + 1, bytes);
  AddBlocks(d, hn::InterleaveLower(d, xz_23, yw_23), places + 2, bytes);
  AddBlocks(d, hn::InterleaveUpper(d, xz_23, yw_23), places + 3, bytes);
#endif
}

// R S R^T.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Sym<V> Turned(const Mat<V>& R, const Sym<V>& S) {
  const Mat<V> m = Times(R, Full(S));
  const auto entry = [&](V Xyz<V>::*row, V Xyz<V>::*column) HWY_ATTR {
    return Fma(m.c0.*row, R.c0.*column,
               Fma(m.c1.*row, R.c1.*column, hn::Mul(m.c2.*row, R.c2.*column)));
  };
  using X = Xyz<V>;
  return {entry(&X::x, &X::x), entry(&X::y, &X::y), entry(&X::z, &X::z),
          entry(&X::x, &X::y), entry(&X::x, &X::z), entry(&X::y, &X::z)};
}

template <class V>
HWY_INLINE Sym<V> Scaled(const Sym<V>& s, V by) {
  return {hn::Mul(s.xx, by), hn::Mul(s.yy, by), hn::Mul(s.zz, by),
          hn::Mul(s.xy, by), hn::Mul(s.xz, by), hn::Mul(s.yz, by)};
}

template <StressDifferential kDifferential>
HWY_INLINE void MakeNumbers(const ElementView& elements, const ElementSettings& settings,
                            MaterialModel model, const RotationView& rotations,
                            const float* stretches, ProductBlock* products) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    ProductBlock& to = products[b];
    for (size_t k = 0; k < 4; ++k) {
      for (size_t i = 0; i < kBlockTets; ++i) {
        to.places[k][i] = static_cast<uint32_t>(sizeof(NodeVec)) * block.nodes[k][i];
      }
    }
    for (size_t i = 0; i < kBlockTets; i += N) {
      const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const Mat<V> B = TimesTranspose(LoadMat(d, block.dm_inv[0] + i), R);
      const Sym<V> S = LoadSym(d, stretches + kStretchNumbers * kBlockTets * b + i);
      if constexpr (kDifferential == StressDifferential::kExact) {
        StoreMat(d, B, to.turned[0] + i);
        StoreSym(d, Turned<Lanes16>(R, S), to.symmetric[0] + i);
      } else {
        const DifferentialWeights<V> of = WeightsOf<kDifferential>(
            d, settings, S, Adjugate(S), hn::LoadU(d, elements.StiffnessOf(b) + i),
            hn::LoadU(d, elements.BulkOf(b) + i));
        const V k = hn::Add(of.symmetric, of.plain);  // zero without a tet
        const auto is_tet = hn::Gt(k, zero);
        const V inverse = hn::IfThenElseZero(is_tet, hn::Div(one, hn::IfThenElse(is_tet, k, one)));
        const V root = hn::Sqrt(k);
        StoreMat(d, Mat<V>(B.c0 * root, B.c1 * root, B.c2 * root), to.turned[0] + i);
        const Sym<V> C = model == MaterialModel::kCorotated
                             ? Sym<V>(one, one, one, zero, zero, zero)
                             : Turned<Lanes16>(R, Adjugate(S));
        StoreSym(d, Scaled(C, hn::Sqrt(hn::Mul(of.volume, inverse))), to.symmetric[0] + i);
        if constexpr (kDifferential != StressDifferential::kWarped) {
          hn::StoreU(hn::Mul(of.plain, inverse), d, to.share + i);
        }
      }
    }
  }
}

// T of force_differential.h times V dt^2, plus the viscous part, for 2 mu V = `k`. S and M may both
// be turned by any rotation, and T is then, too.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> DifferentiateExactly(D d, const ElementSettings& settings, const Sym<V>& S,
                                       const Mat<V>& M, V k, V bulk) {
  const Sym<V> E = SymmetricPart(d, M), C = Adjugate(S);
  const V two = hn::Set(d, 2.0f);
  const V trace = Fma(C.xx, E.xx, Fma(C.yy, E.yy, hn::Mul(C.zz, E.zz)));
  const V change = Fma(two, Fma(C.xy, E.xy, Fma(C.xz, E.xz, hn::Mul(C.yz, E.yz))), trace);
  const auto of = WeightsOf<StressDifferential::kExact>(d, settings, S, C, k, bulk);
  const V symmetric = of.symmetric, pressing = hn::Mul(of.volume, change);
  const Sym<V> sum = {
      Fma(E.xx, symmetric, hn::Mul(C.xx, pressing)), Fma(E.yy, symmetric, hn::Mul(C.yy, pressing)),
      Fma(E.zz, symmetric, hn::Mul(C.zz, pressing)), Fma(E.xy, symmetric, hn::Mul(C.xy, pressing)),
      Fma(E.xz, symmetric, hn::Mul(C.xz, pressing)), Fma(E.yz, symmetric, hn::Mul(C.yz, pressing))};
  Mat<V> T = Full(sum);
  AddScaled(of.plain, M, &T);
  AddScaled(hn::Neg(of.plain), RotationDifferential(d, S, M), &T);
  const Mat<V> s = Full(S);
  const Mat<V> dC = {Cross(s.c1, M.c2) + Cross(M.c1, s.c2), Cross(s.c2, M.c0) + Cross(M.c2, s.c0),
                     Cross(s.c0, M.c1) + Cross(M.c0, s.c1)};
  AddScaled(of.pressure, dC, &T);
  return T;
}

// sym(M) + g skew(M) + (C:M) C; without g for kWarped.
template <StressDifferential kDifferential, class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> DifferentiateApproximately(D d, const ProductBlock& of, size_t first,
                                             const Mat<V>& M) {
  const Sym<V> C = LoadSym(d, of.symmetric[0] + first);
  const V xy = hn::Add(M.c0.y, M.c1.x), xz = hn::Add(M.c0.z, M.c2.x), yz = hn::Add(M.c1.z, M.c2.y);
  const V change = hn::Add(Fma(C.xx, M.c0.x, Fma(C.yy, M.c1.y, hn::Mul(C.zz, M.c2.z))),
                           Fma(C.xy, xy, Fma(C.xz, xz, hn::Mul(C.yz, yz))));
  const V half = hn::Set(d, 0.5f);
  Mat<V> T =
      Full(Sym<V>(Fma(C.xx, change, M.c0.x), Fma(C.yy, change, M.c1.y), Fma(C.zz, change, M.c2.z),
                  Fma(C.xy, change, hn::Mul(half, xy)), Fma(C.xz, change, hn::Mul(half, xz)),
                  Fma(C.yz, change, hn::Mul(half, yz))));
  if constexpr (kDifferential != StressDifferential::kWarped) {
    const V g = hn::Mul(half, hn::LoadU(d, of.share + first));
    const V z = hn::Sub(M.c0.y, M.c1.x), y = hn::Sub(M.c0.z, M.c2.x), x = hn::Sub(M.c1.z, M.c2.y);
    T.c0.y = Fma(g, z, T.c0.y);
    T.c1.x = FmaNegated(g, z, T.c1.x);
    T.c0.z = Fma(g, y, T.c0.z);
    T.c2.x = FmaNegated(g, y, T.c2.x);
    T.c1.z = Fma(g, x, T.c1.z);
    T.c2.y = FmaNegated(g, x, T.c2.y);
  }
  return T;
}

// Bodies of more blocks than this do not fit into a core's own caches (1 MB).
constexpr size_t kMostNearProducts = 800;

HWY_INLINE void Fetch(const ProductBlock& block) {
  constexpr size_t kLine = 64;
  const auto* const first = reinterpret_cast<const char*>(&block);
  for (size_t i = 0; i < sizeof block; i += kLine) hwy::Prefetch(first + i);
}

// A sum over lanes that is single within a few blocks and double beyond, in the same order for
// every number of lanes.
class LaneSum {
 public:
  HWY_INLINE LaneSum() { Clear(); }
  template <class V>
  HWY_INLINE void Add(size_t lane, V value) {
    const Lanes16 d;
    V& part = parts_[lane / kLanes<Lanes16>];
    part = hn::Add(part, value);
    (void)d;
  }
  HWY_INLINE void Flush() {
    const Lanes16 d;
    HWY_ALIGN float lanes[kBlockTets];
    for (size_t p = 0; p < kParts; ++p) hn::Store(parts_[p], d, lanes + kLanes<Lanes16> * p);
    for (const float lane : lanes) sum_ += double(lane);
    Clear();
  }
  HWY_INLINE double sum() const { return sum_; }

 private:
  static constexpr size_t kParts = kBlockTets / kLanes<Lanes16>;
  HWY_INLINE void Clear() {
    for (auto& part : parts_) part = hn::Zero(Lanes16());
  }
  hn::Vec<Lanes16> parts_[kParts];
  double sum_ = 0.0;
};

template <StressDifferential kDifferential>
HWY_INLINE double AddProduct(const ElementView& elements, const ElementSettings& settings,
                             const ProductBlock* products, const NodeVec* y, NodeVec* out) {
  constexpr size_t kFlushed = 8;  // blocks
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  constexpr size_t kAhead = 4;  // blocks
  LaneSum work;
  const size_t count = elements.blocks.size();
  const bool is_far = count > kMostNearProducts;
  for (size_t begin = 0; begin < count; begin += kFlushed) {
    const size_t end = std::min(begin + kFlushed, count);
    for (size_t b = begin; b < end; ++b) {
      const ProductBlock& block = products[b];
      if (is_far && b + kAhead < count) Fetch(products[b + kAhead]);
      for (size_t i = 0; i < kBlockTets; i += N) {
        const Mat<V> B = LoadMat(d, block.turned[0] + i);
        const Xyz<V> a = GatherPlaces(d, y, block.places[0] + i);
        const Mat<V> Ds = {GatherPlaces(d, y, block.places[1] + i) - a,
                           GatherPlaces(d, y, block.places[2] + i) - a,
                           GatherPlaces(d, y, block.places[3] + i) - a};
        const Mat<V> M = Times(Ds, B);
        Mat<V> T;
        if constexpr (kDifferential == StressDifferential::kExact) {
          T = DifferentiateExactly(d, settings, LoadSym(d, block.symmetric[0] + i), M,
                                   hn::LoadU(d, elements.StiffnessOf(b) + i),
                                   hn::LoadU(d, elements.BulkOf(b) + i));
        } else {
          T = DifferentiateApproximately<kDifferential>(d, block, i, M);
        }
        work.Add(i, Inner(T, M));
        const Mat<V> G = TimesTranspose(T, B);
        const V zero = hn::Zero(d);
        AddToPlaces(d, G.c0, block.places[1] + i, out);
        AddToPlaces(d, G.c1, block.places[2] + i, out);
        AddToPlaces(d, G.c2, block.places[3] + i, out);
        AddToPlaces(d, Xyz<V>{zero, zero, zero} - (G.c0 + G.c1 + G.c2), block.places[0] + i, out);
      }
    }
    work.Flush();
  }
  return work.sum();
}

void Numbers(const ElementView& elements, const ElementSettings& settings, MaterialModel model,
             const RotationView& rotations, const float* stretches, StressDifferential differential,
             ProductBlock* products) {
  using enum StressDifferential;
  if (differential == kExact) {
    MakeNumbers<kExact>(elements, settings, model, rotations, stretches, products);
  } else if (differential == kHybrid) {
    MakeNumbers<kHybrid>(elements, settings, model, rotations, stretches, products);
  } else if (differential == kConstantRotation) {
    MakeNumbers<kConstantRotation>(elements, settings, model, rotations, stretches, products);
  } else {
    MakeNumbers<kWarped>(elements, settings, model, rotations, stretches, products);
  }
}

double Product(const ElementView& elements, const ElementSettings& settings,
               const ProductBlock* products, StressDifferential differential, const NodeVec* y,
               NodeVec* out) {
  using enum StressDifferential;
  if (differential == kExact) return AddProduct<kExact>(elements, settings, products, y, out);
  if (differential == kWarped) return AddProduct<kWarped>(elements, settings, products, y, out);
  return AddProduct<kHybrid>(elements, settings, products, y, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Numbers);
HWY_EXPORT(Product);

void MakeProducts(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                  StressDifferential differential, std::span<ProductBlock> products,
                  MaterialModel model) {
  HWY_DYNAMIC_DISPATCH(Numbers)
  (elements, settings, model, at.rotations, at.stretches.data(), differential, products.data());
}

double AddStiffnessProduct(const ElementView& elements, const ElementSettings& settings,
                           std::span<const ProductBlock> products, StressDifferential differential,
                           std::span<const NodeVec> y, std::span<NodeVec> out) {
  return HWY_DYNAMIC_DISPATCH(Product)(elements, settings, products.data(), differential, y.data(),
                                       out.data());
}

}  // namespace plush
#endif
