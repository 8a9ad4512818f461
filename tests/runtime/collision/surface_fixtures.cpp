// SPDX-License-Identifier: MIT
#include "runtime/collision/surface_fixtures.h"

#include "plush/allocator.h"

#include "bake/asset_writer.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "mesh/topology.h"
#include "partition/patches.h"

#include <catch2/catch.hpp>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace plush::test {
namespace {

using tools::Carrier;
using tools::CutSurface;
using tools::Vec3d;

// A point, given by its weights for nodes.
using Weights = std::map<uint32_t, double>;

class SurfaceBuilder {
 public:
  SurfaceBuilder(const tools::TetMesh& mesh, const SurfaceShape& shape)
      : mesh_(mesh), shape_(shape), random_(shape.seed) {}

  CutSurface Build() {
    AddSkin();
    surface_.sources.resize(surface_.sources.size() - shape_.holes);
    surface_.tets.resize(surface_.tets.size() - shape_.holes);
    surface_.triangles.resize(surface_.triangles.size() - shape_.holes);
    for (uint32_t i = 0; i < shape_.num_shells; ++i) {
      AddShell(random_.Below(static_cast<uint32_t>(mesh_.tets.size())));
    }
    surface_.opposite = tools::PairHalfEdges(surface_.points, surface_.triangles);
    return surface_;
  }

 private:
  static constexpr std::array<std::array<size_t, 3>, 4> kFaces = {
      {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

  // Returns the point's index. Points with the same weights are one point.
  uint32_t Point(const Weights& weights) {
    Carrier carrier;
    Vec3d x = {};
    for (const auto& [node, weight] : weights) {
      if (weight == 0.0) continue;
      carrier.nodes[carrier.count] = node;
      carrier.weights[carrier.count++] = weight;
      x = x + mesh_.nodes[node] * weight;
    }
    const auto key = std::make_pair(carrier.nodes, carrier.weights);
    const auto [place, is_new] =
        points_.emplace(key, static_cast<uint32_t>(surface_.points.size()));
    if (is_new) {
      surface_.points.push_back(x);
      surface_.carriers.push_back(carrier);
    }
    return place->second;
  }

  void AddTriangle(uint32_t tet, uint32_t a, uint32_t b, uint32_t c) {
    surface_.sources.push_back(0);
    surface_.tets.push_back(tet);
    surface_.triangles.push_back({a, b, c});
  }

  // A face cut into parts^2 triangles. Points inside the face are lowered.
  void AddFace(uint32_t tet, size_t face) {
    const auto& ids = mesh_.tets[tet];
    const uint32_t n = shape_.parts, opposite = ids[face];
    std::vector<std::vector<uint32_t>> grid(n + 1);
    for (uint32_t i = 0; i <= n; ++i) {
      for (uint32_t j = 0; j <= n - i; ++j) {
        const uint32_t k = n - i - j;
        const bool inside = i > 0 && j > 0 && k > 0;
        const double below = inside ? random_.Uniform(0.0, shape_.depth) : 0.0;
        Weights weights;
        const double parts[3] = {double(i) / n, double(j) / n, double(k) / n};
        for (size_t c = 0; c < 3; ++c) weights[ids[kFaces[face][c]]] = parts[c] * (1.0 - below);
        if (inside) weights[opposite] = below;
        grid[i].push_back(Point(weights));
      }
    }
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t j = 0; j < n - i; ++j) {
        AddTriangle(tet, grid[i][j], grid[i + 1][j], grid[i][j + 1]);
        if (j + 1 < n - i) AddTriangle(tet, grid[i + 1][j], grid[i + 1][j + 1], grid[i][j + 1]);
      }
    }
  }

