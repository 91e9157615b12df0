/* Directory of a plan: names of all that it could show, and a walk through them. Private to plan_*.c. */
#ifndef YOKE_MASTER_PLAN_DIRECTORY_H
#define YOKE_MASTER_PLAN_DIRECTORY_H

#include "master/plan_builder.h"
#include "model/joint_coordinate.h"
#include "model/quantities.h"

enum { PLAN_NAME_LENGTH = 256 };

typedef struct named_body {
  char          *name;
  yoke_body_kind kind;
  int            n;    /* masses */
  int            y_at; /* it stands in for a port: where its outputs begin among those of its subsystem; else -1 */
} named_body;

/* Output of a foreign subsystem. */
typedef struct named_signal {
  char       *name;
  const char *unit;
  int         part, y;
} named_signal;

typedef struct named_frame {
  char          *name;
  yoke_body_kind kind; /* of its body */
  int            part, own;
} named_frame;

enum { YOKE_MOST_ROWS = 7 }; /* of a connection: six, and a prescribed coordinate */

typedef struct named_connection {
  char            *name;
  int              n_rows;
  int              part, own; /* part < 0: it is wire `own`; own < 0: nothing can feel it */
  bool             is_flexible_joint, is_cut;
  const char      *force_unit[YOKE_MOST_ROWS], *g_unit[YOKE_MOST_ROWS]; /* of the rows */
  bool             has_coordinate[YOKE_N_COORDINATES];
  yoke_coordinate *coordinate[YOKE_N_COORDINATES]; /* of a wire, between its ports; else NULL */
} named_connection;

struct yoke_plan_directory {
  int          n_bodies, n_frames, n_connections, n_integrals, n_signals;
  named_body  *bodies;
  named_frame *frames; /* those that have a name of their own on a body that has more freedoms than a mass on a line */
  named_connection *connections;
  char            **integrals; /* "a.x" */
  named_signal     *signals;
  bool              has_work;   /* dissipated and external work are integrated along */
  const char       *silent;     /* a subsystem that does not account for its energy; NULL: all do */
  bool              is_passive; /* nothing brings energy in */
  int               fingerprint_size;
  unsigned char    *fingerprint; /* of a plan that came as bytes; NULL: it follows from the plan */
};

/* plan.c: the part is made of its submodel. */
void plan_define_part(yoke_plan *plan, int part);

/* One output on the way. */
typedef struct plan_shown {
  const char          *name, *unit;
  const yoke_output   *output;
  const yoke_quantity *row;              /* NULL: the user's own, or an integral */
  bool                 of_frame, of_cut; /* shown only where a pattern has a part for the frame, or the cut, too */
} plan_shown;

/* What is not shown by itself is visited where somebody asks for it: by rows of the list of quantities, of frames, and of cuts. */
typedef struct plan_hidden {
  bool all, row[YOKE_MOST_QUANTITY_ROWS], frames; /* and cuts of chains */
} plan_hidden;

/* Walks all outputs in file order. Return false from `visit` to stop. */
typedef struct plan_walk {
  const yoke_plan   *plan;
  bool               whole_chains;
  const plan_hidden *hidden; /* NULL: nothing of it; plan_all_hidden: all */
  bool with_absent; /* also what only couplings show, of every connection, and of every cut that a chain could have */
  bool is_count;    /* names are not asked for and are "" */
  int  n_patterns;  /* > 0: masses of chains that none of them can mean are passed over */
  char *const *patterns;
  bool (*visit)(void *user, const plan_shown *shown);
  void *user;
} plan_walk;

extern const plan_hidden plan_all_hidden;

bool plan_visit_all(const plan_walk *walk);

/* Does a pattern mean this output? What is not shown by itself must be named by its last part. */
bool plan_is_meant(const char *pattern, const plan_shown *shown);

/* Component i of a body, or mass i of a chain. */
yoke_output plan_component_output(const yoke_plan *plan, int body, yoke_native_quantity quantity, int i);

/* Does a pattern name an energy, of the list from number `first` on? One that this run does not account for, and why? */
enum { PLAN_WHY_LENGTH = PLAN_NAME_LENGTH + 160 };
bool plan_names_total(const char *pattern, int first);
bool plan_is_untold(const yoke_plan *plan, const char *pattern, char *why, size_t size);

/* Does a name or a pattern ask for energies of single subsystems or couplings in a run with halos, which do not tell them (plan_work.c)? */
bool              plan_is_lost_to_halos(const yoke_plan *plan, const char *name);
static const char plan_halos_tell[] =
    "halos (formulation overlap) tell the energy of the whole model alone, not of single subsystems and "
    "couplings; use formulation constitutive";

/* Does it name what a connection shows with another split or method? The same file runs as a whole and with every method. */
bool plan_is_absent(const yoke_plan *plan, const char *pattern);

/* The output of this name; false: none, *nearest [PLAN_NAME_LENGTH] is the nearest name ("": none is near). */
bool plan_search(const yoke_plan *plan, const char *name, yoke_output *out, char *nearest);

/* Formulas that read what is not there are absent, and those that read them. */
void plan_mark_absent(yoke_output_formulas *formulas);

#endif
