/* Native subsystems against hand-written equations, their states and outputs, and the wrappers `checked` and `traced`. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text.h"
#include "exec/exec.h"
#include "bench.h"
#include <stdlib.h>

/* Three macro steps with inputs that jump at each; every output against the hand-written equations. */
static void check_half(const half *h, const char *solver, double tolerance) {
  const double H = 0.05;
  bench        b;
  make_half(&b, h, solver, false);
  make_task(&b);
  const yoke_subsystem *s    = b.subsystem;
  double                z[3] = {h->x, h->v, 0.0}, t = 0.3;
  for (int n = 0; n < 3; ++n) {
    wave   w;
    double y[4], rate[3];
    set_wave(&w, s->nu, t, H, shape[n % 2]);
    if (n == 0) assert_int_equal(yoke_subsystem_start(s, b.scratch, b.state, t, &w.u, b.ctx), YOKE_OK);
    z[2] = 0.0; /* integrals count from the last accepted step */
    assert_int_equal(step_over(s, b.scratch, b.state, &w.u, t, H, b.ctx), YOKE_OK);
    t += H;
    assert_true(yoke_native_state(s, b.state)->t == t);
    half_solve(h, &w, z);
    half_rate(h, &w, t, z, rate);
    assert_int_equal(yoke_subsystem_output(s, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y), YOKE_OK);
    const double expected[4] = {z[0], z[1], rate[1], z[2]};
    for (int i = 0; i < 4; ++i) {
      if (fabs(y[i] - expected[i]) <= tolerance * (1.0 + fabs(expected[i]))) continue;
      fail_msg("%s, step %d, output %d: %.15g, by hand %.15g", solver, n, i, y[i], expected[i]);
    }
    yoke_subsystem_accept(s, b.state);
  }
  close_bench(&b);
}

static const char *const solvers[] = {"exact", "dopri5", "dop853", "radau5", "bdf", "abm", "auto"};
enum { N_SOLVERS = (int)(sizeof solvers / sizeof solvers[0]) };

static void half_with_a_force_equals_its_hand_written_equations(void **state) {
  (void)state;
  for (int k = 0; k < N_SOLVERS; ++k) check_half(&force_half, solvers[k], k == 0 ? 1e-11 : 1e-7);
}

static void half_with_a_ghost_equals_its_hand_written_equations(void **state) {
  (void)state;
  for (int k = 0; k < N_SOLVERS; ++k) check_half(&ghost_half, solvers[k], k == 0 ? 1e-11 : 1e-7);
}

/* Evaluations of the second of two steps: the force falls from 1 kN to `end` in the first and begins with `begin` and this slope in the
 * second. */
static int64_t evaluations_behind(double end, double begin, double slope) {
  const double  first[3] = {1e3 + end, -1e4, 0.0}, second[3] = {begin, slope, 0.0};
  bench         b;
  wave          w;
  yoke_counters before, after;
  make_half(&b, &force_half, "dopri5", false);
  make_task(&b);
  set_wave(&w, 1, 0.0, 0.1, first);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.0, 0.1, b.ctx), YOKE_OK);
  yoke_subsystem_accept(b.subsystem, b.state);
  yoke_subsystem_counters(b.subsystem, b.state, &before);
  set_wave(&w, 1, 0.1, 0.1, second);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.1, 0.1, b.ctx), YOKE_OK);
  yoke_subsystem_counters(b.subsystem, b.state, &after);
  close_bench(&b);
  return after.evaluations - before.evaluations;
}

/* An input that was 1 kN and is now 0 but for rounding does not jump when it is exactly 0 behind the macro point. */
static void rounding_of_an_input_that_was_large_is_no_jump(void **state) {
  (void)state;
  assert_int_equal(evaluations_behind(5e-13, 0.0, -1e4), evaluations_behind(0.0, 0.0, -1e4));
  assert_true(evaluations_behind(0.0, 1e-6, -1e4) > evaluations_behind(0.0, 0.0, -1e4));
}

/* F32: a method of one step has the derivative where inputs bend; where they jump it is evaluated once. */
static void f32_a_kink_of_an_input_costs_nothing_and_a_jump_one_evaluation(void **state) {
  (void)state;
  const int64_t smooth = evaluations_behind(100.0, 100.0, -1e4);
  assert_int_equal(evaluations_behind(100.0, 100.0, -1.001e4), smooth);
  assert_int_equal(evaluations_behind(100.0, 100.001, -1e4), smooth + 1);
}

/* ---- guided rows ---- */

/* Two links in a revolute joint of their own; the tip of the first is guided: its acceleration is -beta. */
static void make_guided(bench *b, const char *solver, double step) {
  open_bench(b, solver);
  b->model.solver.step = step;
  b->model.gravity[1]  = -9.81;
  yoke_body *first     = add_body(b, YOKE_BODY_PLANAR);
  first->angle         = 0.4;
  first->omega[2]      = 3.0;
  first->velocity[0]   = 0.2;
  yoke_body *second    = add_body(b, YOKE_BODY_PLANAR);
  second->omega[2]     = -2.0;
  second->position[0]  = -1.0;
  b->ghosts[0]         = (yoke_ghost){.name = ghost_name, .shape = &yoke_shape_plane};
  b->model.n_ghosts    = 1;
  const int tip = add_frame(b, 0, 0.5, 0.0, 0), ghost = add_frame(b, YOKE_FIRST_GHOST, 0, 0, 0);
  const int port = add_frame(b, 0, 0.5, 0.0, 0);
  connect(b, YOKE_CONNECTION_ATPOINT, tip, ghost);
  connect(b, YOKE_CONNECTION_REVOLUTE, add_frame(b, 0, -0.5, 0, 0), add_frame(b, 1, 0.5, 0, 0));
  const yoke_input        inputs[3] = {{YOKE_INPUT_ROW_ACCELERATION, 0, 0, 1.0},
                                       {YOKE_INPUT_ROW_ACCELERATION, 0, 1, 1.0},
                                       {YOKE_INPUT_FORCE, port, 5, 1.0}};
  const yoke_port_request request   = {.extras = YOKE_EXTRA_REACTION, .connection = 0};
  const yoke_native_def   def       = {.name         = "left",
                                       .model        = &b->model,
                                       .n_ports      = 1,
                                       .port_frame   = &port,
                                       .port_request = &request,
                                       .n_inputs     = 3,
                                       .inputs       = inputs};
  if (yoke_native_create(b->ctx, &def, &b->subsystem) != YOKE_OK) fail_msg("%s", yoke_context_message(b->ctx, 0));
}

