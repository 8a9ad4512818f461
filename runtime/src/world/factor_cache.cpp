// SPDX-License-Identifier: MIT
#include "world/factor_cache.h"

#include "plush/system_factor.h"

#include "base/object.h"

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
  system->id = next_system_id_++;
  system->users = 1;
  system->next = systems_;
  systems_ = system;
  return system;
}

void FactorCache::Release(SystemKey* system) {
  if (--system->users > 0) return;
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
      return;
    }
  }
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
  return FactoriseSystem(terms, {baked.supernodes, baked.rows}, allocator_, made->span());
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
  for (int k = 0; k < num_fractions; ++k) {
    const Status status =
        MakeFactor(system, dt / static_cast<float>(k + 1), &set->made[k], &set->factors[k]);
    if (!status.ok()) {
      DeleteObject(allocator_, set);
      return status;
    }
    set->ids[k] = next_factor_id_++;
  }
  set->next = sets_;
  sets_ = set;
  *out_set = set;
  return {};
}

}  // namespace plush
