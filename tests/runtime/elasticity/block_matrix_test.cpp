// SPDX-License-Identifier: MIT
// The assembled stiffness against the products that read tets.
#include "elasticity/block_matrix.h"

#include "elasticity/force_differential.h"
#include "elasticity/stiffness_product.h"
#include "materials/model_pass.h"
#include "runtime/dense_reference.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <set>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace block_matrix_test {

constexpr StressDifferential kDifferentials[] = {
    StressDifferential::kExact, StressDifferential::kConstantRotation, StressDifferential::kWarped,
    StressDifferential::kHybrid};

// A deformed shape with its tets linearised, and a matrix for it.
struct Subject {
  Subject(uint32_t seed, int cells, double poisson, double size)
      : random(seed),
        shape(TetBox(cells, 2, 1, 0.1, 0.09, seed), {2.0e5, poisson, 900.0}),
        rotations(shape.num_blocks()),
        stretches(kStretchNumbers * shape.num_places()),
        kappa(shape.num_places()) {
    const Eigen::Matrix3d turn = random.Rotation();
    x = ToNodeVecs(turn * (ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), size)));
    rotations = RotationArray(shape.num_blocks(), ToQuat(turn));
    std::vector<NodeVec> rhs(x.size());
    LineariseTets(shape.elements(), x, settings, {}, at(), kappa, rhs);
    REQUIRE(matrix.Reserve(DefaultAllocator(), shape.elements(), shape.num_nodes()));
  }

  TetsAt at() { return {rotations.view(), stretches}; }
  std::vector<NodeVec> Vector() { return ToNodeVecs(random.Vectors(shape.num_nodes(), 0.1)); }
  std::vector<NodeVec> Product(const std::vector<NodeVec>& y) const {
    std::vector<NodeVec> out(y.size(), NodeVec({1.0f, 2.0f, 3.0f}, 4.0f));
    matrix.Multiply(y, out);
    return out;
  }
  // The blocks, as a dense matrix.
  Eigen::MatrixXd Dense() const {
    const auto n = static_cast<Eigen::Index>(shape.num_nodes());
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(3 * n, 3 * n);
    for (size_t row = 0; row < matrix.num_rows(); ++row) {
      for (size_t k = 4 * matrix.groups[row]; k < 4 * matrix.groups[row + 1]; ++k) {
        const size_t column = matrix.columns[k];
        const NodeVec* block = &matrix.values[12 * (k / 4) + k % 4];
        for (size_t c = 0; c < 3; ++c) {
          const NodeVec& v = block[4 * c];
          const Eigen::Vector3d numbers(double(v.x), double(v.y), double(v.z));
          CHECK(v.w == 0.0f);
          if (column == matrix.num_rows()) {
            CHECK(numbers.isZero(0.0));
            continue;
          }
          out.block<3, 1>(Eigen::Index(3 * row), Eigen::Index(3 * column + c)) += numbers;
        }
      }
    }
    return out;
  }

  Random random;
  ShapeAsset shape;
  RotationArray rotations;
  std::vector<float> stretches, kappa;
  ElementSettings settings = {0.01f, 0.02f, 64};
  std::vector<NodeVec> x;
  BlockMatrix matrix;
};

TEST_CASE("A matrix has a block for each pair of nodes that share a tet, in sorted rows") {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const Subject s(seed, static_cast<int>(seed), 0.3, 0.0);
    std::set<std::pair<uint32_t, uint32_t>> expected, found;
    for (const Tet& tet : s.shape.simulation().tets) {
      for (const uint32_t row : {tet.a, tet.b, tet.c, tet.d}) {
        for (const uint32_t column : {tet.a, tet.b, tet.c, tet.d}) expected.insert({row, column});
      }
    }
    for (uint32_t row = 0; row < s.matrix.num_rows(); ++row) {
      const uint32_t first = 4 * s.matrix.groups[row], end = 4 * s.matrix.groups[row + 1];
      CHECK(s.matrix.columns[first] == row);
      uint32_t spare = 0;
      for (uint32_t k = first; k < end; ++k) {
        if (s.matrix.columns[k] == s.matrix.num_rows()) {
          ++spare;
          continue;
        }
        CHECK(spare == 0);
        CHECK(found.insert({row, s.matrix.columns[k]}).second);
        if (k > first + 1) CHECK(s.matrix.columns[k - 1] < s.matrix.columns[k]);
      }
      CHECK(spare < 4);
    }
    CHECK(found == expected);
  }
}

