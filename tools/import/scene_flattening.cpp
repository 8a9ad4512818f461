// SPDX-License-Identifier: MIT
// Flattens a scene of placed meshes into one surface in metres, Y up.
// Drops broken triangles and unused vertices, and fills in missing normals.
#include "import/scene_flattening.h"

#include "import/skin_placement.h"
#include "mesh/welding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace plush::tools {
namespace {

using Triangle = std::array<uint32_t, 3>;
constexpr uint32_t kNotKept = UINT32_MAX;
// A normal whose length is this close to 1 is kept bit for bit.
constexpr double kUnitTolerance = 1e-5;

AffineTransform RootTransform(const Placement& placement) {
  const double s = placement.scale;
  const Vec3d x = {s, 0.0, 0.0}, y = {0.0, s, 0.0}, z = {0.0, 0.0, s};
  const Vec3d minus_y = {0.0, -s, 0.0};
  if (placement.up == 'Z') return {{x, z, minus_y}, {}};
  if (placement.up == 'X') return {{minus_y, x, z}, {}};
  return {{x, y, z}, {}};
}

float FiniteOrZero(float x) { return std::isfinite(x) ? x : 0.0f; }

// Builds the flat surface by placing one mesh after another.
class Flattener {
 public:
  explicit Flattener(const RawScene& scene) : scene_(scene) {}

  Result<FlatScene> Run(const Placement& placement) {
    const AffineTransform root = RootTransform(placement);
    std::vector<AffineTransform> to_world;
    for (const RawNode& node : scene_.nodes) {
      const AffineTransform& parent =
          node.parent < 0 ? root : to_world[static_cast<size_t>(node.parent)];
      to_world.push_back(parent.After(AffineTransform::FromRowMajor(node.to_parent)));
    }
    SkinPlacement skins(scene_, to_world, root);
    for (size_t i = 0; i < scene_.nodes.size(); ++i) {
      for (const uint32_t mesh : scene_.nodes[i].meshes) {
        if (!Fits(scene_.meshes[mesh])) return TooLarge();
        Place(scene_.meshes[mesh], scene_.nodes[i], skins.Place(scene_.meshes[mesh], to_world[i]),
              &skins);
      }
    }
    surface().joints = skins.Finish();
    return Finish();
  }

 private:
  SurfaceMesh& surface() { return flat_.surface; }

  // Counts dropped vertices and triangles too, so that the work is bounded.
  bool Fits(const RawMesh& mesh) {
    num_vertices_seen_ += mesh.positions.size();
    num_triangles_seen_ += mesh.triangles.size();
    num_weights_seen_ += mesh.weights.size() + mesh.joints.size();
    return num_vertices_seen_ <= kMaxSceneVertices && num_triangles_seen_ <= kMaxSceneTriangles &&
           num_weights_seen_ <= kMaxSceneWeights;
  }

  static Error TooLarge() {
    return {ExitCode::kLimit,
            "the scene has more than " + std::to_string(kMaxSceneVertices) +
                " vertices or triangles, or " + std::to_string(kMaxSceneWeights) +
                " weights of joints, once all nodes are placed",
            "IMPORT_LIMIT"};
  }

  void Place(const RawMesh& mesh, const RawNode& node, const AffineTransform& to_world,
             SkinPlacement* skins) {
    const auto first_triangle = static_cast<uint32_t>(surface().triangles.size());
    std::vector<Vec3d> positions;
    positions.reserve(mesh.positions.size());
    for (const Vec3& p : mesh.positions) positions.push_back(to_world.Point(ToDouble(p)));
    const std::vector<Triangle> kept = KeptTriangles(mesh, positions);
    const std::vector<uint32_t> new_index = AddVertices(mesh, positions, kept, to_world);
    skins->AddWeights(mesh, new_index);
    const bool mirrored = to_world.Determinant() < 0.0;
    for (const Triangle& t : kept) {
      Triangle placed = {new_index[t[0]], new_index[t[1]], new_index[t[2]]};
      if (mirrored) std::swap(placed[1], placed[2]);
      surface().triangles.push_back(placed);
    }
    if (kept.empty()) return;
    const std::string material = mesh.material == UINT32_MAX ? "" : scene_.materials[mesh.material];
    surface().parts.push_back(
        {mesh.name, material, node.name, first_triangle, static_cast<uint32_t>(kept.size())});
  }

  std::vector<Triangle> KeptTriangles(const RawMesh& mesh, const std::vector<Vec3d>& positions) {
    std::vector<Triangle> kept;
    kept.reserve(mesh.triangles.size());
    for (const Triangle& t : mesh.triangles) {
      const size_t n = positions.size();
      if (t[0] >= n || t[1] >= n || t[2] >= n) {
        ++flat_.num_out_of_range;
      } else if (!IsFinite(positions[t[0]]) || !IsFinite(positions[t[1]]) ||
                 !IsFinite(positions[t[2]])) {
        ++flat_.num_non_finite;
      } else {
        kept.push_back(t);
      }
    }
    return kept;
  }

