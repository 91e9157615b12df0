/* Model: bodies, frames, connections and loads as the user wrote them, all expressions of parameters
 * evaluated, SI units. Constant once built; knows nothing of solvers or splits. `multibody.h` compiles
 * a model (or some of its bodies) into equations of motion.
 *
 * Every body is thought of as a body in space with six freedoms (three translations of its centre of
 * mass in the inertial frame, three rotations in the body frame) of which its kind keeps some:
 *   rigid 0..5, planar 0 1 5 (x, y, angle about z), particle 0 1 2, mass1d 0. Elements are written once,
 * for six freedoms. A chain is a row of mass1d with its own arrays; its masses can be connected too.
 * The points of a flexible body are bodies of these kinds too, with masses and inner forces in common. */
#ifndef YOKE_MODEL_MODEL_H
#define YOKE_MODEL_MODEL_H

#include "base/memory.h"
#include "base/setting.h"
#include "frames/law.h"
#include "frames/port_shape.h"
#include "frames/rod_element.h"
#include <yoke/context.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
  YOKE_GROUND      = -1, /* body index of the ground */
  YOKE_FIRST_GHOST = -2  /* body index of ghost g is YOKE_FIRST_GHOST - g */
};

typedef enum yoke_body_kind {
  YOKE_BODY_RIGID,
  YOKE_BODY_PLANAR,
  YOKE_BODY_PARTICLE,
  YOKE_BODY_MASS1D,
  YOKE_BODY_CHAIN
} yoke_body_kind;

/* A number that may differ from mass to mass of a chain: `each` is NULL (all equal `value`) or [n]. */
typedef struct yoke_per_mass {
  double  value;
  double *each;
} yoke_per_mass;

/* External forces on chain masses (any number per chain). */
typedef enum yoke_chain_load_kind {
  YOKE_CHAIN_HARMONIC, /* F sin(Omega t + phase)                                     amplitude, omega, phase        */
  YOKE_CHAIN_CONTACT,  /* A exp(B x), A < 0: wall at x = 0 acting in -x              amplitude = A, slope = B       */
  YOKE_CHAIN_IMPULSE,  /* F/2 (tanh((t-t_I)/delta) - tanh((t-t_I-width)/delta))      amplitude, time, width, rise   */
  YOKE_CHAIN_MODIFIED_SINE /* F sin(Omega t + phase)^exponent, exponent an odd integer   amplitude, omega, phase, power */
} yoke_chain_load_kind;

typedef struct yoke_chain_load {
  yoke_chain_load_kind kind;
  int                  mass; /* 0-based */
  double               amplitude, omega, phase, power, slope, time, width, rise;
} yoke_chain_load;

/* n masses in a row. Element i (0 .. n) joins mass i-1 and mass i; element 0 and n end at the ground
 * (make them zero for a free end):
 *   F_i = c dx + d dv + C sgn(dx) |dx|^ex + D sgn(dv) |dv|^ev,  dx = x_i - x_{i-1},
 *   m_i v_i' = -F_i + F_{i+1} + loads. */
typedef struct yoke_chain {
  int              n;
  yoke_per_mass    mass;                   /* [n]     kg */
  yoke_per_mass    x0, v0;                 /* [n]     m, m/s */
  yoke_per_mass    stiffness;              /* [n + 1] c [N/m] */
  yoke_per_mass    damping;                /* [n + 1] d [N s/m] */
  yoke_per_mass    stiffness_power;        /* [n + 1] C [N/m^ex] */
  yoke_per_mass    damping_power;          /* [n + 1] D [N (s/m)^ev] */
  double           exponent_x, exponent_v; /* ex, ev > 0; default 3 */
  bool             is_free[2]; /* element 0, element n is not there, whatever the arrays say: a free end, or a cut */
  int              n_loads;
  yoke_chain_load *loads; /* sorted by mass */
  int              halo
      [2]; /* so many masses at its beginning and at its end are copies: their owner counts their energy; an element belongs to the mass on its left */
} yoke_chain;

