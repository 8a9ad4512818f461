#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures `plush batch`, prints a line per figure beside what is required, and fails if one is missed.
# Times are medians of five runs, the efficiency is of one run. Failed bakes count as no time.
#
#   efficiency  max(sum of times / cores, longest) over the batch's time, for a model collection
#   no work     1,000 assets of which none has changed
#   plan        a manifest that matches 10,000 files
#   cached      1,000 assets, all from the cache
#   hit         one `plush bake` that the cache answers
#
# usage: batch_figures.sh PLUSH CORPUS WORK_DIR
#   PLUSH     the executable
#   CORPUS    folder of the models (Debian: /usr/share/assimp/models)
#   WORK_DIR  scratch folder, emptied first
set -euo pipefail
[ $# = 3 ] || { sed -n '12,15s/^# \{0,1\}//p' "$0"; exit 1; }
plush=$(realpath "$1") corpus=$(realpath "$2") work=$3
failed=0

# Seconds that a command takes, and its processor time.
seconds() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" >/dev/null 2>&1 || true; } 2>&1 | awk '{ printf "%s %.3f", $1, $2 + $3 }'
}

# median SETUP COMMAND...: of five runs; SETUP runs before each of them.
median() {
  local setup=$1 run
  shift
  for run in 1 2 3 4 5; do
    $setup
    seconds "$@"
    echo
  done | sort -g | sed -n 3p
}

# report NAME VALUE RELATION LIMIT UNIT [PROCESSOR_TIME]
report() {
  local verdict=ok
  awk -v a="$2" -v b="$4" -v r="$3" 'BEGIN { exit !(r == "<=" ? a <= b : a >= b) }' ||
    { verdict=MISSED; failed=1; }
  printf '%-11s %8s %-2s  required %s %s  %s%s\n' "$1" "$2" "$5" "$3" "$4" "$verdict" \
    "${6:+  ($6 s of processor time)}"
}

# boxes FOLDER COUNT: boxes of different sizes, a hundred to a folder.
boxes() {
  local i folder
  for ((i = 0; i < $2; ++i)); do
    folder=$1/$((i / 100))
    [ $((i % 100)) != 0 ] || mkdir -p "$folder"
    printf 'v 0 0 0\nv 1 0 0\nv 0 1.%04d 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' $i \
      >"$folder/box$i.obj"
  done
}

manifest() {
  echo '{"root": "'"$1"'", "output": "'"$2"'", "inputs": ["**/*.obj"], "options": [{"match": "**", "bake": {"tets": 40}}]}'
}

rm -rf "$work"
mkdir -p "$work"
cd "$work"

boxes ten 10000
boxes one 1000
manifest ten plan >plan.json
manifest one tree >batch.json
read -r wall cpu <<<"$(median 'rm -rf plan' "$plush" batch plan.json --plan)"
report plan "$wall" '<=' 1 s "$cpu"

"$plush" batch batch.json --cache cache -q
read -r wall cpu <<<"$(median true "$plush" batch batch.json --cache cache -q)"
report 'no work' "$wall" '<=' 0.3 s "$cpu"
read -r wall cpu <<<"$(median 'rm -rf tree' "$plush" batch batch.json --cache cache -q)"
report cached "$wall" '<=' 6 s "$cpu"
"$plush" bake one/0/box7.obj -o hit.plush --tets=40 --cache cache -q
read -r wall cpu <<<"$(median true "$plush" bake one/0/box7.obj -o hit.plush --tets=40 --cache cache -q)"
report hit "$wall" '<=' 0.010 s "$cpu"

# The times of the bakes are those of the batch itself: Ninja's log has them.
cat >corpus.json <<END
{"root": "$corpus", "output": "corpus", "names": "full", "inputs": ["**"]}
END
cores=2
read -r elapsed cpu <<<"$(seconds "$plush" batch corpus.json -q --jobs $cores --report corpus_report.json)"
bound=$(awk -F '\t' -v n=$cores 'NF == 5 && $4 !~ /json$/ { t = ($2 - $1) / 1000; s += t; if (t > m) m = t }
  END { print (s / n > m ? s / n : m) }' corpus/.batch/.ninja_log)
report efficiency "$(awk -v a="$bound" -v b="$elapsed" 'BEGIN { printf "%.3f", a / b }')" '>=' 0.9 '' "$cpu"
exit $failed
