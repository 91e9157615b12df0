/* Chain bodies: n masses in a row. Values per mass go straight into arrays, so that 10^7 masses take linear time and memory and
 * no text of their own. */
#include "io/model_reader.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counter-based generator: output number i of the stream is splitmix64's mixing function of key + i * golden ratio, the key being
 * mixed from the seed and the name of the stream (FNV-1a). Value = upper 53 bits / 2^53. Integer arithmetic only, so that it
 * is the same on every machine. */
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t stream_key(double seed, const char *stream) {
  uint64_t h = 14695981039346656037u;
  for (; *stream != '\0'; ++stream) h = (h ^ (unsigned char)*stream) * 1099511628211u;
  return mix(h ^ mix((uint64_t)(int64_t)seed));
}

static double uniform(uint64_t key, long i) {
  return (double)(mix(key + (uint64_t)i * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

/* ---- values per mass ---- */

typedef enum value_kind { VALUE_CONSTANT, VALUE_EXPRESSION, VALUE_RANDOM, VALUE_LIST, VALUE_TABLE } value_kind;

/* How a value follows from the number i = 1, 2, ... of a mass or element. */
typedef struct value_rule {
  value_kind       kind;
  double           constant;
  yoke_expression *expression;
  double           low, high;
  uint64_t         key, sign_key;
  bool             random_sign;
  int              n; /* list or table */
  double          *x, *y;
  yoke_arena       arena; /* of x and y */
} value_rule;

static void rule_clear(value_rule *rule) {
  yoke_expression_destroy(&rule->expression);
  yoke_arena_free(&rule->arena);
}

static double rule_value(const value_rule *rule, long i) {
  switch (rule->kind) {
  case VALUE_EXPRESSION: {
    const double index = (double)i;
    return yoke_expression_evaluate(rule->expression, &index, NULL);
  }
  case VALUE_RANDOM: {
    const double value = rule->low + (rule->high - rule->low) * uniform(rule->key, i);
    return rule->random_sign && uniform(rule->sign_key, i) < 0.5 ? -value : value;
  }
  case VALUE_LIST: return rule->y[i - 1];
  case VALUE_TABLE: { /* linear between the points, constant beyond the ends */
    const double x = (double)i;
    if (x <= rule->x[0]) return rule->y[0];
    int lo = 0, hi = rule->n - 1;
    if (x >= rule->x[hi]) return rule->y[hi];
    while (hi - lo > 1) {
      const int middle = lo + (hi - lo) / 2;
      if (rule->x[middle] <= x)
        lo = middle;
      else
        hi = middle;
    }
    return rule->y[lo] + (rule->y[hi] - rule->y[lo]) * (x - rule->x[lo]) / (rule->x[hi] - rule->x[lo]);
  }
  default: return rule->constant;
  }
}

static bool read_random(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q,
                        value_rule *rule) {
  static const char *const keys[] = {"random", "seed", "sign"}, *const signs[] = {"plus", "random"};
  double range[2];
  long   seed = 0;
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  const yoke_yaml_node *seed_node = yoke_yaml_find(node, "seed"), *sign = yoke_yaml_find(node, "sign");
  if (!model_numbers(r, s, yoke_yaml_find(node, "random"), key, q, 2, 2, range, NULL)) return false;
  if (seed_node != NULL && !model_integer(r, s, seed_node, "seed", 0, 1L << 52, &seed)) return false;
  if (range[0] > range[1])
    return model_mistake(r, node, key, "found random: [%g, %g], expected the smaller limit first", range[0], range[1]);
  const int word = sign == NULL ? 0 : model_word(r, sign, "sign", signs, 2);
  if (word < 0) return false;
  char sign_stream[80];
  model_print(sign_stream, sizeof sign_stream, "%s sign", key);
  rule->kind        = VALUE_RANDOM;
  rule->low         = range[0];
  rule->high        = range[1];
  rule->random_sign = word == 1;
  rule->key         = stream_key((double)seed, key);
  rule->sign_key    = stream_key((double)seed, sign_stream);
  return true;
}

static bool read_value_table(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q,
                             value_rule *rule) {
  static const char *const keys[] = {"table"};
  const yoke_yaml_node    *table  = yoke_yaml_find(node, "table");
  if (!model_check_keys(r, node, keys, 1)) return false;
  if (table == NULL || table->kind != YOKE_YAML_LIST || table->n < 1)
    return model_expected(r, node, key, "{table: [[i, value], ...]}");
  rule->x = yoke_arena_take(&rule->arena, (size_t)table->n, sizeof *rule->x);
  rule->y = yoke_arena_take(&rule->arena, (size_t)table->n, sizeof *rule->y);
  if (rule->arena.has_failed) return model_out_of_memory(r);
  rule->kind = VALUE_TABLE;
  rule->n    = table->n;
  for (int k = 0; k < table->n; ++k) {
    const yoke_yaml_node *pair = table->items[k];
    if (pair->kind != YOKE_YAML_LIST || pair->n != 2) return model_expected(r, pair, key, "a pair [i, value]");
    if (!model_number(r, s, pair->items[0], key, Q_NUMBER, &rule->x[k]) ||
        !model_number(r, s, pair->items[1], key, q, &rule->y[k]))
      return false;
    if (k > 0 && rule->x[k] <= rule->x[k - 1])
      return model_mistake(r, pair, key, "found i = %g behind %g, expected increasing i", rule->x[k], rule->x[k - 1]);
  }
  return true;
}

/* A number, an expression of i, a list of n, {random: [low, high], seed: s} or {table: [[i, value], ...]}. n = 0: lists are not
 * possible here. */
static bool read_rule(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, quantity q, long n,
                      value_rule *rule) {
  if (yoke_yaml_is_nothing(node))
    return model_expected(
        r, node, key,
        "a number, an expression of i, a list, {random: [low, high], seed: s} or {table: [[i, value], ...]}");
  if (node->kind == YOKE_YAML_MAP) {
    return yoke_yaml_find(node, "random") != NULL ? read_random(r, s, node, key, q, rule)
                                                  : read_value_table(r, s, node, key, q, rule);
  }
  if (node->kind == YOKE_YAML_LIST) {
    char expected[80];
    model_print(expected, sizeof expected, "a list of %ld values", n);
    if (n == 0) return model_expected(r, node, key, "a number, an expression of i or {random: [low, high], seed: s}");
    if (node->n != n) return model_expected(r, node, key, expected);
    rule->kind = VALUE_LIST;
    rule->n    = node->n;
    rule->y    = yoke_arena_take(&rule->arena, (size_t)n, sizeof *rule->y);
    if (rule->arena.has_failed) return model_out_of_memory(r);
    for (int k = 0; k < node->n; ++k) {
      if (!model_number(r, s, node->items[k], key, q, &rule->y[k])) return false;
    }
    return true;
  }
  if (!model_expression(r, s, node, key, VARIABLES_MASS, q, &rule->expression)) return false;
  rule->kind = VALUE_EXPRESSION;
  if (!yoke_expression_is_constant(rule->expression)) return true;
  rule->kind     = VALUE_CONSTANT;
  rule->constant = yoke_expression_evaluate(rule->expression, NULL, NULL);
  return true;
}

/* Optional key of `map` for i = 1 .. n. `least`: values must be greater than it. */
static bool read_per_mass(reader *r, const scope *s, const yoke_yaml_node *map, const char *key, quantity q, long n,
                          bool positive, yoke_per_mass *out) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  value_rule            rule = {0};
  if (node == NULL) return true;
  bool good = read_rule(r, s, node, key, q, n, &rule);
  if (good && rule.kind != VALUE_CONSTANT) {
    out->each = yoke_arena_take(&r->model->arena, (size_t)n, sizeof *out->each);
    good      = model_has_memory(r);
  }
  const long last  = rule.kind == VALUE_CONSTANT ? 1 : n;
  double     least = 0.0;
  for (long i = 1; i <= last && good; ++i) {
    const double value = rule_value(&rule, i);
    if (!isfinite(value))
      good = model_mistake(r, node, key, "found %g for i = %ld, expected a finite number", value, i);
    if (good && positive && !(value > 0))
      good = model_mistake(r, node, key, "found %g for i = %ld, expected a value greater than 0", value, i);
    least = fmin(least, value);
    if (out->each != NULL)
      out->each[i - 1] = value;
    else
      out->value = value;
  }
  if (good && (strstr(key, "stiffness") != NULL || strstr(key, "damping") != NULL))
    model_warn_if_negative(r, node, key, least);
  rule_clear(&rule);
  return good;
}

/* ---- loads ---- */

typedef struct mass_set { /* which masses a load acts on */
  bool     random;
  double   share;
  uint64_t key;
  long     n_ranges;
  long (*range)[3]; /* first, last, step; 1-based */
} mass_set;

static bool add_range(reader *r, const yoke_yaml_node *at, long n, long first, long last, long step, mass_set *set) {
  if (first < 1 || last > n || first > last)
    return model_mistake(r, at, "on", "found masses %ld to %ld, expected numbers from 1 to %ld", first, last, n);
  set->range[set->n_ranges][0] = first;
  set->range[set->n_ranges][1] = last;
  set->range[set->n_ranges][2] = step;
  ++set->n_ranges;
  return true;
}

/* "5", "n/2" or "1..n/2". */
static bool add_scalar_range(reader *r, const scope *s, const yoke_yaml_node *node, long n, mass_set *set) {
  if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, "on", "the number of a mass or a range 1..n");
  if (strcmp(node->text, "all") == 0) return add_range(r, node, n, 1, n, 1, set);
  const char *dots = strstr(node->text, "..");
  long        first, last;
  if (!model_index_text(r, s, node, "on", node->text, dots == NULL ? strlen(node->text) : (size_t)(dots - node->text),
                        &first))
    return false;
  last = first;
  if (dots != NULL && !model_index_text(r, s, node, "on", dots + 2, strlen(dots + 2), &last)) return false;
  return add_range(r, node, n, first, last, 1, set);
}

static bool read_on(reader *r, const scope *s, const yoke_yaml_node *node, long n, mass_set *set) {
  static const char *const keys[] = {"from", "to", "every"}, *const share_keys[] = {"share", "seed"};
  const long n_ranges = node != NULL && node->kind == YOKE_YAML_LIST ? node->n : 1;
  if (node == NULL)
    return model_mistake(r, node, "on",
                         "found nothing, expected the number of a mass, a range, a list or {from:, to:, every:}");
  set->range = calloc((size_t)n_ranges + 1, sizeof *set->range);
  if (set->range == NULL) return model_out_of_memory(r);
  if (node->kind == YOKE_YAML_SCALAR) return add_scalar_range(r, s, node, n, set);
  if (node->kind == YOKE_YAML_LIST) {
    bool good = true;
    for (int k = 0; k < node->n && good; ++k) good = add_scalar_range(r, s, node->items[k], n, set);
    return good;
  }
  if (yoke_yaml_find(node, "share") != NULL) {
    long                  seed      = 0;
    const yoke_yaml_node *seed_node = yoke_yaml_find(node, "seed");
    if (!model_check_keys(r, node, share_keys, 2)) return false;
    if (seed_node != NULL && !model_integer(r, s, seed_node, "seed", 0, 1L << 52, &seed)) return false;
    if (!model_number(r, s, yoke_yaml_find(node, "share"), "share", Q_NUMBER, &set->share)) return false;
    if (set->share < 0 || set->share > 1)
      return model_mistake(r, node, "share", "found %g, expected a number from 0 to 1", set->share);
    set->random = true;
    set->key    = stream_key((double)seed, "on");
    return add_range(r, node, n, 1, n, 1, set);
  }
  long                  first = 1, last = n, step = 1;
  const yoke_yaml_node *from = yoke_yaml_find(node, "from"), *to = yoke_yaml_find(node, "to"),
                       *every = yoke_yaml_find(node, "every");
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  if (from != NULL && !model_integer(r, s, from, "from", 1, n, &first)) return false;
  if (to != NULL && !model_integer(r, s, to, "to", 1, n, &last)) return false;
  if (every != NULL && !model_integer(r, s, every, "every", 1, n, &step)) return false;
  return add_range(r, node, n, first, last, step, set);
}

typedef struct load_list { /* in the order of the file */
  int              n;
  size_t           capacity;
  yoke_chain_load *loads;
} load_list;

static bool append_load(reader *r, load_list *list, const yoke_chain_load *load) {
  if (!model_grow(r, &list->loads, list->n, &list->capacity, sizeof *list->loads)) return false;
  list->loads[list->n++] = *load;
  return true;
}

typedef struct load_rules { /* values of one entry of `loads:`; those a kind has no use for stay 0 */
  value_rule force, omega, phase, slope, width, rise;
  int        n_times;
  value_rule time[64];
  double     power;
  bool       outside;
} load_rules;

static void load_rules_clear(load_rules *rules) {
  value_rule *const all[] = {&rules->force, &rules->omega, &rules->phase, &rules->slope, &rules->width, &rules->rise};
  for (int k = 0; k < MODEL_COUNT(all); ++k) rule_clear(all[k]);
  for (int k = 0; k < rules->n_times; ++k) rule_clear(&rules->time[k]);
}

static bool add_loads(reader *r, const yoke_yaml_node *node, yoke_chain_load_kind kind, const load_rules *rules, long i,
                      load_list *list) {
  yoke_chain_load load = {.kind = kind, .mass = (int)i - 1, .power = rules->power};
  load.amplitude       = rule_value(&rules->force, i);
  load.omega           = rule_value(&rules->omega, i);
  load.phase           = rule_value(&rules->phase, i);
  load.slope           = rule_value(&rules->slope, i);
  load.width           = rule_value(&rules->width, i);
  load.rise            = rule_value(&rules->rise, i);
  const int copies     = kind == YOKE_CHAIN_IMPULSE ? rules->n_times : 1;
  for (int k = 0; k < copies; ++k) {
    if (kind == YOKE_CHAIN_IMPULSE) load.time = rule_value(&rules->time[k], i);
    const double sum = load.amplitude + load.omega + load.phase + load.slope + load.width + load.rise + load.time;
    if (!isfinite(sum)) return model_mistake(r, node, NULL, "found a value that is not finite for mass %ld", i);
    if (kind == YOKE_CHAIN_IMPULSE && !(load.rise > 0))
      return model_mistake(r, node, "rise", "found %g for mass %ld, expected a time greater than 0", load.rise, i);
    if (!append_load(r, list, &load)) return false;
  }
  return true;
}

static bool read_times(reader *r, const scope *s, const yoke_yaml_node *map, load_rules *rules) {
  const yoke_yaml_node *node    = yoke_yaml_find(map, "time");
  const int             n       = node != NULL && node->kind == YOKE_YAML_LIST ? node->n : 1;
  const int             n_limit = MODEL_COUNT(rules->time);
  if (node == NULL)
    return model_mistake(r, map, "time",
                         "found nothing, expected the time [s] at which the impulse starts, or a list of times");
  if (n > n_limit) return model_mistake(r, node, "time", "found a list of %d, expected at most %d", n, n_limit);
  for (int k = 0; k < n; ++k) {
    ++rules->n_times;
    if (!read_rule(r, s, node->kind == YOKE_YAML_LIST ? node->items[k] : node, "time", Q_TIME, 0, &rules->time[k]))
      return false;
  }
  return true;
}

static bool required_rule(reader *r, const scope *s, const yoke_yaml_node *map, const char *key, quantity q,
                          value_rule *rule) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  if (node == NULL)
    return model_mistake(r, map, key,
                         "found nothing, expected a number, an expression of i or {random: [low, high], seed: s}");
  return read_rule(r, s, node, key, q, 0, rule);
}

