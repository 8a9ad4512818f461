// SPDX-License-Identifier: MIT
// Makes a scene of a glTF document: materials, nodes and their instances, meshes, skins, extras.
// Sources: Khronos Group. glTF 2.0 Specification. 2021; EXT_mesh_gpu_instancing. 2020
#include "import/gltf_reader.h"

#include "base/text.h"
#include "import/gltf_document.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;
using Matrix = std::array<double, 16>;  // row-major, acts on columns

// Far more than any scene shows.
constexpr size_t kMaxNodes = 1 << 20;
constexpr uint32_t kNoNode = UINT32_MAX;

struct Trs {
  std::array<double, 3> translation = {0, 0, 0};
  std::array<double, 4> rotation = {0, 0, 0, 1};  // x, y, z, w; of any length
  std::array<double, 3> scale = {1, 1, 1};
};

Matrix ToMatrix(const Trs& trs) {
  auto [x, y, z, w] = trs.rotation;
  const double length = std::sqrt(x * x + y * y + z * z + w * w);
  if (length > 0.0) x /= length, y /= length, z /= length, w /= length;
  const double rotation[3][3] = {
      {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
  Matrix matrix = {};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t k = 0; k < 3; ++k) matrix[4 * row + k] = rotation[row][k] * trs.scale[k];
    matrix[4 * row + 3] = trs.translation[row];
  }
  matrix[15] = 1.0;
  return matrix;
}

Matrix TransformOf(const json& node) {
  Matrix columns = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  Trs trs;
  if (!GltfNumbers(GltfMember(node, "matrix"), columns) ||
      !GltfNumbers(GltfMember(node, "translation"), trs.translation) ||
      !GltfNumbers(GltfMember(node, "rotation"), trs.rotation) ||
      !GltfNumbers(GltfMember(node, "scale"), trs.scale)) {
    RefuseGltf("its transform is invalid");
  }
  if (GltfMember(node, "matrix").is_null()) return ToMatrix(trs);
  Matrix rows;
  for (size_t k = 0; k < 16; ++k) rows[4 * (k % 4) + k / 4] = columns[k];
  return rows;
}

// The weights of a node's morph targets; empty if all are zero.
std::vector<double> WeightsOf(const json& node, const json& mesh) {
  const json& of_node = GltfMember(node, "weights");
  std::vector<double> weights;
  for (const json& weight : of_node.is_null() ? GltfMember(mesh, "weights") : of_node) {
    weights.push_back(weight.is_number() ? weight.get<double>() : 0.0);
  }
  while (!weights.empty() && weights.back() == 0.0) weights.pop_back();
  return weights;
}

// The number of a mesh, and the skin and the weights of morph targets that a node gives it.
using MeshUse = std::tuple<size_t, std::optional<size_t>, std::vector<double>>;

class GltfReader {
 public:
  explicit GltfReader(GltfDocument* document) : document_(*document) {}

  RawScene Run() {
    scene_.format = "glTF2";
    CheckGltfExtensions(document_.root(), &scene_.findings);
    ReadMaterials();
    for (const json& skin : document_.Top("skins")) skins_.push_back(JointsOf(skin));
    ReadNodes();
    for (RawMesh& mesh : scene_.meshes) ResolveJoints(&mesh);
    AddExtras();
    AddFindings();
    return std::move(scene_);
  }

 private:
  void ReadMaterials() {
    for (const json& material : document_.Top("materials")) {
      std::array<double, 4> colour = {1, 1, 1, 1};
      GltfNumbers(GltfMember(GltfMember(material, "pbrMetallicRoughness"), "baseColorFactor"),
                  colour);
      scene_.materials.push_back(GltfText(material, "name"));
      scene_.colours.push_back({static_cast<float>(colour[0]), static_cast<float>(colour[1]),
                                static_cast<float>(colour[2])});
    }
    scene_.materials.emplace_back();
    scene_.colours.push_back({1.0f, 1.0f, 1.0f});
  }

  // A skin's joints by the document's nodes, kNoNode for those that do not exist. None if the skin
  // is invalid.
  std::vector<RawJoint> JointsOf(const json& skin) {
    const json& nodes = GltfMember(skin, "joints");
    const json& index = GltfMember(skin, "inverseBindMatrices");
    GltfValues<float> columns;  // the identity for each joint if the skin gives none
    try {
      if (!index.is_null()) columns = document_.ReadAccessor(index);
    } catch (const Error&) {
      return {};
    }
    const bool has_all = columns.num_components == 16 && columns.count >= nodes.size();
    if (!nodes.is_array() || (!index.is_null() && !has_all)) return {};
    std::vector<RawJoint> joints(nodes.size());
    for (size_t i = 0; i < joints.size(); ++i) {
      const auto node = GltfIndex(nodes[i], document_.Top("nodes").size());
      joints[i].node = node ? static_cast<uint32_t>(*node) : kNoNode;
      for (size_t k = 0; k < 16 && has_all; ++k) {
        joints[i].inverse_bind[4 * (k % 4) + k / 4] = columns.values[16 * i + k];
      }
    }
    return joints;
  }

