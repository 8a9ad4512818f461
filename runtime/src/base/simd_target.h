// SPDX-License-Identifier: MIT
// Selects the instruction sets for which vector code is compiled. Include before foreach_target.h.
//
// - SSSE3 adds nothing useful to SSE4.
// - SVE's vectors have no size known to the compiler, but blocks have 16 tets.
// - Without a vector unit that Highway knows, the same code runs on single floats.
// - PLUSH_FEW_SIMD_TARGETS, for tests under sanitizers, leaves AVX2 and what every processor has:
//   a compiler can take a minute for each file and instruction set to sanitize vector code. Not
//   for games.
#pragma once

#define PLUSH_USELESS_SIMD_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#ifdef PLUSH_FEW_SIMD_TARGETS
#define HWY_DISABLED_TARGETS (PLUSH_USELESS_SIMD_TARGETS | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS PLUSH_USELESS_SIMD_TARGETS
#endif
