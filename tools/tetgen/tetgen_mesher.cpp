// SPDX-License-Identifier: MIT
// Fills a surface by TetGen: checks that it is closed and does not meet itself, then runs TetGen.
// Then removes the tets of cavities and compares points and volume with the surface.
#include "tetgen/tetgen_mesher.h"

#include "base/float_rounding.h"
#include "mesh/self_intersection.h"
#include "mesh/tet_mesh.h"
#include "mesh/topology.h"
#include "solid/solid_volume.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// Largest relative error of the volume. Nodes on the surface are rounded to single precision, which
// changes the volume.
constexpr double kVolumeTolerance = 1e-4;

// Whether any edge is not passed as often forwards as backwards; if so, adds the finding.
bool RefuseOpenEdges(const SolidSurface& surface, FindingList* findings) {
  const SurfaceTopology topology =
      BuildTopology(surface.triangles, static_cast<uint32_t>(surface.points.size()));
  uint64_t count = 0;
  std::vector<Place> places;
  for (const SurfaceEdge& edge : topology.edges) {
    const auto uses = topology.UsesOf(edge);
    int balance = 0;
    for (const EdgeUse& use : uses) balance += use.forward ? 1 : -1;
    if (balance == 0) continue;
    ++count;
    if (places.size() == kMaxPlaces) continue;
    places.push_back({surface.points[edge.a] * 0.5 + surface.points[edge.b] * 0.5,
                      surface.source_triangle[uses[0].triangle], -1, ""});
  }
  if (count == 0) return false;
  findings->Add("CAGE_TETGEN_REFUSED", count,
                "the surface is not closed: " + std::to_string(count) +
                    " edges do not lie between an equal number of faces on either side",
                places);
  return true;
}

bool RefuseIntersections(const SolidSurface& surface, FindingList* findings) {
  const SelfIntersections found = FindSelfIntersections(surface.points, surface.triangles);
  if (found.pairs.empty() && found.complete) return false;
  std::vector<Place> places;
  for (size_t i = 0; i < found.pairs.size() && i < kMaxPlaces; ++i) {
    const TrianglePair& pair = found.pairs[i];
    places.push_back(
        {pair.near, surface.source_triangle[pair.first], surface.source_triangle[pair.second], ""});
  }
  const std::string count = std::to_string(found.pairs.size());
  findings->Add("CAGE_TETGEN_REFUSED", found.pairs.size(),
                count + (found.complete ? "" : " or more") +
                    " pairs of triangles pass through or touch each other (element: the second "
                    "one)",
                places);
  return true;
}

Error Unfit(const std::string& what) {
  return {ExitCode::kHelperDied, "tetgen's tets do not fill the surface: " + what,
          "CAGE_TETGEN_FAILED"};
}

// The winding number at each tet's centre. It is constant within a tet, as no triangle crosses it.
std::vector<int> WindingOfTets(const InsideTest& inside, const TetMesh& mesh) {
  std::vector<int> winding(mesh.tets.size());
  tbb::parallel_for(size_t{0}, winding.size(), [&](size_t t) {
    const auto [a, b, c, d] = CornersOf(mesh, t);
    winding[t] = static_cast<int>(std::floor(inside.WindingNumber((a + b + c + d) * 0.25) + 0.5));
  });
  return winding;
}

// Keeps the tets inside and the nodes that they use, in the same order.
void KeepInside(const std::vector<int>& winding, TetMesh* mesh) {
  TetMesh kept;
  std::vector<uint32_t> new_index(mesh->nodes.size(), UINT32_MAX);
  for (size_t t = 0; t < mesh->tets.size(); ++t) {
    if (winding[t] == 0) continue;
    kept.tets.push_back(mesh->tets[t]);
    for (const uint32_t node : mesh->tets[t]) new_index[node] = 0;
  }
  for (size_t i = 0; i < mesh->nodes.size(); ++i) {
    if (new_index[i] == UINT32_MAX) continue;
    new_index[i] = static_cast<uint32_t>(kept.nodes.size());
    kept.nodes.push_back(mesh->nodes[i]);
  }
  for (auto& tet : kept.tets) {
    for (uint32_t& node : tet) node = new_index[node];
  }
  *mesh = std::move(kept);
}