static bool read_load_rules(reader *r, const scope *s, const yoke_yaml_node *map, yoke_chain_load_kind kind,
                            load_rules *rules) {
  static const char *const harmonic[] = {"on", "kind", "force", "omega", "phase"}, *const sine[] = {"on",    "kind",
                                                                                                    "force", "omega",
                                                                                                    "phase", "power"};
  static const char *const impulse[] = {"on", "kind", "force", "time", "width", "rise"}, *const contact[] = {
                                                                                             "on", "kind", "force",
                                                                                             "slope", "start"};
  static const char *const starts[] = {"given", "outside"};
  if (!required_rule(r, s, map, "force", Q_FORCE, &rules->force)) return false;
  switch (kind) {
  case YOKE_CHAIN_HARMONIC:
  case YOKE_CHAIN_MODIFIED_SINE: {
    const bool modified = kind == YOKE_CHAIN_MODIFIED_SINE;
    if (!model_check_keys(r, map, modified ? sine : harmonic, modified ? MODEL_COUNT(sine) : MODEL_COUNT(harmonic)))
      return false;
    if (!required_rule(r, s, map, "omega", Q_ANGULAR_VELOCITY, &rules->omega)) return false;
    if (yoke_yaml_find(map, "phase") != NULL && !required_rule(r, s, map, "phase", Q_ANGLE, &rules->phase))
      return false;
    long                  power = 95;
    const yoke_yaml_node *node  = yoke_yaml_find(map, "power");
    if (node != NULL && !model_integer(r, s, node, "power", 1, 100001, &power)) return false;
    if (power % 2 == 0) return model_mistake(r, node, "power", "found %ld, expected an odd number", power);
    rules->power = (double)power;
    return true;
  }
  case YOKE_CHAIN_IMPULSE:
    return model_check_keys(r, map, impulse, MODEL_COUNT(impulse)) && read_times(r, s, map, rules) &&
           required_rule(r, s, map, "width", Q_TIME, &rules->width) &&
           required_rule(r, s, map, "rise", Q_TIME, &rules->rise);
  default: {
    const yoke_yaml_node *start = yoke_yaml_find(map, "start");
    const int             word  = start == NULL ? 0 : model_word(r, start, "start", starts, 2);
    rules->outside              = word == 1;
    return word >= 0 && model_check_keys(r, map, contact, MODEL_COUNT(contact)) &&
           required_rule(r, s, map, "slope", Q_PER_LENGTH, &rules->slope);
  }
  }
}

