/* Every formulation of rigid joints with every decomposition, index, degree, scheme and joint kind, and with the ends of rods, cables and linear
 * bodies, generated from the lists of the program: the run holds at macro points what the formulation names (yoke_joint_form), or it is refused before with a reason. A
 * formulation that is new in its list takes part without an edit here. Then, per joint kind, the orders of the formulations. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../sample.h"
#include "coupling/scheme.h"
#include "flexible_models.h"
#include "joint_models.h"
#include "levels.h"

/* ---- every combination ---- */

static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                             "displacement/displacement"};
enum { MAX_INDEX = 3, MAX_DEGREE = 5 };

typedef struct combination {
  const yoke_formulation_ops *formulation;
  const yoke_scheme_ops      *scheme;
  int                         decomposition, index, degree; /* index 0: not given */
} combination;

typedef enum verdict { REFUSED, VALID, OPEN } verdict;

enum { SEMI_IMPLICIT = 1, IMPLICIT = 2, EXPLICIT = 4 };

/* What the sources allow. Formulations without a row here are judged by what they do: OPEN. */
typedef struct allowed {
  const char *name;
  int         index;          /* the only one; 0: all; NO_INDEX: none may be given */
  unsigned    degrees;        /* bits */
  unsigned    decompositions; /* bits, of the list above */
  unsigned    schemes;        /* bits */
} allowed;

enum { NO_INDEX = -1 };

static const allowed rules[] = {{"stabilized-index-2", 2, 7, 1, SEMI_IMPLICIT | IMPLICIT},
                                {"stabilized-index-1", 1, 11, 1, SEMI_IMPLICIT | IMPLICIT},
                                {"stabilized-index-2-mu", 2, 7, 1, SEMI_IMPLICIT | IMPLICIT},
                                {"baumgarte", 0, 63, 7, SEMI_IMPLICIT | IMPLICIT},
                                {"weighted", 0, 63, 7, SEMI_IMPLICIT},
                                {"projection", 1, 63, 15, SEMI_IMPLICIT | IMPLICIT},
                                {"kinematic", NO_INDEX, 63, 1, EXPLICIT}};

static const allowed *rule_of(const combination *c) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
    if (strcmp(rules[i].name, c->formulation->name) == 0) return &rules[i];
  }
  return NULL;
}

static unsigned scheme_bit(const char *scheme) {
  return strcmp(scheme, "semi-implicit") == 0 ? SEMI_IMPLICIT
         : strcmp(scheme, "implicit") == 0    ? IMPLICIT
         : strcmp(scheme, "explicit") == 0    ? EXPLICIT
                                              : 0u;
}

static verdict expected(const combination *c) {
  const allowed *rule = rule_of(c);
  if (rule == NULL) return OPEN;
  if ((rule->schemes & scheme_bit(c->scheme->traits.name)) == 0) return REFUSED;
  if (rule->index != 0 && c->index != 0 && c->index != rule->index) return REFUSED;
  if ((rule->degrees >> c->degree & 1u) == 0) return REFUSED;
  return (rule->decompositions >> c->decomposition & 1u) != 0 ? VALID : REFUSED;
}

/* Does the index that is not given stand for one that is? */
static bool is_repetition(const combination *c) {
  const allowed *rule = rule_of(c);
  return c->index == 0 && !(rule != NULL && rule->index == NO_INDEX);
}

/* Where a joint is. */
typedef struct place {
  int    joint; /* of `joints`, or of `flexible_joints` */
  bool   plane, flexible;
  double step; /* of the macro grid */
} place;

static void write_sets(const combination *c, const place *at, char *out, size_t size) {
  const int n =
      snprintf(out, size,
               "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.step=%g;"
               "cosimulation.couplings.formulation=%s;cosimulation.couplings.decomposition=%s",
               c->scheme->traits.name, c->degree, at->step, c->formulation->name, decompositions[c->decomposition]);
  if (c->index > 0) snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.index=%d", c->index);
}

