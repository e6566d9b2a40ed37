#include "analyzer/otlp/otlp_request.h"

#include <string.h>

#define RESOURCE   "resource."
#define TRACE_HIGH "trace_id.high"
#define LINK       "link"
#define SLASH      "\xe2\x88\x95" /* stands for '/' in names of services */
#define NO_HIGH    "0000000000000000"

typedef struct Process {
    json_t *attributes; /* of its resource; borrowed */
    json_t *spans;      /* the same */
} Process;

typedef struct Otlp {
    json_t *resources;
    GHashTable *processes; /* key -> Process */
    GHashTable *highs;     /* trace id -> upper half of it, 16 digits; owns the ids alone */
    const char *high;      /* of the span at hand */
} Otlp;

/* ---- fields of a row: an absent one is 0, "" or an empty list ---- */

static const char *field_text(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static gint64 field_int(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

static json_t *field_list(const json_t *object, const char *name) {
    json_t *list = json_object_get(object, name);
    return json_is_array(list) ? list : NULL;
}

/* ---- attributes ---- */

static void add_text(json_t *attributes, const char *key, const char *text) {
    json_array_append_new(attributes, json_pack("{s:s, s:{s:s}}", "key", key, "value", "stringValue", text));
}

static gboolean has_key(const json_t *attributes, const char *key) {
    gsize i;
    const json_t *attribute;
    json_array_foreach((json_t *)attributes, i, attribute) {
        if (strcmp(field_text(attribute, "key"), key) == 0) return TRUE;
    }
    return FALSE;
}

/* A value, or a list of them: of a key that was sent several times. */
static void add_annotation(json_t *attributes, const char *key, const json_t *value) {
    gsize i;
    const json_t *one;
    if (json_is_string(value)) add_text(attributes, key, json_string_value(value));
    json_array_foreach((json_t *)value, i, one) add_text(attributes, key, json_string_value(one));
}

static const char *annotation_text(const json_t *span, const char *key) {
    const char *text = json_string_value(json_object_get(json_object_get(span, "annotations"), key));
    return text != NULL ? text : "";
}

/* ---- processes ---- */

/* "shop∕web" of the function "shop∕web: GET /cart", whose service it is; else the process's name. */
static char *service_of(const json_t *span) {
    g_auto(GStrv) parts = g_strsplit(field_text(span, "process"), SLASH, -1);
    return g_strjoinv("/", parts);
}

static const char *name_of(const json_t *span) {
    const char *function = field_text(span, "function"), *process = field_text(span, "process");
    const gsize length = strlen(process);
    return length > 0 && g_str_has_prefix(function, process) && g_str_has_prefix(function + length, ": ")
               ? function + length + 2
               : function;
}

static Process *process_of(Otlp *otlp, const json_t *span) {
    const gint64 pid = json_object_get(span, "pid") != NULL ? field_int(span, "pid") : -1;
    char *key = g_strdup_printf("%s/%s/%" G_GINT64_FORMAT, field_text(span, "process"), field_text(span, "host"), pid);
    Process *process = g_hash_table_lookup(otlp->processes, key);
    if (process != NULL) {
        g_free(key);
        return process;
    }

    process = g_new0(Process, 1);
    process->attributes = json_array();
    process->spans = json_array();
    g_autofree char *service = service_of(span);
    add_text(process->attributes, "service.name", service);
    if (*field_text(span, "host") != '\0') add_text(process->attributes, "host.name", field_text(span, "host"));
    if (pid >= 0) {
        g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, pid);
        json_array_append_new(process->attributes,
                              json_pack("{s:s, s:{s:s}}", "key", "process.pid", "value", "intValue", number));
    }
    json_array_append_new(otlp->resources, json_pack("{s:{s:o}, s:[{s:o}]}", "resource", "attributes",
                                                     process->attributes, "scopeSpans", "spans", process->spans));
    g_hash_table_insert(otlp->processes, key, process);
    return process;
}

/* ---- spans ---- */

static void set_id(json_t *object, const char *name, const Otlp *otlp, const char *digits) {
    g_autofree char *id = g_strdup_printf("%s%.16s", otlp->high, digits);
    json_object_set_new(object, name, json_string(id));
}

static void set_time(json_t *object, const char *name, gint64 ns) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, MAX(ns, 0));
    json_object_set_new(object, name, json_string(text));
}

/* The first parent in the trace is it; all others are links. */
static void set_parents(const Otlp *otlp, const json_t *span, json_t *out, json_t *links) {
    const char *id = field_text(span, "span");
    gsize i;
    const json_t *item;
    json_array_foreach(field_list(span, "parents"), i, item) {
        const char *parent = json_string_value(item);
        if (parent == NULL || strlen(parent) != 32) continue;
        const gboolean own = strncmp(parent, id, 16) == 0;
        if (own && !json_object_get(out, "parentSpanId")) {
            json_object_set_new(out, "parentSpanId", json_string(parent + 16));
            continue;
        }
        json_t *link = json_object();
        const Otlp other = {.high = own ? otlp->high : NO_HIGH};
        set_id(link, "traceId", &other, parent);
        json_object_set_new(link, "spanId", json_string(parent + 16));
        json_array_append_new(links, link);
    }
}

static gboolean is_hex(const char *text, gsize digits) {
    return strlen(text) == digits && strspn(text, "0123456789abcdefABCDEF") == digits;
}