typedef struct yoke_body {
  char          *name;
  yoke_body_kind kind;
  double         mass;       /* kg */
  double         inertia[9]; /* about the centre of mass, body frame, row major [kg m^2]; planar: [8] is Izz */
  /* Initial guess: what the user gave, 0 otherwise. mass1d: position[0], velocity[0]. planar: angle in `angle`, rate in omega[2]. */
  double         position[3];                /* centre of mass [m] */
  double         orientation[4];             /* Euler parameters q0..q3, unit; rigid */
  double         angle;                      /* planar [rad] */
  double         velocity[3];                /* [m/s] */
  double         omega[3];                   /* body frame [rad/s] */
  bool           fix_position, fix_velocity; /* the user wants these kept exactly by the assembly (`keep: true`) */
  yoke_chain    *chain;                      /* YOKE_BODY_CHAIN only */
  bool           is_copy;                    /* another subsystem owns the body and counts its energy */
  int            flexible;     /* it is a point of flexible body number `flexible` - 1; 0: a body of its own */
  bool           is_direction; /* its position is a direction and no place (slopes of cables) */
} yoke_body;

/* Symmetric matrix by rows, all entries: those of row i are start[i] ... start[i + 1] - 1. */
typedef struct yoke_symmetric {
  int    *start; /* [n + 1] */
  int    *column;
  double *value;
} yoke_symmetric;

/* M v' = T^T (load - K d) - D v in the freedoms of its points, one after the other. The displacement d of a freedom is q - rest; those of the
 * rotations of a rigid point are twice the vector part of its Euler parameters, small rotations, and T = dd'/dv is 1 for all others. */
typedef struct yoke_linear_body {
  yoke_symmetric mass, damping, stiffness;
  double        *rest, *load; /* [n] */
  int           *place;       /* [n] of the freedom in the q of the body */
  int            n_turns;
  int           *turn; /* [n_turns] first of three rotations of a rigid point */
} yoke_linear_body;

/* Cable of equal elements (cable.h): points are r and r_x of each node in turn, both with three freedoms. */
typedef struct yoke_cable {
  int    n_elements;
  double element_length;     /* [m] */
  double mass_per_length;    /* rho A [kg/m] */
  double axial_stiffness;    /* E A [N] */
  double bending_stiffness;  /* E I [N m^2] */
  double damping;            /* of all motion, f = -damping M v [1/s] */
  double axial_damping;      /* time constant of stretching, N = E A (e + axial_damping e') [s] */
  int    n_axial, n_bending; /* Gauss points */
} yoke_cable;

/* Flexible body: points, which are bodies of the model and stand side by side in its list, with one mass matrix and forces between all of them. */
typedef struct yoke_flexible {
  char             *name;
  int               first_body, n_bodies, n; /* n freedoms */
  yoke_linear_body *linear;                  /* NULL: */
  yoke_cable       *cable;
} yoke_flexible;

/* A frame (marker) on a body or on the ground: origin and axes in the body frame. */
typedef struct yoke_frame {
  char  *name;      /* "upper.tip"; a body's own frame is "upper" */
  int    body;      /* index or YOKE_GROUND */
  int    mass;      /* chain bodies: which mass, 0-based; else 0 */
  double origin[3]; /* from the centre of mass [m] */
  double axes[9];   /* columns are the frame's unit vectors, row major */
} yoke_frame;

typedef enum yoke_connection_kind {
  /* Joints: rows from atpoint (3), inplane (1), perpendicular (1). Frame axis conventions: revolute,
   * cylindrical, translational, planar (normal), inline: the z axis of frame 1 / frame 2.
   * universal: z of frame 1 perpendicular to z of frame 2. */
  YOKE_CONNECTION_ATPOINT, /* = spherical */
  YOKE_CONNECTION_INPLANE,
  YOKE_CONNECTION_PERPENDICULAR,
  YOKE_CONNECTION_SPHERICAL,
  YOKE_CONNECTION_REVOLUTE,
  YOKE_CONNECTION_UNIVERSAL,
  YOKE_CONNECTION_CYLINDRICAL,
  YOKE_CONNECTION_TRANSLATIONAL,
  YOKE_CONNECTION_PLANAR,
  YOKE_CONNECTION_INLINE,
  YOKE_CONNECTION_ORIENTATION,
  YOKE_CONNECTION_FIXED,
  YOKE_CONNECTION_DISTANCE,
  /* Force elements */
  YOKE_CONNECTION_SPRING_DAMPER,  /* along the line of the two origins; between 1-D masses along x, signed */
  YOKE_CONNECTION_TORSION_SPRING, /* relative angle about z (of frame 1); planar: angle2 - angle1 */
  YOKE_CONNECTION_BUSHING,        /* three translations, three rotations, in the axes of frame 1 */
  YOKE_CONNECTION_TANGENT,        /* a joint: frame 1, which is a direction, along z of frame 2 */
  YOKE_CONNECTION_ROD_ELEMENT     /* between neighbouring nodes of a rod; of rods only (rod.h) */
} yoke_connection_kind;

