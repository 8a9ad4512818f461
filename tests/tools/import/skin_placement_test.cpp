// SPDX-License-Identifier: MIT
// Skinned meshes in scenes: placed in bind pose, with the joints' poses and weights. The reference
// multiplies 4x4 matrices.
#include "import/affine_transform.h"
#include "import/scene_flattening.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

namespace skin_placement_test {

using plush::Quat;
using plush::Vec3;
using plush::tools::AffineTransform;
using plush::tools::FlattenScene;
using plush::tools::NearestRotation;
using plush::tools::Placement;
using plush::tools::RawMesh;
using plush::tools::RawNode;
using plush::tools::RawScene;
using plush::tools::SurfaceJoint;
using plush::tools::SurfaceMesh;
using plush::tools::Vec3d;
using Matrix = std::array<double, 16>;  // row-major

constexpr uint32_t kSeed = 4711;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  double Uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_()) / 4294967296.0);
  }
  Vec3d Vector(double size) {
    return {Uniform(-size, size), Uniform(-size, size), Uniform(-size, size)};
  }
  Quat Rotation() {
    const double q[4] = {Uniform(-1, 1), Uniform(-1, 1), Uniform(-1, 1), Uniform(-1, 1)};
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    return {float(q[0] / length), float(q[1] / length), float(q[2] / length), float(q[3] / length)};
  }

 private:
  std::mt19937 engine_;
};

// v turned by q, by the formula with two cross products.
Vec3d Turned(const Quat& q, const Vec3d& v) {
  const Vec3d u = {q.x, q.y, q.z}, t = 2.0 * Cross(u, v);
  return v + double{q.w} * t + Cross(u, t);
}

Matrix MatrixOf(const Vec3d& position, const Quat& rotation, double scale) {
  Matrix m = {};
  for (int column = 0; column < 3; ++column) {
    const Vec3d axis = scale * Turned(rotation, {column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0,
                                                 column == 2 ? 1.0 : 0.0});
    for (int row = 0; row < 3; ++row) m[size_t(4 * row + column)] = axis[row];
  }
  for (int row = 0; row < 3; ++row) m[size_t(4 * row + 3)] = position[row];
  m[15] = 1.0;
  return m;
}

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix c = {};
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      for (size_t k = 0; k < 4; ++k) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
    }
  }
  return c;
}

Vec3d Moved(const Matrix& m, const Vec3d& p) {
  return {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
          m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}

// The inverse of a matrix that MatrixOf made.
Matrix InverseOf(const Vec3d& position, const Quat& rotation, double scale) {
  const Quat back = {-rotation.x, -rotation.y, -rotation.z, rotation.w};
  return MatrixOf((-1.0 / scale) * Turned(back, position), back, 1.0 / scale);
}

std::array<float, 16> ToFloats(const Matrix& m) {
  std::array<float, 16> floats;
  for (size_t i = 0; i < 16; ++i) floats[i] = static_cast<float>(m[i]);
  return floats;
}

bool SameRotation(const Quat& a, const Quat& b, double tolerance = 1e-5) {
  return std::abs(double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w) >
         1.0 - tolerance;
}

// A mesh of two triangles below a node, two joints under an armature, all nodes in bind pose.
struct Skeleton {
  Matrix armature, mesh_node, to_bind[2];
  Vec3d joint_position[2];  // in the mesh's coordinates
  Quat joint_rotation[2];
  RawScene scene;

  explicit Skeleton(uint32_t seed) {
    Random random(seed);
    const double scale = random.Uniform(0.01, 2.0);
    armature = MatrixOf(random.Vector(3.0), random.Rotation(), scale);
    mesh_node = MatrixOf(random.Vector(3.0), random.Rotation(), random.Uniform(0.1, 3.0));
    for (int i = 0; i < 2; ++i) {
      joint_position[i] = random.Vector(1.0);
      joint_rotation[i] = random.Rotation();
      to_bind[i] = InverseOf(joint_position[i], joint_rotation[i], 1.0);
    }
    const Matrix root = MatrixOf(joint_position[0], joint_rotation[0], 1.0);
    const Matrix child = Product(to_bind[0], MatrixOf(joint_position[1], joint_rotation[1], 1.0));
    scene.format = "glTF2";
    scene.nodes = {Node("mesh", -1, mesh_node), Node("armature", -1, armature),
                   Node("hip", 1, root), Node("between", 2, MatrixOf({}, {}, 1.0)),
                   Node("knee", 3, child)};
    scene.nodes[0].meshes = {0};
    RawMesh mesh;
    for (int i = 0; i < 6; ++i) {
      const Vec3d p = random.Vector(1.0);
      mesh.positions.push_back({float(p.x), float(p.y), float(p.z)});
    }
    mesh.triangles = {{0, 1, 2}, {2, 3, 4}};  // vertex 5 is loose
    mesh.joints = {{2, ToFloats(to_bind[0])}, {4, ToFloats(to_bind[1])}};
    mesh.weights = {{0, 0, 1.0f}, {1, 1, 0.3f}, {1, 0, 0.3f}, {2, 1, 0.2f},
                    {2, 1, 0.2f}, {2, 0, 0.1f}, {5, 0, 1.0f}, {4, 1, 1e-30f}};
    scene.meshes = {mesh};
  }

  static RawNode Node(const char* name, int32_t parent, const Matrix& to_parent) {
    RawNode node = {.name = name, .parent = parent};
    node.to_parent = to_parent;
    return node;
  }

  // Requires that the mesh was placed by `place`, and the joints with it.
  void RequirePlaced(const SurfaceMesh& surface, const Matrix& place, double scale_of_place) const {
    REQUIRE(surface.positions.size() == 5);
    for (size_t v = 0; v < 5; ++v) {
      const Vec3 p = scene.meshes[0].positions[v];
      REQUIRE(Length(surface.positions[v] - Moved(place, {p.x, p.y, p.z})) <
              1e-5 * (1.0 + scale_of_place));
    }
    REQUIRE(surface.joints.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
      const SurfaceJoint& joint = surface.joints[i];
      REQUIRE(Length(joint.position - Moved(place, joint_position[i])) <
              1e-5 * (1.0 + scale_of_place));
      // The joint's x and y axes, turned with the mesh.
      for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}}) {
        const Vec3d there = Moved(place, joint_position[i] + Turned(joint_rotation[i], axis)) -
                            Moved(place, joint_position[i]);
        REQUIRE(Length(Turned(joint.rotation, axis) - there / Length(there)) < 1e-5);
      }
    }
  }
};

