/* A trace as columns says what the question "trace" says of it: the same calls in the same order, with the same times;
 * and their bytes say what the document says. */
#include <string.h>

#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

#define ALL "columns=begin,duration,self,critical,parent,function,process,id_high,id_low,flags"

static json_t *values_of(const json_t *answer, const char *name) {
    json_t *column = row_where(json_object_get(answer, "columns"), "name", name);
    g_assert_nonnull(column);
    return json_object_get(column, "values");
}

static gint64 cell(const json_t *answer, const char *name, gsize row) {
    return json_integer_value(json_array_get(values_of(answer, name), row));
}

static const json_t *named(const json_t *answer, const char *list, const char *column, gsize row) {
    return json_array_get(json_object_get(answer, list), (gsize)cell(answer, column, row));
}

static const char *id_text(const json_t *answer, gsize row, char text[17]) {
    g_snprintf(text, 17, "%08x%08x", (guint)cell(answer, "id_high", row), (guint)cell(answer, "id_low", row));
    return text;
}

static gint64 flags_of(const json_t *span) {
    static const char *const names[] = {"orphan", "cycle", "reversed", "outside parent"};
    gint64 flags = number_at(span, "resolution_ns") > 1 ? 1 << 4 : 0;
    if (json_object_get(span, "notes")) flags |= 1 << 5;
    const json_t *list = json_object_get(span, "flags");
    for (gsize i = 0; i < json_array_size(list); i++)
        for (guint k = 0; k < G_N_ELEMENTS(names); k++)
            if (strcmp(json_string_value(json_array_get(list, i)), names[k]) == 0) flags |= 1 << k;
    return flags;
}

static void check_row(const json_t *columns, const json_t *span, gsize row, gint64 parent) {
    char id[17];
    const json_t *process = named(columns, "processes", "process", row);
    g_assert_cmpstr(id_text(columns, row, id), ==, text_at(span, "span") + 16);
    g_assert_cmpstr(json_string_value(named(columns, "functions", "function", row)), ==, text_at(span, "function"));
    g_assert_cmpstr(text_at(process, "process"), ==, text_at(span, "process"));
    g_assert_cmpstr(text_at(process, "role"), ==, text_at(span, "role"));
    g_assert_cmpint(cell(columns, "begin", row) + number_at(columns, "begin_time_ns"), ==,
                    number_at(span, "begin_time_ns"));
    g_assert_cmpint(cell(columns, "duration", row), ==, number_at(span, "duration_ns"));
    g_assert_cmpint(cell(columns, "self", row), ==, number_at(span, "self_ns"));
    g_assert_cmpint(cell(columns, "critical", row), ==, number_at(span, "critical_ns"));
    g_assert_cmpint(cell(columns, "parent", row), ==, parent);
    g_assert_cmpint(cell(columns, "flags", row), ==, flags_of(span));
}

/* Each note of the trace's spans, in their order, and no other. */
static void check_notes(Fixture *fixture, const char *asked, const json_t *spans) {
    json_auto_t *answer = fixture_answer(fixture, "trace/notes", asked);
    gsize row, i, at = 0;
    json_t *span, *note;
    json_array_foreach(spans, row, span) {
        json_array_foreach(json_object_get(span, "notes"), i, note) {
            g_assert_cmpint(cell(answer, "row", at), ==, row);
            g_assert_cmpint(cell(answer, "after", at), ==,
                            number_at(note, "time_ns") - number_at(span, "begin_time_ns"));
            at++;
        }
    }
    g_assert_cmpint(number_at(answer, "rows"), ==, at);
    g_assert_null(json_object_get(answer, "more"));
}

/* The one that the list of traces has: none for a trace in parts. */
static void check_pattern(Fixture *fixture, const json_t *columns) {
    json_auto_t *listed = fixture_answer(fixture, "traces", "limit=0");
    const json_t *row = row_where(json_object_get(listed, "traces"), "trace", text_at(columns, "trace"));
    const json_t *pattern = json_object_get(columns, "pattern");
    g_assert_true((pattern == NULL) == json_is_true(json_object_get(row, "in_parts")));
    if (pattern != NULL) g_assert_cmpstr(json_string_value(pattern), ==, text_at(row, "pattern"));
}

