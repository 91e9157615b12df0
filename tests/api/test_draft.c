/* Models that are written by calls: the bits of those that are read from files, the text they leave, and mistakes that name their keys. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "folder.h"
#include "io/yaml.h"
#include "model/model.h"
#include <yoke/yoke.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const yoke_context *ctx, yoke_status status, yoke_status wanted) {
  if (status == wanted) return;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
  fail_msg("%s, wanted %s", yoke_status_name(status), yoke_status_name(wanted));
}

static yoke_draft *new_draft(fixture *f) {
  yoke_draft *d = NULL;
  expect(f->ctx, yoke_draft_create(f->ctx, "draft", &d), YOKE_OK);
  return d;
}

static yoke_model *build(fixture *f, yoke_draft **d) {
  yoke_model *model = NULL;
  expect(f->ctx, yoke_draft_status(*d), YOKE_OK);
  expect(f->ctx, yoke_model_build(f->ctx, *d, NULL, &model), YOKE_OK);
  yoke_draft_destroy(d);
  return model;
}

static yoke_model *load(fixture *f, const char *path) {
  yoke_model *model = NULL;
  expect(f->ctx, yoke_model_load(f->ctx, path, NULL, &model), YOKE_OK);
  return model;
}

/* ---- runs ---- */

/* All that a model shows at its start and behind a few steps. */
static yoke_result *short_run(fixture *f, const yoke_model *model) {
  const yoke_simulation_options options = {.size = sizeof options, .no_predict = true, .exec = "serial", .threads = 1};
  const yoke_record_options     record  = {.size = sizeof record, .out = "", .csv = "", .in_memory = true};
  yoke_simulation              *s       = NULL;
  yoke_result                  *result  = NULL;
  expect(f->ctx, yoke_simulation_create(f->ctx, model, &options, &s), YOKE_OK);
  expect(f->ctx, yoke_simulation_record(f->ctx, s, &record), YOKE_OK);
  for (int i = 0; i < 3; ++i) expect(f->ctx, yoke_simulation_step(f->ctx, s, NULL), YOKE_OK);
  expect(f->ctx, yoke_simulation_record_take(f->ctx, s, "run", &result), YOKE_OK);
  yoke_simulation_destroy(&s);
  return result;
}

static void expect_same_runs(fixture *f, const yoke_model *a, const yoke_model *b, const char *what) {
  yoke_result          *results[2] = {short_run(f, a), short_run(f, b)};
  yoke_comparison      *comparison = NULL;
  yoke_comparison_facts facts      = {.size = sizeof facts};
  expect(f->ctx, yoke_result_compare(f->ctx, results[0], results[1], &comparison), YOKE_OK);
  expect(f->ctx, yoke_comparison_facts_get(f->ctx, comparison, &facts), YOKE_OK);
  if (!facts.same_bits) fail_msg("%s: the runs differ by %g", what, facts.largest_nrmse);
  assert_true(facts.n_common > 0);
  yoke_comparison_destroy(&comparison);
  yoke_result_close(&results[0]);
  yoke_result_close(&results[1]);
}

/* ---- every example ---- */

static bool is_number(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*value) && strpbrk(text, "xXnN") == NULL;
}

/* Calls that say what a node says. */
static void say(yoke_draft *d, const char *path, const yoke_yaml_node *node) {
  double value;
  if (node->kind == YOKE_YAML_SCALAR && node->quoted) {
    yoke_draft_set_quoted(d, path, node->text);
  } else if (node->kind == YOKE_YAML_SCALAR && is_number(node->text, &value)) {
    yoke_draft_set_number(d, path, value);
  } else if (node->kind == YOKE_YAML_SCALAR) {
    yoke_draft_set_text(d, path, node->text);
  } else if (node->kind == YOKE_YAML_LIST) {
    yoke_draft_set_list(d, path);
  } else if (path[0] != '\0') {
    yoke_draft_set_map(d, path);
  }
  for (int i = 0; i < node->n; ++i) {
    const char *key    = node->kind == YOKE_YAML_MAP ? node->keys[i]->text : NULL;
    const char *quotes = key != NULL && strchr(key, '.') != NULL ? "\"" : "";
    char        below[400];
    if (key != NULL)
      snprintf(below, sizeof below, "%s%s%s%s%s", path, path[0] != '\0' ? "." : "", quotes, key, quotes);
    else
      snprintf(below, sizeof below, "%s.%d", path, i + 1);
    say(d, below, node->items[i]);
  }
}

