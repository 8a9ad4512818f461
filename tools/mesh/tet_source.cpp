// SPDX-License-Identifier: MIT
// Cleans tets read from a file (orientation, repeats, unused nodes), and reads TetGen's text files.
// Source of the format: Hang Si. TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator. 2015
#include "mesh/tet_source.h"

#include "base/float_rounding.h"
#include "base/text.h"
#include "mesh/exact_predicates.h"
#include "mesh/welding.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace plush::tools {

namespace {

using Tet = std::array<uint32_t, 4>;

// 1, -1, or 0 if the tet is unusable.
int OrientationOf(const Tet& tet, const std::vector<Vec3d>& positions) {
  for (const uint32_t corner : tet) {
    if (corner == kNoNode || !IsFinite(positions[corner])) return 0;
  }
  const Vec3d& a = positions[tet[0]];
  const Vec3d& b = positions[tet[1]];
  const Vec3d& c = positions[tet[2]];
  const Vec3d& d = positions[tet[3]];
  const int sign = Orient3dSign(a, b, c, d);
  // Later stages compute in doubles: a tet without volume there counts as flat.
  return SixVolume(a, b, c, d) * sign > 0.0 ? sign : 0;
}

}  // namespace

TetSource CleanTets(const RawTets& raw) {
  TetSource result;
  const std::vector<bool> repeated = MarkRepeated(raw.tets);
  for (size_t i = 0; i < raw.tets.size(); ++i) {
    const int orientation = repeated[i] ? 0 : OrientationOf(raw.tets[i], raw.positions);
    if (orientation == 0) {
      ++result.num_dropped;
      continue;
    }
    Tet tet = raw.tets[i];
    if (orientation < 0) {
      std::swap(tet[2], tet[3]);
      ++result.num_oriented;
    }
    result.mesh.tets.push_back(tet);
    if (!raw.tags.empty()) result.tags.push_back(raw.tags[i]);
  }
  result.mesh.nodes = KeepUsedPoints<4>(raw.positions, &result.mesh.tets);
  if (!raw.has_midpoints) result.num_unused = raw.positions.size() - result.mesh.nodes.size();
  result.num_surface_cells = raw.num_surface_cells;
  result.num_solid_cells = raw.num_solid_cells;
  return result;
}

void DropTetsFlatInFloat(TetSource* source) {
  std::vector<Vec3d> rounded;
  rounded.reserve(source->mesh.nodes.size());
  for (const Vec3d& node : source->mesh.nodes) rounded.push_back(RoundToFloat(node));
  TetMesh kept;
  std::vector<int32_t> kept_tags;
  for (size_t i = 0; i < source->mesh.tets.size(); ++i) {
    if (OrientationOf(source->mesh.tets[i], rounded) <= 0) continue;
    kept.tets.push_back(source->mesh.tets[i]);
    if (!source->tags.empty()) kept_tags.push_back(source->tags[i]);
  }
  source->num_dropped += source->mesh.tets.size() - kept.tets.size();
  kept.nodes = KeepUsedPoints<4>(source->mesh.nodes, &kept.tets);
  source->mesh = std::move(kept);
  source->tags = std::move(kept_tags);
}

void AddTetFindings(const TetSource& source, FindingList* findings) {
  const auto add = [findings](const char* code, uint64_t count, const char* what) {
    if (count > 0) findings->Add(code, count, std::to_string(count) + " " + what);
  };
  add("MESH_TET_INVALID", source.num_dropped,
      "tetrahedra were flat, repeated or pointed at no node");
  add("MESH_TET_ORIENTED", source.num_oriented, "tetrahedra were turned");
  add("MESH_UNREFERENCED_VERTEX", source.num_unused, "nodes belong to no tetrahedron");
  add("MESH_CELL_DROPPED", source.num_solid_cells, "cells with a volume are no tetrahedra");
  add("MESH_CELL_SKIPPED", source.num_surface_cells, "points, lines and faces were passed over");
}

namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

