#include "energy/account.h"

#include "energy/wire_loss.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gauss-Legendre points on [0, 1], of equal weights: exact to degree 3, as good as Hermite polynomials of the motion are. */
enum { N_POINTS = 2 };
static const double point[N_POINTS] = {0.21132486540518713, 0.78867513459481287};
static const double weight          = 1.0 / N_POINTS;

/* Extremes and sums of the run so far. */
typedef struct extremes {
  double leak, kinetic, potential[2]; /* largest |leak| and kinetic energy; smallest and largest potential one */
  double lost;                        /* in the elements of all couplings, with the true motions of their ports */
  double work, since;                 /* of solvers: all, and since the last balance point [evaluations] */
  double is_open;                     /* 1: the last step has not been balanced */
  double taken;                       /* of the total leak (yoke_account_take_leak) */
  double brought;                     /* by jumps, beside what subsystems tell of them */
} extremes;

/* Works of a coupling since the start, up to the present time; `now` has them of the last balance point. */
typedef struct wire_works {
  double out[2], lost; /* out to the sides; lost in the element, as its holder has it */
} wire_works;

/* What the two ports of a coupling show, and its work, if it is told without powers at points. */
typedef struct wire_ports {
  bool counts; /* the coupling tells its powers; all else is set if it does */
  int  n;      /* channels */
  bool (*work)(const void *self, const yoke_line_step *step, yoke_wire_work *out); /* NULL: they do not */
  ptrdiff_t     from[2]; /* among outputs of all subsystems where a step begins */
  const double *to[2];   /* at its end, where the graph has them */
  const double *u;       /* sampled channels */
} wire_ports;

/* Between two balance points [evaluations per part], of which energies cost one or two; at the beginning less, this share of all so far. */
static const double work_between = 512.0, share_between = 0.25;

struct yoke_account {
  yoke_arena       arena, scratch; /* of arrays; of one wire */
  yoke_account_def def;
  int              n_values;
  ptrdiff_t       *first_y; /* [n_parts] outputs of a subsystem among those of all */
  int64_t         *handles; /* [n_parts, YOKE_N_ENERGIES] */
  double         **energy;  /* [n_parts] YOKE_N_ENERGIES each, as last shown */
  wire_ports      *ports;   /* [n_wires] */
  double          *applied; /* room for the channels of a wire */
  double          *stored;  /* [n_wires] with the true motions */
  bool             knows_stored;
  double           held;           /* by all wires with the true motions in front of a jump */
  double          *path[2], *y[2]; /* of the motion of a port over a step, and of its outputs inside */
  size_t           n_kept;
  double          *kept;         /* what is packed: all that follows, one behind the other */
  double          *now, *before; /* [n_values] at the last balance point and the one before */
  double          *shown;        /* [n_parts, YOKE_N_ENERGIES] at the last balance point */
  wire_works      *works;        /* [n_wires] */
  extremes        *most;
};

static bool has_power(const yoke_wire *wire) {
  return wire->formulation->shown != NULL && wire->formulation->shown->power != NULL;
}

bool yoke_account_is_complete(int n_wires, const yoke_wire *wires) {
  for (int w = 0; w < n_wires; ++w) {
    if (!wires[w].formulation->for_signals && !has_power(&wires[w])) return false;
  }
  return true;
}

/* ---- creation ---- */

static void find_ports(yoke_account *a, int w) {
  const yoke_wire *wire = &a->def.wires[w];
  wire_ports      *at   = &a->ports[w];
  at->work              = NULL;
  at->counts            = has_power(wire);
  if (!at->counts) return;
  for (int side = 0; side < 2; ++side) {
    const int       p    = wire->subsystem[side];
    const ptrdiff_t y_at = a->def.subsystems[p]->ports[wire->port[side]].y_at;
    at->from[side]       = a->first_y[p] + y_at;
    at->to[side]         = yoke_graph_y(a->def.graph, p) + y_at;
  }
  at->u                        = yoke_graph_sampled(a->def.graph, w);
  at->n                        = yoke_graph_n_channels(a->def.graph, w);
  const yoke_line_step   still = {.H = 1.0, .from = {at->to[0], at->to[1]}, .to = {at->to[0], at->to[1]}, .u = at->u};
  yoke_wire_work         none;
  const yoke_shown_form *shown = wire->formulation->shown;
  if (shown->line_work != NULL && shown->line_work(wire->self, &still, &none)) at->work = shown->line_work;
}

