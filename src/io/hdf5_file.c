#ifdef YOKE_WITH_HDF5
#include "io/hdf5_file.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct driver_info { /* in the access properties */
  int *error;
} driver_info;

typedef struct driver_file {
  H5FD_t  pub; /* must be first */
  int     fd;
  int    *error;
  bool    is_written;
  haddr_t eoa, eof; /* end of allocated space, end of the file as HDF5 believes it */
  dev_t   device;
  ino_t   inode;
} driver_file;

static int *error_of(hid_t access) {
  const driver_info *info = H5Pget_driver_info(access);
  return info ? info->error : NULL;
}

static bool open_descriptor(driver_file *file, const char *name, unsigned flags) {
  const int mode = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_CREAT ? O_CREAT : 0) |
                   (flags & H5F_ACC_EXCL ? O_EXCL : 0) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0);
  struct stat status;
  file->fd = yoke_file_open(name, mode, 0666);
  if (file->fd < 0 || fstat(file->fd, &status) != 0) return false;
  file->is_written = flags & H5F_ACC_RDWR;
  file->eof        = (haddr_t)status.st_size;
  file->device     = status.st_dev;
  file->inode      = status.st_ino;
  return true;
}

static H5FD_t *file_open(const char *name, unsigned flags, hid_t access, haddr_t maxaddr) {
  (void)maxaddr;
  int         *error = error_of(access);
  driver_file *file  = error ? calloc(1, sizeof *file) : NULL;
  if (!file && error) *error = ENOMEM;
  if (!file) return NULL;
  file->error = error;
  if (open_descriptor(file, name, flags)) return &file->pub;
  /* H5Fcreate first tries whether the file is there: only a failure to create it is one. */
  if (flags & H5F_ACC_CREAT || errno != ENOENT) *error = errno ? errno : EIO;
  if (file->fd >= 0) close(file->fd);
  free(file);
  return NULL;
}

static herr_t file_close(H5FD_t *pub) {
  driver_file *file = (driver_file *)pub;
  if (close(file->fd) != 0 && *file->error == 0) *file->error = errno;
  free(file);
  return 0;
}

static int file_compare(const H5FD_t *a, const H5FD_t *b) {
  const driver_file *fa = (const driver_file *)a, *fb = (const driver_file *)b;
  if (fa->device != fb->device) return fa->device < fb->device ? -1 : 1;
  return fa->inode == fb->inode ? 0 : fa->inode < fb->inode ? -1 : 1;
}

