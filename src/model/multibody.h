/* Multibody: a model compiled into equations of motion (equations.h), elements sorted by kind.
 * Constant after creation. A model that is nothing but one chain gets the chain's own equations (chain_kernel.h). */
#ifndef YOKE_MODEL_MULTIBODY_H
#define YOKE_MODEL_MULTIBODY_H

#include "model/equations.h"
#include "model/model.h"
#include "model/quantities.h"
#include "frames/port.h"

/* Rows of a connection in its own order: a joint holds at most six freedoms, and its prescribed motion is one more. */
enum { YOKE_CONNECTION_MAX_ROWS = 7 };

/* An input: */
typedef enum yoke_input_kind {
  YOKE_INPUT_FORCE, /* force (freedom 0..2: x y z) or moment (3..5) on a frame's body, at the frame's origin, inertial axes */
  YOKE_INPUT_GHOST_P, /* component of p of a ghost (port.h) */
  YOKE_INPUT_GHOST_V, /* component of v of a ghost */
  YOKE_INPUT_LAMBDA, /* multiplier of row `component` (the joint's own order) of joint `frame` (index of a connection) that ends at a ghost: its
                       * force lambda grad acts on the real side; the joint is then no constraint of this model, and its rows
                       * without such an input carry no force */
  YOKE_INPUT_MU, /* second multiplier of a row that also has LAMBDA: q' = T (v + mu grad) of the real side, in directions that
                       * the model's own constraints leave free */
  YOKE_INPUT_ROW_ACCELERATION, /* beta of row `component` of joint `frame` (connection) that ends at a ghost. The row is
                       * guided: met by accelerations alone,  grad . A (real side) + gamma + factor beta = 0,  and its
                       * multiplier mu (force mu grad on the real side) follows from the equations. gamma is the whole
                       * part of s'' without accelerations, so p and v of the ghost enter */
  YOKE_INPUT_ROW_ACCELERATION_BARE, /* the same without gamma, which the other side carries; A is then the acceleration of the joint's frame
                       * on the real side: its origin's, not that of the centre of mass */
  YOKE_INPUT_PRESCRIBED, /* as ROW_ACCELERATION; and equations made by prescribed.h keep the row on position and velocity
                       * level, s = s' = 0 with p and v of the ghost */
  YOKE_INPUT_IMAGE_P,    /* component of p of the image of port `frame` (port.h) */
  YOKE_INPUT_IMAGE_V,
  YOKE_INPUT_SIGNAL /* no mechanical meaning of its own: variables of expressions read it (YOKE_VARIABLE_SIGNAL) */
} yoke_input_kind;

typedef struct yoke_input {
  yoke_input_kind kind;
  int frame; /* FORCE: frame of the model; GHOST: index of the ghost; LAMBDA, MU, ROW, PRESCRIBED: connection; IMAGE: port */
  int    component; /* FORCE: freedom; GHOST: component of p or v; LAMBDA, MU, ROW, PRESCRIBED: row; SIGNAL: 1: held from outside, jumps when it is set */
  double factor;    /* FORCE, ROW, PRESCRIBED: the input is multiplied by it (+1 or -1) */
} yoke_input;

/* Extras that a port shows (port.h), and the joint at a ghost whose rows they belong to. */
typedef struct yoke_port_request {
  int      extras;     /* 0: none */
  int      connection; /* rigid joint between the body of the port and a ghost */
  unsigned rows; /* bit r: row r (the joint's own order) counts; 0: all that act. Rows with inputs decide before this */
} yoke_port_request;

typedef struct yoke_multibody_options {
  bool energy;      /* quadratures of dissipated and external work; work through inputs and ghosts is not among them */
  int  n_integrals; /* quadratures of components of q */
  const yoke_variable     *integrals;
  int                      n_ports;        /* frames whose motion yoke_multibody_port shows */
  const int               *port_frame;     /* [n_ports]; -1: it shows nothing */
  const yoke_port_request *port_request;   /* [n_ports]; NULL: no extras */
  bool                     port_integrals; /* quadratures of the ports' positions, before all other quadratures */
  int                      n_inputs;
  const yoke_input        *inputs;
  double                   alpha, beta; /* Baumgarte [1/s], used by derivative and by the INDEX1 form */
  const bool
      *left_out; /* [n_connections, YOKE_CONNECTION_MAX_ROWS] rows of joints that are no constraints; NULL: none */
  bool
      in_parts; /* evaluated side by side in two halves along the split of the model, where that is possible (multibody_parts.c) */
} yoke_multibody_options;

