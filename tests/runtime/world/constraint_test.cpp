// SPDX-License-Identifier: MIT
// Constraints against a dense step of backward Euler with multipliers, in double precision; what
// they hold, push and cost, with both solvers.
#include "reference/elastic_body.h"
#include "runtime/world/constraint_scene.h"
#include "runtime/world/heap_counter.h"
#include "runtime/world/plane_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr double kGravity = double(-9.81f);
constexpr Vec4 kInside[3] = {
    {0.4f, 0.3f, 0.2f, 0.1f}, {0.1f, 0.2f, 0.1f, 0.6f}, {0.1f, 0.6f, 0.2f, 0.1f}};
const Vec3 kTilted = {0.6f, 0.3f, -0.4f};

using Kind = ConstraintKind;

ShapeAsset Bar(double young = 1e5) {
  return ShapeAsset(TetBox(4, 1, 1, 0.1, 0.0, 1), {young, 0.3, 1000.0}, double(kDt));
}

double SizeOf(const ShapeAsset& shape) {
  const Points rest = ToEigen(shape.rest());
  return (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm();
}

BodySolver SolverOf(bool is_implicit, bool is_exact) {
  if (!is_exact) return is_implicit ? ImplicitSolver() : SplittingSolver();
  if (!is_implicit) return SplittingSolver({.outer_iterations = 64});
  return ImplicitSolver({.newton_iterations = 40,
                         .linear_iterations = 400,
                         .newton_tolerance = 1e-6f,
                         .linear_tolerance = 1e-6f});
}

// Backward Euler of a body whose nodes obey C x = t, by Newton's method on the KKT conditions. The
// Hessian comes from differences of the gradient.
class KktEuler {
 public:
  KktEuler(const ShapeAsset& shape, Eigen::MatrixXd rows)
      : body_(shape.asset()), C_(std::move(rows)), x_(body_.rest), v_(Points::Zero(3, x_.cols())) {}

  const Points& x() const { return x_; }
  /// The constraints' forces on the nodes [N].
  const Points& forces() const { return forces_; }

  void Step(const Eigen::VectorXd& t) {
    const double dt = double(kDt);
    const Points start = x_;
    predicted_ = x_ + dt * v_;
    predicted_.row(1).array() += dt * dt * kGravity;
    const Eigen::Index n = x_.size(), m = C_.rows();
    for (int iteration = 0; iteration < 30; ++iteration) {
      Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + m, n + m);
      K.topLeftCorner(n, n) = Hessian();
      K.topRightCorner(n, m) = C_.transpose();
      K.bottomLeftCorner(m, n) = C_;
      Eigen::VectorXd b(n + m);
      b << -Gradient(x_), t - C_ * x_.reshaped();
      const Eigen::VectorXd d = K.completeOrthogonalDecomposition().solve(b);
      x_.reshaped() += d.head(n);
      forces_ = (-C_.transpose() * d.tail(m)).reshaped(3, x_.cols());
      if (d.head(n).norm() < 1e-11) break;
    }
    v_ = (x_ - start) / dt;
  }

 private:
  Eigen::VectorXd Gradient(const Points& x) const {
    Points gradient;
    reference::EnergyOf(body_, {}, x, &gradient);
    const double inertia = 1.0 / (double(kDt) * double(kDt));
    gradient += inertia * (x - predicted_) * body_.masses.asDiagonal();
    return gradient.reshaped();
  }
  Eigen::MatrixXd Hessian() const {
    constexpr double kStep = 1e-6;
    Eigen::MatrixXd H(x_.size(), x_.size());
    for (Eigen::Index k = 0; k < x_.size(); ++k) {
      Points after = x_, before = x_;
      after(k) += kStep;
      before(k) -= kStep;
      H.col(k) = (Gradient(after) - Gradient(before)) / (2.0 * kStep);
    }
    return 0.5 * (H + H.transpose());
  }

  reference::ElasticBody body_;
  Eigen::MatrixXd C_;
  Points x_, v_, predicted_, forces_;
};

// Constraints of a body: the first one's target moves.
struct Held {
  std::vector<ConstraintDesc> descs;
  std::vector<ConstraintId> ids;
  Vec3 start;

