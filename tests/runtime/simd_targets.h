// SPDX-License-Identifier: MIT
// Runs the vector kernels on one instruction set after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plush::test {

/// Instruction sets for which kernels are compiled and which this machine has, best first. The last
/// is plain floats.
std::vector<int64_t> SimdTargets();

/// Name of a target, for example "AVX2".
std::string NameOf(int64_t target);

/// Makes all kernels use one instruction set until this goes out of scope.
class SimdTargetScope {
 public:
  explicit SimdTargetScope(int64_t target);
  ~SimdTargetScope();
  SimdTargetScope(const SimdTargetScope&) = delete;
  SimdTargetScope& operator=(const SimdTargetScope&) = delete;
};

/// Whether this build of the runtime gives the same bits on every instruction set.
inline constexpr bool kIsDeterministic =
#ifdef PLUSH_DETERMINISTIC
    true;
#else
    false;
#endif

}  // namespace plush::test
