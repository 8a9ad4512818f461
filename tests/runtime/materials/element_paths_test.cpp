// SPDX-License-Identifier: MIT
// Forces of one tet: whether they have a potential, and where they lead an inverted tet.
#include "materials/rotation_method.h"
#include "runtime/materials/material_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace element_paths_test {

const Matrix kUnitTet = IdentityMatrix<double>();  // Dm^-1 of the unit corner
const LameConstants<double> kLame = LameOf(1000.0, 0.35);

using Force = std::function<Vector3<double>(const Matrix&)>;

// Force per rest volume on node b; a, c and d are held: minus column c0 of P.
Force ForceOf(RotationMethod method, Witness witness = kNoWitness) {
  return [=](const Matrix& F) {
    RotationState<double> state;
    state.witness = witness;
    const Matrix R = ExtractRotation<double>({method, 0.1, 3.0}, F, kUnitTet, &state);
    return -Stress(Material::kCorotated, kLame, F, R).c0;
  };
}
Force ExactDegenerateForce(Witness witness) {
  return [=](const Matrix& F) {
    RotationState<double> state;
    state.witness = witness;
    const RotationSettings<double> settings{RotationMethod::kDegenerationAware, 0.1, 3.0};
    const Matrix R = ExtractRotation(settings, F, kUnitTet, &state);
    return -DegenerateStress(Material::kCorotated, kLame, DisplacementOf(settings), F,
                             WitnessGradient(kUnitTet, witness), R)
                .c0;
  };
}

// Largest difference between the energies that a force field on node b, at (z, 0.2, x), recovers
// along x first and along z first, relative to the largest energy [Civ, A.2]. det F = z, in [low,
// 3].
double PathDifference(const Force& force, double low) {
  constexpr int kCells = 400;
  const double dx = 4.0 / kCells, dz = (3.0 - low) / kCells;
  std::vector<Vector3<double>> f((kCells + 1) * (kCells + 1));
  const auto at = [&](int i, int k) -> Vector3<double>& {
    return f[size_t(i) * (kCells + 1) + size_t(k)];
  };
  for (int i = 0; i <= kCells; ++i) {
    for (int k = 0; k <= kCells; ++k) {
      at(i, k) = force({{low + dz * k, 0.2, -2.0 + dx * i}, {0, 1, 0}, {0, 0, 1}});
    }
  }
  const auto along_x = [&](int i, int k) { return -0.5 * dx * (at(i, k).z + at(i + 1, k).z); };
  const auto along_z = [&](int i, int k) { return -0.5 * dz * (at(i, k).x + at(i, k + 1).x); };
  // From the corner (-2, 3), about the highest.
  std::vector<double> x_first(f.size()), z_first(f.size());
  const auto index = [&](int i, int k) { return size_t(i) * (kCells + 1) + size_t(k); };
  for (int i = 0; i < kCells; ++i) {
    x_first[index(i + 1, kCells)] = x_first[index(i, kCells)] + along_x(i, kCells);
  }
  for (int i = 0; i <= kCells; ++i) {
    for (int k = kCells - 1; k >= 0; --k) {
      x_first[index(i, k)] = x_first[index(i, k + 1)] - along_z(i, k);
    }
  }
  for (int k = kCells - 1; k >= 0; --k)
    z_first[index(0, k)] = z_first[index(0, k + 1)] - along_z(0, k);
  for (int k = 0; k <= kCells; ++k) {
    for (int i = 0; i < kCells; ++i) {
      z_first[index(i + 1, k)] = z_first[index(i, k)] + along_x(i, k);
    }
  }
  double worst = 0.0;
  for (size_t i = 0; i < f.size(); ++i) worst = std::max(worst, std::fabs(x_first[i] - z_first[i]));
  const auto [least, most] = std::minmax_element(x_first.begin(), x_first.end());
  return worst / (*most - *least);
}

// How an inverted tet moves by its forces without inertia, all nodes free.
struct Path {
  double worst_fall = 0.0;  ///< of node d's height over the face a, b, c below its largest so far
  double last_det = 0.0;
  double turn = 0.0;            ///< of the whole tet, at the end [rad]
  std::vector<double> heights;  ///< of node d, at the start and after each step
};

Path FollowForces(RotationMethod method, const Matrix& start, Witness witness) {
  RotationState<double> state;
  state.witness = witness;
  const RotationSettings<double> settings{method, 0.1, 3.0};
  // Dm = I: the columns of F are edges, and those of -P the forces on b, c, d. Node a gets the
  // rest.
  Matrix F = start;
  Path path;
  const auto height = [](const Matrix& m) { return Determinant(m) / Length(Cross(m.c0, m.c1)); };
  double highest = height(F);
  path.heights.push_back(highest);
  constexpr int kSteps = 20000;
  constexpr double kStep = 2e-5;  // of an energy with eigenvalues up to about 5e3
  for (int i = 0; i < kSteps; ++i) {
    const Matrix R = ExtractRotation(settings, F, kUnitTet, &state);
    const Matrix P = Stress(Material::kCorotated, kLame, F, R);
    const Vector3<double> of_a = P.c0 + P.c1 + P.c2;  // moves against the others
    F = F - (P + Matrix{of_a, of_a, of_a}) * kStep;
    path.worst_fall = std::max(path.worst_fall, highest - height(F));
    highest = std::max(highest, height(F));
    path.heights.push_back(height(F));
    if (Determinant(F) > 0.1) break;  // recovered
  }
  path.last_det = Determinant(F);
  path.turn = AngleBetween(ToEigen(InvertibleRotation(F)), Eigen::Matrix3d::Identity());
  return path;
}

