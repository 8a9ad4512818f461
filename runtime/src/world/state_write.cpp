// SPDX-License-Identifier: MIT
// StateBytes and SaveState: write a world into the caller's memory, section by section.
// Format: state_format.h.
#include "body/contact_method.h"
#include "body/solver_method.h"
#include "world/state_format.h"
#include "world/state_scenery.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstring>

namespace plush {
namespace {

// Counts bytes, and writes them if it has memory.
class Sink {
 public:
  explicit Sink(std::byte* out) : out_(out) {}

  void Write(const void* from, size_t bytes) {
    if (out_ != nullptr && bytes > 0) std::memcpy(out_ + size_, from, bytes);
    size_ += bytes;
  }
  template <class T>
  void Write(const T& value) {
    Write(&value, sizeof(T));
  }
  template <class T>
  void WriteAll(const Array<T>& values) {
    Write(values.data(), sizeof(T) * values.size());
  }
  /// Skips bytes that nothing is written to.
  void Skip(uint64_t bytes) { size_ += static_cast<size_t>(bytes); }
  /// Pads the section and adds it to the checksum while it is in the processor's cache.
  void End() {
    const size_t end = PaddedSize(size_);
    if (out_ != nullptr) {
      std::memset(out_ + size_, 0, end - size_);
      checksum_.Add({out_ + begin_, end - begin_});
    }
    size_ = begin_ = end;
  }
  /// Leaves out of the checksum what was written since the last section.
  void Exclude() { begin_ = size_; }

  bool writes() const { return out_ != nullptr; }
  size_t size() const { return size_; }
  uint64_t checksum() const { return checksum_.value(); }