static bool warns(const cosim *run) {
  for (size_t i = 0; i < yoke_context_n_messages(run->ctx); ++i) {
    if (strstr(yoke_context_message(run->ctx, i), "not zero-stable") != NULL) return true;
  }
  return false;
}

static unsigned held_levels(const cosim *run) {
  const yoke_wire *wire = &run->plan->wires[0];
  return wire->formulation->joint != NULL ? wire->formulation->joint->holds(wire->self) : 0u;
}

/* After a few steps, two of them at the full degree: NULL, or what is wrong. One Newton correction leaves what is nonlinear in the joint; levels that the
 * formulation does not hold stay small; both only as long as it is zero-stable. */
static const char *check_run(const combination *c, const place *at, cosim *run, char *text, size_t size) {
  static const double to_tolerance[YOKE_JOINT_LEVELS] = {1e-11, 1e-9, 1e-7};
  static const double one_newton[YOKE_JOINT_LEVELS]   = {1e-6, 1e-4, 1e-2};
  static const double loose[YOKE_JOINT_LEVELS]        = {1e-2, 1.0, HUGE_VAL};
  const bool          full                            = strcmp(c->scheme->traits.name, "implicit") == 0;
  const bool          quiet                           = !warns(run);
  const unsigned      holds                           = held_levels(run);
  levels              l                               = {.c = run};
  if (cosim_run(run, at->step * (c->degree + 2), look_at_levels, &l) != YOKE_OK)
    return at->flexible && !quiet && c->degree > 2 ? NULL : "the run failed"; /* it has diverged, as it was told */
  for (int i = 0; i < YOKE_JOINT_LEVELS; ++i) {
    const bool   held  = (holds >> i & 1u) != 0;
    const double bound = held ? (full ? to_tolerance[i] : one_newton[i]) : loose[i];
    if (l.largest[i] <= bound || (!quiet && !(held && full))) continue;
    snprintf(text, size, "level %d is %.3g, allowed %.3g", i, l.largest[i], bound);
    return text;
  }
  if (full && quiet && !(run->summary.macro.residual <= 1e-7)) {
    snprintf(text, size, "the conditions are left with %.3g", run->summary.macro.residual);
    return text;
  }
  return NULL;
}

static const char *check_refusal(const cosim *run, char *text, size_t size) {
  if (yoke_context_n_messages(run->ctx) == 0 || strlen(yoke_context_message(run->ctx, 0)) < 40)
    return "refused without a reason";
  if (run->status == YOKE_E_MODEL || run->status == YOKE_E_USAGE) return NULL;
  snprintf(text, size, "refused with %s", yoke_status_name(run->status));
  return text;
}

/* All kinds in space, those that planar bodies can have, and flexible bodies. */
enum { MAX_PLACES = 2 * N_JOINTS + N_FLEXIBLE_JOINTS };
static int list_places(place out[MAX_PLACES]) {
  int n = 0;
  for (int j = 0; j < N_JOINTS; ++j) out[n++] = (place){.joint = j, .step = 5e-3};
  for (int j = 0; j < N_JOINTS; ++j) {
    if (joints[j].in_plane) out[n++] = (place){.joint = j, .plane = true, .step = 5e-3};
  }
  for (int j = 0; j < N_FLEXIBLE_JOINTS; ++j) out[n++] = (place){.joint = j, .flexible = true, .step = 5e-4};
  return n;
}

