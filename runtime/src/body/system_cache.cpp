// SPDX-License-Identifier: MIT
// Finds, makes and frees systems and their factor sets. Finds them by hash (FNV-1a 64).
// Systems without users stay for a while, so that respawning a body does not factor again.
#include "body/system_cache.h"

#include "plush/format/system_factor.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace plush {
namespace {

constexpr Status kNoMemory = {StatusCode::kOutOfMemory, "factor", "", 0};

// Whether every tet has its baked stiffness.
bool KeepsStiffness(const BodyMaterial& material) {
  return material.young < 0.0f && material.poisson < 0.0f && material.scale == 1.0f;
}

// Fills the stiffnesses unless they are the baked ones. Returns false if the allocator fails.
bool OverrideStiffness(const Allocator& allocator, const Asset& asset, System* system) {
  const BodyMaterial& material = system->key.material;
  if (KeepsStiffness(material)) return true;
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

// Number of columns in a solve with the baked factor: num_free if exactly the nodes after those are
// pinned, all if none is pinned, 0 for other pins.
uint32_t CountActive(const FactorView& baked, std::span<const uint8_t> pinned) {
  const uint32_t num_nodes = static_cast<uint32_t>(pinned.size());
  const auto is_pinned = [](uint8_t p) { return p != 0; };
  const auto regions = pinned.begin() + baked.num_free;
  if (std::any_of(pinned.begin(), regions, is_pinned)) return 0;
  if (std::all_of(regions, pinned.end(), is_pinned)) return baked.num_free;
  return std::any_of(regions, pinned.end(), is_pinned) ? 0 : num_nodes;
}

bool IsBakedMaterial(const SimulationView& simulation, const BodyMaterial& material) {
  return KeepsStiffness(material) && material.damping == simulation.damping &&
         material.mass_scale == 1.0f && material.drag == 0.0f;
}

// Whether the asset's sizes equal those of the system. A hostile file can claim any content hash;
// with equal sizes it can cause only wrong results.
bool Fits(const Asset& asset, const System& system) {
  const SimulationView& simulation = asset.simulation();
  const FactorView& factor = asset.factor();
  return simulation.nodes.size() == system.pinned.size() &&
         simulation.tets.size() == system.view.elements.tets.size() &&
         simulation.blocks.size() == system.view.elements.blocks.size() &&
         factor.values.size() == system.baked.values.size() &&
         factor.supernodes.size() == system.baked.supernodes.size() &&
         factor.rows.size() == system.baked.rows.size();
}

constexpr uint64_t kHashStart = 0xcbf29ce484222325ull;

uint64_t AddToHash(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }

// Whether bodies of the material may join a crowd: damped ones never do, nor implicit ones.
bool MayJoinCrowds(const BodyMaterial& material) {
  return material.damping == 0.0f && material.drag == 0.0f;
}

// A system may be a base while it has kLeastSharing users and no base, and bodies that may join a
// crowd.
bool MayBeBase(const System& system) {
  return system.base == nullptr && MayJoinCrowds(system.key.material);
}

// Marks a set as unused. No body may use it.
void Empty(FactorSet* set) {
  set->dt = 0.0f;
  set->ids[0] = 0;
}

// Moves the set for `dt` that PrepareIdle handed over to the system's sets. Returns whether there
// was one.
bool Adopt(System* system, float dt) {
  FactorSet** link = &system->handed;
  while (*link != nullptr && (*link)->dt != dt) link = &(*link)->next;
  FactorSet* set = *link;
  if (set == nullptr) return false;
  *link = set->next;
  set->next = system->sets;
  system->sets = set;
  return true;
}

}  // namespace

LamePair OverriddenLame(const MaterialView& baked, const BodyMaterial& material) {
  const double young = material.young < 0.0f ? baked.young : material.young;
  return LameParameters(young / (double(material.scale) * double(material.scale)),
                        material.poisson < 0.0f ? baked.poisson : material.poisson);
}

FactorSet* System::Find(float dt) const {
  FactorSet* set = sets;
  while (set != nullptr && set->dt != dt) set = set->next;
  return set;
}

bool SystemKey::HasSameAsset(const SystemKey& other) const {
  return asset_bytes.data() == other.asset_bytes.data() &&
         asset_bytes.size() == other.asset_bytes.size() && content_hash == other.content_hash;
}

uint64_t SystemKey::FamilyHash() const {
  uint64_t hash = AddToHash(kHashStart, reinterpret_cast<uintptr_t>(asset_bytes.data()));
  hash = AddToHash(hash, content_hash);
  for (const float value : {material.young, material.poisson, material.damping, material.mass_scale,
                            material.scale, material.drag}) {
    hash = AddToHash(hash, std::bit_cast<uint32_t>(value + 0.0f));  // -0 equals 0
  }
  return hash ^ hash >> 32;
}

uint64_t SystemKey::Hash() const {
  uint64_t hash = FamilyHash();
  for (size_t node = 0; node < pinned.size(); ++node) {
    if (pinned[node] != 0) hash = AddToHash(hash, node);
  }
  return hash ^ hash >> 32;
}

SystemCache::~SystemCache() {
  while (System* system = systems_.first()) {
    systems_.Remove(system);
    Destroy(system);
  }
}

// Points the system's views at the asset's bytes. Those of an idle system may be gone.
void SystemCache::Aim(const Asset& asset, System* system) {
  const SimulationView& simulation = asset.simulation();
  const BodyMaterial& material = system->key.material;
  const ElementView elements = {simulation.tets,          simulation.tet_slots, simulation.blocks,
                                system->stiffness.span(), system->bulk.span(),  material.damping};
  system->view = {elements, simulation.masses, material.mass_scale, system->pinned.span(), 0.0f};
  system->rest = simulation.nodes;
  const std::span<const float> before = system->baked.values;
  system->baked = asset.factor();
  const auto num_nodes = static_cast<uint32_t>(system->pinned.size());
  const uint32_t active = CountActive(system->baked, system->pinned.span());
  system->as_baked = IsBakedMaterial(simulation, material) && active > 0;
  system->num_active = active > 0 ? active : num_nodes;
  for (FactorSet* first : {system->sets, system->handed}) {
    for (FactorSet* set = first; set != nullptr; set = set->next) {
      for (PanelFactor& factor : set->factors) {
        factor.supernodes = system->baked.supernodes;
        factor.supernode_of = system->baked.supernode_of;
        factor.rows = system->baked.rows;
        if (factor.values.data() == before.data()) factor.values = system->baked.values;
      }
    }
  }
}

// A system with users is a user of its base.
void SystemCache::AddUser(System* system) {
  if (system->idle) RemoveIdle(system);
  if (system->users++ == 0 && system->base != nullptr) AddUser(system->base);
  if (system->users == kLeastSharing && MayBeBase(*system)) {
    bases_[system->key.FamilyHash() % kBuckets].PushBack(system);
  }
}

// Systems without users become idle, those that share factors before their base.
void SystemCache::DropUser(System* system) {
  if (system->users-- == kLeastSharing && MayBeBase(*system)) {
    bases_[system->key.FamilyHash() % kBuckets].Remove(system);
  }
  if (system->users > 0) return;
  AddIdle(system, false);
  if (system->base != nullptr) DropUser(system->base);
}

System* SystemCache::FindSystem(const Asset& asset, const SystemKey& key) {
  auto& bucket = buckets_[key.Hash() % kBuckets];
  for (System* s = bucket.first(); s != nullptr; s = bucket.Next(s)) {
    if (s->key.HasSameAsset(key) && s->key.material == key.material && Fits(asset, *s) &&
        std::equal(key.pinned.begin(), key.pinned.end(), s->pinned.begin())) {
      return s;
    }
  }
  return nullptr;
}

void SystemCache::Insert(System* system) {
  systems_.PushBack(system);
  buckets_[system->key.Hash() % kBuckets].PushBack(system);
}

System* SystemCache::Acquire(const Asset& asset, const BodyMaterial& material,
                             std::span<const uint8_t> pinned) {
  const SystemKey key = {asset.bytes(), asset.content_hash(), material, pinned};
  const std::lock_guard<std::mutex> lock(mutex_);
  System* system = FindSystem(asset, key);
  // A body must not depend on what happens to be idle: an idle system serves only if a new one had
  // the same base.
  if (system != nullptr && system->users == 0 && (!system->unused || system->base != nullptr) &&
      BaseFor(*system) != system->base) {
    FreeIdle(system);
    system = nullptr;
  }
  if (system != nullptr) {
    Aim(asset, system);
    if (system->base != nullptr) Aim(asset, system->base);
  } else {
    system = NewObject<System>(allocator_);
    if (system == nullptr) return nullptr;
    system->key = key;
    if (!Fill(asset, system) || !ShareBase(asset, BaseFor(*system), system)) {
      Destroy(system);
      return nullptr;
    }
    Insert(system);
    if (system->base != nullptr) system->base->sharers.PushBack(system);
  }
  if (system->users == 0) {
    system->number = ++num_used_;
    systems_.Remove(system);
    systems_.PushBack(system);
  }
  AddUser(system);
  return system;
}

// Fills a new system that has only its key, except for base and factors. Returns false if the
// allocator fails.
bool SystemCache::Fill(const Asset& asset, System* system) {
  const std::span<const uint8_t> pinned = system->key.pinned;
  if (!system->pinned.Allocate(allocator_, pinned.size()) ||
      !OverrideStiffness(allocator_, asset, system)) {
    return false;
  }
  std::copy(pinned.begin(), pinned.end(), system->pinned.begin());
  system->key.pinned = system->pinned.span();
  for (const uint8_t is_pinned : pinned) system->num_pinned += is_pinned;
  Aim(asset, system);
  const ElementView& elements = system->view.elements;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    system->shear += 0.5 * double(elements.Stiffness(t));
  }
  return system->coarse.Build(allocator_, system->view, system->rest, asset.simulation().clusters,
                              asset.simulation().num_clusters);
}