static yoke_draft *draft_of_file(fixture *f, const char *path) {
  yoke_yaml      *yaml = NULL;
  yoke_yaml_node *root = NULL;
  yoke_draft     *d    = NULL;
  expect(f->ctx, yoke_yaml_create(&yaml), YOKE_OK);
  expect(f->ctx, yoke_yaml_read_file(f->ctx, yaml, path, &root), YOKE_OK);
  expect(f->ctx, yoke_draft_create(f->ctx, path, &d), YOKE_OK);
  say(d, "", root);
  yoke_yaml_destroy(&yaml);
  return d;
}

static void every_example_can_be_written_by_calls_and_has_the_same_bits(void **state) {
  fixture       *f      = *state;
  DIR           *folder = opendir("examples");
  struct dirent *entry;
  int            n = 0;
  assert_non_null(folder);
  while ((entry = readdir(folder)) != NULL) {
    char path[300];
    if (strstr(entry->d_name, ".yaml") == NULL) continue;
    snprintf(path, sizeof path, "examples/%.200s", entry->d_name);
    yoke_draft *d     = draft_of_file(f, path);
    yoke_model *model = load(f, path), *built = build(f, &d), *again = NULL;
    expect(f->ctx,
           yoke_model_load_text(f->ctx, path, yoke_model_text(built), strlen(yoke_model_text(built)), NULL, &again),
           YOKE_OK);
    assert_string_equal(yoke_model_text(again), yoke_model_text(built));
    assert_string_equal(yoke_model_name(built), yoke_model_name(model));
    expect_same_runs(f, model, built, path);
    expect_same_runs(f, model, again, path);
    yoke_model_destroy(&model);
    yoke_model_destroy(&built);
    yoke_model_destroy(&again);
    ++n;
  }
  closedir(folder);
  assert_true(n >= 29);
}

/* ---- by hand ---- */

static const double pi = 3.14159265358979323846;

static void the_double_pendulum_by_typed_calls_has_the_bits_of_its_file(void **state) {
  fixture     *f         = *state;
  yoke_draft  *d         = new_draft(f);
  const double gravity[] = {0.0, -9.81}, half = 0.5 * cos(pi / 4.0);
  const char  *upper[] = {"upper"}, *lower[] = {"lower"};
  yoke_draft_set_quoted(d, "name", "double pendulum");
  yoke_draft_set_numbers(d, "gravity", 2, gravity);
  yoke_draft_set_number(d, "t_end", 2.0);
  yoke_draft_body bar = {.size = sizeof bar, .kind = "planar", .mass = 1.0, .inertia = {1.0 / 12.0}};
  bar.angle           = pi / 4.0;
  bar.position[0]     = half;
  bar.position[1]     = 0.5 * sin(pi / 4.0);
  yoke_draft_add_body(d, "upper", &bar);
  bar.angle       = -pi / 4.0;
  bar.position[0] = 1.5 * cos(pi / 4.0);
  yoke_draft_add_body(d, "lower", &bar);
  const yoke_draft_frame      ends[2] = {{.size = sizeof ends[0], .at = {-0.5}}, {.size = sizeof ends[0], .at = {0.5}}};
  const yoke_draft_connection shoulder = {
      .size = sizeof shoulder, .kind = "revolute", .between = {"ground", "upper.top"}};
  const yoke_draft_connection knee = {.size = sizeof knee, .kind = "revolute", .between = {"upper.tip", "lower.top"}};
  for (int i = 0; i < 2; ++i) {
    yoke_draft_add_frame(d, i == 0 ? "upper" : "lower", "top", &ends[0]);
    yoke_draft_add_frame(d, i == 0 ? "upper" : "lower", "tip", &ends[1]);
  }
  yoke_draft_add_connection(d, "shoulder", &shoulder);
  yoke_draft_add_connection(d, "knee", &knee);
  for (int i = 0; i < 2; ++i) {
    const yoke_draft_load drag = {.size = sizeof drag, .kind = "drag", .on = i == 0 ? "upper" : "lower"};
    yoke_draft_add_load(d, i == 0 ? "drag1" : "drag2", &drag);
    yoke_draft_set_number(d, i == 0 ? "loads.drag1.linear" : "loads.drag2.linear", 2.0);
  }
  yoke_draft_add_part(d, "a", 1, upper);
  yoke_draft_add_part(d, "b", 1, lower);
  yoke_draft_choose(d, "scheme", "semi-implicit");
  yoke_draft_choose(d, "order", "1");
  yoke_draft_choose(d, "cosimulation.step", "1e-3");
  yoke_draft_set_number(d, "solvers.default.rtol", 1e-10);
  yoke_draft_choose(d, "output.every", "1e-2");
  yoke_model *model = load(f, "examples/double-pendulum.yaml"), *built = build(f, &d);
  expect_same_runs(f, model, built, "double pendulum");
  yoke_model_destroy(&model);
  yoke_model_destroy(&built);
}

