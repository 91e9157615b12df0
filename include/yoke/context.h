/* Conventions of all headers.
 *
 * Structs that cross the border begin with their size, so that programs and libraries of different versions understand each other: the
 * caller sets `size` to sizeof the struct, and zero in all other members is the standard or "none":
 *   yoke_run_options options = {.size = sizeof options, .model = "pendulum.yaml"};
 * Where the library fills a struct it fills as much as the caller's size leaves room for. A size that cannot be is YOKE_E_USAGE. Structs without a size
 * are parts of others and never change.
 *
 * *Borrows*: for the call. *Keeps*: must outlive. *Gives*: the caller destroys it. Texts and arrays that a struct was filled with belong to the
 * object it tells of, unless a function releases them. Destroying takes NULL and a pointer to NULL.
 *
 * Functions that give a yoke_status leave a message in `ctx` (which may be NULL) when they fail; `out` is NULL then, if nothing else is said.
 * YOKE_E_MEMORY may come from every one of them. YOKE_E_USAGE comes from every one that takes a struct with a size or texts, where a struct or a text that must be
 * there is NULL, or the number of texts is negative. Objects are not looked at: to work on NULL, where `ctx` is not meant, ends the program.
 *
 * ---- context ----
 * Collects the messages of one thread of control. The library never prints.
 * A context is not shared between threads; tasks that run side by side own one each. Creating one sets BLAS (OpenBLAS,
 * MKL, BLIS) to one thread for the whole process, so that results have the same bits everywhere. */
#ifndef YOKE_CONTEXT_H
#define YOKE_CONTEXT_H

#include <yoke/export.h>
#include <yoke/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_context yoke_context;

typedef enum yoke_severity { YOKE_SEVERITY_ERROR, YOKE_SEVERITY_WARNING, YOKE_SEVERITY_NOTE } yoke_severity;

YOKE_API yoke_status yoke_context_create(yoke_context **out); /* gives; YOKE_E_MEMORY */
YOKE_API void        yoke_context_destroy(yoke_context **ctx);

/* Messages in the order they were recorded, i < n_messages; n_errors counts all errors, n_lost messages that found no place. Texts belong to the
 * context until it is cleared. */
YOKE_API size_t        yoke_context_n_messages(const yoke_context *ctx);
YOKE_API const char   *yoke_context_message(const yoke_context *ctx, size_t i);
YOKE_API yoke_severity yoke_context_message_severity(const yoke_context *ctx, size_t i);
YOKE_API size_t        yoke_context_n_errors(const yoke_context *ctx);
YOKE_API size_t        yoke_context_n_lost(const yoke_context *ctx);
YOKE_API void          yoke_context_clear(yoke_context *ctx);

/* Record an error and return `status`, so that a failure is one line:
 *   return yoke_fail(ctx, YOKE_E_MODEL, "body '%s': mass is %g, expected > 0", name, mass);
 * `ctx` may be NULL (the message is dropped). At most 100 messages are kept; the rest is counted. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
YOKE_API yoke_status
yoke_fail(yoke_context *ctx, yoke_status status, const char *format, ...);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
YOKE_API void
yoke_warn(yoke_context *ctx, const char *format, ...);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
YOKE_API void
yoke_note(yoke_context *ctx, const char *format, ...);

/* ---- hooks ---- */

/* Messages as they come, those too that find no place among the 100: `write` is called on the thread that uses the context, in the middle of the
 * call that made the message, and must not use the context. The text is good for the call. write NULL: none, as at first. */
YOKE_API void yoke_context_set_log(yoke_context *ctx,
                                   void (*write)(void *user, yoke_severity severity, const char *text), void *user);

/* Executor: who runs lists of independent tasks, where the program has threads of its own. */
typedef struct yoke_executor {
  size_t size;      /* of this struct, as the caller knows it */
  int    n_workers; /* so many tasks run at the same time at most, 1 to 4096: each has scratch of its own */
  /* Calls task(data, i) once for every i from 0 to n - 1, on any threads in any order, and returns when all calls have. It is called by the
   * thread that steps, once at a time per simulation. What it leaves out, that thread does itself. */
  void (*run)(void *user, int n, void (*task)(void *data, int i), void *data);
  void *user;
} yoke_executor;

