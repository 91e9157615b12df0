/* Recurrence: one macro step of a coupling method on a linear test model as a matrix, Y_{N+1} = M Y_N, in closed form.
 *
 * Subsystems are integrated exactly and the coupling conditions solved exactly, so M is the method itself, without solver errors. It is
 * written independently of the engine (graph.h) and is its oracle: both must give the same spectrum. The spectral radius of M
 * (spectrum.h) decides stability: stable when rho <= 1 up to rounding.
 *
 * Y = (x1, v1, x2, v2; then, as far as the method looks back, the coupling variables at T_N, T_{N-1}, ... and accelerations), all
 * dimensionless: time in macro steps H, mass in m1. Entries that a method does not need are left out; the others may add eigenvalues 0. */
#ifndef YOKE_ANALYSIS_RECURRENCE_H
#define YOKE_ANALYSIS_RECURRENCE_H

#include "coupling/formulation.h" /* yoke_decomposition, yoke_extension */
#include "coupling/graph.h"       /* yoke_predictor */
#include <yoke/context.h>

#include <stdbool.h>

/* ---- test models ---- */

typedef enum yoke_test_model_kind {
  YOKE_TWO_MASS,           /* m_i x_i'' = -c_i x_i - d_i x_i' +- lambda,  lambda = cc (x2 - x1) + dc (v2 - v1);  + on mass 1 */
  YOKE_TWO_MASS_RIGID,     /* the same with x2 = x1, lambda a multiplier */
  YOKE_KINEMATIC_TWO_MASS, /* mass R and a flexible part F = (Fco, Fin): Fco moves with R, Fin hangs between Fco and the wall */
} yoke_test_model_kind;

typedef struct yoke_test_model {
  yoke_test_model_kind kind;
  double               H; /* macro step [s] */
  /* two-mass, two-mass-rigid; side 1 is index 0 */
  double               m[2];   /* [kg] */
  double               c[2];   /* springs to the ground [N/m] */
  double               d[2];   /* dampers to the ground [N s/m] */
  double               cc, dc; /* coupling spring [N/m] and damper [N s/m]; two-mass only */
  /* kinematic-two-mass:  m_R q_R'' = -c_R q_R - d_R v_R - Lambda,
   *   m_Fin q_in'' = -2 c_F q_in - 2 d_F v_in + c_F q_R + d_F v_R */
  double               m_R, m_Fco, m_Fin; /* [kg] */
  double               c_R, c_F;          /* [N/m] */
  double               d_R, d_F;          /* [N s/m] */
} yoke_test_model;

/* H = 1 s, m = 1 kg, all springs 1 N/m, no dampers; kinematic-two-mass: the values of Schneider's table 1 with H = 0.01 s. */
yoke_test_model yoke_test_model_default(yoke_test_model_kind kind);

/* "two-mass", "two-mass-rigid", "kinematic-two-mass"; NULL out of range. */
const char *yoke_test_model_name(yoke_test_model_kind kind);
/* false: no test model of this name */
bool        yoke_test_model_find(const char *name, yoke_test_model_kind *kind);

/* Dimensionless parameters of a stability map (Li 3.31, 4.63): eigenvalue re + i im of the free subsystem 1 times H, and ratios. */
typedef struct yoke_test_ratios {
  double re, im;   /* re <= 0, im >= 0 */
  double am;       /* m2 / m1 */
  double ar, ai;   /* re, im of subsystem 2 over those of subsystem 1 */
  double arc, aic; /* the same of the coupling element between the two masses, reduced mass 2 m1 m2 / (m1 + m2) */
} yoke_test_ratios;

yoke_test_ratios yoke_test_ratios_default(void); /* re = -0.1, im = 1, all ratios 1 */

/* Two-mass or two-mass-rigid model with m1 = 1 kg and H = 1 s. Valid on the axes too: nothing is divided by re or im. */
yoke_test_model yoke_test_model_from_ratios(yoke_test_model_kind kind, const yoke_test_ratios *ratios);

/* ---- methods ---- */

