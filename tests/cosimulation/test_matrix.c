/* Every scheme with every formulation, decomposition, extension, feed-through, sequence, predictor, Jacobian and degree, generated from the
 * lists of the program, on the linear two-mass oscillator with exact subsystems: it shows its global order, or it is refused before the run
 * with a reason. A formulation that is new in its list takes part without an edit here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../sample.h"
#include "coupling/formulation.h"
#include "coupling/scheme.h"
#include "flexible_models.h"
#include "two_mass.h"

static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                             "displacement/displacement"};
static const char *const extensions[]     = {"none", "d", "i"};
static const char *const sequences[]      = {"jacobi", "gauss-seidel"};
static const char *const predictors[]     = {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"};
static const char *const jacobians[]      = {"finite-difference", "analytic", "broyden", "tangent"};
enum { FORCE_FORCE, FORCE_DISPLACEMENT, DISPLACEMENT_FORCE, DISPLACEMENT_DISPLACEMENT };
enum { NONE, D, I };
enum { EXTRAPOLATION, LEAST_SQUARES, ACCELERATION, ACCELERATION_RELAXED };
enum { FINITE_DIFFERENCE, ANALYTIC, BROYDEN, TANGENT, N_JACOBIANS };
enum { MAX_ORDER = 5 };

typedef struct combination {
  const yoke_formulation_ops *formulation;
  const yoke_scheme_ops      *scheme;
  int                         decomposition, extension, sequence, predictor, jacobian, order;
  bool                        feedthrough;
} combination;

static void write_sets(const combination *c, int n_steps, char *out, size_t size) {
  snprintf(
      out, size,
      "cosimulation.scheme=%s;cosimulation.sequence=%s;cosimulation.predictor=%s;cosimulation.jacobian=%s;"
      "cosimulation.order=%d;cosimulation.start=exact;cosimulation.step=1/%d;cosimulation.couplings.formulation=%s;"
      "cosimulation.couplings.decomposition=%s;cosimulation.couplings.extension=%s;"
      "cosimulation.couplings.feedthrough=%s",
      c->scheme->traits.name, sequences[c->sequence], predictors[c->predictor], jacobians[c->jacobian], c->order,
      n_steps, c->formulation->name, decompositions[c->decomposition], extensions[c->extension],
      c->feedthrough ? "true" : "false");
}

static bool is(const combination *c, const char *scheme) {
  return strcmp(c->scheme->traits.name, scheme) == 0;
}

/* What the sources allow (design, section 2). */
static bool is_valid(const combination *c) {
  const bool has_both = c->decomposition == FORCE_DISPLACEMENT || c->decomposition == DISPLACEMENT_FORCE;
  const bool newton   = is(c, "semi-implicit") || is(c, "implicit");
  if (c->formulation->for_joints || c->formulation->for_signals)
    return false; /* the coupling of the two masses is a spring; test_constraints.c has joints, test_signals.c signals */
  if (c->formulation->overlap != NULL)
    return is(c, "explicit") && c->decomposition == FORCE_FORCE && c->extension == NONE && !c->feedthrough &&
           c->sequence == 0;
  if (c->extension != NONE && (!newton || c->order > 2 || c->feedthrough)) return false;
  if (c->feedthrough && !has_both) return false;
  if (c->sequence == 1 && newton) return false;
  if (c->predictor >= ACCELERATION && !is(c, "explicit")) return false;
  return !(c->predictor == ACCELERATION && c->sequence == 1);
}

/* Global order. `least`: it may be higher. */
static int expected_order(const combination *c, bool *least) {
  *least = c->sequence == 1;
  if (c->extension == I && c->decomposition == FORCE_FORCE) {
    /* one correction with an approximate Jacobian leaves an error of the order of the predictor */
    *least = is(c, "semi-implicit") && (c->jacobian == ANALYTIC || c->jacobian == BROYDEN);
    return *least ? c->order + 1 : c->order == 0 ? 2 : 4;
  }
  if (c->predictor == ACCELERATION) return c->order + 2; /* order_acceleration is `order` */
  /* Kraft C.2 with the weights 1/2 (order 0) and 1/6 (order 1): one order is gained */
  if (c->predictor == ACCELERATION_RELAXED && c->order <= 1 && c->sequence == 0) return c->order + 2;
  return c->order + 1;
}

