/* Is a text well-formed XML? Tags, attributes, nesting and entities of what our pictures use; no doctype. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_XML_H
#define YOKE_TESTS_XML_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { XML_DEPTH = 32, XML_NAME = 32 };

static inline bool xml_entity(const char *c) {
  static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strncmp(c, known[i], strlen(known[i])) == 0) return true;
  }
  return false;
}

/* Behind the attributes of a tag, or NULL. */
static inline const char *xml_attributes(const char *c) {
  while (*c == ' ' || *c == '\n') {
    while (*c == ' ' || *c == '\n') ++c;
    if (*c == '/' || *c == '>' || *c == '?') break;
    const char *name = c;
    while (isalnum((unsigned char)*c) || strchr("-_:", *c) != NULL) {
      if (*c == '\0') return NULL;
      ++c;
    }
    if (c == name || *c++ != '=' || *c++ != '"') return NULL;
    for (; *c != '"'; ++c) {
      if (*c == '\0' || *c == '<' || (*c == '&' && !xml_entity(c))) return NULL;
    }
    ++c;
  }
  return c;
}

/* NULL: well-formed; else where it is not. */
static inline const char *xml_mistake(const char *text) {
  char        open[XML_DEPTH][XML_NAME];
  int         depth = 0, n_roots = 0;
  const char *c = text;
  if (strncmp(c, "<?xml ", 6) == 0) {
    c = strstr(c, "?>");
    if (c == NULL) return text;
    c += 2;
  }
  while (*c != '\0') {
    if (*c == '&' && !xml_entity(c)) return c;
    if (*c == '>' || (unsigned char)*c < ' ') {
      if (*c != '\n') return c;
    }
    if (*c != '<') {
      if (depth == 0 && *c != '\n') return c;
      ++c;
      continue;
    }
    const char *at     = c++;
    const bool  is_end = *c == '/';
    size_t      n      = 0;
    char        name[XML_NAME];
    if (is_end) ++c;
    while (isalnum((unsigned char)*c) && n + 1 < sizeof name) name[n++] = *c++;
    name[n] = '\0';
    if (n == 0) return at;
    if (is_end) {
      if (depth == 0 || strcmp(open[--depth], name) != 0 || *c++ != '>') return at;
      continue;
    }
    c = xml_attributes(c);
    if (c == NULL) return at;
    n_roots += depth == 0;
    if (c[0] == '/' && c[1] == '>') {
      c += 2;
    } else if (*c == '>' && depth < XML_DEPTH) {
      strcpy(open[depth++], name);
      ++c;
    } else {
      return at;
    }
  }
  return depth == 0 && n_roots == 1 ? NULL : c;
}

static inline void xml_expect_good(const char *text) {
  const char *mistake = xml_mistake(text);
  if (mistake != NULL) fail_msg("not well-formed at byte %td: %.60s", mistake - text, mistake);
}

#endif
