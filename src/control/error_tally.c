#include "control/error_tally.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double share_of_sum   = 0.5; /* errors of changing sign cancel in part, and motions fade */
static const double share_of_kind  = 0.05;
static const double share_of_other = 0.005; /* of what the other kind of motion amounts to */
static const double share_of_way   = 1e-5;  /* of a rate that does not change */
static const double least_left     = 0.05;  /* of the limit: what is overdrawn does not stop a run */
static const double rest           = 1e-9;  /* of the length of the model, and a turn: what moves less rests */
static const double early          = 1e-5;  /* likewise: what has moved less so far may still set out */

/* Lengths, angles, and the rates of both; motions that signals lead to, whose units nobody knows, and their rates. */
enum { LENGTH, ANGLE, LENGTH_RATE, ANGLE_RATE, OTHER, OTHER_RATE, KINDS };

typedef struct component {
  double sum;        /* of |e| */
  double sum_before; /* without the last step */
  double low, high;  /* of y */
} component;

/* Beside it, since most runs have none. */
typedef struct between {
  double inner;        /* largest between the ends of a step */
  double inner_before; /* without the last step */
} between;

struct yoke_error_tally {
  yoke_arena     arena;
  int            n, n_ports;
  bool           is_started;
  double         t_start, t;
  double         length;                   /* of the model */
  double         most[KINDS];              /* largest sigma */
  double         way[KINDS];               /* of positions: largest of `most` over the time it took */
  int            n_wires;                  /* two ports each, behind which come motions that signals lead to */
  int           *first, *subsystem, *wire; /* [n_ports] */
  const double **y;                        /* [n_ports] of the trial */
  int           *kind;                     /* [n] */
  component     *list;                     /* [n] */
  between       *between;                  /* [n] */
  bool           adds_inner;               /* the last step did: `inner` and `inner_before` may differ */
};

/* ---- life ---- */

static int kind_of(const yoke_port_trial *port, int k) {
  if (port->is_felt) return k < port->n_p ? OTHER : OTHER_RATE;
  if (k < port->n_p) return yoke_shape_p_turns(port->shape, k) ? ANGLE : LENGTH;
  return yoke_shape_v_turns(port->shape, k - port->n_p) ? ANGLE_RATE : LENGTH_RATE;
}

static yoke_status fill(yoke_error_tally *x, const yoke_graph *graph, yoke_context *ctx) {
  const double L = yoke_graph_settings(graph)->length;
  x->length      = L > 0.0 ? L : 1.0;
  x->n_ports     = yoke_graph_n_ports(graph);
  x->first       = yoke_arena_take(&x->arena, (size_t)x->n_ports, sizeof *x->first);
  x->subsystem   = yoke_arena_take(&x->arena, (size_t)x->n_ports, sizeof *x->subsystem);
  x->wire        = yoke_arena_take(&x->arena, (size_t)x->n_ports, sizeof *x->wire);
  x->y           = yoke_arena_take(&x->arena, (size_t)x->n_ports, sizeof *x->y);
  YOKE_TRY(yoke_arena_check(&x->arena, ctx, "the error estimate of %d ports", x->n_ports));
  for (int i = 0; i < x->n_ports; ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    x->first[i]     = x->n;
    x->subsystem[i] = port.subsystem;
    x->wire[i]      = port.wire;
    x->y[i]         = port.y;
    if (!port.is_felt) x->n_wires = i / 2 + 1;
    x->n += port.n_p + port.n_v;
  }
  x->kind    = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *x->kind);
  x->list    = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *x->list);
  x->between = yoke_arena_take(&x->arena, (size_t)x->n, sizeof *x->between);
  YOKE_TRY(yoke_arena_check(&x->arena, ctx, "the error estimate of %d ports", x->n_ports));
  for (int i = 0; i < x->n_ports; ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    for (int k = 0; k < port.n_p + port.n_v; ++k) x->kind[x->first[i] + k] = kind_of(&port, k);
  }
  return YOKE_OK;
}

yoke_status yoke_error_tally_create(yoke_context *ctx, const yoke_graph *graph, yoke_error_tally **out) {
  yoke_error_tally *x = yoke_allocate(1, sizeof *x);
  *out                = x;
  if (x == NULL) return yoke_out_of_memory(ctx, "the error estimate");
  x->arena                 = yoke_arena_of(ctx);
  const yoke_status status = fill(x, graph, ctx);
  if (status != YOKE_OK) yoke_error_tally_destroy(out);
  return status;
}

