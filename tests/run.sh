#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs missing packages, builds, and runs every test:
#   - the release build, with 60 files of a real corpus;
#   - the runtime's tests again under the address and undefined-behaviour sanitizers.
#
# usage: tests/run.sh [--full | --quick [FOLDER...]]
#   --full  also clang with assertions, all sanitizers, the whole corpus, all corruption edits, and
#           golden scenes by both compilers and each instruction set (tests/full.sh)
#   --quick  only the cases not tagged [long] of these folders of tests/runtime and tests/tools, built
#           first (tests/quick.sh)
#
# Environment: PLUSH_TEST_MODELS, a folder of further models (without it, tests that need one are skipped).
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  "") ;;
  --full) exec tests/full.sh ;;
  --quick) grep -qs '^PLUSH_BUILD_TESTS:BOOL=ON' build/release/CMakeCache.txt && is_configured=yes ;;
  *)
    sed -n '7,11s/^# \{0,1\}//p' "$0"
    exit 1
    ;;
esac

[ -n "${is_configured:-}" ] || tools/setup.sh build test
. tools/ccache.sh

[ -n "${is_configured:-}" ] || cmake --preset release -DPLUSH_BUILD_TESTS=ON -DPLUSH_ASAN_TESTS=ON
[ "${1:-}" != --quick ] || exec tests/quick.sh "${@:2}"
cmake --build --preset release
code=0
ctest --preset release --no-tests=error -j "$(nproc)" || code=$?
awk -f tests/skipped.awk build/release/Testing/Temporary/LastTest.log || code=1
exit $code
