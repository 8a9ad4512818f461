// SPDX-License-Identifier: MIT
#include "cage/turned_surface.h"

#include "base/float_rounding.h"

namespace plush::tools {
namespace {

// Rotation by the quaternion (a, b, c, d) = (14, 3, 5, 2), over its squared length: as whole
// numbers the same everywhere.
constexpr double kSquared = 234.0;
constexpr Vec3d kRows[3] = {{176.0 / kSquared, -26.0 / kSquared, 152.0 / kSquared},
                            {86.0 / kSquared, 208.0 / kSquared, -64.0 / kSquared},
                            {-128.0 / kSquared, 104.0 / kSquared, 166.0 / kSquared}};

Vec3d Turned(const Vec3d& v) { return {Dot(kRows[0], v), Dot(kRows[1], v), Dot(kRows[2], v)}; }
Vec3d TurnedBack(const Vec3d& v) { return kRows[0] * v.x + kRows[1] * v.y + kRows[2] * v.z; }

}  // namespace

SolidSurface TurnedSurface(const SolidSurface& surface) {
  const Vec3d centre = BoxOf(surface).Centre();
  SolidSurface turned = surface;
  for (Vec3d& point : turned.points) point = Turned(point - centre) + centre;
  return turned;
}

void TurnBack(const SolidSurface& surface, SplitCage* cage) {
  const Vec3d centre = BoxOf(surface).Centre();
  for (Vec3d& node : cage->mesh.nodes) node = RoundToFloat(TurnedBack(node - centre) + centre);
  cage->rest_nodes = cage->mesh.nodes;
}

}  // namespace plush::tools
