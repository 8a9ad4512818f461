// SPDX-License-Identifier: MIT
// Cuts the surface or its simplified copy by the tets that hold it [Civ, Sec. 5.4].
#include "bake/collision_surface.h"

#include "bake/bake.h"
#include "base/text.h"

#include <utility>
#include <vector>

namespace plush::tools {
namespace {

void AddAll(const FindingList& from, FindingList* to) {
  for (const Finding& finding : from.all()) {
    to->Add(finding.code, finding.count, finding.message, finding.places);
  }
}

void ReportNotReached(const SimplifiedSurface& copy, uint32_t target, FindingList* findings) {
  const size_t reached = copy.surface.triangles.size();
  if (reached <= target) return;
  findings->Add("CDG_TRIANGLES_NOT_REACHED", reached,
                "the collision surface has " + std::to_string(reached) +
                    " triangles before the cut, " + std::to_string(target) +
                    " were asked for. Of the collapses left, " + std::to_string(copy.num_too_far) +
                    " would leave the distance of " + NumberText(copy.limit_m, 3) + " m, " +
                    std::to_string(copy.num_escaping) + " the cage or its strands, and " +
                    std::to_string(copy.num_misshapen) +
                    " would turn over, thin or cross triangles, or change the topology");
}

void ReportNotSimplified(const std::string& why, FindingList* findings) {
  findings->Add("CDG_NOT_SIMPLIFIED", 1, "the collision surface was not simplified: " + why);
}

}  // namespace

CollisionSurface MakeCollisionSurface(const SolidSurface& solid,
                                      std::span<const uint32_t> tet_of_point,
                                      const SurfaceMesh& render, const TetMesh& tets,
                                      const SimplifySettings& settings, StageClock* clock,
                                      FindingList* findings) {
  if (!settings.triangles || *settings.triangles >= solid.triangles.size()) {
    clock->Begin("partition");
    return {PartitionSurface(solid, tets, tet_of_point, findings)};
  }
  clock->Begin("simplify");
  const SimplifiedSurface copy = SimplifySurface(solid, tets, tet_of_point, settings);
  clock->Begin("partition");
  FindingList of_copy;
  Partition partition =
      PartitionSimplified(copy.surface, render, tets, copy.tet_of_point, &of_copy);
  if (!of_copy.all().empty()) {
    // Faults of the solid itself are no reason to refuse the copy; others are.
    FindingList of_solid;
    Partition whole = PartitionSurface(solid, tets, tet_of_point, &of_solid);
    if (of_copy.Has("CDG_OUTSIDE") || !of_solid.Has("CDG_TORN")) {
      ReportNotSimplified(whole.data.tets.empty() ? "the tets do not hold the surface"
                                                  : "the copy could not be cut by the tets",
                          findings);
      AddAll(of_solid, findings);
      return {std::move(whole)};
    }
  }
  AddAll(of_copy, findings);
  ReportNotReached(copy, *settings.triangles, findings);
  return {std::move(partition), copy.surface.triangles.size(), copy.distance_m};
}

CollisionSurface MakeEmbeddedCollision(const SurfaceMesh& surface,
                                       std::span<const uint32_t> tet_ids, const TetMesh& tets,
                                       const SimplifySettings& settings, StageClock* clock,
                                       FindingList* findings) {
  FindingList known;  // the import has reported the defects of the surface
  const SolidSurface solid = MakeSolidSurface(surface, &known);
  std::vector<uint32_t> tet_of_point(solid.points.size(), 0);
  for (size_t v = 0; v < tet_ids.size(); ++v) tet_of_point[solid.point_of_vertex[v]] = tet_ids[v];
  CollisionSurface collision =
      MakeCollisionSurface(solid, tet_of_point, surface, tets, settings, clock, findings);
  if (collision.partition.data.tets.empty()) collision = {PartitionBoundary(surface, tets)};
  return collision;
}

}  // namespace plush::tools
