/* Constitutive coupling: two ports joined by a force element (Li 3.1-3.4, Lu 2.2, Kraft 2.1).
 *
 * The element gives the wrenches W1, W2 on the ports as functions of their motion (p1, v1, p2, v2) and of t. A side in
 * force mode is driven by the wrench on its port. A side in displacement mode contains the element itself, between its
 * own frame and a ghost that follows copies of the other port's p and v.
 *
 * Channels and conditions, in this order (i: channel; every quantity at T_{N+1}):
 *   wrench component   u_i - W(y1, y2) = 0           feed-through: W with the copies in place of the originals
 *   copy               u_i - y = 0
 * then one more for every channel with an inner node:
 *   D-extension        u_i' - dW/dt = 0,  dW/dt = W_p p' + W_v v' + W_t;     copies of v:  u_i' - v' = 0
 *   I-extension        integral u_i - integral W = 0;                        copies of p:  integral u_i - integral p = 0
 *
 * Only what the element can do becomes a channel. The rows of an element have gradients with a fixed pattern when the
 * frames sit in the ports: an element neither pushes nor feels a freedom in which no row has a gradient. Where the
 * gradients of the two sides are exactly opposite (all but the moments of inplane and along rows, whose force acts off
 * one of the origins) one channel, lambda, drives both sides: + on side 1, - on side 2.
 *
 * A law may read further numbers z, which the ports show behind the outputs of their shapes: W(y1, y2, z). */
#include "linalg/lapack.h"
#include "coupling/formulation.h"
#include "base/memory.h"

#include "linalg/space.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE, MAX_DEGREE_EXTENDED = 2 };

static const double rank_limit = 1e-12; /* gradients of rows that depend on each other */

/* What a channel stands for. */
typedef enum role { ROLE_WRENCH, ROLE_COPY_P, ROLE_COPY_V } role;

typedef struct meaning {
  role what;
  int  side;      /* wrench: on this port; copy: of this port */
  int  component; /* wrench: freedom 0 .. 5; copy: component of p or v */
} meaning;

/* One force along x between ports that move along x only, without anything else. A copy of what its law reads, which equal ones share. */
typedef struct scalar_law {
  double   origin[2]; /* of the frames, by side */
  double   direction; /* 1, or -1: of the row */
  double   offset;
  int64_t  first; /* side of the row's first frame; as wide as the others, so that no byte is unset */
  yoke_law law;   /* linear and power part only */
} scalar_law;

typedef struct constitutive {
  const scalar_law         *scalar; /* NULL: it is more than that */
  const scalar_law         *line;   /* the same, whatever the channels are: energies and powers. NULL: it is more */
  yoke_arena                arena;
  const yoke_force_element *element;
  int                       n_read;
  const yoke_law_reading   *read; /* [n_read] */
  const yoke_port_shape    *shape[2];
  yoke_extension            extension;
  bool                      feedthrough;
  unsigned
         wrenches; /* components of the wrenches that are channels: bit 6 side + freedom; 0: no condition has the law */
  bool   reads_time;   /* the law depends on t */
  bool   constant;     /* W_p and W_v do not depend on the motion */
  double length, time; /* of the model; 1 where they are not known */
  int    n, n_extended;
  yoke_channel      *channel;  /* [n] */
  meaning           *means;    /* [n] */
  int               *extended; /* [n_extended] channels with an inner node */
  yoke_decomposition decomposition;
  /* Feed-through: the channel that replaces component k of p [0] or v [1] of a side in the law, -1: none. */
  int               *replaces[2][2];
} constitutive;

/* ---- places in y = (p, v, v', integrals) ---- */

static int at_v(const constitutive *self, int side) {
  return yoke_shape_at_v(self->shape[side]);
}
static int at_acceleration(const constitutive *self, int side) {
  return yoke_shape_at_a(self->shape[side]);
}
static int at_integral(const constitutive *self, int side) {
  return yoke_shape_at_integral(self->shape[side]);
}

/* ---- structure of an element ---- */

/* Bit f is set when some row has a gradient in freedom f of the port. */
static unsigned row_freedoms(const yoke_row *row, int side) {
  const unsigned translations = 7u, rotations = 56u;
  switch (row->kind) {
  case YOKE_ROW_POINT: return 1u << row->k;
  case YOKE_ROW_STRETCH: return 1u;
  case YOKE_ROW_DISTANCE: return translations;
  case YOKE_ROW_INPLANE: return side == 1 ? translations | rotations : translations;
  case YOKE_ROW_ALONG: return side == 0 ? translations | rotations : translations;
  case YOKE_ROW_SLOPE: return side == 0 ? translations : rotations;
  case YOKE_ROW_TURN: return 1u << 5;
  case YOKE_ROW_PERPENDICULAR:
  case YOKE_ROW_ANGLE:
  case YOKE_ROW_ROTATION: return rotations;
  case YOKE_ROW_CARRIED:
  case YOKE_ROW_CARRIED_TURN: break;
  }
  return translations | rotations;
}

static unsigned element_freedoms(const yoke_force_element *element, int side) {
  unsigned freedoms = 0u;
  for (int i = 0; i < element->n; ++i) freedoms |= row_freedoms(&element->row[i], side);
  return freedoms;
}

/* Are the two wrenches exactly opposite in this freedom? */
static bool is_opposite(const yoke_force_element *element, int freedom) {
  for (int i = 0; i < element->n; ++i) {
    const yoke_row_kind kind = element->row[i].kind;
    if (kind == YOKE_ROW_SLOPE) return false;
    if (yoke_freedom_turns(freedom) && (kind == YOKE_ROW_INPLANE || kind == YOKE_ROW_ALONG)) return false;
  }
  return true;
}

static bool law_is_linear(const yoke_law *law) {
  return law == NULL ||
         (law->expression == NULL && law->table.n == 0 && law->stiffness_power == 0.0 && law->damping_power == 0.0);
}

/* Rows of constant direction: s is a difference of two components of p. */
static bool row_is_constant(const yoke_row *row) {
  return row->kind == YOKE_ROW_POINT || row->kind == YOKE_ROW_STRETCH || row->kind == YOKE_ROW_TURN;
}

static bool rows_are_constant(const yoke_force_element *element) {
  for (int i = 0; i < element->n; ++i) {
    if (!row_is_constant(&element->row[i])) return false;
  }
  return true;
}

static bool law_reads_time(const yoke_law *law) {
  if (law == NULL || law->expression == NULL) return false;
  for (int k = 0; k < yoke_expression_n_variables(law->expression); ++k) {
    if (yoke_expression_variables(law->expression)[k] == 2) return true;
  }
  return false;
}

static bool is_force_driven(yoke_decomposition decomposition, int side) {
  return decomposition == YOKE_FORCE_FORCE ||
         decomposition == (side == 0 ? YOKE_FORCE_DISPLACEMENT : YOKE_DISPLACEMENT_FORCE);
}

/* ---- is the combination possible? ---- */

static const char *const decomposition_words[] = {
    [YOKE_FORCE_FORCE]               = "force/force",
    [YOKE_FORCE_DISPLACEMENT]        = "force/displacement",
    [YOKE_DISPLACEMENT_FORCE]        = "displacement/force",
    [YOKE_DISPLACEMENT_DISPLACEMENT] = "displacement/displacement",
};

