#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills `plush batch` at random moments. The run after each kill must succeed, leave the same bytes as
# a batch that nobody killed, and leave no temporary file. The batch alone is killed, or it and
# Ninja, by SIGKILL. Every other round uses a cache, which all rounds share, and every fifth round
# runs two batches at once.
#
# usage: batch_kills.sh PLUSH WORK_DIR ROUNDS [SEED]
set -uo pipefail
[ $# -ge 3 ] || { sed -n '8s/^# //p' "$0"; exit 1; }
command -v ninja >/dev/null || { echo "SKIPPED: there is no ninja"; exit 0; }
plush=$(realpath "$1") work=$2 rounds=$3 RANDOM=${4:-20}
failed=0

rm -rf "$work"
mkdir -p "$work/models"
cd "$work" || exit

# Balls of several sizes: bakes of 0.05 to 0.2 s.
ball() {
  awk -v n="$1" -v m="$2" 'BEGIN {
    pi = atan2(0, -1)
    for (i = 0; i <= n; ++i) for (j = 0; j < m; ++j) {
      a = pi * i / n; b = 2 * pi * j / m
      printf "v %.5f %.5f %.5f\n", sin(a) * cos(b), cos(a), sin(a) * sin(b) }
    for (i = 0; i < n; ++i) for (j = 0; j < m; ++j) {
      k = (j + 1) % m
      printf "f %d %d %d %d\n", i * m + j + 1, i * m + k + 1, (i + 1) * m + k + 1, (i + 1) * m + j + 1 } }'
}
for i in 1 2 3 4 5 6; do ball $((4 + i)) $((6 + i)) >"models/ball$i.obj"; done
echo '{"root": "models", "inputs": ["*.obj"], "options": [{"match": "**", "bake": {"tets": 60}}]}' >batch.json

sums() { (cd "$1" && find . -name '*.plush' -exec sha256sum {} + | LC_ALL=C sort -k2); }

"$plush" batch batch.json -o expected -q || exit
start=$EPOCHREALTIME
"$plush" batch batch.json -o timed -q || exit
limit_ms=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", (b - a) * 1000 + 20 }')
sums expected >expected.sums

for ((round = 1; round <= rounds; ++round)); do
  tree=tree$((round % 3))
  [ $((RANDOM % 2)) = 0 ] || rm -rf $tree
  options=()
  [ $((round % 2)) = 0 ] || options=(--cache cache --cache-size 0.01)
  delay_ms=$((RANDOM % limit_ms))
  # A group of its own, so that Ninja can be found below it.
  "$plush" batch batch.json -o $tree -q "${options[@]}" 2>/dev/null &
  victim=$!
  if [ $((round % 5)) = 0 ]; then "$plush" batch batch.json -o $tree -q "${options[@]}" & second=$!; fi
  sleep "$(printf '0.%03d' $((delay_ms % 1000)))"
  children=$(cat "/proc/$victim/task/$victim/children" 2>/dev/null)
  kill -KILL $victim 2>/dev/null
  # shellcheck disable=SC2086  # several numbers
  [ $((RANDOM % 2)) = 0 ] || [ -z "$children" ] || kill -KILL $children 2>/dev/null
  wait $victim 2>/dev/null
  if [ $((round % 5)) = 0 ]; then wait $second || { echo "round $round: the second batch failed"; failed=1; }; fi
  "$plush" batch batch.json -o $tree -q "${options[@]}" ||
    { echo "round $round: the batch after the kill at $delay_ms ms ended with $?"; failed=1; }
  sums $tree | cmp -s - expected.sums || { echo "round $round: other bytes"; failed=1; }
  left=$(find $tree -name '*.tmp*')
  [ -z "$left" ] || { echo "round $round: left $left"; failed=1; }
done
[ "$failed" = 0 ] && echo "$rounds kills within $limit_ms ms, each followed by a whole batch"
exit $failed
