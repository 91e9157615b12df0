/* Chain kernel and its equations against plain loops, finite differences, energy balance. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/pool.h"
#include "model/chain_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small models ---- */

/* Uniform in [-1, 1]. */
static double random_unit(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

static double *random_array(int n, double middle, double spread, uint64_t *seed) {
  double *x = test_malloc(((size_t)n + 1) * sizeof *x);
  for (int i = 0; i < n; ++i) x[i] = middle + spread * random_unit(seed);
  return x;
}

static double at(const yoke_per_mass *p, int i) {
  return p->each != NULL ? p->each[i] : p->value;
}

static yoke_chain uniform_chain(int n) {
  return (yoke_chain){.n               = n,
                      .mass            = {.value = 0.7},
                      .stiffness       = {.value = 30.0},
                      .damping         = {.value = 0.4},
                      .stiffness_power = {.value = 50.0},
                      .damping_power   = {.value = 0.3},
                      .exponent_x      = 3,
                      .exponent_v      = 3};
}

/* Everything differs from mass to mass. Release with free_chain. */
static yoke_chain varied_chain(int n) {
  yoke_chain c           = uniform_chain(n);
  uint64_t   seed        = 11;
  c.mass.each            = random_array(n, 1.0, 0.5, &seed);
  c.stiffness.each       = random_array(n + 1, 30.0, 10.0, &seed);
  c.damping.each         = random_array(n + 1, 0.5, 0.2, &seed);
  c.stiffness_power.each = random_array(n + 1, 50.0, 20.0, &seed);
  c.damping_power.each   = random_array(n + 1, 0.3, 0.2, &seed);
  return c;
}

static void free_chain(yoke_chain *c) {
  yoke_per_mass *const p[5] = {&c->mass, &c->stiffness, &c->damping, &c->stiffness_power, &c->damping_power};
  for (int k = 0; k < 5; ++k) {
    if (p[k]->each != NULL) test_free(p[k]->each);
    p[k]->each = NULL;
  }
}

static const yoke_chain_load harmonic = {.kind = YOKE_CHAIN_HARMONIC, .amplitude = 2.0, .omega = 3.0, .phase = 0.5};
static const yoke_chain_load contact  = {.kind = YOKE_CHAIN_CONTACT, .amplitude = -0.3, .slope = 2.0};
static const yoke_chain_load impulse  = {
     .kind = YOKE_CHAIN_IMPULSE, .amplitude = 5.0, .time = 0.2, .width = 0.3, .rise = 0.05};
static const yoke_chain_load modified_sine = {
    .kind = YOKE_CHAIN_MODIFIED_SINE, .amplitude = 4.0, .omega = 2.0, .phase = 0.3, .power = 95};

static double load_formula(const yoke_chain_load *l, double t, double x) {
  switch (l->kind) {
  case YOKE_CHAIN_HARMONIC: return l->amplitude * sin(l->omega * t + l->phase);
  case YOKE_CHAIN_CONTACT: return l->amplitude * exp(l->slope * x);
  case YOKE_CHAIN_IMPULSE:
    return l->amplitude / 2 * (tanh((t - l->time) / l->rise) - tanh((t - l->time - l->width) / l->rise));
  default: return l->amplitude * pow(sin(l->omega * t + l->phase), l->power);
  }
}

static yoke_chain_load on_mass(yoke_chain_load load, int mass) {
  load.mass = mass;
  return load;
}

/* Forces by the formula of model.h with pow. */
static void formula_force(const yoke_chain *c, double t, double gx, const double *x, const double *v, double *f) {
  for (int i = 0; i < c->n; ++i) f[i] = at(&c->mass, i) * gx;
  for (int e = 0; e <= c->n; ++e) {
    const double dx = (e < c->n ? x[e] : 0) - (e > 0 ? x[e - 1] : 0);
    const double dv = (e < c->n ? v[e] : 0) - (e > 0 ? v[e - 1] : 0);
    const double F  = at(&c->stiffness, e) * dx + at(&c->damping, e) * dv +
                     at(&c->stiffness_power, e) * copysign(pow(fabs(dx), c->exponent_x), dx) +
                     at(&c->damping_power, e) * copysign(pow(fabs(dv), c->exponent_v), dv);
    if (e < c->n) f[e] -= F;
    if (e > 0) f[e - 1] += F;
  }
  for (int k = 0; k < c->n_loads; ++k) f[c->loads[k].mass] += load_formula(&c->loads[k], t, x[c->loads[k].mass]);
}

static yoke_equations make_equations(const yoke_chain *c, double gx, int n_inputs, const int *masses) {
  yoke_equations eq;
  assert_int_equal(yoke_chain_equations_create(NULL, c, gx, n_inputs, masses, NULL, &eq), YOKE_OK);
  return eq;
}

static yoke_chain_kernel *make_kernel(const yoke_chain *c) {
  yoke_chain_kernel *kernel;
  assert_int_equal(yoke_chain_kernel_create(NULL, c, &kernel), YOKE_OK);
  return kernel;
}

static void assert_close(const double *a, const double *b, int n, double tolerance) {
  double scale = 0.0;
  for (int i = 0; i < n; ++i) scale = fmax(scale, fabs(b[i]));
  for (int i = 0; i < n; ++i) {
    if (!(fabs(a[i] - b[i]) <= tolerance * scale)) fail_msg("entry %d of %d: %.17g, expected %.17g", i, n, a[i], b[i]);
  }
}

/* ---- loads ---- */

/* An impulse is looked at only near itself: one that begins too late or ends too early jumps there. */
static void impulses_are_felt_from_their_first_to_their_last_trace(void **state) {
  (void)state;
  yoke_chain      c        = uniform_chain(2);
  yoke_chain_load loads[2] = {on_mass(impulse, 0), on_mass(impulse, 1)}; /* one shape */
  c.n_loads                = 2;
  c.loads                  = loads;
  for (int sign = -1; sign <= 1; sign += 2) {
    for (int k = 0; k < 2; ++k) loads[k].width = sign * impulse.width;
    yoke_chain_kernel *kernel = make_kernel(&c);
    assert_int_equal(kernel->loads.n_shared, 1);
    const yoke_chain_shape *shape = &kernel->loads.shapes[0];
    assert_true(shape->end - shape->begin < 0.3 + 50 * impulse.rise); /* it is looked at for a while only */
    for (int k = -2000; k <= 2000; ++k) {
      double       shared[YOKE_CHAIN_SHARED];
      int          active   = -1;
      const double t        = impulse.time + 1e-3 * k;
      const int    n_active = yoke_chain_loads_begin(&kernel->loads, t, shared, &active);
      assert_true(shared[0] == yoke_chain_shape_value(shape, t));
      assert_int_equal(n_active, shared[0] != 0.0);
      assert_int_equal(active, shared[0] != 0.0 ? 0 : -1);
    }
    yoke_chain_kernel_destroy(&kernel);
  }
}

/* ---- forces ---- */

static void check_law(double exponent_x, double exponent_v, bool varied) {
  enum { N = 700 };
  uint64_t   seed      = 3;
  yoke_chain c         = varied ? varied_chain(N) : uniform_chain(N);
  c.exponent_x         = exponent_x;
  c.exponent_v         = exponent_v;
  double            *x = random_array(N, 0, 1, &seed), *v = random_array(N, 0, 1, &seed);
  double             f[N], expected[N];
  yoke_chain_kernel *kernel = make_kernel(&c);
  x[5]                      = x[4]; /* deflection 0 */
  v[600]                    = v[601];
  assert_int_equal(yoke_chain_kernel_force(kernel, 0.3, -9.81, x, v, f), YOKE_OK);
  formula_force(&c, 0.3, -9.81, x, v, expected);
  assert_close(f, expected, N, 1e-14);
  yoke_chain_kernel_destroy(&kernel);
  test_free(x);
  test_free(v);
  free_chain(&c);
}

static void every_exponent_follows_the_power_law(void **state) {
  (void)state;
  static const double exponent[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 1.5, 2.5, 3.5, 0.5, 2.2};
  for (size_t i = 0; i < sizeof exponent / sizeof *exponent; ++i) {
    check_law(exponent[i], 3, i % 2 == 0);
    check_law(3, exponent[i], i % 2 == 1);
    check_law(exponent[i], exponent[i], true);
  }
}

static void linear_chain_follows_the_law(void **state) {
  (void)state;
  for (int varied = 0; varied < 2; ++varied) {
    enum { N = 1030 };
    uint64_t   seed = 3;
    yoke_chain c    = varied ? varied_chain(N) : uniform_chain(N);
    for (int e = 0; varied && e <= N; ++e) c.stiffness_power.each[e] = c.damping_power.each[e] = 0.0;
    c.stiffness_power.value = c.damping_power.value = 0.0;
    double            *x = random_array(N, 0, 1, &seed), *v = random_array(N, 0, 1, &seed), f[N], expected[N];
    yoke_chain_kernel *kernel = make_kernel(&c);
    assert_int_equal(yoke_chain_kernel_force(kernel, 0, 0, x, v, f), YOKE_OK);
    formula_force(&c, 0, 0, x, v, expected);
    assert_close(f, expected, N, 1e-14);
    yoke_chain_kernel_destroy(&kernel);
    test_free(x);
    test_free(v);
    free_chain(&c);
  }
}

/* Shared shapes, shapes of one mass, more shapes than are shared, several loads per mass. */
static void loads_follow_their_formulas(void **state) {
  (void)state;
  enum { N = 1500 };
  static yoke_chain_load loads[4 * N];
  uint64_t               seed = 5;
  yoke_chain             c    = uniform_chain(N);
  for (int i = 0; i < N; ++i) {
    const int pair     = i / 2;
    loads[c.n_loads++] = on_mass(harmonic, i);
    if (i % 3 == 0) loads[c.n_loads++] = on_mass(contact, i);
    yoke_chain_load l = on_mass(i % 2 ? impulse : modified_sine, i);
    l.amplitude       = random_unit(&seed);
    if (i % 5 == 0) l.phase = l.time = 0.01 * floor(0.1 * i); /* 150 pairs and some */
    loads[c.n_loads++] = l;
    l                  = on_mass(harmonic, i);
    l.omega            = 1.0 + pair; /* 750 pairs */
    loads[c.n_loads++] = l;
  }
  c.loads              = loads;
  double            *x = random_array(N, 0, 1, &seed), *v = random_array(N, 0, 1, &seed), f[N], expected[N];
  yoke_chain_kernel *kernel = make_kernel(&c);
  for (int k = 0; k < 4; ++k) {
    const double t = 0.25 * k;
    assert_int_equal(yoke_chain_kernel_force(kernel, t, 1.0, x, v, f), YOKE_OK);
    formula_force(&c, t, 1.0, x, v, expected);
    assert_close(f, expected, N, 1e-13);
  }
  yoke_chain_kernel_destroy(&kernel);
  test_free(x);
  test_free(v);
}

static void loads_may_come_in_any_order(void **state) {
  (void)state;
  yoke_chain_load loads[4] = {on_mass(impulse, 7), on_mass(contact, 2), on_mass(harmonic, 9), on_mass(harmonic, 0)};
  yoke_chain      c        = uniform_chain(10);
  double          x[10] = {0.1, 0.3}, v[10] = {0.2}, f[10], expected[10];
  c.loads                   = loads;
  c.n_loads                 = 4;
  yoke_chain_kernel *kernel = make_kernel(&c);
  assert_int_equal(yoke_chain_kernel_force(kernel, 0.25, 0, x, v, f), YOKE_OK);
  formula_force(&c, 0.25, 0, x, v, expected);
  assert_close(f, expected, 10, 1e-14);
  yoke_chain_kernel_destroy(&kernel);
}

/* A wall that is switched off by an amplitude of 0 costs nothing and cannot overflow. */
static void loads_without_amplitude_are_no_loads(void **state) {
  (void)state;
  yoke_chain_load loads[3] = {on_mass(contact, 1), on_mass(harmonic, 2), on_mass(impulse, 2)};
  yoke_chain      c = uniform_chain(4), bare = c;
  const double    x[4] = {0.1, 1e4, 0.3, -0.2}, v[4] = {0.2, 0.0, -0.1, 0.5};
  double          f[4], expected[4];
  c.loads = loads;
  for (c.n_loads = 0; c.n_loads < 3; ++c.n_loads) loads[c.n_loads].amplitude = 0.0;
  yoke_chain_kernel *kernel = make_kernel(&c), *plain = make_kernel(&bare);
  assert_int_equal(yoke_chain_kernel_force(kernel, 0.25, 0, x, v, f), YOKE_OK);
  assert_int_equal(yoke_chain_kernel_force(plain, 0.25, 0, x, v, expected), YOKE_OK);
  assert_memory_equal(f, expected, sizeof f);
  yoke_chain_kernel_destroy(&kernel);
  yoke_chain_kernel_destroy(&plain);
}

/* Own sine, own power: against the C library for small, large and very large arguments. */
static void sines_agree_with_the_c_library(void **state) {
  (void)state;
  enum { N = 500 };
  static const double times[] = {0.0, 1e-3, 1.0, -7.0, 1e3, 2e5, 1e12};
  yoke_chain_load     loads[N];
  yoke_chain          c       = uniform_chain(N);
  double              zero[N] = {0}, f[N];
  c.loads                     = loads;
  c.n_loads                   = N;
  for (int i = 0; i < N; ++i) {
    loads[i]       = on_mass(i % 2 ? harmonic : modified_sine, i);
    loads[i].omega = 0.1 * (1 + i - i % 2);
    loads[i].power = 3 + 2 * (i % 8);
  }
  yoke_chain_kernel *kernel = make_kernel(&c);
  for (int k = 0; k < 7; ++k) {
    assert_int_equal(yoke_chain_kernel_force(kernel, times[k], 0, zero, zero, f), YOKE_OK);
    for (int i = 0; i < N; ++i) {
      const double s        = sin(loads[i].omega * times[k] + loads[i].phase);
      const double expected = i % 2 ? s : pow(s, loads[i].power), relative = i % 2 ? 1 : loads[i].power;
      assert_true(fabs(f[i] / loads[i].amplitude - expected) <= 4e-16 * relative);
    }
  }
  yoke_chain_kernel_destroy(&kernel);
}

/* Sines and impulses in turn, of which each has times of its own: equal powers are raised together, others one by one; what is 0 is not added,
 * so that the sign of a zero is that of a mass without loads. */
static void loads_have_the_bits_that_they_have_alone(void **state) {
  (void)state;
  enum { N = 200 };
  uint64_t        seed = 4;
  yoke_chain_load loads[N];
  yoke_chain      many    = uniform_chain(N);
  double          zero[N] = {0}, f[N], alone[N];
  for (int i = 0; i < N; ++i) {
    loads[i]       = on_mass(random_unit(&seed) < 0.0 ? impulse : modified_sine, i);
    loads[i].phase = loads[i].time = 0.01 * i;
  }
  for (int differ = 0; differ < 2; ++differ) {
    for (int i = 0; differ && i < N; i += 2) loads[i].power = 1 + 2 * (i % 7);
    many.loads                = loads;
    many.n_loads              = N;
    yoke_chain_kernel *kernel = make_kernel(&many);
    assert_int_equal(yoke_chain_kernel_force(kernel, 0.5, 0, zero, zero, f), YOKE_OK);
    yoke_chain_kernel_destroy(&kernel);
    for (int i = 0; i < N; ++i) {
      yoke_chain one = uniform_chain(N);
      one.loads      = &loads[i];
      one.n_loads    = 1;
      kernel         = make_kernel(&one);
      assert_int_equal(yoke_chain_kernel_force(kernel, 0.5, 0, zero, zero, alone), YOKE_OK);
      assert_memory_equal(&f[i], &alone[i], sizeof *f);
      yoke_chain_kernel_destroy(&kernel);
    }
  }
}

static void arrays_of_equal_numbers_give_the_bits_of_one_number(void **state) {
  (void)state;
  enum { N = 600 };
  uint64_t   seed = 9;
  yoke_chain one = uniform_chain(N), many = varied_chain(N);
  for (int i = 0; i <= N; ++i) {
    if (i < N) many.mass.each[i] = one.mass.value;
    many.stiffness.each[i]       = one.stiffness.value;
    many.damping.each[i]         = one.damping.value;
    many.stiffness_power.each[i] = one.stiffness_power.value;
    many.damping_power.each[i]   = one.damping_power.value;
  }
  /* element 300 differs: the loop over arrays; elsewhere the same bits */
  many.stiffness.each[300] *= 2;
  double        *x = random_array(N, 0, 1, &seed), *v = random_array(N, 0, 1, &seed), a[N], b[N];
  yoke_equations p = make_equations(&one, 0, 0, NULL), q = make_equations(&many, 0, 0, NULL);
  assert_int_equal(p.ops->derivative(p.self, NULL, 0, x, v, NULL, NULL, a, NULL), YOKE_OK);
  assert_int_equal(q.ops->derivative(q.self, NULL, 0, x, v, NULL, NULL, b, NULL), YOKE_OK);
  assert_memory_equal(a, b, 299 * sizeof *a);
  assert_true(a[299] != b[299] && a[300] != b[300]);
  assert_memory_equal(a + 301, b + 301, (N - 301) * sizeof *a);
  yoke_equations_destroy(&p);
  yoke_equations_destroy(&q);
  test_free(x);
  test_free(v);
  free_chain(&many);
}

/* An end without an element is one whose element has no stiffness and no damping, to the bit, for every law. */
static void free_ends_give_the_bits_of_elements_of_zero(void **state) {
  (void)state;
  for (int n = 1; n <= 5; ++n) {
    for (int i = 0; i < 8; ++i) {
      double               each[4][6], x[5], v[5], a[5], b[5];
      yoke_chain           free_c = uniform_chain(n), zero = uniform_chain(n);
      yoke_per_mass *const p[4] = {&zero.stiffness, &zero.damping, &zero.stiffness_power, &zero.damping_power};
      free_c.is_free[0]         = i & 1;
      free_c.is_free[1]         = i & 2;
      if (i & 4) free_c.exponent_x = zero.exponent_x = 1.5;
      for (int k = 0; k < 4; ++k) {
        for (int e = 0; e <= n; ++e) each[k][e] = (e == 0 && (i & 1)) || (e == n && (i & 2)) ? 0.0 : p[k]->value;
        p[k]->each = each[k];
      }
      for (int k = 0; k < n; ++k) x[k] = 0.3 * k * k - 0.1, v[k] = 0.2 - 0.1 * k;
      yoke_equations f = make_equations(&free_c, 0, 0, NULL), z = make_equations(&zero, 0, 0, NULL);
      assert_int_equal(f.ops->derivative(f.self, NULL, 0, x, v, NULL, NULL, a, NULL), YOKE_OK);
      assert_int_equal(z.ops->derivative(z.self, NULL, 0, x, v, NULL, NULL, b, NULL), YOKE_OK);
      assert_memory_equal(a, b, (size_t)n * sizeof *a);
      yoke_equations_destroy(&f);
      yoke_equations_destroy(&z);
    }
  }
}

static void free_end_feels_no_ground(void **state) {
  (void)state;
  enum { N = 4 };
  double               each[4][N + 1];
  yoke_chain           c    = uniform_chain(N);
  yoke_per_mass *const p[4] = {&c.stiffness, &c.damping, &c.stiffness_power, &c.damping_power};
  for (int k = 0; k < 4; ++k) {
    for (int e = 0; e <= N; ++e) each[k][e] = e == N || e == 0 ? 0.0 : p[k]->value;
    p[k]->each = each[k];
  }
  const double       x[N] = {3, 3, 3, 3}, v[N] = {2, 2, 2, 2};
  double             f[N];
  yoke_chain_kernel *kernel = make_kernel(&c);
  assert_int_equal(yoke_chain_kernel_force(kernel, 0, 0, x, v, f), YOKE_OK);
  for (int i = 0; i < N; ++i) assert_true(f[i] == 0.0);
  yoke_chain_kernel_destroy(&kernel);
}

/* ---- failures ---- */

static void overflowing_contact_is_recoverable(void **state) {
  (void)state;
  yoke_chain_load loads[1] = {on_mass(contact, 1)};
  yoke_chain      c        = uniform_chain(3);
  double          f[3];
  c.loads                   = loads;
  c.n_loads                 = 1;
  yoke_chain_kernel *kernel = make_kernel(&c);
  const double       v[3] = {0}, near[3] = {0, 349, 0}, far[3] = {0, 351, 0};
  assert_int_equal(yoke_chain_kernel_force(kernel, 0, 0, near, v, f), YOKE_OK);
  assert_int_equal(yoke_chain_kernel_force(kernel, 0, 0, far, v, f), YOKE_NON_FINITE);
  yoke_chain_kernel_destroy(&kernel);
}

static void non_finite_states_are_noticed_wherever_they_are(void **state) {
  (void)state;
  enum { N = 1027 };
  static const double bad[]   = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e200};
  static const int    where[] = {0, 1, 511, 512, 513, 1023, 1024, 1026};
  yoke_chain          c       = uniform_chain(N);
  yoke_equations      eq      = make_equations(&c, 0, 0, NULL);
  double              x[N] = {0}, v[N] = {0}, a[N];
  assert_int_equal(eq.ops->derivative(eq.self, NULL, 0, x, v, NULL, NULL, a, NULL), YOKE_OK);
  for (int k = 0; k < 32; ++k) {
    double *y       = k % 2 ? x : v;
    y[where[k / 4]] = bad[k % 4];
    assert_int_equal(eq.ops->derivative(eq.self, NULL, 0, x, v, NULL, NULL, a, NULL), YOKE_NON_FINITE);
    y[where[k / 4]] = 0;
  }
  yoke_equations_destroy(&eq);
}