enum { GUIDED_Y = 14, GUIDED_DIRECTIONS = 9 };

/* Outputs behind 20 ms with input k / 3 changed by `size` times (t - t_0)^(k % 3); the response to all of that is asked for if it is wanted. */
static void step_guided(bench *b, int k, double size, yoke_response *response, double *y) {
  double            c[9] = {3.0, -20.0, 150.0, 1.0, 7.0, 40.0, 0.2, 0.0, 0.0};
  const double      t[2] = {0.3, 0.32};
  const yoke_signal u    = {.n = 3, .n_pieces = 1, .degree = 2, .t = t, .c = c};
  assert_int_equal(yoke_subsystem_start(b->subsystem, b->scratch, b->state, t[0], &u, b->ctx), YOKE_OK);
  c[k] += size;
  yoke_step_request request = yoke_step_over(&u, t[0], t[1] - t[0]);
  request.begins_anew       = true;
  request.response          = response;
  assert_int_equal(yoke_subsystem_step(b->subsystem, b->scratch, b->state, &u, &request, b->ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(b->subsystem, b->scratch, b->state, &u, YOKE_SIDE_LEFT, y), YOKE_OK);
}

/* Accelerations of rows and a moment as inputs; motions, integrals and reactions as outputs. Fixed micro steps. */
static void response_of_guided_rows_shows_reactions_as_differences_do(void **state) {
  (void)state;
  static const int direction[GUIDED_DIRECTIONS] = {0, 1, 2, 3, 4, 5, 6, 7, 8},
                   input[GUIDED_DIRECTIONS]     = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  const double  t[2]                            = {0.3, 0.32};
  double        along[3 * GUIDED_DIRECTIONS]    = {0.0}, dy[GUIDED_DIRECTIONS * GUIDED_Y], y[2][GUIDED_Y];
  yoke_response response                        = {
                             .directions = {.n         = GUIDED_DIRECTIONS,
                                            .n_entries = GUIDED_DIRECTIONS,
                                            .direction = direction,
                                            .input     = input,
                                            .du        = {.n = GUIDED_DIRECTIONS, .n_pieces = 1, .degree = 2, .t = t, .c = along}},
                             .dy         = dy};
  bench b;
  for (int k = 0; k < GUIDED_DIRECTIONS; ++k) along[3 * k + k % 3] = 1.0;
  make_guided(&b, "dop853", 1e-3);
  make_task(&b);
  response.room = aligned_alloc(64, (b.subsystem->ops->response->room(b.subsystem, GUIDED_DIRECTIONS) + 63) / 64 * 64);
  assert_non_null(response.room);
  step_guided(&b, 0, 0.0, &response, y[0]);
  assert_true(response.is_made);
  for (int k = 0; k < GUIDED_DIRECTIONS; ++k) {
    double largest = 0.0, error[2] = {0.0};
    for (int side = 0; side < 2; ++side) step_guided(&b, k, side == 0 ? 0.1 : -0.1, NULL, y[side]);
    for (int i = 0; i < GUIDED_Y; ++i) { /* the last two are reactions */
      const double d = (y[0][i] - y[1][i]) / 0.2;
      largest        = fmax(largest, fabs(d));
      error[i >= 12] = fmax(error[i >= 12], fabs(d - dy[k * GUIDED_Y + i]));
    }
    if (fmax(error[0], error[1]) > 1e-6 * largest)
      fail_msg("direction %d: %g, reactions %g of %g", k, error[0], error[1], largest);
  }
  free(response.room);
  close_bench(&b);
}

/* The tip moves as beta says, whatever the rest does; x and y of tip, rate, and reactions after 0.1 s. */
static void run_guided(const char *solver, double y_out[14]) {
  static const double c[9] = {3.0, -20.0, 150.0, 1.0, 7.0, 40.0, 0.2, 0.0, 0.0};
  const double        t[2] = {0.3, 0.4}, H = 0.1;
  const yoke_signal   u = {.n = 3, .n_pieces = 1, .degree = 2, .t = t, .c = c};
  bench               b;
  double              start[14];
  make_guided(&b, solver, 0.0);
  make_task(&b);
  const yoke_subsystem *s = b.subsystem;
  assert_int_equal(s->ny, 14);
  if (yoke_subsystem_start(s, b.scratch, b.state, t[0], &u, b.ctx) != YOKE_OK)
    fail_msg("%s: %s", solver, yoke_context_message(b.ctx, 0));
  assert_int_equal(yoke_subsystem_output(s, b.scratch, b.state, &u, YOKE_SIDE_LEFT, start), YOKE_OK);
  if (step_over(s, b.scratch, b.state, &u, t[0], H, b.ctx) != YOKE_OK)
    fail_msg("%s: %s", solver, yoke_context_message(b.ctx, 0));
  assert_int_equal(yoke_subsystem_output(s, b.scratch, b.state, &u, YOKE_SIDE_LEFT, y_out), YOKE_OK);
  for (int k = 0; k < 2; ++k) {
    const double *beta = c + 3 * k;
    const double  v    = start[3 + k] - (beta[0] + (beta[1] / 2 + beta[2] / 3 * H) * H) * H;
    const double  x    = start[k] + start[3 + k] * H - (beta[0] / 2 + (beta[1] / 6 + beta[2] / 12 * H) * H) * H * H;
    const double  a    = -(beta[0] + (beta[1] + beta[2] * H) * H);
    if (fabs(y_out[k] - x) < 1e-8 && fabs(y_out[3 + k] - v) < 1e-7 && fabs(y_out[6 + k] - a) < 1e-11 * fabs(a))
      continue;
    fail_msg("%s, component %d: x off by %.3g, v by %.3g, a by %.3g", solver, k, y_out[k] - x, y_out[3 + k] - v,
             y_out[6 + k] - a);
  }
  close_bench(&b);
}

static void guided_point_moves_as_it_is_told_with_every_solver(void **state) {
  double expected[14], y[14];
  (void)state;
  run_guided("dop853", expected);
  for (int k = 1; k < N_SOLVERS; ++k) { /* the first is for linear models */
    run_guided(solvers[k], y);
    for (int i = 0; i < 14; ++i) {
      if (fabs(y[i] - expected[i]) <= 1e-6 * (1.0 + fabs(expected[i]))) continue;
      fail_msg("%s, output %d: %.15g, dop853 %.15g", solvers[k], i, y[i], expected[i]);
    }
  }
}

static void guided_joint_that_cannot_follow_is_refused_with_names(void **state) {
  bench b;
  (void)state;
  open_bench(&b, "dopri5");
  add_body(&b, YOKE_BODY_PLANAR);
  b.ghosts[0]      = (yoke_ghost){.name = ghost_name, .shape = &yoke_shape_plane};
  b.model.n_ghosts = 1;
  connect(&b, YOKE_CONNECTION_REVOLUTE, add_frame(&b, YOKE_GROUND, -0.5, 0, 0), add_frame(&b, 0, -0.5, 0, 0));
  connect(&b, YOKE_CONNECTION_REVOLUTE, add_frame(&b, 0, 0.5, 0, 0), add_frame(&b, YOKE_FIRST_GHOST, 0, 0, 0));
  const yoke_input inputs[2] = {{YOKE_INPUT_ROW_ACCELERATION, 1, 0, 1.0}, {YOKE_INPUT_ROW_ACCELERATION, 1, 1, 1.0}};
  const yoke_native_def def  = {.name = "left", .model = &b.model, .n_inputs = 2, .inputs = inputs};
  assert_int_equal(yoke_native_create(b.ctx, &def, &b.subsystem), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "side 1"));
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "atpoint x"));
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "force/force"));
  close_bench(&b);
}

