// SPDX-License-Identifier: MIT
// A regular lattice of tets: nodes, neighbours and point location, from tables per kind of lattice.
// Source: [Civ, Sec. 5.3.1, step 1] for cubes of five tets.
#include "lattice/lattice.h"

#include "base/float_rounding.h"
#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace plush::tools {
namespace {

// Tets of a cube by corner numbers (bit 0: x, bit 1: y, bit 2: z), positively oriented: four corner
// tets around a regular one. The odd cube is the even one mirrored along x.
constexpr std::array<std::array<std::array<uint32_t, 4>, 5>, 2> kCubeTets = {
    {{{{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}}},
     {{{1, 0, 5, 3}, {2, 3, 6, 0}, {4, 5, 0, 6}, {7, 6, 3, 5}, {0, 3, 6, 5}}}}};

// Free cells between the box and the outermost planes.
constexpr double kMargin = 2.0;

Error FarFromOrigin(double cell) {
  return {ExitCode::kInvalidInput,
          "single precision is too coarse for cells of " + RoundedText(cell) +
              " m at this distance from the origin; move the model to the origin, or choose larger "
              "cells",
          "CAGE_FAR_FROM_ORIGIN"};
}

}  // namespace

Error TooManyTets(double cell) {
  return {ExitCode::kLimit,
          "cells of " + RoundedText(cell) +
              " m make a cage of more than 20 million tets; choose larger cells",
          "CAGE_TOO_FINE"};
}

LatticeShift CentredShift(LatticeKind kind) {
  return kind == LatticeKind::kBcc ? LatticeShift{0.0171, 0.5233, 0.2807}
                                   : LatticeShift{0.5171, 0.5233, 0.5307};
}

Lattice::Tables Lattice::MakeTables(LatticeKind kind) {
  Tables tables;
  if (kind == LatticeKind::kCube5) {
    for (size_t parity = 0; parity < 2; ++parity) {
      for (const auto& corners : kCubeTets[parity]) {
        std::array<HalfOffset, 4> tet;
        for (size_t i = 0; i < 4; ++i) {
          const auto corner = static_cast<int>(corners[i]);
          tet[i] = {2 * (corner & 1), 2 * (corner >> 1 & 1), 2 * (corner >> 2 & 1)};
        }
        tables.tets[parity].push_back(tet);
      }
    }
  } else {
    // Four tets surround the segment between the centres of two adjacent cells: one for each edge
    // of the face between the cells. BccTetAt relies on their order.
    constexpr std::array<std::array<int, 2>, 5> kRound = {{{0, 0}, {2, 0}, {2, 2}, {0, 2}, {0, 0}}};
    for (size_t axis = 0; axis < 3; ++axis) {
      for (size_t i = 0; i < 4; ++i) {
        std::array<HalfOffset, 4> tet = {};
        tet[0] = {1, 1, 1};
        tet[1] = {1, 1, 1};
        tet[1][axis] = 3;
        for (size_t end = 0; end < 2; ++end) {
          tet[2 + end][axis] = 2;
          tet[2 + end][(axis + 1) % 3] = kRound[i + end][0];
          tet[2 + end][(axis + 2) % 3] = kRound[i + end][1];
        }
        tables.tets[0].push_back(tet);
      }
    }
    tables.tets[1] = tables.tets[0];
  }
  tables.tets_per_cell = static_cast<uint32_t>(tables.tets[0].size());
  MakeSteps(&tables);
  return tables;
}

const Lattice::Tables& Lattice::TablesOf(LatticeKind kind) {
  static const Tables kBcc = MakeTables(LatticeKind::kBcc);
  static const Tables kCube5 = MakeTables(LatticeKind::kCube5);
  return kind == LatticeKind::kBcc ? kBcc : kCube5;
}

