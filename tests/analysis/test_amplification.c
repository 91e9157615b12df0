/* The engine's amplification matrix against the closed-form recurrences, for every combination of the lists: schemes, sequences, formulations,
 * decompositions, extensions, feed-through, indices, predictors and degrees. Both describe the same method and share no code, so their
 * spectral radii agree to rounding. A formulation that is new in its list takes part without an edit here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/recurrence.h"
#include "analysis/spectrum.h"
#include "analysis/stability.h"
#include "coupling/scheme.h"

static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                             "displacement/displacement"};
static const char *const extensions[]     = {"none", "d", "i"};
static const char *const predictors[]     = {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"};

typedef struct tally {
  int    compared, refused, different, missing;
  double off;        /* largest deviation, relative */
  char   text[4096]; /* what went wrong, the first few */
} tally;

/* Two masses with nothing equal, so that sides cannot be mixed up. */
static yoke_test_model test_model(yoke_test_model_kind kind) {
  yoke_test_model m = yoke_test_model_default(kind);
  m.H               = 0.02;
  m.m[0]            = 1.0;
  m.m[1]            = 2.5;
  m.c[0]            = 900.0;
  m.c[1]            = 1300.0;
  m.d[0]            = 7.0;
  m.d[1]            = 11.0;
  m.cc              = 700.0;
  m.dc              = 5.0;
  return m;
}

static const char *truth(bool value) {
  return value ? "true" : "false";
}

static void write_sets(const yoke_test_model *m, const yoke_test_method *k, char *out, size_t size) {
  const bool is_rigid = m->kind == YOKE_TWO_MASS_RIGID;
  int        n        = snprintf(
                    out, size,
                    "parameters.m1=%.17g;parameters.m2=%.17g;parameters.c1=%.17g;parameters.c2=%.17g;parameters.d1=%.17g;parameters."
                                  "d2=%.17g;"
                                  "cosimulation.step=%.17g;cosimulation.order=%d;cosimulation.scheme=%s;cosimulation.sequence=%s;cosimulation."
                                  "predictor=%s;"
                                  "cosimulation.update=%s;cosimulation.final_update=%s;cosimulation.couplings.decomposition=%s;"
                                  "cosimulation.couplings.formulation=%s;cosimulation.couplings.extension=%s;cosimulation.couplings.feedthrough=%s",
                    m->m[0], m->m[1], m->c[0], m->c[1], m->d[0], m->d[1], m->H, k->order, k->scheme,
      k->gauss_seidel ? "gauss-seidel" : "jacobi", predictors[k->predictor], truth(k->update), truth(k->final_update),
                    decompositions[k->decomposition], k->formulation, extensions[k->extension], truth(k->feedthrough));
  if (!is_rigid) n += snprintf(out + n, size - (size_t)n, ";parameters.cc=%.17g;parameters.dc=%.17g", m->cc, m->dc);
  const bool is_baumgarte = strcmp(k->formulation, "baumgarte") == 0,
             is_weighted  = strcmp(k->formulation, "weighted") == 0;
  if (is_baumgarte || is_weighted)
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.index=%d", k->index);
  if (is_baumgarte && k->beta > 0.0) {
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.beta=%.17g;cosimulation.couplings.gamma=%.17g",
                  k->beta, k->gamma);
  } else if (is_baumgarte) {
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.mu=%.17g", k->mu);
  }
  if (strcmp(k->formulation, "stabilized-index-2-mu") == 0)
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.relaxation=%.17g", k->relaxation);
  if (strcmp(k->formulation, "stabilized-index-1") == 0)
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.nodes=[%.17g, %.17g]", k->nodes[0], k->nodes[1]);
  if (is_weighted)
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.a=%.17g;cosimulation.couplings.b=%.17g", k->a,
                  k->b);
  if (strcmp(k->scheme, "waveform") == 0) /* as far as it converges */
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.corrector={rtol: 1e-14, atol: 1e-14, max_iterations: 200}");
  assert_true(n < (int)size);
}

static void write_kinematic_sets(const yoke_test_model *m, const yoke_test_method *k, char *out, size_t size) {
  static const char *const forces[]  = {"exact", "reduced", "approximate"};
  static const char *const motions[] = {"same", "derivative"};
  static const char *const outputs[] = {"parallel", "current", "sequential", "held"};
  const int                n         = snprintf(
                             out, size,
                             "parameters.m_R=%.17g;parameters.m_Fco=%.17g;parameters.m_Fin=%.17g;parameters.c_R=%.17g;parameters.c_F=%.17g;"
                                                    "parameters.d_R=%.17g;parameters.d_F=%.17g;cosimulation.step=%.17g;cosimulation.couplings.force=%s;"
                                                    "cosimulation.couplings.motion=%s;cosimulation.couplings.outputs=%s;cosimulation.couplings.order_force=%d;"
                                                    "cosimulation.couplings.order_motion=%d",
                             m->m_R, m->m_Fco, m->m_Fin, m->c_R, m->c_F, m->d_R, m->d_F, m->H, forces[k->force], motions[k->motion],
                             outputs[k->outputs], k->order_force, k->order_motion);
  assert_true(n < (int)size);
}

