// SPDX-License-Identifier: MIT
// StateReader: checks the bodies and crowds of a state, their links to each other, and the numbers
// in their sections.
#include "plush/format/tet_block.h"

#include "asset/regions.h"
#include "body/body.h"
#include "body/make_body.h"
#include "body/solver_method.h"
#include "contact/plane_contacts.h"
#include "state/state_checks.h"
#include "state/state_reader.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace plush {
namespace {

constexpr const char* kBodies = "state.bodies";
constexpr const char* kCrowds = "state.crowds";

bool MayJoinCrowds(const StateBody& body, const StateSystem& system) {
  return !Has(body, kStateFixed) && !Has(body, kStateReports) && system.damping == 0.0f &&
         system.drag == 0.0f && body.solver == 0;
}

uint32_t CountBodies(const StateCrowd& crowd) {
  return static_cast<uint32_t>(kCrowdLanes) -
         static_cast<uint32_t>(std::count(crowd.slots, crowd.slots + kCrowdLanes, kNoIndex));
}

// Whether a time step is finite, or zero before the first step.
bool IsStepOrZero(float dt) { return dt >= 0.0f && std::isfinite(dt); }

// Whether the fourth numbers of positions are the inverse masses of the nodes, and those of
// velocities zero.
bool HasMasses(const BodyBulk& bulk, std::span<const float> masses, float mass_scale,
               std::span<const uint8_t> pinned) {
  uint32_t wrong = 0;
  for (size_t i = 0; i < masses.size(); ++i) {
    const float mass = masses[i] * mass_scale;
    const uint32_t inverse = pinned[i] != 0 ? 0u : std::bit_cast<uint32_t>(1.0f / mass);
    wrong |= WordAt(bulk.x, 4 * i + 3) ^ inverse;
    wrong |= WordAt(bulk.v, 4 * i + 3) << 1;  // of either sign
  }
  return wrong == 0;
}

}  // namespace

BodyLayout StateReader::LayoutOf(const StateBody& body, const StateSystem& system) const {
  const Asset& asset = AssetOf(system);
  return BodyLayout(body, system.num_nodes, asset.simulation().blocks.size(),
                    NumRegions(asset.bytes()));
}

BodyBulk StateReader::BulkOf(const StateBody& body) const {
  const BodyLayout layout = LayoutOf(body, system(body.system));
  BodyBulk bulk;
  const std::byte* at = bytes_.data() + body_bulk_ + static_cast<size_t>(body.bulk_at);
  const auto take = [&at](uint64_t bytes) {
    const std::byte* first = at;
    at += static_cast<size_t>(bytes);
    return first;
  };
  bulk.x = take(layout.x);
  bulk.v = take(layout.v);
  bulk.rotations = take(layout.rotations);
  bulk.kappa = take(layout.kappa);
  bulk.previous = take(layout.previous);
  bulk.searched = take(layout.searched);
  bulk.resting = take(layout.resting);
  bulk.targets = take(layout.targets);
  bulk.regions = take(layout.regions);
  bulk.motions = take(layout.motions);
  bulk.reactions = take(layout.reactions);
  bulk.contacts = take(layout.contacts);
  bulk.touches = take(layout.touches);
  bulk.coupled = take(layout.coupled);
  bulk.couplings = take(layout.couplings);
  bulk.models = take(layout.models);
  return bulk;
}

// The body in a slot. The bodies' slots ascend.
bool StateReader::FindBody(uint32_t slot, StateBody* out_body) const {
  uint32_t low = 0, high = world_.num_bodies;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    (body(middle).slot < slot ? low : high) = body(middle).slot < slot ? middle + 1 : middle;
  }
  if (low == world_.num_bodies) return false;
  *out_body = body(low);
  return out_body->slot == slot;
}

Status StateReader::CheckCrowds() const {
  uint32_t num_open = 0;
  for (uint32_t i = 0; i < world_.num_crowds; ++i) {
    const StateCrowd c = crowd(i);
    if (c.system >= world_.num_systems || system(c.system).base != kNoIndex) {
      return Corrupt(kCrowds, "no such system", i);
    }
    if (!IsStepOrZero(c.kappa_dt) || c.has_lanes > 1) {
      return Corrupt(kCrowds, "a number is out of range", i);
    }
    if (CountBodies(c) == 0) return Corrupt(kCrowds, "has no body", i);
    num_open += CountBodies(c) < kCrowdLanes ? 1 : 0;
  }
  // Each open crowd is in its system's list once: a list that visits one twice never ends.
  uint32_t visited = 0;
  for (uint32_t s = 0; s < world_.num_systems; ++s) {
    for (uint32_t i = system(s).first_open; i != kNoIndex; i = crowd(i).next_open) {
      if (i >= world_.num_crowds || crowd(i).system != s || visited == num_open ||
          CountBodies(crowd(i)) == kCrowdLanes) {
        return Corrupt(kCrowds, "are in no list of open crowds", s);
      }
      ++visited;
    }
  }
  if (visited != num_open) return Corrupt(kCrowds, "are in no list of open crowds", visited);
  return {};
}

