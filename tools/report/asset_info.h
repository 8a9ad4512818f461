// SPDX-License-Identifier: MIT
// The report of `plush info` about a .plush file.
#pragma once

#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace plush::tools {

/// Bytes per tet of the simulation data that all bodies of an asset share, without the regions.
double RestBytesPerTet(const Asset& asset);

/// Shapes of the cage's tets.
struct TetShapes {
  double volume = 0.0;            ///< sum [m^3]
  double min_dihedral_deg = 0.0;  ///< smallest angle between two faces of a tet
  double max_dihedral_deg = 0.0;
  double mean_min_dihedral_deg = 0.0;  ///< mean over the tets of their smallest angle
  double min_quality = 0.0;  ///< 6 sqrt(2) V / l_rms^3: 1 for a regular tet, 0 for a flat one
  double mean_quality = 0.0;
};

struct CageTopology {
  size_t boundary_faces = 0;
  size_t branches = 0;  ///< faces where several strands begin
};

CageTopology MeasureTopology(const SimulationView& simulation);

/// Shapes of an open asset's tets, in double precision from its nodes.
TetShapes MeasureTets(const SimulationView& simulation);

/// The document of `plush info --json` for an open asset.
nlohmann::json AssetInfo(const Asset& asset);

/// The same as several lines of text.
std::string AssetInfoText(const Asset& asset);

}  // namespace plush::tools
