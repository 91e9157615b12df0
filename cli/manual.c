#include "manual.h"
#include "command.h"
#include "help.h"
#include <errno.h>
#include <string.h>

static void see_also(page *p) {
  page_heading(p, "see also");
  for (int i = 0; i < n_commands; ++i) {
    if (i > 0) fputs(",\n", p->file);
    fprintf(p->file, "\\fByoke\\-%s\\fR(1)", commands[i]->name);
  }
  fputc('\n', p->file);
}

/* The program as a whole (NULL), with all topics, or one command. */
static void print_page(const command_def *command, page *p) {
  if (command) {
    options_help(command, p);
    page_heading(p, "see also");
    fputs("\\fByoke\\fR(1)\n", p->file);
    return;
  }
  help_overview(p);
  for (int i = 0; i < n_help_topics; ++i) {
    page_heading(p, help_topics[i].name);
    help_topics[i].print(p);
  }
  see_also(p);
}

static int write_page(const char *folder, const command_def *command) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/yoke%s%s.1", folder, command ? "-" : "", command ? command->name : "") >=
      (int)sizeof path) {
    fprintf(stderr, "error: the name of the folder '%.40s...' is too long\n", folder);
    return EXIT_CODE_IO;
  }
  page p    = {.file = fopen(path, "w"), .is_manual = true};
  bool done = p.file != NULL;
  if (done) {
    print_page(command, &p);
    done = !ferror(p.file);
    done = fclose(p.file) == 0 && done;
  }
  if (!done) fprintf(stderr, "error: cannot write '%s': %s\n", path, strerror(errno));
  return done ? EXIT_CODE_DONE : EXIT_CODE_IO;
}

int manual_write(const char *folder) {
  int code = write_page(folder, NULL);
  for (int i = 0; i < n_commands && code == EXIT_CODE_DONE; ++i) code = write_page(folder, commands[i]);
  return code;
}
