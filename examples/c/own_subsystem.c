/* A subsystem of one's own: the slide of a machine, written in C, on which a table of the model is mounted by a rigid joint. The slide is driven
 * by a motor that reads where a load is which swings behind the table on a spring: a signal. It shows the force of its motor, and the model reads
 * this number too, as a brake on the load: another signal. At the end all is compared with a model that has the slide as a body of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke/yoke.h>

/* ---- the slide ---- */

typedef struct slide {
  double mass, gain, damping; /* [kg], [N/m], [N s/m] */
} slide;

typedef struct slide_state {
  double x, v; /* [m], [m/s] */
} slide_state;

enum { SLIDE_MOUNT, SLIDE_LOAD, SLIDE_N_INPUTS }; /* force on the port, position of the load */

static double motor(const slide *s, const slide_state *at, double load) {
  return s->gain * (0.1 - load) - s->damping * at->v;
}

static double acceleration(const slide *s, const slide_state *at, const double *u) {
  return (motor(s, at, u[SLIDE_LOAD]) + u[SLIDE_MOUNT]) / s->mass;
}

static yoke_status slide_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                                const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_port   ports[]   = {{"mount", "line"}};
  static const yoke_user_signal inputs[]  = {{"load", "m"}};
  static const yoke_user_signal outputs[] = {{"force", "N"}};
  slide                        *s         = (slide *)calloc(1, sizeof *s);
  (void)user;
  if (s == NULL) return YOKE_E_MEMORY;
  for (int i = 0; i < n_arguments; ++i) {
    if (strcmp(arguments[i].name, "mass") == 0) s->mass = arguments[i].value;
    if (strcmp(arguments[i].name, "gain") == 0) s->gain = arguments[i].value;
    if (strcmp(arguments[i].name, "damping") == 0) s->damping = arguments[i].value;
  }
  if (!(s->mass > 0.0)) {
    const double mass = s->mass;
    free(s);
    return yoke_fail(ctx, YOKE_E_MODEL, "slide '%s': mass is %g kg, expected > 0", name, mass);
  }
  out->self       = s;
  out->n_ports    = 1;
  out->ports      = ports;
  out->n_inputs   = 1;
  out->inputs     = inputs;
  out->n_outputs  = 1;
  out->outputs    = outputs;
  out->state_size = sizeof(slide_state);
  return YOKE_OK;
}

static yoke_status slide_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  slide_state *at = (slide_state *)state;
  (void)self, (void)t, (void)u, (void)ctx;
  at->x = at->v = 0.0;
  return YOKE_OK;
}

