/* Projection (Li 4.20-4.24, 4.46-4.48, 4.49-4.62): rigid joints on the acceleration level, s'' = 0 at T_{N+1}, and after the last
 * pass of a step a state reset: the nearest q (in the mass norm) with s = 0, then the nearest v with s' = 0.
 *   force/force                 s'' = 0
 *   force/displacement          s'' = 0 and mu2 - lambda = 0 (displacement/force: mu1)
 *   displacement/displacement   mu2 - mu1 = 0 alone: both sides follow the same accelerations
 * The history of the coupling variables is not touched. Plain end layout, degree 0 to 5. */
#include "coupling/joint_method.h"

static const yoke_setting own_rows[] = {YOKE_METHOD_INDEX(yoke_index_settings, 1)};

static const yoke_joint_method method = {
    YOKE_ALL_ORDERS,
    .index          = 1,
    .most_displaced = 2,
    .sums           = {.n = 1, .weight = {{0.0, 0.0, 1.0}}},
    .holds          = YOKE_HOLDS_POSITION | YOKE_HOLDS_VELOCITY,
    .error          = {.ahead = 2, .order = {3, 2}, .rise = 1, .is_eased = true},
};

extern const yoke_formulation_ops projection_ops;

const yoke_formulation_ops projection_ops = {
    .name     = "projection",
    .summary  = "rigid joints: g'' = 0, then positions and velocities projected onto g = 0 and g' = 0",
    .settings = {YOKE_SETTING_ROWS(own_rows)},
    YOKE_JOINT_METHOD(method),
    .joint   = &yoke_joint_method_holds_and_resets,
    .error   = &yoke_joint_method_error,
    .instant = &yoke_joint_method_instant_and_estimate,
};
