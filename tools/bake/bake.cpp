// SPDX-License-Identifier: MIT
// The bake driver: a list of phases that pass one BakeRun on, at the end of this file.
// tools/README.md draws them; the method is that of [Civ, Ch. 5].
#include "bake/bake.h"

#include "bake/asset_writer.h"
#include "bake/bake_content.h"
#include "bake/collision_surface.h"
#include "bake/joint_pins.h"
#include "bake/materials.h"
#include "bake/pin_regions.h"
#include "bake/pins.h"
#include "base/float_rounding.h"
#include "base/text.h"
#include "cage/lattice_cage.h"
#include "cage/mass_points.h"
#include "embed/embedding.h"
#include "mesh/box3.h"
#include "mesh/surface_checks.h"
#include "mesh/tet_faces.h"
#include "rest/clusters.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "solid/solid_volume.h"
#include "tetgen/tetgen_mesher.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// EMBED_OUTSIDE is raised if a vertex is farther from the tets; a share of their box's diagonal.
constexpr double kFarOutside = 0.05;

// The body between tetrahedralisation and rest data.
struct Cage {
  TetMesh mesh;                         // nodes as the file stores them
  double solid_volume = 0.0;            // [m^3]
  std::vector<uint32_t> tet_of_vertex;  // per render vertex; empty: to be located
  LatticeCage lattice;                  // without its mesh; empty for other cages
  MassPoints mass;                      // of a lattice cage around a solid; else the tets are full
  SolidSurface solid;                   // of a lattice cage
};

Result<Cage> ImportedCage(const ImportedModel& model) {
  if (model.tets.tets.empty()) {
    return Error{
        ExitCode::kUsage,
        "--mesher import needs a source with tets (.node/.ele, .msh, .vtk), but this one has none; "
        "use --mesher lattice",
        ""};
  }
  Cage cage;
  cage.mesh = model.tets;
  for (Vec3d& node : cage.mesh.nodes) node = RoundToFloat(node);
  cage.solid_volume = CageVolume(cage.mesh);
  return cage;
}

Result<Cage> MakeLatticeCage(const SurfaceMesh& surface, const BakeSettings& settings,
                             StageClock* clock, FindingList* findings) {
  clock->Begin("solid");
  SolidSurface solid = MakeSolidSurface(surface, findings);
  const InsideTest inside(solid);
  clock->Begin("cage");
  Result<LatticeCage> lattice = BuildLatticeCage(solid, inside, settings.cage, findings);
  if (!lattice.ok()) return lattice.error();
  Cage cage;
  cage.lattice = std::move(lattice.value());
  cage.mesh = std::move(cage.lattice.mesh);
  cage.solid_volume = cage.lattice.solid.volume;
  if (settings.thickness_m > 0.0) cage.solid_volume = settings.thickness_m * SheetArea(solid);
  for (const uint32_t point : solid.point_of_vertex) {
    cage.tet_of_vertex.push_back(cage.lattice.tet_of_point[point]);
  }
  if (settings.mass == MassSource::kSolid && !cage.lattice.is_shell) {
    clock->Begin("mass");
    cage.mass =
        SpreadSolid(solid, inside, cage.mesh, cage.lattice.tet_of_point, cage.lattice.solid);
  }
  cage.solid = std::move(solid);
  return cage;
}

Result<Cage> MakeTetGenCage(const SurfaceMesh& surface, const BakeSettings& settings,
                            StageClock* clock, FindingList* findings) {
  clock->Begin("solid");
  const SolidSurface solid = MakeSolidSurface(surface, findings);
  const InsideTest inside(solid);
  clock->Begin("cage");
  Result<TetMesh> mesh = MeshWithTetGen(solid, inside, settings.tetgen, findings);
  if (!mesh.ok()) return mesh.error();
  clock->Begin("volume");
  Cage cage;
  cage.mesh = std::move(mesh.value());
  cage.solid_volume = SolidVolume(solid, inside, cage.mesh, findings);
  return cage;
}

// Beyond this mass, a wrong unit or density is more likely than such a model [kg].
constexpr double kSuspectMass = 2000.0;

