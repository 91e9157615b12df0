#include "model/assembly_report.h"
#include "base/memory.h"
#include "base/text.h"
#include "linalg/space.h"
#include "model/joint_kinds.h"

#include <stdlib.h>

enum { MOST_NAMED = 5 };
static const double noted = 1e-6; /* share of the model's length, or of the fastest velocity */
static const double much  = 1e-2; /* bodies that were moved as far are refused */

typedef struct change {
  int    body;
  double translation, rotation; /* [m] and [rad], or [m/s] and [rad/s] */
  double share;
} change;

typedef struct start {
  const yoke_model     *model;
  const yoke_multibody *mb;
  double                length;
  double               *guess_q, *guess_v;
  const double         *q, *v;
  int                   n_bodies; /* without those that stand in for ports of foreign subsystems, which nobody drew */
  change               *list;     /* [n_bodies] those that count */
  int                   n;
} start;

static double distance(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

/* Largest component of a difference: chains, whose masses move each for itself. */
static double farthest(int n, const double *a, const double *b) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

static int n_translations(const yoke_body *body) {
  return body->kind == YOKE_BODY_PLANAR ? 2 : body->kind == YOKE_BODY_MASS1D ? 1 : 3;
}

/* Angle between two orientations: |p1 - p2| = 2 sin(angle / 4) for the nearer one of p2 and -p2. */
static double angle_between(const double a[4], const double b[4]) {
  const double minus[4] = {-b[0], -b[1], -b[2], -b[3]};
  return 4.0 * asin(fmin(1.0, 0.5 * fmin(distance(4, a, b), distance(4, a, minus))));
}

static change moved(const start *s, int b) {
  const yoke_body *body = &s->model->bodies[b];
  const double    *x = s->guess_q + yoke_multibody_q_offset(s->mb, b), *y = s->q + yoke_multibody_q_offset(s->mb, b);
  change           c = {.body = b};
  if (body->kind == YOKE_BODY_CHAIN) {
    c.translation = farthest(body->chain->n, x, y);
  } else {
    c.translation = distance(n_translations(body), x, y);
  }
  if (body->kind == YOKE_BODY_PLANAR) c.rotation = fabs(x[2] - y[2]);
  if (body->kind == YOKE_BODY_RIGID) c.rotation = angle_between(x + 3, y + 3);
  c.share = fmax(c.translation / s->length, c.rotation);
  return c;
}

/* Speeds of a body: of its centre, and of rotation. */
static change speeds(const start *s, int b, const double *v) {
  static const double rest[3] = {0.0, 0.0, 0.0};
  const yoke_body    *body    = &s->model->bodies[b];
  const double       *x       = v + yoke_multibody_v_offset(s->mb, b);
  change              c       = {.body = b};
  if (body->kind == YOKE_BODY_CHAIN) {
    for (int i = 0; i < body->chain->n; ++i) c.translation = fmax(c.translation, fabs(x[i]));
  } else {
    c.translation = distance(n_translations(body), x, rest);
  }
  if (body->kind == YOKE_BODY_PLANAR) c.rotation = fabs(x[2]);
  if (body->kind == YOKE_BODY_RIGID) c.rotation = vec3_norm(x + 3);
  return c;
}

/* What was given of a body's velocity and is another one now; `fastest` is the model's [m/s]. */
static change changed(const start *s, int b, double fastest) {
  const yoke_body *body = &s->model->bodies[b];
  const double    *x = s->guess_v + yoke_multibody_v_offset(s->mb, b), *y = s->v + yoke_multibody_v_offset(s->mb, b);
  const change     given = speeds(s, b, s->guess_v);
  change           c     = {.body = b};
  if (given.translation > 0.0) {
    c.translation =
        body->kind == YOKE_BODY_CHAIN ? farthest(body->chain->n, x, y) : distance(n_translations(body), x, y);
  }
  if (given.rotation > 0.0) c.rotation = body->kind == YOKE_BODY_PLANAR ? fabs(x[2] - y[2]) : distance(3, x + 3, y + 3);
  c.share = fmax(c.translation, c.rotation * s->length) / fastest;
  return c;
}

static int by_share(const void *a, const void *b) {
  const change *x = a, *y = b;
  if (x->share != y->share) return x->share < y->share ? 1 : -1;
  return (x->body > y->body) - (x->body < y->body);
}

/* "'crank' by 0.12 m and 0.2 rad, 'rod' by 0.1 m and 2 more" */
static void name_changes(const start *s, const char *length, const char *angle, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < s->n && i < MOST_NAMED; ++i) {
    const change *c = &s->list[i];
    yoke_text_append(text, size, "%s'%s' by ", i > 0 ? ", " : "", s->model->bodies[c->body].name);
    if (c->translation > 0.0) yoke_text_append(text, size, "%.3g %s", c->translation, length);
    if (c->rotation > 0.0)
      yoke_text_append(text, size, "%s%.3g %s", c->translation > 0.0 ? " and " : "", c->rotation, angle);
  }
  if (s->n > MOST_NAMED) yoke_text_append(text, size, " and %d more", s->n - MOST_NAMED);
}

static void collect(start *s, change c) {
  if (c.share > noted) s->list[s->n++] = c;
}

static void sort(start *s) {
  if (s->n > 1) qsort(s->list, (size_t)s->n, sizeof *s->list, by_share);
}

