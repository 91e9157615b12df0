#include "base/blas.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ISO C knows no cast from data to functions. */
static bool find(const char *name, void *function) {
  void *const symbol = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

/* Threads that OpenBLAS started when it was loaded look for work for some hundredths of a second, on processors that others want. It starts
 * them again when it is told to use several. */
static void end_threads_of_openblas(void) {
  int (*end)(void);
  if (find("blas_thread_shutdown_", &end)) (void)end();
}

/* True: it had several. */
static bool set_one(const char *get_name, const char *set_name) {
  int (*get)(void);
  void (*set)(int);
  if (!find(get_name, &get) || !find(set_name, &set) || get() == 1) return false;
  set(1);
  return true;
}

/* BLIS counts in 64 bits. */
static void set_one_of_blis(void) {
  int64_t (*get)(void);
  void (*set)(int64_t);
  if (find("bli_thread_get_num_threads", &get) && find("bli_thread_set_num_threads", &set) && get() != 1) set(1);
}

void yoke_blas_use_one_thread(void) {
  if (set_one("openblas_get_num_threads", "openblas_set_num_threads")) end_threads_of_openblas();
  (void)set_one("MKL_Get_Max_Threads", "MKL_Set_Num_Threads");
  set_one_of_blis();
}

void yoke_blas_describe(char *text, size_t size) {
  char *(*config)(void);
  char *(*core)(void);
  void (*mkl)(char *text, int size);
  const char *(*blis)(void);
  text[0] = '\0';
  if (find("openblas_get_config", &config) && find("openblas_get_corename", &core)) {
    const char  *words   = config(); /* "OpenBLAS 0.3.21 DYNAMIC_ARCH ... Haswell MAX_THREADS=64" */
    const size_t name    = strcspn(words, " ");
    const size_t version = words[name] == ' ' ? 1 + strcspn(words + name + 1, " ") : 0;
    snprintf(text, size, "%.*s %s", (int)(name + version), words, core());
  } else if (find("MKL_Get_Version_String", &mkl)) {
    mkl(text, (int)size);
    text[size - 1] = '\0';
  } else if (find("bli_info_get_version_str", &blis)) {
    snprintf(text, size, "BLIS %s", blis());
  }
}
