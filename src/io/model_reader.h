/* Model reader: what the readers of the sections share. Private to src/io/model_*.c.
 *
 * Conventions of all readers:
 *   1. A function that reads returns true when the value is good. When it returns false the mistake has been recorded.
 *   2. Reading goes on after a mistake, so that several are reported; the model is thrown away at the end.
 *   3. Numbers are in SI units when they leave this module. */
#ifndef YOKE_IO_MODEL_READER_H
#define YOKE_IO_MODEL_READER_H

#include "io/model_file.h"
#include "io/names.h"
#include "io/yaml.h"

enum { MAX_COUNT = 1000000, MAX_CHAIN = 100000000, MAX_SCOPE_DEPTH = 16, MAX_REPORTED = 20, NAME_SIZE = 256 };

/* What a number measures: decides which units it may carry. */
typedef enum quantity {
  Q_NUMBER, /* pure number */
  Q_ANY,    /* any unit */
  Q_LENGTH,
  Q_MASS,
  Q_TIME,
  Q_ANGLE,
  Q_VELOCITY,
  Q_ANGULAR_VELOCITY,
  Q_ACCELERATION,
  Q_INERTIA,
  Q_FORCE,
  Q_TORQUE,
  Q_STIFFNESS,
  Q_DAMPING,
  Q_TORSION_STIFFNESS,
  Q_TORSION_DAMPING,
  Q_QUADRATIC_DRAG,
  Q_PER_LENGTH,
  Q_PER_TIME
} quantity;

typedef enum parameter_state { PARAMETER_NEW, PARAMETER_ACTIVE, PARAMETER_DONE, PARAMETER_BAD } parameter_state;

struct scope;

typedef struct parameter {
  const yoke_yaml_node *key, *node;
  const struct scope   *home; /* scope in which the expression is read */
  parameter_state       state;
  bool                  used;
  double                value;
  bool                  has_unit;
  int                   unit[4]; /* exponents of m, kg, s, rad */
} parameter;

/* Where names are looked up: the model itself, or one instance of an assembly inside its parent. */
typedef struct scope {
  struct scope         *parent;
  const char           *prefix; /* "" or "left." */
  const yoke_yaml_node *node;   /* the map with bodies, connections, ... */
  int                   n_parameters;
  parameter            *parameters;
  yoke_names            parameter_names;
  bool                  has_index; /* `i` is known */
  double                index;
} scope;

typedef struct reader {
  yoke_context   *ctx;
  yoke_yaml      *yaml;
  yoke_arena      scratch; /* lives as long as the reader */
  yoke_model     *model;
  yoke_yaml_node *root;
  char            where[NAME_SIZE]; /* path of the object that is being read: "bodies.upper" */
  int             n_errors;         /* found so far */
  bool            is_out_of_memory; /* what seems wrong from here on is no mistake of the model */
  bool            lacks_file;       /* one that the model names cannot be read */
  bool            is_whole;         /* the split is not needed */
  bool            forgives;         /* mistakes are warnings while it is read, ... */
  int             n_forgiven;       /* ... so many so far */
  int             n_scopes;
  size_t          capacity_scopes;
  scope         **scopes; /* [0] is the model itself */
  yoke_names      body_names, frame_names, connection_names, load_names, event_names, input_names, foreign_names;
  yoke_names      rod_names;
  yoke_names      refused_names; /* full names of entries with mistakes */
  size_t          capacity_rods;
  size_t capacity_bodies, capacity_frames, capacity_connections, capacity_loads, capacity_events, capacity_variables;
  int    parameter_depth;
  parameter *active[64];                    /* parameters being evaluated, outermost first */
  yoke_names variable_names;                /* "kind/object/mass/v/component" -> number of the variable */
  yoke_names output_names, reference_names; /* outputs of the user; outputs that they read, by their full names */
  size_t     capacity_outputs, capacity_references, capacity_inputs, capacity_foreigns, capacity_flexibles;
  int        law_of; /* connection whose law is being read */
} reader;

/* snprintf that cuts long texts on purpose (names in messages); returns the letters written. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
size_t
model_print(char *text, size_t size, const char *format, ...);

/* ---- mistakes ---- */

