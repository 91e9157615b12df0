/* ida: SUNDIALS IDA with KLU on the implicit view, as an oracle for our own methods and as the baseline of benchmarks.
 *
 *   0 = E x' - F(t, x, u),  iteration matrix cj E - J + (delta / cj) R, analytic.
 *
 * Multipliers and accelerations are kept out of the error test (IDASetId, IDASetSuppressAlg); in the test of the nonlinear
 * iteration they are weighted by h, as index-2 variables. The solver's memory hangs on `foreign` of the state: such a
 * state cannot be copied. */
#include "oracle/oracle.h"

#include "base/memory.h"
#include "integrate/implicit.h"
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* Of sunlinsol/sunlinsol_klu.h, which includes <klu.h> without its folder. */
SUNLinearSolver SUNLinSol_KLU(N_Vector y, SUNMatrix matrix, SUNContext context);

/* One running solver. */
typedef struct ida_run {
  const yoke_integrator *integrator;
  const yoke_implicit   *implicit;
  void                  *work; /* of the call that runs */
  const yoke_signal     *signal;
  double                *u;
  yoke_counts           *counters;
  yoke_status            failure; /* first final status of the equations */

  SUNContext      context;
  N_Vector        x, xd, id, dense;
  SUNMatrix       matrix;
  SUNLinearSolver solver;
  void           *memory;
  long            n_failed; /* of IDA's own counters, seen so far */
  long            n_iterations;
} ida_run;

/* ---- what IDA calls ------------------------------------------------------------------------------------------------ */

static int ida_verdict(ida_run *run, yoke_status status) {
  if (status < YOKE_OK && run->failure == YOKE_OK) run->failure = status;
  return status == YOKE_OK ? 0 : status > YOKE_OK ? 1 : -1;
}

static int ida_residual(realtype t, N_Vector x, N_Vector xd, N_Vector out, void *data) {
  ida_run *run = data;
  double  *r   = N_VGetArrayPointer(out);
  ++run->counters->evaluations;
  const yoke_status status =
      yoke_implicit_rhs(run->implicit, run->work, run->u, run->signal, YOKE_SIDE_LEFT, t, N_VGetArrayPointer(x), r);
  if (status != YOKE_OK) return ida_verdict(run, status);
  for (int i = 0; i < run->implicit->nx; ++i) r[i] = -r[i];
  yoke_implicit_mass_add(run->implicit, 1, N_VGetArrayPointer(xd), r);
  return 0;
}

static int ida_jacobian(realtype t, realtype cj, N_Vector x, N_Vector xd, N_Vector r, SUNMatrix matrix, void *data,
                        N_Vector w1, N_Vector w2, N_Vector w3) {
  (void)xd, (void)r, (void)w1, (void)w2, (void)w3;
  ida_run            *run     = data;
  const yoke_dae     *dae     = run->implicit->dae;
  const yoke_pattern *pattern = dae->pattern;
  double             *m       = SUNSparseMatrix_Data(matrix);
  ++run->counters->jacobians;
  ++run->counters->factorings;
  const yoke_status status = yoke_implicit_jacobian(run->implicit, run->work, run->u, run->signal, YOKE_SIDE_LEFT, t,
                                                    N_VGetArrayPointer(x), m);
  if (status != YOKE_OK) return ida_verdict(run, status);
  const double small = YOKE_IMPLICIT_DELTA / cj;
  for (int i = 0; i < pattern->nnz; ++i) m[i] = cj * dae->E[i] - m[i] + small * dae->R[i];
  for (int i = 0; i <= pattern->n_cols; ++i) SUNSparseMatrix_IndexPointers(matrix)[i] = pattern->col_start[i];
  for (int i = 0; i < pattern->nnz; ++i) SUNSparseMatrix_IndexValues(matrix)[i] = pattern->row[i];
  return 0;
}

static int ida_weights(N_Vector x_vector, N_Vector weights, void *data) {
  const ida_run                 *run       = data;
  const yoke_integrator_options *options   = &run->integrator->options;
  const uint8_t                 *component = run->implicit->dae->component;
  const double                  *x         = N_VGetArrayPointer(x_vector);
  double                        *w         = N_VGetArrayPointer(weights);
  realtype                       h         = 0;
  if (run->memory == NULL || IDAGetCurrentStep(run->memory, &h) != IDA_SUCCESS || !(h > 0)) h = 1e-12;
  for (int i = 0; i < run->implicit->nx; ++i) {
    w[i] = 1 / (options->atol + options->rtol * fabs(x[i]));
    if (!isfinite(w[i])) return -1;
    if (component[i] == YOKE_COMPONENT_QUADRATURE) w[i] *= 1e-12;
    if (component[i] > YOKE_COMPONENT_QUADRATURE) w[i] *= fmin(h, 1);
  }
  return 0;
}

static void ida_silent(int code, const char *module, const char *function, char *message, void *data) {
  (void)code, (void)module, (void)function, (void)message, (void)data;
}

