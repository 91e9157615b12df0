/* Every command of docs/stability.md draws its figure; here with few points. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../plot/xml.h"
#include "program.h"
#include <dirent.h>

enum { N_FIGURES = 31 };

static void every_figure_of_the_manual_is_drawn(void **state) {
  fixture *f = *state;
  char     command[200], path[400];
  snprintf(command, sizeof command, "YOKE_PROGRAM='%s' scripts/figures '%s' 5 > '%s/log' 2>&1", program(), f->folder,
           f->folder);
  const int status = system(command);
  char     *log    = read_text(in_folder(f, "log", command));
  if (status != 0) fail_msg("%s", log);
  free(log);
  DIR *folder = opendir(f->folder);
  int  n      = 0;
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (strstr(entry->d_name, ".svg") == NULL) continue;
    snprintf(path, sizeof path, "%s/%s", f->folder, entry->d_name);
    char *svg = read_text(path);
    xml_expect_good(svg);
    assert_null(strstr(svg, "not possible"));
    free(svg);
    ++n;
  }
  closedir(folder);
  assert_int_equal(n, N_FIGURES);
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(every_figure_of_the_manual_is_drawn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