SurfaceMesh Flat(const RawScene& scene, const Placement& placement = {}) {
  const auto flat = FlattenScene(scene, placement);
  REQUIRE(flat.ok());
  return flat.value().surface;
}

TEST_CASE("In bind pose the joints place the mesh, not its node") {
  const uint32_t seed = GENERATE(range(kSeed, kSeed + 20));
  CAPTURE(seed);
  const Skeleton skeleton(seed);
  const SurfaceMesh surface = Flat(skeleton.scene);
  skeleton.RequirePlaced(surface, skeleton.armature, 2.0);
  CHECK(surface.joints[0].name == "hip");
  CHECK(surface.joints[0].parent == -1);
  CHECK(surface.joints[1].name == "knee");
  CHECK(surface.joints[1].parent == 0);  // the node between is no joint
}

TEST_CASE("Unit and axes apply to bind poses as to the mesh") {
  const Skeleton skeleton(kSeed);
  const SurfaceMesh surface = Flat(skeleton.scene, {0.01, 'Z'});
  // x, y, z becomes x, z, -y, in centimetres.
  const Matrix root = {0.01, 0, 0, 0, 0, 0, 0.01, 0, 0, -0.01, 0, 0, 0, 0, 0, 1};
  skeleton.RequirePlaced(surface, Product(root, skeleton.armature), 0.0);
}

TEST_CASE("A mesh at the joints' own place keeps its positions bit for bit") {
  Skeleton skeleton(kSeed);
  skeleton.scene.nodes[1].to_parent = MatrixOf({}, {}, 1.0);
  const SurfaceMesh surface = Flat(skeleton.scene);
  for (size_t v = 0; v < 5; ++v) {
    const Vec3 p = skeleton.scene.meshes[0].positions[v];
    CHECK(surface.positions[v] == Vec3d{p.x, p.y, p.z});
  }
  // Likewise if they put it where its node is.
  skeleton.scene.nodes[0].to_parent = skeleton.armature;
  skeleton.scene.nodes[1].to_parent = skeleton.armature;
  RawScene without = skeleton.scene;
  without.meshes[0].joints.clear();
  without.meshes[0].weights.clear();
  CHECK(Flat(skeleton.scene).positions == Flat(without).positions);
  CHECK(Flat(without).joints.empty());
}

TEST_CASE("If nodes are in another pose, the mesh still has the shape of the bind pose") {
  const uint32_t seed = GENERATE(range(kSeed, kSeed + 10));
  CAPTURE(seed);
  Skeleton skeleton(seed);
  Random random(seed + 1);
  const Matrix bend = MatrixOf(random.Vector(0.5), random.Rotation(), 1.0);
  skeleton.scene.nodes[4].to_parent = Product(skeleton.scene.nodes[4].to_parent, bend);
  SECTION("a bent knee changes nothing in glTF") {
    skeleton.RequirePlaced(Flat(skeleton.scene), skeleton.armature, 2.0);
  }
  SECTION("the highest joint moves the whole mesh in glTF") {
    const Matrix hip = Product(skeleton.scene.nodes[2].to_parent, bend);
    skeleton.scene.nodes[2].to_parent = hip;
    const Matrix place = Product(skeleton.armature, Product(hip, skeleton.to_bind[0]));
    skeleton.RequirePlaced(Flat(skeleton.scene), place, 4.0);
  }
  SECTION("the mesh's node counts in other formats") {
    skeleton.scene.format = "fbx";
    skeleton.RequirePlaced(Flat(skeleton.scene), skeleton.mesh_node, 4.0);
  }
}

