/* Types that shared libraries bring: to a context by call, to the program by option. The libraries lie beside this program. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "../cli/program.h"
#include "types.h"
#include "user/user.h"
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = PATH_MAX + 100 };

/* Path of a library of the tests. */
static const char *plugin(const char *name, char path[ROOM]) {
  char          self[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(n > 0);
  self[n] = '\0';
  snprintf(path, ROOM, "%s/%s.so", dirname(self), name);
  return path;
}

static void a_plugin_brings_its_types(void **state) {
  (void)state;
  yoke_context *ctx;
  char          path[ROOM];
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_load_plugin(ctx, plugin("plugin_types", path)), YOKE_OK);
  assert_int_equal(yoke_context_n_messages(ctx), 0);
  assert_int_equal(yoke_context_n_types(ctx), 3);
  assert_string_equal(yoke_context_type_name(ctx, 0), "mass");
  assert_string_equal(yoke_context_type_summary(ctx, 2), "a controller that samples");
  yoke_context_destroy(&ctx);
}

static bool is_loaded(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (handle != NULL) (void)dlclose(handle);
  return handle != NULL;
}

/* The step of a mass with code of the library, which calls this program for its inputs. */
static void a_plugin_stays_until_its_last_subsystem_is_gone(void **state) {
  (void)state;
  yoke_context   *ctx;
  yoke_subsystem *s;
  void           *block, *scratch;
  char            path[ROOM];
  double          y[4];
  const double    times[2] = {0.0, 1.0}, force = 2.0;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_load_plugin(ctx, plugin("plugin_types", path)), YOKE_OK);
  const yoke_user_def def = {.name = "part", .entry = yoke_user_find(ctx, "mass")};
  assert_int_equal(yoke_user_create(ctx, &def, &s), YOKE_OK);
  yoke_context_destroy(&ctx);
  assert_true(is_loaded(path));
  assert_int_equal(yoke_subsystem_state_create(s, &block), YOKE_OK);
  assert_int_equal(yoke_subsystem_scratch_create(s, &scratch), YOKE_OK);
  const yoke_signal u       = {.n = 1, .n_pieces = 1, .degree = 0, .t = times, .c = &force};
  yoke_step_request request = yoke_step_over(&u, 0.0, 1.0);
  assert_int_equal(yoke_subsystem_start(s, scratch, block, 0.0, &u, NULL), YOKE_OK);
  assert_int_equal(yoke_subsystem_step(s, scratch, block, &u, &request, NULL), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(s, scratch, block, &u, YOKE_SIDE_LEFT, y), YOKE_OK);
  assert_true(fabs(y[1] - 2.0) < 1e-10);
  yoke_subsystem_state_destroy(s, &block);
  yoke_subsystem_scratch_destroy(&scratch);
  yoke_subsystem_destroy(&s);
#ifndef YOKE_SANITIZED /* which keeps libraries for its reports */
  assert_false(is_loaded(path));
#endif
}

static void a_plugin_that_is_none_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *name;
    yoke_status status;
    const char *text;
  } rows[] = {
      {"plugin_old", YOKE_E_UNSUPPORTED, "is not made for ABI 1 of subsystems, which this library has; compile it"},
      {"plugin_other", YOKE_E_UNSUPPORTED, "does not show the function yoke_plugin_types"},
      {"plugin_twice", YOKE_E_USAGE, "type 'gain' of "},
      {"plugin_nowhere", YOKE_E_IO, "No such file or directory; give the path of a shared library"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    yoke_context        *ctx;
    const yoke_user_type own = sampled_type();
    char                 path[ROOM];
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    assert_int_equal(yoke_context_add_type(ctx, &own), YOKE_OK);
    assert_int_equal(yoke_context_load_plugin(ctx, plugin(rows[i].name, path)), rows[i].status);
    if (!said(ctx, rows[i].text)) fail_msg("%s: %s", rows[i].name, yoke_context_message(ctx, 0));
    assert_true(said(ctx, path));
    assert_int_equal(yoke_context_n_types(ctx), 1); /* all of its types, or none */
    yoke_context_destroy(&ctx);
  }
}

/* Writes the first `share` of a plugin to a file. */
static void cut_off(const char *from, const char *to, double share) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  assert_non_null(in);
  assert_non_null(out);
  assert_int_equal(fseek(in, 0, SEEK_END), 0);
  const long n = (long)(share * (double)ftell(in));
  rewind(in);
  for (long i = 0; i < n; ++i) assert_true(fputc(fgetc(in), out) != EOF);
  assert_int_equal(fclose(in), 0);
  assert_int_equal(fclose(out), 0);
}

