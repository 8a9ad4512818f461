// SPDX-License-Identifier: MIT
// Makes a scene of a glTF document: materials, nodes and their instances, meshes, extras.
// Sources: Khronos Group. glTF 2.0 Specification. 2021; EXT_mesh_gpu_instancing. 2020
#include "import/gltf_reader.h"

#include "base/text.h"
#include "import/gltf_document.h"
#include "import/gltf_extensions.h"
#include "import/gltf_primitive.h"
#include "import/gltf_skins.h"
#include "import/missing_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using nlohmann::json;
using Matrix = std::array<double, 16>;  // row-major, acts on columns

// Far more than any scene shows.
constexpr size_t kMaxGltfNodes = 1 << 20;

// Reads an array of numbers into `numbers`, which keep their values if there is none. False if the
// array is invalid.
bool ReadNumbers(const json& array, std::span<double> numbers) {
  if (array.is_null()) return true;
  if (!array.is_array() || array.size() != numbers.size()) return false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!array[i].is_number()) return false;
    numbers[i] = array[i].get<double>();
  }
  return true;
}

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

class GltfReader {
 public:
  explicit GltfReader(GltfDocument* document) : document_(*document) {}

  Result<RawScene> Run() {
    scene_.format = "glTF2";
    const Result<Done> extensions = CheckGltfExtensions(document_.root(), &scene_.findings);
    if (!extensions.ok()) return extensions.error();
    ReadMaterials();
    ReadNodes();
    if (!notes_.refusal.empty()) {
      return Error{ExitCode::kInvalidInput, PrintableUtf8(notes_.refusal), "IMPORT_FAILED"};
    }
    AddGltfSkins(sources_, &document_, &scene_);
    AddExtras();
    AddFindings();
    return std::move(scene_);
  }

 private:
  void Refuse(const std::string& what) {
    if (notes_.refusal.empty()) notes_.refusal = what;
  }

  void ReadMaterials() {
    for (const json& material : document_.Top("materials")) {
      std::array<double, 4> colour = {1, 1, 1, 1};
      ReadNumbers(GltfMember(GltfMember(material, "pbrMetallicRoughness"), "baseColorFactor"),
                  colour);
      scene_.materials.push_back(GltfText(material, "name"));
      scene_.colours.push_back({static_cast<float>(colour[0]), static_cast<float>(colour[1]),
                                static_cast<float>(colour[2])});
    }
    scene_.materials.emplace_back();
    scene_.colours.push_back({1.0f, 1.0f, 1.0f});
  }

