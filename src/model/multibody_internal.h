/* Inside of a compiled multibody, shared by multibody*.c.
 *
 * Bodies and connected chain masses are nodes with six freedoms; node 0 is the ground. Kernels work with six-vectors per
 * node in inertial axes: wrench (force, moment), acceleration (r'', R omega'). A freedom that a body's kind does not
 * keep has zero inverse mass, so the same arithmetic serves every pair of kinds; only reading q, v and writing
 * results knows the kind.
 *
 * Invariants:
 *   1. Everything in struct yoke_multibody is constant after creation.
 *   2. Rows of joint j are g0 ... g0 + n - 1; rows without effect on the kinds of its bodies are dropped.
 *   3. Sums over elements run in index order: same bits in every run.
 *   4. Ghosts are nodes without freedoms behind all others: n_nodes + g. Their motion is given by inputs, so they have no
 *      row, no column and no acceleration; a wrench on a ghost acts on the world outside.
 *   5. q is (states, integrals of ports, integrals of `options`, dissipated and external work, modes of jumps). */
#ifndef YOKE_MODEL_MULTIBODY_INTERNAL_H
#define YOKE_MODEL_MULTIBODY_INTERNAL_H

#include "linalg/band.h"
#include "linalg/block_ldl.h"
#include "base/memory.h"
#include "model/chain_kernel.h"
#include "model/flexible.h"
#include "frames/expression_jumps.h"
#include "frames/force_elements.h"
#include "frames/joint_rows.h"
#include "model/joint_coordinate.h"
#include "model/joint_kinds.h"
#include "model/force_element_compile.h"
#include "model/loads.h"
#include "model/multibody.h"

typedef struct mb_node {
  yoke_body_kind kind; /* chain masses: YOKE_BODY_CHAIN */
  int            iq, iv, nq, nv;
  int            freedom[6]; /* [nv] which of the six freedoms */
  double         mass;
  double         inertia[9], inverse_inertia[9]; /* body axes, zero where not kept */
  double         inverse_mass[3];                /* by axis, zero where not kept */
  bool           is_copy;                        /* another subsystem counts its energy */
  int flexible; /* 1 + which flexible body it is a point of, whose masses count instead of its own; 0: none */
  int at;       /* its first freedom there */
  int column;   /* its first column of X; -1: it has none */
} mb_node;

/* Flexible body (multibody_flexible.c): its nodes stand side by side. */
typedef struct mb_flexible {
  const yoke_flexible *given;
  int                  n, iq, iv, first_node, n_nodes;
  int                  stride; /* M is `band` times the unit matrix of so many rows */
  yoke_band            band;   /* factored */
  int                  n_columns, first_push;
  double              *local; /* [n_columns, 6] inverse of the own block of M of the node that a column belongs to */
  double              *X;     /* [n_columns, n] columns of M^-1 of nodes that joints, rows at ghosts and ports touch */
} mb_flexible;

typedef struct mb_joint {
  yoke_link              link;
  int                    connection;
  int                    n;  /* kept rows */
  int                    g0; /* first row of g */
  yoke_row               row[YOKE_CONNECTION_MAX_ROWS];
  int                    own[YOKE_CONNECTION_MAX_ROWS];    /* place of a kept row in the joint's own order */
  double                 offset[YOKE_CONNECTION_MAX_ROWS]; /* s = value - offset */
  const yoke_expression *motion;                           /* of the last row; NULL: none */
} mb_joint;

/* A row of a joint that is no constraint (yoke_multibody_options): its gap is shown, and nothing more. */
typedef struct mb_left_out {
  yoke_link link;
  yoke_row  row;
  int       connection, own; /* its place in the joint's own order */
  double    offset;
} mb_left_out;

/* Joints a and b share a body: S_ab += grad_a(side_a) M^-1 grad_b(side_b)^T at values[at], rows of a. */
typedef struct mb_coupling {
  int    a, b, side_a, side_b;
  size_t at;
  ptrdiff_t
      cross; /* where M^-1 grad_b^T is in w->cross: at different nodes of a flexible body; -1: the node is the same, it is in Y */
} mb_coupling;

typedef struct mb_chain {
  yoke_chain_kernel *kernel;
  int                n, iq, iv;
  int                first_node, n_nodes; /* nodes that are masses of this chain */
} mb_chain;

/* A force or moment. Inputs that move ghosts or are multipliers have node -1 and are read through mb_ghost and
 * mb_driven. */
typedef struct mb_input {
  int    node, freedom;
  double origin[3];
  double factor;
} mb_input;

/* A rigid joint that ends at a ghost and whose multipliers are inputs: lambda grad acts on the real side; it has no row
 * of g. */
typedef struct mb_driven {
  yoke_link link;
  int       connection;
  int       side; /* of the real body */
  int       n;
  yoke_row  row[6];
  int       input[6]; /* which input is its multiplier */
  int       mu[6];    /* which input moves the body along the row, -1: none */
} mb_driven;

/* What joints[n_joints + k] has beside its rows when it is guided (equations.h): it ends at a ghost, its rows are behind
 * those of g and its multipliers behind lambda. */
typedef struct mb_guided {
  int    side;      /* of the real body */
  bool   has_gamma; /* its rows carry gamma */
  bool   is_prescribed;
  int    input[6]; /* which input is beta of the row */
  double factor[6];
} mb_guided;

/* Motion of a ghost (port.h): component k is input number from_p[k], or p[k] where that is -1; likewise v. */
typedef struct mb_ghost {
  const yoke_port_shape *shape;
  double                 p[YOKE_PORT_MAX_P], v[YOKE_PORT_MAX_V];
  int                    from_p[YOKE_PORT_MAX_P], from_v[YOKE_PORT_MAX_V];
} mb_ghost;

