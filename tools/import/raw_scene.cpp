// SPDX-License-Identifier: MIT
// Writes scenes as a stream of bytes, and reads such streams without trusting them.
// One description of the layout, VisitFields, serves both directions.
#include "import/raw_scene.h"

#include "base/finding.h"
#include "base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

namespace plush::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "the stream is written as it lies");

constexpr uint32_t kSceneMagic = 0x4d494c50;  // "PLIM"
constexpr uint32_t kVersion = 5;
// Extras are notes for the game, not bulk data [bytes].
constexpr size_t kMaxExtraBytes = 64 << 10;

// Writes values one after another; lengths precede texts and vectors.
class Writer {
 public:
  explicit Writer(std::FILE* file) : file_(file) {}

  template <class... Values>
  void operator()(const Values&... values) {
    (Put(values), ...);
  }
  bool ok() const { return ok_; }

 private:
  template <class T>
  void Put(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      Bytes(&value, sizeof(T));
    } else {
      VisitFields(*this, value);
    }
  }
  void Put(const std::string& text) {
    Put(uint64_t{text.size()});
    Bytes(text.data(), text.size());
  }
  template <class T>
  void Put(const std::vector<T>& values) {
    Put(uint64_t{values.size()});
    if constexpr (std::is_trivially_copyable_v<T>) {
      Bytes(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) Put(value);
    }
  }
  void Bytes(const void* data, size_t size) {
    ok_ = ok_ && (size == 0 || std::fwrite(data, 1, size, file_) == size);
  }

  std::FILE* file_;
  bool ok_ = true;
};

