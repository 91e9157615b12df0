/* yoke info: what a model or a result consists of. */
#include "command.h"
#include "energies.h"
#include "steps.h"
#include <math.h>
#include <string.h>

typedef struct info_arguments {
  text_list   set;
  const char *linearize, *at;
  bool        all, model, modes, monolithic, repair, json;
} info_arguments;

static const option_def info_options[] = {
    {"all", 'a', OPTION_FLAG, offsetof(info_arguments, all), NULL, "list every name, not only the first ones"},
    {"model", 0, OPTION_FLAG, offsetof(info_arguments, model), NULL, "result: print the text of its model"},
    {"modes", 0, OPTION_FLAG, offsetof(info_arguments, modes), NULL,
     "model: eigenfrequencies, damping and shapes instead of its contents"},
    {"linearize", 0, OPTION_TEXT, offsetof(info_arguments, linearize), "FILE",
     "model: write A, B, C, D (HDF5, CSV or text by the name's end)"},
    {"at", 0, OPTION_TEXT, offsetof(info_arguments, at), "STATE", "linearise at the equilibrium (default) or start"},
    {"monolithic", 0, OPTION_FLAG, offsetof(info_arguments, monolithic), NULL, "model: ignore its split"},
    {"repair", 0, OPTION_FLAG, offsetof(info_arguments, repair), NULL,
     "result of a killed run: clear the mark that locks other readers out"},
    {"set", 0, OPTION_LIST, offsetof(info_arguments, set), "KEY=VALUE", "model: override a key; repeatable"},
    {"json", 0, OPTION_FLAG, offsetof(info_arguments, json), NULL, "print one JSON object"},
};

enum { N_SHOWN = 12 };

typedef yoke_status (*item_get)(yoke_context *ctx, const yoke_inspection *inspection, int i, yoke_model_item *out);

static yoke_model_item item_at(const yoke_inspection *in, item_get get, int i) {
  yoke_model_item item = {.size = sizeof item};
  (void)get(NULL, in, i, &item);
  return item;
}

static yoke_part_item part_at(const yoke_inspection *in, int i) {
  yoke_part_item item = {.size = sizeof item};
  (void)yoke_inspection_part(NULL, in, i, &item);
  return item;
}

static yoke_coupling_item coupling_at(const yoke_inspection *in, int i) {
  yoke_coupling_item item = {.size = sizeof item};
  (void)yoke_inspection_coupling(NULL, in, i, &item);
  return item;
}

static void print_items(const char *label, const yoke_inspection *in, int n, item_get get, bool all) {
  const int shown = all || n <= N_SHOWN ? n : N_SHOWN;
  for (int i = 0; i < shown; ++i) {
    const yoke_model_item item = item_at(in, get, i);
    printf("%-14s %s%s%s%s%s\n", i == 0 ? label : "", item.name, *item.kind ? "  " : "", item.kind,
           *item.description ? "  " : "", item.description);
  }
  if (shown < n) printf("%-14s ... %d more (--all lists them)\n", "", n - shown);
}

