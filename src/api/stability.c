/* Stability studies: all methods in all cases. Public part: yoke/stability.h. */
#include "analysis/test_model.h"
#include "api/method_choice.h"
#include "api/output_check.h"
#include "api/run.h"
#include "api/stability_target.h"
#include "base/cancel.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LABEL = 400 };

double yoke_stability_axis_value(const yoke_stability_axis *axis, int i) {
  if (axis->name == NULL || i <= 0 || axis->n <= 1) return axis->from;
  if (i >= axis->n - 1) return axis->to;
  const double share = (double)i / (double)(axis->n - 1);
  if (axis->is_log) return pow(10.0, log10(axis->from) + share * (log10(axis->to) - log10(axis->from)));
  return axis->from + share * (axis->to - axis->from);
}

bool yoke_stability_axis_is_step(const yoke_stability_axis *axis) {
  return axis->name != NULL && (strcmp(axis->name, "step") == 0 || strcmp(axis->name, "cosimulation.step") == 0);
}

/* ---- checks ---- */

/* `parameters.m` is `m`, `cosimulation.step` is `step`. */
static bool is_same_axis(const yoke_stability_axis *a, const yoke_stability_axis *b) {
  static const char prefix[] = "parameters.";
  const size_t      n        = sizeof prefix - 1;
  if (yoke_stability_axis_is_step(a)) return yoke_stability_axis_is_step(b);
  return strcmp(strncmp(a->name, prefix, n) == 0 ? a->name + n : a->name,
                strncmp(b->name, prefix, n) == 0 ? b->name + n : b->name) == 0;
}

static yoke_status check_axis(yoke_context *ctx, const char *which, const yoke_stability_axis *axis) {
  if (axis->name == NULL) return YOKE_OK;
  if (axis->n < 2 || axis->n > 20000)
    return yoke_fail(ctx, YOKE_E_USAGE, "axis %s (%s): %d points, expected 2 to 20000", which, axis->name, axis->n);
  if (!isfinite(axis->from) || !isfinite(axis->to) || axis->from == axis->to)
    return yoke_fail(ctx, YOKE_E_USAGE, "axis %s (%s): from %g to %g, expected two different finite numbers", which,
                     axis->name, axis->from, axis->to);
  if (yoke_stability_axis_is_step(axis) && !(axis->from > 0.0 && axis->to > 0.0))
    return yoke_fail(ctx, YOKE_E_USAGE, "axis %s (%s): from %g to %g, expected macro steps > 0", which, axis->name,
                     axis->from, axis->to);
  if (axis->is_log && !(axis->from > 0.0 && axis->to > 0.0))
    return yoke_fail(ctx, YOKE_E_USAGE, "axis %s (%s): from %g to %g, expected numbers > 0 on a logarithmic axis",
                     which, axis->name, axis->from, axis->to);
  return YOKE_OK;
}

static yoke_status check_options(yoke_context *ctx, const yoke_stability_options *o) {
  YOKE_TRY(check_axis(ctx, "x", &o->x));
  YOKE_TRY(check_axis(ctx, "y", &o->y));
  if (o->y.name != NULL && o->x.name == NULL) return yoke_fail(ctx, YOKE_E_USAGE, "axis y is given without axis x");
  if (o->y.name != NULL && is_same_axis(&o->x, &o->y))
    return yoke_fail(ctx, YOKE_E_USAGE, "both axes are '%s', expected two quantities; leave --y away for a line",
                     o->x.name);
  if (o->x.name == NULL && (o->out != NULL || o->csv != NULL || o->svg != NULL))
    return yoke_fail(ctx, YOKE_E_USAGE, "files are written of maps and lines; give an axis x");
  if (o->find_limit && o->x.name != NULL)
    return yoke_fail(ctx, YOKE_E_USAGE, "either the limit or a map, not both: leave the axes away");
  if (o->y.name != NULL && (double)o->x.n * o->y.n > 1e8)
    return yoke_fail(ctx, YOKE_E_USAGE, "a map of %d x %d points is too large, expected at most 1e8", o->x.n, o->y.n);
  return YOKE_OK;
}