void CheckMass(const SurfaceMesh& surface, double mass, FindingList* findings) {
  if (!(mass > kSuspectMass) || findings->Has("UNIT_SUSPECT")) return;
  Box3 box;
  for (const Vec3d& p : surface.positions) box.Add(p);
  const Vec3d extent = box.Extent();
  findings->Add("UNIT_SUSPECT", 1,
                "the body weighs " + NumberText(mass, 4) + " kg at a longest side of " +
                    NumberText(std::max({extent.x, extent.y, extent.z}), 4) + " m",
                {{box.Centre(), -1, -1, ""}});
}

// The volume that has mass [m^3]. Without a thickness, a shell weighs what its tets do.
double MassVolume(const Cage& cage, const BakeSettings& settings) {
  const bool is_full = settings.mass == MassSource::kCage ||
                       (cage.lattice.is_shell && !(settings.thickness_m > 0.0));
  return is_full ? CageVolume(cage.mesh) : cage.solid_volume;
}

struct BakeRun {
  const ImportedModel& model;
  const BakeSettings& settings;
  FindingList* findings;
  StageClock* clock;
  BakeSummary summary;
  std::vector<PinRule> pins;
  Mesher mesher = Mesher::kAuto;
  SurfaceMesh surface;  // the render mesh, with the positions that the file stores
  Cage cage;
  AssetContent content;
};

// Phase: reads pins and material map, so that a mistake in them is found before any work.
Result<Done> ReadSideCars(BakeRun* run) {
  const BakeSettings& settings = run->settings;
  if (!settings.pins_json.empty()) {
    Result<std::vector<PinRule>> parsed = ParsePinRules(settings.pins_json);
    if (!parsed.ok()) return parsed.error().WithContext("pins side-car");
    run->pins = std::move(parsed.value());
  }
  Result<std::vector<PinRule>> joints = WithJointRules(run->pins, run->model.surface);
  if (!joints.ok()) return joints.error().WithContext("pins side-car");
  run->pins = WithAttributeRules(std::move(joints.value()), run->model.surface);
  std::vector<NamedMaterial> map;
  if (!settings.materials_json.empty()) {
    auto parsed = ParseMaterialMap(settings.materials_json, settings.material);
    if (!parsed.ok()) return parsed.error().WithContext("material map");
    map = std::move(parsed.value());
  }
  std::vector<NamedMaterial>& materials = run->content.materials;
  materials = MaterialsOf(run->model.surface, map, settings.material, run->findings);
  if (materials.size() <= kMaxMaterials) return Done{};
  return Error{ExitCode::kLimit,
               "the source has " + std::to_string(materials.size()) +
                   " materials, more than the limit of " + std::to_string(kMaxMaterials),
               ""};
}

// Phase "check": rounds positions as the file stores them and looks for defects of the mesh.
Result<Done> CheckMesh(BakeRun* run) {
  run->clock->Begin("check");
  run->surface = run->model.surface;
  for (Vec3d& position : run->surface.positions) position = RoundToFloat(position);
  CheckSurface(run->surface, {.self_intersections = false}, run->findings);
  return Done{};
}

// Whether the tets end at the surface: their boundary is the collision surface.
bool EndsAtSurface(const BakeRun& run) {
  return run.mesher == Mesher::kTetGen ||
         (run.mesher == Mesher::kImport && run.model.embed_hash == 0);
}

