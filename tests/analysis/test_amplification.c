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
enum { MAX_ORDER = 5 };

typedef struct tally {
  int compared, refused, engine_only, oracle_only, different;
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

static void write_sets(const yoke_test_model *m, const yoke_test_method *k, char *out, size_t size) {
  const bool rigid = m->kind == YOKE_TWO_MASS_RIGID;
  int        n =
      snprintf(out, size,
               "parameters.m1=%.17g;parameters.m2=%.17g;parameters.c1=%.17g;parameters.c2=%.17g;parameters.d1=%.17g;"
               "parameters.d2=%.17g;cosimulation.step=%.17g;cosimulation.order=%d;cosimulation.scheme=%s;"
               "cosimulation.sequence=%s;cosimulation.couplings.decomposition=%s;"
               "cosimulation.couplings.formulation=%s;cosimulation.predictor=%s",
               m->m[0], m->m[1], m->c[0], m->c[1], m->d[0], m->d[1], m->H, k->order, k->scheme,
               k->gauss_seidel ? "gauss-seidel" : "jacobi", decompositions[k->decomposition], k->formulation,
               predictors[k->predictor]);
  if (!rigid) n += snprintf(out + n, size - (size_t)n, ";parameters.cc=%.17g;parameters.dc=%.17g", m->cc, m->dc);
  n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.extension=%s;cosimulation.couplings.feedthrough=%s",
                extensions[k->extension], k->feedthrough ? "true" : "false");
  if (strcmp(k->scheme, "waveform") == 0)
    n += snprintf(out + n, size - (size_t)n, ";cosimulation.corrector.rtol=1e-14;cosimulation.corrector.atol=1e-14");
  if (k->index > 0) n += snprintf(out + n, size - (size_t)n, ";cosimulation.couplings.index=%d", k->index);
  assert_true(n < (int)size);
}

static bool engine_radius(const yoke_test_model *m, const yoke_test_method *k, double *rho) {
  char            sets[2 * COSIM_TEXT];
  cosim           c;
  yoke_stability *s = NULL;
  write_sets(m, k, sets, sizeof sets);
  const char *file   = m->kind == YOKE_TWO_MASS ? "examples/two-mass.yaml" : "examples/two-mass-rigid.yaml";
  yoke_status status = cosim_load(&c, file, sets);
  if (status == YOKE_OK) status = yoke_stability_create(c.ctx, c.model, 0, &s);
  yoke_stability_point point;
  const bool           known = status == YOKE_OK;
  if (known) assert_int_equal(yoke_stability_at(s, 0.0, &point, c.ctx), YOKE_OK);
  if (known) *rho = point.rho;
  yoke_stability_destroy(&s);
  cosim_close(&c);
  return known;
}

static void compare(const yoke_test_model *m, const yoke_test_method *k, tally *t) {
  double       engine = NAN, oracle = NAN;
  const bool   has_engine = engine_radius(m, k, &engine);
  const bool   has_oracle = yoke_recurrence_radius(NULL, m, k, &oracle) == YOKE_OK;
  const double off        = fabs(engine - oracle) / fmax(1.0, oracle);
  char         name[256];
  snprintf(name, sizeof name, "%s %s %s %s %s%s order %d index %d %s", k->scheme, k->gauss_seidel ? "gs" : "jacobi",
           k->formulation, decompositions[k->decomposition], extensions[k->extension],
           k->feedthrough ? " feedthrough" : "", k->order, k->index, predictors[k->predictor]);
  t->compared += has_engine && has_oracle;
  t->refused += !has_engine && !has_oracle;
  if (has_engine != has_oracle) {
    print_message("%s: engine %s, oracle %s\n", name, has_engine ? "yes" : "no", has_oracle ? "yes" : "no");
    t->engine_only += has_engine;
    t->oracle_only += has_oracle;
  } else if (has_engine && !(off <= 1e-9) && !(isinf(engine) && isinf(oracle))) {
    print_message("%s: engine %.15g, oracle %.15g\n", name, engine, oracle);
    ++t->different;
  }
}

static void sweep(yoke_test_model_kind kind) {
  const yoke_test_model m = test_model(kind);
  tally                 t = {0};
  for (int f = 0; f < yoke_formulation_n(); ++f) {
    const yoke_formulation_ops *formulation = yoke_formulation_at(f);
    if (formulation->for_joints != (kind == YOKE_TWO_MASS_RIGID)) continue;
    for (int s = 0; s < yoke_scheme_n(); ++s) {
      for (int rest = 0; rest < 2 * 4 * 3 * 2 * 4; ++rest) {
        const int gs = rest % 2, d = rest / 2 % 4, e = rest / 8 % 3, ft = rest / 24 % 2, p = rest / 48 % 4;
        for (int index = kind == YOKE_TWO_MASS_RIGID ? 1 : 0; index <= (kind == YOKE_TWO_MASS_RIGID ? 3 : 0); ++index) {
          for (int order = 0; order <= MAX_ORDER; ++order) {
            yoke_test_method k   = yoke_test_method_default();
            k.scheme             = yoke_scheme_at(s)->name;
            k.formulation        = formulation->name;
            k.gauss_seidel       = gs == 1;
            k.decomposition      = (yoke_decomposition)d;
            k.extension          = (yoke_extension)e;
            k.feedthrough        = ft == 1;
            k.predictor          = (yoke_predictor)p;
            k.order              = order;
            k.index              = index;
            k.order_acceleration = order;
            k.samples            = 8;
            if (k.predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED)
              k.acceleration_weight = order == 0 ? 0.5 : 1.0 / 6.0;
            compare(&m, &k, &t);
          }
        }
      }
    }
  }
  print_message("compared %d, refused by both %d, engine only %d, oracle only %d, different %d\n", t.compared,
                t.refused, t.engine_only, t.oracle_only, t.different);
  assert_int_equal(t.different, 0);
}

static void two_mass_radii_agree(void **state) {
  (void)state;
  sweep(YOKE_TWO_MASS);
}

static void two_mass_rigid_radii_agree(void **state) {
  (void)state;
  sweep(YOKE_TWO_MASS_RIGID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_mass_radii_agree),
      cmocka_unit_test(two_mass_rigid_radii_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