static void the_robot_arm_by_typed_calls_has_the_bits_of_its_file(void **state) {
  static const char *const torques[3] = {
      "gain*(0.8*sin(2*t) - shoulder.angle) - damping*shoulder.angle_rate",
      "gain/4*(1 - cos(2*t) - elbow.angle) - damping/4*elbow.angle_rate",
      "-gain/4*(1 - cos(2*t) - elbow.angle) + damping/4*elbow.angle_rate",
  };
  static const char *const names[3] = {"shoulder_motor", "elbow_motor", "elbow_reaction"};
  static const char *const on[3]    = {"upper", "fore", "upper"};
  static const char *const arm[] = {"upper", "fore"}, *const load_part[] = {"load"};
  static const char *const select[]  = {"*.angle", "fore.tip.?", "fore.tip.a?", "tip_speed", "power", "lag"};
  const double             gravity[] = {0.0, -9.81, 0.0}, l = 0.6;
  fixture                 *f = *state;
  yoke_draft              *d = new_draft(f);
  yoke_draft_set_number(d, "t_end", 2.0);
  yoke_draft_set_numbers(d, "gravity", 3, gravity);
  yoke_draft_set_text(d, "parameters.l", "600 mm");
  yoke_draft_set_number(d, "parameters.m", 4.0);
  yoke_draft_set_number(d, "parameters.gain", 900.0);
  yoke_draft_set_number(d, "parameters.damping", 60.0);
  yoke_draft_set_number(d, "parameters.rope", 0.3);
  yoke_draft_set_number(d, "parameters.l", l); /* the last word counts */
  const yoke_draft_body  upper  = {.size = sizeof upper, .kind = "planar", .mass = 4.0, .position = {l / 2.0}};
  const yoke_draft_body  fore   = {.size = sizeof fore, .kind = "planar", .mass = 2.0, .position = {3.0 * l / 2.0}};
  const yoke_draft_body  weight = {.size = sizeof weight, .kind = "particle", .mass = 1.0, .position = {2.0 * l, -0.3}};
  const yoke_draft_frame root = {.size = sizeof root, .at = {-l / 2.0}}, tip = {.size = sizeof tip, .at = {l / 2.0}};
  yoke_draft_add_body(d, "upper", &upper);
  yoke_draft_set_text(d, "bodies.upper.inertia", "m*l^2/12");
  yoke_draft_add_body(d, "fore", &fore);
  yoke_draft_set_text(d, "bodies.fore.inertia", "m*l^2/24");
  yoke_draft_add_body(d, "load", &weight);
  yoke_draft_add_frame(d, "upper", "root", &root);
  yoke_draft_add_frame(d, "upper", "tip", &tip);
  yoke_draft_add_frame(d, "fore", "root", &root);
  yoke_draft_add_frame(d, "fore", "tip", &tip);
  const yoke_draft_connection shoulder = {
      .size = sizeof shoulder, .kind = "revolute", .between = {"ground", "upper.root"}};
  const yoke_draft_connection elbow = {.size = sizeof elbow, .kind = "revolute", .between = {"upper.tip", "fore.root"}};
  const yoke_draft_connection spring = {.size        = sizeof spring,
                                        .kind        = "spring-damper",
                                        .between     = {"fore.tip", "load"},
                                        .stiffness   = 200.0,
                                        .damping     = 4.0,
                                        .free_length = 0.3};
  yoke_draft_add_connection(d, "shoulder", &shoulder);
  yoke_draft_add_connection(d, "elbow", &elbow);
  yoke_draft_add_connection(d, "spring", &spring);
  for (int i = 0; i < 3; ++i) {
    const yoke_draft_load motor = {.size = sizeof motor, .kind = "expression", .on = on[i], .torque = {torques[i]}};
    yoke_draft_add_load(d, names[i], &motor);
  }
  yoke_draft_set_text(d, "events.high.when", "fore.tip.y - 0.8");
  yoke_draft_set_text(d, "events.high.direction", "rising");
  yoke_draft_add_output(d, "tip_speed", "hypot(fore.tip.vx, fore.tip.vy)", "m/s");
  yoke_draft_add_output(d, "torque", torques[0], "N m");
  yoke_draft_add_output(d, "power", "torque*shoulder.angle_rate", "W");
  yoke_draft_add_output(d, "lag", "hypot(load.x - fore.tip.x, load.y - fore.tip.y) - rope", NULL);
  yoke_draft_add_part(d, "arm", 2, arm);
  yoke_draft_add_part(d, "load", 1, load_part);
  yoke_draft_choose(d, "step", "1e-3");
  yoke_draft_set_number(d, "output.every", 0.01);
  yoke_draft_set_texts(d, "output.select", 6, select);
  yoke_model *model = load(f, "examples/robot-arm.yaml"), *built = build(f, &d);
  expect_same_runs(f, model, built, "robot arm");
  yoke_model_destroy(&model);
  yoke_model_destroy(&built);
}

