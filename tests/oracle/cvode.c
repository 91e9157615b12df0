/* cvode: SUNDIALS CVODE (BDF) on the ordinary view, as an oracle for our own methods.
 *
 *   y = (q, v),  y' = (T v, a(t, q, v, u)),  multipliers eliminated.
 *
 * Constraints are kept by CVODE's projection after each step. The linear solver is KLU with the analytic Jacobian E^-1 J of
 * the implicit view when there are no constraints and E is diagonal; otherwise dense with difference quotients. The
 * solver's memory hangs on `foreign` of the state: such a state cannot be copied. */
#include "oracle/oracle.h"

#include "base/memory.h"
#include "integrate/implicit.h"
#include <cvode/cvode.h>
#include <cvode/cvode_proj.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* Of sunlinsol/sunlinsol_klu.h, which includes <klu.h> without its folder. */
SUNLinearSolver SUNLinSol_KLU(N_Vector y, SUNMatrix matrix, SUNContext context);

/* Constant part. */
typedef struct cvode_data {
  yoke_implicit *implicit;  /* NULL: dense with difference quotients */
  double        *inverse_E; /* [n] diagonal of E^-1 */
} cvode_data;

/* One running solver. */
typedef struct cvode_run {
  const yoke_integrator *integrator;
  void                  *work; /* of the call that runs */
  const yoke_signal     *signal;
  double                *u;
  yoke_counts           *counters;
  yoke_status            failure; /* first final status of the equations */

  SUNContext      context;
  N_Vector        y, dense;
  SUNMatrix       matrix;
  SUNLinearSolver solver;
  void           *memory;
  long            n_failed; /* of CVODE's own counters, seen so far */
  long            n_iterations;
  long            n_setups;
} cvode_run;

/* ---- what CVODE calls ---------------------------------------------------------------------------------------------- */

static int cvode_verdict(cvode_run *run, yoke_status status) {
  if (status < YOKE_OK && run->failure == YOKE_OK) run->failure = status;
  return status == YOKE_OK ? 0 : status > YOKE_OK ? 1 : -1;
}

static int cvode_derivative(realtype t, N_Vector y_vector, N_Vector out, void *data) {
  cvode_run            *run = data;
  const yoke_equations *eq  = run->integrator->equations;
  const double         *y   = N_VGetArrayPointer(y_vector);
  double               *yd  = N_VGetArrayPointer(out);
  ++run->counters->evaluations;
  yoke_signal_value(run->signal, t, YOKE_SIDE_LEFT, 0, run->u);
  return cvode_verdict(run, eq->ops->derivative(eq->self, run->work, t, y, y + eq->nq, run->u, yd, yd + eq->nq, NULL));
}

static int cvode_jacobian(realtype t, N_Vector y, N_Vector yd, SUNMatrix matrix, void *data, N_Vector w1, N_Vector w2,
                          N_Vector w3) {
  (void)yd, (void)w1, (void)w2, (void)w3;
  cvode_run           *run     = data;
  const cvode_data    *self    = run->integrator->self;
  const yoke_implicit *view    = self->implicit;
  const yoke_pattern  *pattern = view->dae->pattern;
  double              *m       = SUNSparseMatrix_Data(matrix);
  ++run->counters->jacobians;
  const yoke_status status =
      yoke_implicit_jacobian(view, run->work, run->u, run->signal, YOKE_SIDE_LEFT, t, N_VGetArrayPointer(y), m);
  if (status != YOKE_OK) return cvode_verdict(run, status);
  for (int i = 0; i <= pattern->n_cols; ++i) SUNSparseMatrix_IndexPointers(matrix)[i] = pattern->col_start[i];
  for (int i = 0; i < pattern->nnz; ++i) {
    SUNSparseMatrix_IndexValues(matrix)[i] = pattern->row[i];
    m[i] *= self->inverse_E[pattern->row[i]];
  }
  return 0;
}

