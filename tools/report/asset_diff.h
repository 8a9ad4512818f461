// SPDX-License-Identifier: MIT
// What differs between two .plush files, for `plush diff`.
#pragma once

#include "plush/asset.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace plush::tools {

/// A value of `plush info --json` that two files do not share.
struct ValueDifference {
  std::string key;        ///< names from the document's top, joined by dots: "simulation.tets"
  nlohmann::json a, b;    ///< null if the file lacks it
  double relative = 1.0;  ///< |a - b| over the larger magnitude; of places over the size of the
                          ///< model; 1 if a or b is no number
};

struct AssetDiff {
  bool same_bytes = false;
  std::vector<ValueDifference> values;      ///< counts, sizes, masses, qualities; by key
  std::vector<ValueDifference> settings;    ///< of the bakes; by key
  std::vector<ValueDifference> provenance;  ///< tool and hashes
  double surface_m = 0.0;         ///< largest distance of a vertex of one file's rest surface from
                                  ///< the other's surface [m]
  double surface_relative = 0.0;  ///< the same over the larger diagonal of their boxes

  /// The largest relative difference of the values and the surface.
  double Largest() const;
};

/// Compares two open assets. The rest surface is the triangles of a static mesh, or the collision
/// surface of a body. If one file has none and the other has one, they are infinitely far apart.
AssetDiff CompareAssets(const Asset& a, const Asset& b);

/// The differences as an object: same_bytes, values, settings, provenance (arrays of key, a, b,
/// relative), surface_m and surface_relative (null: infinite), largest.
nlohmann::json AssetDiffJson(const AssetDiff& diff);

/// The same as a table.
std::string AssetDiffText(const AssetDiff& diff);

}  // namespace plush::tools
