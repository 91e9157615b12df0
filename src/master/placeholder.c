#include "master/placeholder.h"

#include <string.h>

typedef struct placeholder {
  double *y; /* [ny] */
} placeholder;

static void placeholder_destroy(yoke_subsystem *subsystem) {
  yoke_subsystem_free(subsystem);
}

static yoke_status placeholder_start(const yoke_subsystem *subsystem, void *scratch, void *state, double t,
                                     const yoke_signal *u, yoke_context *ctx) {
  (void)subsystem, (void)scratch, (void)u, (void)ctx;
  *(double *)state = t;
  return YOKE_OK;
}

static yoke_status placeholder_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                    yoke_step_request *request, yoke_context *ctx) {
  (void)scratch, (void)state, (void)u, (void)request;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "subsystem '%s' was only looked at, it cannot step", subsystem->name);
}

/* A unit mass accelerates as it is pushed. */
static yoke_status placeholder_output(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                      const yoke_signal *u, yoke_side side, double *y) {
  const placeholder *self  = subsystem->self;
  double            *force = scratch;
  memcpy(y, self->y, (size_t)subsystem->ny * sizeof *y);
  yoke_signal_value(u, *(const double *)state, side, 0, force);
  for (int k = 0; k < subsystem->n_ports; ++k) {
    const yoke_port *port = &subsystem->ports[k];
    for (int i = 0; i < port->shape->n_v; ++i)
      y[port->y_at + yoke_shape_at_a(port->shape) + i] = force[port->wrench_at + i];
  }
  return YOKE_OK;
}

static yoke_status placeholder_copy(const yoke_subsystem *subsystem, void *dst, const void *src) {
  memcpy(dst, src, subsystem->state_size);
  return YOKE_OK;
}

static const yoke_repeat_ops repeat = {.copy = placeholder_copy};

static yoke_status placeholder_observe(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                       const yoke_signal *u, double t, yoke_side side, int n, const int64_t *handles,
                                       double *values) {
  const placeholder *self = subsystem->self;
  (void)scratch, (void)state, (void)u, (void)t, (void)side;
  for (int i = 0; i < n; ++i) values[i] = handles[i] < 0 ? self->y[yoke_handle_output(handles[i])] : 0.0;
  return YOKE_OK;
}

static const yoke_observe_ops observe = {.at = placeholder_observe};

static void placeholder_energies(const yoke_subsystem *subsystem, int64_t out[YOKE_N_ENERGIES]) {
  (void)subsystem;
  for (int k = 0; k < YOKE_N_ENERGIES; ++k) out[k] = k;
}

static const yoke_energy_ops energy = {.handles = placeholder_energies};

static const yoke_subsystem_ops ops = {.kind    = "placeholder",
                                       .destroy = placeholder_destroy,
                                       .start   = placeholder_start,
                                       .step    = placeholder_step,
                                       .output  = placeholder_output,
                                       .repeat  = &repeat,
                                       .observe = &observe,
                                       .energy  = &energy};

static void set_ports(yoke_subsystem *s, const yoke_placeholder_def *def, yoke_port *port) {
  for (int k = 0; k < def->n_ports; ++k, ++port) {
    *port = (yoke_port){.name         = yoke_arena_text(&s->arena, def->port_name[k]),
                        .shape        = def->shape[k],
                        .y_at         = s->ny,
                        .n_y          = yoke_shape_n_y(def->shape[k]),
                        .takes        = YOKE_TAKES_WRENCH,
                        .wrench_at    = s->nu,
                        .no_integrals = true};
    s->nu += def->shape[k]->n_v;
    s->ny += port->n_y;
  }
  for (int k = 0; k < def->n_inputs + def->n_outputs; ++k, ++port) {
    const bool is_input = k < def->n_inputs;
    *port               = (yoke_port){.name      = yoke_arena_text(&s->arena, def->port_name[def->n_ports + k]),
                                      .shape     = &yoke_shape_signal,
                                      .y_at      = s->ny,
                                      .n_y       = is_input ? 0 : 1,
                                      .takes     = is_input ? YOKE_TAKES_SIGNAL : 0u,
                                      .wrench_at = is_input ? s->nu : -1};
    s->nu += is_input;
    s->ny += !is_input;
  }
}

yoke_status yoke_placeholder_create(yoke_context *ctx, const yoke_placeholder_def *def, yoke_subsystem **out) {
  const int n = def->n_ports + def->n_inputs + def->n_outputs;
  YOKE_TRY(yoke_subsystem_new(ctx, def->name, sizeof(placeholder), out));
  yoke_subsystem *s     = *out;
  placeholder    *self  = s->self;
  yoke_port      *ports = yoke_arena_take(&s->arena, (size_t)n + 1, sizeof *ports);
  s->ops                = &ops;
  s->n_ports            = n;
  s->ports              = ports;
  if (ports != NULL) set_ports(s, def, ports);
  self->y                  = yoke_arena_copy(&s->arena, def->y, (size_t)s->ny, sizeof *self->y);
  s->state_size            = 64;
  s->scratch_size          = ((size_t)s->nu * sizeof(double) / 64 + 1) * 64;
  const yoke_status status = yoke_arena_check(&s->arena, ctx, "subsystem '%s'", def->name);
  if (status != YOKE_OK) yoke_subsystem_destroy(out);
  return status;
}
