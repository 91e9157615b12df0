/* The list of formulations, and what their channels are. */
#include "coupling/formulation.h"

#include <string.h>

#define X(symbol) extern const yoke_formulation_ops symbol;
#include "coupling/formulation_list.def"
#undef X

static const yoke_formulation_ops *const formulations[] = {
#define X(symbol) &symbol,
#include "coupling/formulation_list.def"
#undef X
};

enum { N_FORMULATIONS = (int)(sizeof formulations / sizeof formulations[0]) };

int yoke_formulation_n(void) {
  return N_FORMULATIONS;
}

const yoke_formulation_ops *yoke_formulation_at(int i) {
  return i >= 0 && i < N_FORMULATIONS ? formulations[i] : NULL;
}

const yoke_formulation_ops *yoke_formulation_find(const char *name) {
  for (int i = 0; name != NULL && i < N_FORMULATIONS; ++i) {
    if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
  }
  return NULL;
}

bool yoke_formulation_reads(const yoke_formulation_ops *ops, const char *key) {
  if (ops == NULL || ops->keys == NULL) return true;
  const size_t n = strlen(key);
  for (const char *at = ops->keys; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    if (length == n && strncmp(at, key, n) == 0) return true;
    at += length + strspn(at + length, " ");
  }
  return false;
}

/* A number along row `own` of a joint: force or moment, length or angle. */
static bool row_turns(const yoke_joint_element *joint, int own) {
  for (int i = 0; joint != NULL && i < joint->n; ++i) {
    if (joint->own[i] == own) return !yoke_row_is_length(&joint->row[i]);
  }
  return false;
}

yoke_residual_unit yoke_channel_unit(const yoke_channel *channel, const yoke_body_kind kind[2],
                                     const yoke_joint_element *joint) {
  const int k = channel->component;
  for (int side = 0; side < 2; ++side) {
    const yoke_body_kind own = kind[side], other = kind[1 - side];
    switch (channel->enters[side]) {
    case YOKE_ENTRY_NONE: break;
    case YOKE_ENTRY_FORCE:
      return (yoke_residual_unit){yoke_port_freedom(own, k) < 3 ? YOKE_RESIDUAL_FORCE : YOKE_RESIDUAL_MOMENT, false};
    case YOKE_ENTRY_LAMBDA:
      return (yoke_residual_unit){row_turns(joint, k) ? YOKE_RESIDUAL_MOMENT : YOKE_RESIDUAL_FORCE, false};
    case YOKE_ENTRY_MU: return (yoke_residual_unit){YOKE_RESIDUAL_VELOCITY, row_turns(joint, k)};
    case YOKE_ENTRY_COPY_P: return (yoke_residual_unit){YOKE_RESIDUAL_POSITION, yoke_port_p_turns(other, k)};
    case YOKE_ENTRY_COPY_V: return (yoke_residual_unit){YOKE_RESIDUAL_VELOCITY, yoke_port_freedom(other, k) >= 3};
    case YOKE_ENTRY_IMAGE_P: return (yoke_residual_unit){YOKE_RESIDUAL_POSITION, yoke_port_p_turns(own, k)};
    case YOKE_ENTRY_IMAGE_V: return (yoke_residual_unit){YOKE_RESIDUAL_VELOCITY, yoke_port_freedom(own, k) >= 3};
    case YOKE_ENTRY_ROW_ACCELERATION:
    case YOKE_ENTRY_ROW_ACCELERATION_BARE:
    case YOKE_ENTRY_PRESCRIBED: return (yoke_residual_unit){YOKE_RESIDUAL_ACCELERATION, row_turns(joint, k)};
    }
  }
  return (yoke_residual_unit){YOKE_RESIDUAL_NONE, false};
}
