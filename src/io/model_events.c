/* Events of the model file: zero crossings of an expression, and what happens there. */
#include "io/model_reader.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* `set: {ball.v: -0.9*ball.v}` */
static bool read_set(reader *r, const scope *s, const yoke_yaml_node *node, yoke_event *event) {
  if (node == NULL || node->kind != YOKE_YAML_MAP || node->n == 0)
    return model_expected(r, node, "set", "new values of states as in {ball.v: -0.9*ball.v}");
  event->variable = yoke_arena_take(&r->model->arena, (size_t)node->n, sizeof *event->variable);
  event->value    = yoke_arena_take(&r->model->arena, (size_t)node->n, sizeof *event->value);
  if (!model_has_memory(r)) return false;
  bool good = true;
  for (int k = 0; k < node->n; ++k) {
    char name[NAME_SIZE];
    if (!model_fold_name(r, s, node->keys[k], "set", node->keys[k]->text, name, sizeof name)) return false;
    yoke_variable state = {0};
    double        unused;
    if (model_find_quantity(r, s, name, &state, &unused) != QUANTITY_OF_MOTION || state.kind != YOKE_VARIABLE_STATE) {
      good = false;
      if (!model_is_refused(r, s, name))
        model_mistake(r, node->keys[k], "set", "found '%s', expected a state of a body as in ball.v", name);
      continue;
    }
    if (model_port_owner(r->model, state.body) != NULL) {
      good = model_mistake(r, node->keys[k], "set", "found '%s', which only subsystem '%s' itself can set", name,
                           model_port_owner(r->model, state.body)->name);
      continue;
    }
    yoke_expression *value;
    if (!model_expression(r, s, node->items[k], "set", VARIABLES_EVENT, Q_ANY, &value)) {
      good = false;
      continue;
    }
    event->variable[event->n_set] = model_variable(r, &state);
    if (event->variable[event->n_set] < 0) {
      yoke_expression_destroy(&value);
      return false;
    }
    event->value[event->n_set++] = value;
  }
  return good;
}

static bool read_event(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  static const char *const keys[]       = {"when", "direction", "action", "set", "count"};
  static const char *const directions[] = {"falling", "both", "rising"};
  static const char *const actions[]    = {
         [YOKE_EVENT_RECORD] = "record", [YOKE_EVENT_STOP] = "stop", [YOKE_EVENT_SET] = "set"};
  bool        good = model_check_keys(r, node, keys, MODEL_COUNT(keys));
  yoke_model *m    = r->model;
  char        name[NAME_SIZE];
  model_full_name(s, key->text, counted, name, sizeof name);
  if (!model_grow(r, &m->events, m->n_events, &r->capacity_events, sizeof *m->events)) return false;
  yoke_event *event = &m->events[m->n_events];
  *event            = (yoke_event){.name = yoke_arena_text(&m->arena, name)};
  if (!model_has_memory(r)) return false;
  ++m->n_events;
  const yoke_yaml_node *when = yoke_yaml_find(node, "when"), *direction = yoke_yaml_find(node, "direction"),
                       *action = yoke_yaml_find(node, "action"), *set = yoke_yaml_find(node, "set");
  if (when == NULL)
    return model_mistake(r, node, "when", "found nothing, expected an expression whose zero is the event");
  good = model_expression(r, s, when, "when", VARIABLES_EVENT, Q_ANY, &event->when) && good;
  if (direction != NULL) {
    const int word   = model_word(r, direction, "direction", directions, 3);
    event->direction = word - 1;
    good             = good && word >= 0;
  }
  event->action = set != NULL ? YOKE_EVENT_SET : YOKE_EVENT_RECORD;
  if (action != NULL) {
    const int word = model_word(r, action, "action", actions, 3);
    if (word < 0) return false;
    event->action = (yoke_event_action)word;
  }
  if (set != NULL && event->action != YOKE_EVENT_SET)
    return model_mistake(r, set, "set", "found new values with the action '%s', expected 'set'",
                         actions[event->action]);
  if (event->action == YOKE_EVENT_SET) good = read_set(r, s, set == NULL ? action : set, event) && good;
  return good;
}

void model_read_events(reader *r, scope *s) {
  model_each(r, s, "events", read_event);
}
