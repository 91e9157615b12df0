/* Units of the model file, as a table of names. SI prefixes are written out: a free combination of prefixes and names
 * would make "min" a milli-inch and "cd" a centi-day. There is no unit called `t`: it is the time in formulas. */
#include "frames/units.h"
#include "base/text.h"
#include "frames/expression.h"

#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct unit {
  const char *name;
  double      factor;       /* value in SI = factor * number written */
  int         dimension[4]; /* exponents of m, kg, s, rad */
} unit;

/* clang-format off */
static const unit unit_table[] = {
    {"m",   1.0,    {1}}, {"km", 1e3,  {1}}, {"dm", 1e-1, {1}}, {"cm", 1e-2, {1}}, {"mm", 1e-3, {1}},
    {"um",  1e-6,   {1}}, {"\xC2\xB5m", 1e-6, {1}}, {"\xCE\xBCm", 1e-6, {1}}, {"nm", 1e-9, {1}},
    {"in",  0.0254, {1}}, {"ft", 0.3048, {1}},

    {"kg",  1.0, {0, 1}}, {"g", 1e-3, {0, 1}}, {"mg", 1e-6, {0, 1}}, {"tonne", 1e3, {0, 1}}, {"lb", 0.45359237, {0, 1}},

    {"s",   1.0, {0, 0, 1}}, {"ms", 1e-3, {0, 0, 1}}, {"us", 1e-6, {0, 0, 1}}, {"\xC2\xB5s", 1e-6, {0, 0, 1}},
    {"\xCE\xBCs", 1e-6, {0, 0, 1}}, {"ns", 1e-9, {0, 0, 1}}, {"min", 60.0, {0, 0, 1}}, {"h", 3600.0, {0, 0, 1}},

    {"rad", 1.0, {0, 0, 0, 1}}, {"mrad", 1e-3, {0, 0, 0, 1}}, {"deg", PI / 180.0, {0, 0, 0, 1}},
    {"\xC2\xB0", PI / 180.0, {0, 0, 0, 1}}, {"rev", 2.0 * PI, {0, 0, 0, 1}},

    /* A hertz is one per second, not 2 pi rad/s. */
    {"Hz",  1.0, {0, 0, -1}}, {"kHz", 1e3, {0, 0, -1}}, {"rpm", 2.0 * PI / 60.0, {0, 0, -1, 1}},

    {"N",   1.0, {1, 1, -2}}, {"kN", 1e3, {1, 1, -2}}, {"MN", 1e6, {1, 1, -2}}, {"mN", 1e-3, {1, 1, -2}},
    {"uN",  1e-6, {1, 1, -2}}, {"lbf", 4.4482216152605, {1, 1, -2}},
    {"Nm",  1.0, {2, 1, -2}}, {"kNm", 1e3, {2, 1, -2}}, {"Nmm", 1e-3, {2, 1, -2}},
    {"Pa",  1.0, {-1, 1, -2}}, {"kPa", 1e3, {-1, 1, -2}}, {"MPa", 1e6, {-1, 1, -2}}, {"GPa", 1e9, {-1, 1, -2}},
    {"bar", 1e5, {-1, 1, -2}},
    {"J",   1.0, {2, 1, -2}}, {"kJ", 1e3, {2, 1, -2}}, {"MJ", 1e6, {2, 1, -2}}, {"mJ", 1e-3, {2, 1, -2}},
    {"W",   1.0, {2, 1, -3}}, {"kW", 1e3, {2, 1, -3}}, {"MW", 1e6, {2, 1, -3}}, {"mW", 1e-3, {2, 1, -3}},
};
/* clang-format on */

enum { N_UNITS = sizeof unit_table / sizeof unit_table[0] };
enum { MAX_EXPONENT = 99 };

static bool is_unit_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* One name at the start of text, not followed by anything that makes it a longer name, a call or an index. */
static const unit *read_name(const char *text, size_t *length) {
  size_t n = 0;
  while (is_unit_letter(text[n])) ++n;
  *length = n;
  if (n == 0 || is_digit(text[n]) || text[n] == '_') return NULL;
  if (text[n] == '(' || text[n] == '[' || text[n] == '.') return NULL;
  for (int i = 0; i < N_UNITS; ++i) {
    if (strlen(unit_table[i].name) == n && memcmp(unit_table[i].name, text, n) == 0) return &unit_table[i];
  }
  return NULL;
}

