#include "base/comm.h"

#include "base/cancel.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/pack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEAST_FRAME   = 1024, /* bytes: as long as short blocks and texts of failures are */
  FRAME_AGE     = 16,   /* exchanges that decide whether a frame has become too long */
  MOST_MACHINES = 8     /* kinds of them that are named */
};

/* In front of every block. */
typedef struct comm_head {
  uint64_t size; /* of the block */
  uint32_t kind, check;
  int32_t  status; /* YOKE_COMM_END: with what the rank ends */
  uint32_t wishes; /* to end */
} comm_head;

struct yoke_comm {
  yoke_ranks     ranks;
  size_t         frame;    /* bytes of a block that travel with its head, the same on all ranks */
  size_t         longest;  /* block of all ranks since ... */
  int            age;      /* ... so many exchanges */
  unsigned char *out;      /* head and block */
  unsigned char *all;      /* of all ranks */
  size_t         room[2];  /* of out and all */
  size_t         first_at; /* of the block of rank 0 in `all` */
  size_t         apart;    /* from there to the next */
  comm_head     *heads;    /* [n_ranks] */
  yoke_cancel   *cancel;   /* NULL: none */
  bool           is_over;
  yoke_status    over;    /* what ended the work */
  int            culprit; /* rank that failed */
  char           text[LEAST_FRAME];
  char           machines[MOST_MACHINES * (YOKE_MACHINE_SIZE + 16)];
};

yoke_status yoke_comm_create(const yoke_ranks *ranks, yoke_comm **out) {
  yoke_comm *comm = *out = yoke_allocate(1, sizeof *comm);
  if (comm != NULL) comm->heads = yoke_allocate((size_t)ranks->n_ranks, sizeof *comm->heads);
  if (comm == NULL || comm->heads == NULL) {
    yoke_comm_destroy(out);
    return YOKE_E_MEMORY;
  }
  comm->ranks = *ranks;
  comm->frame = LEAST_FRAME;
  return YOKE_OK;
}

void yoke_comm_destroy(yoke_comm **comm) {
  if (*comm == NULL) return;
  free((*comm)->out);
  free((*comm)->all);
  free((*comm)->heads);
  free(*comm);
  *comm = NULL;
}

int yoke_comm_rank(const yoke_comm *comm) {
  return comm->ranks.rank;
}

int yoke_comm_size(const yoke_comm *comm) {
  return comm->ranks.n_ranks;
}

bool yoke_comm_is_mixed(const yoke_comm *comm) {
  return comm->ranks.allow_mixed;
}

yoke_status yoke_comm_state(const yoke_comm *comm) {
  return comm->is_over ? comm->over : YOKE_OK;
}

void yoke_comm_watch(yoke_comm *comm, yoke_cancel *cancel) {
  comm->cancel = cancel;
}

/* ---- exchange ---- */

static yoke_status end_with(yoke_comm *comm, yoke_status status, int culprit, const char *text) {
  comm->is_over = true;
  comm->over    = status;
  comm->culprit = culprit;
  snprintf(comm->text, sizeof comm->text, "%s", text);
  return status;
}

static bool make_room(yoke_comm *comm, size_t bytes) {
  return yoke_grow(&comm->out, &comm->room[0], bytes, 1) &&
         yoke_grow(&comm->all, &comm->room[1], bytes * (size_t)comm->ranks.n_ranks, 1);
}

/* `bytes` of `out` to all. */
static bool gather(yoke_comm *comm, size_t bytes) {
  return comm->ranks.gather(comm->ranks.user, comm->out, bytes, comm->all);
}

/* A rank without memory for what the others send can only give up. */
static yoke_status give_up(yoke_comm *comm) {
  (void)comm->ranks.gather(comm->ranks.user, NULL, 0, NULL);
  return end_with(comm, YOKE_E_MEMORY, comm->ranks.rank, "out of memory for what ranks exchange");
}

/* The heads of all, each with the beginning of its block. */
static yoke_status gather_heads(yoke_comm *comm, const comm_head *head, const void *own) {
  const size_t share = head->size < comm->frame ? (size_t)head->size : comm->frame, bytes = sizeof *head + comm->frame;
  if (!make_room(comm, bytes)) return give_up(comm);
  memcpy(comm->out, head, sizeof *head);
  if (share > 0) memcpy(comm->out + sizeof *head, own, share);
  memset(comm->out + sizeof *head + share, 0, comm->frame - share);
  if (!gather(comm, bytes))
    return end_with(comm, YOKE_E_IO, comm->ranks.rank, "the connection to the other ranks is lost");
  for (int r = 0; r < comm->ranks.n_ranks; ++r)
    memcpy(&comm->heads[r], comm->all + (size_t)r * bytes, sizeof comm->heads[r]);
  comm->first_at = sizeof *head;
  comm->apart    = bytes;
  return YOKE_OK;
}

