// SPDX-License-Identifier: MIT
// Small glTF files for the tests of the importer.
#pragma once

#include "mesh/surface_mesh.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace plush::tests {

/// A glTF 2.0 document under construction. Its JSON can be edited freely; its one buffer grows.
class GltfBuilder {
 public:
  GltfBuilder();

  /// The document without "buffers", which the Write functions add.
  nlohmann::json json;

  /// Appends `bytes` to the buffer as a view; returns the view's index.
  size_t AddView(const void* bytes, size_t size);

  /// Appends numbers as an accessor of `type` ("SCALAR", "VEC3" ...); returns its index. T is one
  /// of the six component types of glTF.
  template <class T>
  size_t AddAccessor(const std::vector<T>& values, const std::string& type,
                     bool normalized = false) {
    return AddAccessorOfView(AddView(values.data(), values.size() * sizeof(T)),
                             values.size() / Components(type), ComponentType(T{}), type,
                             normalized);
  }

  /// Appends a mesh of one primitive with the positions, normals and triangles of `surface`;
  /// returns the mesh's index. Further attributes go into json["meshes"][index].
  size_t AddMesh(const tools::SurfaceMesh& surface, const std::string& name);

  /// Appends a node of the scene that places a mesh; returns its index.
  size_t AddNode(const std::string& name, size_t mesh);

  /// Adds an attribute of one float per vertex to a mesh's first primitive.
  void AddAttribute(size_t mesh, const std::string& name, const std::vector<float>& values);

  /// Three ways to store the buffer: a data URI, a separate file, a chunk of a .glb.
  void WriteEmbedded(const std::string& path) const;
  void WriteSeparate(const std::string& path, const std::string& bin_name) const;
  void WriteGlb(const std::string& path) const;

  /// The bytes of a .glb file.
  std::string Glb() const;

  const std::string& buffer() const { return buffer_; }

 private:
  static size_t Components(const std::string& type);
  static int ComponentType(int8_t) { return 5120; }
  static int ComponentType(uint8_t) { return 5121; }
  static int ComponentType(int16_t) { return 5122; }
  static int ComponentType(uint16_t) { return 5123; }
  static int ComponentType(uint32_t) { return 5125; }
  static int ComponentType(float) { return 5126; }
  size_t AddAccessorOfView(size_t view, size_t count, int component_type, const std::string& type,
                           bool normalized);

  std::string buffer_;
};

}  // namespace plush::tests
