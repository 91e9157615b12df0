/* A split model is the whole model: nothing is lost, nothing is counted twice, and every mistake is named. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/memory.h"
#include "check.h"
#include "master/native_part.h"
#include <yoke/model.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHANNELS = 48 };

typedef struct loaded {
  yoke_context *ctx;
  yoke_model   *model;
  yoke_plan    *plan;
} loaded;

static void print_messages(const yoke_context *ctx) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
}

static void close_split(loaded *l) {
  yoke_plan_destroy(&l->plan);
  yoke_model_destroy(&l->model);
  yoke_context_destroy(&l->ctx);
}

/* A file or a text; the model must be readable. */
static loaded load(const char *path, const char *text, int n_set, const char *const *set) {
  loaded                  l       = {0};
  const yoke_load_options options = {.size = sizeof options, .n_sets = n_set, .sets = set};
  assert_int_equal(yoke_context_create(&l.ctx), YOKE_OK);
  const yoke_status status = text == NULL
                                 ? yoke_model_load(l.ctx, path, &options, &l.model)
                                 : yoke_model_load_text(l.ctx, "test.yaml", text, strlen(text), &options, &l.model);
  if (status != YOKE_OK) {
    print_messages(l.ctx);
    fail_msg("cannot load %s", path);
  }
  return l;
}

static loaded split_text(const char *text) {
  loaded l = load("text", text, 0, NULL);
  if (yoke_plan_create(l.ctx, l.model, NULL, &l.plan) != YOKE_OK) {
    print_messages(l.ctx);
    fail_msg("cannot split");
  }
  return l;
}

static loaded split_file(const char *path, int n_set, const char *const *set) {
  loaded l = load(path, NULL, n_set, set);
  if (yoke_plan_create(l.ctx, l.model, NULL, &l.plan) != YOKE_OK) {
    print_messages(l.ctx);
    fail_msg("cannot split %s", path);
  }
  return l;
}

static void refused(const char *text, const char *const *words) {
  loaded            l      = load("text", text, 0, NULL);
  const yoke_status status = yoke_plan_create(l.ctx, l.model, NULL, &l.plan);
  assert_int_equal(status, YOKE_E_MODEL);
  assert_null(l.plan);
  const char *message = yoke_context_message(l.ctx, 0);
  for (; *words != NULL; ++words) {
    if (strstr(message, *words) == NULL) fail_msg("'%s' is not in: %s", *words, message);
  }
  close_split(&l);
}

/* ---- equations of the parts ---- */

typedef struct system_at_start {
  yoke_equations  equations;
  yoke_multibody *mb;
  void           *work;
  double         *q, *v, *a, *u, *y;
} system_at_start;

static double *port_y(const system_at_start *s, int port) {
  return s->y + (ptrdiff_t)YOKE_PORT_MAX_Y * port;
}

static void system_open(loaded *l, const yoke_model *model, const yoke_multibody_options *options, int n_ports,
                        system_at_start *s) {
  *s = (system_at_start){0};
  if (yoke_multibody_create(l->ctx, model, options, &s->equations, &s->mb) != YOKE_OK) {
    print_messages(l->ctx);
    fail_msg("cannot compile '%s'", model->name);
  }
  s->work = yoke_allocate(s->equations.work_size + 1, 1);
  s->q    = yoke_allocate((size_t)s->equations.nq + 1, sizeof(double));
  s->v    = yoke_allocate((size_t)s->equations.nv + 1, sizeof(double));
  s->a    = yoke_allocate((size_t)s->equations.nv + 1, sizeof(double));
  s->u    = yoke_allocate((size_t)s->equations.nu + 1, sizeof(double));
  s->y    = yoke_allocate((size_t)YOKE_PORT_MAX_Y * (size_t)n_ports + 1, sizeof(double));
  yoke_multibody_initial_guess(s->mb, s->q, s->v);
}

static void system_derivative(system_at_start *s, double t) {
  const yoke_equations *e = &s->equations;
  assert_int_equal(e->ops->derivative(e->self, s->work, t, s->q, s->v, s->u, NULL, s->a, NULL), YOKE_OK);
}

static void system_close(system_at_start *s) {
  yoke_equations_destroy(&s->equations);
  free(s->work);
  free(s->q);
  free(s->v);
  free(s->a);
  free(s->u);
  free(s->y);
}

/* Coupling values that belong to the positions and velocities of the ports, into the inputs of the parts. */
static void set_inputs(const loaded *l, system_at_start *parts) {
  const yoke_plan *plan = l->plan;
  for (int p = 0; p < plan->n_parts; ++p) {
    for (int k = 0; k < plan->native[p].submodel.n_ports; ++k)
      yoke_multibody_port(parts[p].mb, parts[p].work, k, parts[p].q, parts[p].v, parts[p].a, port_y(&parts[p], k));
  }
  for (int w = 0; w < plan->n_couplings; ++w) {
    const yoke_wire    *wire              = &plan->wires[w];
    double              now[MAX_CHANNELS] = {0}, u[MAX_CHANNELS] = {0};
    yoke_arena          scratch = {0};
    int                 n;
    const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
    if (wire->initial != NULL) {
      memcpy(u, wire->initial, (size_t)n * sizeof *u);
    } else {
      wire->formulation->update(wire->self, l->model->t_start, port_y(&parts[wire->subsystem[0]], wire->port[0]),
                                port_y(&parts[wire->subsystem[1]], wire->port[1]), now, u, &scratch);
    }
    yoke_arena_free(&scratch);
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < n; ++i) {
        const int at = wire->input_at[side][i];
        assert_int_equal(at >= 0, channels[i].enters[side] != YOKE_ENTRY_NONE);
        if (at >= 0) parts[wire->subsystem[side]].u[at] = u[i];
      }
    }
  }
}

