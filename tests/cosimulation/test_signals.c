/* Signals between subsystems of plain numbers, in every scheme: orders against the exact solution of the closed loop, loops of direct
 * feed-through, step control, inputs from outside. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../subsystem/block.h"
#include "control/controller.h"
#include "rig.h"

enum { MAX_BLOCKS = 3, MAX_WIRES = 4 };

/* Output `output` of block `from` enters input `input` of block `to`: u = factor f + offset. */
typedef struct link_def {
  int         from, output, to, input;
  double      factor, offset;
  const char *formula; /* of t and y, all outputs of the block are y1, y2, y3; NULL: the output itself */
} link_def;

typedef struct loop_def {
  int       n_blocks, n_links;
  block_def blocks[MAX_BLOCKS];
  link_def  links[MAX_WIRES];
} loop_def;

/* ---- models ---- */

#define H_MICRO 2e-4

/* x'' = (u - 40 x - 0.8 x')/m; shows x, x' and x''. */
#define MASS(m, x0)                                                                                                    \
  {                                                                                                                    \
    .name = "mass", .n_x = 2, .n_u = 1, .n_y = 3, .A = {{0.0, 1.0}, {-40.0 / (m), -0.8 / (m)}},                        \
    .B = {{0.0}, {1.0 / (m)}}, .C = {{1.0, 0.0}, {0.0, 1.0}, {-40.0 / (m), -0.8 / (m)}},                               \
    .D = {{0.0}, {0.0}, {1.0 / (m)}}, .x = {(x0), 0.0}, .h = H_MICRO, .can = BLOCK_ALL                                 \
  }
/* z' = 6 (u - z), y = 8 z: a force that follows its command late. */
#define LAG                                                                                                            \
  {                                                                                                                    \
    .name = "lag", .n_x = 1, .n_u = 1, .n_y = 1, .A = {{-6.0}}, .B = {{6.0}}, .C = {{8.0}}, .x = {0.3}, .h = H_MICRO,  \
    .can = BLOCK_ALL                                                                                                   \
  }
#define GAIN(k)                                                                                                        \
  { .name = "gain", .n_u = 1, .n_y = 1, .D = {{k}}, .h = 1.0, .can = BLOCK_ALL }

/* The force follows position and velocity. */
static const loop_def servo = {.n_blocks = 2,
                               .n_links  = 2,
                               .blocks   = {MASS(2.0, 0.5), LAG},
                               .links    = {{0, 0, 1, 0, -1.5, 0.25, "y1 + 0.1*y2"}, {1, 0, 0, 0, 1.0, 0.0, NULL}}};

/* The force is 1.2 times the acceleration, as if the mass were lighter. */
static const loop_def lighter = {.n_blocks = 2,
                                 .n_links  = 2,
                                 .blocks   = {MASS(2.0, 0.5), GAIN(1.2)},
                                 .links    = {{0, 2, 1, 0, 1.0, 0.0, NULL}, {1, 0, 0, 0, 1.0, 0.0, NULL}}};

/* ---- the closed loop, exact ---- */

static int look_up_y(const char *name) {
  return name[0] == 'y' && name[1] >= '1' && name[1] <= '3' && name[2] == '\0' ? name[1] - '0' : -1;
}

static yoke_symbol_kind look_up(void *user, const char *name, double *value, int *variable) {
  (void)user, (void)value;
  *variable = strcmp(name, "t") == 0 ? 0 : look_up_y(name);
  return *variable >= 0 ? YOKE_SYMBOL_VARIABLE : YOKE_SYMBOL_UNKNOWN;
}

static yoke_expression *compile(const char *formula) {
  const yoke_symbols symbols = {.lookup = look_up};
  yoke_expression   *out     = NULL;
  char               message[200];
  if (formula != NULL)
    assert_int_equal(yoke_expression_compile(formula, &symbols, message, sizeof message, &out), YOKE_OK);
  return out;
}

enum { N_ALL = MAX_BLOCKS * BLOCK_MAX };

/* Of block b from b BLOCK_MAX on. */
typedef struct loop_exact {
  const loop_def  *def;
  yoke_expression *formula[MAX_WIRES];
  double           x[N_ALL], u[N_ALL], y[N_ALL];
} loop_exact;

static double exact_signal(const loop_exact *e, int link, double t) {
  const link_def *l                        = &e->def->links[link];
  const double   *y                        = e->y + l->from * BLOCK_MAX;
  double          variables[1 + BLOCK_MAX] = {t};
  memcpy(variables + 1, y, BLOCK_MAX * sizeof *y);
  const double f =
      e->formula[link] != NULL ? yoke_expression_evaluate(e->formula[link], variables, NULL) : y[l->output];
  return l->factor * f + l->offset;
}

/* Inputs phi that the links make of the outputs under inputs u. */
static void exact_phi(loop_exact *e, const double *u, double t, double *phi) {
  memset(phi, 0, N_ALL * sizeof *phi);
  for (int b = 0; b < e->def->n_blocks; ++b)
    block_outputs(&e->def->blocks[b], e->x + b * BLOCK_MAX, u + b * BLOCK_MAX, e->y + b * BLOCK_MAX);
  for (int l = 0; l < e->def->n_links; ++l)
    phi[e->def->links[l].to * BLOCK_MAX + e->def->links[l].input] += exact_signal(e, l, t);
}

/* u = phi(u), affine: from its values at 0 and at unit vectors, by Gauss. */
static void exact_inputs(loop_exact *e, double t) {
  double unit[N_ALL] = {0}, at0[N_ALL], at1[N_ALL], A[N_ALL][N_ALL + 1];
  exact_phi(e, unit, t, at0);
  for (int c = 0; c < N_ALL; ++c) {
    unit[c] = 1.0;
    exact_phi(e, unit, t, at1);
    unit[c] = 0.0;
    for (int r = 0; r < N_ALL; ++r) A[r][c] = (r == c ? 1.0 : 0.0) - (at1[r] - at0[r]);
  }
  for (int r = 0; r < N_ALL; ++r) A[r][N_ALL] = at0[r];
  for (int c = 0; c < N_ALL; ++c) {
    for (int r = 0; r < N_ALL; ++r) {
      const double factor = r == c ? 0.0 : A[r][c] / A[c][c];
      for (int k = c; k <= N_ALL; ++k) A[r][k] -= factor * A[c][k];
    }
  }
  for (int c = 0; c < N_ALL; ++c) e->u[c] = A[c][N_ALL] / A[c][c];
  exact_phi(e, e->u, t, at0);
}

