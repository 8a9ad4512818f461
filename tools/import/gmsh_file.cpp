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

// The meaning of an element type number.
struct GmshElementType {
  int32_t number = 0;
  uint32_t num_nodes = 0;
  uint32_t dimension = 0;
  bool is_tet = false;  // its first four nodes are the corners of a tet
};

// Ascending by number. From the Gmsh Reference Manual, "MSH file format".
constexpr auto kTypes = std::to_array<GmshElementType>({
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

// The type with this number, or null.
const GmshElementType* FindGmshElementType(int32_t number) {
  const auto it = std::lower_bound(
      kTypes.begin(), kTypes.end(), number,
      [](const GmshElementType& type, int32_t wanted) { return type.number < wanted; });
  return it != kTypes.end() && it->number == number ? &*it : nullptr;
}

// Maps numbers of nodes or entities, which come in any order, to values.
class NumberMap {
 public:
  void Add(int64_t number, uint32_t value) { entries_.emplace_back(number, value); }

  // Call once after the last Add. Returns a number that was added twice, if there is one.
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

// Reads one file section by section; skips all sections except $Nodes, $Elements and $Entities.
class GmshReader {
 public:
  GmshReader(const std::string& path, std::span<const std::byte> bytes) : in_(path, bytes) {}

  Result<RawTets> Read() {
    if (auto done = ReadFormat(); !done.ok()) return done.error();
    bool has_elements = false;
    std::string_view line;
    while (!has_elements && in_.Line(&line)) {
      if (line.empty() || line[0] != '$') continue;
      const std::string name(line.substr(1));
      Result<Done> done = ReadSection(name);
      if (!done.ok()) return done.error();
      has_elements = name == "Elements";
    }
    if (!has_elements) return in_.Complain("the file ends before its $Elements do");
    return std::move(raw_);
  }

 private:
  Result<Done> ReadFormat() {
    std::string_view line;
    if (!in_.Line(&line) || line != "$MeshFormat") {
      return in_.Refuse("not an .msh file of Gmsh, which begins with $MeshFormat");
    }
    double version = 0.0;
    int32_t is_binary = 0;
    int32_t size_bytes = 0;
    if (!in_.Number(&version) || !in_.Number(&is_binary) || !in_.Number(&size_bytes)) {
      return in_.Complain("expected version, file type and data size");
    }
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
    if (is_binary != 0) {
      if (auto done = ReadByteOrder(); !done.ok()) return done;
    }
    return ReadEnd("MeshFormat");
  }

  // The data of a binary file begin with the number 1.
  Result<Done> ReadByteOrder() {
    int32_t one = 0;
    in_.SetNumbers(MixedReader::Numbers::kNative);
    if (!in_.Number(&one)) return in_.Complain("expected the byte order");
    if (one == 1) return Done{};
    in_.SetNumbers(MixedReader::Numbers::kSwapped);
    return one == 0x01000000
               ? Result<Done>(Done{})
               : in_.Complain("the byte order is neither little-endian nor big-endian");
  }

  Result<Done> ReadEnd(const std::string& name) {
    std::string_view word;
    if (!in_.Word(&word) || word != "$End" + name) return in_.Complain("expected $End" + name);
    std::string_view line_end;
    in_.Line(&line_end);
    return Done{};
  }

  Result<Done> ReadSection(const std::string& name) {
    Result<Done> done = Done{};
    if (name == "Nodes") {
      done = is_four_ ? ReadNodes4() : ReadNodes2();
      const std::optional<int64_t> twice = nodes_.Sort();
      if (done.ok() && twice) {
        return in_.Complain("two nodes have the number " + std::to_string(*twice));
      }
    } else if (name == "Elements") {
      done = is_four_ ? ReadElements4() : ReadElements2();
    } else if (name == "Entities" && is_four_) {
      done = ReadEntities();
    } else if (!in_.PassLine("$End" + name)) {
      return in_.Complain("the section " + MixedReader::Quoted("$" + name) + " has no end");
    } else {
      return Done{};
    }
    return done.ok() ? ReadEnd(name) : done;
  }

  // Version 2: the count of a section is a line of text.
  bool CountLine(uint64_t* count) {
    std::string_view line;
    return in_.Line(&line) && TakeNumber(&line, count) && line.empty();
  }

  Result<Done> ReadNodes2() {
    uint64_t count = 0;
    if (!CountLine(&count)) return in_.Complain("expected the number of nodes");
    for (uint64_t i = 0; i < count; ++i) {
      int32_t number = 0;
      Vec3d p;
      if (!in_.Number(&number) || !ReadPoint(&p)) return in_.Complain("expected a node");
      AddNode(number, p);
    }
    return Done{};
  }

  Result<Done> ReadElements2() {
    uint64_t count = 0;
    if (!CountLine(&count)) return in_.Complain("expected the number of elements");
    for (uint64_t done = 0; done < count;) {
      const Result<uint64_t> num_read = in_.is_text() ? ReadTextElement2() : ReadBlock2();
      if (!num_read.ok()) return num_read.error();
      done += num_read.value();
    }
    return Done{};
  }

  Result<uint64_t> ReadTextElement2() {
    int32_t number = 0;
    int32_t type = 0;
    int32_t num_tags = 0;
    if (!in_.Number(&number) || !in_.Number(&type) || !in_.Number(&num_tags)) {
      return in_.Complain("expected an element");
    }
    if (auto done = ReadElement2(type, num_tags); !done.ok()) return done.error();
    return uint64_t{1};
  }

  // Binary files: a run of elements with the same type and number of tags.
  Result<uint64_t> ReadBlock2() {
    int32_t type = 0;
    int32_t num_elements = 0;
    int32_t num_tags = 0;
    if (!in_.Number(&type) || !in_.Number(&num_elements) || !in_.Number(&num_tags)) {
      return in_.Complain("expected a block of elements");
    }
    if (num_elements < 1) return in_.Complain("a block without elements");
    for (int32_t i = 0; i < num_elements; ++i) {
      int32_t number = 0;
      if (!in_.Number(&number)) return in_.Complain("expected an element");
      if (auto done = ReadElement2(type, num_tags); !done.ok()) return done.error();
    }
    return static_cast<uint64_t>(num_elements);
  }

  // Reads the tags and nodes of an element. The first tag is the physical group.
  Result<Done> ReadElement2(int32_t type, int32_t num_tags) {
    if (num_tags < 0) return in_.Complain("a negative number of tags");
    int32_t group = 0;
    if (num_tags > 0 && !in_.Number(&group)) return in_.Complain("expected a tag");
    if (num_tags > 1 && !in_.Pass<int32_t>(static_cast<uint64_t>(num_tags) - 1)) {
      return in_.Complain("expected tags");
    }
    return ReadElementNodes<int32_t>(type, group);
  }

  Result<Done> ReadNodes4() {
    uint64_t num_blocks = 0;
    if (!in_.Number(&num_blocks) || !in_.Pass<uint64_t>(3)) {
      return in_.Complain("expected the number of blocks of nodes");
    }
    for (uint64_t i = 0; i < num_blocks; ++i) {
      if (auto done = ReadNodeBlock4(); !done.ok()) return done;
    }
    return Done{};
  }

  Result<Done> ReadNodeBlock4() {
    int32_t dimension = 0;
    int32_t entity = 0;
    int32_t is_parametric = 0;
    uint64_t count = 0;
    if (!in_.Number(&dimension) || !in_.Number(&entity) || !in_.Number(&is_parametric) ||
        !in_.Number(&count) || dimension < 0 || dimension > 3) {
      return in_.Complain("expected a block of nodes");
    }
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t number = 0;
      if (!in_.Number(&number) || number > INT64_MAX) return in_.Complain("expected a node number");
      numbers.push_back(number);
    }
    const auto num_parameters = static_cast<uint64_t>(is_parametric != 0 ? dimension : 0);
    for (const uint64_t number : numbers) {
      Vec3d p;
      if (!ReadPoint(&p) || !in_.Pass<double>(num_parameters)) {
        return in_.Complain("expected the coordinates of a node");
      }
      AddNode(static_cast<int64_t>(number), p);
    }
    return Done{};
  }

  Result<Done> ReadElements4() {
    uint64_t num_blocks = 0;
    if (!in_.Number(&num_blocks) || !in_.Pass<uint64_t>(3)) {
      return in_.Complain("expected the number of blocks of elements");
    }
    for (uint64_t i = 0; i < num_blocks; ++i) {
      int32_t dimension = 0;
      int32_t entity = 0;
      int32_t type = 0;
      uint64_t count = 0;
      if (!in_.Number(&dimension) || !in_.Number(&entity) || !in_.Number(&type) ||
          !in_.Number(&count)) {
        return in_.Complain("expected a block of elements");
      }
      const auto group = static_cast<int32_t>(dimension == 3 ? groups_.Find(entity, 0) : 0);
      for (uint64_t k = 0; k < count; ++k) {
        if (!in_.Pass<uint64_t>(1)) return in_.Complain("expected an element");
        if (auto done = ReadElementNodes<uint64_t>(type, group); !done.ok()) return done;
      }
    }
    return Done{};
  }

  // Version 4: an element has the physical group of its volume.
  Result<Done> ReadEntities() {
    std::array<uint64_t, 4> counts = {};
    for (uint64_t& count : counts) {
      if (!in_.Number(&count)) return in_.Complain("expected the numbers of entities");
    }
    for (size_t dimension = 0; dimension < counts.size(); ++dimension) {
      for (uint64_t i = 0; i < counts[dimension]; ++i) {
        if (!ReadEntity(dimension)) return in_.Complain("expected an entity");
      }
    }
    const std::optional<int64_t> twice = groups_.Sort();
    if (!twice) return Done{};
    return in_.Complain("two volumes have the number " + std::to_string(*twice));
  }

  bool ReadEntity(size_t dimension) {
    int32_t number = 0;
    uint64_t num_groups = 0;
    int32_t group = 0;
    uint64_t num_borders = 0;
    const uint64_t num_coordinates = dimension == 0 ? 3 : 6;
    if (!in_.Number(&number) || !in_.Pass<double>(num_coordinates) || !in_.Number(&num_groups)) {
      return false;
    }
    if (num_groups > 0 && (!in_.Number(&group) || !in_.Pass<int32_t>(num_groups - 1))) return false;
    if (dimension == 3) groups_.Add(number, static_cast<uint32_t>(group));
    if (dimension == 0) return true;
    return in_.Number(&num_borders) && in_.Pass<int32_t>(num_borders);
  }

  // Reads the nodes of an element; T is the type of their numbers.
  template <class T>
  Result<Done> ReadElementNodes(int32_t type_number, int32_t group) {
    const GmshElementType* type = FindGmshElementType(type_number);
    if (type == nullptr) {
      return in_.Complain("no element has the type " + std::to_string(type_number));
    }
    if (!type->is_tet) {
      ++(type->dimension == 3 ? raw_.num_solid_cells : raw_.num_surface_cells);
      if (!in_.Pass<T>(type->num_nodes)) return in_.Complain("expected the nodes of an element");
      return Done{};
    }
    std::array<uint32_t, 4> tet = {};
    for (uint32_t& corner : tet) {
      T number = 0;
      if (!in_.Number(&number)) return in_.Complain("expected the nodes of a tetrahedron");
      corner = nodes_.Find(static_cast<int64_t>(number), kNoNode);
    }
    if (!in_.Pass<T>(type->num_nodes - 4)) return in_.Complain("expected the nodes of an element");
    raw_.has_midpoints = raw_.has_midpoints || type->num_nodes > 4;
    raw_.tets.push_back(tet);
    raw_.tags.push_back(group);
    return Done{};
  }

  bool ReadPoint(Vec3d* p) { return in_.Number(&p->x) && in_.Number(&p->y) && in_.Number(&p->z); }

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
  const Result<RawTets> raw = GmshReader(path, bytes).Read();
  if (!raw.ok()) return raw.error();
  return CleanTets(raw.value());
}

}  // namespace plush::tools
