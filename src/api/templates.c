/* Templates: the models that `yoke new` writes, each with a split. */
#include "api/templates.h"

#include <stddef.h>
#include <string.h>

#define HEAD                                                                                                           \
  "# A Yoke model. Check it with `yoke check FILE`, run it with `yoke run FILE`; docs/model-file.md explains every "   \
  "key.\n"                                                                                                             \
  "# Numbers are in SI units (m, kg, s, N, rad) unless a unit is written behind them: 350 mm, 30 deg, 2 N/mm.\n"       \
  "yoke: 1                      # version of the file format\n"

#define SPLIT                                                                                                          \
  "# The split: every body is in one subsystem; what connects two of them is a coupling. Step, order and method are\n" \
  "# chosen by an error estimate; `yoke compare FILE` shows the error against the model as a whole.\n"

static const yoke_template list[] = {
    {"pendulum", "two rods, a spring, drag, a push and a motor, cut at the knee",
     HEAD "name: double pendulum\n"
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
          "\n" SPLIT "split: {a: [upper], b: [lower]}\n"
          "\n"
          "solvers: {default: {kind: auto, rtol: 1e-8}}\n"
          "\n"
          "# Patterns with * choose what is written; without `select` everything is.\n"
          "output: {every: 0.01, select: [\"upper.*\", \"lower.*\", \"total.*\"]}\n"},
    {"chain", "a row of masses with springs and dampers, cut into three pieces",
     HEAD "name: chain of masses\n"
          "\n"
          "parameters: {n: 300, k: 1 MN/m}\n"
          "t_end: 0.2 s\n"
          "\n"
          "# A chain is a row of equal (or listed) masses on a line; element 1 and n + 1 end at the ground.\n"
          "bodies:\n"
          "  c:\n"
          "    kind: chain\n"
          "    n: n\n"
          "    mass: 1 kg\n"
          "    stiffness: k\n"
          "    damping: 50 N*s/m\n"
          "    loads:\n"
          "      - {on: 1, kind: impulse, force: 5 kN, time: 10 ms, width: 5 ms, rise: 0.5 ms}\n"
          "\n" SPLIT "split: {left: \"c[1..100]\", middle: \"c[101..200]\", right: \"c[201..300]\"}\n"
          "\n"
          "output: {every: 1e-3, select: [\"c.x[1]\", \"c.x[150]\", \"c.x[300]\", \"total.*\"]}\n"},
    {"mechanism", "a slider crank that a motor drives, cut between crank and rod",
     HEAD
     "name: slider crank\n"
     "\n"
     "parameters:\n"
     "  r: 100 mm                  # crank\n"
     "  l: 300 mm                  # connecting rod\n"
     "  gas: 2 kN/m\n"
     "  friction: 30 N*s/m\n"
     "\n"
     "gravity: [0, -9.81, 0]\n"
     "t_end: 1 s\n"
     "\n"
     "bodies:\n"
     "  crank: {kind: planar, mass: 2 kg, inertia: 0.01, position: [r/2, 0], frames: {bearing: [-r/2, 0], pin: [r/2, "
     "0]}}\n"
     "  rod: {kind: planar, mass: 1 kg, inertia: 0.01, position: [r + l/2, 0], frames: {big_end: [-l/2, 0], small_end: "
     "[l/2, 0]}}\n"
     "  piston: {kind: planar, mass: 1.5 kg, inertia: 0.01, position: [r + l, 0]}\n"
     "\n"
     "connections:\n"
     "  main: {kind: revolute, between: [ground, crank.bearing]}\n"
     "  pin: {kind: revolute, between: [crank.pin, rod.big_end]}\n"
     "  gudgeon: {kind: revolute, between: [rod.small_end, piston]}\n"
     "  bore: {kind: translational, between: [ground, piston], axis: [1, 0, 0]}\n"
     "\n"
     "# The motor holds 20 rad/s; a spring stands for the gas behind the piston.\n"
     "loads:\n"
     "  motor: {kind: expression, on: crank, torque: 20*(20 - crank.omega)}\n"
     "  gas: {kind: expression, on: piston, force: [-gas*(piston.x - (l - r)) - friction*piston.vx, 0]}\n"
     "\n" SPLIT "split: {drive: [crank], engine: [rod, piston]}\n"
     "\n"
     "output: {every: 2e-3}\n"},
    {"controller", "an arm whose controllers read both links, across the split",
     HEAD
     "name: robot arm\n"
     "\n"
     "parameters: {l: 0.6 m, m: 4 kg, gain: 900, damping: 60}\n"
     "gravity: [0, -9.81, 0]\n"
     "t_end: 2 s\n"
     "\n"
     "# A number that a program may set while it steps the model (docs/library.md).\n"
     "inputs: {lift: {value: 0, unit: N, description: upward force on the tip}}\n"
     "\n"
     "bodies:\n"
     "  upper: {kind: planar, mass: m, inertia: m*l^2/12, position: [l/2, 0], frames: {root: [-l/2, 0], tip: [l/2, "
     "0]}}\n"
     "  fore: {kind: planar, mass: m/2, inertia: m*l^2/24, position: [3*l/2, 0], frames: {root: [-l/2, 0], tip: [l/2, "
     "0]}}\n"
     "\n"
     "connections:\n"
     "  shoulder: {kind: revolute, between: [ground, upper.root]}\n"
     "  elbow: {kind: revolute, between: [upper.tip, fore.root]}\n"
     "\n"
     "# What a load reads of another subsystem becomes a signal; torques of a motor act on both links.\n"
     "loads:\n"
     "  shoulder_motor: {kind: expression, on: upper, torque: gain*(0.8*sin(2*t) - shoulder.angle) - "
     "damping*shoulder.angle_rate}\n"
     "  elbow_motor: {kind: expression, on: fore, torque: gain/4*(1 - cos(2*t) - elbow.angle) - "
     "damping/4*elbow.angle_rate}\n"
     "  elbow_reaction: {kind: expression, on: upper, torque: -gain/4*(1 - cos(2*t) - elbow.angle) + "
     "damping/4*elbow.angle_rate}\n"
     "  hook: {kind: expression, on: fore.tip, force: [0, lift]}\n"
     "\n" SPLIT "split: {upper: [upper], fore: [fore]}\n"
     "\n"
     "output: {every: 0.01, select: [\"upper.*\", \"fore.*\", \"*.angle\", lift]}\n"},
    {"cable", "a trolley that swings a load on an elastic cable, cut at the trolley",
     HEAD "name: load on a cable\n"
          "\n"
          "parameters:\n"
          "  L: 4 m                     # cable without load\n"
          "  EA: 20 kN                  # its force is EA*(strain + axial_damping*strain rate)\n"
          "  load: 20 kg\n"
          "  g: 9.81 m/s^2\n"
          "  stretch: load*g/EA         # of the cable by the load\n"
          "\n"
          "gravity: [0, 0, -g]\n"
          "t_end: 2 s\n"
          "\n"
          "# The ends of a cable are its frames a and b; cable.node[2] and so on are points that move with it.\n"
          "bodies:\n"
          "  trolley: {kind: rigid, mass: 50 kg, inertia: [2, 2, 2]}\n"
          "  cable:\n"
          "    kind: ancf-cable\n"
          "    elements: 3\n"
          "    length: L\n"
          "    from: [0, 0, 0]\n"
          "    to: [0, 0, -L*(1 + stretch)]\n"
          "    mass: 2 kg\n"
          "    axial_stiffness: EA\n"
          "    bending_stiffness: 1 N*m^2\n"
          "    axial_damping: 5 ms\n"
          "  load: {kind: particle, mass: load, position: [0, 0, -L*(1 + stretch)]}\n"
          "\n"
          "connections:\n"
          "  rail: {kind: translational, between: [ground, trolley], axis: [1, 0, 0]}\n"
          "  eye: {kind: spherical, between: [trolley, cable.a]}\n"
          "  hook: {kind: spherical, between: [cable.b, load]}\n"
          "\n"
          "# The drive follows a speed that swings.\n"
          "loads:\n"
          "  drive: {kind: expression, on: trolley, force: [500*(sin(2*t) - trolley.vx), 0, 0]}\n"
          "\n" SPLIT "split: {crane: [trolley], rope: [cable, load]}\n"
          "\n"
          "output: {every: 0.02}\n"},
    {"car", "a quarter of a car over a step of the road, cut at its suspension",
     HEAD
     "name: quarter car\n"
     "\n"
     "parameters: {step: 0.1 m, tyre: 150 kN/m}\n"
     "t_end: 3 s\n"
     "\n"
     "# Displacements from the state at rest, upwards.\n"
     "bodies:\n"
     "  body: {kind: mass1d, mass: 400 kg}\n"
     "  wheel: {kind: mass1d, mass: 40 kg}\n"
     "\n"
     "connections:\n"
     "  suspension: {kind: spring-damper, between: [wheel, body], stiffness: 15 kN/m, damping: 1 kN*s/m, free_length: "
     "0}\n"
     "\n"
     "# The tyre pushes by how far the road is above the wheel.\n"
     "loads:\n"
     "  tyre: {kind: expression, on: wheel, force: tyre*(step - wheel.x)}\n"
     "\n" SPLIT "split: {chassis: [body], axle: [wheel]}\n"
     "\n"
     "output: {every: 5e-3}\n"},
};

int yoke_n_templates(void) {
  return (int)(sizeof list / sizeof *list);
}

const yoke_template *yoke_template_at(int i) {
  return &list[i];
}

const yoke_template *yoke_template_find(const char *name) {
  for (int i = 0; i < yoke_n_templates(); ++i) {
    if (strcmp(list[i].name, name) == 0) return &list[i];
  }
  return NULL;
}
