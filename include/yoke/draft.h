/* Draft: a model that is being written by calls. All that a model file can say (docs/model-file.md) a draft can say, with the same keys: it becomes the
 * same tree of keys and values that the reader of files gets.
 *
 *   yoke_draft_set_number(draft, "bodies.upper.mass", 2.5);
 *   yoke_draft_set_text(draft, "bodies.upper.inertia", "m*l^2/12");
 *
 * A path names keys from the top of the file, parted by dots: "cosimulation.couplings.knee.formulation". A key that holds a dot itself stands in double quotes
 * ("solvers.\"left.arm\".rtol"). Entries of a list are counted from 1 ("bodies.c.loads.1.omega"); the number behind the last adds one. Maps on the way
 * come into being, lists do not (yoke_draft_set_list). What is set again is replaced. Objects stand in the order in which their paths were first set.
 *
 * The calls cannot fail by themselves: nonsense, and memory that is missing, are remembered, and yoke_model_build tells of them with their paths; so does
 * yoke_draft_status. Nonsense is forgotten when its path, or one above it, is set anew. Texts and numbers are copied. A draft belongs to one thread at a time. */
#ifndef YOKE_DRAFT_H
#define YOKE_DRAFT_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/model.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_draft yoke_draft;

/* A draft that says `yoke: 1` and nothing else. `name` stands for the file in messages, and paths of files that it includes are relative to its folder. Gives. */
YOKE_API yoke_status yoke_draft_create(yoke_context *ctx, const char *name, yoke_draft **out);
YOKE_API void        yoke_draft_destroy(yoke_draft **draft);

/* YOKE_OK, or what yoke_model_build would give because of the calls so far: YOKE_E_MODEL, YOKE_E_MEMORY. */
YOKE_API yoke_status yoke_draft_status(const yoke_draft *draft);

/* The model of the draft, as yoke_model_load gives it: constant, on its own, to be destroyed by yoke_model_destroy. The draft stays as it is, and may be changed and built again.
 * yoke_model_text of the model is a model file that reads back as the same model, to the bit. options NULL: none. Gives.
 *   YOKE_E_MODEL   a call was nonsense, or the model has mistakes: up to 20 messages, each with the name of the draft and the path of the key */
YOKE_API yoke_status yoke_model_build(yoke_context *ctx, const yoke_draft *draft, const yoke_load_options *options,
                                      yoke_model **out);

/* ---- by path ---- */

/* A number in SI units, which keeps its bits; it must be finite. A list of n of them. */
YOKE_API void yoke_draft_set_number(yoke_draft *draft, const char *path, double value);
YOKE_API void yoke_draft_set_numbers(yoke_draft *draft, const char *path, int n, const double *values);

/* What stands behind a key in a file: a word, a name, a number with its unit, an expression. A list of n of them. */
YOKE_API void yoke_draft_set_text(yoke_draft *draft, const char *path, const char *text);
YOKE_API void yoke_draft_set_texts(yoke_draft *draft, const char *path, int n, const char *const *texts);

/* As in a file between quotes: a text, whatever it looks like. */
YOKE_API void yoke_draft_set_quoted(yoke_draft *draft, const char *path, const char *text);

/* `true` or `false`. */
YOKE_API void yoke_draft_set_flag(yoke_draft *draft, const char *path, bool value);

/* An empty list, whose entries follow by their numbers; an empty map, `{}`. */
YOKE_API void yoke_draft_set_list(yoke_draft *draft, const char *path);
YOKE_API void yoke_draft_set_map(yoke_draft *draft, const char *path);

/* ---- what everybody writes ----
 * Short forms of paths, in SI units. Members that are zero are not written, and mean what a missing key means; everything else is set by its path besides:
 *   yoke_draft_add_body(draft, "rod", &rod);
 *   yoke_draft_set_text(draft, "bodies.rod.keep", "position"); */

