/* JSON: one object on a stream, members in the order they are written. Numbers have 17 digits and a point in every locale;
 * a number that is not finite is written as null. Texts that are not UTF-8 are made so. */
#ifndef YOKE_CLI_JSON_H
#define YOKE_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
  FILE *file;
  int   depth;
  bool  has_member; /* at the present depth: the next one needs a comma */
} json;

/* `key` is NULL for the outermost object and for elements of an array. */
void json_begin(json *j, const char *key, char bracket);    /* '{' or '[' */
void json_end(json *j, char bracket);                       /* '}' or ']' */
void json_text(json *j, const char *key, const char *text); /* NULL: null */
void json_number(json *j, const char *key, double value);
void json_whole(json *j, const char *key, int64_t value);
void json_truth(json *j, const char *key, bool value);

#endif
