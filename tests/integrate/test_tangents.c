/* Tangents carried over the steps of an integrator, against closed forms and differences of whole integrations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "integrate/tangent_toys.h"
#include "integrate/tangents.h"

enum { MOST_DIRECTIONS = 8, MOST_NUMBERS = 16 };

/* ---- a run with tangents ---- */

typedef struct run {
  yoke_context          *ctx;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  yoke_tangents         *tangents;
  void                  *scratch, *room;
} run;

static yoke_integrator_options options_of(double rtol, double fixed_step) {
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol                    = rtol;
  o.atol                    = 1e-2 * rtol;
  o.fixed_step              = fixed_step;
  return o;
}

static run open_run(const char *method, const yoke_equations *e, yoke_integrator_options o, const double *q,
                    const double *v, const yoke_signal *u) {
  run r = {0};
  assert_int_equal(yoke_context_create(&r.ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(r.ctx, method, e, &o, &r.integrator), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(r.integrator, &r.state), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(r.integrator, &r.scratch), YOKE_OK);
  assert_int_equal(yoke_integrator_start(r.integrator, r.scratch, r.state, 0, q, v, u, r.ctx), YOKE_OK);
  assert_int_equal(yoke_tangents_create(r.ctx, r.integrator, &r.tangents), YOKE_OK);
  if (r.tangents != NULL) r.room = yoke_allocate(1, yoke_tangents_room(r.tangents, MOST_DIRECTIONS));
  return r;
}

static void close_run(run *r) {
  yoke_tangents_destroy(&r->tangents);
  yoke_integrator_state_destroy(&r->state);
  yoke_integrator_scratch_destroy(&r->scratch);
  yoke_integrator_destroy(&r->integrator);
  yoke_context_destroy(&r->ctx);
  free(r->room);
}

/* Steps to t with tangents (directions not NULL); the first status that is not YOKE_OK. */
static yoke_status carry(run *r, const yoke_signal *u, const yoke_directions *d, double t) {
  yoke_status status = YOKE_OK;
  if (d != NULL) status = yoke_tangents_begin(r->tangents, r->room, r->scratch, r->state, u, d);
  while (r->state->t < t) {
    assert_int_equal(yoke_integrator_step(r->integrator, r->scratch, r->state, u, t, r->ctx), YOKE_OK);
    if (d != NULL && status == YOKE_OK) {
      status = yoke_tangents_advance(r->tangents, r->room, r->scratch, r->state, u, d);
    }
  }
  return status;
}

/* (dq, dv, da, dlambda) of one direction. */
static int numbers_of(const run *r, int direction, double *out) {
  const yoke_equations   *e      = r->integrator->equations;
  const yoke_tangent_view view   = yoke_tangents_view(r->tangents, r->room);
  const double *const     list[] = {view.dq, view.dv, view.da, view.dlambda};
  const int               size[] = {e->nq, e->nv, e->nv, e->ng};
  int                     n      = 0;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < size[k]; ++i) out[n++] = list[k][i * view.n + direction];
  }
  return n;
}