// Reads what Writer wrote. After a value that does not fit, everything reads as empty.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (Get(&values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  template <class T>
  void Get(T* value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      ok_ = ok_ && sizeof(T) <= rest_.size();
      if (ok_) Bytes(value, sizeof(T));
    } else {
      VisitFields(*this, *value);
    }
  }
  void Get(std::string* text) {
    text->resize(Count(1));
    Bytes(text->data(), text->size());
  }
  template <class T>
  void Get(std::vector<T>* values) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      values->resize(Count(sizeof(T)));
      Bytes(values->data(), values->size() * sizeof(T));
    } else {
      // An element begins with a length of eight bytes.
      const uint64_t count = Count(sizeof(uint64_t));
      for (uint64_t i = 0; i < count && ok_; ++i) Get(&values->emplace_back());
    }
  }
  // Reads a length; 0 if the stream does not hold that many elements.
  uint64_t Count(uint64_t element_bytes) {
    uint64_t count = 0;
    Get(&count);
    ok_ = ok_ && count <= rest_.size() / element_bytes;
    return ok_ ? count : 0;
  }
  // The stream must hold `size` bytes.
  void Bytes(void* data, size_t size) {
    if (size > 0) std::memcpy(data, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

// The layout. `archive` is a Writer or a Reader, for which the object is const or mutable.
template <class Archive, class Object>
void VisitFields(Archive& archive, Object& o) {
  using T = std::remove_const_t<Object>;
  if constexpr (std::is_same_v<T, VertexAttribute>) {
    archive(o.name, o.values);
  } else if constexpr (std::is_same_v<T, SourceExtra>) {
    archive(o.owner, o.json);
  } else if constexpr (std::is_same_v<T, RawFinding>) {
    archive(o.code, o.count, o.message);
  } else if constexpr (std::is_same_v<T, RawMesh>) {
    archive(o.name, o.material, o.positions, o.normals, o.uvs, o.triangles, o.attributes);
    archive(o.joints, o.weights);
  } else if constexpr (std::is_same_v<T, RawNode>) {
    archive(o.name, o.parent, o.to_parent, o.meshes);
  } else {
    static_assert(std::is_same_v<T, RawScene>);
    archive(o.format, o.unit_m, o.applied_unit_m, o.up);
    archive(o.dependencies, o.missing, o.materials, o.colours, o.meshes, o.nodes, o.extras);
    archive(o.findings);
  }
}

bool IsEmptyOr(size_t size, size_t expected) { return size == 0 || size == expected; }

bool MeshAgrees(const RawMesh& mesh, const RawScene& scene) {
  const size_t n = mesh.positions.size();
  if (n > UINT32_MAX || mesh.triangles.size() > UINT32_MAX) return false;
  if (!IsEmptyOr(mesh.normals.size(), n) || !IsEmptyOr(mesh.uvs.size(), n)) return false;
  for (const VertexAttribute& attribute : mesh.attributes) {
    if (attribute.values.size() != n) return false;
  }
  return mesh.material == UINT32_MAX || mesh.material < scene.materials.size();
}

// A channel from 0 to 1; 1 if it is no number.
float Channel(float value) {
  return value >= 0.0f ? std::min(value, 1.0f) : value < 0.0f ? 0.0f : 1.0f;
}

bool SkinAgrees(const RawMesh& mesh, const RawScene& scene) {
  const auto has_node = [&](const RawJoint& joint) { return joint.node < scene.nodes.size(); };
  const auto has_ends = [&](const RawWeight& weight) {
    return weight.vertex < mesh.positions.size() && weight.joint < mesh.joints.size();
  };
  return std::all_of(mesh.joints.begin(), mesh.joints.end(), has_node) &&
         std::all_of(mesh.weights.begin(), mesh.weights.end(), has_ends);
}

bool NodesAgree(const RawScene& scene) {
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    const RawNode& node = scene.nodes[i];
    if (node.parent < -1 || node.parent >= static_cast<int64_t>(i)) return false;
    for (const uint32_t mesh : node.meshes) {
      if (mesh >= scene.meshes.size()) return false;
    }
  }
  return true;
}

bool SceneAgrees(const RawScene& scene) {
  const bool meshes_agree = std::all_of(
      scene.meshes.begin(), scene.meshes.end(),
      [&](const RawMesh& mesh) { return MeshAgrees(mesh, scene) && SkinAgrees(mesh, scene); });
  const bool is_axis = scene.up == 'X' || scene.up == 'Y' || scene.up == 'Z';
  return meshes_agree && IsEmptyOr(scene.colours.size(), scene.materials.size()) &&
         NodesAgree(scene) && is_axis && scene.unit_m > 0.0 && scene.applied_unit_m > 0.0;
}

// Also false for a weight that is not a number.
bool IsPositive(const RawWeight& weight) {
  return weight.weight > 0.0f && std::isfinite(weight.weight);
}

bool HasControlCharacter(const std::string& path) {
  return std::any_of(path.begin(), path.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void CleanTexts(RawScene* scene) {
  const auto clean = [](std::string* text) { *text = PrintableUtf8(*text); };
  clean(&scene->format);
  for (std::string& material : scene->materials) clean(&material);
  for (RawMesh& mesh : scene->meshes) {
    clean(&mesh.name);
    for (VertexAttribute& attribute : mesh.attributes) clean(&attribute.name);
  }
  for (RawNode& node : scene->nodes) clean(&node.name);
  for (SourceExtra& extra : scene->extras) clean(&extra.owner);
  std::erase_if(scene->findings, [](const RawFinding& finding) {
    const FindingCode* code = FindFindingCode(finding.code);
    return code == nullptr || code->severity == Severity::kError;
  });
  for (RawFinding& finding : scene->findings) clean(&finding.message);
  std::erase_if(scene->dependencies, HasControlCharacter);
  std::erase_if(scene->missing, HasControlCharacter);
  std::erase_if(scene->extras, [](const SourceExtra& extra) {
    return extra.json.size() > kMaxExtraBytes || !nlohmann::json::accept(extra.json);
  });
}

}  // namespace

bool WriteRawScene(const RawScene& scene, std::FILE* file) {
  Writer writer(file);
  writer(kSceneMagic, kVersion, scene);
  return writer.ok() && std::fflush(file) == 0;
}

Result<RawScene> ParseRawScene(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  uint32_t magic = 0;
  uint32_t version = 0;
  reader(magic, version);
  const bool is_ours = reader.ok() && magic == kSceneMagic && version == kVersion;
  RawScene scene;
  if (is_ours) reader(scene);
  if (!is_ours || !reader.ok() || !reader.at_end() || !SceneAgrees(scene)) {
    return Error{ExitCode::kHelperDied,
                 "the importer's answer of " + std::to_string(bytes.size()) + " bytes is broken",
                 "IMPORT_CRASHED"};
  }
  for (RawMesh& mesh : scene.meshes) {
    std::erase_if(mesh.weights, [](const RawWeight& weight) { return !IsPositive(weight); });
  }
  for (Vec3& colour : scene.colours) {
    colour = {Channel(colour.x), Channel(colour.y), Channel(colour.z)};
  }
  CleanTexts(&scene);
  return scene;
}

}  // namespace plush::tools
