#!/bin/sh
# The energy account takes less than 3 % of the instructions of examples with a split: `--energy monitor` against `off`, set-up included, one
# thread (docs/methods/energy.md has the numbers). Long runs are cut short; examples whose joints are under step control are measured with fixed steps, because with
# them works are counted along the way and states may be found otherwise (docs/step-control.md).
#   energy_cost.sh PROGRAM SOURCE_FOLDER [EXAMPLE ...]
# Prints per cent for every example: without a result file, and with `-o FILE.h5` in both runs. The latter leaves out HDF5 and the C library, which
# copies and locks for it: they follow the clock, since a file is flushed every second. 77: there is no valgrind.
set -u
program=$1 source=$2
shift 2
command -v valgrind > /dev/null || { echo "SKIPPED: valgrind is missing (scripts/setup all)" && exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# example, end of time ("-": its own), further options
list='
bouncing-contact         0.3
cable-in-mbs             0.02
cable-on-mass            0.02
chain-asym              0.1
chain-conv              0.02
chain-imp-overlap       2e-4
chain-load              1e-4
chain-m1                 -
chain-m2                 5e-3
chain-m3                 0.02
chain-rod               4e-5
chain-safe              1e-3
crane                    0.05   --step 1e-3
beam-slider-crank        0.002  --step 1e-4
double-pendulum-flexible -
double-pendulum          0.5    --step 1e-3
energy-oscillator        -
four-bar-bushing        -
four-bar-fixed           0.2    --step 1e-3
four-bar-spatial         0.3    --step 1e-3
haptic                   2
kinematic-two-mass      -
nonlinear-two-mass       0.1
pendulum-cable           0.2
quarter-car              -
robot-arm-split          0.5
robot-arm                0.3
slider-crank-classic     0.2    --step 1e-3
slider-crank-flexible    -
slider-crank             -      --step 1e-3
two-mass-rigid          -
two-mass                 -
'

instructions() { # libraries that are left out, energy, example, end, options
  left_out=$1 energy=$2 model=$source/examples/$3.yaml end=$4
  shift 4
  [ "$end" = - ] || set -- "$@" --t-end "$end"
  valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$program" run "$model" --energy "$energy" --threads 1 \
    --no-predict "$@" > "$folder/text" 2>&1 || return 1
  # own costs of all functions; `name` is told where a library is met first, also as that of a call, whose costs follow in a line of their own
  awk -v left_out="$left_out" '
    /^c?ob=/ {
      is_call = sub(/^c/, ""); number = $0; sub(/\).*/, ")", number)
      if (index($0, " ")) name[number] = $0
      if (!is_call) now = name[number]
      next
    }
    /^calls=/ {getline; next}
    /^[0-9+*-]/ && !(left_out != "" && now ~ left_out) {n += $2}
    END {printf "%d\n", n}' "$folder/out"
}

share() { # libraries that are left out, example, end, options: per cent, millions of instructions
  libraries=$1
  shift
  with=$(instructions "$libraries" monitor "$@") && without=$(instructions "$libraries" off "$@") || return 1
  awk -v with="$with" -v without="$without" 'BEGIN {printf "%.2f %.0f\n", 100 * (with / without - 1), without / 1e6}'
}

failed=0
while read -r name end options; do
  [ -n "$name" ] || continue
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  fi
  # shellcheck disable=SC2086  # options are words
  if ! plain=$(share "" "$name" "$end" $options < /dev/null) ||
     ! filed=$(share 'libhdf5|libc[.]so' "$name" "$end" $options -o "$folder/out.h5" < /dev/null); then
    echo "$name: the run failed"
    tail -5 "$folder/text"
    failed=1
    continue
  fi
  echo "$name $plain $filed" | awk '{
    printf "%-26s %5.2f %%  of %.0f million, with a file %5.2f %%\n", $1, $2, $3, $4
    exit !($2 < 3 && $4 < 3)
  }' || failed=1
done << LIST
$list
LIST
exit $failed
