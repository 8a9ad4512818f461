// SPDX-License-Identifier: MIT
#include "import/import_helper.h"

#include "base/child_process.h"
#include "base/text.h"
#include "import/raw_scene.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace plush::tools {
namespace {

Error Crash(const std::string& path, const std::string& how) {
  return {ExitCode::kHelperDied, "'" + path + "': the importer crashed (" + how + ")",
          "IMPORT_CRASHED"};
}

Error MemoryError(const std::string& path, const ImportSettings& settings) {
  const double gib = static_cast<double>(settings.memory_limit_bytes) / double(1ull << 30);
  return {ExitCode::kLimit,
          "'" + path + "': the importer needs more than " + RoundedText(gib) + " GiB of memory",
          "IMPORT_LIMIT"};
}

Error TimeError(const std::string& path, const ImportSettings& settings) {
  return {ExitCode::kLimit,
          "'" + path + "': the importer was not done after " + RoundedText(settings.time_limit_s) +
              " s",
          "IMPORT_LIMIT"};
}

Error ErrorOfExit(const std::string& path, const ImportSettings& settings,
                  const ChildResult& child) {
  const std::string reason = LastLine(child.err);
  const std::string said = "'" + path + "': " + (reason.empty() ? "it gives no reason" : reason);
  switch (static_cast<HelperExit>(child.exit_code)) {
    case HelperExit::kRefused:
      return {ExitCode::kInvalidInput, said, "IMPORT_FAILED"};
    case HelperExit::kUnsupported:
      return {ExitCode::kUnsupported, said, "IMPORT_UNSUPPORTED"};
    case HelperExit::kUnreadable:
      return {ExitCode::kIo, said, ""};
    case HelperExit::kOutOfMemory:
      return MemoryError(path, settings);
    default:
      return Crash(path, "exit code " + std::to_string(child.exit_code));
  }
}

}  // namespace

std::string HelperPath(const ImportSettings& settings) {
  if (!settings.helper.empty()) return settings.helper;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "plush-import" : (self.parent_path() / "plush-import").string();
}

Result<RawScene> ImportWithHelper(const std::string& path, const ImportSettings& settings) {
  // An absolute path, so that nothing takes a name such as "-x" or "data:..." for anything else.
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  std::vector<std::string> argv = {HelperPath(settings), error ? path : absolute.string()};
  if (settings.up != UpAxis::kAuto) argv.push_back("--keep-axes");
  ChildLimits limits;
  limits.time_s = settings.time_limit_s;
  limits.memory_bytes = settings.memory_limit_bytes;
  limits.output_bytes = settings.memory_limit_bytes;
  const Result<ChildResult> child = RunChild(argv, limits);
  if (!child.ok()) return child.error().WithContext("the import helper");
  switch (child.value().end) {
    case ChildEnd::kSignalled:
      return Crash(path, ::strsignal(child.value().signal_number));
    case ChildEnd::kTimeLimit:
      return TimeError(path, settings);
    case ChildEnd::kMemoryLimit:
    case ChildEnd::kOutputLimit:
      return MemoryError(path, settings);
    case ChildEnd::kExited:
      break;
  }
  if (child.value().exit_code != 0) return ErrorOfExit(path, settings, child.value());
  Result<RawScene> scene = ParseRawScene(child.value().out);
  if (!scene.ok()) return scene.error().WithContext("'" + path + "'");
  return scene;
}

}  // namespace plush::tools
