// SPDX-License-Identifier: MIT
// Impulses that take deep points out, or part bodies after an impact, against the dense equations
// in double precision: with those along normals only, that push and act only on contacts that move
// no farther than is asked, the displacement is the solution.
#include "contact/contact_pushes.h"

#include "runtime/contact/random_pair.h"
#include "skip.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace contact_pushes_test {

constexpr float kDepthThatCounts = 1.0e-4f;  // [m]

// What a contact asks for, and what it gets, along its normal.
struct Asked {
  double least = 0.0, moved = 0.0, impulse = 0.0;
};

// How well a displacement answers what is asked.
struct Fit {
  double largest = 0.0;  // of what is asked
  double missing = 0.0;  // of what is asked
  double excess = 0.0;   // beyond what is asked, where impulses push
  double pull = 0.0;     // the lowest impulse
  int pushing = 0, free = 0;

  void Add(const Asked& asked) {
    largest = std::max(largest, std::fabs(asked.least));
    missing = std::max(missing, asked.least - asked.moved);
    pull = std::min(pull, asked.impulse);
    ++(asked.impulse > 0.0 ? pushing : free);
    if (asked.impulse > 0.0) excess = std::max(excess, asked.moved - asked.least);
  }
};

Eigen::Vector3d MotionOf(const EmbeddedPoint& point, const std::vector<NodeVec>& d) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (int k = 0; k < 4; ++k) sum += double(point.Free(k)) * ToEigen(d[point.nodes[k]]);
  return sum;
}

void Push(const EmbeddedPoint& point, const Eigen::Vector3d& impulse, Points* to) {
  for (int k = 0; k < 4; ++k) to->col(point.nodes[k]) += double(point.Free(k)) * impulse;
}

// The impulses of a body's contacts with planes.
Points PushesOf(const RandomContacts& c) {
  Points sum = Points::Zero(3, static_cast<Eigen::Index>(c.shape.num_nodes()));
  for (const PlaneContact& contact : c.state.Current()) {
    Push(c.state.PointOf(contact), ToEigen(contact.plane.normal) * double(contact.push), &sum);
  }
  return sum;
}

// How far d is from A^-1 pushes, relative to the pushes.
double Residual(const RandomContacts& c, Points pushes) {
  const Points moved = ToEigen(c.d).leftCols(pushes.cols());
  Eigen::VectorXd sums = c.A * Eigen::Map<const Eigen::VectorXd>(moved.data(), moved.size());
  Points missing = Eigen::Map<const Points>(sums.data(), 3, moved.cols()) - pushes;
  for (size_t i = 0; i < c.pinned.size(); ++i) {
    const auto node = static_cast<Eigen::Index>(i);
    if (c.pinned[i] != 0) missing.col(node).setZero(), pushes.col(node).setZero();
  }
  return missing.norm() / std::max(pushes.norm(), 1e-30);
}

// The same for both bodies of a pair, the larger one.
double Residual(const RandomPair& pair) {
  double largest = 0.0;
  for (int side = 0; side < 2; ++side) {
    const RandomContacts& c = pair.bodies[side];
    Points pushes = PushesOf(c);
    const double s = double(c.state.scale), sign = side == 0 ? 1.0 : -1.0;
    for (const BodyContact& contact : pair.contacts) {
      const Eigen::Vector3d n = ToEigen(contact.row.plane.normal);
      Push(contact.sides[side].point, n * (double(contact.row.push) * sign / (s * s * s * s)),
           &pushes);
    }
    if (pushes.norm() > 0.0) largest = std::max(largest, Residual(c, pushes));
  }
  return largest;
}

// What the way out asks for at a gap.
double WayOut(double gap, double least, double share) { return gap < -least ? -share * gap : -gap; }

ContactSolve PartOf(RandomContacts* c, int sweeps) {
  c->d.resize(c->shape.num_nodes() + 1);
  ContactSolve part = {c->system, c->Problem(sweeps), &c->state, c->d};
  part.problem.slop = part.problem.rise = kDepthThatCounts;
  return part;
}

