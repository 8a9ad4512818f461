// SPDX-License-Identifier: MIT
// Reads the sample models' GLB files without the code under test.
#pragma once

#include "mesh/surface_mesh.h"

#include <nlohmann/json.hpp>

#include <string>

namespace plush::tests {

/// A GLB file as a surface: one part per primitive, `_pin` as the one attribute.
struct GlbModel {
  nlohmann::json document;
  tools::SurfaceMesh surface;
};

/// Reads `path`; the test fails where it is not a GLB file of the sample models' simple form (one
/// mesh, untransformed, indexed triangles with POSITION, NORMAL and _pin, tightly packed).
GlbModel ReadSampleGlb(const std::string& path);

}  // namespace plush::tests