TEST_CASE("Forces with polar rotations have a potential, with QR and constant stiffness none",
          "[papers]") {
  // Regular tets: z > 0.1.
  const double polar = PathDifference(ForceOf(RotationMethod::kPolar), 0.1);
  const double qr = PathDifference(ForceOf(RotationMethod::kQr), 0.1);
  CAPTURE(polar, qr);
  CHECK(polar < 1e-3);
  CHECK(qr > 0.01);
  // With inverted tets: DAPD's exact forces have a potential, the approximate ones none.
  const double exact = PathDifference(ExactDegenerateForce(2), -3.0);
  const double approximate = PathDifference(ForceOf(RotationMethod::kDegenerationAware, 2), -3.0);
  std::printf(
      "work about a closed path: polar %.1e, QR %.1e; inverted, exact %.1e, approximate %.1e\n",
      polar, qr, exact, approximate);
  CAPTURE(exact, approximate);
  CHECK(exact < 1e-3);
  CHECK(approximate > 0.01);
}

TEST_CASE("An inverted tet recovers without inverting further by DAPD, not by QR or ISVD") {
  // [Civ, Fig. 4.5]: node d has passed the face a, b, c.
  Random random(1);
  double fall_of_qr = 0.0, fall_of_isvd = 0.0, turn_of_isvd = 0.0;
  for (int i = 0; i < 30; ++i) {
    const Matrix start = {
        {1, 0, 0},
        {0, 1, 0},
        {random.Uniform(-1.5, 1.5), random.Uniform(-1.5, 1.5), random.Uniform(-2.0, -0.1)}};
    const Path aware = FollowForces(RotationMethod::kDegenerationAware, start, 8);
    CAPTURE(i, start.c2.x, start.c2.y, start.c2.z, aware.worst_fall, aware.last_det, aware.turn);
    CHECK(aware.worst_fall < 1e-9);
    CHECK(aware.last_det > 0.1);
    const Path qr = FollowForces(RotationMethod::kQr, start, 8);
    const Path isvd = FollowForces(RotationMethod::kInvertibleSvd, start, 8);
    fall_of_qr = std::max(fall_of_qr, qr.worst_fall);
    fall_of_isvd = std::max(fall_of_isvd, isvd.worst_fall);
    turn_of_isvd = std::max(turn_of_isvd, isvd.turn);
  }
  CAPTURE(fall_of_qr, fall_of_isvd, turn_of_isvd);
  CHECK(fall_of_isvd > 0.01);
  CHECK(turn_of_isvd > 1.0);
}

// [Civ, Fig. 4.5]. Polar decomposition and SVD keep an inverted tet reflected: it goes on to its
// mirrored rest shape.
TEST_CASE("Paths of an inverted tet by every rotation method", "[papers]") {
  constexpr struct {
    RotationMethod method;
    const char* name;
  } kMethods[] = {{RotationMethod::kPolar, "polar"},
                  {RotationMethod::kSvd, "SVD"},
                  {RotationMethod::kInvertibleSvd, "ISVD"},
                  {RotationMethod::kCoherentSvd, "coherent SVD"},
                  {RotationMethod::kQr, "QR"},
                  {RotationMethod::kPolarQr, "polar QR"},
                  {RotationMethod::kProject, "project"},
                  {RotationMethod::kReflect, "reflect"},
                  {RotationMethod::kDegenerationAware, "DAPD"},
                  {RotationMethod::kAnalytic, "APD"}};
  const Matrix start = {{1, 0, 0}, {0, 1, 0}, {0.4, 0.3, -0.9}};
  std::printf("%-12s | fall, end det F, turn [rad], steps | height of node d on the way\n", "");
  for (const auto& [method, name] : kMethods) {
    const Path path = FollowForces(method, start, 8);
    std::printf("%-12s | %.3f %6.3f %.2f %5zu |", name, path.worst_fall, path.last_det, path.turn,
                path.heights.size() - 1);
    for (size_t k = 0; k <= 8; ++k) {
      std::printf(" %.2f", path.heights[k * (path.heights.size() - 1) / 8]);
    }
    std::printf("\n");
    CAPTURE(name, path.worst_fall, path.last_det);
    CHECK(std::isfinite(path.last_det));
    if (method == RotationMethod::kDegenerationAware) {
      CHECK(path.worst_fall < 1e-9);
      CHECK(path.last_det > 0.1);
    } else if (method == RotationMethod::kPolar) {
      CHECK(path.worst_fall > 0.05);
    }
  }
}

}  // namespace element_paths_test
