#include "sketch.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers with units ---- */

/* Parameters of every model; their letters are those of say(). */
static const struct {
  char        letter;
  const char *value;
} units[] = {{'I', "M*L^2"},       {'V', "w*L/T"},   {'W', "w/T"},       {'K', "M/T^2"},   {'D', "M/T"},
             {'X', "M/(T*L)^2"},   {'Y', "M*T/L^2"}, {'R', "M*(L/T)^2"}, {'Q', "M*L^2/T"}, {'F', "w*M*L/T^2"},
             {'N', "w*M*(L/T)^2"}, {'A', "w*L/T^2"}, {'O', "1/T"},       {'P', "1/L"}};

static void append(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  t->length += vsnprintf(t->at + t->length, sizeof t->at - (size_t)t->length, format, arguments);
  va_end(arguments);
  assert(t->length < (int)sizeof t->at);
}

void say(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (const char *c = format; *c != '\0'; ++c) {
    if (*c != '%') {
      append(t, "%c", *c);
    } else if (*++c == 's') {
      append(t, "%s", va_arg(arguments, const char *));
    } else if (*c == 'd') {
      append(t, "%d", va_arg(arguments, int));
    } else {
      const double value = va_arg(arguments, double);
      append(t, "%.15g", value);
      if (value != 0.0 && *c != 'g') append(t, "*%c", *c);
    }
  }
  va_end(arguments);
}

/* ---- bodies ---- */

static int add_body(sketch *s, sketch_body body) {
  assert(s->n_bodies < SKETCH_BODIES);
  s->tied[s->n_bodies]   = s->n_bodies;
  s->bodies[s->n_bodies] = body;
  return s->n_bodies++;
}

int sketch_mass1d(sketch *s, double mass, double x, double v) {
  return add_body(s, (sketch_body){.kind = SKETCH_MASS1D, .mass = mass, .at = {x, 0, 0}, .v = {v, 0, 0}});
}

int sketch_particle(sketch *s, double mass, vec at, vec v) {
  return add_body(s, (sketch_body){.kind = SKETCH_PARTICLE, .mass = mass, .at = at, .v = v});
}

int sketch_planar(sketch *s, double mass, double inertia, vec at, vec v, double omega) {
  return add_body(
      s,
      (sketch_body){
          .kind = SKETCH_PLANAR, .mass = mass, .inertia = {0, 0, inertia}, .at = at, .v = v, .omega = {0, 0, omega}});
}

int sketch_rigid(sketch *s, double mass, vec inertia, vec at, vec v, vec omega) {
  return add_body(
      s, (sketch_body){.kind = SKETCH_RIGID, .mass = mass, .inertia = inertia, .at = at, .v = v, .omega = omega});
}

int sketch_bar(sketch *s, double mass, vec from, vec to, vec v, double omega) {
  const double l = vec_norm(vec_sub(to, from));
  return sketch_planar(s, mass, mass * l * l / 12.0, vec_scale(0.5, vec_add(from, to)), v, omega);
}

int sketch_rod(sketch *s, double mass, vec from, vec to, double thick, vec v, vec omega) {
  /* Axes stay along the inertial ones: moments of a thick rod of this direction, products neglected. */
  const vec    d = vec_sub(to, from);
  const double l = vec_norm(d), round = mass * thick * thick * l * l / 4.0;
  const vec    inertia = {round + mass * (d.y * d.y + d.z * d.z) / 12.0, round + mass * (d.x * d.x + d.z * d.z) / 12.0,
                          round + mass * (d.x * d.x + d.y * d.y) / 12.0};
  return sketch_rigid(s, mass, inertia, vec_scale(0.5, vec_add(from, to)), v, omega);
}

vec sketch_velocity(const sketch *s, int body, vec at) {
  if (body == GROUND) return NONE;
  const sketch_body *b = &s->bodies[body];
  return vec_add(b->v, vec_cross(b->omega, vec_sub(at, b->at)));
}

