// SPDX-License-Identifier: MIT
// The executable `plush`.

#include "plush/version.h"

#include "base/result.h"
#include "commands/commands.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

// An output that was lost, on a full disk for instance, is an error. Returns the exit code. If a
// reader has closed its pipe, SIGPIPE has ended the process before.
int FinishOutput(int exit_code) {
  errno = 0;
  const bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!is_lost) return exit_code;
  // Without a cause, the failure lies further back.
  const std::string cause = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  std::fprintf(stderr, "plush: error: cannot write standard output%s\n", cause.c_str());
  return exit_code != 0 ? exit_code : static_cast<int>(plush::tools::ExitCode::kIo);
}

int Run(int argc, char** argv) {
  CLI::App app("Turns surface meshes into soft bodies and simulates them.", "plush");
  app.set_version_flag("--version", plush::kVersionString);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 command line, 2 cannot read or write, 3 invalid input, 4 gate failed,\n"
      "5 unsupported, 6 limit reached, 7 helper process died, 70 internal error.");
  int exit_code = 0;
  plush::tools::AddCheckCommand(&app, &exit_code);
  std::vector<std::string> command = {"plush"};
  for (int i = 1; i < argc; ++i) command.emplace_back(argv[i]);
  plush::tools::AddBakeCommand(std::move(command), &app, &exit_code);
  plush::tools::AddBatchCommand(&app, &exit_code);
  plush::tools::AddInfoCommand(&app, &exit_code);
  plush::tools::AddValidateCommand(&app, &exit_code);
  plush::tools::AddSimulateCommand(&app, &exit_code);
  plush::tools::AddTuneCommand(&app, &exit_code);
  plush::tools::AddExportCommand(&app, &exit_code);
  plush::tools::AddReportCommand(&app, &exit_code);
  plush::tools::AddDiffCommand(&app, &exit_code);
  plush::tools::AddExplainCommand(&app, &exit_code);
  plush::tools::AddDoctorCommand(&app, &exit_code);
  plush::tools::AddManualCommands(&app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are "errors" of CLI11 with code 0; all others are our code 1.
    exit_code = app.exit(error) == 0 ? 0 : static_cast<int>(plush::tools::ExitCode::kUsage);
  }
  return FinishOutput(exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "plush: error: out of memory\n");
    return static_cast<int>(plush::tools::ExitCode::kLimit);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plush: internal error: %s\n", error.what());
    return static_cast<int>(plush::tools::ExitCode::kInternal);
  }
}
