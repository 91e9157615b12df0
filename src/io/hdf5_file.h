/* HDF5 file driver that outlives a full disk. HDF5 1.10 cannot close a file whose last writes fail, and crashes when the
 * program ends. Through this driver a failed write is noted in `error`; from then on writes are dropped as if they had
 * been done, so that HDF5 closes the file in peace. The owner looks at `error` and reports it. Locks are
 * the matter of base/output_file.h. Only with HDF5. */
#ifndef YOKE_IO_HDF5_FILE_H
#define YOKE_IO_HDF5_FILE_H

#include <hdf5.h>

/* Access properties for H5Fcreate and H5Fopen. A file that is only read is checked where HDF5 does not do so itself. `error` (kept until the file is closed) receives errno
 * of the first open or write that failed; it must be 0 before. Close the properties with H5Pclose. < 0: failed.
 * *driver must outlive the file: H5FDunregister it after H5Fclose, never before (HDF5 reads it when the file is gone). */
hid_t yoke_hdf5_file_access(int *error, hid_t *driver);

/* Opens a file that a killed or failed run left marked as open for writing, and clears the mark. < 0: failed. */
hid_t yoke_hdf5_open_marked(const char *path, hid_t access);

#endif
