#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, then bakes, validates and drops the three sample models.
#
# usage: samples/run.sh
#
# Leaves in out/: bear.plush, duck.plush, octopus.plush (what a game loads), bear.glb, duck.glb,
# octopus.glb (their fall, for any glTF viewer), puppet.glb (the bear, moved by its joints), and
# ramp.glb, press.glb, heap.glb, pile.glb, platform.glb, kick.glb, steps.glb,
# conveyor.glb, terrain.glb, hang.glb, rail.glb (samples/scenes), and report.html, which shows the
# bodies in a browser. The reports of all steps are in build/release/reports/.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
  sed -n '5,10s/^# \{0,1\}//p' "$0"
  exit 1
fi

tools/setup.sh build
. tools/ccache.sh

build=build/release
reports=$build/reports
out=out
mkdir -p "$reports" "$out"

# Runs a command; shows its output on a terminal, or if it fails.
quietly() {
  if [ -t 1 ]; then
    "$@"
  elif ! "$@" >"$reports/last.log" 2>&1; then
    cat "$reports/last.log" >&2
    echo "samples/run.sh: failed: $*" >&2
    exit 1
  fi
}

echo "Building ..."
# A new build folder leaves the tests out, which need further packages; tests/run.sh adds them.
tests=()
[ -e "$build/CMakeCache.txt" ] || tests=(-DPLUSH_BUILD_TESTS=OFF)
quietly cmake --preset release "${tests[@]}"
quietly cmake --build "$build" --target plush hello_drop pin_swing poke grab puppet \
  fixed_step plush_result_table

plush=$build/tools/plush

# usage: drop MODEL BAKE_OPTION...
drop() {
  local model=$1 source=samples/models/$1.glb
  shift
  echo "Baking, validating and dropping $model ..."
  "$plush" check "$source" -W -q
  "$plush" bake "$source" -o "$out/$model.plush" "$@" --report "$reports/$model.bake.json" -q
  "$plush" validate "$out/$model.plush" --source "$source" -q
  "$plush" info "$out/$model.plush" --json >"$reports/$model.info.json"
  "$plush" simulate "$out/$model.plush" --steps 500 --export "$out/$model.glb" \
    --stats "$reports/$model.stats.json" -q
}

# Soft enough to see them squash; samples/CMakeLists.txt bakes with the same options.
drop bear --tets 400 --young 4e4 --damping 0.15
drop duck --tets 450 --young 2e4 --damping 0.15
drop octopus --tets 900 --young 6e4 --damping 0.15

echo "Moving the bear by its joints ..."
"$plush" bake samples/models/bear.glb -o "$out/puppet.plush" --tets 2000 --young 3e4 --damping 0.05 \
  --pins samples/puppet/joints.json -q
cp samples/puppet/puppet.json "$out/"
"$plush" simulate "$out/puppet.json" --export "$out/puppet.glb" -q

"$plush" bake samples/scenes/hills.obj -o "$out/hills.plush" --static -q
cp samples/scenes/hills.f32 "$out/"
for scene in ramp press heap pile platform kick steps conveyor terrain hang rail; do
  echo "Running $scene ..."
  cp "samples/scenes/$scene.json" "$out/"
  "$plush" simulate "$out/$scene.json" --export "$out/$scene.glb" \
    --stats "$reports/$scene.stats.json" -q
done

echo "Writing the report ..."
"$plush" report "$out/bear.plush" "$out/duck.plush" "$out/octopus.plush" -o "$out/report.html" \
  --simulate "$out/ramp.json" -q

echo
"$build/samples/plush_result_table" "$reports" bear duck octopus \
  --scenes ramp press heap pile platform kick steps conveyor terrain hang rail
# Built if CMake has found Bullet (Debian: libbullet-dev).
if cmake --build "$build" --target help | grep bullet_coupling >/dev/null; then
  quietly cmake --build "$build" --target bullet_coupling
  echo
  echo "Boxes that Bullet moves, on bears:"
  "$build/samples/bullet_coupling" "$out/bear.plush"
fi
echo
echo "The fall of each is in $out/: bear.glb, duck.glb, octopus.glb (animated, any glTF viewer)."
echo "The bear moved by its joints: $out/puppet.glb, as $out/puppet.json says."
echo "On a ramp, in a press, in a heap: $out/ramp.glb, press.glb, heap.glb."
echo "Bodies that touch each other pile up: $out/pile.glb."
echo "On a platform, kicked, on steps and balls: $out/platform.glb, kick.glb, steps.glb."
echo "On two belts: $out/conveyor.glb. On hills: $out/terrain.glb. On springs: $out/hang.glb."
echo "Down a line, and carried by a point in a plane: $out/rail.glb."
echo "All three bodies and their way down the ramp: $out/report.html, for any browser."
echo "The game loop: $build/samples/hello_drop $out/duck.plush"
