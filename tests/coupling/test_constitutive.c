/* Constitutive coupling: channels, conditions and their derivatives, refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "wide_shape.h"
#include "coupling/scheme.h"
#include <stdio.h>
#include <string.h>

enum { MAX_CHANNELS = 48, MAX_CONDITIONS = 2 * MAX_CHANNELS };

/* ---- elements: rows with unequal constants, frames in the ports ---- */

static const yoke_law power_law  = {.stiffness       = 90.0,
                                    .damping         = 1.5,
                                    .stiffness_power = 40.0,
                                    .damping_power   = 0.8,
                                    .exponent_x      = 3.0,
                                    .exponent_v      = 3.0};
static const yoke_law linear_law = {.stiffness = 1000.0, .damping = 10.0, .exponent_x = 3.0, .exponent_v = 3.0};

typedef struct element_case {
  const char     *name;
  bool            planar_only;
  int             n;
  yoke_row        row[6];
  const yoke_law *law;
} element_case;

static const element_case elements[] = {
    {"stretch", false, 1, {{YOKE_ROW_STRETCH, 0, 0}}, &linear_law},
    {"power stretch", false, 1, {{YOKE_ROW_STRETCH, 0, 0}}, &power_law},
    {"spring", false, 1, {{YOKE_ROW_DISTANCE, 0, 0}}, &power_law},
    {"atpoint", false, 3, {{YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_POINT, 1, 0}, {YOKE_ROW_POINT, 2, 0}}, NULL},
    {"inplane", false, 1, {{YOKE_ROW_INPLANE, 2, 0}}, NULL},
    {"perpendicular", false, 1, {{YOKE_ROW_PERPENDICULAR, 0, 1}}, NULL},
    {"universal",
     false,
     4,
     {{YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_POINT, 1, 0}, {YOKE_ROW_POINT, 2, 0}, {YOKE_ROW_PERPENDICULAR, 2, 1}},
     NULL},
    {"torsion", false, 1, {{YOKE_ROW_ANGLE, 0, 0}}, NULL},
    {"turn", true, 1, {{YOKE_ROW_TURN, 0, 0}}, NULL},
    {"bushing",
     false,
     6,
     {{YOKE_ROW_ALONG, 0, 0},
      {YOKE_ROW_ALONG, 1, 1},
      {YOKE_ROW_ALONG, 2, 2},
      {YOKE_ROW_ROTATION, 0, 0},
      {YOKE_ROW_ROTATION, 1, 0},
      {YOKE_ROW_ROTATION, 2, 0}},
     NULL},
};
enum { N_ELEMENTS = (int)(sizeof elements / sizeof elements[0]) };

static const yoke_port_shape *const pairs[][2] = {
    {&shape_wide, &yoke_shape_frame},       {&yoke_shape_plane, &shape_wide},
    {&yoke_shape_frame, &yoke_shape_frame}, {&yoke_shape_frame, &yoke_shape_plane},
    {&yoke_shape_point, &yoke_shape_frame}, {&yoke_shape_line, &yoke_shape_frame},
    {&yoke_shape_plane, &yoke_shape_plane}, {&yoke_shape_plane, &yoke_shape_point},
    {&yoke_shape_plane, &yoke_shape_line},  {&yoke_shape_point, &yoke_shape_point},
    {&yoke_shape_line, &yoke_shape_line},   {&yoke_shape_line, &yoke_shape_point},
};
enum { N_PAIRS = (int)(sizeof pairs / sizeof pairs[0]) };

static yoke_force_element make_element(const element_case *x) {
  yoke_force_element element = {.n = x->n, .law = x->law};
  element.link.node[1]       = 1;
  for (int s = 0; s < 2; ++s) element.link.axes[s][0] = element.link.axes[s][4] = element.link.axes[s][8] = 1.0;
  for (int i = 0; i < x->n; ++i) {
    element.row[i]       = x->row[i];
    element.offset[i]    = 0.05 * (double)(i + 1);
    element.stiffness[i] = 100.0 + 30.0 * (double)i;
    element.damping[i]   = 2.0 + 0.7 * (double)i;
  }
  return element;
}

/* ---- one coupling with everything a call needs ---- */

typedef struct coupling {
  yoke_force_element     element;
  yoke_coupling_settings settings;
  yoke_coupling_def      def;
  void                  *self;
  int                    n, n_c, n_y[2];
  const yoke_channel    *channel;
  yoke_arena             scratch;
  double                 u[MAX_CHANNELS], u_dot[MAX_CHANNELS], u_integral[MAX_CHANNELS];
  double                 y[2][WIDE_Y], y_old[2][WIDE_Y];
  yoke_coupling_view     view;
} coupling;

