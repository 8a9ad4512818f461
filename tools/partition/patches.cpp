// SPDX-License-Identifier: MIT
// Divides a cut surface into discs within single tets by flooding and halving [Civ 5.4.1].
#include "partition/patches.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNoPatch = UINT32_MAX;

class Parter {
 public:
  explicit Parter(const CutSurface& surface)
      : surface_(surface), label_(surface.triangles.size(), kNoPatch) {}

  SurfacePatches Run() {
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      if (label_[t] != kNoPatch) continue;
      Divide(Flood(t, [this, t](uint32_t other) {
        return label_[other] == kNoPatch && surface_.tets[other] == surface_.tets[t];
      }));
    }
    return Numbered();
  }

 private:
  // Labels the triangles connected with `seed` and returns them, ascending.
  template <class IsPart>
  std::vector<uint32_t> Flood(uint32_t seed, IsPart is_part) {
    const uint32_t label = num_labels_++;
    std::vector<uint32_t> found = {seed};
    label_[seed] = label;
    for (size_t next = 0; next < found.size(); ++next) {
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t across = surface_.opposite[3 * found[next] + k];
        if (across == kNoHalfEdge || !is_part(across / 3)) continue;
        label_[across / 3] = label;
        found.push_back(across / 3);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  Vec3d Centroid(uint32_t t) const {
    const auto& [a, b, c] = surface_.triangles[t];
    return (surface_.points[a] + surface_.points[b] + surface_.points[c]) / 3.0;
  }

  // Triangles before the middle along an axis.
  std::vector<uint32_t> LowerHalf(const std::vector<uint32_t>& part, int axis) const {
    std::vector<uint32_t> sorted = part;
    std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
      const double x = Centroid(a)[axis];
      const double y = Centroid(b)[axis];
      return x != y ? x < y : a < b;
    });
    sorted.resize(part.size() / 2);
    return sorted;
  }

  using Pieces = std::vector<std::vector<uint32_t>>;

  // Halves a part; either half may fall into several pieces.
  Pieces CutAlong(const std::vector<uint32_t>& part, int axis) {
    const uint32_t lower = num_labels_++;
    const uint32_t upper = num_labels_++;
    for (const uint32_t t : part) label_[t] = upper;
    for (const uint32_t t : LowerHalf(part, axis)) label_[t] = lower;
    Pieces pieces;
    for (const uint32_t t : part) {
      const uint32_t side = label_[t];
      if (side != lower && side != upper) continue;
      pieces.push_back(Flood(t, [this, side](uint32_t o) { return label_[o] == side; }));
    }
    return pieces;
  }

  bool IsDisc(const std::vector<uint32_t>& piece) const {
    return EulerCharacteristic(surface_, piece, label_, label_[piece[0]]) == 1;
  }

  // Cuts along the axis that leaves the fewest pieces; pieces that are not discs count twice.
  Pieces Cut(const std::vector<uint32_t>& part) {
    int best_axis = 0;
    size_t least = SIZE_MAX;
    for (int axis = 0; axis < 3; ++axis) {
      size_t score = 0;
      for (const auto& piece : CutAlong(part, axis)) score += IsDisc(piece) ? 1 : 2;
      if (score < least) {
        least = score;
        best_axis = axis;
      }
    }
    return CutAlong(part, best_axis);
  }

  // Cuts a labelled piece until its parts are discs.
  void Divide(std::vector<uint32_t> piece) {
    if (IsDisc(piece)) return;
    ++num_cut_;
    Pieces waiting = {std::move(piece)};
    while (!waiting.empty()) {
      const std::vector<uint32_t> part = std::move(waiting.back());
      waiting.pop_back();
      for (auto& half : Cut(part)) {
        if (!IsDisc(half)) waiting.push_back(std::move(half));
      }
    }
  }

  // Patches by tet, then by first triangle.
  SurfacePatches Numbered() const {
    std::vector<uint32_t> order(label_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [this](uint32_t t) { return surface_.tets[t]; });
    SurfacePatches patches = {std::vector<uint32_t>(label_.size()), {}, num_cut_};
    std::vector<uint32_t> number(num_labels_, kNoPatch);  // some labels are no longer used
    for (const uint32_t t : order) {
      uint32_t& patch = number[label_[t]];
      if (patch == kNoPatch) {
        patch = static_cast<uint32_t>(patches.tets.size());
        patches.tets.push_back(surface_.tets[t]);
      }
      patches.of_triangle[t] = patch;
    }
    return patches;
  }

  const CutSurface& surface_;
  std::vector<uint32_t> label_;
  uint32_t num_labels_ = 0;
  uint32_t num_cut_ = 0;
};

}  // namespace

int EulerCharacteristic(const CutSurface& surface, const std::vector<uint32_t>& triangles,
                        const std::vector<uint32_t>& patch_of, uint32_t patch) {
  const auto inner = [&](uint32_t h) {
    const uint32_t across = surface.opposite[h];
    return across != kNoHalfEdge && patch_of[across / 3] == patch;
  };
  int inner_edges = 0;   // seen twice
  int border_edges = 0;  // seen once
  int fans = 0;          // corners joined around a point; each fan counts once
  for (const uint32_t t : triangles) {
    for (uint32_t start = 3 * t; start < 3 * t + 3; ++start) {
      if (!inner(start)) {
        ++border_edges;
        ++fans;  // the fan around the start of a border half-edge ends there, clockwise
        continue;
      }
      ++inner_edges;
      // A fan without an end is closed: it counts at its lowest half-edge.
      uint32_t h = start;
      bool lowest = true;
      do {
        h = NextHalfEdge(surface.opposite[h]);  // the next half-edge out of the same point
        lowest = lowest && h >= start;
      } while (h != start && inner(h));
      fans += h == start && lowest ? 1 : 0;
    }
  }
  return fans - (inner_edges / 2 + border_edges) + static_cast<int>(triangles.size());
}

SurfacePatches FindPatches(const CutSurface& surface) { return Parter(surface).Run(); }

}  // namespace plush::tools
