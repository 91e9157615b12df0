/* yoke new: write a commented model to start from. */
#include "command.h"
#include <stdlib.h>
#include <string.h>

/* NAME, or NAME.yaml when it does not end so. Caller frees; NULL when out of memory. */
static char *file_name(const char *name) {
  const size_t length = strlen(name);
  const bool   has_yaml =
      (length > 5 && strcmp(name + length - 5, ".yaml") == 0) || (length > 4 && strcmp(name + length - 4, ".yml") == 0);
  char *path = calloc(length + 6, 1);
  if (path) snprintf(path, length + 6, "%s%s", name, has_yaml ? "" : ".yaml");
  return path;
}

static int write_starter(const char *template_name, const char *name) {
  yoke_context *ctx  = create_context();
  char         *path = ctx ? file_name(name) : NULL;
  if (!path) {
    yoke_context_destroy(&ctx);
    return EXIT_CODE_IO;
  }
  const yoke_status status = yoke_starter_write(ctx, template_name, path);
  print_messages(ctx);
  if (status == YOKE_OK) printf("wrote %s; run it with: yoke run %s\n", path, path);
  free(path);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static void print_templates(void) {
  const char *name, *summary;
  puts("templates (yoke new NAME --template T):");
  for (int i = 0; yoke_starter_template(i, &name, &summary); ++i) printf("  %-12s %s\n", name, summary);
}

typedef struct new_arguments {
  const char *template_name;
} new_arguments;

static const option_def new_options[] = {
    {"template", 't', OPTION_TEXT, offsetof(new_arguments, template_name), "T",
     "which model; without a NAME yoke new lists them"},
};

static int new_main(const command_def *command, int argc, char **argv) {
  new_arguments a        = {0};
  text_list     operands = {0};
  int           code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  if (operands.n == 0 && !a.template_name) {
    print_templates();
    code = EXIT_CODE_DONE;
  } else if (operands.n != 1) {
    code = usage_error(command, "one name expected, %d given", operands.n);
  } else if (!*operands.texts[0]) {
    code = usage_error(command, "the name is empty");
  } else {
    code = write_starter(a.template_name, operands.texts[0]);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def new_command = {
    .name      = "new",
    .usage     = "[NAME [--template T]]",
    .summary   = "write NAME.yaml, a commented model to start from",
    .details   = "Every template has a split: it runs as co-simulation, with --monolithic as a whole. Without NAME the "
                 "templates are\n"
                 "listed. A file that exists is not overwritten.",
    .options   = new_options,
    .n_options = (int)(sizeof new_options / sizeof *new_options),
    .run       = new_main,
};