static loop_exact exact_open(const loop_def *def) {
  loop_exact e = {.def = def};
  for (int b = 0; b < def->n_blocks; ++b) memcpy(e.x + b * BLOCK_MAX, def->blocks[b].x, sizeof def->blocks[b].x);
  for (int l = 0; l < def->n_links; ++l) e.formula[l] = compile(def->links[l].formula);
  exact_inputs(&e, 0.0);
  return e;
}

static void exact_close(loop_exact *e) {
  for (int l = 0; l < MAX_WIRES; ++l) yoke_expression_destroy(&e->formula[l]);
}

/* From t over h, also backwards, by steps of the classical method whose error is far below what the tests see. */
static void exact_advance(loop_exact *e, double t, double h) {
  static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  const int           n = (int)ceil(fabs(h) / 1e-3);
  for (int k = 0; k < n; ++k) {
    const double d = h / n, now       = t + k * d;
    double       x[N_ALL], sum[N_ALL] = {0}, rate[N_ALL] = {0};
    memcpy(x, e->x, sizeof x);
    for (int stage = 0; stage < 4; ++stage) {
      for (int i = 0; i < N_ALL; ++i) e->x[i] = x[i] + part[stage] * d * rate[i];
      exact_inputs(e, now + part[stage] * d);
      for (int b = 0; b < e->def->n_blocks; ++b)
        block_rates(&e->def->blocks[b], e->x + b * BLOCK_MAX, e->u + b * BLOCK_MAX, rate + b * BLOCK_MAX);
      for (int i = 0; i < N_ALL; ++i) sum[i] += weight[stage] * rate[i];
    }
    for (int i = 0; i < N_ALL; ++i) e->x[i] = x[i] + d * sum[i];
  }
  exact_inputs(e, t + h);
}

/* ---- a graph of blocks ---- */

typedef struct loop {
  const loop_def  *def;
  yoke_context    *ctx;
  yoke_exec       *exec;
  yoke_subsystem  *subsystems[MAX_BLOCKS];
  yoke_expression *formula[MAX_WIRES];
  yoke_signal_law  law[MAX_WIRES];
  void            *self[MAX_WIRES];
  yoke_wire        wires[MAX_WIRES];
  yoke_graph      *graph;
} loop;

static yoke_scheme_settings settings_of(const char *scheme, int order) {
  yoke_scheme_settings s;
  memset(&s, 0, sizeof s);
  yoke_setting_start(&yoke_scheme_rows, &s);
  yoke_setting_start(&yoke_corrector_rows, &s);
  snprintf(s.scheme, sizeof s.scheme, "%s", scheme);
  yoke_scheme_settings_complete(&s, order, 0.0);
  s.order = order;
  return s;
}

static void make_wire(loop *x, int l) {
  static const char *const    names[MAX_WIRES] = {"link 1", "link 2", "link 3", "link 4"};
  const link_def             *link             = &x->def->links[l];
  const block_def            *from             = &x->def->blocks[link->from];
  const yoke_formulation_ops *ops              = yoke_formulation_find("signal");
  const bool                  all              = link->formula != NULL;
  x->formula[l]                                = compile(link->formula);
  x->law[l]                                    = (yoke_signal_law){
                                         .n = all ? from->n_y : 1, .expression = x->formula[l], .factor = link->factor, .offset = link->offset};
  const yoke_coupling_def def = {
      .name = names[l], .formulation = ops, .signal = &x->law[l], .shape = {&yoke_shape_signal, &yoke_shape_signal}};
  assert_int_equal(ops->create(x->ctx, &def, &x->self[l]), YOKE_OK);
  x->wires[l] = (yoke_wire){.name        = names[l],
                            .formulation = ops,
                            .self        = x->self[l],
                            .subsystem   = {link->from, link->to},
                            .port        = {from->n_u + (all ? from->n_y : link->output), link->input},
                            .shape       = {&yoke_shape_signal, &yoke_shape_signal},
                            .n_y         = {x->law[l].n, 0}};
}

/* Up to the graph; it is not started. */
static yoke_status loop_build(loop *x, const loop_def *def, const yoke_scheme_settings *settings) {
  *x = (loop){.def = def};
  assert_int_equal(yoke_context_create(&x->ctx), YOKE_OK);
  assert_int_equal(yoke_exec_create(x->ctx, "serial", 1, &x->exec), YOKE_OK);
  for (int b = 0; b < def->n_blocks; ++b)
    assert_int_equal(block_make(x->ctx, &def->blocks[b], &x->subsystems[b]), YOKE_OK);
  for (int l = 0; l < def->n_links; ++l) make_wire(x, l);
  return yoke_graph_create(x->ctx, def->n_blocks, x->subsystems, def->n_links, x->wires, settings, x->exec, &x->graph);
}

static void say(const loop *x) {
  for (size_t i = 0; i < yoke_context_n_messages(x->ctx); ++i) print_message("%s\n", yoke_context_message(x->ctx, i));
}

static void expect_ok(const loop *x, yoke_status status) {
  if (status != YOKE_OK) say(x);
  assert_int_equal(status, YOKE_OK);
}

static loop loop_open(const loop_def *def, const yoke_scheme_settings *settings) {
  loop x;
  expect_ok(&x, loop_build(&x, def, settings));
  expect_ok(&x, yoke_graph_start(x.graph, 0.0, x.ctx));
  return x;
}

static void loop_close(loop *x) {
  yoke_graph_destroy(&x->graph);
  for (int b = 0; b < MAX_BLOCKS; ++b) yoke_subsystem_destroy(&x->subsystems[b]);
  for (int l = 0; l < MAX_WIRES; ++l) {
    if (x->self[l] != NULL) x->wires[l].formulation->destroy(x->self[l]);
    yoke_expression_destroy(&x->formula[l]);
  }
  yoke_exec_destroy(&x->exec);
  yoke_context_destroy(&x->ctx);
}