static int cvode_project(realtype t, N_Vector y_vector, N_Vector correction, realtype epsilon, N_Vector error,
                         void *data) {
  (void)epsilon, (void)error;
  cvode_run            *run = data;
  const yoke_equations *eq  = run->integrator->equations;
  const double         *y   = N_VGetArrayPointer(y_vector);
  double               *c   = N_VGetArrayPointer(correction);
  const int             n   = eq->nq + eq->nv;
  memcpy(c, y, (size_t)n * sizeof *c);
  yoke_status status = eq->ops->project_position(eq->self, run->work, t, c);
  if (status == YOKE_OK) status = eq->ops->project_velocity(eq->self, run->work, t, c, c + eq->nq);
  for (int i = 0; i < n; ++i) c[i] -= y[i];
  return cvode_verdict(run, status);
}

static int cvode_weights(N_Vector y_vector, N_Vector weights, void *data) {
  const cvode_run               *run     = data;
  const yoke_equations          *eq      = run->integrator->equations;
  const yoke_integrator_options *options = &run->integrator->options;
  const double                  *y       = N_VGetArrayPointer(y_vector);
  double                        *w       = N_VGetArrayPointer(weights);
  for (int i = 0; i < eq->nq + eq->nv; ++i) {
    w[i] = 1 / (options->atol + options->rtol * fabs(y[i]));
    if (!isfinite(w[i])) return -1;
    if (i >= eq->nq - eq->n_quadratures && i < eq->nq) w[i] *= 1e-12;
  }
  return 0;
}

static void cvode_silent(int code, const char *module, const char *function, char *message, void *data) {
  (void)code, (void)module, (void)function, (void)message, (void)data;
}

/* ---- creation ------------------------------------------------------------------------------------------------------ */

static void cvode_destroy(yoke_integrator *integrator) {
  cvode_data *self = integrator->self;
  if (self == NULL) return;
  yoke_implicit_destroy(&self->implicit);
  free(self->inverse_E);
  free(self);
  integrator->self = NULL;
}

/* Take the analytic Jacobian if E is diagonal and regular. */
static yoke_status cvode_take_view(yoke_context *ctx, const yoke_integrator *integrator, cvode_data *self) {
  const yoke_equations *eq = integrator->equations;
  if (eq->ops->dae_create == NULL || eq->ng + eq->n_norms + eq->n_guided > 0) return YOKE_OK;
  yoke_integrator_options options = integrator->options;
  options.form                    = YOKE_DAE_GGL;
  YOKE_TRY(yoke_implicit_create(ctx, eq, &options, &self->implicit));
  const yoke_implicit *view = self->implicit;
  self->inverse_E           = yoke_allocate((size_t)view->nx + 1, sizeof *self->inverse_E);
  if (self->inverse_E == NULL) return yoke_fail(ctx, YOKE_E_MEMORY, "solver 'cvode': out of memory");
  bool is_diagonal = view->nx == eq->nq + eq->nv && view->dae->i_v == eq->nq;
  for (int i = 0; i < view->nx; ++i) {
    for (int j = view->E_start[i]; j < view->E_start[i + 1]; ++j) {
      if (view->E_value[j] == 0) continue;
      if (view->E_col[j] != i) is_diagonal = false;
      self->inverse_E[i] = 1 / view->E_value[j];
    }
    if (self->inverse_E[i] == 0) is_diagonal = false;
  }
  if (!is_diagonal) yoke_implicit_destroy(&self->implicit);
  return YOKE_OK;
}

static yoke_status cvode_create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_integrator_options *options = &integrator->options;
  if (options->fixed_step > 0) return yoke_fail(ctx, YOKE_E_USAGE, "solver 'cvode' has no fixed step");
  if (options->max_order < 0 || options->max_order > 5) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver 'cvode': max_order is %d, expected 1 to 5", options->max_order);
  }
  cvode_data *self = yoke_allocate(1, sizeof *self);
  if (self == NULL) return yoke_fail(ctx, YOKE_E_MEMORY, "solver 'cvode': out of memory");
  integrator->self         = self;
  integrator->state_size   = yoke_integrator_head_size(integrator->equations);
  integrator->scratch_size = integrator->equations->work_size;
  return cvode_take_view(ctx, integrator, self);
}

