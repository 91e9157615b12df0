/* Where the two-mass models become unstable, and how many points of a grid are stable, against the method specification (Li 8.3, 8.4). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "tags.h"

static const double stable = 1.0 + 1e-9;

/* ---- onset along the imaginary axis ---- */

#define NONE INFINITY

typedef struct line {
  char                    family;
  const yoke_test_method *method;
  const double           *ratios;
  double                  re;
} line;

static yoke_status radius_on(const void *user, double im, double *rho) {
  const line *l = user;
  *rho          = radius_at(l->family, l->method, l->re, im, l->ratios);
  return *rho < 0.0 ? YOKE_E_INTERNAL : YOKE_OK;
}

typedef struct limit_row {
  const char   *decomposition;
  char          family;
  int           order;
  const double *ratios;
  double        onset[4]; /* at re = -0.05, -0.2, -0.5, -1; 0: from the start */
} limit_row;

static const limit_row limits[] = {
    {"FF", 'E', 0, symmetrical, {0.5478, 1.0982, 0.5130, 0.0000}},
    {"FF", 'E', 1, symmetrical, {0.6725, 1.0580, 0.0000, 0.0000}},
    {"FF", 'E', 2, symmetrical, {0.7522, 0.0000, 0.0000, 0.0000}},
    {"FF", 'E', 3, symmetrical, {0.7303, 0.0000, 0.0000, 0.0000}},
    {"FD", 'E', 0, symmetrical, {0.6382, 1.3165, 1.2520, 0.0000}},
    {"FD", 'E', 1, symmetrical, {0.7208, 1.1460, 0.0000, 0.0000}},
    {"FD", 'E', 2, symmetrical, {0.7936, 0.0000, 0.0000, 0.0000}},
    {"FD", 'E', 3, symmetrical, {0.7765, 0.0000, 0.0000, 0.0000}},
    {"DD", 'E', 0, symmetrical, {0.8025, 1.8170, 1.9041, NONE}},
    {"DD", 'E', 1, symmetrical, {0.8229, 1.3948, 0.6702, 0.0000}},
    {"DD", 'E', 2, symmetrical, {0.8478, 1.2440, 0.0000, 0.0000}},
    {"DD", 'E', 3, symmetrical, {0.7874, 0.0000, 0.0000, 0.0000}},
    {"FF", 'O', 0, symmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", 'O', 1, symmetrical, {1.9383, 1.9931, NONE, NONE}},
    {"FF", 'O', 2, symmetrical, {1.2506, 1.7893, 1.7670, NONE}},
    {"FF", 'O', 3, symmetrical, {1.1299, 1.6308, 1.2926, 1.1521}},
    {"FF", 'D', 0, symmetrical, {6.2715, NONE, 6.1388, 5.9304}},
    {"FF", 'D', 1, symmetrical, {9.0714, 9.1444, 9.2472, NONE}},
    {"FF", 'D', 2, symmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", 'I', 0, symmetrical, {9.0714, 9.1444, 9.2472, NONE}},
    {"FF", 'I', 1, symmetrical, {3.8714, 3.8979, 4.0562, NONE}},
    {"FF", 'I', 2, symmetrical, {4.1650, 4.1925, 4.3599, NONE}},
    {"FD", 'O', 0, symmetrical, {0.6683, 2.2111, NONE, NONE}},
    {"FD", 'O', 1, symmetrical, {1.9137, 2.3838, NONE, NONE}},
    {"FD", 'O', 2, symmetrical, {1.4462, 1.8536, NONE, NONE}},
    {"FD", 'O', 3, symmetrical, {1.2185, 1.6907, 1.6178, NONE}},
    {"FD", 'D', 0, symmetrical, {0.6303, 1.3224, 2.1269, 5.4641}},
    {"FD", 'D', 1, symmetrical, {2.1549, 2.2239, 9.4566, NONE}},
    {"FD", 'D', 2, symmetrical, {1.9257, 2.4838, NONE, NONE}},
    {"FD", 'I', 0, symmetrical, {1.8175, 2.7749, 9.3803, NONE}},
    {"FD", 'I', 1, symmetrical, {3.0301, 3.9081, NONE, NONE}},
    {"FD", 'I', 2, symmetrical, {3.0417, 4.7277, NONE, NONE}},
    {"DD", 'O', 0, symmetrical, {0.4605, 1.0428, 1.9041, NONE}},
    {"DD", 'O', 1, symmetrical, {1.8914, 2.3386, NONE, NONE}},
    {"DD", 'O', 2, symmetrical, {1.7390, 1.9766, NONE, NONE}},
    {"DD", 'O', 3, symmetrical, {1.3650, 1.7646, NONE, NONE}},
    {"DD", 'D', 0, symmetrical, {0.4463, 0.9160, 1.6808, NONE}},
    {"DD", 'D', 1, symmetrical, {1.9025, 2.1433, 2.2378, NONE}},
    {"DD", 'D', 2, symmetrical, {1.8489, 2.3970, NONE, NONE}},
    {"DD", 'I', 0, symmetrical, {1.5837, 2.3625, 2.4345, 3.9757}},
    {"DD", 'I', 1, symmetrical, {2.8867, 3.8636, NONE, NONE}},
    {"DD", 'I', 2, symmetrical, {2.8911, 4.0646, NONE, NONE}},
    {"FF", 'O', 0, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", 'O', 1, unsymmetrical, {0.2425, 0.2283, 0.0000, 0.0000}},
    {"FF", 'O', 2, unsymmetrical, {0.1908, 0.0000, 0.0000, 0.0000}},
    {"FF", 'O', 3, unsymmetrical, {0.1362, 0.0000, 0.0000, 0.0000}},
    {"FF", 'D', 0, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", 'D', 1, unsymmetrical, {8.9909, 9.0095, 9.1197, 9.6335}},
    {"FF", 'D', 2, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", 'I', 0, unsymmetrical, {8.9909, 9.0095, 9.1197, 9.6335}},
    {"FF", 'I', 1, unsymmetrical, {0.4700, 0.5072, 0.4000, 0.0000}},
    {"FF", 'I', 2, unsymmetrical, {0.5182, 0.5786, 0.4795, 0.0000}},
    {"FD", 'O', 0, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FD", 'O', 1, unsymmetrical, {0.2507, 0.2298, 0.0000, 0.0000}},
    {"FD", 'O', 2, unsymmetrical, {0.1930, 0.0000, 0.0000, 0.0000}},
    {"FD", 'O', 3, unsymmetrical, {0.1384, 0.0000, 0.0000, 0.0000}},
    {"FD", 'D', 0, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FD", 'D', 1, unsymmetrical, {8.9909, 9.0096, 9.1202, 9.6373}},
    {"FD", 'D', 2, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FD", 'I', 0, unsymmetrical, {8.9905, 9.0080, 9.1155, 9.6218}},
    {"FD", 'I', 1, unsymmetrical, {0.4730, 0.5234, 0.4221, 0.0000}},
    {"FD", 'I', 2, unsymmetrical, {0.6029, 0.5914, 0.4953, 0.0000}},
    {"DD", 'O', 0, unsymmetrical, {4.8895, NONE, NONE, NONE}},
    {"DD", 'O', 1, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"DD", 'O', 2, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"DD", 'O', 3, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"DD", 'D', 0, unsymmetrical, {2.5508, NONE, NONE, NONE}},
    {"DD", 'D', 1, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"DD", 'D', 2, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"DD", 'I', 0, unsymmetrical, {0.3018, NONE, NONE, NONE}},
    {"DD", 'I', 1, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"DD", 'I', 2, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '2', 1, symmetrical, {8.9881, 9.0075, 9.1212, 9.6563}},
    {"FF", '2', 1, unsymmetrical, {8.9885, 9.0079, 9.1217, 9.6576}},
    {"FF", '2', 0, symmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '2', 0, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '2', 2, symmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '2', 2, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '1', 0, symmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '1', 0, unsymmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '1', 1, symmetrical, {NONE, NONE, NONE, NONE}},
    {"FF", '1', 1, unsymmetrical, {NONE, NONE, NONE, NONE}},
};

static void onsets_of_instability_are_the_specified_ones(void **state) {
  (void)state;
  static const double re[4] = {-0.05, -0.2, -0.5, -1.0};
#ifdef YOKE_SANITIZED
  const size_t stride = 7;
#else
  const size_t stride = 1;
#endif
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i += stride) {
    const limit_row       *r      = &limits[i];
    const yoke_test_method method = method_of(r->decomposition, r->family, r->order);
    const bool             once   = r->family == 'E';
    for (int k = 0; k < 4; ++k) {
      const line      l    = {r->family, &method, r->ratios, re[k]};
      const yoke_scan scan = {.value     = radius_on,
                              .user      = &l,
                              .first     = 1e-6,
                              .last      = once ? 4.0 : 10.0,
                              .step      = once ? 0.05 : 0.1,
                              .limit     = stable,
                              .tolerance = 1e-5};
      double          onset;
      assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
      if (onset == scan.first) onset = 0.0;
      const bool agrees = isinf(r->onset[k]) ? isinf(onset) : fabs(onset - r->onset[k]) <= 2e-3;
      if (!agrees) {
        fail_msg("%s-%c degree %d at re = %g, m2/m1 = %g: onset %.6g, expected %.6g", r->decomposition, r->family,
                 r->order, re[k], r->ratios[0], onset, r->onset[k]);
      }
    }
  }
}

static void stabilized_index_1_loses_stability_far_out_when_unsymmetrical(void **state) {
  (void)state;
  static const double expected[2] = {17.886, 17.912};
  for (int order = 0; order < 2; ++order) {
    const yoke_test_method method = method_of("FF", '1', order);
    const line             l      = {'1', &method, unsymmetrical, -0.05};
    const yoke_scan        scan   = {radius_on, &l, 1e-6, 30.0, 0.1, 0.0, stable, 1e-6};
    double                 onset;
    assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
    CHECK_NEAR(onset, expected[order], 2e-3);
  }
}

/* ---- stable points of a grid ---- */

/* re = -x i, im = y j with i = 1, 3, ... and j = 1, 3, ... */
typedef struct grid {
  double x, y;
  int    n_x, n_y;
} grid;

static const grid wide = {0.05, 0.1, 20, 50}, narrow = {0.025, 0.02, 20, 50}, square = {0.05, 0.05, 20, 20};

static int count_stable(const grid *g, char family, const yoke_test_method *method, const double *ratios) {
  int n = 0;
  for (int i = 0; i < g->n_x; ++i) {
    for (int j = 0; j < g->n_y; ++j) {
      n += radius_at(family, method, -g->x * (2 * i + 1), g->y * (2 * j + 1), ratios) <= stable;
    }
  }
  return n;
}

static void check_count(const grid *g, const char *decomposition, char family, const yoke_test_method *method,
                        const double *ratios, int expected) {
  const int n = count_stable(g, family, method, ratios);
  if (n < expected - 2 || n > expected + 2) {
    fail_msg("%s-%c index %d mu %g a %g b %g degree %d, ratios %g %g %g: %d stable points, expected %d", decomposition,
             family, method->index, method->mu, method->a, method->b, method->order, ratios[0], ratios[1], ratios[2], n,
             expected);
  }
}

#ifdef YOKE_SANITIZED
enum { STRIDE = 5 };
#else
enum { STRIDE = 1 };
#endif

typedef struct count_row {
  const char   *decomposition;
  char          family;
  const double *ratios;
  int           n[4]; /* by degree; -1: none */
} count_row;

static const count_row counts[] = {
    {"FF", 'E', symmetrical, {250, 108, 59, 33}},        {"FF", 'O', symmetrical, {1000, 976, 923, 835}},
    {"FF", 'D', symmetrical, {986, 967, 1000, -1}},      {"FF", 'I', symmetrical, {967, 905, 926, -1}},
    {"FD", 'E', symmetrical, {409, 143, 73, 42}},        {"FD", 'O', symmetrical, {968, 992, 968, 916}},
    {"FD", 'D', symmetrical, {864, 964, 993, -1}},       {"FD", 'I', symmetrical, {899, 969, 977, -1}},
    {"DD", 'E', symmetrical, {890, 295, 126, 61}},       {"DD", 'O', symmetrical, {905, 989, 992, 985}},
    {"DD", 'D', symmetrical, {892, 983, 990, -1}},       {"DD", 'I', symmetrical, {871, 967, 978, -1}},
    {"FF", 'O', unsymmetrical, {1000, 718, 619, 554}},   {"FF", 'D', unsymmetrical, {1000, 958, 1000, -1}},
    {"FF", 'I', unsymmetrical, {958, 397, 401, -1}},     {"FD", 'O', unsymmetrical, {1000, 718, 619, 554}},
    {"FD", 'D', unsymmetrical, {1000, 958, 1000, -1}},   {"FD", 'I', unsymmetrical, {957, 399, 404, -1}},
    {"DD", 'O', unsymmetrical, {999, 1000, 1000, 1000}}, {"DD", 'D', unsymmetrical, {998, 1000, 1000, -1}},
    {"DD", 'I', unsymmetrical, {996, 1000, 1000, -1}},   {"FF", '2', symmetrical, {1000, 958, 1000, -1}},
    {"FF", '1', symmetrical, {1000, 1000, -1, -1}},      {"FF", '2', unsymmetrical, {1000, 958, 1000, -1}},
    {"FF", '1', unsymmetrical, {1000, 1000, -1, -1}},
};

static void coupling_laws_and_stabilized_links_have_the_specified_numbers_of_stable_points(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i += STRIDE) {
    const count_row *r = &counts[i];
    for (int order = 0; order < 4 && r->n[order] >= 0; ++order) {
      const yoke_test_method method = method_of(r->decomposition, r->family, order);
      check_count(r->family == 'E' ? &narrow : &wide, r->decomposition, r->family, &method, r->ratios, r->n[order]);
    }
  }
}

typedef struct link_row {
  const char *decomposition;
  char        family;
  int         order;
  int         n[4]; /* by ratios */
} link_row;

static const link_row links[] = {
    {"FF", 'B', 0, {399, 399, 399, 313}}, {"FF", 'B', 1, {400, 400, 400, 397}}, {"FF", 'B', 2, {400, 400, 400, 397}},
    {"FF", 'W', 0, {321, 321, 326, 300}}, {"FF", 'W', 1, {400, 400, 400, 393}}, {"FF", 'W', 2, {393, 393, 400, 391}},
    {"FF", 'P', 0, {400, 400, 267, 72}},  {"FF", 'P', 1, {109, 109, 22, 22}},   {"FF", 'P', 2, {109, 109, 22, 21}},
    {"FD", 'B', 0, {400, 400, 400, 399}}, {"FD", 'B', 1, {400, 400, 91, 100}},  {"FD", 'B', 2, {397, 372, 56, 68}},
    {"FD", 'W', 0, {241, 313, 310, 246}}, {"FD", 'W', 1, {400, 400, 91, 100}},  {"FD", 'W', 2, {380, 364, 23, 50}},
    {"FD", 'P', 0, {269, 392, 111, 101}}, {"FD", 'P', 1, {349, 127, 77, 80}},   {"FD", 'P', 2, {345, 125, 55, 60}},
    {"DD", 'P', 0, {400, 400, 400, 400}}, {"DD", 'P', 1, {400, 400, 93, 93}},   {"DD", 'P', 2, {357, 357, 58, 62}},
};

static void rigid_links_have_the_specified_numbers_of_stable_points(void **state) {
  (void)state;
  static const double ratios[4][3] = {{1, 1, 1}, {10, 1, 1}, {1, 10, 1}, {1, 1, 10}};
  for (size_t i = 0; i < sizeof links / sizeof *links; i += STRIDE) {
    const yoke_test_method method = method_of(links[i].decomposition, links[i].family, links[i].order);
    for (int k = 0; k < 4; ++k) {
      check_count(&square, links[i].decomposition, links[i].family, &method, ratios[k], links[i].n[k]);
    }
  }
}

typedef struct parameter_row {
  char   family;
  int    index;
  double mu, a, b;
  int    n[3]; /* by degree */
} parameter_row;

static const parameter_row parameters[] = {
    {'B', 2, 0.25, 1, 1, {399, 313, 110}},   {'B', 1, 0.25, 1, 1, {399, 376, 277}},
    {'B', 2, 1, 1, 1, {398, 379, 276}},      {'B', 1, 1, 1, 1, {379, 399, 400}},
    {'B', 2, 5, 1, 1, {398, 400, 305}},      {'B', 1, 5, 1, 1, {65, 398, 400}},
    {'W', 2, 1, 0.5, 0, {399, 178, 0}},      {'W', 2, 1, 1, 0, {399, 288, 61}},
    {'W', 2, 1, 2.5, 0, {398, 351, 217}},    {'W', 2, 1, 5, 0, {398, 377, 270}},
    {'W', 1, 1, 0.5, 0.25, {373, 346, 167}}, {'W', 1, 1, 1, 1, {347, 399, 397}},
    {'W', 1, 1, 2.5, 5, {319, 399, 400}},    {'B', 3, 1, 1, 1, {400, 0, 0}},
};

static void parameters_of_rigid_links_have_the_specified_numbers_of_stable_points(void **state) {
  (void)state;
  static const double doubled[3] = {2, 2, 2};
  for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i += STRIDE) {
    const parameter_row *r = &parameters[i];
    for (int order = 0; order < 3; ++order) {
      yoke_test_method method = method_of("FF", r->family, order);
      method.index            = r->index;
      method.mu               = r->mu;
      method.a                = r->a;
      method.b                = r->b;
      check_count(&square, "FF", r->family, &method, doubled, r->n[order]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(onsets_of_instability_are_the_specified_ones),
      cmocka_unit_test(stabilized_index_1_loses_stability_far_out_when_unsymmetrical),
      cmocka_unit_test(coupling_laws_and_stabilized_links_have_the_specified_numbers_of_stable_points),
      cmocka_unit_test(rigid_links_have_the_specified_numbers_of_stable_points),
      cmocka_unit_test(parameters_of_rigid_links_have_the_specified_numbers_of_stable_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
