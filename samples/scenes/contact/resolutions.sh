#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lets a body ride on another one at three resolutions of their surfaces, in cages of the same size,
# and prints a table (see run.sh). Writes contacts, intersecting pairs of triangles (ITPs) and the
# time of a step over time, as [Civ, Fig. 5.10], to out/contact/ride_{1,2,3}.csv, and their plot to
# out/contact/ride.svg.
#
# usage: samples/scenes/contact/resolutions.sh [--models FOLDER] [--steps N]
#
# FOLDER has armadillo_{1k,10k,86k}.obj and horse_{1k,10k,97k}.obj. Without it, the octopus of the
# samples rides on the duck, with collision surfaces simplified to 600 and 2,500 triangles, and whole.
set -euo pipefail
cd "$(dirname "$0")/../../.."

models=
options=(--steps 500 --every 10)
while [ $# -gt 0 ]; do
  case $1 in
    --models) models=${2:?} ;;
    --steps) options+=(--steps "${2:?}") ;;
    *)
      sed -n '3,12s/^# \{0,1\}//p' "$0"
      exit 1
      ;;
  esac
  shift 2
done
source samples/scenes/contact/bake.sh

# usage: bake_as NAME SOURCE OPTION...
bake_as() {
  "$build/tools/plush" bake "$2" -o "$out/$1.plush" "${@:3}" --keep-unchanged -q
}

# The horse is held at its feet.
echo '{"regions": [{"name": "pin", "box": [[-1, -1, -2], [1, -0.26, 2]]}]}' >"$out/mount_pins.json"
scenes=()
for level in 1 2 3; do
  if [ -n "$models" ]; then
    names=(1k 10k 86k 1k 10k 97k)
    bake_as "rider_$level" "$models/armadillo_${names[level - 1]}.obj" --scale 1.6 --tets 450 \
      --young 5e4 --damping 0.15 --density 80 --friction 1
    bake_as "mount_$level" "$models/horse_${names[level + 2]}.obj" --up z --scale 6 --tets 300 \
      --young 2e5 --damping 0.15 --pins "$out/mount_pins.json"
  else
    triangles=(600 2500)
    simplify=()
    [ "$level" = 3 ] || simplify=(--collision-triangles "${triangles[level - 1]}" --collision-distance 0.02)
    bake_as "rider_$level" samples/models/octopus.glb --tets 900 --young 6e4 --damping 0.15 "${simplify[@]}"
    bake_as "mount_$level" samples/models/duck.glb --tets 450 --young 1e5 --damping 0.15 "${simplify[@]}"
  fi
  sed "s/\(mount\|rider\)/&_$level/" "$here/resolutions${models:+_models}.json" >"$out/ride_$level.json"
  scenes+=("$out/ride_$level.json")
done
"$build/tests/scenes/plush_contact_table" "${options[@]}" --series "$out" "${scenes[@]}"

# Three plots below each other, with a line for each resolution.
awk -F, '
FNR == 1 { ++file; next }
{
  ++rows[file]
  x[file, rows[file]] = $1
  if ($1 > last) last = $1
  for (k = 0; k < 3; ++k) {
    value[k, file, rows[file]] = $(k + 2)
    if ($(k + 2) > most[k]) most[k] = $(k + 2)
  }
}
END {
  split("contacts,ITPs,ms per step", title, ",")
  split("#4f7cac,#3fa34d,#d62839", colour, ",")
  split("coarse,medium,fine", name, ",")
  wide = 640; high = 150; left = 60; gap = 40
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
         wide + left + 20, 3 * (high + gap) + 40
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  for (f = 1; f <= file; ++f)
    printf "<text x=\"%d\" y=\"18\" fill=\"%s\">%s</text>\n", left + 80 * (f - 1), colour[f], name[f]
  for (k = 0; k < 3; ++k) {
    top = 30 + k * (high + gap)
    scale = most[k] > 0 ? high / most[k] : 0
    printf "<path d=\"M%d %d v%d h%d\" fill=\"none\" stroke=\"black\"/>\n", left, top, high, wide
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n", left - 4, top + 10, most[k]
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n", left - 4, top + high
    printf "<text x=\"%d\" y=\"%d\">%s</text>\n", left + 6, top + 12, title[k + 1]
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%g s</text>\n", left + wide, top + high + 15, last
    for (f = 1; f <= file; ++f) {
      printf "<polyline fill=\"none\" stroke=\"%s\" points=\"", colour[f]
      for (i = 1; i <= rows[f]; ++i)
        printf "%.1f,%.1f ", left + wide * x[f, i] / last, top + high - scale * value[k, f, i]
      print "\"/>"
    }
  }
  print "</svg>"
}' "$out"/ride_1.csv "$out"/ride_2.csv "$out"/ride_3.csv >"$out/ride.svg"
echo "wrote $out/ride_1.csv, ride_2.csv, ride_3.csv and ride.svg"
