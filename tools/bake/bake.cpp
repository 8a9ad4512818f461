// SPDX-License-Identifier: MIT
#include "bake/bake.h"

#include "bake/asset_writer.h"
#include "bake/bake_content.h"
#include "cage/inside.h"
#include "cage/lattice_cage.h"
#include "cage/solid_surface.h"
#include "cage/solid_volume.h"
#include "embed/embedding.h"
#include "mesh/tet_boundary.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace plush::tools {
namespace {

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
  TetMesh mesh;               // nodes as the file stores them
  double solid_volume = 0.0;  // [m^3]
  bool is_shell = false;      // encloses next to nothing: mass comes from the cage
};

Result<Cage> ImportedCage(const ImportedModel& model) {
  if (model.tets.tets.empty()) {
    return Error{ExitCode::kUsage,
                 "--mesher import needs a source with tets (.node/.ele), but this one has none; "
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
  const SolidSurface solid = MakeSolidSurface(surface, findings);
  const InsideTest inside(solid);
  clock->End("solid");
  Result<LatticeCage> lattice = BuildLatticeCage(
      solid, inside, {.target_tets = settings.target_tets, .cell_m = settings.cell_m}, findings);
  if (!lattice.ok()) return lattice.error();
  clock->End("cage");
  Cage cage;
  cage.mesh = std::move(lattice.value().mesh);
  cage.solid_volume = SolidVolume(solid, inside, cage.mesh, findings);
  cage.is_shell = cage.solid_volume < kShellShare * CageVolume(cage.mesh);
  clock->End("volume");
  return cage;
}

double TotalMass(const Cage& cage, const BakeSettings& settings) {
  const bool solid = settings.mass == MassSource::kSolid && !cage.is_shell;
  return settings.material.density * (solid ? cage.solid_volume : CageVolume(cage.mesh));
}

Mesher ChooseMesher(const ImportedModel& model, Mesher asked) {
  if (asked != Mesher::kAuto) return asked;
  return model.tets.tets.empty() ? Mesher::kLattice : Mesher::kImport;
}

}  // namespace

Result<BakeResult> Bake(const ImportedModel& model, const BakeSettings& settings,
                        FindingList* findings) {
  std::optional<tbb::global_control> threads;
  if (settings.threads > 0) {
    threads.emplace(tbb::global_control::max_allowed_parallelism,
                    static_cast<size_t>(settings.threads));
  }
  StageClock clock;
  SurfaceMesh surface = model.surface;
  for (Vec3d& position : surface.positions) position = RoundToFloat(position);

  const Mesher mesher = ChooseMesher(model, settings.mesher);
  Result<Cage> made = mesher == Mesher::kImport
                          ? ImportedCage(model)
                          : MakeLatticeCage(surface, settings, &clock, findings);
  if (!made.ok()) return made.error();
  const Cage& cage = made.value();

  AssetContent content;
  FillVisual(surface, EmbedPoints(surface.positions, cage.mesh), &content);
  clock.End("embed");

  Result<RestData> rest =
      ComputeRestData(cage.mesh, settings.material, TotalMass(cage, settings), settings.dt);
  if (!rest.ok()) return rest.error();
  content.rest = std::move(rest.value());
  clock.End("rest");

  content.material = settings.material;
  content.solid_volume = cage.solid_volume;
  content.settings_json = SettingsJson(model, settings, mesher);
  content.source_hash = model.source_hash;
  Result<std::vector<std::byte>> bytes = WriteAsset(content);
  if (!bytes.ok()) return bytes.error();
  clock.End("write");
  return BakeResult{std::move(bytes.value()), clock.Take()};
}

ImportedModel ModelFromTets(const TetMesh& mesh) {
  ImportedModel model;
  model.surface = BoundarySurface(mesh);
  model.tets = mesh;
  model.format = "tets";
  return model;
}

}  // namespace plush::tools
