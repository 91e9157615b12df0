/* Equations of motion as an integrator sees them.
 *
 *   q' = T(q) v                      (and the rows of quadratures: q_k' = some function of t, q, v, u)
 *   M v' = f(t, q, v, u) + G(q)^T lambda       M constant, with a block for each body: of rigid ones small, of flexible ones a band
 *   0 = g(t, q),  0 = g' = G v + g_t,  0 = g'' = G v' + gamma(t, q, v)
 *   0 = n(q)                          norms of Euler parameters
 * Guided rows, if there are any, are met by the accelerations alone: 0 = L(t, q, u) v' + c(t, q, v, u), and their
 * multipliers act like those of constraints, M v' = f + G^T lambda + L^T mu. They have no place in g, g' or projections.
 * Arrays `lambda` hold both kinds: lambda [ng], then mu [n_guided].
 *
 * Two views:
 *   ordinary: (q', v') as a function of (t, q, v, u), lambda eliminated on the acceleration level.
 *             For explicit integrators, which project q and v after each step.
 *   implicit: E x' = F(t, x, u), constant singular diagonal-block E, sparse J = dF/dx with the pattern of a
 *             `yoke_dae`. For implicit integrators. Forms:
 *     GGL      x = (q, v, lambda, mu, nu), stabilised index 2:
 *              q' = T (v + G^T mu) + N^T nu,  M v' = f + G^T lambda,  0 = G v + g_t,  0 = g,  0 = n
 *              (rows of lambda: velocity constraint; rows of mu: position constraint; rows of nu: norms)
 *     INDEX1   x = (q, v, a, lambda), v' = a, 0 = f + G^T lambda - M a,
 *              0 = G a + gamma + 2 alpha g' + beta^2 g     (Baumgarte; alpha = beta = 0 with projection);
 *              guided rows 0 = L a + c behind those of lambda. Equations that have some give this form whatever is asked.
 *
 * Everything here is constant and shared between threads; `work` is scratch of `work_size` bytes (64-byte
 * aligned) owned by the caller's task. Non-finite results are returned as YOKE_NON_FINITE. */
#ifndef YOKE_MODEL_EQUATIONS_H
#define YOKE_MODEL_EQUATIONS_H

#include "linalg/sparse.h"
#include "base/memory.h"
#include "exec/lockstep.h"
#include "frames/switches.h"
#include <yoke/context.h>
#include <stdint.h>

typedef enum yoke_dae_form { YOKE_DAE_GGL, YOKE_DAE_INDEX1 } yoke_dae_form;

typedef struct yoke_energy {
  double kinetic, potential; /* [J] */
  double dissipated;         /* lost in dampers and drag since the start [J] (a quadrature of q, else 0) */
  double external; /* work of loads and prescribed motions since the start [J]; that of inputs is not counted */
} yoke_energy;

/* Kind of each component of x, for error norms and scaling. */
typedef enum yoke_component {
  YOKE_COMPONENT_Q,          /* in the error norm */
  YOKE_COMPONENT_V,          /* in the error norm */
  YOKE_COMPONENT_INTEGRAL,   /* integral of a position: in the error norm, no feedback, no Jacobian row */
  YOKE_COMPONENT_QUADRATURE, /* row of q without feedback: not in norms, no Jacobian row */
  YOKE_COMPONENT_A,          /* algebraic accelerations (INDEX1): index 1 */
  YOKE_COMPONENT_LAMBDA,     /* multiplier: never in a norm; index 2 in GGL, 1 in INDEX1 */
  YOKE_COMPONENT_MU,         /* index 2 */
  YOKE_COMPONENT_NU          /* index 2 */
} yoke_component;

typedef struct yoke_dae {
  yoke_arena       arena;
  yoke_dae_form    form;
  int              nx;
  int              i_v, i_a, i_lambda, i_mu, i_nu; /* where the parts of x start (q at 0); -1: part is absent */
  uint8_t         *component;                      /* [nx] yoke_component */
  yoke_pattern    *pattern;                        /* of J, E and the regularisation together, full structure */
  double          *E;                              /* [nnz] */
  double          *R;             /* [nnz] regularisation of multiplier rows, see jacobian; 0 elsewhere */
  yoke_pattern    *input_pattern; /* of dF/du [nx, nu] (INDEX1); NULL: not known */
  struct yoke_dae *inner; /* view of the equations that these are made of, destroyed with this one; NULL: none */
} yoke_dae;

