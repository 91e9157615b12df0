/* HDF5 without its own error printing, and the reason of a failure as one line. Only for files compiled with HDF5. */
#ifndef YOKE_IO_HDF5_QUIET_H
#define YOKE_IO_HDF5_QUIET_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

/* HDF5 prints its error stack by default: switched off between begin and end, then as the application had it. */
typedef struct yoke_hdf5_quiet {
  H5E_auto2_t function;
  void       *data;
} yoke_hdf5_quiet;

/* HDF5 crashes where it is refused memory: so much is asked for before it opens a file or takes rows. */
enum { YOKE_HDF5_ROOM = 8 << 20 };

void yoke_hdf5_quiet_begin(yoke_hdf5_quiet *quiet);
void yoke_hdf5_quiet_end(const yoke_hdf5_quiet *quiet);

/* Why the last HDF5 call failed ("No space left on device"); to be asked before the next HDF5 call. true: for lack of memory. */
bool yoke_hdf5_reason(char *reason, size_t size);

#endif
