/* BLAS runs on one thread, whatever the environment says. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <lapacke.h>
#include <string.h>
#include <yoke/context.h>

static void f15_a_context_sets_openblas_to_one_thread(void **state) {
  (void)state;
  int (*get)(void);
  void (*set)(int);
  double one = 4.0;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', 1, &one, 1), 0); /* links BLAS */
  void *symbols[] = {dlsym(RTLD_DEFAULT, "openblas_get_num_threads"), dlsym(RTLD_DEFAULT, "openblas_set_num_threads")};
  if (symbols[0] == NULL || symbols[1] == NULL) return; /* another BLAS */
  memcpy(&get, &symbols[0], sizeof get);
  memcpy(&set, &symbols[1], sizeof set);
  set(2);
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(get(), 1);
  yoke_context_destroy(&ctx);
}

static int n_tasks(void) {
  DIR *folder = opendir("/proc/self/task");
  int  n      = -2; /* . and .. */
  assert_non_null(folder);
  while (readdir(folder) != NULL) ++n;
  closedir(folder);
  return n;
}

/* They look for work for a while, on processors that others want. */
static void no_thread_of_openblas_is_left(void **state) {
  (void)state;
  void (*set)(int);
  void *symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
  if (symbol == NULL || dlsym(RTLD_DEFAULT, "blas_thread_shutdown_") == NULL) return; /* another BLAS */
  memcpy(&set, &symbol, sizeof set);
  const int n = n_tasks(); /* the sanitizers have some of their own */
  set(2);
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(n_tasks(), n);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f15_a_context_sets_openblas_to_one_thread),
      cmocka_unit_test(no_thread_of_openblas_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
