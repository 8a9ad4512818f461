// SPDX-License-Identifier: MIT
// Normal impulses that are solved at once, against the conditions of Signorini in double precision.
#include "contact/normal_impulses.h"

#include "contact/contact_couplings.h"
#include "runtime/contact/random_contacts.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace normal_impulses_test {

// Where the impulses move the slots' points, in double precision, beside `free` motions.
std::vector<Eigen::Vector3d> MotionsOf(const ContactState& state,
                                       const std::vector<Eigen::Vector3d>& free) {
  const PointCouplings& S = state.couplings;
  std::vector<Eigen::Vector3d> motions = free;
  for (const PlaneContact& contact : state.Current()) {
    for (uint32_t slot = 0; slot < S.num_slots; ++slot) {
      motions[slot] += double(S.Row(contact.slot)[slot]) * ToEigen(contact.impulse);
    }
  }
  return motions;
}

void SetMoved(const std::vector<Eigen::Vector3d>& motions, ContactState* state) {
  const Moved moved(state);
  for (size_t slot = 0; slot < motions.size(); ++slot) {
    const Vec3 at = ToVec3(motions[slot]);
    moved.x[slot] = at.x, moved.y[slot] = at.y, moved.z[slot] = at.z;
  }
}

// Contacts by parts: the normals of one are like that of its first contact, or opposite.
struct Parts {
  std::vector<size_t> first;    // by contact
  std::vector<bool> has_sides;  // by first contact

  explicit Parts(std::span<const PlaneContact> all) : first(all.size()), has_sides(all.size()) {
    for (size_t i = 0; i < all.size(); ++i) {
      const auto cosine = [&](size_t k) { return Dot(all[k].plane.normal, all[i].plane.normal); };
      size_t& of = first[i];
      while (of < i && (first[of] != of || std::fabs(cosine(of)) < 0.9f)) ++of;
      if (cosine(of) < 0.0f) has_sides[of] = true;
    }
  }
};

// Contacts with a plane, and a twin beside each one's node, by a `weight` that is by default too
// small to tell their motions apart.
struct Twins : RandomContacts {
  explicit Twins(uint32_t seed, float weight = 1.0e-4f) : RandomContacts(seed) {
    AddPlane(0.0f);
    SolveWell(64);
    PointCouplings& S = state.couplings;
    count = state.num_contacts;
    has_room = 2 * count <= state.contacts.size() && S.num_slots + count <= S.points.size();
    if (!has_room) return;
    for (uint32_t i = 0; i < count; ++i) {
      EmbeddedPoint point = state.PointOf(One(i));
      point.nodes[1] = (point.nodes[0] + 1) % static_cast<uint32_t>(shape.num_nodes());
      point.weights[1] = pinned[point.nodes[1]] != 0 ? 0.0f : weight;
      Twin(i) = One(i);
      Twin(i).slot = S.Add(point);
    }
    state.num_contacts = 2 * count;
    S.Find(system);
    for (PlaneContact& contact : state.Current()) {
      contact.impulse = {};
      contact.yielding = 1.0f / S.Row(contact.slot)[contact.slot];
    }
    SetMoved(std::vector<Eigen::Vector3d>(S.num_slots, Eigen::Vector3d::Zero()), &state);
  }

  PlaneContact& One(uint32_t i) { return state.contacts[i]; }
  PlaneContact& Twin(uint32_t i) { return state.contacts[i + count]; }
  float GapOf(const PlaneContact& contact) {
    return Dot(contact.plane.normal, contact.offset + Moved(&state).At(contact.slot));
  }

  uint32_t count = 0;  // without the twins
  bool has_room = false;
};

