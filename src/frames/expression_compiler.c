/* Compiler of expressions: one pass over the text emits a program for a stack machine; there is no tree.
 *
 * Grammar, loosest binding first (blanks are free except inside numbers, units and names):
 *   or; and; not; < <= > >= == != (not chained); + -; * /; unary - +; ^ (right associative, exponent may be signed);
 *   ( ... ), function(...), number [unit], name
 *   name   letters, digits, _ ; parts joined by '.', each with an optional [index] that folds to an integer
 *   unit   see units.h: parts without blanks, directly or after blanks behind a number
 *
 * Invariants of the compiler:
 *  1. An operand whose value is known is exactly one CONSTANT instruction, so folding looks at the last
 *     instructions only.
 *  2. `stack` is what the machine's stack holds after the last instruction; it never exceeds YOKE_PROGRAM_STACK.
 *  3. Recursion is bounded by MAX_NESTING, whatever the text.
 *  4. The first error wins; after it every parsing function returns false up to the top.
 *
 * Dimensions: a quantity is BARE (numbers without a unit, results of sin, ...), UNKNOWN (a name took part) or KNOWN (units
 * were written). BARE and UNKNOWN fit to everything in a sum (SI is meant); products of UNKNOWN are UNKNOWN. An angle
 * is a pure number: dimensions that differ in rad only are consistent. */
#include "base/text.h"
#include "frames/expression_program.h"
#include "frames/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_TEXT      = 1 << 20, /* characters */
  MAX_NESTING   = 100,     /* parentheses, calls, indices, signs and powers inside each other */
  MAX_NAME      = 256,     /* characters of a name with its indices */
  MAX_LITERAL   = 300,     /* digits of a number */
  MAX_POWER     = 16,      /* largest exponent done by products */
  MAX_DIMENSION = 999      /* exponent of a base unit */
};

#define PI 3.14159265358979323846
#define EULER 2.71828182845904523536

/* ---- Messages and characters --------------------------------------------------------------------------- */

/* What is known about an operand while compiling. */
typedef struct quantity {
  bool                 is_constant; /* invariant 1 */
  yoke_dimension_state state;
  int                  dimension[4];
} quantity;

typedef struct compiler {
  const char         *text;
  size_t              at; /* next character */
  const yoke_symbols *symbols;
  bool                has_units; /* of symbols */
  char               *message;
  size_t              message_size;
  yoke_status         status;
  int                 nesting;
  int                 stack; /* invariant 2 */
  int                 n, capacity;
  yoke_instruction   *program;
} compiler;

/* Columns count characters, not bytes, from 1. */
static int column_of(const char *text, size_t at) {
  int column = 1;
  for (size_t i = 0; i < at; ++i) column += ((unsigned char)text[i] & 0xC0) != 0x80;
  return column;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
fail(compiler *c, size_t at, const char *format, ...) {
  if (c->status != YOKE_OK) return false;
  c->status = YOKE_E_MODEL;
  if (c->message == NULL || c->message_size == 0) return false;
  const int n = snprintf(c->message, c->message_size, "column %d: ", column_of(c->text, at));
  if (n > 0 && (size_t)n < c->message_size) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message + n, c->message_size - (size_t)n, format, arguments);
    va_end(arguments);
  }
  return false;
}

static bool is_digit(char ch) {
  return ch >= '0' && ch <= '9';
}

