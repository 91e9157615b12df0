#include "model/quantities.h"

#include <stdio.h>
#include <string.h>

#define FORCE_UNIT "N or N m"

static const yoke_quantity rows[] = {
    {YOKE_OF_RIGID, YOKE_LEVEL_POSITION, 0, 3, {"x", "y", "z"}, "m", NULL, "centre of mass"},
    {YOKE_OF_RIGID, YOKE_LEVEL_POSITION, 3, 4, {"q0", "q1", "q2", "q3"}, "1", NULL, "Euler parameters, scalar first"},
    {YOKE_OF_RIGID, YOKE_LEVEL_VELOCITY, 0, 3, {"vx", "vy", "vz"}, "m/s", NULL, "velocity"},
    {YOKE_OF_RIGID, YOKE_LEVEL_VELOCITY, 3, 3, {"wx", "wy", "wz"}, "rad/s", NULL, "angular velocity in body axes"},
    {YOKE_OF_RIGID, YOKE_LEVEL_ACCELERATION, 0, 3, {"ax", "ay", "az"}, "m/s^2", "a", "acceleration"},
    {YOKE_OF_RIGID,
     YOKE_LEVEL_ACCELERATION,
     3,
     3,
     {"alphax", "alphay", "alphaz"},
     "rad/s^2",
     "a",
     "angular acceleration in body axes"},
    {YOKE_OF_PLANAR, YOKE_LEVEL_POSITION, 0, 2, {"x", "y"}, "m", NULL, "centre of mass"},
    {YOKE_OF_PLANAR, YOKE_LEVEL_POSITION, 2, 1, {"angle"}, "rad", NULL, "about z, counted over full turns"},
    {YOKE_OF_PLANAR, YOKE_LEVEL_VELOCITY, 0, 2, {"vx", "vy"}, "m/s", NULL, "velocity"},
    {YOKE_OF_PLANAR, YOKE_LEVEL_VELOCITY, 2, 1, {"omega"}, "rad/s", NULL, "angular velocity"},
    {YOKE_OF_PLANAR, YOKE_LEVEL_ACCELERATION, 0, 2, {"ax", "ay"}, "m/s^2", "a", "acceleration"},
    {YOKE_OF_PLANAR, YOKE_LEVEL_ACCELERATION, 2, 1, {"alpha"}, "rad/s^2", "a", "angular acceleration"},
    {YOKE_OF_PARTICLE, YOKE_LEVEL_POSITION, 0, 3, {"x", "y", "z"}, "m", NULL, "position"},
    {YOKE_OF_PARTICLE, YOKE_LEVEL_VELOCITY, 0, 3, {"vx", "vy", "vz"}, "m/s", NULL, "velocity"},
    {YOKE_OF_PARTICLE, YOKE_LEVEL_ACCELERATION, 0, 3, {"ax", "ay", "az"}, "m/s^2", "a", "acceleration"},
    {YOKE_OF_MASS1D, YOKE_LEVEL_POSITION, 0, 1, {"x"}, "m", NULL, "displacement"},
    {YOKE_OF_MASS1D, YOKE_LEVEL_VELOCITY, 0, 1, {"v"}, "m/s", NULL, "velocity"},
    {YOKE_OF_MASS1D, YOKE_LEVEL_ACCELERATION, 0, 1, {"a"}, "m/s^2", NULL, "acceleration"},
    {YOKE_OF_CHAIN, YOKE_LEVEL_POSITION, 0, 1, {"x[i]"}, "m", NULL, "displacement of mass i"},
    {YOKE_OF_CHAIN, YOKE_LEVEL_VELOCITY, 0, 1, {"v[i]"}, "m/s", NULL, "velocity of mass i"},
    {YOKE_OF_CHAIN, YOKE_LEVEL_ACCELERATION, 0, 1, {"a[i]"}, "m/s^2", "a", "acceleration of mass i"},
    {YOKE_OF_JOINT,
     YOKE_LEVEL_POSITION,
     0,
     1,
     {"angle"},
     "rad",
     "a",
     "revolute, cylindrical: angle about z; counted over full turns in the plane, else in (-pi, pi]"},
    {YOKE_OF_JOINT, YOKE_LEVEL_VELOCITY, 0, 1, {"angle_rate"}, "rad/s", "a", "its rate"},
    {YOKE_OF_JOINT,
     YOKE_LEVEL_POSITION,
     1,
     1,
     {"distance"},
     "m",
     "d",
     "translational, cylindrical: distance along z of frame 1"},
    {YOKE_OF_JOINT, YOKE_LEVEL_VELOCITY, 1, 1, {"distance_rate"}, "m/s", "d", "its rate"},
    {YOKE_OF_CONNECTION, YOKE_LEVEL_FORCE, 0, 1, {"force[k]"}, FORCE_UNIT, NULL, "multiplier of row k, or force"},
    {YOKE_OF_CONNECTION, YOKE_LEVEL_FORCE, 1, 1, {"g[k]"}, "m, rad or 1", NULL, "violation of row k, or deflection"},
    {YOKE_OF_CONNECTION, YOKE_LEVEL_FORCE, 2, 1, {"mismatch[k]"}, FORCE_UNIT, "m", "couplings: side 2 minus side 1"},
    {YOKE_OF_CONNECTION,
     YOKE_LEVEL_FORCE,
     3,
     1,
     {"force_mean[k]"},
     FORCE_UNIT,
     "force_m",
     "couplings with nodes inside the macro step: mean over it"},
    {YOKE_OF_CONNECTION,
     YOKE_LEVEL_ENERGY,
     0,
     2,
     {"energy", "dissipated"},
     "J",
     "energy",
     "couplings: stored in the element that it holds; lost there since the start"},
    {YOKE_OF_CONNECTION,
     YOKE_LEVEL_ENERGY,
     2,
     1,
     {"work[k]"},
     "J",
     "work",
     "couplings: through its port into the subsystem of side k"},
    {YOKE_OF_CONNECTION,
     YOKE_LEVEL_ENERGY,
     3,
     1,
     {"leak"},
     "J",
     "leak",
     "couplings: gain of energy + dissipated + work[1] + work[2]"},
    {YOKE_OF_CONNECTION,
     YOKE_LEVEL_ENERGY,
     4,
     1,
     {"corrected"},
     "J",
     "corrected",
     "couplings: what corrections did, part of the works"},
    {YOKE_OF_SUBSYSTEM,
     YOKE_LEVEL_ENERGY,
     0,
     2,
     {"energy", "dissipated"},
     "J",
     "energy",
     "split models: stored; lost in dampers and drag since the start"},
    {YOKE_OF_SUBSYSTEM,
     YOKE_LEVEL_ENERGY,
     2,
     2,
     {"external", "work"},
     "J",
     "external",
     "split models: work of loads and motions; in through its ports"},
    {YOKE_OF_SUBSYSTEM,
     YOKE_LEVEL_ENERGY,
     4,
     1,
     {"leak"},
     "J",
     "leak",
     "split models: gain of energy + dissipated - external - work"},
    {YOKE_OF_TOTAL, YOKE_LEVEL_ENERGY, 0, 1, {"energy"}, "J", NULL, "mechanical energy: kinetic + potential"},
    {YOKE_OF_TOTAL, YOKE_LEVEL_ENERGY, 1, 2, {"kinetic", "potential"}, "J", NULL, "its parts"},
    {YOKE_OF_TOTAL, YOKE_LEVEL_ENERGY, 3, 1, {"dissipated"}, "J", NULL, "lost in dampers and drag since the start"},
    {YOKE_OF_TOTAL,
     YOKE_LEVEL_ENERGY,
     4,
     1,
     {"external"},
     "J",
     NULL,
     "work of loads and prescribed motions since the start"},
    {YOKE_OF_TOTAL,
     YOKE_LEVEL_ENERGY,
     5,
     1,
     {"balance"},
     "J",
     NULL,
     "energy + dissipated - external: constant but for the error of the solver and of the couplings"},
    {YOKE_OF_TOTAL,
     YOKE_LEVEL_ENERGY,
     6,
     1,
     {"leak"},
     "J",
     "leak",
     "split models: sum of the leaks of all subsystems and couplings"},
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)N_ROWS <= (int)YOKE_MOST_QUANTITY_ROWS, "walks through outputs count the rows that are asked for");

