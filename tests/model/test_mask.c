/* Masking: rules, texts, and what of a batch and of records is left. */
#include "common/model/mask.h"

#include <string.h>

#include "common/base/limits.h"

#define KEY "0123456789abcdef"

static Mask *mask_of(const char *rules) {
    g_auto(GStrv) list = g_strsplit(rules, ";", 0);
    for (char **at = list; *at != NULL; at++) g_strstrip(*at);
    g_autoptr(GError) error = NULL;
    Mask *mask = mask_new((const char *const *)list, KEY, strlen(KEY), &error);
    g_assert_no_error(error);
    return mask;
}

/* Each <text> of the pattern stands for its hash. */
static char *expand(const char *pattern) {
    GString *out = g_string_new(NULL);
    for (const char *at = pattern; *at != '\0'; at++) {
        const char *end = *at == '<' ? strchr(at, '>') : NULL;
        if (end == NULL) {
            g_string_append_c(out, *at);
            continue;
        }
        g_autofree char *digits = g_compute_hmac_for_data(G_CHECKSUM_SHA256, (const guchar *)KEY, strlen(KEY),
                                                          (const guchar *)at + 1, (gsize)(end - at - 1));
        g_string_append_printf(out, "~%.16s", digits);
        at = end;
    }
    return g_string_free(out, FALSE);
}

/* A span's name, or its only annotation or note, after masking; NULL: it is gone. */
static char *masked_of(Masker *masker, const char *what, const char *text) {
    g_autoptr(SpanBatch) batch = batch_new();
    BatchSpan *span = batch_begin_span(batch, (SpanId){1, 1});
    const BatchString string = batch_copy(batch, text, strlen(text));
    span->tracer = batch_intern(batch, "Client/h/1", 10);
    span->name = strcmp(what, "name") == 0 ? batch_intern(batch, text, strlen(text)) : span->tracer;
    if (g_str_has_prefix(what, "annotation ")) {
        const char *key = what + strlen("annotation ");
        batch_add_annotation(batch, batch_intern(batch, key, strlen(key)), string);
    }
    if (strcmp(what, "note") == 0) batch_add_note(batch, 1, string);

    masker_batch(masker, batch);
    span = &g_array_index(batch->spans, BatchSpan, 0);
    BatchString left = batch_string(batch, span->name);
    if (g_str_has_prefix(what, "annotation ")) {
        if (span->n_annotations == 0) return NULL;
        left = g_array_index(batch->annotations, BatchAnnotation, span->annotations_at).value;
    } else if (strcmp(what, "note") == 0) {
        if (span->n_notes == 0) return NULL;
        left = g_array_index(batch->notes, BatchNote, span->notes_at).message;
    }
    return g_strndup(left.data, left.length);
}

static void check_vector(const char *line) {
    g_auto(GStrv) fields = g_strsplit(line, "\t", 0);
    g_assert_cmpuint(g_strv_length(fields), ==, 4);
    g_autoptr(Mask) mask = mask_of(fields[0]);
    g_autoptr(Masker) masker = masker_new(mask);
    g_autofree char *text = g_strcompress(fields[2]), *expected = g_strcompress(fields[3]);
    g_autofree char *masked = masked_of(masker, fields[1], text);
    g_assert_cmpstr(masked != NULL ? masked : "(dropped)", ==, expected);
    if (masked == NULL || strcmp(masked, MASK_NAME) == 0) return;
    g_autofree char *again = masked_of(masker, fields[1], masked);
    g_assert_cmpstr(again, ==, masked);
    if (!g_str_has_prefix(fields[1], "annotation ")) return;
    g_autofree char *asked = masker_value(masker, fields[1] + strlen("annotation "), text);
    g_assert_cmpstr(asked, ==, masked);
}

/* The agent's masking is held to the same file. */
static void test_vectors(void) {
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(TEST_DATA_DIR "/masks.txt", &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    guint n = 0;
    for (char **line = lines; *line != NULL; line++) {
        if (**line == '\0' || **line == '#') continue;
        check_vector(*line);
        n++;
    }
    g_assert_cmpuint(n, >, 60);
}

static void test_wrong_rules(void) {
    static const char *const cases[] = {
        "path",         "path=drop", "path=keep", "path=keep x",   "path=keep -1", "path=keep 65", "annotation:=x",
        "annotation:a", "user=hash", "=hash",     "name:a=keep 1", "path=keep 1x", "note:x=drop",  "",
        "path=Hash"};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *const rules[] = {"note=drop", cases[i], NULL};
        g_autoptr(GError) error = NULL;
        g_assert_null(mask_new(rules, KEY, strlen(KEY), &error));
        g_assert_true(g_str_has_prefix(error->message, "mask.rules: '") && strstr(error->message, cases[i]) != NULL);
    }
    const char *const rules[] = {"note=drop", NULL};
    g_autoptr(GError) error = NULL;
    g_assert_null(mask_new(rules, KEY, 15, &error));
    g_assert_true(g_str_has_prefix(error->message, "mask.key: "));
}

/* However long, no text grows past what spans may have. */
static void test_long_texts(void) {
    g_autoptr(Mask) mask = mask_of("path=keep 2");
    g_autoptr(Masker) masker = masker_new(mask);
    static const char *const pieces[] = {"/a", " /a", "=", "/", "=/a", "a:/"};
    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
        GString *text = g_string_new("x ");
        while (text->len + 3 <= LIMIT_VALUE_BYTES) g_string_append(text, pieces[i]);
        for (guint cut = 0; cut < 3; cut += 2) {
            g_autofree char *masked = masker_value(masker, "why", text->str + cut);
            g_assert_cmpuint(strlen(masked), <=, LIMIT_VALUE_BYTES);
            g_autofree char *again = masker_value(masker, "why", masked);
            g_assert_cmpstr(again, ==, masked);
        }
        g_string_free(text, TRUE);
    }
}

