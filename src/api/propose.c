/* Proposal of a split as text: the section `split:`, and the model file with it. Public part: yoke/inspect.h. */
#include <yoke/inspect.h>

#include "api/output_check.h"
#include "api/run.h"
#include "api/split_trial.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/model_file.h"
#include "master/partition.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct yoke_split_proposal {
  yoke_arena       arena; /* of parts, cuts and their names */
  yoke_split_facts facts;
  yoke_cut_part   *parts;
  yoke_cut        *cuts;
  yoke_split_trial trials[YOKE_MOST_SPLIT_TRIALS];
  char            *split, *model; /* of the facts */
};

/* ---- the section ---- */

/* A name that no body has: "part1", or "subsystem1" where a body is called like that. */
static bool is_free(const yoke_model *model, const char *prefix) {
  const size_t length = strlen(prefix);
  for (int b = 0; b < model->n_bodies; ++b) {
    if (strncmp(model->bodies[b].name, prefix, length) == 0) return false;
  }
  for (int i = 0; i < model->n_foreigns; ++i) {
    if (strncmp(model->foreigns[i].name, prefix, length) == 0) return false;
  }
  return true;
}

/* Is the model one chain in equal parts, as `split: {c: K}` cuts it? */
static bool is_equal_chain(const yoke_model *model, const yoke_assignment *a) {
  if (a->n_bodies != 1 || a->pieces[0].n == 0) return false;
  const long long n = model->bodies[0].chain->n;
  for (int k = 0; k < a->n_parts; ++k) {
    if (a->pieces[k].first != (int)(k * n / a->n_parts)) return false;
  }
  return true;
}

static void name_parts(const yoke_model *model, const yoke_assignment *a, yoke_split_proposal *p) {
  const char *prefix = is_free(model, "part") ? "part" : is_free(model, "subsystem") ? "subsystem" : "split_part";
  const bool  equal  = is_equal_chain(model, a);
  for (int k = 0; k < p->facts.n_parts; ++k) {
    char name[200];
    if (equal) {
      snprintf(name, sizeof name, "%.100s[%d]", model->bodies[0].name, k + 1);
    } else {
      snprintf(name, sizeof name, "%s%d", prefix, k + 1);
    }
    p->parts[k].name = yoke_arena_text(&p->arena, name);
  }
}

/* "rod[12]" is number 12 of rod: length of "rod", else 0. */
static size_t counted_name(const char *name, long *number) {
  const char *bracket = strrchr(name, '[');
  char       *end;
  if (bracket == NULL || !isdigit((unsigned char)bracket[1])) return 0;
  *number = strtol(bracket + 1, &end, 10);
  return strcmp(end, "]") == 0 ? (size_t)(bracket - name) : 0;
}

/* Bodies of part k; neighbours rod[3], rod[4], rod[5] as one range. */
static void put_bodies(FILE *file, const yoke_model *model, const yoke_assignment *a, int k) {
  bool is_first = true;
  for (int b = 0; b < a->n_bodies; ++b) {
    if (a->part_of[b] != k) continue;
    const char  *name   = model->bodies[b].name;
    long         number = 0, next = 0;
    const size_t length = counted_name(name, &number);
    long         last   = number;
    while (length > 0 && b + 1 < a->n_bodies && a->part_of[b + 1] == k &&
           counted_name(model->bodies[b + 1].name, &next) == length && next == last + 1 &&
           strncmp(model->bodies[b + 1].name, name, length) == 0) {
      last = next;
      ++b;
    }
    if (last > number) {
      fprintf(file, "%s\"%.*s[%ld..%ld]\"", is_first ? "" : ", ", (int)length, name, number, last);
    } else {
      fprintf(file, strpbrk(name, "[]{},\"':#") != NULL ? "%s\"%s\"" : "%s%s", is_first ? "" : ", ", name);
    }
    is_first = false;
  }
}

static char *section_text(const yoke_model *model, const yoke_assignment *a, const yoke_split_proposal *p) {
  char  *text = NULL;
  size_t size = 0;
  FILE  *file = open_memstream(&text, &size);
  if (file == NULL) return NULL;
  if (is_equal_chain(model, a)) {
    fprintf(file, "split: {%s: %d}\n", model->bodies[0].name, p->facts.n_parts);
  } else {
    fputs("split:\n", file);
    for (int k = 0; k < p->facts.n_parts; ++k) {
      fprintf(file, "  %s: [", p->parts[k].name);
      const yoke_chain_piece *piece = &a->pieces[k];
      if (piece->n > 0) {
        fprintf(file, "\"%s[%d..%d]\"", model->bodies[piece->chain].name, piece->first + 1, piece->first + piece->n);
      } else {
        put_bodies(file, model, a, k);
      }
      fputs("]\n", file);
    }
  }
  const bool failed = ferror(file) != 0;
  if (fclose(file) == 0 && !failed) return text;
  free(text);
  return NULL;
}

