/* Co-simulation: a model split into subsystems and driven over macro steps.
 *
 * Fixed step: the macro grid is computed from the step number (macro_grid.h, invariant 4 of the design). Step control: step and
 * degree are chosen (control/controller.h). Either way macro points lie at the end, at switching times of loads, behind whose
 * jumps the history of the couplings begins anew, and at state events that act (macro_events.h). */
#ifndef YOKE_MASTER_COSIMULATION_H
#define YOKE_MASTER_COSIMULATION_H

#include "master/macro_events.h"
#include "master/step_choice.h"
#include "model/multibody.h"

typedef struct yoke_cosimulation yoke_cosimulation;

typedef struct yoke_cosimulation_options {
  const char *exec;    /* "threads", "serial", "shuffled", "eager"; NULL: threads */
  int         threads; /* 0: all cores */
  bool        check;   /* wrap subsystems so that they watch their contract */
  const char *forward; /* this subsystem gets no way back, as a foreign one may have none; NULL: none */
  yoke_log    log;     /* macro steps, and every call of a subsystem */
} yoke_cosimulation_options;

/* Residuals of one kind over all accepted steps. */
typedef struct yoke_residual_total {
  double largest; /* in its unit */
  double size;    /* what it is measured by, the largest of all steps */
  double share;   /* largest / size, motions: the largest of any step */
} yoke_residual_total;

typedef struct yoke_macro_totals {
  int64_t steps, rejected; /* macro steps */
  int64_t iterations;      /* corrector passes */
  int64_t integrations;    /* of subsystems over a macro step, perturbed ones included */
  int64_t unconverged;     /* steps accepted at the noise of the solvers, semi-implicit: with levels that are open */
  int64_t rejected_by[YOKE_N_REJECTIONS];
  int64_t reduced_by[YOKE_N_REDUCTIONS]; /* accepted steps that are shorter than planned, by the last reason */
  int64_t forced;                        /* steps accepted with too large an error: a subsystem cannot go back */
  int64_t degrees[YOKE_ORDER_MAX + 1];   /* steps of each degree */
  double  smallest, largest;             /* H of accepted steps [s] */
  double  residual;                      /* largest |c| of accepted steps, in mixed units */
  yoke_residual_total residuals[YOKE_N_RESIDUALS];
} yoke_macro_totals;

/* `equations` and `mb` are those of the whole model (kept); mb NULL: one chain. Starts all subsystems at model->t_start. */
yoke_status yoke_cosimulation_create(yoke_context *ctx, const yoke_model *model, const yoke_equations *equations,
                                     const yoke_multibody *mb, const yoke_cosimulation_options *options,
                                     yoke_cosimulation **out);
void        yoke_cosimulation_destroy(yoke_cosimulation **cosimulation);

/* One accepted macro step, at most to t_end. */
yoke_status yoke_cosimulation_step(yoke_cosimulation *cosimulation, double t_end, yoke_step_statistics *statistics,
                                   yoke_context *ctx);

/* Events of the last step; those that set or stop wait for their action at its end. */
const yoke_macro_events    *yoke_cosimulation_events(const yoke_cosimulation *cosimulation);
/* New positions and velocities of the whole model at the present time, consistent with its joints; the couplings begin anew. */
yoke_status                 yoke_cosimulation_assign(yoke_cosimulation *cosimulation, const double *q, const double *v,
                                                     yoke_context *ctx);
double                      yoke_cosimulation_t(const yoke_cosimulation *cosimulation);
/* Macro step of the settings; with control the one that is planned next. */
double                      yoke_cosimulation_H(const yoke_cosimulation *cosimulation);
/* With control: settings and why they were chosen; NULL: fixed step. */
const yoke_step_choice     *yoke_cosimulation_choice(const yoke_cosimulation *cosimulation);
/* q and v of the whole model from the subsystems' accepted states; quadratures are 0. */
void                        yoke_cosimulation_gather(const yoke_cosimulation *cosimulation, double *q, double *v);
void                        yoke_cosimulation_counters(const yoke_cosimulation *cosimulation,
                                                       yoke_counters           *out); /* micro steps of all subsystems */
void                        yoke_cosimulation_part_counters(const yoke_cosimulation *cosimulation, int part,
                                                            yoke_counters *out); /* the same of one subsystem */
yoke_macro_totals           yoke_cosimulation_totals(const yoke_cosimulation *cosimulation);
const yoke_scheme_settings *yoke_cosimulation_settings(const yoke_cosimulation *cosimulation);
const yoke_plan            *yoke_cosimulation_plan(const yoke_cosimulation *cosimulation);
const yoke_controller      *yoke_cosimulation_controller(const yoke_cosimulation *cosimulation); /* NULL: fixed step */
const yoke_graph           *yoke_cosimulation_graph(const yoke_cosimulation *cosimulation);

#endif
