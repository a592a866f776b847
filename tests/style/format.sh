#!/usr/bin/env bash
# Every C++ and CUDA file is as clang-format leaves it (.clang-format).
set -euo pipefail
cd "$1"
find base isa ptx tlm hw traces os cuda tb workloads studies cli tests docs \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.h' \) -print0 |
  xargs -0 -n 40 "$2" --dry-run -Werror --style=file