static bool is_name_start(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static bool is_name_letter(char ch) {
  return is_name_start(ch) || is_digit(ch);
}

static void skip_blanks(compiler *c) {
  while (c->text[c->at] == ' ' || c->text[c->at] == '\t' || c->text[c->at] == '\n' || c->text[c->at] == '\r') ++c->at;
}

static size_t name_length(const char *text) {
  size_t n = 0;
  if (is_name_start(text[0])) {
    while (is_name_letter(text[n])) ++n;
  }
  return n;
}

static bool is_word(const char *text, const char *word) {
  const size_t n = strlen(word);
  return name_length(text) == n && memcmp(text, word, n) == 0;
}

static bool is_keyword(const char *text) {
  return is_word(text, "and") || is_word(text, "or") || is_word(text, "not");
}

/* What stands at `at`, for "found ...": a whole name or number, else one character. */
static void describe(const compiler *c, size_t at, char *found, size_t size) {
  const char *text = c->text + at;
  if (text[0] == '\0') {
    snprintf(found, size, "the end");
    return;
  }
  size_t n = name_length(text);
  while (is_digit(text[n]) || text[n] == '.') ++n;
  if (n == 0) n = 1;
  while (((unsigned char)text[n] & 0xC0) == 0x80 && n < 4) ++n; /* the rest of a UTF-8 character */
  if (n == 1 && ((unsigned char)text[0] < 0x20 || (unsigned char)text[0] >= 0x7F)) {
    snprintf(found, size, "byte 0x%02X", (unsigned)(unsigned char)text[0]);
  } else {
    snprintf(found, size, "'%.*s%s'", (int)(n > 40 ? 40 : n), text, n > 40 ? "..." : "");
  }
}

/* What other languages write, and what is meant here; "" if nothing comes to mind. */
static const char *hint_for(const compiler *c) {
  switch (c->text[c->at]) {
  case '*': return c->at > 0 && c->text[c->at - 1] == '*' ? " (a power is written ^)" : "";
  case '&': return " (write and)";
  case '|': return " (write or)";
  case '!': return " (write not)";
  case '=': return " (equality is written ==)";
  case ',': return " (a decimal point is a dot)";
  default: return "";
  }
}

static bool fail_expected(compiler *c, const char *expected) {
  char found[64];
  skip_blanks(c);
  describe(c, c->at, found, sizeof found);
  return fail(c, c->at, "found %s, expected %s%s", found, expected, hint_for(c));
}

static bool enter(compiler *c) {
  if (++c->nesting <= MAX_NESTING) return true;
  return fail(c, c->at, "nested deeper than %d levels", (int)MAX_NESTING);
}

static void leave(compiler *c) {
  --c->nesting;
}

/* ---- Emission and dimensions ---------------------------------------------------------------------------- */

static bool emit(compiler *c, yoke_instruction in, int stack_change) {
  if (c->n == c->capacity) {
    const int         capacity = c->capacity > 0 ? 2 * c->capacity : 16;
    yoke_instruction *program  = realloc(c->program, (size_t)capacity * sizeof *program);
    if (program == NULL) {
      fail(c, c->at, "out of memory");
      c->status = YOKE_E_MEMORY;
      return false;
    }
    c->program  = program;
    c->capacity = capacity;
  }
  c->stack += stack_change;
  if (c->stack > YOKE_PROGRAM_STACK)
    return fail(c, c->at, "more than %d values wait for their operator", (int)YOKE_PROGRAM_STACK);
  c->program[c->n++] = in;
  return true;
}

static bool emit_constant(compiler *c, double value) {
  return emit(c, (yoke_instruction){.op = YOKE_OP_CONSTANT, .u.value = value}, 1);
}

/* Take back the last `count` constants (invariant 1) and put one value in their place. */
static bool fold(compiler *c, int count, double value) {
  c->n -= count;
  c->stack -= count;
  return emit_constant(c, value);
}

static const quantity bare_quantity = {.state = YOKE_DIMENSION_BARE};

static bool same_up_to_angle(const int a[4], const int b[4]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Units that do not fit. Written ones are an error; where units of symbols take part, numbers beside them may be meant in any unit. */
__attribute__((format(printf, 3, 4))) static bool clash(compiler *c, size_t at, const char *format, ...) {
  char    text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!c->has_units) return fail(c, at, "inconsistent units: %s", text);
  if (c->symbols->clash != NULL) c->symbols->clash(c->symbols->user, text);
  return true;
}

/* The dimension of a + b, min(a, b), ... in `sum` (is_constant is not touched). */
static bool merge_dimensions(compiler *c, size_t at, const quantity *a, const quantity *b, quantity *sum) {
  if (a->state != YOKE_DIMENSION_KNOWN || b->state != YOKE_DIMENSION_KNOWN) {
    const quantity *stronger = a->state >= b->state ? a : b;
    sum->state               = stronger->state;
    if (sum != stronger) memcpy(sum->dimension, stronger->dimension, sizeof sum->dimension);
    return true;
  }
  if (!same_up_to_angle(a->dimension, b->dimension)) {
    char left[64], right[64];
    yoke_unit_text(a->dimension, left, sizeof left);
    yoke_unit_text(b->dimension, right, sizeof right);
    sum->state = YOKE_DIMENSION_UNKNOWN;
    return clash(c, at, "found [%s] and [%s], expected the same", left, right);
  }
  const quantity *with_angle = a->dimension[3] != 0 ? a : b;
  sum->state                 = YOKE_DIMENSION_KNOWN;
  if (sum != with_angle) memcpy(sum->dimension, with_angle->dimension, sizeof sum->dimension);
  return true;
}

static bool require_pure(compiler *c, size_t at, const quantity *a, const char *what) {
  static const int pure[4] = {0, 0, 0, 0};
  if (a->state != YOKE_DIMENSION_KNOWN || same_up_to_angle(a->dimension, pure)) return true;
  char unit[64];
  yoke_unit_text(a->dimension, unit, sizeof unit);
  return clash(c, at, "found [%s] in %s, expected an angle or a pure number", unit, what);
}

/* Dimension of a b (sign 1) or a / b (sign -1), into a. */
static void multiply_dimensions(quantity *a, const quantity *b, int sign) {
  if (a->state == YOKE_DIMENSION_UNKNOWN || b->state == YOKE_DIMENSION_UNKNOWN) {
    a->state = YOKE_DIMENSION_UNKNOWN;
    return;
  }
  if (a->state == YOKE_DIMENSION_BARE && b->state == YOKE_DIMENSION_BARE) return;
  for (int k = 0; k < 4; ++k) {
    const int own   = a->state == YOKE_DIMENSION_KNOWN ? a->dimension[k] : 0;
    const int other = b->state == YOKE_DIMENSION_KNOWN ? b->dimension[k] : 0;
    a->dimension[k] = own + sign * other;
  }
  a->state = YOKE_DIMENSION_KNOWN;
  for (int k = 0; k < 4; ++k) {
    if (abs(a->dimension[k]) > MAX_DIMENSION) a->state = YOKE_DIMENSION_UNKNOWN;
  }
}

/* Dimension of a^exponent: known when all exponents stay integers. */
static void raise_dimension(quantity *a, bool is_exponent_known, double exponent) {
  if (a->state != YOKE_DIMENSION_KNOWN) return;
  for (int k = 0; k < 4; ++k) {
    const double raised = is_exponent_known ? exponent * (double)a->dimension[k] : (double)NAN;
    if (!(fabs(raised) <= MAX_DIMENSION && fabs(raised - nearbyint(raised)) < 1e-9)) {
      a->state = YOKE_DIMENSION_UNKNOWN;
      return;
    }
    a->dimension[k] = (int)nearbyint(raised);
  }
}

/* How the dimension of a function or operator follows from its arguments. */
typedef enum dimension_rule {
  RULE_SAME,    /* arguments agree and the result is of their kind */
  RULE_COMPARE, /* arguments agree, the result is a pure number */
  RULE_PURE,    /* arguments and result are pure numbers */
  RULE_ANY,     /* any arguments, the result is a pure number */
  RULE_SQRT,    /* half the exponents */
  RULE_MULTIPLY,
  RULE_DIVIDE,
  RULE_POWER
} dimension_rule;

typedef struct operation {
  const char    *name;
  yoke_opcode    op;
  dimension_rule rule;
  int            n_arguments;
  bool           is_repeated; /* min, max: any number of arguments from n_arguments on */
} operation;

static const operation function_list[] = {
    {"sin", YOKE_OP_SIN, RULE_PURE, 1, false},        {"cos", YOKE_OP_COS, RULE_PURE, 1, false},
    {"tan", YOKE_OP_TAN, RULE_PURE, 1, false},        {"asin", YOKE_OP_ASIN, RULE_PURE, 1, false},
    {"acos", YOKE_OP_ACOS, RULE_PURE, 1, false},      {"atan", YOKE_OP_ATAN, RULE_PURE, 1, false},
    {"atan2", YOKE_OP_ATAN2, RULE_COMPARE, 2, false}, {"sinh", YOKE_OP_SINH, RULE_PURE, 1, false},
    {"cosh", YOKE_OP_COSH, RULE_PURE, 1, false},      {"tanh", YOKE_OP_TANH, RULE_PURE, 1, false},
    {"exp", YOKE_OP_EXP, RULE_PURE, 1, false},        {"log", YOKE_OP_LOG, RULE_PURE, 1, false},
    {"log10", YOKE_OP_LOG10, RULE_PURE, 1, false},    {"sqrt", YOKE_OP_SQRT, RULE_SQRT, 1, false},
    {"abs", YOKE_OP_ABS, RULE_SAME, 1, false},        {"sign", YOKE_OP_SIGN, RULE_ANY, 1, false},
    {"min", YOKE_OP_MIN, RULE_SAME, 2, true},         {"max", YOKE_OP_MAX, RULE_SAME, 2, true},
    {"pow", YOKE_OP_POWER, RULE_POWER, 2, false},     {"floor", YOKE_OP_FLOOR, RULE_SAME, 1, false},
    {"ceil", YOKE_OP_CEIL, RULE_SAME, 1, false},      {"mod", YOKE_OP_MOD, RULE_SAME, 2, false},
    {"step", YOKE_OP_STEP, RULE_ANY, 1, false},       {"hypot", YOKE_OP_HYPOT, RULE_SAME, 2, false},
    {"if", YOKE_OP_SELECT, RULE_SAME, 3, false},
};

enum { N_FUNCTIONS = sizeof function_list / sizeof function_list[0] };

/* Apply to the last operand on the stack. */
static bool apply_unary(compiler *c, size_t at, const operation *f, int number, quantity *a) {
  switch (f->rule) {
  case RULE_PURE:
    if (!require_pure(c, at, a, f->name)) return false;
    a->state = YOKE_DIMENSION_BARE;
    break;
  case RULE_ANY: a->state = YOKE_DIMENSION_BARE; break;
  case RULE_SQRT: raise_dimension(a, true, 0.5); break;
  default: break;
  }
  if (a->is_constant) return fold(c, 1, yoke_opcode_unary(f->op, number, c->program[c->n - 1].u.value));
  return emit(c, (yoke_instruction){.op = (int32_t)f->op, .number = number}, 0);
}

static const operation integer_power = {"^", YOKE_OP_POWER_INTEGER, RULE_SAME, 1, false};

/* a^b; integer constants as exponent become products. */
static bool apply_power(compiler *c, size_t at, quantity *a, const quantity *b) {
  if (!require_pure(c, at, b, "an exponent")) return false;
  const double exponent = b->is_constant ? c->program[c->n - 1].u.value : (double)NAN;
  raise_dimension(a, b->is_constant, exponent);
  if (a->state == YOKE_DIMENSION_BARE && b->state == YOKE_DIMENSION_UNKNOWN) a->state = YOKE_DIMENSION_UNKNOWN;
  if (b->is_constant && fabs(exponent) <= MAX_POWER && exponent == floor(exponent)) {
    --c->n;
    --c->stack;
    return apply_unary(c, at, &integer_power, (int)exponent, a);
  }
  if (a->is_constant && b->is_constant) return fold(c, 2, pow(c->program[c->n - 2].u.value, exponent));
  a->is_constant = false;
  return emit(c, (yoke_instruction){.op = YOKE_OP_POWER}, -1);
}

/* Apply to the last two operands on the stack; the result takes the place of a. */
static bool apply_binary(compiler *c, size_t at, const operation *f, quantity *a, const quantity *b) {
  switch (f->rule) {
  case RULE_SAME:
  case RULE_COMPARE:
    if (!merge_dimensions(c, at, a, b, a)) return false;
    if (f->rule == RULE_COMPARE) a->state = YOKE_DIMENSION_BARE;
    break;
  case RULE_ANY: a->state = YOKE_DIMENSION_BARE; break;
  case RULE_MULTIPLY: multiply_dimensions(a, b, 1); break;
  case RULE_DIVIDE: multiply_dimensions(a, b, -1); break;
  case RULE_POWER: return apply_power(c, at, a, b);
  default: break;
  }
  if (a->is_constant && b->is_constant) {
    return fold(c, 2, yoke_opcode_binary(f->op, c->program[c->n - 2].u.value, c->program[c->n - 1].u.value));
  }
  a->is_constant = false;
  return emit(c, (yoke_instruction){.op = (int32_t)f->op}, -1);
}

/* if(condition, a, b); the result takes the place of the condition. */
static bool apply_select(compiler *c, size_t at, quantity *condition, const quantity *a, const quantity *b) {
  if (!merge_dimensions(c, at, a, b, condition)) return false;
  if (condition->is_constant && a->is_constant && b->is_constant) {
    const yoke_instruction *last = &c->program[c->n - 3];
    return fold(c, 3, last[0].u.value != 0.0 ? last[1].u.value : last[2].u.value);
  }
  condition->is_constant = false;
  return emit(c, (yoke_instruction){.op = YOKE_OP_SELECT}, -2);
}

/* ---- Grammar --------------------------------------------------------------------------------------------- */

enum { LEVEL_OR = 1, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT };

typedef struct infix {
  const char *text; /* longer ones first */
  int         level;
  operation   operation;
} infix;

static const infix infix_list[] = {
    {"<=", LEVEL_COMPARE, {"<=", YOKE_OP_LESS_EQUAL, RULE_COMPARE, 2, false}},
    {">=", LEVEL_COMPARE, {">=", YOKE_OP_GREATER_EQUAL, RULE_COMPARE, 2, false}},
    {"==", LEVEL_COMPARE, {"==", YOKE_OP_EQUAL, RULE_COMPARE, 2, false}},
    {"!=", LEVEL_COMPARE, {"!=", YOKE_OP_NOT_EQUAL, RULE_COMPARE, 2, false}},
    {"<", LEVEL_COMPARE, {"<", YOKE_OP_LESS, RULE_COMPARE, 2, false}},
    {">", LEVEL_COMPARE, {">", YOKE_OP_GREATER, RULE_COMPARE, 2, false}},
    {"+", LEVEL_SUM, {"+", YOKE_OP_ADD, RULE_SAME, 2, false}},
    {"-", LEVEL_SUM, {"-", YOKE_OP_SUBTRACT, RULE_SAME, 2, false}},
    {"*", LEVEL_PRODUCT, {"*", YOKE_OP_MULTIPLY, RULE_MULTIPLY, 2, false}},
    {"/", LEVEL_PRODUCT, {"/", YOKE_OP_DIVIDE, RULE_DIVIDE, 2, false}},
    {"and", LEVEL_AND, {"and", YOKE_OP_AND, RULE_ANY, 2, false}},
    {"or", LEVEL_OR, {"or", YOKE_OP_OR, RULE_ANY, 2, false}},
};

static const operation negation    = {"-", YOKE_OP_NEGATE, RULE_SAME, 1, false};
static const operation logical_not = {"not", YOKE_OP_NOT, RULE_ANY, 1, false};

static bool parse_level(compiler *c, int min_level, quantity *out);

static const infix *peek_infix(compiler *c) {
  skip_blanks(c);
  const char *text = c->text + c->at;
  for (size_t i = 0; i < sizeof infix_list / sizeof infix_list[0]; ++i) {
    const infix *x = &infix_list[i];
    if (is_name_start(x->text[0]) ? is_word(text, x->text) : strncmp(text, x->text, strlen(x->text)) == 0) return x;
  }
  return NULL;
}

/* digits [. digits] [e [sign] digits] at `text`; returns the length, 0 if this is no number. */
static size_t number_length(const char *text) {
  size_t n = 0, n_digits = 0;
  for (; is_digit(text[n]); ++n) ++n_digits;
  if (text[n] == '.') {
    for (++n; is_digit(text[n]); ++n) ++n_digits;
  }
  if (n_digits == 0) return 0;
  if (text[n] == 'e' || text[n] == 'E') {
    const size_t sign = text[n + 1] == '+' || text[n + 1] == '-' ? 1 : 0;
    if (is_digit(text[n + 1 + sign])) {
      n += 2 + sign;
      while (is_digit(text[n])) ++n;
    }
  }
  return n;
}

/* Correctly rounded and independent of the locale: strtod sees no decimal point, 3.25e2 is read as "325e0".
 * false: too long. */
static bool number_value(const char *text, size_t length, double *value) {
  char   digits[MAX_LITERAL + 32];
  size_t n        = 0;
  long   exponent = 0, written = 0;
  bool   is_fraction = false;
  size_t i           = 0;
  if (length > MAX_LITERAL) return false;
  for (; i < length && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      is_fraction = true;
    } else {
      digits[n++] = text[i];
      exponent -= is_fraction;
    }
  }
  if (i < length) {
    const bool is_negative = text[i + 1] == '-';
    i += is_negative || text[i + 1] == '+' ? 2 : 1;
    for (; i < length; ++i) {
      if (written < 100000) written = 10 * written + (text[i] - '0');
    }
    exponent += is_negative ? -written : written;
  }
  snprintf(digits + n, sizeof digits - n, "e%ld", exponent);
  *value = strtod(digits, NULL);
  return true;
}

