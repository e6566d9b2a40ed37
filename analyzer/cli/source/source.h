/* Where answers come from: a running plumbd (HTTP) or a store folder, read-only, through the same queries. Both give
 * the same documents (docs/api.md). One thread at a time. */
#pragma once

#include <jansson.h>

#include "common/base/bytes.h"
#include "common/wire/secure.h"

#define SOURCE_DEFAULT_SERVER "127.0.0.1:9096"
#define SOURCE_DEFAULT_PORT   "9096"
/* An answer that is larger is refused instead of filling the memory: a trace of a million spans is about 600 MB. As a
 * document it takes some four times its text, so a quarter of the machine's memory is the limit where that is less. */
#define SOURCE_MAX_ANSWER_BYTES (G_GUINT64_CONSTANT(4) << 30)
/* What a server says of an error is for a person. */
#define SOURCE_MAX_REFUSAL_BYTES (1u << 20)

/* A question and its parameters. */
typedef struct Ask {
    char *question;
    GPtrArray *names, *values; /* parallel, owned */
} Ask;
Ask *ask_new(const char *question);
void ask_free(Ask *ask);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ask, ask_free)
void ask_add(Ask *ask, const char *name, const char *value);

typedef struct SourceOptions {
    const char *server; /* "host", "host:port", "[v6]:port", with or without "http://" or "https://" in front */
    WireSecurity security;
    const char *store; /* folder; when set, server is not looked at */
} SourceOptions;

typedef struct Source Source;

/* Error CONFIG for an address that is none; errors of the store as in store.h. Does not connect yet. */
Source *source_open(const SourceOptions *options, GError **error);
void source_close(Source *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Source, source_close)

/* A new reference. Errors: INPUT (unknown or malformed parameter), NOT_FOUND, BUSY (not ready), CORRUPT, IO, PEER (no
 * plumbd there, or it went away; the message says what to start and check). */
json_t *source_ask(Source *source, const Ask *ask, GError **error);

/* All spans of a period as JSON lines, in pieces; write returns FALSE to stop, which is error IO "stopped" unless the
 * writer has set its own error. */
typedef struct SourceSink {
    gboolean (*write)(void *arg, Bytes piece, GError **error);
    void *arg;
} SourceSink;
gboolean source_export(Source *source, const Ask *ask, const SourceSink *sink, GError **error);

/* Has the server close and store all open traces. Error CONFIG for a store. */
gboolean source_flush(Source *source, guint64 *closed_traces, GError **error);

/* Sends a mark, as of POST /api/v1/marks, and gives back the answer, a new reference. Errors as of source_ask();
 * CONFIG for a store. */
json_t *source_mark(Source *source, const json_t *mark, GError **error);
