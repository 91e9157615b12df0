/* Inspection: what a model consists of once it is assembled and split. Public part: yoke/run.h. */
#include "api/run.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/settings_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_items(yoke_model_item **items, int n) {
  for (int i = 0; *items && i < n; ++i) {
    free((*items)[i].name);
    free((*items)[i].kind);
    free((*items)[i].description);
  }
  free(*items);
  *items = NULL;
}

typedef struct item_texts {
  const char *name, *kind, *description;
} item_texts;

/* Copies of n items; `item` gives number i, as far as it has these texts. */
static bool take_items(yoke_model_item **items, int n, const void *from, item_texts (*item)(const void *from, int i)) {
  *items = yoke_allocate((size_t)n + 1, sizeof **items);
  for (int i = 0; *items && i < n; ++i) {
    const item_texts texts  = item(from, i);
    (*items)[i].name        = yoke_text_copy(texts.name ? texts.name : "");
    (*items)[i].kind        = yoke_text_copy(texts.kind ? texts.kind : "");
    (*items)[i].description = yoke_text_copy(texts.description ? texts.description : "");
    if (!(*items)[i].name || !(*items)[i].kind || !(*items)[i].description) return false;
  }
  return *items != NULL;
}

static item_texts body_item(const void *from, int i) {
  const yoke_model *model = from;
  return (item_texts){.name = model->bodies[i].name, .kind = yoke_body_kind_name(model->bodies[i].kind)};
}

static item_texts connection_item(const void *from, int i) {
  const yoke_model *model = from;
  return (item_texts){.name = model->connections[i].name,
                      .kind = yoke_connection_kind_name(model->connections[i].kind)};
}

static item_texts output_item(const void *from, int i) {
  const yoke_plan *plan = from;
  return (item_texts){plan->outputs.name[i], plan->outputs.unit[i], yoke_plan_output_description(plan, i)};
}

static yoke_status take_model_facts(yoke_context *ctx, const yoke_model *model, const yoke_run_system *run,
                                    yoke_model_facts *facts) {
  const yoke_plan_facts sizes = yoke_run_system_facts(run);
  const int64_t         n_all = yoke_plan_count_outputs(run->plan);
  facts->t_start              = model->t_start;
  facts->t_end                = model->t_end;
  facts->rtol                 = model->solver.rtol;
  facts->atol                 = model->solver.atol;
  facts->every                = model->output.every;
  facts->n_bodies             = model->n_bodies;
  facts->n_connections        = model->n_connections;
  facts->n_loads              = model->n_loads;
  facts->n_events             = model->n_events;
  facts->nq                   = sizes.nq;
  facts->nv                   = sizes.nv;
  facts->n_constraints        = sizes.ng;
  facts->n_redundant          = sizes.n_redundant;
  facts->n_freedoms           = sizes.n_freedoms;
  facts->n_outputs            = run->plan->outputs.n;
  facts->n_outputs_all        = n_all < INT32_MAX ? (int)n_all : INT32_MAX;
  snprintf(facts->solver, sizeof facts->solver, "%s", model->solver.kind);
  facts->name = yoke_text_copy(model->name ? model->name : "");
  if (model->output.file) facts->output_file = yoke_text_copy(model->output.file);
  if (model->output.csv) facts->output_csv = yoke_text_copy(model->output.csv);
  if (facts->name && take_items(&facts->bodies, facts->n_bodies, model, body_item) &&
      take_items(&facts->connections, facts->n_connections, model, connection_item) &&
      take_items(&facts->outputs, facts->n_outputs, run->plan, output_item)) {
    return YOKE_OK;
  }
  return yoke_out_of_memory(ctx, "the facts of '%s'", facts->name ? facts->name : "the model");
}

/* ---- split ---- */

static char *contents_of(const yoke_model *model, const yoke_split_part *part) {
  char bodies[40] = "", masses[160] = "";
  if (part->n_bodies > 0)
    snprintf(bodies, sizeof bodies, "%d %s", part->n_bodies, part->n_bodies == 1 ? "body" : "bodies");
  if (part->n_masses > 0) {
    snprintf(masses, sizeof masses, "%smasses %d to %d of %.80s", part->n_bodies > 0 ? ", " : "", part->first_mass + 1,
             part->first_mass + part->n_masses, model->bodies[part->chain].name);
  }
  char text[200];
  snprintf(text, sizeof text, "%s%s", bodies, masses);
  return yoke_text_copy(text);
}

static bool take_parts(const yoke_model *model, yoke_model_facts *facts) {
  facts->parts = yoke_allocate((size_t)model->n_parts, sizeof *facts->parts);
  if (!facts->parts) return false;
  facts->n_parts = model->n_parts;
  for (int i = 0; i < model->n_parts; ++i) {
    const yoke_split_part *from = &model->parts[i];
    yoke_part_item        *to   = &facts->parts[i];
    to->name                    = yoke_text_copy(from->name);
    to->contents                = contents_of(model, from);
    to->solver                  = yoke_text_copy(from->has_solver ? from->solver.kind : model->solver.kind);
    if (!to->name || !to->contents || !to->solver) return false;
  }
  return true;
}

