// SPDX-License-Identifier: MIT
// PrepareSystem: factors a system that no other thread sees, then adds it to the cache under its
// mutex. Factors that a system in the cache lacks are handed to it, for its next Prepare.
#include "body/make_body.h"
#include "body/solver_method.h"
#include "world/world_impl.h"

#include <algorithm>
#include <utility>

namespace plush {
namespace {

constexpr Status kNoFactorMemory = {StatusCode::kOutOfMemory, "factor", "", 0};

bool Has(const System& system, float dt) {
  FactorSet* set = system.handed;
  while (set != nullptr && set->dt != dt) set = set->next;
  return set != nullptr || system.Find(dt) != nullptr;
}

// Hands the draft's sets to a system that may be in use, except those that it has.
void HandOver(const Allocator& allocator, System* draft, System* system) {
  while (FactorSet* set = draft->sets) {
    draft->sets = set->next;
    if (Has(*system, set->dt)) {
      DeleteObject(allocator, set);
    } else {
      set->next = std::exchange(system->handed, set);
    }
  }
}

}  // namespace

Status SystemCache::PrepareIdle(const Asset& asset, const BodyMaterial& material,
                                std::span<const uint8_t> pinned, std::span<const float> steps,
                                int num_fractions) {
  if (max_idle_ == 0) {
    return {StatusCode::kInvalidArgument, "idle_systems", "is 0, so no prepared system is kept"};
  }
  System* draft = NewObject<System>(allocator_);
  if (draft == nullptr) return kNoFactorMemory;
  draft->key = {asset.bytes(), asset.content_hash(), material, pinned};
  Status status = Fill(asset, draft) ? Status{} : kNoFactorMemory;
  bool published = false;
  while (status.ok() && !published) {
    status = MakeMissing(asset, steps, num_fractions, draft);
    published = status.ok() && Publish(asset, steps, &draft);
  }
  Destroy(draft);
  return status;
}

// Makes the factors for those steps that neither the draft nor the cache's equal system has.
Status SystemCache::MakeMissing(const Asset& asset, std::span<const float> steps, int num_fractions,
                                System* draft) {
  for (const float dt : steps) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const System* existing = FindSystem(asset, draft->key);
      if (draft->Find(dt) != nullptr || (existing != nullptr && Has(*existing, dt))) continue;
    }
    FactorSet* set = NewObject<FactorSet>(allocator_);
    if (set == nullptr) return kNoFactorMemory;
    set->num_fractions = num_fractions;
    const Status status = MakeFactors(*draft, dt, set);
    if (!status.ok()) {
      DeleteObject(allocator_, set);
      return status;
    }
    set->dt = dt;
    set->keep = true;
    set->next = std::exchange(draft->sets, set);
  }
  return {};
}

// Adds the draft to the cache, or its sets to the cache's equal system. Returns false if a set is
// missing because the cache has freed it since MakeMissing.
bool SystemCache::Publish(const Asset& asset, std::span<const float> steps, System** draft) {
  const std::lock_guard<std::mutex> lock(mutex_);
  System* system = FindSystem(asset, (*draft)->key);
  for (const float dt : steps) {
    if (!Has(**draft, dt) && (system == nullptr || !Has(*system, dt))) return false;
  }
  for (FactorSet* set = (*draft)->sets; set != nullptr; set = set->next) {
    for (int k = 0; k < set->num_fractions; ++k) set->ids[k] = next_factor_id_++;
  }
  if (system == nullptr) {
    system = std::exchange(*draft, nullptr);
    Insert(system);
  } else {
    HandOver(allocator_, *draft, system);
    for (const float dt : steps) KeepLocked(system, dt);
    if (system->users > 0) return true;
    Aim(asset, system);
    RemoveIdle(system);
  }
  AddIdle(system, true);
  FreeSurplus();
  return true;
}

Status World::PrepareSystem(const Asset& asset, const SystemDesc& desc) {
  if (impl_ == nullptr) return kNoWorld;
  Impl& w = *impl_;
  Status status = CheckBodyAsset(asset);
  if (!status.ok()) return status;
  status = CheckPins(asset, desc.pinned_nodes);
  if (!status.ok()) return status;
  BodyMaterial material;
  status = ResolveMaterial(asset, desc.material, desc.scale, &material);
  if (!status.ok()) return status;
  if (desc.solver != nullptr) {
    status = CheckSolver(*desc.solver);
    if (!status.ok()) return status;
    material.drag = DragOf(*desc.solver);
  }
  Array<uint8_t> pinned;
  if (!pinned.Allocate(w.allocator, asset.simulation().nodes.size(), uint8_t{0}))
    return kNoFactorMemory;
  for (const uint32_t node : desc.pinned_nodes) pinned[node] = 1;
  Array<float> steps;
  // Again if a time step has been prepared meanwhile.
  for (bool all = false; !all;) {
    int num_fractions = 0;
    {
      const std::lock_guard<std::mutex> lock(w.time_steps_mutex);
      if (!steps.Allocate(w.allocator, 1 + w.num_time_steps, asset.factor().dt))
        return kNoFactorMemory;
      std::copy_n(w.time_steps.begin(), w.num_time_steps, steps.begin() + 1);
      num_fractions = w.desc.contact.max_substeps;
    }
    status = w.cache.PrepareIdle(asset, material, pinned.span(), steps.span(), num_fractions);
    if (!status.ok()) return status;
    const std::lock_guard<std::mutex> lock(w.time_steps_mutex);
    all = steps.size() == 1 + w.num_time_steps;
  }
  return {};
}

}  // namespace plush
