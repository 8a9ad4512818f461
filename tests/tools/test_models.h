// SPDX-License-Identifier: MIT
// Files of the folder of test models.
#pragma once

#include <string>
#include <vector>

namespace plush::tests {

/// Every .obj and .off below `folder`, in order.
std::vector<std::string> MeshesBelow(const std::string& folder);

}  // namespace plush::tests
