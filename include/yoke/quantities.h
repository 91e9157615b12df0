/* Quantities: names of what a model shows, for help and for programs that offer them. */
#ifndef YOKE_QUANTITIES_H
#define YOKE_QUANTITIES_H

#include <yoke/export.h>
#include <yoke/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names that belong together, of one kind of object. */
typedef struct yoke_quantity_facts {
  size_t      size;
  const char *object;       /* "rigid", "planar", ..., "joint", "connection", "total" */
  char        names[80];    /* "x y z"; i and k in brackets are numbers from 1 */
  const char *unit;         /* "m" */
  const char *help;         /* what it means, one line */
  bool        is_asked_for; /* shown only where a pattern of output.select or a name asks for it */
  bool        is_of_motion; /* a function of positions and velocities: loads, laws and events may read it */
} yoke_quantity_facts;

/* In the order of `yoke help outputs`. YOKE_E_USAGE: there is no such number, or a size that cannot be. */
YOKE_API int         yoke_n_quantities(void);
YOKE_API yoke_status yoke_quantity_describe(int i, yoke_quantity_facts *out);

#ifdef __cplusplus
}
#endif
#endif