static yoke_status take_memory(yoke_account *a, yoke_context *ctx) {
  const yoke_account_def *def     = &a->def;
  const size_t            n_parts = (size_t)def->n_parts, n_energies = n_parts * YOKE_N_ENERGIES;
  int                     most   = 1;
  size_t                  n_path = 1, n_y = 1;
  for (int w = 0; w < def->n_wires; ++w) {
    const yoke_wire *wire = &def->wires[w];
    const int        n    = yoke_graph_n_channels(def->graph, w);
    if (n > most) most = n;
    for (int side = 0; has_power(wire) && side < 2; ++side) {
      if (yoke_wire_path_room(wire->shape[side]) > n_path) n_path = yoke_wire_path_room(wire->shape[side]);
      if ((size_t)wire->n_y[side] > n_y) n_y = (size_t)wire->n_y[side];
    }
  }
  a->stored = yoke_arena_take(&a->arena, (size_t)def->n_wires + 1, sizeof *a->stored);
  for (int side = 0; side < 2; ++side) {
    a->path[side] = yoke_arena_take(&a->arena, n_path, sizeof *a->path[side]);
    a->y[side]    = yoke_arena_take(&a->arena, n_y, sizeof *a->y[side]);
  }
  a->n_values = yoke_account_of_wire(def->n_parts, def->n_wires, 0);
  a->n_kept   = 2 * (size_t)a->n_values + n_energies +
              ((size_t)def->n_wires * sizeof *a->works + sizeof *a->most) / sizeof(double);
  a->first_y   = yoke_arena_take(&a->arena, n_parts, sizeof *a->first_y);
  a->handles   = yoke_arena_take(&a->arena, n_energies, sizeof *a->handles);
  a->energy    = yoke_arena_take(&a->arena, n_parts, sizeof *a->energy);
  a->ports     = yoke_arena_take(&a->arena, (size_t)def->n_wires + 1, sizeof *a->ports);
  a->applied   = yoke_arena_take(&a->arena, (size_t)most, sizeof *a->applied);
  a->kept      = yoke_arena_take(&a->arena, a->n_kept, sizeof *a->kept);
  double *room = yoke_arena_take(&a->arena, n_energies, sizeof *room);
  YOKE_TRY(yoke_arena_check(&a->arena, ctx, "the energy account"));
  a->now    = a->kept;
  a->before = a->now + a->n_values;
  a->shown  = a->before + a->n_values;
  a->works  = (wire_works *)(void *)(a->shown + n_energies);
  a->most   = (extremes *)(void *)(a->works + def->n_wires);
  for (int p = 0; p < def->n_parts; ++p) {
    a->energy[p]  = room + (ptrdiff_t)p * YOKE_N_ENERGIES;
    a->first_y[p] = p > 0 ? a->first_y[p - 1] + def->subsystems[p - 1]->ny : 0;
    def->subsystems[p]->ops->energy->handles(def->subsystems[p], a->handles + (ptrdiff_t)p * YOKE_N_ENERGIES);
  }
  return YOKE_OK;
}

yoke_status yoke_account_create(yoke_context *ctx, const yoke_account_def *def, yoke_account **out) {
  yoke_account *a = yoke_allocate(1, sizeof *a);
  *out            = a;
  if (a == NULL) return yoke_out_of_memory(ctx, "the energy account");
  a->arena           = yoke_arena_of(ctx);
  a->def             = *def;
  yoke_status status = take_memory(a, ctx);
  if (status == YOKE_OK) status = yoke_graph_sample(def->graph, N_POINTS, point, ctx);
  if (status != YOKE_OK) yoke_account_destroy(out);
  return status;
}

