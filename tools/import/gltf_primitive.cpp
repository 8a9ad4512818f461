// SPDX-License-Identifier: MIT
// Reads primitives: triangles, attributes, morph targets, and transforms of texture coordinates.
// Sources: Khronos Group. glTF 2.0 Specification, 3.7. 2021; KHR_texture_transform. 2018
#include "import/gltf_primitive.h"

#include "import/gltf_compression.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint64_t kTriangles = 4;
constexpr uint64_t kFan = 6;
// Far more than any file uses: four joints each, four channels each.
constexpr int kMaxSets = 64;
constexpr float kMaxJoint = 65536.0f;

// The elements as vectors, which must have as many components.
template <class Vector>
std::vector<Vector> ToVectors(const AccessorValues& accessor) {
  std::vector<Vector> result(accessor.count);
  const size_t num_bytes = result.size() * sizeof(Vector);
  if (num_bytes > 0) {
    std::memcpy(static_cast<void*>(result.data()), accessor.values.data(), num_bytes);
  }
  return result;
}

// One channel per component.
void AddChannels(const std::string& name, const AccessorValues& accessor, const char* letters,
                 std::vector<VertexAttribute>* attributes) {
  const size_t n = accessor.num_components;
  for (size_t k = 0; k < n; ++k) {
    VertexAttribute& attribute = attributes->emplace_back();
    attribute.name = n == 1 ? name : name + "." + letters[k];
    attribute.values.reserve(accessor.count);
    for (size_t i = 0; i < accessor.count; ++i) {
      attribute.values.push_back(accessor.values[i * n + k]);
    }
  }
}

// The textureInfo that places a material's pictures; null if there is none.
const json& FirstTexture(const json& material) {
  const json& metal = GltfMember(material, "pbrMetallicRoughness");
  const json& gloss = GltfExtension(material, "KHR_materials_pbrSpecularGlossiness");
  for (const json* texture :
       {&GltfMember(metal, "baseColorTexture"), &GltfMember(gloss, "diffuseTexture"),
        &GltfMember(material, "normalTexture"), &GltfMember(material, "emissiveTexture"),
        &GltfMember(material, "occlusionTexture"),
        &GltfMember(metal, "metallicRoughnessTexture")}) {
    if (texture->is_object()) return *texture;
  }
  return GltfMember(material, "");
}

// Turns counterclockwise as seen on the picture, whose v points downwards.
void TransformUvs(const json& transform, std::vector<Vec2>* uvs) {
  const auto number = [&transform](const char* key, size_t place, double fallback) {
    const json& numbers = GltfMember(transform, key);
    const bool is_there =
        numbers.is_array() && place < numbers.size() && numbers[place].is_number();
    return is_there ? numbers[place].get<double>() : fallback;
  };
  const double scale[] = {number("scale", 0, 1.0), number("scale", 1, 1.0)};
  const double offset[] = {number("offset", 0, 0.0), number("offset", 1, 0.0)};
  const json& rotation = GltfMember(transform, "rotation");
  const double angle = rotation.is_number() ? rotation.get<double>() : 0.0;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  for (Vec2& uv : *uvs) {
    const double u = static_cast<double>(uv.x) * scale[0];
    const double v = static_cast<double>(uv.y) * scale[1];
    uv = {static_cast<float>(c * u + s * v + offset[0]),
          static_cast<float>(c * v - s * u + offset[1])};
  }
}

std::vector<std::array<uint32_t, 3>> Triangulate(std::span<const uint32_t> indices, uint64_t mode) {
  const size_t n = indices.size();
  std::vector<std::array<uint32_t, 3>> triangles(mode == kTriangles ? n / 3
                                                                    : std::max<size_t>(n, 2) - 2);
  for (size_t i = 0; i < triangles.size(); ++i) {
    if (mode == kTriangles) {
      triangles[i] = {indices[3 * i], indices[3 * i + 1], indices[3 * i + 2]};
    } else if (mode == kFan) {
      triangles[i] = {indices[0], indices[i + 1], indices[i + 2]};
    } else {
      triangles[i] = {indices[i + i % 2], indices[i + 1 - i % 2], indices[i + 2]};
    }
  }
  return triangles;
}

