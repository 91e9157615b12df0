/* Simulation: one model, its equations, an integrator, and the outputs the user selected. */
#ifndef YOKE_MASTER_SIMULATION_H
#define YOKE_MASTER_SIMULATION_H

#include "master/cosimulation.h"

typedef struct yoke_simulation yoke_simulation;

/* Keeps `model`. Uses model->solver, model->output (select, integrals, every), model->energy. Assembles the consistent start. */
yoke_status yoke_simulation_create(yoke_context *ctx, const yoke_model *model, yoke_simulation **out);
/* The same for a model with a split: subsystems over macro steps. */
yoke_status yoke_simulation_create_split(yoke_context *ctx, const yoke_model *model,
                                         const yoke_cosimulation_options *options, yoke_simulation **out);
void        yoke_simulation_destroy(yoke_simulation **simulation);

/* Selected outputs, in file order: "upper.x", unit "m". Names of all outputs that exist can be asked for by any caller (`--print`). */
int         yoke_simulation_n_outputs(const yoke_simulation *simulation);
const char *yoke_simulation_output_name(const yoke_simulation *simulation, int i);
const char *yoke_simulation_output_unit(const yoke_simulation *simulation, int i);

/* One value by name at the current time, also of outputs that were not selected. Unknown names fail with the nearest ones. */
yoke_status yoke_simulation_value(yoke_simulation *simulation, const char *name, double *value, yoke_context *ctx);

/* Called for the start, for every output time and for the end. Return false to stop cleanly (YOKE_E_INTERRUPTED). */
typedef struct yoke_sink {
  void *user;
  yoke_status (*sample)(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order);
  bool (*progress)(void *user, double t); /* after every micro (split: macro) step; NULL: none; false: stop */
  /* split models: after every accepted macro step that ended at t; NULL: none */
  yoke_status (*macro)(void *user, double t, double H, int order, const yoke_step_statistics *statistics);
} yoke_sink;

typedef struct yoke_simulation_summary {
  double        t; /* reached [s] */
  yoke_counters counters;
  bool          has_energy;
  double energy_start, energy_drift; /* E(0); largest |E_kin + E_pot + dissipated - external - E(0)| at samples [J] */
  double constraint_residual;        /* largest |g| at samples */
  const char       *method;          /* method at work at the end ("dopri5" under auto) */
  int               n_events;        /* located */
  bool              is_split;
  yoke_macro_totals macro; /* split models */
} yoke_simulation_summary;

/* Run to t_end. `summary` is filled also on failure: what was computed before is valid. */
yoke_status yoke_simulation_run(yoke_simulation *simulation, double t_end, const yoke_sink *sink,
                                yoke_simulation_summary *summary, yoke_context *ctx);

/* NULL: monolithic. */
const yoke_cosimulation *yoke_simulation_cosimulation(const yoke_simulation *simulation);

/* Facts for `yoke info` and `yoke check`. */
typedef struct yoke_simulation_facts {
  int n_bodies, n_connections, nq, nv, ng, n_redundant, n_freedoms, n_outputs_all;
} yoke_simulation_facts;
void yoke_simulation_facts_get(const yoke_simulation *simulation, yoke_simulation_facts *out);

#endif
