/* The state of an integrator as bytes: its flat block with the pointers taken out, then the factors they led to.
 *
 * Everything that a step reads lies in the block, in the factors, or in the constant integrator (invariant 1 of integrator.h), so
 * one function serves every method. What a factor belongs to is told by its number among the method's linear solvers. */
#include "base/memory.h"
#include "integrate/integrator.h"
#include <math.h>
#include <string.h>

/* ---- what must be equal on both sides ---- */

typedef struct trait {
  const char *name;
  double      value;
} trait;

enum { N_TRAITS = 16 };

static void list_traits(const yoke_integrator *integrator, trait traits[N_TRAITS]) {
  const yoke_integrator_options *o      = &integrator->options;
  const yoke_equations          *e      = integrator->equations;
  const trait                    list[] = {{"nq", e->nq},
                                           {"nv", e->nv},
                                           {"the number of multipliers", yoke_n_multipliers(e)},
                                           {"the number of inputs", e->nu},
                                           {"rtol", o->rtol},
                                           {"atol", o->atol},
                                           {"step", o->fixed_step},
                                           {"first_step", o->first_step},
                                           {"max_step", o->max_step},
                                           {"max_order", o->max_order},
                                           {"linear", (double)o->linear},
                                           {"constraints", (double)o->form},
                                           {"alpha", o->alpha},
                                           {"beta", o->beta},
                                           {"rho_inf", o->rho_inf},
                                           {"the size of the state", (double)integrator->state_size}};
  _Static_assert(sizeof list / sizeof list[0] == N_TRAITS, "every trait is listed");
  memcpy(traits, list, sizeof list);
}

static void pack_traits(const yoke_integrator *integrator, yoke_pack *pack) {
  trait traits[N_TRAITS];
  list_traits(integrator, traits);
  yoke_pack_text(pack, integrator->ops->name);
  for (int i = 0; i < N_TRAITS; ++i) yoke_pack_double(pack, traits[i].value);
}

static yoke_status unpack_traits(const yoke_integrator *integrator, yoke_unpack *in, yoke_context *ctx) {
  trait       traits[N_TRAITS];
  const char *name = yoke_unpack_text(in);
  YOKE_TRY(yoke_unpack_check(in, ctx));
  if (strcmp(name, integrator->ops->name) != 0) {
    return yoke_fail(ctx, YOKE_E_USAGE, "packed state: it is one of solver '%s', this is '%s'", name,
                     integrator->ops->name);
  }
  list_traits(integrator, traits);
  for (int i = 0; i < N_TRAITS; ++i) {
    const double value = yoke_unpack_double(in);
    YOKE_TRY(yoke_unpack_check(in, ctx));
    if (value == traits[i].value) continue;
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "packed state: solver '%s' had %.17g for %s, here it is %.17g; unpack it with the model and settings "
        "it was packed with",
        name, value, traits[i].name, traits[i].value);
  }
  return YOKE_OK;
}

/* ---- factors ---- */

static const yoke_linear *linear_of(const yoke_integrator *integrator, int i) {
  return integrator->ops->linear != NULL ? integrator->ops->linear(integrator, i) : NULL;
}

/* Number of the linear solver that the factor belongs to; -1: no factor; -2: it is none of the method's. */
static int linear_number(const yoke_integrator *integrator, const yoke_factor *factor) {
  if (factor == NULL) return -1;
  for (int i = 0; linear_of(integrator, i) != NULL; ++i) {
    if (linear_of(integrator, i) == yoke_factor_linear(factor)) return i;
  }
  return -2;
}

static yoke_status unpack_factor(const yoke_integrator *integrator, yoke_unpack *in, yoke_context *ctx,
                                 yoke_factor **factor) {
  const int number = yoke_unpack_int32(in);
  if (number == -1 || in->failure != NULL) return yoke_unpack_check(in, ctx);
  for (int i = 0; linear_of(integrator, i) != NULL; ++i) {
    if (i == number) return yoke_factor_unpack(linear_of(integrator, i), in, ctx, factor);
  }
  yoke_unpack_refuse(in, "a factor belongs to no linear solver");
  return yoke_unpack_check(in, ctx);
}

/* ---- states ---- */

yoke_status yoke_integrator_pack(const yoke_integrator *integrator, const yoke_integrator_state *state, yoke_pack *pack,
                                 yoke_context *ctx) {
  if (integrator->ops->no_copy) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "solver '%s' cannot be packed: it keeps memory of its own; use one of `yoke help solvers`",
                     integrator->ops->name);
  }
  const size_t          used = yoke_integrator_used(integrator, state), tail = yoke_integrator_tail(integrator);
  yoke_integrator_state head;
  memcpy(&head, state, sizeof head); /* padding too */
  head.factor[0] = head.factor[1] = NULL;
  head.foreign                    = NULL;
  head.release                    = NULL;
  yoke_pack_tag(pack, "integrator");
  pack_traits(integrator, pack);
  yoke_pack_block(pack, sizeof head, &head);
  yoke_pack_int64(pack, (int64_t)used);
  yoke_pack_block(pack, used - sizeof head, (const char *)state + sizeof head);
  yoke_pack_block(pack, integrator->state_size - tail, (const char *)state + tail);
  for (int i = 0; i < 2; ++i) {
    const int number = linear_number(integrator, state->factor[i]);
    if (number < -1) {
      return yoke_fail(ctx, YOKE_E_INTERNAL, "solver '%s' does not list the linear solver of a factor",
                       integrator->ops->name);
    }
    yoke_pack_int32(pack, number);
    if (number >= 0) yoke_factor_pack(state->factor[i], pack);
  }
  return YOKE_OK;
}

