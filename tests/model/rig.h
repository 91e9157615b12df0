/* Rig: the equations of a model given as text, with room for their work and a first guess of positions and velocities. */
#ifndef YOKE_TESTS_MODEL_RIG_H
#define YOKE_TESTS_MODEL_RIG_H

#include "../check.h"
#include "model/multibody.h"

#include <stdlib.h>
#include <string.h>
#include <yoke/model.h>

enum { RIG_MOST = 128 }; /* positions, velocities */

typedef struct rig {
  yoke_context   *ctx;
  yoke_model     *model;
  yoke_equations  equations;
  yoke_multibody *mb;
  void           *work; /* what nobody wrote is not a number */
  double          q[RIG_MOST], v[RIG_MOST];
} rig;

/* options: may be NULL. Fails with the messages where the text is no model. */
static inline void rig_open(rig *r, const char *text, const yoke_multibody_options *options) {
  *r = (rig){0};
  assert_int_equal(yoke_context_create(&r->ctx), YOKE_OK);
  yoke_status status = yoke_model_load_text(r->ctx, "rig.yaml", text, strlen(text), NULL, &r->model);
  if (status == YOKE_OK) status = yoke_multibody_create(r->ctx, r->model, options, &r->equations, &r->mb);
  for (size_t i = 0; status != YOKE_OK && i < yoke_context_n_messages(r->ctx); ++i)
    print_message("%s\n", yoke_context_message(r->ctx, i));
  assert_int_equal(status, YOKE_OK);
  assert_true(r->equations.nq <= RIG_MOST && r->equations.nv <= RIG_MOST);
  r->work = aligned_alloc(64, (r->equations.work_size + 63) / 64 * 64);
  assert_non_null(r->work);
  memset(r->work, 0xff, r->equations.work_size);
  yoke_multibody_initial_guess(r->mb, r->q, r->v);
}

static inline void rig_close(rig *r) {
  free(r->work);
  yoke_equations_destroy(&r->equations);
  yoke_model_destroy(&r->model);
  yoke_context_destroy(&r->ctx);
}

#endif