static double distance(int n, const double *x, const double *y) {
  double sum = 0, size = 0;
  for (int i = 0; i < n; ++i) {
    sum += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return sqrt(sum / size);
}

/* ---- directions ---- */

/* Seven directions of two inputs on [0, t]: 1 and t of each input, two mixtures, nothing. */
typedef struct direction_list {
  yoke_directions d;
  int             direction[MOST_DIRECTIONS * 2], input[MOST_DIRECTIONS * 2];
  double          t[2], c[MOST_DIRECTIONS * 4];
} direction_list;

static void add_entry(direction_list *l, int direction, int input, double constant, double slope) {
  const int e     = l->d.n_entries++;
  l->direction[e] = direction;
  l->input[e]     = input;
  l->c[2 * e]     = constant;
  l->c[2 * e + 1] = slope;
  if (direction >= l->d.n) l->d.n = direction + 1;
}

static void close_list(direction_list *l, double t) {
  l->t[1]        = t;
  l->d.direction = l->direction;
  l->d.input     = l->input;
  l->d.du        = (yoke_signal){.n = l->d.n_entries, .n_pieces = 1, .degree = 1, .t = l->t, .c = l->c};
}

static void seven_directions(direction_list *l, double t) {
  memset(l, 0, sizeof *l);
  for (int d = 0; d < 4; ++d) add_entry(l, d, d / 2, d % 2 == 0, d % 2);
  for (int d = 4; d < 6; ++d) {
    add_entry(l, d, 0, 0.3, 2.0 * d);
    add_entry(l, d, 1, 1.0, -0.5);
  }
  add_entry(l, 6, 0, 0.0, 0.0);
  close_list(l, t);
}

/* Direction d of a list alone. */
static void one_direction(direction_list *l, const direction_list *from, int d) {
  memset(l, 0, sizeof *l);
  for (int e = 0; e < from->d.n_entries; ++e) {
    if (from->direction[e] == d) add_entry(l, 0, from->input[e], from->c[2 * e], from->c[2 * e + 1]);
  }
  close_list(l, from->t[1]);
}

static const double      times[] = {0, 10}, coefficients[] = {0.7, 0.4, -0.2, 0.9};
static const yoke_signal inputs_2 = {.n = 2, .n_pieces = 1, .degree = 1, .t = times, .c = coefficients};
static const yoke_signal input_1  = {.n = 1, .n_pieces = 1, .degree = 1, .t = times, .c = coefficients};

/* Response of toy_modes to direction d. */
static void response_of(const tangent_toy *p, const direction_list *l, int d, double t, double out[7]) {
  memset(out, 0, 7 * sizeof *out);
  for (int e = 0; e < l->d.n_entries; ++e) {
    for (int degree = 0; degree < 2 && l->direction[e] == d; ++degree) {
      double part[7];
      modes_response(p, l->input[e], degree, t, part);
      for (int i = 0; i < 7; ++i) out[i] += l->c[2 * e + degree] * part[i];
    }
  }
}

/* Largest relative error over six directions of toy_modes. */
static double modes_error(const run *r, const tangent_toy *p, const direction_list *l, double t) {
  double worst = 0;
  for (int d = 0; d < 6; ++d) {
    double numbers[MOST_NUMBERS], exact[7];
    assert_int_equal(numbers_of(r, d, numbers), 7);
    response_of(p, l, d, t, exact);
    worst = fmax(worst, distance(7, numbers, exact));
  }
  return worst;
}

static const double modes_q[] = {0.3, -0.1, 0}, modes_v[] = {0.5, 1.0};

static double modes_run_error(const char *method, const tangent_toy *p, yoke_integrator_options o, double t) {
  const yoke_equations e = toy_equations(&toy_ops, p);
  direction_list       l;
  seven_directions(&l, t);
  run r = open_run(method, &e, o, modes_q, modes_v, &inputs_2);
  assert_non_null(r.tangents);
  assert_int_equal(carry(&r, &inputs_2, &l.d, t), YOKE_OK);
  const double error = modes_error(&r, p, &l, t);
  close_run(&r);
  return error;
}

static const char *const carriers[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf"};
enum { N_CARRIERS = sizeof carriers / sizeof carriers[0] };

/* ---- facts ---- */

static void methods_with_error_control_carry_tangents_and_no_others_do(void **state) {
  (void)state;
  const tangent_toy    p = toy_modes(1, 0.1, 2, 0.1);
  const yoke_equations e = toy_equations(&toy_ops, &p);
  int                  n = 0;
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    const char *name = yoke_integrator_method_name(i);
    if (strcmp(name, "exact") == 0) continue; /* needs the matrices of a linear system */
    run  r       = open_run(name, &e, options_of(1e-6, 1e-3), modes_q, modes_v, &inputs_2);
    bool carries = false;
    for (int k = 0; k < N_CARRIERS; ++k) carries = carries || strcmp(carriers[k], name) == 0;
    assert_int_equal(r.tangents != NULL, carries);
    n += carries;
    close_run(&r);
  }
  assert_int_equal(n, N_CARRIERS);
}

static void equations_without_the_operations_have_no_tangents(void **state) {
  (void)state;
  const tangent_toy  p   = toy_modes(1, 0.1, 2, 0.1);
  yoke_equations_ops ops = toy_ops;
  ops.dae_input_jacobian = NULL;
  const yoke_equations e = toy_equations(&ops, &p);
  run                  r = open_run("dopri5", &e, options_of(1e-6, 0), modes_q, modes_v, &inputs_2);
  assert_null(r.tangents);
  close_run(&r);
}

/* abm grows its step from a tiny one, and each of its many steps may add what is allowed for one. */
static double limit_of(const char *method) {
  return strcmp(method, "abm") == 0 ? 2e-5 : 2e-6;
}

static void tangents_of_a_linear_system_are_its_response(void **state) {
  (void)state;
  const tangent_toy p = toy_modes(2, 0.05, 7, 0.02);
  for (int k = 0; k < N_CARRIERS; ++k) {
    assert_true(modes_run_error(carriers[k], &p, options_of(1e-8, 0), 0.2) < limit_of(carriers[k]));
  }
}

/* Differences of two integrations with the inputs u +- eps du of one direction. */
static int difference(const yoke_equations *e, const double *q, const double *v, const yoke_signal *u,
                      const direction_list *l, int direction, double t, double *out) {
  const double eps = 1e-4;
  double       ends[2][MOST_NUMBERS];
  int          n = 0;
  for (int side = 0; side < 2; ++side) {
    double c[4];
    memcpy(c, coefficients, sizeof c);
    for (int k = 0; k < l->d.n_entries; ++k) {
      if (l->direction[k] != direction) continue;
      for (int i = 0; i < 2; ++i) c[2 * l->input[k] + i] += (side == 0 ? eps : -eps) * l->c[2 * k + i];
    }
    yoke_signal moved = *u;
    moved.c           = c;
    run r             = open_run("dop853", e, options_of(1e-13, 0), q, v, &moved);
    (void)carry(&r, &moved, NULL, t);
    const double *const list[] = {yoke_integrator_q(r.integrator, r.state), yoke_integrator_v(r.integrator, r.state),
                                  yoke_integrator_a(r.integrator, r.state),
                                  yoke_integrator_lambda(r.integrator, r.state)};
    const int           size[] = {e->nq, e->nv, e->nv, e->ng};
    n                          = 0;
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < size[k]; ++i) ends[side][n++] = list[k][i];
    }
    close_run(&r);
  }
  for (int i = 0; i < n; ++i) out[i] = (ends[0][i] - ends[1][i]) / (2 * eps);
  return n;
}

