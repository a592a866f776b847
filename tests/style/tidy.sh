#!/usr/bin/env bash
# clang-tidy finds nothing (.clang-tidy) in the .cpp files below the given folders and in the headers they include.
#   tidy.sh SOURCE BUILD CLANG_TIDY FOLDER...
set -euo pipefail
cd "$1"
build=$2
tidy=$3
shift 3
# clang cannot read the headers that gcc has precompiled, and does not know of gcc's memory.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -Winvalid-pch//g; s/ -include [^ ]*cmake_pch\.hxx//g; s/ --param=ggc-[^ ]*//g' "$build/compile_commands.json" \
  >"$commands/compile_commands.json"
find "$@" -name '*.cpp' -print0 | sort -z | xargs -0 -n 2 -P 2 "$tidy" -p "$commands" --quiet
