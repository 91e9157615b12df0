/* yoke stability: spectral radii of a macro step, maps over parameters, and the largest stable step. */
#include "command.h"
#include "interrupt.h"
#include "method_lists.h"
#include "progress.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stability_arguments {
  model_arguments model;
  const char     *x, *y, *index, *out, *csv, *svg, *title;
  text_list       cases;
  bool            point, limit, json, quiet;
} stability_arguments;

static const option_def stability_options[] = {
    {"point", 0, OPTION_FLAG, offsetof(stability_arguments, point), NULL,
     "the spectral radius with 12 digits, nothing else on stdout"},
    {"limit", 0, OPTION_FLAG, offsetof(stability_arguments, limit), NULL, "the largest stable macro step"},
    {"x", 0, OPTION_TEXT, offsetof(stability_arguments, x), "NAME:FROM:TO:N[:log]",
     "axis: a parameter, a key, or step; alone: a line"},
    {"y", 0, OPTION_TEXT, offsetof(stability_arguments, y), "NAME:FROM:TO:N[:log]", "second axis: a map"},
    {"case", 0, OPTION_LIST, offsetof(stability_arguments, cases), "A=V,B=V",
     "settings on top of --set, one case each; repeatable"},
    {"index", 0, OPTION_TEXT, offsetof(stability_arguments, index), "N",
     "1, 2, 3 (key cosimulation.couplings.index); may be a list"},
    {"out", 'o', OPTION_TEXT, offsetof(stability_arguments, out), "FILE", "map as HDF5, or CSV if it ends in .csv"},
    {"csv", 0, OPTION_TEXT, offsetof(stability_arguments, csv), "FILE", "map as CSV"},
    {"svg", 0, OPTION_TEXT, offsetof(stability_arguments, svg), "FILE", "map as a picture with the stability boundary"},
    {"title", 0, OPTION_TEXT, offsetof(stability_arguments, title), "TEXT", "title of the picture"},
    MODEL_OPTIONS(stability_arguments),
    {"json", 0, OPTION_FLAG, offsetof(stability_arguments, json), NULL, "print one JSON object instead of the summary"},
    {"quiet", 'q', OPTION_FLAG, offsetof(stability_arguments, quiet), NULL, "no summary, no progress line"},
};

/* ---- axes ---- */

/* NAME:FROM:TO:N[:log] into `storage`. */
static int read_axis(const command_def *command, const char *option, const char *text, yoke_stability_axis *axis,
                     char **storage) {
  if (!text) return PARSE_DONE;
  *storage = malloc(strlen(text) + 1);
  if (!*storage) {
    fputs("error: out of memory\n", stderr);
    return EXIT_CODE_IO;
  }
  memcpy(*storage, text, strlen(text) + 1);
  char *parts[5] = {*storage};
  int   n        = 1;
  for (char *c = *storage; *c; ++c) {
    if (*c != ':') continue;
    *c = '\0';
    if (n == 5) return usage_error(command, "--%s %s: expected NAME:FROM:TO:N or NAME:FROM:TO:N:log", option, text);
    parts[n++] = c + 1;
  }
  const bool is_log = n == 5 && strcmp(parts[4], "log") == 0;
  char      *end[3] = {0};
  if (n >= 4) {
    axis->name   = parts[0];
    axis->from   = strtod(parts[1], &end[0]);
    axis->to     = strtod(parts[2], &end[1]);
    const long k = strtol(parts[3], &end[2], 10);
    axis->n      = k < -INT_MAX ? -INT_MAX : k > INT_MAX ? INT_MAX : (int)k;
    axis->is_log = is_log;
  }
  const bool is_good = (n == 4 || is_log) && *parts[0] && end[0] != parts[1] && !*end[0] && end[1] != parts[2] &&
                       !*end[1] && end[2] != parts[3] && !*end[2];
  if (is_good) return PARSE_DONE;
  return usage_error(command, "--%s %s: expected NAME:FROM:TO:N or NAME:FROM:TO:N:log, as --%s re:-2:0:200", option,
                     text, option);
}

/* ---- summary ---- */

/* A study, if there is one, and what it says of itself. */
typedef struct findings {
  yoke_stability_table *table; /* NULL: none */
  yoke_stability_facts  facts;
} findings;

static yoke_stability_row row_at(const findings *f, int i) {
  yoke_stability_row row = {.size = sizeof row};
  (void)yoke_stability_table_get(NULL, f->table, i, &row);
  return row;
}

/* What the dominant eigenvector says. */
static void print_culprit(FILE *file, const yoke_stability_row *row) {
  if (!*row->coupling) return;
  fprintf(file, "coupling '%s'", row->coupling);
  if (*row->channel) fprintf(file, " (%s)", row->channel);
  if (*row->body) fprintf(file, ", body '%s' moves most", row->body);
}