  void AddTo(World* world) {
    start = descs[0].target;
    for (const ConstraintDesc& desc : descs) ids.push_back(AddConstraint(world, desc));
  }
  void Move(World* world, int step, float far) {
    const float t = 0.05f * static_cast<float>(step + 1);
    descs[0].target = {start.x + far * std::sin(t), start.y + far * t,
                       start.z - far * std::sin(2.0f * t)};
    REQUIRE(world->MoveConstraint(ids[0], descs[0].target).ok());
  }
  double Farthest(const Points& x) const {
    double farthest = 0.0;
    for (const ConstraintDesc& desc : descs) {
      farthest = std::max(farthest, DistanceOf(desc, x).norm());
    }
    return farthest;
  }
};

enum class Set { kPendulum, kMixed, kOneTet };

Held MakeSet(Set set, const ShapeAsset& shape, BodyId body, float scale = 1.0f) {
  const size_t last = shape.simulation().tets.size() - 1;
  const auto at = [&](size_t tet, int inside, Kind kind, const Vec3& direction) {
    return ConstraintAt(shape, body, tet, kInside[inside], kind, direction, scale);
  };
  Held held;
  held.descs = {at(0, 0, Kind::kPoint, {})};
  if (set == Set::kMixed) {
    held.descs.push_back(at(last, 1, Kind::kLine, kTilted));
    held.descs.push_back(at(last / 2, 2, Kind::kPlane, kTilted));
    // A single node on a vertical line.
    ConstraintDesc node = at(last / 2, 0, Kind::kLine, {0.0f, 2.0f, 0.0f});
    node.weights = {1.0f, 0.0f, 0.0f, 0.0f};
    node.target = ToVec3(double(scale) * ToEigen(shape.rest()).col(node.nodes[0]));
    held.descs.push_back(node);
  }
  if (set == Set::kOneTet) {
    held.descs.push_back(at(0, 1, Kind::kLine, {1.0f, 0.0f, 0.0f}));
    held.descs.push_back(at(0, 2, Kind::kPlane, {0.0f, 1.0f, 0.0f}));
    held.descs.push_back(held.descs[1]);
    held.descs.push_back(held.descs[2]);
  }
  return held;
}

struct Errors {
  double way = 0.0, force = 0.0;
};

Errors CompareWithKkt(Set set, const BodySolver& solver) {
  const ShapeAsset shape = Bar();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  Held held = MakeSet(set, shape, id);
  held.AddTo(&world);
  const auto num_nodes = static_cast<Eigen::Index>(shape.num_nodes());
  std::vector<Eigen::MatrixXd> rows;
  Eigen::MatrixXd C(0, 3 * num_nodes);
  for (const ConstraintDesc& desc : held.descs) {
    rows.push_back(RowsOf(desc, num_nodes));
    const Eigen::MatrixXd before = C;
    C.resize(before.rows() + rows.back().rows(), C.cols());
    C << before, rows.back();
  }
  KktEuler euler(shape, C);
  const Points rest = ToEigen(shape.rest());
  double away = 0.0, moved = 0.0, wrong = 0.0, force = 0.0;
  for (int step = 0; step < 50; ++step) {
    held.Move(&world, step, 0.02f);
    Eigen::VectorXd t(C.rows());
    Eigen::Index next = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      // The rows of a point that lies at the target: their weights sum to 1 up to rounding.
      for (Eigen::Index r = 0; r < rows[i].rows(); ++r) {
        Eigen::Vector3d direction = Eigen::Vector3d::Zero();
        for (Eigen::Index k = 0; k < num_nodes; ++k) {
          direction += rows[i].block<1, 3>(r, 3 * k).transpose();
        }
        t[next++] = direction.dot(ToEigen(held.descs[i].target));
      }
    }
    euler.Step(t);
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (const ConstraintId one : held.ids) sum += ForceOf(world, one);
    const Eigen::Vector3d right = euler.forces().rowwise().sum();
    away = std::max(away, (x - euler.x()).colwise().norm().maxCoeff());
    moved = std::max(moved, (euler.x() - rest).colwise().norm().maxCoeff());
    wrong += (sum - right).squaredNorm();
    force += right.squaredNorm();
  }
  return {away / moved, std::sqrt(wrong / force)};
}

}  // namespace

