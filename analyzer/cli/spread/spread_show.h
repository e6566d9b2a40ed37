/* The documents of these commands (docs/api.md) as text, and their lists of numbers as rows for --csv. */
#pragma once

#include "analyzer/cli/show/show.h"

void show_distribution(const json_t *document, const ShowOptions *options, GString *out);
void show_series(const json_t *document, const ShowOptions *options, GString *out);
void show_contrast(const json_t *document, const ShowOptions *options, GString *out);
void show_samples(const json_t *document, const ShowOptions *options, GString *out);
void show_pipelines(const json_t *document, const ShowOptions *options, GString *out);
void show_names(const json_t *document, const ShowOptions *options, GString *out);
void show_span(const json_t *document, const ShowOptions *options, GString *out);
void show_find(const json_t *document, const ShowOptions *options, GString *out);
void show_marks(const json_t *document, const ShowOptions *options, GString *out);
void show_skew(const json_t *document, const ShowOptions *options, GString *out);

/* A row for each step and bin: begin_time_ns, from_UNIT, to_UNIT, calls. New references, as those below. */
json_t *distribution_rows(const json_t *document);
/* A row for each series and step: what names the series, begin_time_ns, the field, calls; of hosts also the median of
 * all. */
json_t *series_rows(const json_t *document);
/* A row for each step that has samples; without what no sample told. */
json_t *samples_rows(const json_t *document);
/* A row for each task and operation. */
json_t *pipelines_rows(const json_t *document);
