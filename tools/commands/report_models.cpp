// SPDX-License-Identifier: MIT
#include "commands/report_models.h"

#include "base/files.h"
#include "commands/source_settings.h"
#include "import/tet_files.h"
#include "mesh/surface_checks.h"
#include "report/source_report.h"
#include "validate/validate.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace plush::tools {
namespace {

// Every .plush file is smaller.
constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 31) - 1;
constexpr uint64_t kMaxReportBytes = 64ull << 20;
// Deeper values are left out: printing JSON is recursive.
constexpr int kMaxReportDepth = 32;

}  // namespace

Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const size_t first = files.size();
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const std::string file = it->path().string();
      if (HasEnding(file, ".plush")) files.push_back(file);
    }
    if (error) return Error{ExitCode::kIo, path + ": " + error.message(), ""};
    if (files.size() == first) {
      return Error{ExitCode::kUsage, path + ": the folder holds no .plush file", ""};
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

ReportModel LoadModel(const std::string& path) {
  ReportModel model;
  model.page.file = path;
  const auto bytes = ReadFile(path, kMaxFileBytes);
  if (!bytes.ok()) {
    model.page.error = bytes.error();
    return model;
  }
  PageFindings validated = {"validate", {}};
  ValidateAsset(bytes.value(), &validated.findings);
  model.bytes = std::make_unique<AlignedBytes>(bytes.value());
  model.asset = std::make_unique<Asset>();
  const Status opened = model.asset->Open(model.bytes->bytes());
  if (opened.ok()) {
    model.page.asset = model.asset.get();
  } else {
    const bool is_foreign =
        validated.findings.Has("FILE_VERSION") || validated.findings.Has("FILE_LAYOUT");
    model.page.error = Error{is_foreign ? ExitCode::kUnsupported : ExitCode::kInvalidInput,
                             path + ": the file does not open; its findings say why", ""};
  }
  model.page.findings.push_back(std::move(validated));
  return model;
}

Result<Done> AddSource(const std::string& source, ReportModel* model) {
  const bool is_open = model->page.asset != nullptr;
  const ImportSettings settings =
      is_open ? SettingsOfBake(model->bytes->bytes()) : ImportSettings();
  PageFindings checked = {"check", {}};
  auto imported = ImportModel(source, settings, &checked.findings);
  if (!imported.ok()) return imported.error().WithContext("--source");
  (void)CheckSurface(imported.value().surface, {}, &checked.findings);
  if (is_open) {
    ValidateAgainstSource(model->bytes->bytes(), imported.value(),
                          &model->page.findings.front().findings);
  } else {
    model->page.source = std::move(imported.value().surface);
  }
  model->page.materials = std::move(imported.value().materials);
  model->page.findings.push_back(std::move(checked));
  return Done{};
}

Result<Done> AddBakeReport(const std::string& path, ReportModel* model) {
  const auto bytes = ReadFile(path, kMaxReportBytes);
  if (!bytes.ok()) return bytes.error().WithContext("--bake-report");
  const auto* text = reinterpret_cast<const char*>(bytes.value().data());
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth <= kMaxReportDepth;
  };
  nlohmann::json document =
      nlohmann::json::parse(text, text + bytes.value().size(), shallow, false);
  PageFindings baked = {"bake", {}};
  if (!document.is_object() || !document.contains("findings") ||
      !ReadFindings(document["findings"], &baked.findings)) {
    return Error{ExitCode::kInvalidInput, path + ": no document that `plush bake --report` wrote",
                 ""};
  }
  const size_t size = model->bytes ? model->bytes->bytes().size() : 0;
  if (document.contains("file_bytes") && document["file_bytes"] != size) {
    return Error{ExitCode::kInvalidInput,
                 path + ": it reports a file of " + document["file_bytes"].dump() + " bytes, but " +
                     model->page.file + " has " + std::to_string(size),
                 ""};
  }
  document.erase("findings");
  model->page.bake = std::move(document);
  model->page.findings.push_back(std::move(baked));
  return Done{};
}

}  // namespace plush::tools
