// SPDX-License-Identifier: MIT
// Matrices of the splitting step and their factors. Bodies with equal matrices share them.
#pragma once

#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/status.h"

#include "base/array.h"
#include "base/linked_list.h"
#include "elasticity/elements.h"
#include "solver/coarse_level.h"
#include "solver/panel_solve.h"
#include "solver/pin_schur.h"
#include "solver/system_matrix.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace plush {

struct Body;
struct Crowd;

/// Most substeps of a step. Each fraction of a time step, down to 1/4, has its own factor.
inline constexpr int kMaxSubsteps = 4;

/// Most time steps per system that have factors without PrepareTimeStep.
inline constexpr int kMaxUnprepared = 2;

/// A system needs this many users before systems with more pins share its factors.
inline constexpr uint32_t kLeastSharing = 6;

/// Material of a body. Bodies of one asset with equal materials and pins have equal matrices.
struct BodyMaterial {
  float young = -1.0f;      ///< of every tet [Pa]; below zero: as baked, tet by tet
  float poisson = -1.0f;    ///< of every tet; below zero: as baked, tet by tet
  float damping = 0.0f;     ///< Kelvin-Voigt relaxation time [s]
  float mass_scale = 1.0f;  ///< factor on the baked masses
  float scale = 1.0f;       ///< of lengths, s: the body x = s x' moves as the unscaled body x' with
                            ///< Young's modulus E / s^2
  float drag = 0.0f;        ///< by mass, DragOf the solver [1/s]: factors are those of
                            ///< (1 + drag dt) M + (dt^2 + damping dt) K

  bool operator==(const BodyMaterial&) const = default;
};

/// Lame parameters of `baked` after the overrides and the scale in `material`.
LamePair OverriddenLame(const MaterialView& baked, const BodyMaterial& material);

/// Identifies a system: all that its matrix depends on, except dt.
struct SystemKey {
  std::span<const std::byte> asset_bytes;
  uint64_t content_hash = 0;  ///< of the asset; another asset may reuse the address
  BodyMaterial material;
  std::span<const uint8_t> pinned;  ///< (num_nodes x 1)

  bool HasSameAsset(const SystemKey& other) const;
  uint64_t FamilyHash() const;  ///< of asset and material
  uint64_t Hash() const;        ///< of everything
};

/// Identifies the factor for dt / `count` among those of a system; never 0. It says nothing about
/// when the factor was made, so it is the same in a world that loads a state.
inline uint64_t FactorId(float dt, int count) {
  return uint64_t{std::bit_cast<uint32_t>(dt)} << 8 | static_cast<uint64_t>(count);
}

/// Factors of one matrix for the steps dt, dt/2 .. dt/num_fractions.
struct FactorSet {
  float dt = 0.0f;    ///< [s], or 0 if unused
  bool keep = false;  ///< never reused for another dt: the baked one, or one of PrepareTimeStep or
                      ///< PrepareSystem
  int num_fractions = 0;
  Array<float> made[kMaxSubsteps];    ///< values that the asset does not have, then roots
  PanelFactor factors[kMaxSubsteps];  ///< for dt / (k + 1)
  Array<double> schur[kMaxSubsteps];  ///< Schur complements of `pins`
  PinSchur pins[kMaxSubsteps];        ///< pins beyond those of shared factors; `factors` point here
  uint64_t ids[kMaxSubsteps] = {};    ///< count the factors as they are made
  FactorSet* next = nullptr;
};

// Lists of a SystemCache that a System can be in.
struct InAll;
struct InBucket;
struct InBases;
struct InIdle;
struct InSharers;  // of a System

