/* The two kinds of source; only source.c looks in here. */
#pragma once

#include "analyzer/cli/source/source.h"

typedef struct SourceKind {
    json_t *(*ask)(void *self, const Ask *ask, GError **error);
    gboolean (*export)(void *self, const Ask *ask, const SourceSink *sink, GError **error);
    gboolean (*flush)(void *self, guint64 *closed_traces, GError **error);
    json_t *(*mark)(void *self, const json_t *mark, GError **error);
    void (*close)(void *self);
} SourceKind;

extern const SourceKind source_http_kind, source_store_kind;

void *source_http_open(const SourceOptions *options, GError **error);
void *source_store_open(const char *folder, GError **error);

/* "http://host:port" of what was given as server; a new string, NULL with CONFIG. secure: "https://", whatever was. */
char *source_http_base(const char *server, gboolean secure, GError **error);