std::array<double, 3> Key(const Vec3d& p) {
  // Adding 0 turns -0 into +0: both are one place.
  return {p.x + 0.0, p.y + 0.0, p.z + 0.0};
}

// Number of points that triangles use and that are not nodes.
size_t CountMissingPoints(const SolidSurface& surface, const TetMesh& mesh) {
  std::vector<std::array<double, 3>> nodes;
  nodes.reserve(mesh.nodes.size());
  for (const Vec3d& node : mesh.nodes) nodes.push_back(Key(node));
  std::sort(nodes.begin(), nodes.end());
  std::vector<bool> used(surface.points.size());
  for (const auto& triangle : surface.triangles) {
    for (const uint32_t corner : triangle) used[corner] = true;
  }
  size_t missing = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const auto key = Key(RoundToFloat(surface.points[i]));
    missing += std::binary_search(nodes.begin(), nodes.end(), key) ? 0 : 1;
  }
  return missing;
}

// Refuses surfaces that tets cannot fill without repair. Adds CAGE_TETGEN_REFUSED with places: once
// for open edges, once for triangles that meet elsewhere than in shared corners and edges.
Result<Done> CheckFillable(const SolidSurface& surface, FindingList* findings) {
  if (surface.triangles.empty()) {
    return Error{ExitCode::kInvalidInput, "no triangle has positive area", "MESH_EMPTY"};
  }
  const bool open = RefuseOpenEdges(surface, findings);
  const bool crossed = RefuseIntersections(surface, findings);
  if (!open && !crossed) return Done{};
  return Error{ExitCode::kInvalidInput, "tets cannot fill this surface", "CAGE_TETGEN_REFUSED"};
}

// Removes the tets in cavities (winding number 0) from `mesh`, then checks that the others fill
// `surface`: every point of the surface is a node, and the volumes agree.
Result<Done> KeepSolid(const SolidSurface& surface, const InsideTest& inside, TetMesh* mesh) {
  const std::vector<int> winding = WindingOfTets(inside, *mesh);
  double filled = 0.0;  // integral of the winding number
  for (size_t t = 0; t < winding.size(); ++t) filled += winding[t] * TetVolume(CornersOf(*mesh, t));
  const double wanted = SignedVolume(surface);
  KeepInside(winding, mesh);
  if (mesh->tets.empty()) return Unfit("none lies inside it");
  if (const size_t missing = CountMissingPoints(surface, *mesh); missing > 0) {
    return Unfit(std::to_string(missing) + " of its points are no nodes");
  }
  if (!(std::abs(filled - wanted) <= kVolumeTolerance * wanted)) {
    std::array<char, 96> text;
    std::snprintf(text.data(), text.size(), "%.9g of %.9g m^3", filled, wanted);
    return Unfit(text.data());
  }
  return Done{};
}

Result<TetMesh> FillSurface(const SolidSurface& surface, const InsideTest& inside,
                            const TetGenSettings& settings, FindingList* findings) {
  if (auto done = CheckFillable(surface, findings); !done.ok()) return done.error();
  Result<TetSource> source = RunTetGen(surface, settings);
  if (!source.ok()) return source.error();
  // Rounding may flatten slivers. KeepSolid checks the volume, so it notices if more is lost.
  DropTetsFlatInFloat(&source.value());
  TetMesh mesh = std::move(source.value().mesh);
  for (Vec3d& node : mesh.nodes) node = RoundToFloat(node);
  if (auto done = KeepSolid(surface, inside, &mesh); !done.ok()) return done.error();
  return mesh;
}

}  // namespace

Result<TetMesh> MeshWithTetGen(const SolidSurface& surface, const InsideTest& inside,
                               const TetGenSettings& settings, FindingList* findings) {
  Result<TetMesh> mesh = FillSurface(surface, inside, settings, findings);
  if (!mesh.ok()) {
    const Error& error = mesh.error();
    if (!error.finding_code.empty() && !findings->Has(error.finding_code)) {
      findings->Add(error.finding_code, 1, error.message);
    }
  }
  return mesh;
}

}  // namespace plush::tools