typedef enum yoke_test_force { YOKE_TEST_FORCE_EXACT, YOKE_TEST_FORCE_REDUCED, YOKE_TEST_FORCE_APPROXIMATE } yoke_test_force;
typedef enum yoke_test_motion { YOKE_TEST_MOTION_SAME, YOKE_TEST_MOTION_DERIVATIVE } yoke_test_motion;
/* When Lambda and the motion of R are taken (Schneider 4.3 step 4; held: form (48), (51)). */
typedef enum yoke_test_outputs {
  YOKE_TEST_OUTPUTS_PARALLEL,
  YOKE_TEST_OUTPUTS_CURRENT,
  YOKE_TEST_OUTPUTS_SEQUENTIAL,
  YOKE_TEST_OUTPUTS_HELD
} yoke_test_outputs;

/* The words of the model file (docs/model-file.md). For linear models semi-implicit, implicit and a converged waveform are one method. */
typedef struct yoke_test_method {
  const char        *scheme;       /* "semi-implicit", "explicit", "implicit", "waveform" */
  bool               gauss_seidel; /* explicit only matters; side 1 goes first */
  const char        *formulation;  /* NULL: "constitutive", "stabilized-index-2", "kinematic" by model; or "baumgarte", "weighted",
                                      "projection", "stabilized-index-2-mu", "stabilized-index-1" */
  yoke_decomposition decomposition;
  yoke_extension     extension;
  int                order; /* polynomial degree k */
  bool               feedthrough;
  /* constraints */
  int                index;       /* 1, 2, 3 */
  double             mu;          /* Baumgarte, dimensionless: beta = 2 mu H, gamma = mu^2 H^2 */
  double             beta, gamma; /* [s], [s^2]; 0: not given, then from mu */
  double             a, b;        /* weights */
  double             nodes[2];    /* inner nodes of stabilized-index-1 */
  double             relaxation;  /* stabilized-index-2-mu, share of the new value; 1 */
  /* explicit */
  yoke_predictor     predictor;
  int                samples;             /* least squares: points */
  int                order_acceleration;  /* degree of the extrapolated accelerations */
  double             acceleration_weight; /* acceleration-relaxed: share of the extrapolated value */
  bool               update;              /* accelerations recomputed with the final coupling values */
  /* kinematic */
  yoke_test_force    force;
  int                order_force, order_motion; /* -1: `order` */
  yoke_test_motion   motion;
  yoke_test_outputs  outputs;
} yoke_test_method;

yoke_test_method yoke_test_method_default(void); /* defaults of the program: semi-implicit, order 1, index 1, mu = a = b = 1, ... */

/* ---- the recurrence ---- */

enum { YOKE_RECURRENCE_MAX = 64 };

/* Is the combination defined? Otherwise YOKE_E_USAGE and the reason in ctx. */
yoke_status yoke_recurrence_check(yoke_context *ctx, yoke_test_model_kind kind, const yoke_test_method *method);

/* M of one macro step, [n, n] row major, n <= YOKE_RECURRENCE_MAX; room for YOKE_RECURRENCE_MAX^2 numbers is needed. Reentrant; ctx may be NULL.
 * YOKE_E_USAGE: not defined, or a parameter out of range; YOKE_SINGULAR: the conditions do not determine the coupling variables at
 * these parameters (a pole of rho); YOKE_NON_FINITE: overflow. */
yoke_status yoke_recurrence_build(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                  double *matrix, int *n);

/* Build and take the spectral radius. A pole gives *rho = INFINITY and YOKE_OK. */
yoke_status yoke_recurrence_radius(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                   double *rho);

/* Zero-stability: the spectral radius for H -> 0 without the rigid-body motion, which is the same for all methods. Two-mass-rigid: the
 * relative motion with c = d = 0 (Li 8.5, Lu 4.8). Kinematic: the loop of force and acceleration (Schneider 36, 54). Depends on the
 * method and, kinematic only, on the mass ratio; of the model no other parameter is used. */
yoke_status yoke_recurrence_zero_radius(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                        double *rho);

#endif