TEST_CASE("Normal impulses solved at once meet Signorini's condition and leave friction alone",
          "[long]") {
  size_t contacts = 0, pressing = 0, most = 0, left = 0, soft = 0, jammed = 0, changed = 0;
  const auto touching = GENERATE(Touching::kNodes, Touching::kVertices);
  const double tilt = GENERATE(0.0, 0.15, 1.0);  // of normals; the last one, of some, is too much
  const bool is_jammed = GENERATE(false, true);  // between two sides
  const uint32_t count = tests::SweepCount(300u);
  for (uint32_t seed = 0; seed < count; ++seed) {
    CAPTURE(seed, tilt, is_jammed);
    RandomContacts c(200000 + seed, touching);
    // More contacts, of which a part is jammed more often.
    for (int plane = 0; plane < (tilt < 0.5 ? 1 : 3); ++plane) c.AddPlane(0.5f);
    c.SolveWell(64);
    ContactState& state = c.state;
    if (state.num_contacts < 2) continue;
    const PointCouplings& S = state.couplings;
    REQUIRE(S.num_known == S.num_slots);
    // Of nodes, and gaps that all points could keep: there is a solution.
    constexpr double kMotion = 1.0e-3;
    Points field = c.random.Vectors(c.shape.num_nodes(), kMotion);
    for (size_t i = 0; i < c.pinned.size(); ++i) {
      if (c.pinned[i] != 0) field.col(static_cast<Eigen::Index>(i)).setZero();
    }
    const std::vector<NodeVec> of_nodes = ToNodeVecs(field);
    std::vector<Eigen::Vector3d> free;
    for (uint32_t slot = 0; slot < S.num_slots; ++slot) {
      free.push_back(ToEigen(S.points[slot].Of(of_nodes)));
    }
    std::vector<Vec3> tangents, before;
    const Eigen::Vector3d common = c.random.Direction();
    for (PlaneContact& contact : state.Current()) {
      const float response = S.Row(contact.slot)[contact.slot];
      const double side = is_jammed && c.random.Uniform(0.0, 1.0) < 0.5 ? -1.0 : 1.0;
      const double own = tilt < 0.5 || c.random.Below(3) == 0 ? tilt : 0.1;
      contact.plane.normal = ToVec3((side * common + own * c.random.Direction()).normalized());
      const Vec3& normal = contact.plane.normal;
      contact.yielding = 1.0f / response;
      contact.offset = ToVec3(c.random.Vector(kMotion));
      contact.offset -= normal * std::fmin(Dot(normal, contact.offset), 0.0f);
      const Vec3 any = ToVec3(c.random.Vector(kMotion)) * contact.yielding;
      tangents.push_back(any - normal * Dot(normal, any));
      contact.impulse = tangents.back() + normal * std::fmax(Dot(normal, any), 0.0f);
      before.push_back(contact.impulse);
    }
    SetMoved(MotionsOf(state, free), &state);
    constexpr float kAccuracy = 1.0e-7f;
    SolveNormals(kAccuracy, false, &state);

    // Whichever are solved: points have moved as the impulses say, friction stays, nothing pulls.
    const std::vector<Eigen::Vector3d> motions = MotionsOf(state, free);
    const Moved moved(&state);
    for (uint32_t slot = 0; slot < S.num_slots; ++slot) {
      CHECK((ToEigen(moved.At(slot)) - motions[slot]).norm() < 1e-4 * kMotion);
    }
    for (size_t i = 0; i < state.num_contacts; ++i) {
      const PlaneContact& contact = state.contacts[i];
      const Eigen::Vector3d n = ToEigen(contact.plane.normal), f = ToEigen(contact.impulse);
      const double p = n.dot(f), size = kMotion * double(contact.yielding);
      CHECK(p >= -1e-5 * size);
      CHECK((f - n * p - ToEigen(tangents[i])).norm() < 1e-4 * (size + f.norm()));
    }
    const auto check_pressing = [&](const PlaneContact& contact) {
      const Eigen::Vector3d n = ToEigen(contact.plane.normal);
      const double p = n.dot(ToEigen(contact.impulse));
      const double gap = n.dot(ToEigen(contact.offset) + motions[contact.slot]);
      CHECK(gap >= -2e-4 * kMotion);
      CHECK((p < 1e-4 * kMotion * double(contact.yielding) || gap < 2e-4 * kMotion));
      return p > 0.0;
    };
    const Parts parts(state.Current());
    if (std::ranges::any_of(parts.first, [](size_t of) { return of > 0; })) {
      size_t last = SIZE_MAX;  // of the parts that are solved
      for (size_t i = 0; i < state.num_contacts; ++i) {
        const bool is_same = IsZero(state.contacts[i].impulse - before[i]);
        CHECK((is_same || parts.has_sides[parts.first[i]]));
        if (is_same) continue;
        last = last == SIZE_MAX ? parts.first[i] : std::max(last, parts.first[i]);
        ++changed;
      }
      for (size_t i = 0; i < state.num_contacts; ++i) {
        if (parts.first[i] == last) check_pressing(state.contacts[i]);
      }
      ++left;
      continue;
    }
    bool has_sides = false, moves_as_one = false;  // by more than half of its own motion
    for (const PlaneContact& one : state.Current()) {
      for (const PlaneContact& other : state.Current()) {
        if (Dot(one.plane.normal, other.plane.normal) > 0.0f) continue;
        has_sides = true;
        const double both = double(S.Row(one.slot)[other.slot]);
        const double own = double(S.Row(one.slot)[one.slot] * S.Row(other.slot)[other.slot]);
        moves_as_one = moves_as_one || both > 0.5 * std::sqrt(own);
      }
    }
    if (has_sides && !moves_as_one) {
      for (size_t i = 0; i < state.num_contacts; ++i) {
        CHECK(IsZero(state.contacts[i].impulse - before[i]));
      }
      ++soft;
      continue;
    }
    jammed += has_sides ? 1 : 0;
    for (const PlaneContact& contact : state.Current()) pressing += check_pressing(contact) ? 1 : 0;
    contacts += state.num_contacts;
    most = std::max<size_t>(most, state.num_contacts);
  }
  std::printf(
      "%u problems, seeds from 200000: %zu contacts, %zu press, at most %zu in one; "
      "%zu jammed, %zu soft between two sides; %zu solved in a part\n",
      count, contacts, pressing, most, jammed, soft, changed);
  CHECK((tilt < 0.5) == (left == 0));
  CHECK((changed > 10 || tilt < 0.5 || !is_jammed || count < 300));
  CHECK(is_jammed == (soft > count / 120 && jammed > count / 120));
  CHECK(4 * pressing >= contacts);
  CHECK((left > count / 3 || most > 3));
}

