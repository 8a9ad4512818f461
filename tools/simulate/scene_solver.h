// SPDX-License-Identifier: MIT
// Reads the solvers of scene files: the keys "solver" and "material.model".
#pragma once

#include "plush/solver.h"

#include "base/json_object.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace plush::tools {

/// Keys of a body's material.
inline const std::initializer_list<std::string_view> kMaterialKeys = {
    "young", "poisson", "density", "damping", "friction", "restitution", "model"};
/// Keys of a solver. Only a scene's has "contact".
inline const std::initializer_list<std::string_view> kSolverKeys = {"name",
                                                                    "newton_iterations",
                                                                    "volume_sweeps",
                                                                    "contact",
                                                                    "linear_iterations",
                                                                    "newton_tolerance",
                                                                    "linear_tolerance",
                                                                    "mass_damping",
                                                                    "differential",
                                                                    "linear_method",
                                                                    "preconditioner",
                                                                    "line_search",
                                                                    "assembled",
                                                                    "quasistatic",
                                                                    "rotation",
                                                                    "alpha",
                                                                    "beta",
                                                                    "exact_degenerate_stress"};

/// Reads all but "contact". A key of another solver than the chosen one is a mistake, because it
/// would have no effect. Returns the name of a planned solver that this version lacks, or "".
std::string ReadSolverSettings(const JsonObject& solver, BodySolver* out);

/// Reads the "model" of a body's "material", if there is one. Without the implicit solver it is a
/// mistake.
void ReadModel(const JsonObject& body, BodySolver* out, std::string* mistake);

}  // namespace plush::tools
