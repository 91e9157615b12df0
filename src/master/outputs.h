/* Outputs: every quantity of a model by name, and the selection the user wants.
 *
 *   body.quantity          components of q and v by their names (model.h); mass1d also `a`
 *   chain.x[i] chain.v[i]  masses count from 1
 *   body.x.integral        time integral of a position, where asked for
 *   connection.force[k]    joints: lambda of row k; force elements: force; k counts from 1
 *   connection.g[k]        joints: violation of row k; force elements: deflection
 *   total.energy           mechanical energy, kinetic + potential
 *   total.kinetic total.potential
 *   total.dissipated       lost in dampers and drag since the start
 *   total.external         work of loads and prescribed motions since the start
 *   total.balance          energy + dissipated - external: constant in exact arithmetic
 * The last three exist when the work is integrated along (not for a bare chain unless `energy: monitor` asks for it). */
#ifndef YOKE_MASTER_OUTPUTS_H
#define YOKE_MASTER_OUTPUTS_H

#include "model/multibody.h"
#include "base/memory.h"

typedef enum yoke_output_kind {
  YOKE_OUTPUT_Q, /* index into q */
  YOKE_OUTPUT_V,
  YOKE_OUTPUT_A,
  YOKE_OUTPUT_FORCE, /* index is the connection, row counts from 0 */
  YOKE_OUTPUT_G,
  YOKE_OUTPUT_ENERGY /* row: index into the names energy, kinetic, potential, dissipated, external, balance */
} yoke_output_kind;

typedef struct yoke_output {
  yoke_output_kind kind;
  int              index, row;
} yoke_output;

typedef struct yoke_outputs {
  yoke_arena            arena; /* of the names */
  const yoke_model     *model;
  const yoke_multibody *mb; /* NULL: the model is one chain */
  const yoke_equations *equations;
  bool                  has_energy; /* dissipated and external work are integrated */
  int                   n;
  yoke_output          *list;
  char                **name;
  const char          **unit;
  bool                  needs_acceleration, needs_energy; /* what the selection asks of a sample */
} yoke_outputs;

/* Chains with more masses show only their first and last mass unless a pattern asks for more. */
enum { YOKE_OUTPUT_CHAIN_LIMIT = 1000 };

/* Selection by patterns; none: all. A pattern that matches nothing is an error. */
yoke_status yoke_outputs_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                const yoke_equations *equations, bool has_energy, int n_patterns, char *const *patterns,
                                yoke_outputs *out);
void        yoke_outputs_clear(yoke_outputs *outputs);

/* One output by its name, selected or not. */
yoke_status yoke_outputs_find(yoke_context *ctx, const yoke_outputs *outputs, const char *name, yoke_output *out);

/* How many outputs exist. */
int64_t yoke_outputs_count_all(const yoke_outputs *outputs);

/* State at one time; a and lambda may be NULL when nothing needs them. */
typedef struct yoke_sample {
  double        t;
  const double *q, *v, *a, *lambda;
  yoke_energy   energy;
} yoke_sample;

double yoke_outputs_value(const yoke_outputs *outputs, const yoke_output *output, const yoke_sample *sample,
                          void *work);
double yoke_energy_balance(const yoke_energy *energy);

#endif