/* Contact masses start in front of the wall at x = 0: x0 := -|x0|. */
static bool start_outside(reader *r, yoke_chain *chain, long i) {
  yoke_per_mass *x0 = &chain->x0;
  if (x0->each == NULL) {
    x0->each = yoke_arena_take(&r->model->arena, (size_t)chain->n, sizeof *x0->each);
    if (!model_has_memory(r)) return false;
    for (int k = 0; k < chain->n; ++k) x0->each[k] = x0->value;
  }
  x0->each[i - 1] = -fabs(x0->each[i - 1]);
  return true;
}

static bool read_load(reader *r, const scope *s, const yoke_yaml_node *node, yoke_chain *chain, load_list *list) {
  static const char *const kinds[] = {[YOKE_CHAIN_HARMONIC]      = "harmonic",
                                      [YOKE_CHAIN_CONTACT]       = "contact",
                                      [YOKE_CHAIN_IMPULSE]       = "impulse",
                                      [YOKE_CHAIN_MODIFIED_SINE] = "modified-sine"};
  if (node->kind != YOKE_YAML_MAP) return model_expected(r, node, NULL, "a load {on: ..., kind: ..., ...}");
  const yoke_yaml_node *kind_node = yoke_yaml_find(node, "kind");
  const int             kind = model_word(r, kind_node == NULL ? node : kind_node, "kind", kinds, MODEL_COUNT(kinds));
  if (kind < 0) return false;
  load_rules *rules = calloc(1, sizeof *rules);
  mass_set    set   = {0};
  if (rules == NULL) return model_out_of_memory(r);
  bool good = read_load_rules(r, s, node, (yoke_chain_load_kind)kind, rules);
  good      = read_on(r, s, yoke_yaml_find(node, "on"), chain->n, &set) && good;
  for (long k = 0; k < set.n_ranges && good; ++k) {
    for (long i = set.range[k][0]; i <= set.range[k][1] && good; i += set.range[k][2]) {
      if (set.random && uniform(set.key, i) >= set.share) continue;
      good = add_loads(r, node, (yoke_chain_load_kind)kind, rules, i, list);
      if (good && rules->outside) good = start_outside(r, chain, i);
    }
  }
  free(set.range);
  load_rules_clear(rules);
  free(rules);
  return good;
}

