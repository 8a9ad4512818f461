// SPDX-License-Identifier: MIT
// A run as numbers for machines (`--stats`, `--json`) and as text for people.
#pragma once

#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace plush::tools {

/// The statistics document. Keys:
/// - steps (done), awake_steps (those in which a body was awake), dt, solver, threads;
/// - bodies, tets, nodes, mass_kg, rest_volume_m3;
/// - step_ms{median,p95,max} and phase_ms (mean per step, summed over the bodies), both over the
///   awake steps only;
/// - energy_start_j and energy_j{kinetic,elastic,gravity}; gravity is zero at the world's origin;
/// - max_penetration_m, contacts{median,max};
/// - degenerate_tets and inverted_tets: most in a step with det F < 0.1 and <= 0;
/// - attachments{number,broken[{attachment,body,time_s}]}: those of all copies, and which broke;
///   `attachment` is its place in the scene's array;
/// - flags (names), state_hash;
/// - per_step, one array each: lowest_m, max_speed_m_s, min_det_f, min_volume_ratio,
///   max_volume_ratio, max_penetration_m, contacts, body_pairs, pairs_searched, inverted_tets,
///   substeps, outer_iterations, contact_sweeps.
nlohmann::json StatisticsJson(const Scene& scene, const SceneWorld& scene_world,
                              const RunRecord& record);

/// A few lines: steps, times, energies at the end, contacts, flags with remedies, state hash.
std::string StatisticsText(const Scene& scene, const SceneWorld& scene_world,
                           const RunRecord& record);

/// The value below which the share `quantile` in [0, 1] of the numbers lies (nearest rank); 0 if
/// there are none.
double Quantile(std::vector<double> numbers, double quantile);

}  // namespace plush::tools
