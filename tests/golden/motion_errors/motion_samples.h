// SPDX-License-Identifier: MIT
// References of motion as text: 64 nodes after every 11th step.
#pragma once

#include "bench/swinging_arm.h"
#include "reference/trajectory.h"

#include <string>

namespace plush::tests {

/// What a reference belongs to: the asset, the length of steps, gravity and the pins.
std::string KeyOf(const bench::SwingingArm& body, float dt);

/// The same motion, of 64 nodes at even distances in the asset's order, after every 11th step.
reference::Trajectory Sampled(const reference::Trajectory& all);

/// Writes `key` and the sampled positions in whole micrometres. Returns whether it could.
bool WriteSamples(const std::string& path, const std::string& key,
                  const reference::Trajectory& samples);

/// Reads the steps to `samples`, which has its rest. Returns "", or why not: there is no such file,
/// it belongs to another key, or it is cut off.
std::string ReadSamples(const std::string& path, const std::string& key,
                        reference::Trajectory* samples);

}  // namespace plush::tests
