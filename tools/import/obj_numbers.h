// SPDX-License-Identifier: MIT
// Numbers of OBJ files in the form that Assimp reads.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace plush::tools {

/// The text of an OBJ file with a zero before each decimal point that begins a number of a vertex
/// (lines v, vt and vn), for Assimp, which takes ".5" for no number and drops its vertex. Empty if
/// there is none.
std::vector<std::byte> WithLeadingZeros(std::string_view obj);

}  // namespace plush::tools
