// SPDX-License-Identifier: MIT
// Source: see model_pass.h.
#include "materials/model_pass.h"

#include "base/vector_math.h"
#include "materials/material.h"

#include <algorithm>

namespace plush {
namespace {

using Matrix = Matrix3<float>;

Mat3 ToMat3(const Matrix& m) {
  const auto column = [](const Vector3<float>& v) { return Vec3{v.x, v.y, v.z}; };
  return {column(m.c0), column(m.c1), column(m.c2)};
}

template <class Vectors>
Matrix GradientOf(const Tet& tet, const Mat3& dm_inv, const Vectors& x) {
  return ToMatrix3(DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], dm_inv));
}

RotationSettings<float> RotationOf(const ImplicitSettings& model) {
  return {model.rotation, model.alpha, model.beta};
}

bool IsCorotated(Material material) {
  return material == Material::kCorotated || material == Material::kCorrectedCorotated;
}

// One tet's material, with constants times its volume.
struct ModelOfTet {
  const ImplicitSettings& settings;
  const ModelTet& tet;
  Matrix dm_inv;
  LameConstants<float> lame;

  ModelOfTet(const ImplicitSettings& of, const ElementView& elements, size_t t,
             const ModelTet& at_tet)
      : settings(of),
        tet(at_tet),
        dm_inv(ToMatrix3(elements.DmInv(t))),
        lame{0.5f * elements.Stiffness(t), elements.Bulk(t)} {}

  // Whether the stress is that of DegenerateStress, with the gradient `b` of its witness.
  bool IsExactlyDegenerate(Vector3<float>* b) const {
    if (!settings.exact_degenerate_stress || !IsCorotated(settings.model) ||
        !IsDisplaced(RotationOf(settings), tet.state, tet.F)) {
      return false;
    }
    *b = WitnessGradient(dm_inv, tet.state.witness);
    return HasDirection(tet.F, *b);
  }

  Matrix StressOf() const {
    Vector3<float> b;
    if (IsExactlyDegenerate(&b)) {
      return DegenerateStress(settings.model, lame, DisplacementOf(RotationOf(settings)), tet.F, b,
                              tet.state.rotation);
    }
    return Stress(settings.model, lame, tet.F, tet.state.rotation);
  }

  Matrix Differential(StressDifferential differential, const Matrix& dF) const {
    const Matrix& R = tet.state.rotation;
    if (differential == StressDifferential::kExact || settings.model == Material::kLinear) {
      Vector3<float> b;
      if (IsExactlyDegenerate(&b)) {
        return DegenerateStressDifferential(settings.model, lame,
                                            DisplacementOf(RotationOf(settings)), tet.F, b, R, dF);
      }
      Matrix dR{};
      if (IsCorotated(settings.model)) {
        dR = RotationDifferential(RotationOf(settings), tet.F, dm_inv, tet.state, dF);
      }
      return ExactStressDifferential(settings.model, lame, tet.F, R, dF, dR);
    }
    const Material material =
        IsCorotated(settings.model) ? settings.model : Material::kCorrectedCorotated;
    return DifferentialOfStress(differential, material, lame, tet.F, R, dF, Matrix{});
  }

  // (dt^2 + damping dt) V dP.
  Matrix Product(const ElementSettings& step, StressDifferential differential,
                 const Matrix& dF) const {
    const Matrix& R = tet.state.rotation;
    const Matrix viscous = R * SymmetricPart(TransposeTimes(R, dF));
    return Differential(differential, dF) * (step.dt * step.dt) +
           viscous * (2.0f * lame.mu * step.dt * step.damping);
  }
};

}  // namespace

void BeginModelTets(const ElementView& elements, NodeVectors x, const ImplicitSettings& model,
                    const RotationView& rotations, std::span<ModelTet> tets) {
  const bool has_witness = NeedsWitness(model.rotation);
  const bool is_analytic = model.rotation == RotationMethod::kAnalytic;
  if (!has_witness && !is_analytic) return;
  for (size_t t = 0; t < tets.size(); ++t) {
    RotationState<float>& state = tets[t].state;
    if (is_analytic) {
      state.rotation = RotationMatrixOf<float>(rotations.Get(elements.slots[t]));
    } else {
      const Mat3 dm_inv = elements.DmInv(t);
      const Matrix F = GradientOf(elements.tets[t], dm_inv, x);
      state.witness = UpdateWitness(state.witness, F, F, ToMatrix3(dm_inv), double(model.alpha));
    }
  }
}

void LineariseModelTets(const ElementView& elements, std::span<const NodeVec> x,
                        const ElementSettings& settings, const ImplicitSettings& model,
                        std::span<const float> starts, std::span<ModelTet> tets,
                        std::span<float> kappa, std::span<NodeVec> rhs) {
  const float dt2 = settings.dt * settings.dt;
  for (size_t t = 0; t < tets.size(); ++t) {
    const uint32_t slot = elements.slots[t];
    const Mat3 dm_inv = elements.DmInv(t);
    ModelTet& tet = tets[t];
    tet.F = GradientOf(elements.tets[t], dm_inv, x);
    ExtractRotation(RotationOf(model), tet.F, ToMatrix3(dm_inv), &tet.state);
    const ModelOfTet of(model, elements, t, tet);
    kappa[slot] = of.lame.lambda * dt2 * (1.0f - Determinant(tet.F));
    Matrix P = of.StressOf() * -dt2;
    if (!starts.empty()) {
      const float* at = &starts[9 * kBlockTets * (slot / kBlockTets) + slot % kBlockTets];
      const auto number = [at](size_t k) { return at[kBlockTets * k]; };
      const Matrix start = {{number(0), number(1), number(2)},
                            {number(3), number(4), number(5)},
                            {number(6), number(7), number(8)}};
      const Matrix& R = tet.state.rotation;
      const float viscous = 2.0f * of.lame.mu * settings.dt * settings.damping;
      P = P + R * ((start - TransposeTimes(R, tet.F)) * viscous);
    }
    ScatterNodeGradients(elements.tets[t], NodeGradients(ToMat3(P), dm_inv), 1.0f, rhs);
  }
}

