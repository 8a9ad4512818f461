// SPDX-License-Identifier: MIT
// Source: state_scenery.h; and StateReader's checks of colliders and forces.
#include "state/state_scenery.h"

#include "plush/collider.h"

#include "state/state_checks.h"
#include "state/state_reader.h"

#include <algorithm>
#include <cmath>

namespace plush {

StateCollider Saved(const Collider& collider, uint32_t slot, uint32_t first_point) {
  const ColliderDesc& desc = collider.desc;
  StateCollider out = {};
  out.user_data = desc.user_data;
  out.slot = slot;
  out.type = static_cast<uint32_t>(desc.type);
  switch (desc.type) {
    case ShapeType::kPlane:
      std::copy_n(&desc.plane.normal.x, 3, out.shape);
      out.shape[3] = desc.plane.offset;
      break;
    case ShapeType::kSphere:
      out.shape[0] = desc.sphere.radius;
      break;
    case ShapeType::kCapsule:
      out.shape[0] = desc.capsule.half_height;
      out.shape[1] = desc.capsule.radius;
      break;
    case ShapeType::kBox:
      std::copy_n(&desc.box.half_extents.x, 3, out.shape);
      break;
    case ShapeType::kHull:
      out.first_point = first_point;
      out.num_points = static_cast<uint32_t>(desc.hull.points.size());
      break;
    case ShapeType::kHeightField:
    case ShapeType::kMesh:
      out.mesh_hash = collider.mesh.hash;
      break;
  }
  out.pose = Saved(desc.pose);
  Copy(desc.velocity, out.velocity);
  Copy(desc.angular_velocity, out.angular_velocity);
  out.friction = desc.friction;
  out.restitution = desc.restitution;
  Copy(desc.surface_velocity, out.surface_velocity);
  out.sensor = desc.sensor ? 1 : 0;
  out.filter = Saved(desc.filter);
  out.has_target = collider.has_target ? 1 : 0;
  out.target = Saved(collider.target);
  return out;
}

Collider ToCollider(const StateCollider& c, uint64_t id, Hull* hull, const TriangleSource& mesh) {
  Collider out;
  out.id = id;
  out.desc.type = static_cast<ShapeType>(c.type);
  const float* shape = c.shape;
  switch (out.desc.type) {
    case ShapeType::kPlane:
      out.desc.plane = {{shape[0], shape[1], shape[2]}, shape[3]};
      break;
    case ShapeType::kSphere:
      out.desc.sphere = {shape[0]};
      break;
    case ShapeType::kCapsule:
      out.desc.capsule = {shape[0], shape[1]};
      break;
    case ShapeType::kBox:
      out.desc.box = {{shape[0], shape[1], shape[2]}};
      break;
    case ShapeType::kHeightField:
      out.desc.height_field = mesh.field;
      break;
    case ShapeType::kMesh:
      out.desc.mesh = {mesh.asset, mesh.scale, mesh.code};
      break;
    case ShapeType::kHull:
      out.desc.hull = {hull->given.span()};
      out.hull = hull;
      break;
  }
  out.desc.pose = ToPose(c.pose);
  out.desc.velocity = ToVec3(c.velocity);
  out.desc.angular_velocity = ToVec3(c.angular_velocity);
  out.desc.friction = c.friction;
  out.desc.restitution = c.restitution;
  out.desc.surface_velocity = ToVec3(c.surface_velocity);
  out.desc.sensor = c.sensor != 0;
  out.desc.filter = ToFilter(c.filter);
  out.desc.user_data = c.user_data;
  out.has_target = c.has_target != 0;
  out.target = ToPose(c.target);
  out.mesh = mesh;
  out.extent = ExtentOf(out);
  return out;
}

StatePair Saved(const TouchingPair& pair, uint32_t end) {
  const Rebound& r = pair.rebound;
  return {{pair.travel[0], pair.travel[1], pair.travel[2]},
          pair.holds_until,
          {pair.first, pair.second},
          end,
          pair.is_reported ? 1u : 0u,
          r.speed,
          r.time,
          r.energy,
          pair.was_searched ? 1u : 0u,
          pair.is_open ? 1u : 0u,
          pair.is_complete ? 0u : 1u};
}

StateBodyContact Saved(const PastContact& contact) {
  StateBodyContact out = {};
  std::copy_n(contact.triangles, 2, out.triangles);
  std::copy_n(contact.u, 2, out.u);
  std::copy_n(contact.v, 2, out.v);
  Copy(contact.normal, out.normal);
  Copy(contact.force, out.force);
  return out;
}

StateForce Saved(const PendingForce& force) {
  const ForceField& field = force.field;
  StateForce out = {};
  out.body = force.body;
  out.type = static_cast<uint32_t>(field.type);
  Copy(field.vector, out.vector);
  Copy(field.centre, out.centre);
  out.radius = field.radius;
  out.strength = field.strength;
  out.air_density = field.air_density;
  out.drag = field.drag;
  out.mask = field.mask;
  out.wake = field.wake ? 1 : 0;
  return out;
}

PendingForce ToForce(const StateForce& f) {
  PendingForce out;
  out.body = f.body;
  out.field.type = static_cast<FieldType>(f.type);
  out.field.vector = ToVec3(f.vector);
  out.field.centre = ToVec3(f.centre);
  out.field.radius = f.radius;
  out.field.strength = f.strength;
  out.field.air_density = f.air_density;
  out.field.drag = f.drag;
  out.field.mask = f.mask;
  out.field.wake = f.wake != 0;
  return out;
}

namespace {

bool IsShape(const StateCollider& c) {
  const float* s = c.shape;
  const auto are_lengths = [s](int first, int end) {
    return std::all_of(s + first, s + end,
                       [](float x) { return x > 0.0f && x <= kMostColliderSize; });
  };
  const float length2 = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
  switch (static_cast<ShapeType>(c.type)) {
    case ShapeType::kPlane:
      return length2 > 0.99f && length2 < 1.01f && std::isfinite(s[3]);
    case ShapeType::kSphere:
      return are_lengths(0, 1);
    case ShapeType::kCapsule:
      return (s[0] == 0.0f || are_lengths(0, 1)) && are_lengths(1, 2);
    case ShapeType::kBox:
      return are_lengths(0, 3);
    case ShapeType::kHull:
    case ShapeType::kHeightField:
    case ShapeType::kMesh:
      return true;
  }
  return false;
}

bool HasTriangles(const StateCollider& c) {
  const auto type = static_cast<ShapeType>(c.type);
  return type == ShapeType::kHeightField || type == ShapeType::kMesh;
}

}  // namespace

const TriangleSource* StateReader::MeshOf(const StateCollider& collider) const {
  if (!HasTriangles(collider)) return nullptr;
  const auto is_it = [&](const Collider& own) {
    return own.id != 0 && static_cast<uint32_t>(own.desc.type) == collider.type &&
           own.mesh.hash == collider.mesh_hash;
  };
  // Most states come back to the world that they are of: the slot is the same.
  const std::span<const Collider> own(own_colliders_, num_own_colliders_);
  if (collider.slot < own.size() && is_it(own[collider.slot])) return &own[collider.slot].mesh;
  const auto it = std::ranges::find_if(own, is_it);
  return it != own.end() ? &it->mesh : nullptr;
}

bool StateReader::has_meshes() const {
  for (uint32_t i = 0; i < world_.num_colliders; ++i) {
    if (HasTriangles(collider(i))) return true;
  }
  return false;
}

// Of the collider in a slot; null if it has no triangles.
const TriangleSource* StateReader::MeshInSlot(uint32_t slot) const {
  uint32_t begin = 0, end = world_.num_colliders;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (collider(middle).slot < slot) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < world_.num_colliders ? MeshOf(collider(begin)) : nullptr;
}

// Whether the points of a collider follow those before `end`, and are as many as it may have. Moves
// `end` behind them.
bool StateReader::ArePoints(const StateCollider& c, uint32_t* end) const {
  if (c.type != static_cast<uint32_t>(ShapeType::kHull)) {
    return c.num_points == 0 && c.first_point == 0;
  }
  if (c.first_point != *end || c.num_points < kLeastHullPoints || c.num_points > kMostHullPoints ||
      c.num_points > world_.num_hull_points - *end) {
    return false;
  }
  *end += c.num_points;
  return true;
}

// LoadState checks the shapes of hulls as it makes them.
Status StateReader::CheckColliders() const {
  uint32_t num_points = 0;  // of hulls
  for (uint32_t i = 0; i < world_.num_colliders; ++i) {
    const StateCollider c = collider(i);
    const char* const section = "state.colliders";
    if (c.slot >= world_.num_collider_slots || collider_slot(c.slot).link != SlotList<>::kLive ||
        (i > 0 && collider(i - 1).slot >= c.slot)) {
      return Corrupt(section, "wrong slot", i);
    }
    if (c.type > static_cast<uint32_t>(ShapeType::kMesh)) {
      return Corrupt(section, "no such shape", i);
    }
    if (HasTriangles(c) && MeshOf(c) == nullptr) {
      return {StatusCode::kMismatch, section,
              "has a height field or mesh that no collider of this world has", i};
    }
    if (!IsShape(c) || !IsPose(c.pose) || !IsPose(c.target) || c.has_target > 1 ||
        !AreFinite(c.velocity) || !AreFinite(c.angular_velocity) ||
        !AreFinite(c.surface_velocity) || c.sensor > 1u ||
        !IsCoefficient(c.friction, kMostCoefficient) || !IsCoefficient(c.restitution, 1.0f)) {
      return Corrupt(section, "a number is out of range", i);
    }
    if (!ArePoints(c, &num_points)) return Corrupt(section, "wrong number of points", i);
  }
  if (num_points != world_.num_hull_points) return Corrupt("state.colliders", "has loose points");
  return {};
}

// Whether the body in a slot has a point in the triangle of its surface.
bool StateReader::IsInTriangle(uint32_t slot, uint32_t triangle, float u, float v) const {
  constexpr float kMostWeights = 1.001f;  // of two corners; rounding included
  StateBody body = {};
  return slot < world_.num_body_slots && FindBody(slot, &body) &&
         triangle < AssetOf(system(body.system)).collision().num_triangles() && u >= 0.0f &&
         v >= 0.0f && u + v <= kMostWeights;
}

namespace {

bool IsRebound(const StatePair& pair) {
  const auto is_one = [](float x) { return x >= 0.0f && std::isfinite(x); };
  return is_one(pair.rebound_speed) && is_one(pair.rebound_time) && is_one(pair.rebound_energy);
}

}  // namespace

Status StateReader::CheckBodyContacts() const {
  const char* const section = "state.body_contacts";
  StateBody body = {};
  const auto is_body = [&](uint32_t slot) {
    return slot < world_.num_body_slots && FindBody(slot, &body);
  };
  uint32_t begin = 0;
  for (uint32_t i = 0; i < world_.num_pairs; ++i) {
    const StatePair p = pair(i);
    const StatePair before = i > 0 ? pair(i - 1) : StatePair{};
    const bool is_after = i == 0 || std::make_pair(before.bodies[0], before.bodies[1]) <
                                        std::make_pair(p.bodies[0], p.bodies[1]);
    if (!is_after || p.bodies[0] >= p.bodies[1] || !is_body(p.bodies[0]) || !is_body(p.bodies[1])) {
      return Corrupt(section, "no such pair, or out of order", i);
    }
    if (p.end < begin || p.end > world_.num_body_contacts ||
        p.end - begin > TouchingBodies::kMostContacts || !std::isfinite(p.holds_until) ||
        !std::all_of(p.travel, p.travel + 3, [](double x) { return std::isfinite(x); }) ||
        p.is_reported > 1 || p.was_searched > 1 || p.is_open > 1 || p.is_incomplete > 1 ||
        !IsRebound(p)) {
      return Corrupt(section, "a number is out of range", i);
    }
    for (; begin < p.end; ++begin) {
      const StateBodyContact c = body_contact(begin);
      for (int k = 0; k < 2; ++k) {
        if (!IsInTriangle(p.bodies[k], c.triangles[k], c.u[k], c.v[k])) {
          return Corrupt(section, "no such point of a body", begin);
        }
      }
      const Vec3 normal = ToVec3(c.normal);
      if (!(std::fabs(Length(normal) - 1.0f) < 1.0e-3f) || !AreFinite(c.force)) {
        return Corrupt(section, "a number is out of range", begin);
      }
    }
  }
  if (begin != world_.num_body_contacts) return Corrupt(section, "are of no pair", begin);
  return {};
}

// Whether the world has given the id out. The body may have been removed.
bool StateReader::IsBodyId(uint64_t id) const {
  const uint32_t slot = SlotOf(id), generation = GenerationOf(id);
  return TagOf(id) == header_.tag && slot < world_.num_body_slots && generation > 0 &&
         generation <= body_slot(slot).generation;
}

bool StateReader::IsColliderId(uint64_t id) const {
  const uint32_t slot = SlotOf(id), generation = GenerationOf(id);
  return TagOf(id) == header_.tag && slot < world_.num_collider_slots && generation > 0 &&
         generation <= collider_slot(slot).generation;
}

Status StateReader::CheckEnds() const {
  if (world_.lost_ends > 1) return Corrupt("state.ends", "a number is out of range");
  for (uint32_t i = 0; i < world_.num_ends; ++i) {
    const StateEnd e = end(i);
    const bool is_pair = e.collider == 0;
    if (!IsBodyId(e.body) || !(is_pair ? IsBodyId(e.other_body) : e.other_body == 0) ||
        !(is_pair || IsColliderId(e.collider))) {
      return Corrupt("state.ends", "no such body or collider", i);
    }
  }
  return {};
}

Status StateReader::CheckForces() const {
  for (uint32_t i = 0; i < world_.num_forces; ++i) {
    const StateForce f = force(i);
    const float numbers[4] = {f.radius, f.strength, f.air_density, f.drag};
    if (f.type > static_cast<uint32_t>(FieldType::kWind) || f.wake > 1 || !AreFinite(f.vector) ||
        !AreFinite(f.centre) || !AreFinite(numbers) || !(f.radius > 0.0f) ||
        !(f.air_density >= 0.0f) || !(f.drag >= 0.0f)) {
      return Corrupt("state.forces", "a number is out of range", i);
    }
    if (f.body != 0 && !IsBodyId(f.body)) return Corrupt("state.forces", "no such body", i);
  }
  for (uint32_t i = 0; i < world_.num_time_steps; ++i) {
    if (!IsTimeStep(time_step(i))) return Corrupt("state.time_steps", "is no time step", i);
  }
  return {};
}

// Whether the world's hulls are those of the state.
bool World::Impl::HasHullsOf(const StateReader& state) const {
  uint32_t i = 0;
  for (uint32_t slot = 0; slot < colliders.size(); ++slot) {
    const std::span<const Vec3> own = colliders[slot].desc.hull.points;
    StateCollider saved = {};
    if (i < state.world().num_colliders && state.collider(i).slot == slot) {
      saved = state.collider(i++);
    }
    if (own.size() != saved.num_points) return false;
    for (uint32_t k = 0; k < saved.num_points; ++k) {
      const Vec3 point = state.hull_point(saved.first_point + k);
      if (std::memcmp(&point, &own[k], sizeof(point)) != 0) return false;
    }
  }
  for (; i < state.world().num_colliders; ++i) {
    if (state.collider(i).num_points > 0) return false;
  }
  return true;
}

// The next step links rows, points and islands.
bool World::Impl::HasRoomForPairs(const StateReader& state) const {
  return state.world().num_pairs <= touching_bodies.pairs.size() &&
         state.world().num_body_contacts <= touching_bodies.past.size();
}

void World::Impl::LoadBodyContacts(const StateReader& state) {
  TouchingBodies& t = touching_bodies;
  t.num_pairs = t.num_contacts = 0;
  t.num_past_pairs = state.world().num_pairs;
  for (uint32_t i = 0, begin = 0; i < t.num_past_pairs; ++i) {
    const StatePair saved = state.pair(i);
    TouchingPair& pair = t.past_pairs[i] = {};
    pair.first = saved.bodies[0];
    pair.second = saved.bodies[1];
    pair.begin = begin;
    pair.end = saved.end;
    std::copy(saved.travel, saved.travel + 3, pair.travel);
    pair.holds_until = saved.holds_until;
    pair.is_reported = saved.is_reported != 0;
    pair.was_searched = saved.was_searched != 0;
    pair.is_open = saved.is_open != 0;
    pair.is_complete = saved.is_incomplete == 0;
    pair.rebound = {0, saved.rebound_speed, saved.rebound_time, saved.rebound_energy};
    for (; begin < saved.end; ++begin) {
      const StateBodyContact c = state.body_contact(begin);
      t.past[begin] = {{c.triangles[0], c.triangles[1]},
                       {c.u[0], c.u[1]},
                       {c.v[0], c.v[1]},
                       ToVec3(c.normal),
                       ToVec3(c.force)};
      pair.presses = pair.presses || !IsZero(t.past[begin].force);
    }
  }
  islands_changed = true;
}

}  // namespace plush
