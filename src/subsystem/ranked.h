/* Ranked: a subsystem that lives on one rank and is called on all (relay.h). */
#ifndef YOKE_SUBSYSTEM_RANKED_H
#define YOKE_SUBSYSTEM_RANKED_H

#include "subsystem/relay.h"
#include "subsystem/subsystem.h"

typedef struct yoke_ranked_def {
  const char *name;
  int         owner;    /* rank */
  int         n_events; /* that it may find */
} yoke_ranked_def;

/* Collective. Around `inner` (takes, also on failure) on its owner; on the others there is none. Keeps the relay. The group `linear` is not there. Gives. */
yoke_status yoke_subsystem_ranked(yoke_context *ctx, yoke_relay *relay, const yoke_ranked_def *def,
                                  yoke_subsystem *inner, yoke_subsystem **out);

#endif
