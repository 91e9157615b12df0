/* Starter: the model that `yoke new` writes. */
#include <yoke/model.h>
#include <yoke/run.h>
#include "base/given.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    "# A Yoke model. Check it with `yoke check FILE`, run it with `yoke run FILE`; docs/model-file.md explains every "
    "key.\n"
    "# Numbers are in SI units (m, kg, s, N, rad) unless a unit is written behind them: 350 mm, 30 deg, 2 N/mm.\n"
    "yoke: 1                      # version of the file format\n"
    "name: double pendulum\n"
    "\n"
    "# Parameters may be used in every number below, and changed from the command line: --set parameters.l=2\n"
    "parameters:\n"
    "  l: 1 m                     # length of a rod\n"
    "  m: 1 kg                    # mass of a rod\n"
    "  start: 60 deg              # angle of both rods at the start, from the vertical\n"
    "\n"
    "gravity: [0, -9.81, 0]\n"
    "t_end: 5 s\n"
    "\n"
    "# Bodies. `position` is the centre of mass. Frames are points on a body, measured from its centre of mass.\n"
    "bodies:\n"
    "  upper:\n"
    "    kind: planar             # also: rigid (in space), particle, mass1d, chain\n"
    "    mass: m\n"
    "    inertia: m*l^2/12\n"
    "    position: [l/2*sin(start), -l/2*cos(start)]\n"
    "    angle: start\n"
    "    frames: {top: [0, l/2], tip: [0, -l/2]}\n"
    "  lower:\n"
    "    kind: planar\n"
    "    mass: m\n"
    "    inertia: m*l^2/12\n"
    "    position: [3/2*l*sin(start), -3/2*l*cos(start)]\n"
    "    angle: start\n"
    "    frames: {top: [0, l/2], tip: [0, -l/2]}\n"
    "\n"
    "# Connections: joints and springs between two frames.\n"
    "connections:\n"
    "  shoulder: {kind: revolute, between: [ground, upper.top]}\n"
    "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"
    "  brake: {kind: torsion-spring, between: [upper, lower], stiffness: 0.5 N*m/rad, damping: 0.02 N*m*s/rad}\n"
    "\n"
    "# Loads: constant, harmonic, impulse, drag, contact, or any expression of time and states.\n"
    "loads:\n"
    "  air: {kind: drag, on: lower, linear: 0.05 N*s/m}\n"
    "  push: {kind: impulse, on: lower.tip, force: [2 N, 0], time: 0.5 s, width: 0.2 s, rise: 10 ms}\n"
    "  motor: {kind: expression, on: upper, torque: 0.1*sin(2*t) - 0.01*upper.omega}\n"
    "\n"
    "solvers: {default: {kind: auto, rtol: 1e-8}}\n"
    "\n"
    "# Patterns with * choose what is written; without `select` everything is.\n"
    "output: {every: 0.01, select: [\"upper.*\", \"lower.*\", \"total.*\"]}\n";

const char *yoke_model_starter(void) {
  return text;
}

yoke_status yoke_starter_write(yoke_context *ctx, const char *path) {
  YOKE_TRY(yoke_given(ctx, path, "path of a model file"));
  errno      = 0;
  FILE *file = fopen(path, "wx"); /* x: fails when the file exists, also when another program creates it right now */
  if (!file) {
    return yoke_fail(ctx, YOKE_E_IO, "cannot create '%s': %s", path,
                     errno == EEXIST ? "it exists already and is not overwritten" : strerror(errno));
  }
  const bool written = fputs(yoke_model_starter(), file) >= 0;
  const bool closed  = fclose(file) == 0;
  if (written && closed) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
}