/* The unit behind a number, if there is one: multiplies value. */
static bool parse_unit(compiler *c, double *value, quantity *out) {
  const size_t end = c->at;
  skip_blanks(c);
  const char *text       = c->text + c->at;
  const bool  is_inverse = text[0] == '1' && text[1] == '/' && c->at > end;
  if (!is_inverse && (is_keyword(text) || !(is_name_start(text[0]) || (unsigned char)text[0] >= 0x80))) return true;
  double       factor;
  const size_t n = yoke_unit_parse(text, &factor, out->dimension);
  if (n == 0) {
    char found[64], name[64];
    describe(c, c->at, found, sizeof found);
    snprintf(name, sizeof name, "%.*s", (int)name_length(text), text);
    const char *nearest = yoke_unit_nearest(name);
    return fail(c, c->at, "found %s after a number, expected a unit or an operator%s%s%s", found,
                nearest != NULL ? "; did you mean the unit '" : "; to multiply write *", nearest != NULL ? nearest : "",
                nearest != NULL ? "'?" : "");
  }
  c->at += n;
  *value *= factor;
  out->state = YOKE_DIMENSION_KNOWN;
  skip_blanks(c);
  /* `2 m^0.5` and `3 mm ^2` would read as powers of the unit but mean powers of the number. */
  if (c->text[c->at] == '^') {
    return fail(c, c->at,
                "found '^' after a unit, expected an integer exponent without blanks, or parentheses: (2 mm)^n");
  }
  return true;
}

