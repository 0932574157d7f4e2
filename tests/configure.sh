#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# configure.sh MESON-COMMAND SOURCE LLVM-BINDIR: an LLVM that cannot do is refused when configuring, by a line that says why and what to do.
set -eu
meson=$1 source=$2 bindir=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/frontgen-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

# An LLVM installation of links to the real one, with a llvm-config that says VERSION.
prefix() {
  mkdir -p "$dir/$1/bin"
  for tool in llc opt llvm-mc llvm-objdump llvm-as ld.lld; do ln -s "$bindir/$tool" "$dir/$1/bin/$tool"; done
  cat >"$dir/$1/bin/llvm-config" <<END
#!/bin/sh
case \$1 in --version) echo $2 ;; --bindir) echo "$dir/$1/bin" ;; *) exit 1 ;; esac
END
  chmod +x "$dir/$1/bin/llvm-config"
}
program() { # PREFIX TOOL TEXT: the tool is replaced by one that prints TEXT
  rm -f "$dir/$1/bin/$2"
  printf '#!/bin/sh\necho "%s"\n' "$3" >"$dir/$1/bin/$2"
  chmod +x "$dir/$1/bin/$2"
}
refused() { # PREFIX WORDS...: configuring fails, and its last error has each of the words
  at=$1; shift
  if "$meson" setup "$dir/build" "$source" "-Dllvm=$dir/$at" >"$dir/log" 2>&1; then echo "$at: was taken"; exit 1; fi
  grep ERROR "$dir/log" >"$dir/errors" || { echo "$at: no error line"; cat "$dir/log"; exit 1; }
  for word in "$@"; do grep -q -e "$word" "$dir/errors" || { echo "$at: \"$word\" is not in:"; cat "$dir/errors"; exit 1; }; done
  rm -rf "$dir/build"
  echo "$at: refused"
}

prefix old 21.1.8
refused old 'version 21.1.8' '22 or newer' '-Dllvm='
prefix without-gfx950 23.0.0
program without-gfx950 llc '  gfx942 - Select the gfx942 processor.'
refused without-gfx950 'gfx950' '-Dllvm'
prefix without-lld 23.0.0
rm "$dir/without-lld/bin/ld.lld"
refused without-lld 'has no ld.lld' 'install lld'
prefix foreign-lld 23.0.0
program foreign-lld ld.lld 'LLD 14.0.6'
refused foreign-lld 'LLD 14.0.6' '23.0.0'
refused nowhere 'no program' '-Dllvm='
