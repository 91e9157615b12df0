/* Numbers of an HDF5 file, read without the code that wrote them. Include after cmocka.h. */
#ifndef YOKE_TESTS_IO_HDF5_READ_H
#define YOKE_TESTS_IO_HDF5_READ_H

#include <hdf5.h>

/* Numbers of one dataset, at most n; gives how many it holds. */
static inline int read_dataset(const char *path, const char *name, int n, double *values) {
  hid_t     file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, name, H5P_DEFAULT);
  hid_t     space = H5Dget_space(dataset);
  const int count = (int)H5Sget_simple_extent_npoints(space);
  assert_true(count <= n);
  assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return count;
}

#endif
