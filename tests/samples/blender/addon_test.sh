#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the operators of the Blender add-on in Blender without a window (addon_test.py).
#
# usage: PLUSH_TEST_FULL=1 addon_test.sh PLUSH WORK_DIR
set -euo pipefail
[ $# = 2 ] || { sed -n '5s/^# //p' "$0"; exit 1; }
[ "${PLUSH_TEST_FULL:-0}" != 0 ] || { echo "SKIPPED: tests/run.sh --full runs the group blender"; exit 0; }
command -v blender >/dev/null || { echo "SKIPPED: there is no blender (tools/setup.sh blender)"; exit 0; }
plush=$(realpath "$1") work=$(realpath -m "$2") here=$(realpath "$(dirname "$0")")
blender -b --factory-startup --python-exit-code 3 -P "$here/addon_test.py" -- \
  "$here/../../../samples/blender/plush_addon.py" "$plush" "$work"
