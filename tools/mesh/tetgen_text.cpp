// SPDX-License-Identifier: MIT
// Reads the format that TetGen's manual describes.
// Source: Hang Si. TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator. 2015
#include "mesh/tetgen_text.h"

#include "mesh/parse_number.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using Tet = std::array<uint32_t, 4>;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

// The words of a text file, line by line, without blank lines and comments.
class LineReader {
 public:
  LineReader(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

  // Moves to the next line that holds a word; false at the end.
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

  // The next number of the line; false if the next word is no T.
  template <class T>
  bool Next(T* value) {
    if (!TakeNumber(&line_, value)) return false;
    if (!line_.empty() && !IsBlank(line_[0])) return false;
    SkipBlanks();
    return true;
  }

  Error Complain(const std::string& what) const {
    return {ExitCode::kInvalidInput,
            "'" + path_ + "', line " + std::to_string(line_number_) + ": " + what, "IMPORT_FAILED"};
  }

  // Whether the rest of the file can hold that many lines of at least so many bytes.
  bool CanHold(uint64_t lines, uint64_t bytes_per_line) const {
    return lines <= rest_.size() / bytes_per_line + 1;
  }

 private:
  void SkipBlanks() {
    while (!line_.empty() && IsBlank(line_[0])) line_.remove_prefix(1);
  }

  std::string path_;
  std::string_view rest_;
  std::string_view line_;
  uint64_t line_number_ = 0;
};

struct NodeList {
  std::vector<Vec3d> positions;
  int64_t first = 0;  // number of the first node
};

Result<NodeList> ReadNodes(LineReader* lines) {
  uint64_t count = 0;
  uint64_t dimension = 0;
  if (!lines->NextLine() || !lines->Next(&count) || !lines->Next(&dimension)) {
    return lines->Complain("expected the number of nodes and the dimension");
  }
  if (dimension != 3) {
    return lines->Complain("the dimension is " + std::to_string(dimension) + " and must be 3");
  }
  if (count == 0) return lines->Complain("no nodes; a .node file with points is needed");
  if (!lines->CanHold(count, 8)) {
    return lines->Complain(std::to_string(count) + " nodes are more than the file can hold");
  }
  NodeList nodes;
  nodes.positions.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t number = 0;
    Vec3d p;
    if (!lines->NextLine() || !lines->Next(&number)) return lines->Complain("expected a node");
    if (i == 0) nodes.first = number;
    if (number != nodes.first + static_cast<int64_t>(i) || nodes.first < 0 || nodes.first > 1) {
      return lines->Complain("the node's number is " + std::to_string(number) +
                             ", but numbers must ascend one by one from 0 or 1");
    }
    if (!lines->Next(&p.x) || !lines->Next(&p.y) || !lines->Next(&p.z)) {
      return lines->Complain("expected three coordinates");
    }
    nodes.positions.push_back(p);
  }
  return nodes;
}

// Adds the tets to *raw; a corner whose number belongs to no node becomes kNoNode.
Result<Done> ReadTets(LineReader* lines, int64_t first_node, RawTets* raw) {
  uint64_t count = 0;
  uint64_t num_corners = 0;
  if (!lines->NextLine() || !lines->Next(&count) || !lines->Next(&num_corners)) {
    return lines->Complain("expected the number of tetrahedra and of their nodes");
  }
  if (num_corners != 4 && num_corners != 10) {
    return lines->Complain("tetrahedra have " + std::to_string(num_corners) +
                           " nodes and must have 4 or 10");
  }
  if (!lines->CanHold(count, 10)) {
    return lines->Complain(std::to_string(count) + " tetrahedra are more than the file can hold");
  }
  raw->has_midpoints = num_corners == 10;
  raw->tets.resize(count);
  const auto num_nodes = static_cast<int64_t>(raw->positions.size());
  for (Tet& tet : raw->tets) {
    int64_t number = 0;
    if (!lines->NextLine() || !lines->Next(&number)) {
      return lines->Complain("expected a tetrahedron");
    }
    for (uint32_t& corner : tet) {
      int64_t node = 0;
      if (!lines->Next(&node)) return lines->Complain("expected four node numbers");
      const bool exists = node >= first_node && node - first_node < num_nodes;
      corner = exists ? static_cast<uint32_t>(node - first_node) : kNoNode;
    }
  }
  return Done{};
}

}  // namespace

Result<TetSource> ParseTetGenText(const NamedText& node_file, const NamedText& ele_file) {
  LineReader node_lines(node_file.name, node_file.text);
  Result<NodeList> nodes = ReadNodes(&node_lines);
  if (!nodes.ok()) return nodes.error();
  RawTets raw;
  raw.positions = std::move(nodes.value().positions);
  LineReader ele_lines(ele_file.name, ele_file.text);
  const Result<Done> tets = ReadTets(&ele_lines, nodes.value().first, &raw);
  if (!tets.ok()) return tets.error();
  return CleanTets(raw);
}

}  // namespace plush::tools