Status StateReader::CheckBodies() {
  uint64_t in_crowds = 0;
  body_bulk_ = at_;
  for (uint32_t i = 0; i < world_.num_bodies; ++i) {
    const StateBody b = body(i);
    if (b.slot >= world_.num_body_slots || body_slot(b.slot).link != SlotList<>::kLive ||
        (i > 0 && body(i - 1).slot >= b.slot)) {
      return Corrupt(kBodies, "wrong slot", i);
    }
    if (b.system >= world_.num_systems) return Corrupt(kBodies, "no such system", i);
    const StateSystem s = system(b.system);
    Status status = CheckBody(i, b, s);
    if (!status.ok()) return status;
    size_t at = 0;
    if (b.bulk_at != at_ - body_bulk_) return Corrupt(kBodies, "are not consecutive", i);
    if (!TakeSection(LayoutOf(b, s).Sum(), &at)) return Corrupt(kBodies, "exceed the state", i);
    status = CheckBodyBulk(i, b, s);
    if (!status.ok()) return status;
    in_crowds += b.crowd != kNoIndex ? 1 : 0;
  }
  uint64_t in_lanes = 0;
  for (uint32_t i = 0; i < world_.num_crowds; ++i) in_lanes += CountBodies(crowd(i));
  if (in_lanes != in_crowds) return Corrupt(kCrowds, "have bodies that are not in them", 0);
  return {};
}

BodySolver StateReader::SolverOf(const StateBody& b) const {
  const auto is_it = [&](const SolverMethod* method) { return NumberOf(method) == b.solver; };
  const auto found = std::ranges::find_if(solvers_, is_it);
  BodySolver solver = SplittingSolver(SplittingOf(b));
  if (b.solver != 0 && found != solvers_.end()) solver.method = *found;
  solver.implicit = {.newton_iterations = b.newton_iterations,
                     .linear_iterations = b.linear_iterations,
                     .newton_tolerance = b.newton_tolerance,
                     .linear_tolerance = b.linear_tolerance,
                     .differential = static_cast<StressDifferential>(b.differential),
                     .preconditioner = static_cast<Preconditioner>(b.preconditioner),
                     .line_search = b.line_search != 0,
                     .assembled = b.assembled != 0,
                     .mass_damping = b.mass_damping,
                     .linear_method = static_cast<LinearMethod>(b.linear_method),
                     .quasistatic = b.quasistatic != 0,
                     .model = static_cast<MaterialModel>(b.model),
                     .rotation = static_cast<RotationMethod>(b.rotation),
                     .alpha = b.alpha,
                     .beta = b.beta,
                     .exact_degenerate_stress = b.exact_degenerate_stress != 0};
  return solver;
}

