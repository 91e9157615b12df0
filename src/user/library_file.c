/* Is a file worth being handed to the loader? The loader waits for ever for the writer of a pipe, and maps what the headers of a library promise, so that a
 * library whose end is missing ends the program where it is first touched. */
#include "user/library_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
enum { OWN_CLASS = ELFCLASS64 };
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
enum { OWN_CLASS = ELFCLASS32 };
#endif

/* n bytes at `at`; false: they are not there. */
static bool read_at(int file, uint64_t at, size_t n, void *out) {
  return pread(file, out, n, (off_t)at) == (ssize_t)n;
}

/* What follows of the header: segments, all in the file. Libraries of other kinds are the loader's to refuse, by name. */
static const char *check_segments(int file, uint64_t size) {
  static const char cut_off[] = "it is cut off: its header promises more than the file holds";
  elf_header        head;
  if (!read_at(file, 0, sizeof head, &head)) return "it is too short for a shared library";
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != OWN_CLASS) return NULL;
  for (unsigned k = 0; k < head.e_phnum; ++k) {
    elf_segment    segment;
    const uint64_t at = (uint64_t)head.e_phoff + (uint64_t)k * head.e_phentsize;
    if (head.e_phentsize != sizeof segment || at > size || !read_at(file, at, sizeof segment, &segment)) return cut_off;
    if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
      return cut_off;
  }
  return NULL;
}

const char *user_library_file_check(const char *path) {
  struct stat info;
  const int   file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return strerror(errno);
  const char *why = fstat(file, &info) != 0  ? strerror(errno)
                    : S_ISDIR(info.st_mode)  ? "it is a folder"
                    : !S_ISREG(info.st_mode) ? "it is no file but a pipe or a device"
                                             : check_segments(file, (uint64_t)info.st_size);
  (void)close(file);
  return why;
}
