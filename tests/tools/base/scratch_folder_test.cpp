// SPDX-License-Identifier: MIT
#include "base/scratch_folder.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

using plush::tools::ScratchFolder;

TEST_CASE("A scratch folder is empty, private, and gone with its content at the end") {
  std::string path;
  {
    const auto folder = ScratchFolder::Create();
    REQUIRE(folder.ok());
    path = folder.value()->path();
    CHECK(std::filesystem::is_empty(path));
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
    std::filesystem::create_directory(*folder.value() / "inner");
    plush::tests::WriteText(*folder.value() / "inner/file", "text");
    const auto other = ScratchFolder::Create();
    REQUIRE(other.ok());
    CHECK(other.value()->path() != path);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("Without a place for temporary files there is no scratch folder") {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto folder = ScratchFolder::Create();
  ::unsetenv("TMPDIR");
  REQUIRE_FALSE(folder.ok());
  CHECK(folder.error().exit_code == plush::tools::ExitCode::kIo);
}
