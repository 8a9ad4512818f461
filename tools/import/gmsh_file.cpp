// SPDX-License-Identifier: MIT
// Reads Gmsh's .msh files, versions 2.0 to 2.2 and 4.1, text and binary.
// Source: Christophe Geuzaine, Jean-Francois Remacle. Gmsh Reference Manual, "MSH file format"
#include "import/mixed_reader.h"
#include "import/tet_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

struct GmshElementType {
  int32_t number = 0;
  uint32_t num_nodes = 0;
  uint32_t dimension = 0;
  bool is_tet = false;  // its first four nodes are the corners of a tet
};

// Ascending by number.
constexpr auto kElementTypes = std::to_array<GmshElementType>({
    {1, 2, 1, false},    {2, 3, 2, false},   {3, 4, 2, false},   {4, 4, 3, true},
    {5, 8, 3, false},    {6, 6, 3, false},   {7, 5, 3, false},   {8, 3, 1, false},
    {9, 6, 2, false},    {10, 9, 2, false},  {11, 10, 3, true},  {12, 27, 3, false},
    {13, 18, 3, false},  {14, 14, 3, false}, {15, 1, 0, false},  {16, 8, 2, false},
    {17, 20, 3, false},  {18, 15, 3, false}, {19, 13, 3, false}, {20, 9, 2, false},
    {21, 10, 2, false},  {22, 12, 2, false}, {23, 15, 2, false}, {24, 15, 2, false},
    {25, 21, 2, false},  {26, 4, 1, false},  {27, 5, 1, false},  {28, 6, 1, false},
    {29, 20, 3, true},   {30, 35, 3, true},  {31, 56, 3, true},  {92, 64, 3, false},
    {93, 125, 3, false},
});

const GmshElementType* FindGmshElementType(int32_t number) {
  const auto it = std::lower_bound(
      kElementTypes.begin(), kElementTypes.end(), number,
      [](const GmshElementType& type, int32_t wanted) { return type.number < wanted; });
  return it != kElementTypes.end() && it->number == number ? &*it : nullptr;
}

// Maps numbers of nodes or entities, added in any order, to values.
class NumberMap {
 public:
  void Add(int64_t number, uint32_t value) { entries_.emplace_back(number, value); }

  // Call after the last Add. Returns a number that was added twice, if there is one.
  std::optional<int64_t> Sort() {
    std::sort(entries_.begin(), entries_.end());
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto it = std::adjacent_find(entries_.begin(), entries_.end(), same);
    return it == entries_.end() ? std::nullopt : std::optional(it->first);
  }

  uint32_t Find(int64_t number, uint32_t otherwise) const {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), std::pair(number, 0u));
    return it != entries_.end() && it->first == number ? it->second : otherwise;
  }

 private:
  std::vector<std::pair<int64_t, uint32_t>> entries_;
};

std::string Text(double number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), end.ptr};
}

// Reads a file section by section. Skips all sections except $Nodes, $Elements and $Entities.
class GmshReader {
 public:
  GmshReader(const std::string& path, std::span<const std::byte> bytes) : in_(path, bytes) {}

  Result<TetSource> Read() {
    ReadFormat();
    bool has_elements = false;
    std::string_view line;
    while (in_.ok() && !has_elements && in_.Line(&line)) {
      if (line.empty() || line[0] != '$') continue;
      const std::string name(line.substr(1));
      ReadSection(name);
      has_elements = name == "Elements";
    }
    if (!has_elements) in_.Complain("the file ends before its $Elements do");
    if (!in_.ok()) return in_.error();
    return CleanTets(raw_);
  }

 private:
  void ReadFormat() {
    std::string_view line;
    if (!in_.Line(&line) || line != "$MeshFormat") {
      return in_.Refuse("not an .msh file of Gmsh, which begins with $MeshFormat");
    }
    constexpr const char* kExpected = "expected version, file type and data size";
    const auto version = in_.Number<double>(kExpected);
    const auto is_binary = in_.Number<int32_t>(kExpected);
    const auto size_bytes = in_.Number<int32_t>(kExpected);
    is_four_ = version == 4.1;
    if (!is_four_ && !(version >= 2.0 && version < 3.0)) {
      return in_.Refuse("version " + Text(version) +
                        " of .msh, but only 2.2 and 4.1 are read; save it with gmsh -save -format "
                        "msh41");
    }
    if (size_bytes != 8) {
      return in_.Refuse("numbers of " + std::to_string(size_bytes) +
                        " bytes, but only 8 bytes are read; save it with gmsh on a 64-bit system");
    }
    in_.Line(&line);
    if (is_binary != 0) ReadByteOrder();
    ReadEnd("MeshFormat");
  }