/* The exact past at -H, -2 H, ... */
static void give_past(loop *x, double H) {
  const double *const none[MAX_WIRES] = {0};
  loop_exact          e               = exact_open(x->def);
  for (int k = 1; k < yoke_graph_depth(x->graph); ++k) {
    double y[MAX_WIRES * BLOCK_MAX], *at = y;
    exact_advance(&e, -(k - 1) * H, -H);
    for (int l = 0; l < x->def->n_links; ++l) {
      const double *shown = e.y + x->def->links[l].from * BLOCK_MAX;
      memcpy(at, x->formula[l] != NULL ? shown : shown + x->def->links[l].output, (size_t)x->law[l].n * sizeof *at);
      at += x->law[l].n;
    }
    yoke_graph_add_past(x->graph, -k * H, y, none);
  }
  exact_close(&e);
}

static void loop_steps(loop *x, int n, double H) {
  const double t = yoke_graph_t(x->graph);
  for (int k = 1; k <= n; ++k) {
    yoke_step_statistics statistics;
    expect_ok(x, yoke_graph_try(x->graph, t + k * H, &statistics, x->ctx));
    expect_ok(x, yoke_graph_accept(x->graph, x->ctx));
  }
}

/* States of all blocks against the exact ones. */
static double state_error(const loop *x, const loop_exact *e) {
  double worst = 0.0;
  for (int b = 0; b < x->def->n_blocks; ++b) {
    const block_state *state = yoke_graph_state(x->graph, b);
    for (int i = 0; i < x->def->blocks[b].n_x; ++i) worst = fmax(worst, fabs(state->x[i] - e->x[b * BLOCK_MAX + i]));
  }
  return worst;
}

/* At t = 0.4 after n steps with an exact past. */
static double error_after(const loop_def *def, const yoke_scheme_settings *settings, int n) {
  const double t_end = 0.4, H = t_end / n;
  loop         x = loop_open(def, settings);
  loop_exact   e = exact_open(def);
  give_past(&x, H);
  loop_steps(&x, n, H);
  exact_advance(&e, 0.0, t_end);
  const double error = state_error(&x, &e);
  exact_close(&e);
  loop_close(&x);
  return error;
}

static void expect_order(const loop_def *def, const yoke_scheme_settings *settings, int n, double order, double slack) {
  const double error[2] = {error_after(def, settings, n), error_after(def, settings, 2 * n)};
  const double observed = log2(error[0] / error[1]);
  if (!(fabs(observed - order) <= slack))
    fail_msg("%s, order %d: errors %.3g and %.3g, order %.2f, expected %g", settings->scheme, settings->order, error[0],
             error[1], observed, order);
}

static void expect_orders(const loop_def *def, const char *scheme, bool gauss_seidel) {
  for (int k = 0; k <= 3; ++k) {
    yoke_scheme_settings s = settings_of(scheme, k);
    s.gauss_seidel         = gauss_seidel;
    expect_order(def, &s, k < 2 ? 80 : 40, k + 1.0, 0.3);
  }
}

/* ---- schemes ---- */

static void explicit_is_of_order_k_plus_1(void **state) {
  (void)state;
  expect_orders(&servo, "explicit", false);
}

static void explicit_one_after_another_is_of_order_k_plus_1(void **state) {
  (void)state;
  expect_orders(&servo, "explicit", true);
}

static void semi_implicit_is_of_order_k_plus_1(void **state) {
  (void)state;
  expect_orders(&servo, "semi-implicit", false);
}

static void implicit_is_of_order_k_plus_1(void **state) {
  (void)state;
  expect_orders(&servo, "implicit", false);
}

static void waveform_settles_where_implicit_does(void **state) {
  (void)state;
  for (int sequence = 0; sequence < 2; ++sequence) {
    yoke_scheme_settings s[2] = {settings_of("implicit", 2), settings_of("waveform", 2)};
    loop                 x[2];
    s[1].gauss_seidel = sequence == 1;
    for (int k = 0; k < 2; ++k) {
      x[k] = loop_open(&servo, &s[k]);
      loop_steps(&x[k], 20, 0.01);
    }
    for (int b = 0; b < 2; ++b) {
      const block_state *a = yoke_graph_state(x[0].graph, b), *c = yoke_graph_state(x[1].graph, b);
      for (int i = 0; i < servo.blocks[b].n_x; ++i) CHECK_NEAR(c->x[i], a->x[i], 1e-9);
    }
    for (int k = 0; k < 2; ++k) loop_close(&x[k]);
  }
}

/* Tangents of the blocks do not exist; every other source of the matrix. */
static void implicit_steps_have_one_solution_whatever_makes_the_matrix(void **state) {
  static const yoke_jacobian jacobians[] = {YOKE_JACOBIAN_FINITE_DIFFERENCE, YOKE_JACOBIAN_ANALYTIC,
                                            YOKE_JACOBIAN_BROYDEN};
  double                     x1[3];
  (void)state;
  for (int k = 0; k < 3; ++k) {
    yoke_scheme_settings s = settings_of("implicit", 1);
    s.jacobian             = jacobians[k];
    loop x                 = loop_open(&lighter, &s);
    loop_steps(&x, 20, 0.01);
    x1[k] = ((const block_state *)yoke_graph_state(x.graph, 0))->x[0];
    loop_close(&x);
  }
  CHECK_NEAR(x1[1], x1[0], 1e-9);
  CHECK_NEAR(x1[2], x1[0], 1e-9);
}

/* In other units they are settled as well: u = unit cos(u/unit + 3 t). */
static void signals_are_settled_to_their_own_size(void **state) {
  double u[2];
  (void)state;
  for (int k = 0; k < 2; ++k) {
    const double   unit = k == 0 ? 1.0 : 1e-3;
    const loop_def def  = {
         .n_blocks = 1, .n_links = 1, .blocks = {GAIN(1.0 / unit)}, .links = {{0, 0, 0, 0, unit, 0.0, "cos(y1 + 3*t)"}}};
    yoke_scheme_settings s = settings_of("implicit", 1);
    s.atol                 = 1e-5;
    loop one               = loop_open(&def, &s);
    loop_steps(&one, 3, 0.2);
    u[k] = yoke_graph_channel(one.graph, 0, 0) / unit;
    loop_close(&one);
  }
  CHECK_NEAR(u[1], u[0], 1e-9);
}

