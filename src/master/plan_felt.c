/* Motions that signals lead to: bodies that loads and laws which read signals act on. Step control looks at them, as it looks at the ports of
 * mechanical couplings, so that a signal counts by what it does. */
#include "master/plan_builder.h"

#include <stdlib.h>

yoke_status plan_note_felt(plan_builder *b, int part, int frame, int variable) {
  const yoke_frame *f = &b->model->frames[frame];
  if (f->body < 0) return YOKE_OK; /* the ground */
  if (!yoke_grow(&b->felt, &b->capacity_felt, (size_t)b->n_felt + 1, sizeof *b->felt)) return plan_no_memory(b);
  b->felt[b->n_felt++] = (plan_felt){.part = part, .body = f->body, .mass = f->mass, .variable = variable};
  return YOKE_OK;
}

static int compare_bodies(const plan_felt *x, const plan_felt *y) {
  if (x->part != y->part) return x->part - y->part;
  return x->body != y->body ? x->body - y->body : x->mass - y->mass;
}

static int by_body(const void *a, const void *b) {
  const plan_felt *x = a, *y = b;
  const int        order = compare_bodies(x, y);
  return order != 0 ? order : x->variable - y->variable;
}

static int by_signal(const void *a, const void *b) {
  const plan_felt *x = a, *y = b;
  if (x->part != y->part) return x->part - y->part;
  return x->variable != y->variable ? x->variable - y->variable : compare_bodies(x, y);
}

/* Signals that are inputs of the part anyway have no wire. */
static void drop_unwired(plan_builder *b) {
  int n = 0;
  for (int k = 0; k < b->n_felt; ++k) {
    if (plan_find_signal(b, b->felt[k].part, b->felt[k].variable)->coupling >= 0) b->felt[n++] = b->felt[k];
  }
  b->n_felt = n;
}

/* Every body once, with one of its signals. */
static void sort(plan_builder *b) {
  int n = 0;
  if (b->n_felt > 1) qsort(b->felt, (size_t)b->n_felt, sizeof *b->felt, by_body);
  for (int k = 0; k < b->n_felt; ++k) {
    if (n == 0 || compare_bodies(&b->felt[n - 1], &b->felt[k]) != 0) b->felt[n++] = b->felt[k];
  }
  b->n_felt = n;
  if (n > 1) qsort(b->felt, (size_t)n, sizeof *b->felt, by_signal);
}

static yoke_status show(const plan_builder *b, const plan_felt *felt, yoke_felt *out) {
  const yoke_port_shape *shape = yoke_body_shape(b->model->bodies[felt->body].kind);
  const yoke_place       place = yoke_place_find(&b->plan->places, felt->body, felt->mass);
  int64_t                handles[YOKE_PORT_MAX_P + YOKE_PORT_MAX_V];
  int                    n = 0;
  for (int k = 0; k < shape->n_p; ++k) handles[n++] = yoke_native_handle(YOKE_NATIVE_Q, place.body, place.mass + k);
  for (int k = 0; k < shape->n_v; ++k) handles[n++] = yoke_native_handle(YOKE_NATIVE_V, place.body, place.mass + k);
  *out = (yoke_felt){yoke_submodel_add_signal_port(plan_submodel(b, felt->part), n, handles), shape};
  return out->port >= 0 ? YOKE_OK : plan_no_memory(b);
}

yoke_status plan_show_felt(plan_builder *b) {
  drop_unwired(b);
  sort(b);
  yoke_felt *all = yoke_arena_take(&b->plan->arena, (size_t)b->n_felt + 1, sizeof *all);
  if (all == NULL) return plan_no_memory(b);
  for (int k = 0; k < b->n_felt; ++k) {
    const plan_signal *signal = plan_find_signal(b, b->felt[k].part, b->felt[k].variable);
    yoke_wire         *wire   = &b->plan->wires[signal->coupling];
    if (wire->n_felt++ == 0) wire->felt = &all[k];
    YOKE_TRY(show(b, &b->felt[k], &all[k]));
  }
  for (int k = 0; k < b->n_signals; ++k) {
    const plan_signal *signal = &b->signals[k];
    if (signal->coupling >= 0) b->plan->wires[signal->coupling].is_felt = !signal->is_bare;
  }
  return YOKE_OK;
}