// Finds the neighbour across each face by comparing nodes in the cells around.
void Lattice::MakeSteps(Tables* tables) {
  for (size_t parity = 0; parity < 2; ++parity) {
    for (const auto& nodes : tables->tets[parity]) {
      std::array<Step, 4> steps;
      for (int number = 0; number < 27; ++number) {
        const std::array<int, 3> offset = {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
        const bool odd = (offset[0] + offset[1] + offset[2]) % 2 != 0;
        const auto& others = tables->tets[odd ? 1 - parity : parity];
        for (uint32_t other = 0; other < tables->tets_per_cell; ++other) {
          std::vector<size_t> missing;  // corners that the other tet does not have
          for (size_t i = 0; i < 4; ++i) {
            const HalfOffset node = {nodes[i][0] - 2 * offset[0], nodes[i][1] - 2 * offset[1],
                                     nodes[i][2] - 2 * offset[2]};
            const auto& theirs = others[other];
            if (std::find(theirs.begin(), theirs.end(), node) == theirs.end()) missing.push_back(i);
          }
          if (missing.size() == 1) steps[missing[0]] = {offset, other};
        }
      }
      tables->steps[parity].push_back(steps);
    }
  }
}

Result<Lattice> Lattice::Make(LatticeKind kind, const Vec3d& lower, const Vec3d& upper, double cell,
                              const LatticeShift& shift) {
  Lattice lattice(kind, cell);
  double tets = lattice.tables_->tets_per_cell;
  for (int axis = 0; axis < 3; ++axis) {
    tets *= std::ceil((upper[axis] - lower[axis]) / cell + 2.0 * kMargin + 1.0);
  }
  if (!(tets < static_cast<double>(kNoTet))) {
    const Vec3d size = upper - lower;
    return Error{ExitCode::kLimit,
                 "cells of " + RoundedText(cell) + " m in a box of " +
                     RoundedText(std::max({size.x, size.y, size.z})) +
                     " m make a lattice of more than 4 billion tets; choose larger cells",
                 "CAGE_TOO_FINE"};
  }
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<size_t>(axis);
    const double centre = 0.5 * lower[axis] + 0.5 * upper[axis];
    // Cells below and above the one that holds the centre.
    const double half = 0.5 * (upper[axis] - lower[axis]) / cell;
    const double below = std::ceil(half - shift[a] + kMargin);
    const double above = std::ceil(half - (1.0 - shift[a]) + kMargin);
    lattice.counts_[a] = static_cast<int>(below + above) + 1;
    lattice.first_[axis] = centre - (shift[a] + below) * cell;
    std::vector<double>& planes = lattice.planes_[a];
    for (int i = 0; i <= 2 * lattice.counts_[a]; ++i) {
      planes.push_back(RoundToFloat(lattice.first_[axis] + 0.5 * i * cell));
      // Rounding by more than a tenth of the spacing would make misshapen tets.
      if (i > 0 && std::abs(planes.back() - planes[planes.size() - 2] - 0.5 * cell) > 0.05 * cell) {
        return FarFromOrigin(cell);
      }
    }
    if (!(planes.front() < lower[axis] && planes.back() > upper[axis])) return FarFromOrigin(cell);
  }
  return lattice;
}

uint32_t Lattice::num_tets() const {
  return static_cast<uint32_t>(counts_[0] * counts_[1] * counts_[2]) * tables_->tets_per_cell;
}

uint32_t Lattice::num_nodes() const {
  const int centres = kind_ == LatticeKind::kBcc ? counts_[0] * counts_[1] * counts_[2] : 0;
  return static_cast<uint32_t>(num_corners() + centres);
}

int Lattice::num_corners() const { return (counts_[0] + 1) * (counts_[1] + 1) * (counts_[2] + 1); }

Lattice::Cell Lattice::CellOf(uint32_t number) const {
  const auto n = static_cast<int>(number);
  return {n % counts_[0], n / counts_[0] % counts_[1], n / counts_[0] / counts_[1]};
}

uint32_t Lattice::NumberOf(const Cell& cell) const {
  return static_cast<uint32_t>((cell[2] * counts_[1] + cell[1]) * counts_[0] + cell[0]);
}

uint32_t Lattice::ParityOf(const Cell& cell) const {
  return static_cast<uint32_t>(cell[0] + cell[1] + cell[2]) & 1u;
}

uint32_t Lattice::NodeNumber(const Cell& cell, const HalfOffset& offset) const {
  const int x = 2 * cell[0] + offset[0];
  const int y = 2 * cell[1] + offset[1];
  const int z = 2 * cell[2] + offset[2];
  const int number = (x & 1) == 0
                         ? (z / 2 * (counts_[1] + 1) + y / 2) * (counts_[0] + 1) + x / 2
                         : num_corners() + (z / 2 * counts_[1] + y / 2) * counts_[0] + x / 2;
  return static_cast<uint32_t>(number);
}

// False for tets of a last bcc cell that would reach into the cell beyond it.
bool Lattice::Exists(const Cell& cell, uint32_t k) const {
  for (size_t axis = 0; axis < 3; ++axis) {
    if (cell[axis] < 0 || cell[axis] >= counts_[axis]) return false;
  }
  return kind_ == LatticeKind::kCube5 || cell[k / 4] + 1 < counts_[k / 4];
}

std::array<uint32_t, 4> Lattice::TetNodes(uint32_t tet) const {
  const Cell cell = CellOf(tet / tables_->tets_per_cell);
  const auto& offsets = tables_->tets[ParityOf(cell)][tet % tables_->tets_per_cell];
  return {NodeNumber(cell, offsets[0]), NodeNumber(cell, offsets[1]), NodeNumber(cell, offsets[2]),
          NodeNumber(cell, offsets[3])};
}