static const yoke_formulation_ops *ops(void) {
  return yoke_formulation_find("constitutive");
}

/* Numbers in [-1, 1], the same in every run. */
static double next_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

/* Random motion; Euler parameters near (but not of) norm 1 and near the unit rotation. */
static void fill(coupling *x, uint64_t seed) {
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < x->n_y[s]; ++k) {
      x->y[s][k]     = next_number(&seed) + (s == 0 && k < 3 ? 0.6 : 0.0);
      x->y_old[s][k] = next_number(&seed);
    }
    if (x->def.shape[s] == &yoke_shape_frame) {
      for (int k = 3; k < 7; ++k) x->y[s][k] = (k == 3 ? 1.0 : 0.0) + 0.3 * x->y[s][k];
    } else if (x->def.shape[s] == &shape_wide) {
      for (int k = 3; k < WIDE_P; ++k) x->y[s][k] = (k == 3 || k == 7 ? 0.5 : 0.0) + 0.15 * x->y[s][k];
    }
  }
  for (int i = 0; i < MAX_CHANNELS; ++i) {
    x->u[i]          = next_number(&seed);
    x->u_dot[i]      = next_number(&seed);
    x->u_integral[i] = next_number(&seed);
  }
  /* Copies that could stand for a motion (feed-through). */
  for (int i = 0; i < x->n; ++i) {
    const yoke_channel *c = &x->channel[i];
    if (c->is_force) continue;
    const int of = c->enters[0] == YOKE_ENTRY_NONE ? 0 : 1;
    x->u[i] =
        x->y[of][c->component + (c->enters[1 - of] == YOKE_ENTRY_COPY_V ? x->def.shape[of]->n_p : 0)] + 0.02 * x->u[i];
  }
}

static void open_coupling(coupling *x, const element_case *element, const yoke_port_shape *const shape[2],
                          yoke_decomposition decomposition, yoke_extension extension, bool feedthrough) {
  memset(x, 0, sizeof *x);
  x->element  = make_element(element);
  x->settings = (yoke_coupling_settings){.formulation   = "constitutive",
                                         .decomposition = decomposition,
                                         .extension     = extension,
                                         .feedthrough   = feedthrough};
  x->def      = (yoke_coupling_def){.name        = "c",
                                    .formulation = ops(),
                                    .element     = &x->element,
                                    .shape       = {shape[0], shape[1]},
                                    .settings    = &x->settings};
  assert_int_equal(ops()->create(NULL, &x->def, &x->self), YOKE_OK);
  x->channel = ops()->channels(x->self, &x->n);
  x->n_c     = ops()->n_conditions(x->self);
  for (int s = 0; s < 2; ++s) x->n_y[s] = yoke_shape_n_y(shape[s]);
  x->view = (yoke_coupling_view){.t          = 0.4,
                                 .H          = 0.1,
                                 .u          = x->u,
                                 .u_dot      = x->u_dot,
                                 .u_integral = x->u_integral,
                                 .y          = {x->y[0], x->y[1]},
                                 .y_old      = {x->y_old[0], x->y_old[1]},
                                 .n_y        = {x->n_y[0], x->n_y[1]},
                                 .scratch    = &x->scratch};
}

static void close_coupling(coupling *x) {
  ops()->destroy(x->self);
  yoke_arena_free(&x->scratch);
}

/* Runs `fact` for every kind of ports, element, decomposition, extension and feed-through that check allows. */
static int for_every_combination(void (*fact)(coupling *x)) {
  int n = 0;
  for (int code = 0; code < N_PAIRS * N_ELEMENTS * 4 * 3 * 2; ++code) {
    const yoke_port_shape *const *shape         = pairs[code / (N_ELEMENTS * 24)];
    const element_case           *element       = &elements[code / 24 % N_ELEMENTS];
    const yoke_decomposition      decomposition = (yoke_decomposition)(code / 6 % 4);
    const yoke_extension          extension     = (yoke_extension)(code / 2 % 3);
    if (element->planar_only && (shape[0] != &yoke_shape_plane || shape[1] != &yoke_shape_plane)) continue;
    coupling x;
    open_coupling(&x, element, shape, decomposition, extension, code % 2 == 1);
    if (ops()->check(NULL, &x.def, &yoke_scheme_find("implicit")->traits, 1) == YOKE_OK) {
      fill(&x, (uint64_t)code + 1u);
      fact(&x);
      ++n;
    }
    close_coupling(&x);
  }
  return n;
}

