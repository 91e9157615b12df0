/* Page: a picture as a file, SVG, HTML or PNG by its name. */
#ifndef YOKE_PLOT_PAGE_H
#define YOKE_PLOT_PAGE_H

#include <yoke/context.h>

/* Does the name end in .svg, .html, or .png where the machine can make one (dots.h)? Else YOKE_E_USAGE, YOKE_E_UNSUPPORTED. */
yoke_status yoke_page_check(yoke_context *ctx, const char *path);

/* `svg` as it is, or inside of a page that opens without a server, as wide as the window. svg NULL: there was no memory for it. */
yoke_status yoke_page_write(yoke_context *ctx, const char *path, const char *svg);

#endif
