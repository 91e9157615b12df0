#include "model/rod.h"

#include "linalg/space.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Euler parameters ---- */

static void product(double c[4], const double a[4], const double b[4]) {
  c[0] = a[0] * b[0] - vec3_dot(a + 1, b + 1);
  vec3_cross(c + 1, a + 1, b + 1);
  vec3_add(c + 1, a[0], b + 1);
  vec3_add(c + 1, b[0], a + 1);
}

/* c := a exp(s theta) where theta takes a to b, for s = 1/2 or -1/2. */
static void half_way(double c[4], const double a[4], const double b[4], double sign) {
  const double back[4] = {a[0], -a[1], -a[2], -a[3]};
  double       z[4];
  product(z, back, b);
  if (z[0] < 0.0) {
    for (int i = 0; i < 4; ++i) z[i] = -z[i];
  }
  z[0] += 1.0;
  quaternion_normalise(z);
  for (int i = 1; i < 4; ++i) z[i] *= sign;
  product(c, a, z);
  quaternion_normalise(c);
}

/* A frame with this unit tangent as its third axis and the normal in the plane of its first. */
static void first_frame(const double tangent[3], const double normal[3], double p[4]) {
  double x[3], y[3], R[9];
  vec3_cross(y, tangent, normal);
  if (!(vec3_norm(y) > 1e-6 * vec3_norm(normal))) { /* none: the coordinate axis that is farthest from the tangent */
    int k = fabs(tangent[1]) < fabs(tangent[0]) ? 1 : 0;
    if (fabs(tangent[2]) < fabs(tangent[k])) k = 2;
    vec3_cross(y, tangent, (const double[]){k == 0, k == 1, k == 2});
  }
  const double size = vec3_norm(y);
  for (int i = 0; i < 3; ++i) y[i] /= size;
  vec3_cross(x, y, tangent);
  for (int i = 0; i < 3; ++i) {
    R[3 * i]     = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = tangent[i];
  }
  quaternion_of_rotation(p, R);
  quaternion_normalise(p);
}

/* The frame of one edge carried to the next by the smallest rotation. */
static void next_frame(const double p[4], const double from[3], const double to[3], double next[4]) {
  double turn[4] = {1.0 + vec3_dot(from, to), 0.0, 0.0, 0.0};
  vec3_cross(turn + 1, from, to);
  if (turn[0] < 1e-9) { /* it turns back: about its first axis */
    double R[9];
    quaternion_rotation(R, p);
    turn[0] = 0.0;
    vec3_set(turn + 1, R[0], R[3], R[6]);
  }
  quaternion_normalise(turn);
  product(next, turn, p);
  quaternion_normalise(next);
}

/* ---- nodes ---- */

/* Lengths for which vertex and frame of a node stand. */
static double mass_length(int n, int node, double l) {
  const double half = 0.25 * l;
  if (node == 0) return half;
  if (node == 1) return 2.0 * half;
  if (node == n + 1) return n == 1 ? half : 2.0 * half;
  return node == 2 ? 3.0 * half : l;
}

static double frame_length(int n, int node, double l) {
  const double quarter = 0.25 * l;
  if (node == 0 || node == n + 1) return quarter;
  if (n == 1) return 2.0 * quarter;
  return node == 1 || node == n ? 3.0 * quarter : l;
}

static void place_nodes(const yoke_rod_def *def, yoke_body *nodes) {
  const int     n         = def->n;
  double        before[3] = {0.0}, tangent[3];
  const double *x         = def->points;
  for (int j = 0; j < n; ++j) { /* the frame of edge j belongs to node j + 1 */
    for (int i = 0; i < 3; ++i) tangent[i] = x[3 * j + 3 + i] - x[3 * j + i];
    const double size = vec3_norm(tangent);
    for (int i = 0; i < 3; ++i) tangent[i] /= size;
    if (j == 0)
      first_frame(tangent, def->normal, nodes[1].orientation);
    else
      next_frame(nodes[j].orientation, before, tangent, nodes[j + 1].orientation);
    vec3_copy(before, tangent);
    if (j > 0) vec3_copy(nodes[j + 1].position, x + 3 * j);
  }
  vec3_copy(nodes[0].position, x);
  vec3_copy(nodes[n + 1].position, x + 3 * n);
  for (int i = 0; i < 3; ++i) nodes[1].position[i] = 0.5 * (x[i] + x[3 + i]);
  half_way(nodes[0].orientation, nodes[1].orientation, nodes[n > 1 ? 2 : 1].orientation, -1.0);
  half_way(nodes[n + 1].orientation, nodes[n].orientation, nodes[n > 1 ? n - 1 : n].orientation, -1.0);
}

static void set_pose(const yoke_body *node, yoke_pose *pose) {
  memset(pose, 0, sizeof *pose);
  vec3_copy(pose->r, node->position);
  quaternion_rotation(pose->R, node->orientation);
}

