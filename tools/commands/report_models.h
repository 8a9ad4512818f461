// SPDX-License-Identifier: MIT
// What `plush report` reads: the baked files with their findings, and the reports of their bakes.
#pragma once

#include "base/aligned_bytes.h"
#include "base/result.h"
#include "page/model_page.h"

#include <memory>
#include <string>
#include <vector>

namespace plush::tools {

/// A .plush file in memory; `page.asset` is `asset` if that opens.
struct ReportModel {
  std::unique_ptr<AlignedBytes> bytes;
  std::unique_ptr<Asset> asset;
  PageModel page;
};

/// `paths`, with each folder replaced by the .plush files in it, by name. Errors: kIo (a folder
/// that cannot be read), kUsage (one without .plush files).
Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths);

/// Reads, validates and opens a file. A file that fails has `page.error`.
ReportModel LoadModel(const std::string& path);

/// Adds what `check` and `validate --source` find, and the colours of the source's materials. If
/// the file does not open, the source takes its place. Errors: those of ImportModel.
Result<Done> AddSource(const std::string& source, ReportModel* model);

/// Adds the document of `plush bake --report`. Errors: kIo, kLimit, kInvalidInput (no such
/// document, or of a file of another size).
Result<Done> AddBakeReport(const std::string& path, ReportModel* model);

}  // namespace plush::tools
