#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make.sh bash|zsh PROGRAM GEN-FOLDER OUTPUT: the shell's completion of a program, from what its --help says.
set -eu
shell=$1 program=$2 gen=$3 output=$4
here=$(dirname "$0")
trap 'rm -f "$output.table" "$output.part"' EXIT
"$here/table.sh" "$program" >"$output.table"
awk -v program="$(basename "$program")" -v template="$here/front.$shell" -f "$here/front_values.awk" -f "$here/$shell.awk" \
  "$here/values.def" "$gen/geometry.h" "$gen/key_fields.def" FS='\t' "$output.table" >"$output.part"
mv "$output.part" "$output"