static const double angle_q[] = {1.2}, angle_v[] = {0.4}, rod_q[] = {0.6, -0.8}, rod_v[] = {1.6, 1.2};

/* Two directions, of one input or two, against differences. */
static double difference_error(const char *method, const tangent_toy *p, double rtol, double t) {
  const bool           is_rod = p->ng > 0;
  const yoke_equations e      = toy_equations(is_rod ? &toy_joint_ops : &toy_ops, p);
  const double        *q = is_rod ? rod_q : angle_q, *v = is_rod ? rod_v : angle_v;
  const yoke_signal   *u = is_rod ? &inputs_2 : &input_1;
  direction_list       l = {0};
  add_entry(&l, 0, 0, 1, 0);
  add_entry(&l, 1, p->nu - 1, 0, 1);
  close_list(&l, t);
  run r = open_run(method, &e, options_of(rtol, 0), q, v, u);
  assert_int_equal(carry(&r, u, &l.d, t), YOKE_OK);
  double worst = 0;
  for (int d = 0; d < 2; ++d) {
    double    numbers[MOST_NUMBERS], reference[MOST_NUMBERS];
    const int n = difference(&e, q, v, u, &l, d, t, reference);
    assert_int_equal(numbers_of(&r, d, numbers), n);
    worst = fmax(worst, distance(n, numbers, reference));
  }
  close_run(&r);
  return worst;
}

static void tangents_of_a_pendulum_are_its_differences(void **state) {
  (void)state;
  for (int k = 0; k < N_CARRIERS; ++k)
    assert_true(difference_error(carriers[k], &toy_angle, 1e-8, 0.3) < limit_of(carriers[k]));
}

static void tangents_of_a_constrained_pendulum_are_its_differences(void **state) {
  (void)state;
  for (int k = 0; k < N_CARRIERS; ++k)
    assert_true(difference_error(carriers[k], &toy_rod, 1e-8, 0.3) < limit_of(carriers[k]));
}

/* As second multipliers do: rows of q' have columns of inputs, and dv may be 0. */
static void inputs_may_move_positions(void **state) {
  (void)state;
  for (int k = 0; k < N_CARRIERS; ++k) {
    assert_true(difference_error(carriers[k], &toy_slip, 1e-8, 0.3) < 1e-9);
    assert_true(difference_error(carriers[k], &toy_slider, 1e-8, 0.3) < limit_of(carriers[k]));
  }
}

