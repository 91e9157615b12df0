#!/bin/sh
# The programs of examples/c, built with the installed package alone, as C and as C++: they run, and say what they should.
# usage: c_programs.sh BUILD_FOLDER CMAKE CC CXX
set -eu
build=$1 cmake=$2 cc=$3 cxx=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
fail() {
  echo "failed: $*"
  exit 1
}
"$cmake" --install "$build" --prefix "$folder/usr" > "$folder/log" 2>&1 || { cat "$folder/log" && fail "install"; }
export PKG_CONFIG_PATH="$folder/usr/lib/pkgconfig" LD_LIBRARY_PATH="$folder/usr/lib" OPENBLAS_NUM_THREADS=1
cd "$folder"
for source in usr/share/yoke/examples/c/*.c; do
  name=$(basename "$source" .c)
  "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror "$source" $(pkg-config --cflags --libs yoke) -lm -pthread -o "$name" || fail "$name in C"
  "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -x c++ "$source" -x none $(pkg-config --cflags --libs yoke) -lm -pthread -o "$name++" ||
    fail "$name in C++"
  "./$name" > "$name.c.txt" || fail "$name"
  "./$name++" > "$name.cc.txt" || fail "$name as C++"
  cmp "$name.c.txt" "$name.cc.txt" || fail "$name says something else as C++"
done

# stepwise: the force changes twice, and the file holds all three
./stepwise crane.csv > log
[ "$(grep -c 'from here on' log)" = 2 ] || fail "stepwise: $(cat log)"
[ "$(cut -d, -f5 crane.csv | tail -n +2 | sort -u | wc -l)" = 3 ] || fail "stepwise: forces in crane.csv"
# own_subsystem: as near to the body of the model as the tolerance 1e-6 asks for
awk 'NR > 1 && ($4 > 1e-7 || $4 < -1e-7) { exit 1 } END { exit NR != 3 }' own_subsystem.c.txt || fail "own_subsystem: $(cat own_subsystem.c.txt)"
# built_by_calls: what it prints is a model file of the same run
./built_by_calls 4 text > rods.txt
sed '$d' rods.txt > rods.yaml
x=$(usr/bin/yoke run rods.yaml -q --print rod4.tip.x | sed 's/.* //')
tail -n 1 rods.txt | grep -qF "($(printf %.9f "$x")," || fail "built_by_calls: $(tail -n 1 rods.txt), its file says $x"
# ensemble: the same for any number of threads
./ensemble 1 | cmp - ensemble.c.txt || fail "ensemble with one thread"
echo "$(ls usr/share/yoke/examples/c/*.c | wc -l) programs in C and C++"
