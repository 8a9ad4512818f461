#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `plush batch` on full disks and on a read-only cache, which are real file systems here. Nothing that was
# there before may be lost, nothing half may stay, the message must say why, and the run after it must
# do the rest. Needs root and the right to mount; otherwise it is skipped.
#
# usage: batch_disks.sh PLUSH WORK_DIR
set -uo pipefail
[ $# = 2 ] || { sed -n '7s/^# //p' "$0"; exit 1; }
command -v ninja >/dev/null || { echo "SKIPPED: there is no ninja"; exit 0; }
plush=$(realpath "$1") work=$2
failed=0

rm -rf "$work"
mkdir -p "$work/models" "$work/small"
cd "$work" || exit
mount -t tmpfs -o size=256k plush_test small 2>/dev/null || { echo "SKIPPED: this user may not mount"; exit 0; }
trap 'umount small' EXIT

box() { printf 'v 0 0 0\nv 1 0 0\nv 0 1.%d 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' "$1"; }
for i in $(seq 12); do box "$i" >"models/box$i.obj"; done
echo '{"root": "models", "inputs": ["*.obj"], "options": [{"match": "**", "bake": {"tets": 30}}]}' >batch.json
sums() { (cd "$1" && find . -name '*.plush' -exec sha256sum {} + | LC_ALL=C sort -k2); }
# check WHAT COMMAND...
check() { "${@:2}" || { echo "$1"; failed=1; }; }
code_of() { "$@" 2>err >out; echo $?; }

"$plush" batch batch.json -o expected -q || exit
sums expected >expected.sums

# The tree's disk is full: some bakes fail, whole assets stay, the next run makes the others.
check "a full tree: the exit code" [ "$(code_of "$plush" batch batch.json -o small/tree --report report.json)" = 2 ]
check "a full tree: the message" grep -q "No space left on device" err
check "a full tree: temporary files" [ -z "$(find small -name '*.tmp*')" ]
sums small/tree >tree.sums
check "a full tree: some assets" [ -s tree.sums ]
check "a full tree: other bytes" [ -z "$(grep -vxFf expected.sums tree.sums)" ]
mount -o remount,size=8m small
check "the run after a full tree" [ "$(code_of "$plush" batch batch.json -o small/tree -q)" = 0 ]
check "the run after a full tree: bytes" cmp -s <(sums small/tree) expected.sums

# The cache's disk is full: all assets are made, and the report says what could not be kept.
rm -rf small/tree
mount -o remount,size=64k small
check "a full cache: the exit code" [ "$(code_of "$plush" batch batch.json -o tree --cache small/cache --report report.json)" = 0 ]
check "a full cache: the finding" grep -q CACHE_NOT_WRITTEN report.json
check "a full cache: its reason" grep -q "No space left on device" report.json
check "a full cache: bytes" cmp -s <(sums tree) expected.sums
check "a full cache: temporary files" [ -z "$(find small -name 'tmp-*')" ]

# A read-only cache: it gives what it has, and the rest is baked.
mount -o remount,size=8m small
rm -rf tree
"$plush" batch batch.json -o tree --cache small/cache -q
box 77 >models/box1.obj
rm -rf tree expected
"$plush" batch batch.json -o expected -q
sums expected >expected.sums
mount -o remount,ro small
check "a read-only cache: the exit code" [ "$(code_of "$plush" batch batch.json -o tree --cache small/cache --report report.json)" = 0 ]
check "a read-only cache: hits" grep -q '"cached": 11' report.json
check "a read-only cache: the finding" grep -q "Read-only file system" report.json
check "a read-only cache: bytes" cmp -s <(sums tree) expected.sums
check "a read-only tree: the exit code" [ "$(code_of "$plush" batch batch.json -o small/tree)" = 2 ]
check "a read-only tree: the message" grep -q "Read-only file system" err
mount -o remount,rw small

[ "$failed" = 0 ] && echo "full disks and read-only ones: clear messages, nothing lost"
exit $failed
