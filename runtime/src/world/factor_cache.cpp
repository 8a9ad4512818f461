// SPDX-License-Identifier: MIT
#include "world/factor_cache.h"

#include "plush/format/factor_panels.h"
#include "plush/format/system_factor.h"
#include "plush/format/tet_block.h"

#include "base/array.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace plush {
namespace {

// Fills the stiffnesses of a material that is not the baked one. False where the allocator fails.
bool OverrideStiffness(const Allocator& allocator, const Asset& asset, SystemKey* system) {
  const BodyMaterial& material = system->material;
  if (material.young < 0.0f && material.poisson < 0.0f) return true;
  const SimulationView& simulation = asset.simulation();
  const size_t places = kBlockTets * simulation.blocks.size();
  if (!system->stiffness.Allocate(allocator, places, 0.0f) ||
      !system->bulk.Allocate(allocator, places, 0.0f)) {
    return false;
  }
  for (size_t t = 0; t < simulation.tets.size(); ++t) {
    const MaterialView baked = asset.material(simulation.tet_materials[t]);
    const LamePair lame = OverriddenLame(baked, material);
    const uint32_t slot = simulation.tet_slots[t];
    const double volume = 1.0 / (6.0 * double(simulation.BlockOf(t).det_dm_inv[slot % kBlockTets]));
    system->stiffness[slot] = static_cast<float>(2.0 * double(lame.mu) * volume);
    system->bulk[slot] = static_cast<float>(double(lame.lambda) * volume);
  }
  return true;
}

// Columns that a solve takes when it leaves out the pinned ones at the end, or 0 where others are
// pinned.
uint32_t CountActive(const FactorView& baked, std::span<const uint8_t> pinned) {
  const uint32_t num_nodes = static_cast<uint32_t>(pinned.size());
  const auto is_pinned = [](uint8_t p) { return p != 0; };
  const auto regions = pinned.begin() + baked.num_free;
  if (std::any_of(pinned.begin(), regions, is_pinned)) return 0;
  if (std::all_of(regions, pinned.end(), is_pinned)) return baked.num_free;
  return std::any_of(regions, pinned.end(), is_pinned) ? 0 : num_nodes;
}

bool IsBakedMaterial(const SimulationView& simulation, const BodyMaterial& material) {
  return material.young < 0.0f && material.poisson < 0.0f &&
         material.damping == simulation.damping && material.mass_scale == 1.0f;
}

}  // namespace

LamePair OverriddenLame(const MaterialView& baked, const BodyMaterial& material) {
  return LameParameters(material.young < 0.0f ? baked.young : material.young,
                        material.poisson < 0.0f ? baked.poisson : material.poisson);
}

FactorCache::~FactorCache() {
  while (sets_ != nullptr) {
    FactorSet* set = sets_;
    sets_ = set->next;
    DeleteObject(allocator_, set);
  }
  while (systems_ != nullptr) {
    SystemKey* system = systems_;
    systems_ = system->next;
    DeleteObject(allocator_, system);
  }
}

SystemKey* FactorCache::Acquire(const Asset& asset, const BodyMaterial& material,
                                std::span<const uint8_t> pinned) {
  for (SystemKey* s = systems_; s != nullptr; s = s->next) {
    if (s->asset_bytes.data() == asset.bytes().data() && s->material == material &&
        std::equal(pinned.begin(), pinned.end(), s->pinned.begin())) {
      ++s->users;
      return s;
    }
  }
  SystemKey* system = NewObject<SystemKey>(allocator_);
  if (system == nullptr) return nullptr;
  system->material = material;
  if (!system->pinned.Allocate(allocator_, pinned.size()) ||
      !OverrideStiffness(allocator_, asset, system)) {
    DeleteObject(allocator_, system);
    return nullptr;
  }
  std::copy(pinned.begin(), pinned.end(), system->pinned.begin());
  const SimulationView& simulation = asset.simulation();
  system->asset_bytes = asset.bytes();
  const ElementView elements = {simulation.tets,          simulation.tet_slots, simulation.blocks,
                                system->stiffness.span(), system->bulk.span(),  material.damping};
  system->view = {elements, simulation.masses, material.mass_scale, system->pinned.span(), 0.0f};
  for (const uint8_t is_pinned : pinned) system->num_pinned += is_pinned;
  system->baked = asset.factor();
  system->num_active = CountActive(system->baked, pinned);
  system->as_baked = IsBakedMaterial(simulation, material) && system->num_active > 0;
  if (system->num_active == 0) system->num_active = static_cast<uint32_t>(pinned.size());
  // Damped bodies are in no crowd, so that they would only solve twice.
  if (!system->as_baked && material.damping == 0.0f) system->base = FindBase(*system);
  if (system->base != nullptr && !FindExtraPins(system)) {
    DeleteObject(allocator_, system);
    return nullptr;
  }
  system->id = next_system_id_++;
  system->users = 1;
  system->next = systems_;
  systems_ = system;
  return system;
}

// The system with the most of the pins of `system`, and none other, that enough bodies use.
SystemKey* FactorCache::FindBase(const SystemKey& system) const {
  SystemKey* best = nullptr;
  for (SystemKey* s = systems_; s != nullptr; s = s->next) {
    const bool alike = s->base == nullptr && s->users >= kLeastSharing &&
                       s->asset_bytes.data() == system.asset_bytes.data() &&
                       s->material == system.material &&
                       s->num_pinned + kMaxExtraPins >= system.num_pinned;
    if (!alike || (best != nullptr && best->num_pinned >= s->num_pinned)) continue;
    bool contained = true;
    for (size_t i = 0; i < system.pinned.size(); ++i) {
      contained = contained && s->pinned[i] <= system.pinned[i];
    }
    if (contained) best = s;
  }
  return best;
}

