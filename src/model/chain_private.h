/* What the files of the chain kernel share. Not for others: see chain_kernel.h. */
#ifndef YOKE_MODEL_CHAIN_PRIVATE_H
#define YOKE_MODEL_CHAIN_PRIVATE_H

#include "model/chain_kernel.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

enum {
  YOKE_CHAIN_BLOCK         = 512, /* masses per block; part of the numerics: errors are summed per block (stage) */
  YOKE_CHAIN_LANES         = 8,   /* partial sums of the error, mass i goes to lane i mod 8; divides the block */
  YOKE_CHAIN_SHARED        = 512, /* load shapes that are evaluated once per right-hand side */
  YOKE_CHAIN_BATCH         = 64,  /* loads evaluated together */
  YOKE_CHAIN_TERMS         = 12,  /* stage sums that are one pass; longer sums take more */
  YOKE_CHAIN_SWEEP         = 16,  /* stages in one sweep at most */
  YOKE_CHAIN_SHARED_BLOCKS = 4,   /* least number of blocks for threads: ranges of two each */
  /* Arrays of a block begin on a cache line and are longer than it by some lines: at a distance of 4096 bytes from each other loads would
   * wait for stores to the same place in another array. */
  YOKE_CHAIN_LINE = 8,
  YOKE_CHAIN_ROOM = YOKE_CHAIN_BLOCK + 3 * YOKE_CHAIN_LINE
};

/* Shape of a load over time, amplitude 1. */
typedef struct yoke_chain_shape {
  yoke_chain_load_kind kind;
  double               omega, phase, power, time, width, rise;
  double               begin, end; /* 0 before and behind, exactly; follow from the others [s] */
  double               edge[2][2]; /* of an impulse, from .. to; outside of both it is constant to 2e-9 [s] */
  double               flat;       /* of a sine, so near to a zero its power is below 2e-9 [half turns] */
} yoke_chain_shape;

typedef struct yoke_chain_force {
  int    mass;
  int    shape;     /* index, or -1: contact */
  double amplitude; /* [N] */
  double slope;     /* contact: B [1/m] */
} yoke_chain_force;

/* Sines of one force each, in the order of the forces, for vector loops. n = 0: there are none, and no arrays. Whole vectors of YOKE_CHAIN_LANES
 * are read: behind the last one stand some with amplitude 0. */
typedef struct yoke_chain_sines {
  int       n;
  int      *mass;                      /* [n] */
  double   *omega, *phase, *amplitude; /* [n] */
  uint64_t *power;                     /* [n] */
  uint64_t  all;                       /* the power of each; 0: they differ */
} yoke_chain_sines;

/* Loads sorted by mass. Shapes that occur more than once come first: n_shared of them are evaluated once. */
typedef struct yoke_chain_loads {
  int               n_forces, n_shapes, n_shared;
  bool              has_contact;
  yoke_chain_force *forces; /* [n_forces] */
  yoke_chain_shape *shapes; /* [n_shapes] */
  /* When every load has a shared shape: numbers of the forces by shape, those of shape g at by_shape[start[g]] ..
   * by_shape[start[g + 1] - 1], ascending. Else NULL. */
  int              *by_shape, *start;
  yoke_chain_sines  sines;        /* of shapes that are not shared */
  int              *sines_before; /* [n_forces + 1] sines of the forces before one */
  /* [n_forces - sines.n] the others, in their order, and where they are not 0 [s]; behind the last one some that are never. */
  int              *others;
  double           *begin, *end;
} yoke_chain_loads; /* all in the arena of the kernel */

yoke_status  yoke_chain_loads_create(yoke_context *ctx, const yoke_chain *chain, yoke_arena *arena,
                                     yoke_chain_loads *out);
/* Of an evaluation of all loads, about, in units of what a mass costs in a stage (1.5 ns). */
double       yoke_chain_loads_cost(const yoke_chain_loads *loads);
double       yoke_chain_shape_value(const yoke_chain_shape *shape, double t);
bool         yoke_chain_shape_is_constant(const yoke_chain_shape *shape);
/* values[k] := that at t[k], ascending, 0 <= k < n, to 2e-9 of the largest. Both have room for YOKE_LOAD_TIMES, and times beyond n
 * are those of some k. acts: it is not asked whether it does. */
void         yoke_chain_shape_values(const yoke_chain_shape *shape, bool acts, int n, const double *t, double *values);
/* From t until then, for works: to 2e-9 of its largest value. */
yoke_loading yoke_chain_shape_loading(const yoke_chain_shape *shape, double t, double *until);
/* shared [YOKE_CHAIN_SHARED] := values of the shared shapes at t. How many are not 0, and *active the last of them. */
int          yoke_chain_loads_begin(const yoke_chain_loads *loads, double t, double *shared, int *active);
/* Number of the first force from number `from` on that acts on mass i or behind it. */
int          yoke_chain_loads_before(const yoke_chain_loads *loads, int from, int i);
/* force := of number k at t; x[0] is the position of mass i0; `shared` from yoke_chain_loads_begin. false: a contact overflows. */
bool         yoke_chain_load_force(const yoke_chain_loads *loads, int k, double t, const double *shared, int i0,
                                   const double *x, double *force);
/* force[j] := scale times sine number first + j at t, no +0, 0 <= j < n <= YOKE_CHAIN_BATCH; room for whole vectors. */
void yoke_chain_sine_forces(const yoke_chain_sines *sines, int first, int n, double t, double scale, double *force);

typedef enum yoke_chain_law {
  YOKE_CHAIN_LINEAR, /* C = D = 0 */
  YOKE_CHAIN_CUBIC,  /* both exponents 3 where C or D is not 0 */
  YOKE_CHAIN_POWER   /* anything else */
} yoke_chain_law;