// Phases "solid", "cage" and "volume": the tets.
Result<Done> MakeTets(BakeRun* run) {
  run->mesher = run->settings.mesher;
  if (run->mesher == Mesher::kAuto) {
    run->mesher = run->model.tets.tets.empty() ? Mesher::kLattice : Mesher::kImport;
  }
  if (run->settings.simplify.triangles && EndsAtSurface(*run)) {
    return Error{
        ExitCode::kUsage,
        "--collision-triangles is for cages around a surface: the boundary of tets that end "
        "at the surface cannot be simplified; leave it out, or use --mesher lattice",
        ""};
  }
  Result<Cage> cage = run->mesher == Mesher::kImport ? ImportedCage(run->model)
                      : run->mesher == Mesher::kTetGen
                          ? MakeTetGenCage(run->surface, run->settings, run->clock, run->findings)
                          : MakeLatticeCage(run->surface, run->settings, run->clock, run->findings);
  if (!cage.ok()) {
    const Error& error = cage.error();
    if (!error.finding_code.empty() && !run->findings->Has(error.finding_code)) {
      run->findings->Add(error.finding_code, 1, error.message);
    }
    return error;
  }
  run->cage = std::move(cage.value());
  if (run->settings.thickness_m > 0.0 && !run->cage.lattice.is_shell) {
    return Error{ExitCode::kUsage,
                 "--thickness is for sheets, but this body has a volume of " +
                     RoundedText(CageVolume(run->cage.mesh)) + " m^3 of its own; leave it out",
                 ""};
  }
  const LatticeCage& lattice = run->cage.lattice;
  BakeSummary& summary = run->summary;
  summary.nodes = run->cage.mesh.nodes.size();
  summary.tets = run->cage.mesh.tets.size();
  summary.cell_m = lattice.cell_m;
  summary.split_tets = lattice.num_split_tets;
  summary.split_nodes = lattice.num_split_nodes;
  summary.shared_tets = lattice.num_shared;
  summary.branches = lattice.num_branches;
  summary.attempts = lattice.attempts;
  summary.cage_volume_m3 = CageVolume(run->cage.mesh);
  summary.solid_volume_m3 = run->cage.solid_volume;
  return Done{};
}

// Tets that are coarser than the render mesh leave some vertices slightly outside: no warning.
void ReportOutside(const SurfaceMesh& surface, const Embedding& embedding, const TetMesh& cage,
                   FindingList* findings) {
  Box3 box;
  for (const Vec3d& node : cage.nodes) box.Add(node);
  if (embedding.max_outside_m <= kFarOutside * Length(box.Extent())) return;
  findings->Add("EMBED_OUTSIDE", embedding.num_outside,
                std::to_string(embedding.num_outside) +
                    " render vertices lie outside the tets, the farthest by " +
                    std::to_string(embedding.max_outside_m) + " m (element: the vertex)",
                {{surface.positions[embedding.farthest], -1, embedding.farthest, ""}});
}

// Phase "embed": finds the tet and the weights of each render vertex.
Result<Done> EmbedVertices(BakeRun* run) {
  run->clock->Begin("embed");
  Embedding embedding =
      EmbedPoints(run->surface.positions, run->cage.mesh, run->cage.tet_of_vertex);
  run->summary.embedding_error_m = embedding.max_error_m;
  run->summary.vertices_outside = embedding.num_outside;
  ReportOutside(run->surface, embedding, run->cage.mesh, run->findings);
  FillVisual(run->surface, std::move(embedding), &run->content);
  return Done{};
}

// Phase "pins": finds the cage nodes of each pin region.
Result<Done> PlacePins(BakeRun* run) {
  run->clock->Begin("pins");
  run->content.regions = MakePinRegions(run->pins, run->surface, run->cage.mesh, run->cage.mass,
                                        run->content, run->findings);
  run->summary.regions = run->content.regions.size();
  return Done{};
}

// Phase "rest": gives each tet its material, then computes masses, order and factor.
Result<Done> ComputeRest(BakeRun* run) {
  run->clock->Begin("rest");
  AssetContent& content = run->content;
  const Cage& cage = run->cage;
  content.tet_materials =
      ChooseTetMaterials(run->surface, content.materials, content.tet_ids, cage.mesh);
  content.damping = run->settings.material.damping;
  TetMaterials materials = {{}, content.tet_materials, content.damping};
  for (const NamedMaterial& named : content.materials) {
    materials.materials.push_back(named.material);
  }
  std::vector<std::array<double, 4>> corner_volumes;
  if (!cage.mass.tets.empty()) {
    corner_volumes = CornerVolumes(cage.mass, cage.mesh.tets.size());
  }
  Result<RestData> rest =
      ComputeMixedRestData(cage.mesh, materials, MassVolume(cage, run->settings), run->settings.dt,
                           corner_volumes, LastNodes(content.regions), run->settings.clusters);
  if (!rest.ok()) return rest.error();
  content.rest = std::move(rest.value());
  RenumberRegions(content.rest.node_order, &content.regions);
  run->summary.materials = content.materials.size();
  run->summary.mass_kg = content.rest.mass;
  CheckMass(run->surface, content.rest.mass, run->findings);
  run->summary.light_nodes = content.rest.num_light;
  run->summary.components = content.rest.components;
  run->summary.factor_nonzeros = content.rest.factor_nonzeros;
  run->summary.clusters = content.rest.clusters.count;
  run->summary.straddling_tets =
      StraddlingShare(NodesOfTets(content.rest.tets), content.rest.clusters.of_nodes);
  return Done{};
}

