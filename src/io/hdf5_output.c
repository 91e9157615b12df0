#include "io/hdf5_output.h"
#include "base/file.h"
#ifdef YOKE_WITH_HDF5
#include "base/output_file.h"
#include "io/hdf5_file.h"
#include "io/hdf5_quiet.h"
#include <string.h>
#endif

yoke_status yoke_hdf5_output_check(yoke_context *ctx, const char *name) {
  if (!yoke_file_is_special(name)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': an HDF5 file needs an ordinary file", name);
}

#ifdef YOKE_WITH_HDF5

/* false: `error` or `reason` tells why. */
static bool write_file(const char *path, bool (*put)(hid_t file, const void *user), const void *user, int *error,
                       char *reason, size_t size) {
  hid_t driver = -1, file = -1;
  hid_t access = yoke_hdf5_file_access(error, &driver);
  if (access >= 0) {
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
  }
  bool done = file >= 0 && put(file, user);
  if (!done) yoke_hdf5_reason(reason, size);
  if (file >= 0 && H5Fclose(file) < 0) done = false;
  if (driver >= 0) H5FDunregister(driver);
  return done && *error == 0;
}

yoke_status yoke_hdf5_output_write(yoke_context *ctx, const char *name, bool (*put)(hid_t file, const void *user),
                                   const void *user) {
  yoke_output_file out;
  yoke_hdf5_quiet  quiet;
  int              error       = 0;
  char             reason[200] = "";
  YOKE_TRY(yoke_hdf5_output_check(ctx, name));
  YOKE_TRY(yoke_output_file_open(ctx, name, &out));
  yoke_hdf5_quiet_begin(&quiet);
  const bool done = write_file(out.path, put, user, &error, reason, sizeof reason);
  yoke_hdf5_quiet_end(&quiet);
  if (done) return yoke_output_file_keep(ctx, &out);
  yoke_output_file_drop(&out);
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", name, error != 0 ? strerror(error) : reason);
}

#endif