static void print_split(const yoke_inspection *in, const yoke_model_facts *f, bool all) {
  if (f->n_parts == 0) return;
  if (f->control[0])
    printf("%-14s %s, %s, step control: %s\n", "cosimulation", f->scheme, f->sequence, f->control);
  else
    printf("%-14s %s, %s, order %d, macro step %.6g s\n", "cosimulation", f->scheme, f->sequence, f->order,
           f->macro_step);
  const int parts = all || f->n_parts <= N_SHOWN ? f->n_parts : N_SHOWN;
  for (int i = 0; i < parts; ++i) {
    const yoke_part_item p = part_at(in, i);
    printf("%-14s %s  %s, solver %s\n", i == 0 ? "subsystems" : "", p.name, p.contents, p.solver);
  }
  if (parts < f->n_parts) printf("%-14s ... %d more (--all lists them)\n", "", f->n_parts - parts);
  const int couplings = all || f->n_couplings <= N_SHOWN ? f->n_couplings : N_SHOWN;
  for (int i = 0; i < couplings; ++i) {
    const yoke_coupling_item c = coupling_at(in, i);
    printf("%-14s %s  %s, %s to %s, %s%s%s%s%s, %d %s: %s\n", i == 0 ? "couplings" : "", c.name, c.kind, c.side[0],
           c.side[1], c.formulation, *c.decomposition ? " " : "", c.decomposition,
           strcmp(c.extension, "none") == 0 ? "" : ", extension ", strcmp(c.extension, "none") == 0 ? "" : c.extension,
           c.n_channels, plural(c.n_channels, "channel", "channels"), c.channels);
  }
  if (couplings < f->n_couplings) printf("%-14s ... %d more (--all lists them)\n", "", f->n_couplings - couplings);
  if (strcmp(f->scheme, "lockstep") == 0)
    printf("%-14s exact forces at every evaluation\n", "couplings");
  else if (f->n_couplings == 0)
    printf("%-14s none: the subsystems do not touch each other\n", "couplings");
}

enum { MOST_LINES = 40 };

/* Lines of a text of settings; long ones are cut unless `all`. */
static void print_settings(const char *settings, bool all) {
  int n = 0;
  for (const char *line = settings; *line; ++n) {
    const size_t length = strcspn(line, "\n");
    if (n == MOST_LINES && !all) {
      printf("%-14s ... (--all shows the rest)\n", "");
      return;
    }
    printf("%-14s %.*s\n", n == 0 ? "settings" : "", (int)length, line);
    line += length + (line[length] == '\n');
  }
}

static void print_model(const char *path, const yoke_inspection *in, const yoke_model_facts *f, bool all) {
  printf("%-14s %s (%s)\n", "model", f->name, path);
  printf("%-14s %d bodies, %d connections, %d loads, %d events\n", "contents", f->n_bodies, f->n_connections,
         f->n_loads, f->n_events);
  printf("%-14s %d coordinates, %d velocities, %d constraint rows (%d redundant): %d %s\n", "equations", f->nq, f->nv,
         f->n_constraints, f->n_redundant, f->n_freedoms, plural(f->n_freedoms, "freedom", "freedoms"));
  printf("%-14s %.9g .. %.9g s\n", "time", f->t_start, f->t_end);
  printf("%-14s %s, rtol %.3g, atol %.3g\n", "solver", f->solver, f->rtol, f->atol);
  print_items("bodies", in, f->n_bodies, yoke_inspection_body, all);
  print_items("connections", in, f->n_connections, yoke_inspection_connection, all);
  print_split(in, f, all);
  printf("%-14s %d of %d selected, ", "outputs", f->n_outputs, f->n_outputs_all);
  if (f->every > 0.0) {
    printf("every %.9g s\n", f->every);
  } else {
    puts("at every step");
  }
  print_items("", in, f->n_outputs, yoke_inspection_output, all);
  if (f->output_file) printf("%-14s %s\n", "result", f->output_file);
  if (f->output_csv) printf("%-14s %s\n", "CSV", f->output_csv);
  print_settings(f->settings, all);
}

