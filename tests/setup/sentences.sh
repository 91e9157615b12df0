#!/bin/sh
# What `make` alone and the set-up say: targets; nothing missing; no root; no network. Stand-ins take the place of Debian's tools.
# usage: sentences.sh SOURCE_FOLDER
set -eu
source=${1:?usage: sentences.sh SOURCE_FOLDER}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
fail() {
  echo "failed: $*"
  exit 1
}
# stand_in NAME LINE: a program that does LINE, and tells that it was called
stand_in() {
  printf '#!/bin/sh\necho "%s $*" >> "%s/calls"\n%s\n' "$1" "$folder" "$2" > "$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
mkdir "$folder/bin"
# set_up EXIT_CODE: the set-up with these tools alone ends so; what it says is in $folder/log, what it calls in $folder/calls
set_up() {
  : > "$folder/calls"
  code=0
  PATH="$folder/bin" /bin/sh "$source/scripts/setup" program > "$folder/log" 2>&1 || code=$?
  [ "$code" = "$1" ] || fail "the set-up ends with $code, not $1: $(cat "$folder/log")"
}
for tool in grep env cat; do ln -s "$(command -v $tool)" "$folder/bin/$tool"; done

# nothing is missing: no apt, no network, no root
stand_in dpkg-query 'echo "install ok installed"'
stand_in apt-get 'exit 1'
stand_in id 'echo 1000'
set_up 0
! grep -q apt-get "$folder/calls" || fail "nothing is missing, and apt-get is called: $(cat "$folder/calls")"

# packages are missing, and this is not root
stand_in dpkg-query 'exit 1'
set_up 1
grep -q 'only root may install them' "$folder/log" || fail "without root: $(cat "$folder/log")"
grep -q 'apt-get update && apt-get install -y .*libyaml-dev' "$folder/log" || fail "without root: $(cat "$folder/log")"
! grep -q apt-get "$folder/calls" || fail "without root apt-get is called"

# root without a network
stand_in id 'echo 0'
set_up 1
grep -q 'is there a network?' "$folder/log" || fail "without a network: $(cat "$folder/log")"
grep -q 'later builds need none' "$folder/log" || fail "without a network: $(cat "$folder/log")"

# root with one
stand_in apt-get ':'
set_up 0
grep -q 'apt-get install -y --no-install-recommends .*libyaml-dev' "$folder/calls" || fail "nothing is installed: $(cat "$folder/calls")"

# make alone lists the targets and does nothing else
make -s -C "$source" > "$folder/log"
for target in demo test test-quick build install verify clean; do
  grep -q "^make $target " "$folder/log" || fail "make alone does not name $target"
done
make -s -C "$source" help | cmp - "$folder/log" || fail "make help says something else than make"
make -s -C "$source" BUILD_DIR=/elsewhere > "$folder/log"
grep -q '/elsewhere/yoke' "$folder/log" || fail "BUILD_DIR is not taken"
echo "the set-up says what is wrong"
