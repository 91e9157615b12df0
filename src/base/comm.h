/* Comm: what the ranks of a context (yoke/context.h) tell each other.
 *
 * Every rank runs the same program on the same numbers and makes the same exchanges in the same order.
 *
 * Invariants:
 *   1. An exchange is collective: every rank gives a block of bytes and sees those of all. What an exchange is for (`kind`, `check`) is told along;
 *      ranks that are not at the same place find that out, all at once, and none waits for ever.
 *   2. A rank that cannot go on leaves: the exchange that the others are in, or come to, fails, and so does every later one until all have settled.
 *   3. One that waits sees wishes to end of any rank: they are agreed on (base/cancel.h) at the same exchange everywhere.
 *   4. Nothing is allocated for blocks that are not longer than those before. */
#ifndef YOKE_BASE_COMM_H
#define YOKE_BASE_COMM_H

#include <yoke/context.h>
#include <stdint.h>

typedef struct yoke_comm yoke_comm;
struct yoke_cancel;

/* Of a context; NULL: it is alone. ctx may be NULL. */
yoke_comm *yoke_context_comm(const yoke_context *ctx);
/* Rank 0, or alone. */
bool       yoke_context_is_first(const yoke_context *ctx);

yoke_status yoke_comm_create(const yoke_ranks *ranks, yoke_comm **out);
void        yoke_comm_destroy(yoke_comm **comm);
int         yoke_comm_rank(const yoke_comm *comm);
int         yoke_comm_size(const yoke_comm *comm);

/* May its ranks have numbers that differ in the last digits? */
bool yoke_comm_is_mixed(const yoke_comm *comm);

/* What exchanges are for. */
enum { YOKE_COMM_END, YOKE_COMM_SETUP, YOKE_COMM_CALL, YOKE_COMM_LIST, YOKE_COMM_AGREE };

/* Collective. `check` is the same on all ranks that are at the same place. The blocks of all are there until the next exchange. A failure ends the work: its
 * message comes from yoke_comm_settle. */
yoke_status          yoke_comm_exchange(yoke_comm *comm, int kind, uint32_t check, const void *own, size_t size);
const unsigned char *yoke_comm_block(const yoke_comm *comm, int rank, size_t *size);

/* Can bytes of rank 0 go to another rank alone? Then both make this call, behind an exchange that told the other ranks to expect nothing. */
bool        yoke_comm_can_deliver(const yoke_comm *comm);
yoke_status yoke_comm_pass(yoke_comm *comm, int to, void *bytes, size_t size);

/* Collective: do all ranks begin the same work, `task`, on machines that give the same bits? YOKE_E_USAGE: not the same; YOKE_E_UNSUPPORTED with the names of two
 * machines that differ, unless that is allowed. */
yoke_status yoke_comm_begin(yoke_comm *comm, const char *task, yoke_context *ctx);

/* Behind yoke_comm_begin: where machines differ, a line for the first rank of each kind, "rank 2: avx2 fma; glibc 2.36; OpenBLAS 0.3.21 Haswell"; "": they are
 * the same. */
const char *yoke_comm_machines(const yoke_comm *comm);

/* YOKE_OK, or what ended the work of all. */
yoke_status yoke_comm_state(const yoke_comm *comm);

/* This rank cannot go on, for the reason `text`: the others learn it at their next exchange. */
void        yoke_comm_leave(yoke_comm *comm, yoke_status status, const char *text);
/* Collective: the work of all is over, here with `status`. Gives the status of all: the first failure, with a message of the rank that failed. */
yoke_status yoke_comm_settle(yoke_comm *comm, yoke_status status, yoke_context *ctx);

/* Wishes of this rank to end come from `cancel` (kept), and what is agreed on goes there. NULL: nobody wishes. */
void yoke_comm_watch(yoke_comm *comm, struct yoke_cancel *cancel);

#endif