  // Binary data begin with the number 1.
  void ReadByteOrder() {
    in_.SetNumbers(MixedReader::Numbers::kNative);
    const auto one = in_.Number<int32_t>("expected the byte order");
    if (one == 1) return;
    in_.SetNumbers(MixedReader::Numbers::kSwapped);
    if (one != 0x01000000) {
      in_.Complain("the byte order is neither little-endian nor big-endian");
    }
  }

  void ReadEnd(const std::string& name) {
    if (in_.Word() != "$End" + name) in_.Complain("expected $End" + name);
    std::string_view line_end;
    in_.Line(&line_end);
  }

  void ReadSection(const std::string& name) {
    if (name == "Nodes") {
      is_four_ ? ReadNodes4() : ReadNodes2();
      Sort("nodes", &nodes_);
    } else if (name == "Elements") {
      is_four_ ? ReadElements4() : ReadElements2();
    } else if (name == "Entities" && is_four_) {
      ReadEntities();
    } else {
      if (!in_.PassLine("$End" + name)) {
        in_.Complain("the section " + MixedReader::Quoted("$" + name) + " has no end");
      }
      return;
    }
    ReadEnd(name);
  }

  void Sort(const std::string& kind, NumberMap* map) {
    const std::optional<int64_t> twice = map->Sort();
    if (twice) in_.Complain("two " + kind + " have the number " + std::to_string(*twice));
  }

  // Version 2: the count of a section is a line of text.
  uint64_t CountLine(const char* expected) {
    std::string_view line;
    uint64_t count = 0;
    if (in_.Line(&line) && TakeNumber(&line, &count) && line.empty()) return count;
    in_.Complain(expected);
    return 0;
  }

  void ReadNodes2() {
    const uint64_t count = CountLine("expected the number of nodes");
    for (uint64_t i = 0; i < count && in_.ok(); ++i) {
      const auto number = in_.Number<int32_t>("expected a node");
      AddNode(number, ReadPoint("expected a node"));
    }
  }

  void ReadElements2() {
    const uint64_t count = CountLine("expected the number of elements");
    for (uint64_t done = 0; done < count && in_.ok();) {
      done += in_.is_text() ? ReadTextElement2() : ReadBlock2();
    }
  }

  uint64_t ReadTextElement2() {
    constexpr const char* kExpected = "expected an element";
    in_.Pass<int32_t>(1, kExpected);
    const auto type = in_.Number<int32_t>(kExpected);
    ReadElement2(type, in_.Number<int32_t>(kExpected));
    return 1;
  }

  // Binary files: reads a run of elements of one type. Returns their number.
  uint64_t ReadBlock2() {
    constexpr const char* kExpected = "expected a block of elements";
    const auto type = in_.Number<int32_t>(kExpected);
    const auto num_elements = in_.Number<int32_t>(kExpected);
    const auto num_tags = in_.Number<int32_t>(kExpected);
    if (num_elements < 1) in_.Complain("a block without elements");
    for (int32_t i = 0; i < num_elements && in_.ok(); ++i) {
      in_.Pass<int32_t>(1, "expected an element");
      ReadElement2(type, num_tags);
    }
    return static_cast<uint64_t>(num_elements);
  }

  // Reads the tags and nodes of an element. The first tag is the physical group.
  void ReadElement2(int32_t type, int32_t num_tags) {
    if (num_tags < 0) return in_.Complain("a negative number of tags");
    const int32_t group = num_tags > 0 ? in_.Number<int32_t>("expected a tag") : 0;
    if (num_tags > 1) in_.Pass<int32_t>(static_cast<uint64_t>(num_tags) - 1, "expected tags");
    ReadElementNodes<int32_t>(type, group);
  }

  // Version 4: a section begins with the number of its blocks and three other numbers.
  uint64_t CountBlocks(const char* expected) {
    const auto num_blocks = in_.Number<uint64_t>(expected);
    in_.Pass<uint64_t>(3, expected);
    return num_blocks;
  }

  void ReadNodes4() {
    const uint64_t num_blocks = CountBlocks("expected the number of blocks of nodes");
    for (uint64_t i = 0; i < num_blocks && in_.ok(); ++i) ReadNodeBlock4();
  }

