// SPDX-License-Identifier: MIT
#include "mesh/tet_faces.h"

#include <algorithm>

namespace plush::tools {
namespace {

// A face by its sorted corners, and the tet that has it opposite to a corner.
struct FaceUse {
  std::array<uint32_t, 3> key;
  uint32_t tet;
  uint32_t corner;
};

std::vector<FaceUse> SortedUses(std::span<const std::array<uint32_t, 4>> tets) {
  std::vector<FaceUse> uses;
  uses.reserve(4 * tets.size());
  for (uint32_t t = 0; t < tets.size(); ++t) {
    const auto& [a, b, c, d] = tets[t];
    const std::array<std::array<uint32_t, 3>, 4> faces = {
        {{b, c, d}, {a, c, d}, {a, b, d}, {a, b, c}}};
    for (uint32_t corner = 0; corner < 4; ++corner) {
      FaceUse use = {faces[corner], t, corner};
      std::sort(use.key.begin(), use.key.end());
      uses.push_back(use);
    }
  }
  std::sort(uses.begin(), uses.end(), [](const FaceUse& a, const FaceUse& b) {
    return a.key != b.key ? a.key < b.key : a.tet < b.tet;
  });
  return uses;
}

}  // namespace

TetFaces BuildTetFaces(std::span<const std::array<uint32_t, 4>> tets) {
  TetFaces faces;
  faces.of_tet.resize(tets.size());
  const std::vector<FaceUse> uses = SortedUses(tets);
  faces.tets.reserve(uses.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == 0 || uses[i].key != uses[i - 1].key) {
      faces.starts.push_back(static_cast<uint32_t>(i));
    }
    faces.of_tet[uses[i].tet][uses[i].corner] = static_cast<uint32_t>(faces.starts.size() - 1);
    faces.tets.push_back(uses[i].tet);
  }
  faces.starts.push_back(static_cast<uint32_t>(uses.size()));
  return faces;
}

}  // namespace plush::tools