TEST_CASE("Deep points come out by the displacement that the dense equations give") {
  const int count = tests::SweepCount(100, 2000);
  const auto touching = GENERATE(Touching::kNodes, Touching::kVertices);
  int pushing = 0, free = 0, compared = 0;
  double excess = 0.0, missing = 0.0;
  int slow = 0;  // 8 sweeps, as in steps, miss more than 2% of what is asked
  for (int k = 0; k < count; ++k) {
    RandomContacts c(static_cast<uint32_t>(300000 + k), touching);
    CAPTURE(k);
    for (uint32_t p = 1 + c.random.Below(3); p > 0; --p) c.AddPlane(0.0f);
    c.slop = 1.0e-6f;
    c.SolveWell(64);
    const double share = c.random.Uniform(0.05, 1.0);
    const auto find = [&](int sweeps) {
      ContactSolve part = PartOf(&c, sweeps);
      return FindPushOut(static_cast<float>(share), &part);
    };
    const auto fit = [&] {
      Fit sums;
      for (const PlaneContact& contact : c.state.Current()) {
        const LocalCollider& plane = c.planes[contact.collider];
        const EmbeddedPoint& point = c.state.PointOf(contact);
        const Eigen::Vector3d n = ToEigen(plane.normal);
        const double gap = n.dot(ToEigen(point.Of(c.y))) - double(plane.offset);
        sums.Add({WayOut(gap, double(kDepthThatCounts), share), n.dot(MotionOf(point, c.d)),
                  double(contact.push)});
      }
      return sums;
    };
    const bool finds = find(4096);
    bool is_deep = false;
    for (const LocalCollider& plane : c.planes) {
      for (const PlaneContact& contact : c.state.Current()) {
        if (contact.collider != plane.slot) continue;
        const Vec3 at = c.state.PointOf(contact).Of(c.y);
        is_deep = is_deep || Dot(plane.normal, at) - plane.offset < -kDepthThatCounts;
      }
    }
    CHECK(finds == is_deep);
    if (!finds) continue;
    const Fit well = fit();
    CHECK(Residual(c, PushesOf(c)) < 1e-4);
    CHECK(well.pull == 0.0);
    find(8);
    CHECK(Residual(c, PushesOf(c)) < 1e-4);
    const Fit in_8 = fit();
    CHECK(in_8.pull == 0.0);
    excess = std::max(excess, well.excess / well.largest);
    missing = std::max(missing, well.missing / well.largest);
    slow += in_8.missing < 0.02 * well.largest ? 0 : 1;
    pushing += well.pushing, free += well.free;
    ++compared;
  }
  std::printf(
      "%d ways out of %d problems, seeds from 300000: %d contacts push, %d do not; missing %.1e "
      "and "
      "%.1e too far of what is asked; 8 sweeps miss 2%% in %d\n",
      compared, count, pushing, free, missing, excess, slow);
  CAPTURE(missing, excess, slow);
  CHECK(missing < 1e-3);
  CHECK(excess < 1e-3);
  CHECK(slow <= compared / 40);
  CHECK(compared > count / 2);
  CHECK(pushing > count);
  CHECK(free > count / 4);
}

