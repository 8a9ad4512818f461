// SPDX-License-Identifier: MIT
// Reads VTK's legacy format for unstructured grids, versions 1.0 to 5.1, text and binary.
// Source: Kitware. The VTK User's Guide, "VTK File Formats"
#include "import/mixed_reader.h"
#include "import/tet_files.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

constexpr int64_t kTetrahedron = 10;
constexpr int64_t kQuadraticTetrahedron = 24;

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

// Whether a cell type, by its number in vtkCellType.h, has no volume.
bool IsFlatCell(int64_t type) {
  if (type >= 0 && type < kTetrahedron) return true;
  constexpr auto kFlat = std::to_array<int64_t>(
      {21, 22, 23, 28, 30, 34, 35, 36, 51, 52, 53, 54, 60, 61, 62, 63, 68, 69, 70, 75, 76, 77});
  return std::binary_search(kFlat.begin(), kFlat.end(), type);
}

// T is the type of the number in binary files. Text files need none.
template <class T>
double NumberAs(MixedReader* in, const char* expected) {
  if (in->is_text()) return in->Number<double>(expected);
  return static_cast<double>(in->Number<T>(expected));
}

struct NumberType {
  std::string_view name;
  double (*read)(MixedReader* in, const char* expected);
};

// In binary legacy files, vtkIdType is written as int.
constexpr auto kNumberTypes = std::to_array<NumberType>({{"char", NumberAs<int8_t>},
                                                         {"double", NumberAs<double>},
                                                         {"float", NumberAs<float>},
                                                         {"int", NumberAs<int32_t>},
                                                         {"long", NumberAs<int64_t>},
                                                         {"short", NumberAs<int16_t>},
                                                         {"unsigned_char", NumberAs<uint8_t>},
                                                         {"unsigned_int", NumberAs<uint32_t>},
                                                         {"unsigned_long", NumberAs<uint64_t>},
                                                         {"unsigned_short", NumberAs<uint16_t>},
                                                         {"vtkidtype", NumberAs<int32_t>},
                                                         {"vtktypeint64", NumberAs<int64_t>},
                                                         {"vtktypeuint64", NumberAs<uint64_t>}});

// Reads a file keyword by keyword until it has the points, the cells and their types.
class VtkReader {
 public:
  VtkReader(const std::string& path, std::span<const std::byte> bytes) : in_(path, bytes) {}

  Result<TetSource> Read() {
    ReadHeader();
    while (in_.ok() && !(has_points_ && has_cells_ && has_types_)) {
      const std::string_view word = in_.Word();
      if (word.empty()) in_.Complain("the file ends before POINTS, CELLS and CELL_TYPES");
      ReadKeyword(Lowered(word));
    }
    if (in_.ok()) CollectTets();
    if (!in_.ok()) return in_.error();
    return CleanTets(raw_);
  }

 private:
  void ReadHeader() {
    std::string_view line;
    constexpr std::string_view kMagic = "# vtk DataFile Version ";
    if (!in_.Line(&line) || !line.starts_with(kMagic)) {
      return in_.Refuse("not a legacy VTK file, which begins with '# vtk DataFile Version'");
    }
    line.remove_prefix(kMagic.size());
    double version = 0.0;
    if (!TakeNumber(&line, &version)) return in_.Complain("expected the version");
    if (!(version >= 1.0 && version < 6.0)) {
      return in_.Refuse("version " + std::to_string(version) +
                        " of .vtk, but only 1.0 to 5.1 are read; save it as a legacy file of 5.1");
    }
    has_offsets_ = version >= 5.0;
    in_.Line(&line);
    const std::string encoding = Lowered(in_.Word());
    if (encoding != "ascii" && encoding != "binary") {
      return in_.Complain("expected ASCII or BINARY");
    }
    const bool has_dataset = Lowered(in_.Word()) == "dataset";
    const std::string_view dataset = has_dataset ? in_.Word() : "";
    if (dataset.empty()) return in_.Complain("expected DATASET");
    if (Lowered(dataset) != "unstructured_grid") {
      return in_.Refuse("the dataset is " + MixedReader::Quoted(dataset) +
                        ", but only UNSTRUCTURED_GRID holds tetrahedra");
    }
    // Binary numbers are big-endian on every machine.
    if (encoding == "binary") {
      binary_ = std::endian::native == std::endian::big ? MixedReader::Numbers::kNative
                                                        : MixedReader::Numbers::kSwapped;
    }
  }