static void expect_unloaded(const char *path, const char *why) {
  yoke_context *ctx;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_load_plugin(ctx, path), YOKE_E_IO);
  if (!said(ctx, why) || !said(ctx, path)) fail_msg("%s", yoke_context_message(ctx, 0));
  yoke_context_destroy(&ctx);
}

static void what_the_loader_does_not_bear_is_refused_before_it(void **state) {
  static const double shares[] = {0.5, 0.3, 0.1, 1e-5, 0.0};
  fixture            *f        = *state;
  char                whole[ROOM], path[ROOM];
  snprintf(path, sizeof path, "%s/cut.so", f->folder);
  for (size_t k = 0; k < sizeof shares / sizeof *shares; ++k) {
    cut_off(plugin("plugin_types", whole), path, shares[k]);
    expect_unloaded(path, k < 3 ? "it is cut off" : "it is too short");
  }
  snprintf(path, sizeof path, "%s/pipe.so", f->folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  expect_unloaded(path, "it is no file but a pipe or a device");
  assert_int_equal(unlink(path), 0);
  expect_unloaded(f->folder, "it is a folder");
  expect_unloaded("/dev/null", "it is no file but a pipe or a device");
}

static void a_plugin_without_types_is_warned_of(void **state) {
  (void)state;
  yoke_context *ctx;
  char          path[ROOM];
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_load_plugin(ctx, plugin("plugin_empty", path)), YOKE_OK);
  assert_true(said(ctx, "brings no type"));
  assert_int_equal(yoke_context_message_severity(ctx, 0), YOKE_SEVERITY_WARNING);
  assert_int_equal(yoke_context_load_plugin(ctx, ""), YOKE_E_USAGE);
  assert_int_equal(yoke_context_load_plugin(ctx, NULL), YOKE_E_USAGE);
  yoke_context_destroy(&ctx);
}

/* ---- the program ---- */

static void the_program_loads_plugins_before_it_runs_a_model(void **state) {
  fixture *f = *state;
  char     path[ROOM], command[3 * ROOM];
  static const struct {
    const char *name;
    int         code;
    const char *text;
  } rows[] = {{"plugin_types", 0, ""},
              {"plugin_old", 2, "is not made for ABI 1"},
              {"plugin_other", 2, "does not show the function yoke_plugin_types"},
              {"plugin_nowhere", 7, "cannot be loaded"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    snprintf(command, sizeof command, "run examples/two-mass.yaml --set t_end=0.01 --plugin '%s'",
             plugin(rows[i].name, path));
    const int code = yoke(f, command);
    if (code != rows[i].code || strstr(f->err, rows[i].text) == NULL) fail_msg("%s: %d, %s", command, code, f->err);
  }
  snprintf(command, sizeof command, "run examples/two-mass.yaml --json --plugin '%s'", plugin("plugin_old", path));
  assert_int_equal(yoke(f, command), 2);
  assert_non_null(strstr(f->out, "\"status\": \"failed\""));
  snprintf(command, sizeof command, "run examples/two-mass.yaml --plugin '%s' --plugin '%s'",
           plugin("plugin_types", path), path);
  assert_int_equal(yoke(f, command), 2);
  assert_non_null(strstr(f->err, "type 'mass' of "));
}

static void a_plugin_that_is_no_library_is_refused_by_the_program(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "text.so", path), "this is no library\n");
  assert_int_equal(yoke(f, "run examples/two-mass.yaml --plugin @/text.so"), 7);
  assert_non_null(strstr(f->err, "text.so' cannot be loaded: "));
}

static const char model[] = "yoke: 1\n"
                            "t_end: 0.1\n"
                            "bodies: {m1: {kind: mass1d, mass: 1, v: 1}}\n"
                            "subsystems:\n"
                            "  other: {kind: user, type: mass, parameters: {mass: 2, v: -1}, ports: {end: line}}\n"
                            "connections:\n"
                            "  c: {kind: spring-damper, between: [m1, other.end], stiffness: 600, free_length: 0}\n"
                            "cosimulation: {scheme: implicit, step: 1e-3, order: 3}\n";

