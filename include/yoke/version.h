/* Version: the only place that says it; the build reads it from here. */
#ifndef YOKE_VERSION_H
#define YOKE_VERSION_H

#define YOKE_VERSION "0.1.0"

#endif
