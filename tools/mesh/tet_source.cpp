// SPDX-License-Identifier: MIT
// Cleans tets read from a file (orientation, repeats, unused nodes), and reads TetGen's text files.
// Source of the format: Hang Si. TetGen, a Delaunay-Based Quality Tetrahedral Mesh Generator. 2015
#include "mesh/tet_source.h"

#include "base/float_rounding.h"
#include "base/text.h"
#include "mesh/exact_predicates.h"
#include "mesh/welding.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace plush::tools {

namespace {

using Tet = std::array<uint32_t, 4>;

// The orientation, 1 or -1; 0 if the tet is unusable.
int OrientationOf(const Tet& tet, const std::vector<Vec3d>& positions) {
  for (const uint32_t corner : tet) {
    if (corner == kNoNode || !IsFinite(positions[corner])) return 0;
  }
  const Vec3d& a = positions[tet[0]];
  const Vec3d& b = positions[tet[1]];
  const Vec3d& c = positions[tet[2]];
  const Vec3d& d = positions[tet[3]];
  const int sign = Orient3dSign(a, b, c, d);
  // Later stages compute volumes in doubles: a tet whose volume vanishes there counts as flat.
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

// The words of a text file, line by line. Skips blank lines and comments.
class LineReader {
 public:
  LineReader(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

  // Moves to the next line with a word; false at the end.
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

  // Reads the next number of the line; false if the next word is not a T.
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

  // Whether the rest of the file can hold `lines` lines of at least `bytes_per_line` bytes.
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

// Adds the tets to *raw. A corner whose number is that of no node becomes kNoNode.
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
