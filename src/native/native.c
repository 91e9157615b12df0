/* Native subsystem: creation, start and step. */
#include "native/native_internal.h"

#include "base/assert.h"
#include "base/jump.h"
#include "base/memory.h"
#include "base/text.h"
#include "integrate/solver_options.h"
#include "model/assembly_report.h"
#include "model/prescribed.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_open = 1e-4; /* rows that are left out: lengths of the model, or rad */

/* ---- inputs ---- */

/* Do the inputs at t differ from those that the state has seen? Rounding differences do not count; those of a rate are the larger the
 * shorter the step is that it was formed over. A kink is nothing to a method of one step that has
 * the derivative at t already; fused stages of chains have it for next to nothing. */
static bool inputs_jump(const native *n, void *scratch, const void *state, const yoke_signal *u, double t) {
  const double *seen = native_doubles(state, n->at->u), *seen_rate = native_doubles(state, n->at->rate);
  const double *size = native_doubles(state, n->at->size), *size_rate = native_doubles(state, n->at->size_rate);
  const double  H   = u->t[u->n_pieces] - u->t[0];
  double       *now = native_doubles(scratch, n->at->left);
  yoke_signal_value(u, t, YOKE_SIDE_RIGHT, 0, now);
  for (int i = 0; i < n->equations.nu; ++i) {
    if (yoke_is_jump(seen[i], now[i], size[i])) return true;
  }
  if (n->equations.ops->stage == NULL && yoke_integrator_at_work(n->integrator, state)->ops->ends_with_derivative)
    return false;
  yoke_signal_value(u, t, YOKE_SIDE_RIGHT, 1, now);
  for (int i = 0; i < n->equations.nu; ++i) {
    if (yoke_is_jump(seen_rate[i], now[i], size_rate[i] + size[i] / H)) return true;
  }
  return false;
}

void native_remember_inputs(const native *n, void *state, const yoke_signal *u, double t, yoke_side side) {
  double *seen = native_doubles(state, n->at->u), *seen_rate = native_doubles(state, n->at->rate);
  double *size = native_doubles(state, n->at->size), *size_rate = native_doubles(state, n->at->size_rate);
  if (n->equations.nu == 0) return;
  yoke_signal_value(u, t, side, 0, seen);
  yoke_signal_value(u, t, side, 1, seen_rate);
  if (side == YOKE_SIDE_RIGHT && n->equations.n_events > 0 && n->events_see_inputs) /* nothing is known of what comes */
    memset(native_doubles(state, n->at->bend), 0, (size_t)n->equations.nu * sizeof *seen);
  for (int i = 0; i < n->equations.nu; ++i) {
    if (fabs(seen[i]) > size[i]) size[i] = fabs(seen[i]);
    if (fabs(seen_rate[i]) > size_rate[i]) size_rate[i] = fabs(seen_rate[i]);
  }
}

/* ---- calls ---- */

/* Loads and laws that read accelerations and forces of joints fit to them at the start. Alone a part may answer them with gain 1 where the whole
 * model, with the mass of its neighbours, does not. */
static yoke_status check_loop(const yoke_subsystem *subsystem, void *scratch, double t, const yoke_signal *u,
                              yoke_context *ctx) {
  const native *n         = subsystem->self;
  double       *now       = native_doubles(scratch, n->at->left);
  char          text[900] = "";
  if (n->equations.nu > 0) yoke_signal_value(u, t, YOKE_SIDE_RIGHT, 0, now);
  const yoke_status status =
      yoke_multibody_check_loop(n->mb, scratch, t, n->q_start, n->v_start, now, text, sizeof text);
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status, "subsystem '%s' cannot start at t = %.9g s: %s%s", subsystem->name, t, text,
                   n->equations.nu > 0 ? ", or keep the bodies that hold it in the same subsystem" : "");
}

static yoke_status native_start(const yoke_subsystem *subsystem, void *scratch, void *state, double t,
                                const yoke_signal *u, yoke_context *ctx) {
  const native *n = subsystem->self;
  YOKE_TRY(check_loop(subsystem, scratch, t, u, ctx));
  memset((char *)state + n->at->u, 0, subsystem->state_size - n->at->u);
  native_begin_pauses(n, state, t);
  const yoke_status status = yoke_integrator_start(n->integrator, scratch, state, t, n->q_start, n->v_start, u, ctx);
  if (status != YOKE_OK) return yoke_fail(ctx, status, "subsystem '%s' cannot start at t = %.9g s", subsystem->name, t);
  YOKE_TRY(native_begin_jumps(n, scratch, state, u, ctx));
  native_remember_inputs(n, state, u, t, YOKE_SIDE_RIGHT);
  native_begin_events(n, scratch, state);
  return YOKE_OK;
}

