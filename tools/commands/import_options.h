// SPDX-License-Identifier: MIT
// The options of every verb that reads a source mesh.
#pragma once

#include "import/import.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace plush::tools {

/// Adds --unit, --up, --scale, --import-time and --import-memory to a verb, in the help group
/// "Import". What the user gives lands in *settings, which must outlive the parsing.
void AddImportOptions(CLI::App* verb, ImportSettings* settings);

/// Length in metres of "m", "cm", "mm", "km", "um", "in", "ft", "yd" or a positive number of
/// metres; nothing otherwise.
std::optional<double> ParseUnit(const std::string& text);

}  // namespace plush::tools
