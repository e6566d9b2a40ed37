/* A question as it comes over HTTP: its name, then names and values of parameters, each ended by a zero byte. There is
 * an answer that can be written as JSON, or an error whose message can. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "tests/query/fixture.h"

static Fixture *archive_of_samples(void) {
    static Fixture fixture;
    if (fixture.archive) return &fixture;
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    return &fixture;
}

static char *take_text(const uint8_t **at, const uint8_t *end) {
    const uint8_t *zero = memchr(*at, 0, (size_t)(end - *at));
    const uint8_t *stop = zero ? zero : end;
    char *text = g_strndup((const char *)*at, (gsize)(stop - *at));
    *at = zero ? zero + 1 : end;
    return text;
}

static gboolean take_piece(void *arg, Bytes piece) {
    gsize *bytes = arg;
    *bytes += piece.size_bytes;
    return TRUE;
}

static void check_export(const Fixture *fixture, const QueryParams *params) {
    g_autoptr(GError) error = NULL;
    gsize bytes = 0;
    QuerySink sink = {take_piece, &bytes};
    g_assert_true(query_export(fixture->archive, params, SAMPLE_BASE_NS, &sink, &error) == (error == NULL));
    g_assert_true(!error || (bytes == 0 && g_utf8_validate(error->message, -1, NULL)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Fixture *fixture = archive_of_samples();
    const uint8_t *at = data, *end = data + size;
    g_autoptr(QueryParams) params = query_params_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *question = take_text(&at, end);

    while (at < end) {
        g_autofree char *name = take_text(&at, end);
        g_autofree char *value = take_text(&at, end);
        query_params_add(params, name, value);
    }

    json_auto_t *answer = query_run(fixture->archive, question, params, SAMPLE_BASE_NS, &error);
    g_assert_true((answer == NULL) == (error != NULL));
    if (error) g_assert_true(g_utf8_validate(error->message, -1, NULL));

    if (answer) {
        char *text = json_dumps(answer, JSON_COMPACT);
        g_assert_nonnull(text);
        free(text);
    }
    check_export(fixture, params);
    return 0;
}