static void a_body_in_space_takes_all_members_of_its_struct(void **state) {
  fixture               *f    = *state;
  yoke_draft            *d    = new_draft(f);
  const yoke_draft_body  top  = {.size        = sizeof top,
                                 .kind        = "rigid",
                                 .mass        = 15.0,
                                 .inertia     = {0.3, 0.5, 0.4, 0.01},
                                 .position    = {0.0, 1.0, 0.0},
                                 .orientation = {0.6, 0.0, 0.8, 0.0},
                                 .velocity    = {0.1, 0.2, 0.3},
                                 .omega       = {0.0, 150.0, 0.0}};
  const yoke_draft_frame tip  = {.size = sizeof tip, .at = {0.0, 0.0, 0.1}, .axis = {0.0, 1.0, 0.0}};
  const yoke_draft_body  line = {
       .size = sizeof line, .kind = "mass1d", .mass = 2.0, .position = {3.0}, .velocity = {4.0}};
  const yoke_draft_connection turn = {.size    = sizeof turn,
                                      .kind    = "torsion-spring",
                                      .between = {"ground", "top.tip"},
                                      .law     = "3*x + 2*v",
                                      .axis    = {0.0, 1.0, 0.0}};
  const yoke_draft_load       push = {.size     = sizeof push,
                                      .kind     = "harmonic",
                                      .on       = "top.tip",
                                      .force    = {"10 N", "0", "1"},
                                      .omega    = 2.0,
                                      .phase    = 0.5,
                                      .follower = true};
  yoke_draft_set_number(d, "t_end", 1.0);
  yoke_draft_add_body(d, "top", &top);
  yoke_draft_add_body(d, "line", &line);
  yoke_draft_add_frame(d, "top", "tip", &tip);
  yoke_draft_add_connection(d, "turn", &turn);
  yoke_draft_set_map(d, "connections"); /* away with it */
  yoke_draft_add_load(d, "push", &push);
  yoke_draft_set_text(d, "bodies.top.keep", "position");
  yoke_draft_set_flag(d, "bodies.line.keep", true);
  yoke_model       *model      = build(f, &d);
  static const char expected[] = "yoke: 1\n"
                                 "t_end: 1\n"
                                 "bodies:\n"
                                 "  top:\n"
                                 "    kind: rigid\n"
                                 "    mass: 15\n"
                                 "    orientation: [0.59999999999999998, 0, 0.80000000000000004, 0]\n"
                                 "    inertia: [0.29999999999999999, 0.5, 0.40000000000000002, 0.01, 0, 0]\n"
                                 "    omega: [0, 150, 0]\n"
                                 "    position: [0, 1]\n"
                                 "    velocity: [0.10000000000000001, 0.20000000000000001, 0.29999999999999999]\n"
                                 "    keep: position\n"
                                 "  line:\n"
                                 "    kind: mass1d\n"
                                 "    mass: 2\n"
                                 "    x: 3\n"
                                 "    v: 4\n"
                                 "    keep: true\n"
                                 "frames:\n"
                                 "  top:\n"
                                 "    tip:\n"
                                 "      at: [0, 0, 0.10000000000000001]\n"
                                 "      axis: [0, 1, 0]\n"
                                 "connections: {}\n"
                                 "loads:\n"
                                 "  push:\n"
                                 "    kind: harmonic\n"
                                 "    on: top.tip\n"
                                 "    force: [10 N, 0, 1]\n"
                                 "    omega: 2\n"
                                 "    phase: 0.5\n"
                                 "    follower: true\n";
  assert_string_equal(yoke_model_text(model), expected);
  yoke_model_destroy(&model);
}

