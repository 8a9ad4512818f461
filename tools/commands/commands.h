// SPDX-License-Identifier: MIT
// The verbs of `plush`. Each adds its sub-command, whose callback stores the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace plush::tools {

void AddCheckCommand(CLI::App* app, int* exit_code);
void AddBakeCommand(CLI::App* app, int* exit_code);
void AddInfoCommand(CLI::App* app, int* exit_code);
void AddValidateCommand(CLI::App* app, int* exit_code);
void AddSimulateCommand(CLI::App* app, int* exit_code);
void AddExportCommand(CLI::App* app, int* exit_code);

}  // namespace plush::tools
