// SPDX-License-Identifier: MIT
// What `plush info` shows of a static mesh.
#pragma once

#include "plush/asset.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace plush::tools {

/// "static_mesh" of the document of `plush info --json`.
nlohmann::json StaticMeshInfo(const Asset& asset);

/// The same as several lines of text.
std::string StaticMeshText(const Asset& asset);

/// A coefficient of friction or restitution, null if the file leaves it out.
nlohmann::json GivenCoefficient(float coefficient);

}  // namespace plush::tools