static yoke_status check_feedthrough(yoke_context *ctx, const yoke_coupling_def *def) {
  const yoke_coupling_settings *settings = def->settings;
  if (settings->decomposition != YOKE_FORCE_DISPLACEMENT && settings->decomposition != YOKE_DISPLACEMENT_FORCE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': %s has no feed-through; leave out feedthrough, or use decomposition "
                     "force/displacement or displacement/force",
                     def->name, decomposition_words[settings->decomposition]);
  }
  if (settings->extension != YOKE_EXTENSION_NONE) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': feedthrough goes with extension none only; leave out one of the two", def->name);
  }
  return YOKE_OK;
}

/* The integral of W over the step follows from the integrals of p only if W is linear with constant directions. */
static yoke_status check_integral(yoke_context *ctx, const yoke_coupling_def *def) {
  if (def->settings->decomposition == YOKE_DISPLACEMENT_DISPLACEMENT) return YOKE_OK; /* no force is a channel */
  const yoke_force_element *element = def->element;
  for (int i = 0; i < element->n; ++i) {
    if (row_is_constant(&element->row[i])) continue;
    char label[40];
    yoke_row_label(&element->row[i], label, sizeof label);
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': extension i needs the integral of the force, which row '%s' does not have in closed "
        "form; use extension d, or decomposition displacement/displacement",
        def->name, label);
  }
  if (!law_is_linear(element->law)) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': extension i needs the integral of the force, which a nonlinear law does not have in "
        "closed form; use extension d, or decomposition displacement/displacement",
        def->name);
  }
  return YOKE_OK;
}

/* Numbers of the model are shown at ports: a side that holds the element itself does not have those of the other. Their rates are not shown. */
static yoke_status check_reading(yoke_context *ctx, const yoke_coupling_def *def) {
  if (def->settings->decomposition != YOKE_FORCE_FORCE)
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': its law reads quantities of the model, which goes with decomposition force/force "
                     "only, found %s; use decomposition force/force for it",
                     def->name, decomposition_words[def->settings->decomposition]);
  if (def->settings->extension == YOKE_EXTENSION_D)
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': extension d needs the rate of the force, and its law reads quantities of the model "
        "whose rates are not known; use extension none",
        def->name);
  return YOKE_OK;
}

static yoke_status constitutive_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                      int order) {
  const yoke_coupling_settings *settings = def->settings;
  if (def->element == NULL) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation constitutive needs a force element, this is a rigid joint; make it "
                     "flexible, or use a formulation for constraints",
                     def->name);
  }
  const bool extended   = settings->extension != YOKE_EXTENSION_NONE;
  const int  max_degree = extended ? MAX_DEGREE_EXTENDED : MAX_DEGREE;
  const char word       = settings->extension == YOKE_EXTENSION_D ? 'd' : 'i';
  if (extended && scheme != NULL && scheme->needs_explicit_form) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': extension %c has conditions without explicit form, so scheme %s cannot solve them; "
        "use scheme semi-implicit or implicit, or extension none",
        def->name, word, scheme->name);
  }
  if (order < 0 || order > max_degree) {
    if (!extended) {
      return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected 0 to %d", def->name, order, max_degree);
    }
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': order is %d, expected 0 to %d with extension %c; use a lower order, or extension none",
        def->name, order, max_degree, word);
  }
  if (settings->feedthrough) YOKE_TRY(check_feedthrough(ctx, def));
  if (def->n_read > 0) YOKE_TRY(check_reading(ctx, def));
  return settings->extension == YOKE_EXTENSION_I ? check_integral(ctx, def) : YOKE_OK;
}

/* ---- channels ---- */

static yoke_channel *add_channel(constitutive *self, role what, int side, int component) {
  yoke_channel *channel  = &self->channel[self->n];
  self->means[self->n++] = (meaning){what, side, component};
  *channel               = (yoke_channel){.sign = {1.0, 1.0}};
  channel->is_force      = what == ROLE_WRENCH;
  if (what == ROLE_WRENCH) self->wrenches |= 1u << (6 * side + component);
  return channel;
}

static const char *const freedom_words[] = {"force x", "force y", "force z", "moment x", "moment y", "moment z"};

/* The channel or channels that bring freedom f of the wrench to the sides in force mode. */
static void add_wrench(constitutive *self, yoke_decomposition decomposition, int f) {
  int  component[2];
  bool drives[2];
  for (int s = 0; s < 2; ++s) {
    component[s] = yoke_shape_component(self->shape[s], f);
    drives[s] =
        is_force_driven(decomposition, s) && component[s] >= 0 && (element_freedoms(self->element, s) >> f & 1u) != 0u;
  }
  const bool opposite = is_opposite(self->element, f);
  const bool both     = drives[0] && drives[1];
  if (opposite && (both ? component[0] == component[1] : drives[0] || drives[1])) { /* lambda: the wrench on side 1 */
    yoke_channel *channel = add_channel(self, ROLE_WRENCH, 0, f);
    channel->component    = drives[0] ? component[0] : component[1];
    channel->sign[1]      = -1.0;
    for (int s = 0; s < 2; ++s) channel->enters[s] = drives[s] ? YOKE_ENTRY_FORCE : YOKE_ENTRY_NONE;
    snprintf(channel->name, sizeof channel->name, "%s", freedom_words[f]);
    return;
  }
  for (int s = 0; s < 2; ++s) {
    if (!drives[s]) continue;
    yoke_channel *channel = add_channel(self, ROLE_WRENCH, s, f);
    channel->component    = component[s];
    channel->enters[s]    = YOKE_ENTRY_FORCE;
    snprintf(channel->name, sizeof channel->name, "%s on %d", freedom_words[f], s + 1);
  }
}

static bool law_needs_p(const constitutive *self, int side, int k) {
  const unsigned freedoms = element_freedoms(self->element, side);
  return (freedoms & self->shape[side]->p[k].freedoms) != 0u;
}

static bool law_needs_v(const constitutive *self, int side, int k) {
  return (element_freedoms(self->element, side) >> self->shape[side]->v[k].freedom & 1u) != 0u;
}

/* Copies of the motion of `side`: they enter the other side. */
static void add_copies(constitutive *self, int side) {
  const yoke_port_shape *shape = self->shape[side];
  for (int k = 0; k < shape->n_p; ++k) {
    if (!law_needs_p(self, side, k)) continue;
    yoke_channel *channel     = add_channel(self, ROLE_COPY_P, side, k);
    channel->component        = k;
    channel->enters[1 - side] = YOKE_ENTRY_COPY_P;
    snprintf(channel->name, sizeof channel->name, "copy %d %s", side + 1, shape->p[k].name);
  }
  for (int k = 0; k < shape->n_v; ++k) {
    if (!law_needs_v(self, side, k)) continue;
    yoke_channel *channel     = add_channel(self, ROLE_COPY_V, side, k);
    channel->component        = k;
    channel->enters[1 - side] = YOKE_ENTRY_COPY_V;
    snprintf(channel->name, sizeof channel->name, "copy %d %s", side + 1, shape->v[k].name);
  }
}

/* Which channels get an inner node: forces always; D: copies of v; I: copies of p that have an integral. */
static bool is_extended(const constitutive *self, const meaning *means) {
  if (self->extension == YOKE_EXTENSION_NONE) return false;
  if (means->what == ROLE_WRENCH) return true;
  if (self->extension == YOKE_EXTENSION_D) return means->what == ROLE_COPY_V;
  return means->what == ROLE_COPY_P && yoke_shape_integral(self->shape[means->side], means->component) >= 0;
}

static void set_replacements(constitutive *self) {
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < self->shape[s]->n_p; ++k) self->replaces[s][0][k] = -1;
    for (int k = 0; k < self->shape[s]->n_v; ++k) self->replaces[s][1][k] = -1;
  }
  for (int i = 0; self->feedthrough && i < self->n; ++i) {
    const meaning *m = &self->means[i];
    if (m->what != ROLE_WRENCH) self->replaces[m->side][m->what == ROLE_COPY_V][m->component] = i;
  }
}