// The base that a new system gets, or null.
System* SystemCache::BaseFor(const System& system) const {
  // Sharing would only make bodies without a crowd solve twice.
  if (system.as_baked || !MayJoinCrowds(system.key.material)) return nullptr;
  System* base = FindBase(system.key, system.num_pinned);
  return base != nullptr && system.coarse.SharesClusters(base->coarse) ? base : nullptr;
}

// Gives a new system its base, which may be null. Returns false if the allocator fails.
bool SystemCache::ShareBase(const Asset& asset, System* base, System* system) {
  if (base == nullptr) return true;
  Aim(asset, base);
  if (!system->extra_pins.Allocate(allocator_, system->num_pinned - base->num_pinned)) return false;
  uint32_t next = 0;
  for (uint32_t i = 0; i < system->pinned.size(); ++i) {
    if (system->pinned[i] != base->pinned[i]) system->extra_pins[next++] = i;
  }
  system->base = base;
  return true;
}

// Of the systems with enough users and a subset of the pins in `key`, the one with most pins; of
// equal ones the one with the highest number.
System* SystemCache::FindBase(const SystemKey& key, uint32_t num_pinned) const {
  const auto& bases = bases_[key.FamilyHash() % kBuckets];
  System* best = nullptr;
  for (System* s = bases.first(); s != nullptr; s = bases.Next(s)) {
    const bool alike = s->key.HasSameAsset(key) && s->key.material == key.material &&
                       s->pinned.size() == key.pinned.size() &&
                       s->num_pinned + kMaxExtraPins >= num_pinned;
    if (!alike) continue;
    if (best != nullptr && (best->num_pinned > s->num_pinned ||
                            (best->num_pinned == s->num_pinned && best->number > s->number))) {
      continue;
    }
    const bool contained = std::equal(s->pinned.begin(), s->pinned.end(), key.pinned.begin(),
                                      [](uint8_t less, uint8_t more) { return less <= more; });
    if (contained) best = s;
  }
  return best;
}