/* ---- states ---- */

static void step_after_restore_has_the_same_bits(void **state) {
  const double H = 0.05;
  (void)state;
  for (int k = 0; k < N_SOLVERS; ++k) {
    bench b;
    make_half(&b, &ghost_half, solvers[k], false);
    make_task(&b);
    const yoke_subsystem *s     = b.subsystem;
    void                 *saved = NULL, *other = NULL;
    double                y[2][4], t           = 0.0;
    wave                  w, perturbed;
    assert_int_equal(yoke_subsystem_state_create(s, &saved), YOKE_OK);
    assert_int_equal(yoke_subsystem_state_create(s, &other), YOKE_OK);
    set_wave(&w, 2, t, H, shape[0]);
    assert_int_equal(yoke_subsystem_start(s, b.scratch, b.state, t, &w.u, b.ctx), YOKE_OK);
    for (int n = 0; n < 4; ++n) {
      set_wave(&w, 2, t, H, shape[n % 2]);
      set_wave(&perturbed, 2, t, H, shape[1 - n % 2]);
      yoke_subsystem_copy(s, saved, b.state);
      yoke_subsystem_copy(s, other, b.state);
      assert_int_equal(step_over(s, b.scratch, b.state, &w.u, t, H, b.ctx), YOKE_OK);
      assert_int_equal(yoke_subsystem_output(s, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y[0]), YOKE_OK);
      assert_int_equal(step_over(s, b.scratch, other, &perturbed.u, t, H, b.ctx), YOKE_OK);
      yoke_subsystem_copy(s, b.state, saved);
      assert_int_equal(step_over(s, b.scratch, b.state, &w.u, t, H, b.ctx), YOKE_OK);
      assert_int_equal(yoke_subsystem_output(s, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y[1]), YOKE_OK);
      assert_memory_equal(y[0], y[1], sizeof y[0]);
      yoke_subsystem_accept(s, b.state);
      t += H;
    }
    yoke_subsystem_state_destroy(s, &saved);
    yoke_subsystem_state_destroy(s, &other);
    close_bench(&b);
  }
}

static void step_from_another_time_is_refused(void **state) {
  bench b;
  wave  w;
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  make_task(&b);
  set_wave(&w, 1, 0.0, 0.1, shape[0]);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.1, 0.1, b.ctx), YOKE_E_USAGE);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.0, -0.1, b.ctx), YOKE_E_USAGE);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, NULL, 0.0, 0.1, b.ctx), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "left"));
  close_bench(&b);
}

