#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# honest.sh ROOT MANDOC FRONTGEN FRONTRUN COMPLETIONS: man pages and completions say what the programs' --help says, no less and no more.
# One line a finding; exit code 1 if there is one. COMPLETIONS is the folder with frontgen and frontrun (bash).
set -eu
root=$1 mandoc=$2 frontgen=$3 frontrun=$4 completions=$5
export LC_ALL=C
dir=$(mktemp -d "${TMPDIR:-/tmp}/frontgen-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

# ---- what --help says: "COMMAND --option=METAVARIABLE" a line, and "COMMAND takes WORDS"; COMMAND is - where a program has none

help_options() { # COMMAND, on --help's text
  sed -n "s/^  *\(-[A-Za-z?], \)\{0,1\}\(--[a-z0-9-]*[^ ]*\).*/$1 \2/p; s/^Usage: .* \[OPTION\.\.\.\] /$1 takes /p" | sort -u
}
frontgen_commands() { "$frontgen" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'; }
{
  "$frontgen" --help | help_options -
  for command in $(frontgen_commands); do "$frontgen" "$command" --help | help_options "$command"; done
} | sort -u >"$dir/frontgen.help"
"$frontrun" --help | help_options - | sort -u >"$dir/frontrun.help"
for program in frontgen frontrun; do
  [ "$(wc -l <"$dir/$program.help")" -ge 15 ] || { echo "only $(wc -l <"$dir/$program.help") options of $program: --help is no longer understood"; exit 1; }
done
# short names, "-o --output"
short_names() { sed -n 's/^  *\(-[a-z]\), \(--[a-z-]*\).*/\1 \2/p'; }
{ for command in $(frontgen_commands); do "$frontgen" "$command" --help; done; "$frontrun" --help; } | short_names | sort -u >"$dir/short"

# ---- man pages

rendered() { "$mandoc" -T ascii -O width=1000 "$1" | sed 's/.\x08//g'; }
section() { awk -v name="$1" '/^[A-Z]/ { on = $0 == name; next } on'; }
# The synopsis and the list of options, as help_options writes them.
synopsis() { # PROGRAM COMMANDS?
  section SYNOPSIS | awk -v program="$1" -v many="$2" -v short="$dir/short" '
    BEGIN { while ((getline <short) > 0) long[$1] = $2 }
    $1 == program {
      command = many ? $2 : "-"
      gsub(/[][]/, " ")
      gsub(/ [.][.][.]/, "...")
      takes = ""
      for (i = many ? 3 : 2; i <= NF; i++) {
        if ($i ~ /^--/) print command, $i
        else if ($i ~ /^-/) { print command, long[$i] "=" $(i + 1); i++ }
        else takes = takes " " $i
      }
      print command, "takes" takes
    }' | sort -u
}
man_findings() { # PAGE PROGRAM
  many=0
  [ "$2" != frontgen ] || many=1
  lint=$("$mandoc" -T lint -W warning "$1") || echo "$lint"
  rendered "$1" >"$dir/page"
  synopsis "$2" "$many" <"$dir/page" >"$dir/synopsis"
  # Every command takes --help; it is among the options, and not in the synopsis.
  grep -v -e '--help' -e '--usage' -e '--version' "$dir/$2.help" | diff - "$dir/synopsis" | sed -n "s/^< /$2.1: its synopsis lacks /p; s/^> /$2.1: its synopsis has, and --help lacks, /p"
  grep -o -e ' --.*' "$dir/$2.help" | tr -d ' ' | sort -u >"$dir/wanted"
  section OPTIONS <"$dir/page" | sed -n '/^     -/ { s/^ *\(-[A-Za-z?]\( [A-Z]*\)\{0,1\}, \)\{0,1\}//; s/[ ,].*//; p }' | sort -u | diff "$dir/wanted" - |
    sed -n "s/^< /$2.1: its OPTIONS lack /p; s/^> /$2.1: among its OPTIONS, and not in --help: /p"
  if [ "$many" = 1 ]; then
    frontgen_commands | sort >"$dir/wanted"
    section SYNOPSIS <"$dir/page" | awk '$1 == "frontgen" { print $2 }' | sort -u | diff "$dir/wanted" - |
      sed -n "s/^< /$2.1: its synopsis lacks the command /p; s/^> /$2.1: the program has no command /p"
    section DESCRIPTION <"$dir/page" | sed -n '/^ *The commands are/,/^   [A-Z]/s/^     \([a-z][a-z]*\)  .*/\1/p' | sort -u | diff "$dir/wanted" - |
      sed -n "s/^< /$2.1: does not say what this command does: /p; s/^> /$2.1: describes a command that there is not: /p"
  fi
}

# The environment variables that the sources look up, and those that a page names. A page's own are FRONTGEN_ for frontgen, FRONT_ for frontrun.
variable_findings() { # PAGE PROGRAM
  case $2 in
    frontgen) own=FRONTGEN_ sources='gen' ;;
    frontrun) own=FRONT_ sources='frontrun emulator runtime' ;;
  esac
  (cd "$root" && for folder in $sources; do cat "$folder"/*.c; done) | grep -oE "\"$own(EMU_|HSA_)?[A-Z0-9]+\"" | tr -d '"' | grep -v FRONT_OK | sort -u >"$dir/wanted"
  [ "$(wc -l <"$dir/wanted")" -ge 5 ] || echo "only $(wc -l <"$dir/wanted") variables of $2 were found in its sources"
  grep -oE "Ev $own[A-Z0-9_]+" "$1" | cut -c4- | sort -u | diff "$dir/wanted" - |
    sed -n "s/^< /$2.1: does not name the variable /p; s/^> /$2.1: no source looks up the variable /p"
}

# ---- completions

# What Tab offers behind "PROGRAM WORDS --", a word a line.
offered() { # FILE PROGRAM LINE
  bash --norc --noprofile -c '. "$1"; COMP_LINE=$3 COMP_POINT=${#3} COMP_WORDS=($3) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _$2; printf "%s\n" "${COMPREPLY[@]}"' - "$1" "$2" "$3"
}
# The options that zsh's function has for a command.
zsh_options() { # FILE COMMAND
  awk -v command="$2" '
    / _arguments / { on = command == "-" ? !/[a-z][)] _arguments/ : $1 == command ")" }
    on { line = $0; gsub(/\\./, "", line); gsub(/\[[^]]*\]/, "", line); print line }' "$1" | grep -o -- '--[a-z0-9-]*' | sort -u
}
completion_findings() { # FILE PROGRAM
  for command in $(cut -d' ' -f1 "$dir/$2.help" | sort -u); do
    line="$2 ${command#-} --"
    grep "^$command --" "$dir/$2.help" | sed 's/^[^ ]* //; s/=.*/=/; s/\[=$//' | sort -u >"$dir/wanted"
    offered "$1" "$2" "$line" | sort -u | diff "$dir/wanted" - |
      sed -n "s/^< /bash completion of $2 $command lacks /p; s/^> /bash completion of $2 $command, and not in --help: /p"
    grep "^$command " "$dir/$2.help" | grep -o -- ' --[a-z0-9-]*' | tr -d ' ' | sort -u >"$dir/wanted"
    zsh_options "$(dirname "$1")/_$(basename "$1")" "$command" | diff "$dir/wanted" - | sed -n "s/^< /zsh completion of $2 $command lacks /p; s/^> /zsh completion of $2 $command, and not in --help: /p"
  done
  if [ "$2" = frontgen ]; then
    frontgen_commands | sort >"$dir/wanted"
    sed -n "s/^ *'\([a-z]*\):.*/\1/p" "$(dirname "$1")/_$(basename "$1")" | sort | diff "$dir/wanted" - | sed -n 's/^[<>]/zsh completion: commands differ:/p'
    offered "$1" "$2" "$2 " | sort | diff "$dir/wanted" - | sed -n 's/^[<>]/bash completion: commands differ:/p'
  fi
}

# The table of values: a row for each metavariable; words that the program's own text has; fields' values that are allowed.
value_findings() { # VALUES
  sed -n 's/^[^ ]* \(--[^=[]*\)\[\{0,1\}=\([^]]*\).*/\1 \2/p' "$dir/frontgen.help" "$dir/frontrun.help" | sort -u >"$dir/metas"
  while read -r option meta; do
    grep -q "^\($option\|$meta\) " "$1" || echo "completions/values.def: no row for $meta of $option"
  done <"$dir/metas"
  for words in $("$frontgen" --help | sed -n 's/^  [a-z][a-z]*  *\([A-Z][A-Za-z|. ]*[A-Z.]\)  .*/\1/p' | tr -d . | tr '| ' '\n\n' | sort -u); do
    grep -q "^$words " "$1" || echo "completions/values.def: no row for $words"
  done
  { ARGP_HELP_FMT=rmargin=2000 "$frontrun" --help; for command in $(frontgen_commands); do ARGP_HELP_FMT=rmargin=2000 "$frontgen" "$command" --help; done; } >"$dir/texts"
  grep -e '^[-A-Z].* of ' "$1" | while read -r name _ list; do
    for word in $list; do
      case $word in [0-9]*) continue ;; esac
      grep -- "$name" "$dir/texts" | grep -qw -- "$word" || echo "completions/values.def: $name: --help does not know $word"
    done
  done
  for gpu in $(grep -o 'gfx[0-9a-f]*' "$dir/texts" | sort -u); do
    grep -q "^ARCH .*$gpu" "$1" || echo "completions/values.def: ARCH has no $gpu"
  done
  grep -e '^[a-z].* of ' "$1" | while read -r name _ list; do
    for word in $list; do
      "$frontgen" keys "tokens=1,$name=$word" >/dev/null 2>&1 || echo "completions/values.def: $name=$word is not allowed"
    done
  done
}

findings() {
  for program in frontgen frontrun; do
    man_findings "$root/docs/man/$program.1" "$program"
    variable_findings "$root/docs/man/$program.1" "$program"
    completion_findings "$completions/$program" "$program"
  done
  value_findings "$root/completions/values.def"
}

# ---- the checks must be able to fail

planted() { # WHAT, findings on standard input
  [ -n "$(cat)" ] || echo "not noticed: $1"
}
self_test() {
  page=$root/docs/man/frontgen.1
  grep -v '^\.It Fl -json' "$page" >"$dir/altered"
  man_findings "$dir/altered" frontgen | planted 'an option that the man page does not describe'
  sed 's/^\.It Fl -json/.It Fl -jason/' "$page" >"$dir/altered"
  man_findings "$dir/altered" frontgen | planted 'an option that the program does not have'
  sed 's/^\.Ar A B/.Ar A/' "$page" >"$dir/altered"
  man_findings "$dir/altered" frontgen | planted 'an argument that the synopsis lacks'
  sed 's/^\.Cm keys/.Cm locks/' "$page" >"$dir/altered"
  man_findings "$dir/altered" frontgen | planted 'a command that the program does not have'
  sed 's/^\.Op Fl -save-temps//' "$page" >"$dir/altered"
  man_findings "$dir/altered" frontgen | planted 'an option that the synopsis lacks'
  sed 's/^\.Sh OPTIONS/.Sh OPTIONS\n.Nosuch thing/' "$page" >"$dir/altered"
  man_findings "$dir/altered" frontgen | planted 'a macro that is none'
  sed 's/FRONTGEN_LLD/FRONTGEN_DLL/' "$page" >"$dir/altered"
  [ "$(variable_findings "$dir/altered" frontgen | wc -l)" = 2 ] || echo 'not noticed: a variable of another name'
  mkdir "$dir/bash" "$dir/zsh"
  sed 's/--save-temps//' "$completions/frontgen" >"$dir/bash/frontgen"
  sed 's/--save-temps//' "$completions/_frontgen" >"$dir/zsh/_frontgen"
  cp "$completions/_frontgen" "$dir/bash"
  cp "$completions/frontgen" "$dir/zsh"
  completion_findings "$dir/bash/frontgen" frontgen | planted 'an option that bash does not complete'
  completion_findings "$dir/zsh/frontgen" frontgen | planted 'an option that zsh does not complete'
  sed 's/ gpu / gnu /; s/^tp .*/tp of 1 2 3/; /^DIR /d; s/^ARCH .*/ARCH of/' "$root/completions/values.def" >"$dir/altered"
  [ "$(value_findings "$dir/altered" | wc -l)" = 4 ] || value_findings "$dir/altered" | sed 's/^/of four planted values: /'
}

findings >"$dir/found"
self_test >>"$dir/found"
cat "$dir/found"
echo "$(cat "$dir/frontgen.help" "$dir/frontrun.help" | grep -c -e --) options, $(wc -l <"$dir/found") findings"
[ ! -s "$dir/found" ]