typedef struct yoke_multibody yoke_multibody;

/* Keeps `model`. `equations` is filled; yoke_equations_destroy releases the multibody. */
yoke_status yoke_multibody_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody_options *options,
                                  yoke_equations *equations, yoke_multibody **out);

/* Who helps to evaluate its parts; borrowed. False: it has none. */
bool yoke_multibody_help(yoke_multibody *mb, yoke_lockstep *helpers);

/* Outputs y of port k at (t, q, v, a) (port.h): p, v, accelerations, and the quadratures of its positions (0 without port_integrals). */
void yoke_multibody_port(const yoke_multibody *mb, void *work, int port, const double *q, const double *v,
                         const double *a, double *y);

/* A port on a line shows (origin + q[iq], v[iv], a[iv], q[i_integral]), the last one 0 where i_integral is -1. */
typedef struct yoke_line_port {
  int    iq, iv, i_integral;
  double origin;
} yoke_line_port;

static inline void yoke_line_port_show(const yoke_line_port *port, const double *q, const double *v, const double *a,
                                       double *y) {
  y[0] = port->origin + q[port->iq];
  y[1] = v[port->iv];
  y[2] = a[port->iv];
  y[3] = port->i_integral >= 0 ? q[port->i_integral] : 0.0;
}

/* Is port k on a line, and where are its outputs? For those who show many again and again. */
bool yoke_multibody_line_port(const yoke_multibody *mb, int port, yoke_line_port *out);

/* Tangent of the outputs y of port k, for n directions side by side: dq [nq, n], dv, da [nv, n], dlambda [ng + n_guided, n] (only reactions read
 * it) give dy [n_y, n], extras included. false: this port shows extras that have no tangent, and nothing is written. */
bool yoke_multibody_port_tangent(const yoke_multibody *mb, void *work, int port, const double *q, const double *v,
                                 const double *a, int n, const double *dq, const double *dv, const double *da,
                                 const double *dlambda, double *dy);
bool yoke_multibody_has_tangents(const yoke_multibody *mb); /* of all ports */
/* The same where nothing but accelerations and multipliers changes: dy is 0 but for accelerations and reactions, other extras too. */
void yoke_multibody_port_response(const yoke_multibody *mb, int port, const double *q, int n, const double *da,
                                  const double *dlambda, double *dy);

/* Extras of port k under the inputs u: how many, and their values. `lambda` [ng + n_guided] as derivative gave it. */
int         yoke_multibody_n_extras(const yoke_multibody *mb, int port);
yoke_status yoke_multibody_extras(const yoke_multibody *mb, void *work, int port, double t, const double *q,
                                  const double *u, const double *lambda, double *y);

/* The same for reactions alone, as a difference quotient: (now - old) / change of those of port k; other extras stay. */
void yoke_multibody_reaction(const yoke_multibody *mb, int port, const double *old, const double *now, double change,
                             double *y);

/* Do the model's own freedoms leave all guided rows free at (t, q)? Else the connection of the first one that they decide together with the rows
 * before it, its label and the real side of its joint; -1: all are free. */
int yoke_multibody_stuck_guide(const yoke_multibody *mb, void *work, double t, const double *q, char *label,
                               size_t size, int *side);

/* Impulses along n rows at ports, own joints honoured, at (t, q); n up to the rows of all joints at ghosts. W [n, n]: velocity along row i after a
 * unit impulse along row j. dv [nv]: velocities after impulses kappa [n]. */
yoke_status yoke_multibody_row_response(const yoke_multibody *mb, void *work, double t, const double *q, int n,
                                        const yoke_port_row *rows, double *W);
yoke_status yoke_multibody_row_push(const yoke_multibody *mb, void *work, double t, const double *q, int n,
                                    const yoke_port_row *rows, const double *kappa, double *dv);

/* Is there an input PRESCRIBED? Then q and v can be moved onto its rows and the model's own joints, with the least change in
 * the norm of the masses. YOKE_NOT_CONVERGED: no such position nearby. */
