// SPDX-License-Identifier: MIT
#include "import/tet_files.h"

#include <catch2/catch.hpp>

#include <span>
#include <string>

namespace vtk_file_test {

using plush::tools::ExitCode;
using plush::tools::Result;
using plush::tools::TetSource;

Result<TetSource> Parse(const std::string& text) {
  return plush::tools::ParseVtk("m.vtk", std::as_bytes(std::span(text)));
}

const std::string kHead = "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n";
const std::string kPoints = "POINTS 5 float\n0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1\n";

std::string MessageOf(const std::string& text, ExitCode exit_code) {
  const auto read = Parse(text);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().exit_code == exit_code);
  return read.error().message;
}

TEST_CASE(".vtk: other cells are counted, corners of curved tets kept") {
  const auto read = Parse(kHead + kPoints +
                          "CELLS 5 31\n4 0 1 2 3\n8 0 1 2 3 0 1 2 3\n1 4\n"
                          "10 1 2 3 4 9 9 9 9 9 9\n3 0 1 2\nCELL_TYPES 5\n10 12 1 24 5\n");
  REQUIRE(read.ok());
  CHECK(read.value().mesh.tets.size() == 2);
  CHECK(read.value().num_surface_cells == 2);
  CHECK(read.value().num_solid_cells == 1);
  CHECK(read.value().tags.empty());
}

TEST_CASE(".vtk: keywords in any case and order, a point out of range drops its tet") {
  const auto read = Parse(
      "# vtk DataFile Version 4.2\n\nascii\ndataset Unstructured_Grid\n"
      "cell_types 2 10 10 cells 2 10 4 0 1 2 3 4 0 1 2 -7\n"
      "points 4 int 0 0 0 1 0 0 0 1 0 0 0 1");
  INFO((read.ok() ? "" : read.error().message));
  REQUIRE(read.ok());
  CHECK(read.value().mesh.tets.size() == 1);
  CHECK(read.value().num_dropped == 1);
}

TEST_CASE(".vtk: other files, versions, datasets and numbers are not supported") {
  const auto message = [](const std::string& text) {
    return MessageOf(text, ExitCode::kUnsupported);
  };
  CHECK(message("<VTKFile type=\"UnstructuredGrid\">").find("not a legacy") != std::string::npos);
  CHECK(message("# vtk DataFile Version 9.0\n").find("version 9") != std::string::npos);
  CHECK(message("# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n").find("'POLYDATA'") !=
        std::string::npos);
  CHECK(message(kHead + "POINTS 1 bit\n1\n").find("the unknown type 'bit'") != std::string::npos);
}

TEST_CASE(".vtk: errors name the line") {
  const auto message = [](const std::string& text) {
    return MessageOf(text, ExitCode::kInvalidInput);
  };
  CHECK(message(kHead + "POINTS 1 float\n0 x 0\n") == "'m.vtk', line 6: expected a coordinate");
  CHECK(message(kHead + kPoints).find("the file ends before") != std::string::npos);
  CHECK(message(kHead + "LINES 1 2\n").find("keyword 'lines'") != std::string::npos);
  CHECK(message(kHead + kPoints + "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n").find("cell 0") !=
        std::string::npos);
  CHECK(message(kHead + kPoints + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n")
            .find("1 cells, CELL_TYPES 2") != std::string::npos);
  CHECK(message(kHead + kPoints + kPoints).find("number of points") != std::string::npos);
  CHECK(message("# vtk DataFile Version 3.0\nt\nHEX\n").find("ASCII or BINARY") !=
        std::string::npos);
}

TEST_CASE(".vtk: offsets that lead nowhere are refused") {
  const std::string head = "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  for (const char* offsets :
       {"-4 0", "2 6", "0 3", "4 0", "9007199254740993 9007199254740997", "0 1e300"}) {
    CAPTURE(offsets);
    CHECK(MessageOf(head + kPoints + "CELLS 2 4\nOFFSETS vtktypeint64\n" + offsets +
                        "\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n",
                    ExitCode::kInvalidInput)
              .find("cell 0") != std::string::npos);
  }
}

}  // namespace vtk_file_test
