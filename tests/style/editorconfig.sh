#!/usr/bin/env bash
# The rules of .editorconfig: UTF-8, LF, a newline at the end, no white space at line ends, no tabs, 120 columns in code.
set -euo pipefail
cd "$1"
bad=0
report() { printf '%s\n' "$@" >&2; bad=1; }
while IFS= read -r file; do
  case "$file" in
    *.png | *.bin | *.trace | tests/fuzz/corpus/* | *.ptx) continue ;;
  esac
  [ -s "$file" ] || continue
  iconv -f utf-8 -t utf-8 "$file" >/dev/null 2>&1 || report "$file: not UTF-8"
  [ -z "$(tail -c 1 "$file")" ] || report "$file: no newline at the end"
  found=$(grep -nP '\r$|[ \t]+$' "$file" | head -n 3) && report "$file: CR or white space at the end of a line:" "$found"
  found=$(grep -nP '\t' "$file" | head -n 3) && report "$file: tab:" "$found"
  case "$file" in
    *.hpp | *.cpp | *.cu | *.h | *.inc)
      found=$(grep -nP '^.{121,}' "$file" | head -n 3) && report "$file: longer than 120 columns:" "$found"
      ;;
  esac
done < <(if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files; else find . -type f -not -path './build/*' -not -path './.git/*'; fi)
exit "$bad"
