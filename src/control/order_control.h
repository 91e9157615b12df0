/* Order control: the degree k of the next step from the scaled derivative norms (Kraft 3.3)
 *   SDN(j) = |H^j P_j^(j)| = |H^j j! u[T_M, ..., T_{M-j}]|,   j = 1 ... k + 2.
 * A polynomial one degree higher pays when the norms fall with j. Runs after every trial step, also rejected ones. */
#ifndef YOKE_CONTROL_ORDER_CONTROL_H
#define YOKE_CONTROL_ORDER_CONTROL_H

typedef enum yoke_order_rule {
  YOKE_ORDER_RULE_IDA,         /* listing 3.2 */
  YOKE_ORDER_RULE_CONSERVATIVE /* listing 3.1: all norms up to k + 1 must fall */
} yoke_order_rule;

enum { YOKE_ORDER_MAX = 5, YOKE_ORDER_N_SDN = YOKE_ORDER_MAX + 3 };

typedef struct yoke_order_facts {
  int    k;                     /* degree of the step just tried */
  int    k_max;                 /* the highest allowed; the history must have k + 3 points for a rise (n_sdn) */
  int    n_failed;              /* consecutive rejected trials, this one included */
  int    n_good;                /* consecutive accepted steps with this k whose error asked for no shorter one */
  int    n_sdn;                 /* SDN(1) ... SDN(n_sdn) are known */
  double sdn[YOKE_ORDER_N_SDN]; /* sdn[j] = SDN(j); sdn[0] is not used */
} yoke_order_facts;

int yoke_order_next(yoke_order_rule rule, const yoke_order_facts *facts);

#endif
