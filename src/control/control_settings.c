#include "control/control_settings.h"

#define AT(member) YOKE_SETTING_AT(yoke_control_settings, member)

static const yoke_setting step_rows[] = {
    {.key       = "step",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .words     = {"auto"},
     .otherwise = "auto",
     .option    = "step",
     .value     = "H",
     .help      = "macro step; auto, or keys of step control: chosen by the error of a step"},
};

const yoke_setting_table yoke_step_rows = {.path = "cosimulation", YOKE_SETTING_ROWS(step_rows)};

static bool is_ratio(const double *value) {
  return value[0] > 0.0 && value[0] < 1.0 && value[1] > 1.0;
}

static bool is_growth(const double *value) {
  return value[0] >= 1.0;
}

static bool is_share(const double *value) {
  return value[0] > 0.0 && value[0] <= 1.0;
}

static bool is_budget(const double *value) {
  return value[0] >= 0.0;
}

static const yoke_setting control_rows[] = {
    {.key      = "rtol",
     .type     = YOKE_SETTING_POSITIVE,
     .standard = {1e-4},
     .option   = "macro-rtol",
     .value    = "R",
     .help     = "step control: relative error of one macro step",
     .fits     = yoke_setting_is_tolerance,
     .expected = YOKE_SETTING_TOLERANCE_WORDS,
     AT(tolerances.rtol)},
    {.key       = "atol",
     .type      = YOKE_SETTING_POSITIVE,
     .n         = 3,
     .unit      = "any",
     .otherwise = "by the size of the values",
     .is_part   = true,
     .help      = "absolute error, one for all or position, velocity and coupling apart",
     AT(tolerances.atol)},
    {.key       = "estimator",
     .type      = YOKE_SETTING_WORD,
     .words     = {"md", "cv", "le"},
     .standard  = {-1},
     .otherwise = "md, cv where md is impossible",
     .option    = "estimator",
     .value     = "WORD",
     .help      = "step control: what the error is estimated from",
     AT(estimator)},
    {.key       = "initial",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .otherwise = "1e-6 of the run, 1e-4 with rigid joints",
     .help      = "first step",
     AT(initial)},
    {.key       = "min",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .otherwise = "1e-12 of the run",
     .help      = "least step; below it the run ends with exit code 4",
     AT(min)},
    {.key       = "max",
     .type      = YOKE_SETTING_POSITIVE,
     .unit      = "s",
     .otherwise = "a tenth of the run",
     .help      = "largest step",
     AT(max)},
    {.key      = "safety",
     .type     = YOKE_SETTING_POSITIVE,
     .standard = {6.0},
     .help     = "factor on the error where the next step is chosen",
     AT(rule.safety)},
    {.key       = "budget",
     .type      = YOKE_SETTING_NUMBER,
     .standard  = {-1.0},
     .otherwise = "1; 2 where all couplings are rigid joints, 0 where one is at a solver bdf or genalpha; 10 where md "
                  "or le is named, 0 where cv is",
     .fits      = is_budget,
     .expected  = "a number >= 0",
     .help = "steps become shorter where the accumulated error of the run would exceed so many rtol, of 10 and more "
             "once half are used up; 0: never",
     AT(budget)},
    {.key       = "growth",
     .type      = YOKE_SETTING_NUMBER,
     .standard  = {-1.0},
     .otherwise = "measured before the run where something hits and no estimator is named, else 1",
     .fits      = is_growth,
     .expected  = "a number >= 1",
     .help      = "so many times larger does the motion itself make small errors: beyond 3, steps are held to 1 / "
                  "(10 growth) of the tolerances, at least to 1e-4",
     AT(growth)},
    {.key       = "share",
     .type      = YOKE_SETTING_NUMBER,
     .standard  = {-1.0},
     .otherwise = "0.1 where long chains have halos by default, else 1",
     .fits      = is_share,
     .expected  = "a number > 0 and <= 1",
     .help      = "steps are held to so much of the tolerances, where errors add up and there is no budget",
     AT(share)},
    {.key       = "compare",
     .type      = YOKE_SETTING_INTEGER,
     .min       = 1,
     .max       = 1000,
     .otherwise = "5 where no estimator is named, else 1",
     .help = "rigid joints alone: the second integration of md is made once in so many steps at least, and where its "
             "error matters",
     AT(compare)},
    {.key       = "shift",
     .type      = YOKE_SETTING_WORD,
     .words     = {"auto", "on", "off"},
     .otherwise = "on where neither an estimator nor a corrector.rtol below a tenth of rtol is named, else off",
     .help = "rigid joints: states follow corrected coupling values by their tangents, without a second integration, "
             "where that misses far less than rtol",
     AT(shift)},
    {.key      = "ratio",
     .type     = YOKE_SETTING_NUMBER,
     .n        = 2,
     .standard = {0.5, 1.5},
     .fits     = is_ratio,
     .expected = "a number in (0, 1) and one above 1",
     .help     = "limits of H_new / H after accepted steps",
     AT(rule.ratio)},
    {.key      = "dead_zone",
     .type     = YOKE_SETTING_BOOLEAN,
     .standard = {1},
     .help     = "a step that would grow by less than ratio[1] stays as it is",
     AT(rule.dead_zone)},
};

const yoke_setting_table yoke_control_rows = {.path = "cosimulation.step", YOKE_SETTING_ROWS(control_rows)};

#define ATOL(kind, i, words)                                                                                           \
  {                                                                                                                    \
    .key = kind, .type = YOKE_SETTING_POSITIVE, .unit = "any", .otherwise = "by the size of the values",               \
    .help = "absolute error of " words, AT(tolerances.atol[i])                                                         \
  }

static const yoke_setting atol_rows[] = {ATOL("position", 0, "positions"), ATOL("velocity", 1, "velocities"),
                                         ATOL("coupling", 2, "coupling values")};

const yoke_setting_table yoke_control_atol_rows = {.path = "cosimulation.step.atol", YOKE_SETTING_ROWS(atol_rows)};

static const yoke_setting order_rows[] = {
    {.key = "min", .type = YOKE_SETTING_INTEGER, .max = YOKE_ORDER_MAX, .help = "lowest degree", AT(order_min)},
    {.key      = "max",
     .type     = YOKE_SETTING_INTEGER,
     .max      = YOKE_ORDER_MAX,
     .standard = {YOKE_ORDER_MAX},
     .help     = "highest degree; lowered to what all formulations bear",
     AT(order_max)},
    {.key   = "rule",
     .type  = YOKE_SETTING_WORD,
     .words = {"ida", "conservative"},
     .help  = "which terms of the series must fall for a higher degree: three, or all",
     AT(order_rule)},
};

const yoke_setting_table yoke_order_rows = {.path = "cosimulation.order", YOKE_SETTING_ROWS(order_rows)};

yoke_control_settings yoke_control_settings_default(void) {
  yoke_control_settings settings = {0};
  yoke_setting_start(&yoke_control_rows, &settings);
  yoke_setting_start(&yoke_order_rows, &settings);
  settings.estimator = YOKE_ESTIMATOR_MD;
  settings.budget    = 0.0;
  settings.growth    = 1.0;
  settings.share     = 1.0;
  settings.compare   = 1;
  return settings;
}