/* From here on somebody looks into micro steps; some time: for rough tangents and works any dense output will do that costs nothing. */
static double look_from(const native *n, const yoke_step_request *request) {
  const bool has_response = request->response != NULL,
             is_rough     = has_response && request->response->directions.tolerance > 0.0;
  if (n->equations.n_events > 0 || (has_response && !is_rough) || n->holds_jumps) return -(double)INFINITY;
  const double look = request->n_observed < request->n_times
                          ? fmin(request->t_look, request->times[request->n_observed])
                          : request->t_look;
  return is_rough || (n->counts_work && n->work_looks) ? fmin(look, DBL_MAX) : look;
}

/* What the step of a request may take. Methods that stop at every macro point take several times what one step of theirs needs. */
static int64_t most_evaluations(const native *n, const yoke_integrator_state *head, const yoke_step_request *request) {
  const double most = (double)request->most_evaluations, past = head->t - n->model->t_start;
  if (request->most_evaluations == 0) return INT64_MAX;
  const double usual = past > 0.0 ? (double)head->counters.evaluations * (request->t_end - request->t) / past : 0.0;
  return (int64_t)fmin(fmax(past > 0.0 ? most : 10.0 * most, 20.0 * usual), 1e18);
}

/* The caller sees that the inputs lead it astray. */
static yoke_status give_up(const yoke_integrator_state *head, int64_t evaluations, yoke_context *ctx) {
  return yoke_fail(ctx, YOKE_E_UNSTABLE,
                   "given up at t = %.9g s behind %lld right-hand sides, with micro steps of %.3g s", head->t,
                   (long long)evaluations, head->t - head->t_prev);
}

/* Micro steps until t_end, or one of them; each is searched for events and observed, tangents are carried along. */
static yoke_status advance(const native *n, void *scratch, yoke_integrator_state *head, const yoke_signal *u,
                           yoke_step_request *request, yoke_context *ctx) {
  if (native_is_nudged(n, head))
    YOKE_TRY(yoke_integrator_nudge(n->integrator, scratch, head, u, ctx));
  else if (request->begins_anew || inputs_jump(n, scratch, head, u, head->t))
    YOKE_TRY(yoke_integrator_disturb(n->integrator, scratch, head, u, ctx));
  native_forget_found(n, head);
  YOKE_TRY(native_response_begin(n, scratch, head, u, request->response));
  const int64_t begin = head->counters.evaluations, most = most_evaluations(n, head, request);
  do {
    if (head->counters.evaluations - begin > most) return give_up(head, head->counters.evaluations - begin, ctx);
    head->t_look = look_from(n, request);
    int        jump;
    const bool counts = n->counts_work && !request->is_draft;
    const bool rests  = counts && n->work_has_panels && native_work_rests(n, head, request->t_end);
    if (counts && !rests) native_begin_work(n, scratch, head, request->t_end);
    YOKE_TRY(native_step_to_jump(n, scratch, head, u, request->t_end, &jump, ctx));
    native_note_found(n, scratch, head, u);
    if (counts && !(rests && native_work_goes_on(n, head)))
      (n->work_is_told ? native_count_told_work : native_count_work)(n, scratch, head, u);
    YOKE_TRY(native_observe_passed(n, scratch, head, u, request));
    YOKE_TRY(native_response_advance(n, scratch, head, u, request->response));
    if (request->stop_anywhere) /* who looks into this step does so behind it */
      native_keep_jump(n, head, jump);
    else
      YOKE_TRY(native_pass_jump(n, scratch, head, u, jump, request->response, ctx));
  } while (head->t < request->t_end && !request->stop_anywhere);
  request->t_reached = head->t;
  return YOKE_OK;
}

/* Rows that are left out because they follow from others to the digits that were typed stay closed, unless the mechanism goes where they do
 * not follow: a parallelogram that leaves its stretched position as an antiparallelogram. */
static yoke_status watch_left_out(const yoke_subsystem *subsystem, const yoke_integrator_state *head,
                                  yoke_context *ctx) {
  const native *n          = subsystem->self;
  int           connection = 0;
  const double  gap        = yoke_multibody_left_open(n->mb, yoke_integrator_q(n->integrator, head), &connection);
  if (!(gap > most_open)) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_UNSTABLE,
      "subsystem '%s': joint '%s', whose rows follow from other joints but for the digits that were typed, "
      "is open by %.3g of the model's length (or rad) at t = %.9g s, %.3g is allowed: the mechanism passed a "
      "singular position and went another way than its joints; give lengths and frames all their digits "
      "(expressions of parameters have them), or hold it by fewer joints",
      subsystem->name, n->model->connections[connection].name, gap, head->t, most_open);
}

