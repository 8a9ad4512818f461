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

// Calls visit(mass, r, v) for a body's nodes, in the world's units, r from `about`. `gained`: what
// velocities gain, in the body's units.
template <class Visit>
void ForNodes(const Body& body, const DoubleVector& about, const Vec3& gained, const Visit& visit) {
  const double s = body.scale;
  const DoubleVector origin = DoubleVector{body.origin[0], body.origin[1], body.origin[2]} - about;
  for (size_t i = 0; i < body.x.size(); ++i) {
    visit(s * s * s * double(body.Mass(i)), origin + InDouble(body.x[i]) * s,
          (InDouble(body.v[i]) + InDouble(gained)) * s);
  }
}

// Whether only other bodies of the island may hold a body.
bool IsFree(const Body& body) {
  if (!body.Steps() || !Moves(body) || body.solver.method != nullptr) return false;
  if (body.num_near > 0 || body.contacts.num_contacts > 0) return false;
  if (body.system->num_pinned > 0) return false;
  const auto is_hold = [&](const AttachedPoint& at) {
    const AttachmentRow& row = body.attached.RowOf(at);
    return row.acts && (row.is_constraint() || row.sides[1].of == nullptr);
  };
  if (std::ranges::any_of(body.attached.Current(), is_hold)) return false;
  return std::ranges::none_of(body.contacts.between, [](const BodyContactSide& at) {
    return at.contact->sides[1 - at.side].of->is_static;
  });
}

// Whether a body presses on others of its island, or a spring joins it to one.
bool Acts(const Body& body) {
  return body.attached.any() ||
         std::ranges::any_of(body.contacts.between, [](const BodyContactSide& at) {
           return Dot(at.contact->force, at.contact->force) > 0.0f;
         });
}

}  // namespace

IslandMomenta FindMomenta(const StepSettings& of_world, float h, const Body* first) {
  IslandMomenta momenta;
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!IsFree(*body)) return momenta;
  }
  momenta.known = true;
  momenta.about = {first->origin[0], first->origin[1], first->origin[2]};
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    const auto add = [&](double m, const DoubleVector& r, const DoubleVector& v) {
      momenta.linear = momenta.linear + v * m;
      momenta.angular = momenta.angular + Cross(r, v) * m;
    };
    ForNodes(*body, momenta.about, GravityOf(of_world, *body) * h, add);
  }
  return momenta;
}

void GiveMomenta(const IslandMomenta& momenta, Body* first) {
  bool any_acts = false;
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->frozen) return;
    any_acts = any_acts || Acts(*body);
  }
  if (!any_acts) return;
  double mass = 0.0, spread[3][3] = {};  // sum of m r r^T
  DoubleVector moved = {}, missing = momenta.linear, moment = momenta.angular;
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    const auto take = [&](double m, const DoubleVector& r, const DoubleVector& v) {
      mass += m;
      moved = moved + r * m;
      missing = missing - v * m;
      moment = moment - Cross(r, v) * m;
      const double at[3] = {r.x, r.y, r.z};
      for (size_t k = 0; k < 3; ++k) {
        for (size_t l = 0; l < 3; ++l) spread[k][l] += m * at[k] * at[l];
      }
    };
    ForNodes(*body, momenta.about, {}, take);
  }
  const DoubleVector centre = moved * (1.0 / mass), gained = missing * (1.0 / mass);
  moment = moment - Cross(centre, missing);
  const double middle[3] = {centre.x, centre.y, centre.z};
  double inertia[3][3], trace = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    for (size_t l = 0; l < 3; ++l) spread[k][l] -= mass * middle[k] * middle[l];
    trace += spread[k][k];
  }
  for (size_t k = 0; k < 3; ++k) {
    for (size_t l = 0; l < 3; ++l) inertia[k][l] = (k == l ? trace : 0.0) - spread[k][l];
  }
  DoubleVector turn = {};
  if (InvertInertia(inertia)) {
    const auto row = [&](size_t k) {
      return Dot({inertia[k][0], inertia[k][1], inertia[k][2]}, moment);
    };
    turn = {row(0), row(1), row(2)};
  }
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    const double to_body = 1.0 / double(body->scale);
    NodeVec* next = body->v.data();
    const auto give = [&](double, const DoubleVector& r, const DoubleVector& v) {
      *next++ = InFloat((v + gained + Cross(turn, r - centre)) * to_body);
    };
    ForNodes(*body, momenta.about, {}, give);
  }
}

}  // namespace plush
