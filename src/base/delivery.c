#include "base/delivery.h"

#include <string.h>

enum { PIECE = 1 << 16 /* bytes */, ANNOUNCED = 3, SENT = 4 };

/* Through the exchange of all ranks. */
static yoke_status send_to_all(yoke_comm *comm, bool is_receiver, uint64_t all, yoke_pack *bytes) {
  const bool is_sender = yoke_comm_rank(comm) == 0;
  size_t     size;
  for (uint64_t at = 0; at < all; at += PIECE) {
    const size_t piece = all - at < PIECE ? (size_t)(all - at) : PIECE;
    const void  *own   = is_sender ? bytes->bytes + at : NULL;
    YOKE_TRY(yoke_comm_exchange(comm, YOKE_COMM_SETUP, SENT, own, is_sender ? piece : 0));
    const void *from = yoke_comm_block(comm, 0, &size);
    if (is_receiver) yoke_pack_append(bytes, size, from);
  }
  return YOKE_OK;
}

/* From rank 0 to rank `to`, which takes all pieces even where it has no memory to keep them. */
static yoke_status send_to_one(yoke_comm *comm, int to, uint64_t all, yoke_pack *bytes) {
  const bool    is_sender = yoke_comm_rank(comm) == 0;
  unsigned char room[PIECE];
  for (uint64_t at = 0; at < all; at += PIECE) {
    const size_t piece = all - at < PIECE ? (size_t)(all - at) : PIECE;
    YOKE_TRY(yoke_comm_pass(comm, to, is_sender ? bytes->bytes + at : room, piece));
    if (!is_sender) yoke_pack_append(bytes, piece, room);
  }
  return YOKE_OK;
}

yoke_status yoke_comm_deliver(yoke_comm *comm, int to, yoke_pack *bytes) {
  const bool is_sender = yoke_comm_rank(comm) == 0, is_receiver = yoke_comm_rank(comm) == to;
  uint64_t   all = is_sender ? bytes->size : 0;
  size_t     size;
  YOKE_TRY(yoke_comm_exchange(comm, YOKE_COMM_SETUP, ANNOUNCED, &all, is_sender ? sizeof all : 0));
  const void *told = yoke_comm_block(comm, 0, &size);
  if (size == sizeof all) memcpy(&all, told, size);
  if (!yoke_comm_can_deliver(comm)) return send_to_all(comm, is_receiver, all, bytes);
  return is_sender || is_receiver ? send_to_one(comm, to, all, bytes) : YOKE_OK;
}