/* Largest difference of an acceleration, relative to the largest acceleration. */
static double acceleration_difference(loaded *l) {
  const yoke_plan *plan = l->plan;
  system_at_start  whole, *parts = calloc((size_t)plan->n_parts, sizeof *parts);
  double           largest = 1e-300, difference = 0.0;
  assert_non_null(parts);
  system_open(l, l->model, NULL, 0, &whole);
  yoke_start start;
  assert_int_equal(yoke_start_create(l->ctx, l->model, &plan->places, NULL, NULL, &start), YOKE_OK);
  memcpy(whole.q, start.q, (size_t)whole.equations.nq * sizeof(double));
  memcpy(whole.v, start.v, (size_t)whole.equations.nv * sizeof(double));
  yoke_start_clear(&start);
  system_derivative(&whole, l->model->t_start);
  for (int p = 0; p < plan->n_parts; ++p) {
    const yoke_multibody_options options = {.n_ports    = plan->native[p].submodel.n_ports,
                                            .port_frame = plan->native[p].submodel.port_frame,
                                            .n_inputs   = plan->native[p].submodel.n_inputs,
                                            .inputs     = plan->native[p].submodel.inputs};
    system_open(l, plan->native[p].submodel.model, &options, plan->native[p].submodel.n_ports, &parts[p]);
  }
  set_inputs(l, parts);
  for (int p = 0; p < plan->n_parts; ++p) system_derivative(&parts[p], l->model->t_start);
  for (int b = 0; b < l->model->n_bodies; ++b) {
    const yoke_body *body = &l->model->bodies[b];
    for (int i = 0; i < yoke_body_nv(body); ++i) {
      const bool             is_chain = body->kind == YOKE_BODY_CHAIN;
      const yoke_place       place    = yoke_place_find(&plan->places, b, is_chain ? i : 0);
      const system_at_start *part     = &parts[place.part];
      const int              own      = yoke_multibody_v_offset(part->mb, place.body) + (is_chain ? place.mass : i);
      const double           a        = whole.a[yoke_multibody_v_offset(whole.mb, b) + i];
      largest                         = fmax(largest, fabs(a));
      difference                      = fmax(difference, fabs(a - part->a[own]));
      if (isnan(part->a[own])) difference = NAN;
    }
  }
  for (int p = 0; p < plan->n_parts; ++p) system_close(&parts[p]);
  system_close(&whole);
  free(parts);
  return difference / largest;
}

static const char *const decompositions[] = {"cosimulation.couplings.decomposition=force/force",
                                             "cosimulation.couplings.decomposition=force/displacement",
                                             "cosimulation.couplings.decomposition=displacement/force",
                                             "cosimulation.couplings.decomposition=displacement/displacement"};

/* Signals are shown by subsystems, not by the equations that are looked at here (cosimulation/test_split_signals.c). */
static bool has_signal(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->couplings[k].is_signal) return true;
  }
  return false;
}

/* Joints and cuts that overlap are force/force, and feed-through has a force on one side alone. */
static bool has_one_decomposition(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->couplings[k].is_joint || plan->couplings[k].is_overlap || plan->couplings[k].settings.feedthrough)
      return true;
  }
  return false;
}

static void accelerations_of_every_split_example_are_those_of_the_whole_model(void **state) {
  glob_t files;
  int    n_split = 0;
  (void)state;
  assert_int_equal(glob("examples/*.yaml", 0, NULL, &files), 0);
  for (size_t f = 0; f < files.gl_pathc; ++f) {
    loaded     l        = load(files.gl_pathv[f], NULL, 0, NULL);
    const bool has_part = l.model->n_parts > 0;
    if (has_part) assert_int_equal(yoke_plan_create(l.ctx, l.model, NULL, &l.plan), YOKE_OK);
    const int  n_decompositions = has_part && has_one_decomposition(l.plan) ? 1 : 4;
    const bool is_looked_at     = has_part && !has_signal(l.plan);
    close_split(&l);
    if (!is_looked_at) continue;
    ++n_split;
    for (int d = 0; d < n_decompositions; ++d) {
      l                       = split_file(files.gl_pathv[f], n_decompositions > 1 ? 1 : 0, &decompositions[d]);
      const double difference = acceleration_difference(&l);
      if (!(difference <= 1e-10)) fail_msg("%s, %s: %g", files.gl_pathv[f], decompositions[d], difference);
      close_split(&l);
    }
  }
  assert_true(n_split >= 12);
  globfree(&files);
}

/* nx as it is, and room for all of the pattern, at most four times as much (loads that read others have more room). */
static void sizes_are_told(const yoke_equations *e, const char *path, const char *part) {
  for (int form = YOKE_DAE_GGL; e->ops->dae_size != NULL && form <= YOKE_DAE_INDEX1; ++form) {
    const yoke_dae_form wanted = e->feels ? YOKE_DAE_INDEX1 : (yoke_dae_form)form;
    yoke_dae           *dae    = NULL;
    int                 nx = 0, nnz = 0;
    e->ops->dae_size(e->self, wanted, &nx, &nnz);
    assert_int_equal(e->ops->dae_create(e->self, NULL, wanted, &dae), YOKE_OK);
    if (nx != dae->nx) fail_msg("%s, %s: %d unknowns of %d are told", path, part, nx, dae->nx);
    if (nnz < dae->pattern->nnz || nnz > 4 * dae->pattern->nnz + 1000)
      fail_msg("%s, %s: %d entries of %d are told", path, part, nnz, dae->pattern->nnz);
    yoke_dae_destroy(&dae);
  }
}