/* One correction with responses that are told: a port that two signals read responds once. */
static void two_signals_may_read_one_port(void **state) {
  double x[2];
  (void)state;
  for (int k = 0; k < 2; ++k) {
    loop_def             def = lighter;
    yoke_scheme_settings s   = settings_of("semi-implicit", 1);
    s.jacobian               = YOKE_JACOBIAN_ANALYTIC;
    s.corrections            = 1;
    if (k == 1) {
      def.n_links         = 3;
      def.links[2]        = def.links[1];
      def.links[1].factor = def.links[2].factor = 0.5;
    }
    loop one = loop_open(&def, &s);
    loop_steps(&one, 10, 0.02);
    x[k] = ((const block_state *)yoke_graph_state(one.graph, 0))->x[0];
    loop_close(&one);
  }
  CHECK_NEAR(x[1], x[0], 1e-12);
}

static void predictors_by_accelerations_extrapolate_signals(void **state) {
  static const yoke_predictor predictors[] = {YOKE_PREDICTOR_ACCELERATION, YOKE_PREDICTOR_ACCELERATION_RELAXED};
  (void)state;
  yoke_scheme_settings s     = settings_of("explicit", 2);
  const double         usual = error_after(&servo, &s, 40);
  for (int k = 0; k < 2; ++k) {
    s.predictor = predictors[k];
    s.update    = false;
    CHECK_NEAR(error_after(&servo, &s, 40), usual, 1e-12);
  }
}

/* ---- sequence ---- */

static void who_shows_a_signal_is_stepped_before_who_reads_it(void **state) {
  (void)state;
  int      clock = 0, at[3];
  loop_def chain = {.n_blocks = 3,
                    .n_links  = 2,
                    .blocks   = {MASS(1.0, 0.1), LAG, LAG},
                    .links    = {{1, 0, 0, 0, 1.0, 0.0, NULL}, {2, 0, 1, 0, 1.0, 0.0, NULL}}};
  for (int b = 0; b < 3; ++b) {
    chain.blocks[b].clock      = &clock;
    chain.blocks[b].stepped_at = &at[b];
  }
  yoke_scheme_settings s = settings_of("explicit", 1);
  s.gauss_seidel         = true;
  loop x                 = loop_open(&chain, &s);
  loop_steps(&x, 1, 0.01);
  assert_true(at[2] < at[1] && at[1] < at[0]);
  loop_close(&x);
}

/* ---- direct feed-through ---- */

static void a_loop_of_feed_through_is_solved_at_the_start(void **state) {
  (void)state;
  for (unsigned can = 0; can < 2; ++can) { /* responses that are told, and differences */
    loop_def def = lighter;
    for (int b = 0; b < 2; ++b) def.blocks[b].can = can == 0 ? BLOCK_ALL : BLOCK_REPEAT;
    const yoke_scheme_settings s = settings_of("explicit", 1);
    loop                       x = loop_open(&def, &s);
    const double               a = -40.0 * 0.5 / (2.0 - 1.2);
    CHECK_NEAR(yoke_graph_channel(x.graph, 0, 0), a, 1e-9);
    CHECK_NEAR(yoke_graph_channel(x.graph, 1, 0), 1.2 * a, 1e-9);
    CHECK_NEAR(yoke_graph_y(x.graph, 0)[2], a, 1e-9);
    loop_close(&x);
  }
}

/* Gain 3: no fixed point of u := phi(y(u)) is ever reached. */
static void a_loop_that_no_iteration_settles_is_solved_too(void **state) {
  (void)state;
  loop_def def                 = lighter;
  def.blocks[1].D[0][0]        = -6.0;
  const yoke_scheme_settings s = settings_of("implicit", 1);
  loop                       x = loop_open(&def, &s);
  CHECK_NEAR(yoke_graph_channel(x.graph, 0, 0), -40.0 * 0.5 / 8.0, 1e-9);
  loop_steps(&x, 3, 0.01);
  loop_close(&x);
  expect_order(&def, &s, 40, 2.0, 0.3);
}

static void feed_through_keeps_the_order_of_corrected_schemes(void **state) {
  (void)state;
  expect_orders(&lighter, "implicit", false);
  expect_orders(&lighter, "semi-implicit", false);
}

/* It goes round once per step, each signal extrapolated: order k + 1 while the loop contracts, for k = 2 below a gain of 1/49. */
static void feed_through_keeps_the_order_of_explicit_where_the_loop_contracts(void **state) {
  (void)state;
  loop_def def          = lighter;
  def.blocks[1].D[0][0] = 0.02;
  for (int k = 0; k <= 2; ++k) {
    const yoke_scheme_settings s = settings_of("explicit", k);
    expect_order(&def, &s, 160, k + 1.0, 0.4);
  }
}

static void a_loop_of_gain_one_is_named(void **state) {
  (void)state;
  for (unsigned can = 0; can < 2; ++can) {
    loop_def def          = lighter;
    def.n_blocks          = 3;
    def.n_links           = 3;
    def.blocks[2]         = (block_def)LAG; /* reads the loop, is no part of it */
    def.links[2]          = (link_def){0, 2, 2, 0, 1.0, 0.0, NULL};
    def.blocks[1].D[0][0] = 2e6; /* in some unit of its own */
    def.links[1].factor   = 1e-6;
    for (int b = 0; b < 3; ++b) def.blocks[b].can = can == 0 ? BLOCK_ALL : BLOCK_REPEAT;
    const yoke_scheme_settings s = settings_of("implicit", 1);
    loop                       x;
    expect_ok(&x, loop_build(&x, &def, &s));
    assert_int_equal(yoke_graph_start(x.graph, 0.0, x.ctx), YOKE_E_MODEL);
    assert_non_null(strstr(yoke_context_message(x.ctx, 0), "loop of gain 1"));
    assert_non_null(strstr(yoke_context_message(x.ctx, 0), "couplings 'link 1', 'link 2', subsystems 'mass', 'gain';"));
    loop_close(&x);
  }
}

