/* Plan: all that a run needs, as data, made once from the whole model by the only code that ever sees it.
 *
 *   1. The whole model is compiled and assembled; every part starts from its share of the assembled positions and velocities.
 *   2. A connection inside a part goes into its submodel. One between two parts becomes a coupling: constitutive for a
 *      force element or flexible joint, a constraint for a rigid joint with the rows that its two bodies can feel and that do
 *      not follow from other joints (coupling_redundancy.h). So does
 *      the element of a chain at a cut ("c.cut[1]", ..., side 1 is the piece of lower masses).
 *   3. A coupling has one port per side: a frame at the connection's end with the axes of its body. Its law is a force element
 *      between these two frames (origins zero; the axes of the connection's ends are in the link).
 *   4. The channels of its formulation say what each side gets: force inputs, or the other frame as a ghost together with the
 *      connection itself (ends in the same order), which a rigid joint's multipliers drive.
 *   5. Channels of constraints start with the multipliers and motions of the assembled whole model.
 *   6. What a load, an event or a law inside a part reads of another part becomes a signal (plan_signals.c). An event goes into the part of the
 *      states it sets or reads, the time integral of a position into that of its body.
 *   7. A subsystem that is no part of the mechanics is made of a type that the context knows (foreign_part.h). Bodies stand in for its ports while
 *      the whole model is assembled; its inputs read outputs of other parts as signals (plan_inputs.c).
 * Joints with prescribed motion and laws of couplings that read others are refused with names.
 *
 * A plan points to nothing of the model it was made of, which may be destroyed. It is constant while systems work with it. */
#ifndef YOKE_MASTER_PLAN_H
#define YOKE_MASTER_PLAN_H

#include "control/controller.h"
#include "coupling/graph.h"
#include "master/outputs.h"
#include "master/places.h"
#include "frames/switches.h"

typedef struct yoke_model          yoke_model;
typedef struct yoke_plan_directory yoke_plan_directory; /* names of all outputs (plan_outputs.c) */

/* A number that may be set from outside, and what it enters. */
typedef struct yoke_plan_input {
  char  *name, *unit, *description;
  double value; /* at the start */
} yoke_plan_input;

/* How one subsystem is made. Another `make` with the same ports may take the place of the planned one; the definition that it gets
 * is its own affair. */
typedef struct yoke_plan_part {
  char       *name;
  const void *definition;                                                               /* kept */
  yoke_status (*make)(yoke_context *ctx, const void *definition, yoke_subsystem **out); /* gives */
  bool
          is_pooled; /* `make` keeps nothing with the context: what its subsystem consists of may come from a pool (base/pool.h) */
  int64_t residual; /* handle of the largest violation of its own joints; YOKE_NO_HANDLE: none */
  double  cost;     /* of its steps, about: masses of chains, bodies by their freedoms */
} yoke_plan_part;

/* What a wire couples: wire k belongs to coupling k. */
typedef struct yoke_plan_coupling {
  char                  *name;
  const char            *chain_name;       /* of the chain that is cut here; NULL: a connection */
  int                    connection;       /* of the model; -1: cut of a chain */
  int                    chain, element;   /* cut: body and 0-based element of the whole model; else -1 */
  int                    frame[2];         /* of the model; cut: -1 */
  int                    part[2], port[2]; /* port of the part */
  const yoke_port_shape *shape[2];
  yoke_law               law;         /* of its own */
  yoke_force_element     element_law; /* between the two ports; of a rigid joint only its link is used */
  int                    n_read;      /* further numbers that the law reads (plan_readings.c) */
  yoke_law_reading      *read;
  int                   *read_variable; /* [n_read] of the model, counted from 0 */
  bool                   is_foreign;    /* a side is a port of a foreign part, which feels wrenches only */
  bool                   is_joint;      /* rigid: a constraint coupling */
  yoke_joint_element     joint;         /* between the two ports */
  bool                   is_overlap;    /* both sides hold copies of each other's masses (plan_halo.c) */
  yoke_overlap_def       overlap;
  bool                   is_halo; /* a body of side 1 in the halo of side 2 (plan_copies.c) */
  yoke_halo_def          halo;
  int             halo_body[2]; /* of the model: what the ports are at; at the frame of a side, if there is one */
  bool            is_signal;    /* a number of side 1 enters side 2 */
  yoke_signal_law signal;       /* its expression is owned by the plan */
  double         *initial;      /* [n_channels] joints: channel values at the start, else NULL */
  yoke_coupling_settings settings;
  int                    spare_order; /* of its wire */
} yoke_plan_coupling;

/* An event, and where it is found. */
typedef struct yoke_plan_event {
  char *name;
  bool  sets, stops; /* at most one; neither: it only records */
  bool  is_brought;  /* its function may jump: it reads signals, or belongs to a foreign subsystem */
  int   part, own;   /* number within the part */
  bool  is_quiet;    /* the log has no note of it */
} yoke_plan_event;

/* Time integral of a position: number `own` of a part's integrals. */
typedef struct yoke_plan_integral {
  int part, own;
} yoke_plan_integral;

/* Steps: free ones of a model that is run as a whole; macro steps that are fixed, or controlled with what the user left open still open but
 * the degrees. */
typedef struct yoke_plan_step {
  bool                  is_free, is_controlled;
  bool                  wanders; /* a rigid joint is at a subsystem whose solver takes other steps in every pass */
  double                H;       /* fixed step [s] */
  yoke_control_settings control;
  char                  scheme_reason[100], order_reason[100]; /* what was chosen and why, "": given */
} yoke_plan_step;

