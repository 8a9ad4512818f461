#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws a file of curves as SVG: the first column goes along, each other one is a line.
#
# usage: samples/papers/plot.sh FILE.csv >FILE.svg
set -euo pipefail
if [ $# -ne 1 ]; then
  sed -n '3,5s/^# \{0,1\}//p' "$0"
  exit 1
fi

awk -F, -v title="$(basename "$1" .csv)" '
NR == 1 { for (k = 2; k <= NF; ++k) name[k] = $k; columns = NF; next }
{
  ++rows
  x[rows] = $1
  if ($1 > last) last = $1
  for (k = 2; k <= columns; ++k) {
    value[k, rows] = $k
    if ($k + 0 > most) most = $k
    if ($k + 0 < least) least = $k
  }
}
END {
  split("- #d62839 #4f7cac #3fa34d #e09f3e", colour, " ")
  wide = 640; high = 300; left = 60; top = 40
  if (most == least) most = least + 1
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
         wide + left + 20, high + top + 30
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  printf "<text x=\"%d\" y=\"18\">%s</text>\n", left, title
  for (k = 2; k <= columns; ++k)
    printf "<text x=\"%d\" y=\"34\" fill=\"%s\">%s</text>\n", left + 80 * (k - 2), colour[k], name[k]
  scale = high / (most - least)
  zero = top + scale * most
  printf "<path d=\"M%d %d v%d M%d %.1f h%d\" fill=\"none\" stroke=\"black\"/>\n", left, top, high, left, zero, wide
  printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n", left - 4, top + 10, most
  printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n", left - 4, top + high, least
  printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%g s</text>\n", left + wide, top + high + 20, last
  for (k = 2; k <= columns; ++k) {
    printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour[k]
    for (i = 1; i <= rows; ++i)
      printf "%.1f,%.1f ", left + wide * x[i] / last, zero - scale * value[k, i]
    print "\"/>"
  }
  print "</svg>"
}' "$1"
