/* What is defined, and the way to the recurrence of each scheme. */
#include "analysis/recurrence.h"

#include "analysis/recurrence_two_mass.h"
#include "analysis/spectrum.h"
#include <math.h>
#include <string.h>

static const char *const formulations[] = {
    "constitutive",          "baumgarte",         "weighted", "projection", "kinematic", "stabilized-index-2",
    "stabilized-index-2-mu", "stabilized-index-1"};
enum { N_FORMULATIONS = sizeof formulations / sizeof *formulations };

static const char *const schemes[] = {"semi-implicit", "explicit", "implicit", "waveform"};
enum { N_SCHEMES = sizeof schemes / sizeof *schemes, MAX_SAMPLES = 16 };

static bool is(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

static bool is_in(const char *word, const char *const *list, int n) {
  for (int i = 0; word != NULL && i < n; ++i) {
    if (is(word, list[i])) return true;
  }
  return false;
}

static const char *formulation_of(yoke_test_model_kind kind, const yoke_test_method *method) {
  if (method->formulation != NULL) return method->formulation;
  return kind == YOKE_TWO_MASS ? "constitutive" : kind == YOKE_TWO_MASS_RIGID ? "stabilized-index-2" : "kinematic";
}

/* ---- what is defined ---- */

static yoke_status check_order(yoke_context *ctx, const char *what, int order, int most) {
  if (order >= 0 && order <= most) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "order is %d, expected 0 to %d with %s", order, most, what);
}

static yoke_status check_explicit(yoke_context *ctx, const yoke_test_method *method) {
  if (method->extension != YOKE_EXTENSION_NONE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "extension %c has conditions without explicit form, so scheme %s cannot solve them; use scheme "
                     "semi-implicit, or extension none",
                     method->extension == YOKE_EXTENSION_D ? 'd' : 'i', method->scheme);
  }
  if (is(method->scheme, "waveform")) return YOKE_OK;
  const bool motion =
      method->predictor == YOKE_PREDICTOR_ACCELERATION || method->predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED;
  if (motion && (method->order_acceleration < 0 || method->order_acceleration > YOKE_LAYOUT_MAX_DEGREE)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "order_acceleration is %d, expected 0 to %d", method->order_acceleration,
                     (int)YOKE_LAYOUT_MAX_DEGREE);
  }
  if (method->predictor == YOKE_PREDICTOR_LEAST_SQUARES &&
      (method->samples < method->order + 2 || method->samples > MAX_SAMPLES)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "samples is %d, expected %d to %d for order %d", method->samples,
                     method->order + 2, (int)MAX_SAMPLES, method->order);
  }
  return YOKE_OK;
}

static yoke_status check_constitutive(yoke_context *ctx, const yoke_test_method *method) {
  const bool one_step = is(method->scheme, "explicit"), fixed_point = is(method->scheme, "waveform");
  const bool mixed =
      method->decomposition == YOKE_FORCE_DISPLACEMENT || method->decomposition == YOKE_DISPLACEMENT_FORCE;
  if (one_step || fixed_point) YOKE_TRY(check_explicit(ctx, method));
  if (method->predictor >= YOKE_PREDICTOR_ACCELERATION && !one_step) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "the acceleration predictors are explicit methods, scheme is %s; use scheme explicit, or predictor "
        "extrapolation",
        method->scheme);
  }
  if (method->gauss_seidel && !one_step && !fixed_point) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "scheme %s corrects both sides at once; use sequence jacobi, or scheme explicit or waveform",
                     method->scheme);
  }
  if (method->feedthrough && (!mixed || method->extension != YOKE_EXTENSION_NONE)) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "feedthrough goes with decomposition force/displacement or displacement/force and extension none");
  }
  if (method->extension != YOKE_EXTENSION_NONE) return check_order(ctx, "an extension", method->order, 2);
  return check_order(ctx, "formulation constitutive", method->order, YOKE_LAYOUT_MAX_DEGREE);
}

static yoke_status check_weights(yoke_context *ctx, const yoke_test_method *method, const char *formulation) {
  const bool weighted = is(formulation, "weighted"), baumgarte = is(formulation, "baumgarte");
  if ((weighted || baumgarte) && (method->index < 1 || method->index > 3)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "index is %d, expected 1, 2 or 3", method->index);
  }
  if (baumgarte && !(method->mu > 0.0 && method->beta >= 0.0 && method->gamma >= 0.0)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "mu is %g, beta %g, gamma %g, expected mu > 0 and the others >= 0", method->mu,
                     method->beta, method->gamma);
  }
  if (weighted && is(method->scheme, "implicit")) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "formulation weighted is the mean of solutions of different conditions, which have no common "
                     "solution that scheme implicit could converge to; use scheme semi-implicit");
  }
  if (weighted && !(method->a >= 0.0 && method->b >= 0.0)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "weights a and b are %g and %g, expected >= 0", method->a, method->b);
  }
  return YOKE_OK;
}

