/* Quantities: what the objects of a model show, by name. The one list behind outputs, expressions, help and the pages.
 *
 * A row holds names that belong together. A frame of a body shows what the kind of its body shows, for its own origin and axes. */
#ifndef YOKE_MODEL_QUANTITIES_H
#define YOKE_MODEL_QUANTITIES_H

#include "model/model.h"

typedef enum yoke_quantity_of {
  YOKE_OF_RIGID    = YOKE_BODY_RIGID,
  YOKE_OF_PLANAR   = YOKE_BODY_PLANAR,
  YOKE_OF_PARTICLE = YOKE_BODY_PARTICLE,
  YOKE_OF_MASS1D   = YOKE_BODY_MASS1D,
  YOKE_OF_CHAIN    = YOKE_BODY_CHAIN,
  YOKE_OF_JOINT,      /* connections with a coordinate (joint_coordinate.h) */
  YOKE_OF_CONNECTION, /* per row of a connection */
  YOKE_OF_SUBSYSTEM,  /* of a split: "subsystem.NAME" */
  YOKE_OF_TOTAL       /* the whole model */
} yoke_quantity_of;

/* What a number is made of: positions and velocities are functions of (q, v), the others need the accelerations or the run. */
typedef enum yoke_quantity_level {
  YOKE_LEVEL_POSITION, /* component of q of bodies; joints: 0 angle, 1 distance */
  YOKE_LEVEL_VELOCITY, /* component of v; joints: rates of these */
  YOKE_LEVEL_ACCELERATION,
  YOKE_LEVEL_FORCE, /* of connections, in the order of the list */
  YOKE_LEVEL_ENERGY /* of couplings, subsystems and all, in the order of the list */
} yoke_quantity_level;

enum { YOKE_QUANTITY_NAMES = 4, YOKE_MOST_QUANTITY_ROWS = 64 };

typedef struct yoke_quantity {
  yoke_quantity_of    of;
  yoke_quantity_level level;
  int                 first, n; /* components first .. first + n - 1 */
  const char         *name[YOKE_QUANTITY_NAMES];
  const char         *unit;
  /* It is shown where a pattern means it: one whose last part begins with this or holds its name. NULL: by itself. */
  const char         *asked;
  const char         *help;
} yoke_quantity;

int                  yoke_n_quantity_rows(void);
const yoke_quantity *yoke_quantity_row(int i);
const char          *yoke_quantity_object(yoke_quantity_of of); /* "rigid", "joint" */

/* Row of a component, or of a name; NULL: none. */
const yoke_quantity *yoke_quantity_at(yoke_quantity_of of, yoke_quantity_level level, int component);
const yoke_quantity *yoke_quantity_find(yoke_quantity_of of, const char *name, int *component);

/* Name of a component, "x[3]" with its number where it has one; as snprintf. */
int yoke_quantity_print(const yoke_quantity *row, int component, int number, char *name, size_t size);

static inline const char *yoke_quantity_name(const yoke_quantity *row, int component) {
  return row->name[component - row->first];
}

#endif
