/* The file of a plugin, before it is loaded. */
#ifndef YOKE_USER_LIBRARY_FILE_H
#define YOKE_USER_LIBRARY_FILE_H

#include <stdbool.h>

/* Why the loader must not be given this file; NULL: it may, and tells what else is wrong. */
const char *user_library_file_check(const char *path);

#endif