int yoke_n_quantity_rows(void) {
  return N_ROWS;
}

const yoke_quantity *yoke_quantity_row(int i) {
  return i >= 0 && i < N_ROWS ? &rows[i] : NULL;
}

const char *yoke_quantity_object(yoke_quantity_of of) {
  switch (of) {
  case YOKE_OF_RIGID:
  case YOKE_OF_PLANAR:
  case YOKE_OF_PARTICLE:
  case YOKE_OF_MASS1D:
  case YOKE_OF_CHAIN: return yoke_body_kind_name((yoke_body_kind)of);
  case YOKE_OF_JOINT: return "joint";
  case YOKE_OF_CONNECTION: return "connection";
  case YOKE_OF_SUBSYSTEM: return "subsystem";
  case YOKE_OF_TOTAL: break;
  }
  return "total";
}

const yoke_quantity *yoke_quantity_at(yoke_quantity_of of, yoke_quantity_level level, int component) {
  for (int i = 0; i < N_ROWS; ++i) {
    if (rows[i].of == of && rows[i].level == level && component >= rows[i].first &&
        component < rows[i].first + rows[i].n)
      return &rows[i];
  }
  return NULL;
}

const yoke_quantity *yoke_quantity_find(yoke_quantity_of of, const char *name, int *component) {
  for (int i = 0; i < N_ROWS; ++i) {
    for (int k = 0; rows[i].of == of && k < rows[i].n; ++k) {
      if (strcmp(rows[i].name[k], name) != 0) continue;
      *component = rows[i].first + k;
      return &rows[i];
    }
  }
  return NULL;
}

int yoke_quantity_print(const yoke_quantity *row, int component, int number, char *name, size_t size) {
  const char  *word = yoke_quantity_name(row, component);
  const size_t stem = strcspn(word, "[");
  if (word[stem] == '\0') return snprintf(name, size, "%s", word);
  return snprintf(name, size, "%.*s[%d]", (int)stem, word, number);
}