/* ---- creation ------------------------------------------------------------------------------------------------------ */

static void ida_destroy(yoke_integrator *integrator) {
  yoke_implicit *implicit = integrator->self;
  yoke_implicit_destroy(&implicit);
  integrator->self = NULL;
}

static yoke_status ida_create(yoke_context *ctx, yoke_integrator *integrator) {
  const yoke_integrator_options *options = &integrator->options;
  if (options->fixed_step > 0) return yoke_fail(ctx, YOKE_E_USAGE, "solver 'ida' has no fixed step");
  if (options->max_order < 0 || options->max_order > 5) {
    return yoke_fail(ctx, YOKE_E_USAGE, "solver 'ida': max_order is %d, expected 1 to 5", options->max_order);
  }
  yoke_implicit *implicit = NULL;
  YOKE_TRY(yoke_implicit_create(ctx, integrator->equations, options, &implicit));
  integrator->self         = implicit;
  integrator->state_size   = yoke_integrator_head_size(integrator->equations);
  integrator->scratch_size = integrator->equations->work_size;
  return YOKE_OK;
}

static void ida_release(void *foreign) {
  ida_run *run = foreign;
  if (run == NULL) return;
  if (run->memory != NULL) IDAFree(&run->memory);
  if (run->solver != NULL) SUNLinSolFree(run->solver);
  if (run->matrix != NULL) SUNMatDestroy(run->matrix);
  if (run->x != NULL) N_VDestroy(run->x);
  if (run->xd != NULL) N_VDestroy(run->xd);
  if (run->id != NULL) N_VDestroy(run->id);
  if (run->dense != NULL) N_VDestroy(run->dense);
  if (run->context != NULL) SUNContext_Free(&run->context);
  free(run->u);
  free(run);
}

static bool ida_allocate(ida_run *run) {
  const yoke_implicit *implicit = run->implicit;
  run->u                        = yoke_allocate((size_t)run->integrator->equations->nu + 1, sizeof *run->u);
  if (run->u == NULL || SUNContext_Create(NULL, &run->context) != 0) return false;
  run->x      = N_VNew_Serial(implicit->nx, run->context);
  run->xd     = N_VNew_Serial(implicit->nx, run->context);
  run->id     = N_VNew_Serial(implicit->nx, run->context);
  run->dense  = N_VNew_Serial(implicit->nx, run->context);
  run->matrix = SUNSparseMatrix(implicit->nx, implicit->nx, implicit->nnz, CSC_MAT, run->context);
  if (run->x == NULL || run->xd == NULL || run->id == NULL || run->dense == NULL || run->matrix == NULL) return false;
  run->solver = SUNLinSol_KLU(run->x, run->matrix, run->context);
  run->memory = IDACreate(run->context);
  return run->solver != NULL && run->memory != NULL;
}

/* x and x' from the state; inputs from the right. */
static yoke_status ida_take_state(ida_run *run, yoke_integrator_state *state) {
  const yoke_integrator *integrator = run->integrator;
  const yoke_equations  *eq         = integrator->equations;
  const yoke_dae        *dae        = run->implicit->dae;
  double                *x = N_VGetArrayPointer(run->x), *xd = N_VGetArrayPointer(run->xd);
  yoke_implicit_pack(run->implicit, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state),
                     yoke_integrator_a(integrator, state), yoke_integrator_lambda(integrator, state), x);
  memset(xd, 0, (size_t)dae->nx * sizeof *xd);
  yoke_signal_value(run->signal, state->t, YOKE_SIDE_RIGHT, 0, run->u);
  ++state->counters.evaluations;
  return eq->ops->derivative(eq->self, run->work, state->t, x, x + dae->i_v, run->u, xd, xd + dae->i_v, NULL);
}

static yoke_status ida_configure(ida_run *run, double t) {
  const yoke_integrator_options *options = &run->integrator->options;
  double                        *id      = N_VGetArrayPointer(run->id);
  for (int i = 0; i < run->implicit->nx; ++i) {
    id[i] = run->implicit->dae->component[i] <= YOKE_COMPONENT_QUADRATURE ? 1 : 0;
  }
  void *const m  = run->memory;
  bool        ok = IDASetErrHandlerFn(m, ida_silent, NULL) == IDA_SUCCESS;
  ok             = ok && IDAInit(m, ida_residual, t, run->x, run->xd) == IDA_SUCCESS;
  ok             = ok && IDASetUserData(m, run) == IDA_SUCCESS && IDAWFtolerances(m, ida_weights) == IDA_SUCCESS;
  ok             = ok && IDASetLinearSolver(m, run->solver, run->matrix) == IDA_SUCCESS;
  ok             = ok && IDASetJacFn(m, ida_jacobian) == IDA_SUCCESS && IDASetId(m, run->id) == IDA_SUCCESS;
  ok             = ok && IDASetSuppressAlg(m, SUNTRUE) == IDA_SUCCESS;
  if (options->max_order > 0) ok = ok && IDASetMaxOrd(m, options->max_order) == IDA_SUCCESS;
  if (options->max_step > 0) ok = ok && IDASetMaxStep(m, options->max_step) == IDA_SUCCESS;
  if (options->first_step > 0) ok = ok && IDASetInitStep(m, options->first_step) == IDA_SUCCESS;
  return ok ? YOKE_OK : YOKE_E_INTERNAL;
}

