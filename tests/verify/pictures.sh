#!/bin/bash
# Pictures of every mode are valid XML, a million samples are drawn in two seconds of processor time and a megabyte, and a browser shows the
# page of a mechanism without complaint, in motion.
# usage: pictures.sh PROGRAM SOURCE_FOLDER
set -eu
yoke=$(realpath "${1:?usage: pictures.sh PROGRAM SOURCE_FOLDER}") source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder"
fail() {
  echo "failed: $*"
  exit 1
}
for tool in xmllint chromium; do
  command -v $tool > /dev/null || { echo "SKIPPED: $tool is missing (scripts/setup all)" && exit 77; }
done

"$yoke" run "$source/examples/slider-crank.yaml" -q --step auto -o a.h5
"$yoke" run "$source/examples/four-bar-spatial.yaml" -q --set 'output.select=["*"]' -o b.h5
"$yoke" plot a.h5 'bar1.*' -o curves.svg
"$yoke" plot a.h5 'bar1.x' --points --events -o marks.svg
"$yoke" plot a.h5 bar1.y -x bar1.x -o path.svg
"$yoke" plot a.h5 --macro -o macro.svg
"$yoke" plot a.h5 --mechanism -o plane.svg
"$yoke" plot b.h5 --mechanism -o space.svg
"$yoke" plot a.h5 --animate -o moving.svg
"$yoke" converge "$source/examples/two-mass.yaml" --steps 1/200,1/400 --no-local --svg converge.svg -q
"$yoke" stability two-mass --order 0,1 --x re:-2:0:20 --y im:0:10:20 --svg map.svg -q
xmllint --noout ./*.svg "$source"/docs/figures/*.svg || fail "pictures are no XML"
echo "$(ls ./*.svg "$source"/docs/figures/*.svg | wc -l) pictures are valid"

awk 'BEGIN { print "time,x"; for (i = 0; i < 1000000; ++i) printf "%d,%.6g\n", i, i == 123456 ? 7 : sin(0.1 * i) }' > long.csv
TIMEFORMAT='%U %S'
used=$({ time "$yoke" plot long.csv -o long.svg > /dev/null; } 2>&1)
echo "a million samples: $used s of processor time, $(stat -c %s long.svg) bytes"
awk -v used="$used" 'BEGIN { split(used, t, " "); exit !(t[1] + t[2] < 2) }' || fail "a million samples take $used s"
[ "$(stat -c %s long.svg)" -lt 1000000 ] || fail "a million samples take $(stat -c %s long.svg) bytes"

# shot PAGE MILLISECONDS: what the browser shows then; complaints of the page are lines CONSOLE
shot() {
  timeout 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --user-data-dir="$folder/profile" \
    --virtual-time-budget="$2" --window-size=700,700 --screenshot="$folder/$1-$2.png" "file://$folder/$1" > /dev/null 2> log || fail "chromium: $(tail -n 3 log)"
  ! grep CONSOLE log || fail "the browser complains of $1"
  [ -s "$1-$2.png" ] || fail "the browser shows nothing of $1"
}
"$yoke" plot a.h5 --animate -o moving.html
"$yoke" plot a.h5 --mechanism -o still.html
for page in moving.html still.html; do shot $page 50; shot $page 400; done
! cmp -s moving.html-50.png moving.html-400.png || fail "the mechanism does not move"
cmp -s still.html-50.png still.html-400.png || fail "a drawing at fixed times moves"
echo "the browser shows the mechanism in motion"