bool        yoke_multibody_is_prescribed(const yoke_multibody *mb);
yoke_status yoke_multibody_prescribe(const yoke_multibody *mb, void *work, double t, const double *u, double *q,
                                     double *v);
/* Is there a rod, a cable or a linear body, of whose many points this moves those with joints alone? */
bool        yoke_multibody_has_points(const yoke_multibody *mb);
/* Of every q and v: the number of the set that this moves together, -1: it is left alone. set [nq + nv]. -1: no memory; else how many sets. */
int         yoke_multibody_sets(const yoke_multibody *mb, int *set);

/* Does port k have an image (inputs IMAGE for all its components)? The body of port k is moved so that the port is at its
 * image, then all bodies onto the model's own joints. */
bool        yoke_multibody_has_image(const yoke_multibody *mb, int port);
yoke_status yoke_multibody_move_port(const yoke_multibody *mb, void *work, int port, double t, const double *u,
                                     double *q, double *v);

/* Where body b's share of q and v starts. */
int yoke_multibody_q_offset(const yoke_multibody *mb, int body);
int yoke_multibody_v_offset(const yoke_multibody *mb, int body);

/* Values [n_variables + 1] of the variables of the model's expressions at (t, q, v) under the inputs u (NULL: numbers of a whole model, 0 for
 * signals); where variable k >= 1 is in q or in v. */
void        yoke_multibody_variables(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                     const double *u, double *values);
/* Loads and laws that read accelerations and forces of joints: can what they read be found at (t, q, v)? Else words why not: who reads what. u NULL: not
 * known. */
yoke_status yoke_multibody_check_loop(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                      const double *u, char *text, size_t size);
/* Does one of them read the force of a joint that has several values at (t, q), because rows follow from others? Then words: "load 'brake' reads
 * 'hinge.force[1]'". */
bool        yoke_multibody_loop_is_vague(const yoke_multibody *mb, void *work, double t, const double *q, char *text,
                                         size_t size);
bool        yoke_multibody_events_feel(const yoke_multibody *mb); /* some event reads accelerations or forces */
int         yoke_multibody_variable_at(const yoke_multibody *mb, int k, bool *is_velocity);

/* Jumps of loads, laws and formulas (multibody_jumps.c), whose modes are in q: as long as none changes the equations are smooth. All free: as they are
 * written. */
typedef enum yoke_jump_mode {
  YOKE_JUMP_LOW  = -1,
  YOKE_JUMP_FREE = 0,
  YOKE_JUMP_HIGH = 1,
  YOKE_JUMP_BETWEEN, /* its switching function stays 0 */
  YOKE_JUMP_FOLLOWS /* the share of another that is between: its switching function stays where it is because that one's does */
} yoke_jump_mode;

/* What happens to a jump: it is where its switching function is 0, or it leaves that place. */
typedef enum yoke_jump_change {
  YOKE_JUMP_STAYS,
  YOKE_JUMP_AT_ZERO,
  YOKE_JUMP_GOES_LOW,
  YOKE_JUMP_GOES_HIGH
} yoke_jump_change;

int            yoke_multibody_n_jumps(const yoke_multibody *mb);
yoke_jump_mode yoke_multibody_jump_mode(const yoke_multibody *mb, const double *q, int k);
void           yoke_multibody_free_jumps(const yoke_multibody *mb, double *q);
/* value [n_jumps]: switching functions; of those that are between, the share of the high value. */
yoke_status    yoke_multibody_jumps(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                    const double *u, double *value);
/* By how much the switching function of jump k may be off where positions are known to atol + rtol |q| only; 0 where it reads velocities, too:
 * such a jump can hold the motion. */
double      yoke_multibody_jump_doubt(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                      const double *u, int k, double atol, double rtol);
/* New modes, which fit to each other, in q; v changes by what switching functions that shall stay 0 are off. *unable: a jump that would have to stay
 * where its switching function is 0, and cannot, because that reads signals, whose rates are not known, or too many do; -1: none. */
yoke_status yoke_multibody_settle(const yoke_multibody *mb, void *work, double t, double *q, double *v, const double *u,
                                  const yoke_jump_change *change, int *unable);
/* Jump k crosses zero again and again, ever faster, because what it drives comes to rest there: -5 sign(x) - 2 sign(v). *follows: from now on
 * one that holds the motion, in q and v; else q is as before and v is nothing. small [n_jumps]: jumps that have come to rest too. */
