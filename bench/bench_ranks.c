/* Two ranks against one process: equal subsystems of 5000 masses (a chain under impulses, explicit, fixed macro step), one thread each. Time: that of the
 * run by the clock, without set-up, the least of some. Both have the same end value, to the last digit.
 * Then the Newton matrix of rods in space, made by each of two ranks alone and shared by both (docs/cluster.md). Does nothing where there is no mpirun, or less than two
 * processors; the program is build/yoke, or what YOKE_PROGRAM names. */
#include "figure.h"

#include <string.h>
#include <unistd.h>

enum { REPEATS = 5, TEXT = 4000 };

typedef struct outcome {
  double seconds;
  char   value[64]; /* as printed */
} outcome;

/* The text behind `"key": ` of a JSON object, up to the next comma or brace. */
static void find_text(const char *json, const char *key, char *out, size_t size) {
  const char *at = strstr(json, key);
  out[0]         = '\0';
  if (at == NULL) return;
  at += strlen(key);
  snprintf(out, size, "%.*s", (int)strcspn(at, ",}\n"), at);
}

static outcome run(const char *launcher, int n) {
  const char *program = getenv("YOKE_PROGRAM");
  static char json[1 << 20]; /* every subsystem tells its times */
  char        command[TEXT], seconds[64];
  outcome     best = {.seconds = (double)INFINITY};
  snprintf(command, sizeof command,
           "%s %s run examples/chain-imp.yaml --set parameters.n=%d --set split.c=%d --scheme explicit --order 1 "
           "--step 1e-8 --t-end %g --set output.select='[\"c.x[1]\"]' --threads 1 --no-predict --json --print 'c.x[1]'",
           launcher, program != NULL ? program : "build/yoke", 5000 * n, n, n > 16 ? 2e-6 : 1e-5);
  for (int k = 0; k < REPEATS; ++k) {
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) exit(7);
    json[fread(json, 1, sizeof json - 1, pipe)] = '\0';
    if (pclose(pipe) != 0) {
      fprintf(stderr, "failed: %s\n%s\n", command, json);
      exit(1);
    }
    find_text(json, "\"wall_time\": ", seconds, sizeof seconds);
    find_text(json, "\"c.x[1]\": ", best.value, sizeof best.value);
    best.seconds = fmin(best.seconds, strtod(seconds, NULL));
  }
  return best;
}

/* Rods in space, `each` of them a part. */
static void write_rods(FILE *out, int parts, int each) {
  fprintf(out,
          "yoke: 1\nt_end: 0.02\noutput: {every: 1, select: [\"b[1].x\"]}\ngravity: [0, -9.81, 0]\n"
          "bodies: {b: {kind: rigid, count: %d, mass: 1, inertia: [0.001, 1/12, 1/12], position: [i - 0.5, 0, 0], "
          "frames: {left: [-0.5, 0, 0], right: [0.5, 0, 0]}}}\n"
          "connections: {support: {kind: revolute, between: [ground, 'b[1].left']}, "
          "hinge: {kind: revolute, count: %d, between: ['b[i].right', 'b[i + 1].left']}}\n"
          "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3, monitor: off}\nsplit: {",
          parts * each, parts * each - 1);
  for (int i = 0; i < parts; ++i) fprintf(out, "p%d: ['b[%d..%d]'], ", i + 1, i * each + 1, (i + 1) * each);
  fprintf(out, "}\n");
}

/* Seconds of a matrix: least of the trials of some runs. */
static void measure_matrix(int parts, int each) {
  char   path[] = "bench-rods-XXXXXX", command[TEXT], line[1000], seconds[64];
  double alone = (double)INFINITY, shared = alone;
  FILE  *file = fdopen(mkstemp(path), "w");
  if (file == NULL) exit(7);
  write_rods(file, parts, each);
  fclose(file);
  const char *program = getenv("YOKE_PROGRAM");
  snprintf(command, sizeof command, "mpirun -n 2 %s run %s --threads 1 --no-predict --trace --quiet 2>&1",
           program != NULL ? program : "build/yoke", path);
  for (int k = 0; k < REPEATS; ++k) {
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) exit(7);
    while (fgets(line, sizeof line, pipe) != NULL) {
      if (strncmp(line, "matrix ", 7) != 0) continue;
      find_text(line, "alone = ", seconds, sizeof seconds);
      alone = fmin(alone, strtod(seconds, NULL));
      find_text(line, "shared = ", seconds, sizeof seconds);
      shared = fmin(shared, strtod(seconds, NULL));
    }
    if (pclose(pipe) != 0) {
      fprintf(stderr, "failed: %s\n", command);
      exit(1);
    }
  }
  remove(path);
  printf("%10d %10d %15.2f %15.2f %7.2f\n", parts, each, 1e6 * alone / (parts - 1), 1e6 * shared / (parts - 1),
         alone / shared);
  bench_figure(shared, "s", 0.0, "matrix shared by two ranks, %d parts of %d rods", parts, each);
}

int main(void) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || system("mpirun --version >/dev/null 2>&1") != 0) {
    puts("ranks: left out, there is no mpirun or only one processor");
    return 0;
  }
  puts("two ranks against one process, 5000 masses per subsystem, explicit, step 1e-8 s, one thread each");
  puts("subsystems   one process [s]   two ranks [s]   ratio   bits");
  for (int n = 2; n <= (bench_is_quick() ? 8 : 64); n *= bench_is_quick() ? 4 : 2) {
    const outcome one = run("", n), two = run("mpirun -n 2", n);
    const bool    is_same = strcmp(one.value, two.value) == 0;
    printf("%10d %17.3f %15.3f %7.2f   %s\n", n, one.seconds, two.seconds, one.seconds / two.seconds,
           is_same ? "same" : "OTHERS");
    bench_figure(two.seconds, "s", is_same ? 0.0 : 1.0, "two ranks, %d subsystems of 5000 masses", n);
    if (!is_same) return 1;
  }
  puts("Newton matrix of rods in space, microseconds per coupling");
  puts("subsystems       each       alone [us]     shared [us]   ratio");
  for (int n = 20; n <= (bench_is_quick() ? 20 : 500); n *= 5) measure_matrix(n, 2);
  return 0;
}
