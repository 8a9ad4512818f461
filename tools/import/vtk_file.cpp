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

// Number types in binary files. Text files need none.
enum class Scalar {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat,
  kDouble
};

struct NamedScalar {
  std::string_view name;
  Scalar scalar;
};

// In binary legacy files, vtkIdType is written as int.
constexpr auto kScalars = std::to_array<NamedScalar>({{"char", Scalar::kInt8},
                                                      {"double", Scalar::kDouble},
                                                      {"float", Scalar::kFloat},
                                                      {"int", Scalar::kInt32},
                                                      {"long", Scalar::kInt64},
                                                      {"short", Scalar::kInt16},
                                                      {"unsigned_char", Scalar::kUint8},
                                                      {"unsigned_int", Scalar::kUint32},
                                                      {"unsigned_long", Scalar::kUint64},
                                                      {"unsigned_short", Scalar::kUint16},
                                                      {"vtkidtype", Scalar::kInt32},
                                                      {"vtktypeint64", Scalar::kInt64},
                                                      {"vtktypeuint64", Scalar::kUint64}});

// Reads one file keyword by keyword until it has the points, the cells and their types.
class VtkReader {
 public:
  VtkReader(const std::string& path, std::span<const std::byte> bytes) : in_(path, bytes) {}

  Result<RawTets> Read() {
    if (auto done = ReadHeader(); !done.ok()) return done.error();
    while (!has_points_ || !has_cells_ || !has_types_) {
      std::string_view word;
      if (!in_.Word(&word))
        return in_.Complain("the file ends before POINTS, CELLS and CELL_TYPES");
      if (auto done = ReadKeyword(Lowered(word)); !done.ok()) return done.error();
    }
    if (auto done = CollectTets(); !done.ok()) return done.error();
    return std::move(raw_);
  }

 private:
  Result<Done> ReadHeader() {
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
    std::string_view encoding;
    if (!in_.Line(&line) || !in_.Word(&encoding)) return in_.Complain("expected ASCII or BINARY");
    const std::string lowered = Lowered(encoding);
    if (lowered != "ascii" && lowered != "binary") return in_.Complain("expected ASCII or BINARY");
    std::string_view keyword;
    std::string_view dataset;
    if (!in_.Word(&keyword) || Lowered(keyword) != "dataset" || !in_.Word(&dataset)) {
      return in_.Complain("expected DATASET");
    }
    if (Lowered(dataset) != "unstructured_grid") {
      return in_.Refuse("the dataset is " + MixedReader::Quoted(dataset) +
                        ", but only UNSTRUCTURED_GRID holds tetrahedra");
    }
    // Binary numbers are big-endian on every machine.
    if (lowered == "binary") {
      binary_ = std::endian::native == std::endian::big ? MixedReader::Numbers::kNative
                                                        : MixedReader::Numbers::kSwapped;
    }
    return Done{};
  }

  Result<Done> ReadKeyword(const std::string& keyword) {
    if (keyword == "points") return ReadPoints();
    if (keyword == "cells") return has_offsets_ ? ReadCellsByOffsets() : ReadCellsOneByOne();
    if (keyword == "cell_types") return ReadTypes();
    if (keyword == "field") return PassField();
    if (keyword == "metadata") return PassMetadata();
    return in_.Complain("the keyword " + MixedReader::Quoted(keyword) +
                        " is not POINTS, CELLS or CELL_TYPES");
  }

  // Headings are text even in binary files.
  bool Count(uint64_t* count) {
    in_.SetNumbers(MixedReader::Numbers::kText);
    return in_.Number(count);
  }

  // Binary numbers begin on the line after the heading.
  void BeginNumbers() {
    std::string_view rest;
    if (binary_ != MixedReader::Numbers::kText) in_.Line(&rest);
    in_.SetNumbers(binary_);
  }
  Result<Done> EndNumbers() {
    in_.SetNumbers(MixedReader::Numbers::kText);
    return Done{};
  }

  Result<Scalar> ReadScalar() {
    std::string_view word;
    if (!in_.Word(&word)) return in_.Complain("expected a type of numbers");
    const std::string name = Lowered(word);
    for (const NamedScalar& row : kScalars) {
      if (row.name == name) return row.scalar;
    }
    return in_.Refuse("numbers of the unknown type " + MixedReader::Quoted(word));
  }

  Result<Done> ReadPoints() {
    uint64_t count = 0;
    if (has_points_ || !Count(&count)) return in_.Complain("expected the number of points");
    const Result<Scalar> scalar = ReadScalar();
    if (!scalar.ok()) return scalar.error();
    BeginNumbers();
    for (uint64_t i = 0; i < count; ++i) {
      Vec3d p;
      for (int k = 0; k < 3; ++k) {
        if (!NumberAs(scalar.value(), &p[k])) return in_.Complain("expected a coordinate");
      }
      raw_.positions.push_back(p);
    }
    has_points_ = true;
    return EndNumbers();
  }

