/* Cancel: how a long computation learns that it shall end. It hangs on the context, so it reaches every integration that
 * is given one; integrators look at it before every micro step and then give YOKE_E_INTERRUPTED without a message: who
 * started the computation says what it means. */
#ifndef YOKE_BASE_CANCEL_H
#define YOKE_BASE_CANCEL_H

#include <yoke/context.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct yoke_cancel {
  const volatile sig_atomic_t *flag; /* not 0: end; set by a signal handler. NULL: none */
  bool (*go_on)(void *user);         /* asked now and then, on the thread of control only; false: end. NULL: none */
  void       *user;
  atomic_bool is_stopped; /* go_on said no */
  /* Where several ranks work on one run (base/comm.h) an end is only wished for until all know of it; tasks, which belong to one rank, end at once. */
  bool        needs_agreement;
  atomic_bool is_agreed;
} yoke_cancel;

/* Does this process want to end? */
static inline bool yoke_cancel_is_wanted(yoke_cancel *cancel) {
  return (cancel->flag != NULL && *cancel->flag != 0) ||
         atomic_load_explicit(&cancel->is_stopped, memory_order_relaxed);
}

/* From now on `ctx` is cancelled when `cancel` (kept) says so. NULL ends it. */
void yoke_context_watch(yoke_context *ctx, yoke_cancel *cancel);

/* `ctx`, the context of a task, is cancelled together with `of`. `is_control`: the task runs on the thread of control. */
void yoke_context_watch_with(yoke_context *ctx, const yoke_context *of, bool is_control);

/* ctx may be NULL: never. */
bool yoke_context_is_cancelled(yoke_context *ctx);

/* YOKE_E_INTERRUPTED where that is so, for YOKE_TRY between the stages of a set-up. */
static inline yoke_status yoke_context_go_on(yoke_context *ctx) {
  return yoke_context_is_cancelled(ctx) ? YOKE_E_INTERRUPTED : YOKE_OK;
}

#endif
