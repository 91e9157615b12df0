#ifdef YOKE_WITH_HDF5
#include "io/hdf5_quiet.h"
#include <stdio.h>
#include <string.h>

void yoke_hdf5_quiet_begin(yoke_hdf5_quiet *quiet) {
  quiet->function = NULL;
  quiet->data     = NULL;
  H5Eget_auto2(H5E_DEFAULT, &quiet->function, &quiet->data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void yoke_hdf5_quiet_end(const yoke_hdf5_quiet *quiet) {
  H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
}

typedef struct reason_text {
  char  *text;
  size_t size;
  bool   is_out_of_memory;
} reason_text;

/* Entries come innermost first. The one of the operating system carries "error message = '...'". */
static herr_t note_reason(unsigned n, const H5E_error2_t *entry, void *user) {
  static const char key[]  = "error message = '";
  reason_text      *reason = user;
  const char       *text   = entry->desc ? entry->desc : "";
  const char       *found  = strstr(text, key);
  if (entry->min_num == H5E_NOSPACE || (entry->maj_num == H5E_RESOURCE && entry->min_num == H5E_CANTALLOC))
    reason->is_out_of_memory = true;
  if (found) {
    snprintf(reason->text, reason->size, "%s", found + sizeof key - 1);
    char *end = strchr(reason->text, '\'');
    if (end) *end = '\0';
    return 1;
  }
  if (n == 0) snprintf(reason->text, reason->size, "%s", text);
  return 0;
}

bool yoke_hdf5_reason(char *reason, size_t size) {
  reason_text text = {.text = reason, .size = size};
  snprintf(reason, size, "HDF5 gave no reason");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_reason, &text);
  return text.is_out_of_memory;
}
#else
typedef int yoke_hdf5_quiet_is_empty; /* a C file holds at least one declaration */
#endif
