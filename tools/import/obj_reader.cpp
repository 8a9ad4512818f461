// SPDX-License-Identifier: MIT
// Reads all statements first, since faces may name vertices of later lines; then makes meshes.
#include "base/files.h"
#include "base/text.h"
#include "import/obj_statements.h"
#include "import/own_formats.h"
#include "import/polygon_triangulation.h"
#include "import/raw_scene.h"
#include "import/side_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// Largest .mtl file [bytes].
constexpr uint64_t kMaxLibraryBytes = 64 << 20;
// Grey, as of a material without a colour.
constexpr Vec3 kNoColour = {0.6f, 0.6f, 0.6f};

bool IsTexture(std::string_view keyword) {
  return keyword.starts_with("map_") || keyword == "bump" || keyword == "disp" ||
         keyword == "decal" || keyword == "norm" || keyword == "refl";
}

// Gathers the materials that an OBJ file names, in the order in which they are named first.
class ObjMaterials {
 public:
  // `obj_path`: of the OBJ file, whose folder holds the others. Begins with "DefaultMaterial".
  explicit ObjMaterials(std::string obj_path) : obj_path_(std::move(obj_path)) {
    Find("DefaultMaterial");
  }

  // Reads the files of a statement mtllib: the one of this name, which may have blanks, or else
  // those whose names are its words. A file that is missing is replaced by the one that is called
  // as the OBJ file, if there is one.
  void ReadLibraries(std::string_view names) {
    if (names.empty() || ReadLibrary(SideFile(obj_path_, names))) return;
    bool all_read = names.find(' ') != names.npos;
    for (std::string_view rest = names; all_read && !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      all_read = word.empty() || ReadLibrary(SideFile(obj_path_, word));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    }
    if (all_read) return;
    missing_.push_back(SideFile(obj_path_, names));
    ReadLibrary(std::filesystem::path(obj_path_).replace_extension(".mtl").string());
  }

  // The number of the material; a new one if no file has it.
  uint32_t Find(std::string_view name) {
    const auto found = number_of_name_.find(name);
    if (found != number_of_name_.end()) return found->second;
    const auto number = static_cast<uint32_t>(names_.size());
    number_of_name_.emplace(name, number);
    names_.emplace_back(name);
    colours_.push_back(kNoColour);
    return number;
  }

  // Moves names, colours, the files read and those missing (IMPORT_FILE_MISSING, with textures
  // that materials name) into `scene`.
  void Finish(RawScene* scene) {
    scene->materials = std::move(names_);
    scene->colours = std::move(colours_);
    scene->dependencies = std::move(read_);
    AddMissingFiles({missing_.begin(), missing_.end()}, scene);
  }

 private:
  bool ReadLibrary(const std::string& path) {
    if (std::find(read_.begin(), read_.end(), path) != read_.end()) return true;
    const auto bytes = ReadFile(path, kMaxLibraryBytes);
    if (!bytes.ok()) return false;
    read_.push_back(path);
    ObjStatements statements(
        {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()});
    uint32_t material = UINT32_MAX;
    while (statements.Next()) {
      if (statements.keyword() == "newmtl") {
        material = Find(statements.Name());
      } else if (statements.keyword() == "kd" && material != UINT32_MAX) {
        double r = 0.0, g = 0.0, b = 0.0;
        if (!statements.Number(&r)) continue;
        const bool is_grey = !statements.Number(&g) || !statements.Number(&b);
        colours_[material] = ToFloat(is_grey ? Vec3d{r, r, r} : Vec3d{r, g, b});
      } else if (IsTexture(statements.keyword())) {
        AddTexture(statements.Name());
      }
    }
    return true;
  }

  // Options ("-s 1 1 1") may precede the file's name, which may have blanks: the file is missing if
  // no tail of the words is one. It is called by the last word then, or by all without options.
  void AddTexture(std::string_view words) {
    for (std::string_view tail = words; !tail.empty();) {
      if (HasSideFile(obj_path_, tail)) return;
      const size_t blank = tail.find_first_of(" \t");
      tail.remove_prefix(std::min(blank, tail.size() - 1) + 1);
    }
    if (words.starts_with('-')) words.remove_prefix(words.find_last_of(" \t") + 1);
    if (!words.empty()) missing_.push_back(SideFile(obj_path_, words));
  }

  std::string obj_path_;
  std::vector<std::string> names_;
  std::vector<Vec3> colours_;
  std::map<std::string, uint32_t, std::less<>> number_of_name_;
  std::vector<std::string> read_, missing_;
};