/* Loads from some time on: none acts, all that act are constant, or some change. */
typedef enum yoke_loading { YOKE_LOADS_NONE, YOKE_LOADS_STEADY, YOKE_LOADS_VARY } yoke_loading;
enum { YOKE_LOAD_TIMES = 4 }; /* at most, whose powers are asked for at once */
/* A set of loads: bit k is that of load k; all from 63 on have the last one. */
#define YOKE_ALL_LOADS UINT64_MAX
/* So many have a bit of their own, all others one together. */
enum { YOKE_LOADS_APART = 63 };
static inline uint64_t yoke_load_bit(int k) {
  return UINT64_C(1) << (k < YOKE_LOADS_APART ? k : YOKE_LOADS_APART);
}
static inline bool yoke_load_is_among(uint64_t some, int k) {
  return (some & yoke_load_bit(k)) != 0;
}

typedef struct yoke_equations yoke_equations;
struct yoke_ends; /* ends.h */

/* Arguments of `stage` below. */
typedef struct yoke_stage {
  double               t, h, c;
  int                  s;
  const double        *a, *abar;
  const double        *q, *v;
  const double *const *A;
  const double        *u;
  double              *X_out, *V_out, *out; /* none overlaps another array */
  const double        *e, *ebar;            /* NULL: no error */
  double               atol, rtol;
} yoke_stage;

/* Evaluations in two parts, which threads find side by side in rounds (lockstep.h). One evaluation is
 *   begin   by one thread: where, and where to (qdot, lambda may be NULL)
 *   enter   of each part, then `meet` by one thread: again until *is_met
 *   leave   of each part: writes its entries of qdot and a, and lambda
 *   end     by one thread: was all finite?
 * A part reads no entries of q and v but its own, and those of quadratures are written by `meet`. So of stages that follow each other a part leaves
 * one, forms its entries of the next and enters that in one round: `begin` of the next comes behind `meet` and before `leave`, `meet` of the next is its `end` too. */
typedef struct yoke_parted yoke_parted;
enum { YOKE_N_PARTS = 2 };
typedef struct yoke_parts_ops {
  yoke_parted *(*open)(const void *self, void *work); /* in `work`; NULL: these equations cannot */
  int (*spans)(const yoke_parted *x, int part, bool of_q, const yoke_range **spans); /* entries of a part */
  void (*begin)(yoke_parted *x, double t, const double *q, const double *v, const double *u, double *qdot, double *a,
                double *lambda);
  void (*enter)(yoke_parted *x, int part);
  yoke_status (*meet)(yoke_parted *x, bool *is_met);
  void (*leave)(yoke_parted *x, int part);
  yoke_status (*end)(const yoke_parted *x);
} yoke_parts_ops;

