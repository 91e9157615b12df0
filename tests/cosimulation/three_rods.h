/* Three rods that fall from a horizontal line, one subsystem each: two joints are cut. */
#ifndef YOKE_TESTS_THREE_RODS_H
#define YOKE_TESTS_THREE_RODS_H

/* Multipliers along the rods are 0 at the start. */
static const char three_rods[] =
    "yoke: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "t_end: 1\n"
    "bodies:\n"
    "  b1: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  b2: {kind: planar, mass: 1, inertia: 1/12, position: [1.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  b3: {kind: planar, mass: 1, inertia: 1/12, position: [2.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "connections:\n"
    "  j1: {kind: revolute, between: [ground, b1.a]}\n"
    "  j2: {kind: revolute, between: [b1.b, b2.a]}\n"
    "  j3: {kind: revolute, between: [b2.b, b3.a]}\n"
    "split: {p: [b1], q: [b2], r: [b3]}\n";

#endif
