#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs.sh ROOT: the manual says what the code says. Links lead somewhere, the ABI table is front_args.def's, and each message of
# troubleshooting.md is one that a program prints. One line a finding; exit code 1 if there is one.
set -eu
cd "$1"
found=0
complain() { printf '%s\n' "$*"; found=1; }
seen=0

for page in README.md docs/*.md emulator/README.md; do
  for target in $(sed -n 's/`[^`]*`//g; p' "$page" | grep -o '](\([^)#]*\)' | cut -c3-); do
    case $target in http*) continue ;; esac
    seen=$((seen + 1))
    [ -e "$(dirname "$page")/$target" ] || complain "$page: there is no $target"
  done
done
[ "$seen" -ge 10 ] || complain "only $seen links were found: this check no longer sees them"

# name, number, offset, dtype and alignment of each argument
rows() { sed 's/ *$//' | LC_ALL=C sort; }
code=$(awk -F'[(), ]+' '/^ARG\(/ { size = $3 == "I32" ? 4 : 8; at = int((at + size - 1) / size) * size
  print $2, n++, at, ($3 == "PTR" ? $5 " " $4 : ""); at += size }' runtime/front_args.def | rows)
page=$(awk -F' *[|] *' '/^\| [0-9]+ \| [0-9]+ \| `/ { gsub(/`/, "", $4); print $4, $2, $3, ($5 == "pointer" ? $6 " " $9 : "") }' docs/abi.md | rows)
[ -n "$code" ] || complain 'runtime/front_args.def: no rows were found'
[ "$code" = "$page" ] || complain "docs/abi.md and runtime/front_args.def differ:
$(printf '%s\n' "$code" "$page" | LC_ALL=C sort | uniq -u)"

# The sources' strings, joined where C joins them. A message of the page has … where the program puts a value.
if [ -f docs/troubleshooting.md ]; then
  strings=$(mktemp)
  trap 'rm -f "$strings"' EXIT
  cat gen/*.c codeobject/*.c runtime/*.c runtime/*.h frontrun/*.c emulator/*.c bootstrap toolchain/meson.build | tr '\n' ' ' | sed 's/" *"//g; s/\\"/"/g' >"$strings"
  sed -n 's/^| `\([^`]*\)` |.*/\1/p' docs/troubleshooting.md >"$strings.list"
  while IFS= read -r message; do
    printf '%s\n' "$message" | sed 's/ *… */\n/g' | while IFS= read -r part; do
      [ -z "$part" ] || grep -qF -- "$part" "$strings" || printf 'docs/troubleshooting.md: no program says "%s"\n' "$part"
    done
  done <"$strings.list" >"$strings.found"
  count=$(wc -l <"$strings.list")
  [ "$count" -ge 20 ] || complain "docs/troubleshooting.md: only $count messages were found"
  [ ! -s "$strings.found" ] || complain "$(cat "$strings.found")"
  rm -f "$strings.list" "$strings.found"
fi
exit "$found"
