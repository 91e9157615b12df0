#!/bin/sh
# A program that was built without MPI says so under a launcher, once, and one that was not started by one does not care.
# usage: alone.sh PROGRAM, from the top of the tree
set -eu
program=$1
for rank in 0 1; do
  code=0
  said=$(OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=$rank "$program" run examples/two-mass.yaml --t-end 0.01 2>&1) || code=$?
  [ "$code" = 2 ] || { echo "exit code $code, expected 2"; exit 1; }
  case "$rank $said" in
    "0 error: a launcher started 2 processes"*"built without MPI"*) ;;
    "1 ") ;;
    *) echo "rank $rank says: $said"; exit 1 ;;
  esac
done
SLURM_NTASKS=4 SLURM_PROCID=0 "$program" run examples/two-mass.yaml --t-end 0.01 --quiet