  void AddSkin() {
    std::map<std::array<uint32_t, 3>, int> uses;
    const auto key = [&](uint32_t tet, size_t face) {
      std::array<uint32_t, 3> ids = {};
      for (size_t c = 0; c < 3; ++c) ids[c] = mesh_.tets[tet][kFaces[face][c]];
      std::sort(ids.begin(), ids.end());
      return ids;
    };
    const auto num_tets = static_cast<uint32_t>(mesh_.tets.size());
    for (uint32_t t = 0; t < num_tets; ++t) {
      for (size_t face = 0; face < 4; ++face) ++uses[key(t, face)];
    }
    for (uint32_t t = 0; t < num_tets; ++t) {
      for (size_t face = 0; face < 4; ++face) {
        if (uses[key(t, face)] == 1) AddFace(t, face);
      }
    }
  }

  // A closed shell: an octahedron with random corners, each face cut into parts.
  void AddShell(uint32_t tet) {
    std::array<Weights, 6> corners;
    const double middle = 0.25, size = random_.Uniform(0.02, 0.15);
    for (size_t i = 0; i < 6; ++i) {
      double w[4] = {middle, middle, middle, middle};
      w[i / 2] += i % 2 == 0 ? size : -size;
      w[3] += i % 2 == 0 ? -size : size;
      for (size_t k = 0; k < 4; ++k) corners[i][mesh_.tets[tet][k]] = w[k];
    }
    for (size_t i = 0; i < 8; ++i) {
      const size_t a = i & 1, b = 2 + (i >> 1 & 1), c = 4 + (i >> 2 & 1);
      const bool turned = ((i ^ i >> 1 ^ i >> 2) & 1) != 0;
      AddShellFace(tet, corners[a], corners[turned ? c : b], corners[turned ? b : c]);
    }
  }

  void AddShellFace(uint32_t tet, const Weights& a, const Weights& b, const Weights& c) {
    const uint32_t n = shape_.parts;
    const auto point = [&](uint32_t i, uint32_t j) {
      Weights weights;
      // Points that two faces share get the same numbers: i, j, k times multiples of 1/n.
      for (const auto& [node, weight] : a) {
        weights[node] = (weight * i + b.at(node) * j + c.at(node) * (n - i - j)) / n;
      }
      for (auto& [node, weight] : weights) weight = std::round(weight * 0x1p40) * 0x1p-40;
      return Point(weights);
    };
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t j = 0; j < n - i; ++j) {
        AddTriangle(tet, point(i, j), point(i + 1, j), point(i, j + 1));
        if (j + 1 < n - i) AddTriangle(tet, point(i + 1, j), point(i + 1, j + 1), point(i, j + 1));
      }
    }
  }

  const tools::TetMesh& mesh_;
  SurfaceShape shape_;
  Random random_;
  CutSurface surface_;
  std::map<std::pair<std::array<uint32_t, 4>, std::array<double, 4>>, uint32_t> points_;
};

}  // namespace

void AddSurface(const SurfaceShape& shape, tools::AssetContent* content) {
  tools::TetMesh stored;  // with the file's numbering
  for (const Vec3& node : content->rest.nodes) stored.nodes.push_back({node.x, node.y, node.z});
  for (const Tet& tet : content->rest.tets) stored.tets.push_back({tet.a, tet.b, tet.c, tet.d});
  const CutSurface surface = SurfaceBuilder(stored, shape).Build();
  // TBB is built without the thread sanitizer, which checks the runtime.
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  content->collision =
      LayOutCollision(surface, tools::FindPatches(surface), stored, {}, shape.record);
}

