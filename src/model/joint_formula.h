/* Joint formula: the coordinate of a joint, or its rate, as an expression of what its two bodies show. Who knows the bodies one by one, as where
 * they are in different subsystems, finds it so. */
#ifndef YOKE_MODEL_JOINT_FORMULA_H
#define YOKE_MODEL_JOINT_FORMULA_H

#include "model/model.h"

/* Number that a variable of the formula shall have, > 0; 0: no memory. */
typedef int (*yoke_variable_numberer)(void *user, const yoke_variable *variable);

/* Variables are states of the bodies and of their frames. It is exact where the joint is closed. YOKE_E_MEMORY. Gives. */
yoke_status yoke_joint_formula(const yoke_model *model, int connection, int coordinate, bool is_rate,
                               yoke_variable_numberer number, void *user, yoke_expression **out);

/* Most variables that one has. */
enum { YOKE_JOINT_FORMULA_MOST = 26 };

#endif
