#include "master/foreign_part.h"

#include "base/text.h"
#include "linalg/space.h"
#include "master/submodel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

yoke_status yoke_foreign_part_make(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  const yoke_foreign_part *part = definition;
  const yoke_user_def      def  = {
            .name = part->name, .entry = part->entry, .n_arguments = part->n_arguments, .arguments = part->arguments};
  return part->entry != NULL ? yoke_user_create(ctx, &def, out) : yoke_placeholder_create(ctx, &part->placeholder, out);
}

int yoke_foreign_part_port_of(const yoke_foreign_part *part, int y) {
  for (int k = 0; k < part->n_ports; ++k) {
    if (y >= part->y_at[k] && y < part->y_at[k] + part->n_y[k]) return k;
  }
  return -1;
}

/* ---- as the model says ---- */

static void take_places(yoke_arena *arena, int n_ports, const yoke_foreign *from, yoke_foreign_part *out) {
  const size_t n = (size_t)n_ports + 1;
  out->y_at      = yoke_arena_take(arena, n, sizeof *out->y_at);
  out->n_y       = yoke_arena_take(arena, n, sizeof *out->n_y);
  out->u_at      = yoke_arena_take(arena, n, sizeof *out->u_at);
  out->port      = yoke_arena_take(arena, (size_t)from->n_ports + 1, sizeof *out->port);
  out->input     = yoke_arena_take(arena, (size_t)from->n_inputs + 1, sizeof *out->input);
  out->output    = yoke_arena_take(arena, (size_t)from->n_outputs + 1, sizeof *out->output);
  out->n_ports   = arena->has_failed ? 0 : n_ports;
}

void yoke_foreign_part_take(yoke_arena *arena, const yoke_foreign *from, yoke_foreign_part *out) {
  *out           = (yoke_foreign_part){.name       = yoke_arena_text(arena, from->name),
                                       .type       = yoke_arena_text(arena, from->type),
                                       .part       = from->part,
                                       .has_energy = true};
  out->arguments = yoke_arena_take(arena, (size_t)from->n_arguments + 1, sizeof *out->arguments);
  out->unit      = yoke_arena_take(arena, (size_t)from->n_outputs + 1, sizeof *out->unit);
  if (arena->has_failed) return;
  for (int k = 0; k < from->n_arguments; ++k) {
    const yoke_foreign_argument *argument = &from->arguments[k];
    out->arguments[out->n_arguments++] =
        (yoke_user_argument){.name  = yoke_arena_text(arena, argument->name),
                             .text  = argument->text != NULL ? yoke_arena_text(arena, argument->text) : NULL,
                             .value = argument->value};
  }
  for (int k = 0; k < from->n_outputs; ++k) out->unit[k] = yoke_arena_text(arena, from->outputs[k].unit);
}

void yoke_foreign_part_dry(yoke_arena *arena, const yoke_foreign *from, yoke_foreign_part *out) {
  const int               n_all = from->n_ports + from->n_inputs + from->n_outputs;
  char                  **name  = yoke_arena_take(arena, (size_t)n_all + 1, sizeof *name);
  const yoke_port_shape **shape = yoke_arena_take(arena, (size_t)from->n_ports + 1, sizeof *shape);
  int                     y = 0, u = 0, n = 0;
  take_places(arena, n_all, from, out);
  if (arena->has_failed) return;
  for (int k = 0; k < from->n_ports; ++k, ++n) {
    out->port[k] = n;
    out->y_at[n] = y;
    out->u_at[n] = u;
    out->n_y[n]  = yoke_shape_n_y(from->ports[k].shape);
    name[n]      = yoke_arena_text(arena, from->ports[k].name);
    shape[n]     = from->ports[k].shape;
    y += out->n_y[n];
    u += shape[n]->n_v;
  }
  for (int k = 0; k < from->n_inputs; ++k, ++n) {
    out->input[k] = n;
    out->y_at[n]  = y;
    out->u_at[n]  = u++;
    name[n]       = yoke_arena_text(arena, from->inputs[k].name);
  }
  for (int k = 0; k < from->n_outputs; ++k, ++n) {
    out->output[k] = n;
    out->y_at[n]   = y++;
    out->n_y[n]    = 1;
    out->u_at[n]   = -1;
    name[n]        = yoke_arena_text(arena, from->outputs[k].name);
  }
  out->y           = yoke_arena_take(arena, (size_t)y + 1, sizeof *out->y);
  out->placeholder = (yoke_placeholder_def){.name      = out->name,
                                            .n_ports   = from->n_ports,
                                            .n_inputs  = from->n_inputs,
                                            .n_outputs = from->n_outputs,
                                            .port_name = name,
                                            .shape     = shape,
                                            .y         = out->y};
}

