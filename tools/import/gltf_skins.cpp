// SPDX-License-Identifier: MIT
// Finds the nodes that Assimp made of those of a glTF file, and gives their meshes the file's
// skins. Source: Khronos Group. glTF 2.0 Specification, 3.7.3. 2021
#include "import/gltf_skins.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint32_t kNone = UINT32_MAX;
// Assimp cuts longer names [bytes].
constexpr size_t kAssimpNameBytes = 1023;
// Far more than any file uses: four joints each.
constexpr int kMaxWeightSets = 64;

const json& MemberOf(const json& object, const std::string& key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it != object.end() ? *it : kNull;
}

// The whole number as an index below `count`, else kNone.
uint32_t IndexOf(const json& number, size_t count) {
  if (!number.is_number_unsigned() || number.get<uint64_t>() >= count) return kNone;
  return static_cast<uint32_t>(number.get<uint64_t>());
}

// For each node of the scene the node of the document, kNone for Assimp's own root. Empty if the
// two do not agree.
std::vector<uint32_t> MatchNodes(const GltfDocument& document, const RawScene& scene) {
  const json& nodes = document.Top("nodes");
  const auto shown = GltfDocument::Number(document.root(), "scene", 0);
  const json& scenes = document.Top("scenes");
  if (!shown || *shown >= scenes.size()) return {};
  const json& roots = MemberOf(scenes[*shown], "nodes");
  if (!roots.is_array() || roots.empty()) return {};
  std::vector<uint32_t> matches;
  struct Waiting {
    uint32_t node;
    int32_t parent;
  };
  std::vector<Waiting> stack;
  const auto push_all = [&](const json& children, int32_t parent) {
    for (size_t i = children.size(); children.is_array() && i-- > 0;) {
      stack.push_back({IndexOf(children[i], nodes.size()), parent});
    }
  };
  // Assimp adds a root above several.
  if (roots.size() > 1) matches.push_back(kNone);
  push_all(roots, static_cast<int32_t>(matches.size()) - 1);
  while (!stack.empty()) {
    const Waiting next = stack.back();
    stack.pop_back();
    if (next.node == kNone || matches.size() >= scene.nodes.size()) return {};
    const RawNode& made = scene.nodes[matches.size()];
    const json& name = MemberOf(nodes[next.node], "name");
    const bool is_named = name.is_string() && !name.get_ref<const std::string&>().empty();
    if (made.parent != next.parent ||
        (is_named && made.name != name.get<std::string>().substr(0, kAssimpNameBytes))) {
      return {};
    }
    push_all(MemberOf(nodes[next.node], "children"), static_cast<int32_t>(matches.size()));
    matches.push_back(next.node);
  }
  return matches.size() == scene.nodes.size() ? matches : std::vector<uint32_t>();
}

struct Skin {
  std::vector<RawJoint> joints;
  std::vector<uint32_t> kept;  // number of each of the skin's joints in `joints`, or kNone
};

// The matrices of all joints; the identity for each if the skin gives none. Nothing if they are
// invalid.
std::optional<std::vector<float>> InverseBinds(const json& skin, size_t num_joints,
                                               GltfDocument* document) {
  std::vector<float> columns;
  const json& index = MemberOf(skin, "inverseBindMatrices");
  if (index.is_null()) {
    const RawJoint identity;
    for (size_t i = 0; i < num_joints; ++i) {
      columns.insert(columns.end(), identity.inverse_bind.begin(), identity.inverse_bind.end());
    }
    return columns;
  }
  auto accessor = document->ReadAccessor(index);
  if (!accessor || accessor->num_components != 16 || accessor->count < num_joints) {
    return std::nullopt;
  }
  return std::move(accessor->values);
}

// Without joints if the skin is invalid. `raw_node` is the scene's node of each of the document.
Skin ReadSkin(const json& skin, std::span<const uint32_t> raw_node, GltfDocument* document) {
  const json& nodes = MemberOf(skin, "joints");
  if (!nodes.is_array()) return {};
  const auto columns = InverseBinds(skin, nodes.size(), document);
  if (!columns) return {};
  Skin result;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const uint32_t node = IndexOf(nodes[i], raw_node.size());
    RawJoint joint;
    joint.node = node == kNone ? kNone : raw_node[node];
    for (size_t k = 0; k < 16; ++k)
      joint.inverse_bind[4 * (k % 4) + k / 4] = (*columns)[16 * i + k];
    result.kept.push_back(joint.node == kNone ? kNone
                                              : static_cast<uint32_t>(result.joints.size()));
    if (joint.node != kNone) result.joints.push_back(joint);
  }
  return result;
}

