// SPDX-License-Identifier: MIT
#include "world/factor_cache.h"

#include "base/object.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace plush {
namespace {

// Fills the Lame parameters of a material that is not the baked one. False where the allocator
// fails.
bool OverrideLame(const Allocator& allocator, const Asset& asset, SystemKey* system) {
  const BodyMaterial& material = system->material;
  if (material.young < 0.0f && material.poisson < 0.0f) return true;
  const std::span<const uint16_t> ids = asset.simulation().tet_materials;
  if (!system->mu.Allocate(allocator, ids.size()) ||
      !system->lambda.Allocate(allocator, ids.size())) {
    return false;
  }
  for (size_t t = 0; t < ids.size(); ++t) {
    const LamePair lame = OverriddenLame(asset.material(ids[t]), material);
    system->mu[t] = lame.mu;
    system->lambda[t] = lame.lambda;
  }
  return true;
}

ElementView ElementsOf(const SimulationView& simulation, const SystemKey& system) {
  LameView lame = {simulation.mu, simulation.lambda};
  if (system.mu.size() > 0) lame = {system.mu.span(), system.lambda.span()};
  return {simulation.tets, simulation.dm_inv, simulation.volumes, lame, system.material.damping};
}

// Whether the baked factor is that of the body.
bool IsAsBaked(const SimulationView& simulation, const BodyMaterial& material,
               std::span<const uint8_t> pinned) {
  return material.young < 0.0f && material.poisson < 0.0f &&
         material.damping == simulation.damping && material.mass_scale == 1.0f &&
         std::none_of(pinned.begin(), pinned.end(), [](uint8_t p) { return p != 0; });
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
      !OverrideLame(allocator_, asset, system)) {
    DeleteObject(allocator_, system);
    return nullptr;
  }
  std::copy(pinned.begin(), pinned.end(), system->pinned.begin());
  const SimulationView& simulation = asset.simulation();
  system->asset_bytes = asset.bytes();
  system->view = {ElementsOf(simulation, *system), simulation.masses, material.mass_scale,
                  system->pinned.span(), 0.0f};
  system->baked = asset.factor();
  system->pattern = {system->baked.column_starts, system->baked.rows};
  system->as_baked = IsAsBaked(simulation, material, pinned);
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

Status FactorCache::MakeValues(const SystemKey& system, float dt, Array<float>* out_values) {
  const size_t nnz = system.pattern.rows.size();
  if (!out_values->Allocate(allocator_, nnz)) return {StatusCode::kOutOfMemory, "factor"};
  if (system.as_baked && dt == system.baked.dt) {
    std::copy(system.baked.values.begin(), system.baked.values.end(), out_values->begin());
    return {};
  }
  Array<double> exact;
  CholeskyWorkspace workspace;
  if (!exact.Allocate(allocator_, nnz) || !workspace.Allocate(allocator_, system.pattern.size())) {
    return {StatusCode::kOutOfMemory, "factor"};
  }
  SystemView view = system.view;
  view.dt = dt;
  AssembleSystem(view, system.pattern, exact.span());
  if (!Factorise(system.pattern, &workspace, exact.span())) {
    return {StatusCode::kInvalidArgument, "dt", "the system matrix is not positive definite"};
  }
  for (size_t i = 0; i < nnz; ++i) {
    (*out_values)[i] = static_cast<float>(exact[i]);
    if (!std::isfinite((*out_values)[i])) {
      return {StatusCode::kInvalidArgument, "dt", "the factor does not fit into float"};
    }
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
  for (int k = 0; k < num_fractions; ++k) {
    const Status status = MakeValues(system, dt / static_cast<float>(k + 1), &set->values[k]);
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