/* Record "file:line:column: key 'where.key': <text>". `key` may be NULL: the object itself. `at` may be NULL. Always false. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
bool model_mistake(reader *r, const yoke_yaml_node *at, const char *key, const char *format, ...);
/* The same as a warning: reading goes on. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void model_warning(reader *r, const yoke_yaml_node *at, const char *key, const char *format, ...);
/* Stiffness or damping below 0. */
void        model_warn_if_negative(reader *r, const yoke_yaml_node *at, const char *key, double value);
bool        model_out_of_memory(reader *r); /* recorded once; mistakes are not recorded any more. Always false */
/* Asked once behind a group of takes from the model's arena; false: as model_out_of_memory. */
bool        model_has_memory(reader *r);
/* A file or an override that could not be read, for reasons that are recorded already. Always false. */
bool        model_unreadable(reader *r, yoke_status status);
bool        model_no_file(reader *r, const yoke_yaml_node *at, const char *key,
                          const char *path); /* node->text, looked for as path */
/* "found <what the node is>, expected <expected>" */
bool        model_expected(reader *r, const yoke_yaml_node *at, const char *key, const char *expected);
/* Short description of a node for a message: "'abc'", "a list of 3", "a map", "nothing". */
const char *model_describe(const yoke_yaml_node *node, char *text, size_t size);
/* File position prefix "file:12:3" or the text of an override. */
void        model_position(const yoke_yaml_node *at, char *text, size_t size);
void        model_enter(reader *r, const char *section, const char *name);

/* The subsystem of this name; NULL: there is none. */
yoke_split_part    *model_part(const yoke_model *model, const char *name);
/* The subsystem of its own whose port this body stands in for; NULL: none. */
const yoke_foreign *model_port_owner(const yoke_model *model, int body);

/* ---- keys and words ---- */

/* All keys of `map` must be in list[n]; each other one is a mistake with the nearest valid key. */
bool  model_check_keys(reader *r, const yoke_yaml_node *map, const char *const *list, int n);
/* A map (nothing counts as an empty one: *out = NULL). */
bool  model_map(reader *r, const yoke_yaml_node *node, const char *key, const yoke_yaml_node **out);
/* One of the words list[n]: index, or -1 (recorded). */
int   model_word(reader *r, const yoke_yaml_node *node, const char *key, const char *const *list, int n);
bool  model_boolean(reader *r, const yoke_yaml_node *node, const char *key, bool *out);
bool  model_is_name(const char *text);
/* Can `key` be the name of a body, frame, ... or of a parameter: letters, digits, underscore, and no word with a meaning of its own? */
bool  model_check_name(reader *r, const yoke_yaml_node *key, bool is_parameter);
/* The same for a name that stands in expressions by itself, as those of inputs and outputs do: no parameter has it. */
bool  model_check_symbol(reader *r, const scope *s, const yoke_yaml_node *key);
/* Has a body, connection, subsystem or input this full name? That is a mistake at `key`. */
bool  model_is_free(reader *r, const yoke_yaml_node *key, const char *name);
/* Optional key of a map: a short text of one line that a table can hold, in the model's arena. */
bool  model_short_text(reader *r, const yoke_yaml_node *map, const char *key, size_t most, char **out);
/* "m.yaml:7:3: key 'outputs.speed'" for messages of the planner, in the model's arena; `key` may be NULL. */
char *model_where(reader *r, const yoke_yaml_node *at, const char *key);

/* ---- numbers ---- */

bool model_number(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, double *out);
/* The same in any unit, which is told if it is known. */
bool model_number_with_unit(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, double *out,
                            bool *has_unit, int unit[4]);
bool model_positive(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, double *out);
bool model_not_negative(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q,
                        double *out);
bool model_integer(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, long min, long max,
                   long *out);
/* A list of `min` to `max` numbers; entries behind the given ones are 0; *n is how many were given. */
bool model_numbers(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, int min, int max,
                   double *out, int *n);
/* Optional keys of a map: untouched default when absent. */
bool model_optional(reader *r, const scope *s, const yoke_yaml_node *map, const char *key, quantity q, double *out);
/* The text of an expression without variables, for parts of names: "i-1" in `rod[i-1]`. */
bool model_index_text(reader *r, const scope *s, const yoke_yaml_node *at, const char *key, const char *text,
                      size_t length, long *out);

/* ---- expressions with variables ---- */

