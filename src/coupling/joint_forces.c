#include "coupling/joint_forces.h"

#include "base/memory.h"
#include "coupling/kinematic_stability.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = YOKE_JOINT_MAX_ROWS };

static const double tolerance = 1e-15; /* |residual| against the right-hand side, both in the preconditioner's norm */

typedef struct force_wire {
  int             wire, n, row; /* of the graph; rows and the first of them */
  yoke_force_rows rows;
  double          S[MAX_ROWS * MAX_ROWS]; /* own block of S */
} force_wire;

/* One side of a coupling in a subsystem. */
typedef struct force_end {
  int wire, side, first; /* force_wire; its rows start here among those of the subsystem */
} force_end;

typedef struct force_subsystem {
  int            index, n_ends, n;
  force_end     *ends;
  yoke_port_row *rows; /* [n] */
  double        *W;    /* [n, n] */
  double        *in;   /* [n] */
} force_subsystem;

struct yoke_joint_forces {
  yoke_arena       arena;
  int              n_wires, n_subsystems, n;
  force_wire      *wires;
  int             *of_wire; /* [graph wires] force_wire, -1: none */
  force_subsystem *subsystems;
  double          *x, *b, *r, *z, *d, *q; /* [n] */
};

void yoke_joint_forces_destroy(yoke_joint_forces **forces) {
  yoke_joint_forces *f = *forces;
  if (f == NULL) return;
  yoke_arena_free(&f->arena);
  free(f);
  *forces = NULL;
}

/* ---- creation ---- */

static bool takes_part(const yoke_graph *g, int w) {
  const yoke_wire *wire = &g->wires[w].wire;
  return wire->formulation->forces != NULL && wire->formulation->forces->n_rows(wire->self, YOKE_STAGE_UPDATE) > 0;
}

static int count_ends(const yoke_graph *g, int subsystem) {
  const graph_subsystem *s = &g->subsystems[subsystem];
  int                    n = 0;
  for (int e = 0; e < s->n_ends; ++e) n += takes_part(g, s->ends[e].wire);
  return n;
}

/* Do two of them meet in a subsystem, and can all these subsystems answer? */
static bool is_needed(yoke_context *ctx, const yoke_graph *g) {
  const yoke_subsystem *mute = NULL;
  bool                  meet = false;
  for (int i = 0; i < g->n_subsystems; ++i) {
    const int n = count_ends(g, i);
    if (n > 0 && g->subsystems[i].subsystem->ops->reset == NULL) mute = g->subsystems[i].subsystem;
    meet = meet || n > 1;
  }
  if (meet && mute != NULL) {
    yoke_warn(
        ctx,
        "several joints with an exact force share subsystems, but subsystem '%s' cannot show its responses: every "
        "joint finds its force alone, which need not be zero-stable; use another solver there, or order 0",
        mute->name);
  }
  return meet && mute == NULL;
}