static void check_trace(Fixture *fixture, guint64 id) {
    g_autofree char *asked = g_strdup_printf("id=%016" G_GINT64_MODIFIER "x", id);
    g_autofree char *all = g_strconcat(asked, "&" ALL, NULL);
    json_auto_t *trace = fixture_answer(fixture, "trace", asked);
    json_auto_t *columns = fixture_answer(fixture, "trace/columns", all);
    static const char *const same[] = {"trace",   "begin_time_ns", "duration_ns", "spans_total",
                                       "orphans", "cycles",        "incomplete",  "tasks"};
    for (gsize i = 0; i < G_N_ELEMENTS(same); i++)
        g_assert_true(json_equal(json_object_get(trace, same[i]), json_object_get(columns, same[i])) ||
                      json_object_get(trace, same[i]) == json_object_get(columns, same[i]));
    g_assert_cmpint(number_at(columns, "missing"), ==, json_array_size(json_object_get(trace, "missing")));

    const json_t *spans = json_object_get(trace, "spans");
    g_assert_cmpint(number_at(columns, "rows"), ==, json_array_size(spans));
    g_autofree gint64 *last = g_new(gint64, json_array_size(spans) + 2); /* row at each depth */
    gsize row;
    json_t *span;
    json_array_foreach(spans, row, span) {
        const gint64 depth = number_at(span, "depth");
        gboolean orphan = (flags_of(span) & 1) != 0; /* hangs below what is missing */
        check_row(columns, span, row, depth == 0 || orphan ? -1 : last[depth - 1]);
        last[depth] = (gint64)row;
    }
    check_notes(fixture, asked, spans);
}

static void test_same_as_trace(void) {
    g_auto(Fixture) whole = {0};
    g_auto(Fixture) parts = {0};
    fixture_init(&whole);
    fixture_init_parts(&parts, 4);
    fixture_store(&whole, sample_rows, sample_count);
    fixture_store(&parts, sample_rows, sample_count);
    for (guint64 id = 1; id <= 7; id++) {
        check_trace(&whole, id);
        check_trace(&parts, id);
        g_autofree char *asked = g_strdup_printf("id=%016" G_GINT64_MODIFIER "x", id);
        json_auto_t *columns = fixture_answer(&whole, "trace/columns", asked);
        json_auto_t *columns_of_parts = fixture_answer(&parts, "trace/columns", asked);
        check_pattern(&whole, columns);
        check_pattern(&parts, columns_of_parts);
    }
}

/* Calls at random: missing parents, cycles, equal begins, ends past the parent's. */
static void random_rows(GRand *chance, guint64 trace, guint n, GArray *rows) {
    static const char *const names[] = {"f0",         "f1",     "waitForAckedSeqno", "OpWriteBlockProto", "f4",
                                        "Spark#task", "RDD:map"};
    static const char *const tracers[] = {"FSClient/10.0.0.1/1", "DataNode/10.0.0.2/2", "DataNode/10.0.0.3/3"};
    static const char *const annotations[] = {NULL, "stream=1", "stream=2;path=/a", "@30=note", "exclusiveNs=40000"};
    for (guint i = 1; i <= n; i++) {
        const SpanRow row = {
            .trace = trace,
            .span = (i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 3 | 1,
            .parent = 0,
            .name = names[g_rand_int_range(chance, 0, G_N_ELEMENTS(names))],
            .tracer = tracers[g_rand_int_range(chance, 0, G_N_ELEMENTS(tracers))],
            .begin_us = g_rand_int_range(chance, 0, 200),
            .duration_us = g_rand_int_range(chance, -5, 300),
            .annotations = annotations[g_rand_int_range(chance, 0, G_N_ELEMENTS(annotations))],
            .flags = g_rand_int_range(chance, 0, 2) ? SPAN_MILLISECONDS : 0,
        };
        g_array_append_val(rows, row);
    }
    for (guint i = 0; i < n; i++) {
        const gint kind = g_rand_int_range(chance, 0, 20);
        const guint before = rows->len - n;
        SpanRow *row = &g_array_index(rows, SpanRow, before + i);
        const guint parent = (guint)g_rand_int_range(chance, 0, (gint)(kind == 0 ? n : MAX(i, 1)));
        if (kind == 1)
            row->parent = (guint64)g_rand_int_range(chance, 1, 4); /* never comes */
        else if (i > 0 && kind != 2)
            row->parent = g_array_index(rows, SpanRow, before + parent).span;
    }
}

static void test_random(void) {
    g_autoptr(GRand) chance = g_rand_new_with_seed(7);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(SpanRow));
    const guint traces = 60;
    for (guint i = 1; i <= traces; i++) random_rows(chance, i, (guint)g_rand_int_range(chance, 1, 80), rows);
    g_auto(Fixture) whole = {0};
    g_auto(Fixture) parts = {0};
    fixture_init(&whole);
    fixture_init_parts(&parts, 16);
    fixture_store(&whole, &g_array_index(rows, SpanRow, 0), rows->len);
    fixture_store(&parts, &g_array_index(rows, SpanRow, 0), rows->len);
    for (guint i = 1; i <= traces; i++) {
        check_trace(&whole, i);
        check_trace(&parts, i);
    }
}

