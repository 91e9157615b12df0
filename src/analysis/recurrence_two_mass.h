/* The two-mass models in dimensionless form, shared by the recurrences of the schemes. Private to src/analysis/recurrence*.c.
 *
 * Time in macro steps, mass in m1: m_1 = 1, m_2 = m2 / m1, c_i H^2 / m1, d_i H / m1. A side is *driven* when it follows a motion
 * (displacement) and *forced* when it takes a force. */
#ifndef YOKE_ANALYSIS_RECURRENCE_TWO_MASS_H
#define YOKE_ANALYSIS_RECURRENCE_TWO_MASS_H

#include "analysis/recurrence_parts.h"

enum { AT_X1, AT_V1, AT_X2, AT_V2, AT_HISTORY }; /* places in Y */

typedef enum channel_kind {
  CHANNEL_FORCE,        /* lambda, + on side 1, - on side 2 */
  CHANNEL_COPY_X,       /* position of `side` for the other side */
  CHANNEL_COPY_V,       /* velocity of `side` for the other side */
  CHANNEL_ACCELERATION, /* common acceleration of driven sides (rigid) */
  CHANNEL_MU            /* second multiplier: x1' = v1 + mu, x2' = v2 - mu */
} channel_kind;

typedef struct two_mass_channel {
  channel_kind     kind;
  int              side;    /* of a copy */
  double           B[2][2]; /* B[s]: how it enters side s, rates of x and v; 0: not at all */
  yoke_layout_kind layout;
  int              degree;
  int              at;      /* newest past value in Y, older ones follow */
  int              n_past;  /* past values in Y */
  int              unknown; /* first node in V, the last one is at time 1 */
  int              n_nodes;
} two_mass_channel;

typedef struct two_mass {
  bool             rigid;
  bool             driven[2];
  double           m[2], c[2], d[2]; /* mass, spring and damper to the ground */
  double           cc, dc;
  part_side        side[2];
  int              n_channels;
  two_mass_channel channel[PART_CHANNELS];
  int              n, n_unknowns, nv; /* of Y, w, V */
} two_mass;

/* Dimensionless model; sides are ready for signals of this degree. */
void two_mass_open(two_mass *self, const yoke_test_model *model, const yoke_test_method *method, int degree);

/* v' of side s at the end of the step: the subsystem's equation with the end values of its inputs, end[channel]. */
void two_mass_acceleration(const two_mass *self, int s, const part_motion *motion, part_form *end, double *form);

/* The coupling law cc (x2 - x1) + dc (v2 - v1). */
void two_mass_law(const two_mass *self, const double *x1, const double *v1, const double *x2, const double *v2,
                  double *form);

yoke_status newton_recurrence(const yoke_test_model *model, const yoke_test_method *method, const char *formulation,
                              double *matrix, int *n);
yoke_status explicit_recurrence(const yoke_test_model *model, const yoke_test_method *method, double *matrix, int *n);
yoke_status kinematic_recurrence(const yoke_test_model *model, const yoke_test_method *method, double *matrix, int *n);

/* The block of forces and accelerations of a kinematic recurrence without springs and dampers, in place. */
void kinematic_loop(const yoke_test_method *method, double *matrix, int *n);

#endif
