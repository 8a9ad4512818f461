// SPDX-License-Identifier: MIT
// Factors of the splitting step, shared by the bodies that have the same matrix.
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

/// Factors of one matrix for the steps dt, dt/2 .. dt/num_fractions.
struct FactorSet {
  uint32_t system_id = 0;  ///< which matrix; see SystemKey::id
  float dt = 0.0f;         ///< [s]
  int num_fractions = 0;
  Array<float> made[kMaxSubsteps];    ///< values that the asset does not have
  PanelFactor factors[kMaxSubsteps];  ///< for dt / (k + 1)
  Array<double> schur[kMaxSubsteps];  ///< of pins that the factors do not know
  PinSchur pins[kMaxSubsteps];        ///< what `factors` point to
  uint64_t ids[kMaxSubsteps] = {};    ///< names of the factors, never reused
  FactorSet* next = nullptr;
};

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

/// Everything that a matrix depends on but dt.
struct SystemKey {
  std::span<const std::byte> asset_bytes;
  BodyMaterial material;
  Array<float> stiffness;  ///< 2 mu V by place [J] (16 num_blocks x 1), or empty: as baked
  Array<float> bulk;       ///< lambda V by place [J] (16 num_blocks x 1), or empty: as baked
  Array<uint8_t> pinned;   ///< (num_nodes x 1)
  uint32_t num_pinned = 0;
  SystemView view;             ///< with dt = 0; its `pinned` is the array above
  FactorView baked;            ///< usable for dt = baked.dt where the material is the baked one
  bool as_baked = false;       ///< `baked` has the values for its dt, with num_active columns
  uint32_t num_active = 0;     ///< columns that a solve takes: all, or those before num_free where
                               ///< just the nodes behind are pinned
  SystemKey* base = nullptr;   ///< whose factors this one shares, or null
  Array<uint32_t> extra_pins;  ///< beyond those of `base`, ascending
  uint32_t id = 0;
  uint32_t users = 0;  ///< bodies, and systems that share the factors
  SystemKey* next = nullptr;
};

/// Fewest bodies of a system for which others with more pins share its factors.
inline constexpr uint32_t kLeastSharing = 6;

/// Owns systems and their factors.
class FactorCache {
 public:
  explicit FactorCache(const Allocator& allocator) : allocator_(allocator) {}
  ~FactorCache();
  FactorCache(const FactorCache&) = delete;
  FactorCache& operator=(const FactorCache&) = delete;

  /// The system of an asset with this material and pins: an equal one if there is one. A new one
  /// shares the factors of a system that differs only in lacking up to kMaxExtraPins of the pins,
  /// if one has at least kLeastSharing users and no damping: then its body can be one of their
  /// crowd. Counts one more user. Its view's elements are valid as long as it has users. Null where
  /// the allocator fails.
  SystemKey* Acquire(const Asset& asset, const BodyMaterial& material,
                     std::span<const uint8_t> pinned);
  /// Counts one user less; the last one frees the system and its factors.
  void Release(SystemKey* system);

  /// The factors of `system` for `dt`, or null.
  const FactorSet* Find(const SystemKey& system, float dt) const;
  /// Makes them where they are missing. kOutOfMemory, or kInvalidArgument where the matrix is not
  /// positive definite in double precision (dt far out of proportion to the masses).
  Status Prepare(const SystemKey& system, float dt, int num_fractions, const FactorSet** out_set);

 private:
  SystemKey* FindBase(const SystemKey& system) const;
  bool FindExtraPins(SystemKey* system);
  Status MakeFactors(const SystemKey& system, float dt, int num_fractions, FactorSet* set);
  Status ShareFactors(const SystemKey& system, float dt, int num_fractions, FactorSet* set);
  Status MakeFactor(const SystemKey& system, float dt, Array<float>* made, PanelFactor* out_factor);

  Allocator allocator_;
  SystemKey* systems_ = nullptr;
  FactorSet* sets_ = nullptr;
  uint32_t next_system_id_ = 1;
  uint64_t next_factor_id_ = 1;
};

}  // namespace plush
