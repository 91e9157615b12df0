#include "master/native_part.h"

yoke_status yoke_native_part_make(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  const yoke_native_part *part = definition;
  return yoke_native_create(ctx, &part->def, out);
}

yoke_plan_facts yoke_native_part_facts(const yoke_plan *plan, const yoke_subsystem *first) {
  yoke_plan_facts facts = plan->facts;
  if (!plan->step.is_free || !yoke_native_is(first)) return facts;
  const yoke_equations *e = yoke_native_equations(first);
  facts.nq                = e->nq - e->n_quadratures;
  facts.nv                = e->nv;
  facts.ng                = e->ng;
  facts.n_redundant       = yoke_native_n_redundant(first);
  facts.n_freedoms        = e->nv - e->ng + facts.n_redundant;
  return facts;
}
