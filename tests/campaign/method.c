#include "method.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void add(method *m, const char *format, ...) {
  const size_t length = strlen(m->arguments);
  va_list      arguments;
  va_start(arguments, format);
  vsnprintf(m->arguments + length, sizeof m->arguments - length, format, arguments);
  va_end(arguments);
}

static bool is(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

/* From two thousandths to half of the shortest period; at most 2000 steps, at least 8. */
static void draw_step(draw *d, const sketch *s, method *m) {
  const double period = s->fastest > 0.0 ? fmin(2.0 * PI / s->fastest, s->span) : 0.5 * s->span;
  m->step             = fmin(fmax(period * draw_log(d, 2e-3, 0.5), s->span / 2000.0), s->span / 8.0);
  add(m, " --step %.4g*T", m->step);
}

static void draw_tolerance(draw *d, method *m) {
  m->rtol = draw_log(d, 3e-6, 1e-2);
  add(m, " --macro-rtol %.3g", m->rtol);
}

method method_given(draw *d, const sketch *s, method_kind kind, const char *arguments) {
  method m = {.kind = kind, .rtol = kind == METHOD_DEFAULT ? METHOD_DEFAULT_RTOL : 0.0};
  if (kind == METHOD_FIXED) draw_step(d, s, &m);
  if (kind == METHOD_CONTROLLED) draw_tolerance(d, &m);
  if (*arguments != '\0') add(&m, " %s", arguments);
  return m;
}

method method_draw(draw *d, const sketch *s, method_kind kind) {
  static const char *const schemes[]        = {"semi-implicit", "semi-implicit", "implicit",
                                               "implicit",      "explicit",      "waveform"};
  static const char *const formulations[]   = {"stabilized-index-2",    "stabilized-index-1", "baumgarte",
                                               "stabilized-index-2-mu", "weighted",           "projection"};
  static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                               "displacement/displacement"};
  static const char *const jacobians[]      = {"analytic", "broyden", "finite-difference"};
  static const char *const predictors[]     = {"least-squares", "acceleration", "acceleration-relaxed"};
  static const char *const starts[]         = {"ramp-low", "graded", "exact"};
  static const char *const estimators[]     = {"md", "cv", "le"};
  static const char *const solvers[]        = {"dopri5", "radau5", "bdf"};

  method m = method_given(d, s, kind, "");
  if (kind == METHOD_DEFAULT) return m;
  const char *scheme = draw_chance(d, 0.8) ? DRAW_WORD(d, schemes) : "", *formulation = "";
  int         highest = 5;
  if (s->cuts_joint) { /* joints bear the schemes that correct; kinematic ones explicit */
    highest     = 2;
    formulation = draw_chance(d, 0.7) ? DRAW_WORD(d, formulations) : "";
    if (is(scheme, "waveform")) scheme = "implicit";
    if (is(scheme, "explicit")) formulation = "kinematic";
    if (is(formulation, "weighted")) scheme = "semi-implicit";
    if (is(formulation, "stabilized-index-1")) highest = 1;
    if (*formulation != '\0') add(&m, " --formulation %s", formulation);
  }
  if (*scheme != '\0') add(&m, " --scheme %s", scheme);
  const bool corrects = !is(scheme, "explicit") && !is(scheme, "waveform");
  if (corrects && draw_chance(d, 0.25)) add(&m, " --jacobian %s", DRAW_WORD(d, jacobians));
  if (!s->cuts_joint) {
    const bool in_turn = !corrects && draw_chance(d, 0.4);
    if (in_turn) add(&m, " --sequence gauss-seidel");
    if (draw_chance(d, 0.4)) add(&m, " --decomposition %s", DRAW_WORD(d, decompositions));
    if (corrects && draw_chance(d, 0.2)) {
      add(&m, " --extension %s", draw_chance(d, 0.7) ? "d" : "i");
      highest = 2;
    }
    if (is(scheme, "explicit") && !in_turn && draw_chance(d, 0.4)) add(&m, " --predictor %s", DRAW_WORD(d, predictors));
  }
  if (draw_chance(d, kind == METHOD_FIXED ? 0.8 : 0.4)) add(&m, " --order %d", draw_int(d, 0, highest));
  if (kind == METHOD_FIXED && draw_chance(d, 0.15)) add(&m, " --start %s", DRAW_WORD(d, starts));
  if (kind == METHOD_CONTROLLED && draw_chance(d, 0.3)) add(&m, " --estimator %s", DRAW_WORD(d, estimators));
  if (draw_chance(d, 0.15)) add(&m, " --solver %s", DRAW_WORD(d, solvers));
  return m;
}

void method_write_command(FILE *out, const char *model, const char *arguments) {
  fprintf(out, "yoke run %s", model);
  for (const char *word = arguments; *(word += strspn(word, " ")) != '\0';) {
    const int   n     = (int)strcspn(word, " ");
    const char *quote = strcspn(word, "*{") < (size_t)n ? "'" : "";
    fprintf(out, " %s%.*s%s", quote, n, word, quote);
    word += n;
  }
}
