// SPDX-License-Identifier: MIT
// Runs bakes as job arrays on an existing Slurm cluster, without a daemon or an accounting
// database.
//
// The output tree lies on a file system that all nodes share. A task bakes the assets of a chunk
// one after the other. A result is a folder that is made under a random name and then renamed to
// the asset's number, which succeeds once: work may be done twice, nothing is published twice. This
// process looks for new folders, and submits again what is missing when nothing more comes.
#pragma once

#include "base/result.h"
#include "batch/done_bakes.h"
#include "batch/manifest.h"
#include "batch/ninja_file.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

/// Largest number of tasks of an array (Slurm's default MaxArraySize).
inline constexpr size_t kMaxArrayTasks = 1001;

/// Cuts bakes of these costs, which fall, into runs of neighbours of at least `chunk_cost` each, as
/// far as they reach. Returns the end of each run; none is empty.
std::vector<size_t> CutIntoChunks(std::span<const double> costs, double chunk_cost);

/// About the largest number of tasks of a round: Slurm's default MaxJobCount is 10,000.
inline constexpr size_t kMaxRoundTasks = 8000;

/// The chunk cost of a round of bakes of these costs: `wanted`, or more if that made more than
/// kMaxRoundTasks tasks.
double RoundChunkCost(std::span<const double> costs, double wanted);

struct SlurmSettings {
  std::string output_tree;  ///< absolute
  double chunk_s = 300.0;   ///< aimed time of a task [s]
};

/// A bake to run: an asset, and about how long it takes [s].
struct SlurmBake {
  const BatchAsset* asset = nullptr;
  double cost_s = 0.0;
};

/// What the run needs to tell its user.
struct SlurmEvents {
  std::function<void(size_t bake, bool failed)> on_end;
  std::function<void(const std::string& message)> on_message;
};

/// Cancels the jobs of batches that were killed, and removes their folders. Call it under the lock.
void EndOldSlurmRuns(const std::string& output_tree);

/// Runs `bakes`, whose costs fall, moves their results into the output tree and adds them to
/// `done`; those that no node finished fail with exit code 7. Call it under the lock. Errors: kIo
/// (a program of Slurm is missing or fails, the tree cannot be written).
Result<Done> RunOnSlurm(const SlurmSettings& settings, const BatchTools& tools,
                        std::span<const SlurmBake> bakes, const SlurmEvents& events,
                        DoneBakes* done);

}  // namespace plush::tools