/* Integer exponent "^2", "^-2" at the start of text; 1 without one. Something else after ^ is left unread: the caller
 * sees the ^ that remains and complains. */
static int read_exponent(const char *text, size_t *length) {
  *length = 0;
  if (text[0] != '^') return 1;
  const size_t sign   = text[1] == '-' ? 1 : 0;
  size_t       n      = 1 + sign;
  int          number = 0;
  for (; is_digit(text[n]); ++n) {
    if (number <= MAX_EXPONENT) number = 10 * number + (text[n] - '0');
  }
  if (n == 1 + sign || number > MAX_EXPONENT || text[n] == '.' || text[n] == '_' || is_unit_letter(text[n])) return 1;
  *length = n;
  return sign ? -number : number;
}

/* One name with its exponent, multiplied into factor and dimension. Returns the characters read. */
static size_t read_part(const char *text, int sign, double *factor, int dimension[4]) {
  size_t      n_name, n_exponent;
  const unit *u = read_name(text, &n_name);
  if (u == NULL) return 0;
  const int exponent = sign * read_exponent(text + n_name, &n_exponent);
  /* m^2 as repeated products and one division keeps 1/(mm^2) = 1e6 as exact as the table. */
  double    power = 1.0;
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) power *= u->factor;
  *factor = exponent < 0 ? *factor / power : *factor * power;
  for (int k = 0; k < 4; ++k) dimension[k] += exponent * u->dimension[k];
  return n_name + n_exponent;
}

size_t yoke_unit_parse(const char *text, double *factor, int dimension[4]) {
  double f      = 1.0;
  int    dim[4] = {0, 0, 0, 0};
  size_t n;
  if (text[0] == '1' && text[1] == '/') {
    n = read_part(text + 2, -1, &f, dim);
    if (n > 0) n += 2;
  } else {
    n = read_part(text, 1, &f, dim);
  }
  /* At most 16 parts: exponents stay far below the range of int. */
  for (int parts = 1; n > 0 && parts < 16 && (text[n] == '*' || text[n] == '/'); ++parts) {
    const size_t length = read_part(text + n + 1, text[n] == '*' ? 1 : -1, &f, dim);
    if (length == 0) break;
    n += 1 + length;
  }
  if (n == 0) return 0;
  *factor = f;
  memcpy(dimension, dim, sizeof dim);
  return n;
}

bool yoke_unit_lookup(const char *text, double *factor, int dimension[4]) {
  double       f;
  int          dim[4];
  const size_t n = yoke_unit_parse(text, &f, dim);
  if (n == 0 || text[n] != '\0') return false;
  *factor = f;
  memcpy(dimension, dim, sizeof dim);
  return true;
}

const char *yoke_unit_nearest(const char *name) {
  const char *names[N_UNITS];
  for (int i = 0; i < N_UNITS; ++i) names[i] = unit_table[i].name;
  return yoke_text_nearest(name, names, N_UNITS);
}

void yoke_unit_text(const int dimension[4], char *text, size_t size) {
  static const char *const base[4] = {"m", "kg", "s", "rad"};
  static const int         order[] = {1, 0, 2, 3}; /* kg m s rad, as one writes it */
  size_t                   used    = 0;
  if (size == 0) return;
  text[0] = '\0';
  for (int i = 0; i < 4; ++i) {
    const int k = order[i];
    if (dimension[k] == 0 || used >= size) continue;
    const char *blank = used > 0 ? " " : "";
    const int   n     = dimension[k] == 1 ? snprintf(text + used, size - used, "%s%s", blank, base[k])
                                          : snprintf(text + used, size - used, "%s%s^%d", blank, base[k], dimension[k]);
    used += n > 0 ? (size_t)n : 0;
  }
  if (used == 0) snprintf(text, size, "1");
}