/* Stable counting sort by mass: loads of one mass keep the order of the file. */
static bool sort_loads(reader *r, const load_list *list, yoke_chain *chain) {
  const size_t mark  = yoke_arena_mark(&r->scratch);
  int         *start = yoke_arena_take(&r->scratch, (size_t)chain->n + 1, sizeof *start);
  chain->loads       = yoke_arena_take(&r->model->arena, (size_t)list->n, sizeof *chain->loads);
  if (r->scratch.has_failed || !model_has_memory(r)) return model_out_of_memory(r);
  chain->n_loads = list->n;
  for (int k = 0; k < list->n; ++k) ++start[list->loads[k].mass + 1];
  for (int i = 0; i < chain->n; ++i) start[i + 1] += start[i];
  for (int k = 0; k < list->n; ++k) chain->loads[start[list->loads[k].mass]++] = list->loads[k];
  yoke_arena_release(&r->scratch, mark);
  return true;
}

static bool read_loads(reader *r, const scope *s, const yoke_yaml_node *node, yoke_chain *chain) {
  load_list list = {0};
  bool      good = true;
  if (yoke_yaml_is_nothing(node)) return true;
  if (node->kind != YOKE_YAML_LIST)
    return model_expected(r, node, "loads", "a list of loads, each {on: ..., kind: ..., ...}");
  char where[NAME_SIZE];
  model_print(where, sizeof where, "%s", r->where);
  for (int k = 0; k < node->n; ++k) {
    model_print(r->where, sizeof r->where, "%.200s.loads[%d]", where, k + 1);
    good = read_load(r, s, node->items[k], chain, &list) && good;
  }
  memcpy(r->where, where, sizeof where);
  good = good && sort_loads(r, &list, chain);
  free(list.loads);
  return good;
}

