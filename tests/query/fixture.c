#include "tests/query/fixture.h"

#include <string.h>

#include "analyzer/archive/consolidation/join.h"
#include "common/base/clock.h"

void fixture_init(Fixture *fixture) { fixture_init_parts(fixture, 0); }

void fixture_init_parts(Fixture *fixture, guint32 max_trace_spans) {
    g_autoptr(GError) error = NULL;
    StoreOptions options = {.merge = archive_merge};
    ArchiveOptions archive_options = {.clock_tolerance_ns = 10 * NS_PER_MS, .max_trace_spans = max_trace_spans};
    fixture->store = store_open_memory(&options, &error);
    g_assert_no_error(error);
    fixture->rules = naming_rules_new(naming_default_templates, &error);
    g_assert_no_error(error);
    fixture->archive = archive_open(fixture->store, &archive_options, &error);
    g_assert_no_error(error);
    fixture->packer = packer_new(fixture->rules, archive_dict(fixture->archive));
    fixture->writer = archive_writer_new(fixture->archive);
}

void fixture_clear(Fixture *fixture) {
    g_clear_pointer(&fixture->writer, archive_writer_free);
    g_clear_pointer(&fixture->packer, packer_free);
    g_clear_pointer(&fixture->archive, archive_free);
    g_clear_pointer(&fixture->rules, naming_rules_free);
    g_clear_pointer(&fixture->store, store_close);
}

void row_to_batch(const SpanRow *row, SpanBatch *batch) {
    guint32 name = batch_intern(batch, row->name, strlen(row->name));
    guint32 tracer = batch_intern(batch, row->tracer, strlen(row->tracer));

    BatchSpan *span = batch_begin_span(batch, (SpanId){row->trace, row->span});
    span->name = name;
    span->tracer = tracer;
    span->begin_ns = SAMPLE_BASE_NS + row->begin_us * NS_PER_US;
    span->duration_ns = row->duration_us * NS_PER_US;
    span->flags = row->flags;
    if (row->parent) batch_add_parent(batch, (SpanId){row->trace, row->parent});
    if (!row->annotations) return;

    g_auto(GStrv) pairs = g_strsplit(row->annotations, ";", -1);
    for (char **pair = pairs; *pair; pair++) {
        g_auto(GStrv) sides = g_strsplit(*pair, "=", 2);
        BatchString value = batch_copy(batch, sides[1], strlen(sides[1]));
        if (**pair == '@') {
            gint64 time_us = row->begin_us + g_ascii_strtoll(*pair + 1, NULL, 10);
            batch_add_note(batch, SAMPLE_BASE_NS + time_us * NS_PER_US, value);
        } else {
            batch_add_annotation(batch, batch_intern(batch, sides[0], strlen(sides[0])), value);
        }
    }
}

void fixture_put_batch(Fixture *fixture, const SpanBatch *batch) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) traces =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, (GDestroyNotify)g_byte_array_unref);
    packer_begin_batch(fixture->packer, batch);

    for (guint i = 0; i < batch->spans->len; i++) {
        const BatchSpan *span = batch_span(batch, i);
        GByteArray *bytes = g_hash_table_lookup(traces, &span->id.trace);
        if (!bytes) {
            bytes = g_byte_array_new();
            g_hash_table_insert(traces, (gpointer)&span->id.trace, bytes);
        }
        PackResult result = packer_span(fixture->packer, batch, i, bytes);
        g_assert_cmpstr(pack_result_text(result), ==, "ok");
    }

    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, traces);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const GByteArray *bytes = value;
        archive_writer_add(fixture->writer, *(const guint64 *)key, bytes->data, bytes->len, &error);
        g_assert_no_error(error);
    }

    archive_writer_commit(fixture->writer, FALSE, &error);
    g_assert_no_error(error);
}

void fixture_store_batch(Fixture *fixture, const SpanBatch *batch) {
    g_autoptr(GError) error = NULL;
    fixture_put_batch(fixture, batch);
    archive_join(fixture->archive, &error);
    g_assert_no_error(error);
}

void fixture_store(Fixture *fixture, const SpanRow *rows, gsize n) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (gsize i = 0; i < n; i++) row_to_batch(&rows[i], batch);
    fixture_store_batch(fixture, batch);
}

QueryParams *params_from_text(const char *text) {
    QueryParams *params = query_params_new();
    g_auto(GStrv) pairs = g_strsplit(text ? text : "", "&", -1);
    for (char **pair = pairs; *pair; pair++) {
        g_auto(GStrv) sides = g_strsplit(*pair, "=", 2);
        if (sides[0]) query_params_add(params, sides[0], sides[1] ? sides[1] : "");
    }
    return params;
}

json_t *fixture_ask(Fixture *fixture, const char *question, const char *params, GError **error) {
    g_autoptr(QueryParams) parsed = params_from_text(params);
    return query_run(fixture->archive, question, parsed, SAMPLE_BASE_NS + 60 * NS_PER_MINUTE, error);
}

json_t *fixture_answer(Fixture *fixture, const char *question, const char *params) {
    g_autoptr(GError) error = NULL;
    json_t *answer = fixture_ask(fixture, question, params, &error);
    g_assert_no_error(error);
    g_assert_nonnull(answer);
    return answer;
}

json_t *row_where(const json_t *list, const char *field, const char *text) {
    gsize i;
    json_t *row;
    json_array_foreach((json_t *)list, i, row) {
        const char *value = json_string_value(json_object_get(row, field));
        if (value && strcmp(value, text) == 0) return row;
    }
    return NULL;
}

gint64 number_at(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    if (!json_is_integer(value)) g_error("no number \"%s\"", field);
    return json_integer_value(value);
}

const char *text_at(const json_t *object, const char *field) {
    const char *value = json_string_value(json_object_get(object, field));
    if (!value) g_error("no text \"%s\"", field);
    return value;
}

/* Says where two long texts differ, not all of them. */
static void assert_same_lines(const char *file, const char *expected, const char *text) {
    g_auto(GStrv) left = g_strsplit(expected, "\n", -1);
    g_auto(GStrv) right = g_strsplit(text, "\n", -1);
    for (guint i = 0; left[i] && right[i]; i++) {
        if (strcmp(left[i], right[i]) != 0)
            g_error("%s.json:%u: expected \"%s\", got \"%s\"", file, i + 1, left[i], right[i]);
    }
    g_assert_cmpuint(g_strv_length(left), ==, g_strv_length(right) + 1); /* the file ends in a line feed */
}

void fixture_check_document(const char *file, const json_t *answer) {
    g_autofree char *path = g_strdup_printf("%s/query/%s.json", TEST_DATA_DIR, file);
    g_autofree char *text = json_dumps(answer, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    if (g_getenv("PLUMB_WRITE_DOCUMENTS")) {
        g_autofree char *line = g_strconcat(text, "\n", NULL);
        g_assert_true(g_file_set_contents(path, line, -1, NULL));
        return;
    }
    g_autofree char *expected = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &expected, NULL, &error);
    g_assert_no_error(error);
    assert_same_lines(file, expected, text);
}