static bool parse_number(compiler *c, quantity *out) {
  const size_t start  = c->at;
  const size_t length = number_length(c->text + start);
  double       value  = 0.0;
  *out                = bare_quantity;
  out->is_constant    = true;
  if (!number_value(c->text + start, length, &value)) {
    return fail(c, start, "found a number of %zu characters, expected at most %d", length, (int)MAX_LITERAL);
  }
  c->at += length;
  if (c->text[c->at] == '_' || c->text[c->at] == '.') return fail_expected(c, "an operator or a unit after the number");
  if (!parse_unit(c, &value, out)) return false;
  if (!isfinite(value)) {
    return fail(c, start, "found '%.*s', expected a number below 1.8e308", length > 40 ? 40 : (int)length,
                c->text + start);
  }
  return emit_constant(c, value);
}

/* [ expression ] behind a name: must fold to an integer; appended to `name` as a number. */
static bool parse_index(compiler *c, char *name, size_t *n) {
  quantity     index;
  const size_t start = ++c->at;
  if (!enter(c) || !parse_level(c, LEVEL_OR, &index)) return false;
  leave(c);
  skip_blanks(c);
  if (c->text[c->at] != ']') return fail_expected(c, "an operator or ']'");
  ++c->at;
  if (!index.is_constant) return fail(c, start, "found an index that varies, expected a constant");
  const double value = c->program[c->n - 1].u.value;
  --c->n;
  --c->stack;
  if (!(fabs(value) <= 1e9) || value != floor(value)) {
    return fail(c, start, "found the index %.9g, expected an integer", value);
  }
  const int length = snprintf(name + *n, MAX_NAME - *n, "[%d]", (int)value);
  if (length < 0 || *n + (size_t)length >= MAX_NAME)
    return fail(c, start, "the name is longer than %d characters", MAX_NAME - 1);
  *n += (size_t)length;
  return true;
}