/* Error of toy_modes along its first mode, fixed steps, each so short that one step of a rule is enough. */
static double first_mode_error(const char *method, const tangent_toy *p, double h) {
  const yoke_equations e = toy_equations(&toy_ops, p);
  direction_list       l = {0};
  double               numbers[MOST_NUMBERS], exact[7];
  add_entry(&l, 0, 0, mode[0][0], 0);
  add_entry(&l, 0, 1, mode[0][1], 0);
  close_list(&l, 0.6);
  const double      rest[4] = {0};
  const yoke_signal nothing = {.n = 2, .n_pieces = 1, .degree = 0, .t = times, .c = rest};
  run               r       = open_run(method, &e, options_of(1e-8, h), rest, rest, &nothing);
  assert_int_equal(carry(&r, &nothing, &l.d, 0.6), YOKE_OK);
  assert_int_equal(numbers_of(&r, 0, numbers), 7);
  response_of(p, &l, 0, 0.6, exact);
  close_run(&r);
  return distance(5, numbers, exact); /* da has rounding errors of a stiff mode */
}

/* The second mode of the other one is so stiff that the explicit rule makes its rounding errors grow: it is the implicit one that is seen. */
static void both_rules_are_of_order_four(void **state) {
  (void)state;
  const tangent_toy p[]       = {toy_modes(5, 0.1, 2, 0.02), toy_modes(5, 0.1, 3e4, 1.5)};
  const char *const methods[] = {"dopri5", "radau5"};
  const double      longest[] = {0.02, 0.024};
  for (int k = 0; k < 2; ++k) {
    double error[3];
    for (int i = 0; i < 3; ++i) error[i] = first_mode_error(methods[k], &p[k], longest[k] / (1 << i));
    for (int i = 0; i < 2; ++i) assert_true(fabs(log2(error[i] / error[i + 1]) - 4) < 0.25);
  }
}

static void stiff_parts_are_right_and_bounded(void **state) {
  (void)state;
  const tangent_toy p         = toy_modes(3, 0.1, 1e4, 1.5);
  const char *const methods[] = {"radau5", "bdf"};
  for (int k = 0; k < 2; ++k) assert_true(modes_run_error(methods[k], &p, options_of(1e-6, 0), 0.2) < 2e-6);
}

static void long_steps_are_divided(void **state) {
  (void)state;
  const tangent_toy p = toy_modes(3, 0.05, 11, 0.05);
  assert_true(modes_run_error("dop853", &p, options_of(1e-4, 0.1), 0.5) < 1e-5);
  assert_true(modes_run_error("radau5", &p, options_of(1e-4, 0.1), 0.5) < 1e-5);
}

/* Evaluations that the tangents of five steps of 0.1 s take, and their error. */
static int64_t evaluations_at(double rtol, double *error) {
  const tangent_toy       p = toy_modes(3, 0.05, 11, 0.05);
  const yoke_equations    e = toy_equations(&toy_ops, &p);
  yoke_integrator_options o = options_of(rtol, 0);
  direction_list          l;
  o.first_step = o.max_step = 0.1;
  seven_directions(&l, 0.5);
  run r = open_run("dop853", &e, o, modes_q, modes_v, &inputs_2);
  assert_int_equal(carry(&r, &inputs_2, &l.d, 0.5), YOKE_OK);
  *error               = modes_error(&r, &p, &l, 0.5);
  const int64_t needed = yoke_tangents_view(r.tangents, r.room).evaluations;
  close_run(&r);
  return needed;
}

static void tangents_of_rough_steps_are_rough_and_cheap(void **state) {
  (void)state;
  double        fine, rough;
  const int64_t most = evaluations_at(1e-8, &fine), least = evaluations_at(1e-5, &rough);
  assert_true(3 * least < most);
  assert_true(fine < 5 * 5e-6); /* every step may add its share */
  assert_true(rough < 5 * 5e-3);
}