void yoke_account_destroy(yoke_account **account) {
  yoke_account *a = *account;
  if (a == NULL) return;
  yoke_arena_free(&a->scratch);
  yoke_arena_free(&a->arena);
  free(a);
  *account = NULL;
}

/* ---- a wire ---- */

static double *of_wire(yoke_account *a, int w) {
  return a->now + yoke_account_of_wire(a->def.n_parts, w, 0);
}

static double *of_part(yoke_account *a, int p) {
  return a->now + yoke_account_of_part(p, 0);
}

static const double *output_of(const yoke_account *a, const yoke_wire *wire, int side) {
  const int p = wire->subsystem[side];
  return yoke_graph_y(a->def.graph, p) + a->def.subsystems[p]->ports[wire->port[side]].y_at;
}

/* Cubic Hermite polynomials at a point: of p and H p' at both ends, and their derivatives by s. */
typedef struct hermite {
  double from, to, from_rate, to_rate; /* p = from p0 + to p1 + H (from_rate p0' + to_rate p1') */
  double slope, v_from, v_to;          /* p' = slope (p1 - p0) / H + v_from p0' + v_to p1' */
} hermite;

#define HERMITE(s, r)                                                                                                  \
  {                                                                                                                    \
    (1 + 2 * (s)) * (r) * (r), (s) * (s) * (3 - 2 * (s)), (s) * (r) * (r), -(s) * (s) * (r), 6 * (s) * (r),            \
        (r) * (1 - 3 * (s)), (s) * (3 * (s)-2)                                                                         \
  }
static const hermite at_point[N_POINTS] = {HERMITE(0.21132486540518713, 0.78867513459481287),
                                           HERMITE(0.78867513459481287, 0.21132486540518713)};
#undef HERMITE

/* Motion of a port at point i, with what the law of the wire reads or its side reacts with besides: n_y numbers. v is the derivative of p's
 * polynomial, where it is that of a coordinate: its integral over the step is the displacement. */
static void move(const yoke_wire_path *path, int n_y, int i, double *y) {
  const hermite *c    = &at_point[i];
  const double  *from = path->from, *to = path->to;
  const int      n_p = path->shape->n_p;
  if (path->shape->tangent != NULL) yoke_wire_path_at(path, point[i], y);
  for (int k = 0; k < n_p; ++k) {
    const int v = n_p + path->shape->p[k].rate;
    if (v < n_p) continue;
    y[k] = c->from * from[k] + c->to * to[k] + path->H * (c->from_rate * from[v] + c->to_rate * to[v]);
    y[v] = c->slope * (to[k] - from[k]) / path->H + c->v_from * from[v] + c->v_to * to[v];
  }
  for (int k = yoke_shape_n_y(path->shape); k < n_y; ++k) y[k] = from[k] + point[i] * (to[k] - from[k]);
}

/* The powers of point i count. */
static void add_point(yoke_account *a, const yoke_wire *wire, double t, double H, int i, const double *u,
                      const double *const y[2], wire_works *works) {
  const yoke_shown_form *shown = wire->formulation->shown;
  yoke_wire_power        power;
  double                 stored;
  shown->power(wire->self, t + point[i] * H, u, y, false, &power, &a->scratch);
  works->out[0] += weight * H * power.in[0];
  works->out[1] += weight * H * power.in[1];
  works->lost += weight * H * power.lost;
  if (power.knows_loss)
    power.lost = power.truly_lost;
  else if (!power.is_true && shown->energy != NULL)
    shown->energy(wire->self, t + point[i] * H, y, &stored, &power.lost, &a->scratch);
  a->most->lost += weight * H * power.lost;
}

