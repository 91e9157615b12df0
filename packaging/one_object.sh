#!/bin/sh
# Makes one object of an archive, in which every name is local that is not marked by YOKE_API.
# usage: one_object.sh ARCHIVE OBJECT NM OBJCOPY LINK...
#   LINK...  a compiler and its flags
set -eu
archive=$1 object=$2 nm=$3 objcopy=$4
shift 4
"$@" -r -nostdlib -Wl,--whole-archive "$archive" -o "$object.part"
# gcc shows functions with target_clones, and what chooses among the clones, whatever their visibility.
"$nm" -g --defined-only "$object.part" | awk '$2 == "i" || $3 ~ /[.]resolver$/ { print $3 }' > "$object.names"
"$objcopy" --localize-hidden --localize-symbols="$object.names" "$object.part" "$object"
rm "$object.part" "$object.names"