static void print_judged(FILE *file, const yoke_stability_row *row) {
  if (*row->judged) fprintf(file, "method     %s, as a run with a fixed step has it\n", row->judged);
}

static void print_point(const yoke_stability_row *row, int n_rows, bool bare) {
  FILE *file = bare ? stderr : stdout;
  if (n_rows > 1) fprintf(file, "%s\n", row->label);
  if (row->step > 0.0) fprintf(file, "step       %.9g s\n", row->step);
  if (!bare) printf("radius     %.12g\n", row->rho);
  if (row->is_stable) {
    fputs("verdict    stable: what a step is off by does not grow in those that follow\n", file);
  } else {
    fprintf(file, "verdict    unstable: errors grow by %.3g per step", row->rho);
    if (*row->coupling) fputs("; ", file);
    print_culprit(file, row);
    fputc('\n', file);
  }
  if (isfinite(row->re))
    fprintf(file, "eigenvalue %.12g %+.12g i of a matrix of %d rows\n", row->re, row->im, row->n_states);
  print_judged(file, row);
  if (row->is_linearized) fputs("model      linearised about its rest state\n", file);
  if (row->model_rho > 1.0 + 1e-9)
    fprintf(file, "note       the model itself grows by %.9g per step, without any coupling\n", row->model_rho);
}

static void print_limit(const yoke_stability_row *row, const yoke_stability_facts *t) {
  const char *unit = row->is_relative ? " times the present step" : " s";
  if (t->n_rows > 1) printf("%s\n", row->label);
  if (!isfinite(row->limit)) {
    printf("limit      none: stable up to %.6g%s\n", row->limit_searched, unit);
  } else if (row->limit <= 0.0) {
    fputs("limit      0: no step is stable", stdout);
  } else {
    printf("limit      %.9g%s", row->limit, unit);
  }
  if (isfinite(row->limit)) {
    if (*row->coupling) fputs("; above it: ", stdout);
    print_culprit(stdout, row);
    putchar('\n');
    if (row->stable_again > 0.0) printf("again      stable at %.6g%s\n", row->stable_again, unit);
  }
  print_judged(stdout, row);
  if (row->is_linearized) puts("model      linearised about its rest state");
}

/* Points of a map that have no radius. */
static long long count_missing(const yoke_stability_row *row, const yoke_stability_facts *t) {
  long long n = 0;
  for (size_t i = 0; i < (size_t)t->nx * (size_t)t->ny; ++i) n += isnan(row->values[i]);
  return n;
}

static void print_map(const yoke_stability_row *row, const findings *f) {
  const yoke_stability_facts *t     = &f->facts;
  int                         width = 0;
  for (int i = 0; i < t->n_rows; ++i) {
    const char *label = row_at(f, i).label;
    const int   n     = label ? (int)strlen(label) : 0;
    if (n > width) width = n;
  }
  const long long n = (long long)t->nx * (long long)t->ny, n_missing = count_missing(row, t);
  printf("%-*s  %lld of %lld points stable", width, row->label, (long long)row->n_stable, n);
  if (n_missing > 0) printf(", %lld without a value: the model or the method is not possible there", n_missing);
  putchar('\n');
  if (t->n_rows == 1) print_judged(stdout, row);
}

/* What was written, and what the numbers are good for. */
static void print_meaning(const stability_arguments *a, const findings *f) {
  FILE *file = a->point ? stderr : stdout;
  if (a->limit)
    fputs("meaning    a limit tells where errors begin to grow, not how large they are: stay well below, and look at "
          "yoke converge or run --verify\n",
          file);
  if (f->facts.nx > 0 && f->facts.n_rows > 0) fputs("stable are points with a spectral radius of at most 1\n", file);
  print_wrote(file, a->out, "spectral radii, at most 1 where stable");
  print_wrote(file, a->csv, "one line per point: its place and the spectral radius");
  print_wrote(file, a->svg,
              f->facts.ny > 1 ? "maps; the line is where the spectral radius is 1" : "spectral radii; stable below 1");
}

static void print_rows(const stability_arguments *a, const findings *f) {
  const yoke_stability_facts *t = &f->facts;
  for (int i = 0; i < t->n_rows; ++i) {
    const yoke_stability_row at = row_at(f, i), *row = &at;
    if (row->status == YOKE_E_INTERRUPTED) {
      if (row->values && row->label) print_map(row, f);
    } else if (row->status != YOKE_OK) {
      if (t->n_rows > 1 && row->label) printf("%s\nnot possible: %s\n", row->label, row->reason ? row->reason : "");
    } else if (a->limit) {
      print_limit(row, t);
    } else if (t->nx > 0) {
      print_map(row, f);
    } else {
      print_point(row, t->n_rows, a->point);
    }
    if (t->n_rows > 1 && i + 1 < t->n_rows && t->nx == 0 && !a->point) putchar('\n');
  }
}