/* ---- values ---- */

static void numbers_keep_their_bits(void **state) {
  fixture *f    = *state;
  uint64_t seed = 1;
  for (int k = 0; k < 200; ++k) {
    static const double edges[] = {4.9406564584124654e-324,
                                   2.2250738585072014e-308,
                                   1.7976931348623157e308,
                                   -0.1,
                                   1.0 / 3.0,
                                   9007199254740993.0,
                                   -1e-5,
                                   1e22};
    double              value   = edges[k % 8];
    if (k >= 8) {
      uint64_t bits;
      do {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bits = seed ^ seed >> 29;
        memcpy(&value, &bits, sizeof value);
      } while (!isfinite(value));
    }
    yoke_draft           *d    = new_draft(f);
    const yoke_draft_body body = {.size = sizeof body, .kind = "mass1d", .mass = 1.0, .position = {value}};
    yoke_draft_set_number(d, "t_end", 1.0);
    yoke_draft_add_body(d, "a", &body);
    yoke_model *model = build(f, &d), *again = NULL;
    assert_memory_equal(&model->bodies[0].position[0], &value, sizeof value);
    expect(f->ctx, yoke_model_load_text(f->ctx, "a", model->text, strlen(model->text), NULL, &again), YOKE_OK);
    assert_memory_equal(&again->bodies[0].position[0], &value, sizeof value);
    yoke_model_destroy(&model);
    yoke_model_destroy(&again);
  }
}

static void every_text_comes_back_from_the_text_of_the_model(void **state) {
  static const char *const names[] = {"\"quoted\" \\ back",
                                      "line\nbreak\ttab",
                                      "#: [x], {y}, 'z'",
                                      " blanks ",
                                      "null",
                                      "123",
                                      "gr\xc3\xb6\xc3\x9f",
                                      "\xc2\x85\xc2\x9f\x7f",
                                      "\xe2\x80\xa8 \xe2\x80\xa9 \xef\xbb\xbf",
                                      "\xf0\x9f\x98\x80",
                                      "~",
                                      "- a",
                                      "? b"};
  fixture                 *f       = *state;
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    yoke_draft           *d    = new_draft(f);
    const yoke_draft_body body = {.size = sizeof body, .kind = "mass1d", .mass = 1.0};
    yoke_draft_set_quoted(d, "name", names[k]);
    yoke_draft_set_number(d, "t_end", 1.0);
    yoke_draft_add_body(d, "a", &body);
    yoke_model *model = build(f, &d), *again = NULL;
    assert_string_equal(yoke_model_name(model), names[k]);
    expect(f->ctx, yoke_model_load_text(f->ctx, "a", model->text, strlen(model->text), NULL, &again), YOKE_OK);
    assert_string_equal(yoke_model_name(again), names[k]);
    yoke_model_destroy(&model);
    yoke_model_destroy(&again);
  }
}

static void keys_with_dots_and_entries_of_lists_have_paths(void **state) {
  fixture           *f       = *state;
  yoke_draft        *d       = new_draft(f);
  const double       x[]     = {1.0, 2.0, 3.0};
  static const char *pair[2] = {"ground", "c[3]"};
  yoke_draft_set_number(d, "t_end", 1.0);
  yoke_draft_set_text(d, "bodies.c.kind", "chain");
  yoke_draft_set_number(d, "bodies.c.n", 3.0);
  yoke_draft_set_number(d, "bodies.c.mass", 1.0);
  yoke_draft_set_number(d, "bodies.c.stiffness", 1.0);
  yoke_draft_set_numbers(d, "bodies.c.x", 3, x);
  yoke_draft_set_number(d, "bodies.c.x.2", 5.0);
  yoke_draft_set_list(d, "bodies.c.loads");
  yoke_draft_set_number(d, "bodies.c.loads.1.on", 2.0);
  yoke_draft_set_text(d, "bodies.c.loads.1.kind", "harmonic");
  yoke_draft_set_number(d, "bodies.c.loads.1.force", 3.0);
  yoke_draft_set_number(d, "bodies.c.loads.1.omega", 4.0);
  yoke_draft_set_texts(d, "bodies.\"c\".free", 0, pair);
  yoke_draft_set_text(d, "bodies.\"c\".free", "right");
  yoke_draft_set_text(d, "events.hit.when", "c.x[1] - 10");
  yoke_draft_set_text(d, "events.hit.set.\"c.v[1]\"", "-c.v[1]");
  yoke_model *model = build(f, &d);
  assert_non_null(strstr(yoke_model_text(model), "x: [1, 5, 3]\n"));
  assert_non_null(strstr(yoke_model_text(model), "loads: [{on: 2, kind: harmonic, force: 3, omega: 4}]\n"));
  assert_non_null(strstr(yoke_model_text(model), "\"c.v[1]\": \"-c.v[1]\"\n"));
  yoke_model_destroy(&model);
}