typedef struct yoke_connection {
  char                *name;
  yoke_connection_kind kind;
  int                  frame[2]; /* side 1 takes +lambda */
  /* Joints */
  bool                 flexible; /* lambda = -C s - D s' instead of s = 0 */
  double   stiffness[6]; /* flexible joint rows in order (atpoint x y z, then the others), bushing x y z rx ry rz */
  double   damping[6];
  double   length;     /* distance; spring free length [m] or torsion free angle [rad] */
  bool     has_length; /* false: take it from the initial guess */
  yoke_law law;        /* spring-damper, torsion spring */
  yoke_expression
      *formula; /* instead of the law: a force that reads the model, an expression of its variables. NULL: none */
  /* Prescribed joint coordinate: revolute and cylindrical (angle about z of frame 1), translational (distance along z):
   * coordinate = motion(t), variable 0 is t. NULL: free. */
  yoke_expression  *motion;
  double            initial; /* starting joint coordinate given by the user ... */
  double            initial_rate;
  bool              has_initial, has_initial_rate; /* ... used by the assembly */
  /* Of a submodel only, at a ghost: multipliers are those of carried rows of end `carrier`, 1 or 2 (joint_rows.h); 0: of its own rows. */
  int               carrier;
  bool              is_copy; /* of a submodel only: another subsystem counts its energy */
  yoke_rod_element *rod;     /* YOKE_CONNECTION_ROD_ELEMENT only */
} yoke_connection;

/* A rod: rigid bodies in a row, its nodes, with an element between neighbours (rod.h). */
typedef struct yoke_rod {
  char *name;
  int   first_body, n_bodies;
  int   first_element; /* connection; there are n_bodies - 1 */
} yoke_rod;

/* Variables of expressions of loads, events and formulas of force elements: number 0 is t, number k > 0 is `variables[k - 1]`, a function of (q, v),
 * of the inputs u, or of all forces. */
typedef enum yoke_variable_kind {
  YOKE_VARIABLE_STATE,      /* component of q or v of a body */
  YOKE_VARIABLE_FRAME,      /* of a frame of this body, named as those of its body's kind */
  YOKE_VARIABLE_JOINT,      /* coordinate of a joint, or its rate */
  YOKE_VARIABLE_DEFLECTION, /* of a force element, or its rate: x and v of its own formula */
  YOKE_VARIABLE_INPUT,      /* number `object` of the model's inputs */
  YOKE_VARIABLE_FOREIGN,    /* output number `component` of foreign subsystem `object` */
  YOKE_VARIABLE_SIGNAL,     /* of a submodel only: input number `object` of the subsystem, whatever it stands for */
  /* Felt: they follow from all forces at (t, q, v, u). */
  YOKE_VARIABLE_ACCELERATION,       /* component of v' of a body */
  YOKE_VARIABLE_FRAME_ACCELERATION, /* of a frame of this body */
  YOKE_VARIABLE_FORCE               /* row `component` of a joint or of a force element, as it is shown */
} yoke_variable_kind;

/* A state's place within the body's share of q or v is mass + component: `component` is 0 for chains, `mass` is 0 for all others. */
typedef struct yoke_variable {
  yoke_variable_kind kind;
  int                object;      /* frame, or connection */
  int                body;        /* joints: of an end that is not the ground */
  int                mass;        /* chains: which mass, 0-based */
  bool               is_velocity; /* component of v, else of q */
  int                component; /* index within the body's q (rigid: x y z q0..q3) or v (rigid: vx vy vz wx wy wz); joints: which coordinate */
} yoke_variable;

