#include <yoke/context.h>
#include "base/assert.h"
#include "base/blas.h"
#include "base/cancel.h"
#include "base/comm.h"
#include "base/hooks.h"
#include "base/sized.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_MESSAGES = 100, MAX_LENGTH = 2000, ASK_EVERY = 256 /* looks at a cancel, before go_on is asked */ };

struct yoke_context {
  size_t        n;          /* messages kept */
  size_t        n_errors;   /* errors recorded, also those not kept */
  size_t        n_lost;     /* warnings and notes that were not kept */
  yoke_cancel  *cancel;     /* NULL: none */
  bool          is_control; /* may ask cancel->go_on */
  bool          is_task;    /* of a task: cancelled without agreement */
  unsigned      n_looks;
  char         *text[MAX_MESSAGES];
  yoke_severity severity[MAX_MESSAGES];
  void (*log)(void *user, yoke_severity severity, const char *text); /* NULL: none */
  void                           *log_user;
  yoke_executor                   executor;   /* run NULL: none */
  yoke_memory                     memory;     /* allocate NULL: none */
  yoke_attachment                 attachment; /* data NULL: none */
  const struct yoke_arena_source *pool;       /* NULL: none is open */
  yoke_comm                      *comm;       /* NULL: alone */
};

yoke_status yoke_context_create(yoke_context **out) {
  yoke_blas_use_one_thread(); /* here, because every use of the library begins with a context */
  *out = calloc(1, sizeof **out);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

void yoke_context_destroy(yoke_context **ctx) {
  if (ctx == NULL || *ctx == NULL) return;
  yoke_context_clear(*ctx);
  if ((*ctx)->attachment.data != NULL) (*ctx)->attachment.destroy((*ctx)->attachment.data);
  yoke_comm_destroy(&(*ctx)->comm);
  free(*ctx);
  *ctx = NULL;
}

size_t yoke_context_n_messages(const yoke_context *ctx) {
  return ctx->n;
}

const char *yoke_context_message(const yoke_context *ctx, size_t i) {
  return ctx->text[i] != NULL ? ctx->text[i] : "out of memory";
}

yoke_severity yoke_context_message_severity(const yoke_context *ctx, size_t i) {
  return ctx->severity[i];
}

size_t yoke_context_n_errors(const yoke_context *ctx) {
  return ctx->n_errors;
}

size_t yoke_context_n_lost(const yoke_context *ctx) {
  return ctx->n_lost;
}

void yoke_context_clear(yoke_context *ctx) {
  for (size_t i = 0; i < ctx->n; ++i) free(ctx->text[i]);
  ctx->n        = 0;
  ctx->n_errors = ctx->n_lost = 0;
}

/* Where all places are taken, the newest note gives way to warnings and errors, then the newest warning to errors. */
static bool make_room(yoke_context *ctx, yoke_severity severity) {
  if (ctx->n < MAX_MESSAGES) return true;
  size_t i = 0;
  for (yoke_severity least = YOKE_SEVERITY_NOTE; i == 0 && least > severity; --least) {
    for (i = ctx->n; i > 0 && ctx->severity[i - 1] != least;) --i;
  }
  if (i == 0) return false;
  free(ctx->text[i - 1]);
  for (; i < ctx->n; ++i) {
    ctx->text[i - 1]     = ctx->text[i];
    ctx->severity[i - 1] = ctx->severity[i];
  }
  --ctx->n;
  ++ctx->n_lost;
  return true;
}

static void record(yoke_context *ctx, yoke_severity severity, const char *format, va_list args) {
  if (ctx == NULL) return;
  if (severity == YOKE_SEVERITY_ERROR) ++ctx->n_errors;
  const bool has_room = make_room(ctx, severity);
  if (!has_room && severity != YOKE_SEVERITY_ERROR) ++ctx->n_lost;
  if (!has_room && ctx->log == NULL) return;
  char text[MAX_LENGTH];
  vsnprintf(text, sizeof text, format, args);
  if (ctx->log != NULL) ctx->log(ctx->log_user, severity, text);
  if (!has_room) return;
  ctx->text[ctx->n]     = yoke_text_copy(text);
  ctx->severity[ctx->n] = severity;
  ++ctx->n;
}

yoke_status yoke_fail(yoke_context *ctx, yoke_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  record(ctx, YOKE_SEVERITY_ERROR, format, args);
  va_end(args);
  return status;
}

void yoke_warn(yoke_context *ctx, const char *format, ...) {
  va_list args;
  va_start(args, format);
  record(ctx, YOKE_SEVERITY_WARNING, format, args);
  va_end(args);
}

void yoke_note(yoke_context *ctx, const char *format, ...) {
  va_list args;
  va_start(args, format);
  record(ctx, YOKE_SEVERITY_NOTE, format, args);
  va_end(args);
}

/* ---- hooks ---- */

void yoke_context_set_log(yoke_context *ctx, void (*write)(void *user, yoke_severity severity, const char *text),
                          void         *user) {
  ctx->log      = write;
  ctx->log_user = user;
}

yoke_status yoke_context_set_executor(yoke_context *ctx, const yoke_executor *executor) {
  yoke_executor own;
  if (ctx == NULL) return YOKE_E_USAGE; /* there is nobody to tell */
  YOKE_TRY(yoke_sized_take(ctx, executor, &own, sizeof own, "yoke_executor"));
  if (executor != NULL && (own.run == NULL || own.n_workers < 1 || own.n_workers > YOKE_MOST_WORKERS)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "an executor with %s and %d workers, expected a function and 1 to %d",
                     own.run == NULL ? "no function `run`" : "a function `run`", own.n_workers, YOKE_MOST_WORKERS);
  }
  ctx->executor = own;
  return YOKE_OK;
}

