/* A co-simulation beside its model as a whole. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_BESIDE_WHOLE_H
#define YOKE_TESTS_BESIDE_WHOLE_H

#include <yoke/result.h>
#include <yoke/run.h>
#include <math.h>
#include <string.h>

typedef struct beside_whole {
  yoke_status      status;
  yoke_run_summary split;         /* beside_whole_release */
  double           motion, force; /* largest NRMSE of motions, and of outputs whose names begin with `coupling` */
  bool             is_warned;     /* of its errors */
} beside_whole;

/* coupling NULL: none. */
static inline beside_whole beside_whole_run(const yoke_run_options *options, const char *coupling) {
  yoke_run_summary whole      = {.size = sizeof whole};
  yoke_comparison *comparison = NULL;
  yoke_difference  d          = {.size = sizeof d};
  beside_whole     out        = {.split = {.size = sizeof out.split}};
  yoke_context    *ctx;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  out.status = yoke_run_compare(ctx, options, &out.split, &whole, &comparison);
  for (int i = 0; out.status == YOKE_OK && yoke_comparison_get(ctx, comparison, i, &d) == YOKE_OK; ++i) {
    if (d.is_motion) out.motion = fmax(out.motion, d.nrmse);
    if (coupling != NULL && strncmp(d.name, coupling, strlen(coupling)) == 0) out.force = fmax(out.force, d.nrmse);
  }
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i)
    out.is_warned = out.is_warned || strstr(yoke_context_message(ctx, i), "the errors of the macro steps") != NULL;
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&whole);
  yoke_context_destroy(&ctx);
  return out;
}

static inline void beside_whole_release(beside_whole *run) {
  yoke_run_summary_release(&run->split);
}

#endif