static void a_draft_is_built_again_after_a_change_and_with_other_settings(void **state) {
  fixture                *f = *state;
  yoke_draft             *d = new_draft(f);
  yoke_model             *a = NULL, *b = NULL, *c = NULL;
  const yoke_draft_body   body    = {.size = sizeof body, .kind = "mass1d", .mass = 1.0};
  const yoke_choice       choice  = {"t-end", "3"};
  const yoke_load_options options = {.size = sizeof options, .n_choices = 1, .choices = &choice};
  yoke_draft_set_number(d, "t_end", 1.0);
  yoke_draft_add_body(d, "a", &body);
  expect(f->ctx, yoke_model_build(f->ctx, d, NULL, &a), YOKE_OK);
  expect(f->ctx, yoke_model_build(f->ctx, d, &options, &b), YOKE_OK);
  yoke_draft_set_number(d, "t_end", 2.0);
  expect(f->ctx, yoke_model_build(f->ctx, d, NULL, &c), YOKE_OK);
  yoke_draft_destroy(&d);
  assert_true(yoke_model_t_end(a) == 1.0 && yoke_model_t_end(b) == 3.0 && yoke_model_t_end(c) == 2.0);
  assert_int_equal(yoke_model_n_bodies(a), 1);
  yoke_model_destroy(&a);
  yoke_model_destroy(&b);
  yoke_model_destroy(&c);
}

static void a_draft_of_many_bodies_is_written_in_no_time(void **state) {
  enum { N = 20000 };
  fixture              *f    = *state;
  yoke_draft           *d    = new_draft(f);
  const yoke_draft_body body = {.size = sizeof body, .kind = "mass1d", .mass = 1.0};
  yoke_draft_set_number(d, "t_end", 1.0);
  for (int i = 0; i < N; ++i) {
    char name[32];
    snprintf(name, sizeof name, "b%d", i);
    yoke_draft_add_body(d, name, &body);
  }
  yoke_model *model = build(f, &d);
  assert_int_equal(yoke_model_n_bodies(model), N);
  yoke_model_destroy(&model);
}

/* ---- mistakes ---- */

static void expect_mistake(fixture *f, yoke_draft *d, const char *part) {
  yoke_model *model = NULL;
  yoke_context_clear(f->ctx);
  expect(f->ctx, yoke_model_build(f->ctx, d, NULL, &model), YOKE_E_MODEL);
  assert_null(model);
  if (has_message(f->ctx, part)) return;
  for (size_t i = 0; i < yoke_context_n_messages(f->ctx); ++i) print_message("%s\n", yoke_context_message(f->ctx, i));
  fail_msg("no message '%s'", part);
}

static yoke_draft *good_draft(fixture *f) {
  yoke_draft           *d    = new_draft(f);
  const yoke_draft_body body = {.size = sizeof body, .kind = "mass1d", .mass = 1.0};
  yoke_draft_set_number(d, "t_end", 1.0);
  yoke_draft_add_body(d, "a", &body);
  return d;
}

/* What the reader of files finds: name of the draft and path of the key. */
static void mistakes_of_the_model_name_the_draft_and_the_key(void **state) {
  fixture    *f = *state;
  yoke_draft *d = good_draft(f);
  yoke_draft_set_text(d, "bodies.a.mass", "350 mm");
  expect_mistake(f, d, "draft: key 'bodies.a.mass': found '350 mm'");
  yoke_draft_set_number(d, "bodies.a.mass", -1.0);
  expect_mistake(f, d, "draft: key 'bodies.a.mass': found");
  yoke_draft_set_number(d, "bodies.a.mass", 1.0);
  yoke_draft_set_number(d, "bodies.a.mas", 1.0);
  expect_mistake(f, d, "draft: key 'bodies.a.mas': found an unknown key");
  assert_true(has_message(f->ctx, "did you mean 'mass'?"));
  yoke_draft_destroy(&d);
}

