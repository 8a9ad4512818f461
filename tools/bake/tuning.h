// SPDX-License-Identifier: MIT
// The settings that `plush tune` chooses for a body, as tuning.json has them.
#pragma once

#include "plush/asset.h"

#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace plush::tools {

struct Tuning {
  TunedSolver solver = TunedSolver::kSplitting;
  int newton_iterations = 1;  ///< of kSplitting its outer iterations; in [1, 64]
  int linear_iterations = 0;  ///< of kImplicit, in [1, 10000]; else 0
  double dt = 0.01;           ///< time step [s]
  double damping = 0.0;       ///< of the material, in the whole body [s]

  bool operator==(const Tuning&) const = default;
};

/// "splitting" or "implicit".
const char* NameOf(TunedSolver solver);

/// Reads
///   {"solver": {"name": "implicit", "newton_iterations": 2, "linear_iterations": 8},
///    "dt": 0.01, "damping": 0, "measured": ...}
/// All keys but "measured" are needed; of splitting, "linear_iterations" is a mistake. Errors:
/// kUsage.
Result<Tuning> ParseTuning(std::string_view json);

/// What ParseTuning reads, without "measured". "solver" is what scenes call so.
nlohmann::json TuningJson(const Tuning& tuning);

}  // namespace plush::tools