typedef enum yoke_load_kind {
  YOKE_LOAD_FORCE,  /* value[k] along inertial (or `follower`: frame) axes at the frame's origin */
  YOKE_LOAD_TORQUE, /* the same for a moment */
  YOKE_LOAD_DRAG,   /* -linear v - quadratic |v| v on the velocity of the frame's origin, -rotational omega */
  YOKE_LOAD_CONTACT /* A exp(B s) along `direction`, s = position of the frame along it; safe against overflow */
} yoke_load_kind;

/* harmonic, impulse, modified-sine and constant loads of the file become an expression of t in value[]. */
typedef struct yoke_load {
  char            *name;
  yoke_load_kind   kind;
  int              frame;
  bool             follower;
  yoke_expression *value[3]; /* NULL: zero */
  double           drag_linear, drag_quadratic, drag_rotational;
  double           amplitude, slope; /* contact A [N], B [1/m] */
  double           direction[3];     /* contact, unit */
  bool             is_copy;          /* on the copy of a mass: the load on its original counts the work */
} yoke_load;

typedef enum yoke_event_action { YOKE_EVENT_RECORD, YOKE_EVENT_STOP, YOKE_EVENT_SET } yoke_event_action;

/* Zero crossing of `when` (a smooth expression of t and states). */
typedef struct yoke_event {
  char             *name;
  yoke_expression  *when;
  int               direction; /* +1 rising, -1 falling, 0 both */
  yoke_event_action action;
  int               n_set;    /* YOKE_EVENT_SET: variable[k] := value[k], all values read before any is written */
  int              *variable; /* numbers of variables, >= 1 */
  yoke_expression **value;
} yoke_event;

typedef struct yoke_solver_def { /* `solvers:`; also per subsystem, later */
  char   kind[24];               /* "auto", "radau5", ... */
  double rtol, atol;             /* 1e-8; atol 0: rtol / 100 */
  double length,
      time;    /* of a small model whose atol is not given: it is that of positions, others follow; 0: one for all */
  double step; /* fixed micro step [s]; 0: error control */
  double max_step;                        /* 0: no limit */
  int    max_order;                       /* bdf, abm; 0: the integrator's own */
  char   linear[12];                      /* "klu", "dense", "banded" */
  char   constraints[16];                 /* "ggl", "baumgarte", "projection" */
  double baumgarte_alpha, baumgarte_beta; /* [1/s]: g'' + 2 alpha g' + beta^2 g = 0 */
  double rho_inf;                         /* genalpha */
} yoke_solver_def;

typedef struct yoke_output_def {
  char  *file; /* NULL: none */
  char  *csv;
  double every; /* [s]; 0: every accepted step */
  int    n_select;
  char **select; /* patterns with * and ?; none: all */
  int    n_integrals;
  char **integrals; /* names of positions whose time integral is also wanted */
} yoke_output_def;

/* An output that the user wrote as an expression: number 0 is t, number k > 0 the value of `references[k - 1]`. */
typedef struct yoke_user_output {
  char            *name, *unit, *description; /* unit, description: "" where none is given */
  char            *where;                     /* "m.yaml:7:3: key 'outputs.speed'", for messages */
  yoke_expression *value;
  int              depth; /* 0: it reads no other one; else one more than the deepest that it reads */
} yoke_user_output;

/* An output that expressions of outputs read. */
typedef struct yoke_output_reference {
  char *name; /* "upper.tip.x" */
  int   user; /* it is this user output; -1: one of the model's own */
} yoke_output_reference;

/* A number that may be set from outside while the model runs (`inputs:`). */
typedef struct yoke_model_input {
  char  *name, *unit, *description; /* unit, description: "" where none is given */
  double value;                     /* until it is set */
} yoke_model_input;

/* Foreign subsystem (`subsystems:`): no part of the mechanics but code of its own, whose kind and type are found when a run is planned. What it
 * takes and shows is written in the model, so that a model can be read and checked without it. */
typedef struct yoke_foreign_argument {
  char  *name;
  char  *text; /* NULL: a number */
  double value;
} yoke_foreign_argument;

