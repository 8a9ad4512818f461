// SPDX-License-Identifier: MIT
// A sample model: its description, its mesh, its file.
#pragma once

#include "marching_tets.h"
#include "solid.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::samples {

/// A glTF metallic-roughness material without textures.
struct Material {
  std::string name;
  std::array<double, 3> base_colour = {1.0, 1.0, 1.0};  ///< linear, 0..1
  double roughness = 0.8;                               ///< 0..1
};

/// Gives the surface inside `region` another material. The border is cut into the mesh and is as
/// smooth as the region; the region's blobs may ask for finer triangles. Borders of one model's
/// regions must not cross.
struct Paint {
  size_t material = 0;  ///< index into Model::materials, not 0
  Solid region;
};

/// A joint of a model's skin.
struct Joint {
  std::string name;
  size_t parent = 0;              ///< an earlier joint with along = +y; the first joint has none
  Vec3d position;                 ///< [m]
  Vec3d along = {0.0, 1.0, 0.0};  ///< direction of its y axis, unit, not -y
  Solid flesh;                    ///< what it moves; the first joint moves the rest
  double fade = 0.0;              ///< width over which its weight goes from 1 to 0 [m]
};

/// A sample model: +y up, looking along +z, metres.
struct Model {
  std::string name;
  std::vector<Material> materials;  ///< the first one covers everything unpainted
  Solid solid;
  Vec3d inside;                ///< a point of the solid, see MarchTets
  Solid details;               ///< makes triangles finer; not part of the solid
  std::vector<Paint> paints;   ///< later ones cover earlier ones
  Solid pin;                   ///< the region meant for pinning
  std::vector<Joint> joints;   ///< empty: no skin
  double pin_fade = 0.01;      ///< width over which `_pin` goes from 1 to 0 [m]
  double lattice_step = 0.01;  ///< of the first triangulation [m]
  double edge = 0.01;          ///< wanted edge length [m]
};

/// The regions of all paints as one solid: an input of WantedEdges.
Solid PaintedRegions(const Model& model);

/// How much joints move a vertex: the largest weights, descending.
struct VertexWeights {
  std::array<uint16_t, 4> joints = {};  ///< 0 if the weight is 0
  std::array<float, 4> weights = {};    ///< sum to one
};

/// A meshed model. All arrays but the last two are per vertex.
struct ModelMesh {
  TriangleMesh surface;                ///< lowest point at y = 0
  std::vector<Vec3d> normals;          ///< unit
  std::vector<double> pin;             ///< 0..1
  std::vector<VertexWeights> weights;  ///< empty without joints
  std::vector<size_t> material_of_triangle;
  double lowered = 0.0;  ///< how far the model was moved down to stand on the ground [m]
};

/// Meshes `model`.
ModelMesh MakeModelMesh(const Model& model);

/// The bytes of a .glb: one node, one mesh, and for each material with triangles a primitive with
/// POSITION, NORMAL and `_pin`; a node and weights for each joint. Vertices on a border are in the
/// primitives of both materials, with equal bits.
std::vector<std::byte> WriteGlb(const Model& model, const ModelMesh& mesh);

/// A teddy bear, sitting, about 0.5 m tall. Pin: the top of its head. Joints: hips, and from there
/// head, arm_l, arm_r, leg_l and leg_r.
Model Bear();
/// A bath duck, about 0.35 m long. Pin: its bottom.
Model Duck();
/// An octopus with eight thin curling arms, about 0.8 m wide. Pin: the top of its head.
Model Octopus();

}  // namespace plush::samples
