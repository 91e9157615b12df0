#include "subsystem/relay.h"

#include "base/memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The record of one task: written, or read. */
typedef struct relay_record {
  yoke_pack   out;
  yoke_unpack in;
} relay_record;

/* Where the records of a rank are being read. */
typedef struct relay_block {
  const unsigned char *bytes;
  size_t               left;
} relay_block;

struct yoke_relay {
  yoke_comm    *comm;
  int           rank;
  pthread_key_t record; /* of the task that a thread runs; NULL: none */
  bool          has_key;
  relay_record *records; /* [n] of the tasks of a list */
  int          *own;     /* [n_own] tasks of this rank, and their costs */
  yoke_cost    *costs;
  size_t        capacity[3];
  relay_block  *blocks;   /* [n_ranks] */
  uint32_t      expected; /* sum of what ranks compare with the next list */
  yoke_pack     out;      /* of a call outside of lists, or of all tasks of this rank */
};

yoke_status yoke_relay_create(yoke_context *ctx, yoke_comm *comm, yoke_relay **out) {
  yoke_relay *relay = *out = yoke_allocate(1, sizeof *relay);
  if (relay == NULL) return yoke_out_of_memory(ctx, "the relay of %d ranks", yoke_comm_size(comm));
  relay->comm    = comm;
  relay->rank    = yoke_comm_rank(comm);
  relay->has_key = pthread_key_create(&relay->record, NULL) == 0;
  relay->blocks  = yoke_allocate((size_t)yoke_comm_size(comm), sizeof *relay->blocks);
  if (relay->has_key && relay->blocks != NULL) return YOKE_OK;
  yoke_relay_destroy(out);
  return yoke_out_of_memory(ctx, "the relay of %d ranks", yoke_comm_size(comm));
}

void yoke_relay_destroy(yoke_relay **out) {
  yoke_relay *relay = *out;
  if (relay == NULL) return;
  for (size_t i = 0; i < relay->capacity[0]; ++i) yoke_pack_free(&relay->records[i].out);
  if (relay->has_key) pthread_key_delete(relay->record);
  yoke_pack_free(&relay->out);
  free(relay->records);
  free(relay->own);
  free(relay->costs);
  free(relay->blocks);
  free(relay);
  *out = NULL;
}

int yoke_relay_rank(const yoke_relay *relay) {
  return relay->rank;
}

int yoke_relay_n_ranks(const yoke_relay *relay) {
  return yoke_comm_size(relay->comm);
}

static void empty(yoke_pack *pack) {
  pack->size       = 0;
  pack->has_failed = false;
}

/* ---- lists ---- */

void yoke_relay_expect(yoke_relay *relay, size_t n, const double *values) {
  uint64_t sum = relay->expected;
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    sum = (sum ^ bits) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  relay->expected = (uint32_t)sum;
}

typedef struct relay_list {
  yoke_relay *relay;
  yoke_task   task;
  void       *user;
} relay_list;

static void run_with(const relay_list *list, int i, int worker) {
  yoke_relay *relay = list->relay;
  pthread_setspecific(relay->record, &relay->records[i]);
  list->task(list->user, i, worker);
  pthread_setspecific(relay->record, NULL);
}

static void run_own(void *user, int k, int worker) {
  const relay_list *list = user;
  const int         i    = list->relay->own[k];
  empty(&list->relay->records[i].out);
  run_with(list, i, worker);
}

/* A rank without memory says so to all. */
static void send_records(yoke_relay *relay, int n_own, uint32_t n) {
  bool has_failed = false;
  empty(&relay->out);
  for (int k = 0; k < n_own; ++k) {
    const yoke_pack *record = &relay->records[relay->own[k]].out;
    yoke_pack_block(&relay->out, record->size, record->bytes);
    has_failed = has_failed || record->has_failed;
  }
  if (has_failed || relay->out.has_failed)
    yoke_comm_leave(relay->comm, YOKE_E_MEMORY, "out of memory for what subsystems gave");
  else
    (void)yoke_comm_exchange(relay->comm, YOKE_COMM_LIST, n, relay->out.bytes, relay->out.size);
  const bool has_come = yoke_comm_state(relay->comm) == YOKE_OK;
  for (int r = 0; r < yoke_comm_size(relay->comm); ++r) {
    relay_block *block = &relay->blocks[r];
    *block             = (relay_block){0};
    if (has_come) block->bytes = yoke_comm_block(relay->comm, r, &block->left);
  }
}

