// SPDX-License-Identifier: MIT
#include "commands/commands.h"

namespace plush::tools {

void AddInfoCommand(CLI::App* /*app*/, int* /*exit_code*/) {}

}  // namespace plush::tools
