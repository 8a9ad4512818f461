#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints tables of the papers' experiments: energies of a beam by stress differential, with all and
# with ten linear iterations, and how fast it falls by stiffness and iterations [Civ 3.3.5];
# degenerate tets over time by rotation method [Civ 4.5]. Takes some minutes. Leaves the curves in
# out/papers, as CSV and SVG. PLUSH_TEST_MODELS=FOLDER adds those of models.
#
# usage: samples/papers/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -gt 0 ]; then
  sed -n '3,8s/^# \{0,1\}//p' "$0"
  exit 1
fi

build=build/release
[ -f "$build/build.ninja" ] || tools/setup.sh build
cmake --build "$build" --target plush_runtime_tests
out=out/papers
mkdir -p "$out"
PLUSH_CURVES=$out "$build/tests/plush_runtime_tests" "[papers]"
for csv in "$out"/*.csv; do samples/papers/plot.sh "$csv" >"${csv%.csv}.svg"; done
echo "wrote $(find "$out" -name '*.svg' | wc -l) curves to $out"
