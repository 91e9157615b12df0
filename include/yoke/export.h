/* Export: marks what the libraries show to programs; every other name of theirs is hidden. */
#ifndef YOKE_EXPORT_H
#define YOKE_EXPORT_H

#if defined(__GNUC__)
#define YOKE_API __attribute__((visibility("default")))
#else
#define YOKE_API
#endif

#endif
