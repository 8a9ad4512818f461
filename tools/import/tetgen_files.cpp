// SPDX-License-Identifier: MIT
#include "import/tetgen_files.h"

#include "base/files.h"
#include "mesh/exact_predicates.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace plush::tools {
namespace {

constexpr uint64_t kMaxFileBytes = 1ull << 30;
using Tet = std::array<uint32_t, 4>;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

// The words of a text file, line by line, without blank lines and comments.
class LineReader {
 public:
  LineReader(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

  // Goes to the next line with a word in it; false at the end.
  bool NextLine() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_number_;
      line_ = line_.substr(0, line_.find('#'));
      SkipBlanks();
      if (!line_.empty()) return true;
    }
    return false;
  }

  // The next number of the line; false where there is none of this type.
  template <class T>
  bool Next(T* value) {
    if (!line_.empty() && line_[0] == '+') line_.remove_prefix(1);
    const auto parsed = std::from_chars(line_.data(), line_.data() + line_.size(), *value);
    if (parsed.ec == std::errc::result_out_of_range)
      *value = OutOfRange<T>();
    else if (parsed.ec != std::errc())
      return false;
    line_.remove_prefix(static_cast<size_t>(parsed.ptr - line_.data()));
    if (!line_.empty() && !IsBlank(line_[0])) return false;
    SkipBlanks();
    return true;
  }

  Error Complain(const std::string& what) const {
    return {ExitCode::kInvalidInput,
            "'" + path_ + "', line " + std::to_string(line_number_) + ": " + what, "IMPORT_FAILED"};
  }

  // No line of a count that the header promises takes less than its digits and line ends.
  bool CanHold(uint64_t lines, uint64_t bytes_per_line) const {
    return lines <= rest_.size() / bytes_per_line + 1;
  }

 private:
  // What a number too large or too small for its type reads as: it is refused later as not finite.
  template <class T>
  static T OutOfRange() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }

  void SkipBlanks() {
    while (!line_.empty() && IsBlank(line_[0])) line_.remove_prefix(1);
  }

  std::string path_;
  std::string_view rest_;
  std::string_view line_;
  uint64_t line_number_ = 0;
};

// Positions and the number of the first node.
struct NodeList {
  std::vector<Vec3d> positions;
  int64_t first = 0;
};

Result<NodeList> ReadNodes(LineReader* lines) {
  uint64_t count = 0;
  uint64_t dimension = 0;
  if (!lines->NextLine() || !lines->Next(&count) || !lines->Next(&dimension)) {
    return lines->Complain("expected the number of nodes and the dimension");
  }
  if (dimension != 3) return lines->Complain("the dimension must be 3");
  if (count == 0) return lines->Complain("no nodes; a .node file with points is needed");
  if (!lines->CanHold(count, 8)) return lines->Complain("more nodes than the file can hold");
  NodeList nodes;
  nodes.positions.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t number = 0;
    Vec3d p;
    if (!lines->NextLine() || !lines->Next(&number)) return lines->Complain("expected a node");
    if (i == 0) nodes.first = number;
    if (number != nodes.first + static_cast<int64_t>(i) || nodes.first < 0 || nodes.first > 1) {
      return lines->Complain("node numbers must ascend one by one from 0 or 1");
    }
    if (!lines->Next(&p.x) || !lines->Next(&p.y) || !lines->Next(&p.z)) {
      return lines->Complain("expected three coordinates");
    }
    nodes.positions.push_back(p);
  }
  return nodes;
}

// Corners as indices from 0; UINT32_MAX where a number belongs to no node.
Result<std::vector<Tet>> ReadTets(LineReader* lines, const NodeList& nodes) {
  uint64_t count = 0;
  uint64_t num_corners = 0;
  if (!lines->NextLine() || !lines->Next(&count) || !lines->Next(&num_corners)) {
    return lines->Complain("expected the number of tetrahedra and of their nodes");
  }
  if (num_corners != 4 && num_corners != 10) {
    return lines->Complain("tetrahedra must have 4 or 10 nodes");
  }
  if (!lines->CanHold(count, 10)) return lines->Complain("more tetrahedra than the file can hold");
  std::vector<Tet> tets(count);
  const auto num_nodes = static_cast<int64_t>(nodes.positions.size());
  for (Tet& tet : tets) {
    int64_t number = 0;
    if (!lines->NextLine() || !lines->Next(&number)) {
      return lines->Complain("expected a tetrahedron");
    }
    for (uint32_t& corner : tet) {
      int64_t node = 0;
      if (!lines->Next(&node)) return lines->Complain("expected four node numbers");
      const bool exists = node >= nodes.first && node - nodes.first < num_nodes;
      corner = exists ? static_cast<uint32_t>(node - nodes.first) : UINT32_MAX;
    }
  }
  return tets;
}

