#!/bin/bash
# F82: what `make install` puts into a clean folder, used as others use it: names of both libraries, headers by themselves, programs
# in C and C++ by pkg-config and CMake, manual pages, completions; `make uninstall` leaves nothing.
# usage: package.sh SOURCE_FOLDER
set -eu -o pipefail
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
fail() {
  echo "failed: $*"
  exit 1
}
run() { "$@" > "$folder/log" 2>&1 || { cat "$folder/log" && fail "$*"; }; }

mkdir "$folder/tree"
for part in CMakeLists.txt CMakePresets.json Makefile CHANGELOG.md LICENSE README.md cli docs examples include packaging scripts src; do
  cp -R "$source/$part" "$folder/tree/"
done
stage=$folder/stage prefix=$folder/stage/usr # tests and benchmarks are not even there
unset MAKEFLAGS MAKELEVEL
run make -C "$folder/tree" install DESTDIR="$stage" PREFIX=/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
if grep -q -e -Werror "$folder/tree/build/compile_commands.json"; then fail "warnings are errors for packagers"; fi
if [ -e "$folder/tree/build/bin" ]; then fail "make install built tests: $(ls "$folder/tree/build/bin")"; fi
if grep -rqI "$folder" "$prefix"; then fail "files name the folder they were built in: $(grep -rlI "$folder" "$prefix")"; fi
for file in bin/yoke include/yoke/yoke.h lib/libyoke.a share/doc/yoke/LICENSE share/doc/yoke/docs/install.md share/man/man1/yoke-run.1 \
  share/bash-completion/completions/yoke share/zsh/site-functions/_yoke share/fish/vendor_completions.d/yoke.fish; do
  [ -s "$prefix/$file" ] || fail "$file is missing"
done

# ---- names: both libraries have the same ones, all with the prefix ----
nm -D --defined-only "$prefix/lib/libyoke.so" | awk '{ print $NF }' | sort > "$folder/shared"
nm -g --defined-only "$prefix/lib/libyoke.a" | awk 'NF == 3 { print $3 }' | sort > "$folder/static"
[ "$(wc -l < "$folder/shared")" -gt 50 ] || fail "libyoke.so shows few names"
if grep -v '^yoke_' "$folder/shared"; then fail "names without prefix"; fi
run diff "$folder/shared" "$folder/static"
# and those are what the headers declare
for header in "$prefix"/include/yoke/*.h; do echo "#include <yoke/$(basename "$header")>"; done > "$folder/all.c"
cc -E -I"$prefix/include" "$folder/all.c" | awk '/^# [0-9]+ "/ { ours = $3 ~ /\/yoke\//; next } ours' |
  grep -o 'yoke_[a-z0-9_]*(\|extern const [a-z_]* yoke_[a-z_]*' | sed -e 's/($//' -e 's/.* //' | sort -u |
  grep -v '^yoke_plugin_types$' > "$folder/declared" # which plugins define
run diff "$folder/declared" "$folder/shared"

# ---- headers by themselves ----
for header in "$prefix"/include/yoke/*.h; do
  printf '#include <yoke/%s>\nint one(void);\n' "$(basename "$header")" > "$folder/one.c"
  cp "$folder/one.c" "$folder/one.cc"
  run cc -std=c17 -pedantic-errors -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only "$folder/one.c"
  run c++ -std=c++17 -pedantic-errors -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only "$folder/one.cc"
done

# ---- programs ----
cat > "$folder/five.c" <<'CODE'
#include <stdio.h>
#include <yoke/yoke.h>
int main(int argc, char **argv) {
  yoke_context *ctx = NULL; yoke_run_options options = {sizeof options}; yoke_run_summary summary = {sizeof summary};
  options.model = argv[argc - 1]; options.csv = "five.csv";
  if (yoke_context_create(&ctx) != YOKE_OK || yoke_run(ctx, &options, &summary) != YOKE_OK) return 1;
  yoke_run_summary_release(&summary); yoke_context_destroy(&ctx); return puts(yoke_version()) < 0; }
CODE
cp "$folder/five.c" "$folder/five.cc"
cd "$folder"
model=$prefix/share/yoke/examples/chain-safe.yaml # its loops have a version per processor
run "$prefix/bin/yoke" run "$model" -q --csv reference.csv
# check PROGRAM: it runs, with the same bits as the installed program
check() {
  rm -f five.csv
  run "$1" "$model"
  grep -qx "$(pkg-config --modversion yoke)" log || fail "$1 says version $(cat log)"
  run cmp five.csv reference.csv
}
is_shared() { [[ $(ldd "$1") == *libyoke* ]]; } # no pipe: grep -q ends before ldd, and pipefail would call that a failure
cc five.c $(pkg-config --cflags --libs yoke) -o shared_c || fail "pkg-config --libs yoke"
check ./shared_c
is_shared shared_c || fail "pkg-config --libs yoke links the archive"
c++ five.cc $(pkg-config --cflags --libs yoke) -o shared_cc || fail "C++ with pkg-config"
check ./shared_cc
cc five.c $(pkg-config --cflags --libs yoke-static) -o static_c || fail "pkg-config --libs yoke-static"
check ./static_c
if is_shared static_c; then fail "yoke-static links the shared library"; fi
mkdir cmake only_static
cat > cmake/CMakeLists.txt <<'CODE'
cmake_minimum_required(VERSION 3.16)
project(five LANGUAGES C CXX)
find_package(yoke 0.1 REQUIRED)
add_executable(cmake_shared ../five.c)
target_link_libraries(cmake_shared PRIVATE yoke::yoke)
add_executable(cmake_static ../five.cc)
target_link_libraries(cmake_static PRIVATE yoke::static)
CODE
run cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix"
run cmake --build cmake/build
check cmake/build/cmake_shared
check cmake/build/cmake_static
is_shared cmake/build/cmake_shared || fail "yoke::yoke is the archive"
if is_shared cmake/build/cmake_static; then fail "yoke::static is the shared library"; fi
cp -R "$prefix/." only_static # a machine with the archive alone
rm only_static/lib/libyoke.so*
PKG_CONFIG_PATH=only_static/lib/pkgconfig
cc five.c $(pkg-config --cflags --static --libs yoke) -o archive_c || fail "pkg-config --static --libs yoke"
check ./archive_c

# ---- manual pages ----
for page in "$prefix"/share/man/man1/*.1; do
  groff -man -ww -Tutf8 "$page" 2> log > /dev/null
  [ ! -s log ] || { cat log && fail "$page"; }
done

# ---- uninstall ----
run make -C "$folder/tree" uninstall DESTDIR="$stage" PREFIX=/usr
left=$(find "$stage" -not -type d -o -name yoke)
[ -z "$left" ] || fail "make uninstall leaves $left"
echo "$(wc -l < shared) names; programs in C and C++ link, run and have the same bits; nothing is left behind"
