#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# subproject.sh MESON SOURCE EMULATOR: a Meson project with frontgen as its subproject makes its kernels in its own build, links libfront and
# runs on the emulator. Without optimisation, which is not what is looked at.
set -eu
meson=$1 source=$2 emulator=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/frontgen-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() { printf 'subproject.sh: %s\n' "$*" >&2; exit 1; }
cp -r "$source/examples/meson-subproject" "$source/examples/embedded_step.c" "$dir"
mkdir "$dir/meson-subproject/subprojects"
ln -s "$source" "$dir/meson-subproject/subprojects/frontgen"
"$meson" setup --buildtype=plain --force-fallback-for=frontgen "$dir/b" "$dir/meson-subproject" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the example does not configure'; }
ninja -C "$dir/b" embedded_step >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the example does not build'; }
said=$(FRONT_HSA_LIBRARY=$emulator "$dir/b/embedded_step") || fail 'the example does not run'
case $said in 'front_s1_tp8_r2_w128_t0, 1 of 1 kernels in this program, ran: token 0 has 1 key,'*) printf '%s\n' "$said" ;; *) fail "the example says: $said" ;; esac
# A subproject brings the library and the generator, not its tests, emulator and manual.
built=$("$meson" introspect --targets "$dir/b")
for name in frontgen front; do printf '%s' "$built" | grep -q "\"name\": \"$name\"" || fail "the subproject has no target $name"; done
if ninja -C "$dir/b" -t targets all | grep -q -e /test_ -e /completions/; then fail 'the subproject has tests or completions'; fi
if ninja -C "$dir/b" -n all | grep -q -e libhsa-emu -e /frontrun/; then fail 'the subproject builds the emulator or frontrun by default'; fi
