// SPDX-License-Identifier: MIT
// The vector kernels on one instruction set after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plush::test {

/// Instruction sets that the kernels are compiled for and that this machine has, best first. The
/// last one is plain floats.
std::vector<int64_t> SimdTargets();

/// "AVX2" and so on.
std::string NameOf(int64_t target);

/// Makes all kernels run on one instruction set, until it goes out of scope.
class SimdTargetScope {
 public:
  explicit SimdTargetScope(int64_t target);
  ~SimdTargetScope();
  SimdTargetScope(const SimdTargetScope&) = delete;
  SimdTargetScope& operator=(const SimdTargetScope&) = delete;
};

/// Whether the runtime was built so that every instruction set gives the same bits.
inline constexpr bool kIsDeterministic =
#ifdef PLUSH_DETERMINISTIC
    true;
#else
    false;
#endif

}  // namespace plush::test
