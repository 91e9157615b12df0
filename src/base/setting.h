/* Setting: one key that a user may set, as a row of a table that belongs to the module that reads it.
 *
 *   rows    say how a key is written, where its value goes, what it is when it is not given, and what it means
 *   tables  are the rows that fill one struct; several tables may share a path (those of the formulations do)
 *   values  are what a model file or an override gave, kept with their rows until the module that reads them fills its struct
 * Reading, overrides, options of the program, the echo in results, help, pages and "has no effect" come from the rows, so a new key is
 * one row and one member of the struct it fills. */
#ifndef YOKE_BASE_SETTING_H
#define YOKE_BASE_SETTING_H

#include <stdbool.h>
#include <stddef.h>

enum { YOKE_SETTING_MAX_WORDS = 64, YOKE_SETTING_TEXT = 64, YOKE_SETTING_NUMBERS = 2, YOKE_SETTING_PATH = 96 };

typedef enum yoke_setting_type {
  YOKE_SETTING_WORD, /* one of `words`. Into an array of letters goes the word, into an enum, int or bool its number */
  YOKE_SETTING_NUMBER,    /* double [n] */
  YOKE_SETTING_POSITIVE,  /* double [n], > 0; one number that goes to all n places */
  YOKE_SETTING_INTEGER,   /* int from `min` to `max` */
  YOKE_SETTING_BOOLEAN,   /* bool */
  YOKE_SETTING_SUBSYSTEM, /* char [size]: the name of a subsystem */
  YOKE_SETTING_OTHER      /* read by code of its own; `expected` says what is written */
} yoke_setting_type;

typedef struct yoke_setting {
  const char       *key;
  yoke_setting_type type;
  size_t            at, size; /* of the member it fills: YOKE_SETTING_AT */
  int               n;        /* numbers; 0 counts as 1 */
  int               min, max; /* integers */
  const char       *unit;     /* "s"; NULL: a pure number, "any": whatever is written */
  const char       *words[6]; /* of a word; of a number: words that may stand instead of it, "auto" */
  const char *(*more)(int i); /* further words, from a list of the program; NULL behind the last */
  /* Value when it is not given: numbers, the number of the word, 0 or 1. With `otherwise` it is a mark for "not given", and the
   * value follows from others: "2 mu H". */
  double      standard[YOKE_SETTING_NUMBERS];
  const char *otherwise;
  bool (*fits)(const double *value); /* numbers: more than the type says; NULL: nothing more */
  const char *expected;              /* what `fits` expects, in words */
  /* Read only where the setting `with` of the same table or of the run has one of the words `of`, separated by blanks; and not where
   * all of `without` are given. NULL: always. */
  const char *with, *of, *without;
  bool        is_shared; /* a setting of the run that may stand below `couplings`, too, for all of them */
  bool        is_part;   /* one of several keys that another one sets together; that one is not echoed */
  const char *option;    /* "order": the program has --order */
  const char *value;     /* of the option, in its help: "K" */
  const char *refused;   /* a key that is known and not available: why. NULL: it is */
  const char *help;      /* what it means, one line */
} yoke_setting;

#define YOKE_SETTING_AT(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)

typedef struct yoke_setting_table {
  const char         *path; /* "cosimulation.step"; of a formulation NULL: "cosimulation.couplings" */
  int                 n;
  const yoke_setting *rows;
} yoke_setting_table;

#define YOKE_SETTING_ROWS(list) .n = (int)(sizeof(list) / sizeof((list)[0])), .rows = (list)

const yoke_setting *yoke_setting_find(const yoke_setting_table *table, const char *key); /* NULL: none */
/* All words of a row; their number. */
int                 yoke_setting_words(const yoke_setting *row, const char *out[YOKE_SETTING_MAX_WORDS]);
/* Is `word` one of `list`, which is separated by blanks? */
bool                yoke_setting_is_among(const char *word, const char *list);

/* ---- values that were given ---- */

typedef struct yoke_setting_value {
  const char         *path; /* of its table */
  const yoke_setting *row;
  double              number[YOKE_SETTING_NUMBERS]; /* numbers; 0 or 1 */
  char                text[YOKE_SETTING_TEXT];      /* a word or name; "": it is a number */
  char                position[120];                /* where it was given: "m.yaml:7:3" */
} yoke_setting_value;

typedef struct yoke_settings { /* start with {0} */
  int                 n;
  yoke_setting_value *values;
} yoke_settings;

bool yoke_settings_add(yoke_settings *settings, const yoke_setting_value *value); /* false: no memory */
void yoke_settings_clear(yoke_settings *settings);
/* The last one of this path and key; NULL: not given. */
const yoke_setting_value *yoke_settings_find(const yoke_settings *settings, const char *path, const char *key);

/* ---- structs that tables fill ---- */

/* All members of the rows get their standards. */
void yoke_setting_start(const yoke_setting_table *table, void *target);
/* What was given below `path` goes to the members of the rows with the same keys, in the order given. */
void yoke_setting_fill(const yoke_setting_table *table, const char *path, const yoke_settings *given, void *target);
/* One value. A word that the row does not have is left out. */
void yoke_setting_store(const yoke_setting *row, const yoke_setting_value *value, void *target);
/* Does the member still say "not given"? Only rows with `otherwise` can. */
bool yoke_setting_is_open(const yoke_setting *row, const void *target);

/* Is the row read, as far as the other settings of its table decide (`with`, `without`)? */
bool yoke_setting_is_read(const yoke_setting_table *table, const yoke_setting *row, const void *target);

/* Conditions that several rows have. */
bool yoke_setting_is_share(const double *value);
#define YOKE_SETTING_SHARE_WORDS "a share of the new value in (0, 2]"
bool yoke_setting_is_tolerance(const double *value);
#define YOKE_SETTING_TOLERANCE_WORDS "a number > 0 and < 1"

/* ---- text ---- */

/* The member as text of a model file that reads back as the same bits. */
void yoke_setting_text(const yoke_setting *row, const void *target, char *text, size_t size);
/* The shortest form of a number that reads back as the same double, with a decimal point in every locale. */
void yoke_setting_number_text(double value, char *text, size_t size);
/* The standard for help and pages: "1e-8", "[1/3, 2/3]", "2 mu H". */
void yoke_setting_standard_text(const yoke_setting *row, char *text, size_t size);
/* Where it is read: "scheme implicit or waveform", "index 1 or 2, without beta and gamma"; "": always. */
void yoke_setting_condition_text(const yoke_setting *row, char *text, size_t size);
/* What may be written: "jacobi, gauss-seidel", "0 to 5, auto", "number > 0 [s]". */
void yoke_setting_values_text(const yoke_setting *row, char *text, size_t size);

#endif