/* Numbers for scripts. */
static void print_radii(const findings *f) {
  for (int i = 0; i < f->facts.n_rows; ++i) {
    const yoke_stability_row row = row_at(f, i);
    printf("%.12g", row.status == YOKE_OK ? row.rho : (double)NAN);
    if (f->facts.n_rows > 1) printf("\t%s", row.label);
    putchar('\n');
  }
}

static void json_row(json *j, const stability_arguments *a, const yoke_stability_facts *t,
                     const yoke_stability_row *row) {
  const bool is_map = row->values != NULL, is_good = row->status == YOKE_OK;
  json_begin(j, NULL, '{');
  json_text(j, "method", row->label);
  json_text(j, "status", is_good ? "done" : status_word(row->status));
  json_text(j, "reason", row->reason);
  json_text(j, "judged", *row->judged ? row->judged : NULL);
  if (is_map) {
    json_whole(j, "stable_points", row->n_stable);
    json_whole(j, "missing_points", count_missing(row, t));
  } else if (is_good) {
    json_number(j, "step", row->step);
    if (a->limit) {
      json_number(j, "limit", row->limit);
      json_truth(j, "has_limit", isfinite(row->limit));
      json_number(j, "searched_to", row->limit_searched);
      json_number(j, "stable_again", row->stable_again > 0.0 ? row->stable_again : (double)NAN);
    }
    json_number(j, "radius", row->rho);
    json_truth(j, "stable", row->is_stable);
    json_number(j, "re", row->re);
    json_number(j, "im", row->im);
    json_number(j, "model_radius", row->model_rho);
    json_whole(j, "size", row->n_states);
    json_truth(j, "linearized", row->is_linearized);
    json_text(j, "coupling", *row->coupling ? row->coupling : NULL);
    json_text(j, "channel", *row->channel ? row->channel : NULL);
    json_text(j, "body", *row->body ? row->body : NULL);
  }
  json_end(j, '}');
}

static void print_json(const yoke_context *ctx, const stability_arguments *a, const char *path, const findings *f,
                       yoke_status status) {
  const yoke_stability_facts *t = &f->facts;
  json                        j = {.file = stdout};
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_text(&j, "model", path);
  json_whole(&j, "points", t->nx > 0 ? (int64_t)t->nx * t->ny : 1);
  json_begin(&j, "rows", '[');
  for (int i = 0; i < t->n_rows; ++i) {
    const yoke_stability_row row = row_at(f, i);
    json_row(&j, a, t, &row);
  }
  json_end(&j, ']');
  json_messages(&j, ctx, status);
  json_end(&j, '}');
}

/* ---- command ---- */

static int study(const stability_arguments *a, yoke_stability_options *options) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  findings found = {.facts.size = sizeof found.facts};
  progress line;
  progress_start(&line, a->quiet || a->json);
  options->progress        = progress_share;
  options->user            = &line;
  const yoke_status status = yoke_stability_study(ctx, options, &found.table);
  progress_clear(&line);
  if (found.table) (void)yoke_stability_table_facts_get(ctx, found.table, &found.facts);
  if (a->json) {
    print_json(ctx, a, options->run->model, &found, status);
  } else if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) {
    if (a->point && status == YOKE_OK) print_radii(&found);
    if (!a->quiet) {
      print_rows(a, &found);
      print_meaning(a, &found);
    }
  }
  print_messages(ctx);
  yoke_stability_table_destroy(&found.table);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int check_values(const command_def *command, const stability_arguments *a, const text_list *operands) {
  if (operands->n != 1)
    return usage_error(command, "one model expected (two-mass, two-mass-rigid, kinematic-two-mass or a file), %d given",
                       operands->n);
  if (a->point && (a->x || a->limit)) return usage_error(command, "--point, --limit and --x exclude each other");
  if (a->limit && a->x) return usage_error(command, "--limit and --x exclude each other");
  if (a->model.trace) return usage_error(command, "--trace has no meaning here; use yoke run");
  if ((a->out && !*a->out) || (a->csv && !*a->csv) || (a->svg && !*a->svg))
    return usage_error(command, "--out, --csv and --svg need a file name");
  if (a->out && a->csv && strlen(a->out) > 4 && strcmp(a->out + strlen(a->out) - 4, ".csv") == 0)
    return usage_error(command, "--out and --csv are both CSV; give one");
  return PARSE_DONE;
}