/* A flexible body moves as it does in the model as a whole: NULL, or what is wrong. Large degrees that were warned of grow in every step. */
static const char *check_motion(const combination *c, const place *at, const cosim *run, char *text, size_t size) {
  static double exact[N_FLEXIBLE_JOINTS][MAX_DEGREE + 1][N_FLEXIBLE_STATES]; /* of runs that were made already */
  static double acceleration[N_FLEXIBLE_JOINTS][MAX_DEGREE + 1];             /* of the ball; 0: of no run yet */
  double       *z = exact[at->joint][c->degree], *a = &acceleration[at->joint][c->degree], found[N_FLEXIBLE_STATES];
  if (c->degree > 2 && warns(run)) return NULL;
  if (*a == 0.0) {
    cosim whole = cosim_done_monolithic(flexible_joints[at->joint].model, NULL, at->step * (c->degree + 2));
    flexible_states(&whole, z);
    *a = hypot(hypot(cosim_value(&whole, "ball.ax"), cosim_value(&whole, "ball.ay")), cosim_value(&whole, "ball.az"));
    cosim_close(&whole);
  }
  flexible_states(run, found);
  /* m and m/s; it gets to some 5 cm/s. What is held over a step, which the kinematic coupling does with degree 0, is one step behind: off by a H. */
  const bool   is_held = scheme_bit(c->scheme->traits.name) == EXPLICIT && c->degree == 0;
  const double error = distance(N_FLEXIBLE_STATES, found, z), bound = is_held ? *a * at->step + 5e-5 : 5e-5;
  snprintf(text, size, "%.3g from the model as a whole, allowed %.3g", error, bound);
  return error <= bound ? NULL : text;
}

typedef struct tally {
  int stride; /* of combinations and joints; sample.h */
  int n_met, n_ran, n_refused, n_wrong;
} tally;

/* Returns whether the combination is possible. */
static bool judge(const combination *c, const place *at, tally *t) {
  char  model[MODEL_TEXT], sets[COSIM_TEXT], text[200];
  cosim run;
  if (!at->flexible) joint_model(&joints[at->joint], at->plane, model);
  write_sets(c, at, sets, sizeof sets);
  const bool    opened  = cosim_open(&run, at->flexible ? flexible_joints[at->joint].model : model, sets) == YOKE_OK;
  const verdict wanted  = expected(c);
  const char   *problem = opened ? check_run(c, at, &run, text, sizeof text) : check_refusal(&run, text, sizeof text);
  if (opened && problem == NULL && at->flexible) problem = check_motion(c, at, &run, text, sizeof text);
  if (wanted == VALID && !opened) problem = "refused, although it is valid";
  if (wanted == REFUSED && opened) problem = "accepted, although it is invalid";
  cosim_close(&run);
  ++*(opened ? &t->n_ran : &t->n_refused);
  if (problem != NULL) {
    ++t->n_wrong;
    print_message("%s %s index %d degree %d, %s, joint %s%s: %s\n", c->formulation->name,
                  decompositions[c->decomposition], c->index, c->degree, c->scheme->traits.name,
                  at->flexible ? flexible_joints[at->joint].name : joints[at->joint].kind,
                  at->plane ? " in the plane" : "", problem);
  }
  return opened;
}

/* What is possible runs with every joint kind; refusals, the index that is not given (it stands for one that is) and degrees
 * above 2 are looked at once, with one kind after the other. */
static void judge_formulation(const yoke_formulation_ops *formulation, tally *t) {
  combination c = {.formulation = formulation};
  place       places[MAX_PLACES];
  const int   n = list_places(places);
  for (int s = 0; s < yoke_scheme_n(); ++s)
    for (c.decomposition = 0; c.decomposition < 4; ++c.decomposition)
      for (c.index = 0; c.index <= MAX_INDEX; ++c.index)
        for (c.degree = 0; c.degree <= MAX_DEGREE; ++c.degree) {
          c.scheme        = yoke_scheme_at(s);
          const int first = t->n_met++ % n;
          if (t->n_met % t->stride != 0 || !judge(&c, &places[first], t) || is_repetition(&c) || c.degree > 2) continue;
          for (int k = 1; k < n; k += t->stride) judge(&c, &places[(first + k) % n], t);
        }
}