/* part { [index] } { . part { [index] } } */
static bool parse_dotted_name(compiler *c, char name[MAX_NAME]) {
  const size_t start = c->at;
  size_t       n     = 0;
  for (;;) {
    const size_t length = name_length(c->text + c->at);
    if (length == 0) return fail_expected(c, "a name after '.'");
    if (n + length + 2 > MAX_NAME) return fail(c, start, "the name is longer than %d characters", MAX_NAME - 1);
    memcpy(name + n, c->text + c->at, length);
    n += length;
    name[n] = '\0';
    c->at += length;
    while (c->text[c->at] == '[') {
      if (!parse_index(c, name, &n)) return false;
    }
    if (c->text[c->at] != '.') return true;
    if (n + 2 > MAX_NAME) return fail(c, start, "the name is longer than %d characters", MAX_NAME - 1);
    name[n++] = '.';
    name[n]   = '\0';
    ++c->at;
  }
}

static const operation *find_function(const char *name) {
  for (int i = 0; i < N_FUNCTIONS; ++i) {
    if (strcmp(function_list[i].name, name) == 0) return &function_list[i];
  }
  return NULL;
}

static bool fail_unknown_name(compiler *c, size_t at, const char *name) {
  char   nearest[256] = "";
  double factor;
  int    dimension[4];
  if (yoke_unit_lookup(name, &factor, dimension)) {
    return fail(c, at,
                "unknown name '%s', expected a parameter, a state or a constant; as a unit it stands directly "
                "after a number, its parts without blanks: 2 N/mm",
                name);
  }
  if (find_function(name) != NULL)
    return fail(c, at, "found the function '%s' without arguments, expected '(' after it", name);
  if (c->symbols != NULL && c->symbols->suggest != NULL) {
    c->symbols->suggest(c->symbols->user, name, nearest, sizeof nearest);
    nearest[sizeof nearest - 1] = '\0';
  }
  return fail(c, at, "unknown name '%s', expected a parameter, a state or a constant%s%s%s", name,
              nearest[0] != '\0' ? "; did you mean " : "", nearest, nearest[0] != '\0' ? "?" : "");
}