static bool is_on_line(const constitutive *self) {
  const yoke_row *row = &self->element->row[0];
  const yoke_law *law = self->element->law;
  for (int s = 0; s < 2; ++s) {
    const yoke_port_shape *shape = self->shape[s];
    if (shape->n_p != 1 || shape->n_v != 1 || shape->v[0].freedom != 0 || shape->orient != NULL) return false;
  }
  if (self->n_read > 0 || self->element->n != 1) return false;
  if (law != NULL && (law->expression != NULL || law->table.n > 0)) return false;
  return row->kind == YOKE_ROW_STRETCH || (row->kind == YOKE_ROW_POINT && row->k == 0);
}

static bool is_scalar(const constitutive *self) {
  if (self->n != 1 || self->means[0].what != ROLE_WRENCH || self->means[0].side != 0) return false;
  return self->n_extended == 0 && !self->feedthrough;
}

static void set_scalar(constitutive *self) {
  const yoke_force_element *element = self->element;
  scalar_law                x       = {0};
  if (!is_on_line(self)) return;
  x.first = element->link.node[0];
  for (int i = 0; i < 2; ++i) x.origin[element->link.node[i]] = element->link.origin[i][0];
  x.direction  = element->row[0].kind == YOKE_ROW_STRETCH ? -1.0 : 1.0;
  x.offset     = element->offset[0];
  x.law        = element->law != NULL ? *element->law
                                      : (yoke_law){.stiffness = element->stiffness[0], .damping = element->damping[0]};
  self->line   = yoke_arena_share(&self->arena, &x, sizeof x);
  self->scalar = is_scalar(self) ? self->line : NULL;
}

static void take_memory(constitutive *self) {
  size_t most = 12; /* wrenches on both sides */
  for (int s = 0; s < 2; ++s) {
    const size_t n_p = (size_t)self->shape[s]->n_p, n_v = (size_t)self->shape[s]->n_v;
    self->replaces[s][0] = yoke_arena_take(&self->arena, n_p, sizeof(int));
    self->replaces[s][1] = yoke_arena_take(&self->arena, n_v, sizeof(int));
    most += n_p + n_v;
  }
  self->channel  = yoke_arena_take(&self->arena, most, sizeof *self->channel);
  self->means    = yoke_arena_take(&self->arena, most, sizeof *self->means);
  self->extended = yoke_arena_take(&self->arena, most, sizeof *self->extended);
}

static void constitutive_destroy(void *object) {
  constitutive *self = object;
  yoke_arena_free(&self->arena);
  free(self);
}

static yoke_status constitutive_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  const yoke_decomposition decomposition = def->settings->decomposition;
  constitutive            *self          = yoke_allocate(1, sizeof *self);
  *out                                   = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  self->element       = def->element;
  self->n_read        = def->n_read;
  self->read          = def->read;
  self->shape[0]      = def->shape[0];
  self->shape[1]      = def->shape[1];
  self->decomposition = decomposition;
  self->extension     = def->settings->extension;
  self->feedthrough   = def->settings->feedthrough;
  self->length        = def->settings->length > 0.0 ? def->settings->length : 1.0;
  self->time          = def->settings->time > 0.0 ? def->settings->time : 1.0;
  self->reads_time    = law_reads_time(def->element->law);
  self->constant      = rows_are_constant(def->element) && law_is_linear(def->element->law);
  take_memory(self);
  YOKE_TRY(yoke_arena_check(&self->arena, ctx, "coupling '%s'", def->name));
  for (int f = 0; f < 6; ++f) add_wrench(self, decomposition, f);
  for (int s = 0; s < 2; ++s) {
    if (!is_force_driven(decomposition, 1 - s)) add_copies(self, s);
  }
  for (int i = 0; i < self->n; ++i) {
    self->channel[i].extended = is_extended(self, &self->means[i]);
    if (self->channel[i].extended) self->extended[self->n_extended++] = i;
  }
  set_replacements(self);
  set_scalar(self);
  return yoke_arena_check(&self->arena, ctx, "coupling '%s'", def->name);
}

static const yoke_channel *constitutive_channels(const void *object, int *n) {
  const constitutive *self = object;
  *n                       = self->n;
  return self->channel;
}

static void constitutive_layout(const void *object, int channel, int degree, yoke_layout *out) {
  const constitutive *self = object;
  if (self->channel[channel].extended) {
    const int k = degree < MAX_DEGREE_EXTENDED ? degree : MAX_DEGREE_EXTENDED;
    *out        = (yoke_layout){.kind = YOKE_LAYOUT_HALF, .degree = k, .inner = {0.5, 0.0}};
  } else {
    *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
  }
}

static int constitutive_n_conditions(const void *object) {
  const constitutive *self = object;
  return self->n + self->n_extended;
}

/* ---- the law ---- */

/* Motion of the two ports as the law sees it, and the element with what its law reads. */
typedef struct motion {
  double                   *p[2], *v[2], *a[2];
  const yoke_force_element *element;
} motion;

/* The element for outputs y: a copy in scratch with the further numbers of its law, where it reads any. NULL: no room. */
static const yoke_force_element *element_for(const constitutive *self, const double *const y[2], yoke_arena *scratch) {
  if (self->n_read == 0) return self->element;
  const size_t        n    = 3 + (size_t)self->n_read;
  yoke_force_element *own  = yoke_arena_take(scratch, 1, sizeof *own);
  yoke_law_room      *room = yoke_arena_take(scratch, 1, sizeof *room);
  double             *z    = yoke_arena_take(scratch, 2 * n, sizeof *z);
  if (own == NULL || room == NULL || z == NULL) return NULL;
  for (int k = 0; k < self->n_read; ++k) z[3 + k] = y[self->read[k].side][self->read[k].y];
  *room     = (yoke_law_room){.n_z = self->n_read, .values = z, .gradient = z + n};
  *own      = *self->element;
  own->room = room;
  return own;
}

/* Copies of what y holds, in scratch. false: no room. */
static bool take_motion(const constitutive *self, const double *const y[2], yoke_arena *scratch, motion *m) {
  const size_t n[2] = {(size_t)at_integral(self, 0), (size_t)at_integral(self, 1)}; /* p, v, v' */
  double      *room = yoke_arena_take(scratch, n[0] + n[1], sizeof *room);
  if (room == NULL) return false;
  for (int s = 0; s < 2; ++s) {
    m->p[s] = s == 0 ? room : room + n[0];
    m->v[s] = m->p[s] + at_v(self, s);
    m->a[s] = m->p[s] + at_acceleration(self, s);
    memcpy(m->p[s], y[s], n[s] * sizeof *room);
  }
  m->element = element_for(self, y, scratch);
  return m->element != NULL;
}

static bool set_motion(const constitutive *self, const double *const y[2], const double *u, yoke_arena *scratch,
                       motion *m) {
  if (!take_motion(self, y, scratch, m)) return false;
  for (int s = 0; self->feedthrough && s < 2; ++s) {
    for (int k = 0; k < self->shape[s]->n_p; ++k) {
      if (self->replaces[s][0][k] >= 0) m->p[s][k] = u[self->replaces[s][0][k]];
    }
    for (int k = 0; k < self->shape[s]->n_v; ++k) {
      if (self->replaces[s][1][k] >= 0) m->v[s][k] = u[self->replaces[s][1][k]];
    }
  }
  return true;
}

