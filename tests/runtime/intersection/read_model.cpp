// SPDX-License-Identifier: MIT
#include "runtime/intersection/read_model.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>

namespace plush::test {

tools::SurfaceMesh ReadModel(const std::string& path) {
  tools::SurfaceMesh mesh;
  std::ifstream file(path);
  for (std::string kind; file >> kind;) {
    if (kind == "v") {
      tools::Vec3d& p = mesh.positions.emplace_back();
      file >> p.x >> p.y >> p.z;
    } else if (kind == "f") {
      auto& t = mesh.triangles.emplace_back();
      file >> t[0] >> t[1] >> t[2];
      for (uint32_t& corner : t) --corner;
    }
  }
  REQUIRE(mesh.positions.size() > 100);
  tools::Vec3d low = mesh.positions[0], high = low;
  for (const tools::Vec3d& p : mesh.positions) low = Min(low, p), high = Max(high, p);
  const tools::Vec3d size = high - low, middle = (low + high) * 0.5;
  const double scale = 1.0 / std::sqrt(Dot(size, size));
  for (tools::Vec3d& p : mesh.positions) p = (p - middle) * scale;
  tests::CompleteMesh(&mesh);
  return mesh;
}

tools::SurfaceMesh StandUp(tools::SurfaceMesh mesh) {
  const double c = std::sqrt(0.75), s = 0.5;
  for (tools::Vec3d& p : mesh.positions) {
    const tools::Vec3d up = {p.x, -p.z, p.y};
    p = {up.x * c + up.z * s, up.y, -up.x * s + up.z * c};
  }
  return mesh;
}

std::vector<Vec3> Bent(const std::vector<Vec3>& rest, double height, Random* random) {
  std::vector<Vec3> x = rest;
  for (int wave = 0; wave < 4; ++wave) {
    const Eigen::Vector3d along = random->Direction() * random->Uniform(6.0, 25.0);
    const Eigen::Vector3d way = random->Vector(height);
    const double phase = random->Uniform(0.0, 6.0);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += ToVec3(way * std::sin(along.dot(ToEigen(rest[i])) + phase));
    }
  }
  return x;
}

}  // namespace plush::test