static void cvode_release(void *foreign) {
  cvode_run *run = foreign;
  if (run == NULL) return;
  if (run->memory != NULL) CVodeFree(&run->memory);
  if (run->solver != NULL) SUNLinSolFree(run->solver);
  if (run->matrix != NULL) SUNMatDestroy(run->matrix);
  if (run->y != NULL) N_VDestroy(run->y);
  if (run->dense != NULL) N_VDestroy(run->dense);
  if (run->context != NULL) SUNContext_Free(&run->context);
  free(run->u);
  free(run);
}

static bool cvode_allocate(cvode_run *run) {
  const cvode_data     *self = run->integrator->self;
  const yoke_equations *eq   = run->integrator->equations;
  const int             n    = eq->nq + eq->nv;
  run->u                     = yoke_allocate((size_t)eq->nu + 1, sizeof *run->u);
  if (run->u == NULL || SUNContext_Create(NULL, &run->context) != 0) return false;
  run->y     = N_VNew_Serial(n, run->context);
  run->dense = N_VNew_Serial(n, run->context);
  if (run->y == NULL || run->dense == NULL) return false;
  if (self->implicit != NULL) {
    run->matrix = SUNSparseMatrix(n, n, self->implicit->nnz, CSC_MAT, run->context);
    if (run->matrix != NULL) run->solver = SUNLinSol_KLU(run->y, run->matrix, run->context);
  } else {
    run->matrix = SUNDenseMatrix(n, n, run->context);
    if (run->matrix != NULL) run->solver = SUNLinSol_Dense(run->y, run->matrix, run->context);
  }
  run->memory = CVodeCreate(CV_BDF, run->context);
  return run->solver != NULL && run->memory != NULL;
}

static void cvode_take_state(cvode_run *run, const yoke_integrator_state *state) {
  const yoke_equations *eq = run->integrator->equations;
  double               *y  = N_VGetArrayPointer(run->y);
  memcpy(y, yoke_integrator_q(run->integrator, state), (size_t)eq->nq * sizeof *y);
  memcpy(y + eq->nq, yoke_integrator_v(run->integrator, state), (size_t)eq->nv * sizeof *y);
}

static yoke_status cvode_configure(cvode_run *run, double t) {
  const yoke_integrator_options *options = &run->integrator->options;
  const cvode_data              *self    = run->integrator->self;
  const yoke_equations          *eq      = run->integrator->equations;
  void *const                    m       = run->memory;

  bool ok = CVodeSetErrHandlerFn(m, cvode_silent, NULL) == CV_SUCCESS;
  ok      = ok && CVodeInit(m, cvode_derivative, t, run->y) == CV_SUCCESS;
  ok      = ok && CVodeSetUserData(m, run) == CV_SUCCESS && CVodeWFtolerances(m, cvode_weights) == CV_SUCCESS;
  ok      = ok && CVodeSetLinearSolver(m, run->solver, run->matrix) == CV_SUCCESS;
  if (self->implicit != NULL) ok = ok && CVodeSetJacFn(m, cvode_jacobian) == CV_SUCCESS;
  if (eq->ng + eq->n_norms > 0) {
    ok = ok && CVodeSetProjFn(m, cvode_project) == CV_SUCCESS && CVodeSetProjErrEst(m, SUNFALSE) == CV_SUCCESS;
  }
  if (options->max_order > 0) ok = ok && CVodeSetMaxOrd(m, options->max_order) == CV_SUCCESS;
  if (options->max_step > 0) ok = ok && CVodeSetMaxStep(m, options->max_step) == CV_SUCCESS;
  if (options->first_step > 0) ok = ok && CVodeSetInitStep(m, options->first_step) == CV_SUCCESS;
  return ok ? YOKE_OK : YOKE_E_INTERNAL;
}

static yoke_status cvode_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u) {
  cvode_run *run = yoke_allocate(1, sizeof *run);
  if (run == NULL) return YOKE_E_MEMORY;
  state->foreign  = run;
  state->release  = cvode_release;
  run->integrator = integrator;
  run->work       = scratch;
  run->signal     = u;
  run->counters   = &state->counters;
  if (!cvode_allocate(run)) return YOKE_E_MEMORY;
  cvode_take_state(run, state);
  state->order = 1;
  return cvode_configure(run, state->t);
}

