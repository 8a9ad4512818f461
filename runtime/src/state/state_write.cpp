// SPDX-License-Identifier: MIT
// StateBytes and SaveState: write a world into the caller's memory, section by section.
// Format: state_format.h.
#include "body/contact_method.h"
#include "body/solver_method.h"
#include "state/state_format.h"
#include "state/state_scenery.h"
#include "state/state_sink.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstring>

namespace plush {
namespace {

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

void WriteSystems(const SystemCounts& counts, SystemCache* cache, StateSink* sink) {
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
    out.drag = m.drag;
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

void WriteSlots(const SlotList<>& slots, StateSink* sink) {
  for (uint32_t slot = 0; slot < slots.num_slots(); ++slot) {
    const SlotList<>::Saved saved = slots.Save(slot);
    sink->Write(StateSlot{saved.generation, saved.link});
  }
  sink->End();
}

}  // namespace

// Saves the world into `state`, or only measures it if that is null.
size_t World::Impl::WriteState(std::byte* state) {
  StateSink sink(state);
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
  world.num_ends = num_kept_ends;
  world.lost_ends = lost_kept_ends ? 1 : 0;
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
  for (const ContactEvent& end : kept_ends.span().first(num_kept_ends)) {
    sink.Write(StateEnd{end.body.value, end.other_body.value, end.collider.value});
  }
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