/* Blocks that are longer than the frame travel once more, as a whole. */
static yoke_status gather_rest(yoke_comm *comm, size_t longest, const void *own, size_t size) {
  if (longest <= comm->frame) return YOKE_OK;
  if (!make_room(comm, longest)) return give_up(comm);
  if (size > 0) memcpy(comm->out, own, size);
  memset(comm->out + size, 0, longest - size);
  if (!gather(comm, longest))
    return end_with(comm, YOKE_E_IO, comm->ranks.rank, "the connection to the other ranks is lost");
  comm->first_at = 0;
  comm->apart    = longest;
  return YOKE_OK;
}

/* Longer at once, shorter when no block of the last exchanges was so long. All ranks know the same sizes. */
static void fit_frame(yoke_comm *comm, size_t longest) {
  if (longest > comm->longest) comm->longest = longest;
  if (longest > comm->frame || ++comm->age >= FRAME_AGE) {
    comm->frame   = comm->longest > LEAST_FRAME ? (comm->longest + 63) / 64 * 64 : LEAST_FRAME;
    comm->longest = 0;
    comm->age     = 0;
  }
}

/* Has a rank ended? The first that failed speaks for all; one that ended well while others work has lost its way. */
static yoke_status look_for_end(yoke_comm *comm) {
  int first = -1, n_ended = 0;
  for (int r = 0; r < comm->ranks.n_ranks; ++r) {
    if (comm->heads[r].kind != YOKE_COMM_END) continue;
    ++n_ended;
    if (first < 0 || (comm->heads[first].status == YOKE_OK && comm->heads[r].status != YOKE_OK)) first = r;
  }
  if (n_ended == 0) return YOKE_OK;
  const yoke_status status = (yoke_status)comm->heads[first].status;
  if (status == YOKE_OK && n_ended < comm->ranks.n_ranks)
    return end_with(comm, YOKE_E_INTERNAL, first, "it has ended while others are at work");
  size_t      size;
  const char *text = (const char *)yoke_comm_block(comm, first, &size);
  return end_with(comm, status, first, text);
}

static yoke_status compare_places(yoke_comm *comm) {
  char text[160];
  for (int r = 1; r < comm->ranks.n_ranks; ++r) {
    const comm_head *a = &comm->heads[0], *b = &comm->heads[r];
    if (a->kind == b->kind && a->check == b->check) continue;
    snprintf(text, sizeof text, "it is not where rank 0 is (%u.%u there, %u.%u here): their numbers differ", a->kind,
             a->check, b->kind, b->check);
    return end_with(comm, YOKE_E_INTERNAL, r, text);
  }
  return YOKE_OK;
}

static void agree_on_end(const yoke_comm *comm) {
  for (int r = 0; comm->cancel != NULL && r < comm->ranks.n_ranks; ++r) {
    if (comm->heads[r].wishes != 0) atomic_store_explicit(&comm->cancel->is_agreed, true, memory_order_relaxed);
  }
}

yoke_status yoke_comm_exchange(yoke_comm *comm, int kind, uint32_t check, const void *own, size_t size) {
  size_t          longest = 0;
  const bool      wishes  = comm->cancel != NULL && yoke_cancel_is_wanted(comm->cancel);
  const comm_head head    = {.size = size, .kind = (uint32_t)kind, .check = check, .wishes = wishes};
  if (comm->is_over) return comm->over;
  YOKE_TRY(gather_heads(comm, &head, own));
  YOKE_TRY(look_for_end(comm));
  YOKE_TRY(compare_places(comm));
  agree_on_end(comm);
  for (int r = 0; r < comm->ranks.n_ranks; ++r)
    longest = comm->heads[r].size > longest ? (size_t)comm->heads[r].size : longest;
  YOKE_TRY(gather_rest(comm, longest, own, size));
  fit_frame(comm, longest);
  return YOKE_OK;
}

const unsigned char *yoke_comm_block(const yoke_comm *comm, int rank, size_t *size) {
  *size = (size_t)comm->heads[rank].size;
  return comm->all + comm->first_at + (size_t)rank * comm->apart;
}