static yoke_status native_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                               yoke_step_request *request, yoke_context *ctx) {
  const native                *n    = subsystem->self;
  yoke_integrator_state *const head = state;
  if (head->t != request->t) {
    return yoke_fail(ctx, YOKE_E_USAGE, "subsystem '%s': a step starts at t = %.17g s but its state is at %.17g s",
                     subsystem->name, request->t, head->t);
  }
  yoke_status status = advance(n, scratch, head, u, request, ctx);
  if (status != YOKE_OK && request->stop_anywhere) return status; /* a micro step has no length that anybody chose */
  if (status != YOKE_OK) {
    return yoke_fail(ctx, status, "subsystem '%s': the step of %.6g s from t = %.9g s failed: %s", subsystem->name,
                     request->t_end - request->t, request->t, yoke_status_text(status));
  }
  native_response_end(n, scratch, state, subsystem->ny, request->response);
  native_remember_inputs(n, state, u, head->t, YOKE_SIDE_LEFT);
  if (n->is_loose) YOKE_TRY(watch_left_out(subsystem, head, ctx));
  if (!n->is_prescribed) return YOKE_OK;
  /* Shown is what the equations have seen; to them it makes no difference. */
  status = yoke_multibody_prescribe(n->mb, scratch, head->t, native_doubles(state, n->at->u),
                                    yoke_integrator_q(n->integrator, head), yoke_integrator_v(n->integrator, head));
  if (status == YOKE_OK) return YOKE_OK;
  return yoke_fail(ctx, status, "subsystem '%s': its bodies cannot follow the motion prescribed at t = %.9g s",
                   subsystem->name, head->t);
}

static yoke_status native_copy(const yoke_subsystem *subsystem, void *dst, const void *src) {
  const native *n = subsystem->self;
  yoke_integrator_copy(n->integrator, dst, src);
  memcpy((char *)dst + n->at->u, (const char *)src + n->at->u, subsystem->state_size - n->at->u);
  return YOKE_OK;
}

/* A copy gives back what the head of its target refers to; nothing else of the target is read. */
static void native_clear(const yoke_subsystem *subsystem, void *block) {
  (void)subsystem;
  memset(block, 0, sizeof(yoke_integrator_state));
}

/* Behind the integrator's block there are numbers only. */
static yoke_status native_pack(const yoke_subsystem *subsystem, const void *state, yoke_pack *out, yoke_context *ctx) {
  const native *n = subsystem->self;
  yoke_pack_tag(out, "native");
  yoke_pack_block(out, subsystem->state_size - n->at->u, (const char *)state + n->at->u);
  return yoke_integrator_pack(n->integrator, state, out, ctx);
}

static yoke_status native_unpack(const yoke_subsystem *subsystem, void *scratch, yoke_unpack *in, void *state,
                                 yoke_context *ctx) {
  const native *n    = subsystem->self;
  const size_t  size = subsystem->state_size - n->at->u;
  (void)scratch;
  yoke_unpack_tag(in, "native");
  const void *rest = yoke_unpack_block(in, size);
  if (rest != NULL && !native_found_is_sound(n, (const char *)rest + (n->at->found - n->at->u)))
    yoke_unpack_refuse(in, "events that no step has found");
  if (rest != NULL && !native_jump_is_sound(n, (const char *)rest + (n->at->jump_next - n->at->u)))
    yoke_unpack_refuse(in, "a jump that the model does not have");
  YOKE_TRY(yoke_unpack_check(in, ctx));
  YOKE_TRY(yoke_integrator_unpack(n->integrator, in, state, ctx));
  memcpy((char *)state + n->at->u, rest, size);
  return YOKE_OK;
}

static void native_accept(const yoke_subsystem *subsystem, void *state) {
  const native *n = subsystem->self;
  memcpy(native_doubles(state, n->at->base), yoke_integrator_q(n->integrator, state) + n->i_integral,
         (size_t)n->n_integrals * sizeof(double));
}

static void native_release(const yoke_subsystem *subsystem, void *state) {
  yoke_integrator_state *head = state;
  (void)subsystem;
  for (int i = 0; i < 2; ++i) yoke_factor_release(&head->factor[i]);
  if (head->release != NULL) head->release(head->foreign);
  head->foreign = NULL;
  head->release = NULL;
}

static void native_counters(const yoke_subsystem *subsystem, const void *state, yoke_counters *out) {
  const native                *n    = subsystem->self;
  const yoke_integrator_state *head = state;
  *out                              = yoke_counters_of(&head->counters);
  out->method                       = yoke_integrator_method_at_work(n->integrator, head);
  out->h                            = head->t > head->t_prev ? head->t - head->t_prev : head->h;
  out->order                        = head->order;
}

/* ---- creation ---- */

static void native_destroy(yoke_subsystem *subsystem) {
  native *n = subsystem->self;
  yoke_tangents_destroy(&n->tangents);
  yoke_integrator_destroy(&n->integrator);
  yoke_dae_destroy(&n->own_dae);
  if (n->equations.ops != NULL) yoke_equations_destroy(&n->equations);
  yoke_subsystem_free(subsystem);
}

static const yoke_repeat_ops native_repeat = {.copy = native_copy, .clear = native_clear};

