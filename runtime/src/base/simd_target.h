// SPDX-License-Identifier: MIT
// Which instruction sets the vector code is compiled for. Included before foreach_target.h.
//
// SSSE3 adds nothing to SSE4 that matters here; SVE's vectors have no size that a compiler knows,
// and blocks have 16 tets. Without a vector unit that Highway knows, the same code runs on single
// floats.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
