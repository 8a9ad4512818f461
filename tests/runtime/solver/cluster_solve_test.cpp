// SPDX-License-Identifier: MIT
// The coarse level in a preconditioner: against dense matrices, and what it saves.
#include "solver/cluster_solve.h"

#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/attachments/constraint_scene.h"
#include "runtime/solver/coarse_body.h"

#include <optional>

using namespace plush;
using namespace plush::test;

namespace cluster_solve_test {

// Z: motions of all nodes by shifts and turns of clusters about their centres.
Eigen::MatrixXd MotionsOf(const CoarseBody& body, const Points& x,
                          const std::vector<ClusterSums>& sums) {
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(x.size(), static_cast<Eigen::Index>(6 * sums.size()));
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    if (body.pinned[static_cast<size_t>(i)] != 0) continue;
    const uint16_t k = body.level.clusters[static_cast<size_t>(i)];
    const Eigen::Vector3d arm = x.col(i) - ToEigen(sums[k].centre);
    for (int axis = 0; axis < 3; ++axis) {
      const Eigen::Vector3d unit = Eigen::Vector3d::Unit(axis);
      Z.block<3, 1>(3 * i, 6 * k + axis) = unit;
      Z.block<3, 1>(3 * i, 6 * k + 3 + axis) = unit.cross(arm);
    }
  }
  return Z;
}

TEST_CASE("Clusters answer impulses as the dense Z C^-1 Z^T does") {
  const uint32_t seed = GENERATE(range(1u, 6u)), count = GENERATE(1u, 4u, 9u);
  const double pinned = GENERATE(0.0, 0.2), weight = GENERATE(1.0, 0.3);
  CAPTURE(seed, count, pinned, weight);
  const CoarseBody body = CoarseBody::Random(seed, count, pinned);
  test::Random random(seed + 10);
  const Points x =
      random.Rotation() * body.model.rest + random.Vectors(body.shape.num_nodes(), 1e-3);
  RotationArray rotations(body.shape.num_blocks());
  const Eigen::MatrixXd inverse = body.Inverse(x, &rotations);
  const std::vector<NodeVec> y = body.Nodes(x);
  const std::vector<ClusterSums> sums =
      body.Factor(y, std::vector<NodeVec>(body.shape.num_nodes() + 1), &rotations);
  const ClusterSolve solve = {body.level, body.matrix, sums, y, weight};
  const Points r = body.Impulses(0.01, &random), start = body.Impulses(1.0, &random);
  std::vector<double> q(8 * sums.size());
  std::vector<NodeVec> z = ToNodeVecs(start);
  solve.FindMotions(ToNodeVecs(r), q);
  solve.AddMotions(q, z);
  const Eigen::MatrixXd Z = MotionsOf(body, x, sums);
  const Eigen::VectorXd right = weight * (Z * (inverse * (Z.transpose() * r.reshaped())));
  const Points found = ToEigen(z) - start;
  CHECK((found.reshaped() - right).norm() < 1e-4 * right.norm());
}

// To a residual of 1e-4: 0.53 to 0.78 of the iterations.
TEST_CASE("With clusters, long linear solves take less than four fifths of the iterations") {
  const double poisson = GENERATE(0.33, 0.45, 0.49);
  const float drag = GENERATE(0.0f, 10.0f);
  const auto iterations_of = [&](std::optional<uint32_t> clusters, LinearMethod method) {
    const ShapeAsset shape(TetBox(16, 3, 3, 0.05, 0.09, 3), {1.0e6, poisson, 1000.0},
                           double(kCoarseDt), clusters);
    const BodySolver solver =
        ImplicitSolver({.linear_iterations = 1000, .mass_damping = drag, .linear_method = method});
    World world;
    BodyDesc desc = {.solver = &solver};
    std::vector<uint32_t> pins;
    const std::vector<Vec3> rest = shape.rest();
    for (uint32_t i = 0; i < rest.size(); ++i) {
      if (rest[i].x < 0.01f) pins.push_back(i);
    }
    desc.pinned_nodes = pins;
    AddBody(&world, shape.asset(), desc);
    uint32_t sum = 0;
    for (int step = 0; step < 10; ++step) {
      REQUIRE(StepWorld(&world, kCoarseDt) == kStepOk);
      sum += world.stats().linear_iterations;
    }
    return sum;
  };
  for (const LinearMethod method :
       {LinearMethod::kConjugateGradients, LinearMethod::kMinimumResiduals}) {
    const uint32_t with = iterations_of(8, method), without = iterations_of(0, method);
    CAPTURE(poisson, drag, static_cast<int>(method), with, without);
    std::printf("nu %.2f, drag %.0f: %u iterations with clusters, %u without\n", poisson,
                double(drag), with, without);
    CHECK(5 * with < 4 * without);
  }
}

// What keeps clusters from moving freely does not keep them out of the preconditioner.
TEST_CASE("Eight iterations follow a swing better with clusters, whatever holds them") {
  enum class Case { kDrag, kConstraint, kModel };
  const Case which = GENERATE(Case::kDrag, Case::kConstraint, Case::kModel);
  const auto swing_of = [&](uint32_t clusters, int iterations) {
    const ShapeAsset shape(TetBox(16, 3, 3, 0.05, 0.09, 3), {1.0e6, 0.33, 1000.0},
                           double(kCoarseDt), clusters);
    ImplicitSettings settings = {.linear_iterations = iterations, .linear_tolerance = 1.0e-6f};
    if (which == Case::kDrag) settings.mass_damping = 1.0f;
    if (which == Case::kModel) settings.model = MaterialModel::kNeoHookean;
    const BodySolver solver = ImplicitSolver(settings);
    World world;
    BodyDesc desc = {.solver = &solver};
    std::vector<uint32_t> pins;
    const std::vector<Vec3> rest = shape.rest();
    for (uint32_t i = 0; i < rest.size(); ++i) {
      if (rest[i].x < 0.01f) pins.push_back(i);
    }
    if (which != Case::kConstraint) desc.pinned_nodes = pins;
    const BodyId id = AddBody(&world, shape.asset(), desc);
    if (which == Case::kConstraint) {
      AddConstraint(&world, ConstraintAt(shape, id, 0, kInside[0], ConstraintKind::kPoint));
    }
    reference::Trajectory out(ToEigen(rest));
    for (int step = 0; step < 40; ++step) {
      REQUIRE(StepWorld(&world, kCoarseDt) == kStepOk);
      out.Add(ToEigen(PositionsOf(world, id, rest.size())));
    }
    return out;
  };
  const double with = reference::TrajectoryError(swing_of(8, 8), swing_of(8, 1000));
  const double without = reference::TrajectoryError(swing_of(0, 8), swing_of(0, 1000));
  CAPTURE(static_cast<int>(which), with, without);
  std::printf("case %d: error %.4f with clusters, %.4f without\n", static_cast<int>(which), with,
              without);
  CHECK(with < 0.5 * without);
}

}  // namespace cluster_solve_test
