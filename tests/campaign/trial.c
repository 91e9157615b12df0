#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "child.h"
#include "compare.h"
#include "families.h"
#include "trial.h"

/* Two references differ by more: not settled. A start that is off by NEARBY may grow GROWTH-fold. */
#define SETTLED 1e-5
#define NEARBY 1e-6
#define GROWTH 1e3

#define WRONG 0.1
#define GOOD 0.01

const char *verdict_words(verdict v) {
  static const char *const words[] = {
#define VERDICT(name, text) text,
      VERDICTS(VERDICT)
#undef VERDICT
  };
  return words[v];
}

/* ---- drawing ---- */

const char *trial_family_name(int family) {
  static const char *const names[] = {
#define FAMILY(name) #name,
#include "family_list.def"
#undef FAMILY
      "files"};
  return names[family];
}

int trial_family(long seed) {
  return (int)(seed % N_FAMILIES);
}

void trial_model(long seed, sketch *s, text *model) {
  static void (*const families[])(sketch *) = {
#define FAMILY(name) family_##name,
#include "family_list.def"
#undef FAMILY
  };
  draw d = draw_from((uint64_t)seed, 0);
  char name[32];
  *s = (sketch){.draw = &d};
  families[trial_family(seed)](s);
  sketch_finish(s);
  s->draw = NULL;
  snprintf(name, sizeof name, "seed %ld", seed);
  sketch_write(s, name, model);
}

method trial_method(long seed, const sketch *s, int slot, int trial, const char *given) {
  static const method_kind kinds[TRIAL_SLOTS] = {METHOD_DEFAULT, METHOD_FIXED, METHOD_CONTROLLED, METHOD_FIXED};
  draw                     d                  = draw_from((uint64_t)seed, (uint64_t)(1 + slot * TRIAL_METHODS + trial));
  return given != NULL ? method_given(&d, s, kinds[slot], given) : method_draw(&d, s, kinds[slot]);
}

/* ---- runs ---- */

/* A run of the model in `path` with its result as a table. */
typedef struct run {
  outcome   outcome;
  bool      has_table;
  csv_table table;
} run;

static run run_model(const trial_settings *t, const char *path, const char *arguments) {
  char words[1000], csv[200], part[200];
  run  r = {0};
  snprintf(csv, sizeof csv, "%s/run.csv", t->folder);
  snprintf(part, sizeof part, "%s/run.part.csv", t->folder);
  (void)remove(csv);
  (void)remove(part); /* of a run that was stopped */
  snprintf(words, sizeof words, "run %s --json --threads 1 --csv %s %s", path, csv, arguments);
  assert_true(child_run(t->program, t->folder, words, t->seconds, &r.outcome));
  r.has_table = r.outcome.exit_code == 0 && access(csv, R_OK) == 0;
  if (r.has_table) r.table = csv_parse(read_text(csv));
  return r;
}

static void release_run(run *r) {
  if (r->has_table) csv_release(&r->table);
}

/* A model, and what its runs are compared with. */
typedef struct subject {
  const trial_settings *settings;
  const char           *path;
  const char           *common; /* options of all co-simulations */
  double                length, time;
  bool                  jumps;
  run                   reference;
  record                blank; /* seed and family */
} subject;

static bool settled(const subject *s, const char *arguments, double tolerance) {
  run        other = run_model(s->settings, s->path, arguments);
  const bool near =
      other.has_table && compare_tables(&other.table, &s->reference.table, 1.0, 1.0, s->jumps).error <= tolerance;
  release_run(&other);
  return near;
}

/* The model as a whole at handy size; VERDICT_RIGHT: settled. `nearby`: options of a motion that is off by NEARBY, or NULL. */
static verdict find_reference(subject *s, const char *handy, const char *nearby) {
  char words[300];
  snprintf(words, sizeof words, "--monolithic --rtol 1e-12 %s", handy);
  s->reference = run_model(s->settings, s->path, words);
  if (!s->reference.has_table) return VERDICT_NO_REFERENCE;
  snprintf(words, sizeof words, "--monolithic --rtol 1e-11 %s", handy);
  if (!settled(s, words, SETTLED)) return VERDICT_CHAOTIC;
  if (nearby == NULL) return VERDICT_RIGHT;
  snprintf(words, sizeof words, "--monolithic --rtol 1e-11 %s %s", handy, nearby);
  return settled(s, words, GROWTH * NEARBY) ? VERDICT_RIGHT : VERDICT_CHAOTIC;
}

static verdict judge(const outcome *o, double error) {
  if (o->exit_code == 0 && !o->split) return VERDICT_REFUSED; /* nothing to couple */
  if (o->exit_code == 0) {
    if (error > WRONG) return o->warned ? VERDICT_WARNED : VERDICT_SILENT;
    return o->warned_strongly && error < GOOD ? VERDICT_FALSE_ALARM : VERDICT_RIGHT;
  }
  if (o->exit_code == 2 || o->exit_code == 3) return VERDICT_REFUSED;
  if (o->exit_code == 4 || o->exit_code == 5) return VERDICT_ENDED;
  return o->out_of_time ? VERDICT_NO_END : VERDICT_FAILED;
}