static const yoke_pack_ops native_packing = {.pack = native_pack, .unpack = native_unpack};

/* Sweeps of a lone chain, of explicit solvers, and parts of a mechanism. */
static bool native_help(const yoke_subsystem *subsystem, yoke_lockstep *helpers) {
  native *n = subsystem->self;
  if (yoke_multibody_help(n->mb, helpers)) {
    n->equations.helpers = helpers;
    return true;
  }
  if (n->equations.ops->sweep == NULL || n->equations.nv < 4 * YOKE_LOCKSTEP_GRAIN) return false;
  n->equations.helpers = helpers;
  return true;
}

/* What all of them can do. */
#define NATIVE_CALLS                                                                                                   \
  .kind = "native", .destroy = native_destroy, .start = native_start, .step = native_step, .output = native_output,    \
  .counters = native_counters, .release = native_release, .help = native_help, .instant = &native_instant,             \
  .response = &native_response, .events = &native_events, .observe = &native_observe, .energy = &native_energy,        \
  .halo = &native_halo_calls

#define NATIVE_REPEATS                                                                                                 \
  .repeat = &native_repeat, .reset = &native_resets, .linear = &native_linear, .pack = &native_packing

/* Whose state can be copied or not, and which show integrals or not: without them there is nothing to accept. */
static const yoke_subsystem_ops native_ops[2][2] = {
    [true] =
        {[false] = {NATIVE_CALLS, NATIVE_REPEATS}, [true] = {NATIVE_CALLS, NATIVE_REPEATS, .accept = native_accept}},
    [false] = {[false] = {NATIVE_CALLS}, [true] = {NATIVE_CALLS, .accept = native_accept}},
};

enum { LINE = 64 /* bytes */ };

static size_t whole_lines(size_t bytes) {
  return (bytes + LINE - 1) / LINE * LINE;
}

static int most_of(int a, int b) {
  return a > b ? a : b;
}

/* Arrays of the scratch begin on a cache line; those of a state, which are short, follow each other. */
static size_t reserve(size_t *size, int n) {
  const size_t at = *size;
  *size += whole_lines((size_t)n * sizeof(double));
  return at;
}
static size_t reserve_packed(size_t *size, int n) {
  const size_t at = *size;
  *size += (size_t)n * sizeof(double);
  return at;
}

/* Values that one event sets, at most. */
static int most_set(const yoke_model *model) {
  int most = 0;
  for (int k = 0; k < model->n_events; ++k) {
    if (model->events[k].n_set > most) most = model->events[k].n_set;
  }
  return most;
}

static void lay_out_jumps(const native *n, yoke_subsystem *s, native_places *at) {
  const int n_jumps = yoke_multibody_n_jumps(n->mb);
  if (!n->holds_jumps) return;
  at->jump        = reserve(&s->scratch_size, 6 * n_jumps);
  at->change      = reserve(&s->scratch_size, n_jumps);
  s->scratch_size = whole_lines(s->scratch_size);
  at->spare       = s->scratch_size;
  s->scratch_size += whole_lines(n->integrator->state_size);
}

