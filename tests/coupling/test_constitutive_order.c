/* Constitutive coupling on the linear two-mass oscillator with exact subsystems: errors and orders of Li (3.2.3, 3.5.4).
 * The conditions are linear here, so that one solve per macro step is the exact (semi-)implicit step. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/formulation.h"
#include <string.h>

enum { MAX_W = 8, MAX_N = 6, N_PAST = 3, N_TERMS = 18, N_Y = 4 /* x, v, a, integral of x */ };

static const double c_wall = 1000.0, d_wall = 10.0, c_coupling = 1000.0, d_coupling = 10.0;

typedef struct run {
  const yoke_formulation_ops *ops;
  void                       *self;
  int                         n, n_w;
  const yoke_channel         *channel;
  yoke_arena                  scratch;
  yoke_layout                 layout[MAX_N];
  double                      mass[2], H;
  double                      past_s[N_PAST], past_u[MAX_N][N_PAST]; /* newest first */
  int                         n_past;
  double                      y_old[2][N_Y];
} run;

/* Power coefficients in time of the force on side s, and the share of it that is its own motion, in one piece. */
typedef struct drive {
  double b[YOKE_LAYOUT_MAX_DEGREE + 1], c, d;
} drive;

static void drive_set(const run *r, int s, const double *w, int piece, double start, drive *out) {
  memset(out, 0, sizeof *out);
  const double *nodes = w;
  for (int i = 0; i < r->n; ++i) {
    const yoke_layout *layout = &r->layout[i];
    const yoke_entry   entry  = r->channel[i].enters[s];
    const yoke_past    past   = {r->n_past, r->past_s, r->past_u[i]};
    double             c[YOKE_LAYOUT_MAX_DEGREE + 1], shifted[YOKE_LAYOUT_MAX_DEGREE + 1] = {0.0};
    const int          p      = yoke_layout_n_pieces(layout) > 1 ? piece : 0;
    const double       origin = p > 0 ? yoke_layout_break(layout, p - 1) : 0.0;
    yoke_layout_piece(layout, &past, nodes, p, c);
    nodes += yoke_layout_n_nodes(layout);
    for (int k = YOKE_LAYOUT_MAX_DEGREE; k >= 0; --k) { /* about `start` instead of `origin` */
      for (int j = YOKE_LAYOUT_MAX_DEGREE; j > 0; --j) shifted[j] = shifted[j - 1] + shifted[j] * (start - origin);
      shifted[0] = shifted[0] * (start - origin) + c[k];
    }
    const double factor = entry == YOKE_ENTRY_FORCE    ? r->channel[i].sign[s]
                          : entry == YOKE_ENTRY_COPY_P ? c_coupling
                          : entry == YOKE_ENTRY_COPY_V ? d_coupling
                                                       : 0.0;
    double       scale  = factor; /* from s to time */
    for (int k = 0; k <= YOKE_LAYOUT_MAX_DEGREE; ++k, scale /= r->H) out->b[k] += scale * shifted[k];
    if (entry == YOKE_ENTRY_COPY_P) out->c = c_coupling, out->d = d_coupling;
  }
}

/* y over `length` by the power series of x and v; exact to rounding. */
static void advance(double mass, const drive *f, double length, double y[N_Y]) {
  double       x = y[0], v = y[1], power = 1.0, end_x = 0.0, end_v = 0.0, area = 0.0;
  const double c = c_wall + f->c, d = d_wall + f->d;
  for (int k = 0; k < N_TERMS; ++k) {
    const double b = k <= YOKE_LAYOUT_MAX_DEGREE ? f->b[k] : 0.0;
    end_x += x * power;
    end_v += v * power;
    area += x * power * length / (double)(k + 1);
    const double next_v = (-c * x - d * v + b) / mass / (double)(k + 1);
    x                   = v / (double)(k + 1);
    v                   = next_v;
    power *= length;
  }
  double force = 0.0;
  for (int k = YOKE_LAYOUT_MAX_DEGREE; k >= 0; --k) force = force * length + f->b[k];
  y[0] = end_x;
  y[1] = end_v;
  y[2] = (-c * end_x - d * end_v + force) / mass;
  y[3] += area;
}

