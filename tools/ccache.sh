# SPDX-License-Identifier: MIT
# Sourced by the scripts that build, in the root of the checkout. Compiles through ccache where there
# is one: in its own folder (CCACHE_DIR; else the user's cache folder), for checkouts at any path.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # else it keeps nothing that precompiled headers are used for
fi
