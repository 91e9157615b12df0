/* Is a text one JSON value? A parser of its own, for what is written by hand. Include after cmocka.h. */
#ifndef YOKE_TESTS_JSON_TEXT_H
#define YOKE_TESTS_JSON_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static inline const char *json_blank(const char *c) {
  while (*c == ' ' || *c == '\n' || *c == '\r' || *c == '\t') ++c;
  return c;
}

/* Behind the text at `c`; NULL: there is none. */
static inline const char *json_behind_text(const char *c) {
  if (*c++ != '"') return NULL;
  for (; *c != '"'; ++c) {
    if ((unsigned char)*c < ' ') return NULL;
    if (*c != '\\') continue;
    ++c;
    if (*c == 'u') {
      for (int i = 0; i < 4; ++i) {
        if (!isxdigit((unsigned char)*++c)) return NULL;
      }
    } else if (*c == '\0' || !strchr("\"\\/bfnrt", *c)) {
      return NULL;
    }
  }
  return c + 1;
}

static inline const char *json_digits(const char *c) {
  const char *begin = c;
  while (isdigit((unsigned char)*c)) ++c;
  return c > begin ? c : NULL;
}

static inline const char *json_behind_number(const char *c) {
  if (*c == '-') ++c;
  const bool is_zero = *c == '0';
  c                  = is_zero ? c + 1 : json_digits(c);
  if (c && *c == '.') c = json_digits(c + 1);
  if (!c || (*c != 'e' && *c != 'E')) return c;
  ++c;
  return json_digits(*c == '+' || *c == '-' ? c + 1 : c);
}

/* Behind the value at `c`, its blanks included; NULL: there is none. */
// NOLINTNEXTLINE(misc-no-recursion)
static inline const char *json_behind_value(const char *c) {
  static const char *const words[] = {"true", "false", "null"};
  c                                = json_blank(c);
  for (int i = 0; i < 3; ++i) {
    if (strncmp(c, words[i], strlen(words[i])) == 0) return json_blank(c + strlen(words[i]));
  }
  if (*c == '"') {
    c = json_behind_text(c);
    return c ? json_blank(c) : NULL;
  }
  if (*c != '{' && *c != '[') {
    c = json_behind_number(c);
    return c ? json_blank(c) : NULL;
  }
  const bool is_object = *c == '{';
  const char end       = is_object ? '}' : ']';
  c                    = json_blank(c + 1);
  if (*c == end) return json_blank(c + 1);
  for (;; c = json_blank(c + 1)) {
    if (is_object) {
      c = json_behind_text(c);
      if (!c || *(c = json_blank(c)) != ':') return NULL;
      ++c;
    }
    c = json_behind_value(c);
    if (!c || (*c != ',' && *c != end)) return NULL;
    if (*c == end) return json_blank(c + 1);
  }
}

static inline bool json_is_one_value(const char *text) {
  const char *c = json_behind_value(text);
  return c != NULL && *c == '\0';
}

#endif