enum { N_TEST_MODELS = 3 };
static const char *const test_models[N_TEST_MODELS] = {"two-mass", "two-mass-rigid", "kinematic-two-mass"};

static bool is_test_model(const char *name) {
  for (int i = 0; i < N_TEST_MODELS; ++i) {
    if (strcmp(test_models[i], name) == 0) return true;
  }
  return false;
}

/* A bare word that is no file was meant to be a test model. */
static int check_model_name(const command_def *command, const char *name) {
  if (is_test_model(name)) return PARSE_DONE;
  FILE *file = strpbrk(name, "./") ? NULL : fopen(name, "r");
  if (file) fclose(file);
  if (file || strpbrk(name, "./")) return PARSE_DONE;
  const char *nearest = yoke_nearest_name(name, test_models, N_TEST_MODELS);
  return usage_error(command,
                     "'%s' is neither a file nor a test model (two-mass, two-mass-rigid, kinematic-two-mass)%s%s%s",
                     name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Columns of the picture: the list that runs fastest. */
static int choose_columns(const method_list *methods) {
  for (int k = N_METHOD_WORDS - 1; k >= 0; --k) {
    if (methods->words[k].n > 1) return methods->words[k].n <= 5 ? methods->words[k].n : 0;
  }
  return 0;
}

static int stability_main(const command_def *command, int argc, char **argv) {
  stability_arguments    a          = {0};
  text_list              operands   = {0};
  method_list            methods    = {0};
  char                  *storage[2] = {0};
  yoke_run_options       run        = {.size = sizeof run};
  yoke_stability_options options    = {.size = sizeof options, .run = &run};
  int                    code       = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  code = check_values(command, &a, &operands);
  if (code == PARSE_DONE) code = check_model_name(command, operands.texts[0]);
  if (code == PARSE_DONE) code = read_axis(command, "x", a.x, &options.x, &storage[0]);
  if (code == PARSE_DONE) code = read_axis(command, "y", a.y, &options.y, &storage[1]);
  if (code == PARSE_DONE) code = methods_expand(command, &a.model, a.index, is_test_model(operands.texts[0]), &methods);
  if (code == PARSE_DONE) code = model_options_apply(command, &a.model, &run);
  if (code == PARSE_DONE) {
    const bool is_csv  = a.out && strlen(a.out) > 4 && strcmp(a.out + strlen(a.out) - 4, ".csv") == 0;
    run.model          = operands.texts[0];
    run.interrupted    = interrupt_watch();
    options.n_methods  = methods.n;
    options.methods    = methods.methods;
    options.n_cases    = a.cases.n;
    options.cases      = a.cases.texts;
    options.find_limit = a.limit;
    options.n_columns  = choose_columns(&methods);
    options.out        = is_csv ? NULL : a.out;
    options.csv        = is_csv ? a.out : a.csv;
    options.svg        = a.svg;
    options.title      = a.title;
    code               = study(&a, &options);
  }
  free(storage[0]);
  free(storage[1]);
  methods_release(&methods);
  options_release(command, &a, &operands);
  return code;
}

const command_def stability_command = {
    .name    = "stability",
    .usage   = "two-mass|two-mass-rigid|kinematic-two-mass|MODEL [options]",
    .summary = "which macro step is stable: spectral radii, maps, limits",
    .details =
        "One macro step of a linear (or linearised) model is a linear map; stable is a spectral radius of at most 1. A "
        "model file is\n"
        "run by the engine itself, the test models have closed forms with settings of their own:\n"
        "  two-mass, two-mass-rigid   re im (eigenvalue of subsystem 1 times H), am ar ai arc aic (ratios, 1), or m1 "
        "m2 c1 c2 cc d1\n"
        "                             d2 dc step; mu, beta, gamma, a, b, relaxation, node1, node2; feedthrough, "
        "update, ...\n"
        "  kinematic-two-mass         m_R m_Fco m_Fin c_R c_F d_R d_F ratio (m_R/m_Fco) step, force, motion, outputs\n"
        "Without --x: one point. --x NAME:FROM:TO:N draws a line, with --y a map. Axes and --set take the settings "
        "above; of a model\n"
        "file a parameter, any key, or step. --scheme, --formulation, --decomposition, --extension, --index and "
        "--order may be comma\n"
        "lists: one map each, side by side.",
    .options   = stability_options,
    .n_options = (int)(sizeof stability_options / sizeof *stability_options),
    MODEL_CHOICES(stability_arguments),
    .run = stability_main,
};