/* Works and loss of a wire over the step from t to t + H. */
static void add_step(yoke_account *a, int w, double t, double H, const double *before, wire_works *works) {
  const yoke_wire    *wire = &a->def.wires[w];
  const wire_ports   *at   = &a->ports[w];
  const double *const y[2] = {a->y[0], a->y[1]};
  yoke_wire_path      path[2];
  for (int side = 0; side < 2; ++side) {
    const yoke_port_shape *shape = wire->shape[side];
    const double          *to = at->to[side], *from = before != NULL ? before + at->from[side] : to;
    if (shape->tangent != NULL)
      yoke_wire_path_begin(&path[side], shape, H, from, to, a->path[side]);
    else
      path[side] = (yoke_wire_path){.shape = shape, .H = H, .from = from, .to = to};
    memcpy(a->y[side], to, (size_t)yoke_shape_n_y(shape) * sizeof *to);
  }
  for (int i = 0; i < N_POINTS; ++i) {
    for (int side = 0; side < 2; ++side) move(&path[side], wire->n_y[side], i, a->y[side]);
    add_point(a, wire, t, H, i, at->u + (ptrdiff_t)i * at->n, y, works);
  }
}

/* The same without powers at points. */
static void add_line_step(yoke_account *a, int w, yoke_line_step *step, const double *before, wire_works *works) {
  const yoke_wire  *wire = &a->def.wires[w];
  const wire_ports *at   = &a->ports[w];
  yoke_wire_work    work;
  for (int side = 0; side < 2; ++side) {
    step->from[side] = before + at->from[side];
    step->to[side]   = at->to[side];
  }
  step->u = at->u;
  (void)at->work(wire->self, step, &work);
  works->out[0] += work.out[0];
  works->out[1] += work.out[1];
  works->lost += work.lost;
  a->most->lost += work.truly_lost;
}

/* Stored by the element of a wire with the true motions of its ports. */
static double truly_stored_in(yoke_account *a, int w) {
  const yoke_wire *wire   = &a->def.wires[w];
  double           stored = 0.0, power = 0.0;
  if (wire->formulation->shown == NULL || wire->formulation->shown->energy == NULL) return 0.0;
  const double *const y[2] = {output_of(a, wire, 0), output_of(a, wire, 1)};
  wire->formulation->shown->energy(wire->self, yoke_graph_t(a->def.graph), y, &stored, &power, &a->scratch);
  return stored;
}

/* What a wire stores at the present time: with the values that the last step applied, or those of the history. */
static double stored_in(yoke_account *a, int w, bool is_fresh) {
  const yoke_wire  *wire = &a->def.wires[w];
  const wire_ports *at   = &a->ports[w];
  yoke_wire_power   power;
  for (int k = 0; k < at->n; ++k)
    a->applied[k] = is_fresh ? yoke_graph_channel(a->def.graph, w, k) : yoke_graph_applied(a->def.graph, w, k);
  wire->formulation->shown->power(wire->self, yoke_graph_t(a->def.graph), a->applied, at->to, true, &power,
                                  &a->scratch);
  a->stored[w] = power.is_true ? power.stored : truly_stored_in(a, w);
  return power.stored;
}

/* ---- the account ---- */

static yoke_graph_handles handles_of(const void *account, int part) {
  const yoke_account *a = account;
  return (yoke_graph_handles){YOKE_N_ENERGIES, a->handles + (ptrdiff_t)part * YOKE_N_ENERGIES};
}

static double larger(double a, double b) {
  return b > a ? b : a;
}

static double smaller(double a, double b) {
  return b < a ? b : a;
}

static void note_extremes(yoke_account *a) {
  double kinetic = 0.0, potential = 0.0;
  for (int p = 0; p < a->def.n_parts; ++p) {
    kinetic += a->energy[p][YOKE_ENERGY_KINETIC];
    potential += a->energy[p][YOKE_ENERGY_POTENTIAL];
  }
  for (int w = 0; w < a->def.n_wires; ++w) potential += of_wire(a, w)[YOKE_ACCOUNT_ENERGY];
  a->most->leak         = larger(a->most->leak, fabs(a->now[YOKE_ACCOUNT_TOTAL_LEAK]));
  a->most->kinetic      = larger(a->most->kinetic, kinetic);
  a->most->potential[0] = smaller(a->most->potential[0], potential);
  a->most->potential[1] = larger(a->most->potential[1], potential);
}

