/* The coordinate is a text of what the two frames show, a on side 1 and b on side 2; what a frame shows is a text of its body's states:
 *   angle in a plane   b.angle - a.angle - offset                            rate  b.omega - a.omega
 *   angle in space     atan2(ey_a . ex_b, ex_a . ex_b)                       rate  wz_b - wz_a
 *   distance           (r_b - r_a) . ez_a                                    rate  (v_b - v_a) . ez_a + (r_b - r_a) . ez_a'
 * In space p = conj(q_a) q_b of the Euler parameters of the frames gives both products: ey_a . ex_b = 2 (p1 p2 + p0 p3) and
 * ex_a . ex_b = p0^2 + p1^2 - p2^2 - p3^2, whatever their length. */
#include "model/joint_formula.h"

#include "linalg/space.h"
#include "model/force_element_compile.h"
#include "model/joint_coordinate.h"
#include <string.h>

/* ---- what a frame shows ---- */

/* Places, velocities, Euler parameters, angular velocity about z, axis z and its rate; in the plane the angle of the body and its rate. */
enum { N_SHOWN = 19, N_SHAPES = 5 };
static const char *const shown_names[N_SHOWN] = {"x",  "y",   "z",   "vx",  "vy",  "vz",  "q0",  "q1",    "q2",   "q3",
                                                 "wz", "ezx", "ezy", "ezz", "dzx", "dzy", "dzz", "angle", "omega"};

typedef enum shape { SHAPE_RIGID, SHAPE_PLANAR, SHAPE_PORT, SHAPE_POINT, SHAPE_LINE } shape;

/* Does the body stand for a port of a foreign subsystem? It has one frame, turned for a joint at most. */
static bool is_port(const yoke_model *model, int body) {
  for (int i = 0; i < model->n_foreigns; ++i) {
    for (int k = 0; k < model->foreigns[i].n_ports; ++k) {
      if (model->foreigns[i].ports[k].body == body) return true;
    }
  }
  return false;
}

static shape shape_of(const yoke_model *model, int body) {
  switch (model->bodies[body].kind) {
  case YOKE_BODY_RIGID: return is_port(model, body) ? SHAPE_PORT : SHAPE_RIGID;
  case YOKE_BODY_PLANAR: return SHAPE_PLANAR;
  case YOKE_BODY_PARTICLE: return SHAPE_POINT;
  case YOKE_BODY_MASS1D:
  case YOKE_BODY_CHAIN: break;
  }
  return SHAPE_LINE;
}

/* Of bodies that turn x ... wz are those of the frame, of ports (angular velocities in inertial axes) and of others those of the body; Ck are the Euler parameters of a frame in its body, Zk its axis z, Ok its origin. */
#define LENGTH " / (q0^2 + q1^2 + q2^2 + q3^2)"
#define EXX "(q0^2 + q1^2 - q2^2 - q3^2)"
#define EXY "(2*(q1*q2 + q0*q3))"
#define EXZ "(2*(q1*q3 - q0*q2))"
#define EYX "(2*(q1*q2 - q0*q3))"
#define EYY "(q0^2 - q1^2 + q2^2 - q3^2)"
#define EYZ "(2*(q2*q3 + q0*q1))"
#define EZX "(2*(q1*q3 + q0*q2))"
#define EZY "(2*(q2*q3 - q0*q1))"
#define EZZ "(q0^2 - q1^2 - q2^2 + q3^2)"
#define ZX "((" EXX "*Z0 + " EYX "*Z1 + " EZX "*Z2)" LENGTH ")"
#define ZY "((" EXY "*Z0 + " EYY "*Z1 + " EZY "*Z2)" LENGTH ")"
#define ZZ "((" EXZ "*Z0 + " EYZ "*Z1 + " EZZ "*Z2)" LENGTH ")"
static const char *const shown_texts[N_SHAPES][N_SHOWN] = {
    [SHAPE_RIGID]  = {"x", "y", "z", "vx", "vy", "vz", "q0", "q1", "q2", "q3", "wz", EZX LENGTH, EZY LENGTH, EZZ LENGTH,
                      "(wy*" EXX " - wx*" EYX ")" LENGTH, "(wy*" EXY " - wx*" EYY ")" LENGTH,
                      "(wy*" EXZ " - wx*" EYZ ")" LENGTH, "0", "0"},
    [SHAPE_PORT]   = {"x", "y", "z", "vx", "vy", "vz", "q0*C0 - q1*C1 - q2*C2 - q3*C3", "q0*C1 + q1*C0 + q2*C3 - q3*C2",
                      "q0*C2 - q1*C3 + q2*C0 + q3*C1", "q0*C3 + q1*C2 - q2*C1 + q3*C0", "wx*" ZX " + wy*" ZY " + wz*" ZZ,
                      ZX, ZY, ZZ, "wy*" ZZ " - wz*" ZY, "wz*" ZX " - wx*" ZZ, "wx*" ZY " - wy*" ZX, "0", "0"},
    [SHAPE_PLANAR] = {"x", "y", "O2", "vx", "vy", "0", "C0*cos(angle/2) - C3*sin(angle/2)",
                      "C1*cos(angle/2) - C2*sin(angle/2)", "C2*cos(angle/2) + C1*sin(angle/2)",
                      "C3*cos(angle/2) + C0*sin(angle/2)", "Z2*omega", "Z0*cos(angle) - Z1*sin(angle)",
                      "Z0*sin(angle) + Z1*cos(angle)", "Z2", "-omega*(Z0*sin(angle) + Z1*cos(angle))",
                      "omega*(Z0*cos(angle) - Z1*sin(angle))", "0", "angle", "omega"},
    [SHAPE_POINT] = {"x + O0", "y + O1", "z + O2", "vx", "vy", "vz", "C0", "C1", "C2", "C3", "0", "Z0", "Z1", "Z2", "0",
                     "0", "0", "0", "0"},
    [SHAPE_LINE]  = {"x + O0", "O1", "O2", "v", "0", "0", "C0", "C1", "C2", "C3", "0", "Z0", "Z1", "Z2", "0", "0", "0",
                     "0", "0"},
};

