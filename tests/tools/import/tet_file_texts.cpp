// SPDX-License-Identifier: MIT
// Writes tet files word by word, as text or as binary numbers of either byte order.
#include "tools/import/tet_file_texts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>

namespace plush::tests {
namespace {

using tools::TetMesh;
using tools::Vec3d;

// Collects words, lines and numbers.
class Text {
 public:
  explicit Text(Form form) : form_(form) {}

  Text& Line(const std::string& line) {
    bytes_ += line + "\n";
    return *this;
  }

  template <class T>
  Text& Number(T number) {
    if (form_ == Form::kText) {
      std::array<char, 32> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
      bytes_.append(digits.data(), end.ptr) += ' ';
      return *this;
    }
    auto raw = std::bit_cast<std::array<char, sizeof(T)>>(number);
    const bool native =
        (std::endian::native == std::endian::little) == (form_ == Form::kLittleEndian);
    if (!native) std::reverse(raw.begin(), raw.end());
    bytes_.append(raw.data(), raw.size());
    return *this;
  }

  Text& Point(const Vec3d& p) { return Number(p.x).Number(p.y).Number(p.z); }

  // Ends a line if numbers are text.
  Text& EndRow() {
    if (form_ == Form::kText) bytes_ += '\n';
    return *this;
  }

  bool is_text() const { return form_ == Form::kText; }
  std::string Take() { return std::move(bytes_); }

 private:
  Form form_;
  std::string bytes_;
};

template <class T>
T NumberOf(const TetMesh& mesh, uint32_t node) {
  return static_cast<T>(3 * (mesh.nodes.size() - node));
}

int32_t GroupOf(size_t tet) { return static_cast<int32_t>(tet % 3); }

void MshHead(const std::string& version, Text* text) {
  text->Line("$MeshFormat").Line(version + (text->is_text() ? " 0 8" : " 1 8"));
  if (!text->is_text()) text->Number(int32_t{1}).Line("");
  text->Line("$EndMeshFormat").Line("$PhysicalNames").Line("1").Line("3 1 \"soft $Nodes\"");
  text->Line("$EndPhysicalNames");
}

}  // namespace

std::string Msh2(const TetMesh& mesh, Form form) {
  Text text(form);
  MshHead("2.2", &text);
  text.Line("$Nodes").Line(std::to_string(mesh.nodes.size()));
  for (uint32_t i = 0; i < mesh.nodes.size(); ++i) {
    text.Number(NumberOf<int32_t>(mesh, i)).Point(mesh.nodes[i]).EndRow();
  }
  text.Line("$EndNodes").Line("$Elements").Line(std::to_string(mesh.tets.size() + 1));
  const auto head = [&](int32_t number, int32_t type, int32_t num_tags) {
    if (text.is_text()) {
      text.Number(number).Number(type).Number(num_tags);
    } else {
      text.Number(type).Number(int32_t{1}).Number(num_tags).Number(number);
    }
  };
  head(1, 2, 2);
  text.Number(int32_t{99}).Number(int32_t{1});
  for (uint32_t k = 0; k < 3; ++k) text.Number(NumberOf<int32_t>(mesh, k));
  text.EndRow();
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    const int32_t group = GroupOf(t);
    head(static_cast<int32_t>(t) + 2, 4, group == 0 ? 0 : 2);
    if (group != 0) text.Number(group).Number(int32_t{1});
    for (const uint32_t node : mesh.tets[t]) text.Number(NumberOf<int32_t>(mesh, node));
    text.EndRow();
  }
  return text.Line("$EndElements").Take();
}

std::string Msh4(const TetMesh& mesh, Form form) {
  Text text(form);
  MshHead("4.1", &text);
  text.Line("$Entities");
  for (const uint64_t count : {1, 0, 1, 3}) text.Number(count);
  text.EndRow().Number(int32_t{5}).Point({}).Number(uint64_t{0}).EndRow();
  text.Number(int32_t{4}).Point({}).Point({}).Number(uint64_t{1}).Number(int32_t{99});
  text.Number(uint64_t{2}).Number(int32_t{-8}).Number(int32_t{9}).EndRow();
  for (int32_t group = 2; group >= 0; --group) {
    text.Number(10 + group).Point({}).Point({1, 1, 1}).Number(static_cast<uint64_t>(group));
    for (int32_t k = 0; k < group; ++k) text.Number(group + k);
    text.Number(uint64_t{1}).Number(int32_t{4}).EndRow();
  }
  text.Line("$EndEntities").Line("$Nodes");
  const uint64_t num_nodes = mesh.nodes.size();
  for (const uint64_t count : {uint64_t{2}, num_nodes, uint64_t{1}, 3 * num_nodes})
    text.Number(count);
  text.EndRow()
      .Number(int32_t{0})
      .Number(int32_t{5})
      .Number(int32_t{0})
      .Number(uint64_t{0})
      .EndRow();
  // Parametric, with two parameters.
  text.Number(int32_t{2}).Number(int32_t{4}).Number(int32_t{1}).Number(num_nodes).EndRow();
  for (uint32_t i = 0; i < num_nodes; ++i) text.Number(NumberOf<uint64_t>(mesh, i)).EndRow();
  for (const Vec3d& p : mesh.nodes) text.Point(p).Number(0.25).Number(0.75).EndRow();
  text.Line("$EndNodes").Line("$Elements");
  const uint64_t num_elements = mesh.tets.size() + 1;
  for (const uint64_t count : {num_elements, num_elements, uint64_t{1}, num_elements})
    text.Number(count);
  text.EndRow()
      .Number(int32_t{2})
      .Number(int32_t{4})
      .Number(int32_t{2})
      .Number(uint64_t{1})
      .EndRow();
  text.Number(uint64_t{1});
  for (uint32_t k = 0; k < 3; ++k) text.Number(NumberOf<uint64_t>(mesh, k));
  text.EndRow();
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    text.Number(int32_t{3}).Number(10 + GroupOf(t)).Number(int32_t{4}).Number(uint64_t{1}).EndRow();
    text.Number(uint64_t{t + 2});
    for (const uint32_t node : mesh.tets[t]) text.Number(NumberOf<uint64_t>(mesh, node));
    text.EndRow();
  }
  return text.Line("$EndElements").Take();
}

