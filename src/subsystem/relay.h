/* Relay: calls of subsystems that live on several ranks.
 *
 * Every rank makes the same calls of all subsystems in the same order. The call of the rank that owns a subsystem does the work and writes a record of what it gave; the
 * same call on the others reads the record (ranked.h). So whoever calls needs not know where a subsystem lives, and all ranks hold the same numbers; on machines that
 * differ they may hold others in what they compute for themselves, and agree on what decisions are made of.
 *
 * Invariants:
 *   1. Records of a list of tasks (yoke_relay_run) travel together behind the list, in one exchange; that of a call outside of lists travels at once.
 *   2. A task calls subsystems of one rank only.
 *   3. Nothing is allocated for records that are not longer than those before. */
#ifndef YOKE_SUBSYSTEM_RELAY_H
#define YOKE_SUBSYSTEM_RELAY_H

#include "base/comm.h"
#include "base/pack.h"
#include "exec/exec.h"

typedef struct yoke_relay yoke_relay;

/* Keeps the communicator. Gives. */
yoke_status yoke_relay_create(yoke_context *ctx, yoke_comm *comm, yoke_relay **out);
void        yoke_relay_destroy(yoke_relay **relay);
int         yoke_relay_rank(const yoke_relay *relay);
int         yoke_relay_n_ranks(const yoke_relay *relay);

/* Collective: tasks 0 ... n-1 (exec.h); owner(user, i) is the rank that owns the subsystem that task i calls. Tasks of this rank are run by `exec`, then those of the others, which
 * only read records, by the caller. `costs` [n]: those of the tasks of this rank are read (exec.h); NULL: not known. exec NULL: all by the caller, one
 * after another. */
void yoke_relay_run(yoke_relay *relay, yoke_exec *exec, int n, int (*owner)(void *user, int i), const yoke_cost *costs,
                    yoke_task task, void *user);

/* Collective, outside of lists: item i of items [n], `size` bytes each, becomes that of rank owner[i]. Where ranks do not work together any more nothing changes. */
void yoke_relay_share(yoke_relay *relay, const int *owner, int n, size_t size, void *items);

/* The next list, or agreement, begins with these numbers, which are the same on all ranks, to the bit: where they are not it ends the work of all. */
void yoke_relay_expect(yoke_relay *relay, size_t n, const double *values);

/* May ranks have numbers that differ in the last digits (base/comm.h)? Then those that decisions are made of are agreed on. */
bool        yoke_relay_is_mixed(const yoke_relay *relay);
/* Collective, outside of lists. Where ranks may differ, in one exchange: status and values of rank 0 on all of them; `what` names the place. Elsewhere nothing
 * is done. Gives the status, or what ended the work of all. */
yoke_status yoke_relay_agree(yoke_relay *relay, const char *what, yoke_status status, size_t bytes, void *values);

/* One call: what it gives is carried from the owner to the others, values in the same order on both sides.
 *
 *   yoke_relay_call call;
 *   yoke_status status = yoke_relay_begin(relay, owner, &call);
 *   if (status == YOKE_OK && call.is_own) status = ... does the work ...;
 *   yoke_carry_status(&call, &status);
 *   if (status == YOKE_OK) yoke_carry(&call, n * sizeof *y, y);
 *   return yoke_relay_end(&call, status); */
typedef struct yoke_relay_call {
  yoke_relay  *relay;
  bool         is_own, is_alone; /* is_alone: outside of lists */
  yoke_pack   *out;              /* the owner writes here ... */
  yoke_unpack *in, own_in;       /* ... and others read here */
  yoke_status  broken;           /* not YOKE_OK: the ranks do not work together any more, and nothing is carried */
} yoke_relay_call;

/* Collective outside of lists, as is the end; a call that has begun is ended. Gives what ended the work of all. */
yoke_status yoke_relay_begin(yoke_relay *relay, int owner, yoke_relay_call *call);
yoke_status yoke_relay_end(yoke_relay_call *call, yoke_status status);

void yoke_carry(yoke_relay_call *call, size_t bytes, void *values);
void yoke_carry_status(yoke_relay_call *call, yoke_status *status);
void yoke_carry_size(yoke_relay_call *call, size_t *size);
/* Messages of ctx (NULL: none) behind the first n. */
void yoke_carry_messages(yoke_relay_call *call, yoke_context *ctx, size_t n);

#endif
