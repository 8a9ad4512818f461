// SPDX-License-Identifier: MIT
// Source: Khronos Group. glTF 2.0 Specification, 3.7.3. 2021
#include "import/gltf_document.h"

#include <map>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint32_t kNoJoint = UINT32_MAX;

struct Skin {
  std::vector<RawJoint> joints;
  std::vector<uint32_t> kept;  // number of each of the skin's joints in `joints`, or kNoJoint
};

// Without joints if the skin is invalid. `raw_node` is the scene's node of each of the document.
Skin ReadSkin(const json& skin, std::span<const uint32_t> raw_node, GltfDocument* document) {
  const json& nodes = GltfMember(skin, "joints");
  const json& index = GltfMember(skin, "inverseBindMatrices");
  GltfValues<float> columns;  // the identity for each joint if the skin gives none
  try {
    if (!index.is_null()) columns = document->ReadAccessor(index);
  } catch (const Error&) {
    return {};
  }
  const bool is_valid = columns.num_components == 16 && columns.count >= nodes.size();
  if (!nodes.is_array() || (!index.is_null() && !is_valid)) return {};
  Skin result;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto node = GltfIndex(nodes[i], raw_node.size());
    RawJoint joint = {.node = node ? raw_node[*node] : kNoJoint};
    for (size_t k = 0; k < 16 && is_valid; ++k) {
      joint.inverse_bind[4 * (k % 4) + k / 4] = columns.values[16 * i + k];
    }
    const bool is_kept = joint.node != kNoJoint;
    result.kept.push_back(is_kept ? static_cast<uint32_t>(result.joints.size()) : kNoJoint);
    if (is_kept) result.joints.push_back(joint);
  }
  return result;
}

// Gives each node of the scene that shows a mesh with a skin its skinned mesh.
class SkinAttachment {
 public:
  SkinAttachment(std::span<const uint32_t> sources, GltfDocument* document, RawScene* scene)
      : sources_(sources), document_(*document), scene_(scene) {
    std::vector<uint32_t> raw_node(document_.Top("nodes").size(), kNoJoint);
    for (uint32_t i = 0; i < sources.size(); ++i) {
      if (raw_node[sources[i]] == kNoJoint) raw_node[sources[i]] = i;
    }
    for (const json& skin : document_.Top("skins")) {
      skins_.push_back(ReadSkin(skin, raw_node, document));
    }
  }

  void Run() {
    for (RawMesh& mesh : scene_->meshes) weights_.push_back(std::exchange(mesh.weights, {}));
    is_taken_.resize(weights_.size(), false);
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (SkinOf(i) != nullptr) continue;
      for (const uint32_t mesh : scene_->nodes[i].meshes) is_taken_[mesh] = true;
    }
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Skin* skin = SkinOf(i);
      if (skin == nullptr) continue;
      for (uint32_t& mesh : scene_->nodes[i].meshes) mesh = Skinned(mesh, skin);
    }
  }

 private:
  // Null if the scene's node has no valid skin.
  const Skin* SkinOf(size_t node) const {
    const json& index = GltfMember(document_.Top("nodes")[sources_[node]], "skin");
    const auto skin = GltfIndex(index, skins_.size());
    return skin && !skins_[*skin].joints.empty() ? &skins_[*skin] : nullptr;
  }

  // The number of the mesh with this skin; `mesh` itself if it has no weights.
  uint32_t Skinned(uint32_t mesh, const Skin* skin) {
    const auto [place, is_new] = made_.try_emplace({mesh, skin}, mesh);
    if (!is_new) return place->second;
    std::vector<RawWeight> weights;
    for (RawWeight weight : weights_[mesh]) {
      weight.joint = weight.joint < skin->kept.size() ? skin->kept[weight.joint] : kNoJoint;
      if (weight.joint != kNoJoint) weights.push_back(weight);
    }
    if (weights.empty()) return mesh;
    if (is_taken_[mesh]) {
      place->second = static_cast<uint32_t>(scene_->meshes.size());
      scene_->meshes.push_back(RawMesh(scene_->meshes[mesh]));
    }
    is_taken_[mesh] = true;
    scene_->meshes[place->second].joints = skin->joints;
    scene_->meshes[place->second].weights = std::move(weights);
    return place->second;
  }

  std::span<const uint32_t> sources_;
  const GltfDocument& document_;
  RawScene* scene_;
  std::vector<Skin> skins_;
  std::vector<std::vector<RawWeight>> weights_;  // of each mesh that was read
  std::vector<bool> is_taken_;                   // shown without a skin, or with another
  std::map<std::pair<uint32_t, const Skin*>, uint32_t> made_;
};

}  // namespace

void AddGltfSkins(std::span<const uint32_t> sources, GltfDocument* document, RawScene* scene) {
  SkinAttachment(sources, document, scene).Run();
}

}  // namespace plush::tools
