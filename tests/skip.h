// SPDX-License-Identifier: MIT
// Skips tests that cannot run here: ctest counts a case that prints "SKIPPED:" as skipped.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace plush::tests {

/// Says why the rest of the test case is left out. Return from the case afterwards.
inline void Skip(const std::string& why) { std::printf("SKIPPED: %s\n", why.c_str()); }

/// Path of file `name` in the folder of environment variable PLUSH_TEST_MODELS. If it does not
/// exist, calls Skip() and returns "".
inline std::string TestModelOrSkip(const std::string& name) {
  const char* folder = std::getenv("PLUSH_TEST_MODELS");
  if (folder == nullptr || *folder == '\0') {
    Skip("PLUSH_TEST_MODELS is not set, so there is no " + name);
    return "";
  }
  std::string path = std::string(folder) + "/" + name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    Skip("there is no " + path);
    return "";
  }
  return path;
}

/// Whether PLUSH_TEST_FULL asks for the long form of tests that have a short one.
inline bool FullTests() {
  const char* full = std::getenv("PLUSH_TEST_FULL");
  return full != nullptr && *full != '\0' && std::string(full) != "0";
}

}  // namespace plush::tests
