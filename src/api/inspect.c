/* Inspection: what a model consists of once it is assembled and split. Public part: yoke/inspect.h. */
#include <yoke/inspect.h>

#include "api/run.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/settings_text.h"
#include "master/native_part.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct yoke_inspection {
  yoke_arena          arena; /* of all that follows */
  yoke_model_facts    facts;
  yoke_model_item    *bodies, *connections, *outputs; /* as many as the facts tell */
  yoke_part_item     *parts;
  yoke_coupling_item *couplings;
};

static const char *keep(yoke_inspection *in, const char *text) {
  return yoke_arena_text(&in->arena, text != NULL ? text : "");
}

/* ---- items ---- */

static yoke_model_item make_item(yoke_inspection *in, const char *name, const char *kind, const char *description) {
  return (yoke_model_item){.name = keep(in, name), .kind = keep(in, kind), .description = keep(in, description)};
}

static yoke_model_item body_item(yoke_inspection *in, const void *from, int i) {
  const yoke_model *model = from;
  return make_item(in, model->bodies[i].name, yoke_body_kind_name(model->bodies[i].kind), NULL);
}

static yoke_model_item connection_item(yoke_inspection *in, const void *from, int i) {
  const yoke_model *model = from;
  return make_item(in, model->connections[i].name, yoke_connection_kind_name(model->connections[i].kind), NULL);
}

static yoke_model_item output_item(yoke_inspection *in, const void *from, int i) {
  const yoke_plan *plan = from;
  return make_item(in, plan->outputs.name[i], plan->outputs.unit[i], yoke_plan_output_description(plan, i));
}

/* n items that `item` makes. Without memory none: the arena tells. */
static yoke_model_item *take_items(yoke_inspection *in, int n, const void *from,
                                   yoke_model_item (*item)(yoke_inspection *in, const void *from, int i)) {
  yoke_model_item *items = yoke_arena_take(&in->arena, (size_t)n, sizeof *items);
  for (int i = 0; items != NULL && i < n; ++i) items[i] = item(in, from, i);
  return items;
}

static void take_model(yoke_inspection *in, const yoke_model *model, const yoke_run_system *run) {
  const int             n_own = model->n_bodies - yoke_model_n_port_bodies(model);
  const yoke_plan_facts sizes = yoke_run_system_facts(run);
  const int64_t         n_all = yoke_plan_count_outputs(run->plan);
  in->facts                   = (yoke_model_facts){.name          = keep(in, model->name),
                                                   .t_start       = model->t_start,
                                                   .t_end         = model->t_end,
                                                   .solver        = keep(in, model->solver.kind),
                                                   .rtol          = model->solver.rtol,
                                                   .atol          = model->solver.atol,
                                                   .n_bodies      = n_own,
                                                   .n_connections = model->n_connections,
                                                   .n_loads       = model->n_loads,
                                                   .n_events      = model->n_events,
                                                   .nq            = sizes.nq,
                                                   .nv            = sizes.nv,
                                                   .n_constraints = sizes.ng,
                                                   .n_redundant   = sizes.n_redundant,
                                                   .n_freedoms    = sizes.n_freedoms,
                                                   .n_outputs     = run->plan->outputs.n,
                                                   .n_outputs_all = n_all < INT32_MAX ? (int)n_all : INT32_MAX,
                                                   .every         = model->output.every,
                                                   .scheme        = "",
                                                   .sequence      = "",
                                                   .control       = ""};
  if (model->output.file != NULL) in->facts.output_file = keep(in, model->output.file);
  if (model->output.csv != NULL) in->facts.output_csv = keep(in, model->output.csv);
  in->bodies      = take_items(in, n_own, model, body_item);
  in->connections = take_items(in, model->n_connections, model, connection_item);
  in->outputs     = take_items(in, run->plan->outputs.n, run->plan, output_item);
}

/* ---- split ---- */