/* ---- the chain ---- */

/* The first or last element is taken away. */
static bool read_free(reader *r, const yoke_yaml_node *node, yoke_chain *chain) {
  static const char *const words[] = {"left", "right"};
  if (yoke_yaml_is_nothing(node)) return true;
  const int n    = node->kind == YOKE_YAML_LIST ? node->n : 1;
  bool      good = true;
  for (int k = 0; k < n && good; ++k) {
    const int word = model_word(r, node->kind == YOKE_YAML_LIST ? node->items[k] : node, "free", words, 2);
    good           = word >= 0;
    if (good) chain->is_free[word] = true;
  }
  return good;
}

bool model_read_chain(reader *r, scope *s, const yoke_yaml_node *node, yoke_chain **out) {
  const yoke_yaml_node *count = yoke_yaml_find(node, "n");
  long                  n     = 0;
  *out                        = NULL;
  if (count == NULL) return model_mistake(r, node, "n", "found nothing, expected the number of masses");
  if (!model_integer(r, s, count, "n", 1, MAX_CHAIN, &n)) return false;
  if (yoke_yaml_find(node, "mass") == NULL)
    return model_mistake(r, node, "mass", "found nothing, expected a mass [kg]");
  yoke_chain *c = yoke_arena_take(&r->model->arena, 1, sizeof *c);
  if (!model_has_memory(r)) return false;
  *out          = c;
  c->n          = (int)n;
  c->exponent_x = c->exponent_v = 3;
  bool good                     = read_per_mass(r, s, node, "mass", Q_MASS, n, true, &c->mass);
  good                          = read_per_mass(r, s, node, "x", Q_LENGTH, n, false, &c->x0) && good;
  good                          = read_per_mass(r, s, node, "v", Q_VELOCITY, n, false, &c->v0) && good;
  good = read_per_mass(r, s, node, "stiffness", Q_STIFFNESS, n + 1, false, &c->stiffness) && good;
  good = read_per_mass(r, s, node, "damping", Q_DAMPING, n + 1, false, &c->damping) && good;
  good = read_per_mass(r, s, node, "stiffness_power", Q_ANY, n + 1, false, &c->stiffness_power) && good;
  good = read_per_mass(r, s, node, "damping_power", Q_ANY, n + 1, false, &c->damping_power) && good;
  const yoke_yaml_node *ex = yoke_yaml_find(node, "exponent_x"), *ev = yoke_yaml_find(node, "exponent_v");
  good = (ex == NULL || model_positive(r, s, ex, "exponent_x", Q_NUMBER, &c->exponent_x)) && good;
  good = (ev == NULL || model_positive(r, s, ev, "exponent_v", Q_NUMBER, &c->exponent_v)) && good;
  good = read_free(r, yoke_yaml_find(node, "free"), c) && good;
  return good && read_loads(r, s, yoke_yaml_find(node, "loads"), c);
}