std::vector<std::byte> SurfaceBytes(const tools::TetMesh& mesh, const SurfaceShape& shape) {
  tools::AssetContent content = ContentOf(mesh);
  AddSurface(shape, &content);
  auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

SurfaceBody::SurfaceBody(const tools::TetMesh& mesh, const SurfaceShape& shape)
    : SurfaceBody(SurfaceBytes(mesh, shape)) {}

SurfaceBody::SurfaceBody(std::vector<std::byte> bytes) : shape_(std::move(bytes)) {
  REQUIRE(state_.Reserve(DefaultAllocator(), surface(), shape_.num_nodes()));
  for (uint32_t p = 0; p < surface().patches.size(); ++p) {
    patch_of_.resize(TrianglesEnd(surface(), p), p);
  }
  Move(shape_.rest());
}

void SurfaceBody::Move(std::vector<Vec3> x) {
  x_ = std::move(x);
  Refit(surface(), x_, &state_);
}

uint32_t SurfaceBody::PatchOf(uint32_t triangle) const { return patch_of_[triangle]; }

uint32_t SurfaceBody::TetOf(uint32_t triangle) const {
  return surface().patches[patch_of_[triangle]].tet;
}

uint32_t SurfaceBody::Corner(uint32_t triangle, int corner) const {
  return WithTriangles(surface(), [&](const auto& t) { return VertexOf(t[triangle], corner); });
}

uint64_t SurfaceBody::Bounds(uint32_t triangle) const {
  return WithTriangles(surface(), [&](const auto& t) { return BoundsOf(t[triangle]); });
}

Vec3 SurfaceBody::CornerPosition(uint32_t triangle, int corner) const {
  return VertexPosition(NodesOf(surface().tets[TetOf(triangle)], x_),
                        surface().vertices[Corner(triangle, corner)]);
}

Eigen::Vector3d MiddleOfHoles(const SurfaceBody& body) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  int edges = 0;
  for (uint32_t t = 0; t < body.surface().num_triangles(); ++t) {
    for (int k = 0; k < 3; ++k) {
      if (NeighbourOf(body.surface().triangles[t], k) != kNoTriangle) continue;
      sum += ToEigen(body.CornerPosition(t, k));
      ++edges;
    }
  }
  REQUIRE(edges > 0);
  return sum / edges;
}

std::vector<Vec3> Deform(const std::vector<Vec3>& rest, Deformation kind, Random* random) {
  const Points x = ToEigen(rest);
  const auto count = static_cast<size_t>(x.cols());
  const auto nearly = [&](double size) {
    return random->Below(2) == 0 ? Points(Points::Zero(3, x.cols())) : random->Vectors(count, size);
  };
  switch (kind) {
    // One random number per statement: compilers may evaluate an expression in any order.
    case Deformation::kGentle: {
      const Points shaken = x + random->Vectors(count, 0.01);
      return ToVec3s(random->Rotation() * shaken);
    }
    case Deformation::kAffine: {
      const Eigen::Vector3d moved = random->Vector(1.0);
      return ToVec3s((random->Matrix(2.0) * x).colwise() + moved);
    }
    case Deformation::kRandom:
      return ToVec3s(random->Vectors(count, random->Uniform(0.1, 2.0)));
    case Deformation::kFlat: {
      const Eigen::Vector3d n = random->Direction();
      return ToVec3s(x - n * (n.transpose() * x) +
                     nearly(std::pow(10.0, random->Uniform(-9.0, -3.0))));
    }
    case Deformation::kLine: {
      const Eigen::Vector3d n = random->Direction();
      return ToVec3s(n * (n.transpose() * x) + nearly(std::pow(10.0, random->Uniform(-9.0, -3.0))));
    }
    case Deformation::kPoint: {
      const Eigen::Vector3d moved = random->Vector(1.0);
      return ToVec3s(nearly(1e-6).colwise() + moved);
    }
    case Deformation::kTiny:
      return ToVec3s((x * 1e-12).colwise() + random->Vector(random->Below(2) == 0 ? 0.0 : 1e-12));
    case Deformation::kFar:
      return ToVec3s(x.colwise() + random->Vector(std::pow(10.0, random->Uniform(1.0, 8.0))));
    case Deformation::kLarge:
      return ToVec3s(x * 1e12 + random->Vectors(count, 1e10));
    case Deformation::kSomeFlat: {
      Points y = x;
      for (const uint32_t i : random->Nodes(count, 0.2)) {
        y.col(i) = y.col(random->Below(static_cast<uint32_t>(count)));
      }
      return ToVec3s(y + nearly(1e-4));
    }
    case Deformation::kCount:
      break;
  }
  return rest;
}

}  // namespace plush::test