static bool is_stabilized(const char *formulation) {
  return is(formulation, "stabilized-index-1") || is(formulation, "stabilized-index-2") ||
         is(formulation, "stabilized-index-2-mu");
}

static yoke_status check_stabilized(yoke_context *ctx, const yoke_test_method *method, const char *formulation) {
  if (method->decomposition != YOKE_FORCE_FORCE) {
    return yoke_fail(ctx, YOKE_E_USAGE, "formulation %s is force/force only; use projection, baumgarte or weighted",
                     formulation);
  }
  if (is(formulation, "stabilized-index-1")) {
    const double *nodes = method->nodes;
    if (!(nodes[0] > 0.0 && nodes[1] > nodes[0] && nodes[1] < 1.0)) {
      return yoke_fail(ctx, YOKE_E_USAGE, "nodes are %g and %g, expected 0 < first < second < 1", nodes[0], nodes[1]);
    }
    if (method->order != 0 && method->order != 1 && method->order != 3) {
      return yoke_fail(ctx, YOKE_E_USAGE, "order is %d, expected 0, 1 or 3 with formulation %s", method->order,
                       formulation);
    }
    return YOKE_OK;
  }
  if (is(formulation, "stabilized-index-2-mu") && !(method->relaxation > 0.0 && method->relaxation <= 1.0)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "relaxation is %g, expected > 0 and at most 1", method->relaxation);
  }
  if (is(formulation, "stabilized-index-2-mu") && method->relaxation < 1.0 && is(method->scheme, "implicit")) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "relaxation is %g: relaxed multipliers do not satisfy the conditions that scheme implicit converges "
        "to; use relaxation 1, or scheme semi-implicit",
        method->relaxation);
  }
  return check_order(ctx, formulation, method->order, 2);
}

static yoke_status check_constraint(yoke_context *ctx, const yoke_test_method *method, const char *formulation) {
  if (is(method->scheme, "explicit") || is(method->scheme, "waveform") || method->gauss_seidel) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "formulation %s has no explicit form; use scheme semi-implicit, sequence jacobi", formulation);
  }
  if (method->extension != YOKE_EXTENSION_NONE || method->feedthrough) {
    return yoke_fail(ctx, YOKE_E_USAGE, "extension and feedthrough belong to formulation constitutive, not to %s",
                     formulation);
  }
  if (is_stabilized(formulation)) return check_stabilized(ctx, method, formulation);
  YOKE_TRY(check_weights(ctx, method, formulation));
  if (method->decomposition == YOKE_DISPLACEMENT_DISPLACEMENT && !is(formulation, "projection")) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "formulation %s cannot drive both sides: with a common acceleration nothing corrects their "
                     "distance; use projection",
                     formulation);
  }
  return check_order(ctx, formulation, method->order, YOKE_LAYOUT_MAX_DEGREE);
}

static yoke_status check_kinematic(yoke_context *ctx, const yoke_test_method *method) {
  const int most = YOKE_LAYOUT_MAX_DEGREE;
  if (!is(method->scheme, "explicit")) {
    return yoke_fail(ctx, YOKE_E_USAGE, "formulation kinematic is explicit; scheme is %s, use explicit",
                     method->scheme);
  }
  if (method->order_force < -1 || method->order_force > most || method->order_motion < -1 ||
      method->order_motion > most) {
    return yoke_fail(ctx, YOKE_E_USAGE, "order_force is %d and order_motion %d, expected 0 to %d, or -1 for order",
                     method->order_force, method->order_motion, most);
  }
  return check_order(ctx, "formulation kinematic", method->order, most);
}

yoke_status yoke_recurrence_check(yoke_context *ctx, yoke_test_model_kind kind, const yoke_test_method *method) {
  if (yoke_test_model_name(kind) == NULL) return yoke_fail(ctx, YOKE_E_USAGE, "there is no test model %d", (int)kind);
  const char *formulation = formulation_of(kind, method);
  if (!is_in(method->scheme, schemes, N_SCHEMES)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no scheme '%s'", method->scheme != NULL ? method->scheme : "");
  }
  if (!is_in(formulation, formulations, N_FORMULATIONS)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no formulation '%s'; yoke help formulations lists them", formulation);
  }
  const yoke_test_model_kind needed = is(formulation, "constitutive") ? YOKE_TWO_MASS
                                      : is(formulation, "kinematic")  ? YOKE_KINEMATIC_TWO_MASS
                                                                      : YOKE_TWO_MASS_RIGID;
  if (needed != kind) {
    return yoke_fail(ctx, YOKE_E_USAGE, "formulation %s is for test model %s, not for %s", formulation,
                     yoke_test_model_name(needed), yoke_test_model_name(kind));
  }
  if (kind == YOKE_TWO_MASS) return check_constitutive(ctx, method);
  if (kind == YOKE_TWO_MASS_RIGID) return check_constraint(ctx, method, formulation);
  return check_kinematic(ctx, method);
}