class PrimitiveReader {
 public:
  PrimitiveReader(const json& primitive, const std::string& place, GltfDocument* document,
                  GltfNotes* notes)
      : primitive_(primitive),
        attributes_(GltfMember(primitive, "attributes")),
        place_(place),
        document_(document),
        notes_(notes) {}

  std::optional<RawMesh> Run(std::span<const double> weights) {
    const uint64_t mode = GltfNumber(primitive_, "mode", kTriangles).value_or(UINT64_MAX);
    if (mode > kFan) return Refuse("impossible mode");
    if (mode < kTriangles || GltfMember(attributes_, "POSITION").is_null()) {
      ++notes_->num_without_surface;
      return std::nullopt;
    }
    const json& draco = GltfExtension(primitive_, "KHR_draco_mesh_compression");
    if (draco.is_object() && (draco_ = DecodeDraco(draco, document_)) == nullptr) {
      return Refuse(document_->problem());
    }
    auto positions = Read("POSITION");
    if (!positions) return Refuse("POSITION: " + document_->problem());
    if (positions->num_components != 3) return Refuse("POSITION is no VEC3");
    num_vertices_ = positions->count;
    if (!ReadTriangles(mode) || !Morph("POSITION", weights, &*positions)) {
      return Refuse(document_->problem());
    }
    mesh_.positions = ToVectors<Vec3>(*positions);
    ReadAttributes(weights);
    return std::move(mesh_);
  }

 private:
  std::nullopt_t Refuse(const std::string& what) {
    notes_->refusal = place_ + ": " + what;
    return std::nullopt;
  }

  std::optional<AccessorValues> Read(const std::string& name) {
    const NumberArray* decoded = nullptr;
    if (draco_ != nullptr && draco_->attributes.contains(name)) {
      decoded = &draco_->attributes[name];
    }
    return document_->ReadAccessor(GltfMember(attributes_, name), decoded);
  }

  // Nothing if the primitive lacks the attribute, or it cannot be read.
  std::optional<AccessorValues> ReadOther(const std::string& name, size_t least, size_t most) {
    if (GltfMember(attributes_, name).is_null()) return std::nullopt;
    auto values = Read(name);
    const bool agrees = values && values->count == num_vertices_ &&
                        values->num_components >= least && values->num_components <= most;
    if (agrees) return values;
    if (values) document_->Problem("another number of elements or components");
    return Lose(name);
  }

  std::nullopt_t Lose(const std::string& name) {
    if (notes_->num_lost_attributes++ == 0) {
      notes_->first_lost = place_ + ": " + name + ": " + document_->problem();
    }
    return std::nullopt;
  }

  bool ReadTriangles(uint64_t mode) {
    const json& index = GltfMember(primitive_, "indices");
    if (draco_ != nullptr) {
      mesh_.triangles = std::move(draco_->triangles);
      return true;
    }
    if (!index.is_null()) {
      const auto indices = document_->ReadIndices(index);
      if (indices) mesh_.triangles = Triangulate(*indices, mode);
      return indices.has_value();
    }
    std::vector<uint32_t> all(num_vertices_);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    mesh_.triangles = Triangulate(all, mode);
    return true;
  }

  // Adds the morph targets of an attribute; false, with a problem(), if one is invalid.
  bool Morph(const char* name, std::span<const double> weights, AccessorValues* values) {
    const json& targets = GltfMember(primitive_, "targets");
    for (size_t t = 0; targets.is_array() && t < std::min(targets.size(), weights.size()); ++t) {
      const json& index = GltfMember(targets[t], name);
      if (weights[t] == 0.0 || index.is_null()) continue;
      const auto target = document_->ReadAccessor(index);
      if (target && target->values.size() != values->values.size()) {
        document_->Problem("another number of elements or components");
      }
      if (!target || target->values.size() != values->values.size()) {
        document_->Problem(GltfPlace("targets", t) + ": " + document_->problem());
        return false;
      }
      for (size_t i = 0; i < values->values.size(); ++i) {
        values->values[i] = static_cast<float>(static_cast<double>(values->values[i]) +
                                               weights[t] * static_cast<double>(target->values[i]));
      }
    }
    return true;
  }