  // The nodes of the scene that is shown.
  json Roots() {
    const json& scenes = document_.Top("scenes");
    const json& nodes = document_.Top("nodes");
    if (!scenes.empty()) {
      const auto shown = GltfNumber(document_.root(), "scene", 0);
      if (shown && *shown < scenes.size()) return GltfMember(scenes[*shown], "nodes");
      Refuse("the default scene does not exist");
      return {};
    }
    std::vector<bool> is_child(nodes.size(), false);
    for (const json& node : nodes) {
      for (const json& child : GltfMember(node, "children")) {
        if (child.is_number_unsigned() && child.get<size_t>() < nodes.size()) {
          is_child[child.get<size_t>()] = true;
        }
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
    std::vector<std::pair<uint64_t, int32_t>> stack;  // node and its parent in the scene
    const auto push_all = [&](const json& children, int32_t parent) {
      for (size_t i = children.size(); children.is_array() && i-- > 0;) {
        const bool is_index = children[i].is_number_unsigned();
        stack.emplace_back(is_index ? children[i].get<uint64_t>() : UINT64_MAX, parent);
      }
    };
    push_all(Roots(), -1);
    while (!stack.empty() && notes_.refusal.empty()) {
      const auto [index, parent] = stack.back();
      stack.pop_back();
      if (index >= nodes.size()) return Refuse("a scene or node names a node that does not exist");
      const std::string place = GltfPlace("nodes", index);
      if (is_placed[index]) return Refuse(place + " is a child of two nodes, or of itself");
      is_placed[index] = true;
      const auto number = static_cast<int32_t>(scene_.nodes.size());
      push_all(GltfMember(nodes[index], "children"), number);
      AddNode(nodes[index], static_cast<uint32_t>(index), parent);
    }
  }

  void AddNode(const json& node, uint32_t index, int32_t parent) {
    const std::string place = GltfPlace("nodes", index);
    RawNode raw;
    raw.name = GltfText(node, "name");
    if (raw.name.empty()) raw.name = place;
    raw.parent = parent;
    const auto transform = TransformOf(node);
    if (!transform) return Refuse(place + ": its transform is invalid");
    raw.to_parent = *transform;
    std::vector<uint32_t> meshes = MeshesOf(node, place);
    const json& instancing = GltfExtension(node, "EXT_mesh_gpu_instancing");
    if (!instancing.is_object()) {
      raw.meshes = std::move(meshes);
      Append(std::move(raw), index);
      return;
    }
    const auto number = static_cast<int32_t>(scene_.nodes.size());
    const std::string name = raw.name;
    Append(std::move(raw), index);
    const auto instances = InstancesOf(GltfMember(instancing, "attributes"));
    if (!instances) return Refuse(place + ": EXT_mesh_gpu_instancing: " + document_.problem());
    for (const Trs& trs : *instances) Append({name, number, ToMatrix(trs), meshes}, index);
  }

  void Append(RawNode node, uint32_t source) {
    if (scene_.nodes.size() >= kMaxGltfNodes) return Refuse("it shows more than 2^20 nodes");
    scene_.nodes.push_back(std::move(node));
    sources_.push_back(source);
  }

  static std::optional<Matrix> TransformOf(const json& node) {
    Matrix columns = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    Trs trs;
    if (!ReadNumbers(GltfMember(node, "matrix"), columns) ||
        !ReadNumbers(GltfMember(node, "translation"), trs.translation) ||
        !ReadNumbers(GltfMember(node, "rotation"), trs.rotation) ||
        !ReadNumbers(GltfMember(node, "scale"), trs.scale)) {
      return std::nullopt;
    }
    if (GltfMember(node, "matrix").is_null()) return ToMatrix(trs);
    Matrix rows;
    for (size_t k = 0; k < 16; ++k) rows[4 * (k % 4) + k / 4] = columns[k];
    return rows;
  }

  // Nothing, with the document's problem(), if the attributes are invalid.
  std::optional<std::vector<Trs>> InstancesOf(const json& attributes) {
    std::optional<std::vector<Trs>> instances;
    const auto read = [&](const char* name, auto member) {
      const size_t n = (Trs().*member).size();
      if (GltfMember(attributes, name).is_null()) return true;
      const auto values = document_.ReadAccessor(GltfMember(attributes, name));
      if (!values) return false;
      if (!instances) instances.emplace(std::min(values->count, kMaxGltfNodes));
      if (values->num_components != n || values->count != instances->size()) {
        document_.Problem(std::string(name) +
                          ": beyond 2^20 elements, or not as many as the others");
        return false;
      }
      for (size_t i = 0; i < values->values.size(); ++i) {
        ((*instances)[i / n].*member)[i % n] = static_cast<double>(values->values[i]);
      }
      return true;
    };
    document_.Problem("it has no attributes");
    const bool is_valid = read("TRANSLATION", &Trs::translation) &&
                          read("ROTATION", &Trs::rotation) && read("SCALE", &Trs::scale);
    return is_valid ? std::move(instances) : std::nullopt;
  }

  // The weights of a node's morph targets; empty if all are zero.
  static std::vector<double> WeightsOf(const json& node, const json& mesh) {
    const json& of_node = GltfMember(node, "weights");
    std::vector<double> weights;
    for (const json& weight : of_node.is_null() ? GltfMember(mesh, "weights") : of_node) {
      weights.push_back(weight.is_number() ? weight.get<double>() : 0.0);
    }
    while (!weights.empty() && weights.back() == 0.0) weights.pop_back();
    return weights;
  }

  // The scene's meshes for what a node shows.
  std::vector<uint32_t> MeshesOf(const json& node, const std::string& place) {
    const json& index = GltfMember(node, "mesh");
    if (index.is_null()) return {};
    const json& meshes = document_.Top("meshes");
    if (!index.is_number_unsigned() || index.get<uint64_t>() >= meshes.size()) {
      Refuse(place + " shows a mesh that does not exist");
      return {};
    }
    const auto number = index.get<size_t>();
    const auto [found, is_new] = meshes_.try_emplace({number, WeightsOf(node, meshes[number])});
    if (is_new) found->second = ReadMesh(meshes[number], number, found->first.second);
    return found->second;
  }

  std::vector<uint32_t> ReadMesh(const json& mesh, size_t number, std::span<const double> weights) {
    std::vector<uint32_t> result;
    const std::string place = GltfPlace("meshes", number);
    const std::string name = GltfText(mesh, "name");
    const json& primitives = GltfMember(mesh, "primitives");
    for (size_t p = 0; primitives.is_array() && p < primitives.size(); ++p) {
      auto raw = ReadGltfPrimitive(primitives[p], place + "." + GltfPlace("primitives", p), weights,
                                   &document_, &notes_);
      if (!notes_.refusal.empty()) return {};
      if (!raw) continue;
      raw->name = !name.empty()            ? name
                  : primitives.size() == 1 ? place
                                           : place + "-" + std::to_string(p);
      raw->material = MaterialOf(primitives[p], place);
      result.push_back(static_cast<uint32_t>(scene_.meshes.size()));
      scene_.meshes.push_back(std::move(*raw));
    }
    return result;
  }

  uint32_t MaterialOf(const json& primitive, const std::string& place) {
    const size_t none = scene_.materials.size() - 1;
    const auto material = GltfNumber(primitive, "material", none);
    if (material && *material <= none) return static_cast<uint32_t>(*material);
    Refuse(place + " has a material that does not exist");
    return 0;
  }

  void AddExtras(const json& object, const std::string& owner) {
    const json& extras = GltfMember(object, "extras");
    if (extras.is_null()) return;
    scene_.extras.push_back({owner, extras.dump(-1, ' ', false, json::error_handler_t::replace)});
  }

  void AddExtras() {
    const json& scenes = document_.Top("scenes");
    const auto shown = GltfNumber(document_.root(), "scene", 0);
    if (shown && *shown < scenes.size()) AddExtras(scenes[*shown], "scene");
    for (const auto& [array, kind] : {std::pair("nodes", "node:"), std::pair("meshes", "mesh:"),
                                      std::pair("materials", "material:")}) {
      const json& objects = document_.Top(array);
      for (size_t i = 0; i < objects.size(); ++i) {
        const std::string name = GltfText(objects[i], "name");
        AddExtras(objects[i], kind + (name.empty() ? GltfPlace(array, i) : name));
      }
    }
  }

  void AddFindings() {
    const auto add = [this](const char* code, uint64_t count, const std::string& message) {
      if (count > 0) scene_.findings.push_back({code, count, message});
    };
    add("IMPORT_LEFT_OUT", notes_.num_without_surface,
        "points, lines, or primitives without positions: " +
            std::to_string(notes_.num_without_surface));
    add("IMPORT_ATTRIBUTE", notes_.num_lost_attributes, notes_.first_lost);
    document_.LookForOtherFiles();
    const GltfFiles& files = document_.files();
    scene_.dependencies.assign(files.read().begin(), files.read().end());
    AddMissingFiles(files.missing(), &scene_);
  }

  GltfDocument& document_;
  RawScene scene_;
  std::vector<uint32_t> sources_;  // the document's node of each of the scene
  GltfNotes notes_;
  std::map<std::pair<size_t, std::vector<double>>, std::vector<uint32_t>> meshes_;
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
  return GltfReader(&document.value()).Run();
}

}  // namespace plush::tools
