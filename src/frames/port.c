#include "frames/port.h"

int yoke_port_n_extras(int extras, int n_rows) {
  const int reaction = (extras & YOKE_EXTRA_REACTION) != 0, compliance = (extras & YOKE_EXTRA_COMPLIANCE) != 0,
            local = (extras & YOKE_EXTRA_LOCAL_COMPLIANCE) != 0;
  return (reaction + (compliance + local) * n_rows) * n_rows + ((extras & YOKE_EXTRA_IMAGE) != 0 ? 6 : 0);
}