static void lay_out(const native *n, yoke_subsystem *s, native_places *at) {
  const yoke_equations *e = &n->equations;
  s->state_size           = n->integrator->state_size;
  at->u                   = reserve_packed(&s->state_size, e->nu);
  at->rate                = reserve_packed(&s->state_size, e->nu);
  at->bend                = reserve_packed(&s->state_size, e->n_events > 0 && n->events_see_inputs ? e->nu : 0);
  at->size                = reserve_packed(&s->state_size, e->nu);
  at->size_rate           = reserve_packed(&s->state_size, e->nu);
  at->base                = reserve_packed(&s->state_size, n->n_integrals);
  at->old                 = reserve_packed(&s->state_size, e->n_events);
  at->dead                = reserve_packed(&s->state_size, e->n_events);
  at->most                = reserve_packed(&s->state_size, e->n_events);
  at->since               = reserve_packed(&s->state_size, e->n_events);
  at->pause               = reserve_packed(&s->state_size, 3 * e->n_events);
  const size_t found      = sizeof(native_found) + (YOKE_MAX_FOUND + (size_t)e->n_events) * sizeof(yoke_found_event);
  at->found               = reserve_packed(&s->state_size, e->n_events > 0 ? (int)(found / sizeof(double)) + 1 : 0);
  const int n_jumps       = n->holds_jumps ? yoke_multibody_n_jumps(n->mb) : 0;
  at->jump_most           = reserve_packed(&s->state_size, n_jumps);
  at->jump_since          = reserve_packed(&s->state_size, n_jumps);
  at->jump_pause          = reserve_packed(&s->state_size, 3 * n_jumps);
  at->jump_next           = reserve_packed(&s->state_size, n_jumps > 0 ? 1 : 0);
  at->nudged              = reserve_packed(&s->state_size, n->has_halos ? 1 : 0);
  at->work                = reserve_packed(&s->state_size, native_work_size(n));
  s->state_size           = whole_lines(s->state_size);
  s->state_rest           = n->integrator->state_size - yoke_integrator_fresh(n->integrator);
  s->scratch_size         = whole_lines(n->integrator->scratch_size);
  at->left                = reserve(&s->scratch_size, e->nu);
  at->a                   = reserve(&s->scratch_size, e->nv);
  at->a2                  = reserve(&s->scratch_size, e->nv);
  at->lambda              = reserve(&s->scratch_size, yoke_n_multipliers(e));
  at->lambda_0            = reserve(&s->scratch_size, yoke_n_multipliers(e));
  at->terms               = reserve(&s->scratch_size, s->ny);
  at->g                   = reserve(&s->scratch_size, e->ng);
  at->q                   = reserve(&s->scratch_size, n->is_prescribed || n->has_image ? e->nq : 0);
  at->v                   = reserve(&s->scratch_size, n->is_prescribed || n->has_image ? e->nv : 0);
  at->variables           = reserve(&s->scratch_size, e->n_events > 0 ? yoke_multibody_n_variables(n->mb) : 0);
  at->set                 = reserve(&s->scratch_size, most_set(n->model));
  at->seen                = reserve(&s->scratch_size, e->n_events > 0 && n->events_see_inputs ? 2 * e->nu : 0);
  at->now                 = reserve(&s->scratch_size, e->n_events);
  at->before              = reserve(&s->scratch_size, e->n_events);
  at->time                = reserve(&s->scratch_size, e->n_events);
  at->look_q              = reserve(&s->scratch_size, e->nq);
  at->look_v              = reserve(&s->scratch_size, e->nv);
  at->look_y              = reserve(&s->scratch_size, s->ny);
  at->work_q              = reserve(&s->scratch_size, n->counts_work ? e->nq : 0);
  at->work_v              = reserve(&s->scratch_size, !n->counts_work      ? 0
                                                      : n->work_has_panels ? 3 * most_of(e->nv, n->work_n_loaded)
                                                                           : e->nv);
  at->work_u              = reserve(&s->scratch_size, n->counts_work ? e->nu : 0);
  at->work_from           = reserve(&s->scratch_size, n->counts_work ? native_work_keeps(n) : 0);
  at->work_loads          = reserve(&s->scratch_size, n->work_has_panels ? 3 * n->work_n_loaded : 0);
  lay_out_jumps(n, s, at);
  if (n->dae == NULL) return;
  at->x       = reserve(&s->scratch_size, n->dae->nx);
  at->B       = reserve(&s->scratch_size, n->dae->input_pattern->nnz);
  at->factor  = reserve(&s->scratch_size, (int)(e->motion_size / sizeof(double)));
  at->da      = reserve(&s->scratch_size, e->nv * e->nu);
  at->dlambda = reserve(&s->scratch_size, yoke_n_multipliers(e) * e->nu);
  at->dy      = reserve(&s->scratch_size, s->ny * e->nu);
}

static void set_port(native *n, const yoke_native_def *def, int k) {
  const yoke_frame      *frame = &def->model->frames[def->port_frame[k]];
  const yoke_port_shape *shape =
      yoke_body_shape(frame->body >= 0 ? def->model->bodies[frame->body].kind : YOKE_BODY_RIGID);
  n->ports[k] = (yoke_port){.name      = frame->name,
                            .shape     = shape,
                            .n_y       = yoke_shape_n_y(shape) + yoke_multibody_n_extras(n->mb, k),
                            .takes     = YOKE_TAKES_ALL,
                            .wrench_at = -1};
  if (!def->no_integrals) n->n_integrals += shape->n_integrals;
  n->has_extras          = n->has_extras || yoke_multibody_n_extras(n->mb, k) > 0;
  n->has_image           = n->has_image || yoke_multibody_has_image(n->mb, k);
  n->needs_accelerations = true;
}

