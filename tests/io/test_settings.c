/* The joined table of settings: rows that agree, values that are read, echoed and read back, keys that nothing reads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../said.h"
#include "check.h"
#include "cosimulation/cosimulate.h"
#include "coupling/formulation.h"
#include "integrate/integrator.h"
#include "io/setting_tables.h"
#include "io/settings_text.h"
#include "master/idle_settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static void every_row_says_what_it_means(void **state) {
  (void)state;
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    for (int k = 0; k < t.table->n; ++k) {
      const yoke_setting *row = &t.table->rows[k];
      char                values[500];
      yoke_setting_values_text(row, values, sizeof values);
      assert_non_null(row->help);
      if (row->refused == NULL && (values[0] == '\0' || row->help[0] == '\0')) fail_msg("%s.%s", t.path, row->key);
      if ((row->with != NULL) != (row->of != NULL)) fail_msg("%s.%s: with and of go together", t.path, row->key);
      if ((row->fits != NULL) && row->expected == NULL) fail_msg("%s.%s: expected what?", t.path, row->key);
    }
  }
}

/* A key below `couplings` is read before the formulation in force is known. */
static void formulations_with_the_same_key_write_it_alike(void **state) {
  (void)state;
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    for (int k = 0; k < t.table->n; ++k) {
      const yoke_setting *row = &t.table->rows[k], *first = yoke_setting_below(t.path, row->key);
      char                a[500], b[500];
      yoke_setting_values_text(row, a, sizeof a);
      yoke_setting_values_text(first, b, sizeof b);
      assert_string_equal(a, b);
      assert_int_equal(row->type, first->type);
      assert_int_equal(row->n, first->n);
    }
  }
}

static void own_settings_fit_into_their_room(void **state) {
  (void)state;
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    const yoke_setting_table *table = &yoke_formulation_at(i)->settings;
    for (int k = 0; k < table->n; ++k)
      assert_true(table->rows[k].at + table->rows[k].size <= sizeof((yoke_coupling_settings *)0)->own);
  }
}

static void solvers_name_keys_that_exist(void **state) {
  (void)state;
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    char words[300];
    assert_non_null(yoke_integrator_method_reads(i));
    snprintf(words, sizeof words, "%s", yoke_integrator_method_reads(i));
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
      if (yoke_setting_below("solvers", word) == NULL)
        fail_msg("solver %s reads '%s', which is no key", yoke_integrator_method_name(i), word);
    }
  }
}

/* ---- keys that nothing reads ---- */

#define HEAD "yoke: 1\nt_end: 1\n"
#define JOINED                                                                                                         \
  HEAD "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}, c: {kind: mass1d, mass: 1}}\n"                \
       "connections: {j: {kind: fixed, between: [a, b]}, k: {kind: spring-damper, between: [b, c], stiffness: 1}}\n"   \
       "split: {p: [a], q: [b, c]}\n"

static void keep_message(void *user, const yoke_setting_value *value, const char *key, const char *reason) {
  char        *text = user;
  const size_t used = strlen(text);
  snprintf(text + used, 2000 - used, "%s: '%s' has no effect: %s\n", value->position, key, reason);
}

/* Messages about the model with `settings` below cosimulation. */
static void idle_of(const char *settings, char text[2000]) {
  cosim c;
  char  model[1000];
  snprintf(model, sizeof model, JOINED "cosimulation: {%s}\n", settings);
  text[0] = '\0';
  if (cosim_open(&c, model, NULL) != YOKE_OK) fail_msg("%s: %s", settings, yoke_context_message(c.ctx, 0));
  yoke_idle_settings(c.model, c.plan, keep_message, text);
  cosim_close(&c);
}

