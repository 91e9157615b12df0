/* Topics of `yoke help`, and what it says without one. */
#ifndef YOKE_CLI_HELP_H
#define YOKE_CLI_HELP_H

#include "page.h"

typedef struct help_topic {
  const char *name, *summary;
  void (*print)(page *p);
} help_topic;

extern const help_topic help_topics[];
extern const int        n_help_topics;

void help_overview(page *p);

#endif
