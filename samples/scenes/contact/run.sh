#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the scenes of this folder, in which bodies touch each other, and prints their table: contacts,
# intersecting pairs of triangles (ITPs), times of a step, the deepest vertex of a body inside another
# one as a share of the smaller one's size (and the step in which it was), what is left of it at the
# end, and how still the end is. Drift is the longest way of a body from 2 s on.
#
# usage: samples/scenes/contact/run.sh [--steps N] [--threads N] [--every N] [SCENE...]
#
# --every N: overlaps are measured every N steps (10), which takes longer than the steps. Leaves the
# baked shapes and the scenes in out/contact, for plush simulate.
set -euo pipefail
cd "$(dirname "$0")/../../.."

options=()
while [ $# -gt 1 ] && [[ $1 == --* ]]; do
  options+=("$1" "$2")
  shift 2
done
if [[ ${1:-} == -* ]]; then
  sed -n '3,12s/^# \{0,1\}//p' "$0"
  exit 1
fi
here=samples/scenes/contact
[ $# -gt 0 ] || set -- nest ride ring slide stack heavy_stack squeeze box funnel

build=build/release
[ -f "$build/build.ninja" ] || tools/setup.sh build test
[ -f "$build/build.ninja" ] || cmake --preset release
cmake --build "$build" --target plush plush_contact_table >/dev/null
out=out/contact
mkdir -p "$out"
cp "$here"/*.json "$out/"

# usage: bake SOURCE OPTION...
bake() {
  local name
  name=$(basename "${1%.*}")
  "$build/tools/plush" bake "$1" -o "$out/$name.plush" "${@:2}" --keep-unchanged -q
}
# The models are as soft as in samples/run.sh.
bake samples/models/bear.glb --tets 400 --young 4e4 --damping 0.15
bake samples/models/duck.glb --tets 450 --young 2e4 --damping 0.15
bake samples/models/octopus.glb --tets 900 --young 6e4 --damping 0.15
bake $here/nest.obj
bake $here/ring.obj --young 1e5 --damping 0.15
bake $here/cube.obj --tets 100 --young 1e7 --damping 0.03 --friction 0.5
bake $here/funnel.obj --static

scenes=()
for scene in "$@"; do scenes+=("$out/$scene.json"); done
"$build/tests/scenes/plush_contact_table" "${options[@]}" "${scenes[@]}"
