/* The list of formulations, and what their channels are. */
#include "coupling/formulation.h"

#include <string.h>

#define X(symbol) extern const yoke_formulation_ops symbol;
#include "coupling/formulation_list.def"
#undef X

static const yoke_formulation_ops *const formulations[] = {
#define X(symbol) &symbol,
#include "coupling/formulation_list.def"
#undef X
};

enum { N_FORMULATIONS = (int)(sizeof formulations / sizeof formulations[0]) };

int yoke_formulation_n(void) {
  return N_FORMULATIONS;
}

const yoke_formulation_ops *yoke_formulation_at(int i) {
  return i >= 0 && i < N_FORMULATIONS ? formulations[i] : NULL;
}

const yoke_formulation_ops *yoke_formulation_find(const char *name) {
  for (int i = 0; name != NULL && i < N_FORMULATIONS; ++i) {
    if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
  }
  return NULL;
}

/* ---- settings ---- */

/* Those that a coupling can name. */
static const char *formulation_word(int i) {
  for (int k = 0; k < N_FORMULATIONS; ++k) {
    if (!formulations[k]->for_signals && i-- == 0) return formulations[k]->name;
  }
  return NULL;
}

static const yoke_setting rows[] = {
    {.key       = "formulation",
     .type      = YOKE_SETTING_WORD,
     .more      = formulation_word,
     .otherwise = "constitutive; rigid joints: stabilized-index-2, with scheme explicit kinematic; long chains, and "
                  "nothing of the method given: overlap",
     .option    = "formulation",
     .value     = "NAME",
     .help      = "channels, layout and conditions; yoke help formulations",
     YOKE_SETTING_AT(yoke_coupling_settings, formulation)},
    {.key       = "decomposition",
     .type      = YOKE_SETTING_WORD,
     .words     = {"force/force", "force/displacement", "displacement/force", "displacement/displacement"},
     .standard  = {YOKE_DECOMPOSITION_OPEN},
     .otherwise = "force/force; step control that names neither scheme nor estimator: displacement for a side of a "
                  "force element that is 100 times lighter",
     .option    = "decomposition",
     .value     = "WORD",
     .help      = "what enters side 1 and side 2",
     YOKE_SETTING_AT(yoke_coupling_settings, decomposition)},
    {.key    = "extension",
     .type   = YOKE_SETTING_WORD,
     .words  = {"none", "d", "i"},
     .option = "extension",
     .value  = "WORD",
     .help   = "force elements: the law's derivative or integral is a condition, too",
     YOKE_SETTING_AT(yoke_coupling_settings, extension)},
    {.key  = "feedthrough",
     .type = YOKE_SETTING_BOOLEAN,
     .help = "force elements with one displacement side: the force comes out of the subsystem that holds the element",
     YOKE_SETTING_AT(yoke_coupling_settings, feedthrough)},
    {.key       = "energy",
     .type      = YOKE_SETTING_WORD,
     .words     = {"monitor", "correct", "guard", "passivity"},
     .standard  = {YOKE_ENERGY_OPEN},
     .otherwise = "cosimulation.energy",
     .help      = "what is done about energy that the coupling brings out of nothing",
     YOKE_SETTING_AT(yoke_coupling_settings, energy)},
    {.key       = "energy_cap",
     .type      = YOKE_SETTING_POSITIVE,
     .otherwise = "cosimulation.energy_cap",
     .with      = "energy",
     .of        = "correct guard passivity",
     .help      = "largest correcting force in units of the coupling force",
     YOKE_SETTING_AT(yoke_coupling_settings, energy_cap)},
};

const yoke_setting_table yoke_coupling_rows = {.path = YOKE_COUPLING_PATH, YOKE_SETTING_ROWS(rows)};

void yoke_coupling_own(const yoke_formulation_ops *ops, int n_lists, const yoke_settings *const *lists,
                       yoke_coupling_settings *settings) {
  yoke_setting_start(&ops->settings, settings->own);
  for (int i = 0; i < n_lists; ++i) {
    if (lists[i] != NULL) yoke_setting_fill(&ops->settings, YOKE_COUPLING_PATH, lists[i], settings->own);
  }
  if (ops->complete != NULL) ops->complete(settings, settings->own);
}

/* A number along row `own` of a joint: force or moment, length or angle. */
static bool row_turns(const yoke_joint_element *joint, int own) {
  for (int i = 0; joint != NULL && i < joint->n; ++i) {
    if (joint->own[i] == own) return !yoke_row_is_length(&joint->row[i]);
  }
  return false;
}

yoke_residual_unit yoke_channel_unit(const yoke_channel *channel, const yoke_port_shape *const shape[2],
                                     const yoke_joint_element *joint) {
  const int k = channel->component;
  for (int side = 0; side < 2; ++side) {
    const yoke_port_shape *own = shape[side], *other = shape[1 - side];
    switch (channel->enters[side]) {
    case YOKE_ENTRY_NONE:
    case YOKE_ENTRY_SIGNAL: break;
    case YOKE_ENTRY_FORCE:
      return (yoke_residual_unit){yoke_shape_v_turns(own, k) ? YOKE_RESIDUAL_MOMENT : YOKE_RESIDUAL_FORCE, false};
    case YOKE_ENTRY_LAMBDA:
      return (yoke_residual_unit){row_turns(joint, k) ? YOKE_RESIDUAL_MOMENT : YOKE_RESIDUAL_FORCE, false};
    case YOKE_ENTRY_MU: return (yoke_residual_unit){YOKE_RESIDUAL_VELOCITY, row_turns(joint, k)};
    case YOKE_ENTRY_COPY_P: return (yoke_residual_unit){YOKE_RESIDUAL_POSITION, yoke_shape_p_turns(other, k)};
    case YOKE_ENTRY_COPY_V: return (yoke_residual_unit){YOKE_RESIDUAL_VELOCITY, yoke_shape_v_turns(other, k)};
    case YOKE_ENTRY_IMAGE_P: return (yoke_residual_unit){YOKE_RESIDUAL_POSITION, yoke_shape_p_turns(own, k)};
    case YOKE_ENTRY_IMAGE_V: return (yoke_residual_unit){YOKE_RESIDUAL_VELOCITY, yoke_shape_v_turns(own, k)};
    case YOKE_ENTRY_ROW_ACCELERATION:
    case YOKE_ENTRY_ROW_ACCELERATION_BARE:
    case YOKE_ENTRY_PRESCRIBED: return (yoke_residual_unit){YOKE_RESIDUAL_ACCELERATION, row_turns(joint, k)};
    }
  }
  return (yoke_residual_unit){YOKE_RESIDUAL_NONE, false};
}