/* ---- channels ---- */

static void check_names(const coupling *x, const char *expected) {
  char text[1024] = "";
  for (int i = 0; i < x->n; ++i) {
    if (i > 0) strcat(text, ", ");
    strcat(text, x->channel[i].name);
    if (x->channel[i].extended) strcat(text, "*");
  }
  assert_string_equal(text, expected);
}

static void one_dimensional_couplings_have_the_channels_of_li(void **state) {
  (void)state;
  static const char *const expected[4][3] = {
      {"force x", "force x*", "force x*"},
      {"force x, copy 1 x, copy 1 vx", "force x*, copy 1 x, copy 1 vx*", "force x*, copy 1 x*, copy 1 vx"},
      {"force x, copy 2 x, copy 2 vx", "force x*, copy 2 x, copy 2 vx*", "force x*, copy 2 x*, copy 2 vx"},
      {"copy 1 x, copy 1 vx, copy 2 x, copy 2 vx", "copy 1 x, copy 1 vx*, copy 2 x, copy 2 vx*",
       "copy 1 x*, copy 1 vx, copy 2 x*, copy 2 vx"},
  };
  static const int             n_conditions[4][3] = {{1, 2, 2}, {3, 5, 5}, {3, 5, 5}, {4, 6, 6}};
  const yoke_port_shape *const shape[2]           = {&yoke_shape_line, &yoke_shape_line};
  for (int d = 0; d < 4; ++d) {
    for (int e = 0; e < 3; ++e) {
      coupling x;
      open_coupling(&x, &elements[0], shape, (yoke_decomposition)d, (yoke_extension)e, false);
      check_names(&x, expected[d][e]);
      assert_int_equal(x.n_c, n_conditions[d][e]);
      close_coupling(&x);
    }
  }
}

static void opposite_forces_share_a_channel_with_plus_on_side_1(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_frame, &yoke_shape_frame};
  coupling                     x;
  open_coupling(&x, &elements[3], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, false);
  check_names(&x, "force x, force y, force z");
  for (int i = 0; i < x.n; ++i) {
    assert_true(x.channel[i].enters[0] == YOKE_ENTRY_FORCE && x.channel[i].enters[1] == YOKE_ENTRY_FORCE);
    assert_true(x.channel[i].sign[0] == 1.0 && x.channel[i].sign[1] == -1.0);
    assert_int_equal(x.channel[i].component, i);
  }
  close_coupling(&x);
}

static void bushing_between_rigid_bodies_has_moments_of_its_own_on_each_side(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_frame, &yoke_shape_frame};
  coupling                     x;
  open_coupling(&x, &elements[9], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, false);
  check_names(&x,
              "force x, force y, force z, moment x on 1, moment x on 2, moment y on 1, moment y on 2, moment z on 1, "
              "moment z on 2");
  close_coupling(&x);
}

static void copies_hold_only_what_the_element_feels(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_frame, &yoke_shape_plane};
  coupling                     x;
  open_coupling(&x, &elements[2], shape, YOKE_DISPLACEMENT_DISPLACEMENT, YOKE_EXTENSION_NONE, false);
  check_names(
      &x, "copy 1 x, copy 1 y, copy 1 z, copy 1 vx, copy 1 vy, copy 1 vz, copy 2 x, copy 2 y, copy 2 vx, copy 2 vy");
  close_coupling(&x);
  open_coupling(&x, &elements[5], shape, YOKE_FORCE_DISPLACEMENT, YOKE_EXTENSION_D, false);
  check_names(&x, "moment x*, moment y*, moment z*, copy 1 q0, copy 1 q1, copy 1 q2, copy 1 q3, copy 1 wx*, copy 1 "
                  "wy*, copy 1 wz*");
  close_coupling(&x);
}

/* The wrench that the channels bring to side s, [6], for channel values u. */
static void delivered_wrench(const coupling *x, int s, const double *u, double f[6]) {
  memset(f, 0, 6 * sizeof *f);
  for (int i = 0; i < x->n; ++i) {
    if (x->channel[i].enters[s] != YOKE_ENTRY_FORCE) continue;
    f[x->def.shape[s]->v[x->channel[i].component].freedom] += x->channel[i].sign[s] * u[i];
  }
}