  // Replaces the document's nodes by the scene's. Leaves out joints outside the scene, weights of
  // joints that do not exist, and the joints of a mesh without weights.
  void ResolveJoints(RawMesh* mesh) {
    std::vector<RawJoint> joints;
    std::vector<uint32_t> number;  // of each of the mesh's joints in `joints`
    for (const RawJoint& joint : mesh->joints) {
      const auto node = first_of_source_.find(joint.node);
      const bool is_shown = node != first_of_source_.end();
      number.push_back(is_shown ? static_cast<uint32_t>(joints.size()) : kNoNode);
      if (is_shown) joints.push_back({node->second, joint.inverse_bind});
    }
    std::erase_if(mesh->weights, [&](RawWeight& weight) {
      weight.joint = weight.joint < number.size() ? number[weight.joint] : kNoNode;
      return weight.joint == kNoNode;
    });
    mesh->joints = mesh->weights.empty() ? std::vector<RawJoint>() : std::move(joints);
  }

  // The scene that is shown; null if the document has no scenes.
  const json& Shown() {
    const json& scenes = document_.Top("scenes");
    if (scenes.empty()) return GltfMember(scenes, "");
    const auto shown = GltfNumber(document_.root(), "scene", 0);
    if (shown && *shown < scenes.size()) return scenes[*shown];
    RefuseGltf("the default scene does not exist");
  }

