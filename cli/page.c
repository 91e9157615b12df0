#include "page.h"
#include <yoke/yoke.h>
#include <ctype.h>
#include <string.h>

/* `length` letters of `text`, none of which man(7) takes for its own. */
static void put_roff(FILE *file, const char *text, size_t length) {
  if (length > 0 && strchr(".'", text[0])) fputs("\\&", file);
  for (size_t i = 0; i < length; ++i) {
    switch (text[i]) {
    case '\\': fputs("\\e", file); break;
    case '-': fputs("\\-", file); break;
    case '^': fputs("\\(ha", file); break;
    case '~': fputs("\\(ti", file); break;
    case '`': fputs("\\(ga", file); break;
    default: fputc(text[i], file);
    }
  }
}

static void put_capitals(FILE *file, const char *text) {
  for (const char *c = text; *c; ++c) fputc(toupper((unsigned char)*c), file);
}

static void begin_manual(page *p, const char *command, const char *usage, const char *summary) {
  const char *const dash = command ? "\\-" : "", *const blank = command ? " " : "";
  command = command ? command : "";
  fprintf(p->file, ".TH YOKE%s", dash);
  put_capitals(p->file, command);
  fprintf(p->file, " 1 \"\" \"yoke %s\" Yoke\n.nh\n.ad l\n.SH NAME\nyoke%s%s \\- ", yoke_version(), dash, command);
  put_roff(p->file, summary, strlen(summary));
  fprintf(p->file, "\n.SH SYNOPSIS\n\\fByoke%s%s\\fR ", blank, command);
  put_roff(p->file, usage, strlen(usage));
  fputc('\n', p->file);
}

void page_begin(page *p, const char *command, const char *usage, const char *summary, const char *details) {
  if (p->is_manual) {
    begin_manual(p, command, usage, summary);
    if (details[0]) page_heading(p, "description");
  } else {
    fprintf(p->file, "usage: yoke %s%s%s\n\n%s\n", command ? command : "", command ? " " : "", usage, summary);
    if (details[0]) fputc('\n', p->file);
  }
  if (details[0]) page_text(p, details);
}

void page_heading(page *p, const char *title) {
  if (!p->is_manual) {
    fprintf(p->file, "\n%s\n", title);
    return;
  }
  fputs(".SH \"", p->file);
  put_capitals(p->file, title);
  fputs("\"\n", p->file);
}

void page_text(page *p, const char *text) {
  bool is_fixed = false;
  if (!p->is_manual) {
    fprintf(p->file, "%s\n", text);
    return;
  }
  fputs(".PP\n", p->file);
  while (*text) {
    const size_t length = strcspn(text, "\n");
    if ((text[0] == ' ') != is_fixed) {
      is_fixed = !is_fixed;
      fputs(is_fixed ? ".nf\n" : ".fi\n", p->file);
    }
    if (length > 0) {
      put_roff(p->file, text, length);
      fputc('\n', p->file);
    } else {
      fputs(".PP\n", p->file);
    }
    text += length + (text[length] == '\n');
  }
  if (is_fixed) fputs(".fi\n", p->file);
}

static void put_tag(page *p, const char *word) {
  word += strspn(word, " ");
  fputs(".TP\n\\fB", p->file);
  put_roff(p->file, word, strlen(word));
  fputs("\\fR\n", p->file);
}

/* Lines below a tag, none of which is filled up with the next. */
static void put_lines(page *p, const char *lines) {
  for (bool is_first = true; *lines; is_first = false) {
    const size_t length = strcspn(lines, "\n");
    if (!is_first) fputs(".br\n", p->file);
    put_roff(p->file, lines, length);
    fputc('\n', p->file);
    lines += length + (lines[length] == '\n');
  }
}

void page_item(page *p, int width, const char *word, const char *meaning) {
  if (p->is_manual) {
    put_tag(p, word);
    put_lines(p, meaning);
    return;
  }
  do {
    const size_t length = strcspn(meaning, "\n");
    fprintf(p->file, "  %-*s %.*s\n", width, word, (int)length, meaning);
    meaning += length + (meaning[length] == '\n');
    word = "";
  } while (*meaning);
}

void page_entry(page *p, const char *name, const char *lines) {
  if (p->is_manual) {
    put_tag(p, name);
    put_lines(p, lines);
    return;
  }
  fprintf(p->file, "%s\n", name);
  while (*lines) {
    const size_t length = strcspn(lines, "\n");
    fprintf(p->file, "    %.*s\n", (int)length, lines);
    lines += length + (lines[length] == '\n');
  }
}
