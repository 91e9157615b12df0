/* What couplings, subsystems and settings of a graph do not fit together, said before the first step. */
#include "coupling/graph_internal.h"

/* Does the channel enter, as this, a subsystem whose responses are analytic? */
static bool is_analytic(const yoke_graph *g, const graph_channel *channel, yoke_entry entry) {
  for (int side = 0; side < 2; ++side) {
    const int i = g->wires[channel->wire].wire.subsystem[side];
    if (channel->info.enters[side] == entry && g->subsystems[i].jacobian == YOKE_JACOBIAN_ANALYTIC) return true;
  }
  return false;
}

/* Multipliers with half-step nodes keep a mode of factor -1 or 1 (degree 1, 2) that an approximate matrix, corrected only
 * once, makes grow: the analytic responses leave out stiffness and damping of the subsystems. Where the number of corrections is open there are
 * more of them. */
static void look_for_rough_matrix(yoke_graph *g, yoke_context *ctx) {
  for (int c = 0; c < g->n_channels && g->scheme->traits.corrects_once && !g->is_rough; ++c) {
    const graph_channel *channel = &g->channels[c];
    if (channel->layout.kind != YOKE_LAYOUT_HALF || channel->layout.degree == 0) continue;
    if (!is_analytic(g, channel, YOKE_ENTRY_LAMBDA)) continue;
    g->is_rough = true;
    if (g->settings.corrections == 0) continue;
    yoke_warn(ctx,
              "coupling '%s': %d correction%s with jacobian analytic, which neglects stiffness and damping, can make "
              "multipliers of order %d grow; leave out cosimulation.corrections, or use order 0, scheme implicit, or "
              "another jacobian: tangent, broyden or finite-difference",
              g->wires[channel->wire].wire.name, g->settings.corrections, g->settings.corrections > 1 ? "s" : "",
              channel->layout.degree);
  }
}

/* A second multiplier moves bodies without accelerating them: analytic responses, of accelerations, do not see it. */
static yoke_status check_motions(const yoke_graph *g, yoke_context *ctx) {
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    if (!is_analytic(g, channel, YOKE_ENTRY_MU)) continue;
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': jacobian analytic knows responses of accelerations only, and the multipliers mu "
                     "have none; use jacobian tangent, finite-difference or broyden",
                     g->wires[channel->wire].wire.name);
  }
  return YOKE_OK;
}

/* Couplings whose channels have degrees of their own extrapolate all subsystems' inputs beforehand. */
static yoke_status check_own_orders(const yoke_graph *g, yoke_context *ctx) {
  const yoke_scheme_settings *s = &g->settings;
  for (int i = 0; i < g->n_wires; ++i) {
    const yoke_wire *wire = &g->wires[i].wire;
    if (wire->formulation->extrapolation == NULL) continue;
    if (s->gauss_seidel) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' gives all subsystems their inputs beforehand, so they cannot "
                       "run one after another; use sequence jacobi",
                       wire->name, wire->formulation->name);
    }
    if (s->predictor != YOKE_PREDICTOR_EXTRAPOLATION) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' extrapolates force and motion with degrees of its own; use "
                       "predictor extrapolation",
                       wire->name, wire->formulation->name);
    }
  }
  return YOKE_OK;
}

yoke_status graph_check_settings(yoke_graph *g, yoke_context *ctx) {
  const yoke_scheme_settings *s = &g->settings;
  YOKE_TRY(check_own_orders(g, ctx));
  look_for_rough_matrix(g, ctx);
  YOKE_TRY(check_motions(g, ctx));
  if (s->gauss_seidel && !g->scheme->can_sequence) {
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "scheme '%s' corrects all subsystems at once and cannot run them one after another: use "
                     "sequence jacobi, or scheme explicit or waveform",
                     s->scheme);
  }
  if (yoke_predictor_is_motion(s->predictor) && !g->scheme->traits.extrapolates_only) {
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "the acceleration predictors are explicit methods, scheme is %s: use scheme explicit, or none, or predictor "
        "extrapolation",
        s->scheme);
  }
  if (s->predictor == YOKE_PREDICTOR_LEAST_SQUARES && (s->samples < s->order + 2 || s->samples > GRAPH_PAST)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "least-squares predictor: samples is %d, expected %d to %d for order %d",
                     s->samples, s->order + 2, GRAPH_PAST, s->order);
  }
  if (s->predictor == YOKE_PREDICTOR_ACCELERATION && s->gauss_seidel) {
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "the acceleration predictor gives all subsystems their inputs beforehand, so they cannot run one after "
        "another: use sequence jacobi, or predictor acceleration-relaxed");
  }
  for (int i = 0; i < g->n_wires; ++i) {
    if (yoke_predictor_is_motion(s->predictor) && g->wires[i].wire.formulation->update == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' has no explicit form, which predictors by accelerations need; "
                       "use predictor extrapolation with scheme semi-implicit or implicit",
                       g->wires[i].wire.name, g->wires[i].wire.formulation->name);
    }
    if (g->scheme->traits.needs_explicit_form && g->wires[i].wire.formulation->update == NULL) {
      return yoke_fail(
          ctx, YOKE_E_MODEL,
          "coupling '%s': formulation '%s' has no explicit form, which scheme '%s' needs; use semi-implicit "
          "or implicit",
          g->wires[i].wire.name, g->wires[i].wire.formulation->name, s->scheme);
    }
    if (g->wires[i].n_sets > 1 && s->jacobian == YOKE_JACOBIAN_BROYDEN) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' corrects with %d matrices from one set of responses, broyden "
                       "keeps one; use jacobian tangent, finite-difference or analytic",
                       g->wires[i].wire.name, g->wires[i].wire.formulation->name, g->wires[i].n_sets);
    }
    if (g->wires[i].n_sets > 1 && g->scheme->traits.corrects_to_tolerance) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' has %d sets of conditions without a common solution, so "
                       "corrections do not converge; use scheme semi-implicit",
                       g->wires[i].wire.name, g->wires[i].wire.formulation->name, g->wires[i].n_sets);
    }
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (g->scheme->needs_repeat && g->subsystems[i].subsystem->ops->repeat == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL, "subsystem '%s' cannot go back, which scheme '%s' needs; use scheme explicit",
                       g->subsystems[i].subsystem->name, s->scheme);
    }
    if (g->subsystems[i].jacobian == YOKE_JACOBIAN_ANALYTIC && g->subsystems[i].subsystem->ops->instant == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "subsystem '%s' gives no analytic response; use jacobian tangent or finite-difference",
                       g->subsystems[i].subsystem->name);
    }
  }
  return YOKE_OK;
}