/* n->lines, which equal subsystems share. */
static yoke_status set_lines(yoke_context *ctx, native *n, yoke_subsystem *s) {
  native_line *lines    = yoke_allocate((size_t)n->n_ports + 1, sizeof *lines);
  bool         are_such = true;
  if (lines == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", s->name);
  for (int k = 0; are_such && k < n->n_ports; ++k) {
    yoke_line_port port = {0};
    are_such            = n->ports[k].shape == &yoke_shape_line && yoke_multibody_line_port(n->mb, k, &port);
    /* one by one, so that the bytes between them stay 0 */
    lines[k].port.iq         = port.iq;
    lines[k].port.iv         = port.iv;
    lines[k].port.i_integral = port.i_integral;
    lines[k].port.origin     = port.origin;
    lines[k].y_at            = n->ports[k].y_at;
  }
  if (are_such) n->lines = yoke_arena_share(&s->arena, lines, ((size_t)n->n_ports + 1) * sizeof *lines);
  free(lines);
  return yoke_arena_check(&s->arena, ctx, "subsystem '%s'", s->name);
}

static yoke_status set_ports(yoke_context *ctx, native *n, yoke_subsystem *s, const yoke_native_def *def) {
  n->n_ports = s->n_ports = def->n_ports;
  s->ports                = n->ports;
  for (int k = 0; k < def->n_ports; ++k) {
    YOKE_TRY(native_take_signals(ctx, n, s, def, k));
    if (def->port_frame[k] < 0)
      n->ports[k] = (yoke_port){.name = "signals", .shape = &yoke_shape_signal, .takes = 0, .wrench_at = -1};
    else
      set_port(n, def, k);
    n->ports[k].n_y += n->signals[k].n;
    n->ports[k].y_at = s->ny;
    s->ny += n->ports[k].n_y;
  }
  n->needs_accelerations = n->needs_accelerations || n->shown.accelerations;
  n->i_integral          = n->equations.nq - n->equations.n_quadratures; /* the first quadratures */
  return set_lines(ctx, n, s);
}

/* Guided rows must be free: a body that its own joints hold cannot follow them. */
static yoke_status check_guided(yoke_context *ctx, const native *n, void *work) {
  char      label[32];
  int       side;
  const int c = yoke_multibody_stuck_guide(n->mb, work, n->model->t_start, n->q_start, label, sizeof label, &side);
  if (c < 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_MODEL,
      "joint '%s': side %d cannot follow its row '%s', because other joints or couplings of its subsystem decide "
      "that motion; %s",
      n->model->connections[c].name, side + 1, label,
      yoke_multibody_is_prescribed(n->mb)
          ? "let the other side be prescribed, or use formulation stabilized-index-2"
          : "let the other side be the displacement side, or use decomposition force/force");
}

static void report_redundancy(yoke_context *ctx, const yoke_multibody *mb, const yoke_assembly *assembly) {
  if (assembly->n_redundant == 0) return;
  char text[500] = "", label[120];
  for (int k = 0; k < assembly->n_redundant; ++k) {
    yoke_multibody_row_label(mb, assembly->redundant[k], label, sizeof label);
    yoke_text_append(text, sizeof text, "%s'%s'", k > 0 ? ", " : "", label);
  }
  yoke_note(ctx, "%d constraint row%s from the others and the smallest reaction forces that fit are shown: %s",
            assembly->n_redundant, assembly->n_redundant > 1 ? "s follow" : " follows", text);
}

/* The start that was given, in the order of the model. */
static void take_start(const native *n, const yoke_native_def *def, const yoke_assembly *assembly) {
  const double *q = def->q, *v = def->v;
  for (int b = 0; b < n->model->n_bodies; ++b) {
    const size_t nq = (size_t)yoke_body_nq(&n->model->bodies[b]), nv = (size_t)yoke_body_nv(&n->model->bodies[b]);
    if (q != NULL) memcpy(assembly->q + yoke_multibody_q_offset(n->mb, b), q, nq * sizeof *q);
    if (v != NULL) memcpy(assembly->v + yoke_multibody_v_offset(n->mb, b), v, nv * sizeof *v);
    if (q != NULL) q += nq;
    if (v != NULL) v += nv;
  }
}

/* Equations, positions and velocities that fit the joints, and the rows that follow from others (as in a run of a whole model). */
static yoke_status compile(yoke_context *ctx, native *n, const yoke_multibody_options *options,
                           const yoke_native_def *def, yoke_arena *arena) {
  yoke_equations *e = &n->equations;
  yoke_assembly   assembly;
  YOKE_TRY(yoke_assembly_create(ctx, n->model, options, NULL, e, &n->mb, &assembly));
  take_start(n, def, &assembly);
  void *work         = yoke_allocate(1, e->work_size + 1);
  n->q_start         = yoke_arena_copy(arena, assembly.q, (size_t)e->nq + 1, sizeof *n->q_start);
  n->v_start         = yoke_arena_copy(arena, assembly.v, (size_t)e->nv + 1, sizeof *n->v_start);
  n->n_redundant     = assembly.n_redundant;
  n->redundant       = yoke_arena_copy(arena, assembly.redundant, (size_t)assembly.n_redundant, sizeof *n->redundant);
  n->is_loose        = assembly.left_out != NULL;
  yoke_status status = work == NULL || arena->has_failed ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK && def->is_whole) {
    report_redundancy(ctx, n->mb, &assembly);
    if (def->q == NULL) status = yoke_assembly_report(ctx, n->model, e, n->mb, &assembly);
  }
  if (status == YOKE_OK) status = check_guided(ctx, n, work);
  yoke_assembly_clear(&assembly);
  free(work);
  return status;
}