typedef struct yoke_equations_ops {
  const char *kind; /* "multibody", "chain", or a test's own */
  void (*destroy)(void *self);

  /* Ordinary view, required. qdot [nq] and lambda [ng + n_guided] may be NULL. a [nv].
   * Near singular positions lambda is the minimum-norm solution. */
  yoke_status (*derivative)(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                            double *qdot, double *a, double *lambda);

  const yoke_parts_ops *parts; /* optional: `derivative` in parts, for stages that follow each other; the same bits */

  /* Optional: a, which `derivative` gave at (t, q, v) under other inputs, becomes what it gives under u, to the bit. For equations whose
   * inputs move few bodies each. */
  yoke_status (*reinput)(const void *self, double t, const double *q, const double *v, const double *u, double *a);

  /* Projection, required if ng + n_norms > 0: nearest q (in the mass norm) with g = 0 and unit norms; nearest v with g' = 0. */
  yoke_status (*project_position)(const void *self, void *work, double t, double *q);
  yoke_status (*project_velocity)(const void *self, void *work, double t, const double *q, double *v);
  /* Both for less than each alone, to rounding; NULL: one after the other. */
  yoke_status (*project)(const void *self, void *work, double t, double *q, double *v);
  /* Is q so near a singular position (or are constraints redundant) that rounding errors of derivative exceed small
   * tolerances? Optional, NULL: never. */
  bool (*is_singular)(const void *self, void *work, double t, const double *q);
  void (*normalise)(const void *self, double *q); /* unit Euler parameters only; NULL: none */
  /* g, g', each [ng], may be NULL */
  void (*constraint)(const void *self, void *work, double t, const double *q, const double *v, double *g, double *gd);

  /* Implicit view, optional (NULL: explicit integrators only). F [nx]; J [nnz of dae->pattern]. */
  yoke_status (*dae_create)(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out); /* gives */
  /* Optional: nx of what dae_create would give, and no less than the nnz of its pattern, at no cost. Where it is there dae_create fails for
   * want of memory only, and the view is made when it is first needed. */
  void (*dae_size)(const void *self, yoke_dae_form form, int *nx, int *nnz);
  yoke_status (*dae_rhs)(const void *self, const yoke_dae *dae, void *work, double t, const double *x, const double *u,
                         double *F);
  yoke_status (*dae_jacobian)(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                              const double *u, double *J);

  /* Tangents, optional, all or none: what a change (dq, dv, du) of state and inputs does, for many directions at once. Arrays of directions
   * hold those of a component side by side: [nv, n] is n numbers of v_0, then n of v_1, ...
   * B = dF/du of the INDEX1 form [nnz of dae->input_pattern]; dae_jacobian has the rest but the rows of quadratures. */
  yoke_status (*dae_input_jacobian)(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                    const double *u, double *B);
  /* The system of the accelerations, M a - G^T lambda = r_a, G a = r_g (joints, then guided rows; rows that follow from others are left out
   * and have lambda = 0; where f depends on a and lambda, that is part of it): factored into `factor` (motion_size bytes, 64-byte aligned), then solved for n right-hand sides in place:
   * a [nv, n] holds r_a and becomes a, lambda [ng + n_guided, n] holds r_g and becomes lambda. YOKE_SINGULAR: q is singular. */
  yoke_status (*motion_factor)(const void *self, void *work, double t, const double *q, const double *v,
                               const double *u, void *factor);
  void (*motion_solve)(const void *self, const void *factor, int n, double *a, double *lambda);
  /* Rates [n_quadratures, n] of the tangents of the quadratures at (t, q, v); 0 for the work of dampers and loads, which nobody asks for. */
  void (*quadrature_tangent)(const void *self, void *work, double t, const double *q, const double *v, int n,
                             const double *dq, const double *dv, double *rate);
  /* With `drifts`: tangents (dq, dv) at (t, q, v) go where projections of q and v carry them, G dq = 0, p . dp = 0 and
   * G dv + d(G v)/dq dq = 0. `factor` is that of (t, q), a [nv, n] and lambda [ng + n_guided, n] are scratch. */
  void (*tangent_project)(const void *self, void *work, const void *factor, double t, const double *q, const double *v,
                          int n, double *dq, double *dv, double *a, double *lambda);
  /* Tangents across a jump of a law or load that depends on the state mean nothing: on which sides of all such jumps (t, q, v, u) lies, as a
   * number that differs where one side differs. NULL: nothing jumps. */
  uint64_t (*branch)(const void *self, void *work, double t, const double *q, const double *v, const double *u);

  /* Words for a message: steps near (t, q, v), where the accelerations are a and the multipliers lambda, are shorter than they should be. Who is
   * it, why, and what helps? `reach` [s]: around how far. `text` is left alone where nothing can be said. Optional. */
  void (*blame)(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                const double *a, const double *lambda, double reach, char *text, size_t size);

  /* Optional fused kernel when q' = v (is_second_order): one explicit Runge-Kutta stage in Nystroem form,
   *   X = q + h c v + h^2 sum_j abar[j] A[j],  V = v + h sum_j a[j] A[j],  out = acceleration(t, X, V, u), j < s.
   * X and V are written to X_out, V_out when not NULL. When `weights` is not NULL it is the last stage of a step:
   * error (squared, weighted sum over all components of  h^2 sum ebar[j] A[j] for q and h sum e[j] A[j] for v with
   * A[s] = out; scale = atol + rtol max(|old|, |new|)) is returned in *error_sum (summed in index order). */
  yoke_status (*stage)(const void *self, void *work, double t, double h, double c, int s, const double *a,
                       const double *abar, const double *q, const double *v, const double *const *A, const double *u,
                       double *X_out, double *V_out, double *out, const double *e, const double *ebar, double atol,
                       double rtol, double *error_sum);

  /* Optional, with `stage`: consecutive stages of one step in one sweep through memory, which pays when the states do
   * not fit into the cache; same bits as `stage` for each in turn, whoever helps (NULL: nobody, and work may be NULL too).
   * A of a stage may hold `out` of those before it.
   * *error_sum (may be NULL) is that of the last stage. Not YOKE_OK: everything written is undefined. */
  yoke_status (*sweep)(const void *self, void *work, yoke_lockstep *helpers, int n_stages, const yoke_stage *stages,
                       double *error_sum);

  /* Optional */
  void (*energy)(const void *self, void *work, double t, const double *q, const double *v, yoke_energy *out);
  /* Powers [W] at (t, q, v) under the inputs u: lost in dampers and drag, brought in by loads. That of prescribed motions of joints, and of
   * loads that read v' or lambda (`feels`), is not among them. NULL: it is always 0. Optional. */
  void (*powers)(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                 double *dissipated, double *external);
  /* Optional, where q' = v: adds the works of both [J] over a micro step, those of the three points between its ends (ends.h), for less than
   * `powers` at each of them takes. False, at all times and without ends (NULL) too: these equations do not tell them. */
  bool (*work)(const void *self, const struct yoke_ends *ends, double sum[2]);
  /* Optional, all or none, where q' = v: the same powers as sums that cost little. That of the dampers depends on v alone, and has a rate [W/s]
   * under the accelerations a (NULL: not asked for); those of the loads, at n <= YOKE_LOAD_TIMES
   * times, on the freedoms of a list and on their v [n, *n]; only some of them are looked at. */
  void (*losses)(const void *self, const double *v, const double *a, double *lost, double *rate);
  const int *(*loaded)(const void *self, int *n);
  void (*load_powers)(const void *self, uint64_t some, int n, const double *t, const double *v, double *power);
  yoke_loading (*loading)(const void *self, double t, double *until,
                          uint64_t *acting); /* from t until then; those that act */
  /* Linear systems: M v' = -K q - D v + F0 + sum_j Fu_j u_j, for `exact`: dense matrices row major, each may be NULL.
   * YOKE_E_UNSUPPORTED: not linear. */
  yoke_status (*linear)(const void *self, void *work, double *A /* (q,v)' = A (q,v) + B u + b, [n, n], n = nq + nv */,
                        double *B /* [n, nu] */, double *b /* [n] */);
  /* Event functions [n_events] at (t, q, v) under the inputs u; NULL where none of them is read. */
  void (*events)(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                 double *value);
  /* Prescribed motions of joint coordinates [n_motions] at t; they are part of g. Optional with n_motions = 0. */
  void (*motions)(const void *self, double t, double *value);
  /* Does one of them, or its rate, jump between `before` and `behind`, shortly before and behind a break? Then `kick` takes q and v across: as
   * impulses in the joints do, whose work is counted. Both with n_motions > 0, or NULL. */
  bool (*is_kicked)(const void *self, double before, double behind);
  yoke_status (*kick)(const void *self, void *work, double before, double behind, double *q, double *v);
  /* Time points where the right-hand side is not smooth: the first strictly after t, or +infinity. NULL: none. */
  double (*next_break)(const void *self, double t);
} yoke_equations_ops;