static void every_part_of_every_example_tells_the_size_of_its_implicit_view_before_it_is_made(void **state) {
  glob_t files;
  int    n_parts = 0;
  (void)state;
  assert_int_equal(glob("examples/*.yaml", 0, NULL, &files), 0);
  for (size_t f = 0; f < files.gl_pathc; ++f) {
    for (int is_whole = 0; is_whole < 2; ++is_whole) {
      const yoke_plan_options options = {.is_whole = is_whole > 0, .is_dry = true};
      loaded                  l       = load(files.gl_pathv[f], NULL, 0, NULL);
      if (is_whole > 0 || l.model->n_parts > 0) {
        assert_int_equal(yoke_plan_create(l.ctx, l.model, &options, &l.plan), YOKE_OK);
      }
      for (int i = 0; l.plan != NULL && i < l.plan->n_parts; ++i) {
        yoke_subsystem *subsystem = NULL;
        if (l.plan->parts[i].make != yoke_native_part_make) continue;
        assert_int_equal(yoke_native_part_make(l.ctx, l.plan->parts[i].definition, &subsystem), YOKE_OK);
        sizes_are_told(yoke_native_equations(subsystem), files.gl_pathv[f], l.plan->parts[i].name);
        n_parts += yoke_native_equations(subsystem)->ops->dae_size != NULL;
        yoke_subsystem_destroy(&subsystem);
      }
      close_split(&l);
    }
  }
  assert_true(n_parts >= 50);
  globfree(&files);
}

static void a_chain_in_any_number_of_pieces_accelerates_as_the_whole(void **state) {
  static const char *const numbers[] = {"split.c=1", "split.c=2", "split.c=3", "split.c=10", "split.c=50"};
  static const int         n[]       = {1, 2, 3, 10, 50};
  (void)state;
  for (int i = 0; i < 5; ++i) {
    for (int d = 0; d < 4; ++d) {
      const char *const set[] = {numbers[i], decompositions[d], "bodies.c.x={random: [-1, 1], seed: 3}",
                                 "bodies.c.v={random: [-1, 1], seed: 4}"};
      loaded            l     = split_file("examples/chain-conv.yaml", 4, set);
      assert_int_equal(l.plan->n_parts, n[i]);
      assert_int_equal(l.plan->n_couplings, n[i] - 1);
      CHECK_BELOW(acceleration_difference(&l), 1e-12);
      close_split(&l);
    }
  }
}

/* ---- kinds of connections and bodies ---- */

#define HEAD "yoke: 1\nassemble: true\nt_end: 1\ngravity: [0.3, -9.81, 0.2]\n"
#define RIGID(name, position, more)                                                                                    \
  "  " name ": {kind: rigid, mass: 2, inertia: [1, 2, 2.5], position: " position ", " more "}\n"
#define COSIMULATION(d) "cosimulation: {step: 1e-3, couplings: {decomposition: " d "}}\n"

static const char *const words[] = {"force/force", "force/displacement", "displacement/force",
                                    "displacement/displacement"};

/* One connection between two bodies in two parts, by all decompositions. */
static void one_connection(const char *bodies, const char *connection) {
  for (int d = 0; d < 4; ++d) {
    char text[2000];
    snprintf(
        text, sizeof text,
        HEAD
        "bodies:\n%sconnections:\n  link: {%s, stiffness: 1e3, damping: 7}\nsplit: {p: [a], q: [b]}\n" COSIMULATION(
            "%s"),
        bodies, connection, words[d]);
    loaded       l          = split_text(text);
    const double difference = acceleration_difference(&l);
    if (!(difference <= 1e-12)) fail_msg("%s, %s: %g", connection, words[d], difference);
    assert_int_equal(l.plan->n_couplings, 1);
    close_split(&l);
  }
}

/* The decomposition of a spring between two masses that names `more` of its own. */
static yoke_decomposition chosen(const char *mass_a, const char *mass_b, const char *run, const char *more) {
  char text[2000];
  snprintf(
      text, sizeof text,
      HEAD
      "bodies: {a: {kind: particle, mass: %s}, b: {kind: particle, mass: %s, position: [1, 0, 0]}, c: {kind: particle, "
      "mass: 1e3, position: [2, 0, 0]}}\n"
      "connections:\n  link: {kind: spring-damper, between: [a, b], stiffness: 1e3}\n"
      "  other: {kind: spring-damper, between: [b, c], stiffness: 10}\n"
      "split: {p: [a], q: [b, c]}\ncosimulation: {%s, couplings: {link: {%s}}}\n",
      mass_a, mass_b, run, more);
  loaded                   l    = split_text(text);
  const yoke_decomposition word = l.plan->couplings[0].settings.decomposition;
  close_split(&l);
  return word;
}

static void f32_the_side_that_is_far_lighter_holds_the_element_and_follows_the_other(void **state) {
  (void)state;
  assert_int_equal(chosen("1", "1e-3", "step: auto", ""), YOKE_FORCE_DISPLACEMENT);
  assert_int_equal(chosen("1e-3", "1", "step: auto", ""), YOKE_DISPLACEMENT_FORCE);
  assert_int_equal(chosen("1", "0.011", "step: auto", ""), YOKE_FORCE_FORCE);
  assert_int_equal(chosen("1", "1e-3", "step: auto", "decomposition: force/force"), YOKE_FORCE_FORCE);
  assert_int_equal(chosen("1", "1e-3", "step: auto", "extension: d"), YOKE_FORCE_FORCE);
  assert_int_equal(chosen("1", "1e-3", "step: 1e-3", ""), YOKE_FORCE_FORCE);
  assert_int_equal(chosen("1", "1e-3", "step: auto, scheme: semi-implicit", ""), YOKE_FORCE_FORCE);
  assert_int_equal(chosen("1", "1e-3", "step: {estimator: md}", ""), YOKE_FORCE_FORCE);
}

static void every_flexible_joint_and_force_element_between_rigid_bodies_can_be_cut(void **state) {
  static const char bodies[] = RIGID("a", "[0, 0, 0]",
                                     "omega: [1, 2, 3], velocity: [1, 0, 2], orientation: [0.1, 0.3, -0.2], "
                                     "frames: {e: {at: [0.5, 0.1, 0.2], axis: [1, 1, 1]}}")
      RIGID("b", "[1.1, 0.2, 0.1]",
            "omega: [-1, 1, 2], orientation: [-0.2, 0.1, 0.4], "
            "frames: {e: {at: [-0.5, 0.2, 0], axis: [1, 0.8, 1.1]}}");
  static const char *const kinds[] = {"atpoint",     "inplane",     "perpendicular", "spherical", "revolute",
                                      "universal",   "cylindrical", "translational", "planar",    "inline",
                                      "orientation", "fixed",       "spring-damper", "bushing",   "torsion-spring"};
  (void)state;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    char connection[200];
    snprintf(connection, sizeof connection, "kind: %s, between: [a.e, b.e]", kinds[k]);
    one_connection(bodies, connection);
  }
}