yoke_status yoke_multibody_follow(const yoke_multibody *mb, void *work, double t, double *q, double *v, const double *u,
                                  int k, const bool *small, bool *follows);
/* Jumps that are free take sides, where they can, those that are between leave where u asks for it. */
yoke_status yoke_multibody_begin_jumps(const yoke_multibody *mb, void *work, double t, double *q, double *v,
                                       const double *u);
/* Does jump k only make a kink? */
bool        yoke_multibody_is_kink(const yoke_multibody *mb, int k);
/* "load 'brake'" */
void        yoke_multibody_jump_name(const yoke_multibody *mb, int k, char *text, size_t size);
/* Length of the array of yoke_multibody_variables. */
int         yoke_multibody_n_variables(const yoke_multibody *mb);

/* Where integral k of the options, dissipated and external work are in q; -1: without `energy`. */
int  yoke_multibody_integral_at(const yoke_multibody *mb, int k);
int  yoke_multibody_dissipated_at(const yoke_multibody *mb);
int  yoke_multibody_external_at(const yoke_multibody *mb);
/* Are there dampers, drag or loads, whose powers (equations.h) need not be 0? */
bool yoke_multibody_has_powers(const yoke_multibody *mb);
/* Do these depend on inputs? */
bool yoke_multibody_powers_read_inputs(const yoke_multibody *mb);

/* q [nq] and v [nv] as the user wrote them (not yet consistent; quadratures 0). */
void yoke_multibody_initial_guess(const yoke_multibody *mb, double *q, double *v);

/* Constraint row r belongs to this connection; `label` is "knee: atpoint x". */
int  yoke_multibody_row_connection(const yoke_multibody *mb, int row);
int  yoke_multibody_row_own(const yoke_multibody *mb, int row); /* its place in the joint's own order */
void yoke_multibody_row_label(const yoke_multibody *mb, int row, char *label, size_t size);

/* Length of the model (model_length.h), and what counts as one of each freedom, [nv]: this length of translations, 1 rad of rotations. */
double yoke_multibody_length(const yoke_multibody *mb);
void   yoke_multibody_units(const yoke_multibody *mb, double *unit);
/* What a tolerance of positions [m] is multiplied with for every q and v, size [nq + nv]: 1/L for angles, Euler parameters and slopes, 1/(3 T) for velocities,
 * 1/(3 L T) for rates of the former: what rates are off by adds up, and a model of 1 m under its weight, T = 0.3 s, has about 1 for all. */
void   yoke_multibody_sizes(const yoke_multibody *mb, double length, double time, double *size);
/* Is the row a length [m]? Else an angle or a cosine. */
bool   yoke_multibody_row_is_length(const yoke_multibody *mb, int row);
/* Is the row a prescribed motion? */
bool   yoke_multibody_row_is_motion(const yoke_multibody *mb, int row);
/* Of the rows that the options leave out, the largest gap at q, in units (lengths of the model, rad); which connection's it is. */
double yoke_multibody_left_open(const yoke_multibody *mb, const double *q, int *connection);
/* May rows depend on each other? In a tree of bodies of one kind they do nowhere. */
bool   yoke_multibody_has_loops(const yoke_multibody *mb);

/* G = dg/d(tangent), [ng, nv]: pattern and values at (t, q). g' = G v + g_t. `work` of equations->work_size. */
const yoke_pattern *yoke_multibody_G_pattern(const yoke_multibody *mb);
void                yoke_multibody_G(const yoke_multibody *mb, void *work, double t, const double *q, double *values);

/* Rows that follow from the others wherever the mechanism goes: the implicit view sets their multipliers to 0 instead of
 * asking for them, since its matrix would be singular. To be called once, before the first step; replaces earlier rows. */
void yoke_multibody_retire(yoke_multibody *mb, int n, const int *rows);

/* Move q by a tangent vector: q := q (+) dv, e.g. rigid bodies p := normalise(p + E(p) dtheta / 2). */
void yoke_multibody_move(const yoke_multibody *mb, double *q, const double *dv);

/* y = M x, [nv]; x and y may be the same. */
void yoke_multibody_mass_apply(const yoke_multibody *mb, const double *x, double *y);
/* Inverse of the share of M that body b has: 1 / mass of its translations (chains: of mass `mass`), and J^-1 of its rotations, row major in its axes. */
void yoke_multibody_mobility(const yoke_multibody *mb, int body, int mass, double *inverse_mass, double J_inverse[9]);

