/* Page: a picture as a file, SVG or HTML by its name. */
#ifndef YOKE_PLOT_PAGE_H
#define YOKE_PLOT_PAGE_H

#include <yoke/context.h>

/* Does the name end in .svg or .html? Else YOKE_E_USAGE. */
yoke_status yoke_page_check(yoke_context *ctx, const char *path);

/* `svg` as it is, or inside of a page that opens without a server, as wide as the window. svg NULL: there was no memory for it. */
yoke_status yoke_page_write(yoke_context *ctx, const char *path, const char *svg);

#endif
