#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the test programs that folders of tests/runtime and tests/tools need, and runs the cases of
# these folders that are not tagged [long], one process per core. tests/run.sh --quick calls it once
# build/release is configured.
#
# usage: tests/quick.sh [FOLDER...]      (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."

start=$SECONDS
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# Lines such as "runtime motion step_test".
grep -l TEST_CASE tests/{runtime,tools}/*/*.cpp | sed -E 's|tests/(.*)/(.*)/(.*).cpp|\1 \2 \3|' >"$logs/all"
for folder in "${@:-[a-z_]*}"; do
  grep "^[a-z]* $folder " "$logs/all" || {
    echo "no tests are in \"$folder\", but in:" $(cut -d' ' -f2 "$logs/all" | sort -u) >&2
    exit 1
  }
done | cut -d' ' -f1,3 | sort -u >"$logs/files"
cmake --build build/release --target $(cut -d' ' -f1 "$logs/files" | uniq | sed 's/.*/plush_&_tests/')

# Runs the cases of file $2 with program $1. A program that ends early prints no count of cases.
run_file() {
  "./plush_$1_tests" -# "[#$2]~[long]~[.]" -d yes >"$logs/$1_$2.log" 2>&1 &&
    grep -qE '^(All tests passed|test cases:|No tests ran)' "$logs/$1_$2.log" ||
    echo "$1_$2" >>"$logs/failed"
}
export -f run_file
export logs
touch "$logs/failed"
for program in $(cut -d' ' -f1 "$logs/files" | uniq); do
  "build/release/tests/plush_${program}_tests" --list-test-names-only >>"$logs/names" || true  # their number
done
(cd build/release/tests && xargs -P "$(nproc)" -n 2 bash -c 'run_file "$@"' run_file <"$logs/files")

for name in $(sort "$logs/failed"); do cat "$logs/$name.log"; done
awk -v started="$start" -v ended="$SECONDS" -v files="$(wc -l <"$logs/files")" -v failed="$(xargs <"$logs/failed")" '
  FILENAME ~ /names$/ { is_case[$0] = 1; next }
  /^SKIPPED: / && !why { why = substr($0, 10) }
  why && sub(/^[0-9.]+ s: /, "") && is_case[$0] {  # after what the case printed
    if (!is_named[$0]++) print "skipped: " $0 ": " why
    why = ""
  }
  /^All tests passed/ { cases += $(NF - 2) }
  /^test cases:/ { cases += $3 }
  END {
    printf "%d cases of %d files, %d s: %s\n", cases, files, ended - started, failed ? "FAILED: " failed : "all passed"
    exit failed || !cases
  }' "$logs/names" "$logs"/*.log
