// SPDX-License-Identifier: MIT
// From an imported model to the bytes of a .plush file.
#pragma once

#include "bake/tuning.h"
#include "base/finding.h"
#include "base/result.h"
#include "base/stage_clock.h"
#include "base/text.h"
#include "cage/lattice_cage.h"
#include "import/import.h"
#include "rest/rest_data.h"
#include "simplify/simplify.h"
#include "tetgen/tetgen_process.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

enum class Mesher {
  kAuto,     ///< kImport for tet sources, else kLattice
  kLattice,  ///< bounding lattice cage
  kImport,   ///< the source's own tets
  kTetGen,   ///< conforming tets by the program `tetgen`
};

enum class MassSource {
  kSolid,  ///< density x volume of the solid
  kCage,   ///< density x volume of the cage
};

/// The words of the options.
inline constexpr NamedValue<Mesher> kMeshers[] = {{"auto", Mesher::kAuto},
                                                  {"lattice", Mesher::kLattice},
                                                  {"import", Mesher::kImport},
                                                  {"tetgen", Mesher::kTetGen}};
inline constexpr NamedValue<MassSource> kMassSources[] = {{"solid", MassSource::kSolid},
                                                          {"cage", MassSource::kCage}};
inline constexpr NamedValue<LatticeKind> kLattices[] = {{"bcc", LatticeKind::kBcc},
                                                        {"cube5", LatticeKind::kCube5}};
inline constexpr NamedValue<FitMethod> kFitMethods[] = {
    {"snug", FitMethod::kSnug}, {"odt", FitMethod::kOdt}, {"none", FitMethod::kNone}};
inline constexpr NamedValue<UpAxis> kUpAxes[] = {
    {"auto", UpAxis::kAuto}, {"y", UpAxis::kY}, {"z", UpAxis::kZ}};

/// The settings of `plush bake`.
struct BakeSettings {
  CageSettings cage;      ///< used by kLattice
  TetGenSettings tetgen;  ///< used by kTetGen
  Material material;      ///< of materials that the map lacks; damping is the whole body's
  double dt = 0.01;       ///< baked time step [s]
  MassSource mass = MassSource::kSolid;
  double thickness_m = 0.0;  ///< of a sheet, for its mass [m]; 0: it weighs what its cage would
  Mesher mesher = Mesher::kAuto;
  ImportSettings import;             ///< the file records scale, up and unit_m
  SimplifySettings simplify;         ///< of the collision surface; not with tets that end there
  std::optional<uint32_t> clusters;  ///< for MakeClusters; 0: none, nullopt: by size
  std::string pins_json;             ///< text of the pins side-car, or empty
  std::string materials_json;        ///< text of the material map, or empty
  std::optional<Tuning> tuning;      ///< its time step and damping take the place of those above
  int threads = 0;                   ///< 0: all cores; the bytes do not depend on it
};

/// The body in numbers.
struct BakeSummary {
  size_t nodes = 0;
  size_t tets = 0;
  uint32_t components = 0;            ///< of the cage
  uint32_t split_tets = 0;            ///< tets beyond the first copy of a lattice tet
  uint32_t split_nodes = 0;           ///< nodes beyond the first copy of a lattice node
  uint32_t shared_tets = 0;           ///< tets that hold several separate pieces of the solid
  uint32_t branches = 0;              ///< faces of the cage where several strands begin
  std::vector<CageAttempt> attempts;  ///< lattices tried for the cage, in order
  double cell_m = 0.0;  ///< edge of the lattice's cubes [m]; 0 with the source's own tets
  double cage_volume_m3 = 0.0;
  double solid_volume_m3 = 0.0;
  double mass_kg = 0.0;
  uint32_t light_nodes = 0;        ///< raised to the least mass of a node (kLeastMass)
  double embedding_error_m = 0.0;  ///< largest distance of a vertex from its embedded place [m]
  uint64_t vertices_outside = 0;   ///< render vertices outside the cage
  uint64_t factor_nonzeros = 0;
  uint32_t clusters = 0;         ///< of the nodes, for the coarse level of a step
  double straddling_tets = 0.0;  ///< share of the tets that have nodes of two clusters or more
  size_t materials = 0;
  size_t regions = 0;
  size_t simplified_triangles = 0;  ///< of the collision surface before the cut; 0: not simplified
  double simplified_distance_m = 0.0;  ///< between it and the render surface [m]
  size_t collision_tets = 0;           ///< tets that hold a part of the collision surface
  size_t collision_patches = 0;
  size_t collision_triangles = 0;
  size_t collision_vertices = 0;
  size_t crossings = 0;     ///< points added by cutting the surface along the tets
  size_t merged_edges = 0;  ///< short edges of the cut, removed
  size_t seams = 0;         ///< pieces of surface in one tet that were cut into discs
};

struct BakeResult {
  std::vector<std::byte> bytes;  ///< the .plush file
  BakeSummary summary;
};

/// Bakes `model`. Adds MESH_..., CAGE_..., CDG_..., EMBED_..., MATERIAL_... and PIN_... findings.
/// Same model and settings, same bytes. Errors: kInvalidInput (no triangle of positive area),
/// kUsage (a setting or a side-car is wrong), kLimit, kHelperDied (TetGen). Times its stages if
/// there is a clock.
Result<BakeResult> Bake(const ImportedModel& model, const BakeSettings& settings,
                        FindingList* findings, StageClock* clock = nullptr);

/// A model of tets and their boundary, for procedural bodies.
ImportedModel ModelFromTets(const TetMesh& mesh);

}  // namespace plush::tools