static void check_delivered(coupling *x) {
  double    u[MAX_CHANNELS], f[12] = {0.0}, got[6];
  yoke_pose poses[2];
  if (x->settings.feedthrough) return;
  for (int s = 0; s < 2; ++s) {
    yoke_shape_pose(x->def.shape[s], x->y[s], x->y[s] + x->def.shape[s]->n_p, &poses[s]);
  }
  yoke_force_element_apply(&x->element, poses, x->view.t, f);
  ops()->update(x->self, x->view.t, x->y[0], x->y[1], x->u, u, &x->scratch);
  for (int s = 0; s < 2; ++s) {
    const bool driven = x->settings.decomposition == YOKE_FORCE_FORCE ||
                        x->settings.decomposition == (s == 0 ? YOKE_FORCE_DISPLACEMENT : YOKE_DISPLACEMENT_FORCE);
    delivered_wrench(x, s, u, got);
    for (int k = 0; k < x->def.shape[s]->n_v; ++k) {
      const int freedom = x->def.shape[s]->v[k].freedom;
      assert_true(got[freedom] == (driven ? f[6 * s + freedom] : 0.0));
    }
  }
}

static void a_side_in_force_mode_receives_exactly_the_wrench_of_the_element(void **state) {
  (void)state;
  assert_true(for_every_combination(check_delivered) > 500);
}

/* Masses on a line: the bits of the wrench, whichever frame comes first and wherever the frames sit. */
static void force_between_masses_on_a_line_has_the_bits_of_the_wrench(void **state) {
  (void)state;
  static const element_case    along[3] = {{"stretch", false, 1, {{YOKE_ROW_STRETCH, 0, 0}}, &power_law},
                                           {"point", false, 1, {{YOKE_ROW_POINT, 0, 0}}, &power_law},
                                           {"linear", false, 1, {{YOKE_ROW_STRETCH, 0, 0}}, NULL}};
  const yoke_port_shape *const lines[2] = {&yoke_shape_line, &yoke_shape_line};
  for (int k = 0; k < 6; ++k) {
    coupling  x;
    yoke_pose poses[2];
    double    expected[12] = {0.0}, u = 0.0, c = 0.0, f[12], K[144], D[144];
    double    by_u, by_u_dot, by_integral, by_y[2][4];
    open_coupling(&x, &along[k / 2], lines, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, false);
    ops()->destroy(x.self);
    x.element.link.node[0]      = k % 2;
    x.element.link.node[1]      = 1 - k % 2;
    x.element.link.origin[0][0] = 0.03;
    x.element.link.origin[1][0] = -0.11;
    assert_int_equal(ops()->create(NULL, &x.def, &x.self), YOKE_OK);
    x.channel = ops()->channels(x.self, &x.n);
    fill(&x, (uint64_t)k + 7u);
    for (int s = 0; s < 2; ++s) yoke_shape_pose(lines[s], x.y[s], x.y[s] + 1, &poses[s]);
    yoke_force_element_apply(&x.element, poses, x.view.t, expected);
    ops()->update(x.self, x.view.t, x.y[0], x.y[1], x.u, &u, &x.scratch);
    ops()->residual(x.self, &x.view, &c);
    assert_int_equal(x.n, 1);
    assert_memory_equal(&u, &expected[0], sizeof u);
    assert_true(c == x.u[0] - expected[0]);
    yoke_force_element_jacobian(&x.element, poses, x.view.t, f, K, D);
    ops()->jacobian(x.self, &x.view, &by_u, &by_u_dot, &by_integral, by_y[0], by_y[1]);
    assert_true(by_u == 1.0 && by_u_dot == 0.0 && by_integral == 0.0);
    for (int s = 0; s < 2; ++s)
      assert_true(by_y[s][0] == -K[6 * s] && by_y[s][1] == -D[6 * s] && by_y[s][2] == 0.0 && by_y[s][3] == 0.0);
    close_coupling(&x);
  }
}

/* An original that is not copied must not matter to the law: what a ghost keeps from the start does no harm. */
static void check_copies_suffice(coupling *x) {
  if (x->settings.decomposition != YOKE_DISPLACEMENT_DISPLACEMENT) return;
  double before[12] = {0.0}, after[12] = {0.0};
  for (int pass = 0; pass < 2; ++pass) {
    yoke_pose poses[2];
    for (int s = 0; s < 2; ++s) {
      double    y[WIDE_Y];
      const int np = x->def.shape[s]->n_p;
      for (int k = 0; k < x->n_y[s]; ++k) y[k] = pass == 0 ? x->y[s][k] : 0.5;
      for (int i = 0; i < x->n; ++i) {
        const yoke_channel *c  = &x->channel[i];
        const int           at = c->component + (c->enters[1 - s] == YOKE_ENTRY_COPY_V ? np : 0);
        if (c->enters[1 - s] != YOKE_ENTRY_NONE) y[at] = x->y[s][at];
      }
      yoke_shape_pose(x->def.shape[s], y, y + np, &poses[s]);
    }
    yoke_force_element_apply(&x->element, poses, x->view.t, pass == 0 ? before : after);
  }
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < x->def.shape[s]->n_v; ++k) {
      const int r = 6 * s + x->def.shape[s]->v[k].freedom;
      CHECK_NEAR(after[r], before[r], 1e-12 * (1.0 + fabs(before[r])));
    }
  }
}

