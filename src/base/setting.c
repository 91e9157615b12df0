#include "base/setting.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_numbers(const yoke_setting *row) {
  return row->n > 0 ? row->n : 1;
}

const yoke_setting *yoke_setting_find(const yoke_setting_table *table, const char *key) {
  for (int i = 0; i < table->n; ++i) {
    if (strcmp(table->rows[i].key, key) == 0) return &table->rows[i];
  }
  return NULL;
}

int yoke_setting_words(const yoke_setting *row, const char *out[YOKE_SETTING_MAX_WORDS]) {
  int n = 0;
  for (; n < (int)(sizeof row->words / sizeof row->words[0]) && row->words[n] != NULL; ++n) out[n] = row->words[n];
  for (int i = 0; row->more != NULL && n < YOKE_SETTING_MAX_WORDS && row->more(i) != NULL; ++i) out[n++] = row->more(i);
  return n;
}

bool yoke_setting_is_among(const char *word, const char *list) {
  const size_t n = strlen(word);
  for (const char *at = list; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    if (length == n && strncmp(at, word, n) == 0) return true;
    at += length + strspn(at + length, " ");
  }
  return false;
}

/* ---- values ---- */

bool yoke_settings_add(yoke_settings *settings, const yoke_setting_value *value) {
  yoke_setting_value *more = realloc(settings->values, ((size_t)settings->n + 1) * sizeof *more);
  if (more == NULL) return false;
  more[settings->n++] = *value;
  settings->values    = more;
  return true;
}

void yoke_settings_clear(yoke_settings *settings) {
  free(settings->values);
  *settings = (yoke_settings){0};
}

const yoke_setting_value *yoke_settings_find(const yoke_settings *settings, const char *path, const char *key) {
  for (int i = settings->n - 1; i >= 0; --i) {
    const yoke_setting_value *value = &settings->values[i];
    if (strcmp(value->row->key, key) == 0 && strcmp(value->path, path) == 0) return value;
  }
  return NULL;
}

/* ---- structs ---- */

static void put_whole(const yoke_setting *row, int whole, char *place) {
  const bool truth = whole != 0;
  if (row->size == sizeof(bool)) {
    memcpy(place, &truth, sizeof truth);
  } else {
    memcpy(place, &whole, sizeof whole);
  }
}

static int get_whole(const yoke_setting *row, const char *place) {
  bool truth;
  int  whole;
  if (row->size == sizeof(bool)) {
    memcpy(&truth, place, sizeof truth);
    return truth;
  }
  memcpy(&whole, place, sizeof whole);
  return whole;
}

/* Members that hold a word itself are arrays of letters, which are longer than any number of a word. */
static bool holds_letters(const yoke_setting *row) {
  return row->type == YOKE_SETTING_SUBSYSTEM || (row->type == YOKE_SETTING_WORD && row->size > sizeof(int));
}

static void put_letters(const yoke_setting *row, const char *text, char *place) {
  memset(place, 0, row->size);
  snprintf(place, row->size, "%s", text);
}

static void put_numbers(const yoke_setting *row, const double *number, char *place) {
  for (int i = 0; i < n_numbers(row); ++i) {
    const double *value = &number[row->type == YOKE_SETTING_POSITIVE ? 0 : i]; /* one for all places */
    memcpy(place + (size_t)i * sizeof *value, value, sizeof *value);
  }
}

void yoke_setting_start(const yoke_setting_table *table, void *target) {
  for (int i = 0; i < table->n; ++i) {
    const yoke_setting *row   = &table->rows[i];
    char               *place = (char *)target + row->at;
    const char         *words[YOKE_SETTING_MAX_WORDS];
    if (row->size == 0) continue;
    if (holds_letters(row)) {
      const int n = row->otherwise == NULL ? yoke_setting_words(row, words) : 0;
      put_letters(row, n > 0 ? words[(int)row->standard[0]] : "", place);
    } else if (row->type == YOKE_SETTING_NUMBER || row->type == YOKE_SETTING_POSITIVE) {
      put_numbers(row, row->standard, place);
    } else {
      put_whole(row, (int)row->standard[0], place);
    }
  }
}

