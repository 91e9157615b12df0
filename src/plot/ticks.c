#include "plot/ticks.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* 1, 2 or 5 times a power of ten, nearest above span / n. *parts: minor intervals of one step. */
static double nice_step(double span, int n, int *parts) {
  const double raw = span / n, power = pow(10.0, floor(log10(raw)));
  const double ratio = raw / power;
  *parts             = ratio <= 1.0 ? 5 : ratio <= 2.0 ? 4 : 5;
  return power * (ratio <= 1.0 ? 1.0 : ratio <= 2.0 ? 2.0 : ratio <= 5.0 ? 5.0 : 10.0);
}

void yoke_ticks_linear(double from, double to, int n_wanted, yoke_ticks *out) {
  *out               = (yoke_ticks){.decimals = -1};
  const double span  = to - from;
  int          parts = 5;
  if (!(span > 0.0) || !isfinite(span) || n_wanted < 1) return;
  const double step = nice_step(span, n_wanted, &parts), minor = step / parts, slack = 1e-9 * span;
  const double first = ceil((from - slack) / minor);
  for (int i = 0; i < YOKE_TICKS_MAX * 2; ++i) {
    const double k = first + i, value = k * minor;
    if (value > to + slack) break;
    const bool is_major = fmod(k, (double)parts) == 0.0;
    if (is_major && out->n_major < YOKE_TICKS_MAX) out->major[out->n_major++] = (k / parts) * step;
    if (!is_major && out->n_minor < YOKE_TICKS_MAX) out->minor[out->n_minor++] = value;
  }
  const double largest = fmax(fabs(from), fabs(to));
  if (largest >= 1e5 || step < 1e-4) out->power = (int)floor(log10(largest) + 1e-9);
  const double decimals = ceil(out->power - log10(step) - 1e-9);
  out->decimals         = decimals > 0.0 ? (int)fmin(decimals, 15.0) : 0;
}

void yoke_ticks_log(double from, double to, int n_wanted, yoke_ticks *out) {
  *out = (yoke_ticks){.is_log = true, .decimals = -1};
  if (!(from > 0.0) || !(to > from) || !isfinite(to) || n_wanted < 1) return;
  const double lo = log10(from), hi = log10(to), slack = 1e-9;
  const int    every = (int)fmax(1.0, ceil((hi - lo) / n_wanted));
  const bool   dense = hi - lo < 2.0;
  out->decimals      = dense ? 0 : -1;
  for (int e = (int)floor(lo); e <= (int)ceil(hi); ++e) {
    for (int m = 1; m < 10; ++m) {
      const double value = m * pow(10.0, e), at = e + log10((double)m);
      if (at < lo - slack || at > hi + slack) continue;
      const bool is_major = (m == 1 && e % every == 0) || (dense && (m == 2 || m == 5));
      if (is_major && out->n_major < YOKE_TICKS_MAX) out->major[out->n_major++] = value;
      if (!is_major && every == 1 && out->n_minor < YOKE_TICKS_MAX) out->minor[out->n_minor++] = value;
    }
  }
}

void yoke_short_number(double value, int digits, char *text, size_t size) {
  snprintf(text, size, "%.*g", digits, value);
  for (char *c = text; *c != '\0'; ++c) {
    if (strchr("+-0123456789e.infa", *c) == NULL) *c = '.'; /* a locale with a decimal comma */
  }
}

void yoke_tick_label(const yoke_ticks *ticks, double value, char text[YOKE_TICK_TEXT], bool *exponent) {
  *exponent = false;
  if (ticks->is_log) {
    const double e = log10(value), whole = round(e);
    *exponent = ticks->decimals < 0 && fabs(e - whole) < 1e-9;
    if (*exponent) {
      snprintf(text, YOKE_TICK_TEXT, "%d", (int)whole);
    } else {
      yoke_short_number(value, 6, text, YOKE_TICK_TEXT);
    }
  } else if (ticks->decimals >= 0) {
    const double shown = value == 0.0 ? 0.0 : value / pow(10.0, ticks->power);
    int n = snprintf(text, YOKE_TICK_TEXT, "%.*f", ticks->power != 0 && value == 0.0 ? 0 : ticks->decimals, shown);
    for (char *c = text; *c != '\0'; ++c) {
      if (strchr("-0123456789.", *c) == NULL) *c = '.';
    }
    if (ticks->power != 0 && value != 0.0) snprintf(text + n, YOKE_TICK_TEXT - (size_t)n, "e%d", ticks->power);
  } else {
    yoke_short_number(value == 0.0 ? 0.0 : value, 6, text, YOKE_TICK_TEXT);
  }
}

void yoke_ticks_round(bool is_log, double *from, double *to) {
  if (is_log) {
    const double pad = pow(10.0, 0.04 * fmax(1.0, log10(*to / *from)));
    *from /= pad;
    *to *= pad;
    return;
  }
  if (!(*to > *from)) {
    const double extent = fabs(*from) > 0.0 ? 0.5 * fabs(*from) : 1.0;
    *from -= extent;
    *to += extent;
  }
  int          parts;
  const double step = nice_step(*to - *from, 5, &parts);
  *from             = floor(*from / step + 1e-9) * step;
  *to               = ceil(*to / step - 1e-9) * step;
}
