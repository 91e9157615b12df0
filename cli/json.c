#include "json.h"
#include <yoke/result.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Length of the UTF-8 letter at `s` (1 .. 4), or 0 when the bytes are none (overlong forms and surrogates included). */
static size_t utf8_length(const unsigned char *s) {
  if (s[0] < 0x80) return 1;
  const size_t n = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
  for (size_t i = 1; i < n; ++i) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0))) return 0;
  if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))) return 0;
  return n;
}

static void put_string(FILE *file, const char *text) {
  putc('"', file);
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    const size_t n = utf8_length(s);
    if (n == 0) {
      fputs("\\ufffd", file);
    } else if (*s == '"' || *s == '\\') {
      fprintf(file, "\\%c", *s);
    } else if (*s == '\n') {
      fputs("\\n", file);
    } else if (*s < 0x20 || *s == 0x7f) {
      fprintf(file, "\\u%04x", (unsigned)*s);
    } else {
      fwrite(s, 1, n, file);
    }
    s += n ? n : 1;
  }
  putc('"', file);
}

static void put_key(json *j, const char *key) {
  if (j->depth > 0) fprintf(j->file, "%s\n%*s", j->has_member ? "," : "", 2 * j->depth, "");
  if (key) {
    put_string(j->file, key);
    fputs(": ", j->file);
  }
  j->has_member = true;
}

void json_begin(json *j, const char *key, char bracket) {
  put_key(j, key);
  putc(bracket, j->file);
  j->depth++;
  j->has_member = false;
}

void json_end(json *j, char bracket) {
  j->depth--;
  if (j->has_member) fprintf(j->file, "\n%*s", 2 * j->depth, "");
  putc(bracket, j->file);
  j->has_member = true;
  if (j->depth == 0) putc('\n', j->file);
}

void json_text(json *j, const char *key, const char *text) {
  put_key(j, key);
  if (text) {
    put_string(j->file, text);
  } else {
    fputs("null", j->file);
  }
}

void json_number(json *j, const char *key, double value) {
  char text[YOKE_NUMBER_SIZE] = "null";
  if (isfinite(value)) yoke_number_text(value, text);
  put_key(j, key);
  fputs(text, j->file);
}

void json_whole(json *j, const char *key, int64_t value) {
  put_key(j, key);
  fprintf(j->file, "%" PRId64, value);
}

void json_truth(json *j, const char *key, bool value) {
  put_key(j, key);
  fputs(value ? "true" : "false", j->file);
}