static void what_is_not_copied_does_not_influence_the_force(void **state) {
  (void)state;
  assert_true(for_every_combination(check_copies_suffice) > 100);
}

static void layouts_have_half_nodes_where_extended_and_as_many_unknowns_as_conditions(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_frame, &yoke_shape_plane};
  for (int code = 0; code < 12 * 6; ++code) {
    coupling  x;
    const int degree = code % 6;
    int       n      = 0;
    open_coupling(&x, &elements[3], shape, (yoke_decomposition)(code / 18), (yoke_extension)(code / 6 % 3), false);
    for (int i = 0; i < x.n; ++i) {
      yoke_layout layout;
      ops()->layout(x.self, i, degree, &layout);
      assert_int_equal(layout.kind, x.channel[i].extended ? YOKE_LAYOUT_HALF : YOKE_LAYOUT_END);
      assert_int_equal(layout.degree, x.channel[i].extended && degree > 2 ? 2 : degree);
      n += yoke_layout_n_nodes(&layout);
    }
    assert_int_equal(n, x.n_c);
    close_coupling(&x);
  }
}

/* ---- conditions ---- */

static void force_force_of_two_masses_is_the_equation_of_li(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  coupling                     x;
  double                       c[MAX_CONDITIONS];
  open_coupling(&x, &elements[0], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_D, false);
  fill(&x, 3u);
  x.element.offset[0] = 0.0;
  ops()->residual(x.self, &x.view, c);
  const double *y1 = x.y[0], *y2 = x.y[1]; /* x, v, a, integral */
  CHECK_NEAR(c[0], x.u[0] - 1000.0 * (y2[0] - y1[0]) - 10.0 * (y2[1] - y1[1]), 1e-10);
  CHECK_NEAR(c[1], x.u_dot[0] - 1000.0 * (y2[1] - y1[1]) - 10.0 * (y2[2] - y1[2]), 1e-10);
  close_coupling(&x);
  open_coupling(&x, &elements[0], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_I, false);
  fill(&x, 4u);
  x.element.offset[0] = 0.0;
  ops()->residual(x.self, &x.view, c);
  CHECK_NEAR(c[1],
             x.u_integral[0] - 1000.0 * (y2[3] - y1[3]) - 10.0 * ((y2[0] - x.y_old[1][0]) - (y1[0] - x.y_old[0][0])),
             1e-10);
  close_coupling(&x);
}

static void check_update(coupling *x) {
  double u[MAX_CHANNELS], c[MAX_CONDITIONS];
  ops()->update(x->self, x->view.t, x->y[0], x->y[1], x->u, u, &x->scratch);
  ops()->update(x->self, x->view.t, x->y[0], x->y[1], u, x->u, &x->scratch); /* feed-through: with the new copies */
  ops()->residual(x->self, &x->view, c);
  for (int i = 0; i < x->n; ++i) assert_true(c[i] == 0.0);
}

static void update_satisfies_law_and_copies_to_the_bit(void **state) {
  (void)state;
  assert_true(for_every_combination(check_update) > 500);
}

static void feedthrough_evaluates_the_law_with_the_copies(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  for (int mirrored = 0; mirrored < 2; ++mirrored) {
    coupling x;
    double   c[MAX_CONDITIONS], u[MAX_CHANNELS];
    open_coupling(&x, &elements[0], shape, mirrored ? YOKE_DISPLACEMENT_FORCE : YOKE_FORCE_DISPLACEMENT,
                  YOKE_EXTENSION_NONE, true);
    fill(&x, 9u);
    x.element.offset[0]   = 0.0;
    const double dx       = mirrored ? x.u[1] - x.y[0][0] : x.y[1][0] - x.u[1];
    const double dv       = mirrored ? x.u[2] - x.y[0][1] : x.y[1][1] - x.u[2];
    const double expected = 1000.0 * dx + 10.0 * dv;
    ops()->residual(x.self, &x.view, c);
    CHECK_NEAR(c[0], x.u[0] - expected, 1e-10);
    ops()->update(x.self, x.view.t, x.y[0], x.y[1], x.u, u, &x.scratch);
    CHECK_NEAR(u[0], expected, 1e-10);
    assert_true(u[1] == x.y[mirrored][0] && u[2] == x.y[mirrored][1]);
    close_coupling(&x);
  }
}