Status StateReader::CheckBody(uint32_t index, const StateBody& b, const StateSystem& s) const {
  const auto wrong = [index](const char* reason) { return Corrupt(kBodies, reason, index); };
  if ((b.flags & ~uint32_t{kStateAllFlags}) != 0) return wrong("unknown flags");
  const float numbers[6] = {b.resting_time,  b.gravity_factor, b.kappa_dt,
                            b.rebound_speed, b.rebound_time,   b.rebound_energy};
  double most = 0.0;
  for (int k = 0; k < 3; ++k) {
    most = std::fmax(most, std::fmax(std::fabs(b.origin[k]), std::fabs(b.previous_origin[k])));
    if (std::isnan(b.origin[k]) || std::isnan(b.previous_origin[k])) return wrong("no origin");
  }
  const bool has_energy =
      b.guard_credit >= 0.0 && std::isfinite(b.guard_credit) && std::isfinite(b.guard_elastic);
  if (most > double(std::numeric_limits<float>::max()) || !AreFinite(numbers) || !has_energy ||
      !(b.max_speed > 0.0f) || !(b.resting_time >= 0.0f) || b.rebound_speed < 0.0f ||
      b.rebound_time < 0.0f || b.rebound_energy < 0.0f || !IsStepOrZero(b.kappa_dt) ||
      !IsStepOrZero(b.dt) || !IsCoefficient(b.friction, kMostCoefficient) ||
      !IsCoefficient(b.restitution, 1.0f)) {
    return wrong("a number is out of range");
  }
  if (!CheckSplitting(SplittingOf(b)).ok()) return wrong("settings are out of range");
  const BodySolver solver = SolverOf(b);
  if (b.solver != NumberOf(solver.method)) {
    return {StatusCode::kMismatch, kBodies, "need a solver that is missing", index};
  }
  if (!CheckSolver(solver).ok() || b.line_search > 1 ||
      b.differential != static_cast<uint32_t>(solver.implicit.differential) ||
      b.preconditioner != static_cast<uint32_t>(solver.implicit.preconditioner) ||
      b.linear_method != static_cast<uint32_t>(solver.implicit.linear_method) ||
      b.model != static_cast<uint32_t>(solver.implicit.model) ||
      b.rotation != static_cast<uint32_t>(solver.implicit.rotation) || b.quasistatic > 1 ||
      b.exact_degenerate_stress > 1 || b.assembled > 1) {
    return wrong("settings of the solver are out of range");
  }
  const auto are_finite = [](const double(&x)[3]) {
    return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]);
  };
  if (!std::isfinite(b.searched_way) || !(b.searched_way >= 0.0) ||
      !are_finite(b.searched_origin) || !are_finite(b.searched_travel)) {
    return wrong("an earlier place is out of range");
  }
  if (Has(b, kStateHasPrevious) && header_.keep_previous == 0) return wrong("keep no positions");
  if (Has(b, kStatePinsMove) && !Has(b, kStateHasTargets)) return wrong("have no targets");
  const bool is_fixed = Has(b, kStateFixed);
  if (s.drag != (is_fixed ? 0.0f : DragOf(solver))) return wrong("have another drag");
  if (is_fixed && Has(b, kStateHasResting)) return wrong("are fixed and come to rest");
  if (is_fixed && s.num_pinned != s.num_nodes) return wrong("are fixed without all pins");
  if (b.stats.substeps > uint32_t{kMaxSubsteps}) return wrong("made too many substeps");
  if (b.num_contacts > 0 && (is_fixed || Has(b, kStateFrozen))) return wrong("cannot touch");
  bool has_factor = is_fixed;
  for (uint32_t k = 0; k < s.num_sets; ++k) {
    has_factor = has_factor || set(s.first_set + k).dt == b.dt;
  }
  if (!has_factor) return wrong("have no factor");
  if (b.num_coupled > MostTouchingPoints(s.num_nodes) ||
      (b.num_coupled > 0) != (b.factor_id != 0) ||
      (b.num_coupled > 0 && (is_fixed || world_.num_collider_slots == 0))) {
    return wrong("have impossible couplings");
  }
  if (b.num_contacts > MostContacts(s.num_nodes, world_.num_collider_slots)) {
    return wrong("have too many contacts");
  }
  if (b.num_touches > std::min(size_t{world_.num_collider_slots}, kMostNearColliders)) {
    return wrong("have too many touches");
  }
  if (b.num_coupled > max_contacts_ ||
      b.num_contacts > MostContacts(s.num_nodes, world_.num_collider_slots, max_contacts_)) {
    return {StatusCode::kMismatch, kBodies, "have more contacts than max_contacts", index};
  }
  if (b.crowd == kNoIndex) {
    return b.lane == kNoIndex && !Has(b, kStateInLane) ? Status{} : wrong("are in no lane");
  }
  if (b.crowd >= world_.num_crowds || b.lane >= kCrowdLanes || !MayJoinCrowds(b, s)) {
    return wrong("cannot be in a crowd");
  }
  const StateCrowd c = crowd(b.crowd);
  const uint32_t of_crowd = s.base != kNoIndex ? s.base : b.system;
  if (c.slots[b.lane] != b.slot || c.system != of_crowd ||
      (Has(b, kStateInLane) && c.has_lanes == 0)) {
    return wrong("are not in their crowd");
  }
  const auto is_body = [](uint32_t slot) { return slot != kNoIndex; };
  StateBody first = {};
  if (!FindBody(*std::find_if(c.slots, c.slots + kCrowdLanes, is_body), &first) ||
      SplittingOf(first) != SplittingOf(b)) {
    return wrong("have other settings than their crowd");
  }
  return {};
}

