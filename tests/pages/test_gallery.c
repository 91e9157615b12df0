/* Every example has a picture in docs/gallery.md, drawn by the commands there. With --record the pictures are put into docs/figures. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "page.h"
#include "pictures.h"
#include <glob.h>

#ifdef YOKE_WITH_HDF5
static bool record = false;

static void f70_every_example_is_run_by_the_gallery(void **state) {
  (void)state;
  glob_t found = {0};
  char  *text  = read_text("docs/gallery.md");
  assert_int_equal(glob("examples/*.yaml", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    char command[200];
    snprintf(command, sizeof command, "$ yoke run %s ", found.gl_pathv[i]);
    if (strstr(text, command) == NULL) fail_msg("docs/gallery.md does not run %s", found.gl_pathv[i]);
  }
  free(text);
  globfree(&found);
}

static void f70_every_example_has_a_picture_that_its_commands_draw(void **state) {
  glob_t found = {0};
  assert_int_equal(glob("examples/*.yaml", 0, NULL, &found), 0);
  assert_pictures(*state, "docs/gallery.md", "gallery", (int)found.gl_pathc + 1, record); /* and the demo */
  globfree(&found);
}
#endif

static void the_front_picture_is_that_of_the_demo(void **state) {
  (void)state;
  char *text = read_text("README.md");
  assert_non_null(strstr(text, "](docs/figures/gallery-demo.svg)\n\n*`make demo`"));
  free(text);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
#ifdef YOKE_WITH_HDF5
      TEST(f70_every_example_is_run_by_the_gallery),
      TEST(f70_every_example_has_a_picture_that_its_commands_draw),
#endif
      TEST(the_front_picture_is_that_of_the_demo),
  };
#ifdef YOKE_WITH_HDF5
  record = argc == 2 && strcmp(argv[1], "--record") == 0;
#else
  (void)argc, (void)argv;
#endif
  return cmocka_run_group_tests(tests, NULL, NULL);
}