/* A mechanical port. In the model a body stands in for it, free in the freedoms of the shape: "pump.flange" is body and frame. */
typedef struct yoke_foreign_port {
  char                  *name;
  const yoke_port_shape *shape;
  int                    body;
} yoke_foreign_port;

/* A signal input: an expression of outputs; number 0 is t, number k > 0 the value of `references[k - 1]` of the model. */
typedef struct yoke_foreign_input {
  char            *name;
  char            *where; /* "m.yaml:7:3: key 'subsystems.pump.inputs.flow'", for messages */
  yoke_expression *value;
} yoke_foreign_input;

typedef struct yoke_foreign_output {
  char *name, *unit; /* unit "" where none is given */
} yoke_foreign_output;

typedef struct yoke_foreign {
  char                  *name, *kind, *type; /* "pump", "user", "gear-pump" */
  char                  *where;              /* for messages */
  int                    part;               /* of the model's parts, which holds the bodies of its ports only */
  int                    n_arguments, n_ports, n_inputs, n_outputs;
  yoke_foreign_argument *arguments;
  yoke_foreign_port     *ports;
  yoke_foreign_input    *inputs;
  yoke_foreign_output   *outputs;
} yoke_foreign;

/* Ghost: a frame of another subsystem whose motion comes in by inputs (port.h). It has no mass and no freedom of its own;
 * connections may end at it. Made by the split of a model, never by a model file. */
typedef struct yoke_ghost {
  char                  *name;
  const yoke_port_shape *shape;
  /* Motion until inputs are given: that of the other frame in the assembled model. */
  double                 p[YOKE_PORT_MAX_P], v[YOKE_PORT_MAX_V];
} yoke_ghost;

typedef struct yoke_split_part { /* kept for the split of a model into subsystems */
  char           *name;
  int             n_bodies;
  int            *bodies;
  /* Besides whole bodies a part may hold a piece of one chain: n_masses > 0 masses of body `chain` from first_mass (0-based). */
  int             chain, first_mass, n_masses;
  bool            has_solver; /* `solvers:` names this part */
  yoke_solver_def solver;
  yoke_settings   given;      /* below its name in `cosimulation.subsystems` */
  bool            is_foreign; /* it is foreign subsystem `foreign` */
  int             foreign;
} yoke_split_part;

/* Settings of couplings by name. */
typedef struct yoke_coupling_choice {
  char         *name; /* connection, chain that is cut, or one cut "c.cut[1]" */
  yoke_settings given;
} yoke_coupling_choice;

/* `cosimulation:` as it was given; the modules that read it know what the rest is (docs/model-file.md). */
typedef struct yoke_cosimulation_def {
  bool                  has_step;  /* the macro step is given; else it is controlled */
  double                step;      /* [s] */
  yoke_settings         given;     /* below `cosimulation`; of a head (model_ferry.h) nothing */
  yoke_settings         couplings; /* below `couplings`, for all */
  int                   n_own;
  yoke_coupling_choice *own;         /* [n_own] of named ones; the last that fits wins */
  bool                  is_lockstep; /* of a head: what `given` says where it comes from */
} yoke_cosimulation_def;

/* The lists (bodies, frames, ... parts, ghosts), the name and the texts of settings come from malloc, since they grow while a model
 * is read; everything that they point to is in the arena but expressions, which are owned (and may have other owners, too). */
typedef struct yoke_model {
  yoke_arena             arena;
  atomic_int             n_shares; /* owners beside the first */
  struct yoke_model     *like;     /* all but its variables belongs to this model; NULL: to itself */
  char                  *name;
  char                  *text; /* the whole source (all includes, overrides), stored in results */
  int                    n_files;
  char                 **files; /* [n_files] paths it was read from, the including one first; none: a text */
  double                 gravity[3];
  double                 t_start, t_end;
  bool                   assemble; /* bodies may be moved far to close the joints */
  int                    n_bodies, n_frames, n_connections, n_loads, n_events, n_variables, n_parts, n_ghosts;
  int                    n_user_outputs, n_references, n_inputs, n_foreigns, n_rods, n_flexibles;
  yoke_body             *bodies;
  yoke_flexible         *flexibles;
  yoke_frame            *frames;
  yoke_connection       *connections;
  yoke_load             *loads;
  yoke_event            *events;
  yoke_variable         *variables;
  yoke_split_part       *parts;
  yoke_ghost            *ghosts;
  yoke_user_output      *user_outputs;
  yoke_output_reference *references;
  yoke_model_input      *inputs;
  yoke_foreign          *foreigns;
  yoke_rod              *rods;
  yoke_solver_def        solver;
  yoke_output_def        output;
  int                    energy; /* -1 default, 0 off, 1 monitor */
  yoke_cosimulation_def  cosimulation;
} yoke_model;

