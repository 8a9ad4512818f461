// SPDX-License-Identifier: MIT
#include "bake/tuning.h"

#include "base/json_object.h"
#include "base/material_limits.h"

#include <nlohmann/json.hpp>

#include <string>

namespace plush::tools {
namespace {

void ReadSolver(const JsonObject& solver, Tuning* out) {
  std::string name;
  if (!solver.String("name", &name)) return solver.Mistake("name", "is missing");
  const bool is_implicit = name == NameOf(TunedSolver::kImplicit);
  if (!is_implicit && name != NameOf(TunedSolver::kSplitting)) {
    return solver.Mistake("name", "is neither 'splitting' nor 'implicit'");
  }
  out->solver = is_implicit ? TunedSolver::kImplicit : TunedSolver::kSplitting;
  if (!solver.Integer("newton_iterations", 1, 64, &out->newton_iterations)) {
    solver.Mistake("newton_iterations", "is missing");
  }
  if (is_implicit && !solver.Integer("linear_iterations", 1, 10000, &out->linear_iterations)) {
    solver.Mistake("linear_iterations", "is missing");
  } else if (!is_implicit && solver.Has("linear_iterations")) {
    solver.Mistake("linear_iterations", "needs the solver 'implicit'");
  }
}

}  // namespace

const char* NameOf(TunedSolver solver) {
  return solver == TunedSolver::kImplicit ? "implicit" : "splitting";
}

Result<Tuning> ParseTuning(std::string_view json) {
  const Result<nlohmann::json> document = ParseJson(json);
  if (!document.ok()) return document.error();
  std::string mistake;
  Tuning tuning;
  const JsonObject top(document.value(), "", {"solver", "dt", "damping", "measured"}, &mistake);
  if (!top.Number("dt", kTimeStepRange, &tuning.dt)) top.Mistake("dt", "is missing");
  if (!top.Number("damping", kDampingRange, &tuning.damping)) top.Mistake("damping", "is missing");
  if (!top.Has("solver")) {
    top.Mistake("solver", "is missing");
  } else {
    ReadSolver(JsonObject(*top.Value("solver"), "solver",
                          {"name", "newton_iterations", "linear_iterations"}, &mistake),
               &tuning);
  }
  if (!mistake.empty()) return Error{ExitCode::kUsage, mistake, ""};
  return tuning;
}

nlohmann::json TuningJson(const Tuning& tuning) {
  nlohmann::json solver = {{"name", NameOf(tuning.solver)},
                           {"newton_iterations", tuning.newton_iterations}};
  if (tuning.solver == TunedSolver::kImplicit) {
    solver["linear_iterations"] = tuning.linear_iterations;
  }
  return {{"solver", solver}, {"dt", tuning.dt}, {"damping", tuning.damping}};
}

}  // namespace plush::tools