/* What every step reads comes first. */
struct yoke_equations {
  const yoke_equations_ops *ops;
  void                     *self; /* constant */
  int                       nq, nv, ng, n_norms, nu, n_events;
  int                       n_quadratures;   /* the last ones of q */
  int                       n_motions;       /* joint coordinates that are given functions of t, see ops->motions */
  int                       n_guided;        /* rows met by accelerations alone, see above */
  bool                      is_second_order; /* q' = v exactly, nq == nv, ng == 0 */
  bool                      feels; /* f depends on v' or lambda too; the right-hand side of GGL does not know v' then */
  bool                 drifts; /* q' leaves the constraints (second multipliers), and projections of q and v mend it */
  const yoke_switches *switches;    /* of the loads; borrowed from the owner or self. NULL: none */
  yoke_lockstep       *helpers;     /* threads that help inside (`sweep`, `parts`); borrowed. NULL: none */
  double               load_cost;   /* fused: of all loads, over that of all else in an evaluation */
  size_t               work_size;   /* bytes */
  size_t               motion_size; /* bytes of ops->motion_factor */
  int                  n_banded; /* of nv: freedoms of rods and cables, whose part of the implicit matrix is a band */
  const double
       *size;  /* [nq + nv] what atol is multiplied with, by the kind of q_i and v_i; borrowed. NULL: 1 for all */
  void *owner; /* what else lives as long as these equations; NULL: nothing */
  void (*release)(void *owner); /* called after ops->destroy */
};

/* Length of arrays of multipliers. */
static inline int yoke_n_multipliers(const yoke_equations *equations) {
  return equations->ng + equations->n_guided;
}

/* The first time strictly after t at which the right-hand side is not smooth (`next_break`, `switches`), or +infinity. */
double yoke_equations_next_break(const yoke_equations *equations, double t);

void yoke_equations_destroy(yoke_equations *equations); /* the self behind it, not the struct */
void yoke_dae_destroy(yoke_dae **dae);

#endif