/// A matrix and its factors. While it has users, PrepareIdle changes only `handed` and the links of
/// lists, under the cache's mutex.
struct System : Links<System, InAll>,
                Links<System, InBucket>,
                Links<System, InBases>,
                Links<System, InIdle>,
                Links<System, InSharers> {
  SystemKey key;  ///< key.pinned is the array below
  Array<uint8_t> pinned;
  uint32_t num_pinned = 0;
  Array<float> stiffness;  ///< 2 mu V by place [J] (16 num_blocks x 1); empty: as baked
  Array<float> bulk;       ///< lambda V by place [J] (16 num_blocks x 1); empty: as baked
  SystemView view;         ///< with dt = 0
  double shear = 0.0;      ///< sum of mu V [J]
  CoarseLevel coarse;
  FactorView baked;
  std::span<const Vec3> rest;  ///< positions of the asset's nodes (num_nodes x 1)
  bool as_baked = false;       ///< whether `baked` is this matrix's factor for baked.dt
  uint32_t num_active = 0;  ///< columns of a solve: baked.num_free if exactly the nodes after those
                            ///< are pinned, else all
  System* base = nullptr;   ///< whose factors this system shares, or null
  Array<uint32_t> extra_pins;             ///< beyond those of `base`, ascending
  LinkedList<System, InSharers> sharers;  ///< systems that have this one as `base`
  FactorSet* sets = nullptr;    ///< changed under the mutex, so that PrepareIdle can read them
  FactorSet* handed = nullptr;  ///< sets of PrepareIdle that Prepare has not yet moved to `sets`
  uint32_t users = 0;           ///< bodies, plus `sharers` that have users
  bool idle = false;            ///< whether it may be freed: it has no users
  bool unused = false;          ///< by any body since PrepareIdle
  uint64_t number = 0;          ///< counts the systems in the order in which they got their first
                                ///< user since they were idle, from 1
  // Scratch memory of saving and loading.
  uint32_t state_index = 0;            ///< in the state
  uint32_t state_asset = 0;            ///< its asset in the state
  System* state_next_asset = nullptr;  ///< first system of the state's next asset

  // Bodies and crowds that use its factors, also those whose system has this one as `base`. Kept by
  // World::Impl.
  LinkedList<Body> waiting;  ///< bodies without a crowd that may join one, in the order of slots
  uint32_t num_waiting = 0;
  LinkedList<Crowd> open_crowds;  ///< those with a free lane, in the order in which they got it
  uint32_t num_crowds = 0;        ///< full ones too

  /// The factors for `dt`, or null.
  FactorSet* Find(float dt) const;
};

/// Owns all systems: those in use and a few idle ones. PrepareIdle may run on any thread beside all
/// other calls, which belong to one thread at a time.
class SystemCache {
 public:
  /// Keeps up to `max_idle` systems without users, the most recently used ones, and as many of
  /// PrepareIdle that are still unused.
  SystemCache(const Allocator& allocator, uint32_t max_idle)
      : allocator_(allocator), max_idle_(max_idle) {}
  ~SystemCache();
  SystemCache(const SystemCache&) = delete;
  SystemCache& operator=(const SystemCache&) = delete;

  /// Returns the system of an asset with this material and pins (num_nodes x 1), and adds a user.
  /// Makes the system if there is none. Its body can join the crowd of an existing system, because
  /// the new system shares its factors, if the existing one has
  /// - the same material, without damping,
  /// - a subset of the pins, at most kMaxExtraPins fewer, that leaves the clusters the same
  ///   (CoarseLevel::SharesClusters),
  /// - at least kLeastSharing users.
  /// The system's views stay valid while it has users. Returns null if the allocator fails.
  System* Acquire(const Asset& asset, const BodyMaterial& material,
                  std::span<const uint8_t> pinned);
  /// Removes a user.
  void Release(System* system);

  /// Makes the factors for `dt` [s] and its fractions unless they exist; sets `made` if it made
  /// them. A system has at most kMaxUnprepared sets that are not kept. A further set takes the
  /// memory of the oldest one, but never that of `dt_in_use`. On failure no set in use has changed.
  /// Errors: kOutOfMemory; kInvalidArgument if the matrix is not positive definite in double
  /// precision (dt far out of proportion to the masses).
  Status Prepare(System* system, float dt, float dt_in_use, int num_fractions, bool* made);
  /// Keeps the existing factors for `dt` for the system's lifetime.
  void Keep(System* system, float dt);

