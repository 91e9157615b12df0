#!/bin/sh
# The program under a launcher: bits, messages, exit codes.
# usage: mpirun.sh MPIRUN PROGRAM, from the top of the tree
set -eu
mpirun=$1 program=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
failed=0

fail() {
  echo "FAILED: $*"
  failed=1
}

# Bits of n ranks are those of one process: schemes, step control, events, joints in space, a chain.
same() {
  n=$1
  shift
  "$program" run "$@" --csv "$folder/one.csv" --threads 1 --quiet
  "$mpirun" -n "$n" "$program" run "$@" --csv "$folder/many.csv" --quiet || fail "$n ranks: $*"
  cmp -s "$folder/one.csv" "$folder/many.csv" || fail "other bits on $n ranks: $*"
}
same 2 examples/two-mass.yaml --t-end 0.05 --scheme implicit
same 4 examples/two-mass.yaml --t-end 0.05 --scheme explicit --sequence gauss-seidel
same 2 tests/bits/ball.yaml --t-end 0.3
same 2 examples/two-mass.yaml --t-end 0.05 --set 'output.integrals=[m2.x]'
same 2 examples/double-pendulum.yaml --t-end 0.05 --set 'cosimulation={lockstep: true}'
same 2 examples/robot-arm-split.yaml --t-end 0.02
same 4 examples/chain-m2.yaml --t-end 2e-5
same 2 examples/kinematic-two-mass.yaml --t-end 0.1 --set 'cosimulation.substeps={R: 2, F: 4}'

# A run is judged as that of one process is.
judge='examples/two-mass.yaml --scheme explicit --step 0.005 --t-end 0.2 --energy monitor --set cosimulation.energy_limit=1e-9'
# shellcheck disable=SC2086 # words
"$program" run $judge --csv "$folder/one.csv" --quiet 2>"$folder/one"
# shellcheck disable=SC2086
"$mpirun" -n 2 "$program" run $judge --csv "$folder/many.csv" --quiet 2>"$folder/many" || fail "energy_limit"
grep -q 'have brought up to' "$folder/one" || fail "no leak: $(cat "$folder/one")"
grep '^warning' "$folder/one" > "$folder/expected"
grep '^warning' "$folder/many" | cmp -s "$folder/expected" - || fail "another verdict on 2 ranks: $(cat "$folder/many")"

# Results in HDF5 come from one rank.
"$mpirun" -n 2 "$program" run examples/two-mass.yaml --t-end 0.01 -o "$folder/a.h5" --quiet || fail "HDF5"
"$program" info "$folder/a.h5" >/dev/null || fail "info"

# An error has one message and its own exit code.
code=0
"$mpirun" -n 3 "$program" run "$folder/none.yaml" 2>"$folder/err" || code=$?
[ "$code" = 7 ] || fail "exit code $code for a file that is not there, expected 7"
[ "$(grep -c '^error: ' "$folder/err")" = 1 ] || fail "messages: $(cat "$folder/err")"

# So does a solver that fails on another rank: what one process says, once.
cat >"$folder/fails.yaml" <<'END'
yoke: 1
t_end: 0.1
bodies: {p: {kind: mass1d, mass: 1, x: 0.1}, q: {kind: mass1d, mass: 2}}
connections: {spring: {kind: spring-damper, between: [p, q], stiffness: 100, damping: 1}}
loads: {pull: {kind: expression, on: q, force: 'sqrt(0.05 - t)'}}
split: {a: [p], b: [q]}
cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}
END
code=0 one=0
"$program" run "$folder/fails.yaml" --quiet 2>"$folder/one" || one=$?
"$mpirun" -n 2 "$program" run "$folder/fails.yaml" --quiet 2>"$folder/err" || code=$?
[ "$code $one" = "4 4" ] || fail "exit code $code for a solver that fails on rank 1, $one alone, expected 4"
grep '^error: ' "$folder/one" >"$folder/expected"
grep -q "^error: subsystem 'b': solver" "$folder/expected" || fail "messages alone: $(cat "$folder/one")"
grep '^error: ' "$folder/err" | cmp -s "$folder/expected" - || fail "messages: $(cat "$folder/err")"

# Without a launcher MPI is not started: it could not, with a transport that there is none of.
OMPI_MCA_pml=none "$program" run examples/two-mass.yaml --t-end 0.01 --quiet || fail "a run without a launcher starts MPI"
! OMPI_MCA_pml=none "$mpirun" -n 2 "$program" run examples/two-mass.yaml --t-end 0.01 --quiet >"$folder/err" 2>&1 ||
  fail "MPI starts with a transport that there is none of"

# Processors that differ are refused unless that is allowed: the last bits of BLAS and of functions would be others on some ranks.
controlled='examples/robot-arm-split.yaml --step auto --t-end 1 --quiet'
mixed() {
  # shellcheck disable=SC2086 # words
  OPENBLAS_CORETYPE=Haswell "$mpirun" -n 1 "$program" run $controlled --csv "$folder/mixed.csv" "$@" : \
    -n 1 -x OPENBLAS_CORETYPE=Sandybridge -x GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4 \
    "$program" run $controlled --csv "$folder/mixed.csv" "$@" 2>"$folder/err"
}
code=0
mixed || code=$?
[ "$code" = 2 ] || fail "exit code $code on mixed processors, expected 2: $(cat "$folder/err")"
grep -q -e '--allow-mixed' "$folder/err" || fail "messages: $(cat "$folder/err")"
mixed --allow-mixed || fail "mixed processors that are allowed: $(cat "$folder/err")"
# shellcheck disable=SC2086
"$program" run $controlled --csv "$folder/one.csv"
"$program" compare "$folder/one.csv" "$folder/mixed.csv" --tol 1e-9 >"$folder/err" || fail "mixed processors: $(cat "$folder/err")"

# Ranks with different arguments would wait for each other.
code=0
"$mpirun" -n 1 "$program" run examples/two-mass.yaml --t-end 0.01 : -n 1 "$program" help >/dev/null 2>"$folder/err" || code=$?
[ "$code" = 2 ] || fail "exit code $code for ranks with different arguments, expected 2"
grep -q 'rank 1 was started with other arguments' "$folder/err" || fail "messages: $(cat "$folder/err")"

# An interrupt of one rank ends all of them, with what was computed.
"$mpirun" -n 2 sh -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || echo $$ >"$1/pid"; exec "$2" run examples/two-mass.yaml --t-end 1e5 --csv "$1/cut.csv"' \
  sh "$folder" "$program" >/dev/null 2>"$folder/err" &
launcher=$!
tries=0
# Rows beyond the start are in the file: nothing less is kept, and a busy machine takes its time.
while [ "$(cat "$folder"/cut.part*.csv 2>/dev/null | wc -l)" -lt 4 ] && [ $tries -lt 600 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
[ $tries -lt 600 ] || fail "a run on two ranks writes nothing within a minute"
kill -INT "$(cat "$folder/pid")"
code=0
wait $launcher || code=$?
[ "$code" = 8 ] || fail "exit code $code behind an interrupt, expected 8: $(cat "$folder/err")"
[ -s "$folder/cut.csv" ] || fail "nothing was kept behind an interrupt"

# Everything but runs is done once.
[ "$("$mpirun" -n 3 "$program" --version | wc -l)" = 1 ] || fail "--version of three ranks"
exit $failed
