#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tests of tests/run.sh: long forms with gcc, all with clang and assertions, golden scenes by both
# compilers and each instruction set, all sanitizers, the whole corpus, every corruption edit.
# Continues after a failure; the last lines name the failed steps. Called by tests/run.sh --full.
set -uo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh build test full || exit
. tools/ccache.sh
jobs=$(nproc)
summary=""
failed=0

# Runs a command as step $1 and records its result and time.
step() {
  local name=$1 start=$SECONDS result=ok
  shift
  echo "== $name"
  "$@" || { result=FAILED; failed=1; }
  printf -v result '%-6s %5d s  %s\n' "$result" $((SECONDS - start)) "$name"
  summary+=$result
  echo "$result"
}

# Configures folder build/$2 from preset $3, with further options, and builds target $1 there.
build_target() {
  local target=$1 folder=build/$2 preset=$3
  shift 3
  cmake --preset "$preset" -B "$folder" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON "$@" &&
    cmake --build "$folder" --target "$target"
}
build() { build_target all "$@"; }

# Long forms of tests (PLUSH_TEST_FULL) run in fast builds, and in those whose sanitizer they need.
test_in() {
  local code=0
  ctest --test-dir "build/$1" --output-on-failure --no-tests=error -j "$jobs" "${@:2}" || code=1
  awk -f tests/skipped.awk "build/$1/Testing/Temporary/LastTest.log" || code=1
  return $code
}
long_forms() { PLUSH_TEST_FULL=1 test_in release -LE '^(farm|blender)$'; }

step "gcc Release: build" build release release -DPLUSH_ASAN_TESTS=OFF -DPLUSH_BUILD_BENCH=ON
step "gcc Release: tests, long forms" long_forms
# With assertions; without precompiled headers and unity builds, a file that lacks an include does not compile.
step "clang Debug: build" build clang-Debug dev -DCMAKE_CXX_FLAGS_DEBUG=-O1 \
  -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DPLUSH_UNITY=OFF
step "clang Debug: tests" test_in clang-Debug
for compiler in g++ clang++-14; do
  folder=deterministic-$compiler
  step "deterministic, $compiler: build" build_target plush_golden "$folder" deterministic \
    -DCMAKE_CXX_COMPILER=$compiler
  for target in AVX3 AVX2 SSE4 EMU128; do
    step "deterministic, $compiler: golden scenes with $target" env PLUSH_GOLDEN_TARGET=$target \
      ctest --test-dir "build/$folder" --output-on-failure --no-tests=error -j "$jobs" \
      -R '^golden: ' -E 'error of the motion'
  done
done
step "asan: build" build asan asan
step "asan: tests of runtime and tools" test_in asan -L 'runtime|tools'
step "asan: all corruption edits" env PLUSH_TEST_FULL=1 \
  build/asan/tests/plush_runtime_tests "Random edits are refused or simulate"
step "asan: all edits of glTF files" env PLUSH_TEST_FULL=1 \
  build/asan/tests/plush_tools_tests "Edited glTF files are refused with a reason or read"
step "asan: edited files" tests/import/mutations.py build/asan/tools/plush build/asan_mutations
# The runtime only: TBB, which the tools use, is not built for this sanitizer.
step "tsan: build" build_target plush_runtime_tests tsan tsan
step "tsan: tests of the runtime" test_in tsan -L runtime
step "whole corpus" tests/corpus/run_corpus.sh build/release/tools/plush \
  /usr/share/assimp/models all build/corpus "$jobs"
step "a batch killed 50 times" tests/tools/batch/batch_kills.sh build/release/tools/plush \
  build/batch_kills 50
# Groups of large packages: where they cannot be installed, their tests are skipped.
group() {
  tools/setup.sh "$1" || echo "group $1: cannot install its packages"
  PLUSH_TEST_FULL=1 ctest --test-dir build/release --verbose --no-tests=error -L "^$1\$" |
    tee "build/group_$1.log"
  local code=${PIPESTATUS[0]} why
  why=$(grep -m 1 -o 'SKIPPED: .*' "build/group_$1.log") && summary+="skip            $1: ${why#SKIPPED: }"$'\n'
  return "$code"
}
for name in farm blender; do step "group $name" group $name; done
step "figures of plush batch" tests/bench/batch_figures.sh build/release/tools/plush \
  /usr/share/assimp/models build/batch_figures
step "clang-tidy on the runtime" run-clang-tidy-14 -quiet -p build/clang-Debug -j "$jobs" \
  "$PWD/runtime/src/"
if command -v npm >/dev/null; then
  step "glTF validator" tests/validate_gltf.sh build/release build/gltf
else
  summary+="skip            glTF validator: there is no npm"$'\n'
fi

echo
echo "$summary"
exit $failed