static bool asks_for_assembly(const yoke_model *model) {
  bool asks = model->assemble || yoke_model_n_port_bodies(model) > 0; /* only their code knows where these ports are */
  for (int c = 0; c < model->n_connections; ++c) asks = asks || model->connections[c].has_initial;
  return asks;
}

static yoke_status report_positions(yoke_context *ctx, start *s) {
  char text[500];
  s->n = 0;
  for (int b = 0; b < s->n_bodies; ++b) collect(s, moved(s, b));
  if (s->n == 0) return YOKE_OK;
  sort(s);
  name_changes(s, "m", "rad", text, sizeof text);
  if (s->list[0].share > much && !asks_for_assembly(s->model)) {
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "the given positions do not fit the joints: to close them the assembly would move %s (the model's "
                     "length is %.3g m, 1 %% is allowed); correct positions, frames or lengths, or let the assembly "
                     "place the bodies (assemble: true)",
                     text, s->length);
  }
  yoke_note(ctx, "to close the joints the assembly moved %s (the model's length is %.3g m)", text, s->length);
  return YOKE_OK;
}

static void report_velocities(yoke_context *ctx, start *s) {
  char   text[500];
  double fastest = 0.0;
  s->n           = 0;
  for (int b = 0; b < s->n_bodies; ++b) {
    const change given = speeds(s, b, s->guess_v), now = speeds(s, b, s->v);
    fastest =
        fmax(fastest, fmax(fmax(given.translation, now.translation), s->length * fmax(given.rotation, now.rotation)));
  }
  for (int b = 0; b < s->n_bodies && fastest > 0.0; ++b) collect(s, changed(s, b, fastest));
  if (s->n == 0) return;
  sort(s);
  name_changes(s, "m/s", "rad/s", text, sizeof text);
  yoke_note(
      ctx, "to fit the joints the assembly changed the velocities of %s%s", text,
      s->list[0].share > much && !s->model->assemble
          ? "; to keep them give all bodies that move velocities that fit, or those that count `keep: true`, or a "
            "joint its `initial_rate`"
          : "");
}

static void report_freedoms(yoke_context *ctx, const yoke_model *model, const yoke_equations *e,
                            const yoke_assembly *assembly) {
  if (e->nv == 0 || e->nv - e->ng + assembly->n_redundant + e->n_motions > 0) return;
  yoke_warn(ctx,
            "model '%s' cannot move: its bodies have %d freedoms, and its joints hold all of them (%d rows%s); take a "
            "joint away, or one with fewer rows, if it should",
            model->name, e->nv, e->ng, assembly->n_redundant > 0 ? ", some twice" : "");
}

static void report_left_out(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                            const yoke_assembly *assembly) {
  char     text[300] = "", label[40];
  int      n = 0, worst = 0;
  yoke_row rows[YOKE_CONNECTION_MAX_ROWS];
  for (int c = 0; c < model->n_connections && assembly->left_out != NULL; ++c) {
    const int n_rows = yoke_joint_rows(model->connections[c].kind, rows);
    for (int i = 0; i < n_rows; ++i) {
      if (!assembly->left_out[(ptrdiff_t)YOKE_CONNECTION_MAX_ROWS * c + i]) continue;
      yoke_row_label(&rows[i], label, sizeof label);
      yoke_text_append(text, sizeof text, "%s'%s: %s'", n++ > 0 ? ", " : "", model->connections[c].name, label);
    }
  }
  if (n == 0) return;
  const double gap = yoke_multibody_left_open(mb, assembly->q, &worst);
  yoke_note(ctx,
            "%d constraint row%s from other joints but for the digits that were typed and %s left out, open by at most "
            "%.2g of the model's length (or rad); the others carry %s force: %s",
            n, n > 1 ? "s follow" : " follows", n > 1 ? "are" : "is", fmax(gap, 1e-13), n > 1 ? "their" : "its", text);
}

yoke_status yoke_assembly_report(yoke_context *ctx, const yoke_model *model, const yoke_equations *equations,
                                 const yoke_multibody *mb, const yoke_assembly *assembly) {
  if (equations->ng == 0 && !asks_for_assembly(model)) return YOKE_OK;
  start s    = {.model = model, .mb = mb, .length = yoke_multibody_length(mb), .q = assembly->q, .v = assembly->v};
  s.guess_q  = yoke_allocate((size_t)equations->nq + 1, sizeof *s.guess_q);
  s.guess_v  = yoke_allocate((size_t)equations->nv + 1, sizeof *s.guess_v);
  s.n_bodies = model->n_bodies - yoke_model_n_port_bodies(model);
  s.list     = yoke_allocate((size_t)model->n_bodies + 1, sizeof *s.list);
  yoke_status status = s.guess_q != NULL && s.guess_v != NULL && s.list != NULL
                           ? YOKE_OK
                           : yoke_out_of_memory(ctx, "the start of %d bodies", model->n_bodies);
  if (status == YOKE_OK) {
    yoke_multibody_initial_guess(mb, s.guess_q, s.guess_v);
    report_left_out(ctx, model, mb, assembly);
    status = report_positions(ctx, &s);
  }
  if (status == YOKE_OK) {
    report_velocities(ctx, &s);
    report_freedoms(ctx, model, equations, assembly);
  }
  free(s.guess_q);
  free(s.guess_v);
  free(s.list);
  return status;
}