 private:
  std::byte* out_;
  size_t size_ = 0;
  size_t begin_ = 0;  // of the section
  StateChecksum checksum_;
};

StateStats Saved(const StepStats& s) {
  StateStats out = {s.flags,
                    s.max_speed,
                    s.contacts,
                    s.contact_sweeps,
                    s.substeps,
                    s.outer_iterations,
                    s.asleep,
                    s.overshoots,
                    s.contacts_dropped,
                    s.body_pairs,
                    s.linear_iterations,
                    s.newton_fallbacks,
                    {}};
  static_assert(sizeof(out.phase_s) == sizeof(s.phase_s));
  std::copy(std::begin(s.phase_s), std::end(s.phase_s), out.phase_s);
  return out;
}

StateContact Saved(const PlaneContact& contact) {
  StateContact out = {};
  out.slot = contact.slot;
  out.collider = contact.collider;
  out.face = contact.face;
  Copy(contact.impulse, out.impulse);
  Copy(contact.plane.normal, out.normal);
  return out;
}

StateTouch Saved(const Touch& touch) {
  StateTouch out = {};
  out.collider = touch.collider;
  Copy(touch.force, out.force);
  Copy(touch.torque, out.torque);
  Copy(touch.point, out.point);
  Copy(touch.normal, out.normal);
  out.impulse = touch.impulse;
  out.approach_speed = touch.approach_speed;
  out.triangle = touch.triangle;
  out.other_triangle = touch.other_triangle;
  out.is_sensor = touch.is_sensor ? 1 : 0;
  out.is_reported = touch.is_reported ? 1 : 0;
  return out;
}

uint32_t FlagsOf(const Body& body) {
  const auto flag = [](bool is_set, StateBodyFlags bit) { return is_set ? uint32_t{bit} : 0u; };
  return flag(body.fixed, kStateFixed) | flag(body.frozen, kStateFrozen) |
         flag(body.asleep, kStateAsleep) | flag(body.enabled, kStateEnabled) |
         flag(body.was_asleep, kStateWasAsleep) | flag(body.in_lane, kStateInLane) |
         flag(body.in_crowd_step, kStateInCrowdStep) |
         flag(body.has_previous && body.previous.size() > 0, kStateHasPrevious) |
         flag(body.pins.reactions.size() > 0, kStateReports) |
         flag(body.pins.targets.size() > 0, kStateHasTargets) |
         flag(body.report_contacts, kStateReportsContacts) | flag(body.pins.rests, kStatePinsRest) |
         flag(body.pins.moves, kStatePinsMove) | flag(body.searched.is_known, kStateHasSearched);
}

StateBody Saved(const Body& body, const StepStats& stats) {
  StateBody out = {};
  out.user_data = body.user_data;
  std::copy(std::begin(body.origin), std::end(body.origin), out.origin);
  out.slot = body.slot;
  out.system = body.system->state_index;
  out.dt = body.dt;
  out.kappa_dt = body.kappa_dt;
  out.still_time = body.still_time;
  out.gravity_factor = body.gravity_factor;
  out.max_speed = body.max_speed;
  out.filter = Saved(body.filter);
  out.flags = FlagsOf(body);
  if ((out.flags & kStateHasPrevious) != 0) {
    std::copy(std::begin(body.previous_origin), std::end(body.previous_origin),
              out.previous_origin);
  }
  if (body.searched.is_known) {
    std::copy(std::begin(body.searched.origin), std::end(body.searched.origin),
              out.searched_origin);
  }
  out.searched_way = body.searched.way;
  out.crowd = body.crowd != nullptr ? body.crowd->index : kNoIndex;
  out.lane = body.crowd != nullptr ? static_cast<uint32_t>(body.lane) : kNoIndex;
  out.num_contacts = body.contacts.num_contacts;
  const PointCouplings& couplings = body.contacts.couplings;
  if (couplings.num_known > 0) {
    out.factor_id = couplings.factor_id;
    out.num_coupled = couplings.num_known;
  }
  out.stats = Saved(stats);
  out.friction = body.coefficients.friction;
  out.restitution = body.coefficients.restitution;
  out.rebound_collider = body.contacts.rebound.collider;
  out.rebound_speed = body.contacts.rebound.speed;
  out.rebound_time = body.contacts.rebound.time;
  out.rebound_energy = body.contacts.rebound.energy;
  out.outer_iterations = body.splitting.outer_iterations;
  out.volume_sweeps = body.splitting.volume_sweeps;
  out.polar_iterations = body.splitting.polar_iterations;
  out.num_touches = body.num_touches;
  out.solver = NumberOf(body.solver.method);
  const ImplicitSettings& implicit = body.solver.implicit;
  out.newton_iterations = implicit.newton_iterations;
  out.linear_iterations = implicit.linear_iterations;
  out.newton_tolerance = implicit.newton_tolerance;
  out.linear_tolerance = implicit.linear_tolerance;
  out.mass_damping = implicit.mass_damping;
  out.differential = static_cast<uint32_t>(implicit.differential);
  out.preconditioner = static_cast<uint32_t>(implicit.preconditioner);
  out.line_search = implicit.line_search ? 1 : 0;
  out.linear_method = static_cast<uint32_t>(implicit.linear_method);
  out.quasistatic = implicit.quasistatic ? 1 : 0;
  out.model = static_cast<uint32_t>(implicit.model);
  out.rotation = static_cast<uint32_t>(implicit.rotation);
  out.alpha = implicit.alpha;
  out.beta = implicit.beta;
  out.exact_degenerate_stress = implicit.exact_degenerate_stress ? 1 : 0;
  if (out.solver != 0 && UsesModel(implicit)) {
    out.num_models = static_cast<uint32_t>(body.newton.tets.size());
  }
  return out;
}

BodyLayout LayoutOf(const Body& body, const StateBody& saved) {
  return BodyLayout(saved, body.x.size(), body.elements.blocks.size(), body.pins.motions.size());
}

void WriteCouplings(const PointCouplings& couplings, Sink* sink) {
  for (uint32_t k = 0; k < couplings.num_known; ++k) {
    const EmbeddedPoint& point = couplings.points[k];
    sink->Write(StatePoint{point.id, point.u, point.v});
  }
  for (uint32_t k = 0; k < couplings.num_known; ++k) {
    for (uint32_t other = 0; other <= k; ++other) sink->Write(couplings.Row(k)[other]);
  }
}

StateModelTet Saved(const ModelTet& tet) {
  const Matrix3<float>& R = tet.state.rotation;
  const Vector3<float>& reflected = tet.state.reflected;
  return {{R.c0.x, R.c0.y, R.c0.z, R.c1.x, R.c1.y, R.c1.z, R.c2.x, R.c2.y, R.c2.z},
          {reflected.x, reflected.y, reflected.z},
          tet.state.witness};
}

void WriteBulk(const Body& body, const StateBody& saved, Sink* sink) {
  const BodyLayout layout = LayoutOf(body, saved);
  if (!sink->writes()) {
    sink->Skip(layout.Sum());
    return sink->End();
  }
  sink->WriteAll(body.x);
  sink->WriteAll(body.v);
  if (layout.rotations > 0) {
    sink->WriteAll(body.rotations);
    sink->WriteAll(body.kappa);
  }
  if (layout.previous > 0) sink->WriteAll(body.previous);
  if (layout.searched > 0) sink->WriteAll(body.searched.y);
  if (layout.targets > 0) {
    sink->WriteAll(body.pins.targets);
    sink->WriteAll(body.pins.regions);
    for (const RegionMotion& motion : body.pins.motions) {
      const StateMotion out = {Saved(motion.from), Saved(motion.to), motion.known ? 1u : 0u,
                               motion.moves ? 1u : 0u};
      sink->Write(out);
    }
  }
  sink->WriteAll(body.pins.reactions);
  for (const PlaneContact& contact : body.contacts.Current()) sink->Write(Saved(contact));
  for (uint32_t i = 0; i < body.num_touches; ++i) sink->Write(Saved(body.touches[i]));
  if (saved.num_coupled > 0) WriteCouplings(body.contacts.couplings, sink);
  for (uint32_t i = 0; i < saved.num_models; ++i) sink->Write(Saved(body.newton.tets[i]));
  sink->End();
}

bool HasLanes(const Crowd& crowd) {
  return std::any_of(crowd.bodies, crowd.bodies + kCrowdLanes,
                     [](const Body* body) { return body != nullptr && body->in_lane; });
}

StateCrowd Saved(const Crowd& crowd) {
  StateCrowd out = {};
  out.system = crowd.system->state_index;
  const Crowd* next = crowd.num_bodies < kCrowdLanes
                          ? LinkedList<Crowd>::Next(const_cast<Crowd*>(&crowd))
                          : nullptr;
  out.next_open = next != nullptr ? next->index : kNoIndex;
  out.kappa_dt = crowd.kappa_dt;
  out.has_lanes = HasLanes(crowd) ? 1 : 0;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const Body* body = crowd.bodies[lane];
    out.slots[lane] = body != nullptr ? body->slot : kNoIndex;
  }
  return out;
}

// Numbers the systems in use and their assets.
struct SystemCounts {
  uint32_t systems = 0;
  uint32_t assets = 0;
  uint32_t sets = 0;
  System* first_asset = nullptr;  // first system of each asset, see System::state_next_asset
};

uint32_t CountSets(const System& system) {
  uint32_t count = 0;
  for (const FactorSet* set = system.sets; set != nullptr; set = set->next) {
    count += set->dt > 0.0f ? 1 : 0;
  }
  return count;
}

SystemCounts NumberSystems(SystemCache* cache) {
  SystemCounts counts;
  System** end = &counts.first_asset;
  cache->ForUsed([&](System* system) {
    system->state_index = counts.systems++;
    counts.sets += CountSets(*system);
    System* same = counts.first_asset;
    while (same != nullptr && !same->key.HasSameAsset(system->key)) same = same->state_next_asset;
    system->state_next_asset = nullptr;
    if (same != nullptr) {
      system->state_asset = same->state_asset;
      return;
    }
    system->state_asset = counts.assets++;
    *end = system;
    end = &system->state_next_asset;
  });
  return counts;
}

void WriteSystems(const SystemCounts& counts, SystemCache* cache, Sink* sink) {
  for (const System* s = counts.first_asset; s != nullptr; s = s->state_next_asset) {
    sink->Write(StateAsset{s->key.content_hash, s->key.asset_bytes.size()});
  }
  sink->End();
  uint64_t pinned_at = 0;
  uint32_t first_set = 0;
  cache->ForUsed([&](const System* s) {
    const BodyMaterial& m = s->key.material;
    StateSystem out = {};
    out.asset = s->state_asset;
    out.base = s->base != nullptr ? s->base->state_index : kNoIndex;
    out.young = m.young;
    out.poisson = m.poisson;
    out.damping = m.damping;
    out.mass_scale = m.mass_scale;
    out.scale = m.scale;
    out.num_nodes = static_cast<uint32_t>(s->pinned.size());
    out.num_pinned = s->num_pinned;
    out.first_set = first_set;
    out.num_sets = CountSets(*s);
    out.first_open = !s->open_crowds.empty() ? s->open_crowds.first()->index : kNoIndex;
    out.pinned_at = pinned_at;
    sink->Write(out);
    first_set += out.num_sets;
    pinned_at += PaddedSize(s->pinned.size());
  });
  sink->End();
  cache->ForUsed([&](const System* s) {
    sink->WriteAll(s->pinned);
    sink->End();
  });
  cache->ForUsed([&](const System* s) {
    for (const FactorSet* set = s->sets; set != nullptr; set = set->next) {
      if (!(set->dt > 0.0f)) continue;
      sink->Write(
          StateSet{set->dt, static_cast<uint32_t>(set->num_fractions), set->keep ? 1u : 0u});
    }
  });
  sink->End();
}

void WriteSlots(const SlotList<>& slots, Sink* sink) {
  for (uint32_t slot = 0; slot < slots.num_slots(); ++slot) {
    const SlotList<>::Saved saved = slots.Save(slot);
    sink->Write(StateSlot{saved.generation, saved.link});
  }
  sink->End();
}

}  // namespace

