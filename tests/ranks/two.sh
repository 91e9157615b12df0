#!/bin/sh
# The program on two ranks, for tests that know one program (YOKE_PROGRAM).
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
exec "${YOKE_MPIRUN:-mpirun}" -n 2 "${YOKE_RANKED_PROGRAM:-build/yoke}" "$@"
