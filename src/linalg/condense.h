/* Matrices of motions: the first m rows of alpha E - J say q' = v (or v' = a), and give q by v. What is left is a matrix of v and the rest w
 * alone, half as large and with the pattern of the forces, whose factors take a fraction of the work:
 *
 *   D q + E v         = r        q = D^-1 (r - E v)
 *   B q + C (v, w)    = s        (C - [B D^-1 E, 0]) (v, w) = s - B D^-1 r
 *
 * D is alpha, E -1, B stiffness. D is divided by as it is and must not vanish. */
#ifndef YOKE_LINALG_CONDENSE_H
#define YOKE_LINALG_CONDENSE_H

#include "linalg/sparse.h"

typedef struct yoke_condense yoke_condense; /* constant after creation */

/* Gives; *out is NULL where row i of the first m has other entries than (i, i) and (i, m + i). */
yoke_status yoke_condense_create(yoke_context *ctx, const yoke_pattern *pattern, int m, yoke_condense **out);
void        yoke_condense_destroy(yoke_condense **condense);

int                 yoke_condense_n(const yoke_condense *condense);       /* m */
const yoke_pattern *yoke_condense_pattern(const yoke_condense *condense); /* of v and the rest; borrows */

/* Doubles that solves need of the values: D^-1, D^-1 E and B. */
size_t yoke_condense_n_kept(const yoke_condense *condense, bool is_complex);

/* re, im (NULL: real) of the whole matrix; gives those of the condensed one and `kept`. */
void yoke_condense_make(const yoke_condense *condense, const double *re, const double *im, double *small_re,
                        double *small_im, double *kept);

/* The right side of the condensed matrix, from m on; then, with its solution there, the first m unknowns. In place. */
void yoke_condense_right(const yoke_condense *condense, const double *kept, double *re, double *im);
void yoke_condense_expand(const yoke_condense *condense, const double *kept, double *re, double *im);

#endif
