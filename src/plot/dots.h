/* Dots: a picture as PNG, by the converter of librsvg where the machine has it. A rasteriser with letters of our own would be larger than all other
 * drawing; a library would come with every run that draws nothing. */
#ifndef YOKE_PLOT_DOTS_H
#define YOKE_PLOT_DOTS_H

#include <yoke/context.h>

/* YOKE_E_UNSUPPORTED: the converter is not there; the message says how to get it. */
yoke_status yoke_dots_check(yoke_context *ctx, const char *path);
yoke_status yoke_dots_write(yoke_context *ctx, const char *path, const char *svg);

#endif
