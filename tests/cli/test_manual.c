/* Manual pages and completions come from the tables that `yoke help` shows. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"

/* Calls `visit` with the name of every command that `yoke help` lists. */
static void each_command(fixture *f, void (*visit)(fixture *f, const char *name, const void *user), const void *user) {
  char names[32][24];
  int  n = 0;
  assert_int_equal(yoke(f, "help"), 0);
  const char *line = strstr(f->out, "\ncommands\n");
  assert_non_null(line);
  for (line += 10; n < 32 && sscanf(line, "  %23s", names[n]) == 1 && line[1] == ' '; ++n)
    line = strchr(line, '\n') + 1;
  assert_true(n > 5);
  for (int i = 0; i < n; ++i) visit(f, names[i], user);
}

/* `--no-predict` as man(7) writes it. */
static void escape(const char *word, size_t length, char *out) {
  for (size_t i = 0; i < length; ++i) {
    if (word[i] == '-') *out++ = '\\';
    *out++ = word[i];
  }
  *out = '\0';
}

/* Every `--name` of the help is on the page. */
static void each_option_has_a_place(const char *help, const char *page) {
  int n = 0;
  for (const char *at = strstr(help, " --"); at; at = strstr(at + 1, " --")) {
    char         escaped[200];
    const size_t length = 3 + strspn(at + 3, "abcdefghijklmnopqrstuvwxyz-");
    escape(at + 1, length - 1, escaped);
    if (!strstr(page, escaped)) fail_msg("%s is missing", escaped);
    ++n;
  }
  assert_true(n > 0 || !strstr(help, "options\n"));
}

static void page_of_command_is_whole(fixture *f, const char *name, const void *user) {
  char path[128], file[60], call[60];
  (void)user;
  snprintf(file, sizeof file, "yoke-%s.1", name);
  snprintf(call, sizeof call, "help %s", name);
  assert_int_equal(yoke(f, call), 0);
  char *page = read_text(in_folder(f, file, path));
  assert_memory_equal(page, ".TH YOKE\\-", 10);
  assert_non_null(strstr(page, "\n.SH NAME\nyoke\\-"));
  each_option_has_a_place(f->out, page);
  free(page);
}

static void f82_every_command_has_a_manual_page_with_all_its_options(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "help --man @"), 0);
  assert_string_equal(f->out, "");
  each_command(f, page_of_command_is_whole, NULL);
}

static void f82_the_manual_of_the_program_has_all_topics(void **state) {
  static const char *const parts[] = {"\\fBradau5\\fR",
                                      "\\fBwaveform\\fR",
                                      "\\fBstabilized\\-index\\-2\\fR",
                                      "\\fBcosimulation.couplings.beta",
                                      "\\fBparticle\\fR",
                                      "interrupted; what was computed is kept",
                                      "\\fByoke\\-stability\\fR(1)"};
  fixture                 *f       = *state;
  char                     path[128];
  assert_int_equal(yoke(f, "help --man @"), 0);
  char *page = read_text(in_folder(f, "yoke.1", path));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (!strstr(page, parts[i])) fail_msg("%s is missing", parts[i]);
  }
  free(page);
}

/* What bash offers for `words`, the last of which is being written. */
static char *complete(const char *words, char *out, size_t size) {
  char command[1000];
  snprintf(command, sizeof command,
           "bash -c 'source <(\"%s\" help --completion bash); compopt() { :; }; COMP_WORDS=(yoke %s); "
           "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _yoke; echo \"${COMPREPLY[*]}\"'",
           program(), words);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  assert_non_null(fgets(out, (int)size, pipe));
  assert_int_equal(pclose(pipe), 0);
  out[strcspn(out, "\n")] = '\0';
  return out;
}

static void f82_bash_completes_commands_options_keys_and_words(void **state) {
  (void)state;
  static const struct {
    const char *words, *offer;
  } cases[] = {
      {"sta", "stability"},
      {"run --no-", "--no-predict"},
      {"run a.yaml --solver ra", "radau5"},
      {"run a.yaml --solver = ra", "radau5"},
      {"run --set solvers.default.ki", "solvers.default.kind="},
      {"run --set cosimulation.scheme = im", "implicit"},
      {"check --par", ""},
      {"split --par", "--parts"},
      {"help form", "formulations"},
      {"help --m", "--man"},
      {"help --completion f", "fish"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char offer[1000];
    assert_string_equal(complete(cases[i].words, offer, sizeof offer), cases[i].offer);
  }
}

static void script_names_command(fixture *f, const char *name, const void *user) {
  const char *const script = user;
  char              zsh[80], fish[80];
  (void)f;
  snprintf(zsh, sizeof zsh, "      '%s:", name);
  snprintf(fish, sizeof fish, "-f -a %s -d '", name);
  if (!strstr(script, zsh) && !strstr(script, fish)) fail_msg("%s is missing", name);
}

static void completions_of_zsh_and_fish_name_every_command(void **state) {
  static const char *const calls[] = {"help --completion zsh", "help --completion fish"};
  fixture                 *f       = *state;
  for (int s = 0; s < 2; ++s) {
    assert_int_equal(yoke(f, calls[s]), 0);
    char *script = strdup(f->out);
    each_command(f, script_names_command, script);
    free(script);
  }
}

static void pages_that_cannot_be_written_and_unknown_shells_are_errors(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "help --man @/none"), 7);
  assert_non_null(strstr(f->err, "/none/yoke.1': No such file or directory"));
  assert_int_equal(yoke(f, "help --completion ksh"), 2);
  assert_non_null(strstr(f->err, "'ksh', expected bash, zsh or fish"));
  assert_int_equal(yoke(f, "help --man @ run"), 2);
  assert_int_equal(yoke(f, "help --"), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(f82_every_command_has_a_manual_page_with_all_its_options),
      TEST(f82_the_manual_of_the_program_has_all_topics),
      TEST(f82_bash_completes_commands_options_keys_and_words),
      TEST(completions_of_zsh_and_fish_name_every_command),
      TEST(pages_that_cannot_be_written_and_unknown_shells_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
