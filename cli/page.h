/* Page: help as plain text for a terminal or as a manual page; whoever writes it does not know which. */
#ifndef YOKE_CLI_PAGE_H
#define YOKE_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct page {
  FILE *file;
  bool  is_manual; /* in the language of man(7) */
} page;

/* The beginning: what is explained (NULL: the program as a whole), what follows its name, one line, paragraphs ("": none). */
void page_begin(page *p, const char *command, const char *usage, const char *summary, const char *details);

/* A new section. */
void page_heading(page *p, const char *title);

/* Lines of running text, which a manual page fills anew; those that begin with a blank stay as they are. */
void page_text(page *p, const char *text);

/* A word and what it means, in one line or in several; words of one list are `width` wide. */
void page_item(page *p, int width, const char *word, const char *meaning);

/* A name with lines of its own below, which end with newlines. */
void page_entry(page *p, const char *name, const char *lines);

#endif
