/* yoke plot: curves of results as a picture, or as letters in a terminal. */
#include "command.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

typedef struct plot_arguments {
  const char *out, *against, *title, *from, *to, *times;
  bool        log_x, log_y, macro, mechanism, animate, points, events;
} plot_arguments;

static const option_def plot_options[] = {
    {"out", 'o', OPTION_TEXT, offsetof(plot_arguments, out), "FILE",
     "the picture: FILE.svg, FILE.png, or FILE.html, a page that holds it; default: letters on the terminal"},
    {"against", 'x', OPTION_TEXT, offsetof(plot_arguments, against), "NAME",
     "quantity of the abscissa instead of time"},
    {"macro", 0, OPTION_FLAG, offsetof(plot_arguments, macro), NULL,
     "macro steps, degrees, estimated errors, corrector passes and rejected trials of co-simulations"},
    {"points", 0, OPTION_FLAG, offsetof(plot_arguments, points), NULL, "mark the macro points below the curves"},
    {"events", 0, OPTION_FLAG, offsetof(plot_arguments, events), NULL,
     "mark jumps, and events that end a macro step, by vertical lines"},
    {"mechanism", 0, OPTION_FLAG, offsetof(plot_arguments, mechanism), NULL,
     "the bodies of one result at some times instead of curves"},
    {"times", 0, OPTION_TEXT, offsetof(plot_arguments, times), "T1,T2,...", "with --mechanism: at these times [s]"},
    {"animate", 0, OPTION_FLAG, offsetof(plot_arguments, animate), NULL, "the same in motion, again and again"},
    {"log", 0, OPTION_FLAG, offsetof(plot_arguments, log_y), NULL, "logarithmic ordinate"},
    {"log-x", 0, OPTION_FLAG, offsetof(plot_arguments, log_x), NULL, "logarithmic abscissa"},
    {"from", 0, OPTION_TEXT, offsetof(plot_arguments, from), "T", "from this time on [s]"},
    {"to", 0, OPTION_TEXT, offsetof(plot_arguments, to), "T", "up to this time [s]"},
    {"title", 0, OPTION_TEXT, offsetof(plot_arguments, title), "TEXT", "instead of the name of the model"},
};

enum { COLUMNS = 80 };

static int terminal_columns(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return COLUMNS;
  return size.ws_col;
}

static void put_line(void *user, const char *line) {
  fprintf(user, "%s\n", line);
}

/* Operands that are files are results, those behind them names. */
static int n_results_of(const text_list *operands) {
  int n = 0;
  while (n < operands->n && access(operands->texts[n], F_OK) == 0) ++n;
  return n;
}

/* PARSE_DONE or an exit code. */
static int time_of(const command_def *command, const char *name, const char *text, double *out) {
  char *end;
  if (text == NULL) return PARSE_DONE;
  *out = strtod(text, &end);
  return end != text && *end == '\0' ? PARSE_DONE
                                     : usage_error(command, "--%s is '%s', expected a time in seconds", name, text);
}

static yoke_status plot_results(yoke_context *ctx, const plot_arguments *a, yoke_curves *curves,
                                const char *const *paths) {
  yoke_result **results = calloc((size_t)curves->n_results + 1, sizeof *results);
  yoke_status   status  = results != NULL ? YOKE_OK : YOKE_E_MEMORY;
  for (int r = 0; status == YOKE_OK && r < curves->n_results; ++r)
    status = yoke_result_open(ctx, paths[r], &results[r]);
  curves->results = results;
  if (status == YOKE_OK)
    status = a->out ? yoke_curves_write(ctx, curves, a->out)
                    : yoke_curves_print(ctx, curves, terminal_columns(), put_line, stdout);
  for (int r = 0; results && r < curves->n_results; ++r) yoke_result_close(&results[r]);
  free(results);
  return status;
}

enum { MOST_TIMES = 50 };

/* PARSE_DONE or an exit code. */
static int times_of(const command_def *command, const char *text, double times[MOST_TIMES], int *n) {
  for (*n = 0; text != NULL && *text;) {
    char *end;
    if (*n == MOST_TIMES) return usage_error(command, "--times: more than %d times", (int)MOST_TIMES);
    times[(*n)++] = strtod(text, &end);
    if (end == text || (*end && *end != ',')) return usage_error(command, "--times: '%s' begins with no time", text);
    text = *end ? end + 1 : end;
  }
  return PARSE_DONE;
}

