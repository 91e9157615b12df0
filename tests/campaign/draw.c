#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

draw draw_from(uint64_t seed, uint64_t stream) {
  return (draw){mixed(mixed(seed + 0x9e3779b97f4a7c15U) + stream)};
}

double draw_unit(draw *d) {
  d->state += 0x9e3779b97f4a7c15U;
  return (double)(mixed(d->state) >> 11) / 9007199254740992.0;
}

bool draw_chance(draw *d, double probability) {
  return draw_unit(d) < probability;
}

int draw_int(draw *d, int low, int high) {
  const int i = low + (int)(draw_unit(d) * (high - low + 1));
  return i < high ? i : high;
}

static double three_digits(double x) {
  char text[32];
  snprintf(text, sizeof text, "%.3g", x);
  return strtod(text, NULL);
}

double draw_uniform(draw *d, double low, double high) {
  return three_digits(low + draw_unit(d) * (high - low));
}

double draw_log(draw *d, double low, double high) {
  /* (high/low)^u, bit by bit of u: square roots of the ratio, of that, ... */
  double u = draw_unit(d), root = high / low, x = low;
  for (int k = 0; k < 40; ++k) {
    root = sqrt(root);
    u *= 2.0;
    if (u >= 1.0) {
      u -= 1.0;
      x *= root;
    }
  }
  return three_digits(x);
}

vec vec_add(vec a, vec b) {
  return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}
vec vec_sub(vec a, vec b) {
  return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}
vec vec_scale(double s, vec a) {
  return (vec){s * a.x, s * a.y, s * a.z};
}
vec vec_cross(vec a, vec b) {
  return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
double vec_norm(vec a) {
  return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

vec vec_turned(double a) {
  /* Taylor series of an eighth of the angle, doubled three times. */
  const double b    = a / 8.0;
  double       term = 1.0, c = 0.0, s = 0.0;
  for (int k = 0; k < 24; k += 2) {
    c += term;
    s += term * b / (k + 1);
    term *= -b * b / ((k + 1) * (k + 2));
  }
  for (int k = 0; k < 3; ++k) {
    const double twice = 2.0 * s * c;

    c = c * c - s * s;
    s = twice;
  }
  return (vec){c, s, 0.0};
}

vec draw_direction(draw *d) {
  for (;;) {
    const vec    a = {2.0 * draw_unit(d) - 1.0, 2.0 * draw_unit(d) - 1.0, 2.0 * draw_unit(d) - 1.0};
    const double n = vec_norm(a);
    if (n > 0.1 && n < 1.0) return vec_scale(1.0 / n, a);
  }
}

vec draw_arrow(draw *d, double low, double high) {
  const double length = draw_uniform(d, low, high);
  return vec_scale(length, draw_direction(d));
}

vec draw_in_box(draw *d, vec low, vec high) {
  const double x = draw_uniform(d, low.x, high.x), y = draw_uniform(d, low.y, high.y),
               z = draw_uniform(d, low.z, high.z);
  return (vec){x, y, z};
}