yoke_status yoke_context_set_memory(yoke_context *ctx, const yoke_memory *memory) {
  yoke_memory own;
  if (ctx == NULL) return YOKE_E_USAGE;
  YOKE_TRY(yoke_sized_take(ctx, memory, &own, sizeof own, "yoke_memory"));
  if (memory != NULL && (own.allocate == NULL || own.release == NULL)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "memory without a function `%s`, expected both",
                     own.allocate == NULL ? "allocate" : "release");
  }
  ctx->memory = own;
  return YOKE_OK;
}

yoke_status yoke_context_set_ranks(yoke_context *ctx, const yoke_ranks *ranks) {
  yoke_ranks own;
  if (ctx == NULL) return YOKE_E_USAGE;
  YOKE_TRY(yoke_sized_take(ctx, ranks, &own, sizeof own, "yoke_ranks"));
  if (ranks != NULL && (own.gather == NULL || own.rank < 0 || own.rank >= own.n_ranks)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "rank %d of %d with %s, expected a function and a rank below their number",
                     own.rank, own.n_ranks, own.gather == NULL ? "no function `gather`" : "a function `gather`");
  }
  yoke_comm_destroy(&ctx->comm);
  if (ranks == NULL || own.n_ranks == 1) return YOKE_OK;
  return yoke_comm_create(&own, &ctx->comm) == YOKE_OK
             ? YOKE_OK
             : yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for %d ranks", own.n_ranks);
}

yoke_status yoke_context_agree(yoke_context *ctx, yoke_status status) {
  return ctx != NULL && ctx->comm != NULL ? yoke_comm_settle(ctx->comm, status, ctx) : status;
}

yoke_comm *yoke_context_comm(const yoke_context *ctx) {
  return ctx != NULL ? ctx->comm : NULL;
}

bool yoke_context_is_first(const yoke_context *ctx) {
  const yoke_comm *comm = yoke_context_comm(ctx);
  return comm == NULL || yoke_comm_rank(comm) == 0;
}

const yoke_memory *yoke_context_memory(const yoke_context *ctx) {
  return ctx != NULL && ctx->memory.allocate != NULL ? &ctx->memory : NULL;
}

const struct yoke_arena_source *yoke_context_pool(const yoke_context *ctx) {
  return ctx != NULL ? ctx->pool : NULL;
}

void yoke_context_set_pool(yoke_context *ctx, const struct yoke_arena_source *pool) {
  ctx->pool = pool;
}

const yoke_executor *yoke_context_executor(const yoke_context *ctx) {
  return ctx != NULL && ctx->executor.run != NULL ? &ctx->executor : NULL;
}

void *yoke_context_attached(const yoke_context *ctx) {
  return ctx != NULL ? ctx->attachment.data : NULL;
}

void yoke_context_attach(yoke_context *ctx, const yoke_attachment *attachment) {
  YOKE_ASSERT(ctx->attachment.data == NULL);
  ctx->attachment = *attachment;
}

/* ---- cancel ---- */

void yoke_context_watch(yoke_context *ctx, yoke_cancel *cancel) {
  if (ctx == NULL) return;
  ctx->cancel     = cancel;
  ctx->is_control = true;
  ctx->is_task    = false;
}

void yoke_context_watch_with(yoke_context *ctx, const yoke_context *of, bool is_control) {
  if (ctx == NULL) return;
  ctx->cancel     = of != NULL ? of->cancel : NULL;
  ctx->is_control = is_control && of != NULL && of->is_control;
  ctx->is_task    = true;
}

bool yoke_context_is_cancelled(yoke_context *ctx) {
  if (ctx == NULL || ctx->cancel == NULL) return false;
  yoke_cancel *cancel = ctx->cancel;
  if (cancel->needs_agreement && !ctx->is_task) return atomic_load_explicit(&cancel->is_agreed, memory_order_relaxed);
  if (yoke_cancel_is_wanted(cancel)) return true;
  if (cancel->go_on == NULL || !ctx->is_control || ++ctx->n_looks % ASK_EVERY != 0) return false;
  if (cancel->go_on(cancel->user)) return false;
  atomic_store_explicit(&cancel->is_stopped, true, memory_order_relaxed);
  return true;
}
