#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bakes and simulates the same models with several builds of Plush, on one thread and on two, and
# fails if any byte of a bake or any state hash differs.
#
# usage: tests/determinism.sh BUILD_DIR...
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

models=("$root"/samples/models/*.glb "$root"/tests/consumer/cube.obj)
if [ -n "${PLUSH_TEST_MODELS:-}" ]; then
  models+=("$PLUSH_TEST_MODELS/armadillo_10k.obj" "$PLUSH_TEST_MODELS"/dirty/*.o*)
fi

# Prints "bake HASH" and "state HASH" of model $2 with build $1 on $3 threads.
hashes() {
  local plush=$1/tools/plush out=$work/a.plush limit=()
  [ "$3" = 1 ] && limit=(taskset -c 0)  # the bake takes as many threads as it may run on
  "${limit[@]}" "$plush" bake "$2" -o "$out" -q
  echo "bake $(sha256sum <"$out" | cut -c 1-16)"
  cat >"$work/scene.json" <<SCENE
{"steps": 60, "threads": $3,
 "bodies": [{"asset": "$out", "position": [0, 2, 0], "count": 2}],
 "colliders": [{"plane": {"normal": [0, 1, 0], "offset": 0}, "friction": 0.5}]}
SCENE
  "$plush" simulate "$work/scene.json" --stats "$work/stats.json" -q
  grep -o '"state_hash": *"[0-9a-f]*"' "$work/stats.json" | sed 's/.*: *"/state /; s/"//'
}

failed=0
for model in "${models[@]}"; do
  reference=""
  for build in "$@"; do
    for threads in 1 2; do
      found=$(hashes "$build" "$model" "$threads") || found="failed"
      : "${reference:=$found}"
      if [ "$found" != "$reference" ] || [ "$found" = failed ]; then
        echo "DIFFERS: $(basename "$model") with $build on $threads threads: $found"
        failed=1
      fi
    done
  done
  echo "$(basename "$model"): $(echo $reference)"
done
[ "$failed" = 0 ] && echo "${#models[@]} models: the same bytes and states from $# builds on 1 and 2 threads"
exit "$failed"