void yoke_setting_store(const yoke_setting *row, const yoke_setting_value *value, void *target) {
  char       *place = (char *)target + row->at;
  const char *words[YOKE_SETTING_MAX_WORDS];
  if (row->size == 0) return;
  if (holds_letters(row)) {
    put_letters(row, value->text, place);
  } else if (row->type == YOKE_SETTING_WORD) {
    const int n = yoke_setting_words(row, words);
    for (int k = 0; k < n; ++k) {
      if (strcmp(words[k], value->text) == 0) put_whole(row, k, place);
    }
  } else if (value->text[0] != '\0') {
    return; /* a word instead of a number: who reads the row asks for it */
  } else if (row->type == YOKE_SETTING_NUMBER || row->type == YOKE_SETTING_POSITIVE) {
    put_numbers(row, value->number, place);
  } else {
    put_whole(row, (int)value->number[0], place);
  }
}

void yoke_setting_fill(const yoke_setting_table *table, const char *path, const yoke_settings *given, void *target) {
  for (int i = 0; i < given->n; ++i) {
    const yoke_setting_value *value = &given->values[i];
    const yoke_setting       *row   = strcmp(value->path, path) == 0 ? yoke_setting_find(table, value->row->key) : NULL;
    if (row != NULL) yoke_setting_store(row, value, target);
  }
}

bool yoke_setting_is_open(const yoke_setting *row, const void *target) {
  const char *place = (const char *)target + row->at;
  double      number;
  if (row->otherwise == NULL || row->size == 0) return false;
  if (holds_letters(row)) return place[0] == '\0';
  if (row->type != YOKE_SETTING_NUMBER && row->type != YOKE_SETTING_POSITIVE)
    return get_whole(row, place) == (int)row->standard[0];
  memcpy(&number, place, sizeof number);
  return number == row->standard[0] || (isnan(number) && isnan(row->standard[0]));
}

static bool is_met(const yoke_setting_table *table, const yoke_setting *row, const void *target) {
  const yoke_setting *with = row->with != NULL ? yoke_setting_find(table, row->with) : NULL;
  char                word[YOKE_SETTING_TEXT];
  if (with == NULL || with->size == 0) return true;
  yoke_setting_text(with, target, word, sizeof word);
  return yoke_setting_is_among(word, row->of);
}

bool yoke_setting_is_read(const yoke_setting_table *table, const yoke_setting *row, const void *target) {
  if (!is_met(table, row, target)) return false;
  if (row->without == NULL) return true;
  for (int i = 0; i < table->n; ++i) {
    const yoke_setting *other = &table->rows[i];
    if (yoke_setting_is_among(other->key, row->without) && is_met(table, other, target) &&
        yoke_setting_is_open(other, target))
      return true;
  }
  return false;
}

bool yoke_setting_is_tolerance(const double *value) {
  return value[0] > 0.0 && value[0] < 1.0;
}

bool yoke_setting_is_share(const double *value) {
  return *value > 0.0 && *value <= 2.0;
}

/* ---- text ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
put(char *text, size_t size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list      arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

void yoke_setting_number_text(double value, char *text, size_t size) {
  for (int digits = 6; digits <= 17; ++digits) {
    snprintf(text, size, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  char *separator = text + strspn(text, "+-0123456789e.");
  if (*separator == ',') *separator = '.'; /* a locale with a decimal comma */
}

static void put_list(const yoke_setting *row, const double *number, char *text, size_t size) {
  const int n = row->type == YOKE_SETTING_POSITIVE ? 1 : n_numbers(row);
  for (int i = 0; i < n; ++i) {
    char one[40];
    yoke_setting_number_text(number[i], one, sizeof one);
    put(text, size, "%s%s", i > 0 ? ", " : n > 1 ? "[" : "", one);
  }
  if (n > 1) put(text, size, "]");
}

