// SPDX-License-Identifier: MIT
// A world with all that a state must hold: crowds, contact, sleep, moving pins, materials, scales,
// forces,
// attachments. The game's calls of a step follow from its number alone, so that any world can
// replay it.
#pragma once

#include "runtime/tet_fixtures.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::test {

inline constexpr float kStateDt = 0.01f;

/// The time step of step number `step`: mostly kStateDt, sometimes a longer or shorter one. So
/// multipliers must keep the step that they belong to.
inline float StateDt(int step) {
  return step % 60 == 45 ? 0.013f : step % 60 == 46 ? 0.006f : kStateDt;
}

class StateScene {
 public:
  StateScene();

  WorldDesc Desc() const;
  std::span<const Asset* const> assets() const { return assets_; }
  const Asset& large() const { return crowd_.asset(); }
  const Asset& small() const { return small_.asset(); }

  /// Adds bodies and colliders to an empty world.
  void Fill(World* world) const;
  /// The calls before step number `step`, counted from 0.
  void Drive(World* world, int step) const;

 private:
  void AttachBodies(World* world) const;

  ShapeAsset crowd_, small_;
  std::vector<const Asset*> assets_;
};

/// The world's state; fails the test if SaveState does.
std::vector<std::byte> SavedState(const World& world);

/// Loads a state into a world; fails the test if LoadState does.
void Load(World* world, std::span<const std::byte> state, const StateScene& scene);

/// Ids of all bodies and colliders.
std::vector<uint64_t> IdsOf(const World& world);

/// Corrects the checksum of a changed state.
void Reseal(std::span<std::byte> state);

}  // namespace plush::test
