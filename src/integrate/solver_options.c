#include "integrate/solver_options.h"

#include <string.h>

#define AT(member) YOKE_SETTING_AT(yoke_solver_def, member)

static bool is_damping(const double *value) {
  return value[0] >= 0.0 && value[0] <= 1.0;
}

static const yoke_setting rows[] = {
    {.key    = "kind",
     .type   = YOKE_SETTING_WORD,
     .more   = yoke_integrator_method_name,
     .option = "solver",
     .value  = "NAME",
     .help   = "method of integration; yoke help solvers",
     AT(kind)},
    {.key      = "rtol",
     .type     = YOKE_SETTING_POSITIVE,
     .standard = {1e-8},
     .option   = "rtol",
     .value    = "R",
     .help     = "relative tolerance of the error control",
     .fits     = yoke_setting_is_tolerance,
     .expected = YOKE_SETTING_TOLERANCE_WORDS,
     AT(rtol)},
    {.key       = "atol",
     .type      = YOKE_SETTING_POSITIVE,
     .otherwise = "rtol/100, by the sizes of a model below a centimetre",
     .option    = "atol",
     .value     = "A",
     .help      = "absolute tolerance",
     AT(atol)},
    {.key       = "step",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .otherwise = "error control",
     .help      = "fixed micro step",
     AT(step)},
    {.key       = "max_step",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .otherwise = "no limit",
     .without   = "step",
     .help      = "largest micro step",
     AT(max_step)},
    {.key       = "max_order",
     .type      = YOKE_SETTING_INTEGER,
     .min       = 1,
     .max       = 13,
     .otherwise = "the solver's own",
     .help      = "highest order",
     AT(max_order)},
    {.key   = "linear",
     .type  = YOKE_SETTING_WORD,
     .words = {"klu", "dense", "banded"},
     .help  = "LU of linear systems: sparse (klu), dense or banded (LAPACK)",
     AT(linear)},
    {.key   = "constraints",
     .type  = YOKE_SETTING_WORD,
     .words = {"ggl", "baumgarte", "projection"},
     .help  = "how joints are held: stabilised index 2, Baumgarte, projection",
     AT(constraints)},
    {.key      = "alpha",
     .type     = YOKE_SETTING_POSITIVE,
     .unit     = "1/s",
     .standard = {10.0},
     .with     = "constraints",
     .of       = "baumgarte",
     .help     = "g'' + 2 alpha g' + beta^2 g = 0",
     AT(baumgarte_alpha)},
    {.key      = "beta",
     .type     = YOKE_SETTING_POSITIVE,
     .unit     = "1/s",
     .standard = {10.0},
     .with     = "constraints",
     .of       = "baumgarte",
     .help     = "see alpha",
     AT(baumgarte_beta)},
    {.key      = "rho_inf",
     .type     = YOKE_SETTING_NUMBER,
     .standard = {0.8},
     .fits     = is_damping,
     .expected = "a number from 0 to 1",
     .help     = "what is left of the fastest oscillations after a step",
     AT(rho_inf)},
};

const yoke_setting_table yoke_solver_rows = {.path = "solvers", YOKE_SETTING_ROWS(rows)};

bool yoke_solver_reads(const char *kind, const char *key) {
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    if (strcmp(yoke_integrator_method_name(i), kind) == 0)
      return strcmp(key, "kind") == 0 || yoke_setting_is_among(key, yoke_integrator_method_reads(i));
  }
  return false;
}

yoke_integrator_options yoke_solver_options(const yoke_solver_def *def) {
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol                    = def->rtol;
  o.atol                    = def->atol > 0.0 ? def->atol : 1e-2 * def->rtol; /* not given: follows rtol */
  o.fixed_step              = def->step;
  o.max_step                = def->max_step;
  o.max_order               = def->max_order;
  o.rho_inf                 = def->rho_inf;
  o.linear                  = strcmp(def->linear, "dense") == 0    ? YOKE_LINEAR_DENSE
                              : strcmp(def->linear, "banded") == 0 ? YOKE_LINEAR_BANDED
                                                                   : YOKE_LINEAR_KLU;
  o.form = strcmp(def->constraints, "ggl") == 0 || def->constraints[0] == '\0' ? YOKE_DAE_GGL : YOKE_DAE_INDEX1;
  if (strcmp(def->constraints, "baumgarte") == 0) {
    o.alpha = def->baumgarte_alpha;
    o.beta  = def->baumgarte_beta;
  }
  return o;
}