static void a_key_that_nothing_reads_is_told_with_the_setting_that_makes_it_idle(void **state) {
  (void)state;
  static const struct {
    const char *settings, *idle; /* NULL: all are read */
  } cases[] = {
      {"step: 0.1, couplings: {force: exact}", "couplings.force' has no effect: only formulation kinematic reads it"},
      {"step: 0.1, scheme: explicit, couplings: {formulation: kinematic, force: exact, prescribed: p}", NULL},
      {"step: 0.1, couplings: {formulation: weighted, a: 2, mu: 3}",
       "couplings.mu' has no effect: only formulation baumgarte reads it"},
      {"step: 0.1, couplings: {formulation: weighted, a: 2, index: 2}", NULL},
      {"step: 0.1, couplings: {formulation: weighted, b: 2, index: 2}",
       "couplings.b' has no effect: with formulation weighted it belongs to index 1"},
      {"step: 0.1, couplings: {a: 2, j: {formulation: weighted}}", NULL},
      {"step: 0.1, couplings: {formulation: weighted, j: {nodes: [0.3, 0.6]}}", "couplings.j.nodes' has no effect"},
      {"step: 0.1, couplings: {k: {decomposition: force/displacement}}",
       "couplings.k.decomposition' has no effect: 'k' lies within one subsystem"},
      {"step: 0.1, couplings: {relaxation: 0.5}",
       "couplings.relaxation' has no effect: only formulation stabilized-index-2-mu and scheme waveform read it"},
      {"step: 0.1, relaxation: 0.5", "'cosimulation.relaxation' has no effect: it belongs to scheme waveform, and here "
                                     "scheme is semi-implicit"},
      {"step: 0.1, relaxation: 0.5, couplings: {formulation: stabilized-index-2-mu}, order: 0", NULL},
      {"step: 0.1, couplings: {formulation: baumgarte, beta: 1, gamma: 1}, order: 0", NULL},
      {"step: 0.1, couplings: {formulation: baumgarte, beta: 1, mu: 1}, order: 0", NULL},
      {"step: 0.1, couplings: {formulation: baumgarte, beta: 1, gamma: 1, mu: 1}, order: 0",
       "couplings.mu' has no effect: with formulation baumgarte it belongs to index 1 or 2, without beta and gamma"},
      {"step: 0.1, couplings: {formulation: baumgarte, index: 2, gamma: 1}, order: 0",
       "couplings.gamma' has no effect: with formulation baumgarte it belongs to index 1"},
      {"step: 0.1, samples: 4", "'cosimulation.samples' has no effect: it belongs to predictor least-squares"},
      {"step: 0.1, predictor: least-squares, samples: 4", NULL},
      {"step: 0.1, scheme: explicit, corrector: {rtol: 1e-6}, couplings: {formulation: kinematic, prescribed: p}",
       "'cosimulation.corrector.rtol' has no effect: it belongs to scheme semi-implicit, implicit or waveform, and "
       "here "
       "scheme is explicit"},
      {"step: 0.1, corrector: {tau: 0.1}",
       "'cosimulation.corrector.tau' has no effect: it belongs to scheme implicit or waveform, and here scheme is "
       "semi-implicit"},
      {"step: 0.1, corrector: {renew: step}, subsystems: {p: {jacobian: finite-difference}}", NULL},
      {"step: 0.1, scheme: explicit, subsystems: {p: {jacobian: tangent}}, couplings: {formulation: kinematic, "
       "prescribed: p}",
       "'cosimulation.subsystems.p.jacobian' has no effect: it belongs to scheme semi-implicit or implicit, and here "
       "scheme is explicit"},
      {"step: 0.1, corrections: 2, joint_tolerance: 1 mm", NULL},
      {"step: 0.1, corrector: {max_iterations: 4}", NULL},
      {"step: 0.1, corrections: 2, corrector: {max_iterations: 4}",
       "'cosimulation.corrector.max_iterations' has no effect: it belongs to scheme semi-implicit, implicit or "
       "waveform, without corrections"},
      {"step: 0.1, scheme: implicit, corrections: 2",
       "'cosimulation.corrections' has no effect: it belongs to scheme semi-implicit, and here scheme is implicit"},
      {"step: {rtol: 1e-3}, corrector: {rtol: 1e-6}", NULL}, /* implicit is chosen */
      {"step: auto, start: graded",
       "'cosimulation.start' has no effect: it belongs to step fixed, and here step is auto"},
      {"step: 0.1, start: graded", NULL},
      {"step: 0.1, energy: monitor", NULL},
      {"step: 0.1, scheme: implicit, jacobian: analytic, sequence: jacobi, final_update: true", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char text[2000];
    idle_of(cases[i].settings, text);
    if (cases[i].idle == NULL ? text[0] != '\0' : strstr(text, cases[i].idle) == NULL)
      fail_msg("%s: '%s'", cases[i].settings, text);
  }
}

static void a_key_that_its_solver_does_not_read_is_a_warning(void **state) {
  (void)state;
  static const struct {
    const char *solvers, *idle;
  } cases[] = {
      {"{default: {kind: dopri5, linear: dense}}", "'solvers.default.linear' has no effect: solver dopri5 does not"},
      {"{default: {kind: dopri5, linear: dense}, p: bdf}", NULL}, /* p inherits it */
      {"{p: {kind: bdf, rho_inf: 0.5}}", "'solvers.p.rho_inf' has no effect: solver bdf does not read it"},
      {"{default: {kind: genalpha, rho_inf: 0.5}}", NULL},
      {"{default: {kind: bdf, alpha: 3}}",
       "'solvers.default.alpha' has no effect: it belongs to constraints baumgarte"},
      {"{default: {kind: bdf, constraints: baumgarte, alpha: 3}}", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    cosim c;
    char  model[1000];
    snprintf(model, sizeof model, JOINED "solvers: %s\n", cases[i].solvers);
    assert_int_equal(cosim_load(&c, model, NULL), YOKE_OK);
    if (cases[i].idle != NULL ? !said(c.ctx, cases[i].idle) : said(c.ctx, "no effect"))
      fail_msg("%s", cases[i].solvers);
    cosim_close(&c);
  }
}

static void keys_and_words_that_nothing_could_read_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *settings, *message;
  } cases[] = {{"energy: corrects", "key 'cosimulation.energy': found 'corrects', expected one of: monitor, correct, "
                                    "guard, passivity, off; did you mean 'correct'?"},
               {"energy_cap: 0", "key 'cosimulation.energy_cap': found 0"},
               {"couplings: {energy: off}", "key 'cosimulation.couplings.energy': found 'off'"},
               {"substeps: {pp: 10}", "key 'cosimulation.subsystems.pp': found the name of no subsystem"},
               {"jacobian: directional", "key 'cosimulation.jacobian': found 'directional'"},
               {"subsystems: {p: {jacobian: broyden}}",
                "key 'cosimulation.subsystems.p.jacobian': found 'broyden', expected one of: tangent, "
                "finite-difference, analytic"},
               {"subsystems: {pp: {jacobian: tangent}}", "key 'cosimulation.subsystems.pp': found the name of no "
                                                         "subsystem, expected a name below 'split' or 'subsystems'"},
               {"subsystems: {p: {jacobin: tangent}}", "did you mean 'jacobian'?"},
               {"subsystems: tangent", "key 'cosimulation.subsystems'"},
               {"couplings: {j: {samples: 3}}", "it is one for all"},
               {"couplings: {bta: 3}", "did you mean 'beta'?"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    cosim c;
    char  model[1000];
    snprintf(model, sizeof model, JOINED "cosimulation: {%s}\n", cases[i].settings);
    assert_int_equal(cosim_load(&c, model, NULL), YOKE_E_MODEL);
    if (!said(c.ctx, cases[i].message)) fail_msg("%s: %s", cases[i].settings, yoke_context_message(c.ctx, 0));
    cosim_close(&c);
  }
}

/* A coupling may be called like a setting: what holds a map is the coupling. */
static void a_connection_may_have_the_name_of_a_key(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_open(&c,
                              HEAD
                              "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
                              "connections: {mu: {kind: fixed, between: [a, b]}}\nsplit: {p: [a], q: [b]}\n"
                              "cosimulation: {step: 0.1, order: 0, couplings: {mu: {formulation: weighted, a: 2}}}\n",
                              NULL),
                   YOKE_OK);
  const yoke_plan *plan = c.plan;
  assert_string_equal(plan->couplings[0].settings.formulation, "weighted");
  cosim_close(&c);
}

