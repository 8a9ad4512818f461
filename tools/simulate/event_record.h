// SPDX-License-Identifier: MIT
// The events of a run, by step, as JSON.
#pragma once

#include "simulate/scene_world.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace plush::tools {

/// Records what World reports after each step: contact_events, body_events, attachment_events.
class EventRecord {
 public:
  /// Lets all bodies report contacts. `scene_world` must outlive the record.
  EventRecord(SceneWorld* scene_world, double dt);

  /// Notes the events of the last step, whose number this is; 0, before the first, has none.
  /// Returns false once the document is longer than `most_bytes`.
  bool Observe(uint32_t step, size_t most_bytes = size_t{1} << 30);

  /// Lets the bodies report contacts as they did before, also after their state is saved and
  /// loaded.
  void Finish();

  /// The document, one line for each step in which something happened. Keys:
  /// - dt [s], steps (done), bodies (names, in the order of the scene, copies in a row);
  /// - lost: numbers of the steps in which more happened than a step reports;
  /// - events, one object for each such step: step (from 1), time_s at its end, and those of the
  ///   arrays contacts, bodies and attachments that are not empty.
  /// Bodies, colliders and attachments are indices: into `bodies`, into the scene's arrays
  /// `colliders` and `attachments` (there with the body's copy as `body`).
  /// - contacts: type (began, stayed, ended), body, collider or other_body; unless it ended: point
  ///   [m], normal, impulse_n_s, triangle and other_triangle if there are; of a beginning:
  ///   approach_m_s.
  /// - bodies: type (slept, woke, froze), body.
  /// - attachments, which broke: attachment, body, force_n on the body.
  std::string Document() const;

 private:
  using Indices = std::unordered_map<uint64_t, size_t>;  // by the value of an id

  nlohmann::json Contacts() const;
  nlohmann::json Bodies() const;
  nlohmann::json Attachments() const;

  SceneWorld* scene_world_;
  double dt_;
  Indices bodies_, colliders_, attachments_;
  std::vector<bool> reported_;  // by body, before
  std::string lines_;           // of steps
  std::vector<uint32_t> lost_;
  uint32_t steps_ = 0;
};

}  // namespace plush::tools