static bool parse_symbol(compiler *c, quantity *out) {
  char         name[MAX_NAME];
  const size_t start = c->at;
  if (!parse_dotted_name(c, name)) return false;
  *out                      = bare_quantity;
  double           value    = 0.0;
  int              variable = -1;
  yoke_symbol_kind kind     = YOKE_SYMBOL_UNKNOWN;
  if (c->symbols != NULL && c->symbols->lookup != NULL) {
    kind = c->symbols->lookup(c->symbols->user, name, &value, &variable);
  }
  if (kind == YOKE_SYMBOL_VARIABLE && variable >= 0) {
    out->state = YOKE_DIMENSION_UNKNOWN;
    return emit(c, (yoke_instruction){.op = YOKE_OP_VARIABLE, .number = variable}, 1);
  }
  out->is_constant = true;
  if (kind == YOKE_SYMBOL_CONSTANT) {
    const bool has_unit = c->symbols->unit != NULL && c->symbols->unit(c->symbols->user, name, out->dimension);
    out->state          = has_unit ? YOKE_DIMENSION_KNOWN : YOKE_DIMENSION_UNKNOWN;
    c->has_units        = c->has_units || has_unit;
    return emit_constant(c, value);
  }
  /* A parameter called e (restitution, say) wins over the number. */
  if (strcmp(name, "pi") == 0) return emit_constant(c, PI);
  if (strcmp(name, "e") == 0) return emit_constant(c, EULER);
  return fail_unknown_name(c, start, name);
}