static void counters_show_the_work_of_the_integrator(void **state) {
  bench         b;
  wave          w;
  yoke_counters counters;
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  make_task(&b);
  set_wave(&w, 1, 0.0, 0.1, shape[0]);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.0, 0.1, b.ctx), YOKE_OK);
  b.subsystem->ops->counters(b.subsystem, b.state, &counters);
  assert_true(counters.steps > 0 && counters.evaluations > counters.steps);
  close_bench(&b);
}

static void integrator_without_copies_makes_a_subsystem_without_copies(void **state) {
  (void)state;
#ifdef YOKE_WITH_SUNDIALS
  bench b;
  make_half(&b, &force_half, "cvode", false);
  assert_null(b.subsystem->ops->repeat);
  close_bench(&b);
#endif
}

/* ---- chains ---- */

static void make_chain(bench *b, bool no_integrals) {
  open_bench(b, "dopri5");
  b->chain                            = (yoke_chain){.n = 6, .exponent_x = 3.0, .exponent_v = 3.0};
  b->chain.mass.value                 = 0.7;
  b->chain.stiffness.value            = 50.0;
  b->chain.damping.value              = 0.4;
  b->chain.stiffness_power.value      = 20.0;
  b->chain.x0.value                   = 0.01;
  add_body(b, YOKE_BODY_CHAIN)->chain = &b->chain;
  const int ports[2]                  = {add_frame(b, 0, 0, 0, 0), add_frame(b, 0, 0, 0, 0)};
  b->frames[ports[1]].mass            = 5;
  const yoke_input inputs[2]          = {{YOKE_INPUT_FORCE, ports[0], 0, 1.0}, {YOKE_INPUT_FORCE, ports[1], 0, -1.0}};
  build(b, 2, ports, 2, inputs, no_integrals);
  make_task(b);
}

static void chain_without_integrals_is_fast_and_agrees(void **state) {
  double       y[2][8];
  const double H = 0.1;
  (void)state;
  for (int fast = 0; fast < 2; ++fast) {
    bench b;
    wave  w;
    make_chain(&b, fast == 1);
    assert_string_equal(yoke_native_equations(b.subsystem)->ops->kind, fast == 1 ? "chain" : "multibody");
    double t = 0.0;
    set_wave(&w, 2, t, H, shape[0]);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, t, &w.u, b.ctx), YOKE_OK);
    for (int n = 0; n < 3; ++n) {
      set_wave(&w, 2, t, H, shape[n % 2]);
      assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, t, H, b.ctx), YOKE_OK);
      t += H;
    }
    assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y[fast]), YOKE_OK);
    close_bench(&b);
  }
  for (int i = 0; i < 8; ++i) {
    if (i % 4 == 3) {
      assert_true(y[1][i] == 0.0 && y[0][i] != 0.0); /* integrals */
    } else {
      assert_true(fabs(y[0][i] - y[1][i]) < 1e-8 * (1.0 + fabs(y[0][i])));
    }
  }
}

/* Just behind a step and where its inputs are the same, ports show the accelerations that it ended with. From the right everything is evaluated
 * anew; these models and inputs do not depend on the time. */
static void check_shown(const bench *b, bool is_same) {
  const yoke_subsystem *s       = b->subsystem;
  const double          felt[6] = {3.0, 0.0, 0.0, 0.4}, shown[6] = {is_same ? 3.0 : 2.0, 0.0, 0.0, 0.4};
  wave                  w, other;
  double                left[MOST], right[MOST];
  set_wave(&w, s->nu, 0.3, 0.05, felt);
  set_wave(&other, s->nu, 0.3, 0.05, shown);
  assert_int_equal(yoke_subsystem_start(s, b->scratch, b->state, 0.3, &w.u, b->ctx), YOKE_OK);
  assert_int_equal(step_over(s, b->scratch, b->state, &w.u, 0.3, 0.05, b->ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(s, b->scratch, b->state, &other.u, YOKE_SIDE_RIGHT, right), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(s, b->scratch, b->state, &other.u, YOKE_SIDE_LEFT, left), YOKE_OK);
  assert_memory_equal(left, right, (size_t)s->ny * sizeof *left);
}

static void outputs_behind_a_step_have_the_bits_of_a_new_evaluation(void **state) {
  (void)state;
  for (int k = 0; k < 4 * N_SOLVERS; ++k) {
    bench b;
    make_half(&b, k % 2 == 0 ? &force_half : &ghost_half, solvers[k / 4], false);
    make_task(&b);
    check_shown(&b, k / 2 % 2 == 1);
    close_bench(&b);
  }
  for (int k = 0; k < 4; ++k) {
    bench b;
    make_chain(&b, k % 2 == 1);
    check_shown(&b, k / 2 == 1);
    close_bench(&b);
    make_pendulum(&b, YOKE_BODY_PLANAR, k % 2 == 0 ? "dop853" : "dopri5");
    check_shown(&b, k / 2 == 1);
    close_bench(&b);
  }
}

/* ---- ports and compliance ---- */

/* Tip on a circle of radius 2: C = 2 (sin, -cos), and theta'' from the moments about the hinge. */
static void tip_of_a_pendulum_moves_on_its_circle(void **state) {
  const yoke_body_kind kinds[2] = {YOKE_BODY_PLANAR, YOKE_BODY_RIGID};
  const double         u[6]     = {1.7, 0.0, 0.0, -0.4, 0.0, 0.0};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    const int n_p = yoke_body_shape(kinds[k])->n_p, n_v = yoke_body_shape(kinds[k])->n_v;
    bench     b;
    wave      w;
    double    y[YOKE_PORT_MAX_Y];
    (void)make_pendulum(&b, kinds[k], "radau5");
    set_wave(&w, 2, 0.0, 0.2, u);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
    assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.0, 0.2, b.ctx), YOKE_OK);
    assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y), YOKE_OK);
    const double theta = atan2(y[0], -y[1]), omega = y[n_p + n_v - 1], alpha = y[n_p + 2 * n_v - 1];
    const double sine = sin(theta), cosine = cos(theta);
    const double moment = -1.5 * 9.81 * sine - u[0] * 2.0 * cosine + u[3];
    assert_true(fabs(hypot(y[0], y[1]) - 2.0) < 1e-9);
    assert_true(fabs(alpha - moment / (0.7 + 1.5)) < 1e-8);
    assert_true(fabs(y[n_p] - 2.0 * omega * cosine) < 1e-8 && fabs(y[n_p + 1] - 2.0 * omega * sine) < 1e-8);
    assert_true(fabs(y[n_p + n_v] - 2.0 * (alpha * cosine - omega * omega * sine)) < 1e-8);
    assert_true(fabs(y[n_p + n_v + 1] - 2.0 * (alpha * sine + omega * omega * cosine)) < 1e-8);
    const double turned = k == 0 ? y[2] : 2.0 * atan2(y[6], y[3]);
    assert_true(fabs(turned - theta) < 1e-9);
    close_bench(&b);
  }
}