static bool take_energies(yoke_account *a) {
  for (int p = 0; p < a->def.n_parts; ++p) {
    if (!yoke_graph_energies_reached(a->def.graph, p, a->energy[p])) return false;
  }
  return true;
}

static yoke_status show_energies(yoke_account *a, yoke_side side, yoke_context *ctx) {
  if (side == YOKE_SIDE_LEFT && take_energies(a)) return YOKE_OK;
  const double      t      = yoke_graph_t(a->def.graph);
  const yoke_status status = yoke_graph_show_all(a->def.graph, t, side, handles_of, a, a->energy);
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status > 0 ? YOKE_E_UNSTABLE : status, "the energies at t = %.9g s cannot be told: %s", t,
                   yoke_status_text(status));
}

static void keep_energies(yoke_account *a) {
  memcpy(a->shown, a->energy[0], (size_t)a->def.n_parts * YOKE_N_ENERGIES * sizeof *a->shown);
}

/* What wires store with the values of the history. */
static void renew_wires(yoke_account *a) {
  for (int w = 0; w < a->def.n_wires; ++w) {
    if (a->ports[w].counts) of_wire(a, w)[YOKE_ACCOUNT_ENERGY] = stored_in(a, w, true);
  }
  a->knows_stored = true;
}

static yoke_status check_scratch(yoke_account *a, yoke_context *ctx) {
  return a->scratch.has_failed ? yoke_arena_check(&a->scratch, ctx, "the energy account") : YOKE_OK;
}

yoke_status yoke_account_start(yoke_account *a, yoke_context *ctx) {
  memset(a->kept, 0, a->n_kept * sizeof *a->kept);
  for (int w = 0; w < a->def.n_wires; ++w) find_ports(a, w); /* outputs stay where they are from here on */
  a->most->potential[0] = (double)INFINITY;
  a->most->potential[1] = -(double)INFINITY;
  YOKE_TRY(show_energies(a, YOKE_SIDE_RIGHT, ctx));
  keep_energies(a);
  for (int p = 0; p < a->def.n_parts; ++p)
    of_part(a, p)[YOKE_ACCOUNT_ENERGY] = a->energy[p][YOKE_ENERGY_KINETIC] + a->energy[p][YOKE_ENERGY_POTENTIAL];
  renew_wires(a);
  note_extremes(a);
  for (int w = 0; w < a->def.n_wires; ++w) { /* scratch grows here and in no step */
    wire_works none = {0};
    if (a->ports[w].counts) add_step(a, w, yoke_graph_t(a->def.graph), 1.0, NULL, &none);
  }
  a->most->lost = 0.0;
  memcpy(a->before, a->now, (size_t)a->n_values * sizeof *a->now);
  return check_scratch(a, ctx);
}

/* One subsystem without the work through its ports, which the wires add. */
static void add_part(yoke_account *a, int p) {
  const double *e = a->energy[p], *old = a->shown + (ptrdiff_t)p * YOKE_N_ENERGIES;
  double       *account = of_part(a, p), change[YOKE_N_ENERGIES];
  for (int k = 0; k < YOKE_N_ENERGIES; ++k) change[k] = e[k] - old[k];
  account[YOKE_ACCOUNT_ENERGY] = e[YOKE_ENERGY_KINETIC] + e[YOKE_ENERGY_POTENTIAL];
  account[YOKE_ACCOUNT_DISSIPATED] += change[YOKE_ENERGY_DISSIPATED];
  account[YOKE_ACCOUNT_EXTERNAL] += change[YOKE_ENERGY_EXTERNAL];
  account[YOKE_ACCOUNT_LEAK] += change[YOKE_ENERGY_KINETIC] + change[YOKE_ENERGY_POTENTIAL] +
                                change[YOKE_ENERGY_DISSIPATED] - change[YOKE_ENERGY_EXTERNAL];
}