static void set_poses(const constitutive *self, const motion *m, yoke_pose poses[2]) {
  for (int s = 0; s < 2; ++s) yoke_shape_pose(self->shape[s], m->p[s], m->v[s], &poses[s]);
}

/* Forces and moments on the ports, f [2, 6], where channels are among them. */
static void wrench(const constitutive *self, const motion *m, double t, double f[12]) {
  yoke_pose poses[2];
  memset(f, 0, 12 * sizeof *f);
  if (self->wrenches == 0u) return;
  set_poses(self, m, poses);
  yoke_force_element_apply(m->element, poses, t, f);
}

/* The only channel of a scalar coupling, the wrench on side 1: the bits of `wrench`. The slopes of the law may be NULL. */
static double scalar_force(const scalar_law *x, double t, const double *y1, const double *y2, double *F_x,
                           double *F_v) {
  const double C[2] = {y1[0] + x->origin[0], y2[0] + x->origin[1]}, v[2] = {y1[1], y2[1]}, n = x->direction;
  const int    a = (int)x->first, b = 1 - a;
  const double deflection = (C[a] - C[b]) * n - x->offset, rate = n * v[a] - n * v[b];
  const bool   is_linear = F_x == NULL && F_v == NULL && x->law.stiffness_power == 0.0 && x->law.damping_power == 0.0;
  const double F         = is_linear ? x->law.stiffness * deflection + x->law.damping * rate
                                     : yoke_law_force(&x->law, deflection, rate, t, F_x, F_v);
  return 0.0 - F * (a == 0 ? n : -n);
}

/* What it stores (NULL: not wanted) and the power that it loses: the bits of yoke_force_element_energy. */
static void scalar_energy(const scalar_law *x, double t, const double *const y[2], double *stored, double *lost) {
  const int    a = (int)x->first, b = 1 - a;
  const double n = x->direction, deflection = (y[a][0] + x->origin[a] - (y[b][0] + x->origin[b])) * n - x->offset;
  const double rate = n * y[a][1] - n * y[b][1];
  if (stored != NULL)
    *stored = x->law.stiffness_power == 0.0 ? 0.5 * x->law.stiffness * deflection * deflection
                                            : yoke_law_potential(&x->law, deflection);
  if (lost == NULL) return;
  *lost = x->law.damping_power == 0.0 ? x->law.damping * rate * rate
                                      : yoke_law_power_lost(&x->law, deflection, rate, t, NULL);
}

/* dc/dy of u - W: W = -F along the direction that its deflection is measured in, so that its signs cancel. */
static void scalar_slopes(const scalar_law *x, const yoke_coupling_view *view, double *dc_dy1, double *dc_dy2) {
  double F_x, F_v;
  (void)scalar_force(x, view->t, view->y[0], view->y[1], &F_x, &F_v);
  dc_dy1[0] = F_x;
  dc_dy1[1] = F_v;
  dc_dy2[0] = -F_x;
  dc_dy2[1] = -F_v;
}

/* Components of v (or v') to the twelve freedoms of the two frames. */
static void scatter(const constitutive *self, double *const v[2], double V[12]) {
  for (int s = 0; s < 2; ++s) yoke_shape_spread(self->shape[s], v[s], V + 6 * s);
}

/* rate += partial W / partial t: central difference of order 4 over a hundredth of the step. */
static void add_time_rate(const constitutive *self, const motion *m, double t, double H, double rate[12]) {
  static const double weight[2] = {2.0 / 3.0, -1.0 / 12.0};
  const double        h         = H > 0.0 ? 0.01 * H : 1e-6 * self->time;
  for (int j = 0; j < 2; ++j) {
    double       above[12], below[12];
    const double shift = (double)(j + 1) * h;
    wrench(self, m, t + shift, above);
    wrench(self, m, t - shift, below);
    for (int r = 0; r < 12; ++r) rate[r] += weight[j] * (above[r] - below[r]) / h;
  }
}

/* dW/dt = K V + D A + W_t. K holds the angular velocities fixed in their bodies, not in space; the difference is
 * D (phi x w) with phi = w dt, which is zero. */
static void wrench_rate(const constitutive *self, const motion *m, double t, double H, double rate[12]) {
  yoke_pose poses[2];
  double    f[12], K[144], D[144], V[12], A[12];
  set_poses(self, m, poses);
  yoke_force_element_jacobian(m->element, poses, t, f, K, D);
  scatter(self, m->v, V);
  scatter(self, m->a, A);
  for (int r = 0; r < 12; ++r) {
    rate[r] = 0.0;
    for (int c = 0; c < 12; ++c) rate[r] += K[12 * r + c] * V[c] + D[12 * r + c] * A[c];
  }
  if (self->reads_time) add_time_rate(self, m, t, H, rate);
}

/* Where in y of a side the position along a freedom is that has an integral, and the integral; false: there is none. */
static bool integral_places(const constitutive *self, int side, int freedom, int *position, int *integral) {
  const yoke_port_shape *shape = self->shape[side];
  const int              k = yoke_shape_component(shape, freedom), p = k < 0 ? -1 : yoke_shape_coordinate(shape, k);
  const int              i = p < 0 ? -1 : yoke_shape_integral(shape, p);
  *position                = p;
  *integral                = at_integral(self, side) + i;
  return i >= 0;
}

/* Position s of a row (without offset) or its integral over the step, from the outputs of both sides: sign (x1 - x2). */
static double row_difference(const constitutive *self, const yoke_row *row, const double *const y[2],
                             bool of_integrals) {
  const int freedom = row->kind == YOKE_ROW_POINT ? row->k : row->kind == YOKE_ROW_TURN ? 5 : 0;
  double    side[2];
  for (int s = 0; s < 2; ++s) {
    int position, integral;
    side[s] = integral_places(self, s, freedom, &position, &integral) ? y[s][of_integrals ? integral : position] : 0.0;
  }
  return row->kind == YOKE_ROW_POINT ? side[0] - side[1] : side[1] - side[0];
}

static void row_constants(const yoke_force_element *element, int i, double *c, double *d) {
  *c = element->law != NULL ? element->law->stiffness : element->stiffness[i];
  *d = element->law != NULL ? element->law->damping : element->damping[i];
}

/* Integral of lambda (the wrench on side 1) in one freedom over the step, linear rows of constant direction g:
 *   integral W = -sum g (c (integral s - offset H) + d (s(T_{N+1}) - s(T_N))). */
static double wrench_integral(const constitutive *self, const yoke_coupling_view *view, int freedom) {
  double sum = 0.0;
  for (int i = 0; i < self->element->n; ++i) {
    const yoke_row *row = &self->element->row[i];
    if ((row_freedoms(row, 0) >> freedom & 1u) == 0u) continue;
    double c, d;
    row_constants(self->element, i, &c, &d);
    const double g      = row->kind == YOKE_ROW_POINT ? 1.0 : -1.0;
    const double area   = row_difference(self, row, view->y, true) - self->element->offset[i] * view->H;
    const double growth = row_difference(self, row, view->y, false) - row_difference(self, row, view->y_old, false);
    sum -= g * (c * area + d * growth);
  }
  return sum;
}

/* ---- conditions ---- */

/* Where in y the integral of the original of a copy is. */
static int copy_integral(const constitutive *self, const meaning *m) {
  return at_integral(self, m->side) + yoke_shape_integral(self->shape[m->side], m->component);
}

