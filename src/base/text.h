/* Text helpers for messages. */
#ifndef YOKE_BASE_TEXT_H
#define YOKE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The entry of list[n] nearest to `name` (edit distance, at most a third of its letters wrong), or NULL. */
const char *yoke_text_nearest(const char *name, const char *const *list, int n);

/* "[3..10]" or "[10..100..10]": every number from first to last, or every step-th. */
typedef struct yoke_text_range {
  long first, last, step; /* step >= 1 */
} yoke_text_range;
/* What is behind the bracket, or NULL where `text` does not begin with a range. */
const char *yoke_text_read_range(const char *text, yoke_text_range *range);
/* The least number of the range that is at least `from`; past the last one: -1. */
long        yoke_text_next_in_range(const yoke_text_range *range, long from);

/* Does `text` match `pattern` with * (any letters), ? (one letter) and ranges, which stand for the index of one of their numbers? Other brackets are ordinary
 * letters. */
bool yoke_text_matches(const char *pattern, const char *text);

/* New string, or NULL when out of memory. Caller frees. */
char *yoke_text_copy(const char *text);

/* Adds to the end of `text`; what does not fit becomes ", ...", and nothing is added behind it. */
void yoke_text_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* `value` with 17 digits and a decimal point in every locale; "nan", "inf", "-inf". */
enum { YOKE_TEXT_NUMBER = 32 };
void yoke_text_number(double value, char text[YOKE_TEXT_NUMBER]);

#endif