TEST_CASE("Held bodies move as backward Euler with multipliers does") {
  for (const Set set : {Set::kPendulum, Set::kMixed, Set::kOneTet}) {
    for (const bool is_implicit : {false, true}) {
      for (const bool is_exact : {false, true}) {
        const Errors errors = CompareWithKkt(set, SolverOf(is_implicit, is_exact));
        std::printf("constraints: set %d, %s %s: error of the way %.1e, of the force %.1e\n",
                    static_cast<int>(set), is_exact ? "converged" : "default",
                    is_implicit ? "implicit" : "splitting", errors.way, errors.force);
        CAPTURE(static_cast<int>(set), is_implicit, is_exact);
        CHECK(errors.way < (is_exact ? 1e-5 : is_implicit ? 0.01 : 0.08));
        CHECK(errors.force < (is_exact ? 1e-4 : is_implicit ? 0.02 : 0.12));
      }
    }
  }
}

TEST_CASE("Constraints hold at the end of every step") {
  const ShapeAsset shape = Bar();
  const auto method = GENERATE(LinearMethod::kConjugateGradients, LinearMethod::kMinimumResiduals);
  const auto preconditioner =
      GENERATE(Preconditioner::kFactor, Preconditioner::kJacobi, Preconditioner::kNone);
  const bool is_implicit = GENERATE(false, true);
  if (!is_implicit &&
      (method != LinearMethod::kConjugateGradients || preconditioner != Preconditioner::kFactor)) {
    return;
  }
  const BodySolver solver =
      is_implicit ? ImplicitSolver({.preconditioner = preconditioner, .linear_method = method})
                  : SplittingSolver();
  for (const Set set : {Set::kPendulum, Set::kMixed, Set::kOneTet}) {
    for (const float scale : {1.0f, 2.5f}) {
      for (const bool has_pins : {false, true}) {
        CAPTURE(is_implicit, static_cast<int>(method), static_cast<int>(preconditioner),
                static_cast<int>(set), scale, has_pins);
        World world;
        const std::vector<uint32_t> pins = {static_cast<uint32_t>(shape.num_nodes() - 1)};
        BodyDesc desc = {.scale = scale, .solver = &solver};
        if (has_pins) desc.pinned_nodes = pins;
        const BodyId id = AddBody(&world, shape.asset(), desc);
        Held held = MakeSet(set, shape, id, scale);
        held.AddTo(&world);
        double farthest = 0.0;
        for (int step = 0; step < 200; ++step) {
          held.Move(&world, step, has_pins ? 0.002f : 0.02f);
          REQUIRE(StepWorld(&world, kDt) == kStepOk);
          const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
          farthest = std::max(farthest, held.Farthest(x));
        }
        CHECK(farthest < 1e-6 * SizeOf(shape) * double(scale));
      }
    }
  }
}

TEST_CASE("A body on lines slides without friction, as backward Euler lets it") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1, 0.0, 1), {1e5, 0.3, 1000.0}, double(kDt));
  const bool is_implicit = GENERATE(false, true);
  CAPTURE(is_implicit);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  const Points rest = ToEigen(shape.rest());
  const Vec3 line = {0.8f, -0.6f, 0.0f};
  std::vector<ConstraintId> ids;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    ids.push_back(AddConstraint(&world, {.body = id,
                                         .nodes = {i, i, i, i},
                                         .kind = Kind::kLine,
                                         .direction = line,
                                         .target = ToVec3(rest.col(i))}));
  }
  const double along = -0.6 * kGravity, dt = double(kDt);
  const double mass = MomentsOf(world, id).mass;
  WorldMeasures before = MeasuresOf(world);
  for (int step = 1; step <= 100; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    const double way = along * dt * dt * step * (step + 1) / 2.0;
    CHECK((x - (rest.colwise() + way * ToEigen(line))).colwise().norm().maxCoeff() <
          1e-4 * way + 1e-6);
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    for (const ConstraintId one : ids) force += ForceOf(world, one);
    const Eigen::Vector3d weight(0.0, mass * kGravity, 0.0);
    const Eigen::Vector3d right = weight.dot(ToEigen(line)) * ToEigen(line) - weight;
    CHECK((force - right).norm() < 1e-3 * weight.norm());
    // Each step loses m (a dt)^2 / 2 of the energy, whatever the speed.
    const WorldMeasures after = MeasuresOf(world);
    const double gained = after.kinetic_j + after.gravity_j - before.kinetic_j - before.gravity_j;
    const double lost = -0.5 * mass * along * along * dt * dt;
    CHECK(std::fabs(gained - lost) < 1e-4 * (after.kinetic_j + std::fabs(lost)));
    CHECK(after.elastic_j < 1e-6 * after.kinetic_j + 1e-8);
    before = after;
  }
}

