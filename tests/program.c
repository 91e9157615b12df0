#include "program.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  const char *path  = argc > 0 ? argv[0] : "";
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
  for (const test_program *p = test_programs; p->name != NULL; ++p) {
    if (strcmp(p->name, name) == 0) return p->run();
  }
  fprintf(stderr, "%s holds these programs, call it by one of their names:\n", name);
  for (const test_program *p = test_programs; p->name != NULL; ++p) fprintf(stderr, "  %s\n", p->name);
  return 2;
}