/* What pushes a model that finds no rest (multibody_driver.c). */
typedef enum yoke_driver_kind {
  YOKE_DRIVER_NONE,
  YOKE_DRIVER_WEIGHT,
  YOKE_DRIVER_LOAD,
  YOKE_DRIVER_CONNECTION,
  YOKE_DRIVER_BODY /* forces inside of a chain or a linear body */
} yoke_driver_kind;

typedef struct yoke_driver {
  yoke_driver_kind kind;
  const char      *name; /* borrowed; of weight NULL */
} yoke_driver;

/* What does most work from rest at (t, q) along the tangent vector dv [nv]. `work` of equations->work_size. */
yoke_driver yoke_multibody_driver(const yoke_multibody *mb, void *work, double t, const double *q, const double *dv);

/* The first connection whose prescribed motion goes on at t, with its value and the first two derivatives; -1: none. */
int yoke_multibody_moving(const yoke_multibody *mb, double t, double motion[3]);

/* Joint coordinate of a revolute, cylindrical (angle about z, in (-pi, pi]) or translational (distance) connection, its rate, and
 * the row d(coordinate)/d(tangent): up to 12 entries (column of v, value). n entries are returned; 0: this joint has no coordinate. */
int yoke_multibody_joint_coordinate(const yoke_multibody *mb, void *work, int connection, const double *q,
                                    const double *v, double *coordinate, double *rate, int column[12],
                                    double value[12]);

/* Component k (named as those of its body's kind) of a frame of a body that has six, three or the freedoms of a point; `a` for accelerations. */
double yoke_multibody_frame(const yoke_multibody *mb, int frame, yoke_quantity_level level, int k, const double *q,
                            const double *v, const double *a);

/* Coordinate of a joint that has it (joint_coordinate.h), and its rate. */
double yoke_multibody_coordinate(const yoke_multibody *mb, int connection, int coordinate, const double *q,
                                 const double *v, double *rate);

/* Tangents of such quantities for n directions side by side (see yoke_multibody_port_tangent; dq and dv NULL: they do not change): dy [n]. */
void yoke_multibody_frame_tangent(const yoke_multibody *mb, int frame, yoke_quantity_level level, int k,
                                  const double *q, const double *v, const double *a, int n, const double *dq,
                                  const double *dv, const double *da, double *dy);
void yoke_multibody_coordinate_tangent(const yoke_multibody *mb, void *work, int connection, int coordinate,
                                       bool is_rate, const double *q, const double *v, int n, const double *dq,
                                       const double *dv, double *dy);

/* Is its force that of an element, which may have a formula? Else row r of its own order is multiplier number .; -1: it carries none. */
bool yoke_multibody_is_element(const yoke_multibody *mb, int connection);
int  yoke_multibody_multiplier_at(const yoke_multibody *mb, int connection, int r);
/* Changes at one instant, n directions side by side: input first + i has a unit in direction i, accelerations (which are a) and multipliers follow. */
typedef struct yoke_element_change {
  int           n, first;
  const double *a, *da, *dlambda; /* [nv], [nv, n], [ng + n_guided, n] */
} yoke_element_change;
/* Changes dy [n] of an element's force: those of its formula by signals, accelerations and forces of joints, 0 of all others. */
void yoke_multibody_element_response(const yoke_multibody *mb, void *work, int connection, double t, const double *q,
                                     const double *v, const double *u, const yoke_element_change *change, double *dy);

/* What a connection shows: joints lambda and g per row (in the joint's own row order, dropped rows are 0); force elements their force and deflection
 * (u: inputs that formulas read, as for variables). Returns n. */
int yoke_multibody_connection_output(const yoke_multibody *mb, void *work, int connection, double t, const double *q,
                                     const double *v, const double *u, const double *lambda,
                                     double force[YOKE_CONNECTION_MAX_ROWS], double g[YOKE_CONNECTION_MAX_ROWS]);

/* Bodies as the compiled equations place them, for animation and outputs: centre of mass r and rotation R (row major). */
void yoke_multibody_pose(const yoke_multibody *mb, const double *q, int body, double r[3], double R[9]);

#endif