typedef enum variables {
  VARIABLES_NONE,    /* parameters only */
  VARIABLES_TIME,    /* t is 0 */
  VARIABLES_LAW,     /* x, v, t are 0, 1, 2 */
  VARIABLES_FORMULA, /* as STATES; x and v are the deflection of connection `law_of` and its rate */
  VARIABLES_MASS,    /* i is 0: number of a chain's mass or element */
  VARIABLES_STATES,  /* t is 0, quantities as in yoke_variable, no forces of elements */
  VARIABLES_EVENT,   /* as STATES, and forces of elements */
  VARIABLES_OUTPUTS  /* t is 0, outputs as in yoke_output_reference */
} variables;

/* Does the text read as a number: an expression of parameters? Nothing is recorded. */
bool model_is_number(reader *r, const scope *s, const char *text);
/* Does an expression of a law read quantities of the model besides x, v and t? */
bool model_reads_quantities(reader *r, const scope *s, const char *text);
/* Compiles the scalar. Gives. */
bool model_expression(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, variables v, quantity q,
                      yoke_expression **out);
/* The same from a text made by the reader itself (harmonic loads ...). */
bool model_expression_text(reader *r, const scope *s, const yoke_yaml_node *at, const char *key, const char *text,
                           variables v, quantity q, yoke_expression **out);

/* model_quantities.c: numbers (>= 1) of quantities by name, registered in the model. */
typedef enum model_quantity {
  QUANTITY_NONE,
  QUANTITY_OF_MOTION,  /* a function of (q, v), an input of the model, or an output of a subsystem of its own */
  QUANTITY_FELT,       /* an acceleration, or the force of a rigid joint */
  QUANTITY_OF_ELEMENT, /* the force of a force element or of a flexible joint */
  QUANTITY_SHOWN,      /* an energy, a gap, a difference of a coupling */
  QUANTITY_CONSTANT    /* of a frame of the ground */
} model_quantity;
model_quantity model_find_quantity(reader *r, const scope *s, const char *name, yoke_variable *out, double *value);
int            model_variable(reader *r, const yoke_variable *variable);     /* -1: no memory */
int            model_deflection(reader *r, bool is_rate);                    /* of connection `law_of`; -1: no memory */
int            model_reference(reader *r, const scope *s, const char *name); /* -1: no such object */

/* ---- names ---- */

/* "rod[i-1].tip" -> "rod[2].tip": indices evaluated. */
bool model_fold_name(reader *r, const scope *s, const yoke_yaml_node *at, const char *key, const char *text, char *out,
                     size_t size);
/* Look `name` up from the innermost scope outwards. YOKE_NAMES_NONE: nowhere. */
int  model_find(const scope *s, const yoke_names *names, const char *name);
/* An entry that has mistakes: what is named by it or below it is not told as unknown. "" stands for all. */
void model_refuse(reader *r, const char *full_name);
/* Is the object of this name, or one in front of a dot or bracket of it, refused? "rope.node[3].x": "rope". */
bool model_is_refused(const reader *r, const scope *s, const char *name);
/* Index of a frame; frames on single masses of a chain ("c[5]") are made when first asked for. */
bool model_frame(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, int *out);
/* Add a frame; takes nothing, copies the name. -1: out of memory or duplicate (recorded at `at`). */
int  model_add_frame(reader *r, const yoke_yaml_node *at, const char *name, const yoke_frame *frame);

/* Grow array `*items` of `size` byte entries to hold one more than n; new entries zeroed. */
bool model_grow(reader *r, void *items_pointer, int n, size_t *capacity, size_t size);
/* Full name: prefix + name (+ [i]). */
void model_full_name(const scope *s, const char *name, bool counted, char *out, size_t size);

/* Calls `one` for every entry of the map below `section` in scope s, `count` times if it has that key, i = 1 .. count. */
typedef bool model_entry_reader(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node,
                                bool counted);
void         model_each(reader *r, scope *s, const char *section, model_entry_reader *one);
/* The same where an entry may also be a scalar. */
void         model_each_value(reader *r, scope *s, const char *section, model_entry_reader *one);

/* ---- sections ---- */

/* Includes: `*root` is a copy of the tree with what it includes. Overrides: `*root` is replaced by a changed copy. */
bool model_merge_includes(reader *r, const yoke_yaml_node *tree, const char *path, yoke_yaml_node **root);
bool model_apply_overrides(reader *r, yoke_yaml_node **root, const yoke_overrides *overrides);