static yoke_status check_model(yoke_context *ctx, const yoke_test_model *model) {
  const bool   kinematic = model->kind == YOKE_KINEMATIC_TWO_MASS;
  const double mass[]    = {model->m[0], model->m[1], model->m_R, model->m_Fin};
  const double others[]  = {model->c[0], model->c[1], model->d[0], model->d[1], model->cc,   model->dc,
                            model->c_R,  model->c_F,  model->d_R,  model->d_F,  model->m_Fco};
  for (int i = 2 * kinematic; i < 2 * kinematic + 2; ++i) {
    if (!(mass[i] > 0.0 && mass[i] < HUGE_VAL))
      return yoke_fail(ctx, YOKE_E_USAGE, "a mass is %g, expected > 0", mass[i]);
  }
  if (!(model->H > 0.0 && model->H < HUGE_VAL)) {
    return yoke_fail(ctx, YOKE_E_USAGE, "the macro step is %g, expected > 0", model->H);
  }
  for (int i = 6 * kinematic; i < 6 + 5 * kinematic; ++i) {
    if (!isfinite(others[i]))
      return yoke_fail(ctx, YOKE_E_USAGE, "a parameter is %g, expected a finite value", others[i]);
  }
  return YOKE_OK;
}

/* ---- building ---- */

yoke_status yoke_recurrence_build(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                  double *matrix, int *n) {
  *n = 0;
  YOKE_TRY(yoke_recurrence_check(ctx, model->kind, method));
  YOKE_TRY(check_model(ctx, model));
  if (model->kind == YOKE_KINEMATIC_TWO_MASS) return kinematic_recurrence(model, method, matrix, n);
  if (is(method->scheme, "explicit")) return explicit_recurrence(model, method, matrix, n);
  return newton_recurrence(model, method, formulation_of(model->kind, method), matrix, n);
}

/* Overflow and poles count as unstable beyond all limits. */
static yoke_status radius(yoke_status built, int n, const double *matrix, double *rho) {
  *rho = INFINITY;
  if (built == YOKE_OK) built = yoke_spectral_radius(n, matrix, rho);
  if (built == YOKE_SINGULAR || built == YOKE_NON_FINITE) {
    *rho  = INFINITY;
    built = YOKE_OK;
  }
  return built;
}

yoke_status yoke_recurrence_radius(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                   double *rho) {
  double      matrix[YOKE_RECURRENCE_MAX * YOKE_RECURRENCE_MAX];
  int         n;
  yoke_status built = yoke_recurrence_build(ctx, model, method, matrix, &n);
  return radius(built, n, matrix, rho);
}

/* Relative motion: with coordinates (x1, v1, x2 - x1, v2 - v1, history) the common motion is an invariant subspace, and the block of
 * the others is what is left. Packed in place. */
static void relative_block(double *M, int *n) {
  const int old = *n, new = old - 2;
  for (int i = 0; i < new; ++i) {
    for (int j = 0; j < new; ++j) {
      const double common                        = i < 2 ? M[(size_t)i * old + j + 2] : 0.0;
      M[(size_t)old * old + (size_t)i * new + j] = M[(size_t)(i + 2) * old + j + 2] - common;
    }
  }
  memmove(M, M + (size_t)old * old, (size_t) new *(size_t) new * sizeof *M);
  *n = new;
}

yoke_status yoke_recurrence_zero_radius(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                        double *rho) {
  double          matrix[2 * YOKE_RECURRENCE_MAX * YOKE_RECURRENCE_MAX];
  yoke_test_model bare = *model;
  int             n;
  bare.c[0] = bare.c[1] = bare.d[0] = bare.d[1] = bare.cc = bare.dc = 0.0;
  bare.c_R = bare.c_F = bare.d_R = bare.d_F = 0.0;
  yoke_status built                         = yoke_recurrence_build(ctx, &bare, method, matrix, &n);
  if (built == YOKE_OK && model->kind == YOKE_KINEMATIC_TWO_MASS) kinematic_loop(method, matrix, &n);
  if (built == YOKE_OK && model->kind != YOKE_KINEMATIC_TWO_MASS) relative_block(matrix, &n);
  return radius(built, n, matrix, rho);
}
