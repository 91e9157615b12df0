/* Letters: a panel as text, for a terminal. */
#ifndef YOKE_PLOT_LETTERS_H
#define YOKE_PLOT_LETTERS_H

#include "plot/plot.h"

/* Lines of at most `columns` letters: title, ordinate, curves, abscissa, legend. `put` gets one at a time. Maps and slopes are left out. */
yoke_status yoke_plot_letters(yoke_context *ctx, const yoke_plot_figure *figure, int columns,
                              void (*put)(void *user, const char *line), void *user);

#endif
