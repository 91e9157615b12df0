/* Macro settings: what `cosimulation:` says about macro steps, and what follows from that. What only the split decides stays open. */
#ifndef YOKE_MASTER_MACRO_SETTINGS_H
#define YOKE_MASTER_MACRO_SETTINGS_H

#include "control/control_settings.h"
#include "coupling/scheme_settings.h"
#include "model/model.h"

typedef struct yoke_macro_settings {
  yoke_scheme_settings  scheme;      /* order: the highest */
  yoke_control_settings control;     /* steps 0, estimator -1: not given */
  bool                  has_step;    /* given; else it is controlled */
  double                step;        /* [s] */
  int                   order;       /* -1: chosen during the run, between control.order_min and order_max */
  bool                  has_scheme;  /* given; else step control may choose another one */
  bool                  has_overlap; /* a coupling has a formulation that overlaps */
  bool                  takes_halos; /* all have, since nothing of the method is given (plan_open_method.c) */
  double                relaxation;  /* below `cosimulation`; 0: not given */
  yoke_energy_rule      energy;      /* of couplings that say nothing else; open: none, or off */
  double                energy_cap;  /* likewise; 0: not given */
} yoke_macro_settings;

/* growth: of errors by the motion, as measured (analysis/growth.h); counts where the file gives none. */
void yoke_macro_settings_read(const yoke_model *model, double growth, bool takes_halos, yoke_macro_settings *out);

/* Do the parts of the model take the steps of one solver together (multibody_parts.c)? Then there are no macro steps. */
bool yoke_macro_is_lockstep(const yoke_model *model);

/* Share of the energy that moves above which a leak is warned of. */
double yoke_macro_energy_limit(const yoke_model *model);

/* A setting of the run that may stand below `couplings`, too; NULL: none. */
const yoke_setting *yoke_shared_setting(const char *key);

/* Keys below `cosimulation` that runs with and without a split read, and those that are not available. */
extern const yoke_setting_table yoke_macro_rows;

#endif
