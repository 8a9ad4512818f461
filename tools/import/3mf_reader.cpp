// SPDX-License-Identifier: MIT
// Parses the XML of the archive's models with pugixml, and follows the items of the build.
#include "base/result.h"
#include "base/text.h"
#include "import/own_formats.h"

#include <minizip/unzip.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr int kIgnoreCase = 2;

Error Invalid(const std::string& why) { return {ExitCode::kInvalidInput, why, "IMPORT_FAILED"}; }

// Unpacks parts by name. The sum of their sizes is limited, whatever the archive announces.
class ThreeMfPackage {
 public:
  // Largest sum of the sizes of unpacked parts [bytes].
  static constexpr uint64_t kMaxBytes = 1ull << 30;

  // Errors: kInvalidInput (no ZIP archive).
  static Result<ThreeMfPackage> Open(const std::string& path) {
    ThreeMfPackage package;
    package.zip_.reset(unzOpen64(path.c_str()));
    if (package.zip_ == nullptr) return Invalid("the file is no whole ZIP archive; it may be cut");
    return package;
  }

  // The bytes of a part. `name`: with or without the slash at its beginning; case does not matter.
  // Errors: kInvalidInput (missing, broken), kLimit.
  Result<std::vector<char>> Read(std::string name) {
    if (name.starts_with('/')) name.erase(0, 1);
    const std::string quoted = "part '" + PrintableUtf8(name) + "' ";
    if (unzLocateFile(zip_.get(), name.c_str(), kIgnoreCase) != UNZ_OK) {
      return Invalid(quoted + "is missing");
    }
    if (unzOpenCurrentFile(zip_.get()) != UNZ_OK) return Invalid(quoted + "cannot be unpacked");
    std::vector<char> bytes;
    int count = 0;
    do {
      const size_t size = bytes.size();
      bytes.resize(size + kPieceBytes);
      count = unzReadCurrentFile(zip_.get(), bytes.data() + size, kPieceBytes);
      bytes.resize(size + static_cast<size_t>(std::max(count, 0)));
    } while (count > 0 && bytes.size() <= bytes_left_);
    const bool is_whole = unzCloseCurrentFile(zip_.get()) == UNZ_OK && count == 0;
    if (bytes.size() > bytes_left_) {
      return Error{ExitCode::kLimit,
                   "the unpacked parts have more than " + std::to_string(kMaxBytes) + " bytes",
                   "IMPORT_LIMIT"};
    }
    if (!is_whole) return Invalid(quoted + "is broken");
    bytes_left_ -= bytes.size();
    return bytes;
  }

 private:
  struct Close {
    void operator()(void* zip) const { unzClose(zip); }
  };
  std::unique_ptr<void, Close> zip_;
  uint64_t bytes_left_ = kMaxBytes;
};

constexpr int kMaxDepth = 32;
constexpr size_t kMaxNodes = 1 << 18;
constexpr uint32_t kNone = UINT32_MAX;
constexpr std::string_view kRootPart = "3D/3dmodel.model";

constexpr auto kUnits = std::to_array<NamedValue<double>>({{"micron", 1e-6},
                                                           {"millimeter", 1e-3},
                                                           {"centimeter", 1e-2},
                                                           {"inch", 0.0254},
                                                           {"foot", 0.3048},
                                                           {"meter", 1.0}});

// Namespaces of the extensions that may be required.
constexpr auto kExtensions = std::to_array<std::string_view>(
    {"http://schemas.microsoft.com/3dmanufacturing/core/2015/02",
     "http://schemas.microsoft.com/3dmanufacturing/material/2015/02",
     "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"});

// An object, by its part and its id.
using ObjectKey = std::pair<std::string, std::string>;

// Sets `error` if the text is not a number.
double NumberOf(const pugi::xml_attribute& attribute, bool* error) {
  std::string_view text = attribute.value();
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  double value = 0.0;
  if (!TakeNumber(&text, &value) || text.find_first_not_of(" \t\r\n") != text.npos) *error = true;
  return value;
}