static void planar_bodies_with_turned_and_tilted_frames_can_be_cut(void **state) {
  static const char bodies[] =
      "  a: {kind: planar, mass: 2, inertia: 0.3, angle: 0.4, omega: 2, frames: {e: {at: [0.5, 0], orientation: [0, 0, "
      "0.7]}, "
      "t: {at: [0.5, 0], axis: [0, 1, 0]}}}\n"
      "  b: {kind: planar, mass: 1, inertia: 0.2, position: [1.2, 0.3], angle: 7, velocity: [1, 2], omega: -1, "
      "frames: {e: {at: [-0.5, 0.1], orientation: [0, 0, -0.3]}, t: {at: [-0.5, 0.1], axis: [1, 0, 0]}}}\n";
  (void)state;
  one_connection(bodies, "kind: spring-damper, between: [a.e, b.e]");
  one_connection(bodies, "kind: torsion-spring, between: [a.e, b.e], free_angle: 0.2");
  one_connection(bodies, "kind: bushing, between: [a.e, b.e]");
  one_connection(bodies, "kind: inplane, between: [a.e, b.t]");
  one_connection(bodies, "kind: perpendicular, between: [a.t, b.t]");
  one_connection(bodies, "kind: atpoint, between: [a.e, b.e]");
}

static void bodies_of_different_kinds_can_be_cut(void **state) {
  static const char mixed[] = RIGID(
      "a", "[0, 0, 1]", "omega: [1, 2, 3], frames: {e: [0.5, 0.1, 0.2]}") "  b: {kind: particle, mass: 1, position: "
                                                                          "[1, 2, 0], velocity: [1, 1, 0]}\n";
  static const char planar[] =
      RIGID("a", "[0, 0, 1]",
            "omega: [1, 2, 3], frames: {e: [0.5, 0.1, 0.2]}") "  b: {kind: planar, mass: 1, inertia: 1, position: [1, "
                                                              "2], velocity: [1, 1], omega: 3}\n";
  static const char line[] = "  a: {kind: mass1d, mass: 1, x: 0.3, v: 2}\n"
                             "  b: {kind: planar, mass: 1, inertia: 1, position: [1, 2], velocity: [1, 1], omega: 3}\n";
  (void)state;
  one_connection(mixed, "kind: spring-damper, between: [a.e, b]");
  one_connection(mixed, "kind: atpoint, between: [b, a.e]");
  one_connection(planar, "kind: bushing, between: [a.e, b]");
  one_connection(line, "kind: spring-damper, between: [a, b], free_length: 0.5");
}

/* ---- rigid joints ---- */

/* A rigid joint between two bodies in two parts: ends at the points given, rows kept. */
static void one_joint(const char *bodies, const char *connection, int n_rows) {
  char text[2000];
  snprintf(text, sizeof text,
           HEAD "bodies:\n%sconnections:\n  link: {%s}\nsplit: {p: [a], q: [b]}\ncosimulation: {step: 1e-3}\n", bodies,
           connection);
  loaded l = split_text(text);
  assert_int_equal(l.plan->n_couplings, 1);
  assert_true(l.plan->couplings[0].is_joint);
  assert_string_equal(l.plan->couplings[0].settings.formulation, "stabilized-index-2");
  if (l.plan->couplings[0].joint.n != n_rows)
    fail_msg("%s: %d rows, expected %d", connection, l.plan->couplings[0].joint.n, n_rows);
  const double difference = acceleration_difference(&l);
  if (!(difference <= 1e-11)) fail_msg("%s: %g", connection, difference);
  close_split(&l);
}

static void rigid_joints_between_rigid_bodies_can_be_cut(void **state) {
  static const char bodies[] = RIGID("a", "[0, 0, 0]",
                                     "omega: [1, 2, 3], velocity: [1, 0, 2], orientation: [0.1, 0.3, -0.2], "
                                     "frames: {e: {at: [0.5, 0.1, 0.2], axis: [1, 1, 1]}}")
      RIGID("b", "[1.1, 0.2, 0.1]",
            "omega: [-1, 1, 2], orientation: [-0.2, 0.1, 0.4], "
            "frames: {e: {at: [-0.5, 0.2, 0], axis: [1, 0.8, 1.1]}}");
  static const struct {
    const char *kind;
    int         n;
  } joints[] = {{"atpoint", 3},       {"inplane", 1}, {"perpendicular", 1}, {"spherical", 3}, {"revolute", 5},
                {"universal", 4},     {"planar", 3},  {"cylindrical", 4},   {"inline", 2},    {"orientation", 3},
                {"translational", 5}, {"fixed", 6},   {"distance", 1}};
  (void)state;
  for (size_t k = 0; k < sizeof joints / sizeof joints[0]; ++k) {
    char connection[200];
    snprintf(connection, sizeof connection, "kind: %s, between: [a.e, b.e]", joints[k].kind);
    one_joint(bodies, connection, joints[k].n);
    snprintf(connection, sizeof connection, "kind: %s, between: [b.e, a.e]", joints[k].kind);
    one_joint(bodies, connection, joints[k].n);
  }
}