/* F32: matrices of a corrector need not be exact. */
static void f32_rough_tangents_take_a_fraction_of_the_evaluations(void **state) {
  (void)state;
  const tangent_toy    p = toy_modes(3, 0.05, 11, 0.05);
  const yoke_equations e = toy_equations(&toy_ops, &p);
  int64_t              evaluations[2];
  for (int k = 0; k < 2; ++k) {
    double         numbers[MOST_NUMBERS], exact[7];
    direction_list l;
    seven_directions(&l, 0.5);
    l.d.tolerance = k == 0 ? 0.0 : 1e-3;
    run r         = open_run("dopri5", &e, options_of(1e-4, 0.1), modes_q, modes_v, &inputs_2);
    assert_int_equal(carry(&r, &inputs_2, &l.d, 0.5), YOKE_OK);
    evaluations[k] = yoke_tangents_view(r.tangents, r.room).evaluations;
    for (int d = 0; d < 6; ++d) {
      assert_int_equal(numbers_of(&r, d, numbers), 7);
      response_of(&p, &l, d, 0.5, exact);
      assert_true(distance(5, numbers, exact) < (k == 0 ? 1e-5 : 5e-3));
    }
    close_run(&r);
  }
  assert_true(3 * evaluations[1] <= evaluations[0]);
}

static void too_long_steps_give_no_tangents(void **state) {
  (void)state;
  const tangent_toy    p = toy_modes(3, 0, 300, 0);
  const yoke_equations e = toy_equations(&toy_ops, &p);
  direction_list       l;
  seven_directions(&l, 0.5);
  run r = open_run("radau5", &e, options_of(1e-3, 0.1), modes_q, modes_v, &inputs_2);
  assert_int_equal(carry(&r, &inputs_2, &l.d, 0.5), YOKE_NOT_CONVERGED);
  close_run(&r);
}

/* u and du are 1 up to 0.1 s, then 0. */
static void inputs_may_break_inside_the_step(void **state) {
  (void)state;
  const tangent_toy     p   = toy_modes(2, 0.05, 7, 0.02);
  const yoke_equations  e   = toy_equations(&toy_ops, &p);
  const double          t[] = {0, 0.1, 0.25}, c_u[] = {1, 0, 0, 0}, c_du[] = {1, 0};
  const int             zero[] = {0};
  const yoke_signal     u      = {.n = 2, .n_pieces = 2, .degree = 0, .t = t, .c = c_u};
  const yoke_directions d      = {.n         = 1,
                                  .n_entries = 1,
                                  .direction = zero,
                                  .input     = zero,
                                  .du        = {.n = 1, .n_pieces = 2, .degree = 0, .t = t, .c = c_du}};
  double                up[7], down[7];
  modes_response(&p, 0, 0, 0.25, up);
  modes_response(&p, 0, 0, 0.15, down);
  for (int i = 0; i < 7; ++i) up[i] -= down[i];
  for (int k = 0; k < N_CARRIERS; ++k) {
    double numbers[MOST_NUMBERS];
    run    r = open_run(carriers[k], &e, options_of(1e-8, 0), modes_q, modes_v, &u);
    assert_int_equal(carry(&r, &u, &d, 0.25), YOKE_OK);
    (void)numbers_of(&r, 0, numbers);
    assert_true(distance(7, numbers, up) < limit_of(carriers[k]));
    close_run(&r);
  }
}

/* Steps so long that directions are divided differently. */
static void a_direction_has_the_same_bits_alone_and_among_others(void **state) {
  (void)state;
  const tangent_toy    p         = toy_modes(3, 0.05, 11, 0.05);
  const yoke_equations e         = toy_equations(&toy_ops, &p);
  const char *const    methods[] = {"dop853", "radau5"};
  direction_list       all, one;
  seven_directions(&all, 0.5);
  for (int k = 0; k < 2; ++k) {
    run r = open_run(methods[k], &e, options_of(1e-5, 0), modes_q, modes_v, &inputs_2);
    assert_int_equal(carry(&r, &inputs_2, &all.d, 0.5), YOKE_OK);
    for (int d = 0; d < all.d.n; ++d) {
      double together[MOST_NUMBERS], alone[MOST_NUMBERS];
      one_direction(&one, &all, d);
      run s = open_run(methods[k], &e, options_of(1e-5, 0), modes_q, modes_v, &inputs_2);
      assert_int_equal(carry(&s, &inputs_2, &one.d, 0.5), YOKE_OK);
      const int n = numbers_of(&r, d, together);
      (void)numbers_of(&s, 0, alone);
      assert_memory_equal(together, alone, (size_t)n * sizeof *alone);
      close_run(&s);
    }
    close_run(&r);
  }
}

