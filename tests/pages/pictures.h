/* Pictures of a page: ![...](figures/PREFIX-NAME.svg) was written by one of its commands as PREFIX-NAME.svg. Include after "page.h". */
#ifndef YOKE_TESTS_PAGES_PICTURES_H
#define YOKE_TESTS_PAGES_PICTURES_H

#include "../plot/xml.h"

enum { MOST_BYTES = 80000 }; /* of a picture in the tree */

/* Every command of the page does what it shows and every picture is good; with `record` they are put into docs/figures. */
static inline void assert_pictures(const fixture *f, const char *page, const char *prefix, int n_expected,
                                   bool record) {
  char link[64];
  int  n_pictures = 0;
  assert_page_holds(f, page);
  snprintf(link, sizeof link, "](figures/%s-", prefix);
  char *text = read_text(page);
  for (const char *c = text; (c = strstr(c, link)) != NULL; ++n_pictures) {
    char name[64], path[128], stored[128], copy[300];
    c += strlen("](figures/");
    assert_int_equal(sscanf(c, "%63[^)]", name), 1);
    snprintf(stored, sizeof stored, "docs/figures/%s", name);
    char *svg = read_text(in_folder(f, name, path));
    xml_expect_good(svg);
    assert_true(strlen(svg) < MOST_BYTES);
    free(svg);
    snprintf(copy, sizeof copy, "cp '%s' '%s'", path, stored);
    if (record) assert_int_equal(system(copy), 0);
    assert_int_equal(access(stored, R_OK), 0);
  }
  free(text);
  assert_int_equal(n_pictures, n_expected);
}

#endif