static void rigid_joints_between_other_bodies_can_be_cut(void **state) {
  static const char planar[] =
      "  a: {kind: planar, mass: 2, inertia: 0.3, angle: 0.4, omega: 2, frames: {e: [0.5, 0], t: {at: [0.5, 0], axis: "
      "[0, 1, 0]}}}\n"
      "  b: {kind: planar, mass: 1, inertia: 0.2, position: [1.2, 0.3], angle: 0.1, velocity: [1, 2], omega: -1, "
      "frames: {e: [-0.5, 0.1], t: {at: [-0.5, 0.1], axis: [0, 1, 0]}}}\n";
  static const char line[] = "  a: {kind: mass1d, mass: 1, x: 0.3, v: 2}\n  b: {kind: mass1d, mass: 3, x: 0.3, v: 2}\n";
  static const char mixed[] = RIGID(
      "a", "[0, 0, 0]", "omega: [1, 2, 3], frames: {e: [0.5, 0.1, 0.2]}") "  b: {kind: particle, mass: 1, position: "
                                                                          "[0.5, 0.1, 0.2], velocity: [1, 1, 0]}\n";
  (void)state;
  one_joint(planar, "kind: revolute, between: [a.e, b.e]", 2);
  one_joint(planar, "kind: fixed, between: [a.e, b.e]", 3);
  one_joint(planar, "kind: inplane, between: [a.e, b.t]", 1);
  one_joint(planar, "kind: distance, between: [a.e, b.e], length: 0.4", 1);
  one_joint(line, "kind: fixed, between: [a, b]", 1);
  one_joint(line, "kind: atpoint, between: [b, a]", 1);
  one_joint(mixed, "kind: spherical, between: [b, a.e]", 3);
}

/* lambda_0 = m1 m2 / (m1 + m2) [(c1/m1 - c2/m2) x + (d1/m1 - d2/m2) v] for g = x1 - x2, +lambda on mass 1 (Lu 91). */
static void the_start_of_a_cut_joint_is_that_of_the_whole_model(void **state) {
  loaded l =
      split_text("yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1, x: 0.3, v: 7}, b: {kind: mass1d, mass: 2, "
                 "x: 0.3, v: 7}}\n"
                 "connections:\n  w1: {kind: spring-damper, between: [ground, a], stiffness: 1000, damping: 10}\n"
                 "  w2: {kind: spring-damper, between: [b, ground], stiffness: 300, damping: 4}\n"
                 "  link: {kind: fixed, between: [a, b]}\nsplit: {p: [a], q: [b]}\n");
  (void)state;
  CHECK_NEAR(l.plan->wires[0].initial[0], 2.0 / 3.0 * ((1000.0 - 150.0) * 0.3 + (10.0 - 2.0) * 7.0), 1e-10);
  assert_int_equal(l.plan->native[0].submodel.model->n_connections, 2);
  assert_int_equal(l.plan->native[1].submodel.inputs[0].kind, YOKE_INPUT_LAMBDA);
  close_split(&l);
}

static void multipliers_of_the_examples_start_as_printed(void **state) {
  static const struct {
    const char *path;
    int         n;
    double      lambda[3];
  } list[] = {{"examples/double-pendulum.yaml", 2, {-1.839375, -0.613125}},
              {"examples/slider-crank.yaml", 1, {5.12482003}},
              {"examples/slider-crank-classic.yaml", 2, {-4.28571429, -8.57282085}},
              {"examples/four-bar-fixed.yaml", 3, {-1.69325671, -2.35893541, 1.09383900}}};
  (void)state;
  for (size_t k = 0; k < sizeof list / sizeof list[0]; ++k) {
    loaded                    l     = split_file(list[k].path, 0, NULL);
    const yoke_joint_element *joint = &l.plan->couplings[0].joint;
    assert_int_equal(joint->n, list[k].n);
    for (int i = 0; i < joint->n; ++i) {
      CHECK_NEAR(l.plan->wires[0].initial[i], list[k].lambda[i], 1e-8); /* multipliers are the first channels */
    }
    close_split(&l);
  }
}

/* One part as a native subsystem at its start: outputs under the multipliers, and what they answer to a unit of each. */
typedef struct native_part {
  yoke_subsystem *subsystem;
  void           *state, *scratch;
  double          u[MAX_CHANNELS], y[YOKE_PORT_MAX_Y];
} native_part;

static const double at_start[2] = {0.0, 1.0};