/* The next record of a rank; empty where there is none. */
static yoke_unpack next_record(relay_block *block) {
  yoke_unpack   all  = {.bytes = block->bytes, .size = block->left};
  const int64_t size = yoke_unpack_int64(&all);
  if (all.failure != NULL || size < 0 || (size_t)size > all.size - all.at) return (yoke_unpack){.bytes = block->bytes};
  const yoke_unpack record = {.bytes = all.bytes + all.at, .size = (size_t)size};
  block->bytes             = record.bytes + record.size;
  block->left              = all.size - all.at - record.size;
  return record;
}

void yoke_relay_run(yoke_relay *relay, yoke_exec *exec, int n, int (*owner)(void *user, int i), const yoke_cost *costs,
                    yoke_task task, void *user) {
  relay_list list  = {relay, task, user};
  int        n_own = 0;
  if (n == 0) return;
  if (!yoke_grow(&relay->records, &relay->capacity[0], (size_t)n, sizeof *relay->records) ||
      !yoke_grow(&relay->own, &relay->capacity[1], (size_t)n, sizeof *relay->own) ||
      !yoke_grow(&relay->costs, &relay->capacity[2], (size_t)n, sizeof *relay->costs)) {
    yoke_comm_leave(relay->comm, YOKE_E_MEMORY, "out of memory for what subsystems gave");
    for (int i = 0; i < n; ++i) task(user, i, 0); /* every call fails */
    return;
  }
  for (int i = 0; i < n; ++i) {
    if (owner(user, i) != relay->rank) continue;
    if (costs != NULL) relay->costs[n_own] = costs[i];
    relay->own[n_own++] = i;
  }
  if (exec != NULL) yoke_exec_run(exec, n_own, costs != NULL ? relay->costs : NULL, run_own, &list);
  for (int k = 0; exec == NULL && k < n_own; ++k) run_own(&list, k, 0);
  send_records(relay, n_own, (uint32_t)n ^ relay->expected);
  relay->expected = 0;
  for (int i = 0; i < n; ++i) {
    const int rank = owner(user, i);
    if (rank == relay->rank) continue;
    relay->records[i].in = next_record(&relay->blocks[rank]);
    run_with(&list, i, 0);
  }
}

void yoke_relay_share(yoke_relay *relay, const int *owner, int n, size_t size, void *items) {
  enum { SHARED_ITEMS = 3 };
  if (yoke_comm_exchange(relay->comm, YOKE_COMM_SETUP, SHARED_ITEMS, items, (size_t)n * size) != YOKE_OK) return;
  for (int i = 0; i < n; ++i) {
    size_t               given;
    const unsigned char *theirs = yoke_comm_block(relay->comm, owner[i], &given);
    if (given == (size_t)n * size) memcpy((unsigned char *)items + (size_t)i * size, theirs + (size_t)i * size, size);
  }
}

bool yoke_relay_is_mixed(const yoke_relay *relay) {
  return yoke_comm_is_mixed(relay->comm);
}

yoke_status yoke_relay_agree(yoke_relay *relay, const char *what, yoke_status status, size_t bytes, void *values) {
  if (!yoke_relay_is_mixed(relay)) return status;
  const uint32_t place = (uint32_t)yoke_checksum(YOKE_CHECKSUM_START, what, strlen(what)) ^ (uint32_t)bytes;
  yoke_unpack    in    = {0};
  empty(&relay->out);
  if (relay->rank == 0) {
    yoke_pack_int32(&relay->out, (int32_t)status);
    yoke_pack_append(&relay->out, bytes, values);
  }
  if (relay->out.has_failed) {
    yoke_comm_leave(relay->comm, YOKE_E_MEMORY, "out of memory for what ranks agree on");
    return YOKE_E_MEMORY;
  }
  YOKE_TRY(
      yoke_comm_exchange(relay->comm, YOKE_COMM_AGREE, place ^ relay->expected, relay->out.bytes, relay->out.size));
  relay->expected = 0;
  in.bytes        = yoke_comm_block(relay->comm, 0, &in.size);
  status          = (yoke_status)yoke_unpack_int32(&in);
  if (bytes > 0 && in.size - in.at == bytes) memcpy(values, in.bytes + in.at, bytes);
  return status;
}