// 1 or -1 by orientation; 0 where the tet cannot be used.
int OrientationOf(const Tet& tet, const std::vector<Vec3d>& positions) {
  for (const uint32_t corner : tet) {
    if (corner == UINT32_MAX || !IsFinite(positions[corner])) return 0;
  }
  const Vec3d& a = positions[tet[0]];
  const Vec3d& b = positions[tet[1]];
  const Vec3d& c = positions[tet[2]];
  const Vec3d& d = positions[tet[3]];
  const int sign = Orient3dSign(a, b, c, d);
  // Later stages compute volumes in plain doubles: a tet too flat for those is flat.
  return SixVolume(a, b, c, d) * sign > 0.0 ? sign : 0;
}

// Which tets have the same corners as an earlier one.
std::vector<bool> MarkRepeated(const std::vector<Tet>& tets) {
  std::vector<std::pair<Tet, size_t>> keys;
  for (size_t i = 0; i < tets.size(); ++i) {
    keys.emplace_back(tets[i], i);
    std::sort(keys.back().first.begin(), keys.back().first.end());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> repeated(tets.size());
  for (size_t i = 1; i < keys.size(); ++i) {
    repeated[keys[i].second] = keys[i].first == keys[i - 1].first;
  }
  return repeated;
}

// Keeps the nodes that tets use, in their order.
void DropUnusedNodes(const std::vector<Vec3d>& positions, TetMesh* mesh) {
  std::vector<uint32_t> new_index(positions.size(), UINT32_MAX);
  for (const Tet& tet : mesh->tets) {
    for (const uint32_t corner : tet) new_index[corner] = 0;
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    if (new_index[i] == UINT32_MAX) continue;
    new_index[i] = static_cast<uint32_t>(mesh->nodes.size());
    mesh->nodes.push_back(positions[i]);
  }
  for (Tet& tet : mesh->tets) {
    for (uint32_t& corner : tet) corner = new_index[corner];
  }
}

TetFiles CleanTets(const NodeList& nodes, const std::vector<Tet>& tets) {
  TetFiles result;
  const std::vector<bool> repeated = MarkRepeated(tets);
  for (size_t i = 0; i < tets.size(); ++i) {
    const int orientation = repeated[i] ? 0 : OrientationOf(tets[i], nodes.positions);
    if (orientation == 0) {
      ++result.num_dropped;
      continue;
    }
    Tet tet = tets[i];
    if (orientation < 0) {
      std::swap(tet[2], tet[3]);
      ++result.num_oriented;
    }
    result.mesh.tets.push_back(tet);
  }
  DropUnusedNodes(nodes.positions, &result.mesh);
  return result;
}

std::string Lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string_view AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool IsTetGenPath(const std::string& path) {
  const std::string lowered = Lowered(path);
  return lowered.ends_with(".node") || lowered.ends_with(".ele");
}

Result<TetFiles> ReadTetGenFiles(const std::string& path) {
  const bool given_node = Lowered(path).ends_with(".node");
  const std::string stem = path.substr(0, path.rfind('.'));
  const std::string node_path = given_node ? path : stem + ".node";
  const std::string ele_path = given_node ? stem + ".ele" : path;
  const auto node_bytes = ReadFile(node_path, kMaxFileBytes);
  if (!node_bytes.ok()) return node_bytes.error();
  const auto ele_bytes = ReadFile(ele_path, kMaxFileBytes);
  if (!ele_bytes.ok()) return ele_bytes.error();

  LineReader node_lines(node_path, AsText(node_bytes.value()));
  const Result<NodeList> nodes = ReadNodes(&node_lines);
  if (!nodes.ok()) return nodes.error();
  LineReader ele_lines(ele_path, AsText(ele_bytes.value()));
  const Result<std::vector<Tet>> tets = ReadTets(&ele_lines, nodes.value());
  if (!tets.ok()) return tets.error();
  TetFiles result = CleanTets(nodes.value(), tets.value());
  result.other_path = given_node ? ele_path : node_path;
  return result;
}

}  // namespace plush::tools