/* A point of the past of `start: exact`: outputs of the ports of all wires (yoke_graph_add_past), and channel values of all wires whose `update`
 * does not give them (joints), one after another. */
typedef struct yoke_plan_point {
  double  t;
  double *y, *u;
} yoke_plan_point;

/* Sizes of the whole model, for reports. */
typedef struct yoke_plan_facts {
  int n_bodies, n_connections, nq, nv, ng, n_redundant, n_freedoms;
} yoke_plan_facts;

typedef struct yoke_plan {
  yoke_arena           arena;      /* of all arrays and names */
  char                *name;       /* of the model */
  char                 solver[24]; /* the model's standard, for reports */
  double               t_start, t_end;
  double               every; /* interval of samples [s]; 0: every accepted step */
  int                  n_parts;
  yoke_plan_part      *parts;
  int                  n_couplings;
  yoke_plan_coupling  *couplings;
  yoke_wire           *wires; /* [n_couplings]; formulations are owned by the plan */
  yoke_scheme_settings scheme;
  yoke_plan_step       step;
  yoke_switches        switches; /* of loads and of events of time alone */
  int                  n_events;
  yoke_plan_event     *events; /* in the order of the file */
  int                  n_inputs, n_constants, n_held;
  yoke_plan_input     *inputs; /* in the order of the file, then constants, which nobody sets and which have no name */
  yoke_held_entry     *held;   /* [n_held] what they enter */
  yoke_plan_integral  *integrals; /* in the order of the file */
  int                  n_past;
  yoke_plan_point     *past;         /* from t_start - H backwards */
  bool                 has_work;     /* dissipated and external work are integrated along */
  bool                 lacks_energy; /* a foreign part does not account for its energy: there is no total */
  double               energy_limit; /* share of the energy that moves above which a leak is warned of */
  yoke_output_list     outputs;      /* that the user selected */
  yoke_output_formulas formulas;     /* that the user wrote */
  yoke_plan_directory *directory;
  yoke_plan_facts      facts;
  yoke_places          places;      /* of the model's bodies */
  struct yoke_native_part  *native; /* [n_parts] what native parts are made of (native_part.h) */
  int                       n_foreigns;
  struct yoke_foreign_part *foreigns; /* what the others are made of (foreign_part.h) */
} yoke_plan;

typedef struct yoke_plan_options {
  bool               is_whole; /* the model runs as one subsystem, whatever its split says; also without a split */
  bool               in_parts; /* with is_whole: its parts are evaluated side by side (lockstep) */
  int                n_print;
  const char *const *print;    /* names that will be asked for: what they need is integrated along */
  bool               is_dry;   /* nobody will run it: placeholders stand for foreign subsystems (placeholder.h) */
  bool               is_study; /* its steps are looked at one by one: no energy account that nobody asked for */
  double             growth;   /* of errors by the motion (analysis/growth.h); 0: not measured */
  const double      *q, *v; /* start of the whole model (no quadratures), where it fits the joints; NULL: assembled */
} yoke_plan_options;

/* Borrows `model`. Combinations of formulations, scheme and order are checked. options NULL: the standard. */
yoke_status yoke_plan_create(yoke_context *ctx, const yoke_model *model, const yoke_plan_options *options,
                             yoke_plan **out);
void        yoke_plan_destroy(yoke_plan **plan);

/* One output by its name, selected or not; unknown names fail with the nearest ones. How many outputs exist. */
yoke_status yoke_plan_find_output(yoke_context *ctx, const yoke_plan *plan, const char *name, yoke_output *out);
int64_t     yoke_plan_count_outputs(const yoke_plan *plan);

/* All that can be found by name, in the order of a file; `visit` gives false to end it. */
typedef bool (*yoke_output_visitor)(void *user, const char *name, const char *unit, const yoke_output *output);
void yoke_plan_visit_outputs(const yoke_plan *plan, yoke_output_visitor visit, void *user);

/* What the user says that selected output i is; "": nothing. */
const char *yoke_plan_output_description(const yoke_plan *plan, int i);

/* Another subsystem takes the place of a part (keeps `definition`): it has the same ports and inputs. Outputs of the part are gone;
 * others may be added, by its handles. */
void        yoke_plan_replace_part(yoke_plan *plan, int part, const void *definition,
                                   yoke_status (*make)(yoke_context *ctx, const void *definition, yoke_subsystem **out));
yoke_status yoke_plan_add_output(yoke_context *ctx, yoke_plan *plan, int part, int64_t handle, const char *name,
                                 const char *unit); /* the unit is kept */

/* owner[n_parts]: the rank on which each part lives, parts that follow each other together and about as much work for each. */
void yoke_plan_place(const yoke_plan *plan, int n_ranks, int *owner);

/* Names, sizes, settings and what its parts and couplings are, in the order of the plan (fingerprint.h). */
void yoke_plan_fingerprint(const yoke_plan *plan, yoke_pack *out);

/* Is the energy of subsystems and couplings accounted for, step by step? */
bool yoke_plan_has_account(const yoke_plan *plan);
/* Has a coupling formulation overlap, for cuts of chains or between bodies? */
bool yoke_plan_has_halos(const yoke_plan *plan);

/* What a coupling's formulation was made of; borrows the plan. */
yoke_coupling_def yoke_plan_coupling_def(const yoke_plan *plan, int coupling);

#endif