/* Steps per second of the coarser run: small errors of high orders must stand clear of rounding. */
static int steps_for(const combination *c, int order) {
  static const int n_steps[] = {800, 800, 800, 400, 400, 400, 200, 400};
  if (c->predictor == ACCELERATION_RELAXED && order == 3) return 3200; /* its leading term is small */
  return is(c, "explicit") && order > 3 ? 800 : n_steps[order];
}

static yoke_status position_error(const combination *c, int n_steps, double *error) {
  char            sets[COSIM_TEXT];
  two_mass_errors e;
  const two_mass  m = two_mass_li(2.0);
  write_sets(c, n_steps, sets, sizeof sets);
  const yoke_status status = two_mass_run(&m, sets, 0.1, &e);
  *error                   = e.global[0];
  return status;
}

/* NULL: as it should be; else what is wrong. */
static const char *check_order(const combination *c, char *text, size_t size) {
  bool      least;
  double    error[2];
  const int order = expected_order(c, &least), n_steps = steps_for(c, order);
  for (int k = 0; k < 2; ++k) {
    if (position_error(c, n_steps << k, &error[k]) != YOKE_OK) return "the run failed";
  }
  if (c->formulation->overlap != NULL) { /* halos of two masses hold both, and nothing is extrapolated */
    snprintf(text, size, "errors %.3g %.3g, expected none", error[0], error[1]);
    return error[0] < 1e-10 && error[1] < 1e-10 ? NULL : text;
  }
  const double observed = log2(error[0] / error[1]);
  if (fabs(observed - order) <= 0.2 || (least && observed > order)) return NULL;
  snprintf(text, size, "order %.2f (errors %.3g %.3g), expected %d", observed, error[0], error[1], order);
  return text;
}

/* NULL: refused with a reason. */
static const char *check_refusal(const combination *c, char *text, size_t size) {
  char  sets[COSIM_TEXT];
  cosim run;
  write_sets(c, 100, sets, sizeof sets);
  const yoke_status status  = cosim_open(&run, two_mass_file, sets);
  const char       *problem = NULL;
  if (status == YOKE_OK) {
    problem = "accepted, although it is invalid";
  } else if (yoke_context_n_messages(run.ctx) == 0 || strlen(yoke_context_message(run.ctx, 0)) < 20) {
    problem = "refused without a reason";
  } else if (status != YOKE_E_MODEL && status != YOKE_E_USAGE) {
    snprintf(text, size, "refused with %s", yoke_status_name(status));
    problem = text;
  }
  cosim_close(&run);
  return problem;
}

typedef struct tally {
  int stride; /* of combinations; sample.h */
  int n_met, n_ran, n_refused, n_wrong;
} tally;

static void judge(const combination *c, tally *t) {
  char text[200];
  if (t->n_met++ % t->stride != 0) return;
  const bool  valid   = is_valid(c);
  const char *problem = valid ? check_order(c, text, sizeof text) : check_refusal(c, text, sizeof text);
  ++*(valid ? &t->n_ran : &t->n_refused);
  if (problem == NULL) return;
  ++t->n_wrong;
  print_message("%s %s extension %s%s, %s %s, predictor %s, jacobian %s, order %d: %s\n", c->formulation->name,
                decompositions[c->decomposition], extensions[c->extension], c->feedthrough ? " feedthrough" : "",
                c->scheme->traits.name, sequences[c->sequence], predictors[c->predictor], jacobians[c->jacobian],
                c->order, problem);
}

/* All of one scheme. Only corrected schemes have a Jacobian. */
static void judge_scheme(const yoke_scheme_ops *scheme, tally *t) {
  const bool newton = strcmp(scheme->traits.name, "semi-implicit") == 0 || strcmp(scheme->traits.name, "implicit") == 0;
  combination c     = {.scheme = scheme};
  for (int f = 0; f < yoke_formulation_n(); ++f) {
    c.formulation      = yoke_formulation_at(f);
    const tally before = *t;
    for (c.decomposition = 0; c.decomposition < 4; ++c.decomposition)
      for (c.extension = 0; c.extension < 3; ++c.extension)
        for (int feedthrough = 0; feedthrough < 2; ++feedthrough)
          for (c.sequence = 0; c.sequence < 2; ++c.sequence)
            for (c.predictor = 0; c.predictor < 4; ++c.predictor)
              for (c.jacobian = 0; c.jacobian < (newton ? N_JACOBIANS : 1); ++c.jacobian)
                for (c.order = 0; c.order <= MAX_ORDER; ++c.order) {
                  c.feedthrough = feedthrough == 1;
                  judge(&c, t);
                }
    print_message("formulation %s under scheme %s: %d combinations ran, %d were refused\n", c.formulation->name,
                  scheme->traits.name, t->n_ran - before.n_ran, t->n_refused - before.n_refused);
  }
}