  // The nodes of the scene that is shown.
  json Roots() {
    const json& nodes = document_.Top("nodes");
    if (!document_.Top("scenes").empty()) return GltfMember(Shown(), "nodes");
    std::vector<bool> is_child(nodes.size(), false);
    for (const json& node : nodes) {
      for (const json& child : GltfMember(node, "children")) {
        if (const auto index = GltfIndex(child, nodes.size())) is_child[*index] = true;
      }
    }
    json roots = json::array();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!is_child[i]) roots.push_back(i);
    }
    return roots;
  }

  // Depth first, without recursion, since files may nest nodes to any depth.
  void ReadNodes() {
    const json& nodes = document_.Top("nodes");
    std::vector<bool> is_placed(nodes.size(), false);
    std::vector<std::pair<size_t, int32_t>> stack;  // node and its parent in the scene
    const auto push_all = [&](const json& children, int32_t parent) {
      for (size_t i = children.size(); children.is_array() && i-- > 0;) {
        stack.emplace_back(GltfIndex(children[i], nodes.size()).value_or(nodes.size()), parent);
      }
    };
    push_all(Roots(), -1);
    while (!stack.empty()) {
      const auto [index, parent] = stack.back();
      stack.pop_back();
      if (index >= nodes.size()) RefuseGltf("a scene or node names a node that does not exist");
      const std::string place = GltfPlace("nodes", index);
      if (is_placed[index]) RefuseGltf(place + " is a child of two nodes, or of itself");
      is_placed[index] = true;
      const auto number = static_cast<int32_t>(scene_.nodes.size());
      push_all(GltfMember(nodes[index], "children"), number);
      AddNode(nodes[index], place, static_cast<uint32_t>(index), parent);
    }
  }

  void AddNode(const json& node, const std::string& place, uint32_t index, int32_t parent) {
    const std::string name = NameOf(node, place);
    std::optional<std::vector<Trs>> instances;
    std::vector<uint32_t> meshes = MeshesOf(node, place);
    Matrix transform;
    try {
      transform = TransformOf(node);
      const json& instancing = GltfExtension(node, "EXT_mesh_gpu_instancing");
      if (instancing.is_object()) instances = InstancesOf(GltfMember(instancing, "attributes"));
    } catch (const Error& error) {
      throw error.WithContext(place);
    }
    const auto number = static_cast<int32_t>(scene_.nodes.size());
    Append({name, parent, transform, instances ? std::vector<uint32_t>() : meshes}, index);
    if (!instances) return;
    for (const Trs& trs : *instances) Append({name, number, ToMatrix(trs), meshes}, index);
  }

  void Append(RawNode node, uint32_t source) {
    if (scene_.nodes.size() >= kMaxNodes) RefuseGltf("it shows more than 2^20 nodes");
    first_of_source_.emplace(source, static_cast<uint32_t>(scene_.nodes.size()));
    scene_.nodes.push_back(std::move(node));
  }

  std::vector<Trs> InstancesOf(const json& attributes) {
    std::optional<std::vector<Trs>> instances;
    const auto read = [&](const char* name, auto member) {
      const size_t n = (Trs().*member).size();
      if (GltfMember(attributes, name).is_null()) return;
      const auto values = document_.ReadAccessor(GltfMember(attributes, name));
      if (!instances) instances.emplace(std::min(values.count, kMaxNodes));
      if (values.num_components != n || values.count != instances->size()) {
        RefuseGltf(std::string("EXT_mesh_gpu_instancing: ") + name +
                   ": beyond 2^20 elements, or not as many as the others");
      }
      for (size_t i = 0; i < values.values.size(); ++i) {
        ((*instances)[i / n].*member)[i % n] = static_cast<double>(values.values[i]);
      }
    };
    read("TRANSLATION", &Trs::translation);
    read("ROTATION", &Trs::rotation);
    read("SCALE", &Trs::scale);
    if (!instances) RefuseGltf("EXT_mesh_gpu_instancing: it has no attributes");
    return std::move(*instances);
  }

  static std::string NameOf(const json& object, const std::string& place) {
    const std::string name = GltfText(object, "name");
    return name.empty() ? place : name;
  }

  // The scene's meshes for what a node shows.
  std::vector<uint32_t> MeshesOf(const json& node, const std::string& place) {
    const json& index = GltfMember(node, "mesh");
    if (index.is_null()) return {};
    const json& meshes = document_.Top("meshes");
    const auto number = GltfIndex(index, meshes.size());
    if (!number) RefuseGltf(place + " shows a mesh that does not exist");
    const MeshUse use = {*number, GltfIndex(GltfMember(node, "skin"), skins_.size()),
                         WeightsOf(node, meshes[*number])};
    const auto [found, is_new] = meshes_.try_emplace(use);
    if (is_new) found->second = ReadMesh(meshes[*number], use);
    return found->second;
  }

  std::vector<uint32_t> ReadMesh(const json& mesh, const MeshUse& use) {
    const auto& [number, skin, weights] = use;
    std::vector<uint32_t> result;
    const std::string place = GltfPlace("meshes", number);
    const json& primitives = GltfMember(mesh, "primitives");
    for (size_t p = 0; primitives.is_array() && p < primitives.size(); ++p) {
      auto raw = ReadGltfPrimitive(primitives[p], place + "." + GltfPlace("primitives", p), weights,
                                   &document_, &notes_);
      if (!raw) continue;
      raw->name = NameOf(mesh, primitives.size() == 1 ? place : place + "-" + std::to_string(p));
      const size_t none = scene_.materials.size() - 1;
      const auto material = GltfNumber(primitives[p], "material", none);
      if (!material || *material > none) RefuseGltf(place + " has a material that does not exist");
      raw->material = static_cast<uint32_t>(*material);
      if (skin && !raw->weights.empty()) raw->joints = skins_[*skin];
      result.push_back(static_cast<uint32_t>(scene_.meshes.size()));
      scene_.meshes.push_back(std::move(*raw));
    }
    return result;
  }

  void AddExtras(const json& object, const std::string& owner) {
    const json& extras = GltfMember(object, "extras");
    if (extras.is_null()) return;
    scene_.extras.push_back({owner, extras.dump(-1, ' ', false, json::error_handler_t::replace)});
  }

  void AddExtras() {
    AddExtras(Shown(), "scene");
    for (const auto& [array, kind] : {std::pair("nodes", "node:"), std::pair("meshes", "mesh:"),
                                      std::pair("materials", "material:")}) {
      const json& objects = document_.Top(array);
      for (size_t i = 0; i < objects.size(); ++i) {
        AddExtras(objects[i], kind + NameOf(objects[i], GltfPlace(array, i)));
      }
    }
  }

  void AddFinding(const char* code, uint64_t count, const std::string& message) {
    if (count > 0) scene_.findings.push_back({code, count, message});
  }

  void AddFindings() {
    AddFinding("IMPORT_LEFT_OUT", notes_.num_without_surface,
               "points, lines, or primitives without positions: " +
                   std::to_string(notes_.num_without_surface));
    AddFinding("IMPORT_ATTRIBUTE", notes_.num_lost_attributes, notes_.first_lost);
    document_.AddFiles(&scene_);
  }

  GltfDocument& document_;
  RawScene scene_;
  std::vector<std::vector<RawJoint>> skins_;      // by the document's nodes
  std::map<uint32_t, uint32_t> first_of_source_;  // the scene's first node for one of the document
  GltfNotes notes_;
  std::map<MeshUse, std::vector<uint32_t>> meshes_;
};

}  // namespace

bool IsGltf(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return text.starts_with("glTF") || (first != text.npos && text[first] == '{');
}

Result<RawScene> ReadGltf(const std::string& path, std::span<const std::byte> bytes) {
  Result<GltfDocument> document = GltfDocument::Parse(bytes, path);
  if (!document.ok()) return document.error();
  try {
    return GltfReader(&document.value()).Run();
  } catch (const Error& error) {
    return Error{error.exit_code, PrintableUtf8(error.message), error.finding_code};
  }
}

}  // namespace plush::tools
