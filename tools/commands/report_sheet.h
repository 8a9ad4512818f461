// SPDX-License-Identifier: MIT
// The sheet of pictures of `plush report --png`.
#pragma once

#include "base/result.h"
#include "base/text.h"
#include "page/model_page.h"

#include <span>
#include <string>

namespace plush::tools {

enum class SheetBy { kAuto, kChromium, kCpu };

inline constexpr NamedValue<SheetBy> kSheetBy[] = {
    {"auto", SheetBy::kAuto}, {"chromium", SheetBy::kChromium}, {"cpu", SheetBy::kCpu}};

/// The browser's path, "" if it is not installed.
std::string ChromiumPath();

/// Writes a sheet of what the page at `page_path` shows, which is of `models`. kAuto: by chromium
/// if it is installed, and by the CPU if it is not or fails. Errors: kUnsupported (kChromium
/// without chromium), kHelperDied (it fails), kIo.
Result<Done> WriteSheet(SheetBy by, const std::string& page_path,
                        std::span<const PageModel* const> models, const std::string& png_path);

}  // namespace plush::tools
