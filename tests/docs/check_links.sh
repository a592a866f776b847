#!/usr/bin/env bash
# Every relative link of every Markdown file leads to a file, and every #fragment to a heading of it.
#
#   check_links.sh FOLDER    prints what is broken as file:line: link: reason; exit status 1 when there is anything
#
# Links in code (fenced blocks and `spans`) do not count. Links to other sites (scheme:) are not followed.
set -uo pipefail
cd "${1:?usage: check_links.sh FOLDER}" || exit 2

# The file without code, line by line.
without_code() {
  awk '/^ *(```|~~~)/ { fenced = !fenced; print ""; next } fenced { print ""; next } { gsub(/`[^`]*`/, ""); print }' "$1"
}

# The fragments that a file's headings get: lower case, spaces to hyphens, punctuation dropped, -1, -2 for repetitions.
fragments() {
  awk '/^ *(```|~~~)/ { fenced = !fenced; next } !fenced && /^#+ /' "$1" |
    sed -E 's/^#+ +//; s/ +#*$//; s/\[([^]]*)\]\([^)]*\)/\1/g' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^a-z0-9 _-]//g; s/ /-/g' | awk '{ n = seen[$0]++; print n ? $0 "-" n : $0 }'
}

files=0
links=0
broken=0
report() { printf '%s:%s: %s: %s\n' "$1" "$2" "$3" "$4"; broken=$((broken + 1)); }

while IFS= read -r -d '' file; do
  files=$((files + 1))
  folder=$(dirname -- "$file")
  while IFS=: read -r line link; do
    [[ $link =~ ^[a-zA-Z][a-zA-Z0-9+.-]*: ]] && continue
    links=$((links + 1))
    path=${link%%#*}
    fragment=
    [[ $link == *'#'* ]] && fragment=${link#*#}
    target=$file
    [ -z "$path" ] || target=$folder/$path
    if [ ! -e "$target" ]; then
      report "$file" "$line" "$link" "there is no such file"
    elif [ -n "$fragment" ] && ! fragments "$target" | grep -qxF -- "$fragment"; then
      report "$file" "$line" "$link" "the file has no such heading"
    fi
  done < <(without_code "$file" | awk '{
      rest = $0
      while (match(rest, /\]\([^() ]+( "[^"]*")?\)/)) {
        link = substr(rest, RSTART + 2, RLENGTH - 3)
        sub(/ ".*/, "", link)
        print NR ":" link
        rest = substr(rest, RSTART + RLENGTH)
      }
    }')
done < <(find . -name '*.md' -not -path './build/*' -not -path './.git/*' -not -path './heddle-out/*' -print0 | sort -z)

if [ "$links" = 0 ]; then
  echo "no links found in $files Markdown files below $PWD: is this the right folder?"
  exit 1
fi
echo "$links links in $files files, $broken broken"
[ "$broken" = 0 ]