  // Appends the vertices that `kept` uses, in their order. Returns each vertex's new index.
  std::vector<uint32_t> AddVertices(const RawMesh& mesh, const std::vector<Vec3d>& positions,
                                    const std::vector<Triangle>& kept,
                                    const AffineTransform& to_world) {
    std::vector<uint32_t> new_index(positions.size(), kNotKept);
    for (const Triangle& t : kept) {
      for (const uint32_t v : t) new_index[v] = 0;
    }
    const AffineTransform for_normals = to_world.ForNormals();
    const bool same_axes = for_normals.KeepsDirections();
    const size_t first_vertex = surface().positions.size();
    std::vector<uint32_t> used;
    for (uint32_t v = 0; v < positions.size(); ++v) {
      if (new_index[v] == kNotKept) {
        ++flat_.num_unreferenced;
        continue;
      }
      new_index[v] = static_cast<uint32_t>(surface().positions.size());
      used.push_back(v);
      surface().positions.push_back(positions[v]);
      AddNormal(mesh.normals.empty() ? Vec3{} : mesh.normals[v], for_normals, same_axes);
    }
    if (!mesh.uvs.empty()) {
      surface().uvs.resize(first_vertex);
      for (const uint32_t v : used) {
        surface().uvs.push_back({FiniteOrZero(mesh.uvs[v].x), FiniteOrZero(mesh.uvs[v].y)});
      }
    }
    for (const VertexAttribute& attribute : mesh.attributes) {
      if (attributes_.size() == kMaxAttributes && !attributes_.contains(attribute.name)) continue;
      std::vector<float>& values = attributes_[attribute.name];
      values.resize(first_vertex);
      for (const uint32_t v : used) values.push_back(FiniteOrZero(attribute.values[v]));
    }
    return new_index;
  }

  void AddNormal(const Vec3& source, const AffineTransform& for_normals, bool same_axes) {
    Vec3d n = ToDouble(source);
    if (!same_axes) {
      n = for_normals.Direction(n);
      // Its length might overflow or underflow, since node scales may be far from one.
      const double size = std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)});
      if (size > 0.0) n = n / size;
    }
    const double length = Length(n);
    const bool missing = !(length > 0.0) || !std::isfinite(length);
    if (std::abs(length - 1.0) > kUnitTolerance && !missing) n = n / length;
    surface().normals.push_back(missing ? Vec3{0.0f, 1.0f, 0.0f} : ToFloat(n));
    normal_missing_.push_back(missing);
  }

  FlatScene Finish() {
    const size_t num_vertices = surface().positions.size();
    if (!surface().uvs.empty()) surface().uvs.resize(num_vertices);
    for (auto& [name, values] : attributes_) {
      values.resize(num_vertices);
      surface().attributes.push_back({name, std::move(values)});
    }
    surface().extras = scene_.extras;
    FillMissingNormals(normal_missing_, &surface());
    return std::move(flat_);
  }

  const RawScene& scene_;
  FlatScene flat_;
  uint64_t num_vertices_seen_ = 0;
  uint64_t num_triangles_seen_ = 0;
  uint64_t num_weights_seen_ = 0;
  std::vector<bool> normal_missing_;                      // (num_vertices x 1)
  std::map<std::string, std::vector<float>> attributes_;  // by name
};

}  // namespace

void FillMissingNormals(const std::vector<bool>& missing, SurfaceMesh* mesh) {
  if (std::find(missing.begin(), missing.end(), true) == missing.end()) return;
  const Welding welding = WeldByPosition(*mesh);
  // Divided by the largest coordinate, squares of positions neither overflow nor underflow.
  double size = 0.0;
  for (const Vec3d& p : mesh->positions) {
    size = std::max({size, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  }
  if (size == 0.0) size = 1.0;
  std::vector<Vec3d> sums(welding.num_points);  // of the triangles' areas
  for (const Triangle& t : mesh->triangles) {
    const Vec3d a = mesh->positions[t[0]] / size;
    const Vec3d n = Cross(mesh->positions[t[1]] / size - a, mesh->positions[t[2]] / size - a);
    for (const uint32_t v : t) sums[welding.point_of_vertex[v]] += n;
  }
  for (size_t v = 0; v < missing.size(); ++v) {
    if (!missing[v]) continue;
    const Vec3d& sum = sums[welding.point_of_vertex[v]];
    const double length = Length(sum);
    mesh->normals[v] = length > 0.0 ? ToFloat(sum / length) : Vec3{0.0f, 1.0f, 0.0f};
  }
}

Result<FlatScene> FlattenScene(const RawScene& scene, const Placement& placement) {
  return Flattener(scene).Run(placement);
}

}  // namespace plush::tools
