/* Delivery: bytes of rank 0 become those of another rank. */
#ifndef YOKE_BASE_DELIVERY_H
#define YOKE_BASE_DELIVERY_H

#include "base/comm.h"
#include "base/pack.h"

/* Collective, 0 < to. They travel piece by piece, to rank `to` alone where ranks can do that; no other rank needs room for them. On rank 0 `bytes` is what is sent, on rank `to` it is empty and is filled (missing
 * memory shows in it); elsewhere it is not looked at. */
yoke_status yoke_comm_deliver(yoke_comm *comm, int to, yoke_pack *bytes);

#endif
