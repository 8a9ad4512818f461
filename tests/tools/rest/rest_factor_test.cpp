// SPDX-License-Identifier: MIT
// The baked factor against the matrix, which is assembled densely and in another way.
#include "plush/format/factor_panels.h"

#include "rest/rest_data.h"
#include "shapes/tet_shapes.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush::tools;
using plush::BlockIndex;
using plush::BlockValues;
using plush::Supernode;

namespace rest_factor_test {

RestData RestOf(const TetMesh& mesh, const Material& material, double dt,
                const std::vector<uint32_t>& last = {}) {
  const TetMaterials materials = {
      {material}, std::vector<uint16_t>(mesh.tets.size(), 0), material.damping};
  auto rest = ComputeMixedRestData(mesh, materials, plush::test::Volume(mesh), dt, {}, last);
  if (!rest.ok()) FAIL(rest.error().message);
  return rest.value();
}

// The product L D L^T from the panels.
Eigen::MatrixXd Product(const RestData& rest) {
  const auto n = static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd lower = Eigen::MatrixXd::Identity(n, n), diagonal = Eigen::MatrixXd::Zero(n, n);
  for (const Supernode& s : rest.supernodes) {
    const uint32_t w = s.num_columns;
    Eigen::MatrixXd inverse(w, w);
    const size_t start = s.first_value + BlockValues(s.num_rows, w);
    for (uint32_t c = 0; c < w; ++c) {
      for (uint32_t r = 0; r < s.num_rows; ++r) {
        lower(rest.rows[s.first_row + r], s.first_column + c) =
            -rest.values[s.first_value + BlockIndex(s.num_rows, w, r, c)];
      }
      for (uint32_t r = 0; r < w; ++r) inverse(r, c) = rest.values[start + BlockIndex(w, w, r, c)];
    }
    diagonal.block(s.first_column, s.first_column, w, w) = inverse.inverse();
  }
  return lower * diagonal * lower.transpose();
}

// The matrix from shape functions, by inverting the matrix of the corners. Does not use Dm^-1, the
// blocks or the sparse code.
Eigen::MatrixXd DenseSystem(const RestData& rest, const Material& material, double dt) {
  const auto n = static_cast<Eigen::Index>(rest.nodes.size());
  const double mu = LameParameters(material).mu;
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) system(i, i) = rest.masses[static_cast<size_t>(i)];
  for (const plush::Tet& tet : rest.tets) {
    const uint32_t ids[4] = {tet.a, tet.b, tet.c, tet.d};
    Eigen::Matrix4d corners;  // rows (1, x, y, z); its inverse's columns are the shape functions
    for (int i = 0; i < 4; ++i) {
      const auto& x = rest.nodes[ids[i]];
      corners.row(i) << 1.0, x.x, x.y, x.z;
    }
    const Eigen::Matrix4d shapes = corners.inverse();
    const double volume = corners.determinant() / 6.0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        system(ids[i], ids[j]) += dt * (dt + material.damping) * 2.0 * mu * volume *
                                  shapes.col(i).tail<3>().dot(shapes.col(j).tail<3>());
      }
    }
  }
  return system;
}

TEST_CASE("The factor multiplies out to the matrix assembled densely from shape functions") {
  const TetMesh mesh = plush::test::TetBox(4, 3, 3, 0.1, 0.08, 9);
  for (const Material& material : {Material{}, Material{3.0e5, 0.3, 700.0, 0.05}}) {
    for (const double dt : {1e-4, 0.01, 0.1}) {
      const RestData rest = RestOf(mesh, material, dt);
      const Eigen::MatrixXd dense = DenseSystem(rest, material, dt);
      INFO("dt " << dt << ", damping " << material.damping);
      CHECK((Product(rest) - dense).norm() < 5e-6 * dense.norm());
    }
  }
}

