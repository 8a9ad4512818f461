// SPDX-License-Identifier: MIT
// Dimensionless measures of a drop on a plane.
#pragma once

#include "simulate/simulation_run.h"

#include <string>

namespace plush::tests {

/// The body that was dropped.
struct DroppedBody {
  double height_m = 0.0;  ///< extent of the render surface along up at rest, H
  double size_m = 0.0;    ///< diagonal of its bounding box
  double young_pa = 0.0;  ///< E
};

/// Measures of a drop from 0.3 H over a whole run. V is the cage's volume, m the mass, g 9.81
/// m/s^2.
struct DropMeasures {
  double end_kinetic = 0.0;        ///< kinetic energy at the end / (m g H)
  double late_speed = 0.0;         ///< fastest node over the last 50 steps [m/s]
  double impact_speed = 0.0;       ///< of a fall from 0.3 H [m/s]
  double end_elastic = 0.0;        ///< elastic energy at the end / (E V)
  uint32_t inverted_tets = 0;      ///< most in any step
  double end_volume_change = 0.0;  ///< |volume / rest volume - 1| at the end
  double energy_gain = 0.0;  ///< largest gain of total energy over its start / largest kinetic
                             ///< energy
  double late_energy = 0.0;  ///< the gain from 0.2 s after the first contact on / (m g 0.3 H)
  double energy_rise = 0.0;  ///< largest rise of total energy in one step / (m g 0.3 H)
  double lowest = 0.0;       ///< least height of the surface above the plane / size
  double end_gap = 0.0;      ///< that height at the end / H
};

/// Measures a run of DropScene.
DropMeasures MeasureDrop(const tools::RunRecord& record, double dt, const DroppedBody& body);

/// All numbers in one line.
std::string ToText(const DropMeasures& measures);

}  // namespace plush::tests
