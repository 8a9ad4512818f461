// SPDX-License-Identifier: MIT
#include "batch/file_patterns.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <random>

namespace plush::tools::file_patterns_test {
namespace {

// The definition, by trying every length for every star. Exponential, so for short names only.
bool NameMatches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return NameMatches(pattern.substr(1), name) ||
           (!name.empty() && name[0] != '/' && NameMatches(pattern, name.substr(1)));
  }
  if (name.empty()) return false;
  const bool is_same = pattern[0] == name[0] || (pattern[0] == '?' && name[0] != '/');
  return is_same && NameMatches(pattern.substr(1), name.substr(1));
}

TEST_CASE("Patterns match as documented") {
  const auto matches = [](const char* pattern, const char* path) {
    return FilePattern(pattern).Matches(path);
  };
  CHECK(matches("a.obj", "a.obj"));
  CHECK_FALSE(matches("a.obj", "b/a.obj"));
  CHECK(matches("*.obj", "a.obj"));
  CHECK_FALSE(matches("*.obj", "b/a.obj"));
  CHECK(matches("**/*.obj", "a.obj"));
  CHECK(matches("**/*.obj", "c/b/a.obj"));
  CHECK(matches("c/**/a.*", "c/a.obj"));
  CHECK(matches("c/**/a.*", "c/x/y/a.obj"));
  CHECK_FALSE(matches("c/**/a.*", "d/x/a.obj"));
  CHECK(matches("**", "c/b/a.obj"));
  CHECK(matches("**/x/**/*.obj", "a/x/b/x/c.obj"));
  CHECK_FALSE(matches("?.obj", "ab.obj"));
  CHECK_FALSE(matches("**", ".git/a.obj"));
  CHECK_FALSE(matches("*", ".a.obj"));
  CHECK(matches(".git/*", ".git/a.obj"));
}

TEST_CASE("Patterns without folders match as by definition") {
  const unsigned seed = 20;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto text = [&random](const char* letters, size_t num_letters) {
    std::string made;
    for (size_t n = 1 + random() % 7; n > 0; --n) made += letters[random() % num_letters];
    return made;
  };
  size_t num_matches = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = text("ab*?", 4), name = text("ab", 2);
    CAPTURE(pattern, name);
    if (pattern == "**") continue;
    const bool expected = NameMatches(pattern, name);
    num_matches += expected ? 1 : 0;
    REQUIRE(FilePattern(pattern).Matches(name) == expected);
  }
  CHECK(num_matches > 1000);
}

TEST_CASE("Patterns that leave the root are refused") {
  for (const char* text : {"", "/a", "../a", "a/../b", "a//b", "./a", "a/"}) {
    INFO(text);
    CHECK_FALSE(PatternMistake(text).empty());
  }
  CHECK(PatternMistake("a/**/b*.obj").empty());
}

TEST_CASE("Listed files are sorted and leave out a folder") {
  const tests::TemporaryFolder folder;
  for (const char* name : {"b/x", "a", "out/y", "b/c/z"}) {
    const std::string path = folder / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << name;
  }
  std::filesystem::create_directory_symlink(".", folder / "loop");
  const auto files = ListFiles(folder.path(), folder / "out");
  REQUIRE(files.ok());
  std::string names;
  for (const ListedFile& file : files.value()) {
    names += file.path + ":" + std::to_string(file.num_bytes) + " ";
  }
  CHECK(names == "a:1 b/c/z:5 b/x:3 ");
  CHECK_FALSE(ListFiles(folder / "nowhere", "").ok());
}

}  // namespace
}  // namespace plush::tools::file_patterns_test