static yoke_status draw_mechanism(yoke_context *ctx, const plot_arguments *a, yoke_mechanism *m, const char *path) {
  yoke_result *result = NULL;
  yoke_status  status = yoke_result_open(ctx, path, &result);
  m->result           = result;
  if (status == YOKE_OK) status = yoke_mechanism_write(ctx, m, a->out);
  yoke_result_close(&result);
  return status;
}

static int check_mechanism(const command_def *command, const plot_arguments *a, const yoke_curves *curves) {
  if (!a->mechanism && !a->animate) {
    if (a->times) return usage_error(command, "--times belongs to --mechanism");
    return PARSE_DONE;
  }
  if (!a->out)
    return usage_error(command, "a drawing of the mechanism needs a file: -o FILE.svg, FILE.png or FILE.html");
  if (curves->n_results != 1 || curves->n_names > 0)
    return usage_error(command, "a drawing of the mechanism takes one result and no names");
  if (a->points || a->events) return usage_error(command, "--points and --events belong to curves");
  if (a->animate && a->times) return usage_error(command, "--animate draws all times: leave --times out");
  return PARSE_DONE;
}

static int plot_main(const command_def *command, int argc, char **argv) {
  plot_arguments a        = {0};
  text_list      operands = {0};
  int            code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  yoke_curves curves = {.size    = sizeof curves,
                        .against = a.against,
                        .log_x   = a.log_x,
                        .log_y   = a.log_y,
                        .macro   = a.macro,
                        .title   = a.title,
                        .points  = a.points,
                        .events  = a.events,
                        .from    = -1e300,
                        .to      = 1e300};
  curves.n_results   = n_results_of(&operands);
  curves.n_names     = operands.n - curves.n_results;
  curves.names       = operands.texts + curves.n_results;
  code               = time_of(command, "from", a.from, &curves.from);
  if (code == PARSE_DONE) code = time_of(command, "to", a.to, &curves.to);
  if (code == PARSE_DONE && operands.n == 0) code = usage_error(command, "no result given");
  if (code == PARSE_DONE && curves.n_results == 0)
    code = usage_error(command, "there is no file '%s'; results come first, names of quantities behind them",
                       operands.texts[0]);
  if (code == PARSE_DONE && a.out && !*a.out) code = usage_error(command, "--out needs a file name");
  if (code == PARSE_DONE) code = check_mechanism(command, &a, &curves);
  double         times[MOST_TIMES];
  yoke_mechanism mechanism = {.size = sizeof mechanism, .times = times, .moves = a.animate, .title = a.title};
  if (code == PARSE_DONE) code = times_of(command, a.times, times, &mechanism.n_times);
  if (code == PARSE_DONE) {
    yoke_context *ctx = create_context();
    if (ctx) {
      const yoke_status status = a.mechanism || a.animate ? draw_mechanism(ctx, &a, &mechanism, operands.texts[0])
                                                          : plot_results(ctx, &a, &curves, operands.texts);
      print_messages(ctx);
      if (status == YOKE_OK && a.out) printf("wrote %s\n", a.out);
      code = yoke_status_exit_code(status);
    } else {
      code = EXIT_CODE_IO;
    }
    yoke_context_destroy(&ctx);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def plot_command = {
    .name    = "plot",
    .usage   = "RESULT... [NAME...] [options]",
    .summary = "draw curves of results",
    .details =
        "Quantities are named as in the result, with * for any letters and ? for one: yoke plot out.h5 'upper.*' "
        "-o out.svg.\n"
        "Those of the same unit share a panel. Of several results the curves lie over each other, with the file "
        "behind\n"
        "their names. Without names the first quantities are shown. Without -o the picture is made of letters.\n"
        "--mechanism draws the bodies as lines between their frames, in the colours of their subsystems, with "
        "joints,\n"
        "springs, supports and couplings; --animate lets them move (-o FILE.html opens in a browser).",
    .options   = plot_options,
    .n_options = (int)(sizeof plot_options / sizeof *plot_options),
    .run       = plot_main,
};