/* ---- bytes ---- */

static GBytes *ask_bytes(Fixture *fixture, const char *question, const char *params, json_t **head) {
    g_autoptr(QueryParams) parsed = params_from_text(params);
    g_autoptr(GError) error = NULL;
    g_auto(JsonRows) rows = {NULL, {NULL, 0, 0}};
    GBytes *bytes = NULL;
    const Query query = {fixture->archive, question, parsed, SAMPLE_BASE_NS + 60 * NS_PER_MINUTE, &bytes};
    json_auto_t *document = query_run_rows(&query, &rows, &error);
    g_assert_no_error(error);
    g_assert_nonnull(bytes);

    gsize size_bytes;
    const char *data = g_bytes_get_data(bytes, &size_bytes);
    guint32 length;
    g_assert_cmpmem(data, 8, "PLUMBCO1", 8);
    memcpy(&length, data + 8, sizeof length);
    *head = json_loadb(data + 12, GUINT32_FROM_LE(length), 0, NULL);
    g_assert_nonnull(*head);
    return bytes;
}

static double number_in(const char *data, const char *type, gsize row) {
    double real;
    gint32 whole;
    guint16 half;
    if (strcmp(type, "f64") == 0) return memcpy(&real, data + 8 * row, 8), real;
    if (strcmp(type, "u8") == 0) return (guint8)data[row];
    if (strcmp(type, "u16") == 0) return memcpy(&half, data + 2 * row, 2), half;
    memcpy(&whole, data + 4 * row, 4);
    return strcmp(type, "u32") == 0 ? (double)(guint32)whole : whole;
}

/* types: of the columns. */
static void check_bytes(Fixture *fixture, const char *question, const char *params, const char *types) {
    json_auto_t *head = NULL;
    g_autoptr(GBytes) bytes = ask_bytes(fixture, question, params, &head);
    json_auto_t *document = fixture_answer(fixture, question, params);
    g_autoptr(GString) found = g_string_new(NULL);
    gsize size_bytes, i;
    const char *data = g_bytes_get_data(bytes, &size_bytes);
    json_t *column;
    const gint64 rows = number_at(head, "rows");
    g_assert_cmpint(rows, >, 0);
    json_array_foreach(json_object_get(head, "columns"), i, column) {
        const char *name = text_at(column, "name"), *type = text_at(column, "type");
        const gint64 offset = number_at(column, "offset");
        g_assert_cmpint(offset % 8, ==, 0);
        g_assert_cmpint(offset + rows, <=, (gint64)size_bytes);
        for (gsize row = 0; row < (gsize)rows; row++)
            g_assert_cmpfloat(number_in(data + offset, type, row), ==, (double)cell(document, name, row));
        g_string_append_printf(found, "%s ", type);
    }
    g_assert_cmpstr(found->str, ==, types);
    json_object_del(head, "columns");
    json_object_del(document, "columns");
    g_assert_true(json_equal(head, document));
}

static void test_bytes(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    check_bytes(&fixture, "trace/columns", "id=0000000000000001&" ALL, "f64 f64 f64 f64 i32 u16 u16 u32 u32 u8 ");
}

/* More than 32 bits of ns need 64. */
static void test_series_bytes(void) {
    static const SpanRow slow = {99, 1, 0, "ClientProtocol#rename", "NameNode/10.0.0.1/11", 81000000, 5000000, NULL, 0};
    static const char params[] = "function=ClientProtocol#rename&step=1m&field=total_ns";
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    check_bytes(&fixture, "series/columns", params, "u8 u32 u16 ");
    fixture_store(&fixture, &slow, 1);
    check_bytes(&fixture, "series/columns", params, "u8 f64 u16 ");
}

/* ---- by text, by id ---- */

