#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bakes and simulates the same models, and the sample scenes terrain and hang, with several builds
# of Plush, on one thread and on two, and fails if any byte of a bake or any state hash differs.
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

# Prints "bake HASH" and a "state HASH" per scene of model $1 with build $2 on $3 threads.
hashes() {
  local plush=$2/tools/plush out=$work/a.plush limit=()
  [ "$3" = 1 ] && limit=(taskset -c 0)  # the bake takes as many threads as it may run on
  "${limit[@]}" "$plush" bake "$1" -o "$out" -q
  echo "bake $(sha256sum <"$out" | cut -c 1-16)"
  cat >"$work/scene.json" <<SCENE
{"steps": 60, "threads": $3,
 "bodies": [{"asset": "$out", "position": [0, 2, 0], "count": 2}],
 "colliders": [{"plane": {"normal": [0, 1, 0], "offset": 0}, "friction": 0.5}]}
SCENE
  simulate
  # Three above each other, the one in the middle implicit: the lowest is held at its feet, so all
  # contacts are those of bodies.
  local low high place
  read -r low high < <("$plush" info --json "$out" | tr -d ' \n' |
    sed 's/.*"high":\[[^,]*,\([^,]*\),.*"low":\[[^,]*,\([^,]*\),.*/\2 \1\n/')
  # Of the feet's upper end, of the second and third body; a speed.
  read -r -a place < <(awk -v low="$low" -v high="$high" 'BEGIN {
    size = high - low
    print low + 0.2 * size, 1.02 * size, 2.04 * size, -size }')
  cat >"$work/scene.json" <<SCENE
{"steps": 60, "threads": $3, "bodies_touch": true,
 "bodies": [
  {"asset": "$out", "pins": [{"box": [[-1e6, -1e6, -1e6], [1e6, ${place[0]}, 1e6]]}]},
  {"asset": "$out", "position": [0, ${place[1]}, 0], "velocity": [0, ${place[3]}, 0],
   "solver": {"name": "implicit"}},
  {"asset": "$out", "position": [0, ${place[2]}, 0], "velocity": [0, ${place[3]}, 0]}]}
SCENE
  simulate
  grep -A 2 '"contacts": {' "$work/stats.json" | grep -q '"max": [1-9]' ||
    { echo "nothing touches" && return 1; }
}

# The same of the sample scenes on hills (a height field and a mesh) and on springs, one of which
# breaks, with build $1 on $2 threads.
scene_hashes() {
  local plush=$1/tools/plush name scene limit=() models=$root/samples/models
  [ "$2" = 1 ] && limit=(taskset -c 0)
  for name in bear duck octopus; do
    "${limit[@]}" "$plush" bake "$models/$name.glb" -o "$work/$name.plush" --tets 400 --young 4e4 \
      --damping 0.15 -q || return 1
  done
  "${limit[@]}" "$plush" bake "$root/samples/scenes/hills.obj" -o "$work/hills.plush" --static -q ||
    return 1
  echo "bake $(sha256sum <"$work/hills.plush" | cut -c 1-16)"
  cp "$root/samples/scenes/hills.f32" "$work/"
  for scene in terrain hang; do
    sed "s/{\"steps\": [0-9]*/{\"steps\": 300, \"threads\": $2/" "$root/samples/scenes/$scene.json" \
      >"$work/scene.json"
    simulate || return 1
    grep -A 2 '"contacts": {' "$work/stats.json" | grep -q '"max": [1-9]' || [ $scene = hang ] ||
      { echo "nothing touches" && return 1; }
  done
}

# Runs the scene with $plush and prints its state.
simulate() {
  rm -f "$work/stats.json"
  "$plush" simulate "$work/scene.json" --stats "$work/stats.json" -q || return 1
  grep -o '"state_hash": *"[0-9a-f]*"' "$work/stats.json" | sed 's/.*: *"/state /; s/"//'
}

failed=0
# usage: compare NAME BUILD_DIR...
# Prints the hashes that command $of gives for each build and number of threads, if they are equal.
compare() {
  local name=$1 reference="" build threads found
  shift
  for build in "$@"; do
    for threads in 1 2; do
      found=$("${of[@]}" "$build" "$threads") || found="failed"
      : "${reference:=$found}"
      if [ "$found" != "$reference" ] || [ "$found" = failed ]; then
        echo "DIFFERS: $name with $build on $threads threads: $found"
        failed=1
      fi
    done
  done
  echo "$name: $(echo $reference)"
}
for model in "${models[@]}"; do
  of=(hashes "$model")
  compare "$(basename "$model")" "$@"
done
of=(scene_hashes)
compare "scenes terrain and hang" "$@"
[ "$failed" = 0 ] && echo "${#models[@]} models and two scenes: the same bytes and states from $# builds on 1 and 2 threads"
exit "$failed"