  void ReadNodeBlock4() {
    constexpr const char* kExpected = "expected a block of nodes";
    const auto dimension = in_.Number<int32_t>(kExpected);
    in_.Pass<int32_t>(1, kExpected);
    const auto is_parametric = in_.Number<int32_t>(kExpected);
    const auto count = in_.Number<uint64_t>(kExpected);
    if (dimension < 0 || dimension > 3) return in_.Complain(kExpected);
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < count && in_.ok(); ++i) {
      numbers.push_back(in_.Number<uint64_t>("expected a node number"));
      if (numbers.back() > INT64_MAX) in_.Complain("expected a node number");
    }
    const auto num_parameters = static_cast<uint64_t>(is_parametric != 0 ? dimension : 0);
    for (size_t i = 0; i < numbers.size() && in_.ok(); ++i) {
      const Vec3d p = ReadPoint("expected the coordinates of a node");
      in_.Pass<double>(num_parameters, "expected the coordinates of a node");
      AddNode(static_cast<int64_t>(numbers[i]), p);
    }
  }

  void ReadElements4() {
    const uint64_t num_blocks = CountBlocks("expected the number of blocks of elements");
    for (uint64_t i = 0; i < num_blocks && in_.ok(); ++i) {
      constexpr const char* kExpected = "expected a block of elements";
      const auto dimension = in_.Number<int32_t>(kExpected);
      const auto entity = in_.Number<int32_t>(kExpected);
      const auto type = in_.Number<int32_t>(kExpected);
      const auto count = in_.Number<uint64_t>(kExpected);
      const auto group = static_cast<int32_t>(dimension == 3 ? groups_.Find(entity, 0) : 0);
      for (uint64_t k = 0; k < count && in_.ok(); ++k) {
        in_.Pass<uint64_t>(1, "expected an element");
        ReadElementNodes<uint64_t>(type, group);
      }
    }
  }

  // Version 4: an element has the physical group of its volume.
  void ReadEntities() {
    std::array<uint64_t, 4> counts = {};
    for (uint64_t& count : counts) count = in_.Number<uint64_t>("expected the numbers of entities");
    for (size_t dimension = 0; dimension < counts.size(); ++dimension) {
      for (uint64_t i = 0; i < counts[dimension] && in_.ok(); ++i) ReadEntity(dimension);
    }
    Sort("volumes", &groups_);
  }

  void ReadEntity(size_t dimension) {
    constexpr const char* kExpected = "expected an entity";
    const auto number = in_.Number<int32_t>(kExpected);
    in_.Pass<double>(dimension == 0 ? 3 : 6, kExpected);
    const auto num_groups = in_.Number<uint64_t>(kExpected);
    const int32_t group = num_groups > 0 ? in_.Number<int32_t>(kExpected) : 0;
    if (num_groups > 1) in_.Pass<int32_t>(num_groups - 1, kExpected);
    if (dimension == 3) groups_.Add(number, static_cast<uint32_t>(group));
    if (dimension > 0) in_.Pass<int32_t>(in_.Number<uint64_t>(kExpected), kExpected);
  }

  // T is the type of node numbers.
  template <class T>
  void ReadElementNodes(int32_t type_number, int32_t group) {
    constexpr const char* kExpected = "expected the nodes of an element";
    const GmshElementType* type = FindGmshElementType(type_number);
    if (type == nullptr) {
      return in_.Complain("no element has the type " + std::to_string(type_number));
    }
    if (!type->is_tet) {
      ++(type->dimension == 3 ? raw_.num_solid_cells : raw_.num_surface_cells);
      return in_.Pass<T>(type->num_nodes, kExpected);
    }
    std::array<uint32_t, 4> tet = {};
    for (uint32_t& corner : tet) {
      const T number = in_.Number<T>("expected the nodes of a tetrahedron");
      corner = nodes_.Find(static_cast<int64_t>(number), kNoNode);
    }
    in_.Pass<T>(type->num_nodes - 4, kExpected);
    raw_.has_midpoints = raw_.has_midpoints || type->num_nodes > 4;
    raw_.tets.push_back(tet);
    raw_.tags.push_back(group);
  }

  Vec3d ReadPoint(const char* expected) {
    const auto x = in_.Number<double>(expected);
    const auto y = in_.Number<double>(expected);
    return {x, y, in_.Number<double>(expected)};
  }

  void AddNode(int64_t number, const Vec3d& p) {
    nodes_.Add(number, static_cast<uint32_t>(raw_.positions.size()));
    raw_.positions.push_back(p);
  }

  MixedReader in_;
  bool is_four_ = false;
  NumberMap nodes_;   // node number -> index
  NumberMap groups_;  // number of a volume -> its physical group
  RawTets raw_;
};

}  // namespace

Result<TetSource> ParseGmsh(const std::string& path, std::span<const std::byte> bytes) {
  return GmshReader(path, bytes).Read();
}

}  // namespace plush::tools
