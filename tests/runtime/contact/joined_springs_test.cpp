// SPDX-License-Identifier: MIT
// What one solve of the springs of several bodies leaves of their law, and whom it moves.
#include "contact/joined_springs.h"

#include "contact/attached_points.h"
#include "contact/contact_couplings.h"
#include "runtime/tet_fixtures.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace joined_springs_test {

constexpr uint32_t kNodes = 40, kSlots = 7;

Vec3 AnyVector(double size, Random* random) {
  return {static_cast<float>(random->Uniform(-size, size)),
          static_cast<float>(random->Uniform(-size, size)),
          static_cast<float>(random->Uniform(-size, size))};
}

EmbeddedPoint AnyPoint(Random* random) {
  EmbeddedPoint point = {.weights = {0.4f, 0.3f, 0.2f, 0.1f}};
  for (uint32_t& node : point.nodes) node = random->Below(kNodes);
  return point;
}

// A body of which only its answers are known. They are random.
struct Body {
  AttachedPoints points;
  ContactState state;
  FreeTurn turn;
  ContactSolve solve;
  std::vector<NodeVec> nodes, z;

  void Reserve(uint32_t most) {
    REQUIRE(points.Reserve(DefaultAllocator(), most, kNodes));
    REQUIRE(state.couplings.Allocate(DefaultAllocator(), kNodes, kSlots));
    REQUIRE(state.moved.Allocate(DefaultAllocator(), 3 * size_t{CouplingStride(kSlots)}));
    points.contacts = &state;
  }

  void Fill(bool turns, Random* random) {
    state.scale = points.scale = static_cast<float>(random->Uniform(0.5, 2.0));
    state.attached = &points;
    state.in_solve = true;
    for (uint32_t slot = 0; slot < kSlots; ++slot) state.couplings.Add(AnyPoint(random));
    state.couplings.stride = CouplingStride(kSlots);
    std::fill(state.moved.begin(), state.moved.end(), 0.0f);
    for (float& number : points.columns) number = static_cast<float>(random->Uniform(0.1, 1.0));
    points.FindToContacts(state.couplings);
    const Eigen::Index count = points.num_points;
    const Eigen::MatrixXd roots =
        Eigen::MatrixXd::NullaryExpr(count, count, [&] { return random->Uniform(-1.0, 1.0); });
    const Eigen::MatrixXd couplings = roots * roots.transpose();
    for (uint32_t i = 0; i < points.num_points; ++i) {
      for (uint32_t j = 0; j < points.num_points; ++j)
        points.couplings[points.points.size() * i + j] = static_cast<float>(couplings(i, j));
    }
    for (AttachedPoint& at : points.Current()) at.moved = AnyVector(0.1, random);
    solve.state = &state;
    solve.problem.accuracy = 1.0e-6f;
    if (!turns) return;
    nodes.resize(kNodes), z.resize(kNodes);
    for (uint32_t i = 0; i < kNodes; ++i) {
      nodes[i] = AnyVector(1.0, random);
      z[i] = AnyVector(0.2, random);
    }
    turn.acts = true;
    turn.nodes = nodes, turn.z = z;
    const Vec3 off = AnyVector(0.5, random);
    turn.yielding = {{1.5f, off.x, off.y}, {off.x, 2.0f, off.z}, {off.y, off.z, 2.5f}};
    turn.kept = {{0.5f, 0.0f, 0.0f}, {0.0f, 0.4f, 0.0f}, {0.0f, 0.0f, 0.3f}};
    state.turn = &turn;
    points.AnswerWithTurn();
  }
};

// Bodies in a row, each joined to the one before, some to targets, too.
struct Chain {
  std::vector<Body> bodies;
  std::vector<AttachmentRow> rows;
  Random random;

  explicit Chain(uint32_t seed) : bodies(2 + seed % 4), random(seed) {
    const auto count = static_cast<uint32_t>(bodies.size());
    rows.resize(size_t{3} * count);
    for (Body& body : bodies) body.Reserve(static_cast<uint32_t>(rows.size()));
    for (uint32_t r = 0; r < rows.size(); ++r) {
      AttachmentRow& row = rows[r];
      row.acts = true;
      row.most = std::numeric_limits<float>::infinity();
      row.gain = static_cast<float>(std::exp(random.Uniform(std::log(0.01), std::log(1.0e3))));
      row.drag = 0.1f * row.gain;
      row.start = AnyVector(1.0, &random);
      row.way = AnyVector(1.0, &random);
      row.impulse = AnyVector(0.1, &random);
      Join(r, 0, r % count);
      if (r % count > 0) Join(r, 1, r % count - 1);
    }
    for (uint32_t i = 0; i < count; ++i) {
      bodies[i].points.rows = rows;
      bodies[i].Fill((seed + i) % 2 == 0, &random);
      if (i > 0) bodies[i - 1].solve.next = &bodies[i].solve;
    }
  }