void SystemCache::Release(System* system) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DropUser(system);
  if (system->users > 0) return;
  // A system has no factors if the call that made it failed: do not keep it.
  if (system->sets == nullptr && system->handed == nullptr) FreeIdle(system);
  FreeSurplus();
}

void SystemCache::AddIdle(System* system, bool unused) {
  system->idle = true;
  system->unused = unused;
  (unused ? unused_ : idle_).PushBack(system);
  ++(unused ? num_unused_ : num_idle_);
}

void SystemCache::RemoveIdle(System* system) {
  (system->unused ? unused_ : idle_).Remove(system);
  --(system->unused ? num_unused_ : num_idle_);
  system->idle = system->unused = false;
}

// Frees an idle system and those that share its factors: they are idle too.
void SystemCache::FreeIdle(System* system) {
  while (!system->sharers.empty()) FreeIdle(system->sharers.first());
  System* base = system->base;
  RemoveIdle(system);
  systems_.Remove(system);
  buckets_[system->key.Hash() % kBuckets].Remove(system);
  if (base != nullptr) base->sharers.Remove(system);
  Destroy(system);
}

void SystemCache::FreeSurplus() {
  while (num_unused_ > max_idle_) FreeIdle(unused_.first());
  while (num_idle_ > max_idle_) FreeIdle(idle_.first());
}

