// SPDX-License-Identifier: MIT
// Source: choose_contacts.h.
#include "world/choose_contacts.h"

#include "body/body_colliders.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace plush {

void ChooseContacts(const ContactLengths& lengths, const Meeting& meeting,
                    std::span<PairContact> found, std::span<const PastContact> past,
                    std::span<Vec3> places, ChosenContacts* chosen) {
  std::ranges::sort(found, {}, [](const PairContact& c) {
    return std::make_tuple(c.gap, c.triangles[0], c.triangles[1], c.u[0], c.v[0]);
  });
  const auto point = [&](int k, const auto& c) {
    const Body& body = k == 0 ? meeting.a : meeting.b;
    return TouchingPointAt(body, c.triangles[k], c.u[k], c.v[k]);
  };
  const auto place = [&](const auto& c) { return point(0, c).Of(meeting.a.y.span()); };
  for (size_t i = 0; i < found.size(); ++i) places[i] = place(found[i]);
  constexpr float kAlike = 0.8f;
  const auto is_near = [&](const Vec3& p, const Vec3& normal_p, const Vec3& q,
                           const Vec3& normal_q) {
    return Length(p - q) < lengths.spacing && Dot(normal_p, normal_q) > kAlike;
  };
  const auto add = [&](const PairContact& contact, const Vec3& at, const Vec3& force) {
    if (chosen->count == TouchingBodies::kMostContacts) {
      ++chosen->dropped;
      return false;
    }
    chosen->contacts[chosen->count] = contact;
    chosen->places[chosen->count] = at;
    chosen->forces[chosen->count++] = force;
    return true;
  };
  for (size_t i = 0; i < past.size(); ++i) {
    const PastContact& old = past[i];
    if (IsZero(old.force)) continue;
    const Vec3 at = place(old);
    const PairContact* support = nullptr;
    float nearest = std::numeric_limits<float>::infinity();
    for (size_t k = 0; k < found.size(); ++k) {
      const float distance = Length(places[k] - at);
      if (!(distance < nearest) || !is_near(at, old.normal, places[k], found[k].normal)) continue;
      nearest = distance;
      support = &found[k];
    }
    if (support == nullptr) continue;
    const Vec3 way = meeting.Way(point(0, old), point(1, old));
    PairContact kept = *support;
    kept.gap = Dot(kept.normal, way);
    if (!(Length(way - kept.normal * kept.gap) <= lengths.slip)) continue;
    for (int k = 0; k < 2; ++k) {
      kept.triangles[k] = old.triangles[k];
      kept.u[k] = old.u[k];
      kept.v[k] = old.v[k];
    }
    if (add(kept, at, old.force)) chosen->taken |= uint64_t{1} << i;
  }
  for (size_t k = 0; k < found.size(); ++k) {
    const PairContact& contact = found[k];
    const Vec3& at = places[k];
    bool is_new = true;
    for (size_t i = 0; i < chosen->count; ++i) {
      const PairContact& other = chosen->contacts[i];
      is_new = is_new && !(is_near(at, contact.normal, chosen->places[i], other.normal) &&
                           contact.gap > other.gap - lengths.deeper);
    }
    if (is_new) add(contact, at, {});
  }
}

const PastContact* NearestPast(std::span<const PastContact> past, const Meeting& meeting,
                               const BodyContact& contact, float reach, uint64_t* taken) {
  float nearest = reach * reach;
  const PastContact* best = nullptr;
  for (size_t i = 0; i < past.size(); ++i) {
    if ((*taken >> i & 1u) != 0) continue;
    float distance2 = 0.0f;
    const Body* bodies[2] = {&meeting.a, &meeting.b};
    for (int k = 0; k < 2; ++k) {
      const EmbeddedPoint old =
          TouchingPointAt(*bodies[k], past[i].triangles[k], past[i].u[k], past[i].v[k]);
      const Vec3 way = old.Of(bodies[k]->y.span()) - contact.sides[k].point.Of(bodies[k]->y.span());
      distance2 += Dot(way, way);
    }
    if (!(distance2 < nearest)) continue;
    nearest = distance2;
    best = &past[i];
  }
  if (best != nullptr) *taken |= uint64_t{1} << (best - past.data());
  return best;
}

}  // namespace plush
