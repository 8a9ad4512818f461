// SPDX-License-Identifier: MIT
// Findings as text for people and JSON for machines.
#pragma once

#include "base/finding.h"

#include <nlohmann/json.hpp>

#include <string>

namespace plush::tools {

/// One object per finding: code, severity, count, message, places, remedy.
nlohmann::json FindingsJson(const FindingList& findings);

/// Lines for stderr or a terminal; `verbosity` below 0 keeps errors only, above 0 adds all places.
std::string FindingsText(const std::string& verb, const std::string& file,
                         const FindingList& findings, int verbosity);

}  // namespace plush::tools
