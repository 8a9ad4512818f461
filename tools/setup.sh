#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the missing Debian packages that Plush needs. The only list of them.
#
# usage: tools/setup.sh [build] [test] [full] [farm] [blender]      (default: build)
#   build  to compile the runtime, the tools and the samples
#   test   also for tests/run.sh; tetgen also serves `plush bake --mesher tetgen`, libbullet-dev the
#          sample bullet_coupling. Puts the npm packages of tests/import into build/import_npm
#   full   also for tests/run.sh --full (second compiler, cross-compilers, clang-tidy) and for the
#          peers that plush_bench compares with
#   farm   a Slurm cluster for the test of `plush batch --slurm`
#   blender  Blender (1 GB) for the test of its add-on
set -euo pipefail

build=(
  g++ cmake ninja-build ccache pkg-config
  libflatbuffers-dev libhwy-dev
  libassimp-dev libdraco-dev libeigen3-dev libmetis-dev libtbb-dev libxxhash-dev libcgal-dev libcli11-dev
  libmeshoptimizer-dev libminizip-dev libpugixml-dev nlohmann-json3-dev
)
test=(
  catch2 libbenchmark-dev flatbuffers-compiler assimp-testmodels tetgen libbullet-dev python3
)
full=(
  clang-14 clang-format-14 clang-tidy-14
  g++-mingw-w64-x86-64-posix g++-aarch64-linux-gnu g++-i686-linux-gnu
  libembree-dev
)
farm=(slurm-wlm munge)
blender=(blender python3-numpy)

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    full) wanted+=("${full[@]}") ;;
    farm) wanted+=("${farm[@]}") ;;
    blender) wanted+=("${blender[@]}") ;;
    *)
      echo "tools/setup.sh: error: unknown group '$group' (build, test, full, farm, blender)" >&2
      exit 1
      ;;
  esac
done

# The tests that need these packages are skipped without them.
install_npm_packages() {
  local source folder=build/import_npm
  source=$(cd "$(dirname "$0")/.." && pwd)
  [[ " $* " == *" test "* ]] || return 0
  cmp -s "$source/tests/import/package-lock.json" "$source/$folder/package-lock.json" &&
    [ -e "$source/$folder/node_modules/.package-lock.json" ] && return
  if ! command -v npm >/dev/null; then
    echo "There is no npm, so the packages of tests/import/package-lock.json are not installed."
    return
  fi
  mkdir -p "$source/$folder"
  cp "$source"/tests/import/{package.json,package-lock.json,.npmrc} "$source/$folder"
  (cd "$source/$folder" && npm ci --no-audit --no-fund --ignore-scripts --silent) ||
    { echo "npm ci failed in $folder; is there a network?"; rm -rf "${source:?}/$folder"; }
}

like=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}") || like=""
if [[ " $like " != *" debian "* ]] || ! command -v apt-get >/dev/null; then
  echo "This is not a Debian system, so nothing is installed. Plush needs the content of these Debian 12"
  echo "packages (CMake 3.24 or later; gcc 12 or clang 14 or later):"
  printf '  %s\n' "${wanted[@]}"
  install_npm_packages "$@"
  exit 0
fi

# Another build of these programs may conflict with Debian's package.
if [[ " $* " == *" test "* ]]; then
  command -v node >/dev/null || wanted+=(nodejs)
  command -v npm >/dev/null || wanted+=(npm)
  command -v chromium >/dev/null || wanted+=(chromium)
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=""
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} = 0 ]; then
  install_npm_packages "$@"
  exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "tools/setup.sh: error: packages are missing. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing: ${missing[*]}"
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"
}
if ! apt-get install --simulate --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
  apt update
fi
# Outdated package lists name files that are gone: update them and try once more.
apt install --no-install-recommends "${missing[@]}" ||
  { apt update && apt install --no-install-recommends "${missing[@]}"; }
install_npm_packages "$@"
