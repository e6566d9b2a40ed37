/* What the commands of this folder report. */
#pragma once

#include "analyzer/cli/show/show.h"

void show_parquet(const json_t *document, const ShowOptions *options, GString *out);
void show_forward(const json_t *document, const ShowOptions *options, GString *out);
