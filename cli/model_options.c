#include "model_options.h"
#include "interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 64 };

static bool is_positive_number(const char *text) {
  char        *end;
  const double value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(value) && value > 0.0;
}

/* Is `text` (NULL: not given) one of words[n]? Otherwise a message with the nearest one. */
static int check_word(const command_def *command, const char *option, const char *text, const char *const *words, int n,
                      const char *topic) {
  for (int i = 0; i < n; ++i) {
    if (!text || strcmp(text, words[i]) == 0) return PARSE_DONE;
  }
  const char *nearest = yoke_nearest_name(text, words, n);
  char        list[400];
  size_t      used = (size_t)snprintf(list, sizeof list, "expected ");
  for (int i = 0; i < n && used < sizeof list; ++i)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", words[i]);
  if (topic) snprintf(list, sizeof list, "yoke help %s lists them", topic);
  return usage_error(command, "unknown %s '%s'%s%s%s; %s", option, text, nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "", list);
}

/* The same with the words of one of the program's lists. */
static int check_listed(const command_def *command, const char *option, const char *text, int n,
                        const char *(*name)(int i), const char *topic) {
  const char *words[MAX_WORDS];
  if (n > MAX_WORDS) n = MAX_WORDS;
  for (int i = 0; i < n; ++i) words[i] = name(i);
  return check_word(command, option, text, words, n, topic);
}

static int check_words(const command_def *command, const model_arguments *a) {
  const struct {
    const char *option, *text, *words[7];
  } fixed[] = {
      {"sequence", a->sequence, {"jacobi", "gauss-seidel"}},
      {"order", a->order, {"0", "1", "2", "3", "4", "5", "auto"}},
      {"estimator", a->estimator, {"md", "cv", "le"}},
      {"start", a->start, {"ramp", "ramp-low", "graded", "exact"}},
      {"decomposition",
       a->decomposition,
       {"force/force", "force/displacement", "displacement/force", "displacement/displacement"}},
      {"extension", a->extension, {"none", "d", "i"}},
      {"jacobian", a->jacobian, {"finite-difference", "analytic", "broyden"}},
      {"predictor", a->predictor, {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"}},
      {"exec", a->exec, {"threads", "serial", "shuffled", "eager"}},
  };
  int code = check_listed(command, "solver", a->solver, yoke_n_solvers(), yoke_solver_name, "solvers");
  if (code == PARSE_DONE)
    code = check_listed(command, "scheme", a->scheme, yoke_n_schemes(), yoke_scheme_name, "schemes");
  if (code == PARSE_DONE)
    code = check_listed(command, "formulation", a->formulation, yoke_n_formulations(), yoke_formulation_name,
                        "formulations");
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed && code == PARSE_DONE; ++i) {
    int n = 0;
    while (n < 7 && fixed[i].words[n]) n++;
    code = check_word(command, fixed[i].option, fixed[i].text, fixed[i].words, n, NULL);
  }
  return code;
}

int model_options_apply(const command_def *command, const model_arguments *a, yoke_run_options *options) {
  if (a->rtol && !is_positive_number(a->rtol))
    return usage_error(command, "--rtol is '%s', expected a number > 0", a->rtol);
  if (a->atol && !is_positive_number(a->atol))
    return usage_error(command, "--atol is '%s', expected a number > 0", a->atol);
  if (a->macro_rtol && !is_positive_number(a->macro_rtol))
    return usage_error(command, "--macro-rtol is '%s', expected a number > 0", a->macro_rtol);
  const bool is_fixed = a->step != NULL && strcmp(a->step, "auto") != 0;
  if (is_fixed && (a->macro_rtol || a->estimator))
    return usage_error(command, "--step %s fixes the macro step and leaves nothing to control; give it or %s", a->step,
                       a->macro_rtol ? "--macro-rtol" : "--estimator");
  if (a->threads) {
    char      *end;
    const long n = strtol(a->threads, &end, 10);
    if (end == a->threads || *end || n < 1 || n > 100000) {
      return usage_error(command, "--threads is '%s', expected a whole number >= 1", a->threads);
    }
    options->threads = (int)n;
  }
  const int code = check_words(command, a);
  if (code != PARSE_DONE) return code;
  options->n_sets        = a->set.n;
  options->sets          = a->set.texts;
  options->t_end         = a->t_end;
  options->solver        = a->solver;
  options->rtol          = a->rtol;
  options->atol          = a->atol;
  options->scheme        = a->scheme;
  options->sequence      = a->sequence;
  options->order         = a->order;
  options->step          = a->step;
  options->macro_rtol    = a->macro_rtol;
  options->estimator     = a->estimator;
  options->start         = a->start;
  options->jacobian      = a->jacobian;
  options->predictor     = a->predictor;
  options->formulation   = a->formulation;
  options->decomposition = a->decomposition;
  options->extension     = a->extension;
  options->check         = a->check;
  options->exec          = a->exec;
  return PARSE_DONE;
}

/* One call of stdio per line: lines of two threads do not mix. A run whose lines nobody can read any more (a pipe that was
 * closed) is asked to stop. */
static void write_line(void *user, const char *line) {
  if (fprintf(user, "%s\n", line) < 0) interrupt_request();
}

void trace_apply(const model_arguments *a, yoke_run_options *options) {
  if (!a->trace) return;
  if (*a->trace) {
    options->trace_file = a->trace;
  } else {
    options->trace      = write_line;
    options->trace_user = stderr;
  }
  if (!a->exec && !a->threads) options->exec = "serial"; /* lines in the order of the calls */
}

int trace_end(const model_arguments *a, int code) {
  return a->trace && !*a->trace && ferror(stderr) ? EXIT_CODE_IO : code;
}
