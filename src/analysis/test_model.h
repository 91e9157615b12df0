/* Test models: linear two-mass systems for the analysis of coupling methods, and a method as a value: the words of the model file. */
#ifndef YOKE_ANALYSIS_TEST_MODEL_H
#define YOKE_ANALYSIS_TEST_MODEL_H

#include "coupling/formulation.h" /* yoke_decomposition, yoke_extension */
#include "coupling/graph.h"       /* yoke_predictor */

#include <stdbool.h>

/* ---- test models ---- */

typedef enum yoke_test_model_kind {
  YOKE_TWO_MASS, /* m_i x_i'' = -c_i x_i - d_i x_i' +- lambda,  lambda = cc (x2 - x1) + dc (v2 - v1);  + on mass 1 */
  YOKE_TWO_MASS_RIGID, /* the same with x2 = x1, lambda a multiplier */
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

typedef enum yoke_test_force {
  YOKE_TEST_FORCE_EXACT,
  YOKE_TEST_FORCE_REDUCED,
  YOKE_TEST_FORCE_APPROXIMATE
} yoke_test_force;
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
  const char *scheme;       /* "semi-implicit", "explicit", "implicit", "waveform" */
  bool        gauss_seidel; /* explicit only matters; side 1 goes first */
  const char
      *formulation; /* NULL: "constitutive", "stabilized-index-2", "kinematic" by model; or "baumgarte", "weighted",
                                      "projection", "stabilized-index-2-mu", "stabilized-index-1" */
  yoke_decomposition decomposition;
  yoke_extension     extension;
  int                order;       /* polynomial degree k */
  bool               feedthrough; /* force/displacement and back: the law is evaluated with the copies */
  bool              final_update; /* explicit with feedthrough: with the final copies, else with those in force; true */
  /* constraints */
  int               index;       /* 1, 2, 3 */
  double            mu;          /* Baumgarte, dimensionless: beta = 2 mu H, gamma = mu^2 H^2 */
  double            beta, gamma; /* [s], [s^2]; 0: not given, then from mu */
  double            a, b;        /* weights */
  double            nodes[2];    /* inner nodes of stabilized-index-1 */
  double            relaxation;  /* stabilized-index-2-mu, share of the new value; 1 */
  /* explicit */
  yoke_predictor    predictor;
  int               samples;             /* least squares: points */
  int               order_acceleration;  /* degree of the extrapolated accelerations */
  double            acceleration_weight; /* acceleration-relaxed: share of the extrapolated value */
  bool              update;              /* accelerations recomputed with the final coupling values */
  /* kinematic */
  yoke_test_force   force;
  int               order_force, order_motion; /* -1: `order` */
  yoke_test_motion  motion;
  yoke_test_outputs outputs;
} yoke_test_method;

yoke_test_method
yoke_test_method_default(void); /* defaults of the program: semi-implicit, order 1, index 1, mu = a = b = 1, ... */

#endif