/* ---- cases ---- */

/* Settings of the options followed by those of a case, which are separated at commas. Gives storage. */
typedef struct case_sets {
  int          n;
  const char **sets;
  char        *storage;
} case_sets;

static void case_release(case_sets *c) {
  free(c->sets);
  free(c->storage);
  *c = (case_sets){0};
}

static yoke_status case_create(yoke_context *ctx, const yoke_stability_options *o, const char *text, case_sets *out) {
  size_t n = (size_t)o->run->n_sets + 1;
  for (const char *c = text; *c != '\0'; ++c) n += *c == ',';
  *out = (case_sets){.sets = yoke_allocate(n + 1, sizeof *out->sets), .storage = yoke_text_copy(text)};
  if (out->sets == NULL || out->storage == NULL) return yoke_out_of_memory(ctx, "the stability study");
  for (int i = 0; i < o->run->n_sets; ++i) out->sets[out->n++] = o->run->sets[i];
  for (char *at = out->storage; *at != '\0';) {
    char *next = at + strcspn(at, ",");
    if (*next == ',') *next++ = '\0';
    while (*at == ' ') ++at;
    if (*at != '\0') out->sets[out->n++] = at;
    at = next;
  }
  return YOKE_OK;
}

/* ---- rows ---- */

typedef struct study {
  const yoke_stability_options *options;
  const yoke_stability_target  *target;
  yoke_stability_table         *out;
  int                           n_done; /* rows */
} study;

static bool report(void *user, double share) {
  const study                  *s = user;
  const yoke_stability_options *o = s->options;
  if (o->run->interrupted != NULL && *o->run->interrupted != 0) return false;
  return o->progress == NULL || o->progress(o->user, ((double)s->n_done + share) / (double)s->out->facts.n_rows);
}

static const char *make_label(yoke_arena *arena, const yoke_method_choice *method, const char *text) {
  char label[MAX_LABEL];
  (void)yoke_method_label(method, label, sizeof label);
  const bool   is_plain = strcmp(label, "as the model says") == 0;
  const size_t n        = is_plain && text[0] != '\0' ? 0 : strlen(label);
  if (text[0] != '\0') snprintf(label + n, sizeof label - n, "%s%s", n > 0 ? ", " : "", text);
  return yoke_arena_text(arena, label);
}

static yoke_status ask(yoke_context *ctx, study *s, const yoke_stability_variant *v, yoke_stability_row *row) {
  yoke_stability_table *t = s->out;
  if (s->options->find_limit) return s->target->limit(ctx, v, row, report, s);
  if (s->options->x.name == NULL)
    return report(s, 0.0) ? s->target->point(ctx, v, row) : yoke_fail(ctx, YOKE_E_INTERRUPTED, "interrupted");
  const size_t n      = (size_t)t->facts.nx * (size_t)t->facts.ny;
  double      *values = yoke_arena_take(&t->arena, n, sizeof *values);
  row->values         = values;
  if (values == NULL) return yoke_out_of_memory(ctx, "a map of %d x %d", t->facts.nx, t->facts.ny);
  const yoke_status status = s->target->map(ctx, v, row, values, report, s);
  for (size_t i = 0; i < n; ++i) row->n_stable += values[i] <= 1.0 + yoke_stability_slack;
  return status;
}