static void impossible_chains_are_refused_with_a_message(void **state) {
  (void)state;
  yoke_chain      chains[10];
  yoke_chain_load loads[6] = {on_mass(harmonic, 5),      on_mass(harmonic, -1), on_mass(impulse, 0),
                              on_mass(modified_sine, 0), on_mass(contact, 0),   on_mass(harmonic, 0)};
  loads[2].rise            = 0;
  loads[3].power           = 4;
  loads[4].slope           = HUGE_VAL;
  loads[5].omega           = (double)NAN;
  for (int k = 0; k < 10; ++k) chains[k] = uniform_chain(5);
  chains[0].n               = 0;
  chains[1].mass.value      = -1;
  chains[2].stiffness.value = (double)NAN;
  chains[3].exponent_x      = 0;
  for (int k = 0; k < 6; ++k) {
    chains[4 + k].n_loads = 1;
    chains[4 + k].loads   = &loads[k];
  }
  for (int k = 0; k < 10; ++k) {
    yoke_context      *ctx;
    yoke_chain_kernel *kernel;
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    assert_int_equal(yoke_chain_kernel_create(ctx, &chains[k], &kernel), YOKE_E_MODEL);
    assert_null(kernel);
    assert_int_equal(yoke_context_n_errors(ctx), 1);
    yoke_context_destroy(&ctx);
  }
  yoke_equations   eq;
  const int        mass = 5;
  const yoke_chain c    = uniform_chain(5);
  assert_int_equal(yoke_chain_equations_create(NULL, &c, 0, 1, &mass, NULL, &eq), YOKE_E_MODEL);
}