constexpr uint32_t kNotGiven = UINT32_MAX;
// A fourth coordinate this close to 1 is 1.
constexpr double kWeightTolerance = 1e-5;

// Indices of position, texture coordinates and normal, from 0; kNotGiven if not given.
using Corner = std::array<uint32_t, 3>;
constexpr std::array<const char*, 3> kCornerParts = {"position", "texture coordinate", "normal"};

// A run of polygons with one name and material, until the next part's begin.
struct Part {
  std::string name;
  size_t object = 0;
  uint32_t material = 0;
  size_t first_polygon = 0;
  size_t first_corner = 0;
};

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ObjReader {
 public:
  ObjReader(const std::string& path, std::span<const std::byte> bytes)
      : path_(path), statements_(TextOf(bytes)), materials_(path) {}

  Result<RawScene> Run() {
    while (!error_ && statements_.Next()) Read(statements_.keyword());
    if (!error_) CheckIndices();
    if (!error_ && !is_obj_) Refuse("no statement of an OBJ file; the content is of another type");
    if (error_) return *error_;
    MakeMeshes();
    materials_.Finish(&scene_);
    if (num_left_out_ > 0) {
      scene_.findings.push_back(
          {"IMPORT_LEFT_OUT", num_left_out_,
           std::to_string(num_left_out_) + " points, lines and faces of fewer than three corners"});
    }
    return std::move(scene_);
  }

 private:
  void Refuse(const std::string& why) { Refuse(why, statements_.place()); }
  void Refuse(const std::string& why, size_t place) {
    error_ =
        Error{ExitCode::kInvalidInput,
              "line " + std::to_string(statements_.LineOf(place)) + ": " + why, "IMPORT_FAILED"};
  }

  void Read(std::string_view keyword) {
    bool is_known = true;
    if (keyword == "v") {
      ReadPosition();
    } else if (keyword == "f" || keyword == "fo") {
      ReadFace();
    } else if (keyword == "vn") {
      const std::array<double, 3> n = Numbers<3>(3);
      normals_.push_back(ToFloat({n[0], n[1], n[2]}));
    } else if (keyword == "vt") {
      const std::array<double, 2> uv = Numbers<2>(1);
      uvs_.push_back({static_cast<float>(uv[0]), static_cast<float>(uv[1])});
    } else if (keyword == "o" || keyword == "g") {
      BeginObject(std::string(statements_.Name()), keyword == "g");
    } else if (keyword == "usemtl") {
      UseMaterial(statements_.Name());
    } else if (keyword == "mtllib") {
      materials_.ReadLibraries(statements_.Name());
    } else if (keyword == "p" || keyword == "l" || keyword == "curv" || keyword == "curv2") {
      ++num_left_out_;
    } else if (keyword == "surf") {
      Refuse("free-form surfaces are not read; export polygons");
    } else {
      is_known = false;
    }
    is_obj_ = is_obj_ || is_known;
  }

  // The statement's first numbers, of which `required` must be there; 0 for the others.
  template <size_t N>
  std::array<double, N> Numbers(size_t required) {
    std::array<double, N> numbers = {};
    size_t count = 0;
    while (count < N && statements_.Number(&numbers[count])) ++count;
    if (count < required || (count < N && !statements_.AtEnd())) {
      Refuse("expected " + std::to_string(N) + " numbers, found " + std::to_string(count));
    }
    return numbers;
  }

  void ReadPosition() {
    const std::array<double, 3> p = Numbers<3>(3);
    std::array<double, 3> more = {};
    size_t count = 0;
    while (count < 3 && statements_.Number(&more[count])) ++count;
    if (count == 1 && !(std::abs(more[0] - 1.0) <= kWeightTolerance)) {
      Refuse("a vertex has a fourth coordinate of " + RoundedText(more[0]) +
             "; only 1 is read, no rational weight");
    }
    positions_.push_back(ToFloat({p[0], p[1], p[2]}));
    if (count < 3) return;
    colours_.resize(positions_.size());
    colours_.back() = ToFloat({more[0], more[1], more[2]});
  }

  void BeginObject(std::string name, bool is_group) {
    if (name.empty() || (is_group && name == group_)) return;
    group_ = is_group ? name : "";
    const auto known = object_of_name_.find(name);
    size_t object = objects_.size();
    if (!is_group && known != object_of_name_.end()) {
      object = known->second;
    } else {
      objects_.push_back(name);
      object_of_name_[name] = object;
    }
    BeginPart(std::move(name), object);
  }

  void UseMaterial(std::string_view name) {
    if (name.empty()) return;
    const uint32_t material = materials_.Find(name);
    if (material == material_) return;
    material_ = material;
    if (parts_.empty()) return;
    const size_t object = parts_.back().object;
    if (parts_.back().first_polygon == polygons_.size()) {
      parts_.back().material = material;
    } else {
      BeginPart(std::string(name), object);
    }
  }

  void BeginPart(std::string name, size_t object) {
    if (!parts_.empty() && parts_.back().first_polygon == polygons_.size()) parts_.pop_back();
    parts_.push_back({std::move(name), object, material_, polygons_.size(), corners_.size()});
  }

  void ReadFace() {
    const size_t first = corners_.size();
    while (!error_ && !statements_.AtEnd()) ReadCorner();
    const size_t count = corners_.size() - first;
    if (count < 3) {
      corners_.resize(first);
      ++num_left_out_;
      return;
    }
    if (parts_.empty()) BeginObject("defaultobject", false);
    if (polygons_.size() == parts_.back().first_polygon) parts_.back().first_corner = first;
    polygons_.push_back(static_cast<uint32_t>(count));
  }

  // Reads "v", "v/vt", "v//vn" or "v/vt/vn". Slashes without a number behind are allowed.
  void ReadCorner() {
    Corner corner = {kNotGiven, kNotGiven, kNotGiven};
    for (size_t i = 0; i < corner.size(); ++i) {
      int64_t index = 0;
      const bool is_there = !statements_.AtWordEnd() && statements_.Integer(&index);
      if (is_there) corner[i] = Index(index, i);
      if (i == 0 && !is_there) Refuse("expected the number of a corner");
      if (!statements_.Character('/')) break;
    }
    if (!error_ && !statements_.AtWordEnd()) Refuse("expected corners as in 1/2/3");
    corners_.push_back(corner);
  }

  // The index from 0 of the one from 1, or of the negative one from the last. `part` of the corner.
  uint32_t Index(int64_t index, size_t part) {
    const std::array<size_t, 3> counts = {positions_.size(), uvs_.size(), normals_.size()};
    if (index == 0 || index < -static_cast<int64_t>(counts[part]) || index >= int64_t{kNotGiven}) {
      Refuse("there is no " + std::string(kCornerParts[part]) + " " + std::to_string(index));
      return kNotGiven;
    }
    if (index < 0) return static_cast<uint32_t>(static_cast<int64_t>(counts[part]) + index);
    if (index > highest_[part].index) highest_[part] = {index, statements_.place()};
    return static_cast<uint32_t>(index - 1);
  }

  void CheckIndices() {
    const std::array<size_t, 3> counts = {positions_.size(), uvs_.size(), normals_.size()};
    for (size_t part = 0; part < counts.size() && !error_; ++part) {
      const Highest& highest = highest_[part];
      if (highest.index <= static_cast<int64_t>(counts[part])) continue;
      Refuse("there is no " + std::string(kCornerParts[part]) + " " +
                 std::to_string(highest.index) + ", but " + std::to_string(counts[part]),
             highest.place);
    }
  }

  void MakeMeshes() {
    scene_.format = "obj";
    scene_.nodes.push_back({.name = std::filesystem::path(path_).filename().string()});
    std::vector<uint32_t> node_of_object(objects_.size(), kNotGiven);
    first_of_position_.assign(positions_.size(), kNotGiven);
    for (size_t p = 0; p < parts_.size(); ++p) {
      const size_t end = p + 1 < parts_.size() ? parts_[p + 1].first_polygon : polygons_.size();
      if (end == parts_[p].first_polygon) continue;
      uint32_t& node = node_of_object[parts_[p].object];
      if (node == kNotGiven) {
        node = static_cast<uint32_t>(scene_.nodes.size());
        scene_.nodes.push_back({.name = objects_[parts_[p].object], .parent = 0});
      }
      scene_.nodes[node].meshes.push_back(static_cast<uint32_t>(scene_.meshes.size()));
      scene_.meshes.push_back(MakeMesh(parts_[p], end));
    }
  }

  RawMesh MakeMesh(const Part& part, size_t end_polygon) {
    RawMesh mesh;
    mesh.name = part.name;
    mesh.material = part.material;
    vertices_.clear();
    std::vector<Vec3> polygon;
    std::vector<uint32_t> indices;
    const Corner* corner = corners_.data() + part.first_corner;
    for (size_t p = part.first_polygon; p < end_polygon; ++p) {
      polygon.clear();
      indices.clear();
      for (uint32_t c = 0; c < polygons_[p]; ++c, ++corner) {
        indices.push_back(VertexOf(*corner));
        polygon.push_back(positions_[(*corner)[0]]);
      }
      for (const auto& t : cutter_.Cut(polygon)) {
        mesh.triangles.push_back({indices[t[0]], indices[t[1]], indices[t[2]]});
      }
    }
    FillVertices(&mesh);
    return mesh;
  }

  // The part's vertex of a corner, by a list of the vertices at its position.
  uint32_t VertexOf(const Corner& corner) {
    uint32_t* link = &first_of_position_[corner[0]];
    while (*link != kNotGiven) {
      if (vertices_[*link].corner == corner) return *link;
      link = &vertices_[*link].next;
    }
    const auto vertex = static_cast<uint32_t>(vertices_.size());
    *link = vertex;
    vertices_.push_back({corner, kNotGiven});
    return vertex;
  }

  void FillVertices(RawMesh* mesh) {
    std::array<bool, 3> has = {};
    for (const Vertex& vertex : vertices_) {
      for (size_t i = 0; i < has.size(); ++i) has[i] = has[i] || vertex.corner[i] != kNotGiven;
    }
    std::array<VertexAttribute, 4> rgba;
    for (size_t k = 0; k < rgba.size(); ++k) rgba[k].name = std::string("COLOR_0.") + "rgba"[k];
    colours_.resize(colours_.empty() ? 0 : positions_.size());
    for (const auto& [corner, next] : vertices_) {
      const auto [v, vt, vn] = corner;
      first_of_position_[v] = kNotGiven;
      mesh->positions.push_back(positions_[v]);
      if (has[1]) mesh->uvs.push_back(vt == kNotGiven ? Vec2{} : uvs_[vt]);
      if (has[2]) mesh->normals.push_back(vn == kNotGiven ? Vec3{} : normals_[vn]);
      if (colours_.empty()) continue;
      rgba[0].values.push_back(colours_[v].x);
      rgba[1].values.push_back(colours_[v].y);
      rgba[2].values.push_back(colours_[v].z);
      rgba[3].values.push_back(1.0f);
    }
    if (!colours_.empty()) mesh->attributes.assign(rgba.begin(), rgba.end());
  }

  struct Vertex {
    Corner corner;
    uint32_t next;  // at the same position
  };
  struct Highest {
    int64_t index = 0;
    size_t place = 0;
  };

  const std::string& path_;
  ObjStatements statements_;
  ObjMaterials materials_;
  RawScene scene_;
  std::optional<Error> error_;
  bool is_obj_ = false;
  uint64_t num_left_out_ = 0;
  std::vector<Vec3> positions_, normals_, colours_;  // colours: of the first positions, or none
  std::vector<Vec2> uvs_;
  std::vector<Corner> corners_;     // of all polygons
  std::vector<uint32_t> polygons_;  // numbers of corners
  std::array<Highest, 3> highest_;  // indices of corners, and where
  std::vector<Part> parts_;
  std::vector<std::string> objects_;
  std::map<std::string, size_t> object_of_name_;
  std::string group_;
  uint32_t material_ = 0;
  PolygonCutter cutter_;
  std::vector<uint32_t> first_of_position_;  // vertex of the mesh in work
  std::vector<Vertex> vertices_;             // of the mesh in work
};

}  // namespace

Result<RawScene> ReadObj(const std::string& path, std::span<const std::byte> bytes) {
  const std::string_view text = TextOf(bytes);
  if (text.starts_with("\xFE\xFF") || text.starts_with("\xFF\xFE")) {
    return Error{ExitCode::kInvalidInput, "the text is in UTF-16; save it as UTF-8",
                 "IMPORT_FAILED"};
  }
  return ObjReader(path, bytes).Run();
}

bool LooksLikeObj(std::span<const std::byte> head) {
  constexpr auto kKeywords = std::to_array<std::string_view>(
      {"v", "vt", "vn", "vp", "f", "o", "g", "s", "usemtl", "mtllib"});
  ObjStatements statements(TextOf(head));
  return statements.Next() &&
         std::find(kKeywords.begin(), kKeywords.end(), statements.keyword()) != kKeywords.end();
}

}  // namespace plush::tools
