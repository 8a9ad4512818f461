// SPDX-License-Identifier: MIT
// `plush doctor`: one page about this build and machine, for a bug report.

#include "plush/asset.h"
#include "plush/version.h"

#include "base/child_process.h"
#include "base/files.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "commands/report_sheet.h"
#include "import/import.h"

#include <flatbuffers/base.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

namespace plush::tools {
namespace {

using Document = nlohmann::ordered_json;

std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Document Build() {
#ifdef __clang__
  const std::string compiler = std::string("clang ") + __clang_version__;
#else
  const std::string compiler = std::string("gcc ") + __VERSION__;
#endif
#ifdef NDEBUG
  const char* const assertions = "off";
#else
  const char* const assertions = "on";
#endif
  return {{"plush", kVersionString},
          {"file_format", std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor)},
          {"compiler", compiler},
          {"assertions", assertions},
          {"sanitizer", kSanitizedBuild},
          {"flatbuffers", Dotted(FLATBUFFERS_VERSION_MAJOR, FLATBUFFERS_VERSION_MINOR,
                                 FLATBUFFERS_VERSION_REVISION)},
          {"highway", Dotted(HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
          {"json", Dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                          NLOHMANN_JSON_VERSION_PATCH)},
          {"cli11", CLI11_VERSION}};
}

// Instruction sets of this processor that Highway knows, best first.
Document InstructionSets() {
  Document names = Document::array();
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    names.push_back(hwy::TargetName(left & -left));
  }
  return names;
}

Document Machine() {
  utsname system = {};
  ::uname(&system);
  const auto pages = [](int which) {
    const long count = ::sysconf(which), size = ::sysconf(_SC_PAGESIZE);
    return count > 0 && size > 0 ? Document(uint64_t(count) * uint64_t(size)) : Document();
  };
  return {{"system", std::string(system.sysname) + " " + system.release},
          {"processor", system.machine},
          {"instruction_sets", InstructionSets()},
          {"threads", std::thread::hardware_concurrency()},
          {"memory_bytes", pages(_SC_PHYS_PAGES)},
          {"free_memory_bytes", pages(_SC_AVPHYS_PAGES)}};
}

Document Limits() {
  const auto limit = [](auto which) {
    rlimit values = {};
    const bool is_known = ::getrlimit(which, &values) == 0 && values.rlim_cur != RLIM_INFINITY;
    return is_known ? Document(uint64_t{values.rlim_cur}) : Document("unlimited");
  };
  return {{"address_space_bytes", limit(RLIMIT_AS)},
          {"file_bytes", limit(RLIMIT_FSIZE)},
          {"open_files", limit(RLIMIT_NOFILE)},
          {"stack_bytes", limit(RLIMIT_STACK)},
          {"processor_seconds", limit(RLIMIT_CPU)}};
}

Document TemporaryFolderState(Document* problems) {
  std::error_code error;
  const std::string path = std::filesystem::temp_directory_path(error).string();
  const auto space = std::filesystem::space(path, error);
  const bool is_writable = !path.empty() && ::access(path.c_str(), W_OK | X_OK) == 0;
  if (!is_writable) problems->push_back("the temporary folder cannot be written to: set TMPDIR");
  return {{"path", path},
          {"writable", is_writable},
          {"free_bytes", error ? Document() : Document(space.available)}};
}

Document Programs(Document* problems) {
  const std::string import = HelperPath({});
  const bool can_import = ::access(import.c_str(), X_OK) == 0;
  if (!can_import) {
    problems->push_back("plush-import is missing beside plush: check and bake cannot read meshes");
  }
  const auto found = [](const char* name) {
    const std::string path = FindProgram(name);
    return path.empty() ? Document() : Document(path);
  };
  return {{"plush-import", can_import ? Document(import) : Document()},
          {"tetgen", found("tetgen")},
          {"ninja", found("ninja")},
          {"chromium", ChromiumPath().empty() ? Document() : Document(ChromiumPath())}};
}

std::string ValueText(const std::string& key, const Document& value) {
  if (value.is_null()) {
    return key == "tetgen"     ? "not found; --mesher tetgen needs it"
           : key == "ninja"    ? "not found; plush batch needs it"
           : key == "chromium" ? "not found; plush report --png uses it"
                               : "unknown";
  }
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Document& item : value) {
    text += (text.empty() ? "" : ", ") + item.get<std::string>();
  }
  return text;
}

std::string Text(const Document& document) {
  std::string text;
  for (const auto& [title, part] : document.items()) {
    if (!part.is_object()) continue;
    text += title + "\n";
    for (const auto& [key, value] : part.items()) {
      text += "  " + key + ": " + ValueText(key, value) + "\n";
    }
  }
  for (const Document& problem : document["problems"]) {
    text += "problem: " + problem.get<std::string>() + "\n";
  }
  return text;
}

int RunDoctor(bool as_json) {
  Document problems = Document::array();
  Document document;
  document["build"] = Build();
  document["machine"] = Machine();
  document["limits"] = Limits();
  document["temporary_folder"] = TemporaryFolderState(&problems);
  document["programs"] = Programs(&problems);
  document["problems"] = problems;
  const std::string text =
      as_json ? document.dump(2, ' ', false, Document::error_handler_t::replace) + "\n"
              : Text(document);
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(problems.empty() ? ExitCode::kOk : ExitCode::kGateFailed);
}

}  // namespace

void AddDoctorCommand(CLI::App* app, int* exit_code) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* verb = app->add_subcommand(
      "doctor", "Describes this build and machine on one page, for a bug report.");
  verb->add_flag("--json", *as_json, "one JSON document instead");
  verb->footer("The exit code is 4 if there is a problem.");
  verb->callback([as_json, exit_code] { *exit_code = RunDoctor(*as_json); });
}

}  // namespace plush::tools
