/* Outputs of a plan by pattern and by name. */
#include "master/plan_directory.h"

#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns ---- */

/* Between brackets dots are those of a range. */
static const char *next_dot(const char *text) {
  for (bool is_index = false; *text != '\0'; ++text) {
    is_index = *text == '[' || (is_index && *text != ']');
    if (*text == '.' && !is_index) return text;
  }
  return NULL;
}

static int n_dots(const char *text) {
  int n = 0;
  for (const char *dot = next_dot(text); dot != NULL; dot = next_dot(dot + 1)) ++n;
  return n;
}

static const char *last_part(const char *text) {
  for (const char *dot = next_dot(text); dot != NULL; dot = next_dot(text)) text = dot + 1;
  return text;
}

/* Does the last part of a pattern begin as the row wants it, or hold one of its names? */
static bool asks_for(const char *pattern, const yoke_quantity *row) {
  const char *part = last_part(pattern);
  if (strncmp(part, row->asked, strlen(row->asked)) == 0) return true;
  for (int k = 0; k < row->n; ++k) {
    char stem[64];
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(row->name[k], "["), row->name[k]);
    if (strstr(part, stem) != NULL) return true;
  }
  return false;
}

bool plan_is_meant(const char *pattern, const plan_shown *shown) {
  if (!yoke_text_matches(pattern, shown->name)) return false;
  if ((shown->of_frame || shown->of_cut) && n_dots(pattern) < n_dots(shown->name)) return false;
  if (shown->of_frame) return true; /* all of it */
  return shown->row == NULL || shown->row->asked == NULL || asks_for(pattern, shown->row);
}

/* What patterns may ask for. */
static plan_hidden find_hidden(int n, char *const *patterns) {
  plan_hidden out = {.frames = false};
  for (int k = 0; k < n; ++k) {
    out.frames = out.frames || n_dots(patterns[k]) > 1;
    for (int i = 0; i < yoke_n_quantity_rows(); ++i)
      out.row[i] = out.row[i] || (yoke_quantity_row(i)->asked != NULL && asks_for(patterns[k], yoke_quantity_row(i)));
  }
  return out;
}

bool plan_is_untold(const yoke_plan *plan, const char *pattern, char *why, size_t size) {
  const char *silent = plan->directory->silent;
  if (silent != NULL && plan_names_total(pattern, YOKE_TOTAL_ENERGY)) {
    snprintf(why, size, "subsystem '%s' does not account for its energy", silent);
    return true;
  }
  if (plan_is_lost_to_halos(plan, pattern)) {
    snprintf(why, size, "%s", plan_halos_tell);
    return true;
  }
  if (plan->directory->has_work || !plan_names_total(pattern, YOKE_TOTAL_DISSIPATED)) return false;
  snprintf(why, size, "work is not integrated along in this run; use cosimulation.energy monitor");
  return true;
}

typedef struct absence {
  const char *pattern;
  bool        is_met;
} absence;

static bool meet_one(void *user, const plan_shown *shown) {
  absence *a = user;
  a->is_met  = plan_is_meant(a->pattern, shown);
  return !a->is_met;
}

bool plan_is_absent(const yoke_plan *plan, const char *pattern) {
  absence a           = {.pattern = pattern};
  char   *patterns[1] = {(char *)(uintptr_t)pattern}; /* read */
  plan_visit_all(&(plan_walk){.plan        = plan,
                              .hidden      = &plan_all_hidden,
                              .with_absent = true,
                              .n_patterns  = 1,
                              .patterns    = patterns,
                              .visit       = meet_one,
                              .user        = &a});
  return a.is_met;
}

/* ---- names ---- */

typedef struct match {
  const char  *name;
  bool         is_found;
  yoke_output *output;
} match;

static bool match_one(void *user, const plan_shown *shown) {
  match *m    = user;
  m->is_found = strcmp(shown->name, m->name) == 0;
  if (m->is_found) *m->output = *shown->output;
  return !m->is_found;
}