// The collision surface: the boundary of tets that end at the surface, else a surface in the tets.
CollisionSurface CollisionOf(BakeRun* run, const TetMesh& tets) {
  if (EndsAtSurface(*run)) {
    run->clock->Begin("partition");
    return {PartitionBoundary(run->surface, tets)};
  }
  const SimplifySettings& settings = run->settings.simplify;
  if (run->mesher == Mesher::kImport) {
    return MakeEmbeddedCollision(run->surface, run->content.tet_ids, tets, settings, run->clock,
                                 run->findings);
  }
  return MakeCollisionSurface(run->cage.solid, run->cage.lattice.tet_of_point, run->surface, tets,
                              settings, run->clock, run->findings);
}

// Phases "simplify", if it is asked for, and "partition": cuts the collision surface by the tets.
Result<Done> CutCollisionSurface(BakeRun* run) {
  CollisionSurface collision = CollisionOf(run, MeshOf(run->content.rest));
  Partition& partition = collision.partition;
  const CollisionData& data = partition.data;
  run->summary.simplified_triangles = collision.simplified_triangles;
  run->summary.simplified_distance_m = collision.simplified_distance_m;
  run->summary.collision_tets = data.tets.size();
  run->summary.collision_patches = data.patches.size();
  run->summary.collision_triangles = data.triangles.size() + data.wide_triangles.size();
  run->summary.collision_vertices = data.vertices.size();
  run->summary.crossings = partition.num_crossings;
  run->summary.merged_edges = partition.num_merged;
  run->summary.seams = partition.num_seams;
  run->content.collision = std::move(partition.data);
  return Done{};
}

// Phase "encode": lays out the file and opens it with all checks of the runtime.
Result<std::vector<std::byte>> Encode(BakeRun* run) {
  run->clock->Begin("encode");
  run->content.solid_volume = run->cage.solid_volume;
  run->content.tuning = run->settings.tuning;
  run->content.settings_json = SettingsJson(run->model, run->settings, run->mesher);
  run->content.source_hash = run->model.source_hash;
  Result<std::vector<std::byte>> bytes = WriteAsset(run->content);
  run->clock->End();
  return bytes;
}

}  // namespace

Result<BakeResult> Bake(const ImportedModel& model, const BakeSettings& given,
                        FindingList* findings, StageClock* clock) {
  StageClock own_clock;
  if (clock == nullptr) clock = &own_clock;
  BakeSettings settings = given;
  if (settings.tuning) {
    settings.dt = settings.tuning->dt;
    settings.material.damping = settings.tuning->damping;
  }
  std::optional<tbb::global_control> threads;
  if (settings.threads > 0) {
    threads.emplace(tbb::global_control::max_allowed_parallelism,
                    static_cast<size_t>(settings.threads));
  }
  BakeRun run{model, settings, findings, clock, {}, {}, {}, {}, {}, {}};
  for (const auto phase : {ReadSideCars, CheckMesh, MakeTets, EmbedVertices, PlacePins, ComputeRest,
                           CutCollisionSurface}) {
    if (Result<Done> done = phase(&run); !done.ok()) return done.error();
  }
  Result<std::vector<std::byte>> bytes = Encode(&run);
  if (!bytes.ok()) return bytes.error();
  return BakeResult{std::move(bytes.value()), run.summary};
}

ImportedModel ModelFromTets(const TetMesh& mesh) {
  ImportedModel model;
  model.surface = BoundarySurface(mesh);
  model.tets = mesh;
  model.format = "tets";
  return model;
}

}  // namespace plush::tools
