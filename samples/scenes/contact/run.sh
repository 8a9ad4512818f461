#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the scenes of this folder, in which bodies touch each other, and prints their table: contacts,
# intersecting pairs of triangles (ITPs), times of a step, the deepest vertex of a body inside another
# one as a share of the smaller one's size (and the step in which it was), what is left of it at the
# end, and how still the end is. Drift is the longest way of a body from 2 s on. Energy is kinetic,
# elastic and of gravity, over that of the start.
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
  sed -n '3,13s/^# \{0,1\}//p' "$0"
  exit 1
fi
[ $# -gt 0 ] || set -- nest ride ring slide stack heavy_stack squeeze box funnel
source samples/scenes/contact/bake.sh
bake_shapes

scenes=()
for scene in "$@"; do scenes+=("$out/$scene.json"); done
"$build/tests/scenes/plush_contact_table" "${options[@]}" "${scenes[@]}"