/* Steps of the classical Runge-Kutta method, at most 0.1 ms each. */
static yoke_status slide_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step, yoke_context *ctx) {
  const slide *s  = (const slide *)self;
  slide_state *at = (slide_state *)state;
  const double H  = step->t_end - step->t;
  const int    n  = (int)ceil(H / 1e-4);
  (void)ctx;
  for (int i = 0; i < n; ++i) {
    static const double c[] = {0.0, 0.5, 0.5, 1.0}, b[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    const double        h = H / n, t = step->t + i * h;
    double              x = at->x, v = at->v, kx = 0.0, kv = 0.0;
    for (int k = 0; k < 4; ++k) {
      const slide_state stage = {at->x + c[k] * h * kx, at->v + c[k] * h * kv};
      double            now[SLIDE_N_INPUTS];
      yoke_signal_value(u, t + c[k] * h, YOKE_SIDE_LEFT, 0, now);
      kx = stage.v;
      kv = acceleration(s, &stage, now);
      x += b[k] * h * kx;
      v += b[k] * h * kv;
    }
    at->x = x;
    at->v = v;
  }
  return YOKE_OK;
}

/* Position, velocity and acceleration of the port, then the signal. */
static yoke_status slide_output(void *self, const void *state, double t, const double *u, double *y) {
  const slide       *s  = (const slide *)self;
  const slide_state *at = (const slide_state *)state;
  (void)t;
  y[0] = at->x;
  y[1] = at->v;
  y[2] = acceleration(s, at, u);
  y[3] = motor(s, at, u[SLIDE_LOAD]);
  return YOKE_OK;
}

/* ---- the models ---- */

#define REST                                                                                                           \
  "connections:\n"                                                                                                     \
  "  mount: {kind: fixed, between: [%s, table]}\n"                                                                     \
  "  spring: {kind: spring-damper, between: [table, load], stiffness: 400, damping: 2, free_length: 0}\n"              \
  "loads: {brake: {kind: expression, on: load, force: -0.05*(%s)}%s}\n"                                                \
  "cosimulation: {scheme: implicit, step: {rtol: 1e-6}}\n"                                                             \
  "solvers: {default: {rtol: 1e-9}}\n"

static const char head[] = "yoke: 1\n"
                           "name: slide and table\n"
                           "t_end: 1\n"
                           "bodies: {table: {kind: mass1d, mass: 2}, load: {kind: mass1d, mass: 1}";

static const char with_slide[] = "}\n"
                                 "subsystems:\n"
                                 "  slide:\n"
                                 "    kind: user\n"
                                 "    type: slide\n"
                                 "    parameters: {mass: 3, gain: 300, damping: 40}\n"
                                 "    ports: {mount: line}\n"
                                 "    inputs: {load: load.x}\n"
                                 "    outputs: {force: N}\n";

static const char motor_as_expression[] = "300*(0.1 - load.x) - 40*slide.v";

/* Runs a model to its end: positions of table and load there. */
static yoke_status simulate(yoke_context *ctx, const char *text, double values[2]) {
  static const char *const names[] = {"table.x", "load.x"};
  yoke_model              *model   = NULL;
  yoke_simulation         *s       = NULL;
  int                      handles[2];
  yoke_status              status = yoke_model_load_text(ctx, "slide", text, strlen(text), NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, NULL, &s);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, s, yoke_simulation_t_end(s));
  if (status == YOKE_OK) status = yoke_simulation_find(ctx, s, 2, names, handles);
  if (status == YOKE_OK) status = yoke_simulation_get(ctx, s, 2, handles, values);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
  return status;
}

int main(void) {
  static const yoke_user_repeat repeat = {sizeof repeat, 0, NULL}; /* states are plain bytes */
  yoke_user_type                type;
  yoke_context                 *ctx = NULL;
  char                          whole[2000], split[2000], motor_load[200];
  double                        at[2][2] = {{0.0}};
  memset(&type, 0, sizeof type);
  type.size    = sizeof type;
  type.abi     = YOKE_SUBSYSTEM_ABI;
  type.name    = "slide";
  type.create  = slide_create;
  type.destroy = free;
  type.start   = slide_start;
  type.step    = slide_step;
  type.output  = slide_output;
  type.repeat  = &repeat;

  snprintf(split, sizeof split, "%s%s" REST, head, with_slide, "slide.mount", "slide.force", "");
  snprintf(motor_load, sizeof motor_load, ", motor: {kind: expression, on: slide, force: %s}", motor_as_expression);
  snprintf(whole, sizeof whole, "%s, slide: {kind: mass1d, mass: 3}}\n" REST, head, "slide", motor_as_expression,
           motor_load);

  yoke_status status = yoke_context_create(&ctx);
  if (status == YOKE_OK) status = yoke_context_add_type(ctx, &type);
  if (status == YOKE_OK) status = simulate(ctx, split, at[0]);
  if (status == YOKE_OK) status = simulate(ctx, whole, at[1]);
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) fprintf(stderr, "%s\n", yoke_context_message(ctx, i));
  if (status == YOKE_OK) {
    printf("          own subsystem   body of the model   difference\n");
    printf("table.x   %13.9f   %17.9f   %10.1e\n", at[0][0], at[1][0], at[0][0] - at[1][0]);
    printf("load.x    %13.9f   %17.9f   %10.1e\n", at[0][1], at[1][1], at[0][1] - at[1][1]);
  }
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}
