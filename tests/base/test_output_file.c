/* Output files: written beside their target, which is replaced by a complete file or not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/output_file.h"
#include "folder.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

enum { PATH = 128 };

static void put_file(const fixture *f, const char *name, const char *text) {
  char  path[PATH];
  FILE *file = fopen(in_folder(f, name, path), "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* NULL: no file of this name may exist. */
static void assert_file(const fixture *f, const char *name, const char *text) {
  char  path[PATH], is[200] = "";
  FILE *file = fopen(in_folder(f, name, path), "r");
  if (text == NULL) {
    assert_null(file);
    return;
  }
  assert_non_null(file);
  is[fread(is, 1, sizeof is - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(is, text);
}

static yoke_output_file begin(const fixture *f, const char *name, const char *text) {
  char             path[PATH];
  yoke_output_file out;
  assert_int_equal(yoke_output_file_open(f->ctx, in_folder(f, name, path), &out), YOKE_OK);
  FILE *file = yoke_output_file_stream(&out);
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  return out;
}

static void f41_target_is_replaced_at_the_end_only(void **state) {
  fixture *f = *state;
  put_file(f, "a.csv", "earlier");
  yoke_output_file out = begin(f, "a.csv", "new");
  assert_file(f, "a.csv", "earlier");
  assert_file(f, "a.part.csv", "new");
  assert_int_equal(yoke_output_file_keep(f->ctx, &out), YOKE_OK);
  assert_file(f, "a.csv", "new");
  assert_file(f, "a.part.csv", NULL);
}

static void f41_dropped_file_leaves_the_earlier_one_and_nothing_else(void **state) {
  fixture *f = *state;
  put_file(f, "a.csv", "earlier");
  yoke_output_file out = begin(f, "a.csv", "new");
  yoke_output_file_drop(&out);
  assert_file(f, "a.csv", "earlier");
  assert_file(f, "a.part.csv", NULL);
}

static void names_with_and_without_ending_have_a_part_beside_them(void **state) {
  static const char *const names[][2] = {{"a", "a.part"}, {".a", ".a.part"}, {"a.b.h5", "a.b.part.h5"}};
  fixture                 *f          = *state;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    yoke_output_file out = begin(f, names[i][0], "new");
    assert_file(f, names[i][1], "new");
    yoke_output_file_drop(&out);
  }
}

static void f41_permissions_and_links_of_the_target_stay(void **state) {
  fixture    *f = *state;
  char        path[PATH], link[PATH];
  struct stat file;
  put_file(f, "a.csv", "earlier");
  assert_int_equal(chmod(in_folder(f, "a.csv", path), 0640), 0);
  assert_int_equal(symlink("a.csv", in_folder(f, "link.csv", link)), 0);
  yoke_output_file out = begin(f, "link.csv", "new");
  assert_int_equal(yoke_output_file_keep(f->ctx, &out), YOKE_OK);
  assert_file(f, "a.csv", "new");
  assert_int_equal(stat(path, &file), 0);
  assert_int_equal(file.st_mode & 0777, 0640);
  assert_int_equal(lstat(link, &file), 0);
  assert_true(S_ISLNK(file.st_mode));
}

static void link_to_a_file_that_does_not_exist_yet_is_followed(void **state) {
  fixture *f = *state;
  char     link[PATH];
  assert_int_equal(symlink("new.csv", in_folder(f, "link.csv", link)), 0);
  yoke_output_file out = begin(f, "link.csv", "new");
  assert_int_equal(yoke_output_file_keep(f->ctx, &out), YOKE_OK);
  assert_file(f, "new.csv", "new");
}

static void f41_second_writer_of_a_target_is_refused(void **state) {
  fixture         *f = *state;
  char             path[PATH];
  yoke_output_file second, first = begin(f, "a.csv", "first");
  assert_int_equal(yoke_output_file_open(f->ctx, in_folder(f, "a.csv", path), &second), YOKE_E_IO);
  assert_true(has_message(f->ctx, "another run is writing it"));
  assert_int_equal(yoke_output_file_keep(f->ctx, &first), YOKE_OK);
  assert_file(f, "a.csv", "first");
}

static void f41_what_a_killed_run_left_is_not_overwritten(void **state) {
  fixture *f = *state;
  put_file(f, "a.part.csv", "left");
  yoke_output_file out = begin(f, "a.csv", "new");
  assert_true(has_message(f->ctx, "a.part.csv"));
  assert_file(f, "a.part2.csv", "new");
  assert_int_equal(yoke_output_file_keep(f->ctx, &out), YOKE_OK);
  assert_file(f, "a.csv", "new");
  assert_file(f, "a.part.csv", "left");
}

static void special_files_are_written_directly(void **state) {
  fixture         *f = *state;
  char             path[PATH];
  yoke_output_file out;
  assert_int_equal(yoke_output_file_open(f->ctx, "/dev/null", &out), YOKE_OK);
  assert_null(out.target);
  assert_int_equal(yoke_output_file_keep(f->ctx, &out), YOKE_OK);
  assert_int_equal(yoke_output_file_write_text(f->ctx, "/dev/full", "text"), YOKE_E_IO);
  assert_true(has_message(f->ctx, "'/dev/full': No space left on device"));
  assert_int_equal(yoke_output_file_write_text(f->ctx, f->folder, "text"), YOKE_E_IO);
  assert_int_equal(yoke_output_file_write_text(f->ctx, in_folder(f, "none/a", path), "text"), YOKE_E_IO);
  assert_int_equal(mkfifo(in_folder(f, "pipe", path), 0600), 0);
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_int_equal(yoke_output_file_write_text(f->ctx, path, "text"), YOKE_OK);
  char text[8] = "";
  assert_int_equal(read(reader, text, sizeof text), 4);
  assert_string_equal(text, "text");
  close(reader);
}

static void f41_standard_output_in_a_file_is_written_directly(void **state) {
  fixture    *f = *state;
  char        path[PATH];
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(in_folder(f, "out", path), O_RDWR | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    _exit(yoke_output_file_write_text(NULL, "/dev/stdout", "text") == YOKE_OK && lseek(fd, 0, SEEK_END) == 4 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_file(f, "out", "text");
}

static void f40_one_file_is_known_under_all_its_names(void **state) {
  fixture *f = *state;
  char     a[PATH], b[PATH];
  put_file(f, "a", "");
  put_file(f, "b", "");
  assert_int_equal(link(in_folder(f, "a", a), in_folder(f, "hard", b)), 0);
  assert_true(yoke_file_is_same(a, b));
  assert_int_equal(symlink("hard", in_folder(f, "soft", b)), 0);
  assert_true(yoke_file_is_same(a, b));
  assert_true(yoke_file_is_same(a, in_folder(f, "./a", b)));
  assert_false(yoke_file_is_same(a, in_folder(f, "b", b)));
  assert_false(yoke_file_is_same(a, in_folder(f, "none", b)));
  assert_true(yoke_file_is_same(in_folder(f, "./none", a), b));
  assert_int_equal(symlink("none", in_folder(f, "loose", a)), 0);
  assert_true(yoke_file_is_same(a, b));
  assert_false(yoke_file_is_same("/dev/null", "/dev/null"));
}

static void f14_files_never_take_a_standard_descriptor(void **state) {
  fixture    *f     = *state;
  const pid_t child = fork();
  if (child == 0) {
    char path[PATH];
    in_folder(f, "a", path);
    for (int fd = 0; fd < 3; ++fd) close(fd);
    _exit(yoke_file_open(path, O_WRONLY | O_CREAT, 0600) >= 3 && fcntl(0, F_GETFD) < 0 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(f41_target_is_replaced_at_the_end_only),
      TEST(f41_dropped_file_leaves_the_earlier_one_and_nothing_else),
      TEST(names_with_and_without_ending_have_a_part_beside_them),
      TEST(f41_permissions_and_links_of_the_target_stay),
      TEST(link_to_a_file_that_does_not_exist_yet_is_followed),
      TEST(f41_second_writer_of_a_target_is_refused),
      TEST(f41_what_a_killed_run_left_is_not_overwritten),
      TEST(special_files_are_written_directly),
      TEST(f41_standard_output_in_a_file_is_written_directly),
      TEST(f40_one_file_is_known_under_all_its_names),
      TEST(f14_files_never_take_a_standard_descriptor),
  };
  return cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
}