static void every_combination_holds_what_it_names_or_is_refused(void **state) {
  (void)state;
  tally t = {.stride = sample_stride()};
  for (int f = 0; f < yoke_formulation_n(); ++f) {
    const yoke_formulation_ops *ops    = yoke_formulation_at(f);
    const tally                 before = t;
    if (!ops->for_joints) continue;
    judge_formulation(ops, &t);
    print_message("formulation %s: %d runs, %d refusals\n", ops->name, t.n_ran - before.n_ran,
                  t.n_refused - before.n_refused);
  }
  assert_true(t.n_ran > 0 && t.n_refused > 0);
  assert_int_equal(t.n_wrong, 0);
}

/* ---- orders ---- */

typedef struct method_case {
  const char *formulation;
  int         index, degree;
  int         order; /* of the states */
} method_case;

#define S2 "stabilized-index-2"
#define S1 "stabilized-index-1"
static const method_case methods[] = {
    {S2, 2, 0, 4},          {S2, 2, 1, 4},          {S2, 2, 2, 4},          {S1, 1, 0, 3},
    {S1, 1, 1, 4},          {S1, 1, 3, 4},          {"baumgarte", 1, 0, 1}, {"baumgarte", 1, 1, 2},
    {"baumgarte", 1, 2, 3}, {"baumgarte", 2, 0, 1}, {"baumgarte", 3, 0, 1},
};
enum { N_METHODS = (int)(sizeof methods / sizeof methods[0]) };

/* End state of one run. */
static void run_method(const char *model, bool plane, const method_case *m, double H, double z[MAX_STATES]) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           "cosimulation.step=%.17g;cosimulation.order=%d;cosimulation.scheme=implicit;"
           "cosimulation.couplings.formulation=%s;cosimulation.couplings.index=%d",
           H, m->degree, m->formulation, m->index);
  cosim c = cosim_done(model, sets, 0.0);
  states(&c, plane, z);
  cosim_close(&c);
}

/* The states converge at the method's order; where two powers of H cancel, that shows after further halvings only. */
static void converges(const joint_case *joint, bool plane, const method_case *m, int n, const double *exact,
                      const char *model) {
  static const double error_floor = 1e-10;
  const double        H           = m->order < 3 ? 0.01 : 0.02; /* low orders show at smaller steps */
  double              err = INFINITY, last = INFINITY, z[MAX_STATES];
  bool                shows = false;
  for (int i = 0; i < 4 && !shows; ++i) {
    run_method(model, plane, m, ldexp(H, -i), z);
    last  = err;
    err   = distance(n, z, exact);
    shows = err < error_floor || (i > 0 && log2(last / err) > m->order - 0.35);
  }
  if (!shows)
    fail_msg("%s%s, %s, index %d, degree %d: errors %g, %g", joint->kind, plane ? " in the plane" : "", m->formulation,
             m->index, m->degree, last, err);
}

static void all_methods(const joint_case *joint, bool plane) {
  char   model[MODEL_TEXT];
  double exact[MAX_STATES];
  joint_model(joint, plane, model);
  cosim     reference = cosim_done_monolithic(model, NULL, 0.0);
  const int n         = states(&reference, plane, exact);
  cosim_close(&reference);
  for (int m = 0; m < N_METHODS; ++m) converges(joint, plane, &methods[m], n, exact, model);
}

static void every_joint_in_space_converges_at_the_order_of_the_method(void **state) {
  (void)state;
  for (int j = 0; j < N_JOINTS; j += sample_stride()) all_methods(&joints[j], false);
}

static void every_joint_in_the_plane_converges_at_the_order_of_the_method(void **state) {
  (void)state;
  for (int j = 1; j < N_JOINTS; j += sample_stride()) {
    if (joints[j].in_plane) all_methods(&joints[j], true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_combination_holds_what_it_names_or_is_refused),
      cmocka_unit_test(every_joint_in_space_converges_at_the_order_of_the_method),
      cmocka_unit_test(every_joint_in_the_plane_converges_at_the_order_of_the_method),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