  // Up to version 4.2: for each cell, the number of its points and then the points.
  Result<Done> ReadCellsOneByOne() {
    uint64_t count = 0;
    uint64_t total = 0;
    if (has_cells_ || !Count(&count) || !Count(&total)) {
      return in_.Complain("expected the number of cells");
    }
    BeginNumbers();
    offsets_.push_back(0);
    for (uint64_t i = 0; i < count; ++i) {
      int32_t num_points = 0;
      if (!in_.Number(&num_points)) return in_.Complain("expected a cell");
      for (int32_t k = 0; k < num_points; ++k) {
        int32_t point = 0;
        if (!in_.Number(&point)) return in_.Complain("expected a point of a cell");
        points_.push_back(point);
      }
      offsets_.push_back(static_cast<int64_t>(points_.size()));
    }
    has_cells_ = true;
    return EndNumbers();
  }

  // From version 5.0 on: offsets of all cells, then the points of all cells.
  Result<Done> ReadCellsByOffsets() {
    uint64_t num_offsets = 0;
    uint64_t num_points = 0;
    if (has_cells_ || !Count(&num_offsets) || !Count(&num_points)) {
      return in_.Complain("expected the number of cells");
    }
    if (auto done = ReadWholeNumbers("offsets", num_offsets, &offsets_); !done.ok()) return done;
    if (auto done = ReadWholeNumbers("connectivity", num_points, &points_); !done.ok()) return done;
    has_cells_ = true;
    return Done{};
  }

  Result<Done> ReadWholeNumbers(const std::string& heading, uint64_t count,
                                std::vector<int64_t>* numbers) {
    std::string_view word;
    if (!in_.Word(&word) || Lowered(word) != heading) return in_.Complain("expected " + heading);
    const Result<Scalar> scalar = ReadScalar();
    if (!scalar.ok()) return scalar.error();
    BeginNumbers();
    for (uint64_t i = 0; i < count; ++i) {
      double number = 0.0;
      if (!NumberAs(scalar.value(), &number))
        return in_.Complain("expected a number of " + heading);
      // Anything that cannot be an index becomes -1, which CollectTets refuses.
      const bool fits = number >= 0.0 && number < 0x1p53;
      numbers->push_back(fits ? static_cast<int64_t>(number) : -1);
    }
    return EndNumbers();
  }

  Result<Done> ReadTypes() {
    uint64_t count = 0;
    if (has_types_ || !Count(&count)) return in_.Complain("expected the number of cell types");
    BeginNumbers();
    for (uint64_t i = 0; i < count; ++i) {
      int32_t type = 0;
      if (!in_.Number(&type)) return in_.Complain("expected a cell type");
      types_.push_back(type);
    }
    has_types_ = true;
    return EndNumbers();
  }

  // Skips FIELD name n and n arrays, each with name, components, tuples, type, numbers.
  Result<Done> PassField() {
    std::string_view name;
    uint64_t num_arrays = 0;
    if (!in_.Word(&name) || !Count(&num_arrays)) return in_.Complain("expected a field");
    for (uint64_t i = 0; i < num_arrays; ++i) {
      uint64_t num_components = 0;
      uint64_t num_tuples = 0;
      if (!in_.Word(&name) || !Count(&num_components) || !Count(&num_tuples)) {
        return in_.Complain("expected an array of a field");
      }
      const Result<Scalar> scalar = ReadScalar();
      if (!scalar.ok()) return scalar.error();
      BeginNumbers();
      for (uint64_t tuple = 0; num_components > 0 && tuple < num_tuples; ++tuple) {
        for (uint64_t k = 0; k < num_components; ++k) {
          double ignored = 0.0;
          if (!NumberAs(scalar.value(), &ignored)) return in_.Complain("expected a field's number");
        }
      }
      in_.SetNumbers(MixedReader::Numbers::kText);
    }
    return Done{};
  }

  // Skips metadata up to an empty line.
  Result<Done> PassMetadata() {
    std::string_view line;
    in_.Line(&line);
    while (in_.Line(&line) && !line.empty()) {
    }
    return Done{};
  }

  template <class T>
  bool BinaryAs(double* value) {
    T number = {};
    if (!in_.Number(&number)) return false;
    *value = static_cast<double>(number);
    return true;
  }

  bool NumberAs(Scalar scalar, double* value) {
    if (in_.is_text()) return in_.Number(value);
    switch (scalar) {
      case Scalar::kInt8:
        return BinaryAs<int8_t>(value);
      case Scalar::kUint8:
        return BinaryAs<uint8_t>(value);
      case Scalar::kInt16:
        return BinaryAs<int16_t>(value);
      case Scalar::kUint16:
        return BinaryAs<uint16_t>(value);
      case Scalar::kInt32:
        return BinaryAs<int32_t>(value);
      case Scalar::kUint32:
        return BinaryAs<uint32_t>(value);
      case Scalar::kInt64:
        return BinaryAs<int64_t>(value);
      case Scalar::kUint64:
        return BinaryAs<uint64_t>(value);
      case Scalar::kFloat:
        return BinaryAs<float>(value);
      case Scalar::kDouble:
        break;
    }
    return BinaryAs<double>(value);
  }

  // Runs last, because the arrays come in any order.
  Result<Done> CollectTets() {
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
    return Done{};
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
  const Result<RawTets> raw = VtkReader(path, bytes).Read();
  if (!raw.ok()) return raw.error();
  return CleanTets(raw.value());
}

}  // namespace plush::tools