/* A frame whose motion is shown. One-dimensional masses are read at iq and iv, without a node. What the outputs of every step read fills its first cache
 * line. */
typedef struct mb_port {
  _Alignas(64) yoke_body_kind kind;
  int                    node;
  const yoke_port_shape *shape;
  int                    iq, iv;
  int                    i_integral;     /* first of its quadratures in q, -1: none */
  int                    extras;         /* port.h */
  double                 origin[3];      /* body axes */
  double                 angle;          /* planar: of the frame's x axis in body axes */
  double                 orientation[4]; /* rigid: Euler parameters of the frame's axes in body axes */
  int                    image_p[YOKE_PORT_MAX_P], image_v[YOKE_PORT_MAX_V]; /* inputs that are its image; -1: none */
  int driven, guided; /* the joint whose rows its extras belong to is driven[.] or joints[n_joints + .]; -1 */
} mb_port;

/* Where variable k > 0 of expressions is found. */
typedef struct mb_variable {
  int  index; /* in q or v */
  bool is_velocity;
  int  quantity; /* one of `quantities` instead; -1: the component itself, or */
  int  signal;   /* one of `signals`; -1: no */
  int  felt;     /* one of `felt`; -1: no */
  bool is_held;  /* it is what a jump gives */
} mb_variable;

/* A variable that does not depend on the state. */
typedef struct mb_signal {
  int    number; /* of the variable */
  int    input;  /* it is this one of u; -1: none of them */
  double value;  /* without inputs */
} mb_signal;

/* A frame of a body that is shown or read. */
typedef struct mb_frame {
  int            node;
  yoke_body_kind kind;
  double         origin[3], axes[9]; /* body axes */
  double         orientation[4];     /* Euler parameters of the axes */
  double         angle;              /* of the x axis in the plane */
} mb_frame;

/* A variable that is a function of several components: of a frame, or of two (joint, deflection of a force element). */
typedef struct mb_quantity {
  int             number; /* of the variable */
  bool            is_between, is_velocity;
  int             component;
  mb_frame        frame;
  yoke_coordinate coordinate; /* between nodes */
} mb_quantity;

/* A variable that follows from the forces: an acceleration, a multiplier, or the force of an element. */
typedef struct mb_felt {
  int      number;     /* of the variable */
  int      connection; /* -1: an acceleration */
  bool     is_element;
  int      index;      /* of a, or of lambda; -1: of a frame, or a row without effect, which is 0 */
  int      component;  /* of the frame or the connection */
  bool     is_in_loop; /* a load or a law reads it */
  mb_frame frame;
} mb_felt;

/* A force element whose force is an expression of variables (multibody_formulas.c): -F grad of its only row. */
typedef struct mb_formula {
  int                    force; /* which of `forces`, whose own law gives nothing, or the rest */
  const yoke_expression *expression;
  const yoke_law        *elastic; /* it is this law of variable x alone, which has a potential; NULL: no */
  int                    x;
} mb_formula;

/* Derivatives of a variable by components of q and v, of an acceleration by those of a too, of a multiplier by itself; which ones they are does
 * not depend on the state. */
typedef struct mb_gradient {
  int n;
  struct {
    int                 index;
    yoke_quantity_level level;
    double              value;
  } entry[26]; /* two rigid bodies: 7 of q and 6 of v each */
} mb_gradient;

typedef struct mb_tree mb_tree;

/* Half of a mechanism (multibody_parts.c): its nodes, their entries in q and in v, its joints, their rows, and in the plane the couplings whose blocks
 * of S are in columns of its joints, as spans in rising order. Loops over spans run as those over whole arrays do. */
enum { MB_SPAN_NODE, MB_SPAN_Q, MB_SPAN_V, MB_SPAN_JOINT, MB_SPAN_ROW, MB_SPAN_COUPLING, MB_SPANS };
typedef struct mb_part {
  int         n_spans[MB_SPANS];
  yoke_range *spans[MB_SPANS];
} mb_part;