Status StateReader::CheckBodyBulk(uint32_t index, const StateBody& b, const StateSystem& s) const {
  const auto wrong = [index](const char* reason) { return Corrupt(kBodies, reason, index); };
  const BodyBulk bulk = BulkOf(b);
  const BodyLayout layout = LayoutOf(b, s);
  const SimulationView& simulation = AssetOf(s).simulation();
  if (!AreWithin(bulk.x, s.num_nodes, LimitOf(b.origin, s.scale)) ||
      !AreFinite(bulk.v, 4 * size_t{s.num_nodes})) {
    return wrong("a position or velocity is out of range");
  }
  if (!HasMasses(bulk, simulation.masses, s.mass_scale, PinnedOf(s))) {
    return wrong("do not have the asset's masses");
  }
  if (layout.previous > 0 &&
      !AreWithin(bulk.previous, s.num_nodes, LimitOf(b.previous_origin, s.scale))) {
    return wrong("a position before the step is out of range");
  }
  if (!AreFinite(bulk.searched, static_cast<size_t>(layout.searched / 4)) ||
      !AreFinite(bulk.resting, static_cast<size_t>(layout.resting / 4))) {
    return wrong("an earlier position is not finite");
  }
  // The rotations of a body that froze may be anything; it does not move before they are reset.
  if (!Has(b, kStateFrozen)) {
    uint32_t lanes[16] = {};
    MarkWrongRotations(bulk.rotations, static_cast<size_t>(layout.rotations / 256), lanes);
    if (std::count(lanes, lanes + 16, 0u) != 16 ||
        !AreFinite(bulk.kappa, static_cast<size_t>(layout.kappa / 4)) ||
        !AreFinite(bulk.reactions, static_cast<size_t>(layout.reactions / 4))) {
      return wrong("a rotation or multiplier is out of range");
    }
  }
  if (!CheckModels(b, s, bulk)) return wrong("a tet of a material model is out of range");
  const Status status = CheckPins(index, b, s, bulk);
  const Status touches = status.ok() ? CheckTouches(index, b, bulk) : status;
  return touches.ok() ? CheckContacts(index, b, s, bulk) : touches;
}

// Rotations are of length sqrt(3) as matrices, also with a reflection.
bool StateReader::CheckModels(const StateBody& b, const StateSystem& s,
                              const BodyBulk& bulk) const {
  const bool has_any = b.solver != 0 && UsesModel(SolverOf(b).implicit);
  if (b.num_models != (has_any ? AssetOf(s).simulation().tets.size() : 0)) return false;
  if (Has(b, kStateFrozen)) return true;
  for (uint32_t i = 0; i < b.num_models; ++i) {
    StateModelTet tet;
    std::memcpy(&tet, bulk.models + sizeof(tet) * i, sizeof(tet));
    float squares = 0.0f;
    for (const float number : tet.rotation) squares += number * number;
    if (!(std::fabs(squares - 3.0f) < 0.01f) || !AreFinite(tet.reflected) || tet.witness > 255 ||
        !IsWitness(static_cast<Witness>(tet.witness))) {
      return false;
    }
  }
  return true;
}

Status StateReader::CheckTouches(uint32_t index, const StateBody& b, const BodyBulk& bulk) const {
  const auto wrong = [index](const char* reason) { return Corrupt(kBodies, reason, index); };
  for (uint32_t i = 0, least = 0; i < b.num_touches; ++i) {
    StateTouch t;
    std::memcpy(&t, bulk.touches + sizeof(t) * i, sizeof(t));
    const uint32_t slot = SlotOf(t.collider), generation = GenerationOf(t.collider);
    if (slot < least || slot >= world_.num_collider_slots || TagOf(t.collider) != header_.tag ||
        generation == 0 || generation > collider_slot(slot).generation) {
      return wrong("a touch is of no collider, or out of order");
    }
    if (!AreFinite(t.force) || !AreFinite(t.torque) || !AreFinite(t.point) ||
        !AreFinite(t.normal) || !std::isfinite(t.impulse) || !std::isfinite(t.approach_speed) ||
        t.is_sensor > 1 || t.is_reported > 1) {
      return wrong("a touch's number is out of range");
    }
    least = slot + 1;
  }
  return {};
}