static yoke_status ida_start(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                             const yoke_signal *u) {
  ida_run *run = yoke_allocate(1, sizeof *run);
  if (run == NULL) return YOKE_E_MEMORY;
  state->foreign  = run;
  state->release  = ida_release;
  run->integrator = integrator;
  run->implicit   = integrator->self;
  run->work       = scratch;
  run->signal     = u;
  run->counters   = &state->counters;
  if (!ida_allocate(run)) return YOKE_E_MEMORY;
  YOKE_TRY(ida_take_state(run, state));
  state->order = 1;
  return ida_configure(run, state->t);
}

static yoke_status ida_disturb(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                               const yoke_signal *u, yoke_disturbance what) {
  (void)integrator, (void)what;
  ida_run *run      = state->foreign;
  run->work         = scratch;
  run->signal       = u;
  run->counters     = &state->counters;
  run->n_failed     = 0;
  run->n_iterations = 0;
  YOKE_TRY(ida_take_state(run, state));
  return IDAReInit(run->memory, state->t, run->x, run->xd) == IDA_SUCCESS ? YOKE_OK : YOKE_E_INTERNAL;
}

/* ---- step ---------------------------------------------------------------------------------------------------------- */

static void ida_count(ida_run *run, yoke_integrator_state *state) {
  long error_fails = 0, solve_fails = 0, iterations = 0;
  IDAGetNumErrTestFails(run->memory, &error_fails);
  IDAGetNumStepSolveFails(run->memory, &solve_fails);
  IDAGetNumNonlinSolvIters(run->memory, &iterations);
  state->counters.rejected += error_fails + solve_fails - run->n_failed;
  state->counters.iterations += iterations - run->n_iterations;
  run->n_failed     = error_fails + solve_fails;
  run->n_iterations = iterations;
  IDAGetLastOrder(run->memory, &state->order);
  IDAGetCurrentStep(run->memory, &state->h);
}

static yoke_status ida_step(const yoke_integrator *integrator, void *scratch, yoke_integrator_state *state,
                            const yoke_signal *u, double t_limit, yoke_context *ctx) {
  ida_run *run  = state->foreign;
  run->work     = scratch;
  run->signal   = u;
  run->counters = &state->counters;
  realtype t    = state->t;
  if (IDASetStopTime(run->memory, t_limit) != IDA_SUCCESS) {
    return yoke_fail(ctx, YOKE_E_INTERNAL, "solver 'ida': cannot stop at t = %.17g s", t_limit);
  }
  const int flag = IDASolve(run->memory, t_limit, &t, run->x, run->xd, IDA_ONE_STEP);
  ida_count(run, state);
  if (flag < 0) {
    if (run->failure < YOKE_OK) return run->failure;
    return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL, "solver 'ida': code %d at t = %.17g s", flag, state->t);
  }
  const double *x = N_VGetArrayPointer(run->x), *xd = N_VGetArrayPointer(run->xd);
  double       *a = yoke_integrator_a(integrator, state);
  yoke_implicit_unpack(run->implicit, x, yoke_integrator_q(integrator, state), yoke_integrator_v(integrator, state), a,
                       yoke_integrator_lambda(integrator, state));
  if (run->implicit->dae->i_a < 0) memcpy(a, xd + run->implicit->dae->i_v, (size_t)run->implicit->nv * sizeof *a);
  state->t_prev = state->t;
  state->t      = flag == IDA_TSTOP_RETURN ? t_limit : t;
  ++state->counters.steps;
  return YOKE_OK;
}

static void ida_interpolate(const yoke_integrator *integrator, const yoke_integrator_state *state, double t, double *q,
                            double *v) {
  (void)integrator;
  const ida_run *run = state->foreign;
  const double  *x   = N_VGetArrayPointer(run->x);
  if (t < state->t && IDAGetDky(run->memory, t, 0, run->dense) == IDA_SUCCESS) x = N_VGetArrayPointer(run->dense);
  yoke_implicit_unpack(run->implicit, x, q, v, NULL, NULL);
}

const yoke_integrator_ops ida_ops = {
    .name        = "ida",
    .summary     = "SUNDIALS IDA with KLU: independent oracle for tests and benchmarks",
    .reads       = "rtol atol max_step max_order linear constraints alpha beta",
    .create      = ida_create,
    .destroy     = ida_destroy,
    .start       = ida_start,
    .step        = ida_step,
    .interpolate = ida_interpolate,
    .disturb     = ida_disturb,
    .no_copy     = true,
};
