/* Proposal of a split as text: the section `split:`, and the model file with it. Public part: yoke/run.h. */
#include "api/output_check.h"
#include "api/run.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/text.h"
#include "io/model_file.h"
#include "master/partition.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the section ---- */

/* A name that no body has: "part1", or "subsystem1" where a body is called like that. */
static bool is_free(const yoke_model *model, const char *prefix) {
  const size_t length = strlen(prefix);
  for (int b = 0; b < model->n_bodies; ++b) {
    if (strncmp(model->bodies[b].name, prefix, length) == 0) return false;
  }
  return true;
}

/* Is the model one chain in equal parts, as `split: {c: K}` cuts it? */
static bool is_equal_chain(const yoke_model *model, const yoke_assignment *a) {
  if (model->n_bodies != 1 || a->pieces[0].n == 0) return false;
  const long long n = model->bodies[0].chain->n;
  for (int k = 0; k < a->n_parts; ++k) {
    if (a->pieces[k].first != (int)(k * n / a->n_parts)) return false;
  }
  return true;
}

static bool name_parts(const yoke_model *model, const yoke_assignment *a, yoke_split_proposal *p) {
  const char *prefix = is_free(model, "part") ? "part" : is_free(model, "subsystem") ? "subsystem" : "split_part";
  const bool  equal  = is_equal_chain(model, a);
  bool        done   = true;
  for (int k = 0; k < p->n_parts; ++k) {
    char name[200];
    if (equal) {
      snprintf(name, sizeof name, "%.100s[%d]", model->bodies[0].name, k + 1);
    } else {
      snprintf(name, sizeof name, "%s%d", prefix, k + 1);
    }
    p->parts[k].name = yoke_text_copy(name);
    done             = done && p->parts[k].name != NULL;
  }
  return done;
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
  for (int b = 0; b < model->n_bodies; ++b) {
    if (a->part_of[b] != k) continue;
    const char  *name   = model->bodies[b].name;
    long         number = 0, next = 0;
    const size_t length = counted_name(name, &number);
    long         last   = number;
    while (length > 0 && b + 1 < model->n_bodies && a->part_of[b + 1] == k &&
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
    fprintf(file, "split: {%s: %d}\n", model->bodies[0].name, p->n_parts);
  } else {
    fputs("split:\n", file);
    for (int k = 0; k < p->n_parts; ++k) {
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

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t used = 0, capacity = 1 << 16;
  char  *text = malloc(capacity);
  while (text != NULL) {
    used += fread(text + used, 1, capacity - used - 1, file);
    if (used + 1 < capacity) break;
    char *larger = realloc(text, capacity *= 2);
    if (larger == NULL) free(text);
    text = larger;
  }
  if (text != NULL) text[used] = '\0';
  fclose(file);
  return text;
}

/* Does the text with its new split read as a model of n parts? */
static bool is_model(yoke_context *ctx, const char *path, const char *text, int n_parts) {
  yoke_model *model = NULL;
  if (text == NULL || yoke_model_file_read_text(ctx, path, text, strlen(text), NULL, &model) != YOKE_OK) return false;
  const bool is_fine = model->n_parts == n_parts;
  yoke_model_destroy(&model);
  return is_fine;
}

/* The user's own text, with its comments, where that reads; else the model as one file (includes, overrides, flow style). */
static yoke_status model_text(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                              yoke_split_proposal *p) {
  char *own   = options->n_sets == 0 ? read_file(options->model) : NULL;
  bool  alone = own != NULL;
  for (const char *line = own; alone && line != NULL && *line != '\0';) {
    alone = !starts_key(line, "include");
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  if (alone) p->model = replace_split(own, p->split);
  free(own);
  if (is_model(NULL, options->model, p->model, p->n_parts)) return YOKE_OK;
  free(p->model);
  p->model = replace_split(model->text, p->split);
  if (p->model == NULL) return yoke_out_of_memory(ctx, "the model with its split");
  if (is_model(ctx, options->model, p->model, p->n_parts)) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "the model cannot take the proposed split: see above; it may name subsystems or cuts of its old split "
      "in `solvers` or `cosimulation`");
}

/* ---- public ---- */

/* What was found, also by a proposal that failed. */
static yoke_status take_proposal(yoke_context *ctx, const yoke_proposal *from, yoke_split_proposal *to) {
  bool done              = true;
  to->balance            = from->balance;
  to->frequency_range[0] = from->frequency_range[0];
  to->frequency_range[1] = from->frequency_range[1];
  to->n_candidates       = from->n_candidates;
  to->n_groups           = from->n_groups;
  to->parts              = yoke_allocate((size_t)from->n_parts + 1, sizeof *to->parts);
  to->cuts               = yoke_allocate((size_t)from->n_cuts + 1, sizeof *to->cuts);
  if (to->parts == NULL || to->cuts == NULL) return yoke_out_of_memory(ctx, "the proposal of a split");
  to->n_parts = from->n_parts;
  to->n_cuts  = from->n_cuts;
  for (int k = 0; k < from->n_parts; ++k) {
    const yoke_proposal_part *part = &from->parts[k];
    to->parts[k] = (yoke_cut_part){.is_piece = part->is_piece, .n_bodies = part->n_bodies, .cost = part->cost};
  }
  for (int i = 0; i < from->n_cuts; ++i) {
    const yoke_proposal_cut *cut = &from->cuts[i];
    to->cuts[i]                  = (yoke_cut){.name       = yoke_text_copy(cut->name != NULL ? cut->name : ""),
                                              .kind       = yoke_text_copy(cut->kind),
                                              .part       = {cut->part[0], cut->part[1]},
                                              .stiffness  = cut->stiffness,
                                              .frequency  = cut->frequency,
                                              .mass_ratio = cut->mass_ratio,
                                              .is_loaded  = cut->is_loaded};
    done                         = done && to->cuts[i].name != NULL && to->cuts[i].kind != NULL;
  }
  return done ? YOKE_OK : yoke_out_of_memory(ctx, "the proposal of a split");
}

yoke_status yoke_split_propose(yoke_context *ctx, const yoke_run_options *options, int n_parts,
                               yoke_split_proposal *out) {
  yoke_model     *model      = NULL;
  yoke_assignment assignment = {0};
  yoke_proposal   proposal   = {0};
  *out                       = (yoke_split_proposal){0};
  if (n_parts < 2) return yoke_fail(ctx, YOKE_E_USAGE, "%d parts asked for, expected at least 2", n_parts);
  const yoke_output_use output = {"the model with its split", options->out};
  yoke_status           status = yoke_run_load(ctx, options, &model);
  if (status == YOKE_OK) status = yoke_output_check(ctx, model, 1, &output);
  if (status == YOKE_OK) {
    status                  = yoke_partition_propose(ctx, model, n_parts, &assignment, &proposal);
    const yoke_status taken = take_proposal(ctx, &proposal, out);
    if (status == YOKE_OK) status = taken;
  }
  if (status == YOKE_OK) {
    if (name_parts(model, &assignment, out)) out->split = section_text(model, &assignment, out);
    if (out->split == NULL) status = yoke_out_of_memory(ctx, "the proposal of a split");
  }
  if (status == YOKE_OK) status = model_text(ctx, options, model, out);
  if (status == YOKE_OK && options->out != NULL) status = yoke_output_file_write_text(ctx, options->out, out->model);
  yoke_assignment_release(&assignment);
  yoke_proposal_release(&proposal);
  yoke_model_destroy(&model);
  return status;
}

void yoke_split_proposal_release(yoke_split_proposal *proposal) {
  for (int k = 0; proposal->parts != NULL && k < proposal->n_parts; ++k) free(proposal->parts[k].name);
  for (int i = 0; proposal->cuts != NULL && i < proposal->n_cuts; ++i) {
    free(proposal->cuts[i].name);
    free(proposal->cuts[i].kind);
  }
  free(proposal->parts);
  free(proposal->cuts);
  free(proposal->split);
  free(proposal->model);
  *proposal = (yoke_split_proposal){0};
}