// Only huge impulses can part such points. Motions by them are rounded by more than the gaps.
TEST_CASE("Points that move alike between two sides get impulses that close their gaps, or none",
          "[long]") {
  constexpr float kAccuracy = 1.0e-7f;
  size_t solved = 0, left = 0;
  double open = 0.0, most = 0.0;
  const uint32_t count = tests::SweepCount(2000u);
  for (uint32_t seed = 700000; seed < 700000 + count; ++seed) {
    Random weights(seed);
    Twins c(seed, static_cast<float>(weights.Uniform(1.0e-3, 1.0e-2)));
    if (!c.has_room) continue;
    for (uint32_t i = 0; i < c.count; ++i) {
      const double apart = std::pow(10.0, c.random.Uniform(-7.0, -3.0));
      c.Twin(i).plane.normal = c.Twin(i).plane.normal * -1.0f;
      for (PlaneContact* contact : {&c.One(i), &c.Twin(i)}) {
        contact->offset = contact->plane.normal * static_cast<float>(-c.random.Uniform(0.0, apart));
      }
    }
    // The impulses of one part would move the points of another.
    const Parts parts(c.state.Current());
    if (std::ranges::any_of(parts.first, [](size_t of) { return of > 0; })) continue;
    SolveNormals(kAccuracy, false, &c.state);
    bool any = false;
    for (const PlaneContact& contact : c.state.Current()) {
      if (!(NormalImpulse(contact) > 0.0f)) continue;
      any = true;
      open = std::max(open, double(c.GapOf(contact)));
      most = std::max(most, double(NormalImpulse(contact)));
    }
    ++(any ? solved : left);
  }
  std::printf("seeds from 700000: %zu solved, %zu left, gaps of %.2e m, impulses of %.2e kg m\n",
              solved, left, open, most);
  CHECK(solved > count / 20);
  CHECK(left > count / 20);
  CHECK(open < 1.0e-6);  // without the test of rounding 0.06
}

