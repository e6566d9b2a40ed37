/* The rows of "senders": one per process. A process is told by what stands behind the first '/' of its tracer id, host
 * and process number, so that several tracers of one process, and what it says of itself
 * ("DataNode/10.0.0.7/4242@1605"), are one row. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"

/* 'rows' is an object, process -> row. All return a borrowed row, made when missing. */
json_t *sender_rows_named(json_t *rows, const char *name); /* "": others */
json_t *sender_rows_get(json_t *rows, Archive *archive, guint32 tracer);

void sender_row_add(json_t *row, const char *field, gint64 n);
void sender_row_max(json_t *row, const char *field, gint64 value);
/* Adds to {reason: count} in a field. */
void sender_row_count(json_t *row, const char *field, const char *reason, gint64 n);

/* Puts the rows into the document as "senders": most received first, then by name. */
void sender_rows_finish(json_t *rows, json_t *document);
