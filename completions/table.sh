#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# table.sh PROGRAM: what the program's --help says, a row a fact, fields separated by tabs:
#   command NAME WORDS WHAT-IT-DOES
#   option COMMAND SHORT LONG METAVARIABLE WHAT-IT-DOES      (- for what is not there; COMMAND -: the program's own)
#   words COMMAND WORDS
# A line that looks like an option and is none fails, so that no option is lost by a new layout.
set -eu
program=$1
export ARGP_HELP_FMT=rmargin=2000 LC_ALL=C # a line each, however long

# The options of one --help.
options() { # COMMAND, or - [1: a program of many commands]
  awk -v command="$1" -v many="${2:-0}" '
    function row(short, name, meta, text) {
      sub(/^ */, "", text)
      printf "option\t%s\t%s\t%s\t%s\t%s\n", command, short == "" ? "-" : "-" short, name, meta == "" ? "-" : meta, text
    }
    /^Usage: / && / \[OPTION[.][.][.]\] / { sub(/.* \[OPTION[.][.][.]\] /, ""); printf "words\t%s\t%s\n", command, $0; seen = 1 }
    /^ +-/ {
      line = $0; short = ""
      sub(/^ +/, "", line)
      if (line ~ /^-[A-Za-z?], --/) { short = substr(line, 2, 1); line = substr(line, 5) }
      if (!match(line, /^--[a-z0-9-]+(=[^] ]+|\[=[^] ]+\])?( |$)/)) { print "not understood: " $0 >"/dev/stderr"; bad = 1; exit }
      name = substr(line, 1, RLENGTH); text = substr(line, RLENGTH + 1); meta = ""
      sub(/ $/, "", name)
      at = match(name, /[[]?=/)
      if (at) { meta = substr(name, at); name = substr(name, 1, at - 1); sub(/=/, "", meta) }
      row(short, name, meta, text)
    }
    END { if (!bad && !seen && !many) { print command ": its --help has no usage line" >"/dev/stderr"; bad = 1 }; exit bad }'
}

text=$("$program" --help)
commands=$(printf '%s\n' "$text" | awk '/^  [a-z]/ {
  name = $1; sub(/^  [^ ]+ +/, ""); words = $0
  sub(/  .*/, "", words); sub(/.*  +/, "")
  printf "command\t%s\t%s\t%s\n", name, words, $0 }')
if [ -z "$commands" ]; then
  printf '%s\n' "$text" | options -
else
  printf '%s\n' "$commands"
  printf '%s\n' "$text" | options - 1
  for command in $(printf '%s\n' "$commands" | cut -f2); do "$program" "$command" --help | options "$command"; done
fi