/* About the hinge: d theta''/dF = -2 cos(theta) / J (the input has the factor -1), d theta''/dM = 1 / J. */
static void compliance_is_the_response_of_the_constrained_body(void **state) {
  const double u[6] = {1.7, 0.0, 0.0, -0.4, 0.0, 0.0}, theta = 0.7, J = 0.7 + 1.5;
  bench        b;
  wave         w;
  double       da_du[2 * 12];
  (void)state;
  (void)make_pendulum(&b, YOKE_BODY_PLANAR, "radau5");
  set_wave(&w, 2, 0.0, 0.2, u);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(b.subsystem->ops->instant->response(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, da_du),
                   YOKE_OK);
  const double by_force = -2.0 * cos(theta) / J, by_moment = 1.0 / J;
  const double expected[2] = {by_force, by_moment};
  for (int j = 0; j < 2; ++j) {
    const double *row = da_du + 12 * j;
    assert_true(fabs(row[6] - 2.0 * cos(theta) * expected[j]) < 1e-13);
    assert_true(fabs(row[7] - 2.0 * sin(theta) * expected[j]) < 1e-13);
    assert_true(fabs(row[8] - expected[j]) < 1e-13);
    for (int i = 0; i < 12; ++i) {
      if (i < 6 || i > 8) assert_true(row[i] == 0.0);
    }
  }
  close_bench(&b);
}

static void compliance_of_a_ghost_is_that_of_its_spring(void **state) {
  bench  b;
  wave   w;
  double da_du[8];
  (void)state;
  make_half(&b, &ghost_half, "dopri5", false);
  make_task(&b);
  set_wave(&w, 2, 0.0, 0.1, shape[0]);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(b.subsystem->ops->instant->response(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, da_du),
                   YOKE_OK);
  /* y is x, v, a, integral: only the acceleration responds, by cc / m to the ghost's position and dc / m to its velocity. */
  assert_true(fabs(da_du[2] - ghost_half.cc / ghost_half.m) < 1e-13);
  assert_true(fabs(da_du[4 + 2] - ghost_half.dc / ghost_half.m) < 1e-13);
  for (int i = 0; i < 8; ++i) assert_true(i % 4 == 2 || da_du[i] == 0.0);
  close_bench(&b);
}

/* F = c x + C x^3: no difference of finite size has this slope. */
static void response_to_a_copy_is_the_slope_of_the_law(void **state) {
  const double c = 30.0, C = 400.0, u[6] = {0.45, 0.0, 0.0, 0.3, 0.0, 0.0};
  bench        b;
  wave         w;
  double       da_du[8];
  (void)state;
  open_bench(&b, "dopri5");
  add_body(&b, YOKE_BODY_MASS1D);
  b.ghosts[0]             = (yoke_ghost){.name = ghost_name, .shape = &yoke_shape_line};
  b.model.n_ghosts        = 1;
  const int        frame  = add_frame(&b, 0, 0, 0, 0);
  yoke_connection *spring = connect(&b, YOKE_CONNECTION_SPRING_DAMPER, frame, add_frame(&b, YOKE_FIRST_GHOST, 0, 0, 0));
  spring->law.stiffness   = c;
  spring->law.stiffness_power = C;
  const yoke_input two[]      = {{YOKE_INPUT_GHOST_P, 0, 0, 1.0}, {YOKE_INPUT_GHOST_V, 0, 0, 1.0}};
  build(&b, 1, &frame, 2, two, false);
  make_task(&b);
  set_wave(&w, 2, 0.0, 0.1, u);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(b.subsystem->ops->instant->response(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, da_du),
                   YOKE_OK);
  const double slope = (c + 3.0 * C * u[0] * u[0]) / 1.5;
  assert_true(fabs(da_du[2] - slope) < 1e-13 * slope);
  assert_true(da_du[4 + 2] == 0.0);
  close_bench(&b);
}

