/* Speed of the chain kernel: right-hand side, fused Runge-Kutta stages, saving a state. One thread.
 * Times are the minimum over repeats; beside them the accuracy of what was timed.
 * Chain: parameter set IMP of the literature (m = 0.05 kg, c = 2.5e9 N/m, d = 250 N s/m, C = 1e19 N/m^3,
 * D = 5e4 N s^3/m^3, random x0, v0), impulses on every 100th mass. */
#include "figure.h"
#include "integrate/integrator.h"
#include "model/chain_kernel.h"

#include <string.h>

/* The clock, not the processor time, which costs more to ask for than the shortest cases take; many repeats make up for it. */
static double now(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void *take(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (p == NULL) {
    fprintf(stderr, "bench_chain: out of memory\n");
    exit(7);
  }
  memset(p, 0, bytes); /* touch every page */
  return p;
}

/* Uniform in [-1, 1], the same on every machine. */
static double random_unit(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

/* ---- Dormand-Prince 5(4), Nystroem form ---- */

enum { STAGES = 7 };

static const double ATOL = 1e-12, RTOL = 1e-6;

static const double c_dopri[STAGES]         = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
static const double a_dopri[STAGES][STAGES] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
static const double e_dopri[STAGES] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                       -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

typedef struct tableau {
  double abar[STAGES][STAGES], ebar[STAGES]; /* a a and e a */
} tableau;

static tableau nystroem(void) {
  tableau tab;
  memset(&tab, 0, sizeof tab);
  for (int j = 0; j < STAGES; ++j) {
    for (int k = 0; k < STAGES; ++k) {
      for (int i = 0; i < STAGES; ++i) tab.abar[i][j] += a_dopri[i][k] * a_dopri[k][j];
      tab.ebar[j] += e_dopri[k] * a_dopri[k][j];
    }
  }
  /* b_2 = e_2 = 0 make these 0; what is left is rounding */
  tab.abar[6][1] = tab.abar[6][5] = tab.abar[6][6] = 0.0;
  for (int j = 0; j < STAGES; ++j) {
    if (fabs(tab.ebar[j]) < 1e-16) tab.ebar[j] = 0.0;
  }
  return tab;
}

typedef struct state {
  int     n;
  double *block; /* q, v, A[7], q_new, v_new, one after the other: one flat block */
  double *q, *v, *A[STAGES], *X, *V;
  size_t  bytes;
} state;

/* Each array starts on its own cache line, arrays staggered so that they do not share cache sets. */
static state state_create(int n) {
  const size_t stride = ((size_t)n + 7) / 8 * 8 + 72;
  state        s      = {.n = n, .bytes = 11 * stride * sizeof(double)};
  s.block             = take(s.bytes);
  s.q                 = s.block;
  s.v                 = s.block + stride;
  for (int j = 0; j < STAGES; ++j) s.A[j] = s.block + (size_t)(2 + j) * stride;
  s.X = s.block + 9 * stride;
  s.V = s.block + 10 * stride;
  return s;
}

static double stage(const yoke_equations *eq, const tableau *tab, state *s, int i, double t, double h) {
  const bool        last  = i == STAGES - 1;
  double            error = 0.0;
  const yoke_status status =
      eq->ops->stage(eq->self, NULL, t + c_dopri[i] * h, h, c_dopri[i], i, a_dopri[i], tab->abar[i], s->q, s->v,
                     (const double *const *)s->A, NULL, last ? s->X : NULL, last ? s->V : NULL, s->A[i],
                     last ? e_dopri : NULL, last ? tab->ebar : NULL, ATOL, RTOL, &error);
  return status == YOKE_OK ? error : HUGE_VAL;
}

/* Stages 2 .. 7 and the error sum; A[0] is known (first same as last). In one sweep or stage by stage. */
static double attempt(const yoke_equations *eq, const tableau *tab, state *s, bool sweep, double t, double h) {
  double error = 0.0;
  if (!sweep) {
    for (int i = 1; i < STAGES; ++i) error = stage(eq, tab, s, i, t, h);
    return error;
  }
  yoke_stage stages[STAGES];
  for (int i = 1; i < STAGES; ++i) {
    stages[i] = (yoke_stage){.t    = t + c_dopri[i] * h,
                             .h    = h,
                             .c    = c_dopri[i],
                             .s    = i,
                             .a    = a_dopri[i],
                             .abar = tab->abar[i],
                             .q    = s->q,
                             .v    = s->v,
                             .A    = (const double *const *)s->A,
                             .out  = s->A[i],
                             .atol = ATOL,
                             .rtol = RTOL};
  }
  stages[STAGES - 1].X_out = s->X;
  stages[STAGES - 1].V_out = s->V;
  stages[STAGES - 1].e     = e_dopri;
  stages[STAGES - 1].ebar  = tab->ebar;
  return eq->ops->sweep(eq->self, NULL, NULL, STAGES - 1, stages + 1, &error) == YOKE_OK ? error : HUGE_VAL;
}

static void accept(state *s) {
  double *old_q = s->q, *old_v = s->v, *old_a = s->A[0];
  s->q    = s->X;
  s->v    = s->V;
  s->A[0] = s->A[6];
  s->X    = old_q;
  s->V    = old_v;
  s->A[6] = old_a;
}

/* ---- models ---- */

typedef struct bench_model {
  yoke_chain     chain;
  yoke_equations eq;
} bench_model;

static bench_model model_create(int n, bool each, double exponent_x, bool loads) {
  bench_model m;
  memset(&m, 0, sizeof m);
  yoke_chain *c      = &m.chain;
  uint64_t    seed   = 1;
  c->n               = n;
  c->mass            = (yoke_per_mass){.value = 0.05};
  c->stiffness       = (yoke_per_mass){.value = 2.5e9};
  c->damping         = (yoke_per_mass){.value = 250};
  c->stiffness_power = (yoke_per_mass){.value = 1e19};
  c->damping_power   = (yoke_per_mass){.value = 5e4};
  c->exponent_x      = exponent_x;
  c->exponent_v      = 3;
  if (each) {
    yoke_per_mass *const p[5] = {&c->mass, &c->stiffness, &c->damping, &c->stiffness_power, &c->damping_power};
    for (int k = 0; k < 5; ++k) {
      p[k]->each = take(((size_t)n + 1) * sizeof(double));
      for (int i = 0; i <= n; ++i) p[k]->each[i] = p[k]->value * (1 + 0.1 * random_unit(&seed));
    }
  }
  if (loads) {
    c->loads = take(((size_t)n / 10 + 20) * sizeof *c->loads);
    for (int i = 99; i < n; i += 100) {
      for (int k = 0; k < 10; ++k) {
        c->loads[c->n_loads++] = (yoke_chain_load){.kind      = YOKE_CHAIN_IMPULSE,
                                                   .mass      = i,
                                                   .amplitude = (i / 100) % 2 ? 1e6 : -1e6,
                                                   .time      = k == 0 ? 1e-4 : 0.1 * k,
                                                   .width     = 1e-3,
                                                   .rise      = 1e-6};
      }
    }
  }
  if (yoke_chain_equations_create(NULL, c, 0.0, 0, NULL, NULL, &m.eq) != YOKE_OK) {
    fprintf(stderr, "bench_chain: the model was refused\n");
    exit(3);
  }
  return m;
}

static void model_destroy(bench_model *m) {
  m->eq.ops->destroy(m->eq.self);
  yoke_per_mass *const p[5] = {&m->chain.mass, &m->chain.stiffness, &m->chain.damping, &m->chain.stiffness_power,
                               &m->chain.damping_power};
  for (int k = 0; k < 5; ++k) free(p[k]->each);
  free(m->chain.loads);
}

static void initial(state *s) {
  uint64_t seed = 7;
  for (int i = 0; i < s->n; ++i) s->q[i] = 1e-5 * random_unit(&seed);
  for (int i = 0; i < s->n; ++i) s->v[i] = 0.1 * random_unit(&seed);
}

/* ---- measurements ---- */

static int repeats(int n, double budget_ns, double guess_ns) {
  const double r = budget_ns / ((double)n * guess_ns);
  return r < 3 ? 3 : r > 20000 ? 20000 : (int)r;
}

/* Largest difference of the accelerations from a plain loop, relative to the largest acceleration. */
static double rhs_error(const bench_model *m, const state *s) {
  const yoke_chain *c      = &m->chain;
  double            F_left = 0.0, worst = 0.0, largest = 0.0;
  for (int e = 0; e <= c->n; ++e) {
    const double dx   = (e < c->n ? s->q[e] : 0) - (e > 0 ? s->q[e - 1] : 0);
    const double dv   = (e < c->n ? s->v[e] : 0) - (e > 0 ? s->v[e - 1] : 0);
    const double p[4] = {c->stiffness.each ? c->stiffness.each[e] : c->stiffness.value,
                         c->damping.each ? c->damping.each[e] : c->damping.value,
                         c->stiffness_power.each ? c->stiffness_power.each[e] : c->stiffness_power.value,
                         c->damping_power.each ? c->damping_power.each[e] : c->damping_power.value};
    const double F = p[0] * dx + p[1] * dv + p[2] * copysign(pow(fabs(dx), c->exponent_x), dx) + p[3] * dv * dv * dv;
    if (e > 0) {
      const double a = (F - F_left) / (c->mass.each ? c->mass.each[e - 1] : c->mass.value);
      worst          = fmax(worst, fabs(a - s->A[0][e - 1]));
      largest        = fmax(largest, fabs(a));
    }
    F_left = F;
  }
  return worst / largest;
}

static void measure_rhs(const char *name, int n, bool each, double exponent_x, bool loads) {
  bench_model m = model_create(n, each, exponent_x, loads);
  state       s = state_create(n);
  initial(&s);
  double    best = HUGE_VAL;
  const int r    = repeats(n, 1e8, 1.0);
  for (int k = 0; k < r; ++k) {
    const double start = now();
    m.eq.ops->derivative(m.eq.self, NULL, 0.0, s.q, s.v, NULL, NULL, s.A[0], NULL);
    best = fmin(best, now() - start);
  }
  printf("right-hand side     %-28s %9d %9.3f ns/mass    error %8.1e\n", name, n, 1e9 * best / n, rhs_error(&m, &s));
  bench_figure(1e9 * best / n, "ns/mass", rhs_error(&m, &s), "chain right-hand side, %s, %d masses", name, n);
  free(s.block);
  model_destroy(&m);
}

/* Every second mass has a modified sine of its own frequency: nothing to share between masses. */
static void measure_sines(int n) {
  bench_model m = model_create(n, false, 3.0, false);
  state       s = state_create(n);
  m.eq.ops->destroy(m.eq.self);
  m.chain.loads = take((size_t)n * sizeof *m.chain.loads);
  for (int i = 0; i < n; i += 2) {
    m.chain.loads[m.chain.n_loads++] = (yoke_chain_load){
        .kind = YOKE_CHAIN_MODIFIED_SINE, .mass = i, .amplitude = 1e6, .omega = 500 + 0.45 * i, .power = 95};
  }
  if (yoke_chain_equations_create(NULL, &m.chain, 0.0, 0, NULL, NULL, &m.eq) != YOKE_OK) exit(3);
  double best = HUGE_VAL, worst = 0.0;
  for (int k = 0; k < 1000; ++k) {
    const double start = now();
    m.eq.ops->derivative(m.eq.self, NULL, 0.01, s.q, s.v, NULL, NULL, s.A[0], NULL);
    best = fmin(best, now() - start);
  }
  for (int i = 0; i < n; i += 2) {
    const double expected = 1e6 / 0.05 * pow(sin((500 + 0.45 * i) * 0.01), 95);
    worst                 = fmax(worst, fabs(s.A[0][i] - expected) / (1e6 / 0.05));
  }
  printf("right-hand side     %-28s %9d %9.3f ns/mass    error %8.1e\n", "n/2 different sines", n, 1e9 * best / n,
         worst);
  bench_figure(1e9 * best / n, "ns/mass", worst, "chain right-hand side, n/2 different sines, %d masses", n);
  free(s.block);
  model_destroy(&m);
}

static void measure_attempt(const char *name, int n, bool each, bool loads) {
  bench_model   m       = model_create(n, each, 3.0, loads);
  state         s       = state_create(n);
  const tableau tab     = nystroem();
  const double  h       = 2e-8;
  const int     r       = repeats(n, 2e8, 10.0);
  double        best[2] = {HUGE_VAL, HUGE_VAL}, error[2] = {0.0, 0.0};
  initial(&s);
  m.eq.ops->derivative(m.eq.self, NULL, 0.0, s.q, s.v, NULL, NULL, s.A[0], NULL);
  for (int k = 0; k < r; ++k) {
    for (int sweep = 0; sweep < 2; ++sweep) {
      const double start = now();
      error[sweep]       = attempt(&m.eq, &tab, &s, sweep == 1, 0.0, h);
      best[sweep]        = fmin(best[sweep], now() - start);
    }
  }
  printf("dopri5 attempt      %-28s %9d %9.3f ns/mass    one sweep; stage by stage %.3f:", name, n, 1e9 * best[1] / n,
         1e9 * best[0] / n);
  for (int i = 1; i < STAGES; ++i) {
    double fastest = HUGE_VAL;
    for (int k = 0; k < r / 4 + 2; ++k) {
      const double start = now();
      stage(&m.eq, &tab, &s, i, 0.0, h);
      fastest = fmin(fastest, now() - start);
    }
    printf(" %.2f", 1e9 * fastest / n);
  }
  printf("; error estimate %.2e, same bits: %s\n", sqrt(error[1] / (2.0 * n)), error[0] == error[1] ? "yes" : "no");
  bench_figure(1e9 * best[1] / n, "ns/mass", sqrt(error[1] / (2.0 * n)), "chain dopri5 attempt, %s, %d masses", name,
               n);
  free(s.block);
  model_destroy(&m);
}

/* Fixed steps to t = 2e-5 against a much finer run: order 5 says that what was timed integrates. Without the cubic
 * damper, which is so stiff at first that the error falls faster (order 6.3) until it reaches rounding. */
static void measure_run(int n) {
  enum { RUNS = 4 };
  static const int steps[RUNS] = {40, 80, 160, 1280};
  bench_model      m           = model_create(n, false, 3.0, false);
  const tableau    tab         = nystroem();
  double          *end[RUNS], seconds[RUNS], d[RUNS] = {0.0}, scale = 0.0;
  m.eq.ops->destroy(m.eq.self);
  m.chain.damping_power.value = 0.0;
  if (yoke_chain_equations_create(NULL, &m.chain, 0.0, 0, NULL, NULL, &m.eq) != YOKE_OK) exit(3);
  for (int k = 0; k < RUNS; ++k) {
    state        s = state_create(n);
    const double h = 2e-5 / steps[k];
    initial(&s);
    const double start = now();
    m.eq.ops->derivative(m.eq.self, NULL, 0.0, s.q, s.v, NULL, NULL, s.A[0], NULL);
    for (int i = 0; i < steps[k]; ++i) {
      attempt(&m.eq, &tab, &s, true, i * h, h);
      accept(&s);
    }
    seconds[k] = now() - start;
    end[k]     = take((size_t)n * sizeof(double));
    memcpy(end[k], s.q, (size_t)n * sizeof(double));
    free(s.block);
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < RUNS - 1; ++k) d[k] = fmax(d[k], fabs(end[k][i] - end[RUNS - 1][i]));
    scale = fmax(scale, fabs(end[RUNS - 1][i]));
  }
  printf("dopri5 run          %-28s %9d %9.3f ns/mass    error of x %.1e, %.1e, %.1e (40, 80, 160 steps): order %.1f, "
         "%.1f\n",
         "D = 0, 160 steps", n, 1e9 * seconds[2] / n / steps[2], d[0] / scale, d[1] / scale, d[2] / scale,
         log2(d[0] / d[1]), log2(d[1] / d[2]));
  bench_figure(1e9 * seconds[2] / n / steps[2], "ns/mass", d[2] / scale, "chain dopri5 run, 160 steps, %d masses", n);
  for (int k = 0; k < RUNS; ++k) free(end[k]);
  model_destroy(&m);
}

static void need(yoke_status status, const char *what) {
  if (status == YOKE_OK) return;
  fprintf(stderr, "bench_chain: %s: %s\n", what, yoke_status_text(status));
  exit(1);
}

/* What a rejected macro step costs: yoke_integrator_copy to a saved state and back, of dopri5, against two plain copies
 * of as many bytes between other blocks. Accuracy: a step repeated from the restored state has the same bits. */
static void measure_copy(int n) {
  bench_model                   m       = model_create(n, false, 3.0, false);
  state                         s       = state_create(n);
  const yoke_integrator_options options = yoke_integrator_options_default();
  yoke_integrator              *integrator;
  yoke_integrator_state        *now_state, *saved, *first;
  void                         *scratch;
  initial(&s);
  need(yoke_integrator_create(NULL, "dopri5", &m.eq, &options, &integrator), "create");
  need(yoke_integrator_state_create(integrator, &now_state), "state");
  need(yoke_integrator_state_create(integrator, &saved), "state");
  need(yoke_integrator_state_create(integrator, &first), "state");
  need(yoke_integrator_scratch_create(integrator, &scratch), "scratch");
  need(yoke_integrator_start(integrator, scratch, now_state, 0.0, s.q, s.v, &yoke_signal_none, NULL), "start");

  const size_t   bytes   = integrator->state_size;
  unsigned char *raw[2]  = {take(bytes), take(bytes)};
  double         best[2] = {HUGE_VAL, HUGE_VAL};
  const int      r       = repeats(n, 1e8, 8.0);
  for (int k = 0; k < r; ++k) {
    double start = now();
    yoke_integrator_copy(integrator, saved, now_state);
    yoke_integrator_copy(integrator, now_state, saved);
    best[0] = fmin(best[0], now() - start);
    start   = now();
    memcpy(raw[0], raw[1], bytes);
    memcpy(raw[1], raw[0], bytes);
    best[1] = fmin(best[1], now() - start);
  }
  need(yoke_integrator_step(integrator, scratch, now_state, &yoke_signal_none, 1.0, NULL), "step");
  yoke_integrator_copy(integrator, first, now_state);
  yoke_integrator_copy(integrator, now_state, saved);
  need(yoke_integrator_step(integrator, scratch, now_state, &yoke_signal_none, 1.0, NULL), "step");
  const size_t size = (size_t)n * sizeof(double);
  const bool   same = now_state->t == first->t &&
                    memcmp(yoke_integrator_q(integrator, now_state), yoke_integrator_q(integrator, first), size) == 0 &&
                    memcmp(yoke_integrator_v(integrator, now_state), yoke_integrator_v(integrator, first), size) == 0;
  printf(
      "save + restore      %-28s %9d %9.3f ns/state   %.2f of memcpy, %.0f bytes/state, repeated step same bits: %s\n",
      "dopri5, 2 n states", n, 1e9 * best[0] / (2.0 * n), best[0] / best[1], (double)bytes / (2.0 * n),
      same ? "yes" : "no");
  bench_figure(1e9 * best[0] / (2.0 * n), "ns/state", same ? 0.0 : 1.0, "save and restore, dopri5, %d masses", n);
  yoke_integrator_state_destroy(&now_state);
  yoke_integrator_state_destroy(&saved);
  yoke_integrator_state_destroy(&first);
  yoke_integrator_scratch_destroy(&scratch);
  yoke_integrator_destroy(&integrator);
  free(raw[0]);
  free(raw[1]);
  free(s.block);
  model_destroy(&m);
}

int main(void) {
  printf("%-19s %-28s %9s %9s\n", "what", "chain", "masses", "time");
  static const int sizes[] = {1000, 10000, 100000, 1000000};
  printf("goal: right-hand side 1.5 ns/mass or less; save and restore as fast as memcpy\n");
  const int n_sizes = bench_is_quick() ? 2 : 4; /* the larger ones live in memory, not in the cache */
  for (int k = 0; k < n_sizes; ++k) measure_rhs("uniform, cubic", sizes[k], false, 3, false);
  measure_rhs("uniform, cubic, impulses", 10000, false, 3, true);
  measure_sines(10000);
  measure_rhs("per element, cubic", 10000, true, 3, false);
  measure_rhs("uniform, exponent 6", 10000, false, 6, false);
  measure_rhs("uniform, exponent 2.5", 10000, false, 2.5, false);
  for (int k = 0; k < n_sizes; ++k) measure_attempt("uniform, cubic", sizes[k], false, false);
  measure_attempt("uniform, cubic, impulses", 10000, false, true);
  measure_attempt("per element, cubic", 10000, true, false);
  measure_run(1000);
  for (int k = 0; k < n_sizes && k < 3; ++k) measure_copy(sizes[k]);
  return 0;
}
