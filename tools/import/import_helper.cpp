// SPDX-License-Identifier: MIT
#include "import/import_helper.h"

#include "base/child_process.h"
#include "base/text.h"

#include <cstring>
#include <filesystem>

namespace plush::tools {
namespace {

// Limit of wall-clock time over that of processor time: the machine may be busy.
constexpr double kWallTimes = 10.0;

Error Crash(const std::string& how) {
  return {ExitCode::kHelperDied, "the importer crashed (" + how + ")", "IMPORT_CRASHED"};
}

Error MemoryError(const ImportSettings& settings) {
  const double gib = static_cast<double>(settings.memory_limit_bytes) / double(1ull << 30);
  return {ExitCode::kLimit, "the importer needs more than " + RoundedText(gib) + " GiB of memory",
          "IMPORT_LIMIT"};
}

Error ErrorOfExit(const ImportSettings& settings, const ChildResult& child) {
  const std::string last_line = LastLine(child.err);
  const std::string reason = last_line.empty() ? "it gives no reason" : last_line;
  switch (static_cast<HelperExit>(child.exit_code)) {
    case HelperExit::kRefused:
      return {ExitCode::kInvalidInput, reason, "IMPORT_FAILED"};
    case HelperExit::kUnsupported:
      return {ExitCode::kUnsupported, reason, "IMPORT_UNSUPPORTED"};
    case HelperExit::kUnreadable:
      return {ExitCode::kIo, reason, ""};
    case HelperExit::kOutOfMemory:
      return MemoryError(settings);
    default:
      return Crash("exit code " + std::to_string(child.exit_code));
  }
}

// The scene that the helper wrote, or the reason why there is none.
Result<RawScene> SceneOf(const ImportSettings& settings, const ChildResult& child) {
  switch (child.end) {
    case ChildEnd::kSignalled:
      return Crash(::strsignal(child.signal_number));
    case ChildEnd::kProcessorLimit:
      return Error{ExitCode::kLimit,
                   "the importer was not done after " + RoundedText(settings.time_limit_s) +
                       " s of processor time",
                   "IMPORT_LIMIT"};
    case ChildEnd::kTimeLimit:
      return Error{ExitCode::kLimit,
                   "the importer was not done after " +
                       RoundedText(kWallTimes * settings.time_limit_s) + " s, ten times its limit",
                   "IMPORT_LIMIT"};
    case ChildEnd::kMemoryLimit:
    case ChildEnd::kOutputLimit:
      return MemoryError(settings);
    case ChildEnd::kExited:
      break;
  }
  if (child.exit_code != 0) return ErrorOfExit(settings, child);
  return ParseRawScene(child.out);
}

}  // namespace

std::string HelperPath(const ImportSettings& settings) {
  if (!settings.helper.empty()) return settings.helper;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "plush-import" : (self.parent_path() / "plush-import").string();
}

Result<RawScene> ImportWithHelper(const std::string& path, const ImportSettings& settings) {
  // An absolute path is never taken for an option ("-x") or a URI ("data:...").
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  std::vector<std::string> argv = {HelperPath(settings), error ? path : absolute.string()};
  if (settings.up != UpAxis::kAuto) argv.push_back("--keep-axes");
  ChildLimits limits;
  limits.time_s = kWallTimes * settings.time_limit_s;
  limits.processor_s = settings.time_limit_s;
  limits.memory_bytes = settings.memory_limit_bytes;
  limits.output_bytes = settings.memory_limit_bytes;
  const Result<ChildResult> child = RunChild(argv, limits);
  if (!child.ok()) return child.error().WithContext("the import helper");
  Result<RawScene> scene = SceneOf(settings, child.value());
  if (!scene.ok()) return scene.error().WithContext("'" + path + "'");
  return scene;
}

}  // namespace plush::tools
