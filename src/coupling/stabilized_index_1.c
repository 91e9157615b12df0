/* Stabilised index 1 (Li 4.79-4.92): rigid joints with s = 0, s' = 0 and s'' = 0 at every macro point.
 *
 * Every multiplier has three unknowns per step, at n1, n2 and at the end (third-step layout; degree 0 and 1 piecewise,
 * 3: one cubic): one for each condition. Copies are parabolas with the mean of the original (constraint.h). */
#include "coupling/joint_method.h"

#include <string.h>

typedef struct stabilized_1_settings {
  int    index;
  double nodes[2]; /* n1 < n2 in ]0, 1[ */
} stabilized_1_settings;

static bool are_nodes(const double *nodes) {
  return 0.0 < nodes[0] && nodes[0] < nodes[1] && nodes[1] < 1.0;
}

static const yoke_setting own_rows[] = {
    YOKE_METHOD_INDEX(stabilized_1_settings, 1),
    {.key       = "nodes",
     .type      = YOKE_SETTING_NUMBER,
     .n         = 2,
     .fits      = are_nodes,
     .expected  = "increasing numbers between 0 and 1",
     .otherwise = "[1/3, 2/3]",
     .help      = "where the inner nodes of the multiplier are, in shares of the step",
     YOKE_SETTING_AT(stabilized_1_settings, nodes)},
};

static void stabilized_1_complete(const yoke_coupling_settings *settings, void *own) {
  YOKE_OWN_SETTINGS(stabilized_1_settings, s, settings);
  if (s.nodes[0] == 0.0 && s.nodes[1] == 0.0) {
    s.nodes[0] = 1.0 / 3.0;
    s.nodes[1] = 2.0 / 3.0;
  }
  memcpy(own, &s, sizeof s);
}

static yoke_status check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order) {
  YOKE_OWN_SETTINGS(stabilized_1_settings, own, def->settings);
  (void)scheme, (void)order;
  if (are_nodes(own.nodes)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': nodes are %g and %g, expected 0 < first < second < 1", def->name,
                   own.nodes[0], own.nodes[1]);
}

/* The cubic needs one value of the past only, so that it can replace degree 2, which three nodes do not have. */
static void layout(const void *settings, int degree, yoke_layout *out) {
  const stabilized_1_settings *own = settings;
  const int                    k   = degree >= 2 ? 3 : degree;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_THIRD, .degree = k, .inner = {own->nodes[0], own->nodes[1]}};
}

/* Error: as for stabilized-index-2, the first two moments of the error of lambda(s) vanish. */
static const yoke_joint_method method = {
    .index       = 1,
    .orders      = 1u << 0 | 1u << 1 | 1u << 3,
    .orders_text = "0, 1 or 3 (its three nodes carry steps, lines or one cubic)",
    .copies      = YOKE_COPY_PARABOLA,
    .sums        = {.n = 3, .weight = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}},
    .layout      = layout,
    .holds       = YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY | YOKE_HOLDS_ACCELERATION,
    .error       = {.ahead = 3, .order = {4, 4}, .rise = 1},
    .check       = check,
};

extern const yoke_formulation_ops stabilized_index_1_ops;

const yoke_formulation_ops stabilized_index_1_ops = {
    .name     = "stabilized-index-1",
    .summary  = "rigid joints: g = 0, g' = 0 and g'' = 0 at every macro point, multipliers with two inner nodes",
    .settings = {YOKE_SETTING_ROWS(own_rows)},
    .complete = stabilized_1_complete,
    YOKE_JOINT_METHOD(method),
    .joint   = &yoke_joint_method_holds,
    .error   = &yoke_joint_method_error,
    .instant = &yoke_joint_method_instant_and_estimate,
};