/* ---- one call ---- */

yoke_status yoke_relay_begin(yoke_relay *relay, int owner, yoke_relay_call *call) {
  relay_record *record = pthread_getspecific(relay->record);
  *call                = (yoke_relay_call){.relay    = relay,
                                           .is_own   = owner == relay->rank,
                                           .is_alone = record == NULL,
                                           .broken   = yoke_comm_state(relay->comm)};
  if (record != NULL) {
    call->out = &record->out;
    call->in  = &record->in;
    return call->broken;
  }
  call->out = &relay->out;
  call->in  = &call->own_in;
  if (call->is_own) {
    empty(call->out);
  } else if (call->broken == YOKE_OK) {
    call->broken = yoke_comm_exchange(relay->comm, YOKE_COMM_CALL, (uint32_t)owner, NULL, 0);
    if (call->broken == YOKE_OK) call->own_in.bytes = yoke_comm_block(relay->comm, owner, &call->own_in.size);
  }
  return call->broken;
}

yoke_status yoke_relay_end(yoke_relay_call *call, yoke_status status) {
  yoke_relay *relay = call->relay;
  if (call->broken != YOKE_OK) return call->broken;
  if (!call->is_own && call->in->failure != NULL) {
    yoke_comm_leave(relay->comm, YOKE_E_INTERNAL,
                    "what another rank tells does not fit: all ranks must make the same calls");
    return YOKE_E_INTERNAL;
  }
  if (!call->is_own) return status;
  if (!call->is_alone) return status;
  if (call->out->has_failed) {
    yoke_comm_leave(relay->comm, YOKE_E_MEMORY, "out of memory for what subsystems gave");
    return YOKE_E_MEMORY;
  }
  const yoke_status sent =
      yoke_comm_exchange(relay->comm, YOKE_COMM_CALL, (uint32_t)relay->rank, call->out->bytes, call->out->size);
  return sent == YOKE_OK ? status : sent;
}

void yoke_carry(yoke_relay_call *call, size_t bytes, void *values) {
  if (call->broken != YOKE_OK) return;
  if (call->is_own) {
    yoke_pack_block(call->out, bytes, values);
    return;
  }
  const void *from = yoke_unpack_block(call->in, bytes);
  if (from != NULL && bytes > 0) memcpy(values, from, bytes);
}

void yoke_carry_status(yoke_relay_call *call, yoke_status *status) {
  int32_t number = (int32_t)*status;
  yoke_carry(call, sizeof number, &number);
  *status = call->broken == YOKE_OK ? (yoke_status)number : call->broken;
}

void yoke_carry_size(yoke_relay_call *call, size_t *size) {
  uint64_t number = *size;
  yoke_carry(call, sizeof number, &number);
  *size = (size_t)number;
}

static void say(yoke_context *ctx, yoke_severity severity, const char *text) {
  switch (severity) {
  case YOKE_SEVERITY_ERROR: (void)yoke_fail(ctx, YOKE_OK, "%s", text); break;
  case YOKE_SEVERITY_WARNING: yoke_warn(ctx, "%s", text); break;
  case YOKE_SEVERITY_NOTE: yoke_note(ctx, "%s", text); break;
  }
}

void yoke_carry_messages(yoke_relay_call *call, yoke_context *ctx, size_t n) {
  const size_t all    = ctx != NULL && call->is_own ? yoke_context_n_messages(ctx) : n;
  size_t       n_said = all > n ? all - n : 0;
  yoke_carry_size(call, &n_said);
  if (call->broken != YOKE_OK) return;
  for (size_t i = 0; i < n_said && (call->is_own || call->in->failure == NULL); ++i) {
    if (call->is_own) {
      yoke_pack_int32(call->out, (int32_t)yoke_context_message_severity(ctx, n + i));
      yoke_pack_text(call->out, yoke_context_message(ctx, n + i));
    } else {
      const yoke_severity severity = (yoke_severity)yoke_unpack_int32(call->in);
      say(ctx, severity, yoke_unpack_text(call->in));
    }
  }
}