void yoke_rod_make(const yoke_rod_def *def, yoke_body *nodes, yoke_rod_element *elements) {
  const int    n = def->n;
  const double l = def->length / n;
  for (int k = 0; k < n + 2; ++k) {
    nodes[k] = (yoke_body){.kind = YOKE_BODY_RIGID, .mass = def->line_mass * mass_length(n, k, l)};
    for (int i = 0; i < 3; ++i) nodes[k].inertia[4 * i] = def->line_inertia[i] * frame_length(n, k, l);
  }
  place_nodes(def, nodes);
  for (int k = 0; k < n + 2; ++k) {
    double arm[3], R[9];
    for (int i = 0; i < 3; ++i) arm[i] = nodes[k].position[i] - def->points[i];
    vec3_copy(nodes[k].velocity, def->velocity);
    vec3_add_cross(nodes[k].velocity, 1.0, def->omega, arm);
    quaternion_rotation(R, nodes[k].orientation);
    mat3_apply_transposed(nodes[k].omega, R, def->omega);
  }
  for (int e = 0; e <= n; ++e) { /* the first edge is in two halves, elements 0 and 1 */
    yoke_rod_element *el = &elements[e];
    *el                  = (yoke_rod_element){
                         .owner = e == 0 ? 1 : 0, .edge = e <= 1 ? 0.5 * l : l, .bend = e == 0 || e == n ? 0.5 * l : l};
    memcpy(el->stiffness, def->stiffness, sizeof el->stiffness);
    memcpy(el->damping, def->damping, sizeof el->damping);
    if (!def->is_natural) continue;
    yoke_pose a, b;
    set_pose(&nodes[e], &a);
    set_pose(&nodes[e + 1], &b);
    yoke_rod_element_output(el, &a, &b, NULL, el->natural);
  }
}

void yoke_rod_node_name(int n, int node, char *name, size_t size) {
  if (node == 0 || node == n + 1)
    snprintf(name, size, "%s", node == 0 ? "a" : "b");
  else if (node == 1)
    snprintf(name, size, "half");
  else
    snprintf(name, size, "node[%d]", node - 1);
}

/* ---- shapes ---- */

void yoke_rod_straight(int n, double length, const double from[3], const double direction[3], double *points) {
  const double size = vec3_norm(direction);
  for (int k = 0; k <= n; ++k) {
    for (int i = 0; i < 3; ++i) points[3 * k + i] = from[i] + length * k / n * (direction[i] / size);
  }
}

/* sinh(x) / x = ratio > 1 */
static double solve_catenary(double ratio) {
  double x = ratio < 3.0 ? sqrt(6.0 * (ratio - 1.0)) : log(2.0 * ratio) + log(log(2.0 * ratio));
  for (int k = 0; k < 50; ++k) {
    const double f = sinh(x) / x - ratio, slope = (cosh(x) - sinh(x) / x) / x, step = f / slope;
    x -= step;
    if (fabs(step) < 1e-14 * x) break;
  }
  return x;
}

/* Ends of the links in units of one link: sums of (H, V + k) / |.|, and the derivatives by H and V. */
static void sum_links(int n, double H, double V, double sum[2], double J[4]) {
  memset(sum, 0, 2 * sizeof *sum);
  memset(J, 0, 4 * sizeof *J);
  for (int k = 0; k < n; ++k) {
    const double v = V + k, size = hypot(H, v), s3 = size * size * size;
    sum[0] += H / size;
    sum[1] += v / size;
    J[0] += v * v / s3;
    J[1] -= H * v / s3;
    J[3] += H * H / s3;
  }
  J[2] = J[1];
}

bool yoke_rod_hanging(int n, double length, const double from[3], const double to[3], const double gravity[3],
                      double *points) {
  const double g = vec3_norm(gravity), l = length / n;
  double       up[3], side[3], chord[3];
  for (int i = 0; i < 3; ++i) {
    up[i]    = -gravity[i] / g;
    chord[i] = to[i] - from[i];
    side[i]  = chord[i];
  }
  if (!(g > 0.0) || !(vec3_norm(chord) < length * (1.0 - 1e-12))) return false;
  const double rise = vec3_dot(chord, up);
  vec3_add(side, -rise, up);
  const double reach = vec3_norm(side);
  if (!(reach > 1e-3 * length)) return false;
  /* The catenary gives horizontal force and vertical force of the first link, in units of the weight of one link. */
  const double a = 0.5 * reach / solve_catenary(sqrt(length * length - rise * rise) / reach);
  double       H = a / l, V = sinh((atanh(rise / length) * a - 0.5 * reach) / a) * a / l + 0.5;
  for (int k = 0; k < 100; ++k) { /* positions are monotone in the forces: damped steps find them */
    double sum[2], J[4];
    sum_links(n, H, V, sum, J);
    const double f[2] = {sum[0] - reach / l, sum[1] - rise / l}, det = J[0] * J[3] - J[1] * J[2];
    const double dH = (J[3] * f[0] - J[1] * f[1]) / det, dV = (J[0] * f[1] - J[2] * f[0]) / det;
    double       share = 1.0;
    while (H - share * dH <= 0.1 * H) share *= 0.5;
    H -= share * dH;
    V -= share * dV;
    if (fabs(f[0]) + fabs(f[1]) < 1e-12 * n) break;
  }
  vec3_copy(points, from);
  for (int k = 0; k < n; ++k) {
    const double v = V + k, size = hypot(H, v);
    for (int i = 0; i < 3; ++i)
      points[3 * k + 3 + i] = points[3 * k + i] + l * (H / size * side[i] / reach + v / size * up[i]);
  }
  return true;
}
