#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# same_ir.sh FRONTGEN PEER: generators built by two compilers emit the same bytes, for every number of tokens in both schedules, and a
# sample of the other fields. C does not order arguments, so a nested emitting call would show here.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/frontgen-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
compared=0 different=0
compare() {
  "$1" emit "$3" >"$dir/a" && "$2" emit "$3" >"$dir/b" || { echo "$3: no IR"; exit 1; }
  [ -s "$dir/a" ] || { echo "$3: empty IR"; exit 1; }
  compared=$((compared + 1))
  cmp -s "$dir/a" "$dir/b" || { echo "$3: the IR differs"; different=$((different + 1)); }
}
tokens=1
while [ $tokens -le 48 ]; do
  for rest in tp=1,tuned=0 tp=4,tuned=1 tp=2,ratio=0,window=1 tp=8,ratio=128,window=4096,tuned=1; do
    compare "$1" "$2" "tokens=$tokens,$rest"
  done
  tokens=$((tokens + 1))
done
echo "$compared keys compared, $different differ"
[ $different = 0 ]
