// SPDX-License-Identifier: MIT
// Curves of experiments as CSV files, for pictures.
#pragma once

#include <fstream>
#include <span>
#include <string>

namespace plush::test {

/// FOLDER/NAME.csv, where the environment variable PLUSH_CURVES names FOLDER; without it, nothing.
class CurveFile {
 public:
  /// `head`: names of the columns, with commas.
  CurveFile(const std::string& name, const std::string& head);
  void Add(std::span<const double> row);

 private:
  std::ofstream out_;
};

}  // namespace plush::test