static yoke_status take_subsystem(yoke_joint_forces *f, const yoke_graph *g, int index) {
  const int n_ends = count_ends(g, index);
  if (n_ends == 0) return YOKE_OK;
  force_subsystem *s = &f->subsystems[f->n_subsystems];
  *s = (force_subsystem){.index = index, .ends = yoke_arena_take(&f->arena, (size_t)n_ends, sizeof *s->ends)};
  if (f->arena.has_failed) return YOKE_E_MEMORY;
  ++f->n_subsystems;
  for (int e = 0; e < g->subsystems[index].n_ends; ++e) {
    const graph_end end = g->subsystems[index].ends[e];
    const int       w   = f->of_wire[end.wire];
    if (w < 0) continue;
    s->ends[s->n_ends++] = (force_end){w, end.side, s->n};
    s->n += f->wires[w].n;
  }
  s->rows = yoke_arena_take(&f->arena, (size_t)s->n, sizeof *s->rows);
  s->W    = yoke_arena_take(&f->arena, (size_t)s->n * (size_t)s->n, sizeof *s->W);
  s->in   = yoke_arena_take(&f->arena, (size_t)s->n, sizeof *s->in);
  return f->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

static yoke_status build(yoke_joint_forces *f, const yoke_graph *g) {
  f->wires      = yoke_arena_take(&f->arena, (size_t)g->n_wires, sizeof *f->wires);
  f->of_wire    = yoke_arena_take(&f->arena, (size_t)g->n_wires, sizeof *f->of_wire);
  f->subsystems = yoke_arena_take(&f->arena, (size_t)g->n_subsystems, sizeof *f->subsystems);
  if (f->arena.has_failed) return YOKE_E_MEMORY;
  for (int w = 0; w < g->n_wires; ++w) {
    f->of_wire[w] = -1;
    if (!takes_part(g, w)) continue;
    const yoke_wire *wire  = &g->wires[w].wire;
    const int        n     = wire->formulation->forces->n_rows(wire->self, YOKE_STAGE_UPDATE);
    f->of_wire[w]          = f->n_wires;
    f->wires[f->n_wires++] = (force_wire){.wire = w, .n = n, .row = f->n};
    f->n += n;
  }
  for (int i = 0; i < g->n_subsystems; ++i) YOKE_TRY(take_subsystem(f, g, i));
  double **const vectors[] = {&f->x, &f->b, &f->r, &f->z, &f->d, &f->q};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i)
    *vectors[i] = yoke_arena_take(&f->arena, (size_t)f->n, sizeof(double));
  return f->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

yoke_status yoke_joint_forces_create(yoke_context *ctx, const yoke_graph *g, yoke_joint_forces **out) {
  *out = NULL;
  if (!is_needed(ctx, g)) return YOKE_OK;
  yoke_joint_forces *f = yoke_allocate(1, sizeof *f);
  if (f != NULL) f->arena = yoke_arena_of(ctx);
  const yoke_status status = f != NULL ? build(f, g) : YOKE_E_MEMORY;
  if (status != YOKE_OK) {
    yoke_joint_forces_destroy(&f);
    return yoke_out_of_memory(ctx, "the forces of joints");
  }
  *out = f;
  return YOKE_OK;
}

/* ---- the system ---- */

/* y := S x, or with x NULL: y += what the multipliers felt do. */
static void apply(const yoke_joint_forces *f, const double *x, double *y) {
  if (x != NULL) memset(y, 0, (size_t)f->n * sizeof *y);
  for (int i = 0; i < f->n_subsystems; ++i) {
    const force_subsystem *s = &f->subsystems[i];
    for (int e = 0; e < s->n_ends; ++e) {
      const force_end  *end  = &s->ends[e];
      const force_wire *wire = &f->wires[end->wire];
      memcpy(s->in + end->first, x != NULL ? x + wire->row : wire->rows.felt[end->side], (size_t)wire->n * sizeof *x);
    }
    for (int e = 0; e < s->n_ends; ++e) {
      const force_end  *end  = &s->ends[e];
      const force_wire *wire = &f->wires[end->wire];
      for (int k = 0; k < wire->n; ++k) {
        double sum = 0.0;
        for (int j = 0; j < s->n; ++j) sum += s->W[(ptrdiff_t)(end->first + k) * s->n + j] * s->in[j];
        y[wire->row + k] += sum;
      }
    }
  }
}

/* z := block diagonal of S, inverted, times r. */
static void precondition(const yoke_joint_forces *f, const double *r, double *z) {
  for (int w = 0; w < f->n_wires; ++w)
    yoke_symmetric_solve(f->wires[w].n, f->wires[w].S, r + f->wires[w].row, z + f->wires[w].row);
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

static yoke_status solve(yoke_joint_forces *f) {
  const int n = f->n;
  memset(f->x, 0, (size_t)n * sizeof *f->x);
  memcpy(f->r, f->b, (size_t)n * sizeof *f->r);
  precondition(f, f->r, f->z);
  memcpy(f->d, f->z, (size_t)n * sizeof *f->d);
  double       rho  = dot(n, f->r, f->z);
  const double goal = tolerance * tolerance * rho;
  for (int k = 0; k < 4 * n + 20 && rho > goal; ++k) {
    apply(f, f->d, f->q);
    const double curvature = dot(n, f->d, f->q);
    if (!(curvature > 0.0)) break; /* what is left lies in dependent rows, or is not finite */
    const double alpha = rho / curvature;
    for (int i = 0; i < n; ++i) {
      f->x[i] += alpha * f->d[i];
      f->r[i] -= alpha * f->q[i];
    }
    precondition(f, f->r, f->z);
    const double next = dot(n, f->r, f->z), beta = next / rho;
    for (int i = 0; i < n; ++i) f->d[i] = f->z[i] + beta * f->d[i];
    rho = next;
  }
  return isfinite(rho) ? YOKE_OK : YOKE_NON_FINITE;
}

/* ---- one stage ---- */

/* Rows of a wire that waits have no part in the system: 0 is found for them. */
static void leave_out(const yoke_joint_forces *f, force_wire *own) {
  memset(&own->rows, 0, sizeof own->rows);
  memset(own->S, 0, sizeof own->S);
  for (int k = 0; k < own->n; ++k) {
    own->S[k * own->n + k] = 1.0;
    f->b[own->row + k]     = 0.0;
  }
}

static bool look_at_rows(yoke_joint_forces *f, const yoke_graph *g, int stage) {
  bool some = false;
  for (int w = 0; w < f->n_wires; ++w) {
    force_wire       *own  = &f->wires[w];
    const graph_wire *wire = &g->wires[own->wire];
    const double     *y[2];
    double           *now = wire->lent->now;
    for (int side = 0; side < 2; ++side)
      y[side] = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].y_new);
    for (int k = 0; k < wire->n_channels; ++k) now[k] = g->channels[wire->first + k].applied;
    if (wire->waits) {
      leave_out(f, own);
      continue;
    }
    wire->wire.formulation->forces->rows(wire->wire.self, y, now, &own->rows);
    some = wire->wire.formulation->forces->n_rows(wire->wire.self, stage) > 0 || some;
    for (int k = 0; k < own->n; ++k) f->b[own->row + k] = -own->rows.second[k];
    memset(own->S, 0, sizeof own->S);
  }
  return some;
}

