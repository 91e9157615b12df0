/* SVG text: a growing buffer that knows how numbers and texts are written in SVG. The bytes do not depend on the locale. */
#ifndef YOKE_PLOT_SVG_H
#define YOKE_PLOT_SVG_H

#include <yoke/context.h>
#include <stdbool.h>

typedef struct yoke_svg {
  char  *text; /* NULL: nothing written yet */
  size_t length, capacity;
  bool   has_failed; /* out of memory: what follows is dropped */
} yoke_svg;

/* Writes `format` with its marks replaced: ~ by a double (coordinate, two decimals at most), $ by a const char * with XML
 * escapes (bytes that are not UTF-8 become '?'), ` by a const char * as it is. */
void yoke_svg_put(yoke_svg *svg, const char *format, ...);

void yoke_svg_coordinate(yoke_svg *svg, double value);
void yoke_svg_text(yoke_svg *svg, const char *text);

/* Room that a text takes at this font size, estimated. */
double yoke_svg_text_width(const char *text, double font_size);

void yoke_svg_release(yoke_svg *svg);

#endif