static void check_found(Fixture *fixture, const char *text, const char *const *functions) {
    g_autofree char *params = g_strdup_printf("id=0000000000000001&text=%s", text);
    json_auto_t *found = fixture_answer(fixture, "trace/find", params);
    json_auto_t *columns = fixture_answer(fixture, "trace/columns", "id=0000000000000001");
    const json_t *rows = json_object_get(found, "rows");
    g_test_message("%s", text);
    g_assert_cmpint(number_at(found, "found"), ==, g_strv_length((char **)functions));
    for (gsize i = 0; functions[i] != NULL; i++) {
        const gsize row = (gsize)json_integer_value(json_array_get(rows, i));
        g_assert_cmpstr(json_string_value(named(columns, "functions", "function", row)), ==, functions[i]);
    }
}

static void test_find(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init_parts(&fixture, 4);
    fixture_store(&fixture, sample_rows, sample_count);
    json_auto_t *trace = fixture_answer(&fixture, "trace", "id=0000000000000001");
    g_autoptr(GPtrArray) at_host = g_ptr_array_new();
    gsize i;
    json_t *span;
    json_array_foreach(json_object_get(trace, "spans"), i,
                       span) if (g_strcmp0(json_string_value(json_object_get(span, "host")), "10.0.0.7") == 0)
        g_ptr_array_add(at_host, (gpointer)text_at(span, "function"));
    g_assert_cmpuint(at_host->len, >, 0);
    g_ptr_array_add(at_host, NULL);
    check_found(&fixture, "10.0.0.7", (const char *const *)at_host->pdata);
    check_found(&fixture, "opwriteblock", (const char *const[]){"OpWriteBlockProto", "OpWriteBlockProto", NULL});
    check_found(&fixture, "no such text", (const char *const[]){NULL});

    json_auto_t *one = fixture_answer(&fixture, "trace/find", "id=0000000000000001&text=opwriteblock&limit=1");
    g_assert_cmpuint(json_array_size(json_object_get(one, "rows")), ==, 1);
    g_assert_true(json_is_true(json_object_get(one, "more")));
}

static void test_span(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init_parts(&fixture, 4);
    fixture_store(&fixture, sample_rows, sample_count);
    json_auto_t *trace = fixture_answer(&fixture, "trace", "id=0000000000000001");
    gsize i;
    json_t *span;
    json_array_foreach(json_object_get(trace, "spans"), i, span) {
        g_autofree char *params = g_strdup_printf("id=%s", text_at(span, "span"));
        json_auto_t *answer = fixture_answer(&fixture, "span", params);
        static const char *const of_trees[] = {"depth", "self_ns", "critical_ns", "flags"};
        for (gsize k = 0; k < G_N_ELEMENTS(of_trees); k++) json_object_del(span, of_trees[k]);
        g_assert_true(json_equal(json_object_get(answer, "row"), span));
    }
    g_assert_cmpuint(i, ==, 9);
}

/* ---- memory ---- */

#define LONG_TRACE 77u
#define LONG_SPANS 4000u
#define PART_SPANS 500u

/* A writer that waits, or a call like all others; below it one DataNode, and 'f'. */
static void store_long(Fixture *fixture, const char *root) {
    g_autoptr(SpanBatch) batch = batch_new();
    fixture_init_parts(fixture, PART_SPANS);
    for (guint i = 1; i <= LONG_SPANS; i++) {
        const SpanRow row = {.trace = LONG_TRACE,
                             .span = i,
                             .parent = i == 1 ? 0 : i / 2,
                             .name = i == 1   ? root
                                     : i == 2 ? "OpWriteBlockProto"
                                              : "f",
                             .tracer = "FSClient/10.0.0.1/1",
                             .begin_us = i,
                             .duration_us = LONG_SPANS};
        row_to_batch(&row, batch);
    }
    fixture_store_batch(fixture, batch);
}

/* Within so much memory; what was held at most, in all. */
static json_t *ask_within(Fixture *fixture, const char *question, const char *params, gsize limit_bytes,
                          gsize *most_bytes) {
    g_autoptr(QueryParams) parsed = params_from_text(params);
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = NULL;
    g_auto(JsonRows) rows = {NULL, {NULL, 0, 0}};
    const Query query = {fixture->archive, question, parsed, SAMPLE_BASE_NS, &bytes};
    AllowanceBudget budget = {.limit_bytes = limit_bytes};
    Allowance allowance = {.budget = &budget};
    allowance_begin(&allowance);
    json_t *head = query_run_rows(&query, &rows, &error);
    *most_bytes = allowance.peak_bytes;
    allowance_end();
    g_assert_no_error(error);
    return head;
}