/* One side of the joint. */
typedef struct end {
  const yoke_model      *model;
  int                    frame;
  yoke_variable_numberer number;
  void                  *user;
} end;

static bool is_bare(const yoke_frame *frame) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  return vec3_norm(frame->origin) == 0.0 && memcmp(frame->axes, identity, sizeof identity) == 0;
}

/* State of the body, or of the frame where that differs. The angle is that of the body: a frame may have its axis z in the plane. */
static int number_of(const end *e, yoke_variable v, bool of_body) {
  const yoke_frame *frame = &e->model->frames[e->frame];
  v.body                  = frame->body;
  v.mass                  = frame->mass;
  if (!of_body && !is_bare(frame) && !is_port(e->model, frame->body)) {
    v.kind   = YOKE_VARIABLE_FRAME;
    v.object = e->frame;
  }
  return e->number(e->user, &v);
}

static bool find_constant(const end *e, const char *name, double *value) {
  const yoke_frame *frame = &e->model->frames[e->frame];
  const int         k     = name[1] - '0';
  double            C[4];
  quaternion_of_rotation(C, frame->axes);
  switch (name[0]) {
  case 'C': *value = C[k]; return true;
  case 'Z': *value = frame->axes[3 * k + 2]; return true;
  case 'O': *value = frame->origin[k]; return true;
  default: return false;
  }
}

static yoke_symbol_kind look_up_state(void *user, const char *name, double *value, int *variable) {
  const end       *e    = user;
  const yoke_body *body = &e->model->bodies[e->model->frames[e->frame].body];
  yoke_variable    v    = {.kind = YOKE_VARIABLE_STATE};
  if (find_constant(e, name, value)) return YOKE_SYMBOL_CONSTANT;
  if (body->kind != YOKE_BODY_CHAIN && !yoke_body_component_find(body, name, &v)) return YOKE_SYMBOL_UNKNOWN;
  if (body->kind == YOKE_BODY_CHAIN) v.is_velocity = name[0] == 'v';
  *variable = number_of(
      e, v, name[0] == 'a' || name[0] == 'o' || shape_of(e->model, e->model->frames[e->frame].body) >= SHAPE_POINT);
  return *variable > 0 ? YOKE_SYMBOL_VARIABLE : YOKE_SYMBOL_UNKNOWN;
}

/* ---- the coordinate ---- */

