#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the shapes of the scenes, which are kept next to it, to a folder.
#
# usage: samples/scenes/contact/make_shapes.sh FOLDER
#
# cube.obj    0.2 m, its faces are 4 x 4 squares; its bottom is at y = 0
# ring.obj    a torus about the y axis through the origin
# nest.obj    a bowl with a rough inside, closed; its bottom is at y = 0
# funnel.obj  an open surface, seen from inside; the hole is 1.5 m wide and ends at y = 0
set -euo pipefail

if [ $# -ne 1 ]; then
  sed -n '5,10s/^# \{0,1\}//p' "$0"
  exit 1
fi
folder=$1

# Functions of all shapes. Faces are counterclockwise seen from outside.
common='
function vertex(x, y, z) { printf "v %.6g %.6g %.6g\n", x, y, z; return ++vertices }
function triangle(a, b, c) { printf "f %d %d %d\n", a, b, c }
function quad(a, b, c, d) { triangle(a, b, c); triangle(a, c, d) }

# Rings of n points about the y axis; at[k, i]: point i of ring k. join_rings(upper, lower) faces the
# axis, join_rings(lower, upper) away from it.
function join_rings(k, l, n,   i, j) {
  for (i = 0; i < n; ++i) {
    j = (i + 1) % n
    quad(at[k, i], at[k, j], at[l, j], at[l, i])
  }
}
function add_ring(k, radius, y, n,   i, a) {
  for (i = 0; i < n; ++i) {
    a = 2 * pi * i / n
    at[k, i] = vertex(radius * sin(a), y, radius * cos(a))
  }
}
BEGIN { pi = atan2(0, -1) }
'

awk "$common"'
function corner(i, j, k,   key) {
  key = i "," j "," k
  if (!(key in number)) number[key] = vertex(size * (i / n - 0.5), size * j / n, size * (k / n - 0.5))
  return number[key]
}
BEGIN {
  n = 4; size = 0.2
  for (a = 0; a < n; ++a) for (b = 0; b < n; ++b) {
    quad(corner(n, a, b), corner(n, a + 1, b), corner(n, a + 1, b + 1), corner(n, a, b + 1))
    quad(corner(0, a, b), corner(0, a, b + 1), corner(0, a + 1, b + 1), corner(0, a + 1, b))
    quad(corner(a, n, b), corner(a, n, b + 1), corner(a + 1, n, b + 1), corner(a + 1, n, b))
    quad(corner(a, 0, b), corner(a + 1, 0, b), corner(a + 1, 0, b + 1), corner(a, 0, b + 1))
    quad(corner(a, b, n), corner(a + 1, b, n), corner(a + 1, b + 1, n), corner(a, b + 1, n))
    quad(corner(a, b, 0), corner(a, b + 1, 0), corner(a + 1, b + 1, 0), corner(a + 1, b, 0))
  }
}' >"$folder/cube.obj"

awk "$common"'
BEGIN {
  rings = 16; n = 40; radius = 0.22; tube = 0.075
  for (k = 0; k < rings; ++k) {
    a = 2 * pi * k / rings
    add_ring(k, radius + tube * cos(a), tube * sin(a), n)
  }
  for (k = 0; k < rings; ++k) join_rings(k, (k + 1) % rings, n)
}' >"$folder/ring.obj"

# From the middle of the inside over the rim to the middle of the bottom.
awk "$common"'
function inside(r, a,   x, z) {
  x = r * sin(a); z = r * cos(a)
  return 0.12 + 0.75 * r * r + 0.03 * sin(21 * x + 3 * z) * cos(19 * z - 4 * x)
}
BEGIN {
  n = 40; rings = 13; radius = 0.72
  middle = vertex(0, inside(0, 0), 0)
  for (k = 1; k <= rings; ++k) for (i = 0; i < n; ++i) {
    a = 2 * pi * i / n; r = radius * k / rings
    at[k, i] = vertex(r * sin(a), inside(r, a), r * cos(a))
  }
  add_ring(rings + 1, 0.78, 0.30, n)
  add_ring(rings + 2, 0.55, 0, n)
  bottom = vertex(0, 0, 0)
  for (i = 0; i < n; ++i) {
    j = (i + 1) % n
    triangle(middle, at[1, i], at[1, j])
    triangle(bottom, at[rings + 2, j], at[rings + 2, i])
  }
  for (k = 1; k < rings + 2; ++k) join_rings(k + 1, k, n)
}' >"$folder/nest.obj"

# Its faces are small: one whose box reaches far into the funnel would be tested with all that is there.
awk "$common"'
BEGIN {
  n = 48; rings = 12
  add_ring(0, 0.75, 0, n); add_ring(1, 0.75, 0.3, n)
  for (k = 0; k <= rings; ++k) add_ring(k + 2, 0.75 + 2.25 * k / rings, 0.6 + 2.4 * k / rings, n)
  for (k = 1; k <= rings + 2; ++k) join_rings(k, k - 1, n)
}' >"$folder/funnel.obj"