// Saves the world into `state`, or only measures it if that is null.
size_t World::Impl::WriteState(std::byte* state) {
  Sink sink(state);
  StateHeader header = {};
  sink.Write(header);  // its place
  sink.Exclude();
  const SystemCounts counts = NumberSystems(&cache);
  StateWorld world = {};
  world.dt = dt;
  Copy(desc.gravity, world.gravity);
  world.num_body_slots = slots.num_slots();
  world.first_free_body = slots.first_free();
  world.last_free_body = slots.last_free();
  world.num_bodies = slots.num_live();
  world.num_collider_slots = collider_slots.num_slots();
  world.first_free_collider = collider_slots.first_free();
  world.last_free_collider = collider_slots.last_free();
  world.num_colliders = collider_slots.num_live();
  world.num_attachment_slots = attachment_slots.num_slots();
  world.first_free_attachment = attachment_slots.first_free();
  world.last_free_attachment = attachment_slots.last_free();
  world.num_attachments = attachment_slots.num_live();
  world.num_pairs = touching_bodies.num_past_pairs;
  for (const TouchingPair& pair : touching_bodies.Past())
    world.num_body_contacts += pair.end - pair.begin;
  world.num_assets = counts.assets;
  world.num_systems = counts.systems;
  world.num_sets = counts.sets;
  world.num_crowds = num_crowds;
  world.num_forces = num_forces;
  world.num_time_steps = num_time_steps;
  const ContactSettings& contact = desc.contact;
  world.contact_iterations = contact.iterations;
  world.contact_sweeps = contact.sweeps;
  world.max_substeps = contact.max_substeps;
  world.contact_method = NumberOf(contact.method);
  world.push_out_time = contact.push_out_time;
  world.penalty_stiffness = contact.penalty_stiffness;
  world.sleep_speed = desc.sleep.speed;
  world.sleep_time = desc.sleep.time;
  world.stats = Saved(stats);
  for (const uint32_t slot : collider_slots) {
    world.num_hull_points += static_cast<uint32_t>(colliders[slot].desc.hull.points.size());
  }
  sink.Write(world);
  sink.End();
  WriteSystems(counts, &cache, &sink);
  WriteSlots(slots, &sink);
  WriteSlots(collider_slots, &sink);
  WriteSlots(attachment_slots, &sink);
  uint32_t first_point = 0;
  for (const uint32_t slot : collider_slots) {
    sink.Write(Saved(colliders[slot], slot, first_point));
    first_point += static_cast<uint32_t>(colliders[slot].desc.hull.points.size());
  }
  sink.End();
  for (const uint32_t slot : collider_slots) {
    const std::span<const Vec3> points = colliders[slot].desc.hull.points;
    sink.Write(points.data(), points.size_bytes());
  }
  sink.End();
  for (const uint32_t slot : attachment_slots) sink.Write(Saved(attachments[slot], rows[slot]));
  sink.End();
  uint32_t end_of_pair = 0;
  for (const TouchingPair& pair : touching_bodies.Past()) {
    end_of_pair += pair.end - pair.begin;
    sink.Write(Saved(pair, end_of_pair));
  }
  sink.End();
  for (const TouchingPair& pair : touching_bodies.Past()) {
    for (uint32_t k = pair.begin; k < pair.end; ++k) sink.Write(Saved(touching_bodies.past[k]));
  }
  sink.End();
  for (uint32_t i = 0; i < num_forces; ++i) sink.Write(Saved(forces[i]));
  sink.End();
  sink.Write(time_steps.data(), sizeof(float) * num_time_steps);
  sink.End();
  uint64_t bulk_at = 0;
  for (uint32_t i = 0; i < num_crowds; ++i) {
    StateCrowd crowd = Saved(*crowds[i]);
    crowd.bulk_at = bulk_at;
    if (crowd.has_lanes != 0) {
      bulk_at += PaddedSize(CrowdBytes(crowds[i]->system->view.elements.blocks.size()));
    }
    sink.Write(crowd);
  }
  sink.End();
  bulk_at = 0;
  for (const uint32_t slot : slots) {
    StateBody body = Saved(*bodies[slot], body_stats[slot]);
    body.bulk_at = bulk_at;
    bulk_at += PaddedSize(LayoutOf(*bodies[slot], body).Sum());
    sink.Write(body);
  }
  sink.End();
  for (const uint32_t slot : slots) {
    WriteBulk(*bodies[slot], Saved(*bodies[slot], body_stats[slot]), &sink);
  }
  for (uint32_t i = 0; i < num_crowds; ++i) {
    if (!HasLanes(*crowds[i])) continue;
    sink.WriteAll(crowds[i]->rotations);
    sink.WriteAll(crowds[i]->kappa);
    sink.End();
  }
  if (state == nullptr) return sink.size();
  std::copy(std::begin(kStateMagic), std::end(kStateMagic), header.magic);
  header.version = kStateVersion;
  header.byte_order = kStateByteOrder;
  header.variant = kStateVariant;
  header.tag = desc.tag;
  header.total_bytes = sink.size();
  header.checksum = sink.checksum();
  header.keep_previous = desc.keep_previous ? 1 : 0;
  std::memcpy(state, &header, sizeof(header));
  return sink.size();
}

size_t World::StateBytes() const { return impl_ != nullptr ? impl_->WriteState(nullptr) : 0; }

Status World::SaveState(std::span<std::byte> state, size_t* out_bytes) const {
  if (out_bytes == nullptr) return kNoOutput;
  *out_bytes = 0;
  if (impl_ == nullptr) return kNoWorld;
  if (state.data() == nullptr || state.size() < impl_->WriteState(nullptr)) {
    return {StatusCode::kInvalidArgument, "state", "has fewer than StateBytes() bytes"};
  }
  *out_bytes = impl_->WriteState(state.data());
  return {};
}

}  // namespace plush