/* The arguments of f, from '(' to ')'. Operators that repeat (min, max) are applied as soon as two operands are there. */
static bool parse_arguments(compiler *c, size_t at, const operation *f, quantity arguments[3]) {
  int n = 0;
  ++c->at;
  if (!enter(c)) return false;
  for (;;) {
    quantity argument;
    if (!parse_level(c, LEVEL_OR, &argument)) return false;
    ++n;
    if (f->is_repeated && n > 1) {
      if (!apply_binary(c, at, f, &arguments[0], &argument)) return false;
    } else if (n <= f->n_arguments) {
      arguments[n - 1] = argument;
    }
    skip_blanks(c);
    if (c->text[c->at] != ',') break;
    ++c->at;
  }
  leave(c);
  if (c->text[c->at] != ')') return fail_expected(c, "an operator, ',' or ')'");
  ++c->at;
  if (n < f->n_arguments || (n > f->n_arguments && !f->is_repeated)) {
    return fail(c, at, "found %d argument%s of %s, expected %s%d", n, n == 1 ? "" : "s", f->name,
                f->is_repeated ? "at least " : "", f->n_arguments);
  }
  return true;
}

static bool parse_call(compiler *c, quantity *out) {
  const size_t at     = c->at;
  const size_t length = name_length(c->text + at);
  char         name[64];
  quantity     arguments[3] = {bare_quantity, bare_quantity, bare_quantity};
  snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, c->text + at);
  const operation *f = find_function(name);
  if (f == NULL) {
    const char *names[N_FUNCTIONS];
    for (int i = 0; i < N_FUNCTIONS; ++i) names[i] = function_list[i].name;
    const char *nearest = yoke_text_nearest(name, names, N_FUNCTIONS);
    return fail(c, at, "unknown function '%s'%s%s%s", name,
                nearest != NULL ? "; did you mean " : ", expected sin, cos, sqrt, ...", nearest != NULL ? nearest : "",
                nearest != NULL ? "?" : "");
  }
  c->at += length;
  skip_blanks(c);
  if (!parse_arguments(c, at, f, arguments)) return false;
  bool is_fine = true;
  if (f->n_arguments == 1) is_fine = apply_unary(c, at, f, 0, &arguments[0]);
  if (f->n_arguments == 2 && !f->is_repeated) is_fine = apply_binary(c, at, f, &arguments[0], &arguments[1]);
  if (f->n_arguments == 3) is_fine = apply_select(c, at, &arguments[0], &arguments[1], &arguments[2]);
  *out = arguments[0];
  return is_fine;
}

