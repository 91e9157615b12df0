#include "model/flexible.h"

#include "base/memory.h"
#include "model/cable.h"
#include "model/linear_body.h"

int yoke_flexible_stride(const yoke_flexible *body) {
  return body->cable != NULL ? 3 : 1;
}

void yoke_flexible_mass(const yoke_flexible *body, yoke_flexible_entry *entry, void *user) {
  if (body->cable != NULL) {
    yoke_cable_mass(body->cable, entry, user);
  } else {
    yoke_linear_body_mass(body->linear, body->n, entry, user);
  }
}

void yoke_flexible_force(const yoke_flexible *body, const double gravity[3], const double *q, const double *v,
                         double *f) {
  if (body->cable != NULL) {
    yoke_cable_force(body->cable, gravity, q, v, f);
  } else {
    yoke_linear_body_force(body->linear, body->n, q, v, f);
  }
}

void yoke_flexible_jacobian(const yoke_flexible *body, const double *q, const double *v, yoke_flexible_block *block,
                            void *user) {
  if (body->cable != NULL) {
    yoke_cable_jacobian(body->cable, q, v, block, user);
  } else {
    yoke_linear_body_jacobian(body->linear, body->n, q, block, user);
  }
}

size_t yoke_flexible_n_entries(const yoke_flexible *body) {
  if (body->cable != NULL) return (size_t)body->cable->n_elements * (3 * 16 + 2 * 144);
  const yoke_linear_body *linear = body->linear;
  return (size_t)linear->mass.start[body->n] + (size_t)linear->damping.start[body->n] +
         3 * (size_t)linear->stiffness.start[body->n] + 12 * (size_t)linear->n_turns;
}

bool yoke_flexible_is_damped(const yoke_flexible *body) {
  if (body->cable != NULL) return body->cable->damping != 0.0 || body->cable->axial_damping != 0.0;
  return body->linear->damping.start[body->n] > 0;
}

void yoke_flexible_energy(const yoke_flexible *body, const double gravity[3], const double *q, const double *v,
                          double *kinetic, double *potential) {
  if (body->cable != NULL) {
    yoke_cable_energy(body->cable, gravity, q, v, kinetic, potential);
  } else {
    yoke_linear_body_energy(body->linear, body->n, q, v, kinetic, potential);
  }
}

void yoke_flexible_power_lost(const yoke_flexible *body, const double *q, const double *v, double *lost) {
  if (body->cable != NULL) {
    yoke_cable_power_lost(body->cable, q, v, lost);
  } else {
    yoke_linear_body_power_lost(body->linear, body->n, v, lost);
  }
}

void yoke_flexible_copy(yoke_arena *arena, const yoke_flexible *from, yoke_flexible *out) {
  *out      = *from;
  out->name = yoke_arena_text(arena, from->name);
  if (from->cable != NULL) out->cable = yoke_arena_copy(arena, from->cable, 1, sizeof *out->cable);
  if (from->linear == NULL) return;
  out->linear = yoke_arena_take(arena, 1, sizeof *out->linear);
  if (out->linear != NULL) yoke_linear_body_copy(arena, from->linear, from->n, out->linear);
}
