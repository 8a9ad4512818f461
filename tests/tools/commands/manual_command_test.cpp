// SPDX-License-Identifier: MIT
// `plush explain`, `doctor`, `completion` and `man`.
#include "base/child_process.h"
#include "base/files.h"
#include "base/finding.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <regex>
#include <set>

using Catch::Matchers::Contains;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;

namespace manual_command_test {

// The words of a text that look like `pattern`.
std::set<std::string> Words(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> words;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
    words.insert((*it)[1]);
  }
  return words;
}

std::set<std::string> Verbs() {
  const std::string help = RunPlush({"--help"}).out;
  return Words(help.substr(help.find("Subcommands:")), "\n  ([a-z]+)");
}

// The long names of a verb's options.
std::set<std::string> OptionsOf(const std::string& verb) {
  return Words(RunPlush({verb, "--help"}).out, "\n  (?:-[a-zA-Z],)?(--[a-z-]+)");
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_CASE("Completions and man pages name every verb and option of the help") {
  const std::set<std::string> verbs = Verbs();
  REQUIRE(verbs.size() >= 11);
  const std::string bash = RunPlush({"completion", "bash"}).out;
  const std::string zsh = RunPlush({"completion", "zsh"}).out;
  const std::string fish = RunPlush({"completion", "fish"}).out;
  const std::string manual = Replaced(RunPlush({"man"}).out, "\\-", "-");
  for (const std::string& verb : verbs) {
    CAPTURE(verb);
    CHECK_THAT(bash, Contains("    " + verb + ") words='"));
    CHECK_THAT(zsh, Contains("    " + verb + ")\n      _arguments"));
    CHECK_THAT(fish, Contains("__fish_use_subcommand -a " + verb + " "));
    CHECK_THAT(manual, Contains("plush-" + verb + "\\fR(1)"));
    const PlushRun page = RunPlush({"man", verb});
    REQUIRE(page.exit_code == 0);
    const std::string text = Replaced(page.out, "\\-", "-");
    const size_t line = bash.find("    " + verb + ") words='");
    const std::string words = bash.substr(line, bash.find(" ;;", line) - line);
    const std::set<std::string> options = OptionsOf(verb);
    REQUIRE(options.contains("--help"));
    for (const std::string& option : options) {
      CAPTURE(option);
      CHECK_THAT(words, Contains(option));
      CHECK_THAT(zsh, Contains(option + "["));
      CHECK_THAT(fish, Contains("from " + verb + "'") && Contains(" -l " + option.substr(2)));
      CHECK_THAT(text, Contains("\\fB" + option + "\\fR"));
    }
  }
  CHECK(RunPlush({"completion", "tcsh"}).exit_code == 1);
  CHECK(RunPlush({"completion"}).exit_code == 1);
  CHECK(RunPlush({"man", "frob"}).exit_code == 1);
}

TEST_CASE("Shells accept the completions, if they are there") {
  const TemporaryFolder folder;
  int shells = 0;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string program = plush::tools::FindProgram(shell);
    if (program.empty()) continue;
    CAPTURE(shell);
    const std::string text = RunPlush({"completion", shell}).out;
    REQUIRE(plush::tools::WriteFileAtomically(folder / shell, std::as_bytes(std::span(text))).ok());
    const auto run = plush::tools::RunChild({program, "-n", folder / shell}, {});
    REQUIRE(run.ok());
    INFO(run.value().err);
    CHECK(run.value().exit_code == 0);
    ++shells;
  }
  CHECK(shells >= 1);
}

TEST_CASE("bash completes verbs and options") {
  const TemporaryFolder folder;
  const std::string script = RunPlush({"completion", "bash"}).out +
                             "COMP_WORDS=(plush va); COMP_CWORD=1; _plush\n"
                             "echo \"${COMPREPLY[@]}\"\n"
                             "COMP_WORDS=(plush bake --tets 5 --yo); COMP_CWORD=4; _plush\n"
                             "echo \"${COMPREPLY[@]}\"\n"
                             "COMP_WORDS=(plush bake bear); COMP_CWORD=2; _plush\n"
                             "echo \"${COMPREPLY[@]}\"\n";
  REQUIRE(plush::tools::WriteFileAtomically(folder / "s", std::as_bytes(std::span(script))).ok());
  const auto run = plush::tools::RunChild({plush::tools::FindProgram("bash"), folder / "s"}, {});
  REQUIRE(run.ok());
  const auto& out = run.value().out;
  CHECK(std::string(reinterpret_cast<const char*>(out.data()), out.size()) ==
        "validate\n--young\n\n");
}

TEST_CASE("plush explain explains one code, lists all and suggests the nearest") {
  const PlushRun one = RunPlush({"explain", "mesh_open_boundary"});
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.out, Contains("MESH_OPEN_BOUNDARY (warning)") && Contains("Why it matters") &&
                          Contains("In Blender") && Contains("In Maya") && Contains("Example"));
  CHECK_THAT(RunPlush({"explain", "FILE_INDEX"}).out, !Contains("Blender"));
  const std::string all = RunPlush({"explain"}).out;
  for (const plush::tools::FindingCode& row : plush::tools::FindingCodes()) {
    CHECK_THAT(all, Contains(std::string(row.code) + " ("));
  }
  const PlushRun wrong = RunPlush({"explain", "MESH_OPEN_BOUNDRY"});
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.err, Contains("did you mean 'MESH_OPEN_BOUNDARY'?"));
}

TEST_CASE("plush doctor describes the machine, and its exit code tells of problems") {
  const PlushRun run = RunPlush({"doctor", "--json"});
  REQUIRE(run.exit_code == 0);
  const nlohmann::json document = nlohmann::json::parse(run.out);
  CHECK(document["build"]["plush"] == "0.1.0");
  CHECK_FALSE(document["machine"]["instruction_sets"].empty());
  CHECK(document["machine"]["threads"].get<int>() >= 1);
  CHECK(document["temporary_folder"]["writable"] == true);
  CHECK(document["programs"]["plush-import"].is_string());
  CHECK(document["problems"].empty());
  const PlushRun limited = RunPlush({"doctor"}, "ulimit -n 123; TMPDIR=/nowhere exec");
  CHECK(limited.exit_code == 4);
  CHECK_THAT(limited.out, Contains("open_files: 123") && Contains("problem: the temporary folder"));
}

}  // namespace manual_command_test