  /// Makes a system, without base, with factors for all `steps` [s], or the factors that an
  /// existing one lacks. Keeps them. Factors without the mutex, so no other call unused for that.
  /// May run on any thread; the allocator must then be thread-safe. On failure nothing has changed.
  /// Errors: those of Prepare; kInvalidArgument if no system may be idle.
  Status PrepareIdle(const Asset& asset, const BodyMaterial& material,
                     std::span<const uint8_t> pinned, std::span<const float> steps,
                     int num_fractions);

  // Saving and loading.

  /// Calls visit(system) for all systems with users, in the order of their numbers.
  template <class Visit>
  void ForUsed(const Visit& visit) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (System* s = systems_.first(); s != nullptr; s = systems_.Next(s)) {
      if (s->users > 0) visit(s);
    }
  }
  /// Numbers the systems with users anew, in the order of their state_index.
  void SortUsed();

  /// Makes a system without users, with the next number. It shares the factors of `base`, which
  /// must have the same asset and material and a subset of the pins, unless `base` is null; it has
  /// no base if the clusters differ. Returns null if the allocator fails.
  System* Restore(const Asset& asset, const BodyMaterial& material, std::span<const uint8_t> pinned,
                  System* base);
  /// Whether there is a system with this key.
  bool HasSystem(const SystemKey& key);
  /// Adds a user to a system of this cache, as Acquire does.
  void Use(System* system);
  /// From now on copies factors from the equal systems of `donor` instead of making them.
  void CopyFrom(SystemCache* donor) { donor_ = donor; }
  /// Exchanges all systems with a cache that no other thread uses.
  void Swap(SystemCache* other);
  /// Takes over idle systems that it lacks from a cache that no other thread uses.
  void TakeIdle(SystemCache* from);

 private:
  static constexpr size_t kBuckets = 64;

  // Without the mutex: for systems that are not in the cache yet, or no longer.
  bool Fill(const Asset& asset, System* system);
  Status MakeFactors(const System& system, float dt, FactorSet* set);
  Status MakeMissing(const Asset& asset, std::span<const float> steps, int num_fractions,
                     System* draft);
  void Destroy(System* system);

  // With the mutex.
  System* FindSystem(const Asset& asset, const SystemKey& key);
  System* FindBase(const SystemKey& key, uint32_t num_pinned) const;
  System* BaseFor(const System& system) const;
  bool ShareBase(const Asset& asset, System* base, System* system);
  System* FindEqual(const SystemKey& key) const;
  bool CopyValues(const System& system, float dt, int fraction, std::span<float> values);
  static void Aim(const Asset& asset, System* system);
  void Insert(System* system);
  void AddUser(System* system);
  void DropUser(System* system);
  void AddIdle(System* system, bool unused);
  void RemoveIdle(System* system);
  void FreeIdle(System* system);
  void FreeSurplus();
  FactorSet* TakeUnprepared(System* system, float dt_in_use);
  Status ShareFactors(const System& system, float dt, float dt_in_use, FactorSet* set);
  Status PrepareLocked(System* system, float dt, float dt_in_use, int num_fractions, bool* made);
  void KeepLocked(System* system, float dt);
  bool Publish(const Asset& asset, std::span<const float> steps, System** draft);

  const Allocator allocator_;
  const uint32_t max_idle_;
  SystemCache* donor_ = nullptr;
  std::mutex mutex_;  // guards all below
  LinkedList<System, InAll> systems_;
  // By SystemKey::Hash, so that finding a system does not compare it with all others.
  LinkedList<System, InBucket> buckets_[kBuckets];
  // By SystemKey::FamilyHash: systems that may become the base of others.
  LinkedList<System, InBases> bases_[kBuckets];
  LinkedList<System, InIdle> idle_;    // systems without users, the longest idle one first
  LinkedList<System, InIdle> unused_;  // those that PrepareIdle made, the first one first
  uint32_t num_idle_ = 0;
  uint32_t num_unused_ = 0;
  uint64_t num_used_ = 0;
  uint64_t next_factor_id_ = 1;
};

}  // namespace plush
