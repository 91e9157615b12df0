#include "analysis/test_model.h"

#include <string.h>

static const char *const names[] = {
    [YOKE_TWO_MASS]           = "two-mass",
    [YOKE_TWO_MASS_RIGID]     = "two-mass-rigid",
    [YOKE_KINEMATIC_TWO_MASS] = "kinematic-two-mass",
};
enum { N_NAMES = sizeof names / sizeof *names };

const char *yoke_test_model_name(yoke_test_model_kind kind) {
  return (int)kind >= 0 && (int)kind < N_NAMES ? names[kind] : NULL;
}

bool yoke_test_model_find(const char *name, yoke_test_model_kind *kind) {
  for (int i = 0; name != NULL && i < N_NAMES; ++i) {
    if (strcmp(names[i], name) != 0) continue;
    *kind = (yoke_test_model_kind)i;
    return true;
  }
  return false;
}

yoke_test_model yoke_test_model_default(yoke_test_model_kind kind) {
  return (yoke_test_model){.kind  = kind,
                           .H     = kind == YOKE_KINEMATIC_TWO_MASS ? 0.01 : 1.0,
                           .m     = {1.0, 1.0},
                           .c     = {1.0, 1.0},
                           .cc    = 1.0,
                           .m_R   = 5.0,
                           .m_Fco = 0.5,
                           .m_Fin = 0.5,
                           .c_R   = 100.0,
                           .c_F   = 50.0,
                           .d_R   = 1.0,
                           .d_F   = 0.1};
}

yoke_test_ratios yoke_test_ratios_default(void) {
  return (yoke_test_ratios){.re = -0.1, .im = 1.0, .am = 1.0, .ar = 1.0, .ai = 1.0, .arc = 1.0, .aic = 1.0};
}

/* A spring and damper on the mass m have the eigenvalue re + i im: c = m (re^2 + im^2), d = -2 m re. */
static void set_element(double m, double re, double im, double *c, double *d) {
  *c = m * (re * re + im * im);
  *d = -2.0 * m * re;
}

yoke_test_model yoke_test_model_from_ratios(yoke_test_model_kind kind, const yoke_test_ratios *r) {
  yoke_test_model model = yoke_test_model_default(kind);
  model.H               = 1.0;
  model.m[0]            = 1.0;
  model.m[1]            = r->am;
  set_element(1.0, r->re, r->im, &model.c[0], &model.d[0]);
  set_element(r->am, r->ar * r->re, r->ai * r->im, &model.c[1], &model.d[1]);
  set_element(2.0 * r->am / (1.0 + r->am), r->arc * r->re, r->aic * r->im, &model.cc, &model.dc);
  return model;
}

yoke_test_method yoke_test_method_default(void) {
  return (yoke_test_method){.scheme              = "semi-implicit",
                            .decomposition       = YOKE_FORCE_FORCE,
                            .extension           = YOKE_EXTENSION_NONE,
                            .order               = 1,
                            .final_update        = true,
                            .index               = 1,
                            .mu                  = 1.0,
                            .a                   = 1.0,
                            .b                   = 1.0,
                            .nodes               = {1.0 / 3.0, 2.0 / 3.0},
                            .relaxation          = 1.0,
                            .predictor           = YOKE_PREDICTOR_EXTRAPOLATION,
                            .samples             = 8,
                            .acceleration_weight = 0.5,
                            .update              = true,
                            .order_force         = -1,
                            .order_motion        = -1};
}
