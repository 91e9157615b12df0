/* Starter: the model that `yoke new` writes. Public as yoke_model_starter (include/yoke/model.h). */
#ifndef YOKE_IO_STARTER_H
#define YOKE_IO_STARTER_H

#include <yoke/model.h>

#endif
