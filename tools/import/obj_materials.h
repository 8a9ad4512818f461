// SPDX-License-Identifier: MIT
// The materials of OBJ files, from .mtl files.
#pragma once

#include "import/raw_scene.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Gathers the materials that an OBJ file names, in the order in which they are named first.
class ObjMaterials {
 public:
  /// `obj_path`: of the OBJ file, whose folder holds the others. Begins with "DefaultMaterial".
  explicit ObjMaterials(std::string obj_path);

  /// Reads the files of a statement mtllib: the one of this name, which may have blanks, or else
  /// those whose names are its words. A file that is missing is replaced by the one that is called
  /// as the OBJ file, if there is one.
  void ReadLibraries(std::string_view names);

  /// The number of the material; a new one if no file has it.
  uint32_t Find(std::string_view name);

  /// Moves names, colours, the files read and those missing (IMPORT_FILE_MISSING, with textures
  /// that materials name) into `scene`.
  void Finish(RawScene* scene);

 private:
  std::string PathOf(std::string_view name) const;
  bool ReadLibrary(const std::string& path);
  void AddTexture(std::string_view words);

  std::string obj_path_;
  std::vector<std::string> names_;
  std::vector<Vec3> colours_;
  std::map<std::string, uint32_t, std::less<>> number_of_name_;
  std::vector<std::string> read_, missing_;
};

}  // namespace plush::tools
