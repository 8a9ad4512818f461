// SPDX-License-Identifier: MIT
#include "simulate/scene_solver.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace plush::tools {
namespace {

// Reads one of `names`, which are in the order of the enumeration.
template <class Enum, size_t kCount>
void ReadName(const JsonObject& of, const char* key, const char* kind,
              const std::array<std::string_view, kCount>& names, Enum* out) {
  std::string name;
  if (!of.String(key, &name)) return;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    of.Mistake(key, UnknownNameMessage(kind, name, names));
  } else {
    *out = static_cast<Enum>(found - names.begin());
  }
}

// Returns the name of a planned solver that this version lacks, or "".
std::string ReadSolverName(const JsonObject& solver, BodySolver* out) {
  constexpr std::array<std::string_view, 4> kNames = {"splitting", "implicit", "projective",
                                                      "position"};
  std::string name;
  if (!solver.String("name", &name)) return "";
  if (name == "splitting") {
    out->method = nullptr;
  } else if (name == "implicit") {
    out->method = &kImplicitMethod;
  } else if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) {
    return name;
  } else {
    solver.Mistake("name", UnknownNameMessage("solver", name, kNames));
  }
  return "";
}

void ReadImplicit(const JsonObject& solver, ImplicitSettings* out) {
  constexpr std::array<std::string_view, 4> kDifferentials = {"exact", "constant_rotation",
                                                              "warped", "hybrid"};
  constexpr std::array<std::string_view, 3> kPreconditioners = {"factor", "jacobi", "none"};
  constexpr std::array<std::string_view, 2> kLinearMethods = {"conjugate_gradients",
                                                              "minimum_residuals"};
  constexpr std::array<std::string_view, 10> kRotations = {
      "polar",    "svd",     "invertible_svd", "coherent_svd",       "qr",
      "polar_qr", "project", "reflect",        "degeneration_aware", "analytic"};
  solver.Integer("newton_iterations", 1, 64, &out->newton_iterations);
  solver.Integer("linear_iterations", 1, 10000, &out->linear_iterations);
  solver.Number("newton_tolerance", {0.0, 0.999}, &out->newton_tolerance);
  solver.Number("linear_tolerance", {0.0, 0.999}, &out->linear_tolerance);
  solver.Number("mass_damping", {0.0, 1000.0}, &out->mass_damping);
  solver.Number("alpha", {0.001, 0.999}, &out->alpha);
  solver.Number("beta", {1.0, 100.0}, &out->beta);
  solver.Boolean("line_search", &out->line_search);
  solver.Boolean("assembled", &out->assembled);
  solver.Boolean("quasistatic", &out->quasistatic);
  solver.Boolean("exact_degenerate_stress", &out->exact_degenerate_stress);
  ReadName(solver, "differential", "differential", kDifferentials, &out->differential);
  ReadName(solver, "preconditioner", "preconditioner", kPreconditioners, &out->preconditioner);
  ReadName(solver, "linear_method", "linear method", kLinearMethods, &out->linear_method);
  ReadName(solver, "rotation", "rotation method", kRotations, &out->rotation);
}

}  // namespace

std::string ReadSolverSettings(const JsonObject& solver, BodySolver* out) {
  constexpr std::array<std::string_view, 4> kOfEvery = {"name", "newton_iterations",
                                                        "volume_sweeps", "contact"};
  const std::string missing = ReadSolverName(solver, out);
  const bool is_implicit = out->method != nullptr;
  for (const std::string_view key : kSolverKeys) {
    if (is_implicit || std::ranges::find(kOfEvery, key) != kOfEvery.end()) continue;
    if (solver.Has(key.data())) solver.Mistake(key.data(), "needs the solver 'implicit'");
  }
  if (is_implicit) {
    ReadImplicit(solver, &out->implicit);
  } else {
    solver.Integer("newton_iterations", 1, 64, &out->splitting.outer_iterations);
    solver.Integer("volume_sweeps", 0, 16, &out->splitting.volume_sweeps);
  }
  return missing;
}

void ReadModel(const JsonObject& body, BodySolver* out, std::string* mistake) {
  constexpr std::array<std::string_view, 5> kModels = {"linear", "corotated", "corrected_corotated",
                                                       "st_venant_kirchhoff", "neo_hookean"};
  if (!body.Has("material")) return;
  const JsonObject material(*body.Value("material"), body.PathOf("material"), kMaterialKeys,
                            mistake);
  if (material.Has("model") && out->method == nullptr) {
    material.Mistake("model", "needs the solver 'implicit'");
  }
  ReadName(material, "model", "material model", kModels, &out->implicit.model);
}

}  // namespace plush::tools
