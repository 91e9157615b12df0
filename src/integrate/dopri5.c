/* Dormand and Prince's method of order 5(4), 7 stages, the last one is the first of the next step; dense output of
 * order 4. Coefficients: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, table II.5.2 and (II.6.12). */
#include "integrate/explicit_rk.h"
#include "integrate/methods.h"

const rk_tableau dopri5_tableau = {
    .order          = 5,
    .s              = 6,
    .n_dense        = 1,
    .c              = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
    .A              = {{0},
                       {1.0 / 5},
                       {3.0 / 40, 9.0 / 40},
                       {44.0 / 45, -56.0 / 15, 32.0 / 9},
                       {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                       {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                       {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
    .e              = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
    .D              = {{-12715105075.0 / 11282082432.0, 0, 87487479700.0 / 32700410799.0, -10690763975.0 / 1880347072.0,
                        701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0}},
    .wbar           = {{0},
                       {0},
                       {0.045000000000000005},
                       {-0.48000000000000004, 0.7999999999999999},
                       {-1.8667885992988873, 3.295839048925469, -1.0339887212315195},
                       {-2.018939393939394, 4.136363636363636, -1.6969696969696968, 0.07954545454545453},
                       {0.09114583333333343, 0, 0.3144654088050314, 0.13020833333333331, -0.03581957547169811}},
    .ebar           = {0.002651909722222202, 0, -0.006157532195268017, 0.010182291666666666, -0.0034028596698113187,
                       -0.0032738095238095243},
    .safety         = 0.85,
    .error_exponent = 0.2,
    .beta           = 0.06, /* with the safety: fewest attempts at equal error on chains */
    .min_ratio      = 0.2,
    .max_ratio      = 10,
    .stiff_bound    = 3.25,
    .suspect_bound  = 0.9,
};

static yoke_status create(yoke_context *ctx, yoke_integrator *integrator) {
  return explicit_rk_create(ctx, integrator, &dopri5_tableau);
}

const yoke_integrator_ops dopri5_ops = {
    .name        = "dopri5",
    .summary     = "explicit Runge-Kutta of order 5(4), for smooth non-stiff models",
    .reads       = "rtol atol step max_step constraints alpha beta",
    .create      = create,
    .start       = explicit_rk_start,
    .step        = explicit_rk_step,
    .interpolate = explicit_rk_interpolate,
    .disturb     = explicit_rk_disturb,
    .renew       = explicit_rk_renew,
    .used        = explicit_rk_used,
    .fresh       = explicit_rk_fresh,
    .is_sound    = explicit_rk_is_sound,
    .tangents    = YOKE_TANGENTS_EXPLICIT,

    .ends_with_derivative = true,
};
