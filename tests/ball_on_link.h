/* F11: a ball on a stiff link to a pendulum, which bounces off a floor until it rests. */
#ifndef YOKE_TESTS_BALL_ON_LINK_H
#define YOKE_TESTS_BALL_ON_LINK_H

#define BALL_ON_LINK                                                                                                   \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "bodies:\n"                                                                                                          \
  "  rod: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"       \
  "  ball: {kind: planar, mass: 0.5, inertia: 0.01, position: [1.5, 0]}\n"                                             \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, rod.top]}\n"                                                            \
  "  link: {kind: spring-damper, between: [rod.tip, ball], stiffness: 2e3, damping: 1}\n"                              \
  "events: {bounce: {when: ball.y + 0.5, direction: falling, set: {ball.vy: -0.5*ball.vy}}}\n"

#endif