static yoke_status cvode_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                                 const yoke_signal *u, yoke_disturbance what) {
  (void)integrator, (void)what;
  cvode_run *run    = state->foreign;
  run->work         = scratch;
  run->signal       = u;
  run->counters     = &state->counters;
  run->n_failed     = 0;
  run->n_iterations = 0;
  run->n_setups     = 0;
  cvode_take_state(run, state);
  return CVodeReInit(run->memory, state->t, run->y) == CV_SUCCESS ? YOKE_OK : YOKE_E_INTERNAL;
}

/* ---- step ---------------------------------------------------------------------------------------------------------- */

static void cvode_count(cvode_run *run, yoke_integrator_state *state) {
  long error_fails = 0, solve_fails = 0, iterations = 0, setups = 0;
  CVodeGetNumLinSolvSetups(run->memory, &setups);
  CVodeGetNumErrTestFails(run->memory, &error_fails);
  CVodeGetNumStepSolveFails(run->memory, &solve_fails);
  CVodeGetNumNonlinSolvIters(run->memory, &iterations);
  state->counters.rejected += error_fails + solve_fails - run->n_failed;
  state->counters.iterations += iterations - run->n_iterations;
  state->counters.factorings += setups - run->n_setups;
  run->n_failed     = error_fails + solve_fails;
  run->n_iterations = iterations;
  run->n_setups     = setups;
  CVodeGetLastOrder(run->memory, &state->order);
  CVodeGetCurrentStep(run->memory, &state->h);
}

static yoke_status cvode_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                              const yoke_signal *u, double t_limit, yoke_context *ctx) {
  const yoke_equations *eq  = integrator->equations;
  cvode_run            *run = state->foreign;
  run->work                 = scratch;
  run->signal               = u;
  run->counters             = &state->counters;
  realtype t                = state->t;
  if (CVodeSetStopTime(run->memory, t_limit) != CV_SUCCESS) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "solver 'cvode': cannot stop at t = %.17g s", t_limit);
  }
  const int flag = CVode(run->memory, t_limit, run->y, &t, CV_ONE_STEP);
  cvode_count(run, state);
  if (flag < 0) {
    if (run->failure < YOKE_OK) return run->failure;
    return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL, "solver 'cvode': code %d at t = %.17g s", flag, state->t);
  }
  const double *y = N_VGetArrayPointer(run->y);
  memcpy(yoke_integrator_q(integrator, state), y, (size_t)eq->nq * sizeof *y);
  memcpy(yoke_integrator_v(integrator, state), y + eq->nq, (size_t)eq->nv * sizeof *y);
  state->t_prev = state->t;
  state->t      = flag == CV_TSTOP_RETURN ? t_limit : t;
  ++state->counters.steps;
  ++state->counters.evaluations;
  yoke_signal_value(u, state->t, YOKE_SIDE_LEFT, 0, run->u);
  return eq->ops->derivative(eq->self, scratch, state->t, y, y + eq->nq, run->u, NULL,
                             yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state));
}

static void cvode_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t,
                              double *q, double *v) {
  const yoke_equations *eq  = integrator->equations;
  const cvode_run      *run = state->foreign;
  const double         *y   = N_VGetArrayPointer(run->y);
  if (t < state->t && CVodeGetDky(run->memory, t, 0, run->dense) == CV_SUCCESS) y = N_VGetArrayPointer(run->dense);
  if (q != NULL) memcpy(q, y, (size_t)eq->nq * sizeof *q);
  if (v != NULL) memcpy(v, y + eq->nq, (size_t)eq->nv * sizeof *v);
}

const yoke_integrator_ops cvode_ops = {
    .name        = "cvode",
    .summary     = "SUNDIALS CVODE (BDF): independent oracle for tests and benchmarks",
    .reads       = "rtol atol max_step max_order linear constraints alpha beta",
    .create      = cvode_create,
    .destroy     = cvode_destroy,
    .start       = cvode_start,
    .step        = cvode_step,
    .interpolate = cvode_interpolate,
    .disturb     = cvode_disturb,
    .no_copy     = true,
};