/* Two equal cranks and a coupler, whose middle also hangs on a rod that does what the cranks do: one row too many. */
static void redundant_joints_are_no_obstacle(void **state) {
  const double angle = 0.9, zero[3] = {0.0};
  bench        b;
  wave         w;
  double       y[12];
  (void)state;
  open_bench(&b, "radau5");
  b.model.gravity[1] = -9.81;
  for (int i = 0; i < 3; ++i) {
    const double r = i == 2 ? 1.0 : 0.5, base = i == 2 ? 1.0 : 2.0 * i;
    yoke_body   *body = add_body(&b, YOKE_BODY_PLANAR);
    vec3_set(body->position, base + r * cos(angle), r * sin(angle), 0.0);
    body->angle = i == 2 ? 0.0 : angle;
  }
  for (int i = 0; i < 2; ++i) {
    connect(&b, YOKE_CONNECTION_REVOLUTE, add_frame(&b, i, -0.5, 0, 0), add_frame(&b, YOKE_GROUND, 2.0 * i, 0, 0));
    connect(&b, YOKE_CONNECTION_REVOLUTE, add_frame(&b, i, 0.5, 0, 0), add_frame(&b, 2, 2.0 * i - 1.0, 0, 0));
  }
  const int        middle = add_frame(&b, 2, 0, 0, 0);
  yoke_connection *rod    = connect(&b, YOKE_CONNECTION_DISTANCE, middle, add_frame(&b, YOKE_GROUND, 1.0, 0, 0));
  rod->has_length         = false;
  const yoke_input input  = {YOKE_INPUT_FORCE, middle, 0, 1.0};
  build(&b, 1, &middle, 1, &input, false);
  make_task(&b);
  set_wave(&w, 1, 0.0, 0.1, zero);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.0, 0.1, b.ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y), YOKE_OK);
  assert_true(fabs(hypot(y[0] - 1.0, y[1]) - 1.0) < 1e-9);
  assert_true(fabs(y[2]) < 1e-9); /* the coupler does not turn */
  close_bench(&b);
}

/* ---- tasks side by side ---- */

enum { N_TASKS = 24 };

typedef struct crew {
  const yoke_subsystem *subsystem;
  void                 *state[N_TASKS], **scratch;
  double                y[N_TASKS][4];
  yoke_status           status[N_TASKS];
} crew;

static void step_task(void *user, int i, int worker) {
  crew        *c    = user;
  const double u[6] = {1.0 + 0.1 * i, -2.0, 5.0, 0.3 * i, 1.0, 0.0};
  wave         w;
  set_wave(&w, 2, 0.0, 0.05, u);
  c->status[i] = step_over(c->subsystem, c->scratch[worker], c->state[i], &w.u, 0.0, 0.05, NULL);
  if (c->status[i] == YOKE_OK) {
    c->status[i] = yoke_subsystem_output(c->subsystem, c->scratch[worker], c->state[i], &w.u, YOKE_SIDE_LEFT, c->y[i]);
  }
}

static void run_crew(const bench *b, const char *exec_kind, int threads, double y[N_TASKS][4]) {
  crew       c    = {.subsystem = b->subsystem};
  yoke_exec *exec = NULL;
  assert_int_equal(yoke_exec_create(NULL, exec_kind, threads, &exec), YOKE_OK);
  const int n = yoke_exec_n_workers(exec);
  c.scratch   = calloc((size_t)n, sizeof *c.scratch);
  assert_non_null(c.scratch);
  for (int k = 0; k < n; ++k) assert_int_equal(yoke_subsystem_scratch_create(b->subsystem, &c.scratch[k]), YOKE_OK);
  for (int i = 0; i < N_TASKS; ++i) {
    assert_int_equal(yoke_subsystem_state_create(b->subsystem, &c.state[i]), YOKE_OK);
    yoke_subsystem_copy(b->subsystem, c.state[i], b->state);
  }
  assert_int_equal(yoke_exec_expect(exec, NULL, N_TASKS), YOKE_OK);
  yoke_exec_run(exec, N_TASKS, NULL, step_task, &c);
  for (int i = 0; i < N_TASKS; ++i) {
    assert_int_equal(c.status[i], YOKE_OK);
    yoke_subsystem_state_destroy(b->subsystem, &c.state[i]);
  }
  memcpy(y, c.y, sizeof c.y);
  for (int k = 0; k < n; ++k) yoke_subsystem_scratch_destroy(&c.scratch[k]);
  free(c.scratch);
  yoke_exec_destroy(&exec);
}

static void results_do_not_depend_on_the_exec_backend(void **state) {
  static double serial[N_TASKS][4], other[N_TASKS][4];
  (void)state;
  for (int k = 0; k < N_SOLVERS; ++k) {
    bench b;
    wave  w;
    make_half(&b, &ghost_half, solvers[k], false);
    make_task(&b);
    set_wave(&w, 2, 0.0, 0.05, shape[0]);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
    run_crew(&b, "serial", 1, serial);
    run_crew(&b, "shuffled", 1, other);
    assert_memory_equal(serial, other, sizeof serial);
    run_crew(&b, "eager", 3, other);
    assert_memory_equal(serial, other, sizeof serial);
    close_bench(&b);
  }
}

/* ---- wrappers ---- */

static void wrap_checked(bench *b) {
  yoke_subsystem *inner = b->subsystem;
  assert_int_equal(yoke_subsystem_check(b->ctx, inner, &b->subsystem), YOKE_OK);
  assert_string_equal(b->subsystem->ops->kind, "checked");
  make_task(b);
}

