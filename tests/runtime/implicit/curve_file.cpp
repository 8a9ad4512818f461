// SPDX-License-Identifier: MIT
#include "runtime/implicit/curve_file.h"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace plush::test {

CurveFile::CurveFile(const std::string& name, const std::string& head) {
  const char* folder = std::getenv("PLUSH_CURVES");
  if (folder == nullptr) return;
  const std::string path = std::string(folder) + "/" + name + ".csv";
  out_.open(path);
  INFO(path);
  REQUIRE(out_.is_open());
  out_ << head << "\n";
}

void CurveFile::Add(std::span<const double> row) {
  if (!out_.is_open()) return;
  for (size_t i = 0; i < row.size(); ++i) out_ << (i > 0 ? "," : "") << row[i];
  out_ << "\n";
}

}  // namespace plush::test