std::optional<uint32_t> IndexOf(const pugi::xml_attribute& attribute) {
  const std::string_view text = attribute.value();
  uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// The attribute whose name is `name` behind any prefix.
pugi::xml_attribute AnyPrefix(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string_view full = attribute.name();
    if (full.substr(full.find(':') + 1) == name) return attribute;
  }
  return {};
}

class ThreeMfReader {
 public:
  explicit ThreeMfReader(ThreeMfPackage package) : package_(std::move(package)) {}

  Result<RawScene> Run() {
    scene_.format = "3mf";
    scene_.up = 'Z';
    scene_.nodes.push_back({.name = "3MF"});
    const std::string root = RootPart();
    const pugi::xml_node model = Model(root);
    if (!error_) ReadUnit(model);
    for (const pugi::xml_node& item : model.child("build").children("item")) {
      const pugi::xml_attribute path = AnyPrefix(item, "path");
      Place({path ? path.value() : root, item.attribute("objectid").value()},
            item.attribute("transform"), 0, 0);
    }
    if (error_) return *error_;
    if (num_support_ > 0) {
      scene_.findings.push_back(
          {"IMPORT_LEFT_OUT", num_support_, std::to_string(num_support_) + " support objects"});
    }
    return std::move(scene_);
  }

 private:
  void Refuse(const std::string& why, ExitCode code = ExitCode::kInvalidInput) {
    if (error_) return;
    error_ = Error{code, PrintableUtf8(why),
                   code == ExitCode::kUnsupported ? "IMPORT_UNSUPPORTED" : "IMPORT_FAILED"};
  }

  // The part that the archive's relationships name.
  std::string RootPart() {
    const auto bytes = package_.Read("_rels/.rels");
    pugi::xml_document document;
    if (bytes.ok()) document.load_buffer(bytes.value().data(), bytes.value().size());
    for (const pugi::xml_node& relationship : document.child("Relationships").children()) {
      if (std::string_view(relationship.attribute("Type").value()).ends_with("/3dmodel")) {
        return relationship.attribute("Target").value();
      }
    }
    return std::string(kRootPart);
  }

  // Parses a part when it is needed first.
  pugi::xml_node Model(const std::string& part) {
    const auto known = documents_.find(part);
    if (known != documents_.end()) return known->second->child("model");
    Result<std::vector<char>> bytes = package_.Read(part);
    if (!bytes.ok()) {
      if (!error_) error_ = bytes.error();
      return {};
    }
    pugi::xml_document& document = *(documents_[part] = std::make_unique<pugi::xml_document>());
    const pugi::xml_parse_result parsed =
        document.load_buffer(bytes.value().data(), bytes.value().size());
    if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
    const pugi::xml_node model = document.child("model");
    if (!parsed || !model) {
      Refuse("part '" + part + "', byte " + std::to_string(parsed.offset) + ": " +
             (parsed ? "no model" : parsed.description()));
      return {};
    }
    CheckExtensions(model);
    for (const pugi::xml_node& object : model.child("resources").children("object")) {
      objects_.emplace(ObjectKey(part, object.attribute("id").value()), object);
    }
    for (const pugi::xml_node& group : model.child("resources").children("basematerials")) {
      AddMaterials(part, group);
    }
    return model;
  }

  void CheckExtensions(const pugi::xml_node& model) {
    std::string_view prefixes = model.attribute("requiredextensions").value();
    while (!prefixes.empty()) {
      const std::string prefix(prefixes.substr(0, prefixes.find(' ')));
      prefixes.remove_prefix(std::min(prefix.size() + 1, prefixes.size()));
      const std::string_view space = model.attribute(("xmlns:" + prefix).c_str()).value();
      if (prefix.empty() ||
          std::find(kExtensions.begin(), kExtensions.end(), space) != kExtensions.end()) {
        continue;
      }
      Refuse("the file requires the extension '" + prefix + "' (" + std::string(space) + ")",
             ExitCode::kUnsupported);
    }
  }

