// SPDX-License-Identifier: MIT
#include "runtime/simd_targets.h"

#include "base/simd_target.h"

#include <hwy/highway.h>

namespace plush::test {

std::vector<int64_t> SimdTargets() {
  // The lowest bit is the best target.
  return hwy::SupportedAndGeneratedTargets();
}

std::string NameOf(int64_t target) { return hwy::TargetName(target); }

SimdTargetScope::SimdTargetScope(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  // Calls use the target chosen at the first one, so choose again.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

SimdTargetScope::~SimdTargetScope() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace plush::test