void yoke_error_tally_destroy(yoke_error_tally **tally) {
  if (*tally == NULL) return;
  yoke_arena_free(&(*tally)->arena);
  free(*tally);
  *tally = NULL;
}

int yoke_error_tally_n(const yoke_error_tally *x) {
  return x->n;
}

int yoke_error_tally_first(const yoke_error_tally *x, int port) {
  return x->first[port];
}

double yoke_error_tally_t_start(const yoke_error_tally *x) {
  return x->t_start;
}

/* ---- sums ---- */

/* A share of the length of the model or of a turn, for rates over the time so far. */
static double least_of(const yoke_error_tally *x, int kind, double share) {
  const bool   is_rate = kind == LENGTH_RATE || kind == ANGLE_RATE || kind == OTHER_RATE;
  const double span = x->t - x->t_start, size = share * (kind == LENGTH || kind == LENGTH_RATE ? x->length : 1.0);
  return is_rate && span > 0.0 ? size / span : size;
}

/* What turns moves points by its angle times the length of the model, up to that; and what moves, turns. */
static double other_motion(const yoke_error_tally *x, int kind) {
  switch (kind) {
  case LENGTH: return x->length * fmin(x->most[ANGLE], 1.0);
  case ANGLE: return x->most[LENGTH] / x->length;
  case LENGTH_RATE: return x->length * x->most[ANGLE_RATE];
  case ANGLE_RATE: return x->most[LENGTH_RATE] / x->length;
  default: return 0.0;
  }
}

/* Rates have a size also where they do not change, as that of a shaft that runs evenly. */
static double even_motion(const yoke_error_tally *x, int kind) {
  return kind == LENGTH_RATE ? x->way[LENGTH] : kind == ANGLE_RATE ? x->way[ANGLE] : 0.0;
}

/* sigma of what does not move. */
static double least_sigma(const yoke_error_tally *x, int kind) {
  const double own   = fmax(share_of_kind * x->most[kind], least_of(x, kind, rest)),
               other = fmax(share_of_other * other_motion(x, kind), share_of_way * even_motion(x, kind));
  return fmax(own, other);
}

static double sigma_of(const yoke_error_tally *x, int i) {
  const component *c = &x->list[i];
  return fmax(c->high - c->low, least_sigma(x, x->kind[i]));
}

void yoke_error_tally_start(yoke_error_tally *x, const yoke_graph *graph) {
  if (x->is_started) return;
  x->is_started = true;
  x->t_start = x->t = yoke_graph_t(graph);
  for (int i = 0; i < x->n_ports; ++i) {
    yoke_port_trial port;
    yoke_graph_port_trial(graph, i, &port);
    for (int k = 0; k < port.n_p + port.n_v; ++k)
      x->list[x->first[i] + k] = (component){.low = port.y_accepted[k], .high = port.y_accepted[k]};
  }
}

/* fmax where y is a number or NaN, without a call. */
static inline double larger(double x, double y) {
  return y > x ? y : x;
}

/* How far all components have moved now. */
static void move_on(yoke_error_tally *x) {
  for (int i = 0; i < x->n_ports; ++i) {
    const int     end = i + 1 < x->n_ports ? x->first[i + 1] : x->n;
    const double *y   = x->y[i];
    for (int k = x->first[i]; k < end; ++k, ++y) {
      component *c    = &x->list[k];
      double    *most = &x->most[x->kind[k]];
      if (*y < c->low) c->low = *y;
      c->high = larger(c->high, *y);
      *most   = larger(*most, c->high - c->low);
    }
  }
  const double span = x->t - x->t_start;
  for (int kind = 0; kind < KINDS && span > 0.0; ++kind) x->way[kind] = larger(x->way[kind], x->most[kind] / span);
}

static void add_inner(yoke_error_tally *x, const double *inner) {
  for (int i = 0; i < x->n && (inner != NULL || x->adds_inner); ++i) {
    between *b      = &x->between[i];
    b->inner_before = b->inner;
    if (inner != NULL) b->inner = larger(b->inner, inner[i]);
  }
  x->adds_inner = inner != NULL;
}

