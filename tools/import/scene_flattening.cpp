// SPDX-License-Identifier: MIT
// Flattens a scene of placed meshes into one surface in metres, Y up.
// Drops broken triangles and unused vertices, fills in missing normals, and places skinned meshes
// in bind pose. Source: Khronos Group. glTF 2.0 Specification, 3.7.3. 2021
#include "import/scene_flattening.h"

#include "import/affine_transform.h"
#include "mesh/box3.h"
#include "mesh/welding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

using Triangle = std::array<uint32_t, 3>;
constexpr uint32_t kNotKept = UINT32_MAX;
// A normal whose length is this close to 1 is kept bit for bit.
constexpr double kUnitTolerance = 1e-5;

// Transforms are taken as equal if no vertex of the mesh differs by more; a share of its diagonal.
// Text formats give matrices to six digits.
constexpr double kSamePlace = 1e-4;
constexpr double kFarthestJoint = 1e30;  // from the origin [m]

AffineTransform RootTransform(const Placement& placement) {
  const double s = placement.scale;
  const Vec3d x = {s, 0.0, 0.0}, y = {0.0, s, 0.0}, z = {0.0, 0.0, s};
  const Vec3d minus_y = {0.0, -s, 0.0};
  if (placement.up == 'Z') return {{x, z, minus_y}, {}};
  if (placement.up == 'X') return {{minus_y, x, z}, {}};
  return {{x, y, z}, {}};
}

float FiniteOrZero(float x) { return std::isfinite(x) ? x : 0.0f; }

bool SamePlace(const AffineTransform& a, const AffineTransform& b, const Box3& box) {
  if (box.empty()) return true;
  Box3 placed;
  double apart = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    Vec3d p = box.low;
    for (int axis = 0; axis < 3; ++axis) {
      if ((corner >> axis & 1) != 0) p[axis] = box.high[axis];
    }
    placed.Add(b.Point(p));
    apart = std::max(apart, Length(a.Point(p) - b.Point(p)));
  }
  return apart <= kSamePlace * Length(placed.Extent());
}

// The weights of each vertex as one.
std::vector<JointWeight> Merged(std::vector<JointWeight> weights) {
  std::stable_sort(weights.begin(), weights.end(),
                   [](const JointWeight& a, const JointWeight& b) { return a.vertex < b.vertex; });
  std::vector<JointWeight> merged;
  for (const JointWeight& next : weights) {
    const bool is_new = merged.empty() || merged.back().vertex != next.vertex;
    if (is_new) merged.push_back({next.vertex, 0.0f});
    merged.back().weight = std::min(1.0f, merged.back().weight + next.weight);
  }
  return merged;
}

// The joints of all skins of a scene. A joint is a node: skins that name the same node share it.
//
// Let W be the transform of a joint's node to the world, and B its inverse bind matrix. If the
// nodes are in bind pose, W B is the same for all joints of a mesh: it places the mesh, and the
// transform of the mesh's own node does not count. If the nodes are in another pose, the mesh keeps
// the shape that it has in bind pose. In glTF, W B of the highest joint then places it; in other
// formats, its own node does, as their matrices B are relative to it.
class SkinPlacement {
 public:
  // `to_world` has the transform of each node to metres, Y up; `root` is that of the scene itself.
  SkinPlacement(const RawScene& scene, std::span<const AffineTransform> to_world,
                const AffineTransform& root)
      : scene_(scene), to_world_(to_world), root_(root), joint_of_node_(scene.nodes.size(), -1) {}

