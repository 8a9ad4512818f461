// SPDX-License-Identifier: MIT
// Reads a saved state as hostile input: checks all of it before anything is used.
#pragma once

#include "plush/asset.h"
#include "plush/solver.h"
#include "plush/status.h"
#include "plush/step.h"

#include "base/slot_list.h"
#include "body/system_cache.h"
#include "state/state_format.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace plush {

inline constexpr Status kNoMemory = {StatusCode::kOutOfMemory, "state", "", 0};

struct Collider;
struct TriangleSource;

/// Where the numbers of a body lie in its section. Not aligned.
struct BodyBulk {
  const std::byte* x = nullptr;
  const std::byte* v = nullptr;
  const std::byte* rotations = nullptr;
  const std::byte* kappa = nullptr;
  const std::byte* previous = nullptr;
  const std::byte* searched = nullptr;
  const std::byte* resting = nullptr;
  const std::byte* targets = nullptr;
  const std::byte* regions = nullptr;
  const std::byte* motions = nullptr;
  const std::byte* reactions = nullptr;
  const std::byte* contacts = nullptr;
  const std::byte* touches = nullptr;
  const std::byte* coupled = nullptr;
  const std::byte* couplings = nullptr;
  const std::byte* models = nullptr;
};

/// A state in memory and the assets that it names. Allocates nothing.
class StateReader {
 public:
  /// All must stay valid. `assets` may have null pointers and closed assets, `solvers` null
  /// pointers.
  StateReader(std::span<const std::byte> bytes, std::span<const Asset* const> assets,
              std::span<const SolverMethod* const> solvers)
      : bytes_(bytes), assets_(assets), solvers_(solvers) {}

  /// Checks everything that does not depend on the loading world's bodies. If this succeeds, all
  /// calls below are safe for indices below the counts of world(). `method` is the loading world's
  /// contact method, the only one that a state may name, `max_contacts` what its bodies have room
  /// for. Height fields and meshes must be those of the loading world's `colliders` (num_colliders
  /// x 1). Errors: those of LoadState.
  Status Check(uint16_t tag, bool keep_previous, const ContactMethod* method, uint32_t max_contacts,
               const Collider* colliders, size_t num_colliders);

  const StateWorld& world() const { return world_; }
  ContactSettings Contact() const;
  SleepSettings Sleep() const { return {world_.sleep_speed, world_.sleep_time}; }
  StateSystem system(uint32_t index) const { return At<StateSystem>(systems_, index); }
  StateSet set(uint32_t index) const { return At<StateSet>(sets_, index); }
  StateCollider collider(uint32_t index) const { return At<StateCollider>(colliders_, index); }
  /// The height field or mesh of a collider, from a collider of the loading world, or null.
  const TriangleSource* MeshOf(const StateCollider& collider) const;
  bool has_meshes() const;  ///< or height fields
  /// One of a hull's points.
  Vec3 hull_point(uint32_t index) const { return At<Vec3>(hull_points_, index); }
  StateAttachment attachment(uint32_t index) const {
    return At<StateAttachment>(attachments_, index);
  }
  StatePair pair(uint32_t index) const { return At<StatePair>(pairs_, index); }
  StateBodyContact body_contact(uint32_t index) const {
    return At<StateBodyContact>(body_contacts_, index);
  }
  StateForce force(uint32_t index) const { return At<StateForce>(forces_, index); }
  StateEnd end(uint32_t index) const { return At<StateEnd>(ends_, index); }
  float time_step(uint32_t index) const { return At<float>(time_steps_, index); }
  StateCrowd crowd(uint32_t index) const { return At<StateCrowd>(crowds_, index); }
  StateBody body(uint32_t index) const { return At<StateBody>(bodies_, index); }
  BodySolver SolverOf(const StateBody& body) const;
  SlotList<>::Saved body_slot(uint32_t slot) const { return Slot(body_slots_, slot); }
  SlotList<>::Saved collider_slot(uint32_t slot) const { return Slot(collider_slots_, slot); }
  SlotList<>::Saved attachment_slot(uint32_t slot) const { return Slot(attachment_slots_, slot); }

