// SPDX-License-Identifier: MIT
// Rebuilds half-edges from the records of the collision surface and checks discs and links
// [Civ 5.4.1].
#include "partition/cut_surface.h"
#include "partition/patches.h"
#include "validate/collision_checks.h"
#include "validate/tally.h"

#include <algorithm>
#include <array>
#include <vector>

namespace plush::tools {
namespace {

// A vertex as both sides of a tet's face see it: the nodes whose weights are not zero.
struct Shared {
  std::array<uint32_t, 4> nodes = {};
  std::array<float, 4> weights = {};
  bool operator==(const Shared&) const = default;
};

class Topology {
 public:
  explicit Topology(const UnpackedCollision& collision) : c_(collision) {}

  void Check(FindingList* findings) {
    CheckVertices(findings);
    if (!sound_) return;
    Connect(findings);
    CheckDiscs(findings);
    CheckLinks(findings);
  }

 private:
  void CheckVertices(FindingList* findings) {
    Tally distinct("FILE_COLLISION", "collision.triangles", "the vertices are not distinct");
    Tally unused("FILE_COLLISION", "collision.vertices", "no triangle uses it");
    std::vector<bool> used(c_.view.vertices.size(), false);
    for (uint32_t t = 0; t < c_.triangles.size(); ++t) {
      const auto& v = c_.triangles[t].vertices;
      if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) distinct.Add(t);
      for (const uint32_t vertex : v) used[vertex] = true;
    }
    for (uint32_t v = 0; v < used.size(); ++v) {
      if (!used[v]) unused.Add(v);
    }
    sound_ = distinct.count() == 0;
    distinct.Report(findings);
    unused.Report(findings);
  }

  Shared Place(uint32_t t, uint32_t corner) const {
    const CdgTet& tet = c_.view.tets[c_.view.patches[c_.patch_of_triangle[t]].tet];
    const Vec4& w = c_.view.vertices[c_.triangles[t].vertices[corner]];
    const std::array<float, 4> weights = {w.x, w.y, w.z, w.w};
    Shared place;
    size_t count = 0;
    for (size_t i = 0; i < 4; ++i) {
      if (weights[i] == 0.0f) continue;
      place.nodes[count] = tet.nodes[i];
      place.weights[count++] = weights[i];
    }
    return place;
  }

  // The half-edge of `other` opposite to half-edge k of t, or kNoHalfEdge.
  uint32_t Across(uint32_t t, uint32_t k, uint32_t other) const {
    const auto& mine = c_.triangles[t].vertices;
    const auto& theirs = c_.triangles[other].vertices;
    const bool one_patch = c_.patch_of_triangle[t] == c_.patch_of_triangle[other];
    for (uint32_t m = 0; m < 3; ++m) {
      if (c_.triangles[other].neighbours[m] != t) continue;
      const bool same = one_patch ? mine[k] == theirs[(m + 1) % 3] && mine[(k + 1) % 3] == theirs[m]
                                  : Place(t, k) == Place(other, (m + 1) % 3) &&
                                        Place(t, (k + 1) % 3) == Place(other, m);
      if (same) return 3 * other + m;
    }
    return kNoHalfEdge;
  }

  void Connect(FindingList* findings) {
    Tally mutual("FILE_COLLISION", "collision.triangles",
                 "the neighbour does not name it back across the same edge");
    surface_.triangles.resize(c_.triangles.size());
    surface_.opposite.assign(3 * c_.triangles.size(), kNoHalfEdge);
    for (uint32_t t = 0; t < c_.triangles.size(); ++t) {
      bool good = true;
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t other = c_.triangles[t].neighbours[k];
        if (other == kNoTriangle) continue;
        surface_.opposite[3 * t + k] = Across(t, k, other);
        good = good && surface_.opposite[3 * t + k] != kNoHalfEdge;
      }
      if (!good) mutual.Add(t);
    }
    mutual.Report(findings);
    // The next checks walk around points: every half-edge must have one partner.
    for (uint32_t h = 0; h < surface_.opposite.size(); ++h) {
      const uint32_t across = surface_.opposite[h];
      if (across != kNoHalfEdge && surface_.opposite[across] != h) sound_ = false;
    }
    sound_ = sound_ && mutual.count() == 0;
  }

  void CheckDiscs(FindingList* findings) const {
    if (!sound_) return;
    Tally discs("FILE_COLLISION", "collision.patches", "it is no disc");
    Tally pieces("FILE_COLLISION", "collision.patches", "it is not connected");
    for (uint32_t p = 0; p < c_.view.patches.size(); ++p) {
      std::vector<uint32_t> reached = {c_.Triangles(p).begin};
      std::vector<bool> seen(c_.Triangles(p).end - c_.Triangles(p).begin, false);
      seen[0] = true;
      for (size_t next = 0; next < reached.size(); ++next) {
        for (uint32_t k = 0; k < 3; ++k) {
          const uint32_t across = surface_.opposite[3 * reached[next] + k];
          if (across == kNoHalfEdge || c_.patch_of_triangle[across / 3] != p) continue;
          const uint32_t at = across / 3 - c_.Triangles(p).begin;
          if (seen[at]) continue;
          seen[at] = true;
          reached.push_back(across / 3);
        }
      }
      if (reached.size() != seen.size()) {
        pieces.Add(p);
      } else if (EulerCharacteristic(surface_, reached, c_.patch_of_triangle, p) != 1) {
        discs.Add(p);
      }
    }
    discs.Report(findings);
    pieces.Report(findings);
  }

  void CheckLinks(FindingList* findings) const {
    Tally links("FILE_COLLISION", "collision.links", "not the patches across its borders");
    for (uint32_t p = 0; p < c_.view.patches.size(); ++p) {
      std::vector<uint32_t> beside;
      for (uint32_t t = c_.Triangles(p).begin; t < c_.Triangles(p).end; ++t) {
        for (const uint32_t other : c_.triangles[t].neighbours) {
          if (other == kNoTriangle || c_.patch_of_triangle[other] == p) continue;
          beside.push_back(c_.patch_of_triangle[other]);
        }
      }
      std::sort(beside.begin(), beside.end());
      beside.erase(std::unique(beside.begin(), beside.end()), beside.end());
      for (uint32_t& link : beside) {
        if (c_.view.patches[link].tet == c_.view.patches[p].tet) link |= kSeamLink;
      }
      const Run run = c_.Links(p);
      const auto stored = c_.view.links.subspan(run.begin, run.end - run.begin);
      if (!std::equal(beside.begin(), beside.end(), stored.begin(), stored.end())) links.Add(p);
    }
    links.Report(findings);
  }

  const UnpackedCollision& c_;
  CutSurface surface_;  // its half-edges only
  bool sound_ = true;
};

}  // namespace

void CheckCollisionTopology(const UnpackedCollision& collision, FindingList* findings) {
  Topology(collision).Check(findings);
}

}  // namespace plush::tools
