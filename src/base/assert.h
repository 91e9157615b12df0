/* Contracts between parts of this program: what can only be wrong by our own mistake. Never for what a user gives, a file holds, or
 * memory that is missing; those get a status and a message.
 * On in every build; -DYOKE_NO_ASSERT leaves the checks out. */
#ifndef YOKE_BASE_ASSERT_H
#define YOKE_BASE_ASSERT_H

#if defined(YOKE_NO_ASSERT)
#define YOKE_ASSERT(condition) ((void)sizeof(condition))
#else
#define YOKE_ASSERT(condition) ((condition) ? (void)0 : yoke_assert_failed(__FILE__, __LINE__, #condition))
#endif

/* Prints "FILE:LINE: internal error: CONDITION does not hold" to stderr and aborts. */
_Noreturn void yoke_assert_failed(const char *file, int line, const char *condition);

#endif
