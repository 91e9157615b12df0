#!/bin/sh
# F43: lets allocations of the whole program fail, those of libyaml, KLU, METIS, LAPACK and OpenMP too: exit code 7 and a message, never a
# signal or a code of a library. HDF5 1.10 crashes when it is refused memory and is left out; the program asks for room before it calls it.
# usage: out_of_memory.sh PROGRAM failing_malloc.so
set -eu
program=$1 library=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/model.yaml" <<'MODEL'
yoke: 1
name: pendulum and cart
gravity: [0, -9.81]
t_end: 0.02
bodies:
  cart: {kind: planar, mass: 2, inertia: 1}
  rod: {kind: planar, mass: 1, inertia: 0.1, angle: pi/2, position: [0, -0.5], frames: {top: [0.5, 0]}}
connections:
  rail: {kind: translational, between: [ground, cart], axis: [1, 0, 0]}
  hinge: {kind: revolute, between: [cart, rod.top]}
  spring: {kind: spring-damper, between: [ground, cart], stiffness: 10, damping: 1, free_length: 0.1}
split: {a: [cart], b: [rod]}
cosimulation: {step: 0.01}
solvers: {default: {kind: radau5}}
MODEL

# runs COMMAND with the allocations 1, 1 + STEP, ... failing
check() {
  samples=$1
  shift
  YOKE_COUNT_TO="$folder/count" LD_PRELOAD="$library" "$program" "$@" > /dev/null 2>&1
  total=$(cat "$folder/count") at=1 n_refused=0
  step=$((total / samples + 1))
  while [ "$at" -le "$total" ]; do
    code=0
    YOKE_FAIL_AT=$at LD_PRELOAD="$library" timeout 60 "$program" "$@" > /dev/null 2> "$folder/err" || code=$?
    if [ "$code" != 0 ]; then
      n_refused=$((n_refused + 1))
      if [ "$code" != 7 ] || ! grep -Eq 'out of memory|Cannot allocate memory' "$folder/err"; then
        echo "yoke $*: allocation $at of $total: exit code $code" && cat "$folder/err" && exit 1
      fi
    fi
    at=$((at + step))
  done
  echo "yoke $*: $total allocations, $samples of them failed, $n_refused ended with exit code 7"
  [ "$n_refused" -gt $((samples / 2)) ]
}

cd "$folder"
check 120 run model.yaml -q --monolithic --threads 1 --csv out.csv
check 120 run model.yaml -q --threads 2 --csv out.csv
check 60 stability model.yaml
