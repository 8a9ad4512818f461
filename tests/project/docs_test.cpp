// SPDX-License-Identifier: MIT
// Parts of README.md and tools/README.md repeat the code. This file makes the text for KEY between
//
//   <!-- generated: KEY -->
//   <!-- /generated -->
//
// and compares it. With PLUSH_UPDATE_DOCS=1 in the environment, the test writes the parts instead.

#include "base/finding.h"
#include "tools/paths.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace plush::tools {
namespace {

const std::string kRoot = PLUSH_ROOT_DIR;

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO("reading " << path);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Stdout of a shell command, which must exit with 0.
std::string Output(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), n);
  }
  INFO(command);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

// The lines between those with `begin` and `end`, without common indentation.
std::string Excerpt(const std::string& text, const std::string& begin, const std::string& end) {
  std::istringstream stream(text);
  std::string result;
  size_t indent = std::string::npos;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.find(end) != std::string::npos) break;
    if (inside) {
      if (indent == std::string::npos) indent = line.find_first_not_of(' ');
      result += (line.size() > indent ? line.substr(indent) : "") + "\n";
    }
    inside = inside || line.find(begin) != std::string::npos;
  }
  return result;
}

std::string Fenced(const std::string& language, const std::string& text) {
  return "```" + language + "\n" + text + "```\n";
}

std::string FindingTable() {
  std::string table = "| code | severity | meaning | what to do |\n|---|---|---|---|\n";
  for (const FindingCode& row : FindingCodes()) {
    table += "| `" + std::string(row.code) + "` | " + SeverityName(row.severity) + " | " +
             std::string(row.meaning) + " | " + std::string(row.remedy) + " |\n";
  }
  return table;
}

// Compares the part `key` of `file` with `expected`, or writes it there.
void CheckPart(const std::string& file, const std::string& key, const std::string& expected) {
  const std::string path = kRoot + "/" + file, text = ReadText(path);
  const std::string begin_mark = "<!-- generated: " + key + " -->\n";
  const size_t mark = text.find(begin_mark);
  INFO(file << " needs a part '" << key << "'");
  REQUIRE(mark != std::string::npos);
  const size_t begin = mark + begin_mark.size(), end = text.find("<!-- /generated -->", begin);
  REQUIRE(end != std::string::npos);
  if (std::getenv("PLUSH_UPDATE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text.substr(0, begin) + expected + text.substr(end);
    return;
  }
  INFO("run plush_tools_tests \"[docs]\" with PLUSH_UPDATE_DOCS=1 to write it anew");
  CHECK(text.substr(begin, end - begin) == expected);
}

TEST_CASE("README shows the compiled sample", "[docs]") {
  const std::string sample = ReadText(kRoot + "/samples/hello_drop/hello_drop.cpp");
  const std::string lines = Excerpt(sample, "// [readme]", "// [/readme]");
  REQUIRE_FALSE(lines.empty());
  CheckPart("README.md", "hello_drop", Fenced("cpp", lines));
}

TEST_CASE("tools/README shows the current help of every verb", "[docs]") {
  for (const std::string verb : {"check", "bake", "batch", "info", "validate", "simulate", "tune",
                                 "export", "diff", "explain", "doctor", "completion", "man"}) {
    CheckPart("tools/README.md", verb,
              Fenced("text", Output(std::string("'") + plush::tests::kPlushProgram + "' " + verb +
                                    " --help")));
  }
}

TEST_CASE("tools/README lists every finding", "[docs]") {
  CheckPart("tools/README.md", "findings", FindingTable());
}

}  // namespace
}  // namespace plush::tools
