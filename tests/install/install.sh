#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh MESON BUILD SOURCE CC BUNDLE: `meson install` into an empty prefix; a program from outside, built with pkg-config's words alone,
# runs on the installed emulator; only front_* is exported; the headers compile alone.
set -eu
meson=$1 build=$2 source=$3 cc=$4 bundle=$5
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

"$meson" install -C "$build" --no-rebuild --quiet --destdir "$prefix" >/dev/null || fail 'meson install failed'
pc=$(find "$prefix" -name libfront.pc)
[ -n "$pc" ] || fail 'no libfront.pc is installed'
header=$(find "$prefix" -path '*/include/libfront/front.h')
words=$(PKG_CONFIG_PATH=${pc%/*} pkg-config "--define-variable=prefix=${header%/include/*}" --cflags --libs libfront) || fail 'pkg-config does not find libfront'
lib=$(dirname "$(find "$prefix" -name libfront.so.0)")
[ "$(find "$prefix" -name front.h -o -name front_hip.h | wc -l)" = 2 ] || fail 'front.h and front_hip.h are not both installed'

# The soname has the ABI's number, and the file the version's.
readelf -d "$lib/libfront.so" | grep -q 'SONAME.*\[libfront.so.0\]' || fail 'the soname is not libfront.so.0'
case $(readlink -f "$lib/libfront.so") in */libfront.so.[0-9]*.[0-9]*.[0-9]*) ;; *) fail 'libfront.so is not a link to a version' ;; esac
strangers=$(nm -D --defined-only "$lib/libfront.so" | awk '$3 !~ /^(front_[a-z_]+@@FRONT_0|FRONT_0(@@FRONT_0)?)$/ { print $3 }')
[ -z "$strangers" ] || fail "libfront exports more than front_*: $strangers"
exported=$(nm -D --defined-only "$lib/libfront.so" | grep -c ' T front_')
declared=$(sed 's,/\*.*\*/,,' "$source"/runtime/front.h "$source"/runtime/front_hip.h | grep -oE '^(enum front_status|const char \*|uint32_t|void) ?front_[a-z_]+\(' | wc -l)
[ "$exported" = "$declared" ] || fail "$exported functions are exported, the headers declare $declared"
needs=$(readelf -d "$lib/libfront.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v -E '^(libc|libdl|libpthread|ld-linux-x86-64)\.so' || true)
[ -z "$needs" ] || fail "libfront needs more than libc: $needs"

for header in front.h front_hip.h; do
  printf '#include <%s>\nint main(void) { return 0; }\n' "$header" >"$prefix/alone.c"
  "$cc" -std=c99 -pedantic -Wall -Wextra -Werror "$prefix/alone.c" -o "$prefix/alone" $words || fail "$header does not compile alone"
done
"$cc" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror "$source/examples/serving_loop.c" -o "$prefix/serving_loop" $words -lm || fail 'serving_loop.c does not build'
said=$(LD_LIBRARY_PATH=$lib "$prefix/serving_loop" "$bundle" 1 "$lib/libhsa-emu.so") || fail 'serving_loop does not run'
case $said in *'1 steps of 4 layers'*) printf '%s\n' "$said" ;; *) fail "serving_loop says: $said" ;; esac