/* Outputs at the end of the step for node values w. */
static void integrate(const run *r, const double *w, double y[2][N_Y]) {
  for (int s = 0; s < 2; ++s) {
    memcpy(y[s], r->y_old[s], sizeof y[s]);
    y[s][3] = 0.0;
    for (int piece = 0; piece < 2; ++piece) { /* all layouts here break at 1/2 or not at all */
      drive f;
      drive_set(r, s, w, piece, 0.5 * piece, &f);
      advance(r->mass[s], &f, 0.5 * r->H, y[s]);
    }
  }
}

static void conditions(const run *r, const double *w, double y[2][N_Y], double *c) {
  double        u[MAX_N], u_dot[MAX_N], u_integral[MAX_N];
  const double *nodes = w;
  integrate(r, w, y);
  for (int i = 0; i < r->n; ++i) {
    const yoke_past past = {r->n_past, r->past_s, r->past_u[i]};
    const int       n    = yoke_layout_n_nodes(&r->layout[i]);
    u[i]                 = nodes[n - 1];
    u_dot[i]             = yoke_layout_measure(&r->layout[i], &past, nodes).end_derivative / r->H;
    u_integral[i]        = yoke_layout_measure(&r->layout[i], &past, nodes).integral * r->H;
    nodes += n;
  }
  yoke_arena               scratch = {0};
  const yoke_coupling_view view    = {.t          = 0.0,
                                      .H          = r->H,
                                      .u          = u,
                                      .u_dot      = u_dot,
                                      .u_integral = u_integral,
                                      .y          = {y[0], y[1]},
                                      .y_old      = {r->y_old[0], r->y_old[1]},
                                      .scratch    = &scratch};
  r->ops->residual(r->self, &view, c);
  yoke_arena_free(&scratch);
}

/* Gauss with column pivots; A [n, n] and b are used up. */
static void solve(int n, double A[MAX_W][MAX_W], double *b) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
    }
    for (int j = 0; j < n; ++j) {
      const double swap = A[k][j];
      A[k][j]           = A[pivot][j];
      A[pivot][j]       = swap;
    }
    const double swap = b[k];
    b[k]              = b[pivot];
    b[pivot]          = swap;
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

static void step(run *r) {
  double w[MAX_W] = {0.0}, c0[MAX_W], c1[MAX_W], A[MAX_W][MAX_W], y[2][N_Y];
  conditions(r, w, y, c0);
  for (int pass = 0; pass < 2; ++pass) { /* the second pass removes rounding */
    for (int j = 0; j < r->n_w; ++j) {
      const double kept = w[j];
      w[j]              = kept + 1.0;
      conditions(r, w, y, c1);
      w[j] = kept;
      for (int i = 0; i < r->n_w; ++i) A[i][j] = c1[i] - c0[i];
    }
    solve(r->n_w, A, c0);
    for (int j = 0; j < r->n_w; ++j) w[j] -= c0[j];
    conditions(r, w, y, c0);
  }
  memcpy(r->y_old, y, sizeof y);
  const double *nodes = w;
  for (int i = 0; i < r->n; ++i) {
    for (int k = N_PAST - 1; k > 0; --k) r->past_u[i][k] = r->past_u[i][k - 1];
    nodes += yoke_layout_n_nodes(&r->layout[i]);
    r->past_u[i][0] = nodes[-1];
  }
  if (r->n_past < N_PAST) ++r->n_past;
}