static yoke_symbol_kind look_up_shown(void *user, const char *name, double *value, int *variable) {
  *value = *(const double *)user; /* offset */
  if (strcmp(name, "offset") == 0) return YOKE_SYMBOL_CONSTANT;
  for (int k = 0; k < N_SHOWN; ++k) {
    if (strcmp(name + 2, shown_names[k]) == 0) *variable = k + (name[0] == 'a' ? 0 : N_SHOWN);
  }
  return YOKE_SYMBOL_VARIABLE;
}

#define P0 "(a.q0*b.q0 + a.q1*b.q1 + a.q2*b.q2 + a.q3*b.q3)"
#define P1 "(a.q0*b.q1 - a.q1*b.q0 - a.q2*b.q3 + a.q3*b.q2)"
#define P2 "(a.q0*b.q2 + a.q1*b.q3 - a.q2*b.q0 - a.q3*b.q1)"
#define P3 "(a.q0*b.q3 - a.q1*b.q2 + a.q2*b.q1 - a.q3*b.q0)"
enum { IN_PLANE, IN_SPACE, ALONG, N_COORDINATES };
static const char *const texts[N_COORDINATES][2] = {
    [IN_PLANE] = {"b.angle - a.angle - offset", "b.omega - a.omega"},
    [IN_SPACE] = {"atan2(2*(" P1 "*" P2 " + " P0 "*" P3 "), " P0 "^2 + " P1 "^2 - " P2 "^2 - " P3 "^2)", "b.wz - a.wz"},
    [ALONG]    = {"(b.x - a.x)*a.ezx + (b.y - a.y)*a.ezy + (b.z - a.z)*a.ezz - offset",
                  "(b.vx - a.vx)*a.ezx + (b.vy - a.vy)*a.ezy + (b.vz - a.vz)*a.ezz + (b.x - a.x)*a.dzx + "
                     "(b.y - a.y)*a.dzy + (b.z - a.z)*a.dzz"},
};

static yoke_status compile(const char *text, const yoke_symbols *symbols, yoke_expression **out) {
  char message[200]; /* the texts are right, so it is memory that is missing */
  return yoke_expression_compile(text, symbols, message, sizeof message, out) == YOKE_OK ? YOKE_OK : YOKE_E_MEMORY;
}

static yoke_status compile_shown(const end *e, int k, yoke_expression **out) {
  const yoke_frame  *frame   = &e->model->frames[e->frame];
  const yoke_symbols symbols = {.lookup = look_up_state, .user = (void *)(uintptr_t)e};
  return compile(shown_texts[shape_of(e->model, frame->body)][k], &symbols, out);
}

static yoke_status replace_shown(const end ends[2], const yoke_expression *outer, yoke_expression **out) {
  yoke_expression       *inner[2 * N_SHOWN] = {NULL};
  const yoke_expression *given[2 * N_SHOWN] = {NULL};
  yoke_status            status             = YOKE_OK;
  for (int i = 0; i < yoke_expression_n_variables(outer) && status == YOKE_OK; ++i) {
    const int k = yoke_expression_variables(outer)[i];
    status      = compile_shown(&ends[k / N_SHOWN], k % N_SHOWN, &inner[k]);
    given[k]    = inner[k];
  }
  if (status == YOKE_OK && yoke_expression_replace(outer, NULL, given, out) != YOKE_OK) status = YOKE_E_MEMORY;
  for (int k = 0; k < 2 * N_SHOWN; ++k) yoke_expression_destroy(&inner[k]);
  return status;
}

yoke_status yoke_joint_formula(const yoke_model *model, int connection, int coordinate, bool is_rate,
                               yoke_variable_numberer number, void *user, yoke_expression **out) {
  const yoke_connection *c       = &model->connections[connection];
  const end              ends[2] = {{model, c->frame[0], number, user}, {model, c->frame[1], number, user}};
  yoke_coordinate        row;
  yoke_expression       *outer = NULL;
  *out                         = NULL;
  yoke_joint_coordinate(model, c, coordinate, &row);
  const yoke_symbols symbols = {.lookup = look_up_shown, .user = &row.offset};
  const int kind = coordinate == YOKE_COORDINATE_DISTANCE ? ALONG : row.row.kind == YOKE_ROW_TURN ? IN_PLANE : IN_SPACE;
  yoke_status status = compile(texts[kind][is_rate], &symbols, &outer);
  if (status == YOKE_OK) status = replace_shown(ends, outer, out);
  yoke_expression_destroy(&outer);
  return status;
}
