// SPDX-License-Identifier: MIT
// SystemCache's part of saving and loading: systems with given bases, and factors copied from the
// cache of the world before.
#include "body/system_cache.h"

#include <algorithm>
#include <utility>

namespace plush {

void SystemCache::SortUsed() {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint32_t num_used = 0;
  bool is_sorted = true;
  for (System* s = systems_.first(); s != nullptr; s = systems_.Next(s)) {
    if (s->users == 0) continue;
    is_sorted = is_sorted && s->state_index == num_used;
    ++num_used;
  }
  for (uint32_t i = 0; i < num_used && !is_sorted; ++i) {
    System* system = systems_.first();
    while (system->users == 0 || system->state_index != i) system = systems_.Next(system);
    systems_.Remove(system);
    systems_.PushBack(system);
    system->number = ++num_used_;
  }
}

System* SystemCache::Restore(const Asset& asset, const BodyMaterial& material,
                             std::span<const uint8_t> pinned, System* base) {
  System* system = NewObject<System>(allocator_);
  if (system == nullptr) return nullptr;
  system->key = {asset.bytes(), asset.content_hash(), material, pinned};
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool filled = Fill(asset, system);
  if (filled && base != nullptr && !system->coarse.SharesClusters(base->coarse)) base = nullptr;
  if (!filled || !ShareBase(asset, base, system)) {
    Destroy(system);
    return nullptr;
  }
  Insert(system);
  system->number = ++num_used_;
  if (base != nullptr) base->sharers.PushBack(system);
  return system;
}

bool SystemCache::HasSystem(const SystemKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindEqual(key) != nullptr;
}

void SystemCache::Use(System* system) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddUser(system);
}

System* SystemCache::FindEqual(const SystemKey& key) const {
  const auto& bucket = buckets_[key.Hash() % kBuckets];
  for (System* s = bucket.first(); s != nullptr; s = bucket.Next(s)) {
    if (s->key.HasSameAsset(key) && s->key.material == key.material &&
        std::equal(key.pinned.begin(), key.pinned.end(), s->pinned.begin(), s->pinned.end())) {
      return s;
    }
  }
  return nullptr;
}

// Copies values of a factor, and its roots, from the donor. Returns false if it does not have them.
// They depend only on the key, so they are those that would be made.
bool SystemCache::CopyValues(const System& system, float dt, int fraction,
                             std::span<float> values) {
  if (donor_ == nullptr) return false;
  const std::lock_guard<std::mutex> lock(donor_->mutex_);
  const System* equal = donor_->FindEqual(system.key);
  if (equal == nullptr) return false;
  for (const FactorSet* first : {equal->sets, equal->handed}) {
    for (const FactorSet* set = first; set != nullptr; set = set->next) {
      const Array<float>& made = set->made[fraction];
      const bool has_own = set->factors[fraction].pins == nullptr &&
                           set->factors[fraction].values.data() == made.data();
      if (set->dt != dt || fraction >= set->num_fractions || !has_own ||
          made.size() != values.size()) {
        continue;
      }
      std::copy(made.begin(), made.end(), values.begin());
      return true;
    }
  }
  return false;
}

void SystemCache::Swap(SystemCache* other) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::swap(systems_, other->systems_);
  std::swap(buckets_, other->buckets_);
  std::swap(bases_, other->bases_);
  std::swap(idle_, other->idle_);
  std::swap(unused_, other->unused_);
  std::swap(num_idle_, other->num_idle_);
  std::swap(num_unused_, other->num_unused_);
  std::swap(num_used_, other->num_used_);
  std::swap(next_factor_id_, other->next_factor_id_);
}

void SystemCache::TakeIdle(SystemCache* from) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto* list : {&from->unused_, &from->idle_}) {
    for (System* system = list->first(); system != nullptr;) {
      System* const taken = std::exchange(system, list->Next(system));
      // One that shares factors would need its base too.
      if (taken->base != nullptr || !taken->sharers.empty()) continue;
      if (FindEqual(taken->key) != nullptr) continue;
      const bool unused = taken->unused;
      taken->waiting = {};  // its bodies are gone
      taken->open_crowds = {};
      taken->num_waiting = taken->num_crowds = 0;
      from->RemoveIdle(taken);
      from->systems_.Remove(taken);
      from->buckets_[taken->key.Hash() % kBuckets].Remove(taken);
      Insert(taken);
      AddIdle(taken, unused);
    }
  }
  FreeSurplus();
}

}  // namespace plush