// Frees a system that is in no list, or null.
void SystemCache::Destroy(System* system) {
  if (system == nullptr) return;
  for (FactorSet* first : {system->sets, system->handed}) {
    while (first != nullptr) DeleteObject(allocator_, std::exchange(first, first->next));
  }
  DeleteObject(allocator_, system);
}

Status SystemCache::MakeFactors(const System& system, float dt, FactorSet* set) {
  const FactorView& baked = system.baked;
  const SystemView& view = system.view;
  const float drag = system.key.material.drag;
  for (int k = 0; k < set->num_fractions; ++k) {
    const float fraction = dt / static_cast<float>(k + 1);
    PanelFactor& factor = set->factors[k];
    factor = {baked.supernodes,
              baked.supernode_of,
              baked.rows,
              baked.values,
              static_cast<uint32_t>(system.pinned.size()),
              system.num_active};
    const SystemTerms terms = {.blocks = view.elements.blocks,
                               .stiffness = view.elements.stiffness,
                               .masses = view.masses,
                               .mass_scale = view.mass_scale * (1.0f + drag * fraction),
                               .pinned = view.pinned,
                               .dt = fraction,
                               .damping = view.elements.damping};
    const bool needs_roots = NeedsRoots(terms);
    if (system.as_baked && fraction == baked.dt && !needs_roots) continue;
    Array<float>& made = set->made[k];
    const size_t num_values = baked.values.size(), num_roots = baked.supernodes.size();
    if (made.size() == 0 && !made.Allocate(allocator_, num_values + num_roots)) return kNoMemory;
    const std::span<float> values = made.span().first(num_values),
                           tail = made.span().last(num_roots);
    const std::span<float> roots = needs_roots ? tail : std::span<float>();
    std::fill(tail.begin(), tail.end(), 0.0f);
    factor.values = values;
    factor.roots = roots;
    if (CopyValues(system, dt, k, made.span())) continue;
    const Status status = FactoriseSystem(terms, {baked.supernodes, baked.supernode_of, baked.rows},
                                          allocator_, values, roots);
    if (!status.ok()) return status;
  }
  return {};
}