static void states_have_the_same_bits_with_and_without_tangents(void **state) {
  (void)state;
  const yoke_equations e = toy_equations(&toy_joint_ops, &toy_rod);
  direction_list       l;
  seven_directions(&l, 0.5);
  for (int k = 0; k < 2 * N_CARRIERS; ++k) {
    const yoke_integrator_options o    = options_of(1e-8, k % 2 == 0 ? 0 : 0.01);
    run                           with = open_run(carriers[k / 2], &e, o, rod_q, rod_v, &inputs_2),
        without                        = open_run(carriers[k / 2], &e, o, rod_q, rod_v, &inputs_2);
    assert_int_equal(carry(&with, &inputs_2, &l.d, 0.5), YOKE_OK);
    (void)carry(&without, &inputs_2, NULL, 0.5);
    const size_t head = sizeof(yoke_integrator_state);
    assert_memory_equal((char *)with.state + head, (char *)without.state + head, with.integrator->state_size - head);
    assert_int_equal(with.state->counters.evaluations, without.state->counters.evaluations);
    close_run(&with);
    close_run(&without);
  }
}

/* The size of the view, with some entries that it does not have. */
static void tell_size(const void *self, yoke_dae_form form, int *nx, int *nnz) {
  yoke_dae *dae = NULL;
  assert_int_equal(toy_ops.dae_create(self, NULL, form, &dae), YOKE_OK);
  *nx  = dae->nx;
  *nnz = dae->pattern->nnz + 13;
  yoke_dae_destroy(&dae);
}

static void auto_hands_tangents_over_when_it_changes_the_method(void **state) {
  (void)state;
  const tangent_toy  p       = toy_modes(3, 0.1, 2e3, 1.5);
  yoke_equations_ops telling = toy_ops; /* auto then makes its implicit method when it turns, and so do the tangents */
  double             error[2];
  telling.dae_size = tell_size;
  for (int i = 0; i < 2; ++i) {
    const yoke_equations e = toy_equations(i == 0 ? &toy_ops : &telling, &p);
    direction_list       l;
    seven_directions(&l, 1.0);
    run r = open_run("auto", &e, options_of(5e-7, 0), modes_q, modes_v, &inputs_2);
    assert_string_equal(yoke_integrator_method_at_work(r.integrator, r.state), "dopri5");
    assert_int_equal(r.integrator->ops->linear(r.integrator, 0) == NULL, i == 1);
    assert_int_equal(carry(&r, &inputs_2, &l.d, 1.0), YOKE_OK);
    assert_string_not_equal(yoke_integrator_method_at_work(r.integrator, r.state), "dopri5");
    error[i] = modes_error(&r, &p, &l, 1.0);
    assert_true(error[i] < 2e-6);
    close_run(&r);
  }
  assert_memory_equal(&error[0], &error[1], sizeof error[0]);
}

/* G dq = q . dq and G dv + d(G v)/dq dq = q . dv + v . dq, with projection (explicit) and without (index 1). */
static void tangents_stay_on_the_constraints_up_to_the_error_of_the_rule(void **state) {
  (void)state;
  const yoke_equations e         = toy_equations(&toy_joint_ops, &toy_rod);
  const char *const    methods[] = {"dop853", "radau5"};
  direction_list       l;
  seven_directions(&l, 0.8);
  for (int k = 0; k < 2; ++k) {
    run r = open_run(methods[k], &e, options_of(1e-8, 0), rod_q, rod_v, &inputs_2);
    assert_int_equal(carry(&r, &inputs_2, &l.d, 0.8), YOKE_OK);
    const yoke_tangent_view view = yoke_tangents_view(r.tangents, r.room);
    for (int d = 0; d < 6; ++d) {
      const double dq[] = {view.dq[d], view.dq[view.n + d]}, dv[] = {view.dv[d], view.dv[view.n + d]};
      const double size = sqrt(dot(2, dq, dq)), speed = sqrt(dot(2, dv, dv));
      assert_true(fabs(dot(2, view.q, dq)) < 1e-6 * size);
      assert_true(fabs(dot(2, view.q, dv) + dot(2, view.v, dq)) < 1e-6 * speed);
    }
    close_run(&r);
  }
}

