// SPDX-License-Identifier: MIT
#include "import/own_formats.h"

#include "base/text.h"
#include "import/gltf_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace plush::tools {
namespace {

// By first bytes. Those of other meshes are names for messages only.
constexpr auto kContents = std::to_array<NamedValue<std::string_view>>({
    {"a PNG image", "\x89PNG"},
    {"a JPEG image", "\xFF\xD8\xFF"},
    {"a GIF image", "GIF8"},
    {"a PDF document", "%PDF"},
    {"a gzip archive", "\x1F\x8B"},
    {"a 7z archive", "7z\xBC\xAF"},
    {"a RAR archive", "Rar!"},
    {"a ZIP archive", "PK\x03\x04"},
    {"a web page", "<!DOCTYPE html"},
    {"a pointer of Git LFS, not the file itself", "version https://git-lfs"},
    {"binary FBX", "Kaydara FBX Binary"},
    {"a Blender file", "BLENDER"},
    {"XML", "<?xml"},
});

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<RawScene> RefuseContent(const std::string&, std::span<const std::byte> bytes) {
  return Error{ExitCode::kInvalidInput,
               "the file is " + ContentName(bytes) + ", not what its name says", "IMPORT_FAILED"};
}

}  // namespace

std::string ContentName(std::span<const std::byte> head) {
  for (const auto& content : kContents) {
    if (TextOf(head).starts_with(content.value)) return content.name;
  }
  return "";
}

SceneReader OwnReader(const std::string& path, std::span<const std::byte> head, uint64_t size,
                      bool is_known_name) {
  const std::string_view text = TextOf(head);
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto is_named = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, extension) != names.end();
  };
  if (IsGltf(head)) return ReadGltf;
  if (text.starts_with("ply\n") || text.starts_with("ply\r")) return ReadPly;
  if (LooksLike3mf(head)) return Read3mf;
  if (is_named({".3mf"}) && text.starts_with("PK")) return Read3mf;
  const bool is_gltf = is_named({".gltf", ".glb"});
  const bool is_own = is_gltf || is_named({".obj", ".stl", ".ply", ".3mf"});
  if (is_own && !ContentName(head).empty()) return RefuseContent;
  if (is_named({".obj"})) return ReadObj;
  if (is_named({".stl"})) return ReadStl;
  if (is_named({".ply"})) return ReadPly;
  if (is_named({".3mf"})) return Read3mf;
  if (is_known_name && !is_gltf) return nullptr;
  if (LooksLikeStl(head, size)) return ReadStl;
  if (LooksLikeObj(head)) return ReadObj;
  return is_gltf ? ReadGltf : nullptr;
}

}  // namespace plush::tools
