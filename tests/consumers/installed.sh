#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh MESON BUILD SOURCE CMAKE: a CMake and a Meson project from outside find what is installed, make their kernels in their own
# build, link libfront and run on the installed emulator. The installed programs find one another and the emulator under a moved prefix.
set -eu
meson=$1 build=$2 source=$3 cmake=$4
dir=$(mktemp -d "${TMPDIR:-/tmp}/frontgen-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() { printf 'installed.sh: %s\n' "$*" >&2; exit 1; }

"$meson" install -C "$build" --no-rebuild --quiet --destdir "$dir/stage" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'meson install failed'; }
mv "$(dirname "$(dirname "$(find "$dir/stage" -path '*/bin/frontgen')")")" "$dir/prefix"
emulator=$(find "$dir/prefix" -name libhsa-emu.so)

# Everything that a user of the prefix expects, each where its reader looks.
for file in bin/frontgen bin/frontrun share/man/man1/frontgen.1 share/man/man1/frontrun.1 share/bash-completion/completions/frontgen \
  share/bash-completion/completions/frontrun share/zsh/site-functions/_frontgen share/zsh/site-functions/_frontrun; do
  [ -f "$dir/prefix/$file" ] || fail "$file is not installed"
done

mkdir "$dir/project"
cp -r "$source/examples/cmake" "$source/examples/embedded_step.c" "$dir/project"
build_project() { "$cmake" --build "$dir/b" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the example does not build'; }; }
"$cmake" -G Ninja -S "$dir/project/cmake" -B "$dir/b" "-DCMAKE_PREFIX_PATH=$dir/prefix" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the example does not configure'; }
build_project
said=$(FRONT_HSA_LIBRARY=$emulator "$dir/b/embedded_step") || fail 'the example does not run'
case $said in 'front_s1_tp8_r2_w128_t0, 1 of 2 kernels in this program, ran: token 0 has 1 key,'*) printf '%s\n' "$said" ;; *) fail "the example says: $said" ;; esac
settled() { # WHEN: nothing is compiled, and then nothing at all is done
  build_project
  if grep -q -e Building -e Linking "$dir/log"; then cat "$dir/log"; fail "$1 something is compiled again"; fi
  build_project
  grep -q 'no work to do' "$dir/log" || { cat "$dir/log"; fail "$1 something is made at every build"; }
}
settled 'when nothing has changed'
touch "$dir/prefix/bin/frontgen"
settled 'with another frontgen that makes the same kernels'

# Another set of kernels, and a package of another version.
sed 's/tokens=1-2/tokens=1/' "$source/examples/cmake/CMakeLists.txt" >"$dir/project/cmake/CMakeLists.txt"
build_project
said=$(FRONT_HSA_LIBRARY=$emulator "$dir/b/embedded_step") || fail 'the example does not run with other kernels'
case $said in *'1 of 1 kernels'*) ;; *) fail "with one kernel the example says: $said" ;; esac
sed 's/front 0.1/front 7.0/' "$source/examples/cmake/CMakeLists.txt" >"$dir/project/cmake/CMakeLists.txt"
if "$cmake" -G Ninja -S "$dir/project/cmake" -B "$dir/b7" "-DCMAKE_PREFIX_PATH=$dir/prefix" >"$dir/log" 2>&1; then fail 'version 7 was found'; fi
tr -s ' \n' ' ' <"$dir/log" | grep -q 'compatible with requested version "7.0"' || { cat "$dir/log"; fail 'version 7 is refused for another reason'; }

sed 's/embedded_step C)/embedded_step NONE)/' "$source/examples/cmake/CMakeLists.txt" >"$dir/project/cmake/CMakeLists.txt"
if "$cmake" -G Ninja -S "$dir/project/cmake" -B "$dir/bn" "-Dfront_DIR=$(dirname "$(find "$dir/prefix" -name frontConfig.cmake)")" >"$dir/log" 2>&1; then fail 'a project without C was taken'; fi
tr -s ' \n' ' ' <"$dir/log" | grep -q 'has not enabled C' || { cat "$dir/log"; fail 'a project without C is not told so'; }

# Nothing of the build folder is needed: frontrun finds the emulator, frontgen finds frontrun.
"$dir/prefix/bin/frontgen" verify "$dir/b/kernels" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the installed frontgen cannot verify the bundle'; }

# The Meson example takes the installed files where it finds them, and builds nothing of frontgen.
cp -r "$source/examples/meson-subproject" "$dir/project"
cat >"$dir/native.ini" <<END
[binaries]
frontgen = '$dir/prefix/bin/frontgen'
END
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name libfront.pc)")
"$meson" setup --buildtype=plain --native-file "$dir/native.ini" "$dir/m" "$dir/project/meson-subproject" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the Meson example does not configure'; }
ninja -C "$dir/m" >"$dir/log" 2>&1 || { cat "$dir/log"; fail 'the Meson example does not build'; }
said=$(FRONT_HSA_LIBRARY=$emulator LD_LIBRARY_PATH=$(dirname "$emulator") "$dir/m/embedded_step") || fail 'the Meson example does not run'
case $said in *'1 of 1 kernels'*) ;; *) fail "the Meson example says: $said" ;; esac
