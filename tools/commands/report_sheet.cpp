// SPDX-License-Identifier: MIT
// The page draws the sheet and leaves it in its document, which chromium prints.
#include "commands/report_sheet.h"

#include "base/base64.h"
#include "base/child_process.h"
#include "base/files.h"
#include "page/picture_sheet.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

namespace plush::tools {
namespace {

constexpr double kMaxSeconds = 120.0;
// Of the page's own clock: it draws as soon as it is loaded.
constexpr char kPageTime[] = "--virtual-time-budget=60000";
constexpr std::string_view kSheetTag = "<pre id=\"sheet\">";
constexpr std::string_view kPngMagic = "\x89PNG\r\n";

std::string FileUrl(const std::string& path) {
  std::string url = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-' || c == '_';
    char code[4] = {c, 0, 0, 0};
    if (!is_plain) std::snprintf(code, sizeof(code), "%%%02X", static_cast<unsigned char>(c));
    url += code;
  }
  return url;
}

// The PNG in the printed document; empty if there is none.
std::vector<std::byte> SheetIn(std::string_view document) {
  const size_t tag = document.find(kSheetTag);
  if (tag == std::string_view::npos) return {};
  document.remove_prefix(tag + kSheetTag.size());
  std::vector<std::byte> bytes = BytesOfBase64(document.substr(0, document.find('<')));
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kPngMagic.size()));
  if (head != kPngMagic) return {};
  return bytes;
}

Result<std::vector<std::byte>> SheetByChromium(const std::string& page_path) {
  const std::string program = ChromiumPath();
  if (program.empty()) {
    return Error{ExitCode::kUnsupported,
                 "--png-by chromium: no program called chromium, chromium-browser or google-chrome "
                 "is in PATH; install one, or give --png-by cpu",
                 ""};
  }
  auto profile = ScratchFolder::Create();
  if (!profile.ok()) return profile.error();
  std::vector<std::string> argv = {program,
                                   "--headless",
                                   "--disable-gpu",
                                   "--no-first-run",
                                   "--user-data-dir=" + profile.value()->path(),
                                   kPageTime,
                                   "--dump-dom",
                                   FileUrl(page_path) + "#sheet=1"};
  // Its sandbox refuses to start as root.
  if (::geteuid() == 0) argv.insert(argv.begin() + 2, "--no-sandbox");
  ChildLimits limits;
  limits.time_s = kMaxSeconds;
  limits.memory_limit = MemoryLimit::kResident;  // it reserves far more than it uses
  const Result<ChildResult> run = RunChild(argv, limits);
  if (!run.ok()) return run.error();
  const auto& out = run.value().out;
  std::vector<std::byte> sheet =
      SheetIn(std::string_view(reinterpret_cast<const char*>(out.data()), out.size()));
  if (!sheet.empty()) return sheet;
  return Error{ExitCode::kHelperDied,
               program + " has drawn no sheet; --png-by cpu draws one without it: " +
                   LastLine(run.value().err),
               ""};
}

}  // namespace

std::string ChromiumPath() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::string path = FindProgram(name); !path.empty()) return path;
  }
  return "";
}

Result<Done> WriteSheet(SheetBy by, const std::string& page_path,
                        std::span<const PageModel* const> models, const std::string& png_path) {
  if (by == SheetBy::kChromium || (by == SheetBy::kAuto && !ChromiumPath().empty())) {
    const auto sheet = SheetByChromium(page_path);
    if (sheet.ok()) return WriteFileAtomically(png_path, sheet.value());
    if (by == SheetBy::kChromium) return sheet.error();
    std::fprintf(stderr, "plush report: %s\n", sheet.error().message.c_str());
  }
  return WriteFileAtomically(png_path, PngBytes(DrawSheet(models)));
}

}  // namespace plush::tools
