// SPDX-License-Identifier: MIT
#include "base/find_program.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

namespace {

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::FindProgram;

void WriteProgram(const std::string& path) {
  WriteText(path, "#!/bin/sh\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// What is found with another PATH.
std::string FoundIn(const std::string& folders, const std::string& name) {
  const std::string old = std::getenv("PATH");
  ::setenv("PATH", folders.c_str(), 1);
  std::string found = FindProgram(name);
  ::setenv("PATH", old.c_str(), 1);
  return found;
}

}  // namespace

TEST_CASE("A name is looked for in PATH, in its order") {
  const TemporaryFolder first;
  const TemporaryFolder second;
  WriteProgram(second / "tool");
  const std::string both = first.path() + ":" + second.path();
  CHECK(FoundIn(both, "tool") == second / "tool");
  WriteText(first / "tool", "no program");
  CHECK(FoundIn(both, "tool") == second / "tool");
  std::filesystem::remove(first / "tool");
  std::filesystem::create_directory(first / "tool");
  CHECK(FoundIn(both, "tool") == second / "tool");
  std::filesystem::remove(first / "tool");
  WriteProgram(first / "tool");
  CHECK(FoundIn(both, "tool") == first / "tool");
  CHECK(FoundIn(both, "other").empty());
  CHECK(FoundIn("", "no such tool").empty());
}

TEST_CASE("A path is the program itself") {
  const TemporaryFolder folder;
  WriteProgram(folder / "tool");
  CHECK(FindProgram(folder / "tool") == folder / "tool");
  CHECK(FindProgram(folder / "none").empty());
  CHECK(FindProgram(folder.path()).empty());
  CHECK(FindProgram("").empty());
}
