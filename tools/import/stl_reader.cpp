// SPDX-License-Identifier: MIT
#include "import/mixed_reader.h"
#include "import/own_formats.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>

namespace plush::tools {
namespace {

constexpr size_t kHeaderBytes = 80, kCountEnd = 84, kTriangleBytes = 50;
// Enough to tell text from binary.
constexpr size_t kHeadBytes = 4096;

uint32_t CountOf(std::span<const std::byte> bytes) {
  uint32_t count = 0;
  std::memcpy(&count, bytes.data() + kHeaderBytes, sizeof(count));
  return count;
}

bool HasSizeOfBinary(std::span<const std::byte> head, uint64_t size) {
  return head.size() >= kCountEnd && size == kCountEnd + uint64_t{kTriangleBytes} * CountOf(head);
}

std::string Lower(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Whether it is text that begins with "solid".
bool BeginsSolid(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                        std::min(bytes.size(), kHeadBytes));
  if (text.find('\0') != text.npos) return false;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return Lower(text.substr(0, 5)) == "solid";
}

RawScene SceneOf(std::string root) {
  RawScene scene;
  scene.format = "stl";
  scene.materials = {"DefaultMaterial"};
  scene.colours = {{1.0f, 1.0f, 1.0f}};
  scene.nodes.push_back({.name = std::move(root)});
  return scene;
}

RawMesh* AddMesh(const std::string& name, RawScene* scene) {
  const auto number = static_cast<uint32_t>(scene->meshes.size());
  scene->nodes.push_back({.name = name, .parent = 0, .meshes = {number}});
  scene->meshes.push_back({.name = name, .material = 0});
  return &scene->meshes.back();
}

void AddTriangle(const std::array<Vec3, 3>& corners, RawMesh* mesh) {
  const auto first = static_cast<uint32_t>(mesh->positions.size());
  mesh->positions.insert(mesh->positions.end(), corners.begin(), corners.end());
  mesh->triangles.push_back({first, first + 1, first + 2});
}

Error Invalid(const std::string& why) { return {ExitCode::kInvalidInput, why, "IMPORT_FAILED"}; }

// Colours of triangles: five bits a channel, which one bit makes valid. Magics writes them from red
// on, and the colour of all others into the header; other programs from blue on.
class TriangleColours {
 public:
  explicit TriangleColours(std::span<const std::byte> bytes) {
    const std::string_view header(reinterpret_cast<const char*>(bytes.data()), kHeaderBytes);
    const size_t at = header.find("COLOR=");
    is_magics_ = at != header.npos && at + 10 <= kHeaderBytes;
    for (size_t k = 0; k < 4 && is_magics_; ++k) {
      common_[k] = static_cast<float>(static_cast<uint8_t>(header[at + 6 + k])) / 255.0f;
    }
  }

  Vec3 common() const { return {common_[0], common_[1], common_[2]}; }

  // `triangle`: its number.
  void Add(uint16_t bits, size_t triangle, RawMesh* mesh) {
    if ((bits & 0x8000) == 0 && mesh->attributes.empty()) return;
    if (mesh->attributes.empty()) {
      for (const char* k : {"r", "g", "b", "a"}) {
        mesh->attributes.push_back({std::string("COLOR_0.") + k, {}});
      }
    }
    for (size_t k = 0; k < 4; ++k) {
      std::vector<float>& values = mesh->attributes[k].values;
      values.resize(3 * triangle, common_[k]);
      const size_t shift = 5 * (is_magics_ ? k : 2 - k);
      const float channel = k == 3 ? 1.0f : static_cast<float>((bits >> shift) & 0x1f) / 31.0f;
      values.resize(3 * triangle + 3, (bits & 0x8000) != 0 ? channel : common_[k]);
    }
  }

 private:
  std::array<float, 4> common_ = {1.0f, 1.0f, 1.0f, 1.0f};
  bool is_magics_ = false;
};

Result<RawScene> ReadBinary(std::span<const std::byte> bytes) {
  if (bytes.size() < kCountEnd) {
    return Invalid("a binary STL file begins with 84 bytes, the file has " +
                   std::to_string(bytes.size()));
  }
  const uint64_t count = CountOf(bytes);
  const uint64_t room = (bytes.size() - kCountEnd) / kTriangleBytes;
  if (count != room) {
    return Invalid("the header announces " + std::to_string(count) +
                   " triangles, but the file of " + std::to_string(bytes.size()) + " bytes holds " +
                   std::to_string(room));
  }
  RawScene scene = SceneOf("<STL_BINARY>");
  RawMesh* mesh = AddMesh("", &scene);
  TriangleColours colours(bytes);
  scene.colours = {colours.common()};
  for (uint64_t t = 0; t < count; ++t) {
    const std::byte* from = bytes.data() + kCountEnd + t * kTriangleBytes;
    std::array<float, 12> numbers;  // normal and corners
    uint16_t bits = 0;
    std::memcpy(numbers.data(), from, sizeof(numbers));
    std::memcpy(&bits, from + sizeof(numbers), sizeof(bits));
    AddTriangle({Vec3{numbers[3], numbers[4], numbers[5]}, Vec3{numbers[6], numbers[7], numbers[8]},
                 Vec3{numbers[9], numbers[10], numbers[11]}},
                mesh);
    colours.Add(bits, t, mesh);
  }
  return scene;
}

Result<RawScene> ReadText(std::span<const std::byte> bytes) {
  if (bytes.size() >= 3 && bytes[0] == std::byte{0xEF}) bytes = bytes.subspan(3);
  MixedReader reader("", bytes);
  RawScene scene = SceneOf("<STL_ASCII>");
  RawMesh* mesh = nullptr;  // of the solid, if it has a facet
  std::string name;
  std::array<Vec3, 3> corners;
  size_t num_corners = 0;  // of the facet
  bool is_in_facet = false;
  while (reader.ok()) {
    const std::string word = Lower(reader.Word());
    std::string_view rest;
    if (word.empty() || word == "endfacet" || word == "facet" || word == "solid") {
      if (is_in_facet && num_corners != 3) {
        reader.Complain("a facet has " + std::to_string(num_corners) + " corners instead of 3");
      }
      is_in_facet = word == "facet";
      if (is_in_facet && mesh == nullptr) mesh = AddMesh(name, &scene);
      num_corners = 0;
      if (word.empty()) break;
      if (word == "solid") {
        reader.Line(&rest);
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
        name = rest;
        mesh = nullptr;
      }
    } else if (word == "endsolid") {
      reader.Line(&rest);
    } else if (word == "vertex" && is_in_facet && num_corners < 4) {
      Vec3d p;
      for (int k = 0; k < 3; ++k) p[k] = reader.Number<double>("expected three coordinates");
      if (num_corners < 3) corners[num_corners] = ToFloat(p);
      ++num_corners;
      if (num_corners == 3 && reader.ok()) AddTriangle(corners, mesh);
    }
  }
  if (!reader.ok()) return reader.error();
  return scene;
}

}  // namespace

bool LooksLikeStl(std::span<const std::byte> head, uint64_t size) {
  if (HasSizeOfBinary(head, size)) return true;
  const std::string text =
      Lower({reinterpret_cast<const char*>(head.data()), std::min(head.size(), kHeadBytes)});
  return BeginsSolid(head) && text.find("facet") != text.npos;
}

Result<RawScene> ReadStl(const std::string&, std::span<const std::byte> bytes) {
  if (!BeginsSolid(bytes) || HasSizeOfBinary(bytes, bytes.size())) return ReadBinary(bytes);
  return ReadText(bytes);
}

}  // namespace plush::tools
