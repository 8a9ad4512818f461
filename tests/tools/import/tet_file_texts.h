// SPDX-License-Identifier: MIT
// Tet meshes in every format that the import reads, as the formats' own programs write them.
#pragma once

#include "mesh/tet_mesh.h"

#include <string>
#include <vector>

namespace plush::tests {

/// How numbers are stored in a file.
enum class Form { kText, kLittleEndian, kBigEndian };

/// A file, and the name of its format in tests.
struct TetFileText {
  std::string name;  ///< e.g. "msh 4.1, big-endian"
  std::string ending;
  std::string bytes;
};

/// Gmsh 2.2. Node numbers descend by threes. A triangle precedes the tets; tet t has group t % 3
/// (0: no tag).
std::string Msh2(const tools::TetMesh& mesh, Form form);

/// Gmsh 4.1, with a section of entities, one volume per group. Numbers, groups and triangle as in
/// Msh2.
std::string Msh4(const tools::TetMesh& mesh, Form form);

/// Legacy VTK 3.0, with a field before the points and a triangle after the tets. Binary files are
/// big-endian.
std::string Vtk3(const tools::TetMesh& mesh, bool binary);

/// Legacy VTK 5.1, with metadata after the points. Triangle as in Vtk3.
std::string Vtk5(const tools::TetMesh& mesh, bool binary);

/// A file in each format and form.
std::vector<TetFileText> AllTetFileTexts(const tools::TetMesh& mesh);

}  // namespace plush::tests