  void ReadUnit(const pugi::xml_node& model) {
    const std::string_view name = model.attribute("unit").as_string("millimeter");
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                   [name](const auto& known) { return known.name == name; });
    if (unit == kUnits.end()) return Refuse("unknown unit '" + std::string(name) + "'");
    scene_.unit_m = unit->value;
  }

  void AddMaterials(const std::string& part, const pugi::xml_node& group) {
    const std::string id = group.attribute("id").value();
    std::vector<uint32_t>& numbers = materials_[{part, id}];
    for (const pugi::xml_node& base : group.children("base")) {
      numbers.push_back(AddMaterial("id" + id + "_" + base.attribute("name").value(),
                                    ColourOf(base.attribute("displaycolor").value())));
    }
  }

  uint32_t AddMaterial(const std::string& name, const Vec3& colour) {
    scene_.materials.push_back(name);
    scene_.colours.push_back(colour);
    return static_cast<uint32_t>(scene_.materials.size() - 1);
  }

  // "#RRGGBB" or "#RRGGBBAA"; white for anything else.
  static Vec3 ColourOf(std::string_view text) {
    uint32_t rgb = 0;
    if (text.size() < 7 || text[0] != '#' ||
        std::from_chars(text.data() + 1, text.data() + 7, rgb, 16).ptr != text.data() + 7) {
      return {1.0f, 1.0f, 1.0f};
    }
    const auto channel = [rgb](int shift) {
      return static_cast<float>((rgb >> shift) & 0xff) / 255.0f;
    };
    return {channel(16), channel(8), channel(0)};
  }

  // The number of a material; that of DefaultMaterial if there is none.
  uint32_t MaterialOf(const ObjectKey& group, const std::optional<uint32_t>& index) {
    const auto found = materials_.find(group);
    if (found != materials_.end() && index && *index < found->second.size()) {
      return found->second[*index];
    }
    if (default_material_ == kNone) {
      default_material_ = AddMaterial("DefaultMaterial", {0.6f, 0.6f, 0.6f});
    }
    return default_material_;
  }

  void Place(const ObjectKey& key, const pugi::xml_attribute& transform, int32_t parent,
             int depth) {
    if (error_) return;
    if (key.first != "" && !documents_.contains(key.first)) Model(key.first);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return Refuse("there is no object '" + key.second + "'");
    if (depth > kMaxDepth || scene_.nodes.size() > kMaxNodes) {
      return Refuse("components nested beyond " + std::to_string(kMaxDepth) +
                    " levels, or more than " + std::to_string(kMaxNodes));
    }
    const pugi::xml_node object = found->second;
    const std::string_view type = object.attribute("type").value();
    if (type == "support" || type == "solidsupport") {
      ++num_support_;
      return;
    }
    const auto number = static_cast<int32_t>(scene_.nodes.size());
    scene_.nodes.push_back({.name = "Object_" + key.second, .parent = parent});
    if (transform) ReadTransform(transform.value(), &scene_.nodes.back());
    if (object.child("mesh")) scene_.nodes.back().meshes = MeshesOf(key, object);
    for (const pugi::xml_node& component : object.child("components").children("component")) {
      const pugi::xml_attribute path = AnyPrefix(component, "path");
      Place({path ? path.value() : key.first, component.attribute("objectid").value()},
            component.attribute("transform"), number, depth + 1);
    }
  }

  // Twelve numbers: three rows and the offset, of a matrix that acts on rows from the right.
  void ReadTransform(std::string_view text, RawNode* node) {
    for (size_t i = 0; i < 12; ++i) {
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
      double value = 0.0;
      if (!TakeNumber(&text, &value)) return Refuse("a transform has fewer than 12 numbers");
      node->to_parent[4 * (i % 3) + i / 3] = value;
    }
  }

  // Numbers of an object's meshes, which are made when it is placed first.
  const std::vector<uint32_t>& MeshesOf(const ObjectKey& key, const pugi::xml_node& object) {
    const auto [entry, is_new] = meshes_.try_emplace(key);
    if (!is_new) return entry->second;
    std::vector<Vec3> positions;
    bool error = false;
    for (const pugi::xml_node& v : object.child("mesh").child("vertices").children("vertex")) {
      positions.push_back(
          ToFloat({NumberOf(v.attribute("x"), &error), NumberOf(v.attribute("y"), &error),
                   NumberOf(v.attribute("z"), &error)}));
      if (error) {
        Refuse("object '" + key.second + "': vertex " + std::to_string(positions.size() - 1) +
               " lacks a coordinate");
        return entry->second;
      }
    }
    std::map<uint32_t, uint32_t> mesh_of_material;
    for (const pugi::xml_node& t : object.child("mesh").child("triangles").children("triangle")) {
      const uint32_t material = MaterialOfTriangle(key.first, object, t);
      const auto [mesh, is_first] = mesh_of_material.try_emplace(material, scene_.meshes.size());
      if (is_first) {
        entry->second.push_back(mesh->second);
        scene_.meshes.push_back({.name = key.second, .material = material});
      }
      std::array<uint32_t, 3> corners;
      constexpr std::array<const char*, 3> kNames = {"v1", "v2", "v3"};
      for (size_t k = 0; k < 3; ++k) corners[k] = IndexOf(t.attribute(kNames[k])).value_or(kNone);
      scene_.meshes[mesh->second].triangles.push_back(corners);
    }
    for (const uint32_t mesh : entry->second) {
      if (entry->second.size() > 1) {
        TakeVertices(positions, &scene_.meshes[mesh]);
      } else {
        scene_.meshes[mesh].positions = std::move(positions);
      }
    }
    return entry->second;
  }

  // Gives the mesh those of the object's vertices that its triangles use, in their order.
  static void TakeVertices(const std::vector<Vec3>& positions, RawMesh* mesh) {
    std::map<uint32_t, uint32_t> new_index;
    for (const auto& t : mesh->triangles) {
      for (const uint32_t v : t) {
        if (v < positions.size()) new_index[v] = 0;
      }
    }
    for (auto& [v, index] : new_index) {
      index = static_cast<uint32_t>(mesh->positions.size());
      mesh->positions.push_back(positions[v]);
    }
    for (auto& t : mesh->triangles) {
      for (uint32_t& v : t) v = v < positions.size() ? new_index[v] : kNone;
    }
  }

  // That of its first corner, else that of the object.
  uint32_t MaterialOfTriangle(const std::string& part, const pugi::xml_node& object,
                              const pugi::xml_node& triangle) {
    const pugi::xml_attribute pid = triangle.attribute("pid");
    const pugi::xml_attribute p1 = triangle.attribute("p1");
    const std::string group = (pid ? pid : object.attribute("pid")).value();
    return MaterialOf({part, group}, IndexOf(p1 ? p1 : object.attribute("pindex")));
  }

  ThreeMfPackage package_;
  RawScene scene_;
  std::optional<Error> error_;
  std::map<std::string, std::unique_ptr<pugi::xml_document>> documents_;  // by part
  std::map<ObjectKey, pugi::xml_node> objects_;
  std::map<ObjectKey, std::vector<uint32_t>> meshes_, materials_;
  uint32_t default_material_ = kNone;
  uint64_t num_support_ = 0;
};

}  // namespace

Result<RawScene> Read3mf(const std::string& path, std::span<const std::byte>) {
  Result<ThreeMfPackage> package = ThreeMfPackage::Open(path);
  if (!package.ok()) return package.error();
  return ThreeMfReader(std::move(package.value())).Run();
}

bool LooksLike3mf(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.starts_with("PK\x03\x04") && text.find("3dmodel.model") != text.npos;
}

}  // namespace plush::tools
