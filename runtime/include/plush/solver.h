// SPDX-License-Identifier: MIT
// Which method steps a body, and its settings. A program links only the methods that it names.
#pragma once

#include "plush/implicit_settings.h"
#include "plush/splitting_settings.h"

namespace plush {

/// Code of a method.
struct SolverMethod;

/// A method with its settings: of a body. See BodyDesc::solver.
struct BodySolver {
  const SolverMethod* method = nullptr;  ///< null: splitting
  SplittingSettings splitting;  ///< if another method steps the body: of steps that it leaves to
                                ///< splitting
  ImplicitSettings implicit;
};

/// Operator splitting on two levels [Kug]: the default.
inline BodySolver SplittingSolver(const SplittingSettings& settings = {}) {
  return {nullptr, settings, {}};
}

extern const SolverMethod kImplicitMethod;

/// Backward Euler by Newton's method [Civ 3.3]: more accurate, and two to ten times as expensive.
/// - The body steps outside crowds.
/// - A substep is splitting's, with `splitting`, if its first iteration moves nothing. There,
///   Poisson's ratios above 0.47 act as 0.47, and the material model is the default.
inline BodySolver ImplicitSolver(const ImplicitSettings& settings = {},
                                 const SplittingSettings& splitting = {}) {
  return {&kImplicitMethod, splitting, settings};
}

}  // namespace plush