bool FactorCache::FindExtraPins(SystemKey* system) {
  const uint32_t count = system->num_pinned - system->base->num_pinned;
  if (!system->extra_pins.Allocate(allocator_, count)) return false;
  uint32_t next = 0;
  for (uint32_t i = 0; i < system->pinned.size(); ++i) {
    if (system->pinned[i] != system->base->pinned[i]) system->extra_pins[next++] = i;
  }
  ++system->base->users;
  return true;
}

void FactorCache::Release(SystemKey* system) {
  if (--system->users > 0) return;
  SystemKey* base = system->base;
  for (FactorSet** link = &sets_; *link != nullptr;) {
    FactorSet* set = *link;
    if (set->system_id == system->id) {
      *link = set->next;
      DeleteObject(allocator_, set);
    } else {
      link = &set->next;
    }
  }
  for (SystemKey** link = &systems_; *link != nullptr; link = &(*link)->next) {
    if (*link == system) {
      *link = system->next;
      DeleteObject(allocator_, system);
      break;
    }
  }
  if (base != nullptr) Release(base);
}

const FactorSet* FactorCache::Find(const SystemKey& system, float dt) const {
  for (const FactorSet* set = sets_; set != nullptr; set = set->next) {
    if (set->system_id == system.id && set->dt == dt) return set;
  }
  return nullptr;
}

Status FactorCache::MakeFactor(const SystemKey& system, float dt, Array<float>* made,
                               PanelFactor* out_factor) {
  const FactorView& baked = system.baked;
  *out_factor = {baked.supernodes, baked.rows, baked.values,
                 static_cast<uint32_t>(system.pinned.size()), system.num_active};
  if (system.as_baked && dt == baked.dt) return {};
  if (!made->Allocate(allocator_, baked.values.size())) {
    return {StatusCode::kOutOfMemory, "factor"};
  }
  const SystemView& view = system.view;
  const SystemTerms terms = {.blocks = view.elements.blocks,
                             .stiffness = view.elements.stiffness,
                             .masses = view.masses,
                             .mass_scale = view.mass_scale,
                             .pinned = view.pinned,
                             .dt = dt,
                             .damping = view.elements.damping};
  out_factor->values = made->span();
  return FactoriseSystem(terms, {baked.supernodes, baked.supernode_of, baked.rows}, allocator_,
                         made->span());
}

Status FactorCache::MakeFactors(const SystemKey& system, float dt, int num_fractions,
                                FactorSet* set) {
  for (int k = 0; k < num_fractions; ++k) {
    const Status made =
        MakeFactor(system, dt / static_cast<float>(k + 1), &set->made[k], &set->factors[k]);
    if (!made.ok()) return made;
    set->ids[k] = next_factor_id_++;
  }
  return {};
}

// The factors of the base, and what holds the other pins. kInvalidArgument where float does not
// tell the pins apart; nothing is left in `set` then.
Status FactorCache::ShareFactors(const SystemKey& system, float dt, int num_fractions,
                                 FactorSet* set) {
  const FactorSet* shared = nullptr;
  const Status prepared = Prepare(*system.base, dt, num_fractions, &shared);
  if (!prepared.ok()) return prepared;
  const size_t num_nodes = system.pinned.size(), num_pins = system.extra_pins.size();
  Array<float> workspace;
  Array<NodeVec> scratch;
  const size_t numbers =
      PanelWorkspaceSize(system.baked.supernodes, static_cast<uint32_t>(num_nodes));
  if (!workspace.Allocate(allocator_, numbers) || !scratch.Allocate(allocator_, num_nodes + 1)) {
    return {StatusCode::kOutOfMemory, "factor"};
  }
  for (int k = 0; k < num_fractions; ++k) {
    if (!set->schur[k].Allocate(allocator_, num_pins * num_pins)) {
      return {StatusCode::kOutOfMemory, "factor"};
    }
    if (!FactorPinSchur(shared->factors[k], system.extra_pins.span(), workspace.span(),
                        scratch.span(), set->schur[k].span())) {
      for (Array<double>& schur : set->schur) schur = {};
      return {StatusCode::kInvalidArgument, "dt", "pins depend on each other"};
    }
  }
  for (int k = 0; k < num_fractions; ++k) {
    set->pins[k] = {system.extra_pins.span(), set->schur[k].span()};
    set->factors[k] = shared->factors[k];
    set->factors[k].pins = &set->pins[k];
    set->ids[k] = next_factor_id_++;
  }
  return {};
}

Status FactorCache::Prepare(const SystemKey& system, float dt, int num_fractions,
                            const FactorSet** out_set) {
  *out_set = Find(system, dt);
  if (*out_set != nullptr) return {};
  FactorSet* set = NewObject<FactorSet>(allocator_);
  if (set == nullptr) return {StatusCode::kOutOfMemory, "factor"};
  set->system_id = system.id;
  set->dt = dt;
  set->num_fractions = num_fractions;
  Status status = {StatusCode::kInvalidArgument};
  if (system.base != nullptr) status = ShareFactors(system, dt, num_fractions, set);
  if (status.code == StatusCode::kInvalidArgument) {
    status = MakeFactors(system, dt, num_fractions, set);
  }
  if (!status.ok()) {
    DeleteObject(allocator_, set);
    return status;
  }
  set->next = sets_;
  sets_ = set;
  *out_set = set;
  return {};
}

}  // namespace plush
