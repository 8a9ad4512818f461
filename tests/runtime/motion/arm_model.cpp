// SPDX-License-Identifier: MIT
#include "runtime/motion/arm_model.h"

#include "plush/format/tet_block.h"

#include <catch2/catch.hpp>

#include <fstream>

namespace plush::test {

tools::TetMesh ReadTetGen(const std::string& node_path) {
  tools::TetMesh mesh;
  std::ifstream nodes(node_path);
  std::ifstream tets(node_path.substr(0, node_path.size() - 5) + ".ele");
  size_t count = 0, ignored = 0, index = 0;
  nodes >> count >> ignored >> ignored >> ignored;
  mesh.nodes.resize(count);
  for (tools::Vec3d& node : mesh.nodes) nodes >> index >> node.x >> node.y >> node.z;
  tets >> count >> ignored >> ignored;
  mesh.tets.resize(count);
  for (auto& tet : mesh.tets) tets >> index >> tet[0] >> tet[1] >> tet[2] >> tet[3];
  REQUIRE(nodes.good());
  REQUIRE(tets.good());
  return mesh;
}

tools::TetMesh StandingArm(tools::TetMesh mesh) {
  for (tools::Vec3d& x : mesh.nodes) x = {-0.1 * x.x, 0.1 * x.y, -0.1 * x.z};
  for (auto& tet : mesh.tets) {
    const auto& x = mesh.nodes;
    if (tools::SixVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) < 0.0) {
      std::swap(tet[2], tet[3]);
    }
  }
  return mesh;
}

std::vector<uint32_t> NodesWithin(const ShapeAsset& shape, const tools::Vec3d& centre,
                                  double radius) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    const Eigen::Vector3d x = ToEigen(shape.simulation().nodes[i]);
    if ((x - Eigen::Vector3d(centre.x, centre.y, centre.z)).norm() <= radius) out.push_back(i);
  }
  return out;
}

}  // namespace plush::test
