#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs missing packages, builds, and runs every test:
#   - the release build, with 60 files of a real corpus;
#   - the runtime's tests again under the address and undefined-behaviour sanitizers.
#
# usage: tests/run.sh [--full]
#   --full  also clang, Debug, the thread sanitizer, the whole corpus, all corruption edits, and
#           equal bytes from every one of these builds (tests/full.sh)
#
# Environment: PLUSH_TEST_MODELS, a folder of further models (without it, tests that need one are skipped).
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  "") ;;
  --full) exec tests/full.sh ;;
  *)
    sed -n '7,9s/^# \{0,1\}//p' "$0"
    exit 1
    ;;
esac

tools/setup.sh build test
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR="${CCACHE_DIR:-$PWD/build/ccache}"
export CCACHE_SLOPPINESS=pch_defines,time_macros  # else it keeps nothing that precompiled headers are used for
command -v ccache >/dev/null || unset CMAKE_CXX_COMPILER_LAUNCHER

cmake --preset release -DPLUSH_BUILD_TESTS=ON -DPLUSH_ASAN_TESTS=ON
cmake --build --preset release
code=0
ctest --preset release --no-tests=error -j "$(nproc)" | tee build/tests.log || code=$?
skipped() { grep -c -- "$1.*\*\*\*Skipped" build/tests.log || true; }
echo "$(skipped '') tests were skipped: $(skipped ' farm: ') of group farm, $(skipped ' blender: ') of group blender" \
  "(tests/run.sh --full runs these), the others for reasons that they name"
exit $code