/* ---- the echo ---- */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char        *text = calloc(1, 100000);
  const size_t n    = fread(text, 1, 99999, file);
  assert_true(n > 0);
  fclose(file);
  return text;
}

/* The text of a model without the top-level sections that the echo holds. */
static void put_rest(const char *model, char *out) {
  static const char *const echoed[] = {"t_start:", "t_end:", "gravity:", "solvers:", "cosimulation:", "output:"};
  bool                     skips    = false;
  out[0]                            = '\0';
  for (const char *line = model; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    if (line[0] != ' ' && line[0] != '\n' && line[0] != '#') {
      skips = false;
      for (size_t i = 0; i < sizeof echoed / sizeof *echoed; ++i)
        skips = skips || strncmp(line, echoed[i], strlen(echoed[i])) == 0;
    }
    if (!skips) strncat(out, line, length + 1);
    line += length + (line[length] == '\n');
  }
}

static char *echo_of(const cosim *c) {
  char *text = yoke_run_settings_text(c->model, c->plan, yoke_system_choice(c->system), 0);
  assert_non_null(text);
  return text;
}

static void look_at_end(void *user, double t, const double *q, const double *v) {
  double *end = user;
  end[0]      = t;
  end[1]      = q[0];
  end[2]      = v[0];
  ++end[3];
}

