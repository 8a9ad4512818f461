// SPDX-License-Identifier: MIT
// Reads primitives: triangles, attributes, morph targets, and transforms of texture coordinates.
// Sources: Khronos Group. glTF 2.0 Specification, 3.7. 2021; KHR_texture_transform. 2018
#include "import/gltf_document.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;
using Values = GltfValues<float>;

constexpr uint64_t kTriangles = 4;
constexpr uint64_t kFan = 6;
// Far more than any file uses: four joints each, four channels each.
constexpr int kMaxSets = 64;
constexpr float kMaxJoint = 65536.0f;

// The elements as vectors, which must have as many components.
template <class Vector>
std::vector<Vector> ToVectors(const Values& accessor) {
  std::vector<Vector> result(accessor.count);
  const size_t num_bytes = result.size() * sizeof(Vector);
  if (num_bytes > 0) {
    std::memcpy(static_cast<void*>(result.data()), accessor.values.data(), num_bytes);
  }
  return result;
}

// One channel per component.
void AddChannels(const std::string& name, const Values& accessor, const char* letters,
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
  for (const auto& [object, key] :
       {std::pair(&metal, "baseColorTexture"), std::pair(&gloss, "diffuseTexture"),
        std::pair(&material, "normalTexture"), std::pair(&material, "emissiveTexture"),
        std::pair(&material, "occlusionTexture"), std::pair(&metal, "metallicRoughnessTexture")}) {
    if (GltfMember(*object, key).is_object()) return GltfMember(*object, key);
  }
  return GltfMember(material, "");
}

// Turns counterclockwise as seen on the picture, whose v points downwards.
void TransformUvs(const json& transform, std::vector<Vec2>* uvs) {
  std::array<double, 2> scale = {1.0, 1.0}, offset = {0.0, 0.0};
  GltfNumbers(GltfMember(transform, "scale"), scale);
  GltfNumbers(GltfMember(transform, "offset"), offset);
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
  PrimitiveReader(const json& primitive, const std::string& place, std::span<const double> weights,
                  GltfDocument* document, GltfNotes* notes)
      : primitive_(primitive),
        attributes_(GltfMember(primitive, "attributes")),
        targets_(GltfMember(primitive, "targets")),
        place_(place),
        weights_(weights),
        document_(*document),
        notes_(*notes) {}

  std::optional<RawMesh> Run() {
    const uint64_t mode = GltfNumber(primitive_, "mode", kTriangles).value_or(UINT64_MAX);
    if (mode > kFan) RefuseGltf("impossible mode");
    if (mode < kTriangles || GltfMember(attributes_, "POSITION").is_null()) {
      ++notes_.num_without_surface;
      return std::nullopt;
    }
    const json& draco = GltfExtension(primitive_, "KHR_draco_mesh_compression");
    if (draco.is_object()) draco_ = DecodeDraco(draco, &document_);
    mesh_.positions = ToVectors<Vec3>(Read("POSITION", 3, 3));
    mesh_.triangles = draco_ ? std::move(draco_->triangles) : Triangulate(Indices(), mode);
    ReadAttributes();
    if (!document_.Top("skins").empty()) ReadWeights();
    return std::move(mesh_);
  }

 private:
  // An attribute of `least` to `most` components, of all vertices, with its morph targets.
  Values Read(const std::string& name, size_t least, size_t most) {
    try {
      const bool is_decoded = draco_ && draco_->attributes.contains(name);
      Values values = document_.ReadAccessor(GltfMember(attributes_, name),
                                             is_decoded ? &draco_->attributes[name] : nullptr);
      const bool has_all = name == "POSITION" || values.count == mesh_.positions.size();
      if (!has_all || values.num_components < least || values.num_components > most) {
        RefuseGltf("another number of elements or components");
      }
      if (name == "POSITION" || name == "NORMAL") Morph(name, &values);
      return values;
    } catch (const Error& error) {
      throw error.WithContext(name);
    }
  }

  // Nothing if the primitive lacks the attribute, or it cannot be read.
  std::optional<Values> ReadOther(const std::string& name, size_t least, size_t most) {
    if (GltfMember(attributes_, name).is_null()) return std::nullopt;
    try {
      return Read(name, least, most);
    } catch (const Error& error) {
      if (notes_.num_lost_attributes++ == 0) notes_.first_lost = place_ + ": " + error.message;
      return std::nullopt;
    }
  }

  std::vector<uint32_t> Indices() {
    const json& index = GltfMember(primitive_, "indices");
    if (!index.is_null()) return document_.ReadIndices(index);
    std::vector<uint32_t> all(mesh_.positions.size());
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }

  // Adds the morph targets of an attribute.
  void Morph(const std::string& name, Values* values) {
    for (size_t t = 0; targets_.is_array() && t < std::min(targets_.size(), weights_.size()); ++t) {
      const json& index = GltfMember(targets_[t], name);
      if (weights_[t] == 0.0 || index.is_null()) continue;
      const Values target = document_.ReadAccessor(index);
      if (target.values.size() != values->values.size()) {
        RefuseGltf(GltfPlace("targets", t) + ": another number of elements or components");
      }
      for (size_t i = 0; i < values->values.size(); ++i) {
        values->values[i] = static_cast<float>(static_cast<double>(values->values[i]) +
                                               weights_[t] * static_cast<double>(target.values[i]));
      }
    }
  }

  void ReadAttributes() {
    if (const auto normals = ReadOther("NORMAL", 3, 3)) mesh_.normals = ToVectors<Vec3>(*normals);
    ReadUvs();
    for (int set = 0; set < kMaxSets; ++set) {
      const std::string name = "COLOR_" + std::to_string(set);
      if (GltfMember(attributes_, name).is_null()) break;
      const auto colours = ReadOther(name, 3, 4);
      if (!colours) continue;
      AddChannels(name, *colours, "rgba", &mesh_.attributes);
      if (colours->num_components == 4) continue;
      mesh_.attributes.push_back({name + ".a", std::vector<float>(colours->count, 1.0f)});
    }
    for (const auto& [name, index] : attributes_.items()) {
      if (!name.starts_with('_')) continue;
      const auto values = ReadOther(name, 1, 4);
      if (values) AddChannels(name, *values, "xyzw", &mesh_.attributes);
    }
  }

  void ReadUvs() {
    const json& materials = document_.Top("materials");
    const auto material = GltfIndex(GltfMember(primitive_, "material"), materials.size());
    const json& texture = material ? FirstTexture(materials[*material]) : GltfMember({}, "");
    const json& transform = GltfExtension(texture, "KHR_texture_transform");
    const uint64_t own_set = GltfNumber(texture, "texCoord", 0).value_or(0);
    const uint64_t set = GltfNumber(transform, "texCoord", own_set).value_or(own_set);
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
      for (size_t i = 0; i < joints->values.size(); ++i) {
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
  const json& targets_;
  const std::string& place_;
  std::span<const double> weights_;
  GltfDocument& document_;
  GltfNotes& notes_;
  std::optional<DracoPrimitive> draco_;
  RawMesh mesh_;
};

}  // namespace

std::optional<RawMesh> ReadGltfPrimitive(const json& primitive, const std::string& place,
                                         std::span<const double> weights, GltfDocument* document,
                                         GltfNotes* notes) {
  try {
    return PrimitiveReader(primitive, place, weights, document, notes).Run();
  } catch (const Error& error) {
    throw error.WithContext(place);
  }
}

}  // namespace plush::tools