TEST_CASE("The forces of constraints carry a body at rest") {
  const ShapeAsset shape = Bar(1e6);
  const bool is_implicit = GENERATE(false, true);
  const float scale = GENERATE(1.0f, 0.5f);
  CAPTURE(is_implicit, scale);
  const BodySolver solver =
      is_implicit ? ImplicitSolver({.newton_iterations = 4}) : SplittingSolver();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.scale = scale, .solver = &solver});
  const size_t last = shape.simulation().tets.size() - 1;
  std::vector<ConstraintId> ids;
  const auto add = [&](size_t tet, int inside, Kind kind, const Vec3& direction) {
    const ConstraintDesc desc =
        ConstraintAt(shape, id, tet, kInside[inside], kind, direction, scale);
    ids.push_back(AddConstraint(&world, desc));
  };
  add(0, 0, Kind::kPoint, {});
  add(last, 1, Kind::kLine, {1.0f, 0.0f, 0.0f});
  add(last / 2, 2, Kind::kPlane, {0.0f, 1.0f, 0.0f});
  StepToRest(&world, id, shape.num_nodes(), kDt, 600);
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  for (const ConstraintId one : ids) force += ForceOf(world, one);
  const double weight = -MomentsOf(world, id).mass * kGravity;
  std::printf("constraints at rest: %.4f of the weight\n", force.y() / weight);
  CHECK((force - Eigen::Vector3d(0.0, weight, 0.0)).norm() < 0.01 * weight);
  // A point on a plane, or on a line, feels nothing along it.
  CHECK(std::fabs(ForceOf(world, ids[1]).x()) < 1e-6 * weight);
  CHECK(std::hypot(ForceOf(world, ids[2]).x(), ForceOf(world, ids[2]).z()) < 1e-6 * weight);
}

TEST_CASE("Random bodies that constraints hold gain no energy") {
  const bool is_implicit = GENERATE(false, true);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  double worst = 0.0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const uint32_t x = 2 + random.Below(3), y = 1 + random.Below(2), z = 1 + random.Below(3);
    const double young = seed % 3 == 0 ? 2e4 : seed % 3 == 1 ? 2e5 : 2e6;
    const ShapeAsset shape(TetBox(x, y, z, 0.1, 0.06, seed + 1),
                           {young, seed % 2 == 0 ? 0.3 : 0.44, 1000.0}, double(kDt));
    World world;
    const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
    const uint32_t count = 1 + random.Below(6);
    for (uint32_t k = 0; k < count; ++k) {
      const auto num_tets = static_cast<uint32_t>(shape.simulation().tets.size());
      AddConstraint(&world,
                    ConstraintAt(shape, id, random.Below(num_tets), kInside[k % 3],
                                 static_cast<Kind>(random.Below(3)), ToVec3(random.Direction())));
    }
    std::vector<Vec3> v(shape.num_nodes());
    for (Vec3& one : v) one = ToVec3(random.Vector(1.0));
    REQUIRE(world.SetNodeVelocities(id, v).ok());
    double start = 0.0, scale = 0.0;
    for (int step = 0; step < 200; ++step) {
      StepWorld(&world, kDt);
      const WorldMeasures m = MeasuresOf(world);
      const double energy = m.kinetic_j + m.elastic_j + m.gravity_j;
      if (step == 4) start = energy;
      if (step == 4) scale = m.kinetic_j + m.elastic_j + 0.1 * m.mass_kg * 9.81;
      if (step > 4) worst = std::max(worst, (energy - start) / scale);
    }
  }
  std::printf("held bodies, %s: energy gained %.4f\n", is_implicit ? "implicit" : "splitting",
              worst);
  CHECK(worst < 0.03);
}

