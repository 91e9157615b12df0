/* Stabilised index 2 (Li 4.65-4.78): rigid joints with s = 0 and s' = 0 at every macro point.
 *
 * Every multiplier has two unknowns per step, at the middle and at the end (half-step layout, degree 0, 1 or 2): one for
 * each condition. Copies are parabolas with the mean of the original (constraint.h). */
#include "coupling/joint_method.h"

enum { MAX_DEGREE = 2, MOST_CHOSEN = 4 };

static const yoke_setting own_rows[] = {YOKE_METHOD_INDEX(yoke_index_settings, 2)};

static void layout(const void *own, int degree, yoke_layout *out) {
  const int k = degree < MOST_CHOSEN ? degree : MOST_CHOSEN;
  (void)own;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_HALF, .degree = k, .inner = {0.5, 0.0}};
}

/* Error: with e the error of lambda(s), s = 0 and s' = 0 at the end make int e = int (1 - s) e = 0 to leading order: positions and
 * velocities feel e through the stiffness, damping and turning of the bodies only, two powers of H later. */
static const yoke_joint_method method = {
    .index       = 2,
    .orders      = YOKE_ORDERS_UP_TO(MAX_DEGREE),
    .orders_text = "0 to 2",
    .most_chosen = MOST_CHOSEN,
    .copies      = YOKE_COPY_PARABOLA,
    .sums        = {.n = 2, .weight = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}},
    .layout      = layout,
    .holds       = YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY,
    .error       = {.ahead = 2, .order = {5, 5}},
};

extern const yoke_formulation_ops stabilized_index_2_ops;

const yoke_formulation_ops stabilized_index_2_ops = {
    .name     = "stabilized-index-2",
    .summary  = "rigid joints: g = 0 and g' = 0 at every macro point, multipliers with a half-step node",
    .settings = {YOKE_SETTING_ROWS(own_rows)},
    YOKE_JOINT_METHOD(method),
    .joint   = &yoke_joint_method_holds,
    .error   = &yoke_joint_method_error,
    .instant = &yoke_joint_method_instant_and_estimate,
};