static void a_nonlinear_loop_is_solved_at_the_start(void **state) {
  (void)state;
  const loop_def def = {
      .n_blocks = 1, .n_links = 1, .blocks = {GAIN(1.0)}, .links = {{0, 0, 0, 0, 1.0, 0.0, "cos(y1)"}}};
  const yoke_scheme_settings s = settings_of("implicit", 1);
  loop                       x = loop_open(&def, &s);
  CHECK_NEAR(yoke_graph_channel(x.graph, 0, 0), 0.73908513321516064, 1e-13);
  loop_close(&x);
}

static void a_loop_without_a_solution_is_told(void **state) {
  (void)state;
  const loop_def def = {
      .n_blocks = 1, .n_links = 1, .blocks = {GAIN(1.0)}, .links = {{0, 0, 0, 0, 1.0, 0.0, "y1^2 + 1"}}};
  const yoke_scheme_settings s = settings_of("implicit", 1);
  loop                       x;
  expect_ok(&x, loop_build(&x, &def, &s));
  assert_int_equal(yoke_graph_start(x.graph, 0.0, x.ctx), YOKE_E_NOT_CONVERGED);
  assert_non_null(strstr(yoke_context_message(x.ctx, 0), "coupling 'link 1'"));
  loop_close(&x);
}

static void a_restart_finds_the_same_values_again(void **state) {
  (void)state;
  const yoke_scheme_settings s = settings_of("implicit", 2);
  loop                       x = loop_open(&lighter, &s);
  loop_steps(&x, 10, 0.01);
  const double u[2] = {yoke_graph_channel(x.graph, 0, 0), yoke_graph_channel(x.graph, 1, 0)};
  assert_int_equal(yoke_graph_restart(x.graph, x.ctx), YOKE_OK);
  for (int w = 0; w < 2; ++w) CHECK_NEAR(yoke_graph_channel(x.graph, w, 0), u[w], 1e-8 * fabs(u[w]));
  loop_close(&x);
}

/* ---- beside mechanics ---- */

/* The two masses of an example, controlled, and beside them blocks 2, 3, ... with wires behind the first. */
typedef struct mixed {
  rig              r;
  loop             x;
  yoke_graph      *graph;
  yoke_controller *controller;
} mixed;

static void open_mixed(mixed *m, const char *model, const char *sets, const loop_def *def, const char *scheme,
                       yoke_estimator_kind estimator, double rtol, double max) {
  yoke_control_settings control = yoke_control_settings_default();
  yoke_scheme_settings  s       = settings_of(scheme, 3);
  yoke_subsystem       *all[2 + MAX_BLOCKS];
  yoke_wire             wires[1 + MAX_WIRES];
  control.estimator       = estimator;
  control.tolerances.rtol = rtol;
  control.initial         = fmin(1e-5, max);
  control.max             = max;
  control.order_max       = 1;
  s.length                = 1.0;
  assert_int_equal(rig_open(&m->r, model, sets, "serial", 1, NULL), YOKE_OK);
  expect_ok(&m->x, loop_build(&m->x, def, &s));
  memcpy(all, m->r.subsystems, 2 * sizeof *all);
  memcpy(all + 2, m->x.subsystems, (size_t)def->n_blocks * sizeof *all);
  wires[0] = m->r.plan->wires[0];
  for (int l = 0; l < def->n_links; ++l) {
    wires[1 + l] = m->x.wires[l];
    for (int side = 0; side < 2; ++side) wires[1 + l].subsystem[side] += 2;
  }
  expect_ok(&m->x,
            yoke_graph_create(m->x.ctx, 2 + def->n_blocks, all, 1 + def->n_links, wires, &s, m->x.exec, &m->graph));
  expect_ok(&m->x, yoke_controller_create(m->x.ctx, m->graph, &control, &m->controller));
  expect_ok(&m->x, yoke_graph_start(m->graph, 0.0, m->x.ctx));
}

static void step_mixed(mixed *m, double t_stop) {
  yoke_step_statistics statistics;
  expect_ok(&m->x, yoke_controller_step(m->controller, t_stop, &statistics, m->x.ctx));
}

static void close_mixed(mixed *m) {
  yoke_controller_destroy(&m->controller);
  yoke_graph_destroy(&m->graph);
  loop_close(&m->x);
  rig_close(&m->r);
}

/* Step control lets multipliers that lost their way begin anew; signals beside them, in a loop that no iteration settles, fit the outputs. */
static void signals_fit_where_multipliers_begin_anew(void **state) {
  loop_def def = lighter;
  mixed    m;
  (void)state;
  def.blocks[1].D[0][0] = -6.0;
  open_mixed(&m, "examples/two-mass-rigid.yaml", NULL, &def, "semi-implicit", YOKE_ESTIMATOR_MD, 1e-3, 1e-3);
  for (int k = 0; k < 5; ++k) step_mixed(&m, 1.0);
  block_state *mass = yoke_graph_state_edit(m.graph, 2);
  mass->x[0] += 0.1;
  expect_ok(&m.x, yoke_graph_restart_consistent(m.graph, m.x.ctx));
  const double a = (-40.0 * mass->x[0] - 0.8 * mass->x[1]) / (2.0 + 6.0);
  CHECK_NEAR(yoke_graph_channel(m.graph, 1, 0), a, 1e-9);
  CHECK_NEAR(yoke_graph_channel(m.graph, 2, 0), -6.0 * a, 1e-9);
  step_mixed(&m, 1.0);
  close_mixed(&m);
}

/* ---- what enters ---- */

static void signals_into_one_input_add_up(void **state) {
  (void)state;
  loop_def one = servo, two = servo;
  two.n_links            = 3;
  two.links[1].factor    = 0.25;
  two.links[2]           = two.links[1];
  two.links[2].factor    = 0.75;
  yoke_scheme_settings s = settings_of("implicit", 1);
  loop                 x = loop_open(&one, &s), z = loop_open(&two, &s);
  loop_steps(&x, 10, 0.01);
  loop_steps(&z, 10, 0.01);
  for (int b = 0; b < 2; ++b) {
    const block_state *p = yoke_graph_state(x.graph, b), *q = yoke_graph_state(z.graph, b);
    for (int i = 0; i < servo.blocks[b].n_x; ++i) CHECK_NEAR(q->x[i], p->x[i], 1e-10);
  }
  loop_close(&x);
  loop_close(&z);
}