/* y after the time h with velocity v and acceleration a, to first order. */
static void moved(const coupling *x, int s, double h, double *y) {
  const yoke_port_shape *shape = x->def.shape[s];
  const int              np = shape->n_p, nv = shape->n_v;
  double                 T[WIDE_P * WIDE_V];
  memcpy(y, x->y[s], (size_t)x->n_y[s] * sizeof *y);
  yoke_shape_tangent(shape, x->y[s], T);
  for (int i = 0; i < np; ++i) {
    for (int k = 0; k < nv; ++k) y[i] += h * T[i * nv + k] * x->y[s][np + k];
  }
  for (int k = 0; k < nv; ++k) y[np + k] += h * x->y[s][np + nv + k];
}

static void check_rate(coupling *x) {
  if (x->settings.extension != YOKE_EXTENSION_D) return;
  const double h = 1e-5;
  double       ahead[MAX_CHANNELS], behind[MAX_CHANNELS], c[MAX_CONDITIONS], y[2][WIDE_Y];
  for (int s = 0; s < 2; ++s) moved(x, s, h, y[s]);
  ops()->update(x->self, x->view.t + h, y[0], y[1], x->u, ahead, &x->scratch);
  for (int s = 0; s < 2; ++s) moved(x, s, -h, y[s]);
  ops()->update(x->self, x->view.t - h, y[0], y[1], x->u, behind, &x->scratch);
  for (int i = 0; i < x->n; ++i) x->u_dot[i] = (ahead[i] - behind[i]) / (2.0 * h);
  ops()->residual(x->self, &x->view, c);
  for (int j = x->n; j < x->n_c; ++j) CHECK_BELOW(fabs(c[j]), 1e-4); /* rates up to 1e4 */
}

static void d_extension_states_the_time_derivative_of_the_channels(void **state) {
  (void)state;
  assert_true(for_every_combination(check_rate) > 200);
}

static yoke_symbol_kind law_symbol(void *user, const char *name, double *value, int *variable) {
  (void)user;
  (void)value;
  *variable = strcmp(name, "x") == 0 ? 0 : strcmp(name, "v") == 0 ? 1 : 2;
  return YOKE_SYMBOL_VARIABLE;
}

static void d_extension_counts_the_time_in_the_law(void **state) {
  (void)state;
  const yoke_symbols           symbols = {.lookup = law_symbol};
  char                         message[200];
  yoke_law                     law      = {.exponent_x = 3.0, .exponent_v = 3.0};
  element_case                 element  = elements[0];
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  assert_int_equal(yoke_expression_compile("50*x*sin(3*t) + v", &symbols, message, sizeof message, &law.expression),
                   YOKE_OK);
  element.law = &law;
  coupling x;
  open_coupling(&x, &element, shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_D, false);
  fill(&x, 5u);
  double       c[MAX_CONDITIONS];
  const double t = x.view.t, s = x.y[1][0] - x.y[0][0] - x.element.offset[0], v = x.y[1][1] - x.y[0][1],
               a = x.y[1][2] - x.y[0][2];
  x.u_dot[0]     = 50.0 * (v * sin(3.0 * t) + 3.0 * s * cos(3.0 * t)) + a;
  ops()->residual(x.self, &x.view, c);
  CHECK_BELOW(fabs(c[1]), 1e-8);
  close_coupling(&x);
  yoke_expression_destroy(&law.expression);
}

/* Positions p0 + v0 t + a t^2 / 2: linear forces are parabolas and Simpson's rule is exact. */
static void parabola(coupling *x, int s, double t, double *y) {
  const yoke_port_shape *shape = x->def.shape[s];
  const int              np = shape->n_p, nv = shape->n_v, ni = shape->n_integrals;
  memcpy(y, x->y_old[s], (size_t)x->n_y[s] * sizeof *y);
  for (int k = 0; k < ni; ++k) {
    const double p = x->y_old[s][k], v = x->y_old[s][np + k], a = x->y_old[s][np + nv + k];
    y[k]               = p + t * (v + 0.5 * t * a);
    y[np + k]          = v + t * a;
    y[np + 2 * nv + k] = t * (p + t * (0.5 * v + t * a / 6.0));
  }
}