/* ---- as the instance says ---- */

typedef const char *name_of(const yoke_user_instance *x, int k);

static const char *port_name(const yoke_user_instance *x, int k) {
  return x->ports[k].name;
}
static const char *input_name(const yoke_user_instance *x, int k) {
  return x->inputs[k].name;
}
static const char *output_name(const yoke_user_instance *x, int k) {
  return x->outputs[k].name;
}

/* Number of a name among n of the instance; -1: none, which is told with those that there are. */
static int find(yoke_context *ctx, const yoke_foreign *from, const char *what, const char *name,
                const yoke_user_instance *x, int n, name_of *of) {
  char   list[400] = "none";
  size_t used      = 0;
  for (int k = 0; k < n; ++k) {
    if (strcmp(of(x, k), name) == 0) return k;
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", k > 0 ? ", " : "", of(x, k));
  }
  (void)yoke_fail(ctx, YOKE_E_MODEL, "%s: subsystem '%s' names %s '%s', but its type '%s' has %s", from->where,
                  from->name, what, name, from->type, list);
  return -1;
}

/* One that the instance has and the model does not name. */
static yoke_status miss(yoke_context *ctx, const yoke_foreign *from, const char *what, const char *name,
                        const char *remedy) {
  return yoke_fail(ctx, YOKE_E_MODEL, "%s: type '%s' of subsystem '%s' has %s '%s', which the model does not name: %s",
                   from->where, from->type, from->name, what, name, remedy);
}

static bool is_among(const int *numbers, int n, int k) {
  for (int i = 0; i < n; ++i) {
    if (numbers[i] == k) return true;
  }
  return false;
}

/* Names and shapes of the model and of the instance. */
static yoke_status agree(yoke_context *ctx, const yoke_foreign *from, const yoke_user_instance *x,
                         yoke_foreign_part *out) {
  for (int k = 0; k < from->n_ports; ++k) {
    const yoke_foreign_port *port = &from->ports[k];
    out->port[k]                  = find(ctx, from, "port", port->name, x, x->n_ports, port_name);
    if (out->port[k] < 0) return YOKE_E_MODEL;
    if (strcmp(x->ports[out->port[k]].shape, port->shape->name) != 0)
      return yoke_fail(
          ctx, YOKE_E_MODEL,
          "%s: port '%s' of subsystem '%s' is written with the shape '%s', but its type '%s' makes it '%s'",
          from->where, port->name, from->name, port->shape->name, from->type, x->ports[out->port[k]].shape);
  }
  for (int k = 0; k < from->n_inputs; ++k) {
    out->input[k] = find(ctx, from, "input", from->inputs[k].name, x, x->n_inputs, input_name);
    if (out->input[k] < 0) return YOKE_E_MODEL;
  }
  for (int k = 0; k < from->n_outputs; ++k) {
    out->output[k] = find(ctx, from, "output", from->outputs[k].name, x, x->n_outputs, output_name);
    if (out->output[k] < 0) return YOKE_E_MODEL;
  }
  for (int k = 0; k < x->n_ports; ++k) {
    if (!is_among(out->port, from->n_ports, k))
      return miss(ctx, from, "a port", x->ports[k].name, "write its name and shape below 'ports'");
  }
  for (int k = 0; k < x->n_inputs; ++k) {
    if (!is_among(out->input, from->n_inputs, k))
      return miss(ctx, from, "an input", x->inputs[k].name, "write what it reads below 'inputs', 0 if nothing");
  }
  return YOKE_OK;
}

/* Where everything is, once the names agree. */
static void take_instance(yoke_arena *arena, const yoke_foreign *from, const yoke_subsystem *s,
                          yoke_foreign_part *out) {
  const yoke_user_instance *x = yoke_user_instance_of(s);
  for (int k = 0; k < out->n_ports; ++k) {
    out->y_at[k] = s->ports[k].y_at;
    out->n_y[k]  = s->ports[k].n_y;
    out->u_at[k] = s->ports[k].wrench_at;
  }
  for (int k = 0; k < from->n_outputs; ++k) {
    const char *unit = x->outputs[out->output[k]].unit;
    if (from->outputs[k].unit[0] == '\0' && unit != NULL) out->unit[k] = yoke_arena_text(arena, unit);
  }
  for (int k = 0; k < from->n_inputs; ++k) out->input[k] += x->n_ports;
  for (int k = 0; k < from->n_outputs; ++k) out->output[k] += x->n_ports + x->n_inputs;
  out->acts       = yoke_user_acts(s);
  out->has_energy = s->ops->energy != NULL;
  out->events     = yoke_arena_take(arena, (size_t)x->n_events + 1, sizeof *out->events);
  if (arena->has_failed) return;
  for (int k = 0; k < x->n_events; ++k) out->events[out->n_events++] = yoke_arena_text(arena, x->events[k]);
}