  // The transform of the mesh's coordinates to the world. For a mesh without a skin, and for one
  // whose joints have no finite, invertible matrices, it is `node`, the transform of its node. So
  // it is, and the root's likewise, if they are within kSamePlace: they have fewer rounding errors.
  // Remembers the mesh's joints.
  AffineTransform Place(const RawMesh& mesh, const AffineTransform& node) {
    // Nodes come after their parents, so the lowest number is that of the highest joint.
    uint32_t highest = UINT32_MAX;
    AffineTransform place;
    std::vector<AffineTransform> places;
    for (const RawJoint& joint : mesh.joints) {
      places.push_back(
          to_world_[joint.node].After(AffineTransform::FromRowMajor(joint.inverse_bind)));
      if (!places.back().Inverse()) {
        places.pop_back();
      } else if (joint.node < highest) {
        highest = joint.node;
        place = places.back();
      }
    }
    if (places.empty()) return node;
    Box3 box;
    for (const Vec3& p : mesh.positions) {
      if (IsFinite(ToDouble(p))) box.Add(ToDouble(p));
    }
    const bool agree = std::all_of(places.begin(), places.end(), [&](const AffineTransform& other) {
      return SamePlace(other, place, box);
    });
    if (!agree && scene_.format != "glTF2") place = node;
    if (SamePlace(place, root_, box)) place = root_;
    if (SamePlace(place, node, box)) place = node;
    for (const RawJoint& joint : mesh.joints) {
      const auto bind = AffineTransform::FromRowMajor(joint.inverse_bind).Inverse();
      if (bind) AddJoint(joint.node, place.After(*bind));
    }
    return place;
  }

  // Adds the weights of a placed mesh. new_index[v] is the surface's vertex of the mesh's vertex v,
  // or kNotKept. The weights of a vertex are made to sum to one.
  void AddWeights(const RawMesh& mesh, std::span<const uint32_t> new_index) {
    std::vector<double> sums(mesh.weights.empty() ? 0 : mesh.positions.size(), 0.0);
    for (const RawWeight& weight : mesh.weights) {
      sums[weight.vertex] += static_cast<double>(weight.weight);
    }
    for (const RawWeight& weight : mesh.weights) {
      const int32_t joint = joint_of_node_[mesh.joints[weight.joint].node];
      const uint32_t vertex = new_index[weight.vertex];
      const auto share =
          static_cast<float>(static_cast<double>(weight.weight) / sums[weight.vertex]);
      if (joint < 0 || vertex == kNotKept || !(share > 0.0f)) continue;
      joints_[static_cast<size_t>(joint)].weights.push_back({vertex, share});
    }
  }

  // The joints in the order of their nodes.
  std::vector<SurfaceJoint> Finish() {
    std::vector<SurfaceJoint> ordered;
    ordered.reserve(joints_.size());
    // For each node the nearest joint at it or above it, numbered as in `ordered`.
    std::vector<int32_t> nearest(scene_.nodes.size(), -1);
    for (size_t node = 0; node < scene_.nodes.size(); ++node) {
      const int32_t parent = scene_.nodes[node].parent;
      if (parent >= 0) nearest[node] = nearest[static_cast<size_t>(parent)];
      const int32_t number = joint_of_node_[node];
      if (number < 0) continue;
      SurfaceJoint& joint = joints_[static_cast<size_t>(number)];
      joint.parent = nearest[node];
      joint.weights = Merged(std::move(joint.weights));
      nearest[node] = static_cast<int32_t>(ordered.size());
      ordered.push_back(std::move(joint));
    }
    return ordered;
  }

 private:
  // A joint of several skins has the bind pose of the first one.
  void AddJoint(uint32_t node, const AffineTransform& bind) {
    if (joint_of_node_[node] >= 0) return;
    const std::optional<Quat> rotation = NearestRotation(bind);
    if (!rotation || !(Length(bind.translation) < kFarthestJoint)) return;
    joint_of_node_[node] = static_cast<int32_t>(joints_.size());
    SurfaceJoint& joint = joints_.emplace_back();
    joint.name = scene_.nodes[node].name;
    if (joint.name.empty()) joint.name = "nodes[" + std::to_string(node) + "]";
    joint.position = bind.translation;
    joint.rotation = *rotation;
  }