static const char *contents_of(yoke_inspection *in, const yoke_model *model, const yoke_split_part *part) {
  char bodies[40] = "", masses[160] = "";
  if (part->is_foreign) {
    const yoke_foreign *own = &model->foreigns[part->foreign];
    char                type[200];
    snprintf(type, sizeof type, "%s subsystem of type %.80s, %d %s, %d %s, %d %s", own->kind, own->type, own->n_ports,
             own->n_ports == 1 ? "port" : "ports", own->n_inputs, own->n_inputs == 1 ? "input" : "inputs",
             own->n_outputs, own->n_outputs == 1 ? "output" : "outputs");
    return keep(in, type);
  }
  if (part->n_bodies > 0)
    snprintf(bodies, sizeof bodies, "%d %s", part->n_bodies, part->n_bodies == 1 ? "body" : "bodies");
  if (part->n_masses > 0) {
    snprintf(masses, sizeof masses, "%smasses %d to %d of %.80s", part->n_bodies > 0 ? ", " : "", part->first_mass + 1,
             part->first_mass + part->n_masses, model->bodies[part->chain].name);
  }
  char text[200];
  snprintf(text, sizeof text, "%s%s", bodies, masses);
  return keep(in, text);
}

static void take_parts(yoke_inspection *in, const yoke_model *model) {
  in->parts         = yoke_arena_take(&in->arena, (size_t)model->n_parts, sizeof *in->parts);
  in->facts.n_parts = model->n_parts;
  for (int i = 0; in->parts != NULL && i < model->n_parts; ++i) {
    const yoke_split_part *from = &model->parts[i];
    in->parts[i]                = (yoke_part_item){.name     = keep(in, from->name),
                                                   .contents = contents_of(in, model, from),
                                                   .solver   = keep(in, from->is_foreign   ? "of its own"
                                                                        : from->has_solver ? from->solver.kind
                                                                                           : model->solver.kind)};
  }
}

static const char *channel_list(yoke_inspection *in, const yoke_graph *graph, int wire) {
  const int n    = yoke_graph_n_channels(graph, wire);
  size_t    size = 1;
  for (int i = 0; i < n; ++i) size += strlen(yoke_graph_channel_name(graph, wire, i)) + 2;
  char *text = yoke_arena_take(&in->arena, size, 1);
  for (int i = 0; text != NULL && i < n; ++i) {
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "", yoke_graph_channel_name(graph, wire, i));
  }
  return text;
}

static yoke_coupling_item coupling_item(yoke_inspection *in, const yoke_model *model, const yoke_run_system *run,
                                        int k) {
  static const char *const decompositions[] = {
      [YOKE_FORCE_FORCE]               = "force/force",
      [YOKE_FORCE_DISPLACEMENT]        = "force/displacement",
      [YOKE_DISPLACEMENT_FORCE]        = "displacement/force",
      [YOKE_DISPLACEMENT_DISPLACEMENT] = "displacement/displacement",
  };
  static const char *const extensions[] = {
      [YOKE_EXTENSION_NONE] = "none", [YOKE_EXTENSION_D] = "d", [YOKE_EXTENSION_I] = "i"};
  const yoke_plan_coupling *from  = &run->plan->couplings[k];
  const yoke_graph         *graph = yoke_system_graph(run->system);
  return (yoke_coupling_item){
      .name          = keep(in, from->name),
      .kind          = keep(in, from->is_signal        ? "signal"
                                : from->is_halo        ? "body in a halo"
                                : from->connection < 0 ? "element"
                                                       : yoke_connection_kind_name(model->connections[from->connection].kind)),
      .side          = {keep(in, model->parts[from->part[0]].name), keep(in, model->parts[from->part[1]].name)},
      .formulation   = keep(in, from->settings.formulation),
      .decomposition = from->is_signal ? "" : decompositions[from->settings.decomposition],
      .extension     = extensions[from->settings.extension],
      .channels      = channel_list(in, graph, k),
      .n_channels    = yoke_graph_n_channels(graph, k)};
}