Status StateReader::CheckPins(uint32_t index, const StateBody& b, const StateSystem& s,
                              const BodyBulk& bulk) const {
  if (!Has(b, kStateHasTargets)) return {};
  const auto wrong = [index](const char* reason) { return Corrupt(kBodies, reason, index); };
  if (!AreWithin(bulk.targets, s.num_nodes, LimitOf(b.origin, s.scale))) {
    return wrong("a target is out of range");
  }
  const uint32_t num_regions = NumRegions(AssetOf(s).bytes());
  for (size_t i = 0; i < s.num_nodes; ++i) {
    const auto region = static_cast<int32_t>(WordAt(bulk.regions, i));
    if (region < PinMotion::kStays || region >= static_cast<int64_t>(num_regions)) {
      return wrong("a target is of no region");
    }
  }
  for (uint32_t i = 0; i < num_regions; ++i) {
    StateMotion motion;
    std::memcpy(&motion, bulk.motions + sizeof(motion) * i, sizeof(motion));
    if (!IsPose(motion.from) || !IsPose(motion.to) || motion.known > 1 || motion.moves > 1) {
      return wrong("a region's pose is out of range");
    }
  }
  return {};
}

Status StateReader::CheckContacts(uint32_t index, const StateBody& b, const StateSystem& s,
                                  const BodyBulk& bulk) const {
  const auto wrong = [index](const char* reason) { return Corrupt(kBodies, reason, index); };
  const CollisionView& surface = AssetOf(s).collision();
  const TouchingSurface touching = {&surface, PinnedOf(s)};
  constexpr float kMostWeights = 1.001f;  // of two corners; rounding included
  std::tuple<uint32_t, uint32_t, uint32_t> before;
  for (uint32_t i = 0; i < b.num_contacts; ++i) {
    StateContact c;
    std::memcpy(&c, bulk.contacts + sizeof(c) * i, sizeof(c));
    if (c.slot >= b.num_coupled || c.collider >= world_.num_collider_slots ||
        collider_slot(c.collider).link != SlotList<>::kLive) {
      return wrong("a contact has no point or plane");
    }
    const auto key = std::make_tuple(PointAt(bulk.coupled, c.slot).id, c.collider, c.face);
    if (i > 0 && key <= before) return wrong("contacts are out of order");
    before = key;
    const TriangleSource* mesh = MeshInSlot(c.collider);
    if ((mesh == nullptr) != (c.face == kNoTriangle) ||
        (mesh != nullptr && c.face / 2 >= mesh->num_triangles())) {
      return wrong("a contact has no such triangle");
    }
    if (!AreFinite(c.impulse) || !AreFinite(c.normal)) {
      return wrong("a contact's impulse or normal is not finite");
    }
  }
  for (uint32_t i = 0; i < b.num_coupled; ++i) {
    const StatePoint point = PointAt(bulk.coupled, i);
    const bool is_in_triangle =
        point.u >= 0.0f && point.v >= 0.0f && point.u + point.v <= kMostWeights;
    if (point.id >= touching.num_ids() || !is_in_triangle) {
      return wrong("a coupling is of no point");
    }
  }
  if (!AreFinite(bulk.couplings, size_t{b.num_coupled} * (b.num_coupled + 1) / 2)) {
    return wrong("a coupling is not finite");
  }
  return {};
}

Status StateReader::CheckCrowdBulk() {
  crowd_bulk_ = at_;
  for (uint32_t i = 0; i < world_.num_crowds; ++i) {
    const StateCrowd c = crowd(i);
    if (c.bulk_at != at_ - crowd_bulk_) return Corrupt(kCrowds, "are not consecutive", i);
    if (c.has_lanes == 0) continue;
    const size_t places = kBlockTets * AssetOf(system(c.system)).simulation().blocks.size();
    size_t at = 0;
    if (!TakeSection(CrowdBytes(places / kBlockTets), &at)) {
      return Corrupt(kCrowds, "exceed the state", i);
    }
    // Lanes without a body may hold anything, because lanes do not read each other.
    uint32_t carries[kCrowdLanes] = {}, lanes[kCrowdLanes] = {};
    MarkWrongRotations(&bytes_[at], places, lanes);
    const std::byte* kappa = &bytes_[at] + sizeof(float) * kCrowdRotation * places;
    for (size_t row = 0; row < places; ++row, kappa += sizeof(float) * kCrowdLanes) {
      for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
        carries[lane] |= (WordAt(kappa, lane) & 0x7fffffffu) + 0x00800000u;
      }
    }
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      StateBody b = {};
      if (c.slots[lane] == kNoIndex || !FindBody(c.slots[lane], &b)) continue;
      if (Has(b, kStateInLane) && !Has(b, kStateFrozen) &&
          (carries[lane] >> 31 | lanes[lane]) != 0) {
        return Corrupt(kCrowds, "a rotation or multiplier is out of range", i);
      }
    }
  }
  return {};
}

}  // namespace plush