static bool engine_radius(const yoke_test_model *m, const yoke_test_method *k, double *rho) {
  static const char *const files[] = {
      [YOKE_TWO_MASS]           = "examples/two-mass.yaml",
      [YOKE_TWO_MASS_RIGID]     = "examples/two-mass-rigid.yaml",
      [YOKE_KINEMATIC_TWO_MASS] = "examples/kinematic-two-mass.yaml",
  };
  char            sets[2 * COSIM_TEXT];
  cosim           c;
  yoke_stability *s = NULL;
  if (m->kind == YOKE_KINEMATIC_TWO_MASS) {
    write_kinematic_sets(m, k, sets, sizeof sets);
  } else {
    write_sets(m, k, sets, sizeof sets);
  }
  yoke_status status = cosim_load(&c, files[m->kind], sets);
  if (status == YOKE_OK) status = yoke_stability_create(c.ctx, c.model, 0, &s);
  yoke_stability_point point;
  if (status == YOKE_OK) {
    assert_false(yoke_stability_is_linearized(s));
    assert_int_equal(yoke_stability_at(s, 0.0, &point, c.ctx), YOKE_OK);
    *rho = point.rho;
  }
  yoke_stability_destroy(&s);
  cosim_close(&c);
  return status == YOKE_OK;
}

/* The one combination that has a closed form but that the engine does not run: inputs are given beforehand. */
static bool is_refused(const yoke_test_method *k) {
  return k->predictor == YOKE_PREDICTOR_ACCELERATION && k->gauss_seidel;
}

static void note(tally *t, const yoke_test_method *k, const char *what, double engine, double oracle) {
  const size_t used = strlen(t->text);
  snprintf(t->text + used, sizeof t->text - used,
           "%s%s %s %s %s%s order %d index %d %s update %d final %d: %s %.15g, %.15g\n", k->scheme,
           k->gauss_seidel ? " gauss-seidel" : "", k->formulation, decompositions[k->decomposition],
           extensions[k->extension], k->feedthrough ? " feedthrough" : "", k->order, k->index, predictors[k->predictor],
           k->update, k->final_update, what, engine, oracle);
}

static void compare(const yoke_test_model *m, const yoke_test_method *k, tally *t) {
  double     engine = NAN, oracle = NAN;
  const bool has_oracle = yoke_recurrence_radius(NULL, m, k, &oracle) == YOKE_OK;
  if (!has_oracle && k->order != 1) return; /* not defined: one degree shows that the engine agrees */
  const bool has_engine = engine_radius(m, k, &engine);
  t->compared += has_engine && has_oracle;
  t->refused += !has_engine;
  if (has_engine && has_oracle && engine != oracle) t->off = fmax(t->off, fabs(engine - oracle) / fmax(1.0, oracle));
  if (has_engine != has_oracle && !(has_oracle && is_refused(k))) {
    ++t->missing;
    note(t, k, "defined for one only: engine, oracle", engine, oracle);
  } else if (has_engine && has_oracle && !(fabs(engine - oracle) <= 1e-9 * fmax(1.0, oracle)) && engine != oracle) {
    ++t->different;
    note(t, k, "engine, oracle", engine, oracle);
  }
}

static void finish(const tally *t, int least) {
  print_message("%d combinations compared, largest deviation %.2g; %d refused\n", t->compared, t->off, t->refused);
  if (t->different + t->missing > 0)
    fail_msg("%d differ, %d are defined for one only:\n%s", t->different, t->missing, t->text);
  assert_true(t->compared >= least);
}

/* All degrees of a combination, with the settings that matter for it. */
static void compare_degrees(const yoke_test_model *m, yoke_test_method k, tally *t) {
  const bool accelerates = k.predictor >= YOKE_PREDICTOR_ACCELERATION;
  for (k.order = 0; k.order <= YOKE_LAYOUT_MAX_DEGREE; ++k.order) {
    k.order_acceleration  = k.order;
    k.samples             = 8;
    k.acceleration_weight = k.order == 0 ? 1.0 / 2.0 : 1.0 / 6.0;
    for (int update = 0; update < 2; ++update) {
      if (update != accelerates && !accelerates) continue;
      for (int final = 0; final < 2; ++final) {
        if (final == 0 && !k.feedthrough && (k.order > 2 || m->kind == YOKE_TWO_MASS_RIGID))
          continue; /* it only matters with feed-through */
        k.update       = update == 1;
        k.final_update = final == 1;
        compare(m, &k, t);
      }
    }
  }
}

