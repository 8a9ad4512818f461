// SPDX-License-Identifier: MIT
// Reads row by row what the header announces; data that are missing end it.
#include "base/result.h"
#include "base/text.h"
#include "import/mixed_reader.h"
#include "import/own_formats.h"
#include "import/polygon_triangulation.h"
#include "import/side_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

enum class PlyType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };

// A number, or a list of numbers with a count before it.
struct PlyProperty {
  std::string name;
  PlyType type = PlyType::kFloat;
  bool is_list = false;
  PlyType count_type = PlyType::kUint8;
};

// `count` rows of the same properties.
struct PlyElement {
  std::string name;
  uint64_t count = 0;
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  MixedReader::Numbers numbers = MixedReader::Numbers::kText;
  std::vector<PlyElement> elements;
  std::vector<std::string> textures;  // files that comments "TextureFile" name
  size_t data_begin = 0;              // [bytes]
};

constexpr auto kPlyTypes = std::to_array<NamedValue<PlyType>>({
    {"char", PlyType::kInt8},
    {"int8", PlyType::kInt8},
    {"uchar", PlyType::kUint8},
    {"uint8", PlyType::kUint8},
    {"short", PlyType::kInt16},
    {"int16", PlyType::kInt16},
    {"ushort", PlyType::kUint16},
    {"uint16", PlyType::kUint16},
    {"int", PlyType::kInt32},
    {"int32", PlyType::kInt32},
    {"uint", PlyType::kUint32},
    {"uint32", PlyType::kUint32},
    {"float", PlyType::kFloat},
    {"float32", PlyType::kFloat},
    {"double", PlyType::kDouble},
    {"float64", PlyType::kDouble},
});

