#include "plot/svg.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(yoke_svg *svg, const char *text, size_t n) {
  if (svg->has_failed) return;
  if (svg->length + n + 1 > svg->capacity) {
    const size_t capacity = 2 * (svg->length + n) + 4096;
    char        *larger   = realloc(svg->text, capacity);
    svg->has_failed       = larger == NULL;
    if (larger == NULL) return;
    svg->text     = larger;
    svg->capacity = capacity;
  }
  memcpy(svg->text + svg->length, text, n);
  svg->length += n;
  svg->text[svg->length] = '\0';
}

void yoke_svg_coordinate(yoke_svg *svg, double value) {
  char         text[40];
  const double limit = 1e7;               /* far outside of every picture, and exact in hundredths */
  if (!(value >= -limit)) value = -limit; /* NaN too */
  if (value > limit) value = limit;
  const long long hundredths = llround(value * 100.0);
  const long long size       = hundredths < 0 ? -hundredths : hundredths;
  int             n          = snprintf(text, sizeof text, "%s%lld", hundredths < 0 ? "-" : "", size / 100);
  const int       rest       = (int)(size % 100);
  if (rest % 10 != 0) {
    n += snprintf(text + n, sizeof text - (size_t)n, ".%02d", rest);
  } else if (rest != 0) {
    n += snprintf(text + n, sizeof text - (size_t)n, ".%d", rest / 10);
  }
  append(svg, text, (size_t)n);
}

/* Bytes of the UTF-8 character at c, 0: none. Overlong forms and surrogates are none. */
static size_t character_size(const unsigned char *c) {
  const size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3 : 4;
  if (n == 4 && (c[0] < 0xf0 || c[0] > 0xf4)) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((c[i] & 0xc0) != 0x80) return 0;
  }
  if (c[0] == 0xe0 && c[1] < 0xa0) return 0;
  if (c[0] == 0xed && c[1] > 0x9f) return 0;
  if (c[0] == 0xef && c[1] == 0xbf && c[2] > 0xbd) return 0; /* U+FFFE, U+FFFF: not in XML */
  if (c[0] == 0xf0 && c[1] < 0x90) return 0;
  if (c[0] == 0xf4 && c[1] > 0x8f) return 0;
  return n;
}

void yoke_svg_text(yoke_svg *svg, const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  while (*c != 0) {
    const size_t n      = character_size(c);
    const char  *entity = *c == '<'           ? "&lt;"
                          : *c == '>'         ? "&gt;"
                          : *c == '&'         ? "&amp;"
                          : *c == '"'         ? "&quot;"
                          : *c == '\''        ? "&#39;"
                          : *c < ' ' || n < 1 ? "?"
                                              : NULL;
    if (entity != NULL) {
      append(svg, entity, strlen(entity));
    } else {
      append(svg, (const char *)c, n);
    }
    c += n > 0 ? n : 1;
  }
}

void yoke_svg_put(yoke_svg *svg, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (const char *c = format; *c != '\0';) {
    const size_t plain = strcspn(c, "~$`");
    append(svg, c, plain);
    c += plain;
    if (*c == '~') yoke_svg_coordinate(svg, va_arg(arguments, double));
    if (*c == '$') yoke_svg_text(svg, va_arg(arguments, const char *));
    if (*c == '`') {
      const char *text = va_arg(arguments, const char *);
      append(svg, text, strlen(text));
    }
    if (*c != '\0') ++c;
  }
  va_end(arguments);
}

double yoke_svg_text_width(const char *text, double font_size) {
  double em = 0.0; /* widths of a sans-serif typeface, rounded up */
  for (const char *c = text; *c != '\0'; ++c) {
    if (((unsigned char)*c & 0xc0) == 0x80) continue; /* inside a character */
    em += strchr("iljI.,:;'|!() []/ft-", *c) != NULL ? 0.34 : *c >= 'A' && *c <= 'Z' ? 0.72 : 0.57;
  }
  return em * font_size;
}

void yoke_svg_release(yoke_svg *svg) {
  free(svg->text);
  *svg = (yoke_svg){0};
}