TEST_CASE("Nodes that may be pinned come last, in separate supernodes") {
  const TetMesh mesh = plush::test::TetBox(8, 2, 2, 0.1, 0.08, 10);
  std::vector<uint32_t> last;
  for (uint32_t i = 0; i < mesh.nodes.size(); ++i) {
    if (mesh.nodes[i].x < 0.05) last.push_back(i);
  }
  REQUIRE(last.size() >= 4);
  const RestData rest = RestOf(mesh, {}, 0.01, last);
  REQUIRE(rest.num_free == mesh.nodes.size() - last.size());
  std::vector<uint32_t> behind(rest.node_order.begin() + rest.num_free, rest.node_order.end());
  std::sort(behind.begin(), behind.end());
  CHECK(behind == last);
  for (const Supernode& s : rest.supernodes) {
    CHECK((s.first_column >= rest.num_free || s.first_column + s.num_columns <= rest.num_free));
  }
  const Eigen::MatrixXd dense = DenseSystem(rest, {}, 0.01);
  CHECK((Product(rest) - dense).norm() < 1e-6 * dense.norm());
  CHECK(RestOf(mesh, {}, 0.01).num_free == mesh.nodes.size());
}

TEST_CASE("The factor keeps its structure even if values are zero") {
  // In a regular lattice many pairs of gradients are orthogonal.
  const RestData regular = RestOf(plush::test::TetBox(4, 3, 3, 0.1), {}, 0.01);
  const RestData moved = RestOf(plush::test::TetBox(4, 3, 3, 0.1, 0.08), {}, 0.01);
  CHECK(regular.rows == moved.rows);
  CHECK(regular.supernode_of == moved.supernode_of);
  CHECK(regular.values.size() == moved.values.size());
  CHECK(regular.factor_nonzeros == moved.factor_nonzeros);
}

TEST_CASE("The supernode of each column, and the sum of their entries, are those of the list") {
  const RestData rest = RestOf(plush::test::TetBox(5, 3, 2, 0.1, 0.05, 11), {}, 0.01);
  uint64_t entries = 0;
  for (uint32_t i = 0; i < rest.supernodes.size(); ++i) {
    const Supernode& s = rest.supernodes[i];
    for (uint32_t c = 0; c < s.num_columns; ++c) {
      CHECK(rest.supernode_of[s.first_column + c] == i);
      entries += s.num_columns - c + s.num_rows;
    }
  }
  CHECK(rest.factor_nonzeros == entries);
}

TEST_CASE("The stiffness in the factor resists no translation, and all else") {
  const RestData rest = RestOf(plush::test::TetBox(2, 2, 2, 0.1, 0.08), {}, 0.1);
  const Eigen::Index n = static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd stiffness = Product(rest);
  for (Eigen::Index i = 0; i < n; ++i) stiffness(i, i) -= rest.masses[static_cast<size_t>(i)];
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(stiffness).eigenvalues();
  CHECK(std::abs(eigenvalues[0]) < 1e-5 * eigenvalues[n - 1]);
  CHECK(eigenvalues[1] > 1e-3 * eigenvalues[n - 1]);
}

TEST_CASE("A linear field passes the patch test: inner nodes feel no force") {
  const RestData rest = RestOf(plush::test::TetBox(4, 4, 4, 0.1, 0.08), {}, 0.1);
  const Eigen::Index n = static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd stiffness = Product(rest);
  for (Eigen::Index i = 0; i < n; ++i) stiffness(i, i) -= rest.masses[static_cast<size_t>(i)];
  Eigen::VectorXd field(n);
  std::vector<bool> inner(rest.nodes.size());
  for (size_t i = 0; i < rest.nodes.size(); ++i) {
    const auto& x = rest.nodes[i];
    field[static_cast<Eigen::Index>(i)] = 0.3 * x.x - 0.7 * x.y + 0.2 * x.z + 1.0;
    const auto is_inner = [](float v) { return v > 0.05f && v < 0.35f; };
    inner[i] = is_inner(x.x) && is_inner(x.y) && is_inner(x.z);
  }
  const Eigen::VectorXd force = stiffness * field;
  for (size_t i = 0; i < rest.nodes.size(); ++i) {
    if (!inner[i]) continue;
    CHECK(std::abs(force[static_cast<Eigen::Index>(i)]) < 1e-4 * force.cwiseAbs().maxCoeff());
  }
  CHECK(std::count(inner.begin(), inner.end(), true) == 27);
}

}  // namespace rest_factor_test
