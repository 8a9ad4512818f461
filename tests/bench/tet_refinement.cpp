// SPDX-License-Identifier: MIT
#include "bench/tet_refinement.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plush::bench {
namespace {

using tools::TetMesh;
using tools::Vec3d;

class EdgeHalver {
 public:
  explicit EdgeHalver(TetMesh* mesh) : mesh_(mesh) {
    for (uint32_t t = 0; t < mesh_->tets.size(); ++t) Enter(t);
  }

  void HalveLongest() {
    // The queue still holds edges that are gone.
    while (TetsAt(longest_.top().second).empty()) longest_.pop();
    const uint64_t edge = longest_.top().second;
    const uint32_t a = static_cast<uint32_t>(edge >> 32), b = static_cast<uint32_t>(edge);
    const uint32_t middle = static_cast<uint32_t>(mesh_->nodes.size());
    mesh_->nodes.push_back((mesh_->nodes[a] + mesh_->nodes[b]) * 0.5);
    const std::vector<uint32_t> tets = TetsAt(edge);
    for (const uint32_t t : tets) {
      Leave(t);
      std::array<uint32_t, 4> other = mesh_->tets[t];
      std::replace(other.begin(), other.end(), a, middle);
      std::replace(mesh_->tets[t].begin(), mesh_->tets[t].end(), b, middle);
      mesh_->tets.push_back(other);
      Enter(t);
      Enter(static_cast<uint32_t>(mesh_->tets.size() - 1));
    }
  }

 private:
  static uint64_t EdgeOf(uint32_t a, uint32_t b) {
    return uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  }

  std::vector<uint32_t>& TetsAt(uint64_t edge) { return tets_at_[edge]; }

  template <typename Visit>
  void ForEdges(uint32_t t, const Visit& visit) const {
    const std::array<uint32_t, 4>& ids = mesh_->tets[t];
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < i; ++j) visit(ids[i], ids[j]);
    }
  }

  void Enter(uint32_t t) {
    ForEdges(t, [&](uint32_t a, uint32_t b) {
      std::vector<uint32_t>& tets = TetsAt(EdgeOf(a, b));
      if (tets.empty()) {
        const Vec3d along = mesh_->nodes[b] - mesh_->nodes[a];
        longest_.emplace(Dot(along, along), EdgeOf(a, b));
      }
      tets.push_back(t);
    });
  }

  void Leave(uint32_t t) {
    ForEdges(t, [&](uint32_t a, uint32_t b) { std::erase(TetsAt(EdgeOf(a, b)), t); });
  }

  TetMesh* mesh_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> tets_at_;
  std::priority_queue<std::pair<double, uint64_t>> longest_;  // squared length, edge
};

}  // namespace

TetMesh RefinedTo(size_t least_tets, TetMesh mesh) {
  EdgeHalver halver(&mesh);
  while (mesh.tets.size() < least_tets) halver.HalveLongest();
  return mesh;
}

}  // namespace plush::bench
