// SPDX-License-Identifier: MIT
// What `plush info` says about a .plush file.
#pragma once

#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace plush::tools {

/// Bytes of a bulk vector, or of a kind of small data.
struct SectionSize {
  std::string name;    ///< as in Status::section
  uint64_t bytes = 0;  ///< without padding
};

/// Sizes of all sections of an open asset, in file-independent order; "tables and padding" is what
/// remains of the file.
std::vector<SectionSize> SectionSizes(const Asset& asset);

/// Bytes of all that the bodies of an asset share for their simulation, but the regions, over its
/// number of tets.
double RestBytesPerTet(const Asset& asset);

/// Shape of the cage's tets.
struct TetShapes {
  double volume = 0.0;            ///< sum [m^3]
  double min_dihedral_deg = 0.0;  ///< smallest angle between two faces of a tet
  double max_dihedral_deg = 0.0;
  double mean_min_dihedral_deg = 0.0;  ///< mean over the tets of their smallest angle
  double min_quality = 0.0;  ///< 6 sqrt(2) V / l_rms^3: 1 for a regular tet, 0 for a flat one
  double mean_quality = 0.0;
};

/// How the tets of a cage hang together.
struct CageTopology {
  size_t boundary_faces = 0;
  size_t branches = 0;  ///< faces at which several strands begin
};

/// Topology of an open asset's cage.
CageTopology MeasureTopology(const SimulationView& simulation);

/// Shapes of an open asset's tets, in double precision from its nodes.
TetShapes MeasureTets(const SimulationView& simulation);

/// The document of `plush info --json` for an open asset.
nlohmann::json AssetInfo(const Asset& asset);

/// The same for people, several lines.
std::string AssetInfoText(const Asset& asset);

}  // namespace plush::tools