/* ---- stages ---- */

enum { MAX_STAGES = 15 };

typedef struct stage_case {
  int     n, s;
  double  t, h, c;
  double  a[MAX_STAGES + 1], abar[MAX_STAGES + 1], e[MAX_STAGES + 1], ebar[MAX_STAGES + 1];
  double *q, *v, *A[MAX_STAGES];
} stage_case;

static stage_case make_stage(int n, int s) {
  uint64_t   seed = 21;
  stage_case k    = {.n = n, .s = s, .t = 0.31, .h = 0.013, .c = 0.3};
  for (int j = 0; j <= s; ++j) {
    k.a[j]    = random_unit(&seed);
    k.abar[j] = random_unit(&seed);
    k.e[j]    = random_unit(&seed);
    k.ebar[j] = random_unit(&seed);
  }
  if (s > 3) k.a[1] = k.abar[1] = k.e[1] = k.ebar[1] = 0.0; /* a term to leave out */
  k.q = random_array(n, 0, 1, &seed);
  k.v = random_array(n, 0, 1, &seed);
  for (int j = 0; j < s; ++j) k.A[j] = random_array(n, 0, 10, &seed);
  return k;
}

static void free_stage(stage_case *k) {
  test_free(k->q);
  test_free(k->v);
  for (int j = 0; j < k->s; ++j) test_free(k->A[j]);
}