/* Extension condition of channel i; `rate` is dW/dt (D-extension). */
static double extension_residual(const constitutive *self, const yoke_coupling_view *view, const double rate[12],
                                 int i) {
  const meaning *m = &self->means[i];
  if (self->extension == YOKE_EXTENSION_D) {
    if (m->what == ROLE_WRENCH) return view->u_dot[i] - rate[6 * m->side + m->component];
    return view->u_dot[i] - view->y[m->side][at_acceleration(self, m->side) + m->component];
  }
  if (m->what == ROLE_WRENCH) {
    const double integral = wrench_integral(self, view, m->component);
    return view->u_integral[i] - (m->side == 0 ? integral : -integral);
  }
  return view->u_integral[i] - view->y[m->side][copy_integral(self, m)];
}

/* Value that channel i should have. */
static double channel_value(const constitutive *self, const double *const y[2], const double f[12], int i) {
  const meaning *m = &self->means[i];
  switch (m->what) {
  case ROLE_WRENCH: return f[6 * m->side + m->component];
  case ROLE_COPY_P: return y[m->side][m->component];
  case ROLE_COPY_V: return y[m->side][at_v(self, m->side) + m->component];
  }
  return 0.0;
}

/* No room to find them. */
static void set_nan(size_t n, double *x) {
  for (size_t i = 0; i < n; ++i) x[i] = (double)NAN;
}

static void constitutive_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const constitutive *self = object;
  if (self->scalar != NULL) {
    c[0] = view->u[0] - scalar_force(self->scalar, view->t, view->y[0], view->y[1], NULL, NULL);
    return;
  }
  const size_t mark = yoke_arena_mark(view->scratch);
  motion       m;
  double       f[12], rate[12] = {0.0};
  if (!set_motion(self, view->y, view->u, view->scratch, &m)) {
    set_nan((size_t)self->n + (size_t)self->n_extended, c);
    yoke_arena_release(view->scratch, mark);
    return;
  }
  wrench(self, &m, view->t, f);
  for (int i = 0; i < self->n; ++i) c[i] = view->u[i] - channel_value(self, view->y, f, i);
  if (self->extension == YOKE_EXTENSION_D && self->wrenches != 0u) wrench_rate(self, &m, view->t, view->H, rate);
  for (int j = 0; j < self->n_extended; ++j) c[self->n + j] = extension_residual(self, view, rate, self->extended[j]);
  yoke_arena_release(view->scratch, mark);
}

static yoke_residual_unit constitutive_unit(const void *object, int c) {
  const constitutive *self = object;
  if (c >= self->n) return (yoke_residual_unit){YOKE_RESIDUAL_NONE, false};
  return yoke_channel_unit(&self->channel[c], self->shape, NULL);
}

static void constitutive_update(const void *object, double t, const double *y1, const double *y2, const double *u_now,
                                double *u, yoke_arena *scratch) {
  const constitutive *self = object;
  if (self->scalar != NULL) {
    u[0] = scalar_force(self->scalar, t, y1, y2, NULL, NULL);
    return;
  }
  const double *const y[2] = {y1, y2};
  const size_t        mark = yoke_arena_mark(scratch);
  motion              m;
  double              f[12];
  if (!set_motion(self, y, u_now, scratch, &m)) {
    set_nan((size_t)self->n, u);
    yoke_arena_release(scratch, mark);
    return;
  }
  wrench(self, &m, t, f);
  for (int i = 0; i < self->n; ++i) u[i] = channel_value(self, y, f, i);
  yoke_arena_release(scratch, mark);
}

static bool constitutive_feeds_through(const void *object) {
  return ((const constitutive *)object)->feedthrough;
}

static bool constitutive_is_met_by_update(const void *object) {
  return ((const constitutive *)object)->extension == YOKE_EXTENSION_NONE;
}

static bool constitutive_reads_integrals(const void *object) {
  return ((const constitutive *)object)->extension == YOKE_EXTENSION_I;
}

/* ---- derivatives of the conditions ---- */

/* Derivatives of the twelve wrench components by the components of p and v of both sides, and by what the law reads. */
typedef struct slopes {
  double *p[2], *v[2]; /* [12, n_p], [12, n_v] */
  double *z;           /* [12, n_read] */
} slopes;

/* All 0, in scratch. false: no room. */
static bool take_slopes(const constitutive *self, yoke_arena *scratch, slopes *out) {
  for (int s = 0; s < 2; ++s) {
    out->p[s] = yoke_arena_take(scratch, 12 * (size_t)self->shape[s]->n_p, sizeof *out->p[s]);
    out->v[s] = yoke_arena_take(scratch, 12 * (size_t)self->shape[s]->n_v, sizeof *out->v[s]);
  }
  out->z = yoke_arena_take(scratch, 12 * (size_t)self->n_read, sizeof *out->z);
  return out->v[1] != NULL && (self->n_read == 0 || out->z != NULL);
}

/* W = -F grad, hence W_z = -F_z grad, with the F_z that the law has left. */
static void reading_slopes(const constitutive *self, const motion *m, const yoke_pose poses[2], slopes *out) {
  yoke_link_state state;
  double          grad[12];
  if (self->n_read == 0) return;
  yoke_link_state_set(&m->element->link, poses, &state);
  (void)yoke_row_gradient(&m->element->row[0], &state, grad); /* such elements have one row */
  for (int r = 0; r < 12; ++r) {
    for (int k = 0; k < self->n_read; ++k) out->z[r * self->n_read + k] = -m->element->room->gradient[3 + k] * grad[r];
  }
}

/* W_p and W_v of the components that are channels. K keeps angular velocities fixed in the bodies, p keeps them fixed in space:
 *   K_space phi = K phi - D_w (phi x w). */
static void wrench_slopes(const constitutive *self, const motion *m, double t, double *const L[2], slopes *out) {
  yoke_pose poses[2];
  double    f[12], K[144], D[144];
  set_poses(self, m, poses);
  yoke_force_element_jacobian(m->element, poses, t, f, K, D);
  reading_slopes(self, m, poses, out);
  for (int s = 0; s < 2; ++s) {
    const yoke_port_shape *shape = self->shape[s];
    const int              np = shape->n_p, nv = shape->n_v;
    yoke_shape_left_inverse(shape, m->p[s], L[s]);
    for (int r = 0; r < 12; ++r) {
      if ((self->wrenches >> r & 1u) == 0u) continue;
      double *K_row = K + 12 * r + 6 * s, *D_row = D + 12 * r + 6 * s;
      /* d . (phi x w) = (w x d) . phi */
      vec3_add_cross(K_row + 3, -1.0, poses[s].w, D_row + 3);
      for (int k = 0; k < nv; ++k) {
        const int freedom     = shape->v[k].freedom;
        out->v[s][r * nv + k] = D_row[freedom];
        for (int j = 0; j < np; ++j) out->p[s][r * np + j] += K_row[freedom] * L[s][k * np + j];
      }
    }
  }
}

/* d(dW/dt) / dx for one component x of the motion, by central differences (second derivatives of the rows). `size`: of x, by the model. */
static void rate_slope(const constitutive *self, motion *m, double *x, double size, double t, double H,
                       double slope[12]) {
  const double kept = *x, h = 6e-6 * fmax(size, fabs(kept));
  double       above[12], below[12];
  *x = kept + h;
  wrench_rate(self, m, t, H, above);
  *x = kept - h;
  wrench_rate(self, m, t, H, below);
  *x = kept;
  for (int r = 0; r < 12; ++r) slope[r] = (above[r] - below[r]) / (2.0 * h);
}