static void json_items(json *j, const char *key, const yoke_inspection *in, int n, item_get get, const char *kind) {
  json_begin(j, key, '[');
  for (int i = 0; i < n; ++i) {
    const yoke_model_item item = item_at(in, get, i);
    json_begin(j, NULL, '{');
    json_text(j, "name", item.name);
    json_text(j, kind, item.kind);
    if (*item.description) json_text(j, "description", item.description);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void json_split(json *j, const yoke_inspection *in, const yoke_model_facts *f) {
  json_begin(j, "subsystems", '[');
  for (int i = 0; i < f->n_parts; ++i) {
    const yoke_part_item p = part_at(in, i);
    json_begin(j, NULL, '{');
    json_text(j, "name", p.name);
    json_text(j, "contents", p.contents);
    json_text(j, "solver", p.solver);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_begin(j, "couplings", '[');
  for (int i = 0; i < f->n_couplings; ++i) {
    const yoke_coupling_item c = coupling_at(in, i);
    json_begin(j, NULL, '{');
    json_text(j, "name", c.name);
    json_text(j, "kind", c.kind);
    json_text(j, "side1", c.side[0]);
    json_text(j, "side2", c.side[1]);
    json_text(j, "formulation", c.formulation);
    json_text(j, "decomposition", c.decomposition);
    json_text(j, "extension", c.extension);
    json_whole(j, "n_channels", c.n_channels);
    json_text(j, "channels", c.channels);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_text(j, "scheme", f->n_parts > 0 ? f->scheme : NULL);
  json_text(j, "sequence", f->n_parts > 0 ? f->sequence : NULL);
  json_number(j, "order", f->n_parts > 0 ? (double)f->order : (double)NAN);
  json_number(j, "step", f->n_parts > 0 ? f->macro_step : (double)NAN);
  json_text(j, "control", f->control[0] ? f->control : NULL);
}

static void json_model(json *j, const yoke_inspection *in, const yoke_model_facts *f) {
  json_text(j, "name", f->name);
  json_number(j, "t_start", f->t_start);
  json_number(j, "t_end", f->t_end);
  json_text(j, "solver", f->solver);
  json_whole(j, "n_bodies", f->n_bodies);
  json_whole(j, "n_connections", f->n_connections);
  json_whole(j, "n_loads", f->n_loads);
  json_whole(j, "n_events", f->n_events);
  json_whole(j, "coordinates", f->nq);
  json_whole(j, "velocities", f->nv);
  json_whole(j, "constraints", f->n_constraints);
  json_whole(j, "redundant", f->n_redundant);
  json_whole(j, "freedoms", f->n_freedoms);
  json_whole(j, "n_outputs_all", f->n_outputs_all);
  json_items(j, "bodies", in, f->n_bodies, yoke_inspection_body, "kind");
  json_items(j, "connections", in, f->n_connections, yoke_inspection_connection, "kind");
  json_items(j, "outputs", in, f->n_outputs, yoke_inspection_output, "unit");
  json_split(j, in, f);
  json_text(j, "settings", f->settings);
}

/* ---- modes ---- */

static const char *at_word(yoke_linearize_at at) {
  return at == YOKE_AT_EQUILIBRIUM ? "equilibrium" : "start";
}

static yoke_mode mode_at(const yoke_modes *modes, int i) {
  yoke_mode mode = {.size = sizeof mode};
  (void)yoke_modes_get(NULL, modes, i, &mode);
  return mode;
}

static void print_modes(const char *path, yoke_linearize_at at, const yoke_modes *modes) {
  const int n = yoke_modes_n(modes);
  printf("%d %s of %s about its %s\n", n, plural(n, "mode", "modes"), path, at_word(at));
  if (n > 0) printf("%4s  %14s  %10s  %-12s %s\n", "", "frequency [Hz]", "damping", "kind", "largest motions");
  for (int i = 0; i < n; ++i) {
    const yoke_mode m = mode_at(modes, i);
    printf("%4d  %14.8g  %10.4g  %-12s", i + 1, m.frequency, m.damping + 0.0, yoke_mode_kind_name(m.kind));
    for (int k = 0; k < m.n_shape; ++k) { /* motions in phase or against it have a sign, others their phase */
      const yoke_mode_motion *s        = &m.shape[k];
      const bool              opposite = fabs(s->phase) > 3.13;
      printf("%s %s %.3g", k > 0 ? "," : "", s->name, opposite ? -s->amplitude : s->amplitude);
      if (!opposite && fabs(s->phase) > 0.01) printf(" at %.0f deg", s->phase * 57.295779513082323);
    }
    putchar('\n');
  }
}

static void json_modes(json *j, yoke_linearize_at at, const yoke_modes *modes) {
  json_text(j, "at", at_word(at));
  json_whole(j, "freedoms", yoke_modes_n_freedoms(modes));
  json_begin(j, "modes", '[');
  for (int i = 0; i < yoke_modes_n(modes); ++i) {
    const yoke_mode m = mode_at(modes, i);
    json_begin(j, NULL, '{');
    json_text(j, "kind", yoke_mode_kind_name(m.kind));
    json_number(j, "frequency", m.frequency);
    json_number(j, "damping", m.damping);
    json_number(j, "re", m.re);
    json_number(j, "im", m.im);
    json_begin(j, "shape", '[');
    for (int k = 0; k < m.n_shape; ++k) {
      json_begin(j, NULL, '{');
      json_text(j, "name", m.shape[k].name);
      json_number(j, "amplitude", m.shape[k].amplitude);
      json_number(j, "phase", m.shape[k].phase);
      json_end(j, '}');
    }
    json_end(j, ']');
    json_end(j, '}');
  }
  json_end(j, ']');
}

static yoke_status info_linear(yoke_context *ctx, const info_arguments *a, const char *path,
                               const yoke_run_options *options, json *j) {
  const yoke_linearize_at at = a->at != NULL && strcmp(a->at, "start") == 0 ? YOKE_AT_START : YOKE_AT_EQUILIBRIUM;
  if (a->linearize != NULL) YOKE_TRY(yoke_linearize_write(ctx, options, at, a->linearize));
  if (a->linearize != NULL && a->json) json_text(j, "linearize", a->linearize);
  if (!a->json) print_wrote(stdout, a->linearize, "A, B, C, D of x' = f0 + A x + B u, y = y0 + C x + D u");
  if (!a->modes) return YOKE_OK;
  yoke_modes *modes = NULL;
  YOKE_TRY(yoke_modes_compute(ctx, options, at, &modes));
  if (a->json)
    json_modes(j, at, modes);
  else
    print_modes(path, at, modes);
  yoke_modes_destroy(&modes);
  return YOKE_OK;
}

static yoke_status info_model(yoke_context *ctx, const info_arguments *a, const char *path, json *j) {
  const yoke_run_options options = {
      .size = sizeof options, .model = path, .n_sets = a->set.n, .sets = a->set.texts, .monolithic = a->monolithic};
  if (a->modes || a->linearize != NULL) return info_linear(ctx, a, path, &options, j);
  yoke_inspection *inspection = NULL;
  yoke_model_facts facts      = {.size = sizeof facts};
  yoke_status      status     = yoke_model_inspect(ctx, &options, &inspection);
  if (status == YOKE_OK) status = yoke_inspection_facts_get(ctx, inspection, &facts);
  if (status == YOKE_OK && a->json) json_model(j, inspection, &facts);
  if (status == YOKE_OK && !a->json) print_model(path, inspection, &facts, a->all);
  yoke_inspection_destroy(&inspection);
  return status;
}

static yoke_result_facts facts_of(const yoke_result *result) {
  yoke_result_facts facts = {.size = sizeof facts};
  (void)yoke_result_facts_get(NULL, result, &facts);
  return facts;
}

/* What the result is good for. */
static void print_verdict(const yoke_result_facts *f) {
  if (!*f->status) return;
  printf("%-14s ", "verdict");
  if (strcmp(f->status, "done") != 0) {
    printf("not complete: %s\n", isfinite(f->t_reached)
                                     ? "what it holds is good up to the time reached, but read why it ended"
                                     : "the run has left no times");
  } else if (f->n_subsystems == 0) {
    puts("complete; the model as a whole, without coupling errors");
  } else if (isnan(f->accumulated_error)) {
    puts("complete; how wrong the coupling is was not estimated (yoke compare MODEL, yoke run --verify)");
  } else {
    printf("complete; coupling errors add up to %.2g %% of the motion by its own estimate%s\n",
           100.0 * f->accumulated_error,
           f->accumulated_error > 0.1    ? ": do not use it"
           : f->accumulated_error > 0.01 ? ": verify before use (yoke run --verify)"
                                         : "");
  }
}

static yoke_energy_share energy_at(const yoke_result *result, bool of_couplings, int i) {
  yoke_energy_share share = {0};
  (void)yoke_result_energy(NULL, result, of_couplings, i, &share);
  return share;
}

/* Energy accounts at the end [J], one line per subsystem and coupling. */
static void print_energies(const yoke_result *result, const yoke_result_facts *f, bool all) {
  const int counts[2] = {f->n_subsystem_energies, f->n_coupling_energies};
  for (int k = 0; k < 2; ++k) {
    const int shown = all || counts[k] <= N_SHOWN ? counts[k] : N_SHOWN;
    for (int i = 0; i < shown; ++i) {
      const yoke_energy_share e = energy_at(result, k == 1, i);
      printf("%-14s %s  stored %.4g J, dissipated %.4g J, ", i + k == 0 ? "energies" : "", e.name, e.energy,
             e.dissipated);
      if (k == 0)
        printf("external %.4g J, through ports %.4g J, leak %.3g J\n", e.external, e.work[0], e.leak);
      else
        printf("out %.4g J and %.4g J, leak %.3g J, corrected %.3g J\n", e.work[0], e.work[1], e.leak, e.corrected);
    }
    if (shown < counts[k]) printf("%-14s ... %d more (--all lists them)\n", "", counts[k] - shown);
  }
}

static void print_result(const yoke_result *result, bool all) {
  const yoke_result_facts f = facts_of(result);
  const int               n = yoke_result_n_quantities(result);
  printf("%-14s %s (%s%s%s)\n", "result", yoke_result_path(result), f.format, *f.version ? ", yoke " : "", f.version);
  if (*f.name) printf("%-14s %s\n", "model", f.name);
  if (*f.status) printf("%-14s %s\n", "status", f.status);
  if (f.is_open_for_writing) {
    printf("%-14s %s\n", "",
           "being written, or its run was killed: then yoke info --repair opens it for other programs");
  }
  if (isfinite(f.t_reached)) {
    printf("%-14s reached %.9g s", "time", f.t_reached);
    if (isfinite(f.t_end)) printf(" of %.9g s", f.t_end);
    putchar('\n');
  }
  if (n > 0) {
    size_t        n_times;
    const double *t = yoke_result_times(result, 0, &n_times);
    printf("%-14s %zu", "output times", n_times);
    if (n_times > 0) printf(", %.9g .. %.9g s", t[0], t[n_times - 1]);
    putchar('\n');
  }
  if (f.n_subsystems > 0) {
    printf("%-14s %s, %s, order %s%d, ", "cosimulation", f.scheme, f.sequence, *f.control ? "up to " : "", f.order);
    if (*f.control)
      printf("step control; ");
    else
      printf("macro step %.6g s; ", f.macro_step);
    printf("%zu macro steps, %d %s, %d coupling %s\n", f.n_macro_steps, f.n_subsystems,
           plural(f.n_subsystems, "subsystem", "subsystems"), f.n_channels,
           plural(f.n_channels, "channel", "channels"));
    if (*f.control) printf("%-14s %s\n", "chosen", f.control);
    print_steps(stdout, 14, &f.report);
  }
  print_energies(result, &f, all);
  print_verdict(&f);
  printf("%-14s %d\n", "quantities", n);
  const int shown = all || n <= N_SHOWN ? n : N_SHOWN;
  for (int i = 0; i < shown; ++i)
    printf("%-14s %s  %s\n", "", yoke_result_name(result, i), yoke_result_unit(result, i));
  if (shown < n) printf("%-14s ... %d more (--all lists them)\n", "", n - shown);
  print_settings(f.settings, all);
}

static void json_result_energies(json *j, const yoke_result *result, const yoke_result_facts *f) {
  const int         counts[2] = {f->n_subsystem_energies, f->n_coupling_energies};
  const char *const keys[2]   = {"subsystem_energies", "coupling_energies"};
  for (int k = 0; k < 2; ++k) {
    json_begin(j, keys[k], '{');
    for (int i = 0; i < counts[k]; ++i) {
      const yoke_energy_share e = energy_at(result, k == 1, i);
      json_energy(j, &e, k == 1);
    }
    json_end(j, '}');
  }
}

static void json_result(json *j, const yoke_result *result) {
  const yoke_result_facts f = facts_of(result);
  json_text(j, "format", f.format);
  json_text(j, "version", f.version);
  json_text(j, "name", f.name);
  json_text(j, "run_status", f.status);
  json_truth(j, "is_open_for_writing", f.is_open_for_writing);
  json_number(j, "t_end", f.t_end);
  json_number(j, "t_reached", f.t_reached);
  json_text(j, "settings", f.settings);
  json_whole(j, "subsystems", f.n_subsystems > 0 ? f.n_subsystems : 1);
  json_whole(j, "channels", f.n_channels);
  json_whole(j, "macro_steps", (int64_t)f.n_macro_steps);
  json_text(j, "scheme", f.n_subsystems > 0 ? f.scheme : NULL);
  json_text(j, "control", *f.control ? f.control : NULL);
  json_steps(j, &f.report);
  json_number(j, "accumulated_error", f.accumulated_error);
  json_result_energies(j, result, &f);
  json_begin(j, "quantities", '[');
  for (int i = 0; i < yoke_result_n_quantities(result); ++i) {
    size_t n_times;
    yoke_result_times(result, i, &n_times);
    json_begin(j, NULL, '{');
    json_text(j, "name", yoke_result_name(result, i));
    json_text(j, "unit", yoke_result_unit(result, i));
    json_whole(j, "times", (int64_t)n_times);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static yoke_status info_result(yoke_context *ctx, const info_arguments *a, const char *path, json *j) {
  yoke_result *result = NULL;
  if (a->repair) YOKE_TRY(yoke_result_repair(ctx, path));
  YOKE_TRY(yoke_result_open(ctx, path, &result));
  if (a->json) {
    json_result(j, result);
  } else if (a->model) {
    fputs(facts_of(result).model, stdout);
  } else {
    print_result(result, a->all);
  }
  yoke_result_close(&result);
  return YOKE_OK;
}

static int info_file(const info_arguments *a, const char *path) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  json j = {.file = stdout};
  if (a->json) {
    json_begin(&j, NULL, '{');
    json_text(&j, "file", path);
  }
  const bool        is_result = a->repair || yoke_result_is_result(path);
  const yoke_status status    = is_result ? info_result(ctx, a, path, &j) : info_model(ctx, a, path, &j);
  if (a->json) {
    json_text(&j, "status", status_word(status));
    json_whole(&j, "exit_code", yoke_status_exit_code(status));
    json_messages(&j, ctx, status);
    json_end(&j, '}');
  }
  print_messages(ctx);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int info_main(const command_def *command, int argc, char **argv) {
  info_arguments a        = {0};
  text_list      operands = {0};
  int            code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  if (operands.n != 1) {
    code = usage_error(command, "one model or result file expected, %d given", operands.n);
  } else if (a.at != NULL && strcmp(a.at, "start") != 0 && strcmp(a.at, "equilibrium") != 0) {
    code = usage_error(command, "--at %s: expected start or equilibrium", a.at);
  } else {
    code = info_file(&a, operands.texts[0]);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def info_command = {
    .name      = "info",
    .usage     = "MODEL|RESULT [options]",
    .summary   = "show what a model or a result consists of",
    .details   = "Model: bodies, connections, freedoms, constraints, redundant rows, subsystems, couplings, outputs.\n"
                 "--modes linearises a model about the rest state that it comes to from its start (--at start: about the "
                 "start);\n"
                 "shapes name the motions with most kinetic energy, relative to the first, in m and rad.\n"
                 "Result (HDF5, or CSV if the name ends in .csv): status, settings, times, quantities.\n"
                 "--repair changes the file; use it only when no run is writing it any more.",
    .options   = info_options,
    .n_options = (int)(sizeof info_options / sizeof *info_options),
    .run       = info_main,
};