static void every_combination_has_its_order_or_is_refused(void **state) {
  (void)state;
  tally t = {.stride = sample_stride()};
  for (int s = 0; s < yoke_scheme_n(); ++s) judge_scheme(yoke_scheme_at(s), &t);
  assert_true(t.n_ran > 0 && t.n_refused > 0);
  assert_int_equal(t.n_wrong, 0);
}

/* ---- at the ends of rods, cables and linear bodies ---- */

/* Largest error of the ball's motion at the end, against the whole: positions [m], velocities [m/s]. */
static yoke_status flexible_error(const combination *c, const char *model, int n_steps, const double *exact,
                                  double *error) {
  char   sets[COSIM_TEXT], more[COSIM_TEXT + 200];
  double z[N_FLEXIBLE_STATES];
  cosim  run;
  write_sets(c, n_steps, sets, sizeof sets);
  snprintf(more, sizeof more,
           "%s;t_end=0.03;solvers.default.kind=dop853;solvers.default.rtol=1e-13;solvers.default.atol=1e-15", sets);
  if (cosim_open(&run, model, more) == YOKE_OK) cosim_run(&run, 0.0, NULL, NULL);
  const yoke_status status = run.status;
  if (status == YOKE_OK) flexible_states(&run, z);
  if (status != YOKE_OK) cosim_print(run.ctx);
  cosim_close(&run);
  *error = 0.0;
  for (int i = 0; i < N_FLEXIBLE_STATES && status == YOKE_OK; ++i) *error = fmax(*error, fabs(z[i] - exact[i]));
  return status;
}

static void flexible_whole(const char *model, double *exact) {
  cosim run;
  assert_int_equal(cosim_open_monolithic(&run, model,
                                         "t_end=0.03;solvers.default.kind=dop853;solvers.default.rtol=1e-13;"
                                         "solvers.default.atol=1e-15"),
                   YOKE_OK);
  assert_int_equal(cosim_run(&run, 0.0, NULL, NULL), YOKE_OK);
  flexible_states(&run, exact);
  cosim_close(&run);
}

/* Steps per second of the coarser run: where the order shows, and stands clear of what the solvers leave. */
static int flexible_steps(const combination *c, int order) {
  if (c->predictor == LEAST_SQUARES && order == 2) return 16000;
  if (c->predictor == ACCELERATION && order == 3) return 4000;
  return order == 1 ? 8000 : order < 4 ? 2000 : 500;
}

/* NULL: as it should be; else what is wrong. */
static const char *check_flexible(const combination *c, const char *model, const double *exact, char *text,
                                  size_t size) {
  bool      least;
  double    error[2];
  const int order = expected_order(c, &least), n_steps = flexible_steps(c, order);
  for (int k = 0; k < 2; ++k) {
    if (flexible_error(c, model, n_steps << k, exact, &error[k]) != YOKE_OK) return "the run failed";
  }
  const double observed = log2(error[0] / error[1]);
  if (fabs(observed - order) <= 0.2 || (least && observed > order)) return NULL;
  snprintf(text, size, "order %.2f (errors %.3g %.3g), expected %d", observed, error[0], error[1], order);
  return text;
}

/* Models of one case, and their motions as a whole: its own, and the one for extension i. */
typedef struct flexible_pair {
  const char *name, *model[2];
  double      exact[2][N_FLEXIBLE_STATES];
} flexible_pair;

static flexible_pair flexible_pair_of(int kind) {
  const flexible_case *at  = &flexible_elements[kind];
  flexible_pair        out = {.name = at->name, .model = {at->model, at->at_point != NULL ? at->at_point : at->model}};
  for (int k = 0; k < 2; ++k) flexible_whole(out.model[k], out.exact[k]);
  return out;
}

/* Where it is its turn. */
static void judge_flexible(const combination *c, const flexible_pair *at, tally *t) {
  char      text[200];
  const int i = c->extension == I ? 1 : 0;
  if (!is_valid(c) || t->n_met++ % t->stride != 0) return;
  ++t->n_ran;
  const char *problem = check_flexible(c, at->model[i], at->exact[i], text, sizeof text);
  if (problem == NULL) return;
  ++t->n_wrong;
  print_message("%s, %s extension %s%s, %s %s, predictor %s, jacobian %s, order %d: %s\n", at->name,
                decompositions[c->decomposition], extensions[c->extension], c->feedthrough ? " feedthrough" : "",
                c->scheme->traits.name, sequences[c->sequence], predictors[c->predictor], jacobians[c->jacobian],
                c->order, problem);
}

