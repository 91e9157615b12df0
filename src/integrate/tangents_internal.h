/* What the files of the tangents share: the constant object, a walk over one micro step, the linearised equations at a point.
 *
 * Arrays of directions hold those of a row side by side, [rows, n]. Every operation on them works on each direction by itself and in the
 * same order, whatever other directions there are: cutting directions into blocks changes no bit. */
#ifndef YOKE_INTEGRATE_TANGENTS_INTERNAL_H
#define YOKE_INTEGRATE_TANGENTS_INTERNAL_H

#include "integrate/implicit.h"
#include "integrate/tangents.h"
#include <stdatomic.h>

enum {
  N_SLOPES = 5, /* of one step of either rule */
  N_POINTS = 9, /* eighths of a micro step, whose linearisations serve several trials; number 8 is its end */
  MIDDLE   = N_POINTS / 2,
  END      = N_POINTS - 1
};

struct yoke_tangents {
  yoke_arena               arena;
  const yoke_integrator   *integrator;
  yoke_dae                *dae;             /* of the INDEX1 form */
  bool                     may_be_implicit; /* an implicit method may be at work */
  _Atomic(yoke_implicit *) implicit;        /* of the implicit rule, NULL: not needed yet */
  int                      n_rows;          /* of a slope: dq' [nq], da [nv], dlambda [n_multipliers] */
  int                     *row_of; /* [nx] row of a slope that row i of F belongs to; -1: none (v' = a, quadratures) */
  int *start, *col, *slot;         /* J by rows of a slope and columns of q and v: those of row r from start[r] on */
  int *mass;                       /* [nv] slots of -M_ii in J */
};

/* Head of a room. */
typedef struct tangents_head {
  int64_t  evaluations, jacobians; /* since the begin */
  double   t;
  uint64_t branch;
  int      n;
  unsigned known;      /* bit i: point i of this micro step is linearised and factored */
  bool     took_right; /* slopes at t are those of the right limit of the inputs */
} tangents_head;

/* A point of the motion: x = (q, v, a, lambda), inputs and their directions, derivatives of F, factor of the accelerations. */
typedef struct tangents_point {
  double *x, *u, *du, *J, *B;
  void   *factor;
} tangents_point;

/* Pointers into a room, and what a call brought along. */
typedef struct walk {
  const yoke_tangents         *tangents;
  const yoke_equations        *equations;
  const yoke_integrator_state *state;
  const yoke_signal           *u;
  const yoke_directions       *directions;
  void                        *work; /* of the equations */
  tangents_head               *head;
  bool                         is_explicit; /* a method at work whose a and lambda are those of the equations */

  const yoke_implicit *implicit;     /* implicit rule */
  yoke_factor        **pivots;       /* implicit rule: the factor before, whose pivot order is used again */
  tangents_point       at[N_POINTS]; /* at[END]: the point head->t between micro steps */

  int     n;              /* directions */
  size_t  n_y, n_slope;   /* numbers of (dq, dv) and of a slope, all directions */
  double *y, *k;          /* tangents (dq, dv) [nq + nv, n] at the point head->t, their slope (dq', da, dlambda) */
  double *result, *trial; /* at the end of the micro step: accepted, just made */
  double *before, *error; /* the trial before, error of `trial` */
  double *change; /* implicit rule: what J of the middle alone, for all of the micro step, does to the trial, at most */
  double *off;    /* errors of y as the rule estimates them, summed over the micro steps */
  double *rate;   /* [n] how fast errors of dv move by the explicit rule [1/s]; 0: not known */
  double *reach;  /* [n] accelerations that the inputs would cause without joints, the largest of this macro step */
  double *stage, *base;                     /* of a rule */
  double *slope[N_SLOPES];                  /* of a rule */
  double *matrix, *column, *right, *linear; /* implicit rule: [nnz], [nx], [nx], work of the linear solver */
  double *norm;                             /* [6, n], scratch */
  double *sample[4];                        /* [entries] of du in a step: start, middle, end, scratch */
  uint8_t *is_done, *takes, *waits; /* [n] has its result; takes the last trial; takes no part in the present ones */
} walk;

/* Rough ones that states follow are made better where that costs nothing, along a method whose a is that of the equations. */
static inline bool tangents_are_rough(const walk *w) {
  return w->is_explicit && w->directions->moves_states && w->directions->tolerance > 0.0;
}

/* q, v of a point are the motion's at t. */
void tangents_place(const walk *w, const tangents_point *p, double t);

/* a and lambda of a point, inputs and B at t from `side`; J (and w->reach) if it is wanted. YOKE_NOT_CONVERGED: beyond a jump of a law.
 * `has_a`: a is there, and there is no lambda. */
yoke_status tangents_linearise(const walk *w, const tangents_point *p, double t, yoke_side side, bool with_jacobian,
                               bool has_a);

/* a in the middle of the micro step := that of the cubic through v and a of its ends, which is off by O(h^4); at[END] is still its start. */
void tangents_middle(const walk *w, const tangents_point *p);

/* Factor for slopes at a point. */
yoke_status tangents_factor(const walk *w, const tangents_point *p, double t);

/* k [n_slope]: slope of the tangents y (NULL: 0) at a point, which is linearised and factored. */
void tangents_slope(const walk *w, const tangents_point *p, double t, const double *y, double *k);

/* dq' of the quadratures at a point, where they belong in k. */
void tangents_quadratures(const walk *w, const tangents_point *p, double t, const double *y, double *k);

/* Relative errors [n] of the trial with m steps: w->error (m == 1: the estimate of the rule; else what doubling the steps has changed) beside the
 * tangents. Lies in w->norm. */
const double *tangents_errors(const walk *w, int m);

/* w->rate from an explicit trial with one step: its last two slopes, and their arguments w->stage and w->trial. */
void tangents_rates(const walk *w);

/* One trial: `m` equal steps of a rule from w->y to w->trial. With m == 1 w->error becomes an estimate of its error. Afterwards at[END] is
 * the end of the micro step, and slope[4] holds dq' and da there (of the explicit rule dlambda too). */
yoke_status tangents_explicit_trial(const walk *w, int m);
yoke_status tangents_implicit_trial(const walk *w, int m);

/* Behind an explicit trial with one step, which has linearised the middle and the end of the micro step: m equal steps of the implicit rule with the
 * linearisation of the middle in all stages, hence one factor. With m == 1 w->change is found, too. */
yoke_status tangents_frozen_trial(const walk *w, int m);

/* Has direction i no result yet, and may it have the trial's? Others are left out of solves of the implicit rule, where their numbers mean nothing. */
static inline bool tangents_takes_part(const walk *w, int i) {
  return !w->is_done[i] && !w->waits[i];
}

#endif
