/* The recorded spans that loads are made of: bench/model. */
#pragma once

#include "common/model/batch.h"

/* HTrace's JSON lines; a file without spans is an error, too. INPUT. */
gboolean model_read(const char *path, SpanBatch *model, GError **error);
