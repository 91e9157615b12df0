/* HDF5 output: a file of HDF5 that is written at once. */
#ifndef YOKE_IO_HDF5_OUTPUT_H
#define YOKE_IO_HDF5_OUTPUT_H

#include <yoke/context.h>
#ifdef YOKE_WITH_HDF5
#include <hdf5.h>

/* `put` writes the contents and gives false when HDF5 refuses something. Written beside `name`, see base/output_file.h. */
yoke_status yoke_hdf5_output_write(yoke_context *ctx, const char *name, bool (*put)(hid_t file, const void *user),
                                   const void *user);
#endif

/* Why an HDF5 file cannot be written under this name at all: a device, a FIFO. */
yoke_status yoke_hdf5_output_check(yoke_context *ctx, const char *name);

#endif