/* As native subsystems have them. */
static void an_input_that_was_made_for_a_signal_needs_no_port(void **state) {
  (void)state;
  const yoke_scheme_settings s         = settings_of("implicit", 1);
  static int                 inputs[2] = {0, 0};
  loop                       x, z = loop_open(&servo, &s);
  expect_ok(&x, loop_build(&x, &servo, &s));
  yoke_graph_destroy(&x.graph);
  for (int l = 0; l < 2; ++l) {
    x.wires[l].port[1]     = -1;
    x.wires[l].input_at[1] = &inputs[l];
  }
  expect_ok(&x, yoke_graph_create(x.ctx, 2, x.subsystems, 2, x.wires, &s, x.exec, &x.graph));
  expect_ok(&x, yoke_graph_start(x.graph, 0.0, x.ctx));
  loop_steps(&x, 5, 0.01);
  loop_steps(&z, 5, 0.01);
  assert_memory_equal(yoke_graph_y(x.graph, 0), yoke_graph_y(z.graph, 0), 3 * sizeof(double));
  loop_close(&x);
  loop_close(&z);
}

static void expect_refused(int wire, int side, int port, int n_y, const char *message) {
  const yoke_scheme_settings s = settings_of("explicit", 1);
  loop                       x;
  expect_ok(&x, loop_build(&x, &servo, &s));
  yoke_graph_destroy(&x.graph);
  x.wires[wire].port[side] = port;
  x.wires[wire].n_y[0]     = n_y;
  assert_int_equal(yoke_graph_create(x.ctx, 2, x.subsystems, 2, x.wires, &s, x.exec, &x.graph), YOKE_E_MODEL);
  if (strstr(yoke_context_message(x.ctx, 0), message) == NULL) fail_msg("%s", yoke_context_message(x.ctx, 0));
  loop_close(&x);
}

static void ports_that_do_not_fit_are_refused_with_names(void **state) {
  (void)state;
  expect_refused(1, 1, 1, 1, "coupling 'link 2': port 'y1' of subsystem 'mass' takes no signal");
  expect_refused(1, 1, -1, 1, "coupling 'link 2': subsystem 'mass' takes no signal");
  expect_refused(0, 0, 1, 3,
                 "coupling 'link 1': the signal reads 3 values of port 'y1' of subsystem 'mass', which shows 1");
}

/* ---- jumps ---- */

/* A sampled controller whose command flips and grows without end is no divergence of the couplings. */
static void signals_may_jump(void **state) {
  (void)state;
  loop_def                   def = {.n_blocks = 2,
                                    .n_links  = 2,
                                    .blocks   = {MASS(2.0, 0.5),
                                                 {.name        = "sampled",
                                                  .n_u         = 1,
                                                  .n_y         = 1,
                                                  .D           = {{1.0}},
                                                  .h           = 1.0,
                                                  .period      = 0.01,
                                                  .alternating = 1.5,
                                                  .can         = BLOCK_ALL}},
                                    .links    = {{0, 0, 1, 0, 0.0, 1.0, NULL}, {1, 0, 0, 0, 1.0, 0.0, NULL}}};
  const yoke_scheme_settings s   = settings_of("implicit", 0);
  loop                       x   = loop_open(&def, &s);
  loop_steps(&x, 60, 0.01);
  CHECK_NEAR(yoke_graph_channel(x.graph, 1, 0) / pow(1.5, 60), 1.0, 1e-12);
  loop_close(&x);
}

/* Its samples are macro points: u(t) = -4 x(T_N) in the step behind T_N. Explicit with degree 0 gives just this. */
static void a_sampled_controller_is_exact_with_order_0(void **state) {
  (void)state;
  const double   H   = 0.02;
  const loop_def def = {
      .n_blocks = 2,
      .n_links  = 2,
      .blocks   = {{.name = "sampled", .n_u = 1, .n_y = 1, .D = {{-4.0}}, .h = 1.0, .period = 0.02, .can = BLOCK_ALL},
                   MASS(2.0, 0.5)},
      .links    = {{1, 0, 0, 0, 1.0, 0.0, NULL}, {0, 0, 1, 0, 1.0, 0.0, NULL}}};
  yoke_scheme_settings s     = settings_of("explicit", 0);
  loop                 x     = loop_open(&def, &s);
  loop_def             alone = {.n_blocks = 1, .blocks = {MASS(2.0, 0.5)}};
  double               z[2]  = {0.5, 0.0};
  /* the mass shows x(T_N) at T_N, the sample of T_N is in y at T_N: jacobi delays it by one step, -4 x(T_{N-1}) */
  double               late = 0.5;
  for (int k = 0; k < 10; ++k) {
    double            u = -4.0 * late, t[2] = {k * H, (k + 1) * H};
    const yoke_signal signal = {.n = 1, .n_pieces = 1, .t = t, .c = &u};
    block_state       state_ = {.t = t[0], .x = {z[0], z[1]}};
    late                     = z[0];
    while (state_.t < t[1] - 1e-12)
      block_micro_step(&alone.blocks[0], &state_, &signal, fmin(state_.t + H_MICRO, t[1]));
    memcpy(z, state_.x, sizeof z);
  }
  loop_steps(&x, 10, H);
  CHECK_NEAR(((const block_state *)yoke_graph_state(x.graph, 1))->x[0], z[0], 1e-12);
  loop_close(&x);
}

/* ---- step control ---- */

static double controlled_error(const loop_def *def, const char *scheme, yoke_estimator_kind estimator, double rtol,
                               int *n_steps) {
  const yoke_scheme_settings s = settings_of(scheme, 3);
  loop                       x;
  yoke_controller           *controller;
  yoke_control_settings      control = yoke_control_settings_default();
  loop_exact                 e       = exact_open(def);
  yoke_step_statistics       statistics;
  control.estimator       = estimator;
  control.tolerances.rtol = rtol;
  control.initial         = 1e-5;
  control.max             = 0.2;
  control.order_max       = 3;
  expect_ok(&x, loop_build(&x, def, &s));
  expect_ok(&x, yoke_controller_create(x.ctx, x.graph, &control, &controller));
  expect_ok(&x, yoke_graph_start(x.graph, 0.0, x.ctx));
  for (*n_steps = 0; yoke_graph_t(x.graph) < 1.0; ++*n_steps)
    expect_ok(&x, yoke_controller_step(controller, 1.0, &statistics, x.ctx));
  exact_advance(&e, 0.0, 1.0);
  const double error = state_error(&x, &e);
  yoke_controller_destroy(&controller);
  exact_close(&e);
  loop_close(&x);
  return error;
}