/* One more owner of the same model, which never changes. Every owner destroys it, the last one frees it. */
const yoke_model *yoke_model_retain(const yoke_model *model);
YOKE_API void     yoke_model_destroy(yoke_model **model);
/* The same model, one more owner of it, with other variables [n_variables], which are copied. Gives. NULL: no memory. */
yoke_model       *yoke_model_reading(const yoke_model *model, const yoke_variable *variables);

/* Bodies that are none of the model's own: the last ones stand in for ports of foreign subsystems. */
int yoke_model_n_port_bodies(const yoke_model *model);

/* The rod that a body is a node of; NULL: none. */
const yoke_rod *yoke_model_rod_of(const yoke_model *model, int body);

/* Index of the body or connection with this name, or -1 (ground is YOKE_GROUND = -1 as well). */
int yoke_model_find_body(const yoke_model *model, const char *name);
int yoke_model_find_connection(const yoke_model *model, const char *name);

/* Sizes of a body's share of q and v: rigid 7 and 6, planar 3 3, particle 3 3, mass1d 1 1, chain n n. */
int yoke_body_nq(const yoke_body *body);
int yoke_body_nv(const yoke_body *body);

/* What a port on a body of this kind shows and feels; of the ground: as on a rigid body. */
const yoke_port_shape *yoke_body_shape(yoke_body_kind kind);

/* Output name of component i of q or v of a body ("x", "q0", "omega"; chain "x[3]", counted from 1), and back.
 * false: no such name, or `name` is too small. `out->body` is left to the caller. */
bool yoke_body_component_name(const yoke_body *body, bool is_velocity, int i, char *name, size_t size);
bool yoke_body_component_find(const yoke_body *body, const char *name, yoke_variable *out);
/* The same for an acceleration: mass and component of `out`. */
bool yoke_body_acceleration_find(const yoke_body *body, const char *name, yoke_variable *out);

/* Is it a number from outside the mechanics: an input, or an output of a foreign subsystem? */
bool yoke_variable_is_signal(const yoke_variable *variable);
/* Does it belong to a connection, or to a frame (`object`)? */
bool yoke_variable_is_between(const yoke_variable *variable);
bool yoke_variable_is_of_frame(const yoke_variable *variable);
/* Does it follow from the forces: an acceleration or a force? */
bool yoke_variable_is_felt(const yoke_variable *variable);
/* Does the expression read such a variable of the model? NULL: no. */
bool yoke_model_feels(const yoke_model *model, const yoke_expression *expression);
/* Bodies and masses that a variable belongs to, the ground left out: how many, 1 or 2; signals: 0. Its name, "upper.tip.x". */
int  yoke_variable_bodies(const yoke_model *model, const yoke_variable *variable, int body[2], int mass[2]);
void yoke_variable_name(const yoke_model *model, const yoke_variable *variable, char *name, size_t size);

/* The position that output.integrals[k] names, or why there is none. */
yoke_status yoke_model_integral(yoke_context *ctx, const yoke_model *model, int k, yoke_variable *out);

/* Names and their values in the model file, for the parser, for help and for messages. */
const char *yoke_body_kind_name(yoke_body_kind kind);             /* "mass1d" */
const char *yoke_connection_kind_name(yoke_connection_kind kind); /* "spring-damper" */
bool        yoke_connection_is_joint(yoke_connection_kind kind);
/* Rows of forces that a connection shows; its kind decides. */
int         yoke_connection_n_rows(const yoke_connection *connection);
/* Row 0, 1, ... of "force[1]", "force[2]", ... of a connection; -1: it is no such name. */
int         yoke_connection_force_find(const yoke_connection *connection, const char *name);

#endif