TEST_CASE("Weights of a vertex sum to one, each joint once") {
  const SurfaceMesh surface = Flat(Skeleton(kSeed).scene);
  const auto& hip = surface.joints[0].weights;
  const auto& knee = surface.joints[1].weights;
  REQUIRE(hip.size() == 3);
  CHECK(hip[0].vertex == 0);
  CHECK(hip[0].weight == 1.0f);
  CHECK(hip[1].vertex == 1);
  CHECK(hip[1].weight == 0.5f);
  CHECK(hip[2].vertex == 2);
  CHECK(hip[2].weight == Approx(0.2f));
  REQUIRE(knee.size() == 3);
  CHECK(knee[1].vertex == 2);
  CHECK(knee[1].weight == Approx(0.8f));
  CHECK(knee[2].vertex == 4);
  CHECK(knee[2].weight == 1.0f);  // alone, however small
}

TEST_CASE("Joints without a usable matrix are left out") {
  Skeleton skeleton(kSeed);
  const int fault = GENERATE(0, 1, 2);
  CAPTURE(fault);
  auto& matrix = skeleton.scene.meshes[0].joints[0].inverse_bind;
  if (fault == 0) matrix.fill(0.0f);
  if (fault == 1) matrix[5] = kNan;
  if (fault == 2) matrix[3] = std::numeric_limits<float>::infinity();
  SurfaceMesh surface = Flat(skeleton.scene);
  REQUIRE(surface.joints.size() == 1);
  CHECK(surface.joints[0].name == "knee");
  CHECK(surface.joints[0].parent == -1);
  CHECK(surface.joints[0].weights[0].weight == 0.5f);  // the other half belongs to the hip
  // Without any usable joint, the mesh's node places it.
  skeleton.scene.meshes[0].joints[1].inverse_bind = matrix;
  surface = Flat(skeleton.scene);
  CHECK(surface.joints.empty());
  const Vec3 p = skeleton.scene.meshes[0].positions[0];
  CHECK(Length(surface.positions[0] - Moved(skeleton.mesh_node, {p.x, p.y, p.z})) < 1e-9);
}

TEST_CASE("A mesh placed twice has its weights twice") {
  Skeleton skeleton(kSeed);
  skeleton.scene.nodes[1].meshes = {0};
  const SurfaceMesh surface = Flat(skeleton.scene);
  REQUIRE(surface.positions.size() == 10);
  REQUIRE(surface.joints.size() == 2);
  CHECK(surface.joints[0].weights.size() == 6);
  CHECK(surface.joints[0].weights[3].vertex == 5);
}

TEST_CASE("The nearest rotation of a scaled, sheared or mirrored one") {
  Random random(kSeed);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const Quat q = random.Rotation();
    const double scale = i % 2 == 0 ? random.Uniform(1e-3, 1e3) : -random.Uniform(1e-3, 1e3);
    const auto found =
        NearestRotation(AffineTransform::FromRowMajor(MatrixOf(random.Vector(1.0), q, scale)));
    REQUIRE(found.has_value());
    CHECK(SameRotation(*found, q, 1e-6));
    CHECK(found->w >= 0.0f);
    // R S with a symmetric, positive definite S has the nearest rotation R.
    Matrix stretch = {};
    for (int axis = 0; axis < 3; ++axis) {
      const Vec3d d = random.Vector(1.0);
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
          stretch[size_t(4 * row + column)] += d[row] * d[column] + (row == column ? 0.1 : 0.0);
        }
      }
    }
    stretch[15] = 1.0;
    const auto stretched =
        NearestRotation(AffineTransform::FromRowMajor(Product(MatrixOf({}, q, 1.0), stretch)));
    REQUIRE(stretched.has_value());
    CHECK(SameRotation(*stretched, q, 1e-6));
  }
  Matrix flat = MatrixOf({}, {}, 1.0);
  flat[10] = 0.0;
  CHECK_FALSE(NearestRotation(AffineTransform::FromRowMajor(flat)).has_value());
  CHECK_FALSE(NearestRotation(AffineTransform::FromRowMajor(Matrix{})).has_value());
  flat[10] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(NearestRotation(AffineTransform::FromRowMajor(flat)).has_value());
}

TEST_CASE("A transform after its inverse is the identity") {
  Random random(kSeed);
  for (int i = 0; i < 50; ++i) {
    Matrix m = {};
    for (size_t k = 0; k < 12; ++k) m[k] = random.Uniform(-2.0, 2.0);
    const AffineTransform transform = AffineTransform::FromRowMajor(m);
    const auto inverse = transform.Inverse();
    REQUIRE(inverse.has_value());
    const Vec3d p = random.Vector(1.0);
    const double spread = 1.0 / std::abs(transform.Determinant());
    CHECK(Length(inverse->Point(transform.Point(p)) - p) < 1e-13 * (1.0 + spread));
  }
  CHECK_FALSE(AffineTransform::FromRowMajor(Matrix{}).Inverse().has_value());
}

}  // namespace skin_placement_test