std::string Vtk3(const TetMesh& mesh, bool binary) {
  Text text(binary ? Form::kBigEndian : Form::kText);
  text.Line("# vtk DataFile Version 3.0").Line("a title").Line(binary ? "BINARY" : "ASCII");
  text.Line("DATASET UNSTRUCTURED_GRID").Line("FIELD FieldData 1").Line("TIME 1 2 double");
  text.Number(0.5).Number(1.5).Line("");
  text.Line("POINTS " + std::to_string(mesh.nodes.size()) + " double");
  for (const Vec3d& p : mesh.nodes) text.Point(p).EndRow();
  const size_t num_cells = mesh.tets.size() + 1;
  text.Line("").Line("CELLS " + std::to_string(num_cells) + " " +
                     std::to_string(5 * num_cells - 1));
  for (const auto& tet : mesh.tets) {
    text.Number(int32_t{4});
    for (const uint32_t node : tet) text.Number(static_cast<int32_t>(node));
    text.EndRow();
  }
  text.Number(int32_t{3}).Number(int32_t{0}).Number(int32_t{1}).Number(int32_t{2}).Line("");
  text.Line("").Line("CELL_TYPES " + std::to_string(num_cells));
  for (size_t t = 0; t + 1 < num_cells; ++t) text.Number(int32_t{10}).EndRow();
  return text.Number(int32_t{5}).Line("").Line("CELL_DATA " + std::to_string(num_cells)).Take();
}

std::string Vtk5(const TetMesh& mesh, bool binary) {
  Text text(binary ? Form::kBigEndian : Form::kText);
  text.Line("# vtk DataFile Version 5.1").Line("a title").Line(binary ? "BINARY" : "ASCII");
  text.Line("DATASET UNSTRUCTURED_GRID");
  text.Line("POINTS " + std::to_string(mesh.nodes.size()) + " double");
  for (const Vec3d& p : mesh.nodes) text.Point(p).EndRow();
  text.Line("").Line("METADATA").Line("INFORMATION 0").Line("");
  const size_t num_cells = mesh.tets.size() + 1;
  text.Line("CELLS " + std::to_string(num_cells + 1) + " " + std::to_string(4 * num_cells - 1));
  text.Line("OFFSETS vtktypeint64");
  for (size_t t = 0; t < num_cells; ++t) text.Number(static_cast<int64_t>(4 * t));
  text.Number(static_cast<int64_t>(4 * num_cells - 1)).Line("").Line("CONNECTIVITY vtktypeint64");
  for (const auto& tet : mesh.tets) {
    for (const uint32_t node : tet) text.Number(static_cast<int64_t>(node));
  }
  for (const int64_t node : {0, 1, 2}) text.Number(node);
  text.Line("").Line("CELL_TYPES " + std::to_string(num_cells));
  for (size_t t = 0; t + 1 < num_cells; ++t) text.Number(int32_t{10}).EndRow();
  return text.Number(int32_t{5}).Line("").Take();
}

std::vector<TetFileText> AllTetFileTexts(const TetMesh& mesh) {
  return {{"msh 2.2", ".msh", Msh2(mesh, Form::kText)},
          {"msh 2.2, little-endian", ".msh", Msh2(mesh, Form::kLittleEndian)},
          {"msh 2.2, big-endian", ".msh", Msh2(mesh, Form::kBigEndian)},
          {"msh 4.1", ".msh", Msh4(mesh, Form::kText)},
          {"msh 4.1, little-endian", ".msh", Msh4(mesh, Form::kLittleEndian)},
          {"msh 4.1, big-endian", ".msh", Msh4(mesh, Form::kBigEndian)},
          {"vtk 3.0", ".vtk", Vtk3(mesh, false)},
          {"vtk 3.0, binary", ".vtk", Vtk3(mesh, true)},
          {"vtk 5.1", ".vtk", Vtk5(mesh, false)},
          {"vtk 5.1, binary", ".vtk", Vtk5(mesh, true)}};
}

}  // namespace plush::tests
