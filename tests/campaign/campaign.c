/* Random models, random splits, random methods: how often is a result wrong, and does the run say so?
 *
 *   campaign [--seeds A:B] [--family NAME] [--jobs N] [--seconds S] [--limit S] [--log FILE] [--verbose] [--judge]
 *            [--method "OPTIONS"]
 *   campaign --seed N [--write FILE.yaml]
 *   campaign --grid [--seeds A:B | MODEL.yaml ...]
 *
 * Seeds A to B - 1 (0:800) make one small model each (families.h), from micrometres to kilometres. It is run as a whole at its
 * handy size with rtol 1e-12, 1e-11, and from a start nearby; where these differ it is chaotic and left out. Then it is run as
 * co-simulation: by default, twice with a random method and a fixed step, once with one under step control. Methods that the
 * program refuses are counted and others drawn. The error of a run is the largest of all positions, velocities, angles and rates at
 * 201 times, in units of the quantity's spread.
 *
 *   --jobs N       so many seeds at a time (1)
 *   --seconds S    no new seed after S seconds
 *   --limit S      processor time of one run (10 s); longer: "no end"
 *   --family NAME  seeds of this family only
 *   --method W     the options W in place of the drawn method, to compare defaults
 *   --log FILE     every run as a line of a CSV file
 *   --verbose      every run as it ends
 *   --judge        exit code 1 when a limit is exceeded
 *   --seed N       this seed alone, verbose; with --write its model goes to a file and the commands are printed, nothing is run
 *   --grid         the default alone, against fixed steps that halve; of model files too, without their settings
 *
 * The program is named by YOKE_PROGRAM (build/yoke). */
#include "families.h"
#include "tally.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct options {
  long        first, last; /* seeds first ... last - 1 */
  int         family;      /* -1: all */
  int         jobs;
  double      seconds;
  bool        verbose, judge;
  const char *write, *log;
  char      **files;
  int         n_files;
} options;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- workers ---- */

static_assert(sizeof(record) <= PIPE_BUF, "records of workers stay whole");

static void send(void *user, const record *r) {
  if (write(*(int *)user, r, sizeof *r) != (ssize_t)sizeof *r) _exit(1);
}

/* Every n-th seed or file, beginning with `number`. */
static void work(const options *o, trial_settings t, int number, int out) {
  char         folder[] = P_tmpdir "/yoke-campaign-XXXXXX", command[100];
  const double end      = now() + o->seconds;
  if (mkdtemp(folder) == NULL) _exit(1);
  t.folder = folder;
  for (int i = number; i < o->n_files; i += o->jobs) trial_file(&t, o->files[i], i, send, &out);
  long n = 0; /* seeds of the family */
  for (long seed = o->first; o->n_files == 0 && seed < o->last && now() < end; ++seed) {
    if (o->family >= 0 && trial_family(seed) != o->family) continue;
    if (n++ % o->jobs == number) trial_seed(&t, seed, send, &out);
  }
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  _exit(system(command) == 0 ? 0 : 1);
}

/* False: a worker broke. */
static bool run_workers(const options *o, const trial_settings *t, tally *all) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  for (int i = 0; i < o->jobs; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      work(o, *t, i, ends[1]);
    }
    if (child < 0) return false;
  }
  close(ends[1]);
  record  r;
  ssize_t n;
  while ((n = read(ends[0], &r, sizeof r)) == (ssize_t)sizeof r || (n < 0 && errno == EINTR)) {
    if (n < 0) continue;
    tally_add(all, &r);
    if (o->verbose) {
      tally_write_record(stdout, &r, o->files);
      fflush(stdout);
    }
  }
  close(ends[0]);
  bool whole = true;
  for (int i = 0, status; i < o->jobs; ++i)
    whole = wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && whole;
  return whole;
}

/* ---- one model as a file ---- */

static int write_model(long seed, const char *path, const char *given) {
  sketch *s     = malloc(sizeof *s);
  text   *model = malloc(sizeof *model);
  if (s == NULL || model == NULL) return 7;
  trial_model(seed, s, model);
  FILE      *file = fopen(path, "w");
  const bool ok   = file != NULL && fputs(model->at, file) >= 0;
  if (file == NULL || fclose(file) != 0 || !ok) {
    fprintf(stderr, "cannot write '%s'\n", path);
    return 7;
  }
  printf("yoke run %s --monolithic --rtol 1e-12 --set parameters.L=1 --set parameters.M=1 --set parameters.T=1\n",
         path);
  for (int slot = 0; slot < TRIAL_SLOTS; ++slot) {
    for (int trial = 0; trial < (slot == 0 ? 1 : TRIAL_METHODS); ++trial) {
      const method m = trial_method(seed, s, slot, trial, given);
      method_write_command(stdout, path, m.arguments);
      puts(trial > 0 ? " # if refused" : "");
    }
  }
  free(s);
  free(model);
  return 0;
}

