// SPDX-License-Identifier: MIT
// Plays a scene and checks the laws that hold in every scene.
#pragma once

#include "golden/record.h"
#include "golden/stage.h"

#include <string>

namespace plush::golden {

/// Plays the scene once, on one thread, and adds each law that it breaks to `faults`, a line each:
/// - after the first step with a body, steps allocate nothing;
/// - energies are finite; impulses of colliders, pins, springs, constraints and gravity explain the
///   change of momentum, as far as Limits::momentum of the result says.
Record Play(const Scene& scene, Assets* assets, std::string* faults);

/// Saves states before and after the calls of one step and goes on from them: in an empty world, in
/// one that the scene has started, and in one that has ended. There, saved again, they are the same
/// bytes.
/// The ends are those of `whole`, bit for bit, and steps allocate nothing, or `faults` says so.
void PlayFromState(const Scene& scene, Assets* assets, const Record& whole, std::string* faults);

/// The same of other orders and numbers of threads: jobs backwards, on 2 threads, on 7.
void PlayOnThreads(const Scene& scene, Assets* assets, const Record& whole, std::string* faults);

}  // namespace plush::golden