/* Derivatives of dW/dt by p and v; those by v' are W_v. Linear laws with constant directions: 0 and W_p. */
static void rate_slopes(const constitutive *self, motion *m, double t, double H, const slopes *w, slopes *out) {
  for (int s = 0; s < 2; ++s) {
    const int np = self->shape[s]->n_p, nv = self->shape[s]->n_v;
    double    slope[12] = {0.0};
    for (int k = 0; !self->constant && k < np; ++k) {
      rate_slope(self, m, &m->p[s][k], yoke_shape_p_turns(self->shape[s], k) ? 1.0 : self->length, t, H, slope);
      for (int r = 0; r < 12; ++r) out->p[s][r * np + k] = slope[r];
    }
    for (int k = 0; k < nv; ++k) {
      const int    along = yoke_shape_coordinate(self->shape[s], k);
      const double size  = (yoke_shape_v_turns(self->shape[s], k) ? 1.0 : self->length) / self->time;
      if (!self->constant) rate_slope(self, m, &m->v[s][k], size, t, H, slope);
      for (int r = 0; r < 12 && self->constant; ++r) slope[r] = along >= 0 ? w->p[s][r * np + along] : 0.0;
      for (int r = 0; r < 12; ++r) out->v[s][r * nv + k] = slope[r];
    }
  }
}

/* Rows of the derivatives that one condition writes. */
typedef struct condition_row {
  double *du, *du_dot, *du_integral, *dy[2];
} condition_row;

static condition_row row_of(const constitutive *self, const yoke_coupling_view *view, int c, double *dc_du,
                            double *dc_du_dot, double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const ptrdiff_t at = (ptrdiff_t)c * self->n;
  return (condition_row){
      .du          = dc_du + at,
      .du_dot      = dc_du_dot + at,
      .du_integral = dc_du_integral + at,
      .dy          = {dc_dy1 + (ptrdiff_t)c * view->n_y[0], dc_dy2 + (ptrdiff_t)c * view->n_y[1]},
  };
}

/* -W_p and -W_v of wrench component r, to y or to the copies that stand in for it. */
static void subtract_law(const constitutive *self, const slopes *w, int r, condition_row *row) {
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < self->shape[s]->n_p; ++k) {
      const int by = self->replaces[s][0][k];
      *(by >= 0 ? &row->du[by] : &row->dy[s][k]) -= w->p[s][r * self->shape[s]->n_p + k];
    }
    for (int k = 0; k < self->shape[s]->n_v; ++k) {
      const int by = self->replaces[s][1][k];
      *(by >= 0 ? &row->du[by] : &row->dy[s][at_v(self, s) + k]) -= w->v[s][r * self->shape[s]->n_v + k];
    }
  }
}

/* -W_z of wrench component r. */
static void subtract_reading(const constitutive *self, const slopes *w, int r, condition_row *row) {
  for (int k = 0; k < self->n_read; ++k) row->dy[self->read[k].side][self->read[k].y] -= w->z[r * self->n_read + k];
}

static void value_row(const constitutive *self, const slopes *w, int i, condition_row *row) {
  const meaning *m = &self->means[i];
  row->du[i]       = 1.0;
  switch (m->what) {
  case ROLE_WRENCH:
    subtract_law(self, w, 6 * m->side + m->component, row);
    subtract_reading(self, w, 6 * m->side + m->component, row);
    break;
  case ROLE_COPY_P: row->dy[m->side][m->component] = -1.0; break;
  case ROLE_COPY_V: row->dy[m->side][at_v(self, m->side) + m->component] = -1.0; break;
  }
}

static void derivative_row(const constitutive *self, const slopes *w, const slopes *rate, int i, condition_row *row) {
  const meaning *m = &self->means[i];
  row->du_dot[i]   = 1.0;
  if (m->what != ROLE_WRENCH) {
    row->dy[m->side][at_acceleration(self, m->side) + m->component] = -1.0;
    return;
  }
  const int r = 6 * m->side + m->component;
  subtract_law(self, rate, r, row);
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < self->shape[s]->n_v; ++k)
      row->dy[s][at_acceleration(self, s) + k] -= w->v[s][r * self->shape[s]->n_v + k];
  }
}

/* Derivatives of wrench_integral: the row difference is +1 or -1 by the component of each side. */
static void integral_row(const constitutive *self, int i, condition_row *row) {
  const meaning *m    = &self->means[i];
  row->du_integral[i] = 1.0;
  if (m->what != ROLE_WRENCH) {
    row->dy[m->side][copy_integral(self, m)] = -1.0;
    return;
  }
  const double sign = m->side == 0 ? 1.0 : -1.0;
  for (int e = 0; e < self->element->n; ++e) {
    if ((row_freedoms(&self->element->row[e], 0) >> m->component & 1u) == 0u) continue;
    double c, d;
    row_constants(self->element, e, &c, &d);
    for (int s = 0; s < 2; ++s) { /* g s = x1 - x2 for every kind of row */
      int position, integral;
      if (!integral_places(self, s, m->component, &position, &integral)) continue;
      const double by = s == 0 ? sign : -sign;
      row->dy[s][integral] += by * c;
      row->dy[s][position] += by * d;
    }
  }
}

static void constitutive_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                                  double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const constitutive *self = object;
  const size_t rows = (size_t)self->n + (size_t)self->n_extended, block = rows * (size_t)self->n * sizeof(double);
  memset(dc_du, 0, block);
  memset(dc_du_dot, 0, block);
  memset(dc_du_integral, 0, block);
  memset(dc_dy1, 0, rows * (size_t)view->n_y[0] * sizeof(double));
  memset(dc_dy2, 0, rows * (size_t)view->n_y[1] * sizeof(double));
  if (self->scalar != NULL) {
    dc_du[0] = 1.0;
    scalar_slopes(self->scalar, view, dc_dy1, dc_dy2);
    return;
  }

  const size_t mark      = yoke_arena_mark(view->scratch);
  const bool   has_rates = self->extension == YOKE_EXTENSION_D;
  motion       m;
  slopes       w, rate = {.z = NULL};
  double      *L[2] = {NULL, NULL};
  for (int s = 0; s < 2 && self->wrenches != 0u; ++s)
    L[s] = yoke_arena_take(view->scratch, (size_t)self->shape[s]->n_v * (size_t)self->shape[s]->n_p, sizeof *L[s]);
  if (!set_motion(self, view->y, view->u, view->scratch, &m) || !take_slopes(self, view->scratch, &w) ||
      (has_rates && !take_slopes(self, view->scratch, &rate))) {
    set_nan(1, dc_du);
    yoke_arena_release(view->scratch, mark);
    return;
  }
  if (self->wrenches != 0u) wrench_slopes(self, &m, view->t, L, &w);
  if (self->wrenches != 0u && has_rates) rate_slopes(self, &m, view->t, view->H, &w, &rate);
  for (int c = 0; c < self->n + self->n_extended; ++c) {
    condition_row row = row_of(self, view, c, dc_du, dc_du_dot, dc_du_integral, dc_dy1, dc_dy2);
    const int     i   = c < self->n ? c : self->extended[c - self->n];
    if (c < self->n) {
      value_row(self, &w, i, &row);
    } else if (has_rates) {
      derivative_row(self, &w, &rate, i, &row);
    } else {
      integral_row(self, i, &row);
    }
  }
  yoke_arena_release(view->scratch, mark);
}

/* Extended channels have inner nodes and conditions of their own: the end value alone does not tell the error. */
static void constitutive_error_rule(const void *object, int degree, yoke_error_rule *out) {
  const constitutive *self     = object;
  const bool          is_plain = self->extension == YOKE_EXTENSION_NONE;

  *out = (yoke_error_rule){
      .end_value = is_plain, .comparison_degree = degree + (is_plain ? 1 : 3), .order = {degree + 3, degree + 2}};
}