/* Work of a wire on a side, in both accounts. */
static void pass_work(yoke_account *a, int w, int side, double work) {
  double *part = of_part(a, a->def.wires[w].subsystem[side]);
  part[YOKE_ACCOUNT_WORK] += work;
  part[YOKE_ACCOUNT_LEAK] -= work;
}

/* One wire, and its works in the accounts of its subsystems. */
static void add_wire(yoke_account *a, int w) {
  const wire_works *works   = &a->works[w];
  double           *account = of_wire(a, w), old[YOKE_N_ACCOUNTS];
  if (!a->ports[w].counts) return;
  memcpy(old, account, sizeof old);
  account[YOKE_ACCOUNT_WORK_1]     = works->out[0];
  account[YOKE_ACCOUNT_WORK_2]     = works->out[1];
  account[YOKE_ACCOUNT_DISSIPATED] = works->lost;
  account[YOKE_ACCOUNT_ENERGY]     = stored_in(a, w, false);
  for (int k = 0; k < YOKE_ACCOUNT_LEAK; ++k) account[YOKE_ACCOUNT_LEAK] += account[k] - old[k];
  for (int side = 0; side < 2; ++side)
    pass_work(a, w, side, account[YOKE_ACCOUNT_WORK_1 + side] - old[YOKE_ACCOUNT_WORK_1 + side]);
}

yoke_status yoke_account_look(yoke_account *a, double t, const double *before, yoke_context *ctx) {
  const double   H    = yoke_graph_t(a->def.graph) - t;
  yoke_line_step step = {.t = t, .H = H};
  for (int w = 0; w < a->def.n_wires; ++w) {
    if (a->ports[w].work != NULL)
      add_line_step(a, w, &step, before, &a->works[w]);
    else if (a->ports[w].counts)
      add_step(a, w, t, H, before, &a->works[w]);
  }
  a->most->is_open = 1.0;
  return check_scratch(a, ctx);
}

bool yoke_account_is_due(yoke_account *a, int64_t evaluations) {
  const double work = (double)evaluations + a->def.n_parts; /* some solvers evaluate nothing */
  a->most->work += work;
  a->most->since += work;
  return a->most->since >= smaller(work_between * a->def.n_parts, share_between * a->most->work);
}

yoke_status yoke_account_balance(yoke_account *a, yoke_context *ctx) {
  double *total = &a->now[YOKE_ACCOUNT_TOTAL_LEAK];
  if (yoke_account_is_balanced(a)) return YOKE_OK;
  memcpy(a->before, a->now, (size_t)a->n_values * sizeof *a->now);
  YOKE_TRY(show_energies(a, YOKE_SIDE_LEFT, ctx));
  for (int p = 0; p < a->def.n_parts; ++p) add_part(a, p);
  for (int w = 0; w < a->def.n_wires; ++w) add_wire(a, w);
  a->knows_stored = true;
  *total          = 0.0;
  for (int p = 0; p < a->def.n_parts; ++p) *total += of_part(a, p)[YOKE_ACCOUNT_LEAK];
  for (int w = 0; w < a->def.n_wires; ++w) *total += of_wire(a, w)[YOKE_ACCOUNT_LEAK];
  keep_energies(a);
  note_extremes(a);
  a->most->since   = 0.0;
  a->most->is_open = 0.0;
  return check_scratch(a, ctx);
}

/* Stored by the elements of all wires with the true motions of their ports. */
static double truly_stored(yoke_account *a) {
  double sum = 0.0;
  for (int w = 0; w < a->def.n_wires; ++w) sum += truly_stored_in(a, w);
  return sum;
}

yoke_status yoke_account_begin_jump(yoke_account *a, yoke_context *ctx) {
  YOKE_TRY(yoke_account_balance(a, ctx));
  a->held = truly_stored(a);
  return check_scratch(a, ctx);
}