// The weights of all sets of a primitive, JOINTS_0 and WEIGHTS_0 and so on.
std::vector<RawWeight> ReadWeights(const json& primitive, const Skin& skin, size_t num_vertices,
                                   GltfDocument* document) {
  std::vector<RawWeight> result;
  const json& attributes = MemberOf(primitive, "attributes");
  for (int set = 0; set < kMaxWeightSets; ++set) {
    const json& joints_index = MemberOf(attributes, "JOINTS_" + std::to_string(set));
    const json& weights_index = MemberOf(attributes, "WEIGHTS_" + std::to_string(set));
    if (joints_index.is_null() || weights_index.is_null()) break;
    const auto joints = document->ReadAccessor(joints_index);
    const auto weights = document->ReadAccessor(weights_index);
    if (!joints || !weights || joints->num_components != 4 || weights->num_components != 4 ||
        joints->count != num_vertices || weights->count != num_vertices) {
      break;
    }
    for (size_t i = 0; i < 4 * num_vertices; ++i) {
      const float joint = joints->values[i];
      const float weight = weights->values[i];
      // Also false for numbers that are not finite.
      const bool valid = joint >= 0.0f && joint < static_cast<float>(skin.kept.size()) &&
                         weight > 0.0f && weight < 1.0e30f;
      const uint32_t kept = valid ? skin.kept[static_cast<size_t>(joint)] : kNone;
      if (kept != kNone) result.push_back({static_cast<uint32_t>(i / 4), kept, weight});
    }
  }
  return result;
}

// Gives each node of the scene that shows a mesh with a skin its skinned mesh.
class SkinAttachment {
 public:
  SkinAttachment(std::span<const GltfPrimitive> sources, GltfDocument* document, RawScene* scene)
      : sources_(sources), document_(document), scene_(scene) {}

  void Run(std::span<const uint32_t> matches) {
    ReadSkins(matches);
    const std::vector<uint32_t> skins = SkinsOfNodes(matches);
    std::vector<bool> is_taken(sources_.size(), false);  // shown without a skin, or with another
    for (size_t i = 0; i < skins.size(); ++i) {
      if (skins[i] != kNone) continue;
      for (const uint32_t mesh : scene_->nodes[i].meshes) is_taken[mesh] = true;
    }
    for (size_t i = 0; i < skins.size(); ++i) {
      if (skins[i] == kNone) continue;
      for (uint32_t& mesh : scene_->nodes[i].meshes) mesh = Skinned(mesh, skins[i], &is_taken);
    }
  }

 private:
  void ReadSkins(std::span<const uint32_t> matches) {
    std::vector<uint32_t> raw_node(document_->Top("nodes").size(), kNone);
    for (uint32_t i = 0; i < matches.size(); ++i) {
      if (matches[i] != kNone && raw_node[matches[i]] == kNone) raw_node[matches[i]] = i;
    }
    for (const json& skin : document_->Top("skins")) {
      skins_.push_back(ReadSkin(skin, raw_node, document_));
    }
  }

  // Valid skins only.
  std::vector<uint32_t> SkinsOfNodes(std::span<const uint32_t> matches) const {
    std::vector<uint32_t> skins;
    for (const uint32_t node : matches) {
      uint32_t skin = kNone;
      if (node != kNone) {
        skin = IndexOf(MemberOf(document_->Top("nodes")[node], "skin"), skins_.size());
      }
      skins.push_back(skin == kNone || skins_[skin].joints.empty() ? kNone : skin);
    }
    return skins;
  }

  // The number of the mesh with this skin; `mesh` itself if it has no weights.
  uint32_t Skinned(uint32_t mesh, uint32_t skin, std::vector<bool>* is_taken) {
    const auto [place, is_new] = made_.try_emplace({mesh, skin}, mesh);
    if (!is_new) return place->second;
    const GltfPrimitive& source = sources_[mesh];
    if (source.mesh == kNone) return mesh;
    const json& primitive = document_->Top("meshes")[source.mesh]["primitives"][source.primitive];
    std::vector<RawWeight> weights =
        ReadWeights(primitive, skins_[skin], scene_->meshes[mesh].positions.size(), document_);
    if (weights.empty()) return mesh;
    if ((*is_taken)[mesh]) {
      place->second = static_cast<uint32_t>(scene_->meshes.size());
      scene_->meshes.push_back(RawMesh(scene_->meshes[mesh]));
    }
    (*is_taken)[mesh] = true;
    scene_->meshes[place->second].joints = skins_[skin].joints;
    scene_->meshes[place->second].weights = std::move(weights);
    return place->second;
  }

  std::span<const GltfPrimitive> sources_;
  GltfDocument* document_;
  RawScene* scene_;
  std::vector<Skin> skins_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> made_;  // by mesh and skin
};

}  // namespace

void AddGltfSkins(std::span<const GltfPrimitive> sources, GltfDocument* document, RawScene* scene) {
  const std::vector<uint32_t> matches = MatchNodes(*document, *scene);
  if (!matches.empty()) SkinAttachment(sources, document, scene).Run(matches);
}

}  // namespace plush::tools
