#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs three scenes of this folder with each way in which bodies can hold each other (`solver.contact`
# of a scene), and prints their table: energy, drift and time. run.sh describes the columns.
#
# usage: samples/scenes/contact/responses.sh [--steps N] [--every N] [SCENE...]
#
# hold             contact in the solve: the default
# pseudo_impulses  points that approach are stopped after each outer iteration [Civ, Eq. 3.51 to 3.53]
# snap             points move to the surface after the solve [Rio 8.2]
# penalty          springs push points out [Rio 8.1.1]
#
# Without scenes: stack, ring and slide. Leaves the scenes in out/contact.
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
[ $# -gt 0 ] || set -- stack ring slide
source samples/scenes/contact/bake.sh
bake_shapes

scenes=()
for scene in "$@"; do
  for method in hold pseudo_impulses snap penalty; do
    file=$out/${scene}_$method.json
    sed "1s/{/{\"solver\": {\"contact\": \"$method\"}, /" "$here/$scene.json" >"$file"
    scenes+=("$file")
  done
done
"$build/tests/scenes/plush_contact_table" "${options[@]}" "${scenes[@]}"
