#!/bin/bash
# The README as written, on a bare Debian 12: `make demo` installs, builds and draws. Root's copy of the tree is read-only and without git;
# then an ordinary user builds again without a network. Prints a transcript with times and numbers of packages.
# usage: [YOKE_BARE=FOLDER] bare.sh SOURCE_FOLDER
#   FOLDER: what `debootstrap --variant=minbase bookworm FOLDER` made; it is copied, not changed. Without it, or without root: skipped (77).
set -eu
source=${1:?usage: bare.sh SOURCE_FOLDER}
bare=${YOKE_BARE:-}
most_packages=90
if [ "$(id -u)" != 0 ] || [ ! -x "${bare:-/none}/usr/bin/apt-get" ]; then
  echo "SKIPPED: needs root, and YOKE_BARE, a folder that debootstrap made"
  exit 77
fi
folder=$(mktemp -d "$(dirname "$bare")/bare.XXXXXX")
trap 'rm -rf "$folder"' EXIT INT TERM
fail() {
  echo "failed: $*"
  exit 1
}
# times: user and system seconds of what follows
inside() { chroot "$folder" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }
as_user() { inside setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/tmp "$@"; }
packages() { inside dpkg-query -W | wc -l; }
TIMEFORMAT='  %R s, %U s + %S s of processor time'

cp -a "$bare/." "$folder"
cp /etc/resolv.conf "$folder/etc/resolv.conf"
[ -e "$folder/dev/null" ] || mknod -m 666 "$folder/dev/null" c 1 3
mkdir -p "$folder/src"
(cd "$source" && tar --exclude=./.git --exclude='./build*' -cf - .) | tar -C "$folder/src" -xf -
chmod -R a-w "$folder/src"

# What the README says before anything else; git is for those who clone.
before=$(packages)
echo '$ apt-get update && apt-get install -y git make ca-certificates'
time inside sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q git make ca-certificates' > "$folder/log" 2>&1 ||
  fail "$(tail -n 5 "$folder/log")"
tools=$(packages)
echo "  $((tools - before)) packages"

# An ordinary user cannot install, and is told how.
as_user make -C /src demo BUILD_DIR=/tmp/none > "$folder/log" 2>&1 && fail "a user without packages comes through"
grep -q 'only root may install them' "$folder/log" || fail "a user without packages reads: $(cat "$folder/log")"

echo '$ make demo BUILD_DIR=/build        (read-only sources, no git)'
time inside make -C /src demo BUILD_DIR=/build > "$folder/log" 2>&1 || fail "$(tail -n 20 "$folder/log")"
sed -n '/^two bars/,$p' "$folder/log" | sed 's/^/  /'
grep -q 'without settings:  off by [0-9.]*e-0[5-9] m' "$folder/log" || fail "the demo says: $(tail -n 8 "$folder/log")"
[ -s "$folder/build/demo.svg" ] && [ -s "$folder/build/demo.html" ] || fail "no pictures in /build"
n=$(($(packages) - tools))
echo "  $n packages"
[ "$n" -le "$most_packages" ] || fail "more than $most_packages packages"

# The same as an ordinary user, without a network: nothing is missing any more.
rm "$folder/etc/resolv.conf"
echo '$ make demo BUILD_DIR=/tmp/build    (ordinary user, no network)'
time as_user make -C /src demo BUILD_DIR=/tmp/build > "$folder/log" 2>&1 || fail "$(tail -n 20 "$folder/log")"
[ -s "$folder/tmp/build/demo.svg" ] || fail "no picture of the user"
echo '$ build/yoke new first && build/yoke run first.yaml -o first.h5 && build/yoke plot first.h5 -o first.svg'
as_user sh -c 'cd /tmp && build/yoke new first && build/yoke run first.yaml -q -o first.h5 && build/yoke plot first.h5 -o first.svg' | sed 's/^/  /'
[ -s "$folder/tmp/first.svg" ] || fail "no picture of the first model"
echo "a bare Debian comes to its demo"
