#!/usr/bin/env bash
# clang-tidy finds nothing (.clang-tidy) in the .cpp files below the given folders and in the headers they include.
#   tidy.sh SOURCE BUILD CLANG_TIDY FOLDER...
set -euo pipefail
cd "$1"
build=$2
tidy=$3
shift 3
find "$@" -name '*.cpp' -print0 | sort -z | xargs -0 -n 2 -P 2 "$tidy" -p "$build" --quiet