static void native_open(const loaded *l, int part, native_part *n) {
  *n = (native_part){0};
  assert_int_equal(l->plan->parts[part].make(l->ctx, l->plan->parts[part].definition, &n->subsystem), YOKE_OK);
  assert_int_equal(yoke_subsystem_state_create(n->subsystem, &n->state), YOKE_OK);
  assert_int_equal(yoke_subsystem_scratch_create(n->subsystem, &n->scratch), YOKE_OK);
  const yoke_wire *wire = &l->plan->wires[0];
  int              n_channels;
  (void)wire->formulation->channels(wire->self, &n_channels);
  for (int i = 0; i < n_channels; ++i) {
    if (wire->input_at[part][i] >= 0) n->u[wire->input_at[part][i]] = wire->initial[i];
  }
  const yoke_signal u = {.n = n->subsystem->nu, .n_pieces = 1, .t = at_start, .c = n->u};
  assert_int_equal(yoke_subsystem_start(n->subsystem, n->scratch, n->state, 0.0, &u, l->ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(n->subsystem, n->scratch, n->state, &u, YOKE_SIDE_LEFT, n->y), YOKE_OK);
}

static void native_close(native_part *n) {
  yoke_subsystem_state_destroy(n->subsystem, &n->state);
  yoke_subsystem_scratch_destroy(&n->scratch);
  yoke_subsystem_destroy(&n->subsystem);
}

static void ports_of_a_cut_joint_accelerate_together_under_its_multipliers(void **state) {
  loaded      l = split_file("examples/four-bar-fixed.yaml", 0, NULL);
  native_part part[2];
  (void)state;
  for (int side = 0; side < 2; ++side) native_open(&l, side, &part[side]);
  for (int k = 0; k < 9; ++k)
    CHECK_NEAR(part[0].y[k], part[1].y[k], 1e-9); /* welded: positions, velocities, accelerations */
  assert_true(fabs(part[0].y[7]) > 1.0);
  for (int side = 0; side < 2; ++side) native_close(&part[side]);
  close_split(&l);
}

static void compliance_is_the_response_to_a_unit_of_each_multiplier(void **state) {
  loaded l = split_file("examples/four-bar-fixed.yaml", 0, NULL);
  (void)state;
  for (int side = 0; side < 2; ++side) {
    native_part n;
    native_open(&l, side, &n);
    const int   ny = n.subsystem->ny;
    double      da_du[MAX_CHANNELS * YOKE_PORT_MAX_Y], y[YOKE_PORT_MAX_Y];
    yoke_signal u = {.n = n.subsystem->nu, .n_pieces = 1, .t = at_start, .c = n.u};
    assert_int_equal(n.subsystem->ops->instant->response(n.subsystem, n.scratch, n.state, &u, YOKE_SIDE_LEFT, da_du),
                     YOKE_OK);
    for (int j = 0; j < n.subsystem->nu; ++j) {
      if (l.plan->native[side].submodel.inputs[j].kind != YOKE_INPUT_LAMBDA) continue;
      n.u[j] += 1.0;
      assert_int_equal(yoke_subsystem_output(n.subsystem, n.scratch, n.state, &u, YOKE_SIDE_LEFT, y), YOKE_OK);
      n.u[j] -= 1.0;
      for (int k = 0; k < ny; ++k) CHECK_NEAR(da_du[j * ny + k], y[k] - n.y[k], 1e-12);
      assert_true(fabs(da_du[j * ny + 6]) + fabs(da_du[j * ny + 7]) > 0.1);
    }
    native_close(&n);
  }
  close_split(&l);
}

static void a_closed_loop_can_be_cut_at_several_joints(void **state) {
  const char *const set[] = {"split={left: [bar1], middle: [bar2, bar3], right: [bar4]}"};
  (void)state;
  loaded l = split_file("examples/four-bar-bushing.yaml", 1, set);
  assert_int_equal(l.plan->n_couplings, 2);
  CHECK_BELOW(acceleration_difference(&l), 1e-12);
  close_split(&l);
}

static void a_joint_without_effect_is_no_coupling(void **state) {
  loaded l = split_text("yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 2}}\n"
                        "connections:\n  link: {kind: orientation, between: [a, b]}\nsplit: {p: [a], q: [b]}\n");
  (void)state;
  assert_int_equal(l.plan->n_couplings, 0);
  close_split(&l);
}

static void a_mass_between_two_pieces_of_a_chain_is_coupled_to_both(void **state) {
  loaded l = split_text(
      "yoke: 1\nt_end: 1\nbodies:\n  c: {kind: chain, n: 7, mass: i, stiffness: 10 + i, damping: 2, x: i^2, v: -i,\n"
      "    loads: [{on: [1, 4, 7], kind: harmonic, force: i, omega: 1, phase: 1}]}\n"
      "  m: {kind: mass1d, mass: 3, x: 5}\n"
      "connections:\n  s1: {kind: spring-damper, between: [c[2], m], stiffness: 5}\n"
      "  s2: {kind: spring-damper, between: [m, c[6]], law: 3*x^3 + v + t}\n"
      "loads:\n  f: {kind: expression, on: c[6], force: 2*c.x[7] - c.v[5] + t}\n"
      "split: {right: [c[4..7]], middle: [m], left: [c[1..3]]}\ncosimulation: {step: 1}\n");
  (void)state;
  assert_int_equal(l.plan->n_couplings, 3);
  CHECK_BELOW(acceleration_difference(&l), 1e-13);
  const yoke_place place = yoke_place_find(&l.plan->places, 0, 5);
  assert_int_equal(place.part, 0);
  assert_int_equal(place.mass, 2);
  assert_string_equal(l.plan->couplings[2].name, "c.cut[1]");
  assert_int_equal(l.plan->couplings[2].part[0], 2);
  close_split(&l);
}

static void parts_without_a_coupling_are_independent_subsystems(void **state) {
  loaded l = split_text("yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1, v: 1}, b: {kind: mass1d, mass: 1}}\n"
                        "loads: {f: {kind: constant, on: b, force: 2}}\nsplit: {p: [a], q: [b]}\n");
  (void)state;
  assert_int_equal(l.plan->n_couplings, 0);
  CHECK_BELOW(acceleration_difference(&l), 0.0);
  close_split(&l);
}

static void one_part_is_the_whole_model(void **state) {
  loaded l = split_text(HEAD "bodies:\n" RIGID("a", "[0, 0, 0]", "omega: [1, 2, 3]") RIGID(
      "b", "[1, 0, 0]",
      "omega: [0, 1, 0]") "connections: {j: {kind: spherical, between: [a, b]}}\nsplit: {all: [a, b]}\n");
  (void)state;
  assert_int_equal(l.plan->n_couplings, 0);
  CHECK_BELOW(acceleration_difference(&l), 1e-12);
  close_split(&l);
}

static void submodels_start_from_the_assembled_positions(void **state) {
  loaded l = split_text(
      HEAD
      "bodies:\n  a: {kind: planar, mass: 1, inertia: 1, position: [0.6, 0.1], frames: {l: [-0.5, 0], r: [0.5, 0]}}\n"
      "  b: {kind: planar, mass: 1, inertia: 1, position: [2, 0], frames: {l: [-0.5, 0]}}\n"
      "connections:\n  pin: {kind: revolute, between: [ground, a.l]}\n"
      "  s: {kind: spring-damper, between: [a.r, b.l], stiffness: 5}\nsplit: {p: [a], q: [b]}\n");
  (void)state;
  const yoke_body *a = &l.plan->native[0].submodel.model->bodies[0];
  CHECK_NEAR(a->position[0] - 0.5 * cos(a->angle), 0.0, 1e-10);
  CHECK_NEAR(a->position[1] - 0.5 * sin(a->angle), 0.0, 1e-10);
  CHECK_BELOW(acceleration_difference(&l), 1e-12); /* free length as drawn, as in the whole model */
  close_split(&l);
}

/* ---- settings ---- */

static void settings_of_one_coupling_override_those_of_all(void **state) {
  static const char couplings[] =
      "cosimulation.couplings={c.cut[2]: {decomposition: displacement/force}, decomposition: "
      "force/displacement, extension: d, c.cut[3]: {extension: none}}";
  const char *const set[] = {"split.c=4", "cosimulation.scheme=implicit", couplings};
  loaded            l     = split_file("examples/chain-conv.yaml", 3, set);
  (void)state;
  assert_int_equal(l.plan->couplings[0].settings.decomposition, YOKE_FORCE_DISPLACEMENT);
  assert_int_equal(l.plan->couplings[1].settings.decomposition, YOKE_DISPLACEMENT_FORCE);
  assert_int_equal(l.plan->couplings[1].settings.extension, YOKE_EXTENSION_D);
  assert_int_equal(l.plan->couplings[2].settings.extension, YOKE_EXTENSION_NONE);
  assert_int_equal(l.plan->native[2].submodel.model->n_ghosts, 0); /* right of cut 2 a force, left of cut 3 a force */
  assert_int_equal(l.plan->native[1].submodel.model->n_ghosts, 2);
  CHECK_BELOW(acceleration_difference(&l), 1e-12);
  close_split(&l);
}

static void a_run_without_a_macro_step_is_controlled(void **state) {
  loaded l = load("text", "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\nsplit: {p: [a]}\n", 0, NULL);
  (void)state;
  assert_int_equal(yoke_plan_create(l.ctx, l.model, NULL, &l.plan), YOKE_OK);
  assert_true(l.plan->step.is_controlled);
  assert_int_equal(l.plan->scheme.order, 5);
  close_split(&l);
}

static void an_order_that_is_chosen_needs_step_control(void **state) {
  loaded l = load("text",
                  "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\nsplit: {p: [a]}\n"
                  "cosimulation: {step: 1 ms, order: auto}\n",
                  0, NULL);
  (void)state;
  assert_int_equal(yoke_plan_create(l.ctx, l.model, NULL, &l.plan), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(l.ctx, 0), "cosimulation.order"));
  close_split(&l);
}

