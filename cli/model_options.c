#include "model_options.h"
#include "interrupt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
  return usage_error(command, "unknown %s '%s', %s%s%s%s", option, text, list, nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

int choice_check(const command_def *command, const yoke_choice *choice) {
  yoke_setting_facts facts = {.size = sizeof facts};
  if (!choice_find(choice->name, strlen(choice->name), &facts) || facts.is_open) return PARSE_DONE;
  for (int i = 0; i < facts.n_words; ++i) {
    if (strcmp(facts.words[i], choice->value) == 0) return PARSE_DONE;
  }
  if (facts.is_positive && !is_positive_number(choice->value))
    return usage_error(command, "--%s is '%s', expected a number > 0", choice->name, choice->value);
  if (facts.is_positive) return PARSE_DONE;
  if (facts.is_whole) {
    char      *end;
    const long n = strtol(choice->value, &end, 10);
    if (end != choice->value && *end == '\0' && n >= facts.min && n <= facts.max) return PARSE_DONE;
    return usage_error(command, "unknown %s '%s'; expected %s", choice->name, choice->value, facts.values);
  }
  const char *topic = strstr(facts.help, "yoke help ");
  return check_word(command, choice->name, choice->value, facts.words, facts.n_words, topic ? topic + 10 : NULL);
}

int model_options_apply(const command_def *command, const model_arguments *a, yoke_run_options *options) {
  static const char *const execs[]  = {"threads", "serial", "shuffled", "eager"};
  const char *const        step     = choice_value(&a->choices, "step");
  const bool               is_fixed = step != NULL && strcmp(step, "auto") != 0;
  const bool               has_rtol = choice_value(&a->choices, "macro-rtol") != NULL;
  for (int i = 0; i < a->choices.n; ++i) {
    const int code = choice_check(command, &a->choices.list[i]);
    if (code != PARSE_DONE) return code;
  }
  if (is_fixed && (has_rtol || choice_value(&a->choices, "estimator")))
    return usage_error(command, "--step %s fixes the macro step and leaves nothing to control; give it or %s", step,
                       has_rtol ? "--macro-rtol" : "--estimator");
  if (a->threads) {
    const int code = whole_option(command, "threads", a->threads, 100000, &options->threads);
    if (code != PARSE_DONE) return code;
  }
  options->n_sets    = a->set.n;
  options->sets      = a->set.texts;
  options->n_choices = a->choices.n;
  options->choices   = a->choices.list;
  options->check     = a->check;
  options->exec      = a->exec;
  return check_word(command, "exec", a->exec, execs, 4, NULL);
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
