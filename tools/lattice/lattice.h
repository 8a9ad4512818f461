// SPDX-License-Identifier: MIT
// A regular lattice of tetrahedra [Civ, Sec. 5.3.1, step 1].
#pragma once

#include "base/result.h"
#include "base/vec3.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// How a cell of the lattice is filled with tets.
enum class LatticeKind {
  kBcc,    ///< body-centred cubic: 12 equal tets per cell, dihedral angles of 60 and 90 degrees
  kCube5,  ///< cubes of 5 tets, mirrored alternately; least angle 54.7 degrees [Civ, Sec. 5.3.1]
};

/// Place of the box's centre within its cell, along each axis, in cells: [0, 1).
using LatticeShift = std::array<double, 3>;

/// A place near the centre of a tet, so that one large tet can hold a whole model. It is slightly
/// off centre, by a different amount along each axis, so that the vertices of symmetric or
/// axis-aligned models do not fall on lattice planes.
LatticeShift CentredShift(LatticeKind kind);

/// Most tets that a cage takes from a lattice.
inline constexpr size_t kMostCageTets = 20'000'000;
/// The error CAGE_TOO_FINE: cells of `cell` [m] make a cage of more than kMostCageTets.
Error TooManyTets(double cell);

/// No such tet. All tets of a lattice have lower numbers.
inline constexpr uint32_t kNoTet = UINT32_MAX;

/// The lattice. Its nodes are representable in single precision, so that storing a cage does not
/// move them. Tets are numbered cell by cell, x fastest. The numbers of a few tets that would stick
/// out of the last cells are not used. Nothing is stored per tet: a lattice may be as large as its
/// numbers allow, however little of it a body touches.
class Lattice {
 public:
  /// A lattice with cells of edge `cell` [m] around the box from `lower` to `upper`, with at least
  /// two free cells on every side. Errors:
  /// - kLimit, CAGE_TOO_FINE: more tets than there are numbers;
  /// - kInvalidInput, CAGE_FAR_FROM_ORIGIN: the cells are too small for single precision at this
  ///   distance from the origin.
  static Result<Lattice> Make(LatticeKind kind, const Vec3d& lower, const Vec3d& upper, double cell,
                              const LatticeShift& shift);

  double cell() const { return cell_; }  ///< edge of a cell [m]
  uint32_t num_tets() const;             ///< every tet number is below this
  uint32_t num_nodes() const;            ///< every node number is below this

  /// Nodes of a tet, positively oriented.
  std::array<uint32_t, 4> TetNodes(uint32_t tet) const;
  /// Position of a node [m].
  Vec3d NodePosition(uint32_t node) const;
  /// Corners of a tet [m].
  std::array<Vec3d, 4> TetCorners(uint32_t tet) const;
  /// The tet across the face opposite corner `face` (0..3), or kNoTet at the lattice's border.
  uint32_t Neighbour(uint32_t tet, uint32_t face) const;
  /// A tet that contains `point`, up to rounding: the point may lie outside by a few float ulps of
  /// its coordinates. `point` must lie in the box that the lattice was made for.
  uint32_t TetAt(const Vec3d& point) const;

  /// The place of one coordinate in the lattice. The points of a grid have few different
  /// coordinates, so callers look each of them up once.
  struct PlaceOnAxis {
    int cell = 0;
    double from_centre = 0.0;  ///< of that cell [m]
  };
  PlaceOnAxis FindOnAxis(int axis, double coordinate) const;
  /// TetAt for a point with these coordinates.
  uint32_t TetAt(const PlaceOnAxis& x, const PlaceOnAxis& y, const PlaceOnAxis& z) const;

 private:
  // A node relative to the lowest corner of its cell, in half cells: even at corners, odd at
  // centres.
  using HalfOffset = std::array<int, 3>;
  using Cell = std::array<int, 3>;  // along x, y and z
  // Tet number `tet` in the cell that is `offset` cells away.
  struct Step {
    std::array<int, 3> offset = {};
    uint32_t tet = 0;
  };

  // Tables shared by all lattices of a kind. The first index is the parity of the cell (both are
  // equal in a bcc lattice), the second the number of the tet in the cell.
  struct Tables {
    uint32_t tets_per_cell = 0;
    std::array<std::vector<std::array<HalfOffset, 4>>, 2> tets;
    std::array<std::vector<std::array<Step, 4>>, 2> steps;
  };
  static Tables MakeTables(LatticeKind kind);
  static void MakeSteps(Tables* tables);
  static const Tables& TablesOf(LatticeKind kind);

  Lattice(LatticeKind kind, double cell) : kind_(kind), cell_(cell), tables_(&TablesOf(kind)) {}
  Cell CellOf(uint32_t number) const;
  uint32_t NumberOf(const Cell& cell) const;
  uint32_t ParityOf(const Cell& cell) const;
  int num_corners() const;  // of cells; their nodes come before those at centres
  uint32_t NodeNumber(const Cell& cell, const HalfOffset& offset) const;
  bool Exists(const Cell& cell, uint32_t k) const;
  uint32_t BccTetAt(const Cell& cell, const Vec3d& from_centre) const;
  uint32_t Cube5TetAt(const Cell& cell, const Vec3d& from_centre) const;

  LatticeKind kind_;
  double cell_;                                // [m]
  Vec3d first_;                                // lowest corner [m]
  std::array<int, 3> counts_ = {};             // cells along each axis
  std::array<std::vector<double>, 3> planes_;  // every half cell, ascending [m]
  const Tables* tables_;
};

}  // namespace plush::tools