/* Full degree as soon as the history allows it. */
static void set_layouts(run *r, int degree) {
  bool enough = false;
  for (int k = degree; !enough; --k) {
    enough = true;
    for (int i = 0; i < r->n; ++i) {
      r->ops->layout(r->self, i, k, &r->layout[i]);
      if (yoke_layout_n_past(&r->layout[i]) > r->n_past) enough = false;
    }
  }
}

/* Exact step of the whole oscillator, z = (x1, v1, x2, v2). */
static void exact_step(const double mass[2], double H, double z[4]) {
  double term[4], power = 1.0, end[4] = {0.0};
  memcpy(term, z, sizeof term);
  for (int k = 0; k < N_TERMS; ++k, power *= H) {
    const double lambda  = c_coupling * (term[2] - term[0]) + d_coupling * (term[3] - term[1]);
    const double next[4] = {term[1], (-c_wall * term[0] - d_wall * term[1] + lambda) / mass[0], term[3],
                            (-c_wall * term[2] - d_wall * term[3] - lambda) / mass[1]};
    for (int i = 0; i < 4; ++i) {
      end[i] += term[i] * power;
      term[i] = next[i] / (double)(k + 1);
    }
  }
  memcpy(z, end, sizeof end);
}

/* Global errors of position [0] and velocity [1], normalised as in Li 3.34, over one second. */
static void global_errors(yoke_decomposition decomposition, yoke_extension extension, int degree, int n_steps,
                          double error[2]) {
  const yoke_law           law = {.stiffness = c_coupling, .damping = d_coupling, .exponent_x = 3.0, .exponent_v = 3.0};
  const yoke_force_element element = {
      .link = {.node = {0, 1}, .axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}},
      .n    = 1,
      .row  = {{YOKE_ROW_STRETCH, 0, 0}},
      .law  = &law};
  const yoke_coupling_settings settings = {.decomposition = decomposition, .extension = extension};
  const yoke_coupling_def      def      = {
                .name = "c", .element = &element, .shape = {&yoke_shape_line, &yoke_shape_line}, .settings = &settings};
  run r = {.ops = yoke_formulation_find("constitutive"), .mass = {1.0, extension == YOKE_EXTENSION_NONE ? 1.0 : 2.0}};
  assert_int_equal(r.ops->create(NULL, &def, &r.self), YOKE_OK);
  r.channel     = r.ops->channels(r.self, &r.n);
  r.n_w         = r.ops->n_conditions(r.self);
  r.H           = 1.0 / n_steps;
  r.y_old[0][0] = 1.0;
  double u[MAX_N], z[4] = {1.0, 0.0, 0.0, 0.0};
  r.ops->update(r.self, 0.0, r.y_old[0], r.y_old[1], NULL, u, &r.scratch);
  for (int i = 0; i < r.n; ++i) r.past_u[i][0] = u[i];
  for (int k = 0; k < N_PAST; ++k) r.past_s[k] = -k;
  r.n_past = 1;

  double defect[4] = {0.0}, sum[4] = {0.0}, squares[4] = {0.0};
  for (int N = 0; N < n_steps; ++N) {
    set_layouts(&r, degree);
    step(&r);
    exact_step(r.mass, r.H, z);
    for (int i = 0; i < 4; ++i) {
      defect[i] += pow(r.y_old[i / 2][i % 2] - z[i], 2.0);
      sum[i] += z[i];
      squares[i] += z[i] * z[i];
    }
  }
  for (int q = 0; q < 2; ++q) {
    double squared = 0.0;
    for (int i = q; i < 4; i += 2) squared += defect[i] / (squares[i] - sum[i] * sum[i] / n_steps);
    error[q] = sqrt(squared);
  }
  r.ops->destroy(r.self);
  yoke_arena_free(&r.scratch);
}

typedef struct row {
  yoke_decomposition decomposition;
  yoke_extension     extension;
  double             position[3], velocity[3]; /* degree 0, 1, 2 at H = 1/800 s */
  double             order[3];
} row;

