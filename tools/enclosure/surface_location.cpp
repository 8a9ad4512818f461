// SPDX-License-Identifier: MIT
// Finds the tets that contain each surface point, searching across faces from the point's owners.
// Class Chooser decides between overlapping strands by the tets of neighbouring points.
#include "enclosure/surface_location.h"

#include "enclosure/enclosure.h"
#include "lattice/tet_neighbourhood.h"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace plush::tools {
namespace {

// Most faces crossed from an owner. A node moves by about a cell, so a few are enough.
constexpr int kSteps = 6;

// The tets that own a triangle at each point, ascending.
std::vector<std::vector<uint32_t>> OwnersOfPoints(const SolidSurface& surface,
                                                  const SplitCage& cage) {
  std::vector<std::vector<uint32_t>> owners(surface.points.size());
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    for (const uint32_t triangle : cage.triangles[t]) {
      for (const uint32_t point : surface.triangles[triangle]) {
        if (owners[point].empty() || owners[point].back() != t) owners[point].push_back(t);
      }
    }
  }
  return owners;
}

// The tets among `tets` that contain the point, ascending.
std::vector<uint32_t> Containing(const TetSides& sides, const Vec3d& point,
                                 const std::vector<uint32_t>& tets) {
  std::vector<uint32_t> found;
  for (const uint32_t tet : tets) {
    if (sides.Contains(tet, point)) found.push_back(tet);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The tets that contain the point and are reached from its owners in the fewest steps, ascending.
std::vector<uint32_t> Candidates(const TetMesh& mesh, const CageFaces& faces, const TetSides& sides,
                                 const Vec3d& point, const std::vector<uint32_t>& owners) {
  std::vector<uint32_t> found = Containing(sides, point, owners);
  if (!found.empty()) return found;
  std::vector<uint32_t> front = owners;
  std::vector<uint32_t> seen = owners;
  for (int step = 1; step <= kSteps && found.empty(); ++step) {
    std::vector<uint32_t> next;
    for (const uint32_t tet : front) {
      for (size_t corner = 0; corner < 4; ++corner) {
        for (const uint32_t other : faces.Across(mesh, tet, corner)) {
          if (std::find(seen.begin(), seen.end(), other) != seen.end()) continue;
          seen.push_back(other);
          next.push_back(other);
        }
      }
    }
    front.swap(next);
    found = Containing(sides, point, front);
  }
  return found;
}

// Chooses one of several candidates for a point.
class Chooser {
 public:
  Chooser(const SolidSurface& surface, const SplitCage& cage, const CageFaces& faces)
      : surface_(surface), near_(cage, faces) {}

  // Reduces the candidates of each point to one, if it has any.
  void Choose(std::vector<std::vector<uint32_t>>* candidates) {
    std::vector<uint32_t> open;
    for (uint32_t p = 0; p < candidates->size(); ++p) {
      if ((*candidates)[p].size() > 1) open.push_back(p);
    }
    if (open.empty()) return;
    ListNeighbours(open, candidates->size());
    // Ends, because every round but the last removes a candidate.
    bool decided = true;
    while (decided) {
      decided = false;
      for (const uint32_t p : open) decided = Narrow(p, candidates) || decided;
    }
    for (const uint32_t p : open) (*candidates)[p].resize(1);
  }

 private:
  void ListNeighbours(const std::vector<uint32_t>& open, size_t num_points) {
    std::vector<bool> is_open(num_points, false);
    for (const uint32_t p : open) is_open[p] = true;
    neighbours_.resize(num_points);
    for (const auto& triangle : surface_.triangles) {
      for (const uint32_t p : triangle) {
        if (!is_open[p]) continue;
        for (const uint32_t q : triangle) {
          if (q != p) neighbours_[p].push_back(q);
        }
      }
    }
  }

  // Removes candidates not connected to a decided neighbour's tet. Returns whether it removed any.
  bool Narrow(uint32_t p, std::vector<std::vector<uint32_t>>* candidates) {
    std::vector<uint32_t>& mine = (*candidates)[p];
    const size_t before = mine.size();
    for (const uint32_t q : neighbours_[p]) {
      if (mine.size() == 1) break;
      if ((*candidates)[q].size() != 1) continue;
      near_.LookAround((*candidates)[q][0]);
      std::vector<uint32_t> left;
      for (const uint32_t tet : mine) {
        if (near_.Has(tet)) left.push_back(tet);
      }
      if (!left.empty()) mine = left;
    }
    return mine.size() < before;
  }

  const SolidSurface& surface_;
  TetNeighbourhood near_;
  std::vector<std::vector<uint32_t>> neighbours_;
};

}  // namespace

std::vector<uint32_t> LocateSurface(const SolidSurface& surface, const SplitCage& cage,
                                    const CageFaces& faces) {
  const auto owners = OwnersOfPoints(surface, cage);
  const TetSides sides(cage.mesh);
  std::vector<std::vector<uint32_t>> candidates(surface.points.size());
  tbb::parallel_for(size_t{0}, candidates.size(), [&](size_t p) {
    candidates[p] = Candidates(cage.mesh, faces, sides, surface.points[p], owners[p]);
  });
  Chooser(surface, cage, faces).Choose(&candidates);
  std::vector<uint32_t> tets(candidates.size(), kNoTet);
  for (size_t p = 0; p < candidates.size(); ++p) {
    if (!candidates[p].empty()) tets[p] = candidates[p][0];
  }
  return tets;
}

}  // namespace plush::tools