TEST_CASE("Deep points of two bodies come out by the displacements that the equations give") {
  const int count = tests::SweepCount(100, 2000);
  int pushing = 0, free = 0, compared = 0;
  double excess = 0.0, missing = 0.0;
  int slow = 0;  // 8 sweeps, as in steps, miss more than 2% of what is asked
  for (int k = 0; k < count; ++k) {
    CAPTURE(k);
    RandomPair pair(static_cast<uint32_t>(310000 + k), 0.0f);
    for (RandomContacts& body : pair.bodies) body.slop = 1.0e-6f;
    pair.Solve(64);
    const double share = pair.bodies[0].random.Uniform(0.05, 1.0);
    const auto find = [&](int sweeps) {
      ContactSolve parts[2] = {PartOf(&pair.bodies[0], sweeps), PartOf(&pair.bodies[1], sweeps)};
      parts[0].next = &parts[1];
      return FindPushOut(static_cast<float>(share), &parts[0]);
    };
    const auto fit = [&] {
      Fit sums;  // in the size of the smaller body
      for (const RandomContacts& c : pair.bodies) {
        const double s = double(c.state.scale) / pair.Unit();
        for (const PlaneContact& contact : c.state.Current()) {
          const LocalCollider& plane = c.planes[contact.collider];
          const EmbeddedPoint& point = c.state.PointOf(contact);
          const Eigen::Vector3d n = ToEigen(plane.normal);
          const double gap = n.dot(ToEigen(point.Of(c.y))) - double(plane.offset);
          sums.Add({s * WayOut(gap, double(kDepthThatCounts), share),
                    s * n.dot(MotionOf(point, c.d)), double(contact.push)});
        }
      }
      for (const BodyContact& contact : pair.contacts) {
        const Eigen::Vector3d n = ToEigen(contact.row.plane.normal);
        const double rest = double(contact.rest), gap = pair.Gap(contact, false) + rest;
        Eigen::Vector3d moved = Eigen::Vector3d::Zero();
        for (int side = 0; side < 2; ++side) {
          const RandomContacts& c = pair.bodies[side];
          moved += MotionOf(contact.sides[side].point, c.d) * double(c.state.scale) *
                   (side == 0 ? 1.0 : -1.0);
        }
        sums.Add({WayOut(gap, rest, share) / pair.Unit(), n.dot(moved) / pair.Unit(),
                  double(contact.row.push)});
      }
      return sums;
    };
    if (!find(4096)) continue;
    const Fit well = fit();
    CHECK(well.pull == 0.0);
    CHECK(Residual(pair) < 2e-4);
    find(8);
    const Fit in_8 = fit();
    CHECK(in_8.pull == 0.0);
    CHECK(Residual(pair) < 2e-4);
    excess = std::max(excess, well.excess / well.largest);
    missing = std::max(missing, well.missing / well.largest);
    slow += in_8.missing < 0.02 * well.largest ? 0 : 1;
    pushing += well.pushing, free += well.free;
    ++compared;
  }
  std::printf(
      "%d ways out of %d pairs, seeds from 310000: %d contacts push, %d do not; missing %.1e and "
      "%.1e too far of what is asked; 8 sweeps miss 2%% in %d\n",
      compared, count, pushing, free, missing, excess, slow);
  CAPTURE(missing, excess, slow);
  // Some have not converged after 4096 sweeps.
  CHECK(missing < (tests::FullTests() ? 0.03 : 1e-3));
  CHECK(excess < (tests::FullTests() ? 0.03 : 1e-3));
  CHECK(slow <= compared / 40);
  CHECK(compared > count / 2);
  CHECK(pushing > count);
  CHECK(free > count / 4);
}

// Random velocities of a body, in its units [m/s].
std::vector<NodeVec> VelocitiesOf(RandomContacts* c) {
  Points v = c->random.Vectors(c->shape.num_nodes(), 0.3);
  const Eigen::Vector3d along = c->random.Vector(1.0);
  for (Eigen::Index i = 0; i < v.cols(); ++i) {
    v.col(i) += along;
    if (c->pinned[static_cast<size_t>(i)] != 0) v.col(i).setZero();
  }
  return ToNodeVecs(v);
}

// Notes random speeds at which some contacts shall leave their planes.
void AskForRebounds(RandomContacts* c) {
  for (PlaneContact& contact : c->state.Current()) {
    contact.carried = static_cast<float>(c->random.Uniform(-0.3, 0.3));
    const bool shall_leave = c->random.Below(2) == 0;
    contact.rebound = shall_leave ? static_cast<float>(c->random.Uniform(0.1, 2.0)) : 0.0f;
  }
}

// The least change of a speed off a plane, or off another body.
double ReboundOf(double speed, double rebound) {
  return (rebound > 0.0 ? rebound : std::min(speed, 0.0)) - speed;
}

// Gives free nodes their inverse masses.
void AddMasses(RandomContacts* c) {
  for (size_t i = 0; i < c->pinned.size(); ++i) {
    const double mass = c->model.masses[static_cast<Eigen::Index>(i)];
    c->y[i].w = c->x[i].w = c->pinned[i] != 0 ? 0.0f : static_cast<float>(1.0 / mass);
  }
}