static void check_integral(coupling *x) {
  if (x->settings.extension != YOKE_EXTENSION_I) return;
  static const double weight[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};
  double              y[2][WIDE_Y], u[MAX_CHANNELS], c[MAX_CONDITIONS];
  const double        H = x->view.H;
  memset(x->u_integral, 0, sizeof x->u_integral);
  for (int j = 0; j < 3; ++j) {
    for (int s = 0; s < 2; ++s) parabola(x, s, 0.5 * (double)j * H, y[s]);
    ops()->update(x->self, 0.0, y[0], y[1], x->u, u, &x->scratch);
    for (int i = 0; i < x->n; ++i) x->u_integral[i] += H * weight[j] * u[i];
  }
  for (int s = 0; s < 2; ++s) memcpy(x->y[s], y[s], sizeof y[s]);
  ops()->residual(x->self, &x->view, c);
  for (int j = x->n; j < x->n_c; ++j) CHECK_BELOW(fabs(c[j]), 1e-11);
}

static void i_extension_states_the_integral_of_the_channels(void **state) {
  (void)state;
  assert_true(for_every_combination(check_integral) > 100);
}

/* ---- derivatives ---- */

/* Column of dc/dx by central differences against the stated one. */
static void check_column(const coupling *x, double *value, const double *stated, int stride) {
  const double kept = *value, h = 1e-5;
  double       above[MAX_CONDITIONS], below[MAX_CONDITIONS];
  *value = kept + h;
  ops()->residual(x->self, &x->view, above);
  *value = kept - h;
  ops()->residual(x->self, &x->view, below);
  *value = kept;
  for (int c = 0; c < x->n_c; ++c) {
    const double slope = (above[c] - below[c]) / (2.0 * h);
    CHECK_NEAR(stated[c * stride], slope, 2e-6 * (100.0 + fabs(slope)));
  }
}

static void check_jacobian(coupling *x) {
  enum { BLOCK = MAX_CONDITIONS * MAX_CHANNELS };
  double du[BLOCK], du_dot[BLOCK], du_integral[BLOCK], dy[2][MAX_CONDITIONS * WIDE_Y];
  ops()->jacobian(x->self, &x->view, du, du_dot, du_integral, dy[0], dy[1]);
  for (int i = 0; i < x->n; ++i) {
    check_column(x, &x->u[i], du + i, x->n);
    check_column(x, &x->u_dot[i], du_dot + i, x->n);
    check_column(x, &x->u_integral[i], du_integral + i, x->n);
  }
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < x->n_y[s]; ++k) check_column(x, &x->y[s][k], dy[s] + k, x->n_y[s]);
  }
}

static void stated_derivatives_agree_with_differences_for_every_combination(void **state) {
  (void)state;
  assert_true(for_every_combination(check_jacobian) > 500);
}

/* ---- refusals ---- */

static void check_refused(const coupling *x, const char *scheme, int order, const char *reason) {
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(ops()->check(ctx, &x->def, &yoke_scheme_find(scheme)->traits, order), YOKE_E_USAGE);
  assert_int_equal(yoke_context_n_errors(ctx), 1);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "coupling 'c'"));
  if (strstr(yoke_context_message(ctx, 0), reason) == NULL)
    fail_msg("'%s' lacks '%s'", yoke_context_message(ctx, 0), reason);
  yoke_context_destroy(&ctx);
}

static void extensions_are_refused_under_explicit_and_waveform(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  for (int e = YOKE_EXTENSION_D; e <= YOKE_EXTENSION_I; ++e) {
    coupling x;
    open_coupling(&x, &elements[0], shape, YOKE_FORCE_FORCE, (yoke_extension)e, false);
    check_refused(&x, "explicit", 1, "semi-implicit or implicit");
    check_refused(&x, "waveform", 1, "semi-implicit or implicit");
    assert_int_equal(ops()->check(NULL, &x.def, &yoke_scheme_find("semi-implicit")->traits, 2), YOKE_OK);
    assert_int_equal(ops()->check(NULL, &x.def, &yoke_scheme_find("implicit")->traits, 0), YOKE_OK);
    check_refused(&x, "implicit", 3, "expected 0 to 2");
    close_coupling(&x);
  }
}

