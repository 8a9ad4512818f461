#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the scenes of this folder, in which bodies touch each other, and prints their table: contacts,
# intersecting pairs of triangles (ITPs), times of a step, the deepest vertex of a body inside another
# one as a share of the smaller one's size (and the step in which it was), what is left of it at the
# end, and how still the end is. Drift is the longest way of a body from 2 s on. Energy is kinetic,
# elastic and of gravity, over that of the start.
#
# usage: samples/scenes/contact/run.sh [--models FOLDER] [--steps N] [--threads N] [--every N]
#                                       [SCENE...]
#
# --models FOLDER: nest, ring and slide run with detailed bodies, as nest_models, ring_models and
# slide_models. FOLDER has armadillo_10k.obj, horse_10k.obj and cheburashka_13k.obj.
# --every N: overlaps are measured every N steps (10), which takes longer than the steps. Leaves the
# baked shapes and the scenes in out/contact, for plush simulate.
set -euo pipefail
cd "$(dirname "$0")/../../.."

models=
options=()
while [ $# -gt 1 ] && [[ $1 == --* ]]; do
  if [ "$1" = --models ]; then models=$2; else options+=("$1" "$2"); fi
  shift 2
done
if [[ ${1:-} == -* ]]; then
  sed -n '3,16s/^# \{0,1\}//p' "$0"
  exit 1
fi
[ $# -gt 0 ] || set -- nest ride ring slide stack heavy_stack squeeze box funnel
source samples/scenes/contact/bake.sh
bake_shapes
[ -z "$models" ] || bake_models "$models"

scenes=()
for scene in "$@"; do
  [ -z "$models" ] || [ ! -f "$here/${scene}_models.json" ] || scene+=_models
  scenes+=("$out/$scene.json")
done
"$build/tests/scenes/plush_contact_table" "${options[@]}" "${scenes[@]}"
