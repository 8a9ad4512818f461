// SPDX-License-Identifier: MIT
// Writes cages as text for mesh tools: Wavefront .obj, TetGen, Gmsh, ParaView, USD.
#pragma once

#include "plush/asset.h"

#include "base/result.h"

#include <string>
#include <vector>

namespace plush::tools {

/// A cage, and what some formats store beside it.
struct CageTable {
  const Asset* asset = nullptr;             ///< open; outlives the table
  std::vector<float> quality;               ///< 6 sqrt(2) V / l_rms^3 (num_tets x 1)
  std::vector<float> min_dihedral_deg;      ///< (num_tets x 1)
  std::vector<std::string> material_names;  ///< printable, "unnamed" if empty, at most 100 bytes
                                            ///< (num_materials x 1)
};

CageTable MeasureCage(const Asset& asset);

/// The surface of the cage as .obj: faces of one tet only, counter-clockwise from outside, and
/// their nodes in the asset's order.
std::string CageObjTextOf(const CageTable& cage);

/// Text of NAME.node and of NAME.ele.
struct TetGenText {
  std::string node;
  std::string ele;
};

/// TetGen's files, which `plush bake` and `tetgen -r` read back. Nodes are numbered from 0 in the
/// asset's order. A tet's attribute is the index of its material; comments name the materials.
/// Format: Hang Si. TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator. 2015, and
/// wias-berlin.de/software/tetgen (fformats).
TetGenText TetGenTextOf(const CageTable& cage);

/// A Gmsh mesh (.msh), version 2.2 in ASCII, which most programs read.
/// - Nodes and tets are numbered from 1 in the asset's order.
/// - Each material is a physical volume with its name; tags start at 1.
/// - Element data: "quality" and "min_dihedral_deg".
///
/// Format: Christophe Geuzaine, Jean-Francois Remacle. Gmsh Reference Manual, MSH file format,
/// version 2 (Legacy).
std::string GmshTextOf(const CageTable& cage);

/// A VTK unstructured grid in XML (.vtu) for ParaView, numbers in ASCII.
/// - Points and tets are in the asset's order.
/// - Cell data: quality, min_dihedral_deg, material (index), volume [m^3].
/// - Point data: mass [kg]; for each pin region "region_NAME", 1 at its nodes and 0 elsewhere.
///
/// Errors: kLimit (regions times nodes above 1e8).
/// Format: Kitware. VTK File Formats, XML file formats.
Result<std::string> VtuTextOf(const CageTable& cage);

/// How a .usda spells physics.
enum class UsdSpelling {
  kDraft,  ///< AOUSD's draft, which Newton reads; its commit is in the file
  kOmni,   ///< NVIDIA's Omni Physics Deformable Schema, for Isaac Sim
};

/// A USD scene in text (.usda): metres, kilograms, y up.
/// - </Body>, an Xform: the deformable body.
/// - </Body/Simulation>, a TetMesh: the cage in the asset's order, its boundary, masses of the
/// nodes
///   [kg] (kDraft). Bound to the body's material, or if it has several to </Body/Materials/mean>,
///   their mean by volume; a GeomSubset per material then names its tets.
/// - </Body/Visual>, a Mesh: the render vertices with normals and texture coordinates.
/// - </Body/Materials>: Young's modulus [Pa], Poisson's ratio, density [kg/m^3], friction and
///   restitution where the asset gives them.
///
/// What USD has no place for is left out: damping, patches, pins, joints, the factor, weights of
/// the render vertices.
std::string UsdTextOf(const CageTable& cage, UsdSpelling spelling);

}  // namespace plush::tools