/* Motion that is prescribed is built into the equations. */
static yoke_status prescribe(yoke_context *ctx, native *n) {
  yoke_equations base = n->equations;
  n->is_prescribed    = true;
  n->equations        = (yoke_equations){0};
  return yoke_prescribed_create(ctx, &base, n->mb, &n->equations);
}

static bool reads_signals(const yoke_model *model, const yoke_expression *expression) {
  const int *number = yoke_expression_variables(expression);
  for (int i = 0; i < yoke_expression_n_variables(expression); ++i) {
    if (number[i] > 0 && model->variables[number[i] - 1].kind == YOKE_VARIABLE_SIGNAL) return true;
  }
  return false;
}

/* Size of an input that is a motion, by those of the model; 1: of all others. */
static double input_size(const yoke_native_def *def, const native *n, const yoke_input *input) {
  const double L = def->length > 0.0 ? def->length : 1.0, T = def->time > 0.0 ? def->time : 1.0;
  const bool   is_image = input->kind == YOKE_INPUT_IMAGE_P || input->kind == YOKE_INPUT_IMAGE_V;
  const bool   is_ghost = input->kind == YOKE_INPUT_GHOST_P || input->kind == YOKE_INPUT_GHOST_V;
  if (input->kind == YOKE_INPUT_MU) return L / T;
  if (!is_image && !is_ghost) return 1.0;
  const yoke_port_shape *shape = is_image ? n->ports[input->frame].shape : def->model->ghosts[input->frame].shape;
  if (input->kind == YOKE_INPUT_IMAGE_P || input->kind == YOKE_INPUT_GHOST_P)
    return yoke_shape_p_turns(shape, input->component) ? 1.0 : L;
  return (yoke_shape_v_turns(shape, input->component) ? 1.0 : L) / T;
}

/* Angles and rates have absolute tolerances of their own where a model is so small that those of its positions say nothing of them. Where nothing
 * turns, and where there can be one only, it is a hundred times larger. */
static void take_sizes(const yoke_native_def *def, native *n, yoke_subsystem *s, yoke_integrator_options *options) {
  const yoke_solver_def *solver = &def->model->solver;
  bool                   turns  = false;
  if (!(solver->length > 0.0)) return;
  for (int b = 0; b < def->model->n_bodies; ++b) {
    const yoke_body *body = &def->model->bodies[b];
    turns = turns || body->kind == YOKE_BODY_RIGID || body->kind == YOKE_BODY_PLANAR || body->is_direction;
  }
  if (!turns || n->is_prescribed) {
    options->atol = solver->length * solver->rtol;
    return;
  }
  double *size = yoke_arena_take(&s->arena, (size_t)n->equations.nq + (size_t)n->equations.nv + 1, sizeof *size);
  if (size == NULL) return; /* the arena says so at the end */
  yoke_multibody_sizes(n->mb, solver->length, solver->time, size);
  n->equations.size = size;
}

static yoke_status build(yoke_context *ctx, const yoke_native_def *def, native *n, yoke_subsystem *s) {
  yoke_integrator_options      solver  = yoke_solver_options(&def->model->solver);
  const yoke_multibody_options options = {.n_ports        = def->n_ports,
                                          .port_frame     = def->port_frame,
                                          .port_request   = def->port_request,
                                          .port_integrals = !def->no_integrals,
                                          .energy         = def->energy && native_integrates_work(def),
                                          .n_integrals    = def->n_integrals,
                                          .integrals      = def->integrals,
                                          .n_inputs       = def->n_inputs,
                                          .inputs         = def->inputs,
                                          .alpha          = solver.alpha,
                                          .beta           = solver.beta,
                                          .in_parts       = def->in_parts};
  n->model                             = def->model;
  YOKE_TRY(compile(ctx, n, &options, def, &s->arena));
  if (yoke_multibody_is_prescribed(n->mb)) YOKE_TRY(prescribe(ctx, n));
  take_sizes(def, n, s, &solver);
  YOKE_TRY(yoke_integrator_create(ctx, def->model->solver.kind, &n->equations, &solver, &n->integrator));
  yoke_multibody_retire(n->mb, n->n_redundant, n->redundant);
  YOKE_TRY(set_ports(ctx, n, s, def));
  if (def->n_inputs > 0 && !def->no_response && yoke_multibody_has_tangents(n->mb) && native_signals_have_tangents(n))
    YOKE_TRY(yoke_tangents_create(ctx, n->integrator, &n->tangents));
  s->nu = def->n_inputs;
  for (int i = 0; i < def->n_inputs; ++i) {
    n->input_kind[i]     = def->inputs[i].kind;
    n->input_is_shown[i] = def->inputs[i].kind == YOKE_INPUT_SIGNAL && def->inputs[i].component == 0;
    n->input_size[i]     = input_size(def, n, &def->inputs[i]);
    n->has_signals       = n->has_signals || def->inputs[i].kind == YOKE_INPUT_SIGNAL;
  }
  for (int k = 0; k < def->model->n_variables; ++k)
    n->has_signals = n->has_signals || def->model->variables[k].kind == YOKE_VARIABLE_SIGNAL; /* forces at ghosts too */
  n->events_see_inputs = n->has_signals || (def->n_inputs > 0 && yoke_multibody_events_feel(n->mb));
  YOKE_TRY(native_instant_create(ctx, n));
  n->holds_jumps = native_can_hold_jumps(n);
  YOKE_TRY(native_take_halos(ctx, n, s, def));
  n->tells_work  = def->energy;
  n->counts_work = def->energy && !options.energy && yoke_multibody_has_powers(n->mb);
  native_work_join(n);
  n->work_looks        = !n->work_is_joined;
  n->work_reads_inputs = def->n_inputs > 0 && (n->is_prescribed || yoke_multibody_powers_read_inputs(n->mb));
  native_work_plan(n);
  n->work_share    = native_work_share(solver.rtol);
  native_places at = {0};
  lay_out(n, s, &at);
  n->at = yoke_arena_share(&s->arena, &at, sizeof at);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "subsystem '%s'", s->name));
  n->shows_motions_only = !n->has_extras && !n->has_image && !n->has_signal_ports && !n->is_prescribed &&
                          !n->equations.feels; /* where accelerations are found by iteration */
  for (int k = 0; k < n->equations.n_events; ++k) {
    n->direction[k]  = def->model->events[k].direction;
    n->is_brought[k] = reads_signals(def->model, def->model->events[k].when) ||
                       (def->n_inputs > 0 && yoke_model_feels(def->model, def->model->events[k].when));
  }
  s->ops = &native_ops[!n->integrator->ops->no_copy][n->n_integrals > 0];
  return YOKE_OK;
}