/* Each takes 40 ms. */
static tally flexible_tally(void) {
  return (tally){.stride = sample_stride() > 1 ? 8 * sample_stride() : 1};
}

static void expect_all_right(const tally *t) {
  print_message("%d combinations ran\n", t->n_ran);
  assert_true(t->n_ran > 0);
  assert_int_equal(t->n_wrong, 0);
}

/* Every scheme, decomposition, extension, feed-through, sequence and degree up to two. */
static void every_combination_has_its_order_at_flexible_bodies(void **state) {
  (void)state;
  tally t = flexible_tally();
  for (int kind = 0; kind < N_FLEXIBLE_ELEMENTS; ++kind) {
    const flexible_pair at = flexible_pair_of(kind);
    combination         c  = {.formulation = yoke_formulation_find("constitutive")};
    for (int s = 0; s < yoke_scheme_n(); ++s)
      for (c.decomposition = 0; c.decomposition < 4; ++c.decomposition)
        for (c.extension = 0; c.extension < 3; ++c.extension)
          for (int feedthrough = 0; feedthrough < 2; ++feedthrough)
            for (c.sequence = 0; c.sequence < 2; ++c.sequence)
              for (c.order = 0; c.order <= 2; ++c.order) {
                c.scheme      = yoke_scheme_at(s);
                c.feedthrough = feedthrough == 1;
                judge_flexible(&c, &at, &t);
              }
  }
  expect_all_right(&t);
}

/* Every predictor, and every Jacobian of corrected schemes, with every scheme and decomposition and degrees 0 and 1. */
static void every_predictor_and_jacobian_has_its_order_at_flexible_bodies(void **state) {
  (void)state;
  tally t = flexible_tally();
  for (int kind = 0; kind < N_FLEXIBLE_ELEMENTS; ++kind) {
    const flexible_pair at = flexible_pair_of(kind);
    combination         c  = {.formulation = yoke_formulation_find("constitutive")};
    for (int s = 0; s < yoke_scheme_n(); ++s) {
      c.scheme          = yoke_scheme_at(s);
      const bool newton = is(&c, "semi-implicit") || is(&c, "implicit");
      for (c.decomposition = 0; c.decomposition < 4; ++c.decomposition)
        for (c.predictor = 0; c.predictor < 4; ++c.predictor)
          for (c.jacobian = 0; c.jacobian < (newton ? N_JACOBIANS : 1); ++c.jacobian)
            for (c.order = 0; c.order <= 1; ++c.order) judge_flexible(&c, &at, &t);
    }
  }
  expect_all_right(&t);
}

/* Wrong ones show in the passes of the implicit scheme, not in its result. */
static void jacobians_lead_to_the_solution_in_few_passes_at_flexible_bodies(void **state) {
  (void)state;
  double most[N_JACOBIANS] = {0.0};
  for (int kind = 0; kind < N_FLEXIBLE_ELEMENTS; ++kind) {
    for (int i = 0; i < 4 * N_JACOBIANS; ++i) {
      const combination c = {.formulation   = yoke_formulation_find("constitutive"),
                             .scheme        = yoke_scheme_find("implicit"),
                             .decomposition = i % 4,
                             .jacobian      = i / 4,
                             .order         = 1};
      char              sets[COSIM_TEXT];
      write_sets(&c, 500, sets, sizeof sets);
      cosim        run    = cosim_done(flexible_elements[kind].model, sets, 0.02);
      const double passes = (double)run.summary.macro.iterations / (double)run.summary.macro.steps;
      if (!(passes <= 3.1))
        fail_msg("%s, %s, jacobian %s: %.2f passes per step", flexible_elements[kind].name,
                 decompositions[c.decomposition], jacobians[c.jacobian], passes);
      most[c.jacobian] = fmax(most[c.jacobian], passes);
      cosim_close(&run);
    }
  }
  for (int k = 0; k < N_JACOBIANS; ++k) print_message("%s: at most %.2f passes per step\n", jacobians[k], most[k]);
}

/* ---- schemes against each other ---- */

static two_mass_errors run_with(const two_mass *m, const char *format, ...) {
  char    sets[COSIM_TEXT];
  va_list list;
  va_start(list, format);
  vsnprintf(sets, sizeof sets, format, list);
  va_end(list);
  two_mass_errors e;
  assert_int_equal(two_mass_run(m, sets, 0.1, &e), YOKE_OK);
  return e;
}