static void the_echo_reads_back_as_the_same_run(void **state) {
  (void)state;
  static const struct {
    const char *file, *sets;
  } cases[] = {
      {"examples/double-pendulum.yaml", "t_end=0.02"},
      {"examples/double-pendulum.yaml", "t_end=0.02;cosimulation.step={rtol: 1e-5}"},
      {"examples/two-mass.yaml", "t_end=0.1;cosimulation={step: {rtol: 1e-5, atol: {coupling: 2}, estimator: cv}}"},
      {"examples/double-pendulum.yaml", "t_end=0.02;cosimulation.couplings={formulation: baumgarte, mu: 0.7};"
                                        "cosimulation.order=1"},
      {"examples/double-pendulum.yaml", "t_end=0.02;cosimulation.couplings={formulation: stabilized-index-1, nodes: "
                                        "[0.3, 0.61]};solvers.default={kind: radau5, rtol: 1e-7, max_step: 1e-3}"},
      {"examples/double-pendulum.yaml", "t_end=0.02;cosimulation.couplings={formulation: stabilized-index-2-mu};"
                                        "cosimulation.relaxation=0.9;cosimulation.order=0"},
      {"examples/double-pendulum.yaml", "t_end=0.02;cosimulation.couplings.formulation=weighted;"
                                        "cosimulation.couplings.a=2;cosimulation.order=0;cosimulation.start=graded"},
      {"examples/double-pendulum.yaml", "t_end=0.02;solvers={default: {kind: dop853, rtol: 1e-9}, b: {kind: radau5, "
                                        "rtol: 1e-6}}"},
      {"examples/kinematic-two-mass.yaml", "t_end=0.2"},
      {"examples/kinematic-two-mass.yaml", "t_end=0.2;cosimulation.step=auto;cosimulation.order=auto"},
      {"examples/two-mass.yaml", "t_end=0.1;cosimulation={step: 1e-3, scheme: explicit, predictor: "
                                 "acceleration-relaxed, order: 2, sequence: gauss-seidel};solvers.default.rtol=1e-7"},
      {"examples/two-mass.yaml", "t_end=0.1;cosimulation={step: 1e-3, scheme: waveform, couplings: {relaxation: 0.55, "
                                 "decomposition: force/displacement}, corrector: {max_iterations: 30}}"},
      {"examples/two-mass.yaml", "t_end=0.1;cosimulation={step: 1e-3, predictor: least-squares, samples: 5}"},
      {"examples/two-mass.yaml", "t_end=0.1;cosimulation={step: auto}"},
      {"examples/chain-load.yaml", "t_end=1e-5;cosimulation={}"}, /* halos */
      {"examples/chain-load.yaml", "t_end=1e-5;cosimulation={step: {rtol: 1e-3}}"},
      {"examples/bouncing-contact.yaml", "t_end=0.5;cosimulation={}"}, /* growth */
      {"examples/slider-crank.yaml", "t_end=0.05;cosimulation={}"},
      {"examples/two-mass.yaml", "t_end=0.1;cosimulation={step: 1e-3, scheme: implicit, corrector: {renew: pass}, "
                                 "subsystems: {b: {jacobian: analytic}}}"},
  };
  char *rest = calloc(1, 100000), *text = calloc(1, 200000);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cosim  first, second;
    double end[2][4] = {{0}};
    char  *model = read_file(cases[i].file), idle[2000] = "";
    if (cosim_open(&first, cases[i].file, cases[i].sets) != YOKE_OK)
      fail_msg("%s: %s", cases[i].sets, yoke_context_message(first.ctx, 0));
    char *echo = echo_of(&first);
    put_rest(model, rest);
    snprintf(text, 200000, "%s\n%s", rest, echo);
    if (cosim_open(&second, text, NULL) != YOKE_OK) fail_msg("%s\n%s", yoke_context_message(second.ctx, 0), echo);
    yoke_idle_settings(second.model, second.plan, keep_message, idle);
    if (idle[0] != '\0') fail_msg("the echo holds what nothing reads: %s%s", idle, echo);
    char *again = echo_of(&second);
    assert_string_equal(echo, again);
    if (cosim_run(&first, first.model->t_end, look_at_end, end[0]) != YOKE_OK)
      fail_msg("%s: %s", cases[i].sets, yoke_context_message(first.ctx, yoke_context_n_messages(first.ctx) - 1));
    assert_int_equal(cosim_run(&second, second.model->t_end, look_at_end, end[1]), YOKE_OK);
    assert_true(end[0][3] > 1.0);
    assert_memory_equal(end[0], end[1], sizeof end[0]);
    cosim_close(&first);
    cosim_close(&second);
    free(model);
    free(echo);
    free(again);
  }
  free(rest);
  free(text);
}