/* ---- main ---- */

/* Its number; -2: there is none. */
static int family_named(const char *name) {
  for (int i = 0; i < N_FAMILIES; ++i) {
    if (strcmp(trial_family_name(i), name) == 0) return i;
  }
  fprintf(stderr, "no family '%s'; there are:", name);
  for (int i = 0; i < N_FAMILIES; ++i) fprintf(stderr, " %s", trial_family_name(i));
  fputc('\n', stderr);
  return -2;
}

static bool read_seeds(const char *words, options *o) {
  char *end;
  o->first = strtol(words, &end, 10);
  o->last  = o->first + 1;
  if (*end == ':') o->last = strtol(end + 1, &end, 10);
  if (*end == '\0' && o->first >= 0 && o->last > o->first) return true;
  fprintf(stderr, "seeds: found '%s', expected A:B with 0 <= A < B\n", words);
  return false;
}

static bool read_options(int argc, char **argv, options *o, trial_settings *t) {
  static const struct option known[] = {{"seeds", required_argument, NULL, 's'},
                                        {"seed", required_argument, NULL, '1'},
                                        {"family", required_argument, NULL, 'f'},
                                        {"jobs", required_argument, NULL, 'j'},
                                        {"seconds", required_argument, NULL, 't'},
                                        {"limit", required_argument, NULL, 'l'},
                                        {"log", required_argument, NULL, 'o'},
                                        {"write", required_argument, NULL, 'w'},
                                        {"method", required_argument, NULL, 'm'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"judge", no_argument, NULL, 'J'},
                                        {"grid", no_argument, NULL, 'g'},
                                        {NULL, 0, NULL, 0}};
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (c) {
    case '1': o->verbose = true; /* fall through */
    case 's':
      if (!read_seeds(optarg, o)) return false;
      break;
    case 'f': o->family = family_named(optarg); break;
    case 'j': o->jobs = atoi(optarg); break;
    case 't': o->seconds = atof(optarg); break;
    case 'l': t->seconds = atof(optarg); break;
    case 'o': o->log = optarg; break;
    case 'w': o->write = optarg; break;
    case 'm': t->method = optarg; break;
    case 'v': o->verbose = true; break;
    case 'J': o->judge = true; break;
    case 'g': t->grid = true; break;
    default: return false;
    }
  }
  o->files   = argv + optind;
  o->n_files = argc - optind;
  if (o->n_files > 0 && !t->grid) {
    fprintf(stderr, "model files are for --grid\n");
    return false;
  }
  return o->family >= -1 && o->jobs >= 1 && o->seconds > 0.0 && t->seconds > 0.0;
}

int main(int argc, char **argv) {
  const char    *program = getenv("YOKE_PROGRAM");
  options        o       = {.last = 800, .family = -1, .jobs = 1, .seconds = 1e9};
  trial_settings t       = {.program = program != NULL && *program != '\0' ? program : "build/yoke", .seconds = 10.0};
  tally          all     = {0};
  if (!read_options(argc, argv, &o, &t)) {
    fprintf(stderr, "usage: campaign [--seeds A:B] [--family NAME] [--jobs N] [--seconds S] [--limit S] [--log FILE] "
                    "[--verbose] [--judge]\n                [--method \"OPTIONS\"]\n       campaign --seed N [--write "
                    "FILE.yaml]\n       campaign --grid [--seeds A:B | MODEL.yaml ...]\n");
    return 2;
  }
  if (o.write != NULL) return write_model(o.first, o.write, t.method);
  if (access(t.program, X_OK) != 0) {
    fprintf(stderr, "cannot run '%s': build it, or name it by YOKE_PROGRAM\n", t.program);
    return 2;
  }
  (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const bool whole = run_workers(&o, &t, &all);
  tally_sort(&all);
  const bool kept = t.grid ? tally_report_grid(stdout, &all, o.files) : tally_report(stdout, &all, 20);
  if (o.log != NULL) {
    FILE *file = fopen(o.log, "w");
    if (file != NULL) tally_write_csv(file, &all);
    if (file == NULL || fclose(file) != 0) fprintf(stderr, "cannot write '%s'\n", o.log);
  }
  tally_release(&all);
  if (!whole) {
    fprintf(stderr, "a worker ended before its work\n");
    return 7;
  }
  return o.judge && !kept ? 1 : 0;
}
