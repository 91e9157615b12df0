#include "analysis/recurrence_two_mass.h"

static void add_channel(two_mass *self, channel_kind kind, int side, const double B[2][2]) {
  two_mass_channel *channel = &self->channel[self->n_channels++];
  *channel                  = (two_mass_channel){
                       .kind = kind, .side = side, .B = {{B[0][0], B[0][1]}, {B[1][0], B[1][1]}}, .layout = YOKE_LAYOUT_END};
}

/* lambda on the forced sides; the common acceleration, or copies of the partner's motion, on the driven ones. */
static void add_channels(two_mass *self) {
  const bool any_forced = !self->driven[0] || !self->driven[1], any_driven = self->driven[0] || self->driven[1];
  if (any_forced) {
    const double B[2][2] = {{0.0, self->driven[0] ? 0.0 : 1.0 / self->m[0]},
                            {0.0, self->driven[1] ? 0.0 : -1.0 / self->m[1]}};
    add_channel(self, CHANNEL_FORCE, 0, B);
  }
  if (self->rigid && any_driven) {
    const double B[2][2] = {{0.0, self->driven[0]}, {0.0, self->driven[1]}};
    add_channel(self, CHANNEL_ACCELERATION, 0, B);
  }
  for (int s = 1; s >= 0 && !self->rigid; --s) { /* copies of side 1 drive side 2 */
    if (!self->driven[s]) continue;
    double B_x[2][2] = {{0.0}}, B_v[2][2] = {{0.0}};
    B_x[s][1] = self->cc / self->m[s];
    B_v[s][1] = self->dc / self->m[s];
    add_channel(self, CHANNEL_COPY_X, 1 - s, (const double(*)[2])B_x);
    add_channel(self, CHANNEL_COPY_V, 1 - s, (const double(*)[2])B_v);
  }
}

void two_mass_open(two_mass *self, const yoke_test_model *model, const yoke_test_method *method, int degree) {
  const double by_c = model->H * model->H / model->m[0], by_d = model->H / model->m[0];
  self->rigid = model->kind == YOKE_TWO_MASS_RIGID;
  self->driven[0] =
      method->decomposition == YOKE_DISPLACEMENT_FORCE || method->decomposition == YOKE_DISPLACEMENT_DISPLACEMENT;
  self->driven[1] =
      method->decomposition == YOKE_FORCE_DISPLACEMENT || method->decomposition == YOKE_DISPLACEMENT_DISPLACEMENT;
  self->cc         = model->cc * by_c;
  self->dc         = model->dc * by_d;
  self->n_channels = 0;
  for (int s = 0; s < 2; ++s) {
    self->m[s] = model->m[s] / model->m[0];
    self->c[s] = model->c[s] * by_c;
    self->d[s] = model->d[s] * by_d;
    /* A driven side contains the coupling element, or, rigid, has nothing but its prescribed acceleration. */
    const double c = !self->driven[s] ? self->c[s] : self->rigid ? 0.0 : self->c[s] + self->cc;
    const double d = !self->driven[s] ? self->d[s] : self->rigid ? 0.0 : self->d[s] + self->dc;
    part_side_open(&self->side[s], c / self->m[s], d / self->m[s], degree + 3);
  }
  add_channels(self);
}

void two_mass_acceleration(const two_mass *self, int s, const part_motion *motion, part_form *end, double *form) {
  part_clear(self->nv, form);
  part_add(self->nv, form, -self->side[s].c, motion->x);
  part_add(self->nv, form, -self->side[s].d, motion->v);
  for (int k = 0; k < self->n_channels; ++k) {
    if (self->channel[k].B[s][1] != 0.0) part_add(self->nv, form, self->channel[k].B[s][1], end[k]);
  }
}

void two_mass_law(const two_mass *self, const double *x1, const double *v1, const double *x2, const double *v2,
                  double *form) {
  for (int i = 0; i < self->nv; ++i) form[i] = self->cc * (x2[i] - x1[i]) + self->dc * (v2[i] - v1[i]);
}