void yoke_setting_text(const yoke_setting *row, const void *target, char *text, size_t size) {
  const char *place = (const char *)target + row->at;
  const char *words[YOKE_SETTING_MAX_WORDS];
  text[0] = '\0';
  if (row->type == YOKE_SETTING_NUMBER || row->type == YOKE_SETTING_POSITIVE) {
    double number[YOKE_SETTING_NUMBERS];
    memcpy(number, place, sizeof *number * (size_t)(row->type == YOKE_SETTING_POSITIVE ? 1 : n_numbers(row)));
    put_list(row, number, text, size);
  } else if (row->type == YOKE_SETTING_SUBSYSTEM) {
    put(text, size, "\"%s\"", place); /* names have no quotes in them */
  } else if (holds_letters(row)) {
    put(text, size, "%s", place);
  } else if (row->type == YOKE_SETTING_WORD) {
    const int n = yoke_setting_words(row, words), k = get_whole(row, place);
    put(text, size, "%s", k >= 0 && k < n ? words[k] : "");
  } else if (row->type == YOKE_SETTING_BOOLEAN) {
    put(text, size, "%s", get_whole(row, place) != 0 ? "true" : "false");
  } else {
    put(text, size, "%d", get_whole(row, place));
  }
}

void yoke_setting_standard_text(const yoke_setting *row, char *text, size_t size) {
  const char *words[YOKE_SETTING_MAX_WORDS];
  text[0] = '\0';
  if (row->otherwise != NULL) {
    put(text, size, "%s", row->otherwise);
  } else if (row->type == YOKE_SETTING_WORD) {
    if (yoke_setting_words(row, words) > 0) put(text, size, "%s", words[(int)row->standard[0]]);
  } else if (row->type == YOKE_SETTING_BOOLEAN) {
    put(text, size, "%s", row->standard[0] != 0.0 ? "true" : "false");
  } else if (row->type != YOKE_SETTING_OTHER) {
    put_list(row, row->standard, text, size);
  }
}

void yoke_setting_values_text(const yoke_setting *row, char *text, size_t size) {
  const char *words[YOKE_SETTING_MAX_WORDS];
  const int   n       = yoke_setting_words(row, words);
  const char *numbers = NULL;
  text[0]             = '\0';
  switch (row->type) {
  case YOKE_SETTING_WORD: break;
  case YOKE_SETTING_NUMBER: numbers = row->expected != NULL ? row->expected : "a number"; break;
  case YOKE_SETTING_POSITIVE: numbers = row->expected != NULL ? row->expected : "a number > 0"; break;
  case YOKE_SETTING_INTEGER: put(text, size, "%d to %d", row->min, row->max); break;
  case YOKE_SETTING_BOOLEAN: put(text, size, "true, false"); break;
  case YOKE_SETTING_SUBSYSTEM: put(text, size, "the name of a subsystem"); break;
  case YOKE_SETTING_OTHER: put(text, size, "%s", row->expected != NULL ? row->expected : ""); break;
  }
  if (numbers != NULL) put(text, size, "%s", numbers);
  if (row->unit != NULL && strcmp(row->unit, "any") != 0) put(text, size, " [%s]", row->unit);
  for (int k = 0; k < n; ++k) put(text, size, "%s%s", text[0] != '\0' ? ", " : "", words[k]);
}

/* "a b c" as "a, b or c" */
static void put_words(const char *list, const char *last, char *text, size_t size) {
  for (const char *at = list; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    const char  *next   = at + length + strspn(at + length, " ");
    put(text, size, "%s%.*s", at == list ? "" : *next == '\0' ? last : ", ", (int)length, at);
    at = next;
  }
}

void yoke_setting_condition_text(const yoke_setting *row, char *text, size_t size) {
  text[0] = '\0';
  if (row->with != NULL) {
    put(text, size, "%s ", row->with);
    put_words(row->of, " or ", text, size);
  }
  if (row->without == NULL) return;
  put(text, size, "%swithout ", row->with != NULL ? ", " : "");
  put_words(row->without, " and ", text, size);
}
