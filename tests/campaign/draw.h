/* Random numbers that are the same on every machine: splitmix64, and functions made of + - * / and sqrt alone, which every
 * machine rounds alike. */
#ifndef YOKE_TESTS_CAMPAIGN_DRAW_H
#define YOKE_TESTS_CAMPAIGN_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct draw {
  uint64_t state;
} draw;

/* C does not say in which order arguments are evaluated: never two draws in one expression.
 * Streams of one seed do not depend on how much of another was used. */
draw draw_from(uint64_t seed, uint64_t stream);

/* Uniform in [0, 1). */
double draw_unit(draw *d);
bool   draw_chance(draw *d, double probability);

/* In [low, high], both included. */
int draw_int(draw *d, int low, int high);

/* Uniform, and uniform in the logarithm (0 < low <= high); rounded to three digits, so that a model can be read. */
double draw_uniform(draw *d, double low, double high);
double draw_log(draw *d, double low, double high);

/* One of n words. */
#define DRAW_WORD(d, words) ((words)[draw_int((d), 0, (int)(sizeof(words) / sizeof *(words)) - 1)])

#define PI 3.14159265358979323846

typedef struct vec {
  double x, y, z;
} vec;

#define NONE ((vec){0.0, 0.0, 0.0})

vec    vec_add(vec a, vec b);
vec    vec_sub(vec a, vec b);
vec    vec_scale(double s, vec a);
vec    vec_cross(vec a, vec b);
double vec_norm(vec a);

/* (cos a, sin a, 0) for |a| <= 2 pi. */
vec vec_turned(double a);

/* Uniform on the unit sphere; with a length between low and high; in a box. */
vec draw_direction(draw *d);
vec draw_arrow(draw *d, double low, double high);
vec draw_in_box(draw *d, vec low, vec high);

#endif
