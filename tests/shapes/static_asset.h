// SPDX-License-Identifier: MIT
// Static meshes of surfaces, for tests.
#pragma once

#include "bake/asset_writer.h"
#include "mesh/surface_mesh.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace plush::test {

/// Content of a .plush file with the static mesh of `surface`; its materials are those of the
/// surface's parts. Without `sides`: solid if the mesh is closed, else front.
tools::StaticContent StaticContentOf(const tools::SurfaceMesh& surface,
                                     std::optional<MeshSides> sides = {});

/// WriteStaticAsset(StaticContentOf(...)); fails the test if that fails.
std::vector<std::byte> StaticBytesOf(const tools::SurfaceMesh& surface,
                                     std::optional<MeshSides> sides = {});

}  // namespace plush::test
