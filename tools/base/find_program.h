// SPDX-License-Identifier: MIT
// Where an executable lies, as a shell would look for it.
#pragma once

#include <string>

namespace plush::tools {

/// Path of the executable file `name`: with a slash in it the name itself, else the first match in
/// the folders of the environment variable PATH (an empty one means the current folder). "" where
/// there is none that may be run.
std::string FindProgram(const std::string& name);

}  // namespace plush::tools
