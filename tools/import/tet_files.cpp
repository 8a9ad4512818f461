// SPDX-License-Identifier: MIT
#include "import/tet_files.h"

#include "base/files.h"
#include "mesh/tet_source.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace plush::tools {
namespace {

std::string_view AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads the .node and the .ele file; `path` is either.
Result<TetSource> ReadTetGenFiles(const std::string& path) {
  const bool given_node = HasEnding(path, ".node");
  const std::string stem = path.substr(0, path.rfind('.'));
  const std::string node_path = given_node ? path : stem + ".node";
  const std::string ele_path = given_node ? stem + ".ele" : path;
  const auto node_bytes = ReadFile(node_path, kMaxTetFileBytes);
  if (!node_bytes.ok()) return node_bytes.error();
  const auto ele_bytes = ReadFile(ele_path, kMaxTetFileBytes);
  if (!ele_bytes.ok()) return ele_bytes.error();
  Result<TetSource> source = ParseTetGenText({node_path, AsText(node_bytes.value())},
                                             {ele_path, AsText(ele_bytes.value())});
  if (source.ok()) source.value().other_path = given_node ? ele_path : node_path;
  return source;
}

template <auto Parse>
Result<TetSource> ReadOneFile(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxTetFileBytes);
  if (!bytes.ok()) return bytes.error();
  return Parse(path, bytes.value());
}

struct TetFormat {
  std::string_view ending;
  const char* name;
  Result<TetSource> (*read)(const std::string& path);
};

constexpr auto kTetFormats = std::to_array<TetFormat>({{".node", "tetgen", ReadTetGenFiles},
                                                       {".ele", "tetgen", ReadTetGenFiles},
                                                       {".msh", "gmsh", ReadOneFile<ParseGmsh>},
                                                       {".vtk", "vtk", ReadOneFile<ParseVtk>}});

// The format of a file, or null.
const TetFormat* FindFormat(const std::string& path) {
  const auto* it = std::find_if(kTetFormats.begin(), kTetFormats.end(),
                                [&](const auto& format) { return HasEnding(path, format.ending); });
  return it == kTetFormats.end() ? nullptr : it;
}

}  // namespace

bool HasEnding(std::string_view path, std::string_view ending) {
  if (path.size() < ending.size()) return false;
  const auto lowered = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(ending.begin(), ending.end(),
                    path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [&](char wanted, char c) { return lowered(c) == wanted; });
}

std::string TetFormatOf(const std::string& path) {
  const TetFormat* format = FindFormat(path);
  return format == nullptr ? "" : format->name;
}

Result<TetSource> ReadTetFile(const std::string& path) { return FindFormat(path)->read(path); }

}  // namespace plush::tools