static void semi_implicit_implicit_and_waveform_agree_on_a_linear_model(void **state) {
  (void)state;
  static const char *const schemes[] = {"semi-implicit", "implicit", "waveform"};
  const two_mass           m         = two_mass_li(2.0);
  for (int d = 0; d < 4; ++d) {
    for (int order = 0; order <= MAX_ORDER; ++order) {
      two_mass_errors e[3];
      for (int k = 0; k < 3; ++k) {
        e[k] = run_with(&m,
                        "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.step=1/400;"
                        "cosimulation.couplings.decomposition=%s",
                        schemes[k], order, decompositions[d]);
      }
      for (int i = 0; i < 4; ++i) {
        const double size = i % 2 == 0 ? 1.0 : 30.0; /* of positions and velocities */
        CHECK_NEAR(e[1].z[i], e[0].z[i], 1e-9 * size);
        CHECK_NEAR(e[2].z[i], e[0].z[i], 1e-8 * size);
      }
    }
  }
}

static void displacement_force_is_force_displacement_seen_from_the_other_side(void **state) {
  (void)state;
  const two_mass m = {.m = {1, 2}, .c = {700, 1000, 1300}, .d = {10, 12, 14}, .z = {1, -3, 0.5, 2}};
  const two_mass n = {.m = {2, 1}, .c = {1300, 1000, 700}, .d = {14, 12, 10}, .z = {0.5, 2, 1, -3}};
  for (int s = 0; s < yoke_scheme_n(); ++s) {
    for (int x = 0; x < 3; ++x) {
      const combination c = {.formulation   = yoke_formulation_find("constitutive"),
                             .scheme        = yoke_scheme_at(s),
                             .decomposition = FORCE_DISPLACEMENT,
                             .extension     = x,
                             .order         = 2};
      if (!is_valid(&c)) continue;
      two_mass_errors   e[2];
      const char *const format = "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.step=1/400;"
                                 "cosimulation.couplings.decomposition=%s;cosimulation.couplings.extension=%s";
      e[0]                     = run_with(&m, format, c.scheme->traits.name, "force/displacement", extensions[x]);
      e[1]                     = run_with(&n, format, c.scheme->traits.name, "displacement/force", extensions[x]);
      for (int i = 0; i < 4; ++i) CHECK_NEAR(e[1].z[(i + 2) % 4], e[0].z[i], 1e-9 * (i % 2 == 0 ? 1.0 : 30.0));
    }
  }
}

/* ---- start-ups ---- */

static void every_start_keeps_the_order_up_to_degree_two(void **state) {
  (void)state;
  static const struct {
    const char *start, *scheme;
    int         max_order;
  } rows[]         = {{"ramp", "semi-implicit", 2},  {"ramp-low", "semi-implicit", 1}, {"graded", "semi-implicit", 2},
                      {"exact", "semi-implicit", 2}, {"graded", "explicit", 2},        {"exact", "explicit", 2}};
  const two_mass m = two_mass_li(2.0);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
    for (int order = 0; order <= rows[r].max_order; ++order) {
      double error[2];
      for (int k = 0; k < 2; ++k) {
        error[k] =
            run_with(&m, "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.start=%s;cosimulation.step=1/%d",
                     rows[r].scheme, order, rows[r].start, 1600 << k)
                .global[0];
      }
      CHECK_ORDER(error, 2, order + 1.0, 0.2);
    }
  }
}

/* ---- Kraft C.2 ---- */

typedef struct order_row {
  int         order_acceleration, order;
  const char *weight; /* omega; NULL: predictor acceleration */
  int         local_x, local_v, global;
} order_row;

/* acc: one above the printed table (specification, section 7 item 9). */
static const order_row order_rows[] = {
    {0, 0, "1/6", 3, 2, 1}, {0, 0, "1/2", 3, 3, 2}, {0, 1, "1/6", 4, 3, 2}, {0, 1, "1/2", 4, 3, 2},
    {1, 0, "1/6", 3, 2, 1}, {1, 0, "1/2", 3, 3, 2}, {1, 1, "1/6", 4, 4, 3}, {1, 1, "1/2", 4, 3, 2},
    {0, 0, NULL, 4, 3, 2},  {1, 1, NULL, 5, 4, 3},
};