static void settings_have_the_defaults_of_the_manual(void **state) {
  loaded l = load("text",
                  "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\nsplit: {p: [a]}\n"
                  "cosimulation: {step: 1 ms}\n",
                  0, NULL);
  (void)state;
  assert_int_equal(yoke_plan_create(l.ctx, l.model, NULL, &l.plan), YOKE_OK);
  const yoke_scheme_settings s = l.plan->scheme;
  CHECK_NEAR(l.plan->step.H, 1e-3, 0.0);
  assert_false(l.plan->step.is_controlled);
  assert_string_equal(s.scheme, "semi-implicit");
  assert_int_equal(s.order, 1);
  assert_false(s.gauss_seidel);
  assert_int_equal(s.start, YOKE_START_RAMP);
  assert_int_equal(s.predictor, YOKE_PREDICTOR_EXTRAPOLATION);
  assert_int_equal(s.jacobian, YOKE_JACOBIAN_TANGENT);
  assert_false(s.names_jacobian);
  assert_null(s.own);
  assert_int_equal(s.renewal, YOKE_RENEWAL_SLOW);
  assert_true(s.final_update);
  assert_int_equal(s.max_iterations, 10);
  CHECK_NEAR(s.relaxation, 1.0, 0.0);
  close_split(&l);
}

/* ---- mistakes ---- */

#define PAIR HEAD "bodies:\n" RIGID("a", "[0, 0, 0]", "frames: {end: [1, 0, 0]}") RIGID("b", "[1, 0, 0]", "")

static void a_joint_with_prescribed_motion_between_parts_is_refused_with_names(void **state) {
  (void)state;
  refused(PAIR "connections: {knee: {kind: revolute, between: [a.end, b], motion: 0.1*t}}\nsplit: {p: [a], q: [b]}\n",
          (const char *const[]){"'knee'", "'p'", "'q'", "motion", NULL});
}

static void a_formulation_for_other_connections_is_refused(void **state) {
  (void)state;
  refused(PAIR "connections: {knee: {kind: spherical, between: [a.end, b]}}\nsplit: {p: [a], q: [b]}\n"
               "cosimulation: {couplings: {formulation: constitutive}}\n",
          (const char *const[]){"'knee'", NULL});
  refused(PAIR "connections: {knee: {kind: bushing, between: [a, b], stiffness: 1}}\nsplit: {p: [a], q: [b]}\n"
               "cosimulation: {couplings: {formulation: stabilized-index-2}}\n",
          (const char *const[]){"'knee'", NULL});
}

static void an_event_that_sets_two_parts_is_refused_with_names(void **state) {
  (void)state;
  refused(PAIR "events: {hit: {when: a.x - b.x, set: {a.vx: 0, b.vx: 0}}}\nsplit: {p: [a], q: [b]}\n",
          (const char *const[]){"event 'hit'", "'p'", "'q'", NULL});
}

static void a_formulation_for_joints_is_refused_for_a_spring(void **state) {
  (void)state;
  refused(PAIR "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 1}}\nsplit: {p: [a], q: [b]}\n"
               "cosimulation: {couplings: {formulation: baumgarte}}\n",
          (const char *const[]){"coupling 's'", "'baumgarte'", "formulation constitutive", NULL});
}