  /// One of `assets`.
  const Asset& AssetOf(const StateSystem& system) const { return *FindAsset(system.asset); }
  BodyMaterial MaterialOf(const StateSystem& system) const;
  std::span<const uint8_t> PinnedOf(const StateSystem& system) const;
  BodyBulk BulkOf(const StateBody& body) const;
  /// Rotations, then multipliers of all lanes, of a crowd with lanes.
  const std::byte* BulkOf(const StateCrowd& crowd) const {
    return &bytes_[crowd_bulk_ + static_cast<size_t>(crowd.bulk_at)];
  }

 private:
  template <class T>
  T At(size_t section, uint32_t index) const {
    T value;
    std::memcpy(&value, &bytes_[section + sizeof(T) * index], sizeof(T));
    return value;
  }
  SlotList<>::Saved Slot(size_t section, uint32_t slot) const {
    const StateSlot saved = At<StateSlot>(section, slot);
    return {saved.generation, saved.link};
  }
  const Asset* FindAsset(uint32_t index) const;
  BodyLayout LayoutOf(const StateBody& body, const StateSystem& system) const;
  bool TakeSection(uint64_t num_bytes, size_t* out_at);
  bool FindBody(uint32_t slot, StateBody* out_body) const;
  const TriangleSource* MeshInSlot(uint32_t slot) const;

  Status CheckHeader(uint16_t tag, bool keep_previous);
  Status CheckWorld() const;
  Status CheckSystems();
  Status CheckSystem(uint32_t index, const StateSystem& system) const;
  Status CheckSets(uint32_t index, const StateSystem& system) const;
  Status CheckSlots() const;
  Status CheckColliders() const;
  bool ArePoints(const StateCollider& collider, uint32_t* end) const;
  Status CheckAttachments() const;
  bool IsSide(uint32_t slot, const uint32_t (&nodes)[4], const float (&weights)[4]) const;
  bool IsInTriangle(uint32_t slot, uint32_t triangle, float u, float v) const;
  Status CheckBodyContacts() const;
  bool IsBodyId(uint64_t id) const;
  bool IsColliderId(uint64_t id) const;
  Status CheckForces() const;
  Status CheckEnds() const;
  Status CheckCrowds() const;
  Status CheckBodies();
  Status CheckBody(uint32_t index, const StateBody& body, const StateSystem& system) const;
  Status CheckBodyBulk(uint32_t index, const StateBody& body, const StateSystem& system) const;
  Status CheckContacts(uint32_t index, const StateBody& body, const StateSystem& system,
                       const BodyBulk& bulk) const;
  Status CheckTouches(uint32_t index, const StateBody& body, const BodyBulk& bulk) const;
  bool CheckModels(const StateBody& body, const StateSystem& system, const BodyBulk& bulk) const;
  Status CheckPins(uint32_t index, const StateBody& body, const StateSystem& system,
                   const BodyBulk& bulk) const;
  Status CheckCrowdBulk();

  std::span<const std::byte> bytes_;
  std::span<const Asset* const> assets_;
  StateHeader header_ = {};
  StateWorld world_ = {};
  std::span<const SolverMethod* const> solvers_;
  const ContactMethod* method_ = nullptr;
  const Collider* own_colliders_ = nullptr;  // of the loading world
  size_t num_own_colliders_ = 0;
  uint32_t max_contacts_ = 0;
  StateChecksum checksum_;
  size_t at_ = 0;  // of the next section
  // Offsets of the sections.
  size_t asset_table_ = 0, systems_ = 0, pinned_ = 0, sets_ = 0, body_slots_ = 0,
         collider_slots_ = 0, attachment_slots_ = 0, colliders_ = 0, hull_points_ = 0,
         attachments_ = 0, pairs_ = 0, body_contacts_ = 0, forces_ = 0, ends_ = 0, time_steps_ = 0,
         crowds_ = 0, bodies_ = 0, body_bulk_ = 0, crowd_bulk_ = 0;
};

}  // namespace plush
