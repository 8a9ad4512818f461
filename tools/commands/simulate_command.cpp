// SPDX-License-Identifier: MIT
#include "commands/commands.h"

namespace plush::tools {

void AddSimulateCommand(CLI::App* /*app*/, int* /*exit_code*/) {}

}  // namespace plush::tools
