#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs `plush check` and `plush bake` on real model files and checks each run:
#   - it takes no more than 60 s of processor time, 30 s on two idle cores (optimised build), and ends with an exit
#     code of the table (0 2 3 4 5 6 7), not by a signal;
#   - a file that `check` cannot read cannot be baked either, with the same code;
#   - a successful bake leaves one file, which `plush validate` accepts; a failed one leaves none.
# Prints counts by exit code and by finding.
#
# usage: run_corpus.sh PLUSH CORPUS LIST WORK_DIR [JOBS]
#   PLUSH     the executable
#   CORPUS    folder of the models (Debian: /usr/share/assimp/models)
#   LIST      file of paths relative to CORPUS, or "all"
#   WORK_DIR  scratch folder, emptied first; reports/ keeps the output of every run
#   JOBS      runs at the same time (default 2)
#
# Environment: PLUSH_CORPUS_LIMIT_S, another limit of processor time in seconds (Debug builds).
set -uo pipefail

limit_s=${PLUSH_CORPUS_LIMIT_S:-60}

# Runs the program with arguments $@. Processor time is limited, because other tests run beside it; ten times as many
# seconds on the clock end what waits for ever.
limited() {
  (ulimit -S -t "$limit_s" && exec timeout -k 5 $((10 * limit_s)) "$plush" "$@")
}

# Prints why exit code $2 is wrong for verb $1; nothing if it is allowed.
judge_code() {
  case $2 in
    0 | 2 | 3 | 4 | 5 | 6 | 7) ;;
    152) echo "  $1: still running after $limit_s s of processor time" ;;
    124 | 137) echo "  $1: still running after $((10 * limit_s)) s" ;;
    *) echo "  $1: exit code $2" ;;
  esac
}

# Prints what is wrong in folder $2 after a bake that ended with code $1; report prefix $3.
judge_output() {
  local left
  left=$(ls -A "$2")
  if [ "$1" != 0 ]; then
    [ -z "$left" ] || echo "  a failed bake left '$left'"
    return
  fi
  [ "$left" = a.plush ] || echo "  a successful bake left '$left'"
  "$plush" validate "$2/a.plush" >"$3.validate.txt" 2>&1 ||
    echo "  validate: exit code $?: $(grep -m 1 error "$3.validate.txt")"
}

# Runs both verbs on one file; writes "FILE CHECK_CODE BAKE_CODE" and a line per broken promise.
run_one() {
  local file=$1 check bake problems
  local report=$work/reports/${file//[^A-Za-z0-9._-]/_} out
  out=$(mktemp -d -p "$work/bakes")
  limited check "$corpus/$file" --json >"$report.check.json" 2>"$report.check.txt"
  check=$?
  limited bake "$corpus/$file" -o "$out/a.plush" --report "$report.bake.json" >"$report.bake.txt" 2>&1
  bake=$?
  problems=$(
    judge_code check $check
    judge_code bake $bake
    [ $check = 0 ] || [ $check = $bake ] || echo "  check ended with $check, bake with $bake"
    judge_output $bake "$out" "$report"
  )
  rm -rf "$out"
  printf '%s\t%s\t%s\n' "$file" $check $bake >"$report.result"
  [ -z "$problems" ] || printf 'BROKEN: %s\n%s\n' "$file" "$problems" | tee -a "$report.result"
}

tally() {
  local total run broken
  total=$(wc -l <"$work/files")
  run=$(find "$work/reports" -name '*.result' | wc -l)
  broken=$(cat "$work"/reports/*.result | grep -c '^BROKEN: ')
  echo "$total files, $run run, $broken broke a promise"
  echo "files by exit code of check and bake:"
  cat "$work"/reports/*.result | awk -F '\t' 'NF == 3 { print "check " $2 ", bake " $3 }' |
    sort | uniq -c | sort -k1,1nr
  echo "files by finding of bake:"
  for report in "$work"/reports/*.bake.json; do
    grep -o '"code": "[A-Z_]*"' "$report" | sort -u
  done | sort | uniq -c | sort -k1,1nr | sed 's/"code": //'
  [ "$broken" = 0 ] && [ "$total" = "$run" ] && [ "$total" -gt 0 ]
}

if [ "${1:-}" = --one ]; then
  plush=$2 corpus=$3 work=$4
  run_one "$5"
  exit 0
fi
if [ $# -lt 4 ]; then
  sed -n '10,15s/^# \{0,1\}//p' "$0"
  exit 1
fi
plush=$1 corpus=$2 list=$3 work=$4 jobs=${5:-2}
if [ ! -d "$corpus" ]; then
  echo "SKIPPED: there is no $corpus (Debian package assimp-testmodels)"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work/reports" "$work/bakes"
if [ "$list" = all ]; then
  (cd "$corpus" && find . -type f -printf '%P\n' | LC_ALL=C sort) >"$work/files"
else
  grep -v '^#' "$list" >"$work/files"
fi
tr '\n' '\0' <"$work/files" |
  xargs -0 -n 1 -P "$jobs" "$0" --one "$plush" "$corpus" "$work"
tally
