#include "frames/coordinate.h"

double yoke_coordinate_value(const yoke_coordinate *c, const yoke_pose *poses, double *rate) {
  yoke_link_state state;
  double          grad[12];
  yoke_link_state_set(&c->link, poses, &state);
  const double value = yoke_row_gradient(&c->row, &state, grad) - c->offset;
  *rate              = yoke_row_rate(grad, &state);
  return value;
}
