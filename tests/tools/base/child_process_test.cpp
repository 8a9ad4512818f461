// SPDX-License-Identifier: MIT
// Child processes that crash, hang, flood and grow, and the search for programs in PATH.
#include "base/child_process.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace child_process_test {

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ChildEnd;
using plush::tools::ChildLimits;
using plush::tools::ChildResult;
using plush::tools::FindProgram;
using plush::tools::MemoryLimit;
using plush::tools::RunChild;

ChildResult Shell(const std::string& script, const ChildLimits& limits = {}) {
  const auto result = RunChild({"/bin/sh", "-c", script}, limits);
  REQUIRE(result.ok());
  return result.value();
}

std::string Text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ChildLimits Seconds(double time_s) { return ChildLimits{.time_s = time_s}; }

void WriteProgram(const std::string& path) {
  WriteText(path, "#!/bin/sh\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// FindProgram with another PATH.
std::string FoundIn(const std::string& folders, const std::string& name) {
  const std::string old = std::getenv("PATH");
  ::setenv("PATH", folders.c_str(), 1);
  std::string found = FindProgram(name);
  ::setenv("PATH", old.c_str(), 1);
  return found;
}

TEST_CASE("A child's output, messages and exit code come back") {
  const ChildResult result = Shell("echo data; echo words >&2; exit 5");
  CHECK(result.end == ChildEnd::kExited);
  CHECK(result.exit_code == 5);
  CHECK(Text(result.out) == "data\n");
  CHECK(result.err == "words\n");
  CHECK(Text(Shell("cat").out).empty());  // stdin is empty, not the terminal
}

TEST_CASE("More output than a pipe holds comes back whole") {
  const ChildResult result = Shell("head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2");
  CHECK(result.out.size() == 3000000);
  CHECK(result.err.size() == 64 << 10);
  CHECK(result.exit_code == 0);
}

TEST_CASE("A crash is distinguished from an exit") {
  const ChildResult result = Shell("kill -SEGV $$");
  CHECK(result.end == ChildEnd::kSignalled);
  CHECK(result.signal_number == SIGSEGV);
}

TEST_CASE("A hanging child is killed with its own children", "[long]") {
  plush::tests::TemporaryFolder folder;
  const ChildResult result =
      Shell("(sleep 2; touch '" + folder.path() + "/alive') & sleep 60", Seconds(0.2));
  CHECK(result.end == ChildEnd::kTimeLimit);
  ::usleep(2'300'000);
  CHECK_FALSE(std::filesystem::exists(folder / "alive"));
}

TEST_CASE("Children left behind by an exited child neither survive nor hold up the call") {
  const ChildResult result = Shell("sleep 60 & exit 3", Seconds(30.0));
  CHECK(result.end == ChildEnd::kExited);
  CHECK(result.exit_code == 3);
}

TEST_CASE("Endless messages do not outlive the time limit") {
  const ChildResult result = Shell("exec cat /dev/zero >&2", Seconds(0.2));
  CHECK(result.end == ChildEnd::kTimeLimit);
  CHECK(result.err.size() == 64 << 10);
}

TEST_CASE("Endless output ends at its limit") {
  ChildLimits limits = {.output_bytes = 1000};
  const ChildResult result = Shell("cat /dev/zero", limits);
  CHECK(result.end == ChildEnd::kOutputLimit);
  CHECK(result.out.size() == 1001);
  CHECK(Shell("head -c 1000 /dev/zero", limits).end == ChildEnd::kExited);
  CHECK(Shell("head -c 1001 /dev/zero", limits).end == ChildEnd::kOutputLimit);
}

TEST_CASE("The address-space limit makes allocations fail") {
  ChildLimits limits = {.memory_bytes = 64 << 20, .memory_limit = MemoryLimit::kAddressSpace};
  CHECK(Shell("head -c 1000 /dev/zero | wc -c", limits).exit_code == 0);
  // tail must hold the endless line in memory.
  const ChildResult result = Shell("head -c 200000000 /dev/zero | tail -n 1 >/dev/null", limits);
  INFO(result.err);
  CHECK(result.end == ChildEnd::kExited);  // it sees failed allocations and is not killed
  CHECK(result.exit_code == 1);            // of tail, the last of the pipeline
  CHECK_FALSE(result.err.empty());
}

TEST_CASE("The resident-size watch ends a child that grows") {
  ChildLimits limits = {.memory_bytes = 64 << 20, .memory_limit = MemoryLimit::kResident};
  const ChildResult result = Shell("exec tail -n 1 /dev/zero", limits);
  CHECK(result.end == ChildEnd::kMemoryLimit);
}

TEST_CASE("A missing program is an error, not a child") {
  const auto result = RunChild({"/no/such/program"}, {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().exit_code == plush::tools::ExitCode::kIo);
  CHECK(result.error().message.find("/no/such/program") != std::string::npos);
}

TEST_CASE("No child is left as a zombie") {
  Shell("exit 0");
  Shell("sleep 9", Seconds(0.05));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

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

}  // namespace child_process_test
