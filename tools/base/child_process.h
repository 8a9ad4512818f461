// SPDX-License-Identifier: MIT
// Finds another program and runs it, even if it crashes, hangs or takes too much memory.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tools {

/// Finds an executable file as a shell does. A `name` with a slash is the path itself. Otherwise
/// returns the first match in the folders of the environment variable PATH, in which an empty
/// folder means the current one. Returns "" if there is no such program.
std::string FindProgram(const std::string& name);

/// Whether this build carries a sanitizer. Its shadow memory makes address-space limits useless.
inline constexpr bool kSanitizedBuild =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

enum class MemoryLimit {
  kAddressSpace,  ///< allocations beyond the limit fail (RLIMIT_AS)
  kResident,      ///< the parent samples the resident size every few ms and kills the child
};

/// What a child may use. If it reaches a limit, it and all of its own children are killed.
struct ChildLimits {
  double time_s = 20.0;      ///< wall-clock time [s]
  double processor_s = 0.0;  ///< processor time, without that of its own children [s]; 0: any
  uint64_t memory_bytes = 4ull << 30;
  MemoryLimit memory_limit = kSanitizedBuild ? MemoryLimit::kResident : MemoryLimit::kAddressSpace;
  uint64_t output_bytes = 4ull << 30;  ///< of its stdout
};

enum class ChildEnd {
  kExited,     ///< normally, with exit_code
  kSignalled,  ///< it crashed with signal_number
  kTimeLimit,
  kProcessorLimit,
  kMemoryLimit,  ///< only with kResident; with kAddressSpace the child sees failed allocations
  kOutputLimit,
};

struct ChildResult {
  ChildEnd end = ChildEnd::kExited;
  int exit_code = 0;
  int signal_number = 0;
  std::vector<std::byte> out;  ///< its stdout, at most limits.output_bytes
  std::string err;             ///< the first 64 KiB of its stderr
};

/// Runs argv[0], a path, with an empty stdin and waits for its end. The child dies with this
/// process, and no process that it started survives the call. Errors: kIo (it cannot be started).
Result<ChildResult> RunChild(const std::vector<std::string>& argv, const ChildLimits& limits);

/// Kills the children of all calls of RunChild, and waits for their ends; later calls wait for
/// ever. For a process that is about to end.
void EndChildren();

/// The last line of `text` that is not blank, fit for a message; "" if there is none.
std::string LastLine(const std::string& text);

}  // namespace plush::tools
