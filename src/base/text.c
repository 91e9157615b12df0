#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64 };

/* Letters to insert, delete, replace or swap with the neighbour to get from a to b. */
static int edit_distance(const char *a, size_t n, const char *b, size_t m) {
  int row[3][MAX_NAME + 1];
  for (size_t j = 0; j <= m; ++j) row[0][j] = (int)j;
  for (size_t i = 1; i <= n; ++i) {
    int       *now    = row[i % 3];
    const int *prev   = row[(i + 2) % 3];
    const int *before = row[(i + 1) % 3];
    now[0]            = (int)i;
    for (size_t j = 1; j <= m; ++j) {
      int best = prev[j - 1] + (a[i - 1] != b[j - 1]);
      if (prev[j] + 1 < best) best = prev[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      now[j] = best;
    }
  }
  return row[n % 3][m];
}

const char *yoke_text_nearest(const char *name, const char *const *list, int n) {
  const size_t length   = strlen(name);
  const char  *nearest  = NULL;
  int          smallest = (int)(length + 2) / 3 + 1;
  if (length == 0 || length > MAX_NAME) return NULL;
  for (int i = 0; i < n; ++i) {
    const size_t other = strlen(list[i]);
    if (other > MAX_NAME) continue;
    const int distance = edit_distance(name, length, list[i], other);
    if (distance < smallest && distance < (int)length) { /* a word without a common letter is no suggestion */
      smallest = distance;
      nearest  = list[i];
    }
  }
  return nearest;
}

/* Digits alone, as many as a long surely has. */
static const char *read_number(const char *text, long *value) {
  const size_t n = strspn(text, "0123456789");
  if (n == 0 || n > 9) return NULL;
  *value = strtol(text, NULL, 10);
  return text + n;
}

const char *yoke_text_read_range(const char *text, yoke_text_range *range) {
  range->step = 1;
  if (*text != '[' || (text = read_number(text + 1, &range->first)) == NULL) return NULL;
  if (strncmp(text, "..", 2) != 0 || (text = read_number(text + 2, &range->last)) == NULL) return NULL;
  if (strncmp(text, "..", 2) == 0 && (text = read_number(text + 2, &range->step)) == NULL) return NULL;
  return *text == ']' && range->step > 0 ? text + 1 : NULL;
}

long yoke_text_next_in_range(const yoke_text_range *range, long from) {
  const long steps = from > range->first ? (from - range->first + range->step - 1) / range->step : 0;
  const long next  = range->first + steps * range->step;
  return next <= range->last ? next : -1;
}

/* Behind an index that is in the range, or NULL. */
static const char *pass_index(const yoke_text_range *range, const char *text) {
  long number;
  if (*text != '[' || (text = read_number(text + 1, &number)) == NULL || *text != ']') return NULL;
  return yoke_text_next_in_range(range, number) == number ? text + 1 : NULL;
}

bool yoke_text_matches(const char *pattern, const char *text) {
  const char     *star = NULL, *resume = NULL; /* last * seen, and the text it is tried against */
  yoke_text_range range;
  while (*text != '\0') {
    if (*pattern == '*') {
      star   = pattern++;
      resume = text;
      continue;
    }
    const char *behind = yoke_text_read_range(pattern, &range),
               *rest   = behind != NULL ? pass_index(&range, text) : NULL;
    if (rest != NULL) {
      pattern = behind;
      text    = rest;
    } else if (behind == NULL && (*pattern == '?' || *pattern == *text)) {
      ++pattern;
      ++text;
    } else if (star != NULL) {
      pattern = star + 1;
      text    = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

char *yoke_text_copy(const char *text) {
  const size_t size = strlen(text) + 1;
  char        *copy = malloc(size);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

void yoke_text_append(char *text, size_t size, const char *format, ...) {
  static const char rest[] = ", ...";
  const size_t      used   = strlen(text);
  if (used + sizeof rest > size || (used + 1 >= sizeof rest && strcmp(text + used + 1 - sizeof rest, rest) == 0))
    return;
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
  if (n < 0 || used + (size_t)n + sizeof rest > size) memcpy(text + used, rest, sizeof rest);
}

void yoke_text_number(double value, char text[YOKE_TEXT_NUMBER]) {
  if (!isfinite(value)) {
    snprintf(text, YOKE_TEXT_NUMBER, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return;
  }
  snprintf(text, YOKE_TEXT_NUMBER, "%.17g", value);
  /* A locale may put its own decimal separator, of one or several bytes, where the point belongs. */
  char *at = text + strspn(text, "+-0123456789e.");
  if (*at == '\0') return;
  const size_t length = strcspn(at, "+-0123456789e");
  memmove(at + 1, at + length, strlen(at + length) + 1);
  *at = '.';
}