static void a_formulation_for_all_couplings_is_meant_for_those_of_its_kind(void **state) {
  (void)state;
  static const struct {
    const char *couplings, *joint, *spring;
  } cases[] = {{"{}", "stabilized-index-2", "constitutive"},
               {"{formulation: projection}", "projection", "constitutive"},
               {"{formulation: constitutive, extension: none}", "stabilized-index-2", "constitutive"},
               {"{formulation: weighted, s: {extension: d}}", "weighted", "constitutive"},
               {"{formulation: weighted, j: {formulation: baumgarte}}", "baumgarte", "constitutive"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char text[1000];
    snprintf(text, sizeof text,
             PAIR "connections:\n"
                  "  j: {kind: fixed, between: [a, b]}\n"
                  "  s: {kind: spring-damper, between: [a, b], stiffness: 1}\n"
                  "split: {p: [a], q: [b]}\ncosimulation: {couplings: %s}\n",
             cases[i].couplings);
    loaded l = split_text(text);
    assert_int_equal(l.plan->n_couplings, 2);
    assert_string_equal(l.plan->couplings[0].settings.formulation, cases[i].joint);
    assert_string_equal(l.plan->couplings[1].settings.formulation, cases[i].spring);
    close_split(&l);
  }
}

/* The reader of model files finds these too; models made by other callers are checked here. */
static void bodies_in_no_part_and_in_two_parts_are_refused_with_names(void **state) {
  (void)state;
  loaded l                    = load("text", PAIR "split: {p: [a], q: [b]}\n", 0, NULL);
  l.model->parts[1].bodies[0] = 0;
  assert_int_equal(yoke_plan_create(l.ctx, l.model, NULL, &l.plan), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(l.ctx, 0), "'a' is in subsystem 'p' and in 'q'"));
  l.model->parts[1].bodies[0] = 1;
  l.model->n_parts            = 1;
  assert_int_equal(yoke_plan_create(l.ctx, l.model, NULL, &l.plan), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(l.ctx, 1), "'b' is in no subsystem"));
  l.model->n_parts = 2;
  close_split(&l);
}

/* ---- outputs ---- */

/* Names of two chains, one of them long, that patterns mean: in the order of the model, whatever the order of the patterns. */
static void masses_of_chains_are_selected_by_name_and_by_pattern(void **state) {
  static const struct {
    const char *select, *names;
  } rows[] = {
      {"\"c.x[7]\"", "c.x[7] "},
      {"\"c.v[2000]\", \"c.x[30]\", \"c.x[4]\", \"c.x[30]\", \"cc.x[2]\"", "c.x[4] c.x[30] c.v[2000] cc.x[2] "},
      {"\"c*.x[2]\"", "c.x[2] cc.x[2] "},
      {"\"c.x[199?]\", \"c.x[5]\"",
       "c.x[5] c.x[1990] c.x[1991] c.x[1992] c.x[1993] c.x[1994] c.x[1995] c.x[1996] c.x[1997] c.x[1998] c.x[1999] "},
      {"\"cc.x*\"", "cc.x[1] cc.x[2] cc.x[3] "},
      {"\"?.v[3]\"", "c.v[3] "},
      {"\"c.a[2]\"", "c.a[2] "},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char text[700], names[400] = "";
    snprintf(text, sizeof text,
             "yoke: 1\nname: chains\nt_end: 1\nbodies:\n  c: {kind: chain, n: 2000, mass: 1, stiffness: 1}\n"
             "  cc: {kind: chain, n: 3, mass: 1, stiffness: 1}\nsplit: {one: [\"c[1..900]\"], two: [\"c[901..2000]\"], "
             "three: [cc]}\n"
             "cosimulation: {step: 0.1}\noutput: {select: [%s]}\n",
             rows[i].select);
    loaded l = split_text(text);
    for (int k = 0; k < l.plan->outputs.n; ++k)
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", l.plan->outputs.name[k]);
    assert_string_equal(names, rows[i].names);
    close_split(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_of_chains_are_selected_by_name_and_by_pattern),
      cmocka_unit_test(accelerations_of_every_split_example_are_those_of_the_whole_model),
      cmocka_unit_test(every_part_of_every_example_tells_the_size_of_its_implicit_view_before_it_is_made),
      cmocka_unit_test(a_chain_in_any_number_of_pieces_accelerates_as_the_whole),
      cmocka_unit_test(f32_the_side_that_is_far_lighter_holds_the_element_and_follows_the_other),
      cmocka_unit_test(every_flexible_joint_and_force_element_between_rigid_bodies_can_be_cut),
      cmocka_unit_test(planar_bodies_with_turned_and_tilted_frames_can_be_cut),
      cmocka_unit_test(bodies_of_different_kinds_can_be_cut),
      cmocka_unit_test(a_mass_between_two_pieces_of_a_chain_is_coupled_to_both),
      cmocka_unit_test(parts_without_a_coupling_are_independent_subsystems),
      cmocka_unit_test(one_part_is_the_whole_model),
      cmocka_unit_test(submodels_start_from_the_assembled_positions),
      cmocka_unit_test(settings_of_one_coupling_override_those_of_all),
      cmocka_unit_test(a_run_without_a_macro_step_is_controlled),
      cmocka_unit_test(an_order_that_is_chosen_needs_step_control),
      cmocka_unit_test(settings_have_the_defaults_of_the_manual),
      cmocka_unit_test(rigid_joints_between_rigid_bodies_can_be_cut),
      cmocka_unit_test(rigid_joints_between_other_bodies_can_be_cut),
      cmocka_unit_test(the_start_of_a_cut_joint_is_that_of_the_whole_model),
      cmocka_unit_test(multipliers_of_the_examples_start_as_printed),
      cmocka_unit_test(ports_of_a_cut_joint_accelerate_together_under_its_multipliers),
      cmocka_unit_test(compliance_is_the_response_to_a_unit_of_each_multiplier),
      cmocka_unit_test(a_closed_loop_can_be_cut_at_several_joints),
      cmocka_unit_test(a_joint_without_effect_is_no_coupling),
      cmocka_unit_test(a_joint_with_prescribed_motion_between_parts_is_refused_with_names),
      cmocka_unit_test(a_formulation_for_other_connections_is_refused),
      cmocka_unit_test(an_event_that_sets_two_parts_is_refused_with_names),
      cmocka_unit_test(a_formulation_for_joints_is_refused_for_a_spring),
      cmocka_unit_test(a_formulation_for_all_couplings_is_meant_for_those_of_its_kind),
      cmocka_unit_test(bodies_in_no_part_and_in_two_parts_are_refused_with_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
