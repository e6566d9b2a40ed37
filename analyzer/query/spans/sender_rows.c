#include "analyzer/query/spans/sender_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/allowance.h"

#define OTHERS "(others)"

/* "DataNode/10.0.0.7/4242@1605956000123" -> "10.0.0.7/4242". */
static char *process_of(const char *name) {
    const char *slash = strchr(name, '/');
    const char *from = slash && slash[1] != '\0' && slash[1] != '@' ? slash + 1 : name;
    const char *at = strrchr(from, '@');
    return at && at > from ? g_strndup(from, (gsize)(at - from)) : g_strdup(from);
}

static char *without_start(const char *name) {
    const char *at = strrchr(name, '@');
    return at && at > name ? g_strndup(name, (gsize)(at - name)) : g_strdup(name);
}

json_t *sender_rows_named(json_t *rows, const char *name) {
    if (name[0] == '\0') name = OTHERS;
    g_autofree char *process = process_of(name);
    json_t *row = json_object_get(rows, process);
    if (row) return row;
    g_autofree char *text = without_start(name);
    row = json_pack("{s:s}", "sender", text);
    json_object_set_new(rows, process, row);
    return row;
}

json_t *sender_rows_get(json_t *rows, Archive *archive, guint32 tracer) {
    const char *text = tracer != 0 ? dict_text(archive_dict(archive), tracer, NULL) : NULL;
    /* Old stores may hold names that are not UTF-8: whoever sent them cannot be told from others. */
    return sender_rows_named(rows, text && g_utf8_validate(text, -1, NULL) ? text : "");
}

void sender_row_add(json_t *row, const char *field, gint64 n) {
    json_object_set_new(row, field, json_integer(json_integer_value(json_object_get(row, field)) + n));
}

void sender_row_max(json_t *row, const char *field, gint64 value) {
    gint64 has = json_integer_value(json_object_get(row, field));
    json_object_set_new(row, field, json_integer(MAX(has, value)));
}

void sender_row_count(json_t *row, const char *field, const char *reason, gint64 n) {
    json_t *counts = json_object_get(row, field);
    if (!counts) {
        counts = json_object();
        json_object_set_new(row, field, counts);
    }
    sender_row_add(counts, reason, n);
}

static const char *name_of(const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "sender"));
    return name ? name : "";
}

static gint compare_rows(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    gint64 m = json_integer_value(json_object_get(x, "received"));
    gint64 n = json_integer_value(json_object_get(y, "received"));
    return m != n ? (m > n ? -1 : 1) : strcmp(name_of(x), name_of(y));
}

void sender_rows_finish(json_t *rows, json_t *document) {
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    const char *process;
    json_t *row;
    json_object_foreach(rows, process, row) g_ptr_array_add(list, row);
    allowance_sort(list->pdata, list->len, sizeof(gpointer), compare_rows, NULL);
    json_t *senders = json_array();
    for (guint i = 0; i < list->len; i++) json_array_append(senders, g_ptr_array_index(list, i));
    json_object_set_new(document, "senders", senders);
}