static const yoke_error_form error_form = {.rule = constitutive_error_rule};

/* ---- what is shown ---- */

static int constitutive_n_shown(const void *object) {
  return ((const constitutive *)object)->element->n;
}

/* Wrench that the channels bring to a force side, by freedoms. */
static void applied_wrench(const constitutive *self, int side, const double *u, double W[6]) {
  memset(W, 0, 6 * sizeof *W);
  for (int i = 0; i < self->n; ++i) {
    if (self->means[i].what == ROLE_WRENCH && self->channel[i].enters[side] != YOKE_ENTRY_NONE)
      W[self->means[i].component] = self->channel[i].sign[side] * u[i];
  }
}

/* Forces F of the rows whose wrench -sum F grad comes nearest to W, as far as the port can feel it; of several the smallest. */
static void row_forces(const constitutive *self, const yoke_pose poses[2], int side, const double W[6], double *F) {
  const int       n     = self->element->n;
  double          A[36] = {0.0}, b[6] = {0.0}, singular[6], work[128], size = 0.0;
  lapack_int      rank;
  yoke_link_state link;
  yoke_link_state_set(&self->element->link, poses, &link);
  for (int i = 0; i < n; ++i) {
    double grad[12];
    (void)yoke_row_gradient(&self->element->row[i], &link, grad);
    for (int k = 0; k < self->shape[side]->n_v; ++k) {
      const int freedom  = self->shape[side]->v[k].freedom;
      A[6 * i + freedom] = -grad[6 * side + freedom];
      b[freedom]         = W[freedom];
      size += fabs(A[6 * i + freedom]) + fabs(b[freedom]);
    }
  }
  if (!isfinite(size) || lapack_dgelss_work(6, n, 1, A, 6, b, 6, singular, rank_limit, &rank, work, 128) != 0) {
    set_nan((size_t)n, F);
    return;
  }
  memcpy(F, b, (size_t)n * sizeof *F);
}

/* The motion of the other side as a displacement side got it. */
static void take_copies(const constitutive *self, int side, const double *u, motion *m) {
  for (int i = 0; i < self->n; ++i) {
    const meaning *means = &self->means[i];
    if (means->side == side) continue;
    if (means->what == ROLE_COPY_P) m->p[means->side][means->component] = u[i];
    if (means->what == ROLE_COPY_V) m->v[means->side][means->component] = u[i];
  }
}

/* A displacement side holds the element: the law with its own motion and the copies that it got. */
static void law_with_copies(const constitutive *self, int side, double t, const double *u, motion *m, double *F) {
  yoke_pose poses[2];
  double    deflection[6];
  take_copies(self, side, u, m);
  set_poses(self, m, poses);
  yoke_force_element_output(m->element, poses, t, F, deflection);
}

static void true_poses(const constitutive *self, const double *const y[2], yoke_pose poses[2]) {
  for (int s = 0; s < 2; ++s) yoke_shape_pose(self->shape[s], y[s], y[s] + at_v(self, s), &poses[s]);
}

static void constitutive_shown(const void *object, double t, const double *u, const double *const y[2],
                               double *const force[2], double *g, yoke_arena *scratch) {
  const constitutive *self = object;
  yoke_pose           poses[2];
  double              law[6], W[6];
  const size_t        begin = yoke_arena_mark(scratch);
  true_poses(self, y, poses);
  const yoke_force_element *element = element_for(self, y, scratch);
  if (element != NULL) yoke_force_element_output(element, poses, t, law, g);
  if (element == NULL) set_nan((size_t)self->element->n, g);
  yoke_arena_release(scratch, begin);
  for (int side = 0; side < 2; ++side) {
    const size_t mark = yoke_arena_mark(scratch);
    motion       m;
    if (is_force_driven(self->decomposition, side)) {
      applied_wrench(self, side, u, W);
      row_forces(self, poses, side, W, force[side]);
    } else if (take_motion(self, y, scratch, &m)) {
      law_with_copies(self, side, t, u, &m, force[side]);
    } else {
      set_nan((size_t)self->element->n, force[side]);
    }
    yoke_arena_release(scratch, mark);
  }
}

/* With the true motions; stored NULL: not wanted. */
static void true_energy(const constitutive *self, double t, const double *const y[2], double *stored, double *lost,
                        yoke_arena *scratch) {
  if (self->line != NULL) {
    scalar_energy(self->line, t, y, stored, lost);
    return;
  }
  const size_t mark = yoke_arena_mark(scratch);
  yoke_pose    poses[2];
  *lost = 0.0;
  if (stored == NULL && !yoke_force_element_loses(self->element)) return;
  if (stored != NULL) *stored = 0.0;
  true_poses(self, y, poses);
  const yoke_force_element *element = element_for(self, y, scratch);
  if (element != NULL) yoke_force_element_energy(element, poses, t, stored, lost);
  if (element == NULL) *lost = (double)NAN;
  if (element == NULL && stored != NULL) *stored = (double)NAN;
  yoke_arena_release(scratch, mark);
}

static void constitutive_energy(const void *object, double t, const double *const y[2], double *stored,
                                double *power_lost, yoke_arena *scratch) {
  true_energy(object, t, y, stored, power_lost, scratch);
}

/* Power of the channels that a force side feels. */
static double applied_power(const constitutive *self, int side, const double *u, const double *y) {
  const double *v   = y + at_v(self, side);
  double        sum = 0.0;
  for (int i = 0; i < self->n; ++i) {
    if (self->means[i].what == ROLE_WRENCH && self->channel[i].enters[side] != YOKE_ENTRY_NONE)
      sum += self->channel[i].sign[side] * u[i] * v[self->channel[i].component];
  }
  return sum;
}

/* Power of the element that a displacement side holds, on this side, and the poses that it has there. */
static double held_power(const constitutive *self, int side, double t, const double *u, motion *m, yoke_pose poses[2]) {
  double f[12] = {0.0}, V[6], sum = 0.0;
  take_copies(self, side, u, m);
  set_poses(self, m, poses);
  yoke_force_element_apply(m->element, poses, t, f);
  yoke_shape_spread(self->shape[side], m->v[side], V);
  for (int k = 0; k < 6; ++k) sum += f[6 * side + k] * V[k];
  return sum;
}

/* Ports that move along x only: no poses. */
static void line_power(const constitutive *self, double t, const double *u, const double *const y[2], bool with_stored,
                       yoke_wire_power *out) {
  double copy[2][2] = {{y[0][0], y[0][1]}, {y[1][0], y[1][1]}}, stored = 0.0,
         lost  = 0.0; /* x, v as the other side has them */
  int n_holder = 0;
  *out         = (yoke_wire_power){.knows_loss = true};
  for (int i = 0; i < self->n; ++i) {
    const meaning *means = &self->means[i];
    if (means->what != ROLE_WRENCH) {
      copy[means->side][means->what == ROLE_COPY_V] = u[i];
      continue;
    }
    for (int side = 0; side < 2; ++side) { /* one that no displacement side feels */
      if (self->channel[i].enters[side] != YOKE_ENTRY_NONE)
        out->in[side] += self->channel[i].sign[side] * u[i] * y[side][1];
    }
  }
  scalar_energy(self->line, t, y, with_stored ? &out->stored : NULL, &out->truly_lost);
  out->lost = out->truly_lost;
  for (int side = 0; side < 2; ++side) {
    const double *const m[2] = {side == 0 ? y[0] : copy[0], side == 0 ? copy[1] : y[1]};
    if (is_force_driven(self->decomposition, side)) continue;
    const double force = scalar_force(self->line, t, m[0], m[1], NULL, NULL);
    out->in[side]      = (side == 0 ? force : -force) * y[side][1];
    if (++n_holder > 1) break;
    scalar_energy(self->line, t, m, with_stored ? &stored : NULL, &lost);
  }
  out->is_true = n_holder != 1;
  if (out->is_true) return;
  out->stored = stored;
  out->lost   = lost;
}

