// SPDX-License-Identifier: MIT
// Tet meshes in the formats that the import reads, as their own programs write them.
#pragma once

#include "mesh/tet_mesh.h"

#include <string>
#include <vector>

namespace plush::tests {

/// How numbers stand in a file.
enum class Form { kText, kLittleEndian, kBigEndian };

/// What a format is called in tests, and a file of it.
struct TetFileText {
  std::string name;  ///< e.g. "msh 4.1, big-endian"
  std::string ending;
  std::string bytes;
};

/// Gmsh 2.2. Nodes are numbered downwards by threes; a triangle stands before the tets, of which
/// the t-th has group t % 3 (0: no tag at all).
std::string Msh2(const tools::TetMesh& mesh, Form form);

/// Gmsh 4.1, with a section of entities; numbers, groups and the triangle as above: one volume per
/// group.
std::string Msh4(const tools::TetMesh& mesh, Form form);

/// Legacy VTK 3.0, with a field before the points and a triangle behind the tets. Binary files are
/// big-endian.
std::string Vtk3(const tools::TetMesh& mesh, bool binary);

/// Legacy VTK 5.1, with metadata behind the points; the triangle as above.
std::string Vtk5(const tools::TetMesh& mesh, bool binary);

/// All of them.
std::vector<TetFileText> AllTetFileTexts(const tools::TetMesh& mesh);

}  // namespace plush::tests