TEST_CASE("After a rebound, chosen points leave their planes as fast as they shall") {
  const int count = tests::SweepCount(100, 2000);
  const bool turns = GENERATE(false, true);
  int pushing = 0, free = 0, compared = 0;
  double missing = 0.0, excess = 0.0;
  for (int k = 0; k < count; ++k) {
    RandomContacts c(static_cast<uint32_t>(320000 + k));
    CAPTURE(turns, k);
    const bool is_free = std::ranges::none_of(c.pinned, [](uint8_t pin) { return pin != 0; });
    if (turns && !is_free) continue;
    AddMasses(&c);
    for (uint32_t p = 1 + c.random.Below(3); p > 0; --p) c.AddPlane(0.0f);
    c.slop = 1.0e-6f;
    c.SolveWell(64);
    if (c.state.num_contacts == 0) continue;
    const std::vector<NodeVec> v = VelocitiesOf(&c);
    AskForRebounds(&c);
    std::vector<double> rebounds;
    for (const PlaneContact& contact : c.state.Current()) {
      rebounds.push_back(double(contact.rebound));
    }
    ContactSolve part = PartOf(&c, 8);
    if (turns) {
      part.turn = FindFreeTurn(c.system, std::span<const NodeVec>(c.y).first(c.shape.num_nodes()),
                               c.state.couplings.columns.span());
      REQUIRE(part.turn.acts);
    }
    FindRebound(v, &part);
    Fit sums;
    Eigen::Vector3d momentum = Eigen::Vector3d::Zero(), moment = momentum, centre = momentum;
    for (size_t i = 0; i < c.shape.num_nodes(); ++i) {
      const double mass = c.model.masses[static_cast<Eigen::Index>(i)];
      centre += mass / c.model.masses.sum() * ToEigen(c.y[i]);
    }
    double most = 0.0;
    for (size_t i = 0; i < c.state.num_contacts; ++i) {
      const PlaneContact& contact = c.state.Current()[i];
      const EmbeddedPoint& point = c.state.PointOf(contact);
      const Eigen::Vector3d n = ToEigen(contact.plane.normal);
      const double speed = n.dot(ToEigen(point.Of(v))) - double(contact.carried);
      sums.Add({ReboundOf(speed, rebounds[i]), n.dot(MotionOf(point, c.d)), double(contact.push)});
      momentum += n * double(contact.push);
      moment += (ToEigen(point.Of(c.y)) - centre).cross(n * double(contact.push));
      most = std::max(most, double(contact.push));
    }
    CHECK(sums.pull == 0.0);
    if (!turns) {
      CHECK(Residual(c, PushesOf(c)) < 1e-4);
    } else {  // it gets the impulses and their moment
      for (size_t i = 0; i < c.shape.num_nodes(); ++i) {
        const Eigen::Vector3d part_of =
            ToEigen(c.d[i]) * c.model.masses[static_cast<Eigen::Index>(i)];
        momentum -= part_of;
        moment -= (ToEigen(c.y[i]) - centre).cross(part_of);
      }
      CHECK(momentum.norm() <= 1e-4 * most);
      CHECK(moment.norm() <= 1e-4 * most * kProblemSize);
    }
    missing = std::max(missing, sums.missing / sums.largest);
    excess = std::max(excess, sums.excess / sums.largest);
    pushing += sums.pushing, free += sums.free;
    ++compared;
  }
  std::printf(
      "%d rebounds, seeds from 320000, turns %d: %d contacts push, %d do not; missing %.1e, too "
      "fast by %.1e of what is asked\n",
      compared, turns ? 1 : 0, pushing, free, missing, excess);
  CAPTURE(missing, excess);
  CHECK(missing < (tests::FullTests() ? 1e-2 : 1e-4));
  CHECK(excess < (tests::FullTests() ? 1e-2 : 1e-4));
  CHECK(compared > count / (turns ? 8 : 2));
  CHECK(pushing > compared);
  CHECK(free > compared / 4);
}