static void nonsense_is_forgotten_when_its_key_or_one_above_it_is_set_right(void **state) {
  fixture              *f     = *state;
  yoke_draft           *d     = good_draft(f);
  const yoke_draft_body body  = {.size = sizeof body, .kind = "mass1d", .mass = 1.0};
  yoke_model           *model = NULL;
  yoke_draft_set_number(d, "t_end", (double)NAN);
  yoke_draft_set_text(d, "bodies.b.mass", NULL);
  yoke_draft_set_number(d, "bodies.b.x", (double)INFINITY);
  assert_int_equal(yoke_draft_status(d), YOKE_E_MODEL);
  yoke_draft_set_number(d, "t_end", 1.0);
  expect_mistake(f, d, "key 'bodies.b.mass': found NULL");
  yoke_draft_set_number(d, "bodies.bb.x", 1.0); /* another one */
  assert_int_equal(yoke_draft_status(d), YOKE_E_MODEL);
  yoke_draft_add_body(d, "b", &body);
  yoke_draft_add_body(d, "bb", &body);
  expect(f->ctx, yoke_draft_status(d), YOKE_OK);
  expect(f->ctx, yoke_model_build(f->ctx, d, NULL, &model), YOKE_OK);
  yoke_model_destroy(&model);
  yoke_draft_destroy(&d);
}

static void inputs_and_subsystems_have_calls_of_their_own(void **state) {
  static const yoke_draft_entry parameters[] = {{"k", "-3"}, {"mode", "fast"}}, ports[] = {{"end", "line"}},
                                inputs[] = {{"in", "a.x + pull"}}, outputs[] = {{"out", "N"}, {"raw", NULL}};
  fixture                   *f = *state;
  yoke_draft                *d = good_draft(f);
  const yoke_draft_subsystem g = {.size         = sizeof g,
                                  .type         = "gain",
                                  .n_parameters = 2,
                                  .parameters   = parameters,
                                  .n_ports      = 1,
                                  .ports        = ports,
                                  .n_inputs     = 1,
                                  .inputs       = inputs,
                                  .n_outputs    = 2,
                                  .outputs      = outputs};
  yoke_draft_add_input(d, "pull", 2.5, "N");
  yoke_draft_add_subsystem(d, "g", &g);
  yoke_model *model = build(f, &d);
  assert_non_null(strstr(yoke_model_text(model), "inputs:\n  pull:\n    value: 2.5\n    unit: \"N\"\n"));
  assert_non_null(strstr(yoke_model_text(model), "subsystems:\n"
                                                 "  g:\n"
                                                 "    kind: user\n"
                                                 "    type: gain\n"
                                                 "    parameters:\n      k: -3\n      mode: fast\n"
                                                 "    ports:\n      end: line\n"
                                                 "    inputs:\n      in: a.x + pull\n"));
  yoke_model_destroy(&model);
  d                               = good_draft(f);
  const yoke_draft_entry     bad  = {"a.b", "1"};
  const yoke_draft_subsystem none = {.size = sizeof none, .type = "gain", .n_inputs = 1, .inputs = &bad},
                             odd  = {.size = sizeof odd, .n_ports = 1};
  yoke_draft_add_subsystem(d, "g", &none);
  expect_mistake(f, d, "key 'subsystems.g.inputs': found the name 'a.b', expected letters");
  yoke_draft_add_subsystem(d, "g", &odd);
  expect_mistake(f, d, "key 'subsystems.g.ports': found a list of 1 without values");
  yoke_draft_destroy(&d);
}

