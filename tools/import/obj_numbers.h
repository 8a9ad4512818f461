// SPDX-License-Identifier: MIT
// Numbers of OBJ files in the form that Assimp reads.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace plush::tools {

/// The text of an OBJ file for Assimp, which drops vertices otherwise. A zero is added before each
/// decimal point that begins a number of lines v, vt and vn, as in ".5". Of lines v, comments go,
/// and numbers behind a position (three), with a fourth coordinate or with a colour (six): an alpha
/// value, for example. Empty if nothing changes.
std::vector<std::byte> ObjForAssimp(std::string_view obj);

}  // namespace plush::tools