static record run_method(const subject *s, const method *m) {
  record r = s->blank;
  char   words[600];
  snprintf(words, sizeof words, "%s%s", s->common, m->arguments);
  run        one  = run_model(s->settings, s->path, words);
  difference diff = {(double)NAN, 0.0, ""};
  if (one.has_table) diff = compare_tables(&one.table, &s->reference.table, s->length, s->time, s->jumps);
  if (one.outcome.exit_code == 0 && !one.has_table) diff.error = (double)INFINITY;
  r.verdict          = judge(&one.outcome, diff.error);
  r.kind             = m->kind;
  r.error            = diff.error;
  r.time             = diff.time;
  r.estimated        = one.outcome.accumulated_error;
  r.rtol             = m->rtol;
  r.seconds          = one.outcome.seconds;
  r.evaluations      = one.outcome.evaluations;
  r.best_evaluations = (double)NAN;
  r.exit_code        = one.outcome.exit_code;
  r.split            = one.outcome.split;
  r.warned           = one.outcome.warned;
  r.warned_strongly  = one.outcome.warned_strongly;
  snprintf(r.arguments, sizeof r.arguments, "%s", words + strspn(words, " "));
  snprintf(r.quantity, sizeof r.quantity, "%s", diff.quantity);
  snprintf(r.message, sizeof r.message, "%s", one.outcome.message);
  release_run(&one);
  return r;
}

/* The default against fixed steps that halve: right-hand sides of the cheapest that is as accurate. Steps that are far too long may
 * throw a model out of its world, where its solvers find no end, and those that cost twice the default have lost: neither is
 * given more time. */
static record run_grid(const subject *s) {
  const outcome *o      = &s->reference.outcome;
  const method   chosen = {.kind = METHOD_DEFAULT, .rtol = METHOD_DEFAULT_RTOL};
  record         r      = run_method(s, &chosen);
  if (r.exit_code != 0 || !r.split) return r;
  trial_settings brief = *s->settings;
  subject        again = *s;
  bool           near  = false; /* a fixed step had about the right result */
  brief.seconds        = fmin(brief.seconds, 1.0 + 2.0 * r.seconds);
  again.settings       = &brief;
  for (int k = 2; k <= 13; ++k) {
    method fixed = {.kind = METHOD_FIXED};
    snprintf(fixed.arguments, sizeof fixed.arguments, " --step %.17g", s->time * (o->t_end - o->t_start) / (1 << k));
    const record one = run_method(&again, &fixed);
    if (one.error <= r.error && !(one.evaluations >= r.best_evaluations)) r.best_evaluations = one.evaluations;
    if (one.evaluations > 2.0 * r.evaluations || (near && one.verdict == VERDICT_NO_END)) break;
    near = near || one.error <= WRONG;
  }
  return r;
}

static void tell_model(const subject *s, verdict v, trial_take *take, void *user) {
  record r           = s->blank;
  r.verdict          = v;
  r.error            = (double)NAN;
  r.estimated        = (double)NAN;
  r.best_evaluations = (double)NAN;
  r.exit_code        = s->reference.outcome.exit_code;
  snprintf(r.message, sizeof r.message, "%s", s->reference.outcome.message);
  take(user, &r);
}

void trial_seed(const trial_settings *t, long seed, trial_take *take, void *user) {
  static const char handy[] = "--set parameters.L=1 --set parameters.M=1 --set parameters.T=1";
  sketch           *model   = malloc(sizeof *model);
  text             *words   = malloc(sizeof *words);
  char              path[200], nearby[64];
  assert_non_null(model);
  assert_non_null(words);
  trial_model(seed, model, words);
  snprintf(path, sizeof path, "%s/seed-%ld.yaml", t->folder, seed);
  write_text(path, words->at);
  subject s = {.settings = t,
               .path     = path,
               .common   = "",
               .length   = model->length,
               .time     = model->time,
               .jumps    = model->jumps,
               .blank    = {.seed = seed, .family = trial_family(seed), .size = model->length}};
  snprintf(nearby, sizeof nearby, "--set parameters.w=%.17g", 1.0 + NEARBY);
  const verdict v = find_reference(&s, handy, nearby);
  if (v != VERDICT_RIGHT) {
    tell_model(&s, v, take, user);
  } else if (t->grid) {
    const record r = run_grid(&s);
    take(user, &r);
  } else {
    for (int slot = 0; slot < TRIAL_SLOTS; ++slot) {
      for (int trial = 0, refused = 1; refused && trial < TRIAL_METHODS; ++trial) {
        const method m = trial_method(seed, model, slot, trial, t->method);
        record       r = run_method(&s, &m);
        r.slot         = slot;
        r.trial        = trial;
        refused        = r.verdict == VERDICT_REFUSED && m.kind != METHOD_DEFAULT;
        take(user, &r);
      }
    }
  }
  release_run(&s.reference);
  (void)remove(path);
  free(model);
  free(words);
}

void trial_file(const trial_settings *t, const char *path, int i, trial_take *take, void *user) {
  char    common[200];
  subject s     = {.settings = t,
                   .path     = path,
                   .common   = common,
                   .length   = 1.0,
                   .time     = 1.0,
                   .jumps    = true,
                   .blank    = {.seed = -1 - i, .family = N_FAMILIES, .size = 1.0}};
  run     first = run_model(t, path, "--monolithic"); /* tells the span */
  snprintf(common, sizeof common, "--set cosimulation={} --set solvers={} --set output.every=%.17g",
           (first.outcome.t_end - first.outcome.t_start) / 200.0);
  const verdict v = first.has_table ? find_reference(&s, common, NULL) : VERDICT_NO_REFERENCE;
  if (v == VERDICT_RIGHT) {
    const record r = run_grid(&s);
    take(user, &r);
  } else {
    tell_model(&s, v, take, user);
  }
  release_run(&first);
  release_run(&s.reference);
}