  void ReadKeyword(const std::string& keyword) {
    if (keyword == "points") return ReadPoints();
    if (keyword == "cells") return has_offsets_ ? ReadCellsByOffsets() : ReadCellsOneByOne();
    if (keyword == "cell_types") return ReadTypes();
    if (keyword == "field") return PassField();
    if (keyword == "metadata") return PassMetadata();
    in_.Complain("the keyword " + MixedReader::Quoted(keyword) +
                 " is not POINTS, CELLS or CELL_TYPES");
  }

  // Reads the first number of a section that may occur once. Headings are text in any file.
  uint64_t BeginSection(bool* has_section, const char* expected) {
    if (*has_section) in_.Complain(expected);
    *has_section = true;
    return in_.Number<uint64_t>(expected);
  }

  // Binary numbers begin on the line after the heading.
  void BeginNumbers() {
    std::string_view rest;
    if (binary_ != MixedReader::Numbers::kText) in_.Line(&rest);
    in_.SetNumbers(binary_);
  }
  void EndNumbers() { in_.SetNumbers(MixedReader::Numbers::kText); }

  // Reads a type of numbers, then tuples of such numbers. Calls take(component, number) for each.
  template <class Take>
  void ReadTuples(uint64_t num_tuples, uint64_t num_components, const char* expected,
                  const Take& take) {
    const std::string_view word = in_.Word();
    if (word.empty()) return in_.Complain("expected a type of numbers");
    const auto* type = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                    [name = Lowered(word)](auto& row) { return row.name == name; });
    if (type == kNumberTypes.end()) {
      return in_.Refuse("numbers of the unknown type " + MixedReader::Quoted(word));
    }
    BeginNumbers();
    for (uint64_t i = 0; num_components > 0 && i < num_tuples && in_.ok(); ++i) {
      for (uint64_t k = 0; k < num_components && in_.ok(); ++k) take(k, type->read(&in_, expected));
    }
    EndNumbers();
  }

  void ReadPoints() {
    const uint64_t count = BeginSection(&has_points_, "expected the number of points");
    ReadTuples(count, 3, "expected a coordinate", [this](uint64_t k, double number) {
      if (k == 0) raw_.positions.emplace_back();
      raw_.positions.back()[static_cast<int>(k)] = number;
    });
  }

  // Up to version 4.2: for each cell, the number of its points and then the points.
  void ReadCellsOneByOne() {
    const uint64_t count = BeginSection(&has_cells_, "expected the number of cells");
    in_.Pass<uint64_t>(1, "expected the number of cells");
    BeginNumbers();
    offsets_.push_back(0);
    for (uint64_t i = 0; i < count && in_.ok(); ++i) {
      const auto num_points = in_.Number<int32_t>("expected a cell");
      for (int32_t k = 0; k < num_points && in_.ok(); ++k) {
        points_.push_back(in_.Number<int32_t>("expected a point of a cell"));
      }
      offsets_.push_back(static_cast<int64_t>(points_.size()));
    }
    EndNumbers();
  }

  // From version 5.0 on: offsets of all cells, then the points of all cells.
  void ReadCellsByOffsets() {
    const uint64_t num_offsets = BeginSection(&has_cells_, "expected the number of cells");
    const auto num_points = in_.Number<uint64_t>("expected the number of cells");
    ReadWholeNumbers("offsets", num_offsets, &offsets_);
    ReadWholeNumbers("connectivity", num_points, &points_);
  }

  void ReadWholeNumbers(const std::string& heading, uint64_t count, std::vector<int64_t>* numbers) {
    if (Lowered(in_.Word()) != heading) return in_.Complain("expected " + heading);
    const std::string expected = "expected a number of " + heading;
    ReadTuples(count, 1, expected.c_str(), [numbers](uint64_t, double number) {
      // What cannot be an index becomes -1, which CollectTets refuses.
      const bool fits = number >= 0.0 && number < 0x1p53;
      numbers->push_back(fits ? static_cast<int64_t>(number) : -1);
    });
  }

  void ReadTypes() {
    const uint64_t count = BeginSection(&has_types_, "expected the number of cell types");
    BeginNumbers();
    for (uint64_t i = 0; i < count && in_.ok(); ++i) {
      types_.push_back(in_.Number<int32_t>("expected a cell type"));
    }
    EndNumbers();
  }

  // Skips FIELD name n and n arrays, each with name, components, tuples, type, numbers.
  void PassField() {
    if (in_.Word().empty()) in_.Complain("expected a field");
    const auto num_arrays = in_.Number<uint64_t>("expected a field");
    for (uint64_t i = 0; i < num_arrays && in_.ok(); ++i) {
      constexpr const char* kExpected = "expected an array of a field";
      if (in_.Word().empty()) in_.Complain(kExpected);
      const auto num_components = in_.Number<uint64_t>(kExpected);
      const auto num_tuples = in_.Number<uint64_t>(kExpected);
      ReadTuples(num_tuples, num_components, "expected a field's number", [](uint64_t, double) {});
    }
  }

  // Skips metadata up to an empty line.
  void PassMetadata() {
    std::string_view line;
    in_.Line(&line);
    while (in_.Line(&line) && !line.empty()) {
    }
  }

  // Runs last, because the arrays come in any order.
  void CollectTets() {
    if (offsets_.size() != types_.size() + 1 && !(offsets_.empty() && types_.empty())) {
      const size_t num_cells = offsets_.empty() ? 0 : offsets_.size() - 1;
      return in_.Complain("CELLS holds " + std::to_string(num_cells) + " cells, CELL_TYPES " +
                          std::to_string(types_.size()));
    }
    for (size_t cell = 0; cell < types_.size(); ++cell) {
      const int64_t type = types_[cell];
      if (type != kTetrahedron && type != kQuadraticTetrahedron) {
        ++(IsFlatCell(type) ? raw_.num_surface_cells : raw_.num_solid_cells);
        continue;
      }
      const int64_t wanted = type == kTetrahedron ? 4 : 10;
      const int64_t first = offsets_[cell];
      const int64_t last = offsets_[cell + 1];
      if (first < 0 || last - first != wanted || last > static_cast<int64_t>(points_.size())) {
        return in_.Complain("cell " + std::to_string(cell) + " is a tetrahedron without its " +
                            std::to_string(wanted) + " points");
      }
      AddTet(static_cast<size_t>(first));
      raw_.has_midpoints = raw_.has_midpoints || wanted > 4;
    }
  }

  void AddTet(size_t first) {
    std::array<uint32_t, 4> tet = {};
    for (size_t k = 0; k < 4; ++k) {
      const int64_t point = points_[first + k];
      const bool exists = point >= 0 && point < static_cast<int64_t>(raw_.positions.size());
      tet[k] = exists ? static_cast<uint32_t>(point) : kNoNode;
    }
    raw_.tets.push_back(tet);
  }

  MixedReader in_;
  MixedReader::Numbers binary_ = MixedReader::Numbers::kText;  // form of the numbers in this file
  bool has_offsets_ = false;                                   // cell layout of versions 5.x
  bool has_points_ = false;
  bool has_cells_ = false;
  bool has_types_ = false;
  std::vector<int64_t> offsets_;  // into points_; one more than there are cells
  std::vector<int64_t> points_;
  std::vector<int64_t> types_;
  RawTets raw_;
};

}  // namespace

Result<TetSource> ParseVtk(const std::string& path, std::span<const std::byte> bytes) {
  return VtkReader(path, bytes).Read();
}

}  // namespace plush::tools