static void nonsense_is_remembered_and_told_by_the_build(void **state) {
  static const double      bad[]     = {1.0, (double)NAN};
  static const char *const no_text[] = {"a", NULL};
  const yoke_draft_body    no_size   = {0};
  fixture                 *f         = *state;
  static const struct {
    const char *path, *part;
  } paths[] = {
      {"", "draft: key '': found a path that is none"},
      {"bodies..mass", "key 'bodies..mass': found a path that is none"},
      {"bodies.", "found a path that is none"},
      {"bodies.\"a.mass", "found a path that is none"},
      {"bodies.\"a\"b", "found a path that is none"},
      {"t_end.s", "key 't_end.s': found the value '1' on the way"},
      {"output.select.3", "found '3', expected the number of an entry, 1 to 1: this is a list"},
      {"output.select.a", "expected the number of an entry"},
      {"a\xff", "found a path that is no text"},
  };
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    yoke_draft *d = good_draft(f);
    yoke_draft_set_list(d, "output.select");
    yoke_draft_set_number(d, paths[i].path, 1.0);
    assert_int_equal(yoke_draft_status(d), YOKE_E_MODEL);
    expect_mistake(f, d, paths[i].part);
    yoke_draft_destroy(&d);
  }
  yoke_draft *d = good_draft(f);
  yoke_draft_set_number(d, "t_start", (double)INFINITY);
  expect_mistake(f, d, "draft: key 't_start': found inf, expected a finite number");
  yoke_draft_set_numbers(d, "gravity", 2, bad);
  expect_mistake(f, d, "key 'gravity': found nan");
  yoke_draft_set_numbers(d, "gravity", 3, NULL);
  expect_mistake(f, d, "key 'gravity': found a list of 3 without values");
  yoke_draft_set_numbers(d, "gravity", -1, bad);
  expect_mistake(f, d, "found a list of -1");
  yoke_draft_set_text(d, "name", NULL);
  expect_mistake(f, d, "key 'name': found NULL");
  yoke_draft_set_quoted(d, "name", "\xc3");
  expect_mistake(f, d, "key 'name': found bytes that are no text");
  yoke_draft_set_quoted(d, "name", "\xee\x80\x81"); /* stands for a bracket in files */
  expect_mistake(f, d, "key 'name': found bytes that are no text");
  yoke_draft_set_texts(d, "output.select", 2, no_text);
  expect_mistake(f, d, "key 'output.select': found NULL");
  yoke_draft_add_body(d, "b", &no_size);
  expect_mistake(f, d, "key 'bodies.b': found a yoke_draft_body without its size");
  yoke_draft_add_body(d, "b", NULL);
  yoke_draft_add_body(d, "b.c", &no_size);
  expect_mistake(f, d, "key 'bodies': found the name 'b.c', expected letters");
  yoke_draft_set_number(d, NULL, 1.0);
  yoke_draft_choose(d, NULL, NULL);
  yoke_draft_add_frame(d, NULL, "a", NULL);
  yoke_draft_add_part(d, "", 0, NULL);
  yoke_draft_add_output(d, NULL, "1", NULL);
  yoke_draft_add_load(d, "a", NULL);
  yoke_draft_add_connection(d, "a", NULL);
  for (int i = 0; i < 10; ++i) yoke_draft_set_number(d, "t_end", (double)NAN); /* the last word counts */
  for (int i = 0; i < 10; ++i) yoke_draft_add_part(d, "", 0, NULL);
  expect_mistake(f, d, "draft: and ");
  assert_int_equal(yoke_context_n_messages(f->ctx), 21);
  yoke_draft_destroy(&d);
}

static void nesting_has_an_end(void **state) {
  fixture    *f = *state;
  yoke_draft *d = good_draft(f);
  char        path[1000];
  memset(path, '.', sizeof path);
  for (size_t i = 0; i < sizeof path; i += 2) path[i] = 'a';
  path[999] = '\0';
  yoke_draft_set_number(d, path, 1.0);
  expect_mistake(f, d, "found nesting deeper than 200 levels");
  yoke_draft_destroy(&d);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(every_example_can_be_written_by_calls_and_has_the_same_bits),
      TEST(the_double_pendulum_by_typed_calls_has_the_bits_of_its_file),
      TEST(the_robot_arm_by_typed_calls_has_the_bits_of_its_file),
      TEST(a_body_in_space_takes_all_members_of_its_struct),
      TEST(numbers_keep_their_bits),
      TEST(every_text_comes_back_from_the_text_of_the_model),
      TEST(keys_with_dots_and_entries_of_lists_have_paths),
      TEST(a_draft_is_built_again_after_a_change_and_with_other_settings),
      TEST(a_draft_of_many_bodies_is_written_in_no_time),
      TEST(mistakes_of_the_model_name_the_draft_and_the_key),
      TEST(nonsense_is_remembered_and_told_by_the_build),
      TEST(nonsense_is_forgotten_when_its_key_or_one_above_it_is_set_right),
      TEST(inputs_and_subsystems_have_calls_of_their_own),
      TEST(nesting_has_an_end),
  };
  return cmocka_run_group_tests_name("draft", tests, NULL, NULL);
}
