// SPDX-License-Identifier: MIT
// The page of `plush report` as text: the viewer with its data.
#pragma once

#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace plush::tools {

/// The viewer as built from page/viewer: a whole HTML page without data. Its body ends with the
/// line kDataMark.
extern const char kViewerText[];

/// Where the data go.
inline constexpr char kDataMark[] = "<!-- data -->";

/// A page that holds `document` and `blobs` (base64, the arrays of each model and last those of the
/// run). No text of the document can end its element: "<" is written as "\u003c". Invalid UTF-8
/// becomes U+FFFD. Errors: kInternal (no kDataMark), kLimit (above kMaxPageBytes).
Result<std::string> PageText(const nlohmann::json& document, const std::vector<std::string>& blobs);

/// Browsers refuse longer strings.
inline constexpr size_t kMaxPageBytes = size_t{400} << 20;

}  // namespace plush::tools