/* Plain path: sums first, one mass after the other. */
static void plain_sums(const stage_case *k, double *X, double *V, double *EX, double *EV) {
  for (int i = 0; i < k->n; ++i) {
    double dx = k->h * k->c * k->v[i], dv = -0.0, ex = -0.0, ev = -0.0;
    for (int j = 0; j < k->s; ++j) {
      dx += k->h * k->h * k->abar[j] * k->A[j][i];
      dv += k->h * k->a[j] * k->A[j][i];
      ex += k->h * k->h * k->ebar[j] * k->A[j][i];
      ev += k->h * k->e[j] * k->A[j][i];
    }
    X[i]  = k->q[i] + dx;
    V[i]  = k->v[i] + dv;
    EX[i] = ex;
    EV[i] = ev;
  }
}

static double square(double x) {
  return x * x;
}

/* The documented order: lanes of mass i mod 8 in blocks of 512, lanes pairwise, blocks in index order. */
static double plain_error(const stage_case *k, const double *X, const double *V, const double *EX, const double *EV,
                          const double *a, double atol, double rtol) {
  double total = 0.0;
  for (int i0 = 0; i0 < k->n; i0 += 512) {
    double lane[8] = {0};
    for (int i = i0; i < k->n && i < i0 + 512; ++i) {
      const double eq = EX[i] + k->h * k->h * k->ebar[k->s] * a[i], ev = EV[i] + k->h * k->e[k->s] * a[i];
      lane[i % 8] += square(eq / (atol + rtol * fmax(fabs(k->q[i]), fabs(X[i])))) +
                     square(ev / (atol + rtol * fmax(fabs(k->v[i]), fabs(V[i]))));
    }
    total += ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
  return total;
}

static void check_stage(const yoke_equations *eq, int n, int s, const double *u) {
  stage_case   k    = make_stage(n, s);
  const size_t size = (size_t)n * sizeof(double);
  double      *array[9];
  for (int i = 0; i < 9; ++i) array[i] = test_malloc(size);
  double *X = array[0], *V = array[1], *a = array[2], *X1 = array[3], *V1 = array[4], *a1 = array[5], *a2 = array[6];
  double  sum;
  plain_sums(&k, X, V, array[7], array[8]);
  assert_int_equal(eq->ops->derivative(eq->self, NULL, k.t, X, V, u, NULL, a, NULL), YOKE_OK);
  assert_int_equal(eq->ops->stage(eq->self, NULL, k.t, k.h, k.c, s, k.a, k.abar, k.q, k.v, (const double *const *)k.A,
                                  u, NULL, NULL, a2, NULL, NULL, 0, 0, NULL),
                   YOKE_OK);
  assert_int_equal(eq->ops->stage(eq->self, NULL, k.t, k.h, k.c, s, k.a, k.abar, k.q, k.v, (const double *const *)k.A,
                                  u, X1, V1, a1, k.e, k.ebar, 1e-3, 1e-2, &sum),
                   YOKE_OK);
  const double expected = plain_error(&k, X, V, array[7], array[8], a, 1e-3, 1e-2);
  if (s <= 12) {
    assert_memory_equal(X, X1, size);
    assert_memory_equal(V, V1, size);
    assert_memory_equal(a, a1, size);
    assert_memory_equal(a, a2, size);
    assert_memory_equal(&sum, &expected, sizeof sum);
  } else { /* sums of more terms are taken in another order */
    assert_close(X1, X, n, 1e-14);
    assert_close(V1, V, n, 1e-14);
    assert_close(a1, a, n, 1e-13);
    assert_true(fabs(sum - expected) <= 1e-13 * expected);
  }
  for (int i = 0; i < 9; ++i) test_free(array[i]);
  free_stage(&k);
}

static void fused_stage_has_the_bits_of_the_plain_path(void **state) {
  (void)state;
  static const int sizes[]   = {1, 2, 3, 7, 8, 9, 17, 511, 512, 513, 1024, 1030};
  yoke_chain_load  loads[4]  = {on_mass(harmonic, 0), on_mass(contact, 0), on_mass(impulse, 0), on_mass(impulse, 0)};
  const double     inputs[3] = {1.5, -2.5, 4.0};
  for (int k = 0; k < 48; ++k) {
    const int  n         = sizes[k / 4];
    yoke_chain c         = k % 2 ? varied_chain(n) : uniform_chain(n);
    const int  masses[3] = {n - 1, 0, n / 2};
    loads[1].mass = loads[2].mass = n / 2;
    loads[3].mass                 = n - 1;
    c.loads                       = loads;
    c.n_loads                     = k % 4 < 2 ? 4 : 0;
    yoke_equations eq             = make_equations(&c, 1.25, 3, masses);
    for (int s = 0; s <= MAX_STAGES; s += n < 100 ? 1 : 5) check_stage(&eq, n, s, inputs);
    yoke_equations_destroy(&eq);
    free_chain(&c);
  }
}

/* Three stages, each using the accelerations of those before it; the last one with error. */
static void sweep_has_the_bits_of_single_stages(void **state) {
  (void)state;
  static const int sizes[] = {1, 5, 512, 513, 1024, 1025, 2600};
  for (int k = 0; k < 7; ++k) {
    const int       n     = sizes[k];
    yoke_chain_load load  = on_mass(impulse, n - 1);
    yoke_chain      c     = varied_chain(n);
    c.loads               = &load;
    c.n_loads             = 1;
    yoke_equations eq     = make_equations(&c, 1.25, 1, &(int){n / 2});
    stage_case     r      = make_stage(n, 4);
    const size_t   size   = (size_t)n * sizeof(double);
    double        *one[3] = {r.A[1], r.A[2], r.A[3]}, *all[4], *X = test_malloc(size), *V = test_malloc(size);
    double         sum[2], u[3] = {1, 2, 3};
    yoke_stage     stages[3];
    for (int i = 0; i < 4; ++i) all[i] = test_malloc(size);
    memcpy(all[0], r.A[0], size);
    for (int i = 0; i < 3; ++i) {
      const bool last = i == 2;
      stages[i]       = (yoke_stage){.t     = 0.2 + 0.1 * i,
                                     .h     = 0.01,
                                     .c     = 0.5,
                                     .s     = i + 1,
                                     .a     = r.a,
                                     .abar  = r.abar,
                                     .q     = r.q,
                                     .v     = r.v,
                                     .A     = (const double *const *)all,
                                     .u     = &u[i],
                                     .X_out = last ? X : NULL,
                                     .V_out = last ? V : NULL,
                                     .out   = all[i + 1],
                                     .e     = last ? r.e : NULL,
                                     .ebar  = last ? r.ebar : NULL,
                                     .atol  = 1e-3,
                                     .rtol  = 1e-3};
      assert_int_equal(eq.ops->stage(eq.self, NULL, 0.2 + 0.1 * i, 0.01, 0.5, i + 1, r.a, r.abar, r.q, r.v,
                                     (const double *const *)r.A, &u[i], NULL, NULL, one[i], stages[i].e, stages[i].ebar,
                                     1e-3, 1e-3, &sum[0]),
                       YOKE_OK);
    }
    assert_int_equal(eq.ops->sweep(eq.self, NULL, NULL, 3, stages, &sum[1]), YOKE_OK);
    for (int i = 0; i < 3; ++i) assert_memory_equal(one[i], all[i + 1], size);
    assert_memory_equal(&sum[0], &sum[1], sizeof *sum);
    for (int i = 0; i < 4; ++i) test_free(all[i]);
    test_free(X);
    test_free(V);
    free_stage(&r);
    yoke_equations_destroy(&eq);
    free_chain(&c);
  }
}

/* Some inputs change at one state: only the masses that feel them are evaluated again. */
static void check_reinput(const yoke_chain *c, int n_inputs, const int *masses) {
  static const double before[4] = {1.5, -2.5, 4.0, 0.25}, after[4] = {1.25, 7.5, -4.0, 0.125};
  uint64_t            seed = 8;
  const size_t        size = (size_t)c->n * sizeof(double);
  double *x = random_array(c->n, 0, 0.5, &seed), *v = random_array(c->n, 0, 0.5, &seed), *a = test_malloc(size),
         *expected  = test_malloc(size);
  yoke_equations eq = make_equations(c, 1.25, n_inputs, masses);
  assert_int_equal(eq.ops->derivative(eq.self, NULL, 0.3, x, v, before, NULL, a, NULL), YOKE_OK);
  assert_int_equal(eq.ops->derivative(eq.self, NULL, 0.3, x, v, after, NULL, expected, NULL), YOKE_OK);
  assert_memory_not_equal(a, expected, size);
  assert_int_equal(eq.ops->reinput(eq.self, 0.3, x, v, after, a), YOKE_OK);
  assert_memory_equal(a, expected, size);
  yoke_equations_destroy(&eq);
  test_free(x);
  test_free(v);
  test_free(a);
  test_free(expected);
}

static void other_inputs_at_one_state_give_the_bits_of_a_new_evaluation(void **state) {
  (void)state;
  static const int    sizes[]     = {1, 2, 3, 10, 600, 1025};
  static const double exponents[] = {3.0, 2.0, 2.5, 1.7};
  for (int k = 0; k < 6 * 2 * 5 * 3; ++k) {
    const int       n = sizes[k / 30], law = k / 6 % 5;
    yoke_chain      c         = k % 2 ? varied_chain(n) : uniform_chain(n);
    const int       masses[4] = {n - 1, 0, n / 2, n / 2};
    yoke_chain_load loads[6]  = {on_mass(impulse, 0),     on_mass(impulse, n > 3 ? 1 : 0),
                                 on_mass(impulse, n / 2), on_mass(impulse, n - 1),
                                 on_mass(contact, n / 2), on_mass(harmonic, n > 3 ? 2 : 0)};
    c.exponent_x = c.exponent_v = exponents[law < 4 ? law : 0];
    if (law == 4) {
      free_chain(&c);
      c.stiffness_power.value = c.damping_power.value = 0.0; /* linear */
    }
    c.loads   = loads;
    c.n_loads = k / 2 % 3 == 0 ? 0 : k / 2 % 3 == 1 ? 4 : 6; /* none; one shape; several */
    check_reinput(&c, 4, masses);
    free_chain(&c);
  }
}

static void error_of_a_mass_at_rest_is_zero_without_absolute_tolerance(void **state) {
  (void)state;
  const yoke_chain c        = uniform_chain(20);
  yoke_equations   eq       = make_equations(&c, 0, 0, NULL);
  double           zero[20] = {0}, out[20], sum = -1;
  const double    *A[1] = {zero}, one[2] = {1, 1};
  assert_int_equal(eq.ops->stage(eq.self, NULL, 0, 0.1, 1, 1, one, one, zero, zero, A, NULL, NULL, NULL, out, one, one,
                                 0, 1e-6, &sum),
                   YOKE_OK);
  assert_true(sum == 0.0);
  yoke_equations_destroy(&eq);
}

static void overflowing_error_is_recoverable(void **state) {
  (void)state;
  const yoke_chain c        = uniform_chain(20);
  yoke_equations   eq       = make_equations(&c, 0, 0, NULL);
  double           zero[20] = {0}, big[20] = {0}, out[20], sum = -1;
  big[7]             = 1e250;
  const double *A[1] = {big}, none[2] = {0, 0}, one[2] = {1, 1};
  assert_int_equal(eq.ops->stage(eq.self, NULL, 0, 0.1, 1, 1, none, none, zero, zero, A, NULL, NULL, NULL, out, one,
                                 one, 1e-6, 1e-6, &sum),
                   YOKE_NON_FINITE);
  yoke_equations_destroy(&eq);
}

/* ---- derivatives ---- */

enum { SMALL = 9 };

/* Chain of SMALL masses with contacts and a load, some exponents; `loads` must live as long. */
static yoke_chain small_chain(yoke_chain_load loads[3], double exponent) {
  yoke_chain c = varied_chain(SMALL);
  loads[0]     = on_mass(contact, 2);
  loads[1]     = on_mass(harmonic, 2);
  loads[2]     = on_mass(contact, SMALL - 1);
  c.loads      = loads;
  c.n_loads    = 3;
  c.exponent_x = exponent;
  return c;
}

static void force_jacobian_agrees_with_finite_differences(void **state) {
  (void)state;
  static const double exponents[] = {3, 4, 2.5};
  for (int k = 0; k < 3; ++k) {
    yoke_chain_load    loads[3];
    uint64_t           seed   = 2;
    yoke_chain         c      = small_chain(loads, exponents[k]);
    yoke_chain_kernel *kernel = make_kernel(&c);
    double            *x = random_array(SMALL, 0, 1, &seed), *v = random_array(SMALL, 0, 1, &seed);
    double             J[6][SMALL];
    yoke_chain_kernel_jacobian(kernel, 0.3, x, v, J[0], J[1], J[2], J[3], J[4], J[5]);
    for (int part = 0; part < 2; ++part) {
      double *y = part == 0 ? x : v;
      for (int j = 0; j < SMALL; ++j) {
        const double step = 1e-5, y0 = y[j];
        double       plus[SMALL], minus[SMALL];
        y[j] = y0 + step;
        assert_int_equal(yoke_chain_kernel_force(kernel, 0.3, 0, x, v, plus), YOKE_OK);
        y[j] = y0 - step;
        assert_int_equal(yoke_chain_kernel_force(kernel, 0.3, 0, x, v, minus), YOKE_OK);
        y[j] = y0;
        for (int i = 0; i < SMALL; ++i) {
          const double slope    = (plus[i] - minus[i]) / (2 * step);
          const double expected = i == j       ? J[3 * part + 1][i]
                                  : i == j + 1 ? J[3 * part][i]
                                  : i == j - 1 ? J[3 * part + 2][i]
                                               : 0.0;
          assert_true(fabs(slope - expected) < 2e-6 * 300);
        }
      }
    }
    yoke_chain_kernel_destroy(&kernel);
    test_free(x);
    test_free(v);
    free_chain(&c);
  }
}

static void check_dae(yoke_dae_form form) {
  yoke_chain_load loads[3];
  uint64_t        seed = 4;
  yoke_chain      c    = small_chain(loads, 3);
  const int       mass = 4;
  const double    u    = 1.5;
  yoke_equations  eq   = make_equations(&c, -9.81, 1, &mass);
  yoke_dae       *dae;
  assert_int_equal(eq.ops->dae_create(eq.self, NULL, form, &dae), YOKE_OK);
  const int nx = dae->nx, nnz = dae->pattern->nnz;
  double   *x = random_array(nx, 0, 1, &seed), *plus = random_array(nx, 0, 1, &seed),
         *minus = random_array(nx, 0, 1, &seed);
  double *J = random_array(nnz, 0, 1, &seed), *dense = random_array(nx * nx, 0, 0, &seed);
  assert_int_equal(eq.ops->dae_jacobian(eq.self, dae, NULL, 0.3, x, &u, J), YOKE_OK);
  for (int j = 0; j < nx; ++j) {
    for (int k = dae->pattern->col_start[j]; k < dae->pattern->col_start[j + 1]; ++k) {
      dense[dae->pattern->row[k] * nx + j] = J[k];
      assert_true(dae->R[k] == 0.0);
      if (dae->pattern->row[k] != j) assert_true(dae->E[k] == 0.0);
    }
  }
  for (int j = 0; j < nx; ++j) {
    const double step = 1e-5, x0 = x[j];
    x[j] = x0 + step;
    assert_int_equal(eq.ops->dae_rhs(eq.self, dae, NULL, 0.3, x, &u, plus), YOKE_OK);
    x[j] = x0 - step;
    assert_int_equal(eq.ops->dae_rhs(eq.self, dae, NULL, 0.3, x, &u, minus), YOKE_OK);
    x[j] = x0;
    for (int i = 0; i < nx; ++i) assert_true(fabs((plus[i] - minus[i]) / (2 * step) - dense[i * nx + j]) < 1e-6 * 300);
  }
  double *const all[5] = {x, plus, minus, J, dense};
  for (int k = 0; k < 5; ++k) test_free(all[k]);
  yoke_dae_destroy(&dae);
  yoke_equations_destroy(&eq);
  free_chain(&c);
}

static void implicit_jacobian_agrees_with_finite_differences(void **state) {
  (void)state;
  check_dae(YOKE_DAE_GGL);
  check_dae(YOKE_DAE_INDEX1);
}

/* With x' from the ordinary view, E x' = F and (INDEX1) the algebraic rows vanish. */
static void implicit_and_ordinary_view_agree(void **state) {
  (void)state;
  for (int form = 0; form < 2; ++form) {
    yoke_chain_load loads[3];
    uint64_t        seed = 4;
    yoke_chain      c    = small_chain(loads, 3);
    yoke_equations  eq   = make_equations(&c, -9.81, 0, NULL);
    yoke_dae       *dae;
    assert_int_equal(eq.ops->dae_create(eq.self, NULL, form == 0 ? YOKE_DAE_GGL : YOKE_DAE_INDEX1, &dae), YOKE_OK);
    double *x = random_array(3 * SMALL, 0, 1, &seed), F[3 * SMALL], xdot[3 * SMALL] = {0}, Ex[3 * SMALL];
    assert_int_equal(eq.ops->derivative(eq.self, NULL, 0.3, x, x + SMALL, NULL, xdot, xdot + SMALL, NULL), YOKE_OK);
    memcpy(x + 2 * SMALL, xdot + SMALL, SMALL * sizeof *x);
    assert_int_equal(eq.ops->dae_rhs(eq.self, dae, NULL, 0.3, x, NULL, F), YOKE_OK);
    yoke_sparse_multiply(dae->pattern, dae->E, xdot, Ex);
    for (int i = 0; i < dae->nx; ++i) assert_true(fabs(Ex[i] - F[i]) < 1e-12 * 100);
    test_free(x);
    yoke_dae_destroy(&dae);
    yoke_equations_destroy(&eq);
    free_chain(&c);
  }
}

/* Sums that cost little tell the powers, and how they change. */
static void losses_are_the_powers_and_their_rate(void **state) {
  (void)state;
  static const double exponents[] = {3, 6, 1.5};
  for (int k = 0; k < 3; ++k) {
    yoke_chain_load loads[3];
    uint64_t        seed = 6;
    yoke_chain      c    = small_chain(loads, exponents[k]);
    yoke_equations  eq   = make_equations(&c, -9.81, 0, NULL);
    double         *x = random_array(SMALL, 0, 1, &seed), *v = random_array(SMALL, 0, 1, &seed);
    double         *a = random_array(SMALL, 0, 1, &seed), v_loaded[3], near[2], lost, rate, loss, supply, none;
    int             n;
    const int      *list = eq.ops->loaded(eq.self, &n);
    assert_true(n > 0 && n <= 3);
    for (int i = 0; i < n; ++i) v_loaded[i] = v[list[i]];
    eq.ops->powers(eq.self, NULL, 0.3, x, v, NULL, &loss, &supply);
    eq.ops->losses(eq.self, v, a, &lost, &rate);
    assert_true(loss > 0.0 && fabs(lost - loss) < 1e-13 * loss);
    eq.ops->losses(eq.self, v, NULL, &near[0], &none);
    assert_true(near[0] == lost);
    eq.ops->load_powers(eq.self, YOKE_ALL_LOADS, 1, (const double[]){0.3}, v_loaded, &near[0]);
    assert_true(fabs(near[0] - supply) < 1e-13 * fabs(supply));
    uint64_t acting;
    assert_int_equal(eq.ops->loading(eq.self, 0.3, &none, &acting), YOKE_LOADS_VARY);
    for (int side = 0; side < 2; ++side) {
      double v1[SMALL];
      for (int i = 0; i < SMALL; ++i) v1[i] = v[i] + (side == 0 ? -1e-6 : 1e-6) * a[i];
      eq.ops->losses(eq.self, v1, a, &near[side], &none);
    }
    assert_true(fabs((near[1] - near[0]) / 2e-6 - rate) < 1e-6 * fabs(loss));
    yoke_equations_destroy(&eq);
    test_free(x);
    test_free(v);
    test_free(a);
    free_chain(&c);
  }
}

/* Of an impulse from 1 to 1.5 s whose edges take some hundredths: before, on its edges, between them, behind; and until when. */
static void loads_are_none_steady_or_vary(void **state) {
  static const struct {
    double       t, until;
    yoke_loading loading;
  } times[] = {{0.0, 0.98, YOKE_LOADS_NONE},   {0.99, 1.02, YOKE_LOADS_VARY}, {1.01, 1.02, YOKE_LOADS_VARY},
               {1.1, 1.48, YOKE_LOADS_STEADY}, {1.5, 1.52, YOKE_LOADS_VARY},  {1.7, (double)INFINITY, YOKE_LOADS_NONE}};
  (void)state;
  yoke_chain_load load = {
      .kind = YOKE_CHAIN_IMPULSE, .amplitude = 2.0, .time = 1.0, .width = 0.5, .rise = 2e-3, .mass = 1};
  yoke_chain c      = varied_chain(SMALL);
  double     until  = 0.0;
  uint64_t   acting = 0;
  c.loads           = &load;
  c.n_loads         = 1;
  yoke_equations eq = make_equations(&c, -9.81, 0, NULL);
  for (size_t i = 0; i < sizeof times / sizeof times[0]; ++i) {
    assert_int_equal(eq.ops->loading(eq.self, times[i].t, &until, &acting), times[i].loading);
    assert_true(until == times[i].until || fabs(until - times[i].until) < 1e-12);
    assert_true(acting == (times[i].loading == YOKE_LOADS_NONE ? 0 : 1));
  }
  yoke_equations_destroy(&eq);
  load.width = 0.03; /* its edges overlap */
  eq         = make_equations(&c, -9.81, 0, NULL);
  assert_int_equal(eq.ops->loading(eq.self, 1.015, &until, &acting), YOKE_LOADS_VARY);
  assert_true(fabs(until - 1.05) < 1e-12);
  yoke_equations_destroy(&eq);
  load = on_mass(harmonic, 1);
  eq   = make_equations(&c, -9.81, 0, NULL);
  assert_int_equal(eq.ops->loading(eq.self, 0.3, &until, &acting), YOKE_LOADS_VARY);
  assert_true(until == (double)INFINITY);
  yoke_equations_destroy(&eq);
  load.omega = 0.0;
  eq         = make_equations(&c, -9.81, 0, NULL);
  assert_int_equal(eq.ops->loading(eq.self, 0.3, &until, &acting), YOKE_LOADS_STEADY);
  yoke_equations_destroy(&eq);
  c.loads   = NULL;
  c.n_loads = 0;
  free_chain(&c);
}

/* Narrow pulses, of which others come and go: those that are said not to act have no power until then, and it is told of each when it does. */
static void pulses_that_do_not_act_have_no_power(void **state) {
  (void)state;
  yoke_chain_load loads[3];
  yoke_chain      c = varied_chain(SMALL);
  for (int k = 0; k < 3; ++k) {
    loads[k] = (yoke_chain_load){.kind      = YOKE_CHAIN_MODIFIED_SINE,
                                 .amplitude = 1.0,
                                 .omega     = k == 1 ? -7.0 : 3.0 + k,
                                 .phase     = 0.4 * k,
                                 .power     = 95.0,
                                 .mass      = 3 + k};
  }
  c.loads                      = loads;
  c.n_loads                    = 3;
  yoke_equations eq            = make_equations(&c, 0.0, 0, NULL);
  const double   v[3]          = {1.0, -2.0, 3.0};
  int            n_changes[3]  = {0};
  uint64_t       acting_before = 0;
  for (double t = 0.0, until; t < 6.0; t = until) {
    uint64_t           acting;
    const yoke_loading loading = eq.ops->loading(eq.self, t, &until, &acting);
    assert_true(until > t && until < t + 1.0);
    assert_int_equal(loading, acting != 0 ? YOKE_LOADS_VARY : YOKE_LOADS_NONE);
    for (int i = 0; i <= 20; ++i) {
      const double at = t + i * (until - t) / 20;
      double       all, some;
      eq.ops->load_powers(eq.self, YOKE_ALL_LOADS, 1, &at, v, &all);
      eq.ops->load_powers(eq.self, acting, 1, &at, v, &some);
      assert_true(fabs(all - some) < 2.1e-9 * 6.0);
    }
    for (int k = 0; k < 3; ++k) n_changes[k] += (int)(((acting ^ acting_before) >> k) & 1u);
    acting_before = acting;
  }
  for (int k = 0; k < 3; ++k) /* two per half turn */
    assert_true(fabs(n_changes[k] - 2.0 * 6.0 * fabs(loads[k].omega) / 3.14159265) <= 2.0);
  yoke_equations_destroy(&eq);
  c.loads   = NULL;
  c.n_loads = 0;
  free_chain(&c);
}

/* At several times at once, before, on and between its edges. */
static void powers_of_an_impulse_follow_its_edges(void **state) {
  (void)state;
  yoke_chain_load load = {
      .kind = YOKE_CHAIN_IMPULSE, .amplitude = 2.0, .time = 1.0, .width = 0.03, .rise = 2e-3, .mass = 1};
  yoke_chain c      = varied_chain(SMALL);
  c.loads           = &load;
  c.n_loads         = 1;
  yoke_equations eq = make_equations(&c, 0.0, 0, NULL);
  for (double t = 0.97; t < 1.06; t += 1.7e-3) {
    const double times[3] = {t, t + 4e-4, t + 1.1e-3}, v[3] = {1.0, 0.5, -3.0};
    double       power[3];
    eq.ops->load_powers(eq.self, YOKE_ALL_LOADS, 3, times, v, power);
    for (int i = 0; i < 3; ++i) {
      const double x = (times[i] - 1.0) / 2e-3, y = x - 15.0;
      const bool   has_both = fabs(x) < 9.0 && fabs(y) < 9.0; /* edges nearby: none of them is taken as flat */
      assert_true(fabs(power[i] - v[i] * (tanh(x) - tanh(y))) < (has_both ? 1e-14 : 4.2e-9) * fabs(v[i]));
    }
  }
  yoke_equations_destroy(&eq);
  c.loads   = NULL;
  c.n_loads = 0;
  free_chain(&c);
}

/* d(T + U)/dt along the motion equals supplied minus dissipated power. */
static void energy_changes_by_the_power_of_loads_and_dampers(void **state) {
  (void)state;
  static const double exponents[] = {3, 6, 1.5};
  for (int k = 0; k < 3; ++k) {
    yoke_chain_load loads[3];
    uint64_t        seed = 6;
    yoke_chain      c    = small_chain(loads, exponents[k]);
    yoke_equations  eq   = make_equations(&c, -9.81, 0, NULL);
    double         *x = random_array(SMALL, 0, 1, &seed), *v = random_array(SMALL, 0, 1, &seed), a[SMALL];
    assert_int_equal(eq.ops->derivative(eq.self, NULL, 0.3, x, v, NULL, NULL, a, NULL), YOKE_OK);
    double loss, supply, T, U, E[2];
    yoke_chain_kernel_energy(yoke_chain_equations_kernel(&eq), -9.81, x, v, &T, &U);
    yoke_chain_kernel_powers(yoke_chain_equations_kernel(&eq), 0.3, x, v, &loss, &supply);
    assert_true(T > 0 && loss > 0);
    for (int side = 0; side < 2; ++side) {
      const double step = side == 0 ? -1e-6 : 1e-6;
      double       x1[SMALL], v1[SMALL];
      yoke_energy  energy;
      for (int i = 0; i < SMALL; ++i) {
        x1[i] = x[i] + step * v[i];
        v1[i] = v[i] + step * a[i];
      }
      eq.ops->energy(eq.self, NULL, 0.3, x1, v1, &energy);
      E[side] = energy.kinetic + energy.potential;
    }
    assert_true(fabs((E[1] - E[0]) / 2e-6 - (supply - loss)) < 1e-6 * fabs(loss));
    yoke_equations_destroy(&eq);
    test_free(x);
    test_free(v);
    free_chain(&c);
  }
}

/* ---- linear systems ---- */

static void linear_matrices_reproduce_the_accelerations(void **state) {
  (void)state;
  enum { N = 5, SIZE = 2 * N };
  uint64_t        seed    = 8;
  yoke_chain      c       = varied_chain(N);
  yoke_chain_load load    = {.kind = YOKE_CHAIN_HARMONIC, .mass = 3, .amplitude = 2, .omega = 0, .phase = 1};
  const int       mass[2] = {4, 1};
  const double    u[2]    = {0.7, -0.2};
  c.exponent_x            = 1; /* the power law is linear then */
  c.loads                 = &load;
  c.n_loads               = 1;
  for (int e = 0; e <= N; ++e) c.damping_power.each[e] = 0.0;
  yoke_equations eq = make_equations(&c, 9.81, 2, mass);
  double         A[SIZE * SIZE], B[SIZE * 2], b[SIZE], a[N], rate[SIZE];
  double        *y = random_array(SIZE, 0, 1, &seed);
  assert_int_equal(eq.ops->linear(eq.self, NULL, NULL, NULL, NULL), YOKE_OK);
  assert_int_equal(eq.ops->linear(eq.self, NULL, A, B, b), YOKE_OK);
  assert_int_equal(eq.ops->derivative(eq.self, NULL, 0.4, y, y + N, u, NULL, a, NULL), YOKE_OK);
  for (int i = 0; i < SIZE; ++i) {
    rate[i] = b[i] + B[2 * i] * u[0] + B[2 * i + 1] * u[1];
    for (int j = 0; j < SIZE; ++j) rate[i] += A[i * SIZE + j] * y[j];
  }
  assert_memory_equal(rate, y + N, N * sizeof *y);
  assert_close(rate + N, a, N, 1e-14);
  test_free(y);
  yoke_equations_destroy(&eq);
  free_chain(&c);
}

static void nonlinear_or_driven_chains_are_not_linear(void **state) {
  (void)state;
  yoke_chain_load loads[2] = {on_mass(contact, 0), on_mass(harmonic, 0)};
  for (int k = 0; k < 4; ++k) {
    yoke_chain c            = uniform_chain(3);
    c.damping_power.value   = 0;
    c.stiffness_power.value = k == 0 ? 1 : 0;
    c.n_loads               = k == 1 || k == 2 ? 1 : 0;
    c.loads                 = &loads[k == 2];
    yoke_equations eq       = make_equations(&c, 0, 0, NULL);
    assert_int_equal(eq.ops->linear(eq.self, NULL, NULL, NULL, NULL), k == 3 ? YOKE_OK : YOKE_E_UNSUPPORTED);
    yoke_equations_destroy(&eq);
  }
}

/* Of many small parts every cache line counts. */
static void equal_chains_share_elements_and_inputs(void **state) {
  const yoke_chain chains[] = {uniform_chain(10), uniform_chain(10), uniform_chain(12)};
  const int        masses[] = {0, 9};
  yoke_equations   e[3];
  yoke_context    *ctx = NULL;
  yoke_pool       *pool;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  for (int i = 0; i < 3; ++i)
    assert_int_equal(yoke_chain_equations_create(ctx, &chains[i], 0, i < 2 ? 2 : 1, masses, NULL, &e[i]), YOKE_OK);
  yoke_pool_close(pool, ctx);
  const yoke_chain_kernel *a = e[0].self, *b = e[1].self, *c = e[2].self;
  assert_ptr_equal(a->elements, b->elements);
  assert_ptr_equal(a->elements, c->elements);
  assert_ptr_equal(a->inputs, b->inputs);
  assert_ptr_not_equal(a->inputs, c->inputs);
  for (int i = 0; i < 3; ++i) yoke_equations_destroy(&e[i]);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_exponent_follows_the_power_law),
      cmocka_unit_test(linear_chain_follows_the_law),
      cmocka_unit_test(loads_follow_their_formulas),
      cmocka_unit_test(loads_may_come_in_any_order),
      cmocka_unit_test(loads_without_amplitude_are_no_loads),
      cmocka_unit_test(sines_agree_with_the_c_library),
      cmocka_unit_test(loads_have_the_bits_that_they_have_alone),
      cmocka_unit_test(arrays_of_equal_numbers_give_the_bits_of_one_number),
      cmocka_unit_test(free_ends_give_the_bits_of_elements_of_zero),
      cmocka_unit_test(free_end_feels_no_ground),
      cmocka_unit_test(overflowing_contact_is_recoverable),
      cmocka_unit_test(non_finite_states_are_noticed_wherever_they_are),
      cmocka_unit_test(impossible_chains_are_refused_with_a_message),
      cmocka_unit_test(fused_stage_has_the_bits_of_the_plain_path),
      cmocka_unit_test(sweep_has_the_bits_of_single_stages),
      cmocka_unit_test(other_inputs_at_one_state_give_the_bits_of_a_new_evaluation),
      cmocka_unit_test(error_of_a_mass_at_rest_is_zero_without_absolute_tolerance),
      cmocka_unit_test(overflowing_error_is_recoverable),
      cmocka_unit_test(force_jacobian_agrees_with_finite_differences),
      cmocka_unit_test(implicit_jacobian_agrees_with_finite_differences),
      cmocka_unit_test(implicit_and_ordinary_view_agree),
      cmocka_unit_test(energy_changes_by_the_power_of_loads_and_dampers),
      cmocka_unit_test(losses_are_the_powers_and_their_rate),
      cmocka_unit_test(loads_are_none_steady_or_vary),
      cmocka_unit_test(pulses_that_do_not_act_have_no_power),
      cmocka_unit_test(powers_of_an_impulse_follow_its_edges),
      cmocka_unit_test(linear_matrices_reproduce_the_accelerations),
      cmocka_unit_test(nonlinear_or_driven_chains_are_not_linear),
      cmocka_unit_test(equal_chains_share_elements_and_inputs),
      cmocka_unit_test(impulses_are_felt_from_their_first_to_their_last_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