static BatchString text_of(SpanBatch *batch, const char *text) { return batch_copy(batch, text, strlen(text)); }

static gboolean is(BatchString text, const char *pattern) {
    g_autofree char *expected = expand(pattern);
    return text.length == strlen(expected) && memcmp(text.data, expected, text.length) == 0;
}

static void test_batch(void) {
    g_autoptr(Mask) mask = mask_of("path=keep 1; annotation:user=hash; annotation:sql=drop; name:SELECT*=hash; "
                                   "name:DROP*=drop");
    g_autoptr(Masker) masker = masker_new(mask);
    g_autoptr(SpanBatch) batch = batch_new();
    static const char *const names[] = {"SELECT alice", "GET /user/alice", "DROP alice", "SELECT alice", "op"};
    batch_intern(batch, "alice, of no span", 17);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        BatchSpan *span = batch_begin_span(batch, (SpanId){1, i + 1});
        span->name = batch_intern(batch, names[i], strlen(names[i]));
        span->tracer = batch_intern(batch, "Client/h/1", 10);
        batch_add_annotation(batch, batch_intern(batch, "sql", 3), text_of(batch, "SELECT alice"));
        batch_add_annotation(batch, batch_intern(batch, "user", 4), text_of(batch, "alice"));
        batch_add_annotation(batch, batch_intern(batch, "path", 4), text_of(batch, "/user/alice"));
        batch_add_note(batch, 1, text_of(batch, "opened /user/alice"));
    }
    masker_batch(masker, batch);

    static const char *const masked[] = {"<SELECT alice>", "GET /user/<alice>", "(masked)", "<SELECT alice>", "op"};
    for (guint i = 0; i < batch->spans->len; i++) {
        const BatchSpan *span = batch_span(batch, i);
        g_assert_true(is(batch_string(batch, span->name), masked[i]));
        g_assert_true(is(batch_string(batch, span->tracer), "Client/h/1"));
        const BatchAnnotation *annotations = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at);
        g_assert_cmpuint(span->n_annotations, ==, 2);
        g_assert_true(is(annotations[0].value, "<alice>") && is(annotations[1].value, "/user/<alice>"));
        g_assert_true(is(batch_string(batch, annotations[0].key), "user"));
        g_assert_true(is(g_array_index(batch->notes, BatchNote, span->notes_at).message, "opened /user/<alice>"));
    }
    g_assert_cmpuint(batch_span(batch, 0)->name, ==, batch_span(batch, 3)->name);
    for (guint i = 0; i < batch->strings->len; i++) {
        const BatchString text = batch_string(batch, i);
        g_assert_null(g_strstr_len(text.data, text.length, "alice"));
    }
}

static const char *text(SparkRecords *records, const char *data) { return spark_text(records, data, strlen(data)); }

static gboolean same(const char *found, const char *pattern) {
    g_autofree char *expected = expand(pattern);
    return g_strcmp0(found, expected) == 0;
}

static void test_records(void) {
    g_autoptr(Mask) mask = mask_of("path=keep 1; record:user=hash; record:description=drop; record:spark.sql=hash; "
                                   "record:app=drop; record:scope=hash");
    g_autoptr(Masker) masker = masker_new(mask);
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = spark_add_app(records);
    SparkPair *pairs = spark_list(records, 2, sizeof *pairs);
    pairs[0] = (SparkPair){text(records, "spark.sql"), text(records, "SELECT alice")};
    pairs[1] = (SparkPair){text(records, "spark.home"), text(records, "/opt/spark")};
    *app = (SparkApp){.app = text(records, "app-1"), .user = text(records, "alice"), .properties = {pairs, 2}};
    SparkJob *job = spark_add_job(records);
    *job = (SparkJob){.app = text(records, "app-1"), .description = text(records, "pay of alice")};
    job->error = text(records, "no file hdfs://nn/user/alice here");
    SparkStage *stage = spark_add_stage(records);
    SparkRdd *rdds = spark_list(records, 1, sizeof *rdds);
    rdds[0] = (SparkRdd){.name = text(records, "/user/alice"), .scope = text(records, "map")};
    *stage = (SparkStage){.app = text(records, "app-1"), .rdds = {rdds, 1}};
    SparkSplit *split = spark_add_split(records);
    *split = (SparkSplit){.app = text(records, "app-1"), .path = text(records, "hdfs://nn/user/alice")};

    masker_records(masker, records);
    g_assert_true(same(spark_app(records, 0)->user, "<alice>") && same(spark_app(records, 0)->app, "app-1"));
    g_assert_true(same(pairs[0].value, "<SELECT alice>") && same(pairs[0].key, "spark.sql"));
    g_assert_true(same(pairs[1].value, "/opt/<spark>"));
    g_assert_null(spark_job(records, 0)->description);
    g_assert_true(same(spark_job(records, 0)->error, "no file hdfs://nn/user/<alice> here"));
    g_assert_true(same(spark_stage(records, 0)->rdds.items[0].name, "/user/<alice>"));
    g_assert_true(same(spark_stage(records, 0)->rdds.items[0].scope, "<map>"));
    g_assert_true(same(spark_split(records, 0)->path, "hdfs://nn/user/<alice>"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mask/vectors", test_vectors);
    g_test_add_func("/mask/wrong rules", test_wrong_rules);
    g_test_add_func("/mask/long texts", test_long_texts);
    g_test_add_func("/mask/batch", test_batch);
    g_test_add_func("/mask/records", test_records);
    return g_test_run();
}
