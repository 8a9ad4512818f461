// SPDX-License-Identifier: MIT
#include "cage/surface_orientation.h"

#include "mesh/topology.h"

#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

using Triangles = std::vector<std::array<uint32_t, 3>>;

// The other triangle at an edge of exactly two.
struct Neighbour {
  uint32_t triangle = 0;
  bool agrees = false;  // as given, both pass the edge in opposite directions
};

// Up to three neighbours of each triangle, in order of the edges.
struct Neighbourhood {
  std::array<Neighbour, 3> neighbours;
  uint8_t count = 0;
};

std::vector<Neighbourhood> FindNeighbours(uint32_t num_points, const Triangles& triangles) {
  std::vector<Neighbourhood> out(triangles.size());
  const SurfaceTopology topology = BuildTopology(triangles, num_points);
  for (const SurfaceEdge& edge : topology.edges) {
    const auto uses = topology.UsesOf(edge);
    if (uses.size() != 2) continue;
    const bool agrees = uses[0].forward != uses[1].forward;
    Neighbourhood& a = out[uses[0].triangle];
    Neighbourhood& b = out[uses[1].triangle];
    a.neighbours[a.count++] = {uses[1].triangle, agrees};
    b.neighbours[b.count++] = {uses[0].triangle, agrees};
  }
  return out;
}

}  // namespace

OrientedPieces OrientPieces(uint32_t num_points, Triangles* triangles) {
  const std::vector<Neighbourhood> around = FindNeighbours(num_points, *triangles);
  OrientedPieces out;
  out.piece_of_triangle.assign(triangles->size(), kNone);
  std::vector<uint8_t> turned(triangles->size(), 0);
  std::vector<uint32_t> piece;
  for (uint32_t seed = 0; seed < triangles->size(); ++seed) {
    if (out.piece_of_triangle[seed] != kNone) continue;
    out.piece_of_triangle[seed] = out.num_pieces;
    piece.assign(1, seed);
    size_t num_turned = 0;
    for (size_t next = 0; next < piece.size(); ++next) {
      const uint32_t t = piece[next];
      for (uint8_t i = 0; i < around[t].count; ++i) {
        const Neighbour& neighbour = around[t].neighbours[i];
        if (out.piece_of_triangle[neighbour.triangle] != kNone) continue;
        out.piece_of_triangle[neighbour.triangle] = out.num_pieces;
        turned[neighbour.triangle] = neighbour.agrees ? turned[t] : 1 - turned[t];
        num_turned += turned[neighbour.triangle];
        piece.push_back(neighbour.triangle);
      }
    }
    const bool turn_others = 2 * num_turned > piece.size();
    for (const uint32_t t : piece) {
      if ((turned[t] != 0) != turn_others) std::swap((*triangles)[t][1], (*triangles)[t][2]);
    }
    ++out.num_pieces;
  }
  return out;
}

bool IsClosed(uint32_t num_points, const Triangles& triangles) {
  const SurfaceTopology topology = BuildTopology(triangles, num_points);
  for (const SurfaceEdge& edge : topology.edges) {
    int balance = 0;
    for (const EdgeUse& use : topology.UsesOf(edge)) balance += use.forward ? 1 : -1;
    if (balance != 0) return false;
  }
  return true;
}

}  // namespace plush::tools