yoke_status yoke_native_create(yoke_context *ctx, const yoke_native_def *def, yoke_subsystem **out) {
  yoke_subsystem *s = NULL;
  *out              = NULL;
  YOKE_TRY(yoke_subsystem_new(ctx, def->name, sizeof(native), &s));
  native *n          = s->self;
  s->ops             = &native_ops[true][true]; /* for its `destroy` */
  n->ports           = yoke_arena_take(&s->arena, (size_t)def->n_ports + 1, sizeof *n->ports);
  n->signals         = yoke_arena_take(&s->arena, (size_t)def->n_ports + 1, sizeof *n->signals);
  n->input_kind      = yoke_arena_take(&s->arena, (size_t)def->n_inputs + 1, sizeof *n->input_kind);
  n->input_is_shown  = yoke_arena_take(&s->arena, (size_t)def->n_inputs + 1, sizeof *n->input_is_shown);
  n->input_size      = yoke_arena_take(&s->arena, (size_t)def->n_inputs + 1, sizeof *n->input_size);
  n->direction       = yoke_arena_take(&s->arena, (size_t)def->model->n_events + 1, sizeof *n->direction);
  n->is_brought      = yoke_arena_take(&s->arena, (size_t)def->model->n_events + 1, sizeof *n->is_brought);
  yoke_status status = yoke_arena_check(&s->arena, ctx, "subsystem '%s'", def->name);
  if (status == YOKE_OK) status = build(ctx, def, n, s);
  if (status != YOKE_OK) {
    yoke_subsystem_destroy(&s);
    return yoke_fail(ctx, status, "subsystem '%s' cannot be built: %s", def->name, yoke_status_text(status));
  }
  *out = s;
  return YOKE_OK;
}

/* ---- inside ---- */

static const native *of(const yoke_subsystem *subsystem) {
  const yoke_subsystem *bare = yoke_subsystem_bare(subsystem);
  YOKE_ASSERT(yoke_native_is(bare));
  return bare->self;
}

bool yoke_native_is(const yoke_subsystem *subsystem) {
  const yoke_subsystem_ops *ops = yoke_subsystem_bare(subsystem)->ops;
  return ops->destroy == native_destroy;
}

int yoke_native_n_redundant(const yoke_subsystem *subsystem) {
  return of(subsystem)->n_redundant;
}

const yoke_model *yoke_native_model(const yoke_subsystem *subsystem) {
  return of(subsystem)->model;
}

const yoke_equations *yoke_native_equations(const yoke_subsystem *subsystem) {
  return &of(subsystem)->equations;
}

const yoke_multibody *yoke_native_multibody(const yoke_subsystem *subsystem) {
  return of(subsystem)->mb;
}

const yoke_integrator *yoke_native_integrator(const yoke_subsystem *subsystem) {
  return of(subsystem)->integrator;
}

const yoke_integrator_state *yoke_native_state(const yoke_subsystem *subsystem, const void *state) {
  YOKE_ASSERT(yoke_native_is(subsystem));
  return yoke_subsystem_bare_state(subsystem, state);
}
