#!/bin/sh
# What programs that are built with the library rely on, against the list abi.txt beside this file: exported names, functions as
# they are declared, sizes of public structs and offsets of their members, values of enumerations (64-bit Linux).
# usage: abi.sh [--update] LIBRARY [C_COMPILER]
#   --update  writes the list; lines that are gone or changed ask for a new version (include/yoke/version.h), new ones do not
set -eu
update=""
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
library=${1:?usage: abi.sh [--update] LIBRARY [C_COMPILER]} compiler=${2:-cc}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo '#include <yoke/yoke.h>' > "$folder/all.c"

names() {
  readelf -d "$library" | sed -n 's/.*Library soname: \[\(.*\)\]/soname \1/p'
  nm -D --defined-only "$library" | awk '{ print "name", $NF }' | LC_ALL=C sort
}

# Declarations of our headers that are functions, one per line.
functions() {
  "$compiler" -std=c17 -E -I"$here/../../include" "$folder/all.c" |
    awk '/^# [0-9]+ "/ { ours = $3 ~ /\/yoke\/[a-z_]*[.]h"/; next } ours' | tr -s ' \t\n' '   ' |
    sed -e 's/__attribute__ *((visibility("default")))//g' -e 's/__attribute__ *((format([^)]*)))//g' |
    awk 'BEGIN { RS = "[;{}]" } /[(]/ && !/[(] *[*]/ && !/typedef/ { gsub(/^ +| +$/, ""); gsub(/ +/, " "); print "function", $0 }' |
    LC_ALL=C sort
}

# Structs and enumerations, as the compiler describes them to a debugger.
layouts() {
  "$compiler" -std=c17 -g -fno-eliminate-unused-debug-types -I"$here/../../include" -c "$folder/all.c" -o "$folder/all.o"
  readelf --debug-dump=info "$folder/all.o" | awk '
    /Abbrev Number/ { tag = $NF; if (tag ~ /structure_type|enumeration_type|base_type|typedef/) owner = name = "" }
    /DW_AT_name/ { name = $NF; if (tag ~ /structure_type/) owner = name }
    /DW_AT_byte_size/ && tag ~ /structure_type/ && owner ~ /^yoke_/ { print "struct", owner, "size", $NF }
    /DW_AT_data_member_location/ && owner ~ /^yoke_/ { print "struct", owner, name, "at", $NF }
    /DW_AT_const_value/ && name ~ /^YOKE_/ { print "value", name, $NF }' |
    LC_ALL=C sort -s -k 1,2
}

{ names && functions && layouts; } > "$folder/abi.txt"
for part in soname name function struct value; do # none of them is empty by accident
  grep -q "^$part " "$folder/abi.txt" || { echo "no line '$part' was found"; exit 1; }
done
code=0
diff -u "$here/abi.txt" "$folder/abi.txt" > "$folder/diff" || code=$?
if [ "$code" = 0 ]; then
  echo "$(wc -l < "$folder/abi.txt") lines, none differs"
  exit 0
fi
sed -n '4,$p' "$folder/diff"
if grep -q '^-[a-z]' "$folder/diff" && ! grep -q '^-soname' "$folder/diff"; then
  echo "lines are gone or changed: programs built with this version may fail, raise it in include/yoke/version.h"
fi
if [ -n "$update" ]; then
  cp "$folder/abi.txt" "$here/abi.txt"
  echo "written: $here/abi.txt"
  exit 0
fi
echo "if this is wanted: tests/verify/abi.sh --update build/libyoke.so"
exit 1