/* A body stands where its port is, and moves as it does. */
static void place_body(const double *y, const yoke_port_shape *shape, yoke_body *body) {
  double v[YOKE_PORT_MAX_V];
  memcpy(v, y + yoke_shape_at_v(shape), (size_t)shape->n_v * sizeof *v);
  if (body->kind == YOKE_BODY_RIGID) { /* angular velocities of bodies are in their own axes */
    yoke_pose pose;
    yoke_shape_pose(shape, y, v, &pose);
    mat3_apply_transposed(v + 3, pose.R, pose.w);
  }
  yoke_body_set_start(body, y, v);
  body->fix_position = body->fix_velocity = true;
}

/* Outputs y [ny] at the start, with all inputs 0. */
static yoke_status start_outputs(yoke_context *ctx, const yoke_subsystem *s, double t, const double *zeros, double *y) {
  const double      times[2] = {t, t + 1.0};
  const yoke_signal u        = {.n = s->nu, .n_pieces = 1, .degree = 0, .t = times, .c = zeros};
  void             *state = NULL, *scratch = NULL;
  yoke_status       status = yoke_subsystem_state_create(s, &state);
  if (status == YOKE_OK) status = yoke_subsystem_scratch_create(s, &scratch);
  if (status != YOKE_OK) status = yoke_out_of_memory(ctx, "a state of subsystem '%s'", s->name);
  if (status == YOKE_OK) status = yoke_subsystem_start(s, scratch, state, t, &u, ctx);
  if (status == YOKE_OK) {
    status = yoke_subsystem_output(s, scratch, state, &u, YOKE_SIDE_RIGHT, y);
    if (status != YOKE_OK)
      (void)yoke_fail(ctx, status, "subsystem '%s' shows no outputs at its start: %s", s->name,
                      yoke_status_text(status));
  }
  if (state != NULL) yoke_subsystem_state_destroy(s, &state);
  if (scratch != NULL) yoke_subsystem_scratch_destroy(&scratch);
  return status;
}

static yoke_status look_at(yoke_context *ctx, yoke_arena *arena, const yoke_foreign *from, const yoke_subsystem *s,
                           double t, yoke_body *bodies, yoke_foreign_part *out) {
  take_places(arena, s->n_ports, from, out);
  YOKE_TRY(yoke_arena_check(arena, ctx, "subsystem '%s'", from->name));
  YOKE_TRY(agree(ctx, from, yoke_user_instance_of(s), out));
  take_instance(arena, from, s, out);
  double           *block = yoke_allocate((size_t)s->nu + (size_t)s->ny + 1, sizeof *block), *y = block + s->nu;
  const yoke_status status = block != NULL ? start_outputs(ctx, s, t, block, y)
                                           : yoke_out_of_memory(ctx, "the start of subsystem '%s'", from->name);
  for (int k = 0; k < from->n_ports && status == YOKE_OK; ++k)
    place_body(y + out->y_at[out->port[k]], from->ports[k].shape, &bodies[from->ports[k].body]);
  free(block);
  return status;
}

static yoke_status no_type(yoke_context *ctx, const yoke_foreign *from) {
  char   list[400] = "";
  size_t used      = 0;
  for (int k = 0; k < yoke_context_n_types(ctx) && used < sizeof list; ++k)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", k > 0 ? ", " : "; known are ",
                             yoke_context_type_name(ctx, k));
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "%s: no type '%s' is known for subsystem '%s': load the plugin that has it (--plugin FILE), or "
                   "register it (yoke_context_add_type)%s",
                   from->where, from->type, from->name, list);
}

yoke_status yoke_foreign_part_find(yoke_context *ctx, yoke_arena *arena, const yoke_foreign *from, double t,
                                   yoke_body *bodies, yoke_foreign_part *out) {
  yoke_subsystem  *s     = NULL;
  yoke_user_entry *entry = yoke_user_find(ctx, from->type);
  if (entry == NULL) return no_type(ctx, from);
  out->entry         = yoke_user_retain(entry);
  yoke_status status = yoke_foreign_part_make(ctx, out, &s);
  if (status == YOKE_OK) status = look_at(ctx, arena, from, s, t, bodies, out);
  yoke_subsystem_destroy(&s);
  return status;
}