static double dot(vec a, vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* 1/m of a body at a point in its softest direction, 1/I about its lightest axis. */
static double mobility(const sketch *s, int body, vec at) {
  if (body == GROUND) return 0.0;
  const sketch_body *b   = &s->bodies[body];
  const vec          arm = vec_sub(at, b->at);
  if (b->kind == SKETCH_MASS1D || b->kind == SKETCH_PARTICLE) return 1.0 / b->mass;
  return 1.0 / b->mass + dot(arm, arm) / (b->kind == SKETCH_PLANAR ? b->inertia.z : fmin(b->inertia.x, b->inertia.y));
}

static double spin_mobility(const sketch *s, int body) {
  if (body == GROUND) return 0.0;
  const sketch_body *b = &s->bodies[body];
  if (b->kind == SKETCH_PLANAR) return 1.0 / b->inertia.z;
  return b->kind == SKETCH_RIGID ? 1.0 / fmin(fmin(b->inertia.x, b->inertia.y), b->inertia.z) : 0.0;
}

static double mass_of_two(double mobility_a, double mobility_b) {
  return 1.0 / (mobility_a + mobility_b);
}

static void note_frequency(sketch *s, double stiffness, double mass) {
  s->fastest = fmax(s->fastest, sqrt(stiffness / mass));
}

/* ---- points ---- */

typedef struct place {
  char name[96];
} place;

/* The name of a point of a body: a frame of its own. */
static place place_of(sketch *s, int body, vec at) {
  place name;
  text  t = {0};
  if (body == GROUND) {
    say(&t, "[%L, %L, %L]", at.x, at.y, at.z);
  } else if (s->bodies[body].kind == SKETCH_MASS1D || vec_norm(vec_sub(at, s->bodies[body].at)) == 0.0) {
    say(&t, "b%d", body + 1);
  } else {
    sketch_body *b   = &s->bodies[body];
    const vec    arm = vec_sub(at, b->at);
    say(&b->frames, "%sp%d: [%L, %L", b->n_frames > 0 ? ", " : "", b->n_frames + 1, arm.x, arm.y);
    if (b->kind != SKETCH_PLANAR) say(&b->frames, ", %L", arm.z);
    say(&b->frames, "]");
    say(&t, "b%d.p%d", body + 1, ++b->n_frames);
  }
  assert(t.length < (int)sizeof name.name);
  memcpy(name.name, t.at, (size_t)t.length + 1);
  return name;
}

static place end_of(sketch *s, int body, vec at, int other) {
  if (body == GROUND && s->bodies[other].kind == SKETCH_MASS1D) return (place){"ground"};
  return place_of(s, body, at);
}

/* ---- connections ---- */

static void connect(sketch *s, const char *kind, int a, int b, vec at_a, vec at_b, bool rigid) {
  assert(s->n_edges < SKETCH_EDGES);
  s->edges[s->n_edges++] = (sketch_edge){a, b, rigid};
  const place from = end_of(s, a, at_a, b), to = end_of(s, b, at_b, a);
  say(&s->connections, "  c%d: {kind: %s, between: [%s, %s]", s->n_edges, kind, from.name, to.name);
}

void sketch_joint(sketch *s, const char *kind, int a, int b, vec at, vec axis) {
  connect(s, kind, a, b, at, at, true);
  if (vec_norm(axis) > 0.0) say(&s->connections, ", axis: [%g, %g, %g]", axis.x, axis.y, axis.z);
  say(&s->connections, "}\n");
}

void sketch_bushing_along(sketch *s, int a, int b, vec at, vec k, vec kr, double ratio) {
  const double mass = mass_of_two(mobility(s, a, at), mobility(s, b, at));
  const double spin = mass_of_two(spin_mobility(s, a), spin_mobility(s, b));
  note_frequency(s, fmax(fmax(k.x, k.y), k.z), mass);
  if (fmax(fmax(kr.x, kr.y), kr.z) > 0.0) note_frequency(s, fmax(fmax(kr.x, kr.y), kr.z), spin);
  connect(s, "bushing", a, b, at, at, false);
  say(&s->connections, ", stiffness: [%K, %K, %K, %R, %R, %R]", k.x, k.y, k.z, kr.x, kr.y, kr.z);
  const vec d  = {2.0 * ratio * sqrt(k.x * mass), 2.0 * ratio * sqrt(k.y * mass), 2.0 * ratio * sqrt(k.z * mass)};
  const vec dr = {2.0 * ratio * sqrt(kr.x * spin), 2.0 * ratio * sqrt(kr.y * spin), 2.0 * ratio * sqrt(kr.z * spin)};
  say(&s->connections, ", damping: [%D, %D, %D, %Q, %Q, %Q]}\n", d.x, d.y, d.z, dr.x, dr.y, dr.z);
}

void sketch_bushing(sketch *s, int a, int b, vec at, double k, double kr, double ratio) {
  sketch_bushing_along(s, a, b, at, (vec){k, k, k}, (vec){kr, kr, kr}, ratio);
}

double sketch_damping(const sketch *s, int a, int b, double stiffness, double ratio) {
  const vec at_a = a == GROUND ? NONE : s->bodies[a].at, at_b = b == GROUND ? NONE : s->bodies[b].at;
  return 2.0 * ratio * sqrt(stiffness * mass_of_two(mobility(s, a, at_a), mobility(s, b, at_b)));
}

double sketch_torsion_damping(const sketch *s, int a, int b, double stiffness, double ratio) {
  return 2.0 * ratio * sqrt(stiffness * mass_of_two(spin_mobility(s, a), spin_mobility(s, b)));
}

void sketch_element(sketch *s, const char *kind, int a, int b, vec at_a, vec at_b, double stiffness, const char *law) {
  if (stiffness > 0.0) note_frequency(s, stiffness, mass_of_two(mobility(s, a, at_a), mobility(s, b, at_b)));
  connect(s, kind, a, b, at_a, at_b, false);
  say(&s->connections, ", %s}\n", law);
}

void sketch_spring(sketch *s, int a, int b, vec at_a, vec at_b, double k, double ratio) {
  const double d = sketch_damping(s, a, b, k, ratio), kind = draw_unit(s->draw);
  text         law = {0};
  if (kind < 0.55) {
    say(&law, "stiffness: %K, damping: %D", k, d);
  } else if (kind < 0.7) {
    say(&law, "stiffness: %K, damping: %D, stiffness_power: %X", k, d, k * draw_log(s->draw, 1.0, 100.0));
  } else if (kind < 0.8) {
    say(&law, "stiffness: %K, damping: %D, damping_power: %Y", k, d, d * draw_uniform(s->draw, 0.1, 1.0));
  } else if (kind < 0.9) {
    say(&law, "table: [[%L, %F], [%L, %F], [0, 0], [%L, %F], [%L, %F]], damping: %D", -0.2, -0.4 * k, -0.05, -0.05 * k,
        0.05, 0.05 * k, 0.2, 0.4 * k, d);
  } else {
    say(&law, "law: \"%K*x + %X*x^3 + %D*v\"", k, 10.0 * k, d);
  }
  sketch_element(s, "spring-damper", a, b, at_a, at_b, k, law.at);
}

void sketch_torsion(sketch *s, int a, int b, double k, double ratio) {
  note_frequency(s, k, mass_of_two(spin_mobility(s, a), spin_mobility(s, b)));
  connect(s, "torsion-spring", a, b, a == GROUND ? NONE : s->bodies[a].at, b == GROUND ? NONE : s->bodies[b].at, false);
  say(&s->connections, ", stiffness: %R, damping: %Q}\n", k, sketch_torsion_damping(s, a, b, k, ratio));
}

/* ---- loads ---- */

void sketch_load(sketch *s, const text *load) {
  say(&s->loads, "  l%d: {%s}\n", ++s->n_loads, load->at);
}

void sketch_push(sketch *s, int body, double force, double omega) {
  static const char *const ends[] = {
      [SKETCH_MASS1D] = "", [SKETCH_PARTICLE] = ", 0]", [SKETCH_PLANAR] = "]", [SKETCH_RIGID] = ", 0]"};
  text              load = {0};
  const sketch_kind kind = s->bodies[body].kind;
  const char       *open = kind == SKETCH_MASS1D ? "" : "[", *more = kind == SKETCH_MASS1D ? "" : ", 0";
  const int         way = draw_int(s->draw, 0, 2);
  if (way == 0) {
    say(&load, "kind: harmonic, on: b%d, force: %s%F%s%s, omega: %O", body + 1, open, force, more, ends[kind], omega);
  } else if (way == 1) {
    say(&load, "kind: impulse, on: b%d, force: %s%F%s%s, time: %T, width: %T, rise: %T", body + 1, open, 3.0 * force,
        more, ends[kind], 0.3 * s->span, 0.05 * s->span, 0.005 * s->span);
  } else {
    say(&load, "kind: expression, on: b%d, force: %s\"%F*step(t - %T)\"%s%s", body + 1, open, force, 0.4 * s->span,
        more, ends[kind]);
  }
  sketch_load(s, &load);
}

void sketch_tie(sketch *s, int a, int b) {
  s->tied[b] = s->tied[a];
}

/* ---- size and split ---- */

/* From micrometres to kilometres: half of the models are of handy size, the others have a density between that of foam and that
 * of lead, and times between those of waves in a solid, ~ L, and of gravity, ~ sqrt(L). */
static void draw_size(sketch *s) {
  s->length = s->mass = s->time = 1.0;
  if (draw_chance(s->draw, 0.5)) return;
  s->length           = draw_log(s->draw, 2e-6, 1e3);
  const double volume = s->length * s->length * s->length, root = sqrt(s->length);
  s->mass = draw_log(s->draw, 0.1 * volume, 100.0 * volume);
  s->time = s->length < 1.0 ? draw_log(s->draw, s->length, root) : draw_log(s->draw, root, s->length);
}

static void draw_parts(sketch *s) {
  const int    n = s->n_bodies, parts = draw_int(s->draw, 2, n < 4 ? n : 4);
  const double way = draw_unit(s->draw);
  if (way < 0.65) { /* neighbours in the order of the bodies */
    bool first[SKETCH_BODIES] = {false};
    for (int k = 1; k < parts; ++k) first[draw_int(s->draw, 1, n - 1)] = true;
    for (int i = 0, part = 0; i < n; ++i) s->bodies[i].part = part += first[i];
  } else if (way < 0.85) { /* regions that grow along connections */
    for (int i = 0; i < n; ++i) s->bodies[i].part = -1;
    for (int k = 0; k < parts; ++k) s->bodies[draw_int(s->draw, 0, n - 1)].part = k;
    for (int round = 0; round < n; ++round) {
      for (int e = 0; e < s->n_edges; ++e) {
        const int a = s->edges[e].a, b = s->edges[e].b;
        if (a == GROUND || b == GROUND) continue;
        if (s->bodies[a].part < 0) s->bodies[a].part = s->bodies[b].part;
        if (s->bodies[b].part < 0) s->bodies[b].part = s->bodies[a].part;
      }
    }
    for (int i = 0; i < n; ++i) s->bodies[i].part = s->bodies[i].part < 0 ? 0 : s->bodies[i].part;
  } else {
    for (int i = 0; i < n; ++i) s->bodies[i].part = draw_int(s->draw, 0, parts - 1);
  }
  for (int i = 0; i < n; ++i) s->bodies[i].part = s->bodies[s->tied[i]].part;
}

/* Numbers the parts from 0 without a gap, and finds what is cut. */
static void count_parts(sketch *s) {
  int number[SKETCH_BODIES];
  for (int i = 0; i < SKETCH_BODIES; ++i) number[i] = -1;
  s->n_parts    = 0;
  s->cuts_joint = s->cuts_force = false;
  for (int i = 0; i < s->n_bodies; ++i) {
    int *part = &number[s->bodies[i].part];
    if (*part < 0) *part = s->n_parts++;
    s->bodies[i].part = *part;
  }
  for (int e = 0; e < s->n_edges; ++e) {
    const sketch_edge *edge = &s->edges[e];
    if (edge->a == GROUND || edge->b == GROUND || s->bodies[edge->a].part == s->bodies[edge->b].part) continue;
    *(edge->rigid ? &s->cuts_joint : &s->cuts_force) = true;
  }
}

void sketch_finish(sketch *s) {
  draw_size(s);
  do {
    draw_parts(s);
    count_parts(s);
  } while (!s->cuts_joint && !s->cuts_force);
}

/* ---- the model file ---- */

static void write_body(const sketch *s, int i, text *out) {
  const sketch_body *b = &s->bodies[i];
  say(out, "  b%d: {", i + 1);
  switch (b->kind) {
  case SKETCH_MASS1D: say(out, "kind: mass1d, mass: %M, x: %L, v: %V", b->mass, b->at.x, b->v.x); break;
  case SKETCH_PARTICLE:
    say(out, "kind: particle, mass: %M, position: [%L, %L, %L], velocity: [%V, %V, %V]", b->mass, b->at.x, b->at.y,
        b->at.z, b->v.x, b->v.y, b->v.z);
    break;
  case SKETCH_PLANAR:
    say(out, "kind: planar, mass: %M, inertia: %I, position: [%L, %L], velocity: [%V, %V], omega: %W", b->mass,
        b->inertia.z, b->at.x, b->at.y, b->v.x, b->v.y, b->omega.z);
    break;
  case SKETCH_RIGID:
    say(out,
        "kind: rigid, mass: %M, inertia: [%I, %I, %I], position: [%L, %L, %L], velocity: [%V, %V, %V], omega: [%W, %W, "
        "%W]",
        b->mass, b->inertia.x, b->inertia.y, b->inertia.z, b->at.x, b->at.y, b->at.z, b->v.x, b->v.y, b->v.z,
        b->omega.x, b->omega.y, b->omega.z);
    break;
  }
  if (b->n_frames > 0) say(out, ", frames: {%s}", b->frames.at);
  say(out, "}\n");
}

void sketch_write(const sketch *s, const char *name, text *out) {
  out->length = 0;
  say(out, "yoke: 1\nname: %s\nparameters:\n  L: %g\n  M: %g\n  T: %g\n  w: 1\n", name, s->length, s->mass, s->time);
  for (size_t k = 0; k < sizeof units / sizeof *units; ++k) append(out, "  %c: %s\n", units[k].letter, units[k].value);
  say(out, "gravity: [%A, %A, %A]\nt_end: %T\nbodies:\n", s->gravity.x, s->gravity.y, s->gravity.z, s->span);
  for (int i = 0; i < s->n_bodies; ++i) write_body(s, i, out);
  say(out, "connections:\n%s", s->connections.at);
  if (s->n_loads > 0) say(out, "loads:\n%s", s->loads.at);
  if (s->events.length > 0) say(out, "events:\n%s", s->events.at);
  say(out, "split:\n");
  for (int part = 0; part < s->n_parts; ++part) {
    const char *between = "";
    say(out, "  s%d: [", part + 1);
    for (int i = 0; i < s->n_bodies; ++i) {
      if (s->bodies[i].part != part) continue;
      say(out, "%sb%d", between, i + 1);
      between = ", ";
    }
    say(out, "]\n");
  }
  say(out, "output: {every: %T, select: [\"b*\"]}\n", s->span / 200.0);
}
