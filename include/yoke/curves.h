/* Curves: quantities of results as a picture, or as letters for a terminal. */
#ifndef YOKE_CURVES_H
#define YOKE_CURVES_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/result.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All is borrowed for the call. Quantities of the same unit share a panel, the panels share the abscissa. */
typedef struct yoke_curves {
  size_t              size;
  int                 n_results;
  yoke_result *const *results;
  int                 n_names; /* names of quantities or patterns with * and ?, in the order of the legend; 0: the first ones of the results */
  const char *const  *names;
  const char         *against; /* quantity of the abscissa; NULL: time */
  bool                log_x, log_y;
  double              from, to; /* span of time [s]; equal: all */
  bool                macro;    /* macro steps, degrees and estimated errors of split runs instead of quantities */
  const char         *title;    /* NULL: the name of the model */
  bool                points;   /* mark the macro points of the first split run below the curves; against time only */
  bool                events;   /* and where values jump or an event ends a macro step, by vertical lines */
} yoke_curves;

/* An SVG picture, or a page that holds it where the name ends in .html. An existing file is replaced.
 *   YOKE_E_USAGE   no result, no quantity of this name (the nearest one is named), a name with another ending
 *   YOKE_E_IO      a result cannot be read, or the file cannot be written */
YOKE_API yoke_status yoke_curves_write(yoke_context *ctx, const yoke_curves *curves, const char *path);

/* Lines of at most `columns` letters, `put` gets one at a time without its end. */
YOKE_API yoke_status yoke_curves_print(yoke_context *ctx, const yoke_curves *curves, int columns,
                                       void (*put)(void *user, const char *line), void *user);

#ifdef __cplusplus
}
#endif
#endif