  void Join(uint32_t r, uint32_t side, uint32_t body) {
    AttachedPoints& of = bodies[body].points;
    AttachedPoint& at = of.points[of.num_points];
    at.row = r;
    at.sign = side == 0 ? 1.0f : -1.0f;
    at.point = AnyPoint(&random);
    rows[r].sides[side] = {&of, of.num_points++};
  }

  // The largest way that a spring still has to go [m].
  double Left() const {
    double left = 0.0;
    for (const AttachmentRow& row : rows) {
      const Vec3 missing = row.Missing(bodies[0].points.MovedOf(row));
      left = std::fmax(left, double(Length(missing)) / double(row.gain));
    }
    return left;
  }
};

TEST_CASE("One solve of the springs of several bodies meets their law") {
  const uint32_t seed = GENERATE(range(1u, 101u));
  CAPTURE(seed);
  Chain chain(seed);
  const double before = chain.Left();
  SolveSprings(&chain.bodies[0].solve);
  CHECK(chain.Left() < 1.0e-4 * before);
}

TEST_CASE("A solve of springs moves what their impulses move") {
  const uint32_t seed = GENERATE(range(1u, 51u));
  CAPTURE(seed);
  Chain chain(seed);
  const std::vector<AttachmentRow> before = chain.rows;
  std::vector<std::vector<Vec3>> moved(chain.bodies.size());
  for (size_t b = 0; b < moved.size(); ++b) {
    for (const AttachedPoint& at : chain.bodies[b].points.Current()) moved[b].push_back(at.moved);
  }
  SolveSprings(&chain.bodies[0].solve);
  for (size_t b = 0; b < moved.size(); ++b) {
    Body& body = chain.bodies[b];
    const AttachedPoints& points = body.points;
    std::vector<Vec3> by_points(points.num_points), by_slots(kSlots);
    Vec3 moment;
    for (uint32_t i = 0; i < points.num_points; ++i) {
      const AttachedPoint& at = points.points[i];
      const Vec3 own = points.Own(at, chain.rows[at.row].impulse - before[at.row].impulse);
      for (uint32_t j = 0; j < points.num_points; ++j)
        by_points[j] += own * points.couplings[points.points.size() * i + j];
      for (uint32_t s = 0; s < kSlots; ++s) by_slots[s] += own * points.ToContacts(i)[s];
      if (body.state.turn != nullptr) moment += Cross(TurnedPoint(body.turn, at.point).arm, own);
    }
    for (uint32_t i = 0; i < points.num_points; ++i) {
      const Vec3 found = points.points[i].moved - moved[b][i];
      CHECK(Length(found - by_points[i]) < 1.0e-4f * (1.0f + Length(found)));
    }
    for (uint32_t s = 0; s < kSlots; ++s) {
      const Vec3 found = Moved(&body.state).At(s);
      CHECK(Length(found - by_slots[s]) < 1.0e-4f * (1.0f + Length(found)));
    }
    CHECK(Length(body.turn.moment - moment) < 1.0e-4f * (1.0f + Length(moment)));
  }
}

TEST_CASE("A body that takes no part in a solve of springs stays") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Chain chain(4 * seed + 1);  // of three bodies
    Body& last = chain.bodies[2];
    last.state.in_solve = false;
    chain.bodies[1].solve.next = nullptr;
    std::vector<Vec3> moved;
    for (const AttachedPoint& at : last.points.Current()) moved.push_back(at.moved);
    SolveSprings(&chain.bodies[0].solve);
    for (uint32_t i = 0; i < moved.size(); ++i)
      CHECK(IsZero(last.points.points[i].moved - moved[i]));
    CHECK(IsZero(last.turn.moment));
    CHECK(chain.Left() < 1.0e-4);
  }
}

TEST_CASE("A solve of springs changes nothing if one would exceed its largest force") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Chain chain(seed), whole(seed);
    SolveSprings(&whole.bodies[0].solve);
    const uint32_t r = chain.random.Below(static_cast<uint32_t>(chain.rows.size()));
    chain.rows[r].most = 0.9f * Length(whole.rows[r].impulse);
    const std::vector<AttachmentRow> before = chain.rows;
    SolveSprings(&chain.bodies[0].solve);
    for (size_t i = 0; i < before.size(); ++i)
      CHECK(IsZero(chain.rows[i].impulse - before[i].impulse));
    // Those that it does not solve, neither.
    chain = Chain(seed);
    for (AttachmentRow& row : chain.rows) row.rest_length = 0.1f;
    SolveSprings(&chain.bodies[0].solve);
    for (size_t i = 0; i < before.size(); ++i)
      CHECK(IsZero(chain.rows[i].impulse - before[i].impulse));
  }
}

}  // namespace joined_springs_test
