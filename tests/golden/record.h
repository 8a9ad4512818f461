// SPDX-License-Identifier: MIT
// What is kept of a scene's motion, as text.
#pragma once

#include "golden/stage.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plush::golden {

/// Nodes whose positions are kept: evenly spaced among those of all bodies.
inline constexpr size_t kKeptNodes = 64;

/// A world at one of a scene's three times: after a tenth of its steps, half of them, all.
struct Moment {
  int step = 0;         ///< steps made
  uint64_t hash = 0;    ///< World::StateHash
  uint64_t events = 0;  ///< FNV-1a over all events, counts and reactions so far
  double kinetic = 0.0, elastic = 0.0, gravity = 0.0;  ///< [J]
  double deepest = 0.0;                                ///< WorldMeasures::max_penetration [m]
  uint32_t contacts = 0, body_pairs = 0, asleep = 0;   ///< of StepStats
  std::vector<Vec3> nodes;                             ///< [m] (kKeptNodes x 1)
};

/// Where the laws of every scene hold only so far at this commit.
struct Limits {
  double size = 0.0;   ///< diagonal of the first body's rest bounding box [m]
  double scale = 0.0;  ///< of energies: the largest kinetic or elastic one, or way in gravity [J]
  double most = 0.0;   ///< energy above the start's, at most [J]
  double momentum = 0.0;  ///< what impulses leave unexplained of a step's change of momentum,
                          ///< relative to the largest of both
};

/// The most of each that a step of the scene had: a scene that no longer does what it is for shows.
struct Peaks {
  uint32_t contacts = 0, body_pairs = 0, substeps = 0, outer_iterations = 0;  ///< of StepStats
  uint32_t linear_iterations = 0, asleep = 0, flags = 0;                      ///< flags of any step
  uint64_t calls_that_allocate = 0;  ///< calls for memory between steps, after the first one
};

struct Record {
  std::vector<Moment> moments;
  Limits limits;
  Peaks peaks;
};

std::string ToText(const Record& record);
/// Returns whether `text` is such a text.
bool FromText(const std::string& text, Record* record);

/// Says how `now` differs from `before`: nothing if they are equal, else the first of the times
/// that differs and by how much, up to the end.
std::string Difference(const Record& before, const Record& now);

}  // namespace plush::golden
