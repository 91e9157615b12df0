#!/bin/bash
# Samples of long tests (tests/sample.h): every line of tests/long.txt names a test that exists, `make test` leaves it out, YOKE_WHOLE=1 does not.
# usage: samples.sh SOURCE_FOLDER FOLDER_OF_TEST_PROGRAMS
set -eu
cd "$1"
bin=$2
fail() {
  echo "failed: $*"
  exit 1
}
while read -r _ program name; do
  source=tests/${program%%_*}/test_${program#*_}.c word=$name
  [ "$program" != pages_manual ] || source=tests/pages/page_list.def word=${name%_does_what_it_shows}
  grep -qw "$word" "$source" || fail "tests/long.txt: $program has no test $name"
done < <(grep -v '^#' tests/long.txt)

# The quickest program of which something is left out, with all left out that is listed.
program=cosimulation_foreign
listed=$(grep -c " $program " tests/long.txt)
sample=$(YOKE_WHOLE=0 YOKE_LONGEST=0 "$bin/$program" 2>&1) || fail "$sample"
whole=$(YOKE_LONGEST=0 YOKE_WHOLE=1 "$bin/$program" 2>&1) || fail "$whole"
count() { grep -c '^\[ RUN ' <<< "$1"; }
[ "$(($(count "$sample") + listed))" = "$(count "$whole")" ] || fail "$listed tests are listed, $(count "$sample") of $(count "$whole") ran"
grep -q '^a sample: ' <<< "$sample" || fail "a sample does not say that it is one"