TEST_CASE("Products of the assembled stiffness are those of the tets") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  const double poisson = GENERATE(0.0, 0.35, 0.49);
  const double size = GENERATE(0.0, 0.01, 0.07);  // the last one turns tets inside out
  Subject s(seed, 1 + static_cast<int>(seed), poisson, size);
  for (const StressDifferential differential : kDifferentials) {
    MakeStiffness(s.shape.elements(), s.settings, s.at(), differential, &s.matrix);
    for (int k = 0; k < 3; ++k) {
      const std::vector<NodeVec> y = s.Vector();
      std::vector<NodeVec> expected(y.size());
      std::vector<ProductBlock> products(s.shape.num_blocks());
      MakeProducts(s.shape.elements(), s.settings, s.at(), differential, products);
      AddStiffnessProduct(s.shape.elements(), s.settings, products, differential, y, expected);
      const std::vector<NodeVec> product = s.Product(y);
      CAPTURE(seed, poisson, size, static_cast<int>(differential), k);
      CHECK((ToEigen(product) - ToEigen(expected)).norm() < 3e-6 * ToEigen(expected).norm());
      CHECK(product.back().x == 0.0f);
      CHECK(product.back().w == 0.0f);
    }
    const Eigen::MatrixXd K = s.Dense();
    CHECK((K - K.transpose()).norm() < 1e-6 * K.norm());
  }
}

TEST_CASE("The assembled stiffness of any model is the symmetric part of the tets'") {
  const auto model = GENERATE(MaterialModel::kLinear, MaterialModel::kCorotated,
                              MaterialModel::kCorrectedCorotated, MaterialModel::kStVenantKirchhoff,
                              MaterialModel::kNeoHookean);
  const auto rotation =
      GENERATE(RotationMethod::kPolar, RotationMethod::kSvd, RotationMethod::kInvertibleSvd,
               RotationMethod::kCoherentSvd, RotationMethod::kQr, RotationMethod::kPolarQr,
               RotationMethod::kProject, RotationMethod::kReflect,
               RotationMethod::kDegenerationAware, RotationMethod::kAnalytic);
  const double size = GENERATE(0.01, 0.06);
  const bool is_degenerate_exact = size > 0.05;
  Subject s(7, 2, 0.35, size);
  const ImplicitSettings settings = {
      .model = model, .rotation = rotation, .exact_degenerate_stress = is_degenerate_exact};
  std::vector<ModelTet> tets(s.shape.simulation().tets.size());
  const ElementView elements = s.shape.elements();
  BeginModelTets(elements, s.x, settings, s.rotations.view(), tets);
  std::vector<NodeVec> rhs(s.x.size());
  LineariseModelTets(elements, s.x, s.settings, settings, {}, tets, s.kappa, rhs);
  const auto n = static_cast<Eigen::Index>(3 * s.shape.num_nodes());
  for (const StressDifferential differential : kDifferentials) {
    MakeModelStiffness(elements, s.settings, settings, tets, differential, &s.matrix);
    Eigen::MatrixXd of_tets(n, n);
    for (Eigen::Index k = 0; k < n; ++k) {
      std::vector<NodeVec> y(s.x.size()), out(s.x.size());
      (&y[static_cast<size_t>(k / 3)].x)[k % 3] = 1.0f;
      AddModelProduct(elements, s.settings, settings, tets, differential, y, out);
      of_tets.col(k) = ToEigen(out).leftCols(n / 3).reshaped();
    }
    const Eigen::MatrixXd expected = 0.5 * (of_tets + of_tets.transpose());
    CAPTURE(static_cast<int>(model), static_cast<int>(rotation), size,
            static_cast<int>(differential));
    CHECK((s.Dense() - expected).norm() < 3e-6 * of_tets.norm());
  }
}

TEST_CASE("A matrix of another place leaves nothing of the one before") {
  Subject s(9, 3, 0.3, 0.02);
  MakeStiffness(s.shape.elements(), s.settings, s.at(), StressDifferential::kExact, &s.matrix);
  const std::vector<NodeVec> y = s.Vector(), before = s.Product(y);
  MakeStiffness(s.shape.elements(), s.settings, s.at(), StressDifferential::kHybrid, &s.matrix);
  MakeStiffness(s.shape.elements(), s.settings, s.at(), StressDifferential::kExact, &s.matrix);
  const std::vector<NodeVec> after = s.Product(y);
  CHECK(std::memcmp(before.data(), after.data(), before.size() * sizeof(NodeVec)) == 0);
}

TEST_CASE("Assembled products agree on every instruction set") {
  Subject s(11, 4, 0.4, 0.02);
  const std::vector<NodeVec> y = s.Vector();
  std::vector<NodeVec> first;
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    MakeStiffness(s.shape.elements(), s.settings, s.at(), StressDifferential::kExact, &s.matrix);
    const std::vector<NodeVec> product = s.Product(y);
    if (first.empty()) first = product;
    CAPTURE(NameOf(target));
    CHECK((ToEigen(product) - ToEigen(first)).norm() < 1e-6 * ToEigen(first).norm());
    if (kIsDeterministic) {
      CHECK(std::memcmp(product.data(), first.data(), first.size() * sizeof(NodeVec)) == 0);
    }
  }
}

}  // namespace block_matrix_test
