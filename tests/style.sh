#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# style.sh ROOT CLANG-FORMAT: how every file of ours looks. One line a finding; exit code 1 if there is one.
set -eu
cd "$1"
format=$2
found=0
complain() { printf '%s\n' "$*"; found=1; }

# Files of ours by their names (no git: this runs in an unpacked archive too).
ours() {
  find . \( -name .git -o -name .venv -o -name 'build*' -a -type d -o -name frontgen-out \) -prune -o -type f "$@" -print | LC_ALL=C sort
}
sources() { ours \( -name '*.c' -o -name '*.h' \); }
texts() {
  ours \( -name '*.[ch]' -o -name '*.def' -o -name '*.ll' -o -name '*.s' -o -name '*.sh' -o -name '*.py' -o -name '*.ini' \
    -o -name '*.awk' -o -name '*.bash' -o -name '*.zsh' -o -name '*.1' -o -name '*.cmake.in' -o -name CMakeLists.txt \
    -o -name meson.build -o -name meson_options.txt -o -name bootstrap -o -path './.ci/run' \)
}
prose() { ours \( -name '*.md' -o -name NOTICE -o -name '*.tsv' -o -name .gitignore -o -name .editorconfig -o -name .clang-format \); }

layout=$(sources | tr '\n' '\0' | xargs -0 "$format" --dry-run -Werror 2>&1 | sed -n 's/:[0-9:]* error: .*/: not as the formatter writes it/p' | uniq)
[ -z "$layout" ] || complain "$layout
($format -i FILE mends these)"

# Lines and ends of files.
text_findings=$( (texts; prose) | tr '\n' '\0' | xargs -0 awk '
  FNR == 1 { if (NR > 1 && blank) print last ": a blank line at its end"; last = FILENAME }
  /[ \t]$/ { print FILENAME ":" FNR ": blanks at the end of the line" }
  /\r$/ { print FILENAME ":" FNR ": a carriage return" }
  /\t/ && FILENAME !~ /\.tsv$/ { print FILENAME ":" FNR ": a tab" }
  /\/(root|home|work)\/[a-z]/ { print FILENAME ":" FNR ": a path of some machine" }
  { blank = $0 == "" }
  END { if (blank) print last ": a blank line at its end" }')
[ -z "$text_findings" ] || complain "$text_findings"
for file in $(texts; prose); do
  [ -s "$file" ] || { complain "$file: empty"; continue; }
  [ -z "$(tail -c 1 "$file")" ] || complain "$file: no newline at its end"
done

# SPDX in the first lines; a function has at most 60 lines, a file 600. A body is what stands between "...) {" at the margin and "}".
code_findings=$(texts | tr '\n' '\0' | xargs -0 awk '
  function file_done() {
    if (!spdx) print last ": no SPDX-License-Identifier line on top"
    if (lines > 600 && last !~ /\.def$/) print last ": " lines " lines, 600 are allowed"
  }
  FNR == 1 { if (NR > 1) file_done(); last = FILENAME; spdx = 0; start = 0; in_head = 0 }
  { lines = FNR }
  FNR <= 3 && /SPDX-License-Identifier: Apache-2.0/ { spdx = 1 }
  FILENAME ~ /\.[ch]$/ {
    if (/^[A-Za-z_].*[(]/ && !/;[ ]*(\/[*].*)?$/ && !/^#/ && !start) { head = FNR; in_head = 1 }
    if (in_head && /[)] *[{]$/ && !/=/) { start = head; in_head = 0 }
    if (/^[A-Za-z_].*=.*[{]$/) in_head = 0
    if (/^}/) {
      if (start && FNR - start + 1 > 60) print FILENAME ":" start ": a function of " FNR - start + 1 " lines, 60 are allowed"
      start = 0; in_head = 0
    }
  }
  END { file_done() }')
[ -z "$code_findings" ] || complain "$code_findings"

# A file name says where to look: it occurs once.
twice=$(sources | sed 's,.*/,,' | grep -v '^main.c$' | LC_ALL=C sort | uniq -d)
[ -z "$twice" ] || complain "file names that occur twice: $twice"
exit $found
