#!/usr/bin/env bash
# The examples of docs/extending.md as files, so that a test can compile and run them (tests/CMakeLists.txt).
#
#   extract.sh SOURCES OUT    SOURCES: the source tree. OUT holds nothing else; files that do not change keep their time
#
# A block of C++, CUDA or TOML is, by the paragraph before it,
#   a file             when that names one last, in `...`, that the source tree does not have: OUT/files/NAME
#   lines of a list    when that is tests/model/machines.hpp or tb/measure/summary.inc: OUT/lines/machines.inc, .../summary.inc
#   an excerpt         otherwise: OUT/excerpts/LINE, after a first line with all files that its section names or links to
# Every command that begins with `./heddle run` is a line of OUT/commands.
set -euo pipefail
sources=$(cd "${1:?usage: extract.sh SOURCES OUT}" && pwd)
out=${2:?usage: extract.sh SOURCES OUT}
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
mkdir -p "$fresh/files" "$fresh/lines" "$fresh/excerpts" "$out"
: >"$fresh/commands"
: >"$fresh/lines/machines.inc"
: >"$fresh/lines/summary.inc"

awk -v sources="$sources" -v out="$fresh" '
  function there(path,    line) {
    return (getline line < (sources "/" path)) >= 0 && close(sources "/" path) == 0
  }
  # All paths of source files in a text, in order.
  function paths(text,    found) {
    found = ""
    while (match(text, /[A-Za-z0-9_.\/]+\/[A-Za-z0-9_]+\.(cpp|hpp|cu|inc)/)) {
      found = found " " substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
    }
    gsub(/\.\.\//, "", found)
    return found
  }
  function last_named(text,    name) {
    name = ""
    while (match(text, /`[A-Za-z0-9_\/]+\/[A-Za-z0-9_]+\.(cpp|hpp|cu|inc|toml)`/)) {
      name = substr(text, RSTART + 1, RLENGTH - 2)
      text = substr(text, RSTART + RLENGTH)
    }
    return name
  }
  function commands(text) {
    while (match(text, /`\.\/heddle run [^`]*`/)) {
      print substr(text, RSTART + 14, RLENGTH - 15) > (out "/commands")
      text = substr(text, RSTART + RLENGTH)
    }
  }
  function flush_excerpts(    i) {
    for (i = 1; i <= excerpts; ++i) {
      print section > excerpt_file[i]
      printf "%s", excerpt_text[i] > excerpt_file[i]
      close(excerpt_file[i])
    }
    excerpts = 0
    section = ""
  }
  fenced {
    if ($0 ~ /^```/) {
      fenced = 0
      if (kind == "excerpt") {
        ++excerpts
        excerpt_file[excerpts] = out "/excerpts/" begin
        excerpt_text[excerpts] = text
      } else if (kind == "file") {
        system("mkdir -p \"$(dirname \"" target "\")\"")
        printf "%s", text > target
        close(target)
      } else if (kind == "list") {
        printf "%s", text >> target
        close(target)
      }
      paragraph = ""
      next
    }
    text = text $0 "\n"
    next
  }
  /^## / { commands(paragraph); flush_excerpts(); paragraph = ""; next }
  /^```/ {
    fenced = 1
    text = ""
    begin = NR
    name = last_named(paragraph)
    commands(paragraph)
    kind = $0 !~ /^```(cpp|cuda|toml)$/ ? "" : "excerpt"
    if (kind != "" && name == "tests/model/machines.hpp") {
      kind = "list"
      target = out "/lines/machines.inc"
    } else if (kind != "" && name == "tb/measure/summary.inc") {
      kind = "list"
      target = out "/lines/summary.inc"
    } else if (kind != "" && name != "" && !there(name)) {
      kind = "file"
      target = out "/files/" name
    }
    next
  }
  NF == 0 { blank = 1; next }
  {
    if (blank && paragraph != "") {
      commands(paragraph)
      paragraph = ""
    }
    blank = 0
    paragraph = paragraph " " $0
    section = section paths($0)
  }
  END { commands(paragraph); flush_excerpts() }
' "$sources/docs/extending.md"

(cd "$out" && find . -type f) | while read -r file; do
  [ -e "$fresh/$file" ] || rm -- "$out/$file"
done
(cd "$fresh" && find . -type f) | while read -r file; do
  cmp -s "$fresh/$file" "$out/$file" || { mkdir -p "$(dirname "$out/$file")" && cp "$fresh/$file" "$out/$file"; }
done