static char *channel_list(const yoke_graph *graph, int wire) {
  const int n    = yoke_graph_n_channels(graph, wire);
  size_t    size = 1;
  for (int i = 0; i < n; ++i) size += strlen(yoke_graph_channel_name(graph, wire, i)) + 2;
  char *text = yoke_allocate(size, 1);
  for (int i = 0; text && i < n; ++i) {
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "", yoke_graph_channel_name(graph, wire, i));
  }
  return text;
}

static bool take_coupling(const yoke_model *model, const yoke_plan_coupling *from, yoke_coupling_item *to) {
  static const char *const decompositions[] = {
      [YOKE_FORCE_FORCE]               = "force/force",
      [YOKE_FORCE_DISPLACEMENT]        = "force/displacement",
      [YOKE_DISPLACEMENT_FORCE]        = "displacement/force",
      [YOKE_DISPLACEMENT_DISPLACEMENT] = "displacement/displacement",
  };
  static const char *const extensions[] = {
      [YOKE_EXTENSION_NONE] = "none", [YOKE_EXTENSION_D] = "d", [YOKE_EXTENSION_I] = "i"};
  to->name = yoke_text_copy(from->name);
  to->kind = yoke_text_copy(
      from->connection < 0 ? "element" : yoke_connection_kind_name(model->connections[from->connection].kind));
  for (int side = 0; side < 2; ++side) to->side[side] = yoke_text_copy(model->parts[from->part[side]].name);
  to->formulation   = yoke_text_copy(from->settings.formulation);
  to->decomposition = yoke_text_copy(decompositions[from->settings.decomposition]);
  to->extension     = yoke_text_copy(extensions[from->settings.extension]);
  return to->name && to->kind && to->side[0] && to->side[1] && to->formulation && to->decomposition && to->extension;
}

static bool take_split(const yoke_model *model, const yoke_run_system *run, yoke_model_facts *facts) {
  const yoke_plan        *plan   = run->plan;
  const yoke_graph       *graph  = yoke_system_graph(run->system);
  const yoke_step_choice *choice = yoke_system_choice(run->system);
  if (plan->step.is_free) return true;
  facts->order      = plan->scheme.order;
  facts->macro_step = yoke_system_H(run->system);
  if (choice) snprintf(facts->control, sizeof facts->control, "%s", choice->reasons);
  snprintf(facts->scheme, sizeof facts->scheme, "%s", plan->scheme.scheme);
  snprintf(facts->sequence, sizeof facts->sequence, "%s", plan->scheme.gauss_seidel ? "gauss-seidel" : "jacobi");
  facts->couplings = yoke_allocate((size_t)plan->n_couplings + 1, sizeof *facts->couplings);
  if (!facts->couplings || !take_parts(model, facts)) return false;
  facts->n_couplings = plan->n_couplings;
  for (int k = 0; k < plan->n_couplings; ++k) {
    yoke_coupling_item *to = &facts->couplings[k];
    to->n_channels         = yoke_graph_n_channels(graph, k);
    to->channels           = channel_list(graph, k);
    if (!to->channels || !take_coupling(model, &plan->couplings[k], to)) return false;
  }
  return true;
}

static void release_split(yoke_model_facts *facts) {
  for (int i = 0; facts->parts && i < facts->n_parts; ++i) {
    free(facts->parts[i].name);
    free(facts->parts[i].contents);
    free(facts->parts[i].solver);
  }
  for (int k = 0; facts->couplings && k < facts->n_couplings; ++k) {
    yoke_coupling_item *c       = &facts->couplings[k];
    char *const         texts[] = {c->name,        c->kind,          c->side[0],   c->side[1],
                                   c->formulation, c->decomposition, c->extension, c->channels};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) free(texts[i]);
  }
  free(facts->parts);
  free(facts->couplings);
}

/* ---- public ---- */

yoke_status yoke_model_inspect(yoke_context *ctx, const yoke_run_options *options, yoke_model_facts *facts) {
  *facts                                   = (yoke_model_facts){0};
  yoke_model                   *model      = NULL;
  yoke_run_system               run        = {0};
  yoke_status                   status     = yoke_run_load(ctx, options, &model);
  const yoke_simulation_options simulation = yoke_run_simulation(options);
  if (status == YOKE_OK) status = yoke_run_system_create(ctx, &simulation, model, &run);
  if (status == YOKE_OK) status = take_model_facts(ctx, model, &run, facts);
  if (status == YOKE_OK) {
    facts->settings = yoke_run_settings_text(model, run.plan, yoke_system_choice(run.system), options->threads);
    if (facts->settings == NULL) status = yoke_out_of_memory(ctx, "the settings");
  }
  if (status == YOKE_OK && !take_split(model, &run, facts))
    status = yoke_out_of_memory(ctx, "the facts of '%s'", facts->name);
  yoke_run_system_clear(&run);
  yoke_model_destroy(&model);
  if (status != YOKE_OK) yoke_model_facts_release(facts);
  return status;
}

void yoke_model_facts_release(yoke_model_facts *facts) {
  release_items(&facts->bodies, facts->n_bodies);
  release_items(&facts->connections, facts->n_connections);
  release_items(&facts->outputs, facts->n_outputs);
  release_split(facts);
  free(facts->name);
  free(facts->output_file);
  free(facts->output_csv);
  free(facts->settings);
  *facts = (yoke_model_facts){0};
}
