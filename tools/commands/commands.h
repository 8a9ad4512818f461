// SPDX-License-Identifier: MIT
// The verbs of `plush`. Each adds its sub-command, whose callback stores the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace plush::tools {

void AddCheckCommand(CLI::App* app, int* exit_code);
/// `command`: the words of the command line, for the report.
void AddBakeCommand(std::vector<std::string> command, CLI::App* app, int* exit_code);
void AddInfoCommand(CLI::App* app, int* exit_code);
void AddValidateCommand(CLI::App* app, int* exit_code);
void AddSimulateCommand(CLI::App* app, int* exit_code);
void AddBatchCommand(CLI::App* app, int* exit_code);
void AddExportCommand(CLI::App* app, int* exit_code);
void AddReportCommand(CLI::App* app, int* exit_code);
void AddTuneCommand(CLI::App* app, int* exit_code);
void AddDiffCommand(CLI::App* app, int* exit_code);
void AddExplainCommand(CLI::App* app, int* exit_code);
void AddDoctorCommand(CLI::App* app, int* exit_code);
/// Adds `completion` and `man`, which describe all verbs of `app`. *app must outlive the parsing.
void AddManualCommands(CLI::App* app, int* exit_code);

}  // namespace plush::tools