static void step_control_keeps_its_tolerance(void **state) {
  static const struct {
    const char         *scheme;
    yoke_estimator_kind estimator;
  } rows[] = {{"explicit", YOKE_ESTIMATOR_CV},
              {"explicit", YOKE_ESTIMATOR_MD},
              {"implicit", YOKE_ESTIMATOR_MD},
              {"implicit", YOKE_ESTIMATOR_LE},
              {"semi-implicit", YOKE_ESTIMATOR_MD}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    int          n_steps[2];
    const double rough = controlled_error(&servo, rows[i].scheme, rows[i].estimator, 1e-3, &n_steps[0]),
                 fine  = controlled_error(&servo, rows[i].scheme, rows[i].estimator, 1e-6, &n_steps[1]);
    if (!(rough < 1e-2 && fine < 1e-5 && n_steps[1] > n_steps[0] && n_steps[1] < 2000))
      fail_msg("%s: errors %.3g and %.3g in %d and %d steps", rows[i].scheme, rough, fine, n_steps[0], n_steps[1]);
  }
}

/* What reads a signal and shows nothing that anybody reads is as exact. */
static void step_control_sees_signals_that_lead_nowhere(void **state) {
  const loop_def chain = {
      .n_blocks = 2, .n_links = 1, .blocks = {MASS(0.1, 0.5), LAG}, .links = {{0, 0, 1, 0, 1.0, 0.0, NULL}}};
  int n_steps;
  (void)state;
  CHECK_BELOW(controlled_error(&chain, "implicit", YOKE_ESTIMATOR_MD, 1e-5, &n_steps), 1e-5);
}

static void a_signal_is_measured_by_its_own_size(void **state) {
  const yoke_estimator e = {.tolerances = {.rtol = 1e-3}, .scales = {.coupling = {1e4, 1e6}}};
  yoke_channel_trial   u = {.is_signal = true, .size = 50.0};
  (void)state;
  CHECK_NEAR(yoke_estimator_atol_coupling(&e, &u), 1e-3 * 0.1 * 50.0, 1e-15);
  u.size = 0.0;
  CHECK_NEAR(yoke_estimator_atol_coupling(&e, &u), 1e-3 * 1e-3, 1e-18);
}

/* Beside a spring at rest; the spring's motion says nothing of the signal. */
static void step_control_by_motions_sees_signals_too(void **state) {
  static const struct {
    const char         *scheme;
    yoke_estimator_kind estimator;
    yoke_estimate_way   way;
  } rows[]             = {{"implicit", YOKE_ESTIMATOR_MD, YOKE_ESTIMATE_PREDICTED},
                          {"implicit", YOKE_ESTIMATOR_LE, YOKE_ESTIMATE_CONSISTENT},
                          {"explicit", YOKE_ESTIMATOR_MD, YOKE_ESTIMATE_END},
                          {"explicit", YOKE_ESTIMATOR_LE, YOKE_ESTIMATE_HIGHER}};
  const loop_def chain = {
      .n_blocks = 2, .n_links = 1, .blocks = {MASS(0.1, 0.5), LAG}, .links = {{0, 0, 1, 0, 1.0, 0.0, NULL}}};
  loop_exact e = exact_open(&chain);
  (void)state;
  exact_advance(&e, 0.0, 0.5);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    mixed m;
    open_mixed(&m, "examples/two-mass.yaml", "bodies.m1.v=0;bodies.m2.v=0", &chain, rows[i].scheme, rows[i].estimator,
               1e-4, 0.2);
    assert_int_equal(yoke_controller_estimator(m.controller)->way, rows[i].way);
    while (yoke_graph_t(m.graph) < 0.5) step_mixed(&m, 0.5);
    CHECK_NEAR(((const block_state *)yoke_graph_state(m.graph, 3))->x[0], e.x[BLOCK_MAX], 1e-4);
    close_mixed(&m);
  }
  exact_close(&e);
}

/* ---- no way back ---- */

static void a_subsystem_that_cannot_repeat_takes_part_in_explicit(void **state) {
  (void)state;
  loop_def def                 = servo;
  def.blocks[1].can            = 0;
  const yoke_scheme_settings s = settings_of("explicit", 2), corrected = settings_of("implicit", 2);
  CHECK_NEAR(error_after(&def, &s, 40), error_after(&servo, &s, 40), 0.0);
  loop x;
  assert_int_equal(loop_build(&x, &def, &corrected), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(x.ctx, 0), "subsystem 'lag' cannot go back"));
  loop_close(&x);
}

/* ---- inputs from outside ---- */

/* One mass pushed by the first of two values. */
static const loop_def pushed = {.n_blocks = 1, .blocks = {MASS(2.0, 0.5)}};

static loop open_pushed(const loop_def *def, const yoke_scheme_settings *s, double push) {
  const yoke_held_entry entry     = {.number = 0, .subsystem = 0, .input = 0};
  const double          values[2] = {push, 7.0};
  loop                  x;
  expect_ok(&x, loop_build(&x, def, s));
  expect_ok(&x, yoke_graph_hold(x.graph, 2, values, 1, &entry, x.ctx));
  expect_ok(&x, yoke_graph_start(x.graph, 0.0, x.ctx));
  return x;
}

/* x of m x'' + d x' + c x = u over t from z. */
static void push_exact(double u, double t, double z[2]) {
  const double m = 2.0, c = 40.0, d = 0.8, x0 = z[0] - u / c, s = d / (2.0 * m), w = sqrt(c / m - s * s);
  const double a = x0, b = (z[1] + s * x0) / w, decay = exp(-s * t);
  z[0] = u / c + decay * (a * cos(w * t) + b * sin(w * t));
  z[1] = decay * ((b * w - s * a) * cos(w * t) - (a * w + s * b) * sin(w * t));
}

