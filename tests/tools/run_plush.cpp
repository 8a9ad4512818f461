// SPDX-License-Identifier: MIT
#include "tools/run_plush.h"

#include "tools/paths.h"
#include "tools/procedural_meshes.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace plush::tests {
namespace {

// In single quotes, a shell interprets only the closing quote.
std::string Quoted(const std::string& text) {
  std::string quoted(1, '\'');
  for (const char c : text) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  quoted += '\'';
  return quoted;
}

}  // namespace

PlushRun RunPlush(const std::vector<std::string>& arguments, const std::string& prefix) {
  const TemporaryFolder folder;
  std::string command = std::string(prefix).append(" ").append(Quoted(plush::tests::kPlushProgram));
  for (const std::string& argument : arguments) command.append(" ").append(Quoted(argument));
  command.append(" >").append(Quoted(folder / "out"));
  command.append(" 2>").append(Quoted(folder / "err")).append(" </dev/null");
  const int status = std::system(command.c_str());
  return PlushRun{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                  .out = Content(folder / "out"),
                  .err = Content(folder / "err")};
}

std::string Content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

size_t FilesIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace plush::tests
