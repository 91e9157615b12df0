#include <yoke/status.h>

const char *yoke_status_name(yoke_status status) {
  switch (status) {
#define YOKE_STATUS_CASE(name, value, exit_code, text)                                                                 \
  case name: return #name;
    YOKE_STATUS_LIST(YOKE_STATUS_CASE)
#undef YOKE_STATUS_CASE
  }
  return "unknown status";
}

const char *yoke_status_text(yoke_status status) {
  switch (status) {
#define YOKE_STATUS_CASE(name, value, exit_code, text)                                                                 \
  case name: return text;
    YOKE_STATUS_LIST(YOKE_STATUS_CASE)
#undef YOKE_STATUS_CASE
  }
  return "unknown status";
}

int yoke_status_exit_code(yoke_status status) {
  switch (status) {
#define YOKE_STATUS_CASE(name, value, exit_code, text)                                                                 \
  case name: return exit_code;
    YOKE_STATUS_LIST(YOKE_STATUS_CASE)
#undef YOKE_STATUS_CASE
  }
  return 70;
}
