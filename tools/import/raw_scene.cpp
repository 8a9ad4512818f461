// SPDX-License-Identifier: MIT
// Writes scenes as a stream of bytes, and reads such streams without trusting them.
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

// The layout of the stream, for both directions: writes values to a file, or reads them from bytes.
// Lengths precede texts and vectors. After a value that does not fit, everything reads as empty.
class SceneStream {
 public:
  explicit SceneStream(std::FILE* file) : file_(file) {}
  explicit SceneStream(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class... Values>
  void All(Values&... values) {
    (Pass(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  void Pass(VertexAttribute& o) { All(o.name, o.values); }
  void Pass(SourceExtra& o) { All(o.owner, o.json); }
  void Pass(RawFinding& o) { All(o.code, o.count, o.message); }
  void Pass(RawNode& o) { All(o.name, o.parent, o.to_parent, o.meshes); }
  void Pass(RawMesh& o) {
    All(o.name, o.material, o.positions, o.normals, o.uvs, o.triangles, o.attributes, o.joints,
        o.weights);
  }
  void Pass(RawScene& o) {
    All(o.format, o.unit_m, o.applied_unit_m, o.up, o.dependencies, o.missing, o.materials,
        o.colours, o.meshes, o.nodes, o.extras, o.findings);
  }
  void Pass(std::string& text) { PassList(text); }
  template <class T>
  void Pass(std::vector<T>& values) {
    PassList(values);
  }
  template <class T>
  void Pass(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Bytes(&value, sizeof(T));
  }

  template <class List>
  void PassList(List& values) {
    using T = typename List::value_type;
    constexpr bool is_plain = std::is_trivially_copyable_v<T>;
    uint64_t count = values.size();
    Pass(count);
    // Elements that are not plain begin with a length.
    constexpr size_t least = is_plain ? sizeof(T) : sizeof(count);
    if (file_ == nullptr) ok_ = ok_ && count <= rest_.size() / least;
    if constexpr (is_plain) {
      if (file_ == nullptr) values.resize(ok_ ? count : 0);
      Bytes(values.data(), values.size() * sizeof(T));
    } else {
      for (uint64_t i = 0; i < count && ok_; ++i) {
        Pass(file_ != nullptr ? values[i] : values.emplace_back());
      }
    }
  }

  void Bytes(void* data, size_t size) {
    if (file_ != nullptr) {
      ok_ = ok_ && (size == 0 || std::fwrite(data, 1, size, file_) == size);
      return;
    }
    ok_ = ok_ && size <= rest_.size();
    if (!ok_ || size == 0) return;
    std::memcpy(data, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  std::FILE* file_ = nullptr;
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

bool IsEmptyOr(size_t size, size_t expected) { return size == 0 || size == expected; }

// Whether what a mesh refers to exists, and its arrays agree in length.
bool MeshAgrees(const RawMesh& mesh, const RawScene& scene) {
  const size_t n = mesh.positions.size();
  const auto all = [](const auto& values, auto is_valid) {
    return std::all_of(values.begin(), values.end(), is_valid);
  };
  return n <= UINT32_MAX && mesh.triangles.size() <= UINT32_MAX &&
         IsEmptyOr(mesh.normals.size(), n) && IsEmptyOr(mesh.uvs.size(), n) &&
         (mesh.material == UINT32_MAX || mesh.material < scene.materials.size()) &&
         all(mesh.attributes, [&](const auto& channel) { return channel.values.size() == n; }) &&
         all(mesh.joints, [&](const auto& joint) { return joint.node < scene.nodes.size(); }) &&
         all(mesh.weights, [&](const auto& weight) {
           return weight.vertex < n && weight.joint < mesh.joints.size();
         });
}

bool SceneAgrees(const RawScene& scene) {
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    const RawNode& node = scene.nodes[i];
    if (node.parent < -1 || node.parent >= static_cast<int64_t>(i)) return false;
    for (const uint32_t mesh : node.meshes) {
      if (mesh >= scene.meshes.size()) return false;
    }
  }
  for (const RawMesh& mesh : scene.meshes) {
    if (!MeshAgrees(mesh, scene)) return false;
  }
  return IsEmptyOr(scene.colours.size(), scene.materials.size()) && scene.up >= 'X' &&
         scene.up <= 'Z' && scene.unit_m > 0.0 && scene.applied_unit_m > 0.0;
}

// A channel from 0 to 1; 1 if it is no number.
float Channel(float value) { return std::isnan(value) ? 1.0f : std::clamp(value, 0.0f, 1.0f); }

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
  SceneStream stream(file);
  uint32_t magic = kSceneMagic;
  uint32_t version = kVersion;
  stream.All(magic, version, const_cast<RawScene&>(scene));  // not changed
  return stream.ok() && std::fflush(file) == 0;
}

Result<RawScene> ParseRawScene(std::span<const std::byte> bytes) {
  SceneStream stream(bytes);
  uint32_t magic = 0;
  uint32_t version = 0;
  stream.All(magic, version);
  const bool is_ours = magic == kSceneMagic && version == kVersion;
  RawScene scene;
  if (is_ours) stream.All(scene);
  if (!is_ours || !stream.ok() || !stream.at_end() || !SceneAgrees(scene)) {
    return Error{ExitCode::kHelperDied,
                 "the importer's answer of " + std::to_string(bytes.size()) + " bytes is broken",
                 "IMPORT_CRASHED"};
  }
  for (RawMesh& mesh : scene.meshes) {
    std::erase_if(mesh.weights, [](const RawWeight& weight) {
      return !(weight.weight > 0.0f && std::isfinite(weight.weight));
    });
  }
  for (Vec3& colour : scene.colours) {
    colour = {Channel(colour.x), Channel(colour.y), Channel(colour.z)};
  }
  CleanTexts(&scene);
  return scene;
}

}  // namespace plush::tools
