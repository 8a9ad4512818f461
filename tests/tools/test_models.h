// SPDX-License-Identifier: MIT
// Models that tests read from files.
#pragma once

#include "import/import.h"

#include <string>
#include <vector>

namespace plush::tests {

/// Every .obj and .off below `folder`, in order.
std::vector<std::string> MeshesBelow(const std::string& folder);

/// Imports a file with the built helper process; the test fails if that fails.
tools::ImportedModel ImportOrFail(const std::string& path, tools::ImportSettings settings = {});

}  // namespace plush::tests