/* ---- the model with it ---- */

static bool starts_key(const char *line, const char *key) {
  const size_t length = strlen(key);
  return strncmp(line, key, length) == 0 && (line[length] == ':' || line[length] == ' ');
}

/* The line after the value of the key that starts at `line`: the next one that is not indented, not empty, no comment and no closing
 * bracket. Comments and empty lines before it stay with the next key. */
static const char *after_value(const char *line) {
  const char *next = strchr(line, '\n');
  const char *end  = next != NULL ? next + 1 : line + strlen(line);
  for (const char *at = end; *at != '\0';) {
    const size_t length    = strcspn(at, "\n");
    const bool   is_blank  = strspn(at, " \t\r") == length;
    const bool   is_inside = *at == ' ' || *at == '\t' || *at == '}' || *at == ']';
    if (!is_blank && *at != '#' && !is_inside) break;
    at += length + (at[length] == '\n');
    if (is_inside && !is_blank) end = at;
  }
  return end;
}

/* Text with `section` in place of its own split, or at its end. NULL: out of memory. */
static char *replace_split(const char *text, const char *section) {
  const char *from = NULL;
  for (const char *line = text; *line != '\0' && from == NULL;) {
    if (starts_key(line, "split")) from = line;
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  const size_t length = strlen(text), size = length + strlen(section) + 3;
  char        *out = yoke_allocate(size, 1);
  if (out == NULL) return NULL;
  if (from == NULL) {
    snprintf(out, size, "%s%s%s", text, length > 0 && text[length - 1] != '\n' ? "\n" : "", section);
  } else {
    snprintf(out, size, "%.*s%s%s", (int)(from - text), text, section, after_value(from));
  }
  return out;
}

/* The text of a file. Gives; *out NULL: it cannot be opened again. */
static yoke_status read_file(yoke_context *ctx, const char *path, char **out) {
  FILE *file = fopen(path, "rb");
  *out       = NULL;
  if (file == NULL) return YOKE_OK;
  size_t used = 0, capacity = 0;
  char  *text = NULL;
  while (yoke_grow(&text, &capacity, used + (1 << 16), 1)) {
    const size_t got = fread(text + used, 1, capacity - used - 1, file);
    used += got;
    text[used] = '\0';
    if (got > 0) continue;
    fclose(file);
    *out = text;
    return YOKE_OK;
  }
  fclose(file);
  free(text);
  return yoke_out_of_memory(ctx, "'%s'", path);
}

/* Does the text with its new split read as a model of n parts? YOKE_E_MODEL: no. */
static yoke_status try_text(yoke_context *ctx, const char *path, const char *text, int n_parts) {
  yoke_model *model = NULL;
  if (text == NULL) return YOKE_E_MODEL;
  YOKE_TRY(yoke_model_file_read_text(ctx, path, text, strlen(text), NULL, &model));
  const bool is_fine = model->n_parts - model->n_foreigns == n_parts;
  yoke_model_destroy(&model);
  return is_fine ? YOKE_OK : YOKE_E_MODEL;
}

/* The user's own text, with its comments, where that reads; else the model as one file (includes, overrides, flow style). */
static yoke_status model_text(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                              yoke_split_proposal *p) {
  const char *path = yoke_run_name(options);
  char       *own  = NULL;
  if (options->n_sets == 0 && options->model != NULL) YOKE_TRY(read_file(ctx, path, &own));
  bool alone = own != NULL;
  for (const char *line = own; alone && line != NULL && *line != '\0';) {
    alone = !starts_key(line, "include");
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  if (alone) p->model = replace_split(own, p->split);
  free(own);
  if (alone && p->model == NULL) return yoke_out_of_memory(ctx, "the model with its split");
  const yoke_status with_comments = try_text(NULL, path, p->model, p->facts.n_parts);
  if (with_comments == YOKE_OK) return YOKE_OK;
  if (with_comments == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the model with its split");
  free(p->model);
  p->model = replace_split(model->text, p->split);
  if (p->model == NULL) return yoke_out_of_memory(ctx, "the model with its split");
  const yoke_status as_one = try_text(ctx, path, p->model, p->facts.n_parts);
  if (as_one == YOKE_OK || as_one == YOKE_E_MEMORY) return as_one;
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "the model cannot take the proposed split: see above; it may name subsystems or cuts of its old split "
      "in `solvers` or `cosimulation`");
}

/* ---- public ---- */

static yoke_status take_proposal(yoke_context *ctx, const yoke_proposal *from, yoke_split_proposal *to) {
  to->facts = (yoke_split_facts){.n_parts         = from->n_parts,
                                 .n_cuts          = from->n_cuts,
                                 .balance         = from->balance,
                                 .frequency_range = {from->frequency_range[0], from->frequency_range[1]},
                                 .n_candidates    = from->n_candidates,
                                 .n_groups        = from->n_groups};
  to->parts = yoke_arena_take(&to->arena, (size_t)from->n_parts, sizeof *to->parts);
  to->cuts  = yoke_arena_take(&to->arena, (size_t)from->n_cuts, sizeof *to->cuts);
  YOKE_TRY(yoke_arena_check(&to->arena, ctx, "the proposal of a split"));
  for (int k = 0; k < from->n_parts; ++k) {
    const yoke_proposal_part *part = &from->parts[k];
    to->parts[k] = (yoke_cut_part){.is_piece = part->is_piece, .n_bodies = part->n_bodies, .cost = part->cost};
  }
  for (int i = 0; i < from->n_cuts; ++i) {
    const yoke_proposal_cut *cut = &from->cuts[i];
    to->cuts[i]                  = (yoke_cut){.name       = yoke_arena_text(&to->arena, cut->name != NULL ? cut->name : ""),
                                              .kind       = yoke_arena_text(&to->arena, cut->kind),
                                              .part       = {cut->part[0], cut->part[1]},
                                              .stiffness  = cut->stiffness,
                                              .frequency  = cut->frequency,
                                              .mass_ratio = cut->mass_ratio,
                                              .is_loaded  = cut->is_loaded,
                                              .is_rigid   = cut->is_rigid};
  }
  return yoke_arena_check(&to->arena, ctx, "the proposal of a split");
}

/* Where the number of parts is free there is no need to cut rigid joints. */
static yoke_status propose(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model, int n_parts,
                           bool is_number_given, yoke_split_proposal *p) {
  yoke_assignment assignment = {0};
  yoke_proposal   proposal   = {0};
  yoke_status     status     = yoke_partition_propose(ctx, model, n_parts, is_number_given, &assignment, &proposal);
  if (status == YOKE_OK) status = take_proposal(ctx, &proposal, p);
  if (status == YOKE_OK) {
    name_parts(model, &assignment, p);
    if (!p->arena.has_failed) p->split = section_text(model, &assignment, p);
    if (p->split == NULL) status = yoke_out_of_memory(ctx, "the proposal of a split");
  }
  if (status == YOKE_OK) status = model_text(ctx, options, model, p);
  p->facts.split = p->split;
  p->facts.model = p->model;
  yoke_assignment_release(&assignment);
  yoke_proposal_release(&proposal);
  return status;
}

static yoke_status out_of_memory(yoke_context *ctx) {
  return yoke_out_of_memory(ctx, "the proposal of a split");
}

/* A proposal of n parts in *out, how fast it runs in *time. > 0: there is none. */
static yoke_status try_parts(const yoke_run_options *options, const yoke_model *model, int n, int threads,
                             yoke_split_proposal **out, double *time) {
  yoke_context *quiet = NULL; /* what candidates say is of no use */
  *out                = yoke_allocate(1, sizeof **out);
  if (*out == NULL || yoke_context_create(&quiet) != YOKE_OK) return YOKE_E_MEMORY;
  yoke_status status = propose(quiet, options, model, n, false, *out);
  yoke_model *parted = NULL;
  if (status == YOKE_OK)
    status =
        yoke_model_file_read_text(quiet, yoke_run_name(options), (*out)->model, strlen((*out)->model), NULL, &parted);
  if (status == YOKE_OK) status = yoke_split_try(parted, false, threads, options->interrupted, time);
  yoke_model_destroy(&parted);
  yoke_context_destroy(&quiet);
  if (status == YOKE_E_MEMORY || status == YOKE_E_INTERRUPTED) return status;
  return status < 0 ? YOKE_NOT_CONVERGED : status;
}

static void note_trial(yoke_split_trial *trials, int *n, int n_parts, double time) {
  trials[(*n)++] = (yoke_split_trial){.size = sizeof *trials, .n_parts = n_parts, .time = time};
}

/* Can the model be cut at all? If not, `ctx` gets to know why. */
static yoke_status can_cut(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model) {
  yoke_split_proposal *p = yoke_allocate(1, sizeof *p);
  if (p == NULL) return out_of_memory(ctx);
  const yoke_status status = propose(ctx, options, model, 2, false, p);
  yoke_split_proposal_destroy(&p);
  return status;
}

/* The fastest of 2, 4, 8 ... parts; a number that is far slower than the best one ends the search. */
static yoke_status choose(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                          yoke_split_proposal **out) {
  const int            threads = options->threads > 0 ? options->threads : yoke_team_n_processors();
  yoke_split_trial     trials[YOKE_MOST_SPLIT_TRIALS];
  int                  n = 0;
  double               time, least = (double)INFINITY;
  yoke_split_proposal *candidate = NULL;
  YOKE_TRY(can_cut(ctx, options, model));
  yoke_status status = yoke_split_try(model, true, threads, options->interrupted, &time);
  note_trial(trials, &n, 1, status == YOKE_OK ? time : (double)NAN);
  if (status != YOKE_E_MEMORY && status != YOKE_E_INTERRUPTED)
    status = YOKE_OK; /* parts of others do not run as a whole */
  for (int parts = 2; status >= 0 && n < YOKE_MOST_SPLIT_TRIALS; parts *= 2) {
    status = try_parts(options, model, parts, threads, &candidate, &time);
    if (status != YOKE_OK && (candidate == NULL || candidate->model == NULL)) break; /* no more groups */
    note_trial(trials, &n, parts, status == YOKE_OK ? time : (double)NAN);
    if (status == YOKE_OK && time < least) {
      yoke_split_proposal *slower = *out;
      *out                        = candidate;
      candidate                   = slower;
      least                       = time;
    }
    yoke_split_proposal_destroy(&candidate);
    if (status == YOKE_OK && time > 2.0 * least) break;
  }
  yoke_split_proposal_destroy(&candidate);
  if (status == YOKE_E_MEMORY) return out_of_memory(ctx);
  if (status == YOKE_E_INTERRUPTED) return yoke_fail(ctx, status, "interrupted before a number of parts was chosen");
  if (*out == NULL)
    return yoke_fail(
        ctx, YOKE_E_NOT_CONVERGED,
        "no number of parts was found with which the model runs; ask for one number (-n K) and look at what "
        "it says");
  memcpy((*out)->trials, trials, sizeof trials);
  (*out)->facts.n_trials = n;
  (*out)->facts.threads  = threads;
  return YOKE_OK;
}

yoke_status yoke_split_propose(yoke_context *ctx, const yoke_run_options *options, int n_parts,
                               yoke_split_proposal **out) {
  yoke_run_options own;
  yoke_model      *model = NULL;
  *out                   = NULL;
  YOKE_TRY(yoke_run_options_take(ctx, options, &own));
  if (n_parts < 2 && n_parts != 0)
    return yoke_fail(ctx, YOKE_E_USAGE, "%d parts asked for, expected at least 2, or 0: as many as are fastest",
                     n_parts);
  yoke_split_proposal *p = n_parts > 0 ? yoke_allocate(1, sizeof *p) : NULL;
  if (p == NULL && n_parts > 0) return out_of_memory(ctx);
  const yoke_output_use output = {"the model with its split", own.out};
  yoke_status           status = yoke_run_load(ctx, &own, &model);
  if (status == YOKE_OK) status = yoke_output_check(ctx, model, 1, &output);
  if (status == YOKE_OK)
    status = n_parts > 0 ? propose(ctx, &own, model, n_parts, true, p) : choose(ctx, &own, model, &p);
  if (status == YOKE_OK && own.out != NULL) status = yoke_output_file_write_text(ctx, own.out, p->model);
  yoke_model_destroy(&model);
  if (status == YOKE_OK)
    *out = p;
  else
    yoke_split_proposal_destroy(&p);
  return status;
}

void yoke_split_proposal_destroy(yoke_split_proposal **proposal) {
  if (proposal == NULL || *proposal == NULL) return;
  yoke_arena_free(&(*proposal)->arena);
  free((*proposal)->split);
  free((*proposal)->model);
  free(*proposal);
  *proposal = NULL;
}

yoke_status yoke_split_proposal_facts_get(yoke_context *ctx, const yoke_split_proposal *p, yoke_split_facts *out) {
  return yoke_sized_show(ctx, out, &p->facts, sizeof p->facts, "yoke_split_facts");
}

yoke_status yoke_split_proposal_part(yoke_context *ctx, const yoke_split_proposal *p, int i, yoke_cut_part *out) {
  return yoke_sized_show_item(ctx, out, p->parts, p->facts.n_parts, i, sizeof *p->parts, "yoke_cut_part");
}

yoke_status yoke_split_proposal_cut(yoke_context *ctx, const yoke_split_proposal *p, int i, yoke_cut *out) {
  return yoke_sized_show_item(ctx, out, p->cuts, p->facts.n_cuts, i, sizeof *p->cuts, "yoke_cut");
}

yoke_status yoke_split_proposal_trial(yoke_context *ctx, const yoke_split_proposal *p, int i, yoke_split_trial *out) {
  return yoke_sized_show_item(ctx, out, p->trials, p->facts.n_trials, i, sizeof *p->trials, "yoke_split_trial");
}
