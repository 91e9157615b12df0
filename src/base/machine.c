#include "base/machine.h"

#include "base/blas.h"
#include <stdio.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#define HAS_CPUID 1
#endif

#ifdef HAS_CPUID
/* The name comes in three calls of 16 letters, with blanks in front or behind. */
static void look_processor(yoke_machine *m) {
  unsigned words[13] = {0};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned *w = words + (size_t)4 * i;
    if (!__get_cpuid(0x80000002u + i, &w[0], &w[1], &w[2], &w[3])) return;
  }
  char text[sizeof words];
  memcpy(text, words, sizeof text);
  snprintf(m->processor, sizeof m->processor, "%s", text + strspn(text, " "));
  for (size_t n = strlen(m->processor); n > 0 && m->processor[n - 1] == ' '; --n) m->processor[n - 1] = '\0';
}

static void add_feature(yoke_machine *m, const char *name, int is_there) {
  const size_t n = strlen(m->features);
  if (is_there) snprintf(m->features + n, sizeof m->features - n, "%s%s", n > 0 ? " " : "", name);
}

static void look_features(yoke_machine *m) {
  __builtin_cpu_init();
  add_feature(m, "sse4.2", __builtin_cpu_supports("sse4.2"));
  add_feature(m, "avx", __builtin_cpu_supports("avx"));
  add_feature(m, "avx2", __builtin_cpu_supports("avx2"));
  add_feature(m, "fma", __builtin_cpu_supports("fma"));
  add_feature(m, "avx512f", __builtin_cpu_supports("avx512f"));
  add_feature(m, "avx512dq", __builtin_cpu_supports("avx512dq"));
  add_feature(m, "avx512vl", __builtin_cpu_supports("avx512vl"));
}
#else
static void look_processor(yoke_machine *m) {
  (void)m;
}

static void look_features(yoke_machine *m) {
  (void)m;
}
#endif

void yoke_machine_look(yoke_machine *out) {
  *out = (yoke_machine){0};
  look_processor(out);
  look_features(out);
#if defined(__GLIBC__)
  snprintf(out->math_library, sizeof out->math_library, "glibc %s", gnu_get_libc_version());
#endif
  yoke_blas_describe(out->blas, sizeof out->blas);
}

static const char *known(const char *fact) {
  return *fact != '\0' ? fact : "unknown";
}

void yoke_machine_text(char text[YOKE_MACHINE_SIZE]) {
  yoke_machine m;
  yoke_machine_look(&m);
  snprintf(text, YOKE_MACHINE_SIZE, "%s; %s; %s", known(m.features), known(m.math_library), known(m.blas));
}