TEST_CASE("After a joint rebound, bodies part as fast as they shall, and enter no plane") {
  const int count = tests::SweepCount(100, 2000);
  int pushing = 0, free = 0, compared = 0;
  double missing = 0.0, excess = 0.0;
  int slow = 0;  // 32 sweeps miss more than 1% of what is asked
  for (int k = 0; k < count; ++k) {
    CAPTURE(k);
    RandomPair pair(static_cast<uint32_t>(330000 + k), 0.0f);
    for (RandomContacts& body : pair.bodies) body.slop = 1.0e-6f;
    pair.Solve(64);
    std::vector<NodeVec> v[2];
    for (int side = 0; side < 2; ++side) {
      RandomContacts& c = pair.bodies[side];
      v[side] = VelocitiesOf(&c);
      // As fast as the smaller one.
      for (NodeVec& of_node : v[side]) {
        of_node = of_node * static_cast<float>(pair.Unit() / double(c.state.scale));
      }
      c.state.v = v[side];
      for (PlaneContact& contact : c.state.Current()) {
        contact.carried =
            static_cast<float>(c.random.Uniform(-0.3, 0.3) * pair.Unit() / double(c.state.scale));
      }
    }
    std::vector<double> rebounds;
    for (BodyContact& contact : pair.contacts) {
      const bool shall_leave = pair.bodies[0].random.Below(2) == 0;
      contact.row.rebound =
          shall_leave ? static_cast<float>(pair.bodies[0].random.Uniform(0.1, 2.0) * pair.Unit())
                      : 0.0f;
      rebounds.push_back(double(contact.row.rebound));
    }
    ContactSolve parts[2] = {PartOf(&pair.bodies[0], 8), PartOf(&pair.bodies[1], 8)};
    parts[0].next = &parts[1];
    FindJointRebound(&parts[0]);
    Fit sums;
    for (const RandomContacts& c : pair.bodies) {
      const double s = double(c.state.scale) / pair.Unit();
      for (const PlaneContact& contact : c.state.Current()) {
        const EmbeddedPoint& point = c.state.PointOf(contact);
        const Eigen::Vector3d n = ToEigen(contact.plane.normal);
        const double speed = n.dot(ToEigen(point.Of(c.state.v))) - double(contact.carried);
        sums.Add(
            {s * ReboundOf(speed, 0.0), s * n.dot(MotionOf(point, c.d)), double(contact.push)});
      }
    }
    for (size_t i = 0; i < pair.contacts.size(); ++i) {
      const BodyContact& contact = pair.contacts[i];
      const Eigen::Vector3d n = ToEigen(contact.row.plane.normal);
      if (!(NormalImpulse(contact.row) > 0.0f)) {
        CHECK(contact.row.push == 0.0f);
        continue;
      }
      double speed = 0.0, moved = 0.0;
      for (int side = 0; side < 2; ++side) {
        const RandomContacts& c = pair.bodies[side];
        const EmbeddedPoint& point = contact.sides[side].point;
        const double s = double(c.state.scale) * (side == 0 ? 1.0 : -1.0);
        speed += s * n.dot(ToEigen(point.Of(c.state.v)));
        moved += s * n.dot(MotionOf(point, c.d));
      }
      sums.Add({ReboundOf(speed, rebounds[i]) / pair.Unit(), moved / pair.Unit(),
                double(contact.row.push)});
    }
    CHECK(sums.pull == 0.0);
    if (sums.pushing + sums.free == 0) continue;
    CHECK(Residual(pair) < 2e-4);
    if (sums.missing > 0.01 * sums.largest || sums.excess > 0.01 * sums.largest) {
      ++slow;
    } else {
      missing = std::max(missing, sums.missing / sums.largest);
      excess = std::max(excess, sums.excess / sums.largest);
    }
    pushing += sums.pushing, free += sums.free;
    ++compared;
  }
  std::printf(
      "%d joint rebounds, seeds from 330000: %d contacts push, %d do not; missing %.1e, too fast "
      "by "
      "%.1e of what is asked, %d more than 1%%\n",
      compared, pushing, free, missing, excess, slow);
  CAPTURE(missing, excess, slow);
  CHECK(slow <= count / 100);
  CHECK(compared > count / 2);
  CHECK(pushing > count);
  CHECK(free > count / 4);
}

}  // namespace contact_pushes_test