static void two_mass_radii_are_those_of_the_recurrences(void **state) {
  (void)state;
  const yoke_test_model m = test_model(YOKE_TWO_MASS);
  tally                 t = {0};
  for (int f = 0; f < yoke_formulation_n(); ++f) {
    if (yoke_formulation_at(f)->for_joints || yoke_formulation_at(f)->for_signals) continue;
    if (yoke_formulation_at(f)->overlap != NULL) continue; /* halos hold both masses: test_overlap_bodies.c */
    for (int s = 0; s < yoke_scheme_n(); ++s) {
      for (int i = 0; i < 2 * 4 * 3 * 2 * 4; ++i) {
        yoke_test_method k = yoke_test_method_default();
        k.formulation      = yoke_formulation_at(f)->name;
        k.scheme           = yoke_scheme_at(s)->traits.name;
        k.gauss_seidel     = i % 2 == 1;
        k.decomposition    = (yoke_decomposition)(i / 2 % 4);
        k.extension        = (yoke_extension)(i / 8 % 3);
        k.feedthrough      = i / 24 % 2 == 1;
        k.predictor        = (yoke_predictor)(i / 48);
        if (k.gauss_seidel && !yoke_scheme_at(s)->can_sequence) continue;
        compare_degrees(&m, k, &t);
      }
    }
  }
  finish(&t, 1272);
}

/* Parameters of the formulations for rigid joints that are neither the defaults nor in a simple ratio. */
static void set_other_parameters(double H, yoke_test_method *k) {
  k->beta       = 1.7 * H;
  k->gamma      = 0.9 * H * H;
  k->a          = 0.6;
  k->b          = 2.2;
  k->relaxation = 0.7;
  k->nodes[0]   = 0.25;
  k->nodes[1]   = 0.6;
}

static void two_mass_rigid_radii_are_those_of_the_recurrences(void **state) {
  (void)state;
  const yoke_test_model m = test_model(YOKE_TWO_MASS_RIGID);
  tally                 t = {0};
  for (int f = 0; f < yoke_formulation_n(); ++f) {
    if (!yoke_formulation_at(f)->for_joints || strcmp(yoke_formulation_at(f)->name, "kinematic") == 0) continue;
    for (int s = 0; s < yoke_scheme_n(); ++s) {
      const bool has_index = strcmp(yoke_formulation_at(f)->name, "baumgarte") == 0 ||
                             strcmp(yoke_formulation_at(f)->name, "weighted") == 0;
      for (int i = 0; i < 4 * 3 * 2 * (has_index ? 3 : 1); ++i) {
        yoke_test_method k = yoke_test_method_default();
        k.formulation      = yoke_formulation_at(f)->name;
        k.scheme           = yoke_scheme_at(s)->traits.name;
        k.decomposition    = (yoke_decomposition)(i % 4);
        k.extension        = (yoke_extension)(i / 4 % 3);
        k.index            = 1 + i / 24;
        k.mu               = 1.25;
        k.a                = 1.5;
        k.b                = 0.75;
        if (i / 12 % 2 == 1) set_other_parameters(m.H, &k);
        compare_degrees(&m, k, &t);
      }
    }
  }
  finish(&t, 453);
}

/* Schneider's two masses with other masses; degrees of force and motion, forms of the force, when outputs are taken. */
static void kinematic_radii_are_those_of_the_recurrences(void **state) {
  (void)state;
  yoke_test_model m = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
  tally           t = {0};
  m.H               = 0.03;
  m.m_Fco           = 0.7;
  m.m_Fin           = 0.6;
  for (int i = 0; i < 3 * 2 * 4 * 4 * 4 * 2; ++i) {
    yoke_test_method k = yoke_test_method_default();
    k.scheme           = "explicit";
    k.formulation      = "kinematic";
    k.force            = (yoke_test_force)(i % 3);
    k.motion           = (yoke_test_motion)(i / 3 % 2);
    k.outputs          = (yoke_test_outputs)(i / 6 % 4);
    k.order_force      = i / 24 % 4;
    k.order_motion     = i / 96 % 4;
    m.m_R              = i / 384 == 0 ? 4.0 : 0.4; /* the prescribing side heavier, and lighter */
    k.order            = 1;
    compare(&m, &k, &t);
  }
  finish(&t, 768);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_mass_radii_are_those_of_the_recurrences),
      cmocka_unit_test(two_mass_rigid_radii_are_those_of_the_recurrences),
      cmocka_unit_test(kinematic_radii_are_those_of_the_recurrences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
