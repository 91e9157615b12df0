/* Settings: every key of a model file that says how a model is run, for help and for programs that offer them. */
#ifndef YOKE_SETTINGS_H
#define YOKE_SETTINGS_H

#include <yoke/export.h>
#include <yoke/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { YOKE_SETTING_WORDS = 64 };

typedef struct yoke_setting_facts {
  size_t      size;
  char        path[128];      /* "cosimulation.couplings.beta"; of solvers "solvers.default.rtol" */
  const char *key;            /* "beta" */
  const char *help;           /* what it means, one line */
  char        values[600];    /* what may be written: "a number > 0 [s]" */
  char        standard[120];  /* what it is when it is not given: "2 mu H" */
  char        readers[400];   /* "formulation baumgarte, weighted", "solver bdf, abm"; "": every run */
  char        condition[200]; /* under which it is read: "index 1 or 2, without beta and gamma"; "": always */
  const char *refused;        /* why it is not available; NULL: it is */
  const char *option;         /* "order": the program's --order; NULL: none */
  const char *value;          /* of the option, in its help: "K" */
  int         n_words;        /* words that may be written; beside them: */
  const char *words[YOKE_SETTING_WORDS];
  bool        is_whole; /* a whole number from min to max */
  int         min, max;
  bool        is_positive; /* a pure number > 0 */
  bool        is_open;     /* anything else: numbers with units, expressions, names */
} yoke_setting_facts;

/* In the order of `yoke help settings`. YOKE_E_USAGE: there is no such number, or a size that cannot be. */
YOKE_API int         yoke_n_settings(void);
YOKE_API yoke_status yoke_setting_describe(int i, yoke_setting_facts *out);
/* The setting that the option of this name stands for (`length` letters, without dashes); -1: none. */
YOKE_API int         yoke_setting_with_option(const char *option, size_t length);

#ifdef __cplusplus
}
#endif
#endif