std::string_view TakeWord(std::string_view* line) {
  line->remove_prefix(std::min(line->find_first_not_of(" \t"), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(" \t"));
  line->remove_prefix(word.size());
  return word;
}

bool TakeType(std::string_view* line, PlyType* type) {
  const std::string_view word = TakeWord(line);
  const auto found = std::find_if(kPlyTypes.begin(), kPlyTypes.end(),
                                  [word](const auto& known) { return known.name == word; });
  if (found == kPlyTypes.end()) return false;
  *type = found->value;
  return true;
}

bool TakeFormat(std::string_view* line, MixedReader::Numbers* numbers) {
  const std::string_view word = TakeWord(line);
  if (word == "binary_big_endian") {
    *numbers = MixedReader::Numbers::kSwapped;
  } else if (word == "binary_little_endian") {
    *numbers = MixedReader::Numbers::kNative;
  }
  return word == "ascii" || *numbers != MixedReader::Numbers::kText;
}

// Reads the line behind its keyword. False if it makes no sense.
bool ReadLine(std::string_view keyword, std::string_view line, PlyHeader* header) {
  if (keyword == "format") return TakeFormat(&line, &header->numbers);
  if (keyword == "comment") {
    if (TakeWord(&line) != "TextureFile" || line.empty()) return true;
    header->textures.emplace_back(
        line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
    return true;
  }
  if (keyword == "element") {
    PlyElement element;
    element.name = TakeWord(&line);
    std::string_view count = TakeWord(&line);
    header->elements.push_back(element);
    return TakeNumber(&count, &header->elements.back().count) && count.empty();
  }
  if (keyword == "property") {
    PlyProperty property;
    std::string_view rest = line;
    property.is_list = TakeWord(&rest) == "list";
    if (property.is_list) line = rest;
    if (property.is_list && !TakeType(&line, &property.count_type)) return false;
    if (!TakeType(&line, &property.type) || header->elements.empty()) return false;
    property.name = TakeWord(&line);
    header->elements.back().properties.push_back(property);
    return true;
  }
  return true;  // "ply", "obj_info", and lines that programs have added
}

// Errors: kInvalidInput, with the line.
Result<PlyHeader> ReadPlyHeader(std::span<const std::byte> bytes) {
  const std::string_view text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (!text.starts_with("ply")) {
    return Error{ExitCode::kInvalidInput, "the file does not begin with 'ply'", "IMPORT_FAILED"};
  }
  const size_t first_end = text.find_first_of("\r\n");
  const std::string_view end_of_line = first_end == text.npos                ? ""
                                       : text[first_end] == '\n'             ? "\n"
                                       : text.substr(first_end, 2) == "\r\n" ? "\r\n"
                                                                             : "\r";
  PlyHeader header;
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty() && !end_of_line.empty(); ++number) {
    const size_t end = std::min(rest.find(end_of_line), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + end_of_line.size(), rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view whole = line;
    const std::string_view keyword = TakeWord(&line);
    if (keyword == "end_header") {
      header.data_begin = text.size() - rest.size();
      return header;
    }
    if (!ReadLine(keyword, line, &header)) {
      return Error{ExitCode::kInvalidInput,
                   "line " + std::to_string(number) + " of the header makes no sense: " +
                       PrintableUtf8(MixedReader::Quoted(whole)),
                   "IMPORT_FAILED"};
    }
  }
  return Error{ExitCode::kInvalidInput, "the file ends before the header's end_header",
               "IMPORT_FAILED"};
}

constexpr uint32_t kNoPlyVertex = UINT32_MAX;

// Names of a vertex' properties, and what they are.
enum Role { kX, kY, kZ, kNx, kNy, kNz, kU, kV, kRed, kGreen, kBlue, kAlpha, kNumRoles };
constexpr auto kRoles = std::to_array<NamedValue<Role>>({
    {"x", kX},
    {"y", kY},
    {"z", kZ},
    {"nx", kNx},
    {"ny", kNy},
    {"nz", kNz},
    {"u", kU},
    {"v", kV},
    {"s", kU},
    {"t", kV},
    {"texture_u", kU},
    {"texture_v", kV},
    {"tx", kU},
    {"ty", kV},
    {"red", kRed},
    {"green", kGreen},
    {"blue", kBlue},
    {"alpha", kAlpha},
    {"r", kRed},
    {"g", kGreen},
    {"b", kBlue},
    {"diffuse_red", kRed},
    {"diffuse_green", kGreen},
    {"diffuse_blue", kBlue},
});

// What a channel of a colour is divided by.
double LargestOf(PlyType type) {
  constexpr std::array<double, 8> kLargest = {127, 255, 32767, 65535, 2147483647, 4294967295, 1, 1};
  return kLargest[static_cast<size_t>(type)];
}

class PlyReader {
 public:
  PlyReader(PlyHeader header, std::span<const std::byte> bytes)
      : header_(std::move(header)), reader_("", bytes) {
    reader_.SetNumbers(MixedReader::Numbers::kNative);
    reader_.Pass<uint8_t>(header_.data_begin, "");
    reader_.SetNumbers(header_.numbers);
  }

  Result<RawScene> Run() {
    for (const PlyElement& element : header_.elements) {
      if (element.properties.empty()) continue;
      if (element.name == "vertex") {
        ReadVertices(element);
      } else if (element.name == "face") {
        ReadFaces(element);
      } else if (element.name == "tristrips") {
        ReadStrips(element);
      } else {
        for (uint64_t row = 0; row < element.count && reader_.ok(); ++row) Pass(element.properties);
      }
    }
    if (!reader_.ok()) return reader_.error();
    if (!has_positions_) {
      return Error{ExitCode::kInvalidInput, "no vertices with x, y and z", "IMPORT_FAILED"};
    }
    CutPolygons();
    RawScene scene;
    scene.format = "ply";
    scene.materials = {""};
    scene.colours = {{1.0f, 1.0f, 1.0f}};
    mesh_.material = 0;
    scene.meshes.push_back(std::move(mesh_));
    scene.nodes.push_back({.meshes = {0}});
    return scene;
  }

 private:
  double Number(PlyType type) {
    constexpr const char* kExpected = "expected a number; the data end early or do not fit";
    if (reader_.is_text()) return reader_.Number<double>(kExpected);
    switch (type) {
      case PlyType::kInt8:
        return reader_.Number<int8_t>(kExpected);
      case PlyType::kUint8:
        return reader_.Number<uint8_t>(kExpected);
      case PlyType::kInt16:
        return reader_.Number<int16_t>(kExpected);
      case PlyType::kUint16:
        return reader_.Number<uint16_t>(kExpected);
      case PlyType::kInt32:
        return reader_.Number<int32_t>(kExpected);
      case PlyType::kUint32:
        return reader_.Number<uint32_t>(kExpected);
      case PlyType::kFloat:
        return static_cast<double>(reader_.Number<float>(kExpected));
      case PlyType::kDouble:
        return reader_.Number<double>(kExpected);
    }
    return 0.0;
  }

  // Reads a list into list_, or passes a number.
  void Read(const PlyProperty& property) {
    list_.clear();
    if (!property.is_list) {
      Number(property.type);
      return;
    }
    const double count = Number(property.count_type);
    if (!(count >= 0.0)) reader_.Complain("a list has a negative count");
    for (double i = 0.0; i < count && reader_.ok(); ++i) list_.push_back(Number(property.type));
  }

  void Pass(const std::vector<PlyProperty>& properties) {
    for (const PlyProperty& property : properties) Read(property);
  }

  void ReadVertices(const PlyElement& element) {
    std::array<size_t, kNumRoles> at;  // property of each role
    at.fill(SIZE_MAX);
    std::vector<size_t> attribute(element.properties.size(), SIZE_MAX);
    mesh_ = {};
    for (size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& property = element.properties[i];
      const auto role = std::find_if(kRoles.begin(), kRoles.end(),
                                     [&](const auto& r) { return property.name == r.name; });
      if (role != kRoles.end() && at[role->value] == SIZE_MAX && !property.is_list) {
        at[role->value] = i;
      } else if (!property.is_list && property.type >= PlyType::kFloat) {
        attribute[i] = mesh_.attributes.size();
        mesh_.attributes.push_back({property.name, {}});
      }
    }
    const auto has = [&](Role role) { return at[role] != SIZE_MAX; };
    const bool has_colour = has(kRed) || has(kGreen) || has(kBlue) || has(kAlpha);
    const size_t first_colour = mesh_.attributes.size();
    for (const char* channel : {"r", "g", "b", "a"}) {
      if (has_colour) mesh_.attributes.push_back({std::string("COLOR_0.") + channel, {}});
    }
    has_positions_ = has(kX) && has(kY) && has(kZ);
    std::vector<double> row(element.properties.size());
    for (uint64_t r = 0; r < element.count; ++r) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (element.properties[i].is_list) {
          Read(element.properties[i]);
        } else {
          row[i] = Number(element.properties[i].type);
        }
        if (attribute[i] != SIZE_MAX) {
          mesh_.attributes[attribute[i]].values.push_back(static_cast<float>(row[i]));
        }
      }
      if (!reader_.ok()) return;
      const auto value = [&](Role role) {
        return has(role) ? static_cast<float>(row[at[role]]) : 0.0f;
      };
      mesh_.positions.push_back({value(kX), value(kY), value(kZ)});
      if (has(kNx)) mesh_.normals.push_back({value(kNx), value(kNy), value(kNz)});
      if (has(kU) && has(kV)) mesh_.uvs.push_back({value(kU), value(kV)});
      for (size_t k = 0; k < 4 && has_colour; ++k) {
        const size_t i = at[kRed + k];
        const double channel =
            i == SIZE_MAX ? (k == 3 ? 1.0 : 0.0) : row[i] / LargestOf(element.properties[i].type);
        mesh_.attributes[first_colour + k].values.push_back(static_cast<float>(channel));
      }
    }
  }

  static uint32_t Index(double number) {
    const bool is_index = number >= 0.0 && number < kNoPlyVertex && number == std::floor(number);
    return is_index ? static_cast<uint32_t>(number) : kNoPlyVertex;
  }

  void ReadFaces(const PlyElement& element) {
    for (uint64_t row = 0; row < element.count && reader_.ok(); ++row) {
      size_t count = 0;
      std::vector<double> uvs;
      for (const PlyProperty& property : element.properties) {
        Read(property);
        if (property.name == "vertex_indices" || property.name == "vertex_index") {
          count = list_.size();
          for (const double index : list_) corners_.push_back(Index(index));
        } else if (property.name == "texcoord") {
          uvs = list_;
        }
      }
      if (!reader_.ok()) return;
      polygons_.push_back(count);
      if (uvs.size() != 2 * count && corner_uvs_.empty()) continue;
      corner_uvs_.resize(corners_.size());
      for (size_t i = 0; i < count && uvs.size() == 2 * count; ++i) {
        corner_uvs_[corners_.size() - count + i] = {static_cast<float>(uvs[2 * i]),
                                                    static_cast<float>(uvs[2 * i + 1])};
      }
    }
  }

  void ReadStrips(const PlyElement& element) {
    for (uint64_t row = 0; row < element.count && reader_.ok(); ++row) {
      for (const PlyProperty& property : element.properties) {
        Read(property);
        if (property.is_list) AddStrips();
      }
    }
  }

  void AddStrips() {
    size_t begin = 0;
    for (size_t i = 0; i < list_.size(); ++i) {
      if (list_[i] < 0.0) begin = i + 1;
      if (i < begin + 2) continue;
      const bool is_odd = (i - begin) % 2 != 0;
      corners_.push_back(Index(list_[is_odd ? i - 1 : i - 2]));
      corners_.push_back(Index(list_[is_odd ? i - 2 : i - 1]));
      corners_.push_back(Index(list_[i]));
      polygons_.push_back(3);
    }
  }

  void CutPolygons() {
    if (!corner_uvs_.empty()) GiveCornersVertices();
    PolygonCutter cutter;
    std::vector<Vec3> polygon;
    const uint32_t* corner = corners_.data();
    for (const size_t count : polygons_) {
      polygon.clear();
      for (size_t i = 0; i < count; ++i) {
        const bool exists = corner[i] < mesh_.positions.size();
        polygon.push_back(exists ? mesh_.positions[corner[i]]
                                 : Vec3{std::numeric_limits<float>::quiet_NaN(), 0.0f, 0.0f});
      }
      for (const auto& t : cutter.Cut(polygon)) {
        mesh_.triangles.push_back({corner[t[0]], corner[t[1]], corner[t[2]]});
      }
      corner += count;
    }
  }

  // Makes a vertex for each corner, since corners have texture coordinates of their own.
  void GiveCornersVertices() {
    corner_uvs_.resize(corners_.size());
    RawMesh split;
    for (const VertexAttribute& attribute : mesh_.attributes) {
      split.attributes.push_back({attribute.name, {}});
    }
    for (size_t c = 0; c < corners_.size(); ++c) {
      const uint32_t v = corners_[c];
      corners_[c] =
          v < mesh_.positions.size() ? static_cast<uint32_t>(split.positions.size()) : kNoPlyVertex;
      if (corners_[c] == kNoPlyVertex) continue;
      split.positions.push_back(mesh_.positions[v]);
      if (!mesh_.normals.empty()) split.normals.push_back(mesh_.normals[v]);
      split.uvs.push_back(corner_uvs_[c]);
      for (size_t a = 0; a < split.attributes.size(); ++a) {
        split.attributes[a].values.push_back(mesh_.attributes[a].values[v]);
      }
    }
    mesh_ = std::move(split);
  }

  PlyHeader header_;
  MixedReader reader_;
  RawMesh mesh_;
  bool has_positions_ = false;
  std::vector<double> list_;
  std::vector<uint32_t> corners_;  // of all polygons; kNoPlyVertex: no vertex
  std::vector<size_t> polygons_;   // numbers of corners
  std::vector<Vec2> corner_uvs_;   // as corners_, or empty
};

}  // namespace

Result<RawScene> ReadPly(const std::string& path, std::span<const std::byte> bytes) {
  Result<PlyHeader> header = ReadPlyHeader(bytes);
  if (!header.ok()) return header.error();
  Result<RawScene> scene = PlyReader(header.value(), bytes).Run();
  if (!scene.ok()) return scene;
  std::set<std::string> missing;
  for (const std::string& texture : header.value().textures) {
    if (!HasSideFile(path, texture)) missing.insert(SideFile(path, texture));
  }
  AddMissingFiles(missing, &scene.value());
  return scene;
}

}  // namespace plush::tools