static void the_echo_names_what_was_chosen(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_open(&c, "examples/double-pendulum.yaml", "cosimulation={step: {rtol: 1e-5}}"), YOKE_OK);
  char *echo = echo_of(&c);
  for (const char *const *part = (const char *const[]){"scheme: implicit\n", "estimator: md",
                                                       "initial: ", "max: ", "order: {min: 0, max: 4, rule: ida}",
                                                       "\"knee\": {formulation: stabilized-index-2, decomposition: "
                                                       "force/force, extension: none, feedthrough: false, index: 2}",
                                                       "corrector: {rtol: ", "kind: auto, rtol: ", NULL};
       *part != NULL; ++part) {
    if (strstr(echo, *part) == NULL) fail_msg("'%s' is not in\n%s", *part, echo);
  }
  free(echo);
  cosim_close(&c);
}

/* ---- pages ---- */

typedef struct page_section {
  const char *page, *heading, *path; /* a table below this heading has the keys at this path */
  const char *formulation;           /* its own keys; NULL: all at the path */
} page_section;

static bool is_told(const page_section *section, const yoke_joined_table *t, const yoke_setting *row) {
  if (row->refused != NULL || strcmp(t->path, section->path) != 0) return false;
  return section->formulation == NULL || (t->formulation != NULL && strcmp(t->formulation, section->formulation) == 0);
}