bool yoke_comm_can_deliver(const yoke_comm *comm) {
  return comm->ranks.deliver != NULL;
}

yoke_status yoke_comm_pass(yoke_comm *comm, int to, void *bytes, size_t size) {
  if (comm->is_over) return comm->over;
  if (comm->ranks.deliver(comm->ranks.user, to, bytes, size)) return YOKE_OK;
  return end_with(comm, YOKE_E_IO, comm->ranks.rank, "the connection to another rank is lost");
}

/* What a rank tells of itself. */
typedef struct comm_rank {
  uint64_t task; /* its checksum */
  char     machine[YOKE_MACHINE_SIZE];
} comm_rank;

static comm_rank rank_of(const yoke_comm *comm, int r) {
  comm_rank            rank = {0};
  size_t               size;
  const unsigned char *from = yoke_comm_block(comm, r, &size);
  if (size == sizeof rank) memcpy(&rank, from, size);
  return rank;
}

/* A line for every rank on a machine that none before it has. */
static void list_machines(yoke_comm *comm) {
  size_t at         = 0;
  int    n          = 0;
  comm->machines[0] = '\0';
  for (int r = 0; r < comm->ranks.n_ranks && n < MOST_MACHINES; ++r) {
    const comm_rank own    = rank_of(comm, r);
    bool            is_new = true;
    for (int k = 0; k < r && is_new; ++k) is_new = strcmp(rank_of(comm, k).machine, own.machine) != 0;
    if (!is_new) continue;
    at += (size_t)snprintf(comm->machines + at, sizeof comm->machines - at, "%srank %d: %s", n++ > 0 ? "\n" : "", r,
                           own.machine);
  }
  if (n < 2) comm->machines[0] = '\0';
}

const char *yoke_comm_machines(const yoke_comm *comm) {
  return comm->machines;
}

yoke_status yoke_comm_begin(yoke_comm *comm, const char *task, yoke_context *ctx) {
  comm_rank own;
  memset(&own, 0, sizeof own);
  own.task = yoke_checksum(YOKE_CHECKSUM_START, task, strlen(task));
  yoke_machine_text(own.machine);
  YOKE_TRY(yoke_comm_exchange(comm, YOKE_COMM_SETUP, 2, &own, sizeof own));
  list_machines(comm);
  const comm_rank first = rank_of(comm, 0);
  for (int r = 1; r < comm->ranks.n_ranks; ++r) {
    const comm_rank other = rank_of(comm, r);
    if (first.task != other.task)
      return yoke_fail(ctx, YOKE_E_USAGE,
                       "rank %d simulates another model than rank 0: all ranks must make the same calls", r);
    if (comm->ranks.allow_mixed || strcmp(first.machine, other.machine) == 0) continue;
    return yoke_fail(
        ctx, YOKE_E_UNSUPPORTED,
        "the machines of rank 0 (%s) and of rank %d (%s) differ: results would not be those of one process; "
        "choose machines that are the same, or allow it (--allow-mixed)",
        first.machine, r, other.machine);
  }
  return YOKE_OK;
}

/* ---- end ---- */

static const char *first_error(const yoke_context *ctx, yoke_status status) {
  for (size_t i = 0; ctx != NULL && i < yoke_context_n_messages(ctx); ++i) {
    if (yoke_context_message_severity(ctx, i) == YOKE_SEVERITY_ERROR) return yoke_context_message(ctx, i);
  }
  return yoke_status_text(status);
}

void yoke_comm_leave(yoke_comm *comm, yoke_status status, const char *text) {
  char            block[LEAST_FRAME];
  const comm_head head = {.size = sizeof block, .kind = YOKE_COMM_END, .status = (int32_t)status};
  if (comm->is_over) return;
  memset(block, 0, sizeof block);
  snprintf(block, sizeof block, "%s", text);
  if (gather_heads(comm, &head, block) == YOKE_OK) (void)look_for_end(comm);
}

yoke_status yoke_comm_settle(yoke_comm *comm, yoke_status status, yoke_context *ctx) {
  yoke_comm_leave(comm, status, first_error(ctx, status));
  const yoke_status over = comm->over;
  comm->is_over          = false;
  comm->over             = YOKE_OK;
  const bool is_told     = comm->culprit == comm->ranks.rank && status != YOKE_OK; /* by what failed here */
  if (over == YOKE_OK || is_told) return status;
  return yoke_fail(ctx, over, "rank %d: %s", comm->culprit, comm->text);
}