void AddModelProduct(const ElementView& elements, const ElementSettings& settings,
                     const ImplicitSettings& model, std::span<const ModelTet> tets,
                     StressDifferential differential, std::span<const NodeVec> y,
                     std::span<NodeVec> out) {
  for (size_t t = 0; t < tets.size(); ++t) {
    const Mat3 dm_inv = elements.DmInv(t);
    const ModelOfTet of(model, elements, t, tets[t]);
    const Matrix dP = of.Product(settings, differential, GradientOf(elements.tets[t], dm_inv, y));
    ScatterNodeGradients(elements.tets[t], NodeGradients(ToMat3(dP), dm_inv), 1.0f, out);
  }
}

void AddModelDiagonal(const ElementView& elements, const ElementSettings& settings,
                      const ImplicitSettings& model, std::span<const ModelTet> tets,
                      std::span<Mat3> blocks) {
  for (size_t t = 0; t < tets.size(); ++t) {
    const ModelOfTet of(model, elements, t, tets[t]);
    const Mat3 rows = Transpose(elements.DmInv(t));
    const Vec3 gradients[4] = {-(rows.c0 + rows.c1 + rows.c2), rows.c0, rows.c1, rows.c2};
    const Tet& tet = elements.tets[t];
    const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
    for (int k = 0; k < 4; ++k) {
      const Vector3<float> g = {gradients[k].x, gradients[k].y, gradients[k].z};
      const auto column = [&](const Vector3<float>& axis) {
        const Matrix dF = {axis * g.x, axis * g.y, axis * g.z};
        const Vector3<float> v = of.Product(settings, StressDifferential::kHybrid, dF) * g;
        return Vec3{v.x, v.y, v.z};
      };
      Mat3* block = &blocks[nodes[k]];
      block->c0 += column({1.0f, 0.0f, 0.0f});
      block->c1 += column({0.0f, 1.0f, 0.0f});
      block->c2 += column({0.0f, 0.0f, 1.0f});
    }
  }
}

void MakeModelStiffness(const ElementView& elements, const ElementSettings& settings,
                        const ImplicitSettings& model, std::span<const ModelTet> tets,
                        StressDifferential differential, BlockMatrix* matrix) {
  matrix->Clear();
  for (size_t t = 0; t < tets.size(); ++t) {
    const ModelOfTet of(model, elements, t, tets[t]);
    const Mat3 rows = Transpose(elements.DmInv(t));
    const Vec3 gradients[4] = {-(rows.c0 + rows.c1 + rows.c2), rows.c0, rows.c1, rows.c2};
    Mat3 blocks[4][4];  // by row and column
    for (int column = 0; column < 4; ++column) {
      const Vec3& g = gradients[column];
      const auto answer = [&](const Vec3& axis, Vec3 Mat3::*of_column) {
        const Matrix dF = ToMatrix3({axis * g.x, axis * g.y, axis * g.z});
        const Mat3 dP = ToMat3(of.Product(settings, differential, dF));
        for (int row = 0; row < 4; ++row) blocks[row][column].*of_column = dP * gradients[row];
      };
      answer({1.0f, 0.0f, 0.0f}, &Mat3::c0);
      answer({0.0f, 1.0f, 0.0f}, &Mat3::c1);
      answer({0.0f, 0.0f, 1.0f}, &Mat3::c2);
    }
    const uint32_t slot = elements.slots[t];
    const size_t first = kBlockTets * kTetPairs * (slot / kBlockTets) + slot % kBlockTets;
    for (size_t row = 0; row < 4; ++row) {
      for (size_t column = 0; column < 4; ++column) {
        if (column == row) continue;
        const Mat3 both = blocks[row][column] + Transpose(blocks[column][row]);
        matrix->Add(matrix->places[first + kBlockTets * PairOf(row, column)], both * 0.5f);
      }
    }
  }
  matrix->CloseRows();
}

void EndModelTets(const ElementView& elements, NodeVectors before, NodeVectors after,
                  const ImplicitSettings& model, std::span<ModelTet> tets,
                  const RotationView& rotations) {
  for (size_t t = 0; t < tets.size(); ++t) {
    RotationState<float>& state = tets[t].state;
    if (NeedsWitness(model.rotation)) {
      const Mat3 dm_inv = elements.DmInv(t);
      const Tet& tet = elements.tets[t];
      state.witness =
          UpdateWitness(state.witness, GradientOf(tet, dm_inv, before),
                        GradientOf(tet, dm_inv, after), ToMatrix3(dm_inv), double(model.alpha));
    }
    if (Determinant(state.rotation) > 0.0f) {
      rotations.Set(elements.slots[t], QuaternionOf(state.rotation));
    }
  }
}

}  // namespace plush
