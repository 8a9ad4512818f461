// SPDX-License-Identifier: MIT
#include "import/obj_materials.h"

#include "base/files.h"
#include "import/missing_files.h"
#include "import/obj_statements.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace plush::tools {
namespace {

// Largest .mtl file [bytes].
constexpr uint64_t kMaxLibraryBytes = 64 << 20;
// Grey, as of a material without a colour.
constexpr Vec3 kNoColour = {0.6f, 0.6f, 0.6f};

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool IsTexture(std::string_view keyword) {
  return keyword.starts_with("map_") || keyword == "bump" || keyword == "disp" ||
         keyword == "decal" || keyword == "norm" || keyword == "refl";
}

}  // namespace

ObjMaterials::ObjMaterials(std::string obj_path) : obj_path_(std::move(obj_path)) {
  Find("DefaultMaterial");
}

uint32_t ObjMaterials::Find(std::string_view name) {
  const auto found = number_of_name_.find(name);
  if (found != number_of_name_.end()) return found->second;
  const auto number = static_cast<uint32_t>(names_.size());
  number_of_name_.emplace(name, number);
  names_.emplace_back(name);
  colours_.push_back(kNoColour);
  return number;
}

// Beside the OBJ file, unless the name is absolute. Backslashes separate folders, too.
std::string ObjMaterials::PathOf(std::string_view name) const {
  const auto path_of = [this](const std::string& file) {
    return (std::filesystem::path(obj_path_).parent_path() / file).lexically_normal().string();
  };
  std::string file(name);
  if (IsFile(path_of(file))) return path_of(file);
  std::replace(file.begin(), file.end(), '\\', '/');
  return path_of(file);
}

void ObjMaterials::ReadLibraries(std::string_view names) {
  if (names.empty() || ReadLibrary(PathOf(names))) return;
  bool all_read = names.find(' ') != names.npos;
  for (std::string_view rest = names; all_read && !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    all_read = word.empty() || ReadLibrary(PathOf(word));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  if (all_read) return;
  missing_.push_back(PathOf(names));
  ReadLibrary(std::filesystem::path(obj_path_).replace_extension(".mtl").string());
}

bool ObjMaterials::ReadLibrary(const std::string& path) {
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
void ObjMaterials::AddTexture(std::string_view words) {
  for (std::string_view tail = words; !tail.empty();) {
    if (IsFile(PathOf(tail))) return;
    const size_t blank = tail.find_first_of(" \t");
    tail.remove_prefix(std::min(blank, tail.size() - 1) + 1);
  }
  if (words.starts_with('-')) words.remove_prefix(words.find_last_of(" \t") + 1);
  if (!words.empty()) missing_.push_back(PathOf(words));
}

void ObjMaterials::Finish(RawScene* scene) {
  scene->materials = std::move(names_);
  scene->colours = std::move(colours_);
  scene->dependencies = std::move(read_);
  AddMissingFiles({missing_.begin(), missing_.end()}, scene);
}

}  // namespace plush::tools
