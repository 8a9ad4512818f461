// SPDX-License-Identifier: MIT
#include "cage/surface_orientation.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace plush::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

using Triangles = std::vector<std::array<uint32_t, 3>>;

// One side of a triangle, keyed by its edge without direction.
struct Side {
  uint32_t low = 0;
  uint32_t high = 0;
  uint32_t triangle = 0;
  uint8_t corner = 0;    // the side runs from this corner to the next
  bool forward = false;  // from low to high
};

std::vector<Side> SortedSides(const Triangles& triangles) {
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    for (uint8_t corner = 0; corner < 3; ++corner) {
      const uint32_t from = triangles[t][corner];
      const uint32_t to = triangles[t][(corner + 1) % 3];
      sides.push_back({std::min(from, to), std::max(from, to), t, corner, from < to});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.triangle, a.corner) <
           std::tie(b.low, b.high, b.triangle, b.corner);
  });
  return sides;
}

// Calls visit(first, last) for the sides of each edge.
template <class Visit>
void ForEachEdge(const std::vector<Side>& sides, Visit visit) {
  for (size_t first = 0; first < sides.size();) {
    size_t last = first + 1;
    while (last < sides.size() && sides[last].low == sides[first].low &&
           sides[last].high == sides[first].high) {
      ++last;
    }
    visit(first, last);
    first = last;
  }
}

// Across one side of a triangle.
struct Neighbour {
  uint32_t triangle = kNone;
  bool agrees = false;  // as given, both pass the edge in opposite directions
};

std::vector<std::array<Neighbour, 3>> FindNeighbours(const Triangles& triangles) {
  std::vector<std::array<Neighbour, 3>> neighbours(triangles.size());
  const std::vector<Side> sides = SortedSides(triangles);
  ForEachEdge(sides, [&](size_t first, size_t last) {
    if (last != first + 2) return;
    const Side& a = sides[first];
    const Side& b = sides[first + 1];
    const bool agrees = a.forward != b.forward;
    neighbours[a.triangle][a.corner] = {b.triangle, agrees};
    neighbours[b.triangle][b.corner] = {a.triangle, agrees};
  });
  return neighbours;
}

}  // namespace

OrientedPieces OrientPieces(Triangles* triangles) {
  const auto neighbours = FindNeighbours(*triangles);
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
      for (const Neighbour& neighbour : neighbours[t]) {
        if (neighbour.triangle == kNone || out.piece_of_triangle[neighbour.triangle] != kNone) {
          continue;
        }
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

bool IsClosed(const Triangles& triangles) {
  const std::vector<Side> sides = SortedSides(triangles);
  bool closed = true;
  ForEachEdge(sides, [&](size_t first, size_t last) {
    int balance = 0;
    for (size_t i = first; i < last; ++i) balance += sides[i].forward ? 1 : -1;
    closed = closed && balance == 0;
  });
  return closed;
}

}  // namespace plush::tools
