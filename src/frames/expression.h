/* Expression: an arithmetic formula of the model file, compiled to a flat program.
 *
 * Pure: no state, no side effect, cannot loop. Differentiated by forward accumulation with respect to
 * its variables. A value of a formula may carry a unit in its source text ("350 mm", "30 deg"):
 * literals are converted to SI when compiled. */
#ifndef YOKE_FRAMES_EXPRESSION_H
#define YOKE_FRAMES_EXPRESSION_H

#include <yoke/context.h>
#include <stdint.h>

typedef struct yoke_expression yoke_expression; /* constant after compilation, shared by owners and threads */

/* Resolves a name met in the text ("t", "l", "upper.vx", "rod[3].x"; index expressions are already
 * folded to numbers). Answers one of: */
typedef enum yoke_symbol_kind {
  YOKE_SYMBOL_UNKNOWN,
  YOKE_SYMBOL_CONSTANT, /* *value is set */
  YOKE_SYMBOL_VARIABLE  /* *variable is set: index into the array of values given to evaluate, >= 0 */
} yoke_symbol_kind;

typedef struct yoke_symbols {
  yoke_symbol_kind (*lookup)(void *user, const char *name, double *value, int *variable);
  /* Unit of a constant, exponents of m, kg, s, rad; optional. false: it has none, and fits to everything. */
  bool (*unit)(void *user, const char *name, int dimension[4]);
  /* Units that do not fit where units of symbols take part, which is no error: "found [kg] and [m], expected the same"; optional. */
  void (*clash)(void *user, const char *text);
  /* Nearest valid names for an error message, optional: writes into text. */
  void (*suggest)(void *user, const char *name, char *text, size_t size);
  void *user;
} yoke_symbols;

/* Compile `text`. On failure a message that starts with "column N: " and says what was found and what was
 * expected is written to `message` (size `message_size`), and YOKE_E_MODEL is returned; the caller adds
 * file, line and key. Pi, e, the functions sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 sqrt
 * abs sign min max pow floor ceil mod step hypot if(c,a,b), the operators + - * / ^ (right associative), unary -,
 * comparisons < <= > >= == != and `and or not` (0 or 1) are always known. A symbol called pi or e wins over the number.
 *
 * Binding, loosest first: or; and; not; comparisons (not chained); + -; * /; unary -; ^. So -2^2 is -4 and 2^-1 is 0.5.
 * min and max take two or more arguments. step(x) is 1 for x >= 0. mod(a, b) has the sign of b. sign(0) is 0.
 * if(c, a, b) evaluates both a and b and takes one: what is not taken has no influence, not even as NaN.
 *
 * Names: letters, digits and _, joined by '.', indexed by [..] with a formula that folds to an integer ("rod[i-1].x" asks
 * lookup for "rod[2].x"). A '-' is always a minus.
 *
 * Units: a unit belongs to the number right before it (blanks between them are free): 350 mm, 30deg, 5 1/s. Its parts are
 * written without blanks, with * / and integer exponents: 2 N/mm, 1e-3 kg*m^2, 9.81 m/s^2. Inside such a word a unit's name
 * always means the unit, also when a parameter has the same name; `3*m` and `2 N * m` mean the symbol m. A part that is
 * no unit ends the unit: in `5 mm*width` width is a symbol. A unit binds tighter than every operator: 1/2 s is 1/(2 s).
 * Written units of different dimension cannot be added or compared ("inconsistent units"); a number or a symbol without unit
 * fits to everything; angles are pure numbers.
 *
 * Derivatives where there is none: 0 at the jumps of sign, step, floor, ceil, mod and comparisons, and at the kink of abs
 * and hypot; min, max and if follow the argument that is taken. sqrt(0) has an infinite slope, but what does not
 * depend on a variable has derivative 0 whatever its value.
 * A formula whose constant value is not finite is an error. */
yoke_status yoke_expression_compile(const char *text, const yoke_symbols *symbols, char *message, size_t message_size,
                                    yoke_expression **out);
/* One more owner of the same expression; NULL stays NULL. Every owner destroys it, the last one frees it. */
yoke_expression *yoke_expression_retain(const yoke_expression *expression);
void             yoke_expression_destroy(yoke_expression **expression);

/* The same formula of other variables: what reads variable k reads variable number[k] (NULL: k), or takes the value of inner[k], whose variables
 * stay (NULL: of none; inner NULL: of none at all). Gives. YOKE_E_MODEL: it would become too long; YOKE_E_MEMORY. */
yoke_status yoke_expression_replace(const yoke_expression *expression, const int *number,
                                    const yoke_expression *const *inner, yoke_expression **out);

bool        yoke_expression_is_constant(const yoke_expression *expression);
/* Is it c + sum a_k x_k with constant c and a_k? Then these are its value and its gradient where all variables are 0. */
bool        yoke_expression_is_affine(const yoke_expression *expression);
const char *yoke_expression_text(const yoke_expression *expression);

/* The variables that the program reads: indices as given by lookup, increasing, without repetition. */
int        yoke_expression_n_variables(const yoke_expression *expression);
const int *yoke_expression_variables(const yoke_expression *expression);

/* Value at `variables` (indexed by the numbers of lookup). `gradient` (may be NULL) receives the derivative
 * with respect to the k-th of yoke_expression_variables. No allocation; safe from many threads. */
double yoke_expression_evaluate(const yoke_expression *expression, const double *variables, double *gradient);

/* Value of an expression of one variable, or of none, at x, with its first two derivatives. Where there is none: as above. */
double yoke_expression_second(const yoke_expression *expression, double x, double *first, double *second);

/* On which sides of its jumps (step, sign, floor, ceil, mod, comparisons, conditions) it lies at `variables`: a checksum, continued from `sum`, that
 * differs where one side differs. What depends on variable `time` alone does not count, nor do kinks. Can it jump at all? */
uint64_t yoke_expression_branch(uint64_t sum, const yoke_expression *expression, const double *variables, int time);
bool     yoke_expression_can_jump(const yoke_expression *expression, int time);

/* Checksum of its program, continued from `sum` (base/pack.h): what it computes, not how it is written. NULL: no expression. */
uint64_t yoke_expression_checksum(uint64_t sum, const yoke_expression *expression);

/* Unit factor to SI: yoke_unit_lookup("mm", &f, dim) gives f = 1e-3 and dim = exponents of (m, kg, s, rad). false: unknown.
 * Products are units, too: "N/mm", "kg*m^2", "1/s". */
bool yoke_unit_lookup(const char *unit, double *factor, int dimension[4]);

/* A literal with a unit, "350 mm", "30 deg", "1e-3 kg*m^2", "2 N/mm" : `is_unit` reports whether the text had one.
 * Used to reject inconsistent units: a key that expects metres does not take seconds. The result of compiling a text with
 * units remembers the dimension of the whole expression when it is a literal or a sum of literals of one dimension. */
bool yoke_expression_dimension(const yoke_expression *expression,
                               int                    dimension[4]); /* false: dimension unknown (no unit written) */

#endif