/* What is read before the state changes; blocks lie in the bytes. */
typedef struct packed_state {
  const void  *head, *rest, *tail;
  size_t       used, tail_at, tail_size;
  yoke_factor *factor[2];
} packed_state;

static yoke_status read_blocks(const yoke_integrator *integrator, yoke_unpack *in, yoke_context *ctx, packed_state *x) {
  const size_t head_size = sizeof(yoke_integrator_state);
  x->tail_at             = yoke_integrator_tail(integrator);
  x->tail_size           = integrator->state_size - x->tail_at;
  x->head                = yoke_unpack_block(in, head_size);
  const int64_t used     = yoke_unpack_int64(in);
  if (used < (int64_t)head_size || used > (int64_t)x->tail_at) yoke_unpack_refuse(in, "a state has another size");
  x->used = in->failure == NULL ? (size_t)used : head_size;
  x->rest = yoke_unpack_block(in, x->used - head_size);
  x->tail = yoke_unpack_block(in, x->tail_size);
  return yoke_unpack_check(in, ctx);
}

static yoke_status read_factors(const yoke_integrator *integrator, yoke_unpack *in, yoke_context *ctx,
                                packed_state *x) {
  for (int i = 0; i < 2; ++i) {
    YOKE_TRY(unpack_factor(integrator, in, ctx, &x->factor[i]));
    if (x->factor[i] != NULL && yoke_factor_is_complex(x->factor[i]) != (i == 1))
      yoke_unpack_refuse(in, "a factor is not the one expected");
  }
  return yoke_unpack_check(in, ctx);
}

/* The blocks become those of a state, whose factors are not touched. */
static void put_blocks(const packed_state *x, yoke_integrator_state *state) {
  yoke_factor *const factor[2] = {state->factor[0], state->factor[1]};
  memcpy(state, x->head, sizeof *state);
  memcpy((char *)state + sizeof *state, x->rest, x->used - sizeof *state);
  memcpy((char *)state + x->tail_at, x->tail, x->tail_size);
  memcpy(state->factor, factor, sizeof factor);
  state->foreign = NULL;
  state->release = NULL;
}

/* Counts, flags and times as a state may have them, and as many bytes as such a state uses? */
static bool is_sound(const yoke_integrator *integrator, const yoke_integrator_state *state, size_t used) {
  const yoke_counts *c       = &state->counters;
  const int64_t      count[] = {c->steps, c->rejected, c->evaluations, c->jacobians, c->factorings, c->iterations};
  for (size_t i = 0; i < sizeof count / sizeof *count; ++i) {
    if (count[i] < 0 || count[i] > INT64_MAX / 2) return false;
  }
  if (!isfinite(state->t) || !(state->t_prev <= state->t) || isnan(state->h)) return false;
  if (integrator->ops->is_sound != NULL && !integrator->ops->is_sound(integrator, state)) return false;
  return used == yoke_integrator_used(integrator, state);
}

/* The blocks are looked at where they are aligned, in a state that nobody uses. */
static yoke_status check_blocks(const yoke_integrator *integrator, const packed_state *x, yoke_unpack *in,
                                yoke_context *ctx) {
  yoke_integrator_state *image = NULL;
  if (yoke_integrator_state_create(integrator, &image) != YOKE_OK)
    return yoke_out_of_memory(ctx, "a packed state of solver '%s'", integrator->ops->name);
  put_blocks(x, image);
  const yoke_status status =
      integrator->ops->prepare != NULL ? integrator->ops->prepare(integrator, image, ctx) : YOKE_OK;
  if (status == YOKE_OK && !is_sound(integrator, image, x->used))
    yoke_unpack_refuse(in, "no solver leaves such a state");
  yoke_integrator_state_destroy(&image);
  return status == YOKE_OK ? yoke_unpack_check(in, ctx) : status;
}

yoke_status yoke_integrator_unpack(const yoke_integrator *integrator, yoke_unpack *in, yoke_integrator_state *state,
                                   yoke_context *ctx) {
  packed_state x = {0};
  yoke_unpack_tag(in, "integrator");
  YOKE_TRY(unpack_traits(integrator, in, ctx));
  YOKE_TRY(read_blocks(integrator, in, ctx, &x));
  yoke_status status = check_blocks(integrator, &x, in, ctx);
  if (status == YOKE_OK) status = read_factors(integrator, in, ctx, &x);
  if (status == YOKE_OK) put_blocks(&x, state);
  for (int i = 0; i < 2; ++i) {
    if (status == YOKE_OK) {
      yoke_factor *old = state->factor[i];
      state->factor[i] = x.factor[i];
      x.factor[i]      = old;
    }
    yoke_factor_release(&x.factor[i]);
  }
  return status;
}
