// SPDX-License-Identifier: MIT
// The matrices of the splitting step and their factors, shared by all bodies with the same matrix.
#pragma once

#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/world.h"

#include "base/array.h"
#include "elasticity/elements.h"
#include "solver/panel_solve.h"
#include "solver/pin_schur.h"
#include "solver/system_matrix.h"

#include <cstdint>
#include <span>

namespace plush {

/// Most substeps of a step, and so most fractions of a time step with a factor.
inline constexpr int kMaxSubsteps = 4;

/// Most time steps per system whose factors were made without PrepareTimeStep.
inline constexpr int kMaxUnprepared = 2;

/// Fewest bodies of a system for which others with more pins share its factors.
inline constexpr uint32_t kLeastSharing = 6;

/// What a body is made of. Two bodies of one asset with the same have the same matrix.
struct BodyMaterial {
  float young = -1.0f;      ///< of every tet [Pa], or below zero: as baked, tet by tet
  float poisson = -1.0f;    ///< of every tet, or below zero: as baked, tet by tet
  float damping = 0.0f;     ///< Kelvin-Voigt relaxation time [s]
  float mass_scale = 1.0f;  ///< of the baked masses

  bool operator==(const BodyMaterial&) const = default;
};

/// Lame parameters of the tets of a baked material in a body made of `material`.
LamePair OverriddenLame(const MaterialView& baked, const BodyMaterial& material);

/// Identifies a system: everything that its matrix depends on but dt.
struct SystemKey {
  std::span<const std::byte> asset_bytes;
  uint64_t content_hash = 0;  ///< of the asset: another one may come to lie at the same address
  BodyMaterial material;
  std::span<const uint8_t> pinned;  ///< (num_nodes x 1)

  bool HasSameAsset(const SystemKey& other) const;
};

/// Factors of one matrix for the steps dt, dt/2 .. dt/num_fractions.
struct FactorSet {
  float dt = 0.0f;    ///< [s], or 0: unused memory
  bool keep = false;  ///< for the baked time step and those of PrepareTimeStep
  int num_fractions = 0;
  Array<float> made[kMaxSubsteps];    ///< values that the asset does not have
  PanelFactor factors[kMaxSubsteps];  ///< for dt / (k + 1)
  Array<double> schur[kMaxSubsteps];  ///< of pins that the factors do not know
  PinSchur pins[kMaxSubsteps];        ///< what `factors` point to
  uint64_t ids[kMaxSubsteps] = {};    ///< names of the factors, never reused
  FactorSet* next = nullptr;
};

/// A matrix and its factors.
struct System {
  SystemKey key;  ///< its `pinned` is the array below
  Array<uint8_t> pinned;
  uint32_t num_pinned = 0;
  Array<float> stiffness;      ///< 2 mu V by place [J] (16 num_blocks x 1), or empty: as baked
  Array<float> bulk;           ///< lambda V by place [J] (16 num_blocks x 1), or empty: as baked
  SystemView view;             ///< with dt = 0
  FactorView baked;            ///< usable for dt = baked.dt if `as_baked`
  bool as_baked = false;       ///< `baked` has the values for its dt, with num_active columns
  uint32_t num_active = 0;     ///< columns of a solve: all, or those before num_free if exactly the
                               ///< nodes behind are pinned
  System* base = nullptr;      ///< whose factors this one shares, or null
  Array<uint32_t> extra_pins;  ///< beyond those of `base`, ascending
  FactorSet* sets = nullptr;
  uint32_t users = 0;     ///< bodies, and systems whose `base` this is
  uint64_t released = 0;  ///< when the last user left: a count that grows
  System* next = nullptr;

  /// The factors for `dt`, or null.
  FactorSet* Find(float dt) const;
};

/// Owns all systems, those in use and a few idle ones.
class SystemCache {
 public:
  /// Keeps up to `max_idle` systems without users, the last ones used.
  SystemCache(const Allocator& allocator, uint32_t max_idle)
      : allocator_(allocator), max_idle_(max_idle) {}
  ~SystemCache();
  SystemCache(const SystemCache&) = delete;
  SystemCache& operator=(const SystemCache&) = delete;

  /// The system of an asset with this material and pins (num_nodes x 1), made if there is none;
  /// counts one more user. A new one shares the factors of a system that has the same material,
  /// up to kMaxExtraPins fewer pins, no others, no damping and at least kLeastSharing users: then
  /// its body can join their crowd. Its views are valid as long as it has users. Returns null if
  /// the allocator fails.
  System* Acquire(const Asset& asset, const BodyMaterial& material,
                  std::span<const uint8_t> pinned);
  /// Counts one user less.
  void Release(System* system);

  /// Makes the factors for `dt` [s] and its fractions unless they exist; sets `made` if it had to.
  /// At most kMaxUnprepared sets per system are neither kept (see Keep) nor for the baked time
  /// step: a further one takes the memory of the oldest, but never that of `dt_in_use`. On failure
  /// no set in use has changed. Errors: kOutOfMemory; kInvalidArgument if the matrix is not
  /// positive definite in double precision (dt far out of proportion to the masses).
  Status Prepare(System* system, float dt, float dt_in_use, int num_fractions, bool* made);
  /// Keeps the existing factors for `dt` as long as the system lives.
  static void Keep(System* system, float dt);

 private:
  System* FindBase(const SystemKey& key, uint32_t num_pinned) const;
  bool Fill(const Asset& asset, const BodyMaterial& material, std::span<const uint8_t> pinned,
            System* system);
  bool FindExtraPins(System* system);
  void Free(System* system);
  void FreeIdle();
  FactorSet* TakeUnprepared(System* system, float dt_in_use);
  Status MakeFactors(const System& system, float dt, FactorSet* set);
  Status ShareFactors(const System& system, float dt, float dt_in_use, FactorSet* set);
  Status MakeFactor(const System& system, float dt, Array<float>* made, PanelFactor* out_factor);

  Allocator allocator_;
  uint32_t max_idle_;
  System* systems_ = nullptr;
  uint64_t next_factor_id_ = 1;
  uint64_t num_releases_ = 0;
};

}  // namespace plush
