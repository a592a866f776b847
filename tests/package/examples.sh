#!/usr/bin/env bash
# Installs Heddle into an empty folder and builds examples against it with find_package: docs/examples/host, which links
# heddle::host alone, and docs/examples/platform, run with a memory of its own, and with every example memory of
# SystemC, where the examples are installed (Debian: libsystemc-doc).
#   examples.sh SOURCE BUILD COMPILER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$2" --prefix "$work/prefix" >"$work/install.log"
test -x "$work/prefix/bin/heddle"
(cd "$work" && "$work/prefix/bin/heddle" list configs >configs.log)
grep -q baseline "$work/configs.log"
test -f "$work/prefix/share/heddle/configs/energy/dws-memory.toml"
# The Python package finds the program beside it, and makes a wheel of the program's version that does too.
python3 -B - "$work/prefix" <<'PYTHON'
import os, sys, zipfile
os.environ.pop("HEDDLE", None)
prefix = sys.argv[1]
folder = f"{prefix}/share/heddle/python"
sys.path[:0] = [folder, f"{folder}/backend"]
import heddle, heddle_build
program = f"{prefix}/bin/heddle"
assert heddle.find_program().path == program, heddle.find_program()
assert heddle.run("lwm", "bfs", scale=0.001).verdict == "correct"
wheel = zipfile.ZipFile(f"{prefix}/" + heddle_build.build_wheel(prefix))
assert wheel.read("heddle/origin.txt").decode() == folder + "\n"
assert heddle.find_program().call(["--version"]).out == f"heddle {heddle_build.version()}\n"
PYTHON
# The folder that is laid out like CUDA's toolkit: its compiler and the host's make a program.
cp -r "$1/tests/cuda/programs/toolkit" "$work/toolkit"
make -C "$work/toolkit" CUDA_PATH="$("$work/prefix/bin/heddle" toolkit)" shared >"$work/toolkit.log" 2>&1 ||
  { cat "$work/toolkit.log"; exit 1; }
test "$(cd "$work" && "$work/prefix/bin/heddle" exec --quiet -- toolkit/shared)" = "1 device: 42"
test "$(HEDDLE_EXEC_OPTIONS=--quiet LD_LIBRARY_PATH="$work/prefix/lib/heddle" "$work/toolkit/shared")" = "1 device: 42"
for example in host platform; do
  cmake -S "$1/docs/examples/$example" -B "$work/$example" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_CXX_COMPILER="$3" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" >"$work/configure.log"  # what they show does not depend on it
  cmake --build "$work/$example" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
done
for library in workloads measure pages studies; do
  if grep -q "libheddle_$library" "$work/host/build.ninja"; then
    echo "heddle::host links libheddle_$library"
    exit 1
  fi
done
"$work/host/host" "$1/docs/examples/saxpy/saxpy.cu"
HEDDLE_CONFIGS="$work/prefix/share/heddle/configs" "$work/host/host" "$1/docs/examples/saxpy/saxpy.cu" lwm
"$work/platform/platform"
if [ -x "$work/platform/platform_accellera" ]; then
  for memory in at-4-phase at-2-phase at-1-phase lt lt-dmi; do
    echo "$memory"
    "$work/platform/platform_accellera" "$memory"
  done
elif [ -d /usr/share/doc/libsystemc/examples ]; then
  echo "SystemC's example models are there, and platform_accellera was not built"
  exit 1
else
  echo "no example models of SystemC (libsystemc-doc): platform_accellera was not built"
fi
