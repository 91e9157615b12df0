/* Speed of stability maps of the two-mass models, all cores. Goals for semi-implicit force/force of degree 2 on two cores:
 * 1000 x 1000 points in 20 s, 200 x 500 in 2 s. Beside the time: the difference to a published spectral radius (Li 8.2, nine digits). */
#include "analysis/map.h"
#include "analysis/recurrence.h"
#include "figure.h"

enum { REPEATS = 5 };

static double now(clockid_t clock) {
  struct timespec ts;
  clock_gettime(clock, &ts);
  return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

typedef struct map_case {
  const char        *name;
  const char        *scheme, *formulation;
  yoke_decomposition decomposition;
  yoke_extension     extension;
  int                order;
  int                n_x, n_y;
  double published; /* symmetrical, at (-0.1, 2.5); rigid links at (-0.2, 1.5), index 1; explicit at (-0.1, 0.7) */
} map_case;

static const map_case cases[] = {
    {"force/force, degree 2", "semi-implicit", NULL, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, 2, 1000, 1000, 1.94121269},
    {"force/force, degree 2", "semi-implicit", NULL, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, 2, 200, 500, 1.94121269},
    {"force/displacement, extension d, degree 2", "semi-implicit", NULL, YOKE_FORCE_DISPLACEMENT, YOKE_EXTENSION_D, 2,
     200, 500, 1.10260697},
    {"displacement/displacement, degree 3", "semi-implicit", NULL, YOKE_DISPLACEMENT_DISPLACEMENT, YOKE_EXTENSION_NONE,
     3, 200, 500, 1.01316656},
    {"displacement/displacement, degree 3", "explicit", NULL, YOKE_DISPLACEMENT_DISPLACEMENT, YOKE_EXTENSION_NONE, 3,
     200, 500, 0.925142875},
    {"weighted force/force, degree 2", "semi-implicit", "weighted", YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, 2, 200, 500,
     0.818730753},
};

typedef struct map_user {
  yoke_test_model_kind kind;
  yoke_test_method     method;
} map_user;

static yoke_status value(const void *user, double re, double im, double *rho) {
  const map_user  *u          = user;
  yoke_test_ratios r          = yoke_test_ratios_default();
  r.re                        = re;
  r.im                        = im;
  const yoke_test_model model = yoke_test_model_from_ratios(u->kind, &r);
  return yoke_recurrence_radius(NULL, &model, &u->method, rho);
}

static void run(const map_case *c, int n_threads) {
  map_user user           = {c->formulation != NULL ? YOKE_TWO_MASS_RIGID : YOKE_TWO_MASS, yoke_test_method_default()};
  user.method.scheme      = c->scheme;
  user.method.formulation = c->formulation;
  user.method.decomposition = c->decomposition;
  user.method.extension     = c->extension;
  user.method.order         = c->order;
  const yoke_map map        = {
             .x = {-2.0, 0.0, c->n_x}, .y = {0.0, 10.0, c->n_y}, .value = value, .user = &user, .n_threads = n_threads};
  const size_t n      = (size_t)c->n_x * (size_t)c->n_y;
  double      *values = malloc(n * sizeof *values), seconds = INFINITY, processor = INFINITY, rho = 0.0;
  if (values == NULL) exit(7);
  for (int k = 0; k < REPEATS; ++k) {
    const double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    if (yoke_map_run(NULL, &map, values) != YOKE_OK) exit(1);
    seconds   = fmin(seconds, now(CLOCK_MONOTONIC) - start);
    processor = fmin(processor, now(CLOCK_PROCESS_CPUTIME_ID) - used);
  }
  size_t n_stable = 0;
  for (size_t i = 0; i < n; ++i) n_stable += values[i] <= 1.0 + 1e-9;
  const bool rigid = c->formulation != NULL, once = c->scheme[0] == 'e';
  value(&user, rigid ? -0.2 : -0.1, rigid ? 1.5 : once ? 0.7 : 2.5, &rho);
  printf("| %s %s | %d x %d | %s | %.3f | %.3f | %.2f | %.1f %% | %.0e |\n", c->scheme, c->name, c->n_x, c->n_y,
         n_threads == 1 ? "1" : "all", seconds, processor, 1e6 * processor / (double)n,
         100.0 * (double)n_stable / (double)n, fabs(rho - c->published) / c->published);
  bench_figure(processor, "s", fabs(rho - c->published) / c->published, "map, %s %s, %d x %d, threads %s", c->scheme,
               c->name, c->n_x, c->n_y, n_threads == 1 ? "1" : "all");
  free(values);
}

int main(void) {
  printf("Stability maps of the two-mass models, [-2, 0] x [0, 10]\n\n"
         "| method | points | threads | seconds | processor seconds | us per point | stable | difference to the "
         "published radius |\n"
         "|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (!bench_is_quick()) run(&cases[i], 0);
  }
  run(&cases[bench_is_quick() ? 1 : 0], 1);
  return 0;
}