TEST_CASE("Sets of constraints with too many, or contradictions, stay finite") {
  const ShapeAsset shape = Bar();
  const bool is_implicit = GENERATE(false, true);
  CAPTURE(is_implicit);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  Random random(7);
  const ConstraintDesc first = ConstraintAt(shape, id, 0, kInside[0], Kind::kPoint);
  AddConstraint(&world, first);
  ConstraintDesc other = first;
  other.target.y += 0.05f;
  const ConstraintId loser = AddConstraint(&world, other);
  for (int k = 0; k < 20; ++k) {  // more than a tet has coordinates
    double w[4], sum = 0.0;
    for (double& weight : w) sum += weight = random.Uniform(0.0, 1.0);
    const Vec4 weights = {static_cast<float>(w[0] / sum), static_cast<float>(w[1] / sum),
                          static_cast<float>(w[2] / sum), static_cast<float>(w[3] / sum)};
    ConstraintDesc desc = ConstraintAt(
        shape, id, 0, weights, k % 2 == 0 ? Kind::kPoint : Kind::kLine, ToVec3(random.Direction()));
    desc.target.x += 0.01f * static_cast<float>(random.Uniform(-1.0, 1.0));
    AddConstraint(&world, desc);
  }
  for (int step = 0; step < 300; ++step) {
    StepWorld(&world, kDt);
    REQUIRE(!world.IsFrozen(id));
  }
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  CHECK(DistanceOf(first, x).norm() < 1e-6 * SizeOf(shape));
  CHECK(ForceOf(world, loser).norm() == 0.0);
  CHECK(ForceOf(world, loser).allFinite());
}

TEST_CASE("Constraints of pinned points do nothing") {
  const ShapeAsset shape = Bar();
  const bool is_implicit = GENERATE(false, true);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  World with, without;
  const Tet& tet = shape.simulation().tets[0];
  const std::vector<uint32_t> pins = {tet.a, tet.b, tet.c, tet.d};
  const BodyDesc desc = {.pinned_nodes = pins, .solver = &solver};
  const BodyId id = AddBody(&with, shape.asset(), desc);
  AddBody(&without, shape.asset(), desc);
  ConstraintDesc at = ConstraintAt(shape, id, 0, kInside[0], Kind::kPoint);
  at.target.y += 0.3f;
  const ConstraintId constraint = AddConstraint(&with, at);
  for (int step = 0; step < 50; ++step) {
    StepWorld(&with, kDt);
    StepWorld(&without, kDt);
  }
  const Points a = ToEigen(PositionsOf(with, id, shape.num_nodes()));
  const Points b = ToEigen(PositionsOf(without, id, shape.num_nodes()));
  CHECK((a - b).cwiseAbs().maxCoeff() < 1e-3);
  CHECK(ForceOf(with, constraint).norm() == 0.0);
}

TEST_CASE("A constraint closes its share of a gap in each step") {
  const ShapeAsset shape = Bar();
  const bool is_implicit = GENERATE(false, true);
  const float share = GENERATE(0.25f, 1.0f);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  ConstraintDesc desc = ConstraintAt(shape, id, 0, kInside[0], Kind::kPlane, kTilted);
  desc.target.x += 0.02f;
  desc.correction = share;
  AddConstraint(&world, desc);
  Points x = ToEigen(shape.rest());
  for (int step = 0; step < 12; ++step) {
    const Eigen::Vector3d before = DistanceOf(desc, x);
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    CHECK((DistanceOf(desc, x) - (1.0 - double(share)) * before).norm() < 1e-6 * SizeOf(shape));
  }
}

TEST_CASE("Bodies of a crowd hold as a body alone does") {
  const ShapeAsset shape = Bar();
  World crowd, single;
  std::vector<BodyId> ids;
  std::vector<Held> held;
  for (int i = 0; i < 16; ++i) {
    ids.push_back(AddBody(&crowd, shape.asset()));
    held.push_back(MakeSet(Set::kMixed, shape, ids.back()));
    held.back().AddTo(&crowd);
  }
  const BodyId alone = AddBody(&single, shape.asset(), {.report_reactions = true});
  Held own = MakeSet(Set::kMixed, shape, alone);
  own.AddTo(&single);
  for (int step = 0; step < 100; ++step) {
    own.Move(&single, step, 0.01f);
    for (Held& one : held) one.Move(&crowd, step, 0.01f);
    REQUIRE(StepWorld(&single, kDt) == kStepOk);
    REQUIRE(StepWorld(&crowd, kDt) == kStepOk);
    const Points right = ToEigen(PositionsOf(single, alone, shape.num_nodes()));
    for (size_t i = 0; i < ids.size(); ++i) {
      const Points x = ToEigen(PositionsOf(crowd, ids[i], shape.num_nodes()));
      REQUIRE((x - right).cwiseAbs().maxCoeff() < 1e-4);
      REQUIRE(held[i].Farthest(x) < 1e-6 * SizeOf(shape));
    }
  }
}

