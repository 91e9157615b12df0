/* Model file: reads docs/model-file.md's YAML into a yoke_model (model/model.h). The functions are public: include/yoke/model.h. */
#ifndef YOKE_IO_MODEL_FILE_H
#define YOKE_IO_MODEL_FILE_H

#include "model/model.h"
#include <yoke/model.h>

#endif