/* Every index i of a kind. */
#define MB_EACH(i, part, kind)                                                                                         \
  for (const yoke_range *span_##i = (part)->spans[kind]; span_##i < (part)->spans[kind] + (part)->n_spans[kind];       \
       ++span_##i)                                                                                                     \
    for (int i = span_##i->begin; i < span_##i->end; ++i)

typedef struct mb_parts {
  mb_part        part[2];
  mb_part        cut;        /* the joints between them, and blocks of S between these */
  int           *cut_side;   /* [n_joints] which side of a cut joint is on part 0 */
  bool           has_forces; /* others than weight: they want all poses */
  bool           is_direct;  /* parts go in as soon as they have poses of their own */
  yoke_lockstep *helpers;    /* NULL: one after the other */
} mb_parts;

/* What every step reads comes first. */
struct yoke_multibody {
  mb_port          *ports;
  yoke_switches     switches; /* of loads, motions and laws */
  yoke_arena        arena;
  const yoke_model *model;
  double            alpha, beta;
  double            length; /* of the model [m], see model_length.h */
  bool              has_energy;
  int               nq, nv, ng, n_norms;
  int               nq_states; /* without quadratures */
  int               n_motions; /* joints with one */
  int               n_integrals;
  int               n_guided;                 /* guided joints, behind all others */
  int               n_rows;                   /* of all joints: ng and guided ones */
  int              *integral;                 /* [n_integrals] index in q */
  int               n_port_integrals;         /* the first quadratures */
  int               i_integral;               /* where those of `integral` start in q */
  int               i_dissipated, i_external; /* where the work of dampers and loads is in q; -1 without has_energy */
  int               n_nodes, n_joints, n_forces, n_loads, n_inputs, n_chains, n_couplings, n_ghosts, n_ports, n_driven;
  bool              has_mu; /* some driven joint moves its body */
  bool              is_chain_alone;
  bool              has_loops; /* rows may depend on each other */
  bool              is_plane;  /* all joints are between planar bodies (multibody_plane.c) */
  bool              can_jump;  /* loads or laws depend on the state by steps */
  mb_node          *nodes;
  mb_joint         *joints; /* [n_joints + n_guided] */
  int               n_left_out;
  mb_left_out      *left_out;
  mb_guided        *guided; /* [n_guided] */
  yoke_force_element *forces;
  struct mb_line     *line;  /* NULL: there is more than masses and springs on a line */
  struct mb_works    *works; /* NULL: powers depend on more than velocities (multibody_work.c) */
  mb_driven          *driven;
  yoke_load_element  *loads;
  mb_input           *inputs;
  mb_ghost           *ghosts;
  mb_chain           *chains;
  mb_coupling               *
      couplings; /* [n_couplings], then [n_own_couplings] of joints with both ends on one flexible body, whose S_aa also takes the transposed block */
  int               n_own_couplings;
  size_t            n_cross; /* doubles of w->cross */
  int               n_flexibles;
  mb_flexible      *flexibles;
  int               n_push;    /* columns of X of all of them */
  mb_variable      *variables; /* [model->n_variables] */
  int               n_quantities;
  mb_quantity      *quantities;
  int               n_signals;
  mb_signal        *signals;
  int               n_felt;
  mb_felt          *felt;
  bool              events_feel; /* some event reads them */
  int               n_loop;
  int              *loop; /* [n_loop] of `felt`: those that loads or laws read */
  int               n_formulas;
  mb_formula       *formulas;
  bool              needs_variables;
  int               n_jumps; /* that are held (multibody_jumps.c) */
  yoke_jump        *jumps;
  bool             *can_rest;   /* [n_jumps] rates of its switching function are known */
  int              *jump_owner; /* [n_jumps] load, or n_loads + force element */
  int              *twin;       /* [n_jumps] the first one that has the same switching function: they are one */
  double           *turn;       /* [n_jumps] 1; -1: its switching function is minus that of its twin */
  int               i_jump;     /* where their modes are in q */
  int               first_jump; /* number of the variable that holds the first; behind it there are no others */
  int               n_held;
  yoke_expression **held;                        /* [n_held] expressions with jumps that are held */
  int              *body_q, *body_v, *body_node; /* [n_bodies]; node of a chain: -1 */
  int              *frame_node;                  /* [n_frames] */
  int              *row_joint;                   /* [n_rows] */
  uint8_t          *retired;                     /* [n_rows] implicit view: lambda = mu = 0 instead of the row */
  int              *connection_joint, *connection_force; /* [n_connections], -1: none */
  yoke_pattern     *G_pattern;
  int              *G_slot; /* in the order joint, row, side, freedom */
  yoke_block_ldl   *ldl;
  size_t           *diagonal_at; /* [n_joints] */
  mb_tree          *tree;        /* NULL: the joints are none (multibody_tree.c) */
  mb_parts         *parts;       /* NULL: none, the mechanism is one piece */
};

/* Scratch, carved from the caller's block. */
typedef struct mb_work {
  yoke_pose *pose;         /* [n_nodes + n_ghosts] */
  double    *wrench;       /* [n_nodes + n_ghosts, 6] */
  double    *acceleration; /* [n_nodes, 6] */
  double    *push;         /* [n_push] forces on flexible bodies that `acceleration` has and a not yet */
  bool
      is_alone; /* points of flexible bodies move by themselves, as if M were block diagonal (multibody_prescribed.c) */
  double           *cross;                     /* [n_cross] M^-1 G^T at other nodes of flexible bodies, [6, n] each */
  double           *W;                         /* [n_nodes, 9] R J^-1 R^T */
  double           *grad;                      /* [n_rows, 12] gradients */
  double           *Y;                         /* M^-1 G^T: per joint and side [6, n] at 12 g0 + 6 n side */
  double           *s, *rate, *gamma, *lambda; /* [n_rows]; rate includes g_t */
  double           *motion_rate;               /* [ng] -g_t */
  double           *S;                         /* block_ldl values */
  double           *tree;                      /* [mb_tree_scratch] */
  double           *plane;                     /* [ng, 4] rows of mechanisms in the plane */
  yoke_parted      *parted;                    /* [1] of mechanisms in parts */
  double           *dense;                     /* [n_dense^2], minimum-norm solve */
  double           *dense_work, *scale, *rhs;
  int              *pivot;
  double           *variables;            /* [n_variables + 1] */
  double           *gradient;             /* [n_variables + 1] */
  double           *felt;                 /* [n_felt] */
  double           *loop_P, *loop_r;      /* [n_loop, n_loop], [n_loop] (multibody_loop.c) */
  double           *loop_a, *loop_lambda; /* [nv], [n_rows], with a loop */
  double           *chain;                /* [7, longest chain] */
  double           *a;                    /* [nv] */
  /* jumps (multibody_jumps.c), n = at most MB_MOST_BETWEEN of them */
  yoke_jump_change *change;          /* [n_jumps] */
  double           *jump;            /* [n_jumps] values of yoke_multibody_jumps */
  double           *share;           /* [n_jumps] of the high value, where a jump is between; NULL: all are free */
  double           *rest_B, *rest_r; /* [n, n], [n] */
  double           *rest_C, *rest_x, *rest_y; /* [n, n], [n], [n] */
  double           *rest_q, *rest_a, *rest_v; /* [nq], [nv], [nv] */
  /* rows at ghosts, n = mb_n_probes (multibody_guided.c) */
  double           *probe;      /* [n, 12] gradient on the real side, then what it does to the body alone, M^-1 grad */
  double           *probe_b;    /* [n, ng] G M^-1 grad */
  double           *probe_x;    /* [n + 1, ng] S^-1 of that; the last is free for the multipliers themselves */
  double           *probe_W;    /* [n, n] compliance */
  double           *probe_work; /* [n, n + 72] solves with it */
  int              *probe_pivot, *probe_node; /* [n] */
} mb_work;

enum { MB_MOST_BETWEEN = 64 };  /* jumps at a time */
enum { MB_MOST_IN_LOOP = 256 }; /* accelerations and multipliers that loads and laws read */
enum { MB_DENSE_LIMIT = 600 };  /* rows up to which the minimum-norm solve is dense */

size_t mb_work_size(const yoke_multibody *mb);
void   mb_work_carve(const yoke_multibody *mb, void *block, mb_work *w);
/* Only what mb_poses, mb_variables and formulas write; all else is unset. */
void   mb_work_carve_poses(const yoke_multibody *mb, void *block, mb_work *w);

/* Frame on the line of 1-D masses, read without a node. */
/* Shape of the body or ghost at a node; NULL: the ground. */
const yoke_port_shape *mb_node_shape(const yoke_multibody *mb, int node);

static inline bool mb_is_line_kind(yoke_body_kind kind) {
  return kind == YOKE_BODY_MASS1D || kind == YOKE_BODY_CHAIN;
}

/* Link between two frames of the model; pose of one node from q and v (NULL: at rest). */
void mb_set_link(const yoke_multibody *mb, const int frame[2], yoke_link *link);
void mb_node_pose(const mb_node *node, const double *q, const double *v, yoke_pose *pose);

/* Poses of all nodes from q and v (NULL: at rest), and W when `with_inertia`. */
void mb_poses(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v, bool with_inertia);
/* Those of a part. */
void mb_poses_of(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v, const mb_part *part);

/* W of all nodes, and of one. Need poses. */
void mb_inertia(const yoke_multibody *mb, const mb_work *w);
void mb_node_inertia(const yoke_multibody *mb, const mb_work *w, int node);

/* Poses of all ghosts under the inputs u; NULL: where the model put them. */
void mb_ghost_poses(const yoke_multibody *mb, const mb_work *w, const double *u);

/* p of a ghost under the inputs u; NULL: where the model put it. */
void mb_ghost_position(const mb_ghost *ghost, const double *u, double *p);
void mb_ghost_motion(const mb_ghost *ghost, const double *u, double *p, double *v);

/* Does a connection end at a ghost? */
bool mb_is_cut(const yoke_multibody *mb, const yoke_link *link);

/* Pose of the node of a port from q and v (NULL: at rest). */
void mb_port_pose(const yoke_multibody *mb, const mb_port *port, const double *q, const double *v, yoke_pose *pose);

/* Position [n_integrals of its kind] of the origin of a port, and the angle of planar ones. */
void mb_port_position(const mb_port *port, const yoke_pose *pose, double *position);

/* Rows of the acceleration C'' of a point at c of its body, component k, by (dr, dphi), (dv, R domega) and (da, R domega'), each [6]. */
void mb_acceleration_rows(const double c[3], const double w[3], const double alpha[3], int k, double by_q[6],
                          double by_v[6], double by_a[6]);

/* Euler parameters of the rotation a b (b first); linear in both. */
void mb_turn_by(double p[4], const double a[4], const double b[4]);

/* Variables of the model, which find their places among quantities and signals. Needs inputs and compiled force elements. */
void mb_set_variables(yoke_multibody *mb, const yoke_multibody_options *options);

/* The input that variable k of an expression is; -1: none. */
int mb_input_of(const yoke_multibody *mb, int k);

/* Derivatives of variable k >= 1 by the state: none of a signal, nor of the force of an element. Needs poses; of accelerations also a. */
void mb_variable_gradient(const yoke_multibody *mb, const mb_work *w, int k, const double *q, const double *a,
                          mb_gradient *out);

/* What is felt under accelerations a and multipliers lambda, into w->felt; forces of elements stay as they are. Reads w->pose, with velocities, unless
 * that is NULL. */
void   mb_feel(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v, const double *a,
               const double *lambda);
double mb_felt_value(const yoke_multibody *mb, const mb_work *w, int i, const double *q, const double *v,
                     const double *a, const double *lambda); /* of felt[i], no force of an element */
/* All that is felt at (t, q, v) under u, into w->felt of the caller's block; NAN: the equations have no solution there. */
void   mb_feel_at(const yoke_multibody *mb, void *work, double t, const double *q, const double *v, const double *u);

/* Formulas. Need poses and variables: forces into w->wrench; the power that they take from the bodies [W]; force of one, with the gradient
 * [12] of its row at `state`. */
yoke_status mb_formula_forces(const yoke_multibody *mb, const mb_work *w);
double      mb_formula_power(const yoke_multibody *mb, const mb_work *w);
double      mb_formula_potential(const yoke_multibody *mb, const mb_work *w);
double mb_formula_row(const yoke_multibody *mb, const mb_formula *formula, const mb_work *w, yoke_link_state *state,
                      double grad[12]);

/* Values of expression variables into w->variables under the inputs u (NULL: signals as they are without inputs). Reads w->felt, and w->pose, with
 * velocities, unless that is NULL. */
void mb_variables(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                  const double *u);

/* multibody_loop.c */

/* Loads and laws that read what is felt; needs variables. */
void        mb_find_loop(yoke_multibody *mb);
/* mb_respond with what is felt as it fits the forces. YOKE_SINGULAR: gain 1. */
yoke_status mb_close_loop(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                          const double *u, double *a, double *lambda);
/* w->wrench := the forces that go with a unit of the j-th in the loop, all else fixed. Needs poses and variables. */
void        mb_loop_forces(const yoke_multibody *mb, const mb_work *w, int j);
/* How the i-th in the loop follows changes da and dlambda. Needs poses; a: accelerations. */
double      mb_loop_follow(const yoke_multibody *mb, const mb_work *w, int i, const double *q, const double *a,
                           const double *da, const double *dlambda);
/* (1 - P) x = r for P [n, n] in place, r becomes x; P is lost. -1: done, else a place where the gain is 1. */
int         mb_loop_solve(int n, double *P, double *r);

/* multibody_jumps.c */

/* B x = b by elimination with row pivots; B [n, n] and b are lost, b becomes x. -1: done, else the column whose pivot is not above `least`. */
int mb_eliminate(int n, double *B, double *b, double least);

/* The most jumps that there can be, and laws with some; room for them lies behind the model's own variables, two for each law. */
void        mb_count_jumps(const yoke_multibody *mb, int *most, int *n_laws);
yoke_status mb_build_jumps(yoke_multibody *mb, int most, int n_laws, yoke_context *ctx);
void        mb_forget_jumps(yoke_multibody *mb);
/* What jumps give in their modes, into w->variables. */
void        mb_jump_variables(const yoke_multibody *mb, const mb_work *w, const double *q);
/* Is some jump between its sides? Shares of all that are, into w->share: to be called before anything else at a place. */
bool        mb_rests(const yoke_multibody *mb, const double *q);
yoke_status mb_rest(const yoke_multibody *mb, void *work, double t, const double *q, const double *v, const double *u);
/* Projections: |g| / size that is left, or below which nothing is done; up to which factors serve at the projected place too. */
static const double mb_position_tol = 1e-13, mb_position_skip = 1e-14, mb_near_enough = 1e-8;
enum { MB_POSITION_ITERATIONS = 25 };

/* mb_derivative with the shares that are in w->share. */
yoke_status mb_derivative_held(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                               const double *u, double *qdot, double *a, double *lambda);
/* The same of a mechanism as one piece, with or without parts. */
yoke_status mb_derivative_whole(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                                const double *u, double *qdot, double *a, double *lambda);
/* Variable `number` is the deflection of a force element, or its rate. */
void        mb_add_deflection(yoke_multibody *mb, int number, int connection, bool is_rate);

static inline int mb_n_variables(const yoke_multibody *mb) {
  return mb->n_jumps > 0 ? mb->first_jump + mb->n_jumps - 1 : mb->model->n_variables;
}

/* w->wrench := all applied forces and gyroscopic moments, chain-internal forces excluded. Needs poses, those of ghosts too. */
yoke_status mb_forces(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                      const double *u);

/* a [nv] and lambda [n_rows] for the wrenches in w->wrench; a comes with the accelerations of chains and the inner forces of flexible bodies, and 0. Needs W, rows of all joints. */
yoke_status mb_accelerate(const yoke_multibody *mb, const mb_work *w, double *a, double *lambda);
/* The same for all forces and rows at (t, q, v) under u, for what is felt as it is in w->felt. Needs poses with inertia, those of ghosts too. */
yoke_status mb_respond(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                       const double *u, double *a, double *lambda);

/* f [6] := what a driven joint does to its real body under the inputs u (NULL: nothing). H: NULL, or [6, 6] derivatives
 * with respect to (dr, dphi) of that body. Needs poses. */
void mb_driven_force(const mb_driven *driven, const yoke_pose *poses, const double *u, double f[6], double *H);

/* The same for the second multipliers mu: velocity and angular velocity (inertial axes) that they add to the body. */
void mb_driven_move(const mb_driven *driven, const yoke_pose *poses, const double *u, double f[6], double *H);

/* Motion of a joint at t with derivatives. */
void mb_motion(const mb_joint *joint, double t, double *value, double *rate, double *second);

/* w->s, grad and (with_rates) rate, gamma of all joints, and of one. Need poses. */
void mb_joint_rows(const mb_work *w, const mb_joint *joint, double t, bool with_rates);
void mb_constraints(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates);

/* Value of row i of a joint: s - offset - motion, angles wrapped to (-pi, pi]. */
double mb_row_value(const mb_joint *joint, int i, double s, double motion);

/* Largest residual of the rows of the first joints. Lengths are measured by where the two bodies of their joint are, but at
 * least by the length of the model: a body that turns about its centre at the origin is at 0 with the rounding errors of
 * its neighbours. Needs poses. */
double mb_position_residual(const yoke_multibody *mb, const mb_work *w, int n_joints, const double *residual);

/* The same of one joint, where it is larger or not a number. */
void mb_raise_residual(const yoke_multibody *mb, const mb_work *w, int j, const double *residual, double *largest);

/* Entries [nv] of a gradient [6] for the kept freedoms of a node, moments in body axes. */
void mb_kept_row(const mb_node *node, const double R[9], const double *grad, double *out);

/* Pivots of S, relative to its original diagonal, that count as 0. */
double mb_pivot_limit(const yoke_multibody *mb);

/* S = G M^-1 G^T factored, then S x = x; minimum-norm when singular. Needs grad, W. */
yoke_status mb_solve(const yoke_multibody *mb, const mb_work *w, double *x);

/* The same for n right-hand sides x [n, ng]. */
yoke_status mb_solve_many(const yoke_multibody *mb, const mb_work *w, int n, double *x);

/* Node of one side; a ghost, which moves as it is told, is as good as the ground. */
static inline int mb_own_node(const yoke_multibody *mb, const yoke_link *link, int side) {
  return link->node[side] < mb->n_nodes ? link->node[side] : 0;
}

/* Trees (multibody_tree.c): mb->tree where the joints are one, guided ones too; joints by node are list[start[node] ...] of 2 joint + side. With
 * poses, and mb_guided_rows where there are some: rows, factors, and then any number of solves.
 *   inertia  W of nodes without joints, which are `outside`
 *   rows     as mb_constraints without w->grad and w->gamma. False: some depend on each other, which the tree cannot treat
 *   gaps     w->s and rates alone; factors stay
 *   factor   False: a body has no inertia
 *   solve    w->acceleration of all nodes with joints: M a = wrench + G^T lambda, G a = b. wrench [n_nodes, 6] NULL: 0; lambda NULL: not
 *            wanted, else it may be b
 *   accelerate   rows, factor and solve of w->wrench in one go; further solves may follow. False as above */
yoke_status mb_tree_create(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, const int *start,
                           const int *list);
size_t      mb_tree_scratch(const yoke_multibody *mb); /* doubles */
void        mb_tree_inertia(const yoke_multibody *mb, const mb_work *w);
int         mb_tree_outside(const yoke_multibody *mb, const int **nodes);
bool        mb_tree_rows(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates);
void        mb_tree_gaps(const yoke_multibody *mb, const mb_work *w, double t);
bool        mb_tree_factor(const yoke_multibody *mb, const mb_work *w);
void mb_tree_solve(const yoke_multibody *mb, const mb_work *w, const double *wrench, const double *b, double *lambda);

bool mb_tree_accelerate(const yoke_multibody *mb, const mb_work *w, double t, double *lambda);

/* The same of a tree that is cut at the joint number `cut` of its own, whose child and all that hangs on it are `is_behind` [n_nodes] (part 1). Parts
 * 0 and 1 may go side by side, MB_CUT, the joint itself, comes behind both: accelerate or factor, in, out. */
enum { MB_CUT = 2 };
int         mb_tree_n_joints(const yoke_multibody *mb);
void        mb_tree_ends(const yoke_multibody *mb, int i, int *child, int *parent);
yoke_status mb_tree_cut(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, int cut, const bool *is_behind);
bool        mb_tree_rows_part(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates, int part);
void        mb_tree_gaps_part(const yoke_multibody *mb, const mb_work *w, double t, int part);
bool        mb_tree_factor_part(const yoke_multibody *mb, const mb_work *w, int part);
bool        mb_tree_accelerate_part(const yoke_multibody *mb, const mb_work *w, double t, int part);
void mb_tree_in_part(const yoke_multibody *mb, const mb_work *w, const double *wrench, const double *b, int part);
/* visit (NULL: nobody): every node of the part, as soon as its acceleration is known. */
typedef void mb_node_visit(void *user, int node);
void mb_tree_out_part(const yoke_multibody *mb, const mb_work *w, const double *wrench, double *lambda, int part,
                      mb_node_visit *visit, void *user);

/* Mechanisms in the plane (multibody_plane.c): mb->is_plane. With poses: rows as mb_constraints, w->grad where it pleases; factors, false where
 * rows depend on each other; then solves for b in lambda and free accelerations in w->acceleration, which become those under lambda. */
bool mb_is_plane(const yoke_multibody *mb);
void mb_plane_rows(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates);
bool mb_plane_factor(const yoke_multibody *mb, const mb_work *w);
void mb_plane_solve(const yoke_multibody *mb, const mb_work *w, double *lambda);

/* The same of a part: rows; blocks of S and their factors; the way in of a solve, what is between, and the way out. MB_CUT: the cut joints, whose rows
 * and blocks come before those of the parts; mb_plane_between_* behind them. */
void mb_plane_rows_part(const yoke_multibody *mb, const mb_work *w, double t, bool with_rates, const mb_part *part);
/* Of cut joints that are pins: what is the same everywhere, and what the part on one side knows of them, enough for its blocks. */
bool mb_plane_is_pin(const mb_joint *joint);
void mb_plane_begin_cut(const yoke_multibody *mb, const mb_work *w);
void mb_plane_cut_rows_of(const yoke_multibody *mb, const mb_work *w, int part);
void mb_plane_blocks_part(const yoke_multibody *mb, const mb_work *w, int part);
bool mb_plane_factor_part(const yoke_multibody *mb, const mb_work *w, int part);
void mb_plane_in_part(const yoke_multibody *mb, const mb_work *w, double *lambda, int part);
bool mb_plane_between_factor(const yoke_multibody *mb, const mb_work *w);
void mb_plane_between_solve(const yoke_multibody *mb, const mb_work *w, double *lambda);
void mb_plane_out_part(const yoke_multibody *mb, const mb_work *w, double *lambda, int part);

/* Parts (multibody_parts.c): two of them along the split of the model, where the mechanism can be evaluated so (mb->parts), before its S has an order:
 * `part` [n_joints] says of which its joints are.
 *   order      of bodies and connections, in scratch: those of a part side by side. NULL: that of the model
 *   complete   lists of S
 *   derivative as that of all models, for this one with parts
 *   project    q, v or both (NULL: not this one) as mb_project. False: rows depend on each other, q and v are as near as it came */
yoke_status mb_parts_order(const yoke_model *model, yoke_context *ctx, yoke_arena *scratch, int **bodies,
                           int **connections);
yoke_status mb_parts_create(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, int *part);
yoke_status mb_parts_complete(yoke_multibody *mb, yoke_context *ctx, const int *part);
size_t      mb_parts_scratch(const yoke_multibody *mb); /* bytes */
yoke_status mb_parts_derivative(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                const double *u, double *qdot, double *a, double *lambda);
bool mb_parts_project(const yoke_multibody *mb, const mb_work *w, double t, double *q_moved, const double *q, double *v,
                      yoke_status *status);
extern const yoke_parts_ops mb_parts_ops;

/* What nodes do by themselves. */
void        mb_weights_of(const yoke_multibody *mb, const mb_work *w, const double *v, const mb_part *part);
void        mb_free_accelerations_of(const yoke_multibody *mb, const mb_work *w, const mb_part *part);
void        mb_write_nodes_of(const yoke_multibody *mb, const mb_work *w, const mb_part *part, double *a);
void        mb_rates_of(const yoke_multibody *mb, const double *q, const double *v, const mb_part *part, double *qdot);
void        mb_node_rates(const yoke_multibody *mb, const double *q, const double *v, double *qdot, int i);
void        mb_node_move(const mb_node *node, double *q, const double *dv); /* q of the node moves by dv */
void        mb_node_write(const yoke_multibody *mb, const mb_work *w, double *a, int i);
void        mb_free_acceleration(const yoke_multibody *mb, const mb_work *w, int i, const double *a);
/* Forces of elements, loads and inputs, on top of weights. */
yoke_status mb_other_forces(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                            const double *u);

/* What row g of G a shall be: -(gamma + 2 alpha g' + beta^2 g). */
static inline double mb_wanted_acceleration(const yoke_multibody *mb, const mb_work *w, int g) {
  return -(w->gamma[g] + 2.0 * mb->alpha * w->rate[g] + mb->beta * mb->beta * w->s[g]);
}

/* Guided rows (multibody_guided.c). */
int         mb_n_probes(const yoke_multibody *mb);
yoke_status mb_build_guided(yoke_multibody *mb, yoke_context *ctx, int c, const yoke_multibody_options *options);
bool        mb_is_guided(const yoke_multibody_options *options, int c);
/* w->grad (0 on the ghost) and w->gamma (with factor beta; u NULL: beta = 0) of guided rows. Needs poses, those of ghosts too. */
void        mb_guided_rows(const yoke_multibody *mb, const mb_work *w, const double *u);
/* c = R origin of the joint's frame on a side, w x c and w x (w x c): what gamma is on a side that does not carry it. */
void mb_centripetal(const mb_joint *joint, int side, const yoke_pose *poses, double c[3], double wc[3], double a[3]);
/* lambda and mu [n_rows] for free accelerations in w->acceleration, to which M^-1 L^T mu is added. lambda [ng] comes with the right-hand side
 * of S lambda = ... of the joints alone. Needs W, gradients of joints and rows. */
yoke_status mb_guide(const yoke_multibody *mb, const mb_work *w, double *lambda);
/* Poses with inertia, ghosts under u too, and gradients of own joints. */
void        mb_look(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *u);
/* Row number i takes its place in w->probe: its gradient on a node, [6] in inertial axes, then M^-1 grad of the body alone. Needs W. */
void        mb_set_probe(const yoke_multibody *mb, const mb_work *w, int i, int node, const double grad[6]);
/* w->acceleration += s M^-1 grad of row number i, which is on this node. */
void        mb_push_probe(const yoke_multibody *mb, const mb_work *w, int i, int node, double s);
/* W [n, n] of the rows in w->probe at their nodes, and x = S^-1 b; further right-hand sides (n_more) behind them in probe_x. */
yoke_status mb_compliance(const yoke_multibody *mb, const mb_work *w, int n, const int *node, int n_more, double *W);
/* w->acceleration += M^-1 G^T lambda of the own joints, after a solve; its kept freedoms into a [nv], rotations in body axes. */
void        mb_add_reactions(const yoke_multibody *mb, const mb_work *w, const double *lambda);
void        mb_write_nodes(const yoke_multibody *mb, const mb_work *w, double *a);
/* Ends of a joint at a ghost: its real side. -1: not exactly one end is a ghost. */
int         mb_real_side(const yoke_multibody *mb, const yoke_link *link);

/* Flexible bodies (multibody_flexible.c): nodes and factors of masses; then, when joints and ports are known, what they touch. */
yoke_status       mb_build_flexibles(yoke_multibody *mb, yoke_context *ctx);
yoke_status       mb_build_interface(yoke_multibody *mb, yoke_context *ctx);
/* Node whose joints share its masses: the first one of a flexible body, else itself. */
static inline int mb_mass_node(const yoke_multibody *mb, int node) {
  return mb->nodes[node].flexible > 0 ? mb->flexibles[mb->nodes[node].flexible - 1].first_node : node;
}
static inline bool mb_is_same_flexible(const yoke_multibody *mb, int a, int b) {
  return mb->nodes[a].flexible > 0 && mb->nodes[a].flexible == mb->nodes[b].flexible;
}
/* Acceleration of freedom k of node a under a unit force on freedom l of node b, which has columns, of the same flexible body; and y [6] of node
 * `to` under a wrench on node `from` (w->is_alone: where all other points of the body are held). */
double mb_flexible_compliance(const yoke_multibody *mb, const mb_node *a, int k, const mb_node *b, int l);
void   mb_flexible_response(const yoke_multibody *mb, const mb_work *w, int from, const double wrench[6], int to,
                            double y[6]);
/* y [6] of a node whose neighbours in its flexible body are held: by its own block of M alone. */
void   mb_flexible_alone(const yoke_multibody *mb, const mb_work *w, int node, const double wrench[6], double y[6]);
/* Pushes: nothing is pushed; a node of a flexible body feels s times a wrench, w->acceleration follows at nodes with columns; a follows everywhere. */
void   mb_push_begin(const yoke_multibody *mb, const mb_work *w);
void   mb_push_node(const yoke_multibody *mb, const mb_work *w, int node, double s, const double wrench[6]);
void   mb_push_write(const yoke_multibody *mb, const mb_work *w, double *a);
/* Inner forces into the places of `out` [nv] that belong to flexible bodies. */
void   mb_flexible_forces(const yoke_multibody *mb, const double *q, const double *v, double *out);
/* a and w->acceleration of flexible bodies under the wrenches and the inner forces, which are in a. */
void   mb_flexible_accelerate(const yoke_multibody *mb, const mb_work *w, double *a);
void   mb_flexible_mass_apply(const yoke_multibody *mb, const double *x, double *y); /* y = M x in their places */

/* Powers [W] for the quadratures at (t, q, v) with poses and lambda (NULL: none) known. */
void mb_powers(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v, const double *u,
               const double *lambda, double *dissipated, double *external);

/* The same of equations (equations.h). */
void mb_powers_at(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                  double *dissipated, double *external);

/* Is what an element stores and loses counted elsewhere? */
bool mb_is_elsewhere(const yoke_multibody *mb, const yoke_force_element *element);
bool mb_load_is_elsewhere(const yoke_multibody *mb, const yoke_load_element *load);

/* Works over a micro step from its ends (multibody_work.c). */
yoke_status mb_create_works(yoke_multibody *mb, yoke_context *ctx);
bool        mb_work_between(const void *self, const struct yoke_ends *ends, double sum[2]);

/* Springs between masses on one line, where there is nothing else: energies and powers without poses (multibody_line.c). */
yoke_status mb_create_line(yoke_multibody *mb, yoke_context *ctx);
void mb_line_energy(const yoke_multibody *mb, const double *q, const double *v, double *kinetic, double *potential);
void mb_line_powers(const yoke_multibody *mb, double t, const double *q, const double *v, double *dissipated,
                    double *external);
/* Masses whose motion is prescribed are where it puts them, if no joint asks more of them: the same as the least change. */
bool mb_line_follows(const yoke_multibody *mb);
yoke_status mb_line_prescribe(const yoke_multibody *mb, const double *u, double *q, double *v);

/* Rates of the quadratures into qdot[nq_states ...]. */
void mb_quadratures(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                    const double *u, const double *lambda, double *qdot);

/* q' = T(q) v of the states. */
void mb_kinematics(const yoke_multibody *mb, const double *q, const double *v, double *qdot);

/* qdot += T(q) z with what second multipliers add to the velocities, z = sum of mu grad. `within`: only the part that no
 * joint of the model forbids, z - G^T (G G^T)^-1 G z, in unit masses and inertias; needs grad, then uses gamma,
 * acceleration, Y and S of w up. Needs poses. */
yoke_status mb_add_drift(const yoke_multibody *mb, const mb_work *w, const double *q, const double *u, bool within,
                         double *qdot);

/* w->acceleration (freedoms that are kept) loses what changes g, z - G^T (G G^T)^-1 G z in unit masses and inertias. For many z mb_within_begin
 * factors once, if it can (no row follows from others): its answer is `is_factored`. Needs grad; uses gamma, Y and S of w up. */
bool        mb_within_begin(const yoke_multibody *mb, const mb_work *w);
yoke_status mb_within(const yoke_multibody *mb, const mb_work *w, bool is_factored);

/* Can some load or law of the compiled model jump where the state changes (multibody_branch.c)? */
bool mb_find_jumps(const yoke_multibody *mb);

/* Equations of a model that is one chain, with forces on its masses (multibody_chain.c). */
yoke_status mb_chain_equations_create(yoke_context *ctx, const yoke_model *model, int n_inputs,
                                      const yoke_input *inputs, yoke_equations *out);

/* ops, one file each */
yoke_status mb_derivative(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                          double *qdot, double *a, double *lambda);
yoke_status mb_project_position(const void *self, void *work, double t, double *q);
yoke_status mb_project_velocity(const void *self, void *work, double t, const double *q, double *v);
yoke_status mb_project(const void *self, void *work, double t, double *q, double *v);
bool        mb_is_singular(const void *self, void *work, double t, const double *q);
void mb_constraint(const void *self, void *work, double t, const double *q, const double *v, double *g, double *gd);
yoke_status mb_dae_create(const void *self, yoke_context *ctx, yoke_dae_form form, yoke_dae **out);
void        mb_dae_size(const void *self, yoke_dae_form form, int *nx, int *nnz);
yoke_status mb_dae_rhs(const void *self, const yoke_dae *dae, void *work, double t, const double *x, const double *u,
                       double *F);
yoke_status mb_dae_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                            const double *u, double *J);
yoke_status mb_dae_input_jacobian(const void *self, const yoke_dae *dae, void *work, double t, const double *x,
                                  const double *u, double *B);
size_t      mb_motion_size(const yoke_multibody *mb);
void mb_tangent_project(const void *self, void *work, const void *factor, double t, const double *q, const double *v,
                        int n, double *dq, double *dv, double *a, double *lambda);
yoke_status mb_motion_factor(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                             void *factor);
void        mb_motion_solve(const void *self, const void *factor, int n, double *a, double *lambda);
void        mb_quadrature_tangent(const void *self, void *work, double t, const double *q, const double *v, int n,
                                  const double *dq, const double *dv, double *rate);
uint64_t    mb_branch(const void *self, void *work, double t, const double *q, const double *v, const double *u);
/* The same of load i, of the law of force element i, and of formula i, from poses and variables in w; `sum` goes on. */
uint64_t    mb_load_branch(uint64_t sum, const yoke_multibody *mb, const mb_work *w, int i);
uint64_t    mb_law_branch(uint64_t sum, const yoke_multibody *mb, const mb_work *w, int i_force, double t);
uint64_t    mb_formula_branch(uint64_t sum, const yoke_multibody *mb, const mb_work *w, int i);
void        mb_blame(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                     const double *a, const double *lambda, double reach, char *text, size_t size);
void        mb_energy(const void *self, void *work, double t, const double *q, const double *v, yoke_energy *out);
yoke_status mb_linear(const void *self, void *work, double *A, double *B, double *b);
void        mb_motions(const void *self, double t, double *value);
bool        mb_is_kicked(const void *self, double before, double behind);
yoke_status mb_kick(const void *self, void *work, double before, double behind, double *q, double *v);
void        mb_events(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                      double *value);

#endif