/* bodies.NAME */
typedef struct yoke_draft_body {
  size_t      size;
  const char *kind;           /* "rigid", "planar", "particle", "mass1d" */
  double      mass;           /* [kg] */
  double      inertia[6];     /* [kg m^2] rigid: Ixx, Iyy, Izz, Ixy, Ixz, Iyz; planar: Izz, the first */
  double      position[3];    /* [m] planar: the first two, mass1d: the first */
  double      orientation[4]; /* Euler parameters */
  double      angle;          /* [rad] planar */
  double      velocity[3];    /* [m/s] as the position */
  double      omega[3];       /* [rad/s] rigid: in body axes; planar: the first */
} yoke_draft_body;
YOKE_API void yoke_draft_add_body(yoke_draft *draft, const char *name, const yoke_draft_body *body);

/* frames.BODY.NAME; body "ground": of the ground */
typedef struct yoke_draft_frame {
  size_t size;
  double at[3];          /* [m] from the centre of mass, body axes */
  double axis[3];        /* direction of the z axis; 0: as the body's */
  double orientation[4]; /* Euler parameters, instead of an axis */
} yoke_draft_frame;
YOKE_API void yoke_draft_add_frame(yoke_draft *draft, const char *body, const char *name,
                                   const yoke_draft_frame *frame);

/* connections.NAME */
typedef struct yoke_draft_connection {
  size_t      size;
  const char *kind;        /* "revolute", "spring-damper", ... */
  const char *between[2];  /* frames: "ground", "upper.tip" */
  double      axis[3];     /* of a joint, in the inertial frame */
  double      stiffness;   /* [N/m], [N m/rad] */
  double      damping;     /* [N s/m], [N m s/rad] */
  double      length;      /* of a distance joint [m] */
  double      free_length; /* of a spring [m] */
  double      free_angle;  /* of a torsion spring [rad] */
  const char *law;         /* of a spring: an expression */
  const char *motion;      /* prescribed coordinate of a joint: an expression of t */
} yoke_draft_connection;
YOKE_API void yoke_draft_add_connection(yoke_draft *draft, const char *name, const yoke_draft_connection *connection);

/* loads.NAME */
typedef struct yoke_draft_load {
  size_t      size;
  const char *kind;      /* "constant", "expression", "harmonic", ... */
  const char *on;        /* frame */
  const char *force[3];  /* [N] expressions, up to the first NULL; one alone is a number, not a list */
  const char *torque[3]; /* [N m] likewise */
  double      omega;     /* [rad/s] */
  double      phase;     /* [rad] */
  bool        follower;
} yoke_draft_load;
YOKE_API void yoke_draft_add_load(yoke_draft *draft, const char *name, const yoke_draft_load *load);

/* split.NAME: a subsystem of n bodies. */
YOKE_API void yoke_draft_add_part(yoke_draft *draft, const char *name, int n, const char *const *bodies);

/* outputs.NAME: a quantity of one's own. unit NULL: none. */
YOKE_API void yoke_draft_add_output(yoke_draft *draft, const char *name, const char *expression, const char *unit);

/* inputs.NAME: a number that may be set while the model runs. unit NULL: none. */
YOKE_API void yoke_draft_add_input(yoke_draft *draft, const char *name, double value, const char *unit);

/* subsystems.NAME */
typedef struct yoke_draft_entry {
  const char *name, *value;
} yoke_draft_entry;
typedef struct yoke_draft_subsystem {
  size_t                  size;
  const char             *kind; /* NULL: "user" */
  const char             *type;
  int                     n_parameters, n_ports, n_inputs, n_outputs;
  const yoke_draft_entry *parameters; /* value: as behind the key in a file */
  const yoke_draft_entry *ports;      /* value: the shape, "line", "plane", "point", "frame" */
  const yoke_draft_entry *inputs;     /* value: an expression */
  const yoke_draft_entry *outputs;    /* value: the unit; NULL: none */
} yoke_draft_subsystem;
YOKE_API void yoke_draft_add_subsystem(yoke_draft *draft, const char *name, const yoke_draft_subsystem *subsystem);

/* A setting by the name of its option ("order", yoke/settings.h) or by its path, as in yoke_choice. */
YOKE_API void yoke_draft_choose(yoke_draft *draft, const char *name, const char *value);

#ifdef __cplusplus
}
#endif
#endif