/* Objects that are created with this context from now on have their tasks run by a copy of `executor` where nobody else is asked for
 * (exec NULL or "user"): `run` and `user` must outlive them. Results do not depend on it. NULL: none, as at first.
 * YOKE_E_USAGE: no `run`, a number of workers or a size that cannot be. */
YOKE_API yoke_status yoke_context_set_executor(yoke_context *ctx, const yoke_executor *executor);

/* Memory: where objects take what they consist of, where the program has an allocator of its own. */
typedef struct yoke_memory {
  size_t size; /* of this struct, as the caller knows it */
  /* `bytes` > 0, aligned as malloc does; NULL: there is no memory. */
  void *(*allocate)(void *user, size_t bytes);
  /* What `allocate` gave, with as many bytes. */
  void (*release)(void *user, void *memory, size_t bytes);
  void *user;
} yoke_memory;

/* Objects that are created with this context from now on take their memory from a copy of `memory`: `allocate`, `release` and `user` must outlive them, and are
 * called from every thread that creates, steps or destroys one, several at the same time. What is meant is the large memory: contents of models,
 * plans, subsystems, their matrices and states, couplings, tables of studies. Messages, names that are looked up, texts that are read, heads of objects, snapshots,
 * result files and other libraries (KLU, LAPACK, HDF5, libyaml) use malloc as before. A model that was loaded with one context and is simulated with another keeps
 * its own. NULL: malloc, as at first.
 * YOKE_E_USAGE: `allocate` or `release` is missing, a size that cannot be. */
YOKE_API yoke_status yoke_context_set_memory(yoke_context *ctx, const yoke_memory *memory);

/* Ranks: processes that work on one run together, each with a context of its own. They all make the same calls with the same options, in the same order; every
 * subsystem of a split lives on one of them, and what is coupled travels. */
typedef struct yoke_ranks {
  size_t size;          /* of this struct, as the caller knows it */
  int    rank, n_ranks; /* 0 <= rank < n_ranks */
  /* Every rank gives `bytes` bytes, as many on all; `all` receives those of rank 0, then those of rank 1, and so on (MPI_Allgather). false: that failed. own NULL:
   * this rank has no memory to take part any more, and the others must not wait for it (MPI_Abort). It is called by the thread that uses the context. */
  bool (*gather)(void *user, const void *own, size_t bytes, void *all);
  void *user;
  bool
      allow_mixed; /* ranks on processors, C libraries or kernels of BLAS that differ: their bits may differ. Else such runs are refused */
  /* Rank 0 and rank `to` > 0 call it with the same `size`: what rank 0 has at `bytes` becomes what rank `to` has there (MPI_Send, MPI_Recv). false: that failed. NULL:
   * `gather` serves, which brings what is meant for one rank to all; results are the same. */
  bool (*deliver)(void *user, int to, void *bytes, size_t size);
} yoke_ranks;

/* Runs and simulations that are created with this context from now on are one with those of the other ranks: results are the same, to the bit, as with one, on
 * processors that are the same; rank 0 reads the model file and writes results, and the log of all is on each. A model without a split is run by rank 0. A copy of `ranks` is
 * taken: `gather`, `deliver` and `user` must outlive the context. NULL: one process alone, as at first.
 * YOKE_E_USAGE: no `gather`, a rank or a size that cannot be. Where machines differ runs fail with YOKE_E_UNSUPPORTED. */
YOKE_API yoke_status yoke_context_set_ranks(yoke_context *ctx, const yoke_ranks *ranks);

/* What this rank came to becomes what all came to: the status of the first rank that failed, with its message. yoke_run ends with it; a program calls it behind what may
 * fail on one rank alone. Without ranks it gives `status`. */
YOKE_API yoke_status yoke_context_agree(yoke_context *ctx, yoke_status status);

#ifdef __cplusplus
}
#endif
#endif