typedef struct search {
  const char *wanted;
  char       *nearest;
} search;

static bool search_one(void *user, const plan_shown *shown) {
  search     *s             = user;
  const char *candidates[2] = {shown->name, s->nearest};
  const char *best          = yoke_text_nearest(s->wanted, candidates, s->nearest[0] != '\0' ? 2 : 1);
  if (best == shown->name) snprintf(s->nearest, PLAN_NAME_LENGTH, "%s", shown->name);
  return true;
}

/* "chain.x[123]" without walking ten million names. */
static bool find_in_chain(const yoke_plan *plan, const char *name, yoke_output *out) {
  const char *dot = strrchr(name, '.');
  if (dot == NULL || dot == name || (size_t)(dot - name) >= PLAN_NAME_LENGTH) return false;
  const size_t length = (size_t)(dot - name);
  for (int b = 0; b < plan->directory->n_bodies; ++b) {
    const named_body *body = &plan->directory->bodies[b];
    if (body->kind != YOKE_BODY_CHAIN || strlen(body->name) != length || strncmp(body->name, name, length) != 0)
      continue;
    yoke_chain      chain      = {.n = body->n};
    const yoke_body chain_body = {.kind = YOKE_BODY_CHAIN, .chain = &chain};
    yoke_variable   variable;
    char            word[40];
    snprintf(word, sizeof word, "%s", dot + 1);
    const bool is_acceleration = word[0] == 'a'; /* of the same masses as `x` */
    if (is_acceleration) word[0] = 'x';
    if (strlen(dot + 1) >= sizeof word || !yoke_body_component_find(&chain_body, word, &variable)) return false;
    *out = plan_component_output(plan, b,
                                 is_acceleration        ? YOKE_NATIVE_A
                                 : variable.is_velocity ? YOKE_NATIVE_V
                                                        : YOKE_NATIVE_Q,
                                 variable.mass);
    return true;
  }
  return false;
}

bool plan_search(const yoke_plan *plan, const char *name, yoke_output *out, char *nearest) {
  match  exact = {.name = name, .output = out};
  search near  = {.wanted = name, .nearest = nearest};
  nearest[0]   = '\0';
  if (find_in_chain(plan, name, out)) return true;
  plan_visit_all(&(plan_walk){.plan = plan, .hidden = &plan_all_hidden, .visit = match_one, .user = &exact});
  if (exact.is_found) return true;
  plan_visit_all(&(plan_walk){.plan = plan, .hidden = &plan_all_hidden, .visit = search_one, .user = &near});
  return false;
}

yoke_status yoke_plan_find_output(yoke_context *ctx, const yoke_plan *plan, const char *name, yoke_output *out) {
  char nearest[PLAN_NAME_LENGTH], why[PLAN_WHY_LENGTH];
  for (int i = 0; i < plan->outputs.n; ++i) { /* also those that were added */
    if (strcmp(plan->outputs.name[i], name) != 0) continue;
    *out = plan->outputs.list[i];
    return YOKE_OK;
  }
  if (plan_search(plan, name, out, nearest)) return YOKE_OK;
  if (plan_is_untold(plan, name, why, sizeof why))
    return yoke_fail(ctx, YOKE_E_USAGE, "output '%s' does not exist: %s", name, why);
  return yoke_fail(ctx, YOKE_E_USAGE, "there is no output '%s'%s%s%s", name,
                   nearest[0] != '\0' ? "; did you mean '" : "", nearest, nearest[0] != '\0' ? "'?" : "");
}

typedef struct listing {
  yoke_output_visitor visit;
  void               *user;
} listing;

static bool list_one(void *user, const plan_shown *shown) {
  const listing *list = user;
  return list->visit(list->user, shown->name, shown->unit, shown->output);
}

