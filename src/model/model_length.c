#include "model/model_length.h"
#include "linalg/space.h"
#include <float.h>
#include <string.h>

typedef struct box {
  double low[3], high[3];
} box;

static void include_point(box *b, const double r[3]) {
  for (int k = 0; k < 3; ++k) {
    b->low[k]  = fmin(b->low[k], r[k]);
    b->high[k] = fmax(b->high[k], r[k]);
  }
}

static double per_mass(const yoke_per_mass *x, int i) {
  return x->each != NULL ? x->each[i] : x->value;
}

void yoke_model_frame_at_start(const yoke_model *model, const yoke_frame *frame, double r[3], double R[9]) {
  static const double upright[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  double              arm[3];
  vec3_set(r, 0.0, 0.0, 0.0);
  memcpy(R, upright, sizeof upright);
  if (frame->body != YOKE_GROUND) {
    const yoke_body *body = &model->bodies[frame->body];
    vec3_copy(r, body->position);
    if (body->kind == YOKE_BODY_CHAIN) vec3_set(r, per_mass(&body->chain->x0, frame->mass), 0.0, 0.0);
    if (body->kind == YOKE_BODY_RIGID) quaternion_rotation(R, body->orientation);
    if (body->kind == YOKE_BODY_PLANAR) {
      R[0] = R[4] = cos(body->angle);
      R[3]        = sin(body->angle);
      R[1]        = -R[3];
    }
  }
  mat3_apply(arm, R, frame->origin);
  vec3_add(r, 1.0, arm);
}

static void include_frame(const yoke_model *model, const yoke_frame *frame, box *b) {
  double r[3], R[9];
  if (frame->body >= 0 && model->bodies[frame->body].is_direction) return;
  if (frame->body <= YOKE_FIRST_GHOST) {
    const yoke_ghost *ghost = &model->ghosts[YOKE_FIRST_GHOST - frame->body];
    yoke_pose         pose;
    yoke_shape_pose(ghost->shape, ghost->p, NULL, &pose);
    include_point(b, pose.r); /* the port's own origin */
    return;
  }
  yoke_model_frame_at_start(model, frame, r, R);
  include_point(b, r);
}

/* Smallest and largest of n finite numbers, side by side in LANES: a chain may have ten million. */
static void find_span(const yoke_per_mass *x, int n, double *low, double *high) {
  enum { LANES = 4 };
  double least[LANES], most[LANES];
  int    i = 0;
  for (int k = 0; k < LANES; ++k) least[k] = most[k] = per_mass(x, 0);
  for (; x->each != NULL && i + LANES <= n; i += LANES) {
    for (int k = 0; k < LANES; ++k) {
      const double value = x->each[i + k];
      least[k]           = value < least[k] ? value : least[k];
      most[k]            = value > most[k] ? value : most[k];
    }
  }
  for (; x->each != NULL && i < n; ++i) {
    least[0] = fmin(least[0], x->each[i]);
    most[0]  = fmax(most[0], x->each[i]);
  }
  *low  = fmin(fmin(least[0], least[1]), fmin(least[2], least[3]));
  *high = fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

static void include_chain(const yoke_chain *chain, box *b) {
  double low, high;
  find_span(&chain->x0, chain->n, &low, &high);
  include_point(b, (const double[3]){low, 0.0, 0.0});
  include_point(b, (const double[3]){high, 0.0, 0.0});
}

static double diagonal(const yoke_model *model) {
  box    b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  double edge[3];
  for (int i = 0; i < model->n_bodies; ++i) {
    if (model->bodies[i].kind == YOKE_BODY_CHAIN) {
      include_chain(model->bodies[i].chain, &b);
    } else {
      if (!model->bodies[i].is_direction) include_point(&b, model->bodies[i].position);
    }
  }
  for (int f = 0; f < model->n_frames; ++f) {
    if (model->frames[f].body >= 0) include_frame(model, &model->frames[f], &b);
  }
  for (int c = 0; c < model->n_connections; ++c) {
    if (model->connections[c].kind == YOKE_CONNECTION_TANGENT) continue; /* it joins no places */
    for (int side = 0; side < 2; ++side) include_frame(model, &model->frames[model->connections[c].frame[side]], &b);
  }
  for (int k = 0; k < 3; ++k) edge[k] = b.high[k] >= b.low[k] ? b.high[k] - b.low[k] : 0.0;
  return vec3_norm(edge);
}

/* sqrt(I / m) of the largest principal share of inertia. */
static double largest_gyration(const yoke_model *model) {
  double largest = 0.0;
  for (int i = 0; i < model->n_bodies; ++i) {
    const yoke_body *body = &model->bodies[i];
    if (body->kind != YOKE_BODY_RIGID && body->kind != YOKE_BODY_PLANAR) continue;
    const double inertia = body->kind == YOKE_BODY_PLANAR
                               ? body->inertia[8]
                               : (body->inertia[0] + body->inertia[4] + body->inertia[8]) / 2;
    if (body->mass > 0.0) largest = fmax(largest, sqrt(inertia / body->mass));
  }
  return largest;
}

static double largest_speed(const yoke_model *model) {
  double largest = 0.0;
  for (int i = 0; i < model->n_bodies; ++i) {
    const yoke_body *body = &model->bodies[i];
    if (body->kind == YOKE_BODY_CHAIN) {
      double low, high;
      find_span(&body->chain->v0, body->chain->n, &low, &high);
      largest = fmax(largest, fmax(fabs(low), fabs(high)));
    } else {
      if (!body->is_direction) largest = fmax(largest, vec3_norm(body->velocity));
    }
  }
  return largest;
}

double yoke_model_length(const yoke_model *model) {
  const double across = diagonal(model), gyration = largest_gyration(model);
  const double length[] = {across > 1e-9 * gyration ? across : 0.0, gyration,
                           largest_speed(model) * (model->t_end - model->t_start)};
  for (size_t i = 0; i < sizeof length / sizeof length[0]; ++i) {
    if (length[i] >= DBL_MIN && isfinite(length[i])) return length[i];
  }
  return 1.0;
}

static double mean_mass(const yoke_model *model) {
  double sum = 0.0, n = 0.0;
  for (int i = 0; i < model->n_bodies; ++i) {
    const yoke_body *body     = &model->bodies[i];
    const bool       is_chain = body->kind == YOKE_BODY_CHAIN;
    for (int k = 0; is_chain && k < body->chain->n; ++k) sum += per_mass(&body->chain->mass, k);
    if (!is_chain) sum += body->mass;
    n += is_chain ? (double)body->chain->n : 1.0;
  }
  return n > 0.0 ? sum / n : 0.0;
}

static double largest_rate(const yoke_model *model) {
  double largest = 0.0;
  for (int i = 0; i < model->n_bodies; ++i) largest = fmax(largest, vec3_norm(model->bodies[i].omega));
  return largest;
}

yoke_model_sizes yoke_model_sizes_of(const yoke_model *model) {
  const double L = yoke_model_length(model), V = fmax(largest_speed(model), L * largest_rate(model)),
               span = model->t_end - model->t_start;
  double a          = fmax(vec3_norm(model->gravity), V * V / L);
  if (!(a > 0.0)) a = L / (span * span);
  const yoke_model_sizes sizes = {.length = L, .time = sqrt(L / a), .force = mean_mass(model) * a};
  const bool             known = sizes.time > 0.0 && isfinite(sizes.time) && isfinite(sizes.force);
  return known ? sizes : (yoke_model_sizes){.length = L, .time = 1.0};
}