/* Parameter of one element. */
typedef struct yoke_chain_element {
  double c, d, C, D;
} yoke_chain_element;

/* Equal chains share it. */
typedef struct yoke_chain_elements {
  yoke_chain_element inner, ends[2];
  double             exponent_x, exponent_v;
} yoke_chain_elements;

typedef struct yoke_chain_input {
  int    mass, input;
  double factor;
} yoke_chain_input;

/* Own dampers. */
typedef struct yoke_chain_dampers {
  int  first, end; /* elements first .. end - 1, between two masses */
  bool at_end[2];  /* elements 0 and n lose something */
  /* Power lost [W], which depends on v, and its rate under the accelerations a [W/s]: sums in another order than those of all powers. */
  void (*losses)(const yoke_chain_kernel *kernel, const double *v, const double *a, double *lost, double *rate);
} yoke_chain_dampers;

/* What every evaluation reads comes first. */
struct yoke_chain_kernel {
  int            n;
  yoke_chain_law law;
  bool           uniform_elements; /* elements 1 .. n-1 are equal: `inner`; elements 0 and n are `ends` anyway */
  bool           uniform_mass;
  int            n_inputs; /* forces from outside, sorted by mass */
  const yoke_chain_input    *inputs;
  const yoke_chain_elements *elements;
  double                     gx;      /* gravity along the chain [m/s^2], of equations */
  double                     inverse; /* 1/m when uniform */
  yoke_chain_loads           loads;
  double                    *c, *d, *C, *D;       /* [n + 1]; NULL: equal `inner` */
  double                    *mass, *inverse_mass; /* [n]; inverse_mass is NULL when uniform */
  double            *constant[4];   /* inner.c, d, C, D repeated over a block: stands in for a NULL array; or NULL */
  int                n_loaded;      /* own masses under loads over time, one for each load */
  int               *loaded, *load; /* [n_loaded] ascending, and the numbers of these loads */
  yoke_chain_dampers dampers;
  int        own, own_end; /* masses own .. own_end - 1 are no copies: they count, and the elements on their right */
  yoke_arena arena;
};
_Static_assert(offsetof(struct yoke_chain_kernel, loads.forces) <= 64,
               "a uniform chain without loads reads one cache line");

/* Parameters of element e, 0 .. n. */
yoke_chain_element yoke_chain_element_at(const yoke_chain_kernel *kernel, int e);
/* Slopes of `count` elements from element e0 on: kx[k] = dF/d(dx), kv[k] = dF/d(dv). */
void yoke_chain_slopes(const yoke_chain_kernel *kernel, int e0, int count, const double *x, const double *v, double *kx,
                       double *kv);
/* Sum of d(contact force)/dx of the forces on mass i, cursor k moves on; clamped where exp would overflow. */
double yoke_chain_contact_slope(const yoke_chain_kernel *kernel, int i, double x, int *k);

/* An evaluation in progress: what goes from block to block. */
typedef struct yoke_chain_evaluation {
  const yoke_chain_kernel *kernel;
  double                   t, gx;
  const double            *u;
  bool                     as_force;
  int                      i_load, i_input; /* next load and input */
  double                   F_left;          /* force of the element left of the next block */
  const int               *only;            /* numbers of the loads that are not 0 at t; NULL: look at all */
  int                      n_only;
  double                   shared[YOKE_CHAIN_SHARED];
} yoke_chain_evaluation;

/* At mass 0, for accelerations or forces at t with inputs u (NULL: none). */
void yoke_chain_begin(yoke_chain_evaluation *ev, const yoke_chain_kernel *kernel, double t, double gx, const double *u,
                      bool as_force);
/* Goes on with mass i > 0, which is x[1], v[1]; its left neighbour is x[0], v[0]. */
void yoke_chain_go_to(yoke_chain_evaluation *ev, int i, const double *x, const double *v);
/* out[0 .. i1-i0) := accelerations or forces of the next masses [i0, i1), a block at most, from their x[0 ..], v[0 ..] and, unless
 * i1 == n, those of the mass behind them. */
yoke_status       yoke_chain_evaluate_block(yoke_chain_evaluation *ev, int i0, int i1, const double *x, const double *v,
                                            double *out);
static inline int yoke_chain_block_end(const yoke_chain_kernel *kernel, int i0) {
  return kernel->n - i0 > YOKE_CHAIN_BLOCK ? i0 + YOKE_CHAIN_BLOCK : kernel->n;
}

/* a := accelerations (or forces when `as_force`) at (t, x, v) with inputs u (NULL: none). */
yoke_status yoke_chain_evaluate(const yoke_chain_kernel *kernel, double t, double gx, const double *x, const double *v,
                                const double *u, bool as_force, double *a);

/* a, which evaluate gave at (t, x, v) under other inputs, becomes that under u: the masses that feel an input are evaluated again. */
yoke_status yoke_chain_reinput(const yoke_chain_kernel *kernel, double t, double gx, const double *x, const double *v,
                               const double *u, double *a);

/* Consecutive stages of a step, at most YOKE_CHAIN_SWEEP: `A` of each may hold the `out` of those before it. Same bits
 * as one by one, whoever helps (NULL: nobody); `sums` [number of blocks] is scratch for helpers.
 * *error_sum (may be NULL) is set when the last stage has e. YOKE_NON_FINITE: results are undefined. */
yoke_status yoke_chain_sweep(const yoke_chain_kernel *kernel, double gx, yoke_lockstep *helpers, double *sums,
                             int n_stages, const yoke_stage *stages, double *error_sum);

#endif