/* Subsystems count the work of their own jumps. Copies of bodies in halos follow those of others, and what this takes nobody tells. */
yoke_status yoke_account_end_jump(yoke_account *a, yoke_context *ctx) {
  YOKE_TRY(show_energies(a, YOKE_SIDE_RIGHT, ctx));
  for (int p = 0; p < a->def.n_parts; ++p) {
    double      *account = of_part(a, p);
    const double leak    = account[YOKE_ACCOUNT_LEAK];
    add_part(a, p);
    a->most->brought += account[YOKE_ACCOUNT_LEAK] - leak;
    account[YOKE_ACCOUNT_LEAK] = leak;
  }
  keep_energies(a);
  a->most->brought += truly_stored(a) - a->held;
  renew_wires(a);
  return check_scratch(a, ctx);
}

bool yoke_account_is_balanced(const yoke_account *a) {
  return a->most->is_open == 0.0;
}

double yoke_account_take_leak(yoke_account *a) {
  if (!yoke_account_is_balanced(a)) return (double)NAN;
  const double leak = a->now[YOKE_ACCOUNT_TOTAL_LEAK] - a->most->taken;
  a->most->taken    = a->now[YOKE_ACCOUNT_TOTAL_LEAK];
  return leak;
}

void yoke_account_correct(yoke_account *a, int w, int side, double work) {
  double *account = of_wire(a, w);
  a->works[w].out[side] += work;
  account[YOKE_ACCOUNT_WORK_1 + side] = a->works[w].out[side];
  account[YOKE_ACCOUNT_LEAK] += work;
  account[YOKE_ACCOUNT_CORRECTED] += work;
  pass_work(a, w, side, work);
}

const double *yoke_account_now(const yoke_account *a) {
  return a->now;
}

const double *yoke_account_before(const yoke_account *a) {
  return yoke_account_is_balanced(a) ? a->before : a->now;
}

const double *yoke_account_stored(yoke_account *a) {
  for (int w = 0; !a->knows_stored && w < a->def.n_wires; ++w) a->stored[w] = truly_stored_in(a, w);
  a->knows_stored = true;
  return a->stored;
}

const double *yoke_account_energies(const yoke_account *a) {
  return a->shown;
}

double yoke_account_lost(const yoke_account *a) {
  return a->most->lost;
}

double yoke_account_brought(const yoke_account *a) {
  return a->most->brought;
}

yoke_account_sums yoke_account_sum(const yoke_account *a) {
  yoke_account_sums out  = {.leak    = a->now[YOKE_ACCOUNT_TOTAL_LEAK],
                            .largest = a->most->leak,
                            .size    = a->most->kinetic + a->most->potential[1] - a->most->potential[0],
                            .worst   = -1};
  double            most = 0.0;
  for (int w = 0; w < a->def.n_wires; ++w) {
    const double leak = fabs(a->now[yoke_account_of_wire(a->def.n_parts, w, YOKE_ACCOUNT_LEAK)]);
    out.corrected += a->now[yoke_account_of_wire(a->def.n_parts, w, YOKE_ACCOUNT_CORRECTED)];
    if (leak > most) out.worst = w;
    most = fmax(most, leak);
  }
  return out;
}

void yoke_account_pack(const yoke_account *a, yoke_pack *out) {
  yoke_pack_tag(out, "account");
  yoke_pack_block(out, a->n_kept * sizeof *a->kept, a->kept);
}

yoke_status yoke_account_unpack(yoke_account *a, yoke_unpack *in, yoke_context *ctx) {
  yoke_unpack_tag(in, "account");
  const void *bytes = yoke_unpack_block(in, a->n_kept * sizeof *a->kept);
  YOKE_TRY(yoke_unpack_check(in, ctx));
  memcpy(a->kept, bytes, a->n_kept * sizeof *a->kept);
  a->knows_stored = false;
  return YOKE_OK;
}
