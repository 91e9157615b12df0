/* User subsystem: the contract (subsystem.h) for a type that a program or a plugin has brought (yoke/subsystem.h).
 *
 * Ports: those of the instance in their order, each with wrench_at; then one port of shape `signal` for every signal input (takes a signal, shows
 * nothing), then one for every signal output (takes nothing, shows one value). So port i < n_ports is mechanical, input k is port
 * n_ports + k, output k is port n_ports + n_inputs + k. */
#ifndef YOKE_USER_USER_H
#define YOKE_USER_USER_H

#include "subsystem/subsystem.h"
#include <yoke/subsystem.h>

/* A type that a context knows, and the library that it came from. Shared: every instance is one more owner. */
typedef struct yoke_user_entry yoke_user_entry;

/* The type of this name. NULL: the context knows none. Borrowed. */
yoke_user_entry *yoke_user_find(const yoke_context *ctx, const char *type);
yoke_user_entry *yoke_user_retain(yoke_user_entry *entry);
void             yoke_user_release(yoke_user_entry **entry);

/* What a subsystem is made of; all is borrowed for the call. */
typedef struct yoke_user_def {
  const char               *name; /* of the subsystem */
  yoke_user_entry          *entry;
  int                       n_arguments;
  const yoke_user_argument *arguments;
} yoke_user_def;

yoke_status yoke_user_create(yoke_context *ctx, const yoke_user_def *def, yoke_subsystem **out); /* gives */

/* Names of what an instance takes and shows. Of a user subsystem or a wrapper around one only. */
const yoke_user_instance *yoke_user_instance_of(const yoke_subsystem *subsystem);
/* Do its events change its state? Else they are only recorded. */
bool                      yoke_user_acts(const yoke_subsystem *subsystem);

#endif