static bool parse_primary(compiler *c, quantity *out) {
  skip_blanks(c);
  const char *text = c->text + c->at;
  if (number_length(text) > 0) return parse_number(c, out);
  if (text[0] == '(') {
    ++c->at;
    if (!enter(c) || !parse_level(c, LEVEL_OR, out)) return false;
    leave(c);
    if (c->text[c->at] != ')') return fail_expected(c, "an operator or ')'");
    ++c->at;
    return true;
  }
  size_t n = name_length(text);
  if (n == 0 || is_keyword(text)) return fail_expected(c, "a number, a name or '('");
  while (text[n] == ' ' || text[n] == '\t') ++n;
  return text[n] == '(' ? parse_call(c, out) : parse_symbol(c, out);
}

/* Signs and powers: -a^b is -(a^b), a^-b^c is a^(-(b^c)). */
static bool parse_unary(compiler *c, quantity *out) {
  skip_blanks(c);
  const size_t at   = c->at;
  const char   sign = c->text[at];
  if (sign == '-' || sign == '+') {
    ++c->at;
    if (!enter(c) || !parse_unary(c, out)) return false;
    leave(c);
    return sign == '+' || apply_unary(c, at, &negation, 0, out);
  }
  if (!parse_primary(c, out)) return false;
  skip_blanks(c);
  if (c->text[c->at] != '^') return true;
  const size_t power = c->at++;
  quantity     exponent;
  if (!enter(c) || !parse_unary(c, &exponent)) return false;
  leave(c);
  return apply_power(c, power, out, &exponent);
}

/* Operators that bind at least as tightly as min_level. On success the next character is not a blank. */
static bool parse_level(compiler *c, int min_level, quantity *out) {
  skip_blanks(c);
  if (min_level <= LEVEL_NOT && is_word(c->text + c->at, "not")) {
    const size_t at = c->at;
    c->at += 3;
    if (!enter(c) || !parse_level(c, LEVEL_NOT, out)) return false;
    leave(c);
    if (!apply_unary(c, at, &logical_not, 0, out)) return false;
  } else if (!parse_unary(c, out)) {
    return false;
  }
  bool is_compared = false;
  for (;;) {
    const infix *x = peek_infix(c);
    if (x == NULL || x->level < min_level) return true;
    const size_t at = c->at;
    if (x->level == LEVEL_COMPARE && is_compared) {
      return fail(c, at, "found a second comparison '%s', expected 'and' between comparisons", x->text);
    }
    is_compared = x->level == LEVEL_COMPARE;
    c->at += strlen(x->text);
    quantity right;
    if (!parse_level(c, x->level + 1, &right)) return false;
    if (!apply_binary(c, at, &x->operation, out, &right)) return false;
  }
}

static bool parse_whole(compiler *c, quantity *out) {
  const size_t length = strnlen(c->text, MAX_TEXT + 1);
  if (length > MAX_TEXT) return fail(c, 0, "found more than %d characters, expected a formula", (int)MAX_TEXT);
  if (!parse_level(c, LEVEL_OR, out)) return false;
  if (c->text[c->at] != '\0') return fail_expected(c, "an operator or the end");
  if (out->is_constant && !isfinite(c->program[0].u.value)) {
    return fail(c, 0, "the value is %s, expected a finite number",
                isnan(c->program[0].u.value) ? "not defined" : "infinite");
  }
  return true;
}

yoke_status yoke_expression_compile(const char *text, const yoke_symbols *symbols, char *message, size_t message_size,
                                    yoke_expression **out) {
  compiler c = {.text = text != NULL ? text : "", .symbols = symbols, .message = message, .message_size = message_size};
  quantity whole = bare_quantity;
  *out           = NULL;
  if (message != NULL && message_size > 0) message[0] = '\0';
  if (!parse_whole(&c, &whole)) {
    free(c.program);
    return c.status;
  }
  *out = yoke_expression_of(c.text, c.n, c.program, whole.state, whole.dimension);
  if (*out != NULL) return YOKE_OK;
  fail(&c, 0, "out of memory");
  return YOKE_E_MEMORY;
}
