#include "model/model_digits.h"
#include "base/memory.h"
#include "linalg/space.h"
#include "model/joint_kinds.h"
#include "model/model_length.h"
#include <stdlib.h>

static const double last_digit = 4e-15, ten_digits = 1e-10; /* of the length of the model */

typedef struct digits {
  yoke_model *model;
  double      length;
  int        *n_closed; /* [n_bodies] joints of a body that are closed to the last digit */
  int        *n_users;  /* [n_frames] connections that end there */
} digits;

static const yoke_frame *end_of(const yoke_model *model, int connection, int side) {
  return &model->frames[model->connections[connection].frame[side]];
}

/* Does it hold two points together? */
static bool joins_points(const yoke_model *model, int connection) {
  const yoke_connection *c = &model->connections[connection];
  yoke_row               rows[6];
  const int              n        = yoke_joint_rows(c->kind, rows);
  bool                   is_point = false;
  for (int k = 0; k < n; ++k) is_point = is_point || rows[k].kind == YOKE_ROW_POINT;
  for (int side = 0; side < 2; ++side) is_point = is_point && end_of(model, connection, side)->body >= YOKE_GROUND;
  return is_point && !c->flexible;
}

/* From the end on side 1 to that on side 2 [m]; its length. */
static double gap_of(const yoke_model *model, int connection, double gap[3]) {
  double r[2][3], R[9];
  for (int side = 0; side < 2; ++side) yoke_model_frame_at_start(model, end_of(model, connection, side), r[side], R);
  vec3_copy(gap, r[1]);
  vec3_add(gap, -1.0, r[0]);
  return vec3_norm(gap);
}

static void count(digits *d) {
  double gap[3];
  for (int c = 0; c < d->model->n_connections; ++c) {
    const bool is_closed = joins_points(d->model, c) && gap_of(d->model, c, gap) <= last_digit * d->length;
    for (int side = 0; side < 2; ++side) {
      const int body = end_of(d->model, c, side)->body;
      if (is_closed && body >= 0) ++d->n_closed[body];
      ++d->n_users[d->model->connections[c].frame[side]];
    }
  }
}

/* Side whose frame may move, that of the ground if there is one: no other connection ends there, and it is not a body's own. -1: none. */
static int side_to_move(const digits *d, int connection) {
  int best = -1;
  for (int side = 0; side < 2; ++side) {
    const int         f      = d->model->connections[connection].frame[side];
    const yoke_frame *frame  = &d->model->frames[f];
    const bool        is_own = vec3_norm(frame->origin) <= 0.0;
    if (d->n_users[f] > 1 || is_own) continue;
    if (best < 0 || frame->body == YOKE_GROUND) best = side;
  }
  return best;
}

static bool stands_well(const digits *d, int connection) {
  for (int side = 0; side < 2; ++side) {
    const int body = end_of(d->model, connection, side)->body;
    if (body >= 0 && d->n_closed[body] == 0) return false;
  }
  return true;
}

/* The frame on `side` goes to the other end. */
static void move_frame(const digits *d, int connection, int side, const double gap[3]) {
  yoke_frame *frame = &d->model->frames[d->model->connections[connection].frame[side]];
  double      r[3], R[9], own[3];
  yoke_model_frame_at_start(d->model, frame, r, R);
  mat3_apply_transposed(own, R, gap);
  vec3_add(frame->origin, side == 0 ? 1.0 : -1.0, own);
}

static void close_all(digits *d, yoke_context *ctx) {
  int    n = 0, first = 0;
  double largest = 0.0, gap[3];
  for (int c = 0; c < d->model->n_connections; ++c) {
    if (!joins_points(d->model, c)) continue;
    const double open = gap_of(d->model, c, gap);
    const int    side = side_to_move(d, c);
    if (open <= last_digit * d->length || open > ten_digits * d->length || side < 0 || !stands_well(d, c)) continue;
    move_frame(d, c, side, gap);
    if (n++ == 0) first = c;
    largest = largest > open ? largest : open;
  }
  if (n == 0) return;
  yoke_note(ctx,
            "%d joint%s open by at most %.3g m at the start, while other joints of %s bodies are closed to the last "
            "digit: taken for digits that were not typed and closed by moving %s; '%s' is %s",
            n, n == 1 ? " is" : "s are", largest, n == 1 ? "its" : "their", n == 1 ? "its frame" : "their frames",
            d->model->connections[first].name, n == 1 ? "the one" : "the first");
}

yoke_status yoke_model_close_digits(yoke_context *ctx, yoke_model *model) {
  digits d            = {.model = model, .length = yoke_model_length(model)};
  d.n_closed          = yoke_allocate((size_t)model->n_bodies + 1, sizeof *d.n_closed);
  d.n_users           = yoke_allocate((size_t)model->n_frames + 1, sizeof *d.n_users);
  const bool has_room = d.n_closed != NULL && d.n_users != NULL;
  if (has_room) {
    count(&d);
    close_all(&d, ctx);
  }
  free(d.n_closed);
  free(d.n_users);
  return has_room ? YOKE_OK : yoke_out_of_memory(ctx, "the joints of model '%s'", model->name);
}