static void checked_subsystem_gives_the_same_outputs(void **state) {
  double y[2][4];
  (void)state;
  for (int is_checked = 0; is_checked < 2; ++is_checked) {
    bench b;
    wave  w;
    make_half(&b, &ghost_half, "radau5", false);
    if (is_checked) {
      wrap_checked(&b);
    } else {
      make_task(&b);
    }
    double t = 0.0;
    set_wave(&w, 2, t, 0.02, shape[0]);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, t, &w.u, b.ctx), YOKE_OK);
    for (int n = 0; n < 20; ++n) {
      set_wave(&w, 2, t, 0.02, shape[n % 2]);
      assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, t, 0.02, b.ctx), YOKE_OK);
      yoke_subsystem_accept(b.subsystem, b.state);
      t += 0.02;
    }
    assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y[is_checked]),
                     YOKE_OK);
    assert_true(yoke_native_state(b.subsystem, b.state)->t == t);
    assert_ptr_equal(yoke_native_model(b.subsystem), &b.model);
    close_bench(&b);
  }
  assert_memory_equal(y[0], y[1], sizeof y[0]);
}

static void checked_subsystem_refuses_steps_from_states_that_were_not_accepted(void **state) {
  bench b;
  wave  w;
  void *saved = NULL;
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  wrap_checked(&b);
  const yoke_subsystem *s = b.subsystem;
  assert_int_equal(yoke_subsystem_state_create(s, &saved), YOKE_OK);
  set_wave(&w, 1, 0.0, 0.1, shape[0]);
  assert_int_equal(step_over(s, b.scratch, b.state, &w.u, 0.0, 0.1, b.ctx), YOKE_E_INTERNAL);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "never started"));
  assert_int_equal(yoke_subsystem_start(s, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  yoke_subsystem_copy(s, saved, b.state);
  assert_int_equal(step_over(s, b.scratch, b.state, &w.u, 0.0, 0.1, b.ctx), YOKE_OK);
  assert_int_equal(step_over(s, b.scratch, b.state, &w.u, 0.1, 0.1, b.ctx), YOKE_E_INTERNAL);
  assert_non_null(strstr(yoke_context_message(b.ctx, 1), "'left'"));
  yoke_subsystem_accept(s, b.state);
  assert_int_equal(step_over(s, b.scratch, b.state, &w.u, 0.2, 0.1, b.ctx), YOKE_E_INTERNAL); /* gap in time */
  yoke_subsystem_copy(s, b.state, saved);
  assert_int_equal(step_over(s, b.scratch, b.state, &w.u, 0.0, 0.1, b.ctx), YOKE_OK);
  yoke_subsystem_state_destroy(s, &saved);
  close_bench(&b);
}

static void checked_subsystem_refuses_inputs_that_are_not_finite(void **state) {
  const double u[3] = {1.0, (double)NAN, 0.0};
  bench        b;
  wave         w;
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  wrap_checked(&b);
  set_wave(&w, 1, 0.0, 0.1, u);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_NON_FINITE);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "'left': input 0"));
  close_bench(&b);
}

/* A subsystem that breaks the contract on demand: its step counts calls outside its state, or its output is not finite. */
typedef struct rogue {
  int  calls;
  bool forgets_its_state, is_infinite;
} rogue;

static void rogue_destroy(yoke_subsystem *s) {
  yoke_subsystem_free(s);
}

static yoke_status rogue_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                               yoke_context *ctx) {
  (void)s, (void)scratch, (void)u, (void)ctx;
  *(double *)state = t;
  return YOKE_OK;
}

static yoke_status rogue_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                              yoke_step_request *request, yoke_context *ctx) {
  rogue *r = s->self;
  (void)scratch, (void)u, (void)ctx;
  *(double *)state = request->t_end + (r->forgets_its_state ? 1e-15 * ++r->calls : 0.0);
  return YOKE_OK;
}

static yoke_status rogue_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                yoke_side side, double *y) {
  const rogue *r = s->self;
  (void)scratch, (void)u, (void)side;
  y[0] = r->is_infinite ? (double)INFINITY : *(const double *)state;
  return YOKE_OK;
}

static yoke_status rogue_copy(const yoke_subsystem *s, void *dst, const void *src) {
  memcpy(dst, src, s->state_size);
  return YOKE_OK;
}

static const yoke_repeat_ops rogue_repeat = {.copy = rogue_copy};

static const yoke_subsystem_ops rogue_ops = {.kind    = "rogue",
                                             .destroy = rogue_destroy,
                                             .start   = rogue_start,
                                             .step    = rogue_step,
                                             .output  = rogue_output,
                                             .repeat  = &rogue_repeat};

static void make_rogue(bench *b, rogue *r) {
  open_bench(b, "dopri5");
  yoke_subsystem *s = NULL;
  assert_int_equal(yoke_subsystem_new(NULL, "rogue", 1, &s), YOKE_OK);
  s->ops        = &rogue_ops;
  s->self       = r;
  s->ny         = 1;
  s->state_size = s->scratch_size = 64;
  b->subsystem                    = s;
}

/* Status of the first step that fails, at most 20. */
static yoke_status run_rogue(bench *b) {
  yoke_status status = yoke_subsystem_start(b->subsystem, b->scratch, b->state, 0.0, NULL, b->ctx);
  for (int n = 0; n < 20 && status == YOKE_OK; ++n) {
    status = step_over(b->subsystem, b->scratch, b->state, NULL, n, 1.0, b->ctx);
    yoke_subsystem_accept(b->subsystem, b->state);
  }
  return status;
}

static void checked_subsystem_finds_steps_that_cannot_be_repeated(void **state) {
  rogue honest = {0}, forgetful = {.forgets_its_state = true};
  bench b;
  (void)state;
  make_rogue(&b, &honest);
  wrap_checked(&b);
  assert_int_equal(run_rogue(&b), YOKE_OK);
  close_bench(&b);
  make_rogue(&b, &forgetful);
  wrap_checked(&b);
  assert_int_equal(run_rogue(&b), YOKE_E_SUBSYSTEM);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "'rogue'"));
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "not repeatable"));
  close_bench(&b);
}

