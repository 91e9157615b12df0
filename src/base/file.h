/* Files: which file a name stands for, and descriptors that are never one of the three standard ones. */
#ifndef YOKE_BASE_FILE_H
#define YOKE_BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* The path behind all symbolic links, also when the last one names a file that does not exist yet. Gives; NULL: see errno. */
char *yoke_file_resolve(const char *name);

/* Is the name a device, a FIFO, or a descriptor of this process (/dev/stdout, /dev/fd/3)? Such a thing cannot be replaced. */
bool yoke_file_is_special(const char *name);

/* Do both names stand for one file: by device and inode, as long as it does not exist by its path? Special files are nobody's
 * own: two outputs may go to /dev/null. */
bool yoke_file_is_same(const char *a, const char *b);

/* open(2) that closes on exec and never gives 0, 1 or 2: a program that was started without its standard descriptors must not
 * write its messages into a result. */
int yoke_file_open(const char *path, int flags, mode_t mode);

#endif