// Uses the base's factors and adds Schur complements that hold the extra pins. Returns
// kInvalidArgument if floats cannot separate the pins.
Status SystemCache::ShareFactors(const System& system, float dt, float dt_in_use, FactorSet* set) {
  bool made = false;
  const Status prepared = PrepareLocked(system.base, dt, dt_in_use, set->num_fractions, &made);
  if (!prepared.ok()) return prepared;
  const FactorSet& shared = *system.base->Find(dt);
  set->num_fractions = std::min(set->num_fractions, shared.num_fractions);
  const size_t num_nodes = system.pinned.size(), num_pins = system.extra_pins.size();
  Array<float> workspace;
  Array<NodeVec> scratch;
  const size_t numbers =
      PanelWorkspaceSize(system.baked.supernodes, static_cast<uint32_t>(num_nodes));
  if (!workspace.Allocate(allocator_, numbers) || !scratch.Allocate(allocator_, num_nodes + 1)) {
    return kNoMemory;
  }
  for (int k = 0; k < set->num_fractions; ++k) {
    if (set->schur[k].size() == 0 && !set->schur[k].Allocate(allocator_, num_pins * num_pins)) {
      return kNoMemory;
    }
    if (!FactorPinSchur(shared.factors[k], system.extra_pins.span(), workspace.span(),
                        scratch.span(), set->schur[k].span())) {
      return {StatusCode::kInvalidArgument, "dt", "pins depend on each other"};
    }
  }
  for (int k = 0; k < set->num_fractions; ++k) {
    set->pins[k] = {system.extra_pins.span(), set->schur[k].span()};
    set->factors[k] = shared.factors[k];
    set->factors[k].pins = &set->pins[k];
  }
  return {};
}

// Returns an unused set for another unprepared time step, or null if one must be allocated. Reusing
// a set also empties the sets that share its factors.
FactorSet* SystemCache::TakeUnprepared(System* system, float dt_in_use) {
  int num_unprepared = 0;
  FactorSet* oldest = nullptr;
  for (FactorSet* set = system->sets; set != nullptr; set = set->next) {
    if (set->keep) continue;
    ++num_unprepared;
    if (set->dt == dt_in_use && set->dt > 0.0f) continue;
    if (oldest == nullptr || set->ids[0] < oldest->ids[0]) oldest = set;
  }
  if (oldest == nullptr || (num_unprepared < kMaxUnprepared && oldest->dt > 0.0f)) return nullptr;
  auto& sharers = system->sharers;
  for (System* s = sharers.first(); s != nullptr; s = sharers.Next(s)) {
    FactorSet* shares = oldest->dt > 0.0f ? s->Find(oldest->dt) : nullptr;
    if (shares != nullptr && shares->factors[0].pins != nullptr) Empty(shares);
  }
  Empty(oldest);
  return oldest;
}

Status SystemCache::Prepare(System* system, float dt, float dt_in_use, int num_fractions,
                            bool* made) {
  if (system->Find(dt) != nullptr) return {};  // no other thread changes the sets
  const std::lock_guard<std::mutex> lock(mutex_);
  return PrepareLocked(system, dt, dt_in_use, num_fractions, made);
}

Status SystemCache::PrepareLocked(System* system, float dt, float dt_in_use, int num_fractions,
                                  bool* made) {
  if (system->Find(dt) != nullptr || Adopt(system, dt)) return {};
  FactorSet* taken = TakeUnprepared(system, dt_in_use);
  FactorSet* set = taken != nullptr ? taken : NewObject<FactorSet>(allocator_);
  if (set == nullptr) return kNoMemory;
  set->num_fractions = num_fractions;
  Status status = {StatusCode::kInvalidArgument};
  if (system->base != nullptr) status = ShareFactors(*system, dt, dt_in_use, set);
  if (status.code == StatusCode::kInvalidArgument) status = MakeFactors(*system, dt, set);
  if (!status.ok()) {
    if (taken == nullptr) DeleteObject(allocator_, set);
    return status;
  }
  set->dt = dt;
  set->keep = dt == system->baked.dt;
  for (int k = 0; k < num_fractions; ++k) set->ids[k] = next_factor_id_++;
  if (taken == nullptr) {
    set->next = system->sets;
    system->sets = set;
  }
  *made = true;
  return {};
}

void SystemCache::Keep(System* system, float dt) {
  const std::lock_guard<std::mutex> lock(mutex_);
  KeepLocked(system, dt);
}

void SystemCache::KeepLocked(System* system, float dt) {
  for (System* s : {system, system->base}) {
    FactorSet* set = s != nullptr ? s->Find(dt) : nullptr;
    if (set != nullptr) set->keep = true;
  }
}

}  // namespace plush