static bool is_key(const page_section *section, const char *word) {
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    const yoke_setting *row = yoke_setting_find(t.table, word);
    if (row != NULL && is_told(section, &t, row)) return true;
  }
  return false;
}

/* Every word in backquotes of the first column is a key, and every key is there. */
static void check_section(const page_section *section) {
  char *page = read_file(section->page), found[4000] = " ";
  char *at = strstr(page, section->heading);
  if (at == NULL) fail_msg("%s has no '%s'", section->page, section->heading);
  for (char *line = at + strlen(section->heading);
       line != NULL && strncmp(line, "## ", 3) != 0 && strncmp(line, "### ", 4) != 0;
       line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
    const char *end = strncmp(line, "| ", 2) == 0 ? strchr(line + 2, '|') : NULL;
    for (char *word = line; end != NULL && (word = strchr(word, '`')) != NULL && word < end;) {
      char         key[64] = "";
      const size_t n       = strcspn(word + 1, "`");
      snprintf(key, sizeof key, "%.*s", (int)n, word + 1);
      if (!is_key(section, key)) fail_msg("%s, %s: '%s' is no key", section->page, section->heading, key);
      strcat(strcat(found, key), " ");
      word += n + 2;
    }
  }
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    for (int k = 0; k < t.table->n; ++k) {
      if (is_told(section, &t, &t.table->rows[k]) && !yoke_setting_is_among(t.table->rows[k].key, found + 1))
        fail_msg("%s, %s: '%s' is missing", section->page, section->heading, t.table->rows[k].key);
    }
  }
  free(page);
}

static void pages_have_all_keys_and_no_others(void **state) {
  (void)state;
  static const char         file[]     = "docs/model-file.md";
  static const page_section sections[] = {
      {file, "## Solvers\n", "solvers", NULL},
      {file, "## Output\n", "output", NULL},
      {file, "## Cosimulation\n", "cosimulation", NULL},
      {file, "### step\n", "cosimulation.step", NULL},
      {file, "### step.atol\n", "cosimulation.step.atol", NULL},
      {file, "### order\n", "cosimulation.order", NULL},
      {file, "### corrector\n", "cosimulation.corrector", NULL},
      {file, "### subsystems\n", "cosimulation.subsystems", NULL},
      {file, "### couplings\n", "cosimulation.couplings", NULL},
      {"docs/step-control.md", "## Settings\n", "cosimulation.step", NULL},
  };
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) check_section(&sections[i]);
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    const yoke_formulation_ops *ops = yoke_formulation_at(i);
    char                        page[200];
    snprintf(page, sizeof page, "docs/methods/%s.md", ops->name);
    const page_section own = {page, "## Settings\n", YOKE_COUPLING_PATH, ops->name};
    if (ops->settings.n > 0) check_section(&own);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_says_what_it_means),
      cmocka_unit_test(formulations_with_the_same_key_write_it_alike),
      cmocka_unit_test(own_settings_fit_into_their_room),
      cmocka_unit_test(solvers_name_keys_that_exist),
      cmocka_unit_test(a_key_that_nothing_reads_is_told_with_the_setting_that_makes_it_idle),
      cmocka_unit_test(a_key_that_its_solver_does_not_read_is_a_warning),
      cmocka_unit_test(keys_and_words_that_nothing_could_read_are_refused),
      cmocka_unit_test(a_connection_may_have_the_name_of_a_key),
      cmocka_unit_test(the_echo_reads_back_as_the_same_run),
      cmocka_unit_test(the_echo_names_what_was_chosen),
      cmocka_unit_test(pages_have_all_keys_and_no_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