static void output_that_is_not_finite_is_an_error(void **state) {
  rogue  r = {.is_infinite = true};
  bench  b;
  double y[1];
  (void)state;
  make_rogue(&b, &r);
  make_task(&b);
  assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, NULL, YOKE_SIDE_LEFT, y), YOKE_NON_FINITE);
  close_bench(&b);
  make_rogue(&b, &r);
  wrap_checked(&b);
  assert_int_equal(run_rogue(&b), YOKE_NON_FINITE);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "output 0"));
  close_bench(&b);
}

/* A step may take what it was asked for, and twenty times what the steps before took. */
static void a_step_that_takes_far_more_work_than_those_before_is_given_up(void **state) {
  static const struct {
    int         n_before;
    int64_t     most;
    yoke_status status;
  } rows[]       = {{0, 0, YOKE_OK}, {0, 1, YOKE_E_UNSTABLE}, {0, 10000, YOKE_OK}, {1, 1, YOKE_OK}};
  const double H = 1.0;
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    bench b;
    wave  w;
    make_half(&b, &force_half, "dopri5", false);
    make_task(&b);
    double t = b.model.t_start;
    set_wave(&w, 1, t, H, shape[0]);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, t, &w.u, b.ctx), YOKE_OK);
    for (int n = 0; n < rows[k].n_before; ++n) {
      assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, t, H, b.ctx), YOKE_OK);
      set_wave(&w, 1, t += H, H, shape[0]);
    }
    yoke_step_request request = yoke_step_over(&w.u, t, H);
    request.most_evaluations  = rows[k].most;
    const yoke_status status  = yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &request, b.ctx);
    assert_int_equal(status, rows[k].status);
    if (status != YOKE_OK) assert_non_null(strstr(yoke_context_message(b.ctx, 0), "right-hand sides"));
    close_bench(&b);
  }
}

typedef struct journal {
  int  n;
  char lines[16][200];
} journal;

static void write_line(void *user, const char *line) {
  journal *j = user;
  if (j->n < 16) snprintf(j->lines[j->n++], sizeof j->lines[0], "%s", line);
}

static void traced_subsystem_reports_every_call(void **state) {
  journal j = {0};
  bench   b;
  wave    w;
  double  y[4];
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  yoke_subsystem *inner = b.subsystem;
  assert_int_equal(yoke_subsystem_traced(b.ctx, inner, (yoke_log){write_line, &j}, &b.subsystem), YOKE_OK);
  wrap_checked(&b); /* wrappers around wrappers */
  set_wave(&w, 1, 0.0, 0.25, shape[0]);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &w.u, 0.0, 0.25, b.ctx), YOKE_OK);
  yoke_subsystem_accept(b.subsystem, b.state);
  assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y), YOKE_OK);
  assert_true(j.n == 5);
  assert_string_equal(j.lines[0], "start left t = 0, status = YOKE_OK");
  assert_string_equal(j.lines[1], "step left t = 0, H = 0.25, status = YOKE_OK");
  assert_string_equal(j.lines[2], "output left status = YOKE_OK"); /* asked for by the check */
  assert_string_equal(j.lines[3], "accept left");
  assert_string_equal(j.lines[4], "output left status = YOKE_OK");
  assert_ptr_equal(yoke_native_model(b.subsystem), &b.model);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_with_a_force_equals_its_hand_written_equations),
      cmocka_unit_test(half_with_a_ghost_equals_its_hand_written_equations),
      cmocka_unit_test(rounding_of_an_input_that_was_large_is_no_jump),
      cmocka_unit_test(f32_a_kink_of_an_input_costs_nothing_and_a_jump_one_evaluation),
      cmocka_unit_test(guided_point_moves_as_it_is_told_with_every_solver),
      cmocka_unit_test(response_of_guided_rows_shows_reactions_as_differences_do),
      cmocka_unit_test(guided_joint_that_cannot_follow_is_refused_with_names),
      cmocka_unit_test(step_after_restore_has_the_same_bits),
      cmocka_unit_test(step_from_another_time_is_refused),
      cmocka_unit_test(counters_show_the_work_of_the_integrator),
      cmocka_unit_test(integrator_without_copies_makes_a_subsystem_without_copies),
      cmocka_unit_test(chain_without_integrals_is_fast_and_agrees),
      cmocka_unit_test(outputs_behind_a_step_have_the_bits_of_a_new_evaluation),
      cmocka_unit_test(tip_of_a_pendulum_moves_on_its_circle),
      cmocka_unit_test(compliance_is_the_response_of_the_constrained_body),
      cmocka_unit_test(compliance_of_a_ghost_is_that_of_its_spring),
      cmocka_unit_test(response_to_a_copy_is_the_slope_of_the_law),
      cmocka_unit_test(redundant_joints_are_no_obstacle),
      cmocka_unit_test(results_do_not_depend_on_the_exec_backend),
      cmocka_unit_test(checked_subsystem_gives_the_same_outputs),
      cmocka_unit_test(checked_subsystem_refuses_steps_from_states_that_were_not_accepted),
      cmocka_unit_test(checked_subsystem_refuses_inputs_that_are_not_finite),
      cmocka_unit_test(checked_subsystem_finds_steps_that_cannot_be_repeated),
      cmocka_unit_test(output_that_is_not_finite_is_an_error),
      cmocka_unit_test(a_step_that_takes_far_more_work_than_those_before_is_given_up),
      cmocka_unit_test(traced_subsystem_reports_every_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
