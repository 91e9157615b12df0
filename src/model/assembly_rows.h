/* Rows of the assembly: conditions on positions and velocities, and Newton's step that meets them with the least change.
 *
 * A = [G; d(coordinate)/dq] has one row per condition: joints, then joint coordinates that the user fixed (`initial`,
 * `initial_rate`). W is the mobility of the freedoms: squares of their units for positions (one length of the model counts
 * like 1 rad), M^-1 for velocities, 0 or little for kept bodies. The step is the weighted minimum-norm solution of A d = -r:
 *   d = W A^T y,  (A W A^T + eps D) y = -r,  D = diag(A W A^T).
 * The regularisation eps makes redundant conditions harmless: consistent ones do not change the solution.
 * Gaps are |r| in units: lengths by that of the model, angles as they are, so neither masses nor sizes decide. */
#ifndef YOKE_MODEL_ASSEMBLY_ROWS_H
#define YOKE_MODEL_ASSEMBLY_ROWS_H

#include "base/memory.h"
#include "model/multibody.h"

typedef enum yoke_assembly_level { YOKE_ASSEMBLY_POSITIONS, YOKE_ASSEMBLY_VELOCITIES } yoke_assembly_level;

typedef struct yoke_assembly_rows {
  yoke_arena            arena; /* of all arrays below, and of scratch */
  const yoke_model     *model;
  const yoke_multibody *mb;
  const yoke_equations *equations;
  void                 *work;
  double                t;
  double                size;   /* farthest place [lengths of the model, at least 1]: rounding grows with it */
  int                   n_rows; /* ng + joint coordinates */
  int                   n_coordinates;
  int                  *coordinate_connection; /* [n_coordinates] */
  bool                 *is_out;                /* [n_rows] left out for now */
  bool                  is_free;               /* the joint coordinates the user fixed do not count */
  double               *unit, *row_unit;       /* [nv], [n_rows] */
  int                   nnz;                   /* entries of A, by rows */
  int                  *row_start, *column;
  double               *value, *weighted; /* entries of A and of A W */
  int                  *G_slot;           /* entry of A for each entry of G's pattern */
  double               *G;                /* values of G */
  double               *weight;           /* [nv] diagonal of W */
  double               *turn;             /* [nv, 3] rotations of rigid bodies: their rows of W */
  bool                 *is_turn;          /* [nv] the first one of three such rotations */
  /* S = A W A^T, its pattern and how to fill it: products[k] adds weighted[a] value[b] to slot. */
  yoke_pattern         *S_pattern;
  yoke_linear          *linear;
  double               *S, *r, *y, *d, *linear_work; /* r [n_rows], d [nv] */
  int                   n_products;
  int                  *product_a, *product_b, *product_slot;
} yoke_assembly_rows;

/* n_rows 0: there is nothing to meet, and nothing else may be called but clear. */
yoke_status yoke_assembly_rows_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                      const yoke_equations *equations, void *work, double t, const double *q,
                                      const double *v, yoke_assembly_rows *out);
void        yoke_assembly_rows_clear(yoke_assembly_rows *rows);

/* Freedoms of kept bodies have this share of their mobility. Returns whether there are any. */
bool yoke_assembly_weigh(yoke_assembly_rows *rows, yoke_assembly_level level, double kept);

/* r at (q, v), 0 in rows that are out. Returns the largest gap; +infinity: r is not finite. */
double yoke_assembly_residual(yoke_assembly_rows *rows, yoke_assembly_level level, const double *q, const double *v);
/* sqrt of the sum of squares of all gaps in r. */
double yoke_assembly_distance(const yoke_assembly_rows *rows);
/* Values of A at q; rows that are out, and coordinates without a wish on this level, are empty. */
void   yoke_assembly_fill(yoke_assembly_rows *rows, yoke_assembly_level level, const double *q, const double *v);
/* d = -W A^T (S + eps D)^-1 r */
yoke_status yoke_assembly_step(yoke_assembly_rows *rows);

/* Joints with the largest gaps in r, the worst one first: "'knee' by 0.12 m, 'ankle' by 0.03 m". They contradict each other: where
 * nothing brings the gaps nearer together, A^T r = 0, the gaps are in the ratio of forces that would hold each other. Returns how many joints. */
int yoke_assembly_name_gaps(const yoke_assembly_rows *rows, yoke_assembly_level level, char *text, size_t size);

#endif