// Sweeps would hand impulses on between such points for long.
TEST_CASE("Of two points that move alike, the deeper one presses", "[long]") {
  constexpr float kAccuracy = 1.0e-7f;
  size_t first = 0, second = 0;
  double sunk = 0.0, open = 0.0;
  for (uint32_t seed = 500000; seed < 500200; ++seed) {
    Twins c(seed);
    if (!c.has_room) continue;
    for (uint32_t i = 0; i < c.count; ++i) {
      const double gap = c.random.Uniform(-1.0e-3, 0.0), apart = c.random.Uniform(-1.0e-5, 1.0e-5);
      c.One(i).offset = c.One(i).plane.normal * static_cast<float>(gap);
      c.Twin(i).offset = c.Twin(i).plane.normal * static_cast<float>(gap + apart);
    }
    SolveNormals(kAccuracy, false, &c.state);
    for (const PlaneContact& contact : c.state.Current()) {
      sunk = std::min(sunk, double(c.GapOf(contact)));
      if (NormalImpulse(contact) > 0.0f) open = std::max(open, double(c.GapOf(contact)));
    }
    for (uint32_t i = 0; i < c.count; ++i) {
      first += NormalImpulse(c.One(i)) > 0.0f ? 1 : 0;
      second += NormalImpulse(c.Twin(i)) > 0.0f ? 1 : 0;
    }
  }
  std::printf("seeds from 500000: %zu press, %zu twins do\n", first, second);
  CHECK(first > 100);
  CHECK(second > 100);
  CHECK(sunk > -1.0e-6);
  CHECK(open < 1.0e-6);
}

TEST_CASE(
    "In a slow body, a point that is slightly deeper takes the load of its twin in small parts",
    "[long]") {
  constexpr float kAccuracy = 1.0e-7f, kDeeper = 1.0e-6f;
  size_t pressing = 0, passed_on = 0;
  double loads = 0.0, taken = 0.0, sunk = 0.0;
  for (uint32_t seed = 600000; seed < 600200; ++seed) {
    Twins c(seed);
    if (!c.has_room) continue;
    const auto lower = [](float by, PlaneContact* contact) {
      contact->offset -= contact->plane.normal * by;
    };
    for (uint32_t i = 0; i < c.count; ++i) {
      c.One(i).offset = {};
      lower(static_cast<float>(c.random.Uniform(1.0e-4, 1.0e-3)), &c.One(i));
      c.Twin(i).offset = c.One(i).offset;
      lower(kDeeper, &c.One(i));
    }
    SolveNormals(kAccuracy, false, &c.state);
    std::vector<float> before;
    for (uint32_t i = 0; i < c.count; ++i) {
      before.push_back(NormalImpulse(c.One(i)));
      lower(2.0f * kDeeper, &c.Twin(i));
    }
    for (int call = 0; call < 300; ++call) {
      SolveNormals(kAccuracy, true, &c.state);
      for (uint32_t i = 0; i < c.count && call == 0; ++i) {
        if (!(before[i] > 0.0f)) continue;
        ++pressing;
        loads += double(before[i]);
        taken += double(NormalImpulse(c.Twin(i)));
      }
    }
    for (uint32_t i = 0; i < c.count; ++i) {
      if (before[i] > 0.0f && NormalImpulse(c.One(i)) < 0.5f * before[i]) ++passed_on;
      sunk = std::min(sunk, double(c.GapOf(c.Twin(i))));
    }
  }
  std::printf("seeds from 600000: %zu press, %zu pass on, %.3f at once, %.2e m deep\n", pressing,
              passed_on, taken / loads, sunk);
  CHECK(pressing > 100);
  CHECK(10 * passed_on > 9 * pressing);
  CHECK(taken < 0.2 * loads);
  CHECK(sunk > -2.0e-7);
}

}  // namespace normal_impulses_test