// The numbers of a text file, line by line. Skips blank lines and comments. Keeps the first error;
// after it, every number reads as 0.
class LineReader {
 public:
  explicit LineReader(const NamedText& file) : name_(file.name), rest_(file.text) {}

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }

  void Complain(const std::string& what) {
    if (!ok()) return;
    error_ = {ExitCode::kInvalidInput,
              "'" + name_ + "', line " + std::to_string(line_number_) + ": " + what,
              "IMPORT_FAILED"};
  }

  // Reads the first number of the next line with a word.
  template <class T>
  T FirstOfLine(const char* expected) {
    for (line_ = {}; line_.empty() && !rest_.empty(); ++line_number_) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      line_ = line_.substr(0, line_.find('#'));
      SkipBlanks();
    }
    return Next<T>(expected);
  }

  // Reads the next number of the line. Complains if the next word is not a T.
  template <class T>
  T Next(const char* expected) {
    T value = {};
    if (ok() && TakeNumber(&line_, &value) && (line_.empty() || IsBlank(line_[0]))) {
      SkipBlanks();
      return value;
    }
    Complain(expected);
    return {};
  }

  // Complains if the rest of the file cannot hold `count` lines of at least `bytes_per_line` bytes.
  void CheckRoom(uint64_t count, uint64_t bytes_per_line, const char* what) {
    if (count <= rest_.size() / bytes_per_line + 1) return;
    Complain(std::to_string(count) + " " + what + " are more than the file can hold");
  }

 private:
  void SkipBlanks() {
    while (!line_.empty() && IsBlank(line_[0])) line_.remove_prefix(1);
  }

  const std::string& name_;
  std::string_view rest_;
  std::string_view line_;
  uint64_t line_number_ = 0;
  std::optional<Error> error_;
};

// Adds the nodes to *raw. Returns the number of the first node.
int64_t ReadNodes(LineReader* lines, RawTets* raw) {
  constexpr const char* kExpected = "expected the number of nodes and the dimension";
  const auto count = lines->FirstOfLine<uint64_t>(kExpected);
  const auto dimension = lines->Next<uint64_t>(kExpected);
  if (dimension != 3) {
    lines->Complain("the dimension is " + std::to_string(dimension) + " and must be 3");
  }
  if (count == 0) lines->Complain("no nodes; a .node file with points is needed");
  lines->CheckRoom(count, 8, "nodes");
  int64_t first = 0;
  for (uint64_t i = 0; i < count && lines->ok(); ++i) {
    const auto number = lines->FirstOfLine<int64_t>("expected a node");
    if (i == 0) first = number;
    if (number != first + static_cast<int64_t>(i) || first < 0 || first > 1) {
      lines->Complain("the node's number is " + std::to_string(number) +
                      ", but numbers must ascend one by one from 0 or 1");
    }
    Vec3d& p = raw->positions.emplace_back();
    for (int k = 0; k < 3; ++k) p[k] = lines->Next<double>("expected three coordinates");
  }
  return first;
}

// Adds the tets to *raw. A corner that is the number of no node becomes kNoNode.
void ReadTets(LineReader* lines, int64_t first_node, RawTets* raw) {
  constexpr const char* kExpected = "expected the number of tetrahedra and of their nodes";
  const auto count = lines->FirstOfLine<uint64_t>(kExpected);
  const auto num_corners = lines->Next<uint64_t>(kExpected);
  if (num_corners != 4 && num_corners != 10) {
    lines->Complain("tetrahedra have " + std::to_string(num_corners) +
                    " nodes and must have 4 or 10");
  }
  lines->CheckRoom(count, 10, "tetrahedra");
  raw->has_midpoints = num_corners == 10;
  const auto num_nodes = static_cast<int64_t>(raw->positions.size());
  for (uint64_t i = 0; i < count && lines->ok(); ++i) {
    lines->FirstOfLine<int64_t>("expected a tetrahedron");
    for (uint32_t& corner : raw->tets.emplace_back()) {
      const auto node = lines->Next<int64_t>("expected four node numbers");
      const bool exists = node >= first_node && node - first_node < num_nodes;
      corner = exists ? static_cast<uint32_t>(node - first_node) : kNoNode;
    }
  }
}

}  // namespace

Result<TetSource> ParseTetGenText(const NamedText& node_file, const NamedText& ele_file) {
  RawTets raw;
  LineReader node_lines(node_file);
  const int64_t first_node = ReadNodes(&node_lines, &raw);
  if (!node_lines.ok()) return node_lines.error();
  LineReader ele_lines(ele_file);
  ReadTets(&ele_lines, first_node, &raw);
  if (!ele_lines.ok()) return ele_lines.error();
  return CleanTets(raw);
}

}  // namespace plush::tools
