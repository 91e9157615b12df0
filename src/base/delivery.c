#include "base/delivery.h"

#include <string.h>

enum { PIECE = 1 << 16 /* bytes */, ANNOUNCED = 3, SENT = 4 };

yoke_status yoke_comm_deliver(yoke_comm *comm, int to, yoke_pack *bytes) {
  const bool is_sender = yoke_comm_rank(comm) == 0, is_receiver = yoke_comm_rank(comm) == to;
  uint64_t   all = is_sender ? bytes->size : 0;
  size_t     size;
  YOKE_TRY(yoke_comm_exchange(comm, YOKE_COMM_SETUP, ANNOUNCED, &all, is_sender ? sizeof all : 0));
  const void *told = yoke_comm_block(comm, 0, &size);
  if (size == sizeof all) memcpy(&all, told, size);
  for (uint64_t at = 0; at < all; at += PIECE) {
    const size_t piece = all - at < PIECE ? (size_t)(all - at) : PIECE;
    const void  *own   = is_sender ? bytes->bytes + at : NULL;
    YOKE_TRY(yoke_comm_exchange(comm, YOKE_COMM_SETUP, SENT, own, is_sender ? piece : 0));
    const void *from = yoke_comm_block(comm, 0, &size);
    if (is_receiver && !is_sender) yoke_pack_append(bytes, size, from);
  }
  return YOKE_OK;
}