/* A force along the rod at rest: nothing moves but by rounding errors, which no sub-steps make smaller. */
static void forces_that_a_joint_takes_move_nothing(void **state) {
  (void)state;
  const yoke_equations e      = toy_equations(&toy_joint_ops, &toy_rod);
  const double         rest[] = {0, 0}, c[] = {0, 0, 9.81, 0}; /* weight held by the input */
  const yoke_signal    u = {.n = 2, .n_pieces = 1, .degree = 1, .t = times, .c = c};
  direction_list       l = {0};
  add_entry(&l, 0, 0, 0.6, 0.3);
  add_entry(&l, 0, 1, -0.8, -0.4);
  close_list(&l, 0.2);
  const char *const methods[] = {"dop853", "radau5"};
  for (int k = 0; k < 2; ++k) {
    run r = open_run(methods[k], &e, options_of(1e-8, 0.05), rod_q, rest, &u);
    assert_int_equal(carry(&r, &u, &l.d, 0.2), YOKE_OK);
    const yoke_tangent_view view = yoke_tangents_view(r.tangents, r.room);
    assert_true(fabs(view.dq[0]) + fabs(view.dq[1]) < 1e-12);
    assert_true(fabs(view.dlambda[0] + 1.1) < 1e-10); /* q . (f + q lambda) = 0, f = 1 + 0.2 / 2 along q */
    close_run(&r);
  }
}

static void a_jump_of_a_law_gives_no_tangents(void **state) {
  (void)state;
  const yoke_equations e = toy_equations(&toy_walled_ops, &toy_angle); /* from 1.2 through 0.5 */
  direction_list       l = {0};
  add_entry(&l, 0, 0, 1, 0);
  close_list(&l, 0.8);
  run r = open_run("dopri5", &e, options_of(1e-8, 0), angle_q, angle_v, &input_1);
  assert_int_equal(carry(&r, &input_1, &l.d, 0.2), YOKE_OK);
  assert_int_equal(carry(&r, &input_1, &l.d, 0.8), YOKE_NOT_CONVERGED);
  close_run(&r);
}

static yoke_status never(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                         void *factor) {
  (void)self, (void)work, (void)t, (void)q, (void)v, (void)u, (void)factor;
  return YOKE_SINGULAR;
}

static void a_singular_position_gives_no_tangents(void **state) {
  (void)state;
  yoke_equations_ops ops = toy_joint_ops;
  ops.motion_factor      = never;
  const yoke_equations e = toy_equations(&ops, &toy_rod);
  direction_list       l;
  seven_directions(&l, 0.1);
  run r = open_run("dop853", &e, options_of(1e-8, 0), rod_q, rod_v, &inputs_2);
  assert_int_equal(carry(&r, &inputs_2, &l.d, 0.1), YOKE_SINGULAR);
  close_run(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_with_error_control_carry_tangents_and_no_others_do),
      cmocka_unit_test(equations_without_the_operations_have_no_tangents),
      cmocka_unit_test(tangents_of_a_linear_system_are_its_response),
      cmocka_unit_test(tangents_of_a_pendulum_are_its_differences),
      cmocka_unit_test(tangents_of_a_constrained_pendulum_are_its_differences),
      cmocka_unit_test(inputs_may_move_positions),
      cmocka_unit_test(both_rules_are_of_order_four),
      cmocka_unit_test(stiff_parts_are_right_and_bounded),
      cmocka_unit_test(long_steps_are_divided),
      cmocka_unit_test(tangents_of_rough_steps_are_rough_and_cheap),
      cmocka_unit_test(f32_rough_tangents_take_a_fraction_of_the_evaluations),
      cmocka_unit_test(too_long_steps_give_no_tangents),
      cmocka_unit_test(inputs_may_break_inside_the_step),
      cmocka_unit_test(a_direction_has_the_same_bits_alone_and_among_others),
      cmocka_unit_test(states_have_the_same_bits_with_and_without_tangents),
      cmocka_unit_test(auto_hands_tangents_over_when_it_changes_the_method),
      cmocka_unit_test(tangents_stay_on_the_constraints_up_to_the_error_of_the_rule),
      cmocka_unit_test(forces_that_a_joint_takes_move_nothing),
      cmocka_unit_test(a_jump_of_a_law_gives_no_tangents),
      cmocka_unit_test(a_singular_position_gives_no_tangents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