static void plain_couplings_take_degrees_0_to_5_under_every_scheme(void **state) {
  (void)state;
  static const char *const     schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  const yoke_port_shape *const shape[2]  = {&yoke_shape_frame, &yoke_shape_plane};
  for (int d = 0; d < 4; ++d) {
    coupling x;
    open_coupling(&x, &elements[9], shape, (yoke_decomposition)d, YOKE_EXTENSION_NONE, false);
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k <= 5; ++k)
        assert_int_equal(ops()->check(NULL, &x.def, &yoke_scheme_find(schemes[i])->traits, k), YOKE_OK);
      check_refused(&x, schemes[i], 6, "expected 0 to 5");
      check_refused(&x, schemes[i], -1, "expected 0 to 5");
    }
    close_coupling(&x);
  }
}

static void i_extension_is_refused_where_the_force_has_no_closed_integral(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_plane, &yoke_shape_plane};
  coupling                     x;
  open_coupling(&x, &elements[9], shape, YOKE_FORCE_DISPLACEMENT, YOKE_EXTENSION_I, false);
  check_refused(&x, "implicit", 1, "row 'along x'");
  close_coupling(&x);
  open_coupling(&x, &elements[1], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_I, false);
  check_refused(&x, "implicit", 1, "nonlinear law");
  close_coupling(&x);
  open_coupling(&x, &elements[9], shape, YOKE_DISPLACEMENT_DISPLACEMENT, YOKE_EXTENSION_I, false);
  assert_int_equal(ops()->check(NULL, &x.def, &yoke_scheme_find("implicit")->traits, 1), YOKE_OK);
  close_coupling(&x);
}

static void feedthrough_is_refused_without_a_copy_or_with_an_extension(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  coupling                     x;
  open_coupling(&x, &elements[0], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, true);
  check_refused(&x, "explicit", 1, "has no feed-through");
  close_coupling(&x);
  open_coupling(&x, &elements[0], shape, YOKE_FORCE_DISPLACEMENT, YOKE_EXTENSION_D, true);
  check_refused(&x, "implicit", 1, "extension none");
  close_coupling(&x);
}

static void a_rigid_joint_is_refused(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  coupling                     x;
  open_coupling(&x, &elements[0], shape, YOKE_FORCE_FORCE, YOKE_EXTENSION_NONE, false);
  x.def.element = NULL;
  check_refused(&x, "explicit", 1, "rigid joint");
  close_coupling(&x);
}

static void formulations_are_found_by_name_and_number(void **state) {
  (void)state;
  assert_true(yoke_formulation_n() >= 1);
  for (int i = 0; i < yoke_formulation_n(); ++i) {
    const yoke_formulation_ops *o = yoke_formulation_at(i);
    assert_ptr_equal(yoke_formulation_find(o->name), o);
    assert_true(strlen(o->summary) > 0);
  }
  assert_null(yoke_formulation_find("constitutiv"));
  assert_null(yoke_formulation_find(NULL));
  assert_null(yoke_formulation_at(-1));
  assert_null(yoke_formulation_at(yoke_formulation_n()));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_dimensional_couplings_have_the_channels_of_li),
      cmocka_unit_test(opposite_forces_share_a_channel_with_plus_on_side_1),
      cmocka_unit_test(bushing_between_rigid_bodies_has_moments_of_its_own_on_each_side),
      cmocka_unit_test(copies_hold_only_what_the_element_feels),
      cmocka_unit_test(a_side_in_force_mode_receives_exactly_the_wrench_of_the_element),
      cmocka_unit_test(force_between_masses_on_a_line_has_the_bits_of_the_wrench),
      cmocka_unit_test(what_is_not_copied_does_not_influence_the_force),
      cmocka_unit_test(layouts_have_half_nodes_where_extended_and_as_many_unknowns_as_conditions),
      cmocka_unit_test(force_force_of_two_masses_is_the_equation_of_li),
      cmocka_unit_test(update_satisfies_law_and_copies_to_the_bit),
      cmocka_unit_test(feedthrough_evaluates_the_law_with_the_copies),
      cmocka_unit_test(d_extension_states_the_time_derivative_of_the_channels),
      cmocka_unit_test(d_extension_counts_the_time_in_the_law),
      cmocka_unit_test(i_extension_states_the_integral_of_the_channels),
      cmocka_unit_test(stated_derivatives_agree_with_differences_for_every_combination),
      cmocka_unit_test(extensions_are_refused_under_explicit_and_waveform),
      cmocka_unit_test(plain_couplings_take_degrees_0_to_5_under_every_scheme),
      cmocka_unit_test(i_extension_is_refused_where_the_force_has_no_closed_integral),
      cmocka_unit_test(feedthrough_is_refused_without_a_copy_or_with_an_extension),
      cmocka_unit_test(a_rigid_joint_is_refused),
      cmocka_unit_test(formulations_are_found_by_name_and_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
