#include "analyzer/cli/source/source.h"

#include "analyzer/cli/source/source_kinds.h"

struct Source {
    const SourceKind *kind;
    void *self;
};

Ask *ask_new(const char *question) {
    Ask *ask = g_new0(Ask, 1);
    ask->question = g_strdup(question);
    ask->names = g_ptr_array_new_with_free_func(g_free);
    ask->values = g_ptr_array_new_with_free_func(g_free);
    return ask;
}

void ask_free(Ask *ask) {
    if (ask == NULL) return;
    g_free(ask->question);
    g_ptr_array_unref(ask->names);
    g_ptr_array_unref(ask->values);
    g_free(ask);
}

void ask_add(Ask *ask, const char *name, const char *value) {
    g_ptr_array_add(ask->names, g_strdup(name));
    g_ptr_array_add(ask->values, g_strdup(value));
}

Source *source_open(const SourceOptions *options, GError **error) {
    gboolean store = options->store != NULL;
    void *self = store ? source_store_open(options->store, error) : source_http_open(options, error);
    if (self == NULL) return NULL;
    Source *source = g_new0(Source, 1);
    source->kind = store ? &source_store_kind : &source_http_kind;
    source->self = self;
    return source;
}

void source_close(Source *source) {
    if (source == NULL) return;
    source->kind->close(source->self);
    g_free(source);
}

json_t *source_ask(Source *source, const Ask *ask, GError **error) {
    return source->kind->ask(source->self, ask, error);
}

gboolean source_export(Source *source, const Ask *ask, const SourceSink *sink, GError **error) {
    return source->kind->export(source->self, ask, sink, error);
}

json_t *source_mark(Source *source, const json_t *mark, GError **error) {
    return source->kind->mark(source->self, mark, error);
}

gboolean source_flush(Source *source, guint64 *closed_traces, GError **error) {
    return source->kind->flush(source->self, closed_traces, error);
}