static const row rows[] = {
    {YOKE_FORCE_FORCE,
     YOKE_EXTENSION_NONE,
     {2.709e-02, 2.346e-04, 6.898e-06},
     {3.516e-02, 3.238e-04, 1.292e-05},
     {1, 2, 3}},
    {YOKE_FORCE_DISPLACEMENT,
     YOKE_EXTENSION_NONE,
     {3.393e-02, 2.666e-04, 6.870e-06},
     {3.531e-02, 3.009e-04, 1.085e-05},
     {1, 2, 3}},
    {YOKE_DISPLACEMENT_DISPLACEMENT,
     YOKE_EXTENSION_NONE,
     {6.571e-02, 3.665e-04, 7.724e-06},
     {5.418e-02, 3.297e-04, 9.295e-06},
     {1, 2, 3}},
    {YOKE_FORCE_FORCE,
     YOKE_EXTENSION_D,
     {1.624e-02, 1.257e-04, 3.295e-06},
     {1.927e-02, 1.594e-04, 4.116e-06},
     {1, 2, 3}},
    {YOKE_FORCE_FORCE,
     YOKE_EXTENSION_I,
     {1.430e-04, 1.481e-08, 1.825e-08},
     {2.270e-04, 2.479e-08, 2.827e-08},
     {2, 4, 4}},
    {YOKE_FORCE_DISPLACEMENT,
     YOKE_EXTENSION_D,
     {4.135e-02, 3.501e-04, 1.276e-05},
     {3.381e-02, 3.437e-04, 1.211e-05},
     {1, 2, 3}},
    {YOKE_FORCE_DISPLACEMENT,
     YOKE_EXTENSION_I,
     {1.226e-02, 2.051e-04, 4.483e-06},
     {1.134e-02, 1.680e-04, 4.515e-06},
     {1, 2, 3}},
    {YOKE_DISPLACEMENT_DISPLACEMENT,
     YOKE_EXTENSION_D,
     {6.268e-02, 3.604e-04, 9.972e-06},
     {4.692e-02, 3.162e-04, 1.133e-05},
     {1, 2, 3}},
    {YOKE_DISPLACEMENT_DISPLACEMENT,
     YOKE_EXTENSION_I,
     {1.440e-02, 1.787e-04, 4.093e-06},
     {1.267e-02, 1.493e-04, 4.441e-06},
     {1, 2, 3}},
};
enum { N_ROWS = (int)(sizeof rows / sizeof rows[0]) };

static void errors_and_orders_of_all_variants_are_those_of_li(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) {
    for (int k = 0; k <= 2; ++k) {
      double coarse[2], fine[2];
      global_errors(rows[i].decomposition, rows[i].extension, k, 400, coarse);
      global_errors(rows[i].decomposition, rows[i].extension, k, 800, fine);
      CHECK_NEAR(fine[0] / rows[i].position[k], 1.0, 0.01);
      CHECK_NEAR(fine[1] / rows[i].velocity[k], 1.0, 0.01);
      CHECK_NEAR(log2(coarse[0] / fine[0]), rows[i].order[k], 0.1);
      CHECK_NEAR(log2(coarse[1] / fine[1]), rows[i].order[k], 0.1);
    }
  }
}

static void displacement_force_has_the_orders_of_force_displacement(void **state) {
  (void)state;
  for (int e = YOKE_EXTENSION_NONE; e <= YOKE_EXTENSION_I; ++e) {
    for (int k = 0; k <= 2; ++k) {
      double position[2], error[2];
      for (int j = 0; j < 2; ++j) {
        global_errors(YOKE_DISPLACEMENT_FORCE, (yoke_extension)e, k, 200 << j, error);
        position[j] = error[0];
      }
      CHECK_ORDER(position, 2, k + 1.0, 0.15);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_and_orders_of_all_variants_are_those_of_li),
      cmocka_unit_test(displacement_force_has_the_orders_of_force_displacement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