static herr_t file_query(const H5FD_t *pub, unsigned long *flags) {
  if (!flags) return 0;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  /* A reader asks for each piece by itself, so that it can be checked. */
  if (!pub || ((const driver_file *)pub)->is_written) *flags |= H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

static haddr_t file_get_eoa(const H5FD_t *pub, H5FD_mem_t type) {
  (void)type;
  return ((const driver_file *)pub)->eoa;
}

static herr_t file_set_eoa(H5FD_t *pub, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((driver_file *)pub)->eoa = address;
  return 0;
}

static haddr_t file_get_eof(const H5FD_t *pub, H5FD_mem_t type) {
  (void)type;
  return ((const driver_file *)pub)->eof;
}

/* Little-endian number of n bytes. */
static uint64_t number_at(const unsigned char *bytes, int n) {
  uint64_t value = 0;
  for (int i = n; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

static const unsigned char heap_head[8] = {'G', 'C', 'O', 'L', 1, 0, 0, 0};

/* A collection of texts of any length ("GCOL", version, 3 bytes, its size in 8 bytes; then objects: number in 2 bytes, 6 others, size in
 * 8 bytes, data up to a multiple of 8; number 0 is the free room at the end). It has no checksum, and HDF5 1.10 follows the
 * sizes in it for ever or out of its memory. */
static bool is_sound_heap(const driver_file *file, haddr_t address) {
  enum { HEAD = 16 };
  unsigned char head[HEAD];
  if (pread(file->fd, head, HEAD, (off_t)address) != HEAD) return false;
  const uint64_t size = number_at(head + 8, 8);
  if (size < HEAD || size > file->eof) return false;
  for (uint64_t at = HEAD; size - at >= HEAD;) {
    if (pread(file->fd, head, HEAD, (off_t)(address + at)) != HEAD) return false;
    const uint64_t own = number_at(head + 8, 8);
    if (number_at(head, 2) == 0) return own == size - at;
    if (own > size - at - HEAD || HEAD + (own + 7) / 8 * 8 > size - at) return false;
    at += HEAD + (own + 7) / 8 * 8;
  }
  return true;
}

/* What lies behind the end of the file reads as zeros. */
static herr_t file_read(H5FD_t *pub, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *buffer) {
  (void)type, (void)transfer;
  const driver_file *file     = (const driver_file *)pub;
  char              *to       = buffer;
  const bool         has_head = size >= sizeof heap_head;
  const haddr_t      begin    = address;
  while (size > 0) {
    const ssize_t n = pread(file->fd, to, size, (off_t)address);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) {
      memset(to, 0, size);
      break;
    }
    to += n, address += (haddr_t)n, size -= (size_t)n;
  }
  /* HDF5 calls it raw data. No other piece begins like this: as a double it would be 2e-314. */
  const bool is_heap = has_head && memcmp(buffer, heap_head, sizeof heap_head) == 0;
  if (is_heap && !file->is_written && !is_sound_heap(file, begin)) return -1;
  return 0;
}

static herr_t file_write(H5FD_t *pub, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         const void *buffer) {
  (void)type, (void)transfer;
  driver_file  *file = (driver_file *)pub;
  const char   *from = buffer;
  const haddr_t end  = address + size;
  while (size > 0 && *file->error == 0) {
    const ssize_t n = pwrite(file->fd, from, size, (off_t)address);
    if (n > 0) {
      from += n, address += (haddr_t)n, size -= (size_t)n;
    } else if (n == 0 || errno != EINTR) {
      *file->error = n == 0 ? ENOSPC : errno;
    }
  }
  if (end > file->eof) file->eof = end;
  return 0;
}

static herr_t file_truncate(H5FD_t *pub, hid_t transfer, hbool_t closing) {
  (void)transfer, (void)closing;
  driver_file *file = (driver_file *)pub;
  if (file->eoa != file->eof && *file->error == 0 && ftruncate(file->fd, (off_t)file->eoa) != 0) *file->error = errno;
  file->eof = file->eoa;
  return 0;
}

/* The owner of the file holds the lock. Without these two HDF5 would not mark the file as open for writing. */
static herr_t file_lock(H5FD_t *pub, hbool_t to_write) {
  (void)pub, (void)to_write;
  return 0;
}

static herr_t file_unlock(H5FD_t *pub) {
  (void)pub;
  return 0;
}

static const H5FD_class_t file_driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value   = (H5FD_class_value_t)700, /* numbers from 512 on are free for tests and own drivers */
#endif
    .name      = "yoke",
    .maxaddr   = ((haddr_t)1 << (8 * sizeof(off_t) - 1)) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(driver_info),
    .open      = file_open,
    .close     = file_close,
    .cmp       = file_compare,
    .query     = file_query,
    .get_eoa   = file_get_eoa,
    .set_eoa   = file_set_eoa,
    .get_eof   = file_get_eof,
    .read      = file_read,
    .write     = file_write,
    .truncate  = file_truncate,
    .lock      = file_lock,
    .unlock    = file_unlock,
    .fl_map    = H5FD_FLMAP_DICHOTOMY,
};

hid_t yoke_hdf5_file_access(int *error, hid_t *driver) {
  const driver_info info   = {error};
  hid_t             access = H5Pcreate(H5P_FILE_ACCESS);
  *driver                  = H5FDregister(&file_driver);
  if (access >= 0 && *driver >= 0 && H5Pset_driver(access, *driver, &info) >= 0) return access;
  if (access >= 0) H5Pclose(access);
  if (*driver >= 0) H5FDunregister(*driver);
  *driver = -1;
  return -1;
}

hid_t yoke_hdf5_open_marked(const char *path, hid_t access) {
  const hbool_t clear = true; /* the property with which HDF5's own h5clear opens such a file */
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  return H5Pset(access, "clear_status_flags", &clear) >= 0 ? H5Fopen(path, H5F_ACC_RDWR, access) : -1;
}
#else
typedef int yoke_hdf5_file_is_empty; /* a C file holds at least one declaration */
#endif