double yoke_error_tally_add(yoke_error_tally *x, const yoke_graph *graph, const double *errors, const double *inner) {
  double largest = 0.0, just_below = 0.0, least[KINDS];
  x->t = yoke_graph_trial_end(graph);
  move_on(x);
  add_inner(x, inner);
  for (int kind = 0; kind < KINDS; ++kind) least[kind] = least_sigma(x, kind);
  for (int i = 0; i < x->n; ++i) {
    component   *c     = &x->list[i];
    const double sigma = larger(least[x->kind[i]], c->high - c->low);
    c->sum_before      = c->sum;
    c->sum += fabs(errors[i]);
    const double error = fabs(errors[i]) + (inner != NULL ? inner[i] : 0.0);
    if (error <= just_below * sigma) continue; /* most of them: without a division */
    largest    = larger(largest, error / sigma);
    just_below = (1.0 - 1e-15) * largest;
  }
  return largest;
}

void yoke_error_tally_forget(yoke_error_tally *x, int port) {
  const int end = port + 1 < x->n_ports ? x->first[port + 1] : x->n;
  for (int i = x->first[port]; i < end; ++i) {
    x->list[i].sum      = x->list[i].sum_before;
    x->between[i].inner = x->between[i].inner_before;
  }
}

double yoke_error_tally_pace(const yoke_error_tally *x, const double *errors, const double *inner, double limit,
                             double spared, double share) {
  double pace = 0.0;
  for (int i = 0; i < x->n; ++i) {
    const double scale = share_of_sum / fmax(sigma_of(x, i), least_of(x, x->kind[i], early)),
                 added = fabs(errors[i]) * scale;
    if (x->list[i].sum * scale < spared * limit) continue;
    const double left = fmax(limit - (x->list[i].sum * scale - added), least_left * limit);
    pace = fmax(pace, fmax(added / (share * left), inner != NULL ? inner[i] * scale / (share_of_sum * limit) : 0.0));
  }
  return pace;
}

double yoke_error_tally_bite(const yoke_error_tally *x, const double *errors, double limit) {
  double bite = 0.0;
  for (int i = 0; i < x->n; ++i) {
    const double scale = share_of_sum / fmax(sigma_of(x, i), least_of(x, x->kind[i], early)),
                 left  = fmax(limit - x->list[i].sum * scale, least_left * limit);
    bite               = larger(bite, fabs(errors[i]) * scale / left);
  }
  return bite;
}

static double of_port(const yoke_error_tally *x, int port) {
  const int end     = port + 1 < x->n_ports ? x->first[port + 1] : x->n;
  double    largest = 0.0;
  for (int i = x->first[port]; i < end; ++i)
    largest = fmax(largest, (share_of_sum * x->list[i].sum + x->between[i].inner) / sigma_of(x, i));
  return largest;
}

void yoke_error_tally_subsystems(const yoke_error_tally *x, int n_subsystems, double *out) {
  memset(out, 0, (size_t)n_subsystems * sizeof *out);
  for (int i = 0; i < x->n_ports; ++i) out[x->subsystem[i]] = fmax(out[x->subsystem[i]], of_port(x, i));
}

double yoke_error_tally_coupling(const yoke_error_tally *x, int wire) {
  double largest = fmax(of_port(x, 2 * wire), of_port(x, 2 * wire + 1));
  for (int i = 2 * x->n_wires; i < x->n_ports; ++i) {
    if (x->wire[i] == wire) largest = fmax(largest, of_port(x, i));
  }
  return largest;
}

/* ---- as bytes ---- */

void yoke_error_tally_pack(const yoke_error_tally *x, yoke_pack *out) {
  yoke_pack_tag(out, "error tally");
  yoke_pack_bool(out, x->is_started);
  yoke_pack_double(out, x->t_start);
  yoke_pack_double(out, x->t);
  yoke_pack_doubles(out, KINDS, x->most);
  yoke_pack_doubles(out, KINDS, x->way);
  yoke_pack_block(out, (size_t)x->n * sizeof *x->list, x->list);
  yoke_pack_block(out, (size_t)x->n * sizeof *x->between, x->between);
}

void yoke_error_tally_unpack(yoke_error_tally *x, yoke_unpack *in) {
  yoke_unpack_tag(in, "error tally");
  x->is_started = yoke_unpack_bool(in);
  x->t_start    = yoke_unpack_double(in);
  x->t          = yoke_unpack_double(in);
  yoke_unpack_doubles(in, KINDS, x->most);
  yoke_unpack_doubles(in, KINDS, x->way);
  const void *list = yoke_unpack_block(in, (size_t)x->n * sizeof *x->list);
  if (list != NULL) memcpy(x->list, list, (size_t)x->n * sizeof *x->list);
  const void *inner = yoke_unpack_block(in, (size_t)x->n * sizeof *x->between);
  if (inner != NULL) memcpy(x->between, inner, (size_t)x->n * sizeof *x->between);
  x->adds_inner = true;
}