static void take_split(yoke_inspection *in, const yoke_model *model, const yoke_run_system *run) {
  const yoke_plan        *plan   = run->plan;
  const yoke_step_choice *choice = yoke_system_choice(run->system);
  yoke_model_facts       *facts  = &in->facts;
  if (plan->native[0].in_parts) { /* one solver for all: there are no macro steps, and nothing is predicted */
    facts->scheme   = "lockstep";
    facts->sequence = "one solver";
    facts->control  = "that of the solver";
    take_parts(in, model);
  }
  if (plan->step.is_free) return;
  facts->order      = plan->scheme.order;
  facts->macro_step = yoke_system_H(run->system);
  if (choice != NULL) facts->control = keep(in, choice->reasons);
  facts->scheme   = keep(in, plan->scheme.scheme);
  facts->sequence = plan->scheme.gauss_seidel ? "gauss-seidel" : "jacobi";
  take_parts(in, model);
  in->couplings      = yoke_arena_take(&in->arena, (size_t)plan->n_couplings, sizeof *in->couplings);
  facts->n_couplings = plan->n_couplings;
  for (int k = 0; in->couplings != NULL && k < plan->n_couplings; ++k)
    in->couplings[k] = coupling_item(in, model, run, k);
}

/* ---- public ---- */

static yoke_status fill(yoke_context *ctx, yoke_inspection *in, const yoke_run_options *options,
                        const yoke_model *model, const yoke_run_system *run) {
  char *settings = yoke_run_settings_text(model, run->plan, yoke_system_choice(run->system), options->threads);
  if (settings == NULL) return yoke_out_of_memory(ctx, "the settings");
  take_model(in, model, run);
  take_split(in, model, run);
  in->facts.settings = keep(in, settings);
  free(settings);
  return yoke_arena_check(&in->arena, ctx, "the facts of '%s'", model->name != NULL ? model->name : "the model");
}

yoke_status yoke_model_inspect(yoke_context *ctx, const yoke_run_options *options, yoke_inspection **out) {
  yoke_run_options own;
  yoke_model      *model = NULL;
  yoke_run_system  run   = {0};
  *out                   = NULL;
  YOKE_TRY(yoke_run_options_take(ctx, options, &own));
  yoke_inspection *in = yoke_allocate(1, sizeof *in);
  if (in == NULL) return yoke_out_of_memory(ctx, "the facts of the model");
  const yoke_simulation_options simulation = yoke_run_simulation(&own);
  yoke_status                   status     = yoke_run_load(ctx, &own, &model);
  if (status == YOKE_OK) status = yoke_run_system_look(ctx, &simulation, model, &run);
  if (status == YOKE_OK) status = fill(ctx, in, &own, model, &run);
  yoke_run_system_clear(&run);
  yoke_model_destroy(&model);
  if (status == YOKE_OK)
    *out = in;
  else
    yoke_inspection_destroy(&in);
  return status;
}

void yoke_inspection_destroy(yoke_inspection **inspection) {
  if (inspection == NULL || *inspection == NULL) return;
  yoke_arena_free(&(*inspection)->arena);
  free(*inspection);
  *inspection = NULL;
}

yoke_status yoke_inspection_facts_get(yoke_context *ctx, const yoke_inspection *in, yoke_model_facts *out) {
  return yoke_sized_show(ctx, out, &in->facts, sizeof in->facts, "yoke_model_facts");
}

static yoke_status show_item(yoke_context *ctx, const yoke_model_item *items, int n, int i, yoke_model_item *out) {
  return yoke_sized_show_item(ctx, out, items, n, i, sizeof *items, "yoke_model_item");
}

yoke_status yoke_inspection_body(yoke_context *ctx, const yoke_inspection *in, int i, yoke_model_item *out) {
  return show_item(ctx, in->bodies, in->facts.n_bodies, i, out);
}

yoke_status yoke_inspection_connection(yoke_context *ctx, const yoke_inspection *in, int i, yoke_model_item *out) {
  return show_item(ctx, in->connections, in->facts.n_connections, i, out);
}

yoke_status yoke_inspection_output(yoke_context *ctx, const yoke_inspection *in, int i, yoke_model_item *out) {
  return show_item(ctx, in->outputs, in->facts.n_outputs, i, out);
}

yoke_status yoke_inspection_part(yoke_context *ctx, const yoke_inspection *in, int i, yoke_part_item *out) {
  return yoke_sized_show_item(ctx, out, in->parts, in->facts.n_parts, i, sizeof *in->parts, "yoke_part_item");
}

yoke_status yoke_inspection_coupling(yoke_context *ctx, const yoke_inspection *in, int i, yoke_coupling_item *out) {
  return yoke_sized_show_item(ctx, out, in->couplings, in->facts.n_couplings, i, sizeof *in->couplings,
                              "yoke_coupling_item");
}