/* Two free masses on a spring: x1 - x2 = 2 / omega sin(omega t), omega = 30 / s, and their centre moves at -1/3 m/s. */
static void a_model_with_a_type_of_a_plugin_is_run(void **state) {
  fixture *f = *state;
  char     path[ROOM], file[128], command[3 * ROOM];
  double   x[2];
  write_text(in_folder(f, "m.yaml", file), model);
  assert_int_equal(yoke(f, "run @/m.yaml"), 3);
  assert_non_null(strstr(f->err, "no type 'mass' is known for subsystem 'other'"));
  snprintf(command, sizeof command, "run @/m.yaml --check --print m1.x,other.end.x --plugin '%s'",
           plugin("plugin_types", path));
  assert_int_equal(yoke(f, command), 0);
  assert_int_equal(sscanf(f->out, "m1.x %lf other.end.x %lf", &x[0], &x[1]), 2);
  CHECK_NEAR(x[0] - x[1], 2.0 / 30.0 * sin(3.0), 1e-7);
  CHECK_NEAR((x[0] + 2.0 * x[1]) / 3.0, -0.1 / 3.0, 1e-10);
}

/* The mass of the plugin accounts for its energy, the controller for none. */
static void the_summary_has_a_line_of_energy_only_where_all_subsystems_tell_theirs(void **state) {
  static const char controlled[] =
      "yoke: 1\n"
      "t_end: 0.1\n"
      "bodies: {arm: {kind: planar, mass: 1, inertia: 1}}\n"
      "subsystems: {c: {kind: user, type: sampled, parameters: {kp: 4, kd: 1, period: 0.01}, "
      "inputs: {angle: arm.angle, rate: arm.omega}, outputs: {torque: N m}}}\n"
      "loads: {motor: {kind: expression, on: arm, torque: c.torque}}\n"
      "cosimulation: {scheme: explicit, step: 1e-3}\n";
  const char *const models[] = {model, controlled};
  fixture          *f        = *state;
  char              path[ROOM], file[128], command[3 * ROOM];
  for (int k = 0; k < 2; ++k) {
    write_text(in_folder(f, "m.yaml", file), models[k]);
    snprintf(command, sizeof command, "run @/m.yaml --plugin '%s'", plugin("plugin_types", path));
    if (yoke(f, command) != 0) fail_msg("%s", f->err);
    assert_true((strstr(f->out, "\nenergy ") != NULL) == (k == 0));
  }
}

static void a_model_with_a_type_of_a_plugin_has_no_whole_to_be_compared_with(void **state) {
  fixture *f = *state;
  char     file[128];
  write_text(in_folder(f, "m.yaml", file), model);
  static const char *const commands[] = {"compare @/m.yaml", "converge @/m.yaml --steps 1e-3"};
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(yoke(f, commands[i]), 2);
    assert_non_null(strstr(f->err, "m.yaml' does not run as a whole, which its couplings would be compared with: "
                                   "'other' is a subsystem of its own"));
  }
}

static void check_and_info_never_load_plugins(void **state) {
  fixture *f = *state;
  char     file[128];
  write_text(in_folder(f, "m.yaml", file), model);
  assert_int_equal(yoke(f, "check @/m.yaml"), 0);
  assert_int_equal(yoke(f, "info @/m.yaml"), 0);
  assert_non_null(strstr(f->out, "other"));
  assert_int_equal(yoke(f, "check examples/two-mass.yaml --plugin nowhere.so"), 2);
  assert_non_null(strstr(f->err, "--plugin"));
  assert_int_equal(yoke(f, "info examples/two-mass.yaml --plugin nowhere.so"), 2);
  assert_int_equal(yoke(f, "help plugins"), 0);
  assert_non_null(strstr(f->out, "yoke info never do"));
  assert_int_equal(yoke(f, "help run"), 0);
  assert_non_null(strstr(f->out, "--plugin FILE.so"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plugin_brings_its_types),
      cmocka_unit_test(a_plugin_stays_until_its_last_subsystem_is_gone),
      cmocka_unit_test(a_plugin_that_is_none_is_refused),
      cmocka_unit_test(a_plugin_without_types_is_warned_of),
      TEST(what_the_loader_does_not_bear_is_refused_before_it),
      TEST(the_program_loads_plugins_before_it_runs_a_model),
      TEST(a_model_with_a_type_of_a_plugin_is_run),
      TEST(the_summary_has_a_line_of_energy_only_where_all_subsystems_tell_theirs),
      TEST(a_plugin_that_is_no_library_is_refused_by_the_program),
      TEST(a_model_with_a_type_of_a_plugin_has_no_whole_to_be_compared_with),
      TEST(check_and_info_never_load_plugins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
