#include "receiver/http/posts/mark.h"

#include <jansson.h>
#include <string.h>

#include "analyzer/query/shared/params.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/limits.h"

typedef struct Reader {
    const json_t *object;
    SparkRecords *records;
} Reader;

static gboolean known_names(const json_t *object, GError **error) {
    static const char *const known[] = {"text", "kind", "host", "begin", "end", NULL};
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        if (!g_strv_contains(known, name))
            return fail(error, PLUMB_ERROR_INPUT, "a mark has text, kind, host, begin and end, and no \"%s\"", name);
    }
    return TRUE;
}

/* A text without control characters; *text stays when it is absent. */
static gboolean read_text(const Reader *reader, const char *name, gsize most_bytes, const char **text, GError **error) {
    const json_t *value = json_object_get(reader->object, name);
    if (value == NULL) return TRUE;
    const char *given = json_string_value(value);
    const gsize length = json_string_length(value);
    if (given == NULL || length == 0 || length > most_bytes || strlen(given) != length)
        return fail(error, PLUMB_ERROR_INPUT, "\"%s\" of a mark is a text of 1 to %zu bytes", name, most_bytes);
    for (gsize i = 0; i < length; i++)
        if (g_ascii_iscntrl(given[i]))
            return fail(error, PLUMB_ERROR_INPUT, "\"%s\" of a mark is one line, without control characters", name);
    *text = spark_text(reader->records, given, length);
    return TRUE;
}

static gboolean read_time(const json_t *object, const char *name, gint64 now_ns, gint64 *time_ns, GError **error) {
    const json_t *value = json_object_get(object, name);
    gint64 read_ns = json_is_integer(value) ? json_integer_value(value) : -1;
    if (value == NULL) return TRUE;
    if (json_is_string(value) && !text_to_time(json_string_value(value), now_ns, &read_ns)) read_ns = -1;
    if (read_ns < 0)
        return fail(error, PLUMB_ERROR_INPUT,
                    "\"%s\" of a mark is a time: 15m (ago), now, 2026-11-21T10:00:00Z, or nanoseconds since 1970",
                    name);
    if (mark_is_ahead(read_ns, now_ns))
        return fail(error, PLUMB_ERROR_INPUT, "\"%s\" of a mark is more than a day from now", name);
    *time_ns = read_ns;
    return TRUE;
}

static gboolean read_mark(const json_t *object, gint64 now_ns, SparkRecords *records, HostMark *mark, GError **error) {
    const Reader reader = {object, records};
    mark->host = MARK_ALL_HOSTS;
    mark->kind = MARK_KIND;
    /* The begin names the mark from then on: it is what can be printed, and written again. */
    const gint64 begin_now_ns = now_ns - now_ns % NS_PER_MS;
    mark->begin_ns = begin_now_ns;
    if (!known_names(object, error) || !read_text(&reader, "text", MARK_TEXT_MAX_BYTES, &mark->text, error) ||
        !read_text(&reader, "kind", MARK_KIND_MAX_BYTES, &mark->kind, error) ||
        !read_text(&reader, "host", LIMIT_NAME_BYTES, &mark->host, error) ||
        !read_time(object, "begin", begin_now_ns, &mark->begin_ns, error) ||
        !read_time(object, "end", now_ns, &mark->end_ns, error))
        return FALSE;
    if (mark->text == NULL) return fail(error, PLUMB_ERROR_INPUT, "what was done? Send \"text\" with the mark");
    if (mark->end_ns >= 0 && mark->end_ns < mark->begin_ns)
        return fail(error, PLUMB_ERROR_INPUT, "the mark ends before it begins");
    return TRUE;
}

gboolean mark_read(Bytes body, gint64 now_ns, SparkRecords *records, GError **error) {
    json_error_t why;
    json_t *object = json_loadb(body.data, body.size_bytes, JSON_REJECT_DUPLICATES, &why);
    gboolean good = json_is_object(object);
    if (!good) fail(error, PLUMB_ERROR_INPUT, "the body is no JSON object");
    HostMark *mark = spark_add_mark(records);
    good = good && read_mark(object, now_ns, records, mark, error);
    if (!good) g_array_set_size(records->of[SPARK_MARK], records->of[SPARK_MARK]->len - 1);
    json_decref(object);
    return good;
}
