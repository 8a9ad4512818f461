// SPDX-License-Identifier: MIT
#include "bake/bake.h"

#include "bake/asset_writer.h"
#include "bake/bake_content.h"
#include "bake/collision_content.h"
#include "bake/material_map.h"
#include "bake/pin_regions.h"
#include "bake/pin_rules.h"
#include "bake/tet_materials.h"
#include "base/float_rounding.h"
#include "cage/lattice_cage.h"
#include "embed/embedding.h"
#include "mesh/box3.h"
#include "mesh/surface_checks.h"
#include "mesh/tet_boundary.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "solid/solid_volume.h"
#include "tetgen/tetgen_mesher.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace plush::tools {
namespace {

// Distance of a render vertex from the tets that is worth a warning, as a share of their diagonal.
constexpr double kFarOutside = 0.05;

// Times consecutive stages.
class StageClock {
 public:
  // Ends the stage that ran since the last call (or construction).
  void End(const std::string& name) {
    const auto now = std::chrono::steady_clock::now();
    stages_.push_back({name, std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }
  std::vector<Stage> Take() { return std::move(stages_); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Stage> stages_;
};

// The body between tetrahedralisation and rest data.
struct Cage {
  TetMesh mesh;                         // nodes as the file stores them
  double cell_m = 0.0;                  // of a lattice cage [m]
  double solid_volume = 0.0;            // [m^3]
  bool is_shell = false;                // encloses next to nothing: mass comes from the cage
  std::vector<uint32_t> tet_of_vertex;  // per render vertex, or empty: by location
  std::vector<double> weights;          // share of each tet in the mass, or empty: its volume
  LatticeCage lattice;                  // counts, and the tets of the solid's points
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

// Tets of the surface's points, for the render vertices that are those points.
std::vector<uint32_t> TetsOfVertices(const SurfaceMesh& surface, const SolidSurface& solid,
                                     const std::vector<uint32_t>& tet_of_point) {
  std::vector<uint32_t> tets(surface.positions.size());
  for (size_t v = 0; v < tets.size(); ++v) tets[v] = tet_of_point[solid.point_of_vertex[v]];
  return tets;
}

Result<Cage> MakeLatticeCage(const SurfaceMesh& surface, const BakeSettings& settings,
                             StageClock* clock, FindingList* findings) {
  SolidSurface solid = MakeSolidSurface(surface, findings);
  const InsideTest inside(solid);
  clock->End("solid");
  Result<LatticeCage> lattice = BuildLatticeCage(solid, inside, settings.cage, findings);
  if (!lattice.ok()) return lattice.error();
  Cage cage;
  cage.lattice = std::move(lattice.value());
  cage.mesh = std::move(cage.lattice.mesh);
  cage.cell_m = cage.lattice.cell_m;
  cage.solid_volume = cage.lattice.solid_volume_m3;
  cage.is_shell = cage.lattice.is_shell;
  cage.tet_of_vertex = TetsOfVertices(surface, solid, cage.lattice.tet_of_point);
  cage.weights = std::move(cage.lattice.weights);
  cage.solid = std::move(solid);
  clock->End("cage");
  return cage;
}

Result<Cage> MakeTetGenCage(const SurfaceMesh& surface, const BakeSettings& settings,
                            StageClock* clock, FindingList* findings) {
  const SolidSurface solid = MakeSolidSurface(surface, findings);
  const InsideTest inside(solid);
  clock->End("solid");
  Result<TetMesh> mesh = MeshWithTetGen(solid, inside, settings.tetgen, findings);
  if (!mesh.ok()) return mesh.error();
  clock->End("cage");
  Cage cage;
  cage.mesh = std::move(mesh.value());
  cage.solid_volume = SolidVolume(solid, inside, cage.mesh, findings);
  clock->End("volume");
  return cage;
}

Result<Cage> MakeCage(const ImportedModel& model, const SurfaceMesh& surface, Mesher mesher,
                      const BakeSettings& settings, StageClock* clock, FindingList* findings) {
  switch (mesher) {
    case Mesher::kImport:
      return ImportedCage(model);
    case Mesher::kTetGen:
      return MakeTetGenCage(surface, settings, clock, findings);
    case Mesher::kAuto:
    case Mesher::kLattice:
      break;
  }
  return MakeLatticeCage(surface, settings, clock, findings);
}

BakeSummary SummaryOf(const Cage& cage) {
  BakeSummary summary;
  summary.nodes = cage.mesh.nodes.size();
  summary.tets = cage.mesh.tets.size();
  summary.cell_m = cage.cell_m;
  summary.split_tets = cage.lattice.num_split_tets;
  summary.split_nodes = cage.lattice.num_split_nodes;
  summary.shared_tets = cage.lattice.num_shared;
  summary.branches = cage.lattice.num_branches;
  summary.cage_volume_m3 = CageVolume(cage.mesh);
  summary.solid_volume_m3 = cage.solid_volume;
  return summary;
}

// The volume that has mass [m^3]. Of a cage it counts what copies of a lattice tet share once.
double MassVolume(const Cage& cage, const BakeSettings& settings) {
  const bool solid = settings.mass == MassSource::kSolid && !cage.is_shell;
  if (solid) return cage.solid_volume;
  if (cage.weights.empty()) return CageVolume(cage.mesh);
  return std::accumulate(cage.weights.begin(), cage.weights.end(), 0.0);
}

Mesher ChooseMesher(const ImportedModel& model, Mesher asked) {
  if (asked != Mesher::kAuto) return asked;
  return model.tets.tets.empty() ? Mesher::kLattice : Mesher::kImport;
}

// A broken side-car is told before any work.
Result<std::vector<PinRule>> PinRulesOf(const SurfaceMesh& surface, const BakeSettings& settings) {
  std::vector<PinRule> rules;
  if (!settings.pins_json.empty()) {
    Result<std::vector<PinRule>> parsed = ParsePinRules(settings.pins_json);
    if (!parsed.ok()) return parsed.error().WithContext("pins side-car");
    rules = std::move(parsed.value());
  }
  return WithAttributeRules(std::move(rules), surface);
}

// A broken map is told before any work, too.
Result<std::vector<NamedMaterial>> BodyMaterials(const SurfaceMesh& surface,
                                                 const BakeSettings& settings,
                                                 FindingList* findings) {
  std::vector<NamedMaterial> map;
  if (!settings.materials_json.empty()) {
    auto parsed = ParseMaterialMap(settings.materials_json, settings.material);
    if (!parsed.ok()) return parsed.error().WithContext("material map");
    map = std::move(parsed.value());
  }
  std::vector<NamedMaterial> materials = MaterialsOf(surface, map, settings.material, findings);
  if (materials.size() > kMaxMaterials) {
    return Error{ExitCode::kLimit,
                 "the source has " + std::to_string(materials.size()) +
                     " materials, more than the limit of " + std::to_string(kMaxMaterials),
                 ""};
  }
  return materials;
}

TetMaterials RestMaterials(const AssetContent& content) {
  TetMaterials materials = {{}, content.tet_materials, content.damping};
  for (const NamedMaterial& named : content.materials) {
    materials.materials.push_back(named.material);
  }
  return materials;
}

// Vertices a little outside are usual where tets are coarser than the render mesh.
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

// The collision surface; completes the summary.
Partition MakeCollision(const SurfaceMesh& surface, const Cage& cage, bool has_render_mesh,
                        const AssetContent& content, BakeSummary* summary, FindingList* findings) {
  Partition partition =
      !cage.solid.triangles.empty()
          ? CutSolid(cage.solid, cage.lattice.tet_of_point, content.rest, findings)
      : has_render_mesh ? CutEmbedded(surface, content.tet_ids, content.rest, findings)
                        : TakeBoundary(surface, content.rest);
  summary->collision_tets = partition.data.tets.size();
  summary->collision_patches = partition.data.patches.size();
  summary->collision_triangles =
      partition.data.triangles.size() + partition.data.wide_triangles.size();
  summary->collision_vertices = partition.data.vertices.size();
  summary->crossings = partition.num_crossings;
  summary->merged_edges = partition.num_merged;
  summary->seams = partition.num_seams;
  return partition;
}

// Embedding, pins, materials, rest data and collision surface; completes the summary.
Result<AssetContent> MakeContent(const SurfaceMesh& surface, const Cage& cage, bool has_render_mesh,
                                 std::vector<NamedMaterial> materials,
                                 const std::vector<PinRule>& pins, const BakeSettings& settings,
                                 StageClock* clock, BakeSummary* summary, FindingList* findings) {
  AssetContent content;
  Embedding embedding = EmbedPoints(surface.positions, cage.mesh, cage.tet_of_vertex);
  summary->embedding_error_m = embedding.max_error_m;
  summary->vertices_outside = embedding.num_outside;
  ReportOutside(surface, embedding, cage.mesh, findings);
  FillVisual(surface, std::move(embedding), &content);
  clock->End("embed");

  content.regions = MakePinRegions(pins, surface, cage.mesh, content, findings);
  summary->regions = content.regions.size();
  clock->End("pins");

  content.materials = std::move(materials);
  content.tet_materials =
      ChooseTetMaterials(surface, content.materials, content.tet_ids, cage.mesh);
  content.damping = settings.material.damping;
  summary->materials = content.materials.size();
  Result<RestData> rest =
      ComputeMixedRestData(cage.mesh, RestMaterials(content), MassVolume(cage, settings),
                           settings.dt, cage.weights, NodesOfRegions(content.regions));
  if (!rest.ok()) return rest.error();
  content.rest = std::move(rest.value());
  RenumberRegions(content.rest.node_order, &content.regions);
  summary->mass_kg = content.rest.mass;
  summary->components = content.rest.components;
  summary->factor_nonzeros = content.rest.factor_nonzeros;
  clock->End("rest");

  content.collision =
      MakeCollision(surface, cage, has_render_mesh, content, summary, findings).data;
  clock->End("partition");

  content.solid_volume = cage.solid_volume;
  return content;
}

}  // namespace

Result<BakeResult> Bake(const ImportedModel& model, const BakeSettings& settings,
                        FindingList* findings) {
  std::optional<tbb::global_control> threads;
  if (settings.threads > 0) {
    threads.emplace(tbb::global_control::max_allowed_parallelism,
                    static_cast<size_t>(settings.threads));
  }
  Result<std::vector<PinRule>> pins = PinRulesOf(model.surface, settings);
  if (!pins.ok()) return pins.error();
  Result<std::vector<NamedMaterial>> materials = BodyMaterials(model.surface, settings, findings);
  if (!materials.ok()) return materials.error();
  StageClock clock;
  SurfaceMesh surface = model.surface;
  for (Vec3d& position : surface.positions) position = RoundToFloat(position);
  CheckSurface(surface, {.self_intersections = false}, findings);
  clock.End("check");

  const Mesher mesher = ChooseMesher(model, settings.mesher);
  Result<Cage> made = MakeCage(model, surface, mesher, settings, &clock, findings);
  if (!made.ok()) return made.error();
  const Cage& cage = made.value();

  BakeResult result;
  result.summary = SummaryOf(cage);
  Result<AssetContent> content =
      MakeContent(surface, cage, model.embed_hash != 0, std::move(materials.value()), pins.value(),
                  settings, &clock, &result.summary, findings);
  if (!content.ok()) return content.error();
  content.value().settings_json = SettingsJson(model, settings, mesher);
  content.value().source_hash = model.source_hash;
  Result<std::vector<std::byte>> bytes = WriteAsset(content.value());
  if (!bytes.ok()) return bytes.error();
  clock.End("encode");
  result.bytes = std::move(bytes.value());
  result.stages = clock.Take();
  return result;
}

ImportedModel ModelFromTets(const TetMesh& mesh) {
  ImportedModel model;
  model.surface = BoundarySurface(mesh);
  model.tets = mesh;
  model.format = "tets";
  return model;
}

}  // namespace plush::tools
