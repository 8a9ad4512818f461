// SPDX-License-Identifier: MIT
// Finds triangles that are not strictly inside a cage: class Follower follows each across faces.
// TetSides decides most sides by rounded products, the others by mesh/exact_predicates.h.
#include "enclosure/enclosure.h"

#include "lattice/cage_boundary.h"
#include "mesh/disjoint_sets.h"
#include "mesh/exact_predicates.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush::tools {
namespace {

// A product of three differences has fewer than ten relative rounding errors of 2^-53, and so has a
// sum of such products. This bound is four times as large.
constexpr double kRelative = 5e-15;

// Bounds of the losses to underflow: in products of two differences, and in the result.
constexpr double kUnderflow = 1e-280;
constexpr double kUnderflowOfResult = 1e-300;

// Bound of the absolute error of each component of Cross(u, v).
Vec3d ErrorOfCross(const Vec3d& u, const Vec3d& v) {
  const Vec3d a = {std::abs(u.x), std::abs(u.y), std::abs(u.z)};
  const Vec3d b = {std::abs(v.x), std::abs(v.y), std::abs(v.z)};
  const Vec3d size = {a.y * b.z + a.z * b.y, a.z * b.x + a.x * b.z, a.x * b.y + a.y * b.x};
  return (size + Vec3d{kUnderflow, kUnderflow, kUnderflow}) * kRelative;
}

using Corners = Triangle3;

// Follows one triangle through the cage.
class Follower {
 public:
  Follower(const TetMesh& mesh, const CageFaces& faces, const TetSides& sides)
      : mesh_(mesh), faces_(faces), sides_(sides) {}

  // `tets` hold the corners of the triangle.
  bool Holds(const Corners& triangle, const std::array<uint32_t, 3>& tets) const {
    const bool in_one_tet = tets[0] == tets[1] && tets[1] == tets[2];
    if (in_one_tet && IsOffBoundary(triangle, tets[0])) return true;
    return HoldsFrom(triangle, tets, faces_.branches.empty());
  }

  // The same without branches. From either side of a branch the triangle reaches the tet in front
  // of it, where the face leads to several strands.
  bool HoldsInOneStrand(const Corners& triangle, const std::array<uint32_t, 3>& tets) const {
    return faces_.branches.empty() ? Holds(triangle, tets) : HoldsFrom(triangle, tets, true);
  }

 private:
  // Whether the triangle meets none of the tet's boundary faces. Its corners lie in the tet.
  bool IsOffBoundary(const Corners& triangle, uint32_t tet) const {
    for (size_t corner = 0; corner < 4; ++corner) {
      if (faces_.neighbours[tet][corner] != kBoundaryFace) continue;
      for (const Vec3d& p : triangle) {
        if (sides_.SideOf(tet, corner, p) >= 0) return false;
      }
    }
    return true;
  }

  // The side of each face of a tet on which each corner of the triangle lies.
  using Sides = std::array<std::array<int, 3>, 4>;
  Sides SidesTo(uint32_t tet, const Corners& triangle) const {
    Sides sides;
    for (size_t face = 0; face < 4; ++face) {
      for (size_t i = 0; i < 3; ++i) sides[face][i] = sides_.SideOf(tet, face, triangle[i]);
    }
    return sides;
  }

  static bool AreAll(const std::array<int, 3>& sides, int side) {
    return sides[0] == side && sides[1] == side && sides[2] == side;
  }

  // Whether corner `i` of the triangle lies behind, or in, the planes of all faces but `face`.
  static bool IsBehindOthers(const Sides& sides, size_t face, size_t i) {
    for (size_t other = 0; other < 4; ++other) {
      if (other != face && sides[other][i] > 0) return false;
    }
    return true;
  }

  // Whether the triangle meets a face of the tet. The sides nearly always decide it.
  bool Meets(const Corners& triangle, uint32_t tet, size_t face, const Sides& sides) const {
    if (AreAll(sides[face], -1)) return false;
    for (const auto& of_face : sides) {
      if (AreAll(of_face, 1)) return false;
    }
    bool inside = false;
    bool outside = false;
    for (size_t i = 0; i < 3; ++i) {
      if (!IsBehindOthers(sides, face, i)) continue;
      inside = inside || sides[face][i] <= 0;
      outside = outside || sides[face][i] >= 0;
    }
    // The region behind the other three planes is convex. Two corners in it, on different sides of
    // the face's plane, mean that the triangle crosses the face.
    if (inside && outside) return true;
    const auto [a, b, c] = FaceOf(mesh_.tets[tet], face);
    return TrianglesIntersect(triangle, {mesh_.nodes[a], mesh_.nodes[b], mesh_.nodes[c]});
  }

  // A face that the triangle meets, of tet `from`. One of the tets `to` across it must hold what
  // passes it: the only one, or a strand behind a branch. A boundary face has none.
  struct Passage {
    uint32_t from = 0;
    std::vector<uint32_t> to;
  };

