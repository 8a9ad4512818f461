// SPDX-License-Identifier: MIT
#include "mesh/tet_shape.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush::tools;

TEST_CASE("A regular tet has quality 1, a flat one and a point 0, a turned one -1") {
  const TetCorners regular = {{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}};
  CHECK(std::abs(TetQuality(regular)) == Approx(1.0));
  const TetCorners turned = {regular[1], regular[0], regular[2], regular[3]};
  CHECK(TetQuality(turned) == Approx(-TetQuality(regular)));
  CHECK(TetQuality({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}) == 0.0);
  CHECK(TetQuality({}) == 0.0);
}

TEST_CASE("Dihedral angles of a regular tet are acos(1/3), of a corner tet up to 90 degrees") {
  const double degrees = 180.0 / std::acos(-1.0);
  const DihedralRange regular = TetDihedrals({{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}});
  CHECK(regular.min_deg == Approx(std::acos(1.0 / 3.0) * degrees));
  CHECK(regular.max_deg == Approx(regular.min_deg));
  const DihedralRange corner = TetDihedrals({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  CHECK(corner.min_deg == Approx(std::acos(1.0 / std::sqrt(3.0)) * degrees));
  CHECK(corner.max_deg == Approx(90.0));
  CHECK(TetDihedrals({}).min_deg == 0.0);
}