static void acceleration_predictors_have_the_orders_of_kraft_c_2(void **state) {
  (void)state;
  const two_mass m = two_mass_li(2.0);
  for (size_t r = 0; r < sizeof order_rows / sizeof order_rows[0]; ++r) {
    for (int update = 0; update < 2; ++update) {
      const order_row *row = &order_rows[r];
      two_mass_errors  e[2];
      for (int k = 0; k < 2; ++k) {
        e[k] =
            run_with(&m,
                     "cosimulation.scheme=explicit;cosimulation.start=exact;cosimulation.step=1/%d;"
                     "cosimulation.predictor=%s;cosimulation.order=%d;cosimulation.order_acceleration=%d;"
                     "cosimulation.acceleration_weight=%s;cosimulation.update=%s",
                     1600 << k, row->weight != NULL ? "acceleration-relaxed" : "acceleration", row->order,
                     row->order_acceleration, row->weight != NULL ? row->weight : "0", update == 1 ? "true" : "false");
      }
      const double observed[3] = {log2(e[0].local[0] / e[1].local[0]), log2(e[0].local[1] / e[1].local[1]),
                                  log2(e[0].global[0] / e[1].global[0])};
      const int    expected[3] = {row->local_x, row->local_v, row->global};
      for (int i = 0; i < 3; ++i) {
        if (fabs(observed[i] - expected[i]) <= 0.2) continue;
        fail_msg("row %d update %d: order [%d] %.2f, expected %d", (int)r, update, i, observed[i], expected[i]);
      }
    }
  }
}

/* ---- feed-through ---- */

static void feed_through_with_and_without_final_update_has_order_k_plus_1(void **state) {
  (void)state;
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  const two_mass           m         = two_mass_li(2.0);
  for (int s = 0; s < 4; ++s) {
    for (int d = FORCE_DISPLACEMENT; d <= DISPLACEMENT_FORCE; ++d) {
      for (int update = 0; update < 2; ++update) {
        for (int order = 0; order <= 3; ++order) {
          double error[2];
          for (int k = 0; k < 2; ++k) {
            error[k] = run_with(&m,
                                "cosimulation.scheme=%s;cosimulation.start=exact;cosimulation.step=1/%d;"
                                "cosimulation.order=%d;cosimulation.final_update=%s;"
                                "cosimulation.couplings.decomposition=%s;cosimulation.couplings.feedthrough=true",
                                schemes[s], 800 << k, order, update == 1 ? "true" : "false", decompositions[d])
                           .global[0];
          }
          CHECK_ORDER(error, 2, order + 1.0, 0.25);
        }
      }
    }
  }
}

static void the_simplified_update_of_feed_through_differs_from_the_consistent_one(void **state) {
  (void)state;
  const two_mass    m          = two_mass_li(2.0);
  const char *const format     = "cosimulation.scheme=explicit;cosimulation.step=1/400;cosimulation.final_update=%s;"
                                 "cosimulation.couplings.decomposition=force/displacement;"
                                 "cosimulation.couplings.feedthrough=%s";
  const double      consistent = run_with(&m, format, "true", "true").z[0];
  const double      plain      = run_with(&m, format, "true", "false").z[0];
  const double      simplified = run_with(&m, format, "false", "true").z[0];
  CHECK_NEAR(consistent, plain, 1e-13);
  assert_true(fabs(simplified - plain) > 1e-6);
}

static void a_jacobian_that_no_subsystem_gives_is_refused(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_open(&c, two_mass_file, "cosimulation.jacobian=directional"), YOKE_E_MODEL);
  assert_true(yoke_context_n_messages(c.ctx) > 0);
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_combination_has_its_order_or_is_refused),
      cmocka_unit_test(every_combination_has_its_order_at_flexible_bodies),
      cmocka_unit_test(every_predictor_and_jacobian_has_its_order_at_flexible_bodies),
      cmocka_unit_test(jacobians_lead_to_the_solution_in_few_passes_at_flexible_bodies),
      cmocka_unit_test(semi_implicit_implicit_and_waveform_agree_on_a_linear_model),
      cmocka_unit_test(displacement_force_is_force_displacement_seen_from_the_other_side),
      cmocka_unit_test(every_start_keeps_the_order_up_to_degree_two),
      cmocka_unit_test(acceleration_predictors_have_the_orders_of_kraft_c_2),
      cmocka_unit_test(feed_through_with_and_without_final_update_has_order_k_plus_1),
      cmocka_unit_test(the_simplified_update_of_feed_through_differs_from_the_consistent_one),
      cmocka_unit_test(a_jacobian_that_no_subsystem_gives_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
