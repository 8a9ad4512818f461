// SPDX-License-Identifier: MIT
// Runs another program that may crash, hang or eat all memory, and survives it.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plush::tools {

/// Whether this build carries a sanitizer, whose shadow memory makes address-space limits useless.
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

/// How a child's memory is bounded.
enum class MemoryLimit {
  kAddressSpace,  ///< its allocations fail beyond the limit (RLIMIT_AS)
  kResident,      ///< it is killed once its resident size, looked at every few ms, is beyond
};

/// What a child may use. Reaching any of the limits ends it and all of its own children.
struct ChildLimits {
  double time_s = 20.0;  ///< wall-clock time [s]
  uint64_t memory_bytes = 4ull << 30;
  MemoryLimit memory_limit = kSanitizedBuild ? MemoryLimit::kResident : MemoryLimit::kAddressSpace;
  uint64_t output_bytes = 4ull << 30;  ///< of its stdout
};

/// How a child ended.
enum class ChildEnd {
  kExited,     ///< by itself, with exit_code
  kSignalled,  ///< by signal_number: it crashed
  kTimeLimit,
  kMemoryLimit,  ///< only with MemoryLimit::kResident; otherwise the child sees failed allocations
  kOutputLimit,
};

/// What is left of a child.
struct ChildResult {
  ChildEnd end = ChildEnd::kExited;
  int exit_code = 0;
  int signal_number = 0;
  std::vector<std::byte> out;  ///< its stdout, at most limits.output_bytes
  std::string err;             ///< the first 64 KiB of its stderr
};

/// Runs argv[0] (a path, not searched for) with an empty stdin and waits for its end. The child
/// dies with this process; nothing of it survives the call. Errors: kIo where it cannot be started.
Result<ChildResult> RunChild(const std::vector<std::string>& argv, const ChildLimits& limits);

/// The last line of what a child said that is not blank, fit for a message; "" where there is none.
std::string LastLine(const std::string& text);

}  // namespace plush::tools