/* As it came: both ids and, perhaps, attributes. */
static gboolean add_link(json_t *links, const char *text) {
    g_auto(GStrv) words = g_strsplit(text, " ", 3);
    if (g_strv_length(words) < 2 || !is_hex(words[0], 32) || !is_hex(words[1], 16)) return FALSE;
    json_t *link = json_pack("{s:s, s:s}", "traceId", words[0], "spanId", words[1]);
    json_auto_t *said = words[2] != NULL ? json_loads(words[2], 0, NULL) : NULL;
    json_t *attributes = json_array(), *value;
    const char *key;
    json_object_foreach(said, key, value) {
        if (json_is_string(value)) add_text(attributes, key, json_string_value(value));
    }
    json_object_set_new(link, "attributes", attributes);
    json_array_append_new(links, link);
    return TRUE;
}

static void set_kind(json_t *out, const char *kind) {
    static const char *const kinds[] = {"internal", "server", "client", "producer", "consumer"};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(kinds[i], kind) == 0) json_object_set_new(out, "kind", json_integer(i + 1));
}

gboolean otlp_failed(const char *status_code, const char *exception) {
    const gboolean good = g_ascii_strcasecmp(status_code, "ok") == 0;
    return !good && (g_ascii_strcasecmp(status_code, "error") == 0 || *exception != '\0');
}

static gboolean set_status(json_t *out, const json_t *span) {
    const char *code = annotation_text(span, "otel.status_code"), *exception = annotation_text(span, "exception");
    const gboolean good = g_ascii_strcasecmp(code, "ok") == 0;
    const gboolean bad = otlp_failed(code, exception);
    const char *why = annotation_text(span, "otel.status_description");
    if (!good && !bad) return FALSE;
    json_object_set_new(out, "status",
                        json_pack("{s:i, s:s}", "code", good ? 1 : 2, "message", *why != '\0' ? why : exception));
    return bad;
}

static gboolean is_told(const char *key, gboolean failed) {
    return strcmp(key, TRACE_HIGH) == 0 || strcmp(key, "span.kind") == 0 || strcmp(key, "w3c.tracestate") == 0 ||
           strcmp(key, "otel.status_code") == 0 || strcmp(key, "otel.status_description") == 0 ||
           (failed && strcmp(key, "error") == 0);
}

/* What is no link stays an annotation. */
static void add_links(json_t *attributes, json_t *links, json_t *value) {
    if (!json_is_array(value)) {
        if (!add_link(links, json_string_value(value))) add_annotation(attributes, LINK, value);
        return;
    }
    gsize i;
    json_t *one;
    json_array_foreach(value, i, one) add_links(attributes, links, one);
}

static void set_annotations(const json_t *span, Process *process, json_t *out, json_t *links) {
    json_t *attributes = json_array(), *value;
    const gboolean failed = set_status(out, span);
    const char *key;
    json_object_foreach(json_object_get(span, "annotations"), key, value) {
        const char *of_resource = g_str_has_prefix(key, RESOURCE) ? key + strlen(RESOURCE) : NULL;
        if (is_told(key, failed)) continue;
        if (strcmp(key, LINK) == 0)
            add_links(attributes, links, value);
        else if (of_resource == NULL)
            add_annotation(attributes, key, value);
        else if (!has_key(process->attributes, of_resource))
            add_annotation(process->attributes, of_resource, value);
    }
    json_object_set_new(out, "attributes", attributes);
    set_kind(out, annotation_text(span, "span.kind"));
    const char *state = annotation_text(span, "w3c.tracestate");
    if (*state != '\0') json_object_set_new(out, "traceState", json_string(state));
}

static void set_events(const json_t *span, json_t *out) {
    json_t *events = json_array();
    gsize i;
    const json_t *note;
    json_array_foreach(field_list(span, "notes"), i, note) {
        json_t *event = json_object();
        set_time(event, "timeUnixNano", field_int(note, "time_ns"));
        json_object_set_new(event, "name", json_string(field_text(note, "message")));
        json_array_append_new(events, event);
    }
    json_object_set_new(out, "events", events);
}

static void add_span(Otlp *otlp, const json_t *span) {
    const gint64 begin_ns = field_int(span, "begin_time_ns");
    const char *id = field_text(span, "span");
    if (strlen(id) != 32) return;
    Process *process = process_of(otlp, span);
    g_autofree char *trace = g_strndup(id, 16);
    const char *high = g_hash_table_lookup(otlp->highs, trace);
    otlp->high = high != NULL ? high : NO_HIGH;

    json_t *out = json_object(), *links = json_array();
    set_id(out, "traceId", otlp, id);
    json_object_set_new(out, "spanId", json_string(id + 16));
    json_object_set_new(out, "name", json_string(name_of(span)));
    set_time(out, "startTimeUnixNano", begin_ns);
    set_time(out, "endTimeUnixNano", begin_ns + MAX(field_int(span, "duration_ns"), 0));
    set_parents(otlp, span, out, links);
    set_annotations(span, process, out, links);
    set_events(span, out);
    json_object_set_new(out, "links", links);
    json_array_append_new(process->spans, out);
}

json_t *otlp_request(const json_t *spans) {
    json_t *request = json_object();
    Otlp otlp = {json_array(), g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), NO_HIGH};
    json_object_set_new(request, "resourceSpans", otlp.resources);

    gsize i;
    const json_t *span;
    json_array_foreach((json_t *)spans, i, span) {
        const char *high = annotation_text(span, TRACE_HIGH);
        if (strlen(high) == 16)
            g_hash_table_replace(otlp.highs, g_strndup(field_text(span, "span"), 16), (gpointer)high);
    }
    json_array_foreach((json_t *)spans, i, span) add_span(&otlp, span);

    g_hash_table_unref(otlp.processes);
    g_hash_table_unref(otlp.highs);
    return request;
}
