/* What the files of this folder share. */
#pragma once

#include "analyzer/query/jaeger/jaeger.h"
#include "analyzer/query/shared/trace_view.h"

/* Spans of one answer: some 1.5 KB of text each. */
#define JAEGER_SPANS 50000u

/* What Jaeger calls a service: of a function "checkout: GET /cart" it is "checkout", and the operation is "GET /cart".
 * All other functions are operations of what HDFS calls their role: "NameNode", "HDFS client", ... */
typedef struct JaegerName {
    BatchString service, operation; /* borrowed from the function, or static */
} JaegerName;
JaegerName jaeger_name(const char *function, gsize length, Role role);
/* The role whose functions are the service's; FALSE: it is a service of its own. */
gboolean jaeger_role(const char *service, Role *role);

json_t *jaeger_services(const Asked *asked, GError **error);
/* with_kinds: as /api/operations has them. */
json_t *jaeger_operations(const Asked *asked, const char *service, gboolean with_kinds, GError **error);
json_t *jaeger_dependencies(const Asked *asked, GError **error);
json_t *jaeger_search(const Asked *asked, GError **error);
json_t *jaeger_trace(const Asked *asked, const char *id, GError **error);

#define JAEGER_V3 "v3/" /* of the path behind JAEGER_QUESTIONS */
/* path: what is behind JAEGER_V3. */
json_t *jaeger_v3_answer(const Asked *asked, const char *path, GError **error);

/* {"data": data, "total", "limit": 0, "offset": 0, "errors": null}; data is taken over. */
json_t *jaeger_document(json_t *data, guint total);
/* A whole number in a parameter, times scale; *value is left alone when it was not given. INPUT. */
gboolean jaeger_number(const Asked *asked, const char *name, gint64 scale, gint64 *value, GError **error);

/* Traces as text, one behind the other: the value of "data". */
typedef struct JaegerTraces JaegerTraces;
struct JaegerTraces {
    const Asked *asked;
    void (*add)(JaegerTraces *traces, const TraceView *view); /* in the form that is asked for */
    JsonText *text;
    JsonText own; /* when the caller wants a document */
    guint traces, spans;
    gboolean full; /* set by add: more are not looked for */
};
void jaeger_traces_begin(JaegerTraces *traces, const Asked *asked);
void jaeger_traces_add(JaegerTraces *traces, const TraceView *view);
/* The document; NULL with *error. */
json_t *jaeger_traces_end(JaegerTraces *traces, GError **error);
/* What is looked for: traces with a span of the service and operation that took so long. */
#define SEARCH_LIMIT_MOST 1500
typedef struct TraceSearch {
    const char *service, *operation; /* NULL: any; operation only with a service */
    Role role;                       /* of 'service', unless own_service */
    gboolean own_service;
    gint64 since_ns, until_ns;
    gint64 min_ns, max_ns; /* of a span of the service */
    gint64 limit;
    GPtrArray *annotations; /* "key=value", or "key" */
    char *kept;             /* what 'service' points to, when it is no parameter's; else NULL */
} TraceSearch;
void search_clear(TraceSearch *search);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceSearch, search_clear)
/* "1.5s", "100ms", "1m30s": as Go writes durations; NULL or "": *ns is left alone. name: of the parameter. INPUT. */
gboolean search_duration(const char *name, const char *text, gint64 *ns, GError **error);
/* Annotations of a JSON object of texts; NULL or "": none. INPUT. */
gboolean search_tags(const char *name, const char *text, TraceSearch *search, GError **error);
/* Adds those that are found, newest first. */
gboolean search_traces(JaegerTraces *traces, const TraceSearch *search, GError **error);
/* Adds a trace that is right (any, when search is NULL), or none; one that is not there is no failure. id: of
 * jaeger_trace_id(). */
gboolean search_add(JaegerTraces *traces, const TraceSearch *search, const char *id, GError **error);

/* The trace of an id, both halves of which are right, as far as it has an upper one. INPUT, NOT_FOUND. */
TraceView *jaeger_trace_view(const Asked *asked, const char *id, GError **error);
gboolean jaeger_same_trace(Archive *archive, const TraceView *view, guint64 high);
void jaeger_format_id(guint64 high, guint64 low, char id[33]);

/* The upper half of a trace's id, as its sender had it; 0: it has none. */
guint64 jaeger_trace_high(Archive *archive, const TraceView *view);
/* 1 to 32 hexadecimal digits. INPUT. */
gboolean jaeger_trace_id(const char *text, guint64 *high, guint64 *low, GError **error);
