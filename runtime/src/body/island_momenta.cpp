// SPDX-License-Identifier: MIT
// Source: island_momenta.h.
#include "body/island_momenta.h"

#include "body/island.h"
#include "contact/body_contacts.h"
#include "contact/inertia.h"

#include <algorithm>
#include <cstddef>

namespace plush {
namespace {

using Vec = double[3];

// sum += factor a x b.
void AddCross(double factor, const Vec& a, const Vec& b, Vec* sum) {
  for (size_t k = 0; k < 3; ++k) {
    const size_t i = (k + 1) % 3, j = (k + 2) % 3;
    (*sum)[k] += factor * (a[i] * b[j] - a[j] * b[i]);
  }
}

// Calls visit(mass, r, v) for a body's nodes, in the world's units, r from `about`. `gained`: what
// velocities gain, in the body's units.
template <class Visit>
void ForNodes(const Body& body, const Vec& about, const Vec3& gained, const Visit& visit) {
  const double s = body.scale;
  const Vec origin = {body.origin[0] - about[0], body.origin[1] - about[1],
                      body.origin[2] - about[2]};
  for (size_t i = 0; i < body.x.size(); ++i) {
    const NodeVec &x = body.x[i], &v = body.v[i];
    const Vec r = {origin[0] + s * double(x.x), origin[1] + s * double(x.y),
                   origin[2] + s * double(x.z)};
    const Vec speed = {s * (double(v.x) + double(gained.x)), s * (double(v.y) + double(gained.y)),
                       s * (double(v.z) + double(gained.z))};
    visit(s * s * s * double(body.Mass(i)), r, speed);
  }
}

// Whether only other bodies of the island may hold a body.
bool IsFree(const Body& body) {
  if (!body.Steps() || !Moves(body) || body.solver.method != nullptr) return false;
  if (body.num_near > 0 || body.contacts.num_contacts > 0) return false;
  if (body.system->num_pinned > 0 || body.attached.any()) return false;
  return std::ranges::none_of(body.contacts.between, [](const BodyContactSide& at) {
    return at.contact->sides[1 - at.side].of->is_static;
  });
}

bool Presses(const Body& body) {
  return std::ranges::any_of(body.contacts.between, [](const BodyContactSide& at) {
    return Dot(at.contact->force, at.contact->force) > 0.0f;
  });
}

}  // namespace

IslandMomenta FindMomenta(const StepSettings& of_world, float h, const Body* first) {
  IslandMomenta momenta;
  std::copy_n(first->origin, 3, momenta.about);
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!IsFree(*body)) return momenta;
    ForNodes(*body, momenta.about, GravityOf(of_world, *body) * h,
             [&](double m, const Vec& r, const Vec& v) {
               for (size_t k = 0; k < 3; ++k) momenta.linear[k] += m * v[k];
               AddCross(m, r, v, &momenta.angular);
             });
  }
  momenta.known = true;
  return momenta;
}

void GiveMomenta(const IslandMomenta& momenta, Body* first) {
  bool presses = false;
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->frozen) return;
    presses = presses || Presses(*body);
  }
  if (!presses) return;
  double mass = 0.0, spread[3][3] = {};  // sum of m r r^T
  Vec centre = {}, missing = {}, moment = {};
  for (size_t k = 0; k < 3; ++k) missing[k] = momenta.linear[k], moment[k] = momenta.angular[k];
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    ForNodes(*body, momenta.about, {}, [&](double m, const Vec& r, const Vec& v) {
      mass += m;
      for (size_t k = 0; k < 3; ++k) {
        centre[k] += m * r[k];
        missing[k] -= m * v[k];
        for (size_t l = 0; l < 3; ++l) spread[k][l] += m * r[k] * r[l];
      }
      AddCross(-m, r, v, &moment);
    });
  }
  for (double& coordinate : centre) coordinate /= mass;
  AddCross(-1.0, centre, missing, &moment);
  double inertia[3][3], trace = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    for (size_t l = 0; l < 3; ++l) spread[k][l] -= mass * centre[k] * centre[l];
    trace += spread[k][k];
  }
  for (size_t k = 0; k < 3; ++k) {
    for (size_t l = 0; l < 3; ++l) inertia[k][l] = (k == l ? trace : 0.0) - spread[k][l];
  }
  Vec turn = {};
  if (InvertInertia(inertia)) {
    for (size_t k = 0; k < 3; ++k) {
      for (size_t l = 0; l < 3; ++l) turn[k] += inertia[k][l] * moment[l];
    }
  }
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    const double s = body->scale;
    NodeVec* v = body->v.data();
    ForNodes(*body, momenta.about, {}, [&](double, const Vec& r, const Vec& speed) {
      Vec to;
      for (size_t k = 0; k < 3; ++k) to[k] = speed[k] + missing[k] / mass;
      const Vec arm = {r[0] - centre[0], r[1] - centre[1], r[2] - centre[2]};
      AddCross(1.0, turn, arm, &to);
      *v++ = Vec3{static_cast<float>(to[0] / s), static_cast<float>(to[1] / s),
                  static_cast<float>(to[2] / s)};
    });
  }
}

}  // namespace plush
