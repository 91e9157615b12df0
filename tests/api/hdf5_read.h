/* Numbers of an HDF5 file, read without the code that wrote them. Include after cmocka.h. */
#ifndef YOKE_TESTS_IO_HDF5_READ_H
#define YOKE_TESTS_IO_HDF5_READ_H

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Text i of an attribute that holds several of fixed width; "" when there are not so many. */
static inline const char *read_name(const char *path, const char *object, const char *attribute, int i, char text[64]) {
  hid_t         file  = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t         names = H5Aopen_by_name(file, object, attribute, H5P_DEFAULT, H5P_DEFAULT);
  hid_t         type = H5Aget_type(names), space = H5Aget_space(names);
  const hsize_t width = H5Tget_size(type), n = (hsize_t)H5Sget_simple_extent_npoints(space);
  char         *block = calloc(n + 1, width);
  assert_non_null(block);
  assert_true(H5Aread(names, type, block) >= 0);
  snprintf(text, 64, "%s", (hsize_t)i < n ? block + (hsize_t)i * width : "");
  free(block);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(names);
  H5Fclose(file);
  return text;
}

#endif
