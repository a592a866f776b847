#!/usr/bin/env bash
# The rules of .editorconfig: UTF-8, LF, a newline at the end, no white space at line ends, no tabs, 120 columns in code.
set -euo pipefail
cd "$1"
bad=0
# What its standard input says, if anything, under a heading.
report() {
  local found
  found=$(head -n 20)
  [ -z "$found" ] || { printf '%s:\n%s\n' "$1" "$found" >&2; bad=1; }
}
texts=() code=() untabbed=()
while IFS= read -r file; do
  case "$file" in
    *.png | *.bin | *.trace | tests/fuzz/corpus/* | *.ptx) continue ;;
  esac
  [ -f "$file" ] && [ -s "$file" ] || continue
  texts+=("$file")
  [ "${file##*/}" = Makefile ] || untabbed+=("$file")  # whose recipes begin with one
  case "$file" in
    *.hpp | *.cpp | *.cu | *.h | *.inc) code+=("$file") ;;
  esac
done < <(if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files; else find . -type f -not -path './build/*' -not -path './.git/*'; fi)
[ ${#code[@]} -ne 0 ] || { echo "no files below $1" >&2; exit 1; }

utf8=C.UTF-8
report "not UTF-8" < <(LC_ALL=$utf8 grep -naxv '.*' -- "${texts[@]}")
report "CR or white space at the end of a line" < <(LC_ALL=C grep -naE $'\r$|[ \t]+$' -- "${texts[@]}")
report "tab" < <(LC_ALL=C grep -naF $'\t' -- "${untabbed[@]}")
report "longer than 120 columns" < <(LC_ALL=$utf8 grep -naE '^.{121}' -- "${code[@]}")
if [ "$(tail -q -c 1 -- "${texts[@]}" | tr -d '\n' | wc -c)" -ne 0 ]; then
  report "no newline at the end" < <(for file in "${texts[@]}"; do [ -z "$(tail -c 1 "$file")" ] || echo "$file"; done)
fi
exit "$bad"