TEST_CASE("A body that a constraint drags over a floor obeys both") {
  const bool is_implicit = GENERATE(false, true);
  CAPTURE(is_implicit);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  BoxOnPlane scene({}, {}, {.pose = {.position = {0.0f, 0.005f, 0.0f}}, .solver = &solver});
  scene.Step(50);
  const Points start = ToEigen(scene.positions());
  Eigen::Index top = 0;
  for (Eigen::Index i = 0; i < start.cols(); ++i) {
    if (start(1, i) + 0.1 * start(0, i) > start(1, top) + 0.1 * start(0, top)) top = i;
  }
  const auto node = static_cast<uint32_t>(top);
  ConstraintDesc desc = {
      .body = scene.body, .nodes = {node, node, node, node}, .target = ToVec3(start.col(top))};
  const ConstraintId id = AddConstraint(&scene.world, desc);
  double lowest = 0.0;
  for (int step = 0; step < 200; ++step) {
    desc.target.x += 0.001f;
    if (step < 20) desc.target.y -= 0.001f;
    REQUIRE(scene.world.MoveConstraint(id, desc.target).ok());
    scene.Step(1);
    const Points x = ToEigen(scene.positions());
    CHECK(DistanceOf(desc, x).norm() < 1e-6 * SizeOf(scene.shape));
    lowest = std::min(lowest, scene.Gap());
  }
  std::printf("dragged over a floor, %s: lowest point %.1e m, force %.3f %.3f N\n",
              is_implicit ? "implicit" : "splitting", lowest, ForceOf(scene.world, id).x(),
              ForceOf(scene.world, id).y());
  CHECK(lowest > -1e-3);
  CHECK(ForceOf(scene.world, id).x() > 0.0);
  CHECK(ForceOf(scene.world, id).y() < 0.0);
}

TEST_CASE("A held body that another one lies on obeys both") {
  const bool is_implicit = GENERATE(false, true);
  CAPTURE(is_implicit);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  const ShapeAsset shape =
      ShapeAsset::Baked(TetBox(4, 1, 2, 0.1, 0.0, 1), {3e5, 0.3, 1000.0}, double(kDt));
  World world({.max_pairs = 4});
  BodyDesc desc = {.solver = &solver};
  desc.material.damping = 0.05f;
  const BodyId id = AddBody(&world, shape.asset(), desc);
  desc.pose.position = {0.0f, 0.105f, 0.0f};
  const BodyId above = AddBody(&world, shape.asset(), desc);
  const size_t last = shape.simulation().tets.size() - 1;
  std::vector<ConstraintDesc> descs = {ConstraintAt(shape, id, 0, kInside[0], Kind::kPoint),
                                       ConstraintAt(shape, id, last, kInside[0], Kind::kPoint),
                                       ConstraintAt(shape, id, last / 2, kInside[1], Kind::kPoint),
                                       ConstraintAt(shape, id, last / 2, kInside[2], Kind::kPlane)};
  std::vector<ConstraintId> ids;
  for (const ConstraintDesc& one : descs) ids.push_back(AddConstraint(&world, one));
  for (int step = 0; step < 400; ++step) {
    StepWorld(&world, kDt);
    const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    for (const ConstraintDesc& one : descs) {
      REQUIRE(DistanceOf(one, x).norm() < 1e-6 * SizeOf(shape));
    }
  }
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  for (const ConstraintId one : ids) force += ForceOf(world, one);
  const double weight = -(MomentsOf(world, id).mass + MomentsOf(world, above).mass) * kGravity;
  std::printf("one body on another, held one: %.4f of their weight, speed %.1e m/s\n",
              force.y() / weight, double(world.stats().max_speed));
  CHECK(std::fabs(force.y() - weight) < 0.01 * weight);
}

TEST_CASE("Steps with constraints allocate nothing") {
  const ShapeAsset shape = Bar();
  const bool is_implicit = GENERATE(false, true);
  const BodySolver solver = is_implicit ? ImplicitSolver() : SplittingSolver();
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  Held held = MakeSet(Set::kMixed, shape, id);
  held.AddTo(&world);
  for (int step = 0; step < 5; ++step) StepWorld(&world, kDt);
  const uint64_t before = HeapAllocations();
  for (int step = 0; step < 20; ++step) {
    held.Move(&world, step, 0.01f);
    StepWorld(&world, kDt);
    if (step == 10) REQUIRE(world.RemoveConstraint(held.ids[2]).ok());
  }
  CHECK(HeapAllocations() == before);
}