Vec3d Lattice::NodePosition(uint32_t node) const {
  const bool is_corner = static_cast<int>(node) < num_corners();
  const int number = static_cast<int>(node) - (is_corner ? 0 : num_corners());
  const int along_x = counts_[0] + (is_corner ? 1 : 0);
  const int along_y = counts_[1] + (is_corner ? 1 : 0);
  const int odd = is_corner ? 0 : 1;
  const auto plane = [odd](int i) { return static_cast<size_t>(2 * i + odd); };
  return {planes_[0][plane(number % along_x)], planes_[1][plane(number / along_x % along_y)],
          planes_[2][plane(number / along_x / along_y)]};
}

std::array<Vec3d, 4> Lattice::TetCorners(uint32_t tet) const {
  const Cell cell = CellOf(tet / tables_->tets_per_cell);
  const auto& offsets = tables_->tets[ParityOf(cell)][tet % tables_->tets_per_cell];
  std::array<Vec3d, 4> corners;
  for (size_t i = 0; i < 4; ++i) {
    corners[i] = {planes_[0][static_cast<size_t>(2 * cell[0] + offsets[i][0])],
                  planes_[1][static_cast<size_t>(2 * cell[1] + offsets[i][1])],
                  planes_[2][static_cast<size_t>(2 * cell[2] + offsets[i][2])]};
  }
  return corners;
}

uint32_t Lattice::Neighbour(uint32_t tet, uint32_t face) const {
  const Cell cell = CellOf(tet / tables_->tets_per_cell);
  const Step& step = tables_->steps[ParityOf(cell)][tet % tables_->tets_per_cell][face];
  const Cell other = {cell[0] + step.offset[0], cell[1] + step.offset[1], cell[2] + step.offset[2]};
  if (!Exists(other, step.tet)) return kNoTet;
  return NumberOf(other) * tables_->tets_per_cell + step.tet;
}

uint32_t Lattice::TetAt(const Vec3d& point) const {
  return TetAt(FindOnAxis(0, point.x), FindOnAxis(1, point.y), FindOnAxis(2, point.z));
}

Lattice::PlaceOnAxis Lattice::FindOnAxis(int axis, double coordinate) const {
  const auto index = static_cast<int>(std::floor((coordinate - first_[axis]) / cell_));
  const int cell = std::clamp(index, 1, counts_[static_cast<size_t>(axis)] - 2);
  return {cell, coordinate - (first_[axis] + (cell + 0.5) * cell_)};
}

uint32_t Lattice::TetAt(const PlaceOnAxis& x, const PlaceOnAxis& y, const PlaceOnAxis& z) const {
  const Cell cell = {x.cell, y.cell, z.cell};
  const Vec3d from_centre = {x.from_centre, y.from_centre, z.from_centre};
  return kind_ == LatticeKind::kBcc ? BccTetAt(cell, from_centre) : Cube5TetAt(cell, from_centre);
}

// The largest coordinate of the point selects a pyramid between the cell's centre and a face. The
// other two coordinates select one of four wedges around the pyramid's axis.
uint32_t Lattice::BccTetAt(const Cell& cell, const Vec3d& from_centre) const {
  int axis = 0;
  for (int i = 1; i < 3; ++i) {
    if (std::abs(from_centre[i]) > std::abs(from_centre[axis])) axis = i;
  }
  Cell base = cell;
  if (from_centre[axis] < 0.0) --base[static_cast<size_t>(axis)];
  const double u = from_centre[(axis + 1) % 3];
  const double v = from_centre[(axis + 2) % 3];
  uint32_t wedge = 0;
  if (std::abs(v) >= std::abs(u)) {
    wedge = v < 0.0 ? 0 : 2;
  } else {
    wedge = u > 0.0 ? 1 : 3;
  }
  return NumberOf(base) * tables_->tets_per_cell + 4 * static_cast<uint32_t>(axis) + wedge;
}

// A point in none of the four corner tets lies in the regular one.
uint32_t Lattice::Cube5TetAt(const Cell& cell, const Vec3d& from_centre) const {
  const Vec3d point =
      first_ + Vec3d{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5} * cell_ + from_centre;
  const uint32_t first = NumberOf(cell) * tables_->tets_per_cell;
  for (uint32_t k = 0; k < 4; ++k) {
    const auto corners = TetCorners(first + k);
    if (SixVolume(corners[1], corners[2], corners[3], point) < 0.0) return first + k;
  }
  return first + 4;
}

}  // namespace plush::tools