static yoke_status find_responses(yoke_joint_forces *f, const yoke_graph *g) {
  for (int i = 0; i < f->n_subsystems; ++i) {
    force_subsystem       *s    = &f->subsystems[i];
    const graph_subsystem *part = &g->subsystems[s->index];
    for (int e = 0; e < s->n_ends; ++e) {
      const force_end  *end  = &s->ends[e];
      const force_wire *wire = &f->wires[end->wire];
      for (int k = 0; k < wire->n; ++k) {
        yoke_port_row *row = &s->rows[end->first + k];
        row->port          = g->wires[wire->wire].wire.port[end->side];
        memcpy(row->wrench, wire->rows.L[end->side][k], sizeof row->wrench);
      }
    }
    YOKE_TRY(part->subsystem->ops->reset->row_response(
        part->subsystem, g->scratch[0], part->trial != NULL ? part->trial : part->accepted, s->n, s->rows, s->W));
    for (int e = 0; e < s->n_ends; ++e) {
      const force_end *end  = &s->ends[e];
      force_wire      *wire = &f->wires[end->wire];
      for (int a = 0; a < wire->n; ++a) {
        for (int b = 0; b < wire->n; ++b)
          wire->S[a * wire->n + b] += s->W[(ptrdiff_t)(end->first + a) * s->n + end->first + b];
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke_joint_forces_find(yoke_joint_forces *f, const yoke_graph *g, int stage) {
  if (!look_at_rows(f, g, stage)) return YOKE_OK;
  YOKE_TRY(find_responses(f, g));
  apply(f, NULL, f->b);
  return solve(f);
}

const double *yoke_joint_forces_of(const yoke_joint_forces *f, int wire) {
  return f == NULL || f->of_wire[wire] < 0 ? NULL : f->x + f->wires[f->of_wire[wire]].row;
}