  const RawScene& scene_;
  std::span<const AffineTransform> to_world_;
  const AffineTransform& root_;
  std::vector<int32_t> joint_of_node_;  // into joints_, -1: no joint
  std::vector<SurfaceJoint> joints_;
};

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
        const RawMesh& raw = scene_.meshes[mesh];
        if (!Fits(raw)) {
          return Error{ExitCode::kLimit,
                       "the scene has more than " + std::to_string(kMaxSceneVertices) +
                           " vertices or triangles, or " + std::to_string(kMaxSceneWeights) +
                           " weights of joints, once all nodes are placed",
                       "IMPORT_LIMIT"};
        }
        Place(raw, scene_.nodes[i], skins.Place(raw, to_world[i]), &skins);
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

  void Place(const RawMesh& mesh, const RawNode& node, const AffineTransform& to_world,
             SkinPlacement* skins) {
    std::vector<Vec3d> positions;
    positions.reserve(mesh.positions.size());
    for (const Vec3& p : mesh.positions) positions.push_back(to_world.Point(ToDouble(p)));
    std::vector<uint32_t> new_index(positions.size(), kNotKept);
    const std::vector<Triangle> kept = KeepTriangles(mesh, positions, &new_index);
    AddVertices(mesh, positions, to_world, &new_index);
    skins->AddWeights(mesh, new_index);
    const bool mirrored = to_world.Determinant() < 0.0;
    const auto first_triangle = static_cast<uint32_t>(surface().triangles.size());
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

  // The sound triangles. Sets the new index of their vertices to 0.
  std::vector<Triangle> KeepTriangles(const RawMesh& mesh, const std::vector<Vec3d>& positions,
                                      std::vector<uint32_t>* new_index) {
    const auto exists = [&](uint32_t v) { return v < positions.size(); };
    const auto is_finite = [&](uint32_t v) { return IsFinite(positions[v]); };
    std::vector<Triangle> kept;
    kept.reserve(mesh.triangles.size());
    for (const Triangle& t : mesh.triangles) {
      if (!std::all_of(t.begin(), t.end(), exists)) {
        ++flat_.num_out_of_range;
      } else if (!std::all_of(t.begin(), t.end(), is_finite)) {
        ++flat_.num_non_finite;
      } else {
        kept.push_back(t);
        for (const uint32_t v : t) (*new_index)[v] = 0;
      }
    }
    return kept;
  }

  // Appends the vertices with a new index, in their order, and sets that.
  void AddVertices(const RawMesh& mesh, const std::vector<Vec3d>& positions,
                   const AffineTransform& to_world, std::vector<uint32_t>* new_index) {
    const AffineTransform for_normals = to_world.ForNormals();
    const bool same_axes = for_normals.KeepsDirections();
    const size_t first_vertex = surface().positions.size();
    std::vector<uint32_t> used;
    for (uint32_t v = 0; v < positions.size(); ++v) {
      if ((*new_index)[v] == kNotKept) continue;
      (*new_index)[v] = static_cast<uint32_t>(surface().positions.size());
      used.push_back(v);
      surface().positions.push_back(positions[v]);
      AddNormal(mesh.normals.empty() ? Vec3{} : mesh.normals[v], for_normals, same_axes);
    }
    flat_.num_unreferenced += positions.size() - used.size();
    if (!mesh.uvs.empty()) surface().uvs.resize(first_vertex);
    for (size_t i = 0; !mesh.uvs.empty() && i < used.size(); ++i) {
      const Vec2& uv = mesh.uvs[used[i]];
      surface().uvs.push_back({FiniteOrZero(uv.x), FiniteOrZero(uv.y)});
    }
    for (const VertexAttribute& attribute : mesh.attributes) {
      if (attributes_.size() == kMaxAttributes && !attributes_.contains(attribute.name)) continue;
      std::vector<float>& values = attributes_[attribute.name];
      values.resize(first_vertex);
      for (const uint32_t v : used) values.push_back(FiniteOrZero(attribute.values[v]));
    }
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
