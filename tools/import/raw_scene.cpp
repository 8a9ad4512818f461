// SPDX-License-Identifier: MIT
// Writes scenes as a stream of bytes and reads them back without trusting any of them.
// One description of the layout serves both directions.
#include "import/raw_scene.h"

#include "base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

namespace plush::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "the stream is written as it lies");

constexpr uint32_t kMagic = 0x4d494c50;  // "PLIM"
constexpr uint32_t kVersion = 1;
// Extras are notes for the game, not bulk data [bytes].
constexpr size_t kMaxExtraBytes = 64 << 10;

// Has the same members as Reader, so that one description of the layout serves both.
class Writer {
 public:
  explicit Writer(std::FILE* file) : file_(file) {}

  template <class T>
  void Number(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Bytes(&value, sizeof(T));
  }
  template <class T>
  void Array(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    Number(static_cast<uint64_t>(values.size()));
    Bytes(values.data(), values.size() * sizeof(T));
  }
  void Text(const std::string& text) {
    Number(static_cast<uint64_t>(text.size()));
    Bytes(text.data(), text.size());
  }
  template <class T, class Visit>
  void List(const std::vector<T>& values, Visit visit) {
    Number(static_cast<uint64_t>(values.size()));
    for (const T& value : values) visit(*this, value);
  }
  bool ok() const { return ok_; }

 private:
  void Bytes(const void* data, size_t size) {
    ok_ = ok_ && (size == 0 || std::fwrite(data, 1, size, file_) == size);
  }

  std::FILE* file_;
  bool ok_ = true;
};

// After the first value that does not fit, everything reads as empty and ok() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  void Number(T& value) {
    if (!Has(sizeof(T))) return;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
  }
  template <class T>
  void Array(std::vector<T>& values) {
    const uint64_t count = Count(sizeof(T));
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), rest_.data(), count * sizeof(T));
    rest_ = rest_.subspan(count * sizeof(T));
  }
  void Text(std::string& text) {
    const uint64_t count = Count(1);
    text.assign(reinterpret_cast<const char*>(rest_.data()), count);
    rest_ = rest_.subspan(count);
  }
  template <class T, class Visit>
  void List(std::vector<T>& values, Visit visit) {
    // An element begins with a length of eight bytes.
    const uint64_t count = Count(sizeof(uint64_t));
    for (uint64_t i = 0; i < count && ok_; ++i) visit(*this, values.emplace_back());
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  bool Has(uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    return ok_;
  }
  // Reads a length; 0 if the stream does not hold that many elements.
  uint64_t Count(uint64_t element_bytes) {
    uint64_t count = 0;
    Number(count);
    ok_ = ok_ && count <= rest_.size() / element_bytes;
    return ok_ ? count : 0;
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

// The layout. The objects are const for a Writer and mutable for a Reader.
const auto kVisitText = [](auto& archive, auto& text) { archive.Text(text); };

const auto kVisitAttribute = [](auto& archive, auto& attribute) {
  archive.Text(attribute.name);
  archive.Array(attribute.values);
};

const auto kVisitMesh = [](auto& archive, auto& mesh) {
  archive.Text(mesh.name);
  archive.Number(mesh.material);
  archive.Array(mesh.positions);
  archive.Array(mesh.normals);
  archive.Array(mesh.uvs);
  archive.Array(mesh.triangles);
  archive.List(mesh.attributes, kVisitAttribute);
};

const auto kVisitNode = [](auto& archive, auto& node) {
  archive.Text(node.name);
  archive.Number(node.parent);
  archive.Number(node.to_parent);
  archive.Array(node.meshes);
};

const auto kVisitExtra = [](auto& archive, auto& extra) {
  archive.Text(extra.owner);
  archive.Text(extra.json);
};

template <class Archive, class Scene>
void VisitScene(Archive& archive, Scene& scene) {
  archive.Text(scene.format);
  archive.Number(scene.unit_m);
  archive.Number(scene.applied_unit_m);
  archive.Number(scene.up);
  archive.List(scene.dependencies, kVisitText);
  archive.List(scene.materials, kVisitText);
  archive.List(scene.meshes, kVisitMesh);
  archive.List(scene.nodes, kVisitNode);
  archive.List(scene.extras, kVisitExtra);
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
  for (const RawMesh& mesh : scene.meshes) {
    if (!MeshAgrees(mesh, scene)) return false;
  }
  const bool is_axis = scene.up == 'X' || scene.up == 'Y' || scene.up == 'Z';
  return NodesAgree(scene) && is_axis && scene.unit_m > 0.0 && scene.applied_unit_m > 0.0;
}

bool HasControlCharacter(const std::string& path) {
  return std::any_of(path.begin(), path.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

bool IsUsableExtra(const SourceExtra& extra) {
  return extra.json.size() <= kMaxExtraBytes && nlohmann::json::accept(extra.json);
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
  std::erase_if(scene->dependencies, HasControlCharacter);
  std::erase_if(scene->extras, [](const SourceExtra& extra) { return !IsUsableExtra(extra); });
}

}  // namespace

bool WriteRawScene(const RawScene& scene, std::FILE* file) {
  Writer writer(file);
  writer.Number(kMagic);
  writer.Number(kVersion);
  VisitScene(writer, scene);
  return writer.ok() && std::fflush(file) == 0;
}

Result<RawScene> ParseRawScene(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  uint32_t magic = 0;
  uint32_t version = 0;
  reader.Number(magic);
  reader.Number(version);
  RawScene scene;
  if (reader.ok() && magic == kMagic && version == kVersion) VisitScene(reader, scene);
  if (!reader.ok() || !reader.at_end() || magic != kMagic || version != kVersion ||
      !SceneAgrees(scene)) {
    return Error{ExitCode::kHelperDied,
                 "the importer's answer of " + std::to_string(bytes.size()) + " bytes is broken",
                 "IMPORT_CRASHED"};
  }
  CleanTexts(&scene);
  return scene;
}

}  // namespace plush::tools