  // Follows the triangle from the tets of its corners into all strands, then rejects tets that
  // cannot hold their part of it: those with a passage of which all tets are rejected. Of any two
  // sets of tets that hold the triangle, the union holds it too, so what is left is the largest,
  // and no strand need be tried after the other. `one_strand`: no branch may be met.
  bool HoldsFrom(const Corners& triangle, const std::array<uint32_t, 3>& sources,
                 bool one_strand) const {
    std::vector<uint32_t> tets;
    const auto index_of = [&tets](uint32_t tet) {
      const auto at =
          static_cast<uint32_t>(std::find(tets.begin(), tets.end(), tet) - tets.begin());
      if (at == tets.size()) tets.push_back(tet);
      return at;
    };
    for (const uint32_t tet : sources) index_of(tet);
    const size_t num_sources = tets.size();
    std::vector<Passage> passages;
    for (uint32_t next = 0; next < tets.size(); ++next) {
      const uint32_t tet = tets[next];
      const Sides sides = SidesTo(tet, triangle);
      for (size_t corner = 0; corner < 4; ++corner) {
        if (!Meets(triangle, tet, corner, sides)) continue;
        Passage passage = {next, faces_.Across(mesh_, tet, corner)};
        if (one_strand && passage.to.size() != 1) return false;
        for (uint32_t& other : passage.to) other = index_of(other);
        passages.push_back(std::move(passage));
      }
    }
    std::vector<bool> rejected(tets.size(), false);
    const auto is_rejected = [&rejected](uint32_t at) { return rejected[at]; };
    for (bool changed = true; changed;) {
      changed = false;
      for (const Passage& passage : passages) {
        if (rejected[passage.from] || !std::ranges::all_of(passage.to, is_rejected)) continue;
        rejected[passage.from] = true;
        changed = true;
      }
    }
    DisjointSets sets(static_cast<uint32_t>(tets.size()));
    for (const Passage& passage : passages) {
      for (const uint32_t to : passage.to) {
        if (!rejected[passage.from] && !rejected[to]) sets.Join(passage.from, to);
      }
    }
    for (uint32_t i = 0; i < num_sources; ++i) {
      if (rejected[i] || sets.Find(i) != sets.Find(0)) return false;
    }
    return true;
  }

  const TetMesh& mesh_;
  const CageFaces& faces_;
  const TetSides& sides_;
};

}  // namespace

TetSides::TetSides(const TetMesh& mesh) : mesh_(mesh), planes_(mesh.tets.size()) {
  for (size_t t = 0; t < planes_.size(); ++t) {
    for (size_t corner = 0; corner < 4; ++corner) {
      const auto [a, b, c] = FaceOf(mesh.tets[t], corner);
      const Vec3d u = mesh.nodes[b] - mesh.nodes[a];
      const Vec3d v = mesh.nodes[c] - mesh.nodes[a];
      planes_[t][corner] = {mesh.nodes[a], Cross(u, v), ErrorOfCross(u, v)};
    }
  }
}

int TetSides::SideOf(uint32_t tet, size_t corner, const Vec3d& point) const {
  const Plane& plane = planes_[tet][corner];
  const Vec3d to = point - plane.corner;
  const double height = Dot(plane.normal, to);
  const double error = plane.error.x * std::abs(to.x) + plane.error.y * std::abs(to.y) +
                       plane.error.z * std::abs(to.z) + kUnderflowOfResult;
  if (std::abs(height) > error) return height > 0.0 ? 1 : -1;
  const auto [a, b, c] = FaceOf(mesh_.tets[tet], corner);
  return Orient3dSign(mesh_.nodes[a], mesh_.nodes[b], mesh_.nodes[c], point);
}

bool TetSides::Contains(uint32_t tet, const Vec3d& point) const {
  if (tet >= planes_.size()) return false;
  for (size_t corner = 0; corner < 4; ++corner) {
    if (SideOf(tet, corner, point) > 0) return false;
  }
  return true;
}

bool EnclosureTest::Holds(const Triangle3& triangle, const std::array<uint32_t, 3>& tets) const {
  return Follower(mesh_, faces_, sides_).Holds(triangle, tets);
}

bool EnclosureTest::HoldsInOneStrand(const Triangle3& triangle,
                                     const std::array<uint32_t, 3>& tets) const {
  return Follower(mesh_, faces_, sides_).HoldsInOneStrand(triangle, tets);
}

std::vector<uint32_t> FindEscapes(const TetMesh& mesh, const CageFaces& faces,
                                  std::span<const Vec3d> points,
                                  std::span<const std::array<uint32_t, 3>> triangles,
                                  std::span<const uint32_t> tet_of_point) {
  const EnclosureTest test(mesh, faces);
  std::vector<uint8_t> located(points.size());
  tbb::parallel_for(size_t{0}, points.size(), [&](size_t p) {
    located[p] = test.Contains(tet_of_point[p], points[p]) ? 1 : 0;
  });
  std::vector<uint8_t> escapes(triangles.size(), 0);
  tbb::parallel_for(size_t{0}, triangles.size(), [&](size_t t) {
    const auto& [a, b, c] = triangles[t];
    const bool holds = located[a] != 0 && located[b] != 0 && located[c] != 0 &&
                       test.Holds({points[a], points[b], points[c]},
                                  {tet_of_point[a], tet_of_point[b], tet_of_point[c]});
    escapes[t] = holds ? 0 : 1;
  });
  std::vector<uint32_t> out;
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    if (escapes[t] != 0) out.push_back(t);
  }
  return out;
}

}  // namespace plush::tools
