/* Launch: several processes of the program that a launcher (mpirun, srun) started together. Without one MPI is not touched. */
#ifndef YOKE_CLI_LAUNCH_H
#define YOKE_CLI_LAUNCH_H

#include "options.h"

/* PARSE_DONE or an exit code: processes that do not see each other are refused, they would write the same files, and so are ranks with different
 * arguments. Behind it only rank 0 prints. */
int         launch_begin(int argc, char **argv);
/* Waits for the others; gives the exit code of this rank, `code` on rank 0 only: a launcher ends all ranks when one of them ends with another code than 0. */
int         launch_end(int code);
/* 0 without a launcher. */
int         launch_rank(void);
/* Threads of a rank: what was asked for, with a warning where that is more than the process has processors; 0 becomes a fair share of the processors where ranks of
 * one machine are not bound to some. */
int         launch_threads(int asked);
/* The context works together with those of the other ranks. allow_mixed: also on processors that differ. */
yoke_status launch_join(yoke_context *ctx, bool allow_mixed);

#endif