void yoke_plan_visit_outputs(const yoke_plan *plan, yoke_output_visitor visit, void *user) {
  listing list = {visit, user};
  plan_visit_all(
      &(plan_walk){.plan = plan, .whole_chains = true, .hidden = &plan_all_hidden, .visit = list_one, .user = &list});
}

static bool count_one(void *user, const plan_shown *shown) {
  (void)shown;
  ++*(int64_t *)user;
  return true;
}

int64_t yoke_plan_count_outputs(const yoke_plan *plan) {
  int64_t n = 0;
  plan_visit_all(&(plan_walk){.plan = plan, .whole_chains = true, .is_count = true, .visit = count_one, .user = &n});
  return n;
}

/* ---- selection ---- */

typedef struct selection {
  yoke_output_list *list;
  int               n_patterns;
  char *const      *patterns;
  bool             *used;
  bool              out_of_memory;
} selection;

static bool select_one(void *user, const plan_shown *shown) {
  selection *s      = user;
  bool       wanted = s->n_patterns == 0;
  for (int k = 0; k < s->n_patterns; ++k) {
    if (plan_is_meant(s->patterns[k], shown)) wanted = s->used[k] = true;
  }
  if (!wanted) return true;
  s->out_of_memory = !yoke_output_list_add(s->list, shown->output, shown->name, shown->unit);
  return !s->out_of_memory;
}

/* A pattern that selects nothing. */
static yoke_status tell_unused(const plan_builder *b, const char *pattern) {
  if (plan_left_out_with_work(b, pattern)) {
    yoke_note(b->ctx, "output.select: '%s' is left out: no work is counted with cosimulation.energy off", pattern);
    return YOKE_OK;
  }
  if (plan_is_absent(b->plan, pattern)) {
    const bool is_lost = plan_is_lost_to_halos(b->plan, pattern);
    yoke_note(b->ctx, "output.select: '%s' matches no output of this run%s%s", pattern, is_lost ? ": " : "",
              is_lost ? plan_halos_tell : "");
    return YOKE_OK;
  }
  char why[PLAN_WHY_LENGTH];
  if (plan_is_untold(b->plan, pattern, why, sizeof why))
    return yoke_fail(b->ctx, YOKE_E_MODEL, "output.select: '%s' does not exist: %s", pattern, why);
  yoke_output unused;
  char        nearest[PLAN_NAME_LENGTH];
  (void)plan_search(b->plan, pattern, &unused, nearest);
  return yoke_fail(b->ctx, YOKE_E_MODEL, "output.select: '%s' matches no output%s%s%s", pattern,
                   nearest[0] != '\0' ? "; did you mean '" : "", nearest, nearest[0] != '\0' ? "'?" : "");
}

yoke_status plan_select_outputs(plan_builder *b) {
  const yoke_output_def *def    = &b->model->output;
  const plan_hidden      hidden = find_hidden(def->n_select, def->select);
  selection              s      = {.list = &b->plan->outputs, .n_patterns = def->n_select, .patterns = def->select};
  s.used                        = yoke_allocate((size_t)def->n_select + 1, sizeof *s.used);
  if (s.used == NULL) return plan_no_memory(b);
  plan_visit_all(&(plan_walk){.plan         = b->plan,
                              .whole_chains = def->n_select > 0,
                              .hidden       = &hidden,
                              .n_patterns   = def->n_select,
                              .patterns     = def->select,
                              .visit        = select_one,
                              .user         = &s});
  yoke_output_list_trim(s.list);
  yoke_status status = s.out_of_memory ? plan_no_memory(b) : YOKE_OK;
  for (int k = 0; k < def->n_select && status == YOKE_OK; ++k) {
    if (!s.used[k])
      status = tell_unused(b, def->select[k]);
    else if (plan_is_lost_to_halos(b->plan, def->select[k])) /* "*.leak": the total is there */
      yoke_note(b->ctx, "output.select: '%s' matches less than it might: %s", def->select[k], plan_halos_tell);
  }
  free(s.used);
  return status;
}