/* Path of `text` seen from the folder of the file `from`. Gives; NULL: no memory. */
char *model_relative_path(const char *from, const char *text);
/* The model knows the files it was read from: no result may overwrite them. */
bool  model_keep_file(reader *r, const char *path);
/* Matrices of linear bodies that are names of files become what the files hold (model_matrices.c), so that the model is all in one text. */
bool  model_inline_matrices(reader *r, const char *path, yoke_yaml_node **root);

bool model_open_parameters(reader *r, scope *s, const yoke_yaml_node *own, const yoke_yaml_node *given, scope *giver);
void model_evaluate_parameters(reader *r, scope *s);
/* Value of a parameter seen from s. YOKE_SYMBOL_UNKNOWN: none, or it has a mistake (then *bad). */
yoke_symbol_kind model_parameter(reader *r, const scope *s, const char *name, double *value, bool *bad);
/* Unit of a parameter that has a value and a unit; else false. */
bool             model_parameter_unit(const scope *s, const char *name, int unit[4]);
void             model_close_scopes(reader *r);
/* The model's own scope and one scope per instance of an assembly. */
bool             model_open_scopes(reader *r);

void model_read_bodies(reader *r, scope *s);
void model_read_frames(reader *r, scope *s);
bool model_read_chain(reader *r, scope *s, const yoke_yaml_node *node, yoke_chain **out);
bool model_read_rod(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted);
/* A body of its own of the model, and its frame: its index; -1: a mistake is recorded. */
int  model_add_body(reader *r, const yoke_yaml_node *key, const char *name, yoke_body *body);
/* Flexible bodies, whose points are bodies. Index of a kind; -1: none. */
extern const char *const model_flexible_kinds[];
enum { MODEL_FLEXIBLE_KINDS = 2 };
bool model_read_flexible(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, int kind,
                         const char *name);
/* Is the body a node of a cable: a place without axes? Its slope is the body behind it. */
bool model_is_cable_node(const yoke_model *m, int body);
/* The flexible body of this name seen from s; -1: none. */
int  model_find_flexible(const reader *r, const scope *s, const char *name);
void model_read_inputs(reader *r, scope *s);
void model_read_subsystems(reader *r, scope *s); /* all but their inputs, which read outputs */
void model_read_subsystem_inputs(reader *r, scope *s);
void model_read_connections(reader *r, scope *s);
void model_read_laws(reader *r, scope *s); /* of connections, when all of them have names */
void model_read_loads(reader *r, scope *s);
void model_read_events(reader *r, scope *s);
void model_read_outputs(reader *r);
void model_read_gravity(reader *r);  /* before bodies, which may hang */
void model_read_assemble(reader *r); /* before connections, which may hold what is drawn */
void model_read_settings(reader *r);
void model_read_split(reader *r);
void model_read_cosimulation(reader *r);

/* ---- settings ---- */

enum { MAX_SETTING_KEYS = 128 };
enum { MAX_UNIT = 32, MAX_DESCRIPTION = 200 }; /* letters */

/* The value that `node` gives to the setting `row` below `path`, which must outlive the model; `key` is where it stands. */
bool model_setting(reader *r, const char *path, const yoke_setting *row, const yoke_yaml_node *key,
                   const yoke_yaml_node *node, yoke_setting_value *out);
/* All settings of a map and of the maps below it for which there are tables; behind those that are there already. */
void model_setting_map(reader *r, const yoke_yaml_node *map, const char *path, yoke_settings *out);
/* Keys that may stand at `path`: their number. */
int  model_setting_keys(const char *path, const char **keys, int most);
/* Key k of the map is none of these: a mistake. */
void model_unknown_key(reader *r, const yoke_yaml_node *map, int k, const char *path);

/* Rotations, row major, columns are the axes: from the forms of `orientation:`. */
bool model_orientation(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, double quaternion[4]);
void model_rotation_of_quaternion(const double p[4], double R[9]);
/* A right-handed triad with the given z direction. */
void model_axes_of_z(const double z[3], double R[9]);
/* Rotation of a body at its initial position; the ground: identity. */
void model_body_rotation(const yoke_model *model, int body, double R[9]);

#define MODEL_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
