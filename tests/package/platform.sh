#!/usr/bin/env bash
# Installs Heddle into an empty folder, builds docs/examples/platform against it with find_package, and runs it: with a
# memory of its own, and with every example memory of SystemC, where those are installed (Debian: libsystemc-doc).
#   platform.sh SOURCE BUILD COMPILER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$2" --prefix "$work/prefix" >"$work/install.log"
test -x "$work/prefix/bin/heddle"
(cd "$work" && "$work/prefix/bin/heddle" list configs | grep -q baseline)
cmake -S "$1/docs/examples/platform" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$3" -DCMAKE_BUILD_TYPE=Release >"$work/configure.log"
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/build/platform"
if [ -x "$work/build/platform_accellera" ]; then
  for memory in at-4-phase at-2-phase at-1-phase lt lt-dmi; do
    echo "$memory"
    "$work/build/platform_accellera" "$memory"
  done
elif [ -d /usr/share/doc/libsystemc/examples ]; then
  echo "SystemC's example models are there, and platform_accellera was not built"
  exit 1
else
  echo "no example models of SystemC (libsystemc-doc): platform_accellera was not built"
fi