static void an_input_is_constant_until_it_is_set_again(void **state) {
  static const double        values[3] = {3.0, -20.0, 5.5};
  double                     z[2]      = {0.5, 0.0};
  const yoke_scheme_settings s         = settings_of("explicit", 1);
  loop                       x         = open_pushed(&pushed, &s, values[0]);
  (void)state;
  for (int k = 0; k < 3; ++k) {
    if (k > 0) {
      yoke_graph_set_held(x.graph, 0, values[k]);
      expect_ok(&x, yoke_graph_restart(x.graph, x.ctx));
      CHECK_NEAR(yoke_graph_y(x.graph, 0)[2], (values[k] - 40.0 * z[0] - 0.8 * z[1]) / 2.0, 1e-8);
    }
    loop_steps(&x, 5, 0.03);
    push_exact(values[k], 0.15, z);
    assert_true(yoke_graph_held(x.graph, 0) == values[k] && yoke_graph_held(x.graph, 1) == 7.0);
    CHECK_NEAR(yoke_graph_y(x.graph, 0)[0], z[0], 1e-10);
  }
  loop_close(&x);
}

static void inputs_are_packed_along(void **state) {
  (void)state;
  const yoke_scheme_settings s    = settings_of("implicit", 2);
  loop_def                   def  = servo;
  yoke_pack                  pack = {0};
  yoke_unpack                in;
  /* the servo with a second input of the mass */
  def.blocks[0].n_u           = 2;
  def.blocks[0].B[1][1]       = 0.5;
  def.blocks[0].D[2][1]       = 0.5;
  const yoke_held_entry entry = {.number = 0, .subsystem = 0, .input = 1};
  const double          value = 1.0;
  loop                  x, z;
  for (int k = 0; k < 2; ++k) {
    loop *const one = k == 0 ? &x : &z;
    expect_ok(one, loop_build(one, &def, &s));
    expect_ok(one, yoke_graph_hold(one->graph, 1, &value, 1, &entry, one->ctx));
    expect_ok(one, yoke_graph_start(one->graph, 0.0, one->ctx));
  }
  loop_steps(&x, 5, 0.01);
  yoke_graph_set_held(x.graph, 0, -9.0);
  expect_ok(&x, yoke_graph_restart(x.graph, x.ctx));
  loop_steps(&x, 3, 0.01);
  yoke_pack_begin(&pack);
  expect_ok(&x, yoke_graph_pack(x.graph, &pack, x.ctx));
  expect_ok(&x, yoke_pack_end(&pack, x.ctx));
  expect_ok(&z, yoke_unpack_begin(&in, pack.bytes, pack.size, z.ctx));
  expect_ok(&z, yoke_graph_unpack(z.graph, yoke_graph_t(x.graph), &in, z.ctx));
  yoke_pack_free(&pack);
  assert_true(yoke_graph_held(z.graph, 0) == -9.0);
  loop_steps(&x, 4, 0.01);
  loop_steps(&z, 4, 0.01);
  assert_memory_equal(yoke_graph_y(x.graph, 0), yoke_graph_y(z.graph, 0), 3 * sizeof(double));
  size_t            size[2];
  const void *const blocks[2] = {yoke_graph_block(x.graph, &size[0]), yoke_graph_block(z.graph, &size[1])};
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(blocks[0], blocks[1], size[0]);
  loop_close(&x);
  loop_close(&z);
}

static void an_input_that_a_signal_enters_is_taken(void **state) {
  (void)state;
  const yoke_scheme_settings s     = settings_of("explicit", 1);
  const yoke_held_entry      entry = {.number = 0, .subsystem = 0, .input = 0};
  const double               value = 1.0;
  loop                       x;
  expect_ok(&x, loop_build(&x, &servo, &s));
  assert_int_equal(yoke_graph_hold(x.graph, 1, &value, 1, &entry, x.ctx), YOKE_E_INTERNAL);
  loop_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explicit_is_of_order_k_plus_1),
      cmocka_unit_test(explicit_one_after_another_is_of_order_k_plus_1),
      cmocka_unit_test(semi_implicit_is_of_order_k_plus_1),
      cmocka_unit_test(implicit_is_of_order_k_plus_1),
      cmocka_unit_test(waveform_settles_where_implicit_does),
      cmocka_unit_test(implicit_steps_have_one_solution_whatever_makes_the_matrix),
      cmocka_unit_test(signals_are_settled_to_their_own_size),
      cmocka_unit_test(two_signals_may_read_one_port),
      cmocka_unit_test(predictors_by_accelerations_extrapolate_signals),
      cmocka_unit_test(who_shows_a_signal_is_stepped_before_who_reads_it),
      cmocka_unit_test(a_loop_of_feed_through_is_solved_at_the_start),
      cmocka_unit_test(a_loop_that_no_iteration_settles_is_solved_too),
      cmocka_unit_test(feed_through_keeps_the_order_of_corrected_schemes),
      cmocka_unit_test(feed_through_keeps_the_order_of_explicit_where_the_loop_contracts),
      cmocka_unit_test(a_loop_of_gain_one_is_named),
      cmocka_unit_test(a_nonlinear_loop_is_solved_at_the_start),
      cmocka_unit_test(a_loop_without_a_solution_is_told),
      cmocka_unit_test(a_restart_finds_the_same_values_again),
      cmocka_unit_test(signals_fit_where_multipliers_begin_anew),
      cmocka_unit_test(signals_into_one_input_add_up),
      cmocka_unit_test(an_input_that_was_made_for_a_signal_needs_no_port),
      cmocka_unit_test(ports_that_do_not_fit_are_refused_with_names),
      cmocka_unit_test(signals_may_jump),
      cmocka_unit_test(a_sampled_controller_is_exact_with_order_0),
      cmocka_unit_test(step_control_keeps_its_tolerance),
      cmocka_unit_test(step_control_sees_signals_that_lead_nowhere),
      cmocka_unit_test(a_signal_is_measured_by_its_own_size),
      cmocka_unit_test(step_control_by_motions_sees_signals_too),
      cmocka_unit_test(a_subsystem_that_cannot_repeat_takes_part_in_explicit),
      cmocka_unit_test(an_input_is_constant_until_it_is_set_again),
      cmocka_unit_test(inputs_are_packed_along),
      cmocka_unit_test(an_input_that_a_signal_enters_is_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
