// SPDX-License-Identifier: MIT
#include "runtime/simd_targets.h"

#include "base/simd_target.h"

#include <hwy/highway.h>

namespace plush::test {

std::vector<int64_t> SimdTargets() {
  // From the lowest bit on, which is the best.
  return hwy::SupportedAndGeneratedTargets();
}

std::string NameOf(int64_t target) { return hwy::TargetName(target); }

SimdTargetScope::SimdTargetScope(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  // Calls go by what was chosen at the first one.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

SimdTargetScope::~SimdTargetScope() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace plush::test
