#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Golden motion: builds the runner and compares, or rewrites, what tests/golden keeps.
#
# usage: tests/golden.sh [--update] [SCENE...]
#   --update  rewrites the files and prints what has moved: put that into the commit's message
#
# Without SCENE: all scenes, the baked models and the errors of motion.
set -euo pipefail
cd "$(dirname "$0")/.."

verb=compare
[ "${1:-}" = --update ] && verb=update && shift
case ${1:-} in -*)
  sed -n '5,8s/^# \{0,1\}//p' "$0"
  exit 1
  ;;
esac
. tools/ccache.sh
build=build/release
cmake --preset release -DPLUSH_BUILD_TESTS=ON -DPLUSH_ASAN_TESTS=ON >/dev/null
cmake --build $build --target plush_golden plush_golden_deterministic plush_motion_golden >/dev/null
golden() { $build/tests/golden/plush_golden_deterministic "$1" $build/tests/golden/assets tests/golden "${@:2}"; }

code=0
mkdir -p tests/golden/scenes
golden $verb "$@" || code=1
if [ $# = 0 ]; then
  if [ $verb = update ]; then
    $build/tests/golden/motion_errors/plush_motion_golden --update || code=1
    for file in tests/golden/scenes/*.txt; do
      golden list | grep -qx "$(basename "$file" .txt)" || rm -v "$file"
    done
  else
    golden bakes || code=1
    ctest --test-dir $build -R '^golden: error of the motion' --output-on-failure || code=1
  fi
fi
exit $code
