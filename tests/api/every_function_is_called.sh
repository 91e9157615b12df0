#!/bin/sh
# Every function that include/yoke shows (YOKE_API) is called by a program of tests/ or examples/: prints those that are not, and fails.
# usage: every_function_is_called.sh SOURCE_FOLDER
set -eu
cd "${1:?usage: every_function_is_called.sh SOURCE_FOLDER}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cat include/yoke/*.h | tr -s ' \n' '  ' | grep -o 'YOKE_API [^;(]*(' | grep -o 'yoke_[a-z0-9_]*(' | sort -u > "$folder/shown"
[ "$(wc -l < "$folder/shown")" -gt 100 ] || { echo "the headers show few functions: are they read as they are written?"; exit 1; }
find tests examples \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -exec cat {} + | grep -o 'yoke_[a-z0-9_]*(' | sort -u > "$folder/called"
comm -23 "$folder/shown" "$folder/called" > "$folder/missing"
sed 's/(/: no test calls it/' "$folder/missing"
[ ! -s "$folder/missing" ]