/* A trace that there is no room for comes part by part; no span takes more than docs/api.md says. */
static void check_room(const char *root, const char *params, gsize least_bytes, gsize span_bytes) {
    g_auto(Fixture) fixture = {0};
    store_long(&fixture, root);
    gsize most_bytes;
    json_auto_t *whole = ask_within(&fixture, "trace/columns", params, 0, &most_bytes);
    g_assert_cmpint(number_at(whole, "parts"), ==, LONG_SPANS / PART_SPANS);
    g_assert_cmpint(number_at(whole, "parts_shown"), ==, LONG_SPANS / PART_SPANS);
    g_assert_cmpint(number_at(whole, "rows"), ==, LONG_SPANS);
    g_assert_cmpuint(most_bytes, >, LONG_SPANS * least_bytes);
    g_assert_cmpuint(most_bytes, <, LONG_SPANS * span_bytes);

    const gsize limit_bytes = most_bytes / 2;
    gint64 rows = 0, part = 1;
    while (part <= LONG_SPANS / PART_SPANS) {
        g_autofree char *from = g_strdup_printf("%s&part=%d", params, (int)part);
        json_auto_t *some = ask_within(&fixture, "trace/columns", from, limit_bytes, &most_bytes);
        g_assert_cmpuint(most_bytes, <=, limit_bytes);
        g_assert_cmpint(number_at(some, "first_part"), ==, part);
        g_assert_cmpint(number_at(some, "parts_shown"), <, LONG_SPANS / PART_SPANS);
        rows += number_at(some, "rows");
        part += number_at(some, "parts_shown");
    }
    g_assert_cmpint(rows, ==, LONG_SPANS);
}

/* However little there is, some parts are shown; what waits take beside the tree is for a moment only. */
static void check_some_room(const char *root, gsize least_bytes) {
    g_auto(Fixture) fixture = {0};
    store_long(&fixture, root);
    const gint64 all = LONG_SPANS / PART_SPANS;
    gint64 shown = 0;
    for (gsize limit_bytes = least_bytes; shown < all; limit_bytes += 200000) {
        gsize most_bytes;
        json_auto_t *some = ask_within(&fixture, "trace", "id=000000000000004d&limit=5", limit_bytes, &most_bytes);
        g_assert_cmpuint(most_bytes, <=, limit_bytes);
        g_assert_cmpint(number_at(some, "parts_shown"), >=, MAX(shown, 1));
        shown = number_at(some, "parts_shown");
    }
}

static void test_room(void) {
    check_some_room("f", 200000);
    check_some_room("DFSOutputStream#close", 400000);
    check_room("f", "id=000000000000004d", 40, 100);
    check_room("f", "id=000000000000004d&columns=critical", 40, 120);
    check_room("DFSOutputStream#close", "id=000000000000004d&columns=critical", 200, 290);
}

static void test_wrong(void) {
    static const struct {
        const char *question, *params;
        PlumbError code;
    } cases[] = {
        {"trace/columns", "id=00000000000000ff", PLUMB_ERROR_NOT_FOUND},
        {"trace/columns", "id=0000000000000001&part=2", PLUMB_ERROR_INPUT},
        {"trace/columns", "id=0000000000000001&part=0", PLUMB_ERROR_INPUT},
        {"trace/columns", "id=0000000000000001&columns=begin,ends", PLUMB_ERROR_INPUT},
        {"trace/columns", "", PLUMB_ERROR_INPUT},
        {"trace/find", "id=0000000000000001", PLUMB_ERROR_INPUT},
        {"trace/find", "id=0000000000000001&text=x", PLUMB_ERROR_INPUT},
        {"span", "id=0000000000000001", PLUMB_ERROR_INPUT},
        {"span", "id=000000000000000100000000000000ff", PLUMB_ERROR_NOT_FOUND},
        {"span", "id=00000000000000ff00000000000000ff", PLUMB_ERROR_NOT_FOUND},
    };
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        json_auto_t *answer = fixture_ask(&fixture, cases[i].question, cases[i].params, &error);
        g_assert_null(answer);
        g_assert_error(error, PLUMB_ERROR, (gint)cases[i].code);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/columns/same_as_trace", test_same_as_trace);
    g_test_add_func("/columns/random", test_random);
    g_test_add_func("/columns/bytes", test_bytes);
    g_test_add_func("/columns/series", test_series_bytes);
    g_test_add_func("/columns/find", test_find);
    g_test_add_func("/columns/span", test_span);
    g_test_add_func("/columns/room", test_room);
    g_test_add_func("/columns/wrong", test_wrong);
    return g_test_run();
}