/* x there. */
static inline void line_places(const yoke_line_step *step, int side, double x[2]) {
  static const double a = 0.5 - 4.0 * YOKE_LINE_K / 3.0, b = (0.5 + YOKE_LINE_K) / 6.0, c = (0.5 - YOKE_LINE_K) / 6.0;
  const double       *from = step->from[side], *to = step->to[side];
  const double        part = a * (to[0] - from[0]);
  x[0]                     = from[0] + part + step->H * (b * from[1] - c * to[1]);
  x[1]                     = to[0] - part + step->H * (c * from[1] - b * to[1]);
}

static inline double line_loss(const scalar_law *x, double rate) {
  const double square = rate * rate;
  if (x->law.damping_power == 0.0) return x->law.damping * square;
  if (x->law.exponent_v == 3.0) return (x->law.damping + x->law.damping_power * square) * square;
  return yoke_law_power_lost(&x->law, 0.0, rate, 0.0, NULL); /* it depends on nothing else */
}

/* The element that a displacement side holds, between its own motion and what it was given of the other side. */
static void held_line_work(const constitutive *self, const yoke_line_step *step, int side, double v[2][2],
                           yoke_wire_work *out, double *lost) {
  const int    other = 1 - side;
  const double sign  = side == 0 ? 0.5 * step->H : -0.5 * step->H;
  double       x[2][2];
  line_places(step, 0, x[0]);
  line_places(step, 1, x[1]);
  out->out[side] = *lost = 0.0;
  for (int i = 0; i < 2; ++i) {
    double m[2][2] = {{x[0][i], v[0][i]}, {x[1][i], v[1][i]}};
    for (int k = 0; k < self->n; ++k) {
      const meaning *means = &self->means[k];
      if (means->what != ROLE_WRENCH && means->side == other)
        m[other][means->what == ROLE_COPY_V] = step->u[i * self->n + k];
    }
    out->out[side] +=
        sign * v[side][i] * scalar_force(self->line, step->t, m[0], m[1], NULL, NULL); /* it knows no time */
    *lost += 0.5 * step->H * line_loss(self->line, m[0][1] - m[1][1]);
  }
}

static bool constitutive_line_work(const void *object, const yoke_line_step *step, yoke_wire_work *out) {
  const constitutive *self     = object;
  int                 n_holder = 0;
  double              v[2][2], lost = 0.0;
  if (self->line == NULL) return false;
  yoke_line_rates(step, 0, v[0]);
  yoke_line_rates(step, 1, v[1]);
  if (self->scalar != NULL) { /* one force that both sides feel */
    for (int side = 0; side < 2; ++side)
      out->out[side] =
          0.5 * step->H * self->channel[0].sign[side] * (step->u[0] * v[side][0] + step->u[1] * v[side][1]);
    out->lost = out->truly_lost =
        0.5 * step->H * (line_loss(self->line, v[0][0] - v[1][0]) + line_loss(self->line, v[0][1] - v[1][1]));
    return true;
  }
  out->out[0] = out->out[1] = 0.0;
  for (int k = 0; k < self->n; ++k) {
    const yoke_channel *channel = &self->channel[k];
    if (self->means[k].what != ROLE_WRENCH) continue;
    for (int side = 0; side < 2; ++side) { /* one that no displacement side feels */
      if (channel->enters[side] != YOKE_ENTRY_NONE)
        out->out[side] +=
            0.5 * step->H * channel->sign[side] * (step->u[k] * v[side][0] + step->u[self->n + k] * v[side][1]);
    }
  }
  out->truly_lost =
      0.5 * step->H * (line_loss(self->line, v[0][0] - v[1][0]) + line_loss(self->line, v[0][1] - v[1][1]));
  out->lost = out->truly_lost;
  if (self->decomposition == YOKE_FORCE_FORCE) return true;
  for (int side = 0; side < 2; ++side) {
    if (is_force_driven(self->decomposition, side)) continue;
    held_line_work(self, step, side, v, out, &lost);
    ++n_holder;
  }
  if (n_holder == 1) out->lost = lost;
  return true;
}

static void constitutive_power(const void *object, double t, const double *u, const double *const y[2],
                               bool with_stored, yoke_wire_power *out, yoke_arena *scratch) {
  const constitutive *self     = object;
  int                 n_holder = 0;
  yoke_pose           poses[2];
  if (self->scalar != NULL) { /* one force that both sides feel */
    *out = (yoke_wire_power){.is_true = true, .knows_loss = true};
    if (with_stored) {
      scalar_energy(self->scalar, t, y, &out->stored, NULL);
      return;
    }
    for (int side = 0; side < 2; ++side) out->in[side] = self->channel[0].sign[side] * u[0] * y[side][1];
    scalar_energy(self->scalar, t, y, NULL, &out->lost);
    out->truly_lost = out->lost;
    return;
  }
  if (self->line != NULL) {
    line_power(self, t, u, y, with_stored, out);
    return;
  }
  *out = (yoke_wire_power){0};
  for (int side = 0; side < 2; ++side) {
    const size_t mark = yoke_arena_mark(scratch);
    motion       m;
    if (is_force_driven(self->decomposition, side)) {
      out->in[side] = applied_power(self, side, u, y[side]);
      continue;
    }
    ++n_holder;
    out->in[side] = take_motion(self, y, scratch, &m) ? held_power(self, side, t, u, &m, poses) : (double)NAN;
    yoke_arena_release(scratch, mark);
  }
  out->is_true = n_holder != 1;
  if (n_holder == 1)
    yoke_force_element_energy(self->element, poses, t, with_stored ? &out->stored : NULL,
                              &out->lost); /* it reads no further numbers */
  else
    true_energy(self, t, y, with_stored ? &out->stored : NULL, &out->lost, scratch);
}

static const yoke_shown_form shown_form = {.n_rows    = constitutive_n_shown,
                                           .values    = constitutive_shown,
                                           .energy    = constitutive_energy,
                                           .power     = constitutive_power,
                                           .line_work = constitutive_line_work};

static const char *constitutive_steadier(const void *object) {
  const constitutive *self = object;
  return self->extension == YOKE_EXTENSION_NONE ? "extension d" : NULL;
}

extern const yoke_formulation_ops constitutive_ops;

const yoke_formulation_ops constitutive_ops = {
    .name             = "constitutive",
    .summary          = "force elements and flexible joints: law, and copy = original; extensions d and i",
    .check            = constitutive_check,
    .create           = constitutive_create,
    .destroy          = constitutive_destroy,
    .channels         = constitutive_channels,
    .layout           = constitutive_layout,
    .n_conditions     = constitutive_n_conditions,
    .residual         = constitutive_residual,
    .unit             = constitutive_unit,
    .jacobian         = constitutive_jacobian,
    .update           = constitutive_update,
    .feeds_through    = constitutive_feeds_through,
    .is_met_by_update = constitutive_is_met_by_update,
    .reads_integrals  = constitutive_reads_integrals,
    .steadier         = constitutive_steadier,
    .error            = &error_form,
    .shown            = &shown_form,
};