/* One row; its messages stay in it. Only memory and interrupts end the study. */
static yoke_status fill_row(yoke_context *ctx, study *s, const yoke_stability_variant *v, const char *text,
                            yoke_stability_row *row) {
  yoke_context *own = NULL;
  if (yoke_context_create(&own) != YOKE_OK) return yoke_out_of_memory(ctx, "the stability study");
  yoke_cancel cancel = {.flag = s->options->run->interrupted};
  yoke_context_watch(own, &cancel);
  (void)yoke_context_set_memory(own, yoke_context_memory(ctx)); /* it was good there */
  row->label  = make_label(&s->out->arena, v->method, text);
  row->status = row->label != NULL ? ask(own, s, v, row) : YOKE_E_MEMORY;
  if (row->status != YOKE_OK) {
    const char *reason = yoke_status_text(row->status);
    for (size_t i = yoke_context_n_messages(own); i-- > 0;) {
      if (yoke_context_message_severity(own, i) == YOKE_SEVERITY_ERROR) reason = yoke_context_message(own, i);
    }
    row->reason = yoke_arena_text(&s->out->arena, reason);
  }
  yoke_context_destroy(&own);
  ++s->n_done;
  if (row->status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the stability study");
  if (row->status == YOKE_E_INTERRUPTED) return yoke_fail(ctx, YOKE_E_INTERRUPTED, "interrupted");
  return YOKE_OK;
}

static yoke_status run_cases(yoke_context *ctx, study *s, const yoke_method_choice *methods) {
  static const char *const      no_case = "";
  const yoke_stability_options *o       = s->options;
  const char *const            *cases   = o->n_cases > 0 ? o->cases : &no_case;
  const int   n_methods = o->n_methods > 0 ? o->n_methods : 1, n_cases = o->n_cases > 0 ? o->n_cases : 1;
  yoke_status status = YOKE_OK;
  for (int c = 0; c < n_cases && status == YOKE_OK; ++c) {
    case_sets sets;
    status = case_create(ctx, o, cases[c], &sets);
    for (int m = 0; m < n_methods && status == YOKE_OK; ++m) {
      const yoke_stability_variant v = {.options = o, .method = &methods[m], .n_sets = sets.n, .sets = sets.sets};
      status                         = fill_row(ctx, s, &v, cases[c], &s->out->rows[c * n_methods + m]);
    }
    case_release(&sets);
  }
  return status;
}

/* ---- the study ---- */

static const double *axis_values(yoke_arena *arena, const yoke_stability_axis *axis) {
  double *values = yoke_arena_take(arena, (size_t)axis->n, sizeof *values);
  for (int i = 0; values != NULL && i < axis->n; ++i) values[i] = yoke_stability_axis_value(axis, i);
  return values;
}

static yoke_status prepare(yoke_context *ctx, study *s) {
  const yoke_stability_options *o = s->options;
  yoke_stability_table         *t = s->out;
  yoke_test_model_kind          kind;
  YOKE_TRY(check_options(ctx, o));
  t->facts.is_test_model = o->run->model != NULL && yoke_test_model_find(o->run->model, &kind);
  s->target              = t->facts.is_test_model ? &yoke_closed_form_target : &yoke_engine_target;
  t->facts.model         = yoke_arena_text(&t->arena, yoke_run_name(o->run));
  t->facts.n_rows        = (o->n_methods > 0 ? o->n_methods : 1) * (o->n_cases > 0 ? o->n_cases : 1);
  t->rows                = yoke_arena_take(&t->arena, (size_t)t->facts.n_rows, sizeof *t->rows);
  t->facts.nx            = o->x.name != NULL ? o->x.n : 0;
  t->facts.ny            = o->y.name != NULL ? o->y.n : t->facts.nx > 0 ? 1 : 0;
  if (o->x.name != NULL) t->facts.x = axis_values(&t->arena, &o->x);
  if (o->y.name != NULL) t->facts.y = axis_values(&t->arena, &o->y);
  YOKE_TRY(yoke_arena_check(&t->arena, ctx, "the stability study"));
  for (int i = 0; i < t->facts.n_rows; ++i) t->rows[i].status = YOKE_E_INTERRUPTED; /* until it is done */
  enum { N_OUTPUTS = 3 };
  const yoke_output_use outputs[N_OUTPUTS] = {
      {"the result", o->out}, {"the CSV file", o->csv}, {"the picture", o->svg}};
  const bool has_outputs = o->out != NULL || o->csv != NULL || o->svg != NULL;
  if (t->facts.is_test_model) return yoke_output_check(ctx, NULL, N_OUTPUTS, outputs);
  yoke_model *model = NULL; /* a file that cannot be read is no matter of rows */
  if (o->n_cases == 0 && o->n_methods == 0 && !has_outputs) return YOKE_OK;
  yoke_status status = yoke_run_load(ctx, o->run, &model);
  if (status == YOKE_OK) status = yoke_output_check(ctx, model, N_OUTPUTS, outputs);
  yoke_model_destroy(&model);
  return status;
}

static yoke_status verdict(yoke_context *ctx, const yoke_stability_table *t) {
  for (int i = 0; i < t->facts.n_rows; ++i) {
    if (t->rows[i].status == YOKE_OK) return YOKE_OK;
  }
  if (t->facts.n_rows == 1)
    return yoke_fail(ctx, t->rows[0].status, "%s", t->rows[0].reason != NULL ? t->rows[0].reason : "");
  return yoke_fail(ctx, t->rows[0].status, "no method is possible; the first one (%s): %s", t->rows[0].label,
                   t->rows[0].reason != NULL ? t->rows[0].reason : "");
}

/* Is any point known? An earlier map is not replaced by an empty one. */
static bool has_values(const yoke_stability_table *t) {
  for (int r = 0; r < t->facts.n_rows; ++r) {
    for (size_t i = 0; t->rows[r].values != NULL && i < (size_t)t->facts.nx * (size_t)t->facts.ny; ++i) {
      if (!isnan(t->rows[r].values[i])) return true;
    }
  }
  return false;
}

static yoke_status run_study(yoke_context *ctx, study *s, const yoke_method_choice *methods) {
  const yoke_stability_options *o      = s->options;
  yoke_status                   status = run_cases(ctx, s, methods);
  if (status == YOKE_OK) status = verdict(ctx, s->out);
  if (o->x.name != NULL && (status == YOKE_OK || (status == YOKE_E_INTERRUPTED && has_values(s->out)))) {
    const yoke_status written = yoke_stability_write(ctx, o, s->out);
    if (status == YOKE_OK) status = written;
  }
  return status;
}

yoke_status yoke_stability_study(yoke_context *ctx, const yoke_stability_options *options, yoke_stability_table **out) {
  yoke_stability_options own;
  yoke_run_options       run;
  yoke_method_choice    *methods = NULL;
  *out                           = NULL;
  YOKE_TRY(yoke_sized_take(ctx, options, &own, sizeof own, "yoke_stability_options"));
  YOKE_TRY(yoke_run_options_take(ctx, own.run, &run));
  own.run                 = &run;
  yoke_stability_table *t = yoke_allocate(1, sizeof *t);
  if (t == NULL) return yoke_out_of_memory(ctx, "the stability study");
  t->arena           = yoke_arena_of(ctx);
  study       s      = {.options = &own, .out = t};
  yoke_status status = yoke_methods_take(ctx, own.n_methods, own.methods, &methods);
  if (status == YOKE_OK) status = prepare(ctx, &s);
  if (status == YOKE_OK) {
    *out   = t;
    status = run_study(ctx, &s, methods);
  } else {
    yoke_stability_table_destroy(&t);
  }
  free(methods);
  return status;
}

void yoke_stability_table_destroy(yoke_stability_table **table) {
  if (table == NULL || *table == NULL) return;
  yoke_arena_free(&(*table)->arena);
  free(*table);
  *table = NULL;
}

yoke_status yoke_stability_table_facts_get(yoke_context *ctx, const yoke_stability_table *t,
                                           yoke_stability_facts *out) {
  return yoke_sized_show(ctx, out, &t->facts, sizeof t->facts, "yoke_stability_facts");
}

yoke_status yoke_stability_table_get(yoke_context *ctx, const yoke_stability_table *t, int i, yoke_stability_row *out) {
  return yoke_sized_show_item(ctx, out, t->rows, t->facts.n_rows, i, sizeof *t->rows, "yoke_stability_row");
}