  void ReadAttributes(std::span<const double> weights) {
    auto normals = ReadOther("NORMAL", 3, 3);
    if (normals && !Morph("NORMAL", weights, &*normals)) normals = Lose("NORMAL");
    if (normals) mesh_.normals = ToVectors<Vec3>(*normals);
    ReadUvs();
    for (int set = 0; set < kMaxSets; ++set) {
      const std::string name = "COLOR_" + std::to_string(set);
      if (GltfMember(attributes_, name).is_null()) break;
      const auto colours = ReadOther(name, 3, 4);
      if (!colours) continue;
      AddChannels(name, *colours, "rgba", &mesh_.attributes);
      if (colours->num_components == 4) continue;
      mesh_.attributes.push_back({name + ".a", std::vector<float>(num_vertices_, 1.0f)});
    }
    for (const auto& [name, index] : attributes_.items()) {
      if (!name.starts_with('_')) continue;
      const auto values = ReadOther(name, 1, 4);
      if (values) AddChannels(name, *values, "xyzw", &mesh_.attributes);
    }
    if (!document_->Top("skins").empty()) ReadWeights();
  }

  void ReadUvs() {
    const json& materials = document_->Top("materials");
    const auto material = GltfNumber(primitive_, "material", UINT32_MAX).value_or(UINT32_MAX);
    static const json kNone;
    const json& texture = FirstTexture(material < materials.size() ? materials[material] : kNone);
    const json& transform = GltfExtension(texture, "KHR_texture_transform");
    const uint64_t own_set = texture.is_null() ? 0 : GltfNumber(texture, "texCoord", 0).value_or(0);
    const uint64_t set = transform.is_null()
                             ? own_set
                             : GltfNumber(transform, "texCoord", own_set).value_or(own_set);
    const auto uvs = ReadOther("TEXCOORD_" + std::to_string(set), 2, 2);
    if (!uvs) return;
    mesh_.uvs = ToVectors<Vec2>(*uvs);
    if (transform.is_object()) TransformUvs(transform, &mesh_.uvs);
  }

  // The weights of all sets, JOINTS_0 and WEIGHTS_0 and so on.
  void ReadWeights() {
    for (int set = 0; set < kMaxSets; ++set) {
      const auto joints = ReadOther("JOINTS_" + std::to_string(set), 4, 4);
      const auto weights = ReadOther("WEIGHTS_" + std::to_string(set), 4, 4);
      if (!joints || !weights) break;
      for (size_t i = 0; i < 4 * num_vertices_; ++i) {
        const float joint = joints->values[i];
        const float weight = weights->values[i];
        // Also false for numbers that are not finite.
        if (!(joint >= 0.0f && joint < kMaxJoint && weight > 0.0f && weight < 1.0e30f)) continue;
        mesh_.weights.push_back(
            {static_cast<uint32_t>(i / 4), static_cast<uint32_t>(joint), weight});
      }
    }
  }

  const json& primitive_;
  const json& attributes_;
  const std::string& place_;
  GltfDocument* document_;
  GltfNotes* notes_;
  std::unique_ptr<DracoPrimitive> draco_;
  size_t num_vertices_ = 0;
  RawMesh mesh_;
};

}  // namespace

std::optional<RawMesh> ReadGltfPrimitive(const json& primitive, const std::string& place,
                                         std::span<const double> weights, GltfDocument* document,
                                         GltfNotes* notes) {
  return PrimitiveReader(primitive, place, document, notes).Run(weights);
}

}  // namespace plush::tools
